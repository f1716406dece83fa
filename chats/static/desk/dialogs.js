/** What opens above the panes; one at a time. The browser keeps the focus inside and closes on Escape. */

import { html } from "../common/html.js";
import { language, msg, t } from "../common/words.js";
import { Component, createRef } from "../vendor/preact.js";
import { put, signOut } from "./api.js";
import { allowNotifications, canNotify, hasSound, setSound } from "./attention.js";
import * as chats from "./chats.js";
import { KEYS } from "./keys.js";
import { presence, safeAddress } from "./people.js";
import { Receipt } from "./receipt.js";
import { Replies } from "./replies.js";
import { Filters, Notifications } from "./views.js";
import { Palette } from "./palette.js";
import { dispatch } from "./store.js";
import { blockPresets, snoozePresets } from "./times.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const close = () => dispatch({ type: "dialog", dialog: null });

export function Dialogs({ state }) {
  const { dialog } = state;
  if (!dialog) return null;
  const [title, Body] = KINDS[dialog.kind];
  return html`<${Dialog} key=${dialog.kind} title=${t(title)}><${Body} state=${state} ...${dialog} /></${Dialog}>`;
}

class Dialog extends Component {
  place = createRef();

  componentDidMount() {
    this.place.current.showModal();
  }

  /** Closed before it goes, so that the focus returns to where it was. */
  componentWillUnmount() {
    this.isGone = true;
    this.place.current.close();
  }

  render({ title, children }) {
    return html`
      <dialog ref=${this.place} aria-labelledby="dialog-title" onClose=${() => this.isGone || close()}>
        <header><h2 id="dialog-title">${title}</h2>
          <button type="button" class="plain" aria-label=${t("Close")} onClick=${() => this.place.current.close()}>×</button></header>
        ${children}
      </dialog>
    `;
  }
}

function Assign({ state, ids }) {
  const give = (body) => ({ currentTarget: { form } }) => {
    const [note, until] = [form.note.value.trim(), form.until.value];
    close();
    chats.assign(ids, note ? { ...body, note } : body, { until });
  };
  const people = Object.values(state.people).filter((one) => !one.is_disabled && one.role !== "viewer" && one.id !== state.me.id);
  people.sort((one, other) => Number(state.online[other.id] ?? 0) - Number(state.online[one.id] ?? 0));
  return html`
    <form>
      <label>${t("Note for your team (customers never see it)")} <textarea name="note" rows="2" maxlength="8000" dir="auto"></textarea></label>
      <label>${t("Snooze")} <select name="until">
        <option value="">${t("No")}</option>
        ${snoozePresets(state.now).map(({ name, until }) => html`<option key=${name} value=${until.toISOString()}>${t(name)}</option>`)}
      </select></label>
      <ul class="choices">
        <li><button type="button" autofocus onClick=${give({ assign_type: "agent" })}>${t("Assign to me")}</button></li>
        ${people.map(
          ({ id, full_name: name }) => html`
            <li key=${id}><button type="button" onClick=${give({ assign_type: "agent", user_id: id })}>
              <bdi>${name}</bdi> <span class="quiet">${presence(state, id)}</span></button></li>
          `,
        )}
        <li><button type="button" onClick=${give({ assign_type: "queue" })}>${t("Return to queue")}</button></li>
        <li><button type="button" onClick=${give({ assign_type: "bot" })}>${t("Return to bot")}</button></li>
      </ul>
    </form>
  `;
}

