"""Heat maps: numbers as one byte each, painted by the browser on a canvas in the theme's colours.

Half a million cells as SVG or as a Plotly heat map take seconds; as bytes they take a few
milliseconds. Axes, marks and the scale are markup over the canvas, in per cent of it, so that they
are sharp at any size.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style

Floats = NDArray[np.floating[Any]]
Rasters = Mapping[str, Mapping[str, object]]

DIVERGING = ("negative", "ground", "positive")
"""Names of colours from the lowest value to the highest; for values around 0."""

# Up to so many cells the numbers travel beside the bytes, so that hovering shows them exactly.
_EXACT = 4096


def sequential(shade: str = "accent") -> tuple[str, ...]:
    """Colours from nothing to the named one; for weights and other values from 0 on."""
    return ("ground", shade)


@dataclass(frozen=True)
class Axis:
    """Rows or columns of a heat map.

    Attributes:
        title: What they count.
        handle: Parameter that a click or a drag on the map sets; empty if none.
        first: What the first one counts as.
        step: By how much each one counts more; -1 for an axis that counts down.
        labels: Name of each one, tokens for instance; numbers if empty.
        chosen: The one that is marked, by index.
        ticks: How many numbers stand at the axis, at most; labels all stand.
    """

    title: str = ""
    handle: str = ""
    first: int = 0
    step: int = 1
    labels: Sequence[str] = ()
    chosen: int | None = None
    ticks: int = 6


def raster(
    values: Floats, low: float, high: float, visible: NDArray[np.bool_] | None = None
) -> dict[str, object]:
    """Cells ``(rows, columns)`` as bytes: 1 to 255 from ``low`` to ``high``, 0 where not visible.

    Values past an end have its colour.
    """
    # Rounded by truncation of a positive number: twice as fast as np.rint on half a million cells.
    scaled = np.asarray(values, np.float32) - np.float32(low)
    scaled *= np.float32(254.0 / (high - low))
    scaled += np.float32(1.5)
    np.clip(scaled, 1.0, 255.0, out=scaled)
    cells = scaled.astype(np.uint8)
    if visible is not None:
        cells[~visible] = 0
    rows, columns = cells.shape
    told: dict[str, object] = {
        "rows": rows, "columns": columns, "low": low, "high": high,
        "cells": base64.b64encode(cells.tobytes()).decode(),
    }  # fmt: skip
    if cells.size <= _EXACT:
        told["values"] = np.asarray(values, np.float32)
    return told


def heat_map(
    name: str,
    values: Floats,
    *,
    low: float,
    high: float,
    rows: Axis,
    columns: Axis,
    alt: str,
    said: str,
    palette: Sequence[str] = DIVERGING,
    visible: NDArray[np.bool_] | None = None,
    height: int | None = None,
    width: int | None = None,
    marks: Sequence[tuple[int, int]] = (),
) -> tuple[str, Rasters]:
    """A heat map: markup and the raster that it shows, the arguments of ``live.drawing``.

    Args:
        name: Unique within the picture.
        values: ``(rows, columns)``, the first row on top.
        low: Value of the first colour.
        high: Value of the last colour.
        rows: The vertical axis.
        columns: The horizontal axis.
        alt: Text alternative, with the numbers that matter.
        said: What hovering says, with ``{row}``, ``{column}`` and ``{value}``.
        palette: Names of colours from the lowest value to the highest.
        visible: False where there is no value; these cells are hatched.
        height: Pixels of the map; square cells over the whole width if not given.
        width: Most pixels of the map.
        marks: Cells, as row and column, that have a frame.
    """
    count, across = values.shape
    size = f"height:{height}px" if height else f"aspect-ratio:{across}/{count}"
    limit = f"max-width:{width}px;" if width else ""
    fine = " is-fine" if count > 300 or across > 700 else ""
    canvas = (
        f'<canvas data-raster="{name}" data-palette="{",".join(palette)}" '
        f'data-said="{escape(said)}" data-row="{rows.handle}" data-column="{columns.handle}" '
        f'data-first-row="{rows.first}" data-first-column="{columns.first}" '
        f'data-step-row="{rows.step}" data-step-column="{columns.step}" '
        f"data-rows='{escape(json.dumps(list(rows.labels)))}' "
        f"data-columns-said='{escape(json.dumps(list(columns.labels)))}'></canvas>"
    )
    over = "".join(
        f'<i class="pv-heat-cell" style="left:{100 * column / across:.4g}%;'
        f"top:{100 * row / count:.4g}%;width:{100 / across:.4g}%;"
        f'height:{100 / count:.4g}%"></i>'
        for row, column in marks
    )
    if rows.chosen is not None:
        over += (
            f'<i class="pv-heat-row" style="top:{100 * (rows.chosen + 0.5) / count:.4g}%;'
            f'--size:{100 / count:.4g}%"></i>'
        )
    if columns.chosen is not None:
        over += (
            f'<i class="pv-heat-column" style="left:{100 * (columns.chosen + 0.5) / across:.4g}%;'
            f'--size:{100 / across:.4g}%"></i>'
        )
    title = f'<span class="pv-heat-title">{rows.title}</span>' if rows.title else ""
    under = f'<span class="pv-heat-under">{columns.title}</span>' if columns.title else ""
    return (
        f'<figure class="pv-heat{" is-named" if rows.labels else ""}" style="{limit}">{title}'
        f'<div class="pv-heat-rows">{_ticks(rows, count, "top")}</div>'
        f'<div class="pv-heat-plot{fine}" role="img" aria-label="{escape(alt)}" '
        f'style="{size}">{canvas}{over}</div>'
        f'<div class="pv-heat-columns">{_ticks(columns, across, "left")}</div>{under}'
        f'<output class="pv-heat-said" aria-live="off" hidden></output></figure>',
        {name: raster(values, low, high, visible)},
    )


def _ticks(axis: Axis, count: int, side: str) -> str:
    """Labels along an axis, in the middle of their cells."""
    if axis.labels:
        shown = [(n, escape(label)) for n, label in enumerate(axis.labels)]
    else:
        places = {n: axis.first + axis.step * n for n in _round_steps(axis, count)}
        short = [style.tokens(place) for place in places.values()]
        if len(set(short)) < len(short):  # far from 0, short forms say the same of several
            short = [f"{place:,}" for place in places.values()]
        shown = list(zip(places, short, strict=True))
    return "".join(
        f'<span style="{side}:{100 * (n + 0.5) / count:.4g}%"'
        f"{' class=is-chosen' if n == axis.chosen else ''}>{label}</span>"
        for n, label in shown
    )


def _round_steps(axis: Axis, count: int) -> range:
    """Indices a round number apart, of which one counts as 0 or as a multiple of the step."""
    step = next(
        size * power
        for power in (10**n for n in range(10))
        for size in (1, 2, 5)
        if count / (size * power) <= axis.ticks
    )
    if axis.first == 0 and count % 64 == 0 and count > axis.ticks:  # 512 has ticks at 64, 128, ...
        step = 1 << max((count // axis.ticks - 1).bit_length(), 0)
    return range(-axis.first * axis.step % step, count, step)


def scale_bar(low: str, high: str, palette: Sequence[str] = DIVERGING, middle: str = "") -> str:
    """The colours from lowest to highest value, with what they mean, HTML."""
    stops = ",".join(style.colour(name) for name in palette)
    return (
        f'<p class="pv-scale-bar"><span>{low}</span><i style="background:'
        f'linear-gradient(to right,{stops})">{f"<b>{middle}</b>" if middle else ""}</i>'
        f"<span>{high}</span></p>"
    )
