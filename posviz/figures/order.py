"""Two orders of a sentence: its words, the attention among them, and what the head makes of each.

A token keeps one colour in every picture; its name stands beside it wherever it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.formula import Formula

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

# Colours of tokens by their place as written; none is that of an encoding of this page.
_SHADES = ("accent", "turns0", "yarn", "linear", "llama3", "shaw", "ntk", "xpos", "dynamic",
           "transformer_xl", "learned", "random")  # fmt: skip
_FAINT = 0.7  # power of a weight that its shade follows, so that small ones are seen
_STRONGEST = 2.0  # of an output's number that has a shade of its own

RESIDUAL = Formula("difference", "max(abs(f_Px - P_fx))", words={
    "difference": "difference", "f_Px": "f(Px)", "P_fx": "P f(x)",
})  # fmt: skip
"""Its largest entry, over all tokens and all numbers of their outputs."""
OUTPUT = Formula("output", "sum(a[j] * v[j] for j in range(n))", words={"output": "output"})
"""One number of one token's output: its weights times what the tokens give."""
_TERMS = 6  # of that sum that have room


def shade(token: int) -> str:
    """Name of a token's colour."""
    return _SHADES[token % len(_SHADES)]


def names(tokens: Sequence[str]) -> list[str]:
    """Each token as HTML; those that stand there more than once are counted."""
    total, seen = Counter(tokens), Counter[str]()
    found = []
    for token in tokens:
        seen[token] += 1
        count = f"<sub>{seen[token]}</sub>" if total[token] > 1 else ""
        found.append(f'<bdi class="pv-order-name">{escape(token)}</bdi>{count}')
    return found


def orders(tokens: Sequence[str], order: Sequence[int], chosen: int, *, _: Words) -> str:
    """The sentence in two orders with a line for each token; the lower one is dragged. HTML.

    Args:
        tokens: The sentence as written.
        order: Which token stands at each place of the lower row.
        chosen: The token that stands out.
        _: Translates labels.
    """
    count, called = len(tokens), names(tokens)

    def look(token: int) -> str:
        marked = " is-chosen" if token == chosen else ""
        return f'class="pv-order-word{marked}" style="--c:{style.colour(shade(token))}"'

    above = "".join(
        f'<button type="button" data-set="token={n}" aria-pressed="{str(n == chosen).lower()}" '
        f"{look(n)}>{called[n]}</button>"
        for n in range(count)
    )
    below = "".join(
        f'<button type="button" data-item="{n}" {look(n)} '
        f'title="{escape(tokens[n])}">{called[n]}</button>'
        for n in order
    )
    lines = "".join(
        f'<path d="M{token + 0.5} 0 C{token + 0.5} 16 {place + 0.5} 12 {place + 0.5} 28" '
        f'stroke="{style.colour(shade(token))}" class="{"is-chosen" if token == chosen else ""}"/>'
        for place, token in sorted(enumerate(order), key=lambda pair: pair[1] == chosen)
    )
    hint = _("Drag the words, or move one with the arrow keys")
    return (
        f'<div class="pv-order-rows" style="--n:{count}">'
        f'<span>{_("as written")}</span><div class="pv-order-row">{above}</div>'
        f'<svg viewBox="0 0 {count} 28" preserveAspectRatio="none" aria-hidden="true">{lines}</svg>'
        f"<span>{_('reordered')}</span>"
        f'<div class="pv-order-row" data-order="order" role="group" aria-label="{escape(hint)}">'
        f"{below}</div></div>"
    )


