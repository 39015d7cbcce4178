"""Every encoding of the catalog on one head: its scores, its own part by distance, its arithmetic.

The head is the random one of :func:`posviz.order.attend`: the same words and the same W_q and W_k
for all encodings, so that what differs between two of them is the encoding alone. Each encoding is
its own module's; here is only how it enters the one head, as ``catalog.Encoding.enters`` says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import (
    alibi,
    arrays,
    attention,
    catalog,
    distance,
    learned,
    order,
    params,
    relative,
    rope,
    sinusoidal,
    transformer_xl,
    xpos,
)

Floats = NDArray[np.float64]

_SINUSOID = math.sqrt(0.5)
"""Root mean square of a sinusoidal table, to which learned rows are brought."""


@dataclass(frozen=True, eq=False)
class Tables:
    """What some encodings have trained, out of small models.

    Attributes:
        learned: Rows of a learned table, ``(rows, d_model)``.
        t5: Numbers of T5's bias, ``(num_buckets, num_heads)``.
    """

    learned: ArrayLike
    t5: ArrayLike

    def __post_init__(self) -> None:
        params.keep(
            self,
            learned=arrays.entries("learned", self.learned, "rows", "d_model"),
            t5=arrays.entries("t5", self.t5, "num_buckets", "num_heads"),
        )
        params.even("d_model", self.d_model)

    @property
    def d_model(self) -> int:
        """Numbers of a token's vector; the head is as wide."""
        return int(np.shape(self.learned)[1])

    @property
    def num_heads(self) -> int:
        """Heads whose T5 bias, and whose ALiBi slope among as many, can be shown."""
        return int(np.shape(self.t5)[1])

    @cached_property
    def rows(self) -> Floats:
        """The learned rows, scaled to the size of sinusoids, ``(rows, d_model)``."""
        given = np.asarray(self.learned)
        size = math.sqrt(float((given**2).mean()))
        return given * (_SINUSOID / size if size else 1.0)


