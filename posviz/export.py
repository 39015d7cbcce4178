"""A setting to take away: as a Hugging Face config, llama.cpp flags, Python, or a table.

Everything gives the frequencies of :meth:`Setting.frequencies` again, or says in one sentence why
the target cannot.

Source: transformers 5.24.0, ``modeling_rope_utils.py`` (keys of each type, and what is validated);
ggml-org/llama.cpp, ``common/arg.cpp``, ``src/llama-context.cpp`` and ``gguf-py/gguf/constants.py``;
https://docs.vllm.ai/en/stable/features/context_extension/.
"""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from typing import Any, Literal

from posviz import params, rope_units
from posviz import rope as rope_module
from posviz.config_text import Note
from posviz.hf_config import READ, TRAINED
from posviz.params import InvalidParameterError, Word
from posviz.rope import Layout, RoPE
from posviz.rope_scaling import (
    ROPE_SCALINGS,
    DynamicNtk,
    Frequencies,
    Linear,
    Llama3,
    LongRope,
    NoScaling,
    Ntk,
    Proportional,
    RopeScaling,
    Yarn,
    effect,
    yarn_mscale,
)

Style = Literal["rope_parameters", "rope_scaling"]
STYLES: tuple[Style, ...] = ("rope_parameters", "rope_scaling")

NO_STATIC_NTK = (
    "Hugging Face has no static NTK: it is plain RoPE over a larger rope_theta, {base} instead of "
    "{rope_theta}"
)
GROWS_FROM = (
    "max_position_embeddings is the {trained} tokens from which the base grows: Hugging Face reads "
    "dynamic NTK's trained context there"
)
RATIO_WON = (
    "transformers up to 4.57 takes {ratio}, the ratio of both contexts, instead of factor {factor}"
)
WARNED_ABOUT = (
    "transformers 5.24 divides by the factor {factor} of proportional RoPE, and warns that it does "
    "not know the key"
)
NO_RAMP_OVER_TURNS = (
    "{target} has no YaRN whose ramp is over turns, as the paper has it: ramp_over must be pairs, "
    "got turns"
)
NOT_A_FLAG = "llama.cpp has no flag for {rope_type}: {instead}"
INSTEAD = {
    "dynamic": Word("it keeps one base for all lengths; static NTK for the longest text comes "
                    "nearest"),
    "llama3": Word("the GGUF file carries it, as one divisor per pair in the tensor "
                   "rope_freqs.weight"),
    "longrope": Word("the GGUF file carries both lists, as the tensors rope_factors_short.weight "
                     "and rope_factors_long.weight, and --ctx-size chooses one of them for good"),
    "proportional": Word("the GGUF file carries it, as one divisor per pair in the tensor "
                         "rope_freqs.weight"),
}  # fmt: skip
ALWAYS_ROUNDS = (
    "llama.cpp always rounds the ends of YaRN's ramp to whole pairs: truncate must be True, "
    "got False"
)
OWN_FACTOR = (
    "llama.cpp computes YaRN's factor on cos and sin itself, {own} here, unless the GGUF file says "
    "otherwise (rope.scaling.yarn_log_multiplier, rope.scaling.attn_factor): attention_factor must "
    "be that, got {got}"
)
VLLM_IS_STATIC = (
    "vLLM has no dynamic NTK that grows: its dynamic takes the base of {longest} tokens at every "
    "length; write static NTK as a rope_theta instead"
)
ENDS_FIRST = (
    "llama.cpp makes a step of a ramp that ends before it begins, as here where every pair turns "
    "more than beta_fast times: the base must be larger, got {got}"
)


@dataclass(frozen=True)
class Setting:
    """A model's RoPE with its scaling.

    Attributes:
        rope: How many dimensions rotate, and how fast before scaling.
        scaling: What scales the frequencies.
        head_dim: Dimensions of a query or key, at least those that rotate; the same number with
            proportional RoPE, whose ``rope`` is the whole head.
        max_position_embeddings: Context that is to be read, tokens.
        trained: Context of the training, tokens. Methods that compute with it have their own.
    """

    rope: RoPE
    scaling: RopeScaling
    head_dim: int
    max_position_embeddings: int
    trained: int

    def __post_init__(self) -> None:
        params.instance("rope", self.rope, RoPE)
        params.instance("scaling", self.scaling, RopeScaling)
        params.keep(
            self,
            head_dim=params.whole("head_dim", self.head_dim, self.rope.rotary_dim),
            max_position_embeddings=params.whole(
                "max_position_embeddings", self.max_position_embeddings, 1
            ),
            trained=params.whole("trained", self.trained, 1),
        )
        if isinstance(self.scaling, Proportional) and self.head_dim != self.rope.rotary_dim:
            raise InvalidParameterError(
                "head_dim must be the {allowed} dimensions of proportional RoPE, got {got}",
                allowed=self.rope.rotary_dim,
                got=self.head_dim,
            )
        self.scaling.frequencies(self.rope)  # refuses what does not fit

    def frequencies(self, seq_len: int | None = None) -> Frequencies:
        """Scaled frequencies ``(rotary_dim // 2,)`` and the factor on cos and sin."""
        return self.scaling.frequencies(self.rope, seq_len)


