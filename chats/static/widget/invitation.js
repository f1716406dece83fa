/** Decides when the widget speaks first: by the bot's rule, and at most twice a day. */

const PAUSE = 12 * 3600 * 1000; // milliseconds
const VISIT = 30 * 60 * 1000; // milliseconds; after this, a visitor counts as returning

/** Returns a function that gets the page's path, first and on each change; `speak` opens the chat or invites. */
export function createInvitation({ config, memory, speak }) {
  const { engaging_seconds: seconds, engaging_pages: pages, engaging_visitors: visitors } = config;
  let timer = 0;

  return (path) => {
    clearTimeout(timer);
    if (isMeant(pages, path) && isExpected()) timer = setTimeout(invite, seconds * 1000);
  };

  /** Whether the rule applies to this visitor. */
  function isExpected() {
    if (visitors === "all") return true;
    const { metAt } = memory.read();
    if (!metAt) memory.write({ metAt: Date.now() });
    const hasComeBack = Boolean(metAt) && Date.now() - metAt > VISIT;
    return hasComeBack === (visitors === "returning");
  }

  function invite() {
    const { greeted = 0 } = memory.read();
    if (Date.now() - greeted < PAUSE) return;
    if (speak()) memory.write({ greeted: Date.now() });
  }
}

/** Whether a path is one of the pages, such as "/prices, /shop/*"; without pages, every path is. */
export function isMeant(pages, path) {
  const named = pages.split(",").map((page) => page.trim()).filter(Boolean);
  const plain = (text) => text.replace(/(?<=.)\/$/, "");
  const pattern = (page) => new RegExp(`^${plain(page).split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "i");
  return !named.length || named.some((page) => pattern(page).test(plain(path)));
}
