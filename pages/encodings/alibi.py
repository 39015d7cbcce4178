"""ALiBi: a slope for each head, what it takes from scores, and how far a head then sees."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.alibi import HANDLES, VIEW


@st.fragment
def alibi_page() -> None:
    """The page: part, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part == "slopes":
            sheet.choice("order", segmented=True, label_hidden=True, width="content")
        if part == "bias":
            sheet.choice("mask", segmented=True, label_hidden=True, width="content")
        sheet.link()
    sheet.handles(*HANDLES[part], play=("head",))
    if part == "bias":
        sheet.show("maps")
    left, right = st.columns(2, gap="medium")
    with left.container(gap="xsmall"):
        if part == "slopes":
            sheet.show("slopes", chart=True, height=440)
        elif part == "bias":
            sheet.show("row", height=150)
        elif part == "weights":
            sheet.show("weights", chart=True, height=440)
        else:
            sheet.show("covered", chart=True, height=270)
            sheet.show("contexts", height=140)
            sheet.show("caption")
    with right.container(gap="xsmall"):
        if part == "slopes":
            sheet.show("ladder", height=260)
        elif part == "bias":
            sheet.show("caption")
        elif part == "weights":
            sheet.show("windows", chart=True, height=440)
        elif "perplexity" in sheet.drawn:
            sheet.show("perplexity", chart=True, height=200)
            sheet.show("found", chart=True, height=200)
            sheet.show("measured")
    if part in ("slopes", "weights"):
        sheet.show("caption")
    sheet.anchor()


page.open_view(VIEW)
alibi_page()
page.below(
    "alibi", "What am I looking at?", "How far does a head see?", "Variants and slips",
    scorecards=["alibi"],
    links=[
        ("playground?num_heads=12&head=3", say("beside RoPE, in the playground")),
        ("lab?model=alibi", say("read past its training, in the lab")),
        ("needle?model=alibi", say("needles in a haystack")),
        ("copying?model=alibi", say("copying")),
    ],
)  # fmt: skip
