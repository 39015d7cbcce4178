"""What the app can be asked for, and what is found for some words.

The index is built once, out of the table of pages, the prose, the glossary and the core's own lists
of encodings, methods, config keys, pitfalls, claims and released models. What is found first: a
term that is exactly what was typed, then titles of pages, parts, beginnings of terms, and prose.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from urllib.parse import urlencode

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
from posviz.ui.text import say

Kind = Literal[
    "page", "part", "word", "method", "encoding", "key", "term", "pitfall", "claim", "model",
    "prose",
]  # fmt: skip

# Other words for what the core calls by one name; beside those that configs use.
ENCODING_WORDS = {
    "none": ("NoPE", "no positional encoding"),
    "sinusoidal": ("absolute sinusoidal", "sin cos"),
    "learned": ("learned absolute", "position embedding table"),
    "shaw": ("relative position representations", "relative keys"),
    "t5": ("relative attention bias", "bucketed bias"),
    "transformer_xl": ("XL", "TXL"),
    "rope": ("rotary position embedding", "RoFormer"),
    "alibi": ("attention with linear biases",),
    "xpos": ("LeX", "length-extrapolatable"),
}
METHOD_WORDS = {
    "default": ("no scaling", "unscaled"),
    "linear": ("position interpolation", "linear scaling", "linear"),
    "ntk": ("NTK-aware", "static NTK", "alpha"),
    "dynamic": ("dynamic NTK", "dynamic scaling"),
    "yarn": ("NTK-by-parts", "yet another RoPE extension"),
    "llama3": ("Llama 3.1", "Llama 3 rule"),
    "longrope": ("LongRoPE", "su"),
    "proportional": ("proportional RoPE", "p-RoPE"),
}
# Part of a page that is about an encoding, where the page has several.
ENCODING_PARTS = {"shaw": "shaw", "t5": "buckets"}
# Config keys that are handles, where each one is, and what it does if the core does not say it.
KEYS = {
    "rope_theta": ("rope", ""),
    "head_dim": ("rope", ""),
    "partial_rotary_factor": ("rope?part=partial", "Which share of each head turns."),
    "rotary_pct": ("rope?part=partial", "Which share of each head turns."),
    "kv_lora_rank": ("rope?part=mla", "Numbers that are cached for each token without RoPE."),
    "qk_rope_head_dim": ("rope?part=mla", "Dimensions that turn, beside those that do not."),
    "alibi_bias_max": ("alibi", "Exponent of the flattest slope."),
    "relative_attention_num_buckets": ("relative?part=buckets", "Rows of T5's table."),
    "relative_attention_max_distance": (
        "relative?part=buckets", "Distance from which T5's last bucket serves."),
    "clamp_len": ("transformer_xl?part=distance", "Distance at which Transformer-XL stops."),
    "factor": ("scaling", ""),
    "original_max_position_embeddings": ("scaling", ""),
    "beta_fast": ("scaling?pinned=yarn", ""),
    "beta_slow": ("scaling?pinned=yarn", ""),
    "truncate": ("scaling?pinned=yarn", "Whether the ends of YaRN's ramp are rounded."),
    "mscale": ("scaling?part=attention&pinned=yarn", "How much YaRN raises the scores."),
    "mscale_all_dim": (
        "scaling?part=attention&pinned=yarn", "What YaRN's mscale is divided by."),
    "attention_factor": ("scaling?part=attention", "What cos and sin are multiplied by."),
    "low_freq_factor": (
        "scaling?pinned=llama3", "Pairs with fewer turns are slowed by the whole factor."),
    "high_freq_factor": ("scaling?pinned=llama3", "Pairs with more turns are kept."),
    "short_factor": ("scaling?pinned=longrope", "What each pair is divided by in short texts."),
    "long_factor": ("scaling?pinned=longrope", "What each pair is divided by in long texts."),
    "mrope_section": ("models?find=mrope", "How many pairs count time, height and width."),
    "sliding_window": ("models?find=sliding", "How many tokens a layer looks back."),
}  # fmt: skip

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
        exact: All that it is called, without spaces.
        named: Words of its names, each after a space.
        worded: Words of the rest, likewise.
    """

    kind: Kind
    title: str
    address: str
    says: str
    where: str = ""
    names: tuple[str, ...] = ()
    body: str = ""
    exact: frozenset[str] = field(init=False)
    named: str = field(init=False)
    worded: str = field(init=False)

    def __post_init__(self) -> None:
        own = [normal(name) for name in (self.title, *self.names)]
        page = [normal(self.where)] if self.kind == "part" else []  # so that "rope cache" is one
        worded = normal(f"{self.where} {self.says} {self.body}")
        object.__setattr__(self, "exact", frozenset(name.replace(" ", "") for name in own))
        object.__setattr__(self, "named", f" {' '.join(own + page)} ")
        object.__setattr__(self, "worded", f" {worded} ")


