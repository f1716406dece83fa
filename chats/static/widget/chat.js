/** A visitor's actions: opens a chat, writes, waits, ends, rates. The store has the results. */
import { excess, LONGEST_COMMENT } from "../common/lengths.js";
import { t, tn } from "../common/i18n.js";
import { Refused, ownZone } from "./api.js";
import { faultOf, limited } from "./files.js";
import { at, isAwaited, isRetold, lastWords, NO_DRAFTS } from "./store.js";

const SECOND = 1000;
// How often to poll: during a conversation, while the visitor waits for a person, otherwise, and in the background.
const [SOON, WAITING, LATER, HIDDEN] = [2.5 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND];
const LONGEST_WAIT = 30 * SECOND;
const MINUTE = 60 * SECOND;
const MOST_EARLIER = 10;
const NEW = "new"; // in place of the id of a chat that is not opened yet
const draftOf = (chat) => `draft:${chat ?? NEW}`;
// A chat is given up after this many "not found" answers in a row: a single one may be a network fault.
const MISSES = 4;

export function createChat({ api, store, memory, stash, language }) {
  // Where to read messages from: the last full page and the messages after it, since messages may change.
  let cursors = [null, null];
  let cursorOf = null;
  // The number of the chat's event up to which its messages were read.
  let readUpTo = null;
  let timer = 0;
  let failures = 0;
  let misses = 0;
  let sending = false;
  let looking = false;
  let asked = false;
  let isUnread = false;
  let turn = 0;
  const ours = new Set(); // the ids of messages that have waited in this tab
  let left = []; // waiting messages that are given back because another tab continued with another chat
  let openedWith = ""; // the id with which this tab last opened a chat
  let recalled = 0; // the turn for which earlier chats were requested
  let configuredAt = 0;
  let identity = null; // {who, proof, signature} as the page says it; without the proof if the server refuses it
  let details = {}; // what the page says about the visitor
  let sent = ""; // the details that were sent last, and whose
  let settled = Promise.resolve();

  const set = (changes) => store.dispatch({ type: "set", ...changes });
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  async function start() {
    set({ config: await untilAnswered(() => api.config(language)) });
    await begin();
    if (memory.read().open) show();
  }

  /** Shows what this browser has stored for the person whom the page names. */
  async function begin() {
    const mine = (turn += 1);
    if (memory.isLost()) {
      left.push(...store.state.outbox);
      set({ outbox: [] });
    }
    set({ isReady: false });
    await settled;
    if (mine !== turn) return;
    const { chat, opening, outbox = [], drafts, agreed, seen = 0, askedAt = 0, known = false, thumbs = {}, isQuiet = false, isLarge = false, dismissed = 0, earlier = [] } = memory.enter();
    store.dispatch({ type: "left" });
    [cursors, cursorOf] = [[null, null], null];
    isUnread = true; // Messages may have changed since they were seen.
    const own = drafts?.[chat ?? NEW];
    for (const { id } of outbox) ours.add(id);
    const found = outbox.filter(({ id }) => !left.some((item) => item.id === id));
    if (!drafts && !outbox.length) stash.clear(); // The stored state was somebody else's.
    const [files, waiting] = await Promise.all([stash.get(draftOf(chat), own?.names), withFiles(found)]);
    if (mine !== turn) return;
    // If another tab wrote over the chat that this one had just opened, both open the same one again.
    const isSame = opening && opening === openedWith;
    const again = isSame ? left.splice(0).map((item) => ({ ...item, isKept: true })) : [];
    const [unsent, isAgreed] = [[...again, ...waiting.filter((item) => !item.names)], agreed === store.state.config.terms];
    set({ outbox: unsent, earlier, agreed: isAgreed, seen, thumbs, isQuiet, isLarge, dismissed, known, askedAt, drafts: draftsOf(own) });
    if (files) await attach(files);
    if (chat) await check();
    if (mine !== turn) return;
    if (store.state.isOpen) memory.write({ open: true });
    const stored = new Set(store.state.messages.map((message) => message.client_message_id));
    giveBack([...left, ...waiting.filter((item) => item.names)].filter(({ id }) => !stored.has(id)));
    left = [];
    keepOutbox();
    set({ isReady: true });
    describe();
    flush();
    look();
    recall();
  }

  /** What was typed; the form before the chat begins with what the page says. */
  const draftsOf = (typed) => ({ ...NO_DRAFTS, ...typed, answers: { ...answersOf(details), ...typed?.answers } });

  /** Finds the chats that a person with a proved id has had in other browsers, when they are needed. */
  async function recall() {
    const mine = turn;
    const proof = identity?.proof;
    if (!proof || memory.isAlone() || recalled === mine || !store.state.isReady || !store.state.isOpen) return;
    recalled = mine;
    const { visitor_token: token, chats } = await api.visitor(proof).catch(() => ({ chats: [] }));
    if (mine !== turn || !chats.length) return;
    if (!memory.read().token) memory.write({ token });
    keep({ earlier: chats.map(({ id, last_message_at: time, text }) => ({ id, at: Date.parse(time), text })) });
  }

  /** Waiting messages from the memory, with their files if this browser still has them. */
  const withFiles = (items) =>
    Promise.all(
      items.map(async ({ names, ...item }) => {
        const files = await stash.get(item.id, names);
        return { ...item, isKept: true, files: files ?? [], ...(names && !files && { names }) };
      }),
    );

  /** The result of a call, which is repeated until the server answers. */
  async function untilAnswered(call) {
    for (;;) {
      try {
        const result = await call();
        failures = misses = 0;
        if (!store.state.isOnline) set({ isOnline: true });
        return result;
      } catch (error) {
        if (isFinal(error)) throw error;
        failures += 1;
        set({ isOnline: error instanceof Refused && error.status < 500 });
        await Promise.race([pause(delayAfter(error)), backOnline()]);
      }
    }
  }

  function isFinal(error) {
    if (!(error instanceof Refused) || error.mayPass) return false;
    return !isGone(error) || (misses += 1) >= MISSES;
  }

  function delayAfter({ retryAfter }) {
    const grown = Math.min(2 ** failures * 0.5 * SECOND, LONGEST_WAIT);
    return Math.max((retryAfter || 0) * SECOND, grown);
  }

  const backOnline = () => new Promise((done) => addEventListener("online", done, { once: true }));

  /** Reloads the configuration: who is available, and until when, changes. */
  async function configure() {
    configuredAt = Date.now();
    set({ config: await api.config(language, "no-cache").catch(() => store.state.config) });
  }

  /** Polls until the server has answered; a failure is ignored if another person's turn has begun meanwhile. */
  function check() {
    const mine = turn;
    return untilAnswered(refresh).catch((error) => mine === turn && giveUp(error));
  }

  /** Reads the chat, and its messages if they have changed. */
  async function refresh() {
    const { chat: shown } = store.state;
    if (memory.isLost()) return begin();
    const { chat: id } = memory.read();
    if (!id) {
      // A page that keeps the memory answers with it: another tab may have begun a chat.
      memory.write({});
      // The page has removed the chat, perhaps in another tab.
      return shown && begin();
    }
    const chat = await api.chat(id);
    if (memory.read().chat !== id) return;
    memory.write({ token: chat.visitor_token });
    const isHandedOver = store.state.chat?.assign_type === "bot" && chat.assign_type !== "bot";
    set({ chat, isBlocked: chat.is_blocked });
    const isWithPeople = chat.status !== "ended" && chat.assign_type !== "bot";
    if (isHandedOver || (isWithPeople && Date.now() - configuredAt > MINUTE)) await configure();
    if (cursorOf === id && readUpTo === chat.last_event_seq) return;
    await readMessages(id);
    readUpTo = chat.last_event_seq;
  }

  /** The chat was deleted, or the token is too old. */
  const isGone = (error) => error instanceof Refused && [401, 404].includes(error.status) && !isUnproven(error);
  const isUnproven = (error) => error.code === "identity_not_signed";

  /** The chat is no longer available. Its messages stay on the screen; the next message starts a new chat. */
  function giveUp(error) {
    if (!isGone(error)) return report(error);
    misses = 0;
    memory.write({ chat: null, token: null, opening: null, known: false });
    setFiles(store.state.files); // What is typed goes along to the next chat.
    cursorOf = null;
    set({ chat: null, known: false, draft: null, problem: t("This chat is no longer available. Your next message starts a new one.") });
  }

  async function readMessages(id) {
    if (cursorOf !== id) [cursors, cursorOf, readUpTo] = [[null, null], id, null];
    let page;
    let isChanged = false;
    let [cursor] = cursors;
    do {
      page = await api.history(id, cursor);
      if (cursorOf !== id) return;
      const known = new Map(store.state.messages.map((message) => [message.id, message]));
      isChanged ||= page.items.some((message) => isRetold(known.get(message.id), message));
      store.dispatch({ type: "messages", messages: page.items });
      cursor = page.next_cursor;
      if (cursor && !cursors.includes(cursor)) cursors = [cursors[1], cursor];
    } while (cursor);
    noteSeen(isChanged);
  }

  /** Marks visible messages as seen, and again if one of them has changed. */
  function noteSeen(isChanged = false) {
    const { isOpen, isHome, messages, chat, seen } = store.state;
    isUnread ||= isChanged;
    if (!isOpen || isHome || document.hidden || !messages.length) return;
    const newest = Math.max(seen, ...messages.map(at));
    if (newest <= seen && !isUnread) return;
    isUnread = false;
    keep({ seen: newest });
    if (chat) api.read(chat.id).catch(() => (isUnread = true));
  }

  /** Polls now and then regularly, one request at a time. A call during a poll causes another one, since the first may
  have missed the change. */
  async function look() {
    asked = true;
    if (!store.state.isReady || looking) return;
    looking = true;
    clearTimeout(timer);
    while (asked) {
      asked = false;
      await check();
    }
    looking = false;
    timer = setTimeout(look, interval());
  }

  function interval() {
    const { chat, isOpen, outbox } = store.state;
    if (document.hidden) return HIDDEN;
    if (!chat || chat.status === "ended") return HIDDEN;
    if (chat.assign_type === "queue" && !outbox.length) return WAITING;
    if (chat.assign_type === "agent" && !isOpen) return WAITING;
    return chat.assign_type !== "bot" || (isOpen && outbox.length) || isAwaited(store.state) ? SOON : LATER;
  }

  // --- writing ---------------------------------------------------------------------------------

  /** Stores the draft, which survives closing the widget and a reload. */
  function draft(changes) {
    const drafts = { ...store.state.drafts, ...changes };
    set({ drafts });
    const { chat, drafts: all } = memory.read();
    memory.write({ drafts: { ...all, [chat ?? NEW]: drafts } });
  }

  async function attach(list) {
    const looks = [...list].map(async (file) => ({ file, fault: await faultOf(file, store.state.config.upload_limits) }));
    const more = await Promise.all(looks);
    setFiles([...store.state.files, ...more]);
  }

  const detach = (entry) => setFiles(store.state.files.filter((one) => one !== entry));

  function setFiles(files) {
    set({ files: limited(files, store.state.config.upload_limits) });
    draft({ names: files.map(({ file }) => file.name) });
    stash.put(draftOf(memory.read().chat), files.map(({ file }) => file));
  }

  /** Sends the text and files in the composer, unless something in it cannot be sent. */
  function submit() {
    const { drafts, files } = store.state;
    const text = drafts.text.trim();
    if ((!text && !files.length) || excess(text) || files.some(({ fault }) => fault)) return;
    setFiles([]);
    draft({ text: "" });
    send(text, files.map(({ file }) => file));
  }

  function send(text, files = []) {
    // A message from the start screen does not continue a chat that has ended.
    if (store.state.isHome && store.state.chat?.status === "ended") another();
    const item = { id: crypto.randomUUID(), text, files };
    ours.add(item.id);
    store.dispatch({ type: "queued", item });
    if (files.length) stash.put(item.id, files);
    keepOutbox();
    flush();
  }

  /** Messages wait in the browser until they are stored; only the names of files are kept here. Those of other tabs stay. */
  function keepOutbox() {
    const others = (memory.read().outbox ?? []).filter(({ id }) => !ours.has(id));
    const kept = ({ files, ...item }) => (files.length ? { ...item, names: files.map(({ name }) => name) } : { ...item, files });
    memory.write({ outbox: [...others, ...store.state.outbox.map(kept)] });
  }

  /** Whether the form before the chat must be filled in first. */
  function mustIntroduce() {
    const { config, known } = store.state;
    return !memory.read().chat && !known && config.customer_info_fields.some((field) => field.ask_before_chat);
  }

  /** Sends the waiting messages in order, each after the previous one was stored. */
  async function flush() {
    if (sending) return;
    sending = true;
    try {
      for (let item; store.state.isReady && (item = store.state.outbox[0]) && !mustIntroduce(); ) {
        try {
          await untilAnswered(() => memory.inTurn(item.id, () => deliver(item)));
        } catch (error) {
          await refuse(item, error);
        }
      }
    } finally {
      sending = false;
    }
  }

  /** A refused message is not lost: it returns to the field, with the reason. */
  async function refuse(item, error) {
    if (!store.state.outbox.includes(item)) return;
    if (error.code === "left") return begin();
    if (isGone(error)) return giveUp(error);
    if (isUnproven(error)) return (identity.proof = null);
    const faults = Object.fromEntries(error.faults?.map(({ loc, type }) => [loc.at(-1), type]) ?? []);
    const asks = (field) => field.ask_before_chat && field.name in faults;
    if (error.status === 422 && !memory.read().chat) {
      // The fields may have changed since the widget was opened.
      await configure();
      if (store.state.config.customer_info_fields.some(asks)) return introduce({ known: false, faults });
    }
    if (!store.state.outbox.includes(item)) return;
    const waiting = store.state.outbox;
    set({ outbox: [] });
    giveBack(waiting, error);
    keepOutbox();
  }

  /** Puts messages back into the field, before its text. After a reload only the names of their files are known. */
  function giveBack(items, error = null) {
    const { drafts, files, config } = store.state;
    for (const { id } of items) stash.put(id, []);
    const names = [...items.flatMap((item) => item.names ?? []), ...(files.length ? [] : drafts.names ?? [])];
    const sent = items.flatMap((item) => item.files ?? []);
    const entries = sent.map((file, place) => ({ file, fault: place < (items[0].files?.length ?? 0) ? faultBy(error, place) : null }));
    if (error?.code === "attachments_off") set({ config: { ...config, attach_enabled: false } });
    setFiles([...entries, ...files]);
    draft({ text: [...items.map(({ text }) => text), drafts.text].filter(Boolean).join("\n") });
    if (error) set({ problem: refusal(error), isBlocked: error.code === "customer_blocked" });
    else if (names.length) set({ problem: t("Attach again if needed: {names}", { names: names.join(", ") }) });
  }

  function refusal({ code, status }) {
    if (code === "customer_blocked") return t("You can't send messages right now. Your message is back in the message box.");
    if (status === 429) return t("Your message wasn't sent: you've reached today's limit. It's back in the message box.");
    return t("Your message wasn't sent. It's back in the message box, so you can try again.");
  }

  /** The error in the server's answer for the file at this position of a message. */
  function faultBy(error, place) {
    const { max_files: count, max_request_bytes: most } = store.state.config.upload_limits;
    if (error.code === "attachments_off") return t("Files are turned off in this chat.");
    if (error.status === 413) return t("Files can be up to {size} MB in total.", { size: Math.floor(most / 1e6) });
    const fault = error.faults?.find(({ loc }) => loc[1] === "files" && (loc[2] ?? place) === place);
    if (!fault) return null;
    if (fault.loc[2] === undefined) return tn("Attach up to {count} file.", "Attach up to {count} files.", count);
    return fault.type === "empty_file" ? t("This file is empty.") : t("This file type can't be sent.");
  }

  /** Stores a message, unless another tab has stored it. A message written before the page named another person is neither
  sent for that person nor shown to them. If another tab has continued with another chat, the message is given back. */
  async function deliver(item) {
    const mine = turn;
    if (memory.isLost()) return void begin();
    if (item.isKept) await refresh();
    const isOurs = () => mine === turn && store.state.isReady && store.state.outbox.includes(item);
    const id = isOurs() && (memory.read().chat ?? (await memory.inTurn(NEW, () => isOurs() && opened())));
    if (isOurs() && cursorOf !== id) await readMessages(id);
    if (!isOurs()) return;
    await (item.files.length ? deliverFiles(id, item, mine) : deliverText(id, item, mine));
    store.dispatch({ type: "dropped", id: item.id });
    stash.put(item.id, []);
    keepOutbox();
  }

  /** The chat's id, perhaps from another tab; a new chat is opened with the details that the visitor has entered. */
  async function opened() {
    const { chat, opening: begun } = memory.read();
    if (chat) return chat;
    // The same id is used after a reload, so that a lost answer does not open a second chat.
    const opening = begun ?? crypto.randomUUID();
    memory.write({ opening });
    const proof = identity?.proof;
    const body = {
      channel: "web",
      customer: { ...customerOf(store.state), ...(proof && { external_id: proof.external_id }) },
      ...(proof && { identity_signature: proof.identity_signature }),
      ...(language && { language }),
      ...(ownZone && { location: { timezone: ownZone } }),
    };
    const mine = turn;
    const made = await api.open(body, opening).catch((error) => {
      if (error instanceof Refused && (!error.mayPass || error.code === "idempotency_key_reused")) memory.write({ opening: null });
      throw error;
    });
    if (mine !== turn || memory.isLost()) throw new Error("The page names somebody else by now.");
    openedWith = opening;
    const { drafts: { [NEW]: _, ...drafts } = {} } = memory.read();
    memory.write({ chat: made.id, token: made.visitor_token, opening: null, drafts });
    draft({ answers: {} });
    setFiles(store.state.files);
    set({ chat: made });
    describe();
    return made.id;
  }

  /** Returns when the message is stored; the answer arrives separately. */
  async function deliverText(id, item, mine) {
    const events = await api.send(id, { text: item.text, client_message_id: item.id });
    const { value } = await events.next();
    if (!value) throw new Error("The stream broke off: whether the message is stored is unknown.");
    if (mine !== turn) return;
    if (value.event === "message") arrived(value.data);
    wasAsked();
    if (store.state.chat?.assign_type === "bot" || store.state.chat?.status === "ended") set({ draft: "" });
    follow(events, mine);
  }

  async function deliverFiles(id, item, mine) {
    const form = new FormData();
    form.append("message", item.text);
    for (const file of item.files) form.append("files", file);
    form.append("client_message_id", item.id);
    form.append("reply", "async");
    const { message } = await api.sendFiles(id, form, item.files.reduce((sum, { size }) => sum + size, 0));
    if (mine !== turn) return;
    arrived(message);
    wasAsked();
  }

  /** Tells the other tabs, and looks for the messages of others: what they told us may just have been replaced. */
  function wasAsked() {
    keep({ askedAt: Date.now() });
    look();
  }

  /** A message to a chat that ended long ago starts a new one. */
  function arrived(message) {
    if (message.conversation_id !== memory.read().chat) {
      shelve();
      memory.write({ chat: message.conversation_id });
    }
    store.dispatch({ type: "messages", messages: [message] });
  }

  async function follow(events, mine) {
    try {
      for await (const { event, data } of events) {
        if (mine !== turn) return;
        if (event === "delta") store.dispatch({ type: "delta", text: data.text });
        if (event === "reset") set({ draft: "" });
        if (event === "done" && data.reply) store.dispatch({ type: "messages", messages: [data.reply] });
      }
    } catch {
      // The stream broke: the answer is stored, and the next poll finds it.
    }
    set({ draft: null });
    noteSeen();
    look();
  }

  // --- all else --------------------------------------------------------------------------------

  function report(error) {
    if (error.code === "left") return look();
    const sentences = {
      customer_blocked: t("You can't do that right now."),
      export_off: t("This chat has no transcript."),
      mail_not_configured: t("Email isn't available here."),
      too_many_requests: t("You've reached today's limit."),
    };
    const sentence = error instanceof Refused && sentences[error.code];
    set({ problem: sentence || t("Something went wrong. Please try again.") });
  }

  async function end() {
    const mine = turn;
    try {
      const chat = await api.end(store.state.chat.id);
      if (mine === turn) set({ chat, draft: null });
    } catch (error) {
      if (error.code !== "chat_ended") report(error);
    }
    look();
  }

  async function rate() {
    const { chat: { id }, drafts: { stars: rating, comment } } = store.state;
    if (excess(comment, LONGEST_COMMENT)) return;
    const mine = turn;
    try {
      await api.rate(id, id, { rating, ...(comment.trim() && { comment: comment.trim() }) });
    } catch (error) {
      if (error.code !== "feedback_given") return report(error);
    }
    if (mine !== turn) return;
    set({ chat: { ...store.state.chat, is_rated: true } });
    draft({ stars: 0, comment: "" });
    look();
  }

  async function thumb(message, value) {
    try {
      await api.rate(memory.read().chat ?? NEW, message.conversation_id, { thumb: value, message_id: message.id });
    } catch (error) {
      return report(error);
    }
    keep({ thumbs: { ...store.state.thumbs, [message.id]: value } });
  }

  async function transcript() {
    try {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await api.transcript(store.state.chat.id));
      link.download = `${store.state.chat.chat_code}.txt`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // Safari still reads it.
    } catch (error) {
      report(error);
    }
  }

  /** Stores the address for answers of people, if the visitor has left by then. */
  async function leaveMail() {
    const mine = turn;
    set({ problem: null });
    try {
      const chat = await api.customer(store.state.chat.id, { email: store.state.drafts.email.trim() });
      if (mine !== turn) return;
      set({ chat });
    } catch (error) {
      if (error.status !== 422) return report(error);
      return set({ problem: t("Enter a valid email address.") });
    }
    draft({ email: "" });
  }

  async function mail(email) {
    set({ notice: null, problem: null });
    try {
      await api.mail(store.state.chat.id, email);
      set({ notice: t("The transcript is on its way to {email}.", { email }) });
    } catch (error) {
      report(error);
    }
  }

  /** Adds the chat to the visitor's earlier ones, with its last message. */
  function shelve() {
    const { chat, messages, earlier } = store.state;
    const said = messages.filter((message) => message.conversation_id === chat?.id && !message.is_welcome);
    if (!said.length) return;
    const entry = { id: chat.id, at: at(said.at(-1)), text: lastWords(said) };
    keep({ earlier: [entry, ...earlier.filter(({ id }) => id !== chat.id)].slice(0, MOST_EARLIER) });
  }

  function another() {
    shelve();
    memory.write({ chat: null, opening: null });
    cursorOf = null;
    store.dispatch({ type: "another" });
    draft({});
  }

  /** Shows the start screen, where the current chat can be chosen. */
  function home() {
    shelve();
    set({ isHome: true, notice: null, problem: null });
  }

  function reopen(id) {
    set({ isHome: false });
    if (id === memory.read().chat) return noteSeen();
    shelve();
    memory.write({ chat: id, opening: null });
    begin();
  }

  function agree() {
    memory.write({ agreed: store.state.config.terms });
    set({ agreed: true });
  }

  /** The form before the chat is filled in, or has `faults`. */
  function introduce({ known = true, faults = {} } = {}) {
    set({ known, faults });
    memory.write({ known });
    flush();
  }

  /** The visitor's identity as the page states it; without a proof, the visitor is anonymous to the server. */
  function identify({ externalId, identitySignature, name, email, phone, attributes }) {
    details = { name, email, phone, attributes };
    const who = externalId || undefined;
    const proof = who && identitySignature ? { external_id: who, identity_signature: identitySignature } : null;
    const isSame = identity?.who === who && identity;
    // The page repeats itself: a proof that the server has refused stays refused.
    if (!isSame || identity.signature !== identitySignature) identity = { who, proof, signature: identitySignature };
    if (isSame) return describe();
    settled = settled.then(() => settle(who, proof));
    if (store.state.config) begin();
    left = []; // The previous person wrote this.
  }

  /** Stores what the page says about the visitor, once. The server keeps what it knows from the company. */
  async function describe() {
    const { chat, described } = memory.read();
    const now = JSON.stringify([identity?.who, details]);
    if (!store.state.isReady || !chat || JSON.stringify(details) === "{}" || [described, sent].includes(now)) return;
    const mine = turn;
    sent = now;
    await untilAnswered(() => api.customer(chat, details)).catch(({ message }) => console.warn(`chatWidget: ${message}`));
    if (mine === turn) memory.write({ described: now });
  }

  /** A chat that was begun anonymously becomes the named person's, if the server agrees. */
  async function settle(who, proof) {
    const { chat, token, drafts } = who ? memory.nobodys() : {};
    // No chat is open: earlier anonymous chats stay anonymous, and only unsent text goes along.
    if (!chat) return memory.belongTo(who, { token: null, earlier: [], thumbs: {}, drafts: { [NEW]: drafts?.[NEW] } });
    if (!proof) return memory.belongTo(who, null);
    try {
      const theirs = await untilAnswered(() => api.signIn(chat, token, proof));
      memory.belongTo(who, { token: theirs.visitor_token });
    } catch {
      memory.belongTo(who, null);
    }
  }

  /** Sets values and keeps them for the next visit. */
  function keep(changes) {
    set(changes);
    memory.write(changes);
  }

  function dismiss() {
    set({ teaser: null, problem: null });
    keep({ dismissed: Math.max(0, ...store.state.messages.map(at)) });
  }

  /** Sends a message that the page gives for the visitor, or puts it into the field if they must first act on it. */
  function ask(text) {
    show();
    const say = ({ config, agreed }) => ((config.terms && !agreed) || excess(text) ? draft({ text }) : send(text));
    if (store.state.isReady) return say(store.state);
    const stop = store.subscribe((state) => {
      if (!state.isReady) return;
      stop();
      say(state);
    });
  }

  function show() {
    set({ isOpen: true, teaser: null });
    memory.write({ open: true });
    noteSeen();
    look();
    recall();
  }

  function hide() {
    set({ isOpen: false, notice: null, problem: null });
    memory.write({ open: false });
  }

  let typedAt = 0;
  function typing() {
    const { chat } = store.state;
    if (!chat || chat.assign_type === "bot" || Date.now() - typedAt < 3 * SECOND) return;
    typedAt = Date.now();
    api.typing(chat.id).catch(() => {});
  }

  // Another tab of the same visitor opened a chat or wrote.
  memory.onChange(() => {
    if (!store.state.isReady) return;
    if (memory.isLost()) return void begin();
    const { chat, askedAt = 0 } = memory.read();
    if ((chat ?? undefined) === store.state.chat?.id && askedAt === store.state.askedAt) return;
    set({ askedAt });
    look();
  });
  addEventListener("online", () => (flush(), look()));
  addEventListener("offline", () => set({ isOnline: false }));
  document.addEventListener("visibilitychange", () => !document.hidden && (noteSeen(), look()));

  return {
    start, send, submit, draft, attach, detach, end, rate, thumb, transcript, mail, leaveMail, another, home, reopen, agree, introduce, identify, show,
    hide, keep, typing, ask, dismiss,
  };
}

// Fields of the customer itself, which are not attributes.
const OWN = ["name", "email", "phone"];

/** What the page says about the visitor, as answers of the form before the chat. */
function answersOf({ attributes, ...own }) {
  const given = Object.entries({ ...attributes, ...own }).filter(([, value]) => ["string", "number"].includes(typeof value));
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** The answers of the form before the chat, in the API's format for a customer. */
function customerOf({ config, drafts: { answers } }) {
  const customer = { attributes: {} };
  for (const { name, type } of config.customer_info_fields) {
    const answer = (answers[name] ?? "").trim();
    if (!answer) continue;
    const value = type === "number" ? Number(answer) : answer;
    if (OWN.includes(name)) customer[name] = value;
    else customer.attributes[name] = value;
  }
  return customer;
}
