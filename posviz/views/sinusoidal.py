"""The view of sinusoids: their table, their counter, their distances, and rows past training."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posviz import distance as intervals
from posviz import measured, params, rope, sinusoidal
from posviz.figures import sinusoidal as pictures
from posviz.figures import style
from posviz.figures.style import counted, number, plain_text
from posviz.ui import live
from posviz.ui.text import say, valued
from posviz.views import snippets

PARTS = {"table": "The table", "counter": "A soft counter", "distance": "Distance",
         "beyond": "Past training"}  # fmt: skip
HANDLES = {
    "table": ("position", "dimension", "seq_len", "d_model", "base"),
    "counter": ("position", "bits", "base"),
    "distance": ("position", "shift", "dimension", "d_model", "base"),
    "beyond": ("position", "original_max_position_embeddings", "seq_len", "d_model", "base"),
}
LAB = "names-sinusoidal"
CHECKED = 512  # positions at which the shift is checked
REACH = 256  # offsets that the dot product shows, to both sides
SEQ_LEN = params.Number(
    "seq_len", "Table rows", 512, 16, 2048, 1, "",
    "Rows of the table, one for each position from 0 on.",
)  # fmt: skip
D_MODEL = replace(
    params.HEAD_DIM, name="d_model", label="Width d", unit="",
    help="Width of the table (d_model); each two columns share one frequency.",
)  # fmt: skip
BASE = replace(
    params.ROPE_THETA, name="base", low=2.0,
    help="Base of the frequencies: a larger one slows every pair but the first.",
)  # fmt: skip
POSITION = replace(
    params.POSITION, scale="linear", unit="", help="Which row of the table is read.",
)  # fmt: skip
DIMENSION = replace(
    params.PAIR, name="dimension", label="Dimension", default=40, high=255,
    help="Which column of the table is read; its pair is enlarged.",
)  # fmt: skip
SHIFT = replace(
    params.SHIFT, label="Shift k", default=12, low=-REACH, high=REACH, scale="linear",
    help="How far the second position stands after the first; before it, if negative.",
)  # fmt: skip
TRAINED = replace(
    params.TRAINED_CONTEXT, label="Trained", default=measured.TRAINED_LENGTH, low=16, high=2048,
    scale="linear", help="Positions that training met, from 0 on.",
)  # fmt: skip
BITS = params.Number(
    "bits", "Bits", 6, 4, 8, 1, "", "Digits of the counter, and pairs of the encoding beside it.",
)  # fmt: skip
# Where each part begins: the row, and the column; the latter a wave too slow for training to meet.
START = {"table": 100, "counter": 37, "distance": 100, "beyond": 400}
CHOSEN = {"table": 40, "counter": 40, "distance": 8, "beyond": 64}


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, the choices and the handles; each part begins where it makes its point."""
    yield params.Choice("part", "Part", "table", tuple(PARTS), tuple(PARTS.values()), "")
    yield params.Choice(
        "spacing", "Wavelengths", "paper", ("paper", "tensor2tensor"),
        ("paper’s wavelengths", "tensor2tensor’s"), "",
    )  # fmt: skip
    yield params.Choice(
        "layout", "Columns", "interleaved", sinusoidal.LAYOUTS,
        ("sine, cosine, sine, …", "sines, then cosines"), "",
    )  # fmt: skip
    part = v["part"]
    yield BITS
    yield replace(SEQ_LEN, default=1024 if part == "beyond" else SEQ_LEN.default)
    yield D_MODEL
    counting = part == "counter"
    twice = sinusoidal.base_of_ratio(2.0, 2 * int(v["bits"]), v["spacing"])
    yield replace(BASE, default=twice if counting else BASE.default)
    rows = 2 ** v["bits"] if counting else v["seq_len"]
    yield POSITION.within(high=rows - 1, default=START[part])
    yield DIMENSION.within(high=v["d_model"] - 1, default=CHOSEN[part])
    yield SHIFT
    yield TRAINED


