"""What holds for every page in a browser: phones, dark theme, both ends of each handle by keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import NARROW, visit
from tests.ui.views import PAGES, parts_of, view_of

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("page", PAGES)
def test_keys_reach_both_ends_on_a_dark_phone(browser: Browser, address: str, page: str) -> None:
    for tab in visit(browser, address, color_scheme="dark"):
        tab.page.set_viewport_size(NARROW)
        for n, part in enumerate(parts_of(view_of(page))):
            tab.go(f"/{page}?part={part}" if part else f"/{page}")
            tab.page.wait_for_timeout(200)  # the last handles
            if n == 0:  # the ends of all parts are drawn without a browser, in tests/ui
                handles = tab.page.locator(".pv-slider input[type=range]:enabled")
                for handle in range(handles.count()):
                    for key, share in (("Home", "0"), ("End", "1")):
                        handles.nth(handle).press(key)
                        expect(handles.nth(handle)).to_have_value(share)
                tab.page.wait_for_timeout(400)  # Streamlit has been told
            expect(tab.page.locator(".stException")).to_have_count(0)
            tab.fits()
            wide = tab.page.evaluate(OVER)
            assert not wide, f"{page} {part}: labels that do not fit: {wide}"


# Labels of handles that are cut off.
OVER = """() => [...document.querySelectorAll(".pv-head label")]
  .filter((label) => label.scrollWidth > label.clientWidth + 1)
  .map((label) => label.textContent)"""


def test_the_first_visit_to_a_server_may_be_any_page(browser: Browser, cold_address: str) -> None:
    for tab in visit(browser, cold_address):
        page = tab.go("/rope")
        expect(page.get_by_role("dialog")).to_have_count(0)  # "Page not found"
        assert page.url.endswith("/rope")
