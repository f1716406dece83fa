/** The preview of a bot's look: the widget's own style, painted by the form of the page around it. */
import { paint } from "../widget/colours.js";

const form = parent.document.getElementById("look-form");

function draw() {
  const { bot_name: name, welcome_message: welcome, primary_color, secondary_color, dark_mode } = form.elements;
  paint({
    primary_color: primary_color.value,
    secondary_color: secondary_color.value,
    style: { dark_mode: dark_mode.checked, radius: 12, font: "" },
  });
  document.getElementById("name").textContent = name.value;
  document.querySelector(".face").textContent = [...name.value][0] ?? "";
  const words = document.getElementById("welcome");
  words.textContent = welcome.value;
  words.closest("li").style.display = welcome.value ? "" : "none";
}

form.addEventListener("input", draw);
draw();
