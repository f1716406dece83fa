/** An agent's actions on chats: open, take, assign, end, snooze, tag. */

import { msg, t, tn } from "../common/i18n.js";
import { Refusal, SignedOut, Unreachable, call, get, post, put } from "./api.js";
import { leave } from "./delayed.js";
import { OBSTACLES } from "./labels.js";
import { countSoon, fetchChat, loadFurther, onReadAgain } from "./live.js";
import { notice } from "./notices.js";
import * as outbox from "./outbox.js";
import { customerName } from "./people.js";
import { isOwn, rows } from "./reducer.js";
import { dispatch, read, subscribe, toast } from "./store.js";
import { dayAndClock } from "./times.js";

const PAGE = 50;

/** Why something failed, in words. If the session has ended, a line above the panes says so. */
export function reasonOf(error) {
  if (error instanceof SignedOut) return dispatch({ type: "connection", connection: "signed_out" });
  if (error instanceof Unreachable) return t("Can't reach the server. Try again.");
  if (!(error instanceof Refusal)) throw error;
  switch (error.code) {
    case "already_assigned":
      return t("{name} already took this conversation.", { name: error.body.assignee?.name || t("A teammate") });
    case "already_decided":
      return t("This is no longer waiting for approval.");
    case "chat_continued":
      return t("The customer has a newer conversation. Reply there.");
    case "channel_not_connected":
      return t(OBSTACLES.disconnected);
    case "customer_opted_out":
      return t("This customer has opted out of these messages.");
    case "engine_not_configured":
      return t("This needs a language model. Ask an owner or admin to set one up.");
    default:
      // A rule of the platform speaks for itself.
      return error.code && error.status < 500 ? error.message : t("Something went wrong: {detail}", { detail: error.message });
  }
}

/** Shows for a while why something failed. */
export function report(error) {
  const reason = reasonOf(error);
  if (reason) toast(reason, { isFault: true });
}

/** What `act` gives; null if it did not work, which is said for a while. */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    report(error);
    return null;
  }
}

const keep = (chat) => dispatch({ type: "chat", chat });

/** Shows a chat; its transcript is fetched if it is missing. The message that a search found is scrolled into view. */
export async function open(id) {
  const { chats, threads, pane, query, list } = read();
  const address = `#${id}`;
  if (location.hash !== address && pane === "list") history.pushState({ isFromList: true }, "", address);
  else if (location.hash !== address) history.replaceState(history.state, "", address);
  if (!chats[id]) await fetchChat(id);
  if (!read().chats[id]) return; // there is no such chat
  dispatch({ type: "opened", id });
  if (!threads[id]) await loadEnd(id).catch((error) => {
    forget(id);
    report(error);
  });
  if (query && list.found[id]) await showFound(id, list.found[id].seq);
  markRead();
  notice(id);
  prefetch(id);
}

/** Shows the message that a search has found, however early it was. */
async function showFound(id, seq) {
  const thread = () => read().threads[id];
  while (thread()?.cursor && thread().messages[0].seq > seq) if (!(await loadEarlier(id))) return;
  if (thread()) dispatch({ type: "hit", id, seq });
}

/** Back to the list: the browser's Back then leads to where the agent was before. */
export function close() {
  dispatch({ type: "left" });
  if (history.state?.isFromList) history.back();
  else if (location.hash) history.replaceState(null, "", location.pathname);
}

async function loadEnd(id) {
  dispatch({ type: "awaited", id });
  const [page, steps] = await Promise.all([
    get(`/ai/chat/${id}/history`, { sort: "newest", limit: PAGE }),
    get(`/ai/chat/${id}/steps`),
  ]);
  dispatch({ type: "history", id, items: page.items, cursor: page.next_cursor, steps: steps.items });
}

export async function loadEarlier(id) {
  const { cursor } = read().threads[id];
  return attempt(async () => {
    const page = await get(`/ai/chat/${id}/history`, { sort: "newest", limit: PAGE, cursor });
    dispatch({ type: "history", id, items: page.items, cursor: page.next_cursor, isOlder: true });
    return true;
  });
}

