/** An approved template of chatapp: chosen, filled in, and sent at any time, even after the reply window has closed. */

import { html } from "../common/html.js";
import { msg, t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { open, reasonOf } from "./chats.js";
import { label } from "./labels.js";
import { dispatch, toast } from "./store.js";
import { amount } from "./times.js";

const FILES = {
  image: msg("Link to the image"),
  video: msg("Link to the video"),
  file: msg("Link to the document"),
};
const MOST = 100;
const CAN_SEND = ["connected", "error"];
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

/** A number as people write it, "+49 (151) 1234-5678" or with "00" before it, in digits alone. */
const plainNumber = (text) => text.replace("(0)", "").replace(/[\s().\/\u2010-\u2015-]/g, "").replace(/^(\+|00)/, "");

/** Says with an example what a number is, if this is none. */
function checkNumber({ target }) {
  const isNumber = /^[1-9]\d{6,14}$/.test(plainNumber(target.value));
  target.setCustomValidity(isNumber || !target.value ? "" : t("Enter a phone number with its country code, such as +49 151 12345678."));
}

/** A template to the customer of a chat. */
export function Templates({ state, ids: [id] }) {
  const chat = state.chats[id];
  return html`<${TemplateForm} state=${state} botId=${chat.bot_id} target=${{ conversation_id: id }} onSent=${close} />`;
}

/** A template to a number that may never have written, from one of the numbers that can send. */
export class NewChat extends Component {
  state = { numbers: null, chosen: 0, fault: null };

  async componentDidMount() {
    const { config, bots } = this.props.state;
    const connectionOf = ({ id }) => get(`/chatapp/${config.client_id}/connection/${id}`);
    const found = await Promise.allSettled(Object.values(bots).map(connectionOf));
    const numbers = found.flatMap(({ value }) => (CAN_SEND.includes(value?.status) ? value : []));
    const failed = found.find(({ reason }) => reason);
    this.setState({ numbers, fault: !numbers.length && failed ? reasonOf(failed.reason) : null });
  }

  sent = ({ conversation_id: id }) => {
    close();
    open(id);
  };

  render({ state }, { numbers, chosen, fault }) {
    if (!numbers) return html`<p class="quiet" role="status">${t("Loading…")}</p>`;
    if (fault) return html`<p class="fault" role="alert" dir="auto">${fault}</p>`;
    if (!numbers.length) return html`<p>${t("To start a conversation, you need a connected Chatapp number. Ask an owner or admin to connect one.")}</p>`;
    const nameOf = ({ account_name: name, account_id: id, bot_id: bot }) => `${name || id} · ${state.bots[bot].bot_name}`;
    return html`
      ${numbers.length > 1 && html`
        <label>${t("From")} <select onChange=${(event) => this.setState({ chosen: Number(event.target.value) })}>
          ${numbers.map((number, place) => html`<option key=${place} value=${place}>${nameOf(number)}</option>`)}
        </select></label>
      `}
      <${TemplateForm} key=${chosen} state=${state} botId=${numbers[chosen].bot_id} onSent=${this.sent}>
        <label>${t("Phone number with country code")} <input type="tel" name="number" autofocus required maxlength="40" autocomplete="off" onInput=${checkNumber} /></label>
        <label>${t("How did they agree to get messages?")} <input name="consent" required maxlength="500" dir="auto" /></label>
      </${TemplateForm}>
    `;
  }
}

/** Chooses a template of the bot's number, fills it in and sends it to the `target`, or to the number in the form. */
class TemplateForm extends Component {
  state = { items: null, chosen: 0, fault: null };
  ownId = crypto.randomUUID(); // stored only once, even if it is sent twice

  get path() {
    return `/chatapp/${this.props.state.config.client_id}/templates/${this.props.botId}`;
  }

  async componentDidMount() {
    try {
      // Prices may have been entered since the desk was loaded.
      const settings = get(`/config/${this.props.state.config.client_id}/chat`);
      const [items, { message_prices: prices }] = await Promise.all([templatesOf(this.path), settings]);
      this.setState({ items, prices });
    } catch (error) {
      this.setState({ items: [], fault: reasonOf(error) });
    }
  }

  send = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const { name, language, header_file: kind } = this.state.items[this.state.chosen];
    const header = kind ? { header: { type: kind, url: form.get("header") } } : {};
    const target = this.props.target ?? { recipient_id: plainNumber(form.get("number")), consent: form.get("consent") };
    const body = { ...target, name, language, values: form.getAll("value"), ...header, client_message_id: this.ownId };
    this.setState({ isSending: true, fault: null });
    try {
      const message = await post(this.path, body);
      this.props.onSent(message);
      toast(t("Template sent."), { seconds: 3 });
    } catch (error) {
      this.setState({ isSending: false, fault: reasonOf(error) });
    }
  };

  render({ children }, { items, prices, chosen, fault, isSending }) {
    if (!items) return html`<p class="quiet" role="status">${t("Loading…")}</p>`;
    const problem = fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`;
    if (!items.length) return problem || html`<p>${t("This number has no templates. Create them with the provider.")}</p>`;
    const template = items[chosen];
    const price = prices[template.category];
    return html`
      <form onSubmit=${this.send}>
        ${children}
        <label>${t("Template")} <select autofocus=${!children} onChange=${(event) => this.setState({ chosen: Number(event.target.value), fault: null })}>
          ${items.map((item, place) => html`<option key=${place} value=${place}>${item.name} (${item.language}) · ${item.category}</option>`)}
        </select></label>
        <p class="said" dir="auto">${template.text}</p>
        ${price !== undefined && html`<p class="quiet" data-price>${t("Price per message: {price}", { price: amount(price) })}</p>`}
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
