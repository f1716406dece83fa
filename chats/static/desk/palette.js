/** The command palette, as on the site: finds conversations, views, and everything else on the site. */

import { html } from "../common/html.js";
import { t } from "../common/i18n.js";
import { Component } from "../vendor/preact.js";
import { askSite, get } from "./api.js";
import * as chats from "./chats.js";
import { label, VIEW_NAMES } from "./labels.js";
import * as live from "./live.js";
import { customerName } from "./people.js";
import { VIEWS } from "./reducer.js";
import { dispatch } from "./store.js";

const SEARCH_AFTER_MS = 200;
const MOST = 8; // conversations
const close = () => dispatch({ type: "dialog", dialog: null });

export class Palette extends Component {
  state = { query: "", found: [], chosen: 0 };

  write = ({ target: { value } }) => {
    const query = value.trim();
    this.setState({ query, chosen: 0 });
    clearTimeout(this.soon);
    if (query) this.soon = setTimeout(() => this.search(query), SEARCH_AFTER_MS);
  };

  componentWillUnmount() {
    clearTimeout(this.soon);
  }

  componentDidUpdate() {
    document.getElementById(`palette-${this.state.chosen}`)?.scrollIntoView({ block: "nearest" });
  }

  async search(query) {
    const asked = [get("/ai/chats", { q: query, limit: MOST }), askSite(`/admin/search/?s=${encodeURIComponent(query)}`)];
    const [{ items }, site] = await Promise.all(asked.map((one) => one.catch(() => ({ items: [] }))));
    if (query !== this.state.query) return; // the agent has typed meanwhile
    this.setState({ found: [...items.map(asConversation), ...site.items.filter(isElsewhere).map(asLink)] });
  }

  /** The matches, with the views of the inbox first. */
  options() {
    const { query, found } = this.state;
    const fits = (name) => name.toLocaleLowerCase().includes(query.toLocaleLowerCase());
    const own = VIEWS.map((view) => ({ name: label(VIEW_NAMES, view), kind: t("View"), act: () => live.show(view) }));
    const kept = this.props.state.views.map((view) => ({ name: view.name, kind: t("View"), act: () => live.showSaved(view) }));
    return [...[...own, ...kept].filter(({ name }) => fits(name)), ...(query ? found : [])];
  }

  onKey = (event) => {
    const all = this.options();
    const step = { ArrowDown: 1, ArrowUp: all.length - 1 }[event.key];
    if (step && all.length) {
      event.preventDefault();
      this.setState({ chosen: (this.state.chosen + step) % all.length });
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (all[this.state.chosen]) choose(all[this.state.chosen]);
    }
  };

  render(_, { query, chosen }) {
    const all = this.options();
    return html`
      <input type="text" autofocus role="combobox" aria-expanded=${String(all.length > 0)} aria-controls="palette" aria-autocomplete="list"
        aria-activedescendant=${all.length ? `palette-${chosen}` : undefined} aria-label=${t("Search everything")} maxlength="100" dir="auto"
        onInput=${this.write} onKeyDown=${this.onKey} />
      <ul class="options-list inside" id="palette" role="listbox" aria-label=${t("Results")}>
        ${all.map((option, place) => html`
          <li role="option" id=${`palette-${place}`} key=${place} aria-selected=${String(place === chosen)} onClick=${() => choose(option)}>
            <bdi>${option.name}</bdi> <span class="quiet">${option.kind}</span></li>
        `)}
      </ul>
      ${query && !all.length && html`<p class="quiet" role="status">${t("No results.")}</p>`}
    `;
  }
}

function choose(option) {
  close();
  option.act();
}

const asConversation = (chat) => ({ name: customerName(chat), kind: t("Conversation"), act: () => chats.open(chat.id) });
const asLink = ({ title, description, link }) => ({ name: title, kind: description, act: () => location.assign(link) });

/** Conversations open in the inbox. */
const isElsewhere = ({ link }) => !link.startsWith("/admin/chats/conversation/");
