from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser import launch
from tests.server import posviz

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 400, "height": 860}
KEPT = "cookies,indexeddb,local_storage,websql,service_workers,cache_storage"
# The view is asked, because the page shows only what has been told and answered, not what has not.
VIEW = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const script = ({ name }) => name.endsWith("/view.js");
  let found;
  while (!(found = performance.getEntriesByType("resource").find(script))) await frame();
  const { viewOf } = await import(found.name);
  const view = viewOf(location.pathname.split("/").pop());
  const runs = () => document.querySelector('[data-test-script-state="running"]');
  while (%s) await frame();
}"""
STILL = VIEW % "runs() || !view.still"
DRAWN = VIEW % "view.busy"
Scheme = Literal["light", "dark"]
# How long an answer may take is counted by the paced tests; the others may meet a busy computer.
expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("server") / "log"
    with posviz(log) as started:
        yield started
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = launch(playwright, tmp_path_factory.mktemp("profile"))
        yield started
        started.close()


@pytest.fixture(autouse=True)
def turn(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Browser tests run beside each other, but for one that counts updates a second."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # of all workers
    with (folder / "turn").open("w") as lock:
        paced = request.node.get_closest_marker("paced")
        fcntl.flock(lock, fcntl.LOCK_EX if paced else fcntl.LOCK_SH)
        yield


class Visit:
    """A tab, with what it asked for and what it complained about."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.outside: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        # Shown when a test fails: a connection that went away explains much.
        page.on("console", lambda message: print(f"{datetime.now():%T.%f} console: {message.text}"))

    def _request(self, request: object) -> None:
        url = request.url  # type: ignore[attr-defined]
        own = (self.address, self.address.replace("http", "ws"), "data:", "blob:", "file:")
        if not url.startswith(own):
            self.outside.append(url)

    def open(self, path: str = "/playground") -> Page:
        self.page.goto(self.address + path)
        # Plotly's curves are the last thing to arrive.
        for key in ("attention", "extrapolation"):
            self.page.wait_for_selector(f'[data-key="{key}"] .js-line', state="attached")
        self.page.wait_for_function("document.querySelectorAll('.pv-slider').length >= 7")
        return self.page

    def go(self, path: str, *keys: str) -> Page:
        """Opens a page and waits for its handles and for the pictures ``keys``."""
        self.page.goto(self.address + path)
        for key in keys:
            drawn = f'[data-key="{key}"]:is(:has(.js-line, svg, p, canvas, button, table))'
            self.page.wait_for_selector(drawn, state="attached")
        self.page.wait_for_selector(".pv-slider, .pv-make-title", state="attached")
        return self.page

    def handle(self, name: str) -> Locator:
        return self.page.locator(f'.pv-slider[data-name="{name}"] input[type=range]')

    def still(self) -> None:
        """Waits until Streamlit has run, and has taken up what the handles said."""
        self.page.evaluate(STILL)

    def drawn(self) -> None:
        """Waits until the pictures, and the ends of the handles, are those of the newest values."""
        self.page.evaluate(DRAWN)

    def press(self, name: str, key: str) -> None:
        """A key on a handle, until the address says so or is what it was."""
        self.handle(name).press(key)
        self.still()

    def drag(self, name: str, start: float, end: float, steps: int = 12) -> None:
        """Drags a handle from one share of its track to another, a step each 30 ms."""
        box = self.handle(name).bounding_box()
        assert box, name
        y = box["y"] + box["height"] / 2
        # The middle of the thumb stands half a thumb within the ends.
        at = [box["x"] + 8 + share * (box["width"] - 16) for share in (start, end)]
        self.page.mouse.move(at[0], y)
        self.page.mouse.down()
        for step in range(1, steps + 1):
            self.page.mouse.move(at[0] + (at[1] - at[0]) * step / steps, y)
            self.page.wait_for_timeout(30)
        self.page.mouse.up()

    def text(self, key: str) -> Locator:
        """The picture of that name, for ``expect(...).to_contain_text``."""
        return self.page.locator(f'[data-key="{key}"]')

    def fits(self) -> None:
        """No sideways scroll."""
        width = self.page.viewport_size
        assert width
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width["width"]


def visit(
    browser: Browser, address: str, color_scheme: Scheme = "light", **context: Any
) -> Iterator[Visit]:
    """A new tab of the browser's profile, or with further options of a context of its own.

    Half of what opening a page costs is compiling scripts, which the profile remembers. A tab has
    its own sessionStorage; what else a page has stored is gone when it closes.
    """
    own = browser.new_context(**context) if context else None
    page = (own or browser.contexts[0]).new_page()
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme=color_scheme)
    tab = Visit(page, address)
    yield tab
    if own:
        own.close()
    else:
        forget(page, address)
        page.close()
    assert not tab.outside, "a visit leaves the machine"
    assert not tab.complaints


def forget(page: Page, address: str) -> None:
    """Clears what pages of the address have stored, but for the files."""
    page.context.clear_cookies()
    storage = page.context.new_cdp_session(page)
    storage.send("Storage.clearDataForOrigin", {"origin": address, "storageTypes": KEPT})


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Visit]:
    yield from visit(browser, address)


@pytest.fixture
def dark_tab(browser: Browser, address: str) -> Iterator[Visit]:
    yield from visit(browser, address, color_scheme="dark")


@pytest.fixture
def cold_address(tmp_path: Path) -> Iterator[str]:
    """A server that nobody has visited yet."""
    with posviz(tmp_path / "log") as started:
        yield started
