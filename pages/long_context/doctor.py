"""Config doctor: what an engine does with a pasted config.json, what is wrong, and the mend."""

import streamlit as st

from posviz import config_text
from posviz.params import InvalidParameterError
from posviz.ui import page
from posviz.ui.packing import packed
from posviz.ui.text import say
from posviz.views.doctor import (
    EXAMPLES,
    LINKED,
    LONGEST,
    PASTED,
    VIEW,
    Case,
    begun,
    case,
    case_of,
    pictures_of,
    too_long,
    translated,
)


def take(given: str | bytes) -> None:
    """Makes a text the page's: in its link if it is short, else for this session alone."""
    try:
        text = config_text.as_text(given)
        if len(text) > LONGEST:
            raise too_long(text)
    except InvalidParameterError as problem:
        told = begun(translated(problem.template, problem.values))
        st.session_state["doctor:refused"] = say("{sentence}.", sentence=told)
        return
    linked = packed(text)
    is_short = len(linked) <= LINKED
    st.session_state["doctor:long"] = None if is_short else text
    own = {"config": linked} if is_short else {}
    page.write(VIEW, {"start": PASTED, "model": page.values(VIEW)["model"], **own}, only=True)


def typed() -> None:
    """What stands in the field."""
    take(st.session_state["doctor:text"] or "")


def door() -> str:
    """Key of the door for a file: a new one after each file, so that it stands empty."""
    return f"doctor:file:{st.session_state.get('doctor:files', 0)}"


def uploaded() -> None:
    """A file, or why it is none."""
    file = st.session_state.get(door())
    if file is not None:
        take(file.getvalue())
        st.session_state["doctor:files"] = st.session_state.get("doctor:files", 0) + 1


def example() -> None:
    """One of the examples; clicked again, it stays."""
    chosen = st.session_state["doctor:example"]
    if chosen is not None:
        page.write(VIEW, {"start": chosen}, only=True)


@st.fragment
def doctor() -> None:
    """The page: the text, its verdict, reading and findings; what the mends change."""
    sheet = page.Sheet(VIEW)
    values = sheet.values
    here = case_of(values["start"], values["config"], values["model"])
    kept = st.session_state.get("doctor:long")
    is_long = kept is not None and values["start"] == PASTED and not values["config"]
    if is_long:
        here = case(kept, values["model"])
        pair = here.comparisons[here.worst].telling if here.comparisons else 0
        sheet.drawn = pictures_of(here, here.worst, values["distance"], pair)
    with sheet.choices():
        sheet.choice("start", width=300, resets=True, label_hidden=True)
        examples(values["start"])
        sheet.link()
    sheet.show("verdict")
    left, right = st.columns([5, 8], gap="medium")
    has_more = bool(here.comparisons or here.findings)
    with left.container(gap="xsmall"):
        if here.form == "llama.cpp":
            sheet.choice("model")
        entry(here, is_long)
        if "plain" in sheet.drawn and has_more:
            sheet.show("plain")
    with right.container(gap="xsmall"):
        if "plain" in sheet.drawn and not has_more:
            sheet.show("plain")
        if "findings" in sheet.drawn:
            sheet.show("findings")
        if len(here.comparisons) > 1 and not is_long:
            sheet.choice("layer", width=260)
        if here.comparisons:
            if not is_long:
                sheet.handles("distance", "pair", play=["distance"])
            places = st.columns(2, gap="medium")
            with places[0].container(gap="xsmall"):
                if "off" in sheet.drawn:
                    sheet.show("off", chart=True, height=250)
                else:
                    sheet.show("caption")
            with places[1].container(gap="xsmall"):
                sheet.show("turns", chart=True, height=250)
            if "off" in sheet.drawn:
                sheet.show("caption")
    if here.mended_text:
        with st.container(key="pv-doctor-mended", gap="xsmall"):
            told = say("Mended, to copy"), say("with the mends of all errors and warnings")
            if here.form == "llama.cpp":
                told = say("Mended, to copy"), say("the flags that change positions")
            st.html(f'<p class="pv-title"><b>{told[0]}</b><span>{told[1]}</span></p>')
            st.code(here.mended_text, language="bash" if here.form == "llama.cpp" else "json",
                    wrap_lines=True)  # fmt: skip
    sheet.anchor()


def examples(start: str) -> None:
    """What to look at first, one click each."""
    st.session_state["doctor:example"] = start if start in EXAMPLES else None
    st.pills(say("Examples"), list(EXAMPLES), key="doctor:example", on_change=example,
             format_func=lambda one: say(EXAMPLES[one]), label_visibility="collapsed",
             width="content")  # fmt: skip


def entry(here: Case, is_long: bool) -> None:
    """The field for the text, and the door for a file."""
    st.session_state["doctor:text"] = here.text
    st.text_area(say("config.json, a part of it, or flags of llama.cpp or vLLM"), height=280,
                 key="doctor:text", on_change=typed,
                 help=say("Examined when you leave the field, or with Ctrl+Enter."))  # fmt: skip
    with st.container(key="pv-doctor-file"):
        st.file_uploader(
            say("or a file, up to 1 MB"), key=door(), on_change=uploaded,
             max_upload_size=1, label_visibility="collapsed",
        )  # fmt: skip
    told = []
    if refused := st.session_state.pop("doctor:refused", None):
        told.append(refused)
    if is_long:
        told.append(say("This text is too long for a link: it stays in this window, and its "
                        "pictures stand still."))  # fmt: skip
    if told:
        st.html(f'<p class="pv-notice" role="status">{" ".join(told)}</p>')


page.open_view(VIEW)
doctor()
page.below(
    "doctor", "What am I looking at?", "What the effect means", "What it cannot know",
    links=[
        ("scaling", say("what each scaling method does")),
        ("models", say("released models and their files")),
        ("playground", say("turn the handles yourself")),
    ],
)  # fmt: skip
