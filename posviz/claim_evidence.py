"""What decides each claim of :mod:`posviz.claims`: from a handle's value to numbers and a picture.

The numbers come from the core, from what the trained models measured, or from published tables.
Labels are English message ids; the user interface translates them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    precision,
    presets,
    published,
    qk_norm,
    relative,
    rope,
    sinusoidal,
)
from posviz.params import Message
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, Llama3, Ntk, RopeScaling, Yarn

Floats = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Line:
    """A curve of a picture.

    Attributes:
        template: What it is, a message id.
        values: One for each ``x``.
        shade: The encoding or method that it belongs to; ``claim`` if it is what the claim says,
            ``quiet`` or ``ink`` if it only helps to read the others.
        dashed: Whether it must be told from one that it may cover.
        names: For its placeholders.
    """

    template: Message
    values: Floats
    shade: str
    dashed: bool = False
    names: Mapping[str, object] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What it is, in English."""
        return self.template.format(**self.names)


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
    x_title: Message
    y_title: Message
    x_range: Range
    y_range: Range
    x_ticks: tuple[float, ...] = ()
    y_ticks: tuple[float, ...] = ()
    mark: float | None = None


@dataclass(frozen=True)
class Bar:
    """A bar: what it is, how long, and its shade as in :class:`Line`."""

    label: Message
    value: float
    shade: str


@dataclass(frozen=True)
class Bars:
    """Lengths side by side, on an axis from 0 to ``high``, which no handle moves."""

    bars: tuple[Bar, ...]
    title: Message
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


def _beyond(family: str, label: Message, shade: str, length: float) -> Evidence:
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
        Line("read off the table", table[k:, 2 * pair], "sinusoidal"),
        Line("one matrix for all positions", turned[:, 2 * pair], "ink", dashed=True),
    )
    residual = float(sinusoidal.shift_residual(k, count, d_model).max())
    return Evidence(
        {"shift": k, "residual": residual, "positions": count, "d_model": d_model},
        Curves(np.arange(float(count)), lines, "position p", "one column, shifted",
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
             "trained numbers, 12 layers", 1100.0),
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
        Curves(lengths, lines, "tokens of the text", "tokens with 99 % of it",
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
    """T5's buckets by distance, 32 of them up to 128: a decoder's and an encoder's, as steps."""
    distances = np.arange(2049)
    edges = np.concatenate([[1.0], np.repeat(np.arange(1.5, 2048.5), 2), [2048.0]])
    numbers: dict[str, float] = {"distance": back}
    lines = []
    for reader, bidirectional, shade in (("encoder", True, "ink"), ("decoder", False, "t5")):
        buckets = relative.t5_bucket(-distances, bidirectional=bidirectional).astype(np.float64)
        ranges = relative.t5_bucket_ranges(bidirectional=bidirectional)
        before = [one for one in ranges if one.nearest <= 0]
        numbers |= {
            reader: buckets[int(back)], f"{reader}_far": buckets[2000],
            f"{reader}_starts": -before[-1].nearest,
        }  # fmt: skip
        # Flat halfway to both neighbours, so that a bucket looks like one.
        lines.append(Line(reader, np.repeat(buckets[1:], 2), shade, dashed=bidirectional))
    return Evidence(
        numbers,
        Curves(edges, tuple(lines), "tokens back", "bucket", (1.0, 2048.0), (0.0, 33.0),
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
               "tokens back", "score, q = k", (0.0, 512.0), (0.0, 12.0), mark=back),
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
               "pair, fast to slow", "angle / largest met", (0.0, pairs - 1.0),
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
    """YaRN's ramp as printed and as released code runs it."""
    code = _slowed(Yarn(factor, _TRAINED), _PLAIN)
    paper = _slowed(Yarn(factor, _TRAINED, ramp_over="turns"), _PLAIN)
    ratio = float((np.maximum(code, paper) / np.minimum(code, paper)).max())
    pair = 38  # where they are farthest apart for a factor of 16
    return Evidence(
        {"factor": factor, "most": 100.0 * round(1.0 - 1.0 / ratio, 9), "pair": pair,
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


def yarn_ntk(factor: float) -> Evidence:
    """Perplexity of the lab's RoPE models under YaRN and NTK by one factor, by context.

    Beside it what LongRoPE's paper measured on Llama 2 7B: YaRN and dynamic NTK at 8,192 tokens of
    PG-19, without fine-tuning.
    """
    family = "names-rope-10000"

    def both(one: float) -> tuple[float, Floats, Floats]:
        """The length that a factor is for, and the perplexities."""
        return (one * measured.TRAINED_LENGTH, _perplexity(family, "yarn", one),
                _perplexity(family, "ntk", one))  # fmt: skip

    length, yarn, ntk = both(measured.nearest_factor(factor))
    far, yarn_far, ntk_far = both(8.0)
    at, at_far = (measured.LENGTHS.index(int(one)) for one in (length, far))
    books = published.table("longrope-1-pg19")
    book = {one.rope_type: float(one.values[0]) for one in books.series}
    return Evidence(
        {"factor": measured.nearest_factor(factor), "length": length,
         "yarn": float(yarn[at]), "ntk": float(ntk[at]), "far_factor": 8.0, "far": far,
         "yarn_far": float(yarn_far[at_far]), "ntk_far": float(ntk_far[at_far]),
         "book_length": float(books.series[0].lengths[0]),
         "book_yarn": book["yarn"], "book_ntk": book["dynamic"]},
        _over_lengths((_floor(), Line("NTK-aware", ntk, "ntk", True),
                       Line("YaRN, beta_fast 8", yarn, "yarn")), length, 40.0),
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
        Line("seed {seed}", values, shade, dashed=n > 0, names={"seed": n})
        for n, (values, shade) in enumerate(zip(curves, shades, strict=True))
    )
    return Evidence(
        {"length": measured.LENGTHS[at], "lowest": min(here), "highest": max(here),
         "context": measured.TRAINED_LENGTH, "count": len(curves)},
        _over_lengths(lines, measured.LENGTHS[at], 300.0),
    )  # fmt: skip


# --------------------------------------------------------------------------------------- practice

TORCH = "2.13"
"""The version of torch whose ``torch.nn.functional`` was searched for RoPE."""
TORCH_NAMES = {"norm": 7, "embedding": 4, "attention": 2, "rope": 0}
"""How many of its public names contain each of these; for ``rope``, or ``rotary``."""


def torch_rope(_: float) -> Evidence:
    """Names in ``torch.nn.functional`` by what they are about; no handle moves them."""
    norm, embedding, attention, rope_names = TORCH_NAMES.values()
    return Evidence(
        TORCH_NAMES,
        Bars((Bar("norm", norm, "quiet"), Bar("embedding", embedding, "ink"),
              Bar("attention", attention, "none"), Bar("rope or rotary", rope_names, "claim")),
             "names in torch.nn.functional with this word in them", 8.0),
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
