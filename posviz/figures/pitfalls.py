"""The pitfalls' pictures: right and mistaken scores, and what a mistake does to a trained model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.formula import Formula
from posviz.params import Said
from posviz.pitfalls import address

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

MISTAKEN = "ink"
"""Colour of what is mistaken; what is right has its encoding's."""

_DASH = "6px,3px"

# Formulas of the right and of the mistaken setting, by pitfall and slip.
_BASE, _OTHER = "rope_theta ** (-2 * i / d)", "b ** (-2 * i / d)"
_WORDS = {"rope_theta": Said("rope_theta")}
_DISTANCE = {"distance": "distance"}
_ONE_ATTENTION = Formula("a", "0.1 * log(s) + 1")
FORMULAS: Mapping[tuple[str, str], tuple[Formula, Formula]] = {
    ("base", "default"): (Formula("theta_i", _BASE, words=_WORDS), Formula("theta_i", _OTHER)),
    ("reciprocal", "inverse"): (
        Formula("theta_i", f"{_BASE} / s", words=_WORDS),
        Formula("theta_i", f"{_BASE} * s", words=_WORDS),
    ),
    ("mscale", "multiplied"): (_ONE_ATTENTION, Formula("a", "(0.1 * log(s) + 1) ** 2")),
    ("mscale", "again"): (_ONE_ATTENTION, Formula("a", "0.1 * m * log(s) + 1")),
    ("partial", "head"): (
        Formula("theta_i", "rope_theta ** (-2 * i / r)", words=_WORDS),
        Formula("theta_i", _BASE, words=_WORDS),
    ),
    ("partial", "part"): (
        Formula("theta_i", _BASE, words=_WORDS),
        Formula("theta_i", "rope_theta ** (-2 * i / r)", words=_WORDS),
    ),
    ("slopes", "paper"): (Formula("m", "2 ** (-8 * k / p)"), Formula("m", "2 ** (-8 * h / n)")),
    ("slopes_off_by_one", "zero"): (
        Formula("m", "2 ** (-8 * k / p)"), Formula("m", "2 ** (-8 * (k - 1) / p)"),
    ),
    ("slopes_off_by_one", "bias-max"): (
        Formula("m", "2 ** (-B * k / p)"), Formula("m", "2 ** (-8 * k / p)"),
    ),
    ("left_padding", "jump"): (
        Formula("distance", "q - k", words=_DISTANCE),
        Formula("distance", "(q + w) - k", words=_DISTANCE),
    ),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Line:
    """Scores along an axis: lowest and highest of each bin, ``(2, bins)``.

    Attributes:
        label: What hover says.
        shade: Name of its colour.
        values: The scores; both rows are the same where a bin has one number.
        dashed: Whether the line is broken.
    """

    label: str
    shade: str
    values: Floats
    dashed: bool = False


def scores(
    starts: NDArray[np.integer[Any]],
    lines: Sequence[Line],
    *,
    end: int,
    low: float,
    high: float,
    log_axis: bool,
    title: str,
    marks: Sequence[tuple[float, str, str, str]],
    _: Words,
) -> dict[str, Any]:
    """Right and mistaken scores, a Plotly figure.

    Args:
        starts: First distance or position of each bin.
        lines: What is drawn over them.
        end: Last distance or position that the axis has room for.
        low: Bottom of the axis.
        high: Top of the axis.
        log_axis: Whether the axis is logarithmic; 0 then stands at 0.5.
        title: Of the axis.
        marks: Vertical lines: where, label, name of the colour, ``solid`` or ``dot``.
        _: Translates labels.
    """

    def placed(at: Floats) -> Floats:
        return np.where(at < 1, 0.5, at) if log_axis else at

    x = placed(starts.astype(np.float64))
    xaxis: dict[str, Any] = {"title": {"text": title}}
    if log_axis:
        ticks = [0.5, *(10.0**power for power in range(int(math.log10(max(end, 1))) + 1))]
        xaxis |= {
            "type": "log", "range": [math.log10(0.45), math.log10(max(end, 10) * 1.1)],
            "tickvals": ticks, "ticktext": ["0", *(f"{tick:,.0f}" for tick in ticks[1:])],
        }  # fmt: skip
    else:
        xaxis |= {"range": [-0.01 * end, 1.01 * end]}

    def across(at: float) -> float:
        """Where ``at`` stands, for an annotation."""
        return math.log10(max(at, 0.5)) if log_axis else at

    middle = 0.5 * sum(xaxis["range"])
    return {
        "data": [trace for line in lines for trace in _band(x, line)],
        "layout": style.layout(
            xaxis=xaxis,
            yaxis={"range": [low, high], "title": {"text": _("score")}},
            shapes=[style.upright(max(at, 0.5) if log_axis else at, shade, dash)
                    for at, _label, shade, dash in marks],
            annotations=[
                style.note(across(at), 0.1 + 0.09 * n, label, shade, leftwards=across(at) > middle)
                for n, (at, label, shade, _dash) in enumerate(marks)
            ],
        ),
    }  # fmt: skip


def _band(x: Floats, line: Line) -> list[dict[str, Any]]:
    """Lower and upper edge with the range between them filled; one line where they meet."""
    drawn = {"color": style.colour(line.shade), "width": 1.8 if line.dashed else 2.4}
    if line.dashed:
        drawn["dash"] = _DASH
    edges: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines", "name": line.label, "x": x, "y": edge,
         "line": drawn, "hovertemplate": "%{y:.3~f}"}
        for edge in line.values
    ]  # fmt: skip
    edges[0] |= {"hoverinfo": "skip", "hovertemplate": None}
    edges[1] |= {"fill": "tonexty", "fillcolor": style.faded(line.shade)}
    return edges


