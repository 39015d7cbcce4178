"""MLA: DeepSeek's dimensions and softmax scale, and what a rotation blocks."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import mla
from posviz.mla import MLA
from posviz.params import InvalidParameterError

GOLDEN_DIR = Path(__file__).parent / "golden"
SCALES = json.loads((GOLDEN_DIR / "deepseek_softmax_scale.json").read_text())

small = st.builds(
    MLA,
    st.integers(1, 8).map(lambda i: 2 * i),
    st.integers(1, 8).map(lambda i: 2 * i),
    st.integers(2, 32),
    st.integers(1, 16),
)


def test_vectors_are_all_there():
    assert [case["factor"] for case in SCALES] == [40, 40, 32.0, 64.0, 40]
    assert {case["qk_head_dim"] for case in SCALES} == {192}


@pytest.mark.parametrize("case", SCALES, ids=lambda c: f"s{c['factor']:g}_m{c['mscale_all_dim']:g}")
def test_softmax_scale_is_deepseeks(case):
    dims = MLA()
    assert dims.qk_head_dim == case["qk_head_dim"]
    scale = dims.softmax_scale(case["factor"], case["mscale_all_dim"])
    assert dims.softmax_scale() == pytest.approx(case["unscaled_f64"], rel=1e-12)
    assert scale >= dims.softmax_scale()
    assert scale == pytest.approx(case["softmax_scale_f64"], rel=1e-12)
    mscale = math.sqrt(scale / dims.softmax_scale())
    assert mscale == pytest.approx(case["mscale_f64"], rel=1e-12)


def test_released_dimensions_keep_four_and_a_half_heads_of_cache():
    """DeepSeek-V2, table 1: (9/2) d_h against 2 n_h d_h."""
    dims = MLA()
    assert dims == MLA(128, 64, 512, 128)
    assert dims.cache_entries == 576 == 4.5 * 128
    assert dims.mha_cache_entries(128) == 2 * 128 * 128


@given(small, st.integers(1, 256))
def test_the_cache_does_not_grow_with_the_heads(dims, num_heads):
    assert dims.cache_entries == dims.kv_lora_rank + dims.qk_rope_head_dim
    assert dims.mha_cache_entries(num_heads) == num_heads * dims.mha_cache_entries(1)


@given(small, st.floats(0.1, 64), st.floats(0, 2))
def test_the_scale_grows_with_factor_and_mscale_and_never_shrinks(dims, factor, mscale_all_dim):
    plain = dims.qk_head_dim**-0.5
    assert dims.softmax_scale(factor, 0.0) == dims.softmax_scale(factor) == pytest.approx(plain)
    assert dims.softmax_scale(min(factor, 1.0), mscale_all_dim) == pytest.approx(plain)
    scale = dims.softmax_scale(factor, mscale_all_dim)
    assert scale >= plain * (1 - 1e-12)
    assert dims.softmax_scale(2 * factor, mscale_all_dim) >= scale


# Absorption.


@given(small, st.integers(1, 24), st.floats(1.5, 1e6), st.integers(0, 99))
def test_decoupled_rope_is_absorbed_exactly(dims, seq_len, rope_theta, seed):
    found = mla.absorption(dims, seq_len, rotated_inside=False, rope_theta=rope_theta, seed=seed)
    assert found.residual < 1e-12
    assert found.unpacked.shape == found.absorbed.shape == (seq_len, seq_len)


@given(small, st.integers(2, 24), st.integers(0, 99))
def test_rotation_inside_is_absorbed_at_distance_zero_alone(dims, seq_len, seed):
    found = mla.absorption(dims, seq_len, rotated_inside=True, seed=seed)
    gaps = np.abs(found.absorbed - found.unpacked)
    np.testing.assert_allclose(np.diag(gaps), 0.0, atol=1e-10 * np.abs(found.unpacked).max())
    assert found.residual > 1e-3


def test_no_other_matrix_absorbs_a_rotation_inside_either():
    """The best one by least squares; without rotation it is exact."""
    dims = MLA(8, 4, 4, 8)

    def left_over(rotated_inside, target):
        found = mla.absorption(dims, 32, rotated_inside=rotated_inside)
        products = np.einsum("ma,nb->mnab", found.queries, found.cache).reshape(32 * 32, 16)
        scores = getattr(found, target).ravel()
        best = np.linalg.lstsq(products, scores, rcond=None)[0]
        return np.abs(products @ best - scores).max() / np.abs(scores).max()

    assert left_over(True, "unpacked") > 0.1
    assert left_over(True, "absorbed") < 1e-13


def test_a_released_head_shows_the_difference_in_numbers():
    assert mla.absorption(MLA(), rotated_inside=True).residual > 0.5
    assert mla.absorption(MLA(), rotated_inside=False).residual < 5e-15


def test_the_same_seed_draws_the_same_scores_and_another_does_not():
    def draw(seed):
        return mla.absorption(MLA(4, 2, 3, 4), 4, rotated_inside=False, seed=seed).unpacked

    np.testing.assert_array_equal(draw(1), draw(1))
    assert not np.allclose(draw(1), draw(2))


# Public bug reports.


def test_softmax_scale_takes_mscale_squared():
    """HF PR #47435: DeepSeek-V2 lacked it; V2's 0.707 gives 0.11472, V3's 1.0 0.13523."""
    assert MLA().softmax_scale(40.0, 0.707) == pytest.approx(0.11472, abs=5e-6)
    assert MLA().softmax_scale(40.0, 1.0) == pytest.approx(0.13523, abs=5e-6)


