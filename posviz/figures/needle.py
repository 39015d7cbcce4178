"""Needle in a haystack: the grid of lengths and depths, and one cell of it from near."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]


# ------------------------------------------------------------------------------------- the grid


@dataclass(frozen=True, eq=False)
class Column:
    """One length of the grid.

    Attributes:
        length: Tokens read.
        possible: Whether the model can read so many.
        accuracy: Share of right letters by depth; empty while it is being measured.
        error: Standard error of each.
        perplexity: Per ordinary character of the same texts.
        floor: Perplexity of the best possible reader there.
    """

    length: int
    possible: bool
    accuracy: Sequence[float] = ()
    error: Sequence[float] = ()
    perplexity: float = 0.0
    floor: float = 0.0


Place = tuple[int, int]
"""Row and column of a cell."""


def grid(
    columns: Sequence[Column],
    depths: Sequence[float],
    *,
    chosen: Place,
    lost: Collection[Place],
    trained: int,
    chance: float,
    texts: int,
    _: Words,
) -> str:
    """Accuracy by depth (rows) and length (columns) under the perplexity of each length; HTML.

    Args:
        columns: Shortest first.
        depths: Places of the needle, 0 the beginning of the text.
        chosen: Cell that is shown from near.
        lost: Cells to mark: needle lost at a perplexity as in training.
        trained: Trained context, tokens.
        chance: Accuracy of guessing.
        texts: Texts per cell.
        _: Translates labels.
    """
    edge = next((i for i, column in enumerate(columns) if column.length > trained), -1)
    parts = [_row_label(_("length"), _("tokens"))]
    for i, column in enumerate(columns):
        note = _("trained to here") if i == edge - 1 else ""
        parts.append(_cell(f"<b>{column.length:,}</b><small>{note}</small>", i == edge, "length"))
    parts.append(_row_label(_("perplexity"), _("best possible")))
    parts += [_cell(_perplexity(column, _), i == edge, "ppl") for i, column in enumerate(columns)]
    for row, depth in enumerate(depths):
        note = {0: _("beginning"), len(depths) - 1: _("end")}.get(row, "")
        parts.append(_row_label(_("depth {depth}", depth=f"{depth:g}"), note))
        for i, column in enumerate(columns):
            place, number = (row, i), row * len(columns) + i
            parts.append(_button(column, depth, place, number, place == chosen, place in lost,
                                 i == edge, _))  # fmt: skip
    said = _("Share of right letters: rows are depths, columns lengths")
    return (
        f'<div class="pv-needles" role="group" aria-label="{escape(said)}" '
        f'data-columns="{len(columns)}" style="--columns:{len(columns)}">{"".join(parts)}</div>'
        f"{_scale(chance, texts, lost, _)}"
    )


def _row_label(name: str, note: str) -> str:
    return f'<div class="pv-needles-row">{name}<small>{note}</small></div>'


def _cell(inner: str, first_past: bool, kind: str) -> str:
    return f'<div class="pv-needles-{kind}{" is-past" * first_past}">{inner}</div>'


def _perplexity(column: Column, _: Words) -> str:
    if not column.possible:
        return f"<b>–</b><small>{_('no row')}</small>"
    if not column.accuracy:
        return "<b>…</b><small>&nbsp;</small>"
    return f"<b>{_figures(column.perplexity)}</b><small>{_figures(column.floor)}</small>"


def _figures(perplexity: float) -> str:
    return f"{perplexity:.2f}" if perplexity < 10 else f"{perplexity:.3g}"


def _button(
    column: Column, depth: float, place: Place, number: int, is_chosen: bool, is_lost: bool,
    first_past: bool, _: Words,
) -> str:  # fmt: skip
    row = place[0]
    states, share = ["pv-needle"], 0.0
    said = _("{length} tokens, depth {depth}", length=f"{column.length:,}", depth=f"{depth:g}")
    if not column.possible:
        states.append("is-nothing")
        inner = f"<b>{_('no row')}</b>"
        said += ": " + _("the table has no row for it")
    elif not column.accuracy:
        inner = "<b>…</b>"
        said += ": " + _("being measured")
    else:
        share, error = column.accuracy[row], column.error[row]
        inner = f"<b>{share:.2f}</b><small>±{error:.2f}</small>"
        said += ": " + _("{share} of the letters right, standard error {error}",
                         share=f"{share:.2f}", error=f"{error:.2f}")  # fmt: skip
        if is_lost:
            said += "; " + _("lost at a perplexity as in training")
    states += ["is-lost"] * is_lost + ["is-past"] * first_past
    stop = "" if is_chosen else ' tabindex="-1"'  # one tab stop; arrows go on from it
    return (
        f'<button type="button"{stop} class="{" ".join(states)}" data-set="cell={number}" '
        f'style="--share:{share:.3f}" aria-pressed="{str(is_chosen).lower()}" '
        f'aria-label="{escape(said)}">{inner}</button>'
    )


def _scale(chance: float, texts: int, lost: Collection[Place], _: Words) -> str:
    """The colours from nothing to everything, with the share that guessing finds."""
    marks = ((chance, _("chance {chance}", chance=f"{chance:g}")), (0.5, "0.5"), (1.0, "1"))
    ticks = "".join(f'<span style="left:{100 * at:g}%">{label}</span>' for at, label in marks)
    note = _("share of right letters, ± standard error over {texts} texts", texts=texts)
    key = f"<span>{note}</span>"
    if lost:
        key += f'<span><i class="pv-lost"></i>{_("perplexity as in training, needle lost")}</span>'
    return (
        f'<div class="pv-scale"><div aria-hidden="true"><i></i>{ticks}</div>'
        f'<p class="pv-key">{key}</p></div>'
    )


# ------------------------------------------------------------------------------------ one answer


def answer(needle: str, written: str, probabilities: Floats, _: Words) -> str:
    """The needle, what the model wrote and the chance it gave to each right letter; an HTML table.

    Args:
        needle: Its capital is the question.
        written: Letters that the model wrote after it.
        probabilities: Of each right letter, when those before it are right.
        _: Translates labels.
    """
    letters = f'<td class="is-given">{needle[0]}</td>'
    for letter, right in zip(written, needle[1:], strict=True):
        hit = letter == right
        state, sign, said = ("right", "✓", _("right")) if hit else ("wrong", "✗", _("wrong"))
        mark = f'<i role="img" aria-label="{said}">{sign}</i>'
        letters += f'<td class="is-{state}">{letter.replace(" ", "␣")}{mark}</td>'
    given = f"<td><small>{_('given')}</small></td>"
    chances = "".join(f"<td><small>{one:.2f}</small></td>" for one in probabilities.tolist())
    rows = (
        (_("needle"), "".join(f"<td>{letter}</td>" for letter in needle)),
        (_("written by the model"), letters),
        (_("chance of the right letter"), given + chances),
    )
    body = "".join(f'<tr><th scope="row">{name}</th>{cells}</tr>' for name, cells in rows)
    return f'<table class="pv-answer">{body}</table>'


# ------------------------------------------------------------------------------- where heads look


_BARS = 240  # across a strip


def heads(attention: Floats, share: Floats, stands: tuple[int, int], needle: str, _: Words) -> str:
    """One strip per head over all that was read, the strongest on the needle first; HTML with SVG.

    Bars are as high as the square root of the weight, so that the faint ones are seen.

    Args:
        attention: Weights of the question, ``(layers, heads, tokens)``, the start token first.
        share: Of these, what falls on the needle, ``(layers, heads)``.
        stands: Characters where the needle begins and ends.
        needle: Its name.
        _: Translates labels.
    """
    per_layer, tokens = attention.shape[1:]
    edges = np.unique(np.linspace(0, tokens, min(_BARS, tokens) + 1).astype(int))[:-1]
    weights = np.sqrt(np.add.reduceat(attention, edges, axis=-1))
    begin, end = stands[0] + 1, stands[1] + 1  # the start token comes before the characters
    on_needle = (np.append(edges[1:], tokens) > begin) & (edges < end)
    left, width = 100 * begin / tokens, 100 * (end - begin) / tokens
    place = f'<rect class="pv-place" x="{left:.2f}" width="{max(width, 0.8):.2f}" height="20"/>'
    rows = []
    for at in np.argsort(-share, axis=None, kind="stable").tolist():
        layer, head = divmod(at, per_layer)
        name = _("layer {layer}, head {head}", layer=layer + 1, head=head + 1)
        found = f"{100 * share[layer, head]:.0f} %"
        said = _("{name}: {share} of the weight on the needle", name=name, share=found)
        bars = weights[layer, head]
        rows.append(
            f"<li><span>{name}</span>"
            f'<svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label="{said}">'
            f"{place}{_bars(edges, bars, ~on_needle, tokens, 'pv-elsewhere')}"
            f"{_bars(edges, bars, on_needle, tokens, 'pv-on')}</svg><b>{found}</b></li>"
        )
    leftwards = " is-left" if left > 50 else ""
    axis = (
        f'<p aria-hidden="true"><span>{_("start")}</span>'
        f'<i class="{leftwards.strip()}" style="--at:{left:.2f}%">{escape(needle)}</i>'
        f"<span>{_('question')}</span></p>"
    )
    note = _("weights of the question's capital; heights are square roots; number: on the needle")
    key = f'<p class="pv-key"><span>{note}</span></p>'
    return f'<div class="pv-strips">{axis}<ol>{"".join(rows)}</ol></div>{key}'


def _bars(
    edges: NDArray[np.integer[Any]], heights: Floats, shown: NDArray[np.bool_], tokens: int,
    kind: str,
) -> str:  # fmt: skip
    """Bars of one colour, as one path from the ground up."""
    ends, scale = np.append(edges[1:], tokens), 100 / tokens
    path = "".join(
        f"M{x * scale:.2f} 20V{20 - 20 * height:.1f}H{end * scale:.2f}V20Z"
        for x, end, height in zip(
            edges[shown].tolist(), ends[shown].tolist(), heights[shown].tolist(), strict=True
        )
        if height >= 0.02
    )
    return f'<path class="{kind}" d="{path}"/>'


# ----------------------------------------------------------------------------------- the haystack


_AROUND, _TAIL, _SHORTEST_GAP = 180, 120, 60  # characters


def haystack(text: str, stands: tuple[int, int], _: Words) -> str:
    """What the model read, the needle marked and the question at the end; HTML.

    Of a long text the surroundings of the needle and the end are shown, and how much is left out.
    """
    begin, end = stands
    pieces = _pieces(text, max(begin - _AROUND, 0), min(end + _AROUND, len(text)))
    shown, last = [], 0
    for first, after in pieces:
        if first > last:
            shown.append(_gap(first - last, _))
        shown.append(_marked(text, first, after, ((begin, end), (len(text) - 1, len(text)))))
        last = after
    name = _("What the model read")
    return (
        f'<div class="pv-haystack" tabindex="0" role="region" aria-label="{name}">'
        f"{''.join(shown)}<span>___</span></div>"
    )


def _pieces(text: str, first: int, after: int) -> Iterable[tuple[int, int]]:
    """Stretches of ``text`` to show, cut between words; two that nearly touch become one."""
    tail = len(text) - _TAIL
    wanted = [(first, after), (tail, len(text))]
    cuts = [
        (text.rfind(" ", 0, max(a, 0)) + 1, b if b == len(text) else text.rfind(" ", 0, b) + 1)
        for a, b in wanted
    ]
    if cuts[0][0] < _SHORTEST_GAP:
        cuts[0] = (0, cuts[0][1])
    if cuts[1][0] - cuts[0][1] < _SHORTEST_GAP:
        return [(cuts[0][0], len(text))]
    return cuts


def _gap(characters: int, _: Words) -> str:
    told = style.counted(characters, "1 character", "{count} characters", _)
    return f"<i>… {told} …</i> "


def _marked(text: str, first: int, after: int, marks: Sequence[tuple[int, int]]) -> str:
    """A stretch of ``text`` with the needle and the question in ``<mark>``."""
    ends = sorted({first, after, *(min(max(at, first), after) for mark in marks for at in mark)})
    return "".join(
        f"<mark>{escape(text[a:b])}</mark>" if (a, b) in marks else escape(text[a:b])
        for a, b in pairwise(ends)
    )
