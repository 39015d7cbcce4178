// Light or dark, for a reader or an audience, and what the named colours are in it.

const { dataset } = document.documentElement;
export const theme = () => dataset.pvTheme + (dataset.pvPresent === undefined ? "" : " present");

// Each component asks as it is put on the page, and the answer costs a look at all that changed: once is
// enough for those that come together.
let isNoted = false;

export function noteTheme() {
  if (isNoted) return;
  isNoted = true;
  setTimeout(() => (isNoted = false));
  const ground = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
  const [r, g, b] = (ground.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  document.documentElement.dataset.pvTheme = r + g + b < 384 ? "dark" : "light";
}

// Plotly wants colours, the figures name them: "var(--pv-rope)" becomes what the theme says.
export function withColours(node) {
  if (Array.isArray(node)) node.forEach((item, i) => (node[i] = withColours(item)));
  else if (node && typeof node === "object") {
    for (const key of Object.keys(node)) if (key !== "bdata") node[key] = withColours(node[key]);
  } else if (typeof node === "string" && node.startsWith("var(")) return colour(node.slice(4, -1));
  return node;
}

const colours = new Map();
export const UNKNOWN = "#888888";
export function colour(name) {
  const key = `${theme()} ${name}`;
  if (!colours.has(key)) {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    if (!value) return UNKNOWN; // the style sheet is still on its way
    colours.set(key, value);
  }
  return colours.get(key);
}
