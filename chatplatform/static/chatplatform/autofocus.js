// Unfold hides the page until its scripts have run, and a browser does not focus a hidden field: on
// a slow connection the page's main field would not get the focus.
document.addEventListener("alpine:initialized", () =>
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus();
  }),
);
