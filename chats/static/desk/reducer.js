/** The desk's state, and how each action changes it. Pure: no request, no clock, no page. */

import { withKnownDetails, withWords } from "./matter.js";

export const VIEWS = ["mine", "unassigned", "all", "snoozed", "ended"];
const KEPT_THREADS = 30;
const KEPT_CHATS = 1000;
const KEPT_NOTIFICATIONS = 100;
const TYPING_MS = 10_000;
const VIEWING_MS = 45_000;
const SKEW_MS = 60_000;
const REFERENCE = /^conversation\.(assigned|unassigned|handed_off|prioritized|snoozed|ended|reopened)$/;
const FILES = ["image", "file", "audio", "video"];
export const PRIORITIES = ["urgent", "high", "normal", "low"];

export function initial({ view = "mine", now = 0 } = {}) {
  return {
    me: null,
    config: null,
    people: {},
    bots: {},
    online: {},
    away: {}, // who takes no new conversations for now
    connection: "connecting",
    now,
    counts: {},
    view,
    query: "",
    filters: {}, // as `GET /ai/chats` takes them
    views: [], // saved by people
    notifications: [], // notifications for this person, newest first
    list: { ids: [], found: {}, cursor: null, isLoading: true },
    chats: {},
    customers: {}, // the transcripts of the chats that were opened
    feedback: {}, // ratings, by the rated message or else the rated chat
    gone: {}, // customers who were merged into others
    threads: {},
    openId: null,
    pane: "list",
    typing: {},
    viewers: {}, // by chat and person: the name, and until when
    outbox: [],
    drafts: {},
    files: {}, // attached but not sent, by chat
    selected: {},
    ticked: null, // the chat that was selected last
    leaving: {},
    dialog: null,
    toasts: [],
  };
}

/** The state after an action. */
export function reduce(state, action) {
  return CHANGES[action.type]?.(state, action) ?? state;
}

const CHANGES = {
  started: (state, { me, config, people, bots }) => ({ ...state, me, config, people, bots }),
  connection: (state, { connection }) => ({ ...state, connection }),
  counts: (state, { counts }) => ({ ...state, counts }),
  tick: (state, { now }) => ({ ...state, now, typing: stillTyping(state.typing, now), viewers: stillViewing(state.viewers, now) }),
  view: (state, { view, query = "", filters = {} }) => ({
    ...state, view, query, filters, selected: {}, list: { ids: [], found: {}, cursor: null, isLoading: true },
  }),
  views: (state, { views }) => ({ ...state, views }),
  notifications: (state, { notifications }) => ({ ...state, notifications }),
  notified: (state, { notifications }) => {
    const ids = notifications.map((one) => one.id);
    const others = state.notifications.filter((one) => !ids.includes(one.id));
    return { ...state, notifications: [...notifications, ...others].slice(0, KEPT_NOTIFICATIONS) };
  },
  noticed: (state, { ids }) => ({
    ...state, notifications: state.notifications.map((one) => (ids.includes(one.id) ? { ...one, is_read: true } : one)),
  }),
  list: listed,
  chat: (state, { chat }) => ({ ...state, chats: { ...state.chats, [chat.id]: newer(state, chat) } }),
  deleted,
  customer: (state, { customer }) => withCustomer(state, customer),
  feedback: (state, { items }) => withFeedback(state, items),
  merged: (state, { customer, merged_id: gone }) => withCustomer(state, customer, gone),
  opened: opened,
  left: (state) => ({ ...state, pane: "list" }),
  pane: (state, { pane }) => ({ ...state, pane }),
  // From here on, events are added to the transcript that is being fetched.
  awaited: (state, { id }) => ({
    ...state,
    threads: { ...state.threads, [id]: { messages: [], steps: [], cursor: null, unreadFrom: null, isLoading: true } },
  }),
  history: heard,
  // The message in a transcript that a search has found.
  hit: (state, { id, seq }) => ({ ...state, threads: { ...state.threads, [id]: { ...state.threads[id], hit: seq } } }),
  missed: (state, { id }) => ({
    ...state, threads: Object.fromEntries(Object.entries(state.threads).filter(([key]) => key !== id)),
  }),
  // The feed has a gap, so the state may be out of date.
  forgotten: (state) => ({ ...state, threads: {}, chats: shownChats({ ...state, threads: {} }) }),
  event: happened,
  message: (state, { message, kind }) => withMessage(state, message, kind),
  ready: (state, { online, away }) => ({ ...state, online: asMap(online), away: asMap(away) }),
  away: (state, { user_id: id, is_away: isAway }) => ({ ...state, away: { ...state.away, [id]: isAway } }),
  presence: (state, { user_id: id, name, is_online: isOnline }) => ({
    ...state,
    online: { ...state.online, [id]: isOnline },
    people: state.people[id] ? state.people : { ...state.people, [id]: { id, full_name: name } },
  }),
  typing: (state, { conversation_id: id, sender, is_typing: isTyping, now }) => ({
    ...state, typing: { ...state.typing, [id]: isTyping ? { sender, until: now + TYPING_MS } : undefined },
  }),
  viewing: (state, { conversation_id: id, user_id: user, name, is_viewing: isViewing, now }) => ({
    ...state, viewers: { ...state.viewers, [id]: { ...state.viewers[id], [user]: { name, until: isViewing ? now + VIEWING_MS : 0 } } },
  }),
  draft: (state, { id, draft }) => ({ ...state, drafts: { ...state.drafts, [id]: { ...draftOf(state, id), ...draft } } }),
  drafts: (state, { drafts }) => ({ ...state, drafts }),
  files: (state, { id, files }) => ({ ...state, files: { ...state.files, [id]: files } }),
  queued: (state, { item }) => ({ ...state, outbox: [...state.outbox, item] }),
  outbox: (state, { id, change }) => ({
    ...state, outbox: state.outbox.map((item) => (item.id === id ? { ...item, ...change } : item)),
  }),
  dropped: (state, { id }) => ({ ...state, outbox: state.outbox.filter((item) => item.id !== id) }),
  selected,
  unselected: (state) => ({ ...state, selected: {} }),
  // Chats that will soon be ended or snoozed, unless that is undone.
  leaving: (state, { ids, isLeaving }) => ({
    ...state, leaving: { ...state.leaving, ...Object.fromEntries(ids.map((id) => [id, isLeaving])) },
  }),
  dialog: (state, { dialog }) => ({ ...state, dialog }),
  toast: (state, { toast }) => ({ ...state, toasts: [...state.toasts, toast] }),
  untoast: (state, { id }) => ({ ...state, toasts: state.toasts.filter((toast) => toast.id !== id) }),
};

