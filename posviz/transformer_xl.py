"""Transformer-XL: sinusoids of the distance inside the score, in four terms.

Source: Dai et al. 2019, "Transformer-XL", https://arxiv.org/abs/1901.02860, section 3.3;
kimiyoung/transformer-xl, ``pytorch/mem_transformer.py``, ``RelPartialLearnableMultiHeadAttn``.
The paper's u and v are ``r_w_bias`` and ``r_r_bias`` there. Keys begin with the memory, so
``k_len = memory + q_len``, and queries are the last ``q_len`` positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, attention, params, sinusoidal

Floats = NDArray[np.float64]


def position_encoding(
    k_len: int, d_model: int, clamp_len: int | None = None, base: float = sinusoidal.BASE
) -> Floats:
    """R: sinusoids of the distances ``k_len - 1 .. 0``, descending, shape ``(k_len, d_model)``.

    All sines, then all cosines, with the paper's frequencies over ``d_model``, not over a head.

    Args:
        k_len: Keys, memory included.
        d_model: Width of the model, an even number.
        clamp_len: Distance in tokens beyond which all distances count as this one; None for no
            clamp.
        base: Base of the frequencies, above 1.
    """
    k_len = params.whole("k_len", k_len, 1)
    d_model = params.even("d_model", d_model)
    arrays.check_count("k_len and d_model", k_len, d_model)
    distance = np.arange(k_len - 1, -1, -1)
    if clamp_len is not None:
        distance = np.minimum(distance, params.whole("clamp_len", clamp_len, 1))
    return sinusoidal.encoding(distance, d_model, base, "halves")


def heads(x: ArrayLike, weight: ArrayLike, num_heads: int) -> Floats:
    """Vectors through a weight, split into heads, shape ``(num_heads, length, d_head)``.

    Args:
        x: Vectors ``(length, d_model)``: tokens for q and k, R for r.
        weight: As torch's ``Linear`` keeps it: ``(num_heads * d_head, d_model)``.
        num_heads: Heads.
    """
    vectors = arrays.entries("x", x, "length", "d_model")
    matrix = arrays.entries("weight", weight, "num_heads * d_head", "d_model")
    arrays.check_length("the last axis of weight", matrix.shape[1], "that of x", vectors.shape[1])
    num_heads = params.whole("num_heads", num_heads, 1)
    if len(matrix) % num_heads:
        raise params.InvalidParameterError(
            "num_heads must divide the {rows} rows of weight, got {got}",
            rows=params.shown(len(matrix)),
            got=params.shown(num_heads),
        )
    split = (vectors @ matrix.T).reshape(len(vectors), num_heads, -1)
    return np.asarray(split.transpose(1, 0, 2))


def relative_shift(x: ArrayLike) -> Floats:
    """``x`` with row i moved left by ``q_len - 1 - i``, as the reference does it by reshaping.

    Column j comes in as distance ``k_len - 1 - j`` and leaves as key j, so that cell (i, j) holds
    distance ``i + k_len - q_len - j``. Cells whose key is ahead of the query hold garbage, a zero
    or numbers of the next row, see :func:`garbage`.

    Args:
        x: Scores by distance ``(..., q_len, k_len)``.

    Returns:
        Scores by key ``(..., q_len, k_len)``.

    Source:
        ``_rel_shift``: a column of zeros in front, reshaped to ``(k_len + 1, q_len)``, the first
        row dropped, reshaped back. Dropping the last row instead is a known bug.
    """
    scores = arrays.entries("x", x, "...", "q_len", "k_len")
    q_len, k_len = scores.shape[-2:]
    params.whole("k_len", k_len, q_len)
    leading = scores.shape[:-2]
    padded = np.concatenate([np.zeros((*leading, q_len, 1)), scores], axis=-1)
    turned = padded.reshape(*leading, k_len + 1, q_len)
    return turned[..., 1:, :].reshape(scores.shape)


def full_relative_shift(x: ArrayLike) -> Floats:
    """``x`` sorted from distances to keys when queries also look ahead: no cell holds garbage.

    Args:
        x: Scores by distance, ``k_len - 1`` down to ``1 - q_len``, negative where the key is
            ahead: ``(..., q_len, q_len + k_len - 1)``.

    Returns:
        Scores by key ``(..., q_len, k_len)``.

    Source:
        What encoders need, as in ESPnet's Conformer, ``RelPositionMultiHeadedAttention.rel_shift``.
    """
    scores = arrays.entries("x", x, "...", "q_len", "q_len + k_len - 1")
    q_len, columns = scores.shape[-2:]
    k_len = params.whole("k_len", columns - q_len + 1, q_len)
    queries, keys = np.arange(q_len)[:, None], np.arange(k_len)
    return np.asarray(scores[..., queries, q_len - 1 - queries + keys])


def garbage(q_len: int, k_len: int | None = None) -> NDArray[np.bool_]:
    """True where :func:`relative_shift` leaves garbage: the key is ahead of the query.

    Shape ``(q_len, k_len)``. A causal mask hides these cells; a picture or an encoder must too.
    """
    q_len = params.whole("q_len", q_len, 1)
    k_len = q_len if k_len is None else params.whole("k_len", k_len, q_len)
    return np.logical_not(attention.causal_mask(q_len, k_len))


@dataclass(frozen=True)
class Terms:
    """The four terms of the score, each ``(num_heads, q_len, k_len)``, before scaling.

    Where a key is ahead of its query, each is 0 and ``visible`` is False.

    Attributes:
        a: Content of the query with content of the key.
        b: Content of the query with the position of the key, or the distance.
        c: Content of the key with the position of the query, or u in its place.
        d: Position of the key, or the distance, with the position of the query, or v in its place.
        visible: Whether the query may look at the key, ``(q_len, k_len)``.
        d_head: Dimensions of a head.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    visible: NDArray[np.bool_]
    d_head: int

    @property
    def total(self) -> Floats:
        """Sum of the four terms, 0 where hidden."""
        return self.a + self.b + self.c + self.d

    @property
    def scores(self) -> Floats:
        """Sum of the terms over ``sqrt(d_head)``; ``-inf`` where hidden, as softmax takes it."""
        return np.where(self.visible, self.total / math.sqrt(self.d_head), -np.inf)

    def residual(self, product: ArrayLike) -> float:
        """Largest difference between the sum of the terms and a product, where a query may look."""
        found = _as_long_as("product", product, self.a, "a term", "num_heads", "q_len", "k_len")
        return float(np.abs(self.total - found)[:, self.visible].max())


