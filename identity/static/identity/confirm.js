// The token is in the fragment of the mailed link, so it reaches no server's log. It is removed from
// the address at once, since the browser keeps a history of addresses.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  document.querySelector("[name=token]").value = token;
  history.replaceState(null, "", location.pathname);
}
