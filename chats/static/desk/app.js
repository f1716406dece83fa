/** Starts the desk: state in, page out. */

import { html } from "../common/html.js";
import { render } from "../vendor/preact.js";
import { SignedOut, Unreachable, signIn } from "./api.js";
import { begin } from "./attention.js";
import * as chats from "./chats.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { Page } from "./page.js";
import * as push from "./push.js";
import { dispatch, read, subscribe } from "./store.js";
import * as viewing from "./viewing.js";

const AGAIN_MS = 3000;
const place = document.getElementById("desk");
let isAwaited = false;

/** Draws once for all changes within one turn of the event loop. */
function drawSoon() {
  if (isAwaited) return;
  isAwaited = true;
  queueMicrotask(() => {
    isAwaited = false;
    render(html`<${Page} state=${read()} />`, place);
  });
}

/** The chat named in the page's address. */
function follow() {
  const id = location.hash.slice(1);
  if (id) chats.open(id);
  else dispatch({ type: "left" });
}

async function start() {
  try {
    await live.load();
  } catch (error) {
    if (error instanceof SignedOut) return location.assign(signIn());
    if (!(error instanceof Unreachable)) throw error;
    return setTimeout(start, AGAIN_MS);
  }
  begin(chats.open);
  viewing.begin();
  push.begin(read().me);
  addEventListener("popstate", follow);
  follow();
  document.body.dataset.ready = "yes";
}

place.replaceChildren();
subscribe(drawSoon);
drawSoon();
keys.listen();
live.listen();
start();
