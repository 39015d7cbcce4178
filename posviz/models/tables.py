"""The position table that a learned model was trained to, and the one that it began as.

Needs no torch: pages ask it while a handle moves. What the model does with a longer table is
measured by :mod:`posviz.models.stretched` and told in the classes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posviz import learned, params, sinusoidal
from posviz.models import checkpoint

START_SCALE = 0.1
"""Factor on the sinusoidal table that training begins with: ``positions.SINUSOIDAL_SCALE``, which
stands beside torch."""


@dataclass(frozen=True, eq=False)
class Table:
    """A trained table beside its beginning; rows are positions, columns dimensions.

    Attributes:
        trained: ``(rows, d_model)``, as it is stored, in float16.
        start: Before the first step, ``(rows, d_model)``.
    """

    trained: NDArray[np.float64]
    start: NDArray[np.float64]

    @property
    def rows(self) -> int:
        """How many positions there are."""
        return len(self.trained)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Length of each trained row."""
        return learned.row_sizes(self.trained)

    @cached_property
    def start_sizes(self) -> NDArray[np.float64]:
        """Length of each row before training; of a sinusoidal table, all the same."""
        return learned.row_sizes(self.start)

    @cached_property
    def moved(self) -> NDArray[np.float64]:
        """How far training moved each row, as a length in the same space."""
        return learned.row_sizes(self.change)

    @cached_property
    def moved_share(self) -> NDArray[np.float64]:
        """The same as a share of the row's length before."""
        return np.asarray(self.moved / self.start_sizes)

    @property
    def median_share(self) -> float:
        """Half of all rows moved by less than that share of their length."""
        return float(np.median(self.moved_share))

    def product(self, position: int, other: int) -> float:
        """Dot product of two trained rows."""
        return float(self.trained[position] @ self.trained[other])

    @cached_property
    def change(self) -> NDArray[np.float64]:
        """What training did: trained minus start."""
        return np.asarray(self.trained - self.start)

    @cached_property
    def similarity(self) -> NDArray[np.float64]:
        """Cosine similarity of the trained rows, ``(rows, rows)``."""
        return learned.similarity(self.trained)

    @cached_property
    def start_similarity(self) -> NDArray[np.float64]:
        """The same before training."""
        return learned.similarity(self.start)

    @cached_property
    def similarity_change(self) -> NDArray[np.float64]:
        """What training did to it: trained minus start."""
        return np.asarray(self.similarity - self.start_similarity)


@dataclass(frozen=True, eq=False)
class Loss:
    """What a model loses by context length with a longer table.

    Attributes:
        lengths: Context lengths, tokens, as in ``measured.LENGTHS``.
        documents: Texts read.
        nats: Floor of the language plus the mean excess over the documents' own floor.
    """

    lengths: tuple[int, ...]
    documents: int
    nats: NDArray[np.float64]

    @property
    def perplexity(self) -> NDArray[np.float64]:
        """Per character, as many numbers as lengths."""
        return np.asarray(np.exp(self.nats))


@dataclass(frozen=True, eq=False)
class Looks:
    """Where the head looks that looked most at the token before its own.

    Attributes:
        layer: From 0.
        head: From 0.
        trained: Its mean weight by distance back, the token itself first, with the trained table.
        longer: The same with the longer one.
    """

    layer: int
    head: int
    trained: NDArray[np.float64]
    longer: NDArray[np.float64]


def table(name: str, folder: Path = checkpoint.TRAINED) -> Table:
    """The table of the checkpoint of that name.

    Raises:
        InvalidParameterError: If there is none, the file is damaged, or its encoding has no table
            of positions.
    """
    path = folder / f"{name}.safetensors"
    return _read(name, folder, path.stat().st_mtime_ns if path.exists() else 0)


@lru_cache(maxsize=8)
def _read(name: str, folder: Path, changed: int) -> Table:
    stored = checkpoint.load(name, folder)
    params.one_of("encoding", stored.card.get("encoding"), ("learned",))
    trained = stored.weights["positions.table"].astype(np.float64)
    return Table(trained, START_SCALE * sinusoidal.table(*trained.shape))
