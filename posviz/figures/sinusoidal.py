"""The sinusoidal page's pictures: the table, its clocks, a counter, the shift, past training."""

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
Whole = NDArray[np.integer[Any]]
Words = Callable[..., str]
Drawn = tuple[str, heat.Rasters]

SINE, COSINE = "sinusoidal", "ink"
MAP = 448  # pixels of the table's height
_SHADES = {"p": "accent", "i": SINE, "k": "accent"}
_WORDS = {"entry": "PE[p, j]", "wavelength": "λ", "product": "PE[p] · PE[p + k]",
          "wave": "sine of bit i", "turns": "half turns",
          "m": "(d/2 − 1)"}  # fmt: skip

ENTRY = {
    ("sine", "paper"): Formula("entry", "sin(p * b**(-2 * i / d))", _SHADES, _WORDS),
    ("cosine", "paper"): Formula("entry", "cos(p * b**(-2 * i / d))", _SHADES, _WORDS),
    ("sine", "tensor2tensor"): Formula("entry", "sin(p * b**(-i / m))", _SHADES, _WORDS),
    ("cosine", "tensor2tensor"): Formula("entry", "cos(p * b**(-i / m))", _SHADES, _WORDS),
}
"""One number of the table, of pair i; m is the number of pairs less one, at least 1."""
WAVELENGTH = {
    "paper": Formula("wavelength", "2 * pi * b**(2 * i / d)", _SHADES, _WORDS),
    "tensor2tensor": Formula("wavelength", "2 * pi * b**(i / m)", _SHADES, _WORDS),
}
PRODUCT = Formula("product", "sum(cos(k * theta[i]) for i in range(n))", _SHADES, _WORDS)
BIT_WAVE = Formula("wave", "sin(pi * (p + 1 / 2) / 2**i)", _SHADES, _WORDS)
HALF_TURNS = Formula("turns", "floor(p / pi)", _SHADES, _WORDS)


# ---------------------------------------------------------------------------------- the table


def table(
    values: Floats,
    *,
    position: int,
    dimension: int,
    sines: Whole,
    cosines: Whole,
    alt: str,
    trained: int | None = None,
    repeats: bool = True,
    fingerprint: bool = True,
    _: Words,
) -> Drawn:
    """The table as a heat map, the chosen column beside it and the chosen row under it.

    Args:
        values: ``(positions, d_model)``, from -1 to 1.
        position: The chosen row.
        dimension: The chosen column.
        sines: Columns that hold a sine.
        cosines: Columns that hold a cosine.
        alt: Text alternative, with the numbers that matter.
        trained: Positions that training met, if the others are to be marked.
        repeats: Whether the chosen column only repeats past them what it showed in training.
        fingerprint: Whether the row is drawn.
        _: Translates labels.
    """
    seq_len = len(values)
    height = MAP if fingerprint else MAP + 92
    drawn, rasters = heat.heat_map(
        "table", values, low=-1.0, high=1.0,
        rows=heat.Axis(_("position"), handle="position", chosen=position, ticks=9),
        columns=heat.Axis(_("dimension"), handle="dimension", chosen=dimension, ticks=8),
        alt=alt, said=_("position {row}, dimension {column}: {value}"), height=height,
    )  # fmt: skip
    over = ""
    if trained is not None and trained < seq_len:
        top = height * trained / seq_len
        over = (
            f'<div class="pv-sinusoidal-unseen" '
            f'style="top:{top:.1f}px;height:{height - top:.1f}px">'
            f"<span>{_('past training: defined, never met')}</span></div>"
        )
    kind = SINE if dimension in sines else COSINE
    row = _fingerprint(values[position], dimension, sines, cosines) if fingerprint else ""
    return (
        f'<div class="pv-sinusoidal-table"><div class="pv-sinusoidal-map">{drawn}{over}</div>'
        f"{_column(values[:, dimension], position, height, kind, trained, repeats)}{row}</div>",
        rasters,
    )


