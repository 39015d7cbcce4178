"""What the models measured is read from one file, and no order is told that a seed contradicts."""

import json
import math

import numpy as np
import pytest

from posviz import measured, rope_scaling
from posviz.models import names
from posviz.params import InvalidParameterError


def curve(*nats):
    numbers = list(nats)
    return {
        "lengths": [64, 91, 128], "documents": 16, "nats": numbers, "error": [0.01] * 3,
        "repeated": [one and one / 2 for one in numbers], "repeated_error": [0.02] * 3,
    }  # fmt: skip


def accuracy(*shares):
    return {"lengths": [128, 512], "rows": 16, "accuracy": list(shares), "error": [0.0, 0.01]}


DATA = {
    "format": measured.FORMAT,
    "floor": {"documents": 1200, "lengths": [64, 91, 128], "nats": [1.2, 1.1, 1.0],
              "repeated": [0.3, 0.29, 0.28]},
    "models": {
        "names-rope-seed0": {
            "curves": {"default": curve(1.5, 2.5, 3.0), "ntk 4": curve(1.6, 2.0, 2.5),
                       "yarn 4": curve(1.5, 2.2, 2.4), "dynamic 1": curve(1.5, 2.0, 2.0)},
            "sliding": curve(1.5, 1.4, 1.3),
        },
        "names-rope-seed1": {
            "curves": {"default": curve(1.7, 2.7, 3.5), "ntk 4": curve(1.8, 2.1, 2.6),
                       "yarn 4": curve(1.7, 2.0, 2.5)},
        },
        "names-learned-seed0": {"curves": {"default": curve(1.5, 1.4, None)}},
        "copying-rope-seed0": {"copying": {"default": accuracy(1.0, 0.1),
                                           "ntk 4": accuracy(0.9, 0.8)}},
    },
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "curves.json"
    path.write_text(json.dumps(DATA))
    return path


def told(function, *arguments, **more):
    with pytest.raises(InvalidParameterError) as found:
        function(*arguments, **more)
    return str(found.value)


def test_a_curve_is_read_with_its_errors_and_perplexity(path):
    found = measured.curve("names-rope-seed0", "ntk", 4.0, path)
    assert found.lengths == (64, 91, 128)
    assert found.documents == 16
    np.testing.assert_array_equal(found.nats, [1.6, 2.0, 2.5])
    np.testing.assert_allclose(found.perplexity, np.exp([1.6, 2.0, 2.5]))
    np.testing.assert_array_equal(found.error, [0.01] * 3)
    np.testing.assert_array_equal(found.repeated, [0.8, 1.0, 1.25])
    assert measured.curve("names-rope-seed0", "ntk", 8.0, path) is None
    assert measured.curve("copying-rope-seed0", path=path) is None
    assert measured.sliding("names-rope-seed0", path).nats[2] == 1.3
    assert measured.sliding("names-rope-seed1", path) is None
    assert measured.copying("copying-rope-seed0", "ntk", 4.0, path).accuracy[1] == 0.8
    assert measured.copying("names-rope-seed0", path=path) is None


def test_where_a_model_cannot_read_there_is_no_number(path):
    found = measured.curve("names-learned-seed0", path=path)
    assert np.isnan(found.nats[2]) and np.isnan(found.repeated[2])
    assert np.isfinite(found.nats[:2]).all()


def test_a_file_that_is_written_again_is_read_again(path):
    assert measured.floor((64,), path)[0] == 1.2
    changed = json.loads(path.read_text())
    changed["floor"]["nats"][0] = 1.25
    path.unlink()
    path.write_text(json.dumps(changed))
    assert measured.floor((64,), path)[0] == 1.25


def test_the_floor_is_known_at_the_measured_lengths(path):
    np.testing.assert_array_equal(measured.floor((128, 64), path), [1.0, 1.2])
    np.testing.assert_array_equal(measured.repeated_floor((91,), path), [0.29])
    assert told(measured.floor, (100,), path) == "length must be one of 64, 91, 128, got 100"


def test_families_hold_the_seeds(path):
    assert measured.families(path) == ("copying-rope", "names-learned", "names-rope")
    assert measured.models("names-rope", path) == ("names-rope-seed0", "names-rope-seed1")
    sentence = told(measured.models, "names-magic", path)
    assert sentence.startswith("family must be one of copying-rope, names-learned, names-rope")


def test_a_band_spans_the_seeds(path):
    found = measured.band("names-rope", "yarn", 4.0, path=path)
    assert found.seeds == 2
    np.testing.assert_array_equal(found.lowest, [1.5, 2.0, 2.4])
    np.testing.assert_array_equal(found.highest, [1.7, 2.2, 2.5])
    np.testing.assert_allclose(found.mean, [1.6, 2.1, 2.45])
    again = measured.band("names-rope", "yarn", 4.0, "repeated", path)
    np.testing.assert_array_equal(again.lowest, [0.75, 1.0, 1.2])
    copied = measured.band("copying-rope", "ntk", 4.0, "accuracy", path)
    np.testing.assert_array_equal(copied.mean, [0.9, 0.8])
    assert measured.band("names-rope", "dynamic", 1.0, path=path).seeds == 1
    assert measured.band("names-rope", "llama3", 4.0, path=path) is None
    assert measured.band("copying-rope", path=path) is None
    assert "quantity must be one of nats" in told(
        measured.band, "names-rope", quantity="joy", path=path
    )


def test_an_order_holds_only_if_no_seed_contradicts_it(path):
    def compare(a, b, length, family="names-rope", factor=4.0):
        return measured.compare(family, a, b, factor, length, path)

    assert compare("ntk", "default", 128) == "lower"
    assert compare("default", "ntk", 128) == "higher"
    assert compare("ntk", "yarn", 91) == "seeds disagree"
    assert compare("yarn", "default", 64) == "same"
    assert compare("llama3", "default", 64) is None
    assert compare("dynamic", "default", 64, factor=1.0) is None  # one seed has none
    assert compare("ntk", "default", 128, "copying-rope") == "lower"
    assert compare("ntk", "default", 512, "copying-rope") == "higher"
    assert measured.compare("names-learned", "default", "default", 1.0, 128, path) is None
    assert "length must be one of 64, 91, 128, got 96" in told(compare, "ntk", "default", 96)


def test_a_tie_in_one_seed_is_no_order(path):
    data = json.loads(path.read_text())
    data["models"]["names-rope-seed1"]["curves"]["yarn 4"]["nats"][2] = 2.6
    path.write_text(json.dumps(data) + "\n")
    assert measured.compare("names-rope", "yarn", "ntk", 4.0, 128, path) == "seeds disagree"


def test_factor_1_is_the_plain_model_but_for_dynamic_ntk():
    assert {measured.key(method, 1.0) for method in measured.METHODS} == {"default", "dynamic 1"}
    assert measured.key("default", 8.0) == "default"
    assert measured.key("slopes", 0.5) == "slopes 0.5"


def test_a_method_means_one_scaling():
    yarn = measured.scaling("yarn", 4.0, 256)
    assert yarn == rope_scaling.Yarn(4.0, 256, beta_fast=8.0)
    assert measured.scaling("yarn_32", 4.0, 256) == rope_scaling.Yarn(4.0, 256)
    assert measured.scaling("dynamic", 1.0, 256) == rope_scaling.DynamicNtk(1.0, 256)
    assert measured.scaling("llama3", 2.0, 512) == rope_scaling.Llama3(2.0, 512)
    assert measured.scaling("default", 2.0, 512) == rope_scaling.NoScaling()
    assert "method must be one of" in told(measured.scaling, "slopes", 2.0, 256)


def test_bad_input_gets_a_sentence(path):
    assert "model must be one of copying-rope-seed0" in told(measured.curve, "gpt", path=path)
    assert "method must be one of default, linear, ntk" in told(
        measured.curve, "names-rope-seed0", "magic", 2.0, path
    )
    assert "factor must be a finite number above 0, got -1" in told(
        measured.curve, "names-rope-seed0", "ntk", -1.0, path
    )


def test_a_missing_file_gets_a_sentence(tmp_path):
    sentence = told(measured.families, tmp_path / "curves.json")
    assert sentence.startswith("curves.json must be there")
    assert "python -m posviz.models.curves" in sentence


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "{}", '{"format": "other"}', json.dumps({"format": measured.FORMAT}),
        json.dumps({**DATA, "models": []}), json.dumps({**DATA, "models": {"a": 3}}),
        json.dumps({**DATA, "models": {"a": {"sliding": {**curve(1, 2, 3), "nats": [1.0]}}}}),
        json.dumps({**DATA, "models": {"a": {"sliding": {**curve(1, 2, 3), "error": "abc"}}}}),
        json.dumps(DATA)[:-20],
    ],
)  # fmt: skip
def test_a_damaged_file_gets_a_sentence(tmp_path, text):
    path = tmp_path / "curves.json"
    path.write_text(text)
    sentence = told(measured.families, path)
    assert sentence.startswith("curves.json must be what python -m posviz.models.curves writes")
    assert "\n" not in sentence


