"""Training: the same weights each time, killed or not."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from posviz.models import checkpoint, copying, names, train
from posviz.models.names import Dialect, Kind
from posviz.models.positions import ENCODINGS, Setting
from posviz.models.recipes import FAMILIES, MODELS, Phase, named
from posviz.models.train import Training, learning_rate
from posviz.models.transformer import Shape
from posviz.params import InvalidParameterError

ROOT = Path(__file__).parents[2]


def tiny(task="names", encoding="rope"):
    """A recipe of the set, made small: 12 steps of a few milliseconds."""
    recipe, _ = named("names-rope-500-seed0" if task == "names" else "copying-rope-seed0")
    phases = (Phase(5, 24, 3, Dialect(0.95, 4), 0.1), Phase(7, 32, 2, Dialect()))
    if task == "copying":
        phases = (Phase(12, 64, 2, elsewhere=0.02),)
    shape = Shape(recipe.shape.vocab_size, 1, 16, 2, recipe.shape.max_len)
    setting, looks_back = Setting(encoding, 500.0), recipe.looks_back and encoding == "rope"
    return replace(recipe, shape=shape, phases=phases, setting=setting, looks_back=looks_back)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Measures every second step, saves every fourth."""
    monkeypatch.setattr(train, "MEASURE_EVERY", 2)
    monkeypatch.setattr(train, "SAVE_EVERY", 4)


def trained(recipe, seed=0, work=None):
    training = Training(recipe, seed, work)
    training.run(disable=True)
    return training


def weights(training):
    return {name: w.detach().numpy() for name, w in training.model.named_parameters()}


def assert_same(one, other):
    """Weights, loss curve and pictures, bit for bit."""
    assert checkpoint.fingerprint(weights(one)) == checkpoint.fingerprint(weights(other))
    assert one.progress.log == other.progress.log
    np.testing.assert_array_equal(np.stack(one.replay), np.stack(other.replay))
    for name in ("step", "tokens", "cap", "running"):
        assert getattr(one.progress, name) == getattr(other.progress, name)


# The same weights each time.


@pytest.mark.parametrize(
    ("task", "encoding"),
    [("names", "rope"), ("names", "learned"), ("names", "t5"), ("copying", "rope_alibi")],
)
def test_two_trainings_end_at_the_same_weights(task, encoding):
    one, again = trained(tiny(task, encoding)), trained(tiny(task, encoding))
    assert one.progress.step == 12
    assert one.progress.log["step"] == [0, 2, 4, 6, 8, 10, 12]
    assert_same(one, again)
    other = trained(tiny(task, encoding), seed=1)
    assert checkpoint.fingerprint(weights(one)) != checkpoint.fingerprint(weights(other))
    assert all(np.isfinite(w).all() for w in weights(one).values())
    begun = weights(Training(tiny(task, encoding), 0))
    assert all((begun[name] != w).any() for name, w in weights(one).items())
    total = one.progress.log["total"]
    assert total[-1] < total[0]


CASES = [("names", "step"), ("copying", "step"), ("names", "save")]
KILLED = """
import os, signal, sys
from pathlib import Path
from posviz.models import train
from tests.models.test_train import CASES, tiny

train.MEASURE_EVERY, train.SAVE_EVERY = 2, 4
write_whole = train.checkpoint.write_whole

def go(task, where, work):
    training = train.Training(tiny(task), 0, work)
    update = training._update

    def kill():
        if training.progress.step == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return update()

    def half(to):
        to.write_bytes(b"half" * 100)
        os.kill(os.getpid(), signal.SIGKILL)

    def write(path, whole):
        write_whole(path, half if training.progress.step == 8 else whole)

    if where == "step":
        training._update = kill
    else:
        train.checkpoint.write_whole = write
    training.run(disable=True)

for task, where in CASES:
    child = os.fork()
    if not child:
        go(task, where, Path(sys.argv[1]) / f"{task}-{where}.pt")
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Half-way states of trainings that were killed at step 7, or while saving step 8."""
    folder = tmp_path_factory.mktemp("killed")
    run = subprocess.run(
        [sys.executable, "-c", KILLED, folder], cwd=ROOT, capture_output=True, check=True
    )
    assert run.stdout.split() == [b"-9"] * len(CASES)
    return folder


