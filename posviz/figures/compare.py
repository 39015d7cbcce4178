"""Pictures of the comparison: maps side by side, curves by distance, answers, prices, losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz.catalog import Answer
from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.figures.heat import Axis, heat_map
from posviz.figures.relative import size
from posviz.params import Message

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]
Words = Callable[..., str]

WRITTEN_OUT = Formula("square", "b * H * L ** 2", words={"square": "L × L"})
"""Bytes of a bias that is written out for the heads of one layer."""
CACHE = Formula(
    "cache", "2 * b * n_layers * K * d * L", words={"cache": "KV cache", "n_layers": "layers"}
)
"""Bytes of all layers' keys and values."""
ROTATION = Formula("RoPE", "3 * (H + K) / (4 * H * L)", {"RoPE": "rope"}, {"RoPE": "RoPE’s share"})
"""RoPE's operations as a share of attention's own."""
SLOPE = Formula("ALiBi", "2 / (4 * d)", {"ALiBi": "alibi"}, {"ALiBi": "ALiBi’s share"})
"""ALiBi's operations as a share of attention's own."""
DECLINE = Formula("ALiBi", "-m * n", {"ALiBi": "alibi"}, {"ALiBi": "ALiBi"})
"""ALiBi's part of a score at distance n."""
TURN = Formula(
    "RoPE", "2 * sum(cos(n * theta_i) for i in range(half)) / sqrt(d)", {"RoPE": "rope"},
    {"RoPE": "RoPE", "half": "d / 2"},
)  # fmt: skip
"""RoPE's score of q = k = (1, ..., 1) at distance n."""

WEIGHT = 0.2  # ends of the colours of weights and their differences
FAINTEST = 1e-6  # weight that lines are drawn down to
# Ends of colours and axes come in a few sizes, so that they rest while a handle moves.
_COLOURS = (6.0, 16.0)  # of scores and their differences
_LOWEST = (-12.0, -20.0, -28.0, -36.0, -48.0)  # of one query's scores
_HIGHEST = (12.0, 18.0, 26.0)
_BASES = ((-14.0, 12.0), (-30.0, 12.0))  # of scores by distance
ROW_WEIGHT, BASE_WEIGHT = 1e-4, 1e-8  # at the lower ends of the axes of weights
_SHARE = (1e-10, 300.0)  # axis of operations: the smallest and the largest of all sizes are within
_BYTES = (10**2.5, 1e17)  # axis of memory, likewise


@dataclass(frozen=True, eq=False)
class Map:
    """One encoding's map.

    Attributes:
        name: Of the encoding, in links.
        label: What a reader sees.
        shade: Name of its colour.
        values: ``(queries, keys)``.
        note: One line under it, HTML.
    """

    name: str
    label: str
    shade: str
    values: Floats
    note: str


@dataclass(frozen=True, eq=False)
class Curve:
    """A line: what it is called, name of its colour, dash and its points."""

    label: str
    shade: str
    dash: str
    x: ArrayLike
    y: ArrayLike
    width: float = 1.8


# Learned rows cost what sinusoids cost: a thin line over a wide one, so that both show.
_WIDTHS = {"sinusoidal": 3.6, "learned": 1.2}


def dash(name: str) -> str:
    """How lines of an encoding are broken, so that print tells them apart."""
    return style.DASHES[style.dash_of(name)]


def work_width(name: str) -> float:
    """How wide a line of work is: two that lie on each other both show."""
    return _WIDTHS.get(name, 1.8)


def legend_dash(name: str) -> str:
    """The same for a legend."""
    return style.dash_of(name)


# ------------------------------------------------------------------------------------ side by side


