// The browser's half of posviz/ui/live.py: sliders that speak while they move, pictures drawn
// into the old ones. A view's slider asks the route /live/view/NAME for the page's own query and
// draws what comes; one question is on its way, the newest value follows. A slider without a view
// reports each value to Streamlit in the same manner. What is slow comes line by line from the
// route /live/measure/NAME once the handles rest, and is dropped when they move again.

const views = new Map();
let current = null; // the view of the page that is open
const here = (path) => new URL(path, document.baseURI).href;

// What a page's state is, is said by its query. Streamlit has one (base); what moved since and is
// not yet in it (moved) is newer. Both together are asked for; the answer says what they mean, with
// every limit kept (shown). The anchor tells Streamlit of what has come to rest.
class View {
  constructor(name) {
    this.name = name;
    this.base = ""; // Streamlit's state, as links show it, without defaults
    this.moved = new Map(); // name -> value that Streamlit has not taken up yet
    this.told = new Map(); // name -> value and number of the message that told Streamlit of it
    this.messages = 0;
    this.moving = new Set(); // handles in motion
    this.shown = ""; // the state that the pictures show
    this.state = ""; // the same, or null while an answer is awaited
    this.slots = new Map(); // key -> function that draws a payload
    this.pictures = new Map(); // key -> picture in that place
    this.handles = new Map(); // name -> slider
    this.busy = this.dirty = this.skipped = false;
    this.measures = false;
    this.measured = { state: null, slots: {} }; // what the slow route said, and of which state
    this.measuring = null; // aborts the answer on its way
  }

  // Streamlit's state counts, but for values that it has not heard of.
  adopt({ address, measures, message }) {
    this.measures = measures;
    for (const [name, value] of this.moved) {
      const told = this.told.get(name);
      if (told?.value !== value || told.message > message || this.isMoving(name)) continue;
      this.moved.delete(name);
      this.told.delete(name);
    }
    // The pictures of this run came before its address: some were left aside for newer ones, some
    // may have given way to what was measured of the last state.
    const overdrawn = address !== this.base && this.measured.state !== null;
    this.base = address;
    if (this.moved.size || this.skipped || overdrawn) this.ask();
    else {
      this.shown = this.state = address;
      for (const handle of this.handles.values()) handle.rest();
      this.save();
    }
    this.skipped = false;
    this.measureSoon();
  }

  isMoving(name) {
    return [...this.moving].some(({ names }) => names.includes(name));
  }

  // Whether the pictures of Streamlit's run are the newest.
  get still() {
    return !this.moving.size && !this.moved.size && !this.busy;
  }

  get query() {
    const query = new URLSearchParams(this.base);
    for (const [name, value] of this.moved) query.set(name, value);
    return query.toString();
  }

  set(...pairs) {
    for (const [name, value] of pairs) {
      this.moved.set(name, String(value));
      this.handles.get(name)?.follow(value);
    }
    this.state = null;
    this.ask();
    this.measureSoon();
  }

  // Streamlit hears of what has come to rest, and answers with the number of the message. Each one
  // says all that is not acknowledged yet: of two that follow quickly, Streamlit hears the last.
  tell() {
    const resting = [...this.moved].filter(([name]) => !this.isMoving(name));
    if (resting.some(([name, value]) => this.told.get(name)?.value !== value)) {
      const message = (this.messages += 1);
      for (const [name, value] of resting) this.told.set(name, { value, message });
      this.report?.({ values: Object.fromEntries(resting), message });
    }
    this.save();
  }

  // The page is left: what it did not say in time is forgotten.
  leave() {
    if (current === this) current = null;
    this.moved.clear();
    this.told.clear();
  }

  measureSoon() {
    if (!this.measures) return;
    clearTimeout(this.resting);
    if (this.measured.state !== this.state) this.measuring?.abort();
    this.resting = setTimeout(() => this.measure(), REST);
  }