EXPORTED = ("default", "linear", "ntk", "dynamic", "yarn", "longrope", "llama3", "proportional")
"""Methods that every target below has an answer to, be it a sentence."""


def _unknown(scaling: RopeScaling) -> InvalidParameterError:
    return InvalidParameterError(
        "scaling must be one of {allowed} to be exported, got {got}",
        allowed=", ".join(EXPORTED),
        got=params.shown(scaling.rope_type),
    )


# Hugging Face.


def hf_config(setting: Setting, style: Style = "rope_parameters") -> dict[str, Any]:
    """The keys of a ``config.json`` that hold the setting, for ``json.dumps``.

    Args:
        setting: What is exported.
        style: ``rope_parameters`` as transformers 5 writes it, or ``rope_scaling`` as before, with
            base and share beside it.

    Raises:
        InvalidParameterError: If Hugging Face has no such method (YaRN's ramp over turns).
    """
    params.one_of("style", style, STYLES)
    rope, scaling = setting.rope, setting.scaling
    own = _hf_settings(scaling)
    outside: dict[str, Any] = {"rope_theta": _base(setting)}
    if isinstance(scaling, Proportional):
        own["partial_rotary_factor"] = scaling.partial_rotary_factor
    elif rope.rotary_dim != setting.head_dim:
        outside["partial_rotary_factor"] = _share(rope.rotary_dim, setting.head_dim)
    config: dict[str, Any] = {
        "head_dim": setting.head_dim,
        "max_position_embeddings": _context(setting),
    }
    if style == "rope_parameters":
        return config | {"rope_parameters": {**own, **outside}}
    plain = own == {"rope_type": "default"}
    return config | outside | {"rope_scaling": None if plain else own}


def hf_notes(setting: Setting) -> tuple[Note, ...]:
    """What to know about :func:`hf_config` of the setting."""
    scaling = setting.scaling
    if isinstance(scaling, Ntk):
        shown = {
            "base": f"{_base(setting):,.1f}",
            "rope_theta": params.shown(setting.rope.rope_theta),
        }
        return (Note("rope_theta", NO_STATIC_NTK, shown),)
    if isinstance(scaling, DynamicNtk):
        trained = params.shown(scaling.max_position_embeddings)
        return (Note("max_position_embeddings", GROWS_FROM, {"trained": trained}),)
    if isinstance(scaling, LongRope) and scaling.factor and scaling.attention_factor is None:
        ratio = _context(setting) / scaling.original_max_position_embeddings
        if ratio != scaling.factor:
            values = {"ratio": params.shown(ratio), "factor": params.shown(scaling.factor)}
            return (Note("factor", RATIO_WON, values),)
    if isinstance(scaling, Proportional) and scaling.factor != 1.0:
        return (Note("factor", WARNED_ABOUT, {"factor": params.shown(scaling.factor)}),)
    return ()


def _hf_settings(scaling: RopeScaling) -> dict[str, Any]:
    """What stands in Hugging Face's settings, but for base and share."""
    if isinstance(scaling, (NoScaling, Ntk)):
        return {"rope_type": NoScaling.rope_type}
    known = scaling.rope_type in EXPORTED
    if not known or type(scaling) is not ROPE_SCALINGS.get(scaling.rope_type):
        raise _unknown(scaling)
    if isinstance(scaling, Yarn) and scaling.ramp_over == "turns":
        raise InvalidParameterError(NO_RAMP_OVER_TURNS, target="Hugging Face")
    found = {key: getattr(scaling, key) for key in READ[scaling.rope_type]}
    if scaling.rope_type in TRAINED:
        key = "original_max_position_embeddings"
        found[key] = getattr(scaling, key)
    if isinstance(scaling, Proportional) and scaling.factor == 1.0:
        del found["factor"]
    return {"rope_type": scaling.rope_type} | {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in found.items()
        if value is not None
    }


