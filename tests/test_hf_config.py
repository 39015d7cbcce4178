"""Configs as people write them: golden vectors in every spelling, rules and noise."""

import contextlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posviz import hf_config
from posviz.config_doctor import diagnose
from posviz.hf_config import read, rope_frequencies
from posviz.params import InvalidParameterError
from posviz.rope_scaling import ROPE_SCALINGS, DynamicNtk, LongRope, NoScaling, Ntk, Yarn

GOLDEN_DIR = Path(__file__).parent / "golden"
CASES = json.loads((GOLDEN_DIR / "rope.json").read_text())
VERSIONS = json.loads((GOLDEN_DIR / "hf_config.json").read_text())
by_id = {"ids": lambda case: case["id"]}

# Keys that a config gives its method; the rest of a case's params is geometry or a result.
METHOD_KEYS = (
    "factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow",
    "truncate", "mscale", "mscale_all_dim", "low_freq_factor", "high_freq_factor",
    "short_factor", "long_factor",
)  # fmt: skip


def parts(case):
    """A golden case as geometry, base, share, context, method settings and the length asked for."""
    given_params = case["params"]
    share = given_params.get("partial_rotary_factor", 1.0)
    head_dim = given_params.get("head_dim", given_params.get("dim"))
    if case["type"] == "longrope" and share == 1.0:
        head_dim = given_params["dim"]
    settings = {key: given_params[key] for key in METHOD_KEYS if key in given_params}
    kind = "default" if case["type"] == "partial" else case["type"]
    context = given_params.get("max_position_embeddings")
    seq_len = given_params.get("seq_len")
    return kind, head_dim, given_params["rope_theta"], share, context, settings, seq_len


def new_keys(case):
    kind, head_dim, theta, share, context, settings, _ = parts(case)
    inside = {"rope_type": kind, "rope_theta": theta, **settings}
    if share != 1.0:
        inside["partial_rotary_factor"] = share
    return {
        "head_dim": head_dim,
        "rope_parameters": inside,
        "max_position_embeddings": context,
    }


def old_keys(case):
    kind, head_dim, theta, share, context, settings, _ = parts(case)
    return {
        "model_type": "llama",
        "hidden_size": head_dim * 7,
        "num_attention_heads": 7,
        "rope_theta": theta,
        "partial_rotary_factor": share,
        "max_position_embeddings": context,
        "rope_scaling": {"type": "su" if kind == "longrope" else kind, **settings},
    }


def old_keys_with_null_head(case):
    config = {**old_keys(case), "head_dim": None, "rope_parameters": None}
    config["rope_scaling"] = {
        "rope_type": config["rope_scaling"].pop("type"),
        "finetuned": True,
        "attn_factor": None,
        **config["rope_scaling"],
    }
    return config


def trained_context_outside(case):
    """Phi-3 writes it beside the settings, where it wins over one inside."""
    config = new_keys(case)
    inside = config["rope_parameters"]
    if "original_max_position_embeddings" in inside:
        config["original_max_position_embeddings"] = inside["original_max_position_embeddings"]
        inside["original_max_position_embeddings"] = 77
    return config


def multimodal(case):
    return {
        "model_type": "anything_vl",
        "vision_config": {"head_dim": 3, "rope_theta": 7.0},
        "text_config": old_keys(case),
    }


def per_layer_type(case):
    config = new_keys(case)
    return {
        **config,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 3.0},
            "full_attention": config["rope_parameters"],
        },
    }


def other_names(case):
    """GPT-2's geometry, GPT-NeoX's base and share."""
    kind, head_dim, theta, share, context, settings, _ = parts(case)
    return {
        "n_embd": head_dim * 5,
        "n_head": 5,
        "n_positions": context,
        "rotary_emb_base": theta,
        "rotary_pct": share,
        "rope_scaling": {"type": kind, **settings},
    }


def latent_attention(case):
    """The rotating part of an MLA head is the case's head; the rest has no say."""
    config = new_keys(case)
    return {
        **{key: value for key, value in config.items() if key != "head_dim"},
        "qk_rope_head_dim": len(case["inv_freq"]) * 2,
        "qk_nope_head_dim": 128,
        "hidden_size": 7168,
        "num_attention_heads": 128,
    }


def chatglm_ratio(case):
    config = old_keys(case)
    config["rope_ratio"] = config.pop("rope_theta") / 10_000.0
    return config


SPELLINGS = (
    new_keys, old_keys, old_keys_with_null_head, trained_context_outside, multimodal,
    per_layer_type, other_names, chatglm_ratio,
)  # fmt: skip


# Inputs.


def test_vectors_are_all_there_and_each_tells_its_method():
    kinds = [parts(case)[0] for case in CASES]
    assert set(kinds) == set(ROPE_SCALINGS)
    assert len(CASES) >= 98


# Meaning.


@pytest.mark.parametrize("case", CASES, **by_id)
def test_every_spelling_of_a_vector_means_the_same(case):
    kind = parts(case)[0]
    wanted = read(new_keys(case)).rotary[0]
    assert wanted.rope_type == kind
    assert wanted.rope.rotary_dim == 2 * len(case["inv_freq"])
    assert wanted.rope.rope_theta == case["params"]["rope_theta"]
    for key in METHOD_KEYS:
        value = case["params"].get(key)
        if value is not None:
            value = tuple(value) if isinstance(value, list) else value
            assert getattr(wanted.scaling, key) == value
    for spelling in SPELLINGS:
        got = read(spelling(case)).rotary[-1]
        assert (got.rope.rotary_dim, got.scaling) == (wanted.rope.rotary_dim, wanted.scaling)
        assert got.rope.rope_theta == pytest.approx(wanted.rope.rope_theta, rel=1e-15)