  async measure() {
    const { state } = this;
    if (state === null) return this.measureSoon();
    if (this.measured.state === state) return;
    this.measuring?.abort();
    const measuring = (this.measuring = new AbortController());
    const measured = (this.measured = { state, slots: {} });
    const forget = () => this.measured === measured && (measured.state = null);
    measuring.signal.addEventListener("abort", forget);
    try {
      const { signal } = measuring;
      const response = await fetch(here(`live/measure/${this.name}?${state}`), { signal });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (let part; !(part = await reader.read()).done; ) {
        const lines = (text + part.value).split("\n");
        text = lines.pop();
        for (const line of lines) {
          const slots = JSON.parse(line) ?? {};
          Object.assign(measured.slots, slots);
          if (this.state === state) this.draw(slots);
        }
      }
    } catch {
      forget(); // outdated, or the server is away; the next move asks again
    }
  }

  // Hashes of what stands on the page; the server need not send it again.
  *known() {
    for (const one of this.pictures.values()) yield* one.known();
  }

  // Pictures of the fast route; where the slow one has measured the same state, its own.
  draw(slots) {
    const better = this.state !== null && this.measured.state === this.state ? this.measured.slots : {};
    for (const [key, payload] of Object.entries(slots)) this.slots.get(key)?.(better[key] ?? payload);
  }

  async ask() {
    this.dirty = true;
    if (this.busy) return;
    this.busy = true;
    this.dirty = false;
    const { query } = this;
    let answer = null;
    try {
      const headers = { "X-Known": [...this.known()].join(",") };
      const response = await fetch(here(`live/view/${this.name}?${query}`), { headers });
      if (response.ok) answer = await response.json();
    } catch {
      // the server is away; Streamlit shows that it reconnects
    }
    this.busy = false;
    const isNewest = query === this.query;
    if (this.dirty || !isNewest) this.ask(); // the server works on while this one is drawn
    if (!answer) return;
    this.shown = answer.address;
    if (isNewest) this.state = answer.address;
    this.draw(answer.slots);
    for (const [name, [value, high]] of Object.entries(answer.handles))
      if (!this.isMoving(name)) this.handles.get(name)?.limit(value, high);
    this.save();
  }

  // The address bar shows the state once nothing moves; another page's address is its own.
  save() {
    if (current !== this || this.moving.size || this.busy) return;
    const { pathname, search, hash } = window.location;
    const kept = [...new URLSearchParams(search)].filter(([key]) => key.startsWith("embed"));
    const query = new URLSearchParams([...new URLSearchParams(this.shown), ...kept]).toString();
    const wanted = query ? `?${query}` : "";
    sessionStorage.setItem(`posviz ${this.name}`, this.shown);
    if (wanted !== search) window.history.replaceState(window.history.state, "", pathname + wanted + hash);
  }
}

const viewOf = (name) => {
  if (!views.has(name)) views.set(name, new View(name));
  return views.get(name);
};

// ---------------------------------------------------------------- anchor: the view's own state

export function anchor({ data, parentElement, setTriggerValue }) {
  noteTheme();
  const isNew = !views.get(data.view)?.anchored;
  const view = (current = viewOf(data.view));
  view.anchored = parentElement;
  view.report = (told) => setTriggerValue("moved", told);
  const kept = isNew && !data.address && !location.search && sessionStorage.getItem(`posviz ${data.view}`);
  view.adopt(data);
  if (kept) {
    view.set(...new URLSearchParams(kept));
    view.tell();
  }
  // One that is put anew comes before the old one goes, which then says nothing about the view.
  return () => view.anchored === parentElement && view.leave();
}

// ---------------------------------------------------------------------------------- slider

const signed = (value) => String(value).replace("-", "−");

