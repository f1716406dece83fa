/** The notifications, and which conversations the list shows: filters and saved views. */

import { html } from "../common/html.js";
import { t, tn } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { Refusal, get, put } from "./api.js";
import * as chats from "./chats.js";
import { Icon } from "./icons.js";
import { CHANNELS, MOODS, PRIORITY_NAMES, label } from "./labels.js";
import * as live from "./live.js";
import { noticeText } from "./notices.js";
import { PRIORITIES, isAway, isByUrgency, unnoticed } from "./reducer.js";
import { dispatch } from "./store.js";
import { clock, day, languageName, span } from "./times.js";

const WAITS = [300, 900, 3600, 14_400, 86_400]; // seconds
const show = (kind) => () => dispatch({ type: "dialog", dialog: kind && { kind } });
const close = show(null);

export function Bell({ state }) {
  const count = unnoticed(state).length;
  const name = count ? tn("{count} new notification", "{count} new notifications", count) : t("Notifications");
  return html`
    <button type="button" class="plain bell" title=${name} aria-label=${name} onClick=${show("notifications")}>
      <${Icon} name="bell" />${count > 0 && html`<span class="badge" aria-hidden="true">${count}</span>`}
    </button>
  `;
}

/** Whether this person takes new conversations, with a button to change that. */
export function Availability({ state }) {
  const isGone = isAway(state);
  const change = () => live.setAway(!isGone).catch(chats.report);
  return html`
    <p class="availability" data-away=${String(isGone)}>
      <span>${isGone ? t("You're away: new conversations aren't assigned to you automatically. You still get mentions, and messages in your own conversations.") : t("You're available.")}</span>
      <button type="button" onClick=${change}>${isGone ? t("Set as available") : t("Set as away")}</button>
    </p>
  `;
}

function noticeAll(notifications) {
  dispatch({ type: "noticed", ids: notifications.map((one) => one.id) });
  put("/ai/chat/notifications/read").catch(chats.report);
}

export class Notifications extends Component {
  componentDidMount() {
    const { chats: known, notifications } = this.props.state;
    const ids = new Set(notifications.map((one) => one.chat_id));
    for (const id of ids) if (!known[id]) live.fetchChat(id);
  }

  render({ state }) {
    const { notifications, now } = state;
    const open = (id) => () => {
      close();
      chats.open(id);
    };
    return html`
      ${!notifications.length && html`<p class="quiet">${t("Mentions and conversations assigned to you appear here.")}</p>`}
      ${unnoticed(state).length > 0 && html`<button type="button" onClick=${() => noticeAll(unnoticed(state))}>${t("Mark all as read")}</button>`}
      <ul class="choices notices">
        ${notifications.map((one) => html`
          <li key=${one.id}><button type="button" class=${one.is_read ? "" : "unread"} onClick=${open(one.chat_id)}>
            <bdi>${noticeText(state, one)}</bdi>${!one.is_read && html`<span class="hidden"> (${t("unread")})</span>`}
            <span class="quiet">${day(one.created_at, now)} ${clock(one.created_at)}</span></button></li>
        `)}
      </ul>
    `;
  }
}

/** A filter's value in words. */
function valueName(state, name, value) {
  if (name === "channel") return label(CHANNELS, value);
  if (name === "language") return languageName(value);
  if (name === "bot_id") return state.bots[value]?.bot_name ?? value;
  if (name === "priority") return label(PRIORITY_NAMES, value);
  if (name === "sentiment") return label(MOODS, value);
  if (name === "is_unread") return value === "true" ? t("unread") : t("read");
  if (name === "assignee_id") return state.people[value]?.full_name ?? value;
  return name === "min_wait_seconds" ? t("waiting {time} or longer", { time: span(value * 1000) }) : value;
}

