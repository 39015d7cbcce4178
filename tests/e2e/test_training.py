"""The training replay in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import NARROW, Visit, visit

pytestmark = pytest.mark.e2e

FIRST, LAST = "copying-rope-seed0", "names-rope-500-seed0"


def opened(tab: Visit, path: str) -> Page:
    tab.page.goto(tab.address + path)
    for key in ("losses", "shares"):
        tab.page.wait_for_selector(f'[data-key="{key}"] .js-line', state="attached")
    return tab.page


def test_a_cold_deep_link_shows_two_models_at_a_step(browser: Browser, cold_address: str) -> None:
    for tab in visit(browser, cold_address):
        page = opened(tab, f"/training?model={FIRST}&beside={LAST}&step=100")
        page.wait_for_selector('[data-key="losses:beside"] .js-line', state="attached")
        for key in ("strips:head", "strips:beside:head"):
            expect(page.locator(f'[data-key="{key}"]')).to_contain_text("step 100")
        expect(page.locator('[data-name="step"] .pv-value input')).to_have_value("100")


@pytest.mark.paced
def test_the_pictures_follow_a_drag_and_play_runs(tab: Visit) -> None:
    page = opened(tab, "/training?step=0")
    for key in ("losses", "caption", "strips", "shares"):
        box = page.locator(f'[data-key="{key}"]').bounding_box()
        assert box, key
        assert box["x"] + box["width"] <= 1440, key
        assert box["y"] + box["height"] <= 900, key
    page.evaluate(
        """() => { window.changes = 0;
          const host = document.querySelector('[data-key="strips"]');
          new MutationObserver(() => window.changes++).observe(host, { childList: true }); }"""
    )
    box = page.locator('[data-name="step"] input[type=range]').bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    for step in range(45):
        page.mouse.move(box["x"] + 8 + step / 100 * box["width"], y)
        page.wait_for_timeout(30)
    page.mouse.up()
    assert page.evaluate("changes") >= 15
    dragged = page.evaluate("changes")
    page.locator('[data-name="step"] .pv-play').click()
    page.wait_for_function("(before) => window.changes >= before + 5", arg=dragged)
    page.locator('[data-name="step"] .pv-play').click()
    page.wait_for_function("/step=[1-9]/.test(location.search)")


def test_it_stacks_on_a_phone_without_sideways_scroll(browser: Browser, address: str) -> None:
    for tab in visit(browser, address):
        tab.page.set_viewport_size(NARROW)
        page = opened(tab, "/training")
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
        expect(page.locator(".pv-replay-text").first).to_be_visible()
        expect(page.locator('[data-name="step"] .pv-play')).to_be_visible()
