"""Attention by distance: one query's scores and weights over the keys behind it, ready to draw.

Distances run to hundreds of thousands while the fastest pair turns every 6 tokens, so a curve
sampled here and there would alias into a wrong picture. Curves are computed at every whole
distance and reduced to the lowest and highest value of each bin.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params, rope, sinusoidal


def bins(seq_len: int, count: int, scale: params.Scale) -> NDArray[np.intp]:
    """First distance of each bin of ``0 .. seq_len - 1``, equally wide on the given scale.

    Single distances where they fit; at most ``count + 1`` bins.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    if seq_len <= count or scale == "linear":
        edges = np.linspace(0, seq_len - 1, min(count, seq_len))
    else:
        edges = np.concatenate([[0.0], np.geomspace(1, seq_len - 1, count)])
    return np.unique(edges.astype(np.intp))


def envelope(values: ArrayLike, starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Lowest and highest of ``values`` in each bin, shape ``(2, len(starts))``."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.stack([np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)])


def rope_scores(
    inv_freq: ArrayLike, seq_len: int, attention_factor: float = 1.0
) -> NDArray[np.float64]:
    """Scaled score of q = k = (1, ..., 1) at every distance ``0 .. seq_len - 1``.

    ``2 sum(cos(distance * inv_freq)) / sqrt(rotary_dim)``, times the square of the attention
    factor, because it multiplies both the rotated query and the rotated key.
    """
    pairs = np.size(inv_freq)
    scale = 2.0 * attention_factor**2 / math.sqrt(2 * pairs)
    return scale * rope.cosine_sums(inv_freq, seq_len)


def sinusoidal_scores(
    seq_len: int, d_model: int, base: float = sinusoidal.BASE
) -> NDArray[np.float64]:
    """Scaled dot product of two sinusoidal encodings at every distance ``0 .. seq_len - 1``.

    ``sum(cos(distance * inv_freq)) / sqrt(d_model)``: half of RoPE's q = k curve of that base.
    """
    frequencies = sinusoidal.inv_freq(params.even("d_model", d_model), base)
    return rope.cosine_sums(frequencies, seq_len) / math.sqrt(d_model)


def random_band(
    inv_freq: ArrayLike,
    distance: ArrayLike,
    attention_factor: float = 1.0,
    *,
    row: int | None = None,
    draws: int = 128,
) -> NDArray[np.float64]:
    """Mean, 10 % and 90 % quantile over random q and k at each distance, ``(3, len(distance))``.

    Args:
        inv_freq: Frequency of each pair.
        distance: Distances in tokens.
        attention_factor: Factor on cos and sin.
        row: If given, softmax weights in a causal row of so many keys instead of scores. The
            other keys are random too, each with a key of its own; in rows of over 256 their sum
            stands at its expectation, ``exp(variance / 2)`` each. The mean weight is ``1 / row``
            at each distance, but for the chance of the draws.
        draws: How many pairs of random vectors.
    """
    scores = attention_factor**2 * rope.random_scores(inv_freq, distance, draws)
    if row is not None:
        own, others = np.exp(scores), params.whole("row", row, 1) - 1
        sums = np.full((draws, 1), others * math.exp(attention_factor**4 / 2.0))
        if row <= 256:
            keys = np.random.default_rng(1).standard_normal((draws, others))
            sums = np.exp(attention_factor**2 * keys).sum(axis=1, keepdims=True)
        scores = own / (own + sums)
    ordered = np.sort(scores, axis=0)
    tenth = draws // 10
    return np.stack([scores.mean(axis=0), ordered[tenth], ordered[-1 - tenth]])
