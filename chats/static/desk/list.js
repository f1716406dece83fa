/** The left pane: views with their counts, the search, and the chats. */

import * as chats from "./chats.js";
import { html } from "../common/html.js";
import { isForeign, msg, t, tn } from "../common/i18n.js";
import { excerptOf } from "../common/message_text.js";
import { Component, createRef } from "../vendor/preact.js";
import { Icon } from "./icons.js";
import { CHANNELS, EMPTY_VIEWS, REASONS, VIEW_NAMES, deletedText, label, saidIn } from "./labels.js";
import * as live from "./live.js";
import { lowRating, matterOf, returnOf } from "./matter.js";
import { noticeText } from "./notices.js";
import { Face, Priority, customerName, faceOf, holder, siteOf } from "./people.js";
import { VIEWS, isAway, isOfOther, rows, unnoticed } from "./reducer.js";
import { dispatch } from "./store.js";
import { clock, dayAndClock, languageName, midnight, span, urgency, written } from "./times.js";
import { Availability, Bell, Chips } from "./views.js";

const SEARCH_AFTER_MS = 250;
const MOST_COUNTED = 10_000;
const USUAL = ["customer_asked", "agents_reply"]; // reasons for a handover that say nothing about the matter
const WAITS = {
  usual: msg("waiting {time}"),
  late: msg("waiting {time}, past the target"),
  overdue: msg("waiting {time}, more than twice the target"),
};
const NEAR_MS = 2 * 3_600_000; // a reply window that ends sooner is shown
let searching = 0;

export function List({ state }) {
  const shown = rows(state);
  const notices = new Map(unnoticed(state).map((one) => [one.chat_id, one]).reverse());
  return html`
    <nav class="list" aria-label=${t("Conversations")}>
      <header class="top">
        ${state.me.role !== "agent" && html`<a class="home" href=${siteOf(state.me).address}><span aria-hidden="true">←</span> ${siteOf(state.me).name}</a>`}
        <p class="title" aria-hidden="true">${t("Inbox")}</p>
        ${state.me.role !== "viewer" && html`<button type="button" class="plain begin" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "new" } })}><${Icon} name="pen" /><span class="hidden">${t("New conversation")}</span></button>`}
        <${Bell} state=${state} />
        <button type="button" class="plain" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "menu" } })}>
          <${Face} name=${state.me.full_name} /><span class="hidden">${t("Settings")}</span>
        </button>
      </header>
      ${isAway(state) && html`<${Availability} state=${state} />`}
      <${Views} state=${state} />
      <input class="search" type="search" id="search" maxlength="200" aria-label=${t("Search conversations")} placeholder=${t("Search conversations")}
        value=${state.query} onInput=${searchSoon} />
      <${Chips} state=${state} />
      <${Bulk} state=${state} />
      ${!shown.length && html`<p class="quiet empty">${emptyText(state)}</p>`}
      <ul class="rows">
        ${shown.map((chat) => html`<${Row} key=${chat.id} chat=${chat} ...${rowProps(state, chat, notices.get(chat.id))} />`)}
      </ul>
      ${state.list.cursor && html`<${More} />`}
    </nav>
  `;
}

/** The end of the list: scrolling there loads more. */
class More extends Component {
  place = createRef();

  componentDidMount() {
    this.watch = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && live.loadFurther());
    this.watch.observe(this.place.current);
  }

  componentWillUnmount() {
    this.watch.disconnect();
  }

  /** Still visible after a short page. */
  componentDidUpdate() {
    this.watch.unobserve(this.place.current);
    this.watch.observe(this.place.current);
  }

  render() {
    return html`<button type="button" class="more" ref=${this.place} onClick=${live.loadFurther}>${t("Show more")}</button>`;
  }
}

function emptyText({ list, query, filters, view }) {
  if (list.isLoading) return t("Loading…");
  return query || Object.keys(filters).length ? t("No results.") : label(EMPTY_VIEWS, view);
}

function searchSoon(event) {
  const query = event.target.value.trim();
  clearTimeout(searching);
  searching = setTimeout(() => live.search(query), SEARCH_AFTER_MS);
}

function Views({ state }) {
  const shown = live.asQuery(state);
  const kept = state.views.find(({ query }) => query === shown);
  return html`
    <div class="views" role="group" aria-label=${t("Views")}>
      ${VIEWS.map(
        (view) => html`
          <button type="button" aria-pressed=${String(view === state.view && !state.query && !kept)} onClick=${() => live.show(view)}>
            ${label(VIEW_NAMES, view)} <${ViewCount} count=${state.counts[view]} />
          </button>
        `,
      )}
      ${state.views.map((view) => html`<button type="button" key=${view.id} aria-pressed=${String(view === kept && !state.query)} onClick=${() => live.showSaved(view)}><bdi>${view.name}</bdi></button>`)}
    </div>
  `;
}

