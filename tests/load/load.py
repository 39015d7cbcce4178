"""Fills the app with visitors on this machine, says what they feel and what the server needs.

Run by ``make load``; ``--minutes 0.5`` for a short look. The server is one process, as the
container starts it; the visitors are this process, see ``visitor.py``; both share the cores. While
others work on the machine too (``others %``) the waits say little; ``ms CPU``, what the server
needs for an answer with all it does besides, and memory still hold.

- alone: what an empty answer takes, then one visitor who drags.
- idle: IDLE look on while ACTIVE drag, for half of the minutes. It comes first: what sessions hold
  shows in memory that nothing has used and left before.
- drag: DRAGGING visitors drag, let go and drag on, for the other half.
- limit: more and more drag, until a tenth of all movements is shown after more than LIMIT.
- open: NEW empty browsers come at once by one link, with all files that a real browser asks for.
- come: CROWD sessions open and close, ROUNDS times; what the server keeps must level off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import psutil
import uvloop
from playwright.sync_api import Response, sync_playwright

from tests.browser import launch
from tests.load.figures import percentiles, slope
from tests.load.server import Watch, wrong_lines
from tests.load.visitor import LostError, Times, Visitor
from tests.server import posviz

DRAGGING, IDLE, ACTIVE, NEW, CROWD, ROUNDS = 50, 200, 20, 50, 200, 5
STEPS = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200)
LIMIT = 0.1  # seconds
LEVEL = 1.05  # what the last round may keep, as a share of what the one before kept
TRACKS = (151, 196, 232, 311)  # pixels of a slider, by screen
PARTS = ("alone", "idle", "drag", "limit", "open", "come")

# What visitors of a lecture look at, in turn: page and query.
PLACES = (
    ("playground", ""),
    ("rope", ""),
    ("playground", "rope_type=yarn"),
    ("sinusoidal", "seq_len=2048&d_model=256"),
    ("scaling", ""),
    ("playground", "model=Qwen3-8B"),
    ("rope", "part=matrix"),
    ("alibi", ""),
    ("lab", ""),
    ("scaling", "part=scores"),
)

# Title, width and digits of each column, and where its figure is: what was waited for, and rank.
_COLUMNS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    *((f"felt {rank}" if rank == "p50" else rank, 9 if rank == "p50" else 7, 0, ("felt", rank))
      for rank in ("p50", "p90", "p99", "max")),
    ("answer p50", 11, 1, ("answer", "p50")), ("p90", 7, 1, ("answer", "p90")),
    ("release p50", 12, 0, ("release", "p50")), ("p90", 7, 0, ("release", "p90")),
    ("shown/s", 9, 1, ("updates_a_second_each",)), ("kB", 7, 1, ("kB_an_answer",)),
    ("ms CPU", 8, 1, ("server_cpu_ms_an_answer",)), ("CPU %", 7, 0, ("server_cpu_percent",)),
    ("own %", 7, 0, ("client_cpu_percent",)), ("others %", 9, 0, ("others_cpu_percent",)),
    ("MiB/min", 9, 1, ("growth_MiB_a_minute",)),
)  # fmt: skip


class Stage:
    """The server and everybody who visits it."""

    def __init__(self, address: str, watch: Watch, web: aiohttp.ClientSession) -> None:
        self.address, self.watch, self.web = address, watch, web
        self.problems: list[str] = []
        self.found: dict[str, Any] = {}

    async def arrive(
        self,
        count: int,
        times: Times,
        *,
        after: int = 0,
        at_once: int = 8,
        files: Sequence[str] = (),
    ) -> list[Visitor]:
        """That many visitors who come after others to the places in turn, some at once."""
        doors = asyncio.Semaphore(at_once)
        come = []

        async def one(number: int) -> None:
            page, query = PLACES[number % len(PLACES)]
            track = TRACKS[number // len(PLACES) % len(TRACKS)]
            visitor = Visitor(self.web, self.address, page, query, times, track)
            async with doors:
                try:
                    await (visitor.load(files) if files else visitor.arrive())
                except (LostError, aiohttp.ClientError) as problem:
                    self.problems.append(f"{page}: {problem!r}")
                    return
            come.append(visitor)

        await asyncio.gather(*(one(after + each) for each in range(count)))
        return come

    async def leave(self, visitors: Sequence[Visitor]) -> None:
        """All of them close their tabs."""
        await asyncio.gather(*(one.leave() for one in visitors))

    async def drag(self, name: str, visitors: Sequence[Visitor], seconds: float) -> float:
        """Lets all of them drag that long and notes what they feel and what it costs.

        Returns:
            What nine of ten movements waited at most, in seconds.
        """
        times, samples = Times(), self.watch.samples
        for visitor in visitors:
            visitor.times = times
        begun, first, own = time.perf_counter(), len(samples), time.process_time()
        busy = _busy()
        before = self.watch.look()
        await asyncio.gather(
            *(one.drag_on(begun + seconds, random.Random(i)) for i, one in enumerate(visitors))
        )
        after, took = self.watch.look(), time.perf_counter() - begun
        own, busy = time.process_time() - own, _busy() - busy
        later = samples[(first + len(samples)) // 2 :]  # what is read once has been read by then
        answers = max(len(times.answer), 1)
        await asyncio.gather(*(one.settle() for one in visitors))
        self.problems += times.problems
        waits = {
            what: percentiles(getattr(times, what))
            for what in ("felt", "answer", "release", "measured")
        }
        self.found[name] = waits | {
            "visitors": len(visitors),
            "seconds": took,
            "updates_a_second_each": len(times.answer) / took / len(visitors),
            "kB_an_answer": times.bytes / answers / 1e3,
            "server_cpu_percent": 100 * (after.cpu - before.cpu) / took,
            "server_cpu_ms_an_answer": 1e3 * (after.cpu - before.cpu) / answers,
            "client_cpu_percent": 100 * own / took,
            "others_cpu_percent": 100 * (busy - own - (after.cpu - before.cpu)) / took,
            "rss_MiB": after.rss,
            "growth_MiB_a_minute": slope([s.at / 60 for s in later], [s.rss for s in later]),
            "problems": len(times.problems),
        }
        _show(name, self.found[name])
        return float(waits["felt"]["p90"]) / 1e3


def _busy() -> float:
    """Processor seconds that this machine has worked, whoever for."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def _show(name: str, found: dict[str, Any]) -> None:
    """One row of the table."""
    row = f"{name:22}"
    for _, width, digits, path in _COLUMNS:
        value: Any = found
        for key in path:
            value = value[key]
        row += f"{value:{width}.{digits}f}"
    print(row, flush=True)


