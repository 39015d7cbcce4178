"""Knobs of context extension: their directions, what they are in each other's terms, stacking."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params
from posviz.config_text import LlamaCppFlags, parse
from posviz.extrapolation import usable_context
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import Linear, Llama3, NoScaling, Ntk, Proportional, Yarn
from posviz.rope_units import (
    UNITS,
    YARN_FLAGS,
    alpha_for,
    alpha_note,
    conversions,
    stacked,
    unit,
)

LLAMA_2 = RoPE(128, 10_000.0)
NAMES = [each.name for each in UNITS]

ropes = st.builds(
    RoPE,
    st.integers(2, int(params.HEAD_DIM.high) // 2).map(lambda i: 2 * i),
    st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high),
)
slow_ropes = st.builds(
    RoPE, st.integers(8, 128).map(lambda i: 2 * i), st.floats(1e7, params.ROPE_THETA.high)
)
factors = st.floats(params.FACTOR.low, params.FACTOR.high)
trained_contexts = st.integers(int(params.TRAINED_CONTEXT.low), int(params.TRAINED_CONTEXT.high))


@given(st.sampled_from(UNITS), ropes, factors)
def test_a_knob_gives_its_factor_back(knob, rope, factor):
    assert knob.factor(knob.value(factor, rope), rope) == pytest.approx(factor, rel=1e-12)


@given(st.sampled_from(UNITS), ropes, factors)
def test_every_knob_slows_the_slowest_pair_by_the_factor(knob, rope, factor):
    scaled, _ = knob.scaling(knob.value(factor, rope), rope).frequencies(rope)
    assert rope.inv_freq[-1] / scaled[-1] == pytest.approx(factor, rel=1e-11)


@given(ropes, factors)
def test_knobs_on_positions_slow_every_pair_alike_and_knobs_on_the_base_not_the_first(rope, factor):
    for knob in UNITS:
        scaled, _ = knob.scaling(knob.value(factor, rope), rope).frequencies(rope)
        first = rope.inv_freq[0] / scaled[0]
        assert first == pytest.approx(factor if knob.kind == "positions" else 1.0, rel=1e-11)


def test_numbers_that_everybody_knows():
    assert unit("--rope-freq-scale").value(4.0, LLAMA_2) == 0.25
    assert unit("--rope-freq-scale").factor(0.5, LLAMA_2) == 2.0
    assert unit("compress_pos_emb").value(4.0, LLAMA_2) == 4.0
    assert unit("rope_condense_ratio").factor(4, LLAMA_2) == 4.0
    # text-generation-webui: rope_freq_base = 10000 * alpha ** (64 / 63)
    assert unit("--rope-freq-base").value(2.5, LLAMA_2) == pytest.approx(10_000 * 2.5 ** (64 / 63))
    # CodeLlama's base, at the end of formulas on NTK
    assert unit("rope_theta").factor(1e6, LLAMA_2) == pytest.approx(93.06, abs=0.01)


@given(ropes, factors)
def test_llama_cpp_s_knobs_are_what_llama_cpp_does(rope, factor):
    for name in ("--rope-scale", "--rope-freq-scale", "--rope-freq-base"):
        knob = unit(name)
        value = knob.value(factor, rope)
        flags = LlamaCppFlags.of(parse(f"{name} {value!r}").config)
        theirs, _ = flags.frequencies(rope, 4096)
        np.testing.assert_allclose(
            knob.scaling(value, rope).frequencies(rope)[0], theirs, rtol=1e-11
        )


def test_yarn_s_flags_are_llama_cpp_s():
    for flag, (key, _) in YARN_FLAGS.items():
        assert hasattr(LlamaCppFlags(), flag[2:].replace("-", "_"))
        assert not key or hasattr(Yarn(2.0, 4096), key)


def test_each_direction_says_what_its_numbers_do():
    for knob in UNITS:
        small, large = (knob.value(factor, LLAMA_2) for factor in (2.0, 4.0))
        assert ("Larger" in knob.direction) == (large > small)
        assert knob.direction.startswith(("Larger", "Smaller"))
        assert knob.source and knob.multiplies.endswith(".")


@given(st.sampled_from(NAMES), ropes, factors, trained_contexts)
def test_a_conversion_is_the_same_model_or_says_that_it_is_not(name, rope, factor, trained):
    value = unit(name).value(factor, rope)
    given_freq, _ = unit(name).scaling(value, rope).frequencies(rope)
    for other in conversions(name, value, rope, trained):
        scaled, _ = other.unit.scaling(other.value, rope).frequencies(rope)
        assert scaled[-1] == pytest.approx(given_freq[-1], rel=1e-11)
        if other.same:
            np.testing.assert_allclose(scaled, given_freq, rtol=1e-11)
        elif factor > 1.001:
            assert not np.allclose(scaled, given_freq, rtol=1e-5)


@given(slow_ropes, trained_contexts, factors)
def test_an_alpha_reads_at_most_its_number_of_trained_contexts(rope, trained, alpha):
    found = {
        each.unit.name: each.usable for each in conversions("alpha_value", alpha, rope, trained)
    }
    assert found["factor"] == pytest.approx(alpha * trained, rel=1e-9)
    assert trained * (1 - 1e-12) <= found["alpha_value"] <= found["factor"] * (1 + 1e-12)


@given(slow_ropes, trained_contexts, st.floats(1.0, 32.0))
def test_the_alpha_for_a_context_reads_that_context(rope, trained, times):
    alpha = alpha_for(rope, trained, times * trained)
    if alpha > 1e6:
        return
    assert usable_context(rope, Ntk(alpha), trained) == pytest.approx(times * trained, rel=1e-9)


def test_the_geometry_asks_for_the_alphas_that_were_measured():
    """text-generation-webui's documentation: 1.75 for 1.5 times the context, 2.5 for twice."""
    assert alpha_for(LLAMA_2, 4096, 1.5 * 4096) == pytest.approx(1.75, rel=0.01)
    assert alpha_for(LLAMA_2, 4096, 2 * 4096) == pytest.approx(2.5, rel=0.04)
    assert alpha_for(RoPE(128, 50.0), 4096, 2 * 4096) == 1.0  # every pair has turned in training


