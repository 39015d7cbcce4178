"""RoPE: frequencies, both pairings, partial rotary, and what a rotation must not change."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, rope
from posviz.params import InvalidParameterError
from posviz.rope import LAYOUTS, RoPE

GOLDEN_DIR = Path(__file__).parent / "golden"
CASES = json.loads((GOLDEN_DIR / "rope.json").read_text())
PLAIN = [case for case in CASES if case["type"] == "default"]
PARTIAL = [case for case in CASES if case["type"] == "partial"]
APPLY = json.loads((GOLDEN_DIR / "apply.json").read_text())
SUMS = json.loads((GOLDEN_DIR / "cosine_sums.json").read_text())
DECAY = json.loads((GOLDEN_DIR / "roformer_decay.json").read_text())
PI_THEOREM = json.loads((GOLDEN_DIR / "pi_theorem_2_1.json").read_text())
by_id = {"ids": lambda case: case["id"]}
by_position = {"ids": lambda case: f"position_{case['position']}"}

dims = st.integers(int(params.HEAD_DIM.low) // 2, int(params.HEAD_DIM.high) // 2).map(
    lambda i: 2 * i
)
thetas = st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high)
positions = st.integers(int(params.POSITION.low), int(params.POSITION.high))
shifts = st.integers(int(params.SHIFT.low), int(params.SHIFT.high))
layouts = st.sampled_from(LAYOUTS)


@st.composite
def heads(draw):
    """A vector of a head, the frequencies of the dimensions that rotate, and a pairing."""
    rotary_dim = draw(dims)
    head_dim = rotary_dim + draw(st.integers(0, 16))
    x = np.random.default_rng(draw(st.integers(0, 999))).normal(size=head_dim)
    return x, rope.inv_freq(rotary_dim, draw(thetas)), draw(layouts)


def turned_by_hand(x, position, inv_freq, layout):
    """The rotation pair by pair, with complex numbers, as RoFormer writes it."""
    out = list(x)
    for i, frequency in enumerate(inv_freq):
        a, b = (i, i + len(inv_freq)) if layout == "half" else (2 * i, 2 * i + 1)
        turned = complex(x[a], x[b]) * complex(
            math.cos(position * frequency), math.sin(position * frequency)
        )
        out[a], out[b] = turned.real, turned.imag
    return out


# Vectors from outside.


def test_vectors_are_all_there():
    assert len(PLAIN) == 15
    assert len(PARTIAL) == 5
    assert [case["position"] for case in APPLY["cases"]] == [0, 1, 5, 100]
    assert (APPLY["dim"], APPLY["rope_theta"], len(APPLY["q"])) == (8, 10_000.0, 8)


@pytest.mark.parametrize("case", PLAIN, **by_id)
def test_frequencies_are_hugging_faces(case):
    dim, theta = case["params"]["dim"], case["params"]["rope_theta"]
    assert (
        case["id"] == f"default_d{dim}_b{theta:g}" or case["id"] == f"default_d{dim}_b{theta:.0f}"
    )
    assert len(case["inv_freq"]) == dim // 2

    frequencies = RoPE(dim, theta).inv_freq
    assert frequencies[0] == 1.0
    assert np.all(np.diff(frequencies) < 0)
    assert frequencies[-1] > 1 / theta

    np.testing.assert_allclose(frequencies, case["inv_freq"], rtol=2e-6)


@pytest.mark.parametrize("case", PARTIAL, **by_id)
def test_partial_frequencies_are_gpt_neoxs(case):
    given_params = case["params"]
    rotary_dim = rope.rotary_dim(given_params["head_dim"], given_params["partial_rotary_factor"])
    assert rotary_dim == given_params["dim"]
    assert rotary_dim < given_params["head_dim"]
    expected = case["inv_freq"]
    np.testing.assert_allclose(
        rope.inv_freq(rotary_dim, given_params["rope_theta"]), expected, rtol=2e-6
    )


@pytest.mark.parametrize("case", APPLY["cases"], **by_position)
@pytest.mark.parametrize(
    ("reference", "layout", "rotary_dim"),
    [
        ("half_split_llama", "half", 8),
        ("meta_llama_complex", "interleaved", 8),
        ("gptj_interleaved", "interleaved", 8),
        ("cohere_interleaved", "interleaved", 8),
        ("glm_interleaved_rot_all", "interleaved", 8),
        ("neox_partial_0.5_first_4", "half", 4),
    ],
)
def test_rotated_vector_is_the_references(case, reference, layout, rotary_dim):
    q = np.array(APPLY["q"])
    rotated = rope.rotate(q, case["position"], rope.inv_freq(rotary_dim, 10_000.0), layout)
    np.testing.assert_array_equal(rotated[rotary_dim:], q[rotary_dim:])
    assert np.linalg.norm(rotated) == pytest.approx(np.linalg.norm(q), rel=1e-12)
    np.testing.assert_allclose(rotated, case[reference], rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("case", APPLY["cases"], **by_position)
def test_deepseek_returns_the_interleaved_rotation_in_halves(case):
    rotated = rope.rotate(APPLY["q"], case["position"], rope.inv_freq(8, 10_000.0), "interleaved")
    expected = case["deepseek_v3_interleave_output_is_deinterleaved"]
    np.testing.assert_allclose(rotated[rope.interleaved_to_half(8)], expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("case", APPLY["scores"], ids=lambda case: f"m{case['m']}_n{case['n']}")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_score_is_the_references(case, layout):
    frequencies = rope.inv_freq(8, 10_000.0)
    q = rope.rotate(APPLY["q"], case["m"], frequencies, layout)
    k = rope.rotate(APPLY["k"], case["n"], frequencies, layout)
    expected = case["half_split_dot" if layout == "half" else "interleaved_dot"]
    assert q @ k == pytest.approx(expected, rel=2e-6, abs=2e-6)


def test_permutation_is_the_references():
    expected = APPLY["permutation_interleaved_to_half"]
    np.testing.assert_array_equal(rope.interleaved_to_half(8), expected)


@pytest.mark.parametrize("case", SUMS, ids=lambda case: f"d{case['dim']}_b{case['rope_theta']:g}")
def test_cosine_sums_are_the_references(case):
    sums = rope.cosine_sums(rope.inv_freq(case["dim"], case["rope_theta"]), 16385)
    assert sums[0] == pytest.approx(case["dim"] / 2, rel=1e-14)
    for distance, expected in case["re_S_last_f64"].items():
        assert sums[int(distance)] == pytest.approx(expected, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("case", DECAY, ids=lambda case: f"d{case['dim']}_b{case['rope_theta']:g}")
def test_decay_bound_is_roformers(case):
    dim, theta = case["dim"], case["rope_theta"]
    at = {int(distance): values for distance, values in case["at_distance_f64"].items()}
    assert case["definition"].startswith("S_j = sum_{i<j} exp(i n theta_i), j=1..d/2; ")
    assert {0, 1, 1000, 16384} <= set(at)
    bounds = rope.decay_bound(dim, theta, list(at))
    assert bounds[0] == (dim / 2 + 1) / 2, "not 1, and not d / 2"
    assert np.any(np.diff(bounds) > 0), "it does not fall all the way"
    np.testing.assert_allclose(bounds, [v["mean_abs_S"] for v in at.values()], rtol=1e-12)
    sums = [v["sum_abs_S"] for v in at.values()]
    np.testing.assert_allclose(bounds * dim / 2, sums, rtol=1e-12)


def test_the_interpolation_theorem_of_position_interpolation_is_not_asserted():
    """Chen et al. 2023, theorem 2.1, is wrong by a constant: this h exceeds its bound."""
    frequencies = rope.inv_freq(PI_THEOREM["d"], PI_THEOREM["c"])
    h = np.exp(-0.5j * frequencies)
    start, middle, end = (np.sum(h * np.exp(1j * s * frequencies)).real for s in (0.0, 0.5, 1.0))
    gap = middle - (start + end) / 2
    attained = PI_THEOREM["attained_gap_at_midpoint_of_s_in_[0,1]_with_h_j=exp(-0.5i theta_j)"]
    assert gap == pytest.approx(attained, rel=1e-12)
    assert gap > PI_THEOREM["claimed_max_gap_d_over_32lnc"]


# Properties over the declared ranges.


@given(heads(), positions)
def test_rotation_is_the_papers_pair_by_pair(head, position):
    x, frequencies, layout = head
    np.testing.assert_allclose(
        rope.rotate(x, position, frequencies, layout),
        turned_by_hand(x, position, frequencies, layout),
        rtol=0,
        atol=1e-9,
    )


@given(heads(), positions)
def test_rotation_keeps_every_length(head, position):
    x, frequencies, layout = head
    rotated = rope.rotate(x, position, frequencies, layout)
    assert np.linalg.norm(rotated) == pytest.approx(np.linalg.norm(x), rel=1e-12)
    first, second = rope.pair_slices(2 * len(frequencies), layout)
    np.testing.assert_allclose(
        np.hypot(rotated[first], rotated[second]), np.hypot(x[first], x[second]), rtol=1e-12
    )


@given(heads(), positions, positions)
def test_two_rotations_are_one_by_the_sum(head, a, b):
    x, frequencies, layout = head
    twice = rope.rotate(rope.rotate(x, a, frequencies, layout), b, frequencies, layout)
    once = rope.rotate(x, a + b, frequencies, layout)
    np.testing.assert_allclose(twice, once, rtol=0, atol=1e-8)


@given(heads(), positions)
def test_turning_back_gives_the_vector_again(head, position):
    x, frequencies, layout = head
    rotated = rope.rotate(x, position, frequencies, layout)
    back = rope.rotate(rotated, -position, frequencies, layout)
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-12)


@given(heads(), positions)
def test_turning_back_is_the_transpose(head, position):
    x, frequencies, layout = head
    y = x[::-1]
    forward = rope.rotate(x, position, frequencies, layout) @ y
    backward = x @ rope.rotate(y, -position, frequencies, layout)
    assert forward == pytest.approx(backward, abs=1e-10)


@given(heads(), positions, positions, shifts)
def test_shifting_query_and_key_alike_keeps_their_score(head, m, n, shift):
    q, frequencies, layout = head
    k = q[::-1]

    def score(m, n):
        return rope.rotate(q, m, frequencies, layout) @ rope.rotate(k, n, frequencies, layout)

    assert score(m, n) == pytest.approx(score(m + shift, n + shift), abs=1e-7)
    assert score(m, n) == pytest.approx(score(m - n, 0), abs=1e-7)


@given(heads())
def test_position_zero_turns_nothing(head):
    x, frequencies, layout = head
    np.testing.assert_array_equal(rope.rotate(x, 0, frequencies, layout), x)


@given(dims, thetas, positions, st.integers(0, 999))
def test_both_pairings_are_one_map_up_to_the_permutation(dim, theta, position, seed):
    x = np.random.default_rng(seed).normal(size=dim)
    frequencies = rope.inv_freq(dim, theta)
    order = rope.interleaved_to_half(dim)
    np.testing.assert_array_equal(
        rope.rotate(x[order], position, frequencies, "half"),
        rope.rotate(x, position, frequencies, "interleaved")[order],
    )


@given(dims)
def test_the_permutation_holds_each_dimension_once(dim):
    np.testing.assert_array_equal(np.sort(rope.interleaved_to_half(dim)), np.arange(dim))


@given(dims, st.integers(0, 999))
def test_each_permutation_undoes_the_other(dim, seed):
    x = np.random.default_rng(seed).normal(size=dim)
    there, back = rope.interleaved_to_half(dim), rope.half_to_interleaved(dim)
    np.testing.assert_array_equal(x[there][back], x)
    np.testing.assert_array_equal(x[back][there], x)


@given(dims, thetas, positions, st.integers(0, 999))
def test_halves_reordered_rotate_interleaved(dim, theta, position, seed):
    x = np.random.default_rng(seed).normal(size=dim)
    frequencies, back = rope.inv_freq(dim, theta), rope.half_to_interleaved(dim)
    np.testing.assert_array_equal(
        rope.rotate(x[back], position, frequencies, "interleaved"),
        rope.rotate(x, position, frequencies, "half")[back],
    )


@given(heads(), positions)
def test_turning_by_angles_is_rotating_by_their_position(head, position):
    x, frequencies, layout = head
    np.testing.assert_array_equal(
        rope.turn(x, position * frequencies, layout),
        rope.rotate(x, position, frequencies, layout),
    )


@given(dims, layouts)
def test_pairs_cover_each_dimension_once(dim, layout):
    first, second = rope.pair_slices(dim, layout)
    every = np.arange(dim)
    np.testing.assert_array_equal(np.sort([*every[first], *every[second]]), every)
    assert len(every[first]) == len(every[second]) == dim // 2


@given(dims, thetas, st.integers(1, 4000))
def test_cosine_sums_equal_the_direct_sum(dim, theta, seq_len):
    frequencies = rope.inv_freq(dim, theta)
    sums = rope.cosine_sums(frequencies, seq_len)
    assert sums.shape == (seq_len,)
    direct = np.cos(np.arange(seq_len)[:, None] * frequencies).sum(axis=-1)
    np.testing.assert_allclose(sums, direct, rtol=0, atol=1e-9)


@given(dims, thetas, st.integers(0, 2000), layouts)
def test_score_of_ones_is_twice_the_cosine_sum(dim, theta, distance, layout):
    frequencies = rope.inv_freq(dim, theta)
    ones = np.ones(dim)
    score = rope.rotate(ones, distance, frequencies, layout) @ ones
    assert score == pytest.approx(2 * rope.cosine_sums(frequencies, distance + 1)[-1], abs=1e-9)


@given(dims, thetas)
def test_wavelength_and_turns_say_the_same(dim, theta):
    frequencies = rope.inv_freq(dim, theta)
    waves = rope.wavelength(frequencies)
    assert waves[0] == pytest.approx(2 * math.pi)
    np.testing.assert_allclose(rope.turns(frequencies, 1000) * waves, 1000, rtol=1e-12)
    np.testing.assert_array_equal(rope.turns(frequencies, 0), 0.0)


def test_a_pair_that_stands_still_has_an_infinite_wavelength():
    np.testing.assert_array_equal(rope.wavelength([1.0, 0.0]), [2 * math.pi, math.inf])


def test_positions_broadcast_with_the_vectors():
    frequencies = rope.inv_freq(4, 100.0)
    x = np.arange(24.0).reshape(2, 3, 4)
    rotated = rope.rotate(x, np.arange(3), frequencies)
    assert rotated.shape == (2, 3, 4)
    np.testing.assert_array_equal(rotated[1, 2], rope.rotate(x[1, 2], 2, frequencies))
    one_vector = rope.rotate([1.0, 0.0, 0.0, 0.0], np.arange(5), frequencies)
    assert one_vector.shape == (5, 4)
    np.testing.assert_allclose(one_vector[:, 0], np.cos(np.arange(5)))


def test_rotation_leaves_its_input_alone():
    x = np.ones(4)
    rope.rotate(x, 3, rope.inv_freq(4, 100.0))
    np.testing.assert_array_equal(x, 1.0)


# Bounds on scores.


def score_at(q, k, distance, frequencies, layout):
    """Unscaled score of a query ``distance`` tokens after its key."""
    return rope.rotate(q, distance, frequencies, layout) @ k


@given(dims, thetas, st.floats(-1e6, 1e6), layouts, st.integers(0, 999), st.sampled_from([0, 1, 5]))
def test_no_score_exceeds_its_bound(dim, theta, distance, layout, seed, mean):
    q, k = np.random.default_rng(seed).normal(mean, size=(2, dim))
    frequencies = rope.inv_freq(dim, theta)
    bound = rope.score_bound(q, k, distance, frequencies, layout)
    assert abs(score_at(q, k, distance, frequencies, layout)) <= bound * (1 + 1e-9)


@given(dims, thetas, layouts)
def test_the_bound_of_equal_vectors_needs_its_last_term(dim, theta, layout):
    """q = k = 1: every h is 2, so only ``|0 - h_last|`` is not 0."""
    ones, frequencies = np.ones(dim), rope.inv_freq(dim, theta)
    distances = np.array([0, 1, 17, 4096])
    bound = rope.score_bound(ones, ones, distances, frequencies, layout)
    expected = 2 * dim / 2 * rope.decay_bound(dim, theta, distances)
    np.testing.assert_allclose(bound, expected, rtol=1e-12)
    assert np.all(bound > 0)


@given(st.floats(1e-3, 1e3), st.floats(-1e5, 1e5))
def test_the_bound_of_a_single_pair_is_reached(size, distance):
    q, k = [size, 0.0], rope.rotate([1.0, 0.0], distance, [1.0])
    assert rope.score_bound(q, k, distance, [1.0]) == pytest.approx(size)
    assert score_at(q, k, distance, [1.0], "half") == pytest.approx(size)


@given(dims, thetas, st.integers(0, 10**6))
def test_decay_bound_is_that_of_the_opposite_distance_and_largest_at_none(dim, theta, distance):
    bound = rope.decay_bound(dim, theta, distance)
    assert bound == rope.decay_bound(dim, theta, -distance)
    assert bound + 1e-9 >= 0.5, "two neighbouring sums are at least 1 long together"
    assert bound <= rope.decay_bound(dim, theta, 0) * (1 + 1e-12)


def test_bounds_have_the_shape_of_the_distances():
    for distance in (3, [0, 1], np.zeros((2, 3))):
        assert np.shape(rope.decay_bound(8, 10_000.0, distance)) == np.shape(distance)
        assert np.shape(rope.score_bound([1.0] * 4, [1.0] * 4, distance, [1.0, 0.1])) == np.shape(
            distance
        )


@given(dims, thetas, st.integers(-100_000, 100_000), layouts, st.integers(0, 999))
def test_the_score_of_a_peaked_key_is_largest_at_its_distance(dim, theta, distance, layout, seed):
    q = np.random.default_rng(seed).normal(size=dim)
    frequencies = rope.inv_freq(dim, theta)
    k = rope.peaked_key(q, distance, frequencies, layout)
    assert np.linalg.norm(k) == pytest.approx(np.linalg.norm(q), rel=1e-12)

    def score(at):  # the query at position 200,000, so that keys ahead have one too
        return rope.rotate(q, 200_000, frequencies, layout) @ rope.rotate(
            k, 200_000 - at, frequencies, layout
        )

    peak = score(distance)
    assert peak == pytest.approx(q @ q, rel=1e-9)
    for away in (1, -1, 2, 5, 100, -1000):
        assert score(distance + away) < peak


# Random scores.


@given(dims, thetas, st.floats(-3, 3), st.floats(0, 3))
def test_score_moments_of_no_mean_do_not_decay(dim, theta, mean, std):
    frequencies, distances = rope.inv_freq(dim, theta), [0, 1, 100, 131071]
    expected, variance = rope.score_moments(frequencies, distances, 0.0, std)
    np.testing.assert_array_equal(expected, 0.0)
    np.testing.assert_allclose(variance, std**4, rtol=1e-12)
    expected, variance = rope.score_moments(frequencies, distances, mean, 0.0)
    ones = mean * np.ones(dim)
    exact = [score_at(ones, ones, d, frequencies, "half") / math.sqrt(dim) for d in distances]
    np.testing.assert_allclose(expected, exact, atol=1e-8)
    np.testing.assert_array_equal(variance, 0.0)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.5, 1.0), (-1.0, 0.7)])
def test_score_moments_are_those_of_drawn_vectors(mean, std):
    frequencies, draws = rope.inv_freq(16, 10_000.0), 20_000
    q, k = np.random.default_rng(7).normal(mean, std, size=(2, draws, 16))
    for distance in (0, 3, 1000):
        expected, variance = rope.score_moments(frequencies, distance, mean, std)
        scores = np.sum(rope.rotate(q, distance, frequencies) * k, axis=-1) / 4.0
        # Five standard errors; the seed is fixed.
        assert scores.mean() == pytest.approx(expected, abs=5 * math.sqrt(variance / draws))
        assert scores.var() == pytest.approx(variance, rel=0.06)


def test_the_scores_that_are_drawn_have_the_moments_that_are_computed():
    frequencies = rope.inv_freq(64, 10_000.0)
    scores = rope.random_scores(frequencies, [0, 100], draws=4000)
    expected, variance = rope.score_moments(frequencies, [0, 100])
    np.testing.assert_allclose(scores.mean(axis=0), expected, atol=5 / math.sqrt(4000))
    np.testing.assert_allclose(scores.var(axis=0), variance, atol=0.12)


def test_random_scores_have_mean_zero_and_variance_one_at_every_distance():
    distances = [0, 1, 7, 100, 4096, 131071]
    scores = rope.random_scores(rope.inv_freq(64, 10_000.0), distances, draws=4000)
    assert scores.shape == (4000, 6)
    # Five standard errors; the seed is fixed.
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=5 / math.sqrt(4000))
    np.testing.assert_allclose(scores.var(axis=0), 1.0, atol=5 * math.sqrt(2.2 / 4000))


@given(st.floats(1e-6, 3.0), st.integers(-100_000, 100_000), st.integers(0, 99))
def test_a_random_score_turns_by_distance_times_frequency(frequency, distance, seed):
    quarter = rope.random_scores([math.pi / 2], [0, 1, 2, 3], 1, seed)[0]
    np.testing.assert_allclose(quarter[2:], -quarter[:2], atol=1e-12)
    along, across = quarter[:2]
    angle = distance * frequency
    expected = along * math.cos(angle) + across * math.sin(angle)
    score = rope.random_scores([frequency], [distance], 1, seed)[0, 0]
    assert score == pytest.approx(expected, abs=1e-12)


def test_a_draw_stays_the_same_vector_as_pairs_are_added():
    distances = np.arange(50)
    few = rope.random_scores([1.0, 0.1], distances, 3)
    more = rope.random_scores([1.0, 0.1, 0.0], distances, 3)
    # A pair that stands still adds a constant, and lengthens q, which divides all the scores.
    for two, three in zip(few, more, strict=True):
        shrunk, constant = np.polyfit(two, three, 1)
        np.testing.assert_allclose(three, shrunk * two + constant, atol=1e-12)
        assert 0 < shrunk < 1
        assert abs(constant) > 1e-6


def test_the_same_seed_draws_the_same_scores_and_another_does_not():
    def draw(seed):
        return rope.random_scores([1.0, 0.1], [0, 5], 4, seed)

    np.testing.assert_array_equal(draw(1), draw(1))
    assert not np.allclose(draw(1), draw(2))


# Public bug reports.


def test_partial_rotary_counts_by_rotary_dim_and_pairs_within_it():
    """pie-project/pie#602: theta**(-2i/head_dim), and dimension 0 paired with head_dim / 2."""
    rotary_dim = rope.rotary_dim(256, 0.25)
    frequencies = rope.inv_freq(rotary_dim, 1e7)
    assert rotary_dim == 64
    assert frequencies[16] == pytest.approx(3.1622777e-04, rel=1e-7)
    unit = np.zeros(256)
    unit[0] = 1.0
    moved = np.flatnonzero(rope.rotate(unit, 1, frequencies))
    np.testing.assert_array_equal(moved, [0, 32])


