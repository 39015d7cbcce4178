"""What is said of many measurements."""

from __future__ import annotations

from collections.abc import Sequence

RANKS = (0.5, 0.9, 0.99, 1.0)


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """p50, p90, p99 and max in ms, by nearest rank, and how many there are; none is 0."""
    ordered = sorted(seconds)
    at = [ordered[max(round(rank * len(ordered)) - 1, 0)] if ordered else 0.0 for rank in RANKS]
    names = ("p50", "p90", "p99", "max")
    return {**{name: 1e3 * one for name, one in zip(names, at, strict=True)}, "count": len(ordered)}


def slope(ats: Sequence[float], values: Sequence[float]) -> float:
    """Of the line of least squares; 0 through fewer than three points."""
    if len(ats) < 3:
        return 0.0
    mean = sum(ats) / len(ats)
    spread = sum((at - mean) ** 2 for at in ats)
    return sum((at - mean) * value for at, value in zip(ats, values, strict=True)) / spread