def changes(before: Terms, after: Terms) -> dict[str, float]:
    """Largest change of each term (``a`` to ``d``) and of the attention ``weights``."""
    found = {
        name: float(np.abs(getattr(after, name) - getattr(before, name)).max()) for name in "abcd"
    }
    moved = attention.softmax(after.scores) - attention.softmax(before.scores)
    return found | {"weights": float(np.abs(moved).max())}


def terms(q: ArrayLike, k: ArrayLike, r: ArrayLike, u: ArrayLike, v: ArrayLike) -> Terms:
    """The four terms after the reparametrization: positions enter as distances alone.

    ``a = q_i . k_j``, ``b = q_i . r_{i-j}``, ``c = u . k_j``, ``d = v . r_{i-j}``.

    Args:
        q: Queries ``(num_heads, q_len, d_head)``.
        k: Keys, those of the memory first, ``(num_heads, k_len, d_head)``.
        r: R of :func:`position_encoding` through its own weight, ``(num_heads, k_len, d_head)``.
        u: ``r_w_bias``, one vector per head, ``(num_heads, d_head)``.
        v: ``r_r_bias``, one vector per head, ``(num_heads, d_head)``.

    Source:
        Dai et al. 2019, section 3.3, the second equation; the released code adds u and v to q.
    """
    queries, keys, visible = _queries_and_keys("q", q, "k", k)
    distances = _as_long_as("r", r, keys, "k", "num_heads", "k_len", "d_head")
    on_content = _as_long_as("u", u, queries[:, 0], "a head of q", "num_heads", "d_head")
    on_position = _as_long_as("v", v, queries[:, 0], "a head of q", "num_heads", "d_head")
    by_distance = np.swapaxes(distances, -1, -2)  # (num_heads, d_head, k_len)
    of_key = on_content[:, None] @ np.swapaxes(keys, -1, -2)  # (num_heads, 1, k_len)
    of_distance = on_position[:, None] @ by_distance  # (num_heads, 1, k_len)
    shape = (len(queries), *visible.shape)
    return _terms(
        queries @ np.swapaxes(keys, -1, -2),
        relative_shift(queries @ by_distance),
        np.broadcast_to(of_key, shape),
        relative_shift(np.broadcast_to(of_distance, shape)),
        visible,
        queries.shape[-1],
    )


