"""Scaling methods: inputs, meaning, numbers; then what must hold over the declared ranges."""

import json
import math
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, rope, rope_scaling
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import (
    ROPE_SCALINGS,
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    Yarn,
)

GOLDEN_DIR = Path(__file__).parent / "golden"
CASES = [
    case
    for case in json.loads((GOLDEN_DIR / "rope.json").read_text())
    if case["type"] in ROPE_SCALINGS
]
APPLY = json.loads((GOLDEN_DIR / "apply.json").read_text())
COS_SIN = json.loads((GOLDEN_DIR / "cos_sin.json").read_text())
YARN_RAMP = json.loads((GOLDEN_DIR / "yarn_ramp.json").read_text())
LONGROPE_SWITCH = json.loads((GOLDEN_DIR / "longrope_module_switch.json").read_text())
LONGROPE_VERSIONS = json.loads((GOLDEN_DIR / "hf_longrope_versions.json").read_text())
V3_ANGLES = json.loads((GOLDEN_DIR / "deepseek_v3_angles.json").read_text())
MODULE_STATE = json.loads((GOLDEN_DIR / "dynamic_module_state.json").read_text())
by_id = {"ids": lambda case: case["id"]}

dims = st.integers(2, int(params.HEAD_DIM.high) // 2).map(lambda i: 2 * i)
ropes = st.builds(RoPE, dims, st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high))
factors = st.floats(params.FACTOR.low, params.FACTOR.high)
lengths = st.integers(int(params.TRAINED_CONTEXT.low), int(params.TRAINED_CONTEXT.high))


def of_type(rope_type):
    return [case for case in CASES if case["type"] == rope_type]


def built(case):
    """The method a case describes, by the names of its fields, with defaults for the rest."""
    given_params = dict(case["params"])
    if given_params.get("factor", 1) is None:  # Hugging Face then takes the ratio of the contexts
        given_params["factor"] = (
            given_params["max_position_embeddings"]
            / given_params["original_max_position_embeddings"]
        )
    method = ROPE_SCALINGS[case["type"]]
    names = {field.name for field in fields(method)}
    rotary_dim = given_params.get("dim", given_params.get("head_dim"))
    plain = RoPE(rotary_dim, given_params["rope_theta"])
    return plain, method(**{k: v for k, v in given_params.items() if k in names})


# Inputs.


def test_vectors_are_all_there():
    counts = {rope_type: len(of_type(rope_type)) for rope_type in ROPE_SCALINGS}
    assert counts == {
        "default": 15,
        "linear": 6,
        "ntk": 5,
        "dynamic": 16,
        "yarn": 25,
        "llama3": 7,
        "longrope": 12,
        "proportional": 7,
    }


def test_every_method_is_listed_under_its_own_name():
    for rope_type, method in ROPE_SCALINGS.items():
        assert method.rope_type == rope_type
        assert method.depends_on_length == (rope_type in ("dynamic", "longrope"))


def test_a_method_is_made_from_the_settings_that_it_has():
    settings = {
        "factor": 8.0,
        "max_position_embeddings": 4096,
        "original_max_position_embeddings": 4096,
        "beta_fast": 16.0,
    }
    assert rope_scaling.scaling("default", **settings) == NoScaling()
    assert rope_scaling.scaling("linear", **settings) == Linear(8.0)
    assert rope_scaling.scaling("ntk", **settings) == Ntk(8.0)
    assert rope_scaling.scaling("dynamic", **settings) == DynamicNtk(8.0, 4096)
    assert rope_scaling.scaling("yarn", **settings) == Yarn(8.0, 4096, beta_fast=16.0)
    assert rope_scaling.scaling("llama3", **settings) == Llama3(8.0, 4096)
    assert rope_scaling.scaling("proportional", **settings) == Proportional(factor=8.0)
    lists = {"short_factor": [1.0, 2.0], "long_factor": [3.0, 4.0]}
    longrope = rope_scaling.scaling("longrope", **settings, **lists)
    assert longrope == LongRope((1.0, 2.0), (3.0, 4.0), 4096, 8.0, 4096)


@pytest.mark.parametrize(
    ("rope_type", "name"),
    [
        ("linear", "factor"),
        ("dynamic", "factor"),
        ("yarn", "factor"),
        ("llama3", "factor"),
        ("longrope", "short_factor"),
    ],
)
def test_a_method_without_what_it_needs_says_what_it_needs(rope_type, name):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be given for {rope_type}, got"):
        rope_scaling.scaling(rope_type, max_position_embeddings=4096)


@pytest.mark.parametrize("came", ["YARN", "su", "", None, True, 0], ids=str)
def test_an_unknown_method_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^rope_type must be one of default, linear"):
        rope_scaling.scaling(came, factor=8.0)


def test_defaults_are_those_the_vectors_were_made_with():
    assert Yarn(2, 4096) == Yarn(2, 4096, beta_fast=32, beta_slow=1, truncate=True)
    assert Yarn(2, 4096).attention_factor is None
    assert Yarn(2, 4096).ramp_over == "pairs"
    assert Proportional() == Proportional(partial_rotary_factor=1.0, factor=1.0)
    assert Llama3(2, 4096) == Llama3(2, 4096, low_freq_factor=1, high_freq_factor=4)


@pytest.mark.parametrize("case", CASES, **by_id)
def test_a_vector_is_for_the_method_that_is_built(case):
    plain, scaling = built(case)
    assert scaling.rope_type == case["type"]
    assert 2 * len(case["inv_freq"]) == plain.rotary_dim
    if case["type"] != "proportional" and "head_dim" in case["params"]:
        share = case["params"].get("partial_rotary_factor", 1.0)
        assert rope.rotary_dim(case["params"]["head_dim"], share) == plain.rotary_dim
    for field in fields(scaling):
        expected = case["params"].get(field.name)
        if expected is not None:
            expected = tuple(expected) if isinstance(expected, list) else expected
            assert getattr(scaling, field.name) == expected


# Meaning.


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["type"] not in ("longrope", "proportional")], **by_id
)
def test_scaled_frequencies_lie_between_divided_and_plain_ones(case):
    plain, scaling = built(case)
    scaled, attention_factor = scaling.frequencies(plain, case["params"].get("seq_len"))
    most = getattr(scaling, "factor", 1.0)
    if case["type"] == "dynamic":
        length = max(case["params"]["seq_len"] or 0, scaling.max_position_embeddings)
        most = most * length / scaling.max_position_embeddings - (most - 1)
    assert scaled.dtype == np.float64
    assert np.all(scaled <= plain.inv_freq * (1 + 1e-12))
    assert np.all(scaled >= plain.inv_freq / most * (1 - 1e-12))
    assert np.all(np.diff(scaled) < 0)
    assert attention_factor >= 1.0


