/** The right pane: who the customer is, and what is known of the chat. */

import { html } from "../common/html.js";
import { t } from "../common/words.js";
import { Component } from "../vendor/preact.js";
import { get, post } from "./api.js";
import * as chats from "./chats.js";
import { CHANNELS, MOODS, OPT_OUTS, REASONS, label } from "./labels.js";
import { Face, blockName, customerName } from "./people.js";
import { blockedUntil } from "./reducer.js";
import { dispatch } from "./store.js";
import { dayAndClock, languageName } from "./times.js";

export class Card extends Component {
  state = { others: [] };

  componentDidMount() {
    this.load();
  }

  componentDidUpdate(before) {
    if (before.chat.customer_id !== this.props.chat.customer_id) this.load();
  }

  async load() {
    const { customer_id: id } = this.props.chat;
    this.setState({ others: [] });
    get(`/ai/customers/${id}`).then((customer) => dispatch({ type: "customer", customer })).catch(() => null);
    const page = await get(`/ai/chat/history/customer/${id}`, { limit: 10 }).catch(() => null);
    if (page && id === this.props.chat.customer_id) this.setState({ others: page.items });
  }

  summarise = async () => {
    const { chat } = this.props;
    try {
      const { summary } = await post(`/ai/chat/${chat.id}/summarize`);
      dispatch({ type: "chat", chat: { ...chat, summary } });
    } catch (error) {
      chats.report(error);
    }
  };

  render({ state, chat }, { others }) {
    const { customer } = chat;
    const name = customerName(chat);
    const ask = (kind) => () => dispatch({ type: "dialog", dialog: { kind, ids: [chat.id] } });
    const isBlocked = blockedUntil(state, chat);
    const optOut = state.customers[chat.customer_id]?.opt_out;
    const earlier = others.filter((other) => other.id !== chat.id);
    return html`
      <section class="card" aria-label=${t("Customer and conversation")}>
        <button type="button" class="plain only-narrow" onClick=${() => dispatch({ type: "pane", pane: "thread" })}>← ${t("Close")}</button>
        <div class="person"><${Face} name=${name} /><h2><bdi>${name}</bdi></h2></div>
        ${isBlocked && html`<p class="fault">${blockName(isBlocked)}</p>`}
        ${optOut in OPT_OUTS && html`<p class="quiet" data-opt-out=${optOut}>${label(OPT_OUTS, optOut)}</p>`}
        ${state.me.role !== "viewer" && (isBlocked
          ? html`<button type="button" onClick=${() => chats.block(chat, null)}>${t("Unblock")}</button>`
          : html`<button type="button" onClick=${ask("block")}>${t("Block…")}</button>`)}
        <dl>
          <${Fact} name=${t("Email")} value=${customer.email} />
          <${Fact} name=${t("Phone")} value=${customer.phone} />
          <${Fact} name=${t("Your ID")} value=${customer.external_id} />
          ${Object.entries(customer.attributes).map(([key, value]) => html`<${Fact} key=${key} name=${key} value=${asText(value)} />`)}
        </dl>
        <h3>${t("This conversation")}</h3>
        <dl>
          <${Fact} name=${t("Bot")} value=${state.bots[chat.bot_id]?.bot_name} />
          <${Fact} name=${t("Channel")} value=${label(CHANNELS, chat.channel)} />
          <${Fact} name=${t("Language")} value=${languageName(chat.language)} />
          <${Fact} name=${t("Started")} value=${dayAndClock(chat.created_at)} />
          <${Fact} name=${t("Handed over")} value=${chat.handoff_reason && label(REASONS, chat.handoff_reason)} />
          <${Fact} name=${t("Sentiment")} value=${chat.sentiment && label(MOODS, chat.sentiment)} />
          <${Fact} name=${t("Code")} value=${chat.chat_code} />
        </dl>
        <h3>${t("Tags")}</h3>
        <p class="tags">${chat.tags.map((tag) => html`<span class="chip" dir="auto">${tag}</span>`)}
          ${!chat.tags.length && html`<span class="quiet">${t("None")}</span>`}
          ${state.me.role !== "viewer" && html`<button type="button" class="link" onClick=${ask("tags")}>${t("Tags")} …</button>`}</p>
        <h3>${t("Summary")}</h3>
        ${chat.summary ? html`<p class="said" dir="auto">${chat.summary}</p>` : null}
        ${state.me.role !== "viewer" && html`<button type="button" onClick=${this.summarise}>${t("Summarize")}</button>`}
        ${earlier.length > 0 && html`<h3>${t("Earlier conversations")}</h3><ul class="others">
          ${earlier.map((other) => html`<li key=${other.id}><button type="button" class="link" onClick=${() => chats.open(other.id)}>${dayAndClock(other.created_at)}</button></li>`)}
        </ul>`}
      </section>
    `;
  }
}

const asText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));

function Fact({ name, value }) {
  if (!value) return null;
  return html`<div><dt dir="auto">${name}</dt><dd dir="auto">${value}</dd></div>`;
}
