"""What is measured of a copying model while a page waits; kept, as a visitor comes back to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from posviz import measured
from posviz.measured import Accuracy
from posviz.models import copying, evaluate
from posviz.models.positions import Setting

_QUERIES = 32  # of a row, evenly spaced, whose attention is averaged


def growing(name: str, setting: Setting, counts: Sequence[int]) -> Iterator[Accuracy]:
    """Copy accuracy, length by length; then again with more rows, which replace the first ones.

    Args:
        name: Of the model.
        setting: How it is read.
        counts: Rows at each length, ascending from at least 2. What is yielded tells the smaller
            count until every length has been read with the larger one.
    """
    found: dict[int, tuple[float, float]] = {}
    for before, rows in pairwise((counts[0], *counts)):
        for length in measured.COPY_LENGTHS:
            found[length] = _accuracy(name, setting, length, rows)
            done = rows if length == measured.COPY_LENGTHS[-1] else before
            yield Accuracy(tuple(found), done, *np.array(list(found.values())).T)


@lru_cache(maxsize=1024)
def _accuracy(name: str, setting: Setting, length: int, rows: int) -> tuple[float, float]:
    """Accuracy at one length and its standard error."""
    one = evaluate.copy_accuracy(name, setting, (length,), rows)
    return float(one.accuracy[0]), float(one.error[0])


@lru_cache(maxsize=256)
@torch.inference_mode()
def shares(name: str, setting: Setting, length: int) -> NDArray[np.float64]:
    """Mean share of weight that each head puts on the token to copy, ``(num_layers, num_heads)``.

    Over tokens of the second row, each of which is followed by the symbol ``n`` tokens back, ``n``
    being the symbols of a row.
    """
    model = evaluate.decoder(name)
    symbols = copying.symbols_in(length)
    queries = np.linspace(symbols + 1, 2 * symbols, min(_QUERIES, symbols)).round().astype(np.int64)
    rows = model.attention_rows(
        torch.from_numpy(_row(length)),
        torch.from_numpy(queries),
        model.positions.with_setting(setting),
    )
    found = rows[:, :, torch.arange(len(queries)), torch.from_numpy(queries - symbols)]
    return np.asarray(found.double().mean(-1).numpy())


@lru_cache(maxsize=64)
def attention(
    name: str, setting: Setting, length: int, layer: int, head: int, size: int
) -> NDArray[np.float32]:
    """Attention map of one head over a row and its copy, as :func:`evaluate.attention_map`."""
    return evaluate.attention_map(name, _row(length), layer, head, setting, size)


def _row(length: int) -> NDArray[np.uint8]:
    """The first evaluated sequence of that length, but for its last symbol, which asks nothing."""
    rng = np.random.default_rng((evaluate.EVALUATION_SEED, length, 0))
    return copying.batch(rng, 1, copying.symbols_in(length))[0, :-1]