@pytest.mark.parametrize("case", of_type("llama3"), **by_id)
def test_llama3_keeps_smooths_and_divides_as_many_pairs_as_released(case):
    plain, scaling = built(case)
    ramp = scaling.ramp(plain)
    counts = {
        "n_kept": int((ramp == 0).sum()),
        "n_divided": int((ramp == 1).sum()),
        "n_smoothed": int(((ramp > 0) & (ramp < 1)).sum()),
    }
    assert counts == {name: case["params"][name] for name in counts}
    scaled, _ = scaling.frequencies(plain)
    np.testing.assert_array_equal(scaled[ramp == 0], plain.inv_freq[ramp == 0])
    np.testing.assert_allclose(
        scaled[ramp == 1], plain.inv_freq[ramp == 1] / scaling.factor, rtol=1e-15
    )


@pytest.mark.parametrize("case", of_type("yarn"), **by_id)
def test_yarn_ramp_begins_and_ends_where_released(case):
    plain, scaling = built(case)
    low, high = scaling.correction_range(plain)
    expected_low, expected_high = case["params"]["corr_low"], case["params"]["corr_high"]
    assert low == pytest.approx(expected_low, rel=1e-12)
    step = 0.001 if expected_low == expected_high else 0.0  # guards a division by zero
    assert high == pytest.approx(expected_high + step, rel=1e-12)
    ramp = scaling.ramp(plain)
    index = np.arange(len(ramp))
    assert np.all(ramp[index <= low] == 0)
    assert np.all(ramp[index >= high] == 1)
    assert np.all(np.diff(ramp) >= 0)


@pytest.mark.parametrize("case", of_type("ntk"), **by_id)
def test_ntk_stretches_the_base_as_released(case):
    plain, scaling = built(case)
    scaled, _ = scaling.frequencies(plain)
    stretched = RoPE(plain.rotary_dim, case["params"]["new_base_f64"])
    np.testing.assert_allclose(scaled, stretched.inv_freq, rtol=1e-12)


@pytest.mark.parametrize("case", of_type("longrope"), **by_id)
def test_longrope_divides_each_pair_by_its_number_in_the_list_for_the_length(case):
    plain, scaling = built(case)
    scaled, attention_factor = scaling.frequencies(plain, case["params"]["seq_len"])
    in_use = getattr(scaling, f"{case['params']['uses']}_factor")
    np.testing.assert_allclose(plain.inv_freq / scaled, in_use, rtol=1e-12)
    microsofts = case["params"]["microsoft_mscale_su"]  # by the ratio, whatever the factor says
    if case["id"] not in ("longrope_factor_given", "longrope_attention_factor_given"):
        assert attention_factor == pytest.approx(microsofts, rel=1e-12)


@pytest.mark.parametrize("case", of_type("proportional"), **by_id)
def test_proportional_turns_a_share_of_the_pairs_and_stops_the_rest(case):
    plain, scaling = built(case)
    scaled, attention_factor = scaling.frequencies(plain)
    turning = np.count_nonzero(case["inv_freq"])
    assert np.count_nonzero(scaled) == turning
    np.testing.assert_array_equal(scaled[turning:], 0.0)
    np.testing.assert_allclose(
        scaled[:turning] * scaling.factor, plain.inv_freq[:turning], rtol=1e-14
    )
    assert attention_factor == 1.0
    assert np.all(rope.wavelength(scaled)[turning:] == math.inf)


# Numbers.


@pytest.mark.parametrize("case", CASES, **by_id)
def test_frequencies_and_attention_factor_are_the_references(case):
    plain, scaling = built(case)
    scaled, attention_factor = scaling.frequencies(plain, case["params"].get("seq_len"))
    np.testing.assert_allclose(scaled, case["inv_freq"], rtol=2e-6)
    assert attention_factor == pytest.approx(case["attention_factor"], rel=1e-12)


@pytest.mark.parametrize("case", YARN_RAMP, ids=lambda case: f"s{case['params']['factor']}")
def test_yarn_follows_released_code_and_not_the_papers_ramp(case):
    plain, scaling = built({"type": "yarn", **case})
    scaled, _ = scaling.frequencies(plain)
    np.testing.assert_allclose(scaled, case["code_inv_freq_f64"], rtol=1e-12)
    paper = np.array(case["paper_eq20_inv_freq_f64"])
    gap = np.max(np.abs(scaled - paper) / np.minimum(scaled, paper))
    other_gap = np.max(np.abs(scaled - paper) / np.maximum(scaled, paper))
    assert case["max_rel_gap"] == pytest.approx(gap) or case["max_rel_gap"] == pytest.approx(
        other_gap
    )


@pytest.mark.parametrize("case", YARN_RAMP, ids=lambda case: f"s{case['params']['factor']}")
def test_the_papers_yarn_ramp_is_llama3s_ramp_with_yarns_betas(case):
    plain, yarn = built({"type": "yarn", **case})
    by_parts = Llama3(yarn.factor, yarn.original_max_position_embeddings, 1.0, 32.0)
    scaled, _ = by_parts.frequencies(plain)
    np.testing.assert_allclose(scaled, case["paper_eq20_inv_freq_f64"], rtol=1e-12)


@pytest.mark.parametrize("case", COS_SIN, ids=lambda case: case["name"])
def test_cos_and_sin_at_chosen_positions_are_hugging_faces(case):
    config = {"dim": case["head_dim"], **case["rope_parameters"]}
    plain, scaling = built({"type": config["rope_type"], "params": config})
    scaled, attention_factor = scaling.frequencies(plain)
    assert attention_factor == pytest.approx(case["attention_scaling"], rel=1e-12)

    # The reference's own float32 frequencies: at position 131071 the seventh digit is an angle.
    vector = next(
        golden["inv_freq"]
        for golden in CASES
        if golden["type"] == config["rope_type"]
        and np.allclose(golden["inv_freq"][-1], scaled[-1], rtol=2e-6)
        and len(golden["inv_freq"]) == len(scaled)
    )
    float32 = np.array(vector, dtype=np.float32).astype(np.float64)
    np.testing.assert_allclose(scaled, float32, rtol=2e-6)

    half = len(scaled)
    for row, position in enumerate(case["positions"]):
        for column, dimension in enumerate(case["columns"]):
            pair = dimension % half  # column j and j + dim / 2 are equal
            unit = np.zeros(2 * half)
            unit[pair] = attention_factor
            rotated = rope.rotate(unit, position, float32)
            cos, sin = rotated[pair], rotated[pair + half]
            exact = case["cos_f64_from_f32_inv_freq"][row][column]
            assert cos == pytest.approx(exact, rel=1e-12, abs=1e-12)
            # Hugging Face multiplies position and frequency in float32.
            room = 2e-6 + position * float32[pair] * 2**-23
            assert cos == pytest.approx(case["cos"][row][column], abs=room)
            assert sin == pytest.approx(case["sin"][row][column], abs=room)


