/** What comes before a chat: the terms, and the form that asks who the visitor is. */
import { html } from "../../common/html.js";
import { useEffect, useRef } from "../../vendor/preact-hooks.js";
import { Words } from "./message.js";

// Answers that are the customer's own and no attribute.
const OWN = ["name", "email", "phone"];
const INPUTS = { text: "text", email: "email", phone: "tel", number: "number", date: "date" };
const COMPLETE = { name: "name", email: "email", phone: "tel" };

export function Terms({ terms, onAgree, t }) {
  const button = useRef(null);
  useEffect(() => button.current.focus({ preventScroll: true }), []);
  return html`<section class="before">
    <h2>${t("terms")}</h2>
    <div class="terms" tabindex="0" role="region" aria-label=${t("terms")}>
      <p class="words" dir="auto"><${Words} text=${terms} /></p>
    </div>
    <button class="main" ref=${button} onClick=${onAgree}>${t("agree")}</button>
  </section>`;
}

export function Introduction({ fields, onDone, t }) {
  const submit = (event) => {
    event.preventDefault();
    onDone(customerOf(fields, new FormData(event.target)));
  };
  return html`<form class="before" onSubmit=${submit}>
    <h2>${t("introduce")}</h2>
    ${fields.map((field, at) => html`<${Field} field=${field} isFirst=${at === 0} t=${t} />`)}
    <button class="main">${t("start")}</button>
  </form>`;
}

function Field({ field, isFirst, t }) {
  const input = useRef(null);
  useEffect(() => isFirst && input.current.focus(), []);
  const shared = { ref: input, name: field.name, required: field.required };
  return html`<label class="field">
    <span dir="auto">${field.label}${field.required ? " *" : ""}</span>
    ${field.type === "select"
      ? html`<select ...${shared}>
          <option value="">${t("choose")}</option>
          ${field.options.map((option) => html`<option value=${option.value}>${option.label}</option>`)}
        </select>`
      : html`<input ...${shared} type=${INPUTS[field.type]} step="any" maxlength="500" autocomplete=${COMPLETE[field.name] ?? "off"} />`}
  </label>`;
}

/** The form's answers, as the API takes a customer. */
function customerOf(fields, form) {
  const customer = { attributes: {} };
  for (const { name, type } of fields) {
    const answer = String(form.get(name) ?? "").trim();
    if (!answer) continue;
    const value = type === "number" ? Number(answer) : answer;
    if (OWN.includes(name)) customer[name] = value;
    else customer.attributes[name] = value;
  }
  return customer;
}