const format = (value, whole) => {
  if (value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(2);
  if (Math.abs(value) < 1) return signed(value.toLocaleString("en-US", { maximumSignificantDigits: 3 }));
  const digits = whole ? 0 : Math.abs(value) < 100 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  return signed(value.toLocaleString("en-US", { maximumFractionDigits: digits }));
};

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
        `<div class="pv-head"><label></label><span class="pv-value">` +
        `<input type="text" inputmode="decimal" autocomplete="off"><span class="pv-unit"></span></span>` +
        `<button type="button" class="pv-play" hidden></button></div><p class="pv-note" hidden></p></div>`,
    );
    this.root = parent.lastElementChild;
    [this.label, this.number, this.unit, this.play, this.range, this.note] = [
      "label", ".pv-value input", ".pv-unit", ".pv-play", "input[type=range]", ".pv-note",
    ].map((selector) => this.root.querySelector(selector));
    this.held = false;
    this.waiting = this.newer = null; // without a view: the value on its way, the one to follow
    this.timer = 0;
    this.listen();
  }

  update({ data, setStateValue }) {
    const fresh = !this.data || data.value !== this.data.value || data.high !== this.data.high;
    this.data = data;
    this.names = [data.name];
    this.report = (value) => setStateValue("value", value);
    this.scale = new Scale(data);
    this.view = data.view ? viewOf(data.view) : null;
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
    this.play.hidden = !data.play || data.high <= data.low;
    this.range.disabled = this.number.disabled = data.disabled;
    if (data.note && this.view) {
      this.note.hidden = false;
      this.view.slots.set(data.note.key, (payload) => (this.note.textContent = payload.markup));
      if (!this.held) this.note.textContent = data.note.markup;
    }
    if (this.waiting !== null && !this.view) {
      this.waiting = null; // Python has answered
      if (this.newer !== null) return this.send(this.newer);
    }
    const newer = this.view?.moved.get(data.name);
    if (!this.held && (this.view || fresh)) this.show(newer === undefined ? data.value : Number(newer));
    if (!this.timer) this.face();
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
    if (this.held || (value === this.value && high === this.scale.high)) return;
    this.scale.high = high;
    this.show(value);
  }

  // Something else than the handle set its value: a clock, a heat map. That is newer than what the
  // handle has not yet told.
  follow(value) {
    if (Number(value) === this.value) return;
    clearInterval(this.timer);
    clearTimeout(this.settling);
    this.timer = 0;
    this.held = false;
    this.view.moving.delete(this);
    this.show(Number(value));
    this.face();
  }

  show(value) {
    this.value = value;
    const share = this.scale.share(value);
    if (!this.held || this.timer) this.range.value = share;
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
      this.stop();
      this.hold();
      this.move(this.scale.value(Number(range.value)));
    });
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
    range.addEventListener("keyup", () => this.release());
    range.addEventListener("blur", () => this.timer || this.release());
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
    this.play.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
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

  // Play runs over the track in about 20 seconds, at least one step at a time, from the start
  // again when it has reached the end.
  start() {
    this.hold();
    if (this.scale.share(this.value) >= 1) this.move(this.scale.low);
    const tick = () => {
      if (document.hidden || (this.view ? this.view.busy : this.waiting !== null)) return;
      const next = this.scale.value(Math.min(this.scale.share(this.value) + 1 / 400, 1));
      this.move(next > this.value ? next : this.scale.next(this.value, 1));
      if (this.scale.share(this.value) >= 1) this.stop();
    };
    this.timer = setInterval(tick, 50);
    this.face();
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.face();
    this.settle();
  }

  face() {
    const { words, label } = this.data;
    this.play.textContent = this.timer ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", `${this.timer ? words.pause : words.play}: ${label}`);
  }
}

// --------------------------------------------------------------------------------- pictures

const pictures = new WeakMap();

function picture(component, className, draw) {
  noteTheme();
  const { parentElement: parent, data } = component;
  let one = pictures.get(parent);
  if (!one) {
    parent.insertAdjacentHTML("beforeend", `<div class="${className}"></div>`);
    one = { host: parent.lastElementChild, drawn: null, theme: null, known: () => known(one) };
    pictures.set(parent, one);
    one.host.dataset.key = data.key;
    one.host.style.minHeight = data.height ? `${data.height}px` : "";
  }
  const view = data.view ? viewOf(data.view) : null;
  const update = (sent) => {
    const payload = complete(one, sent, view);
    if (!payload) return view?.ask(); // what it rests on was drawn over in the meantime
    if (payload.hash === one.drawn && one.theme === theme()) return;
    one.drawn = payload.hash;
    one.theme = theme();
    one.payload = payload;
    draw(one, payload);
  };
  one.view = view;
  view?.slots.set(data.key, update);
  view?.pictures.set(data.key, one);
  const own = { [data.key]: data.payload };
  if (!view) update(data.payload);
  else if (view.still || one.drawn === null || one.theme !== theme()) view.draw(own);
  else view.skipped = true;
}

