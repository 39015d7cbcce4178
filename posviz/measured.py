"""What the trained models measured, read from ``posviz/trained/curves.json``.

Loss is in nats per character, at full context, averaged over the last quarter of each context
length. ``python -m posviz.models.curves`` writes the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posviz import arrays, params, rope_scaling
from posviz.rope_scaling import RopeScaling

CURVES = Path(__file__).parent / "trained" / "curves.json"
FORMAT = "posviz curves 1"

LENGTHS = (64, 91, 128, 181, 256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096)
"""Context lengths, tokens, at which loss is measured."""
COPY_LENGTHS = (128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Row lengths, tokens, at which copying is measured."""
FACTORS = (2.0, 4.0, 8.0, 16.0)
BETA_FAST = 8.0
"""YaRN's ``beta_fast`` for these models. Its usual 32 was found at far longer trained contexts: at
256 tokens it leaves next to no pair alone, and costs loss within them."""

TRAINED_LENGTH = 256
"""Tokens that a model of the names language saw at once in training, the start token among them."""
_CHARACTERS = 47  # of the language

METHODS = ("default", "linear", "ntk", "dynamic", "yarn", "yarn_32", "llama3", "slopes")
"""How a model can be read: RoPE's methods; ``yarn_32`` is YaRN with ``beta_fast`` 32; ``slopes``
multiplies ALiBi's slopes by the factor."""

Quantity = Literal["nats", "repeated", "accuracy"]
QUANTITIES: tuple[Quantity, ...] = ("nats", "repeated", "accuracy")
Order = Literal["lower", "higher", "same", "seeds disagree"]

_TIE = 2e-5  # numbers are stored with five decimals


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss of one model by context length; NaN where it cannot read that far.

    Attributes:
        lengths: Context lengths, tokens; each stands for contexts of (3/4 length, length].
        documents: Texts read.
        nats: Loss: floor of the population plus the mean excess over the documents' own floor.
        error: Standard error of the excess over documents.
        repeated: Loss of the letters of a name read before.
        repeated_error: Its standard error over documents.
    """

    lengths: tuple[int, ...]
    documents: int
    nats: NDArray[np.float64]
    error: NDArray[np.float64]
    repeated: NDArray[np.float64]
    repeated_error: NDArray[np.float64]

    @property
    def perplexity(self) -> NDArray[np.float64]:
        """Per character, as many numbers as lengths."""
        return np.asarray(np.exp(self.nats))


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Share of a row of symbols that one model copies right, by length.

    Attributes:
        lengths: Tokens of the row, its copy and the two signs.
        rows: Rows read at each length.
        accuracy: Share of copied symbols that come first in the prediction, from 0 to 1.
        error: Standard error over rows.
    """

    lengths: tuple[int, ...]
    rows: int
    accuracy: NDArray[np.float64]
    error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Band:
    """One quantity over the seeds of a family.

    Attributes:
        lengths: Tokens.
        lowest: Of all seeds, at each length.
        mean: Over the seeds.
        highest: Of all seeds.
        seeds: How many.
    """

    lengths: tuple[int, ...]
    lowest: NDArray[np.float64]
    mean: NDArray[np.float64]
    highest: NDArray[np.float64]
    seeds: int


def scaling(method: str, factor: float, trained: int) -> RopeScaling:
    """RoPE's method of that name as it was measured, for a trained context of ``trained`` tokens.

    Dynamic NTK's factor is its own: it follows the length at any, and as it is written at 1.
    """
    params.one_of("method", method, METHODS[:-1])
    return rope_scaling.scaling(
        method.removesuffix("_32"), factor=factor, max_position_embeddings=trained,
        original_max_position_embeddings=trained,
        beta_fast=32.0 if method.endswith("_32") else BETA_FAST,
    )  # fmt: skip


def key(method: str, factor: float = 1.0) -> str:
    """Name of a way to read a model; all but dynamic NTK do nothing at factor 1."""
    params.one_of("method", method, METHODS)
    factor = params.real("factor", factor, 0.0, above=True)
    if method == "default" or (factor == 1.0 and method != "dynamic"):
        return "default"
    return f"{method} {factor:g}"


def bin_start(length: int) -> int:
    """First character, counted from 0, whose context is longer than 3/4 of ``length`` tokens."""
    return 3 * params.whole("length", length, 1) // 4


def families(path: Path = CURVES) -> tuple[str, ...]:
    """Families of models, such as ``names-rope-500``: what differs within one is the seed."""
    return tuple(dict.fromkeys(name.rpartition("-seed")[0] for name in _read(path).models))


