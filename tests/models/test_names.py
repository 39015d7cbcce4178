"""The names language: what it is made of, and what its best reader knows."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz.models import names
from posviz.models.names import Dialect, Kind
from posviz.params import InvalidParameterError

COMMON = Dialect()
FEW = Dialect(name_share=0.6, names=5)
dialects = st.builds(
    Dialect, st.sampled_from([0.0, 0.2, 0.35, 0.95, 1.0]), st.sampled_from([1, 2, 5, 32])
)
seeds = st.integers(0, 2**32 - 1)


def drawn(seed, length, dialect=COMMON):
    return names.document(np.random.default_rng(seed), length, dialect)


def sha256(value):
    return hashlib.sha256(repr(value).encode()).hexdigest()


# The text.


def test_the_words_and_their_chain_never_change():
    chain = names._chain()
    assert (
        sha256((chain.words, chain.followers))
        == "ac951754addb088a07b1e8444523938608bc931610edc6b62423424c15a6c2eb"
    )
    assert np.allclose(np.array(chain.shares) * np.arange(1, 9), chain.shares[0])
    assert sum(chain.shares) == pytest.approx(1.0)


def test_the_tokens_and_the_documents_of_a_seed_never_change():
    assert names.ALPHABET == " abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
    assert (names.START, names.VOCABULARY) == (47, 48)
    found = [drawn((7, n), 400, dialect) for n in range(4) for dialect in (COMMON, FEW)]
    assert sha256(found) == ("b47c133ca1a7503ee87ecc42d49db2340121fa469dee0439f5edf85727c297b1")


@given(seeds, st.integers(1, 200), dialects)
def test_a_document_is_a_function_of_the_generator_and_its_length(seed, length, dialect):
    rng = np.random.default_rng(seed)
    one = names.document(rng, length, dialect)
    assert len(one) == length
    assert one == drawn(seed, length, dialect)
    assert length < 60 or one != names.document(rng, length, dialect)


def test_a_shorter_document_of_the_same_generator_is_another_text():
    # Why evaluation cuts every length out of the longest documents.
    assert drawn(0, 400)[:200] != drawn(0, 200)


@given(seeds, dialects)
def test_a_document_holds_words_and_its_own_names_only(seed, dialect):
    slots = drawn(seed, 1500, dialect).split(" ")[:-1]  # the last may be cut
    own = set(names.draw_names(np.random.default_rng(seed), dialect.names))
    words = set(names._chain().words)
    assert {slot for slot in slots if slot[0].isupper()} <= own
    assert {slot for slot in slots if not slot[0].isupper()} <= words
    if dialect.name_share == 1.0:
        assert not words & set(slots)
    if dialect.name_share == 0.0:
        assert not own & set(slots)


def test_names_are_all_different_and_every_one_can_come():
    every = [names._name(number) for number in range(20**4)]
    assert len(set(every)) == 20**4
    assert (every[0], every[1], every[20], every[-1]) == ("Aaaa", "Aaab", "Aaba", "Tttt")
    assert len(set(names.draw_names(np.random.default_rng(0), 500))) == 500


@given(st.text(names.ALPHABET, min_size=1))
def test_text_comes_back_from_its_tokens(text):
    row = names.encode(text)
    assert row.dtype == np.uint8
    assert row.max() < names.START
    assert names.decode(row) == text
    assert names.decode(names.tokens([text])[0]) == text


def test_the_start_token_stands_before_each_text():
    found = names.tokens(["ab", "A "])
    assert found.tolist() == [[names.START, 1, 2], [names.START, 27, 0]]
    assert found.dtype == np.uint8


@pytest.mark.parametrize("text", ["abU", "a.b", "ä", "a\n", "π", "\xff"])
def test_other_characters_are_refused(text):
    with pytest.raises(InvalidParameterError, match="spaces, a to z and A to T"):
        names.encode(text)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Dialect(name_share=1.5), "name_share must be a number from 0 to 1, got 1.5"),
        (lambda: Dialect(names=0), "names must be a whole number from 1 to 160,000, got 0"),
        (lambda: drawn(0, 0), "length must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_told(make, sentence):
    with pytest.raises(InvalidParameterError) as told:
        make()
    assert str(told.value) == sentence


# The floor.


def chances(text, dialect):
    """Chance of every character that can follow ``text``, by adding up names and words.

    Nothing here is in closed form: one number per possible name, one per word.
    """
    chain = names._chain()
    words, (*before, slot) = chain.words, text.split(" ")
    seen = {name for name in before if name[0].isupper()}
    index = {name: tuple(names.encode(name) - [27, 1, 1, 1]) for name in seen}
    new = np.ones((20,) * 4)
    for place in index.values():
        new[place] = 0.0
    each = new / new.sum() * (1.0 - len(seen) / dialect.names)
    for place in index.values():
        each[place] = 1.0 / dialect.names
    last = next((word for word in reversed(before) if not word[0].isupper()), None)
    following = (
        dict.fromkeys(words, 1.0 / 64)
        if last is None
        else {
            words[n]: share
            for n, share in zip(chain.followers[words.index(last)], chain.shares, strict=True)
        }
    )
    found = dict.fromkeys(names.ALPHABET, 0.0)
    if not slot or slot[0].isupper():
        part = each[tuple(names.encode(slot) - [27, 1, 1, 1][: len(slot)])]
        share = 1.0 if slot else dialect.name_share
        if part.ndim:
            for letter, part_of in enumerate(part):
                name = "ABCDEFGHIJKLMNOPQRST" if not slot else "abcdefghijklmnopqrst"
                found[name[letter]] += share * part_of.sum() / part.sum()
        else:
            found[" "] = 1.0
    if not slot or slot[0].islower():
        fits = {word + " ": chance for word, chance in following.items() if word.startswith(slot)}
        share = 1.0 if slot else 1.0 - dialect.name_share
        for word, chance in fits.items():
            found[word[len(slot)]] += share * chance / sum(fits.values())
    return found


def chance_after(text, letter, dialect):
    """The floor's chance of ``letter`` after ``text``; 0 if it says that this is no text."""
    try:
        return math.exp(-names.floor(text + letter, dialect)[0][-1])
    except InvalidParameterError:
        return 0.0