def test_partial_rotary_of_a_small_head_has_as_many_frequencies_as_rotating_pairs():
    """HF PR #48652: GPT-NeoX-Japanese built inv_freq over the full head."""
    assert rope.rotary_dim(16, 0.25) == 4
    assert len(rope.inv_freq(rope.rotary_dim(16, 0.25), 10_000.0)) == 2


def test_a_share_of_a_head_is_truncated_not_rounded():
    """Hugging Face writes int(head_dim * partial_rotary_factor): 28.999... is 28."""
    assert rope.rotary_dim(100, 0.29) == 28
    assert rope.rotary_dim(80, 0.4) == 32


@pytest.mark.parametrize(
    ("position", "cos", "sin"),
    [(257, 0.8193, -0.5734), (15962, -0.9080, 0.4189), (65535, 0.1923, 0.9813)],
)
def test_positions_are_not_rounded_to_bfloat16(position, cos, sin):
    """HF PR #29285: bfloat16 makes 256 of 257, 15936 of 15962 and 65536 of 65535."""
    assert rope.rotate([1.0, 0.0], position, [1.0]) == pytest.approx([cos, sin], abs=1e-4)


@pytest.mark.parametrize(
    ("position", "cos", "sin"),
    [
        (48040, 0.3296545342470445, -0.9441016301491933),
        (131071, -0.8179834993879491, -0.5752416837547894),
        (524288, 0.9858520157461037, 0.1676180272206543),
    ],
)
def test_angles_far_out_are_reduced_to_a_turn(position, cos, sin):
    """kekzl/imp#1316: a fast sine without argument reduction beyond 48039 (numbers: mpmath)."""
    rotated = rope.rotate([1.0, 0.0], position, [1.0])
    assert rotated == pytest.approx([cos, sin], rel=1e-12)


