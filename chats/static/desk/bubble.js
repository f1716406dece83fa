/** One message as it is read: bubble, sources, files, translation, ticks. */

import { html } from "../common/html.js";
import { Component } from "../vendor/preact.js";
import { askWhy, translate } from "./assist.js";
import { Icon } from "./icons.js";
import * as outbox from "./outbox.js";
import { Face, safeAddress, senderName } from "./people.js";
import { dispatch } from "./store.js";
import { clock, dayAndClock, languageName } from "./times.js";
import { named, spoken, t } from "./words.js";

const TICKS = { pending: "◷", sent: "✓", delivered: "✓✓", read: "✓✓", failed: "!" };
const ON_THE_LEFT = new Set(["customer"]);

/** Drawn anew only if the message itself changed. */
export class Bubble extends Component {
  shouldComponentUpdate(next) {
    return ["message", "isFollowing", "language"].some((name) => next[name] !== this.props[name]);
  }

  render({ state, chat, message, isFollowing }) {
    const { sender, is_note: isNote } = message;
    const name = senderName(state, chat, sender);
    const side = ON_THE_LEFT.has(sender.type) ? "left" : "right";
    return html`
      <article class=${`message ${side} ${sender.type} ${isNote ? "is-note" : ""} ${isFollowing ? "following" : ""}`} aria-label=${name}>
        ${side === "left" && html`<${Face} name=${name} kind=${isFollowing ? "ghost" : ""} />`}
        <div class="bubble">
          ${!isFollowing && html`<p class="from">${isNote && html`<${Icon} name="lock" /> `}<bdi>${name}</bdi>${isNote && html` · ${t("note_seen_by")}`}</p>`}
          ${message.deleted_at ? html`<p class="quiet">${t("deleted")}</p>` : message.content.map((piece, place) => html`<${Piece} key=${place} piece=${piece} />`)}
          <${Translations} chat=${chat} message=${message} />
          <${Sources} citations=${message.citations} />
          <${Foot} chat=${chat} message=${message} />
        </div>
      </article>
    `;
  }
}

/** A picture, or words where it cannot be shown; its file's link stands below in either case. */
class Picture extends Component {
  render({ address, name }, { isBroken }) {
    if (isBroken) return html`<p class="quiet">${t("no_picture")}</p>`;
    return html`<img class="picture" src=${address} alt=${name} loading="lazy" onError=${() => this.setState({ isBroken: true })} />`;
  }
}

function Piece({ piece }) {
  const address = safeAddress(piece.url);
  if (piece.type === "location") {
    const { latitude, longitude, city, region, country } = piece.location;
    const names = [city, region, country].filter(Boolean).join(", ");
    return html`<p>${t("place")}: ${names || [latitude, longitude].filter((degrees) => degrees !== null).join(", ")}</p>`;
  }
  const name = piece.file_name || t("file");
  const isPicture = piece.type === "image" && address && new URL(address, location.href).origin === location.origin;
  return html`
    ${piece.text && html`<p class="said" dir="auto">${piece.text}</p>`}
    ${isPicture && html`<${Picture} address=${address} name=${name} />`}
    ${address && html`<p><a class="file" href=${address} target="_blank" rel="noopener noreferrer"><${Icon} name="clip" /> <bdi>${name}</bdi></a></p>`}
    ${piece.error && html`<p class="fault">${piece.error}</p>`}
    ${piece.options && html`<ul class="options">${piece.options.map(({ label }) => html`<li dir="auto">${label}</li>`)}</ul>`}
  `;
}

/** The same in the other language: the agent's for what the customer wrote, and the other way. */
function Translations({ chat, message }) {
  const wanted = message.sender.type === "agent" ? chat.language : spoken();
  const known = Object.entries(message.translations);
  const shown = known.find(([code]) => code === wanted) ?? known[0];
  if (shown) {
    const language = languageName(shown[0]);
    return html`<div class="translation"><p class="quiet">${t("translated", { language })}</p><p class="said" dir="auto">${shown[1]}</p></div>`;
  }
  const isForeign = message.sender.type === "customer" && message.language && message.language.split("-")[0] !== spoken();
  return isForeign && html`<button type="button" class="link" onClick=${() => translate(message, spoken())}>${t("translate")}</button>`;
}

