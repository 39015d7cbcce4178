"""Measures the trained models: ``python -m posviz.models.curves`` writes what pages show at once.

Each measurement is written as soon as it is done, so a killed run goes on where it was, and new
checkpoints are added to the file. Beside it a README says how the set was made and what it
measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import multiprocessing
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from posviz import measured, params
from posviz.models import checkpoint, evaluate, names, report

DOCUMENTS, FLOOR_DOCUMENTS = 16, 1200
ROWS = 16
SLIDING_DOCUMENTS, SLIDING_LENGTH = 4, 2048
FIRST_DOCUMENTS, FIRST_LENGTH = 2, 512
"""Documents whose own loss is kept, so that one model can be held against it in a moment."""


@dataclass(frozen=True)
class Size:
    """How much is read: fewer documents where only the way is tested."""

    documents: int = DOCUMENTS
    lengths: tuple[int, ...] = measured.LENGTHS
    floor_documents: int = FLOOR_DOCUMENTS
    rows: int = ROWS
    copy_lengths: tuple[int, ...] = measured.COPY_LENGTHS


@dataclass(frozen=True)
class Task:
    """One measurement of one model: ``curves`` or ``copying`` read so, ``sliding`` or ``first``."""

    model: str
    part: str
    method: str = "default"
    factor: float = 1.0


def ways(task: str, encoding: str) -> list[tuple[str, float]]:
    """Methods and factors that a model of that task and encoding is read with."""
    found = [("default", 1.0)]
    factors = measured.FACTORS if task == "names" else (2.0, 4.0)
    wide = (4.0, 8.0) if task == "names" else (2.0, 4.0)
    if encoding in ("rope", "rope_alibi"):
        for method in ("linear", "ntk", "dynamic", "yarn", "llama3"):
            found += [(method, factor) for factor in factors]
        found += [("dynamic", 1.0), *(("yarn_32", factor) for factor in wide)]
    if encoding in ("alibi", "rope_alibi"):
        found += [("slopes", 0.5), ("slopes", 2.0)]
    return found


def tasks(name: str, folder: Path = checkpoint.TRAINED) -> list[Task]:
    """Everything that is measured of a model."""
    card = checkpoint.card(name, folder)
    part = "curves" if card["task"] == "names" else "copying"
    found = [Task(name, part, *way) for way in ways(card["task"], card["encoding"])]
    if card["task"] == "names":
        found.append(Task(name, "first"))
        family = name.rpartition("-")[0]
        if name == min(one for one in checkpoint.names(folder) if one.startswith(f"{family}-")):
            found.append(Task(name, "sliding"))
    return found


def perform(task: Task, size: Size = Size(), folder: Path = checkpoint.TRAINED) -> Any:
    """The measurement as plain JSON."""
    torch.set_num_threads(1)  # the processes share the cores
    if task.part == "first":
        return first(task.model, folder)
    if task.part == "sliding":
        longest = min(SLIDING_LENGTH, max(size.lengths))
        return _plain(evaluate.sliding(task.model, SLIDING_DOCUMENTS, longest, folder=folder))
    setting = evaluate.read_with(task.model, task.method, task.factor, folder)
    if task.part == "copying":
        return _plain(
            evaluate.copy_accuracy(task.model, setting, size.copy_lengths, size.rows, folder)
        )
    return _plain(evaluate.curve(task.model, setting, size.lengths, size.documents, folder))


def first(name: str, folder: Path = checkpoint.TRAINED) -> list[float]:
    """Loss of the first documents, each on its own, within ``FIRST_LENGTH`` or what can be read."""
    model = evaluate.decoder(name, folder)
    texts = evaluate.documents(FIRST_DOCUMENTS, FIRST_LENGTH)
    losses = evaluate.nats(model, texts.tokens)
    return [_rounded(float(np.nanmean(row))) for row in losses]


def population_floor(size: Size = Size()) -> dict[str, Any]:
    """The floor at each length over many documents, and that of repeated names alone."""
    sums = np.zeros((3, len(size.lengths)))
    numbers = range(size.floor_documents)
    for number in tqdm(numbers, desc="floor", unit="text", leave=False, delay=1.0):
        one = evaluate.document(number)
        repeated = one.kinds[0] == names.Kind.REPEATED_NAME
        for at, length in enumerate(size.lengths):
            span = slice(measured.bin_start(length), length)
            nats = one.floor[0, span]
            again = repeated[span]
            sums[:, at] += nats.mean(), nats[again].sum(), again.sum()
    with np.errstate(invalid="ignore"):  # too few texts may have no repeated name early on
        repeated_nats = sums[1] / sums[2]
    return {
        "seed": evaluate.EVALUATION_SEED, "documents": size.floor_documents,
        "lengths": list(size.lengths), "nats": _list(sums[0] / size.floor_documents),
        "repeated": _list(repeated_nats),
    }  # fmt: skip


def measure(
    folder: Path = checkpoint.TRAINED, size: Size = Size(), jobs: int = 1, *, quiet: bool = False
) -> None:
    """Measure what is not yet in ``curves.json`` of ``folder``, and write the README."""
    data = _begun(folder, size)
    known, todo = data["models"], []
    data["models"] = entries = {}
    for name in checkpoint.names(folder):
        every = tasks(name, folder)
        stamp = _stamp(name, every, size, folder)
        entry = known.get(name, {})
        if any(entry.get(key) != value for key, value in stamp.items()):
            entry = {**stamp, "versions": _versions()}
        entries[name] = entry
        todo += [task for task in every if stored(task, entry) is None]
    _write(data, folder)
    bar = tqdm(total=len(todo), unit="curve", disable=quiet)
    for task, result in _performed(todo, size, folder, jobs):
        _store(task, entries[task.model], result)
        _write(data, folder)
        bar.set_postfix_str(task.model, refresh=False)
        bar.update()
    bar.close()
    write_readme(folder)


def write_readme(folder: Path = checkpoint.TRAINED) -> None:
    """Write the README beside the checkpoints of ``folder``."""
    text = report.readme(folder)
    checkpoint.write_whole(folder / "README.md", lambda to: to.write_text(text, encoding="utf-8"))


def stored(task: Task, entry: Mapping[str, Any]) -> Any:
    """Result of a task in its model's entry; None if it is not there."""
    if task.part in ("curves", "copying"):
        return entry.get(task.part, {}).get(measured.key(task.method, task.factor))
    return entry.get(task.part)


