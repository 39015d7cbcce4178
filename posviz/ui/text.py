"""The door through which every word a visitor reads passes.

Prose stands in ``content/<language>/<page>.md``, one ``## section`` per explanation; labels and
sentences are English message ids, looked up in a gettext catalogue. A second language is data.
"""

from __future__ import annotations

import gettext
import re
from pathlib import Path

from posviz.params import InvalidParameterError

LANGUAGE = "en"
_CONTENT = Path(__file__).parents[2] / "content"
_CATALOGUE = gettext.translation("posviz", _CONTENT, [LANGUAGE], fallback=True)


def say(template: str, **values: object) -> str:
    """A label or sentence in the visitor's language, its ``{placeholders}`` filled in."""
    return _CATALOGUE.gettext(template).format(**values) if values else _CATALOGUE.gettext(template)


def complaint(problem: InvalidParameterError) -> str:
    """What a bad value is told, in the visitor's language."""
    return say(problem.template, **problem.values)


def sections(page: str) -> list[tuple[str, str]]:
    """Title and prose of each ``## section`` of a page, Markdown, in their order."""
    prose = (_CONTENT / LANGUAGE / f"{page}.md").read_text(encoding="utf-8")
    found = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", prose, re.MULTILINE | re.DOTALL)
    return [(title, body.strip()) for title, body in found]


def section(page: str, title: str) -> str:
    """The prose under ``## title`` of a page, Markdown."""
    prose = (_CONTENT / LANGUAGE / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", prose, re.MULTILINE | re.DOTALL)
    if not found:
        raise LookupError(f"content/{LANGUAGE}/{page}.md has no section {title!r}")
    return found[1].strip()
