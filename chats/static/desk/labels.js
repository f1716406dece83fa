/** The desk's labels for the platform's codes. */

import { msg, t } from "../common/i18n.js";
import { excerptOf, textBesideLine } from "../common/message_text.js";

/** The words for a code; `other` is for codes that are newer than this page. */
export const label = (labels, code) => t(labels[code] ?? labels.other ?? code);

/** Why a chat was handed over. */
export const REASONS = {
  no_answer: msg("The bot had no answer"),
  customer_asked: msg("Asked for a person"),
  engine_failed: msg("The model failed"),
  bot_disabled: msg("The bot was disabled"),
  agents_reply: msg("Your team answers instead of the bot"),
  staff_request: msg("Requested by a teammate"),
  agent_silent: msg("The agent didn't reply in time"),
  credits_used_up: msg("Out of credits"),
  agent_gone: msg("The agent is no longer available"),
  files_only: msg("Files only, no text"),
  unreadable: msg("The bot can't answer this type of message"),
  approval_needed: msg("Waiting for approval"),
  procedure: msg("A procedure needs a person"),
  answered_elsewhere: msg("Continued outside this inbox"),
  started_elsewhere: msg("Started outside this inbox"), // no code of the platform: see `reasonOf`
  other: msg("Needs a person"),
};

/** The code for a handover; `isFirst`: no message came before it. */
export const reasonOf = (reason, isFirst) => (reason === "answered_elsewhere" && isFirst ? "started_elsewhere" : reason);

/** What is said of a deleted message in place of its content. */
export const deletedText = ({ sender }) => (sender.type === "customer" ? t("The customer deleted this message.") : t("This message was deleted."));

/** What a channel reports besides the customer's text: the server's words by kind, in the agent's language. */
const LINES = JSON.parse(document.getElementById("channel-lines").textContent);

/** Beside these lines alone, a product is shared, and not what a question is about. */
const WITH_PRODUCT = ["product", "forwarded", "forwarded_from", "forwarded_often"];

/** Whether the customer wrote nothing; the command that starts a chat counts as nothing. */
export const isWordless = (message) => Boolean(message.metadata?.no_words) || kindsOf(message).includes("started");

const kindsOf = ({ metadata }) => validLines(metadata).map(({ kind }) => kind);
const validLines = (metadata) => (Array.isArray(metadata?.lines) ? metadata.lines : []).filter((line) => line && typeof line.kind === "string");

/** The lines of a message; metadata of an API call may hold anything. */
export function linesOf(message) {
  const isOnlyProduct = message.metadata?.no_words && kindsOf(message).every((kind) => WITH_PRODUCT.includes(kind));
  return validLines(message.metadata).map(({ kind, text, url }) => {
    const said = typeof text === "string" && text ? text : kind === "shared_link" && typeof url === "string" ? url : "";
    let template = LINES[kind];
    if (kind === "product" && isOnlyProduct) template = LINES.only_product;
    else if (kind === "advertisement" && /^\d+$/.test(said)) template = LINES.advertisement_number;
    const words = template ? t(template, { text: said }) : said;
    return { kind, words: said ? words : words.replace(/[:,،]\s*$/, ""), url };
  });
}

/** The kinds of lines that say what a file is. */
const OF_FILE = ["sticker", "live_photo", "video_message"];

/** The line of a message that says what its file is, if there is one. */
export const lineOfFile = ({ metadata }) => validLines(metadata).find(({ kind }) => OF_FILE.includes(kind));

/** What a channel calls a file, by its line. */
export const fileName = (line) => linesOf({ metadata: { lines: [line] } })[0].words;

/** A message in one line. */
export function saidIn(message) {
  const line = lineOfFile(message);
  if (message.metadata?.no_words) return linesOf(message).map(({ words }) => words).join(" ");
  return line && !message.content.some(textBesideLine) ? fileName(line) : excerptOf(message);
}

/** How the bot decided. */
export const DECISIONS = {
  answered: msg("Answered from your content."),
  small_talk: msg("Small talk."),
  below_gate: msg("Confidence too low."),
  nothing_to_quote: msg("No answer in your content."),
  no_answer: msg("The bot had no answer."),
  model_refused: msg("The model found no answer."),
  engine_failed: msg("The model failed."),
  credits_used_up: msg("Out of credits."),
  approval_needed: msg("A function call needed approval."),
  procedure: msg("A step in a procedure."),
  procedure_changed: msg("The procedure changed in the meantime."),
  customer_declined: msg("The customer declined the function call."),
  agent_declined: msg("An agent rejected the function call."),
  handoff_not_wanted: msg("No answer, and handover is off."),
  info_given: msg("The customer shared the requested details."),
  info_declined: msg("The customer declined to share details."),
  info_wrong: msg("The customer's answer wasn't valid."),
  other: msg("Automatic message."),
};

