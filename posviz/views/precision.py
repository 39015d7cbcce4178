"""Fewer bits: positions that collide, angles that drift, scores that depend on the place."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from posviz import distance as distances
from posviz import params, precision, presets
from posviz.figures import precision as pictures
from posviz.figures import style
from posviz.figures.precision import Block, Curve
from posviz.figures.style import number, percent, plain_text
from posviz.precision import EXACT, Casts, Dtype
from posviz.ui import live
from posviz.ui.text import say

Slots = dict[str, live.Picture]

PARTS = {"positions": "Positions", "angles": "Angles", "invariance": "Shifting both"}
HANDLES = {
    "positions": ("position", "distance", "around"),
    "angles": ("position", "pair"),
    "invariance": ("position", "distance"),
}
# Colour, dash and kind in a legend of each dtype.
LOOKS: dict[Dtype, tuple[str, str, str]] = {
    "float32": ("accent", "", "solid"),
    "bfloat16": ("turns0", "7px,3px", "dash"),
    "float16": ("stretched", "2px,3px", "dot"),
}
SHORT: tuple[Dtype, ...] = ("bfloat16", "float16")
MODELS = ("Llama-2-7b-hf", "Meta-Llama-3-8B", "gemma-2b", "gpt-neox-20b")
TOP = 1 << 25  # positions of the ruler: float32 gives out halfway
END = 131_071  # last position of the other parts
ROWS, COLUMNS = 96, 128  # of a map of scores
FAST = 48_039  # radians up to which fast sines are said to keep their reduction
HELD = ("float32", "tables", "inv_freq", "positions", "all")


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, what is held in fewer bits, and where one looks."""
    yield params.Choice("part", "Part", "positions", tuple(PARTS), tuple(PARTS.values()), "")
    yield params.Choice("dtype", "16 bits", "bfloat16", SHORT, SHORT, "")
    yield params.Choice("model", "Model", MODELS[0], MODELS, tuple(map(model_label, MODELS)), "")
    yield params.Choice("held", "Rounded", "all", HELD,
                        tuple(label(way, say("16 bits")) for way in HELD), "")  # fmt: skip
    high = TOP if v["part"] == "positions" else min(END, precision.last_position(v["dtype"]))
    yield replace(params.POSITION, low=1, high=high, default=15_962, unit="",
                  help="Where the query stands: the number of tokens before it.")  # fmt: skip
    yield params.Number("distance", "Distance", 16, 0, COLUMNS - 1, 1, "tokens",
                        "How many tokens behind the query its key stands.",
                        ).within(high=min(COLUMNS - 1, v["position"]))  # fmt: skip
    yield params.Number("around", "Shown", 20, 4, 64, 1, "each side",
                        "How many positions are shown on either side.")  # fmt: skip
    pairs = inv_freq(v["model"]).size
    yield replace(params.PAIR, default=0, high=pairs - 1,
                  help="Which pair of dimensions; pair 0 is the fastest.")  # fmt: skip


def draw(part: str, **v: Any) -> Slots:
    """Every picture of one part."""
    return {"positions": positions, "angles": angles, "invariance": invariance}[part](v)


def inv_freq(model: str) -> Any:
    """Frequencies of a model on record."""
    rotary = presets.main_rotary(model)
    assert rotary is not None
    return rotary.rope.inv_freq


def model_label(model: str) -> str:
    """A model with what its angles depend on."""
    rotary = presets.main_rotary(model)
    assert rotary is not None
    return say("{model}: base {base}, {count} dimensions", model=model.removesuffix("-hf"),
               base=number(rotary.rope.rope_theta), count=rotary.rope.rotary_dim)  # fmt: skip


def caption(*sentences: str) -> live.Picture:
    """What to look for."""
    return live.drawing(style.caption(*sentences))


def formula(markup: str) -> live.Picture:
    """A formula with its numbers."""
    return live.drawing(f'<p class="pv-formula">{markup}</p>')


def decimal(value: float) -> str:
    """A cosine or a score: four digits after the point."""
    return f"{value + 0.0:.4f}".replace("-0.0000", "0.0000").replace("-", "−")


