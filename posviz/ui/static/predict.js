// A guess drawn into a chart before its curves are seen, and how far off it is.

import { axis, charts } from "./chart.js";
import { numbers } from "./values.js";

const BINS = 160; // across the plot
const KEYS = 24; // steps of the pen across it
const SVG = "http://www.w3.org/2000/svg";

// What would tell is hidden by a rule of a style sheet: pictures come and go beneath it.
const curves = ":is(.scatterlayer, .barlayer, .shapelayer, .annotation, .hoverlayer, .pv-quick)";
export function cover(figure, others = []) {
  const sheet = document.createElement("style");
  const place = (name) => `[data-key="${name.replaceAll('"', "")}"]`;
  const hidden = [
    `${place(figure)} ${curves}`,
    `.pv-markup${place(figure)} > *`,
    ...others.map((name) => `${place(name)} ${name.endsWith(":head") ? ".pv-title span" : "> *"}`),
  ];
  const empty = "repeating-linear-gradient(135deg, var(--pv-grid) 0 1px, transparent 1px 12px)";
  sheet.textContent =
    `${hidden.join(",")} { visibility: hidden !important; }` + `.pv-markup${place(figure)} { background: ${empty}; }`;
  document.head.append(sheet);
  return sheet;
}

export class Guess {
  constructor(host, words) {
    Object.assign(this, { host, words, points: new Array(BINS).fill(null), last: null, pen: null });
    host.insertAdjacentHTML("beforeend", `<svg class="pv-guess"><path></path><circle r="5"></circle></svg>`);
    this.svg = host.lastElementChild;
    [this.path, this.dot] = this.svg.children;
    this.svg.setAttribute("tabindex", "0");
    this.svg.setAttribute("role", "application");
    this.svg.setAttribute("aria-label", words.draw);
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.last && this.to(event));
    for (const kind of ["pointerup", "pointercancel"]) this.svg.addEventListener(kind, () => (this.last = null));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.show();
    this.watch = new ResizeObserver(() => this.show());
    this.watch.observe(host);
  }

  // The plot within the chart, in the chart's own pixels.
  get plot() {
    const { l, r, t, b } = this.host.layout.margin;
    const { clientWidth: width, clientHeight: height } = this.host;
    return { left: l, top: t, width: width - l - r, height: height - t - b };
  }

  down(event) {
    if (event.button) return;
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
    this.svg.focus();
    this.last = null;
    this.to(event);
  }

  // Fills the bins between the last point and this one.
  to({ clientX, clientY }) {
    const box = this.host.getBoundingClientRect();
    const zoom = box.width / this.host.clientWidth;
    const { left, top, width, height } = this.plot;
    const bin = Math.round((((clientX - box.left) / zoom - left) / width) * (BINS - 1));
    const y = Math.min(Math.max(((clientY - box.top) / zoom - top) / height, 0), 1);
    this.put(Math.min(Math.max(bin, 0), BINS - 1), y);
  }

  put(bin, y) {
    const from = this.last ?? { bin, y };
    const steps = Math.max(Math.abs(bin - from.bin), 1);
    for (let i = 0; i <= steps; i++)
      this.points[Math.round(from.bin + ((bin - from.bin) * i) / steps)] = from.y + ((y - from.y) * i) / steps;
    this.last = { bin, y };
    this.show();
  }

  key(event) {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -0.02], ArrowDown: [0, 0.02] }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.pen ??= { at: 0, y: 0.5 };
    this.last = { bin: Math.round((this.pen.at * (BINS - 1)) / KEYS), y: this.pen.y };
    this.pen.at = Math.min(Math.max(this.pen.at + step[0], 0), KEYS);
    this.pen.y = Math.min(Math.max(this.pen.y + step[1], 0), 1);
    this.put(Math.round((this.pen.at * (BINS - 1)) / KEYS), this.pen.y);
    this.last = null;
  }

  show() {
    const { left, top, width, height } = this.plot;
    const at = (bin) => left + (bin / (BINS - 1)) * width;
    const line = this.points.flatMap((y, bin) => (y === null ? [] : [`${at(bin).toFixed(1)} ${(top + y * height).toFixed(1)}`]));
    this.path.setAttribute("d", line.length ? `M${line.join("L")}` : "");
    this.dot.setAttribute("visibility", this.pen ? "visible" : "hidden");
    if (!this.pen) return;
    this.dot.setAttribute("cx", left + (this.pen.at / KEYS) * width);
    this.dot.setAttribute("cy", top + this.pen.y * height);
  }

  get isDrawn() {
    return this.points.some((y) => y !== null);
  }

  // How far the guess is from the curve that lies on top, the chart's last: in the axis's own units, on
  // a logarithmic axis as a factor. Null where they share no place.
  off() {
    const { layout } = this.host;
    const lines = charts.get(this.host).newest.figure.data.filter(({ x, y, fill }) => x?.bdata && y?.bdata && !fill);
    const curve = lines.at(-1);
    if (!curve) return null;
    const { left, top, width, height } = this.plot;
    const isLog = layout.yaxis.type === "log";
    const x = axis(this.host, "xaxis", left, width);
    const [low, high] = layout.yaxis.range.map(Number);
    const [xs, ys] = [Array.from(numbers(curve.x), x), Array.from(numbers(curve.y), (y) => (isLog ? Math.log10(y) : y))];
    const found = this.points.flatMap((share, bin) => {
      const at = left + (bin / (BINS - 1)) * width;
      const next = xs.findIndex((one) => one >= at);
      if (share === null || next < 0 || (next === 0 && xs[0] > at + 1)) return [];
      const before = Math.max(next - 1, 0);
      const part = xs[next] === xs[before] ? 0 : (at - xs[before]) / (xs[next] - xs[before]);
      const real = ys[before] + part * (ys[next] - ys[before]);
      return Number.isFinite(real) ? [Math.abs(high - share * (high - low) - real)] : [];
    });
    if (!found.length) return null;
    const mean = found.reduce((sum, one) => sum + one, 0) / found.length;
    const said = (one) => (isLog ? `×${short(10 ** one)}` : short(one));
    const told = this.words.off.replace("{mean}", () => said(mean)).replace("{most}", () => said(Math.max(...found)));
    return lines.length > 1 && curve.name ? `${curve.name}: ${told}` : told;
  }

  reveal() {
    this.svg.classList.add("is-revealed");
    this.svg.setAttribute("tabindex", "-1");
    return this.off();
  }

  remove() {
    this.watch.disconnect();
    this.svg.remove();
  }
}

const short = (value) => String(Number(value.toPrecision(2)));

// The button among those of a chart that lets one draw before one looks.
export function offerGuess(one) {
  const { words } = one.view ?? {};
  if (!words?.predict || one.guessing) return;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: words.predict });
  one.guessing = button;
  one.saving.prepend(button);
  button.addEventListener("click", () => ask(one, words));
}

function ask(one, words) {
  const { host } = one;
  const { key } = host.dataset;
  if (host.querySelector(".pv-guess-bar")) return; // it is asked already
  const sheet = cover(key, [`${key}:head`]);
  const guess = new Guess(host, words);
  host.insertAdjacentHTML("beforeend", `<p class="pv-guess-bar"><span role="status"></span><button type="button"></button><button type="button"></button></p>`);
  const bar = host.lastElementChild;
  const [told, reveal, close] = bar.children;
  [told.textContent, reveal.textContent, close.textContent] = [words.draw, words.reveal, words.close];
  reveal.addEventListener("click", () => {
    sheet.remove();
    told.textContent = (guess.isDrawn && guess.reveal()) || words.none;
    reveal.remove();
    close.focus();
  });
  close.addEventListener("click", () => [sheet, guess, bar].forEach((part) => part.remove()));
  guess.svg.focus();
}