# Errors.

short = {"ids": lambda came: str(came)[:6]}
NOT_A_COUNT = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", None, True]
NOT_A_THETA = [1.0, 0, -10_000.0, math.nan, math.inf, 10**400, "10000", None, True]
NOT_NUMBERS = [math.nan, math.inf, "1", None, True, 10**400]


@pytest.mark.parametrize("came", [*NOT_A_COUNT, 7, 1], **short)
def test_a_rotary_dim_without_pairs_is_refused(came):
    for ask in (
        lambda: RoPE(came),
        lambda: rope.inv_freq(came, 10_000.0),
        lambda: rope.interleaved_to_half(came),
        lambda: rope.half_to_interleaved(came),
        lambda: rope.decay_bound(came, 10_000.0, 1),
    ):
        with pytest.raises(InvalidParameterError, match=r"^rotary_dim must be .* got "):
            ask()


@pytest.mark.parametrize("came", NOT_A_THETA, **short)
def test_a_rope_theta_that_slows_nothing_is_refused(came):
    for ask in (
        lambda: RoPE(8, came),
        lambda: rope.inv_freq(8, came),
        lambda: rope.decay_bound(8, came, 1),
    ):
        with pytest.raises(InvalidParameterError, match=r"^rope_theta must be .* got "):
            ask()


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_other_counts_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be .* got "):
        rope.rotary_dim(came)
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        rope.cosine_sums([1.0], came)
    with pytest.raises(InvalidParameterError, match=r"^draws must be .* got "):
        rope.random_scores([1.0], [0], came)