# Numbers.


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.__name__)
@pytest.mark.parametrize("case", CASES, **by_id)
def test_every_spelling_of_a_vector_gives_its_numbers(case, spelling):
    layer_type = "full_attention" if spelling is per_layer_type else None
    inv_freq, attention_factor = rope_frequencies(
        spelling(case), seq_len=parts(case)[-1], layer_type=layer_type
    )
    assert inv_freq.dtype == np.float64
    np.testing.assert_allclose(inv_freq, case["inv_freq"], rtol=2e-6, atol=0.0)
    assert attention_factor == pytest.approx(case["attention_factor"], rel=1e-12)


@pytest.mark.parametrize("case", [c for c in CASES if c["type"] != "proportional"], **by_id)
def test_the_rotating_part_of_latent_attention_counts_alone(case):
    inv_freq, attention_factor = rope_frequencies(latent_attention(case), seq_len=parts(case)[-1])
    np.testing.assert_allclose(inv_freq, case["inv_freq"], rtol=2e-6, atol=0.0)
    assert attention_factor == pytest.approx(case["attention_factor"], rel=1e-12)


@pytest.mark.parametrize("case", VERSIONS, **by_id)
def test_where_versions_of_hugging_face_differ_the_newest_counts(case):
    inv_freq, attention_factor = rope_frequencies(case["config"], seq_len=case.get("seq_len"))
    if "inv_freq" in case:
        index = case.get("index", slice(None))
        np.testing.assert_allclose(inv_freq[index], case["inv_freq"], rtol=2e-6, atol=0.0)
    assert attention_factor == pytest.approx(case["attention_factor"], rel=1e-12)


# Public mistakes, posed as configs: what went wrong names each test.


def config(rope_type, head_dim=128, theta=1e4, context=None, **settings):
    inside = {"rope_type": rope_type, "rope_theta": theta, **settings}
    return {"head_dim": head_dim, "max_position_embeddings": context, "rope_parameters": inside}


def test_dynamic_ntk_was_one_base_for_every_length():
    grows = config("dynamic", context=2048, factor=2.0)
    plain = rope_frequencies(config("default"))[0]
    for seq_len in (None, 1, 1000, 2048):
        np.testing.assert_array_equal(rope_frequencies(grows, seq_len=seq_len)[0], plain)
    base = rope_frequencies(grows, seq_len=4096)[0][1] ** -64.0
    assert base == pytest.approx(30527.7367, rel=1e-8)
    other = config("dynamic", context=4096, factor=4.0)
    ratio = rope_frequencies(other, seq_len=8192)[0][-1] / plain[-1]
    assert ratio == pytest.approx(1 / 5, rel=1e-12)


def test_dynamic_ntk_lost_its_factor_and_doubled_positions():
    grows = config("dynamic", context=32768, factor=6.0)
    inv_freq, _ = rope_frequencies(grows, seq_len=65536)
    assert inv_freq[0] == 1.0  # position scale 1, not 2
    assert inv_freq[1] ** -64.0 / 1e4 == pytest.approx(7.219586, rel=1e-6)


def test_dynamic_ntk_grew_from_the_trained_context_of_another_key():
    grows = config("dynamic", context=4096, factor=2.0, original_max_position_embeddings=2048)
    np.testing.assert_array_equal(
        rope_frequencies(grows, seq_len=4096)[0], rope_frequencies(config("default"))[0]
    )
    assert read(grows).rotary[0].scaling == DynamicNtk(2.0, 4096)


def test_yarn_kept_the_fast_pairs_at_the_base_of_ntk():
    inv_freq, _ = rope_frequencies(config("yarn", factor=16, original_max_position_embeddings=4096))
    assert inv_freq[10] == pytest.approx(0.2371374, rel=1e-6)


def test_yarn_clamped_its_ramp_to_half_the_dimensions():
    far = config("yarn", 64, factor=4, original_max_position_embeddings=131072)
    inv_freq, _ = rope_frequencies(far)
    assert inv_freq[-1] == pytest.approx(6.411161e-05, rel=2e-6)
    assert read(far).rotary[0].scaling.correction_range(read(far).rotary[0].rope) == (22, 35)


def test_yarn_put_the_factor_inside_the_exponent():
    wide = config("yarn", 64, 150_000, factor=32, original_max_position_embeddings=4096)
    assert rope_frequencies(wide)[0][31] == pytest.approx(3.0235114e-07, rel=1e-6)


def test_yarn_refused_a_ramp_that_begins_at_pair_0():
    near = config("yarn", 64, factor=4, original_max_position_embeddings=128)
    rotary = read(near).rotary[0]
    assert rotary.scaling.correction_range(rotary.rope) == (0, 11)
    assert rope_frequencies(near)[0][-1] == pytest.approx(3.3338038e-05, rel=2e-6)


def test_truncate_of_a_layer_type_was_looked_for_one_level_above():
    settings = {"factor": 16, "original_max_position_embeddings": 4096, "truncate": False}
    flat = rope_frequencies(config("yarn", **settings))[0]
    nested = {
        "head_dim": 128,
        "rope_parameters": {"full_attention": {"rope_type": "yarn", **settings}},
    }
    np.testing.assert_array_equal(rope_frequencies(nested)[0], flat)
    outside = {
        "head_dim": 128,
        "rope_parameters": {
            "truncate": False,
            "full_attention": {key: settings[key] for key in settings if key != "truncate"}
            | {"rope_type": "yarn"},
        },
    }
    np.testing.assert_array_equal(rope_frequencies(outside)[0], flat)
    assert not np.array_equal(
        flat, rope_frequencies(config("yarn", **settings | {"truncate": True}))[0]
    )
    assert [each.key for each in diagnose(nested) if each.level == "warning"] == ["truncate"]