def models(family: str, path: Path = CURVES) -> tuple[str, ...]:
    """Names of the models of a family, by seed."""
    params.one_of("family", family, families(path))
    return tuple(name for name in _read(path).models if name.rpartition("-seed")[0] == family)


def floor(lengths: Sequence[int] = LENGTHS, path: Path = CURVES) -> NDArray[np.float64]:
    """Nats of the best possible reader at each length, over many documents."""
    return _at(lengths, _read(path).floor)


def floor_documents(path: Path = CURVES) -> int:
    """How many documents the floor is the mean of."""
    return _read(path).floor_documents


def repeated_floor(lengths: Sequence[int] = LENGTHS, path: Path = CURVES) -> NDArray[np.float64]:
    """As :func:`floor`, of the letters of a name read before."""
    return _at(lengths, _read(path).repeated_floor)


def curve(
    model: str, method: str = "default", factor: float = 1.0, path: Path = CURVES
) -> Curve | None:
    """Loss of ``model`` read so; None if that was not measured."""
    return _found(model, path).curves.get(key(method, factor))


def copying(
    model: str, method: str = "default", factor: float = 1.0, path: Path = CURVES
) -> Accuracy | None:
    """Copy accuracy of ``model`` read so; None if that was not measured."""
    return _found(model, path).copying.get(key(method, factor))


def sliding(model: str, path: Path = CURVES) -> Curve | None:
    """Loss of ``model`` where each character is predicted from a window; None if not measured."""
    return _found(model, path).sliding


def band(
    family: str, method: str = "default", factor: float = 1.0,
    quantity: Quantity = "nats", path: Path = CURVES,
) -> Band | None:  # fmt: skip
    """A quantity over the seeds of ``family``; None if it was not measured."""
    params.one_of("quantity", quantity, QUANTITIES)
    found: list[Curve | Accuracy] = []
    for model in models(family, path):
        one = (copying if quantity == "accuracy" else curve)(model, method, factor, path)
        if one is not None:
            found.append(one)
    if not found:
        return None
    values = np.stack([getattr(one, quantity) for one in found])
    return Band(
        found[0].lengths, values.min(axis=0), values.mean(axis=0), values.max(axis=0), len(found)
    )


def compare(
    family: str, method_a: str, method_b: str, factor: float, length: int, path: Path = CURVES
) -> Order | None:
    """Whether ``method_a`` comes lower or higher than ``method_b`` in every seed of ``family``.

    By loss; in a copying family, by accuracy. None if either was not measured at ``length``.
    """
    differences = []
    for model in models(family, path):
        a, b = (_value(model, method, factor, length, path) for method in (method_a, method_b))
        if math.isnan(a) or math.isnan(b):
            return None
        differences.append(a - b)
    if all(abs(difference) <= _TIE for difference in differences):
        return "same"
    if all(difference < -_TIE for difference in differences):
        return "lower"
    return "higher" if all(difference > _TIE for difference in differences) else "seeds disagree"


SLACK = math.log(2.0)
"""Nats that a reading may lose against the unscaled model at its trained context and still hold:
its perplexity, over the floor's, at most doubles."""


def reach(
    family: str, method: str = "default", factor: float = 1.0, path: Path = CURVES
) -> float | None:
    """Longest measured context, tokens, up to which the loss of every seed holds.

    It holds while the excess over the floor stays within :data:`SLACK` of the unscaled one at the
    trained context. 0 if it does not even there, infinity if it does at every length that was
    measured; None if nothing was.
    """
    plain, read = band(family, path=path), band(family, method, factor, path=path)
    if plain is None or read is None:
        return None
    lengths = np.array(read.lengths)
    start = _index(TRAINED_LENGTH, plain.lengths)
    best = floor(read.lengths, path)
    allowed = plain.highest[start] - floor((TRAINED_LENGTH,), path)[0] + SLACK
    within = (read.highest - best <= allowed)[start:]
    if within.all():
        return math.inf
    broken = int(np.argmin(within))
    return float(lengths[start + broken - 1]) if broken else 0.0


