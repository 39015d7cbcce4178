"""Rules for a config as a whole: its base, what turns in which layers, and other programs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from posviz import hf_config, params, presets, rope_scaling
from posviz import hf_model_types as types
from posviz.config_finding import (
    MOST_UNKNOWN,
    ROUNDING,
    TOP,
    Effect,
    File,
    Mend,
    between,
    compared,
    difference,
    layered,
    mended,
    number,
    number_in,
    number_of,
    rotary_or_none,
    same,
    side_by_side,
    tidy,
    value_at,
)
from posviz.config_names import (
    LONGEST_NAME,
    MEANT_AT_THE_TOP,
    NO_SLIPS,
    SYNONYMS,
    bare,
    meant_name,
    parts_of,
)
from posviz.hf_config import (
    CONTEXT,
    ELSEWHERE,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    LOCAL_THETA,
    METHOD_KEYS,
    SETTINGS,
    SHARE,
    THETA,
    Config,
    Reading,
    Rotary,
    short,
)
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import LongRope, Ntk, Yarn


def about_names(file: File) -> None:
    """Findings about keys beside the settings that nobody reads."""
    text = file.text
    unknown = [key for key in text if isinstance(key, str) and key not in TOP | NO_SLIPS]
    for key in itertools.islice(unknown, MOST_UNKNOWN):
        if text[key] is None:
            continue
        meant = meant_name(key, MEANT_AT_THE_TOP, SYNONYMS, 0.85)
        if meant is None or text.get(meant) is not None:
            continue
        if bare(key) not in (*SYNONYMS, bare(meant)) and parts_of(key) != parts_of(meant):
            continue
        if meant == "rope_theta" and _theta_is_told(file):
            continue
        path = file.place(key)
        file.add(
            "warning",
            key,
            "{unread} is not read, did you mean {likely}?",
            unread=key,
            likely=meant,
            mend=[Mend(path, removes=True), Mend((*path[:-1], meant), text[key])],
        )
    if file.encoding != "rope":
        return
    strays = [
        key
        for key in sorted({*METHOD_KEYS, "rope_type", "attn_factor"} - {"truncate"})
        if isinstance(text.get(key), (int, float, str, list)) and not isinstance(text[key], bool)
    ]
    strays = [key for key in strays if key == "rope_type" or not isinstance(text[key], str)]
    if strays and text.get("type") in (*rope_scaling.ROPE_SCALINGS, *hf_config.ALIASES):
        strays.append("type")
    if strays:
        home = file.settings_place()
        moved = {**file.settings(), **{key: text[key] for key in strays}}
        file.add(
            "warning",
            strays[0],
            "{unread} stands beside the settings and is not read there; it belongs inside "
            "{settings}",
            unread=", ".join(strays),
            settings=home[-1],
            mend=[Mend(file.place(key), removes=True) for key in strays] + [Mend(home, moved)],
        )


# The file as a whole.


def _theta_is_told(file: File) -> bool:
    """Whether a base stands anywhere in the file."""
    attention = hf_config.attention_config(file.text)
    told = [attention.get(name) for name in THETA]
    for key in SETTINGS:
        settings = file.text.get(key)
        if isinstance(settings, dict):
            told.append(settings.get("rope_theta"))
            told += [own.get("rope_theta") for own in settings.values() if isinstance(own, dict)]
    return any(value is not None for value in told)


def about_the_file(file: File) -> None:
    """Findings about keys outside the settings."""
    if file.encoding != "rope":
        _about_others(file)
        return
    _about_text_numbers(file)
    _about_both_settings(file)
    _about_base(file)
    _about_head(file)
    _about_layers(file)
    text = file.text
    if text.get("use_dynamic_ntk") is True:
        file.add(
            "note",
            "use_dynamic_ntk",
            "use_dynamic_ntk is Qwen's own rule, from the length in powers of two; the frequencies "
            "here are those up to the trained context",
        )


def _about_text_numbers(file: File) -> None:
    """Numbers in quotes: each of them, while reading stops at the first."""
    beside = (
        *HIDDEN, *HEADS, *HEAD_DIM, *CONTEXT, *THETA, *LOCAL_THETA, *SHARE, "rotary_dim",
        "original_max_position_embeddings", "qk_rope_head_dim", "qk_nope_head_dim", "rope_ratio",
        "sliding_window", "num_hidden_layers", "global_head_dim",
    )  # fmt: skip
    inside = (METHOD_KEYS - {"short_factor", "long_factor", "truncate"}) | {
        "rope_theta", "original_max_position_embeddings", "partial_rotary_factor", "head_dim",
    }  # fmt: skip
    places: list[tuple[str | None, str, tuple[str, ...], Any]] = [
        (None, key, file.place(key), file.text.get(key)) for key in beside
    ]
    for layer_type, own in layered(file):
        for key in sorted(inside):
            places.append((layer_type, key, file.own_place(layer_type, key), own.get(key)))
    for layer_type, key, path, value in places:
        number = number_in(value) if isinstance(value, str) else None
        if number is not None:
            file.add(
                "error",
                key,
                "{name} must be a number, got the text {got}: write it without quotes",
                layer_type=layer_type,
                name=key,
                got=params.shown(value),
                mend=[Mend(path, number)],
            )


def _about_both_settings(file: File) -> None:
    old, new = (file.text.get(key) for key in SETTINGS)
    if not (old and new) or same(old, new):
        return
    kept = dict(old) if isinstance(old, dict) else old
    mend = [Mend(file.place("rope_parameters"), removes=True)]
    if isinstance(old, dict) and isinstance(new, dict):
        theta = new.get("rope_theta")
        if theta is not None and old.get("rope_theta") is None and not _beside(file, THETA):
            kept["rope_theta"] = theta
            mend.append(Mend(file.place("rope_scaling"), kept))
    file.add(
        "warning",
        "rope_scaling",
        "rope_scaling and rope_parameters must agree, or one of them be absent, got both: "
        "rope_scaling is read, as in Hugging Face",
        mend=mend,
        meant=[Mend(file.place("rope_scaling"), removes=True)],
    )


def _beside(file: File, names: Iterable[str]) -> bool:
    return any(file.text.get(name) is not None for name in names)


def _about_base(file: File) -> None:
    text, settings = file.text, file.settings()
    names = [name for name in THETA if number(text.get(name)) is not None]
    inside = number(settings.get("rope_theta"))
    given = {name: number(text.get(name)) for name in names}
    if inside is not None:
        given = {"rope_theta inside the settings": inside, **given}
    if len(set(given.values())) > 1:
        # What is written and not read is what somebody changed last.
        mend = [Mend(file.place(name), removes=True) for name in names[1:]]
        meant: list[Mend] | None = [Mend(file.place(names[0]), removes=True)]
        if inside is not None:
            mend = [Mend(file.place(name), removes=True) for name in names]
            meant = None
            beside = given[names[0]]
            # 10,000 is what a program writes that knows no better, and a release's base is known.
            released = {each.rope_theta for each in relatives(file)}
            if inside in released - {beside} or (beside == 10_000.0 and beside not in released):
                meant = [Mend((*file.settings_place(), "rope_theta"), tidy(beside or 0.0))]
            else:
                mend.append(Mend((*file.settings_place(), "rope_theta"), text[names[0]]))
        file.add(
            "warning",
            "rope_theta",
            "rope_theta must be the same wherever it stands, got {got}: the first is used",
            got=", ".join(f"{name} {params.shown(value)}" for name, value in given.items()),
            mend=mend,
            meant=meant,
        )
    found = layered(file)
    nested = [
        (name, own) for name, own in found if name is not None and own.get("rope_theta") is not None
    ]
    if nested and names and inside is None and file.kind not in types.SPLIT:
        other = {number(own["rope_theta"]) for _, own in nested}
        if number(text[names[0]]) not in other:
            file.add(
                "note",
                names[0],
                "{name} {got} beside the settings is not read: each layer type has its own",
                name=names[0],
                got=short(text[names[0]]),
                mend=[Mend(file.place(names[0]), removes=True)],
            )
    if not _theta_is_told(file):
        _about_missing_base(file, found)
    by_name = {name: own for name, own in found if name is not None}
    if {"full_attention", "sliding_attention"} <= by_name.keys():
        far, near = (
            number(by_name[name].get("rope_theta"))
            for name in ("full_attention", "sliding_attention")
        )
        if far is not None and near is not None and near > far:
            full, slide = (
                file.own_place(name, "rope_theta")
                for name in ("full_attention", "sliding_attention")
            )
            file.add(
                "warning",
                "rope_theta",
                "rope_theta of sliding_attention must not be above that of full_attention, which "
                "looks farther, got {near} and {far}: they look exchanged",
                near=params.shown(near),
                far=params.shown(far),
                mend=[Mend(full, tidy(near)), Mend(slide, tidy(far))],
            )


@dataclass(frozen=True)
class Kin:
    """A release on record, as far as it tells a config's relatives.

    Attributes:
        name: Its name among the presets.
        verified: Whether its facts were seen at a source.
        kind: Model type.
        rope_type: Method of its full-attention layers.
        rope_theta: Their base.
        sizes: ``hidden_size``, heads, key-value heads and context; None where the record is silent.
        trained: Tokens that it saw at once before any extension.
        extended: Contexts that its maker documents an extension for, tokens.
    """

    name: str
    verified: bool
    kind: str
    rope_type: str
    rope_theta: float
    sizes: tuple[Any, Any, Any, Any]
    trained: int | None
    extended: tuple[int, ...]

    @property
    def context(self) -> int | None:
        """``max_position_embeddings`` of the release."""
        found: int | None = self.sizes[3]
        return found

    @property
    def config(self) -> Config:
        """Its file."""
        return presets.config(self.name)


# Extensions that a maker's README documents and the records do not have: factor, trained context.
_DOCUMENTED = {"Qwen2-7B-Instruct": (4.0, 32768), "Qwen2.5-VL-7B-Instruct": (4.0, 32768)}


@cache
def kins() -> tuple[Kin, ...]:
    """Every release on record with RoPE that can be computed."""
    found = []
    for name in presets.names():
        try:
            rotary = presets.main_rotary(name)
        except InvalidParameterError:
            continue
        if rotary is None:
            continue
        config, option = presets.config(name), presets.record(name).get("long_context_option")
        factor, trained = _DOCUMENTED.get(name, (0.0, presets.trained_context(name)))
        if option is not None:
            factor, trained = option["factor"], option["original_max_position_embeddings"]
        sizes = ("hidden_size", "num_attention_heads", "num_key_value_heads",
                 "max_position_embeddings")  # fmt: skip
        found.append(
            Kin(
                name, presets.is_verified(name), hf_config.kind_of(config), rotary.rope_type,
                rotary.rope.rope_theta, tuple(config.get(key) for key in sizes),  # type: ignore[arg-type]
                trained, (int(factor * trained),) if factor and trained else (),
            )
        )  # fmt: skip
    return tuple(found)


def of_size(file: File) -> list[Kin]:
    """Releases of the same class that no told size contradicts, whatever their context."""
    text = file.text
    hidden, heads = (number_of(text, names)[1] for names in (HIDDEN, HEADS))
    groups = number(text.get("num_key_value_heads"))
    if hidden is None or heads is None:
        return []
    return [
        each
        for each in kins()
        if (each.kind, *each.sizes[:2]) == (file.kind, hidden, heads)
        and (groups is None or each.sizes[2] in (None, groups))
    ]


def kin(file: File, rope_type: str | None = None, factor: float | None = None) -> list[Kin]:
    """Releases of the same class that every told size fits, the context among them.

    A context fits if it is the release's own; its trained one, if the method is the same; or that
    of an extension, if the release is not scaled and the file is.

    Args:
        file: Whose relatives they are.
        rope_type: Method of its full-attention layers; None for the release's context alone.
        factor: Its factor.
    """
    context = number_of(file.text, CONTEXT)[1]
    if context is None:
        return []

    def fits(each: Kin) -> bool:
        if each.context == context:
            return True
        if rope_type in (None, "default") or each.trained is None:
            return False
        if each.rope_type != "default":
            return each.rope_type == rope_type and each.trained == context
        grown = each.trained * factor if factor else 0.0
        return context in (each.trained, grown, *each.extended)

    return [each for each in of_size(file) if fits(each)]


def trained_context(config: Config) -> int | None:
    """Tokens that the release with just this file was trained on; None if none is known."""
    file = File(config)
    mine = hf_config.read(config)
    found = (each.trained for each in kin(file) if _is_alike(mine, each))
    return next((each for each in found if each is not None), None)


def main_settings(file: File) -> tuple[str | None, Config, str]:
    """Layer type, settings and method of the layers that see everything, else of the first."""
    found = layered(file)
    name, own = next((each for each in found if each[0] == "full_attention"), found[0])
    return name, own, hf_config.rope_type_of(file.text, own)


def relatives(file: File) -> list[Kin]:
    """:func:`kin` under the file's own method and factor."""
    try:
        _, own, rope_type = main_settings(file)
    except (InvalidParameterError, IndexError):
        return kin(file)
    return kin(file, rope_type, number(own.get("factor")))


