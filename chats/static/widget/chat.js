/** What a visitor does: opens a chat, writes, waits, ends, rates. The store shows what came of it. */
import { Refused } from "./api.js";
import { eventsOf } from "../common/events.js";
import { at } from "./store.js";

const SECOND = 1000;
// How often to look for news: while a person is awaited or writes, else, and behind another tab.
const [SOON, LATER, HIDDEN] = [2.5 * SECOND, 10 * SECOND, 30 * SECOND];
const LONGEST_WAIT = 30 * SECOND;

export function createChat({ api, store, memory, language, t }) {
  let cursor = null;
  let cursorOf = null;
  let timer = 0;
  let failures = 0;
  let sending = false;
  let looking = false;
  let asked = false;
  let visitor = {};

  const set = (changes) => store.dispatch({ type: "set", ...changes });
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  async function start() {
    set({ config: await untilAnswered(() => api.config(language)) });
    const { chat, outbox = [], agreed, seen = 0, rated, open, thumbs = {} } = memory.read();
    set({ outbox, agreed: agreed === store.state.config.terms, seen, rated: rated === chat && Boolean(chat), thumbs });
    if (chat) await untilAnswered(refresh);
    set({ isReady: true });
    if (open) show();
    flush();
    look();
  }

  /** The result of a call that is repeated until the server answers. */
  async function untilAnswered(call) {
    for (;;) {
      try {
        const result = await call();
        failures = 0;
        if (!store.state.isOnline) set({ isOnline: true });
        return result;
      } catch (error) {
        if (error instanceof Refused && !error.mayPass) throw error;
        failures += 1;
        set({ isOnline: error instanceof Refused });
        await Promise.race([pause(delayAfter(error)), backOnline()]);
      }
    }
  }

  function delayAfter({ retryAfter }) {
    const grown = Math.min(2 ** failures * 0.5 * SECOND, LONGEST_WAIT);
    return Math.max((retryAfter || 0) * SECOND, grown);
  }

  const backOnline = () => new Promise((done) => addEventListener("online", done, { once: true }));

  /** Reads the chat, and its messages if there are new ones. */
  async function refresh() {
    const { chat: id } = memory.read();
    if (!id) return;
    let chat;
    try {
      chat = await api.chat(id);
    } catch (error) {
      if (!isGone(error)) throw error;
      forget();
      return;
    }
    const before = store.state.chat;
    memory.write({ token: chat.visitor_token });
    set({ chat });
    const isNew = !before || before.id !== id || before.last_message_at !== chat.last_message_at;
    if (isNew || cursorOf !== id) await readMessages(id);
  }

  /** The chat was deleted, or the token is too old. */
  const isGone = (error) => error instanceof Refused && [401, 404].includes(error.status);

  function forget() {
    memory.write({ chat: null, token: null, opening: null });
    cursor = cursorOf = null;
    store.dispatch({ type: "another" });
  }

  async function readMessages(id) {
    if (cursorOf !== id) [cursor, cursorOf] = [null, id];
    let page;
    do {
      page = await api.history(id, cursor);
      store.dispatch({ type: "messages", messages: page.items });
      cursor = page.next_cursor ?? cursor;
    } while (page.next_cursor);
    noteSeen();
  }

  /** What is in view counts as seen. */
  function noteSeen() {
    const { isOpen, messages, chat, seen } = store.state;
    if (!isOpen || document.hidden || !messages.length) return;
    const newest = Math.max(...messages.map(at));
    if (newest <= seen) return;
    set({ seen: newest });
    memory.write({ seen: newest });
    if (chat) api.read(chat.id).catch(() => {});
  }

  /** Looks for news, now and again and again; one look at a time. Who asks during one gets another: it may have missed
  what they ask for. */
  async function look() {
    asked = true;
    if (!store.state.isReady || looking) return;
    looking = true;
    clearTimeout(timer);
    while (asked) {
      asked = false;
      await untilAnswered(refresh).catch(report);
    }
    looking = false;
    timer = setTimeout(look, interval());
  }

  function interval() {
    const { chat, isOpen, outbox } = store.state;
    if (document.hidden) return HIDDEN;
    if (!chat || chat.status === "ended") return HIDDEN;
    return chat.assign_type !== "bot" || (isOpen && outbox.length) ? SOON : LATER;
  }

  // --- writing ---------------------------------------------------------------------------------

  function send(text, files = []) {
    store.dispatch({ type: "queued", item: { id: crypto.randomUUID(), text, files } });
    keepOutbox();
    flush();
  }

  /** Words wait in the browser until they are stored. Files cannot: they are lost by a reload. */
  function keepOutbox() {
    memory.write({ outbox: store.state.outbox.filter((item) => !item.files.length) });
  }

  /** Sends what waits, in order: each after the one before it was stored. */
  async function flush() {
    if (sending) return;
    sending = true;
    try {
      for (let item; (item = store.state.outbox[0]); ) {
        await untilAnswered(() => deliver(item)).catch((error) => refuse(item, error));
        store.dispatch({ type: "dropped", id: item.id });
        keepOutbox();
      }
    } finally {
      sending = false;
    }
  }

  function refuse(item, error) {
    // What the visitor said of themselves was refused: they are asked again.
    if (error.status === 422 && !store.state.chat) set({ known: false });
    report(error, item.text);
  }

  async function deliver(item) {
    const id = await opened();
    try {
      await (item.files.length ? deliverFiles(id, item) : deliverText(id, item));
    } catch (error) {
      if (!isGone(error)) throw error;
      forget();
      await deliver(item);
    }
  }

  /** The chat's id; a new one is opened with what the visitor has said of themselves. */
  async function opened() {
    const { chat, opening: begun } = memory.read();
    if (chat) return chat;
    // The same id after a reload: an answer that was lost does not open a second chat.
    const opening = begun ?? crypto.randomUUID();
    memory.write({ opening });
    const { external_id: externalId, signature, ...customer } = visitor;
    const body = {
      channel: "web",
      customer: { ...customer, ...(externalId && { external_id: externalId }) },
      ...(signature && { identity_signature: signature }),
      ...(language && { language }),
    };
    const made = await api.open(body, opening).catch((error) => {
      if (error.code === "idempotency_key_reused") memory.write({ opening: null });
      throw error;
    });
    memory.write({ chat: made.id, token: made.visitor_token, opening: null, who: externalId });
    set({ chat: made });
    await readMessages(made.id);
    return made.id;
  }

  /** Returns when the message is stored; its answer then comes by itself. */
  async function deliverText(id, item) {
    const reply = await api.send(id, { text: item.text, client_message_id: item.id });
    const events = eventsOf(reply.body);
    const { value } = await events.next();
    if (!value) throw new Error("The stream broke off: whether the message is stored is unknown.");
    if (value.event === "message") arrived(value.data);
    if (store.state.chat?.assign_type === "bot" || store.state.chat?.status === "ended") set({ draft: "" });
    follow(events);
  }

  async function deliverFiles(id, item) {
    const form = new FormData();
    form.append("message", item.text);
    for (const file of item.files) form.append("files", file);
    form.append("client_message_id", item.id);
    form.append("reply", "async");
    const turn = await (await api.sendFiles(id, form)).json();
    arrived(turn.message);
    look();
  }

  /** A message to a chat that ended long ago begins a new one. */
  function arrived(message) {
    if (message.conversation_id !== memory.read().chat) {
      memory.write({ chat: message.conversation_id, rated: null });
      set({ rated: false });
    }
    store.dispatch({ type: "messages", messages: [message] });
  }

  async function follow(events) {
    try {
      for await (const { event, data } of events) {
        if (event === "delta") store.dispatch({ type: "delta", text: data.text });
        if (event === "reset") set({ draft: "" });
        if (event === "done" && data.reply) store.dispatch({ type: "messages", messages: [data.reply] });
      }
    } catch {
      // The stream broke: the answer is stored, and found by the next look.
    }
    set({ draft: null });
    noteSeen();
    look();
  }

  // --- all else --------------------------------------------------------------------------------

  function report(error, lost = "") {
    const sentences = {
      attachments_off: "noFiles", export_off: "noTranscript", mail_not_configured: "noMail", too_many_requests: "tooMuchMail",
    };
    const sentence = error instanceof Refused ? (sentences[error.code] ?? "refused") : "refused";
    set({ problem: `${t(sentence)}${lost ? ` “${lost.slice(0, 80)}”` : ""}` });
  }

  async function end() {
    try {
      set({ chat: await api.end(store.state.chat.id), draft: null });
    } catch (error) {
      if (error.code !== "chat_ended") report(error);
    }
    look();
  }

  async function rate(rating, comment) {
    const { id } = store.state.chat;
    try {
      await api.rate(id, { rating, ...(comment && { comment }) });
    } catch (error) {
      if (error.code !== "feedback_given") return report(error);
    }
    memory.write({ rated: id });
    set({ rated: true });
  }

  async function thumb(message, value) {
    try {
      await api.rate(message.conversation_id, { thumb: value, message_id: message.id });
    } catch (error) {
      return report(error);
    }
    set({ thumbs: { ...store.state.thumbs, [message.id]: value } });
    memory.write({ thumbs: store.state.thumbs });
  }

  async function transcript() {
    try {
      const reply = await api.transcript(store.state.chat.id);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await reply.blob());
      link.download = `${store.state.chat.chat_code}.txt`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      report(error);
    }
  }

  async function mail(email) {
    set({ notice: null, problem: null });
    try {
      await api.mail(store.state.chat.id, email);
      set({ notice: t("mailed", { email }) });
    } catch (error) {
      report(error);
    }
  }

  function another() {
    memory.write({ chat: null, opening: null, rated: null });
    cursor = cursorOf = null;
    store.dispatch({ type: "another" });
  }

  function agree() {
    memory.write({ agreed: store.state.config.terms });
    set({ agreed: true });
  }

  /** What the visitor says of themselves before the chat. */
  function introduce(customer) {
    visitor = { ...visitor, ...customer };
    set({ known: true });
  }

  /** Who the page says the visitor is. A chat of somebody else before them is not shown to them. */
  function identify({ externalId, identitySignature }) {
    const { who } = memory.read();
    if (who && who !== externalId) memory.clear();
    if (externalId && identitySignature) visitor = { ...visitor, external_id: externalId, signature: identitySignature };
  }

  function show() {
    set({ isOpen: true, teaser: false });
    memory.write({ open: true });
    noteSeen();
    look();
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
    api.typing(chat.id, true).catch(() => {});
  }

  // Another tab of the same visitor opened a chat or wrote.
  memory.onChange(({ chat }) => chat !== store.state.chat?.id && look());
  addEventListener("online", () => (flush(), look()));
  addEventListener("offline", () => set({ isOnline: false }));
  document.addEventListener("visibilitychange", () => !document.hidden && (noteSeen(), look()));

  return {
    start, send, end, rate, thumb, transcript, mail, another, agree, introduce, identify, show, hide, typing,
    dismiss: () => set({ teaser: false, problem: null }),
  };
}
