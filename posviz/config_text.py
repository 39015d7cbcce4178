"""Text that a visitor pastes: a ``config.json``, a part of one, or an engine's command line.

:func:`parse` turns it into a dict or says in one sentence what is wrong and where. It takes a whole
file, its ``rope_scaling`` alone, either one inside a Markdown fence or behind ``rope_scaling =``,
the flags of llama.cpp, and vLLM's ``--rope-scaling`` and ``--hf-overrides``.

Source of the flags: ggml-org/llama.cpp, ``common/arg.cpp`` (names), ``src/llama-context.cpp``
(defaults, attention factor) and ``ggml/src/ggml-cpu/ops.cpp`` (``rope_yarn``).
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from posviz import params
from posviz.hf_config import ELSEWHERE, HEAD_DIM, HIDDEN, METHOD_KEYS, SETTINGS, TEXT, Reading
from posviz.params import InvalidParameterError, Message, Word
from posviz.rope import RoPE
from posviz.rope_scaling import (
    Frequencies,
    Linear,
    Llama3,
    LongRope,
    Proportional,
    RopeScaling,
    Yarn,
    yarn_mscale,
)

Form = Literal["config", "settings", "llama.cpp", "vllm"]

LONGEST = 2_000_000
"""Characters of a text that is read; a config.json has a few thousand."""
DEEPEST = 64
"""Brackets within brackets that are read; a config.json has three or four."""
# Python refuses to convert longer numbers, and no key needs one of a tenth of it.
_MOST_DIGITS = 400
_MOST_NOTES = 100

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_MARK = re.compile(r'["\[\]{}]')
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n")
_ASSIGNED = re.compile(r"""\s*["']?(?:\w+\.)*(rope_scaling|rope_parameters)["']?\s*[:=]\s*""")
_MEMBER = re.compile(r'\s*"\w+"\s*:')
_CLOSING = " \t\r\n,;)}"
_CLOSED = re.compile(rf"[{re.escape(_CLOSING)}]*")
_DIGITS = re.compile(rf"\d{{{_MOST_DIGITS + 1},}}")
_CONSTANT = re.compile(r"-?\b(?:NaN|Infinity)\b")
_WHITE = re.compile(r"\s*")

AT = " (line {line}, column {column})"
TOO_LONG = (
    "text must have at most {longest} characters, a config.json has a few thousand, got {got}"
)
NOT_TEXT = "text must be the text of a config.json or a command line, got {got}"
EMPTY = "text must be a config.json or a command line, got nothing"
BROKEN = "text must be JSON, got {got}" + AT
CAUSED = "text must be JSON, got {got}: {cause}" + AT
TOO_DEEP = "text must have at most {deepest} brackets within each other, got more" + AT
NO_VALUE = "{name} must be followed by a value, got nothing"
NOT_AN_OBJECT = "text must be one JSON object in braces, got {got}" + AT


@dataclass(frozen=True)
class Note:
    """Something to know about a text that could be read.

    Attributes:
        key: The key or flag it is about; empty if the whole text.
        template: The sentence with its values left open, so that it can be translated.
        values: Its values.
    """

    key: str
    template: Message
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def sentence(self) -> str:
        """The note in words."""
        return self.template.format(**self.values)


@dataclass(frozen=True)
class Parsed:
    """A text that could be read.

    Attributes:
        config: The ``config.json`` as a dict; of llama.cpp, its position flags by their full name
            (``{"--rope-scale": 4.0}``), as :class:`LlamaCppFlags` takes them.
        form: ``config``: a whole file. ``settings``: a ``rope_scaling`` alone, which stands in
            ``config`` under that name. ``llama.cpp`` and ``vllm``: a command line.
        notes: What was doubled, skipped or unknown.
    """

    config: dict[str, Any] = field(hash=False)
    form: Form
    notes: tuple[Note, ...] = ()


def parse(text: str | bytes) -> Parsed:
    """What ``text`` says.

    Raises:
        InvalidParameterError: If it is no text, too long or too deep, or neither JSON nor a command
            line: one sentence, with line and column (from 1) and the likely cause.
    """
    text = as_text(text)
    if len(text) > LONGEST:
        raise InvalidParameterError(
            TOO_LONG, longest=params.shown(LONGEST), got=params.shown(len(text))
        )
    if not text.strip():
        raise InvalidParameterError(EMPTY)
    if "\0" in text:
        raise InvalidParameterError(NOT_TEXT, got=Word("a binary file"))
    start, end = _inside_fence(text)
    begin = _after_white(text, start)
    if text[begin : begin + 1] not in ("{", "["):
        assigned = _ASSIGNED.match(text, start, end)
        if assigned and text[assigned.end() : assigned.end() + 1] == "{":
            found, notes, stop = _json(text, assigned.end(), end)
            if text[stop:end].strip(_CLOSING) == "":
                return Parsed({assigned.group(1): found}, "settings", notes)
        if _MEMBER.match(text, start, end):
            return _of_object(*_members(text, begin, end))
        words = _words(text[start:end])
        if any(word.startswith("--") or word == "-c" for word in words):
            return _command_line(words)
        found_at = text.find("{", begin, end)
        if found_at >= 0:
            raise _wrong(
                text, begin, f"the text {params.shown(text[begin:found_at].strip())} before the {{"
            )
        raise _wrong(text, begin, params.shown(text[begin:end].strip()), "it must begin with {")
    found, notes, stop = _json(text, begin, end)
    if text[stop:end].strip(" \t\r\n,;"):
        raise _wrong(text, _after_white(text, stop), Word("more text after the end of the JSON"))
    if not isinstance(found, dict):
        raise InvalidParameterError(NOT_AN_OBJECT, got=Word("a list"), **_place(text, begin))
    return _of_object(found, notes)


def _of_object(found: dict[str, Any], notes: tuple[Note, ...]) -> Parsed:
    """A whole file, or the settings of one that were pasted alone."""
    whole = {*SETTINGS, *TEXT, *HIDDEN, *HEAD_DIM, "model_type", "architectures", "rope_theta"}
    names = {"rope_type", "type", *METHOD_KEYS}
    if not whole - {"rope_theta", "head_dim"} & found.keys():
        if names & found.keys() and found.keys() <= METHOD_KEYS | ELSEWHERE | {"rope_theta"}:
            return Parsed({"rope_scaling": found}, "settings", notes)
        inner = [value for value in found.values() if isinstance(value, dict)]
        if inner and any({"rope_type", "type", "rope_theta"} & value.keys() for value in inner):
            return Parsed({"rope_parameters": found}, "settings", notes)
        if {"rope_type", "factor"} <= found.keys():
            return Parsed({"rope_scaling": found}, "settings", notes)
    return Parsed(found, "config", notes)


def as_text(given: object) -> str:
    """A text, or the bytes of a file, as text; one sentence if it is neither."""
    if isinstance(given, bytes):
        if len(given) > 4 * LONGEST:
            raise InvalidParameterError(
                TOO_LONG, longest=params.shown(LONGEST), got=f"{params.shown(len(given))} bytes"
            )
        wide = given[:2] in (b"\xff\xfe", b"\xfe\xff")
        try:
            given = given.decode("utf-16" if wide else "utf-8")
        except UnicodeDecodeError:
            raise InvalidParameterError(NOT_TEXT, got=Word("a binary file")) from None
    if not isinstance(given, str):
        raise InvalidParameterError(NOT_TEXT, got=type(given).__name__)
    return given.removeprefix("\ufeff")


def _inside_fence(text: str) -> tuple[int, int]:
    """Where the text inside a Markdown fence begins and ends; all of it if there is none."""
    fence = _FENCE.search(text)
    if fence is None or text[: fence.start()].lstrip().startswith(("{", "[")):
        return 0, len(text)
    close = text.find("```", fence.end())
    return fence.end(), len(text) if close < 0 else close


def _after_white(text: str, start: int) -> int:
    match = _WHITE.match(text, start)
    return start if match is None else match.end()


def _place(text: str, at: int) -> dict[str, object]:
    """Line and column of a character, counted from 1, as they stand in a sentence."""
    before = text.rfind("\n", 0, at)
    return {"line": text.count("\n", 0, at) + 1, "column": at - before}


def _wrong(text: str, at: int, got: str, cause: Message | None = None) -> InvalidParameterError:
    values = {"got": got, **_place(text, at)}
    if cause is None:
        return InvalidParameterError(BROKEN, **values)
    return InvalidParameterError(CAUSED, cause=Word(cause), **values)


class _TooLongNumberError(ValueError):
    """A number of more digits than Python converts."""


class _ConstantError(ValueError):
    """NaN or Infinity, which JSON does not have."""


def _doubled(key: str, first: Any, last: Any) -> Note:
    return Note(
        _cut(key),
        "{key} stands twice, as {first} and as {last}: the last one counts",
        {"key": _cut(key), "first": _told(first), "last": _told(last)},
    )


def _members(text: str, at: int, end: int) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Keys with their values, as they stand in a file, without the braces around them."""
    made: dict[str, Any] = {}
    notes: tuple[Note, ...] = ()
    while _goes_on(text, at, end):
        key, more, at = _json(text, at, end)
        at = _after_white(text, at)
        if not isinstance(key, str) or text[at : at + 1] != ":":
            raise _wrong(
                text,
                at,
                params.shown(text[at : at + 40].split("\n", 1)[0].rstrip()),
                "a colon is missing",
            )
        value, more, at = _json(text, _after_white(text, at + 1), end)
        if len(notes) < _MOST_NOTES:
            notes += more
            if key in made:
                notes += (_doubled(key, made[key], value),)
        made[key] = value
        at = _after_white(text, at)
        if text[at : at + 1] == ",":
            at = _after_white(text, at + 1)
        elif _goes_on(text, at, end):
            raise _wrong(
                text,
                at,
                params.shown(text[at : at + 40].split("\n", 1)[0].rstrip()),
                "a comma is missing",
            )
    return made, notes


def _goes_on(text: str, at: int, end: int) -> bool:
    """Whether something follows that closes nothing; looked at where it stands, for each key."""
    closed = _CLOSED.match(text, at, end)
    return closed is not None and closed.end() < end


def _json(text: str, begin: int, end: int) -> tuple[Any, tuple[Note, ...], int]:
    """The JSON value that begins there, what is doubled in it, and where it ends."""
    _check_depth(text, begin, end)
    notes: list[Note] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made and len(notes) < _MOST_NOTES:
                notes.append(_doubled(key, made[key], value))
            made[key] = value
        return made

    def whole(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:
            raise _TooLongNumberError
        return int(digits)

    def constant(name: str) -> float:
        raise _ConstantError(name)

    decoder = json.JSONDecoder(object_pairs_hook=collect, parse_int=whole, parse_constant=constant)
    try:
        value, stop = decoder.raw_decode(text, begin)
    except json.JSONDecodeError as wrong:
        raise _explained(text, wrong, end) from None
    except _TooLongNumberError:
        at = _outside_strings(text, begin, _DIGITS)
        raise _wrong(
            text, at, Word("a number of more than {count} digits", count=_MOST_DIGITS)
        ) from None
    except _ConstantError as wrong:
        at = _outside_strings(text, begin, _CONSTANT)
        raise _wrong(text, at, str(wrong), "JSON has no such number") from None
    return value, tuple(notes), stop


def _check_depth(text: str, begin: int, end: int) -> None:
    """Refuse what is nested too deep, before a recursive parser meets it."""
    if text[begin : begin + 1] not in ("{", "["):
        return  # nothing is within it, and a text of many such values is not read once for each
    depth, at = 0, begin
    while (mark := _MARK.search(text, at, end)) is not None:
        at = mark.end()
        if mark.group() == '"':
            string = _STRING.match(text, mark.start(), end)
            if string is None:
                return  # it does not end: the parser says where it began
            at = string.end()
        elif mark.group() in "{[":
            depth += 1
            if depth > DEEPEST:
                raise InvalidParameterError(TOO_DEEP, deepest=DEEPEST, **_place(text, mark.start()))
        else:
            depth -= 1
            if depth <= 0:
                return


def _outside_strings(text: str, begin: int, wanted: re.Pattern[str]) -> int:
    """Where ``wanted`` first stands outside a string."""
    at = begin
    while (match := wanted.search(text, at)) is not None:
        quote = text.find('"', at, match.start())
        if quote < 0:
            return match.start()
        string = _STRING.match(text, quote)
        at = match.end() if string is None else string.end()
    return begin


def _explained(text: str, wrong: json.JSONDecodeError, end: int) -> InvalidParameterError:
    """A sentence for what the JSON parser stumbled over, with the likely cause."""
    at = min(wrong.pos, end)
    here, before = text[at:end], text[:at].rstrip()
    # Newer Pythons point at the comma itself, older ones behind it.
    if here.startswith(",") and text[at + 1 : end].lstrip()[:1] in ("}", "]", ""):
        return _wrong(text, at, Word("a comma before the closing bracket"), "leave it out")
    if before.endswith(",") and here.lstrip()[:1] in ("}", "]"):
        return _wrong(
            text, len(before) - 1, Word("a comma before the closing bracket"), "leave it out"
        )
    if wrong.msg.startswith("Unterminated string"):
        return _wrong(
            text, at, Word("a string that does not end"), "a quote is missing, or the rest"
        )
    if not here.strip():
        return _wrong(text, at, Word("the end of the text"), "the rest is missing, or a bracket")
    known: tuple[tuple[tuple[str, ...], Message, Message], ...] = (
        (("'",), "a single quote", "names and texts stand in double quotes, unlike in Python"),
        (("“", "”", "„", "‘", "’"), "a curly quote", "names and texts stand in straight quotes"),
        (("//", "/*", "#"), "a comment", "JSON has none"),
        (("True", "False"), "Python's {word}", "JSON writes it in lower case"),
        (("None",), "Python's None", "JSON writes null"),
        (("nan", "-nan", "inf", "-inf", "NAN"), "{word}", "JSON has no such number"),
        (("...", "…"), "dots", "something was left out"),
        (("=",), "an equals sign", "a colon stands between name and value"),
    )  # fmt: skip
    for beginnings, got, cause in known:
        for word in beginnings:
            if here.startswith(word):
                return _wrong(text, at, Word(got, word=word), cause)
    name = re.match(r"[A-Za-z_]\w*", here)
    if wrong.msg.startswith("Expecting property name") and name:
        return _wrong(text, at, params.shown(name.group()), "a name stands in double quotes")
    missing = {
        "Expecting ',' delimiter": "a comma is missing",
        "Expecting ':' delimiter": "a colon is missing",
    }
    if wrong.msg in missing:
        return _wrong(
            text,
            at,
            params.shown(here.split("\n", 1)[0].rstrip()),
            missing[wrong.msg],
        )
    causes = {
        "Invalid control character at": "a string goes over the end of its line, or holds a tab",
        "Invalid \\escape": "a backslash stands twice in JSON",
    }
    likely = next((each for msg, each in causes.items() if wrong.msg.startswith(msg)), None)
    if likely is None and (name or re.match(r"[+.\d-]", here)):
        likely = "a value is a number, true, false, null, or stands in double quotes"
    return _wrong(text, at, params.shown(here.split("\n", 1)[0].rstrip()), likely)


def _cut(key: object) -> str:
    """A name that a sentence can hold."""
    name = str(key)
    return name if len(name) <= 60 else name[:59] + "…"


def _line(word: str) -> str:
    """A word of a command line, without what a terminal would take for a key."""
    return "".join(one if one.isprintable() else "·" for one in _cut(word))


def _told(value: Any) -> str:
    """A value in a sentence; what holds other values is named by its type."""
    if isinstance(value, dict):
        return Word("an object")
    return Word("a list") if isinstance(value, list) else params.shown(value)


# Command lines.


@dataclass(frozen=True)
class LlamaCppFlags:
    """Flags of llama.cpp that change how positions are encoded; None where one is absent.

    0 or an absent flag means what the model file says: of ``rope_freq_base`` its base, of
    ``ctx_size`` its whole context, of ``yarn_orig_ctx`` its original context and, if it names none,
    its whole one. A negative ``yarn_*`` value is an absent one.

    Attributes:
        rope_scaling: ``none``, ``linear`` or ``yarn``; absent, the model file's, else ``linear``.
            ``longrope`` is a model file's type alone: the program refuses the flag.
        rope_scale: Factor by which frequencies are divided, above 0.
        rope_freq_scale: Its reciprocal; of both, the later one on the line counts, and only that
            one stands here.
        rope_freq_base: Base, above 1, or 0.
        yarn_orig_ctx: Trained context of YaRN's ramp, tokens.
        yarn_ext_factor: Share of extrapolation in the ramp, 0 to 1: 1 is YaRN, 0 turns it off.
        yarn_attn_factor: Multiplies cos and sin while YaRN is off. With YaRN it is overwritten
            since build 7,390 or so (pull request 17945, December 2025); before, it multiplied
            ``1 + 0.1 ln(factor)``.
        yarn_beta_slow: Turns up to which a pair is divided, above 0; absent, 1.
        yarn_beta_fast: Turns from which a pair is kept, above 0; absent, 32.
        ctx_size: Context to make room for, tokens; it scales nothing.
    """

    rope_scaling: str | None = None
    rope_scale: float | None = None
    rope_freq_scale: float | None = None
    rope_freq_base: float | None = None
    yarn_orig_ctx: int | None = None
    yarn_ext_factor: float | None = None
    yarn_attn_factor: float | None = None
    yarn_beta_slow: float | None = None
    yarn_beta_fast: float | None = None
    ctx_size: int | None = None

    def __post_init__(self) -> None:
        if self.rope_scaling is not None:
            params.one_of("--rope-scaling", self.rope_scaling, LLAMA_CPP_METHODS)
        checked: dict[str, object] = {}
        for name in ("yarn_ext_factor", "yarn_attn_factor", "yarn_beta_slow", "yarn_beta_fast"):
            value = getattr(self, name)
            if value is not None:
                value = params.real(flag(name), value, -math.inf)
                checked[name] = None if value < 0.0 else value
        if self.yarn_ext_factor is not None:
            params.real("--yarn-ext-factor", self.yarn_ext_factor, -math.inf, 1.0)
        for name in ("yarn_beta_slow", "yarn_beta_fast"):
            if checked.get(name) is not None:
                params.real(flag(name), checked[name], 1e-6, 1e6)
        for name in ("rope_scale", "rope_freq_scale"):
            value = getattr(self, name)
            if value is not None:
                checked[name] = params.real(flag(name), value, 0.0, 1e9, above=name == "rope_scale")
        if self.rope_freq_base is not None:
            base = params.real("--rope-freq-base", self.rope_freq_base, 0.0)
            checked["rope_freq_base"] = (
                params.real("--rope-freq-base", base, 1.0, above=True) if base else None
            )
        for name in ("yarn_orig_ctx", "ctx_size"):
            value = getattr(self, name)
            if value is not None:
                checked[name] = params.whole(flag(name), value, 0) or None
        params.keep(self, **checked)

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> LlamaCppFlags:
        """The flags of a :class:`Parsed` text; other ones are left aside."""
        names = {flag(each.name): each.name for each in fields(cls)}
        return cls(**{names[key]: value for key, value in flags.items() if key in names})

    @property
    def factor(self) -> float:
        """How many times slower the method makes a pair that it divides; 1 if no flag says."""
        if self.rope_scaling == "none":
            return 1.0
        if self.rope_scale is not None:
            return self.rope_scale
        return 1.0 / self.rope_freq_scale if self.rope_freq_scale else 1.0

    @property
    def extrapolation(self) -> float:
        """YaRN's share as it is used: 1 with ``yarn``, else 0, unless the flag says otherwise."""
        if self.yarn_ext_factor is not None:
            return self.yarn_ext_factor
        return 1.0 if self.rope_scaling == "yarn" else 0.0

    def frequencies(self, rope: RoPE, trained: int) -> Frequencies:
        """Frequencies ``(rotary_dim // 2,)`` and the factor on cos and sin under these flags.

        For a model file of plain RoPE; :class:`ModelFile` has what another one says.

        Args:
            rope: The model's own RoPE.
            trained: Its context, tokens, unless ``yarn_orig_ctx`` is given.

        Raises:
            InvalidParameterError: If ``rope_scaling`` is ``longrope``.

        Source: ggml-org/llama.cpp, ``rope_yarn`` and the constructor of ``llama_context``. Its
        ramp is YaRN's but where the end lies before the beginning: there it is a step.
        """
        params.instance("rope", rope, RoPE)
        trained = self.yarn_orig_ctx or params.whole("trained", trained, 1)
        if self.rope_scaling == "longrope":
            raise InvalidParameterError(
                "--rope-scaling must be one of none, linear, yarn to have frequencies, got longrope"
            )
        if self.rope_freq_base is not None:
            rope = RoPE(rope.rotary_dim, self.rope_freq_base)
        kept, divided = rope.inv_freq, rope.inv_freq / self.factor
        if self.extrapolation == 0.0:
            return divided, 1.0 if self.yarn_attn_factor is None else self.yarn_attn_factor
        fast = 32.0 if self.yarn_beta_fast is None else self.yarn_beta_fast
        slow = 1.0 if self.yarn_beta_slow is None else self.yarn_beta_slow

        def pair_with(turns: float) -> float:
            ratio = trained / (turns * 2.0 * math.pi)
            return rope.rotary_dim * math.log(ratio) / (2.0 * math.log(rope.rope_theta))

        low = max(math.floor(pair_with(fast)), 0)
        high = min(math.ceil(pair_with(slow)), rope.rotary_dim - 1)
        ramp = np.clip((np.arange(len(kept)) - low) / max(high - low, 0.001), 0.0, 1.0)
        share = (1.0 - ramp) * self.extrapolation
        return divided * (1.0 - share) + kept * share, yarn_mscale(self.factor)


@dataclass(frozen=True)
class ModelFile:
    """What a GGUF file says about positions, as it is made from a model's ``config.json``.

    A file of ``linear`` or YaRN names its method in keys (``rope.scaling.*``), which flags replace
    one by one. One of ``llama3``, LongRoPE or ``proportional`` carries a divisor of each frequency
    as a tensor (``rope_freqs.weight``, ``rope_factors_long.weight``): no flag turns it off, and
    what flags do comes on top of it. Dynamic NTK is unknown to llama.cpp, so such a file is taken
    as plain.

    Attributes:
        rope: RoPE of the layers that see everything, before scaling.
        scaling: Their method.
        context: Tokens that the file is made for.
        trained: Tokens that the model saw at once before any extension.

    Source: ggml-org/llama.cpp, pull request 8676 (the divisors of Llama 3.1 are a tensor that is
    passed to ``ggml_rope_ext``), ``src/llama-context.cpp`` and ``ggml/src/ggml-cpu/ops.cpp``.
    """

    rope: RoPE
    scaling: RopeScaling
    context: int
    trained: int

    @classmethod
    def of(cls, reading: Reading, trained: int | None = None) -> ModelFile | None:
        """The file of a model; None without RoPE or without a context.

        Args:
            reading: Its ``config.json``, as it is read.
            trained: Its trained context, if the reading does not tell it apart.
        """
        full = [each for each in reading.rotary if each.layer_type == "full_attention"]
        rotary = next(iter(full or reading.rotary), None)
        context = reading.max_position_embeddings or reading.original_max_position_embeddings
        if rotary is None or context is None:
            return None
        own = getattr(rotary.scaling, "original_max_position_embeddings", None)
        before = own or trained or reading.original_max_position_embeddings or context
        return cls(rotary.rope, rotary.scaling, context, before)

    @property
    def has_table(self) -> bool:
        """Whether its scaling is a tensor of divisors."""
        return isinstance(self.scaling, (Llama3, LongRope, Proportional))

    @property
    def method(self) -> str:
        """Its method as ``--rope-scaling`` would name it; ``none`` for plain RoPE or divisors."""
        return self.scaling.rope_type if isinstance(self.scaling, (Linear, Yarn)) else "none"

    @property
    def factor(self) -> float:
        """Its factor in ``rope.scaling.factor``; 1 if it has none."""
        return self.scaling.factor if isinstance(self.scaling, (Linear, Yarn)) else 1.0

    def filled(self, flags: LlamaCppFlags) -> LlamaCppFlags:
        """The flags with what the file says where one is absent."""
        told: dict[str, object] = {}
        if flags.rope_scaling is None and self.method != "none":
            told["rope_scaling"] = self.method
        if flags.rope_scale is None and not flags.rope_freq_scale:
            told["rope_scale"] = self.factor
        if isinstance(self.scaling, Yarn):
            named = ("beta_fast", "beta_slow")
            told |= {
                f"yarn_{name}": getattr(self.scaling, name)
                for name in named
                if getattr(flags, f"yarn_{name}") is None
            }
        return replace(flags, **told)  # type: ignore[arg-type]

    def divisors(self, ctx_size: int | None = None) -> NDArray[np.float64]:
        """What the tensor divides each frequency by, 1 without one.

        LongRoPE's list is chosen once, by the context that room is made for.
        """
        if not self.has_table:
            return np.ones_like(self.rope.inv_freq)
        scaled, _ = self.scaling.frequencies(self.rope, ctx_size or self.context)
        with np.errstate(divide="ignore"):
            return self.rope.inv_freq / scaled

    def frequencies(self, flags: LlamaCppFlags | None = None) -> Frequencies:
        """Frequencies ``(rotary_dim // 2,)`` and the factor on cos and sin under these flags."""
        flags = LlamaCppFlags() if flags is None else flags
        whole = self.filled(flags)
        # A file with divisors names no original context: YaRN's flags then count by all of it.
        ramp = self.trained if isinstance(self.scaling, Yarn) else self.context
        inv_freq, size = whole.frequencies(self.rope, ramp)
        if isinstance(self.scaling, Yarn) and whole.extrapolation and whole.factor >= 1.0:
            # rope.scaling.yarn_log_multiplier and attn_factor of the file.
            size = replace(self.scaling, factor=whole.factor).frequencies(self.rope)[1]
        elif isinstance(self.scaling, LongRope):
            size *= self.scaling.frequencies(self.rope)[1]
        return inv_freq / self.divisors(flags.ctx_size), size


LLAMA_CPP_METHODS = ("none", "linear", "yarn", "longrope")


def flag(name: str) -> str:
    """How a field of :class:`LlamaCppFlags` is written on a command line."""
    return "--" + name.replace("_", "-")


_OF_LLAMA_CPP = {flag(each.name): each.name for each in fields(LlamaCppFlags)}
_SHORT = {"-c": "--ctx-size"}
_OF_VLLM = ("--rope-scaling", "--hf-overrides", "--rope-theta", "--max-model-len")


def _words(text: str) -> list[str]:
    """The words of a command line; a backslash at the end of a line goes on."""
    joined = re.sub(r"[\\^`][ \t]*\r?\n", " ", text)[:100_000]
    try:
        return shlex.split(joined, comments=False)
    except ValueError:  # a quote that does not end
        return joined.split()


def _command_line(words: list[str]) -> Parsed:
    given: list[tuple[str, str | None]] = []
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word.startswith("--") or word in _SHORT:
            name, equals, value = word.partition("=")
            name = _SHORT.get(name, "--" + name[2:].replace("_", "-").lower())
            given.append((name, value if equals else following))
    if any(
        name in ("--rope-scaling", "--hf-overrides") and value and value.lstrip().startswith("{")
        for name, value in given
    ) or any(name in ("--rope-theta", "--max-model-len", "--hf-overrides") for name, _ in given):
        return _vllm(given)
    return _llama_cpp(given)


def _vllm(given: list[tuple[str, str | None]]) -> Parsed:
    config: dict[str, Any] = {}
    notes: list[Note] = []
    for name, value in given:
        if name not in _OF_VLLM:
            continue
        if value is None:
            raise InvalidParameterError(NO_VALUE, name=name)
        if name == "--max-model-len":
            notes.append(
                Note(
                    name,
                    "{name} {value} makes room for as many tokens; it scales nothing",
                    {"name": name, "value": _cut(value)},
                )
            )
        elif name == "--rope-theta":
            config["rope_theta"] = _number(name, value)
        else:
            found, more, _ = _json(value, _after_white(value, 0), len(value))
            if not isinstance(found, dict):
                raise InvalidParameterError(
                    "{name} must be followed by JSON in braces, got {got}",
                    name=name, got=_told(found),
                )  # fmt: skip
            config |= found if name == "--hf-overrides" else {name[2:].replace("-", "_"): found}
            notes += more
    if not config:
        raise InvalidParameterError(
            "text must hold vLLM's --rope-scaling, --rope-theta or --hf-overrides, got none of them"
        )
    return Parsed(config, "vllm", tuple(notes))


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidParameterError(params.REAL, name=name, got=params.shown(value))
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _llama_cpp(given: list[tuple[str, str | None]]) -> Parsed:
    config: dict[str, Any] = {}
    notes: list[Note] = []
    for name, value in given:
        if name not in _OF_LLAMA_CPP:
            if name.startswith(("--rope", "--yarn", "--ctx")):
                config[_line(name)] = value if value is None else _line(value)
            continue
        if value is None or (value.startswith("-") and not re.match(r"-[\d.]", value)):
            raise InvalidParameterError(NO_VALUE, name=name)
        both = {"--rope-scale", "--rope-freq-scale"}
        rivals = both - {name} if name in both else set()
        for earlier in ({name} | rivals) & config.keys():
            before = config.pop(earlier)
            same = _number(name, value) if name != "--rope-scaling" else value
            if earlier != name and before and same and math.isclose(before * same, 1.0):
                continue
            notes.append(
                Note(
                    earlier,
                    "{earlier} {first} comes before {name} {last}, which counts instead of it",
                    {
                        "earlier": earlier,
                        "first": params.shown(before),
                        "name": name,
                        "last": params.shown(same),
                    },
                )
            )
        config[name] = value if name == "--rope-scaling" else _number(name, value)
    if not config:
        raise InvalidParameterError(
            "text must hold a flag that changes positions, such as --rope-scaling, got none"
        )
    return Parsed(config, "llama.cpp", tuple(notes))
