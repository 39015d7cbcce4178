"""Scaling methods: what each one does to every pair, beside the others, and its spellings."""

from html import escape

import streamlit as st

from posviz.ui import page
from posviz.ui.text import say
from posviz.views.scaling import HANDLES, OWN_HANDLES, VIEW, Scene, texts


@st.fragment
def body() -> None:
    """The page: part, methods, handles, pictures."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        sheet.choice("model", resets=True, keeps=["part"], label_hidden=True, width=230)
        if part == "cache":
            sheet.choice("growing", segmented=True, label_hidden=True, width="content")
        elif part == "units":
            sheet.choice("stack", label_hidden=True, width=220)
        else:
            sheet.choice("pinned", label_hidden=True, width=150)
        sheet.link()
    if part != "units":
        with st.container(key="pv-scaling-methods", horizontal=True, vertical_alignment="center"):
            second_row(sheet)
    idle = part == "units" and sheet.values["stack"] == "default"
    sheet.handles(*HANDLES[part], disabled=["factor"] if idle else [])
    pinned = sheet.values["pinned"]
    if part not in ("cache", "units") and pinned in OWN_HANDLES:
        with st.container(key="pv-scaling-own", horizontal=True, gap="medium"):
            for name in OWN_HANDLES[pinned]:
                sheet.handle(name)
    if "notice" in sheet.drawn:
        sheet.show("notice")
    PLACES[part](sheet)
    sheet.anchor()


def second_row(sheet: page.Sheet) -> None:
    """Choices of the part, under those of the page."""
    part, pinned = sheet.values["part"], sheet.values["pinned"]
    if part == "cache":
        sheet.choice("engine", segmented=True, label_hidden=True, width="content")
        sheet.choice("policy", segmented=True, label_hidden=True, width="content")
        return
    if part != "take":
        sheet.several("methods", label_hidden=True)
    if part == "spectrum":
        sheet.choice("show", segmented=True, label_hidden=True, width="content")
    if part != "take" and "yarn" in (pinned, *sheet.values["methods"]):
        sheet.choice("ramp", segmented=True, label_hidden=True, width="content")
    if pinned == "yarn":
        sheet.choice("truncate", segmented=True, label_hidden=True, width="content")
    if pinned == "longrope":
        sheet.choice("lists", label_hidden=True, width=230)
    if part == "take":
        sheet.choice("style", segmented=True, label_hidden=True, width="content")


def place_spectrum(sheet: page.Sheet) -> None:
    """Charts on the left, numbers on the right."""
    left, right = st.columns([6, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("spectrum", chart=True, height=250)
        sheet.show("strip", height=44)
        sheet.show("ratios", chart=True, height=190)
    with right.container(gap="xsmall"):
        sheet.show("table", height=146)
        if "ramps" in sheet.drawn:
            sheet.show("ramps", chart=True, height=170)
        else:
            sheet.show("no ramps", height=170)
        sheet.show("caption")


def place_angles(sheet: page.Sheet) -> None:
    """The maps over the whole width, the count by length below them."""
    sheet.show("maps")
    left, right = st.columns([6, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("shares", chart=True, height=200)
    with right.container(gap="xsmall"):
        sheet.show("caption")
        sheet.show("table")


def place_attention(sheet: page.Sheet) -> None:
    """Two charts side by side."""
    left, right = st.columns(2, gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("same", chart=True, height=420)
    with right.container(gap="xsmall"):
        sheet.show("learned", chart=True, height=420)
    sheet.show("caption")


def place_cache(sheet: page.Sheet) -> None:
    """The timeline, and what it does to scores."""
    if "timeline" not in sheet.drawn:
        sheet.show("caption")
        return
    left, right = st.columns(2, gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("timeline", chart=True, height=380)
        sheet.show("caption")
    with right.container(gap="xsmall"):
        sheet.show("scores", chart=True, height=260)
        sheet.show("errors", chart=True, height=200)


def place_units(sheet: page.Sheet) -> None:
    """The table of settings, and what the chosen one does to every pair."""
    left, right = st.columns([6, 5], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("knobs")
    with right.container(gap="xsmall"):
        sheet.show("products", chart=True, height=250)
        sheet.show("caption")
        sheet.show("yarn flags")


def place_take(sheet: page.Sheet) -> None:
    """Texts to copy and files to keep; they follow when a handle is let go."""
    given = texts(Scene(**sheet.values))
    sheet.show("caption")
    left, right = st.columns(2, gap="medium")
    with left.container(gap="xsmall"):
        show_text(say("Hugging Face config.json"), given.config, given.why_no_config, "json")
        for note in given.notes:
            st.html(f'<p class="pv-scaling-label">{escape(note)}</p>')
        show_text(say("llama.cpp"), given.flags, given.why_no_flags, "bash")
        show_text(say("vLLM"), given.vllm, given.why_no_vllm, "bash")
    with right.container(gap="xsmall"):
        with st.container(horizontal=True):
            for label, text, file, kind in (
                (say("Download config.json"), given.config, "config.json", "application/json"),
                (say("Download Python"), given.snippet, "inv_freq.py", "text/x-python"),
                (say("Download CSV"), given.table, "spectrum.csv", "text/csv"),
            ):
                if text:
                    st.download_button(label, text, file, kind, key=f"pv-scaling:{file}",
                                       on_click="ignore")  # fmt: skip
        said = say("Pictures: hover one and press PNG or SVG; “Copy link” gives this view.")
        st.html(f'<p class="pv-scaling-label">{said}</p>')
        show_text(say("Python, the same inv_freq"), given.snippet, "", "python", 420)


def show_text(
    title: str, text: str, why_not: str, language: str, height: int | None = None
) -> None:
    """A text to copy under its title, or why there is none."""
    st.html(f'<p class="pv-scaling-label"><b>{title}</b></p>')
    if not text:
        st.html(f'<p class="pv-scaling-label">{escape(why_not)}</p>')
    elif height is None:
        st.code(text, language=language, wrap_lines=True)
    else:
        st.code(text, language=language, height=height)


PLACES = {
    "spectrum": place_spectrum, "angles": place_angles, "attention": place_attention,
    "cache": place_cache, "units": place_units, "take": place_take,
}  # fmt: skip

page.open_view(VIEW)
body()
page.below(
    "scaling", "What am I looking at?", "Why does YaRN multiply the scores?",
    "Where paper, code and habit differ", "Units in words", "Why is a cache wrong?",
    links=[
        ("picker", say("which method for my model? the picker")),
        ("playground?rope_type=yarn", say("one method with its clocks, in the playground")),
        ("lab", say("what methods do to a trained model, in the lab")),
        ("models", say("released models and their settings")),
        ("doctor", say("is a config.json right?")),
    ],
)  # fmt: skip
