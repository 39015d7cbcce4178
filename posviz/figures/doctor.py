"""The doctor's pictures: findings with their mends, and how far angles are off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import style
from posviz.figures.formula import Formula
from posviz.params import Message

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

SHADES = {"mended": ("alarm", "accent"), "plain": ("accent", "quiet")}
"""Colours of the pasted side and of what it stands against: mended, or without scaling."""


def _formulas(
    against: str, frequency: Message, factor: Message, meant: Message, error: Message
) -> tuple[Formula, Formula]:
    shades = dict(zip(("pasted", "meant"), SHADES[against], strict=True))
    return (
        Formula("error", "abs(pasted - meant) * n", shades,
                {"pasted": frequency, "meant": meant, "error": error}),
        Formula("gain", "(pasted / meant) ** 2", shades,
                {"pasted": factor, "meant": meant, "gain": "logit gain"}),
    )  # fmt: skip


FORMULAS = {
    "mended": _formulas("mended", "inv_freq as pasted", "factor as pasted", "as mended", "off by"),
    "plain": _formulas(
        "plain", "inv_freq scaled", "factor scaled", "without scaling", "changed by"
    ),
}
"""Radians by which a pair's angle differs at n tokens; what the factors do to a score."""

_LOWEST, _HIGHEST = -4.0, 4.0  # decades of radians on the axis
_SHORTEST, _LONGEST = 0.5, 9.0  # decades of tokens a turn


@dataclass(frozen=True)
class Change:
    """A line of a mend: the place, what stands there, and what should; None for nothing."""

    place: str
    before: str | None
    after: str | None


def verdict(kind: str, told: str, note: str) -> str:
    """One line, marked by ``kind``: error, warning or healthy."""
    return (
        f'<div class="pv-doctor-verdict is-{kind}" role="status"><p><b>{told}</b></p>'
        f"<p>{note}</p></div>"
    )


def excerpt(lines: Sequence[tuple[int, str]], line: int, column: int, alt: str) -> str:
    """The place in a text that could not be read, under a caret.

    Args:
        lines: Number and text of each line around it, already cut.
        line: Its number.
        column: Characters before it in that line, as cut.
        alt: Text alternative.
    """
    width = len(str(lines[-1][0])) if lines else 1
    told = []
    for number, text in lines:
        told.append(f"<span>{number:>{width}}</span>  {escape(text)}")
        if number == line:
            told.append(f"<b>{' ' * (width + 2 + column)}^</b>")
    return f'<pre class="pv-doctor-text" role="img" aria-label="{escape(alt)}">' + "\n".join(
        told
    ) + "</pre>"  # fmt: skip


def finding(
    level: str,
    label: str,
    key: str,
    layers: str,
    sentence: str,
    effect: str,
    changes: Sequence[Change],
    *,
    mend: str,
    _: Words,
) -> str:
    """One finding, HTML; all texts but ``changes`` are escaped already.

    Args:
        level: error, warning or note.
        label: The same in words.
        key: The key it is about.
        layers: The layer type, empty if all.
        sentence: The reason.
        effect: How much it matters; empty if nothing can be said.
        changes: The mend, line by line.
        mend: What the mend is called.
        _: Translates labels.
    """
    told = [f'<i class="pv-doctor-level">{label}</i> <code>{key}</code>']
    if layers:
        told.append(f" <small>{layers}</small>")
    body = f"<p>{sentence}</p>"
    if effect:
        body += f'<p class="pv-doctor-effect">{effect}</p>'
    if changes:
        body += f'<div class="pv-doctor-mend"><span>{mend}</span>{diff(changes, _=_)}</div>'
    return f'<li class="is-{level}"><p class="pv-doctor-key">{"".join(told)}</p>{body}</li>'


def findings(items: Sequence[str]) -> str:
    """All of them, most harmful first."""
    return f'<ol class="pv-doctor-findings">{"".join(items)}</ol>' if items else ""


def diff(changes: Sequence[Change], *, _: Words) -> str:
    """What goes and what comes, as a diff."""
    told = []
    for each in changes:
        if each.before is not None:
            told.append(f'<del title="{_("goes")}">− {escape(each.place + each.before)}</del>')
        if each.after is not None:
            told.append(f'<ins title="{_("comes")}">+ {escape(each.place + each.after)}</ins>')
    return f"<pre>{''.join(told)}</pre>"


