"""The doctor: findings, their effects and mends, plain words, and noise that must not break it."""

import copy
import json
import math
import random
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posviz import config_doctor, presets, rope_units
from posviz.config_doctor import Effect, Mend, diagnose, difference, examine
from posviz.config_mended import mended
from posviz.config_text import LlamaCppFlags
from posviz.hf_config import read, rope_frequencies
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import Linear, Llama3
from tests.test_hf_config import NESTED, config, configs, nearly

# What is said about a config.


def findings(made):
    return {(each.level, each.key) for each in diagnose(made)}


@pytest.mark.parametrize(
    ("made", "level", "key"),
    [
        (config("yarn_plus"), "error", "rope_type"),
        (config("linear", factor=0.25), "error", "factor"),
        (config("linear"), "error", "factor"),
        (config("yarn", context=8192, factor=2), "warning", "original_max_position_embeddings"),
        (config("yarn", factor=2, original_max_position_embeddings=4096, attn_factor=1.0),
         "warning", "attn_factor"),
        (config("yarn", context=8192, factor=4, original_max_position_embeddings=4096),
         "warning", "factor"),
        (config("yarn", context=8192, original_max_position_embeddings=4096), "warning", "factor"),
        (config("yarn", context=4096, factor=4, original_max_position_embeddings=4096),
         "warning", "original_max_position_embeddings"),
        (config("yarn", factor=4, original_max_position_embeddings=4096, beta_fast=1, beta_slow=32),
         "error", "beta_fast"),
        (config("yarn", factor=4, original_max_position_embeddings=4096, mscale=0.7),
         "warning", "mscale"),
        (config("yarn", factor=4, original_max_position_embeddings=4096, mscale=1,
                mscale_all_dim=1), "note", "mscale"),
        (config("yarn", factor=4, original_max_position_embeddings=4096, attention_factor=2.0),
         "note", "attention_factor"),
        (config("yarn", factor=4, original_max_position_embeddings=4096, low_freq_factor=1.0),
         "note", "low_freq_factor"),
        (config("dynamic", context=4096, factor=2, original_max_position_embeddings=2048),
         "warning", "original_max_position_embeddings"),
        (config("dynamic", context=4096, factor=1), "note", "factor"),
        (config("llama3", factor=2, original_max_position_embeddings=2048, low_freq_factor=1,
                high_freq_factor=1), "note", "high_freq_factor"),
        (config("llama3", factor=2, original_max_position_embeddings=2048), "warning",
         "low_freq_factor"),
        (config("longrope", factor=2, original_max_position_embeddings=64, short_factor=[1.0] * 3,
                long_factor=[1.0] * 64), "error", "short_factor"),
        (config("longrope", factor=2, original_max_position_embeddings=64, short_factor=[1.0] * 64,
                long_factor=[1.0] * 65), "error", "long_factor"),
        ({"head_dim": 8, "rope_scaling": {"factor": 4.0}}, "warning", "factor"),
        ({"head_dim": 8, "rope_scaling": {"rope_type": "linear", "type": "yarn", "factor": 4.0}},
         "warning", "rope_type"),
        ({"head_dim": None, "hidden_size": 64, "num_attention_heads": 2}, "warning", "head_dim"),
        ({"head_dim": 64, "hidden_size": 64, "num_attention_heads": 2}, "note", "head_dim"),
        ({"hidden_size": 65, "num_attention_heads": 2}, "warning", "hidden_size"),
        ({"head_dim": 63}, "error", "head_dim"),
        ({"n_embd": 63, "n_head": 1}, "error", "n_embd"),
        ({"kv_channels": 128, "n_embd": 64, "n_head": 1}, "note", "kv_channels"),
        ({"head_dim": 100, "rotary_pct": 0.29}, "note", "rotary_pct"),
        (config("default", mrope_section=[16, 24, 25]), "error", "mrope_section"),
        (config("linear", facter=2.0, factor=2.0), "warning", "facter"),
        (config("linear", foo=2.0, factor=2.0), "note", "foo"),
        ({**NESTED, "layer_types": ["full_attention", "chunked_attention"]}, "warning",
         "layer_types"),
        ({"model_type": "bloom", "rope_scaling": {"factor": 2.0}}, "warning", "rope_scaling"),
        ({"model_type": "qwen", "kv_channels": 128, "use_dynamic_ntk": True}, "note",
         "use_dynamic_ntk"),
        ({"head_dim": 64, "rope_theta": 0}, "error", "rope_theta"),
    ],
    ids=lambda each: str(each)[:70],
)  # fmt: skip
def test_a_mistake_is_found(made, level, key):
    assert (level, key) in findings(made)
    for each in diagnose(made):
        assert "{" not in each.sentence
        assert each.sentence[0].islower()


def test_a_config_without_a_mistake_has_no_findings():
    llama = {
        "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
        "max_position_embeddings": 131072, "rope_theta": 5e5,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
    }  # fmt: skip
    assert diagnose(llama) == []
    assert diagnose({"head_dim": 128}) == []


def test_a_reciprocal_is_named():
    assert "reciprocal of 4" in diagnose(config("linear", factor=0.25))[0].sentence


def test_both_conventions_of_attn_factor_are_named():
    made = config("yarn", context=131072, factor=4.0, original_max_position_embeddings=32768,
                  attn_factor=0.8782488562869419)  # fmt: skip
    (only,) = diagnose(made)
    assert "gives 1.13863" in only.sentence
    assert "get 1;" in only.sentence


def test_a_factor_that_is_refused_replaces_nothing():
    made = config("yarn", factor=4, original_max_position_embeddings=4096, attention_factor=-1)
    assert findings(made) == {("error", "attention_factor")}


def test_a_slip_in_a_key_names_the_key_that_is_meant():
    (only,) = diagnose(config("linear", factor=2.0, orignal_max_position_embeddings=64))
    assert only.sentence.endswith("did you mean original_max_position_embeddings?")
    (only,) = diagnose(config("linear", factor=2.0, beta_fast=32))  # a key of another method
    assert only.sentence == "beta_fast is not read by linear"


def test_layer_types_without_settings_are_told_unless_they_have_no_attention():
    made = {**NESTED, "layer_types": ["full_attention", "conv", "sliding_attention"]}
    assert diagnose(made) == []
    (only,) = diagnose({**NESTED, "layer_types": ["full_attention", "chunked_attention"]})
    assert "got chunked_attention, which have none" in only.sentence


def test_the_most_serious_finding_comes_first():
    made = config("linear", factor=0.5, foo=1, bar=2)
    assert next(each.level for each in diagnose(made)) == "error"


# Noise.


@given(st.one_of(configs, nearly))
@example({"model_type": "deepseek_v3", "rotary_pct": "half"})
def test_diagnosis_never_fails_and_finds_what_cannot_be_read(made):
    found = diagnose(made)
    for each in found:
        assert each.level in ("error", "warning", "note")
        assert each.sentence
    refused = any(each.level == "error" for each in found)
    try:
        read(made)
    except InvalidParameterError:
        assert refused
    else:
        assert not refused


# Findings by their cause: what an engine does with a config that is slightly wrong.

LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "max_position_embeddings": 131072, "rope_theta": 500000.0,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                     "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
}  # fmt: skip
QWEN = {
    "model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
    "max_position_embeddings": 131072, "rope_theta": 1e6,
    "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
}  # fmt: skip
PHI4 = presets.config("Phi-4-mini-instruct")
GEMMA = presets.config("gemma-3-4b-it")
SHORT, LONG = (PHI4["rope_parameters"][name] for name in ("short_factor", "long_factor"))
OSS = {
    "model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64, "head_dim": 64,
    "max_position_embeddings": 131072,
    "rope_parameters": {
        "full_attention": {"rope_type": "yarn", "rope_theta": 15e4, "factor": 32.0,
                           "original_max_position_embeddings": 4096, "truncate": False},
        "sliding_attention": {"rope_type": "default", "rope_theta": 15e4},
    },
}  # fmt: skip


