/** Icons drawn as lines, since not every system has characters for them. */

import { html } from "../common/html.js";

const PATHS = {
  lock: "M5 11h14v9H5zM8 11V8a4 4 0 0 1 8 0v3",
  clip: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.5 17a1.7 1.7 0 0 1-2.4-2.4l7.4-7.4",
  spark: "M12 3l2 6 6 2-6 2-2 6-2-6-6-2 6-2zM19 3v4M21 5h-4",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.01",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  alert: "M12 4L2.5 20h19zM12 10v4M12 17v.01",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c.7-3.5 3.7-5 8-5s7.3 1.5 8 5z",
  pen: "M4 20l1-4L16 5l3 3L8 19z",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
