"""Rules for the base, ``rope_theta``: where it stands, and where it is absent."""

from __future__ import annotations

import itertools

from posviz import config_kin, hf_config, params
from posviz import hf_model_types as types
from posviz.config_finding import (
    MOST_UNKNOWN,
    TOP,
    File,
    Mend,
    layered,
    number,
    number_in,
    number_of,
    same,
    tidy,
)
from posviz.config_names import MEANT_AT_THE_TOP, SYNONYMS, meant_name
from posviz.hf_config import CONTEXT, HIDDEN, METHOD_KEYS, SETTINGS, THETA, Config, short


def is_told(file: File) -> bool:
    """Whether a base stands anywhere in the file."""
    attention = hf_config.attention_config(file.text)
    told = [attention.get(name) for name in THETA]
    for key in SETTINGS:
        settings = file.text.get(key)
        if isinstance(settings, dict):
            told.append(settings.get("rope_theta"))
            told += [own.get("rope_theta") for own in settings.values() if isinstance(own, dict)]
    return any(value is not None for value in told)


def about_base(file: File) -> None:
    """Findings about the base: two that differ, one that is not read, none."""
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
            released = {each.rope_theta for each in config_kin.relatives(file)}
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
    if not is_told(file):
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
    verified = [each for each in config_kin.kins() if each.verified and each.kind == kind]
    alike = [
        each for each in config_kin.kin(file, rope_type, number(own.get("factor"))) if each.verified
    ]
    alike = [each for each in alike if _has_method(each, rope_type, own)] or [
        each for each in alike if each.rope_type == "default"
    ]
    # Relatives whose base could be this one's, too: those of the same method, if it is a rare one.
    family = [each for each in config_kin.of_size(file) if each.verified]
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


def _has_method(release: config_kin.Kin, rope_type: str, own: Config) -> bool:
    """Whether a release is scaled as the settings say, as far as both tell."""
    if release.rope_type != rope_type:
        return False
    theirs = release.config["rope_parameters"]
    theirs = theirs.get("full_attention", theirs)
    shared = METHOD_KEYS & own.keys() & theirs.keys()
    told = {key: number_in(own[key]) if isinstance(own[key], str) else own[key] for key in shared}
    return same(told, {key: theirs[key] for key in shared})
