"""What a config or a command line makes an engine do, in plain sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from posviz import alibi, config_text, hf_config, params, rope_scaling
from posviz.config_finding import (
    ROUNDING,
    Effect,
    Finding,
    Level,
    Mend,
    Statement,
    difference,
    lengths_of,
    number_in,
    scales_of,
    tidy,
)
from posviz.config_names import (
    LONGEST_NAME,
    meant_name,
)
from posviz.config_text import LlamaCppFlags, ModelFile
from posviz.hf_config import (
    Config,
    Reading,
    Rotary,
)
from posviz.params import InvalidParameterError
from posviz.rope_scaling import Llama3, LongRope, NoScaling, Yarn, yarn_mscale

# In plain words.


def plain(reading: Reading) -> Iterator[Statement]:
    """What Hugging Face does with a config, sentence by sentence."""
    if reading.positional_encoding != "rope":
        yield from _plain_other(reading)
        return
    yield from _plain_layers(reading)
    for rotary in reading.rotary:
        for template, values in _plain_rotary(reading, rotary):
            yield Statement(template, values, rotary.layer_type)


def _plain_layers(reading: Reading) -> Iterator[Statement]:
    counts: dict[str, int] = {}
    for name in reading.layer_types:
        counts[name] = counts.get(name, 0) + 1
    for name, count in itertools.islice(counts.items(), 8):
        yield Statement(
            "{count} of {depth} layers are of the type {layer_type}",
            {"count": count, "depth": len(reading.layer_types),
             "layer_type": name[:LONGEST_NAME]},
        )  # fmt: skip
    still = reading.rope_layers.count(False)
    if still:
        yield Statement(
            "{count} of {depth} layers have no RoPE: there, order comes from the other layers",
            {"count": still, "depth": len(reading.rope_layers)},
        )
    if reading.sliding_window:
        sliding = any(hf_config.slides(name) for name in counts)
        yield Statement(
            "sliding layers look back over {window} tokens"
            if sliding
            else "layers that slide look back over {window} tokens",
            {"window": params.shown(reading.sliding_window)},
        )


def _plain_rotary(reading: Reading, rotary: Rotary) -> Iterator[tuple[str, dict[str, object]]]:
    rope, scaling, head_dim = rotary.rope, rotary.scaling, rotary.head_dim
    pairs = rope.rotary_dim // 2
    values: dict[str, object] = {
        "pairs": pairs, "part": rope.rotary_dim, "head_dim": head_dim,
        "theta": params.shown(rope.rope_theta),
    }  # fmt: skip
    inv_freq, attention_factor = rotary.frequencies()
    if isinstance(scaling, rope_scaling.Proportional):
        turning = int(np.count_nonzero(inv_freq))
        yield "RoPE turns {turning} of {pairs} pairs of dimensions; the rest stand still", {
            **values, "turning": turning,
        }  # fmt: skip
    elif head_dim is not None and rope.rotary_dim < head_dim:
        yield "RoPE turns {part} of a head's {head_dim} dimensions, in {pairs} pairs", values
    else:
        yield "RoPE turns all {part} dimensions of a head, in {pairs} pairs", values
    layouts = {
        "half": "a pair is a dimension of the first half and its partner in the second, {half} "
        "away",
        "interleaved": "a pair is two dimensions that stand side by side",
    }
    if reading.layout is not None:
        yield layouts[reading.layout], {"half": rope.rotary_dim // 2}
    slowest = 2.0 * math.pi / float(rope.inv_freq[-1])
    yield (
        "the base is {theta}: unscaled, the fastest pair turns once in 6.28 tokens, the slowest "
        "once in {slowest}",
        {**values, "slowest": params.shown(round(slowest) if slowest >= 1000.0 else slowest)},
    )
    yield from _plain_method(reading, rotary)
    scales = scales_of(reading, rotary, reading, rotary)
    if scales is not None and scales[0] != 1.0:
        yield (
            "all scores, those of the part that does not turn as well, are multiplied by {gain}, "
            "the square of 0.1 mscale_all_dim ln(factor) + 1",
            {"gain": params.shown(scales[0])},
        )
        if attention_factor == 1.0:
            return
    if attention_factor == 1.0:
        yield "cos and sin are not multiplied: scores keep their size", {}
    else:
        yield (
            "cos and sin are multiplied by {factor}, so that scores of the part that turns grow "
            "by its square, {gain}",
            {"factor": params.shown(attention_factor), "gain": params.shown(attention_factor**2)},
        )


_METHODS = {
    "default": "no scaling: the frequencies are those of training at any length",
    "linear": "position interpolation (linear): every frequency is divided by {factor}",
    "ntk": "NTK-aware scaling: a larger base divides the slowest pair by {factor} and keeps the "
    "fastest",
    "dynamic": "dynamic NTK: up to {context} tokens the frequencies are plain; beyond, the base "
    "grows with the length, and at {longest} tokens the slowest pair is divided by {stretch}",
    "yarn": "YaRN: fast pairs are kept, slow ones divided by {factor}, those from pair {low} to "
    "{high} blended",
    "llama3": "Llama 3's rule: pairs with more than {high} turns in {trained} tokens are kept, "
    "those with fewer than {low} divided by {factor}",
    "longrope": "LongRoPE: each pair has its own divisor, from the short list up to and with "
    "{trained} tokens, from the long one beyond",
    "proportional": "proportional RoPE: the pairs that turn do so as in plain RoPE over the whole "
    "head",
}


def _plain_method(reading: Reading, rotary: Rotary) -> Iterator[tuple[str, dict[str, object]]]:
    scaling, rope = rotary.scaling, rotary.rope
    values: dict[str, object] = {
        "factor": params.shown(getattr(scaling, "factor", None) or scaling.stretch())
    }
    trained = getattr(scaling, "original_max_position_embeddings", None)
    values["trained"] = params.shown(trained)
    seq_len: int | None = None
    if isinstance(scaling, rope_scaling.DynamicNtk):
        (seq_len,) = lengths_of(reading, rotary)
        values |= {
            "context": params.shown(scaling.max_position_embeddings),
            "longest": params.shown(seq_len),
            "stretch": params.shown(scaling.stretch(seq_len)),
        }
    elif isinstance(scaling, LongRope):
        (seq_len,) = lengths_of(reading, rotary)
    elif isinstance(scaling, Yarn):
        low, high = scaling.correction_range(rope)
        values |= {"low": params.shown(low), "high": params.shown(high)}
    elif isinstance(scaling, Llama3):
        values |= {
            "low": params.shown(scaling.low_freq_factor),
            "high": params.shown(scaling.high_freq_factor),
        }
    yield _METHODS[rotary.rope_type], values
    context = reading.max_position_embeddings
    if trained is not None and trained == context:
        yield "trained on and made for {context} tokens at once", {"context": params.shown(context)}
    elif trained is not None and context is not None:
        yield (
            "trained on {trained} tokens at once, made for {context}, {ratio} times as many",
            {
                "trained": params.shown(trained),
                "context": params.shown(context),
                "ratio": params.shown(context / trained),
            },
        )
    elif context is not None:
        yield "made for {context} tokens at once", {"context": params.shown(context)}
    if rotary.rope_type not in ("default", "proportional"):
        try:
            kinds = rope_scaling.effect(scaling, rope, seq_len).kind
        except InvalidParameterError:
            return
        yield (
            "{kept} pairs keep their frequency, {blended} are slowed in part, {stretched} by the "
            "whole factor" + (" (at {length} tokens)" if seq_len else ""),
            {
                **{kind: int((kinds == kind).sum()) for kind in ("kept", "blended", "stretched")},
                **({"length": params.shown(seq_len)} if seq_len else {}),
            },
        )


def _plain_other(reading: Reading) -> Iterator[Statement]:
    encoding = reading.positional_encoding
    values: dict[str, object] = {
        "context": params.shown(reading.context),
        "rows": params.shown(reading.max_position_embeddings),
        "offset": reading.position_offset,
        "buckets": reading.num_buckets,
        "farthest": params.shown(reading.max_distance),
        "heads": reading.num_heads,
    }
    if encoding == "alibi":
        yield Statement("ALiBi: each head subtracts its slope times the distance from its scores")
        try:
            slopes = alibi.slopes(reading.num_heads or 0, reading.alibi_bias_max or 8.0)
        except InvalidParameterError:  # more heads than a model has
            return
        yield Statement(
            "the {heads} slopes go from {steepest} down to {flattest}",
            {
                **values,
                "steepest": params.shown(float(slopes.max())),
                "flattest": params.shown(float(slopes.min())),
            },
        )
        if reading.alibi_scaled:
            yield Statement("the bias is divided by sqrt(head_dim) together with the scores")
        return
    sentences = {
        "learned": "a learned table: one vector per position is added to the embedding; beyond the "
        "table there is none",
        "sinusoidal": "a sinusoidal table is added to the embedding",
        "t5_bias": "T5's bias: distances fall into {buckets} buckets, and from {farthest} on all "
        "share one; scores are not divided by sqrt(head_dim)",
        "shaw": "Shaw's relative keys: a learned vector per clipped distance is added to the key",
        "transformer_xl": "Transformer-XL: scores have terms of their own for the distance",
        "disentangled": "DeBERTa's disentangled attention: content and distance are scored apart",
        "none": "no positional encoding: order comes from the causal mask or the recurrence alone",
    }
    yield Statement(sentences[encoding], values)
    if encoding == "learned" and reading.max_position_embeddings is not None:
        yield Statement("it has {rows} rows and serves {context} tokens", values)
    if reading.position_offset:
        yield Statement("position 0 is row {offset}", values)


# Flags of llama.cpp.

_SCALING_FLAGS = (
    "--rope-scaling", "--rope-scale", "--rope-freq-scale", "--rope-freq-base", "--yarn-orig-ctx",
    "--yarn-ext-factor", "--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast",
)  # fmt: skip


def plain_flags(flags: LlamaCppFlags, file: ModelFile | None = None) -> Iterator[Statement]:
    """What llama.cpp does under these flags, sentence by sentence.

    Args:
        flags: The flags.
        file: The model file that they are used with, if it is told.
    """
    whole = flags if file is None else file.filled(flags)
    told = file is not None or bool(flags.rope_scale or flags.rope_freq_scale)
    trained = flags.yarn_orig_ctx
    if file is not None and trained is None:
        trained = file.trained if file.method == "yarn" else file.context
    values: dict[str, object] = {
        "factor": params.shown(whole.factor), "base": params.shown(flags.rope_freq_base),
        "context": params.shown(flags.ctx_size), "trained": params.shown(trained),
    }  # fmt: skip
    if file is not None:
        values |= {"made": params.shown(file.context), "method": file.scaling.rope_type}
    if flags.rope_freq_base is not None:
        yield Statement("llama.cpp replaces the model file's base by {base}", values)
    if file is not None and file.has_table:
        yield Statement(
            "the model file carries its own scaling, {method}, as one divisor per pair; no flag "
            "turns it off",
            values,
        )
    if whole.extrapolation:
        yield Statement(
            "YaRN: fast pairs are kept, slow ones divided by {factor}"
            if told
            else "YaRN: fast pairs are kept, slow ones divided by the model file's factor",
            values,
        )
        if file is not None and file.method == "yarn":
            size = file.frequencies(flags)[1]
            yield Statement(
                "cos and sin are multiplied by {attention}, so that scores grow by its square, "
                "{gain}"
                if size != 1.0
                else "cos and sin are not multiplied: scores keep their size",
                {"attention": params.shown(size), "gain": params.shown(size**2)},
            )
        elif told:
            attention = yarn_mscale(whole.factor)
            yield Statement(
                "cos and sin are multiplied by 0.1 ln(factor) + 1 = {attention}, so that scores "
                "grow by its square, {gain}",
                {"attention": params.shown(attention), "gain": params.shown(attention**2)},
            )
        yield Statement(
            "its ramp counts turns within {trained} tokens"
            if trained
            else "its ramp counts turns within the context that the model file names",
            values,
        )
    elif file is not None and whole.factor == 1.0:
        if not file.has_table:
            yield Statement("no scaling: the frequencies are those of training", values)
    elif flags.rope_scaling == "none":
        yield Statement("no scaling, whatever the model file says")
    elif whole.factor != 1.0:
        yield Statement("every frequency is divided by {factor} (linear)", values)
    else:
        yield Statement("the factor is the model file's")
    if flags.ctx_size is None:
        return
    if file is not None and flags.ctx_size <= file.context:
        yield Statement(
            "room for {context} tokens, of {made} that the model file is made for: that needs no "
            "scaling by flags",
            values,
        )
    else:
        yield Statement("room for {context} tokens; that alone scales nothing", values)


class _Flags:
    """Flags under examination, with the model file that they are used with."""

    def __init__(self, given: Config, flags: LlamaCppFlags, file: ModelFile | None) -> None:
        self.given, self.flags, self.file = given, flags, file
        self.yarn, self.factor = flags.extrapolation > 0.0, flags.factor
        self.size = "--rope-scale" if "--rope-scale" in given else "--rope-freq-scale"
        self.named = [name for name in _SCALING_FLAGS if name in given]
        self.is_scaled = bool(flags.rope_scale or flags.rope_freq_scale)

    def effect(self, mend: Sequence[Mend]) -> Effect | None:
        """How far the flags are from the mended ones."""
        if self.file is None or not mend:
            return None
        meant = self.given
        for each in mend:
            meant = each.apply(meant)
        return self.against(meant)

    def against(self, meant: Config) -> Effect | None:
        """How far the flags are from other ones."""
        if self.file is None:
            return None
        try:
            with np.errstate(all="ignore"):
                one = self.file.frequencies(self.flags)
                two = self.file.frequencies(LlamaCppFlags.of(meant))
        except InvalidParameterError:
            return None
        if not all(np.isfinite(each).all() and math.isfinite(size) for each, size in (one, two)):
            return None
        return difference(one, two)

    def told(
        self, level: Level, flag: str, template: str, /, *mend: Mend, **values: object
    ) -> Finding:
        return Finding(level, flag, template, values, None, self.effect(mend), mend)

    def without(self, *names: str) -> tuple[Mend, ...]:
        return tuple(Mend((name,), removes=True) for name in names if name in self.given)

    def bare(self) -> Config:
        """The flags without those that scale."""
        return {key: value for key, value in self.given.items() if key not in _SCALING_FLAGS}

    def findings(self) -> Iterator[Finding]:
        if self.flags.rope_scaling == "longrope":
            yield self.told(
                "error",
                "--rope-scaling",
                "--rope-scaling must be one of none, linear, yarn, got longrope: its lists stand "
                "in the model file, which turns it on by itself",
                *self.without("--rope-scaling"),
            )
            return
        if self.factor < 1.0:
            yield self.told(
                "warning",
                self.size,
                "{name} {got} makes positions run {times} times faster; it looks like the "
                "reciprocal: --rope-scale is the factor, --rope-freq-scale one over it",
                Mend((self.size,), tidy(round(1.0 / self.given[self.size], 6))),
                name=self.size,
                got=params.shown(self.given[self.size]),
                times=params.shown(1.0 / self.factor),
            )
        if self.file is not None and (self.file.has_table or self.file.method != "none"):
            yield from self._about_extended(self.file)
            return
        if self.file is not None and self._needs_none(self.file):
            yield self.told(
                "warning",
                self.named[0],
                "--ctx-size {context} is no more than the {made} tokens that the model file is "
                "made for, so that no scaling is needed: what {names} says changes short texts as "
                "well",
                *self.without(*self.named),
                context=params.shown(self.flags.ctx_size),
                made=params.shown(self.file.context),
                names=", ".join(self.named),
            )
            return
        yield from self._about_method()
        yield from self._about_yarn()
        yield from self._about_base()
        yield from self._about_context()

    def _needs_none(self, file: ModelFile) -> bool:
        """Whether the model reads as many tokens anyway, and flags scale it all the same."""
        if not self.flags.ctx_size or self.flags.ctx_size > file.context or self.factor < 1.0:
            return False
        if (self.flags.rope_freq_base or math.inf) < file.rope.rope_theta:
            return False
        effect = self.against(self.bare())
        return bool(self.named) and effect is not None and effect.harm > ROUNDING

    def _about_extended(self, file: ModelFile) -> Iterator[Finding]:
        """A model file that carries its own scaling: what flags add to it, or replace."""
        flags, effect = self.flags, self.against(self.bare())
        values: dict[str, object] = {
            "names": ", ".join(self.named), "method": file.scaling.rope_type,
            "made": params.shown(file.context), "context": params.shown(flags.ctx_size),
            "own": params.shown(file.factor), "factor": params.shown(file.filled(flags).factor),
        }  # fmt: skip
        changes = self.named and effect is not None and effect.harm > ROUNDING
        grown = file.trained * file.filled(flags).factor
        further = (
            flags.ctx_size is not None and file.context < flags.ctx_size <= grown * (1.0 + 1e-6)
            and file.filled(flags).rope_scaling == file.method and not file.has_table
        )  # fmt: skip
        if changes and file.has_table:
            times, own = self._slowest(file)
            yield self.told(
                "warning",
                self.named[0],
                "the model file carries its own scaling, {method}, as divisors that no flag turns "
                "off: what {names} says comes on top of it"
                + (
                    ", and the slowest pair turns {own} × {times} = {total} times slower than "
                    "without either"
                    if math.isfinite(own) and times > 1.0
                    else ""
                ),
                *self.without(*self.named),
                **values
                | {
                    "own": params.shown(own),
                    "times": params.shown(times),
                    "total": params.shown(own * times),
                },
            )
        elif changes and further:
            yield self.told(
                "note",
                self.named[0],
                "what {names} says replaces the model file's {method}, factor {own}, by factor "
                "{factor}: it was trained with {own}",
                *self.without(*self.named),
                **values,
            )
        elif changes:
            yield self.told(
                "warning",
                self.named[0],
                "the model file carries its own scaling, {method} with factor {own}, and what "
                "{names} says replaces part of it",
                *self.without(*self.named),
                **values,
            )
        elif self.named:
            yield self.told(
                "note",
                self.named[0],
                "what {names} says changes nothing: the model file carries its own scaling, "
                "{method}",
                *self.without(*self.named),
                **values,
            )
        if flags.ctx_size and flags.ctx_size > file.context and not further:
            yield self.told(
                "warning",
                "--ctx-size",
                "--ctx-size {context} is above the {made} tokens that the model file is made for, "
                "its own scaling included: --ctx-size alone scales nothing",
                Mend(("--ctx-size",), file.context),
                **values,
            )

    def _slowest(self, file: ModelFile) -> tuple[float, float]:
        """How many times slower the slowest pair gets by the flags, and by the file's divisors."""
        own = float(file.divisors(self.flags.ctx_size)[-1])
        plain = ModelFile(file.rope, NoScaling(), file.context, file.context)
        mine = float(plain.frequencies(self.flags)[0][-1])
        return float(file.rope.inv_freq[-1]) / mine if mine else math.inf, own

    def _about_method(self) -> Iterator[Finding]:
        flags = self.flags
        if flags.rope_scaling == "none" and self.is_scaled:
            yield self.told(
                "warning",
                self.size,
                "{name} is not read with --rope-scaling none, which never scales",
                *self.without("--rope-scaling"),
                name=self.size,
            )
        if self.yarn and not self.is_scaled:
            mend: tuple[Mend, ...] = ()
            before = flags.yarn_orig_ctx if self.file is None else self.file.trained
            if flags.ctx_size and before and flags.ctx_size > before:
                mend = (Mend(("--rope-scale",), tidy(flags.ctx_size / before)),)
            yield self.told(
                "warning",
                "--rope-scale",
                "--rope-scale is absent: YaRN's factor is that of the model file, 1 for a model "
                "that was not extended, and then nothing is scaled",
                *mend,
            )
        if flags.rope_scaling is None and not self.yarn and self.factor > 1.0:
            yield self.told(
                "note",
                "--rope-scaling",
                "--rope-scaling is absent: the model file's method is used, and linear if it has "
                "none",
                Mend(("--rope-scaling",), "linear"),
            )
        if flags.rope_scaling == "yarn" and flags.extrapolation == 0.0:
            yield self.told(
                "warning",
                "--yarn-ext-factor",
                "--yarn-ext-factor 0 turns YaRN off: every frequency is divided by {factor}",
                *self.without("--yarn-ext-factor"),
                factor=params.shown(self.factor),
            )
        if flags.rope_scaling in ("none", "linear") and self.yarn:
            yield self.told(
                "warning",
                "--yarn-ext-factor",
                "--yarn-ext-factor {got} turns YaRN on although --rope-scaling is {method}",
                *self.without("--yarn-ext-factor"),
                got=params.shown(flags.yarn_ext_factor),
                method=flags.rope_scaling,
            )
        idle = [
            name
            for name in ("--yarn-orig-ctx", "--yarn-beta-slow", "--yarn-beta-fast")
            if name in self.given and not self.yarn and flags.rope_scaling in ("none", "linear")
        ]
        if idle:
            yield self.told(
                "warning",
                idle[0],
                "{names} is not read with --rope-scaling {method}",
                *self.without(*idle),
                names=", ".join(idle),
                method=flags.rope_scaling,
            )

    def _about_yarn(self) -> Iterator[Finding]:
        flags, file = self.flags, self.file
        if not self.yarn:
            return
        if flags.yarn_orig_ctx is None:
            yield self.told(
                "note" if file is None or file.trained == file.context else "warning",
                "--yarn-orig-ctx",
                "--yarn-orig-ctx is absent: the model file's original context is used, or its "
                "whole context if it names none",
                *(() if file is None else (Mend(("--yarn-orig-ctx",), file.trained),)),
            )
        elif file is not None and flags.yarn_orig_ctx != file.trained:
            yield self.told(
                "warning",
                "--yarn-orig-ctx",
                "--yarn-orig-ctx must be the trained context, {trained} tokens for this model, "
                "got {got}",
                Mend(("--yarn-orig-ctx",), file.trained),
                trained=params.shown(file.trained),
                got=params.shown(flags.yarn_orig_ctx),
            )
        if flags.yarn_attn_factor is not None:
            finding = self.told(
                "warning",
                "--yarn-attn-factor",
                "--yarn-attn-factor {got} is overwritten since December 2025 (llama.cpp#17945), "
                "which gives {now}; before, it multiplied 0.1 ln(factor) + 1 and gave {then}",
                *self.without("--yarn-attn-factor"),
                got=params.shown(flags.yarn_attn_factor),
                now=params.shown(yarn_mscale(self.factor)),
                then=params.shown(yarn_mscale(self.factor) * flags.yarn_attn_factor),
            )
            if file is not None and flags.yarn_attn_factor > 0.0:
                inv_freq, now = file.frequencies(flags)
                apart = difference((inv_freq, now), (inv_freq, now * flags.yarn_attn_factor))
                finding = replace(finding, effect=apart)
            yield finding
        fast, slow = flags.yarn_beta_fast or 32.0, flags.yarn_beta_slow or 1.0
        if fast < slow:
            yield self.told(
                "warning",
                "--yarn-beta-fast",
                "--yarn-beta-fast must be at least --yarn-beta-slow, {slow}, got {fast}: the ramp "
                "becomes a step",
                Mend(("--yarn-beta-fast",), tidy(slow)),
                Mend(("--yarn-beta-slow",), tidy(fast)),
                slow=params.shown(slow),
                fast=params.shown(fast),
            )

    def _about_base(self) -> Iterator[Finding]:
        base = self.flags.rope_freq_base
        if self.file is None or base is None:
            return
        own = self.file.rope.rope_theta
        if base < own:
            yield self.told(
                "warning",
                "--rope-freq-base",
                "--rope-freq-base {got} replaces the model's own base, {own}, which it was trained "
                "with; a smaller one turns every pair faster",
                *self.without("--rope-freq-base"),
                got=params.shown(base),
                own=params.shown(own),
            )
        elif base > own:
            yield self.told(
                "note",
                "--rope-freq-base",
                "--rope-freq-base {got} replaces the model's own base, {own}: the slowest pair "
                "turns {times} times slower, as with NTK scaling",
                *self.without("--rope-freq-base"),
                got=params.shown(base),
                own=params.shown(own),
                times=params.shown((base / own) ** (1.0 - 2.0 / self.file.rope.rotary_dim)),
            )

    def _about_context(self) -> Iterator[Finding]:
        flags, file, factor = self.flags, self.file, self.factor
        before = flags.yarn_orig_ctx if file is None else file.trained
        if not (flags.ctx_size and before and factor >= 1.0):
            return
        room = before * factor
        if file is not None and factor == 1.0:
            room = max(room, file.context)
        enlarged = flags.rope_freq_base is not None and (
            file is None or flags.rope_freq_base > file.rope.rope_theta
        )
        if flags.ctx_size > room * (1.0 + 1e-6) and not enlarged:
            method: Config = {}
            if flags.rope_scaling in (None, "none"):
                method["--rope-scaling"] = "yarn"
            if file is not None and file.trained != file.context and not flags.yarn_orig_ctx:
                method |= {"--yarn-orig-ctx": file.trained}
            yield self.told(
                "warning",
                "--ctx-size",
                "--ctx-size {context} is above the {room} tokens that the model reads under the "
                "other flags: --ctx-size alone scales nothing",
                *self.without("--rope-freq-scale"),
                Mend(("--rope-scale",), tidy(flags.ctx_size / before)),
                *(Mend((name,), value) for name, value in method.items()),
                context=params.shown(flags.ctx_size),
                room=params.shown(room),
            )
        elif self.is_scaled and factor > 1.0 and flags.ctx_size < room * (1.0 - 1e-6):
            ratio = max(flags.ctx_size / before, 1.0)
            yield self.told(
                "note",
                self.size,
                "{name} scales for {room} tokens, but there is room for {context} only",
                *self.without("--rope-freq-scale"),
                Mend(("--rope-scale",), tidy(ratio)),
                name=self.size,
                room=params.shown(room),
                context=params.shown(flags.ctx_size),
            )


def about_flags(given: Config, flags: LlamaCppFlags, file: ModelFile | None) -> Iterator[Finding]:
    """Findings about flags that can be read.

    Args:
        given: The flags as they stand in the text.
        flags: The same, read.
        file: The model file that they are used with, if it is told.
    """
    yield from _Flags(given, flags, file).findings()


def about_flag_names(given: Config) -> Iterator[Finding]:
    """Findings about flags that llama.cpp does not have."""
    known = [config_text.flag(name) for name in LlamaCppFlags.__dataclass_fields__]
    for name, value in given.items():
        if name in known:
            continue
        meant = meant_name(
            name, known, {"ropefactor": "--rope-scale", "ropetheta": "--rope-freq-base"}, 0.7
        )
        number = number_in(value) if isinstance(value, str) else value
        new = value if number is None else number
        yield Finding(
            "error",
            name,
            "{unread} is no flag of llama.cpp, which stops"
            + (", did you mean {likely}?" if meant else ""),
            {"unread": name, **({"likely": meant} if meant else {})},
            mend=(Mend((name,), removes=True),)
            + ((Mend((meant,), new),) if meant and meant not in given else ()),
        )  # fmt: skip
