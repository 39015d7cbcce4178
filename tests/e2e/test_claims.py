"""The claims in a browser: answer first, then a handle that decides."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_an_answer_brings_what_decides_and_its_handle_is_live(tab: Visit) -> None:
    page = tab.go("/claims?claim=8&answers=f", "question", "strip", "list")
    expect(page.locator('[data-name="learned_slopes"]')).to_have_count(0)
    page.get_by_role("radio", name="True").click()
    expect(tab.text("question")).to_contain_text("No: false")
    expect(tab.text("verdict")).to_contain_text("The slopes are fixed before training")
    expect(tab.text("score")).to_contain_text("1 of 2 right")
    expect(tab.text("look")).to_contain_text("16 heads: 0 learned by ALiBi, 512 by a T5 bias")
    tab.drag("learned_slopes", 0.06, 1.0)
    expect(tab.text("look")).to_contain_text("32 heads: 0 learned by ALiBi, 1,024 by a T5 bias")
    page.wait_for_function("/answers=f------t&learned_slopes=32/.test(location.search)")
    page.get_by_role("button", name="Where it is decided").click()
    expect(tab.text("look")).to_contain_text("16 heads")
    page.get_by_role("button", name="Next claim").click()
    expect(tab.text("question")).to_contain_text("claim 9 of")
    expect(page.locator('[data-key="look"]')).to_have_count(0)
    page.get_by_role("radio", name="It depends").press("Enter")
    expect(tab.text("question")).to_contain_text("Right: it depends")
    page.wait_for_selector('[data-key="evidence-slope_formula"] .js-line', state="attached")
    tab.press("slope_formula", "ArrowRight")
    expect(tab.text("look")).to_contain_text("13 heads: 13 differ")
    tab.fits()
