"""Mistaken formulas of positions beside the right ones, and what they do to scores.

Wrong formulas stand here and nowhere else, each named as what it is; right ones come from the
modules that own them.

What is scored: one query and one key of length ``sqrt(head_dim)`` each, divided by
``sqrt(head_dim)`` as attention does, so that a perfect match scores ``sqrt(head_dim)``. For RoPE
both are (1, ..., 1), or, where that would hide the mistake or a head looks back, a random query and
the key that it looks for ``look_back`` tokens behind (:func:`posviz.rope.peaked_key`). For ALiBi
and T5 all keys match equally and the score is the bias alone. An error is the mistaken minus the
right score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from posviz import alibi, arrays, mrope, params, precision, relative, rope
from posviz.cache_timeline import Timeline
from posviz.mistake_outcome import VISIBLE, Fact, Floats, Ints, Outcome, Scores
from posviz.mistake_settings import Settings
from posviz.rope import Layout, RoPE
from posviz.rope_scaling import DynamicNtk, Linear, LongRope, Ntk, Proportional, Yarn

BUCKETS, MAX_DISTANCE, PER_BUCKET = 32, 128, (0.25, 0.5)
"""T5's buckets, and what the table shown here takes off per bucket behind and ahead of the query.

A stand-in for a trained table: nearest is best, and what lies ahead costs twice as much.
"""

GRID = 64
"""Patches of an image along each side."""


# ------------------------------------------------------------------------------ ways to turn


@dataclass(frozen=True, eq=False)
class Turning:
    """A way to rotate a head: frequencies, pairing, and the factor on cos and sin."""

    inv_freq: Floats
    layout: Layout = "half"
    attention_factor: float = 1.0

    def curve(self, q: Floats, k: Floats, seq_len: int) -> Floats:
        """Scaled score of ``q`` and ``k`` at every distance; dimensions past the pairs stay."""
        turned = 2 * len(self.inv_freq)
        moving = rope.score_curve(q[:turned], k[:turned], seq_len, self.inv_freq, self.layout)
        still = float(q[turned:] @ k[turned:])
        return np.asarray((self.attention_factor**2 * moving + still) / math.sqrt(len(q)))


def _by_table(right: Floats, mistaken: Floats) -> Scores:
    """Scores that go by the distance alone, from one number per distance."""

    def scores(positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        shape = len(positions), len(distances)
        return (
            np.broadcast_to(right[distances], shape),
            np.broadcast_to(mistaken[distances], shape),
        )

    return scores


def _turned(
    settings: Settings, right: Turning, mistaken: Turning, facts: tuple[Fact, ...] = (),
    query: Floats | None = None,
) -> Outcome:  # fmt: skip
    """Two ways to turn one query and the key that it looks for; both go by the distance alone."""
    q = np.ones(settings.head_dim) if query is None else query
    k = rope.peaked_key(q, settings.look_back, right.inv_freq, right.layout)
    curves = (way.curve(q, k, settings.seq_len) for way in (right, mistaken))
    scale = math.sqrt(settings.head_dim)
    return Outcome(_by_table(*curves), settings.seq_len, scale, scale / 2, facts=facts)


def _query(settings: Settings, layout: Layout) -> Floats:
    """A random query of the length of (1, ..., 1)."""
    q = rope.random_vectors(settings.head_dim // 2, layout)[0]
    return np.asarray(q * math.sqrt(settings.head_dim) / np.linalg.norm(q))


def _frequency_facts(right: Turning, mistaken: Turning, pair: int = -1) -> tuple[Fact, ...]:
    """The slowest pair (or another one), and the factor if it differs."""
    told = "slowest inv_freq" if pair == -1 else "inv_freq of pair {pair}"
    facts = [
        Fact(
            told, float(right.inv_freq[pair]), float(mistaken.inv_freq[pair]), values={"pair": pair}
        )
    ]
    if right.attention_factor != mistaken.attention_factor:
        facts.append(Fact("factor on cos and sin", right.attention_factor,
                          mistaken.attention_factor))  # fmt: skip
    return tuple(facts)


def _scaled(settings: Settings) -> Turning:
    """RoPE under the right scaling, at the length of the text."""
    inv_freq, factor = settings.scaling.frequencies(settings.rope, settings.seq_len)
    return Turning(inv_freq, attention_factor=factor)


# --------------------------------------------------------------------------------- mistakes


def pairing(right: Layout, mistaken: Layout) -> Callable[[Settings], Outcome]:
    """Dimensions paired one way by the weights, the other way by the code."""

    def outcome(settings: Settings) -> Outcome:
        frequencies = settings.rope.inv_freq
        ways = Turning(frequencies, right), Turning(frequencies, mistaken)
        near, far = rope.mixup_error(frequencies, [1, settings.seq_len - 1])
        facts = (
            Fact("partner of dimension 0", *(rope.pair_slices(settings.head_dim, way)[1].start
                                             for way in (right, mistaken))),
            Fact("error at distance 1, all queries and keys", 0.0, float(near)),
            Fact("and at the farthest", 0.0, float(far)),
        )  # fmt: skip
        return _turned(settings, *ways, facts, _query(settings, right))

    return outcome


def base(settings: Settings) -> Outcome:
    """RoPE under another base than the right one."""
    right = Turning(settings.rope.inv_freq)
    mistaken = Turning(RoPE(settings.rope.rotary_dim, settings.mistaken_theta).inv_freq)
    slow = rope.wavelength([right.inv_freq[-1], mistaken.inv_freq[-1]])
    facts = (*_frequency_facts(right, mistaken), Fact("tokens per turn of it", *slow.tolist()))
    return _turned(settings, right, mistaken, facts)


def unscaled(settings: Settings) -> Outcome:
    """Plain frequencies, and no factor on cos and sin, where the right setting scales."""
    right, mistaken = _scaled(settings), Turning(settings.rope.inv_freq)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def clamped(settings: Settings) -> Outcome:
    """YaRN's ramp ended at the last pair instead of at ``rotary_dim - 1``."""
    yarn, right = _yarn(settings), _scaled(settings)
    low, high = yarn.correction_range(settings.rope)
    pairs = settings.rope.rotary_dim // 2
    high = min(high, pairs - 1.0)
    ramp = np.clip((np.arange(pairs) - low) / max(high - low, 0.001), 0.0, 1.0)
    plain = settings.rope.inv_freq
    mistaken = replace(right, inv_freq=plain * (1.0 - ramp) + plain / yarn.factor * ramp)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def always_short(settings: Settings) -> Outcome:
    """LongRoPE's length taken from what the cache holds before the prompt: always short."""
    right = _scaled(settings)
    short = settings.scaling.frequencies(settings.rope, 1)
    mistaken = Turning(short[0], attention_factor=short[1])
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def long_at_trained(settings: Settings) -> Outcome:
    """LongRoPE's lists chosen by ``<`` where it is ``<=``: long at exactly the trained length."""
    right = _scaled(settings)
    asked = settings.seq_len
    if isinstance(settings.scaling, LongRope):
        asked += asked == settings.scaling.original_max_position_embeddings
    inv_freq, factor = settings.scaling.frequencies(settings.rope, asked)
    mistaken = Turning(inv_freq, attention_factor=factor)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _yarn(settings: Settings) -> Yarn:
    params.instance("scaling", settings.scaling, Yarn)
    assert isinstance(settings.scaling, Yarn)
    return settings.scaling


