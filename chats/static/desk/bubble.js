/** One message as it is read: bubble, sources, files, translation, ticks. */

import { html } from "../common/html.js";
import { PlainText, Rich, lineOf, textBesideLine } from "../common/message_text.js";
import { isForeign, language, t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { askWhy, translate } from "./assist.js";
import { Icon } from "./icons.js";
import { ENDINGS, PRIORITY_NAMES, REASONS, STATUSES, deletedText, isWordless, label, linesOf, reasonOf, refusalText } from "./labels.js";
import * as outbox from "./outbox.js";
import { Face, faceOf, isHere, safeAddress, senderName } from "./people.js";
import { Rating } from "./ratings.js";
import { dispatch } from "./store.js";
import { clock, dayAndClock, languageName } from "./times.js";

const TICKS = { pending: "◷", sent: "✓", delivered: "✓✓", read: "✔\uFE0E✔\uFE0E", failed: "!" };
const ON_THE_LEFT = new Set(["customer"]);

/** Redrawn only if the message itself changed. */
export class Bubble extends Component {
  shouldComponentUpdate(next) {
    return ["message", "feedback", "isFollowing", "isHit", "isChangeable", "isResendable"].some((name) => next[name] !== this.props[name]);
  }

  render({ state, chat, message, feedback, isFollowing, isHit, isChangeable, isResendable }) {
    const { sender, is_note: isNote } = message;
    const name = senderName(state, chat, sender);
    const side = ON_THE_LEFT.has(sender.type) ? "left" : "right";
    return html`
      <article class=${`message ${side} ${sender.type} ${isNote ? "is-note" : ""} ${isFollowing ? "following" : ""} ${isHit ? "hit" : ""}`} data-seq=${message.seq} aria-label=${name}>
        ${side === "left" && html`<${Face} ...${sender.name ? { name } : faceOf(chat)} kind=${isFollowing ? "ghost" : ""} />`}
        <div class="bubble">
          ${!isFollowing && html`<p class="from">${isNote && html`<${Icon} name="lock" /> `}<bdi>${name}</bdi>${isNote && html` · ${t("Only your team sees this")}`}</p>`}
          ${message.deleted_at ? html`<p class="quiet">${deletedText(message)}</p>` : html`<${Content} message=${message} />`}
          <${Translations} chat=${chat} message=${message} model=${modelFor(state, chat)} />
          <${Sources} citations=${message.citations} />
          ${feedback && html`<p class="rated"><${Rating} feedback=${feedback} /></p>`}
          <${Foot} chat=${chat} message=${message} isChangeable=${isChangeable} isResendable=${isResendable} />
        </div>
      </article>
    `;
  }
}

/** The channel's lines above the parts; if the customer wrote nothing, they are the text. */
function Content({ message }) {
  const parts = isWordless(message) ? message.content.filter(({ type }) => type !== "text") : message.content;
  return html`
    ${linesOf(message).map(({ kind, words, url }) => html`<${Line} kind=${kind} words=${words} address=${safeAddress(url)} />`)}
    ${parts.map((part, place) => html`<${Part} key=${place} part=${part} message=${message} />`)}
  `;
}

const linked = (words, address) => (address ? html`<a href=${address} target="_blank" rel="noopener noreferrer">${words}</a>` : words);

function Line({ kind, words, address }) {
  return html`<p class=${`line ${kind}`} data-line=${kind} dir="auto">${linked(words, address)}</p>`;
}

/** A picture that a click enlarges, or text if it cannot be shown; the link to its file is below in either case. */
class Picture extends Component {
  render({ address, name }, { isBroken }) {
    if (isBroken) return html`<p class="quiet">${t("This image can't be shown.")}</p>`;
    const enlarge = () => dispatch({ type: "dialog", dialog: { kind: "picture", address, name } });
    return html`<button type="button" class="plain enlarge" aria-label=${t("Enlarge {name}", { name })} onClick=${enlarge}>
      <img class="picture" src=${address} alt=${name} loading="lazy" onError=${() => this.setState({ isBroken: true })} /></button>`;
  }
}

/** A recording or video to play, or text if the browser cannot; the link to its file is below in either case. */
class Player extends Component {
  render({ kind, address, name }, { isBroken }) {
    if (isBroken) return html`<p class="quiet">${t("This file can't be played here.")}</p>`;
    const shared = { class: "picture", src: address, controls: true, preload: kind === "audio" ? "metadata" : "none", "aria-label": name, onError: () => this.setState({ isBroken: true }) };
    return kind === "audio" ? html`<audio ...${shared} />` : html`<video ...${shared} />`;
  }
}

/** The customer's text as typed; ours as the customer sees it. Both with links. */
function Said({ text, message: { sender, citations } }) {
  if (sender.type === "customer") return html`<p class="said" dir="auto"><${PlainText} text=${text} /></p>`;
  const places = new Map(citations.map(({ number }, place) => [number, place + 1]));
  return html`<div class="said rich" dir="auto"><${Rich} text=${text} places=${places} /></div>`;
}

/** The link to a map, if a part is a place with coordinates. */
function mapOf({ location }) {
  const degrees = [location?.latitude, location?.longitude].filter((value) => typeof value === "number");
  return degrees.length === 2 && `https://maps.google.com/?q=${degrees}`;
}

function Part({ part, message }) {
  const address = safeAddress(part.url);
  const [text, line] = [textBesideLine(part), lineOf(part)];
  const name = part.file_name || t("File");
  const canShow = isHere(address); // the page may load nothing else
  return html`
    ${text && html`<${Said} text=${text} message=${message} />`}
    ${line && html`<p dir="auto">${linked(line, mapOf(part))}</p>`}
    ${canShow && part.type === "image" && html`<${Picture} address=${address} name=${name} />`}
    ${canShow && ["audio", "video"].includes(part.type) && html`<${Player} kind=${part.type} address=${address} name=${name} />`}
    ${address && html`<p><a class="file" href=${address} target="_blank" rel="noopener noreferrer"><${Icon} name="clip" /> <bdi>${name}</bdi></a></p>`}
    ${part.transcript && html`<div class="translation" data-transcript><p class="quiet">${t("Voice note transcript")}</p><p class="said" dir="auto">${part.transcript}</p></div>`}
    ${part.error && html`<p class="fault">${part.error}</p>`}
    ${part.options && html`<ul class="options">${part.options.map(({ label }) => html`<li dir="auto">${label}</li>`)}</ul>`}
  `;
}

/** Whether a model can translate in a chat; if none can, the role of the reader who misses it, and whether messages should be translated. */
export function modelFor({ bots, config, me }, { bot_id: id }) {
  if (bots[id]?.has_model) return { isThere: true };
  return { missedBy: bots[id] ? me.role : null, isExpected: Boolean(config?.auto_translate) };
}

/** The translation: a customer's message in the agent's language, or the reverse. */
class Translations extends Component {
  ask = async () => {
    this.setState({ fault: null });
    this.setState(await translate(this.props.message, language));
  };

  render({ chat, message, model }, { fault, isAsked }) {
    if (isWordless(message)) return null;
    const wanted = message.sender.type === "agent" ? chat.language : language;
    const known = Object.entries(message.translations);
    const shown = known.find(([code]) => code === wanted) ?? known[0];
    if (shown) {
      const language = languageName(shown[0]);
      return html`<div class="translation"><p class="quiet">${t("Translation ({language})", { language })}</p><${Said} text=${shown[1]} message=${message} /></div>`;
    }
    if (message.sender.type !== "customer" || !isForeign(message.language)) return null;
    if (model.missedBy && (model.isExpected || isAsked)) return html`<${NoModel} role=${model.missedBy} />`;
    const ask = model.isThere ? this.ask : () => this.setState({ isAsked: true });
    return (model.isThere || model.missedBy) && html`<button type="button" class="link" onClick=${ask}>${t("Translate")}</button>
      ${fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`}`;
  }
}

/** Why nothing is translated, with a link for people who may change that. */
export function NoModel({ role }) {
  const isAdmin = ["owner", "admin"].includes(role);
  return html`<p class="quiet" data-no-model>${isAdmin ? t("Translation needs a language model.") : t("This needs a language model. Ask an owner or admin to set one up.")}
    ${isAdmin && html` <a href="/admin/bots/languagemodel/" target="_blank">${t("Connect a model")}</a>`}</p>`;
}

/** A chip for each source; it opens the passage. */
export function Sources({ citations }) {
  if (!citations?.length) return null;
  return html`
    <div class="sources" role="group" aria-label=${t("Sources")}>
      ${citations.map((citation, place) => {
        const show = () => dispatch({ type: "dialog", dialog: { kind: "source", citation } });
        return html`<button type="button" class="chip" onClick=${show}>${place + 1} <bdi>${citation.title}</bdi></button>`;
      })}
    </div>
  `;
}

function Foot({ chat, message, isChangeable, isResendable }) {
  const ask = (kind) => () => dispatch({ type: "dialog", dialog: { kind, message } });
  const { sender, status, is_note: isNote } = message;
  const isOurs = sender.type !== "customer" && !isNote;
  const canResend = isResendable && message.content.every(({ url }) => !url || isHere(url));
  const isMade = ["bot", "system"].includes(sender.type) && !message.is_welcome;
  return html`
    <p class="foot">
      ${isMade && html`<button type="button" class="link" title=${t("Why did the bot say this?")} onClick=${() => askWhy(chat, message)}>${t("Why?")}</button>`}
      ${isChangeable && html`<button type="button" class="link" onClick=${ask("edit")}>${t("Edit")}</button>
        <button type="button" class="link" onClick=${ask("delete")}>${t("Delete")}</button>`}
      ${message.edited_at && html`<span>${t("edited")}</span>`}
      ${message.customer_reaction && html`<span>${message.customer_reaction}</span>`}
      <time title=${dayAndClock(message.created_at)}>${clock(message.created_at)}</time>
      ${isOurs && html`<span class=${`tick ${status}`} role="img" aria-label=${label(STATUSES, status)} title=${refusalText(message.error) || label(STATUSES, status)}>${TICKS[status]}</span>`}
    </p>
    ${status === "failed" && html`<p class="fault">${t("not sent")}${message.error && `: ${refusalText(message.error)}`}${canResend && html` <button type="button" class="link" onClick=${() => outbox.resend(message)}>${t("Try again")}</button>`}</p>`}
  `;
}

/** A message that the platform has not stored yet. */
export function Pending({ item }) {
  const { id, state, text, isNote, files, links = [], error } = item;
  return html`
    <article class=${`message right agent pending ${isNote ? "is-note" : ""}`} aria-label=${t("You")}>
      <div class="bubble">
        ${text && html`<p class="said" dir="auto">${text}</p>`}
        ${[...files, ...links].map((file) => html`<p><${Icon} name="clip" /> <bdi>${file.name}</bdi></p>`)}
        <p class="foot">
          <span role="status" class=${state === "failed" ? "fault" : ""}>${state === "failed" ? `${t("not sent")}: ${error}` : label(STATUSES, state)}</span>
          ${state === "held" && html`<button type="button" class="link" onClick=${() => outbox.undo(id)}>${t("Undo")}</button>`}
          ${state === "held" && html`<button type="button" class="link" onClick=${() => outbox.sendNow(id)}>${t("Send now")}</button>`}
          ${state === "failed" && html`<button type="button" class="link" onClick=${() => outbox.retry(id)}>${t("Try again")}</button>`}
          ${state === "failed" && html`<button type="button" class="link" onClick=${() => outbox.discard(id)}>${t("Discard")}</button>`}
        </p>
      </div>
    </article>
  `;
}

/** An event of the chat, in words. */
export function Step({ step, me, isFirst }) {
  return html`<p class="step"><span dir="auto">${words(step, me, isFirst)}</span> · <time>${clock(step.created_at)}</time></p>`;
}

function words(step, me, isFirst) {
  const nameOf = (person) => (person?.external_id === String(me.id) ? t("You") : person?.name || t("A teammate"));
  const by = step.by && nameOf(step.by);
  const name = nameOf(step.assignee);
  switch (step.type) {
    case "conversation.handed_off":
      return t("Handed over: {reason}", { reason: label(REASONS, reasonOf(step.reason, isFirst)) });
    case "conversation.assigned":
      if (!by) return t("Assigned to {name}", { name });
      if (by === name) return t("{name} took this conversation", { name });
      return step.assignee?.external_id === String(me.id) ? t("{by} assigned this to you", { by }) : t("{by} assigned this to {name}", { by, name });
    case "conversation.unassigned":
      if (step.assign_type === "bot") return by ? t("{by} returned this to the bot", { by }) : t("Returned to the bot");
      if (by) return t("{by} returned this to the queue", { by });
      return step.reason ? t("Returned to the queue: {reason}", { reason: label(REASONS, step.reason) }) : t("Returned to the queue");
    case "conversation.prioritized":
      return t("{by} set the priority to {priority}", { by: by ?? t("A teammate"), priority: label(PRIORITY_NAMES, step.priority) });
    case "conversation.snoozed":
      return t("Snoozed until {time}", { time: dayAndClock(step.snoozed_until) });
    case "conversation.ended":
      return step.ended_by === "agent" ? t("{by} ended the conversation", { by: by ?? t("A teammate") }) : label(ENDINGS, step.ended_by);
    default:
      return t("Reopened");
  }
}
