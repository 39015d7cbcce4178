"""Transformer-XL's page in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import NARROW, Visit

pytestmark = pytest.mark.e2e

PAGE = "/transformer_xl"


def test_terms_and_memory_follow_their_handles(tab: Visit) -> None:
    tab.go(f"{PAGE}?form=absolute", "maps", "weights", "cell")
    for key in ("maps", "cell", "weights"):
        box = tab.text(key).bounding_box()
        assert box, key
        assert box["y"] + box["height"] <= 900, key
    tab.drag("shift", 0.5, 0.0, 6)
    expect(tab.text("weights:head")).to_contain_text("moved by 0")
    expect(tab.text("weights:head")).to_contain_text("largest change of a weight: 0")
    tab.go(f"{PAGE}?memory=4", "maps", "weights", "cell")
    tab.drag("u", 0.6, 0.5, 6)
    expect(tab.text("caption")).to_contain_text("Key 10 gets 0.00 from every query")
    tab.drag("v", 0.6, 0.5, 6)
    expect(tab.text("caption")).to_contain_text("distance 2 gets 0.00 everywhere")
    tab.drag("query", 0.3, 1.0, 6)
    expect(tab.text("cell:head")).to_contain_text("Query 15, key 10")
    tab.go(f"{PAGE}?part=memory", "segments", "repeats")
    tab.drag("index", 0.4, 1.0, 6)
    expect(tab.text("caption")).to_contain_text("Index 5 stands in both segments, 8 and 0")


def test_the_shift_plays_and_distances_follow(tab: Visit) -> None:
    page = tab.go(f"{PAGE}?part=shift", "shifting", "steps")
    tab.drag("step", 0.0, 1.0, 6)
    expect(tab.text("caption")).to_contain_text("9 of the 9 cells")
    page.wait_for_url("**step=4")  # the handle rests
    page.locator('.pv-xl-steps [data-set="step=2"]').click()
    expect(tab.text("caption")).to_contain_text("read on in rows of 3")
    page.locator('[data-name="step"] .pv-play').click()
    expect(tab.text("caption")).to_contain_text("The first 3 cells are gone", timeout=8000)
    tab.go(f"{PAGE}?part=distance", "curves", "R")
    for name, start, end, key, told in (
        ("distance", 0.1, 1.0, "curves:head", "at distance 255: b"),
        ("clamp_len", 0.7, 0.0, "caption", "Distance 255 counts as 1,"),
        ("v", 0.6, 0.5, "curves:head", "d 0.00"),
        ("dimension", 0.1, 1.0, "entry", "cos"),
    ):
        tab.drag(name, start, end, 6)
        expect(tab.text(key)).to_contain_text(told)


def test_it_fits_a_phone_in_the_dark(dark_tab: Visit) -> None:
    dark_tab.page.set_viewport_size(NARROW)
    for part, key in (("terms", "cell"), ("memory", "segments"), ("shift", "steps")):
        dark_tab.go(f"{PAGE}?part={part}", key)
        dark_tab.fits()
