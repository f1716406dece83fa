// The token is in the fragment of the mailed link, which is not sent; requests carry it in the body.
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
const outcomes = { 204: "saved", 400: "invalid", 422: "refused", 429: "wait" };

async function send(path, body) {
  try {
    const reply = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token, ...body }),
    });
    return outcomes[reply.status] ?? "away";
  } catch {
    return "away";
  }
}

function show(outcome) {
  status.textContent = status.dataset[outcome];
  for (const link of document.querySelectorAll("[data-after]")) {
    link.hidden = link.dataset.after !== outcome;
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [input, button] = form.elements;
  button.disabled = true;
  const outcome = await send("/identity/reset-password", { new_password: input.value });
  button.disabled = false;
  form.hidden = outcome === "saved" || outcome === "invalid";
  show(outcome);
});

const outcome = token ? await send("/identity/verify-reset-token", {}) : "invalid";
if (outcome === "saved") {
  form.hidden = false;
} else {
  show(outcome === "refused" ? "invalid" : outcome);
}
