"""What common position mistakes do to the trained models."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from posviz import haystacks, measured, rope
from posviz.models import evaluate, mistaken, needle
from posviz.models.positions import Positions, Setting
from posviz.models.transformer import Decoder
from posviz.params import InvalidParameterError
from posviz.rope_scaling import Yarn

HEAD_DIM, SEQ_LEN = 32, 300


def sides(pitfall, factor=4.0):
    """Model and setting, right and wrong."""
    return mistaken._sides(mistaken._MISTAKES[pitfall], factor)


def doors(pitfall, factor=4.0):
    return [model.positions.with_setting(setting) for model, setting in sides(pitfall, factor)]


def losses(side, length, count=2):
    model, setting = side
    return evaluate.nats(model, evaluate.documents(count, length).tokens, setting)


def with_weights(model, **changes):
    """The trained model behind the right doors with some of its weights changed."""
    other = Decoder(model.shape, model.positions.setting)
    weights = dict(model.state_dict())
    for name, change in changes.items():
        for key in weights:
            if key.endswith(name.replace("__", ".")):
                weights[key] = change(weights[key])
    other.load_state_dict(weights)
    return other.eval().requires_grad_(False)


def vectors(seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((2, 1, 3, SEQ_LEN, HEAD_DIM))  # q and k of 3 heads


def turned(positions, q, k):
    return [x.double().numpy() for x in positions.rotate(torch.tensor(q), torch.tensor(k))]


# What is told.


@pytest.fixture
def two_documents(monkeypatch):
    monkeypatch.setattr(mistaken, "_COUNTS", (1, 2))
    monkeypatch.setattr(mistaken, "_HAYSTACKS", 2)


@pytest.mark.parametrize("pitfall", mistaken.SHOWN)
def test_the_right_side_is_what_the_lab_measures_on_the_same_documents(pitfall, two_documents):
    first, second, last = mistaken.effects(pitfall, factor=1.5)
    (model, setting), _ = sides(pitfall, 1.5)
    assert (first.documents, second.documents, last.documents) == (1, 2, 2)
    assert (last.model, last.trained) == (mistaken.SHOWN[pitfall], 256)
    assert last.length == {"pairing": 256, "base": 256, "partial": 256, "left_padding": 181}.get(
        pitfall, 362
    )
    lengths = tuple(one for one in measured.LENGTHS if one <= last.length)
    assert last.positions.tolist() == [*lengths]
    expected = evaluate.curve(last.model, setting, lengths, 2)
    np.testing.assert_allclose(last.right, expected.nats, rtol=0, atol=2e-6)
    np.testing.assert_array_equal(last.wrong, second.wrong)
    assert second.right_found is None and second.wrong_found is None
    column = needle.column(model, model.positions.with_setting(setting), last.length, 2)
    assert last.right_found == pytest.approx(column.accuracy.mean())
    assert 0.0 <= last.wrong_found <= 1.0


def test_both_sides_are_the_numbers_of_other_pages_where_these_have_them(monkeypatch):
    monkeypatch.setattr(mistaken, "_COUNTS", (16,))
    *_, last = mistaken.effects("scaling_missing")
    for method, factor, nats, found in (
        ("yarn", 4.0, last.right, last.right_found),
        ("default", 1.0, last.wrong, last.wrong_found),
    ):
        known = measured.curve(last.model, method, factor)
        assert last.documents == known.documents
        np.testing.assert_allclose(nats, known.nats[: len(nats)], atol=1e-3)
        grid = haystacks.grid(last.model, method, factor)
        expected = grid.accuracy[grid.lengths.index(last.length)].mean()
        assert found == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("pitfall", mistaken.SHOWN)
def test_the_model_is_the_one_of_its_family_that_is_read_best(pitfall):
    mistake = mistaken._MISTAKES[pitfall]
    length = mistake.length or 1024
    family = mistake.model.rpartition("-seed")[0]
    factor = mistake.own or (1.0 if mistake.method == "default" else 4.0)

    def loss(name):
        curve = measured.curve(name, mistake.method, factor)
        return curve.nats[curve.lengths.index(length)]

    assert mistake.model == min(measured.models(family), key=loss)


def test_the_right_reading_holds_at_eight_times_the_trained_context():
    for pitfall, mistake in mistaken._MISTAKES.items():
        (_, setting), _ = sides(pitfall, 8.0)
        if mistake.length is None:
            factor = getattr(setting.scaling, "factor", 1.0)
            known = measured.curve(mistake.model, mistake.method, factor)
            within, beyond = (known.nats[known.lengths.index(at)] for at in (256, 2048))
            assert beyond < within + 0.1, pitfall


def test_most_mistakes_cost_much_and_two_hardly_anything():
    for pitfall in mistaken.SHOWN:
        effect = next(mistaken.effects(pitfall))
        cost = effect.wrong[-1] - effect.right[-1]
        if pitfall in ("mscale", "left_padding"):
            assert abs(cost) < 0.1, pitfall
        else:
            assert cost > 0.2, pitfall


def test_needles_are_lost_where_a_mistake_bites(two_documents):
    for pitfall, found in (("base", 0.6), ("scaling_missing", 0.8), ("position_dtype", 0.4)):
        *_, last = mistaken.effects(pitfall)
        assert last.right_found > 0.85
        assert last.wrong_found < found


@pytest.mark.parametrize("pitfall", ["mscale", "reciprocal", "scaling_missing", "scaling_twice",
                                     "dynamic_cache", "position_dtype"])  # fmt: skip
def test_at_factor_one_nothing_is_wrong(pitfall, two_documents):
    *_, last = mistaken.effects(pitfall, factor=1.0)
    assert last.length == 256
    np.testing.assert_allclose(last.wrong, last.right, atol=1e-4)
    assert last.wrong_found == last.right_found


def test_the_trained_model_stays_as_it_was():
    model = evaluate.decoder(mistaken.SHOWN["t5_direction"])
    before = {key: value.clone() for key, value in model.state_dict().items()}
    next(mistaken.effects("t5_direction", factor=1.0))
    assert type(model.positions) is Positions
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    for pitfall in mistaken.SHOWN:
        (right, _), (wrong, _) = sides(pitfall)
        assert all(torch.equal(a, b) for a, b in zip(right.parameters(), wrong.parameters(),
                                                      strict=True))  # fmt: skip


def test_the_first_answer_takes_less_than_a_second():
    evaluate.decoder(mistaken.SHOWN["dynamic_cache"])
    started = time.process_time()  # what others do on the machine does not count
    next(mistaken.effects("dynamic_cache"))
    assert time.process_time() - started < 1.0


def test_what_there_is_not_is_told_at_once():
    for pitfall in ("mrope", "", "Pairing"):
        with pytest.raises(InvalidParameterError, match=r"^pitfall must be one of pairing, base"):
            mistaken.effects(pitfall)
    for factor in (0.99, 16.5, float("nan"), "4"):
        with pytest.raises(InvalidParameterError, match=r"^factor must be a"):
            mistaken.effects("pairing", factor=factor)


# Each mistake is what it is called, said in another way.


def test_the_other_pairing_is_rope_of_interleaved_vectors():
    q, k = vectors()
    wrong_q, wrong_k = turned(doors("pairing")[1], q, k)
    inv_freq = rope.inv_freq(HEAD_DIM, 10_000.0)
    here, there = (
        rope.rotate(x, np.arange(SEQ_LEN), inv_freq, layout="interleaved") for x in (q, k)
    )
    np.testing.assert_allclose(
        wrong_q @ np.swapaxes(wrong_k, -1, -2), here @ np.swapaxes(there, -1, -2), atol=2e-3
    )


def test_the_other_pairing_is_the_right_one_for_permuted_weights():
    (model, setting), wrong = sides("pairing")
    order = [*range(0, HEAD_DIM, 2), *range(1, HEAD_DIM, 2)]

    def permuted(qkv):
        parts = qkv.clone().view(3, 3, HEAD_DIM, -1)  # q, k, v of each head
        parts[:2] = parts[:2, :, order]
        return parts.view_as(qkv)

    changed = with_weights(model, qkv__weight=permuted)
    np.testing.assert_allclose(losses(wrong, 256), losses((changed, setting), 256), atol=1e-4)


def test_the_wrong_base_is_a_setting_with_that_base():
    (model, setting), wrong = sides("base")
    other = replace(setting, rope_theta=500.0)
    np.testing.assert_array_equal(losses(wrong, 256), losses((model, other), 256))


def test_a_base_too_small_costs_more_than_one_too_large():
    small = next(mistaken.effects("base"))
    model = evaluate.decoder("names-rope-500-seed2")
    large = losses((model, Setting("rope", 10_000.0)), 256) - losses((model, None), 256)
    assert small.wrong[-1] - small.right[-1] > 3.0 * large[:, 192:].mean() > 0.0


def test_without_scaling_the_model_reads_as_trained():
    (model, _), wrong = sides("scaling_missing")
    np.testing.assert_array_equal(losses(wrong, 400), losses((model, None), 400))


@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_scaled_twice_is_yarn_at_positions_divided_by_the_factor(factor):
    q, k = vectors()
    (_, setting), _ = sides("scaling_twice", factor)
    inv_freq, size = setting.scaling.frequencies(rope.RoPE(HEAD_DIM))
    _, wrong = doors("scaling_twice", factor)
    for found, x in zip(turned(wrong, q, k), (q, k), strict=True):
        expected = size * rope.rotate(x, np.arange(SEQ_LEN) / factor, inv_freq)
        np.testing.assert_allclose(found, expected, atol=2e-4)


@pytest.mark.parametrize("factor", [2.0, 4.0, 7.5])
def test_a_reciprocal_factor_is_the_yarn_of_the_reference_given_it(factor):
    (_, setting), (_, wrong) = sides("reciprocal", factor)
    given = 1.0 / factor
    found, attention_factor = wrong.scaling.frequencies(rope.RoPE(HEAD_DIM))
    # As _compute_yarn_parameters of Hugging Face, written out.
    pos_freqs = 10_000.0 ** (np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    low, high = setting.scaling.correction_range(rope.RoPE(HEAD_DIM))
    extrapolation = 1.0 - np.clip((np.arange(16) - low) / (high - low), 0.0, 1.0)
    expected = (1.0 / (given * pos_freqs)) * (1.0 - extrapolation) + extrapolation / pos_freqs
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert attention_factor == 1.0  # get_mscale of a scale of at most 1
    assert found[0] == 1.0 and found[-1] == pytest.approx(factor * pos_freqs[-1] ** -1)


def test_the_attention_factor_applied_twice_is_that_of_sglangs_report():
    yarn = Setting("rope", scaling=Yarn(128.0, 4096))
    wrong = mistaken._squared(yarn, 128.0)
    inv_freq, factor = wrong.scaling.frequencies(rope.RoPE(64))
    assert factor == pytest.approx(2.2058280, abs=1e-7)
    right, once = yarn.scaling.frequencies(rope.RoPE(64))
    np.testing.assert_array_equal(inv_freq, right)
    assert once == pytest.approx(1.4852030, abs=1e-7)


def test_partial_rotary_turns_the_first_half_and_leaves_the_rest():
    q, k = vectors()
    inv_freq = rope.inv_freq(16, 10_000.0)
    for found, x in zip(turned(doors("partial")[1], q, k), (q, k), strict=True):
        expected = rope.rotate(x, np.arange(SEQ_LEN), inv_freq)
        np.testing.assert_allclose(found, expected, atol=2e-4)
        np.testing.assert_array_equal(found[..., 16:], x[..., 16:])


@pytest.mark.parametrize(
    ("pitfall", "slopes"),
    [("slopes", [0.1574901, 0.0248031, 0.00390625]), ("slopes_off_by_one", [1.0, 0.0625, 1.0])],
)
def test_slopes_are_the_wrong_ones(pitfall, slopes):
    for positions, steep in zip(doors(pitfall), ([2**-4, 2**-8, 2**-2], slopes), strict=True):
        bias = positions.bias(2, 101)
        np.testing.assert_allclose(bias[:, 1, 90], np.multiply(-10.0, steep), rtol=1e-5)
        assert bias[0, 0, 100] == -np.inf


def test_counted_from_zero_eight_heads_have_the_slopes_of_the_report():
    positions = mistaken._SlopesFromZero(Setting("alibi"), 128, 8, 256)
    found = -positions.bias(1, 2)[:, 0, 0]
    assert (float(found[0]), float(found[7])) == (1.0, 0.0078125)


def test_with_the_direction_flipped_t5_reads_as_if_all_buckets_were_the_first():
    (model, setting), wrong = sides("t5_direction")
    flat = with_weights(model, positions__table=lambda table: table[:1].expand_as(table))
    np.testing.assert_allclose(losses(wrong, 700), losses((flat, setting), 700), atol=1e-5)


def test_an_old_cache_is_what_the_trained_model_does_with_its_own():
    (model, setting), (wrong, _) = sides("dynamic_cache")
    tokens = torch.tensor(evaluate.documents(1, 512).tokens[:, :320]).long()
    positions, cache = model.positions.with_setting(setting), []
    with torch.inference_mode():
        said = [model(tokens[:, :200], positions, cache)]  # a prompt within the trained context
        said += [model(tokens[:, at : at + 1], positions, cache) for at in range(200, 320)]
        once = wrong(tokens, wrong.positions.with_setting(setting))
    np.testing.assert_allclose(torch.cat(said, dim=1), once, atol=2e-4)
    again = model(tokens, positions)
    assert (again - once).abs().max() > 1.0


def test_positions_in_bfloat16_are_torchs_and_change_nothing_up_to_256():
    q, k = vectors()
    right, wrong = doors("position_dtype")
    at = torch.arange(SEQ_LEN).bfloat16().long()
    assert at[257] == 256 and at[299] == 300
    longer = np.concatenate([q, q[..., :1, :]], axis=-2)  # room for position 300
    longer[...] = q[..., :1, :]
    same, _ = turned(right, longer, longer)  # one vector at every position
    found, _ = turned(wrong, longer[..., :SEQ_LEN, :], k)
    np.testing.assert_array_equal(found, same[..., at.numpy(), :])
    right, wrong = (losses(side, 400) for side in sides("position_dtype"))
    np.testing.assert_array_equal(wrong[:, :257], right[:, :257])
    assert (wrong[:, 258:].mean() - right[:, 258:].mean()) > 1.0


def test_counted_padding_is_a_table_without_its_first_rows():
    (model, setting), wrong = sides("left_padding")
    moved = with_weights(model, positions__table=lambda table: table.roll(-75, 0))
    np.testing.assert_array_equal(losses(wrong, 181), losses((moved, setting), 181))
    assert np.abs(losses(wrong, 181) - losses((model, setting), 181)).max() > 0.5


def test_counted_padding_does_nothing_to_rope():
    model = evaluate.decoder("names-rope-10000-seed2")
    tokens = torch.tensor(evaluate.documents(1, 181).tokens).long()
    padding = torch.zeros(1, 3, 75, HEAD_DIM)

    class Padded(Positions):
        def rotate(self, q, k, start=0):
            q, k = super().rotate(*(torch.cat([padding, x], dim=2) for x in (q, k)))
            return q[:, :, 75:], k[:, :, 75:]

    said = model(tokens)
    shifted = mistaken._behind(Padded, model)(tokens)
    apart = [cross_entropy(one[0, :-1], tokens[0, 1:], reduction="none") for one in (said, shifted)]
    np.testing.assert_allclose(*apart, atol=1e-3)