def _points(xs: Floats, ys: Floats) -> str:
    return "L".join(f"{x:.4g} {y:.4g}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))


def _column(
    wave: Floats, position: int, height: int, shade: str, trained: int | None, repeats: bool
) -> str:
    """One column over the positions, downwards as in the map, dashed past training; SVG."""
    count = len(wave)
    met = count if trained is None else min(trained, count)
    at, past = np.arange(count) + 0.5, shade if repeats else "alarm"
    paths = f'<path d="M{_points(1.15 + wave[:met], at[:met])}" stroke="{style.colour(shade)}"/>'
    if met < count:
        paths += (
            f'<path class="is-past" d="M{_points(1.15 + wave[met:], at[met:])}" '
            f'stroke="{style.colour(past)}"/>'
        )
    now = style.colour(past if position >= met else shade)
    return (
        f'<div class="pv-sinusoidal-column" style="height:{height}px" aria-hidden="true">'
        f'<svg viewBox="0 0 2.3 {count}" preserveAspectRatio="none">'
        f'<path class="is-zero" d="M1.15 0V{count}"/>{paths}</svg>'
        f'<i style="left:{100 * (1.15 + wave[position]) / 2.3:.4g}%;'
        f'top:{100 * (position + 0.5) / count:.4g}%;background:{now}"></i>'
        "<b>−1</b><b>0</b><b>1</b></div>"
    )


def _fingerprint(row: Floats, dimension: int, sines: Whole, cosines: Whole) -> str:
    """One row over the dimensions, a stem for each; SVG."""
    count = len(row)

    def stems(columns: Whole, shade: str) -> str:
        path = "".join(f"M{n + 0.5} 1.15V{1.15 - row[n]:.4g}" for n in columns.tolist())
        width = 1.2 if count > 128 else 2.0
        return f'<path d="{path}" stroke="{style.colour(shade)}" stroke-width="{width}"/>'

    shade = style.colour(SINE if dimension in sines else COSINE)
    return (
        '<div class="pv-sinusoidal-row" aria-hidden="true"><p><b>1</b><b>0</b><b>−1</b></p><div>'
        f'<svg viewBox="0 0 {count} 2.3" preserveAspectRatio="none">'
        f'<path class="is-zero" d="M0 1.15H{count}"/>{stems(cosines, COSINE)}{stems(sines, SINE)}'
        f'</svg><i style="left:{100 * (dimension + 0.5) / count:.4g}%;'
        f'top:{100 * (1.15 - row[dimension]) / 2.3:.4g}%;background:{shade}"></i></div></div>'
    )


# --------------------------------------------------------------------------------- the clocks

_SHOWN = 16  # small clocks; two rows of eight


@dataclass(frozen=True)
class Clocks:
    """The pairs at one position; arrays ``(pairs,)``.

    Attributes:
        angle: Radians.
        inv_freq: Radians per token.
        wavelength: Tokens a turn.
        sines: Column of each sine.
        cosines: Column of each cosine.
        unseen: Pairs at an angle that training did not meet.
    """

    angle: Floats
    inv_freq: Floats
    wavelength: Floats
    sines: Whole
    cosines: Whole
    unseen: NDArray[np.bool_] | None = None

    def is_unseen(self, pair: int) -> bool:
        """Whether the pair's angle is new."""
        return self.unseen is not None and bool(self.unseen[pair])


def clocks(of: Clocks, *, position: int, pair: int, about: Sequence[str] = (), _: Words) -> str:
    """A hand per pair, fastest first, the chosen one enlarged; HTML with SVG dials.

    A hand turns clockwise from the top: what it reaches to the right is the sine, upwards the
    cosine. A click chooses the pair's sine.

    Args:
        of: The pairs.
        position: Where they stand, tokens.
        pair: Pair to enlarge.
        about: Further lines beside it.
        _: Translates labels.
    """
    last = len(of.angle) - 1
    even = sorted({round(n * last / (_SHOWN - 1)) for n in range(_SHOWN)})
    nearest = min(even, key=lambda one: abs(one - pair))
    shown = sorted({pair, *even} - ({nearest} - {pair}))
    small = "".join(_button(of, n, pair, _) for n in shown)
    angle = float(of.angle[pair])
    state = ' class="is-unseen"' if of.is_unseen(pair) else ""
    lines = [
        _("<b>Pair {pair}</b> <small>dimensions {sine} and {cosine}</small>", pair=pair,
          sine=int(of.sines[pair]), cosine=int(of.cosines[pair])),
        _("{count} tokens a turn", count=style.number(float(of.wavelength[pair]))),
        _("angle {position} × {speed} = {angle} rad", position=style.number(position),
          speed=style.number(float(of.inv_freq[pair])), angle=style.number(angle)),
        _("<i style='--c:{shade}'></i>sine {value}", shade=style.colour(SINE),
          value=style.number(round(math.sin(angle), 4)))
        + " &ensp; "
        + _("<i style='--c:{shade}'></i>cosine {value}", shade=style.colour(COSINE),
            value=style.number(round(math.cos(angle), 4))),
        *about,
    ]  # fmt: skip
    told = "".join(f"<p{state if n > 3 else ''}>{line}</p>" for n, line in enumerate(lines))
    return (
        f'<div class="pv-sinusoidal-clocks"><div class="pv-enlarged">{_dial(of, pair, large=True)}'
        f'<div>{told}</div></div><div class="pv-clocks" role="group" '
        f'aria-label="{_("Pairs, fast to slow")}">{small}</div></div>'
    )


def _dial(of: Clocks, pair: int, *, large: bool = False) -> str:
    angle = float(of.angle[pair])
    shade = style.colour("alarm" if of.is_unseen(pair) else SINE)
    x, y = 40 * math.sin(angle), -40 * math.cos(angle)
    parts = ['<circle class="pv-face" r="44"/>']
    if large:
        parts += [
            '<path class="pv-face" d="M-44 0H44M0-44V44"/>',
            f'<path class="pv-sinusoidal-shadow" d="M{x:.2f} {y:.2f}V0M{x:.2f} {y:.2f}H0"/>',
            f'<path class="pv-sinusoidal-share" d="M0 0H{x:.2f}" stroke="{style.colour(SINE)}"/>',
            f'<path class="pv-sinusoidal-share" d="M0 0V{y:.2f}" stroke="{style.colour(COSINE)}"/>',
        ]
    parts += [
        f'<line class="pv-hand" x2="{x:.2f}" y2="{y:.2f}" stroke="{shade}"/>',
        f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{3.5 if large else 6}" fill="{shade}"/>',
    ]
    return f'<svg viewBox="-50 -50 100 100" aria-hidden="true">{"".join(parts)}</svg>'


def _button(of: Clocks, pair: int, chosen: int, _: Words) -> str:
    said = _(
        "Pair {pair}: {wavelength} tokens a turn, angle {angle} radians", pair=pair,
        wavelength=style.tokens(float(of.wavelength[pair])),
        angle=style.plain_text(style.number(float(of.angle[pair]))),
    )  # fmt: skip
    state, under = "", style.tokens(float(of.wavelength[pair]))
    if of.is_unseen(pair):
        state, said = " is-unseen", said + ", " + _("beyond the angles of training")
    stop = "" if pair == chosen else ' tabindex="-1"'  # one tab stop; arrows go on from it
    return (
        f'<button type="button"{stop} class="pv-clock{state}" '
        f'data-set="dimension={int(of.sines[pair])}" '
        f'aria-pressed="{str(pair == chosen).lower()}" aria-label="{escape(said)}">'
        f"{_dial(of, pair)}<span>{under}</span></button>"
    )


# -------------------------------------------------------------------------------- the counter


def counter(
    bits: Whole, waves: Floats, sines: Floats, turned: Whole, *, position: int, alt: str, _: Words
) -> Drawn:
    """A counter and its sines, and the encoding's sines and what they count; four heat maps.

    Args:
        bits: Binary digits of each position, ``(positions, bits)``.
        waves: Sines of the bits' own periods, half a token on; of that shape, as all arrays.
        sines: Sines of the encoding's pairs.
        turned: Binary digits of the half turns.
        position: The chosen row.
        alt: Text alternative.
        _: Translates labels.
    """
    drawn: list[str] = []
    rasters: dict[str, Mapping[str, object]] = {}
    for name, title, column, values in (
        ("bits", _("bits of <i>p</i>"), _("bit"), 1.0 - 2.0 * bits),
        ("waves", _("sines of these periods, ½ token on"), _("bit"), waves),
        ("sines", _("the encoding’s sines"), _("pair"), sines),
        ("turned", _("bits of ⌊<i>p</i>/π⌋"), _("bit"), 1.0 - 2.0 * turned),
    ):
        count = values.shape[1]
        markup, raster = heat.heat_map(
            name, values, low=-1.0, high=1.0,
            rows=heat.Axis(handle="position", chosen=position, ticks=8, title=title),
            columns=heat.Axis(title=column, ticks=count),
            alt=_("{label}: {value}", label=style.plain_text(title), value=alt),
            said=_("position {row}, {what} {column}: {value}").replace("{what}", column),
            height=MAP - 20,
        )  # fmt: skip
        drawn.append(f"<div>{markup}</div>")
        rasters |= raster
    return f'<div class="pv-sinusoidal-counter">{"".join(drawn)}</div>', rasters


def digits(
    places: Sequence[tuple[int, float, float, int, float, float, int, int]], _: Words
) -> str:
    """The chosen row of the counter, digit by digit; an HTML table.

    Args:
        places: Bit, its period and the wave there, the position's bit; the pair's wavelength and
            sine, whether that is below 0, and the bit of the half turns.
        _: Translates labels.
    """
    head = (
        f"<tr><td></td><th colspan=3>{_('counter')}</th><th colspan=4>{_('encoding')}</th></tr>"
        f"<tr><th><i>i</i></th><th>{_('period')}</th><th>{_('sine')}</th><th>{_('bit')}</th>"
        f"<th>{_('wavelength')}</th><th>{_('sine')}</th><th>{_('sign')}</th>"
        f"<th>{_('bit of ⌊<i>p</i>/π⌋')}</th></tr>"
    )

    def mark(value: int) -> str:
        return f'<td class="{"is-one" if value else "is-nought"}">{value}</td>'

    rows = "".join(
        f"<tr><th>{i}</th><td>{style.number(period)}</td><td>{style.number(round(wave, 3))}</td>"
        f"{mark(bit)}<td>{style.number(wavelength)}</td><td>{style.number(round(sine, 3))}</td>"
        f"{mark(sign)}{mark(turned)}</tr>"
        for i, period, wave, bit, wavelength, sine, sign, turned in places
    )
    return f'<table class="pv-sinusoidal-digits"><thead>{head}</thead><tbody>{rows}</tbody></table>'


# ------------------------------------------------------------------- distance and the shift


def product(
    offsets: Sequence[int], share: Floats, chosen: int, value: float, peak: float, _: Words
) -> dict[str, Any]:
    """Dot product by offset as a share of its value at 0, a Plotly figure.

    Args:
        offsets: Tokens, ascending, from ``-range`` to ``range``.
        share: Dot product over half the width.
        chosen: Offset that is marked.
        value: The dot product there.
        peak: The dot product at 0.
        _: Translates labels.
    """
    reach = offsets[-1]
    deep = float(share.min()) < -0.35
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "name": _("dot product"),
             "x": np.array(offsets, np.float64), "y": share,
             "line": {"color": style.colour("sinusoidal"), "width": 2},
             "hovertemplate": "%{y:.3f}"},
        ],
        "layout": style.layout(
            xaxis={"range": [-1.02 * reach, 1.02 * reach], "dtick": reach / 4,
                   "title": {"text": _("offset k, tokens")}},
            yaxis={"range": [-1.05 if deep else -0.4, 1.1], "dtick": 0.5 if deep else 0.25,
                   "title": {"text": _("dot product, 1 = d/2")}},
            shapes=[style.upright(chosen, "ink", "solid"), style.upright(-chosen, "quiet", "dot")],
            annotations=[
                # Low, where no curve of the usual widths comes: the peak stands at 0.
                style.note(chosen, 0.12, _("k = {k}: {value} of {peak}", k=style.number(chosen),
                                        value=f"{value:.3g}".replace("-", "−"),
                                        peak=f"{peak:g}"), "ink", leftwards=chosen > 0)
            ],
            margin={"l": 56, "r": 12, "t": 8, "b": 40},
        ),
    }  # fmt: skip


