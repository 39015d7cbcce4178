"""What the app can be asked for, and what is found for some words.

The index is built once, out of the table of pages, the prose, the glossary and the core's own lists
of encodings, methods, config keys, pitfalls, claims and released models. What is found first: what
is called exactly what was typed, then a page that answers such a question, then titles of pages,
parts, terms and keys that have the words, then what the words name among others, and prose.

Everything is found by its words in each language, in the same order whatever the visitor's is, and
shown in the visitor's. Chinese has no spaces: a word of it is found wherever its characters stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from operator import itemgetter
from typing import Literal, NamedTuple, TypeVar
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
    CHINESE,
    CHINESE_QUIET,
    ENCODING_PARTS,
    ENCODING_WORDS,
    KEYS,
    METHOD_WORDS,
    PITFALL_WORDS,
    QUIET,
    comparable,
    edits_between,
    has,
    is_unspaced,
    normal,
    root,
)
from posviz.ui.text import LANGUAGES, by_language, clauses, joined, say

R = TypeVar("R")

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
    """Something that can be found, in the visitor's language.

    Attributes:
        kind: What it is.
        title: What it is called.
        address: Where it is, within the app.
        says: One sentence or two about it.
        where: Title of the page that it is on, if it is not the page itself.
        names: What else it is called.
        body: Further words that lead to it.
    """

    kind: Kind
    title: str
    address: str
    says: str
    where: str = ""
    names: tuple[str, ...] = ()
    body: str = ""


@dataclass(frozen=True)
class Found:
    """What was found for some words.

    Attributes:
        entries: The best ones, best first.
        count: How many there are in all.
        missing: Words that stand nowhere.
        instead: Known words that were looked for in place of the missing ones.
        partly: Whether no entry has all the words.
        words: Roots of the words that were looked for, and the same words in other languages.
    """

    entries: tuple[Entry, ...]
    count: int
    missing: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    partly: bool = False
    words: tuple[str, ...] = ()


@by_language  # files of the package and of the prose, read once
def index() -> tuple[Entry, ...]:
    """Everything that can be found; the same things in the same order in each language."""
    entries = [*_pages(), *_words(), *_encodings(), *_methods(), *_keys()]
    entries += [*_terms(), *_pitfalls(), *_claims(), *_models(), *_prose()]
    return tuple(entries)


def _in(code: str, function: Callable[[], R]) -> R:
    """What a function returns in a language; in a thread, which speaks it and is no visitor's."""

    def told() -> R:
        text.speak(code)
        return function()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(told).result()


class _Explained(NamedTuple):
    """A word of the glossary.

    Attributes:
        title: All that it is called.
        names: Each of it.
        says: What it means.
    """

    title: str
    names: tuple[str, ...]
    says: str


@by_language
def _glossary() -> tuple[_Explained, ...]:
    """The words of the glossary, in the order that they have in each language."""
    told = re.findall(
        r"^\*\*(.+?)\.\*\* (.*?)(?=\n\n|\Z)", text.section("glossary", "Words"), re.M | re.S
    )
    return tuple(
        _Explained(
            plain(title),
            tuple(name for part in re.split("[,()]", title) if (name := plain(part))),
            plain(says),
        )
        for title, says in told
    )


@cache
def _english_glossary() -> dict[str, int]:
    """Which word of the glossary has a name; by its normal form."""
    words = _in("en", _glossary)
    return {normal(name): at for at, word in enumerate(words) for name in word.names}


@cache
def _explaining() -> dict[int, site.Page]:
    """The page that is called like a word of the glossary and explains it in its place."""
    places, words = _places(), _english_glossary()
    found = {}
    for one in site.pages():
        at = words.get(normal(one.title))
        if at is not None and places[normal(one.title)] == (one, ""):
            found[at] = one
    return found


def _pages() -> Iterator[Entry]:
    """Pages and their parts; a page that is called like a word of the glossary explains it."""
    explained = {one.name: at for at, one in _explaining().items()}
    for one in site.pages():
        title, says = say(one.title), say(one.sees)
        names: tuple[str, ...] = (one.name,)
        if one.name in explained:
            word = _glossary()[explained[one.name]]
            says, names = together([word.says, says]), (one.name, *word.names)
        yield Entry("page", title, one.address(), says, names=names)
        for part, label in one.parts.items():
            yield Entry("part", say(label), one.address(part), "", title, (part,))
    title = text.title("glossary", "Words")
    first = next(site.pages()).address()
    yield Entry("part", title, f"{first}#read={quote(title)}",
                say("What the words mean; folded below every page."),
                names=(say("glossary"), say("vocabulary"), say("definitions")))  # fmt: skip


