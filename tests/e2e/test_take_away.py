"""A picture leaves the page as Python, shown in a window and saved, and as a table."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect

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


def test_a_page_of_another_site_shows_the_view_in_a_frame_without_storage(
    tab: Visit, tmp_path: Path
) -> None:
    page = tab.go("/rope?part=decay", "scores", "caption")
    page.evaluate("navigator.clipboard.writeText = async (text) => (window.copied = text)")
    page.get_by_role("button", name="Embed", exact=True).click()
    code = page.wait_for_function("window.copied").json_value()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    (tmp_path / "lecture.html").write_text(code)
    page.goto((tmp_path / "lecture.html").as_uri())
    frame = page.frame_locator("iframe")
    peak = frame.locator('.pv-slider[data-name="peak"] input[type=range]')
    peak.press("ArrowRight")
    expect(frame.locator('[data-key="scores"]')).to_contain_text("aimed at 301")
    with pytest.raises(Error, match="denied"):
        page.frames[1].evaluate("sessionStorage")
    expect(frame.locator("header")).to_be_hidden()
    # Streamlit is told where its server is; only a host that it must ask about is asked for.
    assert not [url for url in asked if "/rope/" in url]
