"""Softmax and the causal mask."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz.attention import causal_mask, position_scale, softmax
from posviz.params import InvalidParameterError

rows = st.lists(st.floats(-50, 50), min_size=1, max_size=40)
NOT_A_LENGTH = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", True]


@given(rows)
def test_weights_are_positive_and_sum_to_one(scores):
    weights = softmax(scores)
    assert weights.dtype == np.float64
    assert np.all(weights > 0)
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)


@given(rows)
def test_weights_are_the_exponentials_over_their_sum(scores):
    exponentials = [math.exp(score) for score in scores]
    expected = [value / math.fsum(exponentials) for value in exponentials]
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-12)


@given(rows, st.floats(-1e6, 1e6))
def test_adding_a_number_to_a_row_changes_no_weight(scores, shift):
    np.testing.assert_allclose(
        softmax(np.asarray(scores) + shift), softmax(scores), rtol=1e-8, atol=1e-15
    )


def test_huge_scores_do_not_overflow():
    np.testing.assert_allclose(softmax([1e300, 1e300, -1e300]), [0.5, 0.5, 0.0])


def test_a_masked_key_gets_no_weight():
    np.testing.assert_array_equal(softmax([0.0, -math.inf, 0.0]), [0.5, 0.0, 0.5])


def test_each_axis_can_hold_the_keys():
    scores = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(softmax(scores, axis=0), softmax(scores.T).T)
    assert softmax(scores).shape == (2, 3)


@given(st.integers(1, 40), st.integers(0, 40))
def test_a_query_sees_its_own_position_and_those_before_it(q_len, before):
    mask = causal_mask(q_len, q_len + before)
    assert mask.shape == (q_len, q_len + before)
    for query, row in enumerate(mask):
        own = before + query
        assert row[: own + 1].all()
        assert not row[own + 1 :].any()


def test_as_many_keys_as_queries_if_not_said():
    np.testing.assert_array_equal(causal_mask(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


@given(st.integers(1, 20))
def test_masked_softmax_gives_the_future_no_weight_and_each_row_one(q_len):
    scores = np.where(causal_mask(q_len), np.random.default_rng(q_len).normal(size=q_len), -np.inf)
    weights = softmax(scores)
    assert not weights[~causal_mask(q_len)].any()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0)


@pytest.mark.parametrize(
    ("scores", "shown"),
    [([0.0, math.nan], "nan"), ([0.0, math.inf], "inf"), ([-math.inf, -math.inf], "-inf")],
    ids=["nan", "inf", "all_masked"],
)
def test_a_row_without_a_softmax_is_refused(scores, shown):
    with pytest.raises(InvalidParameterError, match=rf"^scores must .* got .*{shown}$"):
        softmax(scores)


@pytest.mark.parametrize(
    "scores",
    [[], np.zeros((2, 0)), 5.0, None, "text", ["a"], [True, False], [[1.0], [1.0, 2.0]], [1j]],
    ids=["empty", "no_keys", "scalar", "None", "text", "texts", "bools", "ragged", "complex"],
)
def test_scores_that_are_no_rows_of_numbers_are_refused(scores):
    with pytest.raises(InvalidParameterError, match=r"^scores must "):
        softmax(scores)


@pytest.mark.parametrize("came", NOT_A_LENGTH, ids=lambda came: str(came)[:6])
def test_lengths_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^q_len must be .* got "):
        causal_mask(came)
    with pytest.raises(InvalidParameterError, match=r"^k_len must be .* got "):
        causal_mask(1, came)


def test_fewer_keys_than_queries_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^k_len must be .* at least 4, got 3"):
        causal_mask(4, 3)


# The factor by position.

SCALES = json.loads(
    (Path(__file__).parent / "golden" / "position_scale.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("model", ["llama4", "ministral3"])
def test_the_factor_by_position_is_the_models_own(model):
    case = dict(SCALES[model])
    expected = case.pop("scale")
    ours = position_scale(SCALES["positions"], **case)
    assert ours[0] == 1.0
    assert np.all(np.diff(ours) >= 0)
    np.testing.assert_allclose(ours, expected, rtol=2e-6)


def test_llama_4_steps_a_token_earlier_than_ministral():
    at = [8190, 8191, 8192]
    steps = [position_scale(at, 8192, offset=offset) > 1.0 for offset in (1, 0)]
    np.testing.assert_array_equal(steps, [[False, True, True], [False, False, True]])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("positions", lambda: position_scale(-1, 8192)),
        ("positions", lambda: position_scale([math.nan], 8192)),
        ("floor_scale", lambda: position_scale(0, 0)),
        ("attn_scale", lambda: position_scale(0, 8192, math.inf)),
        ("offset", lambda: position_scale(0, 8192, 0.1, -1)),
    ],
)
def test_a_factor_by_position_that_cannot_be_is_refused(name, call):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be"):
        call()


@pytest.mark.parametrize("came", [2, -3, 5, 1.5, 1.0, "8", True, None, 10**30, [0]], ids=repr)
def test_an_axis_that_is_none_is_refused(came):
    with pytest.raises(
        InvalidParameterError, match=r"^axis must be a whole number from -2 to 1, got "
    ):
        softmax([[1.0, 2.0]], came)


def test_a_mask_that_fits_no_memory_is_refused():
    with pytest.raises(
        InvalidParameterError, match=r"^q_len and k_len must ask for at most 268,435,456 numbers"
    ):
        causal_mask(2, 2**31 - 1)
