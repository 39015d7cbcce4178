"""Picker: what to use for a context, how to set it, and how sure that is."""

from html import escape

import streamlit as st

from posviz import params
from posviz.ui import page
from posviz.ui.text import say
from posviz.views.picker import VIEW, Scene, charts
from posviz.views.picker_take import texts

KEPT = ("part", "needs", "engine", "training_tokens", "memory", "style")  # when the model changes
NUMBERS = ("rope_theta", "rotary_dim", "head_dim", "num_heads", "num_key_value_heads",
           "num_hidden_layers")  # fmt: skip


@st.fragment
def picker() -> None:
    """The page: questions, handles, the answer."""
    sheet = page.Sheet(VIEW)
    part = sheet.values["part"]
    with sheet.choices():
        sheet.choice("part", segmented=True, label_hidden=True, width="content")
        choose_model(sheet)
        if sheet.values["model"] == "scratch":
            sheet.choice("modality", segmented=True, label_hidden=True, width="content")
        sheet.link()
    with st.container(key="pv-picker-needs", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="pv-picker-ask">{escape(say("It needs"))}</p>', width="content")
        sheet.several("needs", label_hidden=True)
        st.html(f'<p class="pv-picker-ask">{escape(say("Your program takes"))}</p>',
                width="content")  # fmt: skip
        sheet.choice("engine", segmented=True, label_hidden=True, width="content")
    sheet.handles("original_max_position_embeddings", "target", "training_tokens", "memory")
    if part == "answer":
        place_answer(sheet)
    elif part == "take":
        place_take(sheet)
    else:
        sheet.show("told")
        sheet.show("rules")
    sheet.anchor()


def choose_model(sheet: page.Sheet) -> None:
    """What one has; choosing another moves its numbers and leaves the other answers."""
    parameter, key = sheet.declared["model"], "picker:model"
    assert isinstance(parameter, params.Choice)
    st.session_state[key] = sheet.values["model"]

    def chosen() -> None:
        kept = {name: sheet.declared[name].write(sheet.values[name]) for name in KEPT}
        page.write(VIEW, {**kept, "model": st.session_state[key]}, only=True)

    st.selectbox(
        say(parameter.label), parameter.options, key=key, width=250, on_change=chosen,
        format_func=lambda one: say(parameter.label_of(one)), label_visibility="collapsed",
    )  # fmt: skip


def place_answer(sheet: page.Sheet) -> None:
    """The answer, its price and evidence on the left, curves and the others on the right."""
    left, right = st.columns([5, 6], gap="medium")
    with left.container(gap="xsmall"):
        sheet.show("picked", height=150)
        sheet.show("told")
        sheet.show("costs", height=120)
        sheet.show("formula", height=34)
        sheet.show("evidence")
    with right.container(gap="xsmall"):
        shown = charts(Scene(**sheet.values))
        for name in shown:
            sheet.show(name, chart=True, height=210 if len(shown) < 3 else 160)
        sheet.show("others")
    title = escape(say("The model’s own numbers, for settings and memory"))
    st.html(f'<p class="pv-scaling-label"><b>{title}</b></p>')
    with st.container(key="pv-picker-numbers", horizontal=True, gap="medium"):
        for name in NUMBERS:
            sheet.handle(name)


def place_take(sheet: page.Sheet) -> None:
    """Texts to copy and files to keep; they follow when a handle is let go."""
    given = texts(Scene(**sheet.values))
    sheet.show("picked")
    left, right = st.columns(2, gap="medium")
    with left.container(gap="xsmall"):
        if given.has_styles:
            sheet.choice("style", segmented=True, label_hidden=True, width="content")
        show_text(say("Hugging Face config.json"), given.config, "json")
        for note in given.notes:
            st.html(f'<p class="pv-scaling-label">{escape(note)}</p>')
        show_text(say("llama.cpp"), given.flags, "bash", given.why_no_flags)
        show_text(say("vLLM"), given.vllm, "bash", given.why_no_vllm)
    with right.container(gap="xsmall"):
        with st.container(horizontal=True):
            for label, text, file, kind in (
                (say("Download config.json"), given.config, "config.json", "application/json"),
                (say("Download Python"), given.snippet, "inv_freq.py", "text/x-python"),
            ):
                if text:
                    st.download_button(label, text, file, kind, key=f"pv-picker:{file}",
                                       on_click="ignore")  # fmt: skip
        show_text(say("Python, the same inv_freq"), given.snippet, "python")
        sheet.show("told")


def show_text(title: str, text: str, language: str, why_not: str = "") -> None:
    """A text to copy under its title, or why there is none."""
    if text or why_not:
        st.html(f'<p class="pv-scaling-label"><b>{escape(title)}</b></p>')
    if text:
        st.code(text, language=language, wrap_lines=True, height=None if len(text) < 900 else 420)
    elif why_not:
        st.html(f'<p class="pv-scaling-label">{escape(why_not)}</p>')


page.open_view(VIEW)
picker()
page.below(
    "picker", "How does it decide?", "How sure is it?", "What the questions mean",
    links=[
        ("scaling", say("the methods, pair by pair")),
        ("lab", say("the measurements behind the curves")),
        ("models", say("what released models set")),
        ("doctor", say("is your config.json right?")),
    ],
)  # fmt: skip