def shift(matrix: Floats, *, dimension: int, alt: str, _: Words) -> Drawn:
    """M_k as a heat map, marked where the chosen dimension stands on the diagonal.

    Args:
        matrix: ``(d_model, d_model)``.
        dimension: The chosen one.
        alt: Text alternative.
        _: Translates labels.
    """
    return heat.heat_map(
        "shift", matrix, low=-1.0, high=1.0,
        rows=heat.Axis(title=_("dimension of PE[<i>p</i> + <i>k</i>]"), chosen=dimension, ticks=8),
        columns=heat.Axis(title=_("dimension of PE[<i>p</i>]"), handle="dimension",
                          chosen=dimension, ticks=8),
        alt=alt, said=_("row {row}, column {column}: {value}"), width=470,
    )  # fmt: skip


def moved(
    here: Floats, turned: Floats, there: Floats, *, position: int, k: int, alt: str, _: Words
) -> Drawn:
    """PE[p], M_k PE[p] and PE[p + k], each a strip over the dimensions."""
    rows = np.stack([here, turned, there])
    return heat.heat_map(
        "moved", rows, low=-1.0, high=1.0,
        rows=heat.Axis(labels=[f"PE[{position}]", f"M·PE[{position}]", f"PE[{position + k}]"]),
        columns=heat.Axis(handle="dimension", title=_("dimension"), ticks=8),
        alt=alt, said="{row}, " + _("dimension {column}: {value}"), height=96,
    )  # fmt: skip


