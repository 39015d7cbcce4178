"""The pitfalls in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visit

pytestmark = pytest.mark.e2e


def test_a_drag_meets_the_mistake_and_a_real_model_answers(tab: Visit) -> None:
    tab.go("/pitfalls?pitfall=left_padding&position=511", "scores", "map", "real", "glance")
    verdict, caption = tab.text("glance"), tab.text("caption")
    expect(verdict).to_contain_text("Scores agree at every distance")
    tab.press("position", "ArrowRight")  # the first token after the prompt
    expect(verdict).to_contain_text("Scores agree at distance 0 alonediffer at 1")
    expect(caption).to_contain_text("The key 16 tokens back scores 7.02")
    tab.drag("distance", 0.45, 0.0)
    expect(caption).to_contain_text("The key 0 tokens back scores 11.3, and 11.3")
    tab.drag("padding", 0.13, 0.0)
    expect(verdict).to_contain_text("Scores agree at every distance")
    expect(tab.text("real:head")).to_contain_text(re.compile(r"2\.\d\d right"), timeout=60_000)
    for key in ("scores", "map", "caption", "why", "real"):
        box = tab.text(key).bounding_box()
        assert box, key
        assert box["y"] + box["height"] <= 900, key
    tab.fits()