def is_documented(file: File, trained: float | None, factor: float | None) -> bool:
    """Whether a maker documents such a YaRN for a model of the class, or of the sizes."""
    return any(
        (each.trained, [trained and factor and trained * factor]) == (trained, list(each.extended))
        for each in kins()
        if each.kind == file.kind
    ) or any(each.rope_type == "default" and each.trained == trained for each in relatives(file))


def is_released(file: File) -> bool:
    """Whether a release of the same size has just these frequencies.

    A method that is not plain RoPE tells it even under another context.
    """
    near = relatives(file)
    mine = _read(file.config)
    return mine is not None and any(
        _is_alike(mine, each)
        for each in of_size(file)
        if each in near or each.rope_type != "default"
    )


def _read(config: Config) -> Reading | None:
    try:
        return hf_config.read(config)
    except InvalidParameterError:
        return None


def _is_alike(mine: Reading, release: Kin) -> bool:
    effect = _from(mine, release)
    return effect is not None and effect.harm <= ROUNDING


def _from(mine: Reading, release: Kin) -> Effect | None:
    """How far a file is from a release."""
    try:
        return between(mine, presets.reading(release.name))
    except InvalidParameterError:
        return None


def _slip_of_base(file: File) -> bool:
    """Whether a key is there that was to be the base, under another name."""
    places: list[Config] = [file.text]
    places += [own for _, own in layered(file)]
    return any(
        isinstance(key, str)
        and number(value) is not None
        and key not in TOP
        and meant_name(key, MEANT_AT_THE_TOP, SYNONYMS, 0.85) == "rope_theta"
        for place in places
        for key, value in itertools.islice(place.items(), MOST_UNKNOWN)
    )


