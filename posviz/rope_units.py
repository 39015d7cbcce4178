"""Units of context extension: what each program's knob multiplies, and one knob in another's terms.

There are two kinds, and no conversion between them is exact:

- A knob on ``positions`` divides every position, and so every frequency, by the same factor.
- A knob on the ``base`` keeps the fastest pair and slows each next one a little more.

Both are compared by the pair that they slow most, the slowest one. An alpha of s slows that pair s
times, as a factor of s does, but reads less than s times the trained context: the pair that first
meets unseen angles lies before the last and is slowed less (:mod:`posviz.extrapolation`).

Source, each knob's own in its :class:`Unit`: Chen et al. 2023 and bloc97 2023 for the two kinds, as
in :class:`posviz.rope_scaling.Linear` and :class:`posviz.rope_scaling.Ntk`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posviz import extrapolation, params
from posviz.config_text import Note
from posviz.rope import RoPE
from posviz.rope_scaling import Linear, Ntk, RopeScaling, effect

Kind = Literal["positions", "base"]
Form = Literal["factor", "reciprocal", "base"]

NOT_THE_CONTEXT = (
    "alpha {alpha} reads {times} times the trained context: only the slowest pair is slowed "
    "{alpha} times, and pair {pair}, the first that meets unseen angles, {times} times. To read "
    "{alpha} times as much, take alpha {needed}"
)
STACKED = (
    "{first} and {second} multiply: the slowest pair turns {one} × {two} = {total} times slower"
)
STACKED_STILL = "{first} and {second} multiply: the slowest pair stands still"


@dataclass(frozen=True)
class Unit:
    """A knob of some program.

    Attributes:
        name: As the program spells it.
        engine: The program.
        kind: Whether it changes all pairs alike (``positions``) or each more than the one before
            (``base``).
        form: What its value is: the ``factor`` itself, its ``reciprocal``, or a new ``base``.
        multiplies: What the program does with the value.
        direction: Which way reads further, with an example.
        source: Where that was seen.
    """

    name: str
    engine: str
    kind: Kind
    form: Form
    multiplies: params.Message
    direction: params.Message
    source: str

    def factor(self, value: float, rope: RoPE) -> float:
        """How many times slower ``value`` makes the slowest pair, at least 1."""
        if self.form == "factor":
            return params.real(self.name, value, 1.0)
        if self.form == "reciprocal":
            return 1.0 / params.real(self.name, value, 0.0, 1.0, above=True)
        base = params.real(self.name, value, rope.rope_theta)
        return float((base / rope.rope_theta) ** (1.0 / _exponent(rope)))

    def value(self, factor: float, rope: RoPE) -> float:
        """The value that makes the slowest pair ``factor`` times slower."""
        factor = params.real("factor", factor, 1.0)
        if self.form == "factor":
            return factor
        if self.form == "reciprocal":
            return 1.0 / factor
        try:
            base: float = rope.rope_theta * factor ** _exponent(rope)
        except OverflowError:
            base = math.inf
        if not math.isfinite(base):
            raise params.InvalidParameterError(
                "factor must be small enough for a finite base, got {got}", got=params.shown(factor)
            )
        return base

    def scaling(self, value: float, rope: RoPE) -> Linear | Ntk:
        """The scaling method that ``value`` stands for."""
        factor = self.factor(value, rope)
        return Linear(factor) if self.kind == "positions" else Ntk(factor)


def _exponent(rope: RoPE) -> float:
    """Power of alpha by which the base grows, ``d / (d - 2)`` of the dimensions that rotate."""
    if rope.rotary_dim < 4:
        raise params.InvalidParameterError(
            "rotary_dim must be at least 4 to change the base, because with a single pair there is "
            "no slower one to stretch, got {got}",
            got=rope.rotary_dim,
        )
    return rope.rotary_dim / (rope.rotary_dim - 2)


_LARGER = "Larger reads further: 4 for four times the trained context."
_LARGER_BASE = "Larger reads further, but 4 for less than four times the trained context."
_LLAMA_CPP = "ggml-org/llama.cpp, common/arg.cpp and tools/server/README.md"
_EXLLAMA = (
    "turboderp/exllama, model.py (calculate_rotary_embedding_base) and pull request 118; "
    "turboderp-org/exllamav2, config.py (scale_pos_emb, scale_alpha_value)"
)

UNITS: tuple[Unit, ...] = (
    Unit(
        "factor", "Hugging Face, linear", "positions", "factor",
        "Divides every frequency.", _LARGER,
        "huggingface/transformers, modeling_rope_utils.py, _compute_linear_scaling_rope_parameters",
    ),
    Unit(
        "--rope-scale", "llama.cpp", "positions", "factor",
        "Divides every angle; the program keeps 1 over it.", _LARGER, _LLAMA_CPP,
    ),
    Unit(
        "--rope-freq-scale", "llama.cpp", "positions", "reciprocal",
        "Multiplies every angle.",
        "Smaller reads further: 0.25 for four times the trained context.", _LLAMA_CPP,
    ),
    Unit(
        "compress_pos_emb", "exllama, text-generation-webui", "positions", "factor",
        "Divides every position.", _LARGER,
        "oobabooga/text-generation-webui, docs/04 - Model Tab.md; " + _EXLLAMA,
    ),
    Unit(
        "rope_condense_ratio", "litgpt", "positions", "factor",
        "Divides every position.", _LARGER,
        "Lightning-AI/litgpt, model.py, build_rope_cache(condense_ratio)",
    ),
    Unit(
        "alpha_value", "exllama, text-generation-webui", "base", "factor",
        "Multiplies the base by alpha^(d / (d - 2)). text-generation-webui's llama.cpp loader "
        "writes 10000 × alpha^(64/63) whatever the model's base and dimension.",
        _LARGER_BASE,
        "oobabooga/text-generation-webui, modules/RoPE.py (get_rope_freq_base); " + _EXLLAMA,
    ),
    Unit(
        "alpha", "Hunyuan, in rope_scaling", "base", "factor",
        "Multiplies the base by alpha^(d / (d - 2)), at every length although the type is dynamic.",
        _LARGER_BASE,
        "huggingface/transformers, modeling_hunyuan_v1_dense.py; vllm-project/vllm, "
        "dynamic_ntk_alpha_rope.py",
    ),
    Unit(
        "--rope-freq-base", "llama.cpp", "base", "base",
        "Replaces the base.",
        "Larger reads further: the base times 4^(d / (d - 2)) is alpha 4.", _LLAMA_CPP,
    ),
    Unit(
        "rope_theta", "Hugging Face", "base", "base",
        "Is the base.",
        "Larger reads further: the base times 4^(d / (d - 2)) is alpha 4.",
        "huggingface/transformers, modeling_rope_utils.py",
    ),
)  # fmt: skip
"""Every knob, those on positions first."""

YARN_FLAGS: dict[str, tuple[str, str]] = {
    "--yarn-orig-ctx": (
        "original_max_position_embeddings",
        "The trained context in tokens; without it, the model file's.",
    ),
    "--yarn-beta-fast": ("beta_fast", "Turns from which a pair is kept; without it, 32."),
    "--yarn-beta-slow": ("beta_slow", "Turns up to which a pair is divided; without it, 1."),
    "--yarn-ext-factor": (
        "",
        "How much of YaRN's ramp is used: 1 is YaRN, 0 divides every pair like linear scaling.",
    ),
    "--yarn-attn-factor": (
        "",
        "Multiplies cos and sin. It is not attention_factor, which replaces the computed factor.",
    ),
}
"""YaRN's flags in llama.cpp: the same number in Hugging Face's config, if any, and what it does.