def _places() -> dict[str, tuple[site.Page, str]]:
    """Page and part that each term of the table leads to, by its normal form."""
    return {normal(term): (one, part) for one in site.pages() for term, part in one.terms.items()}


def _words() -> Iterator[Entry]:
    """Words of the glossary that no page explains, each with the page that is about it."""
    places, first = _places(), next(site.pages())
    for at, word in enumerate(_glossary()):
        english = [name for name, place in _english_glossary().items() if place == at]
        one, part = next((places[name] for name in english if name in places), (first, ""))
        if at not in _explaining():
            yield Entry("word", word.title, one.address(part), word.says, say(one.title),
                        word.names)  # fmt: skip


def _terms() -> Iterator[Entry]:
    """Terms of the pages that the glossary does not explain."""
    for one in site.pages():
        for term, part in one.terms.items():
            if normal(term) not in _english_glossary():
                yield Entry("term", say(term), one.address(part), say(one.sees), say(one.title))


def _encodings() -> Iterator[Entry]:
    by_name = {one.name: one for one in site.pages()}
    for encoding in catalog.ENCODINGS:
        one = by_name[encoding.page or "compare"]
        source = say("{sentence}.", sentence=say(encoding.source.title))
        says = together([say(encoding.kind.why), source])
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
        slips = clauses(say(slip.label) for slip in one.slips)
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
        yield Entry("model", name, address, joined(map(say, told)), _title(address),
                    body=" ".join([record["family"], encoding, *methods]))  # fmt: skip


def _prose() -> Iterator[Entry]:
    """Sections of the pages' prose; one that has the name of a part is about that part."""
    sections = _in("en", _titles)
    for one in site.pages():
        for english in sections[one.name]:
            part = next((name for name, label in one.parts.items() if label == english), "")
            title, body = text.title(one.name, english), text.section(one.name, english)
            address = f"{one.address(part)}#read={quote(title)}"
            yield Entry("prose", title, address, "", say(one.title), body=plain(body))


def _titles() -> dict[str, list[str]]:
    """Titles of the sections of each page."""
    return {one.name: [title for title, _ in text.sections(one.name)] for one in site.pages()}


def _title(address: str) -> str:
    name = re.split("[?#]", address)[0]
    return next(say(one.title) for one in site.pages() if one.name == name)


