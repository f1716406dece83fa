/** Saved replies: a person's own, and shared ones, which only admins and owners change. */

import { html } from "../common/html.js";
import { language, t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import { Refusal, Unreachable, call, post, put } from "./api.js";
import { report } from "./chats.js";
import { everything } from "./live.js";
import { languageName } from "./times.js";

const PATH = "/ai/chat/saved-replies";

export class Replies extends Component {
  state = { replies: null, edited: null, doomed: null, fault: "" };
  first = createRef();

  componentDidMount() {
    this.attempt(() => null);
  }

  /** After the form is closed, the focus goes to the list. */
  componentDidUpdate(_, { edited }) {
    if (edited && !this.state.edited) this.first.current.focus();
  }

  /** Runs an action on the replies and reloads them, or says why it failed. */
  async attempt(act) {
    this.setState({ fault: "" });
    try {
      await act();
      this.setState({ replies: await everything(PATH), edited: null, doomed: null });
    } catch (error) {
      if (error instanceof Refusal) this.setState({ fault: error.message });
      else if (error instanceof Unreachable) this.setState({ fault: t("Can't reach the server. Try again.") });
      else report(error);
    }
  }

  show = (edited) => this.setState({ edited, doomed: null, fault: "" });
  store = (reply) => this.attempt(() => (reply.id ? put(`${PATH}/${reply.id}`, reply) : post(PATH, reply)));
  remove = ({ id }) => this.attempt(() => call("DELETE", `${PATH}/${id}`));

  render({ state }, { replies, edited, doomed, fault }) {
    const isAdmin = ["owner", "admin"].includes(state.me.role);
    return html`
      ${fault && html`<p class="fault" role="alert">${fault}</p>`}
      ${!replies && !fault && html`<p class="quiet" role="status">${t("Loading…")}</p>`}
      ${edited && html`<${Form} key=${edited.id ?? 0} state=${state} reply=${edited} isAdmin=${isAdmin} onSave=${this.store} onLeave=${() => this.show(null)} />`}
      ${replies && !edited && html`
        <p><button type="button" class="first" ref=${this.first} onClick=${() => this.show({ shortcut: "", texts: {}, is_shared: false })}>${t("New saved reply")}</button></p>
        ${!replies.length && html`<p class="quiet">${t("None")}</p>`}
        <ul class="replies">
          ${replies.map((reply) => html`<${Reply} key=${reply.id} reply=${reply} mayChange=${isAdmin || !reply.is_shared} isDoomed=${doomed === reply.id}
            onEdit=${() => this.show(reply)} onDoom=${(id) => this.setState({ doomed: id })} onRemove=${() => this.remove(reply)} />`)}
        </ul>
      `}
    `;
  }
}

function Reply({ reply, mayChange, isDoomed, onEdit, onDoom, onRemove }) {
  const { id, shortcut, texts, is_shared: isShared } = reply;
  return html`
    <li>
      <p><strong dir="auto">/${shortcut}</strong> ${isShared && html`<span class="quiet">${t("shared")}</span>`}</p>
      <p class="quiet" dir="auto">${texts[language] ?? Object.values(texts)[0]}</p>
      ${mayChange && !isDoomed && html`<p class="acts">
        <button type="button" aria-label=${t("Edit {name}", { name: shortcut })} onClick=${onEdit}>${t("Edit")}</button>
        <button type="button" aria-label=${t("Delete {name}", { name: shortcut })} onClick=${() => onDoom(id)}>${t("Delete")}</button></p>`}
      ${isDoomed && html`<p class="acts" role="status">${t("Delete /{name}?", { name: shortcut })}
        <button type="button" class="first" onClick=${onRemove}>${t("Delete")}</button>
        <button type="button" onClick=${() => onDoom(null)}>${t("Cancel")}</button></p>`}
    </li>
  `;
}

/** One reply, with a text for each language that it is written in. */
class Form extends Component {
  state = { languages: Object.keys({ ...(this.props.reply.id ? {} : { [language]: "" }), ...this.props.reply.texts }) };
  field = createRef();

  componentDidMount() {
    this.field.current.focus();
  }

  save = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const texts = this.state.languages.map((code) => [code, form.get(`text-${code}`).trim()]).filter(([, text]) => text);
    this.props.onSave({
      id: this.props.reply.id,
      shortcut: form.get("shortcut").trim().replace(/^\//, ""),
      texts: Object.fromEntries(texts),
      is_shared: form.get("is_shared") === "on",
    });
  };

  render({ state, reply, isAdmin, onLeave }, { languages }) {
    const offered = new Set(["en", "vi", ...Object.values(state.bots).flatMap((bot) => [bot.default_language, ...(bot.languages ?? [])])]);
    const others = [...offered].filter((code) => code && !languages.includes(code));
    const add = (event) => this.setState({ languages: [...languages, event.target.value] });
    return html`
      <form onSubmit=${this.save}>
        <label>${t("Shortcut")} <input name="shortcut" ref=${this.field} required maxlength="41" defaultValue=${reply.shortcut} /></label>
        ${languages.map((code, place) => html`<label key=${code}>${languageName(code)}
          <textarea name=${`text-${code}`} rows="4" maxlength="8000" dir="auto" required=${place === 0} defaultValue=${reply.texts[code] ?? ""}></textarea></label>`)}
        <label>${t("Add a language")} <select key=${languages.length} onChange=${add}><option value="" selected disabled hidden></option>
          ${others.map((code) => html`<option value=${code}>${languageName(code)}</option>`)}</select></label>
        <p class="quiet">${t("Filled in automatically:")} <code>{customer.name|${t("Customer")}}</code> <code>{agent.name}</code> <code>{bot.name}</code> <code>{client.name}</code> <code>{chat.code}</code></p>
        ${isAdmin && html`<label><input type="checkbox" name="is_shared" defaultChecked=${reply.is_shared} /> ${t("Share with your team")}</label>`}
        <p class="acts"><button type="submit" class="first">${t("Save")}</button>
          <button type="button" onClick=${onLeave}>${t("Back")}</button></p>
      </form>
    `;
  }
}
