"""The page of scaling methods in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def file_of(tab: Visit, picture: str, kind: str) -> bytes:
    """What the button of a drawing saves."""
    tab.text(picture).hover()
    with tab.page.expect_download() as download:
        tab.text(picture).locator("xpath=..").get_by_role("button", name=kind).click()
    assert download.value.suggested_filename == f"posviz_scaling_{picture}.{kind.lower()}"
    return download.value.path().read_bytes()


def test_spectrum_and_angles_follow_a_drag(tab: Visit) -> None:
    page = tab.go("/scaling", "spectrum", "ratios", "ramps", "table", "strip")
    expect(tab.text("caption")).to_contain_text("keeps 29 of 64 pairs, stretches 29")
    tab.drag("factor", 0.5, 0.0, steps=6)
    expect(tab.text("table")).to_contain_text("8,192")
    expect(tab.text("caption")).to_contain_text("keeps 64 of 64 pairs")
    tab.drag("factor", 0.0, 1.0, steps=6)
    expect(tab.text("ratios:head")).to_contain_text("pair 35 × 64")
    page.wait_for_function("location.search.includes('factor=64')")
    page.locator('[data-set="pinned=yarn"]').click()
    expect(tab.text("caption")).to_contain_text("so scores by 2.0047")
    tab.drag("beta_fast", 0.8, 1.0, steps=6)
    expect(tab.text("ramps:head")).to_contain_text("from pair 14 to 35")
    tab.drag("pair", 35 / 63, 1.0, steps=6)
    expect(tab.text("ratios:head")).to_contain_text("pair 63 × 64")
    for key in ("spectrum", "ratios", "ramps", "caption"):
        box = page.locator(f'[data-key="{key}"]').bounding_box()
        assert box, key
        assert box["y"] + box["height"] <= 900, key
    tab.go("/scaling?part=angles&pinned=ntk", "maps", "shares")
    expect(tab.text("maps")).to_contain_text("NTK: 28 pairs leave")
    saved = {kind: file_of(tab, "maps", kind) for kind in ("SVG", "PNG")}
    svg = saved["SVG"].decode()
    assert all(part in svg for part in ("Angles needed", "NTK: 28 pairs leave", "data:image/png"))
    assert saved["PNG"].startswith(b"\x89PNG")
    assert int.from_bytes(saved["PNG"][16:20], "big") >= 1600  # pixels across
    tab.drag("seq_len", 0.72, 0.0, steps=6)
    expect(tab.text("maps")).to_contain_text("NTK: 0 pairs leave")


def test_cache_and_units_follow_a_drag(tab: Visit) -> None:
    page = tab.go("/scaling?part=cache&model=Phi-3.5-mini-instruct", "timeline", "scores", "errors")
    expect(tab.text("timeline:head")).to_contain_text("short list for the first key")
    tab.drag("prompt", 0.85, 1.0, steps=6)
    expect(tab.text("timeline:head")).to_contain_text("long list for the first key")
    expect(tab.text("caption")).to_contain_text("no score is off")
    tab.go("/scaling?part=units", "knobs", "products")
    tab.drag("value", 1 / 3, 0.0, steps=6)
    expect(tab.text("caption")).to_contain_text("Alpha 1 reads 1.00 times")
    page.wait_for_function("location.search.includes('value=1')")
    page.locator('[data-set^="unit=--rope-freq-scale"]').click()
    expect(tab.text("caption")).to_contain_text("Slows every pair 1 times")
    tab.drag("value", 1.0, 0.0, steps=6)
    expect(tab.text("caption")).to_contain_text("the slowest pair turns 8 × 64 = 512 times slower")
