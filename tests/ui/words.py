"""What a reader sees of pictures, and a language in which every text that was said is bracketed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from posviz.ui import live, text

CODE = "xx"
"""Code of the language. ``{n} pairs`` is said as ``{n}⟦ pairs⟧``: what fills it is told apart."""

_ATTRIBUTES = ("aria-label", "aria-valuetext", "title", "alt", "placeholder", "data-said")
_LISTS = ("data-rows", "data-columns-said")
_PROSE = re.compile(r"(`[^`]*`|\]\([^)]*\)|<[^>]*>)|([^\W\d][\w’'-]*)")  # code, addresses; words
_UNSAID = ("style", "code", "pre", "kbd", "bdi", "samp")  # code, and what a visitor typed
_SAID = ("label", "help", "unit", "allowed", "alt", "question", "done", "failed", "said")
_TEXTS = ("name", "text", "hovertext", "hovertemplate", "ticktext", "ticksuffix", "tickprefix")


class Bracketed:
    """A catalogue of that language."""

    def gettext(self, message: str) -> str:
        pieces = re.split(r"(\{\{\w*\}\}|\{[^{}]*\})", message)
        return "".join(
            piece if n % 2 or not piece else f"⟦{piece}⟧" for n, piece in enumerate(pieces)
        )


def bracketed_prose(english: Path, folder: Path) -> None:
    """Writes every page's prose and every lesson in that language, each word for itself."""
    for page in english.glob("*.md"):
        (folder / page.name).write_text(_bracketed(page.read_text("utf-8")), "utf-8")
    (folder / "lessons").mkdir()
    for lesson in (english / "lessons").glob("*.json"):
        told = re.sub(
            r'"(title|about|says|question|then)": ("(?:[^"\\]|\\.)*")|"options": (\[[^]]*\])',
            lambda found: found[0].replace(
                found[2] or found[3], json.dumps(_each(json.loads(found[2] or found[3])))
            ),
            lesson.read_text("utf-8"),
        )
        (folder / "lessons" / lesson.name).write_text(told, "utf-8")


def _each(told: Any) -> Any:
    return _bracketed(told) if isinstance(told, str) else [_bracketed(one) for one in told]


def _bracketed(prose: str) -> str:
    return _PROSE.sub(lambda found: found[1] or f"⟦{found[2]}⟧", prose)


class _Reader(HTMLParser):
    """Text of markup, and of what stands for a picture."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.shown: list[str] = []
        self.unsaid: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSAID or ("translate", "no") in attrs:
            self.unsaid.append(tag)
        for name, value in attrs:
            if name in _ATTRIBUTES and value:
                self.texts.append(value)
            elif name in _LISTS and value:
                self.texts += json.loads(value)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.unsaid:
            self.unsaid.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self.unsaid:
            self.shown.append(data)


def of_markup(markup: str) -> Iterator[str]:
    """What a reader sees of markup."""
    reader = _Reader()
    reader.feed(markup)
    yield " ".join(reader.shown)
    yield from reader.texts


def of_picture(picture: live.Picture) -> Iterator[str]:
    """What a reader sees of a picture, or hears of it."""
    told = json.loads(picture.sent())
    if "markup" in told:
        yield from of_markup(told["markup"])
    else:
        yield told["alt"]
        yield from _of_figure({name: told["figure"][name] for name in ("data", "layout")})


def _of_figure(part: Any, name: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _of_figure(value, key)
    elif isinstance(part, list):
        for one in part:
            yield from _of_figure(one, name)
    elif isinstance(part, str) and name in _TEXTS:
        # What d3 formats is no word.
        yield from of_markup(re.sub(r"%\{[^}]*\}", " ", part))


def of_page(app: AppTest) -> Iterator[str]:
    """What a reader sees of a page beside its pictures, handles included."""
    for element in _elements(app._tree):
        if element.proto is not None:
            yield from _of_element(element.proto)


def _elements(block: Any) -> Iterator[Any]:
    for one in getattr(block, "children", {}).values():
        yield one
        yield from _elements(one)


def _of_element(proto: Any) -> Iterator[str]:
    """Strings of a message of Streamlit's that a reader sees, also of those within it."""
    for descriptor, value in proto.ListFields():
        if descriptor.name in ("label", "body", "help", "options", "placeholder", "caption"):
            for one in [value] if isinstance(value, str) else value:
                told = one if isinstance(one, str) else getattr(one, "content", "")
                yield from of_markup(re.sub(r"`[^`]*`|\]\([^)]*\)", " ", told))
        elif descriptor.name == "json":
            yield from _of_data(json.loads(value))
        elif hasattr(value, "ListFields"):
            yield from _of_element(value)


def _of_data(data: Any, is_words: bool = False) -> Iterator[str]:
    """The same of what a component of ours is given."""
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, str) and (is_words or name in _SAID):
                yield value
            else:
                yield from _of_data(value, name == "words")


def unsaid(told: str) -> list[str]:
    """Words of three letters and more that were not said."""
    before = ""
    while before != told:
        before, told = told, re.sub(r"⟦[^⟦⟧]*⟧", " ", told)
    told = re.sub(r"\{\w+\}", " ", told)  # filled in by the browser
    told = re.sub(r"\S+/\S+", " ", told)  # addresses
    return re.findall(r"(?<![\w.])[A-Za-z_][A-Za-z_0-9.-]+[A-Za-z_0-9]|⟦.*", told)


def speak(folder: Path, patch: Any) -> None:
    """Makes the language there is, and speaks it; ``patch`` is pytest's monkeypatch."""
    (folder / CODE).mkdir()
    bracketed_prose(text.CONTENT / "en", folder / CODE)
    for code in text.LANGUAGES:
        (folder / code).symlink_to(text.CONTENT / code)
    patch.setattr(text, "CONTENT", folder)
    patch.setitem(text.LANGUAGES, CODE, "⟦⟧")
    patch.setitem(text._CATALOGUES, CODE, Bracketed())
    text.speak(CODE)
