"""Every encoding on one head, against its own module and numbers worked out by hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from posviz import (
    alibi,
    attention,
    catalog,
    comparison,
    order,
    relative,
    rope,
    sinusoidal,
    transformer_xl,
    xpos,
)
from posviz.catalog import Shape
from posviz.comparison import Setting, Tables
from posviz.params import InvalidParameterError

D, COUNT = 12, 9
RNG = np.random.default_rng(5)
TABLES = Tables(RNG.standard_normal((40, D)), RNG.standard_normal((32, 4)))
SETTING = Setting(rope_theta=500.0, head=3, seed=2)
RELATIVE = ("shaw", "t5", "transformer_xl", "rope", "alibi", "xpos")
each = pytest.mark.parametrize("name", catalog.NAMES)


def words(variety: float = 1.0, strength: float = 1.0) -> np.ndarray:
    return comparison.words(COUNT, D, variety, strength, 7)


def content(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys without a position."""
    w_q, w_k = np.random.default_rng(SETTING.seed).standard_normal((3, D, D))[:2] / math.sqrt(D)
    return x @ w_q, x @ w_k


# The scores.


@pytest.mark.parametrize(
    ("name", "known"),
    [("none", "causal"), ("sinusoidal", "sinusoidal"), ("rope", "rope"), ("alibi", "alibi")],
)
def test_it_is_the_head_of_the_page_why_order_matters(name: str, known: str) -> None:
    x = words()
    setting = Setting(head=3, seed=2)
    own = attention.softmax(comparison.scores(name, x, TABLES, setting))
    slope = alibi.slopes(4)[2] / order.ALIBI_SLOPE
    theirs = order.attend(x, known, slope if name == "alibi" else 1.0, 2).weights
    seen = np.where(attention.causal_mask(COUNT), theirs, 0.0)
    np.testing.assert_allclose(own, seen / seen.sum(axis=1, keepdims=True), atol=1e-14)


@each
def test_each_score_is_what_the_encoding_says_of_that_query_and_key(name: str) -> None:
    x = words(0.7)
    found = comparison.scores(name, x, TABLES, SETTING)
    q, k = content(x)
    random = transformer_xl.random_head(D, D, SETTING.seed)
    inv_freq, zeta = rope.inv_freq(D, 500.0), xpos.zeta(D)
    pairs = [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]
    size = math.sqrt(0.5 / (np.asarray(TABLES.learned) ** 2).mean())
    shaw = relative.shaw_random(1, 16, D, SETTING.seed)[2]
    for i in range(COUNT):
        for j in range(COUNT):
            if j > i:
                assert found[i, j] == -math.inf
                continue
            place = {
                "sinusoidal": lambda p: sinusoidal.encoding(np.array([p]), D)[0],
                "learned": lambda p: size * np.asarray(TABLES.learned)[p],
            }
            if name in place:
                (qi, _), (_, kj) = (content(x[p] + place[name](p)) for p in (i, j))
                expected = qi @ kj
            elif name == "shaw":
                expected = q[i] @ (k[j] + shaw[16 + max(j - i, -16)])
            elif name == "transformer_xl":
                r = random.r_weight @ sinusoidal.encoding(np.array([i - j]), D, layout="halves")[0]
                expected = (q[i] + random.u[0]) @ k[j] + (q[i] + random.v[0]) @ r
            elif name == "rope":
                expected = rope.rotate(q[i], i - j, inv_freq) @ k[j]
            elif name == "xpos":
                expected = xpos.scores(q[i][pairs], k[j][pairs], i - j, inv_freq, zeta)
            else:
                expected = q[i] @ k[j]
            expected = expected / math.sqrt(D)
            if name == "alibi":
                expected -= alibi.slopes(4)[2] * (i - j)
            if name == "t5":
                expected += np.asarray(TABLES.t5)[min(i - j, 15), 2]  # near: a bucket each
            assert found[i, j] == pytest.approx(expected, abs=1e-12)


def test_without_content_only_what_needs_none_is_left() -> None:
    seen = attention.causal_mask(COUNT)
    left = {name for name in catalog.NAMES
            if comparison.scores(name, words(strength=0.0), TABLES)[seen].any()}  # fmt: skip
    assert left == {"sinusoidal", "learned", "t5", "transformer_xl", "alibi"}


@each
def test_over_equal_words_distance_explains_all_of_a_relative_encoding(name: str) -> None:
    share = comparison.off_diagonal_share(comparison.scores(name, words(0.0), TABLES))
    if name == "none":
        assert share is None
    elif name in RELATIVE:
        assert share is not None
        assert share < 1e-20
    else:
        assert share is not None
        assert share > 0.3