@pytest.mark.parametrize("came", [-0.1, 1.1, math.nan, math.inf, 10**400, "1", None, True], **short)
def test_a_share_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^partial_rotary_factor must be .* got "):
        rope.rotary_dim(64, came)


@pytest.mark.parametrize(("head_dim", "share"), [(64, 0.0), (2, 0.5), (10, 0.3)])
def test_a_share_that_leaves_no_pairs_is_refused(head_dim, share):
    with pytest.raises(InvalidParameterError, match=r"^rotary_dim must be .* got "):
        rope.rotary_dim(head_dim, share)


@pytest.mark.parametrize("came", ["Half", "halves", "", None, True, 0], **short)
def test_an_unknown_pairing_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of half, interleaved"):
        rope.rotate([1.0, 0.0], 1, [1.0], came)
    for ask in (
        lambda: rope.turn([1.0, 0.0], [1.0], came),
        lambda: rope.score_bound([1.0, 0.0], [1.0, 0.0], 1, [1.0], came),
        lambda: rope.peaked_key([1.0, 0.0], 1, [1.0], came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^layout must be one of half, inter"):
            ask()


@pytest.mark.parametrize("x", [[1.0, 0.0, 0.0], [], 1.0], ids=["three", "none", "scalar"])
def test_fewer_dimensions_than_the_pairs_need_are_refused(x):
    with pytest.raises(InvalidParameterError, match=r"^x must .* 4 here, got "):
        rope.rotate(x, 1, [1.0, 0.1])


def test_vectors_and_positions_that_do_not_broadcast_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^positions must "):
        rope.rotate(np.zeros((2, 4)), [1, 2, 3], [1.0, 0.1])


@pytest.mark.parametrize("came", NOT_NUMBERS, **short)
def test_vectors_and_positions_that_are_no_numbers_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^x must "):
        rope.rotate([came, came], 1, [1.0])
    for positions in (came, [came]):
        with pytest.raises(InvalidParameterError, match=r"^positions must "):
            rope.rotate([1.0, 0.0], positions, [1.0])
    for ask in (
        lambda: rope.random_scores([1.0], [came, came], 2),
        lambda: rope.decay_bound(8, 10_000.0, [came, came]),
        lambda: rope.decay_bound(8, 10_000.0, came),
        lambda: rope.score_bound([1.0, 0.0], [1.0, 0.0], came, [1.0]),
        lambda: rope.peaked_key([1.0, 0.0], came, [1.0]),
        lambda: rope.score_moments([1.0], came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^distance must "):
            ask()
    with pytest.raises(InvalidParameterError, match=r"^q must "):
        rope.score_bound([came, came], [1.0, 0.0], 1, [1.0])
    with pytest.raises(InvalidParameterError, match=r"^k must "):
        rope.score_bound([1.0, 0.0], [came, came], 1, [1.0])
    with pytest.raises(InvalidParameterError, match=r"^angles must "):
        rope.turn([1.0, 0.0], [came])


@pytest.mark.parametrize("came", [-1.0, 1e7, math.nan, math.inf, "1", None, True, 10**400], **short)
def test_moments_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^std must be .* got "):
        rope.score_moments([1.0], 0, std=came)
    if came != -1.0:
        with pytest.raises(InvalidParameterError, match=r"^mean must be .* got "):
            rope.score_moments([1.0], 0, mean=came)


@pytest.mark.parametrize("came", [[1.0], [1.0, 0.0, 0.0], [[1.0, 0.0]], 1.0, []], ids=str)
def test_a_bound_of_vectors_of_another_length_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^q must be one vector .*, 2 here, got shape"):
        rope.score_bound(came, [1.0, 0.0], 1, [1.0])
    with pytest.raises(InvalidParameterError, match=r"^k must be one vector .*, 2 here, got shape"):
        rope.score_bound([1.0, 0.0], came, 1, [1.0])


@pytest.mark.parametrize("came", [1.0, []], ids=str)
def test_angles_that_are_no_list_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^angles must be a list"):
        rope.turn([1.0, 0.0], came)


def test_angles_and_scores_past_all_numbers_are_refused():
    for ask in (
        lambda: rope.rotate([1.0, 0.0], 1e300, [1e10]),
        lambda: rope.rotate([1.7e308, 1.7e308], math.pi / 4, [1.0]),
        lambda: rope.score_bound([1e200, 0.0], [1e200, 0.0], 1, [1.0]),
        lambda: rope.score_bound([1.0, 0.0], [1.0, 0.0], 1e300, [1e10]),
        lambda: rope.score_moments([1e10], 1e300),
    ):
        with pytest.raises(InvalidParameterError, match=r"must be finite numbers, got "):
            ask()


@pytest.mark.parametrize("came", [*NOT_NUMBERS, -1.0], **short)
def test_frequencies_that_are_none_are_refused(came):
    for ask in (
        lambda: rope.rotate(np.ones(4), 1, [came, came]),
        lambda: rope.wavelength([came, came]),
        lambda: rope.turns([came, came], 8),
        lambda: rope.cosine_sums([came, came], 8),
        lambda: rope.random_scores([came, came], [0], 2),
        lambda: rope.score_bound(np.ones(4), np.ones(4), 1, [came, came]),
        lambda: rope.peaked_key(np.ones(4), 1, [came, came]),
        lambda: rope.score_moments([came, came], 1),
    ):
        with pytest.raises(InvalidParameterError, match=r"^inv_freq must "):
            ask()


@pytest.mark.parametrize("came", [1.0, [[1.0]], []], ids=["scalar", "table", "none"])
def test_frequencies_that_are_no_list_are_refused(came):
    for ask in (
        lambda: rope.rotate(np.ones(4), 1, came),
        lambda: rope.cosine_sums(came, 8),
        lambda: rope.random_scores(came, [0], 2),
    ):
        with pytest.raises(InvalidParameterError, match=r"^inv_freq must "):
            ask()


@pytest.mark.parametrize("came", [-1, math.nan, math.inf, "8", None, True, 10**400], **short)
def test_turns_within_no_length_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        rope.turns([1.0], came)


@pytest.mark.parametrize("came", [-1, 0.5, math.nan, "8", None, True], **short)
def test_a_seed_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seed must be .* got "):
        rope.random_scores([1.0], [0], 2, came)


def test_random_scores_of_a_head_wider_than_any_released_one_still_come():
    scores = rope.random_scores(rope.inv_freq(2048, 10_000.0), [0, 1], 2)
    assert scores.shape == (2, 2)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("seq_len x inv_freq", lambda: rope.turns([1e308], 100)),
        ("distance x inv_freq", lambda: rope.cosine_sums([1e308] * 2, 10)),
        ("distance x inv_freq", lambda: rope.random_scores([1e308] * 2, [1, 30], 4)),
    ],
)
def test_angles_beyond_float64_are_refused(name, ask):
    with pytest.raises(InvalidParameterError, match=f"^{name} must be finite numbers, got inf$"):
        ask()


def test_a_pair_too_slow_for_float64_has_an_infinite_wavelength():
    np.testing.assert_array_equal(rope.wavelength([1e-320, 5e-324, 0.0]), np.inf)


@pytest.mark.parametrize("came", [None, 3, 2.0, "8", [2]], ids=repr)
def test_slices_of_no_even_number_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^rotary_dim must be .* got "):
        rope.pair_slices(came, "half")
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of half, interleaved"):
        rope.pair_slices(8, came)


@pytest.mark.parametrize("came", [[[1, 2]], np.ones((2, 2, 2))], ids=str)
def test_random_scores_take_one_distance_or_a_list(came):
    assert rope.random_scores([1.0, 0.1], 3, 4).shape == (4, 1)
    with pytest.raises(InvalidParameterError, match=r"^distance must be one number or a list"):
        rope.random_scores([1.0, 0.1], came, 4)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: RoPE(2**31 - 2),
        lambda: rope.inv_freq(2**31 - 2, 1e4),
        lambda: rope.interleaved_to_half(2**31 - 2),
        lambda: rope.cosine_sums([1.0], 2**31 - 1),
        lambda: rope.random_scores([1.0], 1, 2**31 - 1),
        lambda: rope.random_scores([1.0], np.ones(2**10), 2**20),
    ],
)
def test_what_fits_no_memory_is_refused(ask):
    with pytest.raises(InvalidParameterError, match=r"must ask for at most 268,435,456 numbers"):
        ask()