/** Fetches the neighbours in the list ahead, so that the next key shows them at once. */
function prefetch(id) {
  const ids = rows(read()).map((chat) => chat.id);
  const place = ids.indexOf(id);
  for (const neighbour of [ids[place + 1], ids[place - 1]]) {
    if (neighbour && !read().threads[neighbour]) loadEnd(neighbour).catch(() => forget(neighbour));
  }
}

/** A transcript that could not be fetched ahead is fetched when it is opened. */
function forget(id) {
  if (read().threads[id]?.isLoading) dispatch({ type: "missed", id });
}

/** Marks the chat as read if its agent is looking at it. */
function markRead() {
  const state = read();
  const chat = state.chats[state.openId];
  if (!chat?.unread_count || !isOwn(state, chat) || !document.hasFocus()) return;
  attempt(async () => keep(await post(`/ai/chat/${chat.id}/read`))).then(countSoon);
}

function readOpen() {
  const { openId, threads } = read();
  if (openId && !threads[openId]) open(openId);
}

onReadAgain(readOpen);
addEventListener("focus", markRead);
subscribe((state, before) => {
  if (state.connection === "live" && before.connection !== "live") readOpen();
  const unread = (one) => one.chats[one.openId]?.unread_count ?? 0;
  if (state.openId === before.openId && unread(state) > unread(before)) markRead();
});

export function take(id) {
  return attempt(() => assign([id], { assign_type: "agent" }, { said: t("Assigned to you") }));
}

/** Acts on each chat. Throws the first fault, with the `ids` of the chats that could not be changed. */
async function onEach(ids, act) {
  const done = await Promise.allSettled(ids.map(act));
  dispatch({ type: "unselected" });
  const left = ids.filter((_, place) => done[place].reason);
  if (!left.length) return;
  await Promise.all(left.map(fetchChat));
  throw Object.assign(done.find(({ reason }) => reason).reason, { ids: left });
}

/** Assigns chats to a person, the queue or the bot; `until`: also snoozes them. `said`: the message shown then.
 * A reply that can still be undone goes out first: a colleague's conversation would refuse it. */
export async function assign(ids, body, { said, until } = {}) {
  const held = await Promise.all(ids.map(async (id) => ((await outbox.sendHeld(id)) ? null : id)));
  const kept = held.filter(Boolean);
  kept.filter((id) => !outbox.isRefused(id)).forEach((id) => tellKept(id, msg("The conversation with {name} wasn't assigned: your message wasn't sent.")));
  const free = ids.filter((id) => !kept.includes(id));
  if (!free.length) return;
  await onEach(free, async (id) => {
    if (until) await post(`/ai/chat/${id}/snooze`, { until });
    keep(await post(`/ai/chat/${id}/assign`, body));
  });
  const news = [said, until && t("Snoozed until {time}", { time: dayAndClock(until) })].filter(Boolean).join(" · ");
  if (news) toast(news, { seconds: 3 });
}

/** Ends chats unless that is undone; the next chat of the list opens. */
export function end(ids) {
  depart(ids, ids.length > 1 ? tn("{count} conversation ended.", "{count} conversations ended.", ids.length) : t("Conversation ended."), (id) =>
    post(`/ai/chat/${id}/agent-end`, {}, { keepalive: true }),
  );
}

export function snooze(ids, until) {
  const time = dayAndClock(until);
  const text = ids.length > 1 ? tn("{count} conversation snoozed until {time}.", "{count} conversations snoozed until {time}.", ids.length, { time }) : t("Snoozed until {time}.", { time });
  depart(ids, text, (id) => post(`/ai/chat/${id}/snooze`, { until: until.toISOString() }, { keepalive: true }));
}

/** Opens a snoozed or an ended chat again. */
export function reopen(id) {
  return attempt(async () => keep(await post(`/ai/chat/${id}/reopen`)));
}

/** Says that a chat stays as it is, since what was written in it waits for the connection. */
function tellKept(id, text) {
  toast(t(text, { name: customerName(read().chats[id]) }), { isFault: true });
}

