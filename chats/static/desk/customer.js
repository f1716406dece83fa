/** The customer: their data, edited in place; whether they are blocked, or stored twice. */

import { html } from "../common/html.js";
import { msg, t } from "../common/words.js";
import { Component, createRef } from "../vendor/preact.js";
import { Refusal } from "./api.js";
import * as chats from "./chats.js";
import { Icon } from "./icons.js";
import { OPT_OUTS, label } from "./labels.js";
import { Face, blockName, customerName, faceOf } from "./people.js";
import { blockedUntil } from "./reducer.js";
import { dispatch } from "./store.js";

const FIELDS = [
  { name: "name", label: msg("Name"), most: 200 },
  { name: "email", label: msg("Email"), type: "email", most: 254 },
  { name: "phone", label: msg("Phone"), type: "tel", most: 40 },
];

export class Customer extends Component {
  state = { doubles: [] };

  componentDidMount() {
    this.look();
  }

  componentDidUpdate({ chat: { customer: before } }) {
    const { customer } = this.props.chat;
    if (before.email !== customer.email || before.phone !== customer.phone) this.look();
  }

  /** Looks for others with the same address or number. */
  async look() {
    const { chat } = this.props;
    const doubles = await chats.duplicatesOf({ ...chat.customer, id: chat.customer_id }).catch(() => []);
    this.setState({ doubles });
  }

  render({ state, chat }, { doubles }) {
    const { customer, customer_id: id } = chat;
    const mayChange = state.me.role !== "viewer";
    const optOut = state.customers[id]?.opt_out;
    const others = doubles.filter((other) => other.id !== id && !state.gone[other.id]);
    return html`
      <div class="person"><${Face} ...${faceOf(chat)} /><h2><bdi>${customerName(chat)}</bdi></h2></div>
      <${Block} state=${state} chat=${chat} mayChange=${mayChange} />
      ${optOut in OPT_OUTS && html`<p class="quiet" data-opt-out=${optOut}>${label(OPT_OUTS, optOut)}</p>`}
      <dl>
        ${FIELDS.map((field) => html`<${Field} key=${field.name} ...${field} id=${id} value=${customer[field.name]} mayChange=${mayChange} />`)}
        <${Fact} name=${t("Customer ID in your system")} value=${customer.external_id} />
        ${Object.entries(customer.attributes).map(([key, value]) => html`<${Fact} key=${key} name=${asName(key)} value=${asText(value)} />`)}
      </dl>
      ${others.map((other) => html`<p class="double" key=${other.id}>${t("Possible duplicate: {name}", { name: other.name || other.email || other.phone })}${" "}
        ${mayChange && html`<button type="button" class="link" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "merge", customers: [{ ...customer, id }, other] } })}>${t("Merge…")}</button>`}</p>`)}
    `;
  }
}

function Block({ state, chat, mayChange }) {
  const until = blockedUntil(state, chat);
  const reason = state.customers[chat.customer_id]?.block_reason;
  if (!until) {
    const ask = () => dispatch({ type: "dialog", dialog: { kind: "block", ids: [chat.id] } });
    return mayChange && html`<button type="button" onClick=${ask}>${t("Block…")}</button>`;
  }
  return html`
    <p class="fault">${blockName(until)}</p>
    ${reason && html`<p class="quiet" dir="auto">${reason}</p>`}
    ${mayChange && html`<button type="button" onClick=${() => chats.unblock(chat)}>${t("Unblock")}</button>`}
  `;
}

/** A value, perhaps empty; clicking it turns it into a field. Enter saves, Escape cancels. */
class Field extends Component {
  state = { isEdited: false, fault: "" };
  input = createRef();
  pen = createRef();

  componentDidUpdate(_, { isEdited }) {
    if (isEdited !== this.state.isEdited) (this.state.isEdited ? this.input : this.pen).current?.focus();
  }

  leave = () => this.setState({ isEdited: false, fault: "" });

  save = async (event) => {
    event.preventDefault();
    const { id, name, value } = this.props;
    const text = this.input.current.value.trim();
    if (text === (value ?? "")) return this.leave();
    try {
      await chats.describe(id, { [name]: text || null });
      this.leave();
    } catch (error) {
      if (error instanceof Refusal && error.status === 422) this.setState({ fault: t("This can't be saved. Check the spelling.") });
      else chats.report(error);
    }
  };

  onKey = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.leave();
  };

  render({ name, label, type = "text", most, value, mayChange }, { isEdited, fault }) {
    if (!mayChange) return html`<${Fact} name=${t(label)} value=${value} />`;
    if (!isEdited) {
      return html`<div><dt>${t(label)}</dt><dd><button type="button" class="plain value" data-field=${name} ref=${this.pen} onClick=${() => this.setState({ isEdited: true })}>
        <span dir="auto" class=${value ? "" : "quiet"}>${value || t("Add")}</span> <${Icon} name="pen" /><span class="hidden">${t("Edit {name}", { name: t(label) })}</span></button></dd></div>`;
    }
    return html`<div><dt>${t(label)}</dt><dd><form onSubmit=${this.save} onKeyDown=${this.onKey}>
      <input ref=${this.input} name=${name} type=${type} maxlength=${most} dir="auto" defaultValue=${value ?? ""} aria-label=${t(label)} aria-invalid=${String(Boolean(fault))} />
      ${fault && html`<span class="fault" role="alert">${fault}</span>`}
      <span class="acts"><button type="submit" class="first">${t("Save")}</button><button type="button" onClick=${this.leave}>${t("Cancel")}</button></span>
    </form></dd></div>`;
  }
}

/** An attribute's name in the style of the other labels. */
const asName = (key) => key.charAt(0).toLocaleUpperCase() + key.slice(1);
const asText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

export function Fact({ name, value }) {
  if (!value) return null;
  return html`<div><dt dir="auto">${name}</dt><dd dir="auto">${value}</dd></div>`;
}