# Matrices, tables and pairs.


@given(heads(), positions)
def test_the_matrix_and_the_tables_rotate_as_the_references_do(head, position):
    x, frequencies, layout = head
    x = x[: 2 * len(frequencies)]
    expected = turned_by_hand(x, position, frequencies, layout)
    by_matrix = rope.rotation_matrix(position, frequencies, layout) @ x
    np.testing.assert_allclose(by_matrix, expected, rtol=0, atol=1e-9)
    cos, sin = rope.tables(position, frequencies, layout)
    by_element = x * cos + rope.rotate_half(x, layout) * sin
    np.testing.assert_allclose(by_element, expected, rtol=0, atol=1e-9)


def test_the_matrix_has_blocks_where_pairs_are_neighbours():
    c, s = math.cos(3.0), math.sin(3.0)
    d, t = math.cos(0.3), math.sin(0.3)
    np.testing.assert_allclose(
        rope.rotation_matrix(3, [1.0, 0.1], "interleaved"),
        [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, d, -t], [0, 0, t, d]],
        atol=1e-15,
    )
    np.testing.assert_allclose(
        rope.rotation_matrix(3, [1.0, 0.1]),
        [[c, 0, -s, 0], [0, d, 0, -t], [s, 0, c, 0], [0, t, 0, d]],
        atol=1e-15,
    )


