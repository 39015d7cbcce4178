"""Mistakes with positions: what the right setting scores, what the mistaken one does, and where.

Wrong formulas stand here and nowhere else, each named as what it is; right ones come from the
modules that own them. Every mistake was reported in public at least once, or is one step from it:
its reports are named with it.

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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from posviz import alibi, arrays, mrope, params, precision, presets, relative, rope
from posviz import distance as distance_module
from posviz.cache_timeline import Timeline
from posviz.rope import Layout, RoPE
from posviz.rope_scaling import (
    DynamicNtk,
    Linear,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    RopeScaling,
    Yarn,
    yarn_mscale,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Depends = Literal["distance", "position", "patch"]

VISIBLE = 0.1
"""Error from which a mistake shows, over the score of a perfect match (RoPE), or as it stands
(a bias, where it changes a weight by a tenth)."""

BUCKETS, MAX_DISTANCE, PER_BUCKET = 32, 128, (0.25, 0.5)
"""T5's buckets, and what the table shown here takes off per bucket behind and ahead of the query.

A stand-in for a trained table: nearest is best, and what lies ahead costs twice as much.
"""

GRID = 64
"""Patches of an image along each side."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


# ---------------------------------------------------------------------------------- settings


@dataclass(frozen=True)
class Settings:
    """What is set right, and what the mistakes need to know; each reads some of it.

    Attributes:
        seq_len: Tokens of the text, at least 2.
        head_dim: Dimensions of a head.
        rope_theta: Base of the right setting.
        mistaken_theta: Base that was taken instead.
        scaling: The right scaling method.
        partial_rotary_factor: Share of the head that rotates.
        look_back: Distance that the head looks for, tokens; 0 for its own token.
        num_heads: Heads of a layer.
        head: One of them, from 1.
        alibi_bias_max: Exponent of the flattest slope, in MPT's files.
        prompt: Tokens that were read in one pass before the text grew token by token.
        padding: Empty tokens to the left of the text.
        mrope_section: Pairs that time, height and width turn.
        mrope_interleaved: Whether they take turns pair by pair.
    """

    seq_len: int = 4096
    head_dim: int = 128
    rope_theta: float = 10_000.0
    mistaken_theta: float = 10_000.0
    scaling: RopeScaling = field(default_factory=NoScaling)
    partial_rotary_factor: float = 1.0
    look_back: int = 0
    num_heads: int = 8
    head: int = 1
    alibi_bias_max: float = 8.0
    prompt: int = 512
    padding: int = 64
    mrope_section: tuple[int, ...] = ()
    mrope_interleaved: bool = False

    def __post_init__(self) -> None:
        params.instance("scaling", self.scaling, RopeScaling)
        num_heads = params.whole("num_heads", self.num_heads, 1)
        params.keep(
            self,
            seq_len=params.whole("seq_len", self.seq_len, 2),
            head_dim=params.even("head_dim", self.head_dim, 4),
            look_back=params.whole("look_back", self.look_back, 0),
            num_heads=num_heads,
            head=params.whole("head", self.head, 1, num_heads),
            prompt=params.whole("prompt", self.prompt, 1),
            padding=params.whole("padding", self.padding, 0),
        )

    @property
    def rope(self) -> RoPE:
        """RoPE over the dimensions that rotate; proportional RoPE counts by the whole head."""
        if isinstance(self.scaling, Proportional):
            return RoPE(self.head_dim, self.rope_theta)
        return RoPE(rope.rotary_dim(self.head_dim, self.partial_rotary_factor), self.rope_theta)

    @property
    def factor(self) -> float:
        """Scale factor; 1 without one."""
        return float(getattr(self.scaling, "factor", None) or 1.0)

    def moved(self, **handles: Any) -> Settings:
        """These settings with some of them moved.

        ``factor`` moves that of the scaling, ``rotary_dim`` the share of the head that rotates.
        """
        scaling = handles.pop("scaling", self.scaling)
        if "rotary_dim" in handles:
            handles["partial_rotary_factor"] = _share(handles.pop("rotary_dim"), self.head_dim)
        if "factor" in handles:
            scaling = replace(scaling, factor=handles.pop("factor"))
        if isinstance(scaling, Proportional) and "partial_rotary_factor" in handles:
            scaling = replace(scaling, partial_rotary_factor=handles["partial_rotary_factor"])
        return replace(self, scaling=scaling, **handles)


def _share(rotary_dim: int, head_dim: int) -> float:
    """The ``partial_rotary_factor`` that gives exactly so many dimensions once truncated."""
    params.even("rotary_dim", rotary_dim, 2, head_dim)
    share = rotary_dim / head_dim
    return share if int(head_dim * share) == rotary_dim else math.nextafter(share, 1.0)


def _dynamic(factor: float, trained: int, **more: Any) -> Settings:
    return Settings(scaling=DynamicNtk(factor, trained), **more)