def words(
    seq_len: int, d_model: int, variety: float = 1.0, strength: float = 1.0, seed: int = 0
) -> Floats:
    """Random vectors of a text's words, ``(seq_len, d_model)``; a longer text begins the same.

    Args:
        seq_len: Words.
        d_model: Numbers of each.
        variety: From 0, the same word everywhere, to 1, words that have nothing in common.
        strength: Multiplies all of them; their entries have this standard deviation.
        seed: Which words.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    d_model = params.whole("d_model", d_model, 1)
    arrays.check_count("seq_len and d_model", seq_len, d_model)
    variety = params.real("variety", variety, 0.0, 1.0)
    strength = params.real("strength", strength, 0.0, 1e6)
    rng = np.random.default_rng([params.whole("seed", seed, 0), 3])
    common, own = rng.standard_normal(d_model), rng.standard_normal((seq_len, d_model))
    return strength * (math.sqrt(1.0 - variety) * common + math.sqrt(variety) * own)


@dataclass(frozen=True)
class Setting:
    """What decides the scores besides the words; the defaults are the published ones.

    Attributes:
        rope_theta: Base of the angles of RoPE and xPos.
        head: Whose ALiBi slope and T5 numbers, counted from 1.
        seed: Of the random weights: W_q, W_k, Shaw's table, Transformer-XL's W_R, u and v.
    """

    rope_theta: float = 10_000.0
    head: int = 1
    seed: int = 0


def scores(name: str, x: ArrayLike, tables: Tables, setting: Setting | None = None) -> Floats:
    """Scaled scores of the head over the words ``x`` under an encoding, ``(seq_len, seq_len)``.

    Minus infinity where the key is ahead of its query. Everything is divided by ``sqrt(d_model)``
    but a bias, T5's scores too: T5 itself does not divide, its trained weights are smaller instead.
    Absolute encodings join the words before W_q and W_k. Shaw's table is random as its release's
    before training. Transformer-XL's W_R, u and v are random and of the size of queries and keys,
    not of the release's start (``--init_std 0.02``), whose terms would hardly be seen. xPos's pairs
    are RoPE's.

    Args:
        name: Of the encoding in the catalog.
        x: Words ``(seq_len, d_model)``.
        tables: Trained numbers; ``d_model`` is theirs.
        setting: The rest.

    Raises:
        InvalidParameterError: If a learned table has too few rows, besides wrong arguments.
    """
    params.one_of("encoding", name, catalog.NAMES)
    setting = setting or Setting()
    vectors = arrays.entries("x", x, "seq_len", "d_model")
    count, d_model = vectors.shape
    arrays.check_length("the last axis of x", d_model, "a row of the tables", tables.d_model)
    arrays.check_count("seq_len and seq_len", count, count)
    head = params.whole("head", setting.head, 1, tables.num_heads)
    places = np.arange(count)
    if name == "sinusoidal":
        vectors = vectors + sinusoidal.table(count, d_model)
    if name == "learned":
        vectors = vectors + learned.lookup(tables.rows, places)
    seed = params.whole("seed", setting.seed, 0)
    w_q, w_k, _ = order.projections(d_model, seed)
    q, k = vectors @ w_q, vectors @ w_k
    visible = attention.causal_mask(count)
    if name == "shaw":
        found = relative.shaw_scores(q, k, _shaw_table(d_model, seed))
    elif name == "transformer_xl":
        w_r, u, v = _transformer_xl(d_model, seed)
        r = transformer_xl.heads(transformer_xl.position_encoding(count, d_model), w_r, 1)
        terms = transformer_xl.terms(q[None], k[None], r, u[None], v[None])
        found = terms.total[0] / math.sqrt(d_model)
    else:
        turns = inv_freq(d_model, setting.rope_theta)
        if name == "rope":
            q, k = rope.rotate(q, places, turns), rope.rotate(k, places, turns)
        if name == "xpos":
            pairs = rope.half_to_interleaved(d_model)
            zeta = xpos.zeta(d_model)
            q = xpos.rotate_query(q[:, pairs], places, turns, zeta)
            k = xpos.rotate_key(k[:, pairs], places, turns, zeta)
        found = q @ k.T / math.sqrt(d_model)
    if name == "alibi":
        found = found + alibi.bias_matrix([slope(head, tables)], count, count, symmetric=True)[0]
    if name == "t5":
        column = np.asarray(tables.t5)[:, head - 1 : head]
        found = found + relative.t5_bias(count, None, column, bidirectional=False)[0]
    return np.where(visible, found, -np.inf)


def _shaw_table(d_model: int, seed: int) -> Floats:
    return relative.shaw_random(1, catalog.MAX_RELATIVE_POSITION, d_model, seed)[2]


def _transformer_xl(d_model: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """W_R, u and v as :func:`transformer_xl.random_head` draws them, of variance 1/d, 1 and 1."""
    head = transformer_xl.random_head(d_model, d_model, seed)
    return head.r_weight, head.u[0], head.v[0]


def off_diagonal_share(found: ArrayLike) -> float | None:
    """Share of the scores' variance that distance does not explain, from 0 to 1.

    Of causal scores ``(seq_len, seq_len)``: what is left when each diagonal, one per distance, has
    its mean taken off. With equal words it is 0 for a relative encoding. None where all scores are
    the same, so that nothing varies.
    """
    try:
        values = np.asarray(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    count = len(values) if values.ndim else 0
    if not count or values.shape != (count, count):
        raise params.InvalidParameterError(
            arrays.AXES, name="found", allowed="(seq_len, seq_len)", got=str(values.shape)
        )
    seen = attention.causal_mask(count)
    far = (np.arange(count)[:, None] - np.arange(count))[seen]
    numbers = arrays.entries("found", values[seen], "scores")
    total = float(((numbers - numbers.mean()) ** 2).sum())
    if total <= 1e-20 * max(1.0, float(np.abs(numbers).max()) ** 2) * len(numbers):
        return None
    means = np.bincount(far, numbers) / np.bincount(far)
    return min(float(((numbers - means[far]) ** 2).sum()) / total, 1.0)


# ------------------------------------------------------------------------------------ by distance


def inv_freq(d_model: int, rope_theta: float) -> Floats:
    """Frequencies of RoPE and xPos on the one head."""
    return rope.RoPE(d_model, rope_theta).inv_freq


def slope(head: int, tables: Tables) -> float:
    """ALiBi's slope of a head, counted from 1, among as many as the T5 table has."""
    return float(
        alibi.slopes(tables.num_heads)[params.whole("head", head, 1, tables.num_heads) - 1]
    )