def two_products(q: ArrayLike, k: ArrayLike, r: ArrayLike, u: ArrayLike, v: ArrayLike) -> Floats:
    """The sum of the four terms as the released code has it, ``(q + u) . k + (q + v) . r`` shifted.

    Two products instead of four. Arguments are those of :func:`terms`; ``(num_heads, q_len,
    k_len)``, before scaling, with garbage where a key is ahead of its query.

    Source:
        ``RelPartialLearnableMultiHeadAttn.forward``: ``AC + BD``.
    """
    queries, keys, _ = _queries_and_keys("q", q, "k", k)
    distances = _as_long_as("r", r, keys, "k", "num_heads", "k_len", "d_head")
    on_content = _as_long_as("u", u, queries[:, 0], "a head of q", "num_heads", "d_head")
    on_position = _as_long_as("v", v, queries[:, 0], "a head of q", "num_heads", "d_head")
    content = (queries + on_content[:, None]) @ np.swapaxes(keys, -1, -2)
    position = (queries + on_position[:, None]) @ np.swapaxes(distances, -1, -2)
    return content + relative_shift(position)


def absolute_terms(
    q: ArrayLike, k: ArrayLike, q_position: ArrayLike, k_position: ArrayLike
) -> Terms:
    """The four terms before the reparametrization: positions enter as absolute encodings.

    ``(q_i + s_i) . (k_j + t_j)`` multiplied out, s and t being the encodings of the positions
    through the query's and the key's weight: ``a = q_i . k_j``, ``b = q_i . t_j``,
    ``c = s_i . k_j``, ``d = s_i . t_j``.

    Args:
        q: Queries from content ``(num_heads, q_len, d_head)``.
        k: Keys from content ``(num_heads, k_len, d_head)``.
        q_position: Encodings through the query's weight, ``(num_heads, q_len, d_head)``.
        k_position: Encodings through the key's weight, ``(num_heads, k_len, d_head)``.

    Source:
        Dai et al. 2019, section 3.3, the first equation.
    """
    queries, keys, visible = _queries_and_keys("q", q, "k", k)
    places = _as_long_as("q_position", q_position, queries, "q", "num_heads", "q_len", "d_head")
    targets = _as_long_as("k_position", k_position, keys, "k", "num_heads", "k_len", "d_head")
    across, onto = np.swapaxes(keys, -1, -2), np.swapaxes(targets, -1, -2)
    return _terms(
        queries @ across, queries @ onto, places @ across, places @ onto,
        visible, queries.shape[-1],
    )  # fmt: skip


