/** The calls of the public API that a visitor makes. */

/** An answer from 400 on. */
export class Refused extends Error {
  constructor(status, body, retryAfter) {
    super(body.code ?? body.detail?.[0]?.msg ?? String(status));
    Object.assign(this, { status, code: body.code, retryAfter });
  }

  /** Whether the same request may be answered later. */
  get mayPass() {
    const codes = ["request_in_flight", "idempotency_key_reused"];
    // What a day's files used up is not waited for: the words behind it would wait too.
    const isSoon = this.status === 429 && !(this.retryAfter > 300);
    return this.status >= 500 || isSoon || codes.includes(this.code);
  }
}

export function createApi(key, memory) {
  async function call(path, { json, headers, ...options } = {}) {
    const { token } = memory.read();
    const reply = await fetch(path, {
      ...(json && { method: "POST", body: JSON.stringify(json) }),
      ...options,
      headers: {
        "API-KEY": key,
        ...(token && { "Visitor-Token": token }),
        ...(json && { "Content-Type": "application/json" }),
        ...headers,
      },
    });
    if (reply.ok) return reply;
    const body = await reply.json().catch(() => ({}));
    throw new Refused(reply.status, body, Number(reply.headers.get("Retry-After")) || 0);
  }

  const get = async (path) => (await call(path)).json();
  const post = async (path, json = {}, headers = {}) => (await call(path, { json, headers })).json();

  return {
    config: (language) => get(`/ai/bot/config${language ? `?language=${encodeURIComponent(language)}` : ""}`),
    open: (body, id) => post("/ai/client/chat", body, { "Idempotency-Key": id }),
    chat: (id) => get(`/ai/client/chat/${id}`),
    history: (id, cursor) =>
      get(`/ai/client/chat/history/${id}?${new URLSearchParams({ limit: 100, ...(cursor && { cursor }) })}`),
    end: (id) => post(`/ai/chat/${id}/end`),
    rate: (id, body) => post(`/ai/chat/${id}/feedback`, body),
    read: (id) => call(`/ai/client/chat/${id}/read`, { json: {} }),
    typing: (id, isTyping) => call(`/ai/chat/${id}/typing`, { json: { is_typing: isTyping } }),
    transcript: (id) => call(`/ai/client/chat/${id}/transcript.txt`),
    mail: (id, email) => call(`/ai/client/chat/${id}/transcript/mail`, { json: { email } }),
    send: (id, body) =>
      call(`/ai/client/chat/${id}`, { json: { ...body, reply: "stream" }, headers: { Accept: "text/event-stream" } }),
    sendFiles: (id, form) => call(`/ai/client/chat/files/${id}`, { method: "POST", body: form }),
  };
}