def _base(setting: Setting) -> float:
    """Base of plain RoPE, NTK's with NTK."""
    rope, scaling = setting.rope, setting.scaling
    if not isinstance(scaling, Ntk):
        return rope.rope_theta
    return rope_units.unit("rope_theta").value(scaling.factor, rope)


def _context(setting: Setting) -> int:
    """``max_position_embeddings`` of the file: two methods compute with it."""
    scaling = setting.scaling
    if isinstance(scaling, (DynamicNtk, LongRope)) and scaling.max_position_embeddings is not None:
        return scaling.max_position_embeddings
    return setting.max_position_embeddings


def _share(rotary_dim: int, head_dim: int) -> float:
    """Share of a head that is exactly ``rotary_dim`` once multiplied and truncated."""
    share = rotary_dim / head_dim
    while int(head_dim * share) < rotary_dim:  # 200 * (58 / 200) is 57.99...
        share = math.nextafter(share, 1.0)
    return share


# vLLM.


def vllm_command(setting: Setting, model: str = "MODEL") -> str:
    """The command that serves ``model`` with the setting over its own config.

    Raises:
        InvalidParameterError: If vLLM does otherwise than Hugging Face (dynamic NTK), or has no
            such method.
    """
    scaling = setting.scaling
    if isinstance(scaling, DynamicNtk):
        longest = round(scaling.factor * scaling.max_position_embeddings)
        raise InvalidParameterError(VLLM_IS_STATIC, longest=f"{longest:,}")
    own = {"rope_parameters": hf_config(setting)["rope_parameters"]}
    command = ["vllm", "serve", model, "--hf-overrides", json.dumps(own), "--max-model-len"]
    return shlex.join([*command, str(_context(setting))])


# llama.cpp.


def llama_cpp_flags(setting: Setting) -> str:
    """Flags of llama.cpp for a model file of plain RoPE, in one line.

    The base is always among them: it may be the model file's own. How many dimensions rotate, the
    file says (``rope.dimension_count``).

    Raises:
        InvalidParameterError: If llama.cpp has no flag for it; where the model file would carry it.
    """
    scaling = setting.scaling
    match scaling:
        case NoScaling() | Ntk():
            method: tuple[tuple[str, object], ...] = (("--rope-scaling", "none"),)
        case Linear():
            method = (("--rope-scaling", "linear"), ("--rope-scale", scaling.factor))
        case Yarn():
            _check_flags(setting, scaling)
            method = (
                ("--rope-scaling", "yarn"),
                ("--rope-scale", scaling.factor),
                ("--yarn-orig-ctx", scaling.original_max_position_embeddings),
                ("--yarn-beta-fast", scaling.beta_fast),
                ("--yarn-beta-slow", scaling.beta_slow),
            )
        case DynamicNtk() | Llama3() | LongRope() | Proportional():
            raise InvalidParameterError(
                NOT_A_FLAG, rope_type=scaling.rope_type, instead=INSTEAD[scaling.rope_type]
            )
        case _:
            raise _unknown(scaling)
    flags = (
        *method,
        ("--rope-freq-base", _base(setting)),
        ("--ctx-size", setting.max_position_embeddings),
    )
    return " ".join(f"{name} {_written(value)}" for name, value in flags)


def _check_flags(setting: Setting, yarn: Yarn) -> None:
    """Refuse YaRN settings that llama.cpp would not keep."""
    if yarn.ramp_over == "turns":
        raise InvalidParameterError(NO_RAMP_OVER_TURNS, target="llama.cpp")
    if not yarn.truncate:
        raise InvalidParameterError(ALWAYS_ROUNDS)
    _, attention_factor = setting.frequencies()
    own = yarn_mscale(yarn.factor)
    if not math.isclose(attention_factor, own, rel_tol=1e-6):  # float32 there
        raise InvalidParameterError(
            OWN_FACTOR, own=params.shown(own), got=params.shown(attention_factor)
        )
    low, high = yarn.correction_range(setting.rope)
    if high < low:
        raise InvalidParameterError(ENDS_FIRST, got=params.shown(setting.rope.rope_theta))


def _written(value: object) -> str:
    """A number as a command line has it: 4 and not 4.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# Python.

_TURNS = """\
turns = [original_max_position_embeddings * f / (2 * math.pi) for f in plain]"""
_BLEND = """\
inv_freq = [f * (1 - r) + f / factor * r for f, r in zip(plain, ramp)]"""
_PLAIN_BASE = """\
inv_freq = [base ** (-2 * i / rotary_dim) for i in range(pairs)]"""

_SNIPPET = """\
# RoPE frequencies: {method}. Plain Python, nothing to install.
import math