/** How many conversations a view has; the API stops counting at `MOST_COUNTED`. */
function ViewCount({ count }) {
  if (count === undefined) return null;
  const shown = count < MOST_COUNTED ? `${count}` : `${count}+`;
  return html`<${Count} kind="count" shown=${shown} words=${tn("{count} conversation", "{count} conversations", count)} />`;
}

/** A number; what it counts is its tooltip, and what a screen reader reads. */
function Count({ kind, shown, words }) {
  return html`<span class=${kind} title=${words}><span aria-hidden="true">${shown}</span><span class="hidden">${words}</span></span>`;
}

function Bulk({ state }) {
  const ids = Object.keys(state.selected).filter((id) => state.selected[id]);
  if (!ids.length) return null;
  const own = ids.filter((id) => state.chats[id] && !isOfOther(state, state.chats[id]));
  const ofOthers = ids.filter((id) => state.chats[id] && isOfOther(state, state.chats[id])).length;
  const ask = (kind, chosen = ids) => () => dispatch({ type: "dialog", dialog: { kind, ids: chosen } });
  return html`
    <div class="bulk" role="group" aria-label=${tn("{count} selected", "{count} selected", ids.length)}>
      <span>${tn("{count} selected", "{count} selected", ids.length)}</span>
      ${ofOthers > 0 && html`<span class="left-out">${tn("{count} is with a teammate: you can set its priority and tags, but not assign, snooze or end it.", "{count} are with teammates: you can set their priority and tags, but not assign, snooze or end them.", ofOthers)}</span>`}
      ${own.length > 0 && html`<button type="button" onClick=${ask("assign", own)}>${t("Assign…")}</button>`}
      <button type="button" onClick=${ask("priority")}>${t("Priority")}</button>
      <button type="button" onClick=${ask("tags")}>${t("Tags")}</button>
      ${own.length > 0 && html`<button type="button" onClick=${ask("snooze", own)}>${t("Snooze")}</button>`}
      ${own.length > 0 && html`<button type="button" onClick=${() => chats.end(own)}>${t("End")}</button>`}
      <button type="button" onClick=${() => dispatch({ type: "unselected" })}>${t("Clear")}</button>
    </div>
  `;
}

function rowProps(state, chat, notice) {
  const since = chat.waiting_since;
  const who = state.typing[chat.id]?.sender;
  return {
    isOpen: chat.id === state.openId,
    isSelected: Boolean(state.selected[chat.id]),
    urgency: urgency(since, state.now, state.config?.first_response_target_seconds),
    wait: since && chat.status === "open" ? span(Math.max(state.now - Date.parse(since), 0)) : "",
    closing: replyWindow(state, chat),
    facts: facts(state, chat).join("\n"),
    said: lastLine(state, chat),
    ...matterOf(chat),
    returned: returnOf(chat),
    found: state.query && state.list.found[chat.id] ? excerpt(excerptOf(state.list.found[chat.id]), state.query) : null,
    typist: who?.type === "customer" ? t("{name} is typing…", { name: customerName(chat) }) : "",
    called: notice ? noticeText(state, notice) : "",
    hasDraft: Boolean(state.drafts[chat.id]?.text),
    isRefused: chat.last_message?.status === "failed" || state.outbox.some((item) => item.chatId === chat.id && item.state === "failed"),
    today: midnight(state.now),
  };
}

/** One chat; redrawn only if it changed. */
class Row extends Component {
  place = createRef();

  shouldComponentUpdate(next) {
    return Object.keys(next).some((name) => name !== "found" && next[name] !== this.props[name]) || String(next.found) !== String(this.props.found);
  }

  componentDidUpdate(before) {
    if (this.props.isOpen && !before.isOpen) this.place.current.scrollIntoView({ block: "nearest" });
  }

  render({ chat, isOpen, isSelected, urgency: level, wait, today, ...shown }) {
    const name = customerName(chat);
    const waiting = t(WAITS[level], { time: wait });
    const isTall = Boolean(shown.words && !shown.found);
    const select = ({ shiftKey }) => dispatch({ type: "selected", id: chat.id, isRange: shiftKey });
    return html`
      <li ref=${this.place} class=${`row ${chat.status === "open" ? chat.priority : ""} ${isTall ? "tall" : ""} ${isOpen ? "open" : ""}`}>
        <label class="pick"><input type="checkbox" checked=${isSelected} onClick=${select} aria-label=${t("Select {name}", { name })} /></label>
        <button type="button" class="plain chat" aria-current=${isOpen ? "true" : undefined} onClick=${() => chats.open(chat.id)}>
          <${Face} ...${faceOf(chat)} />
          <span class="what">
            <span class="line">
              <bdi class="name">${name}</bdi>
              <${Priority} priority=${chat.priority} />
              <span class="facts">${!isTall && html`<${Facts} facts=${shown.facts} />`}${isForeign(chat.language) && html`<span class="flag" title=${languageName(chat.language)}>${chat.language.split("-")[0].toUpperCase()}</span>`}</span>
              ${wait
                ? html`<span class=${`wait ${level}`} title=${waiting}><${Icon} name=${level === "overdue" ? "alert" : "clock"} /> <span aria-hidden="true">${wait}</span><span class="hidden">${waiting}</span></span>`
                : html`<time class="quiet" title=${dayAndClock(activeAt(chat))}>${when(activeAt(chat), today)}</time>`}
              ${isTall && html`<${Unread} count=${chat.unread_count} />`}
            </span>
            ${isTall ? html`<${Matter} ...${shown} />` : html`
              <span class="line">
                <span class="last" dir="auto">${shown.typist || marked(shown.found) || shown.said}</span>
                <${Marks} ...${shown} /><${Unread} count=${chat.unread_count} />
              </span>
            `}
          </span>
        </button>
      </li>
    `;
  }
}