def twice(settings: Settings) -> Outcome:
    """Scaled frequencies divided by the factor once more."""
    right = _scaled(settings)
    mistaken = replace(right, inv_freq=right.inv_freq / settings.factor)
    facts = (*_frequency_facts(right, mistaken), _slowing(settings, right, mistaken, 0),
             _slowing(settings, right, mistaken))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def _slowing(settings: Settings, right: Turning, mistaken: Turning, pair: int = -1) -> Fact:
    """How many times slower than plainly a pair turns."""
    told = {
        0: "plain over loaded, fastest pair", -1: "plain over loaded, slowest pair",
    }.get(pair, "plain over loaded, pair {pair}")  # fmt: skip
    slow = (settings.rope.inv_freq[pair] / way.inv_freq[pair] for way in (right, mistaken))
    return Fact(told, *map(float, slow), values={"pair": pair})


def ntk_base_too(settings: Settings) -> Outcome:
    """YaRN whose kept pairs come from NTK's base, which had stretched them already."""
    yarn, right = _yarn(settings), _scaled(settings)
    kept, _ = Ntk(yarn.factor).frequencies(settings.rope)
    ramp = yarn.ramp(settings.rope)
    inv_freq = kept * (1.0 - ramp) + settings.rope.inv_freq / yarn.factor * ramp
    mistaken = replace(right, inv_freq=inv_freq)
    facts = (*_frequency_facts(right, mistaken, 10), _slowing(settings, right, mistaken, 10))
    return _turned(settings, right, mistaken, facts)


