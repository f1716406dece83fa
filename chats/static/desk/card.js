/** The right pane: who the customer is, and what is known about the chat. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { excerptOf } from "../common/message_text.js";
import { Component } from "../vendor/preact.js";
import { get } from "./api.js";
import { summarize } from "./assist.js";
import * as chats from "./chats.js";
import { Customer, Fact } from "./customer.js";
import { CHANNELS, MOODS, PRIORITY_NAMES, REASONS, label, reasonOf } from "./labels.js";
import { Rating, Stars } from "./ratings.js";
import { dispatch } from "./store.js";
import { dayAndClock, languageName } from "./times.js";

export class Card extends Component {
  state = { others: [], fault: null };

  componentDidMount() {
    this.load();
  }

  componentDidUpdate(before) {
    const { chat, state } = this.props;
    if (before.chat.id !== chat.id) this.setState({ fault: null });
    if (before.chat.customer_id !== chat.customer_id || before.state.gone !== state.gone) this.load();
  }

  async load() {
    const { customer_id: id } = this.props.chat;
    this.setState({ others: [] });
    get(`/ai/customers/${id}`).then((customer) => dispatch({ type: "customer", customer })).catch(() => null);
    const [page, rated] = await Promise.all([
      get(`/ai/chat/history/customer/${id}`, { limit: 10 }),
      get("/ai/chat/feedbacks", { customer_id: id, limit: 100 }),
    ]).catch(() => []);
    if (!page || id !== this.props.chat.customer_id) return;
    dispatch({ type: "feedback", items: rated.items });
    this.setState({ others: page.items });
  }

  summarize = async () => {
    const { chat } = this.props;
    this.setState({ fault: null });
    const { fault } = await summarize(chat);
    if (chat.id === this.props.chat.id) this.setState({ fault });
  };

  render({ state, chat }, { others, fault }) {
    const ask = (kind) => () => dispatch({ type: "dialog", dialog: { kind, ids: [chat.id] } });
    const canSummarize = state.me.role !== "viewer" && state.bots[chat.bot_id]?.has_model;
    const rating = state.feedback[chat.id];
    const ratingOf = ({ id }) => state.feedback[id]?.rating;
    const earlier = others.filter((other) => other.id !== chat.id);
    return html`
      <section class="card" aria-label=${t("Customer and conversation")}>
        <button type="button" class="plain only-narrow" onClick=${() => dispatch({ type: "pane", pane: "thread" })}>← ${t("Close")}</button>
        <${Customer} key=${chat.customer_id} state=${state} chat=${chat} />
        <h3>${t("This conversation")}</h3>
        <dl>
          <${Fact} name=${t("Bot")} value=${state.bots[chat.bot_id]?.bot_name} />
          <${Fact} name=${t("Channel")} value=${label(CHANNELS, chat.channel)} />
          <${Fact} name=${t("Language")} value=${languageName(chat.language)} />
          <div><dt>${t("Priority")}</dt><dd>${label(PRIORITY_NAMES, chat.priority)}${" "}
            ${state.me.role !== "viewer" && chat.status !== "ended" && html`<button type="button" class="link" onClick=${ask("priority")}>${t("Change")}</button>`}</dd></div>
          <${Fact} name=${t("Started")} value=${dayAndClock(chat.created_at)} />
          <${Fact} name=${t("Handed over")} value=${chat.handoff_reason && label(REASONS, reasonOf(chat.handoff_reason, beganWithUs(state.threads[chat.id])))} />
          <${Fact} name=${t("Sentiment")} value=${chat.sentiment && label(MOODS, chat.sentiment)} />
          <${Fact} name=${t("Rating")} value=${rating && html`<${Rating} feedback=${rating} />`} />
          <${Fact} name=${t("Conversation code")} value=${chat.chat_code} />
        </dl>
        <button type="button" onClick=${() => chats.saveTranscript(chat)}>${t("Download transcript")}</button>
        <h3>${t("Tags")}</h3>
        <p class="tags">${chat.tags.map((tag) => html`<span class="chip" dir="auto">${tag}</span>`)}
          ${!chat.tags.length && html`<span class="quiet">${t("None")}</span>`}
          ${state.me.role !== "viewer" && html`<button type="button" class="link" onClick=${ask("tags")}>${t("Tags")} …</button>`}</p>
        ${(chat.summary || canSummarize) && html`<h3>${t("Summary")}</h3>`}
        ${chat.summary ? html`<p class="said" dir="auto">${chat.summary}</p>` : null}
        ${canSummarize && html`<button type="button" onClick=${this.summarize}>${t("Summarize")}</button>`}
        ${fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`}
        ${earlier.length > 0 && html`<h3>${t("Earlier conversations")}</h3><ul class="others">
          ${earlier.map((other) => html`<li key=${other.id}><button type="button" class="plain" onClick=${() => chats.open(other.id)}>
            <span class="subject" dir="auto">${subject(other)}</span>
            <span class="quiet">${dayAndClock(other.created_at)}${ratingOf(other) && html` · <${Stars} count=${ratingOf(other)} />`}</span></button></li>`)}
        </ul>`}
      </section>
    `;
  }
}

/** Whether a thread is loaded from its start, and began with a message from us. */
const beganWithUs = (thread) => Boolean(thread?.messages.length) && !thread.cursor && thread.messages[0].sender.type === "agent";

/** What an earlier chat was about: its summary, else its last message. */
const subject = ({ summary, last_message: last }) =>
  summary ?? ((last && excerptOf(last)) || t("No messages"));
