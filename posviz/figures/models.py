"""Released models: a gallery of small spectra, and one model's or two models' in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.formula import Formula
from posviz.params import Said

Floats = NDArray[np.floating[Any]]
Numbers = NDArray[np.floating[Any] | np.integer[Any]]
Words = Callable[..., str]

WAVELENGTH = Formula("lambda_", "2 * pi / inv_freq", {"lambda_": "accent"},
                     {"inv_freq": Said("inv_freq"), "lambda_": "λ"})  # fmt: skip
"""Tokens per turn of a pair."""
GAIN = Formula("gain", "attention_factor ** 2", words={
    "gain": "logit gain", "attention_factor": Said("attention_factor"),
})  # fmt: skip
"""What a factor on both cos and sin does to a score."""
PENALTY = Formula("bias", "-slope * distance", {"slope": "alibi"}, {
    "bias": "bias", "slope": "slope", "distance": "distance",
})  # fmt: skip
"""What ALiBi adds to a score."""

KINDS = {"kept": "kept", "blended": "blended", "stretched": "stretched"}
"""Colour of what a scaling does to a pair, by ``rope_scaling.Effect.kind``."""
SEEN = {"whole": "turns2", "part": "turns0", "unseen": "alarm"}
"""Colour of what training showed of a pair's angles."""

_SHORTEST, _LONGEST = 4.0, 1e9  # tokens a turn, the ends of every spectrum's axis
_POINTS = 16  # of a small spectrum's curve, at most
_GENTLEST = 2.0**-16.5  # of ALiBi's slopes, the low end of their axis


@dataclass(frozen=True)
class Small:
    """A curve of a gallery's picture: a value per pair or head, and the kind of each pair."""

    values: Floats
    kind: NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Entry:
    """A line of the gallery.

    Attributes:
        name: Of the model.
        about: Its method, layout and head in a few words.
        base: Its base, or what stands there instead.
        context: Its contexts.
        picture: Its curves as :func:`spark` draws them, or what stands there instead, HTML.
        verified: Whether its facts were seen at a source.
    """

    name: str
    about: str
    base: str
    context: str
    picture: str
    verified: bool


# -------------------------------------------------------------------------------------- gallery


def gallery(entries: Sequence[Entry], chosen: str, beside: str, _: Words) -> str:
    """Models to choose from, one per line, HTML; empty if there are none."""
    stop = chosen if any(entry.name == chosen for entry in entries) else None
    parts = []
    for number, entry in enumerate(entries):
        tab = entry.name == stop or (stop is None and number == 0)
        parts.append(_row(entry, entry.name == chosen, entry.name == beside, tab, _))
    label = _("Models, one per line")
    head = "".join(
        f"<span>{title}</span>" for title in (_("model"), _("spectrum"), _("base"), _("context"))
    )
    if not parts:
        return ""
    return (
        f'<div class="pv-models-list" role="group" aria-label="{label}" data-columns="2">'
        f'<p class="pv-models-row pv-models-head">{head}</p>{"".join(parts)}</div>'
    )


def _row(entry: Entry, is_chosen: bool, is_beside: bool, tab: bool, _: Words) -> str:
    name = escape(entry.name)
    setting = escape(urlencode({"model": entry.name}))
    other = escape(urlencode({"beside": entry.name}))
    stop = "" if tab else ' tabindex="-1"'
    unverified = "" if entry.verified else f"<em>{_('unverified')}</em> "
    return (
        f'<button type="button"{stop} class="pv-models-row" data-set="{setting}" '
        f'aria-pressed="{str(is_chosen).lower()}"><span class="pv-models-name"><b>{name}</b>'
        f"<small>{unverified}{entry.about}</small></span>"
        f'<span class="pv-models-spark">{entry.picture}</span>'
        f"<span>{entry.base}</span><span>{entry.context}</span></button>"
        f'<button type="button" tabindex="-1" class="pv-models-beside" data-set="{other}" '
        f'aria-pressed="{str(is_beside).lower()}" title="{_("Show beside")}" '
        f'aria-label="{_("Show {model} beside", model=name)}">{_("beside")}</button>'
    )


