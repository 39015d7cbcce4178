"""Rounded positions in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e

# Labels on the ruler that are in sight and wider than their boxes, and how many are in sight.
LABELS = """() => {
  const seen = [...document.querySelectorAll(".pv-precision-row em")].map((label) =>
    [label.getBoundingClientRect(), label.parentElement.getBoundingClientRect()],
  ).filter(([label, box]) => label.width && label.top < box.bottom);
  return [seen.filter(([label, box]) => label.width > box.width).length, seen.length];
}"""


def test_positions_collide_under_a_drag_and_angles_follow(tab: Visit) -> None:
    page = tab.go("/precision?position=257&around=8&distance=1", "table", "caption", "distinct")
    expect(tab.text("caption")).to_contain_text("bfloat16 holds 256–257 all as 256.")
    page.locator('[data-set="position=258"]').click()
    expect(tab.text("caption")).to_contain_text("holds 258 exactly")
    assert page.evaluate(LABELS) == [0, 17 + 12 + 17]  # 250 to 266; no 257 nor other odd ones
    tab.drag("position", 0.32, 1.0, steps=8)
    expect(tab.text("verdict")).to_contain_text("tokens stand on the same place: 33,554,432.")
    tab.drag("around", 4 / 60, 1.0, steps=6)
    expect(page.locator(".is-tokens i")).to_have_count(129)
    wide, seen = page.evaluate(LABELS)
    assert (wide, seen) == (0, 2)  # bfloat16's one number, and what float16 lacks
    page.get_by_role("radio", name="Angles").click()
    page.wait_for_selector('[data-key="by_pair"] .js-line', state="attached")
    expect(tab.text("hands")).to_contain_text("position 33,554,432, pair 0")
    page.locator('[data-set="held=tables"]').click()
    expect(tab.text("verdict")).to_contain_text("Harmless")
    tab.drag("pair", 0.0, 1.0, steps=6)
    expect(tab.text("hands")).to_contain_text("pair 63")
    tab.fits()