@dataclass(frozen=True)
class Found:
    """What was found for some words.

    Attributes:
        entries: The best ones, best first.
        count: How many there are in all.
        missing: Words that stand nowhere.
        instead: Known words that were looked for in place of the missing ones.
        partly: Whether no entry has all the words.
    """

    entries: tuple[Entry, ...]
    count: int
    missing: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    partly: bool = False


def normal(words: str) -> str:
    """Words as they are compared: one form of each letter, no case, signs as spaces.

    Scripts that put no spaces between words count by characters.
    """
    plain = unicodedata.normalize("NFKC", words).casefold()
    plain = re.sub(r"([\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff])", r" \1 ", plain)
    return " ".join(re.findall(r"[^\W_]+", plain))


@cache  # files of the package and of the prose, read once
def index() -> tuple[Entry, ...]:
    """Everything that can be found."""
    words = dict(_words())
    entries = [*_pages(), *dict.fromkeys(words.values()), *_encodings(), *_methods(), *_keys()]
    entries += [*_terms(words), *_pitfalls(), *_claims(), *_models(), *_prose()]
    return tuple(entries)


def _pages() -> Iterator[Entry]:
    for one in site.pages():
        title = say(one.title)
        yield Entry("page", title, one.address(), say(one.sees), names=(one.name,))
        for part, label in one.parts.items():
            yield Entry("part", say(label), one.address(part), "", title, (part,))


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
        says = f"{say(encoding.kind.why)} {encoding.source.title}."
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
            if meant == rope_type and other != "mrope"
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
        says = say(says or helps.get(name) or "A key of config.json that the doctor reads.")
        yield Entry("key", name, address, says, _title(address), body="config.json")
    for unit in rope_units.UNITS:
        if unit.name in known:
            continue
        address = "scaling?" + urlencode({"part": "units", "unit": unit.name})
        says = say("A setting of {program}.", program=unit.engine)
        yield Entry("key", unit.name, address, says, _title(address), body=unit.engine)


def _pitfalls() -> Iterator[Entry]:
    for one in pitfalls.PITFALLS:
        address = "pitfalls?" + urlencode({"pitfall": one.id})
        slips = "; ".join(say(slip.label) for slip in one.slips)
        yield Entry("pitfall", say(one.label), address, slips, _title(address), (one.id,))


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
            yield Entry("prose", title, one.address(part), "", say(one.title), body=plain(body))


def _title(address: str) -> str:
    name = address.partition("?")[0]
    return next(say(one.title) for one in site.pages() if one.name == name)


def plain(markdown: str) -> str:
    """Prose without its marks and line ends."""
    return " ".join(re.sub(r"[*`]|\[([^\]]*)\]\([^)]*\)", r"\1", markdown).split())


# ------------------------------------------------------------------------------------- finding


def find(words: str, most: int = MOST) -> Found:
    """The entries that ``words`` mean, best first.

    An entry needs every word, or the beginning of one, in its names or in what it says; if there is
    none, those with most of the words are found. A word that stands nowhere is replaced by the
    nearest one that does.
    """
    asked = normal(words).split()
    if not asked:
        return Found((), 0)
    near: dict[str, list[str]] = {}
    if not any("".join(asked) in entry.exact for entry in index()):  # "ropetheta" is known
        near = {word: _nearest(word) for word in asked if not _stands(word)}
    missing = tuple(near)
    instead = tuple(known for word in missing for known in near[word])
    asked = [each for word in asked for each in near.get(word, [word])]
    whole = "".join(asked)
    telling = [word for word in asked if word not in _common()] or asked
    if not telling:
        return Found((), 0, missing)
    ranked = []
    for order, entry in enumerate(index()):
        hits = sum(_has(entry.named, word) or _has(entry.worded, word) for word in telling)
        if hits or whole in entry.exact:
            ranked.append((*_rank(entry, whole, telling, hits), order, entry))
    best = min((rank[0] for rank in ranked), default=0)
    ranked.sort(key=lambda rank: rank[:-1])
    entries = _apart([rank[-1] for rank in ranked if rank[0] == best])
    return Found(tuple(_shown(entries, most)), len(entries), missing, instead, best > 0)


