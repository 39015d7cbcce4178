"""Pictures of rounded positions: a ruler of numbers, errors of angles, scores by place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.figures.heat import Axis, heat_map

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

SPACING = Formula("spacing", "2 ** (e - p + 1)", words={"spacing": "spacing"})
"""Tokens between two numbers of p significant bits, from 2 to the e on."""
COSINE = Formula(
    "error", "abs(cos(phi) - cos(m * theta_i))", words={"error": "error before cos is rounded"}
)
"""What a held angle does to one pair's cosine."""
FLAT = Formula(
    "share", "2 / d * sum(cos(delta * b ** (-2 * i / d)) for i in range(half))",
    words={"share": "score", "half": "d / 2"},
)  # fmt: skip
"""Score of q = k = (1, ..., 1) as a share of a perfect match: the position is not in it."""

FAINTEST = 1e-9  # lower end of the axes of errors
_PI = math.pi


@dataclass(frozen=True)
class Block:
    """Positions that a dtype holds as one number.

    Attributes:
        count: How many of them are in view.
        label: The number.
        kind: ``is-query`` where the chosen position is among them, ``is-lost`` where there is no
            number, else empty.
    """

    count: int
    label: str
    kind: str = ""


@dataclass(frozen=True, eq=False)
class Curve:
    """A line: what it is called, name of its colour, dash and its points."""

    label: str
    shade: str
    dash: str
    x: ArrayLike
    y: ArrayLike
    width: float = 1.8


# ---------------------------------------------------------------------------------------- positions


def ruler(
    start: int, count: int, query: int, key: int, rows: Sequence[tuple[str, str, Sequence[Block]]],
    *, alt: str, _: Words,
) -> str:  # fmt: skip
    """Neighbouring positions, and below them the numbers that each dtype has for them; HTML.

    Args:
        start: First position in view.
        count: How many are.
        query: The chosen position.
        key: Where its key stands; it may be out of view.
        rows: Label, name of the colour and blocks of each dtype.
        alt: Text alternative.
        _: Translates labels.
    """
    tokens = "".join(
        f'<i data-set="position={at}" title="{at:,}"'
        f"{' class=is-query' if at == query else ' class=is-key' if at == key else ''}></i>"
        for at in range(max(start, 1), start + count)
    )
    if start == 0:
        tokens = f'<i title="0"{" class=is-key" if key == 0 else ""}></i>{tokens}'

    def mark(at: int, label: str, kind: str) -> str:
        if not start <= at < start + count:
            return ""
        place = (at - start + 0.5) / count
        side = "start" if place < 0.12 else "end" if place > 0.88 else "middle"
        return f'<b class="{kind} at-{side}" style="left:{100 * place:.4g}%">{label}</b>'

    near = abs(query - key) < 0.2 * count  # both labels would lie on each other
    marks = mark(query, f"{_('query')} {query:,}", "is-query")
    if key != query and not near:
        marks += mark(key, f"{_('key')} {key:,}", "is-key")
    told = "".join(
        f'<div class="pv-precision-row" style="--c:{style.colour(shade)}"><span>{label}</span><div>'
        + "".join(
            f'<i class="{one.kind}" style="flex-grow:{one.count}"><em>{one.label}</em></i>'
            for one in blocks
        )
        + "</div></div>"
        for label, shade, blocks in rows
    )
    return (
        f'<div class="pv-precision-ruler" role="img" aria-label="{escape(alt)}">'
        f'<div class="pv-precision-row is-marks"><span></span><div>{marks}</div></div>'
        f'<div class="pv-precision-row is-tokens"><span>{_("positions")}</span>'
        f"<div>{tokens}</div></div>{told}</div>"
    )


def distinct(curves: Sequence[Curve], length: int, top: int, *, _: Words) -> dict[str, Any]:
    """How many numbers a dtype has for the positions of a text, by its length; a Plotly figure."""
    powers = range(int(math.log10(top)) + 1)
    ends = [0.0, math.log10(top)]
    ticks = {"type": "log", "range": ends, "tickvals": [10.0**n for n in powers],
             "ticktext": [style.tokens(10**n) for n in powers]}  # fmt: skip
    along = min(math.log10(length), ends[1])
    return _figure(
        curves, ticks | {"title": {"text": _("length of the text, tokens")}},
        ticks | {"title": {"text": _("different numbers")}},
        [(min(length, top), along, f"{length:,}", along > 0.6 * ends[1])], "%{y:,.0f}",
    )  # fmt: skip


