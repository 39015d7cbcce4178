"""RoPE in fewer bits: what float32, bfloat16 and float16 make of positions, angles and vectors.

Every dtype is emulated: a float64 number rounded to the nearest one that the dtype holds (ties to
even), operation by operation. Reference code takes positions and frequencies in float32 whatever
the model's dtype, because bfloat16 has 8 significant bits: 257 becomes 256 (Hugging Face PR 29285).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params
from posviz.rope import LAYOUTS, Layout, pair_slices, turn

Dtype = Literal["float64", "float32", "bfloat16", "float16"]
DTYPES: tuple[Dtype, ...] = ("float64", "float32", "bfloat16", "float16")

SIGNIFICANT_BITS: dict[Dtype, int] = {"float64": 53, "float32": 24, "bfloat16": 8, "float16": 11}
"""Bits of the significand, the leading 1 included."""

LONGEST = 1 << 22
"""Tokens up to which colliding positions are listed."""


def bfloat16(x: ArrayLike) -> NDArray[np.float64]:
    """``x`` as bfloat16 holds it: the upper 16 bits of its float32, rounded to nearest even.

    float64 numbers of the shape of ``x``. Like torch, it rounds to float32 first.
    """
    return rounded("bfloat16", x)


def rounded(dtype: Dtype, x: ArrayLike) -> NDArray[np.float64]:
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


def angles(dtype: Dtype, positions: ArrayLike, inv_freq: ArrayLike) -> NDArray[np.float64]:
    """Position x inv_freq with positions, frequencies and products held in ``dtype``.

    Shape ``(*positions.shape, rotary_dim // 2)``, radians. References use float32. In bfloat16, the
    error of early code, neighbouring positions far out share their angles.
    """
    frequencies = rounded(dtype, params.per_pair("inv_freq", inv_freq))
    held = rounded(dtype, params.numbers("positions", positions))
    with np.errstate(over="ignore"):
        return rounded(dtype, held[..., None] * frequencies)


def cos_sin(
    dtype: Dtype,
    positions: ArrayLike,
    inv_freq: ArrayLike,
    attention_factor: float = 1.0,
    *,
    angle_dtype: Dtype = "float32",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
) -> NDArray[np.float64]:
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

    def times(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        return rounded(dtype, left * right)

    with np.errstate(over="ignore"):
        rotated[..., first] = rounded(dtype, times(a, cos) + times(-b, sin))
        rotated[..., second] = rounded(dtype, times(b, cos) + times(a, sin))
    return rotated
