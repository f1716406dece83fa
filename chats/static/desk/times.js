/** Times as people read them, in the language of the desk. */


import { language, msg, t } from "../common/i18n.js";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How the person writes times in this language, such as `en-GB`. */
const LOCALE = navigator.languages.find((code) => code.startsWith(language)) ?? language;

const formats = new Map();

/** A formatter of the browser. Making one takes long, and a transcript needs a hundred. */
function formatter(kind, options) {
  const name = `${kind.name} ${JSON.stringify(options)}`;
  if (!formats.has(name)) formats.set(name, new kind(LOCALE, options));
  return formats.get(name);
}

/** A moment, written as the options say; its hours run to 23, as on the site. */
export function written(moment, options) {
  return formatter(Intl.DateTimeFormat, { hourCycle: "h23", ...options }).format(new Date(moment));
}

/** How long, short: `4 min`, `2.5 h`. */
export function span(milliseconds) {
  const tenths = (length) => Math.floor((milliseconds / length) * 10) / 10;
  const unit = (count, name) =>
    formatter(Intl.NumberFormat, { style: "unit", unit: name, unitDisplay: "short" }).format(count);
  if (milliseconds < HOUR) return unit(Math.max(Math.floor(milliseconds / MINUTE), 0), "minute");
  if (milliseconds < DAY) return unit(tenths(HOUR), "hour");
  return unit(tenths(DAY), "day");
}

export function clock(moment) {
  return written(moment, { hour: "2-digit", minute: "2-digit" });
}

/** The day of a moment in words. */
export function day(moment, now) {
  const days = Math.round((midnight(now) - midnight(moment)) / DAY);
  if (days === 0) return t("Today");
  if (days === 1) return t("Yesterday");
  const isThisYear = new Date(moment).getFullYear() === new Date(now).getFullYear();
  return written(moment, {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: isThisYear ? undefined : "numeric",
  });
}

export function dayAndClock(moment) {
  return written(moment, { dateStyle: "medium", timeStyle: "short" });
}

export function midnight(moment) {
  return new Date(moment).setHours(0, 0, 0, 0);
}

/** A language by its code, in words. */
export function languageName(code) {
  try {
    return formatter(Intl.DisplayNames, { type: "language" }).of(code) ?? code;
  } catch {
    return code; // a code that the browser does not know
  }
}

/** How urgent a wait is: empty, `soon` from half of the target on, `late` from the target on. */
export function urgency(since, now, targetSeconds) {
  if (!since) return "";
  const share = (now - Date.parse(since)) / 1000 / targetSeconds;
  if (share >= 1) return "late";
  return share >= 0.5 ? "soon" : "";
}

/** The end time of a block without a time limit. */
export const FOREVER = "9999-01-01T00:00:00.000Z";

/** The offered ends of a block. */
export function blockPresets(now) {
  const after = (days) => new Date(now + days * DAY).toISOString();
  return [[msg("1 day"), after(1)], [msg("1 week"), after(7)], [msg("1 month"), after(30)], [msg("Until you unblock them"), FOREVER]];
}

/** The offered ends of a snooze that lie in the future. */
export function snoozePresets(now) {
  const at = (days, hour) => new Date(midnight(now + days * DAY)).setHours(hour);
  const untilMonday = ((8 - new Date(now).getDay()) % 7) || 7;
  const presets = [
    [msg("For 1 hour"), now + HOUR],
    [msg("Until 18:00 today"), at(0, 18)],
    [msg("Until 9:00 tomorrow"), at(1, 9)],
    [msg("Until 9:00 Monday"), at(untilMonday, 9)],
  ];
  // On a Sunday the last two are the same.
  const isFirst = ([, until], place) => presets.findIndex(([, other]) => other === until) === place;
  return presets.filter(isFirst).filter(([, until]) => until > now).map(([name, until]) => ({ name, until: new Date(until) }));
}