def inside_the_power(settings: Settings) -> Outcome:
    """YaRN whose divided pairs have the factor inside the power: ``(s * theta)**(-2i / d)``."""
    yarn, right = _yarn(settings), _scaled(settings)
    ramp = yarn.ramp(settings.rope)
    divided = RoPE(settings.rope.rotary_dim, yarn.factor * settings.rope_theta).inv_freq
    mistaken = replace(right, inv_freq=settings.rope.inv_freq * (1.0 - ramp) + divided * ramp)
    facts = (*_frequency_facts(right, mistaken), _slowing(settings, right, mistaken))
    return _turned(settings, right, mistaken, facts)


def always_stretched(settings: Settings) -> Outcome:
    """Dynamic NTK computed once, for ``factor`` times the trained length, at every length."""
    dynamic, right = _dynamic_of(settings), _scaled(settings)
    longest = math.ceil(dynamic.factor * dynamic.max_position_embeddings)
    mistaken = Turning(dynamic.frequencies(settings.rope, longest)[0])
    facts = (Fact("base", _base_of(dynamic, settings), _base_of(dynamic, settings, longest)),
             *_frequency_facts(right, mistaken))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def positions_too(settings: Settings) -> Outcome:
    """Dynamic NTK of factor 2 whatever the file says, over positions that are doubled."""
    dynamic, right = _dynamic_of(settings), _scaled(settings)
    other = replace(dynamic, factor=2.0)
    mistaken = Turning(2.0 * other.frequencies(settings.rope, settings.seq_len)[0])
    facts = (Fact("base", _base_of(dynamic, settings), _base_of(other, settings)),
             Fact("positions times", 1.0, 2.0),
             Fact("cosine of pair 0, one token on",
                  *(float(np.cos(way.inv_freq[0])) for way in (right, mistaken))))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def _dynamic_of(settings: Settings) -> DynamicNtk:
    params.instance("scaling", settings.scaling, DynamicNtk)
    assert isinstance(settings.scaling, DynamicNtk)
    return settings.scaling


def _base_of(dynamic: DynamicNtk, settings: Settings, seq_len: int | None = None) -> float:
    """Base of dynamic NTK at a length."""
    length = settings.seq_len if seq_len is None else seq_len
    timeline = Timeline(settings.rope, dynamic, length, length, engine="stateless")
    return float(timeline.base([0])[0])


def reciprocal(settings: Settings) -> Outcome:
    """Position interpolation with 1 / factor: every pair sped up instead of slowed."""
    linear = Linear(settings.factor)
    plain = settings.rope.inv_freq
    right = Turning(linear.frequencies(settings.rope)[0])
    mistaken = Turning(plain * settings.factor)
    facts = (*_frequency_facts(right, mistaken),
             Fact("fastest inv_freq", float(right.inv_freq[0]),
                  float(mistaken.inv_freq[0])))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def mscale(
    mistaken: Callable[[float, float], float], full: float = 1.0
) -> Callable[[Settings], Outcome]:
    """YaRN under another factor on cos and sin, made of the right one and the scale factor.

    ``full`` is the error that a map draws in full colour, over the score of a perfect match.
    """

    def outcome(settings: Settings) -> Outcome:
        right = _scaled(settings)
        wrong = replace(right, attention_factor=mistaken(right.attention_factor, settings.factor))
        facts = (
            Fact("factor on cos and sin", right.attention_factor, wrong.attention_factor),
            Fact("factor on rotated scores", right.attention_factor**2, wrong.attention_factor**2),
        )
        outcome = _turned(settings, right, wrong, facts)
        return replace(outcome, full=full * outcome.scale)

    return outcome


def _whole_head(settings: Settings) -> Turning:
    """What turns when frequencies and partners are counted over the whole head."""
    head = RoPE(settings.head_dim, settings.rope_theta)
    return Turning(Proportional(settings.partial_rotary_factor).frequencies(head)[0])


def _part_of_head(settings: Settings) -> Turning:
    """What turns when they are counted over the rotary dimensions alone."""
    part = rope.rotary_dim(settings.head_dim, settings.partial_rotary_factor)
    return Turning(rope.inv_freq(part, settings.rope_theta))


