"""The door through which every word a visitor reads passes.

Prose stands in ``content/<language>/<page>.md``, one ``## section`` per explanation; labels and
sentences are English message ids, looked up in ``content/<language>/LC_MESSAGES/posviz.mo``. One
more language is data: its folder, and its name in :data:`LANGUAGES`.
"""

from __future__ import annotations

import functools
import gettext
import re
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from posviz.params import InvalidParameterError, Message, Said, one_of, said

LANGUAGES = {"en": "English", "zh": "中文"}
"""The name of each language in itself, by the code that a link says."""

CONTENT = Path(__file__).parents[2] / "content"
_CATALOGUES = {
    code: gettext.translation("posviz", CONTENT, [code], fallback=True) for code in LANGUAGES
}
R = TypeVar("R")

# Who draws for a visitor says once in which language; the thread of a callback of Streamlit's has
# not been told, and asks its session.
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)
_SESSION = "posviz:language"


def speak(code: str) -> None:
    """Makes a language that of this thread, and of the visitor's session if it has one."""
    one_of("lang", code, tuple(LANGUAGES))
    _spoken.set(code)
    if get_script_run_ctx(suppress_warning=True):
        st.session_state[_SESSION] = code


def language() -> str:
    """Code of the language that is spoken here."""
    return _spoken.get() or session_language() or "en"


def session_language() -> str | None:
    """Code of the language that the visitor's session has, if any."""
    if get_script_run_ctx(suppress_warning=True):
        code: str | None = st.session_state.get(_SESSION)
        return code
    return None


def preferred(locales: str) -> str:
    """The language that a browser which asks for ``locales``, best first, is answered in.

    ``zh-CN,zh;q=0.9,en;q=0.8`` as in an Accept-Language header, or one locale.
    """
    asked = [one.split(";")[0].strip().lower() for one in locales.split(",")]
    known = (one.split("-")[0] for one in asked)
    return next((code for code in known if code in LANGUAGES), "en")


def by_language(function: Callable[..., R]) -> Callable[..., R]:
    """What a function returned before, for the same arguments in the same language."""

    @functools.cache
    def kept(_: str, *arguments: object) -> R:
        return function(*arguments)

    @functools.wraps(function)
    def asked(*arguments: object) -> R:
        return kept(language(), *arguments)

    return asked


def say(template: Message | Said, **values: object) -> str:
    """A label or sentence in the visitor's language, its ``{placeholders}`` filled in."""
    if isinstance(template, Said):
        return template
    told = _CATALOGUES[language()].gettext(template) if template else ""
    return told.format(**values) if values else told


def joined(parts: Iterable[str]) -> str:
    """Values one after the other."""
    return say(", ").join(parts)


def clauses(parts: Iterable[str]) -> str:
    """Parts of a sentence, each of which could be one."""
    return say("; ").join(parts)


def valued(label: str, value: str) -> str:
    """A label with its value."""
    return say("{label}: {value}", label=label, value=value)


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    *most, last = names or ("",)
    return say("{most} and {last}", most=joined(most), last=last) if most else last


def complaint(problem: InvalidParameterError) -> str:
    """What a bad value is told, in the visitor's language."""
    return say(problem.template, **said(problem.values, say))


def sections(page: str) -> list[tuple[str, str]]:
    """Title and prose of each ``## section`` of a page, Markdown, in their order."""
    return list(_sections(page, language()))


@functools.cache  # files of the app, read once
def _sections(page: str, code: str) -> tuple[tuple[str, str], ...]:
    prose = (CONTENT / code / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", prose, re.MULTILINE | re.DOTALL)
    return tuple((title, body.strip()) for title, body in found)


def section(page: str, title: str) -> str:
    """The prose under ``## title`` of a page, Markdown; ``title`` is the English one."""
    return _section(page, title)[1]


def title(page: str, title: str) -> str:
    """What a section is called in the visitor's language; ``title`` is the English one."""
    return _section(page, title)[0]


def _section(page: str, title: str) -> tuple[str, str]:
    """Sections of all languages stand in the same order."""
    titles = [one for one, _ in _sections(page, "en")]
    if title not in titles:
        raise LookupError(f"content/en/{page}.md has no section {title!r}")
    return _sections(page, language())[titles.index(title)]