rotary_dim = {rotary_dim}  # dimensions of a head of {head_dim} that rotate
rope_theta = {rope_theta}  # base
pairs = rotary_dim // 2

# As trained, in radians per token, fastest pair first.
plain = [rope_theta ** (-2 * i / rotary_dim) for i in range(pairs)]

{body}

wavelengths = [2 * math.pi / f if f else math.inf for f in inv_freq]  # tokens per turn

# At position p, pair i turns by p * inv_freq[i]; its cos and sin are multiplied by
# attention_factor, so scores by its square. Pair i is dimensions i and i + pairs in most
# checkpoints of Hugging Face (Llama, Qwen), 2i and 2i + 1 in GPT-J and in Meta's own Llama code.
"""


def snippet(setting: Setting, seq_len: int | None = None) -> str:
    """Python that computes the setting's ``inv_freq`` (a list) and ``attention_factor``.

    It needs ``math`` alone and repeats the core's formulas, not their results.

    Args:
        setting: What is exported.
        seq_len: Tokens in use, for methods that go by the length; without one, the trained context.
    """
    seq_len = setting.trained if seq_len is None else params.whole("seq_len", seq_len, 1)
    method, body = _method(setting.scaling, seq_len)
    return _SNIPPET.format(
        method=method,
        rotary_dim=setting.rope.rotary_dim,
        head_dim=setting.head_dim,
        rope_theta=setting.rope.rope_theta,
        body="\n".join(body),
    )


def _method(scaling: RopeScaling, seq_len: int) -> tuple[str, list[str]]:
    """Name of a method, and the lines that make ``inv_freq`` and ``attention_factor``."""
    in_use = f"seq_len = {seq_len}  # tokens in use"
    usual = "attention_factor = 1.0"
    match scaling:
        case NoScaling():
            return "plain, without scaling", ["inv_freq = plain", usual]
        case Linear():
            return "linear scaling (position interpolation)", [
                f"factor = {scaling.factor}",
                "inv_freq = [f / factor for f in plain]",
                usual,
            ]
        case Ntk():
            return "static NTK, a larger base", [
                f"factor = {scaling.factor}  # how many times slower the slowest pair gets",
                "base = rope_theta * factor ** (rotary_dim / (rotary_dim - 2))",
                _PLAIN_BASE,
                usual,
            ]
        case DynamicNtk():
            return "dynamic NTK, a base that grows with the length", [
                f"factor = {scaling.factor}",
                f"max_position_embeddings = {scaling.max_position_embeddings}  # trained context",
                in_use,
                "length = max(seq_len, max_position_embeddings)",
                "stretch = factor * length / max_position_embeddings - (factor - 1)",
                "base = rope_theta * stretch ** (rotary_dim / (rotary_dim - 2))",
                _PLAIN_BASE,
                usual,
            ]
        case Yarn():
            return _yarn(scaling)
        case Llama3():
            return "Llama 3's scaling", [
                f"factor = {scaling.factor}",
                *_over_turns(scaling.original_max_position_embeddings,
                             scaling.low_freq_factor, scaling.high_freq_factor),
                usual,
            ]  # fmt: skip
        case LongRope():
            return "LongRoPE, a divisor of its own for each pair", [
                f"original_max_position_embeddings = {scaling.original_max_position_embeddings}",
                in_use,
                _wrapped("short_factor", scaling.short_factor),
                _wrapped("long_factor", scaling.long_factor),
                "beyond = seq_len > original_max_position_embeddings",
                "divisors = long_factor if beyond else short_factor",
                "inv_freq = [f / divisor for f, divisor in zip(plain, divisors)]",
                *_longrope_factor(scaling),
            ]
        case Proportional():
            return "proportional, the slow pairs stand still", [
                f"partial_rotary_factor = {scaling.partial_rotary_factor}",
                f"factor = {scaling.factor}",
                "turning = int(partial_rotary_factor * rotary_dim // 2)  # pairs that turn",
                "inv_freq = [f / factor if i < turning else 0.0 for i, f in enumerate(plain)]",
                usual,
            ]
        case _:
            raise _unknown(scaling)


def _yarn(yarn: Yarn) -> tuple[str, list[str]]:
    lines = [f"factor = {yarn.factor}"]
    trained = yarn.original_max_position_embeddings
    if yarn.ramp_over == "turns":
        lines += _over_turns(trained, yarn.beta_slow, yarn.beta_fast)
        name = "YaRN, its ramp over turns as in the paper"
    else:
        name = "YaRN, its ramp over pairs as in released code"
        low, high = "pair_with(beta_fast)", "pair_with(beta_slow)"
        if yarn.truncate:
            low, high = f"math.floor({low})", f"math.ceil({high})"
        lines += [
            f"original_max_position_embeddings = {trained}",
            f"beta_fast, beta_slow = {yarn.beta_fast}, {yarn.beta_slow}  # turns",
            "",
            "",
            "def pair_with(turns):  # index of the pair that turns so often within training",
            "    ratio = original_max_position_embeddings / (turns * 2 * math.pi)",
            "    return rotary_dim * math.log(ratio) / (2 * math.log(rope_theta))",
            "",
            "",
            f"low = max({low}, 0.0)",
            f"high = min({high}, rotary_dim - 1.0)",
            "if low == high:",
            "    high += 0.001",
            "ramp = [min(max((i - low) / (high - low), 0.0), 1.0) for i in range(pairs)]",
            _BLEND,
        ]
    if yarn.attention_factor is not None:
        return name, [*lines, f"attention_factor = {yarn.attention_factor}"]
    size = "0.1 * {} * math.log(factor) + 1"
    if yarn.mscale and yarn.mscale_all_dim:
        above, below = size.format(yarn.mscale), size.format(yarn.mscale_all_dim)
        return name, [*lines, f"attention_factor = ({above}) / ({below})"]
    return name, [*lines, "attention_factor = 0.1 * math.log(factor) + 1"]


def _over_turns(trained: int, few: float, many: float) -> list[str]:
    """A ramp over turns in the trained context, and the blend."""
    ramp = "1 - min(max((t - few) / (many - few), 0.0), 1.0)"
    if few == many:
        ramp = "1.0 if t < few else 0.0"
    return [
        f"original_max_position_embeddings = {trained}",
        f"few, many = {few}, {many}  # turns up to which a pair is divided, and from which kept",
        _TURNS,
        f"ramp = [{ramp} for t in turns]",
        _BLEND,
    ]


def _longrope_factor(scaling: LongRope) -> list[str]:
    if scaling.attention_factor is not None:
        return [f"attention_factor = {scaling.attention_factor}"]
    ratio = f"{scaling.factor}"
    if scaling.factor is None:
        ratio = f"max(1.0, {scaling.max_position_embeddings} / original_max_position_embeddings)"
    return [
        f"factor = {ratio}  # new context over trained context",
        "size = math.log(factor) / math.log(original_max_position_embeddings)",
        "attention_factor = math.sqrt(1 + size)",
    ]


def _wrapped(name: str, numbers: tuple[float, ...]) -> str:
    """A list in lines of at most eight numbers."""
    rows = [numbers[i : i + 8] for i in range(0, len(numbers), 8)]
    lines = "\n".join(f"    {', '.join(map(str, row))}," for row in rows)
    return f"{name} = [\n{lines}\n]"


# CSV.

COLUMNS = (
    "pair", "dims", "inv_freq", "wavelength", "inv_freq_scaled", "wavelength_scaled", "ratio",
    "kind", "turns_in_training", "attention_factor",
)  # fmt: skip


def spectrum_csv(setting: Setting, seq_len: int | None = None, layout: Layout = "half") -> str:
    r"""The setting's spectrum as a table, one line per pair, with a line of names, ended by ``\n``.

    Columns, in :data:`COLUMNS`: the pair; its two dimensions, separated by a space; radians per
    token and tokens per turn as trained, and both scaled; how many times slower it is; whether it
    is kept, blended or stretched (:class:`posviz.rope_scaling.Effect`); its turns within the
    trained context before scaling; the factor on cos and sin, the same for all. Numbers are written
    so that float64 reads them back; ``inf`` for a pair that stands still.

    Args:
        setting: What is exported.
        seq_len: Tokens in use, for methods that go by the length.
        layout: Which dimensions form a pair: ``half`` or ``interleaved``.
    """
    rope = setting.rope
    found = effect(setting.scaling, rope, seq_len)
    scaled, attention_factor = setting.frequencies(seq_len)
    first, second = (
        list(range(rope.rotary_dim))[dims]
        for dims in rope_module.pair_slices(rope.rotary_dim, layout)
    )
    rows = zip(
        range(len(scaled)),
        (f"{one} {other}" for one, other in zip(first, second, strict=True)),
        rope.inv_freq.tolist(),
        found.wavelength_before.tolist(),
        scaled.tolist(),
        found.wavelength_after.tolist(),
        found.ratio.tolist(),
        found.kind.tolist(),
        rope_module.turns(rope.inv_freq, setting.trained).tolist(),
        [attention_factor] * len(scaled),
        strict=True,
    )
    return "\n".join([",".join(COLUMNS), *(",".join(map(str, row)) for row in rows), ""])
