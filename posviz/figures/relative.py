"""The pictures of relative biases: Shaw's rows and vectors, T5's ruler of buckets, its price."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.params import Said
from posviz.relative import BucketRange

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]
Words = Callable[..., str]

_BUCKETS = {"num_buckets": Said("num_buckets")}
ROW = Formula(
    "row", "min(max(key - query, -k), k) + k",
    {"key": "accent", "query": "accent", "k": "shaw"},
    {"row": "row", "key": "key", "query": "query"},
)  # fmt: skip
SHAW_SCORE = Formula(
    "score", "(content + place) / sqrt(head_dim)", {"place": "shaw"},
    {"score": "score", "content": "q·k", "place": "q·a"},
)  # fmt: skip
PER_SIDE = {
    True: Formula("n", "num_buckets // 2", words=_BUCKETS),
    False: Formula("n", "num_buckets", words=_BUCKETS),
}
"""Buckets of one direction, by whether there are two."""
EXACT = Formula("exact", "n // 2", words={"exact": "exact"})
NEAR = Formula(
    "bucket", "start + distance", {"distance": "accent"},
    {"bucket": "bucket", "start": "start", "distance": "distance"},
)  # fmt: skip
FAR = Formula(
    "bucket",
    "start + min(exact + floor(log(distance / exact) / log(max_distance / exact) * (n - exact)),"
    " n - 1)",
    {"distance": "accent"},
    {"bucket": "bucket", "start": "start", "exact": "exact", "distance": "distance",
     "max_distance": "max_distance"},
)  # fmt: skip
T5_SCORE = Formula("score", "content + b", {"b": "t5"}, {"score": "score", "content": "q·k"})
WEIGHT = Formula("factor", "exp(b)", {"b": "t5"}, {"factor": "factor of the weight"})
WRITTEN_OUT = Formula("bias", "b * H * L ** 2", {"L": "accent"}, {"bias": "bias"})
"""Bytes: b of each number, H heads, L tokens."""
VECTORS = Formula("vectors", "3 * b * H * L * d", {"L": "accent"}, {"vectors": "q, k, v"})
"""Bytes: as before, d dimensions of a head."""
RATIO = Formula("ratio", "L / (3 * d)", {"L": "accent"}, {"ratio": "bias / (q, k, v)"})

REACH = 288
"""Tokens to each side that the ruler of buckets has room for."""
FARTHEST = 255
"""Largest distance of the curves of biases, tokens."""

_OWN = 0.4  # where distance 0 stands on a logarithmic axis; rounded for hover it says 0
_TICKS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
_LABELS = 32  # ranges that fit below a wide ruler
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def size(count: int) -> str:
    """Bytes, in powers of a thousand."""
    rounded = float(f"{count:.3g}")
    power = next(n for n in range(len(_UNITS)) if rounded < 1000 ** (n + 1))
    return f"{rounded / 1000**power:.3g} {_UNITS[power]}"


# ------------------------------------------------------------------------------------------ Shaw


def shaw_rows(rows: Ints, query: int, key: int, last: int, alt: str, _: Words) -> tuple[str, Any]:
    """Row of the table for each query and key, ``(q_len, k_len)``; ``last`` is the last row."""
    return heat.heat_map(
        "rows", rows.astype(np.float32), low=0 if last else -1, high=last or 1,
        rows=heat.Axis(_("query"), "query", chosen=query),
        columns=heat.Axis(_("key"), "key", chosen=key),
        alt=alt, said=_("query {row}, key {column}: row {value}", row="{row}", column="{column}",
                        value="{value}"),
        width=470, marks=[(query, key)],
    )  # fmt: skip


def shaw_table(table: Floats, row: int, alt: str, _: Words) -> tuple[str, Any]:
    """The vectors, one per row, with the one that is looked up."""
    most = float(np.abs(table).max())
    return heat.heat_map(
        "table", table, low=-most, high=most,
        rows=heat.Axis(_("row of the table"), chosen=row, ticks=5),
        columns=heat.Axis(_("dimension of the vector a")),
        alt=alt, said=_("row {row}, dimension {column}: {value}", row="{row}", column="{column}",
                        value="{value}"),
        height=190,
    )  # fmt: skip


def shaw_place(place: Floats, query: int, key: int, name: str, _: Words) -> dict[str, Any]:
    """What Shaw's vectors add to one query's score of each key, a Plotly figure."""
    x = np.arange(len(place), dtype=np.float64)
    return {
        "data": [_line(name, "shaw", 2.6, "", x, place)],
        "layout": style.layout(
            xaxis={"range": [-0.5, len(x) - 0.5], "title": {"text": _("key")}, "dtick": 8},
            yaxis={"range": [-1.1, 1.1], "title": {"text": _("added to the score")}, "dtick": 0.5},
            shapes=[style.upright(key, "ink", "solid"), style.upright(query, "quiet", "dot")],
            annotations=[style.note(query, 1, _("the query"), "quiet",
                                    leftwards=query > len(x) // 2)],
            margin={"l": 48, "r": 12, "t": 4, "b": 36},
        ),
    }  # fmt: skip


def _line(
    name: str, shade: str, width: float, dash: str, x: Floats, y: Floats, unit: str = "%{y:.2f}"
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "hovertemplate": unit,
        "line": {"color": style.colour(shade), "width": width} | ({"dash": dash} if dash else {}),
    }  # fmt: skip


# ------------------------------------------------------------------------------------ T5's buckets


@dataclass(frozen=True)
class Segment:
    """One bucket on the ruler: relative positions ``first`` to ``last``, in ascending order."""

    bucket: int
    first: float
    last: float
    kind: str
    told: str

    @staticmethod
    def of(one: BucketRange, exact: int) -> Segment:
        """A range of the core, cut at the ruler's end."""
        near = abs(one.nearest)
        if one.farthest is None:
            far, kind, told = REACH, "last", f"{near}+"
        else:
            far = abs(one.farthest)
            kind = "exact" if near < exact else "far"
            told = f"{near}" if far == near else f"{near}–{far}"
        ends = (near, far) if one.nearest > 0 else (-far, -near)
        return Segment(one.bucket, *ends, kind, told)


