"""Access in a browser: axe-core, keys, forced colours, less motion, zoom, present mode's colours.

``make access`` looks at every page and part; here are one page of each kind.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from posviz.figures import style
from tests.access import PHONE, SERIOUS, WIDE, ZOOMED, findings, layout, open_page
from tests.e2e.conftest import Visit, visit

pytestmark = pytest.mark.e2e


def seen(page: Page, at: str, selector: str, name: str) -> str:
    """A computed style of the first element that fits."""
    found: str = page.locator(selector).first.evaluate(
        "(element, name) => getComputedStyle(element)[name]", name
    )
    return found


@pytest.mark.parametrize(
    ("at", "context"),
    [
        ("/playground", {"viewport": WIDE}),
        ("/doctor", {"viewport": WIDE, "color_scheme": "dark"}),  # code, a file
        ("/order?lang=zh", {"viewport": PHONE}),  # what is dragged
        ("/lab?present=1", {"viewport": WIDE, "color_scheme": "dark"}),
    ],
)
def test_axe_finds_nothing_serious(
    browser: Browser, address: str, at: str, context: dict[str, object]
) -> None:
    opened = browser.new_context(**context)  # type: ignore[arg-type]
    page = opened.new_page()
    open_page(page, address + at)
    found = [said for impact, said in findings(page) if impact in SERIOUS]
    opened.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("at", ["/playground", "/scaling", "/transformer_xl"])
def test_zoomed_to_200_percent_all_fits_and_the_pictures_have_half(
    browser: Browser, address: str, at: str
) -> None:
    opened = browser.new_context(viewport=ZOOMED, device_scale_factor=2)  # type: ignore[arg-type]
    page = opened.new_page()
    open_page(page, address + at)
    found = layout(page)
    opened.close()
    assert not found


def test_the_first_tab_leads_past_the_header(tab: Visit) -> None:
    page = tab.go("/playground", "attention")
    page.keyboard.press("Tab")
    skip = page.locator(".pv-skip")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(tab.handle("position")).to_be_focused()
    expect(skip).not_to_be_in_viewport()


def test_a_handle_says_its_name_its_value_and_its_unit(tab: Visit) -> None:
    page = tab.go("/playground", "attention")
    handle = page.get_by_role("slider", name="Position")
    expect(handle).to_have_attribute("aria-valuetext", "1,024 tokens")
    handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "1,025 tokens")
    assert seen(page, "", ".pv-slider input[type=range]:focus-visible", "outlineStyle") == "solid"
    expect(page.get_by_role("heading", level=1)).to_have_text("Playground")
    expect(page.get_by_role("heading", name="Attention by distance", level=2)).to_have_count(1)


def test_words_are_dragged_into_another_order_by_keys(tab: Visit) -> None:
    page = tab.go("/order")
    first = page.locator("[data-item]").first
    word = first.get_attribute("data-item")
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-item]").nth(1)).to_have_attribute("data-item", str(word))
    expect(page.locator(f'[data-item="{word}"]')).to_be_focused()


def test_where_the_system_chooses_the_colours_handles_and_choices_are_seen(
    browser: Browser, address: str
) -> None:
    for tab in visit(browser, address, forced_colors="active"):
        page = tab.go("/playground", "attention")
        lines = page.locator('[data-key="attention"] .js-line').evaluate_all(
            "(lines) => new Set(lines.map((line) => getComputedStyle(line).stroke)).size"
        )
        assert lines == 4  # as many as there are curves: none has the system's
        chosen = '.stButtonGroup button:is([kind$="Active"], [aria-checked="true"])'
        assert seen(page, "", chosen, "outlineStyle") == "solid"
        assert seen(page, "", ".pv-slider input[type=range]", "forcedColorAdjust") == "none"
        assert seen(page, "", '[data-set][aria-pressed="true"]', "outlineStyle") == "solid"


def test_whoever_asked_for_less_motion_gets_none(browser: Browser, address: str) -> None:
    for tab in visit(browser, address, reduced_motion="reduce"):
        page = tab.go("/playground", "attention")
        moving = page.evaluate(
            "[...document.querySelectorAll('.stMain *')].filter((one) => "
            "!/^(none|all)?$/.test(getComputedStyle(one).transitionProperty) || "
            "getComputedStyle(one).animationName !== 'none').length"
        )
        assert moving == 0


def test_an_audience_sees_stronger_colours_and_a_reader_his_own_again(tab: Visit) -> None:
    def strokes() -> list[str]:
        found: list[str] = page.locator('[data-key="attention"] .js-line').evaluate_all(
            "(lines) => lines.map((line) => getComputedStyle(line).stroke)"
        )
        return found

    def rgb(shade: str) -> str:
        return f"rgb({', '.join(str(int(shade[at : at + 2], 16)) for at in (1, 3, 5))})"

    page = tab.go("/playground?present=1", "attention")
    page.wait_for_function("document.documentElement.hasAttribute('data-pv-present')")
    own, strong = rgb(style.COLOURS["rope"][0]), rgb(style.strong(0)["rope"])
    page.wait_for_timeout(400)
    assert strong in strokes()
    assert own not in strokes()
    page.keyboard.press("Escape")
    page.wait_for_function("!document.documentElement.hasAttribute('data-pv-present')")
    page.wait_for_timeout(400)
    assert own in strokes()
    assert strong not in strokes()
