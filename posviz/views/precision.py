"""Fewer bits: positions that collide, angles that drift, scores that depend on the place."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from posviz import distance as distances
from posviz import params, precision, presets
from posviz.figures import precision as pictures
from posviz.figures import style
from posviz.figures.precision import Block, Curve
from posviz.figures.style import number, plain_text
from posviz.precision import EXACT, Casts, Dtype
from posviz.ui import live
from posviz.ui.text import joined, say, valued

PARTS = {"positions": "Positions", "angles": "Angles", "invariance": "Shifting both"}
HANDLES = {
    "positions": ("position", "distance", "around"),
    "angles": ("position", "pair"),
    "invariance": ("position", "distance"),
}
# Colour, dash and kind in a legend of each dtype.
LOOKS: dict[Dtype, tuple[str, str, str]] = {
    "float32": ("float32", "", "solid"),
    "bfloat16": ("bfloat16", "7px,3px", "dash"),
    "float16": ("float16", "2px,3px", "dot"),
}
SHORT: tuple[Dtype, ...] = ("bfloat16", "float16")
MODELS = ("Llama-2-7b-hf", "Meta-Llama-3-8B", "gemma-2b", "gpt-neox-20b")
TOP = 1 << 25  # last position: float32 gives out halfway
END = 131_071  # last position of the largest errors so far, which need all before it
ROWS, COLUMNS = 96, 128  # of a map of scores
FAST = 48_039  # radians up to which fast sines are said to keep their reduction
HELD = ("float32", "tables", "inv_freq", "positions", "all")
SLIGHT, GROSS = 0.01, 0.1  # errors of a score: more than rounding it, and to be seen in the map


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, what is held in fewer bits, and where one looks."""
    yield params.Choice("part", "Part", "positions", tuple(PARTS), tuple(PARTS.values()), "")
    yield params.Choice("dtype", "16 bits", "bfloat16", SHORT, tuple(map(params.Said, SHORT)), "")
    yield params.Choice(
        "model",
        "Model",
        MODELS[0],
        MODELS,
        tuple(params.Said(model_label(one)) for one in MODELS),
        "",
    )
    yield params.Choice("held", "Rounded", "all", HELD,
                        tuple(params.Said(label(way, say("16 bits"))) for way in HELD),
                        "")  # fmt: skip
    yield replace(params.POSITION, low=1, high=TOP, default=15_962, unit="",
                  help="Where the query stands: the number of tokens before it.")  # fmt: skip
    yield params.Number("distance", "Distance", 16, 0, COLUMNS - 1, 1, "tokens",
                        "How many tokens behind the query its key stands.",
                        ).within(high=min(COLUMNS - 1, v["position"]))  # fmt: skip
    yield params.Number("around", "Shown", 20, 4, 64, 1, "each side",
                        "How many positions are shown on either side.")  # fmt: skip
    pairs = inv_freq(v["model"]).size
    yield replace(params.PAIR, default=0, high=pairs - 1,
                  help="Which pair of dimensions; pair 0 is the fastest.")  # fmt: skip


def draw(part: str, **v: Any) -> live.Slots:
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