@given(seeds, st.integers(0, 150), dialects)
def test_the_chances_of_what_can_follow_sum_to_one(seed, length, dialect):
    text = drawn(seed, 150, dialect)[:length]
    total = sum(chance_after(text, letter, dialect) for letter in names.ALPHABET)
    assert total == pytest.approx(1.0, abs=1e-9)


@given(seeds, dialects, st.integers(20, 120))
def test_the_floor_is_that_of_a_reader_who_adds_up_every_name_and_word(seed, dialect, length):
    text = drawn(seed, length, dialect)
    expected = [-math.log(chances(text[:at], dialect)[text[at]]) for at in range(length)]
    np.testing.assert_allclose(names.floor(text, dialect)[0], expected, rtol=1e-9, atol=1e-12)


def test_every_single_chance_is_that_readers():
    text = drawn(3, 90, FEW)
    for at in range(0, 90, 3):
        for letter, chance in chances(text[:at], FEW).items():
            assert chance_after(text[:at], letter, FEW) == pytest.approx(chance, abs=1e-12)


def test_the_mean_floor_is_the_entropy_of_what_that_reader_expects():
    # If documents were drawn otherwise than the floor supposes, the two means would part.
    gaps = []
    for seed in range(40):
        text = drawn((9, seed), 120, FEW)
        spread = [np.array(list(chances(text[:at], FEW).values())) for at in range(120)]
        expected = [-(p[p > 0] * np.log(p[p > 0])).sum() for p in spread]
        gaps.append(names.floor(text, FEW)[0] - expected)
    for some in (np.array(gaps)[:, :40], np.array(gaps)[:, 40:]):
        error = some.mean(axis=1).std() / math.sqrt(len(some))
        assert abs(some.mean()) < 3 * error < 0.2


@given(seeds, st.integers(1, 300), dialects)
def test_what_comes_later_changes_no_chance(seed, length, dialect):
    text = drawn(seed, 300, dialect)
    whole, part = names.floor(text, dialect)[0], names.floor(text[:length], dialect)[0]
    np.testing.assert_array_equal(part, whole[:length])


def test_a_longer_context_lowers_the_floor():
    nats = np.mean([names.floor(drawn(seed, 2048))[0] for seed in range(12)], axis=0)
    near, far = nats[128:256].mean(), nats[1024:].mean()
    assert 0.5 < far < near - 0.2 < 1.1


def test_the_kinds_of_characters():
    _, kinds = names.floor("Abcd Abcd Abce Abc", Dialect(1.0, 9))
    marks = "CNNNW" + "CRRRW" + "CNNNW" + "CRR"
    assert "".join("WCNR"[kind] for kind in kinds) == marks


def test_kinds_of_a_document_are_the_kinds_of_its_slots():
    text = drawn(1, 1000)
    nats, kinds = names.floor(text)
    assert kinds.dtype == np.int8
    seen, at = set(), 0
    for slot in text.split(" ")[:-1]:
        expected = [Kind.WORD] * (len(slot) + 1)
        if slot[0].isupper():
            later = Kind.REPEATED_NAME if slot in seen else Kind.NEW_NAME
            expected = [Kind.CAPITAL, later, later, later, Kind.WORD]
            seen.add(slot)
        assert kinds[at : at + len(expected)].tolist() == expected
        at += len(expected)
    means = {kind: nats[kinds == kind].mean() for kind in Kind}
    assert means[Kind.NEW_NAME] > 2.0 > means[Kind.REPEATED_NAME]


@pytest.mark.parametrize(
    "text",
    [
        " ", "q", "Z", "Ä", "é", "lilj", "lili  ", "lili\n", "lili.",
        "Abc ", "Ab Abcd", "AbCd", "Abcde", "Auvw", "abcd", "hucigu hucigu",
    ],
)  # fmt: skip
def test_what_no_document_can_be_has_no_chance(text):
    with pytest.raises(InvalidParameterError, match="must be one of the names language, got "):
        names.floor(text)


def test_what_a_dialect_cannot_write_has_no_chance():
    names.floor("Aaaa Aaab lili", Dialect(0.5, 2))
    with pytest.raises(InvalidParameterError, match="got 'Aaac' after 'Aaaa Aaab '"):
        names.floor("Aaaa Aaab Aaac", Dialect(0.5, 2))
    with pytest.raises(InvalidParameterError, match="got 'lili '"):
        names.floor("Aaaa lili ", Dialect(1.0, 2))
    with pytest.raises(InvalidParameterError, match="got 'Aaaa'"):
        names.floor("lili Aaaa", Dialect(0.0, 2))


def test_no_text_has_no_floor():
    nats, kinds = names.floor("")
    assert nats.shape == kinds.shape == (0,)
