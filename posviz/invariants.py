"""Two identities of RoPE, measured on random vectors instead of asserted.

Source: RoFormer, https://arxiv.org/abs/2104.09864, section 3.2: rotation keeps the norm, and the
score of a rotated query and key depends on their distance alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posviz import params, rope


def norms(inv_freq: ArrayLike, position: float, seed: int = 0) -> tuple[float, float]:
    """Norm of a random query before and after its rotation to ``position``."""
    frequencies, rng = params.per_pair("inv_freq", inv_freq), _random(seed)
    q = rng.standard_normal(2 * len(frequencies))
    rotated = rope.rotate(q, params.real("position", position, -math.inf), frequencies)
    return float(np.linalg.norm(q)), float(np.linalg.norm(rotated))


def shifted_scores(
    inv_freq: ArrayLike, q_position: float, k_position: float, shift: float, seed: int = 0
) -> tuple[float, float]:
    """Scaled score of a random query and key, as placed and with both moved by ``shift``."""
    frequencies, rng = params.per_pair("inv_freq", inv_freq), _random(seed)
    q_position = params.real("q_position", q_position, -math.inf)
    k_position = params.real("k_position", k_position, -math.inf)
    shift = params.real("shift", shift, -math.inf)
    q, k = rng.standard_normal((2, 2 * len(frequencies)))

    def score(offset: float) -> float:
        rotated_q = rope.rotate(q, q_position + offset, frequencies)
        rotated_k = rope.rotate(k, k_position + offset, frequencies)
        return float(rotated_q @ rotated_k) / math.sqrt(len(q))

    return score(0.0), score(shift)


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(params.whole("seed", seed, 0))