def maps(
    shown: Sequence[Map], difference: Map | None, visible: Bools, query: int,
    *, a: str, b: str, weights: bool, end: float, _: Words,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """The maps of a few encodings, the difference of two and the colours; markup and rasters.

    Args:
        shown: One map each.
        difference: ``b`` minus ``a``, if there are two.
        visible: False where a key is ahead of its query.
        query: The row that is marked.
        a: Name of the encoding that is subtracted.
        b: Name of the one that it is subtracted from.
        weights: Whether values are weights, from 0 on, or scores.
        end: Value of the last colour.
        _: Translates labels.
    """
    parts: list[str] = []
    rasters: dict[str, Any] = {}
    for one in shown:
        palette = heat.sequential() if weights else heat.DIVERGING
        markup, raster = _map(one, visible, query, 0.0 if weights else -end, end, palette, _)
        chosen = "".join(
            f'<button type="button" data-unsaved data-set="{side}={one.name}" '
            f'aria-pressed="{str(one.name == now).lower()}" '
            f'title="{escape(_("{side} of the difference", side=side.upper()))}">'
            f"{side.upper()}</button>"
            for side, now in (("a", a), ("b", b))
        )
        parts.append(
            f'<div><p class="pv-compare-name"><i style="--c:{style.colour(one.shade)}"></i>'
            f"<b>{one.label}</b>{chosen if difference else ''}</p>{markup}"
            f'<p class="pv-compare-note">{one.note}</p></div>'
        )
        rasters |= raster
    if difference is not None:
        markup, raster = _map(difference, visible, query, -end, end, heat.DIVERGING, _)
        parts.append(
            f'<div class="is-difference"><p class="pv-compare-name"><b>{difference.label}</b></p>'
            f'{markup}<p class="pv-compare-note">{difference.note}</p></div>'
        )
        rasters |= raster
    return (
        f'<div class="pv-compare-maps">{"".join(parts)}</div>{_bars(difference, weights, end, _)}',
        rasters,
    )


def _map(
    one: Map, visible: Bools, query: int, low: float, high: float, palette: Sequence[str], _: Words
) -> tuple[str, heat.Rasters]:
    return heat_map(
        one.name, np.where(visible, one.values, 0.0), low=low, high=high, palette=palette,
        visible=visible, rows=Axis(_("query"), handle="query", chosen=query, ticks=4),
        columns=Axis(_("key"), ticks=4),
        said=_("query {row}, key {column}: {value}"),
        alt=_("{label}: {value}", label=one.label, value=style.plain_text(one.note)),
    )  # fmt: skip


def _bars(difference: Map | None, weights: bool, end: float, _: Words) -> str:
    """What the colours of the maps mean."""
    told = style.number(end)
    if weights:
        bars = [heat.scale_bar("0", _("weight {end} or more", end=told), heat.sequential())]
        if difference:
            bars.append(heat.scale_bar(f"−{told}", _("{end}, B − A", end=told), middle="0"))
    else:
        bars = [heat.scale_bar(_("score −{end} or less", end=told),
                               _("{end} or more", end=told), middle="0")]  # fmt: skip
    masked = f"<span>{_('hatched: ahead of the query, masked')}</span>"
    return f'<div class="pv-compare-bars">{"".join(bars)}{masked}</div>'


def colour_end(deepest: float) -> float:
    """Value of the last colour of scores, where the deepest bias takes off so much."""
    return next((end for end in _COLOURS if -deepest <= 1.3 * end), _COLOURS[-1])


def score_ends(lowest: float, highest: float) -> tuple[float, float]:
    """Ends of an axis of scores that has room for these two."""
    return (
        next((end for end in _LOWEST if end <= lowest), _LOWEST[-1]),
        next((end for end in _HIGHEST if end >= highest), _HIGHEST[-1]),
    )


def row(
    curves: Sequence[Curve], seq_len: int, ends: tuple[float, float] | None, *, _: Words
) -> dict[str, Any]:
    """One query's scores over the distance to the key, or weights, a Plotly figure.

    Args:
        curves: Any number.
        seq_len: Distances that have room.
        ends: Of the axis of scores; None for weights.
        _: Translates labels.
    """
    yaxis = _score_axis(_("score"), ends, 24) if ends else _weight_axis(ROW_WEIGHT, _)
    return {
        "data": [_line(one, -math.inf if ends else FAINTEST) for one in curves],
        "layout": style.layout(
            xaxis={"range": [-0.5, seq_len - 0.5],
                   "title": {"text": _("distance from the query back to the key, tokens")}},
            yaxis=yaxis, margin={"l": 56, "r": 12, "t": 8, "b": 40},
        ),
    }  # fmt: skip


def looks(
    head: Sequence[str], rows: Sequence[tuple[str, str, Sequence[str]]], formulas: Sequence[str]
) -> str:
    """What the query does under each encoding: label, colour, cells, and its score; HTML."""
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(shade)}"></i>{label}'
        f"<small>{formula}</small></th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        for (label, shade, cells), formula in zip(rows, formulas, strict=True)
    )
    return _table(head, body, "pv-compare-looks")


