"""RoPE in fewer bits: what float32, bfloat16 and float16 make of positions, angles and vectors.

Every dtype is emulated: a float64 number rounded to the nearest one that the dtype holds (ties to
even), operation by operation. Reference code takes positions and frequencies in float32 whatever
the model's dtype, because bfloat16 has 8 significant bits: 257 becomes 256 (Hugging Face PR 29285).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params
from posviz.rope import LAYOUTS, Layout, pair_slices, turn

Floats = NDArray[np.float64]
Dtype = Literal["float64", "float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = ("float64", "float32", "bfloat16", "float16")

SIGNIFICANT_BITS: dict[Dtype, int] = {"float64": 53, "float32": 24, "bfloat16": 8, "float16": 11}
"""Bits of the significand, the leading 1 included."""

LARGEST_EXPONENT: dict[Dtype, int] = {
    "float64": 1023, "float32": 127, "bfloat16": 127, "float16": 15,
}  # fmt: skip
"""Power of two of the largest numbers."""

LONGEST = 1 << 22
"""Tokens up to which colliding positions are listed."""


def bfloat16(x: ArrayLike) -> Floats:
    """``x`` as bfloat16 holds it: the upper 16 bits of its float32, rounded to nearest even.

    float64 numbers of the shape of ``x``. Like torch, it rounds to float32 first.
    """
    return rounded("bfloat16", x)


def rounded(dtype: Dtype, x: ArrayLike) -> Floats:
    """``x`` as ``dtype`` holds it, in float64 numbers of the shape of ``x``.

    Raises:
        InvalidParameterError: If a number is too large for ``dtype``.
    """
    params.one_of("dtype", dtype, DTYPES)
    numbers = params.numbers("x", x)
    with np.errstate(over="ignore", under="ignore"):
        if dtype == "bfloat16":
            bits = numbers.astype(np.float32).view(np.uint32)
            even = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
            held = (even & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
        else:
            held = numbers.astype(dtype).astype(np.float64)
    if not np.isfinite(held).all():
        raise params.InvalidParameterError(
            "x must be numbers that {dtype} can hold, got {got}",
            dtype=dtype,
            got=params.shown(float(numbers[~np.isfinite(held)][0])),
        )
    return np.asarray(held)


def last_exact_position(dtype: Dtype) -> int:
    """The position up to which ``dtype`` holds every one exactly: 256 in bfloat16."""
    params.one_of("dtype", dtype, DTYPES)
    return 1 << SIGNIFICANT_BITS[dtype]


def colliding_positions(dtype: Dtype, seq_len: int) -> NDArray[np.intp]:
    """Positions below ``seq_len`` that ``dtype`` rounds to the same number as another one there.

    Ascending; 256 and 257 are the first two in bfloat16.
    """
    positions = np.arange(params.whole("seq_len", seq_len, 1, LONGEST))
    _, group, size = np.unique(rounded(dtype, positions), return_inverse=True, return_counts=True)
    return np.flatnonzero(size[group] > 1)


def last_position(dtype: Dtype) -> int:
    """The last position that ``dtype`` holds at all, exactly or not: 65,519 in float16.

    From there on rounding leads past its largest number, to infinity.
    """
    params.one_of("dtype", dtype, DTYPES)
    bits, exponent = SIGNIFICANT_BITS[dtype], LARGEST_EXPONENT[dtype]
    return ((1 << (bits + 1)) - 1 << (exponent - bits)) - 1


def spacing(dtype: Dtype, position: int) -> int | None:
    """Tokens from the number that ``dtype`` holds for ``position`` to the next whole one it has.

    1 up to :func:`last_exact_position`, then twice as many from each power of two on. None at the
    largest number, 65,504 in float16.
    """
    held = int(_held_position(dtype, position))
    ahead = 1 << max(held.bit_length() - SIGNIFICANT_BITS[dtype], 0)
    return ahead if held + ahead <= last_position(dtype) else None


def sharing(dtype: Dtype, position: int) -> tuple[int, int]:
    """First and last position that ``dtype`` rounds to the same number as ``position``.

    Ties go to the even number, so it has a position more than its odd neighbours. bfloat16 rounds
    through float32, which from 2^24 on makes ties of the positions beside them too.
    """
    first, last = _sharing(dtype, int(_held_position(dtype, position)))
    return first, min(last, last_position(dtype))


def _sharing(dtype: Dtype, held: int) -> tuple[int, int]:
    bits = SIGNIFICANT_BITS[dtype]
    above = 1 << max(held.bit_length() - bits, 0)
    below = 1 << max((held - 1).bit_length() - bits, 0) if held else 1  # less below a power of two

    def tied(at: int) -> tuple[int, int]:
        return _sharing("float32", at) if dtype == "bfloat16" else (at, at)

    first = last = held
    if below > 1:
        start, end = tied(held - below // 2)
        first = end + 1 if held // below % 2 else start
    if above > 1:
        start, end = tied(held + above // 2)
        last = start - 1 if held // above % 2 else end
    return first, last


def distinct_positions(dtype: Dtype, seq_len: int) -> int:
    """How many different numbers ``dtype`` holds for the positions below ``seq_len``."""
    last = int(_held_position(dtype, params.whole("seq_len", seq_len, 1) - 1))
    bits, octave = SIGNIFICANT_BITS[dtype], last.bit_length() - 1
    if octave < bits:
        return last + 1
    within = last - (1 << octave) >> octave - bits + 1
    return (1 << bits) + (octave - bits << bits - 1) + within + 1


def _held_position(dtype: Dtype, position: int) -> float:
    return float(rounded(dtype, params.whole("position", position, 0)))


@dataclass(frozen=True)
class Casts:
    """What each step from a position to its cosine is held in.

    Attributes:
        positions: Dtype of the positions.
        inv_freq: Dtype of the frequencies.
        angles: Dtype of position x inv_freq.
        tables: Dtype of the cosine.
    """

    positions: Dtype = "float32"
    inv_freq: Dtype = "float32"
    angles: Dtype = "float32"
    tables: Dtype = "float32"

    def __post_init__(self) -> None:
        for dtype in (self.positions, self.inv_freq, self.angles, self.tables):
            params.one_of("dtype", dtype, DTYPES)


EXACT = Casts("float64", "float64", "float64", "float64")
"""No rounding that matters."""


def cast_angles(casts: Casts, positions: ArrayLike, inv_freq: ArrayLike) -> Floats:
    """Position x inv_freq, rounded as ``casts`` says, ``(*positions.shape, pairs)``, radians."""
    frequencies = rounded(casts.inv_freq, params.per_pair("inv_freq", inv_freq))
    held = rounded(casts.positions, params.numbers("positions", positions))
    with np.errstate(over="ignore"):
        return rounded(casts.angles, held[..., None] * frequencies)


def between_hands(angle: ArrayLike, other: ArrayLike) -> Floats:
    """Angle between the hands at two angles, from 0 to pi radians: whole turns do not count."""
    apart = params.numbers("angle", angle) - params.numbers("other", other)
    return np.asarray(np.abs(apart - 2 * np.pi * np.round(apart / (2 * np.pi))))


def cast_cosines(casts: Casts, positions: ArrayLike, inv_freq: ArrayLike) -> Floats:
    """Cosine of :func:`cast_angles`, held in ``casts.tables``, of the same shape.

    The function itself is exact; that of a library errs by about one last place of float32 more.
    """
    return rounded(casts.tables, np.cos(cast_angles(casts, positions, inv_freq)))


def worst_cosine_errors(casts: Casts, inv_freq: float, seq_lens: ArrayLike) -> Floats:
    """Largest error of one pair's cosine over the positions below each of ``seq_lens``.

    Args:
        casts: What the steps are held in.
        inv_freq: Frequency of the pair, radians per token.
        seq_lens: Lengths in tokens, ascending, from 1 to :data:`LONGEST`.
    """
    lengths = arrays.whole_numbers("seq_lens", seq_lens, 1, LONGEST)
    positions = np.arange(int(lengths.max()))
    errors = np.abs(
        cast_cosines(casts, positions, [inv_freq]) - np.cos(positions[:, None] * inv_freq)
    )
    return np.asarray(np.maximum.accumulate(errors[:, 0])[lengths - 1])


def angles(dtype: Dtype, positions: ArrayLike, inv_freq: ArrayLike) -> Floats:
    """Position x inv_freq with positions, frequencies and products held in ``dtype``.

    Shape ``(*positions.shape, rotary_dim // 2)``, radians. References use float32. In bfloat16, the
    error of early code, neighbouring positions far out share their angles.
    """
    return cast_angles(Casts(dtype, dtype, dtype), positions, inv_freq)


def cos_sin(
    dtype: Dtype,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    attention_factor: float = 1.0,
    *,
    angle_dtype: Dtype = "float32",
) -> tuple[Floats, Floats]:
    """Cos and sin of every angle as a model of ``dtype`` gets them, ``(..., rotary_dim // 2)``.

    As in Hugging Face: angles, cos, sin and their product with ``attention_factor`` in
    ``angle_dtype``, and only then the cast to ``dtype``.
    """
    params.one_of("dtype", dtype, DTYPES)
    size = rounded(angle_dtype, params.real("attention_factor", attention_factor, 0.0, above=True))
    turned_by = angles(angle_dtype, positions, inv_freq)
    cos, sin = (
        rounded(dtype, rounded(angle_dtype, rounded(angle_dtype, table) * size))
        for table in (np.cos(turned_by), np.sin(turned_by))
    )
    return cos, sin


def rotate_in(
    dtype: Dtype,
    x: ArrayLike,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    layout: Layout = "half",
    *,
    attention_factor: float = 1.0,
    angle_dtype: Dtype = "float32",
) -> Floats:
    """``x`` rotated as a model of ``dtype`` does it, every operation rounded to ``dtype``.

    Args:
        dtype: What vectors, cos and sin are held in.
        x: Vectors ``(..., head_dim)``; they are rounded to ``dtype`` first.
        positions: Positions in tokens, of a shape that broadcasts with ``x.shape[:-1]``.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.
        attention_factor: Factor on cos and sin.
        angle_dtype: What positions, frequencies and angles are held in: float32 in reference
            code, ``dtype`` in the bug of HF PR 29285.

    Returns:
        Vectors ``(..., head_dim)``: float64 numbers that ``dtype`` holds.

    Source:
        Hugging Face ``LlamaRotaryEmbedding``, ``apply_rotary_pos_emb``: ``q * cos`` and
        ``rotate_half(q) * sin``, then their sum. Cohere and DeepSeek rotate in float32 instead.
    """
    params.one_of("layout", layout, LAYOUTS)
    vectors = rounded(dtype, params.numbers("x", x))
    cos, sin = cos_sin(dtype, positions, inv_freq, attention_factor, angle_dtype=angle_dtype)
    rotated = turn(vectors, np.zeros_like(cos), layout)  # checks and broadcasts
    first, second = pair_slices(2 * cos.shape[-1], layout)
    a, b = vectors[..., first], vectors[..., second]

    def times(left: Floats, right: Floats) -> Floats:
        return rounded(dtype, left * right)

    with np.errstate(over="ignore"):
        rotated[..., first] = rounded(dtype, times(a, cos) + times(-b, sin))
        rotated[..., second] = rounded(dtype, times(b, cos) + times(a, sin))
    return rotated


def relative_scores(
    dtype: Dtype,
    q: ArrayLike,
    k: ArrayLike,
    positions: ArrayLike,
    distances: ArrayLike,
    inv_freq: ArrayLike,
    *,
    angle_dtype: Dtype = "float32",
) -> Floats:
    """Score of one query with one key behind it, at every position and distance.

    In float64 it is the same at every position: RoPE knows the distance alone.

    Args:
        dtype: What vectors, cos and sin are held in; products are summed in float64.
        q: Query ``(head_dim,)``.
        k: Key ``(head_dim,)``.
        positions: Of the query, whole numbers ``(n,)``.
        distances: How far behind it the key stands, whole numbers ``(m,)``; a key may stand before
            position 0.
        inv_freq: Frequency of each pair, ``(rotary_dim // 2,)``.
        angle_dtype: See :func:`rotate_in`.

    Returns:
        ``(n, m)``, not divided by the root of ``head_dim``.
    """
    stands = np.atleast_1d(arrays.whole_numbers("positions", positions, 0))
    behind = np.atleast_1d(arrays.whole_numbers("distances", distances, 0, LONGEST))
    places, index = np.unique(stands[:, None] - behind, return_inverse=True)
    queries, keys = (
        rotate_in(dtype, params.numbers(name, vector)[None], at, inv_freq, angle_dtype=angle_dtype)
        for name, vector, at in (("q", q, stands), ("k", k, places))
    )
    rows = np.arange(len(stands))[:, None]
    return np.asarray((queries @ keys.T)[rows, index.reshape(len(stands), len(behind))])
