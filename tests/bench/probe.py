"""What happens in a page: the probe that watches pictures, and the times read from it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

PROBE = Path(__file__).with_name("probe.js").read_text()
"""A function of the pictures' selectors; for ``page.evaluate`` on a page that stands."""


def on_load(pictures: Sequence[str]) -> str:
    """The probe as a script for a page that is still to load."""
    return f"({PROBE.rstrip()})({json.dumps(pictures)})"


def latencies(page: Page) -> list[float]:
    """For each input event, the time until all pictures had changed after it, ms."""
    probe = page.evaluate("window.probe")
    found = []
    for event, after in zip(probe["events"], [*probe["events"][1:], math.inf], strict=True):
        first = [next((t for t in drawn if event < t < after), None) for drawn in probe["drawn"]]
        if all(t is not None for t in first):
            found.append(max(t for t in first if t is not None) - event)
    return found


def reset(page: Page) -> None:
    page.evaluate(
        "Object.assign(probe, {events: [], frames: 0, blank: 0, mixed: 0, "
        "drawn: probe.drawn.map(() => [])})"
    )


def settle(page: Page, least: float = 350, most: float = 5000) -> None:
    """Waits until every picture has answered the last event and stands; ms."""
    page.wait_for_timeout(least)
    for _ in range(round((most - least) / 50)):
        if page.evaluate(
            "probe.drawn.every((times) => times.at(-1) > probe.events.at(-1)) && "
            "performance.now() - Math.max(...probe.drawn.flat()) > 150"
        ):
            return
        page.wait_for_timeout(50)
