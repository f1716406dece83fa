/** The tabs of a page's sections. An address such as `#hours` opens the section with this part. */
const tabs = () => [...document.querySelectorAll(".sections [role=tab]")];
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

function open(chosen) {
  for (const tab of tabs()) {
    const isOpen = tab === chosen;
    tab.setAttribute("aria-selected", isOpen);
    tab.tabIndex = isOpen ? 0 : -1;
    panelOf(tab).hidden = !isOpen;
  }
}

function openAddressed() {
  const part = document.getElementById(location.hash.slice(1));
  const tab = part && tabs().find((one) => panelOf(one).contains(part));
  if (!tab) return;
  open(tab);
  if (part !== firstPart(tab)) part.scrollIntoView();
}

const firstPart = (tab) => panelOf(tab).querySelector("section[id]");

document.addEventListener("click", ({ target }) => {
  const tab = target.closest(".sections [role=tab]");
  if (!tab) return;
  open(tab);
  history.replaceState(history.state, "", `#${firstPart(tab).id}`);
});

document.addEventListener("keydown", (event) => {
  const all = tabs(), place = all.indexOf(event.target);
  const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: all.length - 1 }[event.key];
  if (place < 0 || next === undefined) return;
  event.preventDefault();
  const tab = all.at(next % all.length);
  tab.focus();
  tab.click();
});

addEventListener("hashchange", openAddressed);
openAddressed();
