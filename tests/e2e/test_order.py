"""Why order matters, in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from posviz import order
from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e

KEYS = ("orders", "verdict", "written", "reordered", "outputs")


def residual(weight: float, seed: int) -> str:
    """What the page says of its first sentence under sinusoidal positions."""
    x = order.content(["I", "hit", "him"])
    return f"{order.compare(x, (2, 1, 0), 'sinusoidal', weight, seed).residual:.4g}"


def test_the_weight_breaks_it_and_a_token_is_followed(tab: Visit) -> None:
    page = tab.go("/order?encoding=sinusoidal&weight=0", *KEYS)
    expect(tab.text("verdict")).to_contain_text("Equivariant")
    for key in KEYS:
        box = tab.text(key).bounding_box()
        assert box, key
        assert box["x"] + box["width"] <= 1440, key
        assert box["y"] + box["height"] <= 900, key
    tab.drag("weight", 0.0, 0.5)
    expect(tab.text("verdict")).to_contain_text("Broken")
    expect(tab.text("verdict")).to_contain_text(residual(weight=1.0, seed=0))
    page.wait_for_function("/weight/.test(location.search) === false")  # 1 is the default
    tab.drag("seed", 0.0, 1.0, steps=6)
    expect(tab.text("verdict")).to_contain_text(residual(weight=1.0, seed=99))
    tab.text("reordered").get_by_role("button", name="him").click()
    expect(tab.text("looks")).to_contain_text("“him”")
    expect(tab.text("written").locator("tr.is-chosen")).to_contain_text("him")
    page.wait_for_function("/token=2/.test(location.search)")


def test_words_are_dragged_moved_by_keys_and_typed(tab: Visit) -> None:
    page = tab.go("/order", *KEYS)
    words = tab.text("orders").locator("[data-item]")
    expect(words).to_have_text(["him", "hit", "I"])
    first, last = (words.nth(n).bounding_box() for n in (0, 2))
    assert first
    assert last
    page.mouse.move(first["x"] + 20, first["y"] + 15)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(first["x"] + 20 + (last["x"] - first["x"]) * step / 8, first["y"] + 15)
        page.wait_for_timeout(30)
    page.mouse.up()
    expect(words).to_have_text(["hit", "I", "him"])
    expect(tab.text("reordered").locator("tbody button")).to_have_text(["hit", "I", "him"])
    page.wait_for_function("/order=1-0-2/.test(location.search)")
    words.nth(1).press("ArrowLeft")
    expect(words).to_have_text(["I", "hit", "him"])
    expect(tab.text("verdict")).to_contain_text("Nothing has moved")
    page.locator("#pv-text").fill("我打他。")
    expect(words).to_have_text(["他", "打", "我", "。"])
    expect(tab.text("verdict")).to_contain_text("Equivariant")
    page.get_by_role("radio", name="causal mask").click()
    expect(tab.text("verdict")).to_contain_text("Broken")
    page.wait_for_function("/encoding=causal/.test(location.search)")
    card = page.locator(".pv-card caption")
    expect(card).to_contain_text("No encoding, four questions")
    page.get_by_role("radio", name="RoPE").click()
    expect(card).to_contain_text("RoPE, four questions")
    tab.text("examples").get_by_role("button", name="dog bites man").click()
    expect(words).to_have_text(["man", "bites", "dog"])
    expect(page.locator("#pv-text")).to_have_value("dog bites man")
