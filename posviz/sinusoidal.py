"""Sinusoidal position encoding: a sine and a cosine per frequency, added to the embedding.

Source: Vaswani et al. 2017, "Attention Is All You Need", https://arxiv.org/abs/1706.03762,
section 3.5. tensor2tensor's ``get_timing_signal_1d`` (layers/common_attention.py) puts all
sines before all cosines and spaces the frequencies from 1 to 1/base inclusive; the paper's
formula never reaches 1/base. Both are here by name.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import params

Layout = Literal["interleaved", "halves"]
Spacing = Literal["paper", "tensor2tensor"]
BASE = 10_000.0


def inv_freq(d_model: int, base: float = BASE, spacing: Spacing = "paper") -> NDArray[np.float64]:
    """Frequency of each sine in radians per token, fastest first, shape ``(ceil(d_model / 2),)``.

    ``spacing="paper"``: ``base**(-2i / d_model)``. ``spacing="tensor2tensor"``: geometric from 1
    to ``1 / base``, both included, shape ``(d_model // 2,)``.
    """
    d_model = params.whole("d_model", d_model, 1)
    base = params.real("base", base, 1.0, above=True)
    if params.one_of("spacing", spacing, ("paper", "tensor2tensor")) == "paper":
        return base ** (-2.0 * np.arange((d_model + 1) // 2) / d_model)
    pairs = d_model // 2
    return base ** (-np.arange(pairs) / max(pairs - 1, 1))


def table(
    seq_len: int,
    d_model: int,
    base: float = BASE,
    layout: Layout = "interleaved",
    spacing: Spacing = "paper",
) -> NDArray[np.float64]:
    """Encoding of positions ``0 .. seq_len - 1``, shape ``(seq_len, d_model)``.

    Args:
        seq_len: Positions, in tokens.
        d_model: Columns. If odd, the paper's formula has one sine more than cosines;
            tensor2tensor pads a column of zeros.
        base: Base of the frequencies.
        layout: ``interleaved`` (paper: sine and cosine of a frequency side by side) or
            ``halves`` (all sines, then all cosines: Transformer-XL, fairseq, tensor2tensor).
        spacing: Which frequencies, see :func:`inv_freq`.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    frequencies = inv_freq(d_model, base, spacing)
    params.one_of("layout", layout, ("interleaved", "halves"))
    angles = np.arange(seq_len)[:, None] * frequencies  # (seq_len, pairs)
    sines, cosines = np.sin(angles), np.cos(angles)
    encoding = np.zeros((seq_len, d_model))
    if layout == "interleaved":
        encoding[:, 0 : 2 * len(frequencies) : 2] = sines
        encoding[:, 1::2] = cosines[:, : d_model // 2]
    else:
        encoding[:, : len(frequencies)] = sines
        rest = cosines[:, : d_model // 2]
        encoding[:, len(frequencies) : len(frequencies) + rest.shape[1]] = rest
    return encoding


def dot_product(distance: ArrayLike, d_model: int, base: float = BASE) -> NDArray[np.float64]:
    """Dot product of two encodings ``distance`` tokens apart: symmetric, ``d_model / 2`` at 0.

    ``PE[p] . PE[p + k]`` is the sum of ``cos(k * inv_freq)``; it does not depend on ``p``.
    """
    frequencies = inv_freq(params.even("d_model", d_model), base)
    angles = params.numbers("distance", distance)[..., None] * frequencies
    total: NDArray[np.float64] = np.cos(angles).sum(axis=-1)
    return total
