"""RoPE's curves: scores by distance, bounds, and what moving both tokens does; Plotly figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

Curve = tuple[str, str, str, Floats]
"""A curve: label, name of its colour, dash (empty for none), and its value at each ``x``."""


def curves(
    x: NDArray[Any], lines: Sequence[Curve], *, title: str, value: str, low: float, high: float,
    at: float | None = None, at_label: str = "", log: Sequence[tuple[float, str]] = (),
    band: tuple[str, Floats] | None = None, apart: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Curves over distances or positions with fixed axes, a Plotly figure.

    Args:
        x: Distances or positions.
        lines: The curves, the last one on top.
        title: What ``x`` counts.
        value: What the values are.
        low: Lowest value that has room; on a logarithmic axis as a power of 10.
        high: Highest value that has room.
        at: Where a mark stands, if any.
        at_label: What the mark says.
        log: Ticks and their labels, if the values' axis is logarithmic.
        band: Label, and its mean, lower and upper edge at each ``apart``-th ``x``, ``(3, n)``.
        apart: See ``band``.
    """
    data: list[dict[str, Any]] = []
    if band is not None:
        label, (mean, lower, upper) = band
        edges = [_line(label, "random", "", x[::apart], edge) for edge in (lower, upper)]
        for edge in edges:
            edge |= {"line": {"width": 0}, "hoverinfo": "skip"}
            del edge["hovertemplate"]
        edges[1] |= {"fill": "tonexty", "fillcolor": style.faded("random")}
        data = [*edges, _line(label, "random", "2px,2px", x[::apart], mean)]
    data += [_line(label, shade, dash, x, y) for label, shade, dash, y in lines]
    first, last = float(x[0]), float(x[-1])
    shapes, notes = [], []
    if at is not None:
        shapes.append(style.upright(at, "ink", "solid"))
        notes.append(
            style.note(at, 1, at_label, "ink", leftwards=at > first + 0.6 * (last - first))
        )
    yaxis: dict[str, Any] = {"title": {"text": value}, "range": [low, high]}
    if log:
        yaxis |= {
            "type": "log", "tickvals": [tick for tick, _ in log],
            "ticktext": [label for _, label in log],
        }  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"title": {"text": title}, "range": [first, last]}, yaxis=yaxis,
            shapes=shapes, annotations=notes,
        ),
    }  # fmt: skip


def _line(label: str, shade: str, dash: str, x: NDArray[Any], y: Floats) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": label, "x": np.asarray(x, np.float64), "y": y,
        "line": {"color": style.colour(shade), "width": 1.8} | ({"dash": dash} if dash else {}),
        "hovertemplate": "%{y:.3~g}",
    }  # fmt: skip
