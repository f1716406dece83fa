/** Keeps a log scrolled to its end while the reader is there, whatever grows or shrinks in it or below it. `onEnd` is
called when the reader reaches the end. */
const NEAR_END = 80; // pixels

export function followEnd(log, onEnd = () => {}) {
  let isAtEnd = true;
  let last = log.scrollTop;
  const toEnd = () => (log.scrollTop = log.scrollHeight);
  const stay = () => isAtEnd && toEnd();
  const note = () => {
    const { scrollHeight, scrollTop, clientHeight } = log;
    // Only scrolling up leaves the end: a picture may grow between a scroll and its event.
    if (scrollHeight - scrollTop - clientHeight < NEAR_END) {
      isAtEnd = true;
      onEnd();
    } else if (scrollTop < last) isAtEnd = false;
    last = scrollTop;
  };
  const sizes = new ResizeObserver(stay);
  sizes.observe(log);
  log.addEventListener("scroll", note);
  log.addEventListener("load", stay, true);
  toEnd();
  const leave = () => (isAtEnd = false);
  return { toEnd, stay, leave, isAtEnd: () => isAtEnd, stop: () => sizes.disconnect() };
}
