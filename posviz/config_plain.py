"""What a config or a command line makes an engine do, in plain sentences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from posviz import alibi, hf_config, params, rope_scaling
from posviz.config_finding import (
    Statement,
    lengths_of,
    scales_of,
)
from posviz.config_names import (
    LONGEST_NAME,
)
from posviz.config_text import LlamaCppFlags, ModelFile
from posviz.hf_config import (
    Reading,
    Rotary,
)
from posviz.params import InvalidParameterError, Message
from posviz.rope_scaling import Llama3, LongRope, Yarn, yarn_mscale


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


def _plain_rotary(reading: Reading, rotary: Rotary) -> Iterator[tuple[Message, dict[str, object]]]:
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


def _plain_method(reading: Reading, rotary: Rotary) -> Iterator[tuple[Message, dict[str, object]]]:
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
