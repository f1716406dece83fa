/** The open chat: header, terms and form, log, composer. */
import { isComposing } from "../../common/composing.js";
import { followEnd } from "../../common/end.js";
import { html } from "../../common/html.js";
import { t } from "../../common/i18n.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { isAwaited, isFromUs, personWords } from "../store.js";
import { Introduction, Terms } from "./before_chat.js";
import { Composer } from "./composer.js";
import { Home } from "./home.js";
import { Icon } from "./icons.js";
import { LeaveMail, mayLeaveMail, whenThere } from "./availability.js";
import { Draft, Message, Rating, Waiting } from "./message.js";
import { Rich } from "../../common/message_text.js";

export function Panel({ state, actions, locale }) {
  const { config, agreed, known, chat, messages, outbox, isReady } = state;
  const asked = config.customer_info_fields.filter((field) => field.ask_before_chat);
  // The messages of a chat that was given up can be read until the next message is sent.
  const isReading = messages.length > 0 && !outbox.length;
  let body = html`<${Talk} state=${state} actions=${actions} locale=${locale} />`;
  if (!isReady) body = html`<div class="log" aria-busy="true"></div>`;
  else if (config.terms && !agreed) body = html`<${Terms} terms=${config.terms} onAgree=${actions.agree} />`;
  else if (asked.length && !chat && !known && !isReading) {
    body = html`<${Introduction} state=${state} fields=${asked} actions=${actions} />
      <${Notices} state=${state} actions=${actions} locale=${locale} />`;
  }
  // Files may be dropped anywhere: beside the field, the browser would open them in place of the chat.
  const drop = (event) => {
    const { types, files } = event.dataTransfer;
    if (!types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop" && isReady && config.attach_enabled) actions.attach(files);
  };
  return html`<main class="panel" aria-label=${config.bot_name} onDragOver=${drop} onDrop=${drop}>
    <${Head} state=${state} actions=${actions} />
    ${config.banner && html`<${Banner} banner=${config.banner} />`}
    ${body}
  </main>`;
}

function Head({ state, actions }) {
  const { config, chat, isHome, isReady, isLarge } = state;
  const [isOpen, setIsOpen] = useState(false);
  const [asks, setAsks] = useState(""); // the menu's open question: "end", "mail", or none
  const head = useRef(null);
  const button = useRef(null);
  const who = chat?.agent ?? { name: config.bot_name, avatar_url: config.bot_icon };
  const canEnd = chat && chat.status !== "ended";
  const canTake = chat && config.export_enabled;
  const person = isReady && personWords(state);
  // Returns the focus to the button, because the chosen entry of the menu is gone.
  const close = () => (setIsOpen(false), setAsks(""), button.current.focus());
  // At once: an Escape may follow the key that opened it.
  useLayoutEffect(() => (isOpen ? whileOpen(head.current, close, () => setIsOpen(false)) : undefined), [isOpen]);
  const canGoBack = isReady && !isHome && hasAsked(state);
  return html`<header class="head" ref=${head}>
    ${canGoBack && html`<button class="icon" aria-label=${t("Back to home screen")} onClick=${actions.home}><${Icon} name="back" /></button>`}
    <${Face} who=${who} key=${who.name} />
    <h1 dir="auto">${who.name}</h1>
    ${(canEnd || canTake || person) &&
    html`<button class="icon" ref=${button} aria-label=${t("Chat options")} aria-expanded=${String(isOpen)} onClick=${() => (setAsks(""), setIsOpen(!isOpen))}><${Icon} name="more" /></button>`}
    ${!state.fills &&
    html`<button class="icon" aria-label=${t("Large window")} aria-pressed=${String(isLarge)} onClick=${() => actions.keep({ isLarge: !isLarge })}><${Icon} name=${isLarge ? "small" : "large"} /></button>`}
    <button class="icon" aria-label=${t("Close the chat")} onClick=${actions.hide}><${Icon} name="close" /></button>
    ${isOpen &&
    html`<div class="menu">
      ${person && html`<button dir="auto" onClick=${() => (close(), actions.ask(person))}>${person}</button>`}
      ${canTake && html`<button onClick=${() => (close(), actions.transcript())}>${t("Download transcript")}</button>`}
      ${canTake && asks !== "mail" && html`<button onClick=${() => setAsks("mail")}>${t("Email transcript")}</button>`}
      ${canTake && asks === "mail" && html`<${MailForm} email=${chat.customer.email} onDone=${(email) => (close(), actions.mail(email))} />`}
      <button onClick=${() => (close(), actions.keep({ isQuiet: !state.isQuiet }))}>${state.isQuiet ? t("Turn sound on") : t("Turn sound off")}</button>
      ${canEnd && asks !== "end" && html`<button onClick=${() => setAsks("end")}>${t("End chat")}</button>`}
      ${canEnd &&
      asks === "end" &&
      html`<p>${t("End this chat?")}</p>
        <button onClick=${() => (close(), actions.end())}>${t("End chat")}</button>
        <button onClick=${close}>${t("Keep chatting")}</button>`}
    </div>`}
  </header>`;
}

/** Escape closes the open menu and nothing else, and so does a click elsewhere. Returns a function that stops this. */
function whileOpen(place, close, leave) {
  const onKeyDown = (event) => {
    if (event.key !== "Escape" || isComposing(event)) return;
    event.stopPropagation();
    close();
  };
  const onPress = (event) => !place.contains(event.target) && leave();
  addEventListener("keydown", onKeyDown, true);
  addEventListener("pointerdown", onPress, true);
  return () => {
    removeEventListener("keydown", onKeyDown, true);
    removeEventListener("pointerdown", onPress, true);
  };
}

function MailForm({ email, onDone }) {
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);
  const submit = (event) => {
    event.preventDefault();
    onDone(input.current.value.trim());
  };
  return html`<form onSubmit=${submit}>
    <label class="field"><span>${t("Email address")}</span>
      <input ref=${input} type="email" required maxlength="254" autocomplete="email" defaultValue=${email ?? ""} /></label>
    <button class="main">${t("Email transcript")}</button>
  </form>`;
}

