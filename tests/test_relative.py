"""Shaw's clipped distances and T5's buckets against the references."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import relative
from posviz.attention import causal_mask, softmax
from posviz.params import InvalidParameterError

GOLDEN_DIR = Path(__file__).parent / "golden"
SHAW = json.loads((GOLDEN_DIR / "shaw.json").read_text())
T5 = json.loads((GOLDEN_DIR / "t5.json").read_text())
DIFFERENT = T5["float32_vs_float64"]["examples"]
by_setting = {
    "ids": lambda case: "_".join(
        [str(case["num_buckets"]), str(case["max_distance"]), str(case["bidirectional"])]
    )
}
short = {"ids": lambda came: str(came)[:6]}
NOT_A_LENGTH = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", True]
NOT_NUMBERS = [math.nan, math.inf, "1", None, True, [1, [2]], 1e300]


def setting(case):
    return case["num_buckets"], case["max_distance"], case["bidirectional"]


def buckets_in_float64(relative_position, num_buckets, max_distance, bidirectional):
    """Mesh TensorFlow's formula in Python's own floats."""
    found = 0
    if bidirectional:
        num_buckets //= 2
        found += num_buckets if relative_position > 0 else 0
        distance = abs(relative_position)
    else:
        distance = max(-relative_position, 0)
    exact = num_buckets // 2
    if distance < exact:
        return found + distance
    far = exact + int(
        math.log(distance / exact) / math.log(max_distance / exact) * (num_buckets - exact)
    )
    return found + min(far, num_buckets - 1)


# Positions.


@given(st.integers(1, 20), st.integers(0, 20))
def test_relative_position_is_key_minus_query_and_queries_are_the_last(q_len, before):
    found = relative.relative_position(q_len, q_len + before)
    assert found.shape == (q_len, q_len + before)
    for i, row in enumerate(found):
        assert row.tolist() == [j - (before + i) for j in range(q_len + before)]
    np.testing.assert_array_equal(found <= 0, causal_mask(q_len, q_len + before))


def test_as_many_keys_as_queries_unless_said():
    np.testing.assert_array_equal(relative.relative_position(3), relative.relative_position(3, 3))


# Shaw.


@pytest.mark.parametrize(
    ("name", "q_len", "k_len", "largest"),
    [("indices_3x3_k1", 3, 3, 1), ("indices_5x5_k2", 5, 5, 2), ("indices_lq2_lk5_k2", 2, 5, 2)],
)
def test_shaws_rows_are_tensor2tensors(name, q_len, k_len, largest):
    assert np.shape(SHAW[name]) == (q_len, k_len)
    rows = relative.shaw_index(q_len, k_len, largest)
    np.testing.assert_array_equal(rows[:, -q_len:].diagonal(), largest)
    np.testing.assert_array_equal(rows, SHAW[name])


def test_shaws_scores_are_tensor2tensors():
    case = SHAW["example"]
    table = case["rel_key_table_index0_is_minus_k"]
    assert len(table) == 2 * case["max_relative_position"] + 1
    scores = relative.shaw_scores(case["q"], case["k"], table)
    np.testing.assert_allclose(scores * math.sqrt(2), case["logits_unscaled_f64"], rtol=1e-12)
    np.testing.assert_allclose(scores, case["logits_over_sqrt_d_f64"], rtol=1e-12)


@st.composite
def attention_inputs(draw):
    q_len, before, head_dim = (draw(st.integers(low, 5)) for low in (1, 0, 1))
    largest, heads = draw(st.integers(0, 6)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return (
        rng.normal(size=(heads, q_len, head_dim)),
        rng.normal(size=(heads, q_len + before, head_dim)),
        rng.normal(size=(2 * largest + 1, head_dim)),
    )


@given(attention_inputs())
def test_shaws_scores_and_values_cell_by_cell(inputs):
    q, k, table = inputs
    (heads, q_len, head_dim), k_len, largest = q.shape, k.shape[1], len(table) // 2
    scores = relative.shaw_scores(q, k, table)
    weights = softmax(scores)
    output = relative.shaw_values(weights, k, table)
    for h in range(heads):
        for i in range(q_len):
            total = np.zeros(head_dim)
            for j in range(k_len):
                clipped = min(max(j - (k_len - q_len + i), -largest), largest)
                vector = table[largest + clipped]
                expected = q[h, i] @ (k[h, j] + vector) / math.sqrt(head_dim)
                assert scores[h, i, j] == pytest.approx(expected, abs=1e-12)
                total += weights[h, i, j] * (k[h, j] + vector)
            np.testing.assert_allclose(output[h, i], total, atol=1e-12)


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 9))
def test_shaws_rows_do_not_depend_on_where_the_window_stands(q_len, before, largest):
    rows = relative.shaw_index(q_len, q_len + before, largest)
    longer = relative.shaw_index(q_len + 3, q_len + before + 3, largest)
    np.testing.assert_array_equal(longer[3:, 3:], rows)


@given(st.integers(1, 6), st.integers(0, 6))
def test_berts_relative_key_is_mirrored_and_not_clipped(q_len, before):
    k_len, largest = q_len + before, 16
    bert = relative.bert_relative_key_index(q_len, k_len, largest)
    assert bert.min() >= 0
    assert bert.max() <= 2 * largest - 2
    np.testing.assert_array_equal(
        bert, 2 * largest - 2 - relative.shaw_index(q_len, k_len, largest - 1)
    )


def test_berts_relative_key_counts_query_minus_key():
    expected = [[3, 2, 1], [4, 3, 2], [5, 4, 3]]
    np.testing.assert_array_equal(relative.bert_relative_key_index(3, 3, 4), expected)


def test_berts_relative_key_ends_with_its_table():
    with pytest.raises(InvalidParameterError, match=r"^k_len must be .* from 2 to 4, got 5$"):
        relative.bert_relative_key_index(2, 5, 4)


# T5.


def test_t5_vectors_cover_both_directions_and_the_far_end():
    assert {case["bidirectional"] for case in T5["buckets"]} == {True, False}
    for case in T5["buckets"]:
        assert len(case["buckets"]) == case["rel_to"] - case["rel_from"] + 1
        assert max(abs(case["rel_from"]), abs(case["rel_to"])) > case["max_distance"]


@pytest.mark.parametrize("case", T5["buckets"], **by_setting)
def test_buckets_are_t5s(case):
    positions = np.arange(case["rel_from"], case["rel_to"] + 1)
    buckets = relative.t5_bucket(positions, *setting(case))
    assert buckets.min() == 0
    assert buckets.max() <= case["num_buckets"] - 1
    np.testing.assert_array_equal(buckets, case["buckets"])


@pytest.mark.parametrize("case", T5["buckets"], **by_setting)
def test_float64_agrees_where_the_record_says_so(case):
    assert case["positions_where_float64_differs"] == []
    positions = range(case["rel_from"], case["rel_to"] + 1)
    in_float64 = [buckets_in_float64(position, *setting(case)) for position in positions]
    assert in_float64 == case["buckets"]


def test_the_record_of_differences_is_whole():
    assert T5["float32_vs_float64"]["count_of_settings"] == len(DIFFERENT) == 8
    for case in DIFFERENT:
        assert len(case["diffs_rel_f32_f64"]) == case["n"]


@pytest.mark.parametrize("case", DIFFERENT, **by_setting)
def test_float64_would_fall_one_bucket_short_at_exact_powers(case):
    for position, float32, float64 in case["diffs_rel_f32_f64"]:
        assert buckets_in_float64(position, *setting(case)) == float64 == float32 - 1
        assert relative.t5_bucket(position, *setting(case)) == float32
    told = {position for position, *_ in case["diffs_rel_f32_f64"]}
    positions = [p for p in range(-200, 1) if p not in told]
    same = [buckets_in_float64(p, *setting(case)) for p in positions]
    np.testing.assert_array_equal(relative.t5_bucket(positions, *setting(case)), same)


@pytest.mark.parametrize(
    ("num_buckets", "max_distance", "bidirectional", "position", "bucket"),
    [(38, 256, True, -48, 14), (38, 256, True, 48, 33), (72, 512, True, -96, 27),
     (102, 256, True, 80, 89), (19, 256, False, -48, 14), (36, 512, False, -96, 27),
     (51, 256, False, -80, 38)],
)  # fmt: skip
def test_the_division_is_in_float32_too(num_buckets, max_distance, bidirectional, position, bucket):
    """Buckets of Hugging Face's formula run in torch 2.13.0 on a CPU.

    A float32 logarithm divided in float64 falls one bucket short, float64 throughout does not.
    """
    found = relative.t5_bucket(position, num_buckets, max_distance, bidirectional)
    assert found == bucket
    assert buckets_in_float64(position, num_buckets, max_distance, bidirectional) == bucket


@st.composite
def t5_settings(draw):
    bidirectional = draw(st.booleans())
    num_buckets = draw(st.integers(4 if bidirectional else 2, 129))
    exact = (num_buckets // 2 if bidirectional else num_buckets) // 2
    return num_buckets, draw(st.integers(exact + 1, 600)), bidirectional


@given(t5_settings())
def test_buckets_grow_with_distance_by_steps_within_range(t5_setting):
    num_buckets, max_distance, bidirectional = t5_setting
    per_side = num_buckets // 2 if bidirectional else num_buckets
    distance = np.arange(max_distance + 50)
    before = relative.t5_bucket(-distance, *t5_setting)
    assert np.all(np.diff(before) >= 0)
    assert before[0] == 0
    np.testing.assert_array_equal(before[: per_side // 2], np.arange(per_side // 2))
    np.testing.assert_array_equal(before[max_distance:], per_side - 1)
    after = relative.t5_bucket(distance[1:], *t5_setting)
    np.testing.assert_array_equal(after, before[1:] + per_side if bidirectional else 0)


@given(st.integers(1, 2**31 - 1), t5_settings())
def test_in_one_direction_all_keys_after_the_query_are_in_bucket_0(ahead, t5_setting):
    num_buckets, max_distance, _ = t5_setting
    assert relative.t5_bucket(ahead, num_buckets, max_distance + num_buckets, False) == 0


@given(st.integers(-700, 700), t5_settings())
def test_float32_and_float64_differ_by_one_bucket_at_most(position, t5_setting):
    found = relative.t5_bucket(position, *t5_setting)
    assert 0 <= found - buckets_in_float64(position, *t5_setting) <= 1


@given(t5_settings())
def test_ranges_name_the_first_and_last_position_of_each_bucket(t5_setting):
    _, max_distance, bidirectional = t5_setting
    positions = np.arange(-max_distance - 5, max_distance + 6)
    if not bidirectional:
        positions = positions[positions <= 0]
    buckets = relative.t5_bucket(positions, *t5_setting)
    ranges = relative.t5_bucket_ranges(*t5_setting)
    assert [one.bucket for one in ranges] == sorted(set(buckets.tolist()))
    for one in ranges:
        members = sorted(positions[buckets == one.bucket].tolist(), key=abs)
        assert one.nearest == members[0]
        if one.farthest is None:
            assert abs(members[-1]) == max_distance + 5
        else:
            assert one.farthest == members[-1]


def test_the_last_bucket_begins_before_max_distance():
    """32 buckets, 128: at 91 in both directions, at 113 in one."""
    both = {one.bucket: one for one in relative.t5_bucket_ranges()}
    assert (both[15].nearest, both[31].nearest) == (-91, 91)
    assert both[15].farthest is both[31].farthest is None
    assert 16 not in both  # nothing is ahead by 0
    one_way = relative.t5_bucket_ranges(bidirectional=False)
    assert one_way[-1] == relative.BucketRange(31, -113, None)
    assert [one.bucket for one in one_way] == list(range(32))


@given(st.integers(1, 8), st.integers(0, 8), st.booleans(), st.integers(1, 3))
def test_bias_is_the_tables_row_of_each_bucket(q_len, before, bidirectional, num_heads):
    table = np.random.default_rng(0).normal(size=(8, num_heads))
    bias = relative.t5_bias(q_len, q_len + before, table, 20, bidirectional)
    assert bias.shape == (num_heads, q_len, q_len + before)
    for i in range(q_len):
        for j in range(q_len + before):
            bucket = relative.t5_bucket(j - (before + i), 8, 20, bidirectional)
            np.testing.assert_array_equal(bias[:, i, j], table[bucket])


def test_bias_of_a_step_of_decoding_is_the_last_row_of_the_whole():
    table = np.random.default_rng(1).normal(size=(32, 4))
    whole = relative.t5_bias(40, None, table, bidirectional=False)
    np.testing.assert_array_equal(
        relative.t5_bias(1, 40, table, bidirectional=False), whole[:, -1:]
    )


@pytest.mark.parametrize("case", DIFFERENT, **by_setting)
def test_the_differences_to_float64_are_those_of_the_record(case):
    found = relative.t5_float64_differences(*setting(case))
    told = [one for one in case["diffs_rel_f32_f64"] if one[0] <= 0]
    assert sorted(found.tolist()) == sorted(told)


def test_float64_makes_no_difference_to_t5_itself():
    for bidirectional in (True, False):
        assert relative.t5_float64_differences(32, 128, bidirectional).shape == (0, 3)


@given(t5_settings())
def test_no_difference_to_float64_is_missed(t5_setting):
    found = {position: pair for position, *pair in relative.t5_float64_differences(*t5_setting)}
    positions = range(-t5_setting[1] - 5, 1)
    for position, single in zip(positions, relative.t5_bucket(positions, *t5_setting), strict=True):
        double = buckets_in_float64(position, *t5_setting)
        assert (single != double) == (position in found)
        assert found.get(position, [single, double]) == [single, double]


@given(t5_settings())
def test_sizes_of_buckets_add_up_to_the_distances_before_the_last_one(t5_setting):
    ranges = [one for one in relative.t5_bucket_ranges(*t5_setting) if one.nearest <= 0]
    assert ranges[-1].size is None
    assert sum(one.size for one in ranges[:-1]) == -ranges[-1].nearest


def test_what_a_written_out_bias_takes():
    """32 heads of 128 dimensions at 128k tokens in bfloat16."""
    found = relative.bias_memory(131_072, 32, 128)
    assert found.bias == 32 * 131_072**2 * 2 == 1_099_511_627_776
    assert found.qkv == 3 * 131_072 * 4096 * 2 == 3_221_225_472
    assert (found.table, found.slopes) == (32 * 32 * 2, 64)


@given(st.integers(1, 200), st.integers(1, 64))
def test_a_bias_outgrows_queries_keys_and_values_at_three_head_dims(head_dim, num_heads):
    found = relative.bias_memory(3 * head_dim, num_heads, head_dim, 4)
    assert found.bias == found.qkv


# Random vectors to show Shaw's formula with.


@given(st.integers(1, 20), st.integers(0, 20), st.integers(1, 40))
def test_a_table_before_training_keeps_near_vectors_and_its_bound(seq_len, largest, head_dim):
    q, k, table = relative.shaw_random(seq_len, largest, head_dim)
    assert q.shape == k.shape == (seq_len, head_dim)
    assert table.shape == (2 * largest + 1, head_dim)
    bound, wider = ((6 / (2 * n + 1 + head_dim)) ** 0.5 for n in (largest, largest + 3))
    assert np.abs(table).max() <= bound
    _, _, larger = relative.shaw_random(seq_len, largest + 3, head_dim)
    np.testing.assert_allclose(larger[3:-3] / wider, table / bound, rtol=1e-12)


def test_a_table_before_training_has_the_average_sides_variance():
    table = relative.shaw_random(1, 200, 300)[2]
    assert table.var() == pytest.approx(2 / (401 + 300), rel=0.02)


# Public bug reports.


def test_keys_after_the_query_get_the_upper_half_not_the_keys_before_it():
    """A public WavLM copy adds the half where the relative position is negative."""
    buckets = relative.t5_bucket([-1, 0, 1, -128, 128])
    np.testing.assert_array_equal(buckets, [1, 0, 17, 15, 31])


def test_one_direction_means_the_past_not_the_future():
    """`if causal` where x-transformers has `if not causal`: past keys all fell in bucket 0."""
    past, future = np.arange(-40, 0), np.arange(1, 41)
    assert len(set(relative.t5_bucket(past, bidirectional=False).tolist())) > 16
    assert not relative.t5_bucket(future, bidirectional=False).any()


def test_no_bucket_is_negative_or_infinite_at_distance_zero():
    """log(0) is minus infinity, and as a whole number anything."""
    assert relative.t5_bucket(0) == 0
    assert relative.t5_bucket(0, bidirectional=False) == 0


# Errors.


@pytest.mark.parametrize("came", NOT_A_LENGTH, **short)
def test_lengths_that_are_none_are_refused(came):
    table = np.zeros((8, 2))
    for ask in (
        lambda q, k: relative.relative_position(q, k),
        lambda q, k: relative.shaw_index(q, k, 2),
        lambda q, k: relative.bert_relative_key_index(q, k, 512),
        lambda q, k: relative.t5_bias(q, k, table),
    ):
        with pytest.raises(InvalidParameterError, match=r"^q_len must be .* got "):
            ask(came, 8)
        with pytest.raises(InvalidParameterError, match=r"^k_len must be .* got "):
            ask(2, came)
        with pytest.raises(InvalidParameterError, match=r"^k_len must be .* got 4$"):
            ask(5, 4)


def test_a_grid_that_fits_no_memory_is_refused():
    for ask in (
        lambda: relative.relative_position(10**6),
        lambda: relative.shaw_index(10**6, None, 2),
        lambda: relative.t5_bias(10**6, None, np.zeros((8, 2))),
    ):
        with pytest.raises(InvalidParameterError, match=r"^q_len and k_len must ask"):
            ask()


@pytest.mark.parametrize("came", [-1, 2.5, math.nan, math.inf, 10**18, "8", None, True], **short)
def test_clips_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^max_relative_position must be .* got "):
        relative.shaw_index(3, 3, came)
    with pytest.raises(InvalidParameterError, match=r"^max_position_embeddings must be .* got "):
        relative.bert_relative_key_index(1, 1, came)


def test_a_clip_of_zero_gives_all_keys_one_vector():
    """Table 3 of the paper has this row: without positions at all, 12.5 BLEU."""
    assert not relative.shaw_index(3, 3, 0).any()


@pytest.mark.parametrize("came", NOT_NUMBERS, **short)
def test_vectors_that_are_none_are_refused(came):
    good, table = np.ones((3, 2)), np.ones((5, 2))
    bad = [[came, came]]
    for name, ask in (
        ("q", lambda: relative.shaw_scores(bad, good, table)),
        ("k", lambda: relative.shaw_scores(good, bad, table)),
        ("key_table", lambda: relative.shaw_scores(good, good, bad)),
        ("weights", lambda: relative.shaw_values(bad, good, table)),
        ("v", lambda: relative.shaw_values(np.eye(3), bad, table)),
        ("value_table", lambda: relative.shaw_values(np.eye(3), good, bad)),
        ("table", lambda: relative.t5_bias(2, 2, bad)),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must .* got "):
            ask()


def test_sizes_that_do_not_fit_are_refused():
    q, table = np.ones((3, 2)), np.ones((5, 2))
    for begin, ask in (
        ("the last axis of k must", lambda: relative.shaw_scores(q, np.ones((3, 4)), table)),
        ("the last axis of key_table", lambda: relative.shaw_scores(q, q, np.ones((5, 3)))),
        ("key_table must have an odd", lambda: relative.shaw_scores(q, q, np.ones((4, 2)))),
        ("key_table must have the axes", lambda: relative.shaw_scores(q, q, np.ones(5))),
        ("key_table must have the axes", lambda: relative.shaw_scores(q, q, np.ones((1, 5, 2)))),
        ("q must have the axes", lambda: relative.shaw_scores(np.ones(2), q, table)),
        ("k_len must be", lambda: relative.shaw_scores(q, q[:2], table)),
        ("q and k must agree", lambda: relative.shaw_scores(
            np.ones((2, 3, 2)), np.ones((3, 3, 2)), table)),
        ("v must be as long", lambda: relative.shaw_values(np.eye(3), q[:2], table)),
        ("the last axis of value_table", lambda: relative.shaw_values(np.eye(3), q, table[:, :1])),
        ("weights must be finite numbers from 0", lambda: relative.shaw_values(
            -np.eye(3), q, table)),
        ("weights and v must agree", lambda: relative.shaw_values(
            np.ones((2, 3, 3)), np.ones((3, 3, 2)), table)),
        ("table must have the axes", lambda: relative.t5_bias(2, 2, np.ones(8))),
        ("num_buckets must be", lambda: relative.t5_bias(2, 2, np.ones((3, 2)))),
        ("q_len, k_len and num_heads must ask", lambda: relative.t5_bias(
            10_000, None, np.ones((8, 30)))),
    ):  # fmt: skip
        with pytest.raises(InvalidParameterError, match=rf"^{begin}.* got "):
            ask()


@pytest.mark.parametrize(
    "came", [math.nan, math.inf, 1.5, 2.0, "1", None, True, 10**18, 10**400, [[1], 2], []], **short
)
def test_relative_positions_that_are_no_whole_numbers_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^relative_position must be whole numbers"):
        relative.t5_bucket(came)


@pytest.mark.parametrize(
    ("came", "bidirectional"),
    [(c, b) for b in (True, False) for c in (0, -4, 1, 2.5, math.nan, math.inf, 10**18, "32", None)]
    + [(2, True), (3, True)],
    ids=str,
)
def test_too_few_buckets_are_refused(came, bidirectional):
    fewest = 4 if bidirectional else 2
    match = rf"^num_buckets must be a whole number from {fewest} to 1,048,576, got "
    with pytest.raises(InvalidParameterError, match=match):
        relative.t5_bucket(0, came, 128, bidirectional)
    with pytest.raises(InvalidParameterError, match=match):
        relative.t5_bucket_ranges(came, 128, bidirectional)


@pytest.mark.parametrize("came", [0, -128, 2.5, math.nan, math.inf, 10**18, "128", None], **short)
def test_max_distances_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^max_distance must be a whole number "):
        relative.t5_bucket(0, 32, came)
    with pytest.raises(InvalidParameterError, match=r"^max_distance must be a whole number "):
        relative.t5_bias(2, 2, np.zeros((8, 1)), came)


@pytest.mark.parametrize(
    ("num_buckets", "max_distance", "bidirectional", "exact"),
    [(32, 8, True, 8), (32, 7, True, 8), (32, 16, False, 16), (33, 8, True, 8), (4, 1, True, 1)],
)
def test_a_max_distance_within_the_exact_ones_is_refused(
    num_buckets, max_distance, bidirectional, exact
):
    with pytest.raises(InvalidParameterError) as error:
        relative.t5_bucket(-3, num_buckets, max_distance, bidirectional)
    assert str(error.value) == (
        f"max_distance must be above {exact}, because distances below {exact} have a bucket each, "
        f"got {max_distance}"
    )
    relative.t5_bucket(-3, num_buckets, exact + 1, bidirectional)


def test_an_odd_number_of_buckets_is_halved_downwards():
    """33 buckets are 16 on each side, as with 32; the last one is never used."""
    positions = np.arange(-300, 301)
    np.testing.assert_array_equal(
        relative.t5_bucket(positions, 33), relative.t5_bucket(positions, 32)
    )


@pytest.mark.parametrize("came", [0, 1, None, "True", math.nan], **short)
def test_a_direction_that_is_no_truth_value_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^bidirectional must be True or False, got "):
        relative.t5_bucket(0, bidirectional=came)
