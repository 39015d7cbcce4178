"""The doors take the core's tables, and take them right."""

import numpy as np
import pytest
import torch

from posviz import alibi, learned, relative, rope, sinusoidal
from posviz.models.positions import ENCODINGS, SINUSOIDAL_SCALE, Positions, Setting, plain
from posviz.params import InvalidParameterError
from posviz.rope_scaling import (
    ROPE_SCALINGS,
    DynamicNtk,
    Linear,
    Llama3,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    Yarn,
)

D_MODEL, NUM_HEADS, TRAINED = 48, 3, 64
HEAD_DIM = D_MODEL // NUM_HEADS
SPANS = [(0, 1), (0, 5), (0, 64), (3, 1), (60, 9), (700, 17), (4095, 1)]
"""First position and number of positions."""

PAIRS = HEAD_DIM // 2
SCALINGS = {
    "default": NoScaling(),
    "linear": Linear(4.0),
    "ntk": Ntk(4.0),
    "dynamic": DynamicNtk(2.0, TRAINED),
    "yarn": Yarn(8.0, TRAINED, beta_fast=8.0),
    "llama3": Llama3(8.0, TRAINED),
    "longrope": LongRope((1.0,) * PAIRS, tuple(np.linspace(1, 9, PAIRS)), TRAINED, factor=8.0),
    "proportional": Proportional(0.5, 2.0),
}


def doors(encoding, **settings):
    return Positions(Setting(encoding, **settings), D_MODEL, NUM_HEADS, TRAINED)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def close(found, expected):
    """float32, to 1e-6 of the size of what is compared."""
    assert found.dtype == torch.float32
    found = found.detach().numpy()
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    size = np.abs(expected[finite]).max(initial=1e-30)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-6, atol=1e-6 * size)


def test_every_encoding_and_every_scaling_is_tried_here():
    assert set(ENCODINGS) == {
        "none", "sinusoidal", "learned", "t5", "alibi", "rope", "rope_alibi"
    }  # fmt: skip
    assert set(SCALINGS) == set(ROPE_SCALINGS)


# Add.


@pytest.mark.parametrize(("start", "count"), SPANS)
def test_sinusoidal_adds_the_table_of_the_core(start, count):
    x = normal(2, count, D_MODEL)
    rows = sinusoidal.table(start + count, D_MODEL)[start:]
    close(doors("sinusoidal").add(torch.tensor(x), start), x + SINUSOIDAL_SCALE * rows)


@pytest.mark.parametrize(("start", "count"), [(0, 1), (0, 64), (63, 1), (20, 30)])
def test_learned_adds_its_rows(start, count):
    positions = doors("learned")
    table = normal(TRAINED, D_MODEL, seed=1)
    with torch.no_grad():
        positions.table.copy_(torch.tensor(table))
    x = normal(2, count, D_MODEL)
    expected = x + learned.lookup(table, np.arange(start, start + count))
    close(positions.add(torch.tensor(x), start), expected)


def test_learned_begins_as_the_sinusoidal_table():
    close(doors("learned").table, SINUSOIDAL_SCALE * sinusoidal.table(TRAINED, D_MODEL))


@pytest.mark.parametrize(("start", "count"), [(0, 65), (64, 1), (60, 5)])
def test_past_its_rows_a_learned_table_says_so(start, count):
    with pytest.raises(InvalidParameterError) as told:
        doors("learned").add(torch.zeros(1, count, D_MODEL), start)
    with pytest.raises(InvalidParameterError) as core:
        learned.lookup(np.zeros((TRAINED, D_MODEL)), start + count - 1)
    assert str(told.value) == str(core.value)
    assert "from 0 to 63, got 64: a learned table has no row for it" in str(told.value)


@pytest.mark.parametrize("encoding", ["none", "t5", "alibi", "rope", "rope_alibi"])
def test_the_others_add_nothing(encoding):
    x = torch.tensor(normal(1, 5, D_MODEL))
    assert doors(encoding).add(x, 3) is x


# Rotate.


