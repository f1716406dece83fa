/** Icons as pictures, since not every device has characters for them. */
import { html } from "../../common/html.js";

const PATHS = {
  attach: "M8 12.5 14.5 6a3 3 0 0 1 4.3 4.3l-8 8a5 5 0 0 1-7.1-7.1l8-8",
  up: "M7 11v9H4v-9zm0 0 4-7a2 2 0 0 1 2 2v4h5a2 2 0 0 1 2 2l-1.5 6a2 2 0 0 1-2 2H7",
  down: "M17 13V4h3v9zm0 0-4 7a2 2 0 0 1-2-2v-4H6a2 2 0 0 1-2-2l1.5-6a2 2 0 0 1 2-2H17",
  send: "M4 12 20 4l-5 16-3.5-6.5zM11.5 13.5 20 4",
  back: "M15 5l-7 7 7 7",
  close: "M6 6l12 12M18 6 6 18",
  large: "M14 4h6v6l-6-6M10 20H4v-6l6 6M20 4l-7 7M4 20l7-7",
  small: "M20 10h-6V4l6 6M4 14h6v6l-6-6M14 10l7-7M10 14l-7 7",
  more: "M5 12h.01M12 12h.01M19 12h.01",
};

export const Icon = ({ name }) => html`<svg class=${`sign ${name}`} viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
