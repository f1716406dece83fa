/** Calls the public API with a short-lived token, for which the site's session is exchanged. */

import { t } from "../common/i18n.js";

const TOKEN_PATH = "/admin/desk/token/";
const TIMEOUT_MS = 70_000; // the longest waits for a model
let current = null;
let renewal = null; // one at a time
let isAttended = true; // somebody has used the page since the last token

for (const touch of ["pointerdown", "keydown"]) {
  addEventListener(touch, () => { isAttended = true; }, { capture: true, passive: true });
}

/** What is wrong with a field; a pattern says nothing to people. */
const wordsOf = (fault) => (fault?.type === "string_pattern_mismatch" ? t("Check the format of this field.") : fault?.msg);

/** The API refused: `code` and `detail` say why. */
export class Refusal extends Error {
  constructor(status, body) {
    const detail = body?.detail;
    super(typeof detail === "string" ? detail : wordsOf(detail?.[0]) ?? `${status}`);
    this.status = status;
    this.code = body?.code ?? "";
    this.body = body ?? {};
  }
}

/** No answer, or one that asks to retry: the same request may be sent later. */
export class Unreachable extends Error {}

/** The session has ended. */
export class SignedOut extends Error {}

async function reach(path, options) {
  try {
    return await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS), ...options });
  } catch (error) {
    throw new Unreachable(error.message);
  }
}

/** A request to the site itself, with its session. */
function ask(path, headers = {}) {
  const csrf = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
  // A redirect leads to the sign-in page: the session has ended.
  return reach(path, { method: "POST", redirect: "manual", headers: { "X-CSRFToken": csrf, ...headers } });
}

/** The answer of a page of the site to a script. */
export async function askSite(path) {
  const answer = await reach(path, { redirect: "manual", headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Unreachable(`${answer.status}`);
  return answer.json();
}

/** Where a person signs in and then goes on with the chat that is open. */
export const signIn = () => `/admin/login/?next=${encodeURIComponent(`/admin/desk/${location.hash}`)}`;

export async function signOut() {
  await ask("/admin/logout/");
  location.assign("/admin/login/");
}

async function exchange() {
  // Events renew the token of a desk that was left open; that must not prolong the sign-in.
  const answer = await ask(TOKEN_PATH, isAttended ? {} : { Unattended: "yes" });
  if (answer.type === "opaqueredirect" || answer.status === 403) throw new SignedOut();
  if (!answer.ok) throw new Unreachable(`${answer.status}`);
  isAttended = false;
  const { access_token: token, expires_in: seconds } = await answer.json();
  return { token, renewAt: Date.now() + (seconds - 120) * 1000 };
}

/** The headers of a request; `isRefused`: the current token was refused. */
export async function headers(isRefused = false) {
  if (isRefused || !current || current.renewAt < Date.now()) {
    renewal ??= exchange().finally(() => {
      renewal = null;
    });
    current = await renewal;
  }
  return { Authorization: `Bearer ${current.token}` };
}

/** Calls an operation; `body` is sent as JSON, a `FormData` as it is. `as`: what the answer is read as. */
export async function call(method, path, { query, body, as = "json", ...options } = {}) {
  const isForm = body instanceof FormData;
  const address = query ? `${path}?${new URLSearchParams(query)}` : path;
  const send = async (isRefused) =>
    reach(address, {
      method,
      credentials: "omit",
      headers: {
        ...(await headers(isRefused)),
        ...(body && !isForm ? { "Content-Type": "application/json" } : {}),
      },
      body: body && !isForm ? JSON.stringify(body) : body,
      ...options,
    });
  let answer = await send(false);
  if (answer.status === 401) answer = await send(true);
  if (answer.status >= 500 || answer.status === 429) {
    const refusal = await answer.json().catch(() => null);
    // If a model or a provider refuses, that is an answer; if the platform is unavailable, there is none.
    if (/^(engine|provider_refused)/.test(refusal?.code)) throw new Refusal(answer.status, refusal);
    throw new Unreachable(refusal?.detail ?? `${answer.status}`);
  }
  const content = answer.status === 204 ? null : await answer[answer.ok ? as : "json"]();
  if (!answer.ok) throw new Refusal(answer.status, content);
  return content;
}

export const get = (path, query) => call("GET", path, { query });
export const post = (path, body, options) => call("POST", path, { body: body ?? {}, ...options });
export const put = (path, body) => call("PUT", path, { body });
