/** A stream of events by fetch: with headers, a patient reconnection, and resumption by the last id. */

import { eventsOf } from "../common/events.js";

// The server sends a comment every 15 seconds; after this silence the connection counts as dead.
const PATIENCE_MS = 40_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follows a stream until `close()`.
 *
 * `headers(isRefused)` resolves to the headers of a request; `isRefused` says that the last answer
 * was a 401. `onEvent({event, data, id})` gets each event, its data parsed. `onState` gets `live`
 * when the stream is open, `waiting` when it broke, and `lost` if the server no longer knows the
 * last id: the caller must then reload what it missed. A status in `fatal` ends it: `ended`.
 */
export function follow({ url, headers, onEvent, onState = () => {}, lastEventId = "", fatal = [403, 404] }) {
  let isClosed = false;
  let failures = 0;
  let isRefused = false;
  let attempt = null;
  let wake = () => {};

  async function run() {
    while (!isClosed) {
      const outcome = await connect();
      if (isClosed) return;
      if (outcome === "fatal") {
        close();
        onState("ended");
        return;
      }
      onState(outcome === "lost" ? "lost" : "waiting");
      await pause();
    }
  }

  /** One connection, until it breaks. */
  async function connect() {
    attempt = new AbortController();
    const { signal } = attempt;
    let timer = 0;
    const expectLife = () => {
      clearTimeout(timer);
      timer = setTimeout(() => attempt.abort(), PATIENCE_MS);
    };
    expectLife();
    try {
      const given = await headers(isRefused);
      const resumed = lastEventId ? { "Last-Event-ID": lastEventId } : {};
      const answer = await fetch(url, {
        headers: { Accept: "text/event-stream", ...given, ...resumed },
        cache: "no-store",
        credentials: "omit",
        signal,
      });
      isRefused = answer.status === 401;
      if (answer.status === 422 && lastEventId) {
        lastEventId = "";
        return "lost";
      }
      if (fatal.includes(answer.status)) return "fatal";
      if (!answer.ok) return "broken";
      failures = 0;
      onState("live");
      await read(answer.body, expectLife);
    } catch (error) {
      // This loop handles broken connections, but no faults of the reader.
      if (!(error instanceof TypeError || error?.name === "AbortError")) console.error(error);
    } finally {
      clearTimeout(timer);
    }
    return "broken";
  }

  async function read(body, expectLife) {
    for await (const event of eventsOf(body, expectLife)) {
      if (event.id) lastEventId = event.id;
      if (!isClosed) onEvent(event);
    }
  }

  /** Waits longer after each failure, by a random time, so that clients do not all reconnect at once. */
  function pause() {
    const longest = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS);
    failures += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, longest * (0.5 + Math.random() / 2));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function close() {
    isClosed = true;
    removeEventListener("online", retry);
    removeEventListener("offline", drop);
    attempt?.abort();
    wake();
  }

  /** Tries again at once, such as when the network is back. */
  function retry() {
    failures = 0;
    wake();
  }

  /** Without a network the connection is broken, although the stream reports nothing. */
  function drop() {
    attempt?.abort();
  }

  addEventListener("online", retry);
  addEventListener("offline", drop);
  run();
  return { close, retry };
}
