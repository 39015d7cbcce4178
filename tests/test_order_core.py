"""One random head over two orders of a sentence: equivariance, and what breaks it."""

from __future__ import annotations

import cmath
import math
import subprocess
import sys
import unicodedata
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import order
from posviz.params import InvalidParameterError
from tests.server import ROOT

BLANK = "\u115f\u1160\u3164\uffa0\u2800"  # letters and a sign that show nothing


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I hit him", ["I", "hit", "him"]),
        (" two  spaces ", ["two", "spaces"]),
        ("我打他。", ["我", "打", "他", "。"]),
        ("GPT说你好", ["GPT", "说", "你", "好"]),
        ("コーヒーを飲む", ["コー", "ヒー", "を", "飲", "む"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("ตีเขา", ["ตี", "เ", "ข", "า"]),
        ("مرحبا بك", ["مرحبا", "بك"]),
        ("Don't, it's well-known: 3.5!", ["Don't", ",", "it's", "well-known", ":", "3.5", "!"]),
        ("end. 'so' -", ["end", ".", "'", "so", "'", "-"]),
        ("x^2", ["x", "^", "2"]),
        ("e\u0301te\u0301", ["été"]),
        ("q\u0307x", ["q\u0307x"]),
        ("\u0301a", ["\u0301", "a"]),
        ("👍🏽 👩‍👧ok", ["👍🏽", "👩‍👧", "ok"]),
        ("", []),
        ("  ", []),
        ("co\u00adop a\u200bb\xa0c", ["coop", "a", "b", "c"]),
        ("\u200fשלום\u200e עולם", ["שלום", "עולם"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("\u200da \ufeffa a\u2060", ["a", "a", "a"]),
        ("❤\ufe0f \u3164 x", ["❤\ufe0f", "x"]),
        ("\u200b\u200d\u200f\ufe0f\U000e0067", []),
    ],
    ids=ascii,
)
def test_a_text_is_split_into_words_characters_and_signs(text: str, tokens: list[str]) -> None:
    assert list(order.split(text)) == tokens


@given(st.text(max_size=60))
def test_no_character_that_can_be_seen_is_lost(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    tokens = order.split(text)

    def seen(line: str) -> str:
        return "".join(c for c in line if unicodedata.category(c)[0] in "LNPS" and c not in BLANK)

    assert seen("".join(tokens)) == seen(composed)
    assert all(seen(token) or unicodedata.category(token[0])[0] in "MC" for token in tokens)
    assert sorted(order.exchanged(tokens)) == list(range(len(tokens)))


def test_the_ends_are_exchanged_and_signs_stay() -> None:
    assert order.exchanged(["I", "hit", "him"]) == (2, 1, 0)
    assert order.exchanged(["¿", "Qué", "pasa", "?"]) == (0, 2, 1, 3)
    assert order.exchanged(["!", "?"]) == (1, 0)
    assert order.exchanged(["one"]) == (0,)
    assert order.exchanged([]) == ()


def test_the_vectors_depend_on_the_text_alone() -> None:
    vectors = order.content(["the", "dog", "the", "The"])
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[3]).all()
    assert (order.content(["dog"])[0] == vectors[1]).all()
    program = "from posviz import order; print(order.content(['我'])[0, 0].item().hex())"
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert float.fromhex(said) == order.content(["我"])[0, 0]


def by_hand(x: np.ndarray, encoding: str, weight: float, seed: int) -> tuple[np.ndarray, ...]:
    """The head in plain Python, from the papers' formulas."""
    count, d = x.shape
    w_q, w_k, w_v = np.random.default_rng(seed).standard_normal((3, d, d)) / math.sqrt(d)
    x = x.copy()
    if encoding == "sinusoidal":
        for p in range(count):
            for c in range(d):
                angle = p / 10_000 ** (2 * (c // 2) / d)
                x[p, c] += weight * (math.cos(angle) if c % 2 else math.sin(angle))
    q, k, v = ([[sum(r * m for r, m in zip(row, column, strict=True)) for column in w.T]
                for row in x] for w in (w_q, w_k, w_v))  # fmt: skip
    weights = np.zeros((count, count))
    for i in range(count):
        row = {}
        for j in range(count):
            if encoding in ("causal", "alibi") and j > i:
                continue
            score = sum(a * b for a, b in zip(q[i], k[j], strict=True))
            if encoding == "rope":  # the pair's first number stands in the first half
                score = sum(
                    (complex(q[i][n], q[i][n + d // 2])
                     * complex(k[j][n], k[j][n + d // 2]).conjugate()
                     * cmath.exp(1j * weight * (i - j) * 10_000 ** (-2 * n / d))).real
                    for n in range(d // 2)
                )  # fmt: skip
            score /= math.sqrt(d)
            if encoding.startswith("alibi"):
                score -= 0.5 * weight * abs(i - j)
            row[j] = math.exp(score)
        for j, one in row.items():
            weights[i, j] = one / sum(row.values())
    return weights, np.array(v), weights @ np.array(v)


@pytest.mark.parametrize("encoding", order.ENCODINGS)
@pytest.mark.parametrize("weight", [0.0, 0.37, 2.0])
def test_the_head_is_the_formulas_one(encoding: str, weight: float) -> None:
    x = order.content(order.split("the man saw the dog"))
    found = order.attend(x, encoding, weight, seed=3)
    weights, values, outputs = by_hand(x, encoding, weight, seed=3)
    np.testing.assert_allclose(found.weights, weights, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.outputs, outputs, rtol=0, atol=1e-13)


orders = st.integers(1, 12).flatmap(lambda count: st.permutations(range(count)))
weights = st.one_of(st.sampled_from([0.0, 0.01, 1.0, 2.0]), st.floats(0.0, 2.0))
vectors = order.content([str(n) for n in range(12)])


@given(orders, st.integers(0, 99))
def test_without_positions_the_outputs_are_reordered_and_nothing_else(
    places: list[int], seed: int
) -> None:
    both = order.compare(vectors[: len(places)], places, "none", 1.0, seed)
    assert both.is_rounding(both.residual)
    assert both.is_rounding(both.mean_difference)
    moved = both.original.weights[np.ix_(places, places)]
    np.testing.assert_allclose(both.reordered.weights, moved, rtol=0, atol=1e-14)


@given(orders, st.sampled_from(["sinusoidal", "rope", "alibi_symmetric"]), st.integers(0, 99))
def test_at_weight_0_nothing_is_left_of_an_encoding(
    places: list[int], encoding: str, seed: int
) -> None:
    x = vectors[: len(places)]
    none = order.attend(x, "none", 1.0, seed)
    np.testing.assert_allclose(
        order.attend(x, encoding, 0.0, seed).outputs, none.outputs, rtol=0, atol=1e-14
    )
    causal = order.attend(x, "causal", 1.0, seed)
    assert (order.attend(x, "alibi", 0.0, seed).outputs == causal.outputs).all()


@given(orders, st.sampled_from(order.ENCODINGS[1:]), st.floats(0.01, 2.0), st.integers(0, 99))
def test_a_moved_token_is_seen_but_for_the_mirror_image(
    places: list[int], encoding: str, weight: float, seed: int
) -> None:
    both = order.compare(vectors[: len(places)], places, encoding, weight, seed)
    blind = places == sorted(places)
    if encoding == "alibi_symmetric":
        blind |= order.is_mirrored(places)
    assert both.is_rounding(both.residual) == blind
    # As near to rounding as to the smallest true difference there may be none.
    assert not 1e-13 < both.residual < 1e-9


def test_equal_tokens_get_equal_outputs_until_something_tells_the_order() -> None:
    tokens = order.split("the dog saw the man and the cat")
    assert order.repeats(tokens) == ((0, 3, 6),)
    x = order.content(tokens)
    assert order.spread(order.attend(x, "none").outputs, (0, 3, 6)) < 1e-15
    for encoding in order.ENCODINGS[1:]:
        assert order.spread(order.attend(x, encoding).outputs, (0, 3, 6)) > 0.01
    assert order.repeats(["a", "b"]) == ()


@pytest.mark.parametrize("encoding", ["causal", "alibi"])
def test_under_a_causal_mask_the_first_token_sees_itself_alone(encoding: str) -> None:
    found = order.attend(vectors, encoding)
    assert found.weights[0, 0] == 1.0
    assert (found.outputs[0] == found.values[0]).all()
    assert (found.weights == np.tril(found.weights)).all()
    assert (order.visible(12, encoding) == np.tri(12, dtype=bool)).all()
    assert order.visible(12, "rope").all()


def test_differences_belong_to_tokens_as_written() -> None:
    both = order.compare(vectors[:3], (2, 0, 1), "causal")
    assert both.places == (1, 2, 0)
    expected = [
        np.abs(both.reordered.outputs[place] - both.original.outputs[token]).max()
        for token, place in enumerate(both.places)
    ]
    assert both.differences.tolist() == expected
    assert both.residual == max(expected)
    assert expected[both.most_changed] == max(expected)
    key, share = both.original.strongest(2)
    assert share == both.original.weights[2].max() == both.original.weights[2, key]


@pytest.mark.parametrize(
    ("told", "call"),
    [
        ("encoding must be one of", lambda: order.attend(vectors, "rotary")),
        ("weight must be a number from 0", lambda: order.attend(vectors, "rope", -0.1)),
        ("seed must be a whole number", lambda: order.attend(vectors, "rope", 1.0, -1)),
        ("d_model must be even", lambda: order.attend(vectors[:, :5], "none")),
        ("x must", lambda: order.attend(vectors[:0], "none")),
        ("order must have each number", lambda: order.compare(vectors[:3], (0, 0, 1), "none")),
        ("order must have each number", lambda: order.compare(vectors[:3], (0, 1), "none")),
        ("text must be a text", lambda: order.split(3)),  # type: ignore[arg-type]
    ],
)
def test_what_is_not_allowed_is_told(told: str, call: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameterError, match=told):
        call()