const asMap = (ids) => Object.fromEntries(ids.map((id) => [id, true]));

/** Whether this person is away. */
export const isAway = ({ away, me }) => Boolean(away[me?.id]);

export function draftOf(state, id) {
  return state.drafts[id] ?? { text: "", isNote: false };
}

export const filesOf = (state, id) => state.files[id] ?? [];

/** Selects a chat, or no longer; `isRange`: and all from the one that was selected last. */
function selected(state, { id, isRange }) {
  const ids = rows(state).map((chat) => chat.id);
  const [first, last] = [ids.indexOf(state.ticked), ids.indexOf(id)].sort((one, other) => one - other);
  const changed = isRange && first >= 0 ? ids.slice(first, last + 1) : [id];
  const isOn = !state.selected[id];
  return { ...state, ticked: id, selected: { ...state.selected, ...Object.fromEntries(changed.map((one) => [one, isOn])) } };
}

/** A page of the list. If there are many chats, the first page removes those that are not shown any more. */
function listed(state, { view, query, filters, items, cursor, isMore }) {
  if (view !== state.view || query !== state.query || filters !== state.filters) return state; // from a view that was left
  const fetched = Object.fromEntries(items.map((chat) => [chat.id, newer(state, chat)]));
  const ids = isMore ? [...new Set([...state.list.ids, ...Object.keys(fetched)])] : Object.keys(fetched);
  const hits = Object.fromEntries(items.filter((chat) => chat.found_message).map((chat) => [chat.id, chat.found_message]));
  const found = isMore ? { ...state.list.found, ...hits } : hits;
  const isFull = !isMore && Object.keys(state.chats).length > KEPT_CHATS;
  const known = isFull ? shownChats(state) : state.chats;
  return { ...state, chats: { ...known, ...fetched }, list: { ids, found, cursor, isLoading: false } };
}

/** A chat that was requested before its last event arrived is older than the state. */
function newer(state, chat) {
  const known = state.chats[chat.id];
  const isOlder = known?.version > chat.version || seqOf(known) > seqOf(chat);
  return isOlder ? withKnownDetails(known, chat) : withKnownDetails(chat, known);
}

const seqOf = (chat) => chat?.last_message?.seq ?? 0;

function shownChats(state) {
  const entries = Object.entries(state.chats);
  return Object.fromEntries(entries.filter(([id]) => id in state.threads || id === state.openId));
}