def _about_missing_base(file: File, found: list[tuple[str | None, Config]]) -> None:
    """No base anywhere: that of the class, which for many is 10,000 whatever the model has."""
    text, kind = file.text, file.kind
    usual = types.DEFAULT_SETTINGS.get(kind, {})
    if (
        kind in types.DEFAULT_THETA or kind in types.SPLIT or "rope_ratio" in text
        or "rope_theta" in usual or any(isinstance(each, dict) for each in usual.values())
        or len(found) != 1 or _slip_of_base(file)
    ):  # fmt: skip
        return
    own = found[0][1]
    rope_type = hf_config.rope_type_of(text, own)
    verified = [each for each in kins() if each.verified and each.kind == kind]
    alike = [each for each in kin(file, rope_type, number(own.get("factor"))) if each.verified]
    alike = [each for each in alike if _has_method(each, rope_type, own)] or [
        each for each in alike if each.rope_type == "default"
    ]
    # Relatives whose base could be this one's, too: those of the same method, if it is a rare one.
    family = [each for each in of_size(file) if each.verified]
    if rope_type not in ("default", "dynamic", "linear"):
        family = [each for each in family if each.rope_type == rope_type] or alike
    bases = {each.rope_theta for each in (*alike, *family)}
    home = (
        (*file.settings_place(), "rope_theta")
        if text.get("rope_parameters") and not text.get("rope_scaling")
        else file.place("rope_theta")
    )
    if alike and len(bases) == 1 and 10_000.0 not in bases:
        file.add(
            "warning",
            "rope_theta",
            "rope_theta is absent, so that Hugging Face takes 10,000; {model}, which has the same "
            "sizes, has {theta}",
            model=alike[0].name,
            theta=params.shown(alike[0].rope_theta),
            mend=[Mend(home, tidy(alike[0].rope_theta))],
        )
        return
    other = next((each for each in alike if each.rope_theta != 10_000.0), None)
    if other is not None:
        file.add(
            "note",
            "rope_theta",
            "rope_theta is absent: 10,000 is taken, as by Hugging Face for {model_type}; if it is "
            "{model}, {theta} belongs here",
            model_type=params.shown(text.get("model_type")),
            model=other.name,
            theta=params.shown(other.rope_theta),
        )
    elif verified and all(each.rope_theta != 10_000.0 for each in verified):
        file.add(
            "warning",
            "rope_theta",
            "rope_theta is absent, so that Hugging Face takes 10,000, which no {model_type} on "
            "record has: theirs are {bases}",
            model_type=params.shown(text.get("model_type")),
            bases=", ".join(params.shown(n) for n in sorted({e.rope_theta for e in verified})),
        )
    elif kind and (
        number_of(text, HIDDEN)[1] is not None or number_of(text, CONTEXT)[1] is not None
    ):
        file.add(
            "note",
            "rope_theta",
            "rope_theta is absent: 10,000 is taken, as by Hugging Face for {model_type}",
            model_type=params.shown(text.get("model_type")),
            mend=[Mend(file.place("rope_theta"), 10_000)],
        )
    elif not kind and rope_type == "llama3":
        file.add(
            "note",
            "rope_theta",
            "rope_theta is not told: 10,000 is taken; Llama 3.1, 3.2 and 3.3 have 500,000",
        )


