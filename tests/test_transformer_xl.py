"""Transformer-XL's four terms and its relative shift against kimiyoung/transformer-xl."""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import sinusoidal, transformer_xl
from posviz.attention import causal_mask, softmax
from posviz.params import InvalidParameterError

GOLDEN = json.loads((Path(__file__).parent / "golden" / "transformer_xl.json").read_text())
CASES = GOLDEN["cases"]
HEADS, D_MODEL, D_HEAD = GOLDEN["n_head"], GOLDEN["d_model"], GOLDEN["d_head"]
U, V = GOLDEN["u_r_w_bias"], GOLDEN["v_r_r_bias"]
by_lengths = {"ids": lambda case: f"q{case['qlen']}_m{case['mlen']}"}
short = {"ids": lambda came: str(came)[:6]}
close = {"rtol": 2e-6, "atol": 2e-6}
NOT_A_LENGTH = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", True]


def inputs(case):
    """q of the segment, k of memory and segment, and r, through the golden weights."""
    q_weight, k_weight, _ = np.split(np.array(GOLDEN["qkv_weight"]), 3)
    segment = np.array(case["w"])
    both = np.concatenate([np.array(case["mems"]).reshape(-1, D_MODEL), segment])
    r = transformer_xl.position_encoding(len(both), D_MODEL)
    return (
        transformer_xl.heads(segment, q_weight, HEADS),
        transformer_xl.heads(both, k_weight, HEADS),
        transformer_xl.heads(r, GOLDEN["r_weight"], HEADS),
    )


def test_vectors_cover_no_memory_a_memory_and_a_single_query():
    assert [(case["qlen"], case["mlen"]) for case in CASES] == [(3, 0), (3, 2), (1, 3)]
    assert np.shape(GOLDEN["qkv_weight"]) == (3 * HEADS * D_HEAD, D_MODEL)
    assert np.shape(U) == np.shape(V) == (HEADS, D_HEAD)


@pytest.mark.parametrize("case", CASES, **by_lengths)
def test_position_encoding_is_the_references(case):
    k_len = case["qlen"] + case["mlen"]
    assert case["pos_seq"] == list(range(k_len - 1, -1, -1))
    r = transformer_xl.position_encoding(k_len, D_MODEL)
    np.testing.assert_array_equal(r[-1], [0] * 4 + [1] * 4)
    np.testing.assert_allclose(r, case["pos_emb_sin_then_cos"], **close)


@pytest.mark.parametrize("case", CASES, **by_lengths)
def test_shifted_scores_are_the_references_garbage_included(case):
    q, _, r = inputs(case)
    by_distance = (q + np.array(V)[:, None]) @ r.swapaxes(1, 2)
    np.testing.assert_allclose(by_distance, case["BD_before_shift"], **close)
    shifted = transformer_xl.relative_shift(by_distance)
    np.testing.assert_allclose(shifted, case["BD_after_shift"], **close)


@pytest.mark.parametrize("case", CASES, **by_lengths)
def test_terms_are_the_references_where_a_query_may_look(case):
    terms = transformer_xl.terms(*inputs(case), U, V)
    visible = np.array(case["causal_visible"])
    np.testing.assert_array_equal(terms.visible, visible)
    np.testing.assert_array_equal(terms.visible, ~transformer_xl.garbage(*visible.shape))
    for mine, theirs in (
        (terms.a, "a_content"), (terms.b, "b_shifted"), (terms.c, "c_u"), (terms.d, "d_shifted"),
    ):  # fmt: skip
        assert mine.shape == (HEADS, *visible.shape)
        assert not mine[:, ~visible].any()
        np.testing.assert_allclose(mine[:, visible], np.array(case[theirs])[:, visible], **close)
    np.testing.assert_allclose(
        (terms.a + terms.c)[:, visible], np.array(case["AC"])[:, visible], **close
    )