@pytest.mark.parametrize("case", YARN_RAMP, ids=lambda case: f"s{case['params']['factor']}")
def test_yarn_over_turns_is_the_papers(case):
    plain, code = built({"type": "yarn", **case})
    paper = replace(code, ramp_over="turns")
    scaled, attention_factor = paper.frequencies(plain)
    np.testing.assert_allclose(scaled, case["paper_eq20_inv_freq_f64"], rtol=1e-12)
    assert attention_factor == code.frequencies(plain)[1]


def test_yarn_is_deepseeks_own_code():
    plain, yarn = RoPE(64), Yarn(40.0, 4096, mscale=1.0, mscale_all_dim=1.0)
    np.testing.assert_allclose(yarn.frequencies(plain)[0], V3_ANGLES["angle_pos1"], rtol=2e-6)


def test_longrope_switches_by_the_length_in_use_as_the_module_does():
    case = next(c for c in CASES if c["id"] == "longrope_Phi-3.5-mini_q4096")
    plain, scaling = built(case)
    calls = LONGROPE_SWITCH["calls_in_order"]
    assert [call["forward_len"] for call in calls] == [4096, 4097, 100]
    for call in calls:
        scaled, attention_factor = scaling.frequencies(plain, call["forward_len"])
        assert scaled[-1] == pytest.approx(call["inv_freq_last"], rel=2e-6)
        assert attention_factor == pytest.approx(LONGROPE_SWITCH["attention_scaling"], rel=1e-12)


def test_longrope_follows_the_newest_hugging_face_where_versions_differ():
    factors, lists = LONGROPE_VERSIONS
    case = next(c for c in CASES if c["id"] == "longrope_factor_given")
    plain, scaling = built(case)
    assert scaling.factor == 4.0
    ours = scaling.frequencies(plain, 5000)[1]
    assert ours == pytest.approx(factors["5.24.0 (factor 4 wins)"], rel=1e-12)
    by_ratio = replace(scaling, factor=None).frequencies(plain, 5000)[1]
    assert by_ratio == pytest.approx(factors["4.57.3 (ratio 32 wins)"], rel=1e-12)
    short = scaling.frequencies(plain, 100)[0]
    np.testing.assert_allclose(short, lists["4.57.3_inv_freq"], rtol=2e-6)
    long = scaling.frequencies(plain, 4097)[0]
    np.testing.assert_allclose(long, lists["4.44.2_inv_freq"], rtol=2e-6)


def test_dynamic_frequencies_depend_on_the_length_alone():
    """Hugging Face's module keeps the base of 32 tokens when 20 follow; a formula does not."""
    plain = RoPE(MODULE_STATE["head_dim"])
    scaling = DynamicNtk(MODULE_STATE["factor"], MODULE_STATE["max_position_embeddings"])
    calls = MODULE_STATE["calls_in_order"]
    assert [call["forward_len"] for call in calls] == [8, 16, 17, 32, 20, 8]
    for index, call in enumerate(calls):
        scaled, _ = scaling.frequencies(plain, call["forward_len"])
        agrees = np.allclose(scaled, call["inv_freq_after"], rtol=2e-6, atol=0)
        assert agrees == (index != 4), "only the 20 tokens after 32 are the module's state"


# Properties over the declared ranges.


def every_method(factor, trained, pairs=64):
    return [
        NoScaling(),
        Linear(factor),
        Ntk(factor),
        DynamicNtk(factor, trained),
        Yarn(factor, trained),
        Yarn(factor, trained, ramp_over="turns"),
        Llama3(factor, trained),
        LongRope((1.0,) * pairs, (factor,) * pairs, trained, factor),
        Proportional(1.0, factor),
    ]


