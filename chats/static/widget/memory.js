/** What this browser remembers of its visitor. Where a frame of another site gets no storage, the page that shows it
keeps the memory; and if nobody can, it lasts as long as the frame.

It is one person's at a time, `who`: whom the page names, or nobody. A page that names somebody else neither reads nor
changes it. */
export function createMemory(key) {
  const name = `chat-widget:${key}`;
  let kept = {};
  let isOwn = true;
  let isForgotten = false;
  let who;
  let tellPage = () => {};
  try {
    kept = parsed(localStorage.getItem(name));
  } catch {
    isOwn = false;
  }

  function all() {
    if (isOwn) kept = parsed(localStorage.getItem(name));
    return kept;
  }

  function read() {
    const now = all();
    return now.who === who ? now : {};
  }

  function write(changes) {
    if (!isForgotten && !isLost()) keep({ ...kept, ...changes, who }, { ...changes, who });
  }

  /** Forgets what another person has here by now: this one begins anew. */
  function claim() {
    if (isLost()) keep({ who }, null);
  }

  /** Nothing is left of anybody here. */
  function forget() {
    keep({}, null);
    isForgotten = true;
  }

  /** The page replaces only the changes, where they are named: another tab may have told it of others. */
  function keep(whole, changes) {
    kept = whole;
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
    const { who: _, ...early } = kept;
    tellPage = tell;
    keep({ ...parsed(text), ...early }, early);
  }

  /** From now on the memory is this person's. What another one left is forgotten; what was left before anybody was named
  is theirs with what `joins` it, and is forgotten without. */
  function belongTo(person, joins) {
    const before = all();
    who = person;
    if (before.who !== who) keep(before.who === undefined && joins ? { ...before, ...joins, who } : { who }, null);
  }

  /** The chat that was begun before anybody was named, if there is one. */
  const nobodys = () => (all().who === undefined ? kept.chat : undefined);

  /** Whether another page at this browser has named somebody else since. Who signed in with the chat that was begun here
  is no other person. */
  function isLost(chat) {
    const now = all();
    if (who === undefined && chat && now.chat === chat) who = now.who;
    return now.who !== who;
  }

  /** Calls back when another tab has written. */
  function onChange(callback) {
    addEventListener("storage", (event) => event.key === name && callback(read()));
  }

  return { read, write, claim, forget, restore, belongTo, nobodys, isLost, onChange };
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
