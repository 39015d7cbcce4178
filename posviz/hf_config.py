"""What a Hugging Face ``config.json`` says about positions.

:func:`read` says what it means, :func:`rope_frequencies` computes it; what is wrong with it,
:mod:`posviz.config_doctor` says. They take the file as a dict, old keys (``rope_scaling``) and new
ones (``rope_parameters``), one set of settings or one per layer type, multimodal files included.

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

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posviz import hf_model_types as types
from posviz import params, rope_scaling
from posviz import rope as rope_module
from posviz.params import InvalidParameterError, Word
from posviz.rope import Layout, RoPE
from posviz.rope_scaling import Frequencies, RopeScaling

Config = dict[str, Any]

# A head of more dimensions is a slip, and so is a model of more layers, or of more types of them.
LARGEST_HEAD_DIM = 2**16
LARGEST_DEPTH = 2**14
MOST_LAYER_TYPES = 64

# Where one thing has several names, the first that is there counts.
SETTINGS = ("rope_scaling", "rope_parameters")
TEXT = ("text_config", "thinker_config", "llm_config", "language_config", "decoder")
HIDDEN = ("hidden_size", "n_embd", "d_model", "n_embed")
HEADS = (
    "num_attention_heads", "n_head", "num_heads", "n_heads", "encoder_attention_heads",
    "decoder_attention_heads",
)  # fmt: skip
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
_DEPTH = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers")
CONTEXT = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
    "n_ctx",
)  # fmt: skip
THETA = ("global_rope_theta", "rope_theta", "rotary_emb_base", "rope_embedding_base")
LOCAL_THETA = ("rope_local_base_freq", "local_rope_theta", "swa_rope_theta")
_EVERY = ("sliding_window_pattern", "global_attn_every_n_layers", "full_attention_interval")
_LAYER_TYPES = ("layer_types", "layers_block_type")
SHARE = ("partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction")

ALIASES = {"su": "longrope", "mrope": "default"}

# What a method reads from its settings.
TRAINED = {"yarn", "longrope", "llama3"}
READ: dict[str, tuple[str, ...]] = {
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
METHOD_KEYS = {key for keys in READ.values() for key in keys}
# Keys that belong to no method: geometry, other axes, or known to be without effect.
ELSEWHERE = {
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
                got=Word("values that overflow"),
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
    text = text_config(config)
    _check_rope(text)
    if layer_type is not None and not isinstance(layer_type, str):
        raise InvalidParameterError(
            "layer_type must be the name of a layer type, got {got}", got=short(layer_type)
        )
    found, plain = by_layer_type(text)
    if layer_type is None:
        name = _only(text, found, plain)
    elif list(found) == [None]:
        name = None
        listed = set(layer_types_of(text, None)) - types.WITHOUT_ATTENTION
        if listed:
            params.one_of("layer_type", layer_type, sorted(listed))
    else:
        name = params.one_of("layer_type", layer_type, [str(key) for key in found])
    return rotary_of(text, name, found[name]).frequencies(seq_len)


def read(config: Config) -> Reading:
    """What ``config`` says about positions.

    Raises:
        InvalidParameterError: If a value that the encoding needs is missing or not allowed.
    """
    text = text_config(config)
    encoding = encoding_of(text)
    context = _whole_if_given(text, CONTEXT)
    common: dict[str, Any] = {
        "model_type": text.get("model_type"),
        "positional_encoding": encoding,
        "num_heads": _whole_if_given(text, HEADS),
        "max_position_embeddings": context,
        "sliding_window": _sliding_window(text),
    }
    if encoding == "rope":
        return _read_rope(text, common)
    common["head_dim"] = head_dim_of(text, {}, None)[1]
    kind = _kind(text.get("model_type"))
    if encoding == "alibi":
        bias_max = first_of(attention_config(text), ("alibi_bias_max",))[1]
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
            padding = first_of(text, ("pad_token_id",))[1]
            common["position_offset"] = (
                2 if padding is None else params.whole("pad_token_id", padding, 0) + 1
            )
    return Reading(**common)


def _read_rope(text: Config, common: dict[str, Any]) -> Reading:
    found, _ = by_layer_type(text)
    rotary = tuple(rotary_of(text, name, own) for name, own in found.items() if own is not None)
    if not rotary:
        raise InvalidParameterError(
            "rope_parameters must hold the settings of a layer type, got {got}",
            got=Word("null for each of them"),
        )
    for each in rotary:
        each.frequencies()
    depth = _whole_if_given(text, _DEPTH, LARGEST_DEPTH)
    layer_types = layer_types_of(text, depth)
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


def text_config(given: Any) -> Config:
    """The language model's part of a multimodal file; what it leaves out, the whole file says."""
    if not isinstance(given, dict):
        raise InvalidParameterError(
            "config must be a dict, as read from a config.json, got {got}",
            got=type(given).__name__,
        )
    config: Config = given
    for _ in range(len(TEXT)):
        inner = next((config[key] for key in TEXT if isinstance(config.get(key), dict)), None)
        if inner is None:
            break
        outer = {key: value for key, value in config.items() if key not in TEXT}
        if any(inner.get(key) is not None for key in SETTINGS):
            outer = {key: value for key, value in outer.items() if key not in SETTINGS}
        config = {**outer, **inner}
    kind = config.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise InvalidParameterError(
            "model_type must be the name of a model type, got {got}", got=short(kind)
        )
    return config


