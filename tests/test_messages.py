"""Every language has every message and every page of prose."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from string import Formatter
from typing import Any

import pytest
from babel.messages.catalog import Catalog

from tests import messages

every_language = pytest.mark.parametrize("code", messages.languages())
PAGES = sorted(path.name for path in (messages.CONTENT / "en").glob("*.md"))
WORDS = ("title", "about", "says", "question", "options", "then")
LESSONS = sorted(path.name for path in (messages.CONTENT / "en" / "lessons").glob("*.json"))


@pytest.fixture(scope="module")
def read() -> messages.Sources:
    return messages.sources()


@cache
def catalogue(code: str) -> Catalog:
    return messages.catalogue(code)


def translated(code: str) -> Iterator[tuple[str, str]]:
    for message in catalogue(code):
        if message.id and message.string and not message.fuzzy:
            yield message.id, message.string


def test_what_reaches_the_door_is_known_wherever_it_comes_from(read: messages.Sources) -> None:
    assert not read.problems


def test_the_template_is_what_the_sources_say(read: messages.Sources) -> None:
    template = messages.written(messages.template(read))
    assert messages.TEMPLATE.read_bytes() == template, "make messages writes it anew"


@every_language
def test_no_message_is_missing_or_left_from_before(code: str, read: messages.Sources) -> None:
    told = catalogue(code)
    missing = [one for one in read.found if (one not in told) or not told[one].string]
    assert not missing, f"not translated in content/{code}/LC_MESSAGES/posviz.po: {len(missing)}"
    assert not [one.id for one in told if one.fuzzy and one.id]
    assert not told.obsolete
    assert {one.id for one in told if one.id} == set(read.found)


@every_language
def test_the_app_reads_what_the_translators_wrote(code: str) -> None:
    compiled = messages.place(code).with_suffix(".mo").read_bytes()
    assert compiled == messages.compiled(catalogue(code)), "make messages compiles it"


def placeholders(template: str) -> set[str]:
    return {f"{name}!{kind}:{form}" for _, name, form, kind in Formatter().parse(template) if name}


def marks(text: str) -> Counter[str]:
    """Tags, code spans, and the addresses that links lead to."""
    return Counter(re.findall(r"<[^>]*>|`[^`]+`|\]\([^)]*\)", text))


SCALES = {"": 1, "million": 10**6, "万": 10**4, "亿": 10**8}


def numbers(text: str) -> Counter[str]:
    """Numbers as they are written, those in millions or 万 written out."""
    found = re.findall(r"(\d+(?:[.,]\d+)*)(?: ?(million|万|亿))?", text)
    return Counter(
        f"{round(float(number) * SCALES[scale])}" if scale else number for number, scale in found
    )


def is_template(text: str) -> bool:
    try:
        list(Formatter().parse(text))
    except ValueError:  # a bracket that is one, as in "it must begin with {"
        return False
    return True


@every_language
def test_what_is_filled_in_and_marked_is_the_same(code: str) -> None:
    wrong = [
        (message, told)
        for message, told in translated(code)
        if marks(message) != marks(told)
        or (is_template(message) and placeholders(message) != placeholders(told))
    ]
    assert not wrong


@every_language
def test_messages_have_the_same_numbers(code: str) -> None:
    wrong = [
        (message, told) for message, told in translated(code) if numbers(message) != numbers(told)
    ]
    assert not wrong


@every_language
def test_every_page_has_its_prose_and_every_lesson_is_there(code: str) -> None:
    folder = messages.CONTENT / code
    assert sorted(path.name for path in folder.glob("*.md")) == PAGES
    assert sorted(path.name for path in (folder / "lessons").glob("*.json")) == LESSONS


def sections(prose: str) -> list[str]:
    return re.split(r"^## ", prose, flags=re.MULTILINE)


@every_language
@pytest.mark.parametrize("page", PAGES)
def test_prose_says_the_same(code: str, page: str) -> None:
    english, told = (
        sections((messages.CONTENT / one / page).read_text(encoding="utf-8"))
        for one in ("en", code)
    )
    assert len(english) == len(told)
    for mine, other in zip(english, told, strict=True):
        assert marks(mine) == marks(other), mine[:40]
        assert numbers(mine) == numbers(other), mine[:40]


def without_words(lesson: Any) -> tuple[Any, str]:
    """A lesson without what is said in it, and that."""
    if isinstance(lesson, dict):
        said = {name: one for name, one in lesson.items() if name in WORDS}
        rest = {name: without_words(one) for name, one in lesson.items() if name not in WORDS}
        told = [json.dumps(one, ensure_ascii=False) for one in said.values()]
        return (
            [*said, {name: kept for name, (kept, _) in rest.items()}],
            "\n".join(told + [told for _, told in rest.values()]),
        )
    if isinstance(lesson, list):
        parts = [without_words(one) for one in lesson]
        return [kept for kept, _ in parts], "\n".join(told for _, told in parts)
    return lesson, ""


@every_language
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_takes_the_same_steps(code: str, name: str) -> None:
    (english, said), (other, told) = (
        without_words(json.loads((messages.CONTENT / one / "lessons" / name).read_text("utf-8")))
        for one in ("en", code)
    )
    assert english == other
    assert numbers(said) == numbers(told)