def _has_method(release: Kin, rope_type: str, own: Config) -> bool:
    """Whether a release is scaled as the settings say, as far as both tell."""
    if release.rope_type != rope_type:
        return False
    theirs = release.config["rope_parameters"]
    theirs = theirs.get("full_attention", theirs)
    shared = METHOD_KEYS & own.keys() & theirs.keys()
    told = {key: number_in(own[key]) if isinstance(own[key], str) else own[key] for key in shared}
    return same(told, {key: theirs[key] for key in shared})


# A released model of the same sizes that has other frequencies.


@dataclass(frozen=True)
class _Other:
    """How a file differs from the nearest release of its sizes."""

    release: Kin
    effect: Effect
    layer_type: str | None
    apart: dict[str, tuple[Any, Any]]

    @property
    def is_its_own(self) -> bool:
        """Whether it looks like another model rather than a slip in this one."""
        mine, theirs = self.apart.get("rope_theta", (None, None))
        if mine != theirs and mine != 10_000.0 and self.layer_type in (None, "full_attention"):
            return True
        lists = {"short_factor", "long_factor"}
        return bool(self.apart) and self.apart.keys() <= lists


def _other(file: File) -> _Other | None:
    """The nearest release with other frequencies; None if one has the same, or none is alike."""
    alike = relatives(file)
    if not alike or is_released(file):
        return None
    mine = hf_config.read(file.config)
    effects = [(each, _from(mine, each)) for each in alike if each.verified]
    told = [(each, effect) for each, effect in effects if effect is not None]
    if not told:
        return None
    if any(_extends(file, each) for each, _ in told):
        return None
    release, effect = min(told, key=lambda each: each[1].harm)
    layer_type, apart = _apart(mine, presets.reading(release.name))
    return _Other(release, effect, layer_type, apart)


def _extends(file: File, release: Kin) -> bool:
    """Whether a file is an unscaled release with YaRN over its trained context, as makers do it."""
    if release.rope_type != "default":
        return False
    layer_type, own, rope_type = main_settings(file)
    rotary = rotary_or_none(file, layer_type, own)
    if rope_type != "yarn" or rotary is None or not isinstance(rotary.scaling, Yarn):
        return False
    theirs = presets.main_rotary(release.name)
    trained = rotary.scaling.original_max_position_embeddings
    return theirs is not None and rotary.rope == theirs.rope and trained == release.trained


def about_kin(file: File) -> None:
    """A released model of the same sizes has other frequencies, and no other finding says why."""
    if file.encoding != "rope":
        return
    try:
        other = _other(file)
        # What other findings mend is told by them.
        mends = [
            mend for each in file.drafts if each.finding.level != "note"
            for mend in each.finding.mend
        ]  # fmt: skip
        if other is not None and mends:
            other = _other(File(mended(file.config, mends)))
        if other is not None:
            _tell_other(file, other, [] if mends else _restored(file, other))
    except (InvalidParameterError, IndexError):
        return


def _tell_other(file: File, other: _Other, mend: list[Mend]) -> None:
    release, apart = other.release, other.apart
    if "rope_theta" in apart and any(
        each.finding.key == "rope_theta" and "model" in each.finding.values for each in file.drafts
    ):
        return  # a base that is absent is told with the model that it may be
    mine, theirs = apart.get("rope_type", (None, None))
    values: dict[str, Any] = {
        "layer_type": other.layer_type,
        "model": release.name,
        "apart": ", ".join(
            f"another {name}"
            if isinstance(there, tuple)
            else f"{name} {_value(there)} instead of {_value(here)}"
            for name, (here, there) in apart.items()
        )
        or "those of other layers",
        "effect": other.effect,
    }
    key = next(iter(apart), "rope_parameters")
    if other.is_its_own or (mine == "dynamic" and theirs == "default"):
        template = "the released {model} has the same sizes, but other frequencies: {apart}"
        file.add("note", key, template, **values)
    elif theirs == "default" and mine is not None and "rope_theta" not in apart:
        file.add(
            "warning",
            key,
            "{method} fits only weights that were trained with it: {model}, which has the same "
            "sizes, was released without scaling",
            method=mine,
            **values,
        )
    else:
        file.add(
            "warning",
            key,
            "not what {model} was released with, which has the same sizes: {apart}",
            mend=mend,
            **values,
        )


def _value(value: Any) -> str:
    return "nothing" if value is None else short(value)


def _restored(file: File, other: _Other) -> list[Mend]:
    """The fewest changes that make a file the release's; none if it cannot be made so."""
    for mends in _ways_back(file, other):
        again = _read(mended(file.config, mends))
        if again is not None and _is_alike(again, other.release):
            return mends
    return []


