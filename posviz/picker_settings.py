"""What the picker's answers set: methods with their numbers, files, and the memory they need."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from posviz import alibi, catalog, export, extrapolation, hf_config, params, presets
from posviz.export import Setting
from posviz.picker import OUTCOMES, Case, File
from posviz.rope import RoPE
from posviz.rope_scaling import RopeScaling, Yarn, scaling

DYNAMIC_FACTOR = 2.0
"""Factor of dynamic NTK that is recommended: at four times the length it lost less than 1 and 4 in
every seed of the lab's language models. Its copying models did better with 4."""


def own_factor(method: str, multiple: float, rope: RoPE, trained: int) -> float:
    """Factor that a method needs to read ``multiple`` trained contexts of a RoPE.

    For NTK, the factor that slows the first pair without a whole turn in training ``multiple``
    times, at most ``multiple ** 3``: its factor is the last pair's, and earlier ones are slowed
    less. Dynamic NTK follows the length; its factor is :data:`DYNAMIC_FACTOR`.
    """
    multiple = params.real("multiple", multiple, 0.0, 1e100)
    if method == "dynamic":
        return DYNAMIC_FACTOR
    if method != "ntk" or rope.rotary_dim < 4:
        return multiple
    slow = extrapolation.never_completed(rope, trained)
    first = extrapolation.first_never_completed(rope, trained)
    if not slow.any() or first == 0:
        return multiple
    return float(multiple ** min((rope.rotary_dim - 2) / (2 * first), 3.0))


RELEASED_BASES = (
    (4096, 10_000.0, "Llama-2-7b-hf"),
    (8192, 500_000.0, "Meta-Llama-3-8B"),
    (32_768, 1_000_000.0, "Qwen2.5-7B-Instruct"),
    (262_144, 10_000_000.0, "Qwen3-30B-A3B-Instruct-2507"),
)
"""Trained context, base, and a released model that was trained so."""


def usual_base(length: int) -> tuple[float, str]:
    """Base of a released model trained on at least ``length`` tokens, and its name.

    The shortest one that suffices; of the longest one on record beyond it.
    """
    length = params.whole("length", length, 1)
    found = next((one for one in RELEASED_BASES if length <= one[0]), RELEASED_BASES[-1])
    return found[1], found[2]


def method_of(case: Case, outcome: str, rope: RoPE) -> RopeScaling | None:
    """The scaling that an outcome sets, its parameters filled in; None if it sets none here.

    A model whose own file has the method keeps all numbers of it but the factor. LongRoPE's lists
    come out of a search, so it has none.
    """
    method = OUTCOMES[params.one_of("outcome", outcome, tuple(OUTCOMES))].method
    if method in (None, "default", "longrope") or case.multiple <= 1.0:
        return None
    own: Any = case.file.scaling if case.file is not None else None
    factor = own_factor(method, case.factor, rope, case.origin)
    if own is None or own.rope_type != method:
        return scaling(
            method, factor=factor, max_position_embeddings=case.trained,
            original_max_position_embeddings=case.origin,
        )  # fmt: skip
    found: RopeScaling = replace(own, factor=factor, original_max_position_embeddings=case.origin)
    if isinstance(found, Yarn) and writes_out(case.file, rope):
        return replace(found, attention_factor=None)
    return found


def writes_out(file: File | None, rope: RoPE) -> bool:
    """Whether a YaRN file writes out the ``attention_factor`` that its factor gives anyway."""
    own = file.scaling if file is not None else None
    if not isinstance(own, Yarn) or own.attention_factor is None:
        return False
    usual = replace(own, attention_factor=None).frequencies(rope)[1]
    return math.isclose(own.attention_factor, usual, rel_tol=1e-6)


def setting(case: Case, outcome: str, rope: RoPE, head_dim: int) -> Setting | None:
    """What is written into a configuration; None if the outcome is no setting of RoPE.

    Raises:
        InvalidParameterError: If this RoPE cannot have the method (NTK with a single pair).
    """
    answer = OUTCOMES[outcome]
    if answer.method is None or answer.method == "longrope" or case.modality != "text":
        return None
    if case.start == "scratch" and outcome in ("rope", "base"):
        base = usual_base(max(case.target, case.trained))[0]
        return Setting(RoPE(rope.rotary_dim, base), scaling("default"), head_dim,
                       max(case.target, case.trained), case.trained)  # fmt: skip
    method = method_of(case, outcome, rope) or scaling("default")
    return Setting(rope, method, head_dim, max(case.target, case.trained), case.trained)


# Keys of a file's RoPE that are the method's, or a second spelling of them.
_METHOD_KEYS = {*hf_config.METHOD_KEYS, "original_max_position_embeddings", "rope_type",
                "legacy_type", "rope_theta", "partial_rotary_factor"}  # fmt: skip


def kept_keys(name: str, case: Case, outcome: str) -> dict[str, Any]:
    """What a released model's RoPE settings say beside its method: it stays as it is.

    ``attn_factor`` belongs to the file's own method and stays with that only.
    """
    own = presets.record(name).get("rope", {})
    own = own.get("full_attention", own)
    same = case.file is not None and case.file.rope_type == OUTCOMES[outcome].method
    return {
        key: value
        for key, value in own.items()
        if key not in _METHOD_KEYS and (same or key != "attn_factor")
    }