def term(name: str, seq_len: int, tables: Tables, setting: Setting | None = None) -> Floats:
    """What an encoding alone makes of a scaled score at distances ``0 .. seq_len - 1``.

    ``none``: 0. ``sinusoidal``: dot product of two rows. ``learned``: its mean over all pairs of
    rows so far apart, as far as there are rows. ``shaw``: one random query against a random table.
    ``t5``, ``alibi``: the bias. ``transformer_xl``: its term of v and the distance, random weights.
    ``rope``, ``xpos``: the score of q = k = (1, ..., 1). All but the biases over ``sqrt(d_model)``.

    Returns:
        float64 numbers ``(seq_len,)``; fewer for a learned table that ends before.
    """
    params.one_of("encoding", name, catalog.NAMES)
    setting = setting or Setting()
    seq_len = params.whole("seq_len", seq_len, 1)
    d_model = tables.d_model
    arrays.check_count("seq_len and d_model", seq_len, d_model)
    head = params.whole("head", setting.head, 1, tables.num_heads)
    seed = params.whole("seed", setting.seed, 0)
    far = np.arange(seq_len)
    if name == "sinusoidal":
        return distance.sinusoidal_scores(seq_len, d_model)
    if name == "learned":
        return _mean_products(tables.rows)[:seq_len] / math.sqrt(d_model)
    if name == "shaw":
        query = np.random.default_rng([seed, 4]).standard_normal(d_model)
        largest = catalog.MAX_RELATIVE_POSITION
        by_row = _shaw_table(d_model, seed) @ query / math.sqrt(d_model)
        return np.asarray(by_row[largest - np.minimum(far, largest)])
    if name == "t5":
        buckets = relative.t5_bucket(-far, len(np.asarray(tables.t5)), bidirectional=False)
        return np.asarray(np.asarray(tables.t5)[buckets, head - 1], np.float64)
    if name == "transformer_xl":
        w_r, _, v = _transformer_xl(d_model, seed)
        return _sinusoids(v @ w_r, seq_len) / math.sqrt(d_model)
    if name == "alibi":
        return alibi.bias(slope(head, tables), far)
    if name in ("rope", "xpos"):
        turns = inv_freq(d_model, setting.rope_theta)
        if name == "rope":
            return distance.rope_scores(turns, seq_len)
        return _decaying_scores(turns, seq_len)
    if name == "none":
        return np.zeros(seq_len)
    raise NotImplementedError(f"the term of {name}")


def _mean_products(rows: Floats) -> Floats:
    """Mean dot product of all pairs of rows so far apart, ``(rows,)``."""
    count = len(rows)
    products = rows @ rows.T
    return np.array([products.diagonal(far).mean() for far in range(count)])


def _sinusoids(weights: Floats, seq_len: int) -> Floats:
    """Dot product of ``weights`` with the sinusoids, first all sines, of each distance."""
    half = len(weights) // 2
    sines, cosines = weights[:half], weights[half:]
    # a sin + b cos is the score of one pair: (b, -a) turned by the distance, against (1, 0).
    return rope.score_curve(
        np.concatenate([cosines, -sines]), np.concatenate([np.ones(half), np.zeros(half)]),
        seq_len, sinusoidal.inv_freq(len(weights)),
    )  # fmt: skip