function Face({ who }) {
  const [isBroken, setIsBroken] = useState(false);
  if (who.avatar_url && !isBroken) {
    return html`<img class="face" src=${who.avatar_url} alt="" onError=${() => setIsBroken(true)} />`;
  }
  return html`<span class="face" aria-hidden="true">${[...who.name][0] ?? ""}</span>`;
}

/** The client's banner; if the picture does not load, only its text is shown, and without text nothing. */
function Banner({ banner }) {
  const [isBroken, setIsBroken] = useState(false);
  const { link, alt } = banner;
  if (isBroken && !alt && !link) return null;
  const picture = isBroken ? alt || link : html`<img src=${banner.url} alt=${alt ?? ""} onError=${() => setIsBroken(true)} />`;
  return html`<div class="banner">
    ${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer" aria-label=${alt || link}>${picture}</a>` : picture}
  </div>`;
}

function Talk({ state, actions, locale }) {
  const { config, chat, isHome, isBlocked, outbox, draft, thumbs } = state;
  const messages = isHome ? [] : state.messages;
  const log = useRef(null);
  const end = useRef(null);
  const [hasNewer, setHasNewer] = useState(false); // below what the reader sees
  const typist = chat?.status !== "ended" && chat?.agent?.is_typing ? chat.agent.name : null;
  useEffect(() => {
    end.current = followEnd(log.current, () => setHasNewer(false));
    return end.current.stop;
  }, []);
  const toEnd = () => (end.current.toEnd(), setHasNewer(false));
  // A reader further up stays there, and is told about new messages; their own message scrolls to the end.
  const theirs = messages.filter(isFromUs).length;
  const shown = useRef(theirs);
  useEffect(() => {
    if (theirs > shown.current && !end.current.isAtEnd()) setHasNewer(true);
    shown.current = theirs;
    end.current.stay();
  }, [theirs]);
  useEffect(toEnd, [messages.length - theirs + outbox.length]);
  useEffect(() => void end.current.stay(), [messages.length, draft, typist, chat?.status, chat?.assign_type]);
  const isEnded = chat?.status === "ended" && !isHome;
  const mayGoOn = isEnded && !isBlocked;
  const lastOwn = outbox.length ? -1 : messages.findLastIndex((message) => !isFromUs(message));
  const greets = !messages.length && config.welcome_message;
  return html`
    <div class="log" ref=${log} tabindex="0" role="region" aria-label=${config.bot_name}>
      <ol aria-live="polite" aria-relevant="additions">
        ${greets &&
        html`<li class="message bot"><div class="bubble"><div class="text" dir="auto"><${Rich} text=${config.welcome_message} /></div></div></li>`}
        ${messages.map(
          (message, at) => html`<${Message}
            key=${message.id} message=${message} language=${chat?.language} isLast=${at === messages.length - 1} thumb=${thumbs[message.id]}
            isContinued=${isContinued(messages[at - 1], message)} state=${at === lastOwn ? stateOf(message, state) : null} actions=${actions} locale=${locale}
          />`,
        )}
        ${outbox.map((item) => html`<${Waiting} key=${item.id} item=${item} />`)}
        ${!isHome && (draft !== null || isAwaited(state)) && html`<${Draft} text=${draft} name=${config.bot_name} />`}
        ${typist && !isHome && html`<${Draft} by="agent" name=${typist} />`}
      </ol>
      ${(isHome || !hasAsked(state)) && html`<${Home} state=${state} actions=${actions} locale=${locale} />`}
      ${isEnded && html`<p class="note">${t("This chat has ended.")}</p>`}
      ${mayGoOn && (chat.is_rated ? html`<p class="note" role="status">${t("Thank you!")}</p>` : html`<${Rating} drafts=${state.drafts} actions=${actions} />`)}
      ${mayGoOn && html`<p class="note"><button class="main" onClick=${actions.another}>${t("Start a new chat")}</button></p>`}
      ${hasNewer && html`<button class="newer" onClick=${toEnd}>${t("New message")} ↓</button>`}
    </div>
    <${Notices} state=${state} actions=${actions} locale=${locale} />
    <${Composer} state=${state} actions=${actions} />
  `;
}

/** Whether the visitor has said anything in the chat. */
const hasAsked = ({ outbox, messages }) => outbox.length > 0 || !messages.every(isFromUs);

const PAUSE = 5 * 60 * 1000; // milliseconds between messages that are shown apart

/** Whether a message continues the previous one of the same sender. */
function isContinued(before, { sender, conversation_id: id, created_at: time }) {
  const isSame = before?.sender.type === sender.type && before.sender.name === sender.name && before.conversation_id === id;
  return isSame && Date.parse(time) - Date.parse(before.created_at) < PAUSE;
}

/** The state of the visitor's last message, until somebody has answered it. */
function stateOf(message, { messages, draft }) {
  if (message.is_seen) return "seen";
  return messages.at(-1) === message && draft === null ? "sent" : null;
}

/** Whether a person has yet to answer: nobody has the chat, or its agent has not written, or left before the visitor's
last message. */
function waits({ chat, messages }, isStaffed) {
  if (!chat || chat.status === "ended" || chat.assign_type === "bot") return false;
  const isBegun = messages.some(({ sender }) => sender.type === "agent" && sender.name === chat.agent?.name);
  return !isBegun || (!isStaffed && !isFromUs(messages.at(-1)));
}

/** What the visitor must know now: no connection, who has the chat, how long the wait is. */
function Notices({ state, actions, locale }) {
  const { isOnline, isBlocked, notice, problem, chat, config } = state;
  const isStaffed = config.is_open && config.agents_online > 0;
  const isWaiting = waits(state, isStaffed);
  // Says so if an agent has returned the chat to the bot.
  const isBack = chat?.status === "open" && chat.assign_type === "bot" && state.messages.some(({ sender }) => sender.type === "agent");
  const partner = isBack ? config.bot_name : chat?.status !== "ended" && !isWaiting && chat?.agent?.name;
  const lines = [
    !isOnline && t("You're offline. Your messages will be sent when you reconnect."),
    isWaiting && isStaffed && t("Connecting you to our team."),
    isWaiting && isStaffed && chat.place_in_queue && t("You're number {place} in line.", { place: chat.place_in_queue }),
    isWaiting && whenThere(config, locale),
    isWaiting && config.answers_by_mail && chat.customer.email && t("We'll also email you at {email}.", { email: chat.customer.email }),
    partner && t("You're chatting with {name}.", { name: partner }),
    notice,
  ];
  return html`<div class="notices">
    <p role="status" dir="auto">${isBlocked ? "" : lines.filter(Boolean).join(" ")}</p>
    ${isWaiting && !isBlocked && mayLeaveMail(state) && html`<${LeaveMail} state=${state} actions=${actions} />`}
    ${problem &&
    html`<p class="problem" role="alert"><span dir="auto">${problem}</span>
      <button class="icon" aria-label=${t("Dismiss")} onClick=${actions.dismiss}><${Icon} name="close" /></button></p>`}
  </div>`;
}
