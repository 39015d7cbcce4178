"""A picture leaves the page as Python, shown in a window and saved, and as a table."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import NARROW, Visit

pytestmark = pytest.mark.e2e


def test_the_script_of_the_state_is_shown_and_saved_and_its_window_fits_and_closes(
    tab: Visit,
) -> None:
    page = tab.go("/rope?part=decay", "scores", "caption")
    tab.press("peak", "ArrowRight")
    page.locator('[data-key="scores"]').hover()
    page.locator('[data-key="scores"] ~ .pv-save').get_by_role("button", name="Python").click()
    window = page.locator("dialog.pv-take")
    expect(window).to_be_visible()
    told = window.locator("code").text_content() or ""
    ast.parse(told)
    assert "301" in told
    with page.expect_download() as saved:
        window.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "posviz_rope_scores.py"
    assert Path(saved.value.path()).read_text() == told
    page.set_viewport_size(NARROW)
    box = window.bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= NARROW["width"]
    tab.fits()
    page.keyboard.press("Escape")
    page.locator('[data-key="scores"]').hover()
    with page.expect_download() as saved:
        page.locator('[data-key="scores"] ~ .pv-save').get_by_role("button", name="CSV").click()
    rows = list(csv.reader(Path(saved.value.path()).read_text("utf-8-sig").splitlines()))
    names = ["random (1)", "random (2)", "random (3)", "key aimed", "q = k"]
    assert [*dict.fromkeys(row[0] for row in rows[1:])] == names
    at_zero = [float(row[2]) for row in rows if row[0] == "q = k" and row[1] == "0"]
    assert at_zero == [pytest.approx(128**0.5, rel=1e-6)]
    expect(window).to_have_count(0)
    expect(page.locator('[data-key="caption"] ~ .pv-save button:visible')).to_have_count(0)
