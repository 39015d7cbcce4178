"""The copy task."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz.models import copying
from posviz.params import InvalidParameterError


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_a_row_and_the_same_row_again(symbols, count, seed):
    rows = copying.batch(np.random.default_rng(seed), count, symbols)
    length = 2 * symbols + 2
    assert rows.shape == (count, length)
    assert rows.dtype == np.uint8
    assert copying.symbols_in(length) == symbols
    assert (rows[:, 0] == copying.START).all()
    assert (rows[:, symbols + 1] == copying.REPEAT).all()
    first, second = rows[:, 1 : symbols + 1], rows[:, symbols + 2 :]
    np.testing.assert_array_equal(first, second)
    assert first.max() < copying.SYMBOLS
    np.testing.assert_array_equal(rows[:, copying.is_copied(length)], second)
    again = copying.batch(np.random.default_rng(seed), count, symbols)
    np.testing.assert_array_equal(rows, again)


def test_every_symbol_comes_as_often_as_guessing_supposes():
    rows = copying.batch(np.random.default_rng(0), 40, 400)[:, 1:401]
    counts = np.bincount(rows.ravel(), minlength=copying.SYMBOLS)
    assert len(counts) == copying.SYMBOLS == copying.VOCABULARY - 2
    assert np.abs(counts / rows.size - copying.CHANCE).max() < 0.005


def test_the_shortest_row_has_one_symbol():
    assert copying.is_copied(4).tolist() == [False, False, False, True]
    assert copying.symbols_in(512) == 255
    with pytest.raises(InvalidParameterError, match="length must be a whole number of at least 4"):
        copying.symbols_in(3)
