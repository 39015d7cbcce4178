"""The names language: a text whose best possible prediction is known, and that rewards memory.

Words follow a first-order Markov chain. Now and then comes a name, four letters out of 160,000,
from a list that belongs to the document: a new name is noise, one that was read before can be
copied. So a longer context truly lowers the loss, and a model that copies is told from one that
does not. The chance of every character given all before it is known in closed form; its negative
logarithm is the floor that no model gets under on average.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from posviz import params

ALPHABET = " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
START = len(ALPHABET)
"""Token before the first character of a document; it is read and never predicted."""
VOCABULARY = len(ALPHABET) + 1

_NAME = (ALPHABET[27:], *[ALPHABET[1:21]] * 3)  # what may stand at each place of a name
_NAME_LENGTH, _NAME_LETTERS = len(_NAME), 20
_ALL_NAMES = _NAME_LETTERS**_NAME_LENGTH
_WORDS, _SUCCESSORS = 64, 8
_LANGUAGE_SEED = 20_240_917  # draws the words and the chain, the same in every model and test


class Kind(IntEnum):
    """What a character is to a reader, and so what predicting it takes."""

    WORD = 0
    """Letter of a word, or a space: needs the last word."""
    CAPITAL = 1
    """First letter of a name: mostly noise."""
    NEW_NAME = 2
    """Later letter of a name not read before: noise."""
    REPEATED_NAME = 3
    """Later letter of a name read before: needs copying."""


@dataclass(frozen=True)
class Dialect:
    """How often names come and how many a document has.

    Attributes:
        name_share: Chance that a slot holds a name, not a word.
        names: Names that belong to a document, each equally likely.
    """

    name_share: float = 0.35
    names: int = 32

    def __post_init__(self) -> None:
        params.keep(
            self,
            name_share=params.real("name_share", self.name_share, 0.0, 1.0),
            names=params.whole("names", self.names, 1, _ALL_NAMES),
        )


@dataclass(frozen=True)
class _Chain:
    """The words and, for each, which ones follow how often."""

    words: tuple[str, ...]
    followers: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]


@cache
def _chain() -> _Chain:
    rng = np.random.RandomState(_LANGUAGE_SEED)  # legacy stream: the same in every NumPy
    consonants, vowels = "bcdghjlmnprstvz", "aeiou"
    words: list[str] = []
    while len(words) < _WORDS:
        syllables = rng.randint(1, 4)
        word = "".join(
            consonants[rng.randint(len(consonants))] + vowels[rng.randint(len(vowels))]
            for _ in range(syllables)
        )
        word += "h" if syllables == 1 else ""
        if word not in words:
            words.append(word)
    followers = tuple(
        tuple(int(w) for w in rng.permutation(_WORDS)[:_SUCCESSORS]) for _ in range(_WORDS)
    )
    zipf = [1.0 / rank for rank in range(1, _SUCCESSORS + 1)]
    return _Chain(tuple(words), followers, tuple(share / sum(zipf) for share in zipf))


_UNKNOWN = 255
_TABLE = bytes(
    ALPHABET.index(chr(code)) if chr(code) in ALPHABET else _UNKNOWN for code in range(256)
)


def encode(text: str) -> NDArray[np.uint8]:
    """Tokens of ``text``, without the start token."""
    row = np.frombuffer(text.encode("latin-1", "replace").translate(_TABLE), dtype=np.uint8)
    if (row == _UNKNOWN).any():
        raise params.InvalidParameterError(
            "text must be made of spaces, a to z and A to T, got {got}",
            got=params.shown("".join(sorted(set(text) - set(ALPHABET)))),
        )
    return row


def decode(row: NDArray[np.integer]) -> str:
    """Text of a row of tokens; the start token is left out."""
    return "".join(ALPHABET[token] for token in row.tolist() if token != START)


def draw_names(rng: np.random.Generator, count: int) -> list[str]:
    """``count`` different names."""
    return [_name(int(n)) for n in rng.choice(_ALL_NAMES, count, replace=False)]


def _name(number: int) -> str:
    name = ""
    for allowed in reversed(_NAME):
        number, letter = divmod(number, _NAME_LETTERS)
        name = allowed[letter] + name
    return name


def document(rng: np.random.Generator, length: int, dialect: Dialect = Dialect()) -> str:
    """Text of ``length`` characters."""
    length = params.whole("length", length, 1)
    names = draw_names(rng, dialect.names)
    return "".join(_slots(rng, length, dialect, names))[:length]


def _slots(
    rng: np.random.Generator, length: int, dialect: Dialect, names: list[str]
) -> Iterator[str]:
    """Words and names with a space after each, at least ``length`` characters."""
    chain = _chain()
    slots = length // 2 + 1  # no word is shorter than two letters and a space
    is_name = (rng.random(slots) < dialect.name_share).tolist()
    which = rng.integers(len(names), size=slots).tolist()
    follower = np.searchsorted(np.cumsum(chain.shares), rng.random(slots)).tolist()
    word, written = int(rng.integers(_WORDS)), 0
    for slot in range(slots):
        if is_name[slot]:
            text = names[which[slot]]
        else:
            text = chain.words[word]
            word = chain.followers[word][min(follower[slot], _SUCCESSORS - 1)]
        yield text + " "
        written += len(text) + 1
        if written >= length:
            return


def tokens(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Texts of one length as rows of tokens, the start token before each."""
    rows = np.stack([encode(text) for text in texts])
    return np.concatenate([np.full((len(rows), 1), START, np.uint8), rows], axis=1)


