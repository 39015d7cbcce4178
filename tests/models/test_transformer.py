"""The decoder: nothing from ahead, the same with a cache, in chunks and at any length."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from posviz import attention
from posviz.models import transformer
from posviz.models.positions import ENCODINGS, Setting
from posviz.models.transformer import CHUNK, Decoder, Shape
from posviz.params import InvalidParameterError
from posviz.rope_scaling import DynamicNtk, Linear, Llama3, LongRope, Ntk, Yarn

SHAPE = Shape(vocab_size=20, num_layers=2, d_model=24, num_heads=3, max_len=64)
STATIC = {
    **{encoding: Setting(encoding, 100.0) for encoding in ENCODINGS},
    **{
        f"rope {scaling.rope_type}": Setting("rope", 100.0, scaling)
        for scaling in (Linear(4.0), Ntk(4.0), Yarn(4.0, 16, 8.0), Llama3(4.0, 16))
    },
    "steeper alibi": Setting("alibi", slope_multiplier=2.0),
}
DYNAMIC = Setting("rope", 100.0, DynamicNtk(2.0, 16))
LONGROPE = Setting("rope", 100.0, LongRope((1.0,) * 4, (1.0, 2.0, 3.0, 4.0), 16, 4.0))


def model(setting, shape=SHAPE, seed=0):
    torch.manual_seed(seed)
    made = Decoder(shape, setting)
    with torch.no_grad():  # a table that is no formula, so that a wrong row shows
        for table in made.positions.parameters():
            table.add_(0.3 * torch.randn_like(table))
    return made.requires_grad_(False)


def text(batch, seq_len, seed=0):
    return torch.tensor(np.random.default_rng(seed).integers(20, size=(batch, seq_len), dtype="u1"))


def room(setting, seq_len):
    """The usual shape; a learned table gets a row per token."""
    return replace(SHAPE, max_len=max(seq_len, 64)) if setting.encoding == "learned" else SHAPE


def one_by_one(decoder, tokens, first):
    """Logits with a cache: ``first`` tokens at once, then each on its own."""
    cache = []
    parts = [decoder(tokens[:, :first], cache=cache)]
    parts += [decoder(tokens[:, at : at + 1], cache=cache) for at in range(first, tokens.shape[1])]
    assert cache[0][0].shape == (len(tokens), 3, tokens.shape[1], 8)
    assert len(cache) == 2
    return torch.cat(parts, dim=1)


settings = pytest.mark.parametrize("setting", STATIC.values(), ids=STATIC)


@pytest.mark.parametrize("setting", [*STATIC.values(), DYNAMIC, LONGROPE], ids=str)
def test_a_later_token_changes_no_earlier_logit(setting):
    decoder, tokens = model(setting), text(2, 40)
    before = decoder(tokens)
    for at in (1, 17, 39):
        changed = tokens.clone()
        changed[:, at] = (changed[:, at] + 7) % 20
        after = decoder(changed)
        assert torch.equal(after[:, :at], before[:, :at])
        assert (after[:, at:] - before[:, at:]).abs().amax(-1).min() > 0


@settings
@pytest.mark.parametrize("first", [1, 7, 30])
def test_decoding_with_a_cache_equals_the_whole_forward(setting, first):
    decoder, tokens = model(setting), text(2, 31)
    torch.testing.assert_close(
        one_by_one(decoder, tokens, first), decoder(tokens), rtol=1e-5, atol=1e-5
    )


@settings
def test_a_cache_takes_several_tokens_at_once(setting):
    decoder, tokens, cache = model(setting), text(1, 31), []
    parts = [decoder(part, cache=cache) for part in tokens.split([5, 1, 14, 11], dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), decoder(tokens), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("setting", [DYNAMIC, LONGROPE], ids=["dynamic", "longrope"])
def test_frequencies_that_follow_the_length_make_a_cache_differ_past_the_trained_one(setting):
    # Keys in the cache were turned by the frequencies of their own time.
    decoder, tokens = model(setting), text(2, 31)
    within = one_by_one(decoder, tokens[:, :16], 4), decoder(tokens[:, :16])
    torch.testing.assert_close(*within, rtol=1e-5, atol=1e-5)
    past = (one_by_one(decoder, tokens, 4) - decoder(tokens)).abs().amax((0, 2))
    assert past[-1] > 1e-3


@settings
def test_one_long_forward_equals_short_ones(setting):
    decoder, tokens = model(setting), text(2, 60)
    whole = decoder(tokens)
    for length in (1, 16, 33):
        torch.testing.assert_close(
            whole[:, :length], decoder(tokens[:, :length]), rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize("setting", [DYNAMIC, LONGROPE], ids=["dynamic", "longrope"])
def test_frequencies_that_follow_the_length_make_a_long_forward_another_one(setting):
    decoder, tokens = model(setting), text(2, 60)
    assert (decoder(tokens)[:, :12] - decoder(tokens[:, :12])).abs().max() > 1e-3
    short = [decoder(tokens[:, :length])[:, :9] for length in (9, 16)]
    torch.testing.assert_close(*short, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("encoding", ["t5", "alibi", "rope_alibi"])
@pytest.mark.parametrize("chunk", [1, 7, 16, 39])
def test_attention_in_chunks_equals_that_at_once(encoding, chunk, monkeypatch):
    decoder, tokens = model(Setting(encoding)), text(2, 40)
    whole, (cache, parts) = decoder(tokens), ([], [])
    monkeypatch.setattr(transformer, "CHUNK", chunk)
    torch.testing.assert_close(decoder(tokens), whole, rtol=1e-5, atol=1e-5)
    parts = [decoder(part, cache=cache) for part in tokens.split([3, 1, 36], dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("encoding", ["t5", "alibi", "rope_alibi"])
def test_the_real_chunk_is_crossed_without_a_seam(encoding, monkeypatch):
    seq_len = 2 * CHUNK + 76
    decoder, tokens = model(Setting(encoding)), text(1, seq_len)
    found, cache = decoder(tokens), []
    parts = [decoder(part, cache=cache) for part in tokens.split([100, seq_len - 100], dim=1)]
    monkeypatch.setattr(transformer, "CHUNK", seq_len)
    whole = decoder(tokens)
    torch.testing.assert_close(found, whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(torch.cat(parts, 1), whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("setting", [*STATIC.values(), DYNAMIC, LONGROPE], ids=str)
def test_attention_rows_are_the_softmax_of_scores_written_out(setting):
    decoder, tokens = model(setting), text(1, 37)[0]
    queries = torch.tensor([36, 0, 20, 20])
    found = decoder.attention_rows(tokens, queries).numpy()
    assert found.shape == (2, 3, 4, 37)
    np.testing.assert_allclose(found.sum(-1), 1.0, rtol=1e-6)
    assert (found[:, :, 1, 1:] == 0).all()
    assert (found[:, :, 2, 21:] == 0).all()
    doors = decoder.positions
    x = doors.add(decoder.embedding(tokens[None].long()))
    bias = doors.bias(37, 37)
    ahead = np.where(attention.causal_mask(37), 0.0, -np.inf) if bias is None else bias.numpy()
    for layer, block in enumerate(decoder.blocks):
        q, k, v = (
            part.view(37, 3, 8).transpose(0, 1)[None]
            for part in block.attention.qkv(block.norm_attention(x))[0].split(24, dim=-1)
        )
        q, k = doors.rotate(q, k)
        weights = attention.softmax((q @ k.mT).numpy()[0] / np.sqrt(8.0) + ahead)
        np.testing.assert_allclose(found[layer], weights[:, queries], rtol=1e-4, atol=1e-6)
        mixed = torch.tensor(weights, dtype=torch.float32) @ v[0]  # (num_heads, seq_len, head_dim)
        x = x + block.attention.out(mixed.transpose(0, 1).flatten(1))[None]
        x = x + block.mlp(block.norm_mlp(x))
    logits = decoder.norm(x) @ decoder.embedding.weight.T
    torch.testing.assert_close(decoder(tokens[None]), logits, rtol=1e-4, atol=1e-5)


def test_rows_of_attention_do_not_care_for_the_chunk(monkeypatch):
    decoder, tokens = model(Setting("t5")), text(1, 37)[0]
    queries = torch.arange(37)
    before = decoder.attention_rows(tokens, queries)
    monkeypatch.setattr(transformer, "CHUNK", 5)
    torch.testing.assert_close(decoder.attention_rows(tokens, queries), before)


@settings
def test_other_doors_are_used_wherever_they_are_given(setting):
    # A model trained plainly, read with a setting, is the model that has this setting.
    trained = model(Setting(setting.encoding, 100.0))
    doors = trained.positions.with_setting(setting)
    other, tokens = model(setting), text(1, 40)
    queries = torch.tensor([39])
    assert torch.equal(trained(tokens, doors), other(tokens))
    assert torch.equal(
        trained.attention_rows(tokens[0], queries, doors), other.attention_rows(tokens[0], queries)
    )
    assert torch.equal(trained(tokens, doors, []), other(tokens))


def test_without_positions_only_the_mask_of_a_deeper_model_tells_the_order():
    tokens = text(1, 30)
    mixed = tokens.clone()
    mixed[0, :29] = tokens[0, torch.randperm(29, generator=torch.Generator().manual_seed(0))]
    for num_layers, told in ((1, False), (2, True)):
        decoder = model(Setting("none"), replace(SHAPE, num_layers=num_layers))
        gap = (decoder(mixed)[0, -1] - decoder(tokens)[0, -1]).abs().max()
        assert (gap > 1e-3) == told
        assert told or gap < 1e-5
    for encoding in ENCODINGS[1:]:
        decoder = model(Setting(encoding), replace(SHAPE, num_layers=1))
        assert (decoder(mixed)[0, -1] - decoder(tokens)[0, -1]).abs().max() > 1e-3


@pytest.mark.parametrize("rope_theta", [500.0, 10_000.0])
def test_looking_back_a_head_begins_with_a_score_that_peaks_one_token_back(rope_theta):
    decoder = model(Setting("rope", rope_theta), Shape(20, 3, 96, 3, 64))
    before = [block.attention.qkv.weight.clone() for block in decoder.blocks]
    decoder.look_back()
    for block, weight in zip(decoder.blocks, before, strict=True):
        assert torch.equal(block.attention.qkv.weight[192:], weight[192:])  # values stay
        # What does not depend on the token is the bias of the layer norm, at every position.
        alike = block.norm_attention.bias.expand(1, 60, 96)
        q, k, _ = block.attention.project(alike, decoder.positions, 0)
        scores = (q @ k.mT)[0, :, 50, :51] / 32**0.5
        first, *others = scores
        assert int(first.argmax()) == 49
        nearest = torch.stack([first[48], first[50]])
        assert (first[49] - nearest).min() > 4.0  # e^4 times the weight of its neighbours
        assert all(one.abs().max() < 1e-3 for one in others)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_weight_is_trained(encoding):
    decoder = model(Setting(encoding)).requires_grad_(True)
    decoder(text(2, 64)).logsumexp(-1).sum().backward()
    assert all(w.grad is not None and w.grad.abs().max() > 0 for w in decoder.parameters())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_text_is_read_alike_alone_and_beside_others(encoding):
    decoder, tokens = model(Setting(encoding)), text(3, 40)
    torch.testing.assert_close(decoder(tokens)[1:2], decoder(tokens[1:2]), rtol=1e-5, atol=1e-5)
    with torch.inference_mode():
        inside = decoder(tokens)
    assert torch.equal(inside, decoder(tokens))


def test_the_first_weights_are_a_function_of_the_seed():
    one, again, other = (model(Setting("t5"), seed=seed) for seed in (1, 1, 2))
    for name, weight in one.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
    assert not torch.equal(one.embedding.weight, other.embedding.weight)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Shape(20, 0, 24, 3, 64), "num_layers must be a whole number of at least 1, got 0"),
        (
            lambda: Shape(20, 2, 27, 3, 64),
            "d_model must be a multiple of twice num_heads, 6, got 27",
        ),
        (
            lambda: Shape(20, 2, 24, 3, 2.5),
            "max_len must be a whole number of at least 1, got 2.5",
        ),
        (
            lambda: model(Setting("none"))(text(1, 5)[0]),
            "tokens must have the axes (batch, seq_len), got an array of shape (5,)",
        ),
        (
            lambda: model(Setting("none"))(text(1, 0)),
            "tokens must have the axes (batch, seq_len), got an array of shape (1, 0)",
        ),
        (
            lambda: model(Setting("none"))(torch.tensor([[3, 20]])),
            "tokens must be whole numbers from 0 to 19, got 20",
        ),
        (
            lambda: model(Setting("none"))(torch.tensor([[3.5]])),
            "tokens must be whole numbers from 0 to 19, got 3.5",
        ),
        (
            lambda: model(Setting("none")).attention_rows(text(1, 5), torch.tensor([1])),
            "tokens must have the axes (seq_len), got an array of shape (1, 5)",
        ),
        (
            lambda: model(Setting("none")).attention_rows(text(1, 5)[0], torch.tensor([5])),
            "queries must be whole numbers from 0 to 4, got 5",
        ),
        (
            lambda: model(Setting("learned"))(text(1, 65)),
            "position must be a whole number from 0 to 63, got 64: a learned table has no row",
        ),
    ],
)
def test_bad_shapes_are_told(make, sentence):
    with pytest.raises(InvalidParameterError) as told:
        make()
    assert str(told.value).startswith(sentence)
