// A question before a picture, which is covered until the answer is chosen or drawn. The answer is
// kept as long as the tab, so that Back does not ask again.

import { charts } from "./chart.js";
import { memory } from "./memory.js";
import { Guess, cover } from "./predict.js";
import { focusHandle } from "./present.js";

const cards = new WeakMap();

export function ask({ parentElement: parent, data }) {
  let card = cards.get(parent);
  if (card?.data.place !== data.place) {
    card?.leave();
    cards.set(parent, (card = new Card(parent, data)));
  }
  return () => card.leave();
}

class Card {
  constructor(parent, data) {
    this.data = data;
    parent.insertAdjacentHTML(
      "beforeend",
      `<div class="pv-ask" role="group"><p class="pv-ask-question"></p><p class="pv-ask-options"></p>` +
        `<p class="pv-ask-told" role="status"></p></div>`,
    );
    this.root = parent.lastElementChild;
    [this.question, this.options, this.told] = this.root.children;
    this.question.textContent = data.question;
    this.root.setAttribute("aria-label", data.question);
    const answer = memory.get(this.kept);
    if (answer === null) this.begin();
    else this.end(answer === "" ? null : Number(answer));
  }

  get kept() {
    return `posviz ask ${this.data.place}`;
  }

  begin() {
    const { data } = this;
    this.sheet = cover(data.figure, data.covers);
    this.told.textContent = "";
    this.options.replaceChildren();
    if (data.options.length) {
      for (const [at, option] of data.options.entries()) this.button(option, () => this.answer(at));
    } else {
      this.told.textContent = data.words.draw;
      this.button(data.words.reveal, () => this.answer(null));
      this.pen();
    }
    this.button(data.words.skip, () => this.answer(null), "is-quiet");
  }

  button(label, run, looks = "") {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: label, className: looks });
    button.addEventListener("click", run);
    this.options.append(button);
    return button;
  }

  // The chart may come after the card.
  pen(tries = 100) {
    const host = document.querySelector(`.pv-chart[data-key="${CSS.escape(this.data.figure)}"]`);
    if (host?.layout && charts.has(host)) this.guess = new Guess(host, this.data.words);
    else if (tries && this.sheet) this.waiting = setTimeout(() => this.pen(tries - 1), 100);
  }

  answer(at) {
    memory.set(this.kept, at ?? "");
    this.end(at);
    focusHandle(); // the button that had the focus is gone
  }

  end(at) {
    const { options, right, then, words } = this.data;
    this.sheet?.remove();
    this.sheet = null;
    clearTimeout(this.waiting);
    const off = this.guess?.isDrawn ? this.guess.reveal() : null;
    if (this.guess && off === null) this.guess.remove();
    this.options.replaceChildren();
    options.forEach((option, i) => {
      const shown = this.button(option, () => {}, i === right ? "is-right" : i === at ? "is-chosen" : "");
      shown.disabled = true;
    });
    this.button(words.again, () => this.again(), "is-quiet");
    const verdict = at === null ? off : at === right ? words.right : words.wrong.replace("{right}", () => options[right]);
    this.told.textContent = [verdict, then].filter(Boolean).join(" ");
  }

  again() {
    memory.remove(this.kept);
    this.guess?.remove();
    this.guess = null;
    this.begin();
  }

  leave() {
    clearTimeout(this.waiting);
    this.sheet?.remove();
    this.guess?.remove();
    this.root.remove();
  }
}
