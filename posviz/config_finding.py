"""Findings about a config: what they say, how much they matter, what mends them.

A finding that can be measured carries an :class:`Effect`: the frequencies as configured against
those as meant. As meant is the config with the finding's mend, or, where programs differ, what the
other one computes; the sentence says which. :class:`File` is a config while it is examined.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from posviz import hf_config, params
from posviz.config_names import LONGEST_NAME
from posviz.hf_config import (
    CONTEXT,
    ELSEWHERE,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    LOCAL_THETA,
    METHOD_KEYS,
    MOST_LAYER_TYPES,
    SETTINGS,
    SHARE,
    TEXT,
    THETA,
    Config,
    Reading,
    Rotary,
    short,
)
from posviz.params import InvalidParameterError, Message
from posviz.rope_scaling import Frequencies, LongRope, Yarn, yarn_mscale

Level = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")

TOLERANCE = 0.1
"""Radians by which an angle may be off before its effect counts."""
# Relative difference of two frequencies, or two factors, that is rounding.
ROUNDING = 1e-9
# Keys that nobody knows are looked at up to this many in one place.
MOST_UNKNOWN = 300


@dataclass(frozen=True)
class Mend:
    """One change of a config.

    Attributes:
        path: Keys from the outside in; the last one is set or removed.
        value: What it becomes.
        removes: Whether the key goes away instead.
    """

    path: tuple[str, ...]
    value: Any = field(default=None, hash=False)
    removes: bool = False

    def apply(self, config: Config) -> Config:
        """``config`` with this change, as a copy; objects on the way that are missing are made."""
        made = dict(config)
        here = made
        for key in self.path[:-1]:
            inner = here.get(key)
            if inner is not None and not isinstance(inner, dict):
                raise InvalidParameterError(
                    "{name} must be a dict of settings to be mended, got {got}",
                    name=key,
                    got=short(inner),
                )
            here[key] = dict(inner or {})
            here = here[key]
        if self.removes:
            here.pop(self.path[-1], None)
        else:
            here[self.path[-1]] = self.value
        return made


@dataclass(frozen=True)
class Effect:
    """How far frequencies are apart: as configured against as meant, or another program's.

    Attributes:
        distance: First distance between two tokens, in tokens, at which the angle of some pair is
            off by more than :data:`TOLERANCE`; None if no frequency differs.
        logit_gain: Scores of the first over those of the second, of the part that turns: the
            square of the factors on cos and sin, times what all scores are multiplied by. 1 if
            they are alike.
        share: Share of the pairs whose frequency differs, 0 to 1.
        seq_len: Tokens in use at which it was measured, for methods that go by the length.
        rest_gain: The same of the part that does not turn, where it is scored by itself (MLA);
            None elsewhere.
    """

    distance: int | None
    logit_gain: float
    share: float
    seq_len: int | None = None
    rest_gain: float | None = None

    @property
    def harm(self) -> float:
        """Larger is worse; 0 is none. An order, not a measure of quality."""
        near = 0.0 if self.distance is None else 1.0 / self.distance
        return near + abs(math.log(self.logit_gain)) + abs(math.log(self.rest_gain or 1.0))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The same in words; empty if there is none."""
        found = []
        if self.distance is not None:
            found.append(
                Statement(
                    "{share} % of the frequencies differ: from distance {distance} on an angle is "
                    "off by more than {tolerance} rad",
                    {
                        "tolerance": TOLERANCE,
                        "distance": params.shown(self.distance),
                        "share": params.shown(round(100.0 * self.share, 1)),
                    },
                )
            )
        template = "scores are {gain} times as large"
        if self.rest_gain is not None and self.rest_gain != self.logit_gain:
            template = "scores of the part that turns are {gain} times as large"
        if abs(math.log(self.logit_gain)) > ROUNDING:
            found.append(Statement(template, {"gain": params.shown(self.logit_gain)}))
        if self.rest_gain is not None and abs(math.log(self.rest_gain)) > ROUNDING:
            found.append(
                Statement(
                    "scores of the part that does not turn are {gain} times as large",
                    {"gain": params.shown(self.rest_gain)},
                )
            )
        return tuple(found)


@dataclass(frozen=True)
class Statement:
    """A sentence with its values left open, so that it can be translated.

    Attributes:
        template: The sentence.
        values: Its values.
        layer_type: The layer type it is about, if one.
    """

    template: Message
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    layer_type: str | None = None

    @property
    def sentence(self) -> str:
        """The sentence with its values."""
        return self.template.format(**self.values)


