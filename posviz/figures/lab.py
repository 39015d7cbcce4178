"""The extrapolation lab's pictures: perplexity and copying by context, the pairs, the readout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.published import Series

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

CHANCE = math.log(20)
"""Nats of a letter of a name that is guessed: there are 20."""

_DASHES = style.DASHES | {"dot": "2px,2px"}
_THEIRS = ("6px,3px", "2px,2px", "9px,3px,2px,3px", "4px,6px", "1px,4px", "12px,4px")
_WIDEST = 64.0


@dataclass(frozen=True, eq=False)
class Line:
    """One curve over context length, in nats; every array has one number per length.

    Attributes:
        label: What hover and legend say.
        shade: Name of its colour.
        lengths: Context lengths, tokens.
        nats: Its values; NaN where there is none.
        lowest: Lower edge of its band, if it has one.
        highest: Upper edge.
        dash: A key of ``style.DASHES``.
        width: In pixels.
    """

    label: str
    shade: str
    lengths: Sequence[int]
    nats: Floats
    lowest: Floats | None = None
    highest: Floats | None = None
    dash: str = "solid"
    width: float = 1.2


@dataclass(frozen=True)
class Mark:
    """A vertical line at a context length in tokens, with its label."""

    at: float
    label: str
    shade: str
    dash: str = "solid"


def perplexity(lines: Sequence[Line], marks: Sequence[Mark], *, _: Words) -> dict[str, Any]:
    """Perplexity over context length, a Plotly figure; ``lines`` are drawn in their order."""
    yaxis = {
        "type": "log", "range": [math.log10(1.5), 3.0],
        "tickvals": [2, 3, 5, 10, 20, 50, 100, 200, 500, 1000],
        "title": {"text": _("perplexity per character")},
    }  # fmt: skip
    return _over_length([trace for one in lines for trace in _traces(one, np.exp)], marks, yaxis, _)


def repeated(lines: Sequence[Line], marks: Sequence[Mark], *, _: Words) -> dict[str, Any]:
    """Loss on letters of repeated names over context length, a Plotly figure."""
    ends = np.array([1.0, 1e5])
    chance = _trace(_("guessing"), "quiet", ends, np.full(2, CHANCE), _DASHES["dot"], 1.2)
    yaxis = {"range": [-0.2, 8.0], "dtick": 2, "title": {"text": _("nats per letter")}}
    traces = [trace for one in lines for trace in _traces(one, np.asarray)]
    figure = _over_length([chance, *traces], marks, yaxis, _)
    # Right of the first tick, above the line.
    figure["layout"]["annotations"].append(
        style.note(math.log10(64), (CHANCE + 1.1) / 8.2, _("guessing, ln 20"), "quiet",
                   leftwards=False)
    )  # fmt: skip
    return figure


def shapes(
    ours: Sequence[tuple[Line, float]], theirs: Sequence[Series], trained: int, *, _: Words
) -> dict[str, Any]:
    """Ours, solid, and published ones, dashed, as multiples of a value at the trained length.

    Args:
        ours: Curves, each with the nats of the unscaled model at ``trained`` tokens.
        theirs: From :meth:`posviz.published.Table.relative`.
        trained: Our trained context, tokens.
        _: Translates labels.
    """
    traces = []
    for one, base in ours:
        lengths = np.asarray(one.lengths)
        relative = np.exp(one.nats - base)
        seen = np.isfinite(relative)
        label = _("ours: {label}", label=one.label)
        traces.append(_trace(label, one.shade, lengths[seen] / trained, relative[seen],
                             "solid", one.width + 1))  # fmt: skip
    met: dict[str, int] = {}
    for series in theirs:
        values = np.where(np.isnan(series.values), series.bounds, series.values)
        seen = np.isfinite(values)
        if not seen.any():
            continue
        shade = shade_of(series)
        dash = _THEIRS[met.setdefault(shade, 0) % len(_THEIRS)]
        met[shade] += 1
        label = _("theirs: {label}", label=_(series.label))
        if np.isfinite(series.bounds[seen]).any():
            label += " " + _("(at least, where the table says no more)")
        traces.append(_trace(label, shade, series.multiples[seen], values[seen], dash, 1.8))
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
    xaxis = {
        "type": "log", "range": [math.log10(0.24), math.log10(_WIDEST * 1.05)], "tickvals": ticks,
        "ticktext": [f"{tick:g}×" for tick in ticks],
        "title": {"text": _("context length, in trained contexts")},
    }  # fmt: skip
    yaxis = {
        "type": "log", "range": [math.log10(0.5), math.log10(300)],
        "tickvals": [0.5, 1, 2, 5, 10, 20, 50, 100, 200], "ticksuffix": "×",
        "title": {"text": _("perplexity, over that at the trained length")},
    }  # fmt: skip
    trained_here = [style.note(0.0, 1, _("trained"), "quiet", leftwards=False)]
    return {
        "data": traces,
        "layout": style.layout(
            xaxis=xaxis, yaxis=yaxis, annotations=trained_here,
            shapes=[style.upright(1, "quiet", "dot")],
        ),
    }  # fmt: skip


def shade_of(series: Series) -> str:
    """Colour of a published line: its method's if it has one, else its encoding's."""
    if series.rope_type in style.COLOURS and series.rope_type != "default":
        return str(series.rope_type)
    return series.encoding if series.encoding in style.COLOURS else "random"


def _over_length(
    traces: list[dict[str, Any]], marks: Sequence[Mark], yaxis: dict[str, Any], _: Words
) -> dict[str, Any]:
    ticks = [64, 128, 256, 512, 1024, 2048, 4096]
    xaxis = {
        "type": "log", "range": [math.log10(61), math.log10(4300)], "tickvals": ticks,
        "ticktext": [f"{tick:,}" for tick in ticks], "title": {"text": _("context length, tokens")},
    }  # fmt: skip
    return {
        "data": traces,
        "layout": style.layout(
            xaxis=xaxis, yaxis=yaxis,
            shapes=[style.upright(mark.at, mark.shade, mark.dash) for mark in marks],
            annotations=[
                # A label stands right of its line while there is room for it, on a phone too.
                style.note(math.log10(mark.at), 1 - 0.09 * i, mark.label, mark.shade,
                           leftwards=mark.at > 700)
                for i, mark in enumerate(marks)
            ],
        ),
    }  # fmt: skip


def _traces(line: Line, unit: Callable[[Floats], Floats]) -> list[dict[str, Any]]:
    """A line with its band beneath it; what was not measured is left out."""
    seen = np.isfinite(line.nats)
    if not seen.any():
        return []
    x = np.asarray(line.lengths, np.float64)[seen]
    found = []
    if line.lowest is not None and line.highest is not None:
        edges = [_trace("", line.shade, x, unit(edge[seen]), "solid", 0)
                 for edge in (line.lowest, line.highest)]  # fmt: skip
        edges[1] |= {"fill": "tonexty", "fillcolor": style.faded(line.shade)}
        found = [{**edge, "hoverinfo": "skip", "hovertemplate": None} for edge in edges]
    dash = _DASHES[line.dash]
    return [*found, _trace(line.label, line.shade, x, unit(line.nats[seen]), dash, line.width)]


def _trace(label: str, shade: str, x: Floats, y: Floats, dash: str, width: float) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": label, "x": x, "y": y,
        "line": {"color": style.colour(shade), "width": width, "dash": dash},
        "hovertemplate": "%{y:.3~g}",
    }  # fmt: skip


# ---------------------------------------------------------------------------------- small pictures


def pairs(ratio: Floats, shade: str, alt: str, *, _: Words) -> str:
    """How many times slower each pair of dimensions turns, fast pairs first; SVG.

    Args:
        ratio: Trained over used frequency, one per pair; below 1 where a pair is faster.
        shade: Name of the bars' colour.
        alt: Text alternative.
        _: Translates labels.
    """
    octaves = np.clip(np.log2(ratio), -1.0, 5.2).tolist()
    step = 300 / len(octaves)
    bars = "".join(
        f'<rect x="{24 + i * step:.1f}" y="{56 - 9.5 * max(up, 0):.1f}" width="{step - 3:.1f}" '
        f'height="{max(9.5 * abs(up), 1):.1f}"/>'
        for i, up in enumerate(octaves)
    )
    levels = "".join(
        f'<line x1="24" x2="324" y1="{56 - 9.5 * up}" y2="{56 - 9.5 * up}"/>'
        f'<text x="20" y="{60 - 9.5 * up}" text-anchor="end">{2**up}×</text>'
        for up in (0, 2, 4)
    )
    return (
        f'<svg class="pv-pairs" viewBox="0 0 330 78" role="img" aria-label="{escape(alt)}">'
        f'{levels}<g fill="{style.colour(shade)}">{bars}</g>'
        f'<text x="24" y="76">{_("fast pairs")}</text>'
        f'<text x="324" y="76" text-anchor="end">{_("slow pairs")}</text></svg>'
    )


@dataclass(frozen=True)
class Row:
    """A line of the readout: what it is, its colour and a text for each column."""

    label: str
    shade: str
    cells: Sequence[str]


def readout(columns: Sequence[str], rows: Sequence[Row], caption: str) -> str:
    """Perplexities in a table; HTML."""
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(row.shade)}"></i>{row.label}</th>'
        + "".join(f"<td>{cell}</td>" for cell in map(_small_error, row.cells))
        + "</tr>"
        for row in rows
    )
    return (
        f'<table class="pv-readout"><thead><tr><th scope="col">{caption}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _small_error(cell: str) -> str:
    value, sign, error = cell.partition(" ± ")
    return f"{value}<small>{sign}{error}</small>" if sign else value
