"""Sinusoidal encodings against the paper, tensor2tensor and Hugging Face."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params, sinusoidal
from posviz.params import InvalidParameterError

GOLDEN = json.loads((Path(__file__).parent / "golden" / "sinusoidal.json").read_text())
PAPER = [case for case in GOLDEN if "vaswani_interleaved_f64" in case]
ROFORMER = [case for case in GOLDEN if "hf_roformer_sin_half_cos_half" in case]
by_size = {"ids": lambda case: f"n{case['n']}_d{case['d']}"}

widths = st.integers(1, 64)
bases = st.floats(params.ROPE_THETA.low, params.ROPE_THETA.high)


def test_vectors_cover_even_odd_and_smallest_width():
    assert [(case["n"], case["d"]) for case in PAPER] == [(6, 8), (4, 7), (3, 2)]
    assert [(case["n"], case["d"]) for case in ROFORMER] == [(6, 8)]


@pytest.mark.parametrize("case", PAPER, **by_size)
def test_interleaved_table_is_the_papers(case):
    table = sinusoidal.table(case["n"], case["d"])
    assert table.shape == (case["n"], case["d"])
    np.testing.assert_array_equal(table[0, 0::2], 0.0)
    np.testing.assert_array_equal(table[0, 1::2], 1.0)
    np.testing.assert_allclose(table, case["vaswani_interleaved_f64"], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("case", PAPER, **by_size)
def test_tensor2tensor_table_is_tensor2tensors(case):
    table = sinusoidal.table(case["n"], case["d"], layout="halves", spacing="tensor2tensor")
    if case["d"] % 2:
        np.testing.assert_array_equal(table[:, -1], 0.0)
    np.testing.assert_allclose(table, case["tensor2tensor_f64"], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("case", ROFORMER, **by_size)
def test_halves_are_hugging_faces_roformer(case):
    table = sinusoidal.table(case["n"], case["d"], layout="halves")
    expected = case["hf_roformer_sin_half_cos_half"]
    np.testing.assert_allclose(table, expected, rtol=2e-6, atol=2e-7)


@given(st.integers(1, 20), widths, bases)
def test_both_layouts_hold_the_same_columns(seq_len, d_model, base):
    interleaved = sinusoidal.table(seq_len, d_model, base)
    halves = sinusoidal.table(seq_len, d_model, base, layout="halves")
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    np.testing.assert_array_equal(halves, interleaved[:, order])


@given(st.integers(1, 50), widths, bases)
def test_each_entry_is_the_papers_formula(seq_len, d_model, base):
    table = sinusoidal.table(seq_len, d_model, base)
    p = seq_len - 1
    for column in range(d_model):
        wave = math.cos if column % 2 else math.sin
        expected = wave(p / base ** (2 * (column // 2) / d_model))
        assert table[p, column] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2000), st.integers(-2000, 2000), widths.map(lambda i: 2 * i), bases)
def test_dot_product_of_two_rows_depends_on_their_distance_alone(p, distance, d_model, base):
    seq_len = max(p, p + abs(distance)) + 1
    table = sinusoidal.table(seq_len, d_model, base)
    closed = sinusoidal.dot_product(distance, d_model, base)
    assert closed == pytest.approx(float(table[p] @ table[p + abs(distance)]), abs=1e-9)
    assert closed == pytest.approx(float(sinusoidal.dot_product(-distance, d_model, base)))


@given(widths.map(lambda i: 2 * i), bases)
def test_dot_product_peaks_at_half_the_width(d_model, base):
    products = sinusoidal.dot_product(np.arange(200), d_model, base)
    assert products.shape == (200,)
    assert products[0] == d_model / 2
    assert products.max() == products[0]


@given(st.integers(2, 64).map(lambda i: 2 * i), bases)
def test_papers_frequencies_never_reach_one_over_the_base_and_tensor2tensors_do(d_model, base):
    paper = sinusoidal.inv_freq(d_model, base)
    tensor2tensor = sinusoidal.inv_freq(d_model, base, "tensor2tensor")
    assert paper[0] == tensor2tensor[0] == 1.0
    assert paper[-1] > 1 / base
    assert tensor2tensor[-1] == pytest.approx(1 / base, rel=1e-12)
    assert np.all(np.diff(paper) < 0)
    assert paper.shape == tensor2tensor.shape == (d_model // 2,)


# The shift matrix.

shifts = st.integers(-int(params.SHIFT.high), int(params.SHIFT.high))
positions = st.integers(int(params.POSITION.low), int(params.POSITION.high))
even_widths = st.integers(1, 64).map(lambda i: 2 * i)
layouts = st.sampled_from(sinusoidal.LAYOUTS)
spacings = st.sampled_from(["paper", "tensor2tensor"])


@given(shifts, positions, even_widths, bases, layouts, spacings)
def test_shift_matrix_moves_every_position_by_k(k, p, d_model, base, layout, spacing):
    here, there = sinusoidal.encoding([p, p + k], d_model, base, layout, spacing)
    matrix = sinusoidal.shift_matrix(k, d_model, base, layout, spacing)
    assert matrix.shape == (d_model, d_model)
    np.testing.assert_allclose(matrix @ here, there, atol=1e-9)


@given(shifts, st.integers(1, 60), even_widths, layouts, spacings)
def test_what_the_shift_leaves_is_rounding(k, seq_len, d_model, layout, spacing):
    residual = sinusoidal.shift_residual(k, seq_len, d_model, 10_000.0, layout, spacing)
    assert residual.shape == (seq_len,)
    assert np.all(residual <= 4e-16 * (2 + seq_len + abs(k)))


@given(shifts, shifts, even_widths, bases, layouts)
def test_shift_matrices_are_rotations_that_add_up(k, more, d_model, base, layout):
    matrix = sinusoidal.shift_matrix(k, d_model, base, layout)
    then = sinusoidal.shift_matrix(more, d_model, base, layout)
    both = sinusoidal.shift_matrix(k + more, d_model, base, layout)
    back = sinusoidal.shift_matrix(-k, d_model, base, layout)
    np.testing.assert_allclose(then @ matrix, both, atol=1e-9)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(d_model), atol=1e-12)
    np.testing.assert_array_equal(back, matrix.T)


def test_no_shift_is_the_identity():
    np.testing.assert_array_equal(sinusoidal.shift_matrix(0, 6), np.eye(6))


def test_shift_by_one_written_out():
    cos, sin = math.cos(1.0), math.sin(1.0)
    slow_cos, slow_sin = math.cos(0.01), math.sin(0.01)
    np.testing.assert_allclose(
        sinusoidal.shift_matrix(1, 4, layout="halves"),
        [[cos, 0, sin, 0], [0, slow_cos, 0, slow_sin],
         [-sin, 0, cos, 0], [0, -slow_sin, 0, slow_cos]],
        rtol=1e-12,
    )  # fmt: skip


def test_the_shift_of_one_layout_does_not_shift_the_other():
    here, there = sinusoidal.encoding([3, 8], 8, layout="halves")
    assert np.allclose(sinusoidal.shift_matrix(5, 8, layout="halves") @ here, there)
    assert not np.allclose(sinusoidal.shift_matrix(5, 8) @ here, there)


def test_an_odd_width_has_no_shift_matrix_because_no_matrix_fits_its_table():
    table = sinusoidal.table(200, 5)
    best, *_ = np.linalg.lstsq(table[:-1], table[1:], rcond=None)
    assert np.abs(table[:-1] @ best - table[1:]).max() > 1e-5
    with pytest.raises(InvalidParameterError, match=r"^d_model must be even, because the last sine"
                       r" .* no shift matrix exists, got 5$"):  # fmt: skip
        sinusoidal.shift_matrix(1, 5)
    with pytest.raises(InvalidParameterError, match=r"^d_model must be even, .* got 5$"):
        sinusoidal.shift_residual(1, 10, 5)


# The counter.


@given(st.integers(0, 2**40), st.integers(1, 48))
def test_bits_are_the_binary_digits_lowest_first(number, count):
    written = format(number, f"0{count}b")[::-1][:count]
    assert "".join(map(str, sinusoidal.bits(number, count))) == written


@given(st.integers(0, 2**20), st.integers(1, 24))
def test_a_bit_is_one_exactly_where_its_sine_half_a_token_on_is_negative(p, count):
    waves = sinusoidal.bit_waves([p], count)[0]
    assert (waves < 0).tolist() == [bool(p >> i & 1) for i in range(count)]
    assert np.abs(waves).min() >= math.sin(math.pi / 2 ** (count + 1))


def test_without_the_half_token_the_fastest_sine_says_nothing():
    waves = sinusoidal.bit_waves(np.arange(64) - 0.5, 3)
    np.testing.assert_allclose(waves[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(waves[::4, 2], 0.0, atol=1e-12)


def test_the_periods_of_bits_double_from_two():
    assert sinusoidal.bit_periods(5).tolist() == [2, 4, 8, 16, 32]


@given(st.integers(0, 5000), even_widths, bases, spacings)
def test_the_sign_of_a_sine_is_the_parity_of_its_half_turns(p, d_model, base, spacing):
    frequencies = sinusoidal.inv_freq(d_model, base, spacing)
    half_turns = p * frequencies / math.pi
    clear = np.abs(half_turns - np.round(half_turns)) > 1e-9  # of rounding
    parity = np.floor(half_turns) % 2
    signs = sinusoidal.sign_bits(p, d_model, base, spacing)
    np.testing.assert_array_equal(signs[clear], parity[clear])


@given(st.integers(2, 20), spacings)
def test_with_a_ratio_of_two_the_signs_are_the_digits_of_half_turns(pairs, spacing):
    base = sinusoidal.base_of_ratio(2.0, 2 * pairs, spacing)
    assert base == 2.0 ** (pairs if spacing == "paper" else pairs - 1)
    p = np.arange(1000)
    np.testing.assert_array_equal(
        sinusoidal.sign_bits(p, 2 * pairs, base, spacing),
        [[int(x / math.pi) >> i & 1 for i in range(pairs)] for x in p],
    )
    assert sinusoidal.half_turns([0, 3, 4, 6, 7, 355]).tolist() == [0, 0, 1, 1, 2, 113]


@given(st.integers(2, 64).map(lambda i: 2 * i), bases, spacings)
def test_the_ratio_is_what_each_pair_is_slower_by(d_model, base, spacing):
    ratio = sinusoidal.ratio(d_model, base, spacing)
    frequencies = sinusoidal.inv_freq(d_model, base, spacing)
    np.testing.assert_allclose(frequencies[:-1] / frequencies[1:], ratio, rtol=1e-9)
    assert sinusoidal.base_of_ratio(ratio, d_model, spacing) == pytest.approx(base, rel=1e-9)


@given(even_widths, bases)
def test_only_tensor2tensors_wavelengths_reach_two_pi_times_the_base(d_model, base):
    limit = sinusoidal.longest_wavelength(base)
    assert limit == 2 * math.pi * base
    paper, theirs = (
        2 * math.pi / sinusoidal.inv_freq(d_model, base, spacing)[-1]
        for spacing in ("paper", "tensor2tensor")
    )
    assert paper == pytest.approx(2 * math.pi * base ** ((d_model - 2) / d_model), rel=1e-9)
    assert paper < limit
    assert theirs == pytest.approx(2 * math.pi if d_model == 2 else limit, rel=1e-9)


@given(even_widths, layouts)
def test_columns_say_where_each_pairs_sine_and_cosine_stand(d_model, layout):
    sines, cosines = sinusoidal.columns(d_model, layout)
    row = sinusoidal.encoding(3, d_model, layout=layout)
    angles = 3 * sinusoidal.inv_freq(d_model)
    np.testing.assert_array_equal(row[sines], np.sin(angles))
    np.testing.assert_array_equal(row[cosines], np.cos(angles))


# Past the trained length.


@pytest.mark.parametrize("spacing", ["paper", "tensor2tensor"])
def test_a_pair_has_never_completed_when_its_wavelength_exceeds_the_training(spacing):
    wavelengths = 2 * math.pi / sinusoidal.inv_freq(64, 10_000.0, spacing)
    slow = sinusoidal.never_completed(256, 64, 10_000.0, spacing)
    assert slow.tolist() == (wavelengths > 256).tolist()
    assert 0 < slow.sum() < 32


@given(st.integers(0, 900), st.integers(1, 300), even_widths, spacings)
def test_likeness_is_the_best_cosine_with_a_row_of_training(p, trained, d_model, spacing):
    rows = sinusoidal.table(trained, d_model, spacing=spacing)
    row = sinusoidal.encoding(p, d_model, spacing=spacing)
    expected = (rows @ row / np.linalg.norm(row) / np.linalg.norm(rows, axis=1)).max()
    found = sinusoidal.likeness_to_trained(p, trained, d_model, spacing=spacing)
    assert found.shape == ()
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.integers(-300, 300), even_widths)
def test_dot_product_follows_the_spacing(k, d_model):
    here, there = sinusoidal.encoding([400, 400 + k], d_model, spacing="tensor2tensor")
    closed = sinusoidal.dot_product(k, d_model, spacing="tensor2tensor")
    assert closed == pytest.approx(float(here @ there), abs=1e-9)


# Any position, and who uses which variant.


@given(st.integers(1, 40), widths, bases, layouts, spacings)
def test_encoding_of_the_first_positions_is_the_table(seq_len, d_model, base, layout, spacing):
    table = sinusoidal.table(seq_len, d_model, base, layout, spacing)
    encoding = sinusoidal.encoding(np.arange(seq_len), d_model, base, layout, spacing)
    np.testing.assert_array_equal(table, encoding)
    for p in (0, seq_len - 1):
        one = sinusoidal.encoding(p, d_model, base, layout, spacing)
        np.testing.assert_allclose(one, table[p], rtol=1e-15, atol=1e-15)


@given(st.floats(-1e4, 1e4), even_widths)
def test_a_position_before_the_first_mirrors_the_sines(p, d_model):
    before, after = sinusoidal.encoding([-p, p], d_model)
    np.testing.assert_array_equal(before[0::2], -after[0::2])
    np.testing.assert_array_equal(before[1::2], after[1::2])


@pytest.mark.parametrize("case", PAPER, **by_size)
def test_variants_are_the_implementations_by_name(case):
    n, d = case["n"], case["d"]
    close = {"rtol": 1e-12, "atol": 1e-15}
    paper, tensor2tensor = case["vaswani_interleaved_f64"], case["tensor2tensor_f64"]
    np.testing.assert_allclose(sinusoidal.variant_table("paper", n, d), paper, **close)
    np.testing.assert_allclose(
        sinusoidal.variant_table("tensor2tensor", n, d), tensor2tensor, **close
    )
    np.testing.assert_allclose(
        sinusoidal.variant_table("fairseq", n - 2, d), tensor2tensor[2:], **close
    )
    for halves in ("transformer_xl", "roformer"):
        np.testing.assert_array_equal(
            sinusoidal.variant_table(halves, n, d), sinusoidal.table(n, d, layout="halves")
        )


def test_fairseqs_first_token_stands_at_two():
    """Its padding index is 1, and make_positions begins one past it."""
    first = sinusoidal.variant_table("fairseq", 1, 8)[0]
    np.testing.assert_array_equal(first, sinusoidal.variant_table("tensor2tensor", 3, 8)[2])


# Public bug reports.


def test_odd_width_has_one_sine_more_than_cosines_instead_of_a_crash():
    """gc-os-ai/pyaptamer#526: d_model 5 crashed."""
    table = sinusoidal.table(4, 5)
    assert table.shape == (4, 5)
    np.testing.assert_array_equal(table[0], [0, 1, 0, 1, 0])
    np.testing.assert_array_equal(sinusoidal.table(4, 5, layout="halves")[0], [0, 0, 0, 1, 1])


