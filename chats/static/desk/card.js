/** The right pane: who the customer is, and what is known of the chat. */

import { html } from "../common/html.js";
import { Component } from "../vendor/preact.js";
import { get, post } from "./api.js";
import * as chats from "./chats.js";
import { Face, customerName } from "./people.js";
import { dispatch } from "./store.js";
import { dayAndClock, languageName } from "./times.js";
import { named, t } from "./words.js";

export class Card extends Component {
  state = { others: [] };

  componentDidMount() {
    this.loadOthers();
  }

  componentDidUpdate(before) {
    if (before.chat.customer_id !== this.props.chat.customer_id) this.loadOthers();
  }

  async loadOthers() {
    const { customer_id: id } = this.props.chat;
    this.setState({ others: [] });
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
    const ask = () => dispatch({ type: "dialog", dialog: { kind: "tags", ids: [chat.id] } });
    const earlier = others.filter((other) => other.id !== chat.id);
    return html`
      <section class="card" aria-label=${t("card")}>
        <button type="button" class="plain only-narrow" onClick=${() => dispatch({ type: "pane", pane: "thread" })}>← ${t("close")}</button>
        <div class="person"><${Face} name=${name} /><h2><bdi>${name}</bdi></h2></div>
        <dl>
          <${Fact} name=${t("email")} value=${customer.email} />
          <${Fact} name=${t("phone")} value=${customer.phone} />
          <${Fact} name=${t("external_id")} value=${customer.external_id} />
          ${Object.entries(customer.attributes).map(([key, value]) => html`<${Fact} key=${key} name=${key} value=${asText(value)} />`)}
        </dl>
        <h3>${t("this_chat")}</h3>
        <dl>
          <${Fact} name=${t("bot")} value=${state.bots[chat.bot_id]?.bot_name} />
          <${Fact} name=${t("channel")} value=${named("channel", chat.channel)} />
          <${Fact} name=${t("language")} value=${languageName(chat.language)} />
          <${Fact} name=${t("opened")} value=${dayAndClock(chat.created_at)} />
          <${Fact} name=${t("handed_over")} value=${chat.handoff_reason && named("reason", chat.handoff_reason)} />
          <${Fact} name=${t("sentiment")} value=${chat.sentiment && named("mood", chat.sentiment)} />
          <${Fact} name=${t("code")} value=${chat.chat_code} />
        </dl>
        <h3>${t("tags")}</h3>
        <p class="tags">${chat.tags.map((tag) => html`<span class="chip" dir="auto">${tag}</span>`)}
          ${!chat.tags.length && html`<span class="quiet">${t("none")}</span>`}
          ${state.me.role !== "viewer" && html`<button type="button" class="link" onClick=${ask}>${t("tags")} …</button>`}</p>
        <h3>${t("summary")}</h3>
        ${chat.summary ? html`<p class="said" dir="auto">${chat.summary}</p>` : null}
        ${state.me.role !== "viewer" && html`<button type="button" onClick=${this.summarise}>${t("summarise")}</button>`}
        ${earlier.length > 0 && html`<h3>${t("other_chats")}</h3><ul class="others">
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