_OWN: dict[str, tuple[str, Settings]] = {
    "ones": ("base 10,000", Settings(seq_len=1024, look_back=16)),
    "dynamic-2048": ("dynamic NTK, trained 2,048",
                     _dynamic(2.0, 2048, seq_len=4096, prompt=2048)),
    "dynamic-4096": ("dynamic NTK, trained 4,096", _dynamic(4.0, 4096, seq_len=8192, prompt=4096)),
    "internlm-6": ("dynamic NTK ×6, trained 32,768", _dynamic(6.0, 32768, seq_len=65536)),
    "yarn-16": ("YaRN ×16, trained 4,096", Settings(scaling=Yarn(16.0, 4096), seq_len=8192)),
    "yarn-131072": ("YaRN ×4, trained 131,072",
                    Settings(head_dim=64, scaling=Yarn(4.0, 131072), seq_len=131072)),
    "yarn-128": ("YaRN ×128, trained 4,096", Settings(scaling=Yarn(128.0, 4096), seq_len=4096)),
    "yarn-64": ("YaRN ×64, trained 4,096", Settings(scaling=Yarn(64.0, 4096), seq_len=4096)),
    "mscale-one": ("YaRN ×16, attention_factor 1",
                   Settings(scaling=Yarn(16.0, 4096, attention_factor=1.0), seq_len=4096)),
    "heads-8": ("8 heads", Settings(num_heads=8, seq_len=256)),
    "heads-12": ("12 heads", Settings(num_heads=12, head=9, seq_len=1024)),
    "baichuan-13b": ("Baichuan-13B, 40 heads", Settings(num_heads=40, head=33, seq_len=1024)),
    "max-16": ("8 heads, alibi_bias_max 16",
               Settings(num_heads=8, alibi_bias_max=16.0, seq_len=256)),
    "falcon-8": ("8 heads of 64", Settings(num_heads=8, head_dim=64, seq_len=256)),
    "t5": ("32 buckets up to 128", Settings(seq_len=256)),
    "rope-16k": ("base 10,000", Settings(seq_len=16384)),
    "padded": ("base 10,000", Settings(seq_len=1024, prompt=512, padding=64)),
}  # fmt: skip


def example_label(example: str) -> str:
    """What a reader calls an example: a released model, or settings of our own."""
    return _OWN[example][0] if example in _OWN else example.removesuffix("-hf")


def example_settings(example: str) -> Settings:
    """The settings of an example: a released model's as on record, or our own.

    Raises:
        InvalidParameterError: If there is no example of that name.
    """
    if example in _OWN:
        return _OWN[example][1]
    facts = presets.record(example)
    if facts["positional_encoding"] == "alibi":
        return Settings(
            num_heads=facts["num_attention_heads"], head_dim=facts["head_dim"], seq_len=1024,
            head=1,
        )  # fmt: skip
    rotary = presets.main_rotary(example)
    assert rotary is not None, example
    head_dim = rotary.head_dim or rotary.rope.rotary_dim
    share = getattr(rotary.scaling, "partial_rotary_factor", rotary.rope.rotary_dim / head_dim)
    trained = getattr(rotary.scaling, "original_max_position_embeddings", 2048)
    return Settings(
        seq_len=2 * trained, head_dim=head_dim, rope_theta=rotary.rope.rope_theta,
        scaling=rotary.scaling,
        partial_rotary_factor=share, mrope_section=rotary.mrope_section,
        mrope_interleaved=rotary.mrope_interleaved,
        prompt=facts.get("original_max_position_embeddings", 512),
    )  # fmt: skip


# ---------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True)
class Fact:
    """A number in which the right and the mistaken setting differ.

    Attributes:
        label: What it is, a message id.
        right: Its value.
        mistaken: What the mistake makes of it.
    """

    label: str
    right: float
    mistaken: float


@dataclass(frozen=True, eq=False)
class Curve:
    """Right and mistaken scores along an axis, in bins.

    Attributes:
        starts: First distance (or position) of each bin.
        right: Lowest and highest right score in each bin, ``(2, bins)``.
        mistaken: Lowest and highest mistaken score.
        first: The first distance (or position) at which the error is visible; None if nowhere.
    """

    starts: Ints
    right: Floats
    mistaken: Floats
    first: int | None


@dataclass(frozen=True, eq=False)
class ErrorMap:
    """Errors by position and distance.

    Attributes:
        values: The error that is largest in size in each cell, ``(rows, columns)``: of every
            distance in the column's bin, at one position in the row's bin (which matters only
            where errors go by the position).
        row_step: Positions per row.
        column_step: Distances per column.
        visible: False where the key would lie before the text, ``(rows, columns)``.
    """

    values: Floats
    row_step: int
    column_step: int
    visible: NDArray[np.bool_]


