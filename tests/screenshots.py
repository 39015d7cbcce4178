"""Takes the README's pictures of the app: wide and narrow, light and dark. ``make screenshots``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import launch
from tests.server import ROOT, posviz

FOLDER = ROOT / "docs" / "screenshots"
# Page, its address, and something that is there last.
VIEWS = {
    "playground": ("/playground?position=12000&rope_type=yarn",
                   '[data-key="extrapolation"] .js-line'),
    "lab": ("/lab?rope_type=yarn&factor=8", '[data-key="perplexity"] .js-line'),
    "copying": ("/copying?model=rope&rope_type=yarn", '[data-key="curves"] .js-line'),
    "needle": ("/needle?cell=4", '[data-key="answer"] td'),
    "training": ("/training", '[data-key^="losses"] .js-line'),
}  # fmt: skip
SIZES = {"wide": {"width": 1440, "height": 900}, "narrow": {"width": 400, "height": 860}}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    log = Path(tempfile.mkdtemp()) / "log"
    with posviz(log) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        for name, (path, last) in VIEWS.items():
            for size, viewport in SIZES.items():
                for theme in ("light", "dark"):
                    page = browser.new_page(viewport=viewport, color_scheme=theme)
                    page.goto(address + path)
                    page.wait_for_selector(last, state="attached", timeout=60_000)
                    page.wait_for_timeout(1000)  # fonts and the last layout
                    page.screenshot(path=FOLDER / f"{name}_{size}_{theme}.png")
                    page.close()
        browser.close()


if __name__ == "__main__":
    main()