def positions(v: live.Values) -> live.Slots:
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
    if at > precision.last_exact_position("bfloat16"):
        verdict = say("In bfloat16, position {at} has a place to itself; its neighbours share.",
                      at=f"{at:,}")  # fmt: skip
    if crowd > 1:
        verdict = say("In bfloat16, {count} tokens stand on the same place: {held}.",
                      count=f"{crowd:,}", held=f"{held_at('bfloat16', at):,}")  # fmt: skip
    return {
        "verdict": live.drawing(pictures.verdict(verdict, "bfloat16" if crowd > 1 else "float32")),
        "ruler": live.drawing(pictures.ruler(start, count, at, key, rows, alt=told, _=say)),
        "distinct": live.figure(
            pictures.distinct([distinct(dtype) for dtype in LOOKS], at + 1, TOP, _=say),
            say("Different numbers by length; at {length} tokens: {counts}", length=f"{at + 1:,}",
                counts=joined(f"{dtype} {many(dtype, at)}" for dtype in LOOKS)),
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
            say("bfloat16 keeps the {bits} leading binary digits of a number, its significand: "
                "enough for every whole number up to {exact}; from there on its steps double at "
                "each power of two.", bits=precision.SIGNIFICANT_BITS["bfloat16"],
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

    def ahead(dtype: Dtype) -> str:
        spacing = precision.spacing(dtype, at)
        return "–" if spacing is None else f"{spacing:,}"

    rows.append((say("leading binary digits kept"),
                 [str(precision.SIGNIFICANT_BITS[dtype]) for dtype in LOOKS]))  # fmt: skip
    rows.append((say("exact up to"),
                 [f"{precision.last_exact_position(dtype):,}" for dtype in LOOKS]))  # fmt: skip
    rows.append((say("{at} becomes", at=f"{at:,}"),
                 [f"{held_at(d, at):,}" if holds(d, at) else say("too large")
                  for d in LOOKS]))  # fmt: skip
    row(say("positions on that number"), crowd)
    row(say("to the next number"), ahead)
    row(say("distance {distance} becomes", distance=behind),
        lambda dtype: f"{held_at(dtype, at) - held_at(dtype, at - behind):,}")  # fmt: skip
    row(say("told apart, of {count}", count=f"{at + 1:,}"), lambda dtype: many(dtype, at))
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
    if spacing is None or spacing == 1:
        return pictures.SPACING.markup(say)
    return pictures.SPACING.markup(say, spacing, e=held.bit_length() - 1,
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
        "float32": LOOKS["float32"], "tables": ("quiet", "9px,2px", "dash"),
        "inv_freq": ("rounded_inv_freq", "5px,4px", "dash"),
        "positions": ("rounded_positions", "2px,2px", "dot"),
    }  # fmt: skip
    return own.get(way) or LOOKS[dtype]


@lru_cache(maxsize=512)
def worst(model: str, pair: int, way: str, dtype: Dtype) -> tuple[Any, Any]:
    """Positions, and the largest error of the cosine up to each."""
    end = min(END, precision.last_position(dtype)) if way in ("positions", "all") else END
    upto = distances.bins(end, 160, "log") + 1
    found = precision.worst_cosine_errors(casts(way, dtype), float(inv_freq(model)[pair]), upto + 1)
    return upto, found


def reaches(way: str, dtype: Dtype, position: int) -> bool:
    """Whether the position can be held as that way does."""
    return way not in ("positions", "all") or holds(dtype, position)


def ended(dtype: Dtype, at: int) -> str:
    """Why there is no picture of a position."""
    return say(
        "{dtype} has no number for position {at}: from {end} on, positions become infinite and "
        "have no cosine.", dtype=dtype, at=f"{at:,}", end=f"{precision.last_position(dtype) + 1:,}",
    )  # fmt: skip


def angles(v: live.Values) -> live.Slots:
    """Errors of a pair's cosine by position, and of all pairs' angles at one position."""
    dtype, way, pair, at = v["dtype"], v["held"], v["pair"], v["position"]
    frequencies = inv_freq(v["model"])
    exact_angles = precision.cast_angles(EXACT, at, frequencies)
    exact, exact_cos = float(exact_angles[pair]), float(math.cos(exact_angles[pair]))
    where = say("position {at}, pair {pair}", at=f"{at:,}", pair=pair)
    lines, by_pair, rows, ends = [], [], [], []
    for each in HELD:
        colour, dash, kind = look(each, dtype)
        width = 3.2 if each == way else 1.7
        x, y = worst(v["model"], pair, each, dtype)
        lines.append(Curve(label(each, dtype), colour, dash, x, y, width))
        ends.append(f"{label(each, dtype)} {plain_text(number(float(y[-1])))}")
        named = pictures.swatch(label(each, dtype), colour, kind)
        told = ("–", "–", "–")
        if reaches(each, dtype, at):
            off = abs(precision.cast_angles(casts(each, dtype), at, frequencies) - exact_angles)
            cos = float(precision.cast_cosines(casts(each, dtype), at, frequencies)[pair])
            told = (number(float(off[pair])), decimal(cos), number(abs(cos - exact_cos)))
            if each != "tables":  # its angles are float32's
                by_pair.append(Curve(label(each, dtype), colour, dash, list(range(len(off))), off,
                                     width))  # fmt: skip
        rows.append((pictures.choose(each, named, chosen=each == way), told))
    lines.sort(key=lambda one: one.width)
    by_pair.sort(key=lambda one: one.width)
    return {
        **(at_one if reaches(way, dtype, at) else past_the_last)(v, exact_angles, where),
        "errors": live.figure(
            pictures.errors(lines, at, END, _=say),
            say("Largest error of the cosine of pair {pair} up to position {end}: {values}",
                pair=pair, end=f"{END:,}",
                values=joined(ends)),
        ),
        "errors:head": live.drawing(
            style.heading(say("Error of the cosine"),
                          say("pair {pair}, the largest so far", pair=pair))
        ),
        "by_pair": live.figure(
            pictures.by_pair(by_pair, pair, len(frequencies), _=say),
            say("Error of each pair’s angle at position {at}. {told}", at=f"{at:,}",
                told=astray(v, exact_angles)),
        ),
        "by_pair:head": live.drawing(
            style.heading(say("Error of the angle, all pairs"),
                          say("at position {at}, whole turns included", at=f"{at:,}"))
        ),
        "ways": live.drawing(
            pictures.table([say("in {dtype}", dtype=dtype), say("angle off by"), say("cos"),
                            say("cos off by")], rows, alt=where)
        ),
        "caption": caption(astray(v, exact_angles), harm(v, dtype), fast(exact)),
    }  # fmt: skip


def at_one(v: live.Values, exact_angles: Any, where: str) -> live.Slots:
    """What the chosen rounding makes of the chosen pair's angle."""
    dtype, way, pair = v["dtype"], v["held"], v["pair"]
    frequencies, chosen = inv_freq(v["model"]), casts(way, dtype)
    exact, exact_cos = float(exact_angles[pair]), float(math.cos(exact_angles[pair]))
    held = float(precision.cast_angles(chosen, v["position"], frequencies)[pair])
    held_cos = float(precision.cast_cosines(chosen, v["position"], frequencies)[pair])
    shade = look(way, dtype)[0]
    told = say("cos {right} became {held}", right=decimal(exact_cos), held=decimal(held_cos))
    judgement = judged(way, dtype, abs(held - exact), abs(held_cos - exact_cos))
    return {
        "verdict": live.drawing(pictures.verdict(judgement, shade)),
        "hands": live.drawing(pictures.clock(
            pictures.hands(exact, (held, shade), alt=valued(where, told)), where,
            f"{say('angle')} <b>{angle(exact)}</b> {say('is held as')} <b>{angle(held)}</b>",
            f"cos {angle(exact)} = <b>{decimal(exact_cos)}</b><br>"
            f"cos {angle(held)} = <b>{decimal(math.cos(held))}</b>",
        )),
        "formula": formula(
            pictures.COSINE.markup(say, abs(math.cos(held) - exact_cos), phi=held, m=v["position"],
                                   theta_i=float(frequencies[pair]))
        ),
    }  # fmt: skip


def past_the_last(v: live.Values, exact_angles: Any, where: str) -> live.Slots:
    """The same where there is no number for the position."""
    dtype, exact = v["dtype"], float(exact_angles[v["pair"]])
    told = f"cos {angle(exact)} = <b>{decimal(math.cos(exact))}</b>"
    return {
        "verdict": live.drawing(
            pictures.verdict(ended(dtype, v["position"]), look(v["held"], dtype)[0])
        ),
        "hands": live.drawing(pictures.clock(
            pictures.hands(exact, None, alt=f"{where}: cos {decimal(math.cos(exact))}"), where,
            f"{say('angle')} <b>{angle(exact)}</b> {say('is too large')}", told,
        )),
        "formula": formula(pictures.COSINE.markup(say)),
    }  # fmt: skip


def astray(v: live.Values, exact_angles: Any) -> str:
    """How many pairs point elsewhere."""
    dtype, way, at = v["dtype"], v["held"], v["position"]
    if not reaches(way, dtype, at):
        return ended(dtype, at)
    held = precision.cast_angles(casts(way, dtype), at, inv_freq(v["model"]))
    apart = precision.between_hands(held, exact_angles)
    return say(
        "With {way}, {count} of {pairs} pairs point more than a quarter turn away at position "
        "{at}; whole turns do not count.", way=label(way, dtype),
        count=sum(one > math.pi / 2 for one in apart), pairs=len(apart), at=f"{at:,}",
    )  # fmt: skip


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
        "In the upper chart cos of pair {pair} is off by up to {most}; with only cos and sin in "
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


def reached(way: str, dtype: Dtype) -> int:
    """Last position that can be held as that way does."""
    return min(TOP, precision.last_position(dtypes(dtype)[way][1]))


@lru_cache(maxsize=256)
def along(way: str, dtype: Dtype, model: str, behind: int) -> tuple[Any, Any]:
    """Positions, and the score of one distance at each."""
    at = distances.bins(reached(way, dtype), 200, "log") + 1
    at = at[at >= behind]
    return at, scored(way, dtype, model, at, [behind])[:, 0]


@dataclass(frozen=True)
class Told:
    """Scores of one distance: at the position, and within the positions in view.

    Attributes:
        here: At the position.
        low: The lowest in view.
        high: The highest in view.
        off: The largest error in view.
    """

    here: float
    low: float
    high: float
    off: float


def invariance(v: live.Values) -> live.Slots:
    """Scores by position and distance, which should be alike in every row, and right."""
    dtype, model, at, behind = v["dtype"], v["model"], v["position"], v["distance"]
    ways = [way for way in dtypes(dtype) if at <= reached(way, dtype)]
    end = min(reached(way, dtype) for way in ways)
    start = min(max(at - ROWS // 2, 0), end - ROWS + 1)
    rows, columns = range(start, start + ROWS), range(COLUMNS)
    found = {way: scored(way, dtype, model, rows, columns) for way in ways}
    first = max(behind - start, 0)  # row from which the key exists
    told: dict[str, Told] = {}
    for way, scores in found.items():
        column, exact = scores[first:, behind], found["exact"][first:, behind]
        told[way] = Told(float(scores[at - start, behind]), float(column.min()),
                         float(column.max()), float(abs(column - exact).max()))  # fmt: skip
    looks = {"exact": ("ink", "1px,3px", "dot"), "float32": LOOKS["float32"],
             "tables": ("quiet", "9px,2px", "dash"), "all": LOOKS[dtype]}  # fmt: skip
    lines = [
        Curve(said(way, dtype), looks[way][0], looks[way][1], *along(way, dtype, model, behind),
              2.4 if way == "all" else 1.7)
        for way in ("all", "tables", "float32", "exact")
    ]  # fmt: skip
    shown = [
        (way, said(way, dtype), looks[way][0], found.get(way),
         say("{way}: distance {distance} scores from {low} to {high}, off by up to {off}",
             way=said(way, dtype), distance=behind, low=decimal(told[way].low),
             high=decimal(told[way].high), off=plain_text(number(told[way].off)))
         if way in told else ended(dtype, at))
        for way in ("tables", "all")
    ]  # fmt: skip
    markup, rasters = pictures.maps(shown, start, at, behind, _=say)
    span = say("positions {first}–{last}", first=f"{start + first:,}", last=f"{start + ROWS - 1:,}")
    verdict, shade = ended(dtype, at), LOOKS[dtype][0]
    if "all" in told:
        verdict = weighed(behind, span, told["all"], told["exact"].here)
        shade = "float32" if told["all"].off <= SLIGHT else shade
    rotary = presets.main_rotary(model)
    assert rotary is not None
    return {
        "verdict": live.drawing(pictures.verdict(verdict, shade)),
        "maps": live.drawing(markup, rasters),
        "maps:head": live.drawing(
            style.heading(say("Score by place and distance"),
                          say("all rows should be alike, and both maps"))
        ),
        "flat": live.figure(
            pictures.flat(lines, at, TOP, _=say),
            say("Score of distance {distance} at position {at}: {values}",
                distance=behind, at=f"{at:,}",
                values=joined(f"{said(way, dtype)} {decimal(told[way].here)}" for way in told)),
        ),
        "flat:head": live.drawing(
            style.heading(say("Distance {distance} at every position", distance=behind),
                          say("samples from the first token on"))
        ),
        "table": live.drawing(
            pictures.table(
                [say("vectors and angles"), say("score here"), say("off by"), say("moves by")],
                [(pictures.swatch(said(way, dtype), looks[way][0], looks[way][2]),
                  numbers(told.get(way))) for way in dtypes(dtype)],
                alt=f"{say('distance {distance}', distance=behind)}, {span}",
            )
        ),
        "table:head": live.drawing(
            style.heading(say("Distance {distance}", distance=behind),
                          say("the most over {span}", span=span))
        ),
        "caption": caption(*moved(v, told, span)),
        "formula": formula(
            pictures.FLAT.markup(say, told["exact"].here, delta=behind, b=rotary.rope.rope_theta,
                                 d=rotary.rope.rotary_dim, half=rotary.rope.rotary_dim // 2)
        ),
    }  # fmt: skip


def weighed(behind: int, span: str, told: Told, right: float) -> str:
    """Whether scores of the distance in view are alike, and right; both can fail alone."""
    low, high = decimal(told.low), decimal(told.high)
    values = {"distance": behind, "span": span, "low": low, "high": high, "right": decimal(right)}
    if told.high - told.low > GROSS:
        return say("One distance, {distance}, scores from {low} to {high} at {span}.", **values)
    if told.off > GROSS:
        values["held"] = low if low == high else say("{low} to {high}", **values)
        return say("Distance {distance} scores {held} at {span}, where {right} is right.", **values)
    if told.high - told.low > SLIGHT:
        return say("Distance {distance} begins to score differently from place to place at {span}.",
                   **values)  # fmt: skip
    if told.off > SLIGHT:
        return say("Distance {distance} scores alike at {span}, but off by {off}.",
                   off=number(told.off), **values)  # fmt: skip
    return say("Distance {distance} scores as it should at {span}.", **values)


def numbers(one: Told | None) -> tuple[str, str, str]:
    """A row of the table; dashes where there is no number."""
    if one is None:
        return "–", "–", "–"
    return decimal(one.here), number(one.off), number(one.high - one.low)


def moved(v: live.Values, told: dict[str, Told], span: str) -> Iterator[str]:
    """What becomes of the score when query and key move together."""
    dtype = v["dtype"]
    yield say("Query and key move together, {distance} tokens apart, so the score must stay "
              "{right}.", distance=v["distance"], right=decimal(told["exact"].here))  # fmt: skip
    yield say("At {span} it is off by up to {off} if only vectors are {dtype}.",
              span=span, off=number(told["tables"].off), dtype=dtype)  # fmt: skip
    if "all" in told:
        one = told["all"]
        yield say("With angles in {dtype} too it is off by up to {off}, and moves by {moved}.",
                  off=number(one.off), moved=number(one.high - one.low), dtype=dtype)  # fmt: skip


VIEW = live.View("precision", parameters, draw)
"""Precision: positions, angles and scores in fewer bits."""
