"""RoPE's own pictures: dials with two arrows, the rotation as a table, strips of dimensions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.params import Message, Said

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.integer[Any]]
Words = Callable[..., str]

QUERY, KEY = "accent", "negative"
"""Names of the colours of the query and of the key."""

# Pairs that have room for a number under their dial.
_NAMED = 16
# Dimensions that have room for a number in their cell.
_NUMBERED = 32

_SHADES = {"m": QUERY, "n": KEY, "q": QUERY, "k": KEY}


def _formula(name: str, expression: str, **words: Message | Said) -> Formula:
    own: dict[str, Message | Said] = {
        name: Said(name) for name in re.findall(r"[a-z]+_[a-z_]{2,}", expression)
    }
    return Formula(name, expression, _SHADES, own | words)


FREQUENCY = _formula("theta_i", "rope_theta ** (-2 * i / head_dim)")
PAIR_SCORE = _formula(
    "score", "q * k * cos(phi + (m - n) * theta_i)",
    score="score of pair i", q="|qᵢ|", k="|kᵢ|",
)  # fmt: skip
PARTNER = {"half": "rotate_half(x)", "interleaved": "rotate_every_two(x)"}
TURNED = {
    layout: _formula(
        "turned", "x * cos(m * theta_i) + partner * sin(m * theta_i)",
        turned="x′", partner=Said(name),
    )
    for layout, name in PARTNER.items()
}  # fmt: skip
SAME = _formula(
    "score", "2 / sqrt(head_dim) * sum(cos(delta * theta[i]) for i in range(pairs))",
    score="score", pairs="pairs",
)  # fmt: skip
BOUND = _formula("bound", "(head_dim / 2 + 1) / 2", bound="mean of partial sums at 0")
ROTARY_DIM = _formula(
    "rotary_dim", "floor(head_dim * partial_rotary_factor)", rotary_dim=Said("rotary_dim")
)
PARTIAL_FREQUENCY = _formula("theta_i", "rope_theta ** (-2 * i / rotary_dim)")
MLA_CACHE = _formula("mla", "kv_lora_rank + qk_rope_head_dim", mla=Said("MLA"))
MHA_CACHE = _formula(
    "mha", "num_heads * (qk_nope_head_dim + v_head_dim)", mha=Said("MHA"), num_heads="heads"
)


def formulas(shown: Sequence[str]) -> str:
    """Formulas side by side where there is room, HTML."""
    return (
        '<div class="pv-rope-formulas">'
        + "".join(f'<p class="pv-formula">{one}</p>' for one in shown)
        + "</div>"
    )


def fixed(value: float, digits: int = 3) -> str:
    """A number with so many digits behind the point, so that a readout does not jump."""
    told = f"{value:.{digits}f}"
    return told.replace("-", "−") if float(told) else told.lstrip("-")


# ---------------------------------------------------------------------------------------- dials


@dataclass(frozen=True)
class Arrows:
    """A query's and a key's arrow of one pair, as rotated: lengths, and angles in radians."""

    q_length: float
    q_angle: float
    k_length: float
    k_angle: float

    @property
    def longest(self) -> float:
        return max(self.q_length, self.k_length, 1e-12)


def dial(
    placed: Arrows, moved: Arrows, *, axes: tuple[int, int], is_moved: bool, alt: str, _: Words
) -> str:
    """One pair as a plane: q and k as arrows, the angle between them, both again when moved; SVG.

    Args:
        placed: At their positions m and n.
        moved: Both moved by the same tokens, dashed.
        axes: Dimensions that are the pair.
        is_moved: Whether the moved arrows are drawn.
        alt: Text alternative.
        _: Translates labels.
    """
    size = 45.0 / placed.longest
    parts = [
        '<circle class="pv-face" r="48"/><path class="pv-rope-axis" d="M-48 0H48M0-48V48"/>',
        f'<text x="53" y="5" text-anchor="end">{_("dimension {n}", n=axes[0])}</text>',
        f'<text x="1.5" y="-49.5">{_("dimension {n}", n=axes[1])}</text>',
    ]
    if is_moved:
        parts += [_wedge(moved, 22, "is-moved"), _arrows(moved, size, "is-moved")]
    parts += [_wedge(placed, 14), _arrows(placed, size)]
    for name, length, angle, shade in (
        ("q", placed.q_length, placed.q_angle, QUERY), ("k", placed.k_length, placed.k_angle, KEY),
    ):  # fmt: skip
        reach = size * length + 5.5
        x, y = reach * math.cos(angle), -reach * math.sin(angle)
        parts.append(
            f'<text class="pv-rope-name" x="{x:.1f}" y="{y + 2:.1f}" text-anchor="middle" '
            f'style="fill:{style.colour(shade)}">{name}</text>'
        )
    return (
        f'<svg class="pv-rope-dial" viewBox="-54 -54 108 108" role="img" '
        f'aria-label="{escape(alt)}">{"".join(parts)}</svg>'
    )


def _arrows(arrows: Arrows, size: float, state: str = "") -> str:
    told = ""
    for length, angle, shade in (
        (arrows.k_length, arrows.k_angle, KEY), (arrows.q_length, arrows.q_angle, QUERY),
    ):  # fmt: skip
        reach = size * length
        colour = style.colour(shade)
        told += (
            f'<g class="pv-rope-arrow {state}" transform="rotate({_degrees(angle)})" '
            f'stroke="{colour}" fill="{colour}"><line x2="{max(reach - 3, 0):.2f}"/>'
            f'<path d="M{reach:.2f} 0l-5-2v4z"/></g>'
        )
    return told


def _wedge(arrows: Arrows, radius: float, state: str = "") -> str:
    """Arc from the key's angle the short way to the query's."""
    between = math.remainder(arrows.q_angle - arrows.k_angle, 2 * math.pi)
    x, y = radius * math.cos(between), -radius * math.sin(between)
    return (
        f'<path class="pv-rope-wedge {state}" transform="rotate({_degrees(arrows.k_angle)})" '
        f'd="M{radius} 0A{radius} {radius} 0 0 {int(between < 0)} {x:.2f} {y:.2f}"/>'
    )


def _degrees(angle: float) -> str:
    """An SVG rotation, clockwise, by an angle counted the other way."""
    return f"{-math.degrees(math.remainder(angle, 2 * math.pi)):.2f}"


def all_pairs(pairs: Sequence[Arrows], score: Floats, chosen: int, _: Words) -> str:
    """A small dial per pair, fast to slow, with what it adds to the score; HTML.

    Args:
        pairs: The arrows of each pair.
        score: What each pair adds, ``(pairs,)``.
        chosen: The pair that is enlarged elsewhere.
        _: Translates labels.
    """
    longest = max(pair.longest for pair in pairs)
    columns = 4 if len(pairs) <= 8 else 8 if len(pairs) <= _NAMED else 16
    buttons = []
    for i, (pair, adds) in enumerate(zip(pairs, score.tolist(), strict=True)):
        under = f"<span>{fixed(adds, 2)}</span>" if len(pairs) <= _NAMED else ""
        said = _("Pair {pair} adds {score}", pair=i, score=fixed(adds, 2))
        stop = "" if i == chosen else ' tabindex="-1"'  # one tab stop; arrows go on from it
        lines = "".join(
            f'<line class="pv-hand" x2="{42 * length / longest * math.cos(angle):.1f}" '
            f'y2="{-42 * length / longest * math.sin(angle):.1f}" stroke="{style.colour(shade)}"/>'
            for length, angle, shade in (
                (pair.k_length, pair.k_angle, KEY), (pair.q_length, pair.q_angle, QUERY),
            )
        )  # fmt: skip
        buttons.append(
            f'<button type="button"{stop} class="pv-clock" data-set="pair={i}" '
            f'aria-pressed="{str(i == chosen).lower()}" aria-label="{escape(said)}" '
            f'title="{escape(said)}"><svg viewBox="-47 -47 94 94" aria-hidden="true">'
            f'<circle class="pv-face" r="44"/>{lines}</svg>{under}</button>'
        )
    small = " is-small" if len(pairs) > _NAMED else ""
    return (
        f'<div class="pv-rope-pairs{small}" data-columns="{columns}" role="group" '
        f'style="--n:{columns}" aria-label="{_("Pairs, fast to slow")}">{"".join(buttons)}</div>'
    )


# ----------------------------------------------------------------------------- the matrix's table


def elementwise(
    dims: Sequence[int],
    rows: Mapping[str, Floats],
    *,
    layout: str,
    chosen: Sequence[int],
    _: Words,
) -> str:
    """The element-wise form with its numbers, one line per dimension; HTML.

    Args:
        dims: Dimensions that are shown.
        rows: ``x``, ``cos``, ``turned``, ``sin``, ``sum`` and ``product``, each ``(head_dim,)``.
        layout: ``half`` or ``interleaved``, whose code has a name for the reordered ``x``.
        chosen: Dimensions of the chosen pair.
        _: Translates labels.
    """
    heads = (
        _("dimension"), "x", "cos", PARTNER[layout], "sin", _("by element"), _("R(m) x"),
    )  # fmt: skip
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = ""
    for dim in dims:
        cells = "".join(
            f"<td>{fixed(float(rows[name][dim]))}</td>"
            for name in ("x", "cos", "turned", "sin", "sum", "product")
        )
        state = ' class="is-chosen"' if dim in chosen else ""
        body += f'<tr{state}><th scope="row">{dim}</th>{cells}</tr>'
    return (
        f'<div class="pv-rope-scroll" tabindex="0"><table class="pv-rope-table">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def matrix(
    values: Floats, position: int, pair: tuple[int, int], alt: str, _: Words
) -> tuple[str, heat.Rasters]:
    """The rotation matrix as a heat map, the entries of one pair framed."""
    return heat.heat_map(
        "matrix", values, low=-1.0, high=1.0, alt=alt, width=500,
        rows=heat.Axis(_("row: dimension after")),
        columns=heat.Axis(_("column: dimension before")),
        said=_("R[{row}, {column}] = {value}"),
        marks=[(row, column) for row in pair for column in pair],
    )  # fmt: skip


# ------------------------------------------------------------------------------------- pairings


def pairings(order: Indices, chosen: int, alt: str, _: Words) -> str:
    """Both pairings as strips of dimensions, arcs between partners, lines for the permutation; SVG.

    Args:
        order: Where each dimension of the halves stands in the interleaved vector.
        chosen: The pair that stands out.
        alt: Text alternative.
        _: Translates labels.
    """
    count = len(order)
    pairs = count // 2
    cell = 640 / count
    top, bottom = 74, 246

    def middle(n: int) -> float:
        return cell * (n + 0.5)

    parts: list[str] = []
    over: list[str] = []  # of the chosen pair, on top
    for i in range(pairs):
        state = ' class="is-chosen"' if i == chosen else ""
        target = over if i == chosen else parts
        a, b = middle(2 * i), middle(2 * i + 1)
        rise = min(max(cell * 0.9, 6), 42)
        target.append(f'<path{state} d="M{a:.1f} {top}v-6q0-{rise:.1f} {(b - a) / 2:.1f}-{rise:.1f}'
                      f't{(b - a) / 2:.1f} {rise:.1f}v6"/>')  # fmt: skip
        c, d = middle(i), middle(i + pairs)
        sag = 22 + 34 * (i + 1) / pairs
        low = bottom + 26
        target.append(f'<path{state} d="M{c:.1f} {low}v4q0 {sag:.1f} {(d - c) / 2:.1f} {sag:.1f}'
                      f't{(d - c) / 2:.1f}-{sag:.1f}v-4"/>')  # fmt: skip
    for place, source in enumerate(order.tolist()):
        is_chosen = source // 2 == chosen
        state = ' class="is-chosen"' if is_chosen else ""
        (over if is_chosen else parts).append(
            f'<path{state} d="M{middle(source):.1f} {top + 26}C{middle(source):.1f} 150 '
            f'{middle(place):.1f} 170 {middle(place):.1f} {bottom}"/>'
        )
    cells = ""
    for n in range(count):
        for y, pair in ((top, n // 2), (bottom, n % pairs)):
            state = " is-chosen" if pair == chosen else ""
            cells += (
                f'<rect class="pv-rope-cell{state}" x="{cell * n + 0.5:.1f}" y="{y}" '
                f'width="{max(cell - 1, 0.8):.1f}" height="26"/>'
            )
            if count <= _NUMBERED:
                number = n if y == top else int(order[n])
                cells += (
                    f'<text class="pv-rope-dim{state}" x="{middle(n):.1f}" y="{y + 18}" '
                    f'text-anchor="middle">{number}</text>'
                )
    neighbours = _("interleaved: pair i is 2i and 2i + 1 (RoFormer, GPT-J, Meta)")
    halves = _("half: pair i is i and i + d/2 (GPT-NeoX, Hugging Face Llama)")
    many = " is-many" if count > 2 * _NUMBERED else ""
    titles = (
        f'<text x="0" y="14">{neighbours}</text><text x="0" y="366">{halves}</text>'
        f'<text class="pv-rope-between" x="636" y="168" text-anchor="end">{_("permutation P")}'
        "</text>"
    )
    return (
        f'<svg class="pv-rope-pairings{many}" viewBox="0 0 640 374" role="img" '
        f'aria-label="{escape(alt)}">{"".join(parts + over)}{cells}{titles}</svg>'
    )


# ------------------------------------------------------------------------- partial rotary, cache


def dimensions(before: Floats, after: Floats, rotary_dim: int, alt: str, _: Words) -> str:
    """Which dimensions of a head rotate, each with its number before and after; SVG.

    Args:
        before: The vector, ``(head_dim,)``.
        after: The same rotated.
        rotary_dim: How many of its first dimensions rotate; an odd one leaves one without partner.
        alt: Text alternative.
        _: Translates labels.
    """
    count = len(before)
    cell, middle = 640 / count, 96.0
    size = 72.0 / max(float(np.abs(before).max()), float(np.abs(after).max()), 1e-12)
    bars = ""
    for n, (old, new) in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
        x, width = cell * n, max(cell - 1, 0.8)
        lone = rotary_dim % 2 == 1 and n == rotary_dim - 1
        shade = "alarm" if lone else QUERY if n < rotary_dim else "random"
        bars += _bar(x, width, middle, size * new, style.colour(shade), "")
        bars += _bar(x, width, middle, size * old, "none", ' class="pv-rope-before"')
    pairs = rotary_dim // 2
    edge, half, end = cell * rotary_dim, cell * pairs, 2 * cell * pairs
    marks = (
        f'<path class="pv-rope-edge" d="M{edge:.1f} 4V176"/>'
        f'<path class="pv-rope-axis" d="M0 {middle}H640"/>'
    )
    if pairs:
        # Brackets under the first and the second dimensions of the pairs.
        for left, right, told in ((0.0, half, "i"), (half, end, f"i + {pairs}")):
            marks += (
                f'<path class="pv-rope-bracket" d="M{left + 2:.1f} 180v5H{right - 2:.1f}v-5"/>'
                f'<text x="{(left + right) / 2:.1f}" y="200" text-anchor="middle">{told}</text>'
            )
    rest = count - rotary_dim
    inside, outside = _("{count} rotate", count=2 * pairs), _("{count} stay", count=rest)
    if rotary_dim % 2:
        inside += ", " + _("1 has no partner")
    left_label = f'<text x="2" y="16" style="fill:{style.colour(QUERY)}">{inside}</text>'
    right_label = f'<text x="638" y="16" text-anchor="end">{outside}</text>' if rest else ""
    return (
        f'<svg class="pv-rope-dims" viewBox="0 0 640 214" role="img" aria-label="{escape(alt)}">'
        f"{bars}{marks}{left_label}{right_label}</svg>"
    )


def _bar(x: float, width: float, middle: float, height: float, fill: str, state: str) -> str:
    top = middle - max(height, 0.0)
    return (
        f'<rect{state} x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{max(abs(height), 0.6):.1f}" fill="{fill}"/>'
    )


def cache(keys: Sequence[float], query: float, scores: Floats, alt: str, _: Words) -> str:
    """One pair of each cached key, as it was rotated once, and of the newest query; HTML.

    Args:
        keys: Angle of each key, radians; the last one is new.
        query: Angle of the query.
        scores: Scaled score of the query with each key.
        alt: Text alternative.
        _: Translates labels.
    """
    told = ""
    for n, (angle, score) in enumerate(zip(keys, scores.tolist(), strict=True)):
        state = " is-new" if n == len(keys) - 1 else ""
        told += (
            f'<div class="pv-rope-cached{state}">{_hand(angle, KEY)}<span>{n}</span>'
            f"<b>{fixed(score, 2)}</b></div>"
        )
    label = _("query at {position}", position=len(keys) - 1)
    return (
        f'<div class="pv-rope-cache" role="img" aria-label="{escape(alt)}">'
        f'<div class="pv-rope-query">{_hand(query, QUERY)}<span>{label}</span></div>'
        f'<div class="pv-rope-keys">{told}</div></div>'
    )


def _hand(angle: float, shade: str) -> str:
    return (
        f'<svg viewBox="-47 -47 94 94" aria-hidden="true"><circle class="pv-face" r="44"/>'
        f'<line class="pv-hand" x2="{40 * math.cos(angle):.1f}" y2="{-40 * math.sin(angle):.1f}" '
        f'stroke="{style.colour(shade)}"/></svg>'
    )


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], alt: str) -> str:
    """A table of words and numbers, HTML; the first column names the rows."""
    head = "".join(f'<th scope="col">{one}</th>' for one in heads)
    body = "".join(
        f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{one}</td>" for one in rest) + "</tr>"
        for name, *rest in rows
    )
    return (
        f'<div class="pv-rope-scroll" tabindex="0"><table class="pv-rope-table is-words" '
        f'aria-label="{escape(alt)}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        f"</div>"
    )


@dataclass(frozen=True)
class Bar:
    """A length beside its name: what it is called, its colour, how long it is, what it reads."""

    name: str
    shade: str
    length: float
    reading: str


def bars(shown: Sequence[Bar], longest: float, alt: str) -> str:
    """Horizontal bars of a common scale, HTML."""
    rows = "".join(
        f'<div class="pv-rope-bar"><span>{bar.name}</span><p><i style="'
        f"width:{100 * min(bar.length / longest, 1.0):.2f}%;background:{style.colour(bar.shade)}"
        f'"></i></p><b>{bar.reading}</b></div>'
        for bar in shown
    )
    return f'<div class="pv-rope-bars" role="img" aria-label="{escape(alt)}">{rows}</div>'