/** What a customer found wrong. */
export const RATING_REASONS = {
  wrong_answer: msg("Wrong answer"),
  not_understood: msg("Not understood"),
  no_solution: msg("No solution"),
  too_slow: msg("Too slow"),
  unfriendly: msg("Unfriendly"),
  other: msg("Something else"),
};

/** How a chat ended; an agent has a name. */
export const ENDINGS = {
  customer: msg("The customer ended the conversation"),
  inactivity: msg("Ended due to inactivity"),
  merged: msg("Ended because the customer has another conversation"),
  other: msg("Conversation ended"),
};

export const MOODS = {
  positive: msg("positive"),
  neutral: msg("neutral"),
  negative: msg("negative"),
};

export const PRIORITY_NAMES = {
  urgent: msg("Urgent"),
  high: msg("High"),
  normal: msg("Normal"),
  low: msg("Low"),
};

/** The styles in which a reply can be rewritten; the one for the customer's language names it. */
export const STYLES = {
  shorter: msg("Shorter"),
  friendlier: msg("Friendlier"),
  spelling: msg("Fix spelling"),
};

export const CHANNELS = {
  web: msg("Website"),
  api: msg("API"),
  socialnet: msg("Socialnet"),
  photoapp: msg("Photoapp"),
  chatapp: msg("Chatapp"),
  localapp: msg("Localapp"),
  telegram: msg("Telegram"),
};

export const VIEW_NAMES = {
  mine: msg("Mine"),
  unassigned: msg("Unassigned"),
  all: msg("All"),
  snoozed: msg("Snoozed"),
  ended: msg("Ended"),
};

export const EMPTY_VIEWS = {
  mine: msg("No conversations assigned to you. Take one from Unassigned."),
  unassigned: msg("The queue is empty. Nice work."),
  all: msg("No open conversations."),
  snoozed: msg("No snoozed conversations."),
  ended: msg("No ended conversations yet."),
};

/** What the customer has opted out of. */
const OPT_OUTS = {
  offers: msg("Opted out of offers"),
  all: msg("Opted out of messages, until they write again"),
  // Only one channel has templates.
  all_chatapp: msg("Opted out of messages. No templates (pre-approved messages) can be sent until they write again"),
};

/** What a customer has opted out of, in words; nothing if they get everything. */
export const optOutName = (optOut, channel) => {
  const words = OPT_OUTS[`${optOut}_${channel}`] ?? OPT_OUTS[optOut];
  return words && t(words);
};

/** The delivery status of a message. */
export const STATUSES = {
  pending: msg("sending"),
  sending: msg("sending"),
  held: msg("sending in a moment"),
  waiting: msg("waiting for connection"),
  sent: msg("sent"),
  delivered: msg("delivered"),
  read: msg("read"),
  failed: msg("not sent"),
};

/** What can be done about a message that was not sent; the provider's own words may follow in brackets. */
export const REFUSALS = [
  msg("The customer wrote more than 24 hours ago. Send a template, or wait until they write."),
  msg("The customer wrote more than 24 hours ago. Wait until they write again."),
  msg("The customer wrote more than 7 days ago. Wait until they write again."),
  msg("Contact the customer another way. The provider can't deliver this message to them."),
  msg("Change the message before you send it again. The provider rejected it."),
  msg("Try again later. The provider has a problem right now."),
  msg("Try again later. This account has sent too much in a short time."),
  msg("Reconnect this account. The provider no longer accepts its access token."),
  msg("Reconnect this account and allow all the permissions the provider asks for."),
  msg("Ask the provider what to do. It has suspended this account."),
  msg("Check this account's limits with the provider. It has reached its sending limit."),
  msg("The bot isn't connected to this channel."),
  msg("The customer's number now belongs to someone else."),
  msg("This channel can't show anything in this message."),
  msg("The file is no longer available."),
  msg("We don't know whether this message was sent because the connection failed."),
  msg("We don't know whether this message was sent. Check the conversation in the channel before you send it again."),
];

/** Why a message was not sent, in the agent's language but for the provider's words. */
export function refusalText(error) {
  const [, advice, words] = (error ?? "").match(/^(.*?\.)( \(.*\))?$/s) ?? [];
  return advice ? `${t(advice)}${words ?? ""}` : error;
}

export const CONNECTIONS = {
  connecting: msg("Connecting…"),
  offline: msg("You're offline. Your messages will be sent when you reconnect."),
  signed_out: msg("You've been signed out. What you've typed is still here."),
};

/** Why the agent cannot write. */
export const OBSTACLES = {
  only_read: msg("You can read conversations but can't reply."),
  ended_here: msg("This conversation has ended."),
  window_closed: msg("You can reply again once the customer sends a message."),
  disconnected: msg("This channel isn't connected. Ask an owner or admin to reconnect it."),
  of_other: msg("{name} is handling this. You can add a note."),
};