/** Whether an agent can read a chat, or will in a moment: whoever types at once after opening it loses no letter. */
export function isReadable({ threads, connection }, id) {
  const thread = threads[id];
  if (!thread) return false;
  return !thread.isLoading || thread.messages.length > 0 || !["offline", "signed_out"].includes(connection);
}

function opened(state, { id }) {
  const chat = state.chats[id];
  const thread = state.threads[id];
  return {
    ...state,
    openId: id,
    pane: "thread",
    threads: thread
      ? { ...state.threads, [id]: { ...thread, unreadFrom: firstUnread(chat, thread.messages), hit: undefined } }
      : state.threads,
  };
}

/** Removes a chat, and what was typed for it. */
function deleted(state, { id }) {
  const isOpen = state.openId === id;
  const isOf = ({ ids, message }) => ids?.includes(id) || message?.conversation_id === id;
  const without = (byChat) => Object.fromEntries(Object.entries(byChat).filter(([key]) => key !== id));
  const kept = Object.fromEntries(["chats", "threads", "drafts", "files", "selected"].map((part) => [part, without(state[part])]));
  return {
    ...state, ...kept,
    outbox: state.outbox.filter((item) => item.chatId !== id),
    openId: isOpen ? null : state.openId,
    pane: isOpen ? "list" : state.pane,
    dialog: state.dialog && isOf(state.dialog) ? null : state.dialog,
    notifications: state.notifications.filter((one) => one.chat_id !== id),
  };
}

/** A page of a transcript: its end, or (`isOlder`) the messages before those already loaded. */
function heard(state, { id, items, cursor, steps, isOlder }) {
  const before = state.threads[id];
  const messages = merged(before?.messages ?? [], items);
  const thread = {
    messages,
    cursor,
    steps: steps ?? before?.steps ?? [],
    unreadFrom: isOlder ? before?.unreadFrom : firstUnread(state.chats[id], messages),
    hit: before?.hit,
  };
  const threads = { ...state.threads, [id]: thread };
  const surplus = Object.keys(threads).length - KEPT_THREADS;
  for (const old of Object.keys(threads).slice(0, Math.max(surplus, 0))) {
    if (old !== state.openId && old !== id) delete threads[old];
  }
  return { ...state, threads };
}

/** The position of the customer's first message that no agent has seen; null if there is none. */
function firstUnread(chat, messages) {
  const unread = chat?.unread_count ?? 0;
  if (!unread) return null;
  const ofCustomer = messages.filter((message) => message.sender.type === "customer");
  return ofCustomer.at(-Math.min(unread, ofCustomer.length))?.seq ?? null;
}

/** Messages by their number, each once; the later copy of one counts. */
function merged(messages, more) {
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  for (const message of more) bySeq.set(message.seq, message);
  return [...bySeq.values()].sort((one, other) => one.seq - other.seq);
}

/** A stored event of the feed. */
function happened(state, { event }) {
  const { type, data, conversation_id: id } = event;
  if (type.startsWith("message.")) {
    return withMessage(state, data.message, type === "message.created" ? "new" : type);
  }
  if (type === "customer.updated") return withCustomer(state, data.customer);
  if (type === "customer.merged") return withCustomer(state, data.customer, data.merged_id);
  if (!data?.conversation) return state;
  const rated = data.feedback ? withFeedback(state, [data.feedback]) : state;
  const next = { ...rated, chats: { ...state.chats, [id]: withKnownDetails(data.conversation, state.chats[id]) } };
  const thread = next.threads[id];
  if (!thread || !REFERENCE.test(type)) return next;
  const steps = [...thread.steps.filter((step) => step.id !== event.id), stepOf(event)];
  return { ...next, threads: { ...next.threads, [id]: { ...thread, steps } } };
}

function withFeedback(state, items) {
  const rated = items.map((one) => [one.message_id ?? one.chat_id, one]);
  return { ...state, feedback: { ...state.feedback, ...Object.fromEntries(rated) } };
}

/** Adds an event of a chat to its transcript. */
function stepOf({ id, type, timestamp, data }) {
  const chat = data.conversation;
  return {
    id,
    type,
    created_at: timestamp,
    by: data.by ?? null,
    assignee: chat.assignee,
    assign_type: chat.assign_type,
    priority: chat.priority,
    reason: data.reason ?? null,
    snoozed_until: chat.snoozed_until,
    ended_by: chat.ended_by,
  };
}

