"""Relative biases: Shaw's vectors for clipped distances, T5's numbers for buckets of them."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say, section
from posviz.views.relative import HANDLES, VIEW


@st.fragment
def body() -> None:
    """The page: the part, its handles, its pictures."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part == "buckets":
            sheet.choice("direction", segmented=True, label_hidden=True, width="content")
        elif part == "heads":
            sheet.choice("model", label_hidden=True, width=220)
        elif part == "cost":
            sheet.choice("bytes_per_number", segmented=True, label_hidden=True, width="content")
        sheet.link()
    sheet.handles(*HANDLES[part])
    if part == "buckets":
        sheet.show("ruler", height=238)
        sheet.show("caption")
    left, right = st.columns([2, 3] if part in ("shaw", "heads") else 2, gap="medium")
    with left.container(gap="xsmall"):
        if part == "shaw":
            for name in ("rows", "rows:scale", "caption", "formula"):
                sheet.show(name)
        elif part == "buckets":
            sheet.show("sizes", chart=True, height=270)
        elif part == "heads":
            for name in ("bias", "bias:scale"):
                sheet.show(name)
        else:
            sheet.show("lengths")
            sheet.show("memory", chart=True, height=400)
    with right.container(gap="xsmall"):
        if part == "shaw":
            sheet.show("table")
            sheet.show("scores", chart=True, height=230)
            sheet.show("bert")
        elif part == "buckets":
            sheet.show("formula", height=64)
            sheet.show("float64")
        elif part == "heads":
            sheet.show("curve", chart=True, height=370)
            for name in ("caption", "formula", "scaled"):
                sheet.show(name)
        else:
            for name in ("prices", "caption", "formula"):
                sheet.show(name)
            st.markdown(section("relative", "Why fused kernels dislike it"))
    sheet.anchor()


page.open_view(VIEW)
body()
page.below(
    "relative", "What am I looking at?", "Where codes differ",
    scorecards=["shaw", "t5"],
    links=[
        ("alibi", say("ALiBi: a line instead of buckets")),
        ("lab?model=t5", say("T5's bias past its trained length")),
        ("playground", say("Playground: other encodings by distance")),
    ],
)  # fmt: skip
