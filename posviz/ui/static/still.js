// A picture as a file: what stands on the page, in the colours of the moment, as SVG or PNG.
// A PNG is painted from the page's own HTML. Slide and drawing programs do not read HTML in an SVG,
// so that file has shapes and words of its own, taken from where they stand.

const LEFT_OUT = "[hidden], [data-unsaved]"; // what only a page can use
const MARGIN = 12;
const GAP = 4;

// The elements one below the other; those that Plotly drew, by Plotly.
export async function save(drawn, kind, name) {
  const sizes = drawn.map((element) => element.getBoundingClientRect());
  const width = Math.ceil(Math.max(...sizes.map((size) => size.width))) + 2 * MARGIN;
  const height = Math.ceil(sizes.reduce((sum, size) => sum + size.height + GAP, 0)) + 2 * MARGIN;
  const charts = await Promise.all(drawn.map(charted));
  const frame = { width, height, ground: getComputedStyle(drawn[0]).getPropertyValue("--pv-ground") };
  const text = kind === "svg" ? shapes(drawn, charts, frame) : await page(drawn, charts, frame);
  const file = kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await png(text, frame);
  handOver(file, `${name}.${kind}`);
}

// Lets the browser save a file under a name.
export function handOver(file, download) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(file), download });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const open = ({ width, height }) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
  `viewBox="0 0 ${width} ${height}"><desc>${escaped(location.href)}</desc>`;

// Plotly's SVG of its chart, null for any other element.
async function charted(element) {
  if (!element.classList.contains("js-plotly-plot")) return null;
  const { width, height } = element.getBoundingClientRect();
  const address = await window.Plotly.toImage(element, { format: "svg", width, height });
  return decodeURIComponent(address.slice(address.indexOf(",") + 1));
}

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

async function png(text, { width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.max(2, 1600 / width);
  const canvas = Object.assign(document.createElement("canvas"), {
    width: Math.round(width * scale), height: Math.round(height * scale),
  });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}

// ------------------------------------------------------------------------------- the page's HTML

async function page(drawn, charts, frame) {
  const style = getComputedStyle(drawn[0]);
  const fonts = await Promise.all(facesOf(style.fontFamily).map(carried));
  const rules = [...fonts, ...ownRules(document.styleSheets)].join("\n");
  const bodies = drawn.map((element, i) => charts[i] ?? copied(element));
  const used = new Set(`${rules} ${bodies.join(" ")}`.match(/--(?:pv|st)-[\w-]+/g));
  const values = [...used].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
  const { width, height } = frame;
  const box =
    `padding:${MARGIN}px;box-sizing:border-box;width:${width}px;height:${height}px;` +
    `background:var(--pv-ground);color:var(--pv-ink);font:14px/1.35 ${style.fontFamily};${values}`;
  return (
    `${open(frame)}<style>${escaped(rules)}</style><foreignObject width="${width}" height="${height}">` +
    `<div xmlns="http://www.w3.org/1999/xhtml" style="${escaped(box)}">${bodies.join("")}</div>` +
    "</foreignObject></svg>"
  );
}

// The page's fonts, which the file carries: it can fetch nothing, and others need more room.
function facesOf(families) {
  const isOurs = ({ style }) => families.includes(style.getPropertyValue("font-family").replaceAll('"', ""));
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  return rules.filter((rule) => rule instanceof CSSFontFaceRule && isOurs(rule));
}

async function carried({ cssText, parentStyleSheet }) {
  const [whole, address] = cssText.match(/url\("?([^")]+)"?\)/);
  const response = await fetch(new URL(address, parentStyleSheet.href ?? document.baseURI));
  const data = await new Promise(async (done) => {
    const reader = Object.assign(new FileReader(), { onload: () => done(reader.result) });
    reader.readAsDataURL(await response.blob());
  });
  return cssText.replace(whole, `url("${data}")`);
}

// posviz's own rules, those of media that hold now: in the file the media would be its own size.
function ownRules(sheets) {
  const own = [...sheets].filter((sheet) => sheet.ownerNode?.textContent.includes(".pv-"));
  const held = (rules) => [...rules].flatMap((rule) => {
    if (!(rule instanceof CSSMediaRule)) return [rule.cssText];
    return matchMedia(rule.conditionText).matches ? held(rule.cssRules) : [];
  });
  return held(own.flatMap((sheet) => [...sheet.cssRules]));
}

function copied(element) {
  const copy = element.cloneNode(true);
  const maps = copy.querySelectorAll("canvas");
  element.querySelectorAll("canvas").forEach((map, i) => {
    const { width, height } = map.getBoundingClientRect();
    const image = new Image();
    image.src = map.toDataURL();
    image.style.cssText =
      `display:block;width:${width}px;height:${height}px;image-rendering:${getComputedStyle(map).imageRendering}`;
    maps[i].replaceWith(image);
  });
  for (const left of copy.querySelectorAll(LEFT_OUT)) left.remove();
  copy.style.width = `${element.getBoundingClientRect().width}px`;
  return new XMLSerializer().serializeToString(copy);
}

// ------------------------------------------------------------------------- shapes of their own

function shapes(drawn, charts, frame) {
  const parts = [`<rect width="100%" height="100%" fill="${frame.ground}"/>`];
  let top = MARGIN;
  drawn.forEach((element, i) => {
    const { left, top: above, height } = element.getBoundingClientRect();
    const body = charts[i] ?? shapesOf(element).join("");
    const [x, y] = charts[i] ? [MARGIN, top] : [MARGIN - left, top - above];
    parts.push(`<g transform="translate(${x} ${y})">${body}</g>`);
    top += height + GAP;
  });
  return `${open(frame)}${parts.join("")}</svg>`;
}