function known({ payload }) {
  if (!payload) return [];
  return [payload.hash, ...Object.values(payload.rasters ?? {}).map(({ hash }) => hash)];
}

// A payload with what the server left out because it is here already, in this place or in another
// one that shows the same; null if it is not.
function complete({ payload: old }, sent, view) {
  if (sent.hash === old?.hash) return old;
  const placed = [...(view?.pictures.values() ?? [])].flatMap(({ payload }) => payload ?? []);
  if (sent.markup === undefined && !sent.figure)
    return placed.find(({ hash }) => hash === sent.hash) ?? null;
  const rasters = placed.flatMap((one) => Object.values(one.rasters ?? {}));
  for (const [name, raster] of Object.entries(sent.rasters ?? {})) {
    if (raster.cells !== undefined) continue;
    const same = rasters.find(({ hash }) => hash === raster.hash);
    if (!same) return null;
    sent.rasters[name] = same;
  }
  return sent;
}

export function markup(component) {
  picture(component, "pv-markup", (one, payload) => {
    const { host } = one;
    const active = host.getRootNode().activeElement;
    const { set, item } = host.contains(active) ? active.dataset : {};
    const painted = [...host.querySelectorAll("canvas")];
    host.innerHTML = payload.markup;
    for (const canvas of host.querySelectorAll("canvas")) paint(canvas, payload, painted);
    if (set) host.querySelector(`[data-set="${set}"]`)?.focus();
    if (item) host.querySelector(`[data-item="${item}"]`)?.focus();
    sayCell(one);
    if (!one.listening) listen(one);
    one.saving ??= offerFiles(one);
    one.saving.hidden = !host.querySelector(PICTURED);
  });
}

// What makes a drawing a picture that one wants to have, and no sentence.
const PICTURED = 'canvas, svg, [role="img"]';

// Two buttons that save the picture as a file, its heading above it.
function offerFiles(one) {
  const { host } = one;
  host.insertAdjacentHTML("afterend", '<p class="pv-save"></p>');
  host.parentElement.classList.add("pv-place");
  const place = host.nextElementSibling;
  for (const kind of ["svg", "png"]) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: kind.toUpperCase() });
    button.addEventListener("click", async () => {
      const { save } = await import(`./still.js${new URL(import.meta.url).search}`);
      const key = host.dataset.key;
      const heading = one.view?.pictures.get(`${key}:head`)?.host;
      save(heading?.isConnected ? [heading, host] : [host], kind, key.replaceAll(":", "_"));
    });
    place.append(button);
  }
  return place;
}

