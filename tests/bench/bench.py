"""Drives the playground and the same three pictures in Dash, in turn, and prints the ratios.

Real mouse and key events go into headless Chromium; a probe in the page notes when each picture
changes. Latency is the time from an input event to the first task after the frame in which all
three pictures have changed. Run by ``make bench``; ``--rounds N`` for more rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.browser import launch
from tests.server import ROOT, free_port, posviz, serve

PROBE = """
(pictures) => {
  const probe = (window.probe = {
    events: [], drawn: pictures.map(() => []), frames: 0, blank: 0, mixed: 0,
  });
  const hosts = pictures.map((selector) => document.querySelector(selector));
  let pending = new Set();
  hosts.forEach((host, i) => {
    // A picture has changed when something in it was drawn: attributes of its host do not count.
    const drawn = ({ target, addedNodes }) =>
      target.closest?.("svg") || target.parentElement?.closest("svg") ||
      [...addedNodes].some((node) => node.matches?.("svg") || node.querySelector?.("svg, canvas"));
    new MutationObserver((list) => list.some(drawn) && pending.add(i)).observe(host, {
      subtree: true, childList: true, attributes: true, characterData: true,
    });
  });
  const frame = () => {
    probe.frames += 1;
    const changed = pending;
    pending = new Set();
    // after the paint of this frame
    const channel = new MessageChannel();
    channel.port1.onmessage = () => changed.forEach((i) => probe.drawn[i].push(performance.now()));
    channel.port2.postMessage(0);
    if (changed.size && changed.size < hosts.length) probe.mixed += 1;
    for (const host of hosts) {
      const box = host.getBoundingClientRect();
      const ink = host.querySelector("svg path[d], svg line");
      let opacity = 1;
      for (let node = host; node; node = node.parentElement)
        opacity *= getComputedStyle(node).opacity;
      if (!ink || box.height < 50 || opacity < 0.9) probe.blank += 1;
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  for (const kind of ["pointermove", "keydown"])
    window.addEventListener(kind, (event) => {
      if (event.buttons || kind === "keydown") probe.events.push(event.timeStamp);
    }, true);
}
"""


@dataclass
class Peer:
    """One app under test: where its pictures and its position handle are."""

    name: str
    address: str
    pictures: list[str]
    handle: str
    figures: dict[str, list[float]] = field(default_factory=dict)

    def note(self, what: str, *values: float) -> None:
        self.figures.setdefault(what, []).extend(values)


class Traffic:
    """Bytes that reach the page."""

    def __init__(self, cdp: CDPSession) -> None:
        self.bytes = 0
        cdp.send("Network.enable")
        cdp.on("Network.dataReceived", self._http)
        cdp.on("Network.webSocketFrameReceived", self._socket)

    def _http(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"] or event["dataLength"]

    def _socket(self, event: dict[str, Any]) -> None:
        self.bytes += len(event["response"]["payloadData"])


def latencies(page: Page) -> list[float]:
    """For each input event, the time until all three pictures had changed after it, ms."""
    probe = page.evaluate("window.probe")
    found = []
    for i, event in enumerate(probe["events"]):
        after = probe["events"][i + 1] if i + 1 < len(probe["events"]) else float("inf")
        first = [next((t for t in drawn if event < t < after), None) for drawn in probe["drawn"]]
        if all(t is not None for t in first):
            found.append(max(t for t in first if t is not None) - event)
    return found


def reset(page: Page) -> None:
    page.evaluate(
        "Object.assign(probe, {events: [], frames: 0, blank: 0, mixed: 0, "
        "drawn: probe.drawn.map(() => [])})"
    )


def measure(peer: Peer, page: Page, traffic: Traffic) -> None:
    started = time.perf_counter()
    page.goto(peer.address)
    for picture in peer.pictures:
        page.wait_for_selector(f"{picture} svg :is(.js-line, line)", state="attached")
    peer.note("first paint of all pictures, ms", 1000 * (time.perf_counter() - started))
    page.wait_for_timeout(1500)
    page.evaluate(PROBE, peer.pictures)
    page.wait_for_timeout(300)
    handle = page.locator(peer.handle).first
    box = handle.bounding_box()
    assert box
    # A native range spans its box; other libraries' thumb is the handle itself.
    share = float(handle.evaluate("node => node.type === 'range' ? node.value : 0.5"))
    x, y = box["x"] + 8 + (box["width"] - 16) * share, box["y"] + box["height"] / 2

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 2, y)
    page.wait_for_timeout(600)
    reset(page)
    for step in range(30):  # slow drag: one move each 0.35 s
        page.mouse.move(x + 2 + (step % 10 + 1) * (1 if step // 10 % 2 == 0 else -1), y)
        page.wait_for_timeout(350)
    peer.note("slow drag, ms", *latencies(page))
    peer.note("_slow events seen", len(latencies(page)))

    reset(page)
    traffic.bytes = 0
    began = time.perf_counter()
    step = 0
    while (elapsed := time.perf_counter() - began) < 4.0:  # fast drag: 60 moves a second
        page.mouse.move(x + 25 * abs((step % 80) / 40 - 1), y)
        step += 1
        page.wait_for_timeout(max(0.0, 1000 * (step / 60 - (time.perf_counter() - began))))
    probe = page.evaluate("window.probe")
    updates = min(len(drawn) for drawn in probe["drawn"])
    peer.note("fast drag, updates/s", updates / elapsed)
    peer.note("blank frames", probe["blank"])
    peer.note("frames with pictures of different values", probe["mixed"])
    peer.note("frames/s while dragging", probe["frames"] / elapsed)
    peer.note("kB per update", traffic.bytes / max(updates, 1) / 1000)
    page.mouse.up()
    page.wait_for_timeout(1000)

    handle.focus()
    reset(page)
    for key in ["ArrowRight"] * 15 + ["ArrowLeft"] * 15:
        page.keyboard.press(key)
        page.wait_for_timeout(350)
    peer.note("key, ms", *latencies(page))


def report(ours: Peer, theirs: Peer) -> None:
    print(f"\n{'median':45}{ours.name:>10}{theirs.name:>10}{'ratio':>8}")
    for what, values in ours.figures.items():
        if what.startswith("_"):
            continue
        a = statistics.median(values) if values else float("nan")
        other = theirs.figures.get(what, [])
        b = statistics.median(other) if other else float("nan")
        ratio = f"{a / b:8.2f}" if b else "       -"
        spread = statistics.quantiles(values, n=10)[-1] if len(values) > 9 else None
        tail = f"   p90 {spread:.0f}, n {len(values)}" if spread else ""
        print(f"{what:45}{a:10.1f}{b:10.1f}{ratio}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peer-python", default=sys.executable)
    arguments = parser.parse_args()
    logs = Path(tempfile.mkdtemp())
    port = free_port()
    dash = [arguments.peer_python, str(ROOT / "tests/bench/dash_app.py"), str(port)]
    with (
        posviz(logs / "posviz") as address,
        serve(dash, port, "/", logs / "dash") as dash_address,
        sync_playwright() as playwright,
    ):
        keys = ["rotations", "attention", "extrapolation"]
        peers = [
            Peer(
                "posviz",
                f"{address}/playground?position=12000",
                [f'[data-key="{key}"]' for key in keys],
                '[data-name="position"] input[type=range]',
            ),
            Peer("Dash", dash_address, [f"#{key}" for key in keys], "#position [role=slider]"),
        ]
        browser = launch(playwright)
        for turn in range(arguments.rounds):
            for peer in peers if turn % 2 == 0 else peers[::-1]:
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                traffic = Traffic(page.context.new_cdp_session(page))
                measure(peer, page, traffic)
                page.close()
                print(f"round {turn + 1}: {peer.name} done", flush=True)
        browser.close()
    report(*peers)


if __name__ == "__main__":
    main()