# ------------------------------------------------------------------------------------- by distance


def curves(
    lines: Sequence[Curve], band: tuple[Floats, Floats] | None, x: ArrayLike, place: int,
    reach: int, ends: tuple[float, float] | None, *, log_axis: bool, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Every encoding's own part by distance, a Plotly figure.

    Args:
        lines: One or more, over distances in tokens.
        band: Lower and upper edge for random vectors under RoPE, at the distances ``x``.
        x: Distances of the band.
        place: The distance that is read off.
        reach: Distances that have room.
        ends: Of the axis of scores; None for weights.
        log_axis: Whether distance is logarithmic; 0 then stands at 0.5.
        _: Translates labels.
    """
    least = -math.inf if ends else FAINTEST**2

    def at(distance: ArrayLike) -> Floats:
        far = np.asarray(distance, np.float64)
        return np.where(far == 0, 0.5, far) if log_axis else far

    data = []
    if band is not None:
        label = _("RoPE, random q and k")
        for n, edge in enumerate(band):
            trace = _line(Curve(label, "random", "", at(x), edge, 0), least)
            if n:
                trace |= {"fill": "tonexty", "fillcolor": style.faded("random")}
            data.append(trace | {"hoverinfo": "skip", "hovertemplate": None})
    data += [_line(Curve(c.label, c.shade, c.dash, at(c.x), c.y, c.width), least) for c in lines]
    xaxis: dict[str, Any] = {
        "range": [0, reach],
        "title": {"text": _("distance between query and key, tokens")},
    }
    if log_axis:
        ticks = [0.5, *(10.0**n for n in range(int(math.log10(reach)) + 1))]
        xaxis |= {
            "type": "log",
            "range": [math.log10(0.45), math.log10(reach)],
            "tickvals": ticks,
            "ticktext": ["0", *(style.tokens(tick) for tick in ticks[1:])],
        }
    yaxis = _weight_axis(BASE_WEIGHT, _)
    if ends:
        yaxis = _score_axis(_("part of the score"), ends, 48)
    return {
        "data": data,
        "layout": style.layout(
            xaxis=xaxis, yaxis=yaxis,
            shapes=[style.upright(0.5 if log_axis and not place else place, "ink", "solid")],
            margin={"l": 56, "r": 24, "t": 8, "b": 40},  # room for half of the last tick's label
        ),
    }  # fmt: skip


def base_ends(lowest: float) -> tuple[float, float]:
    """Ends of the axis of scores by distance that has room for the lowest."""
    return next((ends for ends in _BASES if ends[0] <= lowest), _BASES[-1])


def values(head: Sequence[str], rows: Sequence[tuple[str, str, str, Sequence[str]]]) -> str:
    """Each encoding's part at a few distances: label, colour, what is drawn, cells; HTML."""
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(shade)}"></i>{label}'
        f"<small>{what}</small></th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        for label, shade, what, cells in rows
    )
    return _table(head, body, "pv-compare-values")


# ---------------------------------------------------------------------------------- four questions


