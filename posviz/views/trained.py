"""What views of one trained model share: which model, and RoPE and slopes as it is read with."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from posviz import measured, params, rope_scaling
from posviz.figures.style import number
from posviz.models import checkpoint
from posviz.rope_scaling import RopeScaling
from posviz.ui.labels import METHODS
from posviz.ui.text import say

METHOD = params.Choice(
    "rope_type", "Method", "default", tuple(METHODS), tuple(METHODS.values()), ""
)
BETA_FAST = replace(params.BETA_FAST, default=measured.BETA_FAST)


def factor(rope_type: str, usual: float, high: float) -> params.Number:
    """Handle of the factor, up to ``high``; ``usual`` for all methods but dynamic NTK.

    Dynamic NTK follows the length by itself; as it is written, its own factor is 1.
    """
    return replace(params.FACTOR, default=1.0 if rope_type == "dynamic" else usual, high=high)


@dataclass(frozen=True)
class Trained:
    """A trained model and how it is read; one field per parameter, by its name."""

    task: ClassVar[str]

    model: str
    seed: str
    rope_type: str
    factor: float
    beta_fast: float
    slope_multiplier: float

    @property
    def name(self) -> str:
        """The model's."""
        return f"{self.task}-{self.model}-seed{self.seed}"

    @cached_property
    def card(self) -> dict[str, Any]:
        """What its checkpoint tells of it."""
        return checkpoint.card(self.name)

    @property
    def encoding(self) -> str:
        """Name of its position encoding."""
        return str(self.card["encoding"])

    @property
    def trained(self) -> int:
        """Its trained context, tokens."""
        return int(self.card["shape"]["max_len"])

    @property
    def method(self) -> str:
        """The method where there is RoPE."""
        return self.rope_type if "rope" in self.encoding else "default"

    @property
    def slopes(self) -> float:
        """The multiplier where there are slopes."""
        return self.slope_multiplier if "alibi" in self.encoding else 1.0

    @cached_property
    def scaling(self) -> RopeScaling:
        """The method with its parameters."""
        return rope_scaling.scaling(
            self.method, factor=self.factor, beta_fast=self.beta_fast,
            max_position_embeddings=self.trained, original_max_position_embeddings=self.trained,
        )  # fmt: skip

    @property
    def changes(self) -> list[str]:
        """How it is read otherwise than trained, in words."""
        said = []
        if self.method != "default":
            said.append(f"{say(METHODS[self.method])} × {number(self.factor)}")
        if self.slopes != 1.0:
            said.append(say("slopes × {factor}", factor=number(self.slopes)))
        return said
