"""The lab in a browser: a drag is never held up, a measurement arrives, links and phones work."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Visit, visit
from tests.e2e.test_playground import WATCH, grip, query, track, typed

pytestmark = pytest.mark.e2e

HANDLES = ["factor", "rope_theta", "beta_fast", "beta_slow", "slope_multiplier"]


def open_lab(tab: Visit, link: str = "") -> Page:
    tab.page.goto(tab.address + "/lab" + link)
    for key in ("perplexity", "repeated"):
        tab.page.wait_for_selector(f'[data-key="{key}"] .js-line', state="attached")
    tab.page.wait_for_function("document.querySelectorAll('.pv-slider').length >= 5")
    return tab.page


def test_a_deep_link_is_the_very_first_request_to_a_server(
    browser: Browser, cold_address: str
) -> None:
    for tab in visit(browser, cold_address):
        page = open_lab(tab, "?rope_type=yarn&factor=8&seed=1")
        expect(typed(page, "factor")).to_have_value("8")
        head = page.locator('[data-key="perplexity:head"]')
        expect(head).to_contain_text(re.compile(r"YaRN ×8: .* at 2,048 .*measured before"))
        for selector in [f'[data-name="{name}"]' for name in HANDLES] + [
            f'[data-key="{key}"]'
            for key in ("perplexity", "caption", "repeated", "changes", "readout", "exercise")
        ]:
            box = page.locator(selector).bounding_box()
            assert box, selector
            assert box["x"] >= 0, selector
            assert box["x"] + box["width"] <= 1440, selector
            assert box["y"] + box["height"] <= 900, selector


@pytest.mark.paced
def test_the_last_setting_is_measured_and_a_drag_goes_on_while_a_model_reads(tab: Visit) -> None:
    page = open_lab(tab, "?factor=5.3")
    head = page.locator('[data-key="perplexity:head"]')
    track(page, "factor").focus()
    page.keyboard.press("ArrowRight")
    value = typed(page, "factor").input_value()
    expect(head).to_contain_text(f"NTK ×{value}: measuring…")
    expect(head).to_contain_text(
        re.compile(rf"NTK ×{value}: .* at 2,048 \(4 documents, [\d.]+ s\)"), timeout=120_000
    )
    assert query(page) == {"factor": value}
    expect(page.locator('[data-key="readout"] tbody tr').first).not_to_contain_text("…")

    page = open_lab(tab, "?factor=5.3&longest=4096&documents=16")  # seconds of reading
    expect(head).to_contain_text("measuring…")
    page.wait_for_timeout(500)
    x, y = grip(page, "factor")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 4, y)
    page.wait_for_timeout(400)
    page.evaluate(WATCH, ["perplexity", "repeated"])
    page.evaluate(
        """() => { window.drawn = 0;
          new MutationObserver(() => window.drawn++).observe(
            document.querySelector('[data-key="changes"]'), { childList: true }); }"""
    )
    for step in range(60):  # 2 s, 30 moves a second
        page.mouse.move(x - 4 - 60 * (1 - abs(step % 40 / 20 - 1)), y)
        page.wait_for_timeout(1000 / 30)
    watch = page.evaluate("watch.on = false, watch")
    page.mouse.up()
    assert watch["changes"][0] >= 20, watch
    assert page.evaluate("drawn") >= 20
    assert watch["blank"] == watch["faded"] == watch["moved"] == 0, watch


def test_one_click_trains_short_and_tests_long(tab: Visit) -> None:
    page = open_lab(tab, "?rope_type=yarn&factor=7&beta_fast=20&seed=1")
    page.get_by_role("button", name="256 → 1,024 without scaling").click()
    page.wait_for_function("location.search === '?rope_type=default'")
    expect(page.locator('[data-key="exercise"]')).to_contain_text(
        re.compile(r"at 1,024: [\d.]+ without scaling, [\d.]+ with NTK ×8")
    )
    expect(track(page, "factor")).to_be_disabled()
    page.get_by_role("button", name="… with NTK").click()
    page.wait_for_function("location.search === ''")
    expect(typed(page, "factor")).to_have_value("8")
    expect(page.locator('[data-key="perplexity:head"]')).to_contain_text("NTK ×8: ")
