"""The pictures of scaling methods: spectra, bands, seen angles, scores, a cache, units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula

Floats = NDArray[np.floating[Any] | np.integer[Any]]
Words = Callable[..., str]

PLAIN = Formula("theta_i", "b ** (-2 * i / d)", {"i": "accent"})
LINEAR = Formula("theta_i", "b ** (-2 * i / d) / s", {"i": "accent", "s": "linear"})
NTK = Formula(
    "theta_i", "(b * s ** (d / (d - 2))) ** (-2 * i / d)", {"i": "accent", "s": "ntk"}
)  # fmt: skip
DYNAMIC = Formula("s", "f * l / L - (f - 1)", {"f": "dynamic"})
"""Stretch of dynamic NTK at l tokens, at least L; it takes the place of NTK's s."""
BLEND = Formula(
    "theta_i", "b ** (-2 * i / d) * ((1 - r) + r / s)", {"i": "accent", "r": "accent"}
)  # fmt: skip
OVER_PAIRS = Formula(
    "r", "min(max((i - low) / (high - low), 0), 1)", {"i": "accent"}, {"low": "low", "high": "high"}
)  # fmt: skip
OVER_TURNS = Formula(
    "r", "min(max((high - t) / (high - low), 0), 1)", {"t": "accent"},
    {"low": "low", "high": "high"},
)  # fmt: skip
"""Share of interpolation by the turns t of a pair within the trained context."""
TURNING_PAIR = Formula("c", "d * log(L / (2 * pi * t)) / (2 * log(b))", {"t": "accent"})
"""Index of the pair that makes t turns within L tokens; an end of YaRN's ramp before rounding."""
LONGROPE = Formula("theta_i", "b ** (-2 * i / d) / e", {"i": "accent", "e": "longrope"})
"""e is the pair's own entry of the list in use."""
YARN_FACTOR = Formula("m", "0.1 * k * log(s) + 1", {"s": "yarn"})
YARN_RATIO = Formula("m", "m_above / m_below", words={"m_above": "m above", "m_below": "m below"})
"""DeepSeek's attention factor: the same with mscale over the same with mscale_all_dim."""
LONGROPE_FACTOR = Formula("m", "sqrt(1 + log(s) / log(L))", {"s": "longrope"})
ALPHA = Formula("base", "b * s ** (d / (d - 2))", {"s": "ntk"}, {"base": "base"})
GAIN = Formula("gain", "m ** 2", words={"gain": "scores ×"})

KINDS = tuple(style.KINDS)

_LEFT, _RIGHT = 62, 12  # px beside the plot; the strip of pairs has the same
FARTHEST = 20_000
"""Tokens back up to which a learned peak is followed."""


@dataclass(frozen=True, eq=False)
class Series:
    """One method in a picture: what it is called, its colour, whether it stands out."""

    name: str
    label: str
    values: Floats
    strong: bool = False

    @property
    def shade(self) -> str:
        """Name of its colour; the paper's YaRN shares the code's page but not its colour."""
        return "ink" if self.name in ("paper", "both") else self.name


def legend(series: Sequence[Series]) -> list[tuple[str, str, str]]:
    """Entries for a heading, the one that stands out solid."""
    return [
        (one.label, one.shade, "solid" if one.strong else style.dash_of(one.name)) for one in series
    ]


def _line(one: Series, x: Floats, said: str) -> dict[str, Any]:
    look = {"color": style.colour(one.shade), "width": 3.2 if one.strong else 1.7}
    if not one.strong:
        look["dash"] = style.DASHES[style.dash_of(one.name)]
    return {
        "type": "scatter", "mode": "lines" if len(x) > 1 else "lines+markers", "name": one.label,
        "x": x, "y": one.values, "line": look, "hovertemplate": said,
    }  # fmt: skip


def _across(low: float, high: float, y: float, label: str, shade: str, dash: str) -> dict[str, Any]:
    """A level from one end of the plot to the other."""
    return {
        "type": "scatter", "mode": "lines", "name": label, "x": np.array([low, high]),
        "y": np.array([y, y]), "hoverinfo": "skip",
        "line": {"color": style.colour(shade), "width": 1.2, "dash": dash},
    }  # fmt: skip


def _pairs_axis(pairs: int, title: str) -> dict[str, Any]:
    return {"range": [-0.5, pairs - 0.5], "title": {"text": title}}


