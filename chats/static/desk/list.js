/** The left pane: views with their counts, the search, and the chats. */

import * as chats from "./chats.js";
import { html } from "../common/html.js";
import { t, tn } from "../common/words.js";
import { Component, createRef } from "../vendor/preact.js";
import { Icon } from "./icons.js";
import { CHANNELS, EMPTY_VIEWS, REASONS, VIEW_NAMES, label, linesOf } from "./labels.js";
import * as live from "./live.js";
import { Face, customerName, holder } from "./people.js";
import { VIEWS, rows } from "./reducer.js";
import { dispatch } from "./store.js";
import { clock, languageName, midnight, span, urgency, written } from "./times.js";

const SEARCH_AFTER_MS = 250;
let searching = 0;

export function List({ state }) {
  const shown = rows(state);
  return html`
    <nav class="list" aria-label=${t("Conversations")}>
      <header class="top">
        <p class="title" aria-hidden="true">${t("Inbox")}</p>
        <button type="button" class="plain" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "menu" } })}>
          <${Face} name=${state.me.full_name} /><span class="hidden">${t("Settings")}</span>
        </button>
      </header>
      <${Views} state=${state} />
      <input class="search" type="search" id="search" maxlength="200" aria-label=${t("Search conversations")} placeholder=${t("Search conversations")}
        value=${state.query} onInput=${searchSoon} />
      <${Bulk} state=${state} />
      ${!shown.length && html`<p class="quiet empty">${emptyText(state)}</p>`}
      <ul class="rows">
        ${shown.map((chat) => html`<${Row} key=${chat.id} chat=${chat} ...${rowProps(state, chat)} />`)}
      </ul>
      ${state.list.cursor &&
      html`<button type="button" class="more" onClick=${() => live.loadList({ isMore: true })}>${t("Show more")}</button>`}
    </nav>
  `;
}

function emptyText({ list, query, view }) {
  if (list.isLoading) return t("Loading…");
  return query ? t("No results.") : label(EMPTY_VIEWS, view);
}

function searchSoon(event) {
  const query = event.target.value.trim();
  clearTimeout(searching);
  searching = setTimeout(() => live.search(query), SEARCH_AFTER_MS);
}

function Views({ state }) {
  return html`
    <div class="views" role="group" aria-label=${t("Views")}>
      ${VIEWS.map(
        (view) => html`
          <button type="button" aria-pressed=${String(view === state.view && !state.query)} onClick=${() => live.show(view)}>
            ${label(VIEW_NAMES, view)} <span class="count">${state.counts[view] ?? ""}</span>
          </button>
        `,
      )}
    </div>
  `;
}

function Bulk({ state }) {
  const ids = Object.keys(state.selected).filter((id) => state.selected[id]);
  if (!ids.length) return null;
  const ask = (kind) => () => dispatch({ type: "dialog", dialog: { kind, ids } });
  return html`
    <div class="bulk" role="group" aria-label=${tn("{count} selected", "{count} selected", ids.length)}>
      <span>${tn("{count} selected", "{count} selected", ids.length)}</span>
      <button type="button" onClick=${ask("assign")}>${t("Assign…")}</button>
      <button type="button" onClick=${ask("snooze")}>${t("Snooze")}</button>
      <button type="button" onClick=${() => chats.end(ids)}>${t("End")}</button>
      <button type="button" onClick=${() => dispatch({ type: "unselected" })}>${t("Clear")}</button>
    </div>
  `;
}

function rowProps(state, chat) {
  const since = chat.waiting_since;
  const who = state.typing[chat.id]?.sender;
  return {
    isOpen: chat.id === state.openId,
    isSelected: Boolean(state.selected[chat.id]),
    urgency: chat.status === "open" ? urgency(since, state.now, state.config?.first_response_target_seconds) : "",
    wait: since && chat.status === "open" ? span(Math.max(state.now - Date.parse(since), 0)) : "",
    holder: holder(state, chat),
    typist: who?.type === "customer" ? t("{name} is typing…", { name: customerName(chat) }) : "",
    hasDraft: Boolean(state.drafts[chat.id]?.text),
    today: midnight(state.now),
  };
}

/** One chat; drawn anew only if something of it changed. */
class Row extends Component {
  place = createRef();

  shouldComponentUpdate(next) {
    return Object.keys(next).some((name) => next[name] !== this.props[name]);
  }

  componentDidUpdate(before) {
    if (this.props.isOpen && !before.isOpen) this.place.current.scrollIntoView({ block: "nearest" });
  }

  render({ chat, isOpen, isSelected, urgency: level, wait, holder: who, typist, hasDraft, today }) {
    const name = customerName(chat);
    const select = () => dispatch({ type: "selected", id: chat.id });
    return html`
      <li ref=${this.place} class=${`row ${level} ${isOpen ? "open" : ""}`}>
        <label class="pick"><input type="checkbox" checked=${isSelected} onChange=${select} aria-label=${t("Select {name}", { name })} /></label>
        <button type="button" class="plain chat" aria-current=${isOpen ? "true" : undefined} onClick=${() => chats.open(chat.id)}>
          <${Face} name=${name} />
          <span class="what">
            <span class="line">
              <bdi class="name">${name}</bdi>
              ${wait
                ? html`<span class=${`wait ${level}`} title=${level === "late" ? t("waiting {time}, past the target", { time: wait }) : t("waiting {time}", { time: wait })}><${Icon} name="clock" /> ${wait}</span>`
                : html`<time class="quiet">${when(chat, today)}</time>`}
            </span>
            <span class="line">
              <span class="last" dir="auto">${typist || lastLine(chat)}</span>
              ${hasDraft && html`<span class="quiet" title=${t("Draft")}><${Icon} name="pen" /></span>`}
              ${chat.unread_count > 0 && html`<span class="badge"><span aria-hidden="true">${chat.unread_count}</span><span class="hidden">${tn("{count} unread", "{count} unread", chat.unread_count)}</span></span>`}
            </span>
            <span class="facts">${facts(chat, who)}</span>
          </span>
        </button>
      </li>
    `;
  }
}

/** Where it comes from, in which language, and who has it or why nobody does. */
function facts(chat, who) {
  const isHandedOver = chat.status !== "ended" && chat.assign_type === "queue" && chat.handoff_reason;
  const standing = chat.status === "ended" ? t("Ended") : who;
  const last = isHandedOver ? label(REASONS, chat.handoff_reason) : standing;
  return [label(CHANNELS, chat.channel), languageName(chat.language), last].join(" · ");
}

function when(chat, today) {
  const moment = chat.last_message_at ?? chat.created_at;
  if (Date.parse(moment) >= today) return clock(moment);
  return written(moment, { day: "numeric", month: "short" });
}

function lastLine({ last_message: last }) {
  if (!last) return "";
  if (last.metadata?.no_words) return linesOf(last).map(({ words }) => words).join(" ").slice(0, 140);
  const said = last.content.map((piece) => piece.text || piece.file_name || "").join(" ");
  return said.slice(0, 140);
}