def _kind(model_type: str | None) -> str:
    name = (model_type or "").replace("-", "_").lower()
    return name.removesuffix("_text_model").removesuffix("_text")


def kind_of(text: Config) -> str:
    """Model type without ``_text`` and with ``_`` for ``-``; empty if the file names none."""
    return _kind(text.get("model_type"))


def is_latent(model_type: str | None) -> bool:
    """Whether a model type has MLA: part of each query and key turns, the rest does not."""
    return _kind(model_type) in types.DEFAULT_LATENT


def short(value: object) -> str:
    """A value in a sentence; what holds other values is named by its type alone."""
    simple = value is None or isinstance(value, (str, bool, int, float, np.generic))
    return params.shown(value) if simple else f"a {type(value).__name__}"


def scalar(name: str, value: Any) -> Any:
    """``value``, a whole float as the int it writes, unless it holds other values."""
    if not (value is None or isinstance(value, (str, bool, int, float, np.generic))):
        raise InvalidParameterError(
            "{name} must be a single value, got {got}", name=name, got=short(value)
        )
    return int(value) if isinstance(value, float) and value.is_integer() else value


def first_of(config: Mapping[str, Any], names: Iterable[str]) -> tuple[str, Any]:
    """The first of ``names`` that has a value, and the value."""
    name = ""
    for name in names:
        value = scalar(name, config.get(name))
        if value is not None:
            return name, value
    return name, None


def _whole_if_given(
    config: Mapping[str, Any], names: Sequence[str], high: int | None = None
) -> int | None:
    name, value = first_of(config, names)
    return None if value is None else params.whole(name, value, 1, high)


def attention_config(text: Config) -> Config:
    """MPT and DBRX keep their settings in ``attn_config``."""
    inner = text.get("attn_config")
    return {**text, **inner} if isinstance(inner, dict) else text


def encoding_of(text: Config) -> str:
    """Which encoding: the model type decides; for an unknown one, its keys; else RoPE."""
    kind, attention = kind_of(text), attention_config(text)
    alibi = attention.get("alibi")
    if alibi is not None and not isinstance(alibi, bool):
        raise InvalidParameterError("alibi must be true or false, got {got}", got=short(alibi))
    if kind == "mpt":
        if alibi is None or alibi:
            return "alibi"
        if attention.get("rope") is True:
            return "rope"
        return "none" if text.get("learned_pos_emb") is False else "learned"
    if alibi or (kind in {"refinedweb", "refinedwebmodel"} and alibi is None):
        return "alibi"
    # Baichuan's 13B and 2-13B files do not name their encoding; vLLM goes by the size as well.
    if kind == "baichuan" and first_of(text, HIDDEN)[1] not in (None, 4096):
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
    encoding = encoding_of(text)
    if encoding != "rope":
        raise InvalidParameterError(
            "positional_encoding must be rope to have frequencies, got {got}", got=encoding
        )


def settings_of(text: Config) -> Config:
    """The settings as they stand, flat or per layer type: the old key wins, as in Hugging Face."""
    for key in SETTINGS:
        value = text.get(key)
        if value is not None and not isinstance(value, dict):
            raise InvalidParameterError(
                "{name} must be a dict of settings or null, got {got}", name=key, got=short(value)
            )
    written: Config = text.get("rope_scaling") or text.get("rope_parameters") or {}
    if written:
        return written
    return _usual_settings(text, types.DEFAULT_SETTINGS.get(kind_of(text), {}), "")


