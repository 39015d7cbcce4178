"""ALiBi's pictures: slopes, biases, weights by distance, windows, and what the lab measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

_SHADES = {"m": "alibi", "h": "accent"}
SLOPE = Formula("m", "2 ** (-B * h / n)", _SHADES)
BIAS = Formula("b", "-m * (i - j)", _SHADES)
WINDOW = Formula("W", "-log(1 - p) / m", _SHADES)

STEEPEST = 1.3  # where every axis of slopes begins
USUAL_BIAS_MAX = 8.0  # slopes of nearly every model end at two to the power of minus this
FAINTEST = 1e-6  # of a weight that is drawn
DEEPEST = 10.0  # size of a bias from which the colour stays; e^-10 is 0.005 %
_OUTSIDE = 1e-12  # below every axis
_TICKS = {"1": 1.0, "2⁻²": 2.0**-2, "2⁻⁴": 2.0**-4, "2⁻⁶": 2.0**-6, "2⁻⁸": 2.0**-8,
          "2⁻¹²": 2.0**-12, "2⁻¹⁶": 2.0**-16}  # fmt: skip
_NAMED = 16  # heads whose numbers have room below an axis


def flattest(bias_max: float) -> float:
    """Where an axis of slopes ends: at one of two places, so that it stands in most drags."""
    return float(2.0 ** -(8.5 if bias_max <= USUAL_BIAS_MAX else 16.5))


def _slope_ticks(end: float) -> dict[str, float]:
    """Labels of an axis of slopes that ends there, and where they stand."""
    return {
        label: at for label, at in _TICKS.items()
        if at >= end and (end > 2.0**-9 or label not in ("2⁻²", "2⁻⁶"))
    }  # fmt: skip


def _line(
    label: str, shade: str, x: Floats, y: Floats, said: str, *, width: float = 1.4, dash: str = ""
) -> dict[str, Any]:
    """A line; without ``said`` the pointer passes over it."""
    line: dict[str, Any] = {"color": style.colour(shade), "width": width}
    told = {"hovertemplate": said} if said else {"hoverinfo": "skip"}
    return {
        "type": "scatter", "mode": "lines" if len(x) > 1 else "lines+markers", "name": label,
        "x": x, "y": y, "line": line | ({"dash": dash} if dash else {}), **told,
    }  # fmt: skip


def _faint(label: str, x: Floats, y: Floats) -> dict[str, Any]:
    line = _line(label, "alibi", x, y, "", width=1.5)
    line["line"]["color"] = style.faded("alibi")
    return line


def _together(x: Floats, rows: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Many curves as one line, to and fro; it turns back outside of a logarithmic axis.

    One trace for a hundred heads is drawn as fast as one.
    """
    wide = np.concatenate([[x[0] / 1e4], x, [x[-1] * 1e4]])
    xs, ys = [], []
    for n, row in enumerate(rows):
        tall = np.concatenate([row[:1], row, row[-1:]])
        xs.append(wide[:: -1 if n % 2 else 1])
        ys.append(tall[:: -1 if n % 2 else 1])
    return np.concatenate(xs), np.concatenate(ys)


