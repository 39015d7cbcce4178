// The lesson that a visitor makes. The tab keeps it, so that a reload, or another replica of the app,
// finds it again. On a page that can be a step, a button adds the view as it stands.

import { follow } from "./frame.js";
import { memory } from "./memory.js";
import { viewOf } from "./view.js";

const KEPT = "posviz lesson";
const buttons = new WeakMap();
let gone = null; // the last order to go somewhere, which is followed once

export function draft({ parentElement: parent, data, setTriggerValue }) {
  const kept = memory.get(KEPT);
  if (data.lesson !== null) memory.set(KEPT, data.lesson);
  else if (kept && !data.view) setTriggerValue("found", kept); // the session knows of none yet
  if (data.go && data.go.order !== gone) {
    gone = data.go.order;
    follow(data.go.address);
  }
  if (!data.view) return;
  if (!buttons.has(parent)) buttons.set(parent, new Button(parent));
  buttons.get(parent).show(data, setTriggerValue);
}

class Button {
  constructor(parent) {
    parent.insertAdjacentHTML("beforeend", `<button type="button" class="pv-link" aria-live="polite"></button>`);
    this.root = parent.lastElementChild;
    this.root.addEventListener("click", () => this.add());
  }

  show(data, tell) {
    const isAdded = this.waits && data.count > this.data.count;
    Object.assign(this, { data, tell });
    if (this.waits && !isAdded && !data.refused) return;
    this.waits = false;
    clearTimeout(this.fading);
    this.root.textContent = isAdded ? data.words.added : data.refused || data.words.add;
    this.fading = setTimeout(() => (this.root.textContent = data.words.add), 3000);
  }

  add() {
    const { view } = this.data;
    this.waits = true;
    this.tell("added", { state: viewOf(view).shown, kept: memory.get(KEPT) ?? "" });
  }
}