@pytest.mark.parametrize(("task", "where"), CASES)
def test_killed_and_taken_up_again_it_ends_as_if_nothing_had_been(task, where, killed):
    resumed = Training(tiny(task), 0, killed / f"{task}-{where}.pt")
    assert resumed.progress.step == 4
    resumed.run(disable=True)
    assert_same(resumed, trained(tiny(task)))


def test_taken_up_after_the_last_step_nothing_is_left_to_do(tmp_path):
    work = tmp_path / "state.pt"
    once = trained(tiny(), work=work)
    again = Training(tiny(), 0, work)
    assert again.progress.step == 12
    again.run(disable=True)
    assert_same(once, again)


def test_the_texts_of_a_step_are_a_function_of_seed_and_step():
    for task in ("names", "copying"):
        one, again, other = (Training(tiny(task), seed) for seed in (3, 3, 4))
        seen = set()
        for step in range(12):
            for training in (one, again, other):
                training.progress.step = step
            tokens, weight = one._batch()
            assert torch.equal(tokens, again._batch()[0])
            assert not torch.equal(tokens, other._batch()[0])
            assert weight.shape == tokens[:, 1:].shape
            seen.add(tokens.numpy().tobytes())
        assert len(seen) == 12


def test_letters_of_names_read_before_count_most_in_the_first_phase():
    training = Training(tiny(), 0)
    tokens, weight = training._batch()
    for row, weighed in zip(tokens.numpy(), weight.numpy(), strict=True):
        _, kinds = names.floor(names.decode(row), Dialect(0.95, 4))
        expected = np.where(kinds == Kind.REPEATED_NAME, 1.0, 0.1)
        np.testing.assert_allclose(weighed, expected, rtol=1e-6)
    training.progress.step = 5
    assert (training._batch()[1] == 1.0).all()


def test_only_the_second_row_counts_in_the_copy_task():
    training = Training(tiny("copying"), 0)
    tokens, weight = training._batch()
    symbols = (tokens.shape[1] - 2) // 2
    assert weight[:, symbols + 1 :].unique().tolist() == [1.0]
    assert weight[:, : symbols + 1].unique().tolist() == pytest.approx([0.02])
    assert (tokens[:, symbols + 1] == copying.REPEAT).all()


# Half-way states that must not be taken up.


def assert_begun(training, recipe, seed):
    """It stands at its beginning and goes from there."""
    fresh = Training(recipe, seed)
    for one in (training, fresh):
        assert one.progress.step == 0
        one.run(disable=True, until=2)
    assert_same(training, fresh)


@pytest.mark.parametrize(
    ("recipe", "seed"),
    [
        (replace(tiny(), vector_rate=0.004), 0),
        (replace(tiny(), phases=(*tiny().phases, Phase(1, 24, 2, Dialect()))), 0),
        (tiny(encoding="alibi"), 0),
        (tiny("copying"), 0),
        (tiny(), 1),
    ],
    ids=["rate", "phases", "encoding", "task", "seed"],
)
def test_the_state_of_another_recipe_or_seed_is_left_alone(recipe, seed, tmp_path):
    work = tmp_path / "state.pt"
    Training(tiny(), 0, work).run(disable=True, until=4)
    assert work.exists()
    assert_begun(Training(recipe, seed, work), recipe, seed)


