"""How a model is read: the facts are the recipes', the ways the committed curves'."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posviz import extrapolation, measured, params
from posviz.figures import style
from posviz.models import recipes
from posviz.models.reading import FAMILIES, HEAD_DIM, NUM_HEADS, TRAINED, Reading, over_floor
from posviz.ui import labels


def test_the_facts_are_those_of_the_recipes() -> None:
    names = {name.removeprefix("names-") for name in recipes.MODELS if name.startswith("names-")}
    assert {name.rpartition("-seed")[0] for name in names} == set(FAMILIES)
    for family, encoding in FAMILIES.items():
        recipe, _ = recipes.named(f"names-{family}-seed0")
        assert (recipe.setting.encoding, recipe.setting.rope_theta) == encoding
        shape = recipe.shape
        assert shape.max_len == TRAINED == recipes.TRAINED_LENGTH
        assert (shape.num_heads, shape.d_model // shape.num_heads) == (NUM_HEADS, HEAD_DIM)


def test_a_moved_base_is_ntk() -> None:
    ntk = Reading("rope-500", rope_type="ntk", factor=4.0, rope_theta=500.0)
    base = 500.0 * 4.0 ** (32 / 30)
    moved = Reading("rope-500", rope_theta=base)
    assert moved.as_ntk == pytest.approx(4.0, rel=1e-12)
    assert moved.is_rebased
    assert not ntk.is_rebased
    np.testing.assert_allclose(moved.frequencies(TRAINED)[0], ntk.frequencies(TRAINED)[0])
    assert moved.usable == pytest.approx(ntk.usable)


@pytest.mark.parametrize("method", ["linear", "ntk", "yarn", "llama3", "dynamic"])
def test_the_usable_context_is_that_of_the_core(method: str) -> None:
    read = Reading("rope-500", rope_type=method, factor=3.0, rope_theta=500.0)
    expected = extrapolation.usable_context(read.trained, read.scaling, TRAINED)
    assert read.usable == pytest.approx(expected)


def test_a_base_below_the_trained_one_reaches_less_than_the_trained_context() -> None:
    assert Reading("rope-500", rope_theta=100.0).usable < TRAINED
    followed = Reading("rope-500", rope_type="dynamic", factor=1.0, rope_theta=800.0)
    assert math.isnan(followed.usable)


@pytest.mark.parametrize(
    ("changes", "way"),
    [
        ({}, ("default", 1.0)),
        ({"rope_type": "ntk", "factor": 4.0}, ("ntk", 4.0)),
        ({"rope_type": "yarn", "factor": 8.0}, ("yarn", 8.0)),
        ({"rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0}, ("yarn_32", 8.0)),
        ({"rope_type": "yarn", "factor": 8.0, "beta_fast": 16.0}, None),
        ({"rope_type": "yarn", "factor": 8.0, "beta_slow": 3.0}, None),
        ({"rope_type": "yarn", "factor": 8.0, "beta_fast": 8.1}, ("yarn", 8.0)),
        ({"rope_type": "yarn", "factor": 8.0, "tempered": False}, None),
        ({"rope_type": "ntk", "factor": 8.0, "rope_theta": 600.0}, None),
        ({"family": "alibi", "slope_multiplier": 2.0, "rope_type": "yarn"}, ("slopes", 2.0)),
        ({"family": "t5", "rope_type": "yarn", "rope_theta": 3.0}, ("default", 1.0)),
    ],
)
def test_a_setting_is_found_by_its_way_if_it_was_measured_so(
    changes: dict[str, object], way: tuple[str, float] | None
) -> None:
    assert Reading(**{"family": "rope-500", "rope_theta": 500.0} | changes).way == way  # type: ignore[arg-type]


def test_what_an_encoding_does_not_know_is_left_aside() -> None:
    read = Reading("sinusoidal", rope_type="yarn", factor=8.0, slope_multiplier=3.0)
    assert read.is_plain
    assert read.method == "default"
    windowed = Reading("rope-500", seed=1, windowed=True, rope_type="yarn", factor=8.0)
    assert windowed.method == "default"
    assert windowed.name == "names-rope-500-seed0"


def test_a_factor_of_one_changes_nothing() -> None:
    for method in ("linear", "ntk", "yarn", "llama3"):
        assert Reading("rope-500", rope_type=method, rope_theta=500.0).is_plain
    assert not Reading("rope-500", rope_type="dynamic", rope_theta=500.0).is_plain


def test_the_nearest_curve_is_one_that_was_measured() -> None:
    near = Reading("rope-500", rope_type="ntk", factor=5.0, rope_theta=500.0).nearest
    assert near is not None
    assert near[:2] == ("ntk", 4.0)
    assert near[2] is measured.curve("names-rope-500-seed0", "ntk", 4.0)
    moved = Reading("rope-500", rope_theta=4000.0).nearest
    assert moved is not None
    assert moved[:2] == ("ntk", 8.0)


def test_the_floor_is_one_times_itself() -> None:
    curve = measured.curve("names-rope-500-seed0")
    assert curve is not None
    over = over_floor(curve)
    assert set(over) == set(measured.LENGTHS)
    floor = float(measured.floor([TRAINED])[0])
    at = curve.lengths.index(TRAINED)
    assert over[TRAINED] == pytest.approx(math.exp(curve.nats[at]) / math.exp(floor))


def test_a_family_that_is_not_there_gets_a_sentence() -> None:
    with pytest.raises(params.InvalidParameterError, match="family must be one of rope-500"):
        Reading("rope")


def test_every_family_has_a_label_and_a_colour() -> None:
    assert labels.FAMILIES.keys() == FAMILIES.keys()
    assert {colour for _, colour in labels.FAMILIES.values()} <= style.COLOURS.keys()