def _queries_and_keys(
    q_name: str, q: ArrayLike, k_name: str, k: ArrayLike
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Queries and keys of the same heads, and which key each query may look at."""
    queries = arrays.entries(q_name, q, "num_heads", "q_len", "d_head")
    keys = arrays.entries(k_name, k, "num_heads", "k_len", "d_head")
    arrays.check_length(k_name, len(keys), q_name, len(queries))
    of_q = f"that of {q_name}"
    arrays.check_length(f"the last axis of {k_name}", keys.shape[2], of_q, queries.shape[2])
    q_len, k_len = queries.shape[1], params.whole("k_len", keys.shape[1], queries.shape[1])
    return queries, keys, np.logical_not(garbage(q_len, k_len))


def _as_long_as(name: str, value: ArrayLike, other: Floats, of: str, *axes: str) -> Floats:
    """``value`` if it has the shape of ``other``."""
    found = arrays.entries(name, value, *axes)
    if found.shape != other.shape:
        raise params.InvalidParameterError(
            "{name} must have the shape of {of}, {allowed}, got {got}",
            name=name, of=of, allowed=str(other.shape), got=str(found.shape),
        )  # fmt: skip
    return found


def _terms(
    a: Floats, b: Floats, c: Floats, d: Floats, visible: NDArray[np.bool_], d_head: int
) -> Terms:
    """The terms without what stands in hidden cells."""
    shown = [np.where(visible, term, 0.0) for term in (a, b, c, d)]
    return Terms(shown[0], shown[1], shown[2], shown[3], visible, d_head)


# ------------------------------------------------------------------------ what the pictures show


def tokens(count: int, d_model: int = 64, seed: int = 0) -> Floats:
    """Random vectors in place of tokens, ``(count, d_model)``; a longer text begins the same."""
    count = params.whole("count", count, 1)
    d_model = params.even("d_model", d_model)
    arrays.check_count("count and d_model", count, d_model)
    return np.random.default_rng([params.whole("seed", seed, 0), 1]).normal(size=(count, d_model))


@dataclass(frozen=True)
class Head:
    """One head with random weights: what the terms look like does not need a trained one.

    Attributes:
        q_weight: ``(d_head, d_model)``.
        k_weight: ``(d_head, d_model)``.
        r_weight: W_R, for R alone, ``(d_head, d_model)``.
        u: ``r_w_bias``, ``(1, d_head)``.
        v: ``r_r_bias``, ``(1, d_head)``.
    """

    q_weight: Floats
    k_weight: Floats
    r_weight: Floats
    u: Floats
    v: Floats

    def relative(
        self, x: ArrayLike, q_len: int, u: float = 1.0, v: float = 1.0, clamp_len: int | None = None
    ) -> tuple[Terms, Floats]:
        """Terms after the reparametrization, and what the released code's two products give.

        Args:
            x: Tokens, the memory first, ``(k_len, d_model)``.
            q_len: How many of them, at the end, ask.
            u: Multiplies the head's u.
            v: Multiplies the head's v.
            clamp_len: See :func:`position_encoding`.
        """
        q, k = self._content(x, q_len)
        r = position_encoding(k.shape[1], self.r_weight.shape[1], clamp_len)
        given = (q, k, heads(r, self.r_weight, 1), u * self.u, v * self.v)
        return terms(*given), two_products(*given)

    def absolute(
        self, x: ArrayLike, q_len: int, q_position: ArrayLike, k_position: ArrayLike
    ) -> tuple[Terms, Floats]:
        """Terms before the reparametrization, and the product of token plus position itself.

        Args:
            x: Tokens, the memory first, ``(k_len, d_model)``.
            q_len: How many of them, at the end, ask.
            q_position: Position of each query, ``(q_len,)``.
            k_position: Position of each key, ``(k_len,)``.
        """
        q, k = self._content(x, q_len)
        d_model = self.q_weight.shape[1]
        asks = sinusoidal.encoding(q_position, d_model, layout="halves")
        answers = sinusoidal.encoding(k_position, d_model, layout="halves")
        vectors = np.asarray(x, np.float64)
        whole = heads(vectors[-q_len:] + asks, self.q_weight, 1) @ np.swapaxes(
            heads(vectors + answers, self.k_weight, 1), -1, -2
        )
        places = heads(asks, self.q_weight, 1), heads(answers, self.k_weight, 1)
        return absolute_terms(q, k, *places), whole

    def _content(self, x: ArrayLike, q_len: int) -> tuple[Floats, Floats]:
        """Queries and keys without any position."""
        vectors = arrays.entries("x", x, "k_len", "d_model")
        q_len = params.whole("q_len", q_len, 1, len(vectors))
        return heads(vectors[-q_len:], self.q_weight, 1), heads(vectors, self.k_weight, 1)


def random_head(d_model: int = 64, d_head: int = 16, seed: int = 0) -> Head:
    """A :class:`Head` whose queries and keys have entries of variance 1 for :func:`tokens`."""
    d_model = params.even("d_model", d_model)
    d_head = params.whole("d_head", d_head, 1)
    arrays.check_count("d_head and d_model", d_head, d_model)
    rng = np.random.default_rng([params.whole("seed", seed, 0), 0])
    q, k, r = rng.normal(size=(3, d_head, d_model)) / math.sqrt(d_model)
    u, v = rng.normal(size=(2, 1, d_head))
    return Head(q, k, r, u, v)


@dataclass(frozen=True)
class ShiftCells:
    """The cells on their way through :func:`relative_shift`, each array one number per cell.

    In the order of the padded scores, which all steps keep: each of them only says anew where a
    row ends.

    Attributes:
        row: Where the cell stands, in cells from the top.
        column: Where it stands, in cells from the left.
        shown: From 0, gone, to 1.
        query: Row that it came in.
        distance: Distance that it came in for, negative where the key is ahead; of no meaning for
            the zeros in front.
        is_zero: Whether it is one of the zeros that were put in front.
        ahead: Whether it ends at a key ahead of the query of its row.
        right: Whether it ends in the row of its query, at the key that far from it.
    """

    row: Floats
    column: Floats
    shown: Floats
    query: NDArray[np.int64]
    distance: NDArray[np.int64]
    is_zero: NDArray[np.bool_]
    ahead: NDArray[np.bool_]
    right: NDArray[np.bool_]


DROPPED = ("first", "last")


def shift_cells(
    q_len: int, k_len: int, step: float, dropped: str = "first", encoder: bool = False
) -> ShiftCells:
    """Where each cell is at a step of the shift, or between two of them.

    Steps: 0 scores by distance, 1 a zero in front of each row, 2 reshaped to ``q_len`` columns,
    3 a row dropped, 4 reshaped back, and for an encoder 5, the first ``k_len`` columns kept. The
    zeros have a column of their own on the left from the beginning. Around whole steps all rests.

    Args:
        q_len: Queries.
        k_len: Keys, at least ``q_len``.
        step: From 0 to 4, for an encoder to 5.
        dropped: ``first`` as the reference, ``last`` as in a known bug.
        encoder: Scores by all ``q_len + k_len - 1`` distances, see :func:`full_relative_shift`.
    """
    q_len = params.whole("q_len", q_len, 1)
    k_len = params.whole("k_len", k_len, q_len)
    step = params.real("step", step, 0, 5 if encoder else 4)
    params.one_of("dropped", dropped, DROPPED)
    columns = q_len + k_len - 1 if encoder else k_len
    arrays.check_count("q_len and k_len", q_len, columns + 1)
    flat = np.arange(q_len * (columns + 1))
    query, place = np.divmod(flat, columns + 1)
    turned = np.divmod(flat, q_len)
    kept = flat >= q_len if dropped == "first" else flat < q_len * columns
    rest = flat - q_len if dropped == "first" else flat
    moved = [
        np.where(kept, new, old) for new, old in zip(np.divmod(rest, q_len), turned, strict=True)
    ]
    back = [
        np.where(kept, new, old) for new, old in zip(np.divmod(rest, columns), turned, strict=True)
    ]
    within = kept & (back[1] < k_len)
    padding = place == 0
    everything = np.ones(len(flat), bool)
    stages = (
        (query, place, ~padding), (query, place, everything), (*turned, everything),
        (*moved, kept), (*back, kept), (*back, within),
    )  # fmt: skip
    before = min(int(step), len(stages) - 2)
    moving = min(max((step - before - 0.15) / 0.7, 0.0), 1.0)
    share = moving * moving * (3 - 2 * moving)
    row, column, shown = (
        (1 - share) * old + share * new
        for old, new in zip(stages[before], stages[before + 1], strict=True)
    )
    distance = k_len - place
    behind = back[0] + k_len - q_len - back[1]
    return ShiftCells(
        row, column, shown, query, distance, padding,
        ahead=within & (behind < 0),
        right=within & ~padding & (query == back[0]) & (distance == behind),
    )  # fmt: skip