class Scores(Protocol):
    """Right and mistaken scores of queries at some positions and keys at some distances."""

    def __call__(self, positions: Ints, distances: Ints) -> tuple[Floats, Floats]:
        """Both ``(len(positions), len(distances))``; whatever where a key lies before the text."""
        ...


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a mistake does to scores.

    Attributes:
        scores: Right and mistaken scores.
        extent: Positions, and distances, that there are.
        visible: Error from which it shows, see :data:`VISIBLE`.
        scale: Score of a perfect match, in size; 1 where the score is a bias alone.
        full: Error that a map draws in full colour.
        depends: What an error goes by: the distance alone, or the position too; or two distances
            between patches of an image.
        facts: Numbers in which both settings differ.
    """

    scores: Scores
    extent: int
    visible: float
    scale: float
    full: float
    depends: Depends = "distance"
    facts: tuple[Fact, ...] = ()

    def at(self, position: int, distance: int) -> tuple[float, float]:
        """Right and mistaken score of the query there and the key so far back."""
        right, mistaken = self.scores(np.array([position]), np.array([distance]))
        return float(right[0, 0]), float(mistaken[0, 0])

    def by_distance(self, position: int, count: int = 240) -> Curve:
        """Scores of the query at ``position`` with every key behind it."""
        end = self.extent - 1 if self.depends == "patch" else position
        right, mistaken = self.scores(np.array([position]), np.arange(end + 1))
        return self._curve(right[0], mistaken[0], count, "log", 0)

    def by_position(self, distance: int, count: int = 240) -> Curve:
        """Scores of every query with the key ``distance`` tokens behind it."""
        first = 0 if self.depends == "patch" else distance
        right, mistaken = self.scores(np.arange(first, self.extent), np.array([distance]))
        return self._curve(right[:, 0], mistaken[:, 0], count, "linear", first)

    def _curve(
        self, right: Floats, mistaken: Floats, count: int, scale: params.Scale, first: int
    ) -> Curve:
        starts = distance_module.bins(len(right), count, scale)
        shows = np.flatnonzero(np.abs(mistaken - right) > self.visible)
        return Curve(
            starts=starts + first,
            right=distance_module.envelope(right, starts),
            mistaken=distance_module.envelope(mistaken, starts),
            first=int(shows[0]) + first if len(shows) else None,
        )

    def errors(self, cells: int = 64) -> ErrorMap:
        """Errors by position and distance, at most ``cells`` each way."""
        step = -(-self.extent // cells)
        starts = np.arange(0, self.extent, step)
        rows = len(starts)
        everywhere = np.arange(self.extent)
        if self.depends == "distance":
            right, mistaken = self.scores(np.array([self.extent - 1]), everywhere)
            largest = _largest(mistaken - right, starts)
            values = np.repeat(largest, rows, axis=0)
        else:
            # Somewhere in the bin, and not at its start: round positions are those that a coarse
            # dtype holds exactly.
            widths = np.diff(np.append(starts, self.extent))
            positions = starts + ((np.arange(rows) * _GOLDEN % 1.0) * widths).astype(np.intp)
            right, mistaken = self.scores(positions, everywhere)
            error = mistaken - right
            if self.depends == "position":
                error[everywhere > positions[:, None]] = 0.0
            values = _largest(error, starts)
        visible = np.ones((rows, rows), np.bool_)
        if self.depends != "patch":
            visible = np.tri(rows, dtype=np.bool_)
        return ErrorMap(values, step, step, visible)


def _largest(errors: Floats, starts: Ints) -> Floats:
    """The entry largest in size, with its sign, of each bin of the last axis."""
    high = np.maximum.reduceat(errors, starts, axis=-1)
    low = np.minimum.reduceat(errors, starts, axis=-1)
    return np.where(high >= -low, high, low)


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
    return Outcome(
        _by_table(*curves), settings.seq_len, VISIBLE * scale, scale, scale / 2, facts=facts
    )


def _query(settings: Settings, layout: Layout) -> Floats:
    """A random query of the length of (1, ..., 1)."""
    q = rope.random_vectors(settings.head_dim // 2, layout)[0]
    return np.asarray(q * math.sqrt(settings.head_dim) / np.linalg.norm(q))


def _frequency_facts(right: Turning, mistaken: Turning, pair: int = -1) -> tuple[Fact, ...]:
    """The slowest pair (or another one), and the factor if it differs."""
    told = "slowest inv_freq" if pair == -1 else f"inv_freq of pair {pair}"
    facts = [Fact(told, float(right.inv_freq[pair]), float(mistaken.inv_freq[pair]))]
    if right.attention_factor != mistaken.attention_factor:
        facts.append(Fact("factor on cos and sin", right.attention_factor,
                          mistaken.attention_factor))  # fmt: skip
    return tuple(facts)


def _scaled(settings: Settings) -> Turning:
    """RoPE under the right scaling, at the length of the text."""
    inv_freq, factor = settings.scaling.frequencies(settings.rope, settings.seq_len)
    return Turning(inv_freq, attention_factor=factor)


# --------------------------------------------------------------------------------- mistakes


def _pairing(right: Layout, mistaken: Layout) -> Callable[[Settings], Outcome]:
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


def _base(settings: Settings) -> Outcome:
    right = Turning(settings.rope.inv_freq)
    mistaken = Turning(RoPE(settings.rope.rotary_dim, settings.mistaken_theta).inv_freq)
    slow = rope.wavelength([right.inv_freq[-1], mistaken.inv_freq[-1]])
    facts = (*_frequency_facts(right, mistaken), Fact("tokens per turn of it", *slow.tolist()))
    return _turned(settings, right, mistaken, facts)


def _unscaled(settings: Settings) -> Outcome:
    right, mistaken = _scaled(settings), Turning(settings.rope.inv_freq)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _clamped(settings: Settings) -> Outcome:
    """YaRN's ramp ended at the last pair instead of at ``rotary_dim - 1``."""
    yarn, right = _yarn(settings), _scaled(settings)
    low, high = yarn.correction_range(settings.rope)
    pairs = settings.rope.rotary_dim // 2
    high = min(high, pairs - 1.0)
    ramp = np.clip((np.arange(pairs) - low) / max(high - low, 0.001), 0.0, 1.0)
    plain = settings.rope.inv_freq
    mistaken = replace(right, inv_freq=plain * (1.0 - ramp) + plain / yarn.factor * ramp)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _always_short(settings: Settings) -> Outcome:
    """LongRoPE's length taken from what the cache holds before the prompt: always short."""
    right = _scaled(settings)
    short = settings.scaling.frequencies(settings.rope, 1)
    mistaken = Turning(short[0], attention_factor=short[1])
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _long_at_trained(settings: Settings) -> Outcome:
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


