"""RoPE's page in a browser: every part follows its handles, and the map moves both tokens."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e

# Part: its segment, the handle that is dragged, from where to where, and who then says what.
DRAGS = (
    ("Pair", "q_position", 0.3, 1.0, "caption", "m − n = 55"),
    ("Matrix", "k_position", 0.13, 1.0, "lamps", "R(63) R(63) = R(126)"),
    ("Pairings", "distance", 0.12, 1.0, "mixup:head", "at 256:"),
    ("Decay", "peak", 0.3, 1.0, "caption", "exactly 1,024 tokens back"),
    ("QK-norm", "spread", 0.7, 0.0, "caption", "can change places: largest difference"),
    ("Decoupled", "num_heads", 1.0, 0.0, "caption", "576 numbers instead of 256"),
    ("Partial", "partial_rotary_factor", 0.4, 1.0, "caption", "All 80 dimensions rotate"),
    ("Cache", "cached", 0.6, 1.0, "keys", "query at 15"),
)


def test_every_part_follows_a_drag(tab: Visit) -> None:
    page = tab.go("/rope", "dial", "map")
    for segment, handle, start, end, key, told in DRAGS:
        page.get_by_role("radio", name=segment, exact=True).or_(
            page.get_by_role("button", name=segment, exact=True)
        ).first.click()
        expect(tab.handle(handle)).to_be_visible()
        expect(tab.text(key)).not_to_contain_text(told)
        tab.drag(handle, start, end, steps=3)
        expect(tab.text(key)).to_contain_text(told)
        box = tab.text(key).bounding_box()
        assert box, key
        assert box["y"] + box["height"] <= 900, "in view while one drags"
    page.wait_for_function("/part=cache.*cached=16/.test(location.search)")


def test_a_drag_along_the_map_s_diagonal_turns_the_arrows_and_keeps_the_score(tab: Visit) -> None:
    page = tab.go("/rope?q_position=30&k_position=10&shift=5", "dial", "map")
    plot = page.locator('[data-key="map"] .pv-heat-plot').bounding_box()
    assert plot
    cell = plot["width"] / 64

    def at(m: int, n: int) -> tuple[float, float]:
        return plot["x"] + (n + 0.5) * cell, plot["y"] + (m + 0.5) * cell

    score = tab.text("lamps").locator("dd").first
    before = score.inner_text()
    arrows = page.locator('[data-key="dial"] .pv-rope-arrow').first.get_attribute("transform")
    page.mouse.move(*at(30, 10))
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(*at(30 + 4 * step, 10 + 4 * step))
        page.wait_for_timeout(30)
    page.mouse.up()
    expect(tab.text("lamps")).to_contain_text("m = 50, n = 30")
    assert score.inner_text() == before
    moved = page.locator('[data-key="dial"] .pv-rope-arrow').first.get_attribute("transform")
    assert moved != arrows
    page.wait_for_function("/q_position=50.*k_position=30/.test(location.search)")
    page.locator('[data-key="pairs"] button').nth(5).click()
    expect(tab.text("dial:head")).to_contain_text("Pair 5")
    page.keyboard.press("ArrowRight")
    expect(tab.text("dial:head")).to_contain_text("Pair 6")