const SIDES = ["Top", "Right", "Bottom", "Left"];

// What an element and those within it show, where they stand in the window.
function shapesOf(element) {
  const style = getComputedStyle(element);
  if (element.matches(LEFT_OUT) || style.visibility === "hidden" || style.opacity === "0") return [];
  const box = element.getBoundingClientRect();
  if (element instanceof SVGSVGElement) return [drawing(element, box)];
  if (element instanceof HTMLCanvasElement) return [painted(element, box, style)];
  const found = [ground(box, style), ...edges(box, style), fraction(element, style)];
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) found.push(...words(child, style));
    else if (child.nodeType === Node.ELEMENT_NODE) found.push(...shapesOf(child));
  }
  return found.filter(Boolean);
}

const place = ({ left, top, width, height }) =>
  `x="${left}" y="${top}" width="${width}" height="${height}"`;
const isSeen = (colour) => !/^(transparent|rgba\(.*, 0\))$/.test(colour);

// Its background: a colour, colours that run into each other, or hatching.
let shades = 0;
function ground(box, { backgroundColor, backgroundImage, borderRadius, boxShadow }) {
  const round = `rx="${Math.min(parseFloat(borderRadius) || 0, box.width / 2)}"`;
  const ring = boxShadow.match(/^(rgba?\([^)]*\)).* 0px 0px 0px 1px/);
  const stroke = ring ? ` stroke="${ring[1]}"` : "";
  const stops = backgroundImage.match(/(rgba?|color)\([^)]*\)/g);
  const rect = (fill) => `<rect ${place(box)} ${round} fill="${fill}"${stroke}/>`;
  const plain = isSeen(backgroundColor) ? rect(backgroundColor) : stroke && rect("none");
  if (!stops) return plain;
  const name = `shade${(shades += 1)}`;
  if (/^linear-gradient\(to right/.test(backgroundImage)) {
    const told = stops.map((stop, i) => `<stop offset="${i / (stops.length - 1)}" stop-color="${stop}"/>`);
    return `<linearGradient id="${name}">${told.join("")}</linearGradient>${rect(`url(#${name})`)}`;
  }
  const line = stops.find(isSeen) ?? "gray";
  const lines = `<path d="M-2 2 2 -2M-2 10 10 -2M6 10 10 6" stroke="${line}"/>`;
  return (
    `<pattern id="${name}" width="8" height="8" patternUnits="userSpaceOnUse">${lines}</pattern>` +
    plain + rect(`url(#${name})`)
  );
}

function edges({ left, top, right, bottom }, style) {
  const ends = [[left, top, right, top], [right, top, right, bottom], [left, bottom, right, bottom], [left, top, left, bottom]];
  return SIDES.map((side, i) => {
    const width = parseFloat(style[`border${side}Width`]);
    const [colour, kind] = [style[`border${side}Color`], style[`border${side}Style`]];
    if (!width || kind === "none" || !isSeen(colour)) return "";
    const dash = { dashed: `${3 * width} ${2 * width}`, dotted: `${width} ${width}` }[kind] ?? "none";
    const [x1, y1, x2, y2] = ends[i];
    return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${colour}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
  });
}

// The bar of a fraction, which no box has.
function fraction(element, { color }) {
  if (element.localName !== "mfrac") return "";
  const [over, under] = [...element.children].map((child) => child.getBoundingClientRect());
  const { left, right } = element.getBoundingClientRect();
  const y = (over.bottom + under.top) / 2;
  return `<line x1="${left}" y1="${y}" x2="${right}" y2="${y}" stroke="${color}"/>`;
}

// A text node, line by line.
function words(node, style) {
  const range = document.createRange();
  const lines = [];
  for (const found of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, found.index);
    range.setEnd(node, found.index + found[0].trimEnd().length);
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.top - box.top) < 2) Object.assign(last, { right: box.right, text: last.text + found[0] });
    else lines.push({ left: box.left, right: box.right, top: box.top, bottom: box.bottom, text: found[0] });
  }
  const size = parseFloat(style.fontSize);
  const font =
    `font-family="${escaped(style.fontFamily)}" font-size="${size}" font-weight="${style.fontWeight}" ` +
    `font-style="${style.fontStyle}" fill="${style.color}"`;
  return lines.map(({ left, right, top, bottom, text }) => {
    const y = (top + bottom) / 2 + 0.34 * size;
    const room = `textLength="${right - left}" lengthAdjust="spacingAndGlyphs"`; // in any font
    return `<text x="${left}" y="${y}" ${room} ${font}>${escaped(text.trimEnd())}</text>`;
  });
}

function painted(canvas, box, { imageRendering }) {
  return `<image ${place(box)} preserveAspectRatio="none" style="image-rendering:${imageRendering}" href="${canvas.toDataURL()}"/>`;
}

// An SVG on the page, with what its style sheet says written into it.
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-opacity", "opacity", "font-size", "font-family", "font-weight", "font-style", "text-anchor", "dominant-baseline", "vector-effect", "paint-order", "stroke-linejoin"];
function drawing(element, box) {
  const copy = element.cloneNode(true);
  const own = [element, ...element.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((one, i) => {
    const style = getComputedStyle(own[i]);
    for (const name of LOOKS) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute("style");
    one.removeAttribute("class");
  });
  for (const [name, value] of [["x", box.left], ["y", box.top], ["width", box.width], ["height", box.height]])
    copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}