@pytest.mark.parametrize(
    ("factor", "settings", "wanted"),
    [
        (16, {"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
        (40, {"mscale": 0.707, "mscale_all_dim": 0.707}, 1.0),
        (64, {"mscale": 1.0, "mscale_all_dim": 0.0}, 1.4158883083359672),
        (40, {"mscale": 0.707}, 1.3688879454113936),
        (40, {"mscale": 0.707, "mscale_all_dim": 0.0}, 1.3688879454113936),
        (16, {"attention_factor": 1.0}, 1.0),
        (8, {"attention_factor": 1.2079441541679836}, 1.2079441541679836),
        (16, {"attention_factor": 1.0, "mscale": 2.0, "mscale_all_dim": 1.0}, 1.0),
        (128, {"attention_factor": 1.4852030263919618}, 1.4852030263919618),
        (64, {"attention_factor": 1.4158883083359672}, 1.4158883083359672),
        (4, {"attn_factor": 0.8782488562869419}, 1.138629436111989),
        (1, {}, 1.0),
    ],
    ids=str,
)
def test_the_attention_factor_was_ignored_multiplied_or_computed_twice(factor, settings, wanted):
    made = config("yarn", factor=factor, original_max_position_embeddings=4096, **settings)
    assert rope_frequencies(made)[1] == pytest.approx(wanted, rel=1e-12)


def phi35():
    case = next(each for each in CASES if each["id"] == "longrope_Phi-3.5-mini_q4096")
    return new_keys(case)


@pytest.mark.parametrize(
    ("seq_len", "last"),
    [(None, 4.2659427e-05), (1, 4.2659427e-05), (4096, 4.2659427e-05), (4097, 1.8684879e-06),
     (131072, 1.8684879e-06)],
)  # fmt: skip
def test_longrope_took_the_long_list_at_the_trained_context_itself(seq_len, last):
    inv_freq, attention_factor = rope_frequencies(phi35(), seq_len=seq_len)
    assert inv_freq[47] == pytest.approx(last, rel=2e-6)
    assert attention_factor == pytest.approx(1.1902380714238083, rel=1e-12)


def test_llama3_returned_the_unscaled_frequencies():
    inv_freq, _ = rope_frequencies(
        config(
            "llama3", 128, 5e5, factor=8, low_freq_factor=1, high_freq_factor=4,
            original_max_position_embeddings=8192,
        )
    )  # fmt: skip
    assert inv_freq[-1] == pytest.approx(3.068926e-07, rel=2e-6)


def test_partial_rotary_counted_frequencies_by_the_whole_head():
    partial = {"head_dim": 256, "rope_theta": 1e7, "rotary_dim": 64}
    inv_freq, _ = rope_frequencies(partial)
    assert inv_freq.shape == (32,)
    assert inv_freq[16] == pytest.approx(3.1622777e-04, rel=2e-6)


def test_proportional_was_read_as_partial():
    inv_freq, _ = rope_frequencies(config("proportional", 512, 1e6, partial_rotary_factor=0.25))
    assert inv_freq.shape == (256,)
    assert inv_freq[1] == pytest.approx(0.9474635, rel=2e-6)
    assert (inv_freq[64:] == 0.0).all()
    assert (inv_freq[:64] > 0.0).all()


def test_gpt_neox_japanese_built_frequencies_over_the_whole_head():
    small = {"model_type": "gpt_neox_japanese", "hidden_size": 32, "num_attention_heads": 2}
    assert rope_frequencies({**small, "rotary_pct": 0.25})[0].shape == (2,)


# Rules of the keys.


def test_the_plain_parameters_are_a_config():
    plain = {
        "head_dim": 128,
        "rope_parameters": {
            "rope_type": "yarn", "rope_theta": 1e4, "factor": 16,
            "original_max_position_embeddings": 4096,
        },
        "max_position_embeddings": 65536,
    }  # fmt: skip
    assert read(plain).rotary[0].scaling == Yarn(16, 4096)
    assert rope_frequencies({"head_dim": 4})[0].tolist() == [1.0, 0.01]


def test_a_null_is_an_absent_key():
    nulls = {
        "head_dim": 64, "rope_scaling": None, "rope_parameters": None, "rope_theta": None,
        "partial_rotary_factor": None, "rotary_dim": None, "max_position_embeddings": None,
        "layer_types": None, "text_config": None, "no_rope_layers": None, "attn_config": None,
    }  # fmt: skip
    assert read(nulls).rotary[0].scaling == NoScaling()
    assert rope_frequencies(nulls)[0].shape == (32,)
    yarn = config("yarn", factor=4, original_max_position_embeddings=4096, beta_fast=None,
                  beta_slow=0, truncate=None, attention_factor=None, mscale=None)  # fmt: skip
    assert read(yarn).rotary[0].scaling == Yarn(4, 4096)


def test_a_base_inside_the_settings_wins_over_one_outside():
    made = {"head_dim": 64, "rope_theta": 5e5, "rope_parameters": {"rope_theta": 1e6}}
    assert read(made).rotary[0].rope.rope_theta == 1e6
    assert [each.key for each in diagnose(made)] == ["rope_theta"]


def test_the_old_key_wins_over_the_new_one_and_keeps_its_base():
    made = {
        "head_dim": 64,
        "rope_scaling": {"type": "linear", "factor": 2.0},
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
    }
    assert read(made).rotary[0].rope_type == "linear"
    assert read(made).rotary[0].rope.rope_theta == 5e5
    assert [each.level for each in diagnose(made)] == ["warning"]


def test_a_whole_number_may_be_written_as_a_float():
    made = {"head_dim": 64.0, "max_position_embeddings": 4096.0, "rope_scaling": {
        "type": "dynamic", "factor": 2}}  # fmt: skip
    assert read(made).rotary[0].scaling == DynamicNtk(2, 4096)


def test_a_missing_trained_context_is_the_whole_one_and_the_factor_still_applies():
    made = config("yarn", context=32768, factor=4)
    assert read(made).rotary[0].scaling == Yarn(4, 32768)
    assert rope_frequencies(made)[0][-1] == pytest.approx(1e4 ** (-126 / 128) / 4, rel=1e-12)


def test_a_model_type_brings_the_defaults_of_its_class():
    assert rope_frequencies({"model_type": "phi", "head_dim": 64})[0].shape == (16,)
    assert rope_frequencies({"model_type": "gpt_neox", "head_dim": 64})[0].shape == (8,)
    assert rope_frequencies({"model_type": "gptj", "n_embd": 4096, "n_head": 16})[0].shape == (32,)
    assert rope_frequencies({"model_type": "qwen3", "hidden_size": 1024,
                             "num_attention_heads": 16})[0].shape == (64,)  # fmt: skip
    assert read({"model_type": "smollm3", "head_dim": 64}).rotary[0].rope.rope_theta == 2e6
    glm = {"model_type": "chatglm", "kv_channels": 128, "rope_ratio": 500}
    assert read(glm).rotary[0].rope.rope_theta == 5e6
    assert read(glm).rotary[0].rope.rotary_dim == 64


@pytest.mark.parametrize(
    ("made", "theta", "pairs"),
    [
        ({"model_type": "ernie4_5", "head_dim": 128}, 5e5, 64),
        ({"model_type": "longcat_flash"}, 1e7, 32),
        ({"model_type": "glm4_moe", "head_dim": 128}, 1e4, 32),
        ({"model_type": "blt_local_decoder", "head_dim": 64}, 5e5, 32),
        ({"model_type": "emu3_text_model", "head_dim": 64}, 1e6, 32),
        ({"model_type": "mllama_text_model", "head_dim": 64}, 5e5, 32),
        ({"model_type": "hy_v3"}, 11_158_840, 64),
        ({"model_type": "solar_open"}, 1e6, 64),
        ({"model_type": "t5gemma", "hidden_size": 2304, "num_attention_heads": 8}, 1e4, 128),
        ({"model_type": "zamba2", "hidden_size": 2560, "num_attention_heads": 32,
          "attention_head_dim": 160}, 1e4, 80),
    ],
    ids=str,
)  # fmt: skip
def test_what_a_file_leaves_out_its_class_says(made, theta, pairs):
    rope = read(made).rotary[0].rope
    assert (rope.rope_theta, rope.rotary_dim // 2) == (theta, pairs)


@pytest.mark.parametrize("kind", ["gpt_neox", "phi", "stablelm", "glm4", "nemotron"])
def test_proportional_has_the_share_of_the_class(kind):
    made = {"model_type": kind, "head_dim": 64, "rope_scaling": {"type": "proportional"}}
    share = {"gpt_neox": 0.25, "stablelm": 0.25}.get(kind, 0.5)
    inv_freq = rope_frequencies(made)[0]
    assert (np.count_nonzero(inv_freq), len(inv_freq)) == (32 * share, 32)
    assert np.count_nonzero(rope_frequencies({**made, "rotary_pct": 1.0})[0]) == 32


def test_helium_pairs_neighbours():
    assert read({"model_type": "helium", "head_dim": 128}).layout == "interleaved"


def test_a_model_type_brings_settings_and_latent_dimensions_too():
    oss = {"model_type": "gpt_oss", "hidden_size": 2880, "num_attention_heads": 64}
    assert read(oss).rotary[0].scaling == Yarn(32, 4096, truncate=False)
    assert read(oss).rotary[0].rope.rope_theta == 150_000
    plain = {**oss, "rope_scaling": {"rope_type": "default"}}
    assert read(plain).rotary[0].scaling == NoScaling()
    deepseek = read({"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128})
    assert (deepseek.head_dim, deepseek.rotary[0].rope.rotary_dim) == (192, 64)


def test_a_null_head_dim_is_derived_although_the_class_has_a_default():
    made = {"model_type": "qwen3", "head_dim": None, "hidden_size": 512, "num_attention_heads": 8}
    assert read(made).head_dim == 64


def test_latent_attention_has_a_head_of_both_parts():
    made = {
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "head_dim": 64,
        "model_type": "kimi_k2",
    }
    assert (read(made).head_dim, read(made).rotary[0].rope.rotary_dim) == (192, 64)
    assert read(made).layout == "interleaved"


def test_static_ntk_is_our_own_type_and_hunyuans_alpha():
    assert read(config("ntk", factor=8)).rotary[0].scaling == Ntk(8)
    hunyuan = config("dynamic", alpha=1000.0, factor=1.0, mscale=1.0)
    assert read(hunyuan).rotary[0].scaling == Ntk(1000.0)


def test_phi_3_s_first_files_call_longrope_su_or_yarn():
    made = phi35()
    inside = made.pop("rope_parameters")
    for name in ("su", "longrope", "yarn"):
        old = {**made, "model_type": "phi3", "rope_scaling": {
            "type": name, "short_factor": inside["short_factor"],
            "long_factor": inside["long_factor"]}}  # fmt: skip
        rotary = read(old).rotary[0]  # the class knows the trained context
        assert isinstance(rotary.scaling, LongRope)
        assert rotary.scaling.original_max_position_embeddings == 4096


def test_phi_3_5_moe_says_the_factor_on_cos_and_sin_itself():
    made = phi35()
    made["rope_parameters"] |= {"short_mscale": 1.1, "long_mscale": 1.25}
    assert rope_frequencies(made, seq_len=5000)[1] == pytest.approx(1.1902380714238083)
    made["model_type"] = "phimoe"
    assert rope_frequencies(made, seq_len=4096)[1] == 1.1
    assert rope_frequencies(made, seq_len=4097)[1] == 1.25


# Layer types.

GEMMA3 = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text", "head_dim": 256, "rope_theta": 1e6, "num_hidden_layers": 12,
        "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
        "sliding_window": 1024, "sliding_window_pattern": 6,
    },
}  # fmt: skip


def test_old_gemma_3_scales_its_full_attention_layers_alone():
    full, near = read(GEMMA3).rotary
    assert (full.rope.rope_theta, full.rope_type) == (1e6, "linear")
    assert (near.rope.rope_theta, near.rope_type) == (1e4, "default")
    last = rope_frequencies(GEMMA3, layer_type="full_attention")[0][-1]
    assert last == pytest.approx(1e6 ** (-254 / 256) / 8)
    last = rope_frequencies(GEMMA3, layer_type="sliding_attention")[0][-1]
    assert last == pytest.approx(1e4 ** (-254 / 256))
    assert read(GEMMA3).layer_types[4:7] == ("sliding_attention", "full_attention",
                                             "sliding_attention")  # fmt: skip


def test_settings_that_stand_alone_are_meant_when_no_layer_type_is_named():
    np.testing.assert_array_equal(
        rope_frequencies(GEMMA3)[0], rope_frequencies(GEMMA3, layer_type="full_attention")[0]
    )


def test_old_gemma_3_without_bases_has_those_of_its_class():
    text = {"model_type": "gemma3_text", "rope_scaling": {"type": "linear", "factor": 8.0}}
    assert [each.rope.rope_theta for each in read(text).rotary] == [1e6, 1e4]


NESTED = {
    "head_dim": 64,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    },
}


def test_layer_types_that_differ_must_be_named():
    with pytest.raises(InvalidParameterError, match=r"full_attention, sliding_attention"):
        rope_frequencies(NESTED)
    with pytest.raises(InvalidParameterError, match=r"^layer_type must be one of full_attention"):
        rope_frequencies(NESTED, layer_type="chunked_attention")
    assert rope_frequencies(NESTED, layer_type="full_attention")[0][0] == 0.25


def test_layer_types_that_agree_or_are_not_used_need_no_name():
    one = {"rope_type": "linear", "factor": 4.0}
    same = {"head_dim": 64, "rope_parameters": {"full_attention": one, "sliding_attention": one}}
    assert rope_frequencies(same)[0][0] == 0.25
    assert rope_frequencies({**NESTED, "layer_types": ["full_attention"] * 3})[0][0] == 0.25
    single = {"head_dim": 64, "rope_parameters": {"full_attention": one}}
    assert rope_frequencies(single)[0][0] == 0.25


def test_one_set_of_settings_serves_every_layer_type():
    made = {**NESTED, "rope_parameters": {"rope_type": "linear", "factor": 2.0}}
    for layer_type in (None, "full_attention", "sliding_attention"):
        assert rope_frequencies(made, layer_type=layer_type)[0][0] == 0.5
    with pytest.raises(InvalidParameterError, match=r"^layer_type must be one of"):
        rope_frequencies(made, layer_type="chunked_attention")


def test_a_layer_type_with_null_settings_has_no_rope():
    made = {
        "head_dim": 64, "num_hidden_layers": 3,
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
        "rope_parameters": {"full_attention": None, "sliding_attention": {"rope_type": "default"}},
    }  # fmt: skip
    assert rope_frequencies(made)[0][0] == 1.0
    assert read(made).rope_layers == (True, True, False)
    with pytest.raises(InvalidParameterError, match=r"^layer_type must be one with RoPE"):
        rope_frequencies(made, layer_type="full_attention")


def test_olmo_3_scales_its_full_attention_layers_alone():
    made = {
        "model_type": "olmo3", "head_dim": 128, "rope_theta": 5e5, "max_position_embeddings": 65536,
        "rope_scaling": {"rope_type": "yarn", "factor": 8.0,
                         "original_max_position_embeddings": 8192},
    }  # fmt: skip
    full, near = read(made).rotary
    assert (full.rope_type, near.rope_type) == ("yarn", "default")
    assert full.rope == near.rope
    assert rope_frequencies(made)[1] == pytest.approx(1.2079441541679836)


def test_gemma_4_has_wider_heads_in_its_full_attention_layers():
    made = {
        "model_type": "gemma4_text", "head_dim": 256, "global_head_dim": 512,
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25,
                               "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    }  # fmt: skip
    assert rope_frequencies(made, layer_type="full_attention")[0].shape == (256,)
    assert rope_frequencies(made, layer_type="sliding_attention")[0].shape == (128,)
    assert read(made).head_dim == 256


@pytest.mark.parametrize("kind", ["gemma4_text", "gemma4_unified", "diffusion_gemma"])
def test_gemma_4_without_settings_has_those_of_its_class(kind):
    full, near = read({"model_type": kind, "num_hidden_layers": 8}).rotary
    assert (full.rope_type, full.scaling.partial_rotary_factor) == ("proportional", 0.25)
    assert (full.head_dim, full.rope.rope_theta) == (512, 1e6)
    assert (near.rope_type, near.head_dim, near.rope.rope_theta) == ("default", 256, 1e4)


def test_a_base_or_share_of_the_file_wins_over_one_of_the_class_s_settings():
    made = {"model_type": "gemma4", "rope_theta": 5e6, "rope_local_base_freq": 3e4,
            "partial_rotary_factor": 0.5}  # fmt: skip
    full, near = read(made).rotary
    assert (full.rope.rope_theta, near.rope.rope_theta) == (5e6, 3e4)
    assert full.scaling.partial_rotary_factor == 0.5


def test_embedding_gemma_2_has_wider_heads_but_turns_all_of_them():
    inv_freq, _ = rope_frequencies({"model_type": "embedding_gemma2"}, layer_type="full_attention")
    assert (np.count_nonzero(inv_freq), len(inv_freq)) == (256, 256)


@pytest.mark.parametrize("inside", [{}, {"rope_type": "linear", "factor": 2.0}], ids=str)
def test_modernbert_s_bases_count_beside_nested_settings(inside):
    made = {
        "model_type": "modernbert", "head_dim": 64, "global_rope_theta": 8e4,
        "local_rope_theta": 2e4,
        "rope_parameters": {"full_attention": inside, "sliding_attention": inside},
    }  # fmt: skip
    assert [each.rope.rope_theta for each in read(made).rotary] == [8e4, 2e4]
    bare = {"model_type": "modernbert", "head_dim": 64, "rope_parameters": made["rope_parameters"]}
    assert [each.rope.rope_theta for each in read(bare).rotary] == [16e4, 1e4]


def test_modernbert_s_window_is_half_of_what_it_writes():
    made = {"model_type": "modernbert", "head_dim": 64, "local_attention": 129}
    assert read(made).sliding_window == 64


def test_layers_without_attention_have_no_rope():
    named = ["linear_attention", "conv", "mamba", "recurrent", "full_attention", "hybrid"]
    for key in ("layer_types", "layers_block_type"):
        made = {"head_dim": 64, key: named}
        assert read(made).rope_layers == (False, False, False, False, True, True)
    with pytest.raises(InvalidParameterError, match=r"^layer_type must be one of full_attention"):
        rope_frequencies({"head_dim": 64, "layer_types": named}, layer_type="conv")
    made = {"model_type": "qwen3_next", "num_hidden_layers": 8}
    assert read(made).rope_layers == (False, False, False, True) * 2


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [("cwm", "fsssfsss"), ("gemma3n", "ssssfsss"), ("t5gemma2", "sssssfss"),
     ("vaultgemma", "sfsfsfsf"), ("cohere2_moe", "sssfsssf"), ("exaone_moe", "sssfsssf"),
     ("exaone4", "sssfsssf"), ("llama4_text", "cccfcccf"), ("gemma4", "sssssfsf"),
     ("qwen3_5", "lllflllf"), ("modernbert", "fssfssfs"), ("t5gemma", "sfsfsfsf")],
)  # fmt: skip
def test_layer_types_that_a_file_leaves_out_follow_its_class(kind, pattern):
    made = {"model_type": kind, "head_dim": 64, "num_hidden_layers": 8}
    assert "".join(name[0] for name in read(made).layer_types) == pattern


def test_llama_4_looks_at_chunks_where_it_has_rope():
    made = {"model_type": "llama4_text", "num_hidden_layers": 4, "no_rope_layers": [0, 1, 1, 0]}
    names = tuple(name[0] for name in read(made).layer_types)
    assert names == ("f", "c", "c", "f")
    assert set(read({**made, "attention_chunk_size": None}).layer_types) == {"full_attention"}


def test_no_rope_layers_says_1_where_a_layer_has_rope():
    made = {"model_type": "smollm3", "head_dim": 64, "no_rope_layers": [1, 1, 0, 1]}
    assert read(made).rope_layers == (True, True, False, True)
    every = {"model_type": "llama4_text", "num_hidden_layers": 8, "no_rope_layers": []}
    assert read(every).rope_layers == (True, True, True, False) * 2
    assert read({"head_dim": 8, "num_hidden_layers": 3}).rope_layers == (True,) * 3


def test_exaone_4_and_command_r7b_turn_nothing_in_their_full_attention_layers():
    for kind in ("exaone4", "exaone_moe", "cohere2", "cohere2_moe"):
        for window in ({}, {"sliding_window": 4096}):
            made = {"model_type": kind, "head_dim": 128, "num_hidden_layers": 4, **window}
            assert read(made).rope_layers == (True, True, True, False)
    whole = {
        "model_type": "exaone4",
        "head_dim": 64,
        "num_hidden_layers": 4,
        "sliding_window": None,
    }
    assert read(whole).rope_layers == (True,) * 4


# Other encodings.


@pytest.mark.parametrize(
    ("made", "encoding"),
    [
        ({"model_type": "bloom", "n_embed": 1024, "n_head": 16}, "alibi"),
        ({"model_type": "mpt", "d_model": 4096, "n_heads": 32}, "alibi"),
        ({"model_type": "mpt", "attn_config": {"alibi": False}}, "learned"),
        ({"model_type": "falcon", "alibi": True}, "alibi"),
        ({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71}, "rope"),
        ({"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40}, "alibi"),
        ({"model_type": "baichuan", "hidden_size": 4096, "num_attention_heads": 32}, "rope"),
        ({"model_type": "t5", "d_model": 512, "num_heads": 8, "d_kv": 64}, "t5_bias"),
        ({"model_type": "gpt2", "n_positions": 1024, "n_embd": 768, "n_head": 12}, "learned"),
        ({"model_type": "bert", "position_embedding_type": "absolute"}, "learned"),
        ({"model_type": "bert", "position_embedding_type": "relative_key"}, "shaw"),
        ({"model_type": "esm", "position_embedding_type": "rotary", "head_dim": 32}, "rope"),
        ({"model_type": "granitemoehybrid", "position_embedding_type": "nope"}, "none"),
        ({"model_type": "xglm"}, "sinusoidal"),
        ({"model_type": "transfo-xl"}, "transformer_xl"),
        ({"model_type": "mamba"}, "none"),
        ({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32}, "rope"),
    ],
    ids=str,
)
def test_the_encoding_is_the_model_type_s(made, encoding):
    assert read(made).positional_encoding == encoding
    if encoding != "rope":
        with pytest.raises(InvalidParameterError, match=r"^positional_encoding must be rope"):
            rope_frequencies(made)


def test_alibi_says_its_exponent_and_whether_it_is_scaled():
    storywriter = {"model_type": "mpt", "attn_config": {"alibi": True, "alibi_bias_max": 16}}
    assert (read(storywriter).alibi_bias_max, read(storywriter).alibi_scaled) == (16, False)
    assert [each.key for each in diagnose(storywriter)] == ["alibi_bias_max"]
    falcon = read({"model_type": "falcon", "alibi": True})
    assert (falcon.alibi_bias_max, falcon.alibi_scaled) == (8, True)


def test_learned_tables_begin_before_position_0_in_opt_and_roberta():
    opt = read({"model_type": "opt", "max_position_embeddings": 2048})
    assert (opt.position_offset, opt.context) == (2, 2048)
    roberta = read({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1})
    assert (roberta.position_offset, roberta.context) == (2, 512)
    bert = read({"model_type": "bert", "max_position_embeddings": 512})
    assert (bert.position_offset, bert.context) == (0, 512)


# What is refused.

HOSTILE = (math.nan, math.inf, -math.inf, -1, 0, 10**400, 1e308, "8", b"8", True, [8], {"a": 1})
PLACES = (
    ("rope_theta", lambda v: {"head_dim": 8, "rope_theta": v}),
    ("rope_theta", lambda v: {"head_dim": 8, "rope_parameters": {"rope_theta": v}}),
    ("head_dim", lambda v: {"head_dim": v}),
    ("hidden_size", lambda v: {"hidden_size": v, "num_attention_heads": 2}),
    ("num_attention_heads", lambda v: {"hidden_size": 64, "num_attention_heads": v}),
    ("qk_rope_head_dim", lambda v: {"qk_rope_head_dim": v}),
    ("rotary_dim", lambda v: {"head_dim": 64, "rotary_dim": v}),
    ("factor", lambda v: config("linear", factor=v)),
    ("factor", lambda v: config("dynamic", context=2048, factor=v)),
    ("original_max_position_embeddings", lambda v: config("yarn", factor=2,
                                              original_max_position_embeddings=v)),
    ("max_position_embeddings", lambda v: config("dynamic", context=v, factor=2)),
    ("beta_slow", lambda v: config("yarn", factor=2, original_max_position_embeddings=64,
                                   beta_slow=v)),
    ("truncate", lambda v: config("yarn", factor=2, original_max_position_embeddings=64,
                                  truncate=v)),
    ("partial_rotary_factor", lambda v: {"head_dim": 64, "partial_rotary_factor": v}),
    ("rope_ratio", lambda v: {"head_dim": 64, "rope_ratio": v}),
)  # fmt: skip
# Allowed there: a large base and a large factor are legal, and 0 or true is a value of some keys.
FINE = {
    ("rope_theta", 1e308), ("rope_ratio", 1e308), ("factor", 1e308),
    ("beta_slow", 0), ("truncate", True),
}  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: f"{value!s:.12}")
@pytest.mark.parametrize(
    ("name", "place"), PLACES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(PLACES)]
)
def test_a_value_that_is_not_allowed_is_refused_by_name(name, place, value):
    try:
        inv_freq, attention_factor = rope_frequencies(place(value))
    except InvalidParameterError as wrong:
        sentence = str(wrong)
        assert " must " in sentence or " needs " in sentence
        assert "got" in sentence
        assert sentence.split()[0] in {name, "rotary_dim", "head_dim", "factor", "rope_theta"}
    else:
        assert any(name == fine and value == v for fine, v in FINE)
        assert np.isfinite(inv_freq).all()
        assert math.isfinite(attention_factor)


@pytest.mark.parametrize("came", [None, 5, "config.json", [], [("head_dim", 8)]], ids=str)
def test_a_config_is_a_dict(came):
    for ask in (read, rope_frequencies):
        with pytest.raises(InvalidParameterError, match=r"^config must be a dict"):
            ask(came)
    assert [each.key for each in diagnose(came)] == ["config"]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ({}, "head_dim must be given, or hidden_size and num_attention_heads, got none of them"),
        ({"head_dim": 63}, "head_dim must be even"),
        ({"n_embd": 63, "n_head": 1}, "n_embd / n_head must be even"),
        ({"head_dim": 64, "rotary_pct": 1.5}, "rotary_pct must be a number from 0 to 1, got 1.5"),
        ({"head_dim": 100, "rotary_pct": 0.25}, "rotary_pct must make an even number of the 100"),
        ({"head_dim": 64, "rotary_emb_base": 0}, "rotary_emb_base must be"),
        ({"head_dim": 8, "layers_block_type": "mamba"}, "layers_block_type must be a list"),
        ({"head_dim": 8, "rope_scaling": "yarn"}, "rope_scaling must be a dict of settings"),
        ({"head_dim": 8, "rope_scaling": {"type": "YaRN"}}, "type must be one of default, linear"),
        ({"head_dim": 8, "rope_scaling": {"rope_type": 3}}, "rope_type must be one of default"),
        (config("linear"), "factor must be given for linear, got nothing"),
        (config("yarn", factor=4), "original_max_position_embeddings must be given for yarn"),
        (config("linear", factor=0.25), "factor must be a finite number of at least 1, got 0.25"),
        (config("dynamic", factor=2), "max_position_embeddings must be given for dynamic"),
        (config("longrope", factor=2, original_max_position_embeddings=64, short_factor=[1.0] * 3,
                long_factor=[1.0] * 64), "short_factor must have one number per pair, 64 here"),
        ({"head_dim": 8, "model_type": ["llama"]}, "model_type must be the name of a model type"),
        ({"head_dim": 8, "alibi": "yes"}, "alibi must be true or false"),
    ],
    ids=lambda each: str(each)[:50],
)  # fmt: skip
def test_an_error_is_a_sentence(made, sentence):
    with pytest.raises(InvalidParameterError) as wrong:
        rope_frequencies(made)
    assert str(wrong.value).startswith(sentence)


