"""RoPE beyond its trained context: each method turns plain frequencies into scaled ones.

Every method is a frozen class with ``frequencies(rope, seq_len) -> (inv_freq, attention_factor)``,
the contract of Hugging Face's ``ROPE_INIT_FUNCTIONS``. ``inv_freq`` is float64, one per pair;
``attention_factor`` multiplies cos and sin, so it multiplies scores by its square.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from posviz import params
from posviz import rope as rope_module
from posviz.rope import RoPE

Frequencies = tuple[NDArray[np.float64], float]
T = TypeVar("T")
RampOver = Literal["pairs", "turns"]
RAMPS: tuple[RampOver, ...] = ("pairs", "turns")


@runtime_checkable
class RopeScaling(Protocol):
    """What every scaling method offers."""

    rope_type: ClassVar[str]
    depends_on_length: ClassVar[bool]

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Scaled frequencies ``(rotary_dim // 2,)`` and attention factor at ``seq_len`` tokens."""
        ...

    def stretch(self, seq_len: int | None = None) -> float:
        """How many times slower a pair gets that the method stretches by its whole factor."""
        ...


def _check_factor(factor: float) -> float:
    return params.real("factor", factor, 1.0)


def _check_length(original_max_position_embeddings: int, low: int = 1) -> int:
    return params.whole("original_max_position_embeddings", original_max_position_embeddings, low)


def _check_attention_factor(attention_factor: float | None) -> float | None:
    return _if_given(params.real, "attention_factor", attention_factor, 0.0, above=True)


def _if_given(
    check: Callable[..., T], name: str, value: float | None, low: float, **how: bool
) -> T | None:
    return None if value is None else check(name, value, low, **how)


def _check_seq_len(seq_len: int | None) -> int | None:
    return _if_given(params.whole, "seq_len", seq_len, 1)


def _check_use(rope: RoPE, seq_len: int | None) -> int | None:
    params.instance("rope", rope, RoPE)
    return _check_seq_len(seq_len)


def _stretched_base(rope: RoPE, factor: float) -> float:
    """Base that keeps the fastest pair and slows the slowest by exactly ``factor``."""
    if rope.rotary_dim < 4:
        raise params.InvalidParameterError(
            "NTK scaling needs a rotary_dim of at least 4, because with a single pair there is "
            "no slower one to stretch, got {got}",
            got=rope.rotary_dim,
        )
    try:
        base: float = rope.rope_theta * factor ** (rope.rotary_dim / (rope.rotary_dim - 2))
    except OverflowError:
        base = math.inf
    if not math.isfinite(base):
        raise params.InvalidParameterError(
            "factor must be small enough for a finite base, got {got}", got=params.shown(factor)
        )
    return base


def yarn_mscale(factor: float, mscale: float = 1.0) -> float:
    """YaRN's factor on a rotated vector: ``0.1 * mscale * ln(factor) + 1``, 1 up to factor 1.

    Source: Peng et al. 2023, equation 22, where it is ``sqrt(1/t)``; ``yarn_get_mscale`` in
    DeepSeek's code. DeepSeek's papers print ``sqrt(t)`` and mean the same.
    """
    factor = params.real("factor", factor, 0.0, above=True)
    return 0.1 * params.real("mscale", mscale, 0.0) * math.log(max(factor, 1.0)) + 1.0


def _ramp_over_turns(rope: RoPE, trained: int, few: float, many: float) -> NDArray[np.float64]:
    """1 below ``few`` turns in the trained context, 0 from ``many`` on, linear between."""
    turns = rope_module.turns(rope.inv_freq, trained)
    if few == many:  # Llama 4 Scout: a step, where a pair at the step itself is kept
        return np.where(turns < few, 1.0, 0.0)
    return np.asarray(1.0 - np.clip((turns - few) / (many - few), 0.0, 1.0))


@dataclass(frozen=True)
class NoScaling:
    """Plain RoPE at any length (Hugging Face ``default``)."""

    rope_type: ClassVar[str] = "default"
    depends_on_length: ClassVar[bool] = False

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """The frequencies as trained."""
        _check_use(rope, seq_len)
        return rope.inv_freq, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """1: no pair is slowed."""
        _check_seq_len(seq_len)
        return 1.0


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
        params.keep(self, factor=_check_factor(self.factor))

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """All pairs slowed alike."""
        _check_use(rope, seq_len)
        return rope.inv_freq / self.factor, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """The factor."""
        _check_seq_len(seq_len)
        return self.factor


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
        params.keep(self, factor=_check_factor(self.factor))

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Plain RoPE over the stretched base ``rope_theta * factor**(d / (d - 2))``."""
        _check_use(rope, seq_len)
        return RoPE(rope.rotary_dim, _stretched_base(rope, self.factor)).inv_freq, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """The factor."""
        _check_seq_len(seq_len)
        return self.factor


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
        params.keep(
            self,
            factor=_check_factor(self.factor),
            max_position_embeddings=params.whole(
                "max_position_embeddings", self.max_position_embeddings, 1
            ),
        )

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Frequencies of a sequence of ``seq_len`` tokens; without one, as trained."""
        _check_use(rope, seq_len)
        base = _stretched_base(rope, self.stretch(seq_len))
        return RoPE(rope.rotary_dim, base).inv_freq, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """``s * l / L - (s - 1)``, 1 up to the trained context."""
        length = max(_check_seq_len(seq_len) or 0, self.max_position_embeddings)
        return self.factor * length / self.max_position_embeddings - (self.factor - 1.0)


