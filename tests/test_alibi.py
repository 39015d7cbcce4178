"""ALiBi: slopes in the released order, biases, and the closed form of a causal row."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, params
from posviz.attention import softmax
from posviz.params import InvalidParameterError

GOLDEN_DIR = Path(__file__).parent / "golden"
SLOPES = json.loads((GOLDEN_DIR / "alibi.json").read_text())
TENSORS = json.loads((GOLDEN_DIR / "alibi_tensors.json").read_text())
BIAS_MAX = json.loads((GOLDEN_DIR / "alibi_bias_max.json").read_text())
BLOOM = (
    "HF bloom build_alibi_tensor, 4 heads, mask all ones, len 5 (values slope*j: key index only)"
)
BLOOM_PADDED = "HF bloom, LEFT-padded mask [0,0,1,1,1], 4 heads"
MPT = "HF MPT build_mpt_alibi_tensor 4 heads len 5 (values -slope*(L-1-j))"
FALCON = (
    "HF falcon build_alibi_tensor 12 heads len 4 (slopes rounded to bfloat16; "
    "and the sum QK+alibi is multiplied by 1/sqrt(d))"
)
BOTH = "llm-foundry build_alibi_bias full=True (bidirectional -|i-j|), 4 heads len 4"

head_counts = st.integers(int(params.NUM_HEADS.low), int(params.NUM_HEADS.high))
by_heads = {"ids": lambda case: f"{case['n_heads']}_heads"}


def released_slopes(n):
    """ofirpress/attention_with_linear_biases, fairseq/models/transformer.py, as it is written."""

    def get_slopes_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio**i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return get_slopes_power_of_2(closest) + released_slopes(2 * closest)[0::2][: n - closest]


def test_vectors_cover_powers_of_two_and_others():
    counts = [case["n_heads"] for case in SLOPES]
    assert {1, 2, 128} <= set(counts)
    assert {3, 12, 40, 71} <= set(counts)
    for case in SLOPES:
        assert len(case["ofirpress_f64"]) == case["n_heads"]


@pytest.mark.parametrize("case", SLOPES, **by_heads)
def test_slopes_are_the_released_ones(case):
    slopes = alibi.slopes(case["n_heads"])
    assert slopes.shape == (case["n_heads"],)
    np.testing.assert_allclose(slopes, case["ofirpress_f64"], rtol=1e-12)


@pytest.mark.parametrize("case", [c for c in SLOPES if "hf_bloom_f32" in c], **by_heads)
def test_slopes_are_blooms(case):
    np.testing.assert_allclose(alibi.slopes(case["n_heads"]), case["hf_bloom_f32"], rtol=2e-6)


@pytest.mark.parametrize("num_heads", range(1, 129))
def test_slopes_equal_the_released_code_at_every_head_count(num_heads):
    np.testing.assert_allclose(alibi.slopes(num_heads), released_slopes(num_heads), rtol=1e-12)


@pytest.mark.parametrize("case", SLOPES, **by_heads)
def test_papers_formula_holds_at_powers_of_two_and_nowhere_else(case):
    slopes = alibi.slopes(case["n_heads"])
    power_of_two = case["n_heads"] & (case["n_heads"] - 1) == 0
    assert np.allclose(slopes, case["paper_formula_2^(-8i/n)_f64"], rtol=1e-9) == power_of_two


def llm_foundry_slopes(n_heads, alibi_bias_max):
    """mosaicml/llm-foundry, attention.py ``gen_slopes``, as it is written, in float64."""
    _n_heads = 2 ** math.ceil(math.log2(n_heads))
    m = np.arange(1, _n_heads + 1) * (alibi_bias_max / _n_heads)
    slopes = 1.0 / np.power(2, m)
    if _n_heads != n_heads:
        slopes = np.concatenate([slopes[1::2], slopes[::2]])[:n_heads]
    return slopes


@pytest.mark.parametrize(
    "case", BIAS_MAX, ids=lambda c: f"{c['n_heads']}_heads_{c['alibi_bias_max']}"
)
def test_slopes_of_another_bias_max_are_mpts(case):
    assert case["llm_foundry_equal"]
    slopes = alibi.slopes(case["n_heads"], case["alibi_bias_max"])
    assert len(slopes) == len(case["slopes"]) == case["n_heads"]
    assert slopes.min() >= 2.0 ** -case["alibi_bias_max"] * (1 - 1e-12)
    np.testing.assert_allclose(slopes, case["slopes"], rtol=2e-6)


@given(head_counts, st.floats(0.1, 100.0))
def test_slopes_of_any_bias_max_are_llm_foundrys(num_heads, bias_max):
    slopes = alibi.slopes(num_heads, bias_max)
    np.testing.assert_allclose(slopes, llm_foundry_slopes(num_heads, bias_max), rtol=1e-12)


@pytest.mark.parametrize("case", SLOPES, **by_heads)
def test_paper_slopes_are_the_papers_rule(case):
    expected = case["paper_formula_2^(-8i/n)_f64"]
    np.testing.assert_allclose(alibi.paper_slopes(case["n_heads"]), expected, rtol=1e-12)


@given(head_counts)
def test_paper_slopes_fall_and_end_where_the_released_ones_do_at_powers_of_two(num_heads):
    paper = alibi.paper_slopes(num_heads)
    assert np.all(np.diff(paper) < 0)
    assert paper[-1] == 2.0**-8
    same = np.allclose(paper, alibi.slopes(num_heads), rtol=1e-12)
    assert same == (num_heads & (num_heads - 1) == 0)


@given(head_counts)
def test_slopes_lie_between_zero_and_one_and_differ(num_heads):
    slopes = alibi.slopes(num_heads)
    assert np.all((slopes > 0) & (slopes < 1))
    assert len(np.unique(slopes)) == num_heads


def test_bias_is_blooms_and_mpts_up_to_a_shift_of_the_row():
    keys = np.arange(5)
    bloom, mpt = TENSORS[BLOOM], TENSORS[MPT]
    for head, slope in enumerate(alibi.slopes(4)):
        ours = alibi.bias(slope, keys[-1] - keys)
        np.testing.assert_allclose(ours, mpt[head], rtol=1e-12)
        np.testing.assert_allclose(softmax(ours), softmax(bloom[head]), rtol=1e-12)


def test_bias_of_both_directions_is_llm_foundrys():
    both = TENSORS[BOTH]
    distance = np.abs(np.arange(4)[:, None] - np.arange(4))
    for head, slope in enumerate(alibi.slopes(4)):
        np.testing.assert_allclose(alibi.bias(slope, distance), both[head], rtol=1e-12)


def test_causal_matrix_is_blooms_and_mpts_up_to_a_shift_of_each_row():
    ours = softmax(alibi.bias_matrix(4, 5, 5))
    causal = np.where(np.tri(5, dtype=bool), 0.0, -np.inf)
    for reference in (TENSORS[BLOOM], TENSORS[MPT]):
        theirs = np.array(reference)[:, None, :] + causal  # (num_heads, q_len, k_len)
        np.testing.assert_allclose(ours, softmax(theirs), rtol=1e-12)


def test_last_row_of_the_matrix_is_mpts():
    np.testing.assert_allclose(alibi.bias_matrix(4, 1, 5)[:, 0], TENSORS[MPT], rtol=1e-12)


def test_symmetric_matrix_is_llm_foundrys():
    np.testing.assert_allclose(alibi.bias_matrix(4, 4, 4, symmetric=True), TENSORS[BOTH])


def test_bloom_bias_is_blooms_with_padding_and_without():
    np.testing.assert_allclose(alibi.bloom_bias(4, [1] * 5), TENSORS[BLOOM], rtol=1e-12)
    padded = alibi.bloom_bias(4, [0, 0, 1, 1, 1])
    np.testing.assert_allclose(padded, TENSORS[BLOOM_PADDED], rtol=1e-12)


def test_falcon_bias_is_falcons_over_the_root_of_the_head():
    scaled = alibi.falcon_bias(12, [1] * 4, 64)
    np.testing.assert_array_equal(scaled * 8.0, np.float32(TENSORS[FALCON]))


def test_falcon_bias_far_out_is_torchs_bfloat16():
    """torch 2.13.0: ``slopes[..., None].bfloat16() * arange``, at slope 2**-0.5."""
    far = alibi.falcon_bias(12, np.ones(600), 1)[8, [67, 134, 255, 256, 257, 258, 599]]
    np.testing.assert_array_equal(far, [47.25, 94.5, 180.0, 181.0, 181.0, 182.0, 424.0])


@given(head_counts, st.integers(1, 40), st.integers(0, 40), st.booleans())
def test_matrix_is_a_line_per_head_and_hides_what_is_ahead(num_heads, q_len, cached, symmetric):
    k_len = q_len + cached
    matrix = alibi.bias_matrix(num_heads, q_len, k_len, symmetric)
    assert matrix.shape == (num_heads, q_len, k_len)
    query, key = np.arange(cached, k_len)[:, None], np.arange(k_len)
    ahead = np.broadcast_to(key > query, (q_len, k_len))
    distance = np.abs(query - key)
    for slope, biases in zip(alibi.slopes(num_heads), matrix, strict=True):
        visible = np.ones_like(ahead) if symmetric else ~ahead
        np.testing.assert_array_equal(biases[visible], alibi.bias(slope, distance)[visible])
        np.testing.assert_array_equal(biases[~visible], -np.inf)
    assert np.all(matrix[:, query[:, 0] == key[-1]][..., -1] == 0)


@given(st.integers(1, 8), st.integers(1, 30), st.floats(-100, 100))
def test_a_shift_of_a_row_is_invisible_to_the_softmax(num_heads, k_len, shift):
    matrix = alibi.bias_matrix(num_heads, k_len, k_len)
    shifted = matrix + shift * np.arange(k_len)[:, None]
    np.testing.assert_allclose(softmax(shifted), softmax(matrix), rtol=1e-9, atol=1e-300)
    keys_only = np.where(
        np.isfinite(matrix), alibi.bloom_bias(num_heads, np.ones(k_len))[:, None, :], -np.inf
    )
    np.testing.assert_allclose(softmax(keys_only), softmax(matrix), rtol=1e-9, atol=1e-300)


def test_a_matrix_of_given_slopes_takes_them_as_they_are():
    for slopes in ([0.5, 0.0], (0.5, 0.0), np.array([0.5, 0.0])):
        matrix = alibi.bias_matrix(slopes, 1, 3)
        np.testing.assert_array_equal(matrix, [[[-1.0, -0.5, 0.0]], [[0.0, 0.0, 0.0]]])


@given(st.data())
def test_weights_are_the_softmax_of_the_bias_over_a_full_row(data):
    num_heads = data.draw(head_counts)
    slope = alibi.slopes(num_heads)[data.draw(st.integers(0, num_heads - 1))]
    seq_len = data.draw(st.integers(1, 5000))
    distance = np.arange(seq_len)
    weights = alibi.weights(slope, distance, seq_len)
    np.testing.assert_allclose(weights, softmax(alibi.bias(slope, distance)), rtol=1e-9)
    assert weights.sum() == pytest.approx(1.0, rel=1e-9)
    assert np.all(np.diff(weights) < 0) or weights[-1] < 1e-300 or seq_len == 1


@given(st.floats(0, 1), st.integers(1, 2000))
def test_weights_of_any_slope_sum_to_one(slope, seq_len):
    weights = alibi.weights(slope, np.arange(seq_len), seq_len)
    assert weights.sum() == pytest.approx(1.0, rel=1e-9)


def test_weights_of_no_slope_are_equal():
    np.testing.assert_array_equal(alibi.weights(0.0, [0, 1, 7], 8), [0.125, 0.125, 0.125])


def test_results_have_the_shape_of_the_distances():
    for distance in (3, [0, 1], np.zeros((2, 3))):
        assert np.shape(alibi.bias(0.5, distance)) == np.shape(distance)
        assert np.shape(alibi.weights(0.5, distance, 8)) == np.shape(distance)
        assert np.shape(alibi.weights(0.0, distance, 8)) == np.shape(distance)


@given(st.floats(2.0**-8, 1.0), st.floats(0.0, 0.999))
def test_the_window_holds_its_share_of_a_long_row(slope, share):
    window = alibi.window(slope, share)
    assert 1 - math.exp(-slope * window) == pytest.approx(share, abs=1e-12)
    inside = alibi.weights(slope, np.arange(math.ceil(window)), 10**6).sum()
    assert inside >= share - 1e-9
    assert alibi.weights(slope, np.arange(math.floor(window)), 10**6).sum() <= share + 1e-9


def test_all_of_the_weight_needs_an_infinite_window():
    assert alibi.window(0.5, 1.0) == math.inf
    assert alibi.window(0.5, 0.0) == 0.0


@given(head_counts)
def test_no_head_differs_from_the_paper_at_powers_of_two_and_the_last_always_does_elsewhere(n):
    differs = alibi.differs_from_paper(n)
    assert differs.shape == (n,)
    assert differs.any() == differs[-1] == (n & (n - 1) != 0)


def test_at_twelve_heads_every_one_differs_from_the_paper():
    """Exponents 1 to 8, then 1/2 to 7/2, against 2/3, 4/3, 2, ... 8: no head has its own."""
    assert alibi.differs_from_paper(12).sum() == 12
    assert alibi.differs_from_paper(8, 16.0).sum() == 8


@given(head_counts, st.floats(0.1, 100.0), st.data())
def test_a_head_has_a_slope_of_a_power_of_two(num_heads, bias_max, data):
    head = data.draw(st.integers(1, num_heads))
    count, place = alibi.series(num_heads, head)
    assert count & (count - 1) == 0
    assert count < 2 * num_heads
    slope = alibi.slopes(num_heads, bias_max)[head - 1]
    assert slope == pytest.approx(alibi.slopes(count, bias_max)[place - 1], rel=1e-12)
    assert slope == pytest.approx(2.0 ** (-bias_max * place / count), rel=1e-12)


def test_stored_biases_are_blooms_and_mpts_numbers():
    for head, slope in enumerate(alibi.slopes(4)):
        stored = alibi.stored_biases(slope, 5)
        np.testing.assert_array_equal(stored["paper"], alibi.bias_matrix(4, 5, 5)[head])
        for name, reference in (("bloom", TENSORS[BLOOM]), ("mpt", TENSORS[MPT])):
            expected = np.where(np.tri(5), np.array(reference[head]).reshape(1, 5), -np.inf)
            np.testing.assert_allclose(stored[name], expected, rtol=1e-12)
        both = alibi.stored_biases(slope, 4, symmetric=True)
        np.testing.assert_allclose(both["paper"], TENSORS[BOTH][head], rtol=1e-12)


@given(st.floats(0.0, 1.0), st.integers(2, 60))
def test_stored_biases_are_one_to_the_softmax_unless_symmetric(slope, seq_len):
    stored = alibi.stored_biases(slope, seq_len)
    paper = softmax(stored["paper"])
    for name in ("bloom", "mpt"):
        np.testing.assert_allclose(softmax(stored[name]), paper, atol=1e-12)
    both = alibi.stored_biases(slope, seq_len, symmetric=True)
    apart = np.abs(softmax(both["bloom"]) - softmax(both["paper"])).max()
    assert apart > slope / 20 or slope < 1e-6
    np.testing.assert_allclose(softmax(both["bloom"]), softmax(both["mpt"]), atol=1e-12)


@given(st.floats(2.0**-16, 1.0), st.integers(1, 3000), st.integers(0, 4000))
def test_the_weight_within_a_distance_is_the_sum_of_the_weights(slope, seq_len, distance):
    expected = alibi.weights(slope, np.arange(min(distance, seq_len)), seq_len).sum()
    assert alibi.within(slope, distance, seq_len) == pytest.approx(expected, rel=1e-9)
    assert alibi.within(slope, distance, [seq_len, seq_len]).shape == (2,)


@given(st.floats(2.0**-16, 1.0), st.floats(0.0, 0.999), st.integers(1, 2**20))
def test_a_window_is_the_same_tokens_and_an_ever_smaller_part_of_the_context(slope, share, seq_len):
    window = alibi.window(slope, share)
    assert alibi.within(slope, window, seq_len) >= share - 1e-12
    assert alibi.covered(slope, seq_len, share) * seq_len == pytest.approx(min(window, seq_len))


def test_a_quarter_of_a_long_context_is_covered():
    """-ln(1 - 0.5) / (ln 2 / 100) is 100 tokens."""
    slope = math.log(2) / 100
    np.testing.assert_allclose(alibi.covered(slope, [50, 100, 400], 0.5), [1.0, 1.0, 0.25])


@given(st.floats(0.0, 1.0), st.integers(2, 400), st.floats(0.01, 0.99), st.data())
def test_a_key_with_that_lead_gets_its_share(slope, seq_len, share, data):
    distance = data.draw(st.integers(0, seq_len - 1))
    scores = alibi.bias(slope, np.arange(seq_len))
    scores[distance] += alibi.lead(slope, distance, seq_len, share)
    assert softmax(scores)[distance] == pytest.approx(share, rel=1e-7)


def test_a_lead_is_the_penalty_and_the_logarithm_of_the_rest():
    """Slope 1/2, 10 tokens back, endless row: 5 + ln(1 / (1 - e^-.5) - e^-5)."""
    expected = 5 + math.log(1 / (1 - math.exp(-0.5)) - math.exp(-5))
    assert alibi.lead(0.5, 10, 10**6) == pytest.approx(expected, rel=1e-12)
    assert alibi.lead(0.0, 3, 9) == pytest.approx(math.log(8), rel=1e-12)
    assert alibi.lead(800.0, 0, 2) == -800.0
    assert alibi.lead(0.5, 10, 20, 1.0) == math.inf


# Public bug reports.


def test_first_of_eight_slopes_is_a_half_not_one():
    """paiml/aprender PR #2143: exponent off by one."""
    slopes = alibi.slopes(8)
    assert (slopes[0], slopes[-1]) == (0.5, 0.00390625)


