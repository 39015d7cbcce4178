"""Copying: accuracy over length, and where the heads look."""

import streamlit as st

from posviz.ui import page
from posviz.views.copying import VIEW


@st.fragment
def copying() -> None:
    """The page: choices, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    model, method = sheet.values["model"], sheet.values["rope_type"]
    rotates = "rope" in model
    with sheet.choices():
        for name in ("model", "seed"):
            sheet.choice(name, segmented=True, width="content")
        sheet.choice("rope_type", segmented=True, width="content", disabled=not rotates)
        sheet.link()
    meaningless = {
        "factor": not rotates or method == "default",
        "beta_fast": not rotates or method != "yarn",
        "slope_multiplier": "alibi" not in model,
    }
    handles = (*meaningless, "length", "head")
    sheet.handles(*handles, play=handles,
                  disabled=[name for name, off in meaningless.items() if off])  # fmt: skip
    left, right = st.columns([7, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("curves", chart=True, height=430)
        sheet.show("caption")
        sheet.show("story")
    with right.container(gap="xsmall"):
        sheet.show("heads", height=124)
        sheet.show("map", height=390)
        sheet.show("map:caption")
    sheet.anchor()


page.open_view(VIEW)
copying()
page.below("copying", "What am I looking at?", "How it was measured", "What it does not show")