def angle(radians: float) -> str:
    """An angle, all its whole digits."""
    if radians == int(radians):
        return f"{radians:,.0f}"
    return f"{radians:,.2f}" if radians >= 100 else f"{radians:.4f}" if radians >= 0.01 else (
        number(radians)
    )  # fmt: skip


# ---------------------------------------------------------------------------------------- positions


def holds(dtype: Dtype, position: int) -> bool:
    """Whether a dtype has a number for the position."""
    return position <= precision.last_position(dtype)


def held_at(dtype: Dtype, position: int) -> int:
    """The number that a dtype has for it."""
    return int(precision.rounded(dtype, position))


def positions(v: live.Values) -> Slots:
    """Which positions share a number, and how many numbers there are."""
    at, behind = v["position"], v["distance"]
    key = at - behind
    start, count = max(at - v["around"], 0), 2 * v["around"] + 1
    rows: list[tuple[str, str, list[Block]]] = [
        (dtype, LOOKS[dtype][0], blocks(dtype, start, count, at)) for dtype in LOOKS
    ]
    first, last = precision.sharing("bfloat16", at)
    crowd = last - first + 1
    shades = [(dtype, shade, kind) for dtype, (shade, _, kind) in LOOKS.items()]
    shared = say(
        "bfloat16 holds {first}–{last} all as {held}", first=f"{first:,}", last=f"{last:,}",
        held=f"{held_at('bfloat16', at):,}",
    )  # fmt: skip
    single = say("bfloat16 holds {position} exactly, and no other position with it",
                 position=f"{at:,}")  # fmt: skip
    told = shared if crowd > 1 else single
    verdict = say("Each token has a place of its own here.")
    if crowd > 1:
        verdict = say("In bfloat16, {count} tokens stand on the same place: {held}.",
                      count=f"{crowd:,}", held=f"{held_at('bfloat16', at):,}")  # fmt: skip
    return {
        "verdict": live.drawing(pictures.verdict(verdict, "turns0" if crowd > 1 else "accent")),
        "ruler": live.drawing(pictures.ruler(start, count, at, key, rows, alt=told, _=say)),
        "distinct": live.figure(
            pictures.distinct([distinct(dtype) for dtype in LOOKS], at + 1, TOP, _=say),
            say("Different numbers by length; at {length} tokens: {counts}", length=f"{at + 1:,}",
                counts=", ".join(f"{dtype} {many(dtype, at)}" for dtype in LOOKS)),
        ),
        "distinct:head": live.drawing(
            style.heading(say("How many positions are told apart"),
                          say("for texts of each length"), shades)
        ),
        "table": live.drawing(
            pictures.table(["", *(pictures.swatch(*one) for one in shades)], facts(at, behind),
                           alt=told)
        ),
        "table:head": live.drawing(style.heading(say("Position {at}", at=f"{at:,}"),
                                                 say("as each dtype has it"))),
        "caption": caption(
            say("{told}.", told=told), seen(at, behind),
            say("Up to {exact} bfloat16 has every whole number; from there on its steps double at "
                "each power of two.",
                exact=number(precision.last_exact_position("bfloat16"))),
        ),
        "formula": formula(spacing_formula(at)),
    }  # fmt: skip


def blocks(dtype: Dtype, start: int, count: int, at: int) -> list[Block]:
    """The numbers that a dtype has for the positions in view."""
    found, now, end = [], start, start + count - 1
    while now <= end:
        if not holds(dtype, now):
            found.append(Block(end - now + 1, say("too large"), "is-lost"))
            break
        _, last = precision.sharing(dtype, now)
        last = min(last, end)
        kind = "is-query" if now <= at <= last else ""
        found.append(Block(last - now + 1, f"{held_at(dtype, now):,}", kind))
        now = last + 1
    return found


@lru_cache(maxsize=8)
def distinct(dtype: Dtype) -> Curve:
    """Numbers by length, as far as the dtype goes."""
    end = min(TOP, precision.last_position(dtype) + 1)
    lengths = (distances.bins(end, 160, "log") + 1).tolist()
    shade, dash, _ = LOOKS[dtype]
    counts = [precision.distinct_positions(dtype, length) for length in lengths]
    return Curve(dtype, shade, dash, lengths, counts, 2.4)


