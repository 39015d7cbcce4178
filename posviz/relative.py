"""Relative positions in the score: Shaw's vectors per clipped distance, T5's bias per bucket.

Sources: Shaw et al. 2018, "Self-Attention with Relative Position Representations",
https://arxiv.org/abs/1803.02155; Raffel et al. 2020, "T5", https://arxiv.org/abs/1910.10683,
section 2.1, as coded in Mesh TensorFlow, ``transformer_layers.py``. Both count a relative position
as key minus query, so a key before the query is negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, catalog, params

Ints = NDArray[np.int64]
Floats = NDArray[np.floating[Any]]

# More buckets than any table has; it keeps the ranges within memory.
MOST_BUCKETS = 2**20


def relative_position(q_len: int, k_len: int | None = None) -> Ints:
    """Key minus query position in tokens, shape ``(q_len, k_len)``.

    Queries are the last ``q_len`` of the ``k_len`` positions, as with a cache; as many keys as
    queries if ``k_len`` is not given.
    """
    q_len = params.whole("q_len", q_len, 1)
    k_len = q_len if k_len is None else params.whole("k_len", k_len, q_len)
    arrays.check_count("q_len and k_len", q_len, k_len)
    keys, queries = np.arange(k_len), np.arange(k_len - q_len, k_len)
    return np.asarray(keys - queries[:, None], dtype=np.int64)


# Shaw: one vector per distance up to max_relative_position on each side.


def shaw_index(q_len: int, k_len: int | None = None, max_relative_position: int = 16) -> Ints:
    """Row of Shaw's table for each query and key, shape ``(q_len, k_len)``.

    ``clip(key - query, -max_relative_position, max_relative_position) + max_relative_position``:
    row 0 serves all keys that far before the query or farther, the middle row its own position.

    Source:
        Shaw et al. 2018, section 3.2; tensor2tensor ``_generate_relative_positions_matrix``.
    """
    distance = relative_position(q_len, k_len)
    largest = params.whole("max_relative_position", max_relative_position, 0)
    return np.asarray(np.clip(distance, -largest, largest) + largest)


def bert_relative_key_index(q_len: int, k_len: int | None, max_position_embeddings: int) -> Ints:
    """Row of Hugging Face BERT's ``relative_key`` table, shape ``(q_len, k_len)``.

    Not Shaw's: ``query - key + max_position_embeddings - 1``, so the sign is mirrored, nothing is
    clipped, and the table has ``2 * max_position_embeddings - 1`` rows. ``shaw_index`` of the same
    size, counted from the end, is the same row.

    Raises:
        InvalidParameterError: If there are more keys than ``max_position_embeddings``.

    Source:
        Hugging Face transformers up to 4.57, ``BertSelfAttention`` (modeling_bert.py).
    """
    largest = params.whole("max_position_embeddings", max_position_embeddings, 1)
    q_len = params.whole("q_len", q_len, 1, largest)
    k_len = q_len if k_len is None else params.whole("k_len", k_len, q_len, largest)
    return np.asarray(largest - 1 - relative_position(q_len, k_len))


def shaw_scores(q: ArrayLike, k: ArrayLike, key_table: ArrayLike) -> NDArray[np.float64]:
    """Scaled scores ``q_i . (k_j + a_{c(j - i)}) / sqrt(head_dim)``, shape ``(..., q_len, k_len)``.

    Args:
        q: Queries ``(..., q_len, head_dim)``, the last ``q_len`` positions.
        k: Keys ``(..., k_len, head_dim)``.
        key_table: One vector per relative position, from ``-max_relative_position`` to
            ``max_relative_position``: ``(2 * max_relative_position + 1, head_dim)``. All heads
            of a layer share it.

    Raises:
        InvalidParameterError: If the table has an even number of rows, or a size does not fit.

    Source:
        Shaw et al. 2018, equation 4; both parts are divided by the root.
    """
    queries = arrays.entries("q", q, "...", "q_len", "head_dim")
    keys = arrays.entries("k", k, "...", "k_len", "head_dim")
    vectors = _shaw_table("key_table", key_table)
    arrays.check_length("the last axis of k", keys.shape[-1], "that of q", queries.shape[-1])
    arrays.check_length(
        "the last axis of key_table", vectors.shape[-1], "that of q", queries.shape[-1]
    )
    arrays.check_leading("q and k", queries.shape[:-2], keys.shape[:-2])
    rows = shaw_index(queries.shape[-2], keys.shape[-2], len(vectors) // 2)
    content = queries @ np.swapaxes(keys, -1, -2)  # (..., q_len, k_len)
    by_row = queries @ vectors.T  # (..., q_len, 2 * max_relative_position + 1)
    place = by_row[..., np.arange(len(rows))[:, None], rows]  # (..., q_len, k_len)
    return np.asarray((content + place) / math.sqrt(queries.shape[-1]))


def shaw_values(weights: ArrayLike, v: ArrayLike, value_table: ArrayLike) -> NDArray[np.float64]:
    """Output ``sum_j weights_ij (v_j + a_{c(j - i)})``, shape ``(..., q_len, head_dim)``.

    Args:
        weights: Attention weights ``(..., q_len, k_len)``, none negative.
        v: Values ``(..., k_len, head_dim)``.
        value_table: As ``key_table`` of :func:`shaw_scores`, for the values.

    Source:
        Shaw et al. 2018, equation 3.
    """
    shares = arrays.entries("weights", weights, "...", "q_len", "k_len", low=0.0)
    values = arrays.entries("v", v, "...", "k_len", "head_dim")
    vectors = _shaw_table("value_table", value_table)
    arrays.check_length("v", values.shape[-2], "the last axis of weights", shares.shape[-1])
    arrays.check_length(
        "the last axis of value_table", vectors.shape[-1], "that of v", values.shape[-1]
    )
    arrays.check_leading("weights and v", shares.shape[:-2], values.shape[:-2])
    rows = shaw_index(shares.shape[-2], shares.shape[-1], len(vectors) // 2)
    place = np.einsum("...ij,ijd->...id", shares, vectors[rows])  # (..., q_len, head_dim)
    return np.asarray(shares @ values + place)


def shaw_random(
    seq_len: int, max_relative_position: int, head_dim: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Random queries, keys and a table of keys as before training, to show what the formula does.

    Queries and keys ``(seq_len, head_dim)`` are standard normal. The table
    ``(2 * max_relative_position + 1, head_dim)`` is uniform up to ``sqrt(6 / (rows + columns))`` on
    each side of 0. A larger ``max_relative_position`` keeps the vectors of the nearer distances but
    for that bound.

    Source:
        tensor2tensor ``transformer_base``: ``initializer="uniform_unit_scaling"``, which is
        variance scaling by the average of both sides.
    """
    seq_len, head_dim = params.whole("seq_len", seq_len, 1), params.whole("head_dim", head_dim, 1)
    largest = params.whole("max_relative_position", max_relative_position, 0)
    rows = 2 * largest + 1
    arrays.check_count("seq_len and head_dim", seq_len, head_dim)
    arrays.check_count("the rows of the table and head_dim", rows, head_dim)
    seed = params.whole("seed", seed, 0)
    q, k = np.random.default_rng(seed).standard_normal((2, seq_len, head_dim))
    bound = math.sqrt(6.0 / (rows + head_dim))
    drawn = np.random.default_rng(seed + 1).uniform(-bound, bound, (rows, head_dim))
    # Drawn for 0, -1, 1, -2, 2, ...; in the table they stand in order.
    return q, k, np.concatenate([drawn[1::2][::-1], drawn[::2]])