/** A moment as a field of the browser writes it. */
const local = (moment) => new Date(moment - new Date(moment).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function Snooze({ state, ids }) {
  const until = (moment) => {
    close();
    chats.snooze(ids, moment);
  };
  const choose = (event) => {
    event.preventDefault();
    until(new Date(event.target.until.value));
  };
  return html`
    <ul class="choices">
      ${snoozePresets(state.now).map(
        ({ name, until: moment }, place) =>
          html`<li key=${name}><button type="button" autofocus=${place === 0} onClick=${() => until(moment)}>${t(name)}</button></li>`,
      )}
    </ul>
    <form onSubmit=${choose}>
      <label>${t("Choose a date and time")} <input type="datetime-local" name="until" required min=${local(state.now + MINUTE_MS)} max=${local(state.now + 366 * DAY_MS)} /></label>
      <button type="submit">${t("Snooze")}</button>
    </form>
  `;
}

function Block({ state, ids: [id] }) {
  const until = (moment) => () => {
    close();
    chats.block(state.chats[id], moment);
  };
  return html`
    <p>${t("Until the block ends, they can't write to you on any channel, and no one sees what they try to send.")}</p>
    <ul class="choices">
      ${blockPresets(state.now).map(([name, moment], place) => html`<li key=${name}><button type="button" autofocus=${place === 0} onClick=${until(moment)}>${t(name)}</button></li>`)}
    </ul>
  `;
}

function Tags({ state, ids: [id] }) {
  const save = (event) => {
    event.preventDefault();
    const names = new FormData(event.target).get("tags").split(",").map((name) => name.trim()).filter(Boolean);
    close();
    chats.setTags(id, names);
  };
  return html`
    <form onSubmit=${save}>
      <label>${t("Tags, separated by commas")} <input name="tags" autofocus maxlength="1300" dir="auto" value=${state.chats[id].tags.join(", ")} /></label>
      <button type="submit" class="first">${t("Save")}</button>
    </form>
  `;
}

function Source({ citation }) {
  const address = safeAddress(citation.url);
  return html`
    <h3 dir="auto">${citation.title}${citation.page && html` <span class="quiet">${t("page {page}", { page: citation.page })}</span>`}</h3>
    <blockquote dir="auto">${citation.quote}</blockquote>
    ${address && html`<p><a href=${address} target="_blank" rel="noopener noreferrer">${t("Open page")}</a></p>`}
  `;
}

function Help() {
  return html`
    <table class="keys"><tbody>
      ${KEYS.map(({ keys, name }) => html`<tr><th scope="row">${keys.map((key) => html`<kbd>${key}</kbd> `)}</th><td>${t(name)}</td></tr>`)}
    </tbody></table>
  `;
}

/** The language is the person's, on all of their screens. */
async function turnTo(code) {
  try {
    await put("/identity/users/me", { language: code });
    location.reload();
  } catch (error) {
    chats.report(error);
  }
}

/** A language by its code, as its speakers call it. */
const nameOf = (code) => new Intl.DisplayNames([code], { type: "language" }).of(code);

/** The languages of the desk besides the one of this page. */
const otherLanguages = () => document.documentElement.dataset.languages.split(" ").filter((code) => code !== language);

function Menu({ state }) {
  return html`
    <p><bdi>${state.me.full_name}</bdi> <span class="quiet">${state.me.email}</span></p>
    <ul class="choices">
      ${otherLanguages().map((code) => html`<li key=${code}><button type="button" lang=${code} onClick=${() => turnTo(code)}>${nameOf(code)}</button></li>`)}
      <li><label><input type="checkbox" checked=${hasSound()} onChange=${(event) => setSound(event.target.checked)} /> ${t("Sound")}</label></li>
      <li><label><input type="checkbox" checked=${canNotify()} disabled=${canNotify()} onChange=${allowNotifications} /> ${t("Browser notifications")}</label></li>
      ${state.me.role !== "viewer" && html`<li><button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "replies" } })}>${t("Saved replies")}</button></li>`}
      <li><button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "help" } })}>${t("Keyboard shortcuts")} <kbd>?</kbd></button></li>
      <li><a class="button" href=${state.me.role === "agent" ? "/admin/chats/conversation/" : "/admin/"}>${t("Admin")}</a></li>
      <li><a class="button" href="/admin/profile/">${t("Profile")}</a></li>
      <li><button type="button" onClick=${() => signOut().catch(chats.report)}>${t("Sign out")}</button></li>
    </ul>
  `;
}

const KINDS = {
  notifications: [msg("Notifications"), Notifications],
  filters: [msg("Filter conversations"), Filters],
  palette: [msg("Search everything"), Palette],
  assign: [msg("Assign…"), Assign],
  snooze: [msg("Snooze"), Snooze],
  block: [msg("Block this customer?"), Block],
  tags: [msg("Tags"), Tags],
  source: [msg("Sources"), Source],
  receipt: [msg("Why did the bot say this?"), Receipt],
  replies: [msg("Saved replies"), Replies],
  help: [msg("Keyboard shortcuts"), Help],
  menu: [msg("Settings"), Menu],
};
