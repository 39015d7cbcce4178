"""The README of the trained models, written from their cards and from what they measured.

No number and no order in it is typed: an order is said to hold only if it does in every seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import measured
from posviz.models import checkpoint, copying

_LENGTHS = (128, 256, 512, 1024, 2048, 4096)
_COPY_LENGTHS = (128, 256, 512, 768, 1024, 1536, 2048)
_ROPE_METHODS = ("default", "linear", "ntk", "dynamic", "yarn", "yarn_32", "llama3")

_HEAD = """# Trained models

Written by `python -m posviz.models.curves` from the cards of the checkpoints and from
`curves.json`; nothing here is typed by hand. `python -m posviz.models.train all` trains the set.
"""

_PERPLEXITY = """## Perplexity by context

Per character, in the last quarter of each context length, everything before it read. Each number
is the floor of the language ({floor_documents:,} documents) plus the mean excess over the floor of
the {documents} documents that were read. Seeds side by side, seed 0 first. The standard error over
documents, of models read as trained, is at most {near:.1%} of a perplexity up to {trained} tokens,
and at most {far:.1%} beyond. `floor` is the best possible reader.
"""

_SLIDING = """## Perplexity with a sliding window

Seed 0. A character is predicted from a window of the trained context that is read as if it were a
document of its own.
"""

_REPEATED = """## Loss on names read before

Nats per letter after the capital; {guess:.2f} is guessing. Low means that the model still copies.
"""

_METHODS = """## {family}, read with each method

Perplexity as above, no training after the change. `yarn` has `beta_fast` {beta_fast:g},
`yarn_32` the usual 32. Dynamic NTK at factor 1 scales by the length over the trained one.
"""

_COPYING = """## Copying

Share of the copied symbols that come first in the prediction, each with all true ones before it;
{rows} rows per length, chance {chance:.3f}. Trained up to {trained} tokens. Seeds side by side.
"""

_ORDERS = """## Orders