function listen(one) {
  one.listening = true;
  const { host } = one;
  host.addEventListener("keydown", (event) => {
    const item = event.target.closest("[data-item]");
    if (item) return moveItem(one, item, event);
    // In a grid of data-columns, up and down go by rows.
    const row = Number(event.target.closest("[data-columns]")?.dataset.columns ?? 1);
    const step = { ArrowRight: 1, ArrowDown: row, ArrowLeft: -1, ArrowUp: -row }[event.key];
    const at = step && event.target.closest("[data-set]");
    if (!at) return;
    event.preventDefault();
    const all = [...host.querySelectorAll("[data-set]")];
    const next = all[all.indexOf(at) + step];
    next?.focus();
    next?.click();
  });
  host.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-set]")?.dataset.set;
    if (!chosen) return;
    one.view?.set(...new URLSearchParams(chosen));
    one.view?.tell();
  });
  // Dragging within the picture. Its elements are replaced while one drags, the host is not.
  host.addEventListener("pointerdown", (event) => {
    if (event.button || event.target.closest("button:not([data-item])")) return;
    const canvas = event.target.closest(".pv-heat-plot")?.querySelector("canvas");
    const item = event.target.closest("[data-item]");
    const { raster: map, row, column } = canvas?.dataset ?? {};
    if (item) one.drag = { item: item.dataset.item, names: [item.parentElement.dataset.order] };
    else if (row || column) one.drag = { map, names: [row, column] };
    else return;
    one.view?.moving.add(one.drag);
    host.setPointerCapture(event.pointerId);
    if (item) item.focus();
    event.preventDefault();
    dragTo(one, event);
  });
  host.addEventListener("pointermove", (event) => {
    one.pointer = [event.clientX, event.clientY];
    if (one.drag) dragTo(one, event);
    sayCell(one);
  });
  host.addEventListener("pointerleave", () => {
    one.pointer = null;
    sayCell(one);
  });
  const drop = () => {
    if (!one.drag) return;
    one.view?.moving.delete(one.drag);
    one.drag = null;
    one.view?.tell();
  };
  host.addEventListener("pointerup", drop);
  host.addEventListener("pointercancel", drop);
}

function dragTo(one, { clientX: x, clientY: y }) {
  const { drag, host, view } = one;
  const set = (pairs) => {
    const said = new URLSearchParams(pairs).toString();
    if (said === drag.said) return;
    drag.said = said;
    view?.set(...pairs);
  };
  if (drag.item !== undefined) {
    const items = [...host.querySelectorAll("[data-item]")];
    const from = items.findIndex((other) => other.dataset.item === drag.item);
    const to = items.findIndex((other) => {
      const { left, right, top, bottom } = other.getBoundingClientRect();
      return x >= left && x <= right && y >= top && y <= bottom;
    });
    if (to < 0 || to === from) return;
    set([[drag.names[0], reordered(items, from, to)]]);
    items[to][to > from ? "after" : "before"](items[from]);
    return;
  }
  const canvas = host.querySelector(`canvas[data-raster="${drag.map}"]`);
  const cell = cellAt(canvas, x, y, true);
  const { row, column, firstRow, firstColumn, stepRow, stepColumn } = canvas.dataset;
  const pairs = [];
  if (row) pairs.push([row, cell.row * stepRow + Number(firstRow)]);
  if (column) pairs.push([column, cell.column * stepColumn + Number(firstColumn)]);
  set(pairs);
}

const reordered = (items, from, to) => {
  const order = items.map((other) => other.dataset.item);
  order.splice(to, 0, ...order.splice(from, 1));
  return order.join("-");
};