def many(dtype: Dtype, at: int) -> str:
    """How many of the positions up to this one a dtype tells apart."""
    if not holds(dtype, at):
        return say("too large")
    return f"{precision.distinct_positions(dtype, at + 1):,}"


def facts(at: int, behind: int) -> list[tuple[str, list[str]]]:
    """What each dtype makes of the position, a row each."""
    rows: list[tuple[str, list[str]]] = []

    def row(name: str, tell: Any) -> None:
        rows.append((name, [tell(d) if holds(d, at) else "–" for d in LOOKS]))

    def crowd(dtype: Dtype) -> str:
        first, last = precision.sharing(dtype, at)
        return f"{last - first + 1:,}"

    rows.append((say("bits of the significand"),
                 [str(precision.SIGNIFICANT_BITS[dtype]) for dtype in LOOKS]))  # fmt: skip
    rows.append((say("exact up to"),
                 [f"{precision.last_exact_position(dtype):,}" for dtype in LOOKS]))  # fmt: skip
    rows.append((say("{at} becomes", at=f"{at:,}"),
                 [f"{held_at(d, at):,}" if holds(d, at) else say("too large")
                  for d in LOOKS]))  # fmt: skip
    row(say("positions on that number"), crowd)
    row(say("to the next number"), lambda dtype: f"{precision.spacing(dtype, at):,}")
    row(say("distance {distance} becomes", distance=behind),
        lambda dtype: f"{held_at(dtype, at) - held_at(dtype, at - behind):,}")  # fmt: skip
    row(say("told apart of {count}", count=f"{at + 1:,}"),
        lambda dtype: percent(precision.distinct_positions(dtype, at + 1) / (at + 1)))  # fmt: skip
    return rows


def seen(at: int, behind: int) -> str:
    """How far the key stands from the query in bfloat16."""
    if behind == 0:
        return ""
    apart = held_at("bfloat16", at) - held_at("bfloat16", at - behind)
    if apart == behind:
        return say("A key {distance} back is seen at its distance.", distance=behind)
    if apart == 0:
        return say("A key {distance} back stands on the query’s own place.", distance=behind)
    return say("A key {distance} back is seen {apart} back.", distance=behind, apart=f"{apart:,}")


def spacing_formula(at: int) -> str:
    """The spacing of bfloat16 where its numbers are further apart than positions."""
    held = held_at("bfloat16", at)
    spacing = precision.spacing("bfloat16", at)
    if spacing == 1:
        return pictures.SPACING.markup()
    return pictures.SPACING.markup(spacing, e=held.bit_length() - 1,
                                   p=precision.SIGNIFICANT_BITS["bfloat16"])  # fmt: skip


# ------------------------------------------------------------------------------------------- angles


def label(way: str, dtype: str) -> str:
    """What is held in fewer bits."""
    return {
        "float32": say("nothing: all in float32"),
        "tables": say("only cos and sin"),
        "inv_freq": say("inv_freq, cos, sin"),
        "positions": say("positions, cos, sin"),
        "all": say("every step in {dtype}", dtype=dtype),
    }[way]


def casts(way: str, dtype: Dtype) -> Casts:
    """The same as dtypes of each step; the cosine comes in 16 bits, unless nothing does."""
    return {
        "float32": Casts(),
        "tables": Casts(tables=dtype),
        "inv_freq": Casts(inv_freq=dtype, tables=dtype),
        "positions": Casts(positions=dtype, tables=dtype),
        "all": Casts(dtype, dtype, dtype, dtype),
    }[way]


def look(way: str, dtype: Dtype) -> tuple[str, str, str]:
    """Colour, dash and kind in a legend."""
    own = {
        "float32": ("accent", "", "solid"), "tables": ("kept", "9px,2px", "dash"),
        "inv_freq": ("linear", "5px,4px", "dash"), "positions": ("ntk", "2px,2px", "dot"),
    }  # fmt: skip
    return own.get(way) or LOOKS[dtype]


