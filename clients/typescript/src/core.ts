/** What all operations share: requests with retries, files, streams, pages, and webhooks. */
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

const RETRIED = [429, 503];
const MAX_WAIT_SECONDS = 60;
const TOLERANCE_SECONDS = 300;

export interface Options {
  token?: string;
  key?: string;
  visitorToken?: string;
  timeoutMs?: number;
  retries?: number;
}
export interface Call {
  query?: object;
  body?: object;
  kind?: "json" | "form" | "files";
  idempotencyKey?: string;
}
export interface ServerEvent {
  event: string;
  data: any;
  id?: string;
}
export interface Page<Row> {
  items: Row[];
  next_cursor: string | null;
}

/** A refusal: its status, its `code` (empty for a 422 of the shape), and the whole body. */
export class ApiError extends Error {
  readonly code: string;
  constructor(readonly status: number, readonly body: { code?: string; detail?: unknown }) {
    super(`${status} ${body.code ?? ""}: ${JSON.stringify(body.detail ?? "")}`);
    this.code = body.code ?? "";
  }
}

/** A connection with one credential: a person's `token`, or a `key` with perhaps a visitor. */
export class Core {
  constructor(readonly server: string, readonly options: Options = {}) {}

  /** All rows of a list, page by page: `api.each((page) => api.listChats(page))`. */
  async *each<P extends Page<any>>(list: (page: { cursor?: string }) => Promise<P>): AsyncGenerator<P["items"][number]> {
    let cursor: string | null | undefined;
    do {
      const page: P = await list(cursor ? { cursor } : {});
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor);
  }

  protected async call<Reply>(method: string, path: string, call: Call = {}): Promise<Reply> {
    const answer = await this.send(method, path, call, "*/*");
    if (answer.status === 204 || answer.status === 202 && !answer.headers.get("content-type")) return undefined as Reply;
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return (isJson ? await answer.json() : await answer.blob()) as Reply;
  }

  /** The server-sent events of an operation. */
  protected async *events(method: string, path: string, call: Call = {}): AsyncGenerator<ServerEvent> {
    const answer = await this.send(method, path, call, "text/event-stream");
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of answer.body ?? []) {
      const blocks = (text += decoder.decode(chunk, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const lines = block.split("\n").filter((line) => line && !line.startsWith(":"));
        const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s, 2)));
        if (fields.event) yield { ...fields, event: fields.event, data: JSON.parse(fields.data ?? "null") };
      }
    }
  }

  private async send(method: string, path: string, call: Call, accept: string): Promise<Response> {
    const { token, key, visitorToken, timeoutMs = 90_000, retries = 3 } = this.options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {}))
      for (const item of [value].flat()) if (item != null) query.append(name, String(item));
    const headers: Record<string, string> = { Accept: accept };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (key) headers["API-KEY"] = key;
    if (visitorToken) headers["Visitor-Token"] = visitorToken;
    if (method === "POST") headers["Idempotency-Key"] = call.idempotencyKey ?? randomUUID();
    if (call.body && (call.kind ?? "json") === "json") headers["Content-Type"] = "application/json";
    const url = this.server.replace(/\/$/, "") + path + (query.size ? `?${query}` : "");
    for (let attempt = 0; ; attempt++) {
      const signal = accept === "*/*" ? AbortSignal.timeout(timeoutMs) : null;
      const answer = await fetch(url, { method, headers, body: encoded(call), signal });
      if (answer.ok) return answer;
      const wait = answer.headers.get("retry-after");
      if (!RETRIED.includes(answer.status) || !wait || attempt === retries)
        throw new ApiError(answer.status, await answer.json().catch(() => ({})));
      await new Promise((done) => setTimeout(done, Math.min(Number(wait), MAX_WAIT_SECONDS) * 1000));
    }
  }
}

function encoded({ body, kind }: Call): string | URLSearchParams | FormData | null {
  if (!body) return null;
  if (kind === "form") return new URLSearchParams(body as Record<string, string>);
  if (kind !== "files") return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of Object.entries(body))
    for (const item of [value].flat()) form.append(name, item instanceof Blob ? item : String(item));
  return form;
}

/** The event of a webhook; throws if it is not signed with the `secret`, or too old. */
export function verifyWebhook(body: string, headers: Record<string, string | undefined>, secret: string): any {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt || NaN)) <= TOLERANCE_SECONDS))
    throw new Error("The webhook's timestamp is missing or too old.");
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"] ?? ""}.${sentAt}.${body}`;
  const wanted = Buffer.from("v1," + createHmac("sha256", key).update(signed).digest("base64"));
  const isSigned = (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
  if (!isSigned) throw new Error("The webhook is not signed with this secret.");
  return JSON.parse(body);
}