function moveItem(one, item, event) {
  const items = [...one.host.querySelectorAll("[data-item]")];
  const from = items.indexOf(item);
  const last = items.length - 1;
  const to = { ArrowLeft: from - 1, ArrowUp: from - 1, ArrowRight: from + 1, ArrowDown: from + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  if (to < 0 || to > last || to === from) return;
  const pair = [item.parentElement.dataset.order, reordered(items, from, to)];
  items[to][to > from ? "after" : "before"](item);
  item.focus();
  one.view?.set(pair);
  clearTimeout(one.telling); // Streamlit hears of it once the keys rest
  one.telling = setTimeout(() => one.view?.tell(), 250);
}

// ------------------------------------------------------------------------------- heat maps

// A canvas with one pixel per cell. One that shows the same in the same colours is kept.
function paint(canvas, { rasters }, painted) {
  const { raster: name, palette } = canvas.dataset;
  const raster = rasters[name];
  const shown = `${raster.hash} ${palette} ${theme()}`;
  const same = painted.find((other) => other.dataset.shown === shown);
  if (same) {
    for (const [key, value] of Object.entries(canvas.dataset)) same.dataset[key] = value;
    same.told = raster;
    return canvas.replaceWith(same);
  }
  const { rows, columns } = raster;
  [canvas.width, canvas.height] = [columns, rows];
  raster.bytes ??= bytes(raster.cells);
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = coloursOf(palette);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colours[raster.bytes[i]];
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.told = raster;
  if (palettes.has(paletteKey(palette))) canvas.dataset.shown = shown;
  else setTimeout(() => canvas.isConnected && paint(canvas, { rasters }, []), 50); // still grey
}

const palettes = new Map();
const paletteKey = (palette) => `${theme()} ${palette}`;

// The colour of each byte: 0 is no value, 1 to 255 run from the first colour to the last.
function coloursOf(palette) {
  const key = paletteKey(palette);
  if (!palettes.has(key)) {
    const stops = palette.split(",").map((name) => colour(`--pv-${name}`));
    const canvas = new OffscreenCanvas(255, 1);
    const context = canvas.getContext("2d");
    const gradient = context.createLinearGradient(0.5, 0, 254.5, 0);
    stops.forEach((stop, i) => gradient.addColorStop(i / (stops.length - 1), stop));
    context.fillStyle = gradient;
    context.fillRect(0, 0, 255, 1);
    const found = new Uint32Array(256);
    found.set(new Uint32Array(context.getImageData(0, 0, 255, 1).data.buffer), 1);
    if (stops.includes(UNKNOWN)) return found; // the style sheet is still on its way
    palettes.set(key, found);
  }
  return palettes.get(key);
}

function cellAt(canvas, x, y, nearest = false) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const { rows, columns } = canvas.told;
  let row = Math.floor(((y - top) / height) * rows);
  let column = Math.floor(((x - left) / width) * columns);
  if (nearest) {
    row = Math.min(Math.max(row, 0), rows - 1);
    column = Math.min(Math.max(column, 0), columns - 1);
  } else if (row < 0 || column < 0 || row >= rows || column >= columns) return null;
  return { row, column, left, top, width, height };
}

// What the cell under the pointer shows, beside it.
function sayCell({ host, pointer }) {
  for (const canvas of host.querySelectorAll("canvas")) {
    const figure = canvas.closest("figure");
    const output = figure.querySelector("output");
    const cell = pointer && cellAt(canvas, ...pointer);
    output.hidden = !cell;
    if (!cell) continue;
    const { told: { columns, low, high, values, bytes: cells }, dataset } = canvas;
    const index = cell.row * columns + cell.column;
    const name = (list, n, step, first) => JSON.parse(list)[n] ?? signed(n * step + Number(first));
    if (values && !canvas.told.exact) canvas.told.exact = numbers(values);
    const exact = canvas.told.exact?.[index];
    const rough = low + ((cells[index] - 1) / 254) * (high - low);
    const value = exact === undefined ? `≈ ${Number(rough.toPrecision(2))}` : Number(exact.toPrecision(4));
    output.textContent = dataset.said
      .replace("{row}", () => name(dataset.rows, cell.row, dataset.stepRow, dataset.firstRow))
      .replace("{column}", () => name(dataset.columnsSaid, cell.column, dataset.stepColumn, dataset.firstColumn))
      .replace("{value}", () => (cells[index] ? signed(value) : "–"));
    const box = figure.getBoundingClientRect();
    output.style.top = `${pointer[1] - box.top}px`;
    output.style.left = `${pointer[0] - box.left}px`;
    output.classList.toggle("is-left", pointer[0] - box.left > box.width / 2);
  }
}

// ----------------------------------------------------------------------------- line of text

const fields = new WeakMap();

