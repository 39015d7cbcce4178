// The buttons that copy the view's address, and what shows the view within another page.

import { frameQuery } from "./frame.js";
import { viewOf } from "./view.js";

const SIZE = 'width="1024" height="720"';

export function copyLink({ parentElement: parent, data }) {
  if (parent.querySelector("button")) return;
  parent.insertAdjacentHTML("beforeend", `<span class="pv-links"><button type="button" class="pv-link"></button><button type="button" class="pv-link"></button></span>`);
  const [link, embed] = parent.lastElementChild.children;
  offer(link, data.label, () => address());
  offer(embed, data.embed, () => `<iframe src="${address({ embed: "true" }).replaceAll("&", "&amp;")}" title="posviz" ${SIZE} style="border: 0; max-width: 100%"></iframe>`);

  function address(more = {}) {
    const { origin, pathname } = window.location;
    const said = [...new URLSearchParams(viewOf(data.view).shown), ...frameQuery(), ...Object.entries(more)];
    const query = new URLSearchParams(said).toString();
    return origin + pathname + (query && `?${query}`);
  }

  function offer(button, label, text) {
    button.textContent = label;
    button.addEventListener("click", async () => {
      const copied = await navigator.clipboard?.writeText(text()).then(() => true, () => false);
      button.textContent = copied ? data.done : data.failed;
      setTimeout(() => (button.textContent = label), 2500);
    });
  }
}
