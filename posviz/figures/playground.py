"""The playground's three pictures and its readouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style

Floats = NDArray[np.floating[Any] | np.integer[Any]]
Words = Callable[..., str]


# ------------------------------------------------------------------------------------ rotations


_SHOWN = 16  # small clocks; two rows of eight


@dataclass(frozen=True)
class _Clock:
    """One pair of dimensions at the query's position; units as in :func:`rotations`."""

    pair: int
    angle: float
    trained_angle: float
    wavelength: float
    plain_wavelength: float
    turns: float
    is_unseen: bool


def rotations(
    angle: Floats,
    trained_angle: Floats,
    wavelength: Floats,
    plain_wavelength: Floats,
    turns: Floats,
    is_unseen: NDArray[np.bool_],
    *,
    chosen: int,
    trained: int,
    _: Words,
) -> str:
    """Clocks from the fastest pair to the slowest, the chosen one enlarged; HTML with SVG dials.

    Args:
        angle: Angle of each pair at the position, radians; one number per pair, like all arrays.
        trained_angle: Largest angle met in training, radians.
        wavelength: Tokens per turn as scaled.
        plain_wavelength: Tokens per turn as trained.
        turns: Turns within the trained context, as trained.
        is_unseen: Whether the angle lies beyond what training met.
        chosen: Pair to enlarge.
        trained: Trained context, tokens.
        _: Translates labels.
    """
    arrays = (angle, trained_angle, wavelength, plain_wavelength, turns, is_unseen)
    rows = zip(*(array.tolist() for array in arrays), strict=True)
    clocks = [_Clock(i, *row) for i, row in enumerate(rows)]
    last = len(clocks) - 1
    shown = _evenly(last, chosen)
    buttons = "".join(_button(clocks[i], i == chosen, _) for i in shown)
    return (
        f'<div class="pv-rotations"><div class="pv-enlarged">{_dial(clocks[chosen], large=True)}'
        f"<div>{_about(clocks[chosen], last, _)}</div></div>"
        f'<div class="pv-clocks" role="group" aria-label="{_("Pairs, fast to slow")}">{buttons}'
        f"</div>{_key(trained, _)}</div>"
    )


def _evenly(last: int, chosen: int) -> list[int]:
    """Pairs chosen evenly from 0 to ``last``; the one nearest to ``chosen`` gives way to it."""
    even = sorted({round(i * last / (_SHOWN - 1)) for i in range(_SHOWN)})
    nearest = min(even, key=lambda pair: abs(pair - chosen))
    return sorted({chosen, *even} - ({nearest} - {chosen}))


def _shade(turns: float) -> str:
    """Colour of a pair by its turns within the trained context."""
    return style.colour("turns" + str(sum(turns >= bound for bound in (1.0, 10.0, 100.0))))


def _arc(radius: float, angle: float) -> str:
    """Path clockwise from the top; a whole circle from one turn on."""
    if angle >= 2 * math.pi:
        return f"M0-{radius}A{radius} {radius} 0 1 1-.01-{radius}Z"
    x, y = radius * math.sin(angle), -radius * math.cos(angle)
    return f"M0-{radius}A{radius} {radius} 0 {int(angle > math.pi)} 1 {x:.2f} {y:.2f}"


def _dial(clock: _Clock, *, large: bool = False) -> str:
    shade = style.colour("alarm") if clock.is_unseen else _shade(clock.turns)
    remainder = math.remainder(clock.angle, 2 * math.pi) % (2 * math.pi)
    x, y = 37 * math.sin(remainder), -37 * math.cos(remainder)
    parts = ['<circle class="pv-face" r="44"/>']
    if clock.turns < 1:
        parts.append(f'<path class="pv-trained" d="{_arc(47, clock.trained_angle)}"/>')
    if clock.angle >= 2 * math.pi:
        parts.append(f'<circle class="pv-turned" r="40" stroke="{shade}"/>')
    parts += [
        f'<path class="pv-trail" d="{_arc(40, remainder)}" stroke="{shade}"/>',
        f'<line class="pv-hand" x2="{x:.2f}" y2="{y:.2f}" stroke="{shade}"/>',
        f'<circle r="{2.5 if large else 4}" fill="{shade}"/>',
    ]
    return f'<svg viewBox="-50 -50 100 100" aria-hidden="true">{"".join(parts)}</svg>'