export function textField(component) {
  noteTheme();
  const { parentElement: parent, data } = component;
  let one = fields.get(parent);
  if (!one) {
    parent.insertAdjacentHTML(
      "beforeend",
      `<div class="pv-text"><label></label><input type="text" autocomplete="off" spellcheck="false"></div>`,
    );
    const [label, input] = parent.lastElementChild.children;
    one = { label, input, names: [data.name] };
    fields.set(parent, one);
    const settle = () => {
      clearTimeout(one.settling);
      if (one.view.moving.delete(one)) one.view.tell();
    };
    input.addEventListener("input", (event) => {
      if (event.isComposing) return; // a word of Chinese or Japanese that is not chosen yet
      one.view.moving.add(one);
      const line = input.value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
      one.view.set(...one.data.clears.map((name) => [name, ""]), [one.data.name, line]);
      clearTimeout(one.settling);
      one.settling = setTimeout(settle, 600);
    });
    input.addEventListener("compositionend", () => input.dispatchEvent(new InputEvent("input")));
    input.addEventListener("change", settle);
    one.settle = settle;
    one.follow = (text) => one.view.moving.has(one) || (input.value = text);
    one.rest = () => one.follow(one.data.value);
    one.limit = () => {};
  }
  Object.assign(one, { data, view: viewOf(data.view) });
  one.view.handles.set(data.name, one);
  const id = `pv-${data.name}`;
  one.input.id = one.label.htmlFor = id;
  one.label.textContent = data.label;
  one.label.title = data.help;
  one.input.setAttribute("aria-description", data.help);
  one.input.maxLength = data.longest;
  if (!one.view.moved.has(data.name)) one.rest();
  return () => {
    one.settle();
    if (one.view.handles.get(data.name) === one) one.view.handles.delete(data.name);
  };
}

// ------------------------------------------------------------------------------------ charts

let plotly = null;
const loadPlotly = () =>
  (plotly ??= new Promise((resolve, reject) => {
    if (window.Plotly) return resolve(window.Plotly);
    const script = document.createElement("script");
    script.src = here("plotly/plotly.min.js");
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
const REST = 160; // ms without a new value

export function chart(component) {
  picture(component, "pv-chart", (one, payload) => {
    one.newest = payload;
    one.saving ??= offerFiles(one);
    if (one.ready) return drawChart(one);
    one.loading ??= loadPlotly().then(() => {
      one.ready = true;
      drawChart(one);
    });
  });
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

const bytes = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const numbers = ({ bdata }) => new Float32Array(bytes(bdata).buffer);
const tenth = (value) => Math.round(value * 10) / 10;

// Pixels of an axis as it stands now, zoomed or not.
function axis(host, name, start, length) {
  const { range, type } = host.layout[name];
  const [low, high] = range.map(Number);
  const scale = length / (high - low);
  return type === "log" ? (v) => start + (Math.log10(v) - low) * scale : (v) => start + (v - low) * scale;
}

function quick(one, data, layout) {
  const { host } = one;
  const { clientWidth: width, clientHeight: height } = host;
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

// Plotly wants colours, the figures name them: "var(--pv-rope)" becomes what the theme says.
function withColours(node) {
  if (Array.isArray(node)) node.forEach((item, i) => (node[i] = withColours(item)));
  else if (node && typeof node === "object") {
    for (const key of Object.keys(node)) if (key !== "bdata") node[key] = withColours(node[key]);
  } else if (typeof node === "string" && node.startsWith("var(")) return colour(node.slice(4, -1));
  return node;
}

const colours = new Map();
const UNKNOWN = "#888888";
function colour(name) {
  const key = `${theme()} ${name}`;
  if (!colours.has(key)) {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    if (!value) return UNKNOWN; // the style sheet is still on its way
    colours.set(key, value);
  }
  return colours.get(key);
}

// ------------------------------------------------------------------------------------ theme

const theme = () => document.documentElement.dataset.pvTheme;

function noteTheme() {
  const ground = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
  const [r, g, b] = (ground.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  document.documentElement.dataset.pvTheme = r + g + b < 384 ? "dark" : "light";
}

// ----------------------------------------------------------------------------------- search

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

// ----------------------------------------------------------------------------- copy the link

export function copyLink({ parentElement: parent, data }) {
  if (parent.querySelector("button")) return;
  parent.insertAdjacentHTML("beforeend", `<button type="button" class="pv-link"></button>`);
  const button = parent.lastElementChild;
  button.textContent = data.label;
  button.addEventListener("click", async () => {
    const { origin, pathname } = window.location;
    const { shown } = viewOf(data.view);
    const link = origin + pathname + (shown && `?${shown}`);
    const copied = await navigator.clipboard?.writeText(link).then(() => true, () => false);
    button.textContent = copied ? data.done : data.failed;
    setTimeout(() => (button.textContent = data.label), 2500);
  });
}