Holds: in every seed, on the same documents. Of two encodings: in every pair of seeds.
"""


_BEGINS = {
    "looks_back": "The first head of each layer begins by looking one token back.",
    "learned": "The position table begins as the sinusoidal one.",
    "t5": "The position table begins as ALiBi's bias of each bucket.",
}
"""What does not begin from random numbers alone."""


def readme(folder: Path = checkpoint.TRAINED) -> str:
    """Text of ``README.md`` for the checkpoints and the ``curves.json`` in ``folder``."""
    return _Report(folder).text()


class _Report:
    """The parts of the README of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / measured.CURVES.name
        found = measured.families(self.path)
        self.cards = {
            name: checkpoint.card(name, folder)
            for family in found
            for name in measured.models(family, self.path)
        }
        self.names = [family for family in found if self._task(family) == "names"]
        self.copying = [family for family in found if self._task(family) == "copying"]

    def text(self) -> str:
        """The whole, part by part."""
        parts = [_HEAD, self._made(), self._models()]
        if self.names:
            parts += self._perplexities()
        if self.copying:
            parts.append(self._copied())
        parts.append(self._orders())
        return "\n".join(part.rstrip("\n") + "\n" for part in parts)

    def _task(self, family: str) -> str:
        return str(self._card(family)["task"])

    def _card(self, family: str) -> dict[str, Any]:
        return self.cards[measured.models(family, self.path)[0]]

    def _trained(self, family: str) -> int:
        return int(self._card(family)["shape"]["max_len"])

    def _made(self) -> str:
        lines = ["## How the set was made", ""]
        by_way: dict[str, list[str]] = {}
        for family in (*self.names, *self.copying):
            by_way.setdefault(_recipe(self._card(family)["recipe"]), []).append(family)
        lines += [f"- {_listed(found)}: {way}" for way, found in by_way.items()]
        size = sum((self.folder / f"{name}.safetensors").stat().st_size for name in self.cards)
        seconds = sum(card["seconds"] for card in self.cards.values())
        lines += ["", f"{len(self.cards)} checkpoints, float16, {size / 2**20:.1f} MiB together; "
                  f"{seconds / 3600:.1f} hours of one core to train."]  # fmt: skip
        return "\n".join(lines) + "\n"

    def _models(self) -> str:
        rows = []
        for name, card in self.cards.items():
            log = card["log"]
            last = [
                f"{log[entry][-1]:.3f}" if entry in log else "-"
                for entry in ("total", "repeated", "accuracy")
            ]
            rows.append([
                f"`{name}`", f"{card['steps']:,}", f"{card['tokens'] / 1e6:.2f}",
                f"{card['seconds']:.0f}", *last, f"`{card['sha256'][:12]}`",
            ])  # fmt: skip
        head = ("model", "steps", "M tokens", "seconds", "validation loss", "of it repeated names",
                "copy accuracy", "sha256")  # fmt: skip
        return _table(head, rows)

    def _perplexities(self) -> list[str]:
        lengths = [n for n in _LENGTHS if n in self._curve(self.names[0]).lengths]
        floor = np.exp(measured.floor(lengths, self.path))
        trained = self._trained(self.names[0])
        near, far = self._errors(trained)
        intro = _PERPLEXITY.format(
            floor_documents=measured.floor_documents(self.path),
            documents=self._curve(self.names[0]).documents,
            near=near,
            far=far,
            trained=trained,
        )
        head = ("encoding", *(f"{length:,}" for length in lengths))
        rows = [["floor", *(_short(one) for one in floor)]]
        rows += [[f"`{family}`", *self._cells(family, lengths)] for family in self.names]
        for family in self.names:
            for factor in (0.5, 2.0):
                if self._curves(family, "slopes", factor):
                    rows.append([f"`{family}`, slopes × {factor:g}",
                                 *self._cells(family, lengths, "slopes", factor)])  # fmt: skip
        parts = [intro, _table(head, rows), self._short_of_alibi(trained)]
        parts += self._slid(head) + self._repeated(head, lengths)
        for family in self.names:
            if self._curves(family, "yarn", 4.0):
                parts.append(_METHODS.format(family=family, beta_fast=measured.BETA_FAST))
                parts.append(self._by_method(family, ("method", *head[1:]), lengths))
        return parts

    def _by_method(self, family: str, head: Sequence[str], lengths: Sequence[int]) -> str:
        rows = []
        for method in _ROPE_METHODS:
            for factor in (1.0, *measured.FACTORS):
                if factor == 1.0 and method not in ("default", "dynamic"):
                    continue
                if (factor != 1.0 and method == "default") or not self._curves(
                    family, method, factor
                ):
                    continue
                rows.append([f"`{measured.key(method, factor)}`",
                             *self._cells(family, lengths, method, factor)])  # fmt: skip
        return _table(head, rows)

    def _slid(self, head: Sequence[str]) -> list[str]:
        rows = []
        for family in self.names:
            one = measured.sliding(measured.models(family, self.path)[0], self.path)
            if one is not None:
                cells = dict(zip(one.lengths, one.perplexity, strict=True))
                shown = [_short(cells[n]) if n in cells else "-" for n in _LENGTHS]
                rows.append([f"`{family}`", *shown[: len(head) - 1]])
        return [_SLIDING, _table(head, rows)] if rows else []

    def _repeated(self, head: Sequence[str], lengths: Sequence[int]) -> list[str]:
        floor = measured.repeated_floor(lengths, self.path)
        rows = [["floor", *(f"{one:.2f}" for one in floor)]]
        for family in self.names:
            found = [_at(one, one.repeated, lengths) for one in self._curves(family)]
            rows.append([f"`{family}`", *_side_by_side(found, lambda x: f"{x:.2f}")])
        return [_REPEATED.format(guess=math.log(20)), _table(head, rows)]

    def _short_of_alibi(self, trained: int) -> str:
        """Whether each encoding has learned the language within the trained context."""
        means = {
            family: float(np.mean([_at(one, one.nats, [trained]) for one in self._curves(family)]))
            for family in self.names
        }
        alibi = means.pop("names-alibi", None)
        if alibi is None:
            return ""
        above = {family: math.exp(mean - alibi) - 1.0 for family, mean in means.items()}
        far = [f"`{family}` ({share:+.0%})" for family, share in above.items() if share > 0.1]
        near = [f"`{family}` ({share:+.0%})" for family, share in above.items() if share <= 0.1]
        return (
            f"Perplexity at {trained} tokens against ALiBi's, mean of the seeds: within 10 % "
            f"{', '.join(near) or 'none'}; above that {', '.join(far) or 'none'}.\n"
        )

    def _copied(self) -> str:
        rows, trained = [], self._trained(self.copying[0])
        known = self._accuracies(self.copying[0])[0]
        lengths = [length for length in _COPY_LENGTHS if length in known.lengths]
        for family in self.copying:
            for method in measured.METHODS:
                for factor in (0.5, 1.0, *measured.FACTORS):
                    if (factor == 1.0) != (method == "default") and method != "dynamic":
                        continue
                    found = self._accuracies(family, method, factor)
                    if found:
                        numbers = [_at(one, one.accuracy, lengths) for one in found]
                        cells = _side_by_side(numbers, lambda x: f"{x:.3f}")
                        rows.append([f"`{family}`", f"`{measured.key(method, factor)}`", *cells])
        intro = _COPYING.format(rows=known.rows, chance=copying.CHANCE, trained=trained)
        head = ("model", "method", *(f"{length:,}" for length in lengths))
        return intro + "\n" + _table(head, rows)

    def _orders(self) -> str:
        lines = [_ORDERS]
        for length in (256, 1024, 4096):
            if self.names and length in self._curve(self.names[0]).lengths:
                lines.append(self._order_of_encodings(length))
        for family in (*self.names, *self.copying):
            for factor in measured.FACTORS:
                length = int(factor * self._trained(family))
                lines += self._order_of_methods(family, factor, length)
                if self._trained(family) < length and self._task(family) == "names":
                    lines += self._order_of_methods(family, factor, self._trained(family))
        return "\n".join(lines)

    def _order_of_encodings(self, length: int) -> str:
        """Which encodings lie below which in every pair of seeds, and which overlap."""
        bands = {
            family: [float(_at(one, one.nats, [length])[0]) for one in self._curves(family)]
            for family in self.names
        }
        able = [family for family, values in bands.items() if not np.isnan(values).any()]
        below: dict[str, list[str]] = {}
        open_: list[str] = []
        for a, b in combinations(able, 2):
            if max(bands[a]) < min(bands[b]):
                below.setdefault(a, []).append(b)
            elif max(bands[b]) < min(bands[a]):
                below.setdefault(b, []).append(a)
            else:
                open_.append(f"`{a}` and `{b}`")
        return _told(f"Encodings at {length:,} tokens", "below", below, open_)

    def _order_of_methods(self, family: str, factor: float, length: int) -> Iterator[str]:
        """Which methods come lower (of copying: higher) than which at one factor and length."""
        known = (self._curves(family) or self._accuracies(family))[0].lengths
        methods = [
            method
            for method in _ROPE_METHODS
            if self._curves(family, method, factor) or self._accuracies(family, method, factor)
        ]
        if len(methods) < 2 or length not in known:
            return
        word = "below" if self._task(family) == "names" else "above"
        ahead: dict[str, list[str]] = {}
        open_: list[str] = []
        for a, b in combinations(methods, 2):
            order = measured.compare(family, a, b, factor, length, self.path)
            if order in ("lower", "higher"):
                first, second = (a, b) if (order == "lower") == (word == "below") else (b, a)
                ahead.setdefault(first, []).append(second)
            elif order == "seeds disagree":
                open_.append(f"`{a}` and `{b}`")
        where = f"`{family}`, factor {factor:g}, {length:,} tokens"
        yield _told(where, word, ahead, open_, len(measured.models(family, self.path)))

    def _errors(self, trained: int) -> tuple[float, float]:
        """Largest standard error as trained, a share of perplexity: up to ``trained``, beyond."""
        near, far = [0.0], [0.0]
        for family in self.names:
            for one in self._curves(family, "default", 1.0):
                inside = np.array(one.lengths) <= trained
                near.append(float(np.nanmax(one.error[inside])))
                far.append(float(np.nanmax(one.error[~inside], initial=0.0)))
        return math.expm1(max(near)), math.expm1(max(far))

    def _curve(self, family: str) -> measured.Curve:
        return self._curves(family)[0]

    def _cells(
        self, family: str, lengths: Sequence[int], method: str = "default", factor: float = 1.0
    ) -> list[str]:
        found = self._curves(family, method, factor)
        return _side_by_side([_at(one, one.perplexity, lengths) for one in found], _short)

    def _curves(
        self, family: str, method: str = "default", factor: float = 1.0
    ) -> list[measured.Curve]:
        found = (
            measured.curve(name, method, factor, self.path)
            for name in measured.models(family, self.path)
        )
        return [one for one in found if one is not None]

    def _accuracies(
        self, family: str, method: str = "default", factor: float = 1.0
    ) -> list[measured.Accuracy]:
        found = (
            measured.copying(name, method, factor, self.path)
            for name in measured.models(family, self.path)
        )
        return [one for one in found if one is not None]


