"""What the app can be asked for, and what is found for some words.

The index is built once, out of the table of pages, the prose, the glossary and the core's own lists
of encodings, methods, config keys, pitfalls, claims and released models. What is found first: what
is called exactly what was typed, then a page that answers such a question, then titles of pages,
parts, terms and keys that have the words, then what the words name among others, and prose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

from posviz import (
    catalog,
    claims,
    config_names,
    hf_config,
    params,
    pitfalls,
    presets,
    rope_scaling,
    rope_units,
)
from posviz.ui import site, text
from posviz.ui.labels import METHODS
from posviz.ui.search_words import (
    ENCODING_PARTS,
    ENCODING_WORDS,
    KEYS,
    METHOD_WORDS,
    PITFALL_WORDS,
    QUIET,
    comparable,
    edits_between,
    has,
    in_english,
    normal,
    root,
)
from posviz.ui.text import by_language, say

Kind = Literal[
    "page", "part", "word", "method", "encoding", "key", "term", "pitfall", "claim", "model",
    "prose",
]  # fmt: skip

# How many results are shown, and how many of them may be released models.
MOST, MODELS = 10, 4
# A word in so many of the explanations says nothing, unless it is a term.
COMMON = 0.25


@dataclass(frozen=True)
class Entry:
    """Something that can be found.

    Attributes:
        kind: What it is.
        title: What it is called.
        address: Where it is, within the app.
        says: One sentence or two about it.
        where: Title of the page that it is on, if it is not the page itself.
        names: What else it is called.
        body: Further words that lead to it.
        exact: All that it is called, without spaces, as it stands and by the roots of its words.
        calls: Roots of the words of each thing that it is called.
        named: Words of its names, as :func:`comparable` has them.
        worded: Words of the rest, likewise.
        size: How long its names are.
    """

    kind: Kind
    title: str
    address: str
    says: str
    where: str = ""
    names: tuple[str, ...] = ()
    body: str = ""
    exact: frozenset[str] = field(init=False)
    calls: frozenset[frozenset[str]] = field(init=False)
    named: str = field(init=False)
    worded: str = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        own = [normal(name).split() for name in (self.title, *self.names)]
        words = [word for name in own for word in name]
        roots = [[root(word) for word in name] for name in own]
        # A part is called by its page's name too, so that "rope cache" is one.
        page = normal(self.where).split() if self.kind == "part" else []
        calls = [roots[0], [*roots[0], *map(root, page)]] if page else roots
        object.__setattr__(self, "exact", frozenset(map("".join, [*own, *roots])))
        object.__setattr__(self, "calls", frozenset(map(frozenset, calls)))
        object.__setattr__(self, "named", comparable(" ".join([*words, *page])))
        object.__setattr__(self, "worded", comparable(f"{self.where} {self.says} {self.body}"))
        object.__setattr__(self, "size", sum(map(len, words + page)))


@dataclass(frozen=True)
class Found:
    """What was found for some words.

    Attributes:
        entries: The best ones, best first.
        count: How many there are in all.
        missing: Words that stand nowhere.
        instead: Known words that were looked for in place of the missing ones.
        partly: Whether no entry has all the words.
        words: Roots of the words that were looked for.
    """

    entries: tuple[Entry, ...]
    count: int
    missing: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    partly: bool = False
    words: tuple[str, ...] = ()


@by_language  # files of the package and of the prose, read once
def index() -> tuple[Entry, ...]:
    """Everything that can be found."""
    words = dict(_words())
    titles = {(say(one.title), one.address()) for one in site.pages()}
    told = dict.fromkeys(words.values())
    own = [word for word in told if (word.title, word.address) not in titles]
    entries = [*_pages(words), *own, *_encodings(), *_methods(), *_keys()]
    entries += [*_terms(words), *_pitfalls(), *_claims(), *_models(), *_prose()]
    return tuple(entries)


def _pages(words: dict[str, Entry]) -> Iterator[Entry]:
    """Pages and their parts; a page that is called like a word of the glossary explains it."""
    for one in site.pages():
        title, says = say(one.title), say(one.sees)
        names: tuple[str, ...] = (one.name,)
        word = words.get(normal(title))
        if word and word.address == one.address():
            says, names = f"{word.says} {says}", (one.name, *word.names)
        yield Entry("page", title, one.address(), says, names=names)
        for part, label in one.parts.items():
            yield Entry("part", say(label), one.address(part), "", title, (part,))
    title = say("Words")
    first = next(site.pages()).address()
    yield Entry("part", title, f"{first}#read={quote(title)}",
                say("What the words mean; folded below every page."),
                names=(say("glossary"), say("vocabulary"), say("definitions")))  # fmt: skip


def _places() -> dict[str, tuple[site.Page, str]]:
    """Page and part that each term of the table leads to, by its normal form."""
    return {normal(term): (one, part) for one in site.pages() for term, part in one.terms.items()}


def _words() -> Iterator[tuple[str, Entry]]:
    """Words of the glossary, each under all its names, with the page that is about it."""
    places, first = _places(), next(site.pages())
    told = re.findall(
        r"^\*\*(.+?)\.\*\* (.*?)(?=\n\n|\Z)", text.section("glossary", "Words"), re.M | re.S
    )
    for title, definition in told:
        names = tuple(plain(name) for name in title.split(", "))
        one, part = next(
            (places[normal(name)] for name in names if normal(name) in places), (first, "")
        )
        entry = Entry("word", plain(title), one.address(part), plain(definition), say(one.title),
                      names)  # fmt: skip
        for name in names:
            yield normal(name), entry


def _terms(words: dict[str, Entry]) -> Iterator[Entry]:
    """Terms of the pages that the glossary does not explain."""
    for one in site.pages():
        for term, part in one.terms.items():
            if normal(term) not in words:
                yield Entry("term", say(term), one.address(part), say(one.sees), say(one.title))


def _encodings() -> Iterator[Entry]:
    by_name = {one.name: one for one in site.pages()}
    for encoding in catalog.ENCODINGS:
        one = by_name[encoding.page or "compare"]
        source = say("{sentence}.", sentence=say(encoding.source.title))
        says = f"{say(encoding.kind.why)} {source}"
        yield Entry(
            "encoding", say(encoding.label), one.address(ENCODING_PARTS.get(encoding.name, "")),
            says, say(one.title), (encoding.name, *map(say, ENCODING_WORDS[encoding.name])),
        )  # fmt: skip


def _methods() -> Iterator[Entry]:
    for rope_type in rope_scaling.ROPE_SCALINGS:
        names = (rope_type, *map(say, METHOD_WORDS[rope_type]))
        names += tuple(
            other
            for other, meant in (config_names.OTHER_METHODS | hf_config.ALIASES).items()
            if meant == rope_type and other not in ("mrope", "llama")  # those mean more
        )
        address = "scaling?" + urlencode({"pinned": rope_type})
        if rope_type == "proportional":  # of released models alone
            address = "models?" + urlencode({"method": rope_type})
        title = say(METHODS.get(rope_type, METHOD_WORDS[rope_type][0]))
        says = say("A way to scale RoPE; rope_type {rope_type} in a config.", rope_type=rope_type)
        yield Entry("method", title, address, says, _title(address), names)


def _keys() -> Iterator[Entry]:
    helps = {one.name: one.help for one in vars(params).values() if isinstance(one, params.Number)}
    known = [*KEYS, *config_names.MEANT_AT_THE_TOP, *hf_config.METHOD_KEYS, *hf_config.ELSEWHERE]
    known += [*hf_config.HIDDEN, *hf_config.HEADS, *hf_config.HEAD_DIM, *hf_config.CONTEXT]
    known += [*hf_config.THETA, *hf_config.LOCAL_THETA, *hf_config.SHARE]
    for name in sorted({*known}, key=lambda name: (name not in KEYS, name)):
        address, says = KEYS.get(name, ("doctor", ""))
        told = say(says or helps.get(name) or "A key of config.json that the doctor reads.")
        yield Entry("key", name, address, told, _title(address), body="config.json")
    for unit in rope_units.UNITS:
        if unit.name in known:
            continue
        address = "scaling?" + urlencode({"part": "units", "unit": unit.name})
        told = say("A setting of {program}.", program=unit.engine)
        yield Entry("key", unit.name, address, told, _title(address), body=unit.engine)


def _pitfalls() -> Iterator[Entry]:
    for one in pitfalls.PITFALLS:
        address = "pitfalls?" + urlencode({"pitfall": one.id})
        slips = "; ".join(say(slip.label) for slip in one.slips)
        names = (one.id, *map(say, PITFALL_WORDS.get(one.id, ())))
        yield Entry("pitfall", say(one.label), address, slips, _title(address), names)


def _claims() -> Iterator[Entry]:
    """The statements alone: what is right of them is asked first."""
    for number, one in enumerate(claims.CLAIMS, 1):
        address = "claims?" + urlencode({"claim": number})
        yield Entry("claim", say(one.statement), address, "", _title(address), body=one.topic)


def _models() -> Iterator[Entry]:
    labels = {one.name: one.label for one in catalog.ENCODINGS}
    for name in presets.names():
        record, methods = presets.record(name), presets.rope_types(name)
        encoding = record["positional_encoding"]
        told = [labels[encoding.removesuffix("_bias")]]
        told += [METHODS.get(each, METHOD_WORDS[each][0]) for each in methods if each != "default"]
        address = "models?" + urlencode({"model": name})
        yield Entry("model", name, address, ", ".join(map(say, told)), _title(address),
                    body=" ".join([record["family"], encoding, *methods]))  # fmt: skip


def _prose() -> Iterator[Entry]:
    """Sections of the pages' prose; one that has the name of a part is about that part."""
    for one in site.pages():
        for title, body in text.sections(one.name):
            part = next((name for name, label in one.parts.items() if label == title), "")
            address = f"{one.address(part)}#read={quote(title)}"
            yield Entry("prose", title, address, "", say(one.title), body=plain(body))


