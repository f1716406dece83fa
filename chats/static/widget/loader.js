/** Puts the chat on a page: `<script src="…/widget/v1/loader.js" data-key="…" async></script>`.

The chat is a frame of its own, so that neither the page's styles nor its scripts reach into it. It says how large it
wants to be; everything else stays inside. */
(() => {
  const script = document.currentScript;
  if (!script || !script.dataset.key || window.chatWidget) return;
  const origin = new URL(script.src).origin;
  const { key, language, externalId, identitySignature } = script.dataset;
  const frame = document.createElement("iframe");
  // Inline and important: stronger than any rule of the page.
  const style = (rules) => {
    for (const [name, value] of Object.entries(rules)) frame.style.setProperty(name, value, "important");
  };
  const query = new URLSearchParams({ key, ...(language && { language }) });
  const tell = (message) => frame.contentWindow?.postMessage({ chatWidget: 1, ...message }, origin);
  // Browsers may refuse storage to frames of another site: the page then keeps what the frame remembers.
  const name = `chat-widget:${key}`;
  const storage = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null;
    }
  };
  let wanted = null;

  function place() {
    if (!wanted) return;
    const fills = wanted.isOpen && (wanted.isFullscreen || innerWidth <= 480 || innerHeight <= 480);
    const [vertical, horizontal] = (wanted.position || "bottom-right").split("-");
    const edges = { top: "auto", right: "auto", bottom: "auto", left: "auto", [vertical]: "0", [horizontal]: "0" };
    style({
      ...edges,
      display: "block",
      width: fills ? "100vw" : `min(${wanted.width}px, 100vw)`,
      height: fills ? "100dvh" : `min(${wanted.height}px, 100dvh)`,
    });
    tell({ type: "placed", fills });
  }

  style({
    all: "initial", display: "none", position: "fixed", border: "0", "z-index": "2147483647",
    "color-scheme": "light", background: "transparent",
  });
  frame.title = script.dataset.title || "Chat";
  frame.allow = "clipboard-write";
  frame.src = `${origin}/widget/v1/frame?${query}`;
  addEventListener("resize", place);
  addEventListener("message", ({ source, origin: from, data }) => {
    if (source !== frame.contentWindow || from !== origin || !data || data.chatWidget !== 1) return;
    if (data.type === "ready") {
      tell({ type: "visitor", externalId, identitySignature, memory: storage((kept) => kept.getItem(name)) });
    }
    if (data.type === "remember") {
      storage((kept) => {
        const all = { ...JSON.parse(kept.getItem(name)), ...data.changes };
        kept.setItem(name, data.changes ? JSON.stringify(all) : data.text);
      });
    }
    if (data.type === "size") {
      wanted = data;
      place();
    }
  });
  const show = () => document.body.append(frame);
  if (document.body) show();
  else addEventListener("DOMContentLoaded", show);
  window.chatWidget = { open: () => tell({ type: "open" }), close: () => tell({ type: "close" }) };
})();
