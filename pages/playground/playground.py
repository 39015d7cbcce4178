"""Playground: five handles, three linked pictures."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.playground import VIEW

HEADS = (8, 12, 16, 32, 40, 64, 112)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)

# Who comes, and where each of them finds most.
WAYS = {
    "Learn": {"order": "Why order matters", "sinusoidal": "Sinusoidal", "rope": "RoPE",
              "claims": "Claims"},
    "Teach": {"claims": "Claims to vote on", "training": "Training replay", "lab": "Lab"},
    "Build": {"picker": "Picker", "doctor": "Config doctor", "scaling": "Scaling methods",
              "pitfalls": "Pitfalls"},
}  # fmt: skip


@st.fragment
def playground() -> None:
    """The page: choices, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    with st.container(key="pv-ways", horizontal=True):
        st.html(f'<p class="pv-see">{say("How Transformers know where a token stands.")}</p>')
        for purpose, ways in WAYS.items():
            page.directions((say(purpose), [(at, say(label)) for at, label in ways.items()]))
    with sheet.choices():
        sheet.choice("model", resets=True, width=220)
        sheet.choice("rope_type", segmented=True, width="content")
        sheet.number_choice("original_max_position_embeddings", LENGTHS, width=150)
        sheet.number_choice("num_heads", HEADS, width=100)
        sheet.link()
    handles = ("position", "rope_theta", "head_dim", "factor", "head")
    plain = sheet.values["rope_type"] == "default"
    sheet.handles(*handles, play=handles, disabled=["factor"] if plain else [])
    sheet.show("notice")
    left, right = st.columns([5, 8], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("rotations", height=336)
        with st.container(horizontal=True, gap="medium"):
            sheet.handle("pair")
            sheet.handle("shift")
        sheet.show("lamps", height=126)
    with right.container(gap="xsmall"):
        seen = sheet.around.seen_figures
        if seen is None or "attention" in seen:  # what it is read by, not without it
            with st.container(key="pv-attention", horizontal=True, vertical_alignment="bottom"):
                sheet.show("attention:head")
                for name in ("axis", "show"):
                    sheet.choice(name, segmented=True, label_hidden=True, width="content")
        sheet.show("attention", heading=False, chart=True, height=272)
        sheet.show("extrapolation", chart=True, height=206)
    sheet.show("caption")
    sheet.anchor()


page.open_view(VIEW)
playground()
page.below("playground", "What am I looking at?")
