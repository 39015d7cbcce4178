"""Learned tables: the ceiling, and straight lines between rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import learned
from posviz.params import InvalidParameterError

short = {"ids": lambda came: str(came)[:6]}


@st.composite
def tables(draw):
    rows, d_model = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    entry = st.floats(-1e6, 1e6)
    return np.array([[draw(entry) for _ in range(d_model)] for _ in range(rows)])


# The ceiling.


@given(tables(), st.data())
def test_a_position_is_its_row(table, data):
    positions = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1))
    found = learned.lookup(table, positions)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [table[position] for position in positions])


def test_positions_keep_their_shape():
    table = np.arange(10.0).reshape(5, 2)
    assert learned.lookup(table, 3).tolist() == [6.0, 7.0]
    assert learned.lookup(table, [[0, 1], [4, 4]]).shape == (2, 2, 2)
    assert learned.lookup(table, np.array([], dtype=int)).shape == (0, 2)


def test_past_the_table_there_is_no_row():
    table = np.zeros((512, 2))
    assert learned.lookup(table, 511).shape == (2,)
    for positions in (512, [0, 511, 512]):
        with pytest.raises(InvalidParameterError) as error:
            learned.lookup(table, positions)
        assert str(error.value) == (
            "position must be a whole number from 0 to 511, got 512: "
            "a learned table has no row for it"
        )


def test_a_negative_position_does_not_read_from_the_end():
    with pytest.raises(InvalidParameterError, match=r"from 0 to 3, got -1: a learned table"):
        learned.lookup(np.zeros((4, 2)), [-1])


def test_opts_offset_of_two_moves_the_rows_and_the_ceiling():
    table = np.arange(6.0)[:, None]  # 4 positions, 2 rows before them
    assert learned.lookup(table, [0, 3], offset=2).ravel().tolist() == [2.0, 5.0]
    with pytest.raises(InvalidParameterError, match=r"from 0 to 3, got 4: a learned table"):
        learned.lookup(table, 4, offset=2)


# Interpolation.


@given(tables(), st.integers(1, 60))
def test_interpolation_lies_within_the_table_and_keeps_both_ends(table, seq_len):
    found = learned.interpolate(table, seq_len)
    assert found.shape == (seq_len, table.shape[1])
    assert np.all(found >= table.min(axis=0))
    assert np.all(found <= table.max(axis=0))
    np.testing.assert_array_equal(found[0], table[0])
    if seq_len > 1:
        np.testing.assert_array_equal(found[-1], table[-1])


@given(tables())
def test_the_tables_own_length_is_the_identity_bit_for_bit(table):
    np.testing.assert_array_equal(learned.interpolate(table, len(table)), table)


@given(st.integers(2, 40), st.integers(2, 80), st.floats(-5, 5), st.floats(-5, 5))
def test_a_straight_line_stays_straight(rows, seq_len, start, slope):
    table = (start + slope * np.linspace(0, 1, rows))[:, None]
    expected = (start + slope * np.linspace(0, 1, seq_len))[:, None]
    np.testing.assert_allclose(learned.interpolate(table, seq_len), expected, atol=1e-12)


@given(tables(), st.integers(2, 60))
def test_interpolation_is_numpys(table, seq_len):
    at = np.linspace(0, len(table) - 1, seq_len)
    for column, found in zip(table.T, learned.interpolate(table, seq_len).T, strict=True):
        expected = np.interp(at, np.arange(len(table)), column)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)


@given(tables(), st.integers(2, 6))
def test_the_trained_rows_are_met_again_when_the_gaps_are_divided(table, parts):
    if len(table) > 1:
        drawn_out = learned.interpolate(table, parts * (len(table) - 1) + 1)
        np.testing.assert_array_equal(drawn_out[::parts], table)


def test_interpolation_by_hand():
    """torch.nn.functional.interpolate(..., mode="linear", align_corners=True)."""
    table = [[0.0, 10.0], [4.0, -2.0]]
    expected = [[0, 10], [1, 7], [2, 4], [3, 1], [4, -2]]
    np.testing.assert_array_equal(learned.interpolate(table, 5), expected)
    np.testing.assert_array_equal(learned.interpolate([[1], [2], [4]], 2), [[1], [4]])
    np.testing.assert_array_equal(learned.interpolate([[1], [2], [4]], 1), [[1]])
    np.testing.assert_array_equal(learned.interpolate([[7]], 3), [[7], [7], [7]])


# Errors.


@pytest.mark.parametrize(
    "came", [math.nan, math.inf, "1", None, True, 10**400, -1, 2.5, 1.0, 10**18, [[1], 2]], **short
)
def test_a_position_that_is_none_is_refused(came):
    for positions in (came, [came]):
        with pytest.raises(
            InvalidParameterError, match=r"^position must be a whole number from 0 to 3, got "
        ):
            learned.lookup(np.zeros((4, 2)), positions)


@pytest.mark.parametrize(
    "came",
    [1.0, [1.0, 2.0], [], [[]], [[math.nan]], [[math.inf]], "table", None, [[True]], [[1], [2, 3]],
     [[1e300]], [[[1.0]]]],
    **short,
)  # fmt: skip
def test_a_table_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^table must .* got "):
        learned.lookup(came, 0)
    with pytest.raises(InvalidParameterError, match=r"^table must .* got "):
        learned.interpolate(came, 4)


@pytest.mark.parametrize("came", [0, -1, 2.5, math.nan, math.inf, 10**18, "8", None, True], **short)
def test_a_length_that_is_none_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be .* got "):
        learned.interpolate(np.zeros((4, 2)), came)


@pytest.mark.parametrize("came", [-1, 4, 0.5, math.nan, "2", None, True], **short)
def test_an_offset_that_leaves_no_row_is_refused(came):
    with pytest.raises(InvalidParameterError, match=r"^offset must be a whole number from 0 to 3"):
        learned.lookup(np.zeros((4, 2)), 0, offset=came)


def test_a_length_that_fits_no_memory_is_refused():
    with pytest.raises(InvalidParameterError, match=r"^seq_len and d_model must ask"):
        learned.interpolate(np.zeros((4, 4)), 2**30)


# Rows beside each other.


@given(tables(), st.integers(0, 3), st.integers(0, 14))
def test_the_row_of_a_position_is_the_one_that_is_looked_up(table, offset, position):
    numbered = np.arange(len(table))[:, None]
    offset = min(offset, len(table) - 1)

    def outcome(read):
        try:
            return read()
        except InvalidParameterError as error:
            return str(error)

    assert outcome(lambda: learned.row_of(position, len(table), offset)) == outcome(
        lambda: int(learned.lookup(numbered, position, offset)[0])
    )


@given(st.integers(1, 40), st.integers(1, 120))
def test_where_a_longer_table_reads_is_what_it_holds_of_the_row_numbers(rows, seq_len):
    found = learned.read_at(seq_len, rows)
    numbered = np.arange(float(rows))[:, None]
    np.testing.assert_allclose(found, learned.interpolate(numbered, seq_len)[:, 0], rtol=1e-12)
    assert found[0] == 0.0
    if seq_len > 1:
        assert found[-1] == rows - 1


@given(tables(), st.data())
def test_similarity_is_the_cosine_of_each_two_rows(table, data):
    found = learned.similarity(table)
    for i, a in enumerate(table):
        for j, b in enumerate(table):
            both = math.hypot(*a) * math.hypot(*b)
            if both < 1e-200:  # zeros, or too small for this plain way
                continue
            expected = sum(x * y for x, y in zip(a, b, strict=True)) / both
            assert found[i, j] == pytest.approx(expected, abs=1e-12)
    row = data.draw(st.integers(0, len(table) - 1))
    np.testing.assert_allclose(learned.similarity(table, row), found[row], atol=1e-15)
    if len(table) > 1:
        np.testing.assert_allclose(
            learned.neighbour_similarity(table), np.diagonal(found, 1), atol=1e-15
        )


def test_similarity_by_hand():
    table = [[3.0, 4.0], [-6.0, -8.0], [4.0, -3.0], [0.0, 0.0], [3e-200, 4e-200]]
    expected = [
        [1, -1, 0, 0, 1], [-1, 1, 0, 0, -1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, -1, 0, 0, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(learned.similarity(table), expected, atol=1e-15)
    fan = [[1.0, 0.0], [1.0, 1.0], [1.0, 3.0], [0.0, 0.0]]  # at 0, 45 and 72 degrees
    assert [learned.nearest(fan, row) for row in range(4)] == [1, 2, 1, 0]


def test_sizes_and_gaps_by_hand():
    table = [[3.0, 4.0], [0.0, 0.0], [5.0, 12.0]]
    assert learned.row_sizes(table).tolist() == [5.0, 0.0, 13.0]
    assert learned.gaps(table).tolist() == [5.0, 13.0]


def test_dividing_the_gaps_divides_the_distance_between_neighbours():
    table = np.array([[0.0, 1.0], [4.0, -2.0], [4.0, 2.0]])
    found = learned.gaps(learned.interpolate(table, 9))
    np.testing.assert_allclose(found, np.repeat(learned.gaps(table), 4) / 4, rtol=1e-12)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda: learned.row_of(0, 0), "rows must be a whole number of at least 1, got 0"),
        (lambda: learned.row_of(0, 4, 4), "offset must be a whole number from 0 to 3, got 4"),
        (lambda: learned.read_at(0, 4), "seq_len must be a whole number of at least 1, got 0"),
        (lambda: learned.similarity([[1.0]], 1), "row must be a whole number from 0 to 0, got 1"),
        (lambda: learned.nearest([[1.0]], 0), "rows must be a whole number of at least 2, got 1"),
        (lambda: learned.gaps([[1.0]]), "rows must be a whole number of at least 2, got 1"),
        (lambda: learned.neighbour_similarity([[1.0]]), "rows must be a whole number of at least"),
        (lambda: learned.row_sizes([1.0]), "table must have the axes (rows, d_model)"),
        (lambda: learned.read_at(2**30, 4), "seq_len must ask for at most"),
    ],
)
def test_what_has_no_answer_is_told(read, said):
    with pytest.raises(InvalidParameterError) as error:
        read()
    assert str(error.value).startswith(said)


def test_a_released_table_ends_after_its_positions():
    assert {name: one.positions for name, one in learned.RELEASED.items()} == {
        "bert": 512, "gpt2": 1024, "roberta": 512, "opt": 2048,
    }  # fmt: skip
    for one in learned.RELEASED.values():
        assert learned.row_of(0, one.rows, one.offset) == one.offset
        assert learned.row_of(one.positions - 1, one.rows, one.offset) == one.rows - 1
        with pytest.raises(InvalidParameterError, match=r"a learned table has no row for it$"):
            learned.row_of(one.positions, one.rows, one.offset)
