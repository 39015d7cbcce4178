"""Every released model on record, written as a config.json and read: the meaning is its record.

A record that cannot be read, or whose number is not its source's, is named here and in
docs/decisions.md.
"""

import json
import math
from copy import deepcopy

import numpy as np
import pytest

from posviz import presets
from posviz.config_doctor import diagnose
from posviz.hf_config import read, rope_frequencies
from posviz.params import InvalidParameterError

# On record without its factor lists: the one record that its method refuses.
WITHOUT_LISTS = "Phi-3-mini-128k-instruct"
ALL = [name for name in presets.names() if name != WITHOUT_LISTS]
ROPE = [name for name in ALL if presets.record(name)["positional_encoding"] == "rope"]
LAYERED = [name for name in ROPE if "full_attention" in presets.record(name)["rope"]]
FLAT = [name for name in ROPE if name not in LAYERED]


def old_form(name):
    """The same model as files before transformers 5 write it."""
    made = presets.config(name)
    settings = made.pop("rope_parameters")
    settings["type"] = settings.pop("rope_type")
    made["rope_scaling"] = settings if len(settings) > 1 else None
    return made


def multimodal_form(name):
    return {"model_type": "any_vl", "vision_config": {}, "text_config": presets.config(name)}


FORMS = (presets.config, old_form, multimodal_form)


def test_every_record_is_there_and_names_its_source():
    assert len(presets.names()) == 84
    for name in presets.names():
        record = presets.record(name)
        assert record["source"]
        assert isinstance(record["verified"], bool)
        if record["source"].startswith(("from memory", "public copy")):
            assert not record["verified"]


