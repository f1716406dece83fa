/** The widget: reads which bot it belongs to, asks the page for its size and place, and draws the state. */
import { isComposing } from "../common/composing.js";
import { html } from "../common/html.js";
import { t, tn } from "../common/i18n.js";
import { excerptOf } from "../common/message_text.js";
import { render } from "../vendor/preact.js";
import { createApi } from "./api.js";
import { createAttention } from "./attention.js";
import { createChat } from "./chat.js";
import { paint } from "./colours.js";
import { createInvitation } from "./invitation.js";
import { createMemory } from "./memory.js";
import { createStash } from "./stash.js";
import { createStore, newsOf, unread } from "./store.js";
import { Icon } from "./views/icons.js";
import { translated } from "./views/message.js";
import { Panel } from "./views/panel.js";

const LARGE = { width: 800, height: 1e4 }; // no more than the page has room for
const TEASER_WIDTH = 320;
const LAUNCHER = { width: 88, height: 88 };
const TEASER_HEIGHT = 200;
const ABOVE_LAUNCHER = 92; // pixels, for the button and its distance from the teaser
const INTRODUCTION_TIME = 2000; // milliseconds
const RIGHT_TO_LEFT = /^(ar|dv|fa|he|ps|sd|ug|ur|yi)(-|$)/i;

const query = new URLSearchParams(location.search);
const key = query.get("key");
const language = query.get("language") || navigator.language;
const memory = createMemory(key);
const stash = createStash(key, memory);
const store = createStore();
const actions = createChat({ api: createApi(key, memory), store, memory, stash, language: plain(language) });
const place = document.getElementById("chat");
// Times and language names are in the language of the texts; the page's language may add the region.
const spoken = document.documentElement.lang;
const locale = plain(language).split(/[-_]/)[0].toLowerCase() === spoken ? plain(language).replaceAll("_", "-") : spoken;
document.documentElement.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";

/** The language as the API takes it. */
function plain(code) {
  return /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$/.test(code) && code.length <= 20 ? code : "";
}

/** The framing page decides the place; only sizes are sent, so anybody may read the message. */
const tell = (message) => parent.postMessage({ chatWidget: 1, ...message }, "*");

/** The outline of teaser and button, so that the page beside the button can be clicked. */
function cornerOf(position) {
  const edge = (side, far) => (position.includes(side) ? `calc(100% - ${far}px)` : `${far}px`);
  const [x, y, foot, outer] = [edge("right", LAUNCHER.width), edge("bottom", 80), edge("bottom", 0), edge("right", 0)];
  const [head, inner] = [position.includes("bottom") ? "0" : "100%", position.includes("right") ? "0" : "100%"];
  return [[inner, head], [outer, head], [outer, foot], [x, foot], [x, y], [inner, y]].map((point) => point.join(" ")).join();
}

let told = "";
function size({ config, isOpen, isLarge }) {
  const { position, width, height } = config.style;
  const open = isLarge ? LARGE : { width: width + 24, height: height + 24 };
  const teaser = document.querySelector(".teaser");
  // No higher than the teaser, because the part of the page below it cannot be clicked.
  const closed = teaser ? { width: TEASER_WIDTH, height: Math.min(teaser.offsetHeight + ABOVE_LAUNCHER, TEASER_HEIGHT) } : LAUNCHER;
  const clip = teaser ? `clip-path:polygon(${cornerOf(position)})` : "";
  const message = { type: "size", isOpen, isFullscreen: config.is_fullscreen, position, clip, ...(isOpen ? open : closed) };
  if (JSON.stringify(message) === told) return;
  told = JSON.stringify(message);
  tell(message);
}

function Launcher({ state }) {
  const count = unread(state);
  const news = newsOf(state);
  // An agent's words are in the visitor's language, as in the chat.
  const words = news ? excerptOf({ content: translated(news, state.chat?.language) ?? news.content }) : state.teaser;
  const dismiss = () => (actions.dismiss(), document.getElementById("launcher").focus());
  const label = count ? `${t("Open the chat")}, ${tn("{count} unread", "{count} unread", count)}` : t("Open the chat");
  return html`
    ${words &&
    html`<div class="teaser">
      <button class="text" onClick=${actions.show}>${news && html`<span class="by"><bdi>${news.sender.name}</bdi></span>`}<bdi class=${news ? "excerpt" : ""}>${words}</bdi></button>
      <button class="icon" aria-label=${t("Dismiss")} onClick=${dismiss}><${Icon} name="close" /></button>
    </div>`}
    <button class="launcher" id="launcher" aria-label=${label} aria-expanded="false" onClick=${actions.show}>
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 4h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z" /></svg>
      ${count > 0 && html`<span class="badge" aria-hidden="true">${count}</span>`}
    </button>
    <p class="unseen" role="status">${count > 0 ? tn("{count} unread", "{count} unread", count) : ""}</p>
  `;
}

let wasOpen = false;
let painted = "";
function draw(state) {
  const { config } = state;
  if (!config?.is_visible) return;
  const look = JSON.stringify([config, state.isDark]);
  if (painted !== look) paint(config, state.isDark);
  painted = look;
  document.documentElement.dataset.position = config.style.position;
  document.documentElement.dataset.fills = String(state.fills);
  render(state.isOpen ? html`<${Panel} state=${state} actions=${actions} locale=${locale} />` : html`<${Launcher} state=${state} />`, place);
  size(state);
  if (wasOpen && !state.isOpen) document.getElementById("launcher").focus();
  wasOpen = state.isOpen;
}

/** Opens the chat or shows the invitation, if the bot's settings want that; returns whether it did. */
function speak() {
  const { config, isOpen } = store.state;
  if (isOpen || !(config.auto_pop_up || config.engaging_message)) return false;
  if (config.auto_pop_up) actions.show();
  else store.dispatch({ type: "set", teaser: config.engaging_message });
  return true;
}

let path = "/"; // of the page
let invite = () => {};

/** Settles when the page has said who the visitor is, or after a while. */
let introduced;
const introduction = new Promise((done) => (introduced = done));
setTimeout(introduced, INTRODUCTION_TIME);

const wishes = {
  visitor(data, origin) {
    memory.hear(data, (news) => parent.postMessage({ chatWidget: 1, type: "remember", ...news }, origin));
    actions.identify(data);
    introduced();
  },
  path: (data) => invite((path = data.path)),
  open: () => actions.show(),
  close: () => actions.hide(),
  ask({ text }) {
    if (typeof text === "string" && text.trim()) actions.ask(text.trim());
    else actions.show();
  },
  shutdown() {
    memory.forget();
    stash.clear();
    tell({ type: "gone" });
  },
  placed: ({ fills, isDark }) => store.dispatch({ type: "set", fills: Boolean(fills), isDark: Boolean(isDark) }),
};

addEventListener("message", ({ source, origin, data }) => {
  if (source === parent && data?.chatWidget === 1 && Object.hasOwn(wishes, data.type)) wishes[data.type](data, origin);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !isComposing(event) && store.state.isOpen) actions.hide();
});
store.subscribe(draw);
const attend = createAttention({ tell, isQuiet: () => store.state.isQuiet });
store.subscribe((state) => state.config?.is_visible && attend(state));
document.addEventListener("visibilitychange", () => store.dispatch({ type: "set" }));
tell({ type: "ready" });
introduction.then(actions.start).then(() => {
  invite = createInvitation({ config: store.state.config, memory, speak });
  invite(path);
});