@dataclass(frozen=True)
class Asked:
    """A row of the answers.

    Attributes:
        label: Of the encoding.
        shade: Name of its colour.
        about: Year, and where it enters.
        page: Address of the page that explains it; None if there is none.
        answers: By question.
        notes: What stands below some of the answers, by question.
        is_out: Whether a filter leaves it out.
    """

    label: str
    shade: str
    about: str
    page: str | None
    answers: dict[str, Answer]
    notes: dict[str, str]
    is_out: bool


def answers(
    rows: Sequence[Asked], questions: dict[str, Message], chosen: str, *, alt: str, _: Words
) -> str:
    """The answers to all questions in short, or to the chosen one with its reasons; HTML."""
    shown = [chosen] if chosen in questions else list(questions)
    head = "".join(
        f'<th scope="col"><button type="button" data-set="question='
        f'{"all" if len(shown) == 1 else name}" aria-pressed="{str(name == chosen).lower()}">'
        f"{_(questions[name])}</button></th>"
        for name in shown
    )
    if len(shown) == 1:
        head += f'<th scope="col">{_("Why")}</th>'
    body = []
    for one in rows:
        name = one.label
        if one.page is not None:
            name = f'<a href="{escape(one.page)}" target="_self">{name}</a>'
        cells = ""
        for question in shown:
            answer = one.answers[question]
            source = (
                f'<a class="pv-compare-source" href="{escape(answer.source.address)}" '
                f'target="_blank" rel="noopener" title="{escape(_(answer.source.title))}">'
                f"{_('source')}</a>"
            )
            asked = escape(_(questions[question]))
            if len(shown) == 1:
                cells += (
                    f'<td data-asked="{asked}"><b>{_(answer.short)}</b></td>'
                    f"<td>{_(answer.why)} {source}</td>"
                )
            else:
                cells += (
                    f'<td data-asked="{asked}"><span><b>{_(answer.short)}</b> {source}'
                    f"<small>{one.notes.get(question, '')}</small></span></td>"
                )
        body.append(
            f'<tr class="{"is-out" if one.is_out else ""}"><th scope="row">'
            f'<i style="--c:{style.colour(one.shade)}"></i>{name}<small>{one.about}</small></th>'
            f"{cells}</tr>"
        )
    kind = "is-one" if len(shown) == 1 else "is-all"
    return (
        f'<table class="pv-compare-table pv-compare-answers {kind}"><caption>{escape(alt)}'
        f'</caption><thead><tr><th scope="col">{_("Encoding")}</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )


# ------------------------------------------------------------------------------------------- price


def memory(curves: Sequence[Curve], length: int, *, _: Words) -> dict[str, Any]:
    """Bytes by length on logarithmic axes, a Plotly figure."""
    powers = range(3, 18, 3)
    figure = _by_length(curves, length, _("memory"), _)
    figure["layout"]["yaxis"] |= {
        "type": "log", "range": [math.log10(end) for end in _BYTES],
        "tickvals": [10.0**n for n in powers],
        "ticktext": [size(10**n) for n in powers],
    }  # fmt: skip
    for trace, one in zip(figure["data"], curves, strict=True):
        trace |= {
            "text": [size(round(float(y))) for y in np.asarray(one.y)],
            "hovertemplate": "%{text}",
        }
    return figure


def work(curves: Sequence[Curve], length: int, *, _: Words) -> dict[str, Any]:
    """Added operations as a share of attention's own by length, a Plotly figure."""
    figure = _by_length(curves, length, _("of attention’s own"), _)
    ticks = {1e-9: "10⁻⁷ %", 1e-6: "0.0001 %", 1e-3: "0.1 %", 1.0: "100 %"}
    figure["layout"]["yaxis"] |= {
        "type": "log", "range": [math.log10(end) for end in _SHARE], "tickvals": list(ticks),
        "ticktext": list(ticks.values()),
    }  # fmt: skip
    for trace in figure["data"]:
        trace["hovertemplate"] = "%{y:.2~%}"
    return figure


def _by_length(curves: Sequence[Curve], length: int, unit: str, _: Words) -> dict[str, Any]:
    ends = np.log10(np.asarray(curves[0].x, np.float64)[[0, -1]])
    return {
        "data": [_line(one, 0.0) for one in curves],
        "layout": style.layout(
            xaxis={"type": "log", "range": ends.tolist(),
                   "tickvals": [10**n for n in range(3, 8)], "hoverformat": ",.0f",
                   "ticktext": ["1k", "10k", "100k", "1M", "10M"],
                   "title": {"text": _("tokens read at once")}},
            yaxis={"title": {"text": unit}}, shapes=[style.upright(length, "ink", "solid")],
            margin={"l": 74, "r": 16, "t": 8, "b": 38},
        ),
    }  # fmt: skip


def prices(head: Sequence[str], rows: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """What each encoding costs: label, colour, cells; HTML."""
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(shade)}"></i>{label}</th>'
        + "".join(f'<td data-asked="{escape(asked)}">{cell}</td>'
                  for asked, cell in zip(head[1:], cells, strict=True))
        + "</tr>"
        for label, shade, cells in rows
    )  # fmt: skip
    return _table(head, body, "pv-compare-prices")


