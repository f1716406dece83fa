/** Shown if nobody answers at once: when somebody is available, and how the answer reaches a visitor who has left. */
import { html } from "../../common/html.js";
import { t } from "../../common/i18n.js";

const DAY = 24 * 3600 * 1000; // milliseconds
const UNITS = [["minute", 1, 90], ["hour", 60, 36 * 60], ["day", 24 * 60, Infinity]];

/** When somebody is available, if nobody is now. */
export function whenThere({ is_open: isOpen, opens_at: opensAt, agents_online: online }, locale) {
  if (isOpen) return online ? null : t("No one is online right now. We'll answer here as soon as we're back.");
  if (!opensAt) return t("We're closed.");
  const at = new Date(opensAt);
  const time = at.toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" });
  if (at.toDateString() === new Date().toDateString()) return t("We're closed. Back today at {time}.", { time });
  const isNear = at - Date.now() < 6 * DAY;
  const day = at.toLocaleDateString(locale, isNear ? { weekday: "long" } : { weekday: "long", day: "numeric", month: "long" });
  return t("We're closed. Back on {day} at {time}.", { day, time });
}

/** How soon people answer, if that is known and they are available. */
export function howSoon({ is_open: isOpen, usual_wait_minutes: minutes }, locale) {
  if (!isOpen || !minutes) return null;
  const [unit, length] = UNITS.find(([, , end]) => minutes < end);
  const format = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" });
  return t("Our team usually replies in {time}.", { time: format.format(Math.round(minutes / length)) });
}

/** Whether an answer could be mailed, and nobody is available to give it soon. */
export function mayLeaveMail({ chat, config, isOnline }) {
  const isSoon = config.is_open && config.agents_online > 0;
  return isOnline && config.answers_by_mail && !chat.customer.email && !isSoon;
}

export function LeaveMail({ state, actions }) {
  const submit = (event) => {
    event.preventDefault();
    actions.leaveMail();
  };
  return html`<form class="later" onSubmit=${submit}>
    <label class="field"><span>${t("Leave your email and we'll get back to you:")}</span>
      <input type="email" required maxlength="254" autocomplete="email" value=${state.drafts.email}
        onInput=${(event) => actions.draft({ email: event.target.value })} /></label>
    <button class="main">${t("Save email")}</button>
  </form>`;
}
