/** Notifies a visitor who is looking elsewhere, and tells the page what happened, but never what was said. */
import { tn } from "../common/i18n.js";
import { isFromUs, isNew, unread } from "./store.js";

const NOTES = [[659, 0], [880, 0.12]]; // hertz, seconds
const SOFT = 0.04;

/** Returns a function that gets each state; `tell` messages the page, `isQuiet` says whether sounds are off. */
export function createAttention({ tell, isQuiet }) {
  let known = null; // the ids of our messages, once the earlier ones are known
  let isOpen = false;
  let count = 0;
  let title = "";

  const emit = (name, detail) => tell({ type: "event", name, detail });

  return (state) => {
    if (state.isOpen !== isOpen) emit((isOpen = state.isOpen) ? "open" : "close");
    if (!state.isReady) return void (known = null);
    const ours = state.messages.filter((message) => isFromUs(message) && !message.is_welcome);
    const fresh = known ? ours.filter(({ id }) => !known.has(id)) : [];
    known = new Set(ours.map(({ id }) => id));
    for (const { id, sender } of fresh) emit("message", { id, from: sender.type });
    if (fresh.length && (document.hidden || !isOpen || state.isHome) && !isQuiet()) chime();
    if (unread(state) !== count) emit("unread", (count = unread(state)));
    const news = document.hidden ? ours.filter((message) => isNew(message, state)).length : 0;
    const text = news ? tn("{count} new message", "{count} new messages", news) : "";
    if (text !== title) tell({ type: "title", text: (title = text) });
  };
}

/** Two soft notes, if the browser allows sounds: only after the visitor has clicked something here. */
function chime() {
  if (!navigator.userActivation?.hasBeenActive) return;
  const context = new AudioContext();
  const volume = context.createGain();
  volume.connect(context.destination);
  for (const [pitch, after] of NOTES) {
    const at = context.currentTime + after;
    const note = context.createOscillator();
    note.frequency.value = pitch;
    volume.gain.setValueAtTime(SOFT, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.3);
    note.connect(volume);
    note.start(at);
    note.stop(at + 0.3);
  }
  setTimeout(() => context.close(), 1000);
}
