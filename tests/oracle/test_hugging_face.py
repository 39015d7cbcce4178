"""posviz against Hugging Face's own code, run here: ``make oracle``.

Not part of ``make test``, which holds the same numbers as files and needs no transformers.
"""

from __future__ import annotations

import copy
import inspect
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

from posviz import alibi, attention, hf_config, precision, relative, rope

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
