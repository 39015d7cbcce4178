"""Sinusoidal encoding: its table, its counter, its distances, and what lies past training."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.sinusoidal import HANDLES, VIEW


@st.fragment
def sinusoids() -> None:
    """The page: the part, its handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        sheet.choice("spacing", segmented=True, label_hidden=True, width="content")
        if part != "counter":
            sheet.choice("layout", segmented=True, label_hidden=True, width="content")
        sheet.link()
    sheet.handles(*HANDLES[part], play=("position", "shift"))
    if part == "counter":
        left, right = st.columns([3, 2], gap="medium")
        with left.container(gap="xsmall"):
            sheet.show("counter")
        with right.container(gap="xsmall"):
            sheet.show("caption", height=170)
            sheet.show("digits")
    elif part == "distance":
        left, right = st.columns([3, 2], gap="medium")
        with left.container(gap="xsmall"):
            sheet.show("product", chart=True, height=240)
            sheet.show("moved")
            sheet.show("caption", height=120)
        with right.container(gap="xsmall"):
            sheet.show("matrix")
    else:
        left, right = st.columns([3, 2], gap="medium")
        with left.container(gap="xsmall"):
            sheet.show("table")
        with right.container(gap="xsmall"):
            if part == "beyond":
                sheet.show("likeness", chart=True, height=210)
            sheet.show("clocks", height=250)
            sheet.show("caption", height=110)
    sheet.anchor()


page.open_view(VIEW)
sinusoids()
page.below(
    "sinusoidal", "What am I looking at?", "Why a sine and a cosine?", "What the counter says",
    "Paper, code and habit",
    scorecards=["sinusoidal"],
    links=[
        ("lab?model=sinusoidal", say("Lab: a sinusoidal model, read past its training")),
        ("training?model=names-sinusoidal-seed0", say("Training replay of that model")),
        ("rope", say("RoPE: the same clocks, turning queries and keys")),
        ("playground", say("Playground: beside RoPE and ALiBi")),
    ],
)  # fmt: skip
