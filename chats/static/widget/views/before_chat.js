/** Before a chat: the terms, and the form that asks who the visitor is. */
import { html } from "../../common/html.js";
import { msg, t } from "../../common/i18n.js";
import { useEffect, useRef } from "../../vendor/preact-hooks.js";
import { PlainText } from "../../common/message_text.js";

// Values that the server certainly refuses (`problem` in `bots/language/slot_filling.py`).
const PATTERNS = { email: /^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$/, phone: /(\p{Nd}\D*){6}/u };
const WRONG = { email: msg("Enter a valid email address."), phone: msg("Enter a valid phone number.") };
const INPUTS = { text: "text", email: "email", phone: "tel", number: "number", date: "date" };
const COMPLETE = { name: "name", email: "email", phone: "tel" };

export function Terms({ terms, onAgree }) {
  const button = useRef(null);
  useEffect(() => button.current.focus({ preventScroll: true }), []);
  return html`<section class="before">
    <h2>${t("Before we start")}</h2>
    <div class="terms" tabindex="0" role="region" aria-label=${t("Before we start")}>
      <p class="text" dir="auto"><${PlainText} text=${terms} /></p>
    </div>
    <button class="main" ref=${button} onClick=${onAgree}>${t("I agree")}</button>
  </section>`;
}

export function Introduction({ state, fields, actions }) {
  const { drafts, faults, outbox } = state;
  const form = useRef(null);
  const wrong = fields.filter(({ name }) => faults[name]);
  // Focuses the first field with a fault.
  useEffect(() => form.current.elements[(wrong[0] ?? fields[0]).name].focus(), [faults]);
  const submit = (event) => {
    event.preventDefault();
    const found = fields.filter((field) => isWrong(field, form.current.elements[field.name]));
    actions.introduce({ known: !found.length, faults: Object.fromEntries(found.map(({ name }) => [name, true])) });
  };
  const answer = (name, value) => actions.draft({ answers: { ...drafts.answers, [name]: value } });
  return html`<form class="before" ref=${form} noValidate onSubmit=${submit}>
    <h2>${t("Before we start")}</h2>
    ${outbox.length > 0 && html`<p class="kept" dir="auto">${t("We'll send this message when you start the chat:")} “${outbox[0].text}”</p>`}
    ${fields.map(
      (field) => html`<${Field} field=${field} value=${drafts.answers[field.name] ?? ""} isWrong=${faults[field.name]} onAnswer=${answer} />`,
    )}
    <button class="main">${t("Start chat")}</button>
  </form>`;
}

/** Whether the server would refuse the value of the field. */
function isWrong({ type, required }, { value, validity }) {
  const answer = value.trim();
  if (!answer) return required || validity.badInput;
  return PATTERNS[type] ? !PATTERNS[type].test(answer) : validity.badInput;
}

function Field({ field, value, isWrong, onAnswer }) {
  const { name, type, label, required, options } = field;
  const reason = `wrong-${name}`;
  const shared = { name, required, value, "aria-invalid": isWrong ? "true" : null, "aria-describedby": isWrong ? reason : null };
  const onInput = (event) => onAnswer(name, event.target.value);
  return html`<div>
    <label class="field">
      <span dir="auto">${label}${required ? " *" : ""}</span>
      ${type === "select"
        ? html`<select ...${shared} onChange=${onInput}>
            <option value="">${t("Choose…")}</option>
            ${options.map((option) => html`<option value=${option.value} selected=${option.value === value}>${option.label}</option>`)}
          </select>`
        : html`<input ...${shared} onInput=${onInput} type=${INPUTS[type]} step="any" maxlength="500" autocomplete=${COMPLETE[name] ?? "off"} />`}
    </label>
    ${isWrong && html`<p class="wrong" id=${reason}>${value.trim() ? t(WRONG[type] ?? msg("Please check this answer.")) : t("Please fill this in.")}</p>`}
  </div>`;
}
