"""Learned position encoding: a table with one trained row per position, and no row past it.

Source: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning",
https://arxiv.org/abs/1705.03122, section 3.1; GPT-2's ``wpe`` (1,024 rows) and BERT's
``position_embeddings`` (512 rows). OPT and RoBERTa read the table two rows further down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import arrays, params

NO_ROW = (
    "position must be a whole number from {low} to {high}, got {got}: "
    "a learned table has no row for it"
)


@dataclass(frozen=True)
class Released:
    """Size of the table of a released model.

    Attributes:
        label: The model.
        rows: Of the table.
        offset: Rows before the one of position 0.
        source: Where it can be checked.
    """

    label: str
    rows: int
    offset: int
    source: str

    @property
    def positions(self) -> int:
        """Tokens that it can read."""
        return self.rows - self.offset


_HF = "https://github.com/huggingface/transformers/blob/main/src/transformers/models/"
RELEASED = {
    "bert": Released("BERT", 512, 0, f"{_HF}bert/configuration_bert.py"),
    "gpt2": Released("GPT-2", 1024, 0, "https://github.com/openai/gpt-2/blob/master/src/model.py"),
    # Rows 0 and 1 are skipped: positions are counted from padding_idx + 1, which is 2.
    "roberta": Released("RoBERTa", 514, 2, f"{_HF}roberta/modeling_roberta.py"),
    "opt": Released("OPT", 2050, 2, f"{_HF}opt/modeling_opt.py"),
}
"""Learned tables that were released, by a short name."""


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


def row_of(position: int, rows: int, offset: int = 0) -> int:
    """Number of the row that :func:`lookup` reads for ``position`` in a table of ``rows`` rows.

    Args:
        position: In tokens, from 0.
        rows: Of the table, those before position 0 included.
        offset: Rows before the one of position 0.

    Raises:
        InvalidParameterError: The one of :func:`lookup`, if there is no such row.
    """
    rows = params.whole("rows", rows, 1)
    offset = params.whole("offset", offset, 0, rows - 1)
    return offset + int(arrays.whole_numbers("position", position, 0, rows - 1 - offset, NO_ROW))


def read_at(seq_len: int, rows: int) -> NDArray[np.float64]:
    """Where :func:`interpolate` reads the table for each new row, ``(seq_len,)``, in old rows.

    Position ``p`` reads at ``p * (rows - 1) / (seq_len - 1)``, a whole number where it meets a
    trained row; the only position of a table of length 1 reads the first.

    Args:
        seq_len: New number of rows.
        rows: Trained number of rows.
    """
    seq_len, rows = params.whole("seq_len", seq_len, 1), params.whole("rows", rows, 1)
    arrays.check_count("seq_len", seq_len)
    return np.asarray(np.arange(seq_len) * (rows - 1) / max(seq_len - 1, 1))


def similarity(table: ArrayLike, row: int | None = None) -> NDArray[np.float64]:
    """Cosine similarity of each row to each other, ``(rows, rows)``, from -1 to 1.

    A row of zeros, as a padding row is, is like nothing: 0, to itself too.

    Args:
        table: Rows ``(rows, d_model)``.
        row: If given, only that row's similarity to each, ``(rows,)``.
    """
    unit = _unit_rows(table)
    if row is not None:
        one = unit[params.whole("row", row, 0, len(unit) - 1)]
        return np.asarray(np.clip(unit @ one, -1.0, 1.0))
    arrays.check_count("rows and rows", len(unit), len(unit))
    return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))


def neighbour_similarity(table: ArrayLike) -> NDArray[np.float64]:
    """Cosine similarity of each row to the next, ``(rows - 1,)``.

    Args:
        table: Two or more rows ``(rows, d_model)``.
    """
    unit = _unit_rows(table)
    params.whole("rows", len(unit), 2)
    return np.asarray(np.clip((unit[:-1] * unit[1:]).sum(axis=1), -1.0, 1.0))


def nearest(table: ArrayLike, row: int) -> int:
    """The other row with the highest cosine similarity to ``row``, the first if there are several.

    Args:
        table: Two or more rows ``(rows, d_model)``.
        row: Which one, from 0.
    """
    alike = similarity(table, row)
    params.whole("rows", len(alike), 2)
    alike[row] = -np.inf
    return int(alike.argmax())


def row_sizes(table: ArrayLike) -> NDArray[np.float64]:
    """Euclidean length of each row, ``(rows,)``; of a difference of tables, how far each moved.

    Args:
        table: Rows ``(rows, d_model)``.
    """
    return np.asarray(
        np.linalg.norm(arrays.entries("table", table, "rows", "d_model"), axis=1), np.float64
    )


def gaps(table: ArrayLike) -> NDArray[np.float64]:
    """Euclidean distance between each row and the next, ``(rows - 1,)``.

    Args:
        table: Two or more rows ``(rows, d_model)``.
    """
    found = arrays.entries("table", table, "rows", "d_model")
    params.whole("rows", len(found), 2)
    return row_sizes(np.diff(found, axis=0))


def _unit_rows(table: ArrayLike) -> NDArray[np.float64]:
    """Rows of length 1, or of zeros."""
    found = arrays.entries("table", table, "rows", "d_model")
    # Divided by the largest entry first: squares of tiny ones would vanish.
    largest = np.abs(found).max(axis=1, keepdims=True)
    found = found / np.where(largest == 0.0, 1.0, largest)
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(size == 0.0, 1.0, size))