@dataclass(frozen=True)
class Finding:
    """One thing to know about a config.

    Attributes:
        level: ``error``: it cannot be computed. ``warning``: it probably is not what was meant, or
            programs differ. ``note``: right, but easily misread.
        key: The key it is about.
        template: The sentence with its values left open, so that it can be translated.
        values: Its values.
        layer_type: The layer type it is about, if one.
        effect: How far frequencies are off; None where nothing can be compared.
        mend: Changes that make the finding go away, one after the other; empty if only the author
            can know.
    """

    level: Level
    key: str
    template: Message
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    layer_type: str | None = None
    effect: Effect | None = None
    mend: tuple[Mend, ...] = field(default=(), hash=False)

    @property
    def sentence(self) -> str:
        """What is allowed or meant, and what came."""
        return self.template.format(**self.values)

    def mended(self, config: Config) -> Config:
        """``config`` with the mend applied, as a copy."""
        return mended(config, self.mend)


def difference(
    configured: Frequencies,
    meant: Frequencies,
    seq_len: int | None = None,
    scales: tuple[float, float] | None = None,
) -> Effect:
    """Effect of having the ``configured`` frequencies instead of those that are ``meant``.

    Where one of them has more pairs, the missing ones stand still. The pairs then also join other
    dimensions, which the effect does not count.

    Args:
        configured: Frequencies in pair order, and the factor on cos and sin.
        meant: The same, as it should be.
        seq_len: Tokens in use at which they hold; kept as it is.
        scales: What all scores are multiplied by, of both; None where nothing is.
    """
    (mine, my_factor), (other, other_factor) = configured, meant
    pairs = max(len(mine), len(other))
    mine, other = (np.pad(each, (0, pairs - len(each))) for each in (mine, other))
    off = np.abs(mine - other)
    differs = off > ROUNDING * np.maximum(mine, other)
    worst = float(off[differs].max()) if differs.any() else 0.0
    distance = None
    if worst > 0.0 and TOLERANCE / worst < 1e15:
        distance = max(math.floor(TOLERANCE / worst), 0) + 1
    # Kept where a float can square it: factors of 1e-200 are legal.
    ratio = 1.0
    if my_factor != other_factor:
        ratio = min(max(my_factor / other_factor if other_factor else math.inf, 1e-150), 1e150)
    gain, rest = ratio**2, None
    if scales is not None:
        rest = scales[0] / scales[1]
        gain *= rest
    return Effect(distance, gain, float(differs.mean()), seq_len, rest)


def compared(config: Config, meant: Config) -> Effect | None:
    """The worst effect over layer types and lengths; None if one of them has no frequencies."""
    try:
        return between(hf_config.read(config), hf_config.read(meant))
    except InvalidParameterError:
        return None


def between(mine: Reading, other: Reading) -> Effect | None:
    """The worst effect over layer types and lengths of two readings; None if none answers."""
    found = [
        difference(
            one.frequencies(length or None), two.frequencies(length or None), length or None,
            scales_of(mine, one, other, two),
        )
        for one, two in side_by_side(mine, other)
        for length in sorted({0} | lengths_of(mine, one) | lengths_of(other, two))
    ]  # fmt: skip
    return max(found, key=lambda each: each.harm, default=None)


def scales_of(
    mine: Reading, one: Rotary, other: Reading, two: Rotary
) -> tuple[float, float] | None:
    """What MLA multiplies all scores by beside ``1 / sqrt(head_dim)``; None without MLA.

    DeepSeek's classes and their heirs multiply by the square of YaRN's ``mscale_all_dim`` term,
    both parts of the score alike: transformers 5.24.0, ``yarn_apply_mscale`` in their modeling.
    """
    if not all(hf_config.is_latent(each.model_type) for each in (mine, other)):
        return None
    first, second = (
        yarn_mscale(each.scaling.factor, each.scaling.mscale_all_dim or 0.0) ** 2
        if isinstance(each.scaling, Yarn)
        else 1.0
        for each in (one, two)
    )
    return first, second


def reading_or_none(config: Config) -> Reading | None:
    """What Hugging Face reads, None if it refuses."""
    try:
        return hf_config.read(lean(config))
    except InvalidParameterError:
        return None


def side_by_side(mine: Reading, other: Reading) -> Iterator[tuple[Rotary, Rotary]]:
    """Layers of two readings that answer to each other; those of one type alone do to all."""
    one = {each.layer_type: each for each in mine.rotary}
    two = {each.layer_type: each for each in other.rotary}
    if None in one or None in two:
        yield from itertools.product(one.values(), two.values())
    elif one.keys() == two.keys():
        yield from ((one[name], two[name]) for name in one)