@dataclass(frozen=True)
class Scene:
    """What the choices and handles mean together; one field per parameter, by its name."""

    part: str
    spacing: sinusoidal.Spacing
    layout: sinusoidal.Layout
    bits: int
    seq_len: int
    d_model: int
    base: float
    position: int
    dimension: int
    shift: int
    original_max_position_embeddings: int

    @property
    def trained(self) -> int:
        return self.original_max_position_embeddings

    @property
    def pairs(self) -> int:
        return self.d_model // 2

    @cached_property
    def table(self) -> pictures.Floats:
        return sinusoidal.table(self.seq_len, self.d_model, self.base, self.layout, self.spacing)

    @cached_property
    def columns(self) -> tuple[pictures.Whole, pictures.Whole]:
        return sinusoidal.columns(self.d_model, self.layout)

    @cached_property
    def inv_freq(self) -> pictures.Floats:
        return sinusoidal.inv_freq(self.d_model, self.base, self.spacing)

    @cached_property
    def wavelengths(self) -> pictures.Floats:
        return rope.wavelength(self.inv_freq)

    @property
    def kind(self) -> str:
        return "sine" if self.dimension in self.columns[0] else "cosine"

    @cached_property
    def pair(self) -> int:
        own = self.columns[0 if self.kind == "sine" else 1]
        return int(own.tolist().index(self.dimension))

    @property
    def value(self) -> float:
        """What the table says in the chosen row and column."""
        return float(self.table[self.position, self.dimension])

    @property
    def symbols(self) -> dict[str, float]:
        """Numbers of the formulas, by their names there."""
        own = {"i": self.pair, "b": self.base}
        return own | ({"d": self.d_model} if self.spacing == "paper" else
                      {"m": max(self.pairs - 1, 1)})  # fmt: skip

    @cached_property
    def slow(self) -> Any:
        """Pairs without a whole turn in training, as flags."""
        return sinusoidal.never_completed(self.trained, self.d_model, self.base, self.spacing)

    def clocks(self, unseen: Any = None) -> pictures.Clocks:
        angle = self.position * self.inv_freq
        return pictures.Clocks(angle, self.inv_freq, self.wavelengths, *self.columns, unseen)


SCALE = [("−1", "negative", "solid"), ("1", "positive", "solid")]


def captioned(sentence: str, *formulas: str) -> live.Picture:
    """What to look for, and the formulas under it."""
    below = "".join(
        f'<p class="pv-formula pv-sinusoidal-formula">{formula}</p>' for formula in formulas
    )
    return live.drawing(style.caption(sentence) + below)


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    return {"table": the_table, "counter": counter, "distance": distance, "beyond": beyond}[
        scene.part
    ](scene)


# ---------------------------------------------------------------------------------- the table


def mapped(scene: Scene, **more: Any) -> live.Picture:
    """The heat map with the chosen row and column beside it."""
    told = say("Table of {rows} positions by {columns} dimensions; at position {position}, "
               "dimension {dimension} it says {value}",
               rows=scene.seq_len, columns=scene.d_model, position=scene.position,
               dimension=scene.dimension, value=f"{scene.value:.4f}")  # fmt: skip
    return live.drawing(
        *pictures.table(
            scene.table, position=scene.position, dimension=scene.dimension,
            sines=scene.columns[0], cosines=scene.columns[1], alt=told, _=say, **more,
        )
    )  # fmt: skip


