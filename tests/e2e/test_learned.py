"""The learned table in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_every_handle_moves_what_it_names(tab: Visit) -> None:
    page = tab.go("/learned?position=10&other=200&seed=1", "similarity", "profile", "caption")
    expect(tab.text("caption")).to_contain_text("Rows 10 and 200 have a cosine of")
    tab.drag("other", 200 / 255, 1, steps=4)
    expect(tab.text("caption")).to_contain_text("Rows 10 and 255")
    box = page.locator('[data-key="similarity"] .pv-heat-plot').bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 64.5 / 256, box["y"] + box["height"] * 32.5 / 256)
    page.mouse.up()
    expect(tab.text("caption")).to_contain_text("Rows 32 and 64")
    tab.go("/learned?part=longer&seed=1", "rulers", "caption")
    expect(tab.text("caption")).to_contain_text("Drawn out to 512 rows, neighbours stand 2.05×")
    tab.drag("factor", 1 / 3, 1, steps=4)
    expect(tab.text("caption")).to_contain_text("Drawn out to 1,024 rows")
    tab.drag("place", 128 / 1023, 1, steps=4)
    expect(tab.text("rulers:head")).to_contain_text("position 1,023 reads row 255.00")


def test_the_table_ends_and_a_longer_one_is_read(tab: Visit) -> None:
    page = tab.go("/learned?part=end", "answer", "window", "sizes")
    said = "position must be a whole number from 0 to 511, got 512: a learned table has no row"
    expect(tab.text("answer")).to_contain_text(said)
    tab.drag("token", 512 / 1023, 0, steps=4)
    expect(tab.text("answer")).to_contain_text("row 0 of 512 is added to the token")
    page.locator('[data-set="table=opt"]').click()
    expect(tab.text("answer")).to_contain_text("row 2 of 2,050 is added to the token")
    tab.go("/learned?part=reading&factor=1", "perplexity", "looks")
    expect(tab.text("caption")).to_contain_text("a perplexity of 2.97 at 256", timeout=30_000)
