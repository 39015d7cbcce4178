"""The frame of every page: look, state, links and handles.

A page's state is the query of its link, a small dict of text in the session. Whatever moves a
handle writes there, so that a link, a reload and a return from another page mean the same. What
stands around the page (:mod:`posviz.ui.frame`) is said by the link alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from posviz import catalog
from posviz.figures import cards
from posviz.params import Choice, Number, Parameter, Several, Text
from posviz.ui import draft, frame, lesson, live, site, text

Width = int | Literal["stretch", "content"]


def begin() -> None:
    """Page settings, language and the header of all pages; once per run, before all else."""
    st.set_page_config(page_title="posviz", layout="wide", initial_sidebar_state="collapsed")
    around, _ = frame.read(st.query_params)
    text.speak(around.lang or text.session_language() or _expected_language())
    st.html('<a class="pv-home" href="./" target="_self">posviz</a>')
    st.html(_frame_links())


def _expected_language() -> str:
    """What the visitor's browser asks for."""
    return text.preferred(st.context.locale or "")


def _frame_links() -> str:
    """The header's links that change what stands around the page."""
    others = [(code, name) for code, name in text.LANGUAGES.items() if code != text.language()]
    return (
        f'<p class="pv-frame"><a href="?present=1" data-frame="present=1" target="_self">'
        f"{escape(text.say('Present'))}</a>"
        + "".join(
            f'<a href="?lang={code}" data-frame="lang={code}" target="_self" '
            f'lang="{code}">{name}</a>'
            for code, name in others
        )
        + "</p>"
    )


def search(view: live.View) -> None:
    """The search line in the frame's header, where it costs the pages no room."""
    live.register(view)
    with st.container(key="pv-search"):
        live.search(view)


def _state(view: live.View) -> dict[str, str]:
    state: dict[str, str] = st.session_state.setdefault(f"posviz:{view.name}", {})
    return state


def open_view(view: live.View) -> None:
    """Takes the link that the visitor came by, and offers the view to the live route.

    Called by the page's script outside fragments: on arrival, when the browser goes to another
    link within the app, or back. An address that says nothing leaves the page as it was last.
    """
    live.register(view)
    around, bad = frame.read(st.query_params)
    step = around.step
    if step and step.page != view.name:
        _lead(around)
    own = {name: value for name, value in st.query_params.items() if name not in frame.NAMES}
    if step and not own:
        own = step.state
    title = next((one.title for one in site.pages() if one.name == view.name), "posviz")
    st.html(f'<h1 class="pv-unseen">{escape(text.say(title))}</h1>')
    said, more = view.read(own)
    unknown = frame.unknown(view, said, around)
    st.session_state[_problems(view)] = [*bad, *more, *unknown.values()]
    st.session_state[_disregarded(view)] = frozenset(unknown)
    if (own or step) and not st.session_state.pop(_WRITTEN, False):
        state = _state(view)
        state.clear()
        state.update(view.query(said))


def _lead(around: frame.Frame) -> None:
    """Goes to the page of the lesson's step."""
    assert around.step
    name = around.step.page
    folder = next(one.folder for one in site.GROUPS if name in {each.name for each in one.pages})
    # A step's view says nothing of the frame, nor of what is Streamlit's.
    own = {
        one: value
        for one, value in around.step.state.items()
        if one not in frame.NAMES and not one.lower().startswith("embed")
    }
    st.switch_page(f"pages/{folder}/{name}.py", query_params={**own, **around.query()})


def _address(around: frame.Frame, at: int) -> str:
    """Address of a step of the lesson that is held, in the frame as it is."""
    assert around.lesson
    step = around.lesson.steps[at - 1]
    said = around.query(lesson_step=at, handles=None, figures=None)
    return frame.address(step.page, step.state, said)


def _problems(view: live.View) -> str:
    return f"posviz:{view.name}:problems"


def _disregarded(view: live.View) -> str:
    return f"posviz:{view.name}:disregarded"


def complaints(view: live.View) -> None:
    """What the link said and could not mean, until something is moved."""
    problems = st.session_state.get(_problems(view), [])
    sentences = [
        text.say("{sentence}.", sentence=text.complaint(problem)) for problem in problems[:3]
    ]
    if len(problems) > 3:
        sentences.append(text.say("And {count} more.", count=len(problems) - 3))
    if sentences:
        sentences.append(text.say("Shown without that."))
        st.html(f'<p class="pv-notice" role="alert">{escape(" ".join(sentences))}</p>')


