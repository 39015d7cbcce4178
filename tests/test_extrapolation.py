"""Usable context: how far a scaled RoPE stays inside the angles it was trained on."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posviz import params, rope
from posviz.extrapolation import (
    arc_use,
    multiples,
    never_completed,
    unseen,
    unseen_share,
    usable_context,
)
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, Linear, Llama3, NoScaling, Ntk, Yarn

LLAMA = RoPE(128)  # base 10,000

ropes = st.builds(
    RoPE,
    st.integers(2, int(params.HEAD_DIM.high) // 2).map(lambda i: 2 * i),
    st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high),
)
slow_ropes = st.builds(
    RoPE,
    st.integers(8, int(params.HEAD_DIM.high) // 2).map(lambda i: 2 * i),
    st.floats(1e7, params.ROPE_THETA.high),
)
factors = st.floats(params.FACTOR.low, params.FACTOR.high)
trained_contexts = st.integers(int(params.TRAINED_CONTEXT.low), int(params.TRAINED_CONTEXT.high))


@st.composite
def scalings(draw):
    """A trained context and a method that stretches it."""
    trained, factor = draw(trained_contexts), draw(factors)
    methods = [
        NoScaling(),
        Linear(factor),
        Ntk(factor),
        DynamicNtk(factor, trained),
        Yarn(factor, trained),
        Llama3(factor, trained),
    ]
    return trained, draw(st.sampled_from(methods))


@given(ropes, trained_contexts)
def test_a_pair_has_completed_its_turn_when_its_wavelength_fits(plain, trained):
    waves = rope.wavelength(plain.inv_freq)
    sure = np.abs(waves / trained - 1) > 1e-9
    slow = never_completed(plain, trained)
    np.testing.assert_array_equal(slow[sure], (waves > trained)[sure])
    assert not slow[0]


def test_the_pairs_of_llama_2_that_never_complete_a_turn():
    assert never_completed(LLAMA, 4096).sum() == 18  # from pair 46 on
    assert np.flatnonzero(never_completed(LLAMA, 4096))[0] == 46


@given(ropes, scalings())
def test_nothing_is_unseen_at_the_trained_context(plain, given_scaling):
    trained, scaling = given_scaling
    np.testing.assert_array_equal(unseen_share(plain, scaling, trained, [0, 1, trained]), 0.0)


@given(slow_ropes, trained_contexts)
def test_plain_rope_is_usable_up_to_the_trained_context(plain, trained):
    assert usable_context(plain, NoScaling(), trained) == pytest.approx(trained, rel=1e-12)


@given(slow_ropes, trained_contexts, factors)
def test_linear_is_usable_up_to_the_factor_times_the_trained_context(plain, trained, factor):
    usable = usable_context(plain, Linear(factor), trained)
    assert usable == pytest.approx(factor * trained, rel=1e-12)


@given(slow_ropes, trained_contexts, factors)
def test_linear_meets_its_end_at_exactly_the_factor_despite_rounding(plain, trained, factor):
    share = unseen_share(plain, Linear(factor), trained, factor * trained)
    np.testing.assert_array_equal(share, 0.0)


@given(slow_ropes, trained_contexts, factors)
def test_static_methods_are_usable_between_trained_and_factor_times_it(plain, trained, factor):
    for scaling in (Ntk(factor), Yarn(factor, trained), Llama3(factor, trained)):
        usable = usable_context(plain, scaling, trained)
        assert trained * (1 - 1e-12) <= usable <= factor * trained * (1 + 1e-12)


@given(slow_ropes, trained_contexts, factors)
def test_llama3_divides_every_pair_that_never_completed_a_turn(plain, trained, factor):
    usable = usable_context(plain, Llama3(factor, trained), trained)
    assert usable == pytest.approx(factor * trained, rel=1e-12)


@given(slow_ropes, scalings())
def test_unseen_angles_begin_right_after_the_usable_context(plain, given_scaling):
    trained, scaling = given_scaling
    usable = usable_context(plain, scaling, trained)
    if scaling.depends_on_length:
        assume(math.isfinite(usable))
        assert usable == int(usable)
        inside, outside = usable, usable + 1
    else:
        inside, outside = usable * (1 - 1e-6), usable * (1 + 1e-6)
    share = unseen_share(plain, scaling, trained, [inside, outside])
    assert share[0] == 0.0
    assert share[1] > 0.0


@given(slow_ropes, scalings())
def test_the_share_grows_with_the_context_and_ends_at_most_at_one(plain, given_scaling):
    trained, scaling = given_scaling
    lengths = trained * np.geomspace(1, 200, 9)
    share = unseen_share(plain, scaling, trained, lengths)
    assert share.shape == lengths.shape
    assert np.all((share >= 0) & (share <= 1))
    if not scaling.depends_on_length:
        assert np.all(np.diff(share) >= 0)
        assert share[-1] == 1.0, "beyond factor times the trained context every slow pair is out"


@given(slow_ropes, scalings(), st.floats(1, 100))
def test_the_share_counts_the_pairs_that_are_unseen(plain, given_scaling, times):
    trained, scaling = given_scaling
    length = math.ceil(trained * times)
    scaled, _ = scaling.frequencies(plain, length)
    pairs = unseen(plain, scaled, trained, length)
    slow = never_completed(plain, trained)
    assert not np.any(pairs & ~slow)
    share = unseen_share(plain, scaling, trained, length)
    np.testing.assert_allclose(share, [pairs.sum() / slow.sum()])


def test_each_row_of_frequencies_meets_its_own_length():
    lengths = np.array([4096, 5000, 9000])
    rows = np.stack([DynamicNtk(2.0, 4096).frequencies(LLAMA, int(n))[0] for n in lengths])
    together = unseen(LLAMA, rows, 4096, lengths)
    assert together.shape == (3, 64)
    for row, length, expected in zip(rows, lengths, together, strict=True):
        np.testing.assert_array_equal(unseen(LLAMA, row, 4096, length), expected)
    np.testing.assert_array_equal(
        unseen(LLAMA, LLAMA.inv_freq, 4096, lengths).any(axis=-1), [False, True, True]
    )


def test_a_model_whose_pairs_all_completed_a_turn_has_no_unseen_angle():
    fast = RoPE(8, 10.0)
    assert not never_completed(fast, 4096).any()
    for scaling in (NoScaling(), Linear(8.0), DynamicNtk(8.0, 4096)):
        assert usable_context(fast, scaling, 4096) == math.inf
        np.testing.assert_array_equal(unseen_share(fast, scaling, 4096, [1e3, 1e9]), 0.0)


def test_dynamic_ntk_of_llama_2_ends_where_a_plain_search_says():
    scaling = DynamicNtk(2.0, 4096)
    first = next(
        length
        for length in range(4096, 40_000)
        if unseen(LLAMA, scaling.frequencies(LLAMA, length)[0], 4096, length).any()
    )
    assert usable_context(LLAMA, scaling, 4096) == first - 1
    assert first - 1 > 4096


def test_dynamic_search_stops_at_the_longest_context_asked_for():
    last_pair_only = RoPE(4, 1e6)
    assert never_completed(last_pair_only, 4096).tolist() == [False, True]
    assert usable_context(last_pair_only, DynamicNtk(8.0, 4096), 4096, longest=10_000) == math.inf


def test_multiples_run_from_the_trained_context_to_64_of_it():
    ratios = multiples(count=7)
    np.testing.assert_allclose(ratios, [1, 2, 4, 8, 16, 32, 64])
    assert (multiples()[0], multiples()[-1]) == (1.0, 64.0), "the ends are exact"


def test_multiples_have_a_length_just_beyond_each_limit_that_is_in_range():
    lengths = multiples(1.0, 5.3, 64.0, math.inf, count=7)
    np.testing.assert_allclose(lengths, [1, 1, 2, 4, 5.3, 8, 16, 32, 64], rtol=1e-5)
    assert lengths[1] > 1.0
    assert lengths[4] > 5.3
    share = unseen_share(LLAMA, Linear(5.3), 4096, 4096 * lengths)
    np.testing.assert_array_equal(share, [0, 0, 0, 0, 1, 1, 1, 1, 1])


# Errors.

short = {"ids": lambda came: str(came)[:6]}
NOT_A_LENGTH = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", None, True]
SCALINGS = [NoScaling(), Linear(8.0), DynamicNtk(8.0, 4096)]


@pytest.mark.parametrize("came", NOT_A_LENGTH, **short)
def test_a_trained_context_that_is_none_is_refused(came):
    asks = [
        lambda: never_completed(LLAMA, came),
        lambda: unseen(LLAMA, LLAMA.inv_freq, came, 4096),
    ]
    for scaling in SCALINGS:
        asks.append(lambda scaling=scaling: unseen_share(LLAMA, scaling, came, [4096]))
        asks.append(lambda scaling=scaling: usable_context(LLAMA, scaling, came))
    for ask in asks:
        with pytest.raises(InvalidParameterError, match=r"^trained must be .* got "):
            ask()


@pytest.mark.parametrize("came", [-1, math.nan, math.inf, "8", None, True, 10**400], **short)
def test_a_context_length_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        unseen(LLAMA, LLAMA.inv_freq, 4096, came)
    for scaling in [*SCALINGS, Linear(1.0)]:
        for seq_lens in (came, [came, came]):
            with pytest.raises(InvalidParameterError, match=r"^seq_lens must "):
                unseen_share(LLAMA, scaling, 4096, seq_lens)


@pytest.mark.parametrize("came", [*NOT_A_LENGTH, 4095], **short)
def test_a_search_that_ends_before_it_begins_is_refused(came):
    for scaling in SCALINGS:
        with pytest.raises(InvalidParameterError, match=r"^longest must be .* got "):
            usable_context(LLAMA, scaling, 4096, longest=came)


@pytest.mark.parametrize("came", [[1.0], [math.nan] * 64, None, "text", [True] * 64], **short)
def test_scaled_frequencies_that_do_not_fit_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^scaled_inv_freq must "):
        unseen(LLAMA, came, 4096, 8192)


@pytest.mark.parametrize("came", [None, "rope", 8, [1.0]], ids=repr)
def test_what_is_no_rope_and_no_scaling_is_refused(came):
    for ask in (
        lambda: never_completed(came, 64),
        lambda: unseen(came, LLAMA.inv_freq, 64, 64),
        lambda: unseen_share(came, Linear(2.0), 64, [64]),
        lambda: usable_context(came, Linear(2.0), 64),
    ):
        with pytest.raises(InvalidParameterError, match=r"^rope must be an object of .* RoPE, got"):
            ask()
    for ask in (
        lambda: unseen_share(LLAMA, came, 64, [64]),
        lambda: usable_context(LLAMA, came, 64),
    ):
        with pytest.raises(InvalidParameterError, match=r"^scaling must be an object of the class"):
            ask()


def test_context_lengths_come_singly_or_in_a_list():
    for scaling in SCALINGS:
        with pytest.raises(InvalidParameterError, match=r"^seq_lens must be one number or a list"):
            unseen_share(LLAMA, scaling, 4096, [[4096]])


@pytest.mark.parametrize("came", [None, 0, -1, 1.5, "8", True, 2**31 - 1], ids=repr)
def test_a_count_of_multiples_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^count must .* got "):
        multiples(count=came)


@given(scalings(), st.one_of(ropes, slow_ropes), st.lists(st.integers(1, 10**6), min_size=1))
def test_the_share_of_trained_angles_passes_1_where_angles_are_unseen(case, one, lengths):
    trained, method = case
    try:
        scaled, _ = method.frequencies(one)
    except InvalidParameterError:  # NTK of a single pair
        return
    use = arc_use(one, scaled, trained, lengths)
    for column, length in zip(use.T, lengths, strict=True):
        np.testing.assert_array_equal(column > 1.0, unseen(one, scaled, trained, length))


def test_the_share_of_trained_angles_is_of_a_turn_for_pairs_that_completed_one():
    use = arc_use(LLAMA, LLAMA.inv_freq / 2, 4096, [1.0, 4096.0, 8192.0])
    assert use[0].tolist() == [0.5 / (2 * math.pi), 1.0, 1.0]
    np.testing.assert_allclose(use[-1], [1 / 8192, 0.5, 1.0])
