"""Curves by distance: equal to the plain formulas, reduced without aliasing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import distance, rope, sinusoidal
from posviz.attention import softmax
from posviz.params import InvalidParameterError

LLAMA = rope.inv_freq(128, 500_000.0)
SLOW = st.builds(rope.RoPE, st.integers(8, 512).map(lambda pairs: 2 * pairs), st.floats(1e7, 1e9))


@pytest.mark.parametrize("scale", ["log", "linear"])
@given(seq_len=st.integers(1, 600_000), count=st.integers(2, 400))
def test_bins_cover_every_distance_once_in_order(scale: str, seq_len: int, count: int) -> None:
    starts = distance.bins(seq_len, count, scale)  # type: ignore[arg-type]
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    assert starts[-1] < seq_len
    assert len(starts) <= count + 1


def test_bins_are_single_distances_while_they_fit() -> None:
    assert distance.bins(5, 260, "log").tolist() == [0, 1, 2, 3, 4]


def test_the_envelope_holds_the_peak_that_sampling_would_miss() -> None:
    spike = np.zeros(10_000)
    spike[7_777] = 9.0
    low, high = distance.envelope(spike, distance.bins(10_000, 50, "linear"))
    assert high.max() == 9.0
    assert low.max() == 0.0


def test_rope_scores_are_those_of_rotated_vectors_of_ones() -> None:
    ones = np.ones(128)
    key = rope.rotate(ones, 0, LLAMA)
    for at in (0, 1, 77, 4095, 32_767):
        direct = rope.rotate(ones, at, LLAMA) @ key / np.sqrt(128)
        scores = distance.rope_scores(LLAMA, 32_768)
        assert scores[at] == pytest.approx(direct, abs=1e-9)


def test_the_attention_factor_multiplies_scores_by_its_square() -> None:
    plain, scaled = distance.rope_scores(LLAMA, 64), distance.rope_scores(LLAMA, 64, 1.3)
    np.testing.assert_allclose(scaled, 1.3**2 * plain, rtol=1e-12)


def test_sinusoidal_scores_are_half_of_ropes_over_the_same_base() -> None:
    same = rope.inv_freq(64, 10_000.0)
    np.testing.assert_allclose(
        distance.sinusoidal_scores(500, 64), distance.rope_scores(same, 500) / 2, rtol=1e-12
    )
    table = sinusoidal.table(500, 64)
    np.testing.assert_allclose(
        distance.sinusoidal_scores(500, 64), table @ table[0] / 8.0, atol=1e-12
    )


def test_q_equals_k_decays_but_not_steadily() -> None:
    scores = distance.rope_scores(rope.inv_freq(128, 10_000.0), 4096)
    assert scores[0] == scores.max()
    assert scores[2048:].max() < scores[0] / 2
    assert np.any(np.diff(scores) > 0)


def test_random_scores_do_not_decay() -> None:
    mean, low, high = distance.random_band(LLAMA, np.array([1.0, 100.0, 10_000.0]), draws=4000)
    np.testing.assert_allclose(mean, 0.0, atol=0.06)
    np.testing.assert_allclose(high - low, 2 * 1.2816, atol=0.12)  # the normal's 80 %


def test_random_weights_are_even_and_sum_to_one() -> None:
    row = 500
    # The mean of a log-normal over n draws is off by about sqrt((e - 1) / n): 1 % here.
    mean, low, high = distance.random_band(LLAMA, np.arange(row), row=row, draws=20_000)
    assert mean.sum() == pytest.approx(1.0, rel=0.03)
    assert mean.max() / mean.min() < 1.1
    assert np.all((low < mean) & (mean < high))


@pytest.mark.parametrize("row", [2, 30, 300])
def test_random_weights_agree_with_whole_random_rows(row: int) -> None:
    draws = 120_000 // row
    rng = np.random.default_rng(1)
    q = rng.standard_normal((draws, 128))
    q *= np.sqrt(128) / np.linalg.norm(q, axis=1, keepdims=True)
    k = rng.standard_normal((draws, row, 128))
    whole = softmax(np.einsum("bd,bkd->bk", q, k) / np.sqrt(128))
    mean, low, high = distance.random_band(LLAMA, np.array([50.0]), row=row, draws=4000)
    assert mean[0] == pytest.approx(whole.mean(), rel=0.05)
    assert low[0] == pytest.approx(np.quantile(whole, 0.1), rel=0.12)
    assert high[0] == pytest.approx(np.quantile(whole, 0.9), rel=0.12)


def test_a_row_of_one_key_has_all_the_weight() -> None:
    np.testing.assert_array_equal(distance.random_band(LLAMA, np.array([0.0]), row=1), 1.0)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None, "8"])
def test_a_wrong_length_is_told(wrong: object) -> None:
    with pytest.raises(InvalidParameterError, match="seq_len must be a whole number"):
        distance.bins(wrong, 10, "log")  # type: ignore[arg-type]


@pytest.mark.parametrize("came", [None, 0, -1, 1.5, math.nan, "8", True], ids=repr)
def test_a_number_of_bins_that_is_none_is_refused(came: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"^count must be a whole number of at least"):
        distance.bins(10, came, "log")  # type: ignore[arg-type]


def test_a_scale_of_bins_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"^scale must be one of linear, log, got "):
        distance.bins(10, 4, "root")  # type: ignore[arg-type]


@pytest.mark.parametrize("came", [None, [], [[1.0]], "values", [math.nan], [1.0, [2.0]]], ids=repr)
def test_values_without_an_envelope_are_refused(came: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"^values must .* got "):
        distance.envelope(came, [0])  # type: ignore[arg-type]


@pytest.mark.parametrize("came", [None, [], [0, 3], [-1], [1, 0], [0, 0], [0.0], 1], ids=repr)
def test_bins_outside_the_values_are_refused(came: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"^starts must be .* got "):
        distance.envelope([1.0, 2.0, 3.0], came)  # type: ignore[arg-type]


@pytest.mark.parametrize("came", [None, "1", -1.0, math.nan, math.inf, 1e200, [1.0]], ids=repr)
def test_an_attention_factor_that_is_none_is_refused(came: object) -> None:
    for ask in (
        lambda: distance.rope_scores([1.0, 0.1], 10, came),  # type: ignore[arg-type]
        lambda: distance.random_band([1.0, 0.1], [1, 2], came),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidParameterError, match=r"^attention_factor must be a number from"):
            ask()


def test_scores_of_no_frequency_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"^inv_freq must be a list with one number"):
        distance.rope_scores([], 10)


@pytest.mark.parametrize("row", [1, 2, 256, 257, 100_000])
@pytest.mark.parametrize("attention_factor", [0.0, 1.0, 2.0, 6.5, 1e3, 1e6])
def test_random_weights_stay_weights_at_any_attention_factor(
    attention_factor: float, row: int
) -> None:
    band = distance.random_band([1.0, 0.1], [0, 1, 9], attention_factor, row=row, draws=16)
    assert np.all((band >= 0.0) & (band <= 1.0))
    if row == 1 or not attention_factor:
        np.testing.assert_allclose(band, 1.0 / row, rtol=1e-12)


def test_a_count_of_draws_keeps_its_value_and_not_its_type() -> None:
    for draws in (np.uint8(20), np.int8(20)):
        ours = distance.random_band([1.0, 0.1], [1, 2], draws=draws)  # type: ignore[arg-type]
        np.testing.assert_array_equal(ours, distance.random_band([1.0, 0.1], [1, 2], draws=20))


@pytest.mark.parametrize("row", [200, 300, 100_000])
def test_random_weights_average_to_a_share_whatever_the_attention_factor(row: int) -> None:
    mean, _, _ = distance.random_band(LLAMA, [1, 30], 1.2, row=row, draws=20_000)
    np.testing.assert_allclose(mean, 1.0 / row, rtol=0.1)


@given(st.integers(1, 64), st.floats(10.0, 1e9), st.integers(1, 3000), st.integers(2, 200))
def test_mean_scores_are_the_means_of_every_distance(
    pairs: int, theta: float, seq_len: int, count: int
) -> None:
    inv_freq = rope.inv_freq(2 * pairs, theta)
    starts = distance.bins(seq_len, count, "log")
    every = distance.rope_scores(inv_freq, seq_len, 1.2)
    means = [part.mean() for part in np.split(every, starts[1:])]
    ours = distance.mean_scores(inv_freq, starts, seq_len, 1.2)
    np.testing.assert_allclose(ours, means, atol=1e-9)


def test_a_stopped_pair_has_a_mean_score_and_bad_bins_none() -> None:
    assert distance.mean_scores([0.0], np.array([0, 5]), 9) == pytest.approx(math.sqrt(2.0))
    with pytest.raises(InvalidParameterError, match="ascending"):
        distance.mean_scores([1.0], np.array([5, 5]), 9)


@given(SLOW, st.integers(0, 200), st.floats(1.0, 8.0))
def test_a_learned_distance_stays_without_scaling_and_is_multiplied_by_interpolation(
    one: rope.RoPE, looked_for: int, factor: float
) -> None:
    plain = distance.learned_scores(one, one.inv_freq, looked_for, 256)
    assert plain.argmax() == looked_for
    assert plain.max() == pytest.approx(math.sqrt(one.rotary_dim))
    times = round(factor)
    moved = distance.learned_scores(one, one.inv_freq / times, looked_for, 256 * times, 1.5)
    assert moved.argmax() == looked_for * times
    assert moved.max() == pytest.approx(2.25 * math.sqrt(one.rotary_dim))
