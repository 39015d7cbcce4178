"""Rules for a config as a whole: its base, what turns in which layers, and other programs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
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
    compared,
    difference,
    layered,
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
    HEAD_DIM,
    HEADS,
    HIDDEN,
    LOCAL_THETA,
    METHOD_KEYS,
    SETTINGS,
    SHARE,
    THETA,
    Config,
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
    _about_kin(file)
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
            mend.append(Mend((*file.settings_place(), "rope_theta"), text[names[0]]))
            meant = None
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
class _Kin:
    """A verified record, as far as it tells a config's relatives."""

    name: str
    kind: str
    rope_type: str
    rope_theta: float | None
    hidden: object
    heads: object
    groups: object
    context: object


@cache
def _kins() -> tuple[_Kin, ...]:
    found = []
    for name in presets.names():
        record = presets.record(name)
        rope = record.get("rope")
        if record["verified"] and rope:
            config = presets.config(name)
            rope = rope.get("full_attention", rope)
            found.append(
                _Kin(
                    name,
                    hf_config.kind_of(config),
                    rope["rope_type"],
                    rope.get("rope_theta", record.get("rope_theta")),
                    *(
                        config.get(key)
                        for key in (
                            "hidden_size", "num_attention_heads", "num_key_value_heads",
                            "max_position_embeddings",
                        )
                    ),
                )
            )  # fmt: skip
    return tuple(found)


def _about_missing_base(file: File, found: list[tuple[str | None, Config]]) -> None:
    """No base anywhere: that of the class, which for many is 10,000 whatever the model has."""
    text, kind = file.text, file.kind
    usual = types.DEFAULT_SETTINGS.get(kind, {})
    if (
        kind in types.DEFAULT_THETA or kind in types.SPLIT or "rope_ratio" in text
        or "rope_theta" in usual or any(isinstance(each, dict) for each in usual.values())
        or len(found) != 1
    ):  # fmt: skip
        return
    rope_type = hf_config.rope_type_of(text, found[0][1])
    hidden, context = number_of(text, HIDDEN)[1], number_of(text, CONTEXT)[1]
    alike = [
        each
        for each in _kins()
        if each.kind == kind and each.rope_type == rope_type and each.rope_theta is not None
    ]
    alike = alike or [each for each in _kins() if each.kind == kind and each.rope_theta is not None]
    nearest = [each for each in alike if each.context == context] or alike
    nearest = [each for each in nearest if each.hidden == hidden] or nearest
    if not nearest and rope_type == "llama3":
        nearest = [each for each in _kins() if each.name == "Llama-3.1-8B-Instruct"]
    if nearest and all(each.rope_theta != 10_000.0 for each in nearest):
        theta = nearest[0].rope_theta or 10_000.0
        home = (
            (*file.settings_place(), "rope_theta")
            if text.get("rope_parameters") and not text.get("rope_scaling")
            else file.place("rope_theta")
        )
        file.add(
            "warning",
            "rope_theta",
            "rope_theta is absent, so that Hugging Face takes 10,000; {model} has {theta}",
            model=nearest[0].name,
            theta=params.shown(theta),
            mend=[Mend(home, tidy(theta))],
        )
    elif kind and (hidden is not None or context is not None):
        file.add(
            "note",
            "rope_theta",
            "rope_theta is absent: 10,000 is taken, as by Hugging Face for {model_type}",
            model_type=params.shown(text.get("model_type")),
            mend=[Mend(file.place("rope_theta"), 10_000)],
        )


def kin(file: File) -> list[_Kin]:
    """Released models of the same class, size and context."""
    text = file.text
    hidden, heads, context = (number_of(text, names)[1] for names in (HIDDEN, HEADS, CONTEXT))
    groups = number(text.get("num_key_value_heads"))
    size = (file.kind, hidden, heads, context)
    return [
        each
        for each in _kins()
        if None not in size
        and (each.kind, each.hidden, each.heads, each.context) == size
        and (groups is None or each.groups is None or groups == each.groups)
    ]


def _about_kin(file: File) -> None:
    """A released model of the same size and context has other frequencies."""
    alike = [(each, compared(file.config, presets.config(each.name))) for each in kin(file)]
    if not alike or any(effect is None or effect.harm <= ROUNDING for _, effect in alike):
        return
    nearest, effect = min(alike, key=lambda each: each[1].harm if each[1] else 0.0)
    apart = _apart(hf_config.read(file.config), hf_config.read(presets.config(nearest.name)))
    # 10,000 is what a program falls back to, another base may be a model of its own.
    fallen = list(apart) == ["rope_theta"] and apart["rope_theta"][0] == 10_000.0
    inside = file.settings().get("rope_theta") is not None
    place = (*file.settings_place(), "rope_theta") if inside else file.place("rope_theta")
    file.add(
        "warning" if fallen and _theta_is_told(file) else "note",
        next(iter(apart), "rope_parameters"),
        "the released {model} has the same size and context, but other frequencies: {apart}",
        model=nearest.name,
        apart=", ".join(
            f"{name} {short(other)} instead of {short(mine)}"
            for name, (mine, other) in apart.items()
        )
        or "those of other layers",
        effect=effect,
        mend=[Mend(place, tidy(apart["rope_theta"][1]))]
        if fallen and file.kind not in types.SPLIT
        else [],
    )


def _apart(mine: hf_config.Reading, other: hf_config.Reading) -> dict[str, tuple[Any, Any]]:
    """What differs between the first layer types that do, key by key."""
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
            return found
    return {}


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


def _about_layers(file: File) -> None:
    """Findings about which layers have which settings."""
    text, kind = file.text, file.kind
    named, flat = hf_config.by_layer_type(text)
    listed = set(hf_config.layer_types_of(text, None))
    without = listed - set(named) - types.WITHOUT_ATTENTION
    if None not in named and without and kind not in types.LABELLED:
        mend: list[Mend] = []
        spare = {name for name in named if name is not None and name not in listed}
        if len(without) == 1 and spare:
            (missing,) = without
            meant = difflib.get_close_matches(missing, sorted(spare), 1, 0.8)
            if meant:
                path = (*file.settings_place(), meant[0])
                mend = [
                    Mend(path, removes=True),
                    Mend((*path[:-1], missing), value_at(file.config, path)),
                ]
        file.add(
            "warning",
            "layer_types",
            "layer_types must occur in the settings, got {got}, which have none",
            got=", ".join(sorted(name[:LONGEST_NAME] for name in without)[:8]),
            mend=mend,
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
