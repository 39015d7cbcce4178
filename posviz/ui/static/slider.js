// The slider that speaks while it moves, and plays. One without a view reports each value to Streamlit, one value
// on its way, the newest follows.

import { MANNERS, Player, SPEEDS, pace } from "./play.js";
import { noteTheme } from "./theme.js";
import { signed } from "./values.js";
import { viewOf } from "./view.js";

const format = (value, whole) => {
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(2);
  if (Math.abs(value) < 1) return signed(value.toLocaleString("en-US", { maximumSignificantDigits: 3 }));
  const digits = whole ? 0 : Math.abs(value) < 100 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  return signed(value.toLocaleString("en-US", { maximumFractionDigits: digits }));
};

const THUMB = 16; // px, as in live.css

class Scale {
  constructor({ low, high, step, scale }) {
    Object.assign(this, { low, high, step, log: scale === "log", whole: Number.isInteger(step) });
  }

  value(share) {
    const { low, high } = this;
    if (!this.log) return this.round(low + share * (high - low));
    if (low === 0) return this.round(Math.expm1(share * Math.log1p(high)));
    return this.round(low * (high / low) ** share);
  }

  share(value) {
    const { low, high } = this;
    if (high === low) return 0;
    if (!this.log) return (value - low) / (high - low);
    if (low === 0) return Math.log1p(value) / Math.log1p(high);
    return Math.log(value / low) / Math.log(high / low);
  }

  round(value) {
    const { low, high, step } = this;
    const short = this.log && !this.whole ? Number(value.toPrecision(3)) : value;
    const stepped = low + Math.round((short - low) / step) * step;
    return Number(Math.min(Math.max(stepped, low), high).toPrecision(12));
  }

  next(value, steps) {
    const pages = Math.abs(steps) >= 10; // on a long track a page is a twentieth of it
    if ((this.whole && !(this.log && pages)) || !this.log) return this.round(value + steps * this.step);
    const moved = this.value(Math.min(Math.max(this.share(value) + steps / (pages ? 200 : 100), 0), 1));
    return moved === value ? this.round(value + Math.sign(steps) * this.step) : moved;
  }
}

const sliders = new WeakMap();

export function slider(component) {
  noteTheme();
  const { parentElement: parent } = component;
  let one = sliders.get(parent);
  if (!one) sliders.set(parent, (one = new Slider(parent)));
  one.update(component);
  return () => one.leave();
}

class Slider {
  constructor(parent) {
    parent.insertAdjacentHTML(
      "beforeend",
      `<div class="pv-slider"><input type="range" min="0" max="1" step="any">` +
        `<div class="pv-head"><label></label><span class="pv-value"><span class="pv-pace">` +
        `<button type="button" data-pace="manner"></button><button type="button" data-pace="speed"></button></span>` +
        `<input type="text" inputmode="decimal" autocomplete="off"><span class="pv-unit"></span></span>` +
        `<button type="button" class="pv-play" hidden></button></div><p class="pv-note" hidden></p></div>`,
    );
    this.root = parent.lastElementChild;
    [this.label, this.number, this.unit, this.play, this.range, this.note] = [
      "label", ".pv-value input", ".pv-unit", ".pv-play", "input[type=range]", ".pv-note",
    ].map((selector) => this.root.querySelector(selector));
    this.held = false;
    this.waiting = this.newer = null; // without a view: the value on its way, the one to follow
    this.player = new Player(this);
    this.listen();
  }

