"""Sinusoidal position encoding: a sine and a cosine per frequency, added to the embedding.

Source: Vaswani et al. 2017, "Attention Is All You Need", https://arxiv.org/abs/1706.03762,
section 3.5. tensor2tensor's ``get_timing_signal_1d`` (layers/common_attention.py) puts all
sines before all cosines and spaces the frequencies from 1 to 1/base inclusive; the paper's
formula never reaches 1/base. fairseq copies tensor2tensor, Transformer-XL and Hugging Face's
RoFormer keep the paper's frequencies in halves. Each is in :data:`VARIANTS` by name.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params, rope

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


def dot_product(
    distance: ArrayLike, d_model: int, base: float = BASE, spacing: Spacing = "paper"
) -> NDArray[np.float64]:
    """Dot product of two encodings ``distance`` tokens apart: symmetric, ``d_model / 2`` at 0.

    ``PE[p] . PE[p + k]`` is the sum of ``cos(k * inv_freq)``; it does not depend on ``p``.
    """
    frequencies = inv_freq(params.even("d_model", d_model), base, spacing)
    angles = params.numbers("distance", distance)[..., None] * frequencies
    total: NDArray[np.float64] = np.cos(angles).sum(axis=-1)
    return total


def longest_wavelength(base: float = BASE) -> float:
    """``2 pi base``, tokens: where tensor2tensor's wavelengths end and the paper's never arrive."""
    return 2.0 * math.pi * params.real("base", base, 1.0, above=True)


def columns(
    d_model: int, layout: Layout = "interleaved"
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns of the sines and of the cosines, by pair: two arrays ``(d_model // 2,)``."""
    pairs = _paired(d_model) // 2
    params.one_of("layout", layout, LAYOUTS)
    first, second = _columns(pairs, pairs, layout)
    every = np.arange(2 * pairs)
    return every[first], every[second]


# The counter. A bit of a binary counter and the sign of a sine are both square waves.


def bits(numbers: ArrayLike, count: int) -> NDArray[np.int64]:
    """Binary digits of whole numbers of at least 0, lowest first, ``(*numbers.shape, count)``."""
    count = params.whole("count", count, 1, 53)
    counted = arrays.whole_numbers("numbers", numbers, 0, 2**53)
    return np.asarray(counted[..., None] >> np.arange(count) & 1, np.int64)


def bit_waves(positions: ArrayLike, count: int) -> NDArray[np.float64]:
    """Sines of the bits' periods 2, 4, 8, ..., read half a token on, ``(*positions.shape, count)``.

    ``sin(2 pi (p + 1/2) / 2**(i + 1))`` is below 0 exactly where bit i of the whole number p is 1.
    The half token matters: without it the sine is 0 wherever the bit changes, and bit 0's always.
    """
    count = params.whole("count", count, 1, 53)
    place = params.numbers("positions", positions)[..., None] + 0.5
    return np.asarray(np.sin(np.pi * place / 2.0 ** np.arange(count)))


def bit_periods(count: int) -> NDArray[np.int64]:
    """Tokens after which each bit of a counter repeats, lowest first: 2, 4, 8, ..."""
    return np.asarray(2 << np.arange(params.whole("count", count, 1, 53)), np.int64)


def sign_bits(
    positions: ArrayLike, d_model: int, base: float = BASE, spacing: Spacing = "paper"
) -> NDArray[np.int64]:
    """1 where the sine of a pair is below 0, ``(*positions.shape, d_model // 2)``.

    From position 0 on that is the parity of ``floor(p * inv_freq / pi)``. Where each pair is twice
    as slow as the one before (:func:`base_of_ratio`), bit i is therefore binary digit i of
    ``floor(p / pi)``: a counter that counts half turns of the fastest pair, not tokens.
    """
    waves = encoding(positions, _paired(d_model), base, "halves", spacing)
    return np.asarray(waves[..., : d_model // 2] < 0.0, np.int64)


def half_turns(positions: ArrayLike) -> NDArray[np.int64]:
    """``floor(p / pi)``: half turns that the fastest pair has completed."""
    places = params.numbers("positions", positions, 0.0)
    if (places > params.LARGEST).any():
        raise params.InvalidParameterError(
            arrays.ENTRIES, name="positions", low=params.shown(0),
            high=params.shown(params.LARGEST), got=params.shown(float(places.max())),
        )  # fmt: skip
    return np.asarray(np.floor(places / np.pi), np.int64)


def ratio(d_model: int, base: float = BASE, spacing: Spacing = "paper") -> float:
    """How many times slower each pair is than the one before: ``base**(2 / d_model)``.

    tensor2tensor's spacing: ``base**(1 / (d_model / 2 - 1))``; of a single pair, ``base``.
    """
    return float(params.real("base", base, 1.0, above=True) ** (1.0 / _steps(d_model, spacing)))


def base_of_ratio(ratio: float, d_model: int, spacing: Spacing = "paper") -> float:
    """The base with which each pair is ``ratio`` times slower than the one before."""
    steps = _steps(d_model, spacing)
    highest = sys.float_info.max ** (1.0 / steps)
    return float(params.real("ratio", ratio, 1.0, highest, above=True) ** steps)


def _steps(d_model: int, spacing: Spacing) -> int:
    """How many ratios between two pairs make up the base."""
    pairs = _paired(d_model) // 2
    if params.one_of("spacing", spacing, ("paper", "tensor2tensor")) == "paper":
        return pairs
    return max(pairs - 1, 1)


# Past the trained length.


def never_completed(
    trained: int, d_model: int, base: float = BASE, spacing: Spacing = "paper"
) -> NDArray[np.bool_]:
    """Which pairs make less than one turn within ``trained`` tokens, ``(d_model // 2,)``.

    Their angles past the trained length are new ones; the others have been all the way round.
    """
    trained = params.whole("trained", trained, 1)
    return np.asarray(rope.turns(inv_freq(_paired(d_model), base, spacing), trained) < 1.0)


def likeness_to_trained(
    positions: ArrayLike, trained: int, d_model: int, base: float = BASE, spacing: Spacing = "paper"
) -> NDArray[np.float64]:
    """Cosine of each position's row with the row of training that is most like it.

    Rows are all of length ``sqrt(d_model / 2)``, so it is their dot product over ``d_model / 2``;
    1 at the ``trained`` positions ``0 .. trained - 1``.

    Args:
        positions: Whole positions ``(count,)``, or one.
        trained: Tokens of the trained length.
        d_model: Columns, an even number.
        base: Base of the frequencies, above 1.
        spacing: Which frequencies, see :func:`inv_freq`.
    """
    place = arrays.whole_numbers("positions", positions, 0)
    trained = params.whole("trained", trained, 1)
    arrays.check_count("positions and trained", place.size, trained)
    furthest = max(int(place.max(initial=0)), trained)
    frequencies = inv_freq(_paired(d_model), base, spacing)
    likeness = rope.cosine_sums(frequencies, furthest + 1) / len(frequencies)
    # Row p stands p - trained + 1 to p tokens from the rows of training.
    windows = np.lib.stride_tricks.sliding_window_view(likeness, trained)
    found = np.ones(place.shape)
    new = place >= trained
    found[new] = windows[place[new] - trained + 1].max(axis=-1)
    return found


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
