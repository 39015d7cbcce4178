"""A checkpoint is whole, or a sentence says what is wrong with it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from posviz.models import checkpoint
from posviz.params import InvalidParameterError

ROOT = Path(__file__).parents[2]
CARD = {"task": "names", "seed": 3, "log": {"loss": [3.5, 1.25]}, "name": "é"}
WEIGHTS = {
    "embedding.weight": np.linspace(-2.0, 2.0, 12, dtype=np.float32).reshape(3, 4),
    "turned": np.arange(12.0).reshape(3, 4).T,
    "norm": np.float32([0.1]),
}
REPLAY = {"attention": np.arange(8, dtype=np.uint8).reshape(2, 2, 2)}


@pytest.fixture
def folder(tmp_path):
    checkpoint.save(tmp_path / "one.safetensors", CARD, WEIGHTS, REPLAY)
    return tmp_path


def told(name, folder):
    """The sentence that comes instead of the checkpoint."""
    with pytest.raises(InvalidParameterError) as found:
        checkpoint.load(name, folder)
    sentence = str(found.value)
    assert "\n" not in sentence
    return sentence


def damaged(reason=""):
    return f"checkpoint must be a whole file of trained weights, got one.safetensors: {reason}"


def test_what_was_saved_comes_back(folder):
    found = checkpoint.load("one", folder)
    assert found.weights.keys() == WEIGHTS.keys()
    for name, array in WEIGHTS.items():
        assert found.weights[name].dtype == np.float16
        np.testing.assert_array_equal(found.weights[name], array.astype(np.float16))
    assert found.replay["attention"].dtype == np.uint8
    np.testing.assert_array_equal(found.replay["attention"], REPLAY["attention"])
    assert CARD.items() <= found.card.items()
    assert found.card == checkpoint.card("one", folder)
    assert checkpoint.names(folder) == ["one"]


def test_everyone_may_read_the_file(folder):
    assert (folder / "one.safetensors").stat().st_mode & 0o777 == 0o644


def test_a_new_checkpoint_replaces_the_old_one_and_folders_are_made(tmp_path):
    path = tmp_path / "a" / "b" / "one.safetensors"
    for seed in (1, 2):
        checkpoint.save(path, {"seed": seed}, WEIGHTS, {})
    assert checkpoint.load("one", path.parent).card["seed"] == 2
    assert list(path.parent.iterdir()) == [path]


def test_fingerprints_tell_names_types_shapes_and_numbers_apart():
    a = np.arange(6, dtype=np.float32)
    others = [
        {"b": a}, {"a": a.astype(np.float64)}, {"a": a.reshape(2, 3)}, {"a": a + 1},
        {"a": a, "b": a}, {"a": a.astype(">f4")}, {"a": np.append(a, 0)}, {},
    ]  # fmt: skip
    prints = [checkpoint.fingerprint(arrays) for arrays in ({"a": a}, *others)]
    assert len(set(prints)) == len(prints)
    assert checkpoint.fingerprint({"b": a, "a": a[::-1][::-1]}) == checkpoint.fingerprint(
        {"a": a, "b": a}
    )


# Killed while writing.

KILLED = """
import os, pathlib, signal, sys, time
from posviz.models import checkpoint
def half(to):
    pathlib.Path(to).write_bytes(b"x" * 1000)
    print("half", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
checkpoint.write_whole(pathlib.Path(sys.argv[1]), half)
"""


@pytest.mark.parametrize("existing", [True, False])
def test_killed_while_writing_it_leaves_the_old_file_or_none(folder, existing):
    path = folder / "one.safetensors"
    before = path.read_bytes()
    if not existing:
        path.unlink()
    run = subprocess.run(
        [sys.executable, "-c", KILLED, path], cwd=ROOT, stdout=subprocess.PIPE, check=False
    )
    assert (run.returncode, run.stdout.strip()) == (-signal.SIGKILL, b"half")
    assert checkpoint.names(folder) == (["one"] if existing else [])
    assert path.exists() == existing
    if existing:
        assert path.read_bytes() == before
        checkpoint.load("one", folder)
    checkpoint.save(path, CARD, WEIGHTS, REPLAY)
    checkpoint.load("one", folder)


@pytest.mark.parametrize("problem", [OSError("no space left"), KeyboardInterrupt()])
def test_what_fails_while_writing_leaves_nothing_behind(folder, problem):
    path = folder / "one.safetensors"
    before = path.read_bytes()

    def half(to):
        to.write_bytes(b"x" * 1000)
        assert not [one for one in checkpoint.names(folder) if one != "one"]
        raise problem

    for target in (path, folder / "two.safetensors"):
        with pytest.raises(type(problem)):
            checkpoint.write_whole(target, half)
    assert list(folder.iterdir()) == [path]
    assert path.read_bytes() == before


# Damaged, foreign, missing.


def test_a_truncated_file_is_told_at_every_length(folder):
    path = folder / "one.safetensors"
    whole = path.read_bytes()
    for length in [*range(0, 64), *range(64, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        assert told("one", folder).startswith(damaged())


@pytest.mark.parametrize(
    "content", [b"\xff" * 500, b"{}" * 500, bytes(500), b"\n" * 9, os.urandom(4000)],
    ids=["ones", "braces", "zeros", "lines", "noise"],
)  # fmt: skip
def test_garbage_is_told(folder, content):
    (folder / "one.safetensors").write_bytes(content)
    assert told("one", folder).startswith(damaged())
    with pytest.raises(InvalidParameterError):
        checkpoint.card("one", folder)


def test_a_folder_of_that_name_is_told(folder):
    (folder / "one.safetensors").unlink()
    (folder / "one.safetensors").mkdir()
    assert told("one", folder).startswith(damaged())


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (None, "it was not written by posviz.models.train"),
        ({"format": "pt"}, "it was not written by posviz.models.train"),
        ({"format": checkpoint.FORMAT}, "its card is unreadable"),
        ({"format": checkpoint.FORMAT, "card": "{"}, "its card is unreadable"),
        ({"format": checkpoint.FORMAT, "card": "[1]"}, "its card is unreadable"),
        ({"format": checkpoint.FORMAT, "card": "{}"}, "its numbers are not those of its card"),
        (
            {"format": checkpoint.FORMAT, "card": '{"sha256": 5}'},
            "its numbers are not those of its card",
        ),
    ],
)
def test_a_foreign_file_is_told(folder, metadata, reason):
    safetensors.numpy.save_file(WEIGHTS, folder / "one.safetensors", metadata=metadata)
    assert told("one", folder) == damaged(reason)


def test_weights_of_another_file_are_told(folder):
    other = {f"weights.{name}": np.float16(array + 1) for name, array in WEIGHTS.items()}
    card = json.dumps(checkpoint.card("one", folder))
    metadata = {"format": checkpoint.FORMAT, "card": card}
    safetensors.numpy.save_file(other, folder / "one.safetensors", metadata=metadata)
    assert told("one", folder) == damaged("its numbers are not those of its card")


@given(st.data())
def test_no_changed_byte_changes_a_weight_unnoticed(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("changed")
    path = folder / "one.safetensors"
    checkpoint.save(path, CARD, WEIGHTS, REPLAY)
    whole = bytearray(path.read_bytes())
    header = 8 + int.from_bytes(whole[:8], "little")
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    if at >= header:
        assert told("one", folder) == damaged("its numbers are not those of its card")
        return
    try:
        found = checkpoint.load("one", folder)
    except InvalidParameterError:
        return
    for name, array in WEIGHTS.items():  # a changed word on the card
        np.testing.assert_array_equal(found.weights[name], array.astype(np.float16))


@pytest.mark.parametrize(
    "name", ["two", "", "../one", "./one", "sub/one", "/etc/passwd", "one.safetensors", "ONE", "*",
             "one\x00", None, 3],
)  # fmt: skip
def test_only_names_of_the_folder_are_opened(folder, name):
    (folder / "sub").mkdir()
    (folder / "sub" / "one.safetensors").write_bytes((folder / "one.safetensors").read_bytes())
    assert told(name, folder / "sub" / "..").startswith("checkpoint must be one of one, got ")
    with pytest.raises(InvalidParameterError, match="checkpoint must be one of one, got "):
        checkpoint.card(name, folder)


def test_of_an_empty_folder_nothing_is_listed(tmp_path):
    assert checkpoint.names(tmp_path) == checkpoint.names(tmp_path / "none") == []
    assert told("one", tmp_path) == (
        f"checkpoint must be a file of {tmp_path}, which holds none, got 'one'"
    )