@pytest.mark.parametrize("case", CASES, **by_lengths)
def test_scores_are_the_references_and_masked_elsewhere(case):
    scores = transformer_xl.terms(*inputs(case), U, V).scores
    visible = np.array(case["causal_visible"])
    assert np.all(scores[:, ~visible] == -np.inf)
    np.testing.assert_allclose(
        scores[:, visible], np.array(case["score_scaled"])[:, visible], **close
    )
    weights = softmax(scores)
    assert not weights[:, ~visible].any()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-12)


def test_shift_of_the_demonstration_is_the_references():
    demo = GOLDEN["rel_shift_demo"]
    assert demo["in"] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    np.testing.assert_array_equal(transformer_xl.relative_shift(demo["in"]), demo["out"])


# Brute force.


@st.composite
def heads_of_a_segment(draw):
    """q, k, R, W_R, u and v of random heads."""
    num_heads, q_len, d_head, d_model = (draw(st.integers(1, 4)) for _ in range(4))
    k_len = q_len + draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    return (
        rng.normal(size=(num_heads, q_len, d_head)),
        rng.normal(size=(num_heads, k_len, d_head)),
        rng.normal(size=(num_heads * d_head, 2 * d_model)),
        rng.normal(size=(num_heads, d_head)),
        rng.normal(size=(num_heads, d_head)),
    )


@given(heads_of_a_segment(), st.none() | st.integers(1, 6))
def test_terms_cell_by_cell_without_any_shift(segment, clamp_len):
    q, k, r_weight, u, v = segment
    (num_heads, q_len, d_head), k_len, d_model = q.shape, k.shape[1], r_weight.shape[1]
    encoding = transformer_xl.position_encoding(k_len, d_model, clamp_len)
    r = transformer_xl.heads(encoding, r_weight, num_heads)
    terms = transformer_xl.terms(q, k, r, u, v)
    for h in range(num_heads):
        weight = r_weight[h * d_head : (h + 1) * d_head]
        for i in range(q_len):
            for j in range(k_len):
                distance = i + (k_len - q_len) - j
                if distance < 0:
                    assert terms.scores[h, i, j] == -np.inf
                    continue
                clamped = distance if clamp_len is None else min(distance, clamp_len)
                by_distance = weight @ sinusoidal.encoding(clamped, d_model, layout="halves")
                four = (
                    q[h, i] @ k[h, j], q[h, i] @ by_distance, u[h] @ k[h, j], v[h] @ by_distance,
                )  # fmt: skip
                found = [term[h, i, j] for term in (terms.a, terms.b, terms.c, terms.d)]
                np.testing.assert_allclose(found, four, atol=1e-12)
                assert terms.scores[h, i, j] == pytest.approx(sum(four) / math.sqrt(d_head))


@given(st.integers(1, 8), st.integers(0, 8))
def test_shifted_cell_holds_its_distance(q_len, memory):
    k_len = q_len + memory
    distance = np.broadcast_to(np.arange(k_len - 1.0, -1, -1), (q_len, k_len))
    shifted = transformer_xl.relative_shift(distance)
    expected = np.arange(q_len)[:, None] + memory - np.arange(k_len)
    visible = causal_mask(q_len, k_len)
    np.testing.assert_array_equal(shifted[visible], expected[visible])


@given(st.integers(1, 8), st.integers(0, 8))
def test_full_shift_holds_every_distance_ahead_too(q_len, memory):
    k_len = q_len + memory
    distance = np.broadcast_to(np.arange(k_len - 1.0, -q_len, -1), (2, q_len, q_len + k_len - 1))
    shifted = transformer_xl.full_relative_shift(distance)
    expected = np.arange(q_len)[:, None] + memory - np.arange(k_len)
    np.testing.assert_array_equal(shifted, np.broadcast_to(expected, (2, q_len, k_len)))