# ------------------------------------------------------------------------------------ the parts


async def alone(stage: Stage, half: float) -> None:
    """The floor: an answer with nothing in it, and one visitor."""
    waits = []
    for _ in range(200):
        begun = time.perf_counter()
        async with stage.web.get(f"{stage.address}/_stcore/health") as response:
            await response.read()
        waits.append(time.perf_counter() - begun)
    stage.found["empty answer"] = percentiles(waits)
    visitors = await stage.arrive(1, Times())
    await stage.drag("one drags", visitors, min(10, half))
    await stage.leave(visitors)
    print(f"{'an empty answer':63} {stage.found['empty answer']['p50']:6.1f}")


async def lecture(stage: Stage, half: float) -> None:
    """Everybody drags."""
    visitors = await stage.arrive(DRAGGING, Times())
    await stage.drag(f"{DRAGGING} drag", visitors, half)
    await stage.leave(visitors)


async def evening(stage: Stage, half: float) -> None:
    """Most look on."""
    before = stage.watch.look().rss
    idle = await stage.arrive(IDLE, Times())
    stage.found["MiB_a_session"] = (stage.watch.look().rss - before) / IDLE
    active = await stage.arrive(ACTIVE, Times())
    await stage.drag(f"{ACTIVE} drag, {IDLE} idle", active, half)
    await stage.leave([*idle, *active])
    print(f"{IDLE} sessions hold {stage.found['MiB_a_session']:.2f} MiB each")


async def limit(stage: Stage, half: float) -> None:
    """How many may drag at once."""
    stage.found["limit"] = 0
    visitors: list[Visitor] = []
    for count in STEPS:
        visitors += await stage.arrive(count - len(visitors), Times(), after=len(visitors))
        if await stage.drag(f"{count} drag, to the limit", visitors, min(15, half / 3)) > LIMIT:
            break
        stage.found["limit"] = count
    await stage.leave(visitors)
    print(f"{stage.found['limit']} may drag at once, with p90 under {1e3 * LIMIT:.0f} ms")


