/** When the widget speaks first: as the bot's rule says, and twice a day at most. */

const PAUSE = 12 * 3600 * 1000; // milliseconds
const VISIT = 30 * 60 * 1000; // milliseconds; who comes after that has come back

/** A function that the page's path is told to, at first and when it changes; `speak` opens the chat or says the words. */
export function createInvitation({ config, memory, speak }) {
  const { engaging_seconds: seconds, engaging_pages: pages, engaging_visitors: visitors } = config;
  let timer = 0;

  return (path) => {
    clearTimeout(timer);
    if (isMeant(pages, path) && isExpected()) timer = setTimeout(invite, seconds * 1000);
  };

  /** Whether the visitor is one of those whom the rule names. */
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

/** Whether a path is one of the pages, such as "/prices, /shop/*"; all are, if none is named. */
export function isMeant(pages, path) {
  const named = pages.split(",").map((page) => page.trim()).filter(Boolean);
  const plain = (text) => text.replace(/(?<=.)\/$/, "");
  const pattern = (page) => new RegExp(`^${plain(page).split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "i");
  return !named.length || named.some((page) => pattern(page).test(plain(path)));
}
