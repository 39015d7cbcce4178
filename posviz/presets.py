"""Released models by name: what their configuration says about positions.

Facts stand in ``model_configs.json``, each with the place where it was seen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

# Shown in the playground, in this order.
PLAYGROUND = (
    "Llama-3.1-8B-Instruct",
    "Llama-2-7b-hf",
    "Mistral-7B-v0.1",
    "Qwen3-8B",
    "gpt-oss-20b",
    "Yarn-Llama-2-7b-64k",
    "bloom (176B)",
)

# Keys of a rope configuration that belong to its method, besides factor and trained context.
_METHOD_KEYS = (
    "beta_fast", "beta_slow", "truncate", "attention_factor", "mscale", "mscale_all_dim",
    "low_freq_factor", "high_freq_factor",
)  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """A released model as the handles see it.

    Attributes:
        name: Its name in ``model_configs.json``.
        positional_encoding: ``rope`` or ``alibi``.
        head_dim: Dimensions of a head.
        num_heads: Attention heads.
        rope_theta: Base; None for a model without RoPE.
        original_max_position_embeddings: Trained context, tokens.
        rope_type: Scaling method of the released configuration.
        factor: Its scale factor; None without scaling.
        method_keys: The method's own keys, as released.
        sliding_window: Tokens that some or all layers look back, if limited.
        source: Where the facts were seen.
    """

    name: str
    positional_encoding: str
    head_dim: int
    num_heads: int
    rope_theta: float | None
    original_max_position_embeddings: int
    rope_type: str
    factor: float | None
    source: str
    sliding_window: int | None = None
    method_keys: dict[str, Any] = field(default_factory=dict)


@cache  # a file of the package, read once
def _records() -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name("model_configs.json")
    models = json.loads(path.read_text(encoding="utf-8"))["models"]
    return {record["name"]: record for record in models}


def get(name: str) -> Preset:
    """The model of that name. Raises ``KeyError`` for an unknown one."""
    record = _records()[name]
    rope = record.get("rope", {"rope_type": "default"})
    trained = (
        rope.get("original_max_position_embeddings")
        or record.get("original_max_position_embeddings")
        or record["max_position_embeddings"]
    )
    return Preset(
        name=name,
        positional_encoding=record["positional_encoding"],
        head_dim=record["head_dim"],
        num_heads=record["num_attention_heads"],
        rope_theta=record.get("rope_theta"),
        original_max_position_embeddings=trained,
        rope_type=rope["rope_type"],
        factor=rope.get("factor"),
        source=record["source"],
        sliding_window=record.get("sliding_window"),
        method_keys={key: rope[key] for key in _METHOD_KEYS if key in rope},
    )
