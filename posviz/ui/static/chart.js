// Charts: Plotly's, and its lines drawn by hand while values follow each other.

import { offerFiles, picture } from "./picture.js";
import { offerGuess } from "./predict.js";
import { theme, withColours } from "./theme.js";
import { numbers } from "./values.js";
import { REST } from "./view.js";

let plotly = null;
const loadPlotly = () =>
  (plotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const script = document.createElement("script");
    script.src = new URL("plotly/plotly.min.js", document.baseURI).href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("plotly.js did not load"));
    document.head.append(script);
  }));

// Asked for at once: it is the largest thing to load, and nearly every page has a chart.
loadPlotly().catch(() => {});

// Plotly needs 15-35 ms for a chart, more than everything else together. While values follow each
// other quickly and the axes stand, the curves are therefore drawn by hand into an SVG over the
// plot, about 1 ms, and Plotly's own are hidden; when the values rest, Plotly draws the last ones,
// so that hover, zoom and export are always its own.
export const charts = new WeakMap(); // host -> what is known of its chart

// A column that goes leaves its width to the others; Plotly itself follows the window alone. Asked for
// while pictures change, a size costs a layout of the page, 8 ms for each chart: it is noted here.
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    charts.get(target).size = { width: target.clientWidth, height: target.clientHeight };
    if (target.clientWidth && Math.abs((target._fullLayout?.width ?? target.clientWidth) - target.clientWidth) > 1)
      window.Plotly.Plots.resize(target);
  }
});

export function chart(component) {
  picture(component, "pv-chart", (one, payload) => {
    one.newest = payload;
    if (!charts.has(one.host)) sizes.observe(one.host);
    charts.set(one.host, one);
    one.saving ??= offerFiles(one);
    if (!one.offering) {
      one.offering = true; // once the page's words are there
      for (const kind of ["pointerenter", "focusin"])
        one.host.parentElement.addEventListener(kind, () => figured(one.newest) && offerGuess(one));
    }
    if (one.ready) return drawChart(one);
    one.loading ??= loadPlotly().then(() => {
      one.ready = true;
      drawChart(one);
    });
  });
  // An open guess goes with its chart: its cover would lie over the next one of that name.
  return () => component.parentElement.querySelector(".pv-guess-bar button:last-child")?.click();
}

function drawChart(one) {
  const { figure, alt } = one.newest;
  one.host.setAttribute("aria-label", alt);
  clearTimeout(one.resting);
  const { data, layout } = withColours(structuredClone(figure));
  const frame = JSON.stringify([layout.xaxis, layout.yaxis, data.map(({ fill, line }) => [fill, line?.shape]), theme()]);
  if (frame === one.frame && data.every(byHand)) {
    quick(one, data, layout);
    one.resting = setTimeout(() => plot(one, data, layout), REST);
  } else plot(one, data, layout);
  one.frame = frame;
}

// Whether it has a curve over fixed axes, that one could have drawn before.
const figured = ({ figure: { data, layout } }) => data.some(byHand) && layout.xaxis.range && layout.yaxis.range;

// What can be drawn by hand; any other figure is Plotly's at every step.
const byHand = ({ type, mode, x, y }) =>
  type === "scatter" && mode.startsWith("lines") && x?.bdata !== undefined && y?.bdata !== undefined;

function plot(one, data, layout) {
  one.host.setAttribute("role", "figure");
  const drawn = window.Plotly.react(one.host, data, layout, {
    displayModeBar: false, // it lies over the labels; a drag zooms, a double click returns
    responsive: true,
    plotlyServerURL: "",
  });
  Promise.resolve(drawn).then(() => one.host.classList.remove("is-quick"));
}

const tenth = (value) => Math.round(value * 10) / 10;

// Pixels of an axis as it stands now, zoomed or not.
export function axis(host, name, start, length) {
  const { range, type } = host.layout[name];
  const [low, high] = range.map(Number);
  const scale = length / (high - low);
  return type === "log" ? (v) => start + (Math.log10(v) - low) * scale : (v) => start + (v - low) * scale;
}

function quick(one, data, layout) {
  const { host } = one;
  const { width, height } = one.size ?? { width: host.clientWidth, height: host.clientHeight };
  const { l, r, t, b } = layout.margin;
  const x = axis(host, "xaxis", l, width - l - r);
  const y = axis(host, "yaxis", height - b, -(height - t - b));
  if (!one.overlay) {
    host.insertAdjacentHTML("beforeend", `<svg class="pv-quick" aria-hidden="true"><g></g><g></g></svg>`);
    one.overlay = host.lastElementChild;
  }
  const [curves, marks] = one.overlay.children;
  curves.style.clipPath = `inset(${t}px ${r}px ${b}px ${l}px) view-box`;
  one.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const wanted = [];
  let below = "";
  for (const { x: xs, y: ys, line, fill, fillcolor } of data) {
    const points = [];
    const [at, of] = [numbers(xs), numbers(ys)];
    let last;
    for (let i = 0; i < at.length; i++) {
      const px = tenth(x(at[i]));
      const py = tenth(Math.min(Math.max(y(of[i]), -2000), 4000));
      if (line.shape === "hv" && i) points.push(px + " " + last);
      points.push(px + " " + (last = py));
    }
    if (at.length === 1) points.push(tenth(x(at[0])) + 4 + " " + last);
    const path = points.join("L");
    if (fill === "tonexty") wanted.push({ d: `M${path}L${below}Z`, fill: fillcolor, stroke: "none" });
    below = points.reverse().join("L");
    if (line.width !== 0)
      wanted.push({ d: `M${path}`, fill: "none", stroke: line.color, "stroke-width": line.width, "stroke-dasharray": line.dash?.replaceAll("px", "") ?? "none" });
  }
  matchChildren(curves, "path", wanted);
  const lines = (layout.shapes ?? []).map(({ x0, line }) => ({
    x1: x(x0), x2: x(x0), y1: t, y2: height - b, stroke: line.color, "stroke-width": line.width,
    "stroke-dasharray": line.dash === "dot" ? "3 3" : "none",
  }));
  const texts = (layout.annotations ?? []).map((note) => ({
    x: (host.layout.xaxis.type === "log" ? x(10 ** note.x) : x(note.x)) + note.xshift + (note.xanchor === "left" ? 1 : -1),
    y: Math.round(height - b - note.y * (height - t - b) + note.font.size + 2),
    "text-anchor": note.xanchor === "left" ? "start" : "end", fill: note.font.color,
    "font-size": note.font.size, text: note.text,
  }));
  matchChildren(marks, (i) => (i < lines.length ? "line" : "text"), [...lines, ...texts]);
  host.classList.add("is-quick");
  host.dataset.quick = one.newest.hash;
}

// Makes the children of a group what they should be, reusing those that are there.
function matchChildren(group, tag, wanted) {
  wanted.forEach(({ text, ...attributes }, i) => {
    const name = typeof tag === "string" ? tag : tag(i);
    let node = group.children[i];
    if (node?.tagName !== name) {
      const fresh = document.createElementNS("http://www.w3.org/2000/svg", name);
      if (node) node.replaceWith(fresh);
      else group.append(fresh);
      node = fresh;
    }
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined && node.textContent !== text) node.textContent = text;
  });
  while (group.children.length > wanted.length) group.lastElementChild.remove();
}
