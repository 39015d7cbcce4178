from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import launch
from tests.server import posviz

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 400, "height": 860}


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with posviz(tmp_path_factory.mktemp("server") / "log") as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()


class Visit:
    """A tab, with what it asked for and what it complained about."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.outside: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._request)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _request(self, request: object) -> None:
        url = request.url  # type: ignore[attr-defined]
        own = (self.address, self.address.replace("http", "ws"), "data:", "blob:")
        if not url.startswith(own):
            self.outside.append(url)

    def open(self, path: str = "/playground") -> Page:
        self.page.goto(self.address + path)
        # Plotly's curves are the last thing to arrive.
        for key in ("attention", "extrapolation"):
            self.page.wait_for_selector(f'[data-key="{key}"] .js-line', state="attached")
        self.page.wait_for_function("document.querySelectorAll('.pv-slider').length >= 7")
        return self.page


def visit(browser: Browser, address: str, **context: object) -> Iterator[Visit]:
    opened = browser.new_context(viewport=WIDE, **context)  # type: ignore[arg-type]
    tab = Visit(opened.new_page(), address)
    yield tab
    opened.close()
    assert not tab.outside, "a visit leaves the machine"
    assert not tab.complaints


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
