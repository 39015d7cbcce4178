"""What is wrong with a config, how much it matters, and how to mend it.

:func:`diagnose` lists findings about a ``config.json`` as a dict; :func:`examine` takes what a
visitor pasted, adds what an engine does with it in plain sentences, and orders the findings by
harm. Sentences are templates with their values, so that a page can translate them.

Conventions are those of :mod:`posviz.hf_config`. Other programs are told of as of the issue or
change that is named beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from posviz import config_plain, config_rules, config_settings, config_text, hf_config
from posviz.config_finding import (
    LEVELS,
    TOLERANCE,
    Effect,
    File,
    Finding,
    Level,
    Mend,
    Statement,
    difference,
    lean,
    refusal,
)
from posviz.config_text import LlamaCppFlags, Parsed
from posviz.hf_config import HEAD_DIM, HEADS, HIDDEN, SETTINGS, TEXT, THETA, Config, Reading
from posviz.params import InvalidParameterError

__all__ = [
    "ASSUMED_HEAD_DIM",
    "LEVELS",
    "TOLERANCE",
    "Effect",
    "Examination",
    "Finding",
    "Level",
    "Mend",
    "Statement",
    "diagnose",
    "difference",
    "examine",
]

ASSUMED_HEAD_DIM = 128
"""Head of a model that is not told, when settings alone are pasted."""


@dataclass(frozen=True)
class Examination:
    """All that can be said about what a visitor pasted.

    Attributes:
        parsed: The text as it was read.
        reading: What Hugging Face reads; None if it refuses, or for flags of llama.cpp.
        findings: Most harmful first: errors, warnings, notes, each by effect.
        plain: What Hugging Face (or llama.cpp) does with it, sentence by sentence.
        assumed: Keys that were added to ``parsed.config`` because the paste leaves them out; mends
            apply with them or without.
    """

    parsed: Parsed
    reading: Reading | None
    findings: tuple[Finding, ...]
    plain: tuple[Statement, ...]
    assumed: Mapping[str, object] = field(default_factory=dict, hash=False)


def examine(given: str | bytes | Config, *, model: Config | None = None) -> Examination:
    """What a pasted text, or a config as a dict, says and what is wrong with it.

    Args:
        given: Text as :func:`posviz.config_text.parse` takes it, or a dict.
        model: For flags of llama.cpp: the config of the model they are used with, for the sizes of
            errors.

    Raises:
        InvalidParameterError: If a text cannot be parsed, in one sentence.
    """
    parsed = Parsed(given, "config") if isinstance(given, dict) else config_text.parse(given)
    if parsed.form == "llama.cpp":
        return _examine_flags(parsed, model)
    config, assumed = _completed(parsed)
    level: Level = "note" if parsed.form == "vllm" else "warning"
    findings = [Finding(level, each.key, each.template, each.values) for each in parsed.notes]
    if assumed:
        template = "head_dim is not told; {got} is taken, for the sizes of errors"
        findings.append(Finding("note", "head_dim", template, {"got": assumed["head_dim"]}))
    findings += diagnose(config)
    reading = _reading(config)
    plain = () if reading is None else tuple(config_plain.plain(reading))
    return Examination(parsed, reading, tuple(_by_harm(findings)), plain, assumed)


def diagnose(config: Any) -> list[Finding]:
    """What is wrong with a config, or easily misread, most harmful first; never an exception.

    Args:
        config: A ``config.json`` as a dict; anything else is a finding, too.
    """
    try:
        leaner = lean(config)
        file = File(leaner)
    except InvalidParameterError as wrong:
        return [refusal(wrong)]
    for rules in (
        config_rules.about_the_file,
        config_rules.about_names,
        config_settings.about_settings,
        config_rules.about_engines,
    ):
        try:
            rules(file)
        except InvalidParameterError as wrong:
            file.refuse(wrong)
    refused = False
    try:
        hf_config.read(leaner)
    except InvalidParameterError as wrong:
        refused = True
        file.refuse(wrong)
    return _by_harm(file.findings(refused))


def _by_harm(findings: Iterable[Finding]) -> list[Finding]:
    """Worst first; a note that asks for what a worse finding mends is left out."""

    def order(each: Finding) -> tuple[int, float]:
        return LEVELS.index(each.level), -each.effect.harm if each.effect else 0.0

    found = sorted(dict.fromkeys(findings), key=order)
    mends = {(each.key, each.layer_type, each.mend) for each in found if each.level != "note"}
    return [
        each for each in found
        if each.level != "note" or not each.mend
        or (each.key, each.layer_type, each.mend) not in mends
    ]  # fmt: skip


def _reading(config: Config) -> Reading | None:
    try:
        return hf_config.read(lean(config))
    except InvalidParameterError:
        return None


def _completed(parsed: Parsed) -> tuple[Config, dict[str, object]]:
    """The config, with a head if settings stand alone; and what was added."""
    config = parsed.config
    if parsed.form == "config" and ("architectures" in config or len(config) > 8):
        return config, {}
    geometry = (*HIDDEN, *HEADS, *HEAD_DIM, *TEXT, "model_type", "rotary_dim", "qk_rope_head_dim")
    if any(config.get(key) is not None for key in geometry):
        return config, {}
    if not any(config.get(key) for key in (*SETTINGS, *THETA)):
        return config, {}
    head_dim = ASSUMED_HEAD_DIM
    settings = config.get("rope_scaling") or config.get("rope_parameters") or {}
    factors = settings.get("short_factor") if isinstance(settings, dict) else None
    if isinstance(factors, list) and 0 < len(factors) <= hf_config.LARGEST_HEAD_DIM // 2:
        head_dim = 2 * len(factors)
    return {**config, "head_dim": head_dim}, {"head_dim": head_dim}


def _examine_flags(parsed: Parsed, model: Config | None) -> Examination:
    reading = None if model is None else _reading(model)
    rope = reading.rotary[0].rope if reading is not None and reading.rotary else None
    trained = None
    if reading is not None:
        trained = reading.original_max_position_embeddings or reading.max_position_embeddings
    findings = [Finding("warning", each.key, each.template, each.values) for each in parsed.notes]
    plain: tuple[Statement, ...] = ()
    try:
        flags = LlamaCppFlags.of(parsed.config)
    except InvalidParameterError as wrong:
        findings.append(refusal(wrong))
    else:
        plain = tuple(config_plain.plain_flags(flags))
        findings += config_plain.about_flags(parsed.config, flags, rope, trained)
    findings += config_plain.about_flag_names(parsed.config)
    return Examination(parsed, None, tuple(_by_harm(findings)), plain)