def test_forty_heads_follow_the_released_code_not_the_papers_formula():
    """baichuan-inc/Baichuan2#225: the weights were trained with the code."""
    slopes = alibi.slopes(40)
    np.testing.assert_allclose(slopes[:3], [0.8408964, 0.7071068, 0.5946036], rtol=1e-6)
    assert slopes[32] == pytest.approx(0.9170040, rel=1e-6), "head 33 starts the second series"
    assert slopes[0] != pytest.approx(0.8705506, rel=1e-3)
    assert np.any(np.diff(slopes) > 0), "the released order is not sorted"


def test_bias_is_added_to_the_scaled_score_and_not_scaled_itself():
    """TensorRT-Model-Connect PR #32: only Falcon divides it by sqrt(head_dim), to -0.625."""
    assert alibi.bias(0.5, 10) == -5.0


def test_other_bias_max_is_not_eight():
    """Hugging Face's MptModel drops alibi_bias_max: .5 where a config with 16 needs .25."""
    slopes = alibi.slopes(8, alibi_bias_max=16.0)
    assert (slopes[0], slopes[-1]) == (0.25, 2.0**-16)


def test_falcon_alone_divides_its_bias_by_the_root_of_the_head():
    """CTranslate2 PR #1449: head_dim 64, slope 1/2, distance 10: -0.625, while BLOOM's is -5."""
    falcon = alibi.falcon_bias(8, np.ones(11), 64)[0]
    assert falcon[0] - falcon[10] == -0.625
    assert alibi.bias_matrix(8, 11, 11)[0, 10, 0] == -5.0


