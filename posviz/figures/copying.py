"""The copying page's pictures: accuracy over length, and where the heads look."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.style import percent

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

CELLS = 64
"""Cells of the map, each way."""
_LEVELS = 12  # shades of a cell
_ASIDE = 13  # pixels between the line of the perfect copier and each side of the corridor


# ------------------------------------------------------------------------- accuracy over length


@dataclass(frozen=True, eq=False)
class Encoding:
    """The seeds of one encoding, read as trained: what they are called and how well they copy."""

    label: str
    colour: str
    lowest: Floats
    mean: Floats
    highest: Floats
    dash: str = "solid"


def accuracy(
    lengths: Sequence[int],
    encodings: Sequence[Encoding],
    chosen: tuple[str, str, Floats] | None,
    *,
    trained: int,
    chance: float,
    length: int,
    _: Words,
) -> dict[str, Any]:
    """Share of symbols copied right over the length of the sequence, a Plotly figure.

    Args:
        lengths: Tokens.
        encodings: Bands over seeds, in the order they are drawn.
        chosen: Label, name of a colour and accuracy of the setting to stand out, if known; it may
            be known at the first lengths only.
        trained: Longest sequence in training, tokens.
        chance: Accuracy of guessing.
        length: Length whose attention is shown, tokens.
        _: Translates labels.
    """
    x = np.array(lengths, np.float64)

    def line(label: str, colour: str, y: Floats, **more: Any) -> dict[str, Any]:
        return {
            "type": "scatter", "mode": "lines", "name": label, "x": x[: len(y)], "y": 100 * y,
            "line": {"color": style.colour(colour), "width": 1.4, **more},
            "hovertemplate": "%{y:.1f} %",
        }  # fmt: skip

    data = []
    for one in encodings:
        data += [
            {**line(one.label, one.colour, one.lowest, width=0), "hoverinfo": "skip"},
            {**line(one.label, one.colour, one.highest, width=0), "fill": "tonexty",
             "fillcolor": style.faded(one.colour), "hoverinfo": "skip"},
            line(one.label, one.colour, one.mean, dash=style.DASHES[one.dash]),
        ]  # fmt: skip
    data.append(line(_("guessing"), "quiet", np.full(len(x), chance), dash="1px,3px"))
    if chosen:
        label, colour, values = chosen
        data.append(line(label, colour, values, width=3.5))
    low, high = -3.0, 106.0
    marks = [
        (trained, _("trained {count}", count=style.tokens(trained)), "quiet", "dot", 0.3),
        (length, _("map {count}", count=style.tokens(length)), "ink", "solid", 0.22),
    ]
    shapes = [style.upright(at, shade, dash) for at, _label, shade, dash, _height in marks]
    notes = [
        style.note(math.log10(at), height, label, shade, leftwards=at > x[-1] / 2)
        for at, label, shade, _dash, height in marks
    ]
    notes.append(
        style.note(math.log10(x[0]), (100 * chance - low) / (high - low) + 0.065,
                   _("guessing {chance}", chance=percent(chance)), "quiet", leftwards=False)
    )  # fmt: skip
    ticks = [int(x[0]) << i for i in range(int(math.log2(x[-1] / x[0])) + 1)]
    xaxis = {
        "type": "log", "range": [math.log10(x[0] / 1.03), math.log10(x[-1] * 1.03)],
        "tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks],
        "title": {"text": _("length of the whole sequence, tokens")},
    }  # fmt: skip
    yaxis = {"range": [low, high], "dtick": 25, "ticksuffix": " %",
             "title": {"text": _("symbols copied right")}}  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, shapes=shapes, annotations=notes),
    }


# -------------------------------------------------------------------------- where the heads look


def heads(num_layers: int, num_heads: int, shares: Floats | None, chosen: int, *, _: Words) -> str:
    """Share of weight that each head puts on the token to copy, one button per head; HTML.

    Args:
        num_layers: Rows.
        num_heads: Heads of a layer.
        shares: ``(num_layers, num_heads)``, from 0 to 1; None while they are measured.
        chosen: The head whose map is shown, counted from 1 through all layers.
        _: Translates labels.
    """
    rows = []
    for layer in range(num_layers):
        buttons = [f"<span>{_('layer {layer}', layer=layer + 1)}</span>"]
        for head in range(num_heads):
            number = layer * num_heads + head + 1
            share = None if shares is None else float(shares[layer, head])
            read = "…" if share is None else percent(share)
            said = _("Layer {layer}, head {head}: {share} on the token to copy",
                     layer=layer + 1, head=head + 1, share=read)  # fmt: skip
            stop = "" if number == chosen else ' tabindex="-1"'  # one tab stop; arrows go on
            buttons.append(
                f'<button type="button"{stop} data-set="head={number}" '
                f'aria-pressed="{str(number == chosen).lower()}" aria-label="{escape(said)}">'
                f'<i style="width:{100 * (share or 0):.1f}%"></i><b>{read}</b></button>'
            )
        rows.append("".join(buttons))
    return (
        f'<div class="pv-heads" style="--n:{num_heads}" role="group" '
        f'aria-label="{escape(_("Heads"))}">{"".join(rows)}</div>'
    )


def attention_map(weights: Floats | None, symbols: int, *, colour: str, alt: str, _: Words) -> str:
    """Where a head looks over a row and its copy, queries down and keys across; SVG.

    Args:
        weights: ``(CELLS, CELLS)``, the largest weight in each cell; None while it is measured.
        symbols: Symbols of the row.
        colour: Name of the colour of a weight of 1.
        alt: Text alternative.
        _: Translates labels.
    """
    size, left, top = 6 * CELLS, 64, 20
    token = size / (2 * symbols + 1)  # pixels of a token
    sign, end = (symbols + 1) * token, size
    parts = [f'<path class="pv-causal" d="M0 0H{size}V{size}Z"/>']
    if weights is None:
        parts.append(f'<text x="{0.28 * size:.0f}" y="{0.7 * size:.0f}">{_("measuring…")}</text>')
    else:
        parts.append(_cells(weights, colour))
    # A corridor on both sides of where the perfect copier looks, so that nothing covers the line.
    back = symbols * token
    parts.append(
        f'<path class="pv-corridor" d="M{_ASIDE} {back:.1f}L{size - back:.1f} {size - _ASIDE}'
        f'M0 {back + _ASIDE:.1f}L{size - back - _ASIDE:.1f} {size}"/>'
    )
    parts += [
        f'<path class="pv-axes" d="M{sign:.1f} 0V{size}M0 {sign:.1f}H{size}"/>',
        f'<rect class="pv-axes" width="{size}" height="{size}"/>',
        f'<text x="{sign / 2:.0f}" y="-6" text-anchor="middle">{_("row")}</text>',
        f'<text x="{(sign + end) / 2:.0f}" y="-6" text-anchor="middle">{_("copy")}</text>',
        f'<text x="-6" y="{sign / 2:.0f}" text-anchor="end">{_("row")}</text>',
        f'<text x="-6" y="{(sign + end) / 2:.0f}" text-anchor="end">{_("copy")}</text>',
        f'<text x="-6" y="-6" text-anchor="end">{_("from ↓ to →")}</text>',
    ]
    return (
        f'<svg class="pv-map" viewBox="{-left} {-top} {size + left + 2} {size + top + 2}" '
        f'role="img" aria-label="{escape(alt)}">{"".join(parts)}</svg>'
    )


def _cells(weights: Floats, colour: str) -> str:
    """One path per shade, each a set of strokes along the rows."""
    shades = shade(weights)
    step = 6 * CELLS / len(weights)
    paths = []
    for level in range(1, _LEVELS + 1):
        strokes = "".join(
            f"M{first * step:g} {(row + 0.5) * step:g}h{(last - first) * step:g}"
            for row, first, last in _runs(shades == level)
        )
        if strokes:
            paths.append(f'<path stroke-opacity="{level / _LEVELS:.2f}" d="{strokes}"/>')
    return (
        f'<g class="pv-cells" stroke="{style.colour(colour)}" stroke-width="{step:g}">'
        f"{''.join(paths)}</g>"
    )


def shade(weights: Floats) -> NDArray[np.int64]:
    """Steps of shade of each weight; by its root, so that small ones show beside a 1."""
    shown: NDArray[np.int64] = np.rint(_LEVELS * np.sqrt(np.clip(weights, 0, 1))).astype(np.int64)
    return shown


def _runs(on: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Row, first and past-the-last column of each stretch of cells that are on."""
    edges = np.diff(np.pad(on, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, firsts = np.nonzero(edges == 1)
    lasts = np.nonzero(edges == -1)[1]
    return list(zip(rows.tolist(), firsts.tolist(), lasts.tolist(), strict=True))
