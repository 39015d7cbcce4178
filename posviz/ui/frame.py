"""What stands around a page by its link: language, present mode, a lesson's step, what is seen.

The names here are no parameters of a view: they go along from page to page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import urlencode

from posviz.params import WHOLE_BETWEEN, InvalidParameterError, one_of, shown
from posviz.ui import live, text
from posviz.ui.lesson import Lesson, Step, of_link

NAMES = ("lang", "present", "lesson", "lesson_step", "handles", "figures")
"""Names in a link that are the frame's."""

T = TypeVar("T")


@dataclass(frozen=True)
class Frame:
    """What a link says of the frame.

    Attributes:
        lang: Code of the language; None if the link leaves it open.
        present: Whether the page is shown to an audience, without what only a reader needs.
        lesson: The lesson that is held.
        name: The same as the link has it.
        at: Step of the lesson, from 1.
        handles: Names of the handles and choices that are seen; None for all.
        figures: Names of the pictures that are seen; None for all.
    """

    lang: str | None = None
    present: bool = False
    lesson: Lesson | None = None
    name: str = ""
    at: int = 1
    handles: tuple[str, ...] | None = None
    figures: tuple[str, ...] | None = None

    @property
    def step(self) -> Step | None:
        """The step of the lesson."""
        return self.lesson.steps[self.at - 1] if self.lesson else None

    @property
    def seen_handles(self) -> tuple[str, ...] | None:
        """Names of the handles that the link leaves, or else the lesson's step; None for all."""
        return self.step.handles if self.handles is None and self.step else self.handles

    @property
    def seen_figures(self) -> tuple[str, ...] | None:
        """The same of pictures."""
        return self.step.figures if self.figures is None and self.step else self.figures

    def without(self, names: Collection[str]) -> Frame:
        """The frame without what is named of it: ``handles``, ``figures``, a question."""
        if not names:
            return self
        handles = None if "handles" in names else self.handles
        figures = None if "figures" in names else self.figures
        lesson = self.lesson
        if lesson and self.step:
            step = replace(
                self.step,
                handles=None if "handles" in names else self.step.handles,
                figures=None if "figures" in names else self.step.figures,
                ask=self.step.ask if {*names} <= {"handles", "figures"} else None,
            )
            steps = (*lesson.steps[: self.at - 1], step, *lesson.steps[self.at :])
            lesson = replace(lesson, steps=steps)
        return replace(self, lesson=lesson, handles=handles, figures=figures)

    def query(self, **changed: object) -> dict[str, str]:
        """What a link to this frame says, or to one with changes."""
        said = {
            "lang": self.lang or "",
            "present": "1" if self.present else "",
            "lesson": self.name,
            "lesson_step": self.at if self.name else "",
            "handles": "" if self.handles is None else ",".join(self.handles) or "none",
            "figures": "" if self.figures is None else ",".join(self.figures) or "none",
            **changed,
        }
        return {name: str(value) for name, value in said.items() if value not in ("", None)}


def read(query: Mapping[str, str]) -> tuple[Frame, list[InvalidParameterError]]:
    """The frame that a link means, and a complaint for each part that it cannot mean."""
    problems: list[InvalidParameterError] = []

    def said(name: str, meant: Callable[[str], T], otherwise: T) -> T:
        try:
            return meant(query[name]) if name in query else otherwise
        except InvalidParameterError as problem:
            problems.append(problem)
            return otherwise

    lesson = said("lesson", of_link, None)
    frame = Frame(
        said("lang", lambda given: one_of("lang", given, tuple(text.LANGUAGES)), None),
        said("present", lambda given: one_of("present", given, ("0", "1")) == "1", False),
        lesson,
        query["lesson"] if lesson else "",
        said("lesson_step", lambda given: _step(given, lesson), 1),
        said("handles", _names, None),
        said("figures", _names, None),
    )
    return frame, problems


def _step(given: str, lesson: Lesson | None) -> int:
    count = len(lesson.steps) if lesson else 1
    if not (given.isascii() and given.isdigit() and len(given) <= 6 and 1 <= int(given) <= count):
        raise InvalidParameterError(
            WHOLE_BETWEEN, name="lesson_step", low=1, high=count, got=shown(given)
        )
    return int(given)


def _names(given: str) -> tuple[str, ...]:
    return () if given == "none" else tuple(name for name in given.split(",") if name)


def unknown(
    view: live.View, values: live.Values, around: Frame
) -> dict[str, InvalidParameterError]:
    """What the frame names and this view has not, by what it is: told, and then disregarded."""
    handles, figures = around.seen_handles, around.seen_figures
    ask = around.step.ask if around.step else None
    if handles is None and figures is None and ask is None:
        return {}
    drawn = view.draw(**values)
    places = [name for name in drawn if not name.startswith("note:") and ":head" not in name]
    charts = [name for name in places if drawn[name].is_chart]
    asked = (places if ask.options else charts) if ask else []
    named = {
        "handles": (handles or (), list(view.declared(values))),
        "figures": (figures or (), places),
        "ask.figure": ((ask.figure,) if ask else (), asked),
        "ask.covers": (ask.covers if ask else (), places),
    }
    return {
        name: InvalidParameterError(
            "{name} must be among {allowed}, got {got}",
            name=name, allowed=", ".join(allowed),
            got=shown(", ".join(one for one in given if one not in allowed)),
        )
        for name, (given, allowed) in named.items()
        if not set(given) <= set(allowed)
    }  # fmt: skip


def address(page: str, state: Mapping[str, str], frame: Mapping[str, str]) -> str:
    """Address within the app: a page, its state, and the frame around it."""
    said = urlencode({**state, **frame}, safe=",~")
    return f"{page}?{said}" if said else page
