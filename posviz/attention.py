"""Softmax, masks and the query's factor: what turns scores into attention weights.

Source: Vaswani et al. 2017, "Attention Is All You Need", https://arxiv.org/abs/1706.03762,
section 3.2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params


def softmax(scores: ArrayLike, axis: int = -1) -> NDArray[np.float64]:
    """Weights that sum to 1 along ``axis``, stable for scores of any size.

    Args:
        scores: Scores of any shape; ``-inf`` marks a masked key and gets weight 0.
        axis: Axis of the keys.

    Returns:
        float64 weights of the shape of ``scores``.

    Raises:
        InvalidParameterError: If a score is NaN or ``+inf``, or a whole row is masked.
    """
    try:
        values = np.asarray(scores)
    except ValueError:  # rows of different lengths
        values = np.asarray(None)
    if values.dtype.kind not in "iuf" or not values.ndim or not values.size:
        raise params.InvalidParameterError(
            "scores must be rows of numbers, got {got}", got=params.shown(scores)
        )
    values = values.astype(np.float64, copy=False)
    axis = params.whole("axis", axis, -values.ndim, values.ndim - 1)
    highest = np.max(values, axis=axis, keepdims=True)
    if not np.all(np.isfinite(highest)):
        raise params.InvalidParameterError(
            "scores must hold at least one finite score per row and neither NaN nor +inf, "
            "got a row whose largest is {got}",
            got=params.shown(float(highest[~np.isfinite(highest)][0])),
        )
    weights = np.exp(values - highest)
    return np.asarray(weights / np.sum(weights, axis=axis, keepdims=True))


def causal_mask(q_len: int, k_len: int | None = None) -> NDArray[np.bool_]:
    """True where a query may look at a key: at its own position or before it.

    Args:
        q_len: Queries; they are the last ``q_len`` of the ``k_len`` positions.
        k_len: Keys; as many as queries if not given.

    Returns:
        Boolean mask ``(q_len, k_len)``.
    """
    q_len = params.whole("q_len", q_len, 1)
    k_len = q_len if k_len is None else params.whole("k_len", k_len, q_len)
    arrays.check_count("q_len and k_len", q_len, k_len)
    return np.tri(q_len, k_len, k_len - q_len, dtype=np.bool_)


def position_scale(
    positions: ArrayLike, floor_scale: int, attn_scale: float = 0.1, offset: int = 1
) -> NDArray[np.float64]:
    """Factor on the query at each position that sharpens attention in long contexts.

    ``1 + attn_scale * ln(1 + floor((position + offset) / floor_scale))``: 1 within the first
    ``floor_scale`` tokens, then a step at each multiple.

    Args:
        positions: Positions of the queries, tokens, of any shape.
        floor_scale: Tokens per step (Llama 4: 8192; Ministral 3: its trained context).
        attn_scale: Growth (Llama 4: ``attn_scale``; Ministral 3: ``llama_4_scaling_beta``).
        offset: 1 in Llama 4, on its layers without RoPE; 0 in Ministral 3, on every layer.

    Source:
        Hugging Face transformers 5.24.0, ``modeling_llama4.py`` and ``modeling_ministral3.py``.
    """
    floor_scale = params.whole("floor_scale", floor_scale, 1)
    attn_scale = params.real("attn_scale", attn_scale, 0.0)
    offset = params.whole("offset", offset, 0)
    steps = np.floor((params.numbers("positions", positions, 0.0) + offset) / floor_scale)
    return np.asarray(1.0 + attn_scale * np.log1p(steps))