def the_table(scene: Scene) -> live.Slots:
    """The heat map, its row and column, and the clocks of the row."""
    slowest, limit = float(scene.wavelengths[-1]), sinusoidal.longest_wavelength(scene.base)
    if scene.pairs == 1:
        reached = say("a single pair")
    elif scene.spacing == "paper":
        reached = say("never 2π × base = {limit}", limit=number(limit))
    else:
        reached = say("which is 2π × base")
    crossing = say("position {position}, dimension {dimension}: {value}",
                   position=number(scene.position), dimension=scene.dimension,
                   value=number(round(scene.value, 4)))  # fmt: skip
    ends = say("wavelengths from {first} to {last} tokens, {reached}", reached=reached,
               first=number(float(scene.wavelengths[0])), last=number(slowest))  # fmt: skip
    entry = pictures.ENTRY[scene.kind, scene.spacing]
    wave = pictures.WAVELENGTH[scene.spacing]
    symbols = scene.symbols
    key = [(say("sine"), pictures.SINE, "solid"), (say("cosine"), pictures.COSINE, "solid")]
    stripes = say("Left to right the stripes widen, because each pair of columns turns {ratio} "
                  "times slower than the one before. Arches on the left are no part of any column: "
                  "there neighbours are far out of step, and the eye joins them.",
                  ratio=f"{sinusoidal.ratio(scene.d_model, scene.base, scene.spacing):.4g}",
                  )  # fmt: skip
    if scene.pairs == 1:
        stripes = say("Two columns are a single clock, its sine and its cosine, whatever the base; "
                      "a wider table adds slower ones.")  # fmt: skip
    reading = say("The row under the map is added to the token at position {position}; drag over "
                  "the map to read another.", position=number(scene.position))  # fmt: skip
    return {
        "table": mapped(scene),
        "table:head": live.drawing(style.heading(say("The table"), crossing, SCALE)),
        "clocks": live.drawing(
            pictures.clocks(scene.clocks(), position=scene.position, pair=scene.pair, _=say)
        ),
        "clocks:head": live.drawing(style.heading(say("The same row as clocks"), ends, key)),
        "caption": captioned(
            f"{stripes} {reading}",
            entry.markup(say, scene.value, p=scene.position, **symbols),
            wave.markup(say, float(scene.wavelengths[scene.pair]), **symbols),
        ),
    }  # fmt: skip


# -------------------------------------------------------------------------------- the counter


def counter(scene: Scene) -> live.Slots:
    """A binary counter beside the sines that count as it does."""
    count, p = scene.bits, scene.position
    width, rows = 2 * count, range(2**count)
    every = list(rows)
    bits, waves = sinusoidal.bits(every, count), sinusoidal.bit_waves(every, count)
    sines = sinusoidal.encoding(every, width, scene.base, "halves", scene.spacing)[:, :count]
    turned = sinusoidal.bits(sinusoidal.half_turns(every), count)
    signs = sinusoidal.sign_bits(every, width, scene.base, scene.spacing)
    same, alike = (
        int((bits == (waves < 0)).all(axis=1).sum()),
        int((signs == turned).all(axis=1).sum()),
    )
    ratio = sinusoidal.ratio(width, scene.base, scene.spacing)
    twice = sinusoidal.base_of_ratio(2.0, width, scene.spacing)
    wavelength = rope.wavelength(sinusoidal.inv_freq(width, scene.base, scene.spacing))
    periods = sinusoidal.bit_periods(count)
    places = list(zip(range(count), periods.tolist(), waves[p].tolist(), bits[p].tolist(),
                      wavelength.tolist(), sines[p].tolist(), signs[p].tolist(),
                      turned[p].tolist(), strict=True))  # fmt: skip
    half = int(sinusoidal.half_turns(p))
    written = say("{p} = {digits} in binary, here from the bottom up", p=p, digits=f"{p:0{count}b}")
    rate = say("each pair {ratio} times slower than the one before",
               ratio=f"{ratio:.6g}")  # fmt: skip
    told = {"same": same, "alike": alike, "rows": len(every), "base": number(scene.base),
            "ratio": f"{ratio:.6g}"}  # fmt: skip
    first = say(
        "<b>The counter:</b> a bit is 1 exactly where a sine of its period, read half a token "
        "on, is negative: {same} of {rows} positions, every bit.", **told,
    )  # fmt: skip
    if scene.base == twice:
        second = say(
            "<b>The encoding:</b> with base {base} its wavelengths double as the periods do, but "
            "from 2π tokens, not 2. The signs of its sines are the digits of ⌊p/π⌋ at {alike} of "
            "{rows} positions: it counts half turns of the fastest clock.", **told,
        )  # fmt: skip
        other = say("Try the usual base 10,000"), BASE.default
    else:
        second = say(
            "<b>The encoding:</b> with base {base} each pair is {ratio} times slower, not 2, and "
            "the signs are the digits of ⌊p/π⌋ at {alike} of {rows} positions: clocks in "
            "another ratio, no binary counter.", **told,
        )  # fmt: skip
        other = say("Make the ratio 2: base {base}", base=number(twice)), twice
    button = (f'<button type="button" class="pv-link" data-set="base={other[1]:g}">'
              f"{other[0]}</button>")  # fmt: skip
    return {
        "counter": live.drawing(
            *pictures.counter(bits, waves, sines, turned, position=p, _=say,
                              alt=f"{written}; ⌊{p}/π⌋ = {half}")
        ),
        "counter:head": live.drawing(style.heading(
                say("A counter and the encoding"), rate,
                [(say("0, or above zero"), "positive", "solid"),
                 (say("1, or below zero"), "negative", "solid")],
            )
        ),
        "digits": live.drawing(pictures.digits(places, say)),
        "digits:head": live.drawing(
            style.heading(say("Position {p}, digit by digit", p=p), written)
        ),
        "caption": captioned(
            f"{first} {second} {button}",
            pictures.BIT_WAVE.markup(say, float(waves[p, 1]), p=p, i=1),
            pictures.HALF_TURNS.markup(say, half, p=p),
        ),
    }  # fmt: skip


