"""The file of needle grids is read as it stands, or told to be missing or damaged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from posviz import haystacks
from posviz.params import InvalidParameterError


def small() -> dict[str, Any]:
    grid = {
        "accuracy": [[0.5, 1.0, 0.25], None], "error": [[0.1, 0.0, 0.2], None],
        "nats": [1.5, None],
    }  # fmt: skip
    return {
        "format": haystacks.FORMAT, "lengths": [128, 256], "depths": [0.0, 0.5, 0.95],
        "haystacks": 8, "floor": [1.25, 1.0],
        "models": {"names-learned-seed0": {"sha256": "ab", "grids": {"default": grid}},
                   "names-alibi-seed0": {"sha256": "cd", "grids": {"slopes 0.5": grid}}},
    }  # fmt: skip


def test_a_grid_is_what_stands_in_the_file(tmp_path) -> None:
    path = tmp_path / "needles.json"
    path.write_text(json.dumps(small()))
    grid = haystacks.grid("names-learned-seed0", path=path)
    assert grid is not None
    assert (grid.lengths, grid.depths, grid.haystacks) == ((128, 256), (0.0, 0.5, 0.95), 8)
    np.testing.assert_array_equal(grid.accuracy, [[0.5, 1.0, 0.25], [np.nan] * 3])
    np.testing.assert_array_equal(grid.error, [[0.1, 0.0, 0.2], [np.nan] * 3])
    np.testing.assert_array_equal(grid.nats, [1.5, np.nan])
    np.testing.assert_array_equal(grid.floor, [1.25, 1.0])
    assert haystacks.grid("names-learned-seed0", path=path) is grid  # read once
    assert not grid.accuracy.flags.writeable


def test_a_reading_that_was_not_measured_is_none(tmp_path) -> None:
    path = tmp_path / "needles.json"
    path.write_text(json.dumps(small()))
    assert haystacks.models(path) == ("names-alibi-seed0", "names-learned-seed0")
    assert haystacks.grid("names-alibi-seed0", "slopes", 0.5, path) is not None
    assert haystacks.grid("names-alibi-seed0", "slopes", 2.0, path) is None
    assert haystacks.grid("names-learned-seed0", "yarn", 8.0, path) is None
    # At factor 1 a method does nothing; the default has no factor.
    assert haystacks.grid("names-learned-seed0", "yarn", 1.0, path) is not None
    assert haystacks.grid("names-learned-seed0", "default", 4.0, path) is not None


def test_a_changed_file_is_read_again(tmp_path) -> None:
    path = tmp_path / "needles.json"
    path.write_text(json.dumps(small()))
    haystacks.grid("names-learned-seed0", path=path)
    changed = small()
    changed["floor"] = [2.0, 3.0]
    path.write_text(json.dumps(changed))
    grid = haystacks.grid("names-learned-seed0", path=path)
    assert grid is not None and grid.floor.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("model", "method", "factor", "said"),
    [
        ("nobody", "default", 1.0, "model must be one of names-alibi-seed0, names-learned-seed0"),
        (None, "default", 1.0, "model must be one of"),
        ("names-alibi-seed0", "magic", 1.0, "method must be one of"),
        ("names-alibi-seed0", "slopes", float("nan"), "factor must be"),
    ],
)
def test_what_is_not_known_is_told(tmp_path, model, method, factor, said: str) -> None:
    path = tmp_path / "needles.json"
    path.write_text(json.dumps(small()))
    with pytest.raises(InvalidParameterError, match=said):
        haystacks.grid(model, method, factor, path)


def test_a_missing_file_is_told(tmp_path) -> None:
    with pytest.raises(InvalidParameterError, match=r"none\.json must be there.*posviz\.models"):
        haystacks.grid("names-alibi-seed0", path=tmp_path / "none.json")


def broken() -> dict[str, Any]:
    cases: dict[str, Any] = {"empty": "", "cut": json.dumps(small())[:-60], "list": "[]"}
    for field in ("format", "lengths", "depths", "haystacks", "floor", "models"):
        cases[f"no {field}"] = json.dumps({k: v for k, v in small().items() if k != field})
    for field, value in [
        ("format", "other"), ("lengths", 5), ("lengths", [128]), ("depths", [0.5]),
        ("floor", [1.0]), ("floor", ["a", "b"]), ("models", [1]), ("haystacks", None),
        ("models", {"names-x": {"grids": {"default": {"accuracy": [[1.0]]}}}}),
        ("models", {"names-x": 3}),
    ]:  # fmt: skip
        cases[f"{field} {value}"] = json.dumps(small() | {field: value})
    return cases


@pytest.mark.parametrize("text", broken().values(), ids=broken().keys())
def test_a_damaged_file_is_told(tmp_path, text: str) -> None:
    path = tmp_path / "needles.json"
    path.write_text(text)
    with pytest.raises(InvalidParameterError, match=r"needles\.json must be what.*damaged"):
        haystacks.grid("names-alibi-seed0", path=path)