# Errors.

short = {"ids": lambda came: str(came)[:6]}
NOT_A_COUNT = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", None, True]
NOT_A_SLOPE = [-0.5, math.nan, math.inf, -math.inf, 10**400, "0.5", None, True, False]
NOT_A_DISTANCE = [-1, math.nan, math.inf, "1", None, True, 10**400]


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_counts_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^num_heads must be .* got "):
        alibi.slopes(came)
    for ask in (
        lambda: alibi.paper_slopes(came),
        lambda: alibi.bias_matrix(came, 2, 2),
        lambda: alibi.bloom_bias(came, [1]),
        lambda: alibi.falcon_bias(came, [1], 64),
    ):
        with pytest.raises(InvalidParameterError, match=r"^num_heads must be .* got "):
            ask()
    with pytest.raises(InvalidParameterError, match=r"^head_dim must be .* got "):
        alibi.falcon_bias(8, [1], came)
    with pytest.raises(InvalidParameterError, match=r"^q_len must be .* got "):
        alibi.bias_matrix(8, came, 8)
    with pytest.raises(InvalidParameterError, match=r"^k_len must be .* got "):
        alibi.bias_matrix(8, 1, came)
    for slope in (0.5, 0.0):
        with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
            alibi.weights(slope, 0, came)


@pytest.mark.parametrize("came", NOT_A_SLOPE, **short)
def test_a_slope_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^slope must be .* got "):
        alibi.bias(came, 1)
    with pytest.raises(InvalidParameterError, match=r"^slope must be .* got "):
        alibi.weights(came, 1, 8)


