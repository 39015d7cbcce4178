"""The lesson that a visitor makes: kept in the session, and by the browser as long as its tab."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from posviz.params import InvalidParameterError
from posviz.ui import live, text
from posviz.ui.lesson import LONGEST_FILE, MOST_STEPS, Lesson, Step, read

_KEPT = "posviz:lesson"
_REFUSED = "posviz:lesson:refused"
_LAST = "posviz:lesson:last"
NOTHING = Lesson("", ())

UNDERWAY = 0.4
"""Seconds in which a text that has left its field has been taken up."""

Names = tuple[str, ...]


@dataclass
class _Kept:
    """The visitor's lesson, where a file that is saved later finds it."""

    lesson: Lesson


def lesson() -> Lesson:
    """The lesson as it stands; without steps at the beginning."""
    kept: _Kept | None = st.session_state.get(_KEPT)
    return kept.lesson if kept else NOTHING


def keep(made: Lesson) -> None:
    """Makes this the visitor's lesson."""
    if _KEPT in st.session_state:
        st.session_state[_KEPT].lesson = made
    else:
        st.session_state[_KEPT] = _Kept(made)


def file() -> Callable[[], str]:
    """What the lesson's file holds, asked for when it is saved.

    The click that saves also leaves the field that was written in, whose text is on its way then.
    """
    kept: _Kept = st.session_state[_KEPT]

    def written() -> str:
        time.sleep(UNDERWAY)
        return kept.lesson.written()

    return written


def begin(made: Lesson) -> None:
    """Makes another lesson the visitor's; the one before can be had back."""
    if lesson().steps:
        st.session_state[_LAST] = lesson()
    keep(made)


def last() -> Lesson | None:
    """The lesson that another one took the place of."""
    before: Lesson | None = st.session_state.get(_LAST)
    return before


def take(given: str) -> None:
    """Makes the lesson of a file the visitor's.

    Raises:
        InvalidParameterError: If it is none.
    """
    begin(read(given))


# What a part of a page has, more than its view can tell: known once somebody has opened it.
_placed: dict[tuple[str, str], tuple[Names, Names]] = {}


def note_placed(page: str, part: str, handles: Names, figures: Names) -> None:
    """Remembers the handles and pictures of a part of a page."""
    _placed[page, part] = (handles, figures)


def placed(page: str, part: str) -> tuple[Names, Names] | None:
    """Handles and pictures of a part of a page, if it has been opened."""
    return _placed.get((page, part))


def button(view: live.View) -> None:
    """The button that adds the view as it stands."""
    _memory(view, "")


def memory(go: str) -> None:
    """Takes up what the tab has kept, if the session knows of no lesson; then goes to an address.

    A button's way to it and not a link's: what was just written is in the address, which a click on
    a link would be too early for. Back leads here, as from a link.
    """
    _memory(None, go)


def _memory(view: live.View | None, go: str) -> None:
    made = lesson()
    knows = _KEPT in st.session_state
    live.draft(
        made.written() if made.steps else "" if knows else None,
        view=view,
        count=len(made.steps),
        refused=st.session_state.pop(_REFUSED, ""),
        go=go,
        on_found=_found,
        on_added=lambda told: _add(view, told) if view else None,
    )


def _found(kept: str) -> None:
    try:
        keep(read(kept))
    except InvalidParameterError:
        keep(NOTHING)  # not what the app wrote there


def _add(view: live.View, told: Mapping[str, str]) -> None:
    if _KEPT not in st.session_state and told["kept"]:
        _found(told["kept"])
    made = lesson()
    if len(made.steps) >= MOST_STEPS:
        st.session_state[_REFUSED] = text.say("A lesson has at most {most} steps.", most=MOST_STEPS)
        return
    says = dict(parse_qsl(told["state"], keep_blank_values=True))
    state = urlencode(view.query(view.follow(says)))
    step = Step(f"{view.name}?{state}" if state else view.name)
    longer = replace(made, steps=(*made.steps, step))
    if len(longer.written()) > LONGEST_FILE:
        st.session_state[_REFUSED] = text.say(
            "A lesson has at most {most} characters.", most=f"{LONGEST_FILE:,}"
        )
        return
    keep(longer)
