"""A learned model read with a longer table."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posviz import learned, measured
from posviz.models import evaluate, stretched
from posviz.params import InvalidParameterError

NAME = "names-learned-seed0"


def test_its_own_length_gives_the_numbers_that_were_measured_before() -> None:
    (found,) = stretched.losses(NAME, 256, [16])
    known = measured.curve(NAME)
    assert known is not None
    assert found.documents == known.documents == 16
    assert found.lengths == known.lengths[: len(found.lengths)]
    assert found.lengths[-1] == 256
    np.testing.assert_allclose(found.nats, known.nats[: len(found.lengths)], atol=2e-4)
    np.testing.assert_array_equal(found.perplexity, np.exp(found.nats))


def test_a_longer_table_is_read_to_its_end_and_costs_more_everywhere() -> None:
    few, more = stretched.losses(NAME, 600, [2, 3])
    assert (few.documents, more.documents) == (2, 3)
    assert more.lengths[-1] == 512
    known = measured.curve(NAME)
    assert known is not None
    assert (more.nats[:5] > known.nats[:5] + 1.0).all()


def test_only_the_table_differs_and_the_trained_model_stays_as_it_was() -> None:
    trained = evaluate.decoder(NAME)
    before = {key: value.clone() for key, value in trained.state_dict().items()}
    longer = stretched.decoder(NAME, 511)
    for key, value in longer.state_dict().items():
        if key != "positions.table":
            assert torch.equal(value, before[key])
    table = longer.positions.table
    assert table is not None
    np.testing.assert_allclose(
        table.numpy(), learned.interpolate(before["positions.table"].numpy(), 511), atol=1e-7
    )
    assert torch.equal(table[::2], before["positions.table"])  # the trained rows, met exactly
    assert all(torch.equal(trained.state_dict()[key], before[key]) for key in before)


def test_where_the_head_looks_is_the_mean_of_its_attention() -> None:
    found = stretched.looks(NAME, 512)
    tokens = evaluate.documents(1, 256).tokens[0, :256]
    weights = evaluate.attention_map(NAME, tokens, found.layer, found.head)
    expected = [
        np.mean([weights[query, query - back] for query in range(24, 256)])
        for back in range(stretched.FURTHEST + 1)
    ]
    np.testing.assert_allclose(found.trained, expected, atol=1e-6)
    assert found.trained.argmax() == 1
    assert found.longer.argmax() > 1
    assert found.longer.sum() <= 1.0 + 1e-6
    same = stretched.looks(NAME, 256)
    np.testing.assert_allclose(same.longer, same.trained, atol=1e-6)


def test_what_cannot_be_read_so_is_told() -> None:
    with pytest.raises(InvalidParameterError, match=r"^encoding must be one of learned, got"):
        stretched.decoder("names-rope-500-seed0", 512)
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be a whole number "):
        stretched.decoder(NAME, 0)
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be a whole number "):
        next(stretched.losses(NAME, 63))
    with pytest.raises(InvalidParameterError, match=r"^seq_len must be a whole number "):
        stretched.looks(NAME, 255)
    with pytest.raises(InvalidParameterError, match=r"^count must be a whole number "):
        list(stretched.losses(NAME, 64, [2, 2]))
