/** The start screen: how soon somebody answers, earlier chats, and sample questions. */
import { html } from "../../common/html.js";
import { t } from "../../common/i18n.js";
import { lastWords, personWords } from "../store.js";
import { howSoon, whenThere } from "./availability.js";

export function Home({ state, actions, locale }) {
  const { config, earlier, chat, messages } = state;
  const offered = [...config.sample_questions.map(({ question }) => question), personWords(state)].filter(Boolean);
  const soon = howSoon(config, locale) ?? (config.is_open ? null : whenThere(config, locale));
  return html`
    ${soon && html`<p class="soon">${soon}</p>`}
    ${earlier.length > 0 &&
    html`<section class="earlier">
      <h2>${t("Your chats")}</h2>
      <ul>${earlier.map((one) => html`<li><${Earlier} one=${one} text=${one.id === chat?.id && messages.length ? lastWords(messages) : one.text} actions=${actions} locale=${locale} /></li>`)}</ul>
    </section>`}
    ${offered.length > 0 &&
    html`<div class="options" role="group" aria-label=${t("Suggested questions")}>
      ${offered.map((words) => html`<button class="option" dir="auto" onClick=${() => actions.send(words)}>${words}</button>`)}
    </div>`}
  `;
}

function Earlier({ one, text, actions, locale }) {
  const time = new Date(one.at);
  const day = time.toLocaleDateString(locale, { day: "numeric", month: "short" });
  return html`<button onClick=${() => actions.reopen(one.id)}>
    <bdi>${text}</bdi> <time datetime=${time.toISOString()}>${day}</time>
  </button>`;
}
