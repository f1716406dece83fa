/** The widget's state: only events change it, in one pure function. */
import { excerptOf } from "../common/message_text.js";

/** What the visitor has typed but not sent: the message, the answers of the form before the chat, the address for later
answers, the rating. */
export const NO_DRAFTS = { text: "", answers: {}, email: "", stars: 0, comment: "" };

export const EMPTY = {
  config: null, // the bot's configuration
  isOpen: false,
  fills: false, // the frame covers the page
  isDark: false, // the visitor's system is dark
  isLarge: false, // the visitor has enlarged the window
  teaser: null, // the invitation beside the closed widget
  dismissed: 0, // the time of the last answer whose preview was dismissed
  isOnline: true,
  isReady: false, // whether the visitor has a chat is known
  agreed: false, // the terms were accepted
  known: false, // the form before the chat is filled in
  faults: {}, // the faults of the form, by field
  chat: null,
  isHome: false, // the start screen is shown although there is a chat
  earlier: [], // the visitor's chats, newest first: {id, at, text}
  messages: [],
  outbox: [], // sent by the visitor, not stored yet: {id, text, files}
  drafts: NO_DRAFTS,
  files: [], // the attached files that are not sent yet: {file, fault}
  askedAt: 0, // when the visitor last wrote to the bot
  draft: null, // the answer while it is being written; "" before its first piece
  seen: 0, // the last seq that the visitor has seen
  thumbs: {}, // by message
  isQuiet: false, // no sound
  notice: null, // a sentence for the visitor
  problem: null, // a sentence about a fault
  isBlocked: false, // the visitor's messages are refused
};

export function reduce(state, { type, ...data }) {
  switch (type) {
    case "set":
      return { ...state, ...data };
    case "messages":
      return { ...state, ...merged(state, data.messages) };
    case "queued":
      return { ...state, outbox: [...state.outbox, data.item], isHome: false, notice: null, problem: null };
    case "dropped":
      return { ...state, outbox: state.outbox.filter((item) => item.id !== data.id), isBlocked: false };
    case "delta":
      return { ...state, draft: (state.draft ?? "") + data.text };
    case "another":
      return { ...state, chat: null, isHome: false, messages: [], draft: null, seen: 0, thumbs: {}, notice: null, problem: null };
    case "left":
      return { ...EMPTY, config: state.config, isOpen: state.isOpen, fills: state.fills, isDark: state.isDark, isOnline: state.isOnline };
    default:
      throw new Error(`unknown event: ${type}`);
  }
}

/** Messages in order, each once; those that have arrived are removed from the outbox. */
function merged({ messages, outbox, draft }, more) {
  const byId = new Map([...messages, ...more].map((message) => [message.id, message]));
  const stored = new Set(more.map((message) => message.client_message_id));
  const isAnswered = more.some((message) => message.sender.type !== "customer" && !message.is_welcome);
  return {
    messages: [...byId.values()].sort(inOrder),
    outbox: outbox.filter((item) => !stored.has(item.id)),
    draft: isAnswered ? null : draft,
  };
}

/** A chat that follows another numbers its messages from 1 again, and has a greater id. */
function inOrder(one, other) {
  if (one.conversation_id === other.conversation_id) return one.seq - other.seq;
  return one.conversation_id < other.conversation_id ? -1 : 1;
}

export const isFromUs = (message) => message.sender.type !== "customer";

/** The beginning of the last message. */
export const lastWords = (messages) => excerptOf(messages.at(-1)).slice(0, 80);

/** Whether a known message of ours has changed, for example by a translation. */
export function isRetold(known, message) {
  const words = ({ content, translations }) => JSON.stringify([content.map(({ text }) => text), translations]);
  return Boolean(known) && isFromUs(message) && words(known) !== words(message);
}

const LONGEST_ANSWER = 60_000; // milliseconds

/** Whether the bot's answer is awaited, also after a reload, when there is no stream. */
export function isAwaited({ chat, messages, askedAt }) {
  if (chat?.assign_type !== "bot" || chat.status !== "open" || !messages.length) return false;
  return !isFromUs(messages.at(-1)) && Date.now() - askedAt < LONGEST_ANSWER;
}

/** Whether a message of ours was not seen yet. */
export const isNew = (message, { seen }) => isFromUs(message) && !message.is_welcome && at(message) > seen;

export function unread(state) {
  return state.isOpen ? 0 : state.messages.filter((message) => isNew(message, state)).length;
}

/** The answer to show beside the closed widget: the newest one that was neither seen nor dismissed. */
export const newsOf = (state) =>
  state.isOpen ? null : state.messages.findLast((message) => isNew(message, state) && at(message) > state.dismissed);

/** The words with which the visitor asks for a person, if the bot has the chat and hands over. */
export const personWords = ({ chat, config }) => (chat && chat.status !== "ended" && chat.assign_type !== "bot" ? null : config.person_button);

/** The time at which a message was stored, as a growing number. */
export const at = (message) => Date.parse(message.created_at);

export function createStore(initial = EMPTY) {
  let state = initial;
  const listeners = new Set();
  return {
    get state() {
      return state;
    },
    dispatch(event) {
      state = reduce(state, event);
      for (const listener of listeners) listener(state);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