def _at(
    one: measured.Curve | measured.Accuracy, values: NDArray[np.float64], lengths: Sequence[int]
) -> NDArray[np.float64]:
    return np.array([values[one.lengths.index(length)] for length in lengths])


def _side_by_side(seeds: Sequence[NDArray[np.float64]], shown: Callable[[float], str]) -> list[str]:
    """One cell per length, the seeds in it."""
    return [
        "-" if np.isnan(numbers).all() else "/".join(shown(float(number)) for number in numbers)
        for numbers in np.stack(seeds, axis=1)
    ]


def _short(number: float) -> str:
    """Three digits that count."""
    return f"{number:.0f}" if number >= 99.95 else f"{number:#.3g}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _listed(families: Iterable[str]) -> str:
    return ", ".join(f"`{family}`" for family in families)


def _told(
    where: str, word: str, ahead: dict[str, list[str]], open_: Sequence[str], seeds: int = 0
) -> str:
    held = "; ".join(f"`{one}` {word} {_listed(others)}" for one, others in ahead.items())
    count = f" ({seeds} seed{'s' * (seeds != 1)})" if seeds else ""
    contradicted = f" Seeds disagree on {', '.join(open_)}." if open_ else ""
    return f"- {where}{count}: {held or 'nothing holds'}.{contradicted}"


