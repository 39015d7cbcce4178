"""Asks all trained models for their needles: ``python -m posviz.models.needles``.

Writes ``posviz/trained/needles.json`` after each model. A model whose weights were asked already
is left as it is, so a run that was killed goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from posviz import haystacks, measured, params
from posviz.models import checkpoint, needle
from posviz.models.evaluate import read_with
from posviz.models.needle import Column

HAYSTACKS = 8
FACTORS = (4.0, 8.0)
"""Factors that RoPE's methods are asked with."""
SLOPES = (0.5, 1.5)
"""Multipliers that ALiBi's slopes are asked with, besides 1."""

_ROPE = ("linear", "ntk", "dynamic", "yarn", "llama3")


def readings(encoding: str) -> Iterator[tuple[str, float]]:
    """Methods and factors that a model of ``encoding`` is read with."""
    yield "default", 1.0
    if encoding in ("rope", "rope_alibi"):
        yield "dynamic", 1.0  # as it is written; its factor is not the context's
        yield from ((method, factor) for method in _ROPE for factor in FACTORS)
    if encoding in ("alibi", "rope_alibi"):
        yield from (("slopes", multiplier) for multiplier in SLOPES)


def stored(columns: Sequence[Column]) -> dict[str, Any]:
    """A grid as plain JSON; null where the model cannot read."""
    return {
        "accuracy": [_rounded(column.accuracy, column.possible) for column in columns],
        "error": [_rounded(column.error, column.possible) for column in columns],
        "nats": [round(column.nats, 4) if column.possible else None for column in columns],
    }


def _rounded(numbers: Any, possible: bool) -> list[float] | None:
    return [round(number, 3) for number in numbers.tolist()] if possible else None


def write(folder: Path = checkpoint.TRAINED, *, quiet: bool = False) -> None:
    """Bring ``needles.json`` of ``folder`` up to date with the checkpoints there."""
    path = folder / haystacks.NEEDLES.name
    data = _begun(path)
    names, known = needle.models(folder), data["models"]
    data["models"] = {name: known[name] for name in names if name in known}
    for name in (bar := tqdm(names, unit="model", disable=quiet)):
        bar.set_postfix_str(name)
        card = checkpoint.card(name, folder)
        wanted = {measured.key(*reading): reading for reading in readings(card["encoding"])}
        entry = known.get(name, {"grids": {}})
        if entry.get("sha256") == card.get("sha256") and entry["grids"].keys() == wanted.keys():
            continue
        grids = {}
        for key, reading in wanted.items():
            setting = read_with(name, *reading, folder=folder)
            grids[key] = stored(list(needle.fill(name, setting, HAYSTACKS, folder)))
        data["models"][name] = {"sha256": card.get("sha256"), "grids": grids}
        _save(path, data)
    _save(path, data)  # without the models that are gone


def _begun(path: Path) -> dict[str, Any]:
    """What the file holds, if it tells of the same haystacks; else nothing yet."""
    texts = [[needle.haystack(n, number) for number in range(HAYSTACKS)] for n in needle.LENGTHS]
    header = {
        "format": haystacks.FORMAT, "lengths": list(needle.LENGTHS),
        "depths": list(needle.DEPTHS), "haystacks": HAYSTACKS,
        "floor": [round(needle.floor(some), 4) for some in texts],
    }  # fmt: skip
    try:
        haystacks.models(path)
        data = json.loads(path.read_text(encoding="utf-8"))
    except params.InvalidParameterError:
        return {**header, "models": {}}
    same = all(data.get(name) == value for name, value in header.items())
    return data if same else {**header, "models": {}}


def _save(path: Path, data: dict[str, Any]) -> None:
    text = json.dumps(data, separators=(",", ":"))
    checkpoint.write_whole(path, lambda to: to.write_text(text + "\n", encoding="utf-8"))


def main() -> None:
    """The command line."""
    torch.set_num_threads(1)  # sums in one order
    try:
        write()
    except params.InvalidParameterError as problem:
        raise SystemExit(str(problem)) from problem


if __name__ == "__main__":
    main()