@pytest.mark.parametrize("seq_len", [0, -1, 1.5, math.nan, "8", True], ids=str)
def test_a_length_is_a_whole_number(seq_len):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be a whole number"):
        rope_frequencies({"head_dim": 8}, seq_len=seq_len)


@pytest.mark.parametrize("layer_type", [3, True, ["full_attention"], {}], ids=str)
def test_a_layer_type_is_a_name(layer_type):
    with pytest.raises(InvalidParameterError, match=r"^layer_type must be the name"):
        rope_frequencies({"head_dim": 8}, layer_type=layer_type)


# Noise: a config is any dict; the answer is finite or a sentence.

KEYS = (
    "head_dim", "hidden_size", "num_attention_heads", "rope_theta", "max_position_embeddings",
    "original_max_position_embeddings", "partial_rotary_factor", "rotary_pct", "rotary_dim",
    "rope_scaling", "rope_parameters", "model_type", "layer_types", "text_config", "no_rope_layers",
    "qk_rope_head_dim", "qk_nope_head_dim", "rope_local_base_freq", "rope_ratio", "alibi",
    "attn_config", "sliding_window", "sliding_window_pattern", "num_hidden_layers",
    "global_head_dim", "no_rope_layer_interval", "position_embedding_type", "full_attention",
)  # fmt: skip
SETTING_KEYS = (
    "rope_type", "type", "rope_theta", "factor", "original_max_position_embeddings", "beta_fast",
    "beta_slow", "truncate", "attention_factor", "attn_factor", "mscale", "mscale_all_dim",
    "low_freq_factor", "high_freq_factor", "short_factor", "long_factor", "alpha",
    "partial_rotary_factor", "mrope_section", "head_dim", "full_attention", "sliding_attention",
    "short_mscale", "long_mscale",
)  # fmt: skip
KINDS = ("gemma3_text", "gemma4", "phi3", "phimoe", "llama4", "exaone4", "olmo3", "modernbert",
         "mpt", "bloom", "roberta", "t5", "chatglm", "gptj", "unheard_of")  # fmt: skip
