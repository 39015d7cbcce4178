"""What is trained and how: every model of the set as data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from posviz import params
from posviz.measured import TRAINED_LENGTH
from posviz.models import copying, names, stdlib
from posviz.models.names import Dialect
from posviz.models.positions import Setting
from posviz.models.transformer import Shape

COPY_LENGTH = 512
"""Tokens of the longest row that a copying model saw, with its copy."""


@dataclass(frozen=True)
class Phase:
    """A stretch of training on one kind of text.

    Attributes:
        steps: Updates.
        length: Tokens read at once.
        batch: Texts per update.
        dialect: How the text is made; None for the other tasks.
        elsewhere: Weight of the loss where no copying is asked for, against 1 where it is.
    """

    steps: int
    length: int
    batch: int
    dialect: Dialect | None = None
    elsewhere: float = 1.0


@dataclass(frozen=True)
class Recipe:
    """A model of the set.

    Attributes:
        task: ``names``, ``copying`` or ``bytes``.
        shape: Sizes of the decoder.
        setting: Position encoding.
        phases: In order. Each begins where the last one left the weights.
        table_rate: Learning rate of a trained position table, against that of other vectors.
        matrix_rate: Learning rate of the matrices.
        vector_rate: Learning rate of everything else.
        looks_back: Whether a head of a RoPE model begins by looking one token back, see
            :meth:`Decoder.look_back`.
    """

    task: str
    shape: Shape
    setting: Setting
    phases: tuple[Phase, ...]
    table_rate: float = 1.0
    matrix_rate: float = 0.018
    vector_rate: float = 0.003
    looks_back: bool = False

    @property
    def steps(self) -> int:
        """Updates of all phases."""
        return sum(phase.steps for phase in self.phases)

    def told(self) -> dict[str, Any]:
        """The recipe as plain JSON, for the card."""
        told = {**asdict(self), "setting": {"encoding": self.setting.encoding,
                                            "rope_theta": self.setting.rope_theta}}  # fmt: skip
        if not self.looks_back:  # told of those alone that do
            del told["looks_back"]
        return told

    @property
    def hash(self) -> str:
        """What tells this recipe from another."""
        return hashlib.sha256(json.dumps(self.told(), sort_keys=True).encode()).hexdigest()[:16]

    def at(self, step: int) -> Phase:
        """The phase that ``step`` belongs to."""
        for phase in self.phases:
            if step < phase.steps:
                return phase
            step -= phase.steps
        return self.phases[-1]


def _phases(copying_steps: int, stretch: int = 1) -> tuple[Phase, ...]:
    """Copying first, on short rows of names, then longer ones, then the language itself.

    Names are rare in the language and the loss of everything else drowns theirs: with the language
    alone no model learned to copy within its steps. How long the first phase takes depends on how
    soon a head finds the token before its own: at once with a bias for near tokens, late without
    positions.
    """
    return (
        Phase(copying_steps, 64, 32, Dialect(0.95, 4), elsewhere=0.1),
        Phase(300 * stretch, 128, 24, Dialect(0.6, 10), elsewhere=0.1),
        Phase(300 * stretch, TRAINED_LENGTH, 16, Dialect(), elsewhere=0.2),
        Phase(300 * (1 + stretch), TRAINED_LENGTH, 16, Dialect()),
    )


_NAMES = Shape(names.VOCABULARY, num_layers=3, d_model=96, num_heads=3, max_len=TRAINED_LENGTH)
_BYTES = Shape(stdlib.VOCABULARY, num_layers=3, d_model=96, num_heads=3, max_len=TRAINED_LENGTH)
_COPYING = Shape(copying.VOCABULARY, num_layers=4, d_model=64, num_heads=4, max_len=COPY_LENGTH)


def _names(
    encoding: str,
    rope_theta: float = 10_000.0,
    *,
    phases: tuple[Phase, ...] = _phases(900),
    table_rate: float = 1.0,
    looks_back: bool = False,
) -> Recipe:
    setting = Setting(encoding, rope_theta)
    return Recipe("names", _NAMES, setting, phases, table_rate, looks_back=looks_back)


def _copying(encoding: str) -> Recipe:
    phases = (Phase(2400, COPY_LENGTH, 4, elsewhere=0.02),)
    return Recipe("copying", _COPYING, Setting(encoding), phases, matrix_rate=0.01)


def _bytes(encoding: str, *, looks_back: bool = False) -> Recipe:
    phases = (Phase(1600, TRAINED_LENGTH, 16),)
    return Recipe("bytes", _BYTES, Setting(encoding), phases, looks_back=looks_back)


_RECIPES: dict[str, tuple[Recipe, tuple[int, ...]]] = {
    "names-rope-500": (_names("rope", 500.0, phases=_phases(500), looks_back=True), (0, 1, 2)),
    "names-rope-10000": (_names("rope", phases=_phases(500), looks_back=True), (0, 1, 2)),
    "names-alibi": (_names("alibi"), (0, 1, 2)),
    "names-sinusoidal": (_names("sinusoidal"), (0, 1)),
    "names-t5": (_names("t5", table_rate=10.0), (0, 1)),
    # The table hardly moves while copying is learned on its first rows; the others wait for theirs.
    "names-learned": (_names("learned", table_rate=0.01), (0, 1)),
    # Seeds 1 and 2 learned to copy little and stayed above ALiBi in range (docs/decisions.md).
    "names-none": (_names("none", phases=_phases(1500, 2)), (0,)),
    "copying-rope": (_copying("rope"), (0, 1)),
    "copying-alibi": (_copying("alibi"), (0, 1)),
    "copying-rope_alibi": (_copying("rope_alibi"), (0, 1)),
}

_OPTIONAL = {"bytes-rope": _bytes("rope", looks_back=True), "bytes-alibi": _bytes("alibi")}
# Of no set: what they read belongs to the interpreter that runs.

FAMILIES = {
    "none": "names-none", "sinusoidal": "names-sinusoidal", "learned": "names-learned",
    "t5": "names-t5", "alibi": "names-alibi", "rope": "names-rope-500",
    "rope_alibi": "copying-rope_alibi",
}  # fmt: skip
"""The family that an encoding alone means; the others go by their own names."""

MODELS: dict[str, tuple[Recipe, int]] = {
    f"{name}-seed{seed}": (recipe, seed)
    for name, (recipe, seeds) in _RECIPES.items()
    for seed in seeds
}
"""Recipe and seed of every model of the set, by name."""


def named(name: str) -> tuple[Recipe, int]:
    """Recipe and seed of the model of that name; seeds beyond the set's are further models."""
    family, _, seed = name.rpartition("-seed")
    known = {**{name: recipe for name, (recipe, _) in _RECIPES.items()}, **_OPTIONAL}
    params.one_of("model", family, tuple(known))
    try:
        return known[family], params.whole("seed", int(seed), 0)
    except ValueError as problem:
        if isinstance(problem, params.InvalidParameterError):
            raise
        raise params.InvalidParameterError(
            params.WHOLE_AT_LEAST, name="seed", low=0, got=params.shown(seed)
        ) from problem
