"""RoPE beyond its trained context: each method turns plain frequencies into scaled ones.

Every method is a frozen class with ``frequencies(rope, seq_len) -> (inv_freq, attention_factor)``,
the contract of Hugging Face's ``ROPE_INIT_FUNCTIONS``. ``inv_freq`` is float64, one per pair;
``attention_factor`` multiplies cos and sin, so it multiplies scores by its square. A new method is
one class here and one line in :data:`ROPE_SCALINGS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from posviz import params
from posviz.rope import RoPE

Frequencies = tuple[NDArray[np.float64], float]


class RopeScaling(Protocol):
    """What every scaling method offers."""

    rope_type: ClassVar[str]
    depends_on_length: ClassVar[bool]

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Scaled frequencies ``(rotary_dim // 2,)`` and attention factor at ``seq_len`` tokens."""
        ...


def _check_factor(factor: float) -> None:
    params.real("factor", factor, 1.0)


def _check_length(original_max_position_embeddings: int) -> None:
    params.whole("original_max_position_embeddings", original_max_position_embeddings, 1)


def _check_seq_len(seq_len: int | None) -> None:
    if seq_len is not None:
        params.whole("seq_len", seq_len, 1)


def _stretched_base(rope: RoPE, factor: float) -> float:
    """Base that keeps the fastest pair and slows the slowest by exactly ``factor``."""
    if rope.rotary_dim < 4:
        raise params.InvalidParameterError(
            "NTK scaling needs a rotary_dim of at least 4, because with a single pair there is "
            "no slower one to stretch, got {got}",
            got=rope.rotary_dim,
        )
    try:
        return float(rope.rope_theta * factor ** (rope.rotary_dim / (rope.rotary_dim - 2)))
    except OverflowError as overflow:
        raise params.InvalidParameterError(
            "factor must be small enough for a finite base, got {got}", got=params.shown(factor)
        ) from overflow


@dataclass(frozen=True)
class NoScaling:
    """Plain RoPE at any length (Hugging Face ``default``)."""

    rope_type: ClassVar[str] = "default"
    depends_on_length: ClassVar[bool] = False

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """The frequencies as trained."""
        _check_seq_len(seq_len)
        return rope.inv_freq, 1.0


@dataclass(frozen=True)
class Linear:
    """Position interpolation: every frequency divided by ``factor``.

    Source: Chen et al. 2023, https://arxiv.org/abs/2306.15595, equation 4; Hugging Face
    ``_compute_linear_scaling_rope_parameters``.
    """

    factor: float
    rope_type: ClassVar[str] = "linear"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_factor(self.factor)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """All pairs slowed alike."""
        _check_seq_len(seq_len)
        return rope.inv_freq / self.factor, 1.0


@dataclass(frozen=True)
class Ntk:
    """NTK-aware scaling: a larger base, so that the fastest pair stays and the slowest is divided.

    Source: bloc97 2023, in Peng et al. 2023 (YaRN), https://arxiv.org/abs/2309.00071, equation 16;
    jquesnelle/yarn ``LlamaNTKScaledRotaryEmbedding``. Hugging Face has no static type for it;
    ``ntk`` is our name.
    """

    factor: float
    rope_type: ClassVar[str] = "ntk"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_factor(self.factor)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Plain RoPE over the stretched base ``rope_theta * factor**(d / (d - 2))``."""
        _check_seq_len(seq_len)
        return RoPE(rope.rotary_dim, _stretched_base(rope, self.factor)).inv_freq, 1.0


@dataclass(frozen=True)
class DynamicNtk:
    """Dynamic NTK: plain RoPE up to the trained context, then a base that grows with the length.

    Stateless: the frequencies depend on ``seq_len`` alone. Hugging Face's module keeps the base of
    the longest sequence it has seen until one fits the trained context again.

    Attributes:
        factor: ``s`` in ``s * l / L - (s - 1)``, at least 1.
        max_position_embeddings: ``L``, the context from which the base grows, tokens.

    Source: emozilla 2023; Hugging Face ``_compute_dynamic_ntk_parameters``.
    """

    factor: float
    max_position_embeddings: int
    rope_type: ClassVar[str] = "dynamic"
    depends_on_length: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_factor(self.factor)
        params.whole("max_position_embeddings", self.max_position_embeddings, 1)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Frequencies of a sequence of ``seq_len`` tokens; without one, as trained."""
        _check_seq_len(seq_len)
        length = max(seq_len or 0, self.max_position_embeddings)
        growth = self.factor * length / self.max_position_embeddings - (self.factor - 1.0)
        return RoPE(rope.rotary_dim, _stretched_base(rope, growth)).inv_freq, 1.0