def _stands(word: str) -> bool:
    """Whether anything has the word."""
    return any(_has(entry.named, word) or _has(entry.worded, word) for entry in index())


def _has(told: str, word: str) -> bool:
    """Whether a word, or one that it begins, is among those told."""
    return f" {word}" in told


# Where the beginning of a title or a name stands after what is exactly called so.
_KINDS: dict[Kind, int] = {
    "page": 1, "part": 2, "word": 3, "method": 3, "encoding": 3, "key": 3, "term": 3,
    "pitfall": 3, "claim": 4, "model": 4, "prose": 5,
}  # fmt: skip


def _rank(entry: Entry, whole: str, asked: list[str], hits: int) -> tuple[int, int, int, int]:
    """Words that it lacks; how well it is named so; how far its names go beyond the words."""
    kind = _KINDS[entry.kind]
    if whole in entry.exact and entry.kind != "prose":
        return 0, 0, kind, 0
    lacks = len(asked) - hits
    # A part that only its page's name leads to comes after what is itself called so.
    by_page = entry.kind == "part" and all(_has(entry.worded, word) for word in asked)
    if all(_has(entry.named, word) for word in asked) and not by_page:
        starts = any(name.startswith(whole) for name in entry.exact)
        return lacks, kind, 0 if starts else 1, len(entry.named)
    named = sum(_has(entry.named, word) for word in asked)
    return lacks, 5 if entry.kind != "model" else 6, len(asked) - named, kind


def _apart(entries: list[Entry]) -> list[Entry]:
    """Without prose, encodings and terms that lead where a better one leads already."""
    kept, seen = [], set()
    for entry in entries:
        if entry.address in seen and entry.kind in ("prose", "encoding", "term"):
            continue
        seen.add(entry.address)
        kept.append(entry)
    return kept


def _shown(entries: list[Entry], most: int) -> list[Entry]:
    """The first ones, with no more than some models before the others."""
    models = [entry for entry in entries if entry.kind == "model"]
    late = set(models[MODELS:])
    first = [entry for entry in entries if entry not in late]
    return [*first, *models[MODELS:]][:most]


@cache
def _common() -> frozenset[str]:
    """Words in so many explanations that they tell nothing apart, and that are no terms."""
    told = [entry for entry in index() if entry.kind == "prose"]
    counts: dict[str, int] = {}
    for entry in told:
        for word in {*entry.worded.split(), *entry.named.split()}:
            counts[word] = counts.get(word, 0) + 1
    terms = {
        word
        for entry in index()
        if entry.kind not in ("part", "term", "pitfall", "claim", "prose")
        for word in entry.named.split()
    }
    return frozenset(w for w, n in counts.items() if n > COMMON * len(told) and w not in terms)


@cache
def _known() -> dict[int, tuple[str, ...]]:
    """Words that things are called by, and of the prose those of some length, by their length."""
    words: dict[str, None] = {}
    for entry in index():
        words |= dict.fromkeys(entry.named.split())
    for entry in index():
        words |= dict.fromkeys(word for word in entry.worded.split() if len(word) > 6)
    by_length: dict[int, tuple[str, ...]] = {}
    for word in words:
        by_length[len(word)] = (*by_length.get(len(word), ()), word)
    return by_length


def _nearest(word: str) -> list[str]:
    """The known word nearest to a mistyped one, if one is near: one or no word."""
    if len(word) < 4:
        return []
    letters, near = set(word), []
    for length in (len(word), len(word) - 1, len(word) + 1, len(word) - 2, len(word) + 2):
        near += [
            known
            for known in _known().get(length, ())
            if len(letters & set(known)) >= 0.6 * len(letters)
        ]
    return difflib.get_close_matches(word, near, 1, 0.75)
