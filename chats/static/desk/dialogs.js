/** Dialogs above the panes; one at a time. The browser keeps the focus inside and closes on Escape. */

import { html } from "../common/html.js";
import { language, msg, t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import { get, put, signOut } from "./api.js";
import { allowNotifications, canNotify, hasSound, setSound } from "./attention.js";
import * as chats from "./chats.js";
import { entersSend, setEnterSends } from "./composer.js";
import { Icon } from "./icons.js";
import { KEYS } from "./keys.js";
import { CONNECTIONS, PRIORITY_NAMES, label } from "./labels.js";
import { mayTrain, presence, safeAddress, siteOf } from "./people.js";
import { Devices } from "./push.js";
import { Receipt } from "./receipt.js";
import { Replies } from "./replies.js";
import { PRIORITIES } from "./reducer.js";
import { Availability, Filters, Notifications } from "./views.js";
import { Palette } from "./palette.js";
import { dispatch, read } from "./store.js";
import { NewChat, Templates } from "./templates.js";
import { blockPresets, fieldMoment, fieldValue, snoozePresets } from "./times.js";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MOST_OFFERED = 12; // tags

const close = () => dispatch({ type: "dialog", dialog: null });

/** Does what the dialog is for. What is typed there stays until that is done; if it fails, with the reason. */
async function finish(act) {
  const { dialog } = read();
  if (dialog.isBusy) return;
  const busy = { ...dialog, isBusy: true, fault: null };
  dispatch({ type: "dialog", dialog: busy });
  const isOpen = () => read().dialog === busy; // and not another one of this kind
  try {
    await act();
    if (isOpen()) close();
  } catch (error) {
    if (!isOpen()) return chats.report(error);
    const fault = chats.reasonOf(error) ?? label(CONNECTIONS, "signed_out");
    dispatch({ type: "dialog", dialog: { ...dialog, ids: error.ids ?? dialog.ids, fault } });
  }
}

export function Dialogs({ state }) {
  const { dialog } = state;
  if (!dialog) return null;
  const [title, Body] = KINDS[dialog.kind];
  return html`<${Dialog} key=${dialog.kind} title=${t(title)} fault=${dialog.fault} isBusy=${dialog.isBusy}><${Body} state=${state} ...${dialog} /></${Dialog}>`;
}

class Dialog extends Component {
  place = createRef();

  componentDidMount() {
    this.place.current.showModal();
  }

  /** Closed before it is removed, so that the focus returns to where it was; to the transcript, if that is gone. */
  componentWillUnmount() {
    this.isGone = true;
    this.place.current.close();
    setTimeout(() => document.activeElement === document.body && document.querySelector("[role=log]")?.focus());
  }

  render({ title, fault, isBusy, children }) {
    return html`
      <dialog ref=${this.place} aria-labelledby="dialog-title" aria-busy=${String(Boolean(isBusy))} onClose=${() => this.isGone || close()}>
        <header><h2 id="dialog-title">${title}</h2>
          <button type="button" class="plain" aria-label=${t("Close")} onClick=${() => this.place.current.close()}>×</button></header>
        ${fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`}
        ${children}
      </dialog>
    `;
  }
}

function Assign({ state, ids }) {
  const give = (body, said) => ({ currentTarget: { form } }) => {
    const [note, until] = [form.note.value.trim(), form.until.value];
    finish(() => chats.assign(ids, note ? { ...body, note } : body, { said, until }));
  };
  const people = Object.values(state.people).filter((one) => !one.is_disabled && !one.is_invited && one.role !== "viewer" && one.id !== state.me.id);
  const isThere = ({ id }) => Number(Boolean(state.online[id] && !state.away[id]));
  people.sort((one, other) => isThere(other) - isThere(one));
  return html`
    <form>
      <label>${t("Note for your team (customers never see it)")} <textarea name="note" rows="2" maxlength="8000" dir="auto"></textarea></label>
      <label>${t("Snooze")} <select name="until">
        <option value="">${t("No")}</option>
        ${snoozePresets(state.now).map(({ name, until }) => html`<option key=${name} value=${until.toISOString()}>${t(name)}</option>`)}
      </select></label>
      <ul class="choices">
        <li><button type="button" autofocus onClick=${give({ assign_type: "agent" }, t("Assigned to you"))}>${t("Assign to me")}</button></li>
        ${people.map(
          ({ id, full_name: name }) => html`
            <li key=${id}><button type="button" onClick=${give({ assign_type: "agent", user_id: id }, t("Assigned to {name}", { name }))}>
              <bdi>${name}</bdi> <span class="quiet">${presence(state, id)}</span></button></li>
          `,
        )}
        <li><button type="button" onClick=${give({ assign_type: "queue" })}>${t("Return to queue")}</button></li>
        <li><button type="button" onClick=${give({ assign_type: "bot" })}>${t("Return to bot")}</button></li>
      </ul>
    </form>
  `;
}

function Snooze({ state, ids }) {
  const until = (moment) => {
    close();
    chats.snooze(ids, moment);
  };
  const choose = (event) => {
    event.preventDefault();
    until(new Date(fieldMoment(event.target.until.value)));
  };
  return html`
    <ul class="choices">
      ${snoozePresets(state.now).map(
        ({ name, until: moment }, place) =>
          html`<li key=${name}><button type="button" autofocus=${place === 0} onClick=${() => until(moment)}>${t(name)}</button></li>`,
      )}
    </ul>
    <form onSubmit=${choose}>
      <label>${t("Choose a date and time")} <input type="datetime-local" name="until" required min=${fieldValue(state.now + MINUTE_MS)} max=${fieldValue(state.now + 366 * DAY_MS)} /></label>
      <button type="submit">${t("Snooze")}</button>
    </form>
  `;
}

function Block({ state, ids: [id] }) {
  const until = (moment) => ({ currentTarget: { form } }) => {
    const reason = form.reason.value.trim();
    finish(() => chats.block(state.chats[id], moment, reason || null));
  };
  return html`
    <form>
      <p>${t("While blocked, they can't message you on any channel, and no one sees what they send.")}</p>
      <p class="quiet">${t("On your website, they'll be told they can't send messages right now. They'll still see the conversation.")}</p>
      <label>${t("Reason (only your team sees it)")} <input name="reason" maxlength="300" dir="auto" /></label>
      <ul class="choices">
        ${blockPresets(state.now).map(([name, moment], place) => html`<li key=${name}><button type="button" autofocus=${place === 0} onClick=${until(moment)}>${t(name)}</button></li>`)}
      </ul>
    </form>
  `;
}

function Priority({ state, ids }) {
  const set = (priority) => () => {
    close();
    chats.prioritize(ids, priority);
  };
  const now = ids.length === 1 ? state.chats[ids[0]].priority : "normal";
  return html`
    <ul class="choices">
      ${PRIORITIES.map((name) => html`<li key=${name}><button type="button" autofocus=${name === now} aria-pressed=${String(ids.length === 1 && name === now)} onClick=${set(name)}>${label(PRIORITY_NAMES, name)}</button></li>`)}
    </ul>
  `;
}

/** The customer with an id of the client's own remains, else the older one. */
function Merge({ customers }) {
  const [kept, gone] = [...customers].sort((one, other) => Boolean(other.external_id) - Boolean(one.external_id) || one.id - other.id);
  const act = () => {
    close();
    chats.merge(kept.id, gone.id);
  };
  return html`
    <table class="keys"><tbody>
      ${[kept, gone].map((one) => html`<tr><th scope="row"><bdi>${one.name || t("Customer {id}", { id: one.id })}</bdi></th>
        <td dir="auto">${[one.email, one.phone, one.external_id].filter(Boolean).join(" · ")}</td></tr>`)}
    </tbody></table>
    <p>${t("The first customer will be kept, with the other's conversations and any missing details added.")} ${kept.external_id && gone.external_id && t("The other customer's ID will be removed.")}</p>
    <p>${t("Only merge them if you're sure they're the same person. This can't be undone.")}</p>
    <p class="acts"><button type="button" class="first" onClick=${act}>${t("Merge")}</button>
      <button type="button" autofocus onClick=${close}>${t("Cancel")}</button></p>
  `;
}

function Edit({ message }) {
  const save = (event) => {
    event.preventDefault();
    const text = event.target.text.value.trim();
    if (text) finish(() => chats.changeMessage(message, text));
  };
  const said = message.content.map((part) => part.type === "text" && part.text).filter(Boolean).join("\n");
  return html`
    <form onSubmit=${save}>
      <label>${t("Message")} <textarea name="text" rows="5" maxlength="8000" required autofocus dir="auto" defaultValue=${said}></textarea></label>
      <p class="quiet">${t("The customer will see that it was edited.")}</p>
      <button type="submit" class="first">${t("Save")}</button>
    </form>
  `;
}

function Delete({ message }) {
  const act = () => finish(() => chats.changeMessage(message, null));
  return html`
    <p>${t("Its text and files will be permanently deleted. The customer will see that a message was deleted.")}</p>
    <p class="acts"><button type="button" class="first" onClick=${act}>${t("Delete")}</button>
      <button type="button" autofocus onClick=${close}>${t("Cancel")}</button></p>
  `;
}

/** Tags are added to several chats; those of one chat can be changed. */
class Tags extends Component {
  isAdded = this.props.ids.length > 1;
  state = { text: this.isAdded ? "" : this.props.state.chats[this.props.ids[0]].tags.join(", "), known: [] };
  field = createRef();

  componentDidMount() {
    get("/ai/tags").then(({ tags }) => this.setState({ known: tags.map(({ name }) => name) })).catch(chats.report);
  }

  save = (event) => {
    event.preventDefault();
    finish(() => chats.setTags(this.props.ids, named(this.state.text), this));
  };

  /** Puts a known tag in place of its beginning. */
  add(name) {
    const { text, known } = this.state;
    this.setState({ text: [...finished(text, known), name].join(", ") });
    this.field.current.focus();
  }

  render(_, { text, known }) {
    const done = finished(text, known);
    const typed = named(text)[done.length]?.toLocaleLowerCase() ?? "";
    const offered = known.filter((name) => !done.includes(name) && name.toLocaleLowerCase().includes(typed)).slice(0, MOST_OFFERED);
    return html`
      <form onSubmit=${this.save}>
        <label>${this.isAdded ? t("Add tags, separated by commas") : t("Tags, separated by commas")} <input name="tags" required=${this.isAdded} ref=${this.field} autofocus autocomplete="off" maxlength="1300" dir="auto"
          value=${text} onInput=${(event) => this.setState({ text: event.target.value })} /></label>
        ${offered.length > 0 && html`<p class="tags" role="group" aria-label=${t("Your tags")}>
          ${offered.map((name) => html`<button type="button" class="chip" dir="auto" key=${name} onClick=${() => this.add(name)}>${name}</button> `)}</p>`}
        <button type="submit" class="first">${t("Save")}</button>
      </form>
    `;
  }
}

const named = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

/** The tags of the text without the one that is being typed. */
function finished(text, known) {
  const names = named(text);
  const isTyping = names.length > 0 && !/,\s*$/.test(text) && !known.includes(names.at(-1));
  return isTyping ? names.slice(0, -1) : names;
}

function Source({ citation }) {
  const address = safeAddress(citation.url);
  return html`
    <h3 dir="auto">${citation.title}${citation.page && html` <span class="quiet">${t("page {page}", { page: citation.page })}</span>`}</h3>
    <blockquote dir="auto">${citation.quote}</blockquote>
    ${address && html`<p><a href=${address} target="_blank" rel="noopener noreferrer">${t("Open page")}</a></p>`}
  `;
}

function Picture({ address, name }) {
  return html`
    <img class="enlarged" src=${address} alt=${name} />
    <p><a class="button" href=${address} download=${name}><${Icon} name="clip" /> ${t("Download")} <bdi>${name}</bdi></a></p>
  `;
}

function Help() {
  return html`
    <table class="keys"><tbody>
      ${KEYS.map(({ keys, name }) => html`<tr><th scope="row">${keys.map((key) => html`<kbd>${key}</kbd> `)}</th><td>${t(name)}</td></tr>`)}
    </tbody></table>
  `;
}

/** The language is stored with the person, for all of their devices. */
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
  const others = otherLanguages();
  return html`
    <p><bdi>${state.me.full_name}</bdi> <span class="quiet">${state.me.email}</span></p>
    ${state.me.role !== "viewer" && html`<${Availability} state=${state} />`}
    <ul class="choices">
      <li><label><input type="checkbox" checked=${hasSound()} onChange=${(event) => setSound(event.target.checked)} /> ${t("Sound")}</label></li>
      <li><label><input type="checkbox" checked=${canNotify()} disabled=${canNotify()} onChange=${allowNotifications} /> ${t("Browser notifications")}</label></li>
      ${state.me.role !== "viewer" && html`<li><label><input type="checkbox" checked=${entersSend()} onChange=${(event) => setEnterSends(event.target.checked)} /> ${t("Enter sends, Shift+Enter starts a new line")}</label></li>`}
      <li><button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "devices" } })}>${t("Notifications on your devices")}</button></li>
      ${state.me.role !== "viewer" && html`<li><button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "replies" } })}>${t("Saved replies")}</button></li>`}
      <li><button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "help" } })}>${t("Keyboard shortcuts")} <kbd>?</kbd></button></li>
      <li><a class="button" href=${siteOf(state.me).address}>${siteOf(state.me).name}</a></li>
      ${mayTrain(state.me) && html`<li><a class="button" href="/admin/bots/bot/">${t("Bots")}</a></li>`}
      <li><a class="button" href="/admin/profile/">${t("Profile")}</a></li>
      <li><button type="button" onClick=${() => signOut().catch(chats.report)}>${t("Sign out")}</button></li>
    </ul>
    ${others.length > 0 && html`<h3 id="languages">${t("Language")}</h3><ul class="choices" aria-labelledby="languages">
      ${others.map((code) => html`<li key=${code}><button type="button" lang=${code} onClick=${() => turnTo(code)}>${nameOf(code)}</button></li>`)}
    </ul>`}
  `;
}

const KINDS = {
  notifications: [msg("Notifications"), Notifications],
  filters: [msg("Filter conversations"), Filters],
  palette: [msg("Search everything"), Palette],
  assign: [msg("Assign…"), Assign],
  snooze: [msg("Snooze"), Snooze],
  block: [msg("Block this customer?"), Block],
  priority: [msg("Priority"), Priority],
  merge: [msg("Merge these customers?"), Merge],
  edit: [msg("Edit message"), Edit],
  delete: [msg("Delete this message?"), Delete],
  tags: [msg("Tags"), Tags],
  templates: [msg("Send a template"), Templates],
  new: [msg("New conversation"), NewChat],
  picture: [msg("Image"), Picture],
  source: [msg("Sources"), Source],
  receipt: [msg("Why did the bot say this?"), Receipt],
  replies: [msg("Saved replies"), Replies],
  devices: [msg("Notifications on your devices"), ({ state }) => html`<${Devices} me=${state.me} />`],
  help: [msg("Keyboard shortcuts"), Help],
  menu: [msg("Settings"), Menu],
};
