/** What the desk calls the codes of the platform. */

import { msg, t } from "../common/words.js";

/** The words for a code; `other` is for codes that are younger than this page. */
export const label = (labels, code) => t(labels[code] ?? labels.other ?? code);

/** Why a chat was handed over. */
export const REASONS = {
  no_answer: msg("no answer in your content"),
  customer_asked: msg("the customer asked for a person"),
  engine_failed: msg("the bot failed"),
  bot_disabled: msg("the bot is off"),
  agents_reply: msg("people answer here"),
  staff_request: msg("a colleague asked for it"),
  agent_silent: msg("the agent did not reply in time"),
  credits_used_up: msg("the credits are used up"),
  agent_gone: msg("the agent left"),
  files_only: msg("the customer sent only files"),
  approval_needed: msg("a function call needs approval"),
  answered_elsewhere: msg("a person answered at the channel"),
  other: msg("it needs a person"),
};

/** How the bot decided. */
export const DECISIONS = {
  answered: msg("It answered from the passages."),
  small_talk: msg("Small talk: it answered in kind."),
  below_gate: msg("Nothing fits well enough."),
  nothing_to_quote: msg("No sentence answers the question."),
  no_answer: msg("It found no answer."),
  model_refused: msg("The model did not answer."),
  engine_failed: msg("The model failed."),
  credits_used_up: msg("The credits were used up."),
  approval_needed: msg("A function call needed a person's yes."),
  customer_declined: msg("The customer declined the function call."),
  agent_declined: msg("An agent declined the function call."),
  handoff_not_wanted: msg("No answer, and no handover is wanted."),
  info_given: msg("The customer gave what was asked."),
  info_declined: msg("The customer did not want to give it."),
  info_wrong: msg("What the customer gave does not fit."),
  other: msg("A reply of the platform."),
};

/** How a chat ended; an agent has a name. */
export const ENDINGS = {
  customer: msg("The customer ended the chat"),
  inactivity: msg("The chat ended, since nobody wrote"),
  other: msg("The chat ended"),
};

export const MOODS = {
  positive: msg("positive"),
  neutral: msg("neutral"),
  negative: msg("negative"),
};

export const CHANNELS = {
  web: msg("Web page"),
  api: msg("API"),
  socialnet: msg("Socialnet"),
  photoapp: msg("Photoapp"),
  chatapp: msg("Chatapp"),
  localapp: msg("Localapp"),
};

export const VIEW_NAMES = {
  mine: msg("Mine"),
  unassigned: msg("Unassigned"),
  all: msg("All"),
  snoozed: msg("Snoozed"),
  ended: msg("Ended"),
};

export const EMPTY_VIEWS = {
  mine: msg("You have no chats. Take one from Unassigned."),
  unassigned: msg("Nobody waits. Well done."),
  all: msg("There are no open chats."),
  snoozed: msg("Nothing is snoozed."),
  ended: msg("No chat has ended yet."),
};

/** Where a message is on its way. */
export const STATUSES = {
  pending: msg("on its way"),
  sending: msg("on its way"),
  held: msg("is sent in a moment"),
  waiting: msg("is sent when the connection is back"),
  sent: msg("sent"),
  delivered: msg("delivered"),
  read: msg("read"),
  failed: msg("not sent"),
};

export const CONNECTIONS = {
  connecting: msg("Connecting …"),
  offline: msg("No connection. What you write is kept and sent later."),
  signed_out: msg("You are signed out. What you wrote is kept."),
};

/** Why nothing can be written. */
export const OBSTACLES = {
  only_read: msg("You may read chats and not answer."),
  ended_here: msg("This chat has ended."),
  window_closed: msg("The channel takes no reply any more until the customer writes."),
  of_other: msg("{name} has this chat. Leave a note, or ask for it."),
};
