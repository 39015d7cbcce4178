"""Transformer-XL's page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e

PAGE = "/transformer_xl"


def test_terms_follow_their_handles(tab: Visit) -> None:
    tab.go(f"{PAGE}?memory=4", "maps", "weights", "cell")
    for key in ("maps", "cell", "weights"):
        box = tab.text(key).bounding_box()
        assert box, key
        assert box["y"] + box["height"] <= 900, key
    tab.drag("u", 0.6, 0.5, 4)
    expect(tab.text("caption")).to_contain_text("Key 10 gets 0.00 from every query")
    tab.drag("v", 0.6, 0.5, 4)
    expect(tab.text("caption")).to_contain_text("distance 2 gets 0.00 everywhere")
    tab.drag("query", 0.3, 1.0, 4)
    expect(tab.text("cell:head")).to_contain_text("Query 15, key 10")


def test_the_shift_plays_and_distances_follow(tab: Visit) -> None:
    page = tab.go(f"{PAGE}?part=shift&step=3.9", "shifting", "steps")
    tab.handle("step").press("ArrowRight")  # one of twenty within a step
    expect(page.locator('[data-name="step"] .pv-value input')).to_have_value("3.95")
    page.locator('[data-name="step"] .pv-play').click()
    expect(tab.text("caption")).to_contain_text("9 of the 9 cells")
    page.locator('.pv-xl-steps [data-set="step=2"]').click()
    expect(tab.text("caption")).to_contain_text("read on in rows of 3")
    tab.go(f"{PAGE}?part=distance", "curves", "R")
    for name, start, end, key, told in (
        ("distance", 0.1, 1.0, "curves:head", "at distance 255: b"),
        ("clamp_len", 0.7, 0.0, "caption", "Distance 255 counts as 1,"),
        ("dimension", 0.1, 1.0, "entry", "cos"),
    ):
        tab.drag(name, start, end, 4)
        expect(tab.text(key)).to_contain_text(told)
