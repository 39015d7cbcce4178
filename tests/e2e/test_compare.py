"""The comparison in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_maps_and_prices_follow_a_drag(tab: Visit) -> None:
    page = tab.go("/compare?encodings=rope,alibi&query=20&head=3", "maps", "row", "looks")
    expect(tab.text("caption")).to_contain_text("Along each diagonal of RoPE and ALiBi")
    box = page.locator('canvas[data-raster="alibi"]').bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] * 0.633, steps=6)  # row 40 of 64
    page.mouse.up()
    expect(tab.text("row:head")).to_contain_text("query 40:")
    expect(tab.text("maps")).to_contain_text("score −16 or less")
    page.locator('[data-set="a=alibi"]').click()
    expect(tab.text("caption")).to_contain_text("RoPE and ALiBi differ most")
    tab.drag("strength", 1 / 1.5, 0.0, steps=3)
    expect(tab.text("caption")).to_contain_text("nothing is left of RoPE")
    page.get_by_role("radio", name="Price").click()
    page.wait_for_selector('[data-key="memory"] .js-line', state="attached")
    expect(tab.text("caption")).to_contain_text(
        "Transformer-XL and ALiBi, written out, takes 70.4 TB"
    )
    tab.drag("length", 0.8, 1.0, steps=3)
    expect(tab.text("caption")).to_contain_text("takes 6.4 PB for one layer")
    tab.fits()
