"""QK-norm: whether queries and keys are normalized before RoPE or after it, and when it matters.

A rotation keeps lengths, so the normalization itself does not care. Its gain does: it commutes with
the rotation only where both dimensions of a pair have the same gain.

Before: Qwen3, Gemma 3. After: HunYuan; Llama 4, without a gain, where it is the same.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params
from posviz.rope import LAYOUTS, Layout, pair_slices, rotate

Order = Literal["before", "after"]
ORDERS: tuple[Order, ...] = ("before", "after")

GainKind = Literal["one", "pairs", "free"]
GAINS: tuple[GainKind, ...] = ("one", "pairs", "free")


def rms_norm(x: ArrayLike, gain: ArrayLike = 1.0, eps: float = 1e-6) -> NDArray[np.float64]:
    """``x`` over the root of its mean square on the last axis, times ``gain``.

    Args:
        x: Vectors ``(..., head_dim)``.
        gain: One number, or one per dimension.
        eps: Added to the mean square, above 0.

    Source:
        Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467; Hugging Face ``Qwen3RMSNorm``.
    """
    vectors, factors = params.numbers("x", x), params.numbers("gain", gain)
    eps = params.real("eps", eps, 0.0, above=True)
    if vectors.ndim == 0 or not vectors.shape[-1]:
        raise params.InvalidParameterError(
            "x must be vectors on the last axis, got shape {got}", got=str(vectors.shape)
        )
    if factors.shape not in ((), vectors.shape[-1:]):
        raise params.InvalidParameterError(
            "gain must be one number or one per dimension, {allowed} here, got shape {got}",
            allowed=vectors.shape[-1],
            got=str(factors.shape),
        )
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    unit = np.maximum(largest, math.sqrt(eps))  # squares neither overflow nor vanish
    small = vectors / unit
    root = np.sqrt(np.mean(small**2, axis=-1, keepdims=True) + (math.sqrt(eps) / unit) ** 2)
    with np.errstate(over="ignore"):
        return params.numbers("x / rms x gain", small / root * factors)


def scores(
    q: ArrayLike,
    k: ArrayLike,
    inv_freq: ArrayLike,
    order: Order,
    q_gain: ArrayLike = 1.0,
    k_gain: ArrayLike = 1.0,
    layout: Layout = "half",
    eps: float = 1e-6,
) -> NDArray[np.float64]:
    """Scaled scores with QK-norm before or after RoPE, ``(q_len, k_len)``.

    Args:
        q: Queries ``(q_len, head_dim)`` at the last ``q_len`` of the key positions.
        k: Keys ``(k_len, head_dim)`` at positions 0, 1, ...
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``; dimensions past the pairs stay.
        order: Whether the norm comes ``before`` or ``after`` RoPE.
        q_gain: Gain of the norm of queries, one number or ``(head_dim,)``.
        k_gain: Gain of the norm of keys.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.
        eps: Added to the mean squares.
    """
    params.one_of("order", order, ORDERS)
    queries, keys = params.numbers("q", q), params.numbers("k", k)
    if not (queries.ndim == keys.ndim == 2 and queries.shape[-1] == keys.shape[-1]):
        raise params.InvalidParameterError(
            "q and k must be (q_len, head_dim) and (k_len, head_dim), got {got}",
            got=f"{queries.shape} and {keys.shape}",
        )
    params.whole("q_len", len(queries), 1, len(keys))

    def placed(x: NDArray[np.float64], gain: ArrayLike) -> NDArray[np.float64]:
        positions = np.arange(len(keys) - len(x), len(keys))
        if order == "before":
            return rotate(rms_norm(x, gain, eps), positions, inv_freq, layout)
        return rms_norm(rotate(x, positions, inv_freq, layout), gain, eps)

    with np.errstate(over="ignore", invalid="ignore"):
        found = placed(queries, q_gain) @ placed(keys, k_gain).T / math.sqrt(keys.shape[-1])
    return params.numbers("scores", found)


def shifted_scores(
    q: ArrayLike,
    k: ArrayLike,
    positions: tuple[float, float],
    shifts: ArrayLike,
    inv_freq: ArrayLike,
    order: Order,
    q_gain: ArrayLike = 1.0,
    k_gain: ArrayLike = 1.0,
    layout: Layout = "half",
    eps: float = 1e-6,
) -> NDArray[np.float64]:
    """Scaled score of one query and one key, both moved by each of ``shifts``.

    With the norm before RoPE it is the same for each: the score depends on the distance alone. With
    the norm after RoPE and a gain that differs within a pair it is not.

    Args:
        q: A query ``(head_dim,)``.
        k: A key ``(head_dim,)``.
        positions: Of query and key before they move, tokens.
        shifts: Tokens that both are moved by, one number or a list.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``; dimensions past the pairs stay.
        order: Whether the norm comes ``before`` or ``after`` RoPE.
        q_gain: Gain of the norm of queries, one number or ``(head_dim,)``.
        k_gain: Gain of the norm of keys.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.
        eps: Added to the mean squares.

    Returns:
        Scores, one per shift.
    """
    params.one_of("order", order, ORDERS)
    moved, found = arrays.listed("shifts", shifts), []
    stands = arrays.listed("positions", positions)
    arrays.check_length("positions", len(stands), "q and k", 2)
    for name, x, gain, at in zip("qk", (q, k), (q_gain, k_gain), stands, strict=True):
        vector = arrays.entries(name, x, "head_dim")
        places = at + moved
        if order == "before":
            found.append(rotate(rms_norm(vector, gain, eps), places, inv_freq, layout))
        else:
            found.append(rms_norm(rotate(vector, places, inv_freq, layout), gain, eps))
    arrays.check_length("k", found[1].shape[-1], "q", found[0].shape[-1])
    with np.errstate(over="ignore", invalid="ignore"):
        summed = np.sum(found[0] * found[1], axis=-1) / math.sqrt(found[0].shape[-1])
    return params.numbers("scores", summed)


def order_difference(
    q: ArrayLike,
    k: ArrayLike,
    inv_freq: ArrayLike,
    q_gain: ArrayLike = 1.0,
    k_gain: ArrayLike = 1.0,
    layout: Layout = "half",
    eps: float = 1e-6,
) -> float:
    """Largest difference of any scaled score between the norm before RoPE and after it.

    0 up to rounding if :func:`equal_within_pairs` holds for both gains in this ``layout``.
    """
    before, after = (scores(q, k, inv_freq, order, q_gain, k_gain, layout, eps) for order in ORDERS)
    return float(np.abs(before - after).max())


def equal_within_pairs(gain: ArrayLike, pairs: int, layout: Layout = "half") -> bool:
    """Whether both dimensions of each of ``pairs`` have the same gain; the rest may have any."""
    pairs = params.whole("pairs", pairs, 1)
    params.one_of("layout", layout, LAYOUTS)
    factors = params.numbers("gain", gain)
    if factors.ndim == 0:
        return True
    if factors.ndim != 1 or len(factors) < 2 * pairs:
        raise params.InvalidParameterError(
            "gain must be one number or one per dimension, at least {allowed} here, got shape "
            "{got}",
            allowed=2 * pairs,
            got=str(factors.shape),
        )
    first, second = pair_slices(2 * pairs, layout)
    return bool(np.array_equal(factors[first], factors[second]))


def random_gain(
    kind: GainKind, head_dim: int, layout: Layout = "half", seed: int = 0, spread: float = 0.5
) -> NDArray[np.float64]:
    """A gain of that kind, ``(head_dim,)``: all 1, equal within pairs, or free.

    Around 1 as in trained models: ``exp`` of a normal number of standard deviation ``spread``.
    """
    params.one_of("kind", kind, GAINS)
    params.one_of("layout", layout, LAYOUTS)
    head_dim = params.even("head_dim", head_dim, 2, 1 << 16)
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    spread = params.real("spread", spread, 0.0, 10.0)
    gain = np.exp(spread * rng.standard_normal(head_dim))
    if kind == "one":
        return np.ones(head_dim)
    if kind == "pairs":
        first, second = pair_slices(head_dim, layout)
        gain[second] = gain[first]
    return gain
