/** Actions that can be undone for a few seconds. */

import { dispatch, toast } from "./store.js";

export const UNDO_MS = 5000;
const REVERSAL_SECONDS = 10;
const waiting = new Set();

/** Calls `act` in five seconds; `undo` cancels it until then. If the page is left, it is called at once. */
export function later(act) {
  const task = { run };
  const timer = setTimeout(run, UNDO_MS);
  function run() {
    clearTimeout(timer);
    if (waiting.delete(task)) act();
  }
  waiting.add(task);
  return {
    now: run,
    undo() {
      clearTimeout(timer);
      return waiting.delete(task);
    },
  };
}

let latest = null;

/** Removes chats from the list, shows a message, and acts in five seconds. */
export function leave(ids, text, act) {
  dispatch({ type: "leaving", ids, isLeaving: true });
  const stay = (stayed) => dispatch({ type: "leaving", ids: stayed, isLeaving: false });
  const task = later(() => ids.forEach((id) => act(id).finally(() => stay([id]))));
  const undo = () => task.undo() && stay(ids);
  const unsay = toast(text, { undo });
  latest = () => {
    unsay();
    undo();
  };
}

/** Shows a message about what was just done; for ten seconds, `undo` reverses it. */
export function reversible(text, undo) {
  const unsay = toast(text, { undo, seconds: REVERSAL_SECONDS });
  const act = () => {
    unsay();
    undo();
  };
  latest = act;
  setTimeout(() => {
    if (latest === act) latest = null;
  }, REVERSAL_SECONDS * 1000);
}

/** Undoes the latest of these actions, if that is still possible. */
export function undoLatest() {
  latest?.();
  latest = null;
}

addEventListener("pagehide", () => [...waiting].forEach((task) => task.run()));
