"""Text alternatives: whoever does not see a picture hears the numbers that it shows."""

from __future__ import annotations

import re

import pytest

from tests.figures.test_style import drawn
from tests.ui.views import PAGES

# A picture that is still measured, or has nothing to show, says so.
NO_NUMBERS = re.compile("measuring…|No table on record|all scores are equal")


@pytest.mark.parametrize("page", PAGES)
def test_every_picture_has_words_with_numbers(page: str) -> None:
    for where, slot in drawn(page):
        if "figure" in slot:
            told = [str(slot["alt"])]
        else:
            markup = slot["markup"]
            pictures = re.findall(r'<\w+[^>]*role="(?:img|figure)"[^>]*>', markup)
            told = [label for one in pictures for label in re.findall(r'aria-label="([^"]*)"', one)]
            assert len(told) == len(pictures), f"{where}: a picture without a name"
            assert markup.count("<canvas") <= len(pictures), f"{where}: a canvas without a name"
        for label in told:
            assert re.search(r"\d", label) or NO_NUMBERS.search(label), f"{where}: {label}"


@pytest.mark.parametrize("page", PAGES)
def test_a_drawing_is_a_picture_or_beside_words_that_say_it(page: str) -> None:
    for where, slot in drawn(page):
        outside = re.sub(
            r'<(\w+)[^>]*(?:role="img"|aria-hidden="true")[^>]*>.*?</\1>', "",
            slot.get("markup", ""), flags=re.DOTALL,
        )  # fmt: skip
        assert "<svg" not in outside, where
