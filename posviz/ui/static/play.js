// Playing a handle: a share of its track as a function of time, so that it is smooth at any pace of
// the answers. The pace is one for all handles, and lasts as long as the tab.

import { memory } from "./memory.js";

export const SPEEDS = [0.5, 1, 2, 4];
export const MANNERS = ["→", "↻", "⇄"]; // once, again from the start, there and back
const WHOLE = 20_000; // ms over the track at 1×
const STILL = 1_000; // ms a step, for those who asked for less motion

const KEPT = "posviz pace";
export const pace = { speed: 1, manner: 0, ...JSON.parse(memory.get(KEPT) ?? "{}") };

export class Player {
  constructor(handle) {
    this.handle = handle;
    this.runs = false;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  start() {
    this.runs = true;
    this.way = 1;
    const { scale, value } = this.handle;
    const share = scale.share(value);
    this.from(share >= 1 ? 0 : share);
    const frame = () => {
      if (!this.runs) return;
      if (document.hidden) return this.handle.stop();
      this.step();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop() {
    this.runs = false;
  }

  from(share) {
    this.begun = { share, time: performance.now() };
  }

  change(kind) {
    pace[kind] = (pace[kind] + 1) % (kind === "speed" ? SPEEDS : MANNERS).length;
    memory.set(KEPT, JSON.stringify(pace));
    if (this.runs) this.from(this.handle.scale.share(this.handle.value));
  }

  // Where the time has led; a value is asked for only when the last one is there.
  step() {
    const { handle, begun } = this;
    const { scale, view } = handle;
    if (view ? view.busy : handle.waiting !== null) return;
    let passed = performance.now() - begun.time;
    if (this.still.matches) passed -= passed % STILL;
    const share = begun.share + (this.way * passed * SPEEDS[pace.speed]) / WHOLE;
    handle.move(scale.value(Math.min(Math.max(share, 0), 1)));
    if (share > 0 && share < 1) return;
    if (pace.manner === 2 && (this.way > 0) === share >= 1) {
      this.way = -this.way;
      this.from(share >= 1 ? 1 : 0);
    } else if (pace.manner === 1 && share >= 1) this.from(0);
    else if (this.way > 0 ? share >= 1 : share <= 0) handle.stop();
  }
}
