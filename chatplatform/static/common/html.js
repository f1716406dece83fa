/** Markup as tagged templates: html`<p>${words}</p>`. Values in braces are text, never markup. */
import htm from "../vendor/htm.js";
import { h } from "../vendor/preact.js";

export const html = htm.bind(h);
