/**
 * Texts by language: a language chosen for the bot on the same page gets its boxes at once, before the choice is saved.
 * `forms.js` saves the choice before the texts.
 */
const CHOICES = "#languages-form [name=languages]:checked, #languages-form [name=another] :checked";

document.addEventListener("change", ({ target }) => target.closest("#languages-form") && update());
// A form that was sent comes back without the boxes of a choice that is not saved.
new MutationObserver(update).observe(document.getElementById("content"), { childList: true, subtree: true });

function update() {
  const chosen = [...document.querySelectorAll(CHOICES)].filter(({ value }) => value);
  for (const texts of document.querySelectorAll("[data-texts]")) {
    for (const added of texts.querySelectorAll("[data-added]")) {
      const isChosen = chosen.some(({ value }) => value === added.dataset.language);
      if (!isChosen && !added.querySelector("textarea").value) added.remove();
    }
    const shown = [...texts.children].map((box) => box.dataset.language);
    for (const choice of chosen) if (!shown.includes(choice.value)) add(texts, choice);
  }
}

function add(texts, choice) {
  const box = texts.firstElementChild.cloneNode(true);
  const [label, area] = [box.querySelector("label"), box.querySelector("textarea")];
  const own = (name) => name.slice(0, -box.dataset.language.length) + choice.value;
  label.textContent = (choice.labels?.[0] ?? choice).textContent.trim();
  label.htmlFor = area.id = own(area.id);
  area.name = own(area.name);
  area.lang = choice.value;
  area.value = area.textContent = "";
  Object.assign(box.dataset, { language: choice.value, added: "" });
  texts.append(box);
}
