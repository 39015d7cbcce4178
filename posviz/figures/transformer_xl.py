"""Transformer-XL's pictures: four maps that add up, cells on their way, curves by distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures import heat, style
from posviz.figures.formula import Formula
from posviz.transformer_xl import ShiftCells, Terms

Floats = NDArray[np.floating[Any]]
Words = Callable[..., str]

FORMS = ("relative", "absolute")
SHADES = {"relative": "transformer_xl", "absolute": "sinusoidal"}
"""Colour of what came out of distances, and of places."""

# -------------------------------------------------------------------------------- formulas

SCORE = Formula("score", "(a + b + c + d) / sqrt(d_head)", words={"score": "score"})
FACTORED = Formula("a + b + c + d", "(q[i] + u) * k[j] + (q[i] + v) * r[i - j]")
MULTIPLIED = Formula("a + b + c + d", "(q[i] + s[i]) * (k[j] + t[j])")
DISTANCE = Formula("distance", "L + i - j", words={"distance": "distance"})
SINE = Formula("R_n", "sin(distance * 10000 ** (-2 * n / d_model))", words={"distance": "δ"})
COSINE = Formula(
    "R_n",
    "cos(distance * 10000 ** (-2 * (n - d_model / 2) / d_model))",
    words={"distance": "δ"},
)


def shown(formula: Formula, _: Words, /, **numbers: float) -> str:
    """A formula in a line of its own, with the numbers in it if they are given; HTML."""
    told = formula.markup(_, formula.value(**numbers), **numbers) if numbers else formula.markup(_)
    return f'<p class="pv-formula pv-xl-formula">{told}</p>'


# -------------------------------------------------------------------------------- four terms

LIMIT = 15.0
"""End of the colours of all maps, terms before scaling."""

PRODUCTS = {
    "relative": {
        "a": "q<sub>i</sub> · k<sub>j</sub>", "b": "q<sub>i</sub> · r<sub>i−j</sub>",
        "c": "u · k<sub>j</sub>", "d": "v · r<sub>i−j</sub>",
    },
    "absolute": {
        "a": "q<sub>i</sub> · k<sub>j</sub>", "b": "q<sub>i</sub> · t<sub>j</sub>",
        "c": "s<sub>i</sub> · k<sub>j</sub>", "d": "s<sub>i</sub> · t<sub>j</sub>",
    },
}  # fmt: skip
MEANINGS = {
    "relative": {
        "a": "what the query asks, what the key says",
        "b": "the distances this query likes",
        "c": "the keys that any query likes",
        "d": "the distances that any query likes",
    },
    "absolute": {
        "a": "what the query asks, what the key says",
        "b": "the places this query likes",
        "c": "the keys that this place likes",
        "d": "the places that this place likes",
    },
}


def maps(
    terms: Terms, form: str, memory: int, query: int, key: int, *, _: Words
) -> tuple[str, heat.Rasters]:
    """The four terms and their sum as heat maps on one scale, arguments of ``live.drawing``.

    Args:
        terms: Of one head.
        form: One of :data:`FORMS`.
        memory: Keys before the first query; rows are counted from there.
        query: The chosen one, counted as the rows.
        key: The chosen one.
        _: Translates labels.
    """
    drawn: list[str] = []
    rasters: dict[str, Mapping[str, object]] = {}
    shown: dict[str, Floats] = {name: getattr(terms, name)[0] for name in PRODUCTS[form]}
    shown["sum"] = terms.total[0]
    for name, values in shown.items():
        letter = f"<b>{name}</b> {PRODUCTS[form].get(name, '')}"
        sign = "" if name == "a" else "+ "
        title = f"= <b>{_('sum')}</b>" if name == "sum" else sign + letter
        here = values[query - memory, key]
        is_hidden = not terms.visible[query - memory, key]
        told = _("hidden") if is_hidden else style.number(float(here))
        markup, own = heat.heat_map(
            name, values, low=-LIMIT, high=LIMIT,
            rows=heat.Axis(title, "query", memory, chosen=query - memory, ticks=5),
            columns=heat.Axis(_("key"), "key", chosen=key, ticks=5),
            alt=_("Term {name}: query {query}, key {key}: {value}",
                  name=_("sum") if name == "sum" else name, query=query,
                  key=key, value=style.plain_text(told)),
            said=_("query {row}, key {column}: {value}", row="{row}", column="{column}",
                   value="{value}"),
            visible=terms.visible, height=196,
        )  # fmt: skip
        drawn.append(markup)
        rasters.update(own)
    note = _(
        "rows are queries; drag on a map to choose; one scale for all five; hatched: the key is "
        "ahead, hidden"
    )
    bar = heat.scale_bar(style.number(-LIMIT), style.number(LIMIT), middle="0")
    return (
        f'<div class="pv-xl-maps">{"".join(drawn)}</div><div class="pv-xl-bar">{bar}'
        f"<span>{note}</span></div>",
        rasters,
    )


def cell(
    form: str,
    here: Mapping[str, float] | None,
    moved: Mapping[str, float] | None,
    shift: int,
    d_head: int,
    *,
    _: Words,
) -> str:
    """The terms of one cell, at its place and moved, and the score with the numbers in it; HTML.

    Args:
        form: One of :data:`FORMS`.
        here: Value of each term and of the ``score``; None if the cell is hidden.
        moved: The same with query and key moved.
        shift: By how many tokens they moved.
        d_head: Dimensions of the head.
        _: Translates labels.
    """
    if here is None or moved is None:
        return ""
    rows = "".join(
        f"<tr><th><b>{name}</b> {PRODUCTS[form][name]}</th><td>{_(MEANINGS[form][name])}</td>"
        f"<td>{places(here[name])}</td>"
        f"<td{_changed(here[name], moved[name])}>{places(moved[name])}</td></tr>"
        for name in PRODUCTS[form]
    )
    score = (
        f"<tr><th>{_('score')}</th><td></td><td>{places(here['score'])}</td>"
        f"<td{_changed(here['score'], moved['score'])}>{places(moved['score'])}</td></tr>"
    )
    head = (
        f"<tr><td></td><td></td><th>{_('at 0')}</th>"
        f"<th>{_('moved by {shift}', shift=style.number(shift))}</th></tr>"
    )
    numbers = {name: _rounded(moved[name]) for name in "abcd"}
    told = SCORE.markup(_, _rounded(SCORE.value(d_head=d_head, **moved_terms(moved))),
                        d_head=d_head, **numbers)  # fmt: skip
    return (
        f'<table class="pv-xl-cell"><thead>{head}</thead><tbody>{rows}{score}</tbody></table>'
        f'<p class="pv-formula pv-xl-formula">{told}</p>'
    )


def moved_terms(values: Mapping[str, float]) -> dict[str, float]:
    """The four terms alone."""
    return {name: values[name] for name in "abcd"}


def _changed(before: float, after: float) -> str:
    return ' class="is-changed"' if places(before) != places(after) else ""


def places(value: float) -> str:
    """A number with two decimals and a minus sign, for columns that are compared."""
    told = f"{value:.2f}".replace("-", "−")
    return "0.00" if told == "−0.00" else told


def _rounded(value: float) -> float:
    return round(value, 2) + 0.0


def size(value: float) -> str:
    """A difference that may be rounding: 0, or in powers of ten."""
    return "0" if value == 0 else style.number(value)


def weights(
    at_zero: Floats,
    moved: Floats,
    k_len: int,
    form: str,
    key: int,
    *,
    names: Sequence[str],
    _: Words,
) -> dict[str, Any]:
    """Attention of the chosen query by key, a Plotly figure.

    Args:
        at_zero: Weight of each key while the text begins at position 0.
        moved: The same, moved.
        k_len: Keys, those ahead of the query too.
        form: One of :data:`FORMS`.
        key: The chosen one.
        names: Of the two.
        _: Translates labels.
    """
    keys = np.arange(len(moved), dtype=float)
    lines = [(names[1], SHADES[form], "", 2.6, moved), (names[0], "ink", "4px,4px", 1.4, at_zero)]
    return _curves(
        keys, lines, ends=(-0.5, k_len - 0.5), low=-0.03, high=1.03, at=key,
        across=_("key"), up=_("attention weight"), dtick=0.25,
    )  # fmt: skip


# ------------------------------------------------------------------------------------ memory


def segments(length: int, query: int, key: int, distances: Sequence[int], *, _: Words) -> str:
    """Two segments of the same text, their absolute indices and the distances; HTML.

    Args:
        length: Tokens of a segment.
        query: The chosen one, within the second segment.
        key: The chosen index, which stands in both segments.
        distances: From the query to every token, negative where it is ahead.
        _: Translates labels.
    """
    told = []
    for title, first in ((_("memory: the segment before"), 0), (_("this segment"), length)):
        cells = []
        for n in range(length):
            marks = ["is-ahead"] if distances[first + n] < 0 else []
            marks += ["is-same"] if n == key else []
            marks += ["is-query"] if first and n == query else []
            distance = distances[first + n]
            # "·" where the query may not look.
            how_far = "·" if distance < 0 else str(distance)
            choose = f' data-set="index={n}"' if n <= query else " disabled"
            cells.append(
                f'<button type="button" class="{" ".join(marks)}"{choose} '
                f'aria-pressed="{str(n == key).lower()}"><b>{n}</b><i>{how_far}</i></button>'
            )
        told.append(
            f'<div><p>{title}</p><div class="pv-xl-tokens" style="--n:{length}">'
            f"{''.join(cells)}</div></div>"
        )
    key_line = (
        f'<p class="pv-key"><span><b>0 1 2</b> {_("absolute index, begins again")}</span>'
        f"<span><em>0 1 2</em> {_('distance from the query')}</span></p>"
    )
    return f'<div class="pv-xl-segments">{"".join(told)}</div>{key_line}'


def repeats(
    absolute: Floats, relative: Floats, key: int, length: int, *, names: Sequence[str], _: Words
) -> dict[str, Any]:
    """What positions add to the score of every key, by index and by distance; a Plotly figure.

    Args:
        absolute: ``b + d`` of each key with indices that begin again in each segment.
        relative: ``b + d`` of each key with distances.
        key: The chosen index; it is marked in both segments.
        length: Tokens of a segment.
        names: Of the two.
        _: Translates labels.
    """
    keys = np.arange(len(absolute), dtype=float)
    lines = [
        (names[0], SHADES["absolute"], "6px,3px", 2.2, absolute),
        (names[1], SHADES["relative"], "", 2.6, relative),
    ]
    figure = _curves(
        keys, lines, ends=(-0.5, 2 * length - 0.5), low=-10, high=10, at=key,
        across=_("token, counted over both segments"), up=_("b + d"), dtick=5,
    )  # fmt: skip
    figure["layout"]["shapes"] += [
        style.upright(length + key, "ink", "solid"), style.upright(length - 0.5, "quiet", "dot"),
    ]  # fmt: skip
    note = style.note(length - 0.5, 1, _("this segment"), "quiet", leftwards=False)
    figure["layout"]["annotations"] = [note]
    return figure


# --------------------------------------------------------------------------------- the shift

STEPS = (
    ("Scores by distance", "x = (q + v) @ r.T"),
    ("A zero in front of each row", "x = cat([zeros(q, 1), x], dim=1)"),
    ("Read on, break rows after q", "x = x.view(-1, q)"),
    ("Drop the first row", "x = x[1:]"),
    ("Break rows as before", "x = x.view(q, -1)"),
    ("Keep the first k columns", "x = x[:, :k]"),
)
DROPS_LAST = ("Drop the last row", "x = x[:-1]")


def steps(current: int, count: int, dropped: str, *, _: Words) -> str:
    """The steps of the shift as a list to choose from, each with its line of code; HTML."""
    told = []
    for n, (title, code) in enumerate(STEPS[:count]):
        is_bug = n == 3 and dropped == "last"
        title, code = DROPS_LAST if is_bug else (title, code)
        told.append(
            f'<button type="button" data-set="step={n}" aria-pressed="{str(n == current).lower()}"'
            f"{' class=is-bug' if is_bug else ''}><i>{n}</i><b>{_(title)}</b>"
            f"<code>{escape(code)}</code></button>"
        )
    return f'<div class="pv-xl-steps">{"".join(told)}</div>'


def shifting(
    cells: ShiftCells, q_len: int, k_len: int, columns: int, current: int, *, alt: str, _: Words
) -> str:
    """The cells where they are at this moment, SVG.

    Args:
        cells: Of :func:`posviz.transformer_xl.shift_cells`.
        q_len: Queries.
        k_len: Keys.
        columns: Of the scores before the shift.
        current: The step that is nearest.
        alt: Text alternative.
        _: Translates labels.
    """
    wide = max(columns + 1, q_len)
    high = max(columns + 1, q_len)
    by_key = current >= 4
    drawn = []
    order = np.cumsum(~cells.is_zero)
    for n in np.flatnonzero(cells.shown > 0.01).tolist():
        distance = int(cells.distance[n])
        is_wrong = by_key and not cells.right[n]
        value, under = ("0", "") if cells.is_zero[n] else (str(order[n]), _told(distance))
        marks = "pv-xl-zero" if cells.is_zero[n] else ""
        if is_wrong:
            marks += " is-ahead" if cells.ahead[n] else " is-wrong"
        share = 8 + 38 * (distance + q_len) // (columns + 1)
        fill = (
            style.colour("ground") if cells.is_zero[n]
            else f"color-mix(in srgb,{style.colour('transformer_xl')} {share}%,"
            f"{style.colour('ground')})"
        )  # fmt: skip
        drawn.append(
            f'<g class="{marks.strip()}" opacity="{cells.shown[n]:.2f}" '
            f'transform="translate({cells.column[n]:.3f} {cells.row[n]:.3f})">'
            f'<rect x=".04" y=".04" width=".92" height=".92" rx=".06" style="fill:{fill}"/>'
            + ('<rect class="pv-xl-veil" x=".04" y=".04" width=".92" height=".92" rx=".06"/>'
               if is_wrong else "")
            + f'<text x=".5" y="{0.5 if under else 0.64}">{value}</text>'
            + (f'<text class="is-small" x=".5" y=".82">{under}</text>' if under else "")
            + "</g>"
        )  # fmt: skip
    labels = []
    if current <= 1:
        labels += [(n + 1.5, -0.15, _told(k_len - 1 - n)) for n in range(columns)]
    if by_key:
        labels += [(n + 0.5, -0.15, _("key {n}", n=n)) for n in range(k_len)]
    rows = (
        []
        if current in (2, 3)
        else [(0.9 if current == 0 else -0.1, n + 0.58, f"q{n}") for n in range(q_len)]
    )
    text = "".join(f'<text class="is-label" x="{x}" y="{y}">{said}</text>' for x, y, said in labels)
    text += "".join(f'<text class="is-row" x="{x}" y="{y}">{said}</text>' for x, y, said in rows)
    hatch = (
        '<defs><pattern id="pv-xl-hatch" width=".14" height=".14" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line y2=".14" /></pattern></defs>'
    )
    return (
        f'<svg class="pv-xl-shift" viewBox="-0.6 -0.5 {wide + 0.7} {high + 0.6}" role="img" '
        f'aria-label="{escape(alt)}">{hatch}{"".join(drawn)}{text}</svg>'
    )


def _told(distance: int) -> str:
    """A distance under a cell."""
    return f"δ {distance}".replace("-", "−")


# ------------------------------------------------------------------------------- by distance


def by_distance(
    b: Floats, d: Floats, distance: int, clamp_len: int, *, names: Sequence[str], _: Words
) -> dict[str, Any]:
    """The two terms with positions in them, by distance; a Plotly figure.

    Args:
        b: For the chosen query, from distance 0 on.
        d: For any query.
        distance: The chosen one.
        clamp_len: From where on all distances count as one.
        names: Of b and of d.
        _: Translates labels.
    """
    x = np.arange(len(b), dtype=float)
    lines = [
        (names[0], "transformer_xl", "", 2.6, b), (names[1], "accent", "6px,3px", 2.0, d),
    ]  # fmt: skip
    figure = _curves(
        x, lines, ends=(-2, len(b) + 1), low=-13, high=13, at=distance,
        across=_("distance, tokens"), up=_("term"), dtick=5,
    )  # fmt: skip
    if clamp_len < len(b) - 1:
        figure["layout"]["shapes"].append(style.upright(clamp_len, "alarm", "dot"))
        note = style.note(clamp_len, 0.08, "clamp_len", "alarm", leftwards=clamp_len > len(b) / 2)
        figure["layout"]["annotations"] = [note]
    return figure


def encoding(r: Floats, distance: int, dimension: int, *, _: Words) -> tuple[str, heat.Rasters]:
    """R as a heat map, distances descending as in the code; arguments of ``live.drawing``."""
    k_len, d_model = r.shape
    value = float(r[k_len - 1 - distance, dimension])
    return heat.heat_map(
        "R", r, low=-1.0, high=1.0,
        rows=heat.Axis(
            _("distance, from far to 0"), first=k_len - 1, step=-1, chosen=k_len - 1 - distance
        ),
        columns=heat.Axis(
            _("dimension: {half} sines, then {half} cosines", half=d_model // 2), "dimension",
            chosen=dimension, ticks=4,
        ),
        alt=_("R at distance {distance}, dimension {dimension}: {value}", distance=distance,
              dimension=dimension, value=places(value)),
        said=_("dimension {column}: {value}", column="{column}", value="{value}"), height=336,
    )  # fmt: skip


def _curves(
    x: Floats, lines: Sequence[tuple[str, str, str, float, Floats]], *, ends: tuple[float, float],
    low: float, high: float, at: float, dtick: float, across: str, up: str,
) -> dict[str, Any]:  # fmt: skip
    """Lines ``(name, colour, dash, width, values)`` over fixed axes, a Plotly figure."""
    data = [
        {
            "type": "scatter", "mode": "lines", "name": name, "x": x[: len(values)], "y": values,
            "line": {"color": style.colour(shade), "width": width}
            | ({"dash": dash} if dash else {}),
            "hovertemplate": "%{y:.2f}",
        }
        for name, shade, dash, width, values in lines
    ]  # fmt: skip
    return {
        "data": data,
        "layout": style.layout(
            xaxis={"range": list(ends), "title": {"text": across}},
            yaxis={"range": [low, high], "dtick": dtick, "title": {"text": up}},
            shapes=[style.upright(at, "quiet", "solid")], annotations=[],
            margin={"l": 52, "r": 12, "t": 8, "b": 38},
        ),
    }  # fmt: skip