def _partial_facts(right: Turning, mistaken: Turning) -> tuple[Fact, ...]:
    ways = right, mistaken
    pair = min(16, *(int(np.count_nonzero(way.inv_freq)) - 1 for way in ways))
    return (
        *_frequency_facts(right, mistaken, pair),
        Fact("partner of dimension 0", *(float(len(way.inv_freq)) for way in ways)),
    )


def over_the_head(settings: Settings) -> Outcome:
    """Partial rotary counted over the whole head, as if it were proportional."""
    right, mistaken = _part_of_head(settings), _whole_head(settings)
    return _turned(settings, right, mistaken, _partial_facts(right, mistaken))


def over_the_part(settings: Settings) -> Outcome:
    """Proportional RoPE counted over the rotary dimensions, as if it were partial."""
    right, mistaken = _whole_head(settings), _part_of_head(settings)
    return _turned(settings, right, mistaken, _partial_facts(right, mistaken))


def _biased(
    settings: Settings, right: Floats, mistaken: Floats, facts: tuple[Fact, ...]
) -> Outcome:
    scores = _by_table(right, mistaken)
    return Outcome(scores, settings.seq_len, 1.0, 8.0, facts=facts)


def _sloped(settings: Settings, right: float, mistaken: float, *more: Fact) -> Outcome:
    """ALiBi's bias under two slopes."""
    distances = np.arange(settings.seq_len)
    biases = alibi.bias(right, distances), alibi.bias(mistaken, distances)
    ten = alibi.bias(right, 10.0), alibi.bias(mistaken, 10.0)
    facts = (
        Fact("slope of this head", right, mistaken), *more,
        Fact("bias at distance 10", *map(float, ten)),
    )  # fmt: skip
    return _biased(settings, *biases, facts)


def paper_rule(settings: Settings) -> Outcome:
    """The paper's slopes where released models have others."""
    released, paper = alibi.slopes(settings.num_heads), alibi.paper_slopes(settings.num_heads)
    own = settings.head - 1
    return _sloped(
        settings, float(released[own]), float(paper[own]),
        Fact("slope of head 1", float(released[0]), float(paper[0])),
        Fact("heads with another slope", 0.0,
             float(alibi.differs_from_paper(settings.num_heads).sum())),
    )  # fmt: skip


def off_by_one(settings: Settings) -> Outcome:
    """The released rule with heads counted from 0: exponents begin at 0."""
    right = alibi.slopes(settings.num_heads)
    series = (alibi.series(settings.num_heads, head + 1) for head in range(settings.num_heads))
    mistaken = [2.0 ** (-8.0 * (place - 1) / count) for count, place in series]
    own = settings.head - 1
    return _sloped(settings, float(right[own]), float(mistaken[own]),
                   Fact("slope of head 1", float(right[0]), float(mistaken[0])),
                   Fact("slope of the last head", float(right[-1]),
                        float(mistaken[-1])))  # fmt: skip


def bias_max_ignored(settings: Settings) -> Outcome:
    """Slopes for an exponent of 8 whatever ``alibi_bias_max`` says."""
    right = alibi.slopes(settings.num_heads, settings.alibi_bias_max)
    mistaken = alibi.slopes(settings.num_heads)
    own = settings.head - 1
    return _sloped(settings, float(right[own]), float(mistaken[own]),
                   Fact("slope of head 1", float(right[0]), float(mistaken[0])))  # fmt: skip


def added_after_scaling(settings: Settings) -> Outcome:
    """Falcon's bias added to scores that are divided already, where Falcon divides it too."""
    slope = float(precision.bfloat16(alibi.slopes(settings.num_heads))[settings.head - 1])
    return _sloped(settings, slope / math.sqrt(settings.head_dim), slope)


