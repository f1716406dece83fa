/** Why the bot said this, and how to make it say something better. */

import { html } from "../common/html.js";
import { Component } from "../vendor/preact.js";
import { Refusal, Unreachable } from "./api.js";
import { correct, questionOf } from "./assist.js";
import { Sources } from "./bubble.js";
import { named, spoken, t } from "./words.js";

const percent = (share) => new Intl.NumberFormat(spoken(), { style: "percent" }).format(share);

export function Receipt({ state, chat, message, receipt }) {
  const { decision, confidence, threshold, passages, prompt_version: prompt, engine, model, usage } = receipt;
  const mayTrain = ["owner", "admin"].includes(state.me.role) || state.me.can_train;
  return html`
    <dl class="receipt">
      <div><dt>${t("decision")}</dt><dd>${named("decision", decision)}${receipt.handoff_reason && ` ${t("handed_over")}: ${named("reason", receipt.handoff_reason)}.`}</dd></div>
      ${confidence !== null && html`<div><dt>${t("confidence")}</dt><dd>${t("confidence_value", { confidence: percent(confidence), threshold: percent(threshold ?? 0) })}${" "}
        <meter min="0" max="1" low=${threshold ?? 0} high=${threshold ?? 0} optimum="1" value=${confidence} aria-label=${t("confidence")}></meter></dd></div>`}
      <div><dt>${t("prompt_version")}</dt><dd>${prompt ?? "–"}</dd></div>
      <div><dt>${t("engine")}</dt><dd>${[engine, model].filter(Boolean).join(", ") || "–"}</dd></div>
      <div><dt>${t("credits")}</dt><dd>${usage.credits}</dd></div>
    </dl>
    <h3>${t("passages")}</h3>
    ${!passages.length && html`<p class="quiet">${t("no_passages")}</p>`}
    <ol class="passages">
      ${passages.map(
        (passage) => html`
          <li key=${passage.chunk_id}>
            <p><bdi>${passage.title ?? ""}</bdi> <span class="quiet">${t("score", { score: passage.score.toFixed(2) })}</span></p>
            <blockquote dir="auto">${passage.text ?? t("gone_passage")}</blockquote>
          </li>
        `,
      )}
    </ol>
    ${mayTrain && html`<${Correction} chat=${chat} question=${questionOf(chat, receipt)} said=${message.content[0]?.text ?? ""} />`}
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
      <h3>${t("correct")}</h3>
      <form onSubmit=${this.save}>
        <label>${t("question")} <input name="question" required maxlength="300" dir="auto" defaultValue=${question} /></label>
        <label>${t("right_answer")} <textarea name="answer" required rows="3" maxlength="4000" dir="auto" placeholder=${said}></textarea></label>
        <button type="submit" class="first" disabled=${step !== null}>${t("train_it")}</button>
        <p role="status">${step && t(step)}${fault && t("not_trained", { error: fault })}</p>
        ${answer && html`<div class="now"><h4>${t(answer.status === "answered" ? "now_says" : "still_wrong")}</h4>
          <p class="said" dir="auto">${answer.message?.content[0]?.text}</p><${Sources} citations=${answer.citations} /></div>`}
      </form>
    `;
  }
}
