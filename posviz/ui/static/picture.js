// Pictures drawn into the old ones: markup with its clicks, drags and orders, and what all kinds of
// pictures share.

import { paint, cellAt, sayCell } from "./heat.js";
import { noteTheme, theme } from "./theme.js";
import { viewOf } from "./view.js";

const pictures = new WeakMap();

export function picture(component, className, draw) {
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
    const heading = view?.pictures.get(`${data.key}:head`)?.host.querySelector("b")?.textContent;
    one.saving?.setAttribute("aria-label", heading ?? one.host.getAttribute("aria-label") ?? data.key);
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
    if (set) host.querySelector(`[data-set="${CSS.escape(set)}"]`)?.focus();
    if (item) host.querySelector(`[data-item="${CSS.escape(item)}"]`)?.focus();
    sayCell(one);
    if (!one.listening) listen(one);
    one.saving ??= offerFiles(one);
    one.saving.hidden = !host.querySelector(PICTURED);
    one.asTable.hidden = !host.querySelector("canvas, table");
    one.asCode.hidden = !one.view || !host.querySelector("canvas");
  });
}

// What makes a drawing a picture that one wants to have, and no sentence.
const PICTURED = 'canvas, svg, table, [role="img"]';

// Buttons that take the picture away: as a script, a table, a drawing, an image, its heading above it.
export function offerFiles(one) {
  const { host } = one;
  host.insertAdjacentHTML("afterend", '<p class="pv-save" role="group"></p>');
  host.parentElement.classList.add("pv-place");
  const place = host.nextElementSibling;
  const key = host.dataset.key;
  const name = `posviz_${one.view?.name ?? "picture"}_${key.replaceAll(":", "_")}`;
  const offer = (kind, run) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: kind });
    button.addEventListener("click", run);
    place.append(button);
    return button;
  };
  one.asCode = offer("Python", async () => {
    const { takeCode } = await import("./take.js");
    takeCode(one.view, key, name);
  });
  one.asTable = offer("CSV", async () => {
    const [{ csv, table }, { handOver }] = await Promise.all([import("./table.js"), import("./still.js")]);
    const rows = table(one);
    if (rows) handOver(csv(rows), `${name}.csv`);
  });
  for (const kind of ["svg", "png"])
    offer(kind.toUpperCase(), async () => {
      const { save } = await import("./still.js");
      const heading = one.view?.pictures.get(`${key}:head`)?.host;
      save(heading?.isConnected ? [heading, host] : [host], kind, name);
    });
  one.asCode.hidden = !one.view;
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