def _ways_back(file: File, other: _Other) -> Iterator[list[Mend]]:
    config, layer_type = other.release.config, other.layer_type
    theirs = config["rope_parameters"]
    theta = number(other.apart.get("rope_theta", (None, None))[1])
    base = [] if theta is None else [Mend(place, tidy(theta)) for place in _bases(file, layer_type)]
    if "rope_type" not in other.apart:
        keys = [
            Mend(file.own_place(layer_type, name), value, removes=value is None)
            for name, (_, value) in other.apart.items()
            if name not in ("rope_theta", "rotary_dim")
        ]
        yield [*base, *keys]
    full = theirs.get("full_attention", theirs)
    method = {key: value for key, value in full.items() if key != "rope_theta"}
    method = {key: list(v) if isinstance(v, tuple) else v for key, v in method.items()}
    kept = {
        key: value for key, value in file.settings().items()
        if key == "rope_theta" or (key not in METHOD_KEYS | ELSEWHERE
        and not isinstance(value, dict))
    }  # fmt: skip
    home = file.settings_place()
    if isinstance(file.settings().get(str(layer_type)), dict):
        yield [Mend((*home, str(layer_type)), {**theirs.get(str(layer_type), full)})]
    if method == {"rope_type": "default"} and "rope_theta" not in kept:
        yield [*base, Mend(home, removes=True)]
    yield [Mend(home, {**method, **kept}), *base]
    gone = [
        Mend(file.place(name), removes=True)
        for name in ("rope_scaling", *THETA, *LOCAL_THETA)
        if file.text.get(name) is not None
    ]
    whole = dict(theirs)
    if "rope_type" in theirs and config.get("rope_theta") is not None:
        whole["rope_theta"] = config["rope_theta"]
    yield [*gone, Mend(file.place("rope_parameters"), whole)]


def _bases(file: File, layer_type: str | None) -> list[tuple[str, ...]]:
    """Where the base of these layers stands, or would."""
    inside = file.own_place(layer_type, "rope_theta")
    if value_at(file.config, inside) is not None:
        return [inside]
    names = LOCAL_THETA if hf_config.slides(layer_type) else THETA
    name = next((name for name in names if file.text.get(name) is not None), None)
    if name is None and file.text.get("rope_parameters") and not file.text.get("rope_scaling"):
        return [inside]
    return [file.place(name or ("rope_theta" if names is THETA else LOCAL_THETA[0]))]


def _apart(mine: Reading, other: Reading) -> tuple[str | None, dict[str, tuple[Any, Any]]]:
    """The first layer type that differs, and what does there, key by key."""
    for one, two in side_by_side(mine, other):
        found: dict[str, tuple[Any, Any]] = {}
        pairs: list[tuple[str, Any, Any]] = [
            ("rope_theta", one.rope.rope_theta, two.rope.rope_theta),
            ("rope_type", one.rope_type, two.rope_type),
            ("rotary_dim", one.rope.rotary_dim, two.rope.rotary_dim),
        ]
        if type(one.scaling) is type(two.scaling):
            names = list(getattr(one.scaling, "__dataclass_fields__", {}))
            pairs += [(name, getattr(one.scaling, name), getattr(two.scaling, name))
                      for name in names]  # fmt: skip
        for name, here, there in pairs:
            if here != there:
                found[name] = (here, there)
        if found:
            return two.layer_type or one.layer_type, found
    return None, {}


# Classes of transformers 5.24.0 whose plain RoPE turns the whole head, whatever share is told;
# modeling_*.py without partial_rotary_factor.
WHOLE_HEAD = {
    "apertus", "arcee", "bitnet", "cohere", "cohere2", "cwm", "ernie4_5", "exaone4", "falcon",
    "gemma", "gemma2", "gemma3", "gpt_oss", "granite", "helium", "lfm2", "llama", "llama4",
    "ministral", "ministral3", "mistral", "mixtral", "modernbert", "olmo", "olmo2", "olmo3",
    "gemma4", "hunyuan_v1_dense", "olmoe", "phimoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
    "seed_oss", "smollm3", "starcoder2",
}  # fmt: skip


def _about_head(file: File) -> None:
    text = file.text
    (hidden_name, hidden), (heads_name, heads) = (
        number_of(text, names) for names in (HIDDEN, HEADS)
    )
    head_name, head_dim = number_of(text, HEAD_DIM)
    divided = hidden // heads if hidden and heads and heads > 0 else None
    if "head_dim" in text and text["head_dim"] is None:
        file.add(
            "warning",
            "head_dim",
            "head_dim must be a number or absent, got null: it is taken as hidden_size divided by "
            "num_attention_heads, but Hugging Face's dynamic, yarn and longrope fail on it",
            mend=[] if divided is None else [Mend(file.place("head_dim"), tidy(divided))],
        )
    if hidden and heads and divided is not None:
        if head_dim is None and hidden % heads and "qk_rope_head_dim" not in text:
            file.add(
                "warning",
                hidden_name,
                "{hidden_name} must be a multiple of {heads_name} if head_dim is absent, got "
                "{hidden} and {heads}: rounded down",
                hidden_name=hidden_name,
                heads_name=heads_name,
                hidden=params.shown(hidden),
                heads=params.shown(heads),
                mend=[Mend(file.place("head_dim"), tidy(divided))]
                if "head_dim" not in text and divided >= 1
                else [],
            )
        if head_dim is not None and head_dim != divided:
            try:
                apart = compared(
                    file.config, Mend(file.place(head_name), tidy(divided)).apply(file.config)
                )
            except InvalidParameterError:
                apart = None
            file.add(
                "note",
                head_name,
                "{head_name} is {head_dim}, not {hidden_name} / {heads_name} = {quotient}; the "
                "given one is used, and a program that divides has other frequencies",
                head_name=head_name,
                head_dim=params.shown(head_dim),
                hidden_name=hidden_name,
                heads_name=heads_name,
                quotient=params.shown(divided),
                effect=apart,
            )
    _about_share(file)