@given(heads_of_a_segment())
def test_before_the_reparametrization_the_terms_multiply_out_content_plus_position(segment):
    q, k, _, u, v = segment
    s, t = q[..., ::-1] + u[:, None], k * v[:, None]
    terms = transformer_xl.absolute_terms(q, k, s, t)
    whole = (q + s) @ (k + t).swapaxes(1, 2) / math.sqrt(q.shape[2])
    scores = np.where(causal_mask(q.shape[1], k.shape[1]), whole, -np.inf)
    np.testing.assert_allclose(terms.scores, scores, atol=1e-12)
    np.testing.assert_allclose(
        terms.b, np.where(terms.visible, q @ t.swapaxes(1, 2), 0.0), atol=1e-12
    )
    np.testing.assert_allclose(
        terms.c, np.where(terms.visible, s @ k.swapaxes(1, 2), 0.0), atol=1e-12
    )


def test_after_the_reparametrization_equal_content_scores_by_distance_alone():
    """Before it, the same content scores differently at another place."""
    content = np.ones((2, 6, 4))
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 2, 4))
    weight = rng.normal(size=(8, 8))
    r = transformer_xl.heads(transformer_xl.position_encoding(6, 8), weight, 2)
    relative = transformer_xl.terms(content, content, r, u, v).scores
    places = transformer_xl.heads(sinusoidal.table(6, 8), weight, 2)
    absolute = transformer_xl.absolute_terms(content, content, places, places).scores
    for distance in range(5):
        np.testing.assert_allclose(
            np.diff(np.diagonal(relative, -distance, axis1=1, axis2=2)), 0.0, atol=1e-12
        )
    assert np.abs(np.diff(np.diagonal(absolute, -1, axis1=1, axis2=2))).max() > 0.1


def test_terms_with_memory_are_the_last_rows_of_the_terms_without():
    rng = np.random.default_rng(3)
    k, q = rng.normal(size=(2, 2, 7, 4))
    r, (u, v) = rng.normal(size=(2, 7, 4)), rng.normal(size=(2, 2, 4))
    whole = transformer_xl.terms(q, k, r, u, v).scores
    segment = transformer_xl.terms(q[:, 4:], k, r, u, v).scores
    np.testing.assert_allclose(segment, whole[:, 4:], atol=1e-12)


@given(st.integers(1, 30), st.integers(1, 40))
def test_clamped_distances_share_the_encoding_of_the_clamp(k_len, clamp_len):
    r = transformer_xl.position_encoding(k_len, 8, clamp_len)
    plain = transformer_xl.position_encoding(max(k_len, clamp_len + 1), 8)
    far = max(k_len - clamp_len, 0)
    np.testing.assert_array_equal(r[:far], np.broadcast_to(plain[-1 - clamp_len], (far, 8)))
    np.testing.assert_array_equal(r[far:], plain[len(plain) - k_len + far :])


# Public bug reports.


def test_the_shift_drops_the_first_row_not_the_last():
    """labmlai/annotated_deep_learning_paper_implementations#185."""
    x = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    wrong = np.concatenate([np.zeros((3, 1)), x], axis=1).reshape(5, 3)[:-1].reshape(3, 4)
    right = transformer_xl.relative_shift(x)
    np.testing.assert_array_equal(right, [[3, 4, 0, 5], [6, 7, 8, 0], [9, 10, 11, 12]])
    assert not np.array_equal(right, wrong)


