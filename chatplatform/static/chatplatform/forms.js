/**
 * Sends the forms of a page (`data-form`) in the background, so that unsaved input is not lost: neither in the other
 * forms nor, if the server refuses it, does not answer or asks to sign in, in the form that was sent.
 *
 * The returned page replaces the `data-part` around the form, and each `data-live`. A form without a part is alone on
 * its page, which is then reloaded.
 */
const REFUSED = "errornote mb-3 px-3 py-2.5 rounded-default bg-red-100 text-red-700 dark:bg-red-500/20 dark:text-red-400";
const leaving = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-form]")) return;
  event.preventDefault();
  send(form, event.submitter);
});

addEventListener("beforeunload", (event) => {
  if ([...document.querySelectorAll("form[data-form]")].some(isUnsaved)) event.preventDefault();
});

async function send(form, button) {
  const body = new FormData(form);
  if (button?.name) body.append(button.name, button.value);
  // The cookie has a new token if the person has signed in again in another tab.
  body.set("csrfmiddlewaretoken", /(?:^|; )csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? body.get("csrfmiddlewaretoken"));
  form.inert = true;
  try {
    if (await hasItsLanguages(form)) await show(form, await fetch(addressOf(form), { method: "POST", body, headers: { Background: "form" } }));
  } catch {
    tell(form, form.dataset.offline);
  }
  form.inert = false;
  form.dispatchEvent(new Event("sent", { bubbles: true }));
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
  const answer = next && !reply.redirected ? await fetch(next) : reply;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok) return tell(form, page.querySelector("h1 + p")?.textContent ?? form.dataset.offline);
  const fresh = page.getElementById((part ?? form).id);
  if (!fresh) return put(document.getElementById("content"), page.getElementById("content"));
  copyFilesAndPasswords(form, page.getElementById(form.id));
  put(part ?? form, fresh);
  document.title = page.title;
  for (const live of document.querySelectorAll("[data-live]")) {
    const now = page.getElementById(live.id);
    if (now && !fresh.contains(live)) put(live, now);
  }
}

function put(old, fresh) {
  if (old === null || fresh === null) return location.reload();
  old.replaceWith(document.adoptNode(fresh));
  window.htmx?.process(fresh);
  fresh.querySelector("[data-refused] .errors, [data-refused] .errornote, [role=status]")?.scrollIntoView({ block: "center" });
}

/** If the form was refused: no page of the server holds these. */
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

function isChanged(input) {
  if (input.type === "file") return input.files.length > 0;
  if (input.type === "checkbox" || input.type === "radio") return input.checked !== input.defaultChecked;
  if (input.options) return input.value !== ([...input.options].find((one) => one.defaultSelected) ?? input.options[0])?.value;
  return input.defaultValue !== undefined && input.type !== "hidden" && input.value !== input.defaultValue;
}