leaves = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 2, 4, 8, 64, 128, 1e4, 4096, 0.25, *ROPE_SCALINGS,
                     *KINDS, "su", "mrope", "full_attention", "LLLG", "", "nope", b"", 10**30]),
    st.floats(),
    st.integers(),
    st.text(max_size=3),
    st.lists(st.one_of(st.floats(), st.integers(), st.sampled_from(["full_attention", None])),
             max_size=5),
)  # fmt: skip
settings = st.dictionaries(
    st.one_of(st.sampled_from(SETTING_KEYS), st.text(max_size=2)),
    st.one_of(leaves, st.dictionaries(st.sampled_from(SETTING_KEYS), leaves, max_size=5)),
    max_size=8,
)
texts = st.dictionaries(
    st.one_of(st.sampled_from(KEYS), st.text(max_size=2)), st.one_of(leaves, settings), max_size=8
)
configs = st.one_of(
    texts, st.builds(lambda outer, inner: {**outer, "text_config": inner}, texts, texts)
)
# Mostly right, so that the noise reaches the formulas.
nearly = st.builds(
    lambda rope_type, noise, outside: {
        "head_dim": 8, "max_position_embeddings": 4096, **outside,
        "rope_parameters": {"rope_type": rope_type, "factor": 2.0, "rope_theta": 1e4,
                            "original_max_position_embeddings": 1024, "short_factor": [1.0] * 4,
                            "long_factor": [2.0] * 4, **noise},
    },
    st.sampled_from(sorted(ROPE_SCALINGS)),
    st.dictionaries(st.sampled_from(SETTING_KEYS), leaves, max_size=3),
    st.dictionaries(st.sampled_from(KEYS), leaves, max_size=2),
)  # fmt: skip