def values(view: live.View) -> live.Values:
    """The value of every parameter of the view, in this session."""
    return view.follow(_state(view))


def write(view: live.View, values: Mapping[str, object], *, only: bool = False) -> None:
    """Puts values into the state; with ``only``, everything else returns to its default."""
    state = _state(view)
    before = {} if only else dict(state)
    # What the link would say, no more: a value that a moved limit stopped is forgotten.
    followed = view.follow(before | {name: str(value) for name, value in values.items()})
    state.clear()
    state.update(view.query(followed))
    st.session_state.pop(_problems(view), None)
    st.session_state[_WRITTEN] = True


# Set by what writes before a run: its address is not the newest yet.
_WRITTEN = "posviz:written"


def handle(
    view: live.View,
    number: Parameter,
    value: float,
    *,
    unit: str | None = None,
    play: bool = False,
    disabled: bool = False,
    note: live.Picture | None = None,
) -> None:
    """The live slider of a number."""
    assert isinstance(number, Number)
    live.slider(
        text.say(number.label), number.low, number.high, value, number.step,
        key=number.name, help=text.say(number.help), scale=number.scale, play=play,
        unit=text.say(number.unit) if unit is None else unit, disabled=disabled, note=note,
        view=view,
    )  # fmt: skip


def picture(
    view: live.View,
    name: str,
    drawn: live.Picture,
    *,
    chart: bool = False,
    height: int | None = None,
) -> None:
    """A picture of the view in its place."""
    if chart:
        live.chart(drawn, key=name, height=height or 300, view=view)
    else:
        live.svg(drawn, key=name, height=height, view=view)


def choice(
    view: live.View,
    parameter: Parameter,
    value: str,
    *,
    segmented: bool = False,
    label_hidden: bool = False,
    resets: bool = False,
    keeps: Collection[str] = (),
    disabled: bool = False,
    width: Width = "stretch",
) -> None:
    """A choice, as a list or as a row of segments.

    One that ``resets`` moves all handles, but for those it ``keeps``.
    """
    assert isinstance(parameter, Choice)
    key = _widget(view, parameter, value)
    show: Any = st.segmented_control if segmented else st.selectbox
    show(
        text.say(parameter.label), parameter.options, key=key, width=width, disabled=disabled,
        on_change=lambda: _chosen(view, parameter, key, resets, keeps),
        format_func=lambda option: text.say(parameter.label_of(option)),
        help=text.say(parameter.help) if parameter.help else None,
        label_visibility="collapsed" if label_hidden else "visible",
    )  # fmt: skip


def several(
    view: live.View, parameter: Parameter, value: tuple[str, ...], *, label_hidden: bool = False
) -> None:
    """Any of a few options, as pills that are on or off."""
    assert isinstance(parameter, Several)
    key = _widget(view, parameter, list(value))
    st.pills(
        text.say(parameter.label), parameter.options, selection_mode="multi", key=key,
        format_func=lambda option: text.say(parameter.label_of(option)),
        on_change=lambda: _chosen_several(view, parameter, key),
        help=text.say(parameter.help) if parameter.help else None,
        label_visibility="collapsed" if label_hidden else "visible",
    )  # fmt: skip