@pytest.mark.parametrize("name", ALL)
def test_the_meaning_of_a_config_is_its_record(name):
    record, reading = presets.record(name), read(presets.config(name))
    assert reading.positional_encoding == record["positional_encoding"]
    assert reading.head_dim == record["head_dim"]
    assert reading.num_heads == record.get("num_attention_heads")
    assert reading.max_position_embeddings == record.get("max_position_embeddings")
    assert reading.sliding_window == record.get("sliding_window")
    assert reading.alibi_bias_max == record.get("alibi_bias_max")
    assert reading.alibi_scaled == record.get("alibi_scaled_by_inv_sqrt_head_dim", False)
    assert reading.num_buckets == record.get("relative_attention_num_buckets")
    assert reading.max_distance == record.get("relative_attention_max_distance")
    assert reading.position_offset == record.get("position_offset", 0)
    layout = record.get("layout")
    assert reading.layout == (layout and layout.split()[0])
    trained = record.get("original_max_position_embeddings")
    if trained is not None:
        assert reading.original_max_position_embeddings == trained
    assert not [each for each in diagnose(presets.config(name)) if each.level == "error"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", FLAT)
def test_the_rotation_of_a_config_is_its_record(name, form):
    record = presets.record(name)
    (rotary,) = read(form(name)).rotary
    assert rotary.layer_type is None
    assert rotary.rope.rotary_dim == record.get("rotary_dim", record["head_dim"])
    if "rope_theta" in record:
        assert rotary.rope.rope_theta == record["rope_theta"]
    assert rotary.rope_type == record["rope"]["rope_type"]
    for key, value in record["rope"].items():
        value = tuple(value) if isinstance(value, list) else value
        if key == "mrope_section":
            assert rotary.mrope_section == value
            assert sum(value) == rotary.rope.rotary_dim // 2
        elif key == "mrope_interleaved":
            assert rotary.mrope_interleaved == value
        elif key not in {"rope_type", "legacy_type", "attn_factor", "llama_4_scaling_beta"}:
            assert getattr(rotary.scaling, key) == value


@pytest.mark.parametrize("name", LAYERED)
def test_the_rotation_of_each_layer_type_is_its_record(name):
    record, made = presets.record(name), presets.config(name)
    assert {each.layer_type for each in read(made).rotary} == set(record["rope"])
    for rotary in read(made).rotary:
        own = record["rope"][rotary.layer_type]
        assert rotary.rope_type == own["rope_type"]
        assert rotary.rope.rope_theta == own["rope_theta"]
        assert rotary.head_dim == rotary.rope.rotary_dim == own.get("head_dim", record["head_dim"])
        for key, value in own.items():
            if key not in {"rope_type", "rope_theta", "head_dim"}:
                assert getattr(rotary.scaling, key) == value


@pytest.mark.parametrize("name", ROPE)
def test_every_record_has_frequencies(name):
    made = presets.config(name)
    for rotary in read(made).rotary:
        inv_freq, attention_factor = rope_frequencies(made, layer_type=rotary.layer_type)
        assert inv_freq.shape == (rotary.rope.rotary_dim // 2,)
        assert (np.diff(inv_freq) <= 0.0).all() or rotary.rope_type == "longrope"
        assert 1.0 <= attention_factor < 1.5


@pytest.mark.parametrize("name", ROPE)
def test_a_record_agrees_with_itself(name):
    record = presets.record(name)
    if "partial_rotary_factor" in record:
        share = record["partial_rotary_factor"]
        assert int(record["head_dim"] * share) == record["rotary_dim"]
    if "qk_rope_head_dim" in record:
        assert record["head_dim"] == record["qk_nope_head_dim"] + record["qk_rope_head_dim"]
    rope = record["rope"].get("full_attention", record["rope"])
    if rope["rope_type"] == "yarn":
        context, trained = (
            record["max_position_embeddings"],
            record["original_max_position_embeddings"],
        )
        assert context / trained == rope["factor"]


def test_the_softmax_scale_on_record_follows_from_its_config():
    record = presets.record("DeepSeek-V3 / R1 (671B)")
    rope = record["rope"]
    magnitude = 0.1 * rope["mscale_all_dim"] * math.log(rope["factor"]) + 1.0
    assert record["softmax_scale"] == pytest.approx(record["head_dim"] ** -0.5 * magnitude**2)


@pytest.mark.parametrize("name", ["Llama-4-Scout-17B-16E", "Llama-4-Maverick-17B-128E"])
def test_every_fourth_layer_of_llama_4_has_no_rope(name):
    reading = read({**presets.config(name), "num_hidden_layers": 8})
    assert reading.rope_layers == (True, True, True, False) * 2


def test_layer_types_follow_the_pattern_on_record():
    gemma = read({**presets.config("gemma-3-4b-it"), "num_hidden_layers": 6})
    assert gemma.layer_types == ("sliding_attention",) * 5 + ("full_attention",)
    exaone = read({**presets.config("EXAONE-4.0-32B"), "num_hidden_layers": 4})
    assert exaone.layer_types == ("sliding_attention",) * 3 + ("full_attention",)
    assert exaone.rope_layers == (True, True, True, False)
    oss = read({**presets.config("gpt-oss-20b"), "num_hidden_layers": 2})
    assert oss.layer_types == ("sliding_attention", "full_attention")
    bert = read({**presets.config("ModernBERT-base"), "num_hidden_layers": 4})
    assert bert.layer_types == (
        "full_attention", "sliding_attention", "sliding_attention", "full_attention",
    )  # fmt: skip


def test_the_factor_of_r1_s_qwen3_is_hugging_face_s_and_the_other_one_is_told():
    made = presets.config("DeepSeek-R1-0528-Qwen3-8B")
    assert rope_frequencies(made)[1] == pytest.approx(1.138629436111989)
    (only,) = diagnose(made)
    assert (only.level, only.key) == ("warning", "attn_factor")


def test_the_record_without_factor_lists_is_refused_and_reads_once_they_are_given():
    made = presets.config(WITHOUT_LISTS)
    with pytest.raises(InvalidParameterError, match=r"^short_factor must be given for longrope"):
        read(made)
    assert [each.key for each in diagnose(made) if each.level == "error"] == ["short_factor"]
    made["rope_parameters"] |= {"short_factor": [1.0] * 48, "long_factor": [2.0] * 48}
    reading = read(made)
    assert (reading.head_dim, reading.original_max_position_embeddings) == (96, 4096)
    assert rope_frequencies(made)[1] == pytest.approx(1.1902380714238083)


def test_the_record_without_a_base_reads_with_the_usual_one():
    name = "internlm3-8b-instruct"
    assert "rope_theta" not in presets.record(name)
    assert read(presets.config(name)).rotary[0].rope.rope_theta == 1e4
    assert presets.record(name)["note"] == "rope_theta not seen"


def test_a_record_is_a_copy():
    before = deepcopy(presets.record("Llama-3.1-8B-Instruct"))
    presets.record("Llama-3.1-8B-Instruct")["rope"]["factor"] = 1.0
    presets.config("Llama-3.1-8B-Instruct")["rope_parameters"]["factor"] = 1.0
    assert presets.record("Llama-3.1-8B-Instruct") == before


def test_a_config_can_be_written_as_json():
    for name in presets.names():
        assert json.loads(json.dumps(presets.config(name))) == presets.config(name)