def _store(task: Task, entry: dict[str, Any], result: Any) -> None:
    if task.part in ("curves", "copying"):
        entry.setdefault(task.part, {})[measured.key(task.method, task.factor)] = result
    else:
        entry[task.part] = result


def _performed(
    todo: Sequence[Task], size: Size, folder: Path, jobs: int
) -> Iterator[tuple[Task, Any]]:
    """Every task with its result, as they come."""
    if jobs <= 1 or len(todo) <= 1:
        for task in todo:
            yield task, perform(task, size, folder)
        return
    # Not forked: torch's threads do not survive that.
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(perform, task, size, folder): task for task in todo}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _begun(folder: Path, size: Size) -> dict[str, Any]:
    """What ``curves.json`` has already; with a new floor if it has another one."""
    path = folder / measured.CURVES.name
    data: dict[str, Any] = {"format": measured.FORMAT, "models": {}}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["format"] == measured.FORMAT:
            data = stored
    except (OSError, ValueError, KeyError, TypeError):
        pass  # none, or none that can be used: begin again
    floor = data.get("floor", {})
    wanted = (evaluate.EVALUATION_SEED, size.floor_documents, list(size.lengths))
    if (floor.get("seed"), floor.get("documents"), floor.get("lengths")) != wanted:
        data["floor"], data["models"] = population_floor(size), {}
    return data


def _stamp(name: str, todo: list[Task], size: Size, folder: Path) -> dict[str, str]:
    """What a measurement belongs to: the weights, and everything that was done with them."""
    card = checkpoint.card(name, folder)
    scalings = [
        repr(measured.scaling(task.method, task.factor, card["shape"]["max_len"]))
        for task in todo
        if task.method not in ("default", "slopes")
    ]
    whole = repr((todo, scalings, asdict(size), evaluate.EVALUATION_SEED))
    return {"sha256": card["sha256"], "how": hashlib.sha256(whole.encode()).hexdigest()[:16]}


def _write(data: Mapping[str, Any], folder: Path) -> None:
    """The file, one line per list of numbers."""
    text = re.sub(r"\[[^\[\]{}]*\]", _in_one_line, json.dumps(data, indent=1, sort_keys=True))
    checkpoint.write_whole(
        folder / measured.CURVES.name, lambda to: to.write_text(text + "\n", encoding="utf-8")
    )


def _in_one_line(found: re.Match[str]) -> str:
    return re.sub(r"\s+", " ", found[0]).replace("[ ", "[").replace(" ]", "]")


def _plain(made: measured.Curve | measured.Accuracy) -> dict[str, Any]:
    return {
        field.name: _list(value) if isinstance(value, np.ndarray) else value
        for field in fields(made)
        for value in [getattr(made, field.name)]
    }


def _list(numbers: NDArray[np.float64]) -> list[float | None]:
    """Numbers with five decimals; NaN as null."""
    return [None if math.isnan(number) else _rounded(number) for number in numbers.tolist()]


def _rounded(number: float) -> float:
    return round(number, 5)


def _versions() -> dict[str, str]:
    return {
        "python": platform.python_version(), "torch": torch.__version__,
        "numpy": np.__version__, "machine": platform.machine(),
    }  # fmt: skip


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Measures the trained models.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--readme", action="store_true", help="only write the README again")
    wanted = parser.parse_args()
    try:
        if wanted.readme:
            write_readme()
        else:
            measure(jobs=wanted.jobs)
    except params.InvalidParameterError as problem:
        raise SystemExit(str(problem)) from problem


if __name__ == "__main__":
    main()