def number_choice(
    view: live.View,
    parameter: Parameter,
    value: float,
    usual: Sequence[float],
    *,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """A number chosen from the usual ones, and whatever the link or the model says."""
    assert isinstance(parameter, Number)
    key = _widget(view, parameter, value)
    usual_and_own: set[float] = {*usual, value}
    st.selectbox(
        text.say(parameter.label), sorted(usual_and_own), key=key, width=width,
        on_change=lambda: _chosen(view, parameter, key, False),
        format_func=lambda option: f"{option:,}", help=text.say(parameter.help),
    )  # fmt: skip


def _widget(view: live.View, parameter: Parameter, value: object) -> str:
    """Key of a native widget, set to what the state says: the widget only shows it."""
    key = f"{view.name}:{parameter.name}"
    st.session_state[key] = value
    return key


def _chosen(
    view: live.View, parameter: Parameter, key: str, resets: bool, keeps: Collection[str] = ()
) -> None:
    chosen = st.session_state[key]
    if chosen is not None:  # a segment clicked again lets go of itself
        kept = {name: value for name, value in _state(view).items() if name in keeps}
        write(view, kept | {parameter.name: chosen}, only=resets)


def _chosen_several(view: live.View, parameter: Several, key: str) -> None:
    chosen = tuple(st.session_state[key])
    if len(chosen) <= parameter.most:  # one too many is let go of
        write(view, {parameter.name: parameter.write(chosen)})


def text_field(
    view: live.View, parameter: Parameter, value: str, *, clears: Sequence[str] = ()
) -> None:
    """A line of text that the pictures follow while it is typed."""
    assert isinstance(parameter, Text)
    live.text_field(
        text.say(parameter.label), value, key=parameter.name, longest=parameter.longest,
        help=text.say(parameter.help), view=view, clears=clears,
    )  # fmt: skip


class Sheet:
    """One run of a page: its values, its pictures, and each part put in its place by name.

    Built at the top of the page's fragment, where it also says what the link could not mean. What
    the frame leaves out is left out here.
    """

    def __init__(self, view: live.View) -> None:
        text.speak(text.language())
        st.session_state.pop(_WRITTEN, None)
        self.view = view
        self.around, _ = frame.read(st.query_params)
        self.around = self.around.without(st.session_state.get(_disregarded(view), ()))
        self.values = values(view)
        # What another part of the page has is disregarded as well, and needs no complaint.
        self.around = self.around.without(frame.unknown(view, self.values, self.around))
        self.declared = view.declared(self.values)
        self.drawn = view.draw(**self.values)
        self.places: list[str] = []
        self.moves: list[str] = []
        complaints(view)
        if self.around.lesson:
            words = [name for name, drawn in self.drawn.items() if not drawn.is_pictured]
            _lesson(view, self.around, words)

    def sees(self, name: str) -> bool:
        """Whether a handle or choice of that name is seen."""
        self.moves.append(name)
        seen = self.around.seen_handles
        return seen is None or name in seen

    def choices(self) -> DeltaGenerator:
        """The row for choices, on top."""
        return st.container(key="pv-choices", horizontal=True, vertical_alignment="top")

    def handles(
        self, *names: str, play: Collection[str] = (), disabled: Collection[str] = ()
    ) -> None:
        """The sliders in one row that stays in view; those in ``play`` have a button to run."""
        if not any([self.sees(name) for name in names]):
            return
        with st.container(key="pv-handles", horizontal=True, gap="medium"):
            for name in names:
                self.handle(name, play=name in play, disabled=name in disabled)

    def handle(self, name: str, **more: Any) -> None:
        """One slider; with a picture called ``note:NAME``, that stands below it."""
        if self.sees(name):
            note = self.drawn.get(f"note:{name}")
            handle(self.view, self.declared[name], self.values[name], note=note, **more)

    def choice(self, name: str, **more: Any) -> None:
        """One choice."""
        if self.sees(name):
            choice(self.view, self.declared[name], self.values[name], **more)

    def several(self, name: str, **more: Any) -> None:
        """Any of a few options."""
        if self.sees(name):
            several(self.view, self.declared[name], self.values[name], **more)

    def text_field(self, name: str, *, clears: Sequence[str] = ()) -> None:
        """One line of text; the parameters in ``clears`` begin anew when it changes."""
        if self.sees(name):
            text_field(self.view, self.declared[name], self.values[name], clears=clears)

    def number_choice(self, name: str, usual: Sequence[float], **more: Any) -> None:
        """One number, chosen from the usual ones."""
        if self.sees(name):
            number_choice(self.view, self.declared[name], self.values[name], usual, **more)

    def show(self, name: str, *, heading: bool = True, **more: Any) -> None:
        """One picture in its place, under the picture ``NAME:head`` if there is one.

        Its name is not that of a handle: Streamlit keeps both by name.
        """
        own, seen = name.removesuffix(":head"), self.around.seen_figures
        if name == own:
            self.places.append(name)
        if seen is not None and own not in seen:
            return
        if heading and f"{name}:head" in self.drawn:
            picture(self.view, f"{name}:head", self.drawn[f"{name}:head"])
        picture(self.view, name, self.drawn[name], **more)

    def link(self) -> None:
        """The buttons that copy the view's address."""
        if not _is_bare(self.around):
            live.copy_link(self.view)

    def anchor(self) -> None:
        """Tells the browser the state and hears of what moved there; last on the page."""
        pictures = [name for name in self.places if self.drawn[name].is_pictured]
        live.anchor(
            self.view,
            self.values,
            lambda moved, whole: write(self.view, moved, only=whole),
            around={
                "language": text.language(),
                "expected": _expected_language(),
                "query": self.around.query(lang=None),
                "asked": dict(st.query_params),
                "present": self.around.present,
                "lesson": bool(self.around.lesson),
                "embedded": st.context.is_embedded,
                "pictures": pictures,
                "captions": [name for name in self.places if "caption" in name],
            },
            on_reset=lambda: _reset(self.view),
        )
        part = str(self.values.get("part", ""))
        moves = tuple(dict.fromkeys(self.moves))
        draft.note_placed(self.view.name, part, moves, tuple(self.places))
        if not _is_bare(self.around) and self.view.name in lesson.pages():
            with st.container(key="pv-add"):
                draft.button(self.view)


def _reset(view: live.View) -> None:
    """Back to how the view began: the lesson's step, or all defaults."""
    around, _ = frame.read(st.query_params)
    state = _state(view)
    state.clear()
    state.update(view.query(view.read(around.step.state)[0]) if around.step else {})


def _lesson(view: live.View, around: frame.Frame, words: Sequence[str]) -> None:
    """The step of the lesson: where it stands, what is said, what is asked before the pictures.

    ``words`` are places that have numbers of the pictures, and are covered with them.
    """
    held, step = around.lesson, around.step
    assert held and step
    count = len(held.steps)

    def link(at: int, rel: str, label: str) -> str:
        if not 1 <= at <= count:
            return f"<span>{escape(label)}</span>"
        address = escape(_address(around, at))
        return f'<a href="{address}" rel="{rel}" target="_self">{escape(label)}</a>'

    say = text.say
    leave = frame.address(view.name, {}, around.query(lesson=None, lesson_step=None))
    with st.container(key="pv-lesson", gap="xsmall"):
        st.html(
            f'<p class="pv-lesson-head"><b>{escape(held.title)}</b>'
            f"<span>{escape(say('{at} of {count}', at=around.at, count=count))}</span>"
            + link(around.at - 1, "prev", say("Previous"))
            + link(around.at + 1, "next", say("Next"))
            + f'<a href="{escape(leave)}" class="pv-lesson-leave" target="_self">'
            f"{escape(say('Leave the lesson'))}</a></p>"
        )
        if step.says:
            st.markdown(lesson.unlinked(step.says))
        if step.ask:
            asked = asdict(step.ask) | {"covers": [*words, *step.ask.covers]}
            name = zlib.crc32(around.name.encode())  # that of one's own is long
            live.ask(view, f"{name}:{around.at}", asked)


def _is_bare(around: frame.Frame) -> bool:
    """Whether the page is shown without what only its reader needs."""
    return bool(around.present or around.lesson or st.context.is_embedded)


def directions(*ways: tuple[str, Sequence[tuple[str, str]]]) -> None:
    """One line of links within the app: what they are for, then address and label of each."""
    told = "".join(
        f"<span>{escape(purpose)}</span>"
        + "".join(
            f'<a href="{escape(address)}" target="_self">{escape(label)}</a>'
            for address, label in links
        )
        for purpose, links in ways
    )
    st.html(f'<p class="pv-see">{told}</p>')


def below(
    name: str,
    *titles: str,
    scorecards: Sequence[str] = (),
    links: Sequence[tuple[str, str]] = (),
) -> None:
    """What stands under every page: where to go on, the four questions, the prose, the words.

    Args:
        name: The page's.
        titles: Sections of its prose, folded, by their English titles.
        scorecards: Encodings whose answers to the four questions are shown.
        links: Pairs of an address within the app and what is there.
    """
    around, _ = frame.read(st.query_params)
    if _is_bare(around):
        return
    if links:
        directions((text.say("See it elsewhere:"), links))
    for encoding in scorecards:
        st.html(cards.scorecard(catalog.get(encoding), text.say))
    for page, title in [*((name, title) for title in titles), ("glossary", "Words")]:
        with st.expander(text.title(page, title)):
            st.markdown(text.section(page, title))
