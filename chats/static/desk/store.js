/** Holds the desk's state. */

import { VIEWS, initial, reduce } from "./reducer.js";

const VIEW_KEY = "desk.view";
const view = localStorage.getItem(VIEW_KEY);

let state = initial({
  view: VIEWS.includes(view) ? view : "mine",
  now: Date.now(),
});
const listeners = new Set();

export function read() {
  return state;
}

export function dispatch(action) {
  const before = state;
  state = reduce(state, action);
  if (state !== before) listeners.forEach((listener) => listener(state, before));
}

/** Keeps a value for the next visit, if the browser's storage has room for it. */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The storage is full: the value lasts as long as the page.
  }
}

export function subscribe(listener) {
  listeners.add(listener);
}

/** Shows a view of the list, or the results of a search in all chats. */
export function chooseView(chosenView, query = "", filters = {}) {
  remember(VIEW_KEY, chosenView);
  dispatch({ type: "view", view: chosenView, query, filters });
}

let lastToast = 0;

/** Shows a line for a while; `undo` and `open` add a button. Returns a function that removes it. */
export function toast(text, { undo, open, isFault = false, seconds = 5 } = {}) {
  const id = (lastToast += 1);
  const remove = () => dispatch({ type: "untoast", id });
  const undone = undo && (() => {
    remove();
    undo();
  });
  const opened = open && (() => {
    remove();
    open();
  });
  dispatch({ type: "toast", toast: { id, text, undo: undone, open: opened, isFault } });
  setTimeout(remove, seconds * 1000);
  return remove;
}
