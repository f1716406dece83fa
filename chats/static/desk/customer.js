/** The customer: their data, edited in place; whether they are blocked, or stored twice. */

import { html } from "../common/html.js";
import { msg, t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import { Refusal } from "./api.js";
import * as chats from "./chats.js";
import { reversible } from "./delayed.js";
import { Icon } from "./icons.js";
import { optOutName } from "./labels.js";
import { Face, blockName, customerName, faceOf } from "./people.js";
import { blockedUntil } from "./reducer.js";
import { dispatch } from "./store.js";

const FIELDS = [
  { name: "name", label: msg("Name"), most: 200 },
  { name: "email", label: msg("Email"), type: "email", most: 254 },
  { name: "phone", label: msg("Phone"), type: "tel", most: 40 },
];
/** The API's limits for all attributes of a customer. */
const MAX_ATTRIBUTES = 200;
const MAX_BYTES = 16_384;

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
    const optOutWords = optOutName(optOut, chat.channel);
    const others = doubles.filter((other) => other.id !== id && !state.gone[other.id]);
    return html`
      <div class="person"><${Face} ...${faceOf(chat)} /><h2><bdi>${customerName(chat)}</bdi></h2></div>
      <${Block} state=${state} chat=${chat} mayChange=${mayChange} />
      ${optOutWords && html`<p class="quiet" data-opt-out=${optOut}>${optOutWords}</p>`}
      <dl>
        ${FIELDS.map(({ name, label: words, ...field }) => html`<${Field} key=${name} ...${field} name=${name} label=${t(words)} value=${customer[name] ?? ""} mayChange=${mayChange}
          save=${(text) => chats.describe(id, { [name]: text || null })} explain=${() => t("This can't be saved. Check for typos.")} />`)}
        <${Fact} name=${t("Customer ID in your system")} value=${customer.external_id} />
      </dl>
      <${Attributes} id=${id} attributes=${customer.attributes} mayChange=${mayChange} />
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

/** The company's own data about the customer. */
class Attributes extends Component {
  adder = createRef();
  removed = null;

  /** The focus must not be lost with a field that is removed. */
  componentDidUpdate() {
    if (this.removed === null || Object.hasOwn(this.props.attributes, this.removed)) return;
    this.removed = null;
    if (document.activeElement === document.body) this.adder.current?.focus();
  }

  write(name, value) {
    return chats.describe(this.props.id, { attributes: { [name]: value } });
  }

  remove = async (name) => {
    const value = this.props.attributes[name];
    await this.write(name, null);
    this.removed = name;
    reversible(t("{name} was removed.", { name: asName(name) }), () => chats.attempt(() => this.write(name, value)));
  };

  /** A new value is a text, or a number where a bot asks for one. */
  add = async (name, text) => {
    try {
      await this.write(name, text);
    } catch (error) {
      const number = asNumber(text);
      if (number === null || !isOfBot(error)) throw error;
      await this.write(name, number);
    }
  };

  explain = (error, name, text) => whyRefused(error, { ...this.props.attributes, [name]: text });

  render({ attributes, mayChange }) {
    const taken = [...FIELDS.map(({ name }) => name), ...Object.keys(attributes)].map(asName);
    return html`
      <dl>${Object.entries(attributes).map(([name, value]) => html`<${Field} key=${name} name=${`attributes.${name}`} label=${asName(name)} value=${asText(value)} mayChange=${mayChange}
        save=${(text) => (text ? this.write(name, asBefore(text, value)) : this.remove(name))} remove=${() => this.remove(name)}
        explain=${(error, text) => this.explain(error, name, text)} />`)}</dl>
      ${mayChange && html`<${Addition} adder=${this.adder} taken=${taken} add=${this.add} explain=${this.explain} />`}
    `;
  }
}

/** What opens for editing when its pen is clicked, and keeps what is typed until it is saved. Escape cancels. */
class Editor extends Component {
  state = { isEdited: false, fault: "" };
  input = createRef();
  pen = createRef();

  componentDidUpdate(_, { isEdited }) {
    if (isEdited !== this.state.isEdited) (this.state.isEdited ? this.input : this.pen).current?.focus();
  }

  open = () => this.setState({ isEdited: true });

  leave = () => this.setState({ isEdited: false, fault: "" });

  /** `explain` says why the value is refused. */
  async attempt(act, explain) {
    try {
      await act();
      this.leave();
    } catch (error) {
      if (error instanceof Refusal && error.status === 422) this.setState({ fault: explain(error) });
      else chats.report(error);
    }
  }

  onKey = (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.leave();
  };
}

/** A value, perhaps empty. */
class Field extends Editor {
  save = (event) => {
    event.preventDefault();
    const { value, save, explain } = this.props;
    const text = this.input.current.value.trim();
    if (text === value) return this.leave();
    this.attempt(() => save(text), (error) => explain(error, text));
  };

  render({ name, label, type = "text", most, value, mayChange, remove, explain }, { isEdited, fault }) {
    if (!mayChange) return html`<${Fact} name=${label} value=${value} />`;
    if (!isEdited) {
      return html`<div><dt dir="auto">${label}</dt><dd><button type="button" class="plain value" data-field=${name} ref=${this.pen} onClick=${this.open}>
        <span dir="auto" class=${value ? "" : "quiet"}>${value || t("Add")}</span> <${Icon} name="pen" /><span class="hidden">${t("Edit {name}", { name: label })}</span></button></dd></div>`;
    }
    // A field of one line would drop the line breaks.
    const tag = value.includes("\n") ? "textarea" : "input";
    return html`<div><dt dir="auto">${label}</dt><dd><form onSubmit=${this.save} onKeyDown=${this.onKey}>
      <${tag} ref=${this.input} name=${name} type=${tag === "input" ? type : undefined} maxlength=${most} dir="auto" defaultValue=${value} aria-label=${label} aria-invalid=${String(Boolean(fault))} />
      ${fault && html`<span class="fault" role="alert">${fault}</span>`}
      <span class="acts"><button type="submit" class="first">${t("Save")}</button><button type="button" onClick=${this.leave}>${t("Cancel")}</button>
        ${remove && html`<button type="button" data-remove onClick=${() => this.attempt(remove, (error) => explain(error, null))}>${t("Remove")}</button>`}</span>
    </form></dd></div>`;
  }
}

/** A new attribute. */
class Addition extends Editor {
  pen = this.props.adder;

  save = (event) => {
    event.preventDefault();
    const { taken, add, explain } = this.props;
    const [name, text] = ["name", "value"].map((one) => event.target.elements[one].value.trim());
    if (taken.includes(asName(name))) this.setState({ fault: t("There is already an attribute named {name}.", { name: asName(name) }) });
    else this.attempt(() => add(name, text), (error) => explain(error, name, text));
  };

  render(_, { isEdited, fault }) {
    if (!isEdited) return html`<button type="button" class="link" data-add ref=${this.pen} onClick=${this.open}>${t("Add attribute")}</button>`;
    return html`<form onSubmit=${this.save} onKeyDown=${this.onKey} aria-label=${t("Add attribute")}>
      <label>${t("Name")} <input ref=${this.input} name="name" required pattern=".*\\S.*" dir="auto" /></label>
      <label>${t("Value")} <input name="value" required pattern=".*\\S.*" dir="auto" /></label>
      ${fault && html`<span class="fault" role="alert">${fault}</span>`}
      <span class="acts"><button type="submit" class="first">${t("Save")}</button><button type="button" onClick=${this.leave}>${t("Cancel")}</button></span>
    </form>`;
  }
}

/** Whether a value is refused since a bot asks for this attribute in another form. */
const isOfBot = ({ body }) => body?.detail?.[0]?.loc?.length > 2;

function whyRefused(error, attributes) {
  if (isOfBot(error)) return t("A bot asks customers for this, and the value doesn't fit: {detail}", { detail: error.message });
  if (Object.keys(attributes).length > MAX_ATTRIBUTES) return t("A customer can have at most {count} attributes. Remove one first.", { count: MAX_ATTRIBUTES });
  if (new Blob([JSON.stringify(attributes)]).size > MAX_BYTES) return t("Too long: all attributes of a customer can take up at most 16 KB.");
  return t("This can't be saved: {detail}", { detail: error.message });
}

/** What was typed, in the type that the value had; a text if that is impossible. */
function asBefore(text, before) {
  if (typeof before === "number") return asNumber(text) ?? text;
  if (typeof before === "boolean") return ["true", "false"].includes(text) ? text === "true" : text;
  if (typeof before !== "object") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(422, { detail: t("It isn't valid JSON.") });
  }
}

/** A number; null if the text is none, or one that would be stored inexactly. */
function asNumber(text) {
  const number = Number(text);
  return text && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : null;
}

/** An attribute's name in the style of the other labels. */
export const asName = (key) => key.charAt(0).toLocaleUpperCase() + key.slice(1);
export const asText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

export function Fact({ name, value }) {
  if (!value) return null;
  return html`<div><dt dir="auto">${name}</dt><dd dir="auto">${value}</dd></div>`;
}
