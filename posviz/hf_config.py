"""What a Hugging Face ``config.json`` says about positions.

:func:`read` says what it means, :func:`rope_frequencies` computes it, :func:`diagnose` says what is
wrong with it. All three take the file as a dict, old keys (``rope_scaling``) and new ones
(``rope_parameters``), one set of settings or one per layer type, multimodal files included.

Conventions, where programs differ:

- Hugging Face's (transformers 5.24.0): ``attention_factor`` replaces the computed factor,
  ``attn_factor`` is not read; ``mscale`` counts only together with ``mscale_all_dim``; dynamic NTK
  grows from ``max_position_embeddings``; a missing trained context is ``max_position_embeddings``.
- ``truncate`` of one layer type is read where it stands. transformers 5.24.0 looks for it one level
  above, so that ``truncate: false`` of a layer type has no effect there.
- Dimensions that rotate must be even in number; Hugging Face rounds an odd number up.
- A null value is an absent one. What is absent has the default of its ``model_type``; what the
  file gives anywhere wins over such a default (Hugging Face lets a few classes' defaults win).
- What lies outside a method's range, such as a factor below 1, is an error here, a warning there.

Source: transformers 5.24.0, ``modeling_rope_utils.py`` (``RotaryEmbeddingConfigMixin``,
``ROPE_INIT_FUNCTIONS``) and each model's ``configuration_*.py``.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posviz import hf_model_types as types
from posviz import params, rope_scaling
from posviz import rope as rope_module
from posviz.params import InvalidParameterError
from posviz.rope import Layout, RoPE
from posviz.rope_scaling import Frequencies, RopeScaling

Config = dict[str, Any]
Level = Literal["error", "warning", "note"]

# A head of more dimensions is a slip, and so is a model of more layers.
LARGEST_HEAD_DIM = 2**16
LARGEST_DEPTH = 2**14

# Where one thing has several names, the first that is there counts.
_SETTINGS = ("rope_scaling", "rope_parameters")
_TEXT = ("text_config", "thinker_config", "llm_config", "language_config", "decoder")
_HIDDEN = ("hidden_size", "n_embd", "d_model", "n_embed")
_HEADS = (
    "num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads",
    "decoder_attention_heads",
)  # fmt: skip
_HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
_DEPTH = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers")
_CONTEXT = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
    "n_ctx",
)  # fmt: skip
_THETA = ("global_rope_theta", "rope_theta", "rotary_emb_base", "rope_embedding_base")
_LOCAL_THETA = ("rope_local_base_freq", "local_rope_theta", "swa_rope_theta")
_EVERY = ("sliding_window_pattern", "global_attn_every_n_layers", "full_attention_interval")
_LAYER_TYPES = ("layer_types", "layers_block_type")
_SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction")

_ALIASES = {"su": "longrope", "mrope": "default"}

# What a method reads from its settings.
_TRAINED = {"yarn", "longrope", "llama3"}
_READ: dict[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor",),
    "yarn": (
        "factor",
        "beta_fast",
        "beta_slow",
        "truncate",
        "attention_factor",
        "mscale",
        "mscale_all_dim",
    ),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "longrope": ("factor", "short_factor", "long_factor", "attention_factor"),
    "proportional": ("factor",),
}
_METHOD_KEYS = {key for keys in _READ.values() for key in keys}
# Keys that belong to no method: geometry, other axes, or known to be without effect.
_ELSEWHERE = {
    "rope_theta",
    "rope_type",
    "type",
    "partial_rotary_factor",
    "mrope_section",
    "mrope_interleaved",
    "head_dim",
    "finetuned",
    "llama_4_scaling_beta",
    "attn_factor",
    "alpha",
    "original_max_position_embeddings",
    "max_position_embeddings",
    "short_mscale",
    "long_mscale",
}


@dataclass(frozen=True)
class Rotary:
    """RoPE of the layers of one type.

    Attributes:
        layer_type: Their type; None if all layers are alike.
        head_dim: Dimensions of a query or key; None if the file gives ``rotary_dim`` alone.
        rope: How many of them rotate, and how fast before scaling.
        scaling: What scales the frequencies.
        mscales: Factors on cos and sin below and beyond the trained context that replace the
            computed one (Phi-3.5-MoE's ``short_mscale`` and ``long_mscale``).
        mrope_section: Pairs per axis of M-RoPE (time, height, width); empty for text models.
        mrope_interleaved: Whether the axes take turns pair by pair.
    """

    layer_type: str | None
    head_dim: int | None
    rope: RoPE
    scaling: RopeScaling
    mscales: tuple[float, float] | None = None
    mrope_section: tuple[int, ...] = ()
    mrope_interleaved: bool = False

    @property
    def rope_type(self) -> str:
        """Name of the scaling method."""
        return self.scaling.rope_type

    def frequencies(self, seq_len: int | None = None) -> Frequencies:
        """Scaled frequencies ``(rotary_dim // 2,)`` and the factor on cos and sin."""
        with np.errstate(all="ignore"):
            inv_freq, attention_factor = self.scaling.frequencies(self.rope, seq_len)
        if not (np.isfinite(inv_freq).all() and math.isfinite(attention_factor)):
            raise InvalidParameterError(
                "rope_scaling must give finite frequencies, got {got}",
                got="values that overflow",
            )
        if self.mscales is not None:
            trained = getattr(self.scaling, "original_max_position_embeddings", math.inf)
            attention_factor = self.mscales[seq_len is not None and seq_len > trained]
        return inv_freq, float(attention_factor)


@dataclass(frozen=True)
class Reading:
    """What a config says about positions.

    Attributes:
        model_type: As in the file.
        positional_encoding: ``rope``, ``alibi``, ``t5_bias``, ``learned``, ``sinusoidal``,
            ``shaw``, ``transformer_xl``, ``disentangled`` or ``none``.
        head_dim: Dimensions of a query or key (with MLA, both parts together).
        num_heads: Attention heads.
        layout: Which dimensions the checkpoint in Hugging Face's format pairs; None if unknown.
        rotary: One entry per layer type; empty without RoPE.
        layer_types: Type of each layer; empty if the file does not say.
        rope_layers: Whether each layer has RoPE; empty if the number of layers is unknown.
        max_position_embeddings: Context the file is made for, tokens (rows of a learned table).
        original_max_position_embeddings: Context of the training, if the file tells it apart.
        sliding_window: Tokens that some or all layers look back, if limited.
        alibi_bias_max: Exponent of the last of 2^n slopes, 8 but for some MPT.
        alibi_scaled: Whether the bias is divided by ``sqrt(head_dim)`` with the scores (Falcon).
        num_buckets: T5's buckets.
        max_distance: T5's distance from which all share a bucket.
        position_offset: Rows of a learned table before position 0.
    """

    model_type: str | None
    positional_encoding: str
    head_dim: int | None = None
    num_heads: int | None = None
    layout: Layout | None = None
    rotary: tuple[Rotary, ...] = ()
    layer_types: tuple[str, ...] = ()
    rope_layers: tuple[bool, ...] = ()
    max_position_embeddings: int | None = None
    original_max_position_embeddings: int | None = None
    sliding_window: int | None = None
    alibi_bias_max: float | None = None
    alibi_scaled: bool = False
    num_buckets: int | None = None
    max_distance: int | None = None
    position_offset: int = 0

    @property
    def context(self) -> int | None:
        """Tokens that the file allows at once: a learned table may begin before position 0."""
        if self.max_position_embeddings is None or _kind(self.model_type) not in types.PADDING_ROWS:
            return self.max_position_embeddings
        return self.max_position_embeddings - self.position_offset


@dataclass(frozen=True)
class Finding:
    """One thing to know about a config.

    Attributes:
        level: ``error``: it cannot be computed. ``warning``: it probably is not what was meant, or
            programs differ. ``note``: right, but easily misread.
        key: The key it is about.
        template: The sentence with its values left open, so that it can be translated.
        values: Its values.
        layer_type: The layer type it is about, if one.
    """

    level: Level
    key: str
    template: str
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    layer_type: str | None = None

    @property
    def sentence(self) -> str:
        """What is allowed or meant, and what came."""
        return self.template.format(**self.values)


def rope_frequencies(
    config: Config, *, seq_len: int | None = None, layer_type: str | None = None
) -> tuple[NDArray[np.float64], float]:
    """Frequencies of a model's RoPE, and the factor on its cos and sin.

    Args:
        config: A ``config.json`` as a dict, or the keys of one that matter.
        seq_len: Tokens in use, for methods that go by the length (``dynamic``, ``longrope``).
        layer_type: Which layers, if their settings differ. Without one, settings that stand
            alone are meant: those of ``full_attention`` where a file of the old form has one set
            of settings and a local base beside it.

    Returns:
        float64 ``inv_freq`` of shape ``(rotary_dim // 2,)``, in pair order; and the factor, which
        multiplies scores by its square.

    Raises:
        InvalidParameterError: If a value is missing or not allowed, if the model has no RoPE, or
            if its layer types differ and none is named.

    Source:
        transformers 5.24.0, ``ROPE_INIT_FUNCTIONS``; differences stand above.
    """
    text = _text_config(config)
    _check_rope(text)
    if layer_type is not None and not isinstance(layer_type, str):
        raise InvalidParameterError(
            "layer_type must be the name of a layer type, got {got}", got=_shown(layer_type)
        )
    found, plain = _by_layer_type(text)
    if layer_type is None:
        name = _only(text, found, plain)
    elif list(found) == [None]:
        name = None
        listed = set(_layer_types(text, None)) - types.WITHOUT_ATTENTION
        if listed:
            params.one_of("layer_type", layer_type, sorted(listed))
    else:
        name = params.one_of("layer_type", layer_type, [str(key) for key in found])
    return _rotary_of(text, name, found[name]).frequencies(seq_len)


def read(config: Config) -> Reading:
    """What ``config`` says about positions.

    Raises:
        InvalidParameterError: If a value that the encoding needs is missing or not allowed.
    """
    text = _text_config(config)
    encoding = _encoding(text)
    context = _whole_if_given(text, _CONTEXT)
    common: dict[str, Any] = {
        "model_type": text.get("model_type"),
        "positional_encoding": encoding,
        "num_heads": _whole_if_given(text, _HEADS),
        "max_position_embeddings": context,
        "sliding_window": _sliding_window(text),
    }
    if encoding == "rope":
        return _read_rope(text, common)
    common["head_dim"] = _head_dim(text, {}, None)[1]
    kind = _kind(text.get("model_type"))
    if encoding == "alibi":
        bias_max = _first(_attention(text), ("alibi_bias_max",))[1]
        common["alibi_bias_max"] = (
            8.0 if bias_max is None else params.real("alibi_bias_max", bias_max, 0.0, above=True)
        )
        common["alibi_scaled"] = kind in {"falcon", "refinedweb", "refinedwebmodel"}
    elif encoding == "t5_bias":
        for key, name, usual in (
            ("num_buckets", "relative_attention_num_buckets", 32),
            ("max_distance", "relative_attention_max_distance", 128),
        ):
            common[key] = _whole_if_given(text, (name,)) or usual
    elif encoding == "learned":
        if kind in types.TWO_ROWS:
            common["position_offset"] = 2
        elif kind in types.PADDING_ROWS:
            padding = _first(text, ("pad_token_id",))[1]
            common["position_offset"] = (
                2 if padding is None else params.whole("pad_token_id", padding, 0) + 1
            )
    return Reading(**common)


def _read_rope(text: Config, common: dict[str, Any]) -> Reading:
    found, _ = _by_layer_type(text)
    rotary = tuple(_rotary_of(text, name, own) for name, own in found.items() if own is not None)
    if not rotary:
        raise InvalidParameterError(
            "rope_parameters must hold the settings of a layer type, got {got}",
            got="null for each of them",
        )
    for each in rotary:
        each.frequencies()
    depth = _whole_if_given(text, _DEPTH, LARGEST_DEPTH)
    layer_types = _layer_types(text, depth)
    trained = [getattr(each.scaling, "original_max_position_embeddings", None) for each in rotary]
    outside = _whole_if_given(text, ("original_max_position_embeddings",))
    head_dims = [each.head_dim for each in rotary if each.layer_type != "full_attention"]
    return Reading(
        **common,
        head_dim=(head_dims or [rotary[0].head_dim])[0],
        layout=_layout(text),
        rotary=rotary,
        layer_types=layer_types,
        rope_layers=_rope_layers(text, found, layer_types, depth),
        original_max_position_embeddings=next((n for n in trained if n is not None), outside),
    )


# How a file is read, from the outside in.


def _text_config(given: Any) -> Config:
    """The language model's part of a multimodal file; what it leaves out, the whole file says."""
    if not isinstance(given, dict):
        raise InvalidParameterError(
            "config must be a dict, as read from a config.json, got {got}",
            got=type(given).__name__,
        )
    config: Config = given
    for _ in range(len(_TEXT)):
        inner = next((config[key] for key in _TEXT if isinstance(config.get(key), dict)), None)
        if inner is None:
            break
        outer = {key: value for key, value in config.items() if key not in _TEXT}
        if any(inner.get(key) is not None for key in _SETTINGS):
            outer = {key: value for key, value in outer.items() if key not in _SETTINGS}
        config = {**outer, **inner}
    kind = config.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise InvalidParameterError(
            "model_type must be the name of a model type, got {got}", got=_shown(kind)
        )
    return config


def _kind(model_type: str | None) -> str:
    name = (model_type or "").replace("-", "_").lower()
    return name.removesuffix("_text_model").removesuffix("_text")


def _kind_of(text: Config) -> str:
    return _kind(text.get("model_type"))


def _shown(value: object) -> str:
    """A value in a sentence; what holds other values is named by its type alone."""
    simple = value is None or isinstance(value, (str, bool, int, float, np.generic))
    return params.shown(value) if simple else f"a {type(value).__name__}"


def _scalar(name: str, value: Any) -> Any:
    """``value``, a whole float as the int it writes, unless it holds other values."""
    if not (value is None or isinstance(value, (str, bool, int, float, np.generic))):
        raise InvalidParameterError(
            "{name} must be a single value, got {got}", name=name, got=_shown(value)
        )
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _first(config: Mapping[str, Any], names: Iterable[str]) -> tuple[str, Any]:
    """The first of ``names`` that has a value, and the value."""
    name = ""
    for name in names:
        value = _scalar(name, config.get(name))
        if value is not None:
            return name, value
    return name, None


def _whole_if_given(
    config: Mapping[str, Any], names: Sequence[str], high: int | None = None
) -> int | None:
    name, value = _first(config, names)
    return None if value is None else params.whole(name, value, 1, high)


def _attention(text: Config) -> Config:
    """MPT and DBRX keep their settings in ``attn_config``."""
    inner = text.get("attn_config")
    return {**text, **inner} if isinstance(inner, dict) else text


def _encoding(text: Config) -> str:
    """Which encoding: the model type decides; for an unknown one, its keys; else RoPE."""
    kind, attention = _kind_of(text), _attention(text)
    alibi = attention.get("alibi")
    if alibi is not None and not isinstance(alibi, bool):
        raise InvalidParameterError("alibi must be true or false, got {got}", got=_shown(alibi))
    if kind == "mpt":
        if alibi is None or alibi:
            return "alibi"
        if attention.get("rope") is True:
            return "rope"
        return "none" if text.get("learned_pos_emb") is False else "learned"
    if alibi or (kind in {"refinedweb", "refinedwebmodel"} and alibi is None):
        return "alibi"
    # Baichuan's 13B and 2-13B files do not name their encoding; vLLM goes by the size as well.
    if kind == "baichuan" and _first(text, _HIDDEN)[1] not in (None, 4096):
        return "alibi"
    if kind == "distilbert" and text.get("sinusoidal_pos_embds") is True:
        return "sinusoidal"
    named = text.get("position_embedding_type")
    if isinstance(named, str) and named in types.BY_POSITION_TYPE and kind not in types.T5:
        return types.BY_POSITION_TYPE[named]
    if kind in types.OTHERS:
        return types.OTHERS[kind]
    return "rope"


def _check_rope(text: Config) -> None:
    encoding = _encoding(text)
    if encoding != "rope":
        raise InvalidParameterError(
            "positional_encoding must be rope to have frequencies, got {got}", got=encoding
        )


def _settings(text: Config) -> Config:
    """The settings as they stand, flat or per layer type: the old key wins, as in Hugging Face."""
    for key in _SETTINGS:
        value = text.get(key)
        if value is not None and not isinstance(value, dict):
            raise InvalidParameterError(
                "{name} must be a dict of settings or null, got {got}", name=key, got=_shown(value)
            )
    written: Config = text.get("rope_scaling") or text.get("rope_parameters") or {}
    if written:
        return written
    return _usual_settings(text, types.DEFAULT_SETTINGS.get(_kind_of(text), {}), "")


def _usual_settings(text: Config, usual: Config, layer_type: str) -> Config:
    """Settings of the model type, without a base or share that the file gives."""
    given = {"rope_theta": _theta_names(layer_type), "partial_rotary_factor": _SHARE}
    return {
        key: _usual_settings(text, value, key) if isinstance(value, dict) else value
        for key, value in usual.items()
        if all(text.get(name) is None for name in given.get(key, ()))
    }


def _slides(layer_type: str | None) -> bool:
    return layer_type is not None and "sliding" in layer_type


def _theta_names(layer_type: str | None) -> tuple[str, ...]:
    """Keys beside the settings that hold the base of these layers and of no others."""
    return _LOCAL_THETA if _slides(layer_type) else _THETA


def _names_a_layer_type(key: object, value: object, text: Config) -> bool:
    if isinstance(key, str) and (key in _METHOD_KEYS or key in _ELSEWHERE):
        return False
    listed = text.get("layer_types")
    return (
        isinstance(value, dict)
        or (isinstance(key, str) and key.endswith("_attention"))
        or (isinstance(listed, (list, tuple)) and key in listed)
    )


def _by_layer_type(text: Config) -> tuple[dict[str | None, Config | None], bool]:
    """Settings per layer type, None for layers without RoPE; and whether they stand alone.

    They stand alone if the file writes one set of settings, which is then that of all layers or,
    where another base for local layers stands beside it, of ``full_attention``.
    """
    settings, kind = _settings(text), _kind_of(text)
    own = {key: value for key, value in settings.items() if _names_a_layer_type(key, value, text)}
    if own:
        shared = {key: value for key, value in settings.items() if key not in own}
        found: dict[str | None, Config | None] = {}
        for key, value in own.items():
            if value is not None and not isinstance(value, dict):
                raise InvalidParameterError(
                    "{name} must be a dict of settings or null, got {got}",
                    name=key,
                    got=_shown(value),
                )
            found[str(key)] = None if value is None else {**shared, **value}
        if kind in types.SPLIT:
            found.setdefault("full_attention", {})
            found.setdefault("sliding_attention", {})
        return found, False
    if kind in types.ALL_SCALED:
        return {"full_attention": settings, "sliding_attention": settings}, False
    if kind not in types.SPLIT and _first(text, _LOCAL_THETA)[1] is None:
        return {None: settings}, True
    near = {} if _local_theta(text)[1] is not None else {"rope_theta": settings.get("rope_theta")}
    return {"full_attention": settings, "sliding_attention": near}, True


def _only(text: Config, found: dict[str | None, Config | None], plain: bool) -> str | None:
    """The layer type that is meant when none is named."""
    used = set(_layer_types(text, None))
    names = [name for name, own in found.items() if own is not None]
    names = [name for name in names if name in used] or names
    if len(names) == 1:
        return names[0]
    if plain:
        return "full_attention"
    if names:
        first, *others = (_rotary_of(text, name, found[name]) for name in names)
        if all((first.rope, first.scaling) == (each.rope, each.scaling) for each in others):
            return names[0]
    raise InvalidParameterError(
        "layer_type must be one of {allowed}, because their settings differ, got {got}",
        name="layer_type",
        allowed=", ".join(str(name) for name in found),
        got="None",
    )


def _rotary_of(text: Config, layer_type: str | None, own: Config | None) -> Rotary:
    """RoPE of the layers of one type from their settings."""
    if own is None:
        raise InvalidParameterError(
            "layer_type must be one with RoPE, got {got}", got=_shown(layer_type)
        )
    rope_type = _rope_type(text, own)
    head_name, head_dim = _head_dim(text, own, layer_type)
    share_name, share = _share(text, own)
    if rope_type == "proportional":
        rotary_dim = params.even(head_name, head_dim)
        share = params.real(share_name, 1.0 if share is None else share, 0.0, 1.0)
    else:
        rotary_dim = _rotary_dim(text, head_name, head_dim, share_name, share)
    section = _mrope_section(own)
    if section and sum(section) != rotary_dim // 2:
        raise InvalidParameterError(
            "mrope_section must add up to the {pairs} pairs, got {got}",
            pairs=rotary_dim // 2,
            got=params.shown(sum(section)),
        )
    return Rotary(
        layer_type=layer_type,
        head_dim=head_dim,
        rope=RoPE(rotary_dim, _theta(text, own, layer_type)),
        scaling=_scaling(text, own, layer_type, rope_type, share),
        mscales=_mscales(own) if _kind_of(text) in {"phimoe", "phi3small"} else None,
        mrope_section=section,
        mrope_interleaved=own.get("mrope_interleaved") is True,
    )


def _rope_type(text: Config, own: Config) -> str:
    name, value = _first(own, ("rope_type", "type"))
    value = _ALIASES.get(value, value) if isinstance(value, str) else value
    if value is None:
        return "default"
    if name == "type" and value not in rope_scaling.ROPE_SCALINGS:
        params.one_of("type", value, tuple(rope_scaling.ROPE_SCALINGS))
    rope_type = params.one_of("rope_type", value, tuple(rope_scaling.ROPE_SCALINGS))
    # Phi-3's first files say "yarn" (configuration_phi3.py); Hunyuan's "dynamic" with an alpha is
    # static NTK (modeling_hunyuan_v1_dense.py).
    if (
        rope_type == "yarn"
        and own.get("short_factor") is not None
        and _kind_of(text) in {"phi3", "phi3_v", "phi3small", "phi4_multimodal"}
    ):
        return "longrope"
    if rope_type == "dynamic" and _first(own, ("alpha",))[1]:
        return "ntk"
    return rope_type


def _theta(text: Config, own: Config, layer_type: str | None) -> float:
    """Base: of the settings, of the file, of the other settings, of the model type."""
    name, theta = _first(own, ("rope_theta",))
    inside = theta is not None
    if not inside and _slides(layer_type):
        name, theta = _local_theta(text)
    if theta is None:
        name, theta = _first(_attention(text), _THETA)
    if theta is None:
        other = text.get("rope_parameters")
        name, theta = _first(other if isinstance(other, dict) else {}, ("rope_theta",))
    if theta is None:
        usual = types.DEFAULT_SETTINGS.get(_kind_of(text), {}).get(layer_type or "", {})
        theta = usual.get("rope_theta", types.DEFAULT_THETA.get(_kind_of(text), 10_000.0))
    base = params.real(name, theta, 1.0, above=True)
    ratio = None if inside else _first(text, ("rope_ratio",))[1]  # ChatGLM
    return base if ratio is None else base * params.real("rope_ratio", ratio, 0.0, above=True)


def _local_theta(text: Config) -> tuple[str, Any]:
    """Name and value of the base that only the sliding layers have; None if they have none."""
    name, theta = _first(text, _LOCAL_THETA)
    if theta is None:
        usual = types.DEFAULT_SETTINGS.get(_kind_of(text), {}).get("sliding_attention", {})
        theta = types.SPLIT.get(_kind_of(text), usual.get("rope_theta"))
    return name, theta


def _share(text: Config, own: Config) -> tuple[str, Any]:
    """Name and value of the share of the head that rotates; None if the file does not say."""
    name, share = _first(own, _SHARE[:1])
    if share is None:
        name, share = _first(text, _SHARE)
    if share is not None or "rotary_dim" in text:
        return name, share
    return "partial_rotary_factor", types.DEFAULT_SHARE.get(_kind_of(text))


def _head_dim(text: Config, own: Config, layer_type: str | None) -> tuple[str, int | None]:
    """Name and number of dimensions of a query or key; None if the file does not say."""

    def checked(name: str, value: Any) -> tuple[str, int]:
        return name, params.whole(name, value, 1, LARGEST_HEAD_DIM)

    kind = _kind_of(text)
    name, value = _first(own, ("head_dim",))
    if value is None and layer_type == "full_attention":
        name, value = _first(text, ("global_head_dim",))
        if value is None and "global_head_dim" not in text:
            value = types.DEFAULT_GLOBAL_HEAD_DIM.get(kind)
    if value is None and layer_type == "sliding_attention":
        name, value = _first(text, ("swa_head_dim",))
    if value is not None:
        return checked(name, value)
    rotating, still = _latent(text)
    if rotating is not None and still is not None:
        name, value = checked("qk_rope_head_dim", rotating)
        return name, value + params.whole("qk_nope_head_dim", still, 0, LARGEST_HEAD_DIM)
    name, value = _first(text, _HEAD_DIM)
    if value is None and rotating is not None:
        name, value = "qk_rope_head_dim", rotating
    if value is None and "head_dim" not in text:
        name, value = "head_dim", types.DEFAULT_HEAD_DIM.get(kind)
    if value is not None:
        return checked(name, value)
    names = [_first(text, each)[0] for each in (_HIDDEN, _HEADS)]
    hidden, heads = _whole_if_given(text, _HIDDEN), _whole_if_given(text, _HEADS)
    if hidden is None or heads is None:
        return "head_dim", None
    return checked(" / ".join(names), hidden // heads)


def _latent(text: Config) -> tuple[Any, Any]:
    """MLA's dimensions of a query that rotate, and that do not; None without MLA."""
    if "qk_rope_head_dim" not in text:
        return types.DEFAULT_LATENT.get(_kind_of(text), (None, None))
    return _first(text, ("qk_rope_head_dim",))[1], _first(text, ("qk_nope_head_dim",))[1]


def _rotary_dim(
    text: Config, head_name: str, head_dim: int | None, share_name: str, share: Any
) -> int:
    """Dimensions that rotate: MLA's own part, a share of the head, a number, or the whole head."""
    rotating, _ = _latent(text)
    if rotating is not None:
        return params.even("qk_rope_head_dim", rotating, high=LARGEST_HEAD_DIM)
    number = _first(text, ("rotary_dim",))[1]
    if number is None and "rotary_dim" not in text:
        number = types.DEFAULT_ROTARY_DIM.get(_kind_of(text))
    if share is None and number is not None:
        return params.even(
            "rotary_dim", number, high=LARGEST_HEAD_DIM if head_dim is None else head_dim
        )
    if head_dim is None:
        raise InvalidParameterError(
            "head_dim must be given, or hidden_size and num_attention_heads, got {got}",
            name="head_dim",
            got="none of them",
        )
    if share is None:
        return params.even(head_name, head_dim)
    share = params.real(share_name, share, 0.0, 1.0)
    try:
        return rope_module.rotary_dim(head_dim, share)
    except InvalidParameterError:
        raise InvalidParameterError(
            "{name} must make an even number of the {head_dim} dimensions rotate, at least 2, got "
            "{got}, which makes {part} rotate",
            name=share_name,
            head_dim=params.shown(head_dim),
            got=params.shown(share),
            part=params.shown(int(head_dim * share)),
        ) from None


def _trained_context(text: Config, own: Config, layer_type: str | None) -> int | None:
    """Trained context of yarn, longrope and llama3.

    Beside one set of settings, the file's own key wins over that inside them (Phi-3); settings of
    a layer type win over it. Without either, Hugging Face takes the whole context.
    """
    key = "original_max_position_embeddings"
    sources = (own, text) if layer_type is not None else (text, own)
    for source in sources:
        value = _whole_if_given(source, (key,))
        if value is not None:
            return value
    usual = types.DEFAULT_TRAINED_CONTEXT.get(_kind_of(text))
    return usual if usual is not None else _whole_if_given(text, _CONTEXT)


def _scaling(
    text: Config, own: Config, layer_type: str | None, rope_type: str, share: Any
) -> RopeScaling:
    """The method with its settings: a null one is absent, and what is left over stays unread."""
    settings: Config = {
        key: value
        if key in {"short_factor", "long_factor"} and isinstance(value, (list, tuple))
        else _scalar(key, value)
        for key, value in own.items()
        if key in _READ.get(rope_type, ()) and value is not None
    }
    if rope_type == "ntk" and _first(own, ("alpha",))[1]:
        settings["factor"] = _first(own, ("alpha",))[1]
    if rope_type == "proportional" and share is not None:
        settings["partial_rotary_factor"] = share
    if rope_type in {"dynamic", "longrope"}:
        settings["max_position_embeddings"] = _whole_if_given(text, _CONTEXT)
    if rope_type in _TRAINED:
        settings["original_max_position_embeddings"] = _trained_context(text, own, layer_type)
    if rope_type == "yarn":
        for name in ("beta_fast", "beta_slow"):  # 0 as well, as Hugging Face has it
            if settings.get(name) == 0 and not isinstance(settings[name], bool):
                del settings[name]
        if "factor" not in settings:
            settings["factor"] = _ratio(text, settings["original_max_position_embeddings"])
    return rope_scaling.scaling(
        rope_type, **{key: value for key, value in settings.items() if value is not None}
    )


def _ratio(text: Config, trained: int | None) -> float | None:
    context = _whole_if_given(text, _CONTEXT)
    return None if context is None or trained is None else context / trained


def _mscales(own: Config) -> tuple[float, float] | None:
    found = [_first(own, (name,))[1] for name in ("short_mscale", "long_mscale")]
    if None in found:
        return None
    short, long = (
        params.real(name, value, 0.0, above=True)
        for name, value in zip(("short_mscale", "long_mscale"), found, strict=True)
    )
    return short, long


def _mrope_section(own: Config) -> tuple[int, ...]:
    section = own.get("mrope_section")
    if section is None:
        return ()
    if not isinstance(section, (list, tuple)):
        raise InvalidParameterError(
            "mrope_section must be a list of whole numbers, got {got}", got=_shown(section)
        )
    return tuple(
        params.whole("mrope_section", _scalar("mrope_section", n), 0, LARGEST_HEAD_DIM)
        for n in section
    )


def _sliding_window(text: Config) -> int | None:
    if text.get("use_sliding_window") is False:
        return None
    window = _first(text, ("sliding_window",))[1]
    if window is None and _kind_of(text) in {"modernbert", "modernbert_decoder"}:
        both_sides = _whole_if_given(text, ("local_attention",))
        return None if both_sides is None else both_sides // 2
    return params.whole("sliding_window", window, 0) or None if window is not None else None


def _layer_types(text: Config, depth: int | None) -> tuple[str, ...]:
    """Type of each layer: as listed, or by the model type's rule if the depth is known."""
    name = next((name for name in _LAYER_TYPES if text.get(name) is not None), None)
    if name is not None:
        listed = text[name]
        if not isinstance(listed, (list, tuple)) or not all(isinstance(n, str) for n in listed):
            raise InvalidParameterError(
                "{name} must be a list of names, got {got}", name=name, got=_shown(listed)
            )
        return tuple(listed)
    kind = _kind_of(text)
    if depth is None:
        return ()
    pattern = text.get("sliding_window_pattern")
    if isinstance(pattern, str) and pattern and set(pattern.upper()) <= {"L", "G"}:  # EXAONE: LLLG
        names = {"L": "sliding_attention", "G": "full_attention"}
        return tuple(names[pattern[i % len(pattern)].upper()] for i in range(depth))
    if kind == "llama4":  # those with RoPE look at chunks, if there are any
        chunked = text.get("attention_chunk_size", 1) is not None
        turning = _rope_layers(text, {}, (), depth)
        return tuple(
            "chunked_attention" if each and chunked else "full_attention" for each in turning
        )
    if kind not in types.PATTERN or _window_is_null(text):
        return ()
    every = _whole_if_given(text, _EVERY) or types.PATTERN[kind]
    start = every if kind in types.FULL_FIRST else 1
    full = [(i + start) % every == 0 for i in range(depth)]
    if kind in types.LAST_IS_FULL:
        full[-1] = True
    other = types.OTHER_LAYERS.get(kind, "sliding_attention")
    return tuple("full_attention" if each else other for each in full)


def _window_is_null(text: Config) -> bool:
    """Whether the file says that no layer slides, in a model that goes by that."""
    given = "sliding_window" in text or "use_sliding_window" in text
    return _kind_of(text) in types.BY_WINDOW and given and not _sliding_window(text)


def _rope_layers(
    text: Config,
    found: dict[str | None, Config | None],
    layer_types: tuple[str, ...],
    depth: int | None,
) -> tuple[bool, ...]:
    """Whether each layer has RoPE: ``no_rope_layers`` says 1 where it has, despite its name."""
    kind = _kind_of(text)
    listed = text.get("no_rope_layers")
    if listed is not None and not (
        isinstance(listed, (list, tuple))
        and all(isinstance(n, int) and n in (0, 1) for n in listed)
    ):
        raise InvalidParameterError(
            "no_rope_layers must be a list of 1 (has RoPE) and 0 (has none), got {got}",
            got=_shown(listed),
        )
    if listed:
        return tuple(n == 1 for n in listed)
    depth = len(layer_types) if depth is None else depth
    if not depth:
        return ()
    every = _whole_if_given(text, ("no_rope_layer_interval",)) or types.NOPE_INTERVAL.get(kind)
    if every is not None:
        return tuple((i + 1) % every != 0 for i in range(depth))
    still = types.WITHOUT_ATTENTION | {name for name, own in found.items() if own is None}
    if kind in types.FULL_IS_NOPE and not _window_is_null(text):
        still.add("full_attention")
    return tuple(
        (layer_types[i] if i < len(layer_types) else None) not in still for i in range(depth)
    )


def _layout(text: Config) -> Layout | None:
    for key in ("rope_interleave", "rotary_emb_interleaved"):
        if isinstance(text.get(key), bool):
            return "interleaved" if text[key] else "half"
    kind = _kind_of(text)
    return "interleaved" if kind in types.INTERLEAVED else "half" if kind in types.HALF else None


def diagnose(config: Any) -> list[Finding]:
    """What is wrong with a config, or easily misread, most serious first; never an exception.

    Args:
        config: A ``config.json`` as a dict; anything else is a finding, too.
    """
    try:
        text = _text_config(config)
        encoding = _encoding(text)
        found = list(_about_the_file(text)) if encoding == "rope" else []
        if encoding == "rope":
            for layer_type, own in _by_layer_type(text)[0].items():
                if own is not None:
                    found += _about_settings(text, layer_type, own)
        else:
            found += _about_others(text, encoding)
    except InvalidParameterError as wrong:
        return [_as_finding(wrong)]
    try:
        read(config)
    except InvalidParameterError as wrong:
        if not any(each.level == "error" for each in found):
            found.append(_as_finding(wrong))
    order = ("error", "warning", "note")
    return sorted(dict.fromkeys(found), key=lambda each: order.index(each.level))


def _as_finding(wrong: InvalidParameterError, layer_type: str | None = None) -> Finding:
    key = str(wrong.values.get("name") or wrong.template).split(" ", 1)[0]
    return Finding("error", key, wrong.template, wrong.values, layer_type)


def _number(value: Any) -> float | None:
    """``value`` as a finite number, None if it is none."""
    try:
        return params.real("", _scalar("", value), -math.inf)
    except InvalidParameterError:
        return None


def _number_of(config: Mapping[str, Any], names: Sequence[str]) -> tuple[str, float | None]:
    """The first of ``names`` that is a finite number, and the number."""
    found = ((name, _number(config.get(name))) for name in names)
    return next((each for each in found if each[1] is not None), (names[0], None))


def _same(one: Config, other: Config) -> bool:
    try:
        return bool(one == other)
    except ValueError:  # arrays, which no config.json can hold
        return False


def _about_the_file(text: Config) -> Iterable[Finding]:
    """Findings about keys outside the settings."""
    settings = _settings(text)
    old, new = (text.get(key) for key in _SETTINGS)
    if old and new and not _same(old, new):
        yield Finding(
            "warning",
            "rope_scaling",
            "rope_scaling and rope_parameters must agree, or one of them be absent, got both: "
            "rope_scaling is read, as in Hugging Face",
        )
    names = [name for name in _THETA if _number(text.get(name)) is not None]
    inside = _number(settings.get("rope_theta"))
    given = {name: _number(text.get(name)) for name in names}
    if inside is not None:
        given = {"rope_theta inside the settings": inside, **given}
    if len(set(given.values())) > 1:
        yield Finding(
            "warning",
            "rope_theta",
            "rope_theta must be the same wherever it stands, got {got}: the first is used",
            {"got": ", ".join(f"{name} {params.shown(value)}" for name, value in given.items())},
        )
    (hidden_name, hidden), (heads_name, heads) = (
        _number_of(text, names) for names in (_HIDDEN, _HEADS)
    )
    head_name, head_dim = _number_of(text, _HEAD_DIM)
    if "head_dim" in text and text["head_dim"] is None:
        yield Finding(
            "warning",
            "head_dim",
            "head_dim must be a number or absent, got null: it is taken as hidden_size divided by "
            "num_attention_heads, but Hugging Face's dynamic, yarn and longrope fail on it",
        )
    if hidden and heads and heads > 0:
        if head_dim is None and hidden % heads and "qk_rope_head_dim" not in text:
            yield Finding(
                "warning",
                hidden_name,
                "{hidden_name} must be a multiple of {heads_name} if head_dim is absent, got "
                "{hidden} and {heads}: rounded down",
                {
                    "hidden_name": hidden_name,
                    "heads_name": heads_name,
                    "hidden": params.shown(hidden),
                    "heads": params.shown(heads),
                },
            )
        if head_dim is not None and head_dim != hidden // heads:
            yield Finding(
                "note",
                head_name,
                "{head_name} is {head_dim}, not {hidden_name} / {heads_name} = {quotient}; the "
                "given one is used",
                {
                    "head_name": head_name,
                    "head_dim": params.shown(head_dim),
                    "hidden_name": hidden_name,
                    "heads_name": heads_name,
                    "quotient": params.shown(hidden // heads),
                },
            )
    named, listed = _by_layer_type(text)[0], _layer_types(text, None)
    without = set(listed) - set(named) - types.WITHOUT_ATTENTION
    if None not in named and without and _kind_of(text) not in types.LABELLED:
        yield Finding(
            "warning",
            "layer_types",
            "layer_types must occur in the settings, got {got}, which have none",
            {"got": ", ".join(sorted(without))},
        )
    if text.get("use_dynamic_ntk") is True:
        yield Finding(
            "note",
            "use_dynamic_ntk",
            "use_dynamic_ntk is Qwen's own rule, from the length in powers of two; the frequencies "
            "here are those up to the trained context",
        )


def _about_settings(text: Config, layer_type: str | None, own: Config) -> list[Finding]:
    """Findings about the settings of one layer type."""
    found: list[Finding] = []

    def add(level: Level, key: str, template: str, **values: object) -> None:
        found.append(Finding(level, key, template, values, layer_type))

    try:
        rope_type = _rope_type(text, own)
    except InvalidParameterError as wrong:
        return [_as_finding(wrong, layer_type)]
    both = {own.get(key) for key in ("rope_type", "type") if isinstance(own.get(key), str)}
    if len({_ALIASES.get(str(name), name) for name in both}) > 1:
        add(
            "warning",
            "rope_type",
            "rope_type and type must agree, got {rope_type} and {type}: rope_type is read",
            rope_type=own.get("rope_type"),
            type=own.get("type"),
        )
    factor, context = _number(own.get("factor")), _number_of(text, _CONTEXT)[1]
    trained = _number(own.get("original_max_position_embeddings"))
    outside = _number(text.get("original_max_position_embeddings"))
    if layer_type is None and outside is not None:
        trained = outside
    trained = outside if trained is None else trained
    _about_factor(add, rope_type, factor, own.get("factor"), context, trained)
    if rope_type in _TRAINED and trained is None and context is not None:
        add(
            "warning",
            "original_max_position_embeddings",
            "original_max_position_embeddings must be the trained context, got nothing: as in "
            "Hugging Face it is taken to be max_position_embeddings, {context}, and the factor "
            "applies on top of it",
            context=params.shown(context),
        )
    if rope_type == "dynamic" and trained is not None and trained != context:
        add(
            "warning",
            "original_max_position_embeddings",
            "original_max_position_embeddings is not read by dynamic, got {got}: the base grows "
            "from max_position_embeddings, {context}, as in Hugging Face",
            got=params.shown(trained),
            context=params.shown(context),
        )
    if rope_type == "yarn":
        _about_yarn(add, own, factor, layer_type is not None)
    if rope_type == "llama3":
        low, high = _number(own.get("low_freq_factor")), _number(own.get("high_freq_factor"))
        for name, value in (("low_freq_factor", low), ("high_freq_factor", high)):
            if value is None and own.get(name) is None:
                add(
                    "warning",
                    name,
                    "{name} must be given for llama3, got nothing: Hugging Face "
                    "refuses it, here it is {usual}",
                    name=name,
                    usual=1 if "low" in name else 4,
                )
        if low is not None and low == high:
            add(
                "note",
                "high_freq_factor",
                "high_freq_factor equals low_freq_factor, {got}: no pair is blended",
                got=params.shown(high),
            )
    if rope_type == "longrope":
        if own.get("short_mscale") is not None or own.get("long_mscale") is not None:
            add(
                "note",
                "short_mscale",
                "short_mscale and long_mscale are read for Phi-3.5-MoE "
                "and Phi-3-small alone, as in Hugging Face and vLLM",
            )
        if factor is None and own.get("factor") is None and context and trained:
            add(
                "note",
                "factor",
                "factor is absent: max_position_embeddings / "
                "original_max_position_embeddings = {ratio} stands for it",
                ratio=params.shown(context / trained),
            )
    _about_geometry(add, text, own, layer_type, rope_type)
    for unread in own:
        if unread in _READ[rope_type] or unread in _ELSEWHERE:
            continue
        if rope_type == "default" and unread in _METHOD_KEYS:
            add(
                "warning",
                str(unread),
                "{unread} is not read without a rope_type that scales: the frequencies stay plain",
                unread=unread,
            )
            continue
        known = {*_METHOD_KEYS, *_ELSEWHERE}
        meant = [] if unread in known else difflib.get_close_matches(str(unread), sorted(known), 1)
        add(
            "warning" if meant else "note",
            str(unread),
            "{unread} is not read by {rope_type}" + (", did you mean {meant}?" if meant else ""),
            unread=_shown(unread).strip("'"),
            rope_type=rope_type,
            **({"meant": meant[0]} if meant else {}),
        )
    if not any(each.level == "error" for each in found):
        try:
            _rotary_of(text, layer_type, own).frequencies()
        except InvalidParameterError as wrong:
            found.append(_as_finding(wrong, layer_type))
    return found


def _about_factor(
    add: Any,
    rope_type: str,
    factor: float | None,
    written: Any,
    context: float | None,
    trained: float | None,
) -> None:
    if rope_type == "default":
        return
    if factor is not None and factor < 1.0:
        reciprocal = 1.0 / factor if factor > 0.0 and math.isfinite(1.0 / factor) else None
        sentence = "factor must be at least 1, new context over trained context, got {got}"
        if reciprocal is None:
            add("error", "factor", sentence, got=params.shown(factor))
        else:
            add(
                "error",
                "factor",
                sentence + ", which looks like the reciprocal of {reciprocal}",
                got=params.shown(factor),
                reciprocal=params.shown(reciprocal),
            )
        return
    ratio = context / trained if context and trained and trained > 0 else None
    if rope_type == "yarn" and written is None:
        add(
            "warning",
            "factor",
            "factor must be given for yarn, got nothing: "
            "max_position_embeddings / original_max_position_embeddings stands for it",
        )
    if rope_type == "dynamic" and factor == 1.0:
        add(
            "note",
            "factor",
            "factor 1 is not plain RoPE in dynamic: beyond the trained context "
            "the base still grows with the length",
        )
    if factor is None or ratio is None or rope_type in {"dynamic", "proportional"}:
        return
    if factor > 1.0 and ratio <= 1.0:
        add(
            "note",
            "max_position_embeddings",
            "max_position_embeddings is not above the trained context, {context} and {trained}: "
            "the frequencies are scaled by factor {factor} all the same",
            context=params.shown(context),
            trained=params.shown(trained),
            factor=params.shown(factor),
        )
    elif not math.isclose(factor, ratio, rel_tol=1e-6) and rope_type != "llama3":
        add(
            "warning",
            "factor",
            "factor must be max_position_embeddings / original_max_position_embeddings = {ratio}, "
            "got {got}: the factor is used",
            ratio=params.shown(ratio),
            got=params.shown(factor),
        )


def _about_yarn(add: Any, own: Config, factor: float | None, nested: bool) -> None:
    fast, slow = _number(own.get("beta_fast")) or 32.0, _number(own.get("beta_slow")) or 1.0
    if fast < slow:
        add(
            "error",
            "beta_fast",
            "beta_fast must be at least beta_slow, {slow}, got {fast}",
            slow=params.shown(slow),
            fast=params.shown(fast),
        )
    growth = math.log(factor) if factor is not None and factor > 1.0 else 0.0
    multiplied = _number(own.get("attn_factor"))
    if multiplied is not None and own.get("attention_factor") is None:
        add(
            "warning",
            "attn_factor",
            "attn_factor is not read by Hugging Face, which gives {hf}; vLLM and the YaRN "
            "repository multiply by it and get {other}; attention_factor would replace the value",
            hf=params.shown(0.1 * growth + 1.0),
            other=params.shown((0.1 * growth + 1.0) * multiplied),
        )
    explicit = _number(own.get("attention_factor"))
    if explicit is not None and explicit > 0.0 and factor is not None:
        if not math.isclose(explicit, 0.1 * growth + 1.0, rel_tol=1e-6):
            add(
                "note",
                "attention_factor",
                "attention_factor {got} replaces 0.1 ln(factor) + 1 = {usual}; it is not a "
                "multiplier of it",
                got=params.shown(explicit),
                usual=params.shown(0.1 * growth + 1.0),
            )
        return
    mscale, all_dim = _number(own.get("mscale")), _number(own.get("mscale_all_dim"))
    if bool(mscale) != bool(all_dim):
        add(
            "warning",
            "mscale" if mscale else "mscale_all_dim",
            "mscale and mscale_all_dim must both be given and not 0 to count, got {mscale} and "
            "{all_dim}: Hugging Face then takes 0.1 ln(factor) + 1; DeepSeek's own code and "
            "vLLM take them one by one",
            mscale=_shown(own.get("mscale")),
            all_dim=_shown(own.get("mscale_all_dim")),
        )
    elif mscale and mscale == all_dim:
        add(
            "note",
            "mscale",
            "mscale equals mscale_all_dim, {got}: cos and sin keep their size; DeepSeek's models "
            "scale all scores by the square of 0.1 mscale_all_dim ln(factor) + 1 instead",
            got=params.shown(mscale),
        )
    if nested and own.get("truncate") is False:
        add(
            "warning",
            "truncate",
            "truncate false is read here, but transformers 5.24.0 looks for it outside the layer "
            "type's settings and rounds the ramp",
        )


def _about_geometry(
    add: Any, text: Config, own: Config, layer_type: str | None, rope_type: str
) -> None:
    try:
        _, head_dim = _head_dim(text, own, layer_type)
        share_name, share = _share(text, own)
        share = _number(share)
        rotary_dim = _rotary_of(text, layer_type, own).rope.rotary_dim
    except InvalidParameterError:
        return
    exact = None if head_dim is None or share is None else head_dim * share
    if exact is not None and rope_type != "proportional" and rotary_dim == int(exact) != exact:
        add(
            "note",
            share_name,
            "{name} gives {exact} dimensions of {head_dim}; {got} rotate",
            name=share_name,
            exact=params.shown(exact),
            head_dim=head_dim,
            got=rotary_dim,
        )


def _about_others(text: Config, encoding: str) -> Iterable[Finding]:
    """Findings about models without RoPE."""
    bias_max = _number(_attention(text).get("alibi_bias_max"))
    if encoding == "alibi" and bias_max not in (None, 8.0):
        yield Finding(
            "warning",
            "alibi_bias_max",
            "alibi_bias_max {got} is not read by Hugging Face's MPT, which takes 8; MosaicML's own "
            "code reads it",
            {"got": params.shown(bias_max)},
        )
    if any(isinstance(text.get(key), dict) and text[key] for key in _SETTINGS):
        yield Finding(
            "warning",
            "rope_scaling",
            "rope_scaling must be absent without RoPE, got settings beside {encoding}",
            {"encoding": encoding},
        )
