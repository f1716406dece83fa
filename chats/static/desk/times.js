/** Times as people read them: in the language of the desk, and in the time zone of the site's pages. */

import { language, msg, t } from "../common/i18n.js";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How the person writes times in this language, such as `en-GB`. */
const LOCALE = navigator.languages.find((code) => code.startsWith(language)) ?? language;

const ZONE = known(document.documentElement.dataset.zone);

/** The time zone, unless the browser does not know it. */
function known(zone) {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) && zone;
  } catch {
    return undefined;
  }
}

const formats = new Map();

/** A formatter of the browser. Making one takes long, and a transcript needs a hundred. */
function formatter(kind, options, locale = LOCALE) {
  const name = `${kind.name} ${locale} ${JSON.stringify(options)}`;
  if (!formats.has(name)) formats.set(name, new kind(locale, options));
  return formats.get(name);
}

/** An amount of money, in a currency that is not known. */
export const amount = (value) => formatter(Intl.NumberFormat, { minimumFractionDigits: 2, maximumFractionDigits: 6 }).format(value);

/** A moment, written as the options say; its hours run to 23, as on the site. */
export function written(moment, options) {
  return formatter(Intl.DateTimeFormat, { hourCycle: "h23", timeZone: ZONE, ...options }).format(new Date(moment));
}

/** How long, short: `4 min`, `2 hr 48 min`, `2.5 days`. */
export function span(milliseconds) {
  const tenths = (length) => Math.floor((milliseconds / length) * 10) / 10;
  const unit = (count, name) =>
    formatter(Intl.NumberFormat, { style: "unit", unit: name, unitDisplay: "short" }).format(count);
  if (milliseconds < HOUR) return unit(Math.max(Math.floor(milliseconds / MINUTE), 0), "minute");
  if (milliseconds < DAY) {
    const minutes = Math.floor((milliseconds % HOUR) / MINUTE);
    return [unit(Math.floor(milliseconds / HOUR), "hour"), minutes > 0 && unit(minutes, "minute")].filter(Boolean).join(" ");
  }
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
  const isThisYear = fieldValue(moment).slice(0, 4) === fieldValue(now).slice(0, 4);
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

const CLOCK = {
  timeZone: ZONE, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
};

/** What the zone's clocks show at a moment, as the milliseconds of the same time in UTC. */
function wall(moment) {
  const parts = formatter(Intl.DateTimeFormat, CLOCK, "en-US").formatToParts(new Date(moment));
  const { year, month, day: date, hour, minute, second } = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(year, month - 1, date, hour, minute, second);
}

/** The moment at which the zone's clocks show a time. */
function momentOf(shown) {
  const offset = (moment) => wall(moment) - moment;
  return shown - offset(shown - offset(shown));
}

/** A moment as a browser's field for a date and time has it, and back. */
export const fieldValue = (moment) => new Date(wall(moment)).toISOString().slice(0, 16);
export const fieldMoment = (value) => momentOf(Date.parse(`${value}Z`));

/** The beginning of a day: of a moment's own day, or of one that many days later. */
export function midnight(moment, daysLater = 0) {
  const shown = wall(moment);
  return momentOf(shown - (shown % DAY) + daysLater * DAY);
}

/** A language by its code, in words. */
export function languageName(code) {
  try {
    return formatter(Intl.DisplayNames, { type: "language" }).of(code) ?? code;
  } catch {
    return code; // a code that the browser does not know
  }
}

const OVERDUE = 2;

/** How long a wait is: `usual`, `late` from the target on, `overdue` from twice the target on. */
export function urgency(since, now, targetSeconds) {
  const share = (now - Date.parse(since)) / 1000 / targetSeconds;
  if (share >= OVERDUE) return "overdue";
  return share >= 1 ? "late" : "usual";
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
  const at = (days, hour) => momentOf(wall(midnight(now, days)) + hour * HOUR);
  const untilMonday = ((8 - new Date(wall(now)).getUTCDay()) % 7) || 7;
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
