/** How the bot helps an agent: suggestions, translations, receipts, corrections. */

import { t } from "../common/i18n.js";
import { Refusal, get, post } from "./api.js";
import { attempt, reasonOf } from "./chats.js";
import { dispatch, read } from "./store.js";

const TRAINING_MS = 1000;
const MAX_TRAINING_S = 120;
const MAX_QUESTION = 300;

/** The result of `act`, or in `fault` why it failed, to be shown where it was requested. */
async function tried(act) {
  try {
    return await act();
  } catch (error) {
    return { fault: reasonOf(error) };
  }
}

/** The best reply from the documents with its sources, as `found`; null if there is none. */
export function suggest(chatId) {
  return tried(async () => {
    const { suggestions } = await post(`/ai/client/chat/suggestions/${chatId}`, { count: 1 });
    return { found: suggestions[0] ?? null };
  });
}

/** A text in another style, as `text`. */
export function rewrite(chatId, text, style) {
  return tried(() => post(`/ai/chat/${chatId}/rewrite`, { text, style }));
}

const textsOf = ({ content }) => content.map(({ text }) => text).filter(Boolean);

/** Adds a translation to a message on this screen; nothing is stored. */
export function translate(message, language) {
  const text = textsOf(message).join("\n");
  return tried(async () => {
    const done = await post("/client/translate", { text, out_lang_code: language });
    dispatch({ type: "message", message: { ...message, translations: { ...message.translations, [language]: done.text } } });
    return {};
  });
}

/** Adds a summary to a chat. */
export function summarize(chat) {
  return tried(async () => {
    const { summary } = await post(`/ai/chat/${chat.id}/summarize`);
    dispatch({ type: "chat", chat: { ...chat, summary } });
    return {};
  });
}

/** The saved replies with this in their shortcut or text; first those whose shortcut begins so. */
export async function savedReplies(word) {
  const page = await attempt(() => get("/ai/chat/saved-replies", { limit: 8, ...(word ? { q: word } : {}) }));
  return page?.items ?? [];
}

export function render(chatId, replyId) {
  return attempt(() => get(`/ai/chat/${chatId}/saved-replies/${replyId}`));
}

/** Shows why the bot sent a message. */
export async function askWhy(chat, message) {
  const receipt = await attempt(() => get(`/ai/chat/${chat.id}/messages/${message.id}/receipt`));
  if (receipt) dispatch({ type: "dialog", dialog: { kind: "receipt", chat, message, receipt } });
}

/** The customer's words that a message answers. */
export function questionOf(chat, receipt) {
  const messages = read().threads[chat.id]?.messages ?? [];
  const asked = messages.filter((message) => receipt.answers.includes(message.id));
  return asked.flatMap(textsOf).join(" ").slice(0, MAX_QUESTION);
}

/**
 * Makes a source of the right answer, waits for its training, and asks the bot again in a preview.
 *
 * `onStep` gets the current step in words. Resolves to the bot's new answer.
 */
export async function correct(chat, { question, answer }, onStep) {
  onStep(t("Learning…"));
  const path = `/ai/${chat.bot_id}/train/question-answer`;
  let source = await post(path, { question, answer });
  for (let waited = 0; !source.is_answering && source.status !== "failed" && waited < MAX_TRAINING_S; waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, TRAINING_MS));
    source = await get(`${path}/${source.id}`);
  }
  if (!source.is_answering) throw new Refusal(409, { detail: source.error?.message ?? source.status });
  onStep(t("Asking again…"));
  return post(`/ai/${chat.bot_id}/generate-chat`, { messages: [{ role: "user", content: question }] });
}
