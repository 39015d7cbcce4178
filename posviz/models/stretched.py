"""A learned model read past its table: with the table interpolated to more rows, nothing trained.

What it loses, and where the head that looked at the token before now looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from posviz import learned, measured, params
from posviz.models import checkpoint, evaluate
from posviz.models.tables import Looks, Loss
from posviz.models.transformer import Decoder

FURTHEST = 12
"""Tokens back up to which a head's weight is told."""
_FIRST = 2 * FURTHEST  # query of the mean: before it there are few tokens to look at


def decoder(name: str, seq_len: int, folder: Path = checkpoint.TRAINED) -> Decoder:
    """The trained model of that name with its table interpolated to ``seq_len`` rows.

    Raises:
        InvalidParameterError: If there is no such model, or it has no table of positions.
    """
    model = evaluate.decoder(name, folder)
    setting = model.positions.setting
    params.one_of("encoding", setting.encoding, ("learned",))
    seq_len = params.whole("seq_len", seq_len, 1, evaluate.LONGEST)
    weights = model.state_dict()
    table = learned.interpolate(weights["positions.table"].numpy(), seq_len)
    longer = Decoder(replace(model.shape, max_len=seq_len), setting)
    longer.load_state_dict({**weights, "positions.table": torch.tensor(table).float()})
    return longer.eval().requires_grad_(False)


def losses(
    name: str,
    seq_len: int,
    counts: Sequence[int] = (4, 16),
    folder: Path = checkpoint.TRAINED,
) -> Iterator[Loss]:
    """Loss of the model so read, up to ``seq_len`` tokens, from more and more documents.

    The lengths, documents and floors are those of ``evaluate.curve``: at the table's own length,
    16 documents give its numbers.

    Args:
        name: Of the model.
        seq_len: Rows that the table is interpolated to, at least the shortest measured length.
        counts: Documents after which there is an answer, ascending.
        folder: Where the checkpoint and ``curves.json`` with the floor are.
    """
    model = decoder(name, params.whole("seq_len", seq_len, measured.LENGTHS[0]), folder)
    lengths = tuple(length for length in measured.LENGTHS if length <= seq_len)
    floors = measured.floor(lengths, folder / measured.CURVES.name)
    read: list[NDArray[np.float64]] = []
    done = 0
    for count in counts:
        texts = evaluate.documents(params.whole("count", count, done + 1), lengths[-1])
        read.append(evaluate.nats(model, texts.tokens[done:count]) - texts.floor[done:count])
        done, excess = count, np.concatenate([*read])
        means = [excess[:, measured.bin_start(length) : length].mean() for length in lengths]
        yield Loss(lengths, count, floors + means)


def looks(name: str, seq_len: int, folder: Path = checkpoint.TRAINED) -> Looks:
    """Where the head of the token before looks with a table of ``seq_len`` rows.

    Means over the queries of one document within the trained context, up to :data:`FURTHEST` back.

    Args:
        name: Of the model.
        seq_len: At least the trained context.
        folder: Where the checkpoint is.
    """
    model = evaluate.decoder(name, folder)
    length = model.shape.max_len
    longer = decoder(name, params.whole("seq_len", seq_len, length), folder)
    before, after = _by_distance(model, length), _by_distance(longer, length)
    layer, head = np.unravel_index(before[:, :, 1].argmax(), before.shape[:2])
    return Looks(int(layer), int(head), before[layer, head], after[layer, head])


@torch.inference_mode()
def _by_distance(model: Decoder, length: int) -> NDArray[np.float64]:
    """Mean weight, ``(num_layers, num_heads, FURTHEST + 1)``."""
    tokens = torch.tensor(evaluate.documents(1, length).tokens[0, :length])
    queries = torch.arange(_FIRST, length)
    weights = model.attention_rows(tokens, queries)
    back = queries[:, None] - torch.arange(FURTHEST + 1)
    found = weights.gather(-1, back.expand(*weights.shape[:3], -1))
    return np.asarray(found.double().mean(dim=2).numpy())
