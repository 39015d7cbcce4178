"""Heat maps: bytes that mean the numbers, axes that stand where the cells are."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz.figures import heat


def cells(told: dict[str, object]) -> np.ndarray:
    data = np.frombuffer(base64.b64decode(str(told["cells"])), np.uint8)
    return data.reshape(told["rows"], told["columns"])


@given(st.floats(-2.0, 2.0), st.floats(-3.0, 0.0), st.floats(0.5, 3.0))
def test_a_byte_is_within_half_a_step_of_its_number(value: float, low: float, high: float) -> None:
    (byte,) = cells(heat.raster(np.array([[value]]), low, high)).ravel()
    meant = low + (int(byte) - 1) / 254 * (high - low)
    assert abs(meant - np.clip(value, low, high)) <= 0.5001 * (high - low) / 254 + 1e-6


def test_ends_have_the_first_and_the_last_colour_and_hidden_cells_none() -> None:
    values = np.array([[-9.0, -1.0, 0.0, 1.0, 9.0, 0.5]])
    visible = np.array([[True, True, True, True, True, False]])
    assert cells(heat.raster(values, -1, 1, visible)).tolist() == [[1, 1, 128, 255, 255, 0]]


def test_small_maps_carry_their_numbers_and_large_ones_do_not() -> None:
    assert "values" in heat.raster(np.zeros((64, 64)), -1, 1)
    assert "values" not in heat.raster(np.zeros((65, 64)), -1, 1)


def shown(axis: heat.Axis, count: int) -> list[str]:
    markup, _ = heat.heat_map(
        "m", np.zeros((count, 2)), low=-1, high=1, rows=axis, columns=heat.Axis(labels="ab"),
        alt="", said="",
    )  # fmt: skip
    rows = re.search(r'pv-heat-rows">(.*?)</div>', markup)
    assert rows
    return re.findall(r">([^<]+)<", rows[1])


@pytest.mark.parametrize(
    ("axis", "count", "labels"),
    [
        (heat.Axis(), 5, ["0", "1", "2", "3", "4"]),
        (heat.Axis(), 12, ["0", "2", "4", "6", "8", "10"]),
        (heat.Axis(), 512, ["0", "128", "256", "384"]),
        (heat.Axis(), 100, ["0", "20", "40", "60", "80"]),
        (heat.Axis(first=-3), 7, ["−2", "0", "2"]),
        (heat.Axis(first=15_906), 80, ["15,920", "15,940", "15,960", "15,980"]),
        (heat.Axis(first=11, step=-1), 12, ["10", "8", "6", "4", "2", "0"]),
        (heat.Axis(labels=["the", "<b>"]), 2, ["the", "&lt;b&gt;"]),
    ],
)
def test_ticks_stand_at_round_numbers(axis: heat.Axis, count: int, labels: list[str]) -> None:
    if axis.first < 0:
        axis = heat.Axis(first=axis.first, ticks=4)
    assert shown(axis, count) == labels


def test_what_a_visitor_typed_is_escaped_everywhere() -> None:
    markup, _ = heat.heat_map(
        "m", np.zeros((1, 1)), low=-1, high=1, rows=heat.Axis(labels=["'\"<x>"]),
        columns=heat.Axis(labels=["'\"<x>"]), alt="'\"<x>", said="'\"<x>",
    )  # fmt: skip
    assert "<x>" not in markup
    assert re.findall(r"data-rows='([^']*)'", markup)
