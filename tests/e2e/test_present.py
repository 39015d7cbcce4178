"""Present mode, playing, predicting, languages: what stands around every page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_a_page_is_presented_and_steered_by_keys(tab: Visit) -> None:
    page = tab.go("/rope?part=decay&present=1", "scores", "bound")
    expect(page.locator(".stAppHeader")).to_be_hidden()
    expect(tab.handle("peak")).to_be_focused()
    page.keyboard.press("1")
    page.wait_for_url(re.compile("figures=scores"))
    expect(page.locator('[data-key="bound"]')).to_have_count(0)
    # The type is half as large again, and nothing has to be scrolled to.
    zoom = "Number(getComputedStyle(document.documentElement).getPropertyValue('--pv-zoom'))"
    page.wait_for_function(f"{zoom} === 1.5")
    assert page.evaluate("document.querySelector('.stMain').scrollHeight <= innerHeight")
    tall = page.locator('[data-key="scores"]').bounding_box()
    assert tall and tall["height"] > 400
    before = tab.handle("peak").get_attribute("aria-valuetext")
    tab.handle("peak").focus()
    page.keyboard.press(" ")
    expect(tab.handle("peak")).not_to_have_attribute("aria-valuetext", str(before))
    page.keyboard.press(" ")
    tab.still()  # where it stopped is told
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("0")
    expect(page.locator('[data-key="bound"]')).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".stAppHeader")).to_be_visible()
    assert "present" not in page.url


def test_a_curve_is_guessed_and_a_language_chosen(tab: Visit) -> None:
    page = tab.go("/rope?part=decay", "scores", "bound")
    chart = page.locator('[data-key="bound"]')
    chart.hover()
    page.locator('[data-key="bound"] + .pv-save').get_by_text("Predict").click()
    expect(chart.locator(".scatterlayer")).to_have_css("visibility", "hidden")
    box = chart.bounding_box()
    assert box
    page.mouse.move(box["x"] + 70, box["y"] + 120)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 120, steps=4)
    page.mouse.up()
    page.get_by_role("button", name="Reveal").click()
    expect(chart.locator(".pv-guess-bar")).to_contain_text(re.compile(r"off by ×[\d.]+ on average"))
    expect(chart.locator(".scatterlayer")).to_have_css("visibility", "visible")
    page.evaluate("window.here = true")
    page.locator(".pv-frame a[lang=zh]").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(tab.text("scores:head")).to_contain_text("各距离的分数")
    expect(page.locator(".stAppHeader")).to_contain_text("编码")
    assert "lang=zh" in page.url and "part=decay" in page.url
    tab.drag("rope_theta", 0.4, 0.6)  # the live route answers in the language too
    expect(tab.text("caption")).to_contain_text("分数从")
    page.locator(".pv-see a").first.click()
    page.wait_for_url(re.compile("playground"))
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    assert page.evaluate("window.here")  # the same document, and the same session
    page.go_back()
    page.wait_for_url(re.compile("part=decay"))
    expect(page.locator('[data-key="bound"]')).to_be_visible()
