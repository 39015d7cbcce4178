"""Which needles the trained models find, read from ``posviz/trained/needles.json``.

``python -m posviz.models.needles`` writes the file; :mod:`posviz.models.needle` says what is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import measured, params

NEEDLES = Path(__file__).parent / "trained" / "needles.json"
FORMAT = "posviz needles 1"


@dataclass(frozen=True, eq=False)
class Grid:
    """What one model, read one way, finds at each length and depth; NaN where it cannot read.

    Attributes:
        lengths: Tokens read, one column each.
        depths: Places of the needle, from 0, the first slot, to 1, the last.
        haystacks: Texts per column, each with a needle at every depth.
        accuracy: Share of right letters, ``(lengths, depths)``; guessing gives 0.05.
        error: Its standard error over haystacks.
        nats: Mean loss over the ordinary characters of a haystack's last quarter, by length.
        floor: What the best reader of the language needs for the same characters.
    """

    lengths: tuple[int, ...]
    depths: tuple[float, ...]
    haystacks: int
    accuracy: NDArray[np.float64]
    error: NDArray[np.float64]
    nats: NDArray[np.float64]
    floor: NDArray[np.float64]


def grid(
    model: str, method: str = "default", factor: float = 1.0, path: Path = NEEDLES
) -> Grid | None:
    """What ``model`` finds, read with one of ``measured.METHODS``; None if that was not measured.

    Raises:
        InvalidParameterError: If the file is missing or damaged, or knows no such model.
    """
    known = _read(path)
    params.one_of("model", model, tuple(known))
    return known[model].get(measured.key(method, factor))


def models(path: Path = NEEDLES) -> tuple[str, ...]:
    """Names of the models that were asked."""
    return tuple(_read(path))


def _read(path: Path) -> Mapping[str, Mapping[str, Grid]]:
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except OSError as problem:
        raise params.InvalidParameterError(
            "{name} must be there to read which needles were found (python -m "
            "posviz.models.needles writes it), got nothing: {reason}",
            name=path.name, reason=problem.strerror,
        ) from problem  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise params.InvalidParameterError(
            "{name} must be what python -m posviz.models.needles writes, got a damaged file: "
            "{reason}",
            name=path.name, reason=params.shown(str(problem)),
        ) from problem  # fmt: skip


@lru_cache(maxsize=4)
def _parsed(path: Path, changed: int) -> dict[str, dict[str, Grid]]:
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']}")
    return {
        name: {read: _grid(data, stored) for read, stored in entry["grids"].items()}
        for name, entry in sorted(data["models"].items())
    }


def _grid(data: Mapping[str, Any], stored: Mapping[str, Any]) -> Grid:
    lengths, depths = tuple(data["lengths"]), tuple(data["depths"])
    cells = (len(lengths), len(depths))
    return Grid(
        lengths, depths, int(data["haystacks"]),
        accuracy=_numbers(stored["accuracy"], cells), error=_numbers(stored["error"], cells),
        nats=_numbers(stored["nats"], cells[:1]), floor=_numbers(data["floor"], cells[:1]),
    )  # fmt: skip


def _numbers(stored: Sequence[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Numbers as stored; null is NaN, alone or for a whole column."""
    if shape[1:]:
        stored = [[None] * shape[1] if column is None else column for column in stored]
    found = np.array(stored, np.float64)  # None becomes NaN
    if found.shape != shape:
        raise ValueError(f"numbers of shape {found.shape}, not {shape}")
    found.setflags(write=False)
    return found
