"""Rules for a head: its size, and the share of it that turns."""

from __future__ import annotations

from posviz import hf_config, params
from posviz.config_finding import (
    File,
    Mend,
    compared,
    difference,
    layered,
    number,
    number_of,
    rotary_or_none,
    tidy,
)
from posviz.hf_config import HEAD_DIM, HEADS, HIDDEN, SHARE
from posviz.params import InvalidParameterError
from posviz.rope import RoPE

# Classes of transformers 5.24.0 whose plain RoPE turns the whole head, whatever share is told;
# modeling_*.py without partial_rotary_factor.
WHOLE_HEAD = {
    "apertus", "arcee", "bitnet", "cohere", "cohere2", "cwm", "ernie4_5", "exaone4", "falcon",
    "gemma", "gemma2", "gemma3", "gpt_oss", "granite", "helium", "lfm2", "llama", "llama4",
    "ministral", "ministral3", "mistral", "mixtral", "modernbert", "olmo", "olmo2", "olmo3",
    "gemma4", "hunyuan_v1_dense", "olmoe", "phimoe", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
    "seed_oss", "smollm3", "starcoder2",
}  # fmt: skip


def about_head(file: File) -> None:
    """Findings about the size of a head and the share of it that turns."""
    text = file.text
    (hidden_name, hidden), (heads_name, heads) = (
        number_of(text, names) for names in (HIDDEN, HEADS)
    )
    head_name, head_dim = number_of(text, HEAD_DIM)
    divided = hidden // heads if hidden and heads and heads > 0 else None
    if "head_dim" in text and text["head_dim"] is None:
        file.add(
            "warning",
            "head_dim",
            "head_dim must be a number or absent, got null: it is taken as hidden_size divided by "
            "num_attention_heads, but Hugging Face's dynamic, yarn and longrope fail on it",
            mend=[] if divided is None else [Mend(file.place("head_dim"), tidy(divided))],
        )
    if hidden and heads and divided is not None:
        if head_dim is None and hidden % heads and "qk_rope_head_dim" not in text:
            file.add(
                "warning",
                hidden_name,
                "{hidden_name} must be a multiple of {heads_name} if head_dim is absent, got "
                "{hidden} and {heads}: rounded down",
                hidden_name=hidden_name,
                heads_name=heads_name,
                hidden=params.shown(hidden),
                heads=params.shown(heads),
                mend=[Mend(file.place("head_dim"), tidy(divided))]
                if "head_dim" not in text and divided >= 1
                else [],
            )
        if head_dim is not None and head_dim != divided:
            try:
                apart = compared(
                    file.config, Mend(file.place(head_name), tidy(divided)).apply(file.config)
                )
            except InvalidParameterError:
                apart = None
            file.add(
                "note",
                head_name,
                "{head_name} is {head_dim}, not {hidden_name} / {heads_name} = {quotient}; the "
                "given one is used, and a program that divides has other frequencies",
                head_name=head_name,
                head_dim=params.shown(head_dim),
                hidden_name=hidden_name,
                heads_name=heads_name,
                quotient=params.shown(divided),
                effect=apart,
            )
    _about_share(file)


def _about_share(file: File) -> None:
    text = file.text
    beside_name, beside = number_of(text, SHARE)
    for layer_type, own in layered(file):
        inside = number(own.get("partial_rotary_factor"))
        if beside is not None and inside is not None and inside != beside and layer_type is None:
            file.add(
                "warning",
                "partial_rotary_factor",
                "partial_rotary_factor must be the same wherever it stands, got {inside} inside "
                "the settings and {beside} beside them: the first is used",
                inside=params.shown(inside),
                beside=params.shown(beside),
                mend=[Mend(file.place(beside_name), removes=True)],
                meant=[Mend(file.own_place(layer_type, "partial_rotary_factor"), beside)],
            )  # fmt: skip
        share = beside if inside is None else inside
        if share is None or share == 1.0:
            continue
        name = beside_name if inside is None else "partial_rotary_factor"
        path = (
            file.place(name)
            if inside is None
            else file.own_place(layer_type, "partial_rotary_factor")
        )
        rope_type = hf_config.rope_type_of(text, own)
        if hf_config.latent(text)[0] is not None:
            file.add(
                "warning",
                name,
                "{name} {got} is not read beside qk_rope_head_dim, which says how many dimensions "
                "rotate",
                layer_type=layer_type,
                name=name,
                got=params.shown(share),
                mend=[Mend(path, removes=True)],
            )
        elif file.kind in WHOLE_HEAD and rope_type != "proportional":
            head_dim = hf_config.head_dim_of(text, own, layer_type)[1]
            effect = None
            if head_dim and head_dim % 2 == 0:
                rotary = rotary_or_none(file, layer_type, own)
                if rotary is not None:
                    whole = RoPE(head_dim, rotary.rope.rope_theta)
                    effect = difference((whole.inv_freq, 1.0), (rotary.rope.inv_freq, 1.0))
            file.add(
                "warning",
                name,
                "{name} {got} is ignored by Hugging Face's {model_type}, whose plain RoPE turns "
                "the whole head; with scaling it fails. Here that share is read",
                layer_type=layer_type,
                name=name,
                got=params.shown(share),
                model_type=file.kind,
                effect=effect,
                mend=[Mend(path, removes=True)],
            )
        stands = number(text.get("rotary_dim"))
        head_dim = hf_config.head_dim_of(text, own, layer_type)[1]
        if stands is not None and head_dim is not None and int(head_dim * share) != stands:
            file.add(
                "warning",
                "rotary_dim",
                "rotary_dim {number} and {name} {got}, which makes {part} dimensions rotate, must "
                "agree: {name} is used",
                layer_type=layer_type,
                number=params.shown(stands),
                name=name,
                got=params.shown(share),
                part=int(head_dim * share),
                mend=[Mend(file.place("rotary_dim"), removes=True)],
                meant=[Mend(path, removes=True)],
            )