def broken(work, how):
    """A half-way state as a failing disk, or someone else, leaves it."""
    training = Training(tiny(), 0, work)
    training.run(disable=True, until=4)
    whole = work.read_bytes()
    if how == "cut":
        work.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        work.write_bytes(b"")
    elif how == "noise":
        work.write_bytes(np.random.default_rng(0).bytes(2000))
    elif how == "changed":
        at = whole.index(weights(training)["embedding.weight"].tobytes())
        work.write_bytes(whole[:at] + bytes(64) + whole[at + 64 :])
    elif how == "code":
        work.write_bytes(pickle.dumps(os.getcwd))
    elif how == "list":
        torch.save([1, 2], work)
    elif how == "no recipe":
        torch.save({"model": training.model.state_dict()}, work)
    elif how == "other shapes":
        state = {"recipe": tiny().hash, "seed": 0, "progress": {"step": 4}, "optimizers": []}
        state |= {"replay": torch.zeros(3, 1), "model": {"norm.weight": torch.zeros(3)}}
        torch.save(state, work)


@pytest.mark.parametrize(
    "how",
    ["cut", "empty", "noise", "changed", "code", "list", "no recipe", "other shapes"],
)  # fmt: skip
def test_a_damaged_state_is_told_or_begun_again(how, tmp_path):
    work = tmp_path / "state.pt"
    broken(work, how)
    try:
        training = Training(tiny(), 0, work)
    except InvalidParameterError as told:
        assert "\n" not in str(told)
        return
    assert_begun(training, tiny(), 0)


# The file that a training ends with.


def test_a_finished_training_leaves_its_weights_and_no_half_way_state(tmp_path):
    work, path = tmp_path / "state.pt", tmp_path / "names-tiny.safetensors"
    training = trained(tiny(), work=work)
    assert work.exists()
    training.finish(path)
    assert not work.exists()
    found = checkpoint.load("names-tiny", tmp_path)
    for name, w in weights(training).items():
        np.testing.assert_array_equal(found.weights[name], w.astype(np.float16))
    assert found.replay["attention"].shape == (7, 1, 2, len(found.card["probe"]))
    assert found.card["log"] == training.progress.log
    assert {len(entry) for entry in found.card["log"].values()} == {7}
    assert found.card["recipe_hash"] == tiny().hash
    assert (found.card["steps"], found.card["seed"]) == (12, 0)
    assert found.card["tokens"] == 5 * 3 * 24 + 7 * 2 * 32


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """``train.train`` with tiny recipes; the folder it trains into."""
    monkeypatch.setattr(train, "named", lambda name: (tiny(), int(name[-1])))
    return tmp_path / "trained"


def test_a_model_that_is_there_is_not_trained_again(shop):
    assert train.train("names-rope-500-seed1", shop, shop / "work").endswith(" s")
    path = shop / "names-rope-500-seed1.safetensors"
    before = path.read_bytes()
    assert train.train("names-rope-500-seed1", shop, shop / "work") == "there already"
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", ["other recipe", "cut", "changed weight", "no hash"])
def test_a_model_that_is_another_or_damaged_is_trained_again(how, shop):
    name = "names-rope-500-seed1"
    path = shop / f"{name}.safetensors"
    training = trained(replace(tiny(), vector_rate=0.1) if how == "other recipe" else tiny(), 1)
    training.finish(path)
    whole = path.read_bytes()
    if how == "cut":
        path.write_bytes(whole[:-9])
    elif how == "changed weight":
        path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    elif how == "no hash":
        checkpoint.save(path, {"name": name}, weights(training), {})
    assert train.train(name, shop, shop / "work").endswith(" s")
    assert checkpoint.load(name, shop).card["recipe_hash"] == tiny().hash


# What is trained.


def test_every_model_of_the_set_goes_by_its_name():
    for name, (recipe, seed) in MODELS.items():
        assert named(name) == (recipe, seed)
        assert name == f"{name.rpartition('-seed')[0]}-seed{seed}"
    assert len({(recipe.hash, seed) for recipe, seed in MODELS.values()}) == len(MODELS)
    assert named("names-rope-500-seed99") == (MODELS["names-rope-500-seed0"][0], 99)
    assert {named(f"{family}-seed0")[0].setting.encoding for family in FAMILIES.values()} == set(
        ENCODINGS
    )
    for encoding, family in FAMILIES.items():
        assert named(f"{family}-seed0")[0].setting.encoding == encoding