def attention(
    tokens: Sequence[str],
    order: Sequence[int],
    weights: Floats,
    chosen: int,
    *,
    caption: str,
    visible: NDArray[np.bool_],
) -> str:
    """Attention among tokens in an order, a table of per cent with a colour for each row; HTML.

    Args:
        tokens: The sentence as written.
        order: Which token each row and column belongs to.
        weights: ``(tokens, tokens)`` in that order, from 0 to 1.
        chosen: The token whose row is marked.
        caption: What the table is, for readers who do not see it.
        visible: False where a query may not look.
    """
    called = names(tokens)
    head = "".join(f'<th scope="col"><span>{called[token]}</span></th>' for token in order)
    rows = []
    for row, token in enumerate(order):
        cells = "".join(
            f'<td style="--w:{weights[row, column] ** _FAINT:.3f}">'
            f"{100 * weights[row, column]:.0f}</td>"
            if visible[row, column]
            else '<td class="is-masked"></td>'
            for column in range(len(order))
        )
        pressed = str(token == chosen).lower()
        rows.append(
            f'<tr style="--c:{style.colour(shade(token))}" '
            f'class="{"is-chosen" if token == chosen else ""}"><th scope="row"><button '
            f'type="button" data-set="token={token}" aria-pressed="{pressed}">{called[token]}'
            f"</button></th>{cells}</tr>"
        )
    return (
        f'<table class="pv-order-map" style="--n:{len(order)}"><caption>{escape(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def outputs(
    tokens: Sequence[str],
    before: Floats,
    after: Floats,
    told: Sequence[str],
    chosen: int,
    *,
    _: Words,
) -> str:
    """Each token's output in both orders, one strip above the other, and the mean of all; HTML.

    Args:
        tokens: The sentence as written.
        before: Outputs of the sentence as written, ``(tokens, d_model)``.
        after: Outputs of the same tokens, reordered and brought back.
        told: Largest difference of each token, and of the mean, as text.
        chosen: The token that stands out.
        _: Translates labels.
    """
    rows = []
    names_and_mean = [*names(tokens), _("mean of all")]
    pairs = [
        *zip(before, after, strict=True),
        (before.mean(axis=0), after.mean(axis=0)),
    ]
    for n, (name, pair, difference) in enumerate(zip(names_and_mean, pairs, told, strict=True)):
        is_mean = n == len(tokens)
        marked = "is-mean" if is_mean else "is-chosen" if n == chosen else ""
        label = (
            f"<span>{name}</span>"
            if is_mean
            else f'<button type="button" data-set="token={n}" '
            f'aria-pressed="{str(n == chosen).lower()}">{name}</button>'
        )
        colour = style.colour("quiet" if is_mean else shade(n))
        rows.append(
            f'<tr class="{marked}" style="--c:{colour}"><th scope="row">{label}</th>'
            f"<td>{_strips(*pair)}</td><td>{difference}</td></tr>"
        )
    return (
        f'<table class="pv-order-outputs" style="--n:{len(rows)}"><thead><tr><th>{_("token")}</th>'
        f"<th>{_('above as written, below reordered')}</th><th>{_('difference')}</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _strips(above: Floats, below: Floats) -> str:
    """Two vectors as rows of shades, touching, so that equal ones look like one."""
    cells = "".join(
        f'<rect x="{column}" y="{row}" width="1" height="1" '
        f'fill="{style.colour("positive" if value > 0 else "negative")}" '
        f'fill-opacity="{min(abs(value) / _STRONGEST, 1.0):.3f}"/>'
        for row, vector in enumerate((above, below))
        for column, value in enumerate(vector.tolist())
    )
    return (
        f'<svg viewBox="0 0 {len(above)} 2" preserveAspectRatio="none" aria-hidden="true">'
        f"{cells}</svg>"
    )


def terms(order: Sequence[int], weights: Floats, values: Floats, result: float) -> str:
    """The sum behind one number of an output, a term for each token in this order; HTML.

    Args:
        order: Which token each weight and value belongs to.
        weights: Of one query, ``(tokens,)``.
        values: One number of what each token gives, ``(tokens,)``.
        result: The sum.
    """
    added = [
        f'<i style="--c:{style.colour(shade(token))}">{weight:.2f}\u2009·\u2009{_signed(value)}</i>'
        for token, weight, value in zip(order, weights.tolist(), values.tolist(), strict=True)
        if weight > 0
    ]
    if len(added) > _TERMS:
        added = [added[0], added[1], "…", added[-1]]
    return f'<span class="pv-order-terms">{" + ".join(added)} = <b>{_plain(result)}</b></span>'


def _signed(value: float) -> str:
    return f"({_plain(value)})" if value < 0 else _plain(value)


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
