"""Sinusoidal position encoding: a sine and a cosine per frequency, added to the embedding.

Source: Vaswani et al. 2017, "Attention Is All You Need", https://arxiv.org/abs/1706.03762,
section 3.5. tensor2tensor's ``get_timing_signal_1d`` (layers/common_attention.py) puts all
sines before all cosines and spaces the frequencies from 1 to 1/base inclusive; the paper's
formula never reaches 1/base. fairseq copies tensor2tensor, Transformer-XL and Hugging Face's
RoFormer keep the paper's frequencies in halves. Each is in :data:`VARIANTS` by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params

Layout = Literal["interleaved", "halves"]
Spacing = Literal["paper", "tensor2tensor"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "halves")
BASE = 10_000.0


def inv_freq(d_model: int, base: float = BASE, spacing: Spacing = "paper") -> NDArray[np.float64]:
    """Frequency of each sine in radians per token, fastest first, shape ``(ceil(d_model / 2),)``.

    ``spacing="paper"``: ``base**(-2i / d_model)``. ``spacing="tensor2tensor"``: geometric from 1
    to ``1 / base``, both included, shape ``(d_model // 2,)``.
    """
    d_model = params.whole("d_model", d_model, 1)
    arrays.check_count("d_model", d_model)
    base = params.real("base", base, 1.0, above=True)
    if params.one_of("spacing", spacing, ("paper", "tensor2tensor")) == "paper":
        return base ** (-2.0 * np.arange((d_model + 1) // 2) / d_model)
    pairs = d_model // 2
    return base ** (-np.arange(pairs) / max(pairs - 1, 1))


def encoding(
    positions: ArrayLike,
    d_model: int,
    base: float = BASE,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> NDArray[np.float64]:
    """Encoding of any positions, shape ``(*positions.shape, d_model)``.

    Args:
        positions: Positions in tokens, of any shape; between two tokens and before the first too.
        d_model: Columns. If odd, the paper's formula has one sine more than cosines;
            tensor2tensor pads a column of zeros.
        base: Base of the frequencies, above 1.
        layout: ``interleaved`` (paper: sine and cosine of a frequency side by side) or
            ``halves`` (all sines, then all cosines: Transformer-XL, fairseq, tensor2tensor).
        spacing: Which frequencies, see :func:`inv_freq`.

    Raises:
        InvalidParameterError: If a position is not finite or the array would fit no memory.
    """
    place = params.numbers("positions", positions)
    d_model = params.whole("d_model", d_model, 1)
    params.one_of("layout", layout, LAYOUTS)
    arrays.check_count("positions and d_model", place.size, d_model)
    angles = place[..., None] * inv_freq(d_model, base, spacing)  # (..., pairs)
    sines, cosines = np.sin(angles), np.cos(angles)[..., : d_model // 2]
    first, second = _columns(sines.shape[-1], cosines.shape[-1], layout)
    found = np.zeros((*place.shape, d_model))
    found[..., first] = sines
    found[..., second] = cosines
    return found


def table(
    seq_len: int,
    d_model: int,
    base: float = BASE,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> NDArray[np.float64]:
    """Encoding of positions ``0 .. seq_len - 1``, shape ``(seq_len, d_model)``.

    The arguments after ``seq_len`` are those of :func:`encoding`.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    d_model = params.whole("d_model", d_model, 1)
    arrays.check_count("seq_len and d_model", seq_len, d_model)
    return encoding(np.arange(seq_len), d_model, base, layout, spacing)


@dataclass(frozen=True)
class Variant:
    """What an implementation makes of the formula.

    Attributes:
        layout: How sines and cosines are ordered.
        spacing: How the frequencies are spaced.
        first_position: Position of the first token. fairseq begins one past its padding index,
            which is 1 in its dictionaries.
    """

    layout: Layout
    spacing: Spacing
    first_position: int = 0


VARIANTS = {
    "paper": Variant("interleaved", "paper"),
    "tensor2tensor": Variant("halves", "tensor2tensor"),
    "fairseq": Variant("halves", "tensor2tensor", first_position=2),
    "transformer_xl": Variant("halves", "paper"),
    "roformer": Variant("halves", "paper"),
}


def variant_table(
    variant: str, seq_len: int, d_model: int, base: float = BASE
) -> NDArray[np.float64]:
    """Encoding of the first ``seq_len`` tokens as an implementation of :data:`VARIANTS` has it.

    Shape ``(seq_len, d_model)``. fairseq divides by ``d_model // 2 - 1`` where tensor2tensor has
    a guard, so it has no table for a ``d_model`` of 2 or 3; this gives tensor2tensor's there.

    Source:
        tensor2tensor ``get_timing_signal_1d``; fairseq ``SinusoidalPositionalEmbedding`` and
        ``make_positions``; kimiyoung/transformer-xl ``PositionalEmbedding``; Hugging Face
        ``RoFormerSinusoidalPositionalEmbedding``.
    """
    made = VARIANTS[params.one_of("variant", variant, tuple(VARIANTS))]
    seq_len = params.whole("seq_len", seq_len, 1)
    d_model = params.whole("d_model", d_model, 1)
    arrays.check_count("seq_len and d_model", seq_len, d_model)
    positions = made.first_position + np.arange(seq_len)
    return encoding(positions, d_model, base, made.layout, made.spacing)


def shift_matrix(
    k: int,
    d_model: int,
    base: float = BASE,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> NDArray[np.float64]:
    """M_k, the rotation with ``PE[p + k] = M_k @ PE[p]`` at every position p.

    Each pair of sine and cosine turns by ``k * inv_freq``, whatever p is. An odd ``d_model`` has
    no such matrix: its last sine has no cosine, and ``sin((p + k) w)`` needs ``cos(p w)``.

    Args:
        k: Shift in tokens, negative for a shift back.
        d_model: Columns of the table, an even number.
        base: Base of the frequencies, above 1.
        layout: Layout of the table that the matrix shifts.
        spacing: Frequencies of the table that the matrix shifts.

    Returns:
        Orthogonal matrix ``(d_model, d_model)``; ``M_0`` is the identity, ``M_-k`` the transpose.

    Raises:
        InvalidParameterError: If ``d_model`` is odd or ``k`` is no whole number.

    Source:
        Vaswani et al. 2017, section 3.5: "for any fixed offset k, PE_{pos+k} can be represented
        as a linear function of PE_pos".
    """
    k = params.whole("k", k, -params.LARGEST, params.LARGEST)
    d_model = _paired(d_model)
    params.one_of("layout", layout, LAYOUTS)
    arrays.check_count("d_model and d_model", d_model, d_model)
    angles = k * inv_freq(d_model, base, spacing)  # (pairs,)
    first, second = _columns(len(angles), len(angles), layout)
    columns = np.arange(d_model)
    sine, cosine = columns[first], columns[second]
    matrix = np.zeros((d_model, d_model))
    matrix[sine, sine] = matrix[cosine, cosine] = np.cos(angles)
    matrix[sine, cosine] = np.sin(angles)
    matrix[cosine, sine] = -np.sin(angles)
    return matrix


def shift_residual(
    k: int,
    seq_len: int,
    d_model: int,
    base: float = BASE,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> NDArray[np.float64]:
    """Largest entry of ``|PE[p + k] - M_k @ PE[p]|`` at each p in ``0 .. seq_len - 1``.

    Shape ``(seq_len,)``. The identity is exact, so this is float64 rounding of the angles: of
    the size of ``(p + |k|) * 1e-16``.
    """
    matrix = shift_matrix(k, d_model, base, layout, spacing)
    here = table(seq_len, d_model, base, layout, spacing)
    there = encoding(np.arange(seq_len) + int(k), d_model, base, layout, spacing)
    residual: NDArray[np.float64] = np.abs(there - here @ matrix.T).max(axis=-1)
    return residual


def dot_product(distance: ArrayLike, d_model: int, base: float = BASE) -> NDArray[np.float64]:
    """Dot product of two encodings ``distance`` tokens apart: symmetric, ``d_model / 2`` at 0.

    ``PE[p] . PE[p + k]`` is the sum of ``cos(k * inv_freq)``; it does not depend on ``p``.
    """
    frequencies = inv_freq(params.even("d_model", d_model), base)
    angles = params.numbers("distance", distance)[..., None] * frequencies
    total: NDArray[np.float64] = np.cos(angles).sum(axis=-1)
    return total


def _columns(sines: int, cosines: int, layout: Layout) -> tuple[slice, slice]:
    """Where the sines and the cosines stand."""
    if layout == "interleaved":
        return slice(0, 2 * sines, 2), slice(1, 2 * cosines, 2)
    return slice(0, sines), slice(sines, sines + cosines)


def _paired(d_model: int) -> int:
    """``d_model`` if each of its sines has a cosine."""
    d_model = params.whole("d_model", d_model, 2)
    if d_model % 2:
        raise params.InvalidParameterError(
            "d_model must be even, because the last sine of an odd width has no cosine to turn "
            "with, so that no shift matrix exists, got {got}",
            got=params.shown(d_model),
        )
    return d_model
