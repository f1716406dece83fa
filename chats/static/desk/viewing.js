/** Exchanges with colleagues who is looking at which chat. Nothing is stored. */

import { post } from "./api.js";
import { dispatch, read, subscribe } from "./store.js";

const AGAIN_MS = 20_000;
let shown = null; // the chat that we last told colleagues about

/** Starts telling the others which chat is open here. */
export function begin() {
  subscribe(tell);
  document.addEventListener("visibilitychange", tell);
  addEventListener("pagehide", () => turnTo(null));
  setInterval(() => shown && say(shown, true), AGAIN_MS);
}

/** A page in the background, or one that shows only the list, is looking at no chat. */
function tell() {
  const { openId, pane, me, chats } = read();
  if (me?.role === "viewer") return;
  if (!chats[shown]) shown = null; // It was deleted.
  turnTo(document.hidden || pane === "list" ? null : openId);
}

function turnTo(id) {
  if (id === shown) return;
  if (shown) say(shown, false);
  shown = id;
  if (shown) say(shown, true);
}

function say(id, isViewing) {
  // It is repeated soon, so a lost signal does no harm.
  post(`/ai/chat/${id}/viewing`, { is_viewing: isViewing }, { keepalive: true }).catch(() => {});
}

/** A colleague looks at a chat. If it is ours, they are told at once that we are there. */
export function hear(data) {
  const { me, viewers } = read();
  if (data.user_id === me?.id) return;
  const isNew = data.is_viewing && !viewers[data.conversation_id]?.[data.user_id]?.until;
  dispatch({ type: "viewing", now: Date.now(), ...data });
  if (isNew && data.conversation_id === shown) say(shown, true);
}
