/** One message, and the answer while it is made. What people wrote is shown as text, never as markup. */
import { html } from "../../common/html.js";
import { t } from "../../common/words.js";
import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { Icon } from "./icons.js";

const LINK = /(https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]])/g;

/** Text with its links. */
export function Words({ text }) {
  return text
    .split(LINK)
    .map((piece, at) => (at % 2 ? html`<a href=${piece} target="_blank" rel="noopener noreferrer nofollow">${piece}</a>` : piece));
}

const isWeb = (url) => /^(https?:\/\/|\/)/.test(url ?? "");

/** A picture, or words where it cannot be shown. */
function Picture({ url, name }) {
  const [isBroken, setIsBroken] = useState(false);
  const shown = isBroken
    ? t("The image {name} can't be shown", { name })
    : html`<img class="picture" src=${url} alt=${name} loading="lazy" onError=${() => setIsBroken(true)} />`;
  return html`<a class="file" dir="auto" href=${url} target="_blank" rel="noopener noreferrer">${shown}</a>`;
}

/** Where a place is, in words; as numbers, if it has no name. */
function whereIs({ city, region, country, latitude, longitude }) {
  const names = [city, region, country].filter(Boolean).join(", ");
  return names || [latitude, longitude].filter((degrees) => degrees !== null).join(", ");
}

/** What a message offers; once the chat went on, names that still say what it was. */
function Options({ options, onChoose }) {
  if (!onChoose) return html`<ul class="offered">${options.map(({ label }) => html`<li dir="auto">${label}</li>`)}</ul>`;
  return html`<div class="options">
    ${options.map(({ label, value }) => html`<button class="option" dir="auto" onClick=${() => onChoose(value)}>${label}</button>`)}
  </div>`;
}

function Piece({ piece, onChoose }) {
  const name = piece.file_name ?? t("File");
  if (piece.type === "image" && isWeb(piece.url)) return html`<${Picture} url=${piece.url} name=${name} />`;
  if (isWeb(piece.url)) {
    return html`<a class="file" dir="auto" href=${piece.url} target="_blank" rel="noopener noreferrer">${name}</a>`;
  }
  const place = piece.location && t("Location: {where}", { where: whereIs(piece.location) });
  const text = piece.text || place || piece.file_name || piece.error;
  return html`
    ${text && html`<p class="words" dir="auto"><${Words} text=${text} /></p>`}
    ${piece.options && html`<${Options} options=${piece.options} onChoose=${onChoose} />`}
  `;
}

/** Each page of a document once, with all that the answer took from it. */
function Sources({ citations }) {
  const name = (source) => (source.page ? `${source.title}, ${t("page {page}", { page: source.page })}` : source.title);
  const isSame = (one, other) => one.document_id === other.document_id && one.page === other.page;
  const sources = citations.filter((source, at) => citations.findIndex((other) => isSame(source, other)) === at);
  return html`<ul class="sources" aria-label=${t("Sources")}>
    ${sources.map(
      (source) => html`<li>
        <details>
          <summary dir="auto">${name(source)}</summary>
          ${citations
            .filter((other) => isSame(source, other))
            .map(({ quote }) => html`<blockquote dir="auto">${quote}</blockquote>`)}
          ${isWeb(source.url) && html`<a href=${source.url} target="_blank" rel="noopener noreferrer">${t("View source")}</a>`}
        </details>
      </li>`,
    )}
  </ul>`;
}

function Thumbs({ value, onThumb }) {
  const thumb = (name, label) => html`<button
    class="thumb" aria-pressed=${String(value === name)} aria-label=${label} title=${label} onClick=${() => onThumb(name)}
  ><${Icon} name=${name} /></button>`;
  return html`<div class="thumbs">${thumb("up", t("Helpful"))}${thumb("down", t("Not helpful"))}</div>`;
}

/** What an agent wrote, in the visitor's language if it was translated: one text for all of the message's words. */
function translated({ sender, content, translations }, language) {
  const words = sender.type === "agent" && (translations[language] ?? Object.values(translations)[0]);
  if (!words) return null;
  return [{ type: "text", text: words }, ...content.map((piece) => ({ ...piece, text: piece.type === "text" ? null : piece.text }))];
}

/** "Translated from English", and the way to the words themselves. */
function Origin({ language, isOriginal, onToggle, locale }) {
  const name = language && new Intl.DisplayNames(locale, { type: "language" }).of(language);
  return html`<p class="by">${name ? t("Translated from {language}", { language: name }) : t("Translated")} ·${" "}
    <button class="origin" onClick=${onToggle}>${isOriginal ? t("Show translation") : t("Show original")}</button></p>`;
}

export function Message({ message, language, isLast, thumb, actions, locale }) {
  const [isOriginal, setIsOriginal] = useState(false);
  const { type, name } = message.sender;
  const translation = translated(message, language);
  const pieces = ((!isOriginal && translation) || message.content).filter((piece) => piece.type !== "feedback");
  if (!pieces.length) return null;
  const time = new Date(message.created_at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
  const isRateable = type === "bot" && !message.is_welcome;
  return html`<li class=${`message ${type}`}>
    <p class="by"><bdi>${type === "customer" ? t("You") : name}</bdi> <time datetime=${message.created_at}>${time}</time></p>
    <div class="bubble">
      ${pieces.map((piece) => html`<${Piece} piece=${piece} onChoose=${isLast && actions.send} />`)}
    </div>
    ${translation &&
    html`<${Origin} language=${message.language} isOriginal=${isOriginal} onToggle=${() => setIsOriginal(!isOriginal)} locale=${locale} />`}
    ${message.citations.length > 0 && html`<${Sources} citations=${message.citations} />`}
    ${isRateable && html`<${Thumbs} value=${thumb} onThumb=${(value) => actions.thumb(message, value)} />`}
  </li>`;
}

/** What waits to be sent. */
export function Waiting({ item }) {
  const names = item.files.map((file) => file.name).join(", ");
  return html`<li class="message customer waiting">
    <p class="by">${t("You")} <span>${t("Sending…")}</span></p>
    <div class="bubble"><p class="words" dir="auto">${item.text || names}</p></div>
  </li>`;
}

/** The answer while it is made, the bot's or an agent's. Screen readers hear the whole one. */
export function Draft({ text, name, by = "bot" }) {
  return html`<li class=${`message ${by} draft`}>
    <p class="by"><bdi>${name}</bdi></p>
    <div class="bubble">
      ${text
        ? html`<p class="words" dir="auto" aria-hidden="true">${text}</p>`
        : html`<p class="dots" role="img" aria-label=${t("{name} is typing", { name })}><i></i><i></i><i></i></p>`}
    </div>
  </li>`;
}

/** Stars and words, once. */
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
        <textarea rows="2" maxlength="2000" value=${comment} onInput=${(event) => actions.draft({ comment: event.target.value })}></textarea></label>
      <button class="main">${t("Send rating")}</button>`}
  </form>`;
}