def test_the_share_is_what_the_diagonals_leave() -> None:
    hidden = math.inf
    found = [[1.0, hidden, hidden], [0.0, 3.0, hidden], [5.0, 0.0, 2.0]]
    # Means 2, 0 and 5 of the diagonals leave 1 + 1; the mean of all six is 11/6.
    total = sum((one - 11 / 6) ** 2 for one in (1, 3, 2, 0, 0, 5))
    assert comparison.off_diagonal_share(found) == pytest.approx(2 / total)
    assert comparison.off_diagonal_share([[4.0]]) is None


def test_a_longer_text_begins_the_same_and_variety_mixes() -> None:
    long, short = comparison.words(30, D, 0.4, seed=3), comparison.words(7, D, 0.4, seed=3)
    np.testing.assert_array_equal(long[:7], short)
    assert np.ptp(comparison.words(7, D, 0.0), axis=0).max() == 0
    many = comparison.words(4000, D, 1.0, 2.0)
    assert many.std() == pytest.approx(2.0, rel=0.02)


# By distance.


@each
def test_a_part_by_distance_is_what_it_is_said_to_be(name: str) -> None:
    length = 60
    found = comparison.term(name, length, TABLES, SETTING)
    inv_freq, ones = rope.inv_freq(D, 500.0), np.ones(D)
    random = transformer_xl.random_head(D, D, SETTING.seed)
    rows = TABLES.rows
    shaw = relative.shaw_random(1, 16, D, SETTING.seed)[2]
    query = np.random.default_rng([SETTING.seed, 4]).standard_normal(D)
    root = math.sqrt(D)
    for far in (0, 1, 5, 15, 16, 39, 40, 59):
        if name == "learned" and far >= 40:
            assert len(found) == 40
            continue
        expected = {
            "none": lambda far: 0.0,
            "sinusoidal": lambda far: sinusoidal.dot_product(far, D) / root,
            "learned": lambda far: np.mean([rows[p] @ rows[p + far] for p in range(40 - far)])
            / root,
            "shaw": lambda far: query @ shaw[16 - min(far, 16)] / root,
            "t5": lambda far: np.asarray(TABLES.t5)[
                relative.t5_bucket(-far, bidirectional=False), 2
            ],
            "transformer_xl": lambda far: random.v[0]
            @ random.r_weight @ sinusoidal.encoding(np.array([far]), D, layout="halves")[0] / root,
            "rope": lambda far: 2 * np.cos(far * inv_freq).sum() / root,
            "alibi": lambda far: -alibi.slopes(4)[2] * far,
            "xpos": lambda far: xpos.scores(ones, ones, far, inv_freq, xpos.zeta(D)) / root,
        }[name](far)  # fmt: skip
        assert found[far] == pytest.approx(float(expected), abs=1e-12)


def test_transformer_xls_random_weights_are_unit_sized() -> None:
    """The release's standard deviation of 0.02 would make this term some 250 times smaller."""
    d = 96
    heads = [transformer_xl.random_head(d, d, seed) for seed in range(40)]
    for one, deviation in (("u", 1.0), ("v", 1.0), ("r_weight", 1 / math.sqrt(d))):
        drawn = np.concatenate([np.ravel(getattr(head, one)) for head in heads])
        assert drawn.std() == pytest.approx(deviation, rel=0.05)
    assert 1.0 / math.sqrt(d) / 0.02**2 == pytest.approx(250, rel=0.05)


@pytest.mark.parametrize("name", ["t5", "alibi"])
def test_a_bias_by_distance_is_what_it_adds_to_the_scores(name: str) -> None:
    x = words()
    with_bias, without = (comparison.scores(one, x, TABLES, SETTING) for one in (name, "none"))
    term = comparison.term(name, COUNT, TABLES, SETTING)
    for i in range(COUNT):
        added = with_bias[i, : i + 1] - without[i, : i + 1]
        np.testing.assert_allclose(added, term[i::-1], atol=1e-12)


def test_learned_rows_are_as_large_as_sinusoids() -> None:
    assert (TABLES.rows**2).mean() == pytest.approx((sinusoidal.table(40, D) ** 2).mean())
    assert not Tables(np.zeros((3, D)), [[0.0]]).rows.any()


# The price.

TINY = Shape(1, 1, 2, 1)
LLAMA = Shape(32, 32, 128, 131_072)
BY_HAND = {
    "none": 0, "sinusoidal": 6, "learned": 6, "shaw": 2 * (2 * 33 * 2 * 3 + 9), "t5": 9,
    "transformer_xl": 2 * 3 * 4 + 12 + 36 + 9, "rope": 3 * 3 * 4, "alibi": 18, "xpos": 36,
}  # fmt: skip


