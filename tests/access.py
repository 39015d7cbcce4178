"""What a page says to those who do not see it, or not all of it: axe-core, zoom, phones.

``python -m tests.access`` (``make access``) visits every page and part: light and dark, wide, phone
and zoomed to 200 %, present mode, Chinese. It prints what it finds; a serious finding fails.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from tests.browser import launch
from tests.server import posviz
from tests.ui.views import PAGES, parts_of, view_of

WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 400, "height": 860}
ZOOMED = {"width": 720, "height": 450}  # 1440 x 900 at 200 %
SERIOUS = ("critical", "serious")
_AXE = Axe()
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def findings(page: Page) -> list[tuple[str, str]]:
    """Impact of each finding of axe-core on the page, and what it is about."""
    found = _AXE.run(page, options={"resultTypes": ["violations"], "runOnly": _TAGS})
    return [
        (each["impact"], f"{each['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})")
        for each in found.response["violations"]
        for node in each["nodes"]
    ]


# What reaches past the screen, but for what scrolls itself; and handles over more than half of it.
_LAYOUT = """() => {
  const found = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) found.push(`scrolls sideways: ${scrollWidth} of ${innerWidth} px`);
  for (const place of document.querySelectorAll(".stMain [data-key]"))
    if (place.getBoundingClientRect().right > innerWidth + 1)
      found.push(`too wide: ${place.dataset.key}`);
  const handles = document.querySelector(".st-key-pv-handles");
  const share = Math.round((100 * (handles?.getBoundingClientRect().height ?? 0)) / innerHeight);
  if (share > 50) found.push(`the handles that stay in view cover ${share} % of it`);
  return found;
}"""


def layout(page: Page) -> list[str]:
    """What does not fit the screen."""
    found: list[str] = page.evaluate(_LAYOUT)
    return found


def open_page(page: Page, address: str) -> None:
    """Opens a page of the app and waits until its pictures are drawn."""
    page.goto(address)
    drawn = ".stMain [data-key]:is(:has(.js-line, svg, p, canvas, button, table))"
    page.wait_for_selector(drawn, state="attached", timeout=60_000)
    page.wait_for_function("!document.querySelector('[data-stale=true]')", timeout=60_000)
    page.wait_for_timeout(600)
    page.keyboard.press("Tab")  # what scrolls can be reached from now on


def visits() -> Iterator[tuple[str, dict[str, Any]]]:
    """Address of each view within the app, and the browser that it is seen in."""
    dark = {"color_scheme": "dark"}
    for n, page in enumerate(PAGES):
        for m, part in enumerate(parts_of(view_of(page))):
            at = f"/{page}?part={part}" if part else f"/{page}?"
            yield at, {"viewport": WIDE} | (dark if (n + m) % 2 else {})
            yield at, {"viewport": PHONE} | ({} if (n + m) % 2 else dark)
            yield f"{at}&lang=zh", {"viewport": ZOOMED, "device_scale_factor": 2}
            if not m:
                yield f"{at}&present=1", {"viewport": WIDE} | ({} if n % 2 else dark)


def main(only: str = "") -> int:
    """Visits all, or those whose address has ``only`` in it; the number of serious findings."""
    count = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        posviz(Path(folder) / "log") as address,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        for at, context in visits():
            if only not in at:
                continue
            opened = browser.new_context(**context)
            page = opened.new_page()
            open_page(page, address + at.replace("?&", "?").removesuffix("?"))
            found = findings(page) + [("serious", one) for one in layout(page)]
            opened.close()
            count += sum(impact in SERIOUS for impact, _ in found)
            size, scheme = context["viewport"]["width"], context.get("color_scheme", "light")
            print(f"{at} {size} {scheme}: {len(found) or 'none'}", flush=True)
            for impact, said in found:
                print(f"  {impact}: {said}", flush=True)
        browser.close()
    return count


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
