"""Lessons: those there are, and the one that a visitor makes."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from posviz.params import InvalidParameterError
from posviz.ui import draft, lesson, page
from posviz.ui.lesson import Ask, Lesson, Step
from posviz.ui.text import complaint, say
from posviz.views import lessons as view
from posviz.views.lessons import VIEW

AT = "lessons:at"  # the step that is edited
REFUSED = "lessons:refused"
GO = "lessons:go"  # where a button leads
DOORS = "lessons:doors"  # a new door after each file, so that it stands empty


@st.fragment
def lessons_page() -> None:
    """The page: the shelf, the chosen lesson's steps, the visitor's own."""
    sheet = page.Sheet(VIEW)
    left, right = st.columns([6, 5], gap="large")
    with left.container(gap="xsmall"):
        sheet.show("shelf")
    with right.container(gap="xsmall"):
        sheet.show("steps")
        st.button(say("Make it mine, to change it"), on_click=_take_over,
                  args=[sheet.values["about"]])  # fmt: skip
    with st.container(key="pv-make", gap="small"):
        make()
    draft.memory(st.session_state.pop(GO, ""))
    sheet.anchor()


def _take_over(name: str) -> None:
    draft.begin(lesson.shipped(name))
    st.session_state[AT] = 0


# ------------------------------------------------------------------------------ the lesson


def make() -> None:
    """The visitor's lesson: its title, its steps, one of them to be edited, and what to do."""
    made = draft.lesson()
    st.html(f'<h2 class="pv-make-title"><b>{escape(say("Make a lesson"))}</b></h2>')
    if refused := st.session_state.pop(REFUSED, ""):
        st.html(f'<p class="pv-notice" role="alert">{escape(refused)}</p>')
    left, right = st.columns([5, 6], gap="large")
    with left.container(gap="small"):
        if made.steps:
            field("title", say("Title"), made.title, lesson.LONGEST_TITLE)
            field("about", say("What it teaches"), made.about, lesson.LONGEST_TEXT, area=True)
        else:
            st.html(f'<p class="pv-make-empty">{escape(say(EMPTY))}</p>')
        if last := draft.last():
            st.button(say("Take my last lesson back: {count} steps", count=len(last.steps)),
                      on_click=draft.begin, args=[last], type="tertiary")  # fmt: skip
        for at, step in enumerate(made.steps):
            row(made, at, step)
        door()
    if made.steps:
        with right.container(gap="small"):
            edit(made, min(st.session_state.get(AT, 0), len(made.steps) - 1))
        away(made)


EMPTY = (
    "Go to any page, set it up as you want it seen, and choose “Add to my lesson” there. Or begin "
    "with one of the lessons above, or with a file."
)


def field(name: str, label: str, value: str, longest: int, *, area: bool = False) -> None:
    """A text of the lesson itself."""
    key = f"lessons:{name}"
    st.session_state[key] = value
    show: Any = st.text_area if area else st.text_input

    def changed() -> None:
        draft.keep(replace(draft.lesson(), **{name: st.session_state[key]}))

    show(label, key=key, max_chars=longest, on_change=changed, **({"height": 80} if area else {}))


def row(made: Lesson, at: int, step: Step) -> None:
    """One step in the list, with what moves it."""
    number = at + 1
    told = lesson.unlinked(view.plain(step, 64))
    with st.container(key=f"pv-make-row-{at}", horizontal=True, vertical_alignment="center",
                      gap="xsmall"):  # fmt: skip
        st.button(
            f"**{number}. {view.page_title(step)}** {told}", key=f"lessons:edit:{at}",
            on_click=_choose, args=[at], width="stretch",
            type="primary" if at == st.session_state.get(AT, 0) else "tertiary",
        )  # fmt: skip
        for icon, label, by, possible in (
            (":material/arrow_upward:", say("Step {number} up", number=number), -1, at > 0),
            (":material/arrow_downward:", say("Step {number} down", number=number), 1,
             number < len(made.steps)),
        ):  # fmt: skip
            st.button(label, icon=icon, key=f"lessons:{by}:{at}", on_click=_move, args=[at, by],
                      disabled=not possible, type="tertiary")  # fmt: skip
        st.button(say("Remove step {number}", number=number), icon=":material/close:",
                  key=f"lessons:remove:{at}", on_click=_remove, args=[at],
                  type="tertiary")  # fmt: skip


