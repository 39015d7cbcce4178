"""Released models by name: what their configuration says about positions.

Facts stand in ``model_configs.json``, each with the place where it was seen. :func:`config` writes
them as the ``config.json`` that :mod:`posviz.hf_config` reads.
"""

from __future__ import annotations

import json
import math
import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import alibi, extrapolation, hf_config, params
from posviz.hf_config import Reading, Rotary
from posviz.params import InvalidParameterError, shown
from posviz.precision import bfloat16
from posviz.rope import RoPE
from posviz.rope_scaling import scaling

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


# What the gallery asks: meanings of a record, found by words, and where they were seen.


@dataclass(frozen=True)
class Layer:
    """What one layer does with positions.

    Attributes:
        layer_type: ``full_attention``, ``sliding_attention``, ``chunked_attention`` or
            ``linear_attention``.
        has_rope: Whether its queries and keys turn.
    """

    layer_type: str
    has_rope: bool


@cache  # facts of a file of the package; hundreds of handles' steps ask for all of them
def reading(name: str) -> Reading:
    """What a model's ``config.json`` says about positions, as :func:`posviz.hf_config.read` has it.

    Raises:
        InvalidParameterError: If no model has that name, or its record lacks what its method needs.
    """
    return hf_config.read(config(name))


def is_verified(name: str) -> bool:
    """Whether a model's facts were seen at a source."""
    verified: bool = _record(name)["verified"]
    return verified


def main_rotary(name: str) -> Rotary | None:
    """RoPE of the layers that see everything, else of all layers; None without RoPE."""
    found = reading(name).rotary
    full = [each for each in found if each.layer_type == "full_attention"]
    return next(iter(full or found), None)


def trained_context(name: str) -> int | None:
    """Tokens that a model saw at once before any extension; None if its record does not say.

    A file with position interpolation names only the context after it, so that of ``linear`` is
    unknown unless the record has it.
    """
    record = _record(name)
    rope = record.get("rope", {})
    rope = rope.get("full_attention", rope)
    told: int | None = rope.get("original_max_position_embeddings") or record.get(
        "original_max_position_embeddings"
    )
    if told is None and rope.get("rope_type") != "linear":
        return record.get("max_position_embeddings")
    return told


def layers(name: str, count: int = 12) -> tuple[Layer, ...]:
    """What each of the first ``count`` layers does, by the rule of the model type.

    Not every record tells how many layers there are. Where the rule names no types, a sliding
    window is every layer's (Mistral 7B v0.1).
    """
    count = params.whole("count", count, 1, hf_config.LARGEST_DEPTH)
    found = hf_config.read({**config(name), "num_hidden_layers": count})
    alike = "full_attention" if found.sliding_window is None else "sliding_attention"
    types = found.layer_types or (alike,) * count
    ropes = found.rope_layers or (found.positional_encoding == "rope",) * count
    return tuple(Layer(*each) for each in zip(types, ropes, strict=True))


def reach(name: str, seq_len: int) -> int:
    """Tokens over which layers with RoPE compare, in a context of ``seq_len`` tokens.

    All of them, unless each layer that turns looks back over a window or within a chunk.
    """
    seq_len = params.whole("seq_len", seq_len, 1)
    record = _record(name)
    limits = {
        "sliding_attention": record.get("sliding_window"),
        "chunked_attention": record.get("attention_chunk_size"),
    }
    ends = [limits.get(each.layer_type) for each in layers(name) if each.has_rope]
    known = [end for end in ends if end is not None]
    return min(seq_len, max(known)) if known and len(known) == len(ends) else seq_len


def unseen(name: str, seq_len: int) -> extrapolation.Flags | None:
    """Which pairs of :func:`main_rotary` meet angles beyond training in that context.

    None without RoPE, or if the trained context is not on record. Where every layer that turns
    looks back over a window, no angle beyond the window's is met.
    """
    rotary, trained = main_rotary(name), trained_context(name)
    if rotary is None or trained is None:
        return None
    inv_freq, _ = rotary.frequencies(seq_len)
    return extrapolation.unseen(rotary.rope, inv_freq, trained, reach(name, seq_len))