LONG = {
    "format": measured.FORMAT,
    "floor": {"documents": 1200, "lengths": [128, 256, 362, 512], "nats": [1.0, 0.9, 0.8, 0.7],
              "repeated": [0.3] * 4},
    "models": {
        f"names-rope-seed{seed}": {"curves": {
            key: {"lengths": [128, 256, 362, 512], "documents": 16, "nats": nats,
                  "error": [0.01] * 4, "repeated": nats, "repeated_error": [0.01] * 4}
            for key, nats in curves.items()
        }}
        for seed, curves in enumerate([
            {"default": [1.1, 1.0, 1.1, 3.0], "yarn 4": [1.1, 1.0, 0.9, 0.8],
             "linear 4": [4.0, 4.0, 4.0, 5.0]},
            {"default": [1.1, 1.0, 0.95, 3.0], "yarn 4": [1.1, 1.05, 0.95, 0.89],
             "linear 4": [4.0, 4.0, 4.0, 4.0]},
        ])
    },
}  # fmt: skip


@pytest.fixture
def long_path(tmp_path):
    path = tmp_path / "curves.json"
    path.write_text(json.dumps(LONG))
    return path


def test_a_reading_holds_as_far_as_its_worst_seed(long_path):
    # In range the worst excess is 0.1, so 0.1 + ln 2 is allowed: 3.0 - 0.7 at 512 is too much.
    assert measured.reach("names-rope", path=long_path) == 362.0
    assert measured.reach("names-rope", "yarn", 4.0, long_path) == math.inf
    assert measured.reach("names-rope", "linear", 4.0, long_path) == 0.0
    assert measured.reach("names-rope", "ntk", 4.0, long_path) is None


def test_a_loss_is_a_share_of_what_guessing_loses(long_path):
    multiples, share = measured.loss_share("names-rope", path=long_path)
    np.testing.assert_allclose(multiples, [1.0, 362 / 256, 2.0])
    guess = math.log(len(names.ALPHABET))
    np.testing.assert_allclose(share[[0, 2]], [0.1 / (guess - 0.9), 2.3 / (guess - 0.7)])
    _, clipped = measured.loss_share("names-rope", "linear", 4.0, long_path)
    assert clipped[-1] == 1.0
    assert measured.loss_share("names-rope", "ntk", 4.0, long_path) is None


@pytest.mark.parametrize(("factor", "nearest"), [(1, 2), (2.9, 4), (2.8, 2), (11, 8), (64, 16)])
def test_the_nearest_measured_factor_is_so_by_ratio(factor, nearest):
    assert measured.nearest_factor(factor) == nearest