@pytest.mark.parametrize("encoding", ["rope", "rope_alibi"])
@pytest.mark.parametrize("rope_type", SCALINGS)
@pytest.mark.parametrize(("start", "count"), SPANS)
def test_rope_turns_by_the_frequencies_of_the_core(encoding, rope_type, start, count):
    scaling = SCALINGS[rope_type]
    q, k = normal(2, NUM_HEADS, count, HEAD_DIM), normal(2, NUM_HEADS, count, HEAD_DIM, seed=1)
    inv_freq, attention_factor = scaling.frequencies(rope.RoPE(HEAD_DIM, 500.0), start + count)
    # Hugging Face makes frequencies, positions and their product float32.
    at = np.arange(start, start + count, dtype=np.float32)[:, None]
    angles = (at * inv_freq.astype(np.float32)).astype(np.float64)
    found = doors(encoding, rope_theta=500.0, scaling=scaling).rotate(
        torch.tensor(q), torch.tensor(k), start
    )
    for one, x in zip(found, (q, k), strict=True):
        close(one, attention_factor * rope.turn(x, angles, "half"))


@pytest.mark.parametrize("rope_type", SCALINGS)
def test_near_the_beginning_float32_angles_are_those_of_rotate(rope_type):
    scaling = SCALINGS[rope_type]
    x = normal(1, NUM_HEADS, 12, HEAD_DIM)
    inv_freq, attention_factor = scaling.frequencies(rope.RoPE(HEAD_DIM), 12)
    found, _ = doors("rope", scaling=scaling).rotate(torch.tensor(x), torch.tensor(x))
    close(found, attention_factor * rope.rotate(x, np.arange(12), inv_freq))


@pytest.mark.parametrize("rope_type", ["yarn", "longrope"])
def test_the_attention_factor_enters_scores_as_its_square(rope_type):
    scaling = SCALINGS[rope_type]
    _, factor = scaling.frequencies(rope.RoPE(HEAD_DIM), 100)
    assert factor > 1.1
    q, k = (torch.tensor(normal(1, NUM_HEADS, 100, HEAD_DIM, seed=seed)) for seed in (2, 3))
    turned = doors("rope", scaling=scaling).rotate(q, k)
    inv_freq, _ = scaling.frequencies(rope.RoPE(HEAD_DIM), 100)
    bare = [rope.rotate(x.numpy(), np.arange(100), inv_freq) for x in (q, k)]
    scores, without = (a @ np.swapaxes(b, -1, -2) for a, b in ([x.numpy() for x in turned], bare))
    np.testing.assert_allclose(scores, factor**2 * without, atol=2e-5 * np.abs(without).max())


def test_a_method_that_depends_on_the_length_takes_that_of_the_context_so_far():
    x = torch.tensor(normal(1, NUM_HEADS, 80, HEAD_DIM))
    for rope_type in ("dynamic", "longrope"):
        positions = doors("rope", scaling=SCALINGS[rope_type])
        whole, part = positions.rotate(x, x)[0], positions.rotate(x[:, :, :60], x[:, :, :60])[0]
        assert (whole[:, :, :60] - part).abs().max() > 1e-3
        last, _ = positions.rotate(x[:, :, 79:], x[:, :, 79:], 79)
        assert torch.equal(last, whole[:, :, 79:])


@pytest.mark.parametrize("encoding", ["none", "sinusoidal", "learned", "t5", "alibi"])
def test_the_others_turn_nothing(encoding):
    x = torch.tensor(normal(1, NUM_HEADS, 5, HEAD_DIM))
    q, k = doors(encoding).rotate(x, x, 3)
    assert q is x
    assert k is x


# Bias.

LENGTHS = [(1, 1), (5, 5), (1, 90), (7, 90), (200, 200), (3, 1000)]


@pytest.mark.parametrize("encoding", ["alibi", "rope_alibi"])
@pytest.mark.parametrize("steeper", [1.0, 0.5, 0.0])
@pytest.mark.parametrize(("q_len", "k_len"), LENGTHS)
def test_alibi_is_the_bias_of_the_core(encoding, steeper, q_len, k_len):
    expected = alibi.bias_matrix(alibi.slopes(NUM_HEADS) * steeper, q_len, k_len)
    close(doors(encoding, slope_multiplier=steeper).bias(q_len, k_len), expected)


