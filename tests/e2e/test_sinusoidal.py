"""The sinusoidal page in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import NARROW, Visit

pytestmark = pytest.mark.e2e


def test_the_table_follows_its_handles_and_a_drag_over_the_map(tab: Visit) -> None:
    page = tab.go("/sinusoidal?position=3&dimension=1", "table", "clocks")
    expect(tab.text("table:head")).to_contain_text("position 3, dimension 1: −0.99")  # cos 3
    tab.press("dimension", "Home")
    expect(tab.text("table:head")).to_contain_text("dimension 0: 0.141")  # sin 3
    tab.drag("d_model", 0.5, 0.0)
    expect(tab.text("clocks:head")).to_contain_text("a single pair")
    tab.drag("base", 0.5, 0.6)
    page.get_by_text("A soft counter").click()
    expect(tab.text("digits:head")).to_contain_text("3 = 000011 in binary")
    page = tab.go("/sinusoidal", "table")
    box = page.locator("canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 30, box["y"] + box["height"] + 30, steps=8)
    page.mouse.up()
    expect(tab.text("table:head")).to_contain_text("position 511, dimension 127: 0.998")
    page.wait_for_function("/position=511/.test(location.search)")


def test_the_other_parts_follow_their_handles(tab: Visit) -> None:
    tab.go("/sinusoidal?part=counter", "counter", "digits")
    expect(tab.text("caption")).to_contain_text("⌊p/π⌋ at 64 of 64 positions")
    tab.press("bits", "ArrowRight")
    expect(tab.text("caption")).to_contain_text("⌊p/π⌋ at 128 of 128 positions")
    tab.page.get_by_role("button", name="Try the usual base 10,000").click()
    expect(tab.text("caption")).to_contain_text("Make the ratio 2: base 128")
    tab.go("/sinusoidal?part=distance&shift=5", "product", "matrix")
    matrix = tab.text("matrix:head").inner_text()
    tab.drag("position", 0.2, 1.0)
    expect(tab.text("moved:head")).to_contain_text("PE[516] = Mk PE[511], largest residual")
    assert tab.text("matrix:head").inner_text() == matrix
    tab.press("shift", "Home")
    expect(tab.text("product:head")).to_contain_text("32 = d/2 at 0; 11.3 at k = ±256")
    tab.go("/sinusoidal?part=beyond", "table", "likeness")
    tab.drag("position", 0.4, 0.0)
    expect(tab.text("clocks:head")).to_contain_text("38 of 64 pairs make no whole turn")
    tab.press("original_max_position_embeddings", "Home")
    tab.press("position", "End")
    expect(tab.text("clocks:head")).to_contain_text(re.compile(r"\d+ of 64 pairs stand at angles"))


def test_it_stacks_on_a_phone_in_the_dark(dark_tab: Visit) -> None:
    dark_tab.page.set_viewport_size(NARROW)
    for part, key in (("table", "clocks"), ("counter", "digits"), ("distance", "matrix")):
        dark_tab.go(f"/sinusoidal?part={part}", key)
        dark_tab.fits()