def _t5_table(bidirectional: bool) -> Floats:
    """Bias of each bucket: less with each one, and twice as fast ahead of the query."""
    behind, ahead = PER_BUCKET
    if not bidirectional:
        return np.asarray(0.0 - behind * np.arange(BUCKETS), np.float64)
    side = np.arange(BUCKETS // 2)
    return np.asarray(np.concatenate([0.0 - behind * side, 0.0 - ahead * side]), np.float64)


def flipped(bidirectional: bool) -> Callable[[Settings], Outcome]:
    """T5's relative position as query minus key, where it is key minus query."""

    def outcome(settings: Settings) -> Outcome:
        table, away = _t5_table(bidirectional), np.arange(settings.seq_len)
        buckets = [
            relative.t5_bucket(sign * away, BUCKETS, MAX_DISTANCE, bidirectional)
            for sign in (-1, 1)
        ]
        here = min(8, settings.seq_len - 1)
        facts = (
            Fact("bucket of the key 1 behind", *(float(one[1]) for one in buckets)),
            Fact("bucket of the key {distance} behind",
                 *(float(one[here]) for one in buckets), values={"distance": here}),
        )  # fmt: skip
        return _biased(settings, table[buckets[0]], table[buckets[1]], facts)

    return outcome


def _by_seen(
    settings: Settings, seen: Callable[[Ints, Ints], Ints], facts: tuple[Fact, ...],
    begins: int | None,
) -> Outcome:  # fmt: skip
    """RoPE that sees another distance: ``seen(positions, distances)``, with broadcasting."""
    ways = Turning(settings.rope.inv_freq)
    q = np.ones(settings.head_dim)
    reach = 2 * settings.seq_len + settings.padding
    curve = ways.curve(q, q, reach)
    scale = math.sqrt(settings.head_dim)

    def scores(positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        away = np.abs(seen(positions[:, None], distances[None, :]))
        shape = len(positions), len(distances)
        right = np.broadcast_to(curve[distances], shape)
        return right, np.broadcast_to(curve[np.minimum(away, reach - 1)], shape)

    return Outcome(scores, settings.seq_len, scale, scale / 2, "position", facts, begins)


def coarse(dtype: precision.Dtype) -> Callable[[Settings], Outcome]:
    """Positions held in a coarse dtype; frequencies and angles are exact."""

    def outcome(settings: Settings) -> Outcome:
        held = precision.rounded(dtype, np.arange(settings.seq_len)).astype(np.intp)

        def seen(positions: Ints, distances: Ints) -> Ints:
            return np.asarray(held[positions] - held[np.maximum(positions - distances, 0)])

        exact = precision.last_exact_position(dtype)
        facts = tuple(
            Fact("position {at}", float(at), float(precision.rounded(dtype, [at])[0]),
                 values={"at": params.shown(at)})
            for at in (exact, exact + 1, 15962)
        )  # fmt: skip
        return _by_seen(settings, seen, facts, exact + 1)

    return outcome


def coarse_frequencies(settings: Settings) -> Outcome:
    """Frequencies held in bfloat16, positions exact: far angles drift, by the distance alone."""
    right = Turning(settings.rope.inv_freq)
    mistaken = Turning(precision.bfloat16(right.inv_freq))
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken, 1))


def jumped(settings: Settings) -> Outcome:
    """Prompt numbered from its first word, later tokens by their place behind the padding."""

    def seen(positions: Ints, distances: Ints) -> Ints:
        crosses = (positions >= settings.prompt) & (positions - distances < settings.prompt)
        return np.asarray(distances + settings.padding * crosses)

    facts = (
        Fact("position of the first new token", float(settings.prompt),
             float(settings.prompt + settings.padding)),
        Fact("distance to the last word of the prompt", 1.0, 1.0 + settings.padding),
    )  # fmt: skip
    return _by_seen(settings, seen, facts, settings.prompt if settings.padding else None)


def shifted(settings: Settings) -> Outcome:
    """Every token numbered by its place behind the padding: RoPE sees the same distances."""

    def seen(positions: Ints, distances: Ints) -> Ints:
        return np.asarray((positions + settings.padding) - (positions - distances)
                          - settings.padding)  # fmt: skip

    facts = (Fact("position of the first word", 0.0, float(settings.padding)),
             Fact("distance of neighbours", 1.0, 1.0))  # fmt: skip
    return _by_seen(settings, seen, facts, None)