def test_the_sentence_on_alpha_has_the_core_s_numbers():
    note = alpha_note(2.0, LLAMA_2, 4096)
    times = usable_context(LLAMA_2, Ntk(2.0), 4096) / 4096
    assert note.values == {"alpha": "2", "times": f"{times:.2f}", "pair": 46, "needed": "2.58"}
    assert usable_context(LLAMA_2, Ntk(2.58), 4096) / 4096 == pytest.approx(2.0, rel=2e-3)
    assert note.sentence.startswith("alpha 2 reads 1.66 times the trained context")


methods = st.one_of(
    st.just(NoScaling()),
    st.builds(Linear, factors),
    st.builds(Ntk, factors),
    st.builds(lambda s: Yarn(s, 4096), factors),
    st.builds(lambda s: Llama3(s, 8192), factors),
)


@given(ropes, methods, methods)
def test_stacked_scalings_multiply_pair_by_pair_in_either_order(rope, first, second):
    both, other = stacked(rope, first, second), stacked(rope, second, first)
    one, two = (rope.inv_freq / each.frequencies(rope)[0] for each in (first, second))
    np.testing.assert_allclose(both.ratio, one * two, rtol=1e-12)
    np.testing.assert_allclose(rope.inv_freq / both.inv_freq, one * two, rtol=1e-12)
    np.testing.assert_allclose(both.inv_freq, other.inv_freq, rtol=1e-12)
    assert both.slowest == both.ratio[-1]
    assert both.attention_factor == pytest.approx(other.attention_factor)


@given(ropes, factors, factors)
def test_linear_over_ntk_is_the_larger_base_divided(rope, alpha, factor):
    both = stacked(rope, Ntk(alpha), Linear(factor))
    base = rope.rope_theta * alpha ** (rope.rotary_dim / (rope.rotary_dim - 2))
    expected = RoPE(rope.rotary_dim, base).inv_freq / factor
    np.testing.assert_allclose(both.inv_freq, expected, rtol=1e-11)
    assert both.slowest == pytest.approx(alpha * factor, rel=1e-11)


def test_a_warning_stands_only_where_both_change_something():
    assert stacked(LLAMA_2, NoScaling(), Linear(4)).note is None
    assert stacked(LLAMA_2, Linear(1), Ntk(4)).note is None
    sentence = stacked(LLAMA_2, Linear(4), Ntk(2)).note.sentence
    assert sentence == "linear and ntk multiply: the slowest pair turns 4 × 2 = 8 times slower"
    still = stacked(LLAMA_2, Linear(4), Proportional(0.25))
    assert still.inv_freq[-1] == 0.0 and math.isinf(still.slowest)
    assert still.note.sentence.endswith("stands still")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("alpha_value", 0.5, "alpha_value must be a finite number of at least 1, got 0.5"),
        ("--rope-freq-scale", 4.0, "--rope-freq-scale must be a number from 0 to 1, got 4"),
        ("--rope-freq-scale", 0.0, "got 0"),
        ("--rope-freq-base", 5000.0, "--rope-freq-base must be a finite number of at least 10,000"),
        ("factor", math.nan, "factor must be"),
        ("nothing", 2.0, "unit must be one of factor"),
    ],
)
def test_a_wrong_value_is_told_under_the_knob_s_own_name(name, value, said):
    with pytest.raises(InvalidParameterError, match=re.escape(said)):
        conversions(name, value, LLAMA_2, 4096)


def test_a_single_pair_has_no_knob_on_the_base():
    kinds = {each.unit.kind for each in conversions("factor", 2.0, RoPE(2), 4096)}
    assert kinds == {"positions"}
    with pytest.raises(InvalidParameterError, match="rotary_dim must be at least 4"):
        conversions("rope_theta", 2e4, RoPE(2), 4096)
    with pytest.raises(InvalidParameterError, match="finite base"):
        unit("rope_theta").value(1e200, RoPE(4))
    with pytest.raises(InvalidParameterError, match="turn of the fastest pair"):
        alpha_for(LLAMA_2, 4, 8)
