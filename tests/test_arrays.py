"""Arrays that enter the core are checked, and the sentence names the first wrong number."""

import math

import numpy as np
import pytest

from posviz import arrays
from posviz.params import InvalidParameterError


@pytest.mark.parametrize(
    "value", [3, [1, 2], np.arange(4, dtype=np.uint8), np.int64(-5), [[2**31 - 1]]]
)
def test_whole_numbers_keep_shape_and_value(value):
    found = arrays.whole_numbers("n", value)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize(
    ("value", "got"),
    [
        ([0, 7, 9], "7"),
        ([0, -1], "-1"),
        ([1.0, 2.5], "2.5"),
        ([1.0, 2.0], "1.0"),
        ([1.0, math.nan], "nan"),
        (True, "True"),
        (None, "None"),
        ("3", "'3'"),
        (np.array([2**64 - 1], dtype=np.uint64), "1.84e+19"),
        ([[1], [2, 3]], "'[[1], [2, 3]]'"),
    ],
    ids=str,
)
def test_the_first_wrong_whole_number_is_named(value, got):
    with pytest.raises(InvalidParameterError) as error:
        arrays.whole_numbers("n", value, 0, 6)
    assert str(error.value) == f"n must be whole numbers from 0 to 6, got {got}"


def test_entries_have_the_last_axes_and_none_is_empty():
    assert arrays.entries("x", [[1, 2]], "rows", "columns").dtype == np.float64
    assert arrays.entries("x", np.ones((2, 3, 4)), "...", "rows", "columns").shape == (2, 3, 4)
    for value, axes in (([1.0], ("a", "b")), (np.ones((1, 1, 1)), ("a", "b")), (1.0, ("...", "a")),
                        (np.ones((0, 2)), ("a", "b"))):  # fmt: skip
        with pytest.raises(InvalidParameterError) as error:
            arrays.entries("x", value, *axes)
        assert str(error.value) == (
            f"x must have the axes ({', '.join(axes)}), got an array of shape {np.shape(value)}"
        )


def test_entries_whose_product_would_leave_float64_are_refused():
    largest = arrays.entries("x", [[1e100, -1e100]], "rows", "columns")
    assert np.all(np.isfinite(largest @ largest.T))
    for value in (1e101, -1e300):
        with pytest.raises(
            InvalidParameterError, match=r"^x must be finite numbers from -1e\+100 "
        ):
            arrays.entries("x", [1.0, value], "rows")


def test_an_array_that_fits_no_memory_is_counted_without_being_made():
    arrays.check_count("n", 2**28, 1)
    with pytest.raises(InvalidParameterError, match=r"at most 268,435,456 numbers, got 8,589,934"):
        arrays.check_count("n", 2**16, 2**17)


def test_one_number_or_a_list_is_a_list():
    np.testing.assert_array_equal(arrays.listed("n", 3), [3.0])
    np.testing.assert_array_equal(arrays.listed("n", (1, 2)), [1.0, 2.0])
    with pytest.raises(
        InvalidParameterError,
        match=r"^n must be one number or a list of them, got an array of shape \(1, 2\)$",
    ):
        arrays.listed("n", [[1, 2]])
