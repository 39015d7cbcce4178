"""A pasted config with all its mends, as text, and its frequencies against those as pasted."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posviz.config_doctor import Examination, examine, model_file
from posviz.config_finding import (
    TOLERANCE,
    Effect,
    Finding,
    difference,
    lengths_of,
    reading_or_none,
    scales_of,
    side_by_side,
)
from posviz.config_text import LlamaCppFlags, ModelFile, Parsed
from posviz.hf_config import Config, Reading, Rotary
from posviz.params import InvalidParameterError
from posviz.rope_scaling import Frequencies, NoScaling

# Mends that one after the other come to an end; a config with more mistakes keeps the rest.
_MOST_MENDS = 24

DISTANCES = np.geomspace(1.0, 2.0**20, 121)
"""Distances at which errors are drawn, tokens."""

Against = Literal["mended", "plain"]


@dataclass(frozen=True)
class Comparison:
    """Frequencies of the layers of one type, as pasted and as meant.

    Attributes:
        layer_type: Their type; None if all layers are alike.
        against: What is meant: ``mended``, or the same without scaling where nothing is mended.
        configured: Frequencies in pair order, and the factor on cos and sin.
        meant: The same, as it should be; never of fewer pairs.
        seq_len: Tokens in use at which they hold, for methods that go by the length.
        rope_theta: Base of the pasted one.
        method: Its scaling method.
        scales: What all scores are multiplied by, of both; None where nothing is (all but MLA).
    """

    layer_type: str | None
    against: Against
    configured: Frequencies
    meant: Frequencies
    seq_len: int | None
    rope_theta: float
    method: str
    scales: tuple[float, float] | None = None

    @property
    def effect(self) -> Effect:
        """How far the two are apart."""
        return difference(self.configured, self.meant, self.seq_len, self.scales)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Radians per token by which each pair's angle is off; a missing pair stands still."""
        (mine, _), (other, _) = self.configured, self.meant
        pairs = max(len(mine), len(other))
        mine, other = (np.pad(each, (0, pairs - len(each))) for each in (mine, other))
        off: NDArray[np.float64] = np.abs(mine - other)
        return off

    @property
    def wavelengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Tokens per turn of each pair, as pasted and as meant; infinite for one that stands."""
        with np.errstate(divide="ignore", over="ignore"):
            mine, other = (2.0 * np.pi / inv_freq for inv_freq, _ in (self.configured, self.meant))
        return mine, other

    @property
    def worst(self) -> int:
        """The pair whose angle is off first."""
        return int(self.errors.argmax())

    @property
    def telling(self) -> int:
        """A slow pair that differs, to look at beside the worst one."""
        slow = 3 * len(self.errors) // 4
        differs = np.flatnonzero(self.errors > 0.0)
        return int(differs[np.abs(differs - slow).argmin()]) if len(differs) else slow

    def off(self, pair: int) -> NDArray[np.float64]:
        """Radians by which a pair's angle is off at each of :data:`DISTANCES`."""
        return float(self.errors[pair]) * DISTANCES

    def turns(self, angle: float) -> float:
        """An angle in rad as turns."""
        return angle / (2.0 * math.pi)

    def count_off(self, distance: int, tolerance: float = TOLERANCE) -> int:
        """Pairs that are off by more than ``tolerance`` rad at a distance."""
        return int((self.errors * distance > tolerance).sum())

    def first_off(self, pair: int, tolerance: float = TOLERANCE) -> int | None:
        """First distance at which a pair is off by more than ``tolerance`` rad; None if never."""
        error = float(self.errors[pair])
        if error * 1e15 <= tolerance:
            return None
        return max(math.floor(tolerance / error), 0) + 1


def mended(examination: Examination, *, model: Config | None = None) -> Config:
    """What was pasted, with the mends of its errors and warnings, the worst one first.

    A mend may show, or be, another one's: each is looked for once those before it are done. Notes
    are right as they are, and stay.

    Args:
        examination: Of the text.
        model: As :func:`posviz.config_doctor.examine` took it.
    """
    config = examination.parsed.config
    findings = examination.findings
    for _ in range(_MOST_MENDS):
        for each in findings:
            if each.level == "note" or not each.mend:
                continue
            changed = each.mended(config)
            if not _same(changed, config):
                break
        else:
            return config
        config = changed
        findings = _again(examination.parsed, config, model)
    return config


def _same(one: Config, other: Config) -> bool:
    # As text: 1 and True, or 8 and 8.0, are equal but not the same.
    return repr(one) == repr(other)


def _again(parsed: Parsed, config: Config, model: Config | None) -> tuple[Finding, ...]:
    if parsed.form != "llama.cpp":
        return examine(config).findings
    try:
        return examine(written(replace(parsed, config=config)), model=model).findings
    except InvalidParameterError:  # no flag is left
        return ()


