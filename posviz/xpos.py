"""xPos: RoPE whose pairs also shrink with distance, the fastest pair most.

Source: Sun et al. 2022, "A Length-Extrapolatable Transformer", https://arxiv.org/abs/2212.10554,
section 2.3 and algorithm 1; microsoft/torchscale, ``xpos_relative_position.py``. Pairs are
interleaved: dimensions 2i and 2i + 1. A query at m is scaled by ``zeta**(m / scale_base)``, a key
at n by ``zeta**(-n / scale_base)``, so their product decays with ``m - n``. It grows for a key
ahead of the query, which is why xPos is causal only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params, rope

SCALE_BASE = 512.0
GAMMA = 0.4

# Keys far past the centre are scaled by more than this: a product would leave float64.
LARGEST_SCALE = 1e150


def zeta(head_dim: int, gamma: float = GAMMA) -> NDArray[np.float64]:
    """Decay of each pair per ``scale_base`` tokens, shape ``(head_dim // 2,)``, all below 1.

    ``(2i / head_dim + gamma) / (1 + gamma)``: smallest, 0.2857, at the fastest pair.

    Args:
        head_dim: Dimensions of a head, an even number.
        gamma: How little the pairs decay, above 0; 0.4 in the paper and the code.

    Source:
        Sun et al. 2022, algorithm 1; torchscale ``XPOS``, buffer ``scale``.
    """
    head_dim = params.even("head_dim", head_dim)
    arrays.check_count("head_dim", head_dim)
    gamma = params.real("gamma", gamma, 0.0, arrays.LARGEST_ENTRY, above=True)
    return (np.arange(0, head_dim, 2) / head_dim + gamma) / (1.0 + gamma)


def rotate_query(
    x: ArrayLike,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    zeta: ArrayLike,
    scale_base: float = SCALE_BASE,
    centre: float = 0.0,
) -> NDArray[np.float64]:
    """Queries turned by position x inv_freq and scaled by ``zeta**(position / scale_base)``.

    Args:
        x: Vectors ``(..., head_dim)``.
        positions: Positions in tokens, of a shape that broadcasts with ``x.shape[:-1]``.
        inv_freq: Frequency of each pair, ``(head_dim // 2,)``.
        zeta: Decay of each pair, see :func:`zeta`; 1 makes it plain RoPE.
        scale_base: Tokens after which a pair is scaled by its ``zeta``.
        centre: Position with scale 1. It cancels in every score, if keys use the same one;
            torchscale puts it at half the length, so that float16 overflows later.

    Returns:
        float64 vectors ``(..., head_dim)``, interleaved as they came in.

    Raises:
        InvalidParameterError: If a position is so far from the centre that the scale leaves
            float64.
    """
    return _rotated(x, positions, inv_freq, zeta, scale_base, centre, 1.0)


def rotate_key(
    x: ArrayLike,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    zeta: ArrayLike,
    scale_base: float = SCALE_BASE,
    centre: float = 0.0,
) -> NDArray[np.float64]:
    """Keys turned by position x inv_freq and scaled by ``zeta**(-position / scale_base)``.

    The arguments are those of :func:`rotate_query`.
    """
    return _rotated(x, positions, inv_freq, zeta, scale_base, centre, -1.0)


def decay(
    distance: ArrayLike, zeta: ArrayLike, scale_base: float = SCALE_BASE
) -> NDArray[np.float64]:
    """What xPos multiplies RoPE's score of each pair by: ``zeta**(distance / scale_base)``.

    Args:
        distance: Query minus key in tokens, of any shape; negative where the key is ahead.
        zeta: Decay of each pair, see :func:`zeta`.
        scale_base: Tokens after which a pair has decayed to its ``zeta``.

    Returns:
        Factors ``(*distance.shape, head_dim // 2)``: 1 at distance 0, above 1 for a key ahead.

    Raises:
        InvalidParameterError: If a key is so far ahead that the factor leaves float64.
    """
    decays = _decays(zeta)
    scale_base = _scale_base(scale_base)
    far = params.numbers("distance", distance)
    arrays.check_count("distance and zeta", far.size, len(decays))
    reach = _reach(decays, scale_base)
    if (far < -reach).any():
        raise params.InvalidParameterError(
            "distance must be a number of at least {low}, because xPos grows for keys ahead of "
            "the query and leaves float64 there, got {got}",
            low=params.shown(-float(reach)),
            got=params.shown(float(far.min())),
        )
    return np.asarray(decays ** (far[..., None] / scale_base))


def scores(
    q: ArrayLike,
    k: ArrayLike,
    distance: ArrayLike,
    inv_freq: ArrayLike,
    zeta: ArrayLike,
    scale_base: float = SCALE_BASE,
) -> NDArray[np.float64]:
    """Score ``q . k`` at each distance in closed form, of the shape of ``distance``.

    The sum over pairs of :func:`decay` times RoPE's score of the pair; not divided by the root of
    ``head_dim``.

    Args:
        q: Query before rotation, ``(head_dim,)``, interleaved.
        k: Key before rotation, ``(head_dim,)``.
        distance: Query minus key in tokens, of any shape.
        inv_freq: Frequency of each pair.
        zeta: Decay of each pair.
        scale_base: See :func:`decay`.
    """
    query = arrays.entries("q", q, "head_dim")
    key = arrays.entries("k", k, "head_dim")
    arrays.check_length("k", len(key), "q", len(query))
    _check_pairs("q", query, inv_freq, zeta)
    factors = decay(distance, zeta, scale_base)  # (..., pairs)
    turned = rope.rotate(query, params.numbers("distance", distance), inv_freq, "interleaved")
    by_pair = (turned * key).reshape(*factors.shape, 2).sum(axis=-1)  # (..., pairs)
    return np.asarray((factors * by_pair).sum(axis=-1))


def _rotated(
    x: ArrayLike,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    zeta: ArrayLike,
    scale_base: float,
    centre: float,
    sign: float,
) -> NDArray[np.float64]:
    """Vectors turned as in RoPE and scaled by ``zeta**(sign * position / scale_base)``."""
    vectors = arrays.entries("x", x, "...", "head_dim")
    decays = _decays(zeta)
    _check_pairs("x", vectors, inv_freq, zeta)
    scale_base = _scale_base(scale_base)
    centre = params.real("centre", centre, -params.LARGEST, params.LARGEST)
    place = params.numbers("positions", positions)
    from_centre = place - centre
    reach = _reach(decays, scale_base)
    outside = np.abs(from_centre) > reach
    if outside.any():
        raise params.InvalidParameterError(
            "positions must lie within {allowed} tokens of centre, because the scale leaves "
            "float64 beyond, got {got}",
            allowed=params.shown(float(reach)),
            got=params.shown(float(np.asarray(place)[outside].flat[0])),
        )
    scale = decays ** (sign * from_centre[..., None] / scale_base)  # (..., pairs)
    turned = rope.rotate(vectors, place, inv_freq, "interleaved")
    return np.asarray(turned * np.repeat(scale, 2, axis=-1))


def _decays(zeta: ArrayLike) -> NDArray[np.float64]:
    """``zeta`` as one number per pair, above 0 and at most 1."""
    decays = params.per_pair("zeta", zeta)
    wrong = (decays <= 0.0) | (decays > 1.0)
    if wrong.any():
        raise params.InvalidParameterError(
            "zeta must be numbers above 0 and at most 1, got {got}",
            got=params.shown(float(decays[wrong][0])),
        )
    return decays


def _scale_base(scale_base: float) -> float:
    return params.real("scale_base", scale_base, 1.0)


def _check_pairs(
    name: str, vectors: NDArray[np.float64], inv_freq: ArrayLike, zeta: ArrayLike
) -> None:
    """Refuse a head that has not two dimensions per frequency and per decay."""
    pairs = len(params.per_pair("inv_freq", inv_freq))
    arrays.check_length("zeta", len(_decays(zeta)), "inv_freq", pairs)
    arrays.check_length(f"the last axis of {name}", vectors.shape[-1], "two per pair", 2 * pairs)


def _reach(decays: NDArray[np.float64], scale_base: float) -> int:
    """Tokens from the centre within which no scale exceeds ``LARGEST_SCALE``."""
    slowest = float(decays.min())
    if slowest == 1.0:
        return params.LARGEST
    tokens = scale_base * math.log(LARGEST_SCALE) / -math.log(slowest)
    return math.floor(min(tokens, params.LARGEST))