@dataclass(frozen=True)
class Yarn:
    """YaRN: fast pairs kept, slow pairs divided by ``factor``, a ramp over pair index between.

    As released code has it (jquesnelle/yarn, Hugging Face ``_compute_yarn_parameters``); the
    paper's ramp is linear in turns (equations 17-20), up to 77 % away in frequency. And where a
    tiny base lets every pair turn more than ``beta_fast`` times, the code's clamp puts the end of
    the ramp before its beginning, so that every pair is divided; the paper would keep them all.

    Attributes:
        factor: New context over trained context, at least 1.
        original_max_position_embeddings: Trained context, tokens.
        beta_fast: Turns within it from which a pair is kept.
        beta_slow: Turns within it up to which a pair is divided.
        truncate: Whether the ends of the ramp are rounded outwards to whole pairs.
        attention_factor: Replaces the computed factor on cos and sin if given.
        mscale: With ``mscale_all_dim``, DeepSeek's numerator.
        mscale_all_dim: With ``mscale``, DeepSeek's denominator.

    Source: Peng et al. 2023, https://arxiv.org/abs/2309.00071, sections 3.2-3.4;
    ``sqrt(1/t) = 0.1 ln(factor) + 1`` is equation 22.
    """

    factor: float
    original_max_position_embeddings: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    rope_type: ClassVar[str] = "yarn"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_factor(self.factor)
        _check_length(self.original_max_position_embeddings)
        params.real("beta_slow", self.beta_slow, 1e-6, 1e6)
        params.real("beta_fast", self.beta_fast, self.beta_slow, 1e6)
        if not isinstance(self.truncate, bool):
            raise params.InvalidParameterError(
                "truncate must be True or False, got {got}", got=params.shown(self.truncate)
            )
        if self.attention_factor is not None:
            params.real("attention_factor", self.attention_factor, 0.0, above=True)
        for name in ("mscale", "mscale_all_dim"):
            if getattr(self, name) is not None:
                params.real(name, getattr(self, name), 0.0)

    def correction_range(self, rope: RoPE) -> tuple[float, float]:
        """Pair indices where the ramp begins and ends."""

        def pair_with(turns: float) -> float:
            ratio = self.original_max_position_embeddings / (turns * 2.0 * math.pi)
            return rope.rotary_dim * math.log(ratio) / (2.0 * math.log(rope.rope_theta))

        low, high = pair_with(self.beta_fast), pair_with(self.beta_slow)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        # The upper end is clamped to rotary_dim - 1 although pairs end at rotary_dim / 2 - 1:
        # so the reference code, and so every released model.
        low, high = max(low, 0.0), min(high, rope.rotary_dim - 1.0)
        return low, high + 0.001 if low == high else high

    def ramp(self, rope: RoPE) -> NDArray[np.float64]:
        """Share of interpolation of each pair, 0 (kept) to 1 (divided), ``(rotary_dim // 2,)``."""
        low, high = self.correction_range(rope)
        return np.clip((np.arange(rope.rotary_dim // 2) - low) / (high - low), 0.0, 1.0)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Blend of kept and divided frequencies, and the factor on cos and sin."""
        _check_seq_len(seq_len)
        ramp = self.ramp(rope)
        inv_freq = rope.inv_freq * (1.0 - ramp) + rope.inv_freq / self.factor * ramp
        return inv_freq, self._attention_factor()

    def _attention_factor(self) -> float:
        def magnitude(mscale: float) -> float:
            return 0.1 * mscale * math.log(self.factor) + 1.0

        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale and self.mscale_all_dim:  # the reference ignores either one alone, and 0
            return magnitude(self.mscale) / magnitude(self.mscale_all_dim)
        return magnitude(1.0)


@dataclass(frozen=True)
class Llama3:
    """Llama 3's rule: by wavelength, kept when short, divided when long, smooth between.

    Attributes:
        factor: Divides the slow pairs, at least 1.
        low_freq_factor: Pairs with fewer turns in the trained context are divided.
        high_freq_factor: Pairs with more turns in it are kept.
        original_max_position_embeddings: Trained context, tokens.

    Source: meta-llama/llama-models ``apply_scaling``; Hugging Face ``_compute_llama3_parameters``.
    Not YaRN: the ramp is over turns (the YaRN paper's "NTK-by-parts"), and scores keep their size.
    """

    factor: float
    original_max_position_embeddings: int
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    rope_type: ClassVar[str] = "llama3"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_factor(self.factor)
        _check_length(self.original_max_position_embeddings)
        params.real("low_freq_factor", self.low_freq_factor, 0.0, above=True)
        params.real("high_freq_factor", self.high_freq_factor, self.low_freq_factor)

    def ramp(self, rope: RoPE) -> NDArray[np.float64]:
        """Share of interpolation of each pair, 0 (kept) to 1 (divided), ``(rotary_dim // 2,)``."""
        turns = self.original_max_position_embeddings * rope.inv_freq / (2.0 * math.pi)
        width = self.high_freq_factor - self.low_freq_factor
        if width == 0.0:  # Llama 4 Scout: a step, where a pair at the step itself is kept
            return np.where(turns < self.low_freq_factor, 1.0, 0.0)
        return 1.0 - np.clip((turns - self.low_freq_factor) / width, 0.0, 1.0)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Blend of kept and divided frequencies; the attention factor is 1."""
        _check_seq_len(seq_len)
        ramp = self.ramp(rope)
        return rope.inv_freq * (1.0 - ramp) + rope.inv_freq / self.factor * ramp, 1.0


ROPE_SCALINGS: dict[str, type[RopeScaling]] = {
    "default": NoScaling,
    "linear": Linear,
    "ntk": Ntk,
    "dynamic": DynamicNtk,
    "yarn": Yarn,
    "llama3": Llama3,
}
"""Every method by its ``rope_type``."""


def scaling(rope_type: str, **settings: object) -> RopeScaling:
    """The method of that ``rope_type``, made from those ``settings`` that it has.

    Settings of other methods are left aside, so that one set of handles serves all methods.
    """
    params.one_of("rope_type", rope_type, tuple(ROPE_SCALINGS))
    method = ROPE_SCALINGS[rope_type]
    own = getattr(method, "__dataclass_fields__", {})
    return method(**{name: value for name, value in settings.items() if name in own})