def ruler(
    ranges: Iterable[BucketRange], position: int, bucket: int, exact: int, apart: Iterable[int],
    alt: str, _: Words,
) -> str:  # fmt: skip
    """All buckets twice, as wide as they are and side by side, the same ones joined; HTML.

    Args:
        ranges: Of all buckets, one side or both.
        position: Chosen relative position, tokens.
        bucket: Its bucket, which stands out.
        exact: Distances below have a bucket each.
        apart: Relative positions that float64 would put elsewhere.
        alt: Text alternative.
        _: Translates labels.
    """
    segments = sorted((Segment.of(one, exact) for one in ranges), key=lambda one: one.first)
    low = segments[0].first - 0.5
    span = (REACH if segments[-1].last > 0 else 0) + 0.5 - low

    def at(tokens: float) -> float:
        return 1000 * (tokens - low) / span

    count = len(segments)
    place = next(n for n, one in enumerate(segments) if one.bucket == bucket)
    every = -(-count // _LABELS)
    shapes, cells, labels = [], [], []
    for n, one in enumerate(segments):
        left, right = at(one.first - 0.5), at(one.last + 0.5)
        below, after = 1000 * n / count, 1000 * (n + 1) / count
        chosen = " is-chosen" if n == place else ""
        odd = " is-odd" if n % 2 else ""
        shapes.append(
            f'<g class="is-{one.kind}{odd}{chosen}">'
            f'<path d="M{left:.1f} 0H{right:.1f}V24H{left:.1f}Z"/>'
            f'<path class="pv-relative-fan" '
            f'd="M{left:.1f} 24H{right:.1f}L{after:.1f} 76H{below:.1f}Z"/>'
            f'<path d="M{below:.1f} 76H{after:.1f}V100H{below:.1f}Z"/></g>'
        )
        nearest = one.first if one.first > 0 else one.last
        said = _("bucket {bucket}: {distances}", bucket=one.bucket, distances=one.told)
        cells.append(
            f'<button data-set="relative_position={nearest:.0f}" title="{escape(said)}" '
            f'aria-label="{escape(said)}" aria-pressed="{"true" if chosen else "false"}" '
            f'tabindex="{0 if chosen else -1}"></button>'
        )
        if (n - place) % every == 0:
            narrow = "" if (n - place) % (4 * every) == 0 else " is-wide"
            labels.append(
                f'<span class="{chosen}{narrow}" style="left:{(below + after) / 20:.2f}%">'
                f"<b>{one.bucket}</b>{one.told}</span>"
            )
    here = at(position)
    marks = f'<line class="pv-relative-here" x1="{here:.1f}" x2="{here:.1f}" y1="0" y2="24"/>'
    wrong = "".join(
        f'<i class="pv-relative-apart" style="left:{at(p) / 10:.2f}%"></i>' for p in apart
    )
    ticks = "".join(
        f'<span class="{"is-wide" if tick % 128 else ""}" style="left:{at(tick) / 10:.2f}%">'
        f"{style.number(tick)}</span>"
        for tick in range(-256, 257, 64)
        if 0 <= at(tick) <= 1000
    )
    return (
        f'<div class="pv-relative-ruler" role="group" aria-label="{escape(alt)}">'
        f'<div class="pv-relative-ticks">{ticks}{wrong}</div>'
        f'<div class="pv-relative-plot"><svg viewBox="0 0 1000 100" preserveAspectRatio="none" '
        f'aria-hidden="true">{"".join(shapes)}{marks if 0 <= here <= 1000 else ""}</svg>'
        f'<div class="pv-relative-cells">{"".join(cells)}</div></div>'
        f'<div class="pv-relative-labels" aria-hidden="true">{"".join(labels)}</div>'
        f"</div>"
    )


def sizes(ranges: Iterable[BucketRange], distance: int, _: Words) -> dict[str, Any]:
    """How many distances share a bucket, by distance, a Plotly figure.

    Args:
        ranges: Buckets of the query's own position and of keys before it.
        distance: Chosen distance, tokens.
        _: Translates labels.
    """
    found = list(ranges)
    starts = [abs(one.nearest) for one in found]
    shared = [one.size for one in found if one.size is not None]
    y = np.repeat(np.asarray(shared, np.float64), np.diff(starts))
    x = _spread(np.arange(len(y)))
    name = _("distances in the bucket")
    figure = _line(name, "t5", 2.4, "", np.append(x, starts[-1]), np.append(y, y[-1]), "%{y:.0f}")
    figure["line"]["shape"] = "hv"
    told = _("last bucket, from {start}", start=starts[-1])
    return {
        "data": [figure],
        "layout": style.layout(
            xaxis=_distances(_("distance, tokens"), REACH),
            yaxis={"type": "log", "range": [-0.08, 2.4], "title": {"text": name},
                   "tickvals": [1, 2, 5, 10, 20, 50, 100, 200]},
            shapes=[style.upright(_place(distance), "ink", "solid"),
                    style.upright(starts[-1], "quiet", "dot")],
            annotations=[style.note(np.log10(starts[-1]), 1, told, "quiet",
                                    leftwards=starts[-1] > 12)],
            margin={"l": 52, "r": 12, "t": 6, "b": 38},
        ),
    }  # fmt: skip


def nothing() -> dict[str, Any]:
    """A chart without curves and axes."""
    hidden = {"visible": False, "range": [0, 1]}
    return {"data": [], "layout": style.layout(xaxis=dict(hidden), yaxis=dict(hidden))}


def _spread(distance: Ints) -> Floats:
    """Distances where they stand on a logarithmic axis, 0 at a place of its own."""
    return np.maximum(distance.astype(np.float64), _OWN)


def _place(distance: int) -> float:
    return float(_spread(np.asarray(distance)))


def _distances(title: str, most: int) -> dict[str, Any]:
    """A logarithmic axis of distances from 0 on."""
    ticks = [tick for tick in _TICKS if tick <= most + 1]
    return {"type": "log", "range": [float(np.log10(0.36)), float(np.log10(1.05 * most))],
            "tickvals": [_place(tick) for tick in ticks], "hoverformat": ".0f",
            "ticktext": [str(tick) for tick in ticks], "title": {"text": title}}  # fmt: skip


# -------------------------------------------------------------------------------------- T5's heads


def t5_bias(
    bias: Floats, visible: NDArray[np.bool_], query: int, key: int, most: float, alt: str, _: Words
) -> tuple[str, Any]:
    """What one head adds for each query and key; past ``most`` all look alike."""
    return heat.heat_map(
        "bias", bias, low=-most, high=most, visible=visible,
        rows=heat.Axis(_("query"), "query", chosen=query),
        columns=heat.Axis(_("key"), "key", chosen=key),
        alt=alt, said=_("query {row}, key {column}: {value}", row="{row}", column="{column}",
                        value="{value}"),
        width=470, marks=[(query, key)],
    )  # fmt: skip


def bias_by_distance(
    heads: Floats, chosen: int, alibi: Floats, distance: int, *, names: Sequence[str], _: Words
) -> dict[str, Any]:
    """Bias of every head by distance beside ALiBi's of the chosen one, a Plotly figure.

    Args:
        heads: ``(num_heads, distances)``, from distance 0 on.
        chosen: The head that stands out, from 0.
        alibi: ALiBi's bias at the same distances.
        distance: The chosen one.
        names: Of the heads, then of ALiBi's.
        _: Translates labels.
    """
    x = _spread(np.arange(heads.shape[1]))
    data = [
        _line(names[n], "random", 1.3, "", x, row) for n, row in enumerate(heads) if n != chosen
    ]
    data.append(_line(names[-1], "alibi", 2.0, "6px,4px", x, alibi))
    data.append(_line(names[chosen], "t5", 2.6, "", x, heads[chosen]))
    return {
        "data": data,
        "layout": style.layout(
            xaxis=_distances(_("distance, tokens"), FARTHEST),
            yaxis={"range": [-30, 10], "title": {"text": _("added to the score")}, "dtick": 10},
            shapes=[style.upright(_place(distance), "ink", "solid")] if distance >= 0 else [],
            margin={"l": 48, "r": 12, "t": 6, "b": 38},
        ),
    }


# -------------------------------------------------------------------------------------- the price


def lengths(offered: Sequence[tuple[str, int]], chosen: int, _: Words) -> str:
    """Lengths to choose at once, each with its label; HTML."""
    buttons = "".join(
        f'<button type="button" data-set="seq_len={length}" title="{length:,}" '
        f'aria-pressed="{str(length == chosen).lower()}">{label}</button>'
        for label, length in offered
    )
    return f'<p class="pv-relative-lengths"><span>{_("Length")}</span>{buttons}</p>'


def memory(
    lengths: Sequence[int], lines: Sequence[tuple[str, str, str, Sequence[int]]], seq_len: int,
    _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Bytes by length on logarithmic axes, a Plotly figure.

    Args:
        lengths: Tokens, ascending.
        lines: Name, name of a colour, dash and bytes at each length; the first one stands out.
        seq_len: Chosen length.
        _: Translates labels.
    """
    x = np.asarray(lengths, np.float64)
    data = [
        _line(name, shade, 1.6 if n else 2.8, dash, x, np.asarray(y, np.float64), "%{text}")
        | {"text": [size(count) for count in y]}
        for n, (name, shade, dash, y) in enumerate(lines)
    ]
    exponents = range(0, 18, 3)
    return {
        "data": data[::-1],
        "layout": style.layout(
            xaxis={"type": "log", "range": [float(np.log10(n)) for n in (lengths[0], lengths[-1])],
                   "tickvals": [10**n for n in range(3, 8)], "hoverformat": ",.0f",
                   "ticktext": ["1k", "10k", "100k", "1M", "10M"],
                   "title": {"text": _("length, tokens")}},
            yaxis={"type": "log", "range": [0, 17], "tickvals": [10**n for n in exponents],
                   "ticktext": [size(10**n) for n in exponents], "title": {"text": _("memory")}},
            shapes=[style.upright(seq_len, "ink", "solid")],
            margin={"l": 62, "r": 20, "t": 6, "b": 38},
        ),
    }  # fmt: skip


def prices(rows: Sequence[tuple[str, str, int, int]], _: Words) -> str:
    """What each thing takes: name, name of its colour, how many numbers, bytes; HTML."""
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(shade)}"></i>{name}</th>'
        f"<td>{count:,}</td><td>{size(total)}</td></tr>"
        for name, shade, count, total in rows
    )
    return (
        f'<table class="pv-readout pv-relative-prices"><thead><tr><td></td><th>{_("numbers")}</th>'
        f"<th>{_('memory')}</th></tr></thead><tbody>{body}</tbody></table>"
    )
