"""A model of the interpreter's own library can be trained and read on."""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from posviz.models import evaluate, real_text, recipes, stdlib
from posviz.models.recipes import Phase
from posviz.models.train import Training
from posviz.models.transformer import Shape


def test_perplexity_is_that_of_the_last_quarter():
    losses = np.full((3, 8), 9.0, np.float32)
    losses[:, 6:] = [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    mean, error = real_text.perplexity(losses, 8)
    assert mean == pytest.approx(math.exp(2.0))
    assert error == pytest.approx(math.exp(2.0) / math.sqrt(3))


def test_a_model_of_real_text_is_trained_and_measured(tmp_path, monkeypatch, capsys):
    recipe = replace(
        recipes.named("bytes-rope-seed0")[0], shape=Shape(stdlib.VOCABULARY, 1, 16, 1, 64),
        phases=(Phase(20, 64, 4),),
    )  # fmt: skip
    training = Training(recipe, 0)
    training.run(disable=True)
    log = training.progress.log
    assert log["total"][-1] < log["total"][0]  # some bytes are far more frequent than others
    training.finish(tmp_path / "bytes-rope-seed0.safetensors")
    monkeypatch.setattr(real_text, "WORK", tmp_path)
    monkeypatch.setattr(real_text, "LENGTHS", (64, 128))
    monkeypatch.setattr(sys, "argv", ["real_text", "bytes-rope-seed0", "--documents", "2"])
    real_text.main()
    told = capsys.readouterr().out
    assert all(way in told for way in ("default", "linear 4", "yarn 8"))
    assert "64" in told.splitlines()[1]


def test_another_model_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(real_text, "WORK", tmp_path)
    monkeypatch.setattr(sys, "argv", ["real_text", "bytes-rope-seed0"])
    with pytest.raises(SystemExit) as told:
        real_text.main()
    assert "checkpoint" in str(told.value)
    evaluate.decoder.cache_clear()