/** The active filters of the list, each with a button to remove it, and the list's order. */
export function Chips({ state }) {
  const { filters, query, view } = state;
  const without = (name) => () => live.show(view, Object.fromEntries(Object.entries(filters).filter(([one]) => one !== name)));
  return html`
    <div class="filters" role="group" aria-label=${t("Filters")}>
      <button type="button" class="link" onClick=${show("filters")}>${t("Filter…")}</button>
      ${Object.entries(filters).map(([name, value]) => {
        const words = valueName(state, name, value);
        return html`<button type="button" class="chip" key=${name} aria-label=${t("Remove filter: {words}", { words })} onClick=${without(name)}><bdi>${words}</bdi> ×</button>`;
      })}
      <span class="quiet order">${isByUrgency(view) && !query ? t("By priority, then longest wait") : t("Latest first")}</span>
    </div>
  `;
}

export class Filters extends Component {
  state = { tags: [], fault: "" };

  componentDidMount() {
    get("/ai/tags").then(({ tags }) => this.setState({ tags: tags.map((tag) => tag.name) })).catch(chats.report);
  }

  apply = (event) => {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, value]) => value);
    close();
    live.show(this.props.state.view, Object.fromEntries(given));
  };

  async attempt(act) {
    try {
      await act();
      this.setState({ fault: "" });
      return true;
    } catch (error) {
      if (error instanceof Refusal) this.setState({ fault: error.message });
      else chats.report(error);
      return false;
    }
  }

  keep = async (event) => {
    event.preventDefault();
    const form = event.target;
    if (await this.attempt(() => live.keepView(form.name.value.trim(), form.shared.checked))) form.reset();
  };

  render({ state }, { tags, fault }) {
    const { filters, views } = state;
    const known = [...Object.values(state.chats), ...Object.values(state.bots)].map((one) => one.language ?? one.default_language);
    const agents = Object.values(state.people).filter((one) => !one.is_disabled && one.role !== "viewer");
    const field = (name, title, values) => html`<${Choice} name=${name} title=${title} chosen=${filters[name]} isFirst=${name === "channel"}
      options=${[...new Set([...values, filters[name]])].filter(Boolean).map((value) => [`${value}`, valueName(state, name, value)])} />`;
    return html`
      <form onSubmit=${this.apply}>
        ${field("channel", t("Channel"), Object.keys(CHANNELS))}
        ${field("bot_id", t("Bot"), Object.keys(state.bots))}
        ${field("language", t("Language"), known)}
        ${field("assignee_id", t("Agent"), agents.map(({ id }) => `${id}`))}
        ${field("tag", t("Tag"), tags)}
        ${field("priority", t("Priority"), PRIORITIES)}
        ${field("sentiment", t("Sentiment"), Object.keys(MOODS))}
        ${field("is_unread", t("Unread"), ["true", "false"])}
        ${field("min_wait_seconds", t("Waiting longer than"), WAITS.map(String))}
        <p class="acts"><button type="submit" class="first">${t("Apply")}</button></p>
      </form>
      <h3>${t("Saved views")}</h3>
      <ul class="replies">
        ${views.map((one) => html`<li key=${one.id}><bdi>${one.name}</bdi> ${one.is_shared && html`<span class="quiet">${t("shared")}</span>`}
          ${one.may_delete && html`<button type="button" aria-label=${t("Delete {name}", { name: one.name })} onClick=${() => this.attempt(() => live.forgetView(one))}>${t("Delete")}</button>`}</li>`)}
      </ul>
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      <form onSubmit=${this.keep}>
        <label>${t("Save this view as")} <input name="name" required maxlength="60" dir="auto" /></label>
        <label><input type="checkbox" name="shared" /> ${t("Share with your team")}</label>
        <button type="submit">${t("Save view")}</button>
      </form>
    `;
  }
}

function Choice({ name, title, options, isFirst, chosen = "" }) {
  return html`
    <label>${title} <select name=${name} key=${options.length} autofocus=${isFirst}>
      <option value="">${t("Any")}</option>
      ${options.map(([value, words]) => html`<option value=${value} selected=${value === chosen}>${words}</option>`)}
    </select></label>
  `;
}