def _twice(settings: Settings) -> Outcome:
    right = _scaled(settings)
    mistaken = replace(right, inv_freq=right.inv_freq / settings.factor)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _ntk_base_too(settings: Settings) -> Outcome:
    """YaRN whose kept pairs come from NTK's base, which had stretched them already."""
    yarn, right = _yarn(settings), _scaled(settings)
    kept, _ = Ntk(yarn.factor).frequencies(settings.rope)
    ramp = yarn.ramp(settings.rope)
    inv_freq = kept * (1.0 - ramp) + settings.rope.inv_freq / yarn.factor * ramp
    mistaken = replace(right, inv_freq=inv_freq)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken, 10))


def _inside_the_power(settings: Settings) -> Outcome:
    """YaRN whose divided pairs have the factor inside the power: ``(s * theta)**(-2i / d)``."""
    yarn, right = _yarn(settings), _scaled(settings)
    ramp = yarn.ramp(settings.rope)
    divided = RoPE(settings.rope.rotary_dim, yarn.factor * settings.rope_theta).inv_freq
    mistaken = replace(right, inv_freq=settings.rope.inv_freq * (1.0 - ramp) + divided * ramp)
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken))


def _always_stretched(settings: Settings) -> Outcome:
    """Dynamic NTK computed once, for ``factor`` times the trained length, at every length."""
    dynamic, right = _dynamic_of(settings), _scaled(settings)
    longest = math.ceil(dynamic.factor * dynamic.max_position_embeddings)
    mistaken = Turning(dynamic.frequencies(settings.rope, longest)[0])
    facts = (Fact("base", _base_of(dynamic, settings), _base_of(dynamic, settings, longest)),
             *_frequency_facts(right, mistaken))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def _positions_too(settings: Settings) -> Outcome:
    """Dynamic NTK of factor 2 whatever the file says, over positions that are doubled."""
    dynamic, right = _dynamic_of(settings), _scaled(settings)
    other = replace(dynamic, factor=2.0)
    mistaken = Turning(2.0 * other.frequencies(settings.rope, settings.seq_len)[0])
    facts = (Fact("base", _base_of(dynamic, settings), _base_of(other, settings)),
             Fact("positions times", 1.0, 2.0))  # fmt: skip
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


def _reciprocal(settings: Settings) -> Outcome:
    """Position interpolation with 1 / factor: every pair sped up instead of slowed."""
    linear = Linear(settings.factor)
    plain = settings.rope.inv_freq
    right = Turning(linear.frequencies(settings.rope)[0])
    mistaken = Turning(plain * settings.factor)
    facts = (*_frequency_facts(right, mistaken),
             Fact("fastest inv_freq", float(right.inv_freq[0]),
                  float(mistaken.inv_freq[0])))  # fmt: skip
    return _turned(settings, right, mistaken, facts)


def _mscale(mistaken: Callable[[float, float], float]) -> Callable[[Settings], Outcome]:
    """YaRN under another factor on cos and sin, made of the right one and the scale factor."""

    def outcome(settings: Settings) -> Outcome:
        right = _scaled(settings)
        wrong = replace(right, attention_factor=mistaken(right.attention_factor, settings.factor))
        facts = (
            Fact("factor on cos and sin", right.attention_factor, wrong.attention_factor),
            Fact("factor on scores", right.attention_factor**2, wrong.attention_factor**2),
        )
        outcome = _turned(settings, right, wrong, facts)
        return replace(outcome, full=3.0 * outcome.scale)

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


def _over_the_head(settings: Settings) -> Outcome:
    right, mistaken = _part_of_head(settings), _whole_head(settings)
    return _turned(settings, right, mistaken, _partial_facts(right, mistaken))


def _over_the_part(settings: Settings) -> Outcome:
    right, mistaken = _whole_head(settings), _part_of_head(settings)
    return _turned(settings, right, mistaken, _partial_facts(right, mistaken))


def _biased(
    settings: Settings, right: Floats, mistaken: Floats, facts: tuple[Fact, ...]
) -> Outcome:
    scores = _by_table(right, mistaken)
    return Outcome(scores, settings.seq_len, VISIBLE, 1.0, 8.0, facts=facts)


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


def _paper_rule(settings: Settings) -> Outcome:
    released, paper = alibi.slopes(settings.num_heads), alibi.paper_slopes(settings.num_heads)
    own = settings.head - 1
    return _sloped(
        settings, float(released[own]), float(paper[own]),
        Fact("slope of head 1", float(released[0]), float(paper[0])),
        Fact("heads with another slope", 0.0,
             float(alibi.differs_from_paper(settings.num_heads).sum())),
    )  # fmt: skip


def _off_by_one(settings: Settings) -> Outcome:
    """The released rule with heads counted from 0: exponents begin at 0."""
    right = alibi.slopes(settings.num_heads)
    series = (alibi.series(settings.num_heads, head + 1) for head in range(settings.num_heads))
    mistaken = [2.0 ** (-8.0 * (place - 1) / count) for count, place in series]
    own = settings.head - 1
    return _sloped(settings, float(right[own]), float(mistaken[own]),
                   Fact("slope of head 1", float(right[0]), float(mistaken[0])),
                   Fact("slope of the last head", float(right[-1]),
                        float(mistaken[-1])))  # fmt: skip


def _bias_max_ignored(settings: Settings) -> Outcome:
    right = alibi.slopes(settings.num_heads, settings.alibi_bias_max)
    mistaken = alibi.slopes(settings.num_heads)
    own = settings.head - 1
    return _sloped(settings, float(right[own]), float(mistaken[own]),
                   Fact("slope of head 1", float(right[0]), float(mistaken[0])))  # fmt: skip


def _added_after_scaling(settings: Settings) -> Outcome:
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


