"""The live components in an ordinary fragment, without a view and its route."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import visit
from tests.server import posviz

pytestmark = pytest.mark.e2e


@pytest.fixture
def page(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with posviz(tmp_path / "log", "tests/e2e/fragment_app.py") as address:
        for tab in visit(browser, address):
            tab.page.goto(address)
            tab.page.wait_for_selector('[data-key="wave"] .point', state="attached")
            yield tab.page


@pytest.mark.paced
def test_pictures_and_text_follow_a_handle_through_streamlit_alone(page: Page) -> None:
    handle = page.locator('[data-name="speed"] input[type=range]')
    box = handle.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], y)
    page.mouse.down()
    page.evaluate(
        """() => { window.changes = 0;
          const host = document.querySelector('[data-key="line"]');
          new MutationObserver(() => window.changes++).observe(host, { childList: true }); }"""
    )
    for step in range(60):  # 2 s
        page.mouse.move(box["x"] + (0.2 + step / 100) * box["width"], y)
        page.wait_for_timeout(1000 / 30)
    assert page.evaluate("changes") >= 10  # while the handle is still held
    page.mouse.up()
    value = page.locator('[data-name="speed"] .pv-value input').input_value()
    expect(page.get_by_text(f"speed {value}, turn 1.00")).to_be_visible()
    expect(page.locator('[data-key="line"] line')).to_have_attribute("x2", value)


def test_the_chart_shows_the_value_that_stays_and_another_handle_keeps_its_own(page: Page) -> None:
    turn = page.locator('[data-name="turn"] input[type=range]')
    page.locator('[data-name="speed"] input[type=range]').focus()
    page.keyboard.press("End")
    expect(page.get_by_text("speed 400, turn 1.00")).to_be_visible()
    turn.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_text("speed 400, turn 1.03")).to_be_visible()
    page.wait_for_timeout(400)
    expect(page.locator('[data-key="wave"]')).not_to_have_class(re.compile("is-quick"))
    first = page.evaluate("document.querySelector('[data-key=\"wave\"]')._fullData[0].y[0]")
    assert first == pytest.approx(0.857299, abs=1e-5)  # sin 1.03