  update({ data, setStateValue }) {
    const fresh = !this.data || data.value !== this.data.value || data.high !== this.data.high;
    this.data = data;
    this.names = [data.name];
    this.report = (value) => setStateValue("value", value);
    this.view = data.view ? viewOf(data.view) : null;
    const [value, high] = this.view?.limitOf(data) ?? [data.value, data.high];
    this.scale = new Scale({ ...data, high });
    this.view?.handles.set(data.name, this);
    const id = `pv-${data.name}`;
    this.range.id = id;
    this.root.dataset.name = data.name;
    this.label.htmlFor = id;
    this.label.textContent = data.label;
    const widest = Math.max(...[data.low, data.high].map((end) => format(end, this.scale.whole).length));
    this.number.style.width = `${Math.max(widest, 4)}ch`; // as wide as the widest value, so that nothing moves
    this.root.title = data.help ?? "";
    this.range.setAttribute("aria-description", data.help ?? "");
    this.unit.textContent = data.unit ?? "";
    this.number.setAttribute("aria-label", `${data.label}, ${data.words.typed}`);
    this.play.hidden = data.disabled || high <= data.low;
    const isRoomy = data.play && !matchMedia("(max-width: 640px)").matches;
    if (isRoomy) this.root.querySelector(".pv-head").append(this.play);
    else this.root.querySelector(".pv-pace").append(this.play);
    this.range.disabled = this.number.disabled = data.disabled;
    if (data.note && this.view) {
      this.note.hidden = false;
      this.view.slots.set(data.note.key, (payload) => (this.note.textContent = payload.markup));
      if (this.view.still || !this.note.textContent) this.note.textContent = data.note.markup;
      else this.view.skipped = true;
    }
    if (this.waiting !== null && !this.view) {
      this.waiting = null; // Python has answered
      if (this.newer !== null) return this.send(this.newer);
    }
    const newer = this.view?.moved.get(data.name);
    if (!this.held && (this.view || fresh)) this.show(newer === undefined ? value : Math.min(Number(newer), high));
    if (!this.player.runs) this.face();
  }

  // Streamlit's value counts.
  rest() {
    if (!this.held) this.limit(this.data.value, this.data.high);
  }

  // The page went on without it, or to another part: what it holds is told at once.
  leave() {
    this.stop();
    this.settle();
    if (this.view?.handles.get(this.data.name) === this) this.view.handles.delete(this.data.name);
  }

  // Another handle moved this one's end: it stops there, and shows it at once.
  limit(value, high) {
    this.play.hidden = this.data.disabled || high <= this.scale.low;
    if (this.held || (value === this.value && high === this.scale.high)) return;
    this.scale.high = high;
    this.show(value);
  }

  // Something else than the handle set its value: a clock, a heat map. That is newer than what the
  // handle has not yet told.
  follow(value) {
    if (Number(value) === this.value) return;
    clearTimeout(this.settling);
    this.player.stop();
    this.held = false;
    this.view.moving.delete(this);
    this.show(Number(value));
    this.face();
  }

  show(value) {
    this.value = value;
    const share = this.scale.share(value);
    if (!this.held || this.player.runs) this.range.value = share;
    this.root.style.setProperty("--share", share);
    const text = format(value, this.scale.whole);
    if (document.activeElement !== this.number && this.number.getRootNode().activeElement !== this.number) {
      this.number.value = text;
    }
    this.range.setAttribute("aria-valuetext", `${text} ${this.data.unit ?? ""}`.trim());
  }

  move(value) {
    this.complain("");
    if (value === this.value) return;
    this.show(value);
    if (this.view) this.view.set([this.data.name, value]);
    else this.send(value);
  }

  send(value) {
    if (this.waiting !== null) return void (this.newer = value);
    this.newer = null;
    this.waiting = value;
    this.report(value);
  }

  hold() {
    clearTimeout(this.settling);
    if (this.held) return;
    this.held = true;
    this.view?.moving.add(this);
  }

  // After a key Streamlit hears of the value once the keys rest: its run would compete with the
  // next press.
  release() {
    clearTimeout(this.settling);
    if (this.held) this.settling = setTimeout(() => this.settle(), 250);
  }

  settle() {
    clearTimeout(this.settling);
    if (!this.held) return;
    this.held = false;
    this.view?.moving.delete(this);
    this.view?.tell();
  }

