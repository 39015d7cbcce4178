"""What holds for every page in a browser: phones, dark theme, both ends of each handle by keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, expect

from posviz import params
from posviz.ui import live
from posviz.ui.text import say
from tests.e2e.conftest import NARROW, Visit, visit
from tests.ui.views import PAGES, parts_of, view_of

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("page", PAGES)
def test_keys_reach_both_ends_on_a_dark_phone(browser: Browser, address: str, page: str) -> None:
    view = view_of(page)
    for tab in visit(browser, address, color_scheme="dark"):
        tab.page.set_viewport_size(NARROW)
        tab.go(f"/{page}")
        for n, part in enumerate(parts_of(view)):
            if n:
                choose(tab, view, part)
            tab.still()  # with all handles
            if n == 0:  # the ends of all parts are drawn without a browser, in tests/ui
                handles = tab.page.locator(".pv-slider input[type=range]:enabled")
                for handle in range(handles.count()):
                    for key, share in (("Home", "0"), ("End", "1")):
                        handles.nth(handle).press(key)
                        expect(handles.nth(handle)).to_have_value(share)
                        tab.drawn()  # the next handle's end may depend on it
                tab.still()
            expect(tab.page.locator(".stException")).to_have_count(0)
            tab.fits()
            wide = tab.page.evaluate(OVER)
            assert not wide, f"{page} {part}: too wide: {wide}"


def choose(tab: Visit, view: live.View, part: str) -> None:
    """Another part of the page, by its button."""
    choice = view.declared(view.read({})[0])["part"]
    assert isinstance(choice, params.Choice)
    label = re.compile(f"^{re.escape(say(choice.label_of(part)))}$")
    tab.page.locator(".stButtonGroup button").filter(has_text=label).first.click()
    tab.page.wait_for_function("(part) => location.search.includes(`part=${part}`)", arg=part)


# Labels of handles that are cut off, and what reaches past the screen but for what scrolls itself.
OVER = """() => [
  ...[...document.querySelectorAll(".pv-head label")]
    .filter((label) => label.scrollWidth > label.clientWidth + 1)
    .map((label) => label.textContent),
  ...[...document.querySelectorAll(".stMain [data-key]")]
    .filter((place) => place.getBoundingClientRect().right > innerWidth + 1)
    .map((place) => place.dataset.key),
]"""


def test_the_first_visit_to_a_server_may_be_any_page(browser: Browser, cold_address: str) -> None:
    for tab in visit(browser, cold_address):
        page = tab.go("/rope")
        expect(page.get_by_role("dialog")).to_have_count(0)  # "Page not found"
        assert page.url.endswith("/rope")