def _choose(at: int) -> None:
    st.session_state[AT] = at


# Clicks that follow each other quickly may name a step that has just gone.


def _move(at: int, by: int) -> None:
    steps = list(draft.lesson().steps)
    if not max(at, at + by) < len(steps):
        return
    steps.insert(at + by, steps.pop(at))
    _put(steps)
    st.session_state[AT] = at + by


def _remove(at: int) -> None:
    steps = draft.lesson().steps
    _put([*steps[:at], *steps[at + 1 :]])


def _put(steps: Sequence[Step]) -> None:
    draft.keep(replace(draft.lesson(), steps=tuple(steps)))


def door() -> None:
    """The way in for a file."""
    key = f"{DOORS}:{st.session_state.get(DOORS, 0)}"

    def opened() -> None:
        file = st.session_state.get(key)
        if file is None:
            return
        st.session_state[DOORS] = st.session_state.get(DOORS, 0) + 1
        try:
            draft.take(file.getvalue().decode("utf-8-sig"))
            st.session_state[AT] = 0
        except UnicodeDecodeError:
            st.session_state[REFUSED] = say("This file is no text.")
        except InvalidParameterError as problem:
            st.session_state[REFUSED] = f"{complaint(problem)}."

    st.file_uploader(say("Open a lesson’s file, up to 1 MB"), key=key, on_change=opened,
                     max_upload_size=1)  # fmt: skip


# ------------------------------------------------------------------------------ one step


def edit(made: Lesson, at: int) -> None:
    """What is said, seen, moved and asked in one step."""
    step = made.steps[at]
    st.html(
        f'<p class="pv-title"><b>{escape(say("Step {number}", number=at + 1))}</b><span>'
        f"{escape(view.page_title(step))}</span></p>"
    )
    if st.button(say("Look at this step"), key="lessons:look"):
        st.session_state[GO] = lesson.address(made.packed(), made.steps, at + 1)
    for problem in view.problems(step):
        told = f"{complaint(problem)}. {say('Shown without that.')}"
        st.html(f'<p class="pv-notice" role="alert">{escape(told)}</p>')
    key = f"lessons:says:{at}"
    st.session_state[key] = step.says
    st.text_area(say("What you say"), key=key, max_chars=lesson.LONGEST_TEXT, height=110,
                 on_change=lambda: _change(at, says=st.session_state[key]))  # fmt: skip
    known = draft.placed(step.page, view.part(step))
    for name, label, labels, index in (
        ("handles", say("What can be moved"), view.handle_labels(step), 0),
        ("figures", say("What is seen"), view.figure_labels(step), 1),
    ):
        names(at, name, label, labels, getattr(step, name), known[index] if known else None)
    ask(at, step)


def _change(at: int, **changed: Any) -> None:
    steps = list(draft.lesson().steps)
    if at < len(steps):
        steps[at] = replace(steps[at], **changed)
        _put(steps)


def names(
    at: int,
    name: str,
    label: str,
    labels: dict[str, str],
    chosen: tuple[str, ...] | None,
    known: tuple[str, ...] | None,
) -> None:
    """Which handles, or pictures, a step shows; all of them means whatever the page has."""
    options = [one for one in labels if known is None or one in known or one in (chosen or ())]
    key = f"lessons:{name}:{at}"
    st.session_state[key] = [one for one in options if chosen is None or one in chosen]

    def changed() -> None:
        now = st.session_state[key]
        _change(at, **{name: None if len(now) == len(options) else tuple(now)})

    st.pills(label, options, selection_mode="multi", key=key, on_change=changed,
             format_func=lambda one: labels[one])  # fmt: skip


