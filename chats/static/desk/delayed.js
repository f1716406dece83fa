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
const leaving = new Map(); // by chat: what keeps it in the list

/** Removes chats from the list, shows a message, and acts in five seconds. */
export function leave(ids, text, act) {
  dispatch({ type: "leaving", ids, isLeaving: true });
  const left = new Set(ids);
  const stay = (id) => {
    leaving.delete(id);
    dispatch({ type: "leaving", ids: [id], isLeaving: false });
  };
  const task = later(() => left.forEach((id) => {
    leaving.delete(id);
    act(id).finally(() => stay(id));
  }));
  const undo = () => task.undo() && left.forEach(stay);
  const unsay = toast(text, { undo });
  const keep = (id) => {
    left.delete(id);
    stay(id);
    if (!left.size && task.undo()) unsay();
  };
  ids.forEach((id) => leaving.set(id, keep));
  latest = () => {
    unsay();
    undo();
  };
}

/** Keeps a chat in the list that was about to leave it, and does not act on it. */
export function keepInList(id) {
  leaving.get(id)?.(id);
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
