"""Rules for the settings of one layer type: method, factor, trained context, attention factor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posviz import config_kin, hf_config, params, rope_scaling, rope_units
from posviz import hf_model_types as types
from posviz.config_finding import (
    MOST_UNKNOWN,
    Effect,
    File,
    Level,
    Mend,
    difference,
    layered,
    number,
    number_of,
    rotary_or_none,
    tidy,
    value_at,
)
from posviz.config_names import (
    LONGEST_NAME,
    METHODS_OF_OTHERS,
    OTHER_METHODS,
    SYNONYMS_INSIDE,
    bare,
    meant_name,
)
from posviz.hf_config import (
    ALIASES,
    CONTEXT,
    ELSEWHERE,
    METHOD_KEYS,
    READ,
    TRAINED,
    Config,
    short,
)
from posviz.params import InvalidParameterError, Message, Word
from posviz.rope_scaling import Linear, Llama3, Yarn, yarn_mscale

# Keys of one set of settings that are told as unread: beyond, it is no config.
_MOST_TOLD = 30


def about_settings(file: File) -> None:
    """Findings about the settings of each layer type."""
    if file.encoding != "rope":
        return
    for layer_type, own in layered(file):
        try:
            _Settings(file, layer_type, own).examine()
        except InvalidParameterError as wrong:
            file.refuse(wrong, layer_type)


class _Settings:
    """The settings of one layer type under examination."""

    def __init__(self, file: File, layer_type: str | None, own: Config) -> None:
        self.file, self.layer_type, self.own = file, layer_type, own
        self.foreign: tuple[str, ...] = ()
        self.text = file.text

    def add(self, level: Level, key: str, template: Message, **more: Any) -> None:
        self.file.add(level, key, template, layer_type=self.layer_type, **more)

    def path(self, key: str) -> tuple[str, ...]:
        return self.file.own_place(self.layer_type, key)

    def change(self, key: str, value: Any) -> Mend:
        return Mend(self.path(key), value)

    def drop(self, *keys: str) -> list[Mend]:
        """Removes keys, wherever they stand among the settings."""
        places = {key: (self.path(key), (*self.file.settings_place(), key)) for key in keys}
        return [Mend(path, removes=True) for key in keys for path in dict.fromkeys(places[key])]

    def given(self, key: str) -> float | None:
        return number(self.own.get(key))

    def examine(self) -> None:
        try:
            self.rope_type = hf_config.rope_type_of(self.text, self.own)
        except InvalidParameterError as wrong:
            self._about_unknown_type(wrong)
            return
        self.factor = self.given("factor")
        self.context = number_of(self.text, CONTEXT)[1]
        inside = self.given("original_max_position_embeddings")
        outside = number(self.text.get("original_max_position_embeddings"))
        first, second = (outside, inside) if self.layer_type is None else (inside, outside)
        self.trained = second if first is None else first
        self._about_two_types()
        self._about_foreign_keys()
        self._about_factor()
        self._about_trained(inside, outside)
        {"yarn": self._about_yarn, "llama3": self._about_llama3, "longrope": self._about_longrope,
         "dynamic": self._about_dynamic}.get(self.rope_type, lambda: None)()  # fmt: skip
        self._about_static_ntk()
        self._about_geometry()
        self._about_unread()
        try:
            hf_config.rotary_of(self.text, self.layer_type, self.own).frequencies()
        except InvalidParameterError as wrong:
            self.file.refuse(wrong, self.layer_type)

    def _about_unknown_type(self, wrong: InvalidParameterError) -> None:
        name = next(
            (key for key in ("rope_type", "type") if self.own.get(key) is not None), "rope_type"
        )
        value = self.own.get(name)
        known = {each: each for each in (*rope_scaling.ROPE_SCALINGS, *ALIASES)}
        # A short name is far from any other one, letter by letter.
        meant = meant_name(value, known, OTHER_METHODS, 0.7)
        if isinstance(value, str) and meant is None:
            near = {each for each in known if abs(len(each) - len(value)) < 2}
            meant = meant_name(value, near, {}, 0.55)
        if isinstance(value, str) and bare(value) in METHODS_OF_OTHERS:
            meant = None
        # Reading stopped there before this was looked at.
        self.file.drafts = [each for each in self.file.drafts if each.finding.key != name]
        if meant is None or wrong.values.get("name") not in ("rope_type", "type"):
            self.file.refuse(wrong, self.layer_type)
            return
        self.add(
            "error",
            name,
            params.LIKELY_ONE_OF,
            **wrong.values,
            likely=meant,
            mend=[self.change(name, meant)],
        )

    def _about_two_types(self) -> None:
        own = self.own
        both = {own.get(key) for key in ("rope_type", "type") if isinstance(own.get(key), str)}
        if len({ALIASES.get(str(name), name) for name in both}) > 1:
            self.add(
                "warning",
                "rope_type",
                "rope_type and type must agree, got {rope_type} and {type}: rope_type is read",
                rope_type=short(own.get("rope_type")).strip("'"),
                type=short(own.get("type")).strip("'"),
                mend=self.drop("type"),
                meant=[self.change("rope_type", own.get("type"))],
            )

    def _about_foreign_keys(self) -> None:
        """Keys that say which method was meant, under another one."""
        own = self.own
        marks = (
            ("llama3", ("low_freq_factor", "high_freq_factor")),
            ("longrope", ("short_factor", "long_factor")),
            ("yarn", ("beta_fast", "beta_slow")),
        )
        for method, keys in marks:
            if method == self.rope_type or any(own.get(key) is None for key in keys):
                continue
            if self.rope_type in ("default", "proportional") or self.rope_type == "ntk":
                continue  # told with all keys that are not read
            if any(
                own.get(key) is not None for key in set(READ[self.rope_type]) - set(READ[method])
            ):
                continue  # keys of both: no clear sign
            self.add(
                "warning",
                "rope_type",
                "rope_type is {rope_type}, but {keys} belong to {method} and are not read: did "
                "you mean {method}?",
                rope_type=self.rope_type,
                keys=", ".join(keys),
                method=method,
                mend=[self.change(self._type_key(), method)],
            )
            self.foreign = keys
            return

    def _type_key(self) -> str:
        return "rope_type" if self.own.get("rope_type") is not None else (
            "type" if self.own.get("type") is not None else "rope_type"
        )  # fmt: skip

    def _about_factor(self) -> None:
        add, rope_type, factor = self.add, self.rope_type, self.factor
        context, trained = self.context, self.trained
        if rope_type == "default":
            return
        if self.own.get("alpha") is not None and rope_type == "ntk":
            if factor is not None and self.given("alpha"):
                add(
                    "note",
                    "factor",
                    "factor is not read beside alpha, which makes dynamic a fixed larger base "
                    "(Hunyuan)",
                )
            return
        if factor is not None and factor < 1.0:
            self._about_small_factor(factor)
            return
        ratio = context / trained if context and trained and trained > 0 else None
        if rope_type == "yarn" and self.own.get("factor") is None:
            whole = None if ratio is None or ratio < 1.0 else tidy(ratio)
            add(
                "warning",
                "factor",
                "factor must be given for yarn, got nothing: "
                "max_position_embeddings / original_max_position_embeddings stands for it",
                mend=[] if whole is None else [self.change("factor", whole)],
            )
        elif (
            self.own.get("factor") is None and ratio is not None and ratio > 1.0
            and rope_type == "linear"
        ):  # fmt: skip
            add(
                "error",
                "factor",
                "{name} must be given for {rope_type}, got nothing; max_position_embeddings / "
                "original_max_position_embeddings is {ratio}",
                name="factor",
                rope_type=rope_type,
                ratio=params.shown(ratio),
                mend=[self.change("factor", tidy(ratio))],
            )
        if factor == 1.0 and rope_type == "dynamic":
            add(
                "note",
                "factor",
                "factor 1 is not plain RoPE in dynamic: beyond the trained context "
                "the base still grows with the length",
            )
        elif factor == 1.0 and rope_type in ("linear", "yarn", "llama3", "ntk"):
            add("note", "factor", "factor 1 scales nothing: {rope_type} is plain RoPE then",
                rope_type=rope_type)  # fmt: skip
        if factor is None or ratio is None or rope_type in {"dynamic", "proportional"}:
            return
        if factor > 1.0 and ratio <= 1.0:
            self._about_no_room(factor, ratio)
        elif self._about_trained_of_release():
            return
        elif not math.isclose(factor, ratio, rel_tol=1e-6) and rope_type != "llama3":
            self._about_ratio(factor, ratio)

    def _about_ratio(self, factor: float, ratio: float) -> None:
        """A factor that is not the ratio of both contexts: it is used all the same."""
        context, trained = self.context, self.trained
        room = trained * factor if trained else 0.0
        enlarged = room.is_integer() and 0 < room < 2**31
        values = {"ratio": params.shown(ratio), "got": params.shown(factor)}
        if factor < ratio or not enlarged:
            mend = self.change("factor", tidy(ratio))
        else:
            mend = Mend(self._context_place(), int(room))
        makers = any(
            each.context == context and each.rope_type == "default" and each.trained == trained
            for each in config_kin.relatives(self.file)
        )
        # Makers have the settings added and the context left as it was.
        if factor > ratio and (
            makers or not ratio.is_integer() or config_kin.is_released(self.file)
        ):
            self.add(
                "note",
                "max_position_embeddings",
                "max_position_embeddings, {context}, is {ratio} times "
                "original_max_position_embeddings, {trained}, and factor is {got}: the factor is "
                "used, and reads {room} tokens",
                context=params.shown(context),
                trained=params.shown(trained),
                room=params.shown(room),
                **values,
                mend=[mend] if enlarged else [],
            )
            return
        self.add(
            "warning",
            "factor",
            "factor must be max_position_embeddings / original_max_position_embeddings = "
            "{ratio}, got {got}: the factor is used",
            **values,
            mend=[mend],
        )

    def _context_place(self) -> tuple[str, ...]:
        return self.file.place(number_of(self.text, CONTEXT)[0])

    def _about_no_room(self, factor: float, ratio: float) -> None:
        context, trained = self.context, self.trained
        values: dict[str, Any] = {
            "context": params.shown(context),
            "trained": params.shown(trained),
            "factor": params.shown(factor),
        }
        if ratio < 1.0 and context and trained:
            place = self._trained_place()
            self.add(
                "warning",
                "original_max_position_embeddings",
                "original_max_position_embeddings must not be above max_position_embeddings, got "
                "{trained} and {context}: they look exchanged",
                **values,
                mend=[Mend(place, tidy(context)), Mend(self._context_place(), tidy(trained))],
            )
            return
        if self._about_trained_of_release():
            return
        if self.rope_type == "llama3":
            self.add(
                "warning",
                "original_max_position_embeddings",
                "original_max_position_embeddings must be the context before extension, below "
                "max_position_embeddings, {context}, got {trained}: the factor {factor} applies "
                "from there on",
                **values,
                mend=[Mend(self._trained_place(), self._llama3_trained())],
            )
            return
        grown, before = (trained or 0.0) * factor, (context or 0.0) / factor
        if config_kin.is_documented(self.file, trained, factor):
            self.add(
                "note",
                "max_position_embeddings",
                "max_position_embeddings is not above the trained context, {context} and "
                "{trained}: the frequencies are scaled by factor {factor} all the same",
                **values,
                mend=[Mend(self._context_place(), int(grown))]
                if grown.is_integer() and 0 < grown < 2**31
                else [],
            )
            return
        known = before.is_integer() and before >= 2
        self.add(
            "warning",
            "original_max_position_embeddings",
            "original_max_position_embeddings is all of max_position_embeddings, {trained}, and "
            "factor {factor} applies on top of it: right if the model was trained on all of them"
            + ("; if it was extended to them, {before} belongs here" if known else ""),
            **values,
            **({"before": params.shown(before)} if known else {}),
            meant=[Mend(self._trained_place(), int(before))] if known else [],
        )

    def _about_trained_of_release(self) -> bool:
        """Whether a release of the same sizes was trained on another context, which is told."""
        key, trained, factor = "original_max_position_embeddings", self.trained, self.factor
        release = self._release()
        if (
            release is None or trained is None or factor is None or release.trained is None
            or self.rope_type not in ("yarn", "llama3") or trained == release.trained
            or config_kin.is_released(self.file)
        ):  # fmt: skip
            return False
        room = release.trained * factor
        mend = [Mend(self._trained_place(), release.trained)]
        if self.context in release.extended or self.rope_type == "llama3":
            context = release.context if self.rope_type == "llama3" else self.context
            if context is not None and context != self.context:
                mend.append(Mend(self._context_place(), context))
            ratio = (context or 0.0) / release.trained
            if self.rope_type == "yarn" and ratio != factor:
                mend.append(self.change("factor", tidy(ratio)))
        elif room.is_integer() and room < 2**31 and room != self.context:
            mend.append(Mend(self._context_place(), int(room)))
        self.add(
            "warning",
            key,
            "original_max_position_embeddings must be the trained context, got {got}: {model}, "
            "which has the same sizes, was trained on {trained} tokens",
            got=params.shown(trained),
            model=release.name,
            trained=params.shown(release.trained),
            mend=mend,
        )
        return True

    def _release(self) -> config_kin.Kin | None:
        """The release of these sizes that the settings extend, or whose settings they are."""
        if self.layer_type not in (None, "full_attention"):
            return None
        alike = [each for each in config_kin.relatives(self.file) if each.verified]
        found = [each for each in alike if each.rope_type in ("default", self.rope_type)]
        found.sort(key=lambda each: each.rope_type == "default")
        return found[0] if found else None

    def _llama3_trained(self) -> int:
        """8,192 as in every released Llama 3, or less if the context is."""
        return min(8192, max(int(self.context or 2) // 2, 1))

    def _trained_place(self) -> tuple[str, ...]:
        key = "original_max_position_embeddings"
        if self.layer_type is None and self.text.get(key) is not None:
            return self.file.place(key)
        beside = self.own.get(key) is None and self.text.get(key) is not None
        return self.file.place(key) if beside else self.path(key)

    def _about_small_factor(self, factor: float) -> None:
        reciprocal = 1.0 / factor if factor > 0.0 and math.isfinite(1.0 / factor) else None
        sentence = "factor must be at least 1, new context over trained context, got {got}"
        if reciprocal is None:
            self.add("error", "factor", sentence, got=params.shown(factor))
            return
        mend = self.change("factor", tidy(round(reciprocal, 6)))
        self.add(
            "error",
            "factor",
            sentence + ", which looks like the reciprocal of {reciprocal}",
            got=params.shown(factor),
            reciprocal=params.shown(reciprocal),
            mend=[mend],
            effect=self._effect_of_small_factor(factor, mend),
        )

    def _effect_of_small_factor(self, factor: float, mend: Mend) -> Effect | None:
        """Hugging Face warns and computes all the same: pairs turn faster than trained."""
        try:
            meant = hf_config.read(mend.apply(self.file.config))
        except InvalidParameterError:
            return None
        rotary = next((each for each in meant.rotary if each.layer_type == self.layer_type), None)
        if rotary is None or not isinstance(rotary.scaling, (Linear, Yarn, Llama3)):
            return None
        ramp: Any = 1.0
        if not isinstance(rotary.scaling, Linear):
            ramp = rotary.scaling.ramp(rotary.rope)
        plain = rotary.rope.inv_freq
        with np.errstate(over="ignore"):
            fast = plain * (1.0 - ramp) + plain / factor * ramp
        if not np.isfinite(fast).all():
            return None
        return difference((fast, 1.0), rotary.frequencies())

    def _about_trained(self, inside: float | None, outside: float | None) -> None:
        key = "original_max_position_embeddings"
        context, trained = self.context, self.trained
        untold = not any(
            place.get(key) is not None for place in (self.own, self.text)
        )  # a value that is no number has an error of its own
        if self.rope_type in TRAINED and untold and context is not None:
            if self.file.kind in types.DEFAULT_TRAINED_CONTEXT:
                return
            before = context / self.factor if self.factor and self.factor > 1.0 else 0.0
            if self.rope_type == "llama3":
                before = float(self._llama3_trained())
            release = self._release()
            grown: float | None = None
            if release is not None and release.trained is not None:
                before = float(release.trained)
                grown = before * (self.factor or 1.0)
                if release.rope_type == self.rope_type:
                    grown = release.context
                if context in release.extended:
                    grown = None
            known = before.is_integer() and before >= 2
            mend = [self.change(key, int(before))] if known else []
            if known and grown is not None and grown > context and float(grown).is_integer():
                mend.append(Mend(self._context_place(), int(grown)))
            self.add(
                "warning",
                key,
                "original_max_position_embeddings must be the trained context, got nothing: as in "
                "Hugging Face it is taken to be max_position_embeddings, {context}, and the factor "
                "applies on top of it" + ("; {model} has the same sizes" if release else ""),
                context=params.shown(context),
                **({"model": release.name} if release else {}),
                mend=mend,
            )
        if self.rope_type == "dynamic" and trained is not None and trained != context:
            place = self._trained_place()
            self.add(
                "warning",
                key,
                "original_max_position_embeddings is not read by dynamic, got {got}: the base "
                "grows from max_position_embeddings, {context}, as in Hugging Face",
                got=params.shown(trained),
                context=params.shown(context),
                mend=[
                    Mend(path, removes=True)
                    for path in {place, self.path(key), self.file.place(key)}
                    if value_at(self.file.config, path) is not None
                ],
                meant=None
                if context is None or trained < 1
                else [Mend(self._context_place(), tidy(trained))],
            )
        if (
            inside is not None and outside is not None and inside != outside
            and value_at(self.file.config, self.path(key)) is not None
            and self.rope_type in TRAINED
        ):  # fmt: skip
            here = self.layer_type is None
            self.add(
                "warning",
                key,
                "original_max_position_embeddings must be the same wherever it stands, got "
                "{outside} beside the settings and {inside} inside them: the one {where} them is "
                "used",
                outside=params.shown(outside),
                inside=params.shown(inside),
                where="beside" if here else "inside",
                mend=self.drop(key) if here else [Mend(self.file.place(key), removes=True)],
                meant=[Mend(self.file.place(key), removes=True)] if here else self.drop(key),
            )  # fmt: skip

    def _about_yarn(self) -> None:
        own, factor = self.own, self.factor
        for key, usual in (("beta_fast", 32), ("beta_slow", 1)):
            if self.given(key) == 0.0 and not isinstance(own.get(key), bool):
                self.add(
                    "note",
                    key,
                    "{name} 0 counts as absent, as in Hugging Face: {usual} is taken",
                    name=key,
                    usual=usual,
                    mend=self.drop(key),
                )
        fast, slow = self.given("beta_fast") or 32.0, self.given("beta_slow") or 1.0
        if fast < slow:
            self.add(
                "error",
                "beta_fast",
                "beta_fast must be at least beta_slow, {slow}, got {fast}",
                slow=params.shown(slow),
                fast=params.shown(fast),
                mend=[
                    self.change("beta_fast", tidy(slow)), self.change("beta_slow", tidy(fast))
                ],
            )  # fmt: skip
        if factor is None and own.get("factor") is None and self.context and self.trained:
            factor = self.context / self.trained  # as it is read
        if factor is not None and factor >= 1.0:
            self._about_attention(yarn_mscale(factor), factor)
        nested = isinstance(self.file.settings().get(str(self.layer_type)), dict)
        if nested and own.get("truncate") is False:
            if self.file.settings().get("truncate") is False:
                return
            self.add(
                "warning",
                "truncate",
                "truncate false is read here, but transformers 5.24.0 looks for it outside the "
                "layer type's settings and rounds the ramp",
                mend=[Mend((*self.file.settings_place(), "truncate"), False)],
                meant=[self.change("truncate", True)],
            )

    def _about_attention(self, usual: float, factor: float) -> None:
        own = self.own
        multiplied, explicit = self.given("attn_factor"), self.given("attention_factor")
        if multiplied is not None and own.get("attention_factor") is None:
            product = usual * multiplied
            self.add(
                "warning",
                "attn_factor",
                "attn_factor is not read by Hugging Face, which gives {hf}; vLLM and the YaRN "
                "repository multiply by it and get {other}; attention_factor would replace the "
                "value",
                hf=params.shown(usual),
                other=params.shown(product),
                mend=[*self.drop("attn_factor"), self.change("attention_factor", product)]
                if product > 0.0
                else self.drop("attn_factor"),
            )
        elif multiplied is not None:
            self.add(
                "warning",
                "attn_factor",
                "attn_factor is not read by Hugging Face, and attention_factor is; vLLM and the "
                "YaRN repository multiply by attn_factor",
                mend=self.drop("attn_factor"),
            )
        if explicit is not None and explicit > 0.0:
            self._about_explicit(explicit, usual, factor)
            return
        mscale, all_dim = self.given("mscale"), self.given("mscale_all_dim")
        if (mscale or 0.0) < 0.0 or (all_dim or 0.0) < 0.0:
            return
        if bool(mscale) != bool(all_dim):
            apart = yarn_mscale(max(factor, 1.0), 1.0 if mscale is None else mscale)
            apart /= yarn_mscale(max(factor, 1.0), all_dim or 0.0)
            same = math.isclose(apart, usual, rel_tol=1e-6)
            key = "mscale" if mscale else "mscale_all_dim"
            values: dict[str, Any] = {
                "mscale": short(own.get("mscale")),
                "all_dim": short(own.get("mscale_all_dim")),
                "usual": params.shown(usual),
            }
            if same and own.get("mscale") is not None and own.get("mscale_all_dim") is not None:
                self.add(
                    "note",
                    key,
                    "mscale and mscale_all_dim must both be given and not 0 to count, got {mscale} "
                    "and {all_dim}: cos and sin are multiplied by 0.1 ln(factor) + 1 = {usual}",
                    **values,
                )
                return
            self.add(
                "warning",
                key,
                "mscale and mscale_all_dim must both be given and not 0 to count, got {mscale} and "
                "{all_dim}: Hugging Face then takes 0.1 ln(factor) + 1 = {usual}; DeepSeek's own "
                "code and vLLM's copy of it take them one by one and get {apart}",
                **values,
                apart=params.shown(apart),
                mend=[*self.drop("mscale", "mscale_all_dim"),
                      self.change("attention_factor", apart)],
            )  # fmt: skip
        elif mscale and mscale == all_dim:
            plain = self.file.kind not in types.DEFAULT_LATENT and (
                hf_config.latent(self.text)[0] is None
            )
            rotary = rotary_or_none(self.file, self.layer_type, own)
            effect = None
            if rotary is not None:
                inv_freq, got = rotary.frequencies()
                scales = None if plain else (1.0, 1.0)
                effect = difference((inv_freq, usual), (inv_freq, got), None, scales)
            self.add(
                "note",
                "mscale",
                "mscale equals mscale_all_dim, {got}: cos and sin keep their size; "
                + (
                    "exllamav3, and vLLM up to mid-2026, multiply by 0.1 ln(factor) + 1 = {usual}"
                    if plain
                    else "DeepSeek's models scale all scores by the square of 0.1 mscale_all_dim "
                    "ln(factor) + 1 instead; llama.cpp once multiplied cos and sin by {usual} "
                    "(llama.cpp#7118)"
                ),
                got=params.shown(mscale),
                usual=params.shown(usual),
                effect=effect,
            )

    def _about_explicit(self, explicit: float, usual: float, factor: float) -> None:
        """An attention factor that replaces the computed one, and what slip it may be."""
        own = self.own
        if own.get("mscale") is not None or own.get("mscale_all_dim") is not None:
            self.add(
                "note",
                "mscale",
                "mscale and mscale_all_dim are not read beside attention_factor, which replaces "
                "them",
                mend=self.drop("mscale", "mscale_all_dim"),
                meant=self.drop("attention_factor"),
            )
        if math.isclose(explicit, usual, rel_tol=1e-6):
            self._about_usual(usual, factor)
            return
        slips = (
            (
                usual**2,
                Word("the square of it: scores get the square anyway, so that it counts twice"),
            ),
            (1.0 / usual, Word("one over it")),
            (1.0 + 0.1 * usual * math.log(max(factor, 1.0)), Word("computed twice over")),
            (usual - 1.0, Word("it without the 1")),
            (math.sqrt(usual), Word("its root")),
        )
        for value, what in slips:
            if usual > 1.0 and math.isclose(explicit, value, rel_tol=1e-3):
                self.add(
                    "warning",
                    "attention_factor",
                    "attention_factor must be 0.1 ln(factor) + 1 = {usual} or on purpose another "
                    "value, got {got}, which is {what}",
                    usual=params.shown(usual),
                    got=params.shown(explicit),
                    what=what,
                    mend=[self.change("attention_factor", usual)],
                )
                return
        self.add(
            "note",
            "attention_factor",
            "attention_factor {got} replaces 0.1 ln(factor) + 1 = {usual}; it is not a "
            "multiplier of it. vLLM and mlx-lm up to mid-2026 do not read it",
            got=params.shown(explicit),
            usual=params.shown(usual),
            meant=self.drop("attention_factor"),
        )

    def _about_usual(self, usual: float, factor: float) -> None:
        """The factor as it is computed anyway, which hides what other programs make of the key."""
        rotary = rotary_or_none(self.file, self.layer_type, self.own)
        if usual == 1.0 or rotary is None:
            return
        inv_freq, _ = rotary.frequencies()
        self.add(
            "note",
            "attention_factor",
            "attention_factor {got} is what 0.1 ln(factor) + 1 gives; sglang multiplied one by the "
            "other, {square} (sglang#33558), TensorRT-LLM computed it once more from the first, "
            "{twice} (TensorRT-LLM#16379)",
            got=params.shown(usual),
            square=params.shown(usual**2),
            twice=params.shown(0.1 * usual * math.log(factor) + 1.0),
            effect=difference((inv_freq, usual**2), (inv_freq, usual)),
        )

    def _about_llama3(self) -> None:
        low, high = self.given("low_freq_factor"), self.given("high_freq_factor")
        for name, value, usual in (("low_freq_factor", low, 1), ("high_freq_factor", high, 4)):
            if value is None and self.own.get(name) is None:
                self.add(
                    "warning",
                    name,
                    "{name} must be given for llama3, got nothing: Hugging Face "
                    "refuses it, here it is {usual}",
                    name=name,
                    usual=usual,
                    mend=[self.change(name, usual)],
                )
        if low is not None and low == high:
            self.add(
                "note",
                "high_freq_factor",
                "high_freq_factor equals low_freq_factor, {got}: no pair is blended",
                got=params.shown(high),
            )
        if low is not None and high is not None and high < low:
            self.add(
                "error",
                "high_freq_factor",
                "high_freq_factor must be at least low_freq_factor, {low}, got {high}: they look "
                "exchanged",
                low=params.shown(low),
                high=params.shown(high),
                mend=[self.change("low_freq_factor", tidy(high)),
                      self.change("high_freq_factor", tidy(low))],
            )  # fmt: skip

    def _about_longrope(self) -> None:
        own, context, trained = self.own, self.context, self.trained
        if own.get("short_mscale") is not None or own.get("long_mscale") is not None:
            self.add(
                "note",
                "short_mscale",
                "short_mscale and long_mscale are read for Phi-3.5-MoE "
                "and Phi-3-small alone, as in Hugging Face and vLLM",
            )
        if self.factor is None and own.get("factor") is None and context and trained:
            self.add(
                "note",
                "factor",
                "factor is absent: max_position_embeddings / "
                "original_max_position_embeddings = {ratio} stands for it",
                ratio=params.shown(context / trained),
                mend=[self.change("factor", tidy(context / trained))] if context >= trained else [],
            )
        lists: dict[str, Sequence[Any]] = {}
        for name in ("short_factor", "long_factor"):
            each = own.get(name)
            if not isinstance(each, (list, tuple)) or len(each) > hf_config.LARGEST_HEAD_DIM:
                return
            if any(number(n) is None for n in each):
                return
            lists[name] = each
        near, far = ([float(n) for n in each] for each in lists.values())
        if not near or not far:
            return
        if len(near) == len(far) and near == far:
            self.add(
                "note",
                "long_factor",
                "long_factor equals short_factor: the length changes no frequency",
            )
        elif len(near) == len(far) and sum(near) > sum(far):
            self.add(
                "warning",
                "long_factor",
                "long_factor must divide more than short_factor, got means {far} and {near}: "
                "they look exchanged",
                far=params.shown(sum(far) / len(far)),
                near=params.shown(sum(near) / len(near)),
                mend=[self.change("short_factor", lists["long_factor"]),
                      self.change("long_factor", lists["short_factor"])],
            )  # fmt: skip
        self._about_lengths_of_lists(lists)

    def _about_lengths_of_lists(self, lists: Mapping[str, Sequence[Any]]) -> None:
        """Lists that fit the whole head although a part of it rotates."""
        head_dim = hf_config.head_dim_of(self.text, self.own, self.layer_type)[1]
        if head_dim is None:
            return
        share_name, share = hf_config.share_of(self.text, self.own)
        rotating = hf_config.latent(self.text)[0]
        if rotating is None and number(share) is None:
            return
        pairs = number(rotating) or int(head_dim * (number(share) or 1.0))
        for name, each in lists.items():
            if len(each) == head_dim // 2 != pairs // 2:
                self.add(
                    "error",
                    name,
                    "{name} must have one number per pair that rotates, {pairs} here, got {got}, "
                    "one per pair of the whole head: {share} makes a part of it rotate",
                    name=name,
                    pairs=int(pairs // 2),
                    got=len(each),
                    share="qk_rope_head_dim" if rotating is not None else share_name,
                )

    def _about_static_ntk(self) -> None:
        """A name that the core and vLLM know, and Hugging Face does not."""
        named = self.own.get("rope_type") or self.own.get("type")
        rotary = rotary_or_none(self.file, self.layer_type, self.own)
        if named != "ntk" or self.own.get("alpha") is not None or rotary is None:
            return
        theta, scaling = rotary.rope.rope_theta, rotary.scaling
        factor: float = getattr(scaling, "factor", 1.0)
        try:
            base = rope_units.unit("rope_theta").value(factor, rotary.rope)
        except InvalidParameterError:  # a single pair
            return
        home = self.file.settings_place()
        beside = self.layer_type is None and home[-1] == "rope_scaling"
        self.add(
            "warning",
            self._type_key(),
            "ntk is no method of Hugging Face, which stops; static NTK is plain RoPE over a larger "
            "rope_theta, {base} instead of {theta}",
            base=f"{base:,.1f}",
            theta=params.shown(theta),
            mend=[Mend(home, removes=True),
                  Mend(self.file.place("rope_theta"), tidy(base))]
            if beside and self.own.get("rope_theta") is None
            else [*self.drop("factor"), self.change(self._type_key(), "default"),
                  self.change("rope_theta", tidy(base))],
        )  # fmt: skip

    def _about_dynamic(self) -> None:
        if self.given("alpha") == 0.0:
            self.add("note", "alpha", "alpha 0 counts as absent", mend=self.drop("alpha"))

    def _about_geometry(self) -> None:
        try:
            _, head_dim = hf_config.head_dim_of(self.text, self.own, self.layer_type)
            share_name, written = hf_config.share_of(self.text, self.own)
            share = number(written)
            rotary_dim = hf_config.rotary_of(self.text, self.layer_type, self.own).rope.rotary_dim
        except InvalidParameterError:
            return
        exact = None if head_dim is None or share is None else head_dim * share
        plain = self.rope_type != "proportional"
        if exact is not None and plain and rotary_dim == int(exact) != exact:
            self.add(
                "note",
                share_name,
                "{name} gives {exact} dimensions of {head_dim}; {got} rotate",
                name=share_name,
                exact=params.shown(exact),
                head_dim=head_dim,
                got=rotary_dim,
            )

    def _about_unread(self) -> None:
        own, rope_type = self.own, self.rope_type
        read_alike = {*READ[rope_type], *ELSEWHERE}
        if rope_type == "ntk" and own.get("alpha") is not None:
            read_alike |= {"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"}
        unread = [
            key
            for key in itertools.islice(own, MOST_UNKNOWN)
            if key not in read_alike and key not in self.foreign
        ]
        if own.get("finetuned") is not None:
            self.add(
                "note",
                "finetuned",
                "finetuned is not read: the scaling applies whatever it says",
                mend=self.drop("finetuned"),
            )
        if own.get("alpha") is not None and rope_type not in ("ntk", "dynamic"):
            self.add(
                "note",
                "alpha",
                "alpha is read with dynamic alone (Hunyuan's fixed larger base)",
                mend=self.drop("alpha"),
            )
        if rope_type == "default":
            methods = [key for key in unread if key in METHOD_KEYS and own[key] is not None]
            if methods:
                self._about_missing_type(sorted(methods, key=lambda key: key != "factor"))
            unread = [key for key in unread if key not in METHOD_KEYS]
        written = self.file.settings().get(str(self.layer_type))
        shared = {key for key in unread if isinstance(written, dict) and key not in written}
        unread = [key for key in unread if key not in self.file.told]
        self.file.told |= shared
        known = {*METHOD_KEYS, *ELSEWHERE}
        likely = {
            key: meant_name(key, known, SYNONYMS_INSIDE)
            for key in unread
            if key not in known and not isinstance(own[key], dict)
        }
        unread.sort(key=lambda key: likely.get(key) is None)
        for key in unread[:_MOST_TOLD]:
            self._about_unread_key(key, likely.get(key))

    def _about_unread_key(self, key: Any, likely: str | None) -> None:
        value = self.own[key]
        if likely == "rope_type" and not isinstance(value, str):
            likely = None
        mend = self.drop(key) if isinstance(key, str) else []
        if likely is not None and self.own.get(likely) is None:
            mend.append(self.change(likely, value))
        self.add(
            "warning" if likely else "note",
            str(key)[:LONGEST_NAME],
            "{unread} is not read by {rope_type}" + (", did you mean {likely}?" if likely else ""),
            unread=short(key).strip("'"),
            rope_type=self.rope_type,
            **({"likely": likely} if likely else {}),
            mend=mend,
            effect=None if likely else Effect(None, 1.0, 0.0),
        )

    def _about_missing_type(self, methods: list[str]) -> None:
        """Keys of a method without its name."""
        own = self.own
        guess = "linear"
        for method, marks in (
            ("longrope", {"short_factor", "long_factor"}),
            ("llama3", {"low_freq_factor", "high_freq_factor"}),
            ("yarn", {"beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate",
                      "attention_factor"}),
        ):  # fmt: skip
            if marks & set(methods):
                guess = method
                break
        else:
            if own.get("original_max_position_embeddings") is not None:
                guess = "yarn"
        if "factor" not in methods and guess in ("linear", "llama3"):
            guess = ""
        self.add(
            "warning",
            methods[0],
            "{unread} is not read without a rope_type that scales: the frequencies stay plain"
            + (", did you mean {likely}?" if guess else ""),
            unread=", ".join(methods),
            **({"likely": f"rope_type {guess}"} if guess else {}),
            mend=[*self.drop("type"), self.change("rope_type", guess)] if guess else [],
        )  # fmt: skip
