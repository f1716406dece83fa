/** The hands on the keyboard: one key for each act, while no field has the focus. */

import * as chats from "./chats.js";
import { undoLatest } from "./delayed.js";
import { show } from "./live.js";
import { VIEWS } from "./reducer.js";
import { dispatch, read } from "./store.js";

const NOTHING = () => {};

export const KEYS = [
  { keys: ["J"], name: "key_next", act: () => chats.go(1) },
  { keys: ["K"], name: "key_previous", act: () => chats.go(-1) },
  { keys: ["R"], name: "key_reply", act: () => write(false) },
  { keys: ["N"], name: "key_note", act: () => write(true) },
  { keys: ["A"], name: "key_take", act: takeOrAssign },
  { keys: ["E"], name: "key_end", act: () => withChosen((ids) => chats.end(ids)) },
  { keys: ["S"], name: "key_snooze", act: () => ask("snooze") },
  { keys: ["T"], name: "key_tags", act: () => ask("tags") },
  { keys: ["Z"], name: "key_undo", act: undoLatest },
  { keys: ["/"], name: "key_search", act: () => document.getElementById("search").focus() },
  { keys: ["1", "2", "3", "4", "5"], name: "key_views", act: (key) => show(VIEWS[Number(key) - 1]) },
  { keys: ["?"], name: "key_help", act: () => dispatch({ type: "dialog", dialog: { kind: "help" } }) },
  { keys: ["Ctrl ↵"], name: "key_send", act: NOTHING },
  { keys: ["Esc"], name: "key_leave", act: NOTHING },
];

/** Listens on the whole page. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    const isField = event.target.closest("input, textarea, select");
    if (event.key === "Escape" && isField) isField.blur();
    if (isField || event.ctrlKey || event.metaKey || event.altKey || read().dialog || !read().me) return;
    const key = event.key.toUpperCase();
    const found = KEYS.find(({ keys }) => keys.includes(key));
    if (!found || found.act === NOTHING) return;
    event.preventDefault();
    found.act(key);
  });
}

/** The selected chats, else the open one, if they may be worked on. */
function withChosen(act) {
  const { selected, openId, me, chats: known } = read();
  if (me.role === "viewer") return;
  const ids = Object.keys(selected).filter((id) => selected[id]);
  const chosen = ids.length ? ids : [openId];
  const open = chosen.filter((id) => known[id] && known[id].status !== "ended");
  if (open.length) act(open);
}

function ask(kind) {
  withChosen((ids) => dispatch({ type: "dialog", dialog: { kind, ids } }));
}

/** A chat that nobody has is taken; any other, and several, are assigned. */
function takeOrAssign() {
  withChosen((ids) => {
    const isFree = ids.length === 1 && read().chats[ids[0]].assign_type !== "agent";
    if (isFree) chats.take(ids[0]);
    else ask("assign");
  });
}

function write(isNote) {
  const { openId } = read();
  if (!openId) return;
  dispatch({ type: "draft", id: openId, draft: { isNote } });
  document.getElementById("composer")?.focus();
}
