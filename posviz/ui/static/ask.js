// A question before a picture, which is covered until the answer is there.

export function ask({ parentElement: parent, data }) {
  if (!parent.firstElementChild) parent.insertAdjacentHTML("beforeend", `<div class="pv-ask"></div>`);
  parent.firstElementChild.textContent = data.question;
}
