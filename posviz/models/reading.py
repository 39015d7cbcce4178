"""How a trained names model is read: its encoding as set, and what was measured of that before.

Needs no torch: pages ask it while a handle moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from posviz import alibi, extrapolation, measured, params, rope, rope_scaling
from posviz.measured import Curve
from posviz.rope_scaling import Frequencies, RopeScaling


class Encoding(NamedTuple):
    """Position encoding of a family of models, and its base where there is RoPE."""

    name: str
    rope_theta: float = 10_000.0


FAMILIES = {
    "rope-500": Encoding("rope", 500.0),
    "rope-10000": Encoding("rope"),
    "alibi": Encoding("alibi"),
    "t5": Encoding("t5"),
    "sinusoidal": Encoding("sinusoidal"),
    "learned": Encoding("learned"),
    "none": Encoding("none"),
}
"""Families of names models, without the ``names-`` before; the recipes say the same."""
TRAINED, HEAD_DIM, NUM_HEADS = 256, 32, 3
"""Trained context in tokens, and what their encodings need to know of their shape."""

_FACTORS = (0.5, 1.0, *measured.FACTORS)


@dataclass(frozen=True)
class Reading:
    """One model, read in one way; what its encoding does not know is left aside.

    Attributes:
        family: One of :data:`FAMILIES`.
        seed: Which model of the family.
        windowed: Whether each character is predicted from the last tokens alone, as trained.
        rope_type: Scaling method of RoPE.
        factor: Its factor.
        rope_theta: Base in use.
        beta_fast: YaRN's.
        beta_slow: YaRN's.
        tempered: Whether YaRN's attention factor is applied.
        slope_multiplier: Factor on ALiBi's slopes.
    """

    family: str
    seed: int = 0
    windowed: bool = False
    rope_type: str = "default"
    factor: float = 1.0
    rope_theta: float = 10_000.0
    beta_fast: float = measured.BETA_FAST
    beta_slow: float = 1.0
    tempered: bool = True
    slope_multiplier: float = 1.0

    def __post_init__(self) -> None:
        params.one_of("family", self.family, tuple(FAMILIES))

    @property
    def encoding(self) -> str:
        """Name of the encoding."""
        return FAMILIES[self.family].name

    @property
    def name(self) -> str:
        """The model's; windows were measured with the first seed alone."""
        family = f"names-{self.family}"
        return measured.models(family)[0] if self.windowed else f"{family}-seed{self.seed}"

    @property
    def rotates(self) -> bool:
        """Whether the settings of RoPE do something."""
        return self.encoding == "rope" and not self.windowed

    @property
    def biases(self) -> bool:
        """Whether the slopes do something."""
        return self.encoding == "alibi" and not self.windowed

    @property
    def method(self) -> str:
        """Scaling method in use."""
        return self.rope_type if self.rotates else "default"

    @property
    def trained(self) -> rope.RoPE:
        """RoPE as trained."""
        return rope.RoPE(HEAD_DIM, FAMILIES[self.family].rope_theta)

    @property
    def is_rebased(self) -> bool:
        """Whether the base is not the trained one."""
        return self.rotates and self.rope_theta != self.trained.rope_theta

    @property
    def as_ntk(self) -> float:
        """Factor of the NTK scaling that a moved base is."""
        return float((self.rope_theta / self.trained.rope_theta) ** ((HEAD_DIM - 2) / HEAD_DIM))

    @cached_property
    def scaling(self) -> RopeScaling:
        """The method with its parameters."""
        return rope_scaling.scaling(
            self.method, factor=self.factor, max_position_embeddings=TRAINED,
            original_max_position_embeddings=TRAINED, beta_fast=self.beta_fast,
            beta_slow=self.beta_slow, attention_factor=None if self.tempered else 1.0,
        )  # fmt: skip

    def frequencies(self, seq_len: int) -> Frequencies:
        """Frequencies in use at ``seq_len`` tokens, and the attention factor."""
        return self.scaling.frequencies(rope.RoPE(HEAD_DIM, self.rope_theta), seq_len)

    @cached_property
    def usable(self) -> float:
        """Longest context in which no pair meets an angle beyond training, tokens.

        NaN for a method that follows the length from a base that was not trained.
        """
        if self.scaling.depends_on_length:
            if self.is_rebased:
                return math.nan
            return extrapolation.usable_context(self.trained, self.scaling, TRAINED)
        slow = extrapolation.never_completed(self.trained, TRAINED)
        if not slow.any():
            return math.inf
        ratio = self.trained.inv_freq[slow] / self.frequencies(TRAINED)[0][slow]
        return TRAINED * float(ratio.min())

    @cached_property
    def slopes(self) -> list[float]:
        """ALiBi's slopes in use, the steepest first."""
        return sorted((alibi.slopes(NUM_HEADS) * self.slope_multiplier).tolist(), reverse=True)

    @property
    def windows(self) -> list[float]:
        """Tokens within which each head keeps 99 % of its weight, when all keys match equally."""
        return [alibi.window(slope) for slope in self.slopes]

    @property
    def way(self) -> tuple[str, float] | None:
        """Method and factor by which :mod:`posviz.measured` knows it; None if it cannot."""
        if self.biases:
            return "slopes", self.slope_multiplier
        if self.is_rebased:
            return None
        if self.method != "yarn":
            return self.method, 1.0 if self.method == "default" else self.factor
        if not self.tempered:
            return None
        # The ramp ends at whole pairs, so that betas between two of them change nothing.
        for name, beta_fast in (("yarn", measured.BETA_FAST), ("yarn_32", 32.0)):
            usual = replace(self, beta_fast=beta_fast, beta_slow=1.0)
            if (usual.frequencies(TRAINED)[0] == self.frequencies(TRAINED)[0]).all():
                return name, self.factor
        return None

    @property
    def is_plain(self) -> bool:
        """Whether the encoding is as trained."""
        return self.way is not None and measured.key(*self.way) == "default"

    @cached_property
    def known(self) -> Curve | None:
        """What was measured before of exactly this; None if nothing was."""
        if self.windowed:
            return measured.sliding(self.name)
        return measured.curve(self.name, *self.way) if self.way else None

    @cached_property
    def nearest(self) -> tuple[str, float, Curve] | None:
        """Method, factor and curve that were measured before and come nearest in factor."""
        method, factor = self.method, self.factor
        if self.biases:
            method, factor = "slopes", self.slope_multiplier
        elif method == "default":
            method, factor = "ntk", self.as_ntk
        for near in sorted(_FACTORS, key=lambda one: abs(math.log(one / factor))):
            found = measured.curve(self.name, method, near)
            if found is not None:
                return method, near, found
        return None


def shortfalls() -> dict[str, float]:
    """By how much each family's perplexity lies above ALiBi's at the trained length, as a share."""
    there = measured.families()
    bands = {family: measured.band(f"names-{family}") for family in FAMILIES
             if f"names-{family}" in there}  # fmt: skip
    nats = {
        family: float(band.mean[band.lengths.index(TRAINED)])
        for family, band in bands.items()
        if band is not None
    }
    return {family: math.exp(own - nats.get("alibi", own)) - 1.0 for family, own in nats.items()}


def over_floor(curve: Curve) -> dict[int, float]:
    """Perplexity as a multiple of the floor's, at each length that the model can read."""
    excess = curve.nats - measured.floor(curve.lengths)
    return {
        length: math.exp(nats)
        for length, nats in zip(curve.lengths, excess, strict=True)
        if not math.isnan(nats)
    }