def _recipe(recipe: dict[str, Any]) -> str:
    """A recipe in words."""
    shape = recipe["shape"]
    phases = "; then ".join(_phase(phase) for phase in recipe["phases"])
    table = recipe["table_rate"]
    begins = _BEGINS.get(
        "looks_back" if recipe.get("looks_back") else recipe["setting"]["encoding"]
    )
    return (
        f"{shape['num_layers']} layers, width {shape['d_model']}, {shape['num_heads']} heads, "
        f"{shape['vocab_size']} tokens, trained context {shape['max_len']}. "
        f"{phases}. Muon at {recipe['matrix_rate']:g} for the matrices of the layers, AdamW at "
        f"{recipe['vector_rate']:g} for the rest"
        f"{'' if table == 1.0 else f' and {table:g} times that for the position table'}."
        f"{f' {begins}' if begins else ''}"
    )


def _phase(phase: dict[str, Any]) -> str:
    """A stretch of training in words."""
    dialect = phase["dialect"]
    text = (
        f"{phase['steps']:,} steps on texts of {phase['length']} characters, {phase['batch']} at a "
        f"time, a name in {dialect['name_share']:.0%} of the slots, {dialect['names']} names each"
        if dialect
        else f"{phase['steps']:,} steps on rows that grow to {phase['length']} tokens, "
        f"{phase['batch']} of the longest at a time"
    )
    if phase["elsewhere"] == 1.0:
        return text
    return f"{text}, all that is not copied weighed by {phase['elsewhere']:g}"
