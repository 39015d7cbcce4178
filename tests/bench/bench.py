"""Drags the playground and the same three pictures in other frameworks, in turn; prints a table.

Real mouse and key events go into headless Chromium; a probe in the page notes when each picture
changes. Latency is the time from an input event to the first task after the frame in which all
three pictures have changed. Each visit is a new browser profile with an empty cache, on a server
that has had one visitor. Run by ``make bench``; ``--rounds 1 --peers dash`` for a short look.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.probe import latencies, on_load, reset, settle
from tests.browser import launch
from tests.server import ROOT, free_port, posviz, serve

PICTURES = ("rotations", "attention", "extrapolation")
HANDLES = ("position", "factor")  # the main handle; one that changes curves in all pictures
APPS = ROOT / "tests" / "bench" / "peers"

FIRST = "first paint of all pictures, ms"
SLOW = "slow drag of {}, input to paint, ms"
FAST = "fast drag of {}, updates a second"
KEY = "arrow key, input to paint, ms"
SENT = "kB per update"
LOADED = "kB for the first paint"
BLANK = "blank or grey frames"


@dataclass
class Peer:
    """One framework: how its app is served, and where the pictures and handles are in it.

    ``command`` follows the folder of the peers' programs; ``{port}`` is filled in. ``picture`` is a
    selector for a name, ``handles`` are those of ``HANDLES``: a native range or a thumb.
    """

    name: str
    command: list[str] = field(default_factory=list)
    path: str = "/"
    picture: str = "#{}"
    handles: Sequence[str] = ("#position [role=slider]", "#factor [role=slider]")
    address: str = ""
    # what was measured -> for each round, its values
    rounds: dict[str, list[list[float]]] = field(default_factory=dict)

    def note(self, what: str, values: list[float]) -> None:
        self.rounds.setdefault(what, []).append(values)

    def medians(self, what: str) -> list[float]:
        return [statistics.median(values) for values in self.rounds.get(what, []) if values]

    @property
    def pictures(self) -> list[str]:
        return [self.picture.format(name) for name in PICTURES]


def peers() -> dict[str, Peer]:
    return {
        "posviz": Peer(
            "posviz", path="/playground?position=12000", picture='[data-key="{}"]',
            handles=[f'[data-name="{name}"] input[type=range]'
                     for name in ("position", "factor")],
        ),
        "dash": Peer("Dash", ["python", "dash_app.py", "{port}"]),
        "panel": Peer(
            "Panel", ["panel", "serve", "panel_app.py", "--port", "{port}",
                      "--address", "127.0.0.1"],
            "/panel_app", picture=".{}",
            handles=(".position .noUi-handle", ".factor .noUi-handle"),
        ),
        "marimo": Peer(
            "marimo", ["marimo", "-q", "run", "marimo_app.py", "--port", "{port}",
                       "--host", "127.0.0.1", "--headless", "--no-token", "--no-sandbox"],
            handles=("[role=slider] >> nth=0", "[role=slider] >> nth=3"),
        ),
        "gradio": Peer(
            "Gradio", ["python", "gradio_app.py", "{port}"],
            handles=("#position input[type=range]", "#factor input[type=range]"),
        ),
    }  # fmt: skip


@contextlib.contextmanager
def served(peer: Peer, bin_folder: Path, logs: Path) -> Iterator[None]:
    """The peer's app, as long as this lasts; its address is noted."""
    log = logs / peer.name
    if not peer.command:
        with posviz(log) as address:
            peer.address = address + peer.path
            yield
        return
    port = free_port()
    program, *rest = (part.format(port=port) for part in peer.command)
    command = [
        str(bin_folder / program),
        *(str(APPS / r) if r.endswith(".py") else r for r in rest),
    ]
    with serve(command, port, "/", log) as address:
        peer.address = address + peer.path
        yield


class Traffic:
    """Bytes that reach the page: unpacked, and those of whole files as they came over the wire."""

    def __init__(self, page: Page) -> None:
        self.unpacked = self.wire = 0
        cdp = page.context.new_cdp_session(page)
        cdp.send("Network.enable")
        # marimo asks a CDN for MathJax; without internet that must not cost what a resolver waits.
        cdp.send("Network.setBlockedURLs", {"urls": ["https://*"]})
        cdp.on("Network.dataReceived", self._data)
        cdp.on("Network.loadingFinished", self._file)
        cdp.on("Network.webSocketFrameReceived", self._socket)

    def _data(self, event: dict[str, Any]) -> None:
        self.unpacked += event["dataLength"]

    def _file(self, event: dict[str, Any]) -> None:
        self.wire += event["encodedDataLength"]

    def _socket(self, event: dict[str, Any]) -> None:
        response = event["response"]
        size = len(response["payloadData"])
        size = size * 3 // 4 if response["opcode"] == 2 else size  # bytes are told in base64
        self.unpacked += size
        self.wire += size


