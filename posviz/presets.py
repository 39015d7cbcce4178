"""Released models by name: what their configuration says about positions.

Facts stand in ``model_configs.json``, each with the place where it was seen. :func:`config` writes
them as the ``config.json`` that :mod:`posviz.hf_config` reads.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from posviz.params import InvalidParameterError, shown

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
        positional_encoding: ``rope``, ``alibi``, or another one of ``hf_config.Reading``.
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


# Hugging Face's model_type of a family, where it is not the family's own name.
_MODEL_TYPES = {
    "codellama": "llama", "deepseek-coder": "llama", "gemma1": "gemma", "kimi-k2": "kimi_k2",
    "llama1": "llama", "llama2": "llama", "llama2-pi": "llama", "llama3": "llama",
    "llama3.1": "llama", "llama3.2": "llama", "qwen1": "qwen", "qwen1.5": "qwen2",
    "qwen2.5": "qwen2", "smollm2": "llama", "transformer-xl": "transfo-xl",
}  # fmt: skip
# Files of these families name another class than the rest of them.
_NAMED = {
    "glm-4-9b-chat-hf": "glm", "Ministral-3-3B-2512": "ministral3", "phi-4": "phi3",
    "Phi-4-mini-instruct": "phi3", "Yarn-Llama-2-7b-64k": "llama", "Yarn-Llama-2-7b-128k": "llama",
    "Yarn-Mistral-7b-128k": "mistral", "Devstral-2-123B-Instruct": "ministral3",
}  # fmt: skip
# Facts that a config.json writes under the same key.
_SAME_KEYS = (
    "hidden_size", "num_attention_heads", "num_key_value_heads", "rope_theta",
    "partial_rotary_factor", "max_position_embeddings", "original_max_position_embeddings",
    "sliding_window", "sliding_window_pattern", "global_head_dim", "qk_nope_head_dim",
    "qk_rope_head_dim", "v_head_dim", "relative_attention_num_buckets",
    "relative_attention_max_distance", "use_dynamic_ntk", "use_logn_attn", "attention_chunk_size",
)  # fmt: skip


@cache  # a file of the package, read once
def _records() -> dict[str, dict[str, Any]]:
    path = Path(__file__).with_name("model_configs.json")
    models = json.loads(path.read_text(encoding="utf-8"))["models"]
    return {record["name"]: record for record in models}


def names() -> tuple[str, ...]:
    """Every released model that is on record."""
    return tuple(_records())


def record(name: str) -> dict[str, Any]:
    """The facts about a model, as they stand in the file; a sentence for an unknown one."""
    return deepcopy(_record(name))


def _record(name: str) -> dict[str, Any]:
    if not isinstance(name, str) or name not in _records():
        raise InvalidParameterError(
            "name must be one of the {count} models on record (posviz.presets.names()), got {got}",
            count=len(_records()),
            got=shown(name),
        )
    return _records()[name]


def config(name: str) -> dict[str, Any]:
    """A model's ``config.json``, as far as its record goes, in Hugging Face's newer form."""
    facts = record(name)
    family = facts["family"]
    written: dict[str, Any] = {
        "model_type": _NAMED.get(name) or _MODEL_TYPES.get(family, re.sub("[-.]", "_", family))
    }
    written |= {key: facts[key] for key in _SAME_KEYS if key in facts}
    if "qk_rope_head_dim" not in facts:
        written["d_kv" if family == "t5" else "head_dim"] = facts["head_dim"]
    if "nope_layer_interval" in facts:
        written["no_rope_layer_interval"] = facts["nope_layer_interval"]
    if facts["positional_encoding"] == "alibi":
        if family == "mpt":
            bias_max = facts["alibi_bias_max"]
            written["attn_config"] = {"alibi": True, "alibi_bias_max": bias_max}
        elif family == "falcon":
            written["alibi"] = True
    rope = facts.get("rope")
    if rope is not None:
        legacy = rope.pop("legacy_type", None)
        if legacy is not None:
            rope["rope_type"] = legacy
        written["rope_parameters"] = rope
    return written


def get(name: str) -> Preset:
    """The model of that name, as the handles see it.

    Where layer types differ, it is the full-attention layers'.

    Raises:
        InvalidParameterError: If no model has that name, or its record lacks a value that the
            handles need.
    """
    record = _record(name)
    rope = record.get("rope", {"rope_type": "default"})
    rope = rope.get("full_attention", rope)
    trained = (
        rope.get("original_max_position_embeddings")
        or record.get("original_max_position_embeddings")
        or record.get("max_position_embeddings")
    )
    num_heads = record.get("num_attention_heads")
    if trained is None or num_heads is None:
        raise InvalidParameterError(
            "{name} must be on record for {model}, got nothing",
            name="max_position_embeddings" if trained is None else "num_attention_heads",
            model=name,
        )
    return Preset(
        name=name,
        positional_encoding=record["positional_encoding"],
        head_dim=rope.get("head_dim", record["head_dim"]),
        num_heads=num_heads,
        rope_theta=rope.get("rope_theta", record.get("rope_theta")),
        original_max_position_embeddings=trained,
        rope_type=rope["rope_type"],
        factor=rope.get("factor"),
        source=record["source"],
        sliding_window=record.get("sliding_window"),
        method_keys={key: rope[key] for key in _METHOD_KEYS if key in rope},
    )
