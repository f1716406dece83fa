// The token stands in the fragment of the mailed link, which reaches no server's log. It leaves the
// address at once: the browser keeps addresses.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  document.querySelector("[name=token]").value = token;
  history.replaceState(null, "", location.pathname);
}
