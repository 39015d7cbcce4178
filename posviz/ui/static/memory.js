// What a tab remembers of its visit, also from page to page. A frame on another site may be denied the
// browser's storage; it then remembers for as long as it is open.

const own = new Map();
const storage = (() => {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
})();

export const memory = {
  get: (name) => (storage ? storage.getItem(name) : (own.get(name) ?? null)),
  set: (name, text) => void (storage ? storage.setItem(name, text) : own.set(name, String(text))),
  remove: (name) => void (storage ? storage.removeItem(name) : own.delete(name)),
};
