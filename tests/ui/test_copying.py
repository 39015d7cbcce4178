"""The copying page's view over all its parameters, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import measured, params, rope
from posviz.figures import copying as pictures
from posviz.figures.style import percent, percents
from posviz.ui import live
from posviz.views.copying import Scene
from tests.ui.views import any_values, content, numbers, view_of


@pytest.fixture(scope="module")
def copying() -> live.View:
    """The view, registered by running the page once."""
    return view_of("copying")


def chosen(view: live.View, **query: str) -> live.Values:
    values, problems = view.read(query)
    assert not problems
    return values


@given(data=st.data())
def test_every_setting_scales_rope_and_is_drawn_over_all_lengths(
    copying: live.View, data: st.DataObject
) -> None:
    values = any_values(data.draw, copying)
    assert Scene(**values).scaling.frequencies(rope.RoPE(16), 2048)[0].shape == (8,)
    for trace in content(copying.draw(**values))["curves"]["figure"]["data"]:
        assert len(numbers(trace["x"])) == len(measured.COPY_LENGTHS)


def test_a_committed_curve_shows_at_once_and_is_the_measured_one(copying: live.View) -> None:
    slots = content(copying.draw(**chosen(copying, model="rope", rope_type="yarn")))
    thick = slots["curves"]["figure"]["data"][-1]
    found = measured.copying("copying-rope-seed0", "yarn", 4.0)
    assert found is not None
    np.testing.assert_allclose(numbers(thick["y"]), 100 * found.accuracy, rtol=1e-6)
    assert thick["line"]["width"] > 3
    assert "measuring" not in slots["curves:head"]["markup"]


@pytest.mark.parametrize(
    "query",
    [{"model": "rope", "rope_type": "ntk", "factor": "3"},
     {"model": "rope", "rope_type": "yarn", "beta_fast": "5"},
     {"model": "rope_alibi", "rope_type": "yarn", "slope_multiplier": "2"},
     {"model": "alibi", "slope_multiplier": "1.5"}],
)  # fmt: skip
def test_any_other_setting_says_that_it_is_being_measured(
    copying: live.View, query: dict[str, str]
) -> None:
    slots = content(copying.draw(**chosen(copying, **query)))
    assert "measuring…" in slots["curves:head"]["markup"]
    assert "measuring…" in slots["map"]["markup"]
    assert all(trace["line"]["width"] < 3 for trace in slots["curves"]["figure"]["data"])


def test_what_the_encoding_lacks_does_nothing(copying: live.View) -> None:
    plain = copying.draw(**chosen(copying, model="alibi"))
    assert plain == copying.draw(**chosen(copying, model="alibi", rope_type="yarn", factor="3"))
    plain = copying.draw(**chosen(copying, model="rope"))
    assert plain == copying.draw(**chosen(copying, model="rope", slope_multiplier="3"))


def test_a_measurement_gives_the_map_and_where_each_head_looks(copying: live.View) -> None:
    assert copying.measure
    steps = [content(step) for step in copying.measure(**chosen(copying, length="128"))]
    assert [set(step) for step in steps] == [{"heads:head", "heads", "map", "map:caption"}] * 2
    assert "measuring…" in steps[0]["map"]["markup"]
    assert "pv-cells" in steps[1]["map"]["markup"]
    shares = re.findall(r"<b>([\d.]+)\s%</b>", steps[0]["heads"]["markup"])
    assert len(shares) == 16
    assert all(0 <= float(share) <= 100 for share in shares)


def test_an_unknown_curve_is_measured_twice_the_second_time_with_more_rows(
    copying: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    from posviz.models import copy_measures

    asked: list[tuple[float, float, int, int]] = []

    def accuracy(name: str, setting: Any, length: int, rows: int) -> tuple[float, float]:
        asked.append((setting.scaling.factor, setting.slope_multiplier, length, rows))
        return 0.5, 0.05

    monkeypatch.setattr(copy_measures, "_accuracy", accuracy)
    values = chosen(copying, model="rope_alibi", rope_type="ntk", factor="3", length="128",
                    slope_multiplier="1.5")  # fmt: skip
    assert copying.measure
    steps = [content(step) for step in copying.measure(**values)]
    lengths = list(measured.COPY_LENGTHS)
    assert asked == [(3.0, 1.5, length, rows) for rows in (2, 6) for length in lengths]
    first, heads, last = steps[: len(lengths)], steps[len(lengths) : -len(lengths)], steps[-1]
    assert [len(numbers(step["curves"]["figure"]["data"][-1]["x"])) for step in first] == [
        n + 1 for n in range(len(lengths))
    ]
    assert "2 rows at each length, measuring more" in first[-1]["curves:head"]["markup"]
    assert all("map" in step for step in heads)
    assert "6 rows" in last["curves:head"]["markup"]
    assert "measuring" not in last["curves:head"]["markup"]
    assert "50\N{NO-BREAK SPACE}% ± 5\N{NO-BREAK SPACE}%" in last["caption"]["markup"]


def test_the_story_claims_no_order_that_a_seed_contradicts(
    copying: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = chosen(copying)
    lengths = len(measured.COPY_LENGTHS)
    same = measured.Band(measured.COPY_LENGTHS, np.zeros(lengths), np.full(lengths, 0.5),
                         np.ones(lengths), 2)  # fmt: skip
    monkeypatch.setattr(measured, "band", lambda *_args, **_more: same)
    monkeypatch.setattr(measured, "compare", lambda *_args, **_more: "seeds disagree")
    assert content(copying.draw(**values))["story"]["markup"] == '<p class="pv-caption"></p>'


def test_cells_of_a_shade_are_drawn_where_the_weights_are() -> None:
    weights = np.zeros((64, 64))
    weights[3, 1:4] = 1.0
    weights[63, 0] = 0.25
    drawn = pictures.attention_map(weights, 31, colour="rope", alt="<&>", _=lambda text: text)
    assert '<path stroke-opacity="1.00" d="M6 21h18"/>' in drawn
    assert '<path stroke-opacity="0.50" d="M0 381h6"/>' in drawn
    assert 'aria-label="&lt;&amp;&gt;"' in drawn


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0, "0 %"),
        (0.0156, "1.6 %"),
        (0.02, "2 %"),
        (0.0996, "10 %"),
        (0.97, "97 %"),
        (1, "100 %"),
    ],
)
def test_shares_are_told_in_percent(share: float, told: str) -> None:
    assert percent(share).replace("\N{NO-BREAK SPACE}", " ") == told
    assert percents(share, share) == percent(share)
    assert percents(0.5, 0.75) == "50–75\N{NO-BREAK SPACE}%"


def test_beta_fast_stands_where_the_curves_were_measured(copying: live.View) -> None:
    declared = copying.declared(chosen(copying))["beta_fast"]
    assert isinstance(declared, params.Number)
    assert declared.default == measured.BETA_FAST
