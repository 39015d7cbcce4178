// A drawing as a file: what stands on the page, in the colours of the moment, as SVG or PNG.
// The SVG holds the page's own HTML (foreignObject), which browsers show; the PNG is made from it.

const MARGIN = 12;

export async function save(drawn, kind, name) {
  const svg = still(drawn);
  const file = kind === "svg" ? new Blob([svg.text], { type: "image/svg+xml" }) : await png(svg);
  const link = Object.assign(document.createElement("a"), {
    href: URL.createObjectURL(file), download: `${name}.${kind}`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The elements one below the other.
function still(drawn) {
  const sizes = drawn.map((element) => element.getBoundingClientRect());
  const width = Math.ceil(Math.max(...sizes.map((size) => size.width))) + 2 * MARGIN;
  const height = Math.ceil(sizes.reduce((sum, size) => sum + size.height + 4, 0)) + 2 * MARGIN;
  const rules = ownRules(document.styleSheets).join("\n");
  const bodies = drawn.map(copied);
  const style = getComputedStyle(drawn[0]);
  const used = new Set(`${rules} ${bodies.join(" ")}`.match(/--(?:pv|st)-[\w-]+/g));
  const values = [...used].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
  const frame =
    `padding:${MARGIN}px;box-sizing:border-box;width:${width}px;height:${height}px;` +
    `background:var(--pv-ground);color:var(--pv-ink);font:14px/1.35 ${style.fontFamily};${values}`;
  const text =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}"><desc>${escaped(location.href)}</desc>` +
    `<style>${escaped(rules)}</style><foreignObject width="${width}" height="${height}">` +
    `<div xmlns="http://www.w3.org/1999/xhtml" style="${escaped(frame)}">${bodies.join("")}</div>` +
    `</foreignObject></svg>`;
  return { text, width, height };
}

// posviz's own rules, those of media that hold now: in the file the media would be its own size.
function ownRules(sheets) {
  const own = [...sheets].filter((sheet) => sheet.ownerNode?.textContent.includes(".pv-"));
  const open = (rules) => [...rules].flatMap((rule) => {
    if (!(rule instanceof CSSMediaRule)) return [rule.cssText];
    return matchMedia(rule.conditionText).matches ? open(rule.cssRules) : [];
  });
  return open(own.flatMap((sheet) => [...sheet.cssRules]));
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
  for (const hidden of copy.querySelectorAll("[hidden]")) hidden.remove();
  copy.style.width = `${element.getBoundingClientRect().width}px`;
  return new XMLSerializer().serializeToString(copy);
}

const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

async function png({ text, width, height }) {
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