def test_sine_and_cosine_of_a_pair_share_one_frequency():
    """jadore801120/attention-is-all-you-need-pytorch#32: each column had its own."""
    table = sinusoidal.table(50, 16)
    np.testing.assert_allclose(table[:, 0::2] ** 2 + table[:, 1::2] ** 2, 1.0)


def test_exponent_counts_pairs_not_columns():
    """SamLynnEvans/Transformer#25: column j in place of 2 * (j // 2) slows each cosine."""
    table, d, p = sinusoidal.table(2, 8), 8, 1
    wrong = [(math.cos if j % 2 else math.sin)(p / 10_000 ** (j / d)) for j in range(d)]
    twice = [(math.cos if j % 2 else math.sin)(p / 10_000 ** (2 * j / d)) for j in range(d)]
    assert table[p, 1] == pytest.approx(math.cos(1.0), rel=1e-12)
    assert table[p, 2] == pytest.approx(math.sin(0.1), rel=1e-12)
    assert not np.allclose(table[p], wrong, atol=1e-3)
    assert not np.allclose(table[p], twice, atol=1e-3)


def test_concatenated_and_interleaved_are_both_there_by_name_and_differ():
    """allenai/allennlp#2993: one was reported as a bug of the other."""
    interleaved = sinusoidal.table(6, 8, layout="interleaved")
    halves = sinusoidal.table(6, 8, layout="halves")
    assert not np.allclose(interleaved, halves)
    np.testing.assert_array_equal(sinusoidal.table(6, 8), interleaved)


