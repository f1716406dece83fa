/** Where the agent writes: a reply or a note, with saved replies, mentions, files, a suggestion. */

import { isComposing } from "../common/composing.js";
import { html } from "../common/html.js";
import { TooLong, excess } from "../common/lengths.js";
import { isForeign, t } from "../common/i18n.js";
import { Component, createRef } from "../vendor/preact.js";
import * as assist from "./assist.js";
import { NoModel, Sources, modelFor } from "./bubble.js";
import * as chats from "./chats.js";
import { reversible } from "./delayed.js";
import { Icon } from "./icons.js";
import { OBSTACLES, label } from "./labels.js";
import * as outbox from "./outbox.js";
import { customerName, presence } from "./people.js";
import { Emoji, Rewrite, SendMore } from "./popups.js";
import { draftOf, filesOf, isReadable, obstacle } from "./reducer.js";
import { dispatch, remember } from "./store.js";
import { takesTemplates } from "./templates.js";
import { languageName } from "./times.js";

/** Matches a slash at the beginning or after a space, and the text from it to the caret. */
const SHORTCUT = /(^|\s)\/(\S{0,40})$/;
const MENTION = /(^|[\s(])@([^@\n]{0,40})$/u;

const ENTER_KEY = "desk.enter";

/** Whether Enter sends, as this person has chosen in this browser; Ctrl Enter always does. */
export const entersSend = () => localStorage.getItem(ENTER_KEY) === "on";

export function setEnterSends(isOn) {
  remember(ENTER_KEY, isOn ? "on" : "off");
  dispatch({ type: "tick", now: Date.now() });
}

export class Composer extends Component {
  state = { options: [], chosen: 0, suggestion: null, isOver: false };
  field = createRef();
  made = {}; // saved replies filled in for this chat

  componentDidMount() {
    this.fit();
  }

  componentDidUpdate() {
    this.fit();
  }

  /** As high as its text, up to a limit in the style sheet. */
  fit() {
    const field = this.field.current;
    if (!field || this.fitted === field.value) return;
    this.fitted = field.value;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  }

  get draft() {
    return draftOf(this.props.state, this.props.chat.id);
  }

  /** The attached files; they stay with their chat when another one is opened. */
  get files() {
    return filesOf(this.props.state, this.props.chat.id);
  }

  attach(files) {
    this.change({});
    dispatch({ type: "files", id: this.props.chat.id, files });
  }

  /** A chat that takes no reply may still be given a note. What was begun stays what it is, whoever has the chat. */
  get isNote() {
    const { isNote, begunAs } = this.draft;
    if (this.isBegun && begunAs) return begunAs === "note";
    return isNote || Boolean(obstacle(this.props.state, this.props.chat));
  }

  get isBegun() {
    return Boolean(this.draft.text || this.files.length);
  }

  /** Nobody writes into a chat that they cannot read yet; what is typed stays. */
  get isUsable() {
    return isReadable(this.props.state, this.props.chat.id);
  }

  change(draft) {
    const isNote = draft.isNote ?? this.isNote;
    dispatch({ type: "draft", id: this.props.chat.id, draft: { ...draft, begunAs: isNote ? "note" : "reply" } });
  }

  write(text) {
    this.change({ text });
    if (this.state.fault) this.setState({ fault: null });
    if (!this.isNote && text && !obstacle(this.props.state, this.props.chat)) chats.typing(this.props.chat.id);
    this.offer(text);
  }

  /** Saved replies after a slash, people after an @ in a note. */
  async offer(text) {
    const caret = this.field.current?.selectionStart ?? text.length;
    const shortcut = !this.isNote && text.slice(0, caret).match(SHORTCUT);
    const mention = this.isNote && text.slice(0, caret).match(MENTION);
    if (shortcut) {
      const found = await this.filledIn(await assist.savedReplies(shortcut[2]));
      if (this.draft.text !== text) return; // the agent has typed meanwhile
      this.setState({ options: found, chosen: 0, isNothing: !found.length && !shortcut.index });
    } else if (mention) {
      this.setState({ options: people(this.props.state, mention[2]), chosen: 0 });
    } else if (this.state.options.length || this.state.isNothing) {
      this.setState({ options: [], isNothing: false });
    }
  }

  /** Saved replies as they would be inserted; each is requested once while the chat is open. */
  async filledIn(replies) {
    const { chat } = this.props;
    const texts = await Promise.all(replies.map(({ id, updated_at: at }) => (this.made[`${id} ${at}`] ??= assist.render(chat.id, id))));
    return replies.map((reply, place) => ({ reply, label: `/${reply.shortcut}`, more: texts[place]?.text }));
  }

  async choose(option) {
    const { chat } = this.props;
    const caret = this.field.current.selectionStart;
    this.setState({ options: [] });
    if (option.reply) {
      const made = await assist.render(chat.id, option.reply.id);
      if (!made) return;
      this.replace(caret, SHORTCUT, made.text);
      this.setState({ missing: made.missing });
    } else {
      this.replace(caret, MENTION, `@${option.label} `);
    }
  }

  /** Inserts text at the caret, in place of the match of `pattern` before it; the caret moves behind the text. */
  replace(caret, pattern, words) {
    const { text } = this.draft;
    const before = text.slice(0, caret).replace(pattern, (_, space) => `${space ?? ""}${words}`);
    this.change({ text: before + text.slice(caret) });
    const field = this.field.current;
    field.focus();
    // Waits until the field has the text.
    setTimeout(() => field.setSelectionRange(before.length, before.length));
  }

  insert = (words) => this.replace(this.field.current.selectionEnd, /()$/, words);

  /** Begins a saved reply where the caret is. */
  beginShortcut = () => {
    const before = this.draft.text.slice(0, this.field.current.selectionEnd);
    this.insert(!before || /\s$/.test(before) ? "/" : " /");
    setTimeout(() => this.offer(this.draft.text));
  };

  rewrite = async (style) => {
    const { chat } = this.props;
    const { text } = this.draft;
    this.setState({ isRewriting: true, fault: null });
    const { text: made, fault } = await assist.rewrite(chat.id, text, style);
    this.setState({ isRewriting: false, fault });
    if (made !== undefined && this.draft.text === text) this.exchange({ text: made }); // else refused, or the agent has typed
  };

  /** Puts other words in place of what is typed, which comes back by an undo. */
  exchange(draft) {
    const { id } = this.props.chat;
    const before = this.draft;
    this.change(draft);
    if (before.text) reversible(t("Text rewritten."), () => dispatch({ type: "draft", id, draft: before }));
    this.field.current?.focus();
  }

  /** Sends what is typed; whether it was sent. */
  send = () => {
    const { chat, state } = this.props;
    const text = this.draft.text.trim();
    const { files } = this;
    if ((!text && !files.length) || excess(text) || state.me.role === "viewer" || !this.isUsable) return false;
    if (!this.isNote && obstacle(state, chat)) {
      this.setState({ fault: t("Your reply wasn't sent. To keep it for your team, select “Note” first.") });
      return false;
    }
    outbox.send(chat.id, { text, isNote: this.isNote, files });
    this.setState({ suggestion: null, options: [], missing: null, isNothing: false, fault: null });
    return true;
  };

  /** Sends the reply, then ends or snoozes the chat. */
  sendAnd = (what) => {
    const { id } = this.props.chat;
    const isSent = this.send();
    this.field.current.focus();
    if (!isSent) return;
    if (what === "end") chats.end([id]);
    else dispatch({ type: "dialog", dialog: { kind: "snooze", ids: [id] } });
  };

  onKey = (event) => {
    const { options, chosen, suggestion } = this.state;
    if (isComposing(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.send();
    } else if (options.length && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : options.length - 1;
      this.setState({ chosen: (chosen + step) % options.length });
    } else if (options.length && ["Enter", "Tab"].includes(event.key)) {
      event.preventDefault();
      this.choose(options[chosen]);
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey && entersSend()) {
      event.preventDefault();
      this.send();
    } else if (event.key === "Escape" && (options.length || suggestion)) {
      event.stopPropagation();
      this.setState({ options: [], suggestion: null });
    } else if (event.key === "Tab" && !event.shiftKey && suggestion?.found && !this.draft.text) {
      event.preventDefault();
      this.accept();
    }
  };

  accept = () => {
    this.exchange({ text: this.state.suggestion.found.text, isNote: false });
    this.setState({ suggestion: null });
  };

  suggest = async () => {
    this.setState({ suggestion: { isAsked: true } });
    const suggestion = await assist.suggest(this.props.chat.id);
    this.setState({ suggestion: "found" in suggestion || suggestion.fault ? suggestion : null });
    this.field.current?.focus();
  };

  add(list) {
    if (!this.isUsable) return;
    this.attach([...this.files, ...list].slice(0, document.documentElement.dataset.maxFiles));
    this.setState({ isOver: false });
  }

  onPaste = (event) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    this.add(event.clipboardData.files);
  };

  onDrop = (event) => {
    event.preventDefault();
    this.add(event.dataTransfer.files);
  };

  onDrag = (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    this.setState({ isOver: event.type === "dragover" });
  };

  render({ state, chat }, { options, chosen, suggestion, isOver, missing, isNothing, isRewriting, fault }) {
    const hindrance = obstacle(state, chat);
    if (hindrance === "only_read") return html`<p class="composer quiet">${label(OBSTACLES, hindrance)}</p>`;
    const { isNote, files, isUsable } = this;
    const { text } = this.draft;
    const isReady = (text.trim() || files.length) && !excess(text);
    const { missedBy, isExpected } = modelFor(state, chat);
    const hint = isNote ? t("Write a note for your team. Customers never see it. Use @name to notify someone.") : t("Write a reply, or type / for saved replies.");
    const mode = (value, name) => html`
      <button type="button" class=${`mode ${value ? "to-note" : "to-reply"}`} aria-pressed=${String(isNote === value)}
        disabled=${!value && hindrance} onClick=${() => this.setMode(value)}>${name}</button>
    `;
    return html`
      <section class=${`composer ${isNote ? "is-note" : ""} ${isOver ? "is-over" : ""}`} aria-label=${isNote ? t("Note") : t("Reply")}
        onDragOver=${this.onDrag} onDragLeave=${this.onDrag} onDrop=${this.onDrop}>
        <div class="modes" role="group">
          ${mode(false, t("Reply"))}${mode(true, html`<${Icon} name="lock" /> ${t("Note")}`)}
          ${hindrance && html`<span class="quiet hindrance" role="status">${t(OBSTACLES[hindrance], { name: chat.assignee?.name })}</span>`}
          ${isNote && !hindrance && html`<span class="quiet">${t("Only your team sees this")}</span>`}
        </div>
        ${!isNote && state.customers[chat.customer_id]?.opt_out === "all" && html`<p class="fault" role="status" data-opted-out>${t("This customer asked for no more messages. Your reply will still be sent.")}</p>`}
        ${suggestion && html`<${Suggestion} suggestion=${suggestion} accept=${this.accept} />`}
        ${missing?.length > 0 && html`<p class="quiet">${t("No value for: {names}", { names: missing.join(", ") })}</p>`}
        <textarea id="composer" ref=${this.field} rows="2" dir="auto" value=${text}
          aria-label=${isNote ? t("Note") : t("Reply to {name}", { name: customerName(chat) })} readonly=${!isUsable}
          placeholder=${isUsable ? (isOver ? t("Drop files to attach them") : hint) : t("Loading…")}
          onInput=${(event) => this.write(event.target.value)} onKeyDown=${this.onKey} onPaste=${this.onPaste}></textarea>
        <${TooLong} text=${text} />
        ${!isNote && text.trim() && isForeign(chat.language) && missedBy && isExpected && html`<div role="status" data-untranslated><p class="quiet">${t("Your reply won't be translated. The customer speaks {language}.", { language: languageName(chat.language) })}</p><${NoModel} role=${missedBy} /></div>`}
        ${fault && html`<p class="fault" role="alert" dir="auto">${fault}</p>`}
        ${isNothing && html`<p class="quiet"><span role="status">${t("No matching saved replies.")}</span>
          <button type="button" class="link" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "replies" } })}>${t("Edit saved replies")}</button></p>`}
        ${options.length > 0 && html`<${Options} options=${options} chosen=${chosen} choose=${(option) => this.choose(option)} />`}
        ${files.length > 0 && html`<${Files} files=${files} remove=${(file) => this.attach(files.filter((one) => one !== file))} />`}
        <fieldset disabled=${!isUsable}><div class="tools">
          <label class="button"><${Icon} name="clip" /><span class="hidden">${t("Attach files")}</span>
            <input class="hidden" type="file" multiple onChange=${(event) => this.add(event.target.files)} /></label>
          <${Emoji} onChoose=${this.insert} />
          ${!isNote && html`<button type="button" onClick=${this.beginShortcut}>/<span class="hidden"> ${t("Saved replies")}</span></button>`}
          ${!isNote && html`<button type="button" onClick=${this.suggest}><${Icon} name="spark" /> ${t("Suggest")}</button>`}
          ${!isNote && state.bots[chat.bot_id]?.has_model && html`<${Rewrite} language=${languageName(chat.language)} isBusy=${isRewriting} isDisabled=${!text.trim() || excess(text)} onChoose=${this.rewrite} />`}
          ${takesTemplates(state, chat) && html`<button type="button" onClick=${() => dispatch({ type: "dialog", dialog: { kind: "templates", ids: [chat.id] } })}>${t("Template")}</button>`}
          <div class="sending">
            <button type="button" class="first" disabled=${!isReady} onClick=${this.send}>
              ${isNote ? t("Add note") : t("Send")} <kbd>${entersSend() ? "↵" : "Ctrl ↵"}</kbd>
            </button>
            ${!isNote && html`<${SendMore} isDisabled=${!isReady} onChoose=${this.sendAnd} />`}
          </div>
        </div></fieldset>
      </section>
    `;
  }

  setMode(isNote) {
    this.change({ isNote });
    this.setState({ options: [], isNothing: false, fault: null });
    this.field.current.focus();
  }
}

