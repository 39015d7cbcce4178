"""The picker's pictures: the answer, its evidence, what it costs, the others, and the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.formula import Formula
from posviz.params import Said

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

YARN_FACTOR = Formula("m", "0.1 * log(s) + 1", {"s": "yarn"}, {"m": Said("attention_factor")})
"""YaRN's factor on cos and sin by its scale factor."""
LARGER_BASE = Formula("base", "b * s ** (d / (d - 2))", {"s": "ntk"}, {"base": "base"})
"""NTK's base, which slows the slowest pair exactly s times."""
CACHE = Formula("cache", "2 * 2 * n * l * h * d", {"n": "accent"}, {"cache": "bytes of the cache"})
"""Keys and values of n tokens in l layers with h heads of d dimensions, two bytes a number."""

WIDEST = 128.0
"""Trained contexts at the right end of the charts."""

_DASHES = {"solid": "solid", "dash": "6px,3px", "dot": "2px,2px"}
_TICKS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, eq=False)
class Line:
    """A curve over multiples of the trained context.

    Attributes:
        label: What legend and hover say.
        shade: Name of its colour.
        x: Multiples, ascending.
        y: Its values.
        dash: ``solid``, ``dash`` or ``dot``.
    """

    label: str
    shade: str
    x: Floats
    y: Floats
    dash: str = "solid"


def legend(lines: Sequence[Line]) -> list[tuple[str, str, str]]:
    """Entries for a heading."""
    return [(escape(one.label), one.shade, one.dash) for one in lines]


def measured(lines: Sequence[Line], target: float, end: float, *, _: Words) -> dict[str, Any]:
    """Loss of the lab's models over multiples of the trained context, a Plotly figure.

    Args:
        lines: Share of what guessing loses, from 0 to 1.
        target: The wanted multiple.
        end: Multiple up to which the lab measured.
        _: Translates labels.
    """
    rows = [Line(one.label, one.shade, one.x, 100.0 * one.y, one.dash) for one in lines]
    yaxis = {"range": [-4, 112], "dtick": 25, "ticksuffix": " %",
             "title": {"text": _("loss, guessing = 100 %")}}  # fmt: skip
    figure = _over_multiples(rows, target, yaxis, "%{y:.1f} %", _)
    layout = figure["layout"]
    layout["shapes"].append(style.upright(end, "quiet", "dot"))
    layout["annotations"].append(
        style.note(math.log10(end), 0.16, _("measured to {count}×", count=style.short(end)),
                   "quiet", leftwards=False)
    )  # fmt: skip
    return figure


def published(lines: Sequence[Line], target: float, empty: str, *, _: Words) -> dict[str, Any]:
    """Perplexity in one published table over multiples of the trained context, a Plotly figure.

    Args:
        lines: Perplexities; none where nothing is on record.
        target: The wanted multiple.
        empty: What is said where there is no line.
        _: Translates labels.
    """
    yaxis = {
        "type": "log", "range": [math.log10(1.5), math.log10(1500)],
        "tickvals": [2, 5, 10, 20, 50, 100, 200, 500, 1000],
        "ticktext": ["2", "5", "10", "20", "50", "100", "200", "500", "1,000"],
        "title": {"text": _("perplexity")},
    }  # fmt: skip
    figure = _over_multiples(lines, target, yaxis, "%{y:.4~g}", _)
    if not lines:
        figure["layout"]["annotations"].append(
            style.note(math.log10(1), 0.6, empty, "quiet", leftwards=False)
        )
    return figure


def _over_multiples(
    lines: Sequence[Line], target: float, yaxis: dict[str, Any], hover: str, _: Words
) -> dict[str, Any]:
    data = [
        {
            "type": "scatter", "mode": "lines" if len(one.x) > 2 else "lines+markers",
            "name": one.label, "x": one.x, "y": one.y, "hovertemplate": hover,
            "line": {"color": style.colour(one.shade), "dash": _DASHES[one.dash],
                     "width": 2.8 if one.dash == "solid" else 1.8},
        }
        for one in lines
    ]  # fmt: skip
    shown = min(max(target, 0.5), WIDEST)
    arrow = " →" if target > WIDEST else ""
    label = _("target {count}×", count=style.short(target)) + arrow
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"type": "log", "range": [math.log10(0.45), math.log10(WIDEST * 1.08)],
                   "tickvals": list(_TICKS), "ticktext": [f"{tick}×" for tick in _TICKS],
                   "title": {"text": _("context, in trained contexts")}},
            yaxis=yaxis, shapes=[style.upright(shown, "accent", "solid")],
            annotations=[style.note(math.log10(shown), 1, label, "accent", leftwards=shown > 40)],
            margin={"l": 56, "r": 12, "t": 6, "b": 38},
        ),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------ words


@dataclass(frozen=True)
class Verdict:
    """The answer in words.

    Attributes:
        label: What is recommended.
        shade: Name of its colour.
        then: What to do beside it, such as fine-tuning; empty if nothing.
        settings: Names and values of what is set, as text.
        why: Reason, a sentence.
        but: What to know before.
        sure: How far the evidence goes, in a few words.
        is_weak: Whether that is not far enough.
    """

    label: str
    shade: str
    then: str
    settings: Sequence[tuple[str, str]]
    why: str
    but: str
    sure: str
    is_weak: bool


