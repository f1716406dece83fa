/** Notices of assignments, mentions and waiting customers: shown at once, and kept until the agent looks at them. */

import { msg, t } from "../common/i18n.js";
import { put } from "./api.js";
import { call, show } from "./attention.js";
import { customerName } from "./people.js";
import { isOwn, unnoticed } from "./reducer.js";
import { dispatch, read, toast } from "./store.js";

const TOAST_SECONDS = 10;
const KINDS = {
  assigned: msg("{by} assigned {name} to you"),
  unassigned: msg("{name} is no longer assigned to you"),
  unanswered: msg("{name} has been waiting too long"),
  mentioned: msg("{by} mentioned you: {name}"),
};

/** A notification in words. */
export function noticeText(state, { kind, chat_id: id, assigned_by: by }) {
  const name = state.chats[id] ? customerName(state.chats[id]) : t("Customer");
  if (kind === "assigned" && !by) return t("{name} was assigned to you", { name });
  return t(KINDS[kind] ?? msg("Update on {name}"), { name, by: by?.name });
}

/** Notifies of what concerns only this agent, not of what everybody is told. `fetchChat` loads an unknown chat. */
export async function tell(notifications, fetchChat) {
  const unread = notifications.filter((one) => one.kind in KINDS && !one.is_read);
  const unknown = unread.filter(({ chat_id: id }) => !read().chats[id]);
  await Promise.all(unknown.map(({ chat_id: id }) => fetchChat(id)));
  const state = read();
  const isMine = ({ kind, chat_id: id }) => kind !== "unanswered" || (state.chats[id] && isOwn(state, state.chats[id]));
  const news = unread.filter(isMine);
  if (!news.length) return;
  dispatch({ type: "notified", notifications: news });
  const [{ chat_id: id, kind }] = news;
  if (document.hasFocus() && state.openId === id && state.pane !== "list") return notice(id);
  const words = noticeText(state, news[0]);
  call(id, words);
  toast(words, { open: kind === "unassigned" ? undefined : () => show(id), seconds: TOAST_SECONDS });
}

/** The agent looks at a chat: marks the notices about it as read. */
export function notice(id) {
  const ids = unnoticed(read()).filter((one) => one.chat_id === id).map((one) => one.id);
  if (!ids.length) return;
  dispatch({ type: "noticed", ids });
  // If this request fails, the notices are shown again at the next start.
  ids.forEach((one) => put(`/ai/chat/notifications/${one}/read`).catch(() => {}));
}

/** Opens the chat of the latest assignment or mention. */
export function openLatest() {
  const latest = unnoticed(read()).find((one) => one.kind !== "unassigned");
  if (latest) show(latest.chat_id);
}