@given(made=st.one_of(configs, nearly), seq_len=st.none() | st.integers(-1, 10**7) | leaves,
       layer_type=st.sampled_from([None, "full_attention", "sliding_attention", "x"]))  # fmt: skip
@example(made={"head_dim": 2**31 - 2}, seq_len=None, layer_type=None)
@example(made={"head_dim": 8, "num_hidden_layers": 2**31 - 1}, seq_len=None, layer_type=None)
@example(made=config("longrope", 2, factor=1, original_max_position_embeddings=2,
                     short_factor=[1e-320], long_factor=[1.0]),
         seq_len=None, layer_type=None)  # fmt: skip
@example(made=config("yarn", 4, 1 + 2**-52, factor=1e308, original_max_position_embeddings=1),
         seq_len=None, layer_type=None)  # fmt: skip
def test_any_config_gives_finite_frequencies_or_a_sentence(made, seq_len, layer_type):
    try:
        inv_freq, attention_factor = rope_frequencies(made, seq_len=seq_len, layer_type=layer_type)
    except InvalidParameterError as wrong:
        assert "got" in str(wrong)
    else:
        assert np.isfinite(inv_freq).all()
        assert (inv_freq >= 0.0).all()
        assert math.isfinite(attention_factor)


@given(st.one_of(configs, nearly))
def test_any_config_is_read_or_refused_in_a_sentence(made):
    try:
        reading = read(made)
    except InvalidParameterError as wrong:
        assert "got" in str(wrong)
    else:
        hash(reading)
        assert bool(reading.rotary) == (reading.positional_encoding == "rope")


@given(st.one_of(configs, nearly))
def test_a_config_is_only_read(made):
    before = repr(made)
    with contextlib.suppress(InvalidParameterError):
        read(made)
    assert repr(made) == before


def test_the_public_names_are_there():
    for name in ("rope_frequencies", "read", "Reading", "Rotary"):
        assert hasattr(hf_config, name)
