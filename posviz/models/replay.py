"""How a model learned: the losses and attention that its checkpoint kept. Needs no torch."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import params
from posviz.models import checkpoint, names

HALF = 0.5
"""Share of a head's weight from which it counts as looking at the token to copy."""

_NAMES = names.ALPHABET + "›"
_COPYING = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/" + "›="


@dataclass(frozen=True, eq=False)
class Replay:
    """A training, point by point.

    Attributes:
        name: Of the model.
        task: ``names`` or ``copying``.
        steps: Updates done at each point, ascending from 0.
        losses: By kind of character, nats per character, ``(points,)`` each; of the copy task
            ``total`` is the copied row's, and ``accuracy`` the share of it that is right.
        phases: Stretches of training as the recipe tells them, in order.
        characters: The probe text, one character per token, the start sign first.
        attention: Where each head looks from the last token of the probe,
            ``(points, num_layers, num_heads, tokens)``, from 0 to 1.
    """

    name: str
    task: str
    steps: NDArray[np.int64]
    losses: Mapping[str, NDArray[np.float64]]
    phases: Sequence[Mapping[str, Any]]
    characters: str
    attention: NDArray[np.float32]

    @cached_property
    def target(self) -> int:
        """The token to copy: the one after the earlier reading of what the probe ends with."""
        text = self.characters
        alike = [_common_end(text[:end], text) for end in range(1, len(text))]
        return alike.index(max(alike)) + 1

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """Weight of each head on the token to copy, ``(points, num_layers, num_heads)``."""
        return self.attention[..., self.target]

    @cached_property
    def appearance(self) -> int | None:
        """First point at which a head puts more than half its weight there; None if none does."""
        reached = (self.shares > HALF).any(axis=(1, 2))
        return int(reached.argmax()) if reached.any() else None

    def at(self, step: int) -> int:
        """The last point that ``step`` updates have reached."""
        return int(np.searchsorted(self.steps, params.whole("step", step, 0), side="right")) - 1

    def strongest(self, point: int) -> tuple[int, int]:
        """Layer and head, counted from 0, with the largest share at a point."""
        layer, head = divmod(int(self.shares[point].argmax()), self.shares.shape[2])
        return layer, head


def replay(name: str, folder: Path = checkpoint.TRAINED) -> Replay:
    """The training of the checkpoint of that name.

    Raises:
        InvalidParameterError: If there is none, or the file is damaged or foreign.
    """
    path = folder / f"{name}.safetensors"
    return _read(name, folder, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=32)
def _read(name: str, folder: Path, changed: int) -> Replay:
    stored = checkpoint.load(name, folder)
    card = stored.card
    letters = _COPYING if card["task"] == "copying" else _NAMES
    log = {key: np.array(values) for key, values in card["log"].items()}
    return Replay(
        name, card["task"], log.pop("step"), log, card["recipe"]["phases"],
        "".join(letters[token] for token in card["probe"]),
        stored.replay["attention"].astype(np.float32) / 255.0,
    )  # fmt: skip


def _common_end(a: str, b: str) -> int:
    """Characters that two texts have in common at their ends."""
    pairs = zip(reversed(a), reversed(b), strict=False)
    return next((n for n, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))
