"""Sentences that tutorials, papers and code comments say about positions, and what decides them.

Each claim has a verdict, a handle, and a function from the handle's value to the numbers and the
picture that decide it. The numbers come from the core, from what the trained models measured, or
from published tables; none stands in a sentence. Sentences are English message ids with
``{placeholders}`` for these numbers; the user interface translates them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posviz import (
    alibi,
    catalog,
    distance,
    extrapolation,
    haystacks,
    learned,
    measured,
    order,
    params,
    precision,
    presets,
    published,
    qk_norm,
    relative,
    rope,
    sinusoidal,
)
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, Llama3, Ntk, RopeScaling, Yarn

Floats = NDArray[np.float64]
Range = tuple[float, float]
Verdict = Literal["true", "false", "depends"]
VERDICTS: tuple[Verdict, ...] = ("true", "false", "depends")

TOPICS = {
    "order": "Order",
    "absolute": "Absolute",
    "relative": "Relative",
    "rope": "RoPE",
    "scaling": "Scaling",
    "measuring": "Measuring",
    "practice": "Practice",
}
"""What claims are about, and what a reader calls it."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of a picture.

    Attributes:
        label: What it is.
        values: One for each ``x``.
        shade: The encoding or method that it belongs to; ``claim`` if it is what the claim says,
            ``quiet`` or ``ink`` if it only helps to read the others.
        dashed: Whether it must be told from one that it may cover.
    """

    label: str
    values: Floats
    shade: str
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """Curves over one axis; the axes are the same for every value of the handle.

    Attributes:
        x: Ascending.
        lines: Each with as many values.
        x_title: What ``x`` counts.
        y_title: What the values are.
        x_range: Ends of the horizontal axis.
        y_range: Ends of the vertical axis.
        x_ticks: Where numbers stand on a logarithmic axis; empty for a linear one.
        y_ticks: The same for the vertical axis.
        mark: Where the handle stands on the horizontal axis, if it does.
    """

    x: Floats
    lines: tuple[Line, ...]
    x_title: str
    y_title: str
    x_range: Range
    y_range: Range
    x_ticks: tuple[float, ...] = ()
    y_ticks: tuple[float, ...] = ()
    mark: float | None = None


@dataclass(frozen=True)
class Bar:
    """A bar: what it is, how long, and its shade as in :class:`Line`."""

    label: str
    value: float
    shade: str


@dataclass(frozen=True)
class Bars:
    """Lengths side by side, on an axis from 0 to ``high``, which no handle moves."""

    bars: tuple[Bar, ...]
    title: str
    high: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What decides a claim at one value of its handle.

    Attributes:
        numbers: For the placeholders of the claim's sentences.
        picture: Curves or bars.
        names: Placeholders that are no numbers, such as a model's name.
    """

    numbers: Mapping[str, float]
    picture: Curves | Bars
    names: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence that can be decided, and what decides it.

    Attributes:
        id: Name of its handle in a link.
        topic: One of :data:`TOPICS`.
        statement: What is claimed.
        verdict: Whether it is true, false, or depends on what the handle moves.
        because: Why, with the numbers of the handle's deciding value, its default.
        look: What to look for in the picture, with the numbers of any value.
        belief: Why one could think otherwise.
        handle: Declared with the deciding value as its default.
        start: Value of the handle where it looks the other way.
        evidence: From the handle's value to what decides.
        sources: Pairs of a label and an address.
        view: Address within the app where one can go on, and what is there.
        said: Where something like it can be read, if a place is known.
    """

    id: str
    topic: str
    statement: str
    verdict: Verdict
    because: str
    look: str
    belief: str
    handle: params.Number
    start: float
    evidence: Callable[[float], Evidence]
    sources: tuple[tuple[str, str], ...]
    view: tuple[str, str]
    said: tuple[str, str] | None = None

    @property
    def decided(self) -> Evidence:
        """The evidence at the deciding value."""
        return self.evidence(self.handle.default)


Answers = tuple[Verdict | None, ...]
"""A visitor's answer to each of :data:`CLAIMS`; None where there is none."""

_LETTERS: dict[str, Verdict] = {"t": "true", "f": "false", "d": "depends"}


def answers(code: str) -> tuple[Answers, bool]:
    """The answers that a code of one letter per claim means, and whether all of it means some.

    ``t``, ``f``, ``d`` and ``-`` for none; any other sign, or one too many, counts as none.
    """
    letters = code[: len(CLAIMS)].ljust(len(CLAIMS), "-")
    understood = set(code) <= {*_LETTERS, "-"} and len(code) <= len(CLAIMS)
    return tuple(_LETTERS.get(one) for one in letters), understood


def answer_code(answers: Answers) -> str:
    """The shortest code that :func:`answers` reads as these."""
    letters = {verdict: letter for letter, verdict in _LETTERS.items()}
    return "".join("-" if one is None else letters[one] for one in answers).rstrip("-")


def score(answers: Answers) -> tuple[int, int]:
    """How many of the answers are right, and how many there are."""
    pairs = [(one, claim.verdict) for one, claim in zip(answers, CLAIMS, strict=True) if one]
    return sum(one == verdict for one, verdict in pairs), len(pairs)


# ------------------------------------------------------------------------------------------ order

WORDS = ("The", "dog", "bites", "the", "old", "man", "today")
"""The sentence whose words are exchanged."""


def _backwards(count: float) -> tuple[int, ...]:
    """The order of :data:`WORDS` with the first ``count`` of them backwards."""
    first = int(count)
    return (*range(first - 1, -1, -1), *range(first, len(WORDS)))


def _text(count: float) -> dict[str, str]:
    return {"text": " ".join(WORDS[place] for place in _backwards(count))}


def invariant(count: float) -> Evidence:
    """Change of an attention layer's outputs when the first words stand backwards."""
    compared = order.compare(order.content(WORDS), _backwards(count), "none")
    here = float(np.abs(compared.reordered.outputs - compared.original.outputs).max())
    word = compared.residual
    return Evidence(
        {"count": count, "here": here, "word": word},
        Bars((Bar("output at the same place", here, "claim"),
              Bar("output of the same word", word, "none")), "largest change", 2.5),
        _text(count),
    )  # fmt: skip


def _last_output(places: Sequence[int], encoding: str, layers: int) -> Floats:
    """Output at the last word after random layers with residual connections."""
    x = order.content(WORDS)[list(places)]
    for layer in range(layers):
        x = x + order.attend(x, encoding, seed=layer).outputs
    return np.asarray(x[-1])


def bag_of_words(count: float) -> Evidence:
    """Change of the last word's output when the words before it stand backwards."""
    places, plain = _backwards(count), _backwards(1)

    def change(encoding: str, layers: int) -> float:
        moved, still = (_last_output(one, encoding, layers) for one in (places, plain))
        return float(np.abs(moved - still).max())

    one, two, unmasked = change("causal", 1), change("causal", 2), change("none", 2)
    return Evidence(
        {"count": count, "one": one, "two": two, "unmasked": unmasked},
        Bars((Bar("two layers, no mask", unmasked, "quiet"),
              Bar("one layer, causal mask", one, "claim"),
              Bar("two layers, causal mask", two, "none")), "change at the last word", 2.5),
        _text(count),
    )  # fmt: skip


def pooled(count: float) -> Evidence:
    """Change of single outputs and of their mean when the first words stand backwards."""
    compared = order.compare(order.content(WORDS), _backwards(count), "none")
    here = float(np.abs(compared.reordered.outputs - compared.original.outputs).max())
    mean = compared.mean_difference
    return Evidence(
        {"count": count, "here": here, "mean": mean},
        Bars((Bar("one output", here, "quiet"), Bar("mean of all outputs", mean, "none")),
             "largest change", 2.5),
        _text(count),
    )  # fmt: skip


# --------------------------------------------------------------------------------------- the lab

