"""The door for words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from posviz.params import InvalidParameterError, Said
from posviz.ui import text
from tests.server import ROOT


def test_a_section_is_found_by_its_title() -> None:
    assert text.section("playground", "What am I looking at?").startswith("**Rotations.**")


def test_a_missing_section_is_an_error_that_names_the_file() -> None:
    with pytest.raises(LookupError, match=r"content/en/playground.md has no section 'Nothing'"):
        text.section("playground", "Nothing")


def test_a_complaint_reads_like_its_error() -> None:
    problem = InvalidParameterError("{name} must be even, got {got}", name="head_dim", got=7)
    assert text.complaint(problem) == str(problem) == "head_dim must be even, got 7"


def test_every_section_that_a_page_names_exists() -> None:
    for page in (ROOT / "pages").glob("*/*.py"):
        for name, title in re.findall(r'section\("(\w+)", "([^"]+)"\)', page.read_text()):
            assert text.section(name, title)


@pytest.fixture
def chinese() -> Iterator[None]:
    text.speak("zh")
    yield
    text.speak("en")


def test_words_are_those_of_the_language_that_is_spoken(chinese: None) -> None:
    assert text.say("Position") == "位置"
    assert text.say("{count} tokens", count=3) == "3 个词元"
    assert text.say(Said("Llama-2-7b")) == "Llama-2-7b"
    text.speak("en")
    assert text.say("{count} tokens", count=3) == "3 tokens"


def test_a_section_is_asked_for_by_its_english_title_in_every_language(chinese: None) -> None:
    asked = "What am I looking at?"
    told = text.section("playground", asked)
    assert text.title("playground", asked) != asked
    text.speak("en")
    assert told != text.section("playground", asked)


@pytest.mark.parametrize(
    ("locales", "code"),
    [("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("fr, en-GB;q=0.5", "en"), ("zh-TW", "zh"), ("", "en")],
)
def test_a_browser_is_answered_in_the_first_language_that_is_there(locales: str, code: str) -> None:
    assert text.preferred(locales) == code


def test_what_was_returned_in_one_language_is_not_returned_in_another(chinese: None) -> None:
    told = text.by_language(lambda count: text.say("{count} tokens", count=count))
    assert told(3) == told(3) == "3 个词元"
    text.speak("en")
    assert told(3) == "3 tokens"