def swatch(label: str, shade: str, kind: str) -> str:
    """A line of the legend, ``solid | dash | dot``, before its label; HTML."""
    return f'<i class="is-{kind}" style="--c:{style.colour(shade)}"></i>{label}'


def choose(way: str, label: str, *, chosen: bool) -> str:
    """A label that chooses what is held in fewer bits; HTML."""
    return (
        f'<button type="button" data-set="held={way}" aria-pressed="{str(chosen).lower()}">'
        f"{label}</button>"
    )


def table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], *, alt: str) -> str:
    """Labels and numbers in columns, the first one over the labels; HTML."""
    columns = "".join(f'<th scope="col">{one}</th>' if one else "<td></td>" for one in head)
    body = "".join(
        f'<tr><th scope="row">{label}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for label, cells in rows
    )
    return (
        f'<table class="pv-precision-table"><caption>{escape(alt)}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
    )


# ------------------------------------------------------------------------------------------- angles


def errors(curves: Sequence[Curve], position: int, end: int, *, _: Words) -> dict[str, Any]:
    """Largest error of a pair's cosine so far, by position; a Plotly figure."""
    return _figure(
        [_floored(one) for one in curves], _positions(end, _),
        _error_axis(-8.0, 1.6, _("largest error of the cosine so far")),
        [_mark(position, end)], "%{y:.2~g}",
    )  # fmt: skip


def by_pair(curves: Sequence[Curve], pair: int, pairs: int, *, _: Words) -> dict[str, Any]:
    """Error of each pair's angle at one position; a Plotly figure with a line at half a turn."""
    half = Curve(_("half a turn"), "quiet", "1px,3px", [-0.5, pairs - 0.5], [_PI, _PI], 1.4)
    figure = _figure(
        [half, *(_floored(one) for one in curves)],
        {"range": [-0.5, max(pairs, 2) - 0.5],
         "title": {"text": _("pair, fast to slow")}},
        _error_axis(-9.0, 6.0, _("error of the angle, radians")),
        [(pair, pair, _("pair {pair}", pair=pair), pair > 0.6 * pairs)], "%{y:.2~g}",
    )  # fmt: skip
    # Over its line, at the end where few others are as high.
    named = style.note(pairs - 0.5, 0.74, half.label, "quiet", leftwards=True)
    figure["layout"]["annotations"].append(named)
    return figure


def hands(exact: float, held: tuple[float, str] | None, *, alt: str) -> str:
    """A clock of one pair: the hand where it belongs and where the held angle puts it; SVG.

    The held angle comes with the name of its colour, or None.
    """

    def hand(angle: float, colour: str, width: float, dash: str = "") -> str:
        # Counted from the right, against the clock, as angles are.
        x, y = 44 * math.cos(angle), -44 * math.sin(angle)
        broken = f' stroke-dasharray="{dash}"' if dash else ""
        return (
            f'<line x2="{x:.2f}" y2="{y:.2f}" stroke="{style.colour(colour)}" '
            f'stroke-width="{width}" stroke-linecap="round"{broken}/>'
            f'<circle cx="{x:.2f}" cy="{y:.2f}" r="4" fill="{style.colour(colour)}"/>'
        )

    grid = style.colour("quiet")
    return (
        f'<svg class="pv-precision-hands" viewBox="-54 -54 108 108" role="img" '
        f'aria-label="{escape(alt)}"><circle r="49" fill="none" stroke="{grid}" stroke-width="1"/>'
        f'<path d="M-49 0H49M0 -49V49" stroke="{style.colour("grid")}" stroke-width="1"/>'
        f"{hand(exact, 'ink', 2.5)}{hand(*held, 3.5, '6 4') if held else ''}</svg>"
    )


def clock(drawn: str, where: str, *told: str) -> str:
    """The clock beside where it stands and what it shows; HTML."""
    lines = "".join(f"<p>{one}</p>" for one in (where, *told))
    return f'<div class="pv-precision-clock">{drawn}<div>{lines}</div></div>'


# --------------------------------------------------------------------------------------- invariance