@lru_cache(maxsize=512)
def worst(model: str, pair: int, way: str, dtype: Dtype) -> tuple[Any, Any]:
    """Positions, and the largest error of the cosine up to each."""
    end = min(END, precision.last_position(dtype)) if way in ("positions", "all") else END
    upto = distances.bins(end, 160, "log") + 1
    found = precision.worst_cosine_errors(casts(way, dtype), float(inv_freq(model)[pair]), upto + 1)
    return upto, found


def angles(v: live.Values) -> Slots:
    """Errors of a pair's cosine by position, and of all pairs' angles at one position."""
    dtype, way, pair, at = v["dtype"], v["held"], v["pair"], v["position"]
    frequencies = inv_freq(v["model"])
    chosen = casts(way, dtype)
    exact_angles = precision.cast_angles(EXACT, at, frequencies)
    exact, exact_cos = float(exact_angles[pair]), float(math.cos(exact_angles[pair]))
    held = float(precision.cast_angles(chosen, at, frequencies)[pair])
    held_cos = float(precision.cast_cosines(chosen, at, frequencies)[pair])
    shade = look(way, dtype)[0]
    lines, by_pair, rows, ends = [], [], [], []
    for each in HELD:
        colour, dash, kind = look(each, dtype)
        width = 3.2 if each == way else 1.7
        x, y = worst(v["model"], pair, each, dtype)
        lines.append(Curve(label(each, dtype), colour, dash, x, y, width))
        ends.append(f"{label(each, dtype)} {plain_text(number(float(y[-1])))}")
        off = abs(precision.cast_angles(casts(each, dtype), at, frequencies) - exact_angles)
        if each != "tables":  # its angles are float32's
            by_pair.append(Curve(label(each, dtype), colour, dash, list(range(len(off))), off,
                                 width))  # fmt: skip
        cos = float(precision.cast_cosines(casts(each, dtype), at, frequencies)[pair])
        named = pictures.swatch(label(each, dtype), colour, kind)
        rows.append((pictures.choose(each, named, chosen=each == way),
                     (number(float(off[pair])), decimal(cos),
                      number(abs(cos - exact_cos)))))  # fmt: skip
    lines.sort(key=lambda one: one.width)
    by_pair.sort(key=lambda one: one.width)
    judgement = judged(way, dtype, abs(held - exact), abs(held_cos - exact_cos))
    told = say("cos {right} became {held}", right=decimal(exact_cos), held=decimal(held_cos))
    where = say("position {at}, pair {pair}", at=f"{at:,}", pair=pair)
    scrambled = sum(one > math.pi / 2 for one in
                    abs(precision.cast_angles(chosen, at, frequencies) - exact_angles))  # fmt: skip
    return {
        "verdict": live.drawing(pictures.verdict(judgement, shade)),
        "hands": live.drawing(
            f'<div class="pv-precision-clock">{pictures.hands(exact, held, shade, alt=told)}<div>'
            f"<p>{where}</p><p>{say('angle')} <b>{angle(exact)}</b> {say('is held as')} "
            f"<b>{angle(held)}</b></p><p>cos {angle(exact)} = <b>{decimal(exact_cos)}</b><br>"
            f"cos {angle(held)} = <b>{decimal(math.cos(held))}</b></p></div></div>"
        ),
        "errors": live.figure(
            pictures.errors(lines, at, END, _=say),
            say("Largest error of the cosine of pair {pair} up to position {end}: {values}",
                pair=pair, end=f"{END:,}",
                values=", ".join(ends)),
        ),
        "errors:head": live.drawing(
            style.heading(say("Error of the cosine"),
                          say("pair {pair}, the largest so far", pair=pair))
        ),
        "by_pair": live.figure(
            pictures.by_pair(by_pair, pair, len(frequencies), _=say),
            say("Error of each pair’s angle at position {at}: in {count} of {pairs} pairs the hand "
                "is off by more than a quarter turn", at=f"{at:,}", count=scrambled,
                pairs=len(frequencies)),
        ),
        "by_pair:head": live.drawing(
            style.heading(say("Error of the angle, all pairs"),
                          say("at position {at}", at=f"{at:,}"))
        ),
        "ways": live.drawing(
            pictures.table([say("in {dtype}", dtype=dtype), say("angle off by"), say("cos"),
                            say("cos off by")], rows, alt=f"{where}: {told}")
        ),
        "caption": caption(
            say("With {way}, {count} of {pairs} pairs point more than a quarter turn away at "
                "position {at}.", way=f"<b>{label(way, dtype)}</b>", count=scrambled,
                pairs=len(frequencies), at=f"{at:,}"),
            harm(v, dtype), fast(exact),
        ),
        "formula": formula(
            pictures.COSINE.markup(abs(math.cos(held) - exact_cos), phi=held, m=at,
                                   theta_i=float(frequencies[pair]))
        ),
    }  # fmt: skip