@pytest.mark.parametrize(("q_len", "k_len"), LENGTHS)
def test_t5_is_the_trained_table_read_by_the_core(q_len, k_len):
    positions = doors("t5")
    table = normal(32, NUM_HEADS)
    with torch.no_grad():
        positions.table.copy_(torch.tensor(table))
    expected = relative.t5_bias(q_len, k_len, table, 128, bidirectional=False)
    ahead = np.arange(k_len) > np.arange(k_len - q_len, k_len)[:, None]
    close(positions.bias(q_len, k_len), np.where(ahead, -np.inf, expected))


def test_t5_begins_as_alibi_as_far_as_each_distance_has_a_bucket():
    found = doors("t5").bias(16, 16)
    close(found, alibi.bias_matrix(NUM_HEADS, 16, 16))
    table = doors("t5").table.detach().numpy()
    assert (np.diff(table, axis=0) < 0).all()
    assert table[31] == pytest.approx(-91 * alibi.slopes(NUM_HEADS), rel=0.25)


@pytest.mark.parametrize("encoding", ["none", "sinusoidal", "learned", "rope"])
def test_the_others_have_no_bias(encoding):
    assert doors(encoding).bias(4, 9) is None


# Settings.


def test_the_trained_table_is_read_with_another_setting_and_trained_with_neither():
    positions = doors("t5")
    other = positions.with_setting(Setting("t5", slope_multiplier=2.0))
    assert other.table is positions.table
    assert positions.setting.slope_multiplier == 1.0
    assert list(dict(other.named_parameters())) == ["table"]
    x = torch.tensor(normal(1, NUM_HEADS, 9, HEAD_DIM))
    plainly = doors("rope")
    before = plainly.rotate(x, x)[0]
    scaled = plainly.with_setting(Setting("rope", scaling=Linear(4.0)))
    assert not torch.allclose(scaled.rotate(x, x)[0], before)
    assert torch.equal(plainly.rotate(x, x)[0], before)
    assert plain(scaled.setting) == plainly.setting


def test_tables_made_for_a_picture_can_be_trained_with():
    positions = doors("rope")
    x = torch.tensor(normal(1, NUM_HEADS, 9, HEAD_DIM), requires_grad=True)
    with torch.inference_mode():
        positions.rotate(x, x)
    positions.rotate(x, x)[0].sum().backward()
    assert x.grad is not None


def test_a_table_that_another_thread_forgets_is_still_returned():
    class Forgetting(dict):
        def __setitem__(self, name, value):
            super().__setitem__(name, value)
            self.clear()

    positions = doors("alibi")
    positions._kept = Forgetting()
    close(positions.bias(2, 5), alibi.bias_matrix(NUM_HEADS, 2, 5))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Setting("rotary"), "encoding must be one of none, sinusoidal, learned, t5, alibi"),
        (lambda: Setting("rope", 1.0), "rope_theta must be a finite number above 1, got 1"),
        (lambda: Setting("rope", scaling="yarn"), "scaling must be an object of the class"),
        (lambda: Setting("rope", scaling=Yarn), "scaling must be an object of the class"),
        (
            lambda: Setting("alibi", slope_multiplier=-1),
            "slope_multiplier must be a finite number of at least 0, got -1",
        ),
        (
            lambda: doors("rope").with_setting(Setting("alibi")),
            "encoding must be the trained one, rope, got alibi",
        ),
        (
            lambda: doors("rope", scaling=LongRope((1.0,), (2.0,), 64, 4.0)).rotate(
                torch.zeros(1, 3, 2, 16), torch.zeros(1, 3, 2, 16)
            ),
            "short_factor must have one number per pair, 8 here, got 1",
        ),
        (lambda: doors("alibi").bias(5, 4), "q_len must be a whole number from 1 to 4, got 5"),
        (lambda: doors("t5").bias(5, 4), "k_len must be a whole number of at least 5, got 4"),
    ],
)
def test_bad_settings_are_told(make, sentence):
    with pytest.raises(InvalidParameterError) as told:
        make()
    assert str(told.value).startswith(sentence)
