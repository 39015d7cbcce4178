"""The copying page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Visit, visit

pytestmark = pytest.mark.e2e


def opened(tab: Visit, path: str) -> Page:
    tab.page.goto(tab.address + path)
    tab.page.wait_for_selector('[data-key="curves"] .js-line', state="attached")
    tab.page.wait_for_function("document.querySelectorAll('.pv-slider').length === 5")
    return tab.page


def test_a_cold_deep_link_is_measured(browser: Browser, cold_address: str) -> None:
    for tab in visit(browser, cold_address):
        page = opened(tab, "/copying?model=rope&rope_type=yarn&factor=3&length=128")
        expect(page.locator('[data-name="factor"] .pv-value input')).to_have_value("3")
        expect(page.locator('[data-key="curves:head"]')).to_contain_text("rows at", timeout=60000)
        expect(page.locator('[data-key="map"] .pv-cells')).to_be_attached(timeout=60000)


def test_a_head_can_be_clicked(tab: Visit) -> None:
    page = opened(tab, "/copying?model=rope&length=128&head=2")
    expect(page.locator('[data-key="map"] .pv-cells')).to_be_attached(timeout=60000)
    page.locator('[data-set="head=7"]').click()
    expect(page.locator('[data-set="head=7"]')).to_have_attribute("aria-pressed", "true")
    expect(page.locator('[data-key="map:caption"]')).to_contain_text("Layer 2, head 3")
    page.wait_for_function("location.search.includes('head=7')")
    expect(page.locator('[data-key="map"] .pv-cells')).to_be_attached(timeout=60000)


@pytest.mark.paced
def test_the_pictures_follow_a_drag_and_fit_the_screen(tab: Visit) -> None:
    page = opened(tab, "/copying")
    for key in ("curves", "caption", "story", "heads", "map"):
        box = page.locator(f'[data-key="{key}"]').bounding_box()
        assert box, key
        assert box["x"] >= 0, key
        assert box["x"] + box["width"] <= 1440, key
        assert box["y"] + box["height"] <= 900, key
    page.evaluate(
        """() => { window.changes = 0;
          const host = document.querySelector('[data-key="map"]');
          new MutationObserver(() => window.changes++).observe(host, { childList: true }); }"""
    )
    box = page.locator('[data-name="length"] input[type=range]').bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(box["x"] + (0.5 - step / 100) * box["width"], y)
        page.wait_for_timeout(30)
    page.mouse.up()
    assert page.evaluate("changes") >= 8
    expect(page.locator('[data-key="map"] .pv-cells')).to_be_attached(timeout=60000)
