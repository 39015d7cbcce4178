"""Lessons as lists: what there is to choose from, and the steps of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

Words = Callable[..., str]


@dataclass(frozen=True)
class Entry:
    """A lesson in the list.

    Attributes:
        name: As a link says it.
        title: What it is called.
        about: What it teaches.
        steps: How many there are.
        minutes: About how long it takes.
        start: Address of its first step.
        stage: The same in present mode.
    """

    name: str
    title: str
    about: str
    steps: int
    minutes: int
    start: str
    stage: str


def shelf(entries: Sequence[Entry], chosen: str, _: Words) -> str:
    """The lessons, one of them chosen, HTML."""

    def length(one: Entry) -> str:
        return _("{steps} steps, about {minutes} minutes", steps=one.steps, minutes=one.minutes)

    rows = "".join(
        f'<li><button type="button" data-set="about={escape(one.name)}" '
        f'aria-pressed="{str(one.name == chosen).lower()}"><b>{escape(one.title)}</b>'
        f"<small>{length(one)}</small></button><p>{escape(one.about)}</p>"
        f'<p class="pv-lessons-go"><a href="{escape(one.start)}" target="_self">{_("Start")}</a>'
        f'<a href="{escape(one.stage)}" target="_self">{_("Present")}</a></p></li>'
        for one in entries
    )
    return f'<ol class="pv-lessons">{rows}</ol>'


def steps(rows: Sequence[tuple[str, str, str, bool]], _: Words) -> str:
    """Steps of a lesson: address, page, what is said, whether something is asked first; HTML."""
    asked = f"<em>{_('question')}</em>"
    told = "".join(
        f'<li><a href="{escape(address)}" target="_self">{escape(page)}</a>'
        f"{asked if asks else ''}<span>{escape(says)}</span></li>"
        for address, page, says, asks in rows
    )
    return f'<ol class="pv-lesson-steps">{told}</ol>'