def statements(groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """What an engine does, group by group, each under its layer type; texts are escaped."""
    told = ""
    for title, sentences in groups:
        if title:
            told += f'<p class="pv-doctor-layers"><code>{title}</code></p>'
        told += "<ul>" + "".join(f"<li>{each}</li>" for each in sentences) + "</ul>"
    return f'<div class="pv-doctor-plain">{told}</div>'


def errors(
    distances: Floats,
    worst: Floats,
    chosen: Floats,
    distance: int,
    tolerance: float,
    *,
    shade: str,
    title: str,
    names: tuple[str, str],
    _: Words,
) -> dict[str, Any]:
    """Radians by which two pairs are off, by distance, a Plotly figure; both axes logarithmic.

    Args:
        distances: Tokens.
        worst: Radians of the pair that is off first.
        chosen: Radians of the chosen pair.
        distance: The one that is looked at.
        tolerance: Radians from which it counts.
        shade: Name of the first pair's colour.
        title: What the radians are.
        names: Of the two pairs.
        _: Translates labels.
    """
    floor = 10.0**_LOWEST
    lines = [
        (_("half a turn"), np.full(len(distances), np.pi), "quiet", "dot", 1.2),
        (_("what counts"), np.full(len(distances), tolerance), "quiet", "dash", 1.2),
        (names[1], chosen, "ink", "dash", 1.8),
        (names[0], worst, shade, "", 2.6),
    ]
    return {
        "data": [
            {
                "type": "scatter", "mode": "lines", "name": label, "x": distances,
                "y": np.maximum(values, floor / 10.0), "hovertemplate": "%{y:.3g} rad",
                "line": {"color": style.colour(colour), "width": width}
                | ({"dash": dash} if dash else {}),
            }
            for label, values, colour, dash, width in lines
        ],
        "layout": style.layout(
            xaxis={"type": "log", "range": [0.0, float(np.log10(distances[-1]))], "dtick": 1,
                   "title": {"text": _("distance, tokens")}},
            yaxis={"type": "log", "range": [_LOWEST, _HIGHEST], "dtick": 2,
                   "title": {"text": title}},
            shapes=[style.upright(max(distance, 1), "ink", "solid")],
            margin={"l": 58, "r": 12, "t": 8, "b": 40},
        ),
    }  # fmt: skip


def turns(
    mine: Floats, meant: Floats, pair: int,
    *, shades: tuple[str, str], names: tuple[str, str], _: Words,
) -> dict[str, Any]:  # fmt: skip
    """Tokens per turn of each pair, as pasted and as meant, a Plotly figure.

    Args:
        mine: ``(pairs,)``, tokens; infinite for a pair that stands still.
        meant: The same as meant, of as many pairs or others.
        pair: The one that is looked at.
        shades: Names of the colours of the two.
        names: Of the two.
        _: Translates labels.
    """
    longest = 10.0 ** (_LONGEST + 1.0)
    last = max(len(mine), len(meant), 2) - 1
    return {
        "data": [
            {
                "type": "scatter", "mode": "lines", "name": label,
                "x": np.arange(len(values), dtype=np.float64), "y": np.minimum(values, longest),
                "line": {"color": style.colour(shade), "width": width}
                | ({"dash": dash} if dash else {}),
                "hovertemplate": "%{y:,.4g}",
            }
            for label, values, shade, dash, width in (
                (names[1], meant, shades[1], "", 3.2), (names[0], mine, shades[0], "6px,3px", 2.0),
            )
        ],
        "layout": style.layout(
            xaxis={"range": [-0.01 * last, 1.01 * last], "title": {"text": _("pair")}},
            yaxis={"type": "log", "range": [_SHORTEST, _LONGEST], "dtick": 2,
                   "title": {"text": _("tokens per turn")}},
            shapes=[style.upright(pair, "ink", "solid")],
            margin={"l": 58, "r": 12, "t": 8, "b": 40},
        ),
    }  # fmt: skip