def _shaw_table(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """A table with a middle row."""
    vectors = arrays.entries(name, value, "2 * max_relative_position + 1", "head_dim")
    if len(vectors) % 2 == 0:
        raise params.InvalidParameterError(
            "{name} must have an odd number of rows, one per relative position from "
            "-max_relative_position to max_relative_position, got {got}",
            name=name,
            got=params.shown(len(vectors)),
        )
    return vectors


# T5: one number per head and bucket of distances.


def t5_bucket(
    relative_position: ArrayLike,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Ints:
    """Bucket of each relative position: exact when near, logarithmic when far.

    Logarithm and division are in float32, as in the reference: at exact powers (18 buckets,
    distance 64) float64 falls one bucket short. At a few (72 buckets and 100, distance 60, one
    direction) the last bit of the float32 logarithm decides.

    Args:
        relative_position: Key position minus query position, in tokens, whole numbers of any
            shape.
        num_buckets: How many buckets there are, at least 2, or 4 if ``bidirectional``. Half of
            the buckets of a direction count exactly; halves are rounded down.
        max_distance: Distance in tokens from which all positions surely share a bucket, above
            the exactly counted ones. The last bucket begins before it: at 91 of 128.
        bidirectional: Whether keys after the query have buckets of their own, the upper half.
            If not, they share bucket 0 with the query's own position.

    Returns:
        Buckets in ``[0, num_buckets)``, of the shape of ``relative_position``.

    Raises:
        InvalidParameterError: If ``max_distance`` is within the exactly counted distances, or
            there are too few buckets.

    Source:
        Mesh TensorFlow ``_relative_position_bucket``; Hugging Face
        ``T5Attention._relative_position_bucket``.
    """
    positions = arrays.whole_numbers("relative_position", relative_position)
    per_side, max_distance = _t5_sizes(num_buckets, max_distance, bidirectional)
    if bidirectional:
        upper = np.where(positions > 0, per_side, 0)
        return np.asarray(upper + _t5_side(np.abs(positions), per_side, max_distance))
    return _t5_side(np.maximum(-positions, 0), per_side, max_distance)


def t5_bias(
    q_len: int,
    k_len: int | None,
    table: ArrayLike,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> NDArray[np.float64]:
    """What T5 adds to the scores of each head, shape ``(num_heads, q_len, k_len)``.

    T5's scores are not divided by ``sqrt(head_dim)``, and all layers of a stack share the table.

    Args:
        q_len: Queries, the last ``q_len`` positions.
        k_len: Keys; as many as queries if None.
        table: Trained numbers ``(num_buckets, num_heads)``.
        max_distance: See :func:`t5_bucket`.
        bidirectional: See :func:`t5_bucket`; True in the encoder, False in the decoder.
    """
    numbers = arrays.entries("table", table, "num_buckets", "num_heads")
    distance = relative_position(q_len, k_len)
    arrays.check_count("q_len, k_len and num_heads", *distance.shape, numbers.shape[1])
    buckets = t5_bucket(distance, len(numbers), max_distance, bidirectional)
    return np.asarray(np.moveaxis(numbers[buckets], -1, 0))


@dataclass(frozen=True)
class BucketRange:
    """Relative positions that share a bucket, on one side of the query.

    Attributes:
        bucket: Index of the bucket.
        nearest: Relative position nearest to the query, in tokens.
        farthest: The farthest one; None if the bucket has no end.
    """

    bucket: int
    nearest: int
    farthest: int | None

    @property
    def size(self) -> int | None:
        """How many relative positions share the bucket; None if it has no end."""
        return None if self.farthest is None else abs(self.farthest - self.nearest) + 1


def t5_bucket_ranges(
    num_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> tuple[BucketRange, ...]:
    """Where each bucket begins and ends, in the order of the buckets.

    A bucket that no relative position falls into is left out: the first of the upper half always
    is, because the query's own position counts as before it. In one direction, all keys after the
    query are in bucket 0 too; its range names only the query's own position.
    """
    per_side, max_distance = _t5_sizes(num_buckets, max_distance, bidirectional)
    buckets = np.arange(per_side)
    low, high = np.zeros_like(buckets), np.full_like(buckets, max_distance)
    while np.any(low < high):  # the nearest distance of a bucket, by halving
        middle = (low + high) // 2
        reached = _t5_side(middle, per_side, max_distance) >= buckets
        low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
    starts: list[int] = low.tolist()
    ends = [start - 1 for start in starts[1:]]  # a bucket ends where the next one begins
    side = [
        *(
            (bucket, starts[bucket], end)
            for bucket, end in enumerate(ends)
            if starts[bucket] <= end
        ),
        (per_side - 1, starts[-1], None),
    ]
    ranges = [BucketRange(b, -near, None if far is None else -far) for b, near, far in side]
    if bidirectional:
        ranges += [BucketRange(b + per_side, near, far) for b, near, far in side if near]
    return tuple(ranges)


def t5_float64_differences(
    num_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> Ints:
    """Relative positions whose bucket would be another one in float64, shape ``(count, 3)``.

    Columns: the position, its bucket as :func:`t5_bucket` says, and its bucket in float64. Only
    keys before the query are listed; with buckets for both directions each one has its mirror.
    """
    per_side, max_distance = _t5_sizes(num_buckets, max_distance, bidirectional)
    arrays.check_count("max_distance", max_distance)
    distance = np.arange(max_distance + 1)
    single, double = (
        _t5_side(distance, per_side, max_distance, precision)
        for precision in (np.float32, np.float64)
    )
    apart = single != double
    return np.stack([-distance[apart], single[apart], double[apart]], axis=1)


@dataclass(frozen=True)
class BiasMemory:
    """Bytes of T5's bias for one stack of layers, and what they compare with.

    Attributes:
        bias: The bias written out, for every head, query and key.
        qkv: Queries, keys and values of one layer.
        table: T5's trained table, of :data:`posviz.catalog.NUM_BUCKETS` buckets.
        slopes: ALiBi's slopes, from which a kernel computes its bias again.
    """

    bias: int
    qkv: int
    table: int
    slopes: int


def bias_memory(
    seq_len: int, num_heads: int, head_dim: int, bytes_per_number: int = 2
) -> BiasMemory:
    """What T5's bias costs at ``seq_len`` tokens, in bytes.

    Args:
        seq_len: Queries, and as many keys, tokens.
        num_heads: Attention heads of a layer.
        head_dim: Dimensions of a head.
        bytes_per_number: 4 for float32, 2 for bfloat16 and float16, 1 for float8.
    """
    size = params.whole("bytes_per_number", bytes_per_number, 1, 8)
    t5 = catalog.get("t5")
    shape = catalog.Shape(1, num_heads, head_dim, 1)
    bias = t5.bias_entries(seq_len, num_heads)
    return BiasMemory(
        bias=size * bias,
        qkv=size * 3 * params.whole("seq_len", seq_len, 1) * shape.d_model,
        table=size * t5.parameters(shape),
        slopes=size * shape.num_heads,
    )


def _t5_sizes(num_buckets: int, max_distance: int, bidirectional: bool) -> tuple[int, int]:
    """Buckets of one direction, and the checked ``max_distance``."""
    if not isinstance(bidirectional, (bool, np.bool_)):
        raise params.InvalidParameterError(
            "bidirectional must be True or False, got {got}", got=params.shown(bidirectional)
        )
    fewest = 4 if bidirectional else 2  # so that at least one distance is counted exactly
    num_buckets = params.whole("num_buckets", num_buckets, fewest, MOST_BUCKETS)
    max_distance = params.whole("max_distance", max_distance, 1)
    per_side = num_buckets // 2 if bidirectional else num_buckets
    if max_distance <= per_side // 2:
        raise params.InvalidParameterError(
            "max_distance must be above {exact}, because distances below {exact} have a bucket "
            "each, got {got}",
            exact=params.shown(per_side // 2),
            got=params.shown(max_distance),
        )
    return per_side, max_distance


def _t5_side(
    distance: Ints,
    per_side: int,
    max_distance: int,
    precision: type[np.floating[Any]] = np.float32,
) -> Ints:
    """Bucket of each distance, 0 or more, within the buckets of one direction."""
    exact = per_side // 2
    ratio: Floats = np.maximum(distance, exact).astype(precision) / precision(exact)
    share: Floats = np.log(ratio) / precision(math.log(max_distance / exact))
    far = exact + (share * precision(per_side - exact)).astype(np.int64)
    return np.where(distance < exact, distance, np.minimum(far, per_side - 1))
