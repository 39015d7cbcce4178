"""Claims to be tested: answer first, then see what decides."""

import streamlit as st

from posviz.claim_evidence import Bars
from posviz.ui import page
from posviz.ui.text import say
from posviz.views.claims import VIEW, scene


@st.fragment
def claims_page() -> None:
    """The page: where one stands, the claim, and what decides it."""
    sheet = page.Sheet(VIEW)
    shown = scene(sheet.values)
    claim = shown.claim
    with sheet.choices():
        sheet.show("score")
        sheet.link()
    sheet.show("strip")
    # A handle whose values have names is a row of buttons below the picture.
    moves = shown.answer and claim.handle and not claim.steps
    sheet.handles("claim", *([claim.id] if moves else []))
    sheet.show("question")
    if shown.answer:
        left, right = st.columns([5, 6], gap="large")
        with left.container(gap="xsmall"):
            sheet.show("verdict")
        with right.container(gap="xsmall"):
            picture = claim.decided.picture
            if isinstance(picture, Bars):
                sheet.show(f"evidence-{claim.id}", height=70 + 60 * len(picture.bars))
            else:
                sheet.show(f"evidence-{claim.id}", chart=True, height=390)
            sheet.show("look")
    sheet.show("list")
    sheet.anchor()


page.open_view(VIEW)
claims_page()
page.below(
    "claims", "How to use it", "What counts as true",
    links=[
        ("order", say("why order matters")),
        ("rope?part=decay", say("RoPE’s decay")),
        ("scaling", say("scaling methods")),
        ("lab", say("the lab")),
    ],
)  # fmt: skip