def _about_share(file: File) -> None:
    text = file.text
    beside_name, beside = number_of(text, SHARE)
    for layer_type, own in layered(file):
        inside = number(own.get("partial_rotary_factor"))
        if beside is not None and inside is not None and inside != beside and layer_type is None:
            file.add(
                "warning",
                "partial_rotary_factor",
                "partial_rotary_factor must be the same wherever it stands, got {inside} inside "
                "the settings and {beside} beside them: the first is used",
                inside=params.shown(inside),
                beside=params.shown(beside),
                mend=[Mend(file.place(beside_name), removes=True)],
                meant=[Mend(file.own_place(layer_type, "partial_rotary_factor"), beside)],
            )  # fmt: skip
        share = beside if inside is None else inside
        if share is None or share == 1.0:
            continue
        name = beside_name if inside is None else "partial_rotary_factor"
        path = (
            file.place(name)
            if inside is None
            else file.own_place(layer_type, "partial_rotary_factor")
        )
        rope_type = hf_config.rope_type_of(text, own)
        if hf_config.latent(text)[0] is not None:
            file.add(
                "warning",
                name,
                "{name} {got} is not read beside qk_rope_head_dim, which says how many dimensions "
                "rotate",
                layer_type=layer_type,
                name=name,
                got=params.shown(share),
                mend=[Mend(path, removes=True)],
            )
        elif file.kind in WHOLE_HEAD and rope_type != "proportional":
            head_dim = hf_config.head_dim_of(text, own, layer_type)[1]
            effect = None
            if head_dim and head_dim % 2 == 0:
                rotary = rotary_or_none(file, layer_type, own)
                if rotary is not None:
                    whole = RoPE(head_dim, rotary.rope.rope_theta)
                    effect = difference((whole.inv_freq, 1.0), (rotary.rope.inv_freq, 1.0))
            file.add(
                "warning",
                name,
                "{name} {got} is ignored by Hugging Face's {model_type}, whose plain RoPE turns "
                "the whole head; with scaling it fails. Here that share is read",
                layer_type=layer_type,
                name=name,
                got=params.shown(share),
                model_type=file.kind,
                effect=effect,
                mend=[Mend(path, removes=True)],
            )
        stands = number(text.get("rotary_dim"))
        head_dim = hf_config.head_dim_of(text, own, layer_type)[1]
        if stands is not None and head_dim is not None and int(head_dim * share) != stands:
            file.add(
                "warning",
                "rotary_dim",
                "rotary_dim {number} and {name} {got}, which makes {part} dimensions rotate, must "
                "agree: {name} is used",
                layer_type=layer_type,
                number=params.shown(stands),
                name=name,
                got=params.shown(share),
                part=int(head_dim * share),
                mend=[Mend(file.place("rotary_dim"), removes=True)],
                meant=[Mend(path, removes=True)],
            )


def _about_nested_settings(file: File) -> None:
    """Settings within settings: nobody looks there."""
    settings, home = file.settings(), file.settings_place()
    key = next((key for key in SETTINGS if isinstance(settings.get(key), dict)), None)
    if key is None:
        return
    around = {name: value for name, value in settings.items() if name != key}
    file.told.add(key)
    file.add(
        "warning",
        key,
        "{settings} holds {unread} once more: the settings inside it are not read, and the "
        "frequencies stay plain",
        settings=home[-1],
        unread=key,
        mend=[Mend(home, {**around, **settings[key]})],
    )


def _slips_of_layer_types(
    file: File, named: Mapping[str | None, object], listed: set[str]
) -> Iterator[tuple[str, str]]:
    """Names in the settings that are no layer type's, each with the one that it may have meant."""
    labels = types.LABELLED.get(file.kind, ())
    written = {name for name in file.settings() if isinstance(name, str)}
    known = {*labels} or {*listed, *hf_config.layer_types_of(file.text, 8)} or types.LAYER_TYPES
    usual = types.DEFAULT_SETTINGS.get(file.kind, {})
    for name in named:
        if name is None or name in known | listed | types.LAYER_TYPES | usual.keys():
            continue
        free = sorted(known - written)
        near = difflib.get_close_matches(name[:LONGEST_NAME], free, 1, 0.7)
        yield name, near[0] if near else ""


