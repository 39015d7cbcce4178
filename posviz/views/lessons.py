"""The lessons' view: those that posviz brings, and what the one that is chosen goes through."""

from __future__ import annotations

import functools
import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlencode

from posviz import params
from posviz.figures import lessons as pictures
from posviz.figures import style
from posviz.params import InvalidParameterError
from posviz.ui import frame, lesson, live, site, text
from posviz.ui.lesson import Lesson, Step
from posviz.ui.text import say

LONGEST_LINK = 8_000
"""Characters of an address that servers commonly take."""
SAFE_LINK = 2_000
"""Characters of an address that every program takes."""


def parameters(_: live.Values) -> Iterator[params.Parameter]:
    """Which lesson is looked at."""
    yield params.Choice(
        "about", "Lesson", lesson.SHIPPED[0], lesson.SHIPPED,
        tuple(params.Said(lesson.shipped(name).title) for name in lesson.SHIPPED),
        "The lesson whose steps are listed.",
    )  # fmt: skip


def draw(about: str) -> live.Slots:
    """The list, and the steps of the lesson that is chosen."""
    entries = [_entry(name) for name in lesson.SHIPPED]
    held = lesson.shipped(about)
    title = next(one.title for one in entries if one.name == about)
    rows = [
        (lesson.address(about, held.steps, at), page_title(step), plain(step), bool(step.ask))
        for at, step in enumerate(held.steps, 1)
    ]
    return {
        "shelf": live.drawing(pictures.shelf(entries, about, say)),
        "steps": live.drawing(pictures.steps(rows, say)),
        "steps:head": live.drawing(style.heading(html.escape(title), say("step by step"))),
    }


def _entry(name: str) -> pictures.Entry:
    held = lesson.shipped(name)
    return pictures.Entry(
        name, held.title, held.about, len(held.steps), held.minutes, start(held, name),
        start(held, name) + "&present=1",
    )  # fmt: skip


def start(held: Lesson, name: str) -> str:
    """Address of a lesson's first step, within the app; ``name`` as a link has the lesson."""
    return f"{held.steps[0].page}?{urlencode({'lesson': name}, safe='~=')}"


def page_title(step: Step) -> str:
    """What the page of a step is called."""
    return next(say(one.title) for one in site.pages() if one.name == step.page)


def plain(step: Step, longest: int = 110) -> str:
    """The beginning of what a step says, or else asks, without marks."""
    told = step.says or (step.ask.question if step.ask else "")
    told = re.sub(r"[*_`#]", "", told)
    return _short(told, longest)


# ------------------------------------------------------------------------- making a lesson


def problems(step: Step) -> list[InvalidParameterError]:
    """What of a step its page does not have, or cannot mean."""
    view = live.view_named(step.page)
    assert view
    values, bad = view.read(step.state)
    around = frame.Frame(lesson=Lesson("", (step,)))
    return [*bad, *frame.unknown(view, values, around).values()]


def part(step: Step) -> str:
    """The part of the page that a step shows."""
    view = live.view_named(step.page)
    assert view
    return str(view.read(step.state)[0].get("part", ""))


def handle_labels(step: Step) -> dict[str, str]:
    """What each handle and choice of a step's page is called, by name."""
    view = live.view_named(step.page)
    assert view
    declared = view.declared(view.read(step.state)[0])
    return _apart({name: say(getattr(one, "label", "")) or name for name, one in declared.items()})


def figure_labels(step: Step) -> dict[str, str]:
    """What each picture of a step is called, or how it begins, by name."""
    return _figure_labels(text.language(), step.view)[0]


def charts(step: Step) -> tuple[str, ...]:
    """Names of the pictures of a step that a curve can be drawn into."""
    return _figure_labels(text.language(), step.view)[1]


@functools.lru_cache(maxsize=128)  # each run of the page asks for the step that is edited
def _figure_labels(_: str, address: str) -> tuple[dict[str, str], tuple[str, ...]]:
    step = Step(address)
    view = live.view_named(step.page)
    assert view
    drawn = view.draw(**view.read(step.state)[0])
    labels = {}
    for name, one in drawn.items():
        if name.startswith("note:") or ":head" in name:
            continue
        told = _heading(drawn.get(f"{name}:head")) or _beginning(one)
        if told:
            labels[name] = told
    return _apart(labels), tuple(name for name in labels if drawn[name].is_chart)


def _apart(labels: dict[str, str]) -> dict[str, str]:
    """Labels by name; those that several have, with the name."""
    often = Counter(labels.values())
    return {name: f"{one} ({name})" if often[one] > 1 else one for name, one in labels.items()}


def _heading(picture: live.Picture | None) -> str:
    found = (
        re.search(r"<b\b[^>]*>(.*?)</b>", str(json.loads(picture.json)["markup"]))
        if picture
        else None
    )
    return _words(found[1]) if found else ""


def _beginning(picture: live.Picture) -> str:
    """The first words of a text, or those that stand for a picture."""
    made = json.loads(picture.json)
    markup = str(made.get("markup", made.get("alt")))
    label = re.search(r'role="img" aria-label="([^"]*)"', markup)
    told = html.unescape(label[1]) if label else _words(markup)
    return _short(told, 44)


def _short(told: str, longest: int) -> str:
    """A text, cut between two words if it is too long."""
    return told if len(told) <= longest else told[: longest - 1].rsplit(" ", 1)[0] + " …"


def _words(markup: str) -> str:
    told = re.sub(r"<(math|style)\b.*?</\1>", " ", markup, flags=re.DOTALL)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", told))).strip()


VIEW = live.View("lessons", parameters, draw)
