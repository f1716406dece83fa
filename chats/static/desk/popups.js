/** Popups above the composer's buttons: ways to rewrite the text, and emoji. Arrows move, Escape closes. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import { Icon } from "./icons.js";
import { STYLES, label } from "./labels.js";

const EMOJI = [...new Intl.Segmenter().segment(
  "😀😄😊🙂😉😍🤗🤔😅😂🙃😎😌😕😟😢😭😡👍👎👌👏🙏💪🤝👋✌️🤞👀❤️💚💙💔✨⭐🔥🎉🎁🎂☕🍀🌞🌧️❄️✅❌⚠️❗❓💡📌📎📦🚚🏠🏬💳💶🧾📅⏰📞✉️🔑",
)].map(({ segment }) => segment);
const EMOJI_A_ROW = 8;
const STEPS = { ArrowRight: () => 1, ArrowLeft: () => -1, ArrowDown: (columns) => columns, ArrowUp: (columns) => -columns };

/** A mouse press must not move the focus, which Safari would lose. */
const keepFocus = (event) => event.preventDefault();

/** A button and what it opens. `choices` are [value, what is shown]; `columns` in a row. */
class Popup extends Component {
  state = { isOpen: false };
  place = createRef();
  opener = createRef();

  componentDidUpdate(_, { isOpen }) {
    if (this.state.isOpen && !isOpen) this.place.current.querySelector("li button").focus();
  }

  close = () => this.setState({ isOpen: false });

  /** Closes when the focus moves elsewhere. */
  onLeave = ({ relatedTarget }) => {
    if (!this.place.current.contains(relatedTarget)) this.close();
  };

  onKey = (event) => {
    if (!this.state.isOpen) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.close();
      this.opener.current.focus();
    }
    const step = STEPS[event.key]?.(this.props.columns ?? 1);
    if (!step) return;
    event.preventDefault();
    const all = [...this.place.current.querySelectorAll("li button")];
    const next = all.indexOf(document.activeElement) + step;
    all[next]?.focus();
  };

  choose(value) {
    this.close();
    this.opener.current.focus();
    this.props.onChoose(value);
  }

  render({ name, shown, choices, columns = 1, isDisabled }, { isOpen }) {
    return html`
      <div class="popup" ref=${this.place} onKeyDown=${this.onKey} onFocusOut=${this.onLeave} onMouseDown=${keepFocus}>
        <button type="button" ref=${this.opener} aria-expanded=${String(isOpen)} disabled=${isDisabled}
          onClick=${() => this.setState({ isOpen: !isOpen })}>${shown}</button>
        ${isOpen && html`<ul class=${columns > 1 ? "popup-list grid" : "popup-list"} aria-label=${name}>
          ${choices.map(([value, words]) => html`<li key=${value}><button type="button" class="plain" onClick=${() => this.choose(value)}>${words}</button></li>`)}
        </ul>`}
      </div>
    `;
  }
}

export function Emoji({ onChoose }) {
  const choices = EMOJI.map((sign) => [sign, sign]);
  return html`<${Popup} name=${t("Emoji")} shown=${html`<span aria-hidden="true">☺</span><span class="hidden">${t("Emoji")}</span>`} choices=${choices} columns=${EMOJI_A_ROW} onChoose=${onChoose} />`;
}

/** Ways to send a reply and be done with the chat. */
export function SendMore({ isDisabled, onChoose }) {
  const choices = [["end", t("Send and end")], ["snooze", t("Send and snooze…")]];
  const shown = html`<span aria-hidden="true">▾</span><span class="hidden">${t("More ways to send")}</span>`;
  return html`<${Popup} name=${t("More ways to send")} shown=${shown} choices=${choices} isDisabled=${isDisabled} onChoose=${onChoose} />`;
}

/** `language`: the customer's, by its name. */
export function Rewrite({ language, isBusy, isDisabled, onChoose }) {
  const styles = Object.keys(STYLES).map((style) => [style, label(STYLES, style)]);
  const choices = [...styles, ["translated", t("Translate to {language}", { language })]];
  const shown = isBusy ? html`<span role="status">${t("Rewriting…")}</span>` : html`<${Icon} name="pen" /> ${t("Rewrite")}`;
  return html`<${Popup} name=${t("Rewrite")} shown=${shown} choices=${choices} isDisabled=${isDisabled || isBusy} onChoose=${onChoose} />`;
}