@given(ropes, lengths)
def test_factor_one_changes_nothing(plain, trained):
    methods = every_method(1.0, trained, plain.rotary_dim // 2)
    assert {method.rope_type for method in methods} == set(ROPE_SCALINGS)
    for scaling in methods:
        scaled, attention_factor = scaling.frequencies(plain, trained)
        np.testing.assert_allclose(scaled, plain.inv_freq, rtol=1e-14)
        assert attention_factor == 1.0


def test_factor_one_does_change_what_has_other_settings():
    plain = RoPE(8)
    lists = LongRope((1.0, 1.1, 1.2, 1.3), (2.0, 3.0, 4.0, 5.0), 4096, 1.0)
    np.testing.assert_allclose(
        plain.inv_freq / lists.frequencies(plain, 4096)[0], lists.short_factor
    )
    assert lists.frequencies(plain)[1] == 1.0
    np.testing.assert_array_equal(Proportional(0.5).frequencies(plain)[0], [1.0, 0.1, 0.0, 0.0])
    assert np.all(DynamicNtk(1.0, 16).frequencies(plain, 32)[0][1:] < plain.inv_freq[1:])
    assert Yarn(1.0, 4096, attention_factor=1.5).frequencies(plain)[1] == 1.5


@given(ropes, factors, lengths)
def test_frequencies_of_static_methods_lie_between_divided_and_plain(plain, factor, trained):
    for scaling in every_method(factor, trained, plain.rotary_dim // 2):
        if scaling.depends_on_length:
            continue
        scaled, attention_factor = scaling.frequencies(plain)
        assert scaled.shape == (plain.rotary_dim // 2,)
        assert np.all(scaled <= plain.inv_freq * (1 + 1e-12))
        assert np.all(scaled >= plain.inv_freq / factor * (1 - 1e-12))
        assert attention_factor >= 1.0


@given(ropes, factors, lengths, st.integers(1, 10_000_000))
def test_static_methods_do_not_look_at_the_length(plain, factor, trained, seq_len):
    for scaling in every_method(factor, trained, plain.rotary_dim // 2):
        if not scaling.depends_on_length:
            without, with_length = scaling.frequencies(plain), scaling.frequencies(plain, seq_len)
            np.testing.assert_array_equal(without[0], with_length[0])
            assert without[1] == with_length[1]


@given(ropes, factors)
def test_linear_divides_every_pair_alike(plain, factor):
    scaled, attention_factor = Linear(factor).frequencies(plain)
    np.testing.assert_allclose(scaled * factor, plain.inv_freq, rtol=1e-14)
    assert attention_factor == 1.0


@given(ropes, factors)
def test_ntk_keeps_the_fastest_pair_and_divides_the_slowest(plain, factor):
    scaled, attention_factor = Ntk(factor).frequencies(plain)
    assert scaled[0] == 1.0
    assert scaled[-1] == pytest.approx(plain.inv_freq[-1] / factor, rel=1e-12)
    i = np.arange(len(scaled))
    expected = plain.inv_freq * factor ** (-2 * i / (plain.rotary_dim - 2))
    np.testing.assert_allclose(scaled, expected, rtol=1e-12)
    assert attention_factor == 1.0


@given(ropes, factors, lengths, st.floats(0, 1))
def test_dynamic_is_plain_up_to_the_trained_context(plain, factor, trained, share):
    scaling = DynamicNtk(factor, trained)
    for seq_len in (None, 1, max(1, int(share * trained)), trained):
        scaled, _ = scaling.frequencies(plain, seq_len)
        np.testing.assert_allclose(scaled, plain.inv_freq, rtol=1e-12)


@given(ropes, factors, lengths, st.floats(1, 64))
def test_dynamic_slows_the_slowest_pair_by_the_growth(plain, factor, trained, times):
    seq_len = math.ceil(times * trained)
    scaled, _ = DynamicNtk(factor, trained).frequencies(plain, seq_len)
    growth = factor * seq_len / trained - (factor - 1)
    assert scaled[0] == 1.0
    assert plain.inv_freq[-1] / scaled[-1] == pytest.approx(growth, rel=1e-9)


@given(ropes, lengths, st.floats(1, 64))
def test_dynamic_of_factor_one_is_ntk_by_the_ratio_of_lengths(plain, trained, times):
    seq_len = math.ceil(times * trained)
    dynamic, _ = DynamicNtk(1.0, trained).frequencies(plain, seq_len)
    ntk, _ = Ntk(seq_len / trained).frequencies(plain)
    np.testing.assert_allclose(dynamic, ntk, rtol=1e-12)


@given(ropes, factors, lengths, st.booleans())
def test_yarn_keeps_fast_pairs_and_divides_slow_ones(plain, factor, trained, truncate):
    scaling = Yarn(factor, trained, truncate=truncate)
    low, high = scaling.correction_range(plain)
    if (
        low > high
    ):  # a base so small that every pair turns often: the reference's ramp runs backwards
        return
    turns = rope.turns(plain.inv_freq, trained)
    ramp = scaling.ramp(plain)
    assert np.all(np.diff(ramp) >= 0)
    if truncate or low + 0.001 != high:
        assert np.all(ramp[turns > 32 * (1 + 1e-9)][: int(low) + 1] == 0)
    scaled, _ = scaling.frequencies(plain)
    np.testing.assert_array_equal(scaled[ramp == 0], plain.inv_freq[ramp == 0])
    np.testing.assert_allclose(scaled[ramp == 1], plain.inv_freq[ramp == 1] / factor, rtol=1e-14)


@given(ropes, factors)
def test_yarn_attention_factor_is_the_papers_equation_22(plain, factor):
    _, attention_factor = Yarn(factor, 4096).frequencies(plain)
    assert attention_factor == pytest.approx(0.1 * math.log(factor) + 1, rel=1e-14)


@given(ropes, factors, lengths, st.floats(0.1, 8), st.floats(0, 8))
def test_llama3_keeps_many_turns_and_divides_few(plain, factor, trained, low, more):
    scaling = Llama3(factor, trained, low, low + more)
    turns = rope.turns(plain.inv_freq, trained)
    scaled, attention_factor = scaling.frequencies(plain)
    kept, divided = turns > (low + more) * (1 + 1e-9), turns < low * (1 - 1e-9)
    np.testing.assert_allclose(scaled[kept], plain.inv_freq[kept], rtol=1e-15)
    np.testing.assert_allclose(scaled[divided], plain.inv_freq[divided] / factor, rtol=1e-14)
    assert np.all(np.diff(scaling.ramp(plain)) >= 0)
    assert attention_factor == 1.0


@given(ropes, factors, lengths)
def test_yarn_over_turns_is_llama3_with_yarns_betas_and_a_larger_attention(plain, factor, trained):
    paper, attention_factor = Yarn(factor, trained, ramp_over="turns").frequencies(plain)
    by_parts, _ = Llama3(factor, trained, 1.0, 32.0).frequencies(plain)
    np.testing.assert_array_equal(paper, by_parts)
    assert attention_factor == pytest.approx(rope_scaling.yarn_mscale(factor))


@given(ropes, lengths, st.data())
def test_longrope_takes_the_short_list_up_to_and_with_the_trained_context(plain, trained, data):
    pairs = plain.rotary_dim // 2
    divisors = st.lists(st.floats(0.5, 100.0), min_size=pairs, max_size=pairs)
    short, long = data.draw(divisors), data.draw(divisors)
    most = data.draw(st.integers(1, 64)) * trained
    scaling = LongRope(short, long, trained, max_position_embeddings=most)
    sizes = set()
    for seq_len in (None, 1, trained):
        scaled, size = scaling.frequencies(plain, seq_len)
        np.testing.assert_allclose(scaled * short, plain.inv_freq, rtol=1e-14)
        sizes.add(size)
    for seq_len in (trained + 1, most + 1):
        scaled, size = scaling.frequencies(plain, seq_len)
        np.testing.assert_allclose(scaled * long, plain.inv_freq, rtol=1e-14)
        sizes.add(size)
    expected = math.sqrt(1 + math.log(most / trained) / math.log(trained))
    assert len(sizes) == 1, "the same for both lists"
    assert sizes.pop() == pytest.approx(expected, rel=1e-14)


@given(ropes, st.floats(0, 1), factors)
def test_proportional_keeps_the_fast_pairs_of_the_whole_head(plain, share, factor):
    scaled, attention_factor = Proportional(share, factor).frequencies(plain)
    turning = int(share * plain.rotary_dim // 2)
    assert scaled.shape == plain.inv_freq.shape
    np.testing.assert_allclose(scaled[:turning] * factor, plain.inv_freq[:turning], rtol=1e-14)
    np.testing.assert_array_equal(scaled[turning:], 0.0)
    assert attention_factor == 1.0


@given(dims)
def test_proportional_of_no_share_is_no_position_and_of_the_whole_is_plain(dim):
    plain = RoPE(dim)
    np.testing.assert_array_equal(Proportional(0.0).frequencies(plain)[0], 0.0)
    np.testing.assert_array_equal(Proportional(1.0).frequencies(plain)[0], plain.inv_freq)


# Effect on each pair.


@given(ropes, factors, lengths, st.floats(1, 16))
def test_an_effect_agrees_with_itself(plain, factor, trained, times):
    seq_len = math.ceil(times * trained)
    for scaling in every_method(factor, trained, plain.rotary_dim // 2):
        effect = rope_scaling.effect(scaling, plain, seq_len)
        scaled, _ = scaling.frequencies(plain, seq_len)
        np.testing.assert_allclose(effect.ratio * scaled, plain.inv_freq, rtol=1e-14)
        np.testing.assert_array_equal(effect.wavelength_before, rope.wavelength(plain.inv_freq))
        np.testing.assert_array_equal(effect.wavelength_after, rope.wavelength(scaled))
        stretch = scaling.stretch(seq_len)
        assert np.all(effect.ratio >= 1 - 1e-12)
        assert np.all(effect.ratio <= stretch * (1 + 1e-12))
        for kind, ratio in zip(effect.kind, effect.ratio, strict=True):
            if kind == "kept":
                assert ratio == pytest.approx(1, rel=1e-11)
            elif kind == "stretched":
                assert ratio == pytest.approx(stretch, rel=1e-11)
            else:
                assert kind == "blended"
                assert 1 < ratio < stretch


@pytest.mark.parametrize("case", of_type("llama3"), **by_id)
def test_an_effect_counts_llama3s_pairs_as_released(case):
    plain, scaling = built(case)
    kind = rope_scaling.effect(scaling, plain).kind.tolist()
    counts = {"n_kept": "kept", "n_divided": "stretched", "n_smoothed": "blended"}
    assert {name: kind.count(its) for name, its in counts.items()} == {
        name: case["params"][name] for name in counts
    }


@pytest.mark.parametrize("case", of_type("yarn"), **by_id)
def test_an_effect_of_yarn_goes_by_its_ramp(case):
    plain, scaling = built(case)
    ramp, kind = scaling.ramp(plain), rope_scaling.effect(scaling, plain).kind
    if scaling.factor == 1.0:
        assert set(kind) == {"kept"}
        return
    np.testing.assert_array_equal(kind == "kept", ramp == 0)
    np.testing.assert_array_equal(kind == "stretched", ramp == 1)


@given(ropes, factors)
def test_an_effect_of_ntk_keeps_the_first_pair_and_stretches_the_last(plain, factor):
    kind = rope_scaling.effect(Ntk(factor), plain).kind.tolist()
    if factor > 1.001:
        assert kind == ["kept", *["blended"] * (len(kind) - 2), "stretched"]
    assert set(rope_scaling.effect(Ntk(1.0), plain).kind) == {"kept"}


def test_an_effect_of_dynamic_ntk_goes_by_the_growth_at_the_length():
    effect = rope_scaling.effect(DynamicNtk(4.0, 4096), RoPE(8), 8192)
    assert effect.kind.tolist() == ["kept", "blended", "blended", "stretched"]
    assert effect.ratio[-1] == pytest.approx(5.0)
    assert set(rope_scaling.effect(DynamicNtk(4.0, 4096), RoPE(8), 4096).kind) == {"kept"}
    assert set(rope_scaling.effect(DynamicNtk(4.0, 4096), RoPE(8)).kind) == {"kept"}


def test_an_effect_of_longrope_compares_each_divisor_with_the_whole_ratio():
    scaling = LongRope((1.0,) * 5, (1.0, 2.0, 8.0, 9.0, 0.5), 4096, 8.0)
    long = rope_scaling.effect(scaling, RoPE(10), 4097)
    assert long.kind.tolist() == ["kept", "blended", "stretched", "stretched", "blended"]
    assert set(rope_scaling.effect(scaling, RoPE(10), 4096).kind) == {"kept"}
    unknown = replace(scaling, factor=None, attention_factor=1.0)
    assert rope_scaling.effect(unknown, RoPE(10), 4097).kind.tolist() == [
        "kept", "blended", "blended", "stretched", "blended",
    ]  # fmt: skip


def test_an_effect_of_a_stopped_pair_is_infinite():
    effect = rope_scaling.effect(Proportional(0.5), RoPE(8))
    assert effect.kind.tolist() == ["kept", "kept", "stretched", "stretched"]
    np.testing.assert_array_equal(effect.ratio, [1.0, 1.0, math.inf, math.inf])
    np.testing.assert_array_equal(effect.wavelength_after[2:], math.inf)
    slowed = rope_scaling.effect(Proportional(0.5, 4.0), RoPE(8))
    assert set(slowed.kind) == {"stretched"}


# Public bug reports.

LLAMA = RoPE(128)  # base 10,000
DEEPSEEK = RoPE(64)


def base_of(frequencies):
    """The base that plain frequencies were made with, from the slowest pair."""
    d = 2 * len(frequencies)
    return frequencies[-1] ** (-d / (d - 2))


def test_dynamic_base_grows_with_the_length_instead_of_staying_at_its_largest():
    """vllm#41236, vllm#5093: 30527.74 at every length."""
    scaling = DynamicNtk(2.0, 2048)
    assert base_of(scaling.frequencies(LLAMA, 2048)[0]) == pytest.approx(10_000.0, rel=1e-9)
    assert base_of(scaling.frequencies(LLAMA, 1)[0]) == pytest.approx(10_000.0, rel=1e-9)
    assert base_of(scaling.frequencies(LLAMA, 4096)[0]) == pytest.approx(30527.7367, rel=1e-7)
    longer, _ = DynamicNtk(4.0, 4096).frequencies(LLAMA, 8192)
    assert LLAMA.inv_freq[-1] / longer[-1] == pytest.approx(5.0, rel=1e-9), "not 13"


def test_dynamic_extends_at_all_although_a_fix_dropped_the_inner_factor():
    """vllm PR #41301: the base stayed 10,000 at 4096 tokens."""
    scaled, _ = DynamicNtk(2.0, 2048).frequencies(LLAMA, 4096)
    assert base_of(scaled) == pytest.approx(30527.7367, rel=1e-7)


def test_dynamic_uses_the_given_factor_and_leaves_positions_alone():
    """mlx-lm#1545: InternLM2 took factor 2 and doubled every position."""
    scaled, _ = DynamicNtk(6.0, 32768).frequencies(LLAMA, 65536)
    assert base_of(scaled) / 10_000 == pytest.approx(7.219586, rel=1e-6)
    assert scaled[0] == 1.0, "positions are not scaled"


def test_dynamic_below_the_trained_context_has_no_negative_base():
    """vllm#52665: factor * l / L - (factor - 1) is negative for a short served length."""
    scaled, _ = DynamicNtk(8.0, 4096).frequencies(LLAMA, 512)
    np.testing.assert_allclose(scaled, LLAMA.inv_freq, rtol=1e-12)


def test_yarn_keeps_fast_pairs_at_the_plain_base_not_at_ntks():
    """paiml/aprender PR #2161."""
    scaled, _ = Yarn(16.0, 4096).frequencies(LLAMA)
    assert scaled[10] == pytest.approx(0.2371374, rel=1e-6)


def test_yarn_upper_end_is_clamped_to_the_last_dimension_not_the_last_pair():
    """keras-hub PR #2981, minimind#602."""
    scaling = Yarn(4.0, 131072)
    assert scaling.correction_range(DEEPSEEK)[1] == 35
    assert scaling.frequencies(DEEPSEEK)[0][-1] == pytest.approx(6.411161e-05, rel=1e-6)
    assert scaling.correction_range(LLAMA)[1] == 70
    raw = Yarn(4.0, 131072, truncate=False).correction_range(DEEPSEEK)[1]
    assert raw == pytest.approx(34.5546, abs=1e-4)


def test_the_factor_divides_the_frequency_and_stays_out_of_the_exponent():
    """apache/tvm PR #18576: 1 / (factor * theta)**(2i / d)."""
    gpt_oss = RoPE(64, 150_000.0)
    divided, _ = Linear(32.0).frequencies(gpt_oss)
    assert divided[0] == 0.03125
    assert divided[31] == pytest.approx(3.0235114e-07, rel=1e-6)
    yarn, _ = Yarn(32.0, 4096, truncate=False).frequencies(gpt_oss)
    assert yarn[31] == pytest.approx(3.0235114e-07, rel=1e-6)


def test_yarn_ramp_may_begin_at_pair_zero():
    """pytorch/torchtitan PR #4215: `assert 0 < low`."""
    scaling = Yarn(4.0, 128)
    assert scaling.correction_range(DEEPSEEK) == (0, 11)
    assert scaling.frequencies(DEEPSEEK)[0][-1] == pytest.approx(3.3338038e-05, rel=1e-6)


def test_yarn_mscales_of_one_cancel_as_in_hugging_face():
    """exllamav3#259 keeps 0.1 ln s + 1, vllm#48621 says 1: Hugging Face has 1."""
    _, attention_factor = Yarn(16.0, 16384, mscale=1.0, mscale_all_dim=1.0).frequencies(LLAMA)
    assert attention_factor == 1.0


def test_yarn_explicit_attention_factor_wins():
    """mlx-lm PR #1507, vllm PR #48351: ignored. Olmo-3's equals the default and hides it."""
    explicit = Yarn(16.0, 4096, attention_factor=1.0, mscale=1.0, mscale_all_dim=0.5)
    assert explicit.frequencies(LLAMA)[1] == 1.0
    assert Yarn(16.0, 4096).frequencies(LLAMA)[1] == pytest.approx(1.2772589, rel=1e-6)


def test_yarn_explicit_attention_factor_replaces_and_does_not_multiply():
    """sglang PR #33558: 1.4852030 squared."""
    given_factor = 0.1 * math.log(128) + 1
    _, attention_factor = Yarn(128.0, 8192, attention_factor=given_factor).frequencies(DEEPSEEK)
    assert attention_factor == pytest.approx(1.4852030, rel=1e-6)


@pytest.mark.parametrize(("factor", "right"), [(64.0, 1.4158883), (32.0, 1.3465736)])
def test_yarn_attention_factor_is_computed_once(factor, right):
    """TensorRT-LLM PR #16379: the result went through 0.1 ln s + 1 again, +12 %."""
    assert Yarn(factor, 4096).frequencies(LLAMA)[1] == pytest.approx(right, rel=1e-7)


def test_yarn_of_deepseek_v2_leaves_cos_and_sin_at_their_size():
    """llama.cpp#7118: 1.3688879 instead of the ratio of equal mscales."""
    scaling = Yarn(40.0, 4096, mscale=0.707, mscale_all_dim=0.707)
    assert scaling.frequencies(DEEPSEEK)[1] == 1.0


def test_yarn_ignores_a_lone_mscale_as_hugging_face_does():
    """vLLM's and mlx's DeepSeek code honour it: 1.2608."""
    for scaling in (
        Yarn(40.0, 4096, mscale=0.707),
        Yarn(40.0, 4096, mscale_all_dim=0.707),
        Yarn(40.0, 4096, mscale=1.0, mscale_all_dim=0.0),
        Yarn(40.0, 4096, mscale=0.707, mscale_all_dim=0.0),
        Yarn(40.0, 4096, mscale=0.0, mscale_all_dim=0.707),
    ):
        assert scaling.frequencies(DEEPSEEK)[1] == pytest.approx(1.3688879, rel=1e-7)


def test_yarn_of_equal_betas_is_a_step_and_no_division_by_zero():
    """Kimi-K2 has beta_fast = beta_slow = 1."""
    ramp = Yarn(8.0, 4096, beta_fast=4.0, beta_slow=4.0, truncate=False).ramp(DEEPSEEK)
    np.testing.assert_array_equal(ramp, np.arange(32) >= 18)


def test_llama3_returns_the_scaled_frequencies_not_the_plain_ones():
    """HF PR #32330."""
    scaled, _ = Llama3(8.0, 8192, 1.0, 4.0).frequencies(RoPE(128, 500_000.0))
    assert scaled[-1] == pytest.approx(3.068926e-07, rel=1e-6)


def test_llama4_scout_step_is_no_division_by_zero():
    scaling = Llama3(16.0, 8192, low_freq_factor=1.0, high_freq_factor=1.0)
    assert set(scaling.ramp(RoPE(128, 500_000.0)).tolist()) == {0.0, 1.0}


def test_longrope_at_exactly_the_trained_context_is_short():
    """unsloth PR #10681: `<` for `<=`."""
    plain, scaling = built(next(c for c in CASES if c["id"] == "longrope_Phi-3.5-mini_q4096"))
    assert scaling.frequencies(plain, 4096)[0][47] == pytest.approx(4.2659427e-05, rel=2e-6)
    assert scaling.frequencies(plain, 4097)[0][47] == pytest.approx(1.8684879e-06, rel=2e-6)


def test_longrope_of_a_long_first_prompt_is_long():
    """llama.cpp#6849: the length was the cache's, 0 at a first prompt of 5000 tokens."""
    plain, scaling = built(next(c for c in CASES if c["id"] == "longrope_Phi-3.5-mini_q4096"))
    prompt = scaling.frequencies(plain, 5000)[0]
    np.testing.assert_array_equal(prompt, scaling.frequencies(plain, 4097)[0])
    assert not np.allclose(prompt, scaling.frequencies(plain, 4096)[0])


def test_longrope_enlarges_short_sequences_too():
    """The attention factor does not wait for the long list."""
    plain, scaling = built(next(c for c in CASES if c["id"] == "longrope_Phi-4-mini_q4096"))
    assert scaling.frequencies(plain, 1)[1] == pytest.approx(1.1902380714238083, rel=1e-12)


def test_proportional_is_not_partial():
    """apple/coreai-models#66: the other denominator and the other partner."""
    plain = RoPE(512, 1e6)
    scaled, _ = Proportional(0.25).frequencies(plain)
    assert scaled[1] == pytest.approx(0.9474635, rel=1e-6)
    np.testing.assert_array_equal(scaled[64:], 0.0)
    unit = np.zeros(512)
    unit[0] = 1.0
    np.testing.assert_array_equal(np.flatnonzero(rope.rotate(unit, 1, scaled)), [0, 256])


@pytest.mark.parametrize(
    ("factor", "mscale", "right"),
    [(40.0, 1.0, 1.3688879454113936), (40.0, 0.707, 1.2608037774058554), (0.5, 1.0, 1.0)],
)
def test_yarn_mscale_is_a_tenth_of_the_logarithm_and_never_below_one(factor, mscale, right):
    """HF 4.44.2 went below 1 for factors below 1."""
    assert rope_scaling.yarn_mscale(factor, mscale) == pytest.approx(right, rel=1e-12)


# Errors.

short = {"ids": lambda came: str(came)[:6]}
NOT_A_NUMBER = [math.nan, math.inf, -math.inf, 10**400, "8", None, True, [8], 8j]
NOT_A_FACTOR = [0, -8.0, 0.999, *NOT_A_NUMBER]
NOT_A_LENGTH = [0, -1, 2.5, 10**18, *NOT_A_NUMBER]
OPTIONAL = [came for came in NOT_A_NUMBER if came is not None]
WITH_FACTOR = [
    Linear,
    Ntk,
    lambda factor: DynamicNtk(factor, 4096),
    lambda factor: Yarn(factor, 4096),
    lambda factor: Llama3(factor, 4096),
    lambda factor: Proportional(factor=factor),
]


@pytest.mark.parametrize("came", NOT_A_FACTOR, **short)
def test_a_factor_below_one_or_no_number_is_refused(came):
    for method in WITH_FACTOR:
        with pytest.raises(InvalidParameterError, match=r"^factor must be .* got "):
            method(came)


@pytest.mark.parametrize("came", [0, -8.0, 0.999, *OPTIONAL], **short)
def test_a_longrope_factor_below_one_or_no_number_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^factor must be .* got "):
        LongRope((1.0,), (1.0,), 4096, came)


@pytest.mark.parametrize("name", ["short_factor", "long_factor"])
@pytest.mark.parametrize(
    "came",
    [None, 1.0, "1", [], [[1.0]], [0.0], [-1.0], [math.nan], [math.inf], ["1"], [True], [1e-9],
     [1e9], [10**400], [1.0, None]],
    ids=lambda came: str(came)[:6],
)  # fmt: skip
def test_divisors_that_are_none_are_refused(name, came):
    lists = {"short_factor": (1.0,), "long_factor": (1.0,), name: came}
    with pytest.raises(InvalidParameterError, match=rf"^{name} must be .* got "):
        LongRope(**lists, original_max_position_embeddings=4096, factor=2.0)


@pytest.mark.parametrize("seq_len", [None, 1, 5000])
def test_divisors_of_another_number_of_pairs_are_refused_at_every_length(seq_len):
    for lists, name in ((((1.0,) * 3, (1.0,) * 4), "short"), (((1.0,) * 4, (1.0,) * 8), "long")):
        with pytest.raises(
            InvalidParameterError,
            match=rf"^{name}_factor must have one number per pair, 4 here, got [38]$",
        ):
            LongRope(*lists, 4096, 2.0).frequencies(RoPE(8), seq_len)


def test_divisors_may_come_as_a_list_or_an_array():
    scaling = LongRope([1, 2], np.array([3.0, 4.0]), 4096, 2.0)
    assert scaling == LongRope((1.0, 2.0), (3.0, 4.0), 4096, 2.0)
    assert hash(scaling)


def test_longrope_without_anything_to_size_its_vectors_by_is_refused():
    with pytest.raises(InvalidParameterError, match=r"^factor must be given, or .*, got none"):
        LongRope((1.0,), (1.0,), 4096)
    assert LongRope((1.0,), (1.0,), 4096, attention_factor=1.2).frequencies(RoPE(2))[1] == 1.2


def test_longrope_of_no_longer_context_leaves_vectors_at_their_size():
    for most in (1, 2048, 4096):
        scaling = LongRope((1.0,), (1.0,), 4096, max_position_embeddings=most)
        assert scaling.frequencies(RoPE(2))[1] == 1.0


@pytest.mark.parametrize("came", [1, *[c for c in [0, -1, 2.5, 10**18, math.nan, "8", True]]])
def test_longrope_contexts_that_are_none_are_refused(came):
    with pytest.raises(
        InvalidParameterError, match=r"^original_max_position_embeddings must be .* got "
    ):
        LongRope((1.0,), (1.0,), came, 2.0)
    if came != 1 or came is True:
        with pytest.raises(
            InvalidParameterError, match=r"^max_position_embeddings must be .* got "
        ):
            LongRope((1.0,), (1.0,), 4096, max_position_embeddings=came)


@pytest.mark.parametrize("came", [-0.1, 1.1, *NOT_A_NUMBER], **short)
def test_a_share_of_pairs_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^partial_rotary_factor must be .* got "):
        Proportional(came)


@pytest.mark.parametrize("came", ["turn", "", None, True, 0, math.nan], **short)
def test_a_ramp_over_anything_else_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^ramp_over must be one of pairs, turns, got"):
        Yarn(8.0, 4096, ramp_over=came)


@pytest.mark.parametrize("came", NOT_A_NUMBER, **short)
def test_an_mscale_of_no_number_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^factor must be .* got "):
        rope_scaling.yarn_mscale(came)
    with pytest.raises(InvalidParameterError, match=r"^mscale must be .* got "):
        rope_scaling.yarn_mscale(8.0, came)


@pytest.mark.parametrize("came", NOT_A_LENGTH, **short)
def test_a_trained_context_that_is_none_is_refused(came):
    for method in (Yarn, Llama3):
        with pytest.raises(
            InvalidParameterError, match=r"^original_max_position_embeddings must be .* got "
        ):
            method(8.0, came)
    with pytest.raises(InvalidParameterError, match=r"^max_position_embeddings must be .* got "):
        DynamicNtk(8.0, came)


@pytest.mark.parametrize("came", [c for c in NOT_A_LENGTH if c is not None], **short)
def test_a_sequence_length_that_is_none_is_refused(came):
    for method in every_method(8.0, 4096):
        with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
            method.frequencies(LLAMA, came)


@pytest.mark.parametrize("came", [0, -1.0, *NOT_A_NUMBER], **short)
def test_a_turn_count_that_is_none_is_refused(came):
    for method, name in (
        (Yarn, "beta_fast"),
        (Yarn, "beta_slow"),
        (Llama3, "low_freq_factor"),
        (Llama3, "high_freq_factor"),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must be .* got "):
            method(8.0, 4096, **{name: came})


def test_an_upper_turn_count_below_the_lower_is_refused():
    with pytest.raises(InvalidParameterError, match=r"^beta_fast must be .* 2\b.*, got 1$"):
        Yarn(8.0, 4096, beta_fast=1.0, beta_slow=2.0)
    with pytest.raises(InvalidParameterError, match=r"^high_freq_factor must be .* 2, got 1"):
        Llama3(8.0, 4096, low_freq_factor=2.0, high_freq_factor=1.0)


@pytest.mark.parametrize("came", [-1.0, *OPTIONAL], **short)
def test_an_attention_factor_or_mscale_that_is_none_is_refused(came):
    for name in ("attention_factor", "mscale", "mscale_all_dim"):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must be .* got "):
            Yarn(8.0, 4096, **{name: came})


@pytest.mark.parametrize("came", ["false", "true", 1, 0, None, math.nan], **short)
def test_truncate_is_a_yes_or_a_no(came):
    with pytest.raises(InvalidParameterError, match=r"^truncate must be .* got "):
        Yarn(8.0, 4096, truncate=came)


def test_ntk_of_a_single_pair_says_why_there_is_nothing_to_stretch():
    for scaling in (Ntk(2.0), DynamicNtk(2.0, 16)):
        with pytest.raises(InvalidParameterError, match=r"rotary_dim of at least 4, .* got 2$"):
            scaling.frequencies(RoPE(2), 32)


@pytest.mark.parametrize(
    ("scaling", "name"),
    [
        (lambda: Ntk(1e300), "factor"),
        (lambda: DynamicNtk(1e300, 1), "factor"),
        (lambda: Yarn(8.0, 4096, beta_fast=1e308), "beta_fast"),
        (lambda: Yarn(8.0, 4096, beta_slow=1e-320, beta_fast=1e-319), "beta_slow"),
    ],
    ids=["ntk", "dynamic", "yarn_fast", "yarn_slow"],
)
def test_numbers_too_large_or_small_to_compute_with_are_refused(scaling, name):
    with pytest.raises(InvalidParameterError, match=rf"^{name} must be "):
        scaling().frequencies(RoPE(4), 1000)


# More of the references.


@pytest.mark.parametrize("case", APPLY["cases"], ids=lambda case: f"position_{case['position']}")
def test_proportional_rope_turns_the_references_dimensions(case):
    frequencies, _ = Proportional(0.5).frequencies(RoPE(APPLY["dim"], APPLY["rope_theta"]))
    rotated = rope.rotate(APPLY["q"], case["position"], frequencies, "half")
    expected = case["proportional_0.5_pairs_i_and_i+4"]
    np.testing.assert_array_equal(rotated[[2, 3, 6, 7]], np.array(APPLY["q"])[[2, 3, 6, 7]])
    np.testing.assert_allclose(rotated, expected, rtol=2e-6, atol=2e-6)


JQUESNELLE = [case for case in CASES if "jquesnelle_mscale" in case["params"]]


@pytest.mark.parametrize("case", JQUESNELLE, **by_id)
def test_yarn_is_jquesnelles_where_no_other_setting_acts(case):
    plain, scaling = built(case)
    bare = replace(scaling, attention_factor=None, mscale=None, mscale_all_dim=None)
    theirs = pytest.approx(case["params"]["jquesnelle_mscale"], rel=1e-12)
    assert bare.frequencies(plain)[1] == theirs
    if scaling.attention_factor is None and not (scaling.mscale and scaling.mscale_all_dim):
        assert scaling.frequencies(plain)[1] == theirs


def test_jquesnelles_vectors_are_all_there():
    assert len(JQUESNELLE) == 22


# Numbers of any type.


NUMBER_TYPES = [np.int8, np.uint8, np.int32, np.float16, np.float32, np.longdouble, np.array]


@pytest.mark.parametrize("kind", NUMBER_TYPES, ids=lambda kind: kind.__name__)
def test_a_methods_factor_keeps_its_value_and_not_its_type(kind):
    plain, factor = RoPE(8, 10_000.0), kind(3)
    for ours, same in (
        (Linear(factor), Linear(3.0)),
        (Ntk(factor), Ntk(3.0)),
        (DynamicNtk(factor, 64), DynamicNtk(3.0, 64)),
        (Yarn(factor, 64, mscale=kind(1), mscale_all_dim=kind(2)), Yarn(3.0, 64, 32.0, 1.0,
            mscale=1.0, mscale_all_dim=2.0)),
        (Yarn(3.0, 64, kind(9), kind(2), attention_factor=factor), Yarn(3.0, 64, 9.0, 2.0,
            attention_factor=3.0)),
        (Llama3(factor, 64, kind(1), kind(4)), Llama3(3.0, 64)),
        (LongRope((1.0,) * 4, (2.0,) * 4, 64, factor), LongRope((1.0,) * 4, (2.0,) * 4, 64, 3.0)),
        (Proportional(kind(1), factor), Proportional(1.0, 3.0)),
    ):  # fmt: skip
        assert ours == same
        assert all(type(value) is not kind for value in vars(ours).values())
        inv_freq, attention_factor = ours.frequencies(plain, 1000)
        expected, expected_factor = same.frequencies(plain, 1000)
        assert inv_freq.dtype == np.float64
        np.testing.assert_array_equal(inv_freq, expected)
        assert (attention_factor, type(attention_factor)) == (expected_factor, float)
        assert type(ours.stretch(1000)) is float


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.array])
def test_lengths_keep_their_value_and_not_their_type(kind):
    plain, length = RoPE(kind(8), np.float16(10_000.0)), kind(100)
    assert plain == RoPE(8, 10_000.0)
    assert (type(plain.rotary_dim), type(plain.rope_theta)) == (int, float)
    dynamic = DynamicNtk(40.0, kind(64))
    assert dynamic.stretch(length) == DynamicNtk(40.0, 64).stretch(100) == 23.5
    assert type(dynamic.stretch(length)) is float
    longrope = LongRope((1.0,) * 4, (2.0,) * 4, kind(64), None, kind(127))
    assert longrope.stretch(length) == 127 / 64
    np.testing.assert_array_equal(longrope.frequencies(plain, length)[0], plain.inv_freq / 2.0)
    assert Yarn(4.0, kind(64)) == Yarn(4.0, 64)


@pytest.mark.parametrize("came", [Fraction(3), Decimal(3), np.complex64(3), 3 + 0j], ids=repr)
def test_a_factor_that_is_no_int_or_float_is_refused(came):
    for method in (Linear, Ntk, lambda factor: DynamicNtk(factor, 64)):
        with pytest.raises(
            InvalidParameterError, match=r"^factor must be a finite number of at least 1, got "
        ):
            method(came)


@pytest.mark.parametrize("factor", [1e300, 1e305, 1e308])
def test_a_factor_whose_base_leaves_float64_is_named(factor):
    for scaling, seq_len in ((Ntk(factor), None), (DynamicNtk(factor, 64), 65)):
        with pytest.raises(
            InvalidParameterError, match=r"^factor must be small enough for a finite base, got "
        ):
            scaling.frequencies(RoPE(8, 1e9), seq_len)


@pytest.mark.parametrize("came", [None, 8, "rope", RoPE, Linear, [1.0]], ids=repr)
def test_what_is_no_rope_and_no_scaling_is_refused(came):
    longrope = LongRope((1.0,), (1.0,), 64, 2.0)
    for scaling in (NoScaling(), Linear(2.0), Ntk(2.0), DynamicNtk(2.0, 64), Yarn(2.0, 64),
                    Llama3(2.0, 64), longrope, Proportional()):  # fmt: skip
        with pytest.raises(InvalidParameterError, match=r"^rope must be an object of .* RoPE, got"):
            scaling.frequencies(came)
    with pytest.raises(InvalidParameterError, match=r"^rope must be an object of the class RoPE"):
        rope_scaling.effect(Linear(2.0), came)
    with pytest.raises(
        InvalidParameterError, match=r"^scaling must be an object of the class Rope"
    ):
        rope_scaling.effect(came, RoPE(8))
