"""Measuring the set: once per model, resumable, whole on disk; and the README that tells of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from posviz import measured
from posviz.models import checkpoint, curves, evaluate, names, report
from posviz.params import InvalidParameterError
from tests.models.untrained import store

SIZE = curves.Size(
    documents=2, lengths=measured.LENGTHS[:7], floor_documents=12, rows=2, copy_lengths=(128, 1024)
)
SEEDS = ("names-rope-500-seed0", "names-rope-500-seed1")
OTHERS = ("names-alibi-seed0", "names-learned-seed0", "copying-rope-seed0")


QUICK = replace(SIZE, floor_documents=2, copy_lengths=(128, 192))


def measure(folder, size=SIZE):
    curves.measure(folder, size, quiet=True)


def stored(folder):
    return json.loads((folder / "curves.json").read_text())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    for name in (*SEEDS, *OTHERS):
        store(folder, name)
    measure(folder)
    return folder


def test_every_way_is_measured_of_every_model(done):
    path = done / "curves.json"
    assert measured.families(path) == (
        "copying-rope", "names-alibi", "names-learned", "names-rope-500"
    )  # fmt: skip
    for name in SEEDS:
        for method in ("linear", "ntk", "dynamic", "yarn", "llama3"):
            for factor in measured.FACTORS:
                assert measured.curve(name, method, factor, path)
        assert measured.curve(name, "yarn_32", 8.0, path)
        assert measured.curve(name, "dynamic", 1.0, path)
    assert measured.curve("names-alibi-seed0", "slopes", 0.5, path)
    assert measured.curve("names-alibi-seed0", "ntk", 2.0, path) is None
    assert measured.copying("copying-rope-seed0", "yarn", 4.0, path).rows == 2
    assert measured.sliding(SEEDS[0], path).documents == 4
    assert measured.sliding(SEEDS[1], path) is None


def test_what_is_stored_is_what_evaluate_says(done):
    path = done / "curves.json"
    setting = evaluate.read_with(SEEDS[1], "dynamic", 2.0, done)
    direct = evaluate.curve(SEEDS[1], setting, SIZE.lengths, 2, done)
    found = measured.curve(SEEDS[1], "dynamic", 2.0, path)
    assert found.lengths == direct.lengths
    np.testing.assert_allclose(found.nats, direct.nats, atol=2e-5)
    np.testing.assert_allclose(found.repeated_error, direct.repeated_error, atol=2e-5)
    learned = measured.curve("names-learned-seed0", path=path)
    assert np.isfinite(learned.nats[:5]).all()
    assert np.isnan(learned.nats[5:]).all()
    texts = evaluate.documents(2, 512).tokens
    alone = [
        evaluate.nats(evaluate.decoder(SEEDS[0], done), texts[row : row + 1]) for row in (0, 1)
    ]
    assert stored(done)["models"][SEEDS[0]]["first"] == pytest.approx(
        [float(losses.mean()) for losses in alone], abs=2e-5
    )


def test_the_floor_is_the_mean_over_documents(done):
    floors, letters = [], []
    for number in range(12):
        one = evaluate.document(number)
        floors.append(one.floor[0, 192:256].mean())
        again = one.kinds[0, 192:256] == names.Kind.REPEATED_NAME
        letters += one.floor[0, 192:256][again].tolist()
    path = done / "curves.json"
    assert measured.floor((256,), path)[0] == pytest.approx(np.mean(floors), abs=1e-5)
    assert measured.repeated_floor((256,), path)[0] == pytest.approx(np.mean(letters), abs=1e-5)
    assert measured.floor_documents(path) == 12


def test_a_second_run_measures_nothing(done, monkeypatch):
    before = (done / "curves.json").read_bytes(), (done / "README.md").read_bytes()
    monkeypatch.setattr(curves, "perform", None)
    monkeypatch.setattr(curves, "population_floor", None)
    measure(done)
    assert ((done / "curves.json").read_bytes(), (done / "README.md").read_bytes()) == before


def test_a_run_goes_on_where_it_was_killed_and_sees_new_weights(tmp_path, monkeypatch):
    models = ("copying-alibi-seed0", "copying-alibi-seed1")
    for name in models:
        store(tmp_path, name)
    plain, performed = curves.perform, []

    def counted(task, *rest):
        if len(performed) == 2:
            raise KeyboardInterrupt
        performed.append((task.model, task.factor))
        return plain(task, *rest)

    monkeypatch.setattr(curves, "perform", counted)
    for last in (False, True):
        with pytest.raises(KeyboardInterrupt):
            measure(tmp_path, QUICK)
        path = tmp_path / "curves.json"
        assert measured.copying(models[0], "slopes", 0.5, path)
        assert bool(measured.copying(models[0], "slopes", 2.0, path)) == last
        done, performed = performed, []
        assert len(set(done)) == 2
    measure(tmp_path, QUICK)
    assert performed == [(models[1], 0.5), (models[1], 2.0)]

    store(tmp_path, models[0], first_weights=5)
    evaluate.decoder.cache_clear()
    performed = []
    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path, QUICK)
    assert performed == [(models[0], 1.0), (models[0], 0.5)]
    card = checkpoint.card(models[0], tmp_path)
    assert stored(tmp_path)["models"][models[0]]["sha256"] == card["sha256"]
    (tmp_path / f"{models[0]}.safetensors").unlink()
    measure(tmp_path, QUICK)
    assert list(stored(tmp_path)["models"]) == [models[1]]


def test_a_damaged_file_is_begun_again(tmp_path):
    store(tmp_path, "copying-rope-seed0")
    (tmp_path / "curves.json").write_text('{"format": "posviz cur')
    measure(tmp_path, QUICK)
    assert measured.copying("copying-rope-seed0", path=tmp_path / "curves.json")


def test_other_documents_or_scalings_are_another_measurement(done, monkeypatch):
    todo = curves.tasks(SEEDS[0], done)
    stamp = curves._stamp(SEEDS[0], todo, SIZE, done)
    assert stamp == curves._stamp(SEEDS[0], todo, SIZE, done)
    assert stamp != curves._stamp(SEEDS[0], todo, curves.Size(), done)
    monkeypatch.setattr(measured, "BETA_FAST", 4.0)
    assert stamp != curves._stamp(SEEDS[0], todo, SIZE, done)


def test_the_readme_is_what_the_function_writes_and_names_every_model(done):
    text = (done / "README.md").read_text(encoding="utf-8")
    assert text == report.readme(done)
    for name in (*SEEDS, *OTHERS):
        card = checkpoint.card(name, done)
        line = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert card["sha256"][:12] in line
        assert "1.500" in line
    path = done / "curves.json"
    pair = [measured.curve(name, "yarn", 4.0, path).perplexity[4] for name in SEEDS]
    assert "/".join(report._short(number) for number in pair) in text
    assert [report._short(number) for number in (2.995, 9.9, 43.91, 99.96, 104.4)] == [
        "3.00", "9.90", "43.9", "100", "104"
    ]  # fmt: skip
    assert not [line for line in text.splitlines() if "nan" in line]


def test_the_readme_claims_only_orders_that_hold_in_every_seed(done):
    path = done / "curves.json"
    text = (done / "README.md").read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if "factor 4, 256 tokens" in line)
    held, _, contradicted = line.partition(" Seeds disagree on ")
    for part in held.partition(": ")[2].rstrip(".").split("; "):
        low, _, others = part.partition(" below ")
        for other in others.split(", "):
            order = measured.compare(
                "names-rope-500", low.strip("`"), other.strip("`"), 4.0, 256, path
            )
            assert order == "lower", part
    for pair in contradicted.rstrip(".").split(", ") if contradicted else []:
        a, b = (one.strip("`") for one in pair.split(" and "))
        assert measured.compare("names-rope-500", a, b, 4.0, 256, path) == "seeds disagree"


def test_numbers_are_stored_with_five_decimals_and_no_nan():
    assert curves._list(np.array([1.234567, math.nan])) == [1.23457, None]


def test_a_damaged_checkpoint_stops_with_a_sentence(tmp_path):
    (tmp_path / "names-none-seed0.safetensors").write_bytes(b"not one")
    with pytest.raises(InvalidParameterError, match="checkpoint must be a whole file"):
        measure(tmp_path, QUICK)