def visit(peer: Peer, browser: Browser) -> tuple[Page, Traffic]:
    """The peer's page in a new profile, once all pictures are there."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    traffic = Traffic(page)
    page.add_init_script(on_load(peer.pictures))
    page.goto(peer.address, wait_until="commit")
    page.wait_for_function("window.probe?.first", timeout=60_000)
    return page, traffic


def grip(page: Page, selector: str) -> tuple[float, float]:
    """Where the pointer takes the handle, page pixels."""
    handle = page.locator(selector).first
    box = handle.bounding_box()
    assert box, f"{selector} is not to be seen"
    # A native range spans its box; other libraries' thumb is the handle itself.
    share = handle.evaluate(
        "node => node.type === 'range' ? (node.value - node.min) / (node.max - node.min) : 0.5"
    )
    return box["x"] + 8 + (box["width"] - 16) * share, box["y"] + box["height"] / 2


def measure(peer: Peer, browser: Browser, shots: Path | None) -> None:
    """One round: a first visit, both handles dragged slowly and fast, arrow keys."""
    page, traffic = visit(peer, browser)
    peer.note(FIRST, [page.evaluate("probe.first")])
    page.wait_for_timeout(300)  # what the browser had still to tell
    peer.note(LOADED, [traffic.wire / 1000])
    page.wait_for_timeout(1500)
    blank = 0
    for name, selector in zip(HANDLES, peer.handles, strict=True):
        x, y = grip(page, selector)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 2, y)
        settle(page, 600)
        reset(page)
        for step in range(20):  # slow: each move waits for the answer to the last
            page.mouse.move(x + (step % 10 + 1) * (1 if step < 10 else -1), y)
            settle(page)
        peer.note(SLOW.format(name), latencies(page))
        if shots:
            page.screenshot(path=shots / f"{peer.name}-{name}.png")
        blank += page.evaluate("probe.blank")

        reset(page)
        traffic.unpacked = step = 0
        began = time.perf_counter()
        while (elapsed := time.perf_counter() - began) < 3.0:  # fast: 60 moves a second
            page.mouse.move(x + 12 * (1 - abs(step % 80 - 40) / 20), y)
            step += 1
            page.wait_for_timeout(max(0.0, 1000 * (step / 60 - (time.perf_counter() - began))))
        probe = page.evaluate("window.probe")
        updates = min(len(drawn) for drawn in probe["drawn"])
        peer.note(FAST.format(name), [updates / elapsed])
        if name == HANDLES[-1]:
            peer.note(SENT, [traffic.unpacked / updates / 1000] if updates else [])
        blank += probe["blank"]
        page.mouse.move(x, y)  # where each step of a key changes all pictures
        page.mouse.up()
        settle(page, 800)

    page.locator(peer.handles[0]).first.focus()
    reset(page)
    for key in ["ArrowRight"] * 8 + ["ArrowLeft"] * 8:
        page.keyboard.press(key)
        settle(page)
    peer.note(KEY, latencies(page))
    peer.note(BLANK, [blank + page.evaluate("probe.blank")])
    page.close()


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


def table(measured: Sequence[Peer]) -> str:
    """Markdown: medians over rounds with lowest and highest, and how many times posviz's."""
    ours = measured[0]
    rows = [
        f"| median of {len(ours.rounds[FIRST])} rounds (lowest–highest), times {ours.name} | "
        + " | ".join(peer.name for peer in measured) + " |",
        "| --- |" + " --- |" * len(measured),
    ]  # fmt: skip
    for what in ours.rounds:
        cells = []
        for peer in measured:
            found, own = peer.medians(what), ours.medians(what)
            if not found:
                cells.append("does not follow")
                continue
            median = statistics.median(found)
            cell = shown(median)
            if len(found) > 1 and shown(min(found)) != shown(max(found)):
                cell += f" ({shown(min(found))}–{shown(max(found))})"
            if peer is not ours and own and statistics.median(own):
                cell += f" {median / statistics.median(own):.2g}×"
            cells.append(cell)
        rows.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> None:
    known = peers()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(known), help="of " + ", ".join(known))
    parser.add_argument("--bin", type=Path, default=ROOT / ".venv-bench" / "bin")
    parser.add_argument("--out", type=Path, help="folder for the table, all figures, screenshots")
    arguments = parser.parse_args()
    chosen = [known[name] for name in dict.fromkeys(["posviz", *arguments.peers.split(",")])]
    out: Path | None = arguments.out
    if out:
        out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for peer in chosen:
            stack.enter_context(served(peer, arguments.bin, logs))
        playwright = stack.enter_context(sync_playwright())
        browser = launch(playwright)
        for peer in chosen:
            visit(peer, browser)[0].close()
        for turn in range(arguments.rounds):
            at = turn % len(chosen)
            for peer in chosen[at:] + chosen[:at]:
                started = time.perf_counter()
                measure(peer, browser, out if turn == 0 else None)
                took = time.perf_counter() - started
                print(f"round {turn + 1}: {peer.name}, {took:.0f} s", flush=True)
        browser.close()
    print(f"\n{table(chosen)}")
    if out:
        (out / "table.md").write_text(table(chosen) + "\n")
        (out / "figures.json").write_text(
            json.dumps({peer.name: peer.rounds for peer in chosen}, indent=1)
        )


if __name__ == "__main__":
    main()
