/** Keeps the desk current: the live feed, the list, the counts. */

import { t } from "../common/i18n.js";
import { Refusal, SignedOut, Unreachable, call, get, headers, post, put } from "./api.js";
import { announce } from "./attention.js";
import { follow } from "./event_stream.js";
import { refusalText } from "./labels.js";
import { tell } from "./notices.js";
import * as outbox from "./outbox.js";
import { FILTERS, VIEWS, isByUrgency, isOwnReply } from "./reducer.js";
import { chooseView, dispatch, read, toast } from "./store.js";
import { hear } from "./viewing.js";

const TICK_MS = 5000;
const QUERIES = {
  mine: { mine: true, status: "open" },
  unassigned: { assign_type: "queue", status: "open" },
  all: { status: "open" },
  snoozed: { status: "snoozed" },
  ended: { status: "ended" },
};
let last = "";
let reopen = () => {};

/** Follows the feed, which reports every change from now on. */
export function listen() {
  const stream = follow({ url: "/ai/chat/events", headers: authorise, onEvent: receive, onState: connected });
  // Whoever comes back may have signed in on another page.
  addEventListener("focus", () => read().connection === "signed_out" && stream.retry());
  setInterval(() => dispatch({ type: "tick", now: Date.now() }), TICK_MS);
}

/** Loads this person's notifications, and the saved views. */
async function loadPersonal() {
  await tolerant(async () => {
    const [{ items: notifications }, { items: views }] = await Promise.all([
      get("/ai/chat/notifications", { personal: true, limit: 50 }), get("/ai/chat/views"),
    ]);
    dispatch({ type: "notifications", notifications });
    dispatch({ type: "views", views });
  });
}

/** Sets this person as away or as available, at all of their desks. */
export async function setAway(isAway) {
  const { id } = await put("/identity/users/me", { is_away: isAway });
  dispatch({ type: "away", user_id: id, is_away: isAway });
}

/** Loads who is online and what waits. */
export async function load() {
  const me = await get("/identity/users/me");
  const [config, people, bots] = await Promise.all([
    get(`/config/${me.client_id}/chat`),
    everything("/identity/users"),
    everything("/ai/bot"),
    loadList(),
    loadCounts(),
    loadPersonal(),
  ]);
  const byId = (rows) => Object.fromEntries(rows.map((row) => [row.id, row]));
  dispatch({ type: "started", me, config, people: byId(people), bots: byId(bots) });
  outbox.restore();
}

async function authorise(isRefused) {
  try {
    return await headers(isRefused);
  } catch (error) {
    if (error instanceof SignedOut) dispatch({ type: "connection", connection: "signed_out" });
    throw new TypeError(error.message); // the stream comes back later
  }
}

/** All rows of a list that has few. */
export async function everything(path) {
  const rows = [];
  let cursor;
  do {
    const page = await get(path, { limit: 100, ...(cursor ? { cursor } : {}) });
    rows.push(...(page.items ?? page));
    cursor = page.next_cursor;
  } while (cursor);
  return rows;
}

function connected(state) {
  if (state === "live") outbox.retryAll();
  if (state === "lost") last = "";
  if (read().connection === "signed_out" && state !== "live") return;
  dispatch({ type: "connection", connection: state === "live" ? "live" : "offline" });
}

function receive({ event, data, id }) {
  if (event === "ready") {
    dispatch({ type: "ready", online: data.online, away: data.away });
    // What happened before the first event, or since a forgotten one, is not in the stream.
    if (!last) readAgain();
  } else if (event === "presence" || event === "away") {
    dispatch({ type: event, ...data });
  } else if (event === "typing") {
    const isOwn = data.sender.type === "agent" && data.sender.id === String(read().me?.id);
    if (!isOwn) dispatch({ type: "typing", now: Date.now(), ...data });
  } else if (event === "viewing") {
    hear(data);
  } else if (event === "deleted") {
    forget(data.conversation_id);
  } else {
    last = id;
    stored(data);
  }
}

/** A chat was deleted: removes everything of it from the page. */
function forget(id) {
  if (read().openId === id) {
    history.replaceState(history.state, "", location.pathname);
    toast(t("This conversation was deleted."));
  }
  dispatch({ type: "deleted", id });
  countSoon();
}

function stored(event) {
  const before = read();
  dispatch({ type: "event", event });
  if (event.data?.conversation?.assign_type === "queue") describeSoon(event.conversation_id);
  if (event.type === "notification.created") tell(event.data.notifications.map(({ notification }) => notification), fetchChat);
  if (/^channel\.(dis)?connected$/.test(event.type)) readChannel(event.data.connection);
  if (!event.conversation_id) return;
  announce(event, before);
  const isNews = event.type === "message.created" && !before.chats[event.conversation_id];
  if (isNews && before.view === "all" && !before.query) fetchChat(event.conversation_id);
  if (event.type === "message.failed") tellFailed(event.data.message, before);
  else if (changesReplyWindow(event, before)) fetchChat(event.conversation_id);
  if (event.type.startsWith("conversation.") || event.type === "message.created") countSoon();
}