def spark(curves: Sequence[Small]) -> str:
    """A small picture: spectra, the fastest pair left and slower ones higher, or ALiBi's slopes."""
    paths = []
    for curve in curves:
        finite = curve.values[np.isfinite(curve.values)]
        if curve.kind is None:  # slopes, steepest high
            paths.append(_path(np.log(finite), math.log(_GENTLEST), 0.0, "alibi"))
            continue
        low, high = math.log(_SHORTEST), math.log(_LONGEST)
        height = np.log(np.minimum(curve.values, _LONGEST))
        for kind, (start, stop) in _runs(curve.kind):
            shade = KINDS[kind]
            paths.append(_path(height, low, high, shade, max(start - 1, 0), stop))
    return (
        f'<svg viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(paths)}</svg>"
    )


def _runs(kind: NDArray[np.str_]) -> list[tuple[str, tuple[int, int]]]:
    """Neighbours of one kind: the kind, the first and one past the last."""
    edges = np.flatnonzero(kind[1:] != kind[:-1]) + 1
    starts, stops = [0, *edges.tolist()], [*edges.tolist(), len(kind)]
    return [(str(kind[start]), (start, stop)) for start, stop in zip(starts, stops, strict=True)]


def _path(
    height: Floats, low: float, high: float, shade: str, start: int = 0, stop: int | None = None
) -> str:
    stop = len(height) if stop is None else stop
    last = max(len(height) - 1, 1)
    every = max((stop - start) // _POINTS, 1)
    places = [*range(start, stop - 1, every), stop - 1]
    share = np.clip((height[places] - low) / (high - low), 0.0, 1.0)
    points = " ".join(
        f"{100 * place / last:.0f} {29 - 28 * each:.1f}"
        for place, each in zip(places, share.tolist(), strict=True)
    )
    return f'<path d="M{points}" stroke="{style.colour(shade)}"/>'


# ------------------------------------------------------------------------------------- spectrum


@dataclass(frozen=True)
class Curve:
    """A curve over pairs or heads: label, name of its colour, dash, values."""

    label: str
    shade: str
    dash: str
    values: Numbers


@dataclass(frozen=True)
class Level:
    """A horizontal mark at a number of tokens, and where its label stands.

    ``place`` is ``left``, or at the right end ``above`` or ``below`` the line.
    """

    at: float
    label: str
    shade: str
    dash: str
    place: str


def spectrum(
    curves: Sequence[Curve], levels: Sequence[Level], pair: int, pairs: int, _: Words
) -> dict[str, Any]:
    """Tokens per turn of each pair, a Plotly figure.

    Args:
        curves: Wavelengths, fastest pair first; infinite ones are left out.
        levels: Contexts.
        pair: The pair that is marked.
        pairs: Room on the axis, pairs.
        _: Translates labels.
    """
    low, high = math.log10(_SHORTEST), math.log10(_LONGEST)
    data = [_level(level, pairs) for level in levels]
    for curve in curves:
        turning = np.flatnonzero(np.isfinite(curve.values))
        data.append(_line(curve, turning.astype(np.float64), curve.values[turning], "%{y:.4s}"))
    notes = [
        {
            "x": 0 if level.place == "left" else pairs - 1,
            "xshift": 4 if level.place == "left" else -4,
            "xanchor": "left" if level.place == "left" else "right",
            "y": (math.log10(level.at) - low) / (high - low), "yref": "paper",
            "yanchor": "top" if level.place == "below" else "bottom",
            "text": level.label, "showarrow": False,
            "font": {"size": 12, "color": style.colour(level.shade)},
        }
        for level in levels
        if _SHORTEST <= level.at <= _LONGEST
    ]  # fmt: skip
    ticks = [10.0**n for n in range(1, 10)]
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"range": [-0.5, pairs - 0.5], "title": {"text": _("pair, fast to slow")},
                   "zeroline": False},
            yaxis={"type": "log", "range": [low, high], "tickvals": ticks,
                   "ticktext": [style.tokens(tick) for tick in ticks],
                   "title": {"text": _("tokens a turn")}},
            shapes=[style.upright(pair, "ink", "solid")], annotations=notes,
            margin={"l": 52, "r": 12, "t": 6, "b": 36},
        ),
    }  # fmt: skip


