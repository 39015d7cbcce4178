"""Rotary position embedding: each pair of dimensions turns by position x inv_freq.

Source: Su et al. 2021, "RoFormer", https://arxiv.org/abs/2104.09864, section 3.2.
Pairing: ``half`` (pair i is dimensions i and i + rotary_dim/2: GPT-NeoX, Hugging Face Llama)
or ``interleaved`` (dimensions 2i and 2i + 1: RoFormer, GPT-J, Meta's Llama code). Both are the
same map up to a permutation of the dimensions, see :func:`interleaved_to_half`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params

Floats = NDArray[np.float64]
Layout = Literal["half", "interleaved"]
LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")


@dataclass(frozen=True)
class RoPE:
    """What defines plain RoPE: how many dimensions rotate, and how fast.

    Attributes:
        rotary_dim: Dimensions that rotate, an even number; the rest of a head stays still.
        rope_theta: Base of the frequencies, above 1.
    """

    rotary_dim: int
    rope_theta: float = 10_000.0

    def __post_init__(self) -> None:
        params.keep(
            self,
            rotary_dim=_rotary_dim(self.rotary_dim),
            rope_theta=params.real("rope_theta", self.rope_theta, 1.0, above=True),
        )

    @property
    def inv_freq(self) -> NDArray[np.float64]:
        """Frequency of each pair, see :func:`inv_freq`."""
        return inv_freq(self.rotary_dim, self.rope_theta)


def _rotary_dim(rotary_dim: int) -> int:
    rotary_dim = params.even("rotary_dim", rotary_dim)
    arrays.check_count("rotary_dim", rotary_dim)
    return rotary_dim


def inv_freq(rotary_dim: int, rope_theta: float) -> NDArray[np.float64]:
    """Angular frequency of each pair, radians per token, fastest first.

    Args:
        rotary_dim: Dimensions that rotate, an even number.
        rope_theta: Base, above 1.

    Returns:
        ``rope_theta ** (-2i / rotary_dim)``, shape ``(rotary_dim // 2,)``.

    Raises:
        InvalidParameterError: If ``rotary_dim`` is odd or ``rope_theta`` is not above 1.

    Source:
        RoFormer, equation 15; Hugging Face ``LlamaRotaryEmbedding``.
    """
    rotary_dim = _rotary_dim(rotary_dim)
    rope_theta = params.real("rope_theta", rope_theta, 1.0, above=True)
    return rope_theta ** (-np.arange(0, rotary_dim, 2) / rotary_dim)


def rotary_dim(head_dim: int, partial_rotary_factor: float = 1.0) -> int:
    """Dimensions of a head that rotate when only a share of them does.

    Truncated like the reference (``int(100 * 0.29)`` is 28), then it must be even and not 0.
    """
    head_dim = params.whole("head_dim", head_dim, 2)
    share = params.real("partial_rotary_factor", partial_rotary_factor, 0.0, 1.0)
    return params.even("rotary_dim", int(head_dim * share))


def wavelength(inv_freq: ArrayLike) -> NDArray[np.float64]:
    """Tokens per turn of each pair, ``2 pi / inv_freq``; infinite where a pair stands still.

    Infinite too where a turn takes more tokens than float64 can count.
    """
    frequencies = params.numbers("inv_freq", inv_freq, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(2.0 * math.pi / frequencies)


def turns(inv_freq: ArrayLike, seq_len: float) -> NDArray[np.float64]:
    """Turns that each pair makes within ``seq_len`` tokens."""
    seq_len = params.real("seq_len", seq_len, 0.0)
    with np.errstate(over="ignore"):
        angles = seq_len * params.numbers("inv_freq", inv_freq, 0.0)
    return np.asarray(params.numbers("seq_len x inv_freq", angles) / (2.0 * math.pi))


def rotate(
    x: ArrayLike, positions: ArrayLike, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """``x`` with each pair turned by position x inv_freq; dimensions past the pairs stay.

    Args:
        x: Vectors ``(..., head_dim)``.
        positions: Positions in tokens, of a shape that broadcasts with ``x.shape[:-1]``.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.

    Returns:
        float64 vectors ``(..., head_dim)``, in the layout they came in.

    Raises:
        InvalidParameterError: If there are more pairs than ``x`` has dimensions for.

    Source:
        RoFormer, equation 34; Hugging Face ``apply_rotary_pos_emb`` (half),
        Meta ``apply_rotary_emb`` (interleaved).
    """
    vectors, frequencies = params.numbers("x", x), params.per_pair("inv_freq", inv_freq)
    params.one_of("layout", layout, LAYOUTS)
    _check_room("x", vectors, len(frequencies))
    with np.errstate(over="ignore"):
        angles = params.numbers("positions", positions)[..., None] * frequencies
    return turn(vectors, angles, layout)


def turn(x: ArrayLike, angles: ArrayLike, layout: Layout = "half") -> NDArray[np.float64]:
    """``x`` with each pair turned by an angle of its own; dimensions past the pairs stay.

    Args:
        x: Vectors ``(..., head_dim)``.
        angles: Radians ``(..., rotary_dim // 2)``, of a shape that broadcasts with the vectors.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.

    Returns:
        float64 vectors ``(..., head_dim)``, in the layout they came in.
    """
    vectors, turned_by = params.numbers("x", x), params.numbers("angles", angles)
    params.one_of("layout", layout, LAYOUTS)
    if turned_by.ndim == 0 or not turned_by.shape[-1]:
        raise params.InvalidParameterError(params.A_LIST, name="angles", got=str(turned_by.shape))
    _check_room("x", vectors, turned_by.shape[-1])
    try:
        over = np.broadcast_shapes(vectors.shape[:-1], turned_by.shape[:-1])
    except ValueError as mismatch:
        raise params.InvalidParameterError(
            "positions must be one per vector, {allowed} here, got {got}",
            allowed=str(vectors.shape[:-1]),
            got=str(turned_by.shape[:-1]),
        ) from mismatch
    first, second = pair_slices(2 * turned_by.shape[-1], layout)
    cos, sin = np.cos(turned_by), np.sin(turned_by)  # (..., rotary_dim // 2)
    a, b = vectors[..., first], vectors[..., second]
    rotated = np.array(np.broadcast_to(vectors, (*over, vectors.shape[-1])))
    with np.errstate(over="ignore"):
        rotated[..., first] = a * cos - b * sin
        rotated[..., second] = a * sin + b * cos
    return params.numbers("rotated x", rotated)


def _check_room(name: str, vectors: NDArray[np.float64], pairs: int) -> None:
    if vectors.ndim == 0 or vectors.shape[-1] < 2 * pairs:
        raise params.InvalidParameterError(
            "{name} must have at least 2 dimensions per pair, {allowed} here, got {got}",
            name=name,
            allowed=2 * pairs,
            got=vectors.shape[-1] if vectors.ndim else 0,
        )


def pair_slices(rotary_dim: int, layout: Layout) -> tuple[slice, slice]:
    """Where the first and the second dimension of each pair stand."""
    rotary_dim = params.even("rotary_dim", rotary_dim)
    if params.one_of("layout", layout, LAYOUTS) == "interleaved":
        return slice(0, rotary_dim, 2), slice(1, rotary_dim, 2)
    return slice(0, rotary_dim // 2), slice(rotary_dim // 2, rotary_dim)


def rotate_half(x: ArrayLike, layout: Layout = "half") -> NDArray[np.float64]:
    """``x`` with each pair ``(a, b)`` as ``(-b, a)``, a quarter turn: what code multiplies by sin.

    Args:
        x: Vectors ``(..., rotary_dim)``, all of whose dimensions rotate.
        layout: Which dimensions form a pair; ``interleaved`` is Hugging Face's
            ``rotate_every_two``.

    Source:
        RoFormer, equation 34; Hugging Face ``rotate_half`` of Llama, ``rotate_every_two`` of GPT-J.
    """
    vectors = params.numbers("x", x)
    width = vectors.shape[-1] if vectors.ndim else 0
    first, second = pair_slices(_rotary_dim(width), layout)
    turned = np.empty_like(vectors)
    turned[..., first], turned[..., second] = -vectors[..., second], vectors[..., first]
    return turned


def tables(
    positions: ArrayLike, inv_freq: ArrayLike, layout: Layout = "half"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cos and sin for each dimension, ``(..., rotary_dim)``: both of a pair have the same.

    The rotated ``x`` is ``x * cos + rotate_half(x) * sin``, element by element.

    Source:
        RoFormer, equation 34; Hugging Face ``LlamaRotaryEmbedding``, ``cat((freqs, freqs))``.
    """
    angles = _angles(params.numbers("positions", positions), params.per_pair("inv_freq", inv_freq))
    twice = np.empty((*angles.shape[:-1], 2 * angles.shape[-1]))
    for dims in pair_slices(twice.shape[-1], layout):
        twice[..., dims] = angles
    return np.cos(twice), np.sin(twice)


def rotation_matrix(
    position: float, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """The rotation to ``position`` as a matrix, ``(rotary_dim, rotary_dim)``.

    2 x 2 blocks on the diagonal if ``interleaved``; if ``half``, the same numbers on three
    diagonals. No code multiplies by it: all but two entries of a row are 0.

    Source:
        RoFormer, equation 15.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    angles = _angles(params.numbers("position", params.real("position", position, -math.inf)),
                     frequencies)  # fmt: skip
    size = 2 * len(frequencies)
    arrays.check_count("inv_freq", size, size)
    first, second = (np.arange(size)[dims] for dims in pair_slices(size, layout))
    matrix = np.zeros((size, size))
    matrix[first, first] = matrix[second, second] = np.cos(angles)
    matrix[second, first] = np.sin(angles)
    matrix[first, second] = -matrix[second, first]
    return matrix


def interleaved_to_half(rotary_dim: int) -> NDArray[np.intp]:
    """Index that reorders an interleaved vector into halves: ``[0, 2, 4, ..., 1, 3, 5, ...]``.

    ``rotate(x[p], ..., layout="half")`` equals ``rotate(x, ..., layout="interleaved")[p]``.
    Hugging Face applies it to the rows of the query and key weights when it converts Llama.
    """
    rotary_dim = _rotary_dim(rotary_dim)
    return np.arange(rotary_dim).reshape(-1, 2).T.ravel()


def half_to_interleaved(rotary_dim: int) -> NDArray[np.intp]:
    """Index that reorders halves into an interleaved vector: ``[0, d/2, 1, d/2 + 1, ...]``.

    It undoes :func:`interleaved_to_half`.
    """
    rotary_dim = _rotary_dim(rotary_dim)
    return np.arange(rotary_dim).reshape(2, -1).T.ravel()


def decay_bound(rotary_dim: int, rope_theta: float, distance: ArrayLike) -> NDArray[np.float64]:
    """Mean over pairs of ``|S_j|``: RoFormer's long-term decay, its Figure 2.

    ``S_j`` is the sum of ``exp(1j * distance * inv_freq)`` over the first j pairs. It bounds scores
    up to a factor, see :func:`score_bound`, and describes none of them. ``(rotary_dim/2 + 1) / 2``
    at distance 0, the same for ``-distance``, and not monotone.

    Args:
        rotary_dim: Dimensions that rotate, an even number.
        rope_theta: Base, above 1.
        distance: Query minus key in tokens, of any shape.

    Returns:
        The mean, of the shape of ``distance``.

    Source:
        RoFormer, section 3.4.3.
    """
    return np.asarray(_partial_sums(inv_freq(rotary_dim, rope_theta), distance).mean(axis=-1))


def _partial_sums(frequencies: Floats, distance: ArrayLike) -> Floats:
    """``|S_j|`` for j = 1 .. pairs on the last axis."""
    angles = _angles(params.numbers("distance", distance), frequencies)
    return np.asarray(np.abs(np.cumsum(np.exp(1j * angles), axis=-1)))


def _angles(distance: Floats, frequencies: Floats) -> Floats:
    """``distance x inv_freq``, pairs on a further axis."""
    arrays.check_count("distance and inv_freq", distance.size, len(frequencies))
    with np.errstate(over="ignore"):
        return params.numbers("distance x inv_freq", distance[..., None] * frequencies)


def score_bound(
    q: ArrayLike,
    k: ArrayLike,
    distance: ArrayLike,
    inv_freq: ArrayLike,
    layout: Layout = "half",
) -> NDArray[np.float64]:
    """What the unscaled score of ``q`` and ``k`` never exceeds in size at each ``distance``.

    ``max |h_(i+1) - h_i| * sum |S_j|`` with ``h_i = q_i conj(k_i)`` over pairs as complex numbers.
    The maximum includes the last term, ``|0 - h_last|``; without it the inequality is false.

    Args:
        q: A query of 2 dimensions per pair.
        k: A key of as many.
        distance: Query minus key in tokens, of any shape.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.

    Returns:
        The bound, of the shape of ``distance``.

    Source:
        RoFormer, section 3.4.3, equations 35-37.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    params.one_of("layout", layout, LAYOUTS)
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.append(_products(q, k, len(frequencies), layout), 0.0)  # h, 0 after its last
        bound = np.abs(np.diff(products)).max() * _partial_sums(frequencies, distance).sum(axis=-1)
    return params.numbers("q x k", bound)


def _as_complex(name: str, vector: ArrayLike, pairs: int, layout: Layout) -> NDArray[np.complex128]:
    found = params.numbers(name, vector)
    if found.shape != (2 * pairs,):
        raise params.InvalidParameterError(
            "{name} must be one vector of 2 dimensions per pair, {allowed} here, got {got}",
            name=name,
            allowed=2 * pairs,
            got=f"shape {found.shape}",
        )
    first, second = pair_slices(2 * pairs, layout)
    return np.asarray(found[first] + 1j * found[second])


def polar(x: ArrayLike, layout: Layout = "half") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Length and angle of each pair of one vector; the angle in radians, counterclockwise."""
    vector = params.numbers("x", x)
    pairs = _as_complex("x", vector, max(vector.size // 2, 1), layout)
    return np.abs(pairs), np.angle(pairs)


def scores(
    q: ArrayLike,
    k: ArrayLike,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    inv_freq: ArrayLike,
    layout: Layout = "half",
) -> NDArray[np.float64]:
    """Unscaled score of one query and one key, each rotated to its position, ``(q_len, k_len)``.

    Args:
        q: A query ``(head_dim,)``.
        k: A key ``(head_dim,)``.
        q_positions: Where the query stands, one position or a list of them.
        k_positions: Where the key stands, one position or a list of them.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``; dimensions past the pairs stay.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.
    """
    rows, columns = (
        rotate(params.numbers(name, x), arrays.listed(f"{name}_positions", at), inv_freq, layout)
        for name, x, at in (("q", q, q_positions), ("k", k, k_positions))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        return params.numbers("scores", rows @ columns.T)


def pair_scores(
    q: ArrayLike, k: ArrayLike, distance: float, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """What each pair adds to the unscaled score.

    ``|q_i| |k_i| cos(phi_i + distance * inv_freq_i)``, where ``phi_i`` is the angle of q's pair
    minus that of k's before any rotation, and ``distance`` is query minus key in tokens.

    Returns:
        One number per pair; their sum is the score.

    Source:
        RoFormer, equation 12.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    params.one_of("layout", layout, LAYOUTS)
    products = _products(q, k, len(frequencies), layout)
    angles = _angles(params.numbers("distance", params.real("distance", distance, -math.inf)),
                     frequencies)  # fmt: skip
    return params.numbers("scores", (products * np.exp(1j * angles)).real)


def _products(q: ArrayLike, k: ArrayLike, pairs: int, layout: Layout) -> NDArray[np.complex128]:
    """``q_i conj(k_i)`` over pairs as complex numbers."""
    query, key = (_as_complex(name, x, pairs, layout) for name, x in (("q", q), ("k", k)))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(query * key.conj())


def score_curve(
    q: ArrayLike, k: ArrayLike, seq_len: int, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """Unscaled score of ``q`` and ``k`` at every distance ``0 .. seq_len - 1``.

    As :func:`cosine_sums`, which is half of it for q = k = 1: distances are split as
    ``block * a + b``, so that each whole one is there and no fast pair aliases.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    arrays.check_count("seq_len", seq_len)
    frequencies = params.per_pair("inv_freq", inv_freq)
    params.one_of("layout", layout, LAYOUTS)
    products = _products(q, k, len(frequencies), layout)
    block = math.isqrt(seq_len - 1) + 1
    coarse = np.exp(1j * _angles(np.arange(0.0, seq_len, block), frequencies))  # (blocks, pairs)
    fine = np.exp(1j * _angles(np.arange(float(block)), frequencies))  # (block, pairs)
    with np.errstate(over="ignore", invalid="ignore"):
        curve = ((coarse * products) @ fine.T).real.ravel()[:seq_len]
    return params.numbers("scores", curve)


def mixup_error(inv_freq: ArrayLike, distance: ArrayLike) -> NDArray[np.float64]:
    """Error of scaled scores when weights made for one pairing rotate in the other.

    Root mean square over standard normal q and k, both rotated in the wrong pairing: the Frobenius
    norm of the difference of both rotations over ``sqrt(rotary_dim)``. 0 at distance 0, so that a
    short test sees nothing; about ``sqrt(2)`` far away, where both scores have nothing in common
    and the scores themselves are 1 on average.

    Args:
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        distance: Query minus key in tokens, of any shape.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    size = 2 * len(frequencies)
    cos, sin = zip(
        *(tables(params.numbers("distance", distance), frequencies, way) for way in LAYOUTS),
        strict=True,
    )
    # Both have their cosines on the diagonal; their sines stand in different places.
    squares = (cos[0] - cos[1]) ** 2 + sin[0] ** 2 + sin[1] ** 2
    if size == 2:  # one pair: both pairings are the same
        squares = np.zeros_like(squares)
    return np.asarray(np.sqrt(squares.mean(axis=-1)))


def peaked_key(
    q: ArrayLike, distance: float, inv_freq: ArrayLike, layout: Layout = "half"
) -> NDArray[np.float64]:
    """The key, as long as ``q``, whose score with ``q`` peaks ``distance`` tokens behind it.

    ``q`` rotated by ``distance``: at distance n the score is ``sum |q_i|^2 cos((n - distance) *
    inv_freq_i)``, at most ``|q|^2``, and that at ``distance``. RoPE can look anywhere.

    Source:
        Barbero et al. 2024, "Round and Round We Go!", https://arxiv.org/abs/2410.06205,
        section 3.
    """
    return rotate(q, params.real("distance", distance, -math.inf), inv_freq, layout)


def cosine_sums(inv_freq: ArrayLike, seq_len: int) -> NDArray[np.float64]:
    """Sum over pairs of ``cos(distance * inv_freq)`` at every distance ``0 .. seq_len - 1``.

    RoPE's score of q = k = 1 is twice this. Distances are split as ``block * a + b`` and joined
    by the addition theorem, two matrix products instead of one cosine per distance and pair:
    the live pictures need each whole distance, or the fast pairs would alias.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    arrays.check_count("seq_len", seq_len)
    frequencies = params.per_pair("inv_freq", inv_freq)
    block = math.isqrt(seq_len - 1) + 1
    coarse = _angles(np.arange(0.0, seq_len, block), frequencies)  # (blocks, pairs)
    fine = _angles(np.arange(float(block)), frequencies)  # (block, pairs)
    sums = np.cos(coarse) @ np.cos(fine).T - np.sin(coarse) @ np.sin(fine).T  # (blocks, block)
    return np.asarray(sums.ravel()[:seq_len])


def random_vectors(
    pairs: int, layout: Layout = "half", seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A standard normal query and key of ``pairs`` pairs, each ``(2 * pairs,)``.

    A pair keeps its numbers as others are added behind it, and in both layouts.
    """
    size = _rotary_dim(2 * params.whole("pairs", pairs, 1))
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    first, second = pair_slices(size, layout)
    drawn = rng.standard_normal((pairs, 4)).T
    q, k = np.empty((2, size))
    q[first], q[second], k[first], k[second] = drawn
    return q, k


def random_scores(
    inv_freq: ArrayLike, distance: ArrayLike, draws: int, seed: int = 0
) -> NDArray[np.float64]:
    """Scaled scores of random q and k by distance, shape ``(draws, len(distance))``.

    k is a standard normal vector, q a random direction of length ``sqrt(rotary_dim)``; the score
    ``q . R(distance) k`` is divided by ``sqrt(rotary_dim)``, so it is standard normal at every
    distance and for every dimension: no decay.

    Source:
        Barbero et al. 2024, "Round and Round We Go!", https://arxiv.org/abs/2410.06205,
        proposition 3.2.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    # Pairs first, so that a draw keeps its numbers while pairs are added behind them.
    draws = params.whole("draws", draws, 1)
    distances = arrays.listed("distance", distance)
    angles = _angles(distances, frequencies)  # (distances, pairs)
    arrays.check_count("draws and inv_freq", 4, draws, len(frequencies))
    arrays.check_count("draws and distance", draws, len(distances))
    a, b, c, d = rng.standard_normal((len(frequencies), 4, draws)).transpose(1, 0, 2)
    length = np.sqrt(np.sum(a**2 + b**2, axis=0))  # (draws,)
    along = (a * c + b * d) / length  # q = (a, b), k = (c, d) in each pair; (pairs, draws)
    across = (b * c - a * d) / length
    return np.asarray((np.cos(angles) @ along + np.sin(angles) @ across).T)


def score_moments(
    inv_freq: ArrayLike, distance: ArrayLike, mean: float = 0.0, std: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Expected score of independent random q and k, and its variance, at each distance.

    All components have the given mean and standard deviation, whatever their distribution; the
    score is divided by ``sqrt(rotary_dim)``. Without a mean the expectation is 0 at every distance
    and the variance ``std**4``: no decay. A mean brings RoPE's curve of equal vectors back,
    ``mean**2 * 2 sum(cos(distance * inv_freq)) / sqrt(rotary_dim)``; the variance
    ``std**4 + 2 std**2 mean**2`` stays the same everywhere.

    Returns:
        Expectation and variance, both of the shape of ``distance``.

    Source:
        Barbero et al. 2024, proposition 3.2, for a mean of 0; the rest follows from the rotation
        keeping lengths.
    """
    frequencies = params.per_pair("inv_freq", inv_freq)
    mean, std = params.real("mean", mean, -1e6, 1e6), params.real("std", std, 0.0, 1e6)
    cosines = np.cos(_angles(params.numbers("distance", distance), frequencies)).sum(axis=-1)
    expected = mean**2 * 2.0 * cosines / math.sqrt(2 * len(frequencies))
    return np.asarray(expected), np.full(np.shape(expected), std**4 + 2.0 * std**2 * mean**2)