def test_rotate_half_is_the_references_reordering():
    x = np.arange(1.0, 9.0)
    half = [-5.0, -6.0, -7.0, -8.0, 1.0, 2.0, 3.0, 4.0]  # torch.cat((-x2, x1))
    every_two = [-2.0, 1.0, -4.0, 3.0, -6.0, 5.0, -8.0, 7.0]
    np.testing.assert_array_equal(rope.rotate_half(x), half)
    np.testing.assert_array_equal(rope.rotate_half(x, "interleaved"), every_two)
    np.testing.assert_array_equal(rope.rotate_half([x, x])[1], half)


def test_tables_repeat_each_angle_as_the_references_do():
    cos, sin = rope.tables([0, 2], [1.0, 0.5])
    np.testing.assert_allclose(cos, [[1.0] * 4, np.cos([2, 1, 2, 1])])
    np.testing.assert_allclose(sin, [[0.0] * 4, np.sin([2, 1, 2, 1])])
    np.testing.assert_allclose(rope.tables(2, [1.0, 0.5], "interleaved")[0], np.cos([2, 2, 1, 1]))


@given(dims, layouts, st.integers(0, 99))
def test_polar_says_length_and_angle_of_each_pair(dim, layout, seed):
    x = np.random.default_rng(seed).normal(size=dim)
    length, angle = rope.polar(x, layout)
    first, second = rope.pair_slices(dim, layout)
    np.testing.assert_allclose(length * np.cos(angle), x[first], atol=1e-12)
    np.testing.assert_allclose(length * np.sin(angle), x[second], atol=1e-12)