def plain(markdown: str) -> str:
    """Prose without its marks and line ends."""
    return " ".join(re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", markdown).split())


def together(sentences: Iterable[str]) -> str:
    """Sentences after each other; after a Chinese one there is no space."""
    return re.sub("(?<=[。！？]) ", "", " ".join(sentences))


# ------------------------------------------------------------------------------------- finding


@dataclass(frozen=True)
class _Told:
    """How an entry is asked for: its words in all languages.

    Attributes:
        kind: What it is.
        address: Where it is, as English says it.
        exact: All that it is called, without spaces, as it stands and by the roots of its words.
        titles: Of these, its titles.
        calls: Roots of the words of each thing that it is called.
        named: Words of its names, as :func:`comparable` has them.
        worded: Words of the rest, likewise.
        size: How long its English names are.
    """

    kind: Kind
    address: str
    exact: frozenset[str]
    titles: frozenset[str]
    calls: frozenset[frozenset[str]]
    named: str
    worded: str
    size: int


@cache
def _told() -> tuple[_Told, ...]:
    """How each entry of the index is asked for, in its order."""
    languages = [_in(code, index) for code in LANGUAGES]
    return tuple(_asked_for(entries) for entries in zip(*languages, strict=True))


def _asked_for(entries: tuple[Entry, ...]) -> _Told:
    """Words of one entry, as each language has it; English first."""
    exact: list[str] = []
    titles: list[str] = []
    calls: list[list[str]] = []
    named: list[str] = []
    size = 0
    for entry in entries:
        own = [normal(name).split() for name in (entry.title, *entry.names)]
        roots = [[root(word) for word in name] for name in own]
        # A part is called by its page's name too, so that "rope cache" is one.
        page = normal(entry.where).split() if entry.kind == "part" else []
        exact += map("".join, [*own, *roots])
        titles += ["".join(own[0]), "".join(roots[0])]
        calls += [roots[0], [*roots[0], *map(root, page)]] if page else roots
        named += [*(word for name in own for word in name), *page]
        size = size or sum(map(len, named))
    worded = " ".join(f"{entry.where} {entry.says} {entry.body}" for entry in entries)
    return _Told(entries[0].kind, entries[0].address, frozenset(exact), frozenset(titles),
                 frozenset(map(frozenset, calls)), comparable(" ".join(dict.fromkeys(named))),
                 comparable(worded), size)  # fmt: skip


class _Word(NamedTuple):
    """A word that was typed.

    Attributes:
        means: Its English root; a Chinese word that is in no dictionary here, itself.
        typed: What was typed of it, if it is Chinese.
    """

    means: str
    typed: str = ""

    def stands(self, told: str) -> bool:
        """Whether comparable words have it. A single character is of too many Chinese words."""
        return has(told, self.means) or (len(self.typed) > 1 and has(told, self.typed))


# A line is sent at every key, and all its words but the last are those of the key before.
@lru_cache(512)
def _standing(word: _Word) -> tuple[bytes, bytes]:
    """For each entry, whether its names have a word, and whether the rest has it."""
    told = _told()
    return bytes(word.stands(one.named) for one in told), bytes(
        word.stands(one.worded) for one in told
    )


@dataclass(frozen=True)
class _Question:
    """What was typed, as the entries are asked for it.

    Attributes:
        wholes: All of it without spaces, as it stands and by roots.
        bare: The telling words without spaces; "yarn" of "what is yarn". None if a page answers.
        telling: The words that tell things apart.
        called: What is wholly among the words and is called something, unless more of it is.
        answered: Addresses of the pages that answer such a question.
    """

    wholes: tuple[str, ...]
    bare: tuple[str, ...]
    telling: tuple[_Word, ...]
    called: frozenset[frozenset[str]]
    answered: frozenset[str]


def find(words: str, most: int = MOST) -> Found:
    """The entries that ``words`` mean, best first.

    An entry needs every telling word, or the beginning of one, in its names or in what it says; if
    there is none, those with most of the words are found. Beside them stands what has a whole name
    among the words. A word that stands nowhere is replaced by the nearest one that does.
    """
    typed = normal(words).split()
    asked: list[_Word] = []
    missing: tuple[str, ...] = ()
    instead: list[str] = []
    for word in typed:
        if is_unspaced(word):
            known, unknown, near = _chinese(word)
            asked, missing, instead = [*asked, *known], (*missing, *unknown), [*instead, *near]
        else:
            asked.append(_Word(word))
    if not asked:
        return Found((), 0, missing or tuple(typed))
    roots = [_Word(root(word.means), word.typed) for word in asked]
    wholes = _joined(asked) | _joined(roots)
    if not missing:
        wholes |= {"".join(typed)}
    if not any(_begun(told, (*wholes,)) for told in _told()):  # "ropetheta" is known
        roots = []
        for each, chinese in asked:
            if chinese or root(each) in _quiet() or _stands(root(each)):
                roots.append(_Word(root(each), chinese))
            elif stem := _stem(each):
                roots.append(_Word(stem))
            else:
                missing += (each,)
                instead += (nearest := _nearest(each))
                roots += (_Word(root(word)) for word in nearest)
        wholes = _joined(roots)
    telling = tuple(dict.fromkeys(word for word in roots if _tells(word)))
    if not roots:
        return Found((), 0, missing)
    forms = {form for word in roots for form in word if form}
    answered = {page for page, words in _answers().items() if not words.isdisjoint(forms)}
    bare = () if answered else (*_joined(telling),)
    question = _Question(
        (*wholes,), bare, telling or (*roots,), _called(forms), frozenset(answered)
    )  # fmt: skip
    ranked = [
        (rank, order, entry)
        for order, (entry, told) in enumerate(zip(index(), _told(), strict=True))
        if (rank := _rank(told, question, order))
    ]
    ranked.sort(key=lambda each: (each[0].place, each[0].order, each[1]))
    lacks = min((rank.lacks for rank, _, _ in ranked if rank.place != ANSWERS), default=0)
    entries = _apart(
        [entry for rank, _, entry in ranked if rank.place < LACKING or rank.lacks == lacks]
    )
    partly = lacks > 0 and bool(telling)
    return Found(tuple(_shown(entries, most)), len(entries), missing, (*instead,), partly,
                 _in_all_languages(question.telling))  # fmt: skip


def _joined(words: Iterable[_Word]) -> set[str]:
    """The words without spaces, in English and, if all are Chinese, as they were typed."""
    words = [*words]
    typed = "".join(dict.fromkeys(word.typed for word in words))
    joined = {"".join(word.means for word in words)}
    if typed and all(word.typed for word in words):
        joined.add(typed)
    return joined - {""}


def _tells(word: _Word) -> bool:
    """Whether a word tells things apart."""
    if word.means in _quiet():
        return False
    if not is_unspaced(word.means) or word.means in _chinese_names():
        return True
    prose = [at for at, told in enumerate(_told()) if told.kind == "prose"]
    _, worded = _standing(word)
    return sum(worded[at] for at in prose) <= COMMON * len(prose)


def _called(forms: set[str]) -> frozenset[frozenset[str]]:
    """The longest names that are wholly among the words, if they tell something."""
    names = {
        name
        for told in _told()
        if told.kind not in SENTENCES
        for name in told.calls
        if name <= forms and not name <= _quiet()
    }
    return frozenset(name for name in names if not any(name < other for other in names))


def _begun(told: _Told, wholes: tuple[str, ...]) -> bool:
    """Whether something that it is called begins so."""
    return any([name.startswith(wholes) for name in told.exact])


def _stands(word: str) -> bool:
    """Whether anything has the word."""
    return any(has(told.named, word) or has(told.worded, word) for told in _told())


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


def _rank(told: _Told, asked: _Question, at: int) -> _Rank | None:
    """Where an entry, at its place in the index, stands among what is found; None if nowhere."""
    kind = _KINDS[told.kind]
    looked_for = (*asked.wholes, *asked.bare)
    if told.kind != "prose" and not told.exact.isdisjoint(looked_for):
        by_title = not told.titles.isdisjoint(looked_for)
        return _Rank(EXACT, (told.exact.isdisjoint(asked.wholes), not by_title, kind))
    if told.kind == "page" and told.address in asked.answered:
        return _Rank(ANSWERS, ())
    stands = [(named[at], worded[at]) for named, worded in map(_standing, asked.telling)]
    named = [is_named for is_named, _ in stands]
    begun = _begun(told, asked.wholes)
    # A part that only its page's name leads to comes after what is itself called so.
    by_page = told.kind == "part" and all(is_worded for _, is_worded in stands)
    is_name = told.kind not in SENTENCES
    if is_name and (begun or all(named)) and not by_page:
        late = 2 if told.kind == "model" and not begun else 0
        return _Rank(NAMED, (kind + late, not begun, told.size))
    lacking = [
        word
        for word, (is_named, is_worded) in zip(asked.telling, stands, strict=True)
        if not is_named and not is_worded
    ]
    lacks = sum(0.5 if word.means.isdecimal() else 1 for word in lacking)
    unnamed = named.count(0)
    called = asked.called & told.calls
    if is_name and called:
        return _Rank(NAMED_AMONG, (-max(map(len, called)), kind, told.size), lacks)
    if not lacking:
        return _Rank(WORDED, (told.kind == "model", unnamed, kind))
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


@cache
def _answers() -> dict[str, frozenset[str]]:
    """Roots of the words of questions that a page answers, in all languages, by its address."""

    def said() -> dict[str, list[str]]:
        return {one.address(): [*map(say, one.answers)] for one in site.pages()}

    languages = [_in(code, said) for code in LANGUAGES]
    return {
        page: frozenset(root(normal(word)) for answers in languages for word in answers[page])
        for page in languages[0]
    }


@cache
def _quiet() -> frozenset[str]:
    """Roots that tell nothing apart: of questions, and of most explanations if they are no term."""
    prose = [told for told in _told() if told.kind == "prose"]
    counts = Counter(
        word for told in prose for word in {*map(root, f"{told.worded}{told.named}".split())}
    )
    terms = {
        root(word)
        for told in _told()
        if told.kind not in ("part", "term", "pitfall", "claim", "prose")
        for word in told.named.split()
    }
    common = {word for word, n in counts.items() if n > COMMON * len(prose) and word not in terms}
    return frozenset(common.union(map(root, QUIET), *_answers().values()))


@cache
def _known() -> dict[str, tuple[str, ...]]:
    """Words that things are called by, and of the prose those of some length, by first letter."""
    words: dict[str, None] = {}
    for told in _told():
        words |= dict.fromkeys(told.named.split())
    for told in _told():
        words |= dict.fromkeys(word for word in told.worded.split() if len(word) > 6)
    by_letter: dict[str, tuple[str, ...]] = {}
    for word in words:
        if len(word) > 3 and word.isalpha() and not is_unspaced(word):
            by_letter[word[0]] = (*by_letter.get(word[0], ()), word)
    return by_letter


def _stem(word: str) -> str:
    """What is left of a verb that stands nowhere, if something is called so."""
    stem = re.sub(r"(ing|ed|er)$", "", word)
    is_known = 3 < len(stem) < len(word) and any(has(told.named, stem) for told in _told())
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


# ------------------------------------------------------------------------------------- Chinese

# What may stand before or after a Chinese word without being of it.
_PARTICLES = "的是了吗呢"


def _chinese(run: str) -> tuple[list[_Word], list[str], list[str]]:
    """Words of a run of characters, those that stand nowhere, and the one that is near to it.

    What is known is taken out first, the longest first; of the rest, what stands somewhere.
    """
    if run in CHINESE_QUIET:
        return [], [], []
    if run in CHINESE:
        return _meant(run), [], []
    if begun := next((known for known in CHINESE if known.startswith(run)), ""):
        return _meant(begun, run), [], []
    if any(f" {run}" in told.named for told in _told()):
        return [_Word(run, run)], [], []
    words: list[_Word] = []
    unknown: list[str] = []
    pieces = [piece for piece in _known_chinese().split(run) if piece]
    for piece in pieces:
        if _known_chinese().fullmatch(piece):
            words += () if piece in CHINESE_QUIET else _meant(piece)
            continue
        standing, rest = _loose(piece)
        words += standing
        unknown += rest
    if unknown and (near := _nearest_chinese(run)):
        return _meant(near), [run], [near]
    if not words:  # of single characters, or nothing
        words = [_Word(run, run)] if has(_all_chinese(), run) else []
        unknown = [] if words else [run]
    return words, [piece for piece in unknown if len(piece) > 1 or piece == run], []


def _meant(piece: str, typed: str = "") -> list[_Word]:
    """The English words that a Chinese one means; itself if it is in no dictionary here."""
    typed = typed or piece
    return [_Word(each, typed) for each in normal(CHINESE.get(piece, piece)).split()]


def _loose(piece: str) -> tuple[list[_Word], list[str]]:
    """Of characters between known words: the longest that stand somewhere, and the others."""
    piece = piece.strip(_PARTICLES)
    if piece in CHINESE:
        return _meant(piece), []
    words: list[_Word] = []
    unknown, at = [""], 0
    while at < len(piece):
        ends = range(len(piece), at + 1, -1)
        end = next((end for end in ends if has(_all_chinese(), piece[at:end])), 0)
        if end:
            words += _meant(piece[at:end])
            unknown.append("")
        elif piece[at] in CHINESE_QUIET:
            unknown.append("")
        else:
            unknown[-1] += piece[at]
        at = end or at + 1
    return words, [rest for rest in unknown if rest]


@cache
def _all_chinese() -> str:
    """All runs of characters that stand anywhere."""
    words = (word for told in _told() for word in f"{told.named}{told.worded}".split())
    return " ".join(dict.fromkeys(word for word in words if is_unspaced(word)))


@cache
def _chinese_names() -> frozenset[str]:
    """Chinese words that things are called by."""
    told = (word for told in _told() if told.kind not in SENTENCES for word in told.named.split())
    return frozenset(word for word in told if is_unspaced(word))


@cache
def _known_chinese() -> re.Pattern[str]:
    """The Chinese words that are known and are no single character, longest first."""
    answers = (word for words in _answers().values() for word in words if is_unspaced(word))
    words = {*CHINESE, *CHINESE_QUIET, *_chinese_names(), *answers}
    known = sorted((word for word in words if len(word) > 1), key=lambda word: (-len(word), word))
    return re.compile(f"({'|'.join(known)})")


def _nearest_chinese(run: str) -> str:
    """The known word of as many characters, three or more, of which one is another."""
    known = {*CHINESE, *_chinese_names()}
    near = (
        word
        for word in sorted(known)
        if len(word) == len(run) > 2 and sum(map(str.__ne__, word, run)) == 1
    )
    return next(near, "")


@cache
def _pairs() -> tuple[tuple[frozenset[str], str], ...]:
    """Chinese words and the English roots that mean the same."""
    pairs = [*CHINESE.items()]
    languages = (_in("en", index), _in("zh", index))
    for english, chinese in zip(*languages, strict=True):
        if english.kind == "word":  # "注意力", "attention", "头", "head"
            pairs += pairwise(chinese.names)
        elif english.kind in ("part", "term", "encoding", "method"):
            pairs.append((chinese.title, english.title))
    return tuple(
        (frozenset(map(root, normal(english).split())), normal(chinese))
        for chinese, english in pairs
        if any(map(is_unspaced, chinese)) and not any(map(is_unspaced, english))
    )


def _in_all_languages(words: tuple[_Word, ...]) -> tuple[str, ...]:
    """The forms of the words that an explanation may have, in whichever language it is."""
    forms = dict.fromkeys(form for word in words for form in word if form)
    own = set(forms)
    for roots, chinese in _pairs():
        if roots <= own:
            forms[chinese] = None
        elif chinese in own:
            forms |= dict.fromkeys(roots)
    return tuple(forms)
