"""The lamps: identities that hold on random vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import invariants, rope
from posviz.params import InvalidParameterError


@given(position=st.integers(0, 524_288), pairs=st.integers(1, 128), seed=st.integers(0, 99))
def test_rotation_keeps_the_norm(position: int, pairs: int, seed: int) -> None:
    before, after = invariants.norms(rope.inv_freq(2 * pairs, 1e4), position, seed)
    assert after == pytest.approx(before, rel=1e-12)


@given(
    q=st.integers(0, 500_000), k=st.integers(0, 500_000), shift=st.integers(0, 100_000),
    pairs=st.integers(1, 128),
)  # fmt: skip
def test_a_common_shift_keeps_the_score(q: int, k: int, shift: int, pairs: int) -> None:
    score, shifted = invariants.shifted_scores(rope.inv_freq(2 * pairs, 1e4), q, k, shift)
    assert shifted == pytest.approx(score, abs=1e-8)


def test_the_score_does_change_when_only_the_query_moves() -> None:
    inv_freq = rope.inv_freq(128, 1e4)
    here, _ = invariants.shifted_scores(inv_freq, 100, 0, 0)
    there, _ = invariants.shifted_scores(inv_freq, 101, 0, 0)
    assert abs(here - there) > 1e-3


@pytest.mark.parametrize("came", [None, "3", math.nan, math.inf, True, [1.0]], ids=repr)
def test_a_position_or_shift_that_is_none_is_refused(came: Any) -> None:
    for name, ask in (
        ("position", lambda: invariants.norms([1.0], came)),
        ("q_position", lambda: invariants.shifted_scores([1.0], came, 0, 1)),
        ("k_position", lambda: invariants.shifted_scores([1.0], 0, came, 1)),
        ("shift", lambda: invariants.shifted_scores([1.0], 0, 0, came)),
    ):
        with pytest.raises(InvalidParameterError, match=f"^{name} must be a finite number, got "):
            ask()


@pytest.mark.parametrize("came", [None, -1, 0.5, "8", True], ids=repr)
def test_a_seed_that_is_none_is_refused(came: Any) -> None:
    for ask in (
        lambda: invariants.norms([1.0], 3, came),
        lambda: invariants.shifted_scores([1.0], 3, 0, 1, came),
    ):
        with pytest.raises(
            InvalidParameterError, match=r"^seed must be a whole number of at least"
        ):
            ask()


def test_a_position_keeps_its_value_and_not_its_type() -> None:
    small = invariants.shifted_scores([1.0], np.int8(100), np.int8(90), np.int8(100))
    assert small == invariants.shifted_scores([1.0], 100, 90, 100)


layouts = st.sampled_from(rope.LAYOUTS)


@given(a=st.integers(0, 5000), b=st.integers(0, 5000), pairs=st.integers(1, 32), layout=layouts)
def test_the_matrices_are_a_group_and_their_transposes_turn_back(
    a: int, b: int, pairs: int, layout: rope.Layout
) -> None:
    inv_freq = rope.inv_freq(2 * pairs, 1e4)
    assert invariants.sum_residual(inv_freq, a, b, layout) < 1e-11
    assert invariants.inverse_residual(inv_freq, a, layout) < 1e-14
    assert invariants.relative_residual(inv_freq, a, b, layout) < 1e-11
    x = np.random.default_rng(a).standard_normal(2 * pairs)
    assert invariants.elementwise_residual(x, b, inv_freq, layout) < 1e-14
    assert invariants.pairing_residual(x, a, inv_freq) == 0.0


def test_the_residuals_see_a_matrix_that_is_no_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    right = rope.rotation_matrix

    def wrong(position: float, *more: Any) -> np.ndarray:
        return right(position, *more) * (1.0 + 1e-3 * position)

    monkeypatch.setattr(rope, "rotation_matrix", wrong)
    inv_freq = rope.inv_freq(8, 1e4)
    assert invariants.sum_residual(inv_freq, 3, 4) > 1e-6
    assert invariants.inverse_residual(inv_freq, 3) > 1e-3
    assert invariants.relative_residual(inv_freq, 3, 4) > 1e-3
    assert invariants.elementwise_residual(np.ones(8), 3, inv_freq) > 1e-3
