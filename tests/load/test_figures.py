from __future__ import annotations

import pytest

from tests.load.figures import percentiles, slope
from tests.load.hand import Handle

POSITION = Handle("position", 0, 32768, 1, "log")
BASE = Handle("rope_theta", 100, 1e7, 0.01, "log")


def test_a_percentile_is_a_value_that_was_measured() -> None:
    told = percentiles([n / 1000 for n in range(100, 0, -1)])
    assert told == pytest.approx({"p50": 50, "p90": 90, "p99": 99, "max": 100, "count": 100})
    assert percentiles([]) == {"p50": 0, "p90": 0, "p99": 0, "max": 0, "count": 0}


def test_memory_that_grows_evenly_has_that_slope_and_steps_up_and_down_have_none() -> None:
    assert slope([0, 1, 2, 3], [100, 103, 106, 109]) == pytest.approx(3)
    assert slope([0, 1, 2, 3], [100, 101, 101, 100]) == pytest.approx(0)


@pytest.mark.parametrize("handle", [POSITION, BASE, Handle("head", 1, 32, 1, "linear")])
def test_a_hand_meets_both_ends_of_a_handle_and_only_values_it_has(handle: Handle) -> None:
    met = [handle.sweep(event / 60, 0.0, 200) for event in range(8 * 60 + 1)]
    assert min(met) == handle.low == met[0] == met[-1]
    assert max(met) == handle.high
    assert len(set(met)) <= 201
    assert all((value - handle.low) % 1 == 0 for value in met if handle.step == 1)


def test_half_way_on_a_logarithmic_track_is_the_geometric_middle() -> None:
    assert BASE.value(0.5) == pytest.approx((100 * 1e7) ** 0.5, rel=0.01)
