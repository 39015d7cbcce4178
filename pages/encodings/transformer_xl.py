"""Transformer-XL: four terms that add up, the memory, the relative shift, terms by distance."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.transformer_xl import HANDLES, LONGEST, VIEW

USUAL = {"q_len": (1, 4, 12, 32, 64, 128, 256), "memory": (0, 4, 16, 64, 128)}


@st.fragment
def page_of_terms() -> None:
    """The page: choices, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    v = sheet.values
    part = v["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part == "terms":
            sheet.choice("form", segmented=True, label_hidden=True, width="content")
            for name in ("q_len", "memory"):
                usual = [n for n in USUAL[name] if name == "q_len" or n + v["q_len"] <= LONGEST]
                sheet.number_choice(name, usual, width=110)
        elif part == "shift":
            sheet.choice("table", segmented=True, label_hidden=True, width="content")
            sheet.choice("dropped", segmented=True, label_hidden=True, width="content")
        sheet.link()
    if part == "terms":
        own = ("u", "v") if v["form"] == "relative" else ()
        sheet.handles("query", "key", *own, "shift", play=("shift",))
        sheet.show("maps")
        left, right = st.columns(2, gap="medium")
        with left.container(gap="xsmall"):
            sheet.show("cell", height=190)
            sheet.show("product")
        with right.container(gap="xsmall"):
            sheet.show("weights", chart=True, height=230)
    else:
        sheet.handles(*HANDLES[part], play=("step", "asker", "clamp_len"))
        if part == "memory":
            sheet.show("segments")
            sheet.show("repeats", chart=True, height=330)
        left, right = st.columns([3, 2] if part == "shift" else 2, gap="medium")
        if part == "shift":
            with left.container(gap="xsmall"):
                sheet.show("shifting")
            with right.container(gap="xsmall"):
                sheet.show("steps", height=330)
                sheet.show("caption")
        elif part == "distance":
            with left.container(gap="xsmall"):
                sheet.show("curves", chart=True, height=380)
            with right.container(gap="xsmall"):
                sheet.show("R")
                sheet.show("entry")
    if part != "shift":
        sheet.show("caption")
    sheet.anchor()


page.open_view(VIEW)
page_of_terms()
page.below(
    "transformer_xl", "Four terms", "Memory", "The shift", "What is shown",
    scorecards=["transformer_xl"],
    links=[
        ("relative", say("Relative biases: Shaw, T5")),
        ("sinusoidal", say("Sinusoidal: where R comes from")),
        ("playground", say("Playground: other encodings by distance")),
    ],
)  # fmt: skip