def _button(clock: _Clock, is_chosen: bool, _: Words) -> str:
    said = _(
        "Pair {pair}: {wavelength} tokens a turn, angle {angle} radians",
        pair=clock.pair,
        wavelength=style.tokens(clock.wavelength),
        angle=style.plain_text(style.number(clock.angle)),
    )
    under = style.tokens(clock.wavelength)
    if clock.is_unseen:
        under = _("unseen")
        said += ", " + _("beyond the angles of training")
    state = " is-unseen" if clock.is_unseen else ""
    stop = "" if is_chosen else ' tabindex="-1"'  # one tab stop; arrows go on from it
    return (
        f'<button type="button"{stop} class="pv-clock{state}" data-set="pair={clock.pair}" '
        f'aria-pressed="{str(is_chosen).lower()}" aria-label="{escape(said)}">'
        f"{_dial(clock)}<span>{under}</span></button>"
    )


def _about(clock: _Clock, last: int, _: Words) -> str:
    """What the enlarged clock says, in lines."""
    wavelength = _("{count} tokens a turn", count=style.number(clock.wavelength))
    if not math.isclose(clock.wavelength, clock.plain_wavelength, rel_tol=1e-6):
        ratio = style.number(clock.wavelength / clock.plain_wavelength)
        wavelength += " " + _("({ratio}× slower than trained)", ratio=ratio)
    angle = _(
        "angle {angle} rad = {turns} turns",
        angle=style.number(clock.angle), turns=style.number(clock.angle / (2 * math.pi)),
    )  # fmt: skip
    if clock.turns >= 1:
        seen = _("{turns} turns in training: every angle seen", turns=style.number(clock.turns))
    elif clock.is_unseen:
        seen = _("unseen: training ended at {turns} turns", turns=style.number(clock.turns))
    else:
        seen = _("training saw up to {turns} turns", turns=style.number(clock.turns))
    state = ' class="is-unseen"' if clock.is_unseen else ""
    title = _("Pair {pair}", pair=clock.pair)
    place = _("0 is the fastest, {last} the slowest", last=last) if last else _("the only one")
    return (
        f"<p><b>{title}</b> <small>{place}</small></p><p>{wavelength}</p><p>{angle}</p>"
        f"<p{state}>{seen}</p>"
    )


def _key(trained: int, _: Words) -> str:
    labels = (_("under 1"), "1–10", "10–100", _("over 100"))
    swatches = "".join(
        f'<span><i style="background:{style.colour(f"turns{i}")}"></i>{label}</span>'
        for i, label in enumerate(labels)
    )
    swatches += f'<span><i style="background:{style.colour("alarm")}"></i>{_("unseen now")}</span>'
    title = _("turns within {trained} tokens:", trained=f"{trained:,}")
    marks = _("number: tokens a turn; grey arc: angles met in training; pale ring: has turned")
    return (
        f'<p class="pv-key"><span>{title}</span>{swatches}</p>'
        f'<p class="pv-key"><span>{marks}</span></p>'
    )


# ---------------------------------------------------------------------------------------- lamps


@dataclass(frozen=True)
class Lamp:
    """A readout: what it measures, what it reads, and whether an identity holds."""

    name: str
    reading: str
    note: str = ""
    holds: bool | None = None


def lamps(readouts: Sequence[Lamp]) -> str:
    """Readouts in a list; one with an identity has a light. HTML."""
    rows = []
    for lamp in readouts:
        light = {None: "", True: "is-on", False: "is-off"}[lamp.holds]
        note = f"<small>{lamp.note}</small>" if lamp.note else ""
        rows.append(
            f'<div class="pv-lamp {light}"><dt>{lamp.name}</dt><dd>{lamp.reading}{note}</dd></div>'
        )
    return f'<dl class="pv-lamps">{"".join(rows)}</dl>'


