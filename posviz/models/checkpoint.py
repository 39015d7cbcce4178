"""Trained weights on disk: a safetensors file with a card, whole or not there at all.

A file is written beside its place and then moved there, so that a killed process leaves the old
one or none. What is read is checked against the hash on its card; whatever fails is told in a
sentence. Needs no torch: arrays are NumPy's.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from posviz import params

Arrays = Mapping[str, NDArray[Any]]
FORMAT = "posviz 1"
TRAINED = Path(__file__).parents[1] / "trained"
"""Where the committed models are."""


@dataclass(frozen=True)
class Checkpoint:
    """A trained model as it lies on disk.

    Attributes:
        card: What it is and how it was made; plain JSON.
        weights: Arrays by parameter name, float16.
        replay: What was kept along the way, see :mod:`posviz.models.train`.
    """

    card: dict[str, Any]
    weights: dict[str, NDArray[Any]]
    replay: dict[str, NDArray[Any]]


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file that appears at ``path`` only when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    beside = Path(name)
    try:
        write(beside)
        with beside.open("rb+") as file:
            os.fsync(file.fileno())
        beside.chmod(0o644)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def fingerprint(arrays: Arrays) -> str:
    """SHA-256 over names, types, shapes and bytes of all arrays."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def save(path: Path, card: Mapping[str, Any], weights: Arrays, replay: Arrays) -> None:
    """Write a checkpoint; its hash goes onto the card."""
    arrays = {
        **{f"weights.{name}": np.asarray(array, np.float16) for name, array in weights.items()},
        **{f"replay.{name}": np.asarray(array) for name, array in replay.items()},
    }
    # safetensors writes the memory as it lies, and a transposed array lies in another order.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps({**card, "sha256": fingerprint(arrays)}, sort_keys=True)
    metadata = {"format": FORMAT, "card": text}
    write_whole(path, lambda to: safetensors.numpy.save_file(arrays, to, metadata=metadata))


def names(folder: Path = TRAINED) -> list[str]:
    """Names of the checkpoints in ``folder``."""
    return sorted(path.stem for path in folder.glob("*.safetensors"))


def card(name: str, folder: Path = TRAINED) -> dict[str, Any]:
    """Card of a checkpoint, without its weights."""
    with _opened(name, folder) as file:
        return _card(name, file)


def load(name: str, folder: Path = TRAINED) -> Checkpoint:
    """A checkpoint by name.

    Raises:
        InvalidParameterError: If there is none of that name, or the file is damaged or foreign.
    """
    with _opened(name, folder) as file:
        found = _card(name, file)
        arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    if fingerprint(arrays) != found.get("sha256"):
        raise _damaged(name, "its numbers are not those of its card")
    parts: dict[str, dict[str, NDArray[Any]]] = {"weights": {}, "replay": {}}
    for key, array in arrays.items():
        part, _, rest = key.partition(".")
        parts[part][rest] = array
    return Checkpoint(found, **parts)


def _opened(name: str, folder: Path) -> Any:
    there = names(folder)
    if not there:
        raise params.InvalidParameterError(
            "checkpoint must be a file of {folder}, which holds none, got {got}",
            folder=folder, got=params.shown(name),
        )  # fmt: skip
    params.one_of("checkpoint", name, there)
    try:
        return safetensors.safe_open(folder / f"{name}.safetensors", framework="numpy")
    except (safetensors.SafetensorError, OSError) as problem:
        raise _damaged(name, str(problem)) from problem


def _card(name: str, file: Any) -> dict[str, Any]:
    metadata = file.metadata() or {}
    if metadata.get("format") != FORMAT:
        raise _damaged(name, "it was not written by posviz.models.train")
    try:
        found = json.loads(metadata["card"])
    except (KeyError, ValueError) as problem:
        raise _damaged(name, "its card is unreadable") from problem
    if not isinstance(found, dict):
        raise _damaged(name, "its card is unreadable")
    return found


def _damaged(name: str, reason: str) -> params.InvalidParameterError:
    return params.InvalidParameterError(
        "checkpoint must be a whole file of trained weights, got {got}: {reason}",
        got=f"{name}.safetensors", reason=reason,
    )  # fmt: skip