@each
def test_operations_are_counted_as_by_hand(name: str) -> None:
    """Three tokens, one layer, one head of two."""
    assert comparison.operations(name, TINY, 3, 1) == BY_HAND[name]
    two = dataclasses.replace(TINY, num_layers=2)
    before_layers = name in ("sinusoidal", "learned")
    assert comparison.operations(name, two, 3, 1) == BY_HAND[name] * (1 if before_layers else 2)


def test_attention_itself_multiplies_and_adds_twice() -> None:
    assert comparison.attention_operations(TINY, 3) == 9 * (2 + 2) + 9 * (2 + 2)


def test_ten_million_tokens_are_counted_to_the_last() -> None:
    length = 10**7
    assert comparison.operations("alibi", LLAMA, length, 8) == 32 * 2 * 32 * 10**14
    assert comparison.operations("rope", LLAMA, length, 8) == 32 * 3 * length * 40 * 128
    assert comparison.attention_operations(LLAMA, length) == 32 * 4 * 4096 * 10**14
    assert comparison.trained_entries("learned", LLAMA, length) == 4096 * length
    assert comparison.trained_entries("t5", LLAMA, length) == 1024


def test_llamas_cache_at_its_longest_is_16_gib() -> None:
    assert 2 * comparison.kv_cache_entries(LLAMA, 131_072, 8) == 16 * 2**30


def test_hidden_states_are_a_vector_for_each_layer_and_token() -> None:
    assert comparison.state_entries(TINY, 3) == 6
    assert comparison.state_entries(LLAMA, 131_072) == 2 * comparison.kv_cache_entries(
        LLAMA, 131_072, 8
    )  # 32 heads wide, keys and values 2 * 8


def test_the_square_and_the_cache_are_equal_where_it_is_said() -> None:
    length = comparison.equal_length(LLAMA, 8)
    assert length == 2048
    square = catalog.get("alibi").bias_entries(int(length), 32)
    assert square == comparison.kv_cache_entries(LLAMA, int(length), 8)


def test_models_have_their_released_widths() -> None:
    widths = {model.label: (model.shape.d_model, model.num_kv_heads)
              for model in comparison.MODELS}  # fmt: skip
    assert widths == {"GPT-2": (768, 12), "BLOOM 176B": (14_336, 112), "Llama 3.1 8B": (4096, 8),
                      "Llama 3.1 70B": (8192, 8)}  # fmt: skip
    assert all(model.source.address.startswith("https://") for model in comparison.MODELS)


# The filter.


def test_encodings_are_found_by_their_answers() -> None:
    assert comparison.answering(2022) == catalog.NAMES
    assert comparison.answering(2017) == ("sinusoidal", "learned")
    assert comparison.answering(2022, level="holds") == ("t5", "alibi")
    assert comparison.answering(2022, kind="both") == ("rope", "xpos")
    assert comparison.answering(2021, kind="both", enters="query and key") == ("rope",)
    assert comparison.answering(2022, "embedding", "relative") == ()
    assert tuple(comparison.kinds()) == ("neither", "absolute", "relative", "both")


# What is refused.


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: comparison.scores("magic", words(), TABLES), "^encoding must be one of none, "),
        (lambda: comparison.term("", 4, TABLES), "^encoding must be one of none, "),
        (
            lambda: comparison.scores("t5", words(), TABLES, Setting(head=5)),
            "^head must be a whole",
        ),
        (lambda: comparison.slope(0, TABLES), "^head must be a whole number from 1 to 4"),
        (lambda: comparison.scores("rope", np.ones((3, 8)), TABLES), "^the last axis of x must"),
        (lambda: comparison.scores("learned", np.ones((41, D)), TABLES), "has no row for it"),
        (lambda: Tables(np.ones((3, 5)), [[1.0]]), "^d_model must be even"),
        (lambda: comparison.words(4, D, 1.1), "^variety must be a number from 0 to 1"),
        (lambda: comparison.operations("rope", LLAMA, 0, 8), "^seq_len must be a whole number"),
        (lambda: comparison.operations("rope", LLAMA, 9, 33), "^num_kv_heads must be a whole"),
        (lambda: comparison.answering(2022, "nowhere"), "^enters must be one of any, embedding"),
        (lambda: comparison.answering(2022, level="all"), "^level must be one of any, no"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(call: object, match: str) -> None:
    with pytest.raises(InvalidParameterError, match=match):
        call()  # type: ignore[operator]