def _powers(low: int, high: int) -> dict[str, Any]:
    """Ticks of a logarithmic axis of tokens, from ``10**low`` to ``10**high``."""
    ticks = [10.0**n for n in range(low, high + 1)]
    return {"tickvals": ticks, "ticktext": [style.tokens(tick) for tick in ticks]}


def _margin(bottom: int = 40) -> dict[str, int]:
    return {"l": _LEFT, "r": _RIGHT, "t": 8, "b": bottom}


# --------------------------------------------------------------------------------------- spectrum


def spectrum(
    series: Sequence[Series], pair: int, trained: int, extended: float, *,
    as_frequency: bool, top: int, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Wavelength or frequency of each pair, a Plotly figure.

    Args:
        series: Of each method, one number per pair.
        pair: The pair that is marked.
        trained: Trained context, tokens.
        extended: Context that the factor asks for, tokens.
        as_frequency: Whether the numbers are radians per token, not tokens per turn.
        top: Power of ten at the far end of the axis.
        _: Translates labels.
    """
    pairs = len(series[0].values)
    x, ends = np.arange(float(pairs)), (-0.5, pairs - 0.5)
    said = "%{y:.3~g}"
    low, high = (-float(top), 0.2) if as_frequency else (0.6, float(top))
    title = _("inv_freq, radians a token") if as_frequency else _("tokens a turn")
    levels, notes = [], []
    for count, label, dash in (
        (trained, _("trained {count}", count=style.tokens(trained)), "2px,2px"),
        (extended, _("asked for {count}", count=style.tokens(extended)), "6px,3px"),
    ):
        at = 2 * math.pi / count if as_frequency else count
        share = (math.log10(at) - low) / (high - low)
        if 0 < share < 1 and (count == trained or extended > 1.5 * trained):
            levels.append(_across(*ends, at, label, "quiet", dash))
            # Above the level: labels hang from their height, also while they are drawn by hand.
            notes.append(style.note(ends[0], share + 0.09, label, "quiet", leftwards=False))
    ticks = (-top, 0) if as_frequency else (1, top)
    yaxis = {"type": "log", "range": [low, high], "title": {"text": title}}
    yaxis |= _powers(*ticks) if not as_frequency else {
        "tickvals": [10.0**n for n in range(-top, 1)],
        "ticktext": [_power(n) for n in range(-top, 1)],
    }  # fmt: skip
    return {
        "data": [*levels, *(_line(one, x, said) for one in series)],
        "layout": style.layout(
            xaxis=_pairs_axis(pairs, ""), yaxis=yaxis, annotations=notes,
            shapes=[style.upright(pair, "accent", "solid")], margin=_margin(24),
        ),
    }  # fmt: skip


def _power(n: int) -> str:
    return "1" if n == 0 else "10" + str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def ratios(
    series: Sequence[Series], pair: int, factor: float | None, *, high: float, _: Words
) -> dict[str, Any]:
    """How many times slower each pair turns, a Plotly figure.

    Args:
        series: Of each method, one number per pair.
        pair: The pair that is marked.
        factor: A level to compare with.
        high: End of the axis.
        _: Translates labels.
    """
    pairs = len(series[0].values)
    x, ends = np.arange(float(pairs)), (-0.5, pairs - 0.5)
    ticks = [1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096]
    whole = [] if factor is None else [_across(*ends, factor, _("factor"), "quiet", "6px,3px")]
    return {
        "data": [*whole, *(_line(one, x, "%{y:.4~g}×") for one in series)],
        "layout": style.layout(
            xaxis=_pairs_axis(pairs, _("pair, 0 is the fastest")),
            yaxis={"type": "log", "range": [math.log10(0.85), math.log10(high)],
                   "tickvals": ticks, "ticktext": [f"{tick:,}×" for tick in ticks],
                   "title": {"text": _("times slower")}},
            shapes=[style.upright(pair, "accent", "solid")], margin=_margin(),
        ),
    }  # fmt: skip


def ramps(series: Sequence[Series], pair: int, *, _: Words) -> dict[str, Any]:
    """Share of interpolation of each pair, a Plotly figure."""
    pairs = len(series[0].values)
    x = np.arange(float(pairs))
    scaled = [Series(one.name, one.label, 100 * one.values, one.strong) for one in series]
    return {
        "data": [_line(one, x, "%{y:.1f} %") for one in scaled],
        "layout": style.layout(
            xaxis=_pairs_axis(pairs, _("pair")),
            yaxis={"range": [-4, 106], "dtick": 50, "ticksuffix": " %",
                   "title": {"text": _("divided")}},
            shapes=[style.upright(pair, "accent", "solid")], margin=_margin(36),
        ),
    }  # fmt: skip


def strip(kinds: Sequence[str], name: str, pair: int, alt: str, _: Words) -> str:
    """What becomes of each pair, one cell a pair under the charts' axis; HTML."""
    cells = "".join(
        f'<button type="button" tabindex="-1" class="is-{kind}" data-set="pair={n}" '
        f'aria-label="{escape(_("pair {pair}: {kind}", pair=n, kind=_(style.KINDS[kind])))}"'
        f"{' aria-pressed=true' if n == pair else ''}></button>"
        for n, kind in enumerate(kinds)
    )
    counts = [(kind, sum(one == kind for one in kinds)) for kind in KINDS]
    words = "".join(
        f'<span><i class="is-{kind}"></i>{_(style.KINDS[kind])} <b>{count}</b></span>'
        for kind, count in counts
    )
    return (
        f'<div class="pv-scaling-strip" style="--c:{style.colour(name)};--l:{_LEFT}px;'
        f'--r:{_RIGHT}px"><div role="group" aria-label="{escape(alt)}">{cells}</div>'
        f"<p>{words}</p></div>"
    )


@dataclass(frozen=True)
class Row:
    """A method in the table: its numbers as text, empty where it has none."""

    name: str
    label: str
    cells: Sequence[str]
    strong: bool = False
    why_not: str = ""


def methods(head: Sequence[str], rows: Sequence[Row], _: Words) -> str:
    """The methods and their numbers; a method's name pins it. HTML."""
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = []
    for row in rows:
        shade = "ink" if row.name == "paper" else row.name
        swatch = f'<i style="--c:{style.colour(shade)}"></i>{escape(row.label)}'
        if row.name != "paper":
            swatch = (
                f'<button type="button" data-set="pinned={row.name}" '
                f'aria-pressed="{str(row.strong).lower()}">{swatch}</button>'
            )
        if row.why_not:
            cells = f'<td class="is-why" colspan="{len(head) - 1}">{row.why_not}</td>'
        else:
            cells = "".join(f"<td>{cell}</td>" for cell in row.cells)
        state = ' class="is-pinned"' if row.strong else ""
        body.append(f'<tr{state}><th scope="row">{swatch}</th>{cells}</tr>')
    return (
        f'<div class="pv-scaling-scroll"><table class="pv-scaling-table"><thead><tr>{top}</tr>'
        f"</thead><tbody>{''.join(body)}</tbody></table></div>"
    )


# ----------------------------------------------------------------------------------------- angles


def angles(
    name: str, use: NDArray[np.floating[Any]], unseen: NDArray[np.bool_], step: int, pair: int,
    shade: str, alt: str, _: Words,
) -> tuple[str, heat.Rasters]:  # fmt: skip
    """Share of the trained angles that each pair needs at each position, unseen ones hatched.

    Args:
        name: Of the map, unique in its picture.
        use: Needed over trained, ``(pairs, positions)``.
        unseen: Where training met nothing like it.
        step: Tokens between two positions.
        pair: The row that is marked.
        shade: Name of the colour of 100 %.
        alt: Text alternative.
        _: Translates labels.
    """
    markup, rasters = heat.heat_map(
        name, use, low=0.0, high=1.0, rows=heat.Axis(_("pair"), "pair", chosen=pair),
        columns=heat.Axis(_("position"), step=step, ticks=5),
        alt=alt, said=_("pair {row}, position {column}: {value} of the angles met in training",
                        row="{row}", column="{column}", value="{value}"),
        palette=heat.sequential(shade), visible=~unseen, height=220,
    )  # fmt: skip
    return f'<div class="pv-scaling-angles">{markup}</div>', rasters


def unseen_shares(
    multiples: Floats, series: Sequence[Series], current: float, usable: float, shade: str, *,
    _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Share of the slow pairs at unseen angles over the context, a Plotly figure.

    Args:
        multiples: Context lengths, in trained contexts.
        series: Shares from 0 to 1, of each method.
        current: The length that is marked, in trained contexts.
        usable: Where the pinned method first meets one; may be infinite.
        shade: Name of the pinned method's colour.
        _: Translates labels.
    """
    lines = []
    for one in series:
        line = _line(Series(one.name, one.label, 100 * one.values, one.strong), multiples,
                     "%{y:.0f} %")  # fmt: skip
        line["line"]["shape"] = "hv"
        lines.append(line)
    ticks = [1, 2, 4, 8, 16, 32, 64]
    shapes, notes = [], []
    marks = [(current, _("length {count}×", count=style.short(current)), "ink", 1.0)]
    if usable <= 64.0:
        marks.append((usable, _("usable {count}×", count=style.short(usable)), shade, 0.84))
    for at, label, colour, height in marks:
        place = max(at, 1.0)
        if at >= 1.0:
            shapes.append(style.upright(at, colour, "solid"))
        notes.append(style.note(math.log10(place), height, ("" if at >= 1.0 else "← ") + label,
                                colour, leftwards=place > 16))  # fmt: skip
    return {
        "data": lines,
        "layout": style.layout(
            xaxis={"type": "log", "range": [math.log10(0.95), math.log10(66)], "tickvals": ticks,
                   "ticktext": [f"{tick}×" for tick in ticks],
                   "title": {"text": _("context, in trained contexts")}},
            yaxis={"range": [-4, 112], "dtick": 25, "ticksuffix": " %",
                   "title": {"text": _("slow pairs, unseen")}},
            shapes=shapes, annotations=notes, margin=_margin(),
        ),
    }  # fmt: skip


# -------------------------------------------------------------------------------------- attention


def by_distance(
    starts: Floats, series: Sequence[Series], marks: Sequence[tuple[float, str, str]], *,
    reach: float, high: float, title: str, _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Scores over the distance, logarithmic; distance 0 stands at 0.5. A Plotly figure.

    Args:
        starts: First distance of each bin, tokens.
        series: Scores of each method.
        marks: Distance, label and name of a colour of each vertical line.
        reach: Right end, tokens.
        high: Top of the scores.
        title: What the scores are.
        _: Translates labels.
    """
    x = np.where(starts == 0, 0.5, starts)
    low = 0.42
    shapes, notes = [], []
    for n, (at, label, shade) in enumerate(marks):
        place = max(at, 0.5)
        share = math.log(place / low) / math.log(reach / low)
        shapes.append(style.upright(place, shade, "dot" if shade == "quiet" else "solid"))
        notes.append(style.note(math.log10(place), 1.0 - 0.11 * n, label, shade,
                                leftwards=share > 0.6))  # fmt: skip
    ticks = [0.5, *(10.0**n for n in range(int(math.log10(reach)) + 1))]
    return {
        "data": [_line(one, x, "%{y:.3~g}") for one in series],
        "layout": style.layout(
            xaxis={"type": "log", "range": [math.log10(low), math.log10(reach)], "tickvals": ticks,
                   "ticktext": ["0", *(style.tokens(tick) for tick in ticks[1:])],
                   "title": {"text": _("distance between query and key, tokens")}},
            yaxis={"range": [-0.2 * high, high], "title": {"text": title}},
            shapes=shapes, annotations=notes, margin=_margin(),
        ),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------ cache


def cached_by(
    positions: Sequence[int],
    cached: Floats,
    now: float,
    prompt: int,
    total: int,
    name: str,
    *,
    _: Words,
) -> dict[str, Any]:
    """Which frequencies rotated each cached key, a Plotly figure.

    Args:
        positions: Of some keys.
        cached: Base of each in trained bases (dynamic NTK), or 1 for the long list and 0 for the
            short one (LongRoPE).
        now: The same of the query.
        prompt: Tokens that came in the first pass.
        total: Tokens in all.
        name: ``dynamic`` or ``longrope``.
        _: Translates labels.
    """
    line = _line(Series(name, _("cached key"), cached, strong=True),
                 np.array(positions, np.float64), "%{y:.4~g}")  # fmt: skip
    line["line"]["shape"] = "hv"
    query = _across(0.0, total, now, _("query, now"), "ink", "6px,3px")
    if name == "dynamic":
        ticks = [1, 10, 100, 1000, 10_000]
        yaxis = {"type": "log", "range": [-0.15, 4.2], "tickvals": ticks,
                 "ticktext": [f"{tick:,}×" for tick in ticks],
                 "title": {"text": _("base, in trained bases")}}  # fmt: skip
    else:
        yaxis = {"range": [-0.25, 1.25], "tickvals": [0, 1], "ticktext": [_("short"), _("long")],
                 "title": {"text": _("list")}}  # fmt: skip
    notes = [style.note(prompt, 1.0, _("prompt {count}", count=style.tokens(prompt)), "quiet",
                        leftwards=prompt > 0.5 * total)]  # fmt: skip
    return {
        "data": [query, line],
        "layout": style.layout(
            xaxis={"range": [0, total], "title": {"text": _("position of the key")}},
            yaxis=yaxis, shapes=[style.upright(prompt, "quiet", "dot")], annotations=notes,
            margin=_margin(),
        ),
    }  # fmt: skip


def cached_scores(
    bins: Floats, cached: Floats, consistent: Floats, name: str, total: int, *, _: Words
) -> dict[str, Any]:
    """Scores of the last query with the keys as cached and as they should be, a Plotly figure.

    Args:
        bins: First distance of each bin, tokens.
        cached: Lowest and highest in each bin, ``(2, bins)``.
        consistent: The same with every key rotated by the query's frequencies.
        name: ``rope_type``, for the colour.
        total: Tokens in all, the end of the axis.
        _: Translates labels.
    """
    x = np.repeat(_placed(bins, name), 2)
    rows = [
        Series("default", _("consistent cache"), consistent.T.ravel()),
        Series(name, _("cached as rotated"), cached.T.ravel(), strong=True),
    ]
    lines = [_line(one, x, "%{y:.3~g}") for one in rows]
    for line in lines:
        line["line"] |= {"width": 1.6}
        line["line"].pop("dash", None)
    high = 20.0 if max(cached.max(), consistent.max()) <= 19.5 else 40.0
    yaxis = {"range": [-0.45 * high, high], "title": {"text": _("score, q = k")}}
    return _over_distance(lines, total, yaxis, name, _)


def error_sizes(bins: Floats, sizes: Floats, name: str, total: int, *, _: Words) -> dict[str, Any]:
    """Error of a score of random vectors, in sizes of a right score, a Plotly figure."""
    x = _placed(bins, name)
    lines = [
        _across(0.1, 1e8, math.sqrt(2.0), _("unrelated scores"), "quiet", "2px,2px"),
        _line(Series(name, _("error of the score"), sizes, strong=True), x, "%{y:.3~g}"),
    ]
    yaxis = {"range": [-0.06, 1.62], "dtick": 0.5, "title": {"text": _("error / score")}}
    return _over_distance(lines, total, yaxis, name, _)


def _placed(bins: Floats, name: str) -> Floats:
    """Distances on the axis; on a logarithmic one distance 0 stands at 0.5."""
    return np.where(bins == 0, 0.5, bins) if name == "dynamic" else bins


def _over_distance(
    lines: list[dict[str, Any]], total: int, yaxis: dict[str, Any], name: str, _: Words
) -> dict[str, Any]:
    """Lines over the distance, logarithmic for dynamic NTK, linear for LongRoPE."""
    xaxis: dict[str, Any] = {"title": {"text": _("distance from the last query, tokens")}}
    if name == "dynamic":
        ticks = [0.5, *(10.0**n for n in range(int(math.log10(total)) + 1))]
        xaxis |= {"type": "log", "range": [math.log10(0.42), math.log10(total)],
                  "tickvals": ticks, "ticktext": ["0", *(style.tokens(one) for one in ticks[1:])]
                  }  # fmt: skip
    else:
        xaxis["range"] = [0, total]
    return {
        "data": lines,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, margin=_margin()),
    }


# ------------------------------------------------------------------------------------------ units


@dataclass(frozen=True)
class Knob:
    """A setting of some program, converted: its number, and everything as text."""

    name: str
    engine: str
    number: float
    value: str
    does: str
    direction: str
    usable: str
    is_given: bool
    same: bool


def knobs(head: Sequence[str], rows: Sequence[Knob], _: Words) -> str:
    """One setting in terms of every other, HTML; a name chooses it."""
    *others, last = head
    top = "".join(f'<th scope="col">{cell}</th>' for cell in others)
    top += f'<th scope="col" class="is-words">{last}</th>'
    body = "".join(
        f'<tr{" class=is-pinned" if row.is_given else ""}><th scope="row">'
        f'<button type="button" data-set="unit={escape(row.name)}&amp;value={row.number!r}" '
        f'aria-pressed="{str(row.is_given).lower()}"><code>{escape(row.name)}</code></button>'
        f"<small>{escape(row.engine)}</small></th>"
        f"<td>{'' if row.same else '≈ '}{row.value}</td><td>{row.usable}</td>"
        f'<td class="is-words">{escape(row.does)} {escape(row.direction)}</td></tr>'
        for row in rows
    )
    return (
        f'<div class="pv-scaling-scroll"><table class="pv-scaling-table is-knobs"><thead><tr>{top}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )
