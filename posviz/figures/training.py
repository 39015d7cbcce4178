"""The training replay's pictures: losses over steps, and where each head looks at one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style

Floats = NDArray[np.floating[Any]]
Steps = NDArray[np.integer[Any]]
Words = Callable[..., str]

Line = tuple[str, str, str, Floats]
"""A curve: label, name of its colour, dash (empty for none), and its value at each point."""

_FAINTEST = 0.02  # of a weight that is drawn


def losses(
    steps: Steps,
    lines: Sequence[Line],
    phases: Sequence[int],
    step: int,
    *,
    end: int,
    top: float,
    _: Words,
) -> dict[str, Any]:
    """Loss by kind of character over training, a Plotly figure.

    Args:
        steps: Updates done at each point.
        lines: Nats per character; the first one stands out.
        phases: First step of each phase of the recipe, which are numbered from 1.
        step: The step that is shown.
        end: Right end of the axis, steps.
        top: Largest loss that has room.
        _: Translates labels.
    """
    figure = _over_steps(steps, lines, step, end, low=-0.1, high=1.08 * top, unit=_(" nats"))
    layout = figure["layout"]
    layout["yaxis"] |= {"dtick": 1}
    layout["yaxis"]["title"]["text"] = _("loss, nats per character")
    for number, first in enumerate(phases, 1):
        if first:
            layout["shapes"].append(style.upright(first, "quiet", "dot"))
        if len(phases) > 1:
            note = style.note(first, 1, str(number), "quiet", leftwards=False)
            layout["annotations"].append(note)
    return figure


def shares(
    steps: Steps, heads: Floats, best: int, others: Sequence[Line], colour: str, step: int,
    *, end: int, names: Sequence[str], _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Share of weight that each head puts on the token to copy over training, a Plotly figure.

    Args:
        steps: Updates done at each point.
        heads: ``(points, heads)``, from 0 to 1.
        best: The head that stands out.
        others: What else runs from 0 to 1.
        colour: Name of the standing-out head's colour.
        step: The step that is shown.
        end: Right end of the axis, steps.
        names: Of the heads.
        _: Translates labels.
    """
    lines = [(name, "random", "", heads[:, n]) for n, name in enumerate(names) if n != best]
    lines += [(_("one half"), "quiet", "1px,3px", np.full(len(steps), 0.5)), *others]
    chosen = (names[best], colour, "", heads[:, best])
    figure = _over_steps(steps, [chosen, *lines], step, end,
                         low=-3.0, high=106.0, unit=" %", scale=100.0)  # fmt: skip
    layout = figure["layout"]
    layout["yaxis"] |= {"dtick": 25, "ticksuffix": " %"}
    layout["yaxis"]["title"]["text"] = _("share of weight")
    layout["xaxis"]["title"]["text"] = _("steps of training")
    return figure


def _over_steps(
    steps: Steps, lines: Sequence[Line], step: int, end: int,
    *, low: float, high: float, unit: str, scale: float = 1.0,
) -> dict[str, Any]:  # fmt: skip
    """Lines over steps; the first one is thick and drawn last, so on top."""
    x = steps.astype(np.float64)
    first, *rest = lines
    data = [
        {
            "type": "scatter", "mode": "lines", "name": label, "x": x, "y": scale * values,
            "line": {"color": style.colour(colour), "width": 2.6 if label == first[0] else 1.2}
            | ({"dash": dash} if dash else {}),
            "hovertemplate": f"%{{y:.2f}}{unit}" if scale == 1.0 else f"%{{y:.0f}}{unit}",
        }
        for label, colour, dash, values in (*rest, first)
    ]  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"range": [-0.005 * end, 1.005 * end]}, yaxis={"range": [low, high]},
            shapes=[style.upright(step, "ink", "solid")], annotations=[],
            margin={"l": 52, "r": 12, "t": 8, "b": 36},
        ),
    }  # fmt: skip


def strips(
    characters: str, attention: Floats, target: int, *, colour: str, alt: str, _: Words
) -> str:
    """Where each head looks from the last token of a text, one strip per head; HTML.

    Args:
        characters: The text, one character per token.
        attention: ``(num_layers, num_heads, tokens)``, from 0 to 1.
        target: The token to copy.
        colour: Name of the colour of a weight of 1.
        alt: Text alternative.
        _: Translates labels.
    """
    num_layers, num_heads, tokens = attention.shape
    last = tokens - 1
    marks = {target: "is-target", last: "is-last"}
    letters = [
        f'<i class="{marks.get(n, "")}">{escape(character)}</i>'
        for n, character in enumerate(characters)
    ]
    sentence = "".join(
        f"<mark>{escape(character)}</mark>" if n == target else escape(character)
        for n, character in enumerate(characters)
    )
    rows = []
    for layer in range(num_layers):
        for head in range(num_heads):
            row = attention[layer, head]
            cells = "".join(
                f'<rect x="{n}" width="1" height="1" fill-opacity="{row[n]:.2f}"/>'
                for n in np.flatnonzero(row >= _FAINTEST).tolist()
            )
            parts = (
                f"<span>{layer + 1}.{head + 1}</span>"
                f'<svg viewBox="0 0 {tokens} 1" preserveAspectRatio="none" aria-hidden="true">'
                f'<rect class="pv-target" x="{target}" width="1" height="1"/>'
                f'<g fill="{style.colour(colour)}">{cells}</g></svg>'
                f"<b>{100 * row[target]:.0f} %</b>"
            )
            over = " is-over" if row[target] > 0.5 else ""
            first = " is-first" if head == 0 else ""
            rows.append(f'<div class="pv-replay-row{over}{first}">{parts}</div>')
    return (
        f'<div class="pv-replay" role="img" aria-label="{escape(alt)}">'
        f'<p class="pv-replay-text" translate="no">{sentence}</p>'
        f'<div class="pv-replay-row pv-replay-letters"><span>{_("layer.head")}</span>'
        f"<p translate=no>{''.join(letters)}</p><b>{_('to copy')}</b></div>{''.join(rows)}</div>"
    )
