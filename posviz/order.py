"""Why a Transformer needs positions: one attention head over a sentence, and over it reordered.

Without positions a head is permutation equivariant, ``f(P x) = P f(x)``: reorder the tokens and
the outputs are the same ones, reordered. Not invariant: they move. What is invariant is a mean
over them. Positions, or a causal mask alone, break it.

The head is a random one: the identity holds for any weights, so none of it was learned.

Source: Lee et al. 2019, "Set Transformer", https://arxiv.org/abs/1810.00825, section 3.1, property
1: blocks of self-attention without positions are permutation equivariant.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posviz import alibi, arrays, attention, params, rope, sinusoidal

Floats = NDArray[np.float64]

MAX_TOKENS = 12
"""Tokens of a sentence that are shown."""
D_MODEL = 16
"""Numbers of a token's vector; the head is as wide."""
ALIBI_SLOPE = float(alibi.slopes(8)[0])
"""Slope of the first of eight heads, one half."""

ENCODINGS = ("none", "causal", "sinusoidal", "rope", "alibi", "alibi_symmetric")
"""What can tell the order: nothing, the causal mask, or an encoding; only ``alibi`` of these comes
with the causal mask, as in its paper."""

# Scripts that do not part words by spaces, as the names of their characters begin.
_UNSPACED = (
    "CJK ", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "BOPOMOFO", "YI ",
    "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN",
)  # fmt: skip
_JOINER = "\u200d"  # makes one picture of two
_LENGTHENS = "ーｰ"  # the vowel before it, so it stays there
_SKIN = "🏻🏼🏽🏾🏿"
# What looks like a space, or like nothing at all; the latter shapes what it stands beside.
_BLANK = "\u200b\u115f\u1160\u3164\uffa0\u2800"
_SHAPING = "\u200c\u200d\u034f\ufe0e\ufe0f"


def split(text: str) -> tuple[str, ...]:
    """Tokens of a text in any language: a word, a character where words have no spaces, a sign.

    Letters and digits up to the next space or sign form a token, with an apostrophe or hyphen
    between two of them (``don't``) and a point or comma between two digits (``3.5``). A character
    of Chinese, Japanese, Thai and other scripts without spaces is a token of its own, as is each
    sign. Combining marks stay with their letter. What cannot be seen is no token and makes no
    difference between two, unless it shapes its neighbours; what looks like a space is one. A
    visible stand-in for a tokenizer: released models split into pieces of words that they have
    learned.

    Args:
        text: Any text; it is brought to Unicode's composed form (NFC), so that an accent is the
            same however it was typed.
    """
    if not isinstance(text, str):
        raise params.InvalidParameterError("text must be a text, got {got}", got=params.shown(text))
    found: list[str] = []
    kind = "space"  # of the token that may go on
    composed = unicodedata.normalize("NFC", _seen(text))
    for n, character in enumerate(composed):
        before, after = composed[n - 1 : n], composed[n + 1 : n + 2]
        category = unicodedata.category(character)
        goes_on = kind == "word" and _is_within(before, character, after)
        if kind != "space" and (_clings(character, category) or before == _JOINER):
            goes_on = True
        begins = "character" if category[0] in "LN" else "sign"
        if begins == "character" and not unicodedata.name(character, "").startswith(_UNSPACED):
            begins = "word"
        if character.isspace():
            kind = "space"
        elif goes_on or begins == kind == "word":
            found[-1] += character
        else:
            found.append(character)
            kind = begins
    shaped = (token.lstrip(_SHAPING) for token in found)
    return tuple(token for token in shaped if not all(map(_is_tag, token)))


def _seen(text: str) -> str:
    """A text without what has no shape and gives none, and with a space for each blank."""
    return "".join(
        " " if one in _BLANK else one
        for one in text
        if unicodedata.category(one) != "Cf" or one in _BLANK + _SHAPING or _is_tag(one)
    )


