"""The search's view: the line that is typed, and the links that it leads to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape

from posviz import params
from posviz.ui import live, search, site
from posviz.ui.search_words import comparable, has, normal
from posviz.ui.text import language, say

LINE = params.Text(
    "search", "Search", "", 60, "A page, a term, a config key or a model; arrows go through them."
)
KINDS = {
    "page": "page", "part": "part", "word": "word", "method": "method", "encoding": "encoding",
    "key": "config key", "term": "glossary term", "pitfall": "pitfall", "claim": "claim",
    "model": "model", "prose": "explanation",
}  # fmt: skip
# What an explanation shows of itself: so many letters before the word, if its sentence does not fit
# into so many. A Chinese character is as wide as two.
BEFORE, SHOWN = 60, 170


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The line alone."""
    yield LINE


def draw(**values: str) -> live.Slots:
    """The links, and in words how many there are."""
    line = values["search"]
    if not normal(line):
        return {"found": live.drawing(everything()), "count": live.drawing("")}
    found = search.find(line)
    items = "".join(item(entry, found.words) for entry in found.entries)
    return {
        "found": live.drawing(f"<ul>{items}</ul>" if items else ""),
        "count": live.drawing(count(found, line)),
    }


def everything() -> str:
    """All pages, before anything is typed."""
    groups = "".join(
        f"<p><b>{escape(say(group.title))}</b>"
        + "".join(
            f'<a href="{escape(one.address())}" target="_self">{escape(say(one.title))}</a>'
            for one in group.pages
        )
        + "</p>"
        for group in site.GROUPS
    )
    hint = say("Pages, parts, words, config keys, pitfalls, claims, released models. All pages:")
    return f'<div class="pv-search-all"><p>{escape(hint)}</p>{groups}</div>'


def count(found: search.Found, line: str) -> str:
    """How many there are, and what was looked for instead; text for a live region."""
    comma = "、" if language() == "zh" else ", "
    missing, instead = comma.join(found.missing), comma.join(found.instead)
    told = []
    if found.missing and found.instead:
        told.append(say("Nothing has “{missing}”; the nearest known word is “{instead}”.",
                        missing=missing, instead=instead))  # fmt: skip
    elif not found.count:
        told.append(say("Nothing has “{missing}”, and no known word is near. Try “rope_theta”, "
                        "“window” or “Llama”.", missing=missing or line.strip()))  # fmt: skip
    elif found.missing:
        told.append(say("Nothing has “{missing}”.", missing=missing))
    if found.partly:
        told.append(say("Nothing has all of these words."))
    shown = len(found.entries)
    if found.count == 1:
        told.append(say("1 result"))
    elif found.count > shown:
        told.append(say("{count} results, the first {shown}", count=found.count, shown=shown))
    elif found.count:
        told.append(say("{count} results", count=found.count))
    return escape(search.together(told), quote=False)


def item(entry: search.Entry, words: Sequence[str]) -> str:
    """One result: what it is called and where it is, what it is, what it says."""
    says = entry.says or (excerpt(entry.body, words) if entry.kind == "prose" else "")
    where = f"<i>{escape(entry.where)}</i>" if entry.where else ""
    return (
        f'<li><a href="{escape(entry.address)}" target="_self">'
        f"<b>{escape(entry.title)}</b>{where}<small>{escape(say(KINDS[entry.kind]))}</small>"
        + (f"<span>{escape(says)}</span>" if says else "")
        + "</a></li>"
    )


def excerpt(prose: str, words: Sequence[str]) -> str:
    """The sentence of an explanation that has most of the words, or as much of it as fits."""
    told = sentences(prose)
    best = max(range(len(told)), key=lambda at: sum([has(told[at][1], w) for w in words]))
    shown, before = told[best][0], best > 0
    if width(shown) > SHOWN:
        pieces = clauses(shown)
        has_one = (any(has(comparable(piece), word) for word in words) for piece in pieces)
        at = next((at for at, found in enumerate(has_one) if found), 0)
        # As much before it as there is room for, more if little stands after it.
        first = at
        while first and (
            width("".join(pieces[first - 1 : at])) <= BEFORE
            or width("".join(pieces[first - 1 :])) <= SHOWN
        ):
            first -= 1
        last = len(pieces)
        while last > first + 1 and width("".join(pieces[first:last])) > SHOWN:
            last -= 1
        before, cut = before or first > 0, last < len(pieces)
        shown = "".join(pieces[first:last]).strip()
    else:
        cut = False
        for sentence, _ in told[best + 1 :]:
            if width(shown) + width(sentence) >= SHOWN:
                break
            shown, best = search.together([shown, sentence]), best + 1
    after = cut or best + 1 < len(told)
    return f"{'… ' * before}{shown}{' …' * after}"


def width(words: str) -> int:
    """How many Latin letters the words are as wide as."""
    return len(words) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in words)


def clauses(sentence: str) -> list[str]:
    """Pieces at whose ends a sentence may be cut: Latin words, Chinese clauses."""
    return re.findall(r"[^\s，；：、（）]+[，；：、）]*\s*|[，；：、（）]\s*", sentence)


@cache
def sentences(prose: str) -> tuple[tuple[str, str], ...]:
    """Each sentence of an explanation, and its words as they are compared."""
    told = re.split(r"(?<=[.!?]) (?=[^a-z])|(?<=[。！？])(?![”’）」])\s*(?=\S)", prose)
    return tuple((sentence, comparable(sentence)) for sentence in told)


VIEW = live.View("search", parameters, draw)
