"""Rules for a config as a whole: names of keys, numbers as text, models without RoPE."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from posviz import config_base, config_head, config_layers, hf_config, params, rope_scaling
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
)
from posviz.config_names import MEANT_AT_THE_TOP, NO_SLIPS, SYNONYMS, bare, meant_name, parts_of
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
)


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
        if meant == "rope_theta" and config_base.is_told(file):
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


def about_the_file(file: File) -> None:
    """Findings about keys outside the settings."""
    if file.encoding != "rope":
        _about_others(file)
        return
    _about_text_numbers(file)
    _about_both_settings(file)
    config_base.about_base(file)
    config_head.about_head(file)
    config_layers.about_layers(file)
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