def comparisons(
    examination: Examination, meant: Config, *, model: Config | None = None
) -> tuple[Comparison, ...]:
    """Frequencies as pasted against those of ``meant``, for each layer type.

    Where the two are the same, or only ``meant`` can be read, it stands against itself without
    scaling. Empty without RoPE, and where neither can be read.

    Args:
        examination: Of the text.
        meant: Its config, mended.
        model: Config of the model that flags of llama.cpp are used with.
    """
    if examination.parsed.form == "llama.cpp":
        return tuple(_of_flags(examination.parsed.config, meant, model))
    mine = examination.reading
    other = (
        mine
        if meant == examination.parsed.config
        else reading_or_none({**examination.assumed, **meant})
    )
    try:
        if mine is not None and other is not None and not _same(meant, examination.parsed.config):
            found = tuple(_against_mended(mine, other))
            if found:
                return found
        alone = other or mine
        return () if alone is None else tuple(_against_plain(alone))
    except InvalidParameterError:
        return ()


def _against_mended(mine: Reading, other: Reading) -> Iterator[Comparison]:
    for one, two in side_by_side(mine, other):
        lengths = sorted({0} | lengths_of(mine, one) | lengths_of(other, two))
        found = [
            Comparison(
                two.layer_type or one.layer_type, "mended", one.frequencies(length or None),
                two.frequencies(length or None), length or None, one.rope.rope_theta,
                one.rope_type, scales_of(mine, one, other, two),
            )
            for length in lengths
        ]  # fmt: skip
        yield max(found, key=lambda each: each.effect.harm)


def _against_plain(reading: Reading) -> Iterator[Comparison]:
    for rotary in reading.rotary:
        yield _plain(reading, rotary)


def _plain(reading: Reading, rotary: Rotary) -> Comparison:
    length = max(lengths_of(reading, rotary), default=None)
    unscaled = replace(rotary, scaling=NoScaling())
    return Comparison(
        rotary.layer_type, "plain", rotary.frequencies(length), (rotary.rope.inv_freq, 1.0),
        length, rotary.rope.rope_theta, rotary.rope_type,
        scales_of(reading, rotary, reading, unscaled),
    )  # fmt: skip


def _of_flags(given: Config, meant: Config, model: Config | None) -> Iterator[Comparison]:
    file = None if model is None else model_file(model)
    if file is None:
        return
    rope = file.rope
    one, two = (_frequencies(flags, file) for flags in (given, meant))
    if one is not None and two is not None and not _same(given, meant):
        yield _flags(one, two, "mended", given, file)
    elif two is not None:
        yield _flags(two, (rope.inv_freq, 1.0), "plain", meant, file)
    elif one is not None:
        yield _flags(one, (rope.inv_freq, 1.0), "plain", given, file)


def _flags(
    one: Frequencies, two: Frequencies, against: Against, given: Config, file: ModelFile
) -> Comparison:
    try:
        flags = LlamaCppFlags.of(given)
    except InvalidParameterError:
        flags = LlamaCppFlags()
    base = flags.rope_freq_base or file.rope.rope_theta
    method = flags.rope_scaling or file.scaling.rope_type
    return Comparison(None, against, one, two, None, base, method)


def _frequencies(flags: Config, file: ModelFile) -> Frequencies | None:
    try:
        with np.errstate(all="ignore"):
            found = file.frequencies(LlamaCppFlags.of(flags))
    except InvalidParameterError:
        return None
    return found if np.isfinite(found[0]).all() and math.isfinite(found[1]) else None


# As text.


def written(parsed: Parsed) -> str:
    """What :func:`posviz.config_text.parse` reads as the same config: JSON, or a command line."""
    if parsed.form == "llama.cpp":
        words = (
            word
            for name, value in parsed.config.items()
            for word in (name, *([] if value is None else [_flag(value)]))
        )
        return shlex.join(words)  # it is copied into a shell, and may be of somebody's link
    if parsed.form == "vllm":
        quoted = _compact(parsed.config).replace("'", "\\u0027")
        return f"--hf-overrides '{quoted}'"
    return _indented(parsed.config, "")


def shown(value: object, longest: int = 64) -> str:
    """A value as JSON, short enough for a line."""
    text = _compact(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _flag(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _indented(value: Any, margin: str) -> str:
    """JSON as people write it: an object's keys below each other, a list of numbers in a line."""
    if isinstance(value, Mapping) and value:
        inner = margin + "  "
        lines = (
            f"{inner}{_compact(str(key))}: {_indented(each, inner)}" for key, each in value.items()
        )
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    return _compact(value)


def _compact(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"  # as it came: JSON has no infinity
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_compact(str(key))}: {_compact(each)}" for key, each in value.items())
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_compact, value)) + "]"
    # A lone half of a character cannot be sent; any other one is kept as it is.
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else json.dumps(value, default=str)
