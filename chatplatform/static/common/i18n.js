/** The texts of the page. Scripts contain them in English; a catalogue that the page loads first translates them. */

const { texts = {}, plural } = globalThis.catalogue ?? {};

export const language = document.documentElement.lang;

/** Whether a text's language is known and not the page's. */
export const isForeign = (code) => Boolean(code) && code.split("-")[0] !== language;

/** Marks that would reverse the rest of a sentence; a person's name may contain them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => String(values[key]).replace(TURNS, ""));

/** A text in the page's language, with its values: `t(text, { name })` for "{name} wrote". */
export const t = (text, values = {}) => fill(texts[text] ?? text, values);

/** The form of a text that fits `{count}`. */
export function tn(one, many, count, values = {}) {
  const forms = texts[one];
  return fill(forms ? forms[plural(count)] : count === 1 ? one : many, { count, ...values });
}

/** Marks a text for translation that is passed to `t` later. */
export const msg = (text) => text;
