"""Relative biases in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import NARROW, Visit

pytestmark = pytest.mark.e2e

# A part with a handle to drag to its right end, the picture that tells it, and what it says then.
DRAGS = [
    ("Shaw", "max_relative_position", "caption", "within 64"),
    ("T5 buckets", "relative_position", "caption", "288 after the query: bucket 31"),
    ("T5 heads", "head", "bias:head", "head 3"),
    ("Cost", "seq_len", "prices:head", "10,000,000 tokens"),
]


def test_the_pictures_follow_the_handles_of_each_part(tab: Visit) -> None:
    page = tab.go("/relative", "rows", "formula")
    for part, name, key, told in DRAGS:
        page.get_by_role("radio", name=part, exact=True).click()
        handle = tab.handle(name)
        expect(handle).to_be_visible()
        low, high, at = (float(handle.get_attribute(end) or 0) for end in ("min", "max", "value"))
        tab.drag(name, (at - low) / (high - low), 1.05, steps=4)
        expect(tab.text(key)).to_contain_text(told)
    page.get_by_role("button", name="1M", exact=True).click()
    expect(tab.text("prices:head")).to_contain_text("1,000,000 tokens")
    expect(page.locator('[data-name="seq_len"] .pv-value input')).to_have_value("1,000,000")


def test_the_map_and_the_ruler_are_handles_too(tab: Visit) -> None:
    page = tab.go("/relative", "rows")
    box = page.locator('[data-key="rows"] canvas').bounding_box()
    assert box
    page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.99 * box["width"], box["y"] + 0.01 * box["height"], steps=4)
    expect(tab.text("caption")).to_contain_text("Key 63 − query 0 = 63, beyond 16")
    page.mouse.up()
    page.get_by_role("radio", name="T5 buckets").click()
    page.locator('[data-key="ruler"] button[aria-label^="bucket 14:"]').click()
    expect(tab.text("caption")).to_contain_text("Key − query = −64")
    page.keyboard.press("ArrowLeft")
    expect(tab.text("caption")).to_contain_text("shared by everything from −91 on")


def test_an_impossible_setting_is_told_on_a_dark_phone(dark_tab: Visit) -> None:
    dark_tab.page.set_viewport_size(NARROW)
    dark_tab.go("/relative?part=buckets", "formula")
    dark_tab.handle("max_distance").press("Home")
    expect(dark_tab.text("ruler")).to_contain_text("max_distance must be above 8")
    expect(dark_tab.page.locator('[data-key="ruler"] svg')).to_have_count(0)
    dark_tab.fits()
    dark_tab.handle("max_distance").press("End")
    expect(dark_tab.text("caption")).to_contain_text("not at max_distance 256")