@dataclass(frozen=True, eq=False)
class _Grown:
    """Scores with a cache whose keys keep the frequencies of the length at which they entered."""

    timeline: Timeline

    @cached_property
    def frequencies(self) -> Floats:
        """Those in force when each token was read, ``(tokens, pairs)``."""
        return self.timeline.frequencies(np.arange(self.timeline.total))

    @cached_property
    def placed(self) -> tuple[Floats, Floats]:
        """Cos and sin of each token at its place, under those frequencies."""
        angles = np.arange(self.timeline.total)[:, None] * self.frequencies
        return np.cos(angles), np.sin(angles)

    def begins(self, factor: float) -> int | None:
        """Position before which no score, times ``factor``, can be off by :data:`VISIBLE`.

        A cosine moves by no more than its angle, the angle of a key by no more than its place
        times how far the frequencies went, and no key stands beyond its query.
        """
        gone = np.abs(self.frequencies - self.frequencies[0])
        angles = np.minimum(2.0, np.arange(len(gone))[:, None] * gone)
        most = 2.0 * factor / math.sqrt(2 * gone.shape[1]) * angles.sum(axis=1)
        found = np.flatnonzero(most > VISIBLE)
        return int(found[0]) if len(found) else None

    def __call__(self, positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        cos, sin = self.placed
        keys = np.maximum(positions[:, None] - distances, 0)
        if len(distances) < len(positions):
            parts = (np.einsum("qp,qdp->qd", one[positions], one[keys]) for one in (cos, sin))
            mistaken = sum(parts)
            angles = distances[None, :, None] * self.frequencies[positions][:, None, :]
            right = np.cos(angles).sum(axis=-1)
        else:
            products = cos[positions] @ cos.T + sin[positions] @ sin.T  # (queries, tokens)
            mistaken = np.take_along_axis(products, keys, axis=1)
            reach = int(distances.max()) + 1
            unique, which = np.unique(self.frequencies[positions], axis=0, return_inverse=True)
            curves = np.stack([rope.cosine_sums(one, reach) for one in unique])
            right = curves[which.ravel()][:, distances]
        scale = 2.0 / math.sqrt(2 * cos.shape[1])
        return np.asarray(scale * right), np.asarray(scale * mistaken)


def cached(settings: Settings) -> Outcome:
    """Keys that stay in the cache as they were rotated, while the frequencies go on."""
    arrays.check_count("seq_len and head_dim", settings.seq_len, settings.head_dim)
    prompt = min(settings.prompt, settings.seq_len)
    timeline = Timeline(settings.rope, settings.scaling, prompt, settings.seq_len,
                        engine="stateless")  # fmt: skip
    factor = settings.scaling.frequencies(settings.rope, settings.seq_len)[1] ** 2
    grown = _Grown(timeline)

    def scores(positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        right, mistaken = grown(positions, distances)
        return factor * right, factor * mistaken

    now, then = (float(timeline.frequencies([at])[0, -1]) for at in (settings.seq_len - 1, 0))
    facts = [Fact("slowest inv_freq of the first key", now, then)]
    if isinstance(settings.scaling, DynamicNtk):
        bases = timeline.base([settings.seq_len - 1, 0])
        facts.append(Fact("base of the first key", *bases.tolist()))
    scale = factor * math.sqrt(settings.rope.rotary_dim)
    return Outcome(scores, settings.seq_len, scale, scale / 2, "position", tuple(facts),
                   grown.begins(factor))  # fmt: skip


def sections(settings: Settings) -> Outcome:
    """M-RoPE's axes in blocks where they take turns, or the other way round."""
    order = settings.mrope_interleaved
    axes, other = (
        mrope.axis_of_frequency(settings.mrope_section, interleaved)
        for interleaved in (order, not order)
    )
    frequencies = settings.rope.inv_freq
    still = settings.head_dim - settings.rope.rotary_dim

    def table(axes: Ints) -> tuple[Floats, Floats, int]:
        rows, columns = (
            rope.cosine_sums(frequencies[axes == axis], GRID)
            if (axes == axis).any() else np.zeros(GRID)
            for axis in (1, 2)
        )  # fmt: skip
        return rows, columns, int((axes == 0).sum())

    tables = table(axes), table(other)

    def scores(positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        found = (
            (2.0 * (rows[positions][:, None] + columns[distances] + time) + still)
            / math.sqrt(settings.head_dim)
            for rows, columns, time in tables
        )
        right, mistaken = found
        return right, mistaken

    scale = settings.rope.rotary_dim / math.sqrt(settings.head_dim)
    facts = tuple(
        Fact(label, *(float(np.argmax(one == axis)) for one in (axes, other)))
        for axis, label in ((1, "fastest pair of height"), (2, "fastest pair of width"))
    )
    return Outcome(scores, GRID, scale, scale / 4, "patch", facts)
