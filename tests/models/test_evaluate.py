"""What is measured of a model is what a plain forward pass would say, character by character."""

import json
import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from posviz import measured
from posviz.models import checkpoint, copying, evaluate, names
from posviz.models.positions import Setting
from posviz.models.transformer import Shape
from posviz.params import InvalidParameterError
from posviz.rope_scaling import DynamicNtk
from tests.models.untrained import lively, store

FLOOR = {
    "documents": 2,
    "lengths": list(measured.LENGTHS),
    "nats": np.linspace(1.2, 0.6, len(measured.LENGTHS)).tolist(),
    "repeated": [0.3] * len(measured.LENGTHS),
}


def small(encoding="rope", rope_theta=500.0, vocab_size=names.VOCABULARY):
    return lively(Shape(vocab_size, 2, 32, 2, 128), Setting(encoding, rope_theta))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("trained")
    for name in ("names-rope-500-seed0", "names-alibi-seed0", "copying-rope-seed0"):
        store(made, name)
    (made / "curves.json").write_text(
        json.dumps({"format": measured.FORMAT, "floor": FLOOR, "models": {}})
    )
    return made


def told(function, *arguments, **more):
    with pytest.raises(InvalidParameterError) as found:
        function(*arguments, **more)
    return str(found.value)


def plain_losses(model, tokens, setting=None):
    """Loss of every character of one text by one forward pass."""
    rows = torch.tensor(tokens[None].astype(np.int64))
    positions = model.positions.with_setting(setting or model.positions.setting)
    logits = model(rows[:, :-1], positions)[0]
    return cross_entropy(logits, rows[0, 1:], reduction="none").numpy()


def test_a_decoder_is_loaded_once_in_float32_and_only_to_be_read(folder):
    model = evaluate.decoder("names-rope-500-seed0", folder)
    assert model is evaluate.decoder("names-rope-500-seed0", folder)
    assert not model.training
    assert model.positions.setting == Setting("rope", 500.0)
    stored = checkpoint.load("names-rope-500-seed0", folder).weights
    for name, weight in model.named_parameters():
        assert weight.dtype == torch.float32
        assert not weight.requires_grad
        np.testing.assert_array_equal(weight.numpy(), stored[name].astype(np.float32))


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({}, "shape"),
        ({"shape": {"width": 3}}, "width"),
        ({"shape": {"vocab_size": 9, "num_layers": 1, "d_model": 8, "num_heads": 1, "max_len": 8},
          "encoding": "rope", "rope_theta": 500.0}, "Decoder"),
    ],
)  # fmt: skip
def test_weights_that_do_not_fit_their_card_get_a_sentence(tmp_path, card, reason):
    checkpoint.save(tmp_path / "odd.safetensors", card, {"w": np.zeros(2)}, {})
    sentence = told(evaluate.decoder, "odd", tmp_path)
    assert sentence.startswith("checkpoint must hold the model that its card tells of, got odd.saf")
    assert reason in sentence
    assert "\n" not in sentence


def test_an_unknown_model_gets_a_sentence(folder):
    assert "one of copying-rope-seed0, names-alibi" in told(evaluate.decoder, "gpt", folder)


def test_a_smaller_set_of_documents_is_part_of_a_larger_one():
    large, less = evaluate.documents(3, 700), evaluate.documents(2, 300)
    np.testing.assert_array_equal(less.tokens, large.tokens[:2, :301])
    np.testing.assert_array_equal(less.floor, large.floor[:2, :300])
    np.testing.assert_array_equal(less.kinds, large.kinds[:2, :300])
    assert (less.tokens[:, 0] == names.START).all()
    assert less.tokens.dtype == np.uint8
    floor, kinds = names.floor(names.decode(large.tokens[2]))
    np.testing.assert_array_equal(large.floor[2], floor)
    np.testing.assert_array_equal(large.kinds[2], kinds)
    assert "count must be" in told(evaluate.documents, 0)
    assert "from 1 to 4,096, got 4,097" in told(evaluate.documents, 2, 4097)


STATIC = [
    ("none", None), ("sinusoidal", None), ("t5", None), ("alibi", None), ("rope", None),
    *(("rope", measured.scaling(method, 4.0, 128)) for method in measured.METHODS[1:-1]
      if method != "dynamic"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "scaling"), STATIC, ids=lambda one: str(one)[:12])
def test_one_long_forward_gives_the_loss_of_every_shorter_one(encoding, scaling):
    model = small(encoding)
    setting = Setting(encoding, 500.0, scaling) if scaling else None
    tokens = evaluate.documents(1, 600).tokens
    found = evaluate.nats(model, tokens, setting)
    assert found.dtype == np.float32
    for length in (1, 64, 181, 512):
        alone = plain_losses(model, tokens[0, : length + 1], setting)
        np.testing.assert_allclose(found[0, :length], alone, atol=2e-5)


