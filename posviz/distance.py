"""Attention by distance: one query's scores and weights over the keys behind it, ready to draw.

Distances run to hundreds of thousands while the fastest pair turns every 6 tokens, so a curve
sampled here and there would alias into a wrong picture. Curves are computed at every whole
distance and reduced to the lowest and highest value of each bin.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params, rope, sinusoidal


def bins(seq_len: int, count: int, scale: params.Scale) -> NDArray[np.intp]:
    """First distance of each bin of ``0 .. seq_len - 1``, equally wide on the given scale.

    Single distances where they fit; at most ``count + 1`` bins.
    """
    seq_len, count = params.whole("seq_len", seq_len, 1), params.whole("count", count, 1)
    params.one_of("scale", scale, ("linear", "log"))
    arrays.check_count("seq_len and count", min(seq_len, count))
    if seq_len <= count or scale == "linear":
        edges = np.linspace(0, seq_len - 1, min(count, seq_len))
    else:
        edges = np.concatenate([[0.0], np.geomspace(1, seq_len - 1, count)])
    return np.unique(edges.astype(np.intp))


def envelope(values: ArrayLike, starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Lowest and highest of ``values`` in each bin, shape ``(2, len(starts))``."""
    numbers = arrays.entries("values", values, "seq_len")
    first = _starts(starts, len(numbers))
    return np.stack([np.minimum.reduceat(numbers, first), np.maximum.reduceat(numbers, first)])


def _starts(starts: ArrayLike, seq_len: int) -> NDArray[np.int64]:
    """First distances of bins, checked: ascending, each below ``seq_len``."""
    first = arrays.whole_numbers("starts", starts, 0, seq_len - 1)
    if first.ndim != 1 or not first.size or (np.diff(first) <= 0).any():
        raise params.InvalidParameterError(
            "starts must be an ascending list of distances, got {got}", got=params.shown(starts)
        )
    return first


def rope_scores(
    inv_freq: ArrayLike, seq_len: int, attention_factor: float = 1.0
) -> NDArray[np.float64]:
    """Scaled score of q = k = (1, ..., 1) at every distance ``0 .. seq_len - 1``.

    ``2 sum(cos(distance * inv_freq)) / sqrt(rotary_dim)``, times the square of the attention
    factor, because it multiplies both the rotated query and the rotated key.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    scale = 2.0 * _on_scores(attention_factor) / math.sqrt(2 * len(frequencies))
    return scale * rope.cosine_sums(frequencies, seq_len)


def _on_scores(attention_factor: float) -> float:
    """What a factor on cos and sin makes of a score."""
    return params.real("attention_factor", attention_factor, 0.0, 1e6) ** 2


def mean_scores(
    inv_freq: ArrayLike,
    starts: NDArray[np.intp],
    seq_len: int,
    attention_factor: float = 1.0,
) -> NDArray[np.float64]:
    """Mean of :func:`rope_scores` over the distances of each bin, in closed form.

    A sum of cosines at equal steps is one product of sines, so that a bin of a million distances
    costs as much as one of two, and none is left out.

    Args:
        inv_freq: Frequency of each pair.
        starts: First distance of each bin, ascending; the last bin ends before ``seq_len``.
        seq_len: Distances in all.
        attention_factor: Factor on cos and sin.

    Returns:
        Means ``(len(starts),)`` of the scaled score of q = k = (1, ..., 1).
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    seq_len = params.whole("seq_len", seq_len, 1)
    first = _starts(starts, seq_len)
    count = np.diff(first, append=seq_len)[:, None].astype(np.float64)
    half = frequencies / 2.0
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.sin(count * half) / (count * np.sin(half))
    # A step of whole turns (or none) adds up equal cosines.
    share = np.where(np.abs(np.sin(half)) < 1e-9, 1.0, share)
    middles = (2.0 * first[:, None] + count - 1.0) * half
    sums = (np.cos(middles) * share).sum(axis=-1)
    size = _on_scores(attention_factor)
    return np.asarray(2.0 * size / math.sqrt(2 * len(frequencies)) * sums)


def learned_scores(
    plain: rope.RoPE,
    scaled_inv_freq: ArrayLike,
    looked_for: float,
    seq_len: int,
    attention_factor: float = 1.0,
) -> NDArray[np.float64]:
    """Scores by distance of a head that learned to look ``looked_for`` tokens back, once scaled.

    Query and key are those whose score peaks there under plain RoPE
    (:func:`posviz.rope.peaked_key`); they are weights and stay, the frequencies change under them.

    Returns:
        Scaled scores at every distance ``0 .. seq_len - 1``.
    """
    params.instance("plain", plain, rope.RoPE)
    query = np.ones(plain.rotary_dim)
    key = rope.peaked_key(query, looked_for, plain.inv_freq)
    curve = rope.score_curve(query, key, seq_len, scaled_inv_freq)
    size = _on_scores(attention_factor)
    return np.asarray(size / math.sqrt(plain.rotary_dim) * curve)


def sinusoidal_scores(
    seq_len: int, d_model: int, base: float = sinusoidal.BASE
) -> NDArray[np.float64]:
    """Scaled dot product of two sinusoidal encodings at every distance ``0 .. seq_len - 1``.

    ``sum(cos(distance * inv_freq)) / sqrt(d_model)``: half of RoPE's q = k curve of that base.
    """
    d_model = params.even("d_model", d_model)
    frequencies = sinusoidal.inv_freq(d_model, base)
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
    size, draws = _on_scores(attention_factor), params.whole("draws", draws, 1)
    scores = size * rope.random_scores(inv_freq, distance, draws)
    if row is not None:
        others = params.whole("row", row, 1) - 1
        # Sums of exponentials as logarithms, so that a large factor does not leave float64.
        sums = np.full((draws, 1), math.log(max(others, 1)) + size**2 / 2.0)
        if others < 256:
            keys = size * np.random.default_rng(1).standard_normal((draws, others))
            largest = keys.max(axis=1, keepdims=True, initial=-arrays.LARGEST_ENTRY)
            with np.errstate(divide="ignore"):  # a row of one key has no others
                sums = largest + np.log(np.exp(keys - largest).sum(axis=1, keepdims=True))
        with np.errstate(over="ignore"):
            scores = 1.0 / (1.0 + np.exp(sums - scores))
    ordered = np.sort(scores, axis=0)
    tenth = draws // 10
    return np.stack([scores.mean(axis=0), ordered[tenth], ordered[-1 - tenth]])
