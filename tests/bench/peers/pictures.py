"""The playground's three pictures from posviz's own functions, for the apps of the peers.

Each peer asks for the same numbers, ranges, markup and Plotly traces that posviz shows. What does
not depend on the position is kept between two moves, which posviz does not do.
"""

from __future__ import annotations

import base64
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from posviz import alibi, distance, extrapolation, measured, rope  # noqa: E402
from posviz.figures import playground, style  # noqa: E402
from posviz.rope_scaling import Llama3, NoScaling  # noqa: E402

threadpoolctl.threadpool_limits(1, user_api="blas")  # as in posviz/ui/live.py

TRAINED, HEADS = 8192, 32
ROTATIONS = {"width": 520, "height": 400}
ATTENTION = {"width": 860, "height": 272}
EXTRAPOLATION = {"width": 860, "height": 206}


@dataclass(frozen=True)
class Handle:
    """A slider: its name, label, ends, step and where it stands first."""

    name: str
    label: str
    low: float
    high: float
    step: float
    value: float


# The base is a power of ten: no peer has a logarithmic slider.
HANDLES = (
    Handle("position", "Position", 0, 4 * TRAINED, 1, 12000),
    Handle("base", "Base, 10^", 1, 9, 0.01, 5.7),
    Handle("head_dim", "Dimension", 4, 256, 2, 128),
    Handle("factor", "Scale factor", 1, 64, 0.01, 8),
    Handle("head", "ALiBi head", 1, HEADS, 1, 3),
)
FIRST = tuple(handle.value for handle in HANDLES)


def say(template: str, **values: object) -> str:
    return template.format(**values)


class Still:
    """What the pictures show that does not depend on the position."""

    def __init__(self, base: float, head_dim: int, factor: float, head: int) -> None:
        self.plain, self.method = rope.RoPE(head_dim, 10.0**base), Llama3(factor, TRAINED)
        self.inv_freq, attention_factor = self.method.frequencies(self.plain)
        self.slope = float(alibi.slopes(HEADS)[head - 1])
        self.pair = min(extrapolation.first_never_completed(rope.RoPE(128, 5e5), TRAINED),
                        head_dim // 2 - 1)  # fmt: skip
        reach = 4 * TRAINED + 1
        starts = distance.bins(reach, 260, "log")
        same = distance.rope_scores(self.inv_freq, reach, attention_factor)
        self.attention = (
            starts,
            distance.envelope(same, starts),
            distance.random_band(self.inv_freq, starts, attention_factor),
            alibi.bias(self.slope, starts),
            distance.envelope(distance.sinusoidal_scores(reach, head_dim), starts),
        )
        self.usable = extrapolation.usable_context(self.plain, self.method, TRAINED) / TRAINED
        multiples = extrapolation.multiples(1.0, self.usable)
        lengths = TRAINED * multiples
        self.contexts = (
            multiples,
            extrapolation.unseen_share(self.plain, NoScaling(), TRAINED, lengths),
            extrapolation.unseen_share(self.plain, self.method, TRAINED, lengths),
        )
        self.slow = int(extrapolation.never_completed(self.plain, TRAINED).sum())
        self.measured = measured.loss_share(
            "names-rope-500", "llama3", measured.nearest_factor(factor)
        )


still = lru_cache(maxsize=256)(Still)


def draw(
    position: float, base: float, head_dim: float, factor: float, head: float
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Markup of the clocks, Plotly figures of attention and extrapolation."""
    position, head_dim, head = int(position), int(head_dim), int(head)
    seen = still(float(base), head_dim, float(factor), head)
    plain = seen.plain.inv_freq
    dials = playground.rotations(
        position * seen.inv_freq, TRAINED * plain, rope.wavelength(seen.inv_freq),
        rope.wavelength(plain), rope.turns(plain, TRAINED),
        extrapolation.unseen(seen.plain, seen.inv_freq, TRAINED, position + 1),
        chosen=seen.pair, trained=TRAINED, _=say,
    )  # fmt: skip
    attention = playground.attention(
        *seen.attention, trained=TRAINED, position=position, log_axis=True, as_weights=False, _=say
    )
    contexts = playground.extrapolation(
        *seen.contexts, method="llama3", method_label="Llama 3", usable=seen.usable,
        current=(position + 1) / TRAINED, slow=seen.slow, pairs=head_dim // 2, head=head,
        window=style.tokens(np.ceil(alibi.window(seen.slope))), measured=seen.measured, _=say,
    )  # fmt: skip
    return dials, in_colour(attention), in_colour(contexts)


def in_colour(node: Any) -> Any:
    """The figure with the colours of the light theme filled in."""
    if isinstance(node, dict):
        return {key: in_colour(value) for key, value in node.items()}
    if isinstance(node, list):
        return [in_colour(value) for value in node]
    if isinstance(node, str) and (match := re.fullmatch(r"var\(--pv-(\w+?)(-faded)?\)", node)):
        return style.COLOURS[match[1]][0] + ("38" if match[2] else "")
    return node


def packed(array: Any) -> dict[str, str]:
    """An array as plotly.js reads it fastest: float32 bytes, as posviz sends it."""
    data = np.asarray(array).astype("<f4").tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode()}


def css() -> str:
    """The style of the clocks, without what only Streamlit's page needs."""
    lines = (ROOT / "posviz" / "ui" / "static" / "live.css").read_text().splitlines()
    names = (
        ".pv-rotations .pv-enlarged .pv-clock .pv-face .pv-trained .pv-trail .pv-turned .pv-hand"
    )
    clocks = [line for line in lines if line.startswith((*names.split(), ".pv-legend"))]
    own = ":root{--pv-line:#d9dce0}.pv-rotations p{margin:0}"
    return "\n".join([style.css(), *clocks, own])