@pytest.mark.parametrize("came", NOT_A_DISTANCE, **short)
def test_a_distance_that_is_none_is_refused(came):
    for distance in (came, [came, came]):
        with pytest.raises(InvalidParameterError, match=r"^distance must "):
            alibi.bias(0.5, distance)
        for slope in (0.5, 0.0):
            with pytest.raises(InvalidParameterError, match=r"^distance must "):
                alibi.weights(slope, distance, 8)


@pytest.mark.parametrize("came", [0, *NOT_A_SLOPE], **short)
def test_a_window_without_a_slope_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^slope must be .* got "):
        alibi.window(came)


@pytest.mark.parametrize("came", [-0.1, 1.1, math.nan, math.inf, "1", None, True], **short)
def test_a_share_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^share must be .* got "):
        alibi.window(0.5, came)


@pytest.mark.parametrize(
    "came", [0, -8.0, 1001.0, math.nan, math.inf, 10**400, "8", None, True], **short
)
def test_a_bias_max_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^alibi_bias_max must be .* got "):
        alibi.slopes(8, came)


@pytest.mark.parametrize(
    "came",
    [[], [[0.5]], [-0.5], [math.nan], [math.inf], ["0.5"], [True], [None], [10**400]],
    **short,
)
def test_slopes_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^slopes must "):
        alibi.bias_matrix(came, 2, 2)