def has_layer_types(name: str) -> bool:
    """Whether a released model has RoPE settings for each type of layer."""
    return "full_attention" in presets.record(name).get("rope", {})


def config(
    name: str, case: Case, outcome: str, setting: Setting,
    style: export.Style = "rope_parameters",
) -> dict[str, Any]:  # fmt: skip
    """The keys of a released model's ``config.json`` that hold a setting, its own ones kept.

    Args:
        name: As in :func:`posviz.presets.names`.
        case: Its case.
        outcome: The answer, of :data:`posviz.picker.OUTCOMES`.
        setting: What :func:`setting` gives for it.
        style: As for :func:`posviz.export.hf_config`.
    """
    found = export.hf_config(setting, style)
    if "qk_rope_head_dim" in presets.record(name):  # the part that turns has its own key there
        del found["head_dim"]
    own = kept_keys(name, case, outcome)
    if found.get(style) is not None:
        found[style] = found[style] | own
    elif own:
        found[style] = {"rope_type": "default"} | own
    if style == "rope_parameters" and has_layer_types(name):
        found[style] = presets.record(name)["rope"] | {"full_attention": found[style]}
    return found


def mrope_section(pairs: int) -> tuple[int, int, int]:
    """Pairs for time, height and width in the shares of Qwen2-VL: 16, 24 and 24 of 64."""
    pairs = params.whole("pairs", pairs, 1)
    side = round(3 * pairs / 8)
    return pairs - 2 * side, side, side


def other_config(case: Case, outcome: str, num_heads: int, rope: RoPE) -> dict[str, Any] | None:
    """Keys of a configuration for what is no scaling of RoPE; None if there are none to write."""
    length = max(case.target, case.trained)
    relative: dict[str, Any] = {"max_source_positions": length}
    match OUTCOMES[outcome].encoding:
        case "alibi":
            return {"alibi": True, "slopes": alibi.slopes(num_heads).tolist()}
        case "t5":
            return {"relative_attention_num_buckets": catalog.NUM_BUCKETS,
                    "relative_attention_max_distance": 128}  # fmt: skip
        case "learned":
            return {"position_embedding_type": "absolute", "max_position_embeddings": length}
        case "sinusoidal":
            return {"sinusoidal": True, "base": 10_000.0, "max_position_embeddings": length}
        case "transformer_xl":  # the keys of Hugging Face's wav2vec2_conformer
            return {"position_embeddings_type": "relative"} | relative
        case "rope" if case.modality == "audio":
            return {"position_embeddings_type": "rotary",
                    "rotary_embedding_base": rope.rope_theta} | relative  # fmt: skip
        case "rope" if case.modality == "image":
            section = list(mrope_section(rope.rotary_dim // 2))
            return {"rope_parameters": {"rope_type": "default", "rope_theta": rope.rope_theta,
                                        "mrope_section": section}}  # fmt: skip
    return None


@dataclass(frozen=True)
class Layers:
    """Layers by how many tokens' keys and values each keeps.

    Attributes:
        full: Layers that keep all tokens.
        limited: Layers that keep the last ``limit`` ones.
        limit: Tokens of a window or a chunk.
    """

    full: int
    limited: int = 0
    limit: int = 0

    def tokens(self, seq_len: int) -> int:
        """Tokens that all layers keep together of a text."""
        return self.full * seq_len + self.limited * min(seq_len, self.limit)

    def fits(self, total: float) -> float:
        """The longest text of which all layers together keep ``total`` tokens; may be infinite."""
        short = total // max(self.full + self.limited, 1)
        if not self.limited or short < self.limit:
            return short if self.full + self.limited else math.inf
        rest = total - self.limited * self.limit
        return rest // self.full if self.full else math.inf


@lru_cache(maxsize=512)
def layer_kinds(name: str, num_layers: int) -> Layers:
    """A released model's layers by what they keep; those of linear attention keep no tokens."""
    record = presets.record(name)
    limit = record.get("sliding_window") or record.get("attention_chunk_size") or 0
    types = [one.layer_type for one in presets.layers(name, num_layers)]
    limited = sum(one in ("sliding_attention", "chunked_attention") for one in types)
    full = types.count("full_attention")
    return Layers(full, limited, limit) if limit else Layers(full + limited)


def cache_bytes(
    seq_len: int, num_layers: int, num_key_value_heads: int, head_dim: int, width: int = 2
) -> int:
    """Bytes of the keys and values of one text; no encoding changes them.

    Args:
        seq_len: Tokens.
        num_layers: Layers with attention.
        num_key_value_heads: Heads that are cached in each layer.
        head_dim: Dimensions of a head.
        width: Bytes of a number, 2 for float16 and bfloat16.
    """
    params.whole("width", width, 1)
    sizes = {"seq_len": seq_len, "num_layers": num_layers, "head_dim": head_dim,
             "num_key_value_heads": num_key_value_heads}  # fmt: skip
    return 2 * width * math.prod(params.whole(name, size, 1) for name, size in sizes.items())


def bias_bytes(encoding: str, seq_len: int, num_heads: int, width: int = 2) -> int:
    """Bytes of an encoding's own part of the scores if it is written out; 0 if it has none."""
    return params.whole("width", width, 1) * catalog.get(encoding).bias_entries(seq_len, num_heads)
