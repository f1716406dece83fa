/** Names, faces and places as the desk writes them. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Icon } from "./icons.js";
import { PRIORITY_NAMES, label } from "./labels.js";
import { FOREVER, clock, dayAndClock, midnight, written } from "./times.js";

const COLOURS = 6;

/** A customer's name, else their address, else where or when they began. */
export function customerName(chat) {
  const { customer, location, created_at: began } = chat;
  const day = midnight(began) === midnight(Date.now()) ? "" : written(began, { day: "numeric", month: "short" });
  const where = () => [location?.city, `${day} ${clock(began)}`.trim()].filter(Boolean).join(", ");
  return customer.name || customer.email || customer.phone || `${t("Visitor")} · ${where()}`;
}

/** What a customer's avatar is made from; the seed makes two customers without a name differ. */
export function faceOf({ customer: { name, email, phone }, customer_id: id }) {
  return { name: name || email || "", seed: name || email || phone || `${id}` };
}

export function senderName(state, chat, sender) {
  if (sender.type === "customer") return sender.name || customerName(chat);
  if (sender.type === "agent") return sender.id === String(state.me.id) ? t("You") : sender.name || t("A teammate");
  return sender.type === "bot" ? sender.name || t("Bot") : t("Automatic message");
}

/** Who has a chat, in words. */
export function holder(state, chat) {
  if (chat.assign_type === "bot") return t("With the bot");
  if (chat.assign_type === "queue") return t("Unassigned");
  const { external_id: id, name } = chat.assignee ?? {};
  return id === String(state.me.id) ? t("Assigned to you") : t("Assigned to {name}", { name: name ?? "" });
}

/** Until when a customer is blocked, in words. */
export const blockName = (until) => (until >= FOREVER ? t("Blocked") : t("Blocked until {time}", { time: dayAndClock(until) }));

/** The priority of a chat, unless it is the usual one. */
export function Priority({ priority }) {
  if (priority === "normal") return null;
  return html`<span class=${`priority ${priority}`} data-priority=${priority}>${label(PRIORITY_NAMES, priority)}</span>`;
}

/** Whether a colleague takes conversations, in words. */
export function presence({ online, away }, id) {
  if (away[id]) return t("away");
  return online[id] ? t("online") : t("offline");
}

/** The site's first page for a person: agents have no home page. */
export const siteOf = ({ role }) =>
  role === "agent" ? { name: t("Conversations"), address: "/admin/chats/conversation/" } : { name: t("Home"), address: "/admin/" };

/** Whether a person may teach bots. */
export const mayTrain = ({ role, can_train: canTrain }) => ["owner", "admin"].includes(role) || canTrain;

/** An avatar with the initials, or a silhouette if the name is unknown, in a colour of its own. */
export function Face({ name, seed = name, kind = "" }) {
  const words = name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const letters = words.slice(0, 2).map((word) => [...word][0]).join("");
  const colour = [...seed].reduce((sum, sign) => sum + sign.codePointAt(0), 0) % COLOURS;
  return html`<span class=${`face face-${colour} ${kind}`} aria-hidden="true">${letters.toUpperCase() || html`<${Icon} name="person" />`}</span>`;
}

/** Whether an address is of this host. */
export const isHere = (url) => Boolean(url) && new URL(url, location.href).origin === location.origin;

/** An address that is safe to open: on the web, or one of our files; never one that runs a script. */
export function safeAddress(url) {
  if (!url || !URL.canParse(url, location.href)) return null;
  return ["http:", "https:"].includes(new URL(url, location.href).protocol) ? url : null;
}
