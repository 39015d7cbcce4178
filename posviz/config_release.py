"""The rule that a released model of the same sizes has other frequencies."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from posviz import config_kin, hf_config, presets
from posviz.config_finding import (
    Effect,
    File,
    Mend,
    mended,
    number,
    reading_or_none,
    rotary_or_none,
    side_by_side,
    tidy,
    value_at,
)
from posviz.config_kin import Kin
from posviz.hf_config import ELSEWHERE, LOCAL_THETA, METHOD_KEYS, THETA, Reading, short
from posviz.params import InvalidParameterError, Word
from posviz.rope_scaling import Yarn


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
    alike = config_kin.relatives(file)
    if not alike or config_kin.is_released(file):
        return None
    mine = hf_config.read(file.config)
    effects = [(each, each.effect_of(mine)) for each in alike if each.verified]
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
    layer_type, own, rope_type = config_kin.main_settings(file)
    rotary = rotary_or_none(file, layer_type, own)
    if rope_type != "yarn" or rotary is None or not isinstance(rotary.scaling, Yarn):
        return False
    theirs = presets.main_rotary(release.name)
    trained = rotary.scaling.original_max_position_embeddings
    return theirs is not None and rotary.rope == theirs.rope and trained == release.trained


def about_release(file: File) -> None:
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
        "apart": _listed(
            Word("another {name}", name=name)
            if isinstance(there, tuple)
            else Word(
                "{name} {there} instead of {here}",
                name=name,
                there=_value(there),
                here=_value(here),
            )
            for name, (here, there) in apart.items()
        )
        if apart
        else Word("those of other layers"),
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
    return Word("nothing") if value is None else short(value)


def _listed(words: Iterable[Word]) -> Word:
    return functools.reduce(lambda all, one: Word("{all}, {one}", all=all, one=one), words)


def _restored(file: File, other: _Other) -> list[Mend]:
    """The fewest changes that make a file the release's; none if it cannot be made so."""
    for mends in _ways_back(file, other):
        again = reading_or_none(mended(file.config, mends))
        if again is not None and other.release.is_alike(again):
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
