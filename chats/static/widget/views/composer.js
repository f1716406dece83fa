/** The field in which the visitor writes. */
import { isComposing } from "../../common/composing.js";
import { html } from "../../common/html.js";
import { TooLong } from "../../common/lengths.js";
import { t } from "../../common/i18n.js";
import { useEffect, useRef } from "../../vendor/preact-hooks.js";
import { Icon } from "./icons.js";

export function Composer({ state, actions }) {
  const { config, drafts, files } = state;
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);

  const submit = (event) => {
    event.preventDefault();
    input.current.focus();
    actions.submit();
  };

  const onKeyDown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) submit(event);
  };

  const onPaste = (event) => {
    if (!config.attach_enabled || !event.clipboardData.files.length) return;
    event.preventDefault();
    actions.attach(event.clipboardData.files);
  };

  const attached = (entry) => html`<li class=${entry.fault ? "refused" : ""}>
    <span><bdi>${entry.file.name}</bdi>${entry.fault && html`: <span role="alert">${entry.fault}</span>`}</span>
    <button type="button" class="icon" aria-label=${t("Remove {name}", { name: entry.file.name })}
      onClick=${() => actions.detach(entry)}><${Icon} name="close" /></button></li>`;

  return html`<form class="composer" onSubmit=${submit}>
    ${files.length > 0 && html`<ul class="files">${files.map(attached)}</ul>`}
    <${TooLong} text=${drafts.text} />
    <div class="row">
      ${config.attach_enabled &&
      html`<label class="icon attach" title=${t("Attach files")}><${Icon} name="attach" />
        <input type="file" multiple aria-label=${t("Attach files")}
          onChange=${(event) => (actions.attach(event.target.files), (event.target.value = ""))} /></label>`}
      <textarea ref=${input} rows="1" dir="auto" value=${drafts.text}
        aria-label=${t("Write a message")} placeholder=${config.bot_question ?? t("Write a message")}
        onInput=${(event) => (actions.draft({ text: event.target.value }), actions.typing())}
        onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea>
      <button class="main send" aria-label=${t("Send")}><${Icon} name="send" /></button>
    </div>
  </form>`;
}