const marked = (found) => found?.map((part, place) => (place % 2 ? html`<mark>${part}</mark>` : part));

const Facts = ({ facts: known }) => known && known.split("\n").map((fact) => html`<span class="fact" dir="auto" title=${fact}>${fact}</span>`);

/** What the customer wants: their first words, their newest ones, and what agents noted. */
function Matter({ words, newest, returned, typist, ...shown }) {
  const latest = typist || newest;
  const hasMarks = shown.facts || shown.closing || shown.called || shown.isRefused || shown.hasDraft;
  return html`
    <span class=${`words ${latest ? "" : "only"}`} dir="auto" title=${words}>${words}</span>
    ${latest && html`<span class="newest" dir="auto" title=${latest}>${latest}</span>`}
    ${returned && html`<span class="returned" dir="auto" title=${returned}>${returned}</span>`}
    ${hasMarks && html`<span class="line marks"><span class="facts"><${Facts} facts=${shown.facts} /></span><${Marks} ...${shown} /></span>`}
  `;
}

function Marks({ closing, called, isRefused, hasDraft }) {
  return html`
    ${closing && html`<span class="closing">${closing}</span>`}
    ${called && html`<span class="called" title=${called}><${Icon} name="bell" /><span class="hidden">${called}</span></span>`}
    ${isRefused && html`<span class="fault">${t("not sent")}</span>`}
    ${hasDraft && html`<span class="quiet" title=${t("Draft")}><${Icon} name="pen" /></span>`}
  `;
}

const Unread = ({ count }) => count > 0 && html`<${Count} kind="badge" shown=${count} words=${tn("{count} unread message", "{count} unread messages", count)} />`;

/** How much time is left to reply on the channel, if it is short. */
function replyWindow(state, { status, can_reply: canReply, reply_window_expires_at: end }) {
  if (status !== "open") return "";
  const left = end ? Date.parse(end) - state.now : Infinity;
  if (!canReply || left <= 0) return t("Can't reply now");
  return left < NEAR_MS ? t("{time} left to reply", { time: span(left) }) : "";
}

/** What is unusual: until when it is snoozed, why it waits, who has it, where it comes from. */
function facts(state, chat) {
  const { channel, status, assign_type: owner, handoff_reason: reason, snoozed_until: until } = chat;
  const isAsUsual = !reason || USUAL.includes(reason) || chat.queue_details?.returned;
  const found = [];
  if (chat.sentiment === "negative") found.push(t("Unhappy"));
  if (status === "snoozed") found.push(t("until {time}", { time: written(until, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }) }));
  if (status === "ended") found.push(t("Ended"));
  else if (owner === "queue" && !isAsUsual) found.push(label(REASONS, reason));
  else if (owner !== "queue" && state.view !== "mine") found.push(holder(state, chat));
  if (lowRating(chat)) found.push(lowRating(chat));
  if (channel !== "web" && channel !== "api") found.push(label(CHANNELS, channel));
  return found;
}

/** The last message's time, by which the lists of what does not wait are sorted. */
const activeAt = (chat) => chat.last_message_at ?? chat.created_at;

function when(moment, today) {
  if (Date.parse(moment) >= today) return clock(moment);
  return written(moment, { day: "numeric", month: "short" });
}

/** The last message, with its sender unless that is the customer. */
function lastLine(state, { last_message: last }) {
  if (!last) return "";
  if (last.deleted_at) return deletedText(last);
  const said = saidIn(last).slice(0, 140);
  const { type, id, name } = last.sender;
  if (type === "customer") return said;
  const who = type === "agent" ? (id === String(state.me.id) ? t("You") : name || t("A teammate")) : name || t("Bot");
  return `${who}: ${said}`;
}

const BEFORE = 20;

/** The part of a text around the first match, as pieces that alternate between plain text and a match. */
function excerpt(text, query) {
  const words = query.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(${words.join("|")})`, "iu");
  const first = text.search(pattern);
  const start = first > 2 * BEFORE ? text.lastIndexOf(" ", first - BEFORE) + 1 : 0;
  return `${start ? "… " : ""}${text.slice(start, start + 160)}`.split(new RegExp(pattern, "giu"));
}
