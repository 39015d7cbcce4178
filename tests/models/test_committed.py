"""The committed models are those that the committed numbers were measured of."""

import json

import numpy as np
import pytest

from posviz import measured
from posviz.models import checkpoint, curves, evaluate, recipes, report

NAMES = checkpoint.names()
STORED = (
    json.loads(measured.CURVES.read_text(encoding="utf-8")) if measured.CURVES.exists() else None
)
pytestmark = pytest.mark.skipif(
    not NAMES, reason="posviz/trained has no checkpoints yet: make models trains them"
)


def test_all_models_of_the_set_are_there_and_measured():
    assert set(NAMES) == set(recipes.MODELS)
    assert STORED is not None, "make measure writes curves.json"
    assert set(STORED["models"]) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_loads_and_is_the_one_that_was_measured(name):
    recipe, seed = recipes.named(name)
    card = checkpoint.card(name)
    assert card["seed"] == seed
    assert card["recipe_hash"] == recipe.hash
    model = evaluate.decoder(name)
    assert model.shape == recipe.shape
    assert model.positions.setting == recipe.setting
    todo = curves.tasks(name)
    assert STORED is not None, "make measure writes curves.json"
    entry = STORED["models"][name]
    stamp = curves._stamp(name, todo, curves.Size(), checkpoint.TRAINED)
    assert {key: entry[key] for key in stamp} == stamp


def test_the_set_is_small():
    folder = checkpoint.TRAINED
    assert sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) < 16e6


def test_one_model_says_again_what_it_said():
    name = "names-rope-500-seed0"
    assert curves.first(name) == pytest.approx(STORED["models"][name]["first"], abs=1e-3)


def test_the_readme_is_the_one_that_follows_from_the_numbers():
    path = checkpoint.TRAINED / "README.md"
    assert path.read_text(encoding="utf-8") == report.readme(), "python -m posviz.models.curves"


TASKS = [task for name in NAMES for task in curves.tasks(name)]


@pytest.mark.committed
@pytest.mark.parametrize(
    "task", TASKS, ids=lambda task: f"{task.model} {task.part} {task.method} {task.factor:g}"
)
def test_a_committed_curve_is_measured_again(task):
    expected = curves.stored(task, STORED["models"][task.model])
    found = curves.perform(task)
    if task.part == "first":
        assert found == pytest.approx(expected, abs=1e-3)
        return
    assert found.keys() == expected.keys()
    for field, numbers in expected.items():
        np.testing.assert_allclose(
            np.array(found[field], float), np.array(numbers, float), atol=1e-3, rtol=0,
            err_msg=field,
        )  # fmt: skip


@pytest.mark.committed
def test_the_committed_floor_is_computed_again():
    found = curves.population_floor()
    for field in ("nats", "repeated"):
        np.testing.assert_allclose(found[field], STORED["floor"][field], atol=1e-5)
