"""Two identities of RoPE, measured on random vectors instead of asserted.

Source: RoFormer, https://arxiv.org/abs/2104.09864, section 3.2: rotation keeps the norm, and the
score of a rotated query and key depends on their distance alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posviz import rope


def norms(inv_freq: ArrayLike, position: float, seed: int = 0) -> tuple[float, float]:
    """Norm of a random query before and after its rotation to ``position``."""
    q = np.random.default_rng(seed).standard_normal(2 * np.size(inv_freq))
    return float(np.linalg.norm(q)), float(np.linalg.norm(rope.rotate(q, position, inv_freq)))


def shifted_scores(
    inv_freq: ArrayLike, q_position: float, k_position: float, shift: float, seed: int = 0
) -> tuple[float, float]:
    """Scaled score of a random query and key, as placed and with both moved by ``shift``."""
    q, k = np.random.default_rng(seed).standard_normal((2, 2 * np.size(inv_freq)))

    def score(offset: float) -> float:
        rotated_q = rope.rotate(q, q_position + offset, inv_freq)
        rotated_k = rope.rotate(k, k_position + offset, inv_freq)
        return float(rotated_q @ rotated_k) / math.sqrt(len(q))

    return score(0.0), score(shift)
