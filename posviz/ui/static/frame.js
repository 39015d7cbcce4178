// What stands around a page: language, present mode, a lesson, links within the app. The link says all
// of it (posviz/ui/frame.py). A link within the app is gone to as the browser's own Back and Forward
// are: Streamlit takes the new address up in the same session.

import { isAway } from "./connection.js";
import { present } from "./present.js";

const root = document.documentElement;
let around = {};
let view = null;
let going = null; // the query that was gone to, until a run of the page has it

// Called with each run of the page.
export function show({ around: told, words }, shownView, reset) {
  [around, view] = [told, shownView];
  if (going !== null && (going !== location.search || isAsked(going, around.asked))) going = null;
  root.lang = around.language;
  root.toggleAttribute("data-pv-lesson", around.lesson);
  root.toggleAttribute("data-pv-embed", around.embedded);
  present(around, words, { view, reset, change });
  offerSkip(words.skip);
  for (const list of document.querySelectorAll('ul[data-testid="stSidebarNavItems"]')) {
    // Streamlit's list on a narrow screen has its items a level too deep to be one.
    list.setAttribute("role", "group");
    for (const item of list.querySelectorAll("li")) item.setAttribute("role", "presentation");
  }
}

// What scrolls within the page is reached by keys, to scroll it. Pictures are drawn at any time; what
// matters is when somebody goes on by Tab.
addEventListener(
  "keydown",
  ({ key }) => {
    if (key !== "Tab") return;
    for (const one of document.querySelectorAll(".stMain :is(.pv-formula, pre)"))
      if (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1) one.tabIndex = 0;
  },
  { capture: true },
);

// The first thing that Tab reaches: a way past the header, to the handles.
const skip = document.createElement("a");
skip.className = "pv-skip";
skip.href = "#stMain";
skip.addEventListener("click", (event) => {
  event.preventDefault();
  const main = document.querySelector(".stMainBlockContainer");
  const first = main?.querySelector(".pv-slider input[type=range]:enabled") ?? main?.querySelector("[data-key] :is(button, a, input)");
  first?.focus();
});
function offerSkip(label) {
  skip.textContent = label;
  if (!skip.isConnected) document.body.prepend(skip);
}

// What the address says of the frame; the language only where a browser would be shown another.
export function frameQuery() {
  const said = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  const { language = "en", expected = "en", query = {} } = around;
  const kept = [...said, ...Object.entries(query)];
  return language === "en" && expected === "en" ? kept : [...kept, ["lang", language]];
}

// Whether the page is that of the address; if not, the address is none of its business.
export const isHere = () => going === null;

// By a link, Back or Forward: what moved a moment ago is no part of where one goes.
addEventListener("popstate", () => {
  going = location.search;
  view?.forget();
  setTimeout((left) => going === left && !isAway() && (going = null), 5000, going); // no run has it
});

function isAsked(search, asked) {
  const said = [...new URLSearchParams(search)].filter(([name]) => !name.startsWith("embed"));
  return said.length === Object.keys(asked).length && said.every(([name, value]) => asked[name] === value);
}

const base = () => new URL(".", document.baseURI);

function go(address) {
  if (new URL(address, location.href).href !== location.href) history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

// The view as it stands in another frame; an empty value takes a name out.
export function change(changed) {
  const query = new URLSearchParams([...new URLSearchParams(view.shown), ...frameQuery()]);
  for (const [name, value] of Object.entries(changed)) value ? query.set(name, value) : query.delete(name);
  go(`${location.pathname}?${query}`);
}

// Goes to an address within the app, and says whether it is one; the start page is loaded anew.
export function follow(href) {
  const { origin, pathname, search, hash } = new URL(href, document.baseURI);
  if (origin !== base().origin || !pathname.startsWith(base().pathname) || hash) return false;
  if (!/^[a-z_]+$/.test(pathname.slice(base().pathname.length))) return false;
  const query = new URLSearchParams(search);
  for (const [name, value] of frameQuery()) if (["lang", "present"].includes(name)) query.set(name, value);
  go(`${pathname}?${query}`);
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.('a[href]:not([target="_blank"], [download])');
  if (!link || !view || event.defaultPrevented || event.button) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.dataset.frame) {
    event.preventDefault();
    change(Object.fromEntries(new URLSearchParams(link.dataset.frame)));
  } else if (follow(link.href)) event.preventDefault();
});