def _usual_settings(text: Config, usual: Config, layer_type: str) -> Config:
    """Settings of the model type, without a base or share that the file gives."""
    given = {"rope_theta": _theta_names(layer_type), "partial_rotary_factor": SHARE}
    return {
        key: _usual_settings(text, value, key) if isinstance(value, dict) else value
        for key, value in usual.items()
        if all(text.get(name) is None for name in given.get(key, ()))
    }


def slides(layer_type: str | None) -> bool:
    """Whether layers of that type look back over a window."""
    return layer_type is not None and "sliding" in layer_type


def _theta_names(layer_type: str | None) -> tuple[str, ...]:
    """Keys beside the settings that hold the base of these layers and of no others."""
    return LOCAL_THETA if slides(layer_type) else THETA


def _names_a_layer_type(key: object, value: object, listed: frozenset[str]) -> bool:
    if isinstance(key, str) and (key in METHOD_KEYS or key in ELSEWHERE or key in SETTINGS):
        return False
    return isinstance(value, dict) or (
        isinstance(key, str) and (key.endswith("_attention") or key in listed)
    )


def by_layer_type(text: Config) -> tuple[dict[str | None, Config | None], bool]:
    """Settings per layer type, None for layers without RoPE; and whether they stand alone.

    They stand alone if the file writes one set of settings, which is then that of all layers or,
    where another base for local layers stands beside it, of ``full_attention``.
    """
    settings, kind, named = settings_of(text), kind_of(text), text.get("layer_types")
    listed = frozenset(
        name
        for name in (named if isinstance(named, (list, tuple)) else ())
        if isinstance(name, str)
    )
    own = {key: value for key, value in settings.items() if _names_a_layer_type(key, value, listed)}
    if len(own) > MOST_LAYER_TYPES:
        raise InvalidParameterError(
            "rope_parameters must hold the settings of at most {most} layer types, got {got}",
            most=MOST_LAYER_TYPES,
            got=params.shown(len(own)),
        )
    if own:
        shared = {key: value for key, value in settings.items() if key not in own}
        found: dict[str | None, Config | None] = {}
        for key, value in own.items():
            if value is not None and not isinstance(value, dict):
                raise InvalidParameterError(
                    "{name} must be a dict of settings or null, got {got}",
                    name=key,
                    got=short(value),
                )
            found[str(key)] = None if value is None else {**shared, **value}
        if kind in types.SPLIT:
            found.setdefault("full_attention", {})
            found.setdefault("sliding_attention", {})
        return found, False
    if kind in types.ALL_SCALED:
        return {"full_attention": settings, "sliding_attention": settings}, False
    if kind not in types.SPLIT and first_of(text, LOCAL_THETA)[1] is None:
        return {None: settings}, True
    near = {} if _local_theta(text)[1] is not None else {"rope_theta": settings.get("rope_theta")}
    return {"full_attention": settings, "sliding_attention": near}, True


def _only(text: Config, found: dict[str | None, Config | None], plain: bool) -> str | None:
    """The layer type that is meant when none is named."""
    used = set(layer_types_of(text, None))
    names = [name for name, own in found.items() if own is not None]
    names = [name for name in names if name in used] or names
    if len(names) == 1:
        return names[0]
    if plain:
        return "full_attention"
    if names:
        first, *others = (rotary_of(text, name, found[name]) for name in names)
        if all((first.rope, first.scaling) == (each.rope, each.scaling) for each in others):
            return names[0]
    raise InvalidParameterError(
        "layer_type must be one of {allowed}, because their settings differ, got {got}",
        name="layer_type",
        allowed=", ".join(str(name) for name in found),
        got="None",
    )


def rotary_of(text: Config, layer_type: str | None, own: Config | None) -> Rotary:
    """RoPE of the layers of one type from their settings."""
    if own is None:
        raise InvalidParameterError(
            "layer_type must be one with RoPE, got {got}", got=short(layer_type)
        )
    rope_type = rope_type_of(text, own)
    head_name, head_dim = head_dim_of(text, own, layer_type)
    share_name, share = share_of(text, own)
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
        rope=RoPE(rotary_dim, theta_of(text, own, layer_type)),
        scaling=_scaling(text, own, layer_type, rope_type, share),
        mscales=_mscales(own) if kind_of(text) in {"phimoe", "phi3small"} else None,
        mrope_section=section,
        mrope_interleaved=own.get("mrope_interleaved") is True,
    )


