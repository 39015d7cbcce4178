"""Needle in a haystack: which planted names come back, and what perplexity says about it."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.needle import TEXT, VIEW


@st.fragment
def needle_page() -> None:
    """The page: choices, handles, the grid, one cell of it."""
    sheet = page.Sheet(VIEW)
    model, method = sheet.values["model"], sheet.values["rope_type"]
    turns = model.startswith("rope")
    scaled = turns and method != "default"
    with sheet.choices():
        sheet.choice("model", width=190)
        sheet.choice("seed", segmented=True, width="content")
        sheet.choice("rope_type", segmented=True, width="content", disabled=not turns)
        sheet.link()
    meaningless = {
        "factor": not scaled, "rope_theta": not turns,
        "beta_fast": not (scaled and method == "yarn"), "slope_multiplier": model != "alibi",
    }  # fmt: skip
    sheet.handles(*meaningless, disabled=[name for name, off in meaningless.items() if off])
    sheet.show("notice")
    left, right = st.columns([6, 7], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("grid", height=404)
        sheet.show("caption")
    with right.container(gap="xsmall"):
        sheet.show("near")
        with st.container(key="pv-near", horizontal=True, vertical_alignment="top"):
            sheet.show("answer", height=82)
            sheet.handle("haystack", unit=say("of {count}", count=int(TEXT.high)))
        sheet.show("heads", height=244)
        sheet.show("text", height=110)
    sheet.anchor()


page.open_view(VIEW)
needle_page()
page.below("needle", "What am I looking at?", "How it was measured", "What it does not show")
