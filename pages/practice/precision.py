"""Precision: positions, angles and scores in float32, bfloat16 and float16."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.precision import HANDLES, VIEW


@st.fragment
def precision() -> None:
    """The page: the part, its choices and handles, its pictures."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part != "positions":
            sheet.choice("dtype", segmented=True, label_hidden=True, width="content")
            sheet.choice("model", label_hidden=True, width=300)
        sheet.link()
    sheet.handles(*HANDLES[part], play=["position"])
    sheet.show("verdict")
    {"positions": positions, "angles": angles, "invariance": invariance}[part](sheet)
    sheet.anchor()


def positions(sheet: page.Sheet) -> None:
    """The ruler over how many numbers there are."""
    sheet.show("ruler", height=190)
    left, right = st.columns([6, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("distinct", chart=True, height=290)
    with right.container(gap="xsmall"):
        sheet.show("table", height=220)
        sheet.show("caption")
        sheet.show("formula")


def angles(sheet: page.Sheet) -> None:
    """Two charts of errors beside a clock and the ways to hold an angle."""
    left, right = st.columns([6, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("errors", chart=True, height=255)
        sheet.show("by_pair", chart=True, height=225)
    with right.container(gap="xsmall"):
        sheet.show("hands", height=175)
        sheet.show("ways", height=190)
        sheet.show("caption")
        sheet.show("formula")


def invariance(sheet: page.Sheet) -> None:
    """Two maps beside the numbers of a column, over that distance at every position."""
    left, right = st.columns([7, 4], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("maps", height=350)
    with right.container(gap="xsmall"):
        sheet.show("table", height=150)
        sheet.show("caption", height=90)
        sheet.show("formula")
    sheet.show("flat", chart=True, height=210)


page.open_view(VIEW)
precision()
page.below(
    "precision", "What am I looking at?", "What to do", "Which rounding is which",
    links=[
        ("pitfalls?pitfall=position_dtype", say("the same mistake on a small trained model")),
        ("rope", say("how a pair turns by its position")),
        ("claims", say("true or false: bfloat16 keeps positions exact")),
        ("models", say("bases and lengths of released models")),
    ],
)  # fmt: skip
