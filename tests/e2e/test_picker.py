"""The picker in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_the_answer_follows_a_drag_a_row_can_be_tried_and_a_config_taken(tab: Visit) -> None:
    page = tab.go("/picker?training_tokens=0", "picked", "ours", "theirs", "evidence")
    verdict = tab.text("picked")
    expect(verdict).to_contain_text("YaRN, factor 16")
    expect(verdict).to_contain_text("weak")
    tab.drag("training_tokens", 0.0, 0.6)
    expect(verdict).to_contain_text("up to 32× published")
    tab.press("target", "End")
    expect(verdict).to_contain_text("No encoding will do")
    expect(tab.text("told")).to_contain_text("16,777,216 tokens are 2,048 times")
    page.get_by_role("radio", name="The rules").click()
    page.get_by_role("button", name="Show a case for row 27", exact=True).click()
    expect(tab.text("told")).to_contain_text("Row 27 of")
    page.get_by_role("radio", name="Take away").click()
    expect(page.locator("code").first).to_contain_text('"factor": 4.0')
    with page.expect_download() as download:
        page.get_by_role("button", name="config.json").click()
    assert '"rope_type": "yarn"' in download.value.path().read_text()
    tab.fits()
