"""The learned table's pictures: its rows, what training changed, where it ends, drawn out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.figures.heat import Axis, Rasters
from posviz.learned import Released

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

Line = tuple[str, str, str, Floats, Floats]
"""A curve: label, name of its colour, dash (empty for none), x and y."""

CHANGE = 0.01
"""End of the colour scale of what training changed; one number in a thousand lies past it."""
NEAR = 24
"""Tokens to each side whose similarity is drawn."""
ACROSS = 1024
"""Rows that the rulers of a drawn-out table have room for."""

_SHADES = heat.sequential("learned")

COSINE = Formula(
    "cosine", "product / (size_p * size_q)", {"size_p": "learned", "size_q": "ink"},
    {"cosine": "cosine", "product": "row p · row q", "size_p": "|row p|", "size_q": "|row q|"},
)  # fmt: skip
MOVED = Formula(
    "moved", "size_change / size_start", {"size_change": "ink", "size_start": "sinusoidal"},
    {"moved": "moved", "size_change": "|trained − start|", "size_start": "|start|"},
)  # fmt: skip
ROW = Formula("row", "offset + p", {"p": "learned"}, {"row": "row", "offset": "offset"})
READ_AT = Formula(
    "r", "p * (rows - 1) / (n - 1)", {"r": "learned", "p": "ink"}, {"rows": "rows"}
)  # fmt: skip


def similarity(
    values: Floats, position: int, other: int, *, alt: str, _: Words
) -> tuple[str, Rasters]:
    """Cosine similarity of all rows, draggable; the arguments of ``live.drawing``."""
    markup, rasters = heat.heat_map(
        "similarity", values, low=0.0, high=1.0, palette=_SHADES,
        rows=Axis(_("position p"), handle="position", chosen=position),
        columns=Axis(_("position q"), handle="other", chosen=other),
        alt=alt, said=_("positions {row} and {column}: {value}"), width=500,
    )  # fmt: skip
    return markup + heat.scale_bar("0", _("1: same direction"), _SHADES), rasters


def two_rows(
    values: Floats, names: Sequence[str], end: float, *, alt: str, _: Words
) -> tuple[str, Rasters]:
    """The numbers of two rows, one above the other; the arguments of ``live.drawing``.

    Args:
        values: ``(2, d_model)``.
        names: Of the rows.
        end: Size of a number that has the full colour.
        alt: Text alternative.
        _: Translates labels.
    """
    return heat.heat_map(
        "rows", values, low=-end, high=end, rows=Axis(labels=names),
        columns=Axis(_("dimension"), ticks=10), alt=alt,
        said=_("{row}, dimension {column}: {value}"), height=64,
    )  # fmt: skip


def change(values: Floats, position: int, *, alt: str, _: Words) -> tuple[str, Rasters]:
    """What training added to each number, positions across; the arguments of ``live.drawing``."""
    markup, rasters = heat.heat_map(
        "change", values.T, low=-CHANGE, high=CHANGE,
        rows=Axis(_("dimension"), ticks=4),
        columns=Axis(_("position"), handle="position", chosen=position),
        alt=alt, said=_("dimension {row} of position {column}: {value}"), height=215,
    )  # fmt: skip
    bar = heat.scale_bar(
        _("−{end} or less", end=CHANGE), _("{end} or more", end=CHANGE), middle="0"
    )
    return markup + bar, rasters


def chart(
    lines: Sequence[Line],
    x: tuple[float, float],
    y: tuple[float, float],
    titles: tuple[str, str],
    marks: Sequence[tuple[float, str, str]] = (),
    *,
    percent: bool = False,
    lowest: float = 2.2,
) -> dict[str, Any]:
    """Curves over fixed axes with upright marks, a Plotly figure.

    Args:
        lines: The first is drawn last, so on top.
        x: Ends of the horizontal axis.
        y: Ends of the vertical axis.
        titles: Of both axes.
        marks: Place, name of the colour and dash.
        percent: Whether values are shares, shown in per cent.
        lowest: Width of the last one, wider if the others would hide it.
    """
    scale, suffix = (100.0, " %") if percent else (1.0, "")
    return {
        "data": [
            {"type": "scatter", "mode": "lines", "name": label, "x": at, "y": scale * values,
             "line": {"color": style.colour(shade), "width": 1.8 if n else lowest}
             | ({"dash": dash} if dash else {}),
             "hovertemplate": f"%{{y:.3g}}{suffix}"}
            for n, (label, shade, dash, at, values) in enumerate(reversed(lines))
        ],
        "layout": style.layout(
            xaxis={"range": list(x), "title": {"text": titles[0]}},
            yaxis={"range": [scale * end for end in y], "title": {"text": titles[1]},
                   "ticksuffix": suffix, "nticks": 6},
            shapes=[style.upright(at, shade, dash) for at, shade, dash in marks],
        ),
    }  # fmt: skip


def by_index(label: str, shade: str, dash: str, values: Floats) -> Line:
    """A curve over the numbers 0, 1, ... of rows or dimensions."""
    return label, shade, dash, np.arange(float(len(values))), values


def over(label: str, shade: str, dash: str, lengths: Sequence[int], values: Floats) -> Line:
    """A curve over context lengths."""
    return label, shade, dash, np.asarray(lengths, np.float64), values


def flat(label: str, shade: str, dash: str, lengths: Sequence[int], value: float) -> Line:
    """The same value at every length."""
    return over(label, shade, dash, lengths, np.full(len(lengths), float(value)))


def as_perplexity(nats: Floats) -> Floats:
    """Nats per character as perplexity."""
    return np.exp(nats)


def near(label: str, shade: str, dash: str, alike: Floats, row: int) -> Line:
    """Similarity to ``row`` over the distance from it, as far as :data:`NEAR` and the table go."""
    first, last = max(row - NEAR, 0), min(row + NEAR, len(alike) - 1)
    at = np.arange(first, last + 1, dtype=np.float64) - row
    return label, shade, dash, at, alike[first : last + 1]


def between(label: str, shade: str, dash: str, read_at: Floats, gaps: Floats) -> Line:
    """Distance of each row to the next, over the trained row halfway between the two."""
    return label, shade, dash, (read_at[1:] + read_at[:-1]) / 2.0, gaps


def perplexity(lines: Sequence[Line], trained: int, _: Words) -> dict[str, Any]:
    """Perplexity by context length, a Plotly figure; both axes are logarithmic.

    Args:
        lines: Lengths in tokens and perplexities; the first is drawn last.
        trained: Rows of the trained table.
        _: Translates labels.
    """
    figure = chart(
        lines, (np.log10(58.0), np.log10(1130.0)), (np.log10(1.8), np.log10(200.0)),
        (_("context length, tokens"), _("perplexity")), [(trained, "quiet", "dot")],
    )  # fmt: skip
    layout = figure["layout"]
    layout["xaxis"] |= {"type": "log", "tickvals": [64, 128, 256, 512, 1024],
                        "ticktext": ["64", "128", "256", "512", "1,024"]}  # fmt: skip
    layout["yaxis"] |= {"type": "log", "tickvals": [2, 3, 5, 10, 20, 50, 100, 200]}
    layout["annotations"] = [
        style.note(np.log10(trained), 1.0, _("the table's end"), "quiet", leftwards=True)
    ]
    return figure


# ---------------------------------------------------------------------------------- the ceiling


def shelf(table: Released, position: int, end: int, _: Words) -> str:
    """A table as a bar of its positions, what lies past it, and where a position stands; HTML.

    Args:
        table: Whose size is drawn.
        position: The one that is asked for.
        end: Last position that has room.
        _: Translates labels.
    """
    share = 100.0 * table.positions / (end + 1)
    at = 100.0 * (position + 0.5) / (end + 1)
    last = _("last row: position {last}", last=f"{table.positions - 1:,}")
    return (
        f'<div class="pv-learned-shelf{" is-outside" if position >= table.positions else ""}">'
        f'<p><b style="left:{at:.4g}%;transform:translateX(-{at:.4g}%)">'
        f"{_('position {position}', position=f'{position:,}')}</b></p>"
        f'<div><i style="width:{share:.4g}%"></i><s style="left:{at:.4g}%"></s></div>'
        f'<p><span>0</span><span class="is-last" style="left:{share:.4g}%">{last}</span>'
        f'<span style="right:0">{_("no row")}</span></p></div>'
    )


def window(table: Released, position: int, end: int, parameter: str, _: Words) -> str:
    """The positions around one and the rows that they read, each a button; HTML.

    Args:
        table: Whose rows.
        position: The one in the middle, away from the ends.
        end: Last position that has room.
        parameter: That a click sets.
        _: Translates labels.
    """
    first = min(max(position - 4, 0), end - 8)
    cells = ""
    for n in range(first, first + 9):
        is_there = n < table.positions
        row = f"{n + table.offset:,}" if is_there else "–"
        cells += (
            f'<button data-set="{parameter}={n}" aria-pressed="{str(n == position).lower()}"'
            f"{'' if is_there else ' class=is-missing'}><span>{n:,}</span><b>{row}</b></button>"
        )
    head = f"<p><span>{_('position')}</span><b>{_('row')}</b></p>"
    return f'<div class="pv-learned-window">{head}{cells}</div>'


def sizes(
    tables: Sequence[tuple[str, str, int, int, str]], chosen: str, parameter: str, _: Words
) -> str:
    """Rows, offset and last position of some tables, each chosen by a click; HTML.

    Args:
        tables: Option, label, rows, offset, and where it can be checked, empty for none.
        chosen: The option that is shown.
        parameter: That a click sets.
        _: Translates labels.
    """
    head = "".join(
        f'<th scope="col">{word}</th>'
        for word in (_("table"), _("rows"), _("skipped"), _("positions"), _("the last"))
    )
    body = "".join(
        f'<tr{" class=is-chosen" if option == chosen else ""}><th scope="row">'
        f'<button data-set="{parameter}={option}" aria-pressed="{str(option == chosen).lower()}">'
        f"{escape(label)}</button></th><td>{rows:,}</td><td>{offset}</td>"
        f"<td>{rows - offset:,}</td><td>{rows - offset - 1:,}</td>"
        + (f'<td><a href="{escape(source)}" target="_blank" rel="noopener">{_("source")}</a></td>'
           if source else "<td></td>") + "</tr>"
        for option, label, rows, offset, source in tables
    )  # fmt: skip
    return f'<table class="pv-learned-sizes"><tr>{head}<td></td></tr>{body}</table>'


# --------------------------------------------------------------------------------- drawn out


def rulers(read_at: Floats, rows: int, position: int, *, alt: str, _: Words) -> str:
    """Both tables as rulers of the same scale, and which old row each new position reads; HTML.

    Args:
        read_at: Old row of each new position.
        rows: Trained rows.
        position: The new position that is followed.
        alt: Text alternative.
        _: Translates labels.
    """
    n = len(read_at)
    place = 100.0 / ACROSS  # per cent of the width for each row
    old = np.linspace(0, rows - 1, 16)
    new = old * (n - 1) / max(rows - 1, 1)
    fan = "".join(
        f'<path d="M{(a + 0.5) * place:.3f} 0L{(b + 0.5) * place:.3f} 100"/>'
        for a, b in zip(old.tolist(), new.tolist(), strict=True)
    )
    top, bottom = (float(read_at[position]) + 0.5) * place, (position + 0.5) * place

    def tag(at: float, word: str) -> str:
        return f'<b style="left:{at:.4g}%;transform:translateX(-{at:.4g}%)">{word}</b>'

    return (
        f'<div class="pv-learned-rulers" role="img" aria-label="{escape(alt)}">'
        f"<p>{tag(top, _('row {row}', row=f'{read_at[position]:,.2f}'))}"
        f'</p><div class="is-old" style="width:{rows * place:.4g}%">'
        f"{_('{rows} rows', rows=f'{rows:,}')}</div>"
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{fan}'
        f'<path class="is-chosen" d="M{top:.3f} 0L{bottom:.3f} 100"/></svg>'
        f'<div class="is-new" style="width:{n * place:.4g}%">{_("{rows} rows", rows=f"{n:,}")}'
        "</div>"
        f"<p>{tag(bottom, _('position {position}', position=f'{position:,}'))}</p></div>"
    )
