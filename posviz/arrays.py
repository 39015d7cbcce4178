"""Arrays that enter the core, checked the way :mod:`posviz.params` checks numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import params

# Two such entries, multiplied and summed, stay finite in float64.
LARGEST_ENTRY = 1e100

MOST_NUMBERS = 1 << 28
"""How many numbers an array may have, so that it fits memory: 2 GiB of float64."""

WHOLE_NUMBERS = "{name} must be whole numbers from {low} to {high}, got {got}"
ENTRIES = "{name} must be finite numbers from {low} to {high}, got {got}"
AXES = "{name} must have the axes {allowed}, got an array of shape {got}"
TOO_MANY = "{name} must ask for at most {high} numbers, got {got}"
ONE_OR_MORE = "{name} must be one number or a list of them, got an array of shape {got}"


def whole_numbers(
    name: str,
    value: Any,
    low: int = -params.LARGEST,
    high: int = params.LARGEST,
    template: params.Message = WHOLE_NUMBERS,
) -> NDArray[np.int64]:
    """``value`` as int64 numbers in ``[low, high]``, in the shape it came in."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        found = np.asarray(None)
    wrong: object = value
    if found.dtype.kind in "iu":
        outside = (found < low) | (found > high)
        if not outside.any():
            return found.astype(np.int64)
        wrong = int(found[outside][0])
    elif found.dtype.kind == "f" and found.size:
        off = ~(np.isfinite(found) & (found == np.round(found)))
        wrong = float(found[off][0] if off.any() else found.ravel()[0])
    raise params.InvalidParameterError(
        template, name=name, low=params.shown(low), high=params.shown(high),
        got=params.written(wrong),
    )  # fmt: skip


def entries(name: str, value: Any, *axes: str, low: float = -LARGEST_ENTRY) -> NDArray[np.float64]:
    """``value`` as float64 numbers of moderate size whose last axes are ``axes``, none empty.

    The names of the axes are what the error says; a leading ``...`` allows any further axes.
    """
    found = params.numbers(name, value)
    named = [axis for axis in axes if axis != "..."]
    enough = found.ndim >= len(named) if "..." in axes else found.ndim == len(named)
    if not enough or not found.size:
        raise params.InvalidParameterError(
            AXES, name=name, allowed=f"({', '.join(axes)})", got=str(found.shape)
        )
    outside = (found < low) | (found > LARGEST_ENTRY)
    if outside.any():
        raise params.InvalidParameterError(
            ENTRIES, name=name, low=params.shown(low), high=params.shown(LARGEST_ENTRY),
            got=params.shown(float(found[outside][0])),
        )  # fmt: skip
    return found


def listed(name: str, value: Any, low: float = -math.inf) -> NDArray[np.float64]:
    """``value``, one number or a list of them, as a list of finite numbers of at least ``low``."""
    found = np.atleast_1d(params.numbers(name, value, low))
    if found.ndim != 1:
        raise params.InvalidParameterError(ONE_OR_MORE, name=name, got=str(found.shape))
    return found


def check_count(name: str, *lengths: int) -> None:
    """Refuse an array of so many numbers that it fits no memory."""
    count = 1
    for length in lengths:
        count *= length
    if count > MOST_NUMBERS:
        raise params.InvalidParameterError(
            TOO_MANY, name=name, high=params.shown(MOST_NUMBERS), got=params.shown(count)
        )


def check_length(name: str, value: int, of: str, allowed: int) -> None:
    """Refuse a length that is not the one of another array."""
    if value != allowed:
        raise params.InvalidParameterError(
            "{name} must be as long as {of}, {allowed}, got {got}",
            name=name, of=of, allowed=params.shown(allowed), got=params.shown(value),
        )  # fmt: skip


def check_leading(name: str, *shapes: tuple[int, ...]) -> None:
    """Refuse leading axes that do not broadcast."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError as mismatch:
        raise params.InvalidParameterError(
            "{name} must agree in their leading axes, got {got}",
            name=name,
            got=" and ".join(map(str, shapes)),
        ) from mismatch