@pytest.mark.parametrize(
    "name", ["", "nonsense", "names-rope-500", "names-rope-500-seedx", "names-rope-500-seed",
             "names-rope-500-seed-1", "names-rope-500-seed0.5", "../names-rope-500-seed0"],
)  # fmt: skip
def test_other_names_are_told(name):
    with pytest.raises(InvalidParameterError) as told:
        named(name)
    assert "\n" not in str(told.value)


def test_the_hash_of_a_recipe_sees_everything_that_is_trained():
    base = tiny()
    others = [
        replace(base, task="copying"),
        replace(base, shape=replace(base.shape, num_layers=2)),
        replace(base, setting=replace(base.setting, rope_theta=501.0)),
        replace(base, setting=replace(base.setting, encoding="none")),
        replace(base, table_rate=2.0),
        replace(base, looks_back=not base.looks_back),
        replace(base, matrix_rate=0.02),
        replace(base, phases=(replace(base.phases[0], elsewhere=0.2), base.phases[1])),
        replace(base, phases=(replace(base.phases[0], dialect=Dialect(0.95, 5)), base.phases[1])),
        replace(base, phases=base.phases[::-1]),
    ]
    assert len({one.hash for one in (base, *others)}) == 1 + len(others)
    assert tiny().hash == base.hash


def test_a_step_belongs_to_its_phase():
    recipe = tiny()
    found = [recipe.phases.index(recipe.at(step)) for step in range(recipe.steps)]
    assert found == [0] * 5 + [1] * 7


def test_the_learning_rate_warms_up_stays_and_goes_down_to_almost_nothing():
    for steps in (12, 100, 2000):
        rates = np.array([learning_rate(step, steps) for step in range(steps)])
        flat = slice(int(np.ceil(0.03 * steps)), int(0.6 * steps))
        assert (rates[flat] == 1.0).all()
        assert rates.min() > 0.0
        assert rates[-1] == pytest.approx(1e-3)
        assert (np.diff(rates[int(0.6 * steps) + 1 :]) < 0.0).all()
        assert rates[0] == pytest.approx(min(1.0, 1.0 / (0.03 * steps)))


@pytest.mark.parametrize("encoding", ["rope", "learned", "t5"])
def test_every_weight_has_one_learning_rate(encoding):
    training = Training(replace(tiny(encoding=encoding), table_rate=10.0), 0)
    rates = {}
    for optimizer, own in zip(training._optimizers, training._rates, strict=True):
        for group, rate in zip(optimizer.param_groups, own, strict=True):
            for w in group["params"]:
                assert id(w) not in rates
                rates[id(w)] = rate
    expected = {
        name: 0.018 if w.ndim == 2 and name.startswith("blocks") else 0.003
        for name, w in training.model.named_parameters()
    }
    if encoding != "rope":
        expected["positions.table"] = 0.03
    found = {name: rates[id(w)] for name, w in training.model.named_parameters()}
    assert found == pytest.approx(expected)


# The command line.


def shell(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "posviz.models.train", *words],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip


def test_what_is_no_model_is_told_in_a_line_and_ends_with_1(tmp_path):
    run = shell("nonsense", cwd=tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith("model must be one of names-rope-500, ")
    assert run.stderr.endswith("got 'nonsense'\n")
    assert run.stderr.count("\n") == 1
    assert not run.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ["names-rope-500", "--seed", "-1"],
        ["rope", "--seed", "9" * 30],
        ["rope", "--seed", "1000000000"],  # its texts would be those of the validation
        ["names-rope-500-seed0"],
        [""],
        ["all", "--jobs", "0"],
        ["all", "--jobs", "-3"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_trained_is_told_before_anything_is(words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Training, "run", lambda *_, **__: pytest.fail("it trains"))
    monkeypatch.setattr(train, "_train_all", lambda jobs: pytest.fail("it trains"))
    monkeypatch.setattr(sys, "argv", ["train", *words])
    with pytest.raises(SystemExit) as told:
        train.main()
    assert isinstance(told.value.code, str)  # one sentence, exit status 1
    assert "\n" not in told.value.code
