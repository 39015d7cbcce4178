// The browser's half of posviz/ui/live.py: each function is one component.

export { ask } from "./ask.js";
export { chart } from "./chart.js";
export { draft } from "./draft.js";
export { textField } from "./field.js";
export { copyLink } from "./link.js";
export { markup } from "./picture.js";
export { search } from "./search.js";
export { slider } from "./slider.js";
export { anchor } from "./view.js";
