/** The agent's messages that the platform has not stored yet, and drafts. Both survive a restart. */

import { t } from "../common/i18n.js";
import { Refusal, SignedOut, Unreachable, call } from "./api.js";
import { show } from "./attention.js";
import { UNDO_MS, keepInList, later } from "./delayed.js";
import { customerName } from "./people.js";
import { contentOf, draftOf, filesOf, isOwn } from "./reducer.js";
import { dispatch, read, remember, subscribe, toast } from "./store.js";

const RETRY_MS = 3000;
const held = new Map(); // by item: what undoes it
const sending = new Map(); // by chat: the last message on its way
const paused = new Set(); // what continues with waiting messages

const keyOf = (what) => `desk.${read().me.id}.${what}`;

/** Loads what was kept for this person, and sends messages that another page has left behind. */
export function restore() {
  dispatch({ type: "drafts", drafts: stored("drafts") });
  const now = Date.now();
  for (const item of Object.values(stored("outbox"))) {
    dispatch({ type: "queued", item: { ...item, files: [], state: item.state === "failed" ? "failed" : "waiting" } });
    // Another page of this person may still hold it back so that it can be undone.
    if (item.state !== "failed") setTimeout(() => post(item.id), Math.max(item.dueAt + UNDO_MS - now, 0));
  }
  subscribe(keep);
  addEventListener("beforeunload", (event) => holdsFiles(read()) && event.preventDefault());
}

/** Files are kept in the page alone: the browser asks before it leaves them. */
export const holdsFiles = ({ files, outbox }) => [...Object.values(files), ...outbox.map((item) => item.files)].some((list) => list.length);

function keep(state, before) {
  const written = ({ drafts }) => Object.entries(drafts).filter(([, draft]) => draft.text);
  const isGone = ([id]) => state.chats !== before.chats && hasGone(state.chats[id], before.chats[id]);
  if (state.drafts !== before.drafts || written(state).some(isGone)) {
    keepChanges("drafts", new Map(written(before)), new Map(written(state).filter((one) => !isGone(one))));
  }
  if (state.outbox !== before.outbox) {
    const storable = ({ outbox }) => outbox.filter((item) => !item.files.length).map((item) => [item.id, item]);
    keepChanges("outbox", new Map(storable(before)), new Map(storable(state)));
  }
}

/** Whether a chat has just ended or left this person: its draft then lasts only as long as the page. */
function hasGone(chat, before) {
  if (!chat || !before) return false;
  const isMine = (one) => isOwn(read(), one);
  return (chat.status === "ended" && before.status !== "ended") || (isMine(before) && !isMine(chat));
}

/** Stores only the differences: another page of this person keeps its own drafts and messages in the same place. */
function keepChanges(what, before, now) {
  const kept = stored(what);
  for (const id of before.keys()) if (!now.has(id)) delete kept[id];
  for (const [id, value] of now) if (value !== before.get(id)) kept[id] = value;
  remember(keyOf(what), JSON.stringify(kept));
}

/** The stored items, by chat or by message. */
function stored(what) {
  try {
    return { ...JSON.parse(localStorage.getItem(keyOf(what))) };
  } catch {
    return {};
  }
}

/** Shows a message at once and sends it in five seconds, or at once if another one is waiting before it. */
export function send(chatId, { text, isNote, files = [] }) {
  queue(chatId, { text, isNote, files });
  dispatch({ type: "draft", id: chatId, draft: { text: "" } });
  dispatch({ type: "files", id: chatId, files: [] });
}

/** Sends a message that the channel's provider rejected once more, beside what is being typed. */
export const resend = (message) => queue(message.conversation_id, { ...contentOf(message), isNote: false, files: [] });

function queue(chatId, content) {
  flush([chatId]);
  const id = crypto.randomUUID();
  const now = Date.now();
  const item = { id, chatId, ...content, state: "held", dueAt: now + UNDO_MS, created_at: new Date(now).toISOString() };
  dispatch({ type: "queued", item });
  held.set(id, later(() => post(id)));
}

/** Sends the messages held back for these chats, for example before they are ended. */
export function flush(chatIds) {
  read().outbox.filter((item) => chatIds.includes(item.chatId)).forEach((item) => sendNow(item.id));
}

export function sendNow(id) {
  held.get(id)?.now();
}

/** Cancels a message that was not sent yet: its text becomes a draft again, before what was typed meanwhile. */
export function undo(id) {
  const item = find(id);
  if (!item || !held.get(id)?.undo()) return;
  held.delete(id);
  recall(item);
}

/** Gives up a message that could not be sent; its text becomes a draft again if there is no other. */
export function discard(id) {
  const item = find(id);
  if (item && draftOf(read(), item.chatId).text) dispatch({ type: "dropped", id });
  else if (item) recall(item);
}