def ask(at: int, step: Step) -> None:
    """What is asked before a picture is seen: nothing, one of a few answers, or a curve."""
    labels, charts = view.figure_labels(step), view.charts(step)
    if not labels:
        return
    kinds = {"none": say("no question"), "choose": say("choose an answer")}
    if charts:
        kinds["draw"] = say("draw the curve")
    asked = step.ask
    kind = "none" if asked is None else "choose" if asked.options else "draw"
    key = f"lessons:ask:{at}"
    st.session_state[key] = kind if kind in kinds else "none"

    def chosen() -> None:
        before = asked or Ask("", charts[0] if charts else next(iter(labels)))
        options = before.options or (say("Yes"), say("No"))
        _change(at, ask={
            "choose": replace(before, options=options),
            "draw": Ask(before.question, before.figure if before.figure in charts else
                        next(iter(charts), ""), then=before.then),
        }.get(st.session_state[key]))  # fmt: skip

    st.segmented_control(say("First a question"), list(kinds), key=key, on_change=chosen,
                         format_func=lambda one: kinds[one], required=True)  # fmt: skip
    if asked is None:
        return

    def part(name: str, show: Any, label: str, value: Any, **more: Any) -> None:
        own = f"lessons:ask:{name}:{at}"
        st.session_state[own] = value
        show(label, key=own, on_change=lambda: _answer(at, name, st.session_state[own]), **more)

    places = list(labels) if asked.options else list(charts)
    part("question", st.text_input, say("Question"), asked.question,
         max_chars=lesson.LONGEST_TEXT)  # fmt: skip
    if asked.figure in places:
        part("figure", st.selectbox, say("Covered until then"), asked.figure, options=places,
             format_func=lambda one: labels[one])  # fmt: skip
    others = [one for one in labels if one != asked.figure]
    if others:
        part("covers", st.pills, say("Covered as well, for it would tell"),
             [one for one in others if one in asked.covers], options=others,
             selection_mode="multi", format_func=lambda one: labels[one])  # fmt: skip
    if asked.options:
        part("options", st.text_area, say("Answers, one a line"), "\n".join(asked.options),
             height=100)  # fmt: skip
        part("right", st.selectbox, say("Right is"), asked.right,
             options=range(len(asked.options)),
             format_func=lambda one: asked.options[one])  # fmt: skip
    part("then", st.text_area, say("What you say then"), asked.then, height=80,
         max_chars=lesson.LONGEST_TEXT)  # fmt: skip


def _answer(at: int, name: str, value: Any) -> None:
    steps = draft.lesson().steps
    before = steps[at].ask if at < len(steps) else None
    if before is None:
        return
    if name == "options":
        lines = [one.strip()[: lesson.LONGEST_TITLE] for one in value.splitlines() if one.strip()]
        options = tuple(lines[: lesson.MOST_OPTIONS]) or before.options
        right = min(before.right, len(options) - 1)
        _change(at, ask=replace(before, options=options, right=right))
    else:
        value = tuple(value) if name == "covers" else value
        _change(at, ask=replace(before, **{name: value}))


# ------------------------------------------------------------------------------ what to do


def away(made: Lesson) -> None:
    """Start it, save it, send it."""
    packed = made.packed()
    with st.container(key="pv-make-do", horizontal=True, vertical_alignment="center"):
        for label, present in ((say("Start"), False), (say("Start in present mode"), True)):
            if st.button(label, key=f"lessons:start:{present}"):
                st.session_state[GO] = view.start(made, packed) + present * "&present=1"
        st.download_button(say("Save as a file"), draft.file(), file_name="lesson.json",
                           mime="application/json", on_click="ignore")  # fmt: skip
        st.button(say("Begin anew"), on_click=draft.begin, args=[draft.NOTHING], type="tertiary")
    link = f"{(st.context.url or '').rpartition('/')[0]}/{view.start(made, packed)}"
    told = say("Its link holds all of it: {count} characters.", count=f"{len(link):,}")
    if len(link) > view.LONGEST_LINK:
        told += " " + say("Many servers refuse one that long. Send the file.")
    elif len(link) > view.SAFE_LINK:
        told += " " + say("Some mail programs cut one that long. A file arrives whole.")
    st.html(f'<p class="pv-scaling-label">{escape(told)}</p>')
    st.code(link, language=None)


st.session_state.pop(GO, None)  # of a run that did not come to its end
page.open_view(VIEW)
lessons_page()
page.below("lessons", "What is a lesson?", "In front of an audience", "Files and links")
