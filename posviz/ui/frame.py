"""What stands around a page by its link: language, present mode, a lesson's step, what is seen.

The names here are no parameters of a view: they go along from page to page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlencode

from posviz.params import InvalidParameterError, one_of, shown
from posviz.ui import text
from posviz.ui.lesson import Lesson, Step, of_link

NAMES = ("lang", "present", "lesson", "step", "handles", "figures")
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

    def query(self, **changed: object) -> dict[str, str]:
        """What a link to this frame says, or to one with changes."""
        said = {
            "lang": self.lang or "",
            "present": "1" if self.present else "",
            "lesson": self.name,
            "step": self.at if self.name else "",
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
        said("step", lambda given: _step(given, lesson), 1),
        said("handles", _names, None),
        said("figures", _names, None),
    )
    return frame, problems


def _step(given: str, lesson: Lesson | None) -> int:
    count = len(lesson.steps) if lesson else 1
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:6]) <= count):
        raise InvalidParameterError(
            "step must be a whole number between 1 and {high}, got {got}",
            high=count, got=shown(given),
        )  # fmt: skip
    return int(given)


def _names(given: str) -> tuple[str, ...]:
    return () if given == "none" else tuple(name for name in given.split(",") if name)


def address(page: str, state: Mapping[str, str], frame: Mapping[str, str]) -> str:
    """Address within the app: a page, its state, and the frame around it."""
    said = urlencode({**state, **frame}, safe=",~")
    return f"{page}?{said}" if said else page
