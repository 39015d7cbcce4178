"""Takes the README's pictures of the app: wide and narrow, light and dark. ``make screenshots``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import launch
from tests.server import ROOT, posviz

FOLDER = ROOT / "docs" / "screenshots"
# Page, its address, and something that is there last.
_CHART, _MAP = '[data-key="{}"] .js-line', '[data-key="{}"] canvas'
VIEWS = {
    "playground": ("/playground?position=12000&rope_type=yarn", _CHART.format("extrapolation")),
    "order": ("/order", ".pv-order-verdict"),
    "sinusoidal": ("/sinusoidal", _MAP.format("table")),
    "learned": ("/learned", "canvas"),
    "relative": ("/relative?part=buckets", ".pv-slider"),
    "transformer_xl": ("/transformer_xl", "canvas"),
    "rope": ("/rope", "canvas"),
    "rope_decay": ("/rope?part=decay", ".js-line"),
    "alibi": ("/alibi", ".js-line"),
    "scaling": ("/scaling?pinned=yarn&factor=16", '[data-key="ramps"] .js-line'),
    "models": ("/models", '[data-key="spectrum"] .js-line'),
    "doctor": ("/doctor", ".pv-doctor-verdict"),
    "lab": ("/lab?rope_type=yarn&factor=8", _CHART.format("perplexity")),
    "copying": ("/copying?model=rope&rope_type=yarn", _CHART.format("curves")),
    "needle": ("/needle?cell=4", '[data-key="answer"] td'),
    "training": ("/training", '[data-key^="losses"] .js-line'),
    "pitfalls": ("/pitfalls", "canvas"),
    "precision": ("/precision", ".js-line"),
    "claims": ("/claims?claim=15&answers=ff--t--------tf", ".js-line"),
    "picker": ("/picker", ".js-line"),
    "compare": ("/compare", "canvas"),
    "lessons": ("/lessons", ".pv-make-title"),
    "lesson": ("/rope?part=decay&lesson=rope_in_ten_minutes&lesson_step=6", ".pv-ask"),
    "present": ("/rope?part=decay&present=1&figures=scores", ".js-line"),
    "chinese": ("/playground?rope_type=yarn&lang=zh", _CHART.format("extrapolation")),
}
# The first view in both themes at both sizes, the others once for each.
LOOKS = (("wide", "light"), ("narrow", "dark"), ("wide", "dark"), ("narrow", "light"))
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 400, "height": 860}}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = Path(tempfile.mkdtemp()) / "log"
    with posviz(log) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        for name, (path, last) in VIEWS.items():
            for size, theme in LOOKS if name == "playground" else LOOKS[:2]:
                page = browser.new_page(viewport=SIZES[size], color_scheme=theme)
                page.goto(address + path)
                page.wait_for_selector(last, state="attached", timeout=60_000)
                page.wait_for_timeout(1000)  # fonts and the last layout
                page.screenshot(path=FOLDER / f"{name}_{size}_{theme}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