# ---------------------------------------------------------------------------- attention by distance


def attention(
    distance: Floats,
    rope: Floats,
    random: Floats,
    alibi: Floats,
    sinusoidal: Floats,
    *,
    trained: int,
    position: int,
    log_axis: bool,
    as_weights: bool,
    _: Words,
) -> dict[str, Any]:
    """Scores or weights over the distance to the query, a Plotly figure.

    Args:
        distance: First distance of each bin, tokens.
        rope: Lowest and highest of RoPE's q = k curve in each bin, ``(2, bins)``.
        random: Mean, 10 % and 90 % over random vectors, ``(3, bins)``.
        alibi: The chosen head's ALiBi, ``(bins,)``.
        sinusoidal: Lowest and highest of the sinusoidal dot product, ``(2, bins)``.
        trained: Trained context, tokens.
        position: The query's position; keys farther back do not exist.
        log_axis: Whether distance is logarithmic; distance 0 then stands at 0.5.
        as_weights: Whether the values are softmax weights, drawn on a logarithmic axis.
        _: Translates labels.
    """
    x = np.where(distance == 0, 0.5, distance) if log_axis else distance
    twice = np.repeat(x, 2)
    name = _("weight") if as_weights else _("score")
    lowest = 1e-12

    def line(label: str, colour: str, y: Floats, **more: Any) -> dict[str, Any]:
        zigzag = y.ndim == 2
        values = y.T.ravel() if zigzag else y  # low, high, low, high: the whole envelope inked
        if as_weights:
            values = np.maximum(values, lowest)
        return {
            "type": "scatter", "mode": "lines" if len(x) > 1 else "lines+markers", "name": label,
            "x": twice if zigzag else x,
            "y": values, "line": {"color": style.colour(colour), "width": 1.6, **more},
            "hovertemplate": "%{y:.3~g}",
        }  # fmt: skip

    band = [
        line(_("random, 10 %"), "random", random[1], width=0),
        {**line(_("random, 90 %"), "random", random[2], width=0), "fill": "tonexty",
         "fillcolor": style.faded("random")},
        line(_("RoPE, random q and k"), "random", random[0], dash="2px,2px"),
    ]  # fmt: skip
    data = [
        *band,
        line(_("sinusoidal"), "sinusoidal", sinusoidal, dash=style.DASHES["long"], width=1.3),
        line(_("ALiBi"), "alibi", alibi, dash="6px,3px", width=2),
        line(_("RoPE, q = k"), "rope", rope),
    ]
    furthest = 4 * trained
    marks = [(trained, _("trained {count}", count=style.tokens(trained)), "quiet", "dot")]
    if position > 0:
        marks.append((position, _("first token, {count} back", count=style.tokens(position)),
                      "ink", "solid"))  # fmt: skip
    low, high = (-8.0, 0.3) if as_weights else (-6.0, 20.0 if rope.max() <= 20.0 else 34.0)
    shapes, notes = [], []
    for at, label, colour, dash in marks:
        place = max(at, 0.5) if log_axis else at
        # A label stands right of its line while there is room for it, on a phone too.
        share = math.log(place / 0.45) / math.log(furthest / 0.45) if log_axis else place / furthest
        crowded = share > 0.6
        shapes.append(style.upright(place, colour, dash))
        notes.append(
            style.note(math.log10(place) if log_axis else place, 1 if dash == "dot" else 0.9, label,
                       colour, leftwards=crowded)
        )  # fmt: skip
    xaxis: dict[str, Any] = {
        "title": {"text": _("distance between query and key, tokens")},
        "range": [0, furthest],
    }
    if log_axis:
        ticks = [0.5, *(10.0**i for i in range(int(math.log10(furthest)) + 1))]
        xaxis |= {
            "type": "log", "range": [math.log10(0.45), math.log10(furthest)], "tickvals": ticks,
            "ticktext": ["0", *(style.tokens(tick) for tick in ticks[1:])],
        }  # fmt: skip
    yaxis: dict[str, Any] = {"title": {"text": name}, "range": [low, high]}
    if as_weights:
        yaxis |= {"type": "log", "tickvals": [1.0, 1e-2, 1e-4, 1e-6, 1e-8],
                  "ticktext": ["1", "10⁻²", "10⁻⁴", "10⁻⁶", "10⁻⁸"]}  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, shapes=shapes, annotations=notes),
    }


