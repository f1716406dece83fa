/** How a customer has rated the conversation or an answer. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { RATING_REASONS, label } from "./labels.js";

export function Stars({ count }) {
  return html`<span role="img" aria-label=${t("Rated {count} out of 5", { count })}>${"★".repeat(count)}</span>`;
}

function Thumb({ isUp }) {
  return html`<span role="img" aria-label=${isUp ? t("Rated as helpful") : t("Rated as not helpful")}>${isUp ? "👍" : "👎"}</span>`;
}

export function Rating({ feedback: { rating, thumb, reason, resolved, comment } }) {
  const words = [reason && label(RATING_REASONS, reason), resolved && t("solved"), resolved === false && t("not solved")];
  return html`
    <span data-rating=${thumb ?? rating}>${thumb ? html`<${Thumb} isUp=${thumb === "up"} />` : html`<${Stars} count=${rating} />`}
      <span class="quiet"> ${words.filter(Boolean).join(" · ")}</span></span>
    ${comment && html`<q class="said" dir="auto">${comment}</q>`}
  `;
}
