/** The open chat: head, what comes before the chat, log, composer. */
import { followEnd } from "../../common/end.js";
import { html } from "../../common/html.js";
import { t } from "../../common/words.js";
import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { Introduction, Terms } from "./before.js";
import { Composer } from "./composer.js";
import { Icon } from "./icons.js";
import { Draft, Message, Rating, Waiting } from "./message.js";

export function Panel({ state, actions, locale }) {
  const { config, agreed, known, chat, messages, outbox, isReady } = state;
  const asked = config.customer_info_fields.filter((field) => field.ask_before_chat);
  // What was said in a chat that is given up can be read until something is to be sent.
  const isReading = messages.length > 0 && !outbox.length;
  let body = html`<${Talk} state=${state} actions=${actions} locale=${locale} />`;
  if (!isReady) body = html`<div class="log" aria-busy="true"></div>`;
  else if (config.terms && !agreed) body = html`<${Terms} terms=${config.terms} onAgree=${actions.agree} />`;
  else if (asked.length && !chat && !known && !isReading) {
    body = html`<${Introduction} state=${state} fields=${asked} actions=${actions} />
      <${Notices} state=${state} actions=${actions} locale=${locale} />`;
  }
  return html`<main class="panel" aria-label=${config.bot_name}>
    <${Head} state=${state} actions=${actions} />
    ${config.banner && html`<${Banner} banner=${config.banner} />`}
    ${body}
  </main>`;
}

function Head({ state, actions }) {
  const { config, chat } = state;
  const [isOpen, setIsOpen] = useState(false);
  const [asks, setAsks] = useState(""); // what the menu asks: "end", "mail", or nothing
  const who = chat?.agent ?? { name: config.bot_name, avatar_url: config.bot_icon };
  const canEnd = chat && chat.status !== "ended";
  const canTake = chat && config.export_enabled;
  const close = () => (setIsOpen(false), setAsks(""));
  return html`<header class="head">
    <${Face} who=${who} key=${who.name} />
    <h1 dir="auto">${who.name}</h1>
    ${(canEnd || canTake) &&
    html`<button class="icon" aria-label=${t("Chat options")} aria-expanded=${String(isOpen)} onClick=${() => (setAsks(""), setIsOpen(!isOpen))}><${Icon} name="more" /></button>`}
    <button class="icon" aria-label=${t("Close the chat")} onClick=${actions.hide}><${Icon} name="close" /></button>
    ${isOpen &&
    html`<div class="menu">
      ${canTake && html`<button onClick=${() => (close(), actions.transcript())}>${t("Download transcript")}</button>`}
      ${canTake && asks !== "mail" && html`<button onClick=${() => setAsks("mail")}>${t("Email transcript")}</button>`}
      ${canTake && asks === "mail" && html`<${MailForm} email=${chat.customer.email} onDone=${(email) => (close(), actions.mail(email))} />`}
      ${canEnd && asks !== "end" && html`<button onClick=${() => setAsks("end")}>${t("End chat")}</button>`}
      ${canEnd &&
      asks === "end" &&
      html`<p>${t("End this chat?")}</p>
        <button onClick=${() => (close(), actions.end())}>${t("End chat")}</button>
        <button onClick=${close}>${t("Keep chatting")}</button>`}
    </div>`}
  </header>`;
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
    <button class="main">${t("Send")}</button>
  </form>`;
}

function Face({ who }) {
  const [isBroken, setIsBroken] = useState(false);
  if (who.avatar_url && !isBroken) {
    return html`<img class="face" src=${who.avatar_url} alt="" onError=${() => setIsBroken(true)} />`;
  }
  return html`<span class="face" aria-hidden="true">${[...who.name][0] ?? ""}</span>`;
}

/** The client's picture; where it does not load, its words stand alone, and without words there is nothing. */
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
  const { config, chat, messages, outbox, draft, thumbs, rated } = state;
  const log = useRef(null);
  const end = useRef(null);
  const typist = chat?.status !== "ended" && chat?.agent?.is_typing ? chat.agent.name : null;
  useEffect(() => {
    end.current = followEnd(log.current);
    return end.current.stop;
  }, []);
  useEffect(() => end.current.toEnd(), [messages.length, outbox.length, draft, chat?.status, chat?.assign_type]);
  useEffect(() => end.current.stay(), [typist]);
  const isEnded = chat?.status === "ended";
  const hasAsked = outbox.length > 0 || messages.some((message) => message.sender.type === "customer");
  const greets = !messages.length && config.welcome_message;
  return html`
    <div class="log" ref=${log} tabindex="0" role="region" aria-label=${config.bot_name}>
      <ol aria-live="polite" aria-relevant="additions">
        ${greets &&
        html`<li class="message bot"><div class="bubble"><p class="words" dir="auto">${config.welcome_message}</p></div></li>`}
        ${messages.map(
          (message, at) => html`<${Message}
            key=${message.id} message=${message} language=${chat?.language} isLast=${at === messages.length - 1} thumb=${thumbs[message.id]}
            actions=${actions} locale=${locale}
          />`,
        )}
        ${outbox.map((item) => html`<${Waiting} key=${item.id} item=${item} />`)}
        ${draft !== null && html`<${Draft} text=${draft} name=${config.bot_name} />`}
        ${typist && html`<${Draft} by="agent" name=${typist} />`}
      </ol>
      ${!hasAsked && config.sample_questions.length > 0 && html`<${Questions} questions=${config.sample_questions} onAsk=${actions.send} />`}
      ${isEnded && html`<p class="note">${t("This chat has ended.")}</p>`}
      ${isEnded && (rated ? html`<p class="note" role="status">${t("Thank you!")}</p>` : html`<${Rating} drafts=${state.drafts} actions=${actions} />`)}
      ${isEnded && html`<p class="note"><button class="main" onClick=${actions.another}>${t("Start a new chat")}</button></p>`}
    </div>
    <${Notices} state=${state} actions=${actions} locale=${locale} />
    <${Composer} state=${state} actions=${actions} />
  `;
}

function Questions({ questions, onAsk }) {
  return html`<div class="options" role="group" aria-label=${t("Suggested questions")}>
    ${questions.map(({ question }) => html`<button class="option" dir="auto" onClick=${() => onAsk(question)}>${question}</button>`)}
  </div>`;
}

/** What the visitor must know now: no connection, who has the chat, how long it takes. */
function Notices({ state, actions, locale }) {
  const { isOnline, notice, problem, chat, config } = state;
  const isWaiting = chat?.status !== "ended" && chat?.assign_type === "queue";
  const lines = [
    !isOnline && t("You're offline. Your messages will be sent when you reconnect."),
    // While closed, a message of the conversation says more.
    isWaiting && (config.is_open ? t("Connecting you to our team.") : t("We're closed.")),
    isWaiting && config.is_open && chat.place_in_queue && t("You're number {place} in line.", { place: chat.place_in_queue }),
    isWaiting && config.opens_at && t("Back {time}.", { time: moment(config.opens_at, locale) }),
    chat?.status !== "ended" && chat?.agent && t("You're chatting with {name}.", { name: chat.agent.name }),
    notice,
  ];
  return html`<div class="notices">
    <p role="status" dir="auto">${lines.filter(Boolean).join(" ")}</p>
    ${problem &&
    html`<p class="problem" role="alert"><span dir="auto">${problem}</span>
      <button class="icon" aria-label=${t("Dismiss")} onClick=${actions.dismiss}><${Icon} name="close" /></button></p>`}
  </div>`;
}

const moment = (time, locale) =>
  new Date(time).toLocaleString(locale, { weekday: "long", hour: "2-digit", minute: "2-digit" });
