"""The sinusoidal page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_the_table_follows_its_handles_and_a_drag_over_the_map(tab: Visit) -> None:
    page = tab.go("/sinusoidal?position=3&dimension=1", "table", "clocks")
    expect(tab.text("table:head")).to_contain_text("position 3, dimension 1: −0.99")  # cos 3
    tab.handle("dimension").press("Home")
    expect(tab.text("table:head")).to_contain_text("dimension 0: 0.141")  # sin 3
    box = page.locator("canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 30, box["y"] + box["height"] + 30, steps=4)
    page.mouse.up()
    expect(tab.text("table:head")).to_contain_text("position 511, dimension 127: 0.998")
    page.wait_for_function("/position=511/.test(location.search)")
    tab.drag("d_model", 0.5, 0.0, steps=4)
    expect(tab.text("clocks:head")).to_contain_text("a single pair")


def test_the_other_parts_follow_their_handles(tab: Visit) -> None:
    tab.go("/sinusoidal?part=counter", "counter", "digits")
    expect(tab.text("caption")).to_contain_text("⌊p/π⌋ at 64 of 64 positions")
    tab.page.get_by_role("button", name="Try the usual base 10,000").click()
    expect(tab.text("caption")).to_contain_text("Make the ratio 2: base 64")
    tab.go("/sinusoidal?part=distance&shift=5", "product", "matrix")
    matrix = tab.text("matrix:head").inner_text()
    tab.drag("position", 0.2, 1.0, steps=4)
    expect(tab.text("moved:head")).to_contain_text("PE[516] = Mk PE[511], largest residual")
    assert tab.text("matrix:head").inner_text() == matrix
    tab.handle("shift").press("Home")
    expect(tab.text("product:head")).to_contain_text("64 = d/2 at 0; 20.5 at k = ±256")
    tab.go("/sinusoidal?part=beyond", "table", "likeness")
    tab.drag("position", 0.4, 0.0, steps=4)
    expect(tab.text("clocks:head")).to_contain_text("38 of 64 pairs make no whole turn")