# ------------------------------------------------------------------- distance and the shift


def distance(scene: Scene) -> live.Slots:
    """The dot product by offset, and the matrix that moves every position by k."""
    k, p, d = scene.shift, scene.position, scene.d_model
    offsets, peak = range(-REACH, REACH + 1), float(sinusoidal.dot_product(0, d))
    products = sinusoidal.dot_product(list(offsets), d, scene.base, scene.spacing)
    here, there = sinusoidal.encoding([p, p + k], d, scene.base, scene.layout, scene.spacing)
    matrix = sinusoidal.shift_matrix(k, d, scene.base, scene.layout, scene.spacing)
    turned = matrix @ here
    residual = sinusoidal.shift_residual(k, CHECKED, d, scene.base, scene.layout, scene.spacing)
    value = float(products[offsets.index(k)])
    mine, widest = float(abs(there - turned).max()), float(residual.max())
    angle = k * float(scene.inv_freq[scene.pair])
    reading = say("{peak} = d/2 at 0; {value} at k = ±{k}", peak=number(peak),
                  value=number(round(value, 4)), k=number(abs(k)))  # fmt: skip
    check = say("PE[{there}] = M<sub>k</sub> PE[{here}], largest residual {mine}",
                there=number(p + k), here=number(p), mine=number(mine))  # fmt: skip
    turns = say("k = {k}; pair {pair} turns by {angle} rad", k=number(k), pair=scene.pair,
                angle=number(angle))  # fmt: skip
    return {
        "product": live.figure(
            pictures.product(offsets, products / peak, k, value, peak, say),
            valued(say('Dot product by offset'), plain_text(reading)),
        ),
        "product:head": live.drawing(
            style.heading(say("Two rows of the table, k apart"), reading)
        ),
        "matrix": live.drawing(
            *pictures.shift(matrix, dimension=scene.dimension, _=say,
                            alt=plain_text(f"M: {turns}"))
        ),
        "matrix:head": live.drawing(style.heading(say("M<sub>k</sub>, the shift"), turns)),
        "moved": live.drawing(
            *pictures.moved(here, turned, there, position=p, k=k, _=say, alt=plain_text(check))
        ),
        "moved:head": live.drawing(style.heading(say("The shift at work"), check)),
        "caption": captioned(
            (say("The curve says the same at +{away} and −{away}: a dot product cannot tell before "
                 "from after.", away=number(abs(k))) + " " if k else "") +
            say("Drag position: M<sub>k</sub> stays as it is. The same matrix takes every position "
                "k = {k} on, a block of four numbers for each pair; over the first {count} "
                "positions it misses by at most {widest}, which is rounding.",
                k=number(k), count=CHECKED, widest=number(widest)),
            pictures.block(angle, scene.pair),
            pictures.PRODUCT.markup(say, value, k=k, n=scene.pairs),
        ),
    }  # fmt: skip


# ------------------------------------------------------------------------------ past training