/** Makes a message a draft again; one that was sent before stays in the transcript. */
function recall({ id, chatId, text, isNote, files, links }) {
  dispatch({ type: "dropped", id });
  if (links) return;
  const typed = draftOf(read(), chatId);
  const both = [text, typed.text].filter(Boolean).join("\n");
  // What is a note becomes no part of a reply.
  const isTypedNote = typed.begunAs ? typed.begunAs === "note" : typed.isNote;
  const isForTeam = isNote || Boolean(typed.text && isTypedNote);
  dispatch({ type: "draft", id: chatId, draft: { text: both, isNote: isForTeam, begunAs: isForTeam ? "note" : "reply" } });
  dispatch({ type: "files", id: chatId, files: [...files, ...filesOf(read(), chatId)] });
}

export function retry(id) {
  dispatch({ type: "outbox", id, change: { state: "waiting", error: "" } });
  post(id);
}

/** Sends the messages that waited for the connection. */
export function retryAll() {
  for (const goOn of [...paused]) goOn();
}

/** Whether all that was written in a chat is stored, once none of it is on its way, or in fifteen seconds. */
export async function isDelivered(chatId) {
  await settled(chatId);
  return !read().outbox.some((item) => item.chatId === chatId);
}

/** Sends what is held back or on its way in a chat; gives whether all of that is stored. What was refused before does not count. */
export async function sendHeld(chatId) {
  const ids = read().outbox.filter((item) => item.chatId === chatId && item.state !== "failed").map((item) => item.id);
  flush([chatId]);
  if (ids.length) await settled(chatId);
  return !ids.some(find);
}

function settled(chatId) {
  const tooLate = new Promise((resolve) => setTimeout(resolve, 15_000));
  return Promise.race([Promise.allSettled([sending.get(chatId)]), tooLate]);
}

const find = (id) => read().outbox.find((item) => item.id === id);

/** Sends a message after those of its chat that are being sent or wait. */
function post(id) {
  held.delete(id);
  const item = find(id);
  if (!item || item.state === "sending") return;
  dispatch({ type: "outbox", id, change: { state: "sending" } });
  const next = () => deliver(id);
  sending.set(item.chatId, (sending.get(item.chatId) ?? Promise.resolve()).then(next, next));
}

/** Settles when the message is stored, refused or given up, so that later messages come later. */
async function deliver(id) {
  for (let item; (item = find(id)); ) {
    try {
      dispatch({ type: "outbox", id, change: { state: "sending" } });
      dispatch({ type: "message", message: await request(item) });
      return;
    } catch (error) {
      if (error instanceof Refusal) {
        dispatch({ type: "outbox", id, change: { state: "failed", error: error.message } });
        tellRefused(item.chatId, error.message);
        return;
      }
      const isSignedOut = error instanceof SignedOut;
      if (!isSignedOut && !(error instanceof Unreachable)) throw error;
      dispatch({ type: "outbox", id, change: { state: "waiting" } });
      if (isSignedOut) dispatch({ type: "connection", connection: "signed_out" });
      await pause(isSignedOut ? null : RETRY_MS);
    }
  }
}

/** Whether a message in a chat was refused, which the agent was told. */
export const isRefused = (chatId) => read().outbox.some((item) => item.chatId === chatId && item.state === "failed");

/** Says that a message was refused; the agent may be in another chat by now. A chat that was to end stays open. */
export function tellRefused(chatId, reason) {
  const { chats, openId, pane, leaving } = read();
  const isKept = leaving[chatId];
  keepInList(chatId);
  const name = chats[chatId] ? customerName(chats[chatId]) : t("Customer");
  const open = openId === chatId && pane !== "list" ? undefined : () => show(chatId);
  const text = isKept ? t("The conversation with {name} stays open because your message wasn't sent: {reason}", { name, reason }) : t("Your message to {name} wasn't sent: {reason}", { name, reason });
  toast(text, { isFault: true, open, seconds: 10 });
}

/** Settles after the given time, if any, or when the connection is back. */
function pause(milliseconds) {
  return new Promise((settle) => {
    const goOn = () => paused.delete(goOn) && settle();
    paused.add(goOn);
    if (milliseconds !== null) setTimeout(goOn, milliseconds);
  });
}

/** One message has one `client_message_id`, however often it is sent: it is stored once. */
async function request({ id, chatId, text, isNote, files, links = [] }) {
  const attached = [...files, ...(await Promise.all(links.map(fetched)))];
  if (!attached.length) {
    const body = { text, is_note: isNote, client_message_id: id };
    return call("POST", `/ai/chat/${chatId}/manual`, { body, keepalive: true });
  }
  const form = new FormData();
  attached.forEach((file) => form.append("files", file));
  form.append("text", text);
  form.append("is_note", String(isNote));
  form.append("client_message_id", id);
  return call("POST", `/ai/chat/${chatId}/manual/files`, { body: form });
}

/** A file that the platform has stored. */
async function fetched({ url, name, type }) {
  return new File([await call("GET", url, { as: "blob" })], name, { type });
}
