// Unfold hides the page until its scripts have run: until then, the browser can neither focus a field
// nor scroll the row of tabs.
document.addEventListener("alpine:initialized", () =>
  requestAnimationFrame(() => {
    const tab = document.querySelector(".page-tabs [aria-current]");
    const row = tab?.closest(".page-tabs");
    // Not `scrollIntoView`, which scrolls the page, too.
    if (row) row.scrollLeft += tab.getBoundingClientRect().left - row.getBoundingClientRect().left - row.clientWidth / 3;
    if (document.activeElement === document.body) document.querySelector("[autofocus]")?.focus();
  }),
);