/** A chip for each source; it opens the passage. */
export function Sources({ citations }) {
  if (!citations?.length) return null;
  return html`
    <div class="sources" role="group" aria-label=${t("sources")}>
      ${citations.map((citation, place) => {
        const show = () => dispatch({ type: "dialog", dialog: { kind: "source", citation } });
        return html`<button type="button" class="chip" onClick=${show}>${place + 1} <bdi>${citation.title}</bdi></button>`;
      })}
    </div>
  `;
}

function Foot({ chat, message }) {
  const { sender, status, is_note: isNote } = message;
  const isOurs = sender.type !== "customer" && !isNote;
  const isMade = ["bot", "system"].includes(sender.type) && !message.is_welcome;
  return html`
    <p class="foot">
      ${isMade && html`<button type="button" class="link" title=${t("why")} onClick=${() => askWhy(chat, message)}>${t("why_short")}</button>`}
      ${message.edited_at && html`<span>${t("edited")}</span>`}
      ${message.customer_reaction && html`<span>${message.customer_reaction}</span>`}
      <time title=${dayAndClock(message.created_at)}>${clock(message.created_at)}</time>
      ${isOurs && html`<span class=${`tick ${status}`} role="img" aria-label=${t(status)} title=${message.error ?? t(status)}>${TICKS[status]}</span>`}
    </p>
    ${status === "failed" && html`<p class="fault">${t("failed")}${message.error && `: ${message.error}`}</p>`}
  `;
}

/** A message that the platform has not stored yet. */
export function Pending({ item }) {
  const { id, state, text, isNote, files, error } = item;
  return html`
    <article class=${`message right agent pending ${isNote ? "is-note" : ""}`} aria-label=${t("you")}>
      <div class="bubble">
        ${text && html`<p class="said" dir="auto">${text}</p>`}
        ${files.map((file) => html`<p><${Icon} name="clip" /> <bdi>${file.name}</bdi></p>`)}
        <p class="foot">
          <span role="status">${state === "failed" ? `${t("failed")}: ${error}` : t(state === "sending" ? "pending" : state)}</span>
          ${state === "held" && html`<button type="button" class="link" onClick=${() => outbox.undo(id)}>${t("undo")}</button>`}
          ${state === "held" && html`<button type="button" class="link" onClick=${() => outbox.sendNow(id)}>${t("send_now")}</button>`}
          ${state === "failed" && html`<button type="button" class="link" onClick=${() => outbox.retry(id)}>${t("retry")}</button>`}
          ${state === "failed" && html`<button type="button" class="link" onClick=${() => outbox.discard(id)}>${t("discard")}</button>`}
        </p>
      </div>
    </article>
  `;
}

/** Something that happened to the chat, in words. */
export function Step({ step, me }) {
  return html`<p class="step"><span dir="auto">${words(step, me)}</span> <time>${clock(step.created_at)}</time></p>`;
}

function words(step, me) {
  const nameOf = (person) => (person?.external_id === String(me.id) ? t("you") : person?.name || t("somebody"));
  const by = step.by && nameOf(step.by);
  const name = nameOf(step.assignee);
  switch (step.type) {
    case "conversation.handed_off":
      return t("step_handed_off", { reason: named("reason", step.reason) });
    case "conversation.assigned":
      if (!by) return t("step_routed", { name });
      return by === name ? t("step_taken", { name }) : t("step_assigned", { by, name });
    case "conversation.unassigned": {
      const where = step.assign_type === "bot" ? "bot" : "queue";
      return by ? t(`step_to_${where}`, { by }) : t(`step_back_to_${where}`);
    }
    case "conversation.snoozed":
      return t("step_snoozed", { time: dayAndClock(step.snoozed_until) });
    case "conversation.ended":
      return step.ended_by === "agent" ? t("step_ended_agent", { by: by ?? t("somebody") }) : named("step_ended", step.ended_by);
    default:
      return t("step_reopened");
  }
}
