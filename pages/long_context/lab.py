"""Extrapolation lab: small trained models read on, past the length they were trained at."""

from typing import Any

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.lab import VIEW, Scene


@st.fragment
def lab() -> None:
    """The page: choices, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    v = sheet.values
    read = Scene(**v).read
    yarn = read.method == "yarn"

    def segments(name: str, **more: Any) -> None:
        sheet.choice(name, segmented=True, width="content", **more)

    def train_short(method: str) -> None:
        """Back to the defaults, with this RoPE model and that method."""
        model = v["model"] if read.encoding == "rope" else "rope-500"
        page.write(VIEW, {"model": model, "rope_type": method}, only=True)

    with sheet.choices():
        sheet.choice("model", width=190)
        segments("rope_type", disabled=not read.rotates)
        segments("attention_factor", disabled=not yarn)
        segments("seed", disabled=read.windowed)
        segments("reading")
        sheet.link()
    meaningless = {
        "factor": read.method == "default", "rope_theta": not read.rotates, "beta_fast": not yarn,
        "beta_slow": not yarn, "slope_multiplier": not read.biases,
    }  # fmt: skip
    sheet.handles(*meaningless, play=meaningless,
                  disabled=[name for name, off in meaningless.items() if off])  # fmt: skip
    sheet.show("notice")
    left, right = st.columns([8, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("perplexity", chart=True, height=420)
        sheet.show("caption", height=60)
        with st.container(key="pv-lab-more", horizontal=True, vertical_alignment="top"):
            sheet.choice("beside", width=330)
            segments("documents", disabled=read.windowed)
            segments("longest", disabled=read.windowed)
    with right.container(gap="xsmall"):
        sheet.show("repeated", chart=True, height=200)
        sheet.show("changes", height=96)
        sheet.show("readout", height=110)
        with st.container(key="pv-lab-exercise", horizontal=True):
            st.button(say("256 → 1,024 without scaling"), on_click=train_short, args=["default"])
            st.button(say("… with NTK"), on_click=train_short, args=["ntk"])
        sheet.show("exercise")
    sheet.anchor()


page.open_view(VIEW)
lab()
page.below("lab", "What am I looking at?", "How it was measured", "What it does not show")
