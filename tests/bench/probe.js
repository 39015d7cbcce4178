// Watches pictures from within the page: when each is first there, and when each changes after an
// input event. Called before the page loads or later, with one selector for each picture; what
// stands in shadow roots is found too.
(selectors) => {
  const probe = (window.probe = {
    events: [], drawn: selectors.map(() => []), frames: 0, blank: 0, mixed: 0, first: null,
  });
  const INK = "svg .js-line, svg line, .pv-quick path";
  let hosts = null;
  let pending = new Set();
  const painted = new WeakSet(); // canvases that something was drawn on

  // A canvas changes without a mutation: what clears it is about to draw it anew.
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    painted.add(this.canvas);
    const i = hosts?.findIndex((host) => holds(host, this.canvas)) ?? -1;
    if (i >= 0) pending.add(i);
    return clearRect.apply(this, box);
  };
  const up = (node) => node.parentNode ?? node.host;
  const holds = (host, node) => {
    for (; node; node = up(node)) if (node === host) return true;
    return false;
  };

  function* roots(root) {
    yield root;
    if (root.shadowRoot) yield* roots(root.shadowRoot);
    for (const node of root.querySelectorAll("*")) if (node.shadowRoot) yield* roots(node.shadowRoot);
  }
  const first = (root, selector, fits = () => true) => {
    for (const one of roots(root))
      for (const node of one.querySelectorAll(selector)) if (fits(node)) return node;
    return null;
  };
  const isLate = document.readyState === "complete"; // what is drawn already was not seen
  const hasInk = (host) => host.querySelector(INK) ?? first(host, INK) ?? first(host, "canvas", (one) => isLate || painted.has(one));

  // A picture has changed when something in it was drawn: attributes of its host do not count.
  const isDrawn = ({ target, addedNodes }) =>
    target.closest?.("svg") || target.parentElement?.closest("svg") ||
    [...addedNodes].some((node) => node.matches?.("svg") || node.querySelector?.("svg, canvas"));
  const OPTIONS = { subtree: true, childList: true, attributes: true, characterData: true };
  const watch = (host, i) => {
    const observer = new MutationObserver((list) => {
      if (list.some(isDrawn)) pending.add(i);
      for (const { addedNodes } of list)
        for (const node of addedNodes)
          if (node.querySelectorAll)
            for (const root of roots(node)) if (root !== node) observer.observe(root, OPTIONS);
    });
    for (const root of roots(host)) observer.observe(root, OPTIONS);
  };

  const afterPaint = (note) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => note(performance.now());
    channel.port2.postMessage(0);
  };
  const opacity = (node) => {
    let product = 1;
    for (; node; node = up(node)) if (node.nodeType === 1) product *= getComputedStyle(node).opacity;
    return product;
  };

  const arrive = () => {
    const found = document.body ? selectors.map((selector) => first(document, selector)) : [];
    if (!found.length || !found.every((host) => host && hasInk(host))) return requestAnimationFrame(arrive);
    afterPaint((time) => (probe.first = time));
    hosts = found;
    hosts.forEach(watch);
    requestAnimationFrame(frame);
  };
  const frame = () => {
    probe.frames += 1;
    const changed = pending;
    pending = new Set();
    if (changed.size) afterPaint((time) => changed.forEach((i) => probe.drawn[i].push(time)));
    if (changed.size && changed.size < hosts.length) probe.mixed += 1;
    hosts.forEach((host, i) => {
      if (host.isConnected) return;
      const anew = first(document, selectors[i]); // some put a new one in its place
      if (!anew) return;
      watch((hosts[i] = anew), i);
      pending.add(i);
    });
    for (const host of hosts)
      if (!hasInk(host) || host.getBoundingClientRect().height < 50 || opacity(host) < 0.9) probe.blank += 1;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(arrive);

  for (const kind of ["pointermove", "keydown"])
    window.addEventListener(kind, (event) => {
      if (event.buttons || kind === "keydown") probe.events.push(event.timeStamp);
    }, true);
}