def block(angle: float, pair: int) -> str:
    """The block of M_k that turns one pair by ``angle``, in letters and in numbers; HTML."""
    turn = f"<mi>k</mi><msub><mi>θ</mi><mn>{pair}</mn></msub>"
    cos, sin = (
        f"<mrow><mi>{name}</mi><mo>(</mo>{turn}<mo>)</mo></mrow>" for name in ("cos", "sin")
    )
    numbers = (math.cos(angle), math.sin(angle), -math.sin(angle), math.cos(angle))

    def square(cells: Sequence[str]) -> str:
        inner = "".join(f"<math>{cell}</math>" for cell in cells)
        return f'<span class="pv-sinusoidal-block">{inner}</span>'

    return (
        square((cos, sin, f"<mo>−</mo>{sin}", cos))
        + " = "
        + square([f"<mn>{style.number(round(value, 4))}</mn>" for value in numbers])
    )


# ------------------------------------------------------------------------------ past training


def beyond(
    multiples: Floats,
    likeness: Floats,
    measured: tuple[Floats, Floats],
    current: float,
    _: Words,
) -> dict[str, Any]:
    """Likeness to the rows of training and a trained model's loss by context, a Plotly figure.

    Args:
        multiples: Positions as multiples of the trained context.
        likeness: Cosine of the row there with the most alike row of training.
        measured: Context lengths in trained contexts, and the loss there above the floor, 1 being
            that of guessing.
        current: The chosen position in trained contexts.
        _: Translates labels.
    """
    data = [
        {"type": "scatter", "mode": "lines", "name": _("most alike trained row"), "x": multiples,
         "y": 100 * likeness, "line": {"color": style.colour("sinusoidal"), "width": 2},
         "hovertemplate": "%{y:.0f} %"},
        {"type": "scatter", "mode": "lines", "name": _("measured loss"), "x": measured[0],
         "y": 100 * measured[1],
         "line": {"color": style.colour("measured"), "width": 2, "dash": "6px,3px"},
         "hovertemplate": "%{y:.0f} %"},
    ]  # fmt: skip
    place = min(max(current, 0.5), 8.0)
    ticks = [0.5, 1, 2, 4, 8]
    shapes = [style.upright(1.0, "quiet", "dot"), style.upright(place, "ink", "solid")]
    label = _("position, {count}×", count=style.short(current))
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"type": "log", "range": [math.log10(0.48), math.log10(8.4)], "tickvals": ticks,
                   "ticktext": [f"{tick:g}×" for tick in ticks],
                   "title": {"text": _("position, in trained contexts")}},
            yaxis={"range": [-32 if likeness.min() < -0.02 else -5, 108], "dtick": 25,
                   "ticksuffix": " %", "title": {"text": _("likeness · loss")}},
            shapes=shapes,
            annotations=[
                style.note(math.log10(place), 0.13, label, "ink", leftwards=place > 2.5),
                style.note(0.0, 0.3, _("trained"), "quiet", leftwards=True),
            ],
        ),
    }  # fmt: skip