def alibi_slopes(name: str) -> NDArray[np.float64] | None:
    """ALiBi's slope of each head beside scores that are already divided; None without ALiBi.

    Falcon rounds its slopes to bfloat16 and divides the bias by ``sqrt(head_dim)`` with the scores.
    """
    found, record = reading(name), _record(name)
    if found.alibi_bias_max is None or found.num_heads is None:
        return None
    slopes = alibi.slopes(found.num_heads, found.alibi_bias_max)
    if record.get("slopes_rounded_to_bfloat16"):
        slopes = bfloat16(slopes)
    return slopes / math.sqrt(record["head_dim"]) if found.alibi_scaled else slopes


def playground_values(name: str) -> dict[str, Any] | None:
    """The playground's handles that show exactly this model; None if it has none for it."""
    if name in PLAYGROUND:
        return {"model": name}
    try:
        model, rotary, trained = get(name), main_rotary(name), trained_context(name)
    except InvalidParameterError:
        return None
    if rotary is None or trained is None:
        return None
    values: dict[str, Any] = {
        "rope_type": rotary.rope_type,
        "original_max_position_embeddings": trained,
        "rope_theta": rotary.rope.rope_theta,
        "head_dim": rotary.rope.rotary_dim,
        "num_heads": model.num_heads,
    }
    if model.factor is not None:
        values["factor"] = float(model.factor)
    checks = {
        "original_max_position_embeddings": params.TRAINED_CONTEXT,
        "rope_theta": params.ROPE_THETA,
        "head_dim": params.HEAD_DIM,
        "num_heads": params.NUM_HEADS,
        "factor": params.FACTOR,
    }
    try:
        for key, number in checks.items():
            if key in values:
                number.check(values[key])
        # What the playground computes from these handles, which stand beside its first model.
        first = get(PLAYGROUND[0])
        keys = first.method_keys if first.rope_type == rotary.rope_type else {}
        method = scaling(
            rotary.rope_type, factor=model.factor, max_position_embeddings=trained,
            original_max_position_embeddings=trained, **keys,
        )  # fmt: skip
        plain = RoPE(rotary.rope.rotary_dim, rotary.rope.rope_theta)
        for seq_len in (None, 2 * trained):
            shown_there = method.frequencies(plain, seq_len)
            own = rotary.frequencies(seq_len)
            if not np.array_equal(shown_there[0], own[0]) or shown_there[1] != own[1]:
                return None
    except InvalidParameterError:
        return None
    return values


def can_be_scaled(name: str) -> bool:
    """Whether the scaling page can begin with this model: its file says what it was trained for."""
    try:
        get(name)
        rotary = main_rotary(name)
    except InvalidParameterError:
        return False
    return (
        rotary is not None
        and trained_context(name) is not None
        and rotary.rope_type != "proportional"
    )


# Words by which a method is also known.
_ALSO_CALLED = {
    "linear": ("pi", "position", "interpolation"), "dynamic": ("ntk",), "longrope": ("su",),
    "default": ("plain",),
}  # fmt: skip
_NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?(?:e\d+)?)([km]?)")


def search(words: str, encoding: str = "any", method: str = "any") -> tuple[str, ...]:
    """Names of the models on record that match every word, in the order of the file.

    A word is a part of the name or the family; the beginning of an encoding, a method, a layout, or
    of ``sliding``, ``nope``, ``mla``, ``mrope``, ``partial``, ``verified``, ``unverified``; or one
    of the record's numbers: ``500,000``, ``1e6``, ``128k`` (128,000 and 131,072), ``10m``.

    Args:
        words: What is looked for, apart by spaces, in any case; empty for all.
        encoding: Only models of this ``positional_encoding``, or ``any``.
        method: Only models with this ``rope_type`` in some layers, or ``any``.
    """
    asked = words.lower().split()
    return tuple(
        name
        for name, record in _records().items()
        if encoding in ("any", record["positional_encoding"])
        and (method == "any" or method in rope_types(name))
        and all(_matches(word, record) for word in asked)
    )


