/** The bot's function calls that wait for an agent's approval, above the composer. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { get, post } from "./api.js";
import { attempt } from "./chats.js";
import { asName, asText } from "./customer.js";
import { toast } from "./store.js";

/** A code of the company's, such as a function's name, in plain words. */
const plain = (code) => asName(code.replace(/[_-]+/g, " "));

/** The platform leaves a note for each call that waits, and a message or a note once it is decided. */
const latestOf = (thread) => thread?.messages.findLast(({ sender }) => ["bot", "system"].includes(sender.type));
const isNoted = (thread) => thread?.messages.some(({ sender, is_note: isNote }) => isNote && sender.type === "system");

export class Approvals extends Component {
  state = { calls: [] };

  componentDidMount() {
    this.load();
  }

  componentDidUpdate(before) {
    if (latestOf(before.thread)?.seq !== latestOf(this.props.thread)?.seq) this.load();
  }

  async load() {
    const { chat, thread } = this.props;
    if (!isNoted(thread) && chat.handoff_reason !== "approval_needed") return;
    const page = await get(`/function-calling/${chat.bot_id}/events`, { chat_id: chat.id, status: "waiting", limit: 100 }).catch(() => null);
    if (page) this.setState({ calls: page.items.filter((call) => call.requires_approval === "agent" && !call.decided_at) });
  }

  async decide({ id, bot_id: botId }, approve) {
    const done = await attempt(() => post(`/function-calling/${botId}/events/${id}/decision`, { approve }));
    if (done) toast(approve ? t("Approved. The result will appear in the conversation.") : t("Rejected."));
    await this.load();
    document.getElementById("composer")?.focus();
  }

  render({ state: { me } }, { calls }) {
    if (!calls.length) return null;
    return html`
      <section class="approvals" aria-label=${t("Waiting for approval")}>
        ${calls.map((call) => html`
          <div key=${call.id} data-call=${call.id}>
            <h3>${t("The bot wants to:")} <bdi>${plain(call.function)}</bdi></h3>
            <dl>${Object.entries(call.arguments).filter(([, value]) => value !== null).map(([name, value]) => html`<div><dt dir="auto">${plain(name)}</dt><dd dir="auto">${asText(value)}</dd></div>`)}</dl>
            ${me.role !== "viewer" && html`<p class="acts">
              <button type="button" class="first" onClick=${() => this.decide(call, true)}>${t("Approve")}</button>
              <button type="button" onClick=${() => this.decide(call, false)}>${t("Reject")}</button></p>`}
          </div>`)}
      </section>
    `;
  }
}
