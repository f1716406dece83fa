/** A message, and an answer while it is being written. Text of people is shown as text, never as markup. */
import { html } from "../../common/html.js";
import { LONGEST_COMMENT, TooLong } from "../../common/lengths.js";
import { t } from "../../common/i18n.js";
import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { Icon } from "./icons.js";
import { PlainText, raised, Rich, wordsOf } from "../../common/message_text.js";

const isOwn = (url) => url.startsWith("/") || url.startsWith(`${location.origin}/`);
const isWeb = (url) => /^(https?:\/\/|\/)/.test(url ?? "");

const File = ({ url, onClick, children }) =>
  html`<a class="file" dir="auto" href=${url} target="_blank" rel="noopener noreferrer" onClick=${onClick}>${children}</a>`;

/** A picture, which a click enlarges, or text if it cannot be shown. */
function Picture({ url, name }) {
  const [isBroken, setIsBroken] = useState(false);
  const [isLarge, setIsLarge] = useState(false);
  if (isBroken) return html`<${File} url=${url}>${t("The image {name} can't be shown", { name })}<//>`;
  const enlarge = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // The visitor wants another tab or window.
    event.preventDefault();
    setIsLarge(true);
  };
  return html`
    <${File} url=${url} onClick=${enlarge}><img class="picture" src=${url} alt=${name} loading="lazy" onError=${() => setIsBroken(true)} /><//>
    ${isLarge && html`<${Enlarged} url=${url} name=${name} onClose=${() => setIsLarge(false)} />`}
  `;
}

