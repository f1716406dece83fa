/** The widget's own panel beside the forms of a bot, drawn from the bot's configuration and the current values of its
forms. It calls no server. */
import { html } from "../common/html.js";
import { render } from "../vendor/preact.js";
import { paint } from "../widget/colours.js";
import { EMPTY } from "../widget/store.js";
import { Panel } from "../widget/views/panel.js";

const saved = JSON.parse(document.getElementById("config").textContent);
const place = document.getElementById("chat");
const page = parent.document;
const THEMES = { True: true, False: false };
// A click here does nothing.
const actions = new Proxy({}, { get: () => () => {} });

/** The value in a form of the page, or the saved one. */
function field(name, otherwise) {
  const input = page.querySelector(`#content [name="${CSS.escape(name)}"]`);
  if (!input) return otherwise;
  return input.type === "checkbox" ? input.checked : input.value;
}

function configured() {
  const { language, style } = saved;
  const colour = (name) => (/^#[0-9a-f]{6}$/i.test(field(name, "")) ? field(name) : saved[name]);
  return {
    ...saved,
    bot_name: field("bot_name", saved.bot_name) || saved.bot_name,
    bot_icon: field("bot_icon", saved.bot_icon) || null,
    primary_color: colour("primary_color"),
    secondary_color: colour("secondary_color"),
    welcome_message: field(`welcome_message_${language}`, saved.welcome_message) || saved.welcome_message,
    bot_question: field("bot_question", saved.bot_question) || null,
    attach_enabled: field("attach_enabled", saved.attach_enabled),
    style: {
      ...style,
      dark_mode: THEMES[field("dark_mode")] ?? field("dark_mode", style.dark_mode),
      font: field("font", style.font),
      radius: Number(field("radius", style.radius)) || 0,
    },
  };
}

function draw() {
  const config = configured();
  paint(config, matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.position = config.style.position;
  const known = !("before" in document.body.dataset);
  const state = { ...EMPTY, config, isOpen: true, isReady: true, agreed: true, known };
  render(html`<${Panel} state=${state} actions=${actions} locale=${saved.language} />`, place);
}

page.addEventListener("input", draw);
draw();
