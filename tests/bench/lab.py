"""Times the lab: a live evaluation against the bare forward pass, the needle grid, and drags.

Run by ``make bench-lab``. What a page waits for must stay near what the model itself costs, and an
evaluation must leave the fast pictures alone: the same drag is measured twice, once while the page
measures all the time and once while it cannot.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import torch
from playwright.sync_api import Page, sync_playwright

from posviz.models import evaluate, needle
from tests.bench.probe import PROBE, latencies, reset
from tests.browser import launch
from tests.server import posviz

DOCUMENTS, LENGTH = 4, 2048
ROPE, ALIBI = "names-rope-500-seed0", "names-alibi-seed0"


def median_seconds(work: object, times: int = 7) -> float:
    work()  # type: ignore[operator]  # tables and documents are made once
    found = []
    for _ in range(times):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def evaluations() -> None:
    tokens = torch.tensor(evaluate.documents(DOCUMENTS, LENGTH).tokens)
    for name in (ROPE, ALIBI):
        model = evaluate.decoder(name)

        @torch.inference_mode()
        def bare(model: object = model) -> None:
            model(tokens[:, :-1])  # type: ignore[operator]

        def live(name: str = name) -> None:
            list(evaluate.refine(name, None, (DOCUMENTS,), LENGTH))

        forward, whole = median_seconds(bare), median_seconds(live)
        print(f"{name}: live evaluation {DOCUMENTS} x {LENGTH:,}: {whole:.2f} s, "
              f"bare forward {forward:.2f} s, ratio {whole / forward:.2f}")  # fmt: skip
        setting = evaluate.read_with(name)
        grid = median_seconds(lambda n=name, s=setting: list(needle.fill(n, s)), 3)
        print(f"{name}: needle grid 5 x 5: {grid:.2f} s")


def drag(page: Page, handle: str) -> tuple[float, int]:
    """Median latency of a slow drag, ms, and how many of its 40 events were answered."""
    box = page.locator(f'[data-name="{handle}"] input[type=range]').bounding_box()
    assert box
    x, y = box["x"] + 0.4 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 2, y)
    page.wait_for_timeout(600)
    reset(page)
    for step in range(40):  # each rest is long enough for an evaluation to begin
        page.mouse.move(x + 2 + (step % 10 + 1) * 2, y)
        page.wait_for_timeout(350)
    page.mouse.up()
    found = latencies(page)
    return statistics.median(found), len(found)


def drags(handle: str, picture: str) -> None:
    with (
        posviz(Path(tempfile.mkdtemp()) / "log") as address,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        figures: dict[bool, list[float]] = {True: [], False: []}
        for measures in (True, False, True, False):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            if not measures:
                page.route("**/live/measure/**", lambda route: route.abort())
            page.goto(f"{address}/lab?rope_type=yarn")
            page.wait_for_selector(f'[data-key="{picture}"] .js-line', state="attached")
            page.wait_for_timeout(2500)
            page.evaluate(PROBE, [f'[data-key="{picture}"]'])
            page.wait_for_timeout(300)
            latency, answered = drag(page, handle)
            figures[measures].append(latency)
            page.close()
            print(f"drag {'while it measures' if measures else 'alone':18} {latency:6.1f} ms, "
                  f"{answered} of 40 answered")  # fmt: skip
        browser.close()
    ratio = statistics.mean(figures[True]) / statistics.mean(figures[False])
    print(f"drag latency while it measures / alone: {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="of torch; the app uses 1")
    torch.set_num_threads(parser.parse_args().threads)
    evaluations()
    drags("factor", "perplexity")


if __name__ == "__main__":
    main()
