"""The needle page in a browser: links, a drag, cells by mouse and key, and a narrow screen."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Visit, visit

pytestmark = pytest.mark.e2e


def opened(tab: Visit, query: str = "") -> Page:
    tab.page.goto(f"{tab.address}/needle{query}")
    expect(tab.page.locator(".pv-strips li")).to_have_count(9, timeout=60_000)
    return tab.page


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def pressed(page: Page) -> str | None:
    return page.locator('.pv-needle[aria-pressed="true"]').get_attribute("data-set")


def test_a_cold_link_opens_its_cell_and_measures_it(browser: Browser, cold_address: str) -> None:
    for tab in visit(browser, cold_address):
        page = opened(tab, "?rope_type=yarn&cell=3&haystack=2")
        assert pressed(page) == "cell=3"
        expect(page.locator('[data-key="grid:head"]')).to_contain_text("YaRN × 8")
        expect(page.locator('[data-key="near:head"]')).to_contain_text("1,024 tokens, depth 0:")
        expect(page.locator(".pv-needles")).not_to_contain_text("…")
        assert query(page) == {"rope_type": ["yarn"], "cell": ["3"], "haystack": ["2"]}
        expect(page.locator(".pv-haystack mark")).to_have_count(2)


@pytest.mark.paced
def test_a_drag_keeps_the_pictures_moving_and_its_end_is_measured(tab: Visit) -> None:
    page = opened(tab, "?rope_type=ntk")
    page.evaluate(
        """() => { window.seen = new Set();
          const host = document.querySelector('[data-key="grid:head"]');
          new MutationObserver(() => window.seen.add(host.textContent))
            .observe(host, { childList: true, characterData: true, subtree: true }); }"""
    )
    box = page.locator('[data-name="factor"] input[type=range]').bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.74 * box["width"], y)
    page.mouse.down()
    for step in range(30):
        page.mouse.move(box["x"] + (0.74 - step / 100) * box["width"], y)
        page.wait_for_timeout(25)
    assert len(page.evaluate("[...seen]")) >= 12
    assert page.locator(".pv-needle").count() == 25  # a grid stands at every step
    page.mouse.up()
    grid = page.locator(".pv-needles")
    expect(grid).to_contain_text("…")
    expect(grid).not_to_contain_text("…", timeout=60_000)
    expect(page.locator('[data-key="caption"]')).not_to_contain_text("Measuring")
    assert float(query(page)["factor"][0]) < 8
    # Choosing another cell does not measure the grid again.
    page.locator('[data-set="cell=0"]').click()
    expect(page.locator('[data-key="near:head"]')).to_contain_text("128 tokens, depth 0:")
    expect(grid).not_to_contain_text("…")


def test_cells_are_chosen_by_mouse_and_by_key(tab: Visit) -> None:
    page = opened(tab)
    for name, works in (("rope_theta", True), ("factor", False), ("slope_multiplier", False)):
        assert page.locator(f'[data-name="{name}"] input[type=range]').is_enabled() == works
    text = page.locator('[data-key="text"]')
    before = text.inner_text()
    page.locator('[data-set="cell=1"]').click()
    expect(text).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"\?cell=1$"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"\?cell=2$"))
    assert pressed(page) == "cell=2"
    focused = "document.activeElement.getAttribute('data-set')"
    assert page.evaluate(focused) == "cell=2"
    expect(page.locator(".pv-needle[tabindex='-1']")).to_have_count(24)
