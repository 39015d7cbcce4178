"""ALiBi: no position in the vectors, a penalty on the score that grows with distance.

Source: Press et al. 2021, "Train Short, Test Long", https://arxiv.org/abs/2108.12409; slopes in
the order of the released code (ofirpress/attention_with_linear_biases, ``get_slopes`` in
fairseq/models/transformer.py), which BLOOM and MPT follow. The paper's text gives ``2**(-8h/n)``
"for n heads", :func:`paper_slopes`; for a head count that is not a power of two no released model
uses it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params
from posviz.precision import bfloat16


def slopes(num_heads: int, alibi_bias_max: float = 8.0) -> NDArray[np.float64]:
    """Slope of each head in the released order, shape ``(num_heads,)``.

    A power of two: ``2**(-alibi_bias_max * h / num_heads)`` for h = 1 .. num_heads. Otherwise the
    slopes of the next lower power of two, then every second slope of the next higher one, which
    is what MPT's code makes of the higher one, ``[1::2]`` and then ``[0::2]``.

    Args:
        num_heads: Attention heads of a layer.
        alibi_bias_max: MPT's exponent of the flattest slope, above 0; 8 everywhere else.
            (Hugging Face's ``MptModel`` ignores it and always takes 8; llm-foundry does not.)

    Source:
        ofirpress ``get_slopes``; mosaicml/llm-foundry ``gen_slopes`` for ``alibi_bias_max``.
    """
    num_heads = params.whole("num_heads", num_heads, 1)
    arrays.check_count("num_heads", num_heads)
    steepness = params.real("alibi_bias_max", alibi_bias_max, 0.0, 1000.0, above=True)
    lower = 1 << (num_heads.bit_length() - 1)
    regular = 2.0 ** (-steepness * np.arange(1, lower + 1) / lower)
    extra = 2.0 ** (-steepness * np.arange(1, 2 * lower + 1, 2) / (2 * lower))
    return np.concatenate([regular, extra[: num_heads - lower]])


def paper_slopes(num_heads: int) -> NDArray[np.float64]:
    """The paper's plain rule ``2**(-8h/num_heads)``, h = 1 .. num_heads, ``(num_heads,)``.

    A variant: it equals :func:`slopes` at powers of two, and no released model elsewhere.

    Source:
        Press et al. 2021, section 3.
    """
    num_heads = params.whole("num_heads", num_heads, 1)
    arrays.check_count("num_heads", num_heads)
    return 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)


def differs_from_paper(num_heads: int, alibi_bias_max: float = 8.0) -> NDArray[np.bool_]:
    """Which heads have another slope than :func:`paper_slopes` gives them, ``(num_heads,)``."""
    released = slopes(num_heads, alibi_bias_max)
    return ~np.isclose(released, paper_slopes(num_heads), rtol=1e-9, atol=0.0)


def series(num_heads: int, head: int) -> tuple[int, int]:
    """Which slope of which power of two a head has in the released order: ``(count, place)``.

    Its slope is ``2**(-alibi_bias_max * place / count)``: ``count`` is the next lower power of two,
    or twice that for the heads beyond it. ``head`` and ``place`` count from 1.
    """
    num_heads = params.whole("num_heads", num_heads, 1)
    head = params.whole("head", head, 1, num_heads)
    lower = 1 << (num_heads.bit_length() - 1)
    return (lower, head) if head <= lower else (2 * lower, 2 * (head - lower) - 1)


def bias(slope: float, distance: ArrayLike) -> NDArray[np.float64]:
    """What ALiBi adds to a scaled score: ``-slope * distance``, 0 or less.

    ``distance`` is query minus key in tokens, of any shape, 0 or more.
    """
    slope = params.real("slope", slope, 0.0)
    with np.errstate(over="ignore"):
        product = 0.0 - slope * params.numbers("distance", distance, 0.0)  # no minus zero
    return params.numbers("slope x distance", product)


def bias_matrix(
    heads: int | Sequence[float] | NDArray[np.float64],
    q_len: int,
    k_len: int,
    symmetric: bool = False,
) -> NDArray[np.float64]:
    """What ALiBi adds to every scaled score, ``(num_heads, q_len, k_len)``.

    ``-slope * (query - key)``, and minus infinity where the key is ahead of the query; if
    ``symmetric``, ``-slope * |query - key|`` everywhere. Implementations store other numbers that
    a softmax cannot tell apart, since they differ by a constant in each row: BLOOM and fairseq
    ``slope * key``, MPT ``-slope * (k_len - 1 - key)``.

    Args:
        heads: A number of heads, for their released slopes, or the slopes themselves.
        q_len: Queries: the last ``q_len`` positions of ``k_len``, as with a cache.
        k_len: Keys, at least ``q_len``.
        symmetric: Whether queries see keys ahead of them.

    Source:
        Press et al. 2021, section 3; llm-foundry ``build_alibi_bias`` (``full`` if symmetric).
    """
    if isinstance(heads, (list, tuple, np.ndarray)):
        steep = arrays.entries("slopes", heads, "num_heads", low=0.0)
    else:
        steep = slopes(heads)  # type: ignore[arg-type]
    k_len = params.whole("k_len", k_len, 1)
    q_len = params.whole("q_len", q_len, 1, k_len)
    if not isinstance(symmetric, (bool, np.bool_)):
        raise params.InvalidParameterError(
            "symmetric must be True or False, got {got}", got=params.shown(symmetric)
        )
    arrays.check_count("num_heads, q_len and k_len", len(steep), q_len, k_len)
    distance = np.arange(k_len - q_len, k_len)[:, None] - np.arange(k_len)  # (q_len, k_len)
    biases = -steep[:, None, None] * np.abs(distance)  # (num_heads, q_len, k_len)
    return biases if symmetric else np.where(distance < 0, -math.inf, biases)


def stored_biases(
    slope: float, seq_len: int, symmetric: bool = False
) -> dict[str, NDArray[np.float64]]:
    """The numbers that are stored for one head, each ``(seq_len, seq_len)``, by who stores them.

    ``paper``: ``-slope * (query - key)``; ``bloom``: ``slope * key``; ``mpt``:
    ``-slope * (seq_len - 1 - key)``. Keys ahead of the query have minus infinity, so that the three
    differ by a constant in each row. If ``symmetric`` nothing is hidden and ``paper`` is
    ``-slope * |query - key|``: then the others, which know no query, mean something else.

    Source:
        Press et al. 2021, section 3; Hugging Face ``modeling_bloom.py`` and ``modeling_mpt.py``.
    """
    slope = params.real("slope", slope, 0.0)
    paper = bias_matrix([slope], seq_len, seq_len, symmetric)[0]
    keys = slope * np.arange(paper.shape[1])
    hidden = np.isneginf(paper)
    return {
        "paper": paper,
        "bloom": np.where(hidden, -math.inf, keys),
        "mpt": np.where(hidden, -math.inf, keys - keys[-1]),
    }


def bloom_bias(num_heads: int, attention_mask: ArrayLike) -> NDArray[np.float64]:
    """What BLOOM adds: ``slope * position``, ``(num_heads, k_len)``, 0 or more.

    ``position`` counts the tokens that ``attention_mask`` marks with 1, from 0; padding, marked
    with 0, gets 0. Over each row that a query sees it is :func:`bias_matrix` up to a constant.

    Source:
        Hugging Face ``build_alibi_tensor`` in ``modeling_bloom.py``.
    """
    steep, positions = _slopes_and_positions(num_heads, attention_mask)
    return steep[:, None] * positions


def falcon_bias(num_heads: int, attention_mask: ArrayLike, head_dim: int) -> NDArray[np.float64]:
    """What Falcon adds to a scaled score, ``(num_heads, k_len)``: a variant.

    As BLOOM's, but slopes, positions and products are bfloat16, so that far positions collide;
    and it is added before the scaling, ``(q . k + alibi) / sqrt(head_dim)``, which makes it
    ``sqrt(head_dim)`` times weaker.

    Source:
        Hugging Face ``build_alibi_tensor`` and ``FalconAttention`` in ``modeling_falcon.py``.
    """
    head_dim = params.whole("head_dim", head_dim, 1)
    steep, positions = _slopes_and_positions(num_heads, attention_mask)
    products = bfloat16(steep)[:, None] * bfloat16(positions)
    return bfloat16(products) / math.sqrt(head_dim)


def _slopes_and_positions(
    num_heads: int, attention_mask: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope of each head, and what BLOOM and Falcon count of the mask."""
    mask = params.numbers("attention_mask", attention_mask)
    if mask.ndim != 1 or not mask.size or not np.isin(mask, (0.0, 1.0)).all():
        raise params.InvalidParameterError(
            "attention_mask must be a list of 0 and 1, got {got}",
            got=params.shown(attention_mask),
        )
    steep = slopes(num_heads)
    arrays.check_count("num_heads and attention_mask", len(steep), len(mask))
    return steep, np.asarray((np.cumsum(mask) - 1.0) * mask)


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

    ``-ln(1 - share) / slope``: it does not depend on the training length. Infinite for all of it.
    """
    slope = params.real("slope", slope, 0.0, above=True)
    share = params.real("share", share, 0.0, 1.0)
    return -math.log1p(-share) / slope if share < 1.0 else math.inf


def within(slope: float, distance: float, seq_len: ArrayLike) -> NDArray[np.float64]:
    """Share of the weight on the nearest ``distance`` tokens of a row with equal content.

    ``(1 - e^(-slope * distance)) / (1 - e^(-slope * seq_len))``, 1 where the row is no longer than
    that. Shape of ``seq_len``, keys in the row, at least 1 each.
    """
    slope = params.real("slope", slope, 0.0, above=True)
    distance = params.real("distance", distance, 0.0)
    lengths = params.numbers("seq_len", seq_len, 1.0)
    return np.asarray(np.expm1(-slope * np.minimum(distance, lengths)) / np.expm1(-slope * lengths))


def covered(slope: float, seq_len: ArrayLike, share: float = 0.99) -> NDArray[np.float64]:
    """Share of a context of ``seq_len`` tokens that :func:`window` covers, at most 1."""
    lengths = params.numbers("seq_len", seq_len, 1.0)
    return np.asarray(np.minimum(window(slope, share) / lengths, 1.0))


def lead(slope: float, distance: int, seq_len: int, share: float = 0.5) -> float:
    """How much higher than all others one key must score to get ``share`` of the weight.

    The key stands ``distance`` tokens back in a causal row of ``seq_len`` keys, whose others have
    equal content: ``slope * distance`` against the penalty, and ``ln`` of what the others weigh.
    Negative where the key gets more than that without a lead.
    """
    slope = params.real("slope", slope, 0.0)
    seq_len = params.whole("seq_len", seq_len, 2)
    distance = params.whole("distance", distance, 0, seq_len - 1)
    share = params.real("share", share, 0.0, 1.0, above=True)
    if share == 1.0:
        return math.inf
    before = seq_len - 1 - distance  # keys farther back
    if slope:
        nearer = math.expm1(-slope * distance) / math.expm1(-slope)
        farther = math.expm1(-slope * before) / math.expm1(-slope)
    else:
        nearer, farther = distance, before
    penalty = -float(bias(slope, distance))
    # The others' weight, in units of the nearest token's.
    if distance:
        others = math.log(nearer + math.exp(-slope * (distance + 1)) * farther)
    else:
        others = math.log(farther) - slope
    return penalty + others + math.log(share) - math.log1p(-share)