def _line(curve: Curve, x: Floats, y: Numbers, hover: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": curve.label, "x": x, "y": y,
        "line": {"color": style.colour(curve.shade), "width": 1.6 if curve.dash else 2.4}
        | ({"dash": curve.dash} if curve.dash else {}),
        "hovertemplate": hover,
    }  # fmt: skip


def _level(level: Level, pairs: int) -> dict[str, Any]:
    x, y = np.array([-0.5, pairs - 0.5]), np.full(2, float(level.at))
    line = _line(Curve(level.label, level.shade, level.dash, y), x, y, "")
    return {**line, "line": {**line["line"], "width": 1.2}, "hoverinfo": "skip"}


def slopes(curves: Sequence[Curve], head: int, heads: int, _: Words) -> dict[str, Any]:
    """ALiBi's slope of each head, in the released order, a Plotly figure; heads count from 1."""
    ticks = [2.0**-n for n in range(0, 17, 2)]
    data = [
        _line(curve, np.arange(1.0, len(curve.values) + 1), curve.values, "%{y:.4g}")
        for curve in curves
    ]
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"range": [0.5, heads + 0.5], "title": {"text": _("head, as released")}},
            yaxis={"type": "log", "range": [math.log10(_GENTLEST), 0.1], "tickvals": ticks,
                   "ticktext": [f"1/{round(1 / tick):,}" for tick in ticks],
                   "title": {"text": _("slope")}},
            shapes=[style.upright(head, "ink", "solid")], annotations=[],
            margin={"l": 62, "r": 12, "t": 6, "b": 36},
        ),
    }  # fmt: skip


