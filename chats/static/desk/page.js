/** The whole page: the bar above the panes, and the panes. */

import { signIn } from "./api.js";
import { Card } from "./card.js";
import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Dialogs } from "./dialogs.js";
import { CONNECTIONS, label } from "./labels.js";
import { List } from "./list.js";
import { holdsFiles } from "./outbox.js";
import { dispatch } from "./store.js";
import { Thread } from "./thread.js";

export function Page({ state }) {
  if (!state.me) return html`<${Banner} state=${state} /><p class="alone" role="status">${t("Loading…")}</p>`;
  const chat = state.chats[state.openId];
  return html`
    <header class="hidden"><h1>${t("Inbox")}</h1></header>
    <${Banner} state=${state} />
    <main class="panes" data-pane=${state.pane}>
      <${List} state=${state} />
      ${chat ? html`<${Thread} key=${chat.id} state=${state} chat=${chat} />` : html`<${Nothing} />`}
      ${chat && html`<${Card} state=${state} chat=${chat} />`}
      <${Toasts} toasts=${state.toasts} />
    </main>
    <${Dialogs} state=${state} />
  `;
}

function Nothing() {
  return html`<section class="thread nothing"><h2 class="quiet">${t("Select a conversation.")}</h2></section>`;
}

/** Says that the desk is not connected, if so. Files last as long as the page: it stays open for the sign-in. */
function Banner({ state }) {
  const { connection } = state;
  if (connection === "live" || (connection === "connecting" && !state.me)) return null;
  return html`
    <div class="banner" role="alert">
      ${label(CONNECTIONS, connection)}
      ${connection === "signed_out" && html` <a href=${signIn()} target=${holdsFiles(state) ? "_blank" : undefined}>${t("Sign in")}</a>`}
    </div>
  `;
}

/** The latest message to show. */
function Toasts({ toasts }) {
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.slice(-1).map(
        ({ id, text, undo, open, isFault }) => html`
          <div class=${isFault ? "toast fault" : "toast"} key=${id}>
            <span dir="auto">${text}</span>
            ${undo && html`<button type="button" onClick=${undo}>${t("Undo")} <kbd>Z</kbd></button>`}
            ${open && html`<button type="button" onClick=${open}>${t("Open")} ${!isFault && html`<kbd>G</kbd>`}</button>`}
            <button type="button" aria-label=${t("Close")} onClick=${() => dispatch({ type: "untoast", id })}>×</button>
          </div>
        `,
      )}
    </div>
  `;
}