def _about_layers(file: File) -> None:
    """Findings about which layers have which settings."""
    text, kind = file.text, file.kind
    _about_nested_settings(file)
    named, flat = hf_config.by_layer_type(text)
    listed = set(hf_config.layer_types_of(text, None))
    without = listed - set(named) - types.WITHOUT_ATTENTION
    slips = dict(itertools.islice(_slips_of_layer_types(file, named, listed), 8))
    for slip, likely in slips.items():
        path = (*file.settings_place(), slip)
        file.add(
            "warning",
            slip[:LONGEST_NAME],
            "no layer type has the name {unread}, so that its settings are not read"
            + (", did you mean {likely}?" if likely else ""),
            unread=params.shown(slip),
            likely=likely,
            mend=[Mend(path, removes=True), Mend((*path[:-1], likely), value_at(file.config, path))]
            if likely
            else [],
        )
    without -= set(slips.values())
    if None not in named and without and kind not in types.LABELLED:
        file.add(
            "warning",
            "layer_types",
            "layer_types must occur in the settings, got {got}, which have none",
            got=", ".join(sorted(name[:LONGEST_NAME] for name in without)[:8]),
        )
    if kind in types.SPLIT and kind not in types.ALL_SCALED:
        scaled = [
            (name, own) for name, own in layered(file) if hf_config.slides(name)
            and hf_config.rope_type_of(text, own) not in ("default", "proportional")
        ]  # fmt: skip
        for name, own in scaled:
            path = (*file.settings_place(), str(name))
            plain = {key: value for key, value in own.items() if key == "rope_theta"}
            file.add(
                "warning",
                "rope_type",
                "{layers} layers must not be scaled in {model_type}, got {rope_type}: they look "
                "back over a window only, and the released models scale full_attention alone",
                layer_type=name,
                layers=name,
                model_type=kind,
                rope_type=hf_config.rope_type_of(text, own),
                mend=[Mend(path, {"rope_type": "default", **plain})]
                if isinstance(file.settings().get(str(name)), dict)
                else [],
            )
        settings = text.get("rope_parameters")
        if (
            flat and isinstance(settings, dict) and settings and not text.get("rope_scaling")
            and hf_config.rope_type_of(text, settings) != "default"
        ):  # fmt: skip
            full = {key: value for key, value in settings.items() if key != "type"}
            full["rope_type"] = hf_config.rope_type_of(text, settings)
            near = next((own for name, own in layered(file) if hf_config.slides(name)), {})
            rotary = rotary_or_none(file, "sliding_attention", near)
            theta = {} if rotary is None else {"rope_theta": tidy(rotary.rope.rope_theta)}
            file.add(
                "warning",
                "rope_parameters",
                "rope_parameters of {model_type} must stand per layer type, got one set: "
                "transformers 5.24.0 does not give it to full_attention alone, as here",
                model_type=kind,
                mend=[
                    Mend(
                        file.place("rope_parameters"),
                        {
                            "full_attention": full,
                            "sliding_attention": {"rope_type": "default", **theta},
                        },
                    )
                ],
            )
    by_name = dict(layered(file))
    far, near_own = by_name.get("full_attention"), by_name.get("sliding_attention")
    if far is not None and near_own is not None and kind not in types.SPLIT:
        far_type, near_type = (hf_config.rope_type_of(text, own) for own in (far, near_own))
        if far_type == "default" and near_type not in ("default", "proportional"):
            path = file.settings_place()
            file.add(
                "warning",
                "rope_type",
                "full_attention must be scaled rather than sliding_attention, which looks back "
                "over a window only, got {near} for sliding_attention and none for full_attention: "
                "they look exchanged",
                near=near_type,
                mend=[
                    Mend((*path, "full_attention"), near_own),
                    Mend((*path, "sliding_attention"), far),
                ],
            )
    turning = text.get("no_rope_layers")
    if isinstance(turning, (list, tuple)) and turning:
        if all(n == 0 for n in turning if isinstance(n, int)):
            file.add(
                "warning",
                "no_rope_layers",
                "no_rope_layers says 1 where a layer has RoPE, despite its name, got 0 for all of "
                "them: no layer has RoPE",
                mend=[Mend(file.place("no_rope_layers"), [1] * len(turning))],
                effect=_effect_of_standing_still(file),
            )
        else:
            file.add(
                "note",
                "no_rope_layers",
                "no_rope_layers says 1 where a layer has RoPE, despite its name: {count} of "
                "{depth} layers have it",
                count=sum(n == 1 for n in turning if isinstance(n, int)),
                depth=len(turning),
            )


# Models without RoPE.


def _about_others(file: File) -> None:
    text = file.text
    attention = hf_config.attention_config(text)
    bias_max = number(attention.get("alibi_bias_max"))
    if file.encoding == "alibi" and bias_max not in (None, 8.0):
        inner = text.get("attn_config")
        path = file.place("alibi_bias_max")
        if isinstance(inner, dict) and "alibi_bias_max" in inner:
            path = (*file.place("attn_config"), "alibi_bias_max")
        file.add(
            "warning",
            "alibi_bias_max",
            "alibi_bias_max {got} is not read by Hugging Face's MPT, which takes 8; MosaicML's own "
            "code reads it",
            got=params.shown(bias_max),
            mend=[Mend(path, 8)],
        )
    if file.encoding == "alibi":
        name, heads = number_of(text, HEADS)
        if heads is not None and heads >= 1 and heads.is_integer() and int(heads) & int(heads) - 1:
            file.add(
                "note",
                name,
                "heads are {heads}, no power of two: the slopes are those of the released code, in "
                "its order, not 2^(-8 h / {heads}) as the paper's formula would have it",
                heads=int(heads),
            )
        if file.kind in {"falcon", "refinedweb", "refinedwebmodel"}:
            file.add(
                "note",
                "alibi",
                "the bias is divided by sqrt(head_dim) with the scores in Falcon, but not in BLOOM "
                "and MPT",
            )
    for key in SETTINGS:
        if isinstance(text.get(key), dict) and text[key]:
            file.add(
                "warning",
                "rope_scaling",
                "rope_scaling must be absent without RoPE, got settings beside {encoding}",
                encoding=file.encoding,
                mend=[Mend(file.place(each), removes=True) for each in SETTINGS if each in text],
            )
            return
    told = next((name for name in THETA if text.get(name) is not None), None)
    if told is not None:
        file.add(
            "note",
            told,
            "{name} is not read without RoPE: the model has {encoding}",
            name=told,
            encoding=file.encoding,
            mend=[Mend(file.place(told), removes=True)],
        )


# What other programs compute from the same file.


def _effect_of_standing_still(file: File) -> Effect | None:
    """Effect of having no RoPE at all."""
    for layer_type, own in layered(file):
        rotary = rotary_or_none(file, layer_type, own)
        if rotary is not None:
            inv_freq, attention_factor = rotary.frequencies()
            still = (np.zeros_like(inv_freq), attention_factor)
            return difference(still, (inv_freq, attention_factor))
    return None


def about_engines(file: File) -> None:
    """Findings about what other programs compute from the same file."""
    if file.encoding != "rope":
        return
    for layer_type, own in layered(file):
        rotary = rotary_or_none(file, layer_type, own)
        if rotary is None:
            continue
        try:
            rotary.frequencies()
            for about in (
                _dynamic_elsewhere,
                _yarn_elsewhere,
                _longrope_elsewhere,
                _part_elsewhere,
            ):
                about(file, rotary)
        except InvalidParameterError as wrong:
            file.refuse(wrong, layer_type)


