// Unfold hides the page until its scripts have run, and the browser gives no focus to what is
// hidden: on a slow line the field that a page is for would not have it.
document.addEventListener("alpine:initialized", () =>
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus();
  }),
);
