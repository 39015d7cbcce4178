// The button that copies the view's address.

import { viewOf } from "./view.js";

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