The factor itself is ``--rope-scale`` with ``--rope-scaling yarn``. What the programs do with
``--yarn-attn-factor`` by version: :class:`posviz.config_text.LlamaCppFlags`.
"""


def unit(name: str) -> Unit:
    """The knob of that name."""
    params.one_of("unit", name, [each.name for each in UNITS])
    return next(each for each in UNITS if each.name == name)


@dataclass(frozen=True)
class Conversion:
    """One knob in terms of another.

    Attributes:
        unit: The other knob.
        value: Its value.
        same: Whether every pair gets the same frequency; if not, only the slowest one does.
        usable: Longest context in tokens without unseen angles under this knob; infinite if every
            pair completed a turn in training.
    """

    unit: Unit
    value: float
    same: bool
    usable: float


def conversions(name: str, value: float, rope: RoPE, trained: int) -> tuple[Conversion, ...]:
    """The knob ``name`` at ``value`` in terms of every knob, itself included.

    Args:
        name: A name of :data:`UNITS`.
        value: Its value; below a factor of 1 nothing is extended, which is an error.
        rope: RoPE as trained. With ``rotary_dim`` 2 there are no knobs on the base.
        trained: Trained context, tokens.
    """
    params.instance("rope", rope, RoPE)
    given = unit(name)
    factor = given.factor(value, rope)
    usable: dict[Kind, float] = {
        "positions": extrapolation.usable_context(rope, Linear(factor), trained)
    }
    if rope.rotary_dim >= 4:
        usable["base"] = extrapolation.usable_context(rope, Ntk(factor), trained)
    return tuple(
        Conversion(
            each,
            float(value) if each is given else each.value(factor, rope),
            each.kind == given.kind or factor == 1.0,
            usable[each.kind],
        )
        for each in UNITS
        if each.kind in usable
    )


def alpha_for(rope: RoPE, trained: int, usable: float) -> float:
    """The alpha under which ``usable`` tokens hold no unseen angle, at least 1.

    The inverse of :func:`posviz.extrapolation.usable_context` for a larger base: pair i is slowed
    ``alpha^(2i / (d - 2))`` times. For Llama 2 and twice its context that is 2.58, and 1.74 for one
    and a half times; text-generation-webui's documentation measured 2.5 and 1.75.

    Args:
        rope: RoPE as trained, of at least two pairs.
        trained: Trained context, tokens.
        usable: Context to be read, tokens, at least ``trained``.
    """
    params.instance("rope", rope, RoPE)
    _exponent(rope)
    trained = params.whole("trained", trained, 1)
    times = params.real("usable", usable, trained) / trained
    slow = extrapolation.never_completed(rope, trained)
    if not slow.any() or times == 1.0:
        return 1.0
    first = int(np.argmax(slow))
    if first == 0:
        raise params.InvalidParameterError(
            "trained must be long enough for a turn of the fastest pair, which no base slows, "
            "got {got}",
            got=params.shown(trained),
        )
    try:
        return float(times ** ((len(slow) - 1) / first))
    except OverflowError:
        raise params.InvalidParameterError(
            "usable must be within reach of a finite alpha, got {got}", got=params.shown(usable)
        ) from None


def alpha_note(alpha: float, rope: RoPE, trained: int) -> Note:
    """What ``alpha`` reads of the trained context, and what would read that much, as a sentence."""
    alpha = params.real("alpha", alpha, 1.0)
    first = extrapolation.first_never_completed(rope, trained)
    times = effect(Ntk(alpha), rope).ratio[first]
    last = rope.rotary_dim // 2 - 1  # pair i is slowed alpha ** (i / last) times
    needed = f"{alpha ** (last / first):,.3g}" if first else "∞"
    shown = params.shown(round(alpha, 2))
    values = {"alpha": shown, "times": f"{times:.2f}", "pair": first, "needed": needed}
    return Note("alpha", NOT_THE_CONTEXT, values)


@dataclass(frozen=True, eq=False)
class Stacked:
    """Two scalings of one RoPE, applied one after the other; arrays are ``(rotary_dim // 2,)``.

    Attributes:
        inv_freq: Frequencies in the end; exactly 0 where either one stops a pair.
        ratio: How many times slower each pair is than as trained: the product of both.
        first: Ratio of the first alone.
        second: Ratio of the second alone.
        attention_factor: Factor on cos and sin, the product of both.
        note: The warning; None if either one changes no frequency.
    """

    inv_freq: NDArray[np.float64]
    ratio: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]
    attention_factor: float
    note: Note | None

    @property
    def slowest(self) -> float:
        """How many times slower the slowest pair is in the end; infinite if it stands still."""
        return float(self.ratio[-1])


def stacked(
    rope: RoPE, first: RopeScaling, second: RopeScaling, seq_len: int | None = None
) -> Stacked:
    """``second`` applied to frequencies that ``first`` has scaled already.

    Each slows a pair by its own ratio, computed from plain RoPE, in either order. That is what a
    knob on positions does to any method, exllama's ``compress_pos_emb`` to its alpha, and
    llama.cpp's ``--rope-freq-scale`` to a Llama 3.1 file, whose own scaling is a table of divisors
    (``rope_freqs.weight``). It is not what YaRN does over a larger base: its ramp then begins
    elsewhere. exllama's pull request 118 measured a 30B model at 8,192 tokens: perplexity 5.4 with
    alpha 4, 10.1 with ``compress_pos_emb`` 4, 15.4 with both.

    Args:
        rope: RoPE as trained.
        first: One scaling.
        second: The other.
        seq_len: Tokens in use, for methods that go by the length.
    """
    one, two = effect(first, rope, seq_len), effect(second, rope, seq_len)
    scaled, size = first.frequencies(rope, seq_len)
    again, other_size = second.frequencies(rope, seq_len)
    with np.errstate(over="ignore"):
        ratio = one.ratio * two.ratio
    note = None
    if (one.kind != "kept").any() and (two.kind != "kept").any():
        total = float(ratio[-1])
        values: dict[str, object] = {"first": first.rope_type, "second": second.rope_type}
        if math.isfinite(total):
            shown = (f"{each:.4g}" for each in (one.ratio[-1], two.ratio[-1], total))
            values |= dict(zip(("one", "two", "total"), shown, strict=True))
        note = Note("rope_scaling", STACKED if math.isfinite(total) else STACKED_STILL, values)
    return Stacked(
        inv_freq=scaled * (again / rope.inv_freq),
        ratio=ratio,
        first=one.ratio,
        second=two.ratio,
        attention_factor=size * other_size,
        note=note,
    )
