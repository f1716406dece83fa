/** What a customer in the queue wants, in the customer's own words; for the rows of the list. */

import { language, t } from "../common/i18n.js";
import { textBesideLine } from "../common/message_text.js";
import { REASONS, fileName, label, lineOfFile } from "./labels.js";

const ENOUGH = 90; // letters that fill two lines of a row; fewer are preceded by earlier words
const BARE = 40; // a request for a person that is not longer has rarely anything else to say
const LOW_RATING = 2;
const FILES = { image: () => t("Photo"), video: () => t("Video"), audio: () => t("Voice message"), file: ({ file_name: name }) => (name ? t("File: {name}", { name }) : t("File")) };

/** A message of the feed as the list's `queue_details` has it. */
export function queued(message) {
  const { seq, content, translations } = message;
  return {
    seq,
    text: content.map((part) => textBesideLine(part) || part.transcript).filter(Boolean).join(" "),
    files: content.filter(({ type }) => type in FILES).map((part) => ({ ...part, line: lineOfFile(message) })),
    translations,
    is_earlier: false,
    is_request: false,
  };
}

/** A message in one line, in the agent's language if it was translated. */
function lineOf({ text, files, translations }) {
  const own = Object.keys(translations).find((code) => code.split("-")[0] === language);
  return [own ? translations[own] : text, ...files.map((file) => (file.line ? fileName(file.line) : FILES[file.type](file)))].filter(Boolean).join(" ").replace(/\s+/g, " ").trim();
}

/** The customer's words: `words`, the first ones, and `newest` if there is a later message. */
export function matterOf({ queue_details: details }) {
  const said = (details?.messages ?? []).map((message) => ({ ...message, line: lineOf(message) })).filter(({ line }) => line);
  const isBare = (message) => message.is_request && message.line.length <= BARE;
  const earlier = said.filter((message) => message.is_earlier);
  const requests = said.filter(isBare);
  let shown = said.filter((message) => !message.is_earlier && !isBare(message));
  // The newest of several has a line of its own.
  const isShort = () => (shown.length > 1 ? shown.slice(0, -1) : shown).reduce((sum, { line }) => sum + line.length, 0) < ENOUGH;
  while (earlier.length && isShort()) shown = [earlier.pop(), ...shown];
  if (isShort()) shown = [...shown, ...requests].sort((one, other) => one.seq - other.seq);
  const lines = shown.map(({ line }) => line).filter((line, place, all) => all.indexOf(line) === place);
  const newest = lines.length > 1 && !shown.at(-1).is_earlier ? lines.pop() : "";
  return { words: lines.join(" · "), newest };
}

/** How it came back from an agent, with the agents' newest note. */
export function returnOf({ queue_details: details }) {
  const { note, returned } = details ?? {};
  const isOfReturner = note && returned?.name === note.name;
  const back = returned && (returned.name ? t("Returned by {name}", { name: returned.name }) : label(REASONS, returned.reason));
  if (isOfReturner) return `${back}: ${note.text}`;
  return [back, note && `${note.name}: ${note.text}`].filter(Boolean).join(" · ");
}

/** The rating of the customer's conversation before this one, if it was low. */
export function lowRating({ queue_details: details }) {
  const rating = details?.previous_rating;
  return rating && rating <= LOW_RATING ? t("Rated {count} of 5 last time", { count: rating }) : "";
}

/** A chat of the feed, which has no `queue_details`, with those that are known. */
export function withKnownDetails(chat, known) {
  if (chat.queue_details !== undefined || chat.assign_type !== "queue" || !known?.queue_details) return chat;
  return { ...chat, queue_details: known.queue_details };
}

/** A chat after a new, changed or deleted message of it. */
export function withWords(chat, message) {
  const details = chat.queue_details;
  const { sender, seq } = message;
  if (!details || message.is_welcome) return chat;
  if (message.is_note && sender.type === "agent") {
    return { ...chat, queue_details: { ...details, note: { name: sender.name, text: queued(message).text } } };
  }
  if (sender.type !== "customer") return chat;
  const isKnown = details.messages.some((one) => one.seq === seq);
  const changed = details.messages.map((one) => (one.seq === seq ? { ...one, ...queued(message), is_earlier: one.is_earlier, is_request: one.is_request } : one));
  const messages = message.deleted_at ? changed.filter((one) => one.seq !== seq) : isKnown ? changed : [...changed, queued(message)];
  return { ...chat, queue_details: { ...details, messages } };
}
