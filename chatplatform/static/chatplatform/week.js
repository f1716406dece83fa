/** The hours of a week in a form: adds hours to a day, removes them, and copies Monday's to the other weekdays. */
const WEEKDAYS = [1, 2, 3, 4];

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-week] button");
  const day = button?.closest("[data-day]");
  if (!day) return;
  if ("addHours" in button.dataset) add(day).querySelector("input").focus();
  if ("removeHours" in button.dataset) remove(day, button.closest(".week-span"));
  if ("copyHours" in button.dataset) for (const number of WEEKDAYS) copy(day, number);
});

function add(day, hours = ["", ""]) {
  const spans = day.querySelectorAll(".week-span");
  const span = spans[spans.length - 1].cloneNode(true);
  spans[spans.length - 1].after(span);
  fill(span, hours);
  return span;
}

function remove(day, span) {
  if (day.querySelectorAll(".week-span").length > 1) return span.remove();
  day.querySelector("input[type=checkbox]").checked = false;
}

function copy(from, number) {
  const to = from.parentElement.querySelector(`[data-day="${number}"]`);
  const hours = [...from.querySelectorAll(".week-span")].map(read);
  const [first, ...others] = to.querySelectorAll(".week-span");
  for (const span of others) span.remove();
  fill(first, hours[0]);
  for (const more of hours.slice(1)) add(to, more);
  to.querySelector("input[type=checkbox]").checked = from.querySelector("input[type=checkbox]").checked;
}

const read = (span) => [...span.querySelectorAll("input")].map(({ value }) => value);

/** A clone keeps the names of its day. A new element counts as changed only if its default differs. */
function fill(span, hours) {
  span.querySelectorAll("input").forEach((input, place) => { input.value = hours[place]; });
}
