/**
 * Sends the forms of a page (`data-form`) in the background, so that unsaved input is not lost: neither in the other
 * forms nor, if the server refuses it, does not answer or asks to sign in, in the form that was sent.
 *
 * The returned page replaces the `data-part` around the form, and each `data-live`. A form without a part is alone on
 * its page, which is then reloaded. So is the page after a change of a field that it depends on (`data-reloads`).
 *
 * In a `data-together`, one button saves all forms (`data-saved`) that were changed, one after another.
 */
const REFUSED = "errornote mb-3 px-3 py-2.5 rounded-default bg-red-100 text-red-700 dark:bg-red-500/20 dark:text-red-400";
const leaving = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-form]")) return;
  event.preventDefault();
  if (form.matches("[data-together] [data-saved]")) {
    // Waits until `sending.js` has marked it as being sent.
    setTimeout(() => form.dispatchEvent(new Event("sent", { bubbles: true })));
    saveAll(form.closest("[data-together]"));
  } else send(form, event.submitter);
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-save-all]");
  if (button) saveAll(button.closest("[data-together]"));
});

for (const kind of ["input", "change", "sent"]) document.addEventListener(kind, () => setTimeout(mark));

addEventListener("beforeunload", (event) => {
  if (isUnsavedIn(document)) event.preventDefault();
});

/** Save the forms that were changed. A refused form stays open, and an unchanged one shows the stored values. */
async function saveAll(together) {
  const button = together.querySelector("[data-save-all]");
  if (button.hasAttribute("data-sending")) return;
  button.toggleAttribute("data-sending", true);
  const changed = [...together.querySelectorAll("form[data-saved]")].filter(isUnsaved), saved = new Set();
  let page;
  for (const form of changed) {
    if (!form.isConnected) continue; // it was sent before another one
    const part = form.closest("[data-part]").id;
    const answer = await send(form, null);
    if (!answer) break;
    page = answer;
    saved.add(part);
  }
  const refused = changed.map(({ id }) => document.getElementById(id)).find((form) => form && isUnsaved(form));
  if (refused) reveal(refused);
  else if (page) refresh(together, page, saved);
  button.toggleAttribute("data-sending", false);
  const bar = together.querySelector("[data-save-bar]");
  mark();
  bar.querySelector("p").textContent = refused ? bar.dataset.refused : bar.dataset.done;
}

