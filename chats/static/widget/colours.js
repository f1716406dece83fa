/** Colours that can be read on each other (WCAG 2.2, 1.4.3). */
const DARK = "#111827";
const LIGHT = "#ffffff";
const ENOUGH = 4.5;

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

function luminance(colour) {
  const [red, green, blue] = channels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is easier to read on this background. */
export const inkOn = (ground) => (contrast(ground, LIGHT) >= contrast(ground, DARK) ? LIGHT : DARK);

/** The colour, moved towards black or white until it is readable on the background. */
export function readable(colour, ground) {
  const [from, to] = [channels(colour), channels(inkOn(ground))];
  for (let share = 0; share < 1; share += 0.1) {
    const mixed = from.map((value, at) => Math.round(value + (to[at] - value) * share));
    const text = `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
    if (contrast(text, ground) >= ENOUGH) return text;
  }
  return inkOn(ground);
}

/** Sets the bot's colours on the page; `isSystemDark`: whether the visitor's system is dark. */
export function paint({ primary_color: primary, secondary_color: secondary, style }, isSystemDark) {
  const root = document.documentElement;
  const isDark = style.dark_mode === "system" ? isSystemDark : style.dark_mode;
  const ground = isDark ? DARK : LIGHT;
  root.dataset.dark = String(isDark);
  const colours = {
    "--primary": primary,
    "--on-primary": inkOn(primary),
    "--secondary": secondary,
    "--on-secondary": inkOn(secondary),
    "--accent": readable(primary, ground),
    "--radius": `${style.radius}px`,
  };
  for (const [name, value] of Object.entries(colours)) root.style.setProperty(name, value);
  if (style.font) root.style.setProperty("--font", `${style.font}, system-ui, sans-serif`);
}
