/** What this browser remembers about its visitor. If a frame of another site gets no storage, the page that shows it
keeps the memory; otherwise it lasts only as long as the frame.

It belongs to one person at a time (`who`: as the page names them, or undefined), and to one of their chats. A tab of
another person, or of a chat that the person has left, neither reads nor changes it: it checks `isLost`, and enters again. */
import { patience } from "./api.js";

const PAGES_PATIENCE = 1000; // milliseconds; the page may have lost its storage

export function createMemory(key) {
  const name = `chat-widget:${key}`;
  let shared = {}; // shared by all tabs, as last read or received
  let alone = null; // this tab's own memory, after another person has taken the shared one
  let isOwn = true;
  let isForgotten = false;
  let who;
  let chat;
  let told = 0; // how often the page was sent the memory to keep
  let tellPage = null;
  let onNews = () => {};
  let answered = () => {}; // ends waiting for the page
  try {
    shared = parsed(localStorage.getItem(name));
  } catch {
    isOwn = false;
  }
  const isPages = !isOwn;

  function found() {
    if (alone) return alone;
    if (isOwn) shared = parsed(localStorage.getItem(name));
    // A person who signed in with this tab's chat is the same visitor. A tab without a chat continues with the one that
    // its person began in another tab.
    if (who === undefined && chat && shared.chat === chat) who = shared.who;
    if (!chat && shared.who === who) chat = shared.chat;
    return shared;
  }

  const isTheirs = (one) => one.who !== who || one.chat !== chat;

  /** Whether another tab has continued with another person or another chat. */
  const isLost = () => isTheirs(found());

  function read() {
    const now = found();
    return isTheirs(now) ? {} : now;
  }

  function write(changes) {
    if (isForgotten || isLost()) return;
    keep({ ...found(), ...changes }, { from: { who, chat }, changes });
    if ("chat" in changes) chat = changes.chat;
  }

  /** The memory for this person. If it is another person's by now, this tab has a memory of its own from here on. */
  function enter() {
    if (found().who !== who) alone = { who };
    chat = found().chat;
    return found();
  }

  /** Deletes everything about this person in this browser. */
  function forget() {
    keep({}, null);
    isForgotten = true;
  }

  /** The page applies only the changes, and only for the same person and chat: another tab may have sent others. */
  function keep(whole, changes) {
    if (alone) return void (alone = whole);
    shared = whole;
    const text = JSON.stringify(whole);
    try {
      // Without changes, nothing is written over what another tab is writing.
      if (isOwn && text !== localStorage.getItem(name)) localStorage.setItem(name, text);
    } catch {
      isOwn = false; // It is full.
    }
    if (!tellPage) return;
    told += 1;
    tellPage(changes ?? { text });
  }

  /** The page sends the memory that it keeps, and how many of our changes it had received; `tell` sends it changes. */
  function hear({ memory: text, count }, tell) {
    if (!isPages) return;
    const early = tellPage ? {} : shared;
    tellPage = text === undefined ? null : tell; // It has no storage either.
    // What was already sent to the page is newer.
    if (text === undefined || count < told) return;
    shared = parsed(text);
    if (Object.keys(early).length && shared.who === who) {
      chat = shared.chat;
      write(early);
    }
    onNews();
    answered();
  }

  /** The result of `run`, with the memory as other tabs left it. If the browser has locks for the frame, the tabs of one
  person do the same task one after another, each when the page has what the one before wrote. None waits longer than
  for an answer of the server: the other tab may be frozen. */
  async function inTurn(task, run) {
    let result = null;
    const start = () => (result = asked().then(run).finally(asked));
    const locked = (options) => navigator.locks?.request(`${name}:${who}:${task}`, options, start);
    await locked({ signal: patience().signal })?.catch(() => result ?? locked({ steal: true })).catch(() => {});
    return result ?? start();
  }

  /** Resolves when the page, if it keeps the memory, has sent it again. */
  async function asked() {
    if (!tellPage) return;
    told += 1;
    tellPage({});
    await new Promise((done) => setTimeout((answered = done), PAGES_PATIENCE));
  }

  /** Makes the memory this person's. What another person left is deleted. What was stored before anybody was named becomes
  theirs, updated with `joins`; without `joins` it is deleted. */
  function belongTo(person, joins) {
    let whole = found();
    const isTaken = alone || whole.who !== person;
    if (whole.who !== person) whole = whole.who === undefined && joins ? { ...whole, ...joins, who: person } : { who: person };
    [who, chat, alone] = [person, whole.chat, null];
    if (isTaken) keep(whole, null);
  }

  /** The memory from before anybody was named. */
  const nobodys = () => (found().who === undefined ? found() : {});

  /** Calls back when another tab has written. */
  function onChange(callback) {
    onNews = callback;
    addEventListener("storage", (event) => event.key === name && callback());
  }

  const isAlone = () => Boolean(alone);
  return { read, write, enter, forget, hear, inTurn, belongTo, nobodys, isLost, isAlone, onChange };
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
