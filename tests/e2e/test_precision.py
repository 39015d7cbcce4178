"""Rounded positions in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_positions_collide_under_a_drag_and_angles_follow(tab: Visit) -> None:
    page = tab.go("/precision?position=257&around=8&distance=1", "table", "caption", "distinct")
    expect(tab.text("caption")).to_contain_text("bfloat16 holds 256–257 all as 256.")
    page.locator('[data-set="position=258"]').click()
    expect(tab.text("caption")).to_contain_text("holds 258 exactly")
    tab.drag("position", 0.32, 1.0, steps=8)
    expect(tab.text("verdict")).to_contain_text("tokens stand on the same place: 33,554,432.")
    page.get_by_role("radio", name="Angles").click()
    page.wait_for_selector('[data-key="by_pair"] .js-line', state="attached")
    expect(tab.text("hands")).to_contain_text("position 131,071, pair 0")  # the last one there
    page.locator('[data-set="held=tables"]').click()
    expect(tab.text("verdict")).to_contain_text("Harmless")
    tab.drag("pair", 0.0, 1.0, steps=6)
    expect(tab.text("hands")).to_contain_text("pair 63")
    tab.fits()
