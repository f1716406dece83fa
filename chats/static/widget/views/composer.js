/** Where the visitor writes. */
import { html } from "../../common/html.js";
import { useEffect, useRef, useState } from "../../vendor/preact-hooks.js";
import { Icon } from "./icons.js";

const LONGEST = 8000;

export function Composer({ config, actions, t }) {
  const [text, setText] = useState("");
  const [files, setFiles] = useState([]);
  const [fault, setFault] = useState("");
  const input = useRef(null);
  useEffect(() => input.current.focus(), []);

  const submit = (event) => {
    event.preventDefault();
    input.current.focus();
    if (!text.trim() && !files.length) return;
    actions.send(text.trim(), files);
    setText("");
    setFiles([]);
  };

  const onKeyDown = (event) => {
    // Not while a word is composed, as in Vietnamese or Japanese.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };

  const add = (list) => {
    const more = [...list];
    const { max_files: count, max_file_bytes: bytes } = config.upload_limits;
    const large = more.find((file) => file.size > bytes);
    if (large) return setFault(t("tooLarge", { name: large.name, size: Math.floor(bytes / 1e6) }));
    if (files.length + more.length > count) return setFault(t("tooMany", { count }));
    setFault("");
    setFiles([...files, ...more]);
  };

  const onPaste = (event) => {
    if (!config.attach_enabled || !event.clipboardData.files.length) return;
    event.preventDefault();
    add(event.clipboardData.files);
  };

  const attached = (file) => html`<li><bdi>${file.name}</bdi>
    <button type="button" class="icon" aria-label=${t("remove", { name: file.name })}
      onClick=${() => setFiles(files.filter((one) => one !== file))}><${Icon} name="close" /></button></li>`;

  return html`<form class="composer" onSubmit=${submit}>
    ${fault && html`<p class="problem" role="alert">${fault}</p>`}
    ${files.length > 0 && html`<ul class="files">${files.map(attached)}</ul>`}
    <div class="row">
      ${config.attach_enabled &&
      html`<label class="icon attach" title=${t("attach")}><${Icon} name="attach" />
        <input type="file" multiple aria-label=${t("attach")}
          onChange=${(event) => (add(event.target.files), (event.target.value = ""))} /></label>`}
      <textarea ref=${input} rows="1" dir="auto" maxlength=${LONGEST} value=${text}
        aria-label=${t("write")} placeholder=${config.bot_question ?? t("write")}
        onInput=${(event) => (setText(event.target.value), actions.typing())}
        onKeyDown=${onKeyDown} onPaste=${onPaste}></textarea>
      <button class="main send" aria-label=${t("send")}><${Icon} name="send" /></button>
    </div>
  </form>`;
}
