"""The copy task: a row of random symbols, a sign, and the same row again.

Nothing but the place of a symbol says which one comes next, so it tests position and little else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posviz import params

SYMBOLS = 64
START, REPEAT = SYMBOLS, SYMBOLS + 1
VOCABULARY = SYMBOLS + 2
CHANCE = 1.0 / SYMBOLS
"""Accuracy of guessing."""


def symbols_in(length: int) -> int:
    """Symbols to copy in a sequence of ``length`` tokens: start, row, sign, row."""
    return (params.whole("length", length, 4) - 2) // 2


def batch(rng: np.random.Generator, count: int, symbols: int) -> NDArray[np.uint8]:
    """``count`` rows of ``2 * symbols + 2`` tokens."""
    row = rng.integers(SYMBOLS, size=(count, symbols)).astype(np.uint8)
    start = np.full((count, 1), START, np.uint8)
    return np.concatenate([start, row, start + 1, row], axis=1)


def is_copied(length: int) -> NDArray[np.bool_]:
    """Which of ``length`` tokens belong to the second row, the one that can be known."""
    return np.arange(length) > symbols_in(length) + 1