/** A picture above the chat until a click or Escape, which then does nothing else. */
function Enlarged({ url, name, onClose }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog class="enlarged" ref=${dialog} aria-label=${name} onClose=${onClose} onClick=${() => dialog.current.close()}
    onKeyDown=${(event) => event.stopPropagation()}>
    <button class="icon" aria-label=${t("Dismiss")}><${Icon} name="close" /></button>
    <img src=${url} alt=${name} />
  </dialog>`;
}

/** A recording or film of the platform's own, to play in place; others, and those that cannot be played, are links. */
function Player({ type, url, name }) {
  const [isBroken, setIsBroken] = useState(false);
  if (isBroken || !["audio", "video"].includes(type) || !isOwn(url)) return null;
  return html`<${type} class="picture" controls preload=${type === "audio" ? "metadata" : "none"} src=${url} aria-label=${name} onError=${() => setIsBroken(true)} />`;
}

/** The choices that a message offers; once the chat has continued, only their names. */
function Options({ options, onChoose }) {
  if (!onChoose) return html`<ul class="offered">${options.map(({ label }) => html`<li dir="auto">${label}</li>`)}</ul>`;
  return html`<div class="options">
    ${options.map(({ label, value }) => html`<button class="option" dir="auto" onClick=${() => onChoose(value)}>${label}</button>`)}
  </div>`;
}

function Part({ part, isOurs, places, onChoose }) {
  const { type, url } = part;
  const name = part.file_name ?? t("File");
  const text = isWeb(url) ? part.text : wordsOf(part) || part.error;
  return html`
    ${isWeb(url) &&
    (type === "image"
      ? html`<${Picture} url=${url} name=${name} />`
      : html`<${Player} type=${type} url=${url} name=${name} /><${File} url=${url}>${name}<//>`)}
    ${text &&
    (isOurs
      ? html`<div class="text" dir="auto"><${Rich} text=${text} places=${places} /></div>`
      : html`<p class="text" dir="auto"><${PlainText} text=${text} /></p>`)}
    ${part.options && html`<${Options} options=${part.options} onChoose=${onChoose} />`}
  `;
}

/** Citations of one section of a document are one source. */
function sourcesOf(citations) {
  const sources = new Map();
  for (const citation of citations) {
    const key = JSON.stringify([citation.document_id, citation.page, citation.section]);
    sources.set(key, [...(sources.get(key) ?? []), citation]);
  }
  return [...sources.values()];
}

/** The places of the sources, by the numbers that the bot cites them with. */
function placesOf(sources) {
  return new Map(sources.flatMap((citations, at) => citations.map(({ number }) => [number, at + 1])));
}

/** The source's address; browsers that can open it at the words that were used. */
const addressOf = ({ url, quote }) =>
  url.includes("#") ? url : `${url}#:~:text=${encodeURIComponent(quote.split(/\n|(?<=[.!?]) /)[0].slice(0, 200)).replaceAll("-", "%2D")}`;

function Sources({ sources }) {
  const name = ({ section, title, page }) => section || (page ? `${title}, ${t("page {page}", { page })}` : title);
  return html`<ol class="sources" aria-label=${t("Sources")}>
    ${sources.map(
      (citations, at) => html`<li>
        <details>
          <summary><span aria-hidden="true">${raised(at + 1)}</span> <bdi>${name(citations[0])}</bdi></summary>
          ${citations.map(({ quote }) => html`<blockquote dir="auto">${quote}</blockquote>`)}
          ${isWeb(citations[0].url) &&
          html`<a href=${addressOf(citations[0])} target="_blank" rel="noopener noreferrer">${t("View source")}</a>`}
        </details>
      </li>`,
    )}
  </ol>`;
}

function Thumbs({ value, onThumb }) {
  const thumb = (name, label) => html`<button
    class="thumb" aria-pressed=${String(value === name)} aria-label=${label} title=${label} onClick=${() => onThumb(name)}
  ><${Icon} name=${name} /></button>`;
  return html`<div class="thumbs">${thumb("up", t("Helpful"))}${thumb("down", t("Not helpful"))}</div>`;
}

/** An agent's text, in the visitor's language if it was translated: one text for the whole message. */
export function translated({ sender, content, translations }, language) {
  const words = sender.type === "agent" && (translations[language] ?? Object.values(translations)[0]);
  if (!words) return null;
  return [{ type: "text", text: words }, ...content.map((part) => ({ ...part, text: null }))];
}

/** "Translated from English", with a button for the original. */
function Origin({ language, isOriginal, onToggle, locale }) {
  const name = language && new Intl.DisplayNames(locale, { type: "language" }).of(language);
  return html`<p class="by">${name ? t("Translated from {language}", { language: name }) : t("Translated")} ·${" "}
    <button class="origin" onClick=${onToggle}>${isOriginal ? t("Show translation") : t("Show original")}</button></p>`;
}

/** `isContinued`: the same sender said something shortly before. `state`: whether the visitor's own words were seen. */
export function Message({ message, language, isLast, isContinued, state, thumb, actions, locale }) {
  const [isOriginal, setIsOriginal] = useState(false);
  const { type, name } = message.sender;
  const isOurs = type !== "customer";
  const translation = translated(message, language);
  const parts = ((!isOriginal && translation) || message.content).filter((part) => part.type !== "feedback");
  if (!parts.length && !message.deleted_at) return null;
  const time = new Date(message.created_at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
  const isRateable = type === "bot" && !message.is_welcome;
  const sources = sourcesOf(message.citations);
  const places = placesOf(sources);
  return html`<li class=${`message ${type}${isContinued ? " continued" : ""}`}>
    <p class=${isContinued ? "unseen" : "by"}><bdi>${isOurs ? name : t("You")}</bdi> <time datetime=${message.created_at}>${time}</time></p>
    <div class="bubble">
      ${message.deleted_at && html`<p class="by">${t("This message was deleted.")}</p>`}
      ${parts.map((part) => html`<${Part} part=${part} isOurs=${isOurs} places=${places} onChoose=${isLast && actions.send} />`)}
    </div>
    ${message.edited_at && !message.deleted_at && html`<p class="by">${t("Edited")}</p>`}
    ${translation &&
    html`<${Origin} language=${message.language} isOriginal=${isOriginal} onToggle=${() => setIsOriginal(!isOriginal)} locale=${locale} />`}
    ${sources.length > 0 && html`<${Sources} sources=${sources} />`}
    ${state && html`<p class="by" data-state=${state}>${state === "seen" ? t("Seen") : t("Sent")}</p>`}
    ${isRateable && html`<${Thumbs} value=${thumb} onThumb=${(value) => actions.thumb(message, value)} />`}
  </li>`;
}

/** A message that waits to be sent. */
export function Waiting({ item }) {
  const names = item.files.map((file) => file.name).join(", ");
  return html`<li class="message customer waiting">
    <p class="by">${t("You")} <span>${t("Sending…")}</span></p>
    <div class="bubble"><p class="text" dir="auto">${item.text || names}</p></div>
  </li>`;
}

/** The answer while it is being written, by the bot or an agent. Screen readers read the finished one. */
export function Draft({ text, name, by = "bot" }) {
  return html`<li class=${`message ${by} draft`}>
    <p class="by"><bdi>${name}</bdi></p>
    <div class="bubble">
      ${text
        ? html`<div class="text" dir="auto" aria-hidden="true"><${Rich} text=${text} /></div>`
        : html`<p class="dots" role="img" aria-label=${t("{name} is typing", { name })}><i></i><i></i><i></i></p>`}
    </div>
  </li>`;
}

/** The form for stars and a comment, sent once. */
export function Rating({ drafts, actions }) {
  const { stars, comment } = drafts;
  const form = useRef(null);
  // The first star makes the form longer than the room that is left for it.
  useEffect(() => {
    if (stars > 0) form.current.scrollIntoView({ block: "end" });
  }, [stars > 0]);
  const submit = (event) => {
    event.preventDefault();
    actions.rate();
  };
  const star = (count) => html`<label class=${count <= stars ? "lit" : ""} title=${t("{count} out of 5", { count })}>
    <input type="radio" name="stars" value=${count} aria-label=${t("{count} out of 5", { count })}
      checked=${stars === count} onChange=${() => actions.draft({ stars: count })} /><span aria-hidden="true">${count <= stars ? "★" : "☆"}</span>
  </label>`;
  return html`<form class="rating" ref=${form} onSubmit=${submit}>
    <fieldset>
      <legend>${t("How did we do?")}</legend>
      <div class="stars">${[1, 2, 3, 4, 5].map(star)}</div>
    </fieldset>
    ${stars > 0 &&
    html`<label class="field"><span>${t("Tell us more (optional)")}</span>
        <textarea rows="2" value=${comment} onInput=${(event) => actions.draft({ comment: event.target.value })}></textarea></label>
      <${TooLong} text=${comment} most=${LONGEST_COMMENT} />
      <button class="main">${t("Send rating")}</button>`}
  </form>`;
}
