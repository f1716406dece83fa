/** An approved template of chatapp: chosen, filled in, and sent at any time, also after the reply window. */

import { html } from "../common/html.js";
import { msg, t } from "../common/words.js";
import { Component } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { reasonOf } from "./chats.js";
import { label } from "./labels.js";
import { dispatch, toast } from "./store.js";

const FILES = {
  image: msg("Link to the image"),
  video: msg("Link to the video"),
  file: msg("Link to the document"),
};
const MOST = 100;
const close = () => dispatch({ type: "dialog", dialog: null });

/** Whether a chat takes templates, whoever has it. */
export const takesTemplates = (state, chat) =>
  chat.channel === "chatapp" && chat.status !== "ended" && state.customers[chat.customer_id]?.opt_out !== "all";

/** All templates of the bot's number. */
async function templatesOf(path) {
  const found = [];
  let cursor = "";
  do {
    const page = await get(path, { limit: MOST, ...(cursor ? { cursor } : {}) });
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}

export class Templates extends Component {
  state = { items: null, chosen: 0, fault: null };
  ownId = crypto.randomUUID(); // sent twice, it is stored once

  get chat() {
    return this.props.state.chats[this.props.ids[0]];
  }

  get path() {
    return `/chatapp/${this.props.state.config.client_id}/templates/${this.chat.bot_id}`;
  }

  async componentDidMount() {
    try {
      this.setState({ items: await templatesOf(this.path) });
    } catch (error) {
      this.setState({ items: [], fault: reasonOf(error) });
    }
  }

  send = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const { name, language, header_file: kind } = this.state.items[this.state.chosen];
    const header = kind ? { header: { type: kind, url: form.get("header") } } : {};
    const body = { conversation_id: this.chat.id, name, language, values: form.getAll("value"), ...header, client_message_id: this.ownId };
    this.setState({ isSending: true, fault: null });
    try {
      await post(this.path, body);
      close();
      toast(t("Template sent."), { seconds: 3 });
    } catch (error) {
      this.setState({ isSending: false, fault: reasonOf(error) });
    }
  };

  render(_, { items, chosen, fault, isSending }) {
    if (!items) return html`<p class="quiet" role="status">${t("Loading…")}</p>`;
    const problem = fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`;
    if (!items.length) return problem || html`<p>${t("This number has no templates. Create them with the provider.")}</p>`;
    const template = items[chosen];
    return html`
      <form onSubmit=${this.send}>
        <label>${t("Template")} <select autofocus onChange=${(event) => this.setState({ chosen: Number(event.target.value), fault: null })}>
          ${items.map((item, place) => html`<option key=${place} value=${place}>${item.name} (${item.language}) · ${item.category}</option>`)}
        </select></label>
        <p class="said" dir="auto">${template.text}</p>
        ${template.problem
          ? html`<p class="fault" role="status">${t("This template can't be sent: {problem}", { problem: template.problem })}</p>`
          : html`<${Fields} key=${chosen} template=${template} />`}
        ${problem}
        <button type="submit" class="first" disabled=${Boolean(template.problem) || isSending}>${t("Send")}</button>
      </form>
    `;
  }
}

function Fields({ template }) {
  const { variables, header_file: kind } = template;
  return html`
    ${kind && html`<label>${label(FILES, kind)} <input type="url" name="header" required pattern="https?://.*" maxlength="2000" /></label>`}
    ${variables.map((name, place) => html`
      <label key=${place}>${t("Value for {name}", { name })} <input name="value" required maxlength="1024" dir="auto" /></label>
    `)}
  `;
}