def _flipped(bidirectional: bool) -> Callable[[Settings], Outcome]:
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
            Fact(f"bucket of the key {here} behind",
                 *(float(one[here]) for one in buckets)),
        )  # fmt: skip
        return _biased(settings, table[buckets[0]], table[buckets[1]], facts)

    return outcome


def _by_seen(
    settings: Settings, seen: Callable[[Ints, Ints], Ints], facts: tuple[Fact, ...] = ()
) -> Outcome:
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

    return Outcome(scores, settings.seq_len, VISIBLE * scale, scale, scale / 2, "position", facts)


def _coarse(dtype: precision.Dtype) -> Callable[[Settings], Outcome]:
    """Positions held in a coarse dtype; frequencies and angles are exact."""

    def outcome(settings: Settings) -> Outcome:
        held = precision.rounded(dtype, np.arange(settings.seq_len)).astype(np.intp)

        def seen(positions: Ints, distances: Ints) -> Ints:
            return np.asarray(held[positions] - held[np.maximum(positions - distances, 0)])

        exact = precision.last_exact_position(dtype)
        facts = tuple(
            Fact(f"position {at:,}", float(at),
                 float(precision.rounded(dtype, [at])[0]))
            for at in (exact, exact + 1, 15962)
        )  # fmt: skip
        return _by_seen(settings, seen, facts)

    return outcome


def _coarse_frequencies(settings: Settings) -> Outcome:
    """Frequencies held in bfloat16, positions exact: far angles drift, by the distance alone."""
    right = Turning(settings.rope.inv_freq)
    mistaken = Turning(precision.bfloat16(right.inv_freq))
    return _turned(settings, right, mistaken, _frequency_facts(right, mistaken, 1))


def _jumped(settings: Settings) -> Outcome:
    """Prompt numbered from its first word, later tokens by their place behind the padding."""

    def seen(positions: Ints, distances: Ints) -> Ints:
        crosses = (positions >= settings.prompt) & (positions - distances < settings.prompt)
        return np.asarray(distances + settings.padding * crosses)

    facts = (
        Fact("position of the first new token", float(settings.prompt),
             float(settings.prompt + settings.padding)),
        Fact("distance to the last word of the prompt", 1.0, 1.0 + settings.padding),
    )  # fmt: skip
    return _by_seen(settings, seen, facts)


def _shifted(settings: Settings) -> Outcome:
    """Every token numbered by its place behind the padding: RoPE sees the same distances."""

    def seen(positions: Ints, distances: Ints) -> Ints:
        return np.asarray((positions + settings.padding) - (positions - distances)
                          - settings.padding)  # fmt: skip

    facts = (Fact("position of the first word", 0.0, float(settings.padding)),
             Fact("distance of neighbours", 1.0, 1.0))  # fmt: skip
    return _by_seen(settings, seen, facts)


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


def _cached(settings: Settings) -> Outcome:
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
    scale = math.sqrt(settings.rope.rotary_dim)
    scale *= factor
    return Outcome(scores, settings.seq_len, VISIBLE * scale, scale, scale / 2, "position",
                   tuple(facts))  # fmt: skip


def _sections(settings: Settings) -> Outcome:
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
        Fact(f"fastest pair of {name}", *(float(np.argmax(one == axis)) for one in (axes, other)))
        for axis, name in ((1, "height"), (2, "width"))
    )
    return Outcome(scores, GRID, VISIBLE * scale, scale, scale / 4, "patch", facts)


# ------------------------------------------------------------------------------- the catalogue


@dataclass(frozen=True)
class Slip:
    """One way to make a mistake.

    Attributes:
        id: Name in a link.
        label: What a reader calls it, a message id.
        told: What is right and what was done instead, one sentence.
        outcome: What it does to scores under some settings.
        examples: Settings that show it, the telling one first.
        reports: Public reports, ``owner/repository#number``.
        distance: Distance at which it is well seen, tokens.
        seq_len: Length of the text that shows it, if not the example's own.
        position: Where a query that shows it stands, if not at the end.
        along: Whether it is best seen by distance or by position.
    """

    id: str
    label: str
    told: str
    outcome: Callable[[Settings], Outcome]
    examples: tuple[str, ...]
    reports: tuple[str, ...] = ()
    distance: int = 16
    seq_len: int | None = None
    position: int | None = None
    along: Literal["distance", "position"] = "distance"

    def settings(self, example: str, **handles: Any) -> Settings:
        """The settings of one of its examples, with some of them moved."""
        params.one_of("example", example, self.examples)
        own = example_settings(example)
        length = own.seq_len if self.seq_len is None else self.seq_len
        return own.moved(**{"seq_len": length, **handles})


@dataclass(frozen=True)
class Pitfall:
    """A mistake that is made again and again; its sentences are message ids.

    Attributes:
        id: Name in a link.
        label: What a reader calls it, after its group.
        group: What it concerns.
        hides: Why short tests pass; may name ``{zero}`` and ``{one}``, the errors at distance 0
            and 1, and ``{scale}``, the score of a perfect match.
        mend: How to notice and mend it.
        slips: Ways to make it, the usual one first.
        handles: Names of the settings that its handles move.
        encoding: Whose colour the right scores have.
        longest: Longest text that is shown, tokens.
    """

    id: str
    label: str
    group: str
    hides: str
    mend: str
    slips: tuple[Slip, ...]
    handles: tuple[str, ...] = ()
    encoding: str = "rope"
    longest: int = 131_072

    def slip(self, name: str) -> Slip:
        """The slip of that name."""
        params.one_of("slip", name, tuple(each.id for each in self.slips))
        return next(each for each in self.slips if each.id == name)


