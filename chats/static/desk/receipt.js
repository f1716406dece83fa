/** Why the bot said this, and how to make it say something better. */

import { html } from "../common/html.js";
import { language, t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { Refusal, Unreachable } from "./api.js";
import { correct, questionOf } from "./assist.js";
import { Sources } from "./bubble.js";
import { DECISIONS, REASONS, label } from "./labels.js";
import { mayTrain } from "./people.js";

const percent = (share) => new Intl.NumberFormat(language, { style: "percent" }).format(share);

export function Receipt({ state, chat, message, receipt }) {
  const { decision, confidence, threshold, passages, prompt_version: prompt, engine, model, usage } = receipt;
  return html`
    <dl class="receipt">
      <div><dt>${t("Decision")}</dt><dd>${label(DECISIONS, decision)}${receipt.handoff_reason && ` ${t("Handed over")}: ${label(REASONS, receipt.handoff_reason)}.`}</dd></div>
      ${confidence !== null && html`<div><dt>${t("Confidence")}</dt><dd>${t("{confidence} (needs {threshold})", { confidence: percent(confidence), threshold: percent(threshold ?? 0) })}${" "}
        <meter min="0" max="1" low=${threshold ?? 0} high=${threshold ?? 0} optimum="1" value=${confidence} aria-label=${t("Confidence")}></meter></dd></div>`}
      <div><dt>${t("Instructions version")}</dt><dd>${prompt ?? "–"}</dd></div>
      <div><dt>${t("Written by")}</dt><dd>${[engine, model].filter(Boolean).join(", ") || "–"}</dd></div>
      <div><dt>${t("Credits")}</dt><dd>${usage.credits}</dd></div>
    </dl>
    <h3>${t("Passages found")}</h3>
    ${!passages.length && html`<p class="quiet">${t("None.")}</p>`}
    <ol class="passages">
      ${passages.map(
        (passage) => html`
          <li key=${passage.chunk_id}>
            <p><bdi>${passage.title ?? ""}</bdi> <span class="quiet">${t("match {score}", { score: passage.score.toFixed(2) })}</span></p>
            <blockquote dir="auto">${passage.text ?? t("Changed or deleted since.")}</blockquote>
          </li>
        `,
      )}
    </ol>
    ${mayTrain(state.me) && html`<${Correction} chat=${chat} question=${questionOf(chat, receipt)} said=${message.content[0]?.text ?? ""} />`}
  `;
}

class Correction extends Component {
  state = { step: null, answer: null, fault: "" };

  save = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    this.setState({ answer: null, fault: "" });
    try {
      const answer = await correct(this.props.chat, given, (step) => this.setState({ step }));
      this.setState({ answer, step: null });
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof Unreachable)) throw error;
      this.setState({ step: null, fault: error.message });
    }
  };

  render({ question, said }, { step, answer, fault }) {
    return html`
      <h3>${t("Fix answer")}</h3>
      <form onSubmit=${this.save}>
        <label>${t("Question")} <input name="question" required maxlength="300" dir="auto" defaultValue=${question} /></label>
        <label>${t("Correct answer")} <textarea name="answer" required rows="3" maxlength="4000" dir="auto" placeholder=${said}></textarea></label>
        <button type="submit" class="first" disabled=${step !== null}>${t("Save and ask again")}</button>
        <p role="status">${step}${fault && t("The bot couldn't learn the answer: {error}", { error: fault })}</p>
        ${answer && html`<div class="now"><h4>${answer.status === "answered" ? t("What the bot says now") : t("The bot still has no answer")}</h4>
          <p class="said" dir="auto">${answer.message?.content[0]?.text}</p><${Sources} citations=${answer.citations} /></div>`}
      </form>
    `;
  }
}
