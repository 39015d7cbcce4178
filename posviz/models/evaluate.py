"""What the trained models do: loss by context, copying, and where their heads look."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from posviz import measured, params
from posviz.measured import Accuracy, Curve
from posviz.models import checkpoint, copying, names
from posviz.models.positions import Positions, Setting
from posviz.models.transformer import Decoder, Shape

EVALUATION_SEED = 2 * 10**9
"""Draws the documents; no training reaches it."""
LONGEST = 4096
"""Characters of a whole document."""

_AT_ONCE = 2 * LONGEST  # tokens read at once, which bounds memory
_WEIGHTS_AT_ONCE = 2**23  # attention weights held at once: 32 MB


@lru_cache(maxsize=32)
def decoder(name: str, folder: Path = checkpoint.TRAINED) -> Decoder:
    """The trained model of that name, float32, loaded once; only to be read.

    Raises:
        InvalidParameterError: If there is none, or its weights do not fit its card.
    """
    stored = checkpoint.load(name, folder)
    try:
        shape = Shape(**stored.card["shape"])
        setting = Setting(stored.card["encoding"], stored.card["rope_theta"])
        model = Decoder(shape, setting)
        model.load_state_dict(
            {key: torch.tensor(array).float() for key, array in stored.weights.items()}
        )
    except (KeyError, TypeError, RuntimeError) as problem:
        raise params.InvalidParameterError(
            "checkpoint must hold the model that its card tells of, got {got}: {reason}",
            got=f"{name}.safetensors", reason=str(problem).splitlines()[0],
        ) from problem  # fmt: skip
    return model.eval().requires_grad_(False)


def read_with(
    name: str, method: str = "default", factor: float = 1.0, folder: Path = checkpoint.TRAINED
) -> Setting:
    """Setting of a trained model, read with one of ``measured.METHODS``."""
    model = decoder(name, folder)
    setting = model.positions.setting
    params.one_of("method", method, measured.METHODS)
    if method == "default":
        return setting
    if method == "slopes":
        if setting.encoding not in ("alibi", "rope_alibi"):
            raise _unfit("an encoding with ALiBi", setting)
        return replace(setting, slope_multiplier=factor)
    if not setting.rotates:
        raise _unfit("an encoding with RoPE", setting)
    return replace(setting, scaling=measured.scaling(method, factor, model.shape.max_len))


def _unfit(allowed: str, setting: Setting) -> params.InvalidParameterError:
    return params.InvalidParameterError(
        "this method needs {allowed}, got {got}", allowed=allowed, got=setting.encoding
    )


@dataclass(frozen=True, eq=False)
class Documents:
    """Texts of the names language, with what is known of each character.

    Attributes:
        tokens: ``(n, length + 1)``, uint8, the start token first.
        floor: Nats that the best possible reader needs, ``(n, length)``, float64.
        kinds: :class:`names.Kind` of each character, ``(n, length)``, int8.
    """

    tokens: NDArray[np.uint8]
    floor: NDArray[np.float64]
    kinds: NDArray[np.int8]


def document(number: int) -> Documents:
    """Document ``number`` of the set, alone and whole."""
    text = names.document(np.random.default_rng((EVALUATION_SEED, number)), LONGEST)
    floor, kinds = names.floor(text)
    return Documents(names.tokens([text]), floor[None], kinds[None])


@lru_cache(maxsize=8)
def documents(count: int, length: int = LONGEST) -> Documents:
    """The first characters of the first documents: a smaller set is always part of a larger one."""
    count = params.whole("count", count, 1)
    length = params.whole("length", length, 1, LONGEST)
    drawn = [_kept(number) for number in range(count)]
    arrays = (
        np.concatenate([one.tokens[:, : length + 1] for one in drawn]),
        np.concatenate([one.floor[:, :length] for one in drawn]),
        np.concatenate([one.kinds[:, :length] for one in drawn]),
    )
    for array in arrays:
        array.setflags(write=False)
    return Documents(*arrays)


_kept = lru_cache(maxsize=32)(document)


def nats(
    model: Decoder,
    tokens: NDArray[np.uint8],
    setting: Setting | None = None,
    lengths: Sequence[int] = measured.LENGTHS,
) -> NDArray[np.float32]:
    """Loss of every character at full context, ``(n, length)``; NaN past a learned table's end.

    A text is read once, since no character sees those after it. Where the frequencies depend on
    the length, each of ``lengths`` is read on its own for the last quarter of it, and what belongs
    to none is NaN.

    Args:
        model: From :func:`decoder`.
        tokens: ``(n, length + 1)``; the first is only read.
        setting: Read with that instead of the trained one.
        lengths: Context lengths, tokens.
    """
    positions = _positions(model, setting)
    length = tokens.shape[1] - 1
    reach = _reach(model, length)
    found = np.full((len(tokens), length), np.nan, np.float32)
    spans = [(0, reach)]
    if positions.setting.scaling.depends_on_length:
        spans = [(measured.bin_start(one), one) for one in lengths if one <= reach]
    rows = torch.tensor(tokens)
    for first, last in spans:
        step = max(_AT_ONCE // last, 1)
        for at in range(0, len(tokens), step):
            some = rows[at : at + step, : last + 1]
            found[at : at + step, first:last] = _losses(model, some, positions, first)
    return found


@torch.inference_mode()
def _losses(
    model: Decoder, tokens: torch.Tensor, positions: Positions, first: int
) -> NDArray[np.float32]:
    """Loss of the characters from ``first`` on."""
    logits = model(tokens[:, :-1], positions)[:, first:]
    wanted = tokens[:, first + 1 :].long()
    found = cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return np.asarray(found.view_as(wanted).numpy())


def _positions(model: Decoder, setting: Setting | None) -> Positions:
    """Doors with tables of their own, so that threads share none."""
    return model.positions.with_setting(setting or model.positions.setting)


def _reach(model: Decoder, length: int) -> int:
    """How far the model can read: a learned table has rows for the trained context only."""
    learned = model.positions.setting.encoding == "learned"
    return min(length, model.shape.max_len) if learned else length


def curve(
    name: str,
    setting: Setting | None = None,
    lengths: Sequence[int] = measured.LENGTHS,
    count: int = 16,
    folder: Path = checkpoint.TRAINED,
) -> Curve:
    """Loss of a names model by context length.

    Args:
        name: Of the model.
        setting: Read with that instead of the trained one.
        lengths: Some of ``measured.LENGTHS``.
        count: Documents, at least 2.
        folder: Where the checkpoint and ``curves.json`` with the floor are.
    """
    model = _names_model(name, folder)
    floors = measured.floor(lengths, folder / measured.CURVES.name)
    texts = documents(params.whole("count", count, 2), max(lengths))
    return _summary(nats(model, texts.tokens, setting, lengths), texts, lengths, floors)


def refine(
    name: str,
    setting: Setting | None = None,
    counts: Sequence[int] = (2, 4, 8, 16),
    longest: int = 2048,
    folder: Path = checkpoint.TRAINED,
) -> Iterator[Curve]:
    """The same :func:`curve` from more and more documents, none of them read twice.

    Args:
        name: Of the model.
        setting: Read with that instead of the trained one.
        counts: Documents after which there is a curve, ascending from at least 2.
        longest: Longest context; all of ``measured.LENGTHS`` up to it are given.
        folder: As in :func:`curve`.
    """
    model = _names_model(name, folder)
    lengths = tuple(length for length in measured.LENGTHS if length <= longest)
    floors = measured.floor(lengths, folder / measured.CURVES.name)
    read: list[NDArray[np.float32]] = []
    done = 0
    for count in counts:
        texts = documents(params.whole("count", count, max(done + 1, 2)), max(lengths))
        read.append(nats(model, texts.tokens[done:count], setting, lengths))
        done = count
        yield _summary(np.concatenate(read), texts, lengths, floors)


def sliding(
    name: str,
    count: int = 4,
    length: int = 2048,
    window: int = 256,
    stride: int = 64,
    folder: Path = checkpoint.TRAINED,
) -> Curve:
    """Loss where each character is predicted from a window that is read as if it were a document.

    A window is the start token and the ``window - 1`` characters before; it moves by ``stride``, so
    that a character has between ``window - stride`` and ``window`` tokens of context once there are
    that many.
    """
    model = _names_model(name, folder)
    window = params.whole("window", window, 2, length)
    stride = params.whole("stride", stride, 1, window)
    texts = documents(params.whole("count", count, 2), length)
    found = np.empty((count, length), np.float32)
    found[:, :window] = nats(model, texts.tokens[:, : window + 1])
    ends = [*range(window + stride, length, stride), length] if length > window else []
    windows = [texts.tokens[:, end - window : end + 1].copy() for end in ends]
    if windows:
        rows = np.stack(windows, axis=1)
        rows[:, :, 0] = names.START
        losses = nats(model, rows.reshape(-1, window + 1)).reshape(count, len(ends), window)
        before = window
        for at, end in enumerate(ends):
            found[:, before:end] = losses[:, at, before - end :]
            before = end
    lengths = tuple(one for one in measured.LENGTHS if one <= length)
    floors = measured.floor(lengths, folder / measured.CURVES.name)
    return _summary(found, texts, lengths, floors)


def _names_model(name: str, folder: Path) -> Decoder:
    return _model_of("names", names.VOCABULARY, name, folder)


def _model_of(task: str, vocab_size: int, name: str, folder: Path) -> Decoder:
    model = decoder(name, folder)
    if model.shape.vocab_size != vocab_size:
        raise params.InvalidParameterError(
            "model must be one that was trained on {allowed}, got {got}", allowed=task, got=name
        )
    return model


def _summary(
    losses: NDArray[np.float32],
    texts: Documents,
    lengths: Sequence[int],
    floors: NDArray[np.float64],
) -> Curve:
    """Curve of the losses ``(n, length)``.

    The excess over the floor on the same characters varies several times less between documents
    than the loss, which depends on how many names a document begins with.
    """
    read = len(losses)
    excess = losses - texts.floor[:read]
    repeated = texts.kinds[:read] == names.Kind.REPEATED_NAME
    columns = []
    for length, floor in zip(lengths, floors, strict=True):
        span = slice(measured.bin_start(length), length)
        each = excess[:, span].mean(axis=1)
        error = each.std(ddof=1) / math.sqrt(read)
        letters = _ratio(np.where(repeated, losses, 0.0)[:, span].sum(axis=1),
                         repeated[:, span].sum(axis=1))  # fmt: skip
        columns.append((floor + each.mean(), error, *letters))
    return Curve(tuple(lengths), read, *np.array(columns).T)


def _ratio(sums: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Mean over all letters, and its standard error over documents with unlike numbers of them."""
    n, total = len(sums), int(counts.sum())
    if not total:
        return math.nan, math.nan
    mean = float(sums.sum()) / total
    spread = float(((sums - mean * counts) ** 2).sum())
    return mean, math.sqrt(n / (n - 1) * spread) / total