def buckets(
    curves: Sequence[Curve], distance: Sequence[int], at: float, most: int, _: Words
) -> dict[str, Any]:
    """T5's bucket of each distance, a Plotly figure; ``at`` is the distance that is marked."""
    furthest = float(distance[-1])
    x = np.array(distance, dtype=np.float64)
    return {
        "data": [_line(curve, x, curve.values, "%{y:.0f}") for curve in curves],
        "layout": style.layout(
            xaxis={"type": "log", "range": [-0.05, math.log10(furthest)],
                   "tickvals": [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
                   "title": {"text": _("distance, tokens")}},
            yaxis={"range": [-1, most], "title": {"text": _("bucket")}},
            shapes=[style.upright(min(at, furthest), "ink", "solid")], annotations=[],
            margin={"l": 52, "r": 12, "t": 6, "b": 36},
        ),
    }  # fmt: skip


def shelf(rows: int, seq_len: int, _: Words) -> str:
    """A learned table as a bar over the context, HTML: past its end there is no row."""
    share = 100.0 * min(rows / seq_len, 1.0)
    used = 100.0 * min(seq_len / rows, 1.0)
    is_past = seq_len > rows
    wide = share if is_past else 100.0
    told = _("{rows} rows, context {count}", rows=f"{rows:,}", count=f"{seq_len:,}")
    return (
        f'<div class="pv-models-shelf" role="img" aria-label="{told}">'
        f'<div style="width:{wide:.3f}%"><i style="width:{100.0 if is_past else used:.3f}%"></i>'
        f"</div><p>{told}</p></div>"
    )


# ---------------------------------------------------------------------------------- pairs, layers


def strip(kind: Sequence[str], seen: Sequence[str], pair: int, room: int, alt: str) -> str:
    """What scaling and training did to each pair: two rows of cells under the spectrum, SVG.

    Args:
        kind: Of each pair, a key of :data:`KINDS`.
        seen: Of each pair, a key of :data:`SEEN`; empty if it is unknown.
        pair: The pair that is marked.
        room: Pairs that the spectrum's axis has room for.
        alt: Text alternative.
    """
    rows = [(kind, KINDS, 0)] + ([(seen, SEEN, 1)] if len(seen) else [])
    cells = "".join(
        f'<rect x="{start}" y="{row}" width="{stop - start}" height="0.86" '
        f'fill="{style.colour(shades[name])}"/>'
        for each, shades, row in rows
        for name, (start, stop) in _runs(np.array(each))
    )
    mark = f'<rect class="pv-models-mark" x="{pair}" width="1" height="{len(rows)}"/>'
    return (
        f'<svg class="pv-models-strip" viewBox="0 0 {room} {len(rows)}" role="img" '
        f'preserveAspectRatio="none" aria-label="{escape(alt)}" style="height:{15 * len(rows)}px">'
        f"{cells}{mark}</svg>"
    )


def layer_cells(cells: Sequence[tuple[str, str, bool]]) -> str:
    """Layers in order, HTML: a word, the type's class, and whether queries and keys turn."""
    return (
        '<ol class="pv-models-layers">'
        + "".join(
            f'<li class="is-{kind}{"" if turns else " is-still"}"><b>{number}</b>{word}</li>'
            for number, (word, kind, turns) in enumerate(cells, 1)
        )
        + "</ol>"
    )


# ---------------------------------------------------------------------------------------- tables


def facts(
    columns: Sequence[Mapping[str, str]], names: Sequence[str], labels: Mapping[str, str], _: Words
) -> str:
    """What is known of one model or two, HTML; what differs stands out.

    Args:
        columns: Facts of each model by key, HTML.
        names: Of the models.
        labels: Of the keys, in order.
        _: Translates labels.
    """
    if len(columns) == 1:
        told = "".join(
            f"<div><dt>{label}</dt><dd>{columns[0][key]}</dd></div>"
            for key, label in labels.items()
            if key in columns[0]
        )
        return f'<dl class="pv-models-about">{told}</dl>'
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for key, label in labels.items():
        cells = [column.get(key) for column in columns]
        if not any(cells):
            continue
        differs = len(set(cells)) > 1
        told = "".join(f"<td>{cell or '–'}</td>" for cell in cells)
        rows.append(f'<tr class="{"is-different" if differs else ""}"><th>{label}</th>{told}</tr>')
    top = f"<thead><tr><td></td>{head}</tr></thead>"
    return f'<table class="pv-models-facts">{top}<tbody>{"".join(rows)}</tbody></table>'


def pair_table(
    plain: Floats, scaled: Floats, wavelength: Floats, kind: Sequence[str], pair: int, _: Words
) -> str:
    """Every pair's numbers, HTML; nine figures, as float32 needs to be written exactly."""
    head = "".join(
        f"<th>{label}</th>"
        for label in (_("pair"), _("before scaling"), "inv_freq", _("tokens a turn"), "")
    )
    rows = "".join(
        f"<tr{' class=is-chosen' if number == pair else ''}><td>{number}</td><td>{before:.9g}</td>"
        f"<td>{after:.9g}</td><td>{style.number(turn) if math.isfinite(turn) else '∞'}</td>"
        f"<td>{said}</td></tr>"
        for number, (before, after, turn, said) in enumerate(
            zip(plain.tolist(), scaled.tolist(), wavelength.tolist(), kind, strict=True)
        )
    )
    return (
        '<div class="pv-models-pairs"><table class="pv-models-facts"><thead>'
        f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