def test_the_upper_triangle_after_the_shift_is_garbage_and_is_named_so():
    """kimiyoung/transformer-xl#8 and #138: row 0 shows row 1's first number."""
    shifted = transformer_xl.relative_shift([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    assert shifted[0, 3] == 5
    garbage = transformer_xl.garbage(3, 4)
    assert shifted[garbage].tolist() == [0, 5, 0]
    np.testing.assert_array_equal(garbage, np.triu(np.ones((3, 4)), 2))


def test_an_encoder_needs_the_wide_shift():
    """espnet#2684: with one column per key, keys ahead got other rows' numbers."""
    table = np.arange(3.0, -4, -1)  # distances 3 .. -3
    wide = transformer_xl.full_relative_shift(np.broadcast_to(table, (4, 7)))
    narrow = transformer_xl.relative_shift(np.broadcast_to(table[:4], (4, 4)))
    ahead = transformer_xl.garbage(4)
    np.testing.assert_array_equal(wide, np.arange(4)[:, None] - np.arange(4))
    np.testing.assert_array_equal(wide[~ahead], narrow[~ahead])
    assert np.all(wide[ahead] < 0)
    assert np.all(narrow[ahead] >= 0)


def test_frequencies_run_over_the_width_of_the_model_not_of_a_head():
    r = transformer_xl.position_encoding(2, 8)
    np.testing.assert_allclose(r[0, :4], np.sin([1.0, 0.1, 0.01, 0.001]), rtol=1e-12)


# What the pictures show.


@pytest.mark.parametrize("case", CASES, **by_lengths)
def test_the_two_products_of_the_released_code_are_its_ac_and_bd(case):
    product = transformer_xl.two_products(*inputs(case), U, V)
    expected = np.array(case["AC"]) + np.array(case["BD_after_shift"])
    np.testing.assert_allclose(product, expected, **close)
    assert transformer_xl.terms(*inputs(case), U, V).residual(product) < 1e-13


def test_a_residual_is_the_largest_difference_where_a_query_may_look():
    one, bias = np.ones((1, 2, 3)), np.zeros((1, 3))
    terms = transformer_xl.terms(one, one, one, bias, bias)
    np.testing.assert_array_equal(terms.total[0], [[6, 0], [6, 6]])
    assert terms.residual([[[6.0, 99.0], [6.5, 5.75]]]) == 0.5
    with pytest.raises(InvalidParameterError, match=r"^product must have the shape of .* got "):
        terms.residual(one)


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 999))
def test_terms_of_a_random_head_add_up_to_the_products(q_len, memory, seed):
    head, k_len = transformer_xl.random_head(16, 4, seed), q_len + memory
    x = transformer_xl.tokens(k_len, 16, seed)
    for terms, product in (
        head.relative(x, q_len, u=-2.0, v=3.0),
        head.absolute(x, q_len, range(7 + memory, 7 + k_len), range(7, 7 + k_len)),
    ):
        assert terms.residual(product) < 1e-12
    relative, absolute = head.relative(x, q_len, 0, 0)[0], head.absolute(x, 1, [0], [0] * k_len)[0]
    assert not relative.c.any()
    assert not relative.d.any()
    q, k = x[-1:] @ head.q_weight.T, x @ head.k_weight.T
    np.testing.assert_allclose(relative.a[0, -1], (q @ k.T)[0], atol=1e-12)
    at_0 = sinusoidal.encoding(0, 16, layout="halves")
    np.testing.assert_allclose(absolute.b[0, 0], (q @ (head.k_weight @ at_0))[0], atol=1e-12)
    np.testing.assert_allclose(absolute.c[0, 0], k @ (head.q_weight @ at_0), atol=1e-12)


def test_a_moved_text_changes_every_term_with_places_and_none_with_distances():
    head, x = transformer_xl.random_head(), transformer_xl.tokens(8)
    at_0, at_5 = (head.absolute(x, 8, range(n, n + 8), range(n, n + 8))[0] for n in (0, 5))
    change = transformer_xl.changes(at_0, at_5)
    assert change.pop("a") == 0.0
    assert set(change) == {"b", "c", "d", "weights"}
    assert min(change.values()) > 0.05
    for name in "bcd":
        assert change[name] == np.abs(getattr(at_5, name) - getattr(at_0, name)).max()
    assert change["weights"] == np.abs(softmax(at_5.scores) - softmax(at_0.scores)).max()
    relative = head.relative(x, 8)[0]
    assert set(transformer_xl.changes(relative, relative).values()) == {0.0}


def test_a_longer_text_begins_with_the_shorter_one():
    np.testing.assert_array_equal(transformer_xl.tokens(20)[:7], transformer_xl.tokens(7))
    assert not np.array_equal(transformer_xl.tokens(7, seed=1), transformer_xl.tokens(7))


