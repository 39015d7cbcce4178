// What a picture shows as a table, for a CSV file: the curves of a chart, the cells of a heat map, the
// rows of a table. Null for a picture that is none of these.

import { bytes, numbers } from "./values.js";

export function table({ host, payload }) {
  if (payload.figure) return curves(payload.figure);
  const maps = [...host.querySelectorAll("canvas")].filter((canvas) => canvas.told);
  if (maps.length) return maps.flatMap(cells);
  const rows = [...host.querySelectorAll("table tr")].filter((row) => !row.closest("[data-unsaved]"));
  return rows.length ? rows.map((row) => [...row.cells].map(said)) : null;
}

// A cell's words, its numbers as programs read them: 1.11×10<sup>−16</sup> is 1.11e-16.
function said(cell) {
  const copy = cell.cloneNode(true);
  for (const part of copy.querySelectorAll("small, br, div, p")) part.before(" ");
  for (const power of copy.querySelectorAll("sup")) power.replaceWith(`^${power.textContent}`);
  const text = copy.textContent.trim().replace(/\s+/g, " ").replace(/^−(?=[\d.])/, "-");
  return text.replace(/(\d)×10\^(−?)(\d+)/g, (_, digit, minus, power) => `${digit}e${minus && "-"}${power}`);
}

// A file that spreadsheets read as UTF-8, and in which no text is taken for a formula.
export const csv = (rows) => new Blob(["\ufeff", rows.map(line).join("\r\n"), "\r\n"], { type: "text/csv" });

const line = (row) => row.map(cell).join(",");
function cell(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value.replaceAll(",", ""))) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const plain = (markup) => new DOMParser().parseFromString(markup ?? "", "text/html").body.textContent;

// Numbers come as float32; nine figures say each of them, most need fewer.
function short(value) {
  for (let figures = 6; figures <= 9; figures++) {
    const said = Number(value.toPrecision(figures));
    if (Math.fround(said) === value) return said;
  }
  return value;
}

const values = (given) => (given?.bdata ? Array.from(numbers(given), short) : (given ?? []));

function curves({ data, layout }) {
  const title = (axis, name) => plain(layout[axis]?.title?.text) || name;
  const rows = [["curve", title("xaxis", "x"), title("yaxis", "y")]];
  // The edges of a band have no name, or that of the curve which follows them.
  const names = data.map(({ name }) => plain(name));
  for (let at = names.length - 2; at >= 0; at--) names[at] ||= names[at + 1];
  data.forEach(({ x, y }, at) => {
    const [xs, ys] = [values(x), values(y)];
    const alike = names.flatMap((name, other) => (name === names[at] ? other : []));
    const called = alike.length > 1 ? `${names[at]} (${alike.indexOf(at) + 1})` : names[at];
    for (let i = 0; i < ys.length; i++) rows.push([called, xs[i] ?? i, ys[i]]);
  });
  return rows.length > 1 ? rows : null;
}

// A row of the file is a row of the map. Above 4,096 cells the browser has each value to one part in
// 254 of the scale.
function cells(canvas) {
  const { told, dataset } = canvas;
  const { rows, columns, low, high } = told;
  told.bytes ??= bytes(told.cells);
  const exact = told.values && numbers(told.values);
  const named = (list, n, step, first) => String(JSON.parse(list)[n] ?? n * step + Number(first));
  const value = (i) => {
    if (!told.bytes[i]) return NaN;
    return exact ? short(exact[i]) : Number((low + ((told.bytes[i] - 1) / 254) * (high - low)).toPrecision(4));
  };
  const head = Array.from({ length: columns }, (_, n) => named(dataset.columnsSaid, n, dataset.stepColumn, dataset.firstColumn));
  return [
    [dataset.raster, ...head],
    ...Array.from({ length: rows }, (_, row) => [
      named(dataset.rows, row, dataset.stepRow, dataset.firstRow),
      ...head.map((_, column) => value(row * columns + column)),
    ]),
  ];
}
