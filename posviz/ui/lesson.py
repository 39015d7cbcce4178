"""A lesson: views in an order, what is seen of each, what is said there and what is asked first.

A lesson is JSON, in a file or packed into a link. Those that posviz brings stand in
``content/<language>/lessons``, one file each, the same steps in every language.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from posviz.params import InvalidParameterError, shown
from posviz.ui import site, text
from posviz.ui.packing import packed, unpacked

SHIPPED = ("why_positions", "rope_in_ten_minutes", "long_context", "train_short", "ten_claims")
"""The lessons that posviz brings, by name."""

MOST_STEPS = 40
LONGEST_TEXT = 1_200
LONGEST_FILE = 100_000
LONGEST_TITLE = 120
MOST_OPTIONS = 6

# Between a bracket and the address or the name of it; after what begins an address in angle
# brackets, an entity (which may stand for the rest), an address of mail; within a bare address.
_LEADING = re.compile(r"(?<=\])(?=[(\[:])|(?<=[<&@])|(?<=http)|(?<=www)", re.IGNORECASE)


@dataclass(frozen=True)
class Ask:
    """What is asked before the pictures are seen.

    With ``options`` one of them is chosen; without, a curve is drawn into a chart.

    Attributes:
        question: What is asked.
        figure: Name of the picture that is covered until then; of a chart, if it is drawn.
        options: What can be chosen.
        right: Which of the options is right, from 0.
        then: What is said when the answer is there.
        covers: Names of other pictures that would tell, and are covered as well.
    """

    question: str
    figure: str
    options: tuple[str, ...] = ()
    right: int = 0
    then: str = ""
    covers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One view of a lesson.

    Attributes:
        view: Its address within the app: the page, and its state as a link says it.
        says: What is said beside it.
        handles: Names of the handles and choices that are seen; None for all.
        figures: Names of the pictures that are seen; None for all.
        ask: What is asked first.
    """

    view: str
    says: str = ""
    handles: tuple[str, ...] | None = None
    figures: tuple[str, ...] | None = None
    ask: Ask | None = None

    @property
    def page(self) -> str:
        """Name of the page."""
        return self.view.partition("?")[0]

    @property
    def state(self) -> dict[str, str]:
        """The state of the page, as a link says it."""
        return dict(parse_qsl(self.view.partition("?")[2], keep_blank_values=True))


@dataclass(frozen=True)
class Lesson:
    """Steps in their order, what they are called together, and what they teach."""

    title: str
    steps: tuple[Step, ...]
    about: str = ""

    @property
    def minutes(self) -> int:
        """About how long it takes: a minute a step, and a quarter of one more for a question."""
        return round(sum(1.25 if step.ask else 1.0 for step in self.steps))

    def written(self) -> str:
        """The lesson as a JSON file."""
        steps = [_without_nothing(asdict(step)) for step in self.steps]
        said = {"title": self.title, **({"about": self.about} if self.about else {})}
        return json.dumps({**said, "steps": steps}, ensure_ascii=False, indent=1)

    def packed(self) -> str:
        """The lesson as a link holds it, see :func:`of_link`."""
        said = json.dumps(json.loads(self.written()), separators=(",", ":"), ensure_ascii=False)
        # Half a character cannot be sent, and is written as JSON writes it.
        return packed(said.encode(errors="backslashreplace").decode())


def _without_nothing(made: dict[str, Any]) -> dict[str, Any]:
    """What a file need not say left out."""
    ask = made.pop("ask")
    if ask:
        made["ask"] = {name: value for name, value in ask.items() if value or name == "right"}
        if not ask["options"]:
            del made["ask"]["right"]
    return {name: value for name, value in made.items() if value not in (None, "")}


# ------------------------------------------------------------------------------------- reading


def read(given: str) -> Lesson:
    """The lesson that a JSON text holds.

    Raises:
        InvalidParameterError: Where it is none, naming the place.
    """
    if len(given) > LONGEST_FILE:
        raise InvalidParameterError(
            "a lesson must have at most {longest} characters, got {got}",
            longest=shown(LONGEST_FILE), got=shown(len(given)),
        )  # fmt: skip
    try:
        made = json.loads(given)
    except (ValueError, RecursionError):
        raise InvalidParameterError("a lesson must be JSON, got {got}", got=shown(given)) from None
    made = _keys("lesson", made, ("title", "about", "steps"))
    steps = _list("steps", made.get("steps"), MOST_STEPS)
    if not steps:
        raise InvalidParameterError("steps must be one or more, got none")
    return Lesson(
        _text("title", made.get("title"), LONGEST_TITLE),
        tuple(_step(f"steps[{at}]", one) for at, one in enumerate(steps)),
        _text("about", made.get("about", ""), LONGEST_TEXT),
    )


