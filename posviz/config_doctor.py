"""What is wrong with a config, how much it matters, and how to mend it.

:func:`diagnose` lists findings about a ``config.json`` as a dict; :func:`examine` takes what a
visitor pasted, adds what an engine does with it in plain sentences, and orders the findings by
harm. Sentences are templates with their values, so that a page can translate them.

Conventions are those of :mod:`posviz.hf_config`. Other programs are told of as of the issue or
change that is named beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from posviz import (
    config_engines,
    config_flags,
    config_kin,
    config_plain,
    config_release,
    config_rules,
    config_settings,
    config_text,
    hf_config,
)
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
    reading_or_none,
    refusal,
)
from posviz.config_text import LlamaCppFlags, ModelFile, Parsed
from posviz.hf_config import HEAD_DIM, HEADS, HIDDEN, SETTINGS, TEXT, THETA, Config, Reading
from posviz.params import LIKELY_ONE_OF, InvalidParameterError

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
    "model_file",
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
    reading = reading_or_none(config)
    plain = () if reading is None else tuple(config_plain.plain(reading))
    if reading is not None and reading.positional_encoding == "rope":
        plain += (_of_vllm(findings),)
    return Examination(parsed, reading, tuple(_by_harm(findings)), plain, assumed)


def _of_vllm(findings: Iterable[Finding]) -> Statement:
    """Where vLLM computes something else from the same file."""
    keys = dict.fromkeys(each.key for each in findings if "vLLM" in each.template)
    if not keys:
        return Statement("the same file is read by vLLM, for which no difference is on record here")
    return Statement(
        "the same file is read by vLLM, which is known to differ about {keys}: see the findings",
        {"keys": ", ".join(keys)},
    )


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
        config_engines.about_engines,
        config_release.about_release,
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


def model_file(model: Config) -> ModelFile | None:
    """The GGUF file of a model, by its ``config.json``; None if flags have no use there."""
    reading = reading_or_none(model)
    if reading is None:
        return None
    return ModelFile.of(reading, config_kin.trained_context(model))


def _of_method(finding: Finding, given: Config) -> Finding:
    """The refusal of a method that is only written differently, with its mend."""
    name = "--rope-scaling"
    method = str(given.get(name)).strip().lower()
    if finding.key != name or method not in config_text.LLAMA_CPP_METHODS:
        return finding
    return replace(
        finding,
        template=LIKELY_ONE_OF,
        values={**finding.values, "likely": method},
        mend=(Mend((name,), method),),
    )


def _examine_flags(parsed: Parsed, model: Config | None) -> Examination:
    file = None if model is None else model_file(model)
    findings = [Finding("warning", each.key, each.template, each.values) for each in parsed.notes]
    plain: tuple[Statement, ...] = ()
    try:
        flags = LlamaCppFlags.of(parsed.config)
    except InvalidParameterError as wrong:
        findings.append(_of_method(refusal(wrong), parsed.config))
    else:
        plain = tuple(config_plain.plain_flags(flags, file))
        findings += config_flags.about_flags(parsed.config, flags, file)
    findings += config_flags.about_flag_names(parsed.config)
    return Examination(parsed, None, tuple(_by_harm(findings)), plain)