@given(dims, thetas, layouts, st.integers(0, 300), st.integers(0, 300), st.integers(0, 99))
def test_pairs_and_curves_add_up_to_the_score(dim, theta, layout, m, n, seed):
    q, k = np.random.default_rng(seed).normal(size=(2, dim))
    frequencies = rope.inv_freq(dim, theta)
    expected = turned_by_hand(q, m, frequencies, layout) @ np.array(
        turned_by_hand(k, n, frequencies, layout)
    )
    assert rope.scores(q, k, m, n, frequencies, layout)[0, 0] == pytest.approx(expected, abs=1e-9)
    pairs = rope.pair_scores(q, k, m - n, frequencies, layout)
    assert pairs.sum() == pytest.approx(expected, abs=1e-9)
    (q_length, q_angle), (k_length, k_angle) = rope.polar(q, layout), rope.polar(k, layout)
    by_formula = q_length * k_length * np.cos(q_angle - k_angle + (m - n) * frequencies)
    np.testing.assert_allclose(pairs, by_formula, atol=1e-9)
    if m >= n:
        curve = rope.score_curve(q, k, m - n + 1, frequencies, layout)
        assert curve[-1] == pytest.approx(expected, abs=1e-9)
        assert len(curve) == m - n + 1


@given(dims, thetas, st.integers(1, 2000))
def test_the_curve_of_ones_is_twice_the_cosine_sums(dim, theta, seq_len):
    frequencies, ones = rope.inv_freq(dim, theta), np.ones(dim)
    np.testing.assert_allclose(
        rope.score_curve(ones, ones, seq_len, frequencies),
        2 * rope.cosine_sums(frequencies, seq_len), rtol=0, atol=1e-9,
    )  # fmt: skip


