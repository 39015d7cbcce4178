"""The picker in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_the_answer_follows_a_drag_a_row_can_be_tried_and_a_config_taken(tab: Visit) -> None:
    page = tab.go("/picker?training_tokens=0&target=32768&part=rules", "rules")
    tab.fits()
    page.get_by_role("button", name="Show a case for row 37", exact=True).click()
    expect(tab.text("told")).to_contain_text("by row 37 of")
    page.get_by_role("radio", name="Answer").click()
    verdict = tab.text("picked")
    expect(verdict).to_contain_text("weak; no table reaches so far")
    tab.drag("training_tokens", 0.0, 0.6, steps=6)
    expect(verdict).to_contain_text("tables on record reach 32×")
    page.get_by_role("radio", name="Take away").click()
    expect(page.locator("code").first).to_contain_text('"factor": 16.0')
    with page.expect_download() as download:
        page.get_by_role("button", name="Download config.json").click()
    assert '"rope_type": "yarn"' in download.value.path().read_text()