  listen() {
    const { range, number } = this;
    range.addEventListener("input", () => {
      const share = Number(range.value);
      if (this.pressed && Math.abs(this.shareAt(this.pressed.x) - share) > 1e-9) this.pressed = null;
      this.stop();
      this.hold();
      this.move(this.scale.value(share));
    });
    this.listenEarly();
    range.addEventListener("change", () => this.settle()); // let go by mouse or finger
    range.addEventListener("keydown", (event) => {
      const steps = {
        ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10,
      }[event.key];
      const end = { Home: this.scale.low, End: this.scale.high }[event.key];
      if (steps === undefined && end === undefined) return;
      event.preventDefault();
      this.stop();
      this.hold();
      this.move(end ?? this.scale.next(this.value, steps));
      range.value = this.scale.share(this.value);
    });
    range.addEventListener("keyup", () => this.player.runs || this.release());
    range.addEventListener("blur", () => this.player.runs || this.release());
    number.addEventListener("focus", () => number.select());
    number.addEventListener("change", () => this.typed(number.value));
    number.addEventListener("keydown", (event) => {
      if (event.key === "Enter") number.blur();
      if (event.key === "Escape") {
        number.value = format(this.value, this.scale.whole);
        number.blur();
      }
    });
    number.addEventListener("blur", () => this.show(this.value));
    this.play.addEventListener("click", () => this.toggle());
    range.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      this.toggle();
    });
    for (const button of this.root.querySelectorAll("[data-pace]"))
      button.addEventListener("click", () => {
        this.player.change(button.dataset.pace);
        this.face();
      });
  }

  // Chromium keeps a pointer's movements until the next frame, 8 ms on average, but also tells them at
  // once to who asks. If nothing is on its way, the question for the new value leaves then. The native
  // handle has the last word: where it stands elsewhere, this ends.
  listenEarly() {
    const { range } = this;
    this.pressed = null;
    range.addEventListener("pointerdown", ({ button, pointerType, clientX }) => {
      if (!button && pointerType !== "touch" && this.view) this.pressed = { x: clientX };
    });
    range.addEventListener("pointermove", ({ clientX }) => this.pressed && (this.pressed.x = clientX));
    range.addEventListener("pointerrawupdate", ({ clientX, buttons }) => {
      if (!this.pressed || !this.held || !(buttons & 1) || this.view.busy || this.player.runs) return;
      this.move(this.scale.value(this.shareAt(clientX)));
    });
    for (const end of ["pointerup", "pointercancel", "change"])
      range.addEventListener(end, () => (this.pressed = null));
  }

  // Where Chromium puts the native handle for a pointer; it counts in 64ths of a screen's pixel.
  shareAt(x) {
    const { left, width } = this.range.getBoundingClientRect();
    const fine = 64 * devicePixelRatio;
    const whole = (length) => Math.floor(length * fine) / fine;
    const thumb = whole(THUMB * (this.range.currentCSSZoom ?? 1));
    return Math.min(Math.max(whole(x - left - thumb / 2) / (width - thumb), 0), 1);
  }

  typed(text) {
    const { low, high, step, whole } = this.scale;
    const plain = text.trim().replace("−", "-").replace(/^(-?\d{1,3})((?:,\d{3})+)(?=\.|$)/, (all) => all.replaceAll(",", ""));
    const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
    const allowed = value >= low && value <= high && (!whole || (value - low) % step === 0);
    const got = text.trim() ? text.trim().slice(0, 40) : "–";
    if (!allowed) return this.complain(this.data.words.allowed.replace("{got}", () => got));
    this.hold();
    this.move(value);
    this.settle();
  }

  complain(sentence) {
    let place = this.root.querySelector(".pv-problem");
    if (!sentence) return void place?.remove();
    if (!place) {
      this.root.insertAdjacentHTML("beforeend", `<p class="pv-problem" role="alert"></p>`);
      place = this.root.lastElementChild;
    }
    place.textContent = sentence;
  }

  toggle() {
    if (this.play.hidden) return;
    if (this.player.runs) this.stop();
    else {
      this.view?.pause(this);
      this.hold();
      this.player.start();
      this.face();
    }
  }

  stop() {
    if (!this.player.runs) return;
    this.player.stop();
    this.face();
    this.settle();
  }

  face() {
    const { words, label } = this.data;
    const { runs } = this.player;
    this.root.classList.toggle("is-playing", runs);
    this.play.textContent = runs ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", `${runs ? words.pause : words.play}: ${label}`);
    for (const [kind, text, said] of [
      ["speed", `${SPEEDS[pace.speed]}×`, `${words.speed}: ${SPEEDS[pace.speed]}×`],
      ["manner", MANNERS[pace.manner], words.manners[pace.manner]],
    ]) {
      const button = this.root.querySelector(`[data-pace="${kind}"]`);
      button.textContent = text;
      button.title = said;
      button.setAttribute("aria-label", said);
    }
  }
}