def laid_out(cells, shape):
    """The cells as an array of their numbers, 1 and up, zeros being 0 and empty places -1."""
    told = np.full(shape, -1.0)
    number = np.where(cells.is_zero, 0, np.cumsum(~cells.is_zero))
    for n in np.flatnonzero(cells.shown):
        assert cells.shown[n] == 1.0
        assert told[int(cells.row[n]), int(cells.column[n])] == -1
        told[int(cells.row[n]), int(cells.column[n])] = number[n]
    return told


@given(st.integers(1, 6), st.integers(0, 5), st.booleans(), st.sampled_from(["first", "last"]))
def test_moving_cells_rest_where_the_arrays_of_the_shift_have_them(q_len, memory, encoder, dropped):
    k_len = q_len + memory
    columns = q_len + k_len - 1 if encoder else k_len
    x = np.arange(1.0, q_len * columns + 1).reshape(q_len, columns)
    padded = np.pad(x, ((0, 0), (1, 0)))
    turned = padded.reshape(-1, q_len)
    cut = turned[1:] if dropped == "first" else turned[:-1]
    back = cut.reshape(x.shape)
    stages = [padded, padded, turned, cut, back, back[:, :k_len]][: 6 if encoder else 5]
    for step, expected in enumerate(stages):
        for near in {max(step - 0.1, 0), step, min(step + 0.1, len(stages) - 1)}:
            cells = transformer_xl.shift_cells(q_len, k_len, near, dropped, encoder)
            if step == 0:
                assert not cells.shown[cells.is_zero].any()
                cells = dataclasses.replace(cells, shown=np.ones_like(cells.shown))
            np.testing.assert_array_equal(laid_out(cells, expected.shape), expected)
    if dropped == "first":
        shift = transformer_xl.full_relative_shift if encoder else transformer_xl.relative_shift
        np.testing.assert_array_equal(stages[-1], shift(x))
    visible = causal_mask(q_len, k_len)
    assert cells.ahead.sum() == (~visible).sum()
    if dropped == "last":
        assert not cells.right.any() or k_len == 1 or q_len == 1
    else:
        assert cells.right.sum() == (q_len * k_len if encoder else visible.sum())


def test_a_cell_is_half_way_between_two_steps():
    before, half, after = (transformer_xl.shift_cells(3, 4, step) for step in (1, 1.5, 2))
    np.testing.assert_allclose(half.row, (before.row + after.row) / 2, atol=1e-12)
    np.testing.assert_allclose(half.column, (before.column + after.column) / 2, atol=1e-12)
    fading = transformer_xl.shift_cells(3, 4, 2.5)
    np.testing.assert_allclose(fading.shown[:3], 0.5)


# Errors.


