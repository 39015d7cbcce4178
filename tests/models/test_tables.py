"""The table that was trained, and the one that it began as."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from posviz import learned
from posviz.models import checkpoint, positions, tables
from posviz.models.recipes import MODELS
from posviz.params import InvalidParameterError

NAMES = [name for name in MODELS if name.startswith("names-learned")]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_begins_as_a_new_model_does_and_ends_as_it_is_stored(name: str) -> None:
    one = tables.table(name)
    shape = MODELS[name][0].shape
    new = positions.Positions(
        positions.Setting("learned"), shape.d_model, shape.num_heads, shape.max_len
    )
    assert new.table is not None
    np.testing.assert_allclose(one.start, new.table.detach().numpy(), atol=1e-8)
    stored = checkpoint.load(name).weights["positions.table"]
    np.testing.assert_array_equal(one.trained, stored)
    assert one.rows == shape.max_len == 256


def test_what_training_changed_is_what_is_between() -> None:
    one = tables.table(NAMES[0])
    np.testing.assert_allclose(one.start + one.change, one.trained, atol=1e-15)
    expected = np.sqrt(((one.trained - one.start) ** 2).sum(axis=1))
    np.testing.assert_allclose(one.moved, expected, rtol=1e-12)
    # d / 2 pairs of sine and cosine, a tenth of their size.
    np.testing.assert_allclose(one.start_sizes, 0.1 * np.sqrt(48), rtol=1e-12)
    np.testing.assert_allclose(one.moved_share, expected / (0.1 * np.sqrt(48)), rtol=1e-12)
    assert (one.moved_share < one.median_share).sum() == one.rows / 2
    cosine = one.product(3, 200) / (one.sizes[3] * one.sizes[200])
    assert one.similarity[3, 200] == pytest.approx(cosine, rel=1e-12)
    np.testing.assert_array_equal(one.start_similarity, learned.similarity(one.start))
    assert np.abs(one.similarity_change).max() == pytest.approx(0.0516, abs=1e-4)


@pytest.mark.parametrize("name", ["names-rope-500-seed0", "names-t5-seed0", "none", "../x"])
def test_a_model_without_a_table_of_positions_is_told(name: str) -> None:
    with pytest.raises(InvalidParameterError, match=r"^(encoding|checkpoint) must be one of "):
        tables.table(name)


def test_a_table_is_read_without_torch() -> None:
    program = (
        "import sys\nfrom posviz.models import tables\n"
        f"tables.table({NAMES[0]!r}).similarity\nprint('torch' in sys.modules)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() == "False"
