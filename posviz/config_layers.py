"""Rules for layer types: which layers have which settings, or no RoPE at all."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator, Mapping

import numpy as np

from posviz import hf_config, params
from posviz import hf_model_types as types
from posviz.config_finding import (
    Effect,
    File,
    Mend,
    difference,
    layered,
    rotary_or_none,
    tidy,
    value_at,
)
from posviz.config_names import LONGEST_NAME
from posviz.hf_config import SETTINGS


def about_layers(file: File) -> None:
    """Findings about which layers have which settings."""
    _about_nested_settings(file)
    _about_layer_names(file)
    if file.kind in types.SPLIT and file.kind not in types.ALL_SCALED:
        _about_split(file)
    if file.kind not in types.SPLIT:
        _about_exchanged(file)
    _about_layers_without(file)


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


def _about_layer_names(file: File) -> None:
    """Layer types that have no settings, and settings of none."""
    named, _ = hf_config.by_layer_type(file.text)
    listed = set(hf_config.layer_types_of(file.text, None))
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
    if None not in named and without and file.kind not in types.LABELLED:
        file.add(
            "warning",
            "layer_types",
            "layer_types must occur in the settings, got {got}, which have none",
            got=", ".join(sorted(name[:LONGEST_NAME] for name in without)[:8]),
        )


def _about_split(file: File) -> None:
    """Classes that scale the layers that see everything alone."""
    text, kind = file.text, file.kind
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
    settings, flat = text.get("rope_parameters"), hf_config.by_layer_type(text)[1]
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


def _about_exchanged(file: File) -> None:
    """Layers that slide scaled, and those that see everything not."""
    by_name = dict(layered(file))
    far, near_own = by_name.get("full_attention"), by_name.get("sliding_attention")
    if far is not None and near_own is not None:
        far_type, near_type = (hf_config.rope_type_of(file.text, own) for own in (far, near_own))
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


def _about_layers_without(file: File) -> None:
    """Layers that do not turn."""
    turning = file.text.get("no_rope_layers")
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


def _effect_of_standing_still(file: File) -> Effect | None:
    """Effect of having no RoPE at all."""
    for layer_type, own in layered(file):
        rotary = rotary_or_none(file, layer_type, own)
        if rotary is not None:
            inv_freq, attention_factor = rotary.frequencies()
            still = (np.zeros_like(inv_freq), attention_factor)
            return difference(still, (inv_freq, attention_factor))
    return None