def _stems(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """One line that rises from below the axis to each point and goes back."""
    below = np.full(len(y), _OUTSIDE)
    return np.repeat(x, 3), np.stack([below, y, below], axis=1).ravel()


# ----------------------------------------------------------------------------------------- slopes


def slopes(
    released: Floats, paper: Floats, heads: Sequence[int], place: int, end: float, *,
    is_sorted: bool, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Slope over the heads on a logarithmic axis, a Plotly figure.

    Args:
        released: Slope of each head, in the order that is shown.
        paper: The paper's rule for the same number of heads.
        heads: Number of each head in that order, counted from 1.
        place: Which of them is chosen, from 0.
        end: Smallest slope that has room.
        is_sorted: Whether they are sorted by size.
        _: Translates labels.
    """
    count = len(released)
    x = np.arange(1, count + 1) / count
    across, up = _stems(x, released)
    data = [
        _faint(_("heads"), across, up),
        _line(_("paper's formula"), "ink", x, paper, "%{y:.3~g}", dash="6px,3px"),
        _line(_("released"), "alibi", x, released, "%{y:.4~g}", width=2.4),
        _line(_("chosen head"), "accent", x[[place, place]],
              np.array([_OUTSIDE, released[place]]), "", width=3.5),
    ]  # fmt: skip
    title = _("head, sorted by slope") if is_sorted else _("head, in the released order")
    # Heads are numbered by notes: with new ticks, Plotly would draw every step of a drag.
    xaxis = {
        "range": [0.0, 1.02], "tickvals": [], "title": {"text": title, "standoff": 24},
    }  # fmt: skip
    notes = [
        *(_head_label(float(x[n]), heads[n], chosen=n == place) for n in _numbered(heads, place)),
        style.note(1.02, 1, _("steep: sees near"), "quiet", leftwards=True),
        style.note(0.0, 0.08, _("flat: sees far"), "quiet", leftwards=False),
    ]
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=_slope_axis(end, _), annotations=notes,
                               margin=_margin(left=58, bottom=46)),
    }  # fmt: skip


def _numbered(heads: Sequence[int], place: int) -> list[int]:
    """Places of the heads whose numbers have room, evenly spaced, the chosen one among them."""
    eighth = -(-len(heads) // 8)
    step = 1 if len(heads) <= _NAMED else 1 << (eighth - 1).bit_length()
    even = range(step - 1, len(heads), step)
    return sorted({place, *(n for n in even if _NAMED * abs(n - place) >= len(heads))})


def _head_label(at: float, head: int, *, chosen: bool) -> dict[str, Any]:
    """A head's number below the axis."""
    label = style.note(at, 0.0, str(head), "accent" if chosen else "quiet", leftwards=False)
    return {**label, "xshift": -3.3 * len(str(head)) - 1, "bgcolor": "rgba(0,0,0,0)"}


def _slope_axis(end: float, _: Words) -> dict[str, Any]:
    ticks = _slope_ticks(end)
    return {
        "type": "log", "range": [math.log10(end), math.log10(STEEPEST)],
        "tickvals": list(ticks.values()), "ticktext": list(ticks),
        "title": {"text": _("slope m")},
    }  # fmt: skip


def _margin(left: int = 52, bottom: int = 40) -> dict[str, int]:
    return {"l": left, "r": 12, "t": 8, "b": bottom}


@dataclass(frozen=True, eq=False)
class Rung:
    """A row of slopes in the ladder.

    Attributes:
        label: What they are.
        slopes: Their sizes.
        taken: Places of those that are used, counted from 1; all of them if None.
        shade: Name of their colour.
        heads: The head of each one, counted from 1, if a click chooses it.
    """

    label: str
    slopes: Floats
    taken: Sequence[int] | None = None
    shade: str = "alibi"
    heads: Sequence[int] = ()


def ladder(rungs: Sequence[Rung], chosen: int, end: float, *, alt: str, _: Words) -> str:
    """Rows of slopes on one logarithmic axis, from steep to flat; HTML.

    ``chosen`` is the head that stands out where heads can be chosen, ``end`` the smallest slope
    that has room.
    """
    rows = "".join(
        f"<dt>{rung.label}</dt><dd>{_ticks(rung, end)}{_buttons(rung, chosen, end, _)}</dd>"
        for rung in rungs
    )
    ticks = "".join(
        f'<span style="left:{_across(tick, end):.4g}%">{label}</span>'
        for label, tick in _slope_ticks(end).items()
    )
    ends = f"<dt>{_('slope')}</dt><dd class='pv-alibi-axis'>{ticks}</dd>"
    ladder = f'<dl class="pv-alibi-ladder">{rows}{ends}</dl>'
    return f'<div role="group" aria-label="{escape(alt)}">{ladder}</div>'


def _across(slope: float, end: float) -> float:
    """Per cent of the ladder's width."""
    return 100 * math.log(STEEPEST / slope) / math.log(STEEPEST / end)


def _ticks(rung: Rung, end: float) -> str:
    places = np.arange(1, len(rung.slopes) + 1)
    taken = np.ones(len(places), bool) if rung.taken is None else np.isin(places, rung.taken)
    width, paths = 1 if len(places) > 64 else 2, []
    for is_taken, state in ((False, ' class="is-left"'), (True, "")):
        of = rung.slopes[taken == is_taken].tolist()
        drawn = "".join(f"M{_across(slope, end):.2f} 0v1" for slope in of)
        paths.append(f'<path{state} d="{drawn}" stroke="{style.colour(rung.shade)}"/>')
    return (
        f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" stroke-width="{width}" '
        f'aria-hidden="true">'
        f"{''.join(paths)}</svg>"
    )


def _buttons(rung: Rung, chosen: int, end: float, _: Words) -> str:
    return "".join(
        f'<button type="button" data-set="head={head}" style="left:{_across(slope, end):.4g}%" '
        f'aria-pressed="{str(head == chosen).lower()}"{"" if head == chosen else " tabindex=-1"} '
        f'aria-label="{escape(_("Head {head}: slope {slope}", head=head, slope=f"{slope:.4g}"))}">'
        "</button>"
        for head, slope in zip(rung.heads, rung.slopes.tolist(), strict=False)
    )


# ------------------------------------------------------------------------------------------- bias


def biases(
    stored: Mapping[str, Floats], names: Mapping[str, str], query: int, *, alt: str, _: Words
) -> tuple[str, heat.Rasters]:
    """The numbers that each one stores, as heat maps side by side.

    Args:
        stored: Square matrices by name; minus infinity is hatched.
        names: What a reader calls each.
        query: The row that is marked.
        alt: Text alternative of each.
        _: Translates labels.
    """
    parts: list[str] = []
    rasters: dict[str, Any] = {}
    for name, values in stored.items():
        visible = np.isfinite(values)
        markup, own = heat.heat_map(
            name, np.where(visible, values, 0.0), low=-DEEPEST, high=DEEPEST,
            rows=heat.Axis(_("query i"), "query", chosen=query),
            columns=heat.Axis(_("key j")), visible=visible,
            alt=_("{label}: {value}", label=style.plain_text(names[name]), value=alt),
            said=_("query {query}, key {key}: {value}", query="{row}", key="{column}",
                   value="{value}"),
        )  # fmt: skip
        parts.append(f"<div><p>{names[name]}</p>{markup}</div>")
        rasters.update(own)
    bar = heat.scale_bar(_("−10 and less"), _("10 and more"), middle="0")
    return f'<div class="pv-alibi-three">{"".join(parts)}</div>{bar}', rasters


@dataclass(frozen=True)
class Stored:
    """A line of the table of one row: its name, its numbers, and their distance from the first."""

    label: str
    cells: Sequence[str]
    apart: str = ""


def row(keys: Sequence[int], lines: Sequence[Stored], query: int, *, _: Words) -> str:
    """What each one stores in the query's row, at a few keys; HTML."""
    head = "".join(f'<th scope="col">j = {key}</th>' for key in keys)
    body = "".join(
        f'<tr><th scope="row">{line.label}</th>'
        + "".join(f"<td>{cell}</td>" for cell in line.cells)
        + f"<td>{line.apart}</td></tr>"
        for line in lines
    )
    first, last = _("row i = {query}", query=query), _("minus ours")
    return (
        f'<table class="pv-alibi-row"><thead><tr><th scope="col">{first}</th>{head}'
        f'<th scope="col">{last}</th></tr></thead><tbody>{body}</tbody></table>'
    )


# ---------------------------------------------------------------------------------------- weights


def weights(
    distance: NDArray[np.integer[Any]], heads: Sequence[Floats], chosen: Floats,
    windows: Sequence[tuple[str, float]], furthest: int, *, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Softmax weight by distance, every head faint and one strong, a Plotly figure.

    Args:
        distance: Tokens between query and key; 0 stands at 0.5.
        heads: Weight of each head at these distances.
        chosen: The same of the chosen one.
        windows: What each mark says, and where it stands, tokens.
        furthest: Right end of the axis, tokens.
        _: Translates labels.
    """
    x = np.where(distance == 0, 0.5, distance)
    across, down = _together(x, [np.maximum(one, FAINTEST / 1e4) for one in heads])
    data = [
        _faint(_("every head"), across, down),
        _line(_("chosen head"), "alibi", x, np.maximum(chosen, FAINTEST / 1e4), "%{y:.3~g}",
              width=2.8),
    ]  # fmt: skip
    ticks = [0.5, *(10.0**i for i in range(int(math.log10(furthest)) + 1))]
    xaxis = {
        "type": "log", "range": [math.log10(0.45), math.log10(furthest)], "tickvals": ticks,
        "ticktext": ["0", *(style.tokens(tick) for tick in ticks[1:])],
        "title": {"text": _("distance between query and key, tokens")},
    }  # fmt: skip
    yaxis = {
        "type": "log", "range": [math.log10(FAINTEST), 0.15],
        "tickvals": [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6],
        "ticktext": ["1", "0.1", "0.01", "10⁻³", "10⁻⁴", "10⁻⁵", "10⁻⁶"],
        "title": {"text": _("share of the weight")},
    }  # fmt: skip
    shapes, notes = [], []
    for n, (said, at) in enumerate(windows):
        shade, dash = ("ink", "solid") if n == len(windows) - 1 else ("quiet", "dot")
        place = min(max(at, 0.46), furthest)
        shapes.append(style.upright(place, shade, dash))
        crowded = math.log(place / 0.45) / math.log(furthest / 0.45) > 0.6
        notes.append(style.note(math.log10(place), 1 - 0.075 * n, said, shade, leftwards=crowded))
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, shapes=shapes, annotations=notes,
                               margin=_margin(left=58)),
    }  # fmt: skip


def windows(
    heads: Floats, ends: Sequence[float], curves: Sequence[tuple[str, str, Sequence[float]]],
    own: Sequence[float], chosen: int, context: int, end: float, *, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Window over slope, both logarithmic: a straight line for each share; a Plotly figure.

    Args:
        heads: Slope of each head.
        ends: The two slopes at which the curves are given.
        curves: Label, dash and windows at the two ends; the last one stands out.
        own: Window of each head at the last curve's share, tokens.
        chosen: The head that stands out, from 0.
        context: Tokens of a context to compare with.
        end: Smallest slope that has room.
        _: Translates labels.
    """
    across, up = _stems(heads, np.array(own))
    x = np.array(ends)
    *others, (label, _dash, values) = curves
    data = [
        _faint(_("heads"), across, up),
        *(_line(said, "quiet", x, np.array(y), "", dash=dash) for said, dash, y in others),
        _line(label, "alibi", x, np.array(values), "", width=2.4),
        _line(_("context"), "ink", np.array([_OUTSIDE, 1e3]), np.full(2, float(context)), "",
              width=1, dash="2px,2px"),
        _line(_("chosen head"), "accent", heads[[chosen, chosen]],
              np.array([_OUTSIDE, own[chosen]]), "", width=3.5),
    ]  # fmt: skip
    xaxis = {**_slope_axis(end, _), "title": {"text": _("slope m")}}
    # Steep heads on the left, as in the ladder.
    xaxis["range"] = xaxis["range"][::-1]
    yaxis = {
        "type": "log", "range": [-0.6, 6.0], "tickvals": [1, 10, 100, 1e3, 1e4, 1e5, 1e6],
        "ticktext": ["1", "10", "100", "1k", "10k", "100k", "1M"],
        "title": {"text": _("window, tokens")},
    }  # fmt: skip
    said = style.note(
        math.log10(STEEPEST), (math.log10(context) + 0.6) / 6.6 + 0.07,
        _("context of {count}", count=style.tokens(context)), "quiet", leftwards=False,
    )  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, annotations=[said],
                               margin=_margin(left=58)),
    }  # fmt: skip


# ----------------------------------------------------------------------------------------- length


def covered(
    multiples: Floats, heads: Sequence[Floats], chosen: Floats, within: Floats, current: float,
    *, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """What the window holds as the context grows: of the weight, and of the text; a Plotly figure.

    Args:
        multiples: Context lengths, in trained contexts.
        heads: Share of the text that each head's window covers.
        chosen: The same of the chosen head.
        within: Share of the chosen head's weight within its window.
        current: The context that is marked, in trained contexts.
        _: Translates labels.
    """
    across, down = _together(multiples, [100 * one for one in heads])
    data = [
        _faint(_("every head"), across, down),
        _line(_("of the weight"), "accent", multiples, 100 * within, "%{y:.3~g} %", width=2.4,
              dash="6px,3px"),
        _line(_("of the text"), "alibi", multiples, 100 * chosen, "%{y:.3~g} %", width=2.8),
    ]  # fmt: skip
    ticks = [1, 2, 4, 8, 16, 32, 64]
    xaxis = {
        "type": "log", "range": [math.log10(0.94), math.log10(66)], "tickvals": ticks,
        "ticktext": [f"{tick}×" for tick in ticks],
        "title": {"text": _("context length, in trained contexts")},
    }  # fmt: skip
    yaxis = {
        "type": "log", "range": [-4.0, 2.25], "tickvals": [100, 10, 1, 0.1, 0.01, 1e-3, 1e-4],
        "ticktext": ["100 %", "10 %", "1 %", "0.1 %", "0.01 %", "10⁻³ %", "10⁻⁴ %"],
        "title": {"text": _("inside the window")},
    }  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(
            xaxis=xaxis, yaxis=yaxis, shapes=[style.upright(current, "ink", "solid")],
            margin=_margin(left=64),
        ),
    }  # fmt: skip


def contexts(head: Sequence[str], rows: Sequence[Sequence[str]], current: int) -> str:
    """Rows of numbers, one for each context length, the current one strong; HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    body = "".join(
        f"<tr{' class=is-current' if n == current else ''}>"
        f'<th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>'
        for n, (first, *rest) in enumerate(rows)
    )
    return f'<table class="pv-alibi-row"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


@dataclass(frozen=True, eq=False)
class Measured:
    """A measured curve over context length; NaN where nothing was measured.

    Attributes:
        label: What it is.
        shade: Name of its colour.
        lengths: Context lengths, tokens.
        trained: Trained context, tokens.
        values: One for each length: nats, or a share from 0 to 1.
        lowest: Of all seeds, if there is a band.
        highest: Of all seeds.
        dash: Empty for a solid line.
    """

    label: str
    shade: str
    lengths: Sequence[int]
    trained: int
    values: Floats
    lowest: Floats | None = None
    highest: Floats | None = None
    dash: str = ""


def perplexity(curves: Sequence[Measured], current: float, *, _: Words) -> dict[str, Any]:
    """Perplexity over context length, of curves in nats, a Plotly figure."""
    yaxis = {"range": [1.6, 3.4], "dtick": 0.5, "title": {"text": _("perplexity")}}
    traces = [trace for one in curves for trace in _traces(one, np.exp, "%{y:.3~g}", _)]
    return _over_length(traces, current, yaxis, "", _)


def found(curves: Sequence[Measured], current: float, *, _: Words) -> dict[str, Any]:
    """Share of what had to be found that was found, over context length, a Plotly figure."""
    yaxis = {"range": [-4, 108], "dtick": 25, "ticksuffix": " %", "title": {"text": _("right")}}
    traces = [
        trace
        for one in curves
        for trace in _traces(one, lambda share: 100 * share, "%{y:.0f} %", _)
    ]
    title = _("context length, in contexts of their own training")
    return _over_length(traces, current, yaxis, title, _)


def _traces(
    one: Measured, unit: Callable[[Floats], Floats], said: str, _: Words
) -> list[dict[str, Any]]:
    """The curve, after the two edges of its band if it has one."""
    seen = np.isfinite(one.values)
    x = np.array(one.lengths)[seen] / one.trained
    traces = []
    if one.lowest is not None and one.highest is not None:
        low, high = unit(one.lowest[seen]), unit(one.highest[seen])
        traces += [
            _line(_("lowest seed"), one.shade, x, low, "", width=0),
            {**_line(_("highest seed"), one.shade, x, high, "", width=0),
             "fill": "tonexty", "fillcolor": style.faded(one.shade)},
        ]  # fmt: skip
    width = 1.6 if one.dash else 2.4
    traces.append(
        _line(one.label, one.shade, x, unit(one.values[seen]), said, width=width, dash=one.dash)
    )
    return traces


def _over_length(
    traces: list[dict[str, Any]], current: float, yaxis: dict[str, Any], title: str, _: Words
) -> dict[str, Any]:
    """Traces over the context in trained contexts, where the lab has measured."""
    ticks = [0.25, 0.5, 1, 2, 4, 8, 16]
    xaxis = {
        "type": "log", "range": [math.log10(0.24), math.log10(17)], "tickvals": ticks,
        "ticktext": ["¼×", "½×", *(f"{tick}×" for tick in ticks[2:])], "title": {"text": title},
    }  # fmt: skip
    free = 0.3 if title else 1.0  # a height that no curve crosses
    notes = [style.note(0.0, free, _("trained"), "quiet", leftwards=True)]
    shapes = [style.upright(1.0, "quiet", "dot")]
    if current <= ticks[-1]:
        shapes.append(style.upright(current, "ink", "solid"))
    else:
        beyond = _("{count}×: not measured →", count=style.short(current))
        notes.append(style.note(math.log10(16.5), free, beyond, "ink", leftwards=True))
    return {
        "data": traces,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, shapes=shapes, annotations=notes,
                               margin=_margin(left=58, bottom=40 if title else 24)),
    }  # fmt: skip