def judged(way: str, dtype: Dtype, off: float, error: float) -> str:
    """Whether the chosen rounding matters here: what it does to the angle and to the cosine."""
    values = {"dtype": dtype, "off": number(off), "error": number(error)}
    if way == "float32":
        return say("float32 throughout: cos is off by {error}.", **values)
    if way == "tables":
        return say("Harmless: cos is rounded last, and off by {error}.", **values)
    if error > 0.1:
        return say("Harmful: the angle itself is wrong, cos is off by {error}.", **values)
    if off > 0.1:
        return say("The angle is off by {off} radians; cos happens to be near, {error} off.",
                   **values)  # fmt: skip
    if off > 2.0 ** -precision.SIGNIFICANT_BITS[dtype]:
        return say("The angle drifts, by {off} radians here; cos is off by {error}.", **values)
    return say("Not yet: here cos is off by {error}, about as much as rounding it costs.", **values)


def harm(v: live.Values, dtype: Dtype) -> str:
    """Rounding last stays bounded, rounding first does not."""
    least = float(worst(v["model"], v["pair"], "tables", dtype)[1][-1])
    most = float(worst(v["model"], v["pair"], v["held"], dtype)[1][-1])
    return say(
        "Over all positions, cos of pair {pair} is off by up to {most}; with only cos and sin in "
        "{dtype} by {least}.", pair=v["pair"], most=number(most), least=number(least), dtype=dtype,
    )  # fmt: skip


def fast(exact: float) -> str:
    """A note on fast sines, where their argument is large."""
    if exact <= FAST:
        return ""
    return say(
        "An angle past {limit} is also where fast hardware sines were reported to go wrong, even "
        "in float32.", limit=f"{FAST:,}",
    )  # fmt: skip


# --------------------------------------------------------------------------------------- invariance


def scored(way: str, dtype: Dtype, model: str, at: Any, behind: Any) -> Any:
    """Scores of q = k = (1, ..., 1), as shares of a perfect match."""
    frequencies = inv_freq(model)
    ones = [1.0] * (2 * len(frequencies))
    vectors, turned = dtypes(dtype)[way]
    return precision.relative_scores(vectors, ones, ones, at, behind, frequencies,
                                     angle_dtype=turned) / len(ones)  # fmt: skip


def dtypes(dtype: Dtype) -> dict[str, tuple[Dtype, Dtype]]:
    """What vectors and tables, and what angles are held in."""
    return {"exact": ("float64", "float64"), "float32": ("float32", "float32"),
            "tables": (dtype, "float32"), "all": (dtype, dtype)}  # fmt: skip


def said(way: str, dtype: Dtype) -> str:
    """The same in words."""
    return {"exact": say("float64"), "float32": say("all in float32"),
            "tables": say("{dtype}, angles in float32", dtype=dtype),
            "all": say("{dtype}, angles too", dtype=dtype)}[way]  # fmt: skip


@lru_cache(maxsize=256)
def along(way: str, dtype: Dtype, model: str, behind: int) -> tuple[Any, Any]:
    """Positions, and the score of one distance at each."""
    end = min(END, precision.last_position(dtype))
    at = distances.bins(end, 170, "log") + 1
    at = at[at >= behind]
    return at, scored(way, dtype, model, at, [behind])[:, 0]


