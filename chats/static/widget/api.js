/** A visitor's calls of the public API. Each has a time limit. */
import { eventsOf } from "../common/events.js";

/** An answer with a status of 400 or above; or "left", set by us, if nothing was sent. */
export class Refused extends Error {
  constructor(status, body, retryAfter) {
    super(body.code ?? body.detail?.[0]?.msg ?? String(status));
    const faults = Array.isArray(body.detail) ? body.detail : [];
    Object.assign(this, { status, code: body.code, faults, retryAfter });
  }

  /** Whether the same request may succeed later. */
  get mayPass() {
    const codes = ["request_in_flight", "idempotency_key_reused"];
    // A used-up daily limit of files is not waited for, because later messages would wait too.
    const isSoon = this.status === 429 && !(this.retryAfter > 300);
    return this.status >= 500 || isSoon || codes.includes(this.code);
  }
}

const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
/** The reader's time zone, if the browser knows it. */
export const ownZone = /^[A-Z](?!tc\/Unknown)/.test(timeZone) ? timeZone : null;
const zone = ownZone ? { timezone: ownZone } : {};

const PATIENCE = 20_000; // milliseconds, for an answer, and for each further piece of it
const SLOWEST = 20; // bytes of a file that a slow line carries in a millisecond

/** A timer that gives up a request; `wait` restarts it. */
export function patience(milliseconds = PATIENCE) {
  const controller = new AbortController();
  let timer = 0;
  const stop = () => clearTimeout(timer);
  const wait = () => (stop(), (timer = setTimeout(() => controller.abort(), milliseconds)));
  wait();
  return { signal: controller.signal, wait, stop };
}

export function createApi(key, memory) {
  /** The result of `read` for the answer, within the time limit. */
  async function call(path, { json, headers, chat, token, limit = patience(), ...options }, read) {
    try {
      const own = memory.read();
      // The token belongs to one person's chat: nothing is sent for a chat that this tab has left.
      if (chat && chat !== own.chat) throw new Refused(0, { code: "left" });
      token ??= own.token;
      const reply = await fetch(path, {
        ...(json && { method: "POST", body: JSON.stringify(json) }),
        ...options,
        signal: limit.signal,
        headers: {
          "API-KEY": key,
          ...(token && { "Visitor-Token": token }),
          ...(json && { "Content-Type": "application/json" }),
          ...headers,
        },
      });
      if (reply.ok) return await read?.(reply);
      const body = await reply.json().catch(() => ({}));
      throw new Refused(reply.status, body, Number(reply.headers.get("Retry-After")) || 0);
    } finally {
      limit.stop();
    }
  }

  const asJson = (reply) => reply.json();
  const get = (path, chat) => call(path, { chat }, asJson);
  const post = (path, json = {}, more = {}) => call(path, { json, ...more }, asJson);

  /** The events of a streamed answer. */
  async function stream(path, chat, json) {
    const limit = patience();
    const options = { chat, json: { ...json, reply: "stream" }, headers: { Accept: "text/event-stream" }, limit };
    const { body } = await call(path, options, (reply) => reply);
    return (async function* () {
      limit.wait();
      yield* eventsOf(body, limit.wait);
      limit.stop();
    })();
  }

  return {
    config: (language, cache = "default") =>
      call(`/ai/bot/config${language ? `?language=${encodeURIComponent(language)}` : ""}`, { cache }, asJson),
    open: (body, id) => post("/ai/client/chat", body, { headers: { "Idempotency-Key": id } }),
    signIn: (id, token, customer) => post(`/ai/client/chat/customer/${id}`, customer, { token }),
    customer: (chat, customer) => post(`/ai/client/chat/customer/${chat}`, customer, { chat }),
    chat: (chat) => get(`/ai/client/chat/${chat}`, chat),
    history: (chat, cursor) =>
      get(`/ai/client/chat/history/${chat}?${new URLSearchParams({ limit: 100, ...(cursor && { cursor }) })}`, chat),
    end: (chat) => post(`/ai/chat/${chat}/end`, {}, { chat }),
    // `id`: of the chat, or of the previous one that it continues.
    rate: (chat, id, json) => post(`/ai/chat/${id}/feedback`, json, { chat }),
    read: (chat) => call(`/ai/client/chat/${chat}/read`, { chat, json: {} }),
    typing: (chat) => call(`/ai/chat/${chat}/typing`, { chat, json: { is_typing: true } }),
    visitor: (proof) => post("/ai/client/visitor", proof),
    transcript: (chat) => call(`/ai/client/chat/${chat}/transcript.txt?${new URLSearchParams(zone)}`, { chat }, (reply) => reply.blob()),
    mail: (chat, email) => call(`/ai/client/chat/${chat}/transcript/mail`, { chat, json: { email, ...zone } }),
    send: (chat, body) => stream(`/ai/client/chat/${chat}`, chat, body),
    sendFiles: (chat, body, size) =>
      call(`/ai/client/chat/files/${chat}`, { chat, method: "POST", body, limit: patience(PATIENCE + size / SLOWEST) }, asJson),
  };
}
