"""What a checkpoint tells of its training."""

from __future__ import annotations

import numpy as np
import pytest

from posviz import params
from posviz.models import checkpoint
from posviz.models.replay import Replay, replay


def made(characters: str, shares: list[list[float]]) -> Replay:
    """A replay with one layer, whose heads put ``shares[point][head]`` on the token to copy."""
    attention = np.zeros((len(shares), 1, len(shares[0]), len(characters)), np.float32)
    one = Replay("made", "names", np.arange(0, 25 * len(shares), 25), {}, (), characters, attention)
    attention[..., one.target] = np.array(shares)[:, None]
    return one


@pytest.mark.parametrize(
    ("text", "target"),
    [("›Abcd Efgh Ijkl Ef", 8), ("›Abcd Abce Ab", 8), ("›wxyz=wx", 3), ("›wwx=w", 2)],
)
def test_the_token_to_copy_follows_the_longest_earlier_reading(text: str, target: int) -> None:
    assert made(text, [[0.0]]).target == target


def test_the_circuit_appears_when_a_head_first_passes_half() -> None:
    one = made("›Abcd Ab", [[0.1, 0.2], [0.5, 0.4], [0.3, 0.6], [0.9, 0.6]])
    assert one.appearance == 2
    assert one.strongest(2) == (0, 1)
    assert one.strongest(-1) == (0, 0)
    assert made("›Abcd Ab", [[0.1], [0.5]]).appearance is None


def test_a_step_belongs_to_the_last_point_it_has_reached() -> None:
    one = made("›Abcd Ab", [[0.0]] * 4)
    assert [one.at(step) for step in (0, 24, 25, 74, 75, 1000)] == [0, 0, 1, 2, 3, 3]
    with pytest.raises(params.InvalidParameterError, match="step must be a whole number"):
        one.at(-1)


@pytest.mark.parametrize("name", checkpoint.names())
def test_committed_trainings_are_whole(name: str) -> None:
    one = replay(name)
    points = len(one.steps)
    assert one.attention.shape[0] == points == len(next(iter(one.losses.values())))
    assert one.attention.shape[-1] == len(one.characters)
    np.testing.assert_allclose(one.attention.sum(-1), 1.0, atol=0.1)  # kept in 255 steps
    assert 0 < one.target < len(one.characters) - 1


def test_an_unknown_training_is_told() -> None:
    with pytest.raises(params.InvalidParameterError, match="got 'nobody'"):
        replay("nobody")
