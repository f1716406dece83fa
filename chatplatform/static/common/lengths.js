/** How long a text may be. Excess is reported beside the field, because `maxlength` would silently cut pasted text. */
import { html } from "./html.js";
import { tn } from "./i18n.js";

// Maximum characters of a message, and of the comment with a rating.
export const LONGEST = 8000;
export const LONGEST_COMMENT = 2000;

/** By how many characters, as the server counts them, a text is too long. */
export const excess = (text, most = LONGEST) => (text.length > most ? Math.max(0, [...text.trim()].length - most) : 0);

export function TooLong({ text, most }) {
  const count = excess(text, most);
  const said = () => tn("{count} character too many. Shorten the text to send it.", "{count} characters too many. Shorten the text to send it.", count);
  return count > 0 && html`<p class="wrong fault" data-too-long role="status">${said()}</p>`;
}
