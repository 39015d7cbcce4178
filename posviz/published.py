"""Curves that others published, to be laid beside measured ones: what stands in their tables.

Facts stand in ``published.json``, each table with the place where it was seen; nothing here was
measured by posviz. Perplexities of different corpora cannot be compared in height. What can be
compared is their shape: a value as a multiple of the one at the trained context
(:meth:`Table.relative`), over multiples of that context (:attr:`Series.multiples`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import params

PERPLEXITY, LOSS = "perplexity", "loss, nats per token"


@dataclass(frozen=True, eq=False)
class Series:
    """One line of a published table; every array is ``(len(lengths),)`` and read-only.

    Attributes:
        label: What a legend says.
        encoding: Position encoding as in the models of the lab (``rope``, ``alibi``, ``none``,
            ...); None for another one.
        rope_type: Scaling method as in :data:`posviz.rope_scaling.ROPE_SCALINGS`, ``default`` for
            plain RoPE; None for another method, or where there is no RoPE.
        fine_tuned: Whether a trained model was trained further for longer contexts; None for one
            that was trained from scratch and read as it was.
        trained_context: Tokens read at once in training, before any extension; None where each
            value belongs to a model that was trained at that very length.
        lengths: Tokens read, int64, ascending.
        values: float64; NaN where the table gives no number.
        bounds: What a value is above where the table says only that (">1e3"); NaN elsewhere.
    """

    label: params.Message
    encoding: str | None
    rope_type: str | None
    fine_tuned: bool | None
    trained_context: int | None
    lengths: NDArray[np.int64]
    values: NDArray[np.float64]
    bounds: NDArray[np.float64]

    @property
    def multiples(self) -> NDArray[np.float64]:
        """Lengths over the trained context; 1 where a model was trained at each length."""
        own = self.lengths if self.trained_context is None else self.trained_context
        return self.lengths / own

    @property
    def at_trained_context(self) -> float:
        """The value at the trained context; NaN if the table has none."""
        here = self.values[self.lengths == self.trained_context]
        return float(here[0]) if len(here) else math.nan


@dataclass(frozen=True, eq=False)
class Table:
    """A published table, as far as it can be laid beside curves over context length.

    Attributes:
        id: Its name here.
        authors: Their last names.
        title: Of the paper or repository.
        year: When it first appeared.
        address: Where it is, https.
        where: Table, figure or file.
        what: One sentence: text, models, how they were read.
        quantity: :data:`PERPLEXITY`, :data:`LOSS`, or another one in words.
        series: Its lines.
        untouched: Value of the model before extension at its trained context, where another table
            of the paper prints it and this one does not.
    """

    id: str
    authors: str
    title: str
    year: int
    address: str
    where: params.Message
    what: params.Message
    quantity: params.Message
    series: tuple[Series, ...]
    untouched: float = math.nan

    @property
    def trained_context(self) -> int | None:
        """Trained context of all its series, tokens; None if they differ."""
        contexts = {one.trained_context for one in self.series}
        return contexts.pop() if len(contexts) == 1 else None

    def relative(self) -> tuple[Series, ...]:
        """Its series with values and bounds as multiples of the value at the trained context.

        That value is the series' own or else that of the untouched model; without either, all is
        NaN. A loss is taken as the perplexity that it means, so shapes stay comparable.
        """
        return tuple(self._relative(one) for one in self.series)

    def _relative(self, one: Series) -> Series:
        base = self.untouched if math.isnan(one.at_trained_context) else one.at_trained_context

        def over_base(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return _kept(np.exp(values - base) if self.quantity == LOSS else values / base)

        return replace(one, values=over_base(one.values), bounds=over_base(one.bounds))


def _kept(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _numbers(cells: Sequence[float | str | None]) -> dict[str, NDArray[np.float64]]:
    """The cells of a line as values and bounds."""
    bounds = [float(cell[1:]) if isinstance(cell, str) else math.nan for cell in cells]
    values = [math.nan if cell is None or isinstance(cell, str) else cell for cell in cells]
    return {"values": _kept(np.array(values, np.float64)), "bounds": _kept(np.array(bounds))}


def _read() -> dict[str, Table]:
    path = Path(__file__).with_name("published.json")
    facts = json.loads(path.read_text(encoding="utf-8"))
    tables = {}
    for fact in facts["tables"]:
        lengths = _kept(np.array(fact.pop("lengths"), np.int64))
        shared = {"lengths": lengths, "trained_context": fact.pop("trained_context")}
        series = tuple(
            Series(**shared | line | _numbers(line.pop("values"))) for line in fact.pop("series")
        )
        work = facts["works"][fact.pop("work")]
        tables[fact["id"]] = Table(**work | fact, series=series)
    return tables


_TABLES = _read()

TABLES: tuple[str, ...] = tuple(_TABLES)
"""Name of every table on record."""


def table(id: str) -> Table:
    """The table of that name; a sentence for an unknown one."""
    return _TABLES[params.one_of("id", id, TABLES)]


def for_encoding(encoding: str) -> tuple[Table, ...]:
    """Tables with a series of that position encoding; none if no one published it."""
    return tuple(t for t in _TABLES.values() if encoding in {s.encoding for s in t.series})


def for_method(rope_type: str) -> tuple[Table, ...]:
    """Tables with a series of that scaling method; none if no one published it."""
    return tuple(t for t in _TABLES.values() if rope_type in {s.rope_type for s in t.series})
