/** Parses a text into plain data for drawing: links, and the few marks of Markdown that models and agents use. */

const WEB = /(?:https?:\/\/|www\.)[^\s<>"'`]+/;
const MAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/u;
// With a country code, or as it is dialled: order numbers begin with neither.
const PHONE = /(?<![\w.,/-])(?:\+|\(?0)\d[\d ().-]{6,22}\d(?![\w,/-])/;
const LINK = new RegExp([WEB, MAIL, PHONE].map(({ source }) => `(?:${source})`).join("|"), "gu");
const FEWEST_DIGITS = 9;
const BRACKETS = { ")": "(", "]": "[", "}": "{" };

/** A text in pieces: `{text}`, or `{text, href}` where it is a link. */
export function linked(text) {
  const pieces = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(LINK)) {
    const link = trimmed(found);
    const href = addressOf(link);
    if (!href || index < end) continue;
    if (index > end) pieces.push({ text: text.slice(end, index) });
    pieces.push({ text: link, href });
    end = index + link.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** A link without the punctuation of the sentence around it. A bracket that the link itself opened is its own. */
function trimmed(link) {
  for (let last; (last = link.at(-1)); link = link.slice(0, -1)) {
    const opening = BRACKETS[last];
    const isOwn = opening && link.split(opening).length >= link.split(last).length;
    if (isOwn || !/[.,;:!?…)\]}]/.test(last)) return link;
  }
  return link;
}

function addressOf(link) {
  if (/^https?:\/\/[^/]/i.test(link)) return link;
  if (/^www\.[^.]+\.[^.]/i.test(link)) return `https://${link}`;
  if (link.includes("@")) return `mailto:${link}`;
  const digits = link.replace(/\D/g, "");
  const isNumber = digits.length >= FEWEST_DIGITS && digits.length <= 15;
  return isNumber ? `tel:${link.startsWith("+") ? "+" : ""}${digits}` : null;
}

const CODE_BLOCK = /^```\w*\n?([\s\S]*?)(?:```|$)/;
const ITEM = /^ {0,8}(?:[-*•]|(\d{1,3})[.)])\s+(?=\S)(.*)$/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
// Code, bold, a link with its text; not an image.
const MARKS = /`([^`\n]+)`|\*\*(?=\S)(.+?\S?)\*\*(?!\*)|(?<!!)\[([^[\]\n]+)\]\((https?:\/\/[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)\)/g;

/** A text with marks, in blocks: `{kind: "text", text}`, `{kind: "code", text}`, `{kind: "list", start, items}`, where
`start` is the first number of a list that has numbers. */
export function blocks(text) {
  const found = [];
  for (const [at, part] of text.split(/(^```[\s\S]*?(?:^```[ \t]*$|$(?![\s\S])))/m).entries()) {
    if (at % 2) found.push({ kind: "code", text: part.match(CODE_BLOCK)[1].replace(/\n$/, "") });
    else if (part.trim()) found.push(...lines(part.replace(/^\n+|\n+$/g, "")));
  }
  return found;
}

function lines(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const item = ITEM.exec(line);
    const last = found.at(-1);
    if (item) {
      const isNumbered = item[1] !== undefined;
      if (last?.kind === "list" && (last.start !== null) === isNumbered) last.items.push(item[2]);
      else found.push({ kind: "list", start: isNumbered ? Number(item[1]) : null, items: [item[2]] });
    } else if (last?.kind === "text") last.text += `\n${bold(line)}`;
    else if (line.trim() || !last) found.push({ kind: "text", text: bold(line) });
  }
  return found;
}

const bold = (line) => line.replace(HEADING, (_, words) => (words ? `**${words.replaceAll("**", "")}**` : line));

/** A line with marks, in pieces: `{text, href?, isBold?, isCode?}`. */
export function marked(text) {
  const pieces = [];
  let end = 0;
  for (const found of text.matchAll(MARKS)) {
    const [whole, code, strong, words, href] = found;
    pieces.push(...linked(text.slice(end, found.index)));
    if (code) pieces.push({ text: code, isCode: true });
    else if (strong) pieces.push(...linked(strong).map((piece) => ({ ...piece, isBold: true })));
    else pieces.push({ text: words, href });
    end = found.index + whole.length;
  }
  return [...pieces, ...linked(text.slice(end))];
}
