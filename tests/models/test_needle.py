"""Needles stand where they should, and what a model is told to find is what it finds."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from posviz import haystacks, rope_scaling
from posviz.models import checkpoint, names, needle, needles, recipes
from posviz.models.positions import Setting
from posviz.models.transformer import Decoder, Shape
from posviz.params import InvalidParameterError

SHAPE = Shape(names.VOCABULARY, num_layers=2, d_model=12, num_heads=2, max_len=256)
ENCODINGS = ("none", "sinusoidal", "alibi", "t5", "rope", "rope_alibi")
DYNAMIC = Setting("rope", scaling=rope_scaling.DynamicNtk(1.0, 256))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def decoder(encoding: str) -> Decoder:
    torch.manual_seed(5)
    model = Decoder(SHAPE, Setting(encoding))
    with torch.no_grad():  # so that attention and answers are no near-ties
        for block in model.blocks:
            block.attention.qkv.weight.mul_(3.0)
    return model.eval().requires_grad_(False)


class Reader:
    """A stand-in for a model: each next character is what ``knows`` says."""

    def __init__(self, knows) -> None:
        self.knows = knows
        self.shape = SHAPE

    def __call__(self, tokens, positions=None, cache=None):
        logits = torch.zeros(*tokens.shape, names.VOCABULARY)
        for row, text in enumerate(tokens):
            for at, token in enumerate(self.knows(text.tolist())):
                logits[row, at, token] = 30.0
        return logits


def copies(text):
    """Whatever stood after the last place where the name began so."""
    found = []
    for at in range(len(text)):
        begin = at
        while begin > 0 and text[begin] != 0 and text[begin - 1] != 0:
            begin -= 1
        part = text[begin : at + 1]
        places = [p for p in range(begin) if text[p : p + len(part)] == part]
        found.append(text[places[-1] + len(part)] if places else 0)
    return found


NO_DOORS = SimpleNamespace(setting=Setting("none"))


def refused(call) -> str:
    with pytest.raises(InvalidParameterError) as caught:
        call()
    return str(caught.value)


@pytest.fixture
def trained(tmp_path):
    for encoding in ("rope", "alibi", "learned"):
        model = decoder(encoding)
        card = {
            "name": f"names-{encoding}-seed0", "shape": asdict(SHAPE), "encoding": encoding,
            "rope_theta": 10_000.0,
        }  # fmt: skip
        weights = {name: w.detach().numpy() for name, w in model.named_parameters()}
        checkpoint.save(tmp_path / f"{card['name']}.safetensors", card, weights, {})
    return tmp_path


@pytest.mark.parametrize("length", [128, 129, 250, 512, 2048, 4096])
@pytest.mark.parametrize("number", [0, 7])
def test_a_haystack_is_as_long_as_asked_and_made_of_the_language(length: int, number: int) -> None:
    made = needle.haystack(length, number)
    assert names.tokens([made.text]).shape == (1, length)
    nats, _ = names.floor(made.text)  # refuses what no document can be
    assert np.isfinite(nats).all()


@pytest.mark.parametrize("length", needle.LENGTHS)
def test_each_needle_is_a_slot_at_its_depth(length: int) -> None:
    for number in range(8):
        made = needle.haystack(length, number)
        slots = made.text[: made.asked[0]].split(" ")[:-1]
        for depth, name, begin in zip(needle.DEPTHS, made.needles, made.stands, strict=True):
            assert slots.index(name) == round(depth * (len(slots) - 1))
            assert made.text[:begin].count(" ") == slots.index(name)
            assert made.text[begin : begin + 5] == f"{name} "
        assert made.stands[0] == 0


def test_a_needles_capital_begins_no_other_name_of_the_haystack() -> None:
    for length in needle.LENGTHS:
        for number in range(8):
            made = needle.haystack(length, number)
            before = made.text[: made.asked[0]]
            assert [before.count(name[0]) for name in made.needles] == [1] * 5
            assert len({name[0] for name in made.needles}) == 5


def test_all_questions_stand_at_the_end_with_their_answers() -> None:
    made = needle.haystack(512)
    assert made.text.endswith(" " + " ".join(made.needles))
    assert len(made.text) - made.asked[0] == 24
    for name, asked in zip(made.needles, made.asked, strict=True):
        assert made.text[asked : asked + 4] == name


def test_haystacks_are_drawn_by_number_and_length_alone() -> None:
    assert needle.haystack(256, 3) == needle.haystack(256, 3)
    different = {needle.haystack(length, n).text for length in (256, 257) for n in range(20)}
    assert len(different) == 40


def test_ordinary_characters_are_the_last_quarter_without_needles_and_questions() -> None:
    made = needle.haystack(512, 1)
    kept = "".join(c for c, is_one in zip(made.text, made.is_ordinary, strict=True) if is_one)
    end = made.asked[0]
    tail = made.text[end - end // 4 : end]
    late = made.needles[4] + " "
    assert late in tail
    cut = made.needles[3] + " "  # stands at three quarters, so it may be cut by the beginning
    rest = tail.replace(late, "").replace(cut, "")
    assert rest.endswith(kept)
    assert len(rest) - len(kept) < 5
    assert not any(name in kept for name in made.needles)


def test_floor_is_the_languages_own_for_these_characters() -> None:
    texts = [needle.haystack(256, number) for number in range(2)]
    total, count = 0.0, 0
    for made in texts:
        nats, _ = names.floor(made.text)
        total += sum(n for n, is_one in zip(nats, made.is_ordinary, strict=True) if is_one)
        count += int(made.is_ordinary.sum())
    assert needle.floor(texts) == pytest.approx(total / count, rel=1e-12)


@pytest.mark.parametrize("length", [128, 512])
def test_who_copies_finds_every_needle(length: int) -> None:
    column = needle.column(Reader(copies), NO_DOORS, length, 4)
    assert column.accuracy.tolist() == [1.0] * 5
    assert column.error.tolist() == [0.0] * 5
    assert column.possible


def test_who_sees_less_far_loses_the_far_needles_and_half_a_needle_counts_half() -> None:
    def sees_60_back(text):
        whole = copies(text)
        return [0 if at < len(text) - 24 else whole[at] if at - first_seen(text, at) < 60 else 0
                for at in range(len(text))]  # fmt: skip

    def first_seen(text, at):
        return max((p for p in range(at - 3) if text[p] == text[at]), default=-1000)

    column = needle.column(Reader(sees_60_back), NO_DOORS, 512, 6)
    expected = []
    for number in range(6):
        made = needle.haystack(512, number)
        text = names.tokens([made.text])[0].tolist()
        said = sees_60_back(text)
        expected.append([
            np.mean([said[text_at] == text[text_at + 1] for text_at in range(asked + 1, asked + 4)])
            for asked in made.asked
        ])  # fmt: skip
    np.testing.assert_allclose(column.accuracy, np.mean(expected, axis=0))
    np.testing.assert_allclose(column.error, np.std(expected, axis=0, ddof=1) / np.sqrt(6))
    assert column.accuracy[0] < 0.9
    assert column.accuracy[4] > column.accuracy[1]


def test_who_guesses_finds_one_letter_in_twenty() -> None:
    rng = np.random.default_rng(0)
    column = needle.column(Reader(lambda text: rng.integers(1, 21, len(text))), NO_DOORS, 128, 200)
    assert column.accuracy.mean() == pytest.approx(needle.CHANCE, abs=4 * 0.004)  # 3,000 letters
    spread = np.sqrt(0.05 * 0.95 / 600)
    np.testing.assert_allclose(column.error, spread, rtol=0.35)


def test_loss_is_that_of_the_ordinary_characters_alone() -> None:
    def knows_the_ordinary(text):
        made = next(
            one for one in map(lambda n: needle.haystack(256, n), range(2))
            if names.encode(one.text).tolist() == text[1:]
        )  # fmt: skip
        right = [*text[1:], 0]
        return [t if o else 46 for t, o in zip(right, [*made.is_ordinary, False], strict=True)]

    column = needle.column(Reader(knows_the_ordinary), NO_DOORS, 256, 2)
    assert column.nats == pytest.approx(0.0, abs=1e-9)
    assert column.accuracy.tolist() == [0.0] * 5


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_column_counts_what_its_cells_show(encoding: str) -> None:
    model = decoder(encoding)
    positions = model.positions.with_setting(model.positions.setting)
    column = needle.column(model, positions, 160, 3)
    for place in range(5):
        hits = []
        for number in range(3):
            made = needle.haystack(160, number)
            tokens = torch.from_numpy(names.tokens([made.text]))
            asked = made.asked[place]
            # Each letter on its own, from a text that ends before it.
            hits.append([
                int(model(tokens[:, : asked + 1 + j])[0, -1].argmax()) == tokens[0, asked + 1 + j]
                for j in (1, 2, 3)
            ])  # fmt: skip
        each = np.mean(hits, axis=1)
        assert column.accuracy[place] == pytest.approx(each.mean())
        assert column.error[place] == pytest.approx(each.std(ddof=1) / np.sqrt(3))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_cell_writes_the_same_with_kept_keys_and_without(encoding: str) -> None:
    model = decoder(encoding)
    cell = needle.detail(model, model.positions, 200, 0.5, number=1)
    tokens = torch.from_numpy(names.tokens([cell.text]))
    written = ""
    for _ in range(3):
        nxt = model(tokens)[:, -1, : names.START].argmax(-1, keepdim=True)
        written += names.decode(nxt[0].numpy())
        tokens = torch.cat([tokens, nxt], dim=1)
    assert cell.answer == written
    assert len(written) == 3


def test_a_cell_is_one_needle_of_the_haystack() -> None:
    model = decoder("alibi")
    made = needle.haystack(300, 2)
    for place, depth in enumerate(needle.DEPTHS):
        cell = needle.detail(model, model.positions, 300, depth, number=2)
        assert made.text.startswith(cell.text)
        assert cell.needle == made.needles[place]
        assert cell.text[slice(*cell.stands)] == cell.needle
        assert cell.question == cell.needle[0]
        assert len(cell.text) == made.asked[place] + 1
        tokens = torch.from_numpy(names.tokens([made.text]))
        chances = model(tokens)[0].double().softmax(-1)
        for j, letter in enumerate(cell.needle[1:]):
            expected = chances[made.asked[place] + 1 + j, names.ALPHABET.index(letter)]
            assert cell.probabilities[j] == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_attention_is_that_of_the_question_over_all_it_can_see(encoding: str) -> None:
    model = decoder(encoding)
    cell = needle.detail(model, model.positions, 200, 0.25)
    assert cell.attention.shape == (2, 2, len(cell.text) + 1)
    np.testing.assert_allclose(cell.attention.sum(-1), 1.0, rtol=1e-5)
    tokens = torch.from_numpy(names.tokens([cell.text]))[0]
    alone = model.attention_rows(tokens, torch.tensor([len(tokens) - 1]))[:, :, 0]
    np.testing.assert_allclose(cell.attention, alone, rtol=1e-4, atol=1e-7)
    begin, end = cell.stands
    assert names.decode(tokens[begin + 1 : end + 1].numpy()) == cell.needle
    expected = cell.attention[:, :, begin + 1 : end + 1].sum(-1)
    np.testing.assert_allclose(cell.share, expected)
    assert cell.share[cell.looking] == cell.share.max()


def test_dynamic_ntk_turns_by_the_length_of_the_whole_text() -> None:
    model = decoder("rope")
    positions = model.positions.with_setting(DYNAMIC)
    fixed = replace(DYNAMIC, scaling=rope_scaling.Ntk(DYNAMIC.scaling.stretch(512)))
    one = needle.detail(model, positions, 512, 0.5)
    other = needle.detail(model, model.positions.with_setting(fixed), 512, 0.5)
    np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-5)
    np.testing.assert_allclose(one.attention, other.attention, rtol=1e-4, atol=1e-7)
    columns = [
        needle.column(model, p, 512, 2) for p in (positions, model.positions.with_setting(fixed))
    ]
    assert columns[0].nats == pytest.approx(columns[1].nats, rel=1e-6)
    plain = needle.column(model, model.positions, 512, 2)
    assert abs(plain.nats - columns[0].nats) > 1e-4


def test_dynamic_ntk_writes_as_if_each_letter_came_alone() -> None:
    model = decoder("rope")
    read = needle.haystack(400).asked[4] + 2  # one more token, and every pair turns otherwise
    jump = Setting("rope", scaling=rope_scaling.DynamicNtk(1e5, read))
    positions = model.positions.with_setting(jump)
    cell = needle.detail(model, positions, 400, 0.95)
    tokens = torch.from_numpy(names.tokens([cell.text]))
    for letter in cell.answer:
        nxt = model(tokens, positions)[:, -1, : names.START].argmax(-1, keepdim=True)
        assert names.ALPHABET[int(nxt)] == letter
        tokens = torch.cat([tokens, nxt], dim=1)


def test_the_grid_of_a_checkpoint_comes_column_by_column(trained) -> None:
    name, setting = "names-rope-seed0", Setting("rope")
    grid = needle.fill(name, setting, 2, trained)
    model = decoder("rope")
    first = next(grid)
    assert first.length == 128
    rounded = needle.column(model, model.positions, 128, 2)  # the file is float16
    assert first.nats == pytest.approx(rounded.nats, abs=1e-2)
    assert [column.length for column in grid] == list(needle.LENGTHS[1:])
    cell = needle.cell(name, setting, 128, 0.25, 1, trained)
    assert cell.needle == needle.haystack(128, 1).needles[1]


@pytest.mark.parametrize("encoding", ["rope", "alibi"])
def test_a_whole_grid_takes_less_than_five_seconds(encoding: str) -> None:
    recipe, _ = recipes.named(f"names-{encoding}{'-500' * (encoding == 'rope')}-seed0")
    model = Decoder(recipe.shape, recipe.setting).eval().requires_grad_(False)
    positions = model.positions.with_setting(recipe.setting)
    started = time.process_time()  # what others do on the machine does not count
    for length in needle.LENGTHS:
        needle.column(model, positions, length)
    assert time.process_time() - started < 5.0


def test_a_learned_table_ends(trained) -> None:
    columns = list(needle.fill("names-learned-seed0", Setting("learned"), 2, trained))
    assert [column.possible for column in columns] == [True, True, False, False, False]
    assert np.isnan([columns[2].nats, *columns[2].accuracy, *columns[2].error]).all()
    assert np.isfinite([columns[1].nats, *columns[1].accuracy, columns[2].floor]).all()
    needle.cell("names-learned-seed0", Setting("learned"), 256, 0.95, folder=trained)
    said = refused(
        lambda: needle.cell("names-learned-seed0", Setting("learned"), 512, 0.5, folder=trained)
    )
    assert "a learned table has no row for it" in said


@pytest.mark.parametrize("length", [127, 4097, 0, -1, 256.0, "256", None, True])
def test_a_length_that_is_none_is_told(length) -> None:
    assert "length must be a whole number from 128 to 4,096" in refused(
        lambda: needle.haystack(length)
    )


@pytest.mark.parametrize("depth", [0.3, 1, 0.96, True, "0.5", None, float("nan"), -0.25])
def test_a_depth_that_is_none_is_told(depth) -> None:
    model = decoder("none")
    assert "depth must be" in refused(lambda: needle.detail(model, model.positions, 128, depth))


def test_other_bad_input_is_told_before_anything_is_read(trained) -> None:
    name, setting = "names-rope-seed0", Setting("rope")
    assert "haystacks must be" in refused(lambda: needle.fill(name, setting, 1, trained))
    assert "encoding must be the trained one, rope, got alibi" in refused(
        lambda: needle.fill(name, Setting("alibi"), 2, trained)
    )
    assert "model must be one of" in refused(lambda: needle.fill("copying", setting, 2, trained))
    assert "number must be" in refused(lambda: needle.haystack(128, -1))


def test_the_file_of_grids_holds_what_the_models_find(trained, monkeypatch) -> None:
    monkeypatch.setattr(needles, "HAYSTACKS", 2)
    monkeypatch.setattr(needle, "LENGTHS", (128, 257))
    monkeypatch.setattr(needles, "FACTORS", (4.0,))
    path = trained / "needles.json"
    needles.write(trained, quiet=True)
    assert haystacks.models(path) == (
        "names-alibi-seed0",
        "names-learned-seed0",
        "names-rope-seed0",
    )
    slopes = haystacks.grid("names-alibi-seed0", "slopes", 0.5, path)
    expected = list(
        needle.fill("names-alibi-seed0", Setting("alibi", slope_multiplier=0.5), 2, trained)
    )
    for at, column in enumerate(expected):
        np.testing.assert_allclose(slopes.accuracy[at], column.accuracy, atol=5e-4)
        np.testing.assert_allclose(slopes.error[at], column.error, atol=5e-4)
        assert slopes.nats[at] == pytest.approx(column.nats, abs=5e-5)
        assert slopes.floor[at] == pytest.approx(column.floor, abs=5e-5)
    assert (slopes.lengths, slopes.depths, slopes.haystacks) == ((128, 257), needle.DEPTHS, 2)
    learned = haystacks.grid("names-learned-seed0", path=path)
    assert np.isnan(learned.accuracy[1]).all() and np.isnan(learned.nats[1])
    for method in ("linear", "ntk", "dynamic", "yarn", "llama3"):
        assert haystacks.grid("names-rope-seed0", method, 4.0, path) is not None
    assert haystacks.grid("names-rope-seed0", "dynamic", 1.0, path) is not None
    assert haystacks.grid("names-rope-seed0", "yarn", 3.0, path) is None


def test_asking_again_reads_only_models_that_changed(trained, monkeypatch) -> None:
    monkeypatch.setattr(needles, "HAYSTACKS", 2)
    monkeypatch.setattr(needle, "LENGTHS", (128,))
    monkeypatch.setattr(needles, "FACTORS", ())
    monkeypatch.setattr(needles, "SLOPES", (0.5,))
    asked: list[str] = []
    fill = needle.fill

    def noted(name, *more):
        asked.append(name)
        if len(asked) == stop:
            raise KeyboardInterrupt
        return fill(name, *more)

    monkeypatch.setattr(needle, "fill", noted)
    stop = 3  # alibi is read twice, then the run is killed
    with pytest.raises(KeyboardInterrupt):
        needles.write(trained, quiet=True)
    path = trained / "needles.json"
    assert haystacks.models(path) == ("names-alibi-seed0",)
    stop = 0
    asked.clear()
    needles.write(trained, quiet=True)
    assert set(asked) == {"names-learned-seed0", "names-rope-seed0"}
    whole = path.read_bytes()
    asked.clear()
    needles.write(trained, quiet=True)
    assert asked == [] and path.read_bytes() == whole
    data = json.loads(whole)
    data["models"]["names-rope-seed0"]["sha256"] = "0"
    path.write_text(json.dumps(data))
    needles.write(trained, quiet=True)
    assert set(asked) == {"names-rope-seed0"} and path.read_bytes() == whole
    asked.clear()
    path.write_text(whole.decode()[:-40])
    needles.write(trained, quiet=True)
    assert len(set(asked)) == 3 and path.read_bytes() == whole
    (trained / "names-rope-seed0.safetensors").unlink()
    needles.write(trained, quiet=True)
    assert "names-rope-seed0" not in haystacks.models(path)
