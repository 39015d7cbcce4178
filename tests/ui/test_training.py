"""The training replay's view over all its parameters, without a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params
from posviz.models import checkpoint
from posviz.models.replay import replay
from posviz.ui import live
from tests.ui.views import any_values, content, view_of


@pytest.fixture(scope="module")
def training() -> live.View:
    """The view, registered by running the page once."""
    return view_of("training")


@given(data=st.data())
def test_a_second_model_has_pictures_of_its_own(training: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, training)
    slots = training.draw(**values)
    assert any(key.endswith(":beside") for key in slots) == (values["beside"] != "nothing")


@pytest.mark.parametrize("name", checkpoint.names())
def test_each_model_begins_where_its_circuit_appears_and_ends_with_its_training(
    training: live.View, name: str
) -> None:
    values, problems = training.read({"model": name})
    assert not problems
    one = replay(name)
    step = training.declared(values)["step"]
    assert isinstance(step, params.Number)
    assert step.high == one.steps[-1] == sum(phase["steps"] for phase in one.phases)
    point = one.at(int(values["step"]))
    caption = content(training.draw(**values))["caption"]["markup"]
    if one.appearance is None:
        assert point == len(one.steps) - 1
        assert "no head ever" in caption
        assert one.shares.max() <= 0.5
    else:
        assert point == one.appearance
        assert f"step {one.steps[point]:,} of" in caption
        assert one.shares[point].max() > 0.5 >= one.shares[:point].max(initial=0.0)


def test_a_step_between_two_points_shows_the_earlier_one(training: live.View) -> None:
    values, _ = training.read({})
    between = training.draw(**(values | {"step": 130}))
    assert between == training.draw(**(values | {"step": 125}))
    assert between != training.draw(**(values | {"step": 150}))


def test_a_model_with_a_shorter_training_stays_at_its_end(training: live.View) -> None:
    by_length = sorted(checkpoint.names(), key=lambda name: int(replay(name).steps[-1]))
    values, _ = training.read({"model": by_length[-1], "beside": by_length[0]})
    step = training.declared(values)["step"]
    assert isinstance(step, params.Number)
    slots = content(training.draw(**(values | {"step": int(step.high)})))
    last = int(replay(by_length[0]).steps[-1])
    assert f"step {last:,}" in slots["strips:beside:head"]["markup"]


def test_the_strips_show_the_weights_of_the_step(training: live.View) -> None:
    values, _ = training.read({})
    one = replay(values["model"])
    markup = content(training.draw(**values))["strips"]["markup"]
    told = [int(share) for share in re.findall(r"<b>(\d+) %</b>", markup)]
    point = one.at(int(values["step"]))
    assert told == np.round(100 * one.shares[point].ravel()).tolist()
    assert markup.count("<svg") == one.shares[0].size