# -------------------------------------------------------------------------------- extrapolation


def extrapolation(
    multiples: Floats,
    plain: Floats,
    scaled: Floats,
    *,
    method: str,
    method_label: str,
    usable: float,
    current: float,
    slow: int,
    pairs: int,
    head: int,
    window: str,
    measured: tuple[Floats, Floats] | None,
    _: Words,
) -> dict[str, Any]:
    """Share of slow pairs with unseen angles over the context length, a Plotly figure.

    Args:
        multiples: Context lengths as multiples of the trained context.
        plain: Share without scaling, 0 to 1.
        scaled: Share with the chosen method, 0 to 1.
        method: ``rope_type`` of the chosen method.
        method_label: What a reader calls it.
        usable: Estimated usable context, in trained contexts; may be infinite.
        current: Context up to the query, in trained contexts.
        slow: Pairs without a whole turn in training, the 100 % of the shares.
        pairs: All pairs.
        head: ALiBi head, counted from 1.
        window: Tokens that keep 99 % of its weight, as text; they do not grow with the context.
        measured: Context lengths in trained contexts, and the loss of a trained model there above
            the floor, 1 being that of guessing.
        _: Translates labels.
    """

    def line(label: str, colour: str, y: Floats, **more: Any) -> dict[str, Any]:
        return {
            "type": "scatter", "mode": "lines", "name": label, "x": multiples, "y": 100 * y,
            "line": {"color": style.colour(colour), "width": 2, **more},
            "hovertemplate": "%{y:.0f} %",
        }  # fmt: skip

    data = [line(_("no scaling"), "default", plain, dash="2px,2px", shape="hv")]
    if method != "default":
        data.append(line(method_label, method, scaled, shape="hv", width=2.5))
    if measured is not None:
        told = line(_("measured loss"), "measured", measured[1], width=2)
        data.append({**told, "x": measured[0]})
    # A context shorter than the trained one stands left of the axis; its label says how short.
    within = "" if current >= 1.0 else "← "
    marks = [(current, _("query, {count}×", count=style.short(current)), "ink", 0.72)]
    if math.isfinite(usable) and usable <= 64.0:
        marks.append((usable, _("usable, {count}×", count=style.short(usable)), method, 0.5))
    shapes, notes = [], []
    for at, label, colour, height in marks:
        place = max(at, 1.0)
        if at >= 1.0:
            shapes.append(style.upright(place, colour, "solid"))
        notes.append(
            style.note(math.log10(place), height, within * (at < 1.0) + label, colour,
                       leftwards=at > 30)
        )  # fmt: skip
    several = style.counted(pairs, "1 pair", "{count} pairs", _)
    whole = _("100 % = {slow} of {pairs}", slow=slow, pairs=several)
    notes.append(style.note(math.log10(64), 0.9, whole, "quiet", leftwards=True))
    still = _("ALiBi head {head}: {window} tokens at any length", head=head, window=window)
    notes.append(style.note(math.log10(64), 0.72, still, "alibi", leftwards=True))
    ticks = [1, 2, 4, 8, 16, 32, 64]
    xaxis = {
        "type": "log", "range": [math.log10(0.94), math.log10(66)], "tickvals": ticks,
        "ticktext": [f"{tick}×" for tick in ticks],
        "title": {"text": _("context length, in trained contexts")},
    }  # fmt: skip
    yaxis = {"range": [-5, 106], "dtick": 25, "ticksuffix": " %",
             "title": {"text": _("unseen · measured loss")}}  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(xaxis=xaxis, yaxis=yaxis, shapes=shapes, annotations=notes),
    }