/** Update the parts of the page that have no changes. */
function refresh(together, page, saved) {
  for (const part of together.querySelectorAll("[data-part]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh || saved.has(part.id) || isUnsavedIn(part)) continue;
    replace(part, fresh);
  }
}

/** Open the section of a form, and scroll to its first error. */
function reveal(form) {
  const panel = form.closest("[role=tabpanel]");
  if (panel?.hidden) document.getElementById(panel.getAttribute("aria-labelledby")).click();
  const details = form.closest("details");
  if (details) details.open = true;
  (form.querySelector(".errors, .errornote, [role=alert]") ?? form).scrollIntoView({ block: "center" });
}

/** Say whether there are unsaved changes, and in which sections. */
function mark() {
  for (const tab of document.querySelectorAll(".sections [role=tab]")) {
    tab.toggleAttribute("data-unsaved", isUnsavedIn(document.getElementById(tab.getAttribute("aria-controls"))));
  }
  for (const bar of document.querySelectorAll("[data-save-bar]")) {
    const isChanged = isUnsavedIn(bar.closest("[data-together]"));
    if (isChanged === bar.hasAttribute("data-changed")) continue;
    bar.toggleAttribute("data-changed", isChanged);
    bar.querySelector("p").textContent = isChanged ? bar.dataset.unsaved : "";
    // "Saved." is about the values before these changes.
    if (isChanged) for (const message of bar.closest("[data-together]").querySelectorAll("[data-form-message]")) message.remove();
  }
}

/** Send a form and show the result. Returns the page of the answer; null if the form was not saved. */
async function send(form, button) {
  let page = null;
  const body = new FormData(form);
  if (button?.name) body.append(button.name, button.value);
  // The cookie has a new token if the person has signed in again in another tab.
  body.set("csrfmiddlewaretoken", /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? body.get("csrfmiddlewaretoken"));
  form.inert = true;
  try {
    if (await hasItsLanguages(form)) {
      page = await show(form, await fetch(addressOf(form), { method: "POST", body, headers: { Background: "form" } }));
    }
  } catch {
    tell(form, form.dataset.offline);
  }
  form.inert = false;
  form.dispatchEvent(new Event("sent", { bubbles: true }));
  return page;
}

/** Texts in languages that were just chosen (`text_boxes.js`) are stored only after that choice. */
async function hasItsLanguages(form) {
  const choice = () => document.getElementById("languages-form");
  const hasMore = [...form.querySelectorAll("[data-added] textarea")].some(({ value }) => value);
  if (!hasMore || !isUnsaved(choice())) return true;
  await send(choice());
  return !isUnsaved(choice());
}

async function show(form, reply) {
  const there = reply.redirected ? reply.url : reply.headers.get("Location");
  const next = there && new URL(there, location.href);
  if (next?.pathname.endsWith("/login/")) return tell(form, form.dataset.signedOut, next.pathname);
  const part = form.closest("[data-part]");
  if (next && (next.pathname !== location.pathname || !part)) {
    leaving.add(form);
    return next.href === location.href ? location.reload() : location.assign(next);
  }
  if (next && [...form.querySelectorAll("[data-reloads]")].some(isChanged)) {
    leaving.add(form);
    return location.reload();
  }
  const answer = next && !reply.redirected ? await fetch(next) : reply;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) return tell(form, page.querySelector("h1 + p")?.textContent ?? form.dataset.offline);
  const fresh = page.getElementById((part ?? form).id);
  if (!fresh) {
    put(document.getElementById("content"), page.getElementById("content"));
    return page;
  }
  copyFilesAndPasswords(form, page.getElementById(form.id));
  put(part ?? form, fresh);
  document.title = page.title;
  for (const live of document.querySelectorAll("[data-live]")) {
    const now = page.getElementById(live.id);
    if (now && !fresh.contains(live)) put(live, now);
  }
  return page;
}

function put(old, fresh) {
  if (old === null || fresh === null) return location.reload();
  replace(old, fresh);
  fresh.querySelector("[data-refused] .errors, [data-refused] .errornote, [role=status]")?.scrollIntoView({ block: "center" });
}

function replace(old, fresh) {
  if (old.open) fresh.open = true;
  old.replaceWith(document.adoptNode(fresh));
  window.htmx?.process(fresh);
}

/** If the form was refused: the server's pages do not have these. */
function copyFilesAndPasswords(form, fresh) {
  if (!fresh?.hasAttribute("data-refused")) return;
  for (const input of form.querySelectorAll("input[type=file], input[type=password]")) {
    const twin = fresh.elements[input.name];
    if (twin && input.type === "file") twin.files = input.files;
    else if (twin) twin.value = input.value;
  }
}

function tell(form, words, signIn) {
  form.querySelector(":scope > [role=alert]")?.remove();
  const told = document.createElement("p");
  told.className = REFUSED;
  told.setAttribute("role", "alert");
  told.textContent = words;
  if (signIn) {
    const link = Object.assign(document.createElement("a"), { href: signIn, target: "_blank", className: "underline" });
    link.textContent = form.dataset.signIn;
    told.append(" ", link);
  }
  form.prepend(told);
  told.scrollIntoView({ block: "center" });
}

const addressOf = (form) => new URL(form.getAttribute("action") || "", location.href);

const isUnsaved = (form) => !leaving.has(form) && (form.hasAttribute("data-refused") || [...form.elements].some(isChanged));

const isUnsavedIn = (place) => [...place.querySelectorAll("form[data-form]")].some(isUnsaved);

function isChanged(input) {
  if (input.type === "file") return input.files.length > 0;
  if (input.type === "checkbox" || input.type === "radio") return input.checked !== input.defaultChecked;
  if (input.options) return input.value !== ([...input.options].find((one) => one.defaultSelected) ?? input.options[0])?.value;
  return input.defaultValue !== undefined && input.type !== "hidden" && input.value !== input.defaultValue;
}