def changed(base, *gone, inside=None, without=(), **beside):
    """A config with keys beside or inside its settings changed or gone."""
    made = copy.deepcopy(base)
    settings = "rope_scaling" if "rope_scaling" in made else "rope_parameters"
    for key in gone:
        del made[key]
    made.update(beside)
    if settings in made and isinstance(made[settings], dict):
        made[settings] = {**made[settings], **(inside or {})}
        for key in without:
            del made[settings][key]
    return made


def layers(full, sliding, base=GEMMA):
    return {**base, "rope_parameters": {"full_attention": full, "sliding_attention": sliding}}


QWEN_SIZES = {key: value for key, value in QWEN.items() if key != "rope_scaling"}
L2 = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 32}  # fmt: skip
OLD_GEMMA = {**{key: value for key, value in GEMMA.items() if key != "rope_parameters"},
             "rope_theta": 1e6, "rope_local_base_freq": 1e4}  # fmt: skip
PLAIN_8B = {"model_type": "qwen3", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
            "max_position_embeddings": 40960}  # fmt: skip
# Cause, config, key, level, part of the sentence.
CAUSES = {
    "theta_missing": (changed(LLAMA, "rope_theta"), "rope_theta", "warning", "takes 10,000"),
    "theta_missing_with_another_method": (changed(QWEN, "rope_theta"), "rope_theta", "warning",
                                          "1,000,000"),
    "theta_missing_may_be_right": (
        {"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32,
         "max_position_embeddings": 32768}, "rope_theta", "note", "10,000"),
    "theta_of_the_fallback": (changed(LLAMA, rope_theta=10000.0), "rope_theta", "warning",
                              "rope_theta 500,000 instead of 10,000"),
    "theta_of_something_else": (changed(LLAMA, rope_theta=50000.0), "rope_theta", "note",
                                "500,000 instead of 50,000"),
    "theta_in_the_old_place": (
        {**PLAIN_8B, "rope_theta": 5e6,
         "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
        "rope_theta", "warning", "inside the settings 1,000,000, rope_theta 5,000,000"),
    "theta_misspelt": (changed(LLAMA, "rope_theta", rope_thata=5e5), "rope_thata", "warning",
                       "did you mean rope_theta?"),
    "theta_transposed": (changed(LLAMA, "rope_theta", rope_tehta=5e5), "rope_tehta", "warning",
                         "did you mean rope_theta?"),
    "theta_by_another_name": (changed(LLAMA, "rope_theta", rope_base=5e5), "rope_base", "warning",
                              "did you mean rope_theta?"),
    "theta_as_text": (changed(LLAMA, rope_theta="500000"), "rope_theta", "error", "without quotes"),
    "settings_in_capitals": (
        {**changed(LLAMA, "rope_scaling"), "ropeScaling": LLAMA["rope_scaling"]},
        "ropeScaling", "warning", "did you mean rope_scaling?"),
    "settings_with_a_dash": (
        {**changed(LLAMA, "rope_scaling"), "rope-scaling": LLAMA["rope_scaling"]},
        "rope-scaling", "warning", "did you mean rope_scaling?"),
    "settings_beside": (
        {**changed(QWEN, "rope_scaling"), "rope_type": "yarn", "factor": 4.0,
         "original_max_position_embeddings": 32768}, "factor", "warning", "belongs inside"),
    "settings_of_both_styles": (
        changed(LLAMA, rope_parameters={"rope_type": "default", "rope_theta": 1e4}),
        "rope_scaling", "warning", "rope_scaling is read"),
    "factor_as_text": (changed(LLAMA, inside={"factor": "8.0"}), "factor", "error",
                       "without quotes"),
    "factor_below_1": (changed(LLAMA, inside={"factor": 0.125}), "factor", "error",
                       "reciprocal of 8"),
    "factor_negative": (changed(LLAMA, inside={"factor": -8}), "factor", "error", "at least 1"),
    "factor_missing": (changed(LLAMA, without=["factor"]), "factor", "error", "must be given"),
    "factor_by_another_name": (
        changed(QWEN, inside={"scaling_factor": 4.0}, without=["factor"]),
        "scaling_factor", "warning", "did you mean factor?"),
    "factor_too_large": (changed(QWEN, inside={"factor": 8.0}), "factor", "warning", "= 4, got 8"),
    "factor_too_small": (changed(QWEN, inside={"factor": 2.0}), "factor", "warning", "= 4, got 2"),
    "factor_without_room": (changed(QWEN, max_position_embeddings=32768),
                            "max_position_embeddings", "note", "all the same"),
    "factor_1": (changed(QWEN, inside={"factor": 1}), "factor", "note", "scales nothing"),
    "factor_without_a_type": (changed(LLAMA, without=["rope_type"]), "factor", "warning",
                              "did you mean rope_type llama3?"),
    "factor_under_default": (changed(QWEN, inside={"rope_type": "default"}, without=["type"]),
                             "factor", "warning", "the frequencies stay plain"),
    "trained_context_missing": (
        changed(QWEN, without=["original_max_position_embeddings"]),
        "original_max_position_embeddings", "warning", "on top of it"),
    "trained_context_misspelt": (
        changed(QWEN, inside={"orignal_max_position_embeddings": 32768},
                without=["original_max_position_embeddings"]),
        "orignal_max_position_embeddings", "warning", "did you mean original_max"),
    "trained_context_is_the_whole": (
        changed(LLAMA, inside={"original_max_position_embeddings": 131072}),
        "original_max_position_embeddings", "warning", "was trained on 8,192 tokens"),
    "trained_context_exchanged": (
        changed(QWEN, inside={"original_max_position_embeddings": 131072},
                max_position_embeddings=32768),
        "original_max_position_embeddings", "warning", "exchanged"),
    "trained_context_twice": (
        {**changed(PHI4, inside={"original_max_position_embeddings": 8192}),
         "original_max_position_embeddings": 4096},
        "original_max_position_embeddings", "warning", "the one beside them is used"),
    "type_unknown": (changed(QWEN, inside={"type": "dynamic_ntk"}), "type", "error",
                     "did you mean dynamic?"),
    "type_in_capitals": (changed(QWEN, inside={"type": "YaRN"}), "type", "error",
                         "did you mean yarn?"),
    "type_of_a_version": (changed(LLAMA, inside={"rope_type": "llama3.1"}), "rope_type", "error",
                          "did you mean llama3?"),
    "type_twice": (changed(QWEN, inside={"rope_type": "linear"}), "rope_type", "warning",
                   "rope_type is read"),
    "yarn_on_top_of_llama3": (changed(LLAMA, inside={"rope_type": "yarn"}), "rope_type", "warning",
                              "belong to llama3"),
    "dynamic_on_top_of_llama3": (changed(LLAMA, inside={"rope_type": "dynamic"}), "rope_type",
                                 "warning", "belong to llama3"),
    "linear_on_top_of_llama3": (changed(LLAMA, inside={"rope_type": "linear"}), "rope_type",
                                "warning", "belong to llama3"),
    "linear_over_yarn": (
        changed(QWEN, inside={"type": "linear", "beta_fast": 32, "beta_slow": 1}), "rope_type",
        "warning", "belong to yarn"),
    "llama3_exchanged": (changed(LLAMA, inside={"low_freq_factor": 4.0, "high_freq_factor": 1.0}),
                         "high_freq_factor", "error", "exchanged"),
    "llama3_incomplete": (changed(LLAMA, without=["low_freq_factor"]), "low_freq_factor",
                          "warning", "refuses it"),
    "beta_exchanged": (changed(QWEN, inside={"beta_fast": 1, "beta_slow": 32}), "beta_fast",
                       "error", "at least beta_slow"),
    "beta_negative": (changed(QWEN, inside={"beta_slow": -1}), "beta_slow", "error", "got -1"),
    "beta_0": (changed(QWEN, inside={"beta_slow": 0}), "beta_slow", "note", "counts as absent"),
    "attn_factor": (changed(QWEN, inside={"attn_factor": 0.9}), "attn_factor", "warning",
                    "not read by Hugging Face"),
    "attn_factor_and_attention_factor": (
        changed(QWEN, inside={"attn_factor": 1.0, "attention_factor": 1.2}), "attn_factor",
        "warning", "multiply by attn_factor"),
    "attention_factor_and_mscale": (
        changed(QWEN, inside={"attention_factor": 1.2, "mscale": 1.0, "mscale_all_dim": 0.5}),
        "mscale", "note", "not read beside attention_factor"),
    "mscale_alone": (changed(QWEN, inside={"mscale": 0.707}), "mscale", "warning", "1.09801"),
    "mscale_all_dim_alone": (changed(QWEN, inside={"mscale_all_dim": 1.0}), "mscale_all_dim",
                             "warning", "get 1"),
    "mscale_all_dim_0": (changed(QWEN, inside={"mscale": 0.707, "mscale_all_dim": 0.0}), "mscale",
                         "warning", "1.09801"),
    "mscale_all_dim_0_without_harm": (
        changed(QWEN, inside={"mscale": 1.0, "mscale_all_dim": 0.0}), "mscale", "note", "1.13863"),
    "truncate_as_text": (changed(QWEN, inside={"truncate": "false"}), "truncate", "error", "True"),
    "finetuned": (changed(QWEN, inside={"finetuned": True}), "finetuned", "note", "not read"),
    "alpha": (changed(QWEN, inside={"alpha": 8}), "alpha", "note", "dynamic alone"),
    "longrope_lists_exchanged": (
        changed(PHI4, inside={"short_factor": LONG, "long_factor": SHORT}), "long_factor",
        "warning", "exchanged"),
    "longrope_lists_of_the_whole_head": (
        changed(PHI4, inside={"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}),
        "short_factor", "error", "48 here, got 64, one per pair of the whole head"),
    "longrope_list_too_short": (changed(PHI4, inside={"long_factor": LONG[:-1]}), "long_factor",
                                "error", "48 here, got 47"),
    "dynamic_with_a_trained_context": (
        changed(QWEN, inside={"type": "dynamic"}), "original_max_position_embeddings", "warning",
        "not read by dynamic"),
    "share_ignored_by_the_class": (
        {**changed(LLAMA, "rope_scaling"), "partial_rotary_factor": 0.5}, "partial_rotary_factor",
        "warning", "turns the whole head"),
    "share_truncated": ({"model_type": "phi", "head_dim": 100, "partial_rotary_factor": 0.29},
                        "partial_rotary_factor", "note", "dimensions of 100; 28 rotate"),
    "share_twice": (
        {"model_type": "phi", "head_dim": 80, "partial_rotary_factor": 0.4,
         "rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
        "partial_rotary_factor", "warning", "the first is used"),
    "share_beside_a_number": (
        {"model_type": "gpt_neox", "head_dim": 64, "rotary_pct": 0.5, "rotary_dim": 16},
        "rotary_dim", "warning", "must agree"),
    "share_with_latent_attention": (
        {**presets.config("DeepSeek-V3 / R1 (671B)"), "partial_rotary_factor": 0.5},
        "partial_rotary_factor", "warning", "qk_rope_head_dim"),
    "head_dim_null": (changed(LLAMA, head_dim=None), "head_dim", "warning", "got null"),
    "head_dim_of_its_own": (changed(LLAMA, head_dim=64), "head_dim", "note", "= 128"),
    "hidden_size_not_divisible": (changed(LLAMA, hidden_size=4100), "hidden_size", "warning",
                                  "rounded down"),
    "scaled_sliding_layers": (
        layers({"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
               {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e4}),
        "rope_type", "warning", "scale full_attention alone"),
    "one_set_for_gemma_3": ({**GEMMA, "rope_parameters": {
        "rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}, "rope_parameters", "warning",
        "per layer type"),
    "bases_exchanged": (
        layers({"rope_type": "linear", "factor": 8.0, "rope_theta": 1e4},
               {"rope_type": "default", "rope_theta": 1e6}),
        "rope_theta", "warning", "exchanged"),
    "scaling_exchanged": (
        layers({"rope_type": "default", "rope_theta": 15e4},
               {"rope_type": "linear", "factor": 8.0, "rope_theta": 15e4}, OSS),
        "rope_type", "warning", "exchanged"),
    "layer_type_misspelt": (
        {"head_dim": 64, "layer_types": ["full_attention", "sliding_attention"],
         "rope_parameters": {"full_atention": {"rope_theta": 1e6},
                             "sliding_attention": {"rope_theta": 1e4}}},
        "full_atention", "warning", "did you mean full_attention?"),
    "no_rope_anywhere": ({"model_type": "smollm3", "head_dim": 64, "rope_theta": 5e6,
                          "no_rope_layers": [0, 0, 0, 0]}, "no_rope_layers", "warning",
                         "no layer has RoPE"),
    "another_model_s_base": ({**presets.config("gpt-oss-20b"), "rope_theta": 4_800_000},
                             "rope_theta", "note", "150,000 instead of 4,800,000"),
    "rope_without_rope": ({"model_type": "bloom", "n_head": 16, "rope_theta": 1e4}, "rope_theta",
                          "note", "not read without RoPE"),
    # A released model's sizes, and other settings.
    "theta_missing_where_two_bases_are_known": (
        {**L2, "max_position_embeddings": 16384}, "rope_theta", "note",
        "if it is CodeLlama-7b-hf, 1,000,000"),
    "theta_misspelt_with_a_number_of_its_own": (
        {**L2, "num_key_value_heads": 8, "max_position_embeddings": 8192, "rope_thetha": 8e6},
        "rope_thetha", "warning", "did you mean rope_theta?"),
    "theta_missing_in_a_class_that_never_has_10000": (
        {"model_type": "qwen3", "hidden_size": 5120, "num_attention_heads": 40,
         "max_position_embeddings": 40960}, "rope_theta", "warning", "no 'qwen3' on record has"),
    "theta_beside_and_inside": (
        changed(LLAMA, rope_theta=10000.0, inside={"rope_theta": 500000.0}), "rope_theta",
        "warning", "the first is used"),
    "released_scaling_replaced": (
        changed(LLAMA, rope_scaling={"type": "dynamic", "factor": 8.0}), "rope_type", "warning",
        "not what Llama-3.1-8B-Instruct was released with"),
    "released_scaling_made_linear": (
        changed(LLAMA, rope_scaling={"type": "linear", "factor": 8.0}), "rope_type", "warning",
        "rope_type 'llama3' instead of 'linear'"),
    "released_scaling_lost": (changed(LLAMA, rope_scaling=None), "rope_type", "warning",
                              "rope_type 'llama3' instead of 'default'"),
    "truncate_lost": (changed(presets.config("gpt-oss-20b"), without=["truncate"]), "truncate",
                      "warning", "truncate False instead of True"),
    "scaling_of_gemma_3_lost": (OLD_GEMMA, "rope_type", "warning", "'linear' instead of"),
    "local_base_of_gemma_3_wrong": (
        {**OLD_GEMMA, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
         "rope_local_base_freq": 1e6}, "rope_theta", "warning", "10,000 instead of 1,000,000"),
    "scaling_on_an_unscaled_release": (
        {**L2, "max_position_embeddings": 4096, "rope_theta": 1e4,
         "rope_scaling": {"type": "linear", "factor": 4.0}}, "rope_type", "warning",
        "was released without scaling"),
    "lists_of_its_own": (changed(PHI4, inside={"short_factor": [1.5, *SHORT[1:]]}),
                         "short_factor", "note", "another short_factor"),
    "mscale_lost": (
        changed(presets.config("DeepSeek-V3 / R1 (671B)"), without=["mscale", "mscale_all_dim"]),
        "mscale", "warning", "mscale 1 instead of nothing"),
    "trained_context_of_the_extension": (
        changed(QWEN, inside={"original_max_position_embeddings": 131072}),
        "original_max_position_embeddings", "warning", "was trained on 32,768 tokens"),
    "trained_context_too_small": (
        changed(QWEN, inside={"original_max_position_embeddings": 8192, "factor": 16.0}),
        "original_max_position_embeddings", "warning", "was trained on 32,768 tokens"),
    "trained_context_of_nobody_knows": (
        {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 32768,
         "rope_theta": 1e4, "rope_scaling": {
             "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
        "original_max_position_embeddings", "warning", "8,192 belongs here"),
    "trained_context_and_base_missing": (
        {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
         "max_position_embeddings": 8192, "rope_scaling": {
             "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
             "high_freq_factor": 4.0}},
        "original_max_position_embeddings", "warning", "Llama-3.1-8B-Instruct has the same sizes"),
    "trained_context_as_text": (
        changed(LLAMA, inside={"original_max_position_embeddings": "32k"}),
        "original_max_position_embeddings", "error", "got '32k'"),
    "context_left_as_it_was": (
        {**presets.config("Qwen3-8B"), "rope_parameters": {
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
        "max_position_embeddings", "note", "reads 131,072 tokens"),
    "settings_within_settings": (
        changed(LLAMA, rope_scaling={"rope_scaling": LLAMA["rope_scaling"]}), "rope_scaling",
        "warning", "holds rope_scaling once more"),
    "layer_type_of_gemma_3_misspelt": (
        {**GEMMA, "rope_parameters": {
            "full_atention": GEMMA["rope_parameters"]["full_attention"],
            "sliding_attention": GEMMA["rope_parameters"]["sliding_attention"]}},
        "full_atention", "warning", "did you mean full_attention?"),
    "label_misspelt": (
        {"model_type": "deepseek_v4", "head_dim": 64, "rope_parameters": {
            "main": {"rope_theta": 1e4}, "compres": {"rope_theta": 16e4}}},
        "compres", "warning", "did you mean compress?"),
    "type_of_vllm": (changed(QWEN, inside={"type": "ntk-aware"}), "type", "error",
                     "did you mean ntk?"),
    "type_that_hugging_face_has_not": (
        {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 8192,
         "rope_theta": 1e4, "rope_scaling": {"type": "ntk", "factor": 4.0}}, "type", "warning",
        "larger rope_theta, 40,889.9 instead of 10,000"),
    "type_one_letter_off": (changed(QWEN, inside={"type": "yam"}), "type", "error",
                            "did you mean yarn?"),
    "type_of_another_program": (changed(QWEN, inside={"type": "dynamic-yarn"}), "type", "error",
                                "got 'dynamic-yarn'"),
    "inside_a_multimodal_file": (
        {"model_type": "any_vl", "text_config": changed(LLAMA, inside={"factor": "8.0"})},
        "factor", "error", "without quotes"),
}  # fmt: skip


def found_in(made, key, level, part):
    for each in diagnose(made):
        if (each.key, each.level) == (key, level) and part in each.sentence:
            return each
    raise AssertionError([f"{each.level} {each.key}: {each.sentence}" for each in diagnose(made)])


@pytest.mark.parametrize("cause", CAUSES)
def test_the_cause_is_named(cause):
    made, key, level, part = CAUSES[cause]
    found = found_in(made, key, level, part)
    assert found.sentence[0].islower()


@pytest.mark.parametrize("cause", CAUSES)
def test_every_mend_makes_its_finding_go_away(cause):
    made = CAUSES[cause][0]
    for each in diagnose(made):
        if each.mend:
            left = diagnose(each.mended(made))
            assert not any((each.template, each.layer_type, each.key)
                           == (other.template, other.layer_type, other.key)
                           for other in left), each  # fmt: skip


@pytest.mark.parametrize("cause", CAUSES)
def test_a_mend_changes_a_copy(cause):
    made = CAUSES[cause][0]
    before = copy.deepcopy(made)
    for each in diagnose(made):
        each.mended(made)
    assert made == before


@pytest.mark.parametrize(
    "cause", ["theta_missing", "theta_misspelt", "theta_by_another_name", "settings_with_a_dash",
              "factor_as_text", "factor_below_1", "theta_of_the_fallback", "type_of_a_version",
              "factor_without_a_type", "trained_context_is_the_whole", "yarn_on_top_of_llama3",
              "llama3_exchanged", "settings_in_capitals", "theta_beside_and_inside",
              "released_scaling_replaced", "released_scaling_made_linear", "released_scaling_lost",
              "settings_within_settings"],
)  # fmt: skip
def test_a_mended_llama_has_its_own_frequencies(cause):
    made, key, level, part = CAUSES[cause]
    right, right_factor = rope_frequencies(LLAMA)
    inv_freq, attention_factor = rope_frequencies(found_in(made, key, level, part).mended(made))
    np.testing.assert_array_equal(inv_freq, right)
    assert attention_factor == right_factor


# Bug reports, posed as configs: each pasted as text, as somebody would.


@pytest.mark.parametrize(
    ("made", "key", "part"),
    [
        pytest.param(config("dynamic", context=2048, factor=2.0), "rope_type",
                     "vLLM takes one base for all lengths", id="01-vllm_41236"),
        pytest.param({**config("dynamic", context=32768, factor=6.0), "model_type": "internlm3"},
                     "factor", "multiplies InternLM's positions by 2", id="04-mlx_lm_1545"),
        pytest.param(config("yarn", 64, factor=4, original_max_position_embeddings=131072),
                     "original_max_position_embeddings", "pair 35, beyond the last one, 31",
                     id="07-keras_hub_2981"),
        pytest.param(config("yarn", 64, factor=4, original_max_position_embeddings=128),
                     "original_max_position_embeddings", "from pair 0 to 11 of 32",
                     id="10-torchtitan_4215"),
        pytest.param(OSS, "truncate", "looks for it outside", id="11-nested_truncate"),
        pytest.param(config("yarn", factor=16, mscale=1.0, mscale_all_dim=1.0,
                            original_max_position_embeddings=4096), "mscale",
                     "exllamav3, and vLLM up to mid-2026, multiply by 0.1 ln(factor) + 1 = 1.27726",
                     id="13-exllamav3_259"),
        pytest.param(config("yarn", factor=16, attention_factor=1.0,
                            original_max_position_embeddings=4096), "attention_factor",
                     "replaces 0.1 ln(factor) + 1 = 1.27726", id="14-mlx_lm_1507"),
        pytest.param(config("yarn", factor=128, attention_factor=1.4852030263919618,
                            original_max_position_embeddings=8192), "attention_factor", "2.20583",
                     id="16-sglang_33558"),
        pytest.param(config("yarn", factor=128, attention_factor=2.2058280,
                            original_max_position_embeddings=8192), "attention_factor",
                     "the square of it", id="16-as_a_value"),
        pytest.param(config("yarn", factor=64, attention_factor=1.4158883083359672,
                            original_max_position_embeddings=4096), "attention_factor", "1.58885",
                     id="17-tensorrt_llm_16379"),
        pytest.param(config("yarn", factor=32, attention_factor=1.4666868,
                            original_max_position_embeddings=4096), "attention_factor",
                     "computed twice over", id="17-as_a_value"),
        pytest.param(presets.config("DeepSeek-V2-Lite"), "mscale",
                     "llama.cpp once multiplied cos and sin by 1.36889", id="19-llama_cpp_7118"),
        pytest.param(presets.config("Phi-3.5-mini-instruct"), "long_factor",
                     "up to and with 4,096 tokens the short list", id="20-unsloth_10681"),
        pytest.param({"head_dim": 256, "rope_theta": 1e7, "rotary_dim": 64},
                     "partial_rotary_factor", "count by those 64, and a pair's partner stands 32",
                     id="25-pie_602"),
        pytest.param(config("proportional", 512, 1e6, partial_rotary_factor=0.25),
                     "partial_rotary_factor", "not partial rotary: 64 of 256 pairs",
                     id="26-coreai_models_66"),
        pytest.param({"model_type": "gpt_neox_japanese", "head_dim": 16, "rotary_pct": 0.25,
                      "rope_theta": 1e4}, "partial_rotary_factor", "4 of 16 dimensions rotate",
                     id="28-transformers_48652"),
        pytest.param(config("default", mrope_section=[24, 20, 20], mrope_interleaved=True),
                     "mrope_section", "24, 20, 20, in turns", id="29-vllm_gaudi_1437"),
        pytest.param({"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40},
                     "num_attention_heads", "40, no power of two", id="35-baichuan2_225"),
        pytest.param({"model_type": "falcon", "alibi": True, "num_attention_heads": 8}, "alibi",
                     "divided by sqrt(head_dim)", id="37-falcon"),
        pytest.param({"model_type": "mpt", "n_heads": 8, "attn_config": {
                      "alibi": True, "alibi_bias_max": 16}}, "alibi_bias_max", "which takes 8",
                     id="38-mpt"),
    ],
)  # fmt: skip
def test_a_bug_report_pasted_as_text_names_its_cause(made, key, part):
    found = examine(json.dumps(made)).findings
    (only,) = [each for each in found if each.key == key and part in each.sentence]
    assert only.sentence


def test_the_sizes_of_reported_bugs_are_those_of_the_reports():
    # vLLM's base at every length is that of twice the context: 3 ** (128 / 126) times as large.
    made = config("dynamic", context=2048, factor=2.0)
    note = found_in(made, "rope_type", "note", "vllm")
    plain = 1e4 ** (-np.arange(64) / 64)
    static = 30527.7367 ** (-np.arange(64) / 64)
    assert note.effect.distance == math.floor(0.1 / np.abs(plain - static).max()) + 1
    # TensorRT-LLM: 12.2 % too much on cos and sin.
    made = config("yarn", factor=64, attention_factor=1.5888514,
                  original_max_position_embeddings=4096)  # fmt: skip
    found = found_in(made, "attention_factor", "warning", "twice")
    assert math.sqrt(found.effect.logit_gain) == pytest.approx(1.122, abs=5e-4)
    # Ministral 3 in vLLM: 1.2772589 where 1 is meant.
    made = presets.config("Ministral-3-3B-2512")
    note = found_in(made, "mscale", "note", "1.27726")
    assert note.effect.logit_gain == pytest.approx(1.2772589**2, rel=1e-7)


# How large an effect is.


def test_an_effect_is_the_first_distance_beyond_a_tenth_of_a_radian():
    one, two = np.array([1.0, 0.01]), np.array([1.0, 0.0103])
    effect = difference((one, 1.2), (two, 1.0))
    assert effect.distance == 334  # 333 x 0.0003 = 0.0999
    assert effect.logit_gain == pytest.approx(1.44)
    assert effect.share == 0.5
    assert [each.sentence for each in effect.statements] == [
        "50 % of the frequencies differ: from distance 334 on an angle is off by more than 0.1 rad",
        "scores are 1.44 times as large",
    ]
    assert difference((one, 1.0), (one, 1.0)) == Effect(None, 1.0, 0.0)
    assert difference((one, 1.0), (one, 1.0)).statements == ()
    assert difference((one, 1.0), (one, 1.0)).harm == 0.0
    # A pair that the other one lacks turns where it should stand.
    assert difference((one, 1.0), (one[:1], 1.0)) == Effect(11, 1.0, 0.5)


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=8),
       st.lists(st.floats(1e-6, 1.0), min_size=8, max_size=8))  # fmt: skip
def test_an_effect_s_distance_is_the_first_one(one, other):
    one, other = np.array(one), np.array(other[: len(one)])
    distance = difference((one, 1.0), (other, 1.0)).distance
    worst = np.abs(one - other).max()
    if distance is None:
        assert worst <= 1e-9
    else:
        assert distance * worst > 0.1 * (1 - 1e-12)
        assert (distance - 1) * worst <= 0.1 * (1 + 1e-12)


def test_the_effect_of_a_missing_base_is_that_of_10000():
    found = found_in(changed(LLAMA, "rope_theta"), "rope_theta", "warning", "10,000")
    wrong, right = rope_frequencies({**LLAMA, "rope_theta": 1e4})[0], rope_frequencies(LLAMA)[0]
    assert found.effect.distance == math.floor(0.1 / np.abs(wrong - right).max()) + 1
    assert found.effect.logit_gain == 1.0
    assert found.effect.share == np.mean(wrong != right)


def test_a_factor_below_1_turns_pairs_faster_than_trained():
    made = config("linear", factor=0.25)
    plain = rope_frequencies(config("default"))[0]
    (found,) = [each for each in diagnose(made) if each.key == "factor"]
    assert found.effect == difference((plain * 4.0, 1.0), (plain / 4.0, 1.0))


def test_a_method_that_goes_by_the_length_is_compared_where_it_has_grown():
    made = changed(QWEN, inside={"type": "dynamic"})
    found = found_in(made, "original_max_position_embeddings", "warning", "not read by dynamic")
    grown = {**made, "max_position_embeddings": 32768}
    length = found.effect.seq_len
    assert length in (4 * 131072, 4 * 32768)
    assert found.effect == difference(rope_frequencies(made, seq_len=length),
                                      rope_frequencies(grown, seq_len=length), length)  # fmt: skip


def test_findings_are_ordered_by_harm():
    made = changed(LLAMA, "rope_theta", inside={"foo": 1, "attn_factor": 1, "rope_type": "yarn"})
    found = diagnose(made)
    order = [config_doctor.LEVELS.index(each.level) for each in found]
    assert order == sorted(order)
    for level in config_doctor.LEVELS:
        harm = [each.effect.harm if each.effect else 0.0 for each in found if each.level == level]
        assert harm == sorted(harm, reverse=True)


def test_effects_are_told_beside_an_error():
    made = changed(LLAMA, "rope_theta", inside={"factor": "8.0"})
    assert found_in(made, "rope_theta", "warning", "10,000").effect.distance == 1


def test_a_mend_is_refused_where_it_does_not_fit():
    with pytest.raises(InvalidParameterError, match=r"^rope_scaling must be a dict"):
        Mend(("rope_scaling", "factor"), 4.0).apply({"rope_scaling": "yarn"})
    assert Mend(("a", "b", "c"), 1).apply({}) == {"a": {"b": {"c": 1}}}
    assert Mend(("a", "b"), removes=True).apply({"a": {"b": 1, "c": 2}}) == {"a": {"c": 2}}


# A release of the same sizes.


def test_the_scores_of_mla_are_told_by_their_parts():
    made, key, level, part = CAUSES["mscale_lost"]
    effect = found_in(made, key, level, part).effect
    lost = (0.1 * math.log(40) + 1) ** 2  # cos and sin get it squared, all scores lose it
    assert effect.distance is None
    assert effect.logit_gain == pytest.approx(1.0)
    assert effect.rest_gain == pytest.approx(1.0 / lost, rel=1e-9)
    assert [each.sentence for each in effect.statements] == [
        "scores of the part that does not turn are 0.533659 times as large"
    ]


def test_a_trained_context_that_is_the_extended_one_is_told_with_its_harm():
    made, key, level, part = CAUSES["trained_context_of_the_extension"]
    effect = found_in(made, key, level, part).effect
    assert effect == difference(rope_frequencies(made), rope_frequencies(QWEN))
    assert effect.distance == 192


@pytest.mark.parametrize(
    "made",
    [
        {**L2, "max_position_embeddings": 8192},
        {**L2, "max_position_embeddings": 16384},
        {**L2, "max_position_embeddings": 16384, "rope_scaling": {"type": "dynamic", "factor": 2}},
        {**L2, "hidden_size": 2048, "num_key_value_heads": 4, "max_position_embeddings": 2048},
    ],
)
def test_a_base_that_may_be_10000_is_left_so(made):
    assert not [each for each in diagnose(made) if each.level != "note"]


def test_a_misspelt_base_keeps_its_number():
    made, *_ = CAUSES["theta_misspelt_with_a_number_of_its_own"]
    right = {**made, "rope_theta": 8e6}
    del right["rope_thetha"]
    assert mended(examine(made)) == right


def test_two_missing_keys_are_mended_as_the_release_has_them():
    made, *_ = CAUSES["trained_context_and_base_missing"]
    again = mended(examine(made))
    assert (again["rope_theta"], again["max_position_embeddings"]) == (500000, 131072)
    np.testing.assert_array_equal(rope_frequencies(again)[0], rope_frequencies(LLAMA)[0])


@pytest.mark.parametrize("cause", ["scaling_of_gemma_3_lost", "local_base_of_gemma_3_wrong",
                                   "truncate_lost", "mscale_lost"])  # fmt: skip
def test_what_a_release_had_is_restored(cause):
    again = read(mended(examine(CAUSES[cause][0])))
    name = {"truncate_lost": "gpt-oss-20b", "mscale_lost": "DeepSeek-V3 / R1 (671B)"}.get(
        cause, "gemma-3-4b-it"
    )
    for one, two in zip(again.rotary, presets.reading(name).rotary, strict=True):
        assert (one.rope, one.scaling) == (two.rope, two.scaling)


VENDORS = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}


@pytest.mark.parametrize(
    "made",
    [
        {**QWEN_SIZES, "max_position_embeddings": 131072},
        {**QWEN_SIZES, "max_position_embeddings": 32768},
        {**QWEN_SIZES, "hidden_size": 5120, "num_attention_heads": 40, "num_key_value_heads": 8,
         "max_position_embeddings": 32768},
        {**presets.config("Qwen2.5-VL-7B-Instruct"), "rope_parameters": None},
        {**presets.config("Qwen3-8B"), "rope_parameters": None},
    ],
)  # fmt: skip
def test_an_extension_that_a_maker_documents_changes_nothing_more(made):
    made = {**made, "rope_scaling": VENDORS}
    for each in diagnose(made):
        assert each.level == "note"
        assert each.effect is None or each.effect.harm == 0.0


def test_released_files_beyond_the_records_raise_no_alarm():
    mistral = {"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32,
               "num_key_value_heads": 8, "max_position_embeddings": 32768}  # fmt: skip
    yarn = {"type": "yarn", "factor": 16.0, "original_max_position_embeddings": 8192}
    for made in (
        {**mistral, "rope_theta": 1e6},
        {**mistral, "rope_theta": 1e4, "rope_scaling": yarn},
        changed(LLAMA, rope_theta=150e6, rope_scaling=None),
        {**L2, "max_position_embeddings": 16384, "rope_theta": 1e5,
         "rope_scaling": {"type": "linear", "factor": 4.0}},
    ):  # fmt: skip
        assert not [each for each in diagnose(made) if each.level != "note"]


def test_a_refused_type_is_told_once():
    for made in ({"type": "ntk-aware"}, {"type": "yam", "factor": 4}):
        assert len([each for each in examine(json.dumps(made)).findings
                    if each.key == "type"]) == 1  # fmt: skip
    # Another method, not a slip of one.
    assert not found_in(*CAUSES["type_of_another_program"]).mend


# No false alarm.

VERIFIED = [name for name in presets.names() if presets.record(name)["verified"]]
# There programs differ, as the record's own numbers show.
TRUE_ALARMS = {("DeepSeek-R1-0528-Qwen3-8B", "attn_factor")}


@pytest.mark.parametrize("name", VERIFIED)
def test_a_verified_record_raises_no_alarm(name):
    made = presets.config(name)
    for form in (made, json.dumps(made, indent=2), {"model_type": "vl", "text_config": made}):
        alarms = {(name, each.key) for each in examine(form).findings if each.level != "note"}
        assert alarms <= TRUE_ALARMS


def test_keys_that_other_configs_have_are_no_slips():
    others = (
        "v_head_dim", "num_key_value_heads", "num_hidden_layers", "hidden_act", "rope_interleave",
        "max_window_layers", "use_sliding_window", "hidden_sizes", "num_position_embeddings",
        "layer_type", "sliding_windows", "linear_key_head_dim", "index_head_dim", "qk_head_dim",
    )  # fmt: skip
    made = {"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, **dict.fromkeys(others, 8)}
    assert diagnose(made) == []


@pytest.mark.parametrize("name", presets.names())
def test_keys_that_nobody_knows_change_no_finding(name):
    made = presets.config(name)
    many = {f"key_{i}": i for i in range(500)}
    assert diagnose({**many, **made}) == diagnose(made)
    assert examine({**many, **made}).reading == examine(made).reading


# In plain words.


def said(given, **more):
    return [each.sentence for each in examine(given, **more).plain]


def test_llama_3_1_in_plain_words():
    assert said(LLAMA) == [
        "RoPE turns all 128 dimensions of a head, in 64 pairs",
        "a pair is a dimension of the first half and its partner in the second, 64 away",
        "the base is 500,000: unscaled, the fastest pair turns once in 6.28 tokens, the slowest "
        f"once in {2 * math.pi * 5e5 ** (126 / 128):,.0f}",
        "Llama 3's rule: pairs with more than 4 turns in 8,192 tokens are kept, those with fewer "
        "than 1 divided by 8",
        "trained on 8,192 tokens at once, made for 131,072, 16 times as many",
        "29 pairs keep their frequency, 6 are slowed in part, 29 by the whole factor",
        "cos and sin are not multiplied: scores keep their size",
        "the same file is read by vLLM, for which no difference is on record here",
    ]
    differs = "the same file is read by vLLM, which is known to differ about attn_factor"
    assert said(changed(QWEN, inside={"attn_factor": 0.9}))[-1].startswith(differs)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Yarn-Llama-2-7b-64k", ["divided by 16", "scores of the part that turns grow by its "
                                 f"square, {(0.1 * math.log(16) + 1) ** 2:.6g}"]),
        ("internlm2_5-7b", ["up to 32,768 tokens the frequencies are plain",
                            "at 65,536 tokens the slowest pair is divided by 3"]),
        ("Phi-3.5-mini-instruct", ["from the short list up to and with 4,096 tokens", "1.19024"]),
        ("gemma-4-e2b", ["turns 64 of 256 pairs"]),
        ("DeepSeek-V3 / R1 (671B)", ["does not turn as well, are multiplied by 1.87385"]),
        ("phi-2", ["turns 32 of a head's 80 dimensions, in 16 pairs"]),
        ("bloom (176B)", ["the 112 slopes go from"]),
        ("opt-125m", ["has 2,048 rows", "position 0 is row 2"]),
        ("t5-small", ["32 buckets, and from 128 on"]),
        ("transfo-xl-wt103", ["Transformer-XL"]),
        ("Mistral-7B-v0.1", ["look back over 4,096 tokens"]),
    ],
)  # fmt: skip
def test_a_model_in_plain_words(name, parts):
    whole = "\n".join(said(presets.config(name)))
    for part in parts:
        assert part in whole


def test_layer_types_and_layers_without_rope_are_counted():
    made = {**presets.config("gemma-3-4b-it"), "num_hidden_layers": 34}
    sentences = said(made)
    assert "29 of 34 layers are of the type sliding_attention" in sentences
    assert "sliding layers look back over 1,024 tokens" in sentences
    types = {each.layer_type for each in examine(made).plain}
    assert types == {None, "full_attention", "sliding_attention"}
    scout = {**presets.config("Llama-4-Scout-17B-16E"), "num_hidden_layers": 48}
    assert any(each.startswith("12 of 48 layers have no RoPE") for each in said(scout))


@pytest.mark.parametrize("name", presets.names())
def test_every_record_can_be_said(name):
    for each in examine(presets.config(name)).plain:
        assert "{" not in each.sentence
        assert "None" not in each.sentence


# What somebody pastes.


def test_settings_alone_get_a_head_and_say_so():
    examination = examine('rope_scaling = {"type": "yarn", "factor": 4.0, "attn_factor": 1.0}')
    assert examination.assumed == {"head_dim": 128}
    assert examination.reading is None  # no trained context
    assert {each.key for each in examination.findings} >= {"head_dim", "attn_factor"}
    lists = {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48,
             "factor": 4.0, "original_max_position_embeddings": 4096}  # fmt: skip
    assert examine(json.dumps(lists)).reading.rotary[0].rope.rotary_dim == 96


def test_a_doubled_key_is_told_with_both_values():
    found = examine('{"head_dim": 64, "rope_theta": 1e4, "rope_theta": 1e6}').findings
    (doubled,) = [each for each in found if each.key == "rope_theta"]
    assert doubled.level == "warning"
    assert "as 10,000 and as 1,000,000" in doubled.sentence


def test_a_text_that_is_no_config_is_refused_with_line_and_column():
    with pytest.raises(InvalidParameterError, match=r"\(line 2, column 15\)$"):
        examine('{"head_dim": 64,\n "rope_theta" 1e4}')


# Flags of llama.cpp.

QWEN_PLAIN = presets.config("Qwen2.5-7B-Instruct")
FLAGS = {
    "-c 131072": ("--ctx-size", "warning", "alone scales nothing"),
    "--rope-scaling yarn --rope-scale 0.25 -c 131072": (
        "--rope-scale", "warning", "4 times faster"),
    "--rope-scaling linear --rope-freq-scale 4": ("--rope-freq-scale", "warning", "reciprocal"),
    "--rope-scaling yarn -c 131072": ("--rope-scale", "warning", "nothing is scaled"),
    "--rope-scaling yarn --rope-scale 4": ("--yarn-orig-ctx", "note", "original context"),
    "--rope-scaling yarn --rope-scale 4 --yarn-attn-factor 1.2": (
        "--yarn-attn-factor", "warning", "gives 1.13863; before"),
    "--rope-scaling yarn --rope-scale 4 --yarn-ext-factor 0": (
        "--yarn-ext-factor", "warning", "turns YaRN off"),
    "--rope-scaling linear --rope-scale 4 --yarn-ext-factor 1": (
        "--yarn-ext-factor", "warning", "turns YaRN on"),
    "--rope-scaling none --rope-scale 4": ("--rope-scale", "warning", "never scales"),
    "--rope-scaling longrope": ("--rope-scaling", "error", "got longrope"),
    "--rope-scaling linear --rope-scale 4 --yarn-orig-ctx 32768": (
        "--yarn-orig-ctx", "warning", "not read"),
    "--rope-scale 4 --rope-freq-scale 0.5": ("--rope-scale", "warning", "counts instead"),
    "--rope-scale 4": ("--rope-scaling", "note", "linear if it has none"),
    "--rope-scalling yarn --rope-scale 4": (
        "--rope-scalling", "error", "did you mean --rope-scaling?"),
    "--rope-scaling yarn --rope-scale 4 --yarn-beta-fast 1 --yarn-beta-slow 32": (
        "--yarn-beta-fast", "warning", "a step"),
    "--rope-scaling linear --rope-scale 4 -c 8192": (
        "--rope-scaling", "warning", "no scaling is needed"),
    "--rope-scaling linear --rope-scale 4 -c 65536": ("--rope-scale", "note", "65,536 only"),
    "--rope-freq-base 10000 -c 32768": ("--rope-freq-base", "warning", "own base, 1,000,000"),
    "--rope-freq-base 4e6 -c 65536": ("--rope-freq-base", "note", "3.91429 times slower"),
    "--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 8192 -c 131072": (
        "--yarn-orig-ctx", "warning", "32,768 tokens for this model, got 8,192"),
    "--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 131072 -c 131072": (
        "--yarn-orig-ctx", "warning", "got 131,072"),
    "--rope-scaling YARN --rope-scale 4": ("--rope-scaling", "error", "did you mean yarn?"),
    "--rope-freq-base 1": ("--rope-freq-base", "error", "above 1"),
    "--rope-scaling sideways": ("--rope-scaling", "error", "one of none, linear, yarn"),
}  # fmt: skip


@pytest.mark.parametrize("line", FLAGS)
def test_a_mistake_on_a_command_line_is_found(line):
    key, level, part = FLAGS[line]
    examination = examine(f"llama-server -m model.gguf {line} -ngl 99", model=QWEN_PLAIN)
    found = [each for each in examination.findings if (each.key, each.level) == (key, level)]
    assert any(part in each.sentence for each in found)
    for each in examination.findings:
        if each.mend:
            flags = each.mended(examination.parsed.config)
            again = " ".join(f"{name} {value}" for name, value in flags.items()) or "-c 0"
            left = examine(again, model=QWEN_PLAIN).findings
            assert (each.template, each.key) not in {(one.template, one.key) for one in left}


def test_flags_without_a_mistake_have_no_findings():
    line = "llama-server -c 131072 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768"
    assert examine(line, model=QWEN_PLAIN).findings == ()
    assert examine(line).findings == ()


# Model, flags, and the key, level and words of their only warning; None if there is none.
EXTENDED = [
    *((name, f"-c {context}", None) for name, context in (
        ("Llama-3.1-8B-Instruct", 131072), ("Phi-3.5-mini-instruct", 131072),
        ("gpt-oss-20b", 131072), ("DeepSeek-V3 / R1 (671B)", 131072),
        ("Llama-3.2-1B-Instruct", 32768), ("gemma-3-4b-it", 131072), ("Qwen3-8B", 40960))),
    ("Qwen3-8B", "-c 131072 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768", None),
    ("Qwen3-8B", "-c 131072 --rope-scaling yarn --rope-scale 4", "--yarn-orig-ctx is absent"),
    ("Llama-3.1-8B-Instruct", "--rope-scaling none", None),
    ("Llama-3.1-8B-Instruct",
     "-c 131072 --rope-scaling yarn --rope-scale 16 --yarn-orig-ctx 8192", "8 × 16 = 128 times"),
    ("Llama-3.1-8B-Instruct", "--rope-scaling linear --rope-scale 16", "8 × 16 = 128 times"),
    ("Llama-3.1-8B-Instruct", "--rope-freq-base 10000", "comes on top of it"),
    ("Llama-3.1-8B-Instruct", "-c 262144", "above the 131,072 tokens"),
    ("Phi-3.5-mini-instruct", "--rope-scaling linear --rope-scale 4", "comes on top of it"),
    ("gpt-oss-20b", "--rope-scaling yarn --rope-scale 32 --yarn-orig-ctx 4096", None),
    ("gpt-oss-20b", "--rope-scaling yarn --rope-scale 4", "yarn with factor 32"),
    ("gpt-oss-20b", "--rope-scaling none", "replaces part of it"),
    ("gpt-oss-20b", "-c 262144 --rope-scale 64", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "line", "part"), EXTENDED)
def test_flags_are_held_against_a_model_file_that_is_extended_already(name, line, part):
    model = presets.config(name)
    examination = examine(f"llama-cli {line}", model=model)
    found = [each for each in examination.findings if each.level != "note"]
    if part is None:
        assert found == []
        return
    (only,) = found
    assert part in only.sentence
    flags = only.mended(examination.parsed.config)
    again = " ".join(f"{key} {value}" for key, value in flags.items()) or "-c 0"
    assert not [each for each in examine(again, model=model).findings if each.level != "note"]


def test_flags_stack_on_the_divisors_of_llama_3_1_as_two_scalings_do():
    scaling = Llama3(8.0, 8192, 1.0, 4.0)
    rope = RoPE(128, 5e5)
    right = rope_units.stacked(rope, scaling, Linear(16.0)).inv_freq
    file = config_doctor.model_file(LLAMA)
    inv_freq, size = file.frequencies(LlamaCppFlags("linear", 16.0))
    np.testing.assert_allclose(inv_freq, right, rtol=1e-12)
    assert size == 1.0
    np.testing.assert_allclose(file.frequencies()[0], rope_frequencies(LLAMA)[0], rtol=1e-12)
    (found,) = examine("--rope-scaling linear --rope-scale 16", model=LLAMA).findings
    assert found.effect.distance == difference(
        (right, 1.0), rope_frequencies(LLAMA)).distance == 1  # fmt: skip


@pytest.mark.parametrize("name", ["Phi-3.5-mini-instruct", "Yarn-Llama-2-7b-64k", "gemma-3-4b-it",
                                  "DeepSeek-V3 / R1 (671B)", "LLaMA-2-7B-32K (togethercomputer)",
                                  "Llama-2-7b-hf"])  # fmt: skip
def test_a_model_file_without_flags_is_its_own_scaling(name):
    file = config_doctor.model_file(presets.config(name))
    right = presets.main_rotary(name).frequencies(file.context)
    inv_freq, size = file.frequencies()
    np.testing.assert_allclose(inv_freq, right[0], rtol=1e-12)
    assert size == pytest.approx(right[1])


def test_the_context_chooses_the_list_of_a_longrope_file():
    phi = presets.config("Phi-3.5-mini-instruct")
    file = config_doctor.model_file(phi)
    for context in (4096, 4097):
        near = file.frequencies(LlamaCppFlags(ctx_size=context))[0]
        np.testing.assert_allclose(near, rope_frequencies(phi, seq_len=context)[0], rtol=1e-12)


def test_a_truncated_ramp_is_all_that_llama_cpp_has():
    oss = presets.config("gpt-oss-20b")
    rounded = {**oss, "rope_parameters": {**oss["rope_parameters"], "truncate": True}}
    inv_freq, size = config_doctor.model_file(oss).frequencies()
    np.testing.assert_allclose(inv_freq, rope_frequencies(rounded)[0], rtol=1e-12)
    assert size == pytest.approx(0.1 * math.log(32) + 1)


@given(
    name=st.sampled_from(["Llama-3.1-8B-Instruct", "Phi-3.5-mini-instruct", "gpt-oss-20b",
                          "gemma-4-e2b", "Qwen3-8B", "LLaMA-2-7B-32K (togethercomputer)"]),
    values=st.dictionaries(
        st.sampled_from([
            "--rope-scale", "--rope-freq-scale", "--rope-freq-base", "--yarn-orig-ctx", "-c",
            "--yarn-ext-factor", "--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast",
        ]),
        st.sampled_from([-1, 0, 1, 0.25, 16, 32768, 2**31 - 1, 1.0000001, 1e-200, 1e200]),
        min_size=1,
    ),
    method=st.sampled_from(["", "--rope-scaling yarn", "--rope-scaling linear"]),
)  # fmt: skip
@example("Llama-2-7b-hf", {"--yarn-attn-factor": 0, "--rope-freq-base": 16}, "")
def test_any_flags_on_any_model_file_are_told_without_an_accident(name, values, method):
    line = " ".join([method, *(f"{key} {value}" for key, value in values.items())])
    for each in examine(line, model=presets.config(name)).findings:
        assert each.sentence
        assert each.effect is None or math.isfinite(each.effect.harm)


def test_a_context_that_fits_needs_no_scaling():
    told = [each.sentence for each in examine("llama-cli -c 16384", model=QWEN_PLAIN).plain]
    assert told[-1].startswith("room for 16,384 tokens, of 32,768 that the model file is made for")
    assert not any("needs no scaling" in each for each in said("llama-cli -c 16384"))


def test_the_effect_of_a_context_without_scaling_is_yarn_s():
    (found,) = examine("llama-cli -c 131072", model=QWEN_PLAIN).findings
    assert found.effect == difference(rope_frequencies(QWEN_PLAIN), rope_frequencies(
        changed(QWEN, rope_theta=1e6)))  # fmt: skip


# Accidents and huge files.

WRONG = (
    None, True, False, 0, 1, -1, 2, 0.25, -0.5, 10**30, 10**309, 1e308, math.inf, math.nan, "",
    "8.0", "yarn", "ï" * 3000, b"bytes", [], [1], [None], {}, {"factor": {}}, [[[]]], (1, 2), 3.7,
    {"a": {"b": {"c": 1}}}, [1.0] * 64, ["full_attention"] * 3, "default", "longrope", "llama3",
    4096, 65536, 1e-320,
)  # fmt: skip
NAMES = (
    "rope_theta", "rope_scaling", "rope_parameters", "head_dim", "hidden_size", "factor",
    "rope_type", "num_attention_heads", "max_position_embeddings",
    "original_max_position_embeddings", "type",
    "partial_rotary_factor", "attention_factor", "attn_factor", "mscale", "mscale_all_dim", "alpha",
    "beta_fast", "beta_slow", "short_factor", "long_factor", "low_freq_factor", "high_freq_factor",
    "layer_types", "full_attention", "sliding_attention", "text_config", "model_type",
    "rope_thata", "no_rope_layers", "sliding_window", "qk_rope_head_dim", "mrope_section",
    "finetuned", "truncate",
    "rotary_dim", "scaling_factor", "rope_local_base_freq", 5, None, ("a",),
)  # fmt: skip


def mutated(rng, made):
    """One to four accidents in a config, at any depth."""
    made = copy.deepcopy(made)
    for _ in range(rng.randint(1, 4)):
        places = [made] + [value for value in made.values() if isinstance(value, dict)]
        here = rng.choice(places)
        kind = rng.randrange(7)
        if kind == 0 and here:
            del here[rng.choice(list(here))]
        elif kind == 1 and here:
            here[rng.choice(list(here))] = copy.deepcopy(rng.choice(WRONG))
        elif kind == 2:
            here[rng.choice(NAMES)] = copy.deepcopy(rng.choice(WRONG))
        elif kind == 3 and here:
            key = rng.choice(list(here))
            name = str(key)
            at = rng.randrange(len(name) + 1)
            here[name[:at] + name[at + 1 :]] = here.pop(key)
        elif kind == 4 and here:
            key = rng.choice(list(here))
            if isinstance(here[key], (int, float)):
                here[key] = here[key] * rng.choice((-1, 0, 3, 10**20))
        elif kind == 5:
            here[rng.choice(NAMES)] = copy.deepcopy(here)
        else:
            made = {rng.choice(("text_config", "llm_config", "config")): made}
    return made


def deep(levels, key="text_config"):
    made = {}
    for _ in range(levels):
        made = {key: made}
    return made


def huge():
    """Configs of 10 MB or with 100,000 keys, in places that are read."""
    many = {f"key_{i}": i for i in range(100_000)}
    base = {"model_type": "llama", "head_dim": 128, "max_position_embeddings": 8192}
    yield {**base, **many}
    yield {**many, **base, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}
    yield {**base, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, **many}}
    yield {**base, "rope_parameters": {f"layer_{i}": {"rope_theta": i} for i in range(100_000)}}
    yield {**base, "rope_parameters": {**{f"x{i}": {} for i in range(60)}, **many}}
    yield {**base, "layer_types": ["full_attention"] * 1_000_000,
           "rope_parameters": {"full_attention": {}, **many}}  # fmt: skip
    yield {**base, "rope_scaling": {"rope_type": "longrope", "short_factor": [1.0] * 1_000_000,
                                    "long_factor": [2.0] * 1_000_000}}  # fmt: skip
    yield {**base, "rope_scaling": {"rope_type": "x" * 10_000_000, "factor": "9" * 10_000_000}}
    yield {**base, "y" * 10_000_000: 1, "rope_scaling": {"z" * 10_000_000: 1}}
    yield {"text_config": {"text_config": {**base, **many}, **many}, **many}
    yield {**base, "no_rope_layers": [0] * 1_000_000, "model_type": "smollm3"}
    for levels in (5, 6, 100, 20_000):
        yield deep(levels)
        yield {**base, "rope_scaling": deep(levels, "factor"), "rope_parameters": deep(levels)}
        yield {**base, "rope_scaling": {"rope_type": "yarn", "factor": deep(levels, "a")}}


def as_text(rng, made):
    """The same as somebody pastes it, sometimes with an accident in the text itself."""
    text = json.dumps(made, default=str, skipkeys=True, indent=rng.choice((None, 2)))
    kind = rng.randrange(5)
    at = rng.randrange(len(text))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice(('"', ",", "}", "[" * 500, "\0", "//", "'", "é")) + text[at:]
    if kind == 2:
        return text.replace(": ", ": [", 1) if rng.random() < 0.5 else text + text
    if kind == 3:
        return text[:1] + '"rope_theta": 7,' + text[1:]
    return text


def test_2000_accidents_and_huge_files_never_raise_and_take_little_time():
    rng = random.Random(17)
    originals = [presets.config(name) for name in presets.names()]
    count = texts_read = 0
    slowest = 0.0
    cases = [mutated(rng, rng.choice(originals)) for _ in range(2000)]
    for made in [*cases, *huge()]:
        count += 1
        began = time.thread_time()
        found = diagnose(made)
        if count <= len(cases):
            given_as = as_text(rng, made) if count % 2 else made
            try:
                examination = examine(given_as)
            except InvalidParameterError as wrong:
                assert given_as is not made
                assert "got" in str(wrong)
            else:
                texts_read += given_as is not made
                for each in (*examination.plain, *examination.findings):
                    assert each.sentence
        slowest = max(slowest, time.thread_time() - began)
        for each in found:
            assert len(each.sentence) < 1000
            assert len(each.key) <= 60
    print(f"\n{count} configs, {texts_read} of them as texts that parse, slowest {slowest:.2f} s")
    assert count > 2000
    assert texts_read > 200
    assert slowest < 2.0
