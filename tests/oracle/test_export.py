"""What posviz exports, read by Hugging Face's own code; part of ``make oracle``."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from posviz.cache_timeline import Timeline
from posviz.export import STYLES, Setting, Style, hf_config
from posviz.rope import RoPE
from posviz.rope_scaling import (
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    RopeScaling,
    Yarn,
)
from tests.oracle.test_hugging_face import reference


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """What Hugging Face warns about is part of the test."""
    before = logging.root.manager.disable
    logging.disable(logging.NOTSET)
    yield
    logging.disable(before)


def ramp(first: float, last: float, pairs: int) -> tuple[float, ...]:
    return tuple(np.linspace(first, last, pairs).tolist())


def scalings(pairs: int) -> dict[str, RopeScaling]:
    lists = ramp(1.0, 2.0, pairs), ramp(2.0, 9.0, pairs)
    return {
        "plain": NoScaling(),
        "linear": Linear(4.0),
        "ntk": Ntk(4.0),
        "dynamic": DynamicNtk(2.5, 8192),
        "yarn": Yarn(4.0, 8192),
        "yarn, all keys": Yarn(4.0, 8192, 20.0, 2.0, False, None, 0.7, 1.3),
        "yarn, its own factor": Yarn(4.0, 8192, attention_factor=1.25),
        "yarn, falsy": Yarn(4.0, 8192, mscale=1.0, mscale_all_dim=0.0),
        "llama3": Llama3(4.0, 8192),
        "llama3, a step": Llama3(4.0, 8192, 1.0, 1.0),
        "longrope": LongRope(*lists, 8192, factor=4.0, max_position_embeddings=32_768),
        "longrope, ratio": LongRope(*lists, 8192, max_position_embeddings=32_768),
        "longrope, its own factor": LongRope(*lists, 8192, attention_factor=1.5),
        "proportional": Proportional(0.3),
        "proportional, divided": Proportional(0.3, 2.0),
    }


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("rotary_dim", [128, 58])
@pytest.mark.parametrize("name", scalings(2))
def test_hugging_face_takes_an_exported_config_and_computes_the_setting(
    name: str, rotary_dim: int, style: Style, caplog: pytest.LogCaptureFixture
) -> None:
    scaling = scalings(rotary_dim // 2)[name]
    head_dim = rotary_dim if rotary_dim == 128 or name.startswith("proportional") else 200
    setting = Setting(RoPE(rotary_dim, 500_000.0), scaling, head_dim, 32_768, 8192)
    config = {
        "model_type": "llama", "hidden_size": 4 * head_dim, "num_attention_heads": 4,
        **hf_config(setting, style),
    }  # fmt: skip
    config = json.loads(json.dumps(config))
    for seq_len in (None, 100, 8192, 8193, 32_768):
        inv_freq, attention_factor = reference(copy.deepcopy(config), seq_len)
        ours = setting.frequencies(seq_len)
        np.testing.assert_allclose(ours[0], inv_freq, rtol=2e-6)
        assert ours[1] == pytest.approx(attention_factor, rel=1e-9)
    warned = [record.getMessage() for record in caplog.records]
    if name == "proportional, divided":  # computed with, but missing in what is validated
        assert all("'proportional': {'factor'}" in each for each in warned)
    elif name == "llama3, a step":  # as in Llama 4 Scout's own file
        assert all("high_freq_factor field must be greater" in each for each in warned)
    else:  # the advice to write a factor is given once, and refused
        assert not [each for each in warned if "Please set the `factor` field" not in each]


@pytest.mark.parametrize(
    "method", [DynamicNtk(2.0, 64), LongRope(ramp(1, 2, 8), ramp(2, 9, 8), 64, factor=4.0)]
)
@pytest.mark.parametrize(("prompt", "seen"), [(10, None), (64, None), (64, 90), (63, 90), (80, 90)])
def test_a_cached_key_has_the_frequencies_of_the_module_that_grew(
    method: DynamicNtk | LongRope, prompt: int, seen: int | None
) -> None:
    """Pass after pass through Llama's own module, after a longer sequence or none."""
    total, rope = 120, RoPE(16)
    config = LlamaConfig(
        hidden_size=64, num_attention_heads=4, **hf_config(Setting(rope, method, 16, 64, 64))
    )
    module, vector = LlamaRotaryEmbedding(config), torch.ones(1, 1, 16)
    if seen is not None:
        module(vector, torch.arange(seen)[None])
    expected = []
    for length in (prompt, *range(prompt + 1, total + 1)):
        first = len(expected)
        module(vector, torch.arange(first, length)[None])
        expected += [module.inv_freq.double().numpy().copy()] * (length - first)
    line = Timeline(rope, method, prompt, total, seen=seen)
    np.testing.assert_allclose(line.frequencies(np.arange(total)), expected, rtol=2e-6)