def beyond(scene: Scene) -> live.Slots:
    """The table past the trained length, its clocks there, and what a trained model made of it."""
    p, trained, slow = scene.position, scene.trained, int(scene.slow.sum())
    is_past = p >= trained
    at = intervals.bins(8 * trained + 1, 500, "log")[1:]  # a logarithmic axis has no 0
    spaced = (trained, scene.d_model, scene.base, scene.spacing)
    likeness = sinusoidal.likeness_to_trained(at, *spaced)
    here = float(sinusoidal.likeness_to_trained(p, *spaced))
    found = measured.loss_share(LAB)
    assert found is not None
    times, share = found
    longer = measured.LENGTHS[measured.LENGTHS.index(measured.TRAINED_LENGTH) + 1]
    several = counted(scene.pairs, "1 pair", "{count} pairs", say)
    state = counted(scene.pairs, "its only pair makes a whole turn in training",
                    "all {count} pairs make a whole turn in training", say)  # fmt: skip
    if slow:
        one, more = ("{slow} of {pairs} makes no whole turn in training",
                     "{slow} of {pairs} make no whole turn in training")  # fmt: skip
        if is_past:
            one, more = ("{slow} of {pairs} stands at angles never met",
                         "{slow} of {pairs} stand at angles never met")  # fmt: skip
        state = say(one if slow == 1 else more, slow=slow, pairs=several)
    turned = float(rope.turns(scene.inv_freq, trained)[scene.pair])
    about = say("{turns} turns in training", turns=number(turned))
    if scene.slow[scene.pair] and is_past:
        about = say("unseen: training ended at {turns} turns", turns=number(turned))
    reading = say("row {p}: {here} % like its nearest trained row", p=number(p),
                  here=f"{100 * here:.0f}")  # fmt: skip
    first = say("The formula gives row {p} as easily as row 0, so the table never ends.",
                p=number(p))  # fmt: skip
    if is_past and f"{100 * here:.0f}" == "100":
        second = say("The row of training most like it is 100 % like it (likeness: the cosine of "
                     "two rows): by its numbers it looks like a place already seen.")  # fmt: skip
    elif is_past:
        second = say("But no row of training is more than {here} % like it (likeness: the cosine "
                     "of two rows), and the weights never met it.",
                     here=f"{100 * here:.0f}")  # fmt: skip
    elif trained < scene.seq_len:
        second = say("Training met it; drag position past {trained}.", trained=number(trained))
    elif trained < SEQ_LEN.high:
        second = say("Training met it, and every row here: give the table more than {trained} rows "
                     "to look past it.", trained=number(trained))  # fmt: skip
    else:
        second = say("Training met it, and every row here: set Trained below {rows} to look past "
                     "it.", rows=number(scene.seq_len))  # fmt: skip
    third = say("Measured on a tiny trained model: at {longer} tokens, {times}× its trained "
                "{length}, its loss is {share} % of the way from the best possible to guessing.",
                length=measured.TRAINED_LENGTH, share=f"{100 * share[1]:.0f}",
                longer=number(longer),
                times=f"{times[1]:.2g}")  # fmt: skip
    return {
        "table": mapped(scene, trained=trained, fingerprint=False,
                        repeats=not scene.slow[scene.pair]),
        "table:head": live.drawing(
            style.heading(say("The table goes on"),
                          say("trained up to position {last}", last=number(trained - 1)))
        ),
        "likeness": live.figure(
            pictures.beyond(at / trained, likeness, found, p / trained, say),
            valued(say('How far from training'), reading),
        ),
        "likeness:head": live.drawing(
            style.heading(
                say("How far from training"), reading,
                [(say("most alike row of training"), "sinusoidal", "solid"),
                 (say("measured loss of a tiny model, 100 % = guessing"), "measured", "dash")],
            )
        ),
        "clocks": live.drawing(
            pictures.clocks(scene.clocks(scene.slow & is_past), position=p, pair=scene.pair,
                            about=[about], _=say)
        ),
        "clocks:head": live.drawing(style.heading(say("Its clocks"), state)),
        "caption": captioned(f"{first} {second} {third}"),
    }  # fmt: skip


VIEW = live.View("sinusoidal", parameters, draw, code=snippets.sinusoidal)
