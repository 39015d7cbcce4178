"""ALiBi: no position in the vectors, a penalty on the score that grows with distance.

Source: Press et al. 2021, "Train Short, Test Long", https://arxiv.org/abs/2108.12409; slopes in
the order of the released code (ofirpress/attention_with_linear_biases, ``get_slopes`` in
fairseq/models/transformer.py), which BLOOM and MPT follow. The paper's text gives ``2**(-8h/n)``
"for n heads"; for a head count that is not a power of two no released model uses it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params


def slopes(num_heads: int) -> NDArray[np.float64]:
    """Slope of each head in the released order, shape ``(num_heads,)``.

    A power of two: ``2**(-8h/num_heads)`` for h = 1 .. num_heads. Otherwise the slopes of the
    next lower power of two, then every second slope of the next higher one.
    """
    num_heads = params.whole("num_heads", num_heads, 1)
    lower = 1 << (num_heads.bit_length() - 1)
    regular = 2.0 ** (-8.0 * np.arange(1, lower + 1) / lower)
    extra = 2.0 ** (-8.0 * np.arange(1, 2 * lower + 1, 2) / (2 * lower))
    return np.concatenate([regular, extra[: num_heads - lower]])


def bias(slope: float, distance: ArrayLike) -> NDArray[np.float64]:
    """What ALiBi adds to a scaled score: ``-slope * distance``, 0 or less.

    ``distance`` is query minus key in tokens, of any shape, 0 or more.
    """
    slope = params.real("slope", slope, 0.0)
    return -slope * params.numbers("distance", distance, 0.0)


def weights(slope: float, distance: ArrayLike, seq_len: int) -> NDArray[np.float64]:
    """Softmax weight at each ``distance`` in a causal row of ``seq_len`` keys with equal content.

    The row sum is a geometric series, so the weight is exact without the row.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    slope = params.real("slope", slope, 0.0)
    relative = np.exp(bias(slope, distance))
    row_sum = np.expm1(-slope * seq_len) / np.expm1(-slope) if slope else seq_len
    return np.asarray(relative / row_sum)


def window(slope: float, share: float = 0.99) -> float:
    """Distance in tokens that keeps ``share`` of the weight in a long row with equal content.

    ``-ln(1 - share) / slope``: it does not depend on the training length.
    """
    slope = params.real("slope", slope, 0.0, above=True)
    share = params.real("share", share, 0.0, 1.0)
    return -math.log1p(-share) / slope if share < 1.0 else math.inf


def share_beyond_window(slope: float, seq_lens: ArrayLike) -> NDArray[np.float64]:
    """Share of a context of each length that lies beyond the 99 % window."""
    lengths = params.numbers("seq_lens", seq_lens, 1.0)
    return np.asarray(np.maximum(0.0, 1.0 - window(slope) / lengths))