def copy_accuracy(
    name: str,
    setting: Setting | None = None,
    lengths: Sequence[int] = measured.COPY_LENGTHS,
    rows: int = 16,
    folder: Path = checkpoint.TRAINED,
) -> Accuracy:
    """Accuracy of a copying model on the copied half, each symbol given all true ones before it.

    Args:
        name: Of the model.
        setting: Read with that instead of the trained one.
        lengths: Tokens of a whole row, even.
        rows: Rows per length, at least 2; fewer are always part of more.
        folder: Where the checkpoint is.
    """
    model = _model_of("copying", copying.VOCABULARY, name, folder)
    rows = params.whole("rows", rows, 2)
    shares = np.stack([_copied(model, setting, length, rows) for length in lengths], axis=1)
    return Accuracy(
        tuple(lengths), rows, shares.mean(axis=0), shares.std(axis=0, ddof=1) / math.sqrt(rows)
    )


@torch.inference_mode()
def _copied(model: Decoder, setting: Setting | None, length: int, rows: int) -> NDArray[np.float64]:
    """Share of each row that is copied right."""
    symbols = copying.symbols_in(params.even("length", length, 4))
    drawn = [
        copying.batch(np.random.default_rng((EVALUATION_SEED, length, row)), 1, symbols)
        for row in range(rows)
    ]
    tokens = torch.tensor(np.concatenate(drawn))
    known = torch.tensor(copying.is_copied(length)[1:])
    positions = _positions(model, setting)
    shares = []
    step = max(_AT_ONCE // length, 1)
    for at in range(0, rows, step):
        some = tokens[at : at + step]
        right = model(some[:, :-1], positions).argmax(-1) == some[:, 1:]
        shares.append(right[:, known].double().mean(-1))
    return np.asarray(torch.cat(shares).numpy())


@torch.inference_mode()
def attention_map(
    name: str,
    tokens: NDArray[np.uint8],
    layer: int,
    head: int,
    setting: Setting | None = None,
    size: int = 256,
    folder: Path = checkpoint.TRAINED,
) -> NDArray[np.float32]:
    """Attention weights of one head over one text, queries down, keys across.

    ``(seq_len, seq_len)``, or ``(size, size)`` cells with the largest weight in each if the text is
    longer than that.
    """
    model = decoder(name, folder)
    layer = params.whole("layer", layer, 0, model.shape.num_layers - 1)
    head = params.whole("head", head, 0, model.shape.num_heads - 1)
    seq_len = len(tokens)
    edges = np.linspace(0, seq_len, min(params.whole("size", size, 1), seq_len) + 1).astype(int)[
        :-1
    ]
    text, positions = torch.tensor(tokens), _positions(model, setting)
    step = max(_WEIGHTS_AT_ONCE // (model.shape.num_layers * model.shape.num_heads * seq_len), 1)
    rows = []
    for at in range(0, seq_len, step):
        queries = torch.arange(at, min(at + step, seq_len))
        weights = model.attention_rows(text, queries, positions)[layer, head].numpy()
        rows.append(np.maximum.reduceat(weights, edges, axis=1))
    return np.asarray(np.maximum.reduceat(np.concatenate(rows), edges, axis=0))
