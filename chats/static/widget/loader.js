/** Puts the chat on a page: `<script src="…/widget/v1/loader.js" data-key="…" async></script>`.

The chat is a frame of its own, so that neither the page's styles nor its scripts reach into it. It only tells the page
how large it wants to be. With `chatWidget("open")` and similar calls, the page controls it. Run again, the loader only
tells the frame who the visitor is now. */
(() => {
  const script = document.currentScript;
  if (!script?.dataset.key) return;
  let { key, language, title, ...visitor } = script.dataset;
  const before = window.chatWidget;
  if (before?.on) return before("identify", visitor);
  const { origin } = new URL(script.src);
  const frame = document.createElement("iframe");
  // Inline and important, so that no rule of the page overrides it.
  const style = (rules) =>
    (frame.style.cssText = `all:initial;position:fixed;z-index:2147483647;color-scheme:light;${rules};`.replaceAll(";", "!important;"));
  // Browsers may refuse storage to frames of another site: then the page keeps the frame's memory.
  const name = `chat-widget:${key}`;
  const storage = (use) => {
    try {
      return use(localStorage);
    } catch {
      heard.remember = String; // The page has no storage either: it keeps nothing.
    }
  };
  const hooks = {};
  // The frame cannot read the visitor's colour scheme, because its own is set above.
  const dark = matchMedia("(prefers-color-scheme:dark)");
  const queue = []; // messages for a frame that does not listen yet
  let isReady, isHidden, isMoved, path, wanted, old, count;

  const tell = (type, more) =>
    isReady && frame.contentWindow
      ? frame.contentWindow.postMessage({ ...more, chatWidget: 1, type }, origin)
      : queue.push([type, more]);

  const greet = () =>
    isReady && tell("visitor", { ...visitor, count, memory: storage((kept) => kept[name] || "") });

  function place() {
    if (!wanted) return;
    const fills = wanted.isOpen && (wanted.isFullscreen || innerWidth <= 480 || innerHeight <= 480);
    const [y, x] = wanted.position.split("-");
    style(`display:${isHidden ? "none" : "block"};${y}:0;${x}:0;width:min(${fills ? 1e5 : wanted.width}px,100vw);height:min(${fills ? 1e5 : wanted.height}px,100dvh);${wanted.clip}`);
    tell("placed", { fills, isDark: dark.matches });
  }

  // A page that replaces its body removes the frame, or brings back a copy of it.
  const watch = new MutationObserver(keep);
  function keep() {
    if (isReady && path !== location.pathname) tell("path", { path: path = location.pathname });
    for (const other of [...document.getElementsByName(name)]) if (other !== frame) other.remove();
    if (frame.isConnected || !document.body) return;
    isReady = 0;
    (isMoved ? document.documentElement : document.body).append(frame);
    isMoved = 1;
  }

  const heard = {
    ready() {
      isReady = 1;
      count = 0;
      greet();
      path = null;
      keep();
      queue.splice(0).forEach((message) => tell(...message));
    },
    // The memory of one person's chat is not mixed with another person's or another chat's.
    remember({ text, from, changes }) {
      storage((kept) => {
        const old = kept[name] || "{}";
        const now = JSON.parse(old);
        const next = text || JSON.stringify({ ...now, ...changes });
        // Without changes, nothing is written over what another tab is writing.
        if (next !== old && (!from || (now.who === from.who && now.chat === from.chat))) kept[name] = next;
        count++;
      });
      greet();
    },
    size(data) {
      if (!wanted) heard.event({ name: "ready" });
      wanted = data;
      place();
    },
    title({ text }) {
      old ||= document.title;
      document.title = text || old;
      if (!text) old = "";
    },
    event({ name, detail }) {
      hooks[name]?.forEach((hook) => hook(detail));
    },
    gone() {
      watch.disconnect();
      frame.remove();
      delete window.chatWidget;
    },
  };

  const calls = {
    on(name, hook) {
      (hooks[name] ||= []).push(hook);
      if (name === "ready" && wanted) hook();
    },
    identify(who) {
      visitor = who;
      greet();
    },
    show(isShown = 1) {
      isHidden = !isShown;
      place();
    },
    hide: () => calls.show(0),
  };
  for (const name of ["open", "close", "ask", "shutdown"]) {
    calls[name] = (text) => {
      if (/open|ask/.test(name)) calls.show();
      tell(name, { text });
    };
  }

  style("display:none");
  frame.title = title || "Chat";
  frame.name = name;
  // Sends the website's origin, whatever the page's own referrer policy, so that the site can show where the chat was
  // seen.
  frame.referrerPolicy = "origin";
  frame.src = `${origin}/widget/v1/frame?` + new URLSearchParams({ key, ...(language && { language }) });
  dark.onchange = place;
  addEventListener("resize", place);
  addEventListener("storage", greet);
  addEventListener("message", ({ source, origin: from, data }) => {
    if (source === frame.contentWindow && from === origin && data?.chatWidget) heard[data.type]?.(data);
  });
  watch.observe(document, { childList: 1, subtree: 1 });
  keep();
  window.chatWidget = Object.assign((call, ...rest) => calls[call](...rest), calls);
  before?.q?.forEach((rest) => chatWidget(...rest));
})();
