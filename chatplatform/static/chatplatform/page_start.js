// Unfold hides the page until its scripts have run: until then, a browser does not focus a field on a
// slow connection, and scrolls no row of tabs.
document.addEventListener("alpine:initialized", () =>
  requestAnimationFrame(() => {
    const tab = document.querySelector(".page-tabs [aria-current]");
    tab?.scrollIntoView({ block: "nearest", inline: "center" });
    if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus();
  }),
);
