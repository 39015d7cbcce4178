"""ALiBi's page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_slopes_and_windows_follow_a_drag(tab: Visit) -> None:
    page = tab.go("/alibi?num_heads=12&head=9", "slopes", "ladder", "caption")
    expect(tab.text("caption")).to_contain_text("head 9 (0.7071) starts steep again")
    tab.drag("num_heads", 11 / 127, 0.0)  # heads stop at one, and the chosen one with them
    expect(tab.text("slopes:head")).to_contain_text("as in the paper’s formula")
    page.locator(".pv-slider[data-name=num_heads] .pv-value input").fill("40")
    page.keyboard.press("Enter")
    expect(tab.text("slopes:head")).to_contain_text("40 of 40 heads differ")
    page.wait_for_function("location.search.includes('num_heads=40')")
    page.locator('[data-set="head=33"]').click()
    expect(page.locator(".pv-slider[data-name=head] .pv-note")).to_contain_text("slope 0.917")
    page.wait_for_function("location.search.includes('head=33')")
    page.get_by_role("radio", name="Windows").click()
    page.wait_for_selector('[data-key="windows"] .js-line', state="attached")
    tab.drag("share", 0.99, 0.0)
    expect(tab.text("windows:head")).to_contain_text("10 % of head 33 within 1 token")


def test_rows_and_lengths_follow_a_drag(tab: Visit) -> None:
    page = tab.go("/alibi?part=bias&head=3", "maps", "row", "caption")
    box = page.locator('canvas[data-raster="bloom"]').bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] * 0.843, steps=6)  # row 40 of 48
    page.mouse.up()
    expect(tab.text("caption")).to_contain_text(
        "differ from ours by 5 at every key, MPT’s by −0.875"
    )
    expect(tab.text("caption")).to_contain_text("difference between the weights of the three is 0.")
    tab.go("/alibi?part=length&head=8&num_heads=8", "covered", "perplexity", "found")
    tab.drag("context", 0.5, 1.0)
    expect(tab.text("contexts").locator(".is-current")).to_contain_text("131,072")
    expect(tab.text("covered:head")).to_contain_text("1,179 tokens at any length")
    tab.drag("head", 1.0, 0.0)
    expect(tab.text("covered:head")).to_contain_text("10 tokens at any length")
