"""posviz against Hugging Face's own code, run here: ``make oracle``.

Not part of ``make test``, which holds the same numbers as files and needs no transformers.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import logging
from typing import Any

import numpy as np
import pytest
import torch
from transformers import CONFIG_MAPPING, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from posviz import alibi, attention, hf_config, hf_model_types, precision, relative, rope
from posviz.params import InvalidParameterError

logging.disable(logging.CRITICAL)

RNG = np.random.default_rng(0)
METHODS = ("default", "linear", "dynamic", "yarn", "llama3", "longrope")
MODEL_TYPES = (
    "llama", "mistral", "qwen2", "qwen3", "phi", "phi3", "gpt_neox", "stablelm", "glm", "glm4",
    "cohere", "olmo2", "smollm3", "nemotron", "deepseek_v3", "granite", "starcoder2", "gemma",
    "persimmon", "seed_oss", "minimax_m2", "helium", "falcon", "gpt_oss", "mixtral",
)  # fmt: skip


def reference(config: dict[str, Any], seq_len: int | None, layer_type: str | None = None) -> Any:
    """``(inv_freq, attention_factor)`` of Hugging Face's config class and its own functions."""
    text = CONFIG_MAPPING[config["model_type"]].from_dict(copy.deepcopy(config)).get_text_config()
    settings = text.rope_parameters[layer_type] if layer_type else text.rope_parameters
    kind = settings["rope_type"]
    if kind == "default":
        head_dim = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        width = int(head_dim * settings.get("partial_rotary_factor", 1.0))
        exponents = torch.arange(0, width, 2, dtype=torch.int64).float() / width
        return (1.0 / settings["rope_theta"] ** exponents).double().numpy(), 1.0
    inv_freq, factor = ROPE_INIT_FUNCTIONS[kind](
        text, "cpu", seq_len=seq_len, layer_type=layer_type
    )
    return inv_freq.double().numpy(), factor


def random_config(model_type: str, method: str) -> dict[str, Any]:
    config: dict[str, Any] = {
        "model_type": model_type, "hidden_size": 1024, "num_attention_heads": 8,
        "max_position_embeddings": 32768,
    }  # fmt: skip
    base = "rotary_emb_base" if model_type == "gpt_neox" else "rope_theta"
    config[base] = float(RNG.choice([1e4, 5e5, 1e6]))
    # Phi-3's class checks its lists against hidden_size / heads whatever head_dim says; Mixtral's
    # default is null, with which Hugging Face's own functions fail.
    may = model_type not in ("falcon", "deepseek_v3", "phi3")
    if model_type == "mixtral" or (may and RNG.random() < 0.5):
        config["head_dim"] = 64
    settings: dict[str, Any] = {"type" if RNG.random() < 0.5 else "rope_type": method}
    if method != "default":
        settings["factor"] = 4.0
    if method in ("yarn", "llama3", "longrope"):
        settings["original_max_position_embeddings"] = 8192
        if model_type == "phi3":  # else its class's own 4096 wins there (docs/decisions.md)
            config["original_max_position_embeddings"] = 8192
    if method == "llama3":
        settings |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if method == "yarn" and RNG.random() < 0.5:
        settings |= {"beta_fast": 16, "beta_slow": 2, "truncate": False}
    if method == "longrope":
        pairs = len(hf_config.rope_frequencies(config)[0])
        settings["short_factor"] = np.linspace(1, 2, pairs).tolist()
        settings["long_factor"] = np.linspace(2, 9, pairs).tolist()
    config["rope_scaling" if RNG.random() < 0.5 else "rope_parameters"] = settings
    return config


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_a_config_gives_the_frequencies_of_its_own_class(model_type: str, method: str) -> None:
    for seq_len in (100, 8192, 8193, 40_000):
        config = random_config(model_type, method)
        if model_type == "phi3" and method in ("linear", "dynamic", "yarn", "llama3"):
            with pytest.raises(Exception, match="longrope"):  # its class takes no other method
                reference(config, seq_len)
            continue
        inv_freq, factor = reference(config, seq_len)
        ours = hf_config.rope_frequencies(config, seq_len=seq_len)
        np.testing.assert_allclose(ours[0], inv_freq, rtol=2e-6)
        assert ours[1] == pytest.approx(factor, rel=1e-9)


@pytest.mark.parametrize("layer_type", ["full_attention", "sliding_attention"])
@pytest.mark.parametrize("model_type", ["gemma3_text", "olmo3"])
def test_layer_types_have_their_own_frequencies(model_type: str, layer_type: str) -> None:
    config = {
        "model_type": model_type, "hidden_size": 1024, "num_attention_heads": 8,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }  # fmt: skip
    inv_freq, _ = reference(config, None, layer_type)
    ours, _ = hf_config.rope_frequencies(config, layer_type=layer_type)
    np.testing.assert_allclose(ours, inv_freq, rtol=2e-6)


