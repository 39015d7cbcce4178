"""What the lab and published tables say of the picker's answers, computed from their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from posviz import extrapolation, haystacks, measured, params, published
from posviz.measured import TRAINED_LENGTH
from posviz.picker import HEADROOM, OUTCOMES, Fact
from posviz.picker_settings import own_factor
from posviz.rope import RoPE


@dataclass(frozen=True)
class Orders:
    """How a method did in a family of the lab's models at a length, not trained further.

    Each method is read with its own factor for that length, see :func:`own_factor`.

    Attributes:
        family: As in :func:`posviz.measured.families`.
        multiple: Trained contexts that were read.
        better: Methods that did worse than it in every seed.
        worse: Methods that did better than it in every seed.
    """

    family: str
    multiple: float
    better: tuple[str, ...]
    worse: tuple[str, ...]


# RoPE and trained context of the lab's families, see posviz/models/recipes.py.
_LAB = {
    "names-rope-10000": (RoPE(32, 10_000.0), TRAINED_LENGTH),
    "names-rope-500": (RoPE(32, 500.0), TRAINED_LENGTH),
    "copying-rope": (RoPE(16, 10_000.0), 512),
}
_NAMES = ("names-rope-500", "names-rope-10000")
_RIVALS = ("default", "linear", "ntk", "dynamic", "yarn", "llama3")
_NEAR = 1.5  # ratio up to which a measured factor stands for another one
_CLOSE = 1.2  # ratio up to which a measured length does


def lab_factor(method: str, multiple: float, family: str) -> float | None:
    """Factor with which the lab read a family, nearest to the one for a multiple; None if far."""
    multiple = params.real("multiple", multiple, 0.0)
    if method == "default":
        return 1.0
    used = own_factor(method, max(multiple, 1.0), *_LAB[family])
    nearest = measured.nearest_factor(used)
    return nearest if max(used / nearest, nearest / used) <= _NEAR else None


def _seeds(family: str, method: str, multiple: float, at: int) -> list[float] | None:
    """Loss or accuracy of every seed at one measured length; None if it was not measured."""
    factor = lab_factor(method, multiple, family)
    if factor is None:
        return None
    found = []
    for model in measured.models(family):
        if family.startswith("copying"):
            copied = measured.copying(model, method, factor)
            values = None if copied is None else copied.accuracy
        else:
            curve = measured.curve(model, method, factor)
            values = None if curve is None else curve.nats
        if values is None:
            return None
        found.append(float(values[at]))
    return found


@lru_cache(maxsize=512)
def _orders(method: str, multiple: float) -> tuple[Orders, ...]:
    found = []
    for family, (_, trained) in _LAB.items():
        copies = family.startswith("copying")
        known = measured.COPY_LENGTHS if copies else measured.LENGTHS
        wanted = multiple * trained
        length = min(known, key=lambda one: abs(math.log(one / wanted)))
        at = known.index(length)
        own = _seeds(family, method, multiple, at)
        if own is None or max(length / wanted, wanted / length) > _CLOSE:
            continue
        sign = -1.0 if copies else 1.0  # accuracy is better when higher
        better, worse = [], []
        for rival in _RIVALS:
            other = None if rival == method else _seeds(family, rival, multiple, at)
            if other is None:
                continue
            gains = [sign * (b - a) for a, b in zip(own, other, strict=True)]
            if min(gains) > 2e-5:
                better.append(rival)
            elif max(gains) < -2e-5:
                worse.append(rival)
        found.append(Orders(family, length / trained, tuple(better), tuple(worse)))
    return tuple(found)


def orders(method: str, multiple: float) -> tuple[Orders, ...]:
    """What the lab's RoPE models say of a method at a length, family by family.

    Empty where nothing near it was measured.
    """
    params.one_of("method", method, (*_RIVALS, "longrope"))
    multiple = params.real("multiple", multiple, 0.0, above=True)
    if method in ("longrope", "default") or multiple > _CLOSE * HEADROOM:
        return ()
    return _orders(method, max(round(multiple, 2), 0.01))


def held(outcome: str, multiple: float) -> tuple[float, float] | None:
    """Trained contexts up to which the lab's models held with it as they are: least and most.

    Over both families of RoPE for a scaling; infinite where it held at all lengths measured. None
    if it was not measured at a factor near the one for this multiple.
    """
    answer = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))]
    if answer.family is not None:
        reached = measured.reach(answer.family)
        return None if reached is None else (reached / TRAINED_LENGTH,) * 2
    if answer.method in (None, "longrope"):
        return None
    told = []
    for family in _NAMES:
        factor = lab_factor(answer.method, multiple, family)
        reached = None if factor is None else measured.reach(family, answer.method, factor)
        if reached is not None:
            told.append(reached / TRAINED_LENGTH)
    return (min(told), max(told)) if told else None


def found(outcome: str, multiple: float) -> tuple[float, float, float] | None:
    """Needles that the lab's models find far back with an outcome, not trained further.

    Returns:
        The multiple of training at which they were asked, 4 or 8, whichever is nearest, and the
        least and the most over all seeds of the share of letters found, depths averaged. None if
        nothing near was asked.
    """
    answer = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))]
    if answer.method == "longrope" or (answer.method is None and answer.family is None):
        return None
    multiple = params.real("multiple", multiple, 0.0)
    asked = min((4.0, 8.0), key=lambda one: abs(math.log(one / max(multiple, 1.0))))
    if multiple > _NEAR * asked:
        return None
    shares = []
    for family in (answer.family,) if answer.family else _NAMES:
        method = answer.method or "default"
        factor = 1.0 if answer.family else lab_factor(method, asked, family)
        for model in measured.models(family) if factor is not None else ():
            grid = haystacks.grid(model, method, factor or 1.0)
            if grid is not None:
                column = grid.accuracy[grid.lengths.index(int(asked * TRAINED_LENGTH))]
                shares.append(float(column.mean()))
    told = [one for one in shares if not math.isnan(one)]
    return (asked, min(told), max(told)) if told else None


def within(outcome: str, multiple: float, family: str) -> tuple[float, float] | None:
    """Perplexity of the lab's models at their trained context: plain, and scaled as they are.

    Means over the seeds of ``family``. None for what is no scaling, changes nothing there, or was
    not measured near its factor.
    """
    method = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))].method
    if method in (None, "default", "longrope", "dynamic"):
        return None
    factor = lab_factor(method, multiple, family)
    plain = measured.band(family)
    scaled = None if factor is None else measured.band(family, method, factor)
    if plain is None or scaled is None:
        return None
    at = plain.lengths.index(TRAINED_LENGTH)
    return math.exp(plain.mean[at]), math.exp(scaled.mean[at])


def share(
    family: str, method: str = "default", factor: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """:func:`posviz.measured.loss_share` as far as the model can read."""
    found = measured.loss_share(family, method, factor)
    if found is None:
        return None
    seen = np.isfinite(found[1])
    return found[0][seen], found[1][seen]


def drawn(fact: Fact, label: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A line of a fact's table, perplexities by multiples of the trained context.

    A bound stands where a value is only bounded; lengths without either are left out.
    """
    table = published.table(fact.table)
    line = next(one for one in table.series if one.label == label)
    values = np.where(np.isnan(line.values), line.bounds, line.values)
    seen = np.isfinite(values)
    told = np.exp(values) if table.quantity == published.LOSS else values
    multiples = line.lengths / fact.trained if fact.trained else line.multiples
    return multiples[seen], told[seen]


def alike(rope: RoPE, trained: int) -> str:
    """The lab's RoPE family whose share of pairs without a whole turn is nearest to a model's."""

    def share(one: RoPE, length: int) -> float:
        return float(extrapolation.never_completed(one, length).mean())

    own = share(rope, trained)
    return min(
        ("names-rope-500", "names-rope-10000"),
        key=lambda family: abs(
            share(RoPE(32, float(family.rpartition("-")[2])), TRAINED_LENGTH) - own
        ),
    )
