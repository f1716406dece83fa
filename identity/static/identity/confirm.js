// The token is in the fragment of the mailed link, so that no server logs it. It is removed from the
// URL at once, since browsers keep a history of URLs.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
if (token) {
  document.querySelector("[name=token]").value = token;
  history.replaceState(null, "", location.pathname);
}
