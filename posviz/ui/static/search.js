// The search line of the header.

import { fields, textField } from "./field.js";

// A line of text over the links that its view draws. Arrows go through them, Enter follows the
// first, Escape leads back to the line and out of it; "/" leads to it from anywhere.
export function search(component) {
  const leave = textField(component);
  const { parentElement: parent, data } = component;
  const { input, view } = fields.get(parent);
  let found = parent.querySelector(".pv-search-found");
  if (!found) {
    Object.assign(input, { type: "search", placeholder: data.label });
    input.setAttribute("aria-controls", "pv-search-found");
    input.setAttribute("aria-keyshortcuts", "/");
    parent.insertAdjacentHTML(
      "beforeend",
      `<div class="pv-search-found" id="pv-search-found" tabindex="-1"><p role="status"></p><div></div></div>`,
    );
    found = parent.lastElementChild;
    parent.addEventListener("keydown", (event) => searchKey(event, input, found, view));
    document.addEventListener("keydown", (event) => {
      const { target } = event;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target.isContentEditable || target.matches("input:not([type=range]), textarea, select")) return;
      event.preventDefault();
      input.select();
      input.focus();
    });
  }
  const [count, list] = found.children;
  view.slots.set("count", ({ markup }) => markup !== undefined && (count.innerHTML = markup));
  view.slots.set("found", ({ markup }) => markup !== undefined && (list.innerHTML = markup));
  if (!list.hasChildNodes()) {
    view.draw(data.drawn);
    openSection(new URLSearchParams(location.hash.slice(1)).get("read"));
  }
  return leave;
}

// Unfolds the prose that the address names, once it is there.
function openSection(title, tries = 50) {
  if (!title) return;
  const sections = [...document.querySelectorAll("details > summary")];
  const summary = sections.find(({ textContent }) => textContent.endsWith(title));
  if (!summary) return tries && setTimeout(() => openSection(title, tries - 1), 200);
  if (!summary.parentElement.open) summary.click();
  const show = () => summary.scrollIntoView({ block: "center" });
  show();
  setTimeout(show, 800); // what stands above has been drawn
}

function searchKey(event, input, found, view) {
  if (event.isComposing) return;
  const links = [...found.querySelectorAll("a")];
  const at = links.indexOf(event.target);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && (at >= 0 || step > 0)) {
    event.preventDefault();
    (at + step < 0 ? input : links[at + step])?.focus();
  } else if (event.key === "Escape") {
    event.preventDefault();
    if (at >= 0) return input.focus();
    if (input.value) {
      input.value = "";
      input.dispatchEvent(new InputEvent("input"));
    } else input.blur();
  } else if (event.key === "Enter" && event.target === input && input.value) {
    const follow = () => {
      if (view.state === null) setTimeout(follow, 30); // the newest answer is on its way
      else found.querySelector("a")?.click();
    };
    follow();
  }
}
