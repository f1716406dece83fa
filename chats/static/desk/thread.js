/** The middle pane: one chat with its transcript, and the composer. */

import { followEnd } from "../common/end.js";
import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import { Approvals } from "./approvals.js";
import { Bubble, Pending, Step } from "./bubble.js";
import * as chats from "./chats.js";
import { Composer } from "./composer.js";
import { Icon } from "./icons.js";
import { Face, Priority, blockName, customerName, faceOf, holder } from "./people.js";
import { blockedUntil, changeable, isOfOther, isResendable, viewersOf } from "./reducer.js";
import { dispatch } from "./store.js";
import { day, dayAndClock, midnight } from "./times.js";

export function Thread({ state, chat }) {
  return html`
    <section class="thread" aria-label=${t("Transcript")}>
      <${Head} state=${state} chat=${chat} />
      <${Transcript} state=${state} chat=${chat} thread=${state.threads[chat.id]} />
      <${Approvals} state=${state} chat=${chat} thread=${state.threads[chat.id]} />
      <${Composer} state=${state} chat=${chat} />
    </section>
  `;
}

function Head({ state, chat }) {
  const name = customerName(chat);
  const ask = (kind) => () => dispatch({ type: "dialog", dialog: { kind, ids: [chat.id] } });
  const [isEnded, isSnoozed] = [chat.status === "ended", chat.status === "snoozed"];
  const mayAct = state.me.role !== "viewer";
  const canAct = mayAct && !isEnded && !isOfOther(state, chat);
  const isFree = chat.assign_type !== "agent";
  const others = viewersOf(state, chat.id);
  const until = blockedUntil(state, chat);
  return html`
    <header class="head">
      <button type="button" class="plain only-narrow" aria-label=${t("Back to list")} onClick=${chats.close}>←</button>
      <${Face} ...${faceOf(chat)} />
      <div class="who">
        <h2><bdi>${name}</bdi> <${Priority} priority=${chat.priority} /></h2>
        <p class="quiet">${isEnded ? t("Ended") : holder(state, chat)}${isSnoozed && ` · ${t("Snoozed until {time}", { time: dayAndClock(chat.snoozed_until) })}`}${until && html` · <strong class="fault">${blockName(until)}</strong>`}</p>
        <p class="quiet viewers" role="status" dir="auto">${others.length > 0 && t("Also viewing: {names}", { names: others.join(", ") })}</p>
      </div>
      <button type="button" class="only-narrow" aria-label=${t("Customer and conversation")} onClick=${() => dispatch({ type: "pane", pane: "card" })}><${Icon} name="info" /></button>
      <div class="acts">
        ${canAct && isFree && html`<button type="button" class="first" onClick=${() => chats.take(chat.id)}>${t("Assign to me")}</button>`}
        ${canAct && html`<button type="button" onClick=${ask("assign")}>${t("Assign…")}</button>`}
        ${canAct && html`<button type="button" onClick=${ask("snooze")}>${t("Snooze")}</button>`}
        ${mayAct && isSnoozed && !isOfOther(state, chat) && html`<button type="button" onClick=${() => chats.reopen(chat.id)}>${t("Unsnooze")}</button>`}
        ${mayAct && isEnded && html`<button type="button" onClick=${() => chats.reopen(chat.id)}>${t("Reopen")}</button>`}
        ${canAct && html`<button type="button" onClick=${() => chats.end([chat.id])}>${t("End")}</button>`}
      </div>
    </header>
  `;
}

/** The transcript. It stays scrolled to its end while the reader is there. */
class Transcript extends Component {
  place = createRef();

  shouldComponentUpdate({ state, chat, thread }) {
    const before = this.props;
    return (
      thread !== before.thread || chat !== before.chat || state.outbox !== before.state.outbox ||
      state.feedback !== before.state.feedback ||
      state.typing[chat.id] !== before.state.typing[chat.id] ||
      midnight(state.now) !== midnight(before.state.now)
    );
  }

  getSnapshotBeforeUpdate() {
    const { scrollHeight, scrollTop } = this.place.current;
    return scrollHeight - scrollTop;
  }

  componentDidMount() {
    this.end = followEnd(this.place.current);
    this.toHit();
  }

  /** Scrolls to the message that a search has found. */
  toHit() {
    const { hit } = this.props.thread ?? {};
    if (!hit) return;
    this.end.leave();
    this.place.current.querySelector(`[data-seq="${hit}"]`)?.scrollIntoView({ block: "center" });
  }

  componentWillUnmount() {
    this.end.stop();
  }

  componentDidUpdate(before, _, fromEnd) {
    const first = (thread) => thread?.messages[0]?.seq;
    const log = this.place.current;
    if (this.props.thread?.hit !== before.thread?.hit) this.toHit();
    else if (this.end.isAtEnd()) this.end.toEnd();
    else if (first(before.thread) !== first(this.props.thread)) log.scrollTop = log.scrollHeight - fromEnd;
  }

  render({ state, chat, thread }) {
    const typist = state.typing[chat.id]?.sender;
    const waiting = state.outbox.filter((item) => item.chatId === chat.id);
    return html`
      <div class="log" ref=${this.place} role="log" aria-label=${t("Transcript")} tabindex="0">
        ${thread?.cursor && html`<button type="button" class="more" onClick=${() => chats.loadEarlier(chat.id)}>${t("Earlier messages")}</button>`}
        ${(!thread || thread.isLoading) && !thread?.messages.length && html`<p class="quiet empty">${t("Loading…")}</p>`}
        ${thread && lines(state, chat, thread)}
        ${waiting.map((item) => html`<${Pending} key=${item.id} item=${item} />`)}
        ${typist && html`<p class="typing quiet">${t("{name} is typing…", { name: typist.name || customerName(chat) })}</p>`}
      </div>
    `;
  }
}

/** Messages and steps in order, with a line for each day and one before the new messages. */
function lines(state, chat, { messages, steps, cursor, unreadFrom, hit }) {
  const own = changeable(state, chat, messages);
  const since = cursor && messages.length ? messages[0].created_at : "";
  const entries = [
    ...messages.map((message) => ({ at: message.created_at, message })),
    ...steps.filter((step) => step.created_at > since).map((step) => ({ at: step.created_at, step })),
  ].sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  const shown = [];
  let before = null;
  let hasMessages = false;
  for (const entry of entries) {
    const { at, message, step } = entry;
    if (!before || midnight(before.at) !== midnight(at)) {
      shown.push(html`<p class="divider" key=${`day-${midnight(at)}`}><span>${day(at, state.now)}</span></p>`);
    }
    if (message && message.seq === unreadFrom) {
      shown.push(html`<p class="divider new" key="new"><span>${t("New messages")}</span></p>`);
    }
    shown.push(
      message
        ? html`<${Bubble} key=${message.id} state=${state} chat=${chat} message=${message}
            feedback=${state.feedback[message.id]} isFollowing=${follows(before?.message, message)} isHit=${message.seq === hit} isChangeable=${message === own} isResendable=${isResendable(state, chat, messages, message)} />`
        : html`<${Step} key=${step.id} step=${step} me=${state.me} isFirst=${!cursor && !hasMessages} />`,
    );
    hasMessages ||= Boolean(message);
    before = entry;
  }
  return shown;
}

/** Whether a message continues the previous one, so that the name is not repeated. */
function follows(before, message) {
  return (
    before && before.sender.type === message.sender.type && before.sender.id === message.sender.id &&
    before.is_note === message.is_note && Date.parse(message.created_at) - Date.parse(before.created_at) < 300_000
  );
}
