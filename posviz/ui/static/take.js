// A picture as a Python script: a window that shows it, copies it and saves it.

import { handOver } from "./still.js";

// Asks for the script of the picture as it stands; the words are the frame's.
export async function takeCode(view, key, name) {
  const address = `live/code/${view.name}/${encodeURIComponent(key)}?${view.shown}`;
  const response = await fetch(new URL(address, document.baseURI)).catch(() => null);
  if (response?.ok) show(await response.text(), view.words ?? {}, name);
}

let opened = null;

function show(code, words, name) {
  opened?.remove();
  const dialog = (opened = document.createElement("dialog"));
  dialog.className = "pv-take";
  dialog.setAttribute("aria-labelledby", "pv-take-title");
  dialog.innerHTML =
    '<h2 id="pv-take-title"></h2><pre tabindex="0"><code></code></pre>' +
    '<p><button type="button"></button><button type="button"></button><button type="button"></button></p>';
  dialog.querySelector("h2").textContent = words.code;
  const listing = dialog.querySelector("pre");
  listing.firstChild.textContent = code;
  const [copy, download, close] = dialog.querySelectorAll("button");
  copy.textContent = words.copy;
  copy.addEventListener("click", async () => {
    const copied = await navigator.clipboard?.writeText(code).then(() => true, () => false);
    copy.textContent = copied ? words.copied : words.failed;
    if (!copied) getSelection().selectAllChildren(listing);
    setTimeout(() => (copy.textContent = words.copy), 2500);
  });
  download.textContent = words.download;
  download.addEventListener("click", () => handOver(new Blob([code], { type: "text/x-python" }), `${name}.py`));
  close.textContent = words.close;
  close.addEventListener("click", () => dialog.close());
  // A click beside the window closes it; its keys are no keys of the page.
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  copy.focus();
}
