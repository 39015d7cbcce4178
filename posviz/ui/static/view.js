// A view in the browser: what the page's state is, what moved since, and who shows it. One question
// is on its way to the route /live/view/NAME, the newest values follow; what is slow comes line by
// line from the route /live/measure/NAME once the handles rest, and is dropped when they move again.

import { onReturn } from "./connection.js";
import { frameQuery, isHere, show as showFrame } from "./frame.js";
import { memory } from "./memory.js";
import { noteTheme } from "./theme.js";

const views = new Map();
let current = null; // the view of the page that is open
const here = (path) => new URL(path, document.baseURI).href;
export const REST = 160; // ms without a new value

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
    this.limits = new Map(); // name -> value and high, as answered since Streamlit was last up to date
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
      this.limits.clear();
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

  // The value of a handle that has not moved itself, and its end. A run of Streamlit that began
  // before the newest move brings older ones.
  limitOf({ name, value, high }) {
    return (this.moved.size && this.limits.get(name)) || [value, high];
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

  // Plays the handle that has the focus, else the one that plays, else the first; or pauses it.
  toggle(focused) {
    const handles = [...this.handles.values()].filter((handle) => handle.toggle);
    const one = handles.find(({ range }) => range === focused) ?? handles.find(({ player }) => player.runs);
    (one ?? handles[0])?.toggle();
  }

  // One handle plays at a time, or none.
  pause(but) {
    for (const handle of this.handles.values()) if (handle !== but) handle.stop?.();
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

  // The session died with its process, or the browser was away for too long. The new one knows only
  // the link that the visitor came by; what the page shows is the state, and Streamlit is told so.
  restore() {
    const message = (this.messages += 1);
    this.told.clear();
    for (const [name, value] of this.moved) this.told.set(name, { value, message });
    const values = Object.fromEntries(new URLSearchParams(this.query));
    this.report({ values, message, whole: true });
  }

  // The connection was away: what was said meanwhile, and the last answers, may be lost.
  repeat() {
    this.told.clear();
    this.tell();
    if (this.moved.size || this.state === null) this.ask();
  }

  // The page is left: what it did not say in time is forgotten.
  leave() {
    if (current === this) current = null;
    this.forget();
  }

  forget() {
    this.moved.clear();
    this.told.clear();
    this.limits.clear();
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
      const headers = { "Accept-Language": document.documentElement.lang };
      const response = await fetch(here(`live/measure/${this.name}?${state}`), { signal, headers });
      if (!response.ok) return forget();
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

  // The same pictures in other colours.
  repaint() {
    const drawn = [...this.pictures].filter(([, { payload }]) => payload);
    this.draw(Object.fromEntries(drawn.map(([key, { payload }]) => [key, payload])));
  }

  async ask() {
    this.dirty = true;
    if (this.busy) return;
    this.busy = true;
    this.dirty = false;
    const { query } = this;
    let answer = null;
    try {
      const headers = { "X-Known": [...this.known()].join(","), "Accept-Language": document.documentElement.lang };
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
    for (const [name, limit] of Object.entries(answer.handles)) {
      this.limits.set(name, limit);
      if (!this.isMoving(name)) this.handles.get(name)?.limit(...limit);
    }
    this.save();
  }

  // The address bar shows the state once nothing moves; another page's address is its own.
  save() {
    if (current !== this || this.moving.size || this.busy || !isHere()) return;
    const { pathname, search, hash } = window.location;
    const query = new URLSearchParams([...new URLSearchParams(this.shown), ...frameQuery()]).toString();
    const wanted = query ? `?${query}` : "";
    memory.set(`posviz ${this.name}`, this.shown);
    if (wanted !== search) window.history.replaceState(window.history.state, "", pathname + wanted + hash);
  }
}

onReturn(() => current?.repeat());

export const viewOf = (name) => {
  if (!views.has(name)) views.set(name, new View(name));
  return views.get(name);
};

// ---------------------------------------------------------------- anchor: the view's own state

export function anchor({ data, parentElement, setTriggerValue }) {
  viewOf(data.view).words = data.words;
  if (data.around) showFrame(data, viewOf(data.view), () => setTriggerValue("reset", true));
  noteTheme();
  const isNew = !views.get(data.view)?.anchored;
  const view = (current = viewOf(data.view));
  view.anchored = parentElement;
  view.report = (told) => setTriggerValue("moved", told);
  const kept = isNew && !data.address && !location.search && memory.get(`posviz ${data.view}`);
  const isLost = !isNew && view.session !== data.session && view.query !== data.address;
  view.session = data.session;
  if (isLost) view.restore();
  else view.adopt(data);
  if (kept) {
    view.set(...new URLSearchParams(kept));
    view.tell();
  }
  // One that is put anew comes before the old one goes, which then says nothing about the view.
  return () => view.anchored === parentElement && view.leave();
}