def rope_types(name: str) -> tuple[str, ...]:
    """Scaling methods of a model's layer types, each once; empty without RoPE."""
    rope = _record(name).get("rope")
    if rope is None:
        return ()
    parts = [rope] if "rope_type" in rope else list(rope.values())
    return tuple(dict.fromkeys(part["rope_type"] for part in parts))


def _matches(word: str, record: dict[str, Any]) -> bool:
    if word in record["name"].lower() or word in record["family"]:
        return True
    number = _NUMBER.fullmatch(word)
    if number and _is_number_of(float(number[1].replace(",", "")), number[2], record):
        return True
    return any(term.startswith(word) for term in _terms(record))


def _terms(record: dict[str, Any]) -> list[str]:
    """Words that a record answers to, besides its name."""
    methods = rope_types(record["name"])
    terms = [record["positional_encoding"], *methods]
    terms += [term for each in methods for term in _ALSO_CALLED.get(each, ())]
    terms += record.get("layout", "").split()[:1]
    terms.append("verified" if record["verified"] else "unverified")
    rope = record.get("rope", {})
    for term, holds in (
        ("sliding", "sliding_window" in record or "sliding_attention" in rope),
        ("nope", "nope_layer_interval" in record or record["family"] == "exaone4"),
        ("mla", "qk_rope_head_dim" in record),
        ("mrope", "mrope_section" in rope),
        ("partial", "partial_rotary_factor" in record),
        ("mixed", is_mixed(record["name"])),
    ):
        if holds:
            terms.append(term)
    return terms


@cache
def is_mixed(name: str) -> bool:
    """Whether its layers differ in what they do with positions; False where that is not known."""
    try:
        return len(set(layers(name))) > 1
    except InvalidParameterError:
        return False


def _is_number_of(value: float, unit: str, record: dict[str, Any]) -> bool:
    rope = record.get("rope", {})
    inner = [part for part in rope.values() if isinstance(part, dict)]
    held = {
        number
        for part in (record, rope, *inner)
        for number in part.values()
        if isinstance(number, (int, float)) and not isinstance(number, bool)
    }
    if not unit:
        return value in held
    thousand, binary = (1e3, 1024) if unit == "k" else (1e6, 1024**2)
    return any(
        number == value * binary or abs(number - value * thousand) < thousand / 2
        for number in held
        if number >= 1000
    )


_TRANSFORMERS = (
    "https://github.com/huggingface/transformers/blob/v{version}/src/transformers/models"
)
_PLACE = re.compile(
    r"(?P<url>https?://[^\s,;)]+)"
    r"|transformers (?P<version>[\d.]+) default config class (?P<kind>\w+)"
    r"|(?<![\w/.-])(?P<repo>[A-Za-z][\w.-]*/[\w.-]+)"
    r"(?:@(?P<commit>[0-9a-f]{7,40})|#(?P<thread>\d+))?"
    r"(?: (?P<path>(?:[\w.-]+/)*[\w.-]+\.(?:py|yml|json|sh)))?"
)


def source_links(name: str) -> tuple[tuple[str, str], ...]:
    """Places of a record's source that have an address: what is there, and the address."""
    links: dict[str, str] = {}
    for found in _PLACE.finditer(_record(name)["source"]):
        part = found.groupdict()
        if part["url"]:
            links[part["url"]] = part["url"]
        elif part["kind"]:
            kind, base = part["kind"], _TRANSFORMERS.format(version=part["version"])
            links[f"transformers {kind}"] = f"{base}/{kind}/configuration_{kind}.py"
        elif part["thread"]:
            told = f"{part['repo']}#{part['thread']}"
            links[told] = f"https://github.com/{part['repo']}/issues/{part['thread']}"
        elif part["path"] or part["commit"]:
            kind = "blob" if part["path"] else "tree"
            parts = (kind, part["commit"] or "HEAD", part["path"])
            end = "/".join(each for each in parts if each)
            links[part["repo"]] = f"https://github.com/{part['repo']}/{end}"
        elif found.start() == 0:
            links[part["repo"]] = f"https://github.com/{part['repo']}"
    return tuple(links.items())