/** Acts on chats in a moment. One stays open if what was written in it could not be sent. */
function depart(ids, text, request) {
  const act = (id) => attempt(async () => {
    if (await outbox.isDelivered(id)) keep(await request(id));
    else if (!outbox.isRefused(id)) tellKept(id, msg("The conversation with {name} stays open: your message wasn't sent."));
  });
  const { openId } = read();
  const next = ids.includes(openId) ? neighbour(1, ids) : null;
  outbox.flush(ids);
  leave(ids, text, act);
  dispatch({ type: "unselected" });
  if (next) open(next);
}

/** The chat this many places after the open one in the list, skipping some chats. */
function neighbour(step, without = []) {
  const all = rows(read()).map((chat) => chat.id);
  const { openId } = read();
  const place = all.indexOf(openId);
  const rest = [...all.slice(place + 1), ...(without.length ? all.slice(0, Math.max(place, 0)) : [])];
  if (step > 0) return rest.find((id) => !without.includes(id));
  return all[place - 1];
}

/** Opens the next (1) or the previous (-1) chat of the list, whose next page is fetched at its end. */
export async function go(step) {
  if (step > 0 && !neighbour(step)) await loadFurther();
  const next = neighbour(step);
  if (next) open(next);
}

export async function prioritize(ids, priority) {
  await Promise.all(ids.map((id) => attempt(async () => keep(await put(`/ai/chat/${id}/priority`, { priority })))));
  dispatch({ type: "unselected" });
}

/** Changes a customer's data; the caller handles failures. */
export async function describe(id, changes) {
  dispatch({ type: "customer", customer: await put(`/ai/customers/${id}`, changes) });
}

/** Blocks a customer until a time. */
export function block({ customer_id: id }, until, reason) {
  return describe(id, { blocked_until: until, block_reason: reason });
}

export function unblock({ customer_id: id }) {
  return attempt(() => describe(id, { blocked_until: null, block_reason: null }));
}

/** Merges the second customer into the first. */
export function merge(id, merged_id) {
  return attempt(async () => {
    dispatch({ type: "merged", customer: await post(`/ai/customers/${id}/merge/${merged_id}`), merged_id });
    toast(t("Customers merged."), { seconds: 3 });
  });
}

/** Other customers with the same email address or phone number. */
export async function duplicatesOf(customer) {
  const same = { email: (text) => text?.trim().toLowerCase(), phone: (text) => text?.replace(/\D/g, "") };
  const found = new Map();
  for (const [name, key] of Object.entries(same)) {
    if (!key(customer[name])) continue;
    const { items } = await get("/ai/customers", { q: customer[name], limit: 20 });
    for (const other of items) {
      if (other.id !== customer.id && key(other[name]) === key(customer[name])) found.set(other.id, other);
    }
  }
  return [...found.values()];
}

/** Replaces one's own latest message, or (null) deletes it. */
export async function changeMessage({ id, conversation_id: chatId }, text) {
  const path = `/ai/chat/${chatId}/messages/${id}`;
  dispatch({ type: "message", message: await (text === null ? call("DELETE", path) : put(path, { text })), kind: "message.updated" });
}

/** Replaces the tags of chats, or adds to them. */
export function setTags(ids, names, { isAdded }) {
  const send = isAdded ? post : put;
  return onEach(ids, async (id) => {
    const { tags } = await send(`/ai/chat/${id}/tags`, { tags: names });
    const chat = read().chats[id];
    if (chat) keep({ ...chat, tags: tags.map((tag) => tag.name) });
  });
}

/** Downloads a chat as a text file. */
export function saveTranscript({ id, chat_code: code }) {
  return attempt(async () => {
    const file = await call("GET", `/ai/chat/${id}/transcript.txt`, { as: "blob" });
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download: `${code}.txt` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // Safari still reads it.
  });
}

let saidTyping = 0;

/** Tells colleagues and the customer that the agent is typing, at most every four seconds. */
export function typing(id) {
  const now = Date.now();
  if (now - saidTyping < 4000) return;
  saidTyping = now;
  post(`/ai/chat/${id}/typing`, { is_typing: true }).catch(() => {
    saidTyping = 0; // a lost signal does no harm
  });
}
