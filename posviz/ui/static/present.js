// Present mode: the page on a stage of 16:9, its type half as large again, steered by keys.

const root = document.documentElement;
const LARGEST = 1.5;
const LEAST = 170; // height of a chart that can still be read
let now = null; // what the last run of the page said, and what can be asked
let held = null; // the page and the step whose first handle took the focus

export function present(around, words, doing) {
  const place = around.present ? `${doing.view.name} ${around.query?.lesson_step ?? ""}` : null;
  const began = place !== null && place !== held;
  held = place;
  now = { around, words, ...doing };
  if (root.hasAttribute("data-pv-present") !== around.present) {
    root.toggleAttribute("data-pv-present", around.present);
    doing.view.repaint();
  }
  panel.hidden = true;
  if (!around.present) return leave();
  stage();
  if (began) setTimeout(focusHandle, 300);
}

// Arrows move a handle at once: on a new stage, at a new step, when the button of an answer is gone.
export function focusHandle(tries = 20) {
  const nowhere = !document.activeElement || document.activeElement.matches("body, main, section");
  if (!nowhere || !root.hasAttribute("data-pv-present")) return;
  const handle = document.querySelector(".pv-slider input[type=range]:enabled");
  if (handle) handle.focus({ preventScroll: true });
  else if (tries) setTimeout(() => focusHandle(tries - 1), 100);
}

function leave() {
  root.style.removeProperty("--pv-zoom");
  watch.disconnect();
  for (const chart of document.querySelectorAll("[data-fitted]")) {
    chart.style.height = "";
    chart.style.minHeight = chart.dataset.fitted;
    delete chart.dataset.fitted;
  }
}

// ----------------------------------------------------------------------------------- stage

const watch = new ResizeObserver(() => soon());
let waiting = 0;
const soon = () => {
  clearTimeout(waiting);
  waiting = setTimeout(fit, 120);
};

function stage() {
  const block = document.querySelector(".stMainBlockContainer");
  if (block) watch.observe(block);
  soon();
}
addEventListener("resize", () => root.hasAttribute("data-pv-present") && soon());

// Whether handles' names are cut off, or the choices need a second row.
function isSqueezed(block) {
  if (innerWidth < 900) return false; // on a phone they stand below each other anyway
  const tops = [...block.querySelectorAll(".st-key-pv-choices > *")].filter((one) => one.offsetHeight > 20).map((one) => one.offsetTop + one.offsetHeight);
  const names = [...block.querySelectorAll(".pv-head label")];
  return Math.max(...tops) - Math.min(...tops) > 40 || names.some((one) => one.scrollWidth > one.clientWidth + 1);
}

// Charts take the height that is left, or give some; only what then still does not fit makes the
// type smaller.
function fit() {
  const block = document.querySelector(".stMainBlockContainer");
  if (!block || !root.hasAttribute("data-pv-present")) return;
  const charts = [...block.querySelectorAll(".pv-chart")];
  const tall = (chart, height) => (chart.style.height = chart.style.minHeight = `${height}px`);
  for (const chart of charts) {
    chart.dataset.fitted ??= chart.style.minHeight;
    tall(chart, LEAST);
  }
  let zoom = LARGEST;
  const set = () => root.style.setProperty("--pv-zoom", zoom);
  const room = () => innerHeight - block.getBoundingClientRect().height;
  for (set(); zoom > 1 && (room() < 0 || isSqueezed(block)); set()) zoom = Math.max(1, zoom - 0.05);
  // Those that stand in one row share it: each grows until the page is full.
  const bottom = innerHeight - 12;
  const grown = new Map();
  for (const chart of charts) {
    const column = chart.closest(".stColumn") ?? block;
    const others = charts.filter((other) => (other.closest(".stColumn") ?? block) === column);
    const end = Math.max(...[...column.querySelectorAll("[data-key], .stElementContainer")].map((one) => one.getBoundingClientRect().bottom));
    const below = block.getBoundingClientRect().bottom - column.getBoundingClientRect().bottom;
    const left = (bottom - below - end) / zoom / others.length;
    grown.set(chart, Math.max(0, left));
  }
  for (const chart of charts) {
    tall(chart, LEAST + grown.get(chart));
    if (chart.clientWidth && chart._fullLayout) window.Plotly.Plots.resize(chart);
  }
}

// ------------------------------------------------------------------------------------ keys

const panel = document.createElement("div");
panel.className = "pv-keys";
panel.hidden = true;

function showKeys() {
  const { words } = now;
  const rows = [
    ["← →", words.arrows], ["Space", words.space], ["R", words.reset], ["F", words.full],
    ["N P", words.steps], ["1 … 9", words.figures], ["Esc", words.leave], ["?", words.help],
  ];
  panel.setAttribute("role", "dialog");
  panel.setAttribute("aria-label", words.keys);
  panel.tabIndex = -1;
  panel.replaceChildren(Object.assign(document.createElement("b"), { textContent: words.keys }));
  const list = document.createElement("dl");
  for (const [key, does] of rows)
    list.append(Object.assign(document.createElement("dt"), { textContent: key }), Object.assign(document.createElement("dd"), { textContent: does }));
  panel.append(list);
  document.body.append(panel);
  panel.hidden = !panel.hidden;
  if (!panel.hidden) panel.focus();
}

// What a lecturer with a mouse or a finger has of it: shown when the pointer moves, then gone.
const bar = document.createElement("p");
bar.className = "pv-stage-bar";
bar.hidden = true;
let fading = 0;

addEventListener("pointermove", () => {
  if (!now?.around.present) return void (bar.hidden = true);
  clearTimeout(fading);
  fading = setTimeout(() => bar.matches(":hover, :focus-within") || (bar.hidden = true), 2500);
  if (!bar.hidden) return;
  const { words, around } = now;
  const buttons = [["?", words.help, showKeys], ["F", words.full, fullScreen], ["Esc", words.leave, () => now.change({ present: "" })]];
  if (around.lesson) buttons.unshift(["P", words.previous, () => step("prev")], ["N", words.next, () => step("next")]);
  bar.replaceChildren(
    ...buttons.map(([key, label, run]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: key, title: label });
      button.setAttribute("aria-label", label);
      button.addEventListener("click", run);
      return button;
    }),
  );
  document.body.append(bar);
  bar.hidden = false;
});

const step = (rel) => document.querySelector(`a[rel="${rel}"]`)?.click();
const fullScreen = () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen());
const typing = (target) => target.isContentEditable || target.matches?.("input:not([type=range]), textarea, select");

addEventListener("keydown", (event) => {
  if (!now || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const { around, change, view, reset } = now;
  const { key } = event;
  const does = {
    "?": showKeys,
    Escape: () => (panel.hidden ? around.present && change({ present: "" }) : (panel.hidden = true)),
  };
  if (around.present || around.lesson)
    Object.assign(does, {
      n: () => step("next"),
      p: () => step("prev"),
      r: () => {
        view.pause();
        reset();
      },
      f: fullScreen,
      " ": () => view.toggle(event.target),
    });
  if (around.present) {
    for (const [at, name] of around.pictures.entries())
      does[at + 1] = () => change({ figures: [name, ...around.captions].join(",") });
    does[0] = () => change({ figures: "" });
  }
  const run = does[key.length === 1 ? key.toLowerCase() : key];
  if (!run || (key === " " && event.target.matches?.("button, a, summary, [role=button]"))) return;
  event.preventDefault();
  run();
});
