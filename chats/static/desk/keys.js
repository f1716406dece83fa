/** Keyboard shortcuts: one key for each action, while no field has the focus. */

import { msg, t } from "../common/i18n.js";
import * as chats from "./chats.js";
import { undoLatest } from "./delayed.js";
import { OBSTACLES } from "./labels.js";
import { show } from "./live.js";
import { openLatest } from "./notices.js";
import { VIEWS, isOfOther, obstacle } from "./reducer.js";
import { dispatch, read, toast } from "./store.js";

const NOTHING = () => {};

export const KEYS = [
  { keys: ["G"], name: msg("Open your latest assignment or mention"), act: openLatest },
  { keys: ["J"], name: msg("Next conversation"), act: () => chats.go(1) },
  { keys: ["K"], name: msg("Previous conversation"), act: () => chats.go(-1) },
  { keys: ["R"], name: msg("Write a reply"), act: () => write(false) },
  { keys: ["N"], name: msg("Write a note"), act: () => write(true) },
  { keys: ["A"], name: msg("Take or assign the conversation"), act: takeOrAssign },
  { keys: ["E"], name: msg("End the conversation and open the next one"), act: () => withOwn((ids) => chats.end(ids)) },
  { keys: ["S"], name: msg("Snooze"), act: () => askOwn("snooze") },
  { keys: ["P"], name: msg("Priority"), act: () => ask("priority") },
  { keys: ["T"], name: msg("Tags"), act: () => ask("tags") },
  { keys: ["Z"], name: msg("Undo"), act: undoLatest },
  { keys: ["F"], name: msg("Filter conversations"), act: () => dispatch({ type: "dialog", dialog: { kind: "filters" } }) },
  { keys: ["Ctrl K"], name: msg("Search everything"), act: NOTHING },
  { keys: ["/"], name: msg("Search (in a reply: saved replies)"), act: () => document.getElementById("search").focus() },
  { keys: ["1", "2", "3", "4", "5"], name: msg("Switch views"), act: (key) => show(VIEWS[Number(key) - 1]) },
  { keys: ["?"], name: msg("Keyboard shortcuts"), act: () => dispatch({ type: "dialog", dialog: { kind: "help" } }) },
  { keys: ["Ctrl ↵"], name: msg("Send"), act: NOTHING },
  { keys: ["Esc"], name: msg("Close a dialog or exit a text field"), act: NOTHING },
];

/** Handles keys on the whole page. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    if (isPalette(event)) return openPalette(event);
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

const isPalette = (event) => (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";

function openPalette(event) {
  event.preventDefault();
  if (read().me && !read().dialog) dispatch({ type: "dialog", dialog: { kind: "palette" } });
}

/** The selected chats, else the open one, if the agent may act on them. */
function withChosen(act) {
  const { selected, openId, me, chats: known } = read();
  if (me.role === "viewer") return;
  const ids = Object.keys(selected).filter((id) => selected[id]);
  const chosen = ids.length ? ids : [openId];
  const open = chosen.filter((id) => known[id] && known[id].status !== "ended");
  if (open.length) act(open);
}

/** The same without the chats of colleagues; if there are no others, a message says why nothing happens. */
function withOwn(act) {
  withChosen((ids) => {
    const state = read();
    const own = ids.filter((id) => !isOfOther(state, state.chats[id]));
    if (own.length) act(own);
    else toast(t(OBSTACLES.of_other, { name: state.chats[ids[0]].assignee?.name }));
  });
}

function ask(kind) {
  withChosen((ids) => dispatch({ type: "dialog", dialog: { kind, ids } }));
}

function askOwn(kind) {
  withOwn((ids) => dispatch({ type: "dialog", dialog: { kind, ids } }));
}

/** Takes a chat that nobody has; for any other, and for several, opens the assignment. */
function takeOrAssign() {
  withOwn((ids) => {
    const isFree = ids.length === 1 && read().chats[ids[0]].assign_type !== "agent";
    if (isFree) chats.take(ids[0]);
    else dispatch({ type: "dialog", dialog: { kind: "assign", ids } });
  });
}

function write(isNote) {
  const state = read();
  const { openId } = state;
  if (!openId) return;
  const isAllowed = isNote || !obstacle(state, state.chats[openId]);
  if (isAllowed) dispatch({ type: "draft", id: openId, draft: { isNote, begunAs: isNote ? "note" : "reply" } });
  document.getElementById("composer")?.focus();
}