_LENGTHS = (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
_PERPLEXITIES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


def _nearest(lengths: Sequence[int], length: float) -> int:
    """Index of the measured length nearest by ratio."""
    return int(np.abs(np.log(np.array(lengths) / length)).argmin())


def _perplexity(family: str, method: str = "default", factor: float = 1.0) -> Floats:
    """Perplexity of a family at each of ``measured.LENGTHS``, geometric mean over its seeds."""
    band = measured.band(family, method, factor)
    assert band is not None  # the committed file has every family
    return np.asarray(np.exp(band.mean))


def _over_lengths(lines: tuple[Line, ...], length: float, high: float = 200.0) -> Curves:
    return Curves(
        np.array(measured.LENGTHS, np.float64), lines, "tokens read", "perplexity",
        (64.0, 4096.0), (1.5, high), _LENGTHS, _PERPLEXITIES, mark=length,
    )  # fmt: skip


def _floor() -> Line:
    return Line("best possible reader", np.exp(measured.floor()), "quiet", dashed=True)


def _beyond(family: str, label: str, shade: str, length: float) -> Evidence:
    """Perplexity of a family at the trained context and at the measured length nearest."""
    values, at = _perplexity(family), _nearest(measured.LENGTHS, length)
    trained = measured.LENGTHS.index(measured.TRAINED_LENGTH)
    numbers = {
        "length": measured.LENGTHS[at], "now": values[at], "trained": values[trained],
        "context": measured.TRAINED_LENGTH, "floor": math.exp(measured.floor()[at]),
    }  # fmt: skip
    lines = (_floor(), Line(label, values, shade))
    return Evidence(numbers, _over_lengths(lines, numbers["length"]))


# --------------------------------------------------------------------------------------- absolute


def sinusoidal_length(length: float) -> Evidence:
    """Perplexity of the lab's sinusoidal models by context."""
    return _beyond("names-sinusoidal", "sinusoidal", "sinusoidal", length)


def sinusoidal_shift(shift: float) -> Evidence:
    """One sine column at p + k, read off the table and made from the pair at p by one matrix."""
    k, d_model, pair, count = int(shift), 64, 8, 129
    table = sinusoidal.table(count + k, d_model)
    turned = table[:count] @ sinusoidal.shift_matrix(k, d_model).T
    lines = (
        Line("in the table, k places on", table[k:, 2 * pair], "sinusoidal"),
        Line("one matrix for all positions", turned[:, 2 * pair], "ink", dashed=True),
    )
    residual = float(sinusoidal.shift_residual(k, count, d_model).max())
    return Evidence(
        {"shift": k, "residual": residual, "positions": count, "d_model": d_model},
        Curves(np.arange(float(count)), lines, "position p", "column 16 at p + k",
               (0.0, count - 1.0), (-1.15, 1.15)),
    )  # fmt: skip


def sinusoidal_first(offset: float) -> Evidence:
    """Dot product of two sinusoidal encodings by signed distance."""
    d_model, far = 128, 100
    distances = np.arange(-float(far), far + 1)
    values = sinusoidal.dot_product(distances, d_model)
    ahead, behind = (float(sinusoidal.dot_product(sign * offset, d_model)) for sign in (1, -1))
    return Evidence(
        {"offset": abs(offset), "ahead": ahead, "behind": behind},
        Curves(distances, (Line("dot product", values, "sinusoidal"),),
               "position of the second minus that of the first", "dot product",
               (-float(far), float(far)), (0.0, 70.0), mark=offset),
    )  # fmt: skip


def learned_end(length: float) -> Evidence:
    """How many tokens of a text GPT-2 has a vector for."""
    rows = learned.RELEASED["gpt2"].positions
    lengths = np.arange(0.0, 2049.0, 16.0)
    lines = (
        Line("tokens of the text", lengths, "claim"),
        Line("tokens with a vector", np.minimum(lengths, rows), "learned"),
    )
    return Evidence(
        {"length": length, "rows": rows, "without": max(length - rows, 0.0), "next": rows + 1},
        Curves(lengths, lines, "tokens of the text", "tokens", (0.0, 2048.0), (0.0, 2100.0),
               mark=length),
    )  # fmt: skip


# --------------------------------------------------------------------------------------- relative


def slopes_learned(num_heads: float) -> Evidence:
    """Trained numbers that ALiBi and others bring to a model of 12 layers."""
    shape = catalog.Shape(12, int(num_heads), 64, 1024)
    t5, own = (catalog.get(name).parameters(shape) for name in ("t5", "alibi"))
    slopes = alibi.slopes(int(num_heads))
    return Evidence(
        {"num_heads": num_heads, "learned": own, "t5": t5, "steepest": float(slopes.max()),
         "flattest": float(slopes.min())},
        Bars((Bar("T5 bias", t5, "t5"), Bar("ALiBi", own, "alibi")),
             "trained numbers, 12 layers", 4096.0),
    )  # fmt: skip


def slopes_formula(num_heads: float) -> Evidence:
    """Slopes of released models and of the paper's formula, head by head."""
    count = int(num_heads)
    released, formula = alibi.slopes(count), alibi.paper_slopes(count)
    lines = (
        Line("2^(−8h/n)", formula, "claim", dashed=True), Line("released code", released, "alibi"),
    )  # fmt: skip
    return Evidence(
        {"num_heads": count, "differ": int(alibi.differs_from_paper(count).sum()),
         "last": float(released[-1]), "formula": float(formula[-1])},
        Curves(np.arange(1.0, count + 1), lines, "head", "slope", (1.0, 128.0), (0.0035, 1.05),
               (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0), (0.004, 0.01, 0.03, 0.1, 0.3, 1.0)),
    )  # fmt: skip


def alibi_farther(length: float) -> Evidence:
    """Tokens within which the flattest of 8 ALiBi heads has 99 % of its weight, by length."""
    slope = float(alibi.slopes(8).min())
    window = alibi.window(slope)
    lengths = np.geomspace(2048.0, 65536.0, 61)
    lines = (
        Line("the whole text", lengths, "claim", dashed=True),
        Line("flattest of 8 heads", np.full(len(lengths), window), "alibi"),
    )
    share = 100.0 * float(alibi.covered(slope, length))
    return Evidence(
        {"length": length, "reach": math.ceil(window), "share": share,
         "inside": 100.0 * float(alibi.within(slope, window, length))},
        Curves(lengths, lines, "tokens of the text", "tokens that hold 99 % of the weight",
               (2048.0, 65536.0), (500.0, 70000.0),
               tuple(2048.0 * 2**n for n in range(6)), (1000.0, 4000.0, 16000.0, 64000.0),
               mark=length),
    )  # fmt: skip


def alibi_keeps(length: float) -> Evidence:
    """Published perplexities of models trained on 512 tokens (ALiBi's paper, table 2)."""
    table = published.table("alibi-2")
    found = {one.encoding: one for one in table.series}
    own, other = found["alibi"], found["sinusoidal"]
    lengths = own.lengths.tolist()
    at = _nearest(lengths, length)
    lines = (
        Line("sinusoidal", other.values, "sinusoidal", dashed=True),
        Line("ALiBi", own.values, "alibi"),
    )
    return Evidence(
        {"length": lengths[at], "now": float(own.values[at]), "trained": float(own.values[0]),
         "context": lengths[0], "other": float(other.values[at])},
        Curves(own.lengths.astype(np.float64), lines, "tokens read", "perplexity",
               (512.0, 16000.0), (15.0, 450.0), (512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0),
               (20.0, 50.0, 100.0, 200.0, 400.0), mark=float(lengths[at])),
    )  # fmt: skip


def t5_far(back: float) -> Evidence:
    """T5's bucket by distance in a decoder, 32 buckets up to 128."""
    distances = np.arange(0.0, 2049.0)
    buckets = relative.t5_bucket(-distances.astype(np.int64), bidirectional=False)
    last = relative.t5_bucket_ranges(bidirectional=False)[-1]
    return Evidence(
        {"distance": back, "bucket": int(buckets[int(back)]), "far": int(buckets[2000]),
         "starts": -last.nearest},
        Curves(distances, (Line("bucket", buckets.astype(np.float64), "t5"),),
               "tokens back", "bucket", (1.0, 2048.0), (0.0, 33.0),
               tuple(4.0**n for n in range(6)), mark=back),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- RoPE

_PLAIN = RoPE(128)


def rope_relative(shift: float) -> Evidence:
    """Score of a random query and key 30 tokens apart, both moved, or the query alone."""
    q, k = rope.random_vectors(_PLAIN.rotary_dim // 2)
    shifts, frequencies = np.arange(401.0), _PLAIN.inv_freq
    moved_q = rope.rotate(q, 40 + shifts, frequencies)
    moved_k = rope.rotate(k, 10 + shifts, frequencies)
    size = math.sqrt(_PLAIN.rotary_dim)
    both, alone = (moved_q * moved_k).sum(axis=-1) / size, moved_q @ moved_k[0] / size
    at = int(shift)
    return Evidence(
        {"shift": shift, "before": float(both[0]), "after": float(both[at]),
         "difference": float(np.abs(both - both[0]).max()), "alone": float(alone[at])},
        Curves(shifts, (Line("only the query moved", alone, "quiet"),
                        Line("both moved", both, "rope")),
               "moved by, tokens", "score", (0.0, 400.0), (-4.0, 4.0), mark=shift),
    )  # fmt: skip


def rope_anywhere(back: float) -> Evidence:
    """Score by distance of a query and the key made to match it at one distance."""
    q = np.ones(_PLAIN.rotary_dim)
    curve = rope.score_curve(
        q, rope.peaked_key(q, back, _PLAIN.inv_freq), 2001, _PLAIN.inv_freq
    ) / float(q @ q)
    return Evidence(
        {"distance": back, "peak": int(curve.argmax()), "highest": float(curve.max()),
         "near": float(curve[0])},
        Curves(np.arange(2001.0), (Line("score", curve, "rope"),), "tokens back",
               "score, of the largest possible", (0.0, 2000.0), (-0.5, 1.1), mark=back),
    )  # fmt: skip


def rope_decay(back: float) -> Evidence:
    """Score of equal query and key by distance, and the highest one still to come."""
    scores = distance.rope_scores(_PLAIN.inv_freq, 513)
    to_come = np.maximum.accumulate(scores[::-1])[::-1]
    at = int(back)
    later = at + 1 + int(scores[at + 1 :].argmax())
    rises = 100.0 * float((np.diff(scores) > 0).mean())
    return Evidence(
        {"distance": back, "now": float(scores[at]), "later": float(scores[later]),
         "where": later, "rises": rises, "span": len(scores) - 1},
        Curves(np.arange(513.0), (Line("highest from here on", to_come, "claim", dashed=True),
                                  Line("score", scores, "rope")),
               "tokens back", "score of equal query and key", (0.0, 512.0), (0.0, 12.0), mark=back),
    )  # fmt: skip


def rope_near(mean: float) -> Evidence:
    """Expected score of random queries and keys by distance, for a mean of their components."""
    distances = np.arange(0.0, 1001.0, 2.0)
    expected, variance = rope.score_moments(_PLAIN.inv_freq, distances, mean)
    equal, _ = rope.score_moments(_PLAIN.inv_freq, distances, 1.0)
    return Evidence(
        {"mean": mean, "near": float(expected[1]), "far": float(expected[-1]), "two": 2,
         "thousand": 1000, "spread": math.sqrt(float(variance[0]))},
        Curves(distances, (Line("of equal vectors of ones", equal, "quiet", True),
                           Line("expected score", expected, "rope")), "tokens back",
               "score", (0.0, 1000.0), (-1.0, 12.0)),
    )  # fmt: skip


def rope_slow(pair: float) -> Evidence:
    """Tokens for a whole turn, by pair of dimensions."""
    lengths = rope.wavelength(_PLAIN.inv_freq)
    return Evidence(
        {"pair": pair, "tokens": float(lengths[int(pair)]), "fastest": float(lengths[0]),
         "last": len(lengths) - 1, "slowest": float(lengths[-1])},
        Curves(np.arange(float(len(lengths))), (Line("tokens for a turn", lengths, "rope"),),
               "pair", "tokens for a whole turn", (0.0, len(lengths) - 1.0), (4.0, 80000.0),
               y_ticks=(10.0, 100.0, 1000.0, 10000.0), mark=pair),
    )  # fmt: skip


def half_split(back: float) -> Evidence:
    """Scores in the paper's pairing, and in halves with and without the weights reordered."""
    pairs, frequencies = _PLAIN.rotary_dim // 2, _PLAIN.inv_freq
    q, k = rope.random_vectors(pairs, "interleaved")
    to_half = rope.interleaved_to_half(_PLAIN.rotary_dim)
    size = math.sqrt(_PLAIN.rotary_dim)
    neighbours = rope.score_curve(q, k, 257, frequencies, "interleaved") / size
    halves = rope.score_curve(q[to_half], k[to_half], 257, frequencies, "half") / size
    mixed = rope.score_curve(q, k, 257, frequencies, "half") / size
    at = int(back)
    return Evidence(
        {"distance": back, "paper": float(neighbours[at]), "halves": float(halves[at]),
         "mixed": float(mixed[at]), "apart": float(np.abs(neighbours - halves).max())},
        Curves(np.arange(257.0), (Line("halves, weights left as they were", mixed, "claim", True),
                                  Line("neighbours (2i, 2i+1)", neighbours, "rope"),
                                  Line("halves, weights reordered", halves, "ink", True)),
               "tokens back", "score", (0.0, 256.0), (-4.0, 4.0), mark=back),
    )  # fmt: skip


_TRAINED = 4096


def fast_unseen(times: float) -> Evidence:
    """Angles that each pair needs in a longer context, over those that training met."""
    context = times * _TRAINED
    use = extrapolation.arc_use(_PLAIN, _PLAIN.inv_freq, _TRAINED, [context])[:, 0]
    unseen = extrapolation.unseen(_PLAIN, _PLAIN.inv_freq, _TRAINED, context)
    first = extrapolation.first_never_completed(_PLAIN, _TRAINED)
    pairs = len(use)
    return Evidence(
        {"times": times, "trained": _TRAINED, "first": first, "unseen": int(unseen.sum()),
         "last": pairs - 1, "fastest": float(use[0]), "slowest": float(use[-1])},
        Curves(np.arange(float(pairs)), (Line("met in training", np.ones(pairs), "quiet", True),
                                         Line("needed now", use, "rope")),
               "pair, fast to slow", "angles, as multiples of those met", (0.0, pairs - 1.0),
               (0.0, 17.0)),
    )  # fmt: skip


def rope_length(length: float) -> Evidence:
    """Perplexity of the lab's RoPE models by context."""
    return _beyond("names-rope-10000", "RoPE, base 10,000", "rope_10000", length)


# ---------------------------------------------------------------------------------------- scaling


def _slowed(scaling: RopeScaling, plain: RoPE, seq_len: int | None = None) -> Floats:
    """How many times slower each pair turns."""
    return np.asarray(plain.inv_freq / scaling.frequencies(plain, seq_len)[0])


def _by_pair(lines: tuple[Line, ...], pairs: int, high: float = 70.0) -> Curves:
    return Curves(
        np.arange(float(pairs)), lines, "pair, fast to slow", "times slower", (0.0, pairs - 1.0),
        (0.9, high), y_ticks=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0),
    )  # fmt: skip


def llama31(factor: float) -> Evidence:
    """What Llama 3.1's rule and YaRN make of Llama 3's pairs and of the scores."""
    plain = RoPE(128, 500_000.0)
    own, other = Llama3(factor, 8192), Yarn(factor, 8192)
    slowed, yarn = _slowed(own, plain), _slowed(other, plain)
    return Evidence(
        {"factor": factor, "gain": other.frequencies(plain)[1] ** 2,
         "own_gain": own.frequencies(plain)[1] ** 2,
         "apart": float((np.maximum(slowed, yarn) / np.minimum(slowed, yarn)).max())},
        _by_pair((Line("YaRN", yarn, "yarn", True), Line("Llama 3", slowed, "llama3")),
                 len(slowed), 40.0),
    )  # fmt: skip


def yarn_gain(factor: float) -> Evidence:
    """What YaRN's factor on cos and sin makes of the scores."""
    factors = np.geomspace(1.0, 64.0, 61)
    each = np.array([Yarn(one, _TRAINED).frequencies(_PLAIN)[1] for one in factors])
    own = Yarn(factor, _TRAINED).frequencies(_PLAIN)[1]
    return Evidence(
        {"factor": factor, "once": own, "gain": own**2},
        Curves(factors, (Line("0.1 ln s + 1", each, "claim", True),
                         Line("factor on the scores", each**2, "yarn")),
               "scale factor s", "factor", (1.0, 64.0), (0.95, 2.1),
               (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0), mark=factor),
    )  # fmt: skip


def yarn_ramp(factor: float) -> Evidence:
    """YaRN's ramp as printed and as every released model runs it."""
    code = _slowed(Yarn(factor, _TRAINED), _PLAIN)
    paper = _slowed(Yarn(factor, _TRAINED, ramp_over="turns"), _PLAIN)
    ratio = np.maximum(code, paper) / np.minimum(code, paper)
    pair = int(ratio.argmax())
    return Evidence(
        {"factor": factor, "most": 100.0 * round(1.0 - 1.0 / float(ratio[pair]), 9), "pair": pair,
         "code": float(code[pair]), "paper": float(paper[pair])},
        _by_pair((Line("as printed: over turns", paper, "claim", True),
                  Line("as released: over pairs", code, "yarn")), len(code)),
    )  # fmt: skip


def ntk_alpha(alpha: float) -> Evidence:
    """Context without unseen angles that NTK-aware scaling gives, over the trained one."""
    alphas = np.linspace(1.0, 16.0, 61)

    def reach(factor: float) -> float:
        return extrapolation.usable_context(_PLAIN, Ntk(factor), _TRAINED) / _TRAINED

    reached = np.array([reach(float(one)) for one in alphas])
    return Evidence(
        {"alpha": alpha, "reach": reach(alpha), "trained": _TRAINED},
        Curves(alphas, (Line("alpha times", alphas, "claim", True),
                        Line("without unseen angles", reached, "ntk")),
               "alpha", "trained contexts", (1.0, 16.0), (0.0, 16.5), mark=alpha),
    )  # fmt: skip


def pi_short(factor: float) -> Evidence:
    """Perplexity within the trained context of the lab's RoPE models under interpolation."""
    short = measured.LENGTHS.index(measured.TRAINED_LENGTH) + 1
    one = factor if factor == 1.0 else measured.nearest_factor(factor)
    family = "names-rope-10000"
    values = _perplexity(family, "linear", one)[:short]
    plain = _perplexity(family)[:short]
    lengths = np.array(measured.LENGTHS[:short], np.float64)
    return Evidence(
        {"factor": one, "length": measured.TRAINED_LENGTH, "plain": float(plain[-1]),
         "now": float(values[-1])},
        Curves(lengths, (Line("as trained", plain, "claim", True),
                         Line("interpolated", values, "linear")),
               "tokens read", "perplexity", (64.0, 256.0), (2.0, 500.0),
               (64.0, 128.0, 256.0), (2.0, 5.0, 10.0, 30.0, 100.0, 300.0)),
    )  # fmt: skip


def dynamic_short(seq_len: float) -> Evidence:
    """How many times slower dynamic NTK makes the slowest pair, by length."""
    method = DynamicNtk(2.0, _TRAINED)
    lengths = np.linspace(256.0, 16384.0, 64)
    slowest = np.array([_slowed(method, _PLAIN, int(one))[-1] for one in lengths])
    slowed = _slowed(method, _PLAIN, int(seq_len))
    return Evidence(
        {"seq_len": seq_len, "trained": _TRAINED, "slowest": float(slowed[-1]),
         "moved": int((slowed > 1.0).sum())},
        Curves(lengths, (Line("slowest pair", slowest, "dynamic"),), "tokens read",
               "times slower", (0.0, 16384.0), (0.8, 7.5), mark=seq_len),
    )  # fmt: skip


def yarn_ntk(length: float) -> Evidence:
    """Perplexity of the lab's RoPE models under YaRN and NTK by 4, by context."""
    family, factor = "names-rope-10000", 4.0
    yarn, ntk = (_perplexity(family, method, factor) for method in ("yarn", "ntk"))
    at, stretched = _nearest(measured.LENGTHS, length), int(factor) * measured.TRAINED_LENGTH
    long = measured.LENGTHS.index(stretched)
    return Evidence(
        {"length": measured.LENGTHS[at], "yarn": float(yarn[at]), "ntk": float(ntk[at]),
         "factor": factor, "context": measured.TRAINED_LENGTH, "stretched": stretched,
         "yarn_long": float(yarn[long]), "ntk_long": float(ntk[long])},
        _over_lengths((_floor(), Line("NTK × 4", ntk, "ntk", True), Line("YaRN × 4", yarn, "yarn")),
                      measured.LENGTHS[at], 40.0),
    )  # fmt: skip


# -------------------------------------------------------------------------------------- measuring


def perplexity_uses(length: float) -> Evidence:
    """Perplexity of a RoPE model that sees the last 256 tokens only, by length of the text."""
    window, full = (
        measured.sliding("names-rope-10000-seed0"), measured.curve("names-alibi-seed0"),
    )  # fmt: skip
    assert window is not None
    assert full is not None
    count = measured.LENGTHS.index(2048) + 1
    near, far = window.perplexity[:count], full.perplexity[:count]
    at, trained = _nearest(measured.LENGTHS[:count], length), measured.LENGTHS.index(256)
    best = np.exp(measured.floor())[:count]
    lengths = np.array(measured.LENGTHS[:count], np.float64)
    return Evidence(
        {"length": measured.LENGTHS[at], "window": measured.TRAINED_LENGTH,
         "now": float(near[at]), "trained": float(near[trained]), "full": float(far[at])},
        Curves(lengths, (Line("best possible reader", best, "quiet", True),
                         Line("reads everything (ALiBi)", far, "alibi", True),
                         Line("sees the last 256 only (RoPE)", near, "rope_10000")),
               "tokens of the text", "perplexity", (64.0, 2048.0), (1.6, 3.6), _LENGTHS[:-1],
               (1.6, 2.0, 2.4, 2.8, 3.2), mark=float(measured.LENGTHS[at])),
    )  # fmt: skip


def needle_depth(depth: float) -> Evidence:
    """Names found again by depth in 1,024 tokens, the lab's RoPE models."""
    grids = [
        grid for name in measured.models("names-rope-10000")
        if (grid := haystacks.grid(name)) is not None
    ]  # fmt: skip
    column = grids[0].lengths.index(1024)
    depths = 100.0 * np.array(grids[0].depths)
    found = 100.0 * np.mean([grid.accuracy[column] for grid in grids], axis=0)
    at = int(np.abs(depths - depth).argmin())
    return Evidence(
        {"depth": float(depths[at]), "found": float(found[at]), "first": float(found[0]),
         "late": float(found[-1]), "length": 1024, "context": measured.TRAINED_LENGTH,
         "models": len(grids)},
        Curves(depths, (Line("letters right", found, "rope_10000"),
                        Line("guessing", np.full(len(depths), 5.0), "quiet", True)),
               "depth of the fact, % of the text", "letters right, %", (0.0, 100.0), (0.0, 105.0),
               mark=float(depths[at])),
    )  # fmt: skip


def seeds_alike(length: float) -> Evidence:
    """Perplexity of three trainings of one RoPE model, by context."""
    models = measured.models("names-rope-10000")
    curves = [one.perplexity for name in models if (one := measured.curve(name)) is not None]
    at = _nearest(measured.LENGTHS, length)
    here = [float(one[at]) for one in curves]
    shades = ("rope_10000", "ink", "quiet")
    lines = tuple(
        Line(f"seed {n}", values, shade, dashed=n > 0)
        for n, (values, shade) in enumerate(zip(curves, shades, strict=True))
    )
    return Evidence(
        {"length": measured.LENGTHS[at], "lowest": min(here), "highest": max(here),
         "context": measured.TRAINED_LENGTH, "count": len(curves)},
        _over_lengths(lines, measured.LENGTHS[at], 300.0),
    )  # fmt: skip


# --------------------------------------------------------------------------------------- practice

TORCH = "2.13"
"""The newest version of torch whose ``torch.nn.functional`` was searched for RoPE."""


def torch_rope(position: float) -> Evidence:
    """One dimension of a rotated vector, by the core and by the line that everybody writes."""
    q, _ = rope.random_vectors(_PLAIN.rotary_dim // 2)
    positions = np.arange(101.0)
    cos, sin = rope.tables(positions, _PLAIN.inv_freq)
    line = q * cos + rope.rotate_half(q) * sin
    core = rope.rotate(q, positions, _PLAIN.inv_freq)
    pair = 4
    return Evidence(
        {"position": position, "apart": float(np.abs(line - core).max()),
         "value": float(line[int(position), pair])},
        Curves(positions, (Line("rotated as a plane turns", core[:, pair], "rope"),
                           Line("x cos + rotate_half(x) sin", line[:, pair], "ink", True)),
               "position", "dimension 4 of a query", (0.0, 100.0), (-2.0, 2.0), mark=position),
        {"version": TORCH},
    )  # fmt: skip


def norm_order(spread: float) -> Evidence:
    """Score of a query and a key 20 tokens apart under RMSNorm before and after RoPE."""
    dims, frequencies = _PLAIN.rotary_dim, _PLAIN.inv_freq
    q, k = rope.random_vectors(dims // 2)
    shifts = np.arange(0.0, 201.0)
    free = [qk_norm.random_gain("free", dims, seed=n, spread=spread) for n in range(2)]
    equal = [qk_norm.random_gain("pairs", dims, seed=n, spread=spread) for n in range(2)]

    def curve(place: qk_norm.Order, gains: Sequence[Floats]) -> Floats:
        return qk_norm.shifted_scores(
            q, k, (20, 0), shifts, frequencies, place, q_gain=gains[0], k_gain=gains[1]
        )

    before, after = curve("before", free), curve("after", free)
    tied = float(np.abs(curve("before", equal) - curve("after", equal)).max())
    return Evidence(
        {"spread": spread, "free": float(np.abs(before - after).max()), "equal": tied},
        Curves(shifts, (Line("norm after RoPE", after, "claim", True),
                        Line("norm before RoPE", before, "rope")),
               "both moved by, tokens", "score", (0.0, 200.0), (-8.0, 8.0)),
    )  # fmt: skip


def bfloat16_positions(position: float) -> Evidence:
    """By how much bfloat16 misses each position."""
    positions = np.arange(4097.0)
    error = precision.bfloat16(positions) - positions
    return Evidence(
        {"position": position, "held": float(precision.bfloat16(position)),
         "error": float(np.abs(error[int(position)])),
         "exact": precision.last_exact_position("bfloat16")},
        Curves(positions, (Line("error", error, "rope"),), "position", "error, tokens",
               (1.0, 4096.0), (-9.0, 9.0), tuple(4.0**n for n in range(7)), mark=position),
    )  # fmt: skip


HEADS = ("Llama-3.1-8B-Instruct", "gpt-oss-20b", "Qwen3-0.6B", "gemma-3-4b-it", "gemma-2-9b-it")
"""Models whose ``head_dim`` is compared with ``hidden_size / num_attention_heads``."""


def head_dims(number: float) -> Evidence:
    """A model's ``head_dim`` and what dividing gives, and how many on record differ."""
    told = presets.record(HEADS[int(number) - 1])
    full = [
        record for record in map(presets.record, presets.names())
        if record["verified"] and record.get("head_dim") and record.get("hidden_size")
        and record.get("num_attention_heads")
    ]  # fmt: skip
    differ = sum(one["hidden_size"] != one["head_dim"] * one["num_attention_heads"] for one in full)
    divided = told["hidden_size"] / told["num_attention_heads"]
    return Evidence(
        {"hidden": told["hidden_size"], "heads": told["num_attention_heads"],
         "head_dim": told["head_dim"], "divided": divided, "differ": differ, "models": len(full)},
        Bars((Bar("hidden_size / heads", divided, "claim"),
              Bar("head_dim", told["head_dim"], "rope")), "dimensions", 350.0),
        {"model": told["name"]},
    )  # fmt: skip


# ------------------------------------------------------------------------------------- the claims


def _handle(
    id: str, label: str, default: float, low: float, high: float, step: float, unit: str,
    help: str, scale: params.Scale = "linear",
) -> params.Number:  # fmt: skip
    return params.Number(id, label, default, low, high, step, unit, help, scale)


def _words(id: str, default: int, high: int) -> params.Number:
    return _handle(id, "Backwards", default, 1, high, 1, "",
                   "How many of the first words are put in backwards order.")  # fmt: skip


def _context(id: str, default: int, low: int = 64, high: int = 4096) -> params.Number:
    return _handle(id, "Tokens read", default, low, high, 1, "tokens",
                   "Length of the text; the measured one nearest to it is shown.",
                   "log")  # fmt: skip


def _back(id: str, default: int, low: int, high: int, scale: params.Scale = "linear"
          ) -> params.Number:  # fmt: skip
    return _handle(id, "Distance", default, low, high, 1, "tokens",
                   "How far before the query the key stands.", scale)  # fmt: skip


def _factor(id: str, default: float, high: float, label: str = "Factor s") -> params.Number:
    return _handle(id, label, default, 1.0, high, 0.1, "×",
                   "How many times the trained context the method is asked for.",
                   "log")  # fmt: skip


def _arxiv(label: str, number: str) -> tuple[str, str]:
    return label, f"https://arxiv.org/abs/{number}"


_ALIBI = _arxiv("Press et al. 2021, ALiBi", "2108.12409")
_BARBERO = _arxiv("Barbero et al. 2024, Round and Round We Go!", "2410.06205")
_ROFORMER = _arxiv("Su et al. 2021, RoFormer", "2104.09864")
_VASWANI = _arxiv("Vaswani et al. 2017", "1706.03762")
_YARN = _arxiv("Peng et al. 2023, YaRN", "2309.00071")
_HF = "https://github.com/huggingface/transformers/blob/main/src/transformers/"
_ROPE_UTILS = ("Hugging Face, modeling_rope_utils.py", f"{_HF}modeling_rope_utils.py")

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "backwards", "order",
        "Self-attention without positions is permutation invariant: shuffle the words and every "
        "output stays what it was.",
        "false",
        "It is equivariant. With {count} words backwards, the output at a place changes by up to "
        "{here}; the output of each word changes by {word}, which is rounding. Outputs move "
        "along with their words.",
        "“{text}”: {here} at the same place, {word} for the same word.",
        "What the whole layer says about a set is invariant once it is averaged; the outputs "
        "themselves are not.",
        _words("backwards", 7, 7), 1, invariant,
        (_arxiv("Lee et al. 2019, Set Transformer, property 1", "1810.00825"),),
        ("order?encoding=none", "Why order matters"),
        ("apxml, Transformer course",
         "https://apxml.com/courses/foundations-transformers-architecture/"
         "chapter-4-positional-encoding-embedding-layer/need-for-positional-information"),
    ),
    Claim(
        "bag", "order",
        "Without a positional encoding, a GPT-style decoder sees a bag of words.",
        "false",
        "The causal mask tells the order. One layer does see a bag: with {count} words backwards "
        "the last output changes by {one}. In the second layer it changes by {two}, because each "
        "word before it had seen another beginning.",
        "“{text}”, last output: {one} after one causal layer, {two} after two, {unmasked} after "
        "two without a mask.",
        "It holds for encoders, and for a single layer.",
        _words("bag", 6, 6), 1, bag_of_words,
        (_arxiv("Haviv et al. 2022", "2203.16634"), _arxiv("Kazemnejad et al. 2023", "2305.19466")),
        ("order?encoding=causal", "the causal mask alone"),
    ),
    Claim(
        "pooled", "order",
        "Average the outputs of self-attention without positions, and word order makes no "
        "difference.",
        "true",
        "With {count} words backwards single outputs change by up to {here}, their mean by "
        "{mean}. The same outputs stand in another order, and a mean does not care.",
        "“{text}”: {here} for one output, {mean} for the mean.",
        "Single outputs do change, as one sees at a fixed place.",
        _words("pooled", 7, 7), 1, pooled,
        (_arxiv("Lee et al. 2019, Set Transformer", "1810.00825"),),
        ("order?encoding=none&weight=0", "Why order matters"),
    ),
    Claim(
        "any_length", "absolute",
        "Sinusoidal encodings handle texts of any length, because the formula is defined at "
        "every position.",
        "false",
        "The formula goes on, the model does not. Small models trained on {context} tokens have "
        "perplexity {trained} there and {now} at {length}: their weights never met these "
        "positions.",
        "At {length} tokens: perplexity {now}, {trained} at the trained {context}, {floor} for "
        "the best possible reader.",
        "The first paper hoped for it in one sentence, and code that runs looks like code that "
        "works.",
        _context("any_length", 512), 256, sinusoidal_length,
        (_arxiv("Press et al. 2021, figure 1", "2108.12409"),),
        ("lab?model=sinusoidal", "read past its training, in the lab"),
        ("Vaswani et al. 2017, as a hope", "https://arxiv.org/abs/1706.03762"),
    ),
    Claim(
        "linear_map", "absolute",
        "One fixed matrix turns the sinusoidal encoding of any position p into that of p + 64.",
        "true",
        "The matrix turns each pair of sine and cosine by {shift} times its frequency, whatever p "
        "is. Over {positions} positions it misses the table by {residual} at most, which is "
        "rounding.",
        "For a shift of {shift} tokens, table and matrix differ by {residual} at most.",
        "Sines are anything but linear in p; the map is linear in the vector, not in p.",
        _handle("linear_map", "Shift", 64, 0, 256, 1, "tokens", "Tokens from p to the other one."),
        0, sinusoidal_shift,
        (_arxiv("Vaswani et al. 2017, section 3.5", "1706.03762"),),
        ("sinusoidal?part=distance&shift=64", "shifting the sinusoidal table"),
    ),
    Claim(
        "which_first", "absolute",
        "The dot product of two sinusoidal encodings tells which of the two tokens comes first.",
        "false",
        "It is symmetric: {ahead} for {offset} tokens ahead and {behind} for {offset} tokens "
        "behind. A model needs the learned maps of queries and keys to tell them apart.",
        "{offset} tokens ahead: {ahead}; as many behind: {behind}.",
        "The vectors do know their positions; their plain dot product forgets the sign.",
        _handle("which_first", "Offset", 20, -100, 100, 1, "tokens",
                "Position of the second token minus that of the first."),
        0, sinusoidal_first,
        (_arxiv("Yan et al. 2019, TENER, section 3.2", "1911.04474"), _VASWANI),
        ("sinusoidal?part=distance", "sinusoidal, by distance"),
    ),
    Claim(
        "gpt2_end", "absolute",
        "GPT-2 has no position vector for the 1,025th token of a text.",
        "true",
        "Its learned table has {rows} rows. Of a text of {length} tokens {without} have no "
        "vector, and no formula could give them one.",
        "A text of {length} tokens: {without} without a vector, because the table has {rows} "
        "rows.",
        "Newer models can be stretched by a config key, so one expects that here too.",
        _handle("gpt2_end", "Text", 2048, 1, 2048, 1, "tokens", "Length of the text."),
        512, learned_end,
        (("openai/gpt-2, model.py", "https://github.com/openai/gpt-2/blob/master/src/model.py"),),
        ("learned?part=end&table=gpt2", "where learned tables end"),
    ),
    Claim(
        "learned_slopes", "relative",
        "ALiBi learns one slope for each head.",
        "false",
        "The slopes are fixed before training: for {num_heads} heads they run from {steepest} to "
        "{flattest}. ALiBi brings {learned} trained numbers; a T5 bias of this size has {t5}.",
        "{num_heads} heads: {learned} learned by ALiBi, {t5} by a T5 bias; slopes from {steepest} "
        "to {flattest}.",
        "The paper’s authors tried to learn them, and T5’s similar bias is learned.",
        _handle("learned_slopes", "Heads", 8, 1, 128, 1, "heads", "Attention heads of a layer."),
        1, slopes_learned,
        (_arxiv("Press et al. 2021, section 3", "2108.12409"),
         ("ofirpress/attention_with_linear_biases",
          "https://github.com/ofirpress/attention_with_linear_biases")),
        ("alibi?part=slopes&num_heads=8", "ALiBi’s slopes"),
    ),
    Claim(
        "slope_formula", "relative",
        "For n heads, ALiBi’s slopes are 2^(−8h/n), h = 1 … n.",
        "depends",
        "On n. Where it is a power of two, they are. For {num_heads} heads {differ} slopes differ: "
        "released code takes those of the power of two below and every second of the one above, "
        "so the last head has {last} and not {formula}.",
        "{num_heads} heads: {differ} differ from the formula; the last has {last}, by the formula "
        "{formula}.",
        "The paper’s text gives the formula only; the rule for other counts is in its code.",
        _handle("slope_formula", "Heads", 12, 2, 128, 1, "heads", "Attention heads of a layer."),
        8, slopes_formula,
        (_arxiv("Press et al. 2021, section 3", "2108.12409"),
         ("ofirpress/attention_with_linear_biases, get_slopes",
          "https://github.com/ofirpress/attention_with_linear_biases"),
         ("Baichuan2, issue 225", "https://github.com/baichuan-inc/Baichuan2/issues/225")),
        ("alibi?part=slopes&num_heads=12", "slopes of 12 heads"),
        ("Edifice, documentation of ALiBi", "https://hexdocs.pm/edifice/Edifice.Blocks.ALiBi.html"),
    ),
    Claim(
        "looks_farther", "relative",
        "Give an ALiBi model ever longer texts, and its heads look ever farther back.",
        "false",
        "Where all keys match equally well, even the flattest of 8 heads keeps 99 % of its weight "
        "within {reach} tokens, whatever the length: {share} % of a text of {length}. A far "
        "token must outscore the rest to be seen.",
        "In {length} tokens, the flattest head has {inside} % of its weight on the last {reach}: "
        "{share} % of the text.",
        "Its perplexity holds far beyond training, which sounds like reading it all.",
        _handle("looks_farther", "Text", 65536, 2048, 65536, 1, "tokens", "Length of the text.",
                "log"),
        2048, alibi_farther,
        (_ALIBI, _arxiv("Chi et al. 2023, on ALiBi’s receptive field", "2212.10356")),
        ("alibi?part=length&num_heads=8&head=8", "ALiBi’s window over length"),
    ),
    Claim(
        "alibi_keeps", "relative",
        "Trained on 512 tokens, ALiBi’s published model read texts of 3,512 at no higher "
        "perplexity.",
        "true",
        "It is {trained} at {context} tokens and {now} at {length}, where the sinusoidal model of "
        "the same size has {other}. That the far text helped is another claim.",
        "At {length} tokens ALiBi has {now}, the sinusoidal model {other}; at {context} ALiBi had "
        "{trained}.",
        "Most encodings fail beyond their training, so one mistrusts it.",
        _handle("alibi_keeps", "Tokens read", 3512, 512, 15512, 1, "tokens",
                "Length of the text; the published one nearest to it is shown.", "log"),
        512, alibi_keeps,
        (_arxiv("Press et al. 2021, table 2", "2108.12409"),),
        ("lab?model=alibi&beside=alibi-2", "beside the lab’s own models"),
    ),
    Claim(
        "t5_far", "relative",
        "T5’s relative bias tells a token 200 places back from one 2,000 places back.",
        "false",
        "Both stand in bucket {bucket}, the last, which begins {starts} tokens back. All that is "
        "farther gets the same number.",
        "{distance} tokens back is bucket {bucket}; 2,000 back is bucket {far}. The last bucket "
        "begins at {starts}.",
        "Its bias is called relative, and the buckets do tell near distances apart.",
        _back("t5_far", 200, 1, 2048, "log"), 10, t5_far,
        (_arxiv("Raffel et al. 2019, T5, section 2.1", "1910.10683"),
         ("Hugging Face, modeling_t5.py", f"{_HF}models/t5/modeling_t5.py")),
        ("relative?part=buckets&direction=causal&relative_position=-200", "T5’s buckets"),
    ),
    Claim(
        "both_moved", "rope",
        "With RoPE, moving query and key together by the same number of tokens leaves their "
        "score as it was.",
        "true",
        "Moved by {shift} tokens, a score of {before} is {after}; over 400 shifts it never "
        "changes by more than {difference}, which is rounding. Move the query alone and it is "
        "{alone}.",
        "Moved by {shift} tokens: {after} for both, {alone} for the query alone.",
        "Both vectors do turn by their absolute positions; only their difference is left.",
        _handle("both_moved", "Shift", 300, 0, 400, 1, "tokens", "Tokens that both move by."),
        0, rope_relative,
        (_arxiv("Su et al. 2021, RoFormer, equation 16", "2104.09864"),),
        ("rope?part=pair&shift=1000", "both moved, in the clocks"),
    ),
    Claim(
        "anywhere", "rope",
        "RoPE allows a head that prefers a key 500 tokens back to all nearer ones.",
        "true",
        "Turn the key by {distance} tokens and the score peaks {peak} tokens back, at {highest} "
        "of what is possible; next to the query it is {near}.",
        "Made for {distance} tokens back, the score peaks at {peak}; at distance 0 it is {near}.",
        "RoPE is said to decay with distance; that holds for equal query and key only.",
        _back("anywhere", 500, 0, 2000), 0, rope_anywhere,
        (_arxiv("Barbero et al. 2024, section 3", "2410.06205"),),
        ("rope?part=decay&peak=500&head_dim=128", "a head that looks elsewhere"),
    ),
    Claim(
        "falls", "rope",
        "RoPE’s score of equal vectors falls with every further token between them.",
        "false",
        "It rises in {rises} % of the first {span} steps. {distance} tokens back it is {now}, "
        "and {where} back it is {later} again.",
        "{distance} tokens back: {now}. Farther, at {where}: {later}.",
        "RoFormer’s section on “long-term decay” plots an upper bound, and a smooth one.",
        _back("falls", 305, 0, 511), 0, rope_decay,
        (_arxiv("Su et al. 2021, RoFormer, section 3.4.3", "2104.09864"), _BARBERO),
        ("rope?part=decay&head_dim=128", "RoPE’s decay and its bound"),
        ("ROCm/flash-attention, issue 99", "https://github.com/ROCm/flash-attention/issues/99"),
    ),
    Claim(
        "favours_near", "rope",
        "On average, RoPE gives near tokens a higher score than far ones.",
        "depends",
        "On the mean of queries and keys. Centred on {mean}, the expected score is {near} two "
        "tokens back and {far} a thousand back: no decay at all. Give their components a common "
        "mean, and near ones win.",
        "Mean {mean}: the expected score is {near} two tokens back and {far} a thousand back; "
        "single scores deviate by {spread}.",
        "The curve that tutorials plot is that of equal vectors.",
        _handle("favours_near", "Mean", 0.0, 0.0, 1.0, 0.01, "",
                "Mean of the components of queries and keys, whose deviation is 1."),
        1.0, rope_near,
        (_arxiv("Barbero et al. 2024, proposition 3.2", "2410.06205"), _ROFORMER),
        ("rope?part=decay&head_dim=128", "random vectors beside equal ones"),
    ),
    Claim(
        "first_slow", "rope",
        "In RoPE the first pairs of dimensions turn slowly and the last ones fast.",
        "false",
        "The other way round: pair {pair} needs {tokens} tokens for a whole turn, the last one, "
        "{last}, needs {slowest}.",
        "Pair {pair}: {tokens} tokens for a turn. Pair 0: {fastest}; pair {last}: {slowest}.",
        "“Low dimensions” and “low frequencies” sound alike.",
        _handle("first_slow", "Pair", 0, 0, 63, 1, "", "Pair of dimensions, counted from 0."),
        63, rope_slow,
        (_arxiv("Su et al. 2021, RoFormer, equation 15", "2104.09864"), _YARN),
        ("rope?part=pair&head_dim=128&pair=63", "one pair’s clock"),
    ),
    Claim(
        "half_split", "rope",
        "Hugging Face’s rotate_half gets Llama’s scores wrong, because RoFormer pairs "
        "neighbouring dimensions.",
        "false",
        "It pairs i with i + 64, and the converted weights are reordered to match: {distance} "
        "tokens back both ways give {paper}, and never differ by more than {apart}. Halves with "
        "weights left as they were would give {mixed}.",
        "{distance} tokens back: {paper} for neighbours, {halves} for halves, {mixed} for halves "
        "without reordering.",
        "The code does differ from the formula in the paper; what changes with it is the "
        "checkpoint.",
        _back("half_split", 100, 0, 256), 0, half_split,
        (("Hugging Face, issue 25199", "https://github.com/huggingface/transformers/issues/25199"),
         ("Hugging Face, convert_llama_weights_to_hf.py",
          f"{_HF}models/llama/convert_llama_weights_to_hf.py")),
        ("rope?part=pairings&layout=half", "both pairings"),
        ("Hugging Face, issue 34741", "https://github.com/huggingface/transformers/issues/34741"),
    ),
    Claim(
        "fast_unseen", "rope",
        "Past the trained length, it is RoPE’s fast pairs that meet angles they have never seen.",
        "false",
        "Fast pairs have been all the way round many times. At {times} times {trained} tokens "
        "{unseen} pairs meet new angles, all from pair {first} on: the slow ones, which never "
        "completed a turn.",
        "At {times} × {trained} tokens: {unseen} pairs with new angles, none of them before pair "
        "{first}. Pair {last} needs {slowest} times what it met.",
        "Fast pairs turn the most, and interpolating them does the most harm.",
        _handle("fast_unseen", "Longer by", 4.0, 1.0, 16.0, 0.1, "×",
                "Context over the trained one.", "log"),
        1.0, fast_unseen,
        (_arxiv("Peng et al. 2023, YaRN, section 3.2", "2309.00071"),),
        ("scaling?part=angles", "angles met and not met"),
        ("diomgis.com, From 4K to a Million Tokens",
         "https://diomgis.com/blog/long-context-rope-scaling-yarn-ring-attention"),
    ),
    Claim(
        "extrapolates", "rope",
        "RoPE is relative, so a model with it reads texts longer than its training without "
        "further ado.",
        "false",
        "Small models trained on {context} tokens have perplexity {trained} there and {now} at "
        "{length}. Relative means that positions may shift, not that distances may grow.",
        "At {length} tokens: perplexity {now}; {trained} at the trained {context}, {floor} for "
        "the best possible reader.",
        "A score depends on distance alone, but long distances are as new as far positions.",
        _context("extrapolates", 1024), 256, rope_length,
        (_arxiv("Press et al. 2021, table 2", "2108.12409"),
         _arxiv("Chen et al. 2023, Position Interpolation", "2306.15595")),
        ("lab?model=rope-10000&rope_type=default", "read past its training, in the lab"),
        ("aiwartracker.com, glossary", "https://aiwartracker.com/glossary/rope"),
    ),
    Claim(
        "llama_yarn", "scaling",
        "Llama 3.1 reaches 128k tokens with YaRN.",
        "false",
        "Its rope_type is llama3. By factor {factor} YaRN would multiply scores by {gain}, "
        "Llama’s rule by {own_gain}; and their pairs turn up to {apart} times differently fast.",
        "Factor {factor}: scores × {gain} with YaRN, × {own_gain} with Llama 3; pairs up to "
        "{apart} times apart.",
        "Both keep fast pairs and divide slow ones, and YaRN is the better known name.",
        _factor("llama_yarn", 8.0, 32.0), 1.0, llama31,
        (("meta-llama/llama-models", "https://github.com/meta-llama/llama-models"), _ROPE_UTILS),
        ("scaling?model=Llama-3.1-8B-Instruct&pinned=yarn", "both in the spectrum"),
    ),
    Claim(
        "yarn_gain", "scaling",
        "YaRN multiplies attention scores by 0.1 ln s + 1.",
        "false",
        "By its square. That factor is on cos and sin, so query and key both carry it: for "
        "s = {factor} it is {once}, and a score grows {gain} times.",
        "s = {factor}: {once} on each vector, {gain} on their score.",
        "The paper gives √(1/t), and some repeat it as 1/t.",
        _factor("yarn_gain", 16.0, 64.0), 1.0, yarn_gain,
        (_arxiv("Peng et al. 2023, YaRN, equation 22", "2309.00071"), _ROPE_UTILS),
        ("scaling?part=attention&pinned=yarn&factor=16", "what YaRN does to scores"),
    ),
    Claim(
        "yarn_ramp", "scaling",
        "Models with YaRN run the ramp that its paper prints, linear in rotations.",
        "false",
        "Released code ramps over the index of the pair. For s = {factor}, pair {pair} is slowed "
        "{code} times in the code and {paper} times by the paper: {most} % less frequency.",
        "s = {factor}: pair {pair} is slowed {code} times in code, {paper} by the paper; "
        "frequencies differ by up to {most} %.",
        "The authors’ own repository already differs from equations 17 to 20.",
        _factor("yarn_ramp", 16.0, 64.0), 1.0, yarn_ramp,
        (("jquesnelle/yarn", "https://github.com/jquesnelle/yarn"),
         _arxiv("Peng et al. 2023, YaRN, section 3.2", "2309.00071"), _ROPE_UTILS),
        ("scaling?pinned=yarn&ramp=both&factor=16", "both ramps"),
    ),
    Claim(
        "alpha", "scaling",
        "NTK-aware scaling with alpha = 4 keeps four times the trained context free of unseen "
        "angles.",
        "false",
        "It is {reach} times. Only the very last pair is slowed by the whole {alpha}; those "
        "before it get less and run into new angles sooner.",
        "alpha = {alpha} gives {reach} times the trained {trained} tokens.",
        "The formula is built so that the slowest pair is divided by exactly alpha.",
        _handle("alpha", "alpha", 4.0, 1.0, 16.0, 0.1, "", "alpha of NTK-aware scaling.", "log"),
        1.0, ntk_alpha,
        (_arxiv("Peng et al. 2023, YaRN, section 3.1", "2309.00071"),),
        ("scaling?part=units&unit=alpha_value&value=4", "what alpha means"),
    ),
    Claim(
        "pi_short", "scaling",
        "Position interpolation leaves texts within the trained length as they were.",
        "false",
        "It divides every frequency at every length. Switched on by {factor} without further "
        "training, it lifts the lab’s perplexity at {length} tokens from {plain} to {now}. It is "
        "meant to be fine-tuned.",
        "Divided by {factor}: perplexity {now} at {length} tokens, {plain} as trained.",
        "It was made for longer texts, so one expects nothing to happen to short ones.",
        _factor("pi_short", 4.0, 16.0), 1.0, pi_short,
        (_arxiv("Chen et al. 2023, Position Interpolation", "2306.15595"),),
        ("lab?model=rope-10000&rope_type=linear&factor=4", "interpolation in the lab"),
    ),
    Claim(
        "dynamic_short", "scaling",
        "By its formula, dynamic NTK leaves texts within the trained length exactly as they were.",
        "true",
        "At {seq_len} tokens, the trained length, it slows {moved} pairs. Only beyond it does the "
        "base grow with the text.",
        "At {seq_len} tokens {moved} pairs are slowed, the slowest {slowest} times.",
        "Other scaling methods change short texts too, and vLLM’s version of this one scales "
        "always.",
        _handle("dynamic_short", "Tokens read", 4096, 256, 16384, 1, "tokens",
                "Length of the text."),
        16384, dynamic_short,
        (_ROPE_UTILS, ("vLLM, issue 41236", "https://github.com/vllm-project/vllm/issues/41236")),
        ("scaling?part=cache&growing=dynamic", "dynamic NTK while a text grows"),
    ),
    Claim(
        "yarn_ntk", "scaling",
        "Without fine-tuning, YaRN loses less than NTK-aware scaling by the same factor.",
        "depends",
        "On the length. By {factor} the lab’s models have {yarn} with YaRN and {ntk} with NTK at "
        "{length} tokens, but {yarn_long} and {ntk_long} at {stretched}. All three seeds agree at "
        "both.",
        "At {length} tokens: YaRN {yarn}, NTK {ntk}.",
        "YaRN’s paper compares at the long end, where YaRN was made to win.",
        _context("yarn_ntk", 256), 1024, yarn_ntk,
        (_arxiv("Peng et al. 2023, YaRN, section 4", "2309.00071"),),
        ("lab?model=rope-10000&rope_type=yarn&factor=4", "both in the lab"),
    ),
    Claim(
        "flat_curve", "measuring",
        "A perplexity that stays low on longer and longer texts shows that the model uses them.",
        "false",
        "A model that sees only the last {window} tokens does it too: {trained} at {window}, "
        "{now} at {length}. The lab’s ALiBi model, which reads everything, gets {full}: this gap "
        "is what the far text is worth.",
        "At {length} tokens: {now} with a window of {window}, {full} reading everything.",
        "Papers on long context often show just this curve.",
        _context("flat_curve", 2048, 64, 2048), 256, perplexity_uses,
        (_arxiv("Hsieh et al. 2024, RULER", "2404.06654"),
         _arxiv("Fang et al. 2024, on perplexity for long context", "2410.23771")),
        ("lab?model=rope-10000&reading=sliding", "the sliding window in the lab"),
    ),
    Claim(
        "needle", "measuring",
        "A model that finds a fact late in a long text finds it at the start as well.",
        "false",
        "In {length} tokens, the lab’s {models} RoPE models of {context} get {late} % of the "
        "letters right near the end and {first} % at the start; guessing gives 5 %.",
        "Depth {depth} %: {found} % right; {late} % near the end.",
        "One needle in one place is the demonstration that one sees most.",
        _handle("needle", "Depth", 0, 0, 100, 1, "%", "Where in the text the fact stands."),
        100, needle_depth,
        (_arxiv("Liu et al. 2023, Lost in the Middle", "2307.03172"),
         _arxiv("Hsieh et al. 2024, RULER", "2404.06654")),
        ("needle?model=rope-10000", "needles by depth and length"),
    ),
    Claim(
        "seeds", "measuring",
        "Trained again from another seed, a RoPE model fails past its length in the same way.",
        "false",
        "The lab’s {count} agree within their {context} tokens; at {length} the best has "
        "perplexity {lowest} and the worst {highest}.",
        "At {length} tokens: {lowest} to {highest} over {count} seeds.",
        "Within the trained length seeds hardly differ, and few papers train twice.",
        _context("seeds", 2048), 256, seeds_alike,
        (_arxiv("McCoy et al. 2019, BERTs of a feather", "1911.02969"),),
        ("lab?model=rope-10000&seed=1", "another seed in the lab"),
    ),
    Claim(
        "torch_rope", "practice",
        "PyTorch has a function for RoPE in torch.nn.functional.",
        "false",
        "Up to version {version} it has none, though several have been proposed. Everybody "
        "writes x cos + rotate_half(x) sin; it misses the rotation by {apart}.",
        "Position {position}: {value} either way; over all positions they differ by {apart}.",
        "scaled_dot_product_attention is there, and libraries around PyTorch do have one.",
        _handle("torch_rope", "Position", 50, 0, 100, 1, "tokens", "Where the query stands."),
        0, torch_rope,
        (("PyTorch, issue 149534", "https://github.com/pytorch/pytorch/issues/149534"),
         ("PyTorch, torch.nn.functional",
          "https://docs.pytorch.org/docs/stable/nn.functional.html")),
        ("scaling?part=take", "code to take along"),
    ),
    Claim(
        "norm_order", "practice",
        "RMSNorm on queries and keys may stand before RoPE or after it: the scores are the same.",
        "depends",
        "On the norm’s gain. Where both dimensions of a pair share one, orders differ by {equal}, "
        "which is rounding. With gains that differ freely by {spread}, scores differ by up to "
        "{free}, and depend on where both tokens stand.",
        "Gains apart by {spread}: {free} between the orders; {equal} if pairs share a gain.",
        "A rotation keeps lengths, so the norm without a gain does not care.",
        _handle("norm_order", "Gains apart", 0.5, 0.0, 1.0, 0.01, "",
                "Standard deviation of the logarithm of the gains."),
        0.0, norm_order,
        (("Hugging Face, modeling_qwen3.py (before)", f"{_HF}models/qwen3/modeling_qwen3.py"),
         ("Hugging Face, modeling_hunyuan_v1_dense.py (after)",
          f"{_HF}models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py")),
        ("rope?part=norm&gain=free", "QK-norm and RoPE"),
    ),
    Claim(
        "bfloat16", "practice",
        "Token positions can be kept in bfloat16 without error.",
        "depends",
        "On how long the text is. Up to {exact} they can; position {position} is held as {held}, "
        "so neighbours share their angles.",
        "Position {position} is held as {held}, {error} off; exact up to {exact}.",
        "Whole numbers look harmless, and short tests never reach 257.",
        _handle("bfloat16", "Position", 2001, 1, 4096, 1, "tokens", "A position.", "log"),
        256, bfloat16_positions,
        (("Hugging Face, pull request 29285",
          "https://github.com/huggingface/transformers/pull/29285"),),
        ("doctor", "Config doctor"),
    ),
    Claim(
        "head_dim", "practice",
        "To get a model’s head_dim, divide hidden_size by num_attention_heads.",
        "depends",
        "On the model. {model} divides {hidden} among {heads} heads, which gives {divided}; its "
        "head_dim is {head_dim}. So it is with {differ} of {models} models on record.",
        "{model}: {hidden} / {heads} = {divided}, head_dim {head_dim}.",
        "It holds for Llama, and much code fills in the quotient.",
        _handle("head_dim", "Model", 2, 1, len(HEADS), 1, "", "Number of a released model."),
        1, head_dims,
        (("vllm-project/speculators, pull request 134",
          "https://github.com/vllm-project/speculators/pull/134"),
         ("Hugging Face, configuration_qwen3.py", f"{_HF}models/qwen3/configuration_qwen3.py")),
        ("models?model=gpt-oss-20b", "released models"),
    ),
)  # fmt: skip
"""Every claim, in the order of the page. Links count them: new ones stand at the end."""