def invariance(v: live.Values) -> Slots:
    """Scores by position and distance, which should be alike in every row."""
    dtype, model, at, behind = v["dtype"], v["model"], v["position"], v["distance"]
    end = min(END, precision.last_position(dtype))
    start = min(max(at - ROWS // 2, 0), end - ROWS + 1)
    rows, columns = range(start, start + ROWS), range(COLUMNS)
    found = {way: scored(way, dtype, model, rows, columns) for way in dtypes(dtype)}
    first = max(behind - start, 0)  # row from which the key exists
    told: dict[str, tuple[float, float, float]] = {}
    for way, scores in found.items():
        column = scores[first:, behind]
        told[way] = (float(scores[at - start, behind]), float(column.min()), float(column.max()))
    looks = {"exact": ("ink", "1px,3px", "dot"), "float32": ("accent", "", "solid"),
             "tables": ("kept", "9px,2px", "dash"), "all": LOOKS[dtype]}  # fmt: skip
    lines = [
        Curve(said(way, dtype), looks[way][0], looks[way][1], *along(way, dtype, model, behind),
              2.4 if way == "all" else 1.7)
        for way in ("all", "tables", "float32", "exact")
    ]  # fmt: skip
    low, high = told["all"][1:]
    shown = [
        (way, said(way, dtype), looks[way][0], found[way],
         say("{way}: distance {distance} scores from {low} to {high}", way=said(way, dtype),
             distance=behind, low=decimal(told[way][1]), high=decimal(told[way][2])))
        for way in ("tables", "all")
    ]  # fmt: skip
    markup, rasters = pictures.maps(shown, start, at, behind, _=say)
    span = say("positions {first}–{last}", first=f"{start + first:,}", last=f"{start + ROWS - 1:,}")
    broken = high - low > 0.1
    verdict = say("Distance {distance} scores the same wherever it is.", distance=behind)
    if broken:
        verdict = say(
            "One distance, {distance}, scores from {low} to {high} within {rows} tokens.",
            distance=behind,
            low=decimal(low),
            high=decimal(high),
            rows=ROWS - first,
        )
    elif high - low > 0.01:
        verdict = say(
            "Distance {distance} begins to score differently from place to place.", distance=behind
        )
    frequencies = inv_freq(model)
    rotary = presets.main_rotary(model)
    assert rotary is not None
    return {
        "verdict": live.drawing(
            pictures.verdict(verdict, LOOKS[dtype][0] if high - low > 0.01 else "accent")
        ),
        "maps": live.drawing(markup, rasters),
        "maps:head": live.drawing(
            style.heading(say("Score by place and distance"),
                          say("every row should look like the one above it"))
        ),
        "flat": live.figure(
            pictures.flat(lines, at, END, _=say),
            say("Score of distance {distance} by position; exact {exact}; {values}",
                distance=behind, exact=decimal(told["exact"][0]),
                values=", ".join(f"{said(way, dtype)} {decimal(told[way][0])}" for way in told)),
        ),
        "flat:head": live.drawing(
            style.heading(say("Distance {distance} at every position", distance=behind),
                          say("samples from the first token on"))
        ),
        "table": live.drawing(
            pictures.table(
                [say("vectors and angles"), say("score here"), say("spread")],
                [(pictures.swatch(said(way, dtype), looks[way][0], looks[way][2]),
                  (decimal(here), number(most - least)))
                 for way, (here, least, most) in told.items()],
                alt=f"{say('distance {distance}', distance=behind)}, {span}",
            )
        ),
        "table:head": live.drawing(
            style.heading(say("Distance {distance}", distance=behind),
                          say("spread over {span}", span=span))
        ),
        "caption": caption(
            say("Query and key move together, {distance} tokens apart, so the score must not move. "
                "With angles in float32 it stays within {small} although vectors are {dtype}; with "
                "angles in {dtype} it moves by {large}.", distance=behind, dtype=dtype,
                small=number(told["tables"][2] - told["tables"][1]), large=number(high - low)),
        ),
        "formula": formula(
            pictures.FLAT.markup(told["exact"][0], delta=behind, b=rotary.rope.rope_theta,
                                 d=2 * len(frequencies), half=len(frequencies))
        ),
    }  # fmt: skip


VIEW = live.View("precision", parameters, draw)
"""Precision: positions, angles and scores in fewer bits."""
