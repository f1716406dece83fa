/** What desk and widget show of messages. Visitors' text is shown as they typed it; ours may have marks. */
import { html } from "./html.js";
import { t } from "./i18n.js";
import { blocks, linked, marked } from "./rich_text.js";

const joined = (...values) => values.filter((value) => value || value === 0).join(", ");

/** For each type of part that is neither a text nor a file: what a part says besides its text, in one line. */
const LINES = {
  location: ({ text, location }) => {
    const { city, region, country, latitude, longitude } = location ?? {};
    return t("Location: {where}", { where: text || joined(city, region, country) || joined(latitude, longitude) });
  },
};

export const lineOf = (part) => LINES[part.type]?.(part);

/** A location is without one: its line contains its text. */
export const textBesideLine = ({ type, text }) => type !== "location" && text;

export const wordsOf = (part) => [textBesideLine(part) || part.file_name, lineOf(part)].filter(Boolean).join(" ");

/** A message in one line. */
export const excerptOf = ({ content }) => content.map(wordsOf).join(" ").replace(/\s+/g, " ").trim();

const CITED = /\s*\[(\d{1,4}(?:, ?\d{1,4})*)\]/g;

/** The number of a source, behind the statement that it supports. */
export const raised = (number) => String(number).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

const link = (href, words) =>
  /^https?:/.test(href)
    ? html`<a href=${href} title=${href} target="_blank" rel="noopener noreferrer nofollow">${words}</a>`
    : html`<a href=${href} target="_top">${words}</a>`;

/** Text with its links. */
export function PlainText({ text }) {
  return linked(text).map(({ text: words, href }) => (href ? link(href, words) : words));
}

/** Text with links and marks. `places` are those of the sources below, by the numbers that the bot cites them with. */
export function Rich({ text, places = new Map() }) {
  const line = (words) => marked(words).map((piece) => drawn(piece, places));
  return blocks(text).map(({ kind, text: words, start, items }) => {
    if (kind === "code") return html`<pre><code>${words}</code></pre>`;
    if (kind === "text") return html`<p>${line(words.trimEnd())}</p>`;
    const lines = items.map((item) => html`<li dir="auto">${line(item)}</li>`);
    return start === null ? html`<ul>${lines}</ul>` : html`<ol start=${start}>${lines}</ol>`;
  });
}

function drawn({ text, href, isBold, isCode }, places) {
  if (isCode) return html`<code>${text}</code>`;
  const words = href ? link(href, text) : text.replace(CITED, (mark, numbers) => raisedAll(mark, numbers.split(","), places));
  return isBold ? html`<strong>${words}</strong>` : words;
}

function raisedAll(mark, numbers, places) {
  const known = numbers.map((number) => places.get(Number(number)));
  return known.every(Boolean) ? [...new Set(known)].map(raised).join(" ") : mark;
}
