"""Pitfalls: choose a mistake, see where it shows and why short tests pass."""

import streamlit as st

from posviz import pitfalls
from posviz.ui import page
from posviz.ui.text import say
from posviz.views.pitfalls import USUAL, VIEW, WITHOUT_MODEL, handles


@st.fragment
def pitfalls_page() -> None:
    """The page: what went wrong, handles, pictures, words."""
    sheet = page.Sheet(VIEW)
    v = sheet.values
    pitfall = pitfalls.get(v["pitfall"])
    slip = pitfall.slip(v["slip"])
    with sheet.choices():
        sheet.choice("pitfall", resets=True, width=280)
        sheet.choice("slip", width=290)
        sheet.choice("example", width=250)
        if pitfall.id != "mrope":
            lengths = [length for length in USUAL if length <= pitfall.longest]
            sheet.number_choice("seq_len", lengths, width=130)
        sheet.choice("across", segmented=True, label_hidden=True, width="content")
        sheet.link()
    names = handles(pitfall, slip.settings(v["example"]))
    sheet.handles(*names, play=names[:2])
    sheet.show("told")
    left, right = st.columns([8, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("glance")
        sheet.show("scores", chart=True, height=250)
        sheet.show("caption", height=45)
        sheet.show("why", height=130)
    with right.container(gap="xsmall"):
        sheet.show("map", height=300)
        if pitfall.id in WITHOUT_MODEL:
            sheet.show("real:head")
        else:
            sheet.show("real", chart=True, height=170)
        sheet.show("real:caption", height=60)
    sheet.anchor()


page.open_view(VIEW)
pitfalls_page()
page.below(
    "pitfalls", "What am I looking at?", "How to test for all of them", "Shown on other pages",
    links=[
        ("doctor", say("let a config be examined")),
        ("rope?part=pairings", say("both pairings")),
        ("rope?part=partial", say("partial rotary")),
        ("scaling?part=cache", say("what a cache holds")),
        ("precision", say("positions in 16 bits, fast sines")),
        ("transformer_xl?part=shift&dropped=last", say("what the relative shift leaves behind")),
        ("sinusoidal", say("sines first, or by turns")),
        ("alibi?num_heads=40&head=33", say("40 heads under ALiBi")),
        ("relative?part=buckets", say("T5’s buckets")),
    ],
)  # fmt: skip