def rope_type_of(text: Config, own: Config) -> str:
    """Name of the scaling method of one set of settings."""
    name, value = first_of(own, ("rope_type", "type"))
    value = ALIASES.get(value, value) if isinstance(value, str) else value
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
        and kind_of(text) in {"phi3", "phi3_v", "phi3small", "phi4_multimodal"}
    ):
        return "longrope"
    if rope_type == "dynamic" and first_of(own, ("alpha",))[1]:
        return "ntk"
    return rope_type


def theta_of(text: Config, own: Config, layer_type: str | None) -> float:
    """Base: of the settings, of the file, of the other settings, of the model type."""
    name, theta = first_of(own, ("rope_theta",))
    inside = theta is not None
    if not inside and slides(layer_type):
        name, theta = _local_theta(text)
    if theta is None:
        name, theta = first_of(attention_config(text), THETA)
    if theta is None:
        other = text.get("rope_parameters")
        name, theta = first_of(other if isinstance(other, dict) else {}, ("rope_theta",))
    if theta is None:
        usual = types.DEFAULT_SETTINGS.get(kind_of(text), {}).get(layer_type or "", {})
        theta = usual.get("rope_theta", types.DEFAULT_THETA.get(kind_of(text), 10_000.0))
    base = params.real(name, theta, 1.0, above=True)
    ratio = None if inside else first_of(text, ("rope_ratio",))[1]  # ChatGLM
    return base if ratio is None else base * params.real("rope_ratio", ratio, 0.0, above=True)


def _local_theta(text: Config) -> tuple[str, Any]:
    """Name and value of the base that only the sliding layers have; None if they have none."""
    name, theta = first_of(text, LOCAL_THETA)
    if theta is None:
        usual = types.DEFAULT_SETTINGS.get(kind_of(text), {}).get("sliding_attention", {})
        theta = types.SPLIT.get(kind_of(text), usual.get("rope_theta"))
    return name, theta


def share_of(text: Config, own: Config) -> tuple[str, Any]:
    """Name and value of the share of the head that rotates; None if the file does not say."""
    name, share = first_of(own, SHARE[:1])
    if share is None:
        name, share = first_of(text, SHARE)
    if share is not None or "rotary_dim" in text:
        return name, share
    return "partial_rotary_factor", types.DEFAULT_SHARE.get(kind_of(text))


