"""Released models as the handles see them, against facts written here a second time."""

from __future__ import annotations

import pytest

from posviz import presets
from posviz.params import InvalidParameterError

# name: encoding, head_dim, heads, base, trained context, method, factor
FACTS = {
    "Llama-3.1-8B-Instruct": ("rope", 128, 32, 500_000, 8192, "llama3", 8),
    "Llama-2-7b-hf": ("rope", 128, 32, 10_000, 4096, "default", None),
    "Mistral-7B-v0.1": ("rope", 128, 32, 10_000, 32768, "default", None),
    "Qwen3-8B": ("rope", 128, 32, 1_000_000, 40960, "default", None),
    "gpt-oss-20b": ("rope", 64, 64, 150_000, 4096, "yarn", 32),
    "Yarn-Llama-2-7b-64k": ("rope", 128, 32, 10_000, 4096, "yarn", 16),
    "bloom (176B)": ("alibi", 128, 112, None, 2048, "default", None),
}


def test_every_model_of_the_playground_is_described_here() -> None:
    assert set(presets.PLAYGROUND) == set(FACTS)


@pytest.mark.parametrize("name", FACTS)
def test_a_preset_is_what_was_released(name: str) -> None:
    model = presets.get(name)
    assert (
        model.positional_encoding, model.head_dim, model.num_heads, model.rope_theta,
        model.original_max_position_embeddings, model.rope_type, model.factor,
    ) == FACTS[name]  # fmt: skip
    assert model.source


def test_a_method_brings_its_own_keys() -> None:
    assert presets.get("gpt-oss-20b").method_keys == {
        "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
    }  # fmt: skip
    assert presets.get("Llama-3.1-8B-Instruct").method_keys == {
        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["GPT-9", "", None, [], 7])
def test_an_unknown_model_is_told(name: object) -> None:
    for ask in (presets.get, presets.record, presets.config):
        with pytest.raises(InvalidParameterError, match=r"one of the 83 models on record.*got"):
            ask(name)  # type: ignore[arg-type]


# Nobody says how many tokens these read at once, or how many heads they have.
WITHOUT_A_HANDLE = {
    "bloom-560m": "max_position_embeddings",
    "gemma-4-e2b": "max_position_embeddings",
    "internlm3-8b-instruct": "num_attention_heads",
    "Qwen3-VL-2B": "max_position_embeddings",
    "t5-base": "max_position_embeddings",
    "t5-small": "max_position_embeddings",
    "transfo-xl-wt103": "max_position_embeddings",
}


@pytest.mark.parametrize("name", presets.names())
def test_a_model_has_its_handles_or_says_what_is_missing(name: str) -> None:
    if name in WITHOUT_A_HANDLE:
        sentence = f"^{WITHOUT_A_HANDLE[name]} must be on record for "
        with pytest.raises(InvalidParameterError, match=sentence):
            presets.get(name)
    else:
        model = presets.get(name)
        assert model.name == name
        assert model.head_dim > 0
        assert model.original_max_position_embeddings > 0


def test_a_model_of_two_layer_types_is_its_full_attention_layers() -> None:
    model = presets.get("gemma-3-4b-it")
    assert (model.rope_type, model.factor, model.rope_theta) == ("linear", 8.0, 1e6)
