"""Drags over large heat maps beside the same drag of the playground, in turn; prints the ratios.

Run by ``make bench-heat``. A map that changes whole at each step must stay within twice the
latency of the playground's three pictures.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.bench.lab import drag
from tests.bench.probe import PROBE
from tests.browser import launch
from tests.server import posviz

# What it is, its address, the handle, and the pictures that all change.
VIEWS = {
    "playground, three pictures": (
        "/playground", "rope_theta", ["rotations", "attention", "extrapolation"]),
    "sinusoidal, 2,048 x 256": ("/sinusoidal?seq_len=2048&d_model=256", "base", ["table"]),
    "RoPE matrix, 256 x 256": ("/rope?part=matrix&head_dim=256", "q_position", ["matrix"]),
    "ALiBi bias, three of 256 x 256": (
        "/alibi?part=bias&seq_len=256&num_heads=64", "head", ["maps"]),
    "Transformer-XL, five of 128 x 256": (
        "/transformer_xl?part=terms&q_len=128&memory=128", "u", ["maps"]),
    "scaling, five methods, 128 pairs": (
        "/scaling?rotary_dim=256&methods=linear,ntk,dynamic,yarn", "factor",
        ["spectrum", "ratios"]),
    "scaling, two maps of 128 x 512": (
        "/scaling?part=angles&rotary_dim=256&methods=linear,ntk,dynamic,yarn", "factor",
        ["maps", "shares"]),
}  # fmt: skip


def main() -> None:
    found: dict[str, list[float]] = {name: [] for name in VIEWS}
    with posviz(Path(tempfile.mkdtemp()) / "log") as address, sync_playwright() as playwright:
        browser = launch(playwright)
        for _ in range(2):
            for name, (path, handle, pictures) in VIEWS.items():
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(address + path)
                for key in pictures:
                    page.wait_for_selector(
                        f'[data-key="{key}"] :is(.js-line, .pv-hand, canvas)', state="attached"
                    )
                page.wait_for_timeout(2500)
                page.evaluate(PROBE, [f'[data-key="{key}"]' for key in pictures])
                page.wait_for_timeout(300)
                latency, answered = drag(page, handle)
                found[name].append(latency)
                page.close()
                print(f"{name:36} {latency:6.1f} ms, {answered} of 40 answered")
        browser.close()
    first, *rest = ((name, statistics.mean(times)) for name, times in found.items())
    for name, latency in rest:
        print(f"{name} / {first[0]}: {latency / first[1]:.2f}")


if __name__ == "__main__":
    main()