def linked(text: str, address: str, title: str) -> str:
    """A text that leads to its source, HTML."""
    return (
        f'<a href="{escape(address)}" target="_blank" rel="noopener" title="{escape(title)}">'
        f"{text}</a>"
    )


def shapes(offered: Sequence[tuple[str, str, str, bool]], _: Words) -> str:
    """Models to choose: label, what a link says for it, where it stands, whether it is chosen."""
    buttons = "".join(
        f'<button type="button" data-set="{escape(link)}" title="{escape(source)}" '
        f'aria-pressed="{str(chosen).lower()}">{escape(label)}</button>'
        for label, link, source, chosen in offered
    )
    return f'<p class="pv-compare-shapes"><span>{_("Sizes of")}</span>{buttons}</p>'


def measured(head: Sequence[str], rows: Sequence[tuple[str, str, str, Sequence[str]]]) -> str:
    """What each family of models lost: label, colour, address in the lab, cells; HTML."""
    body = "".join(
        f'<tr><th scope="row"><i style="--c:{style.colour(shade)}"></i>'
        f'<a href="{escape(address)}" target="_self">{label}</a></th>'
        + "".join(f"<td>{cell}</td>" for cell in cells)
        + "</tr>"
        for label, shade, address, cells in rows
    )
    return _table(head, body, "pv-compare-measured")


# ------------------------------------------------------------------------------------------ shared


def _table(head: Sequence[str], body: str, kind: str) -> str:
    columns = "".join(f'<th scope="col">{one}</th>' for one in head)
    return (
        f'<div class="pv-compare-scroll"><table class="pv-compare-table {kind}"><thead><tr>'
        f"{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _score_axis(title: str, ends: tuple[float, float], roomy: float) -> dict[str, Any]:
    """An axis of scores with a label every 4, every 8 where it is longer than ``roomy``."""
    step = 4 if ends[1] - ends[0] <= roomy else 8
    return {"title": {"text": title}, "range": list(ends), "dtick": step}


def _weight_axis(low: float, _: Words) -> dict[str, Any]:
    ticks = {0: "1", -1: "0.1", -2: "0.01", -4: "10⁻⁴", -6: "10⁻⁶", -8: "10⁻⁸"}
    return {
        "type": "log", "range": [math.log10(low), 0.15],
        "tickvals": [10.0**power for power in ticks],
        "ticktext": list(ticks.values()), "title": {"text": _("weight")},
    }  # fmt: skip


def _line(one: Curve, least: float) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines" if np.size(one.x) > 1 else "lines+markers",
        "name": one.label, "x": np.asarray(one.x, np.float64), "y": np.maximum(one.y, least),
        "line": {"color": style.colour(one.shade), "width": one.width}
        | ({"dash": one.dash} if one.dash else {}),
        "hovertemplate": "%{y:.3~g}",
    }  # fmt: skip