/** Whether a message gives the agent more time to reply on its channel, or none: a note says that the customer blocks it. */
function changesReplyWindow({ type, conversation_id: id, data }, { chats }) {
  if (type !== "message.created" || !chats[id]) return false;
  const { sender, is_note: isNote } = data.message;
  const isOnChannel = !["web", "api"].includes(chats[id].channel);
  return (sender.type === "customer" && Boolean(chats[id].reply_window_expires_at)) || (isOnChannel && sender.type === "system" && isNote);
}

/** The provider refused a message: the channel may take no more replies, and its author may be elsewhere. */
async function tellFailed(message, { chats, me }) {
  const { conversation_id: id, error } = message;
  const isOwn = me && isOwnReply({ me }, message);
  if (chats[id] || isOwn) await fetchChat(id);
  if (isOwn) outbox.tellRefused(id, refusalText(error));
}

/** An account was connected or disconnected: its conversations take replies again, or no longer. */
async function readChannel({ bot_id: bot, channel }) {
  const { chats, openId } = read();
  const isOfAccount = (chat) => chat?.bot_id === bot && chat.channel === channel;
  if (isOfAccount(chats[openId])) fetchChat(openId);
  if (!Object.values(chats).some(isOfAccount)) return;
  await tolerant(async () => keepAll(await get("/ai/chats", { bot_id: bot, channel, status: "open", sort: "newest", limit: 100 })));
}

function keepAll({ items }) {
  for (const chat of items) dispatch({ type: "chat", chat });
}

function readAgain() {
  if (!read().me) return; // the first request is under way
  dispatch({ type: "forgotten" });
  loadList();
  loadCounts();
  loadPersonal();
  reopen();
}

/** Registers the function that reloads the open chat. */
export function onReadAgain(act) {
  reopen = act;
}

export async function fetchChat(id) {
  await tolerant(async () => dispatch({ type: "chat", chat: await get(`/ai/chat/${id}`) }));
}

let undescribed = [];

/** Fetches what the customers want who were just put into the queue, if the list shows it; at most once a second. */
function describeSoon(id) {
  const { chats, view } = read();
  if (chats[id]?.queue_details || view === "mine") return;
  if (!undescribed.length) setTimeout(describe, 1000);
  undescribed.push(id);
}

async function describe() {
  const ids = [...new Set(undescribed)];
  undescribed = [];
  const customer = ids.length === 1 && read().chats[ids[0]]?.customer_id;
  const one = customer ? { customer_id: customer } : {};
  await tolerant(async () => {
    keepAll(await get("/ai/chats", { ...QUERIES.unassigned, sort: "newest", limit: 50, ...one }));
  });
}

let counting = 0;

/** Counts again, at most once a second. */
export function countSoon() {
  counting ||= setTimeout(() => {
    counting = 0;
    loadCounts();
  }, 1000);
}

async function loadCounts() {
  await tolerant(async () => dispatch({ type: "counts", counts: await get("/ai/chats/counts") }));
}

/** The first page of the list that is shown, or the next one. */
export async function loadList({ isMore = false } = {}) {
  const { view, query, filters, list } = read();
  const base = query ? { q: query } : { ...QUERIES[view], sort: isByUrgency(view) ? "priority" : "newest" };
  const wanted = { ...base, ...filters };
  const cursor = isMore && list.cursor ? { cursor: list.cursor } : {};
  await tolerant(async () => {
    const page = await get("/ai/chats", { ...wanted, ...cursor, limit: 50 });
    dispatch({ type: "list", view, query, filters, items: page.items, cursor: page.next_cursor, isMore });
  });
}

let further = null;

/** The next page of the list, once however often it is asked for. */
export function loadFurther() {
  if (!read().list.cursor) return null;
  further ??= loadList({ isMore: true }).finally(() => {
    further = null;
  });
  return further;
}

/** A request that may fail, because the feed reloads its result once the platform is back. */
async function tolerant(act) {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof SignedOut || error instanceof Refusal)) throw error;
  }
}

export function show(view, filters = {}) {
  chooseView(view, "", filters);
  loadList();
}

export function search(query) {
  chooseView(read().view, query, read().filters);
  loadList();
}

/** Converts a saved view from the platform's format, and back. */
export const asQuery = ({ view, filters }) => new URLSearchParams({ view, ...filters }).toString();

export function showSaved({ query }) {
  const { view, ...rest } = Object.fromEntries(new URLSearchParams(query));
  const filters = Object.fromEntries(Object.entries(rest).filter(([name]) => FILTERS.includes(name)));
  show(VIEWS.includes(view) ? view : "all", filters);
}

/** Saves the current view under a name, or deletes a saved view. */
export async function keepView(name, isShared) {
  await post("/ai/chat/views", { name, query: asQuery(read()), is_shared: isShared });
  await loadPersonal();
}

export async function forgetView({ id }) {
  await call("DELETE", `/ai/chat/views/${id}`);
  await loadPersonal();
}
