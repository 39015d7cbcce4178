"""Learned position encoding: a table with one trained row per position, and no row past it.

Source: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning",
https://arxiv.org/abs/1705.03122, section 3.1; GPT-2's ``wpe`` (1,024 rows) and BERT's
``position_embeddings`` (512 rows). OPT and RoBERTa read the table two rows further down.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params

NO_ROW = (
    "position must be a whole number from {low} to {high}, got {got}: "
    "a learned table has no row for it"
)


def lookup(table: ArrayLike, positions: ArrayLike, offset: int = 0) -> NDArray[np.float64]:
    """Rows of the table at ``positions``, shape ``(*positions.shape, d_model)``.

    Args:
        table: Trained rows ``(rows, d_model)``.
        positions: Positions in tokens, whole numbers of any shape.
        offset: Rows before the one of position 0; 2 in OPT and RoBERTa.

    Raises:
        InvalidParameterError: If a position lies past the table: nothing was trained there, and
            nothing can be computed.
    """
    rows = arrays.entries("table", table, "rows", "d_model")
    offset = params.whole("offset", offset, 0, len(rows) - 1)
    places = arrays.whole_numbers("position", positions, 0, len(rows) - 1 - offset, NO_ROW)
    found: NDArray[np.float64] = rows[places + offset]
    return found


def interpolate(table: ArrayLike, seq_len: int) -> NDArray[np.float64]:
    """The table drawn out or squeezed to ``seq_len`` rows by straight lines between its rows.

    Corners are aligned: the first and the last row are kept, and row ``i`` is read at
    ``i * (rows - 1) / (seq_len - 1)``. The table's own length is the identity, bit for bit. One
    row keeps the first, as torch does. Nothing is extrapolated: each number lies between two
    trained ones. A squeezed table is sampled, not averaged.

    Args:
        table: Trained rows ``(rows, d_model)``.
        seq_len: New number of rows.

    Returns:
        float64 table ``(seq_len, d_model)``.

    Source:
        torch ``interpolate(mode="linear", align_corners=True)``; the idea in Dosovitskiy et al.
        2021, "An Image is Worth 16x16 Words", https://arxiv.org/abs/2010.11929, section 3.2.
    """
    rows = arrays.entries("table", table, "rows", "d_model")
    seq_len = params.whole("seq_len", seq_len, 1)
    arrays.check_count("seq_len and d_model", seq_len, rows.shape[1])
    # Whole numbers until the last division, so that a row met exactly is that row.
    steps = max(seq_len - 1, 1)
    below, rest = np.divmod(np.arange(seq_len) * (len(rows) - 1), steps)
    share = (rest / steps)[:, None]
    lower, upper = rows[below], rows[np.minimum(below + 1, len(rows) - 1)]
    between = lower * (1.0 - share) + upper * share
    return np.asarray(np.clip(between, np.minimum(lower, upper), np.maximum(lower, upper)))
