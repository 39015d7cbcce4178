"""Released models: a gallery to search, and any one or two of them in full."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.models import (
    VIEW,
    Model,
    config_text,
)


@st.fragment
def models() -> None:
    """The page: what is looked for, the gallery, the chosen model."""
    sheet = page.Sheet(VIEW)
    with sheet.choices():
        sheet.text_field("find")
        sheet.choice("encoding", width=150)
        sheet.choice("method", width=150)
        sheet.choice("beside", width=230)
        sheet.link()
    chosen = Model(sheet.values["model"])
    still = [] if chosen.rotary is not None or chosen.slopes is not None else ["pair"]
    sheet.handles("seq_len", "pair", play=["seq_len"], disabled=still)
    left, right = st.columns([5, 7], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("found")
        with st.container(key="pv-models", height=600, border=False):
            sheet.show("gallery")
    with right.container(gap="xsmall"):
        sheet.show("title")
        if "spectrum" in sheet.drawn:
            sheet.show("spectrum", chart=True, height=214)
            if "strip" in sheet.drawn:
                sheet.show("strip")
            sheet.show("caption")
        else:
            sheet.show("instead")
        sheet.show("layers")
        sheet.show("differences")
        sheet.show("facts")
        sheet.show("source")
    with st.expander(say("Its config.json, as it is read here")):
        st.code(config_text(chosen.name), language="json")
    if "pairs" in sheet.drawn:
        with st.expander(say("Every pair's frequency")):
            sheet.show("pairs")
    sheet.anchor()


page.open_view(VIEW)
models()
page.below(
    "models", "What am I looking at?", "Where the facts come from",
    "Which pairs a file stretches",
    links=[
        ("playground", say("Playground: turn the handles of any of them")),
        ("scaling", say("Scaling methods: what each one does to every pair")),
        ("doctor", say("Config doctor: paste a file of your own")),
    ],
)  # fmt: skip
