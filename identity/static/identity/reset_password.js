// The token stands in the fragment of the mailed link. It leaves this page in a body alone.
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
const words = { 204: "saved", 400: "invalid", 422: "refused", 429: "wait" };

async function send(path, body) {
  try {
    const reply = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token, ...body }),
    });
    return words[reply.status] ?? "away";
  } catch {
    return "away";
  }
}

function say(word) {
  status.textContent = status.dataset[word];
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const [input, button] = form.elements;
  button.disabled = true;
  const word = await send("/identity/reset-password", { new_password: input.value });
  button.disabled = false;
  form.hidden = word === "saved" || word === "invalid";
  say(word);
});

const word = token ? await send("/identity/verify-reset-token", {}) : "invalid";
if (word === "saved") {
  form.hidden = false;
} else {
  say(word === "refused" ? "invalid" : word);
}