@pytest.mark.parametrize("came", NOT_A_LENGTH, **short)
def test_counts_that_are_none_are_refused(came):
    for name, ask in (
        ("k_len", lambda: transformer_xl.position_encoding(came, 8)),
        ("d_model", lambda: transformer_xl.position_encoding(4, came)),
        ("clamp_len", lambda: transformer_xl.position_encoding(4, 8, came)),
        ("q_len", lambda: transformer_xl.garbage(came)),
        ("k_len", lambda: transformer_xl.garbage(2, came)),
        ("num_heads", lambda: transformer_xl.heads(np.ones((2, 3)), np.ones((4, 3)), came)),
        ("count", lambda: transformer_xl.tokens(came)),
        ("d_model", lambda: transformer_xl.random_head(came)),
        ("d_head", lambda: transformer_xl.random_head(8, came)),
        ("q_len", lambda: transformer_xl.random_head(8).relative(np.ones((4, 8)), came)),
        ("q_len", lambda: transformer_xl.shift_cells(came, 4, 0)),
        ("k_len", lambda: transformer_xl.shift_cells(2, came, 0)),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must be .* got "):
            ask()


@pytest.mark.parametrize("came", [1.0, 0, math.nan, math.inf, "10000", None], **short)
def test_a_base_that_slows_nothing_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^base must be .* got "):
        transformer_xl.position_encoding(4, 8, base=came)


def test_an_odd_width_is_refused():
    """The reference makes one column more than d_model, and fails in the weight."""
    with pytest.raises(InvalidParameterError, match=r"^d_model must be even, .* got 7$"):
        transformer_xl.position_encoding(4, 7)


@pytest.mark.parametrize(
    "came", [math.nan, math.inf, "1", None, True, 1e300, 10**400, [1, [2]]], **short
)
def test_vectors_that_are_none_are_refused(came):
    good, bias = np.ones((1, 1, 2)), np.ones((1, 2))
    wide, flat = [[[came, came]]], [[came, came]]
    for name, ask in (
        ("q", lambda: transformer_xl.terms(wide, good, good, bias, bias)),
        ("k", lambda: transformer_xl.terms(good, wide, good, bias, bias)),
        ("r", lambda: transformer_xl.terms(good, good, wide, bias, bias)),
        ("u", lambda: transformer_xl.terms(good, good, good, flat, bias)),
        ("v", lambda: transformer_xl.terms(good, good, good, bias, flat)),
        ("q", lambda: transformer_xl.absolute_terms(wide, good, good, good)),
        ("k", lambda: transformer_xl.absolute_terms(good, wide, good, good)),
        ("q_position", lambda: transformer_xl.absolute_terms(good, good, wide, good)),
        ("k_position", lambda: transformer_xl.absolute_terms(good, good, good, wide)),
        ("x", lambda: transformer_xl.relative_shift(flat)),
        ("x", lambda: transformer_xl.full_relative_shift(flat)),
        ("x", lambda: transformer_xl.heads(flat, bias, 1)),
        ("weight", lambda: transformer_xl.heads(bias, flat, 1)),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{name} must .* got "):
            ask()


def test_sizes_that_do_not_fit_are_refused():
    q, k, bias = np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 4))
    for begin, ask in (
        ("r must have the shape of k", lambda: transformer_xl.terms(q, k, q, bias, bias)),
        ("u must have the shape of", lambda: transformer_xl.terms(q, k, k, bias[:1], bias)),
        ("v must have the shape of", lambda: transformer_xl.terms(q, k, k, bias, bias[:, :3])),
        ("v must have the axes", lambda: transformer_xl.terms(q, k, k, bias, bias[0])),
        ("k must be as long as q", lambda: transformer_xl.terms(q, k[:1], k, bias, bias)),
        ("the last axis of k", lambda: transformer_xl.terms(q, k[..., :3], k, bias, bias)),
        ("k_len must be", lambda: transformer_xl.terms(k, q, q, bias, bias)),
        ("q must have the axes", lambda: transformer_xl.terms(q[0], k, k, bias, bias)),
        ("q_position must have", lambda: transformer_xl.absolute_terms(q, k, k, k)),
        ("k_position must have", lambda: transformer_xl.absolute_terms(q, k, q, q)),
        ("k_len must be", lambda: transformer_xl.relative_shift(np.ones((3, 2)))),
        ("k_len must be", lambda: transformer_xl.full_relative_shift(np.ones((3, 4)))),
        ("k_len must be", lambda: transformer_xl.garbage(3, 2)),
        ("k_len must be", lambda: transformer_xl.shift_cells(3, 2, 0)),
        ("step must be", lambda: transformer_xl.shift_cells(3, 4, 4.5)),
        ("dropped must be", lambda: transformer_xl.shift_cells(3, 4, 1, "none")),
        ("q_len must be", lambda: transformer_xl.random_head(4).relative(np.ones((3, 4)), 4)),
        ("x must have the axes", lambda: transformer_xl.relative_shift(np.ones(3))),
        ("num_heads must divide", lambda: transformer_xl.heads(q[0], np.ones((5, 4)), 2)),
        ("the last axis of weight", lambda: transformer_xl.heads(q[0], np.ones((6, 3)), 2)),
        ("q_len and k_len must ask", lambda: transformer_xl.garbage(10**6)),
        ("k_len and d_model must ask", lambda: transformer_xl.position_encoding(10**6, 10**6)),
    ):
        with pytest.raises(InvalidParameterError, match=rf"^{begin}.* got "):
            ask()
