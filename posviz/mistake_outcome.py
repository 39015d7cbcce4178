"""What a mistake does to scores: right and mistaken ones, and where they part.

A score is what the softmax takes, so a difference of 0.1 changes a weight by a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from posviz import distance as distance_module
from posviz import params

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Depends = Literal["distance", "position", "patch"]

VISIBLE = 0.1
"""Error from which two scores differ, nats: it changes a weight by a tenth, exp(0.1) = 1.105."""

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_BLOCK = 64  # positions that are looked through at once


@dataclass(frozen=True)
class Fact:
    """A number in which the right and the mistaken setting differ.

    Attributes:
        template: What it is, a message id.
        right: Its value.
        mistaken: What the mistake makes of it.
        values: For its placeholders.
    """

    template: params.Message
    right: float
    mistaken: float
    values: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def label(self) -> str:
        """What it is, in English."""
        return self.template.format(**self.values)


@dataclass(frozen=True, eq=False)
class Curve:
    """Right and mistaken scores along an axis, in bins.

    Attributes:
        starts: First distance (or position) of each bin.
        right: Lowest and highest right score in each bin, ``(2, bins)``.
        mistaken: Lowest and highest mistaken score.
        first: The first distance (or position) at which the scores differ by more than
            :data:`VISIBLE`; None if nowhere.
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
        scale: Score of a perfect match, in size; 1 where the score is a bias alone.
        full: Error that a map draws in full colour.
        depends: What an error goes by: the distance alone, or the position too; or two distances
            between patches of an image.
        facts: Numbers in which both settings differ.
        begins: Position before which no query can have an error; None if none has one anywhere.
    """

    scores: Scores
    extent: int
    scale: float
    full: float
    depends: Depends = "distance"
    facts: tuple[Fact, ...] = ()
    begins: int | None = 0

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
        shows = np.flatnonzero(np.abs(mistaken - right) > VISIBLE)
        return Curve(
            starts=starts + first,
            right=distance_module.envelope(right, starts),
            mistaken=distance_module.envelope(mistaken, starts),
            first=int(shows[0]) + first if len(shows) else None,
        )

    @cached_property
    def first_position(self) -> int | None:
        """First position whose query scores some key off by more than :data:`VISIBLE`.

        None if no query does. Not for patches of an image.
        """
        if self.depends == "distance":
            return self.by_distance(self.extent - 1).first
        start, size = self.begins, 4
        while start is not None and start < self.extent:
            positions = np.arange(start, min(start + size, self.extent))
            distances = np.arange(positions[-1] + 1)
            right, mistaken = self.scores(positions, distances)
            shows = (np.abs(mistaken - right) > VISIBLE) & (distances <= positions[:, None])
            found = positions[shows.any(axis=1)]
            if len(found):
                return int(found[0])
            start, size = start + size, min(2 * size, _BLOCK)
        return None

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