def head_dim_of(text: Config, own: Config, layer_type: str | None) -> tuple[str, int | None]:
    """Name and number of dimensions of a query or key; None if the file does not say."""

    def checked(name: str, value: Any) -> tuple[str, int]:
        return name, params.whole(name, value, 1, LARGEST_HEAD_DIM)

    kind = kind_of(text)
    name, value = first_of(own, ("head_dim",))
    if value is None and layer_type == "full_attention":
        name, value = first_of(text, ("global_head_dim",))
        if value is None and "global_head_dim" not in text:
            value = types.DEFAULT_GLOBAL_HEAD_DIM.get(kind)
    if value is None and layer_type == "sliding_attention":
        name, value = first_of(text, ("swa_head_dim",))
    if value is not None:
        return checked(name, value)
    rotating, still = latent(text)
    if rotating is not None and still is not None:
        name, value = checked("qk_rope_head_dim", rotating)
        return name, value + params.whole("qk_nope_head_dim", still, 0, LARGEST_HEAD_DIM)
    name, value = first_of(text, HEAD_DIM)
    if value is None and rotating is not None:
        name, value = "qk_rope_head_dim", rotating
    if value is None and "head_dim" not in text:
        name, value = "head_dim", types.DEFAULT_HEAD_DIM.get(kind)
    if value is not None:
        return checked(name, value)
    names = [first_of(text, each)[0] for each in (HIDDEN, HEADS)]
    hidden, heads = _whole_if_given(text, HIDDEN), _whole_if_given(text, HEADS)
    if hidden is None or heads is None:
        return "head_dim", None
    return checked(" / ".join(names), hidden // heads)


def latent(text: Config) -> tuple[Any, Any]:
    """MLA's dimensions of a query that rotate, and that do not; None without MLA."""
    if "qk_rope_head_dim" not in text:
        return types.DEFAULT_LATENT.get(kind_of(text), (None, None))
    return first_of(text, ("qk_rope_head_dim",))[1], first_of(text, ("qk_nope_head_dim",))[1]


def _rotary_dim(
    text: Config, head_name: str, head_dim: int | None, share_name: str, share: Any
) -> int:
    """Dimensions that rotate: MLA's own part, a share of the head, a number, or the whole head."""
    rotating, _ = latent(text)
    if rotating is not None:
        return params.even("qk_rope_head_dim", rotating, high=LARGEST_HEAD_DIM)
    number = first_of(text, ("rotary_dim",))[1]
    if number is None and "rotary_dim" not in text:
        number = types.DEFAULT_ROTARY_DIM.get(kind_of(text))
    if share is None and number is not None:
        return params.even(
            "rotary_dim", number, high=LARGEST_HEAD_DIM if head_dim is None else head_dim
        )
    if head_dim is None:
        raise InvalidParameterError(
            "head_dim must be given, or hidden_size and num_attention_heads, got {got}",
            name="head_dim",
            got=Word("none of them"),
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
    usual = types.DEFAULT_TRAINED_CONTEXT.get(kind_of(text))
    return usual if usual is not None else _whole_if_given(text, CONTEXT)


def _scaling(
    text: Config, own: Config, layer_type: str | None, rope_type: str, share: Any
) -> RopeScaling:
    """The method with its settings: a null one is absent, and what is left over stays unread."""
    settings: Config = {
        key: value
        if key in {"short_factor", "long_factor"} and isinstance(value, (list, tuple))
        else scalar(key, value)
        for key, value in own.items()
        if key in READ.get(rope_type, ()) and value is not None
    }
    for name in ("short_factor", "long_factor"):
        listed = settings.get(name)
        if isinstance(listed, (list, tuple)) and len(listed) > LARGEST_HEAD_DIM // 2:
            raise InvalidParameterError(
                "{name} must have one number per pair, at most {most}, got {got}",
                name=name,
                most=params.shown(LARGEST_HEAD_DIM // 2),
                got=params.shown(len(listed)),
            )
    if rope_type == "ntk" and first_of(own, ("alpha",))[1]:
        settings["factor"] = first_of(own, ("alpha",))[1]
    if rope_type == "proportional" and share is not None:
        settings["partial_rotary_factor"] = share
    if rope_type in {"dynamic", "longrope"}:
        settings["max_position_embeddings"] = _whole_if_given(text, CONTEXT)
    if rope_type in TRAINED:
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
    context = _whole_if_given(text, CONTEXT)
    return None if context is None or trained is None else context / trained


def _mscales(own: Config) -> tuple[float, float] | None:
    found = [first_of(own, (name,))[1] for name in ("short_mscale", "long_mscale")]
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
            "mrope_section must be a list of whole numbers, got {got}", got=short(section)
        )
    return tuple(
        params.whole("mrope_section", scalar("mrope_section", n), 0, LARGEST_HEAD_DIM)
        for n in section
    )


def _sliding_window(text: Config) -> int | None:
    if text.get("use_sliding_window") is False:
        return None
    window = first_of(text, ("sliding_window",))[1]
    if window is None and kind_of(text) in {"modernbert", "modernbert_decoder"}:
        both_sides = _whole_if_given(text, ("local_attention",))
        return None if both_sides is None else both_sides // 2
    return params.whole("sliding_window", window, 0) or None if window is not None else None


def layer_types_of(text: Config, depth: int | None) -> tuple[str, ...]:
    """Type of each layer: as listed, or by the model type's rule if the depth is known."""
    name = next((name for name in _LAYER_TYPES if text.get(name) is not None), None)
    if name is not None:
        listed = text[name]
        if not isinstance(listed, (list, tuple)) or not all(isinstance(n, str) for n in listed):
            raise InvalidParameterError(
                "{name} must be a list of names, got {got}", name=name, got=short(listed)
            )
        return tuple(listed)
    kind = kind_of(text)
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
    return kind_of(text) in types.BY_WINDOW and given and not _sliding_window(text)


def _rope_layers(
    text: Config,
    found: dict[str | None, Config | None],
    layer_types: tuple[str, ...],
    depth: int | None,
) -> tuple[bool, ...]:
    """Whether each layer has RoPE: ``no_rope_layers`` says 1 where it has, despite its name."""
    kind = kind_of(text)
    listed = text.get("no_rope_layers")
    if listed is not None and not (
        isinstance(listed, (list, tuple))
        and all(isinstance(n, int) and n in (0, 1) for n in listed)
    ):
        raise InvalidParameterError(
            "no_rope_layers must be a list of 1 (has RoPE) and 0 (has none), got {got}",
            got=short(listed),
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
    kind = kind_of(text)
    return "interleaved" if kind in types.INTERLEAVED else "half" if kind in types.HALF else None
