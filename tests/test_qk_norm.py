"""QK-norm: its place before or after RoPE matters exactly where a gain differs within a pair."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, qk_norm, rope
from posviz.params import InvalidParameterError
from posviz.qk_norm import GAINS, ORDERS
from posviz.rope import LAYOUTS

dims = st.integers(1, 32).map(lambda i: 2 * i)
thetas = st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high)
layouts = st.sampled_from(LAYOUTS)
seeds = st.integers(0, 999)


def drawn(seed, head_dim, q_len=6, k_len=9):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(q_len, head_dim)), rng.normal(size=(k_len, head_dim))


# The norm.


def test_rms_norm_is_the_formula():
    x, gain = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 1.0]]), np.array([2.0, 0.5])
    expected = x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * gain
    np.testing.assert_allclose(qk_norm.rms_norm(x, gain), expected, rtol=1e-14)


@given(dims, seeds, st.floats(1e-9, 1.0))
def test_rms_norm_leaves_a_root_mean_square_of_one_or_less(dim, seed, eps):
    x = np.random.default_rng(seed).normal(size=dim)
    square = np.mean(qk_norm.rms_norm(x, eps=eps) ** 2)
    assert square == pytest.approx(np.mean(x**2) / (np.mean(x**2) + eps), rel=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_rms_norm_of_tiny_and_huge_vectors_is_no_zero_and_no_infinity(size):
    expected = [1.0, -1.0] if size > 1 else [size * 1e3, -size * 1e3]  # root of eps is 1e-3
    np.testing.assert_allclose(qk_norm.rms_norm([size, -size]), expected, rtol=1e-12)


def test_rms_norm_of_zero_is_zero():
    np.testing.assert_array_equal(qk_norm.rms_norm(np.zeros((2, 4))), 0.0)


# The order.


@given(dims, thetas, layouts, seeds, st.integers(0, 6))
def test_without_a_gain_the_order_does_not_matter(dim, theta, layout, seed, still):
    q, k = drawn(seed, dim + still)
    difference = qk_norm.order_difference(q, k, rope.inv_freq(dim, theta), layout=layout)
    assert difference < 1e-12


@given(dims, thetas, layouts, seeds, st.sampled_from(GAINS))
def test_the_order_matters_exactly_where_a_gain_differs_within_a_pair(
    dim, theta, layout, seed, kind
):
    q, k = drawn(seed, dim)
    gains = [qk_norm.random_gain(kind, dim, layout, s) for s in (seed, seed + 1)]
    difference = qk_norm.order_difference(q, k, rope.inv_freq(dim, theta), *gains, layout)
    equal = all(qk_norm.equal_within_pairs(gain, dim // 2, layout) for gain in gains)
    assert equal == (kind != "free")
    if equal:
        assert difference < 1e-12
    else:
        assert difference > 1e-4


@given(dims.filter(lambda d: d > 2), layouts, seeds)
def test_a_gain_equal_within_the_pairs_of_one_layout_is_free_in_the_other(dim, layout, seed):
    other = LAYOUTS[1 - LAYOUTS.index(layout)]
    q, k = drawn(seed, dim)
    gain, frequencies = qk_norm.random_gain("pairs", dim, layout, seed), rope.inv_freq(dim, 100.0)
    assert qk_norm.equal_within_pairs(gain, dim // 2, layout)
    assert not qk_norm.equal_within_pairs(gain, dim // 2, other)
    assert qk_norm.order_difference(q, k, frequencies, gain, gain, layout) < 1e-12
    assert qk_norm.order_difference(q, k, frequencies, gain, gain, other) > 1e-6


@given(dims, layouts, seeds)
def test_dimensions_that_stay_still_may_have_any_gain(dim, layout, seed):
    q, k = drawn(seed, dim + 4)
    rest = np.random.default_rng(seed).normal(size=4)
    gain = np.concatenate([qk_norm.random_gain("pairs", dim, layout, seed), rest])
    assert qk_norm.equal_within_pairs(gain, dim // 2, layout)
    frequencies = rope.inv_freq(dim, 10_000.0)
    assert qk_norm.order_difference(q, k, frequencies, gain, gain, layout) < 1e-12


def test_a_gain_on_queries_alone_is_enough_to_tell_the_orders_apart():
    q, k = drawn(0, 8)
    gain, frequencies = qk_norm.random_gain("free", 8), rope.inv_freq(8, 10_000.0)
    assert qk_norm.order_difference(q, k, frequencies, q_gain=gain) > 0.01
    assert qk_norm.order_difference(q, k, frequencies, k_gain=gain) > 0.01


@given(dims, layouts, seeds)
def test_at_position_zero_the_order_does_not_matter(dim, layout, seed):
    q, k = drawn(seed, dim, 1, 1)
    gain = qk_norm.random_gain("free", dim, layout, seed)
    frequencies = rope.inv_freq(dim, 10_000.0)
    assert qk_norm.order_difference(q, k, frequencies, gain, gain, layout) < 1e-13


def test_difference_is_the_largest_of_all_scores():
    q, k = drawn(3, 8)
    gain, frequencies = qk_norm.random_gain("free", 8), rope.inv_freq(8, 10_000.0)
    before, after = (qk_norm.scores(q, k, frequencies, order, gain, gain) for order in ORDERS)
    assert before.shape == (6, 9)
    largest = max(abs(b - a) for b, a in zip(before.flat, after.flat, strict=True))
    assert qk_norm.order_difference(q, k, frequencies, gain, gain) == largest


def test_scores_are_those_of_qwen3_written_out():
    """Norm, then rotation, queries at the end of the keys, over sqrt(head_dim)."""
    q, k = drawn(5, 4, 2, 3)
    gain, frequencies = np.array([1.0, 2.0, 0.5, 3.0]), rope.inv_freq(4, 100.0)
    found = qk_norm.scores(q, k, frequencies, "before", gain, 2.0)
    for i, position in enumerate((1, 2)):
        for j in range(3):
            query = rope.rotate(qk_norm.rms_norm(q[i], gain), position, frequencies)
            key = rope.rotate(qk_norm.rms_norm(k[j], 2.0), j, frequencies)
            assert found[i, j] == pytest.approx(query @ key / 2.0, rel=1e-12)


@given(dims, seeds)
def test_norm_before_rope_keeps_scores_relative_and_after_does_not(dim, seed):
    """A free gain after the rotation sees the absolute position."""
    frequencies = rope.inv_freq(dim, 10_000.0)
    q, k = (np.repeat(x, 4, axis=0) for x in drawn(seed, dim, 1, 1))
    gain = qk_norm.random_gain("free", dim, seed=seed)
    before, after = (
        np.diag(qk_norm.scores(q, k, frequencies, order, gain, gain)) for order in ORDERS
    )
    np.testing.assert_allclose(before, before[0], rtol=1e-10, atol=1e-12)
    assert np.ptp(after) > 1e-6


# Errors.

short = {"ids": lambda came: str(came)[:8]}
NOT_NUMBERS = [math.nan, math.inf, "1", None, True, 10**400]
ONES = np.ones((2, 4))


@pytest.mark.parametrize("came", NOT_NUMBERS, **short)
def test_numbers_that_are_none_are_refused(came):
    table = [[came, came]]
    for name, ask in (
        ("x", lambda: qk_norm.rms_norm([came, came])),
        ("gain", lambda: qk_norm.rms_norm([1.0, 2.0], came)),
        ("gain", lambda: qk_norm.equal_within_pairs(came, 1)),
        ("q", lambda: qk_norm.scores(table, [[1.0, 2.0]], [1.0], "before")),
        ("k", lambda: qk_norm.order_difference([[1.0, 2.0]], table, [1.0])),
        ("inv_freq", lambda: qk_norm.order_difference(ONES, ONES, [came, came])),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must "):
            ask()


@pytest.mark.parametrize("came", [0, -1e-6, *NOT_NUMBERS], **short)
def test_an_eps_that_is_none_is_refused(came):
    for ask in (
        lambda: qk_norm.rms_norm([1.0], eps=came),
        lambda: qk_norm.order_difference(ONES, ONES, [1.0], eps=came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^eps must be .* got "):
            ask()


@pytest.mark.parametrize("came", ["Before", "", None, 0, True], **short)
def test_names_that_are_none_are_refused(came):
    for name, ask in (
        ("order", lambda: qk_norm.scores(ONES, ONES, [1.0], came)),
        ("layout", lambda: qk_norm.order_difference(ONES, ONES, [1.0], layout=came)),
        ("layout", lambda: qk_norm.equal_within_pairs([1.0, 1.0], 1, came)),
        ("layout", lambda: qk_norm.random_gain("pairs", 4, came)),
        ("kind", lambda: qk_norm.random_gain(came, 4)),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must be one of "):
            ask()


@pytest.mark.parametrize("came", [0, -2, 3, 2.0, 10**18, math.nan, "4", None, True], **short)
def test_counts_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be .* got "):
        qk_norm.random_gain("free", came)
    if came != 3:
        with pytest.raises(InvalidParameterError, match=r"^pairs must be .* got "):
            qk_norm.equal_within_pairs(1.0, came)
    if came not in (0, 3, 10**18):
        with pytest.raises(InvalidParameterError, match=r"^seed must be .* got "):
            qk_norm.random_gain("free", 4, seed=came)


def test_scores_past_all_numbers_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^scores must be finite numbers, got inf"):
        qk_norm.order_difference(ONES, ONES, [1.0], q_gain=1e200, k_gain=1e200)


def test_shapes_that_do_not_fit_are_refused():
    for ask, sentence in (
        (lambda: qk_norm.rms_norm(1.0), "x must be vectors on the last axis"),
        (lambda: qk_norm.rms_norm([]), "x must be vectors on the last axis"),
        (lambda: qk_norm.rms_norm([1.0, 2.0], [1.0] * 3), "gain must be one number or one per"),
        (lambda: qk_norm.scores(ONES[0], ONES, [1.0], "after"), "q and k must be"),
        (lambda: qk_norm.scores(np.ones((2, 3)), ONES, [1.0], "after"), "q and k must be"),
        (lambda: qk_norm.scores(np.ones((3, 4)), ONES, [1.0], "after"), "q_len must be"),
        (lambda: qk_norm.scores(ONES, ONES, [1.0] * 3, "before"), "x must have at least 2"),
        (lambda: qk_norm.equal_within_pairs([1.0] * 3, 2), "gain must be one number or one per"),
        (lambda: qk_norm.rms_norm([1.0], 1e308 * np.ones(1), 1e-300), None),
    ):
        if sentence is None:
            assert np.isfinite(ask()).all()
            continue
        with pytest.raises(InvalidParameterError, match=f"^{sentence}.* got "):
            ask()


# Relative or not.


@given(dims, thetas, layouts, seeds, st.sampled_from(GAINS), st.integers(0, 99), st.integers(0, 99))
def test_the_norm_before_rope_leaves_the_score_to_the_distance(d, theta, layout, seed, kind, m, n):
    (q, k), gain = drawn(seed, d, 1, 1), qk_norm.random_gain(kind, d, layout, seed)
    shifts, frequencies = [0, 1, 17, 400], rope.inv_freq(d, theta)

    def moved(order):
        return qk_norm.shifted_scores(
            q[0], k[0], (m, n), shifts, frequencies, order, gain, gain, layout
        )

    before, after = (moved(order) for order in ORDERS)
    np.testing.assert_allclose(before, before[0], atol=1e-9)
    if kind != "free":
        np.testing.assert_allclose(after, before, atol=1e-9)


@given(dims, thetas, layouts, seeds, st.sampled_from(GAINS), st.integers(1, 12))
def test_moved_scores_are_the_entries_of_all_scores(d, theta, layout, seed, kind, length):
    q, k = drawn(seed, d, length, length)
    gains = [qk_norm.random_gain(kind, d, layout, seed + i) for i in range(2)]
    frequencies, last = rope.inv_freq(d, theta), length - 1
    for order in ORDERS:
        every = qk_norm.scores(q, k, frequencies, order, *gains, layout)
        one = qk_norm.shifted_scores(
            q[last], k[0], (last - 5, -5), [5.0], frequencies, order, *gains, layout
        )
        assert one[0] == pytest.approx(every[last, 0], abs=1e-9)


def test_the_norm_after_rope_with_a_free_gain_is_not_relative():
    q, k = drawn(0, 64, 1, 1)
    gain = qk_norm.random_gain("free", 64)
    after = qk_norm.shifted_scores(
        q[0], k[0], (20, 8), np.arange(64), rope.inv_freq(64, 1e4), "after", gain, gain
    )
    assert np.ptp(after) > 0.1


@pytest.mark.parametrize("spread", [0.0, 0.2, 1.0])
def test_a_gain_spreads_as_told(spread):
    gain = qk_norm.random_gain("free", 1 << 14, spread=spread)
    assert np.log(gain).std() == pytest.approx(spread, abs=0.02)


def test_moved_scores_want_one_query_and_one_key_of_a_length():
    ask = [[1.0, 2.0], [1.0, 2.0, 3.0], (1, 2), 0, [1.0], "after"]
    with pytest.raises(InvalidParameterError, match=r"^k must be as long as q, 2, got 3$"):
        qk_norm.shifted_scores(*ask)
    with pytest.raises(InvalidParameterError, match=r"^q must have the axes"):
        qk_norm.shifted_scores([[1.0, 2.0]], *ask[1:])
    with pytest.raises(InvalidParameterError, match=r"^spread must be a number from 0 to 10, got"):
        qk_norm.random_gain("free", 8, spread=-1.0)
