/** Shown if nobody answers at once: when somebody is available, and how the answer reaches a visitor who has left. */
import { html } from "../../common/html.js";
import { t } from "../../common/i18n.js";
import { ownZone } from "../api.js";

const DAY = 24 * 3600 * 1000; // milliseconds
const UNITS = [["minute", 1, 90], ["hour", 60, 36 * 60], ["day", 24 * 60, Infinity]];

/** When somebody is available, if nobody is now. */
export function whenThere(config, locale) {
  if (config.is_open) return config.agents_online ? null : t("No one is online right now. We'll answer here as soon as we're back.");
  return config.opens_at ? t("We're closed. Back on {day} at {time}.", opening(config, locale)) : t("We're closed.");
}

/** The next opening in the reader's time zone. If it is unknown, the company's time; if it has another time, the company's is added, as
in the platform's messages (`business_hours.with_opening`). */
function opening({ opens_at: opensAt, timezone: companys }, locale) {
  const at = new Date(opensAt);
  const isNear = at - Date.now() < 6 * DAY;
  const written = (timeZone) => ({
    day: at.toLocaleDateString(locale, { weekday: "long", timeZone, ...(!isNear && { day: "numeric", month: "long" }) }),
    time: at.toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone }),
  });
  const there = written(companys);
  if (!ownZone) return there;
  const here = written(ownZone);
  if (here.day === there.day && here.time === there.time) return here;
  const named = here.day === there.day ? there.time : `${there.day}, ${there.time}`;
  return { day: here.day, time: `${here.time} (${named} ${spoken(at, companys, locale)})` };
}

/** What people call a zone's time: "Central European Time"; older browsers give its distance from GMT. */
function spoken(at, timeZone, locale) {
  if (/^(Etc\/)?UTC$/.test(timeZone)) return "UTC";
  const name = (timeZoneName) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(at).find(({ type }) => type === "timeZoneName").value;
  try {
    return name("longGeneric");
  } catch {
    return name("short");
  }
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
  return isOnline && config.answers_by_mail && !isReachable(chat, config) && !isSoon;
}

/** Whether the visitor left an address, or the phone number for which the company asks. */
const isReachable = ({ customer: { email, phone } }, { customer_info_fields: fields }) =>
  email || (phone && fields.some(({ name }) => name === "phone"));

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