async def opening(stage: Stage, _: float) -> None:
    """Everybody follows the lecturer's link at once."""
    files = await asyncio.to_thread(_files, f"{stage.address}/playground")
    times, before = Times(), stage.watch.look()
    visitors = await stage.arrive(NEW, times, at_once=NEW, files=files)
    after, loaded = stage.watch.look(), percentiles(times.loaded)
    await stage.leave(visitors)
    each = (after.cpu - before.cpu) / NEW
    stage.found["open"] = {"files": len(files), "loaded": loaded, "server_cpu_s_each": each}
    print(
        f"{NEW} empty browsers at once, {len(files)} files each: "
        f"all there after {loaded['p50'] / 1e3:.1f} s (p50), {loaded['max'] / 1e3:.1f} s (last); "
        f"{1e3 * each:.0f} ms of CPU each"
    )


def _files(address: str) -> list[str]:
    """What an empty browser asks the server for, but for the session itself."""
    files: list[str] = []

    def note(response: Response) -> None:
        parts = urlsplit(response.url)
        if parts.scheme == "http" and response.status == 200 and "/live/view/" not in parts.path:
            files.append(parts.path)

    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.on("response", note)
        page.goto(address)
        page.locator(".pv-slider").first.wait_for(timeout=60_000)
        page.wait_for_load_state("networkidle")
        browser.close()
    return files


async def coming(stage: Stage, _: float) -> None:
    """Sessions that end give back what they held."""
    rounds = stage.found["rounds"] = []
    for _ in range(ROUNDS):
        times = Times()
        visitors = await stage.arrive(CROWD, times)
        full = stage.watch.look()
        await stage.leave(visitors)
        await asyncio.sleep(2)
        left = stage.watch.look()
        rounds.append({"full": asdict(full), "left": asdict(left)})
        print(
            f"{len(visitors)} came, arrival {percentiles(times.arrival)['p50']:.0f} ms: "
            f"{full.rss:.0f} MiB, {full.files} files, {full.threads} threads; "
            f"gone: {left.rss:.0f} MiB, {left.files} files, {left.threads} threads",
            flush=True,
        )
    before, last = (one["left"]["rss"] for one in rounds[-2:])
    if last > LEVEL * before:
        stage.problems.append(f"memory grows: {before:.0f} MiB after a round, {last:.0f} after one")


_WHAT = dict(zip(PARTS, (alone, evening, lecture, limit, opening, coming), strict=True))


async def visits(address: str, pid: int, minutes: float, parts: Sequence[str]) -> Stage:
    """Everything that is measured, in turn."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar()
    ) as web:
        stage = Stage(address, Watch(pid), web)
        # One visitor of each place drags, so that what is read once has been read.
        first = await stage.arrive(len(PLACES), Times())
        for visitor in first:
            await visitor.drag_on(time.perf_counter() + 0.5, random.Random(0))
            await visitor.settle()
        await stage.leave(first)
        stage.found["empty"] = asdict(stage.watch.look())
        print(f"server with nobody: {stage.found['empty']['rss']:.0f} MiB; below, waits are in ms")
        print(" " * 22 + "".join(f"{title:>{width}}" for title, width, *_ in _COLUMNS))
        watching = asyncio.create_task(stage.watch.stay())
        for part in PARTS:
            if part in parts:
                await _WHAT[part](stage, 30 * minutes)
        watching.cancel()
        return stage


def main() -> int:
    """Runs the parts, prints the table, writes the figures; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="of drag and idle together")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--out", type=Path, help="where the figures go, as JSON")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="posviz-load-"))
    log, out = folder / "server.log", options.out or folder / "load.json"
    with posviz(log) as address:
        (server,) = psutil.Process().children()
        stage = uvloop.run(visits(address, server.pid, options.minutes, options.parts))
    problems = stage.problems + wrong_lines(log)
    found = stage.found | {"cores": os.cpu_count(), "problems": problems}
    found["samples"] = [asdict(one) for one in stage.watch.samples]
    out.write_text(json.dumps(found, indent=1))
    print(f"\nlost, wrong or in the server's log: {len(problems)}")
    for problem in problems[:10]:
        print(" ", problem)
    print(f"figures: {out}\nserver's log: {log}")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
