"""RoPE, part by part: a pair, the matrix, the pairings, decay, QK-norm, MLA, partial, the cache."""

from typing import Any

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say, section
from posviz.views.rope import PARTS, VIEW

# A width, and the pictures of a column with how they are shown.
Column = tuple[float, tuple[tuple[str, dict[str, Any]], ...]]


def columns(sheet: page.Sheet, *placed: Column) -> None:
    """Columns of a width and the pictures in each, with how they are shown."""
    for column, (_, shown) in zip(
        st.columns([width for width, _ in placed], gap="medium"), placed, strict=True
    ):
        with column.container(gap="xsmall"):
            for name, more in shown:
                sheet.show(name, **more)


LAYOUT: dict[str, tuple[Column, ...]] = {
    "pair": (
        (4, (("dial", {"height": 430}),)),
        (4, (("pairs", {"height": 272}), ("lamps", {"height": 46}), ("caption", {"height": 130}))),
        (4, (("map", {"height": 480}),)),
    ),
    "matrix": (
        (5, (("matrix", {"height": 540}),)),
        (7, (("table", {"height": 262}), ("lamps", {"height": 90}), ("caption", {"height": 90}),
             ("formula", {}))),
    ),
    "pairings": (
        (6, (("strips", {"height": 380}), ("lamps", {"height": 46}))),
        (7, (("mixup", {"chart": True, "height": 380}), ("caption", {"height": 80}))),
    ),
    "decay": (
        (7, (("scores", {"chart": True, "height": 380}), ("caption", {"height": 90}))),
        (6, (("bound", {"chart": True, "height": 380}), ("formula", {"height": 70}))),
    ),
    "norm": (
        (7, (("moved", {"chart": True, "height": 330}), ("lamps", {"height": 90}),
             ("caption", {"height": 80}))),
        (5, (("gap", {"height": 480}),)),
    ),
    "mla": (
        (4, (("inside", {"height": 440}),)),
        (4, (("beside", {"height": 440}),)),
        (5, (("cache", {"height": 120}), ("caption", {"height": 150}))),
    ),
    "partial": (
        (6, (("dims", {"height": 240}), ("caption", {"height": 60}), ("formula", {}))),
        (7, (("floor", {"chart": True, "height": 380}),)),
    ),
    "cache": (
        (6, (("keys", {"height": 236}), ("lamps", {"height": 50}))),
        (6, (("table", {"height": 220}), ("caption", {"height": 90}))),
    ),
}  # fmt: skip


@st.fragment
def rope_page() -> None:
    """The page: the part, its handles, its pictures, its words."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        if part in ("pair", "matrix", "cache"):
            sheet.choice("layout", segmented=True, label_hidden=True, width="content")
        if part == "norm":
            sheet.choice("gain", segmented=True, label_hidden=True, width="content")
        sheet.link()
    sheet.handles(*PARTS[part][1], play=PARTS[part][1][:1])
    columns(sheet, *LAYOUT[part])
    if part in ("pair", "mla"):
        sheet.show("formula", height=34)
    with st.container(key="pv-rope-words"):
        st.markdown(section("rope", PARTS[part][0]))
    sheet.anchor()


page.open_view(VIEW)
rope_page()
page.below(
    "rope", "Often said, and not so",
    scorecards=["rope"],
    links=[
        ("playground", say("Playground: every pair of a released model as a clock")),
        ("lab", say("Extrapolation lab: real models with RoPE past their trained length")),
        ("sinusoidal", say("Sinusoidal: the same frequencies, added instead of turned")),
    ],
)  # fmt: skip