def lengths_of(reading: Reading, rotary: Rotary) -> set[int]:
    """Lengths at which a method that goes by the length shows what it does."""
    if not rotary.scaling.depends_on_length:
        return set()
    longest = 2**31 - 1
    context = reading.max_position_embeddings or 0
    if isinstance(rotary.scaling, LongRope):
        return {max(context, rotary.scaling.original_max_position_embeddings + 1)}
    factor: float = getattr(rotary.scaling, "factor", 1.0)
    return {min(math.ceil(max(context, 1) * min(factor, longest)), longest)}


# A file as the doctor holds it.

TOP = {
    *SETTINGS, *TEXT, *HIDDEN, *HEADS, *HEAD_DIM, *CONTEXT, *THETA, *LOCAL_THETA, *SHARE,
    "alibi", "attention_chunk_size", "attn_config", "full_attention_interval",
    "global_attn_every_n_layers", "global_head_dim", "layer_types", "layers_block_type",
    "learned_pos_emb", "local_attention",
    "model_type", "no_rope_layer_interval", "no_rope_layers", "num_hidden_layers", "n_layer",
    "num_layers", "n_layers", "encoder_layers", "original_max_position_embeddings", "pad_token_id",
    "position_embedding_type", "qk_nope_head_dim", "qk_rope_head_dim",
    "relative_attention_max_distance", "relative_attention_num_buckets", "rope_interleave",
    "rope_ratio", "rotary_dim",
    "rotary_emb_interleaved", "sinusoidal_pos_embds", "sliding_window", "sliding_window_pattern",
    "swa_head_dim", "use_dynamic_ntk", "use_sliding_window", "num_key_value_heads",
}  # fmt: skip


def lean(config: Any) -> Config:
    """``config`` without the bulk of keys that nobody knows: what follows is then quick."""
    if not isinstance(config, dict):
        return hf_config.text_config(config)  # refuses it
    made: Config = {}
    unknown = 0
    for key, value in config.items():
        if key not in TOP:
            unknown += 1
            if unknown > MOST_UNKNOWN:
                continue
        # A longer list of layers is a slip; the rest of it says no more.
        cut = isinstance(value, list) and key in ("layer_types", "no_rope_layers")
        made[key] = value[: hf_config.LARGEST_DEPTH] if cut else value
    for key in TEXT:
        if isinstance(made.get(key), dict):
            made[key] = lean(made[key]) if not _is_too_deep(made[key]) else {}
    for key in SETTINGS:
        if isinstance(made.get(key), dict):
            made[key] = _lean_settings(made[key])
    return made


def _is_too_deep(config: Config) -> bool:
    """Whether language models stand in language models beyond what is read."""
    for _ in range(len(TEXT) + 1):
        inner = next((config[key] for key in TEXT if isinstance(config.get(key), dict)), None)
        if inner is None:
            return False
        config = inner
    return True


def _lean_settings(settings: Config) -> Config:
    made: Config = {}
    unknown = own = 0
    for key, value in settings.items():
        if isinstance(value, dict):
            own += 1
            if own <= MOST_LAYER_TYPES + 1:
                made[key] = value if len(value) <= MOST_UNKNOWN else _lean_settings(value)
        elif key in METHOD_KEYS or key in ELSEWHERE or unknown < MOST_UNKNOWN:
            unknown += 1
            made[key] = value
    return made


@dataclass
class _Draft:
    finding: Finding
    meant: Sequence[Mend] | None = None