def floor(text: str, dialect: Dialect = Dialect()) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Nats that the best possible reader needs for each character, and each one's :class:`Kind`.

    The chance of a name given the ``k`` different ones read so far: each of those ``1 / names``,
    and the rest spread evenly over the names not read. A word's letters follow the chain. A text
    that no document can be is told at the character that has no chance.

    Returns:
        float64 nats and kinds, one per character of ``text``.
    """
    nats, kinds = np.zeros(len(text)), np.zeros(len(text), dtype=np.int8)
    seen: set[str] = set()
    prefixes: Counter[str] = Counter()  # different names read that begin so
    state, at = len(_chain().words), 0  # the state of a document's start: any word next
    while at < len(text):
        end = text.find(" ", at)
        end = len(text) if end < 0 else end + 1
        slot = text[at:end]
        chances, kind = (
            _name_chances(slot, seen, prefixes, dialect)
            if slot[0].isupper()
            else (_word_chances(slot, state, dialect), [Kind.WORD] * len(slot))
        )
        if min(chances) <= 0.0:
            raise params.InvalidParameterError(
                "text must be one of the names language, got {got} after {before}",
                got=params.shown(slot), before=params.shown(text[max(at - 20, 0) : at]),
            )  # fmt: skip
        nats[at:end] = [-math.log(chance) for chance in chances]
        kinds[at:end] = kind
        name = slot.rstrip(" ")
        if not slot[0].isupper():
            state = _numbers().get(name, state)
        elif len(name) == _NAME_LENGTH and name not in seen:
            seen.add(name)
            prefixes.update(name[:j] for j in range(1, _NAME_LENGTH + 1))
        at = end
    return nats, kinds


def _name_chances(
    slot: str, seen: set[str], prefixes: Counter[str], dialect: Dialect
) -> tuple[list[float], list[Kind]]:
    unread = (dialect.names - len(seen)) / dialect.names / max(_ALL_NAMES - len(seen), 1)
    mass = [1.0]
    for j, (letter, allowed) in enumerate(zip(slot, _NAME, strict=False), 1):
        read = prefixes[slot[:j]]
        names = _NAME_LETTERS ** (_NAME_LENGTH - j) if letter in allowed else 0
        mass.append(read / dialect.names + unread * (names - read))
    chances = [after / before if before else 0.0 for before, after in pairwise(mass)]
    chances[0] *= dialect.name_share
    # A name cut off by the end of the text counts as the one read that begins so.
    later = Kind.REPEATED_NAME if prefixes[slot[:_NAME_LENGTH]] else Kind.NEW_NAME
    kinds = [Kind.CAPITAL, *([later] * (len(chances) - 1))]
    if len(slot) > _NAME_LENGTH:  # the space is certain
        return [*chances, float(slot[_NAME_LENGTH:] == " ")], [*kinds, Kind.WORD]
    return chances, kinds


def _word_chances(slot: str, state: int, dialect: Dialect) -> list[float]:
    mass = _masses(state)
    before = [1.0 / (1.0 - dialect.name_share) if dialect.name_share < 1.0 else math.inf]
    after = [mass.get(slot[:j], 0.0) for j in range(1, len(slot) + 1)]
    before += after[:-1]
    return [b / a if a else 0.0 for a, b in zip(before, after, strict=True)]


@cache
def _masses(state: int) -> dict[str, float]:
    """Chance that the next word and its space begin so; the last state is a document's start."""
    chain = _chain()
    if state == len(chain.words):
        following = [(word, 1.0 / len(chain.words)) for word in chain.words]
    else:
        following = [
            (chain.words[word], share)
            for word, share in zip(chain.followers[state], chain.shares, strict=True)
        ]
    masses: Counter[str] = Counter()
    for word, share in following:
        for j in range(1, len(word) + 2):
            masses[(word + " ")[:j]] += share  # type: ignore[assignment]
    return dict(masses)


@cache
def _numbers() -> dict[str, int]:
    return {word: number for number, word in enumerate(_chain().words)}