def loss_share(
    family: str, method: str = "default", factor: float = 1.0, path: Path = CURVES
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Excess over the floor as a share of what guessing loses, by multiples of the trained context.

    0 is the best possible reader, 1 one that finds every character equally likely. Mean over the
    seeds, from the trained context on, at most 1. None if it was not measured.
    """
    read = band(family, method, factor, path=path)
    if read is None:
        return None
    start = _index(TRAINED_LENGTH, read.lengths)
    best = floor(read.lengths, path)
    share = (read.mean - best) / (math.log(_CHARACTERS) - best)
    multiples = np.array(read.lengths[start:]) / TRAINED_LENGTH
    return multiples, np.clip(share[start:], 0.0, 1.0)


def nearest_factor(factor: float) -> float:
    """The one of :data:`FACTORS` that is nearest by ratio."""
    factor = params.real("factor", factor, 0.0, above=True)
    return min(FACTORS, key=lambda one: abs(math.log(one / factor)))


def _value(model: str, method: str, factor: float, length: int, path: Path) -> float:
    accuracy, loss = copying(model, method, factor, path), curve(model, method, factor, path)
    if accuracy is not None:
        return float(accuracy.accuracy[_index(length, accuracy.lengths)])
    return math.nan if loss is None else float(loss.nats[_index(length, loss.lengths)])


def _index(length: int, lengths: Sequence[int]) -> int:
    if length not in lengths:
        raise params.InvalidParameterError(
            "length must be one of {allowed}, got {got}",
            allowed=", ".join(f"{one:,}" for one in lengths), got=params.written(length),
        )  # fmt: skip
    return lengths.index(length)


@dataclass(frozen=True)
class _Model:
    curves: Mapping[str, Curve]
    copying: Mapping[str, Accuracy]
    sliding: Curve | None


@dataclass(frozen=True)
class _File:
    floor_documents: int
    floor: Mapping[int, float]
    repeated_floor: Mapping[int, float]
    models: Mapping[str, _Model]


def _at(lengths: Sequence[int], by_length: Mapping[int, float]) -> NDArray[np.float64]:
    known = tuple(by_length)
    asked = np.atleast_1d(arrays.whole_numbers("lengths", lengths, 1)).tolist()
    return np.array([by_length[known[_index(length, known)]] for length in asked])


def _found(model: str, path: Path) -> _Model:
    known = _read(path).models
    params.one_of("model", model, tuple(known))
    return known[model]


def _read(path: Path) -> _File:
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except OSError as problem:
        raise params.InvalidParameterError(
            "{name} must be there to read what the models measured (python -m posviz.models.curves "
            "writes it), got nothing: {reason}",
            name=path.name, reason=problem.strerror,
        ) from problem  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise params.InvalidParameterError(
            "{name} must be what python -m posviz.models.curves writes, got a damaged file: "
            "{reason}",
            name=path.name, reason=params.shown(str(problem)),
        ) from problem  # fmt: skip


@lru_cache(maxsize=4)
def _parsed(path: Path, changed: int) -> _File:
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']}")
    floor = data["floor"]
    lengths = floor["lengths"]
    return _File(
        floor_documents=floor["documents"],
        floor=dict(zip(lengths, _numbers(floor["nats"], lengths).tolist(), strict=True)),
        repeated_floor=dict(
            zip(lengths, _numbers(floor["repeated"], lengths).tolist(), strict=True)
        ),
        models={name: _model(entry) for name, entry in sorted(data["models"].items())},
    )


def _model(entry: Mapping[str, Any]) -> _Model:
    return _Model(
        curves={name: _curve(stored) for name, stored in entry.get("curves", {}).items()},
        copying={name: _accuracy(stored) for name, stored in entry.get("copying", {}).items()},
        sliding=_curve(entry["sliding"]) if "sliding" in entry else None,
    )


def _curve(stored: Mapping[str, Any]) -> Curve:
    lengths = tuple(stored["lengths"])
    numbers = [
        _numbers(stored[name], lengths) for name in ("nats", "error", "repeated", "repeated_error")
    ]
    return Curve(lengths, stored["documents"], *numbers)


def _accuracy(stored: Mapping[str, Any]) -> Accuracy:
    lengths = tuple(stored["lengths"])
    numbers = [_numbers(stored[name], lengths) for name in ("accuracy", "error")]
    return Accuracy(lengths, stored["rows"], *numbers)


def _numbers(stored: Sequence[float | None], lengths: Sequence[int]) -> NDArray[np.float64]:
    """Numbers as stored; null is NaN."""
    if len(stored) != len(lengths):
        raise ValueError(f"{len(stored)} numbers at {len(lengths)} lengths")
    found = np.array([math.nan if number is None else number for number in stored], np.float64)
    found.setflags(write=False)
    return found