/** In lower case without diacritics: "ba" finds Bảo. */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase().replaceAll("đ", "d");

/** The colleagues with a name that contains a word with this beginning. */
function people(state, beginning) {
  const wanted = plain(beginning);
  return Object.values(state.people)
    .filter(({ full_name: name, is_disabled: isDisabled }) => {
      const words = [name, ...name.split(" ")].map(plain);
      return !isDisabled && words.some((word) => word.startsWith(wanted));
    })
    .slice(0, 8)
    .map(({ id, full_name: label }) => ({ label, more: presence(state, id) }));
}

function Options({ options, chosen, choose }) {
  return html`
    <ul class="options-list" role="listbox" aria-label=${options[0].reply ? t("Saved replies") : t("Teammates")}>
      ${options.map(
        (option, place) => html`
          <li role="option" aria-selected=${String(place === chosen)} key=${option.label} onClick=${() => choose(option)}>
            <bdi>${option.label}</bdi> <span class="quiet" dir="auto">${option.more}</span>
          </li>
        `,
      )}
    </ul>
  `;
}

/** The bot's suggestion, in grey: it is sent only if the agent accepts it. */
function Suggestion({ suggestion, accept }) {
  if (suggestion.fault) return html`<p class="suggestion fault" role="alert" dir="auto">${suggestion.fault}</p>`;
  if (suggestion.isAsked) return html`<p class="suggestion quiet" role="status">${t("Loading…")}</p>`;
  if (!suggestion.found) return html`<p class="suggestion quiet" role="status">${t("Nothing in your content matches.")}</p>`;
  return html`
    <div class="suggestion" role="status">
      <p class="quiet">${t("Suggested by the bot")}</p>
      <p class="said" dir="auto">${suggestion.found.text}</p>
      <${Sources} citations=${suggestion.found.citations} />
      <button type="button" onClick=${accept}>${t("Use reply")} <kbd>Tab</kbd></button>
    </div>
  `;
}

function Files({ files, remove }) {
  return html`
    <ul class="files">
      ${files.map(
        (file) => html`
          <li><bdi>${file.name}</bdi>
            <button type="button" aria-label=${t("Remove {name}", { name: file.name })} onClick=${() => remove(file)}>×</button></li>
        `,
      )}
    </ul>
  `;
}