def perplexities(
    lengths: Sequence[float] | Floats,
    right: Sequence[float] | Floats,
    mistaken: Sequence[float] | Floats,
    shade: str,
    *,
    trained: int,
    _: Words,
) -> dict[str, Any]:
    """Perplexity of a trained model by context length, read right and wrong, a Plotly figure.

    Args:
        lengths: End of each bin, tokens; empty while there is nothing to show.
        right: Nats per character; one per bin, as ``mistaken``.
        mistaken: The same with the mistake.
        shade: Name of the colour of the right line.
        trained: Trained context, tokens.
        _: Translates labels.
    """
    ticks = [64, 128, 256, 512, 1024]
    x = np.asarray(lengths, np.float64)
    marked = [style.note(math.log10(trained), 1, _("trained"), "quiet", leftwards=False)]
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "name": label, "x": x,
             "y": np.exp(np.asarray(values, np.float64)),
             "line": {"color": style.colour(colour), "width": width}
             | ({"dash": dash} if dash else {}), "hovertemplate": "%{y:.3~g}"}
            for label, values, colour, width, dash in (
                (_("right"), right, shade, 2.6, ""),
                (_("mistaken"), mistaken, MISTAKEN, 2.0, _DASH),
            )
            if len(x)
        ],
        "layout": style.layout(
            xaxis={"type": "log", "range": [math.log10(56), math.log10(1180)], "tickvals": ticks,
                   "ticktext": [f"{tick:,}" for tick in ticks],
                   "title": {"text": _("context length, tokens")}},
            yaxis={"type": "log", "range": [math.log10(1.5), math.log10(3000)],
                   "tickvals": [2, 10, 100, 1000], "ticktext": ["2", "10", "100", "1,000"],
                   "title": {"text": _("perplexity")}},
            shapes=[style.upright(trained, "quiet", "dot")], annotations=marked,
            margin={"l": 52, "r": 12, "t": 8, "b": 38},
        ),
    }  # fmt: skip


def facts(rows: Sequence[tuple[str, str, str]], shade: str, _: Words) -> str:
    """Numbers in which both settings differ, as a table; HTML."""
    body = "".join(
        f'<tr><th scope="row">{label}</th><td>{right}</td><td>{mistaken}</td></tr>'
        for label, right, mistaken in rows
    )
    head = "".join(
        f'<th scope="col"><i class="{kind}" style="--c:{style.colour(colour)}"></i>{word}</th>'
        for word, colour, kind in (
            (_("right"), shade, "is-solid"), (_("mistaken"), MISTAKEN, "is-dash"),
        )
    )  # fmt: skip
    return (
        f'<table class="pv-pitfalls-facts"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def reports(named: Sequence[str], _: Words) -> str:
    """Links to public reports, HTML; a sentence if there are none on record."""
    if not named:
        return f'<span class="pv-pitfalls-reports">{_("No public report on record.")}</span>'
    links = " ".join(
        f'<a href="{escape(address(one))}" target="_blank" rel="noopener">{escape(one)}</a>'
        for one in named
    )
    return f'<span class="pv-pitfalls-reports">{_("Reported:")} {links}</span>'


def model(told: str) -> str:
    """What is told of a trained model, HTML; its room is kept until there is something to tell."""
    return f'<p class="pv-caption pv-pitfalls-model">{told}</p>'


def verdict(alike: str, apart: str, note: str = "", *, hidden: bool = False) -> str:
    """What is seen at a glance, HTML; each part may be empty, and a hidden note keeps its room."""
    halves = (("is-alike", alike), ("is-apart", apart))
    told = "".join(f'<span class="{kind}">{said}</span>' for kind, said in halves if said)
    if note:
        unseen = ' style="visibility:hidden"' if hidden else ""
        told += f'<span class="is-note"{unseen}>{note}</span>'
    return f'<p class="pv-pitfalls-verdict">{told}</p>'
