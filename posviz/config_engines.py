"""Rules about other programs: what they compute from the same file."""

from __future__ import annotations

import numpy as np

from posviz import hf_config, params, rope_scaling
from posviz.config_finding import File, difference, layered, rotary_or_none
from posviz.hf_config import Rotary
from posviz.params import InvalidParameterError
from posviz.rope import RoPE
from posviz.rope_scaling import LongRope, Ntk, Yarn


def about_engines(file: File) -> None:
    """Findings about what other programs compute from the same file."""
    if file.encoding != "rope":
        return
    for layer_type, own in layered(file):
        rotary = rotary_or_none(file, layer_type, own)
        if rotary is None:
            continue
        try:
            rotary.frequencies()
            for about in (
                _dynamic_elsewhere,
                _yarn_elsewhere,
                _longrope_elsewhere,
                _part_elsewhere,
            ):
                about(file, rotary)
        except InvalidParameterError as wrong:
            file.refuse(wrong, layer_type)


def _dynamic_elsewhere(file: File, rotary: Rotary) -> None:
    scaling = rotary.scaling
    if not isinstance(scaling, rope_scaling.DynamicNtk) or scaling.factor == 1.0:
        return
    s = scaling.factor
    stretch = s * s - s + 1.0
    try:
        static = Ntk(stretch).frequencies(rotary.rope)
    except InvalidParameterError:
        return
    file.add(
        "note",
        "rope_type",
        "dynamic grows with the length beyond {context} tokens; vLLM takes one base for all "
        "lengths, as if {factor} times as many tokens were in use, so that it differs from the "
        "first token on (vllm#41236)",
        layer_type=rotary.layer_type,
        context=params.shown(scaling.max_position_embeddings),
        factor=params.shown(s),
        effect=difference(static, rotary.frequencies()),
    )
    if file.kind in {"internlm2", "internlm3"}:
        doubled = (rotary.rope.inv_freq * 2.0, 1.0)
        file.add(
            "note",
            "factor",
            "mlx-lm up to mid-2026 multiplies InternLM's positions by 2 and does not read the "
            "factor (mlx-lm#1545)",
            layer_type=rotary.layer_type,
            effect=difference(doubled, rotary.frequencies()),
        )


def _yarn_elsewhere(file: File, rotary: Rotary) -> None:
    scaling, rope = rotary.scaling, rotary.rope
    if not isinstance(scaling, Yarn) or scaling.factor == 1.0:
        return
    low, high = scaling.correction_range(rope)
    last = rope.rotary_dim // 2 - 1
    if high <= last and low > 0.0:
        return
    if high > last:
        end = max(float(last), low + 0.001)
        ramp = np.clip((np.arange(last + 1) - low) / (end - low), 0.0, 1.0)
        inv_freq, attention_factor = rotary.frequencies()
        plain = rope.inv_freq
        clamped = plain * (1.0 - ramp) + plain / scaling.factor * ramp
        file.add(
            "note",
            "original_max_position_embeddings",
            "the ramp ends at pair {high}, beyond the last one, {last}, so that no pair is divided "
            "by the whole factor; KerasHub and minimind end it at the last pair, which is not what "
            "released models run (keras-hub#2981)",
            layer_type=rotary.layer_type,
            high=params.shown(high),
            last=last,
            effect=difference((clamped, attention_factor), (inv_freq, attention_factor)),
        )
    file.add(
        "note",
        "original_max_position_embeddings",
        "the ramp goes from pair {low} to {high} of {pairs}; gpt-oss's own code and torchtitan "
        "stop unless it lies inside the pairs (torchtitan#4215)",
        layer_type=rotary.layer_type,
        low=params.shown(low),
        high=params.shown(high),
        pairs=last + 1,
    )


def _longrope_elsewhere(file: File, rotary: Rotary) -> None:
    scaling = rotary.scaling
    if not isinstance(scaling, LongRope):
        return
    trained = scaling.original_max_position_embeddings
    if scaling.short_factor == scaling.long_factor:
        return
    file.add(
        "note",
        "long_factor",
        "up to and with {trained} tokens the short list counts, beyond it the long one. vLLM "
        "chooses once by max_model_len, llama.cpp by its context, mlx-lm takes the long one "
        "always; unsloth took it at {trained} tokens already (unsloth#10681)",
        layer_type=rotary.layer_type,
        trained=params.shown(trained),
        effect=difference(rotary.frequencies(trained + 1), rotary.frequencies(trained), trained),
    )


def _part_elsewhere(file: File, rotary: Rotary) -> None:
    rope, head_dim = rotary.rope, rotary.head_dim
    inv_freq, attention_factor = rotary.frequencies()
    if isinstance(rotary.scaling, rope_scaling.Proportional):
        share = rotary.scaling.partial_rotary_factor
        part = int(rope.rotary_dim * share) // 2 * 2
        if part >= 2 and share < 1.0:
            partial = RoPE(part, rope.rope_theta).inv_freq
            file.add(
                "note",
                "partial_rotary_factor",
                "proportional is not partial rotary: {turning} of {pairs} pairs turn, their "
                "frequencies count by the whole head of {head_dim}, and a pair's partner stands "
                "{half} dimensions away (coreai-models#66)",
                layer_type=rotary.layer_type,
                turning=int(np.count_nonzero(inv_freq)),
                pairs=len(inv_freq),
                head_dim=rope.rotary_dim,
                half=rope.rotary_dim // 2,
                effect=difference((partial, 1.0), (inv_freq, 1.0)),
            )
    elif (
        head_dim is not None and head_dim > rope.rotary_dim
        and hf_config.latent(file.text)[0] is None and rotary.rope_type == "default"
    ):  # fmt: skip
        if head_dim % 2:
            return
        by_head = RoPE(head_dim, rope.rope_theta).inv_freq[: len(inv_freq)]
        file.add(
            "note",
            "partial_rotary_factor",
            "partial rotary: {part} of {head_dim} dimensions rotate; frequencies count by those "
            "{part}, and a pair's partner stands {half} away, not by the whole head (pie#602)",
            layer_type=rotary.layer_type,
            part=rope.rotary_dim,
            head_dim=head_dim,
            half=rope.rotary_dim // 2,
            effect=difference((by_head, attention_factor), (inv_freq, attention_factor)),
        )
    if rotary.mrope_section:
        file.add(
            "note",
            "mrope_section",
            "pairs go by time, height and width, {section}, "
            + (
                "in turns"
                if rotary.mrope_interleaved
                else "one block after the other"
            )
            + "; for text all three are the same and it is plain RoPE",
            layer_type=rotary.layer_type,
            section=", ".join(str(n) for n in rotary.mrope_section[:8]),
        )  # fmt: skip