def test_default_base_is_ten_thousand_not_one_thousand():
    """maxjcohen/transformer#62."""
    np.testing.assert_array_equal(sinusoidal.inv_freq(8), sinusoidal.inv_freq(8, 10_000.0))
    assert sinusoidal.inv_freq(4)[1] == pytest.approx(0.01, rel=1e-12)


# Errors.

NOT_A_COUNT = [0, -1, 2.5, math.nan, math.inf, 10**18, 10**400, "8", None, True]
NOT_A_BASE = [1.0, 0, -10_000.0, math.nan, math.inf, 10**400, "10000", None, True]
short = {"ids": lambda came: str(came)[:6]}


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_counts_that_are_none_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        sinusoidal.table(came, 8)
    with pytest.raises(InvalidParameterError, match=r"^d_model must be .* got "):
        sinusoidal.table(8, came)
    with pytest.raises(InvalidParameterError, match=r"^d_model must be .* got "):
        sinusoidal.inv_freq(came)
    with pytest.raises(InvalidParameterError, match=r"^d_model must be .* got "):
        sinusoidal.dot_product(1, came)


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_counts_of_the_shift_and_of_variants_are_checked(came):
    for ask in (
        lambda: sinusoidal.encoding([0], came),
        lambda: sinusoidal.shift_matrix(1, came),
        lambda: sinusoidal.shift_residual(1, 4, came),
        lambda: sinusoidal.variant_table("fairseq", 4, came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^d_model must be .* got "):
            ask()
    for ask in (
        lambda: sinusoidal.shift_residual(1, came, 8),
        lambda: sinusoidal.variant_table("paper", came, 8),
    ):
        with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
            ask()


@pytest.mark.parametrize(
    "came", [2.5, math.nan, math.inf, 10**18, -(2**31), "1", None, True], **short
)
def test_a_shift_that_is_no_whole_number_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^k must be a whole number from -2,147"):
        sinusoidal.shift_matrix(came, 8)
    with pytest.raises(InvalidParameterError, match=r"^k must be a whole number from -2,147"):
        sinusoidal.shift_residual(came, 4, 8)


def test_a_table_that_fits_no_memory_is_refused():
    for ask in (
        lambda: sinusoidal.table(2**30, 4),
        lambda: sinusoidal.variant_table("paper", 2**30, 4),
        lambda: sinusoidal.encoding([0, 1], 2**31 - 1),
        lambda: sinusoidal.shift_matrix(1, 2**20),
        lambda: sinusoidal.inv_freq(2**31 - 1),
    ):
        with pytest.raises(
            InvalidParameterError, match=r"must ask for at most 268,435,456 numbers, got"
        ):
            ask()


@pytest.mark.parametrize("came", [math.nan, math.inf, "1", None, True, 10**400, [1, [2]]], **short)
def test_a_position_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^positions must be finite numbers, got "):
        sinusoidal.encoding(came, 8)


@pytest.mark.parametrize("came", ["Paper", "bert", "", None, True, 0], **short)
def test_an_unknown_variant_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^variant must be one of paper, tensor2"):
        sinusoidal.variant_table(came, 4, 8)


@pytest.mark.parametrize("came", NOT_A_COUNT, **short)
def test_counts_of_bits_and_of_trained_tokens_are_checked(came):
    for ask in (
        lambda: sinusoidal.bits(1, came),
        lambda: sinusoidal.bit_waves(1, came),
        lambda: sinusoidal.bit_periods(came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^count must be .* got "):
            ask()
    for ask in (
        lambda: sinusoidal.never_completed(came, 8),
        lambda: sinusoidal.likeness_to_trained(3, came, 8),
    ):
        with pytest.raises(InvalidParameterError, match=r"^(trained|positions and trained) must"):
            ask()


@pytest.mark.parametrize("came", [-1, 0.5, "1", None])
def test_bits_of_what_is_no_whole_number_from_0_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^numbers must be whole numbers .* got "):
        sinusoidal.bits(came, 4)


def test_a_ratio_that_slows_nothing_is_refused():
    with pytest.raises(InvalidParameterError, match=r"^ratio must be .* got 1$"):
        sinusoidal.base_of_ratio(1.0, 8)


@pytest.mark.parametrize("came", NOT_A_BASE, **short)
def test_a_base_that_slows_nothing_is_refused(came):
    for ask in (
        lambda: sinusoidal.inv_freq(8, came),
        lambda: sinusoidal.table(4, 8, came),
        lambda: sinusoidal.encoding([0], 8, came),
        lambda: sinusoidal.variant_table("paper", 4, 8, came),
        lambda: sinusoidal.shift_matrix(1, 8, came),
        lambda: sinusoidal.shift_residual(1, 4, 8, came),
        lambda: sinusoidal.dot_product(1, 8, came),
    ):
        with pytest.raises(InvalidParameterError, match=r"^base must be .* got "):
            ask()


@pytest.mark.parametrize("came", ["Halves", "half", "", None, True, 0], **short)
def test_unknown_layout_and_spacing_are_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of interleaved, halves"):
        sinusoidal.table(4, 8, layout=came)
    with pytest.raises(InvalidParameterError, match=r"^layout must be one of interleaved, halves"):
        sinusoidal.shift_matrix(1, 8, layout=came)
    with pytest.raises(InvalidParameterError, match=r"^spacing must be one of paper, "):
        sinusoidal.shift_matrix(1, 8, spacing=came)
    with pytest.raises(InvalidParameterError, match=r"^spacing must be one of paper, "):
        sinusoidal.inv_freq(8, spacing=came)


def test_dot_product_of_an_odd_width_is_refused():
    with pytest.raises(InvalidParameterError, match=r"^d_model must be even, .* got 7$"):
        sinusoidal.dot_product(1, 7)


@pytest.mark.parametrize("came", [math.nan, math.inf, "1", None, True, 10**400], **short)
def test_a_distance_that_is_none_is_refused(came):
    for distance in (came, [came, came]):
        with pytest.raises(InvalidParameterError, match=r"^distance must "):
            sinusoidal.dot_product(distance, 8)
