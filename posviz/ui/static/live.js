// The browser's half of posviz/ui/live.py: each function is one component.

// A host that serves Streamlit's HTML by itself leaves out what posviz/ui/document.py adds to it.
if (!document.querySelector('link[href*="live/styles/"]')) {
  const href = new URL("live/styles/of-now/posviz.css", document.baseURI).href;
  document.body.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
}

export { ask } from "./ask.js";
export { chart } from "./chart.js";
export { draft } from "./draft.js";
export { textField } from "./field.js";
export { copyLink } from "./link.js";
export { markup } from "./picture.js";
export { search } from "./search.js";
export { slider } from "./slider.js";
export { anchor } from "./view.js";
