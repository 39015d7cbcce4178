"""The learned table: one trained row per position, and none past the last."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.learned import HANDLES, VIEW


def show_rows(sheet: page.Sheet) -> None:
    """Map, profile, the two rows."""
    left, right = st.columns([5, 7], gap="large")
    with left.container(gap="xsmall"):
        sheet.show("similarity")
    with right.container(gap="xsmall"):
        sheet.show("profile", chart=True, height=250)
        sheet.show("numbers", height=110)
        sheet.show("formula", height=52)
        sheet.show("caption")


def show_change(sheet: page.Sheet) -> None:
    """Map, how far each row moved, one row."""
    left, right = st.columns([7, 5], gap="large")
    with left.container(gap="xsmall"):
        sheet.show("change", height=300)
        sheet.show("moved", chart=True, height=200)
    with right.container(gap="xsmall"):
        sheet.show("effect", chart=True, height=300)
        sheet.show("formula", height=48)
        sheet.show("caption")


def show_end(sheet: page.Sheet) -> None:
    """The table, the place in it, what comes of it."""
    left, right = st.columns([7, 5], gap="large")
    with left.container(gap="xsmall"):
        sheet.show("shelf", height=92)
        sheet.show("answer", height=60)
        sheet.show("window", height=80)
        sheet.show("formula", height=30)
    with right.container(gap="xsmall"):
        sheet.show("sizes")
        sheet.show("caption")


def show_longer(sheet: page.Sheet) -> None:
    """Where rows come from, and what it does to neighbours."""
    sheet.show("rulers", height=150)
    left, right = st.columns(2, gap="large")
    with left.container(gap="xsmall"):
        sheet.show("near", chart=True, height=230)
        sheet.show("formula", height=80)
    with right.container(gap="xsmall"):
        sheet.show("gaps", chart=True, height=230)
        sheet.show("caption")


def show_reading(sheet: page.Sheet) -> None:
    """What it costs, and where a head looks instead."""
    left, right = st.columns([7, 5], gap="large")
    with left.container(gap="xsmall"):
        sheet.show("perplexity", chart=True, height=400)
        sheet.show("caption", height=60)
    with right.container(gap="xsmall"):
        sheet.show("looks", chart=True, height=400)
        sheet.show("where", height=60)


SHOWN = {
    "rows": show_rows, "change": show_change, "end": show_end, "longer": show_longer,
    "reading": show_reading,
}  # fmt: skip


@st.fragment
def learned_page() -> None:
    """The page: choices, handles, pictures."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part != "end":  # its tables are chosen in a list of their own
            sheet.choice("seed", segmented=True, label_hidden=True, width="content")
        sheet.link()
    sheet.handles(*HANDLES[part], play=HANDLES[part])
    SHOWN[part](sheet)
    sheet.anchor()


page.open_view(VIEW)
learned_page()
page.below(
    "learned", "What am I looking at?", "Where this table began", "Past the end",
    scorecards=["learned"],
    links=[
        ("lab?model=learned", say("Extrapolation lab: the curve that stops at the table's end")),
        ("training?model=names-learned-seed1",
         say("Training replay: how this model learned to copy")),
        ("sinusoidal", say("Sinusoidal: the table that this one began as")),
        ("relative", say("Relative biases: learned, but by distance")),
    ],
)  # fmt: skip
