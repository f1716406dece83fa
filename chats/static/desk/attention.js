/** Gets the agent's attention: badge, sound, the browser's notifications. */

import { t } from "../common/i18n.js";
import { saidIn } from "./labels.js";
import { customerName } from "./people.js";
import { isAway, isOwn, unnoticed } from "./reducer.js";
import { dispatch, read, remember, subscribe } from "./store.js";

const SOUND_KEY = "desk.sound";
let audio = null;
let openChat = () => {};

/** The person whose push notifications this browser gets. */
export const PERSON_KEY = "desk.push.person";
export const canPush = "serviceWorker" in navigator && "PushManager" in window;

/** Whether the service worker notifies, so that the page need not. */
export const isPushed = (me) => canPush && localStorage.getItem(PERSON_KEY) === String(me.id) && Notification.permission === "granted";

export const hasSound = () => localStorage.getItem(SOUND_KEY) !== "off";
export const canNotify = () => "Notification" in window && Notification.permission === "granted";

export function setSound(isOn) {
  remember(SOUND_KEY, isOn ? "on" : "off");
  if (isOn) beep();
  dispatch({ type: "tick", now: Date.now() });
}

/** Asks the browser for the right to notify. */
export async function allowNotifications() {
  await Notification.requestPermission();
  dispatch({ type: "tick", now: Date.now() });
}

/** Shows the agent a chat. */
export const show = (id) => openChat(id);

/** The page's title and its icon show how much waits for the agent. */
export function begin(open) {
  openChat = open;
  count(read());
  subscribe((state, before) => {
    if (state.counts !== before.counts || state.notifications !== before.notifications) count(state);
  });
}

/** The agent's chats with unread messages, and other notices that they have not looked at. */
function count(state) {
  const isCounted = ({ chat_id: id }) => state.chats[id]?.unread_count > 0 && isOwn(state, state.chats[id]);
  const ids = unnoticed(state).filter((one) => !isCounted(one)).map((one) => one.chat_id);
  const number = (state.counts.mine_unread ?? 0) + new Set(ids).size;
  document.title = number ? `(${number}) ${t("Inbox")}` : t("Inbox");
  navigator.setAppBadge?.(number).catch(() => document.title);
}

/** Notifies of a message in the agent's own chat and, unless they are away, of a chat that nobody has. */
export function announce(event, before) {
  const chat = read().chats[event.conversation_id] ?? event.data.conversation;
  if (!chat || !before.me) return;
  const message = event.type === "message.created" ? event.data.message : null;
  const isForMe = message?.sender.type === "customer" && isOwn(before, chat);
  const isWaiting = event.type === "conversation.handed_off" && !isAway(before);
  if (!isForMe && !isWaiting) return;
  const isSeen = document.hasFocus() && (isWaiting || before.openId === chat.id);
  if (hasSound() && !(isForMe && isSeen)) beep();
  if (isSeen || !canNotify() || (isForMe && isPushed(before.me))) return;
  const name = customerName(chat);
  notify(chat.id, isForMe ? t("New message from {name}", { name }) : t("A customer is waiting"), isForMe ? saidIn(message).slice(0, 120) : name);
}

/** Plays a sound, and shows the browser's notification if the agent is looking elsewhere. */
export function call(id, title) {
  if (hasSound()) beep();
  if (!document.hasFocus() && canNotify() && !isPushed(read().me)) notify(id, title);
}

function notify(id, title, body = "") {
  const shown = new Notification(title, { tag: id, body });
  shown.onclick = () => {
    window.focus();
    openChat(id);
  };
}

/** A short soft tone. The browser allows it once somebody has used the page. */
function beep() {
  audio ??= new AudioContext();
  if (audio.state === "suspended") return;
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.setValueAtTime(0.08, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.25);
  tone.frequency.value = 660;
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.25);
}