def test_dynamic_ntk_reads_each_length_on_its_own():
    model, tokens = small(), evaluate.documents(2, 600).tokens
    setting = Setting("rope", 500.0, DynamicNtk(1.0, 128))
    found = evaluate.nats(model, tokens, setting)
    covered = np.zeros(600, bool)
    for length in measured.LENGTHS[:7]:
        span = slice(3 * length // 4, length)
        covered[span] = True
        alone = plain_losses(model, tokens[1, : length + 1], setting)
        np.testing.assert_allclose(found[1, span], alone[span], atol=2e-5)
    np.testing.assert_array_equal(np.isnan(found[1]), ~covered)
    long = plain_losses(model, tokens[1], setting)
    span = slice(192, 256)
    assert np.abs(long[span] - found[1, span]).max() > 1e-2  # one long forward would not do
    within = slice(48, 64)  # up to the trained length it is the plain model
    np.testing.assert_allclose(found[1, within], evaluate.nats(model, tokens)[1, within], atol=2e-5)


def test_a_learned_table_ends_with_the_trained_context():
    model, tokens = small("learned"), evaluate.documents(2, 300).tokens
    found = evaluate.nats(model, tokens)
    assert np.isfinite(found[:, :128]).all()
    assert np.isnan(found[:, 128:]).all()


@pytest.mark.parametrize("encoding", ["rope", "t5"])
def test_a_text_is_read_alike_alone_and_among_others(encoding, monkeypatch):
    model, tokens = small(encoding), evaluate.documents(3, 700).tokens
    together = evaluate.nats(model, tokens)
    monkeypatch.setattr(evaluate, "_AT_ONCE", 700)
    np.testing.assert_allclose(evaluate.nats(model, tokens), together, atol=2e-5)


def test_a_bin_holds_the_contexts_above_three_quarters_of_its_length():
    for length in measured.LENGTHS:
        contexts = np.arange(1, length + 1)  # of characters 0, 1, ...: the start token alone, ...
        first = measured.bin_start(length)
        assert contexts[first] > 0.75 * length
        assert first == 0 or contexts[first - 1] <= 0.75 * length


def test_the_best_reader_lies_on_the_floor_whatever_documents_it_read():
    texts, lengths = evaluate.documents(3, 256), measured.LENGTHS[:5]
    floors = np.array(FLOOR["nats"][:5])
    for more in (0.0, 0.25):
        best = evaluate._summary(texts.floor + more, texts, lengths, floors)
        np.testing.assert_allclose(best.nats, floors + more, atol=1e-12)
        np.testing.assert_allclose(best.error, 0.0, atol=1e-12)
    np.testing.assert_allclose(best.perplexity, np.exp(best.nats))
    assert best.documents == 3


def test_the_error_is_that_of_the_mean_over_documents():
    texts, lengths = evaluate.documents(4, 64), (64,)
    levels = np.array([0.1, 0.2, 0.4, 0.5])
    found = evaluate._summary(texts.floor + levels[:, None], texts, lengths, np.array([1.0]))
    assert found.nats[0] == pytest.approx(1.3)
    assert found.error[0] == pytest.approx(np.std(levels, ddof=1) / 2)


def test_repeated_names_are_averaged_over_letters():
    texts, lengths = evaluate.documents(4, 512), (512,)
    rng = np.random.default_rng(0)
    losses = rng.random((4, 512))
    found = evaluate._summary(losses, texts, lengths, np.array([1.0]))
    letters = texts.kinds[:, 384:] == names.Kind.REPEATED_NAME
    assert found.repeated[0] == pytest.approx(losses[:, 384:][letters].mean())
    assert 0.0 < found.repeated_error[0] < 0.05
    assert evaluate._ratio(np.zeros(2), np.zeros(2, int))[0] is math.nan
    equal = evaluate._ratio(np.array([1.0, 3.0, 2.0]), np.array([1, 1, 1]))
    assert equal == pytest.approx((2.0, 1.0 / math.sqrt(3.0)))  # the plain standard error


def test_refining_reads_each_document_once_and_ends_at_the_direct_curve(folder, monkeypatch):
    read = []
    plain = evaluate.nats

    def counted(model, tokens, *rest):
        read.append(len(tokens))
        return plain(model, tokens, *rest)

    monkeypatch.setattr(evaluate, "nats", counted)
    setting = evaluate.read_with("names-rope-500-seed0", "yarn", 4.0, folder)
    steps = list(
        evaluate.refine("names-rope-500-seed0", setting, (2, 3, 5), longest=300, folder=folder)
    )
    assert read == [2, 1, 2]
    assert [step.documents for step in steps] == [2, 3, 5]
    for step in steps:
        direct = evaluate.curve(
            "names-rope-500-seed0", setting, measured.LENGTHS[:5], step.documents, folder
        )
        assert step.lengths == direct.lengths == measured.LENGTHS[:5]
        for field in ("nats", "error", "repeated", "repeated_error"):
            np.testing.assert_allclose(getattr(step, field), getattr(direct, field), atol=2e-5)


def test_a_window_is_read_like_a_document(folder):
    found = evaluate.sliding("names-alibi-seed0", 2, 91, 64, 16, folder)
    model, texts = evaluate.decoder("names-alibi-seed0", folder), evaluate.documents(2, 91)
    losses = np.zeros((2, 91))
    for row in range(2):
        tokens = texts.tokens[row]
        losses[row, :64] = plain_losses(model, tokens[:65])
        for begin, end in ((64, 80), (80, 91)):
            window = np.concatenate([[names.START], tokens[end - 63 : end + 1]])
            losses[row, begin:end] = plain_losses(model, window)[begin - end :]
    excess = (losses - texts.floor)[:, 68:91].mean(axis=1)
    assert found.lengths == (64, 91)
    assert found.nats[1] == pytest.approx(FLOOR["nats"][1] + excess.mean(), abs=2e-5)


def test_copying_counts_the_copied_symbols_that_come_first(folder):
    model = evaluate.decoder("copying-rope-seed0", folder)
    found = evaluate.copy_accuracy("copying-rope-seed0", None, (128, 192), 3, folder)
    shares = []
    for row in range(3):
        rng = np.random.default_rng((evaluate.EVALUATION_SEED, 192, row))
        tokens = copying.batch(rng, 1, 95)
        said = model(torch.tensor(tokens[:, :-1])).argmax(-1).numpy()[0]
        shares.append((said[96:] == tokens[0, 97:]).mean())
    assert found.lengths == (128, 192)
    assert found.accuracy[1] == pytest.approx(np.mean(shares))
    assert found.error[1] == pytest.approx(np.std(shares, ddof=1) / math.sqrt(3))
    assert "length must be even" in told(
        evaluate.copy_accuracy, "copying-rope-seed0", None, (129,), 2, folder
    )


def test_a_map_is_the_weights_and_its_cells_their_largest(folder, monkeypatch):
    tokens = evaluate.documents(1, 99).tokens[0]
    whole = evaluate.attention_map("names-alibi-seed0", tokens, 1, 2, folder=folder)
    model = evaluate.decoder("names-alibi-seed0", folder)
    rows = model.attention_rows(torch.tensor(tokens), torch.arange(100))
    np.testing.assert_allclose(whole, rows[1, 2].numpy(), atol=1e-6)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0, atol=1e-5)
    monkeypatch.setattr(evaluate, "_WEIGHTS_AT_ONCE", 7 * 9 * 100)
    cells = evaluate.attention_map("names-alibi-seed0", tokens, 1, 2, size=20, folder=folder)
    expected = whole.reshape(20, 5, 20, 5).max(axis=(1, 3))
    np.testing.assert_allclose(cells, expected, atol=1e-6)
    odd = evaluate.attention_map("names-alibi-seed0", tokens, 1, 2, size=7, folder=folder)
    assert odd.shape == (7, 7)
    assert odd.max() == pytest.approx(whole.max(), abs=1e-6)
    assert "head must be" in told(evaluate.attention_map, "names-alibi-seed0", tokens, 1, 3,
                                  folder=folder)  # fmt: skip


