/**
 * A form that is being sent is not sent twice: its button shows a spinner and cannot be pressed until the page changes,
 * or until `forms.js` has its answer. A form whose answer is a file (`data-download`) stays as it is.
 */
const BUSY = "aria-busy";

const isBusy = (form) => form.getAttribute(BUSY) === "true";

function start(form, button) {
  form.setAttribute(BUSY, "true");
  if (!button) return;
  button.dataset.sending = "";
  // The button's own value must be sent too; browsers do not send a disabled button's.
  setTimeout(() => (button.disabled = isBusy(form)));
}

function stop(form) {
  form.removeAttribute(BUSY);
  for (const button of form.querySelectorAll("[data-sending]")) {
    delete button.dataset.sending;
    button.disabled = false;
  }
}

addEventListener(
  "submit",
  (event) => {
    if (!isBusy(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

addEventListener("submit", ({ target: form, submitter, defaultPrevented }) => {
  const isSent = form.hasAttribute("data-form") || !defaultPrevented;
  if (isSent && form.getAttribute("method") === "post" && !form.hasAttribute("data-download")) start(form, submitter);
});

addEventListener("sent", ({ target: form }) => stop(form));

// After Back, the browser shows the page as it was left.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) document.querySelectorAll(`form[${BUSY}]`).forEach(stop);
});
