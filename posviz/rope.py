"""Rotary position embedding: each pair of dimensions turns by position x inv_freq.

Source: Su et al. 2021, "RoFormer", https://arxiv.org/abs/2104.09864, section 3.2.
Pairing: ``half`` (pair i is dimensions i and i + rotary_dim/2: GPT-NeoX, Hugging Face Llama)
or ``interleaved`` (dimensions 2i and 2i + 1: RoFormer, GPT-J, Meta's Llama code). Both are the
same map up to a permutation of the dimensions, see :func:`interleaved_to_half`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params

Floats = NDArray[np.float64]
Layout = Literal["half", "interleaved"]
LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")


@dataclass(frozen=True)
class RoPE:
    """What defines plain RoPE: how many dimensions rotate, and how fast.

    Attributes:
        rotary_dim: Dimensions that rotate, an even number; the rest of a head stays still.
        rope_theta: Base of the frequencies, above 1.
    """

    rotary_dim: int
    rope_theta: float = 10_000.0

    def __post_init__(self) -> None:
        params.even("rotary_dim", self.rotary_dim)
        params.real("rope_theta", self.rope_theta, 1.0, above=True)

    @property
    def inv_freq(self) -> NDArray[np.float64]:
        """Frequency of each pair, see :func:`inv_freq`."""
        return inv_freq(self.rotary_dim, self.rope_theta)


def inv_freq(rotary_dim: int, rope_theta: float) -> NDArray[np.float64]:
    """Angular frequency of each pair, radians per token, fastest first.

    Args:
        rotary_dim: Dimensions that rotate, an even number.
        rope_theta: Base, above 1.

    Returns:
        ``rope_theta ** (-2i / rotary_dim)``, shape ``(rotary_dim // 2,)``.

    Raises:
        InvalidParameterError: If ``rotary_dim`` is odd or ``rope_theta`` is not above 1.

    Source:
        RoFormer, equation 15; Hugging Face ``LlamaRotaryEmbedding``.
    """
    rotary_dim = params.even("rotary_dim", rotary_dim)
    rope_theta = params.real("rope_theta", rope_theta, 1.0, above=True)
    return rope_theta ** (-np.arange(0, rotary_dim, 2) / rotary_dim)


def rotary_dim(head_dim: int, partial_rotary_factor: float = 1.0) -> int:
    """Dimensions of a head that rotate when only a share of them does.

    Truncated like the reference (``int(100 * 0.29)`` is 28), then it must be even and not 0.
    """
    head_dim = params.whole("head_dim", head_dim, 2)
    share = params.real("partial_rotary_factor", partial_rotary_factor, 0.0, 1.0)
    return params.even("rotary_dim", int(head_dim * share))


def wavelength(inv_freq: ArrayLike) -> NDArray[np.float64]:
    """Tokens per turn of each pair, ``2 pi / inv_freq``; infinite where a pair stands still."""
    frequencies = params.numbers("inv_freq", inv_freq, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(2.0 * math.pi / frequencies)


def turns(inv_freq: ArrayLike, seq_len: float) -> NDArray[np.float64]:
    """Turns that each pair makes within ``seq_len`` tokens."""
    seq_len = params.real("seq_len", seq_len, 0.0)
    return np.asarray(seq_len * params.numbers("inv_freq", inv_freq, 0.0) / (2.0 * math.pi))


def rotate(
    x: ArrayLike, positions: ArrayLike, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """``x`` with each pair turned by position x inv_freq; dimensions past the pairs stay.

    Args:
        x: Vectors ``(..., head_dim)``.
        positions: Positions in tokens, of a shape that broadcasts with ``x.shape[:-1]``.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.

    Returns:
        float64 vectors ``(..., head_dim)``, in the layout they came in.

    Raises:
        InvalidParameterError: If there are more pairs than ``x`` has dimensions for.

    Source:
        RoFormer, equation 34; Hugging Face ``apply_rotary_pos_emb`` (half),
        Meta ``apply_rotary_emb`` (interleaved).
    """
    vectors = params.numbers("x", x)
    frequencies = params.per_pair("inv_freq", inv_freq)
    params.one_of("layout", layout, LAYOUTS)
    width = 2 * len(frequencies)
    if vectors.ndim == 0 or vectors.shape[-1] < width:
        raise params.InvalidParameterError(
            "x must have at least 2 dimensions per pair, {allowed} here, got {got}",
            allowed=width,
            got=vectors.shape[-1] if vectors.ndim else 0,
        )
    first, second = pair_slices(width, layout)
    angles = params.numbers("positions", positions)[..., None] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)  # (..., rotary_dim // 2)
    a, b = vectors[..., first], vectors[..., second]
    try:
        shape = (*np.broadcast_shapes(vectors.shape[:-1], angles.shape[:-1]), vectors.shape[-1])
    except ValueError as mismatch:
        raise params.InvalidParameterError(
            "positions must be one per vector, {allowed} here, got {got}",
            allowed=str(vectors.shape[:-1]),
            got=str(angles.shape[:-1]),
        ) from mismatch
    rotated = np.array(np.broadcast_to(vectors, shape))
    rotated[..., first] = a * cos - b * sin
    rotated[..., second] = a * sin + b * cos
    return rotated


def pair_slices(rotary_dim: int, layout: Layout) -> tuple[slice, slice]:
    """Where the first and the second dimension of each pair stand."""
    if layout == "interleaved":
        return slice(0, rotary_dim, 2), slice(1, rotary_dim, 2)
    return slice(0, rotary_dim // 2), slice(rotary_dim // 2, rotary_dim)


def interleaved_to_half(rotary_dim: int) -> NDArray[np.intp]:
    """Index that reorders an interleaved vector into halves: ``[0, 2, 4, ..., 1, 3, 5, ...]``.

    ``rotate(x[p], ..., layout="half")`` equals ``rotate(x, ..., layout="interleaved")[p]``.
    Hugging Face applies it to the rows of the query and key weights when it converts Llama.
    """
    rotary_dim = params.even("rotary_dim", rotary_dim)
    return np.arange(rotary_dim).reshape(-1, 2).T.ravel()


def cosine_sums(inv_freq: ArrayLike, seq_len: int) -> NDArray[np.float64]:
    """Sum over pairs of ``cos(distance * inv_freq)`` at every distance ``0 .. seq_len - 1``.

    RoPE's score of q = k = 1 is twice this. Distances are split as ``block * a + b`` and joined
    by the addition theorem, two matrix products instead of one cosine per distance and pair:
    the live pictures need each whole distance, or the fast pairs would alias.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    frequencies = params.per_pair("inv_freq", inv_freq)
    block = math.isqrt(seq_len - 1) + 1
    coarse = np.arange(0, seq_len, block)[:, None] * frequencies  # (blocks, pairs)
    fine = np.arange(block)[:, None] * frequencies  # (block, pairs)
    sums = np.cos(coarse) @ np.cos(fine).T - np.sin(coarse) @ np.sin(fine).T  # (blocks, block)
    return np.asarray(sums.ravel()[:seq_len])


def random_scores(
    inv_freq: ArrayLike, distance: ArrayLike, draws: int, seed: int = 0
) -> NDArray[np.float64]:
    """Scaled scores of random q and k by distance, shape ``(draws, len(distance))``.

    k is a standard normal vector, q a random direction of length ``sqrt(rotary_dim)``; the score
    ``q . R(distance) k`` is divided by ``sqrt(rotary_dim)``, so it is standard normal at every
    distance and for every dimension: no decay.

    Source:
        Barbero et al. 2024, "Round and Round We Go!", https://arxiv.org/abs/2410.06205,
        proposition 3.2.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    # Pairs first, so that a draw keeps its numbers while pairs are added behind them.
    draws = params.whole("draws", draws, 1)
    a, b, c, d = rng.standard_normal((len(frequencies), 4, draws)).transpose(1, 0, 2)
    length = np.sqrt(np.sum(a**2 + b**2, axis=0))  # (draws,)
    along = (a * c + b * d) / length  # q = (a, b), k = (c, d) in each pair; (pairs, draws)
    across = (b * c - a * d) / length
    distances = np.atleast_1d(params.numbers("distance", distance))
    angles = distances[:, None] * frequencies  # (distances, pairs)
    return np.asarray((np.cos(angles) @ along + np.sin(angles) @ across).T)
