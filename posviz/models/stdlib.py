"""Real text: the bytes of the running interpreter's own standard library.

The same files for one interpreter, others for another, so what is measured on them belongs to a
Python version. A file is held out or trained on by its own content.
"""

from __future__ import annotations

import hashlib
import sysconfig
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posviz import params

VOCABULARY = 256
HELD_OUT = 0.1
"""Share of the files that no training reads."""
SMALLEST = 4200
"""Bytes that a file must have: one longest document and a little room to begin elsewhere."""

_FEWEST = 200  # files; an interpreter has over a thousand
_SEED = 2 * 10**9


@lru_cache(maxsize=2)
def texts(held_out: bool, folder: Path | None = None) -> tuple[NDArray[np.uint8], ...]:
    """Bytes of the files of one part, in the order of their paths.

    Args:
        held_out: Whether those that no training reads.
        folder: Where to look instead of the running interpreter's standard library.

    Raises:
        InvalidParameterError: If there are too few files, as where the library is a zip archive.
    """
    folder = folder or Path(sysconfig.get_path("stdlib"))
    found = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if not {"site-packages", "dist-packages"} & set(path.relative_to(folder).parts)
        and path.is_file()
        and path.stat().st_size >= SMALLEST
    )
    if len(found) < _FEWEST:
        raise params.InvalidParameterError(
            "the standard library must have at least {allowed} files of {size} bytes to read, got "
            "{got} in {folder}",
            allowed=_FEWEST, size=params.shown(SMALLEST), got=len(found), folder=str(folder),
        )  # fmt: skip
    contents = [(folder / name).read_bytes() for name in found]
    return tuple(
        np.frombuffer(content, np.uint8)
        for content in contents
        if _is_held_out(content) == held_out
    )


def _is_held_out(content: bytes) -> bool:
    return int.from_bytes(hashlib.sha256(content).digest()[:4]) < HELD_OUT * 2**32


def windows(rng: np.random.Generator, count: int, length: int) -> NDArray[np.uint8]:
    """Pieces of the files to train on, drawn by their size, ``(count, length + 1)``.

    The first byte is only read: real text has no start token.
    """
    length = params.whole("length", length, 1, SMALLEST - 1)
    files = texts(held_out=False)
    sizes = np.array([len(text) for text in files], np.float64)
    chosen = rng.choice(len(files), params.whole("count", count, 1), p=sizes / sizes.sum())
    return np.stack([_piece(rng, files[number], length) for number in chosen])


def documents(count: int, length: int) -> NDArray[np.uint8]:
    """The first pieces of the held-out files, one of each, ``(count, length + 1)``.

    A smaller set is always part of a larger one.
    """
    length = params.whole("length", length, 1, SMALLEST - 1)
    files = texts(held_out=True)
    order = np.random.default_rng(_SEED).permutation(len(files))
    chosen = order[: params.whole("count", count, 1, len(files))]
    pieces = [
        _piece(np.random.default_rng((_SEED, int(number))), files[number], SMALLEST - 1)
        for number in chosen
    ]
    return np.stack(pieces)[:, : length + 1]


def _piece(rng: np.random.Generator, text: NDArray[np.uint8], length: int) -> NDArray[np.uint8]:
    begin = int(rng.integers(len(text) - length))
    return text[begin : begin + length + 1]