# Classes whose frequencies are not ours, and why. Encoders of pictures and sound are left out: a
# file's language model is what is read.
NOT_LANGUAGE = (
    "vision", "vit", "audio", "video", "encoder", "dinov3", "efficientloftr", "mlcd",
    "musicflamingo", "word_timestamp",
)  # fmt: skip
ODD = "Hugging Face rounds an odd number of rotating dimensions up; ours is an error"
INNER = "the language model's part has a name that no other file uses"
NOT_ALIKE = {
    **dict.fromkeys(("ernie4_5_vl_moe", "ernie4_5_vl_moe_text"), "stored in another order there"),
    **dict.fromkeys(
        ("minimax_m3_vl", "minimax_m3_vl_text"), "rotary_dim of the file is not read there"
    ),
    **dict.fromkeys(
        ("glm4_moe", "glm4v_moe", "glm4v_moe_text", "qwen3_omni_moe", "qwen3_omni_moe_text",
         "qwen3_omni_moe_thinker"), ODD,
    ),
}  # fmt: skip
NOT_ALIKE_WRITTEN = {
    **NOT_ALIKE,
    **dict.fromkeys(("colmodernvbert", "colpali", "colqwen2", "dia", "moonshine"), INNER),
}
DEFAULTS_OF_PARTS = "the language model's part has defaults of the whole model, not of its own type"
NOT_ALIKE_LEFT_OUT = {
    **NOT_ALIKE,
    **dict.fromkeys(
        ("EvollaModel", "got_ocr2", "lighton_ocr", "mistral3", "moss_transcribe_diarize",
         "pp_chart2table", "voxtral", "voxtral_realtime"), DEFAULTS_OF_PARTS,
    ),
    **dict.fromkeys(
        ("deepseek_v4", "dory", "dots3_note", "dots3_note_text", "neomme", "ultrabert",
         "ultravbert"), "its files give their settings; no default of it is kept",
    ),
}  # fmt: skip


LANGUAGE = [
    each for each in CONFIG_MAPPING if not any(part in each for part in NOT_LANGUAGE)
]  # fmt: skip


def rotary_modules(text: Any) -> dict[tuple[str, str | None], tuple[Any, Any]]:
    """Frequencies and factor of each RoPE class in a model's own code, per layer type."""
    code = importlib.import_module(type(text).__module__.replace("configuration_", "modeling_"))
    found: dict[tuple[str, str | None], tuple[Any, Any]] = {}
    for name, kind in vars(code).items():
        if not (inspect.isclass(kind) and kind.__module__ == code.__name__):
            continue
        if not name.endswith("RotaryEmbedding") or any(part in name for part in ("Vision", "DiT")):
            continue
        try:
            module = kind(config=text)
        except (AttributeError, KeyError):  # made for another part of the model
            continue
        for key, buffer in module.named_buffers():
            if key.endswith("inv_freq") and "original" not in key:
                layer_type = key.removesuffix("inv_freq").rstrip("_")
                factor = getattr(module, f"{layer_type}_attention_scaling", None)
                factor = getattr(module, "attention_scaling", 1.0) if factor is None else factor
                found[name, layer_type or None] = (buffer.double().numpy(), factor)
    return found


def language_model(model_type: str) -> tuple[Any, Any, Any]:
    """A class's default config, its language model's part and that part's RoPE."""
    try:
        config = CONFIG_MAPPING[model_type]()
        text = config.get_text_config(decoder=True)
        modules = rotary_modules(text) if getattr(text, "rope_parameters", None) else {}
    except Exception as refused:  # no code here, or its own validation: of many types
        pytest.skip(f"no default model: {type(refused).__name__}")
    if not modules:
        pytest.skip("no RoPE")
    return config, text, modules


def is_alike(written: dict[str, Any], modules: Any) -> bool:
    for (_, layer_type), (inv_freq, factor) in modules.items():
        try:
            ours = hf_config.rope_frequencies(written, layer_type=layer_type)
        except InvalidParameterError:
            return False
        if ours[0].shape != inv_freq.shape or not np.allclose(ours[0], inv_freq, 2e-6, 0.0):
            return False
        if abs(ours[1] - factor) > 1e-9:
            return False
    return True


