"""Slow pictures: they arrive by themselves, get better, and never stand in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import visit
from tests.server import posviz

pytestmark = pytest.mark.e2e


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def page(browser: Browser, log: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    with posviz(log, "tests/e2e/measure_app.py") as address:
        for tab in visit(browser, address):
            tab.page.goto(address)
            yield tab.page


def watch(page: Page) -> None:
    """Keeps every text that the slow picture shows."""
    page.evaluate(
        """() => { window.seen = [];
          const host = document.querySelector('[data-key="slow"]');
          new MutationObserver(() => window.seen.push(host.textContent))
            .observe(host, { childList: true, characterData: true, subtree: true }); }"""
    )


def handle_box(page: Page) -> tuple[float, float, float]:
    box = page.locator('[data-name="size"] input[type=range]').bounding_box()
    assert box
    return box["x"], box["width"], box["y"] + box["height"] / 2


def test_a_measurement_arrives_gets_better_and_outlasts_streamlit_s_run(page: Page) -> None:
    slow = page.locator('[data-key="slow"]')
    expect(slow).to_have_text("measured 10, 4 of 4")
    watch(page)
    page.locator('[data-name="size"] input[type=range]').focus()
    page.keyboard.press("ArrowRight")
    expect(slow).to_have_text("measured 11, 4 of 4")
    expect(page.get_by_text("streamlit 11")).to_be_visible()
    page.wait_for_timeout(500)
    seen = page.evaluate("seen")
    assert seen[0] == "waiting 11"
    assert [text for text in seen[1:] if "waiting" in text] == []  # no step back
    assert seen[-4:] == [f"measured 11, {step} of 4" for step in range(1, 5)]


@pytest.mark.paced
def test_what_is_outdated_is_dropped_and_a_drag_is_not_held_up(page: Page, log: Path) -> None:
    expect(page.locator('[data-key="slow"]')).to_have_text("measured 10, 4 of 4")
    page.evaluate(
        """() => { window.changes = 0;
          const host = document.querySelector('[data-key="fast"]');
          new MutationObserver(() => window.changes++).observe(host, { childList: true }); }"""
    )
    watch(page)
    left, width, y = handle_box(page)
    page.mouse.move(left + 0.2 * width, y)
    page.mouse.down()
    for step in range(45):
        page.mouse.move(left + (0.2 + step / 100) * width, y)
        page.wait_for_timeout(300 if step in (15, 30) else 25)  # rests twice: it begins to measure
    assert page.evaluate("changes") >= 20
    page.mouse.up()
    value = page.locator('[data-name="size"] .pv-value input').input_value()
    expect(page.locator('[data-key="slow"]')).to_have_text(f"measured {value}, 4 of 4")
    seen = page.evaluate("seen")
    begun = [line for line in log.read_text().splitlines() if line.startswith("measured")]
    whole = [line for line in begun if line.endswith(" 4")]
    assert whole[-1] == f"measured {value} 4"
    assert len(whole) == 2, "only the first setting and the last one are measured to the end"
    shown = [text for text in seen if text.startswith("measured")]
    assert all(text.startswith(f"measured {value},") for text in shown)


def test_a_measurement_that_fails_leaves_the_page_as_it_is(page: Page, log: Path) -> None:
    slow = page.locator('[data-key="slow"]')
    expect(slow).to_have_text("measured 10, 4 of 4")
    page.locator('[data-name="size"] input[type=range]').focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(slow).to_have_text("measured 13, 1 of 4")
    page.wait_for_timeout(600)
    assert "a measurement that fails" in log.read_text()
    page.keyboard.press("ArrowRight")
    expect(slow).to_have_text("measured 14, 4 of 4")
