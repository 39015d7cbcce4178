"""Why order matters: attention without positions only reorders its outputs."""

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.order import VIEW, WEIGHED

SCORECARDS = {
    "none": "none", "causal": "none", "sinusoidal": "sinusoidal", "rope": "rope",
    "alibi": "alibi", "alibi_symmetric": "alibi",
}  # fmt: skip


@st.fragment
def order() -> None:
    """The page: a sentence, two orders of it, what the head makes of them."""
    sheet = page.Sheet(VIEW)
    with sheet.choices():
        sheet.text_field("text", clears=["order"])
        sheet.choice("encoding", segmented=True, width="content")
        sheet.link()
    with st.container(key="pv-handles", horizontal=True, gap="medium"):
        if sheet.values["encoding"] in WEIGHED:
            sheet.handle("weight", play=True)
        else:  # keeps the place, so that the other handle stays where it is
            nothing = say("Sinusoidal, RoPE and ALiBi have a weight to move.")
            st.html(f'<div class="pv-order-weightless">{nothing}</div>')
        sheet.handle("seed", play=True)
    left, right = st.columns([5, 3], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("examples")
        sheet.show("orders")
    with right.container(gap="xsmall"):
        sheet.show("verdict", height=120)
    maps, outputs = st.columns([5, 3], gap="medium")
    with maps.container(gap="xsmall"):
        first, second = st.columns(2, gap="medium")
        with first.container(gap="xsmall"):
            sheet.show("written")
        with second.container(gap="xsmall"):
            sheet.show("reordered")
        sheet.show("looks")
    with outputs.container(gap="xsmall"):
        sheet.show("outputs")
        sheet.show("sums")
    sheet.anchor()
    # Within the fragment, so that the answers follow the choice.
    page.below(
        "order", "What am I looking at?", "Equivariant, not invariant", "What breaks it",
        "How the sentence is split",
        scorecards=[SCORECARDS[sheet.values["encoding"]]],
        links=[
            ("playground", say("Playground: what positions do over long distances")),
            ("sinusoidal", say("Sinusoidal: a vector for each place")),
            ("rope", say("RoPE: turned by its place")),
        ],
    )  # fmt: skip


page.open_view(VIEW)
order()
