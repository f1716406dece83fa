/** Names, faces and places as the desk writes them. */

import { html } from "../common/html.js";
import { t } from "./words.js";

const COLOURS = 6;

export function customerName(chat) {
  return chat.customer.name || chat.customer.email || t("nameless", { id: chat.customer_id });
}

export function senderName(state, chat, sender) {
  if (sender.type === "customer") return sender.name || customerName(chat);
  if (sender.type === "agent") return sender.id === String(state.me.id) ? t("you") : sender.name || t("somebody");
  return sender.type === "bot" ? sender.name || t("bot") : t("platform");
}

/** Who has a chat, in words. */
export function holder(state, chat) {
  if (chat.assign_type === "bot") return t("with_bot");
  if (chat.assign_type === "queue") return t("in_queue");
  const { external_id: id, name } = chat.assignee ?? {};
  return id === String(state.me.id) ? t("with_me") : t("with_agent", { name: name ?? "" });
}

/** A face of the first letters, in a colour of the name's own. */
export function Face({ name, kind = "" }) {
  const letters = name.split(/\s+/).filter(Boolean).slice(0, 2).map((word) => [...word][0]).join("");
  const colour = [...name].reduce((sum, sign) => sum + sign.codePointAt(0), 0) % COLOURS;
  return html`<span class=${`face face-${colour} ${kind}`} aria-hidden="true">${letters.toUpperCase() || "?"}</span>`;
}

/** An address that may be opened: of the web, or a file of ours. Nothing that runs. */
export function safeAddress(url) {
  if (!url || !URL.canParse(url, location.href)) return null;
  return ["http:", "https:"].includes(new URL(url, location.href).protocol) ? url : null;
}