def _title(address: str) -> str:
    name = re.split("[?#]", address)[0]
    return next(say(one.title) for one in site.pages() if one.name == name)


def plain(markdown: str) -> str:
    """Prose without its marks and line ends."""
    return " ".join(re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", markdown).split())


# ------------------------------------------------------------------------------------- finding


@dataclass(frozen=True)
class _Question:
    """What was typed, as the entries are asked for it.

    Attributes:
        wholes: All of it without spaces, as it stands and by roots.
        bare: The telling roots without spaces; "yarn" of "what is yarn". Empty if a page answers.
        telling: Roots of the words that tell things apart.
        called: What is wholly among the roots and is called something, unless more of it is.
        answered: Addresses of the pages that answer such a question.
    """

    wholes: tuple[str, ...]
    bare: str
    telling: tuple[str, ...]
    called: frozenset[frozenset[str]]
    answered: frozenset[str]


def find(words: str, most: int = MOST) -> Found:
    """The entries that ``words`` mean, best first.

    An entry needs every telling word, or the beginning of one, in its names or in what it says; if
    there is none, those with most of the words are found. Beside them stands what has a whole name
    among the words. A word that stands nowhere is replaced by the nearest one that does.
    """
    asked, missing = in_english(words)
    if not asked:
        return Found((), 0, missing)
    roots, instead = [*map(root, asked)], []
    wholes = tuple({"".join(asked), "".join(roots)})
    if not any(_begun(entry, wholes) for entry in index()):  # "ropetheta" is known
        roots = []
        for word in asked:
            if root(word) in _quiet() or _stands(root(word)):
                roots.append(root(word))
            elif stem := _stem(word):
                roots.append(stem)
            else:
                missing += (word,)
                instead += (near := _nearest(word))
                roots += map(root, near)
        wholes = ("".join(roots),)
    telling = tuple(word for word in roots if word not in _quiet())
    if not roots:
        return Found((), 0, missing)
    answered = {page for page, words in _answers().items() if not words.isdisjoint(roots)}
    bare = "" if answered else "".join(telling)
    question = _Question(wholes, bare, telling or (*roots,), _called({*roots}), frozenset(answered))
    ranked = [
        (rank, order, entry)
        for order, entry in enumerate(index())
        if (rank := _rank(entry, question))
    ]
    ranked.sort(key=lambda each: (each[0].place, each[0].order, each[1]))
    lacks = min((rank.lacks for rank, _, _ in ranked if rank.place != ANSWERS), default=0)
    entries = _apart(
        [entry for rank, _, entry in ranked if rank.place < LACKING or rank.lacks == lacks]
    )
    partly = lacks > 0 and bool(telling)
    return Found(tuple(_shown(entries, most)), len(entries), missing, (*instead,), partly,
                 question.telling)  # fmt: skip


def _called(roots: set[str]) -> frozenset[frozenset[str]]:
    """The longest names that are wholly among the words, if they tell something."""
    names = {
        name
        for entry in index()
        if entry.kind not in SENTENCES
        for name in entry.calls
        if name <= roots and not name <= _quiet()
    }
    return frozenset(name for name in names if not any(name < other for other in names))


def _begun(entry: Entry, wholes: tuple[str, ...]) -> bool:
    """Whether something that it is called begins so."""
    return any(name.startswith(wholes) for name in entry.exact)


def _stands(word: str) -> bool:
    """Whether anything has the word."""
    return any(has(entry.named, word) or has(entry.worded, word) for entry in index())


# Where the beginning of a title or a name stands after what is exactly called so.
_KINDS: dict[Kind, int] = {
    "page": 1, "part": 2, "word": 3, "method": 3, "encoding": 3, "term": 3, "pitfall": 3,
    "model": 4, "key": 5, "claim": 7, "prose": 8,
}  # fmt: skip
SENTENCES = ("claim", "prose")  # kinds of things that are called by one
EXACT, ANSWERS, NAMED, NAMED_AMONG, WORDED, LACKING = range(6)


class _Rank(NamedTuple):
    """What comes before what.

    Attributes:
        place: How the entry answers to the words.
        order: The order within that place.
        lacks: Telling words that it lacks, numbers as half a word; counts where all lack some.
    """

    place: int
    order: tuple[float, ...]
    lacks: float = 0


def _rank(entry: Entry, asked: _Question) -> _Rank | None:
    """Where an entry stands among what is found; None if it is not found."""
    kind = _KINDS[entry.kind]
    if entry.kind != "prose" and not entry.exact.isdisjoint((*asked.wholes, asked.bare)):
        title = normal(entry.title).split()
        by_title = {"".join(title), "".join(map(root, title))}.intersection(
            (*asked.wholes, asked.bare)
        )
        return _Rank(EXACT, (entry.exact.isdisjoint(asked.wholes), not by_title, kind))
    if entry.kind == "page" and entry.address in asked.answered:
        return _Rank(ANSWERS, ())
    named = [has(entry.named, word) for word in asked.telling]
    begun = _begun(entry, asked.wholes)
    # A part that only its page's name leads to comes after what is itself called so.
    by_page = entry.kind == "part" and all(has(entry.worded, word) for word in asked.telling)
    is_name = entry.kind not in SENTENCES
    if is_name and (begun or all(named)) and not by_page:
        late = 2 if entry.kind == "model" and not begun else 0
        return _Rank(NAMED, (kind + late, not begun, entry.size))
    lacking = [
        word
        for word, is_named in zip(asked.telling, named, strict=True)
        if not is_named and not has(entry.worded, word)
    ]
    lacks = sum(0.5 if word.isdecimal() else 1 for word in lacking)
    unnamed = named.count(False)
    called = asked.called & entry.calls
    if is_name and called:
        return _Rank(NAMED_AMONG, (-max(map(len, called)), kind, entry.size), lacks)
    if not lacking:
        return _Rank(WORDED, (entry.kind == "model", unnamed, kind))
    if len(lacking) < len(asked.telling):
        return _Rank(LACKING, (lacks, unnamed, kind), lacks)
    return None


def _apart(entries: list[Entry]) -> list[Entry]:
    """Without what only leads where a better one leads already, and explains no more."""
    kept, seen = [], set()
    for entry in entries:
        leads = entry.address.partition("#")[0] if entry.kind == "prose" else entry.address
        if leads in seen and entry.kind in ("prose", "encoding", "term", "page"):
            continue
        seen.add(leads)
        kept.append(entry)
    return kept


def _shown(entries: list[Entry], most: int) -> list[Entry]:
    """The first ones, with no more than some models before the others."""
    models = [entry for entry in entries if entry.kind == "model"]
    late = set(models[MODELS:])
    first = [entry for entry in entries if entry not in late]
    return [*first, *models[MODELS:]][:most]


@by_language
def _answers() -> dict[str, frozenset[str]]:
    """Roots of the words of questions that a page answers, by its address."""
    return {
        one.address(): frozenset(root(normal(say(word))) for word in one.answers)
        for one in site.pages()
    }


@by_language
def _quiet() -> frozenset[str]:
    """Roots that tell nothing apart: of questions, and of most explanations if they are no term."""
    told = [entry for entry in index() if entry.kind == "prose"]
    counts = Counter(
        word for entry in told for word in {*map(root, f"{entry.worded}{entry.named}".split())}
    )
    terms = {
        root(word)
        for entry in index()
        if entry.kind not in ("part", "term", "pitfall", "claim", "prose")
        for word in entry.named.split()
    }
    common = {word for word, n in counts.items() if n > COMMON * len(told) and word not in terms}
    return frozenset(common.union(map(root, QUIET), *_answers().values()))


@by_language
def _known() -> dict[str, tuple[str, ...]]:
    """Words that things are called by, and of the prose those of some length, by first letter."""
    words: dict[str, None] = {}
    for entry in index():
        words |= dict.fromkeys(entry.named.split())
    for entry in index():
        words |= dict.fromkeys(word for word in entry.worded.split() if len(word) > 6)
    by_letter: dict[str, tuple[str, ...]] = {}
    for word in words:
        if len(word) > 3 and word.isalpha():
            by_letter[word[0]] = (*by_letter.get(word[0], ()), word)
    return by_letter


def _stem(word: str) -> str:
    """What is left of a verb that stands nowhere, if something is called so."""
    stem = re.sub(r"(ing|ed|er)$", "", word)
    is_known = 3 < len(stem) < len(word) and any(has(entry.named, stem) for entry in index())
    return stem if is_known else ""


def _nearest(word: str) -> list[str]:
    """The known word that a mistyped one is a slip of: one or no word.

    Nobody mistypes the first letter, and a number is meant. A short word has one slip: two letters
    changed places, or one within it is wrong; a longer one has two.
    """
    if len(word) < 4 or not word.isalpha():
        return []
    slips, letters = 1 if len(word) < 6 else 2, set(word)
    near = []
    for known in _known().get(word[0], ()):
        if abs(len(known) - len(word)) > slips or len(letters ^ {*known}) > 2 * slips:
            continue
        if slips == 1 and known[-1] != word[-1] and sorted(known) != sorted(word):
            continue
        if (edits := edits_between(word, known)) <= slips:
            near.append((edits, known))
    return [min(near, key=itemgetter(0))[1]] if near else []
