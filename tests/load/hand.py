"""A hand on a slider: which values it meets, and when."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Handle:
    """A slider as the page declares it."""

    name: str
    low: float
    high: float
    step: float
    scale: str

    def value(self, share: float) -> float:
        """The value at this share of the track, as ``static/slider.js`` rounds it."""
        low, high, step = self.low, self.high, self.step
        if self.scale != "log":
            value = low + share * (high - low)
        elif low == 0:
            value = math.expm1(share * math.log1p(high))
        else:
            value = low * (high / low) ** share
        if self.scale == "log" and not float(step).is_integer():
            value = float(f"{value:.3g}")
        stepped = low + round((value - low) / step) * step
        return float(f"{min(max(stepped, low), high):.12g}")

    def sweep(self, seconds: float, phase: float, track: int) -> float:
        """The value under a hand that goes from end to end and back in about eight seconds.

        A pointer stands on a pixel: ``track`` says how many the slider has.
        """
        turn = (seconds / 8 + phase) % 1
        return self.value(round(2 * min(turn, 1 - turn) * track) / track)