def verdict(answer: Verdict) -> str:
    """The answer, large; HTML."""
    settings = "".join(
        f"<span>{escape(name)} <b>{escape(value)}</b></span>" for name, value in answer.settings
    )
    weak = " is-weak" if answer.is_weak else ""
    then = f"<small>{escape(answer.then)}</small>" if answer.then else ""
    return (
        f'<div class="pv-picker-verdict" style="--c:{style.colour(answer.shade)}">'
        f'<p class="pv-picker-answer"><b>{escape(answer.label)}</b>{then}</p>'
        f'<p class="pv-picker-settings">{settings}</p>'
        f"<p>{escape(answer.why)} {escape(answer.but)}</p>"
        f'<p class="pv-picker-sure{weak}">{escape(answer.sure)}</p></div>'
    )


@dataclass(frozen=True)
class Evidence:
    """A line for or against the answer, or beside it if None; ``told`` is HTML."""

    told: str
    is_against: bool | None


def evidence(lines: Sequence[Evidence], title: str, sources: Sequence[tuple[str, str]], *,
             _: Words) -> str:  # fmt: skip
    """What speaks for the answer and what against it; HTML.

    Args:
        lines: In the order in which they stand.
        title: Heading.
        sources: Label and address of where it can be checked.
        _: Translates labels.
    """
    marks = {False: ("for", _("for")), True: ("against", _("against")), None: ("note", _("note"))}
    rows = "".join(
        f'<li class="is-{marks[one.is_against][0]}"><i>{marks[one.is_against][1]}</i>'
        f"<span>{one.told}</span></li>"
        for one in lines
    )
    links = " · ".join(
        f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(label)}</a>'
        for label, address in sources
    )
    told = f'<p class="pv-picker-sources">{_("Read it in")} {links}</p>' if links else ""
    return f'<p class="pv-title"><b>{title}</b></p><ul class="pv-picker-evidence">{rows}</ul>{told}'


def rows(title: str, lines: Sequence[tuple[str, str, bool]]) -> str:
    """A small table of names and values, HTML; a line whose flag is set stands out."""
    body = "".join(
        f'<tr{" class=is-alarm" if alarm else ""}><th scope="row">{name}</th><td>{value}</td></tr>'
        for name, value, alarm in lines
    )
    return f'<table class="pv-picker-rows"><caption>{title}</caption>{body}</table>'


@dataclass(frozen=True)
class Other:
    """What was not recommended for one reason.

    Attributes:
        things: Label, name of the colour and address of each.
        why: The reason.
        rank: Said before it, such as that it came second.
    """

    things: Sequence[tuple[str, str, str]]
    why: str
    rank: str = ""


def others(title: str, lines: Sequence[Other]) -> str:
    """All the others with their reasons, HTML."""
    body = ""
    for one in lines:
        links = " ".join(
            f'<a href="{escape(page)}" target="_self"><i style="--c:{style.colour(shade)}"></i>'
            f"{escape(label)}</a>"
            for label, shade, page in one.things
        )
        rank = f"<b>{escape(one.rank)}:</b> " if one.rank else ""
        body += f"<li><span>{links}</span><span>{rank}{escape(one.why)}</span></li>"
    return f'<p class="pv-title"><b>{title}</b></p><ul class="pv-picker-others">{body}</ul>'


@dataclass(frozen=True)
class Row:
    """A row of the decision table, all of it text.

    Attributes:
        number: Its place, from 1.
        conditions: What must hold.
        outcome: What follows.
        shade: Name of the outcome's colour.
        why: The reason.
        sure: How far the evidence goes.
        link: Piece of a link that makes this row answer.
        sources: Label and address of where it can be checked.
    """

    number: int
    conditions: Sequence[str]
    outcome: str
    shade: str
    why: str
    sure: str
    link: str
    sources: Sequence[tuple[str, str]]


def table(title: str, head: Sequence[str], lines: Sequence[Row], fired: int, label: str) -> str:
    """The decision table; the row that answers is marked, a click makes a row answer. HTML.

    Args:
        title: Name of the table.
        head: Column titles.
        lines: All rows in their order.
        fired: Number of the row that answers.
        label: What the button of a row says, with ``{number}``.
    """
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = []
    for one in lines:
        now = ' class="is-fired" aria-current="true"' if one.number == fired else ""
        said = escape(label.format(number=one.number))
        links = ", ".join(
            f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(name)}</a>'
            for name, address in one.sources
        )
        body.append(
            f'<tr{now}><td><button type="button" data-set="{escape(one.link)}" '
            f'aria-label="{said}">{one.number}</button></td>'
            f"<td>{' · '.join(escape(each) for each in one.conditions)}</td>"
            f'<td><i style="--c:{style.colour(one.shade)}"></i>{escape(one.outcome)}</td>'
            f"<td>{escape(one.why)}</td><td>{escape(one.sure)}"
            f"{f'<small>{links}</small>' if links else ''}</td></tr>"
        )
    return (
        f'<div class="pv-picker-scroll" tabindex="0" role="region" aria-label="{escape(title)}">'
        '<table class="pv-picker-table">'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