@dataclass(frozen=True)
class Yarn:
    """YaRN: fast pairs kept, slow pairs divided by ``factor``, a ramp over pair index between.

    As released code has it (jquesnelle/yarn, Hugging Face ``_compute_yarn_parameters``); the
    paper's ramp is linear in turns (equations 17-20), up to 77 % away in frequency, and a named
    variant here. And where a tiny base lets every pair turn more than ``beta_fast`` times, the
    code's clamp puts the end of the ramp before its beginning, so that every pair is divided; the
    paper keeps them all.

    Attributes:
        factor: New context over trained context, at least 1.
        original_max_position_embeddings: Trained context, tokens.
        beta_fast: Turns within it from which a pair is kept.
        beta_slow: Turns within it up to which a pair is divided.
        truncate: Whether the ends of the ramp are rounded outwards to whole pairs.
        attention_factor: Replaces the computed factor on cos and sin if given.
        mscale: With ``mscale_all_dim``, DeepSeek's numerator.
        mscale_all_dim: With ``mscale``, DeepSeek's denominator.
        ramp_over: What the ramp is linear in: ``pairs`` as in every released model, or ``turns``
            as in the paper, where ``truncate`` has no meaning.

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
    ramp_over: RampOver = "pairs"
    rope_type: ClassVar[str] = "yarn"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        beta_slow = params.real("beta_slow", self.beta_slow, 1e-6, 1e6)
        params.keep(
            self,
            factor=_check_factor(self.factor),
            original_max_position_embeddings=_check_length(self.original_max_position_embeddings),
            beta_slow=beta_slow,
            beta_fast=params.real("beta_fast", self.beta_fast, beta_slow, 1e6),
            attention_factor=_check_attention_factor(self.attention_factor),
            mscale=_if_given(params.real, "mscale", self.mscale, 0.0),
            mscale_all_dim=_if_given(params.real, "mscale_all_dim", self.mscale_all_dim, 0.0),
        )
        if not isinstance(self.truncate, bool):
            raise params.InvalidParameterError(
                "truncate must be True or False, got {got}", got=params.shown(self.truncate)
            )
        params.one_of("ramp_over", self.ramp_over, RAMPS)

    def correction_range(self, rope: RoPE) -> tuple[float, float]:
        """Pair indices where the ramp over pairs begins and ends."""

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
        if self.ramp_over == "turns":
            trained = self.original_max_position_embeddings
            return _ramp_over_turns(rope, trained, self.beta_slow, self.beta_fast)
        low, high = self.correction_range(rope)
        return np.clip((np.arange(rope.rotary_dim // 2) - low) / (high - low), 0.0, 1.0)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Blend of kept and divided frequencies, and the factor on cos and sin."""
        _check_use(rope, seq_len)
        ramp = self.ramp(rope)
        inv_freq = rope.inv_freq * (1.0 - ramp) + rope.inv_freq / self.factor * ramp
        return inv_freq, self._attention_factor()

    def stretch(self, seq_len: int | None = None) -> float:
        """The factor."""
        _check_seq_len(seq_len)
        return self.factor

    def _attention_factor(self) -> float:
        if self.attention_factor is not None:
            return self.attention_factor
        if self.mscale and self.mscale_all_dim:  # the reference ignores either one alone, and 0
            return yarn_mscale(self.factor, self.mscale) / yarn_mscale(
                self.factor, self.mscale_all_dim
            )
        return yarn_mscale(self.factor)


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
        low_freq_factor = params.real("low_freq_factor", self.low_freq_factor, 0.0, above=True)
        params.keep(
            self,
            factor=_check_factor(self.factor),
            original_max_position_embeddings=_check_length(self.original_max_position_embeddings),
            low_freq_factor=low_freq_factor,
            high_freq_factor=params.real(
                "high_freq_factor", self.high_freq_factor, low_freq_factor
            ),
        )

    def ramp(self, rope: RoPE) -> NDArray[np.float64]:
        """Share of interpolation of each pair, 0 (kept) to 1 (divided), ``(rotary_dim // 2,)``."""
        trained = self.original_max_position_embeddings
        return _ramp_over_turns(rope, trained, self.low_freq_factor, self.high_freq_factor)

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Blend of kept and divided frequencies; the attention factor is 1."""
        _check_use(rope, seq_len)
        ramp = self.ramp(rope)
        return rope.inv_freq * (1.0 - ramp) + rope.inv_freq / self.factor * ramp, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """The factor."""
        _check_seq_len(seq_len)
        return self.factor


@dataclass(frozen=True)
class LongRope:
    """LongRoPE: every pair divided by a searched factor of its own, one list short, one long.

    The list goes by the length of the whole sequence in use: up to and with the trained context
    the short one, beyond it the long one; without a length the short one. Other programs choose
    once by the configured context (vLLM, llama.cpp) or always take the long list (mlx-lm).

    Attributes:
        short_factor: Divisor of each pair up to the trained context, ``rotary_dim / 2`` numbers.
        long_factor: Divisor of each pair beyond it, ``rotary_dim / 2`` numbers.
        original_max_position_embeddings: Trained context, tokens, at least 2.
        factor: New context over trained context. If not given, the ratio of
            ``max_position_embeddings`` to the trained context (Hugging Face up to 4.57 lets the
            ratio win). It makes the attention factor and divides nothing.
        max_position_embeddings: Extended context, tokens.
        attention_factor: Replaces ``sqrt(1 + ln(factor) / ln(trained context))``, the factor on
            cos and sin, which holds for both lists.

    Source: Ding et al. 2024, https://arxiv.org/abs/2402.13753; Hugging Face
    ``_compute_longrope_parameters`` (5.24.0), legacy name ``su``. The attention factor is Phi-3's
    code; the paper has none.
    """

    short_factor: tuple[float, ...]
    long_factor: tuple[float, ...]
    original_max_position_embeddings: int
    factor: float | None = None
    max_position_embeddings: int | None = None
    attention_factor: float | None = None
    rope_type: ClassVar[str] = "longrope"
    depends_on_length: ClassVar[bool] = True

    def __post_init__(self) -> None:
        params.keep(
            self,
            short_factor=_divisors("short_factor", self.short_factor),
            long_factor=_divisors("long_factor", self.long_factor),
            original_max_position_embeddings=_check_length(
                self.original_max_position_embeddings, 2
            ),
            factor=_if_given(params.real, "factor", self.factor, 1.0),
            max_position_embeddings=_if_given(
                params.whole, "max_position_embeddings", self.max_position_embeddings, 1
            ),
            attention_factor=_check_attention_factor(self.attention_factor),
        )
        if self._ratio() is None and self.attention_factor is None:
            raise params.InvalidParameterError(
                "factor must be given, or max_position_embeddings, or attention_factor, because "
                "the size of cos and sin follows from it, got none of them"
            )

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Frequencies over the list for ``seq_len`` tokens, and the factor on cos and sin."""
        _check_use(rope, seq_len)
        for name in ("short_factor", "long_factor"):
            if len(getattr(self, name)) != rope.rotary_dim // 2:
                raise params.InvalidParameterError(
                    "{name} must have one number per pair, {allowed} here, got {got}",
                    name=name,
                    allowed=rope.rotary_dim // 2,
                    got=len(getattr(self, name)),
                )
        return rope.inv_freq / np.array(self._in_use(seq_len)), self._attention_factor()

    def stretch(self, seq_len: int | None = None) -> float:
        """New context over trained context; if unknown, the largest divisor in use."""
        known = self._ratio()
        return max(self._in_use(seq_len)) if known is None else known

    def _in_use(self, seq_len: int | None) -> tuple[float, ...]:
        length = _check_seq_len(seq_len) or 0
        beyond = length > self.original_max_position_embeddings
        return self.long_factor if beyond else self.short_factor

    def _ratio(self) -> float | None:
        if self.factor is not None or self.max_position_embeddings is None:
            return self.factor
        return self.max_position_embeddings / self.original_max_position_embeddings

    def _attention_factor(self) -> float:
        if self.attention_factor is not None:
            return self.attention_factor
        ratio = max(self._ratio() or 1.0, 1.0)
        return math.sqrt(1.0 + math.log(ratio) / math.log(self.original_max_position_embeddings))