def test_a_model_is_read_with_a_method_by_name(folder):
    rope, alibi = "names-rope-500-seed0", "names-alibi-seed0"
    read = evaluate.read_with(rope, "yarn", 8.0, folder)
    assert read == Setting("rope", 500.0, measured.scaling("yarn", 8.0, 256))
    assert evaluate.read_with(alibi, "slopes", 2.0, folder) == Setting(
        "alibi", slope_multiplier=2.0
    )
    assert evaluate.read_with(alibi, folder=folder) == Setting("alibi")
    assert "needs an encoding with RoPE, got alibi" in told(
        evaluate.read_with, alibi, "ntk", 2.0, folder
    )
    assert "needs an encoding with ALiBi, got rope" in told(
        evaluate.read_with, rope, "slopes", 2.0, folder
    )
    assert "method must be one of default, linear" in told(
        evaluate.read_with, rope, "magic", 2.0, folder
    )


def test_bad_input_gets_a_sentence(folder):
    rope, copies = "names-rope-500-seed0", "copying-rope-seed0"
    assert "count must be a whole number of at least 2, got 1" in told(
        evaluate.curve, rope, count=1, folder=folder
    )
    assert "length must be one of 64, 91" in told(evaluate.curve, rope, None, (100,), folder=folder)
    assert "trained on names, got copying-rope-seed0" in told(evaluate.curve, copies, folder=folder)
    assert "trained on copying, got names-rope-500-seed0" in told(
        evaluate.copy_accuracy, rope, folder=folder
    )
    refined = evaluate.refine(rope, None, (4, 2), 64, folder)
    next(refined)
    assert "count must be a whole number of at least 5, got 2" in told(next, refined)
    assert "window must be" in told(evaluate.sliding, rope, 2, 128, 200, folder=folder)