/** Updates a customer; the chats of a customer merged into them (`gone`) become theirs. */
function withCustomer(state, customer, gone = null) {
  const chats = Object.fromEntries(
    Object.entries(state.chats).map(([id, chat]) =>
      [customer.id, gone].includes(chat.customer_id) ? [id, { ...chat, customer, customer_id: customer.id }] : [id, chat],
    ),
  );
  const merged = gone ? { ...state.gone, [gone]: true } : state.gone;
  return { ...state, chats, gone: merged, customers: { ...state.customers, [customer.id]: customer } };
}

/** Until when the customer of a chat is blocked; null if they are not. */
export function blockedUntil(state, chat) {
  const until = state.customers[chat.customer_id]?.blocked_until;
  return until && Date.parse(until) > state.now ? until : null;
}

/** Updates a message in its transcript and its chat's row, and removes it from the outbox. */
function withMessage(state, message, kind = "new") {
  const id = message.conversation_id;
  const { client_message_id: sentAs } = message;
  const isOwn = sentAs && state.outbox.some((item) => item.id === sentAs);
  const thread = state.threads[id];
  const known = state.chats[id];
  return {
    ...state,
    outbox: isOwn ? state.outbox.filter((item) => item.id !== sentAs) : state.outbox,
    typing: kind === "new" ? { ...state.typing, [id]: undefined } : state.typing,
    threads: thread
      ? { ...state.threads, [id]: { ...thread, messages: merged(thread.messages, [message]) } }
      : state.threads,
    chats: known ? { ...state.chats, [id]: withLast(known, message, kind) } : state.chats,
  };
}

/** A chat's row after a message of it. */
function withLast(before, message, kind) {
  let chat = kind === "message.read" ? before : withWords(before, message);
  const last = chat.last_message;
  const isCustomers = message.sender.type === "customer";
  if (kind === "message.read" && isCustomers && chat.unread_count) {
    chat = { ...chat, unread_count: chat.unread_count - 1 };
  }
  if (message.is_note || message.is_welcome) return chat;
  if (last && last.seq === message.seq) return { ...chat, last_message: message };
  if (kind !== "new" || (last && last.seq > message.seq)) return chat;
  // After a handover, only messages of people count as the last message.
  const isAside = chat.assign_type !== "bot" && ["bot", "system"].includes(message.sender.type);
  const isAgents = chat.assign_type === "agent";
  const needsNoReply = message.metadata?.needs_no_reply;
  let waiting = chat.waiting_since;
  if (isCustomers && needsNoReply && !chat.message_count) waiting = null;
  else if (isCustomers && isAgents && !needsNoReply) waiting ??= message.created_at;
  return {
    ...chat,
    last_message: isAside ? last : message,
    last_message_at: message.created_at,
    message_count: chat.message_count + 1,
    unread_count: message.sender.type === "agent" ? 0 : chat.unread_count + (isCustomers ? 1 : 0),
    waiting_since: message.sender.type === "agent" ? null : waiting,
  };
}

function stillTyping(typing, now) {
  return Object.fromEntries(Object.entries(typing).filter(([, who]) => who && who.until > now));
}

function stillViewing(viewers, now) {
  const current = (people) => Object.fromEntries(Object.entries(people).filter(([, { until }]) => until > now));
  return Object.fromEntries(
    Object.entries(viewers).map(([id, people]) => [id, current(people)]).filter(([, people]) => Object.keys(people).length),
  );
}

/** The names of the colleagues who look at a chat. */
export const viewersOf = (state, id) =>
  Object.values(state.viewers[id] ?? {}).filter(({ until }) => until).map(({ name }) => name);

const isMine = (chat, me) => chat.assignee?.external_id === String(me?.id);

const BELONGS = {
  mine: (chat, me) => chat.status === "open" && isMine(chat, me),
  unassigned: (chat) => chat.status === "open" && chat.assign_type === "queue",
  all: (chat) => chat.status === "open",
  snoozed: (chat) => chat.status === "snoozed",
  ended: (chat) => chat.status === "ended",
};

/** Whether a chat matches the filters of a list. */
const MATCHES = {
  channel: (chat, wanted) => chat.channel === wanted,
  language: (chat, wanted) => chat.language === wanted,
  bot_id: (chat, wanted) => `${chat.bot_id}` === wanted,
  priority: (chat, wanted) => chat.priority === wanted,
  sentiment: (chat, wanted) => chat.sentiment === wanted,
  is_unread: (chat, wanted) => `${chat.unread_count > 0}` === wanted,
  tag: (chat, wanted) => chat.tags.includes(wanted),
  assignee_id: (chat, wanted) => chat.assign_type === "agent" && chat.assignee?.external_id === wanted,
  min_wait_seconds: (chat, wanted, now) => Boolean(chat.waiting_since) && now - Date.parse(chat.waiting_since) >= wanted * 1000,
};
export const FILTERS = Object.keys(MATCHES);
const matches = (chat, { filters, now }) => Object.entries(filters).every(([name, wanted]) => MATCHES[name](chat, wanted, now));