class File:
    """A config with where things stand in it, and the findings so far."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.text = hf_config.text_config(config)
        self.encoding = hf_config.encoding_of(self.text)
        self.drafts: list[_Draft] = []
        self.told: set[object] = set()  # keys that all layer types share, once they are told
        self.levels: list[tuple[tuple[str, ...], Config]] = [((), config)]
        for _ in range(len(TEXT)):
            path, here = self.levels[-1]
            key = next((key for key in TEXT if isinstance(here.get(key), dict)), None)
            if key is None:
                break
            self.levels.append(((*path, key), here[key]))

    @property
    def kind(self) -> str:
        return hf_config.kind_of(self.text)

    def settings(self) -> Config:
        return hf_config.settings_of(self.text)

    def place(self, key: str) -> tuple[str, ...]:
        """Path of a key beside the settings; where it would stand if it does not."""
        for path, here in reversed(self.levels):
            if key in here:
                return (*path, key)
        return (*self.levels[-1][0], key)

    def settings_place(self) -> tuple[str, ...]:
        """Path of the settings that are read, or of those that would be."""
        written = next((key for key in SETTINGS if self.text.get(key)), SETTINGS[0])
        return self.place(written)

    def own_place(self, layer_type: str | None, key: str) -> tuple[str, ...]:
        """Path of a key of the settings of one layer type."""
        path, settings = self.settings_place(), self.settings()
        own = settings.get(layer_type) if layer_type is not None else None
        if isinstance(own, dict) and (key in own or key not in settings):
            return (*path, str(layer_type), key)
        return (*path, key)

    def add(
        self,
        level: Level,
        key: str,
        template: Message,
        *,
        layer_type: str | None = None,
        mend: Sequence[Mend] = (),
        meant: Sequence[Mend] | None = None,
        effect: Effect | None = None,
        **values: object,
    ) -> None:
        finding = Finding(level, key, template, values, layer_type, effect, tuple(mend))
        self.drafts.append(_Draft(finding, meant))

    def refuse(self, wrong: InvalidParameterError, layer_type: str | None = None) -> None:
        """An error, unless the same key has one that says more."""
        finding = refusal(wrong, layer_type)
        for each in self.drafts:
            alike = each.finding.level == "error" and each.finding.key == finding.key
            if alike and (layer_type is None or each.finding.layer_type in (None, layer_type)):
                return
        self.drafts.append(_Draft(self._with_obvious_mend(finding)))

    def _with_obvious_mend(self, finding: Finding) -> Finding:
        if finding.key == "truncate":
            path = self.own_place(finding.layer_type, "truncate")
            value = value_at(self.config, path)
            truth = {"true": True, "false": False, "1": True, "0": False}.get(str(value).lower())
            if truth is not None:
                return replace(finding, mend=(Mend(path, truth),))
        return finding

    def findings(self, refused: bool) -> Iterator[Finding]:
        """The findings with their effects; an error only where the config is refused."""
        base = self.config
        if refused:  # effects are those that remain once it can be read
            for draft in self.drafts:
                if draft.finding.level == "error":
                    base = mended(base, draft.finding.mend)
        for draft in self.drafts:
            finding = draft.finding
            if not refused and finding.level == "error":
                finding = replace(finding, level="warning")
            mends = finding.mend if draft.meant is None else draft.meant
            if finding.effect is None and finding.level != "error" and mends:
                finding = replace(finding, effect=compared(base, mended(base, mends)))
            yield finding


def mended(config: Config, mends: Iterable[Mend]) -> Config:
    """``config`` with these changes, as far as they fit it."""
    for each in mends:
        try:
            config = each.apply(config)
        except InvalidParameterError:
            continue
    return config


def value_at(config: Any, path: Sequence[str]) -> Any:
    """What stands at ``path``, None if nothing does."""
    for key in path:
        config = config.get(key) if isinstance(config, dict) else None
    return config


def refusal(wrong: InvalidParameterError, layer_type: str | None = None) -> Finding:
    """The finding that a config cannot be read, by the key that its sentence begins with."""
    key = str(wrong.values.get("name") or wrong.template).split(" ", 1)[0]
    return Finding("error", key[:LONGEST_NAME], wrong.template, wrong.values, layer_type)


def number(value: Any) -> float | None:
    """``value`` as a finite number, None if it is none."""
    try:
        return params.real("", hf_config.scalar("", value), -math.inf)
    except InvalidParameterError:
        return None


def number_of(config: Mapping[str, Any], names: Sequence[str]) -> tuple[str, float | None]:
    """The first of ``names`` that is a finite number, and the number."""
    found = ((name, number(config.get(name))) for name in names)
    return next((each for each in found if each[1] is not None), (names[0], None))


def same(one: Config, other: Config) -> bool:
    """Whether two settings are equal."""
    try:
        return bool(one == other)
    except (ValueError, RecursionError):  # arrays or depths that no config.json can hold
        return False


def tidy(value: float) -> float:
    """A whole number as an int, as a person would write it."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def number_in(text: str) -> float | None:
    """The number that a text writes, if it does."""
    plain = text.strip().replace("_", "").replace(",", "")
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", plain[:40]) or plain[40:]:
        return None
    found = float(plain)
    return tidy(found) if math.isfinite(found) else None


def layered(file: File) -> list[tuple[str | None, Config]]:
    """Settings of each layer type that has some, as they are read."""
    found = hf_config.by_layer_type(file.text)[0]
    return [(name, own) for name, own in found.items() if own is not None]


def rotary_or_none(file: File, layer_type: str | None, own: Config) -> Rotary | None:
    """RoPE of the layers of one type, None if it cannot be read."""
    try:
        return hf_config.rotary_of(file.text, layer_type, own)
    except InvalidParameterError:
        return None