def maps(
    shown: Sequence[tuple[str, str, str, Floats | None, str]],
    start: int, position: int, distance: int, *, _: Words,
) -> tuple[str, heat.Rasters]:  # fmt: skip
    """Scores by position of the query and distance, one map for each way to hold angles.

    Args:
        shown: Name, label, colour, scores ``(positions, distances)`` as shares of a perfect match,
            and text alternative of each; or None, and why there are no scores.
        start: Position of the first row.
        position: The chosen one.
        distance: The chosen one.
        _: Translates labels.
    """
    parts: list[str] = []
    rasters: dict[str, Any] = {}
    for name, label, shade, scores, alt in shown:
        named = f'<p class="pv-precision-name"><i style="--c:{style.colour(shade)}"></i>{label}</p>'
        if scores is None:
            parts.append(f'<div>{named}<p class="pv-caption">{alt}</p></div>')
            continue
        rows, columns = scores.shape
        visible = np.arange(start, start + rows)[:, None] >= np.arange(columns)  # the key exists
        markup, raster = heat_map(
            name, scores, low=-1.0, high=1.0, visible=visible, height=260, alt=alt,
            rows=Axis(_("query’s position"), "position", start, chosen=position - start, ticks=5),
            columns=Axis(_("distance to the key"), "distance", chosen=distance, ticks=6),
            said=_("query {row}, distance {column}: {value}"),
        )  # fmt: skip
        parts.append(f"<div>{named}{markup}</div>")
        rasters |= raster
    scale = heat.scale_bar("−1", _("score 1, a perfect match"), middle="0")
    return f'<div class="pv-precision-maps">{"".join(parts)}</div>{scale}', rasters


def flat(curves: Sequence[Curve], position: int, end: int, *, _: Words) -> dict[str, Any]:
    """Score of one distance at every position; a Plotly figure."""
    return _figure(
        curves, _positions(end, _),
        {"range": [-0.65, 1.4], "dtick": 0.5, "title": {"text": _("score")}},
        [_mark(position, end)], "%{y:.4f}",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- shared


def verdict(sentence: str, shade: str) -> str:
    """The one glance, HTML."""
    return (
        f'<p class="pv-precision-verdict"><i style="--c:{style.colour(shade)}"></i>{sentence}</p>'
    )


def _floored(one: Curve) -> Curve:
    return Curve(one.label, one.shade, one.dash, one.x, np.maximum(one.y, FAINTEST), one.width)


def _positions(end: int, _: Words) -> dict[str, Any]:
    powers = range(int(math.log10(end)) + 1)
    return {"type": "log", "range": [0.0, math.log10(end)], "tickvals": [10.0**n for n in powers],
            "ticktext": [f"{10**n:,}" for n in powers],
            "title": {"text": _("position, tokens")}}  # fmt: skip


def _error_axis(low: float, high: float, title: str) -> dict[str, Any]:
    powers = [n for n in range(-9, 7) if low <= n <= high and n % 2 == 0]
    told = {0: "1", -2: "0.01", -4: "10⁻⁴", -6: "10⁻⁶", -8: "10⁻⁸", 2: "100", 4: "10⁴", 6: "10⁶"}
    return {"type": "log", "range": [low, high], "tickvals": [10.0**n for n in powers],
            "ticktext": [told[n] for n in powers], "title": {"text": title}}  # fmt: skip


def _mark(position: int, end: int) -> tuple[float, float, str, bool]:
    """The position's mark; at the end of the axis, with an arrow, if it is beyond."""
    at, beyond = min(position, end), " →" if position > end else ""
    return at, math.log10(at), f"{position:,}{beyond}", position > end**0.6


def _figure(
    curves: Sequence[Curve], xaxis: dict[str, Any], yaxis: dict[str, Any],
    marks: Sequence[tuple[float, float, str, bool]], said: str,
) -> dict[str, Any]:  # fmt: skip
    """Lines with a labelled mark: where it stands, also on the axis, its label and its side."""
    return {
        "data": [
            {
                "type": "scatter", "mode": "lines", "name": one.label,
                "x": np.asarray(one.x, np.float64), "y": np.asarray(one.y, np.float64),
                "line": {"color": style.colour(one.shade), "width": one.width}
                | ({"dash": one.dash} if one.dash else {}),
                "hovertemplate": said,
            }
            for one in curves
        ],
        "layout": style.layout(
            xaxis=dict(xaxis), yaxis=dict(yaxis),
            shapes=[style.upright(at, "ink", "solid") for at, _, _, _ in marks],
            annotations=[
                style.note(along, 1, label, "ink", leftwards=leftwards)
                for _, along, label, leftwards in marks
            ],
            margin={"l": 62, "r": 12, "t": 8, "b": 40},
        ),
    }  # fmt: skip
