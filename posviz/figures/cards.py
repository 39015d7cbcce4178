"""The scorecard of an encoding: its answers to the four questions, as a table."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from posviz.catalog import QUESTIONS, Encoding

Words = Callable[..., str]


def scorecard(encoding: Encoding, _: Words) -> str:
    """Question, short answer, and one sentence with its source; HTML."""
    rows = "".join(
        f'<tr><th scope="row">{_(QUESTIONS[question])}</th><td>{_(answer.short)}</td>'
        f"<td>{_(answer.why)} "
        f'<a href="{escape(answer.source.address)}" target="_blank" rel="noopener" '
        f'title="{escape(_(answer.source.title))}">{_("source")}</a></td></tr>'
        for question, answer in encoding.answers.items()
    )
    paper = (
        f'<a href="{escape(encoding.source.address)}" target="_blank" rel="noopener">'
        f"{escape(_(encoding.source.title))}</a>"
    )
    label = _(encoding.label)
    caption = _("{label}, four questions", label=label[:1].upper() + label[1:])
    return f'<table class="pv-card"><caption>{caption} · {paper}</caption>{rows}</table>'
