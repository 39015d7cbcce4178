"""What decides a claim, drawn: curves over one axis, or bars side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from posviz.claim_evidence import Bars, Curves, Range
from posviz.figures import style

Words = Callable[..., str]

_EDGE = 0.01  # of a decade, so that ticks at the ends of a logarithmic axis are drawn
_SHADES = {"claim": "alarm"}
"""Names of colours of shades that are no encoding or method."""


def shade(name: str) -> str:
    """Name of the colour of a shade."""
    return _SHADES.get(name, name)


def legend(picture: Curves | Bars, _: Words) -> list[tuple[str, str, str]]:
    """The curves as entries of a legend; bars have their labels beside them."""
    if isinstance(picture, Bars):
        return []
    return [
        (_(line.template, **line.names), shade(line.shade), "dash" if line.dashed else "solid")
        for line in reversed(picture.lines)
    ]


def curves(picture: Curves, _: Words) -> dict[str, Any]:
    """Curves over axes that stand still, a Plotly figure."""
    data = [
        {
            "type": "scatter", "mode": "lines", "name": _(line.template, **line.names),
            "x": picture.x,
            "y": line.values, "hovertemplate": "%{y:.4~g}",
            "line": {"color": style.colour(shade(line.shade))}
            | ({"dash": "6px,5px", "width": 1.8} if line.dashed else {"width": 2.8}),
        }
        for line in picture.lines
    ]  # fmt: skip
    shapes = [] if picture.mark is None else [style.upright(picture.mark, "ink", "solid")]
    return {
        "data": data,
        "layout": style.layout(
            xaxis=_axis(_(picture.x_title), picture.x_range, picture.x_ticks),
            yaxis=_axis(_(picture.y_title), picture.y_range, picture.y_ticks),
            shapes=shapes, annotations=[], margin={"l": 62, "r": 14, "t": 10, "b": 46},
        ),
    }  # fmt: skip


def _axis(title: str, ends: Range, ticks: Sequence[float]) -> dict[str, Any]:
    axis: dict[str, Any] = {
        "title": {"text": title, "font": {"size": 14}}, "tickfont": {"size": 14},
        "range": list(ends),
    }  # fmt: skip
    if ticks:
        axis |= {
            "type": "log", "tickvals": list(ticks),
            "ticktext": [style.tokens(tick) for tick in ticks],
            "range": [math.log10(ends[0]) - _EDGE, math.log10(ends[1]) + _EDGE],
        }  # fmt: skip
    return axis


def bars(picture: Bars, alt: str, _: Words) -> str:
    """Bars side by side, each with its label and number, HTML."""
    rows = "".join(
        f'<p><span>{_(bar.label)}</span><i><b style="width:{100 * bar.value / picture.high:.4g}%;'
        f'background:{style.colour(shade(bar.shade))}"></b></i>'
        f"<em>{style.number(bar.value)}</em></p>"
        for bar in picture.bars
    )
    return (
        f'<div class="pv-claims-bars" role="img" aria-label="{escape(alt)}">{rows}'
        f"<small>{_(picture.title)}</small></div>"
    )
