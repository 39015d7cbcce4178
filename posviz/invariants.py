"""Identities of RoPE, measured instead of asserted.

Source: RoFormer, https://arxiv.org/abs/2104.09864, section 3.2: rotation keeps the norm, and the
score of a rotated query and key depends on their distance alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from posviz import arrays, params, rope


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


def sum_residual(inv_freq: ArrayLike, a: float, b: float, layout: rope.Layout = "half") -> float:
    """Largest entry of ``R(a) R(b) - R(a + b)``: two rotations are one by the sum."""
    a, b = params.real("a", a, -math.inf), params.real("b", b, -math.inf)
    first, second, both = (rope.rotation_matrix(at, inv_freq, layout) for at in (a, b, a + b))
    return float(np.abs(first @ second - both).max())


def inverse_residual(inv_freq: ArrayLike, position: float, layout: rope.Layout = "half") -> float:
    """Largest entry of ``R^T R - 1``: the transpose turns back, so lengths stay."""
    matrix = rope.rotation_matrix(position, inv_freq, layout)
    return float(np.abs(matrix.T @ matrix - np.eye(len(matrix))).max())


def relative_residual(
    inv_freq: ArrayLike, m: float, n: float, layout: rope.Layout = "half"
) -> float:
    """Largest entry of ``R(m)^T R(n) - R(n - m)``: between a query and a key stands their distance.

    Source: RoFormer, equation 16.
    """
    m, n = params.real("m", m, -math.inf), params.real("n", n, -math.inf)
    query, key, between = (rope.rotation_matrix(at, inv_freq, layout) for at in (m, n, n - m))
    return float(np.abs(query.T @ key - between).max())


def elementwise_residual(
    x: ArrayLike, position: float, inv_freq: ArrayLike, layout: rope.Layout = "half"
) -> float:
    """Largest difference of ``R x`` and ``x * cos + rotate_half(x) * sin``."""
    vector = arrays.entries("x", x, "head_dim")
    cos, sin = rope.tables(position, inv_freq, layout)
    product = rope.rotation_matrix(position, inv_freq, layout) @ vector
    return float(np.abs(product - (vector * cos + rope.rotate_half(vector, layout) * sin)).max())


def pairing_residual(x: ArrayLike, position: float, inv_freq: ArrayLike) -> float:
    """Largest difference of both pairings after the permutation: ``half(x[p])``, ``inter(x)[p]``.

    0 and not merely small: both do the same multiplications.
    """
    vector = arrays.entries("x", x, "head_dim")
    position = params.real("position", position, -math.inf)
    order = rope.interleaved_to_half(len(vector))
    halves = rope.rotate(vector[order], position, inv_freq, "half")
    return float(
        np.abs(halves - rope.rotate(vector, position, inv_freq, "interleaved")[order]).max()
    )


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(params.whole("seed", seed, 0))