@pytest.mark.parametrize("came", [1, 0, "yes", None, math.nan], **short)
def test_symmetric_is_a_yes_or_a_no(came):
    with pytest.raises(InvalidParameterError, match=r"^symmetric must be True or False, got "):
        alibi.bias_matrix(8, 2, 2, came)


@pytest.mark.parametrize("came", [0, 13, -1, 1.5, None, True, "1"], **short)
def test_a_head_that_is_not_there_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^head must be .* got "):
        alibi.series(12, came)


@pytest.mark.parametrize("came", [-1, 5, 1.5, math.nan, None, True], **short)
def test_a_key_outside_of_the_row_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^distance must be .* got "):
        alibi.lead(0.5, came, 5)


@pytest.mark.parametrize("came", [0, -1, math.nan, math.inf, None, True], **short)
def test_a_row_that_is_none_is_refused(came):
    for ask in (
        lambda: alibi.within(0.5, 1, came),
        lambda: alibi.covered(0.5, came),
        lambda: alibi.lead(0.5, 0, came),
        lambda: alibi.stored_biases(0.5, came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^(seq_len|q_len|k_len) must be .* got "):
            ask()


def test_more_queries_than_keys_and_matrices_beyond_memory_are_refused():
    with pytest.raises(
        InvalidParameterError, match=r"^q_len must be a whole number from 1 to 2, got 3"
    ):
        alibi.bias_matrix(8, 3, 2)
    with pytest.raises(InvalidParameterError, match=r"^num_heads, q_len and k_len must ask for at"):
        alibi.bias_matrix(8, 131072, 131072)


@pytest.mark.parametrize(
    "came", [None, 1, "1", [], [[1]], [0.5], [2], [-1], [math.nan], [True]], **short
)
def test_a_mask_that_is_none_is_refused(came):
    for ask in (lambda: alibi.bloom_bias(4, came), lambda: alibi.falcon_bias(4, came, 64)):
        with pytest.raises(InvalidParameterError, match=r"^attention_mask must be .* got "):
            ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: alibi.slopes(2**31 - 1),
        lambda: alibi.paper_slopes(2**31 - 1),
        lambda: alibi.bias_matrix(2**31 - 1, 2, 3),
        lambda: alibi.bloom_bias(2**31 - 1, [1, 1]),
        lambda: alibi.falcon_bias(2**31 - 1, [1, 1], 4),
        lambda: alibi.bloom_bias(2**20, np.ones(2**10)),
    ],
)
def test_more_heads_than_memory_holds_are_refused(ask):
    with pytest.raises(
        InvalidParameterError, match=r"^num_heads.* must ask for at most 268,435,456 numbers, got "
    ):
        ask()


def test_penalties_beyond_float64_are_refused():
    with pytest.raises(InvalidParameterError, match=r"^slopes must be finite numbers from 0 to "):
        alibi.bias_matrix([1e308], 2, 30)
    with pytest.raises(InvalidParameterError, match=r"^slope x distance must be finite numbers"):
        alibi.bias(1e308, [1, 30])


def test_a_key_at_the_query_s_own_place_gets_plain_zero():
    assert not np.signbit(alibi.bias(0.5, [0.0, 0.0])).any()
    assert not np.signbit(alibi.bias(0.0, [0.0, 3.0])).any()
