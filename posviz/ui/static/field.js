// A line of text that the pictures follow while it is typed.

import { noteTheme } from "./theme.js";
import { viewOf } from "./view.js";

export const fields = new WeakMap();

export function textField(component) {
  noteTheme();
  const { parentElement: parent, data } = component;
  let one = fields.get(parent);
  if (!one) {
    parent.insertAdjacentHTML(
      "beforeend",
      `<div class="pv-text"><label></label><input type="text" autocomplete="off" spellcheck="false"></div>`,
    );
    const [label, input] = parent.lastElementChild.children;
    one = { label, input, names: [data.name] };
    fields.set(parent, one);
    const settle = () => {
      clearTimeout(one.settling);
      if (one.view.moving.delete(one)) one.view.tell();
    };
    input.addEventListener("input", (event) => {
      if (event.isComposing) return; // a word of Chinese or Japanese that is not chosen yet
      one.view.moving.add(one);
      const line = input.value.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu, " ");
      one.view.set(...one.data.clears.map((name) => [name, ""]), [one.data.name, line]);
      clearTimeout(one.settling);
      one.settling = setTimeout(settle, 600);
    });
    input.addEventListener("compositionend", () => input.dispatchEvent(new InputEvent("input")));
    input.addEventListener("change", settle);
    one.settle = settle;
    one.follow = (text) => one.view.moving.has(one) || (input.value = text);
    one.rest = () => one.follow(one.data.value);
    one.limit = () => {};
  }
  Object.assign(one, { data, view: viewOf(data.view) });
  one.view.handles.set(data.name, one);
  const id = `pv-${data.name}`;
  one.input.id = one.label.htmlFor = id;
  one.label.textContent = data.label;
  one.label.title = data.help;
  one.input.setAttribute("aria-description", data.help);
  one.input.maxLength = data.longest;
  if (!one.view.moved.has(data.name)) one.rest();
  return () => {
    one.settle();
    if (one.view.handles.get(data.name) === one) one.view.handles.delete(data.name);
  };
}