@pytest.mark.parametrize("model_type", LANGUAGE)
def test_a_class_s_own_file_gives_its_frequencies(model_type: str) -> None:
    config, _, modules = language_model(model_type)
    written = json.loads(json.dumps(config.to_dict(), default=str))
    assert is_alike(written, modules) == (model_type not in NOT_ALIKE_WRITTEN)


@pytest.mark.parametrize("model_type", LANGUAGE)
def test_what_a_file_leaves_out_is_its_class_s(model_type: str) -> None:
    """A file of what is not a default, with the sizes that files always give."""
    config, text, modules = language_model(model_type)
    written = json.loads(json.dumps(config.to_diff_dict(), default=str))
    written["model_type"] = model_type
    inner = written if text is config else written.setdefault("text_config", {})
    inner.setdefault("model_type", text.model_type)
    inner.pop("rope_parameters", None)
    text.allow_global_per_layer_attribute_access = True
    for key in ("hidden_size", "num_attention_heads", "num_hidden_layers",
                "max_position_embeddings"):  # fmt: skip
        if getattr(text, key, None) is not None:
            inner.setdefault(key, getattr(text, key))
    assert is_alike(written, modules) == (model_type not in NOT_ALIKE_LEFT_OUT)


@pytest.mark.parametrize("depth", [6, 8])
@pytest.mark.parametrize("model_type", sorted({*hf_model_types.PATTERN, "llama4"}))
def test_layer_types_that_a_file_leaves_out_are_its_class_s(model_type: str, depth: int) -> None:
    name = next(
        each for each in (f"{model_type}_text", model_type.replace("_", "-"), model_type)
        if each in CONFIG_MAPPING
    )  # fmt: skip
    given = {"model_type": name, "num_hidden_layers": depth}
    text = CONFIG_MAPPING[name].from_dict(given).get_text_config(decoder=True)
    ours = hf_config.read({**given, "num_hidden_layers": text.num_hidden_layers, "head_dim": 64})
    assert list(ours.layer_types) == text.layer_types


@pytest.mark.parametrize("head_dim", [8, 64, 128])
def test_rotate_is_llama_s_rotation(head_dim: int) -> None:
    module = LlamaRotaryEmbedding(
        LlamaConfig(hidden_size=head_dim * 4, num_attention_heads=4, head_dim=head_dim)
    )
    q = torch.tensor(RNG.standard_normal((1, 4, 10, head_dim)), dtype=torch.float32)
    cos, sin = module(q, torch.arange(10)[None])
    rotated, _ = apply_rotary_pos_emb(q, q, cos, sin)
    ours = rope.rotate(q.double().numpy(), np.arange(10), rope.inv_freq(head_dim, 10_000.0))
    np.testing.assert_allclose(ours, rotated.double().numpy(), atol=5e-6)


def test_bfloat16_is_torch_s() -> None:
    numbers = np.concatenate([RNG.standard_normal(1000) * 10.0 ** RNG.integers(-30, 30, 1000),
                              np.arange(0, 70_000, 7)])  # fmt: skip
    cast = torch.tensor(numbers).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(precision.bfloat16(numbers), cast)


@pytest.mark.parametrize("num_heads", range(1, 129))
def test_alibi_slopes_are_bloom_s_and_mpt_s(num_heads: int) -> None:
    bias = build_alibi_tensor(torch.ones(1, 3), num_heads, torch.float32)
    np.testing.assert_allclose(bias[:, 0, 1].numpy(), alibi.slopes(num_heads), rtol=2e-6)
    mpt = build_mpt_alibi_tensor(num_heads, 4)[..., -2].flatten().numpy()
    np.testing.assert_allclose(-mpt, alibi.slopes(num_heads), rtol=2e-6)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_t5_buckets_are_t5_s_for_every_setting(bidirectional: bool) -> None:
    positions = np.arange(-3000, 3001)
    bucket = T5Attention._relative_position_bucket
    assert "float" in inspect.getsource(bucket)  # its logarithm is in float32
    for num_buckets in (8, 18, 32, 36, 64):
        for max_distance in (64, 100, 128, 1000):
            theirs = bucket(
                torch.tensor(positions), bidirectional=bidirectional, num_buckets=num_buckets,
                max_distance=max_distance,
            )  # fmt: skip
            ours = relative.t5_bucket(positions, num_buckets, max_distance, bidirectional)
            np.testing.assert_array_equal(ours, theirs.numpy())


def test_softmax_is_torch_s() -> None:
    scores = RNG.standard_normal((5, 7)) * 50
    scores[0, 3:] = -np.inf
    theirs = torch.softmax(torch.tensor(scores), dim=-1).numpy()
    np.testing.assert_allclose(attention.softmax(scores), theirs, rtol=1e-12, atol=1e-300)
