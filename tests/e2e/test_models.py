"""The released models in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_the_gallery_follows_the_typing_and_the_handles_move_the_model(tab: Visit) -> None:
    page = tab.go("/models?model=Phi-3.5-mini-instruct&seq_len=4096", "gallery", "spectrum")
    expect(tab.text("facts")).to_contain_text("of these at unseen angles at n0")
    expect(tab.text("facts")).to_contain_text("4.26594×10−5")  # the short list's last pair
    tab.drag("seq_len", 0.5, 0.75)
    expect(tab.text("facts")).to_contain_text("1.86849×10−6")  # the long list's
    tab.drag("pair", 34 / 47, 1.0)
    expect(tab.text("facts")).to_contain_text("tokens a turn of pair 47")
    page.locator("#pv-find").press_sequentially("llama 3.1")
    expect(tab.text("found")).to_contain_text("2 of 84 models")
    page.locator(".pv-models-row", has_text="Llama-3.1-70B").click()
    expect(tab.text("title")).to_contain_text("Llama-3.1-70B")
    page.locator(".pv-models-beside").first.click()
    expect(tab.text("differences")).to_contain_text("treat positions alike")
    page.wait_for_function("/beside=Llama-3.1-8B-Instruct/.test(location.search)")
    page.wait_for_function("/model=Llama-3.1-70B/.test(location.search)")


def test_choosing_leaves_the_list_where_it_is_and_changes_what_is_drawn(tab: Visit) -> None:
    page = tab.go("/models", "gallery", "spectrum")
    page.locator(".pv-models-row", has_text="gpt2").scroll_into_view_if_needed()
    before = page.locator(".st-key-pv-models").evaluate("box => box.scrollTop")
    assert before > 1000
    page.locator(".pv-models-row", has_text="gpt2").click()
    expect(tab.text("instead")).to_contain_text("A learned table has one row per position")
    assert page.locator(".st-key-pv-models").evaluate("box => box.scrollTop") == before
    page.locator(".pv-models-row", has_text="t5-small").click()
    expect(tab.text("caption")).to_contain_text("bucket 31 of the decoder")
    # Two of its pictures are alike, here both empty: one is not asked for again and again.
    page.wait_for_function("/model=t5-small/.test(location.search)")
