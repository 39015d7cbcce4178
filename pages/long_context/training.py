"""Training replay: losses, and the copying circuit as it appears."""

import streamlit as st

from posviz.ui import page
from posviz.views.training import VIEW


@st.fragment
def training() -> None:
    """The page: choices, handle, pictures, words."""
    sheet = page.Sheet(VIEW)
    with sheet.choices():
        sheet.choice("model", width=300)
        sheet.choice("beside", width=300)
        sheet.link()
    sheet.handles("step", play=["step"])
    two = sheet.values["beside"] != "nothing"
    left, right = st.columns(2, gap="medium")
    for place, column in (("", left), (":beside", right))[: 1 + two]:
        with column.container(gap="xsmall"):
            sheet.show(f"losses{place}", chart=True, height=160 if two else 390)
        beside = column if two else right
        with beside.container(gap="xsmall"):
            sheet.show(f"strips{place}", height=165)
            sheet.show(f"shares{place}", chart=True, height=150 if two else 270)
        with column.container(gap="xsmall"):
            sheet.show(f"caption{place}")
            sheet.show(f"phases{place}")
    sheet.anchor()


page.open_view(VIEW)
training()
page.below("training", "What am I looking at?", "What it does not show")