def _is_tag(character: str) -> bool:
    """Whether it spells which flag an emoji is."""
    return "\U000e0020" <= character <= "\U000e007f"


def _clings(character: str, category: str) -> bool:
    """Whether a character belongs to the one before it: marks, joiners, shades of skin."""
    return category[0] == "M" or category == "Cf" or character in _LENGTHENS + _SKIN


def _is_within(before: str, sign: str, after: str) -> bool:
    """Whether a sign stands within a word or a number."""
    if sign in ".,":
        return before.isdigit() and after.isdigit()
    return sign in "'’-" and after.isalnum()


def exchanged(tokens: Sequence[str]) -> tuple[int, ...]:
    """The order with the first and the last word exchanged; signs keep their places."""
    order = list(range(len(tokens)))
    words = [n for n, token in enumerate(tokens) if token[0].isalnum()] or order
    if words:
        first, last = words[0], words[-1]
        order[first], order[last] = last, first
    return tuple(order)


def is_mirrored(order: Sequence[int]) -> bool:
    """Whether an order is the first one backwards."""
    found = np.atleast_1d(arrays.whole_numbers("order", order, 0)).tolist()
    return bool(found == list(range(len(found)))[::-1])


def repeats(tokens: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Indices of each token that stands in the sentence more than once."""
    places: dict[str, list[int]] = {}
    for n, token in enumerate(tokens):
        places.setdefault(token, []).append(n)
    return tuple(tuple(same) for same in places.values() if len(same) > 1)


def content(tokens: Sequence[str], d_model: int = D_MODEL) -> Floats:
    """A vector for each token that only its text decides, ``(tokens, d_model)``.

    Standard normal, seeded by a hash of the text: the same on every machine, whatever the place.
    It stands in for a trained embedding.
    """
    d_model = params.whole("d_model", d_model, 1)
    arrays.check_count("tokens and d_model", len(tokens), d_model)
    found = np.empty((len(tokens), d_model))
    for n, token in enumerate(tokens):
        seed = int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "big")
        found[n] = np.random.default_rng(seed).standard_normal(d_model)
    return found


def visible(count: int, encoding: str) -> NDArray[np.bool_]:
    """True where a query may look at a key, ``(count, count)``: everywhere, or the causal mask."""
    causal = params.one_of("encoding", encoding, ENCODINGS) in ("causal", "alibi")
    mask = attention.causal_mask(count)
    return mask if causal else np.ones_like(mask)


@dataclass(frozen=True)
class Attended:
    """What one head makes of a sentence.

    Attributes:
        weights: ``(tokens, tokens)``, from 0 to 1; each row sums to 1.
        values: What each token gives, ``(tokens, d_model)``.
        outputs: ``weights @ values``, ``(tokens, d_model)``.
    """

    weights: Floats
    values: Floats
    outputs: Floats

    def strongest(self, query: int) -> tuple[int, float]:
        """The key that a query gives most weight to, and how much."""
        key = int(self.weights[query].argmax())
        return key, float(self.weights[query, key])


def projections(d_model: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Random W_q, W_k, W_v of one head: ``(d_model, d_model)`` each, of variance 1 / d_model."""
    width = params.whole("d_model", d_model, 1)
    rng = np.random.default_rng(params.whole("seed", seed, 0))
    w_q, w_k, w_v = rng.standard_normal((3, width, width)) / math.sqrt(width)
    return w_q, w_k, w_v


def attend(x: ArrayLike, encoding: str, weight: float = 1.0, seed: int = 0) -> Attended:
    """One random self-attention head over the vectors ``x``, with one way to tell the order.

    Args:
        x: Vectors of the tokens in their order, ``(tokens, d_model)``, ``d_model`` even.
        encoding: One of :data:`ENCODINGS`.
        weight: Multiplies what the encoding brings in: the sinusoidal table, RoPE's angles,
            ALiBi's slope. 0 leaves nothing of it (of ``alibi`` the causal mask); ``none`` and
            ``causal`` have nothing to multiply.
        seed: Which random W_q, W_k, W_v; their entries have the variance ``1 / d_model``.
    """
    vectors = arrays.entries("x", x, "tokens", "d_model")
    params.one_of("encoding", encoding, ENCODINGS)
    weight = params.real("weight", weight, 0.0, 1e6)
    count, d_model = vectors.shape
    params.even("d_model", d_model)
    arrays.check_count("tokens and tokens", count, count)
    w_q, w_k, w_v = projections(d_model, seed)
    if encoding == "sinusoidal":
        vectors = vectors + weight * sinusoidal.table(count, d_model)
    q, k, v = vectors @ w_q, vectors @ w_k, vectors @ w_v
    if encoding == "rope":
        inv_freq = rope.RoPE(d_model).inv_freq
        angles = weight * np.arange(count)[:, None] * inv_freq  # (tokens, pairs)
        q, k = rope.turn(q, angles), rope.turn(k, angles)
    scores = q @ k.T / math.sqrt(d_model)
    if encoding in ("alibi", "alibi_symmetric"):
        scores = scores + alibi.bias_matrix([weight * ALIBI_SLOPE], count, count, symmetric=True)[0]
    weights = attention.softmax(np.where(visible(count, encoding), scores, -math.inf))
    return Attended(weights, v, weights @ v)


@dataclass(frozen=True)
class Comparison:
    """The same tokens in two orders.

    Attributes:
        order: Which token stands at each place of the second order.
        original: The head over the first order.
        reordered: The head over the second one, its rows and columns in that order.
    """

    order: tuple[int, ...]
    original: Attended
    reordered: Attended

    @property
    def places(self) -> tuple[int, ...]:
        """Where each token stands in the second order."""
        return tuple(self.order.index(token) for token in range(len(self.order)))

    @property
    def differences(self) -> Floats:
        """Largest ``|f(P x) - P f(x)|`` of each token's output, in the first order."""
        after = self.reordered.outputs[list(self.places)]
        return np.asarray(np.abs(after - self.original.outputs).max(axis=-1))

    @property
    def residual(self) -> float:
        """``max |f(P x) - P f(x)|``: 0 up to rounding if the head is equivariant."""
        return float(self.differences.max())

    @property
    def most_changed(self) -> int:
        """The token whose output differs most."""
        return int(self.differences.argmax())

    @property
    def mean_difference(self) -> float:
        """Largest difference of the mean over all outputs, which no order changes without one."""
        before, after = self.original.outputs, self.reordered.outputs
        return float(np.abs(after.mean(axis=0) - before.mean(axis=0)).max())

    def is_rounding(self, difference: float) -> bool:
        """Whether a difference is no more than sums added in another order leave in float64."""
        largest = max(1.0, float(np.abs(self.original.values).max()))
        return difference <= 8 * len(self.order) * float(np.finfo(np.float64).eps) * largest


def compare(
    x: ArrayLike, order: Sequence[int], encoding: str, weight: float = 1.0, seed: int = 0
) -> Comparison:
    """The head over ``x`` and over ``x[order]``; the other arguments are those of :func:`attend`.

    Raises:
        InvalidParameterError: If ``order`` does not name each token once.
    """
    vectors = arrays.entries("x", x, "tokens", "d_model")
    places = params.Order("order", len(vectors)).check(order)
    return Comparison(
        places,
        attend(vectors, encoding, weight, seed),
        attend(vectors[list(places)], encoding, weight, seed),
    )


def spread(outputs: ArrayLike, same: Sequence[int]) -> float:
    """Largest difference between the outputs of the tokens ``same``; 0 for equal ones."""
    found = arrays.entries("outputs", outputs, "tokens", "d_model")
    chosen = np.atleast_1d(arrays.whole_numbers("same", same, 0, len(found) - 1))
    return float(np.ptp(found[chosen], axis=0).max())