def _dynamic_elsewhere(file: File, rotary: Rotary) -> None:
    scaling = rotary.scaling
    if not isinstance(scaling, rope_scaling.DynamicNtk) or scaling.factor == 1.0:
        return
    s = scaling.factor
    stretch = s * s - s + 1.0
    try:
        static = Ntk(stretch).frequencies(rotary.rope)
    except InvalidParameterError:
        return
    file.add(
        "note",
        "rope_type",
        "dynamic grows with the length beyond {context} tokens; vLLM takes one base for all "
        "lengths, as if {factor} times as many tokens were in use, so that it differs from the "
        "first token on (vllm#41236)",
        layer_type=rotary.layer_type,
        context=params.shown(scaling.max_position_embeddings),
        factor=params.shown(s),
        effect=difference(static, rotary.frequencies()),
    )
    if file.kind in {"internlm2", "internlm3"}:
        doubled = (rotary.rope.inv_freq * 2.0, 1.0)
        file.add(
            "note",
            "factor",
            "mlx-lm up to mid-2026 multiplies InternLM's positions by 2 and does not read the "
            "factor (mlx-lm#1545)",
            layer_type=rotary.layer_type,
            effect=difference(doubled, rotary.frequencies()),
        )


def _yarn_elsewhere(file: File, rotary: Rotary) -> None:
    scaling, rope = rotary.scaling, rotary.rope
    if not isinstance(scaling, Yarn) or scaling.factor == 1.0:
        return
    low, high = scaling.correction_range(rope)
    last = rope.rotary_dim // 2 - 1
    if high <= last and low > 0.0:
        return
    if high > last:
        end = max(float(last), low + 0.001)
        ramp = np.clip((np.arange(last + 1) - low) / (end - low), 0.0, 1.0)
        inv_freq, attention_factor = rotary.frequencies()
        plain = rope.inv_freq
        clamped = plain * (1.0 - ramp) + plain / scaling.factor * ramp
        file.add(
            "note",
            "original_max_position_embeddings",
            "the ramp ends at pair {high}, beyond the last one, {last}, so that no pair is divided "
            "by the whole factor; KerasHub and minimind end it at the last pair, which is not what "
            "released models run (keras-hub#2981)",
            layer_type=rotary.layer_type,
            high=params.shown(high),
            last=last,
            effect=difference((clamped, attention_factor), (inv_freq, attention_factor)),
        )
    file.add(
        "note",
        "original_max_position_embeddings",
        "the ramp goes from pair {low} to {high} of {pairs}; gpt-oss's own code and torchtitan "
        "stop unless it lies inside the pairs (torchtitan#4215)",
        layer_type=rotary.layer_type,
        low=params.shown(low),
        high=params.shown(high),
        pairs=last + 1,
    )


def _longrope_elsewhere(file: File, rotary: Rotary) -> None:
    scaling = rotary.scaling
    if not isinstance(scaling, LongRope):
        return
    trained = scaling.original_max_position_embeddings
    if scaling.short_factor == scaling.long_factor:
        return
    file.add(
        "note",
        "long_factor",
        "up to and with {trained} tokens the short list counts, beyond it the long one. vLLM "
        "chooses once by max_model_len, llama.cpp by its context, mlx-lm takes the long one "
        "always; unsloth took it at {trained} tokens already (unsloth#10681)",
        layer_type=rotary.layer_type,
        trained=params.shown(trained),
        effect=difference(rotary.frequencies(trained + 1), rotary.frequencies(trained), trained),
    )


def _part_elsewhere(file: File, rotary: Rotary) -> None:
    rope, head_dim = rotary.rope, rotary.head_dim
    inv_freq, attention_factor = rotary.frequencies()
    if isinstance(rotary.scaling, rope_scaling.Proportional):
        share = rotary.scaling.partial_rotary_factor
        part = int(rope.rotary_dim * share) // 2 * 2
        if part >= 2 and share < 1.0:
            partial = RoPE(part, rope.rope_theta).inv_freq
            file.add(
                "note",
                "partial_rotary_factor",
                "proportional is not partial rotary: {turning} of {pairs} pairs turn, their "
                "frequencies count by the whole head of {head_dim}, and a pair's partner stands "
                "{half} dimensions away (coreai-models#66)",
                layer_type=rotary.layer_type,
                turning=int(np.count_nonzero(inv_freq)),
                pairs=len(inv_freq),
                head_dim=rope.rotary_dim,
                half=rope.rotary_dim // 2,
                effect=difference((partial, 1.0), (inv_freq, 1.0)),
            )
    elif (
        head_dim is not None and head_dim > rope.rotary_dim
        and hf_config.latent(file.text)[0] is None and rotary.rope_type == "default"
    ):  # fmt: skip
        if head_dim % 2:
            return
        by_head = RoPE(head_dim, rope.rope_theta).inv_freq[: len(inv_freq)]
        file.add(
            "note",
            "partial_rotary_factor",
            "partial rotary: {part} of {head_dim} dimensions rotate; frequencies count by those "
            "{part}, and a pair's partner stands {half} away, not by the whole head (pie#602)",
            layer_type=rotary.layer_type,
            part=rope.rotary_dim,
            head_dim=head_dim,
            half=rope.rotary_dim // 2,
            effect=difference((by_head, attention_factor), (inv_freq, attention_factor)),
        )
    if rotary.mrope_section:
        file.add(
            "note",
            "mrope_section",
            "pairs go by time, height and width, {section}, "
            + (
                "in turns"
                if rotary.mrope_interleaved
                else "one block after the other"
            )
            + "; for text all three are the same and it is plain RoPE",
            layer_type=rotary.layer_type,
            section=", ".join(str(n) for n in rotary.mrope_section[:8]),
        )  # fmt: skip