/** The agent's notices (assignments, mentions, waiting customers) that they have not looked at. */
export const unnoticed = (state) => state.notifications.filter((one) => !one.is_read);

const activity = (chat) => Date.parse(chat.last_message_at ?? chat.created_at);

function byActivity(one, other) {
  return activity(other) - activity(one) || (one.id < other.id ? 1 : -1);
}

function byUrgency(one, other) {
  return PRIORITIES.indexOf(one.priority) - PRIORITIES.indexOf(other.priority) || byWait(one, other);
}

function byWait(one, other) {
  if (!one.waiting_since !== !other.waiting_since) return one.waiting_since ? -1 : 1;
  if (!one.waiting_since) return byActivity(one, other);
  return Date.parse(one.waiting_since) - Date.parse(other.waiting_since) || byActivity(one, other);
}

export const isByUrgency = (view) => ["mine", "unassigned", "all"].includes(view);

/** The chats of the current list, in order. */
export function rows(state) {
  const { view, query, list, chats, me, leaving } = state;
  if (query) return list.ids.map((id) => chats[id]).filter((chat) => chat && !leaving[chat.id]);
  const compare = isByUrgency(view) ? byUrgency : byActivity;
  const belongs = (chat) => !leaving[chat.id] && BELONGS[view](chat, me) && matches(chat, state);
  const shown = Object.values(chats).filter(belongs).sort(compare);
  if (!list.cursor) return shown;
  // After the last fetched one, there may be others that were not fetched yet.
  const fetched = new Set(list.ids);
  const end = shown.findLastIndex((chat) => fetched.has(chat.id));
  return shown.slice(0, end + 1);
}

/** Whether the caller may write to the customer of a chat; else the reason, as a text's name. */
export function obstacle(state, chat) {
  if (state.me.role === "viewer") return "only_read";
  if (chat.status === "ended") return "ended_here";
  if (chat.is_reachable === false) return "disconnected";
  const { can_reply: canReply, reply_window_expires_at: end } = chat;
  const left = end ? Date.parse(end) - state.now : Infinity;
  // A window that the provider has just closed may end a moment later by this computer's clock.
  if (left <= 0 || (!canReply && left < SKEW_MS)) return "window_closed";
  if (isOfOther(state, chat)) return "of_other";
  return null;
}

/** Whether a colleague has the chat, so that this agent may neither reply nor change who has it. */
export const isOfOther = (state, chat) => chat.assign_type === "agent" && !isMine(chat, state.me) && state.me.role === "agent";

/** The message that the caller may still change: the latest of theirs that the customer sees. */
export function changeable(state, chat, messages) {
  const isClosed = chat.status === "ended" || !["web", "api"].includes(chat.channel);
  if (isClosed || state.me.role === "viewer") return null;
  return messages.findLast((message) => isOwnReply(state, message) && !message.deleted_at) ?? null;
}

export const isOwn = (state, chat) => isMine(chat, state.me);

/** Whether a message is the caller's own reply to the customer. */
export const isOwnReply = ({ me }, { sender, is_note: isNote }) => sender.type === "agent" && sender.id === String(me.id) && !isNote;

/** A message's text and files, as the outbox sends them again; null if it has other parts, such as a template. */
export function contentOf({ content }) {
  const links = content.filter(({ type }) => FILES.includes(type)).map(({ url, file_name: name, mime_type: type }) => ({ url, name, type }));
  const texts = content.map(({ text }) => text).filter(Boolean);
  return content.every(({ type }) => type === "text" || FILES.includes(type)) ? { text: texts.join("\n"), links } : null;
}

/** Whether the caller's failed message may be sent again: the channel takes a reply, and it was not sent again yet. */
export function isResendable(state, chat, messages, message) {
  const own = contentOf(message);
  if (message.status !== "failed" || !own || !isOwnReply(state, message) || obstacle(state, chat)) return false;
  const isSame = (other) => other?.text === own.text && namesOf(other) === namesOf(own);
  const isRepeated = messages.some((later) => later.seq > message.seq && isOwnReply(state, later) && isSame(contentOf(later)));
  return !isRepeated && !state.outbox.some((item) => item.chatId === chat.id && isSame(item));
}

const namesOf = ({ files = [], links = [] }) => [...files, ...links].map(({ name }) => name).join("\n");