def _decaying_scores(turns: Floats, seq_len: int) -> Floats:
    """Scaled score of xPos for q = k = 1: distances split into blocks, as ``rope.score_curve``."""
    block, d_model = math.isqrt(seq_len - 1) + 1, 2 * len(turns)
    rate = np.log(xpos.zeta(d_model)) / xpos.SCALE_BASE + 1j * turns
    coarse = np.exp(np.arange(0.0, seq_len, block)[:, None] * rate)
    fine = np.exp(np.arange(float(block))[:, None] * rate)
    curve = 2.0 * (coarse @ fine.T).real.ravel()[:seq_len]
    return np.asarray(curve / math.sqrt(d_model))


# ------------------------------------------------------------------------------------------ price


def operations(encoding: str, shape: catalog.Shape, seq_len: int, num_kv_heads: int) -> int:
    """Additions and multiplications that an encoding adds to reading ``seq_len`` tokens, exact.

    Of all layers, the whole square of scores as in ``Encoding.bias_entries``, what a mask hides
    included. Tables of angles and of sinusoids count as there already, and looking a number up as
    nothing.

    - ``sinusoidal``, ``learned``: one addition per number of the embeddings, ``L * d_model``.
    - ``rope``, ``xpos``: ``x * cos + rotate_half(x) * sin``, 3 per number of queries and keys (Su
      et al. 2021, section 3.4.2); xPos's scale is in its tables, as in torchscale.
    - ``t5``: one addition per score. ``alibi``: a multiplication and a subtraction (Press et al.
      2021, section 3), as where a kernel has no matrix.
    - ``shaw``: each query against the rows of the key table, ``2 * rows * head_dim``, one addition
      per score; weights summed by row and against the value table the same again (Shaw et al. 2018,
      section 3.3).
    - ``transformer_xl``: ``W_R R``, u and v added to the queries, the second product and its sum
      with the first (Dai et al. 2019, section 3.3; ``mem_transformer.py``).

    Args:
        encoding: Name in the catalog.
        shape: Of the model.
        seq_len: Tokens read at once.
        num_kv_heads: Heads of keys and values, at most ``shape.num_heads``.
    """
    params.one_of("encoding", encoding, catalog.NAMES)
    length, num_kv_heads = _sizes(shape, seq_len, num_kv_heads)
    square = shape.num_heads * length * length  # scores of a layer
    width = shape.d_model
    rows = 2 * catalog.MAX_RELATIVE_POSITION + 1
    if encoding in ("sinusoidal", "learned"):
        return length * width
    by_layer = {
        "none": 0,
        "rope": 3 * length * (shape.num_heads + num_kv_heads) * shape.head_dim,
        "t5": square,
        "alibi": 2 * square,
        "shaw": 2 * (2 * rows * width * length + square),
        "transformer_xl": 2 * length * width * width + 2 * length * width
        + 2 * shape.head_dim * square + square,
    }  # fmt: skip
    return shape.num_layers * by_layer["rope" if encoding == "xpos" else encoding]


def attention_operations(shape: catalog.Shape, seq_len: int) -> int:
    """Additions and multiplications of scores and of the weighted sum, ``4 d L**2`` per head.

    Of all layers, what a mask hides included; to measure :func:`operations` by.
    """
    length, _ = _sizes(shape, seq_len, 1)
    return shape.num_layers * 4 * shape.d_model * length * length


def kv_cache_entries(shape: catalog.Shape, seq_len: int, num_kv_heads: int) -> int:
    """Numbers of the cached keys and values of ``seq_len`` tokens, as many under every encoding.

    Transformer-XL as released caches :func:`state_entries` instead.
    """
    length, num_kv_heads = _sizes(shape, seq_len, num_kv_heads)
    return shape.num_layers * 2 * num_kv_heads * shape.head_dim * length


def state_entries(shape: catalog.Shape, seq_len: int) -> int:
    """Numbers of the hidden states of ``seq_len`` tokens that the layers read, ``d_model`` each.

    Transformer-XL's memory: its keys are computed anew from it. Released code keeps the last
    layer's states too, which no layer reads.

    Source:
        Dai et al. 2019, section 3.2; ``mems`` in kimiyoung/transformer-xl,
        pytorch/mem_transformer.py.
    """
    length, _ = _sizes(shape, seq_len, 1)
    return shape.num_layers * shape.d_model * length