def _divisors(name: str, given: Sequence[float]) -> tuple[float, ...]:
    """``given`` as a tuple of numbers to divide by, one per pair."""
    found = params.per_pair(name, given)
    wrong = (found < 1e-6) | (found > 1e6)
    if wrong.any():
        raise params.InvalidParameterError(
            "{name} must be numbers from 1e-06 to 1e+06, got {got}",
            name=name,
            got=params.shown(float(found[wrong][0])),
        )
    return tuple(found.tolist())


@dataclass(frozen=True)
class Proportional:
    """Proportional RoPE: the slow pairs stand still, the fast ones turn as in the whole head.

    Not partial rotary: frequencies count by the whole head (``rotary_dim`` is the head here), and
    a pair's partner stands half a head away. A share of 0 turns nothing (NoPE), of 1 everything.

    Attributes:
        partial_rotary_factor: Share of the pairs that turn, truncated like the reference.
        factor: Divides the frequencies that turn, at least 1.

    Source: Barbero et al. 2024 ("p-RoPE"), https://arxiv.org/abs/2410.06205, section 6; Hugging
    Face ``_compute_proportional_rope_parameters`` (Gemma 4).
    """

    partial_rotary_factor: float = 1.0
    factor: float = 1.0
    rope_type: ClassVar[str] = "proportional"
    depends_on_length: ClassVar[bool] = False

    def __post_init__(self) -> None:
        params.keep(
            self,
            partial_rotary_factor=params.real(
                "partial_rotary_factor", self.partial_rotary_factor, 0.0, 1.0
            ),
            factor=_check_factor(self.factor),
        )

    def frequencies(self, rope: RoPE, seq_len: int | None = None) -> Frequencies:
        """Plain frequencies of the pairs that turn, divided; exactly 0 for the rest."""
        _check_use(rope, seq_len)
        turning = int(self.partial_rotary_factor * rope.rotary_dim // 2)
        inv_freq = rope.inv_freq / self.factor
        inv_freq[turning:] = 0.0
        return inv_freq, 1.0

    def stretch(self, seq_len: int | None = None) -> float:
        """The factor."""
        _check_seq_len(seq_len)
        return self.factor


ROPE_SCALINGS: dict[str, type[RopeScaling]] = {
    "default": NoScaling,
    "linear": Linear,
    "ntk": Ntk,
    "dynamic": DynamicNtk,
    "yarn": Yarn,
    "llama3": Llama3,
    "longrope": LongRope,
    "proportional": Proportional,
}
"""Every method by its ``rope_type``."""


def scaling(rope_type: str, **settings: object) -> RopeScaling:
    """The method of that ``rope_type``, made from those ``settings`` that it has.

    Settings of other methods are left aside, so that one set of handles serves all methods.
    """
    params.one_of("rope_type", rope_type, tuple(ROPE_SCALINGS))
    method = ROPE_SCALINGS[rope_type]
    own = inspect.signature(method).parameters
    for name, setting in own.items():
        if setting.default is setting.empty and name not in settings:
            raise params.InvalidParameterError(
                "{name} must be given for {rope_type}, got nothing", name=name, rope_type=rope_type
            )
    return method(**{name: value for name, value in settings.items() if name in own})


@dataclass(frozen=True, eq=False)
class Effect:
    """What a scaling does to each pair; every array is ``(rotary_dim // 2,)``.

    Attributes:
        ratio: Plain over scaled frequency: how many times slower; infinite if stopped.
        wavelength_before: Tokens per turn of plain RoPE.
        wavelength_after: Tokens per turn once scaled; infinite if stopped.
        kind: ``kept`` where the frequency is the plain one; ``stretched`` where it is slowed by
            the method's whole :meth:`RopeScaling.stretch` or more; ``blended`` for all else, such
            as NTK's middle pairs, or a LongRoPE pair whose divisor is below the whole ratio.
    """

    ratio: NDArray[np.float64]
    wavelength_before: NDArray[np.float64]
    wavelength_after: NDArray[np.float64]
    kind: NDArray[np.str_]


# Rounding of a power: NTK's last pair is slowed by the factor up to this.
_ROUNDING = 1e-12


def effect(scaling: RopeScaling, rope: RoPE, seq_len: int | None = None) -> Effect:
    """Effect of ``scaling`` on each pair of ``rope`` at ``seq_len`` tokens."""
    params.instance("scaling", scaling, RopeScaling)
    scaled, _ = scaling.frequencies(rope, seq_len)
    plain = rope.inv_freq
    with np.errstate(divide="ignore", over="ignore"):
        ratio = plain / scaled
    whole = ratio >= scaling.stretch(seq_len) * (1.0 - _ROUNDING)
    kept = np.abs(ratio - 1.0) <= _ROUNDING
    return Effect(
        ratio=ratio,
        wavelength_before=rope_module.wavelength(plain),
        wavelength_after=rope_module.wavelength(scaled),
        kind=np.where(kept, "kept", np.where(whole, "stretched", "blended")),
    )