def test_scores_stand_in_rows_of_queries():
    found = rope.scores([1.0, 0.0], [1.0, 0.0], [0, 1, 2], [0, 1], [1.0])
    np.testing.assert_allclose(found, np.cos([[0, -1], [1, 0], [2, 1]]), atol=1e-15)
    with_rest = rope.scores([1.0, 0.0, 3.0], [1.0, 0.0, 2.0], 5, 4, [1.0])
    np.testing.assert_allclose(with_rest, [[math.cos(1) + 6.0]])


@given(st.integers(1, 64), st.integers(0, 64), layouts, st.integers(0, 99))
def test_random_vectors_keep_a_pair_as_pairs_are_added_and_in_both_layouts(n, more, layout, seed):
    few, many = (rope.random_vectors(count, layout, seed) for count in (n, n + more))
    for one, other, halves in zip(few, many, rope.random_vectors(n, "half", seed), strict=True):
        for short_slice, long_slice, half_slice in zip(
            rope.pair_slices(2 * n, layout), rope.pair_slices(2 * (n + more), layout),
            rope.pair_slices(2 * n, "half"), strict=True,
        ):  # fmt: skip
            np.testing.assert_array_equal(one[short_slice], other[long_slice][:n])
            np.testing.assert_array_equal(one[short_slice], halves[half_slice])


@pytest.mark.parametrize("dim", [2, 4, 16, 128])
def test_the_error_of_a_mixup_is_that_of_drawn_vectors(dim):
    frequencies = rope.inv_freq(dim, 10_000.0)
    q, k = np.random.default_rng(3).normal(size=(2, 20_000, dim))
    for distance in (0, 1, 10, 1000):
        right, wrong = (
            np.sum(rope.rotate(q, distance, frequencies, layout) * k, axis=-1) for layout in LAYOUTS
        )
        root_mean_square = math.sqrt(np.mean((right - wrong) ** 2) / dim)
        error = rope.mixup_error(frequencies, distance)
        assert root_mean_square == pytest.approx(error, rel=0.05, abs=1e-9)
    assert rope.mixup_error(frequencies, [[0, 0]]).tolist() == [[0.0, 0.0]]
    if dim == 2:
        assert rope.mixup_error(frequencies, 1000) == 0.0, "a single pair is the same in both"
    else:
        assert rope.mixup_error(frequencies, 1000) > 0.5


@pytest.mark.parametrize("came", [[1.0], [1.0, 2.0, 3.0], 5.0, "x", None], ids=repr)
def test_vectors_without_whole_pairs_are_refused(came):
    for ask in (
        lambda: rope.rotate_half(came),
        lambda: rope.polar(came),
        lambda: rope.pair_scores(came, [1.0, 0.0], 1, [1.0]),
        lambda: rope.score_curve([1.0, 0.0], came, 4, [1.0]),
    ):
        with pytest.raises(InvalidParameterError, match=r"^(rotary_dim|x|q|k) must be .* got "):
            ask()


@pytest.mark.parametrize("came", [None, math.nan, math.inf, "3", True, [1.0, 2.0]], ids=repr)
def test_a_matrix_or_a_pair_needs_one_finite_position(came):
    with pytest.raises(InvalidParameterError, match=r"^position must be a finite number, got "):
        rope.rotation_matrix(came, [1.0])
    with pytest.raises(InvalidParameterError, match=r"^distance must be a finite number, got "):
        rope.pair_scores([1.0, 0.0], [1.0, 0.0], came, [1.0])


def test_a_matrix_that_fits_no_memory_is_refused():
    with pytest.raises(InvalidParameterError, match=r"must ask for at most 268,435,456 numbers"):
        rope.rotation_matrix(1, np.ones(2**14))