def address(report: str) -> str:
    """Where a report ``owner/repository#number`` is read; GitHub leads on from issue to pull."""
    repository, _, number = report.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


PITFALLS: tuple[Pitfall, ...] = (
    Pitfall(
        "pairing", "pairs of dimensions mixed up", "RoPE",
        "At distance 0 nothing turns relative to anything, so both pairings score the same, and "
        "with q = k = (1, ..., 1) they score the same at every distance: such a test sees nothing.",
        "Score two different vectors at a distance of 5 against the reference. Mend the weights "
        "(reorder the rows of q and k as Hugging Face does for Llama) or the pairing, never both.",
        (
            Slip("interleaved", "half, read as interleaved",
                 "Weights made for pairs (i, i + d/2) are rotated in pairs (2i, 2i + 1).",
                 _pairing("half", "interleaved"),
                 ("ones", "Llama-2-7b-hf", "Meta-Llama-3-8B", "Qwen3-8B"),
                 ("tenstorrent/tt-metal#26844", "huggingface/transformers#47403")),
            Slip("half", "interleaved, read as half",
                 "Weights made for pairs (2i, 2i + 1) are rotated in pairs (i, i + d/2).",
                 _pairing("interleaved", "half"),
                 ("ones", "Llama-4-Maverick-17B-128E", "aya-23-8B"),
                 ("huggingface/transformers#47403",)),
        ),
        ("look_back", "head_dim"),
    ),
    Pitfall(
        "base", "base left at 10,000", "RoPE",
        "The fastest pair does not depend on the base, and at distance 1 the others have hardly "
        "turned: the error is {one}, of {scale} for a perfect match.",
        "Print the slowest inv_freq and compare it with the file's rope_theta. In newer files it "
        "stands inside rope_parameters, where older code does not look.",
        (
            Slip("default", "default instead of the file's",
                 "The file says another rope_theta; the code never read it.",
                 _base,
                 ("Meta-Llama-3-8B", "Qwen3-8B", "CodeLlama-7b-hf", "SmolLM3-3B", "Llama-2-7b-hf"),
                 ("lyogavin/airllm#369", "sgl-project/SpecForge#265", "vllm-project/vllm#9503",
                  "THUDM/slime#1720")),
        ),
        ("rope_theta", "mistaken_theta"),
    ),
    Pitfall(
        "partial", "partial rotary counted wrong", "RoPE",
        "At distance 0 nothing has turned, whatever turns and however fast: the error is {zero} "
        "there, and {one} at distance 1.",
        "Compare inv_freq with θ^(−2i/r), r being the rotary dimensions; check which dimension is "
        "the partner of dimension 0.",
        (
            Slip("head", "partial, counted over the head",
                 "Part of the head rotates; frequencies and partners are counted over the whole "
                 "of it, as for proportional RoPE.",
                 _over_the_head,
                 ("Qwen3-Next-80B-A3B", "GLM-4.5 (glm4_moe)", "gpt-neox-20b", "phi-2"),
                 ("pie-project/pie#602", "huggingface/transformers#48652")),
            Slip("part", "proportional, counted over a part",
                 "Proportional RoPE counts over the whole head; here frequencies and partners are "
                 "those of partial rotary.",
                 _over_the_part, ("gemma-4-e2b",), ("apple/coreai-models#66",)),
        ),
        ("rotary_dim", "look_back"),
    ),
    Pitfall(
        "mrope", "M-RoPE, blocks against turns", "RoPE",
        "Text has three equal positions, so every pair turns by the same one whatever its axis: "
        "no text shows it. Patches of an image do.",
        "Test with an image. mrope_interleaved says which order it is; it has nothing to do with "
        "interleaved pairs of dimensions.",
        (
            Slip("blocks", "turns, read as blocks",
                 "Time, height and width take turns pair by pair; here each has one block.",
                 _sections, ("Qwen3-VL-2B", "Qwen3.5-9B"),
                 ("alibaba/MNN#4133", "vllm-project/vllm-gaudi#1437",
                  "HabanaAI/vllm-fork#2117")),
            Slip("turns", "blocks, read as turns",
                 "Time, height and width have one block each; here they take turns pair by pair.",
                 _sections, ("Qwen2-VL-7B-Instruct", "Qwen2.5-VL-7B-Instruct"),
                 ("Blaizzy/mlx-vlm#576",)),
        ),
    ),
    Pitfall(
        "scaling_missing", "missing", "Scaling",
        "Most methods keep the pairs that turn often within the trained context, and those tell "
        "near keys apart. At distance 1 the error is {one}, of {scale} for a perfect match.",
        "Ask the loaded model for its inv_freq, not the file. A short chat proves nothing; score a "
        "key beyond the trained context.",
        (
            Slip("plain", "plain frequencies",
                 "The file scales the frequencies; the code returns the plain ones.",
                 _unscaled,
                 ("Llama-3.1-8B-Instruct", "Yarn-Llama-2-7b-64k", "deepseek-coder-6.7b",
                  "gpt-oss-20b", "dynamic-2048"),
                 ("huggingface/transformers#32330", "vllm-project/vllm#41301"), 4096),
            Slip("clamped", "YaRN's ramp cut at the last pair",
                 "The ramp of released code ends at pair d − 1, beyond the last one; here it ends "
                 "at d/2 − 1.",
                 _clamped, ("yarn-131072",),
                 ("keras-team/keras-hub#2981", "jingyaogong/minimind#602"), 32768),
            Slip("short", "LongRoPE: short list for a long prompt",
                 "The list goes by the length of the whole sequence; here by what the cache held "
                 "before the prompt, which is nothing.",
                 _always_short, ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"),
                 ("ggml-org/llama.cpp#6849", "EricLBuehler/mistral.rs#251")),
            Slip("at-trained", "LongRoPE: < instead of <=",
                 "At exactly the trained length the short list is right; here it is the long one. "
                 "Any other length passes.",
                 _long_at_trained, ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"),
                 ("unslothai/unsloth#10681",), seq_len=4096),
        ),
        ("factor",),
    ),
    Pitfall(
        "scaling_twice", "applied twice", "Scaling",
        "Slower pairs make near keys more alike, not less: at distance 1 the error is {one}, of "
        "{scale} for a perfect match, and short text reads well.",
        "Divide the plain inv_freq by the loaded one: no pair may be slowed by more than the "
        "factor. Scale frequencies or positions, not both.",
        (
            Slip("again", "divided again",
                 "Scaled frequencies are divided by the factor once more.",
                 _twice, ("yarn-16", "deepseek-coder-6.7b", "Llama-3.1-8B-Instruct")),
            Slip("ntk-base", "YaRN over NTK's base",
                 "Pairs that YaRN keeps come from a base that was stretched for NTK before.",
                 _ntk_base_too, ("yarn-16", "Yarn-Llama-2-7b-64k"),
                 ("paiml/aprender#2161",)),
            Slip("power", "factor inside the power",
                 "The divided pairs have the factor inside the power, (s·θ)^(−2i/d) instead of "
                 "θ^(−2i/d) / s.",
                 _inside_the_power, ("gpt-oss-20b", "yarn-16"), ("apache/tvm#18576",), 1024),
            Slip("always", "dynamic NTK at every length",
                 "The base grows with the text; here it is computed once, for the longest one, so "
                 "short texts are stretched too.",
                 _always_stretched, ("dynamic-2048", "dynamic-4096"),
                 ("vllm-project/vllm#5093", "vllm-project/vllm#41236"), 512, 2048),
            Slip("positions", "positions doubled as well",
                 "Dynamic NTK changes the base alone; here positions are doubled too, and the "
                 "file's factor is not read.",
                 _positions_too, ("internlm-6",),
                 ("ml-explore/mlx-lm#1545", "lablup/mlxcel#1324")),
        ),
        ("factor",),
    ),
    Pitfall(
        "reciprocal", "factor upside down", "Scaling",
        "Position 0 stays position 0, so the first token is right; the very next one is not: at "
        "distance 1 the error is {one}.",
        "A factor above 1 must make the fastest inv_freq smaller. llama.cpp's rope_freq_scale is "
        "1 / factor; Hugging Face's factor is not.",
        (
            Slip("inverse", "times the factor",
                 "Position interpolation divides every frequency by the factor; here they are "
                 "multiplied by it.",
                 _reciprocal,
                 ("deepseek-coder-6.7b", "LLaMA-2-7B-32K (togethercomputer)", "gemma-3-4b-it")),
        ),
        ("factor",),
    ),
    Pitfall(
        "mscale", "wrong attention factor", "Scaling",
        "It is as wrong at distance 0 ({zero}) as anywhere, but it changes no order: the best key "
        "stays the best, attention is only too sharp or too flat. At factor 1 it vanishes.",
        "Score a vector with itself at distance 0: it must be its squared length times the square "
        "of the factor on cos and sin, and nothing more.",
        (
            Slip("multiplied", "multiplied by itself",
                 "The finished factor was taken for one more multiplier of itself.",
                 _mscale(lambda right, factor: right * right),
                 ("yarn-128", "yarn-16", "yarn-64"), ("sgl-project/sglang#33558",)),
            Slip("again", "through the formula again",
                 "The finished factor went through 0.1 · m · ln s + 1 once more, as m.",
                 _mscale(lambda right, factor: yarn_mscale(factor, right)),
                 ("yarn-64", "gpt-oss-20b", "yarn-16"), ("NVIDIA/TensorRT-LLM#16379",)),
            Slip("generic", "generic where the file says another",
                 "The file's own numbers make 1; the code took YaRN's usual 0.1 · ln s + 1.",
                 _mscale(lambda right, factor: yarn_mscale(factor)),
                 ("DeepSeek-V2-Lite", "mscale-one", "Ministral-3-3B-2512"),
                 ("ggml-org/llama.cpp#7118", "ml-explore/mlx-lm#1507", "vllm-project/vllm#48351")),
        ),
        ("factor",),
    ),
    Pitfall(
        "slopes", "slopes by the paper's rule", "ALiBi",
        "The key beside the query pays one slope: the error is {one} at distance 1. With 4, 8, 16 "
        "or 32 heads both rules agree, so a test with 8 heads proves nothing.",
        "Test 12 or 40 heads. The released order is not sorted; head 9 of 12 has 0.7071.",
        (
            Slip("paper", "2^(−8h/n) for any n",
                 "Released models take the slopes of the next lower power of two, then every "
                 "second one of the next higher; the paper's formula was used for all n.",
                 _paper_rule, ("baichuan-13b", "heads-12", "bloom (176B)", "mpt-7b"),
                 ("baichuan-inc/Baichuan2#225", "NVIDIA/TensorRT-LLM#1611")),
        ),
        ("num_heads", "head"), "alibi",
    ),
    Pitfall(
        "slopes_off_by_one", "too steep or too flat", "ALiBi",
        "The bias is 0 at distance 0 under any slope; at distance 1 it is off by {one}.",
        "Print the first and the last slope: with 8 heads 0.5 and 0.00390625. Then check what is "
        "divided by √d: BLOOM adds the bias after, Falcon before.",
        (
            Slip("zero", "heads counted from 0",
                 "The first slope of 8 heads is 2⁻¹; counted from 0 it is 1, and all are as much "
                 "too steep.",
                 _off_by_one, ("heads-8", "heads-12", "bloom-560m"), ("paiml/aprender#2143",)),
            Slip("bias-max", "alibi_bias_max not read",
                 "The file says 16 for the exponent of the flattest slope; the code takes 8.",
                 _bias_max_ignored, ("max-16",)),
            Slip("unscaled", "Falcon's bias not divided",
                 "Falcon adds the bias before the score is divided by √d; here it is added after.",
                 _added_after_scaling, ("falcon-8", "falcon-rw-1b"),
                 ("OpenNMT/CTranslate2#1449", "NVIDIA/TensorRT-Model-Connect#32")),
        ),
        ("num_heads", "head"), "alibi",
    ),
    Pitfall(
        "t5_direction", "direction flipped", "T5",
        "The query's own key is in bucket 0 either way: error {zero}; one token back it is {one}.",
        "Ask for the bucket of the key just behind the query: 1. Relative position is key minus "
        "query, so it is −1 there.",
        (
            Slip("decoder", "decoder",
                 "In a decoder every key behind the query now counts as ahead of it and shares "
                 "bucket 0: the model is told no distance at all.",
                 _flipped(False), ("t5",), ("dmlc/gluon-nlp#1470",)),
            Slip("encoder", "encoder",
                 "In an encoder left and right change places.",
                 _flipped(True), ("t5",), ("dmlc/gluon-nlp#1470",)),
        ),
        (), "t5", 4096,
    ),
    Pitfall(
        "dynamic_cache", "old keys, new frequencies", "Cache",
        "Up to the trained length the frequencies do not move, and one pass over a text gives all "
        "keys the same: only a text that grows past it, token by token, shows the error.",
        "Compare generation token by token with one pass over the same text. Cache keys before "
        "they are rotated, or fix the frequencies for the longest text (YaRN, section 3.3).",
        (
            Slip("dynamic", "dynamic NTK",
                 "The query turns by the base of now; each key in the cache stays as the base of "
                 "its own time had turned it.",
                 _cached, ("dynamic-2048", "dynamic-4096"), distance=512,
                 along="position"),
            Slip("longrope", "LongRoPE",
                 "Past the trained length the long list counts; keys before it stay turned by "
                 "the short one.",
                 _cached, ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"), distance=4096,
                 along="position"),
        ),
        ("factor", "prompt"), longest=8192,
    ),
    Pitfall(
        "position_dtype", "in 16 bits", "Positions",
        "bfloat16 holds every whole number up to 256 and float16 up to 2,048: a text that short is "
        "exactly right, at every distance.",
        "Keep positions and inv_freq in float32 whatever the model's dtype, and test past position "
        "2,048.",
        (
            Slip("bfloat16", "positions in bfloat16",
                 "Positions are rounded to 8 significant bits: 257 becomes 256, 15,962 becomes "
                 "15,936.",
                 _coarse("bfloat16"), ("rope-16k", "Meta-Llama-3-8B"),
                 ("huggingface/transformers#29285", "huggingface/transformers#29496",
                  "EleutherAI/gpt-neox#1016", "huggingface/candle#3520"), along="position"),
            Slip("float16", "positions in float16",
                 "Positions are rounded to 11 significant bits: 2,049 becomes 2,048.",
                 _coarse("float16"), ("rope-16k", "Meta-Llama-3-8B"), distance=4,
                 along="position"),
            Slip("frequencies", "inv_freq in bfloat16",
                 "Frequencies are rounded to 8 significant bits; the angle is off by up to a "
                 "256th of itself, so by more and more.",
                 _coarse_frequencies, ("rope-16k", "Meta-Llama-3-8B"),
                 ("huggingface/diffusers#13922",), 4096),
        ),
        ("rope_theta",), longest=16384,
    ),
    Pitfall(
        "left_padding", "padding counted", "Positions",
        "One text alone has no padding, nor has the longest one of a batch; and the first new "
        "token comes out of the prompt's pass, which is right.",
        "Generate a short text alone and beside a long one: the answers must agree. Take positions "
        "from the mask, cumsum(mask) − 1, at every step.",
        (
            Slip("jump", "new tokens jump ahead",
                 "The prompt is numbered from its first word, but tokens generated after it by "
                 "their place in the padded row.",
                 _jumped, ("padded",),
                 ("thu-nics/C2C#19", "unslothai/unsloth#3699", "unslothai/unsloth#4078"),
                 position=520),
            Slip("shift", "all tokens shifted alike",
                 "Every token is numbered from the padding on. RoPE, ALiBi and T5 see the same "
                 "distances; a learned or sinusoidal table gives every token another row.",
                 _shifted, ("padded",), ("ndif-team/nnsight#673", "tloen/alpaca-lora#315")),
        ),
        ("padding", "prompt"), longest=16384,
    ),
)  # fmt: skip
"""Every mistake, in the order of the menu: by group."""


def get(pitfall: str) -> Pitfall:
    """The mistake of that name."""
    params.one_of("pitfall", pitfall, tuple(each.id for each in PITFALLS))
    return next(each for each in PITFALLS if each.id == pitfall)
