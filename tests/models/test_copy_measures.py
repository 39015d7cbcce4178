"""What the copying page measures while it waits."""

from __future__ import annotations

import numpy as np
import pytest

from posviz import measured
from posviz.models import copy_measures, evaluate
from posviz.models.copying import symbols_in

NAME = "copying-rope-seed0"


@pytest.mark.parametrize("method", ["default", "yarn"])
def test_a_head_s_share_is_the_mean_of_its_map_along_the_copying_line(method: str) -> None:
    setting, length = evaluate.read_with(NAME, method, 4.0), 66
    symbols = symbols_in(length)
    shares = copy_measures.shares(NAME, setting, length)
    for layer, head in ((0, 0), (2, 1), (3, 3)):
        weights = copy_measures.attention(NAME, setting, length, layer, head, length)
        assert weights.shape == (length - 1, length - 1)
        np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)
        line = np.diagonal(weights, -symbols)[1:]
        assert shares[layer, head] == pytest.approx(float(line.mean()), rel=1e-5)


def test_accuracy_grows_by_length_then_by_rows_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "COPY_LENGTHS", (64, 128))
    setting = evaluate.read_with(NAME)
    found = list(copy_measures.growing(NAME, setting, (2, 3)))
    assert [(one.lengths, one.rows) for one in found] == [
        ((64,), 2), ((64, 128), 2), ((64, 128), 2), ((64, 128), 3),
    ]  # fmt: skip
    whole = evaluate.copy_accuracy(NAME, setting, (64, 128), rows=3)
    np.testing.assert_array_equal(found[-1].accuracy, whole.accuracy)
    np.testing.assert_array_equal(found[-1].error, whole.error)
    kept = copy_measures._accuracy.cache_info().misses
    list(copy_measures.growing(NAME, setting, (2, 3)))
    assert copy_measures._accuracy.cache_info().misses == kept