# Errors.

short = {"ids": lambda came: str(came)[:6]}
NOT_A_COUNT = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", None, True]


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_dimensions_that_are_none_are_refused(came):
    for name in ("qk_nope_head_dim", "qk_rope_head_dim", "kv_lora_rank", "v_head_dim"):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must be .* got "):
            MLA(**{name: came})
    with pytest.raises(InvalidParameterError, match=r"^num_heads must be .* got "):
        MLA().mha_cache_entries(came)
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        mla.absorption(MLA(), came, rotated_inside=True)


def test_dimensions_that_rotate_come_in_pairs():
    with pytest.raises(InvalidParameterError, match=r"^qk_rope_head_dim must be even, .* got 63$"):
        MLA(qk_rope_head_dim=63)
    odd = MLA(qk_nope_head_dim=7)
    assert mla.absorption(odd, rotated_inside=False).residual < 1e-12
    with pytest.raises(InvalidParameterError, match=r"^qk_nope_head_dim must be even, .* got 7$"):
        mla.absorption(odd, rotated_inside=True)


@pytest.mark.parametrize("came", [0, -1.0, math.nan, math.inf, 10**400, "8", None, True], **short)
def test_a_factor_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^factor must be .* got "):
        MLA().softmax_scale(came, 1.0)


@pytest.mark.parametrize("came", [-1.0, math.nan, math.inf, 10**400, "1", True], **short)
def test_an_mscale_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^mscale_all_dim must be .* got "):
        MLA().softmax_scale(40.0, came)


@pytest.mark.parametrize("came", [0, 1.0, -2.0, math.nan, math.inf, "10000", None, True], **short)
def test_a_base_that_is_none_is_refused(came):
    for inside in (True, False):
        with pytest.raises(InvalidParameterError, match=r"^rope_theta must be .* got "):
            mla.absorption(MLA(), rotated_inside=inside, rope_theta=came)


@pytest.mark.parametrize("came", [1, "no", None, math.nan], **short)
def test_rotated_inside_is_a_yes_or_a_no(came):
    with pytest.raises(InvalidParameterError, match=r"^rotated_inside must be True or False, got"):
        mla.absorption(MLA(), rotated_inside=came)


@pytest.mark.parametrize("came", [-1, 0.5, math.nan, "8", None, True], **short)
def test_a_seed_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seed must be .* got "):
        mla.absorption(MLA(), rotated_inside=True, seed=came)


@pytest.mark.parametrize("came", [None, 64, "dims", MLA], ids=repr)
def test_what_is_no_mla_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^dims must be an object of the class MLA"):
        mla.absorption(came, rotated_inside=True)


def test_dimensions_keep_their_value_and_not_their_type():
    small = MLA(*(np.int8(n) for n in (100, 64, 100, 100)))
    assert small == MLA(100, 64, 100, 100)
    assert small.qk_head_dim == 164
