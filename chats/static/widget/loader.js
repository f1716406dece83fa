/** Puts the chat on a page: `<script src="…/widget/v1/loader.js" data-key="…" async></script>`.

The chat is a frame of its own, so that neither the page's styles nor its scripts reach into it. It says how large it
wants to be; everything else stays inside. Run again, the loader only tells the frame who the visitor is now. */
(() => {
  const script = document.currentScript;
  if (!script?.dataset.key) return;
  const { key, language, title, externalId, identitySignature } = script.dataset;
  if (window.chatWidget) return window.chatWidget.identify?.({ externalId, identitySignature });
  const { origin } = new URL(script.src);
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
  let visitor = { externalId, identitySignature };
  let wanted;
  let wish; // what the page asked of a frame that may not listen yet

  function place() {
    const fills = wanted.isOpen && (wanted.isFullscreen || innerWidth <= 480 || innerHeight <= 480);
    const [vertical, horizontal] = (wanted.position || "bottom-right").split("-");
    style({
      top: "auto", right: "auto", bottom: "auto", left: "auto", [vertical]: "0", [horizontal]: "0",
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
  frame.title = title || "Chat";
  frame.name = name;
  frame.allow = "clipboard-write";
  // The site says where the chat was seen, whatever the page's own policy.
  frame.referrerPolicy = "origin";
  frame.src = `${origin}/widget/v1/frame?${query}`;
  addEventListener("resize", () => wanted && place());
  addEventListener("message", ({ source, origin: from, data }) => {
    if (source !== frame.contentWindow || from !== origin || data?.chatWidget !== 1) return;
    if (data.type === "ready") {
      tell({ type: "visitor", ...visitor, memory: storage((kept) => kept.getItem(name)) });
      if (wish) tell({ type: wish });
    }
    if (data.type === "remember") {
      storage((kept) => {
        const all = { ...JSON.parse(kept.getItem(name)), ...data.changes };
        kept.setItem(name, data.changes ? JSON.stringify(all) : data.text);
      });
    }
    if (data.type === "size") {
      wish = null;
      wanted = data;
      place();
    }
  });
  // A page that replaces its body takes the frame away, or brings a copy of it back.
  let home;
  function show() {
    for (const other of [...document.getElementsByName(name)]) if (other !== frame) other.remove();
    if (frame.isConnected || !document.body) return;
    home = home ? document.documentElement : document.body;
    home.append(frame);
  }
  new MutationObserver(show).observe(document, { childList: true, subtree: true });
  show();
  const call = (type) => () => tell({ type: (wish = type) });
  window.chatWidget = {
    open: call("open"),
    close: call("close"),
    identify: (who) => tell({ type: "visitor", ...(visitor = who) }),
  };
})();