def equal_length(shape: catalog.Shape, num_kv_heads: int) -> float:
    """Tokens at which one layer's written-out bias is as large as all layers' KV cache.

    ``num_heads * L**2 = 2 * num_layers * num_kv_heads * head_dim * L``.
    """
    return kv_cache_entries(shape, 1, num_kv_heads) / shape.num_heads


def trained_entries(encoding: str, shape: catalog.Shape, seq_len: int) -> int:
    """Numbers an encoding trains so that a model can read ``seq_len`` tokens.

    As ``Encoding.parameters``, a learned table with a row for each token.
    """
    longest = catalog.Shape(shape.num_layers, shape.num_heads, shape.head_dim, seq_len)
    return catalog.get(encoding).parameters(longest)


@dataclass(frozen=True)
class Model:
    """Sizes of a released model.

    Attributes:
        label: The model.
        shape: Its sizes, and its longest context.
        num_kv_heads: Heads of keys and values.
        source: Where they can be checked.
    """

    label: str
    shape: catalog.Shape
    num_kv_heads: int
    source: catalog.Source


MODELS: tuple[Model, ...] = (
    Model(
        "GPT-2",
        catalog.Shape(12, 12, 64, 1024),
        12,
        catalog.Source(
            "openai-community/gpt2, config.json",
            "https://huggingface.co/openai-community/gpt2/blob/main/config.json",
        ),
    ),
    Model(
        "BLOOM 176B",
        catalog.Shape(70, 112, 128, 2048),
        112,
        catalog.Source("Le Scao et al. 2022, BLOOM, table 3", "https://arxiv.org/abs/2211.05100"),
    ),
    Model(
        "Llama 3.1 8B",
        catalog.Shape(32, 32, 128, 131072),
        8,
        catalog.Source(
            "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3",
            "https://arxiv.org/abs/2407.21783",
        ),
    ),
    Model(
        "Llama 3.1 70B",
        catalog.Shape(80, 64, 128, 131072),
        8,
        catalog.Source(
            "Grattafiori et al. 2024, The Llama 3 Herd of Models, table 3",
            "https://arxiv.org/abs/2407.21783",
        ),
    ),
)
"""Released models whose sizes can be taken at once."""


def _sizes(shape: catalog.Shape, seq_len: int, num_kv_heads: int) -> tuple[int, int]:
    params.instance("shape", shape, catalog.Shape)
    return (
        params.whole("seq_len", seq_len, 1),
        params.whole("num_kv_heads", num_kv_heads, 1, shape.num_heads),
    )


# ------------------------------------------------------------------------------------------ filter


def answering(
    year: int, enters: str = "any", kind: str = "any", level: str = "any"
) -> tuple[str, ...]:
    """Names of the encodings that were there in ``year`` and answer so, in the catalog's order.

    Args:
        year: Last year of first appearance.
        enters: One of ``catalog.WHERE``, or ``any``.
        kind: One of :func:`kinds`, or ``any``.
        level: One of ``catalog.LEVELS``, or ``any``.
    """
    year = params.whole("year", year, 0)
    params.one_of("enters", enters, ("any", *catalog.WHERE))
    params.one_of("kind", kind, ("any", *kinds()))
    params.one_of("level", level, ("any", *catalog.LEVELS))
    return tuple(
        one.name
        for one in catalog.ENCODINGS
        if one.year <= year
        and enters in ("any", one.enters)
        and kind in ("any", _kind(one))
        and level in ("any", one.level)
    )


def kinds() -> Sequence[str]:
    """What encodings answer to the first question, the first word of each short answer."""
    return tuple(dict.fromkeys(_kind(one) for one in catalog.ENCODINGS))


def _kind(encoding: catalog.Encoding) -> str:
    return encoding.kind.short.partition(":")[0]
