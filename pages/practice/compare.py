"""Compare: every encoding of the catalog at once."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.compare import HANDLES, VIEW

PLAY = ("query", "variety", "place", "years", "length", "context")


@st.fragment
def compare() -> None:
    """The page: the part, its choices and handles, its pictures."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part == "side":
            sheet.choice("show", segmented=True, label_hidden=True, width="content")
        if part == "distance":
            sheet.choice("unit", segmented=True, label_hidden=True, width="content")
            sheet.choice("axis", segmented=True, label_hidden=True, width="content")
        sheet.link()
    if part == "side":
        with st.container(horizontal=True, vertical_alignment="center", key="pv-compare-chips"):
            sheet.several("encodings", label_hidden=True)
            sheet.show("hint")
    if part == "distance":
        sheet.several("lines", label_hidden=True)
    if part == "questions":
        with st.container(horizontal=True, key="pv-compare-filters"):
            for name in ("question", "enters", "kind", "level"):
                sheet.choice(name, width=230)
    sheet.handles(*HANDLES[part], play=PLAY)
    {"side": side, "distance": by_distance, "questions": questions, "price": price,
     "beyond": beyond}[part](sheet)  # fmt: skip
    sheet.anchor()


def side(sheet: page.Sheet) -> None:
    """Maps over the query's row."""
    sheet.show("maps", height=340)
    left, right = st.columns([5, 4], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("row", chart=True, height=215)
    with right.container(gap="xsmall"):
        sheet.show("looks", height=180)
        sheet.show("caption")


def by_distance(sheet: page.Sheet) -> None:
    """Curves beside their values."""
    left, right = st.columns([3, 2], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("curves", chart=True, height=460)
    with right.container(gap="xsmall"):
        sheet.show("values")
        sheet.show("caption")
        sheet.show("formula")


def questions(sheet: page.Sheet) -> None:
    """One table."""
    sheet.show("answers")


def price(sheet: page.Sheet) -> None:
    """Two charts beside the table."""
    sheet.show("shapes", height=28)
    left, right = st.columns([4, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("memory", chart=True, height=210)
        sheet.show("work", chart=True, height=210)
    with right.container(gap="xsmall"):
        sheet.show("prices")
        sheet.show("caption")
        sheet.show("formula")


def beyond(sheet: page.Sheet) -> None:
    """Measured curves beside their values."""
    left, right = st.columns([3, 2], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("losses", chart=True, height=440)
    with right.container(gap="xsmall"):
        sheet.show("measured")
        sheet.show("caption")
        sheet.show("copied", chart=True, height=210)


page.open_view(VIEW)
compare()
page.below(
    "compare", "What am I looking at?", "How each encoding enters", "What the prices count",
    links=[
        ("order", say("why a model needs positions at all")),
        ("playground", say("RoPE, ALiBi and sinusoids, live")),
        ("lab", say("the same models past their training")),
        ("needle", say("do they still find far words?")),
    ],
)  # fmt: skip
