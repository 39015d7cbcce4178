// Heat maps: bytes on a canvas, coloured here.

import { UNKNOWN, colour, theme } from "./theme.js";
import { bytes, numbers, signed } from "./values.js";

// A canvas with one pixel per cell. One that shows the same in the same colours is kept.
export function paint(canvas, { rasters }, painted) {
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

export function cellAt(canvas, x, y, nearest = false) {
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
export function sayCell({ host, pointer }) {
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
