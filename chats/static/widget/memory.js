/** What this browser remembers of its visitor. Where a frame of another site gets no storage, the page that shows it
keeps the memory; and if nobody can, it lasts as long as the frame. */
export function createMemory(key) {
  const name = `chat-widget:${key}`;
  let kept = {};
  let isOwn = true;
  let tellPage = () => {};
  try {
    kept = parsed(localStorage.getItem(name));
  } catch {
    isOwn = false;
  }

  function read() {
    if (isOwn) kept = parsed(localStorage.getItem(name));
    return kept;
  }

  function write(changes) {
    keep({ ...read(), ...changes }, changes);
  }

  /** The page replaces only the changes, where they are named: another tab may have told it of others. */
  function keep(all, changes) {
    kept = all;
    const text = JSON.stringify(kept);
    try {
      if (isOwn) localStorage.setItem(name, text);
    } catch {
      isOwn = false; // It is full.
    }
    if (!isOwn) tellPage(text, changes);
  }

  /** The page has told what it keeps for us, and how it is told what to keep. */
  function restore(text, tell) {
    if (isOwn) return;
    const early = kept;
    tellPage = tell;
    keep({ ...parsed(text), ...early }, early);
  }

  /** Calls back when another tab has written. */
  function onChange(callback) {
    addEventListener("storage", (event) => event.key === name && callback(read()));
  }

  /** `clear` forgets everything, as when another person sits at this browser. */
  return { read, write, restore, onChange, clear: () => keep({}) };
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