def pages() -> set[str]:
    """Names of the pages that a step can show: all but that of the lessons."""
    return {one.name for one in site.pages()} - {"lessons"}


def _step(place: str, given: object) -> Step:
    made = _keys(place, given, tuple(one.name for one in fields(Step)))
    view = _text(f"{place}.view", made.get("view"), 4_000)
    if Step(view).page not in pages():
        raise InvalidParameterError(
            "{place} must begin with the name of a page, as in {example}, got {got}",
            place=f"{place}.view", example="rope?part=decay", got=shown(view),
        )  # fmt: skip
    return Step(
        view,
        _text(f"{place}.says", made.get("says", ""), LONGEST_TEXT),
        _names(f"{place}.handles", made.get("handles")),
        _names(f"{place}.figures", made.get("figures")),
        _ask(f"{place}.ask", made["ask"]) if made.get("ask") is not None else None,
    )


def _ask(place: str, given: object) -> Ask:
    made = _keys(place, given, tuple(one.name for one in fields(Ask)))
    options = _list(f"{place}.options", made.get("options", []), MOST_OPTIONS)
    right, last = made.get("right", 0), max(len(options) - 1, 0)
    if isinstance(right, bool) or not isinstance(right, int) or not 0 <= right <= last:
        raise InvalidParameterError(
            "{place} must be the number of an option, from 0 to {last}, got {got}",
            place=f"{place}.right", last=last, got=shown(right),
        )  # fmt: skip
    return Ask(
        _text(f"{place}.question", made.get("question"), LONGEST_TEXT),
        _text(f"{place}.figure", made.get("figure"), 80),
        tuple(_text(f"{place}.options", one, LONGEST_TITLE) for one in options),
        right,
        _text(f"{place}.then", made.get("then", ""), LONGEST_TEXT),
        _names(f"{place}.covers", made.get("covers")) or (),
    )


def _keys(place: str, given: object, allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(given, dict) or not set(given) <= set(allowed):
        got = ", ".join(map(str, given)) if isinstance(given, dict) else given
        raise InvalidParameterError(
            "{place} must be an object of {allowed}, got {got}",
            place=place, allowed=", ".join(allowed), got=shown(got),
        )  # fmt: skip
    return given


def _list(place: str, given: object, most: int) -> list[Any]:
    if not isinstance(given, list) or len(given) > most:
        got = f"{len(given)}" if isinstance(given, list) else shown(given)
        raise InvalidParameterError(
            "{place} must be a list of at most {most}, got {got}", place=place, most=most, got=got
        )
    return given


def _text(place: str, given: object, longest: int) -> str:
    if not isinstance(given, str) or len(given) > longest:
        got = f"{len(given):,}" if isinstance(given, str) else shown(given)
        raise InvalidParameterError(
            "{place} must be a text of at most {longest} characters, got {got}",
            place=place, longest=shown(longest), got=got,
        )  # fmt: skip
    return given.encode("utf-8", "replace").decode()  # half a character cannot be sent


def _names(place: str, given: object) -> tuple[str, ...] | None:
    if given is None:
        return None
    return tuple(_text(place, one, 80) for one in _list(place, given, 40))


# ---------------------------------------------------------------------------------------- links


def of_link(given: str) -> Lesson:
    """The lesson that a link names, or holds.

    Raises:
        InvalidParameterError: If it is neither.
    """
    if given in SHIPPED:
        return shipped(given)
    if given.startswith(("~", "{")):
        return _unpacked(given)
    raise InvalidParameterError(
        "lesson must be one of {allowed}, or a lesson of your own as its link holds it, got {got}",
        allowed=", ".join(SHIPPED), got=shown(given),
    )  # fmt: skip


@functools.lru_cache(maxsize=64)  # each run of a step asks for it
def _unpacked(given: str) -> Lesson:
    return read(unpacked("lesson", given, 4 * LONGEST_FILE))  # bytes


@text.by_language
def shipped(name: str) -> Lesson:
    """A lesson that posviz brings, in the visitor's language."""
    return read((text.CONTENT / text.language() / "lessons" / f"{name}.json").read_text("utf-8"))


def address(lesson: str, steps: Sequence[Step], at: int) -> str:
    """Address of a step, counted from 1, within the app; ``lesson`` as the link has it."""
    step = steps[at - 1]
    return f"{step.page}?{urlencode({**step.state, 'lesson': lesson, 'lesson_step': at})}"


def unlinked(prose: str) -> str:
    """What a step says, Markdown, its links and pictures as plain text.

    A lesson that somebody sends leads nowhere outside, and fetches nothing from there. What makes a
    link is parted by a space of no width, which no backslash, entity or code span undoes.
    """
    return _LEADING.sub("\u200b", prose)
