"""Mistakes with positions that are made again and again: what hides them, and how to mend them.

Every mistake was reported in public at least once, or is one step from it: its reports are named
with it. What it does to scores stands in :mod:`posviz.mistakes`; its sentences are about the
numbers found there, and tests hold each to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from posviz import mistakes, params
from posviz.mistake_outcome import Outcome
from posviz.mistake_settings import Settings, example_settings
from posviz.rope_scaling import yarn_mscale


@dataclass(frozen=True)
class Slip:
    """One way to make a mistake; its sentences are message ids.

    Attributes:
        id: Name in a link.
        label: What a reader calls it.
        told: What is right and what was done instead.
        hides: Which tests pass and why; may name ``{zero}`` and ``{one}``, the errors at distance 0
            and 1, and ``{scale}``, the score of a perfect match.
        mend: How to notice and mend it.
        outcome: What it does to scores under some settings.
        examples: Settings that show it, the telling one first.
        reports: Public reports, ``owner/repository#number``.
        distance: Distance at which it is well seen, tokens.
        seq_len: Length of the text that shows it, if not the example's own.
        position: Where a query that shows it stands, if not at the end.
        along: Whether it is best seen by distance or by position.
    """

    id: str
    label: params.Message
    told: params.Message
    hides: params.Message
    mend: params.Message
    outcome: Callable[[Settings], Outcome]
    examples: tuple[str, ...]
    reports: tuple[str, ...] = ()
    distance: int = 16
    seq_len: int | None = None
    position: int | None = None
    along: Literal["distance", "position"] = "distance"

    def settings(self, example: str, **handles: Any) -> Settings:
        """The settings of one of its examples, with some of them moved."""
        params.one_of("example", example, self.examples)
        own = example_settings(example)
        length = own.seq_len if self.seq_len is None else self.seq_len
        return own.moved(**{"seq_len": length, **handles})


@dataclass(frozen=True)
class Pitfall:
    """A mistake that is made again and again.

    Attributes:
        id: Name in a link.
        label: What a reader calls it, after its group; a message id.
        group: What it concerns, a message id.
        slips: Ways to make it, the usual one first.
        handles: Names of the settings that its handles move.
        encoding: Whose colour the right scores have.
        longest: Longest text that is shown, tokens.
    """

    id: str
    label: params.Message
    group: params.Message
    slips: tuple[Slip, ...]
    handles: tuple[str, ...] = ()
    encoding: str = "rope"
    longest: int = 131_072

    def slip(self, name: str) -> Slip:
        """The slip of that name."""
        params.one_of("slip", name, tuple(each.id for each in self.slips))
        return next(each for each in self.slips if each.id == name)


def address(report: str) -> str:
    """Where a report ``owner/repository#number`` is read; GitHub leads on from issue to pull."""
    repository, _, number = report.partition("#")
    return f"https://github.com/{repository}/issues/{number}"


# Sentences that several slips share.
_PAIRS_ALIKE = (
    "At distance 0 nothing turns relative to anything, so both pairings score the same, and with "
    "q = k = (1, ..., 1) they score the same at every distance: such a test sees nothing."
)
_PAIRS_MEND = (
    "Score two different random vectors at every distance up to 100 against the reference. Mend "
    "the weights (reorder the rows of q and k as Hugging Face does for Llama) or the pairing, "
    "never both."
)
_UNTURNED = (
    "At distance 0 nothing has turned, whatever turns and however fast: the error is {zero} there, "
    "and {one} at distance 1."
)
_TEXT_ALIKE = (
    "Text has three equal positions, so every pair turns by the same one whatever its axis: no "
    "text shows it. Patches of an image do."
)
_TEXT_MEND = (
    "Test with an image. mrope_interleaved says which order it is; it has nothing to do with "
    "interleaved pairs of dimensions."
)
_FACTOR_ALIKE = (
    "All scores are multiplied by one number, so the best key stays the best: attention is only "
    "too sharp. The error is largest at distance 0, {zero}, and at factor 1 it vanishes."
)
_FACTOR_MEND = (
    "Score a vector with itself at distance 0, before the softmax scale: it must be its squared "
    "length times the square of the right factor on cos and sin."
)
_ONE_SLOPE = "The bias is 0 at distance 0 under any slope; at distance 1 it is off by {one}."
_BUCKET_0 = (
    "The query's own key is in bucket 0 either way: error {zero}; one token back it is {one}."
)
_BUCKET_MEND = (
    "Ask for the bucket of the key just behind the query: 1. Relative position is key minus query, "
    "so it is −1 there."
)
_GROWS = (
    "Up to the trained length the frequencies do not move, and one pass over a text gives all keys "
    "the same: only a text that grows past it, token by token, shows the error."
)


PITFALLS: tuple[Pitfall, ...] = (
    Pitfall(
        "pairing", "pairs of dimensions mixed up", "RoPE",
        (
            Slip(
                "interleaved", "half, read as interleaved",
                "Weights made for pairs (i, i + d/2) are rotated in pairs (2i, 2i + 1).",
                _PAIRS_ALIKE,
                _PAIRS_MEND,
                mistakes.pairing("half", "interleaved"),
                ("ones", "Llama-2-7b-hf", "Meta-Llama-3-8B", "Qwen3-8B"),
                ("tenstorrent/tt-metal#26844", "huggingface/transformers#47435"),
            ),
            Slip(
                "half", "interleaved, read as half",
                "Weights made for pairs (2i, 2i + 1) are rotated in pairs (i, i + d/2).",
                _PAIRS_ALIKE,
                _PAIRS_MEND,
                mistakes.pairing("interleaved", "half"),
                ("ones", "Llama-4-Maverick-17B-128E", "aya-23-8B"),
                ("huggingface/transformers#47435",),
            ),
        ),
        ("look_back", "head_dim"),
    ),
    Pitfall(
        "base", "base left at 10,000", "RoPE",
        (
            Slip(
                "default", "default instead of the file's",
                "The file says another rope_theta; the code never read it.",
                "The fastest pair turns alike under any base, and the angles of the others part "
                "in step with the distance: at distance 1 the error is {one}, of {scale} for a "
                "perfect match.",
                "Print the slowest inv_freq: it must be θ^(−(d−2)/d) of the file's rope_theta. In "
                "newer files that stands inside rope_parameters, where older code does not look.",
                mistakes.base,
                ("Meta-Llama-3-8B", "Qwen3-8B", "CodeLlama-7b-hf", "SmolLM3-3B", "Llama-2-7b-hf"),
                ("lyogavin/airllm#369", "sgl-project/SpecForge#265", "vllm-project/vllm#9503",
                 "THUDM/slime#1720"),
            ),
        ),
        ("rope_theta", "mistaken_theta"),
    ),
    Pitfall(
        "partial", "partial rotary counted wrong", "RoPE",
        (
            Slip(
                "head", "partial, counted over the head",
                "Part of the head rotates; frequencies and partners are counted over the whole of "
                "it, as for proportional RoPE.",
                _UNTURNED,
                "Compare inv_freq with θ^(−2i/r), r being the rotary dimensions. The partner of "
                "dimension 0 must be r/2, not d/2.",
                mistakes.over_the_head,
                ("Qwen3-Next-80B-A3B", "GLM-4.5 (glm4_moe)", "gpt-neox-20b", "phi-2"),
                ("pie-project/pie#602", "huggingface/transformers#48652"),
            ),
            Slip(
                "part", "proportional, counted over a part",
                "Proportional RoPE counts over the whole head; here frequencies and partners are "
                "those of partial rotary.",
                _UNTURNED,
                "Compare inv_freq with θ^(−2i/d) over the whole head d, and zeros past the share "
                "that turns. The partner of dimension 0 must be d/2.",
                mistakes.over_the_part,
                ("gemma-4-e2b",),
                ("apple/coreai-models#66",),
            ),
        ),
        ("rotary_dim", "look_back"),
    ),
    Pitfall(
        "mrope", "M-RoPE, blocks against turns", "RoPE",
        (
            Slip(
                "blocks", "turns, read as blocks",
                "Time, height and width take turns pair by pair; here each has one block.",
                _TEXT_ALIKE,
                _TEXT_MEND,
                mistakes.sections,
                ("Qwen3-VL-2B", "Qwen3.5-9B"),
                ("alibaba/MNN#4133", "vllm-project/vllm-gaudi#1437", "HabanaAI/vllm-fork#2117"),
            ),
            Slip(
                "turns", "blocks, read as turns",
                "Time, height and width have one block each; here they take turns pair by pair.",
                _TEXT_ALIKE,
                _TEXT_MEND,
                mistakes.sections,
                ("Qwen2-VL-7B-Instruct", "Qwen2.5-VL-7B-Instruct"),
                ("Blaizzy/mlx-vlm#576",),
            ),
        ),
    ),
    Pitfall(
        "scaling_missing", "missing", "Scaling",
        (
            Slip(
                "plain", "plain frequencies",
                "The file scales the frequencies; the code returns the plain ones.",
                "YaRN and Llama 3 keep the pairs that tell near keys apart, dynamic NTK all pairs "
                "while the text is short; linear scaling keeps none. At distance 1 the error is "
                "{one}, of {scale} for a perfect match.",
                "Ask the loaded model for its inv_freq, not the file. A short chat proves "
                "nothing; score keys farther away than the trained context.",
                mistakes.unscaled,
                ("Llama-3.1-8B-Instruct", "Yarn-Llama-2-7b-64k", "deepseek-coder-6.7b",
                 "gpt-oss-20b", "dynamic-2048"),
                ("huggingface/transformers#32330", "vllm-project/vllm#41301"),
                4096,
            ),
            Slip(
                "clamped", "YaRN's ramp cut at the last pair",
                "Released code caps the end of YaRN's ramp at d − 1 = 63, which changes nothing "
                "here: it ends at pair 35, past the last one. The mistake caps it at the last "
                "pair, d/2 − 1 = 31.",
                "Only pairs on the ramp differ, and those turn less than once in 4,000 tokens: at "
                "distance 1 the error is {one}, of {scale} for a perfect match.",
                "Compare the last inv_freq with that of released code. Both stand in the table: "
                "here the last pair must be only partly divided.",
                mistakes.clamped,
                ("yarn-131072",),
                ("keras-team/keras-hub#2981", "jingyaogong/minimind#602"),
                32768,
            ),
            Slip(
                "short", "LongRoPE: short list for a long prompt",
                "The list goes by the length of the whole sequence; here by what the cache held "
                "before the prompt, which is nothing.",
                "A prompt within the trained length gets the short list either way: only a longer "
                "one shows it. Here the error at distance 1 is {one}, of {scale} for a perfect "
                "match.",
                "Read one prompt longer than original_max_position_embeddings in a single pass: "
                "inv_freq must be that of long_factor.",
                mistakes.always_short,
                ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"),
                ("ggml-org/llama.cpp#6849", "EricLBuehler/mistral.rs#251"),
            ),
            Slip(
                "at-trained", "LongRoPE: < instead of <=",
                "At exactly the trained length the short list is right; here it is the long one. "
                "Any other length passes.",
                "Tests shorter and longer than the trained length pass; only a text of exactly "
                "that length gets the wrong list. Here the error at distance 1 is {one}, of "
                "{scale} for a perfect match.",
                "Ask for inv_freq at original_max_position_embeddings and at one token more: the "
                "short list, then the long one.",
                mistakes.long_at_trained,
                ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"),
                ("unslothai/unsloth#10681",),
                seq_len=4096,
            ),
        ),
        ("factor",),
    ),
    Pitfall(
        "scaling_twice", "applied twice", "Scaling",
        (
            Slip(
                "again", "divided again",
                "Scaled frequencies are divided by the factor once more.",
                "Distance 0 passes, since nothing has turned there. Every pair is too slow, the "
                "fast ones too, so near keys look too much alike: at distance 1 the error is "
                "{one}, of {scale} for a perfect match, and short text suffers too.",
                "Divide the plain inv_freq by the loaded one. The last pair must give the factor, "
                "the first must give 1 (under linear scaling the factor); here each gives the "
                "factor times as much. Scale frequencies or positions, never both.",
                mistakes.twice,
                ("yarn-16", "deepseek-coder-6.7b", "Llama-3.1-8B-Instruct"),
            ),
            Slip(
                "ntk-base", "YaRN over NTK's base",
                "Pairs that YaRN keeps come from a base that was stretched for NTK before.",
                "The fastest pair is right, and so are the divided ones; those between are too "
                "slow, so near keys look too much alike: at distance 1 the error is {one}, of "
                "{scale} for a perfect match.",
                "Divide the plain inv_freq by the loaded one: every pair that YaRN keeps must "
                "give exactly 1, pair 10 too. Here only the first does.",
                mistakes.ntk_base_too,
                ("yarn-16", "Yarn-Llama-2-7b-64k"),
                ("paiml/aprender#2161",),
            ),
            Slip(
                "power", "factor inside the power",
                "The divided pairs have the factor inside the power, (s·θ)^(−2i/d) instead of "
                "θ^(−2i/d) / s.",
                "The pairs that YaRN keeps are right, and those it divides turn less than once in "
                "100 tokens: at distance 1 the error is {one}, of {scale} for a perfect match.",
                "Divide the plain inv_freq by the loaded one: past the ramp every pair must give "
                "the factor. Here each gives less, even the last.",
                mistakes.inside_the_power,
                ("gpt-oss-20b", "yarn-16"),
                ("apache/tvm#18576",),
                1024,
            ),
            Slip(
                "always", "dynamic NTK at every length",
                "The base grows with the text; here it is computed once, for the longest one, so "
                "short texts are stretched too.",
                "At the longest text, factor times the trained length, both bases agree: a long "
                "test passes. In a short one slow pairs are too slow, and the error at distance 1 "
                "is {one}, of {scale} for a perfect match.",
                "Ask for inv_freq at a length within the trained one: dynamic NTK must leave it "
                "as it is.",
                mistakes.always_stretched,
                ("dynamic-2048", "dynamic-4096"),
                ("vllm-project/vllm#5093", "vllm-project/vllm#41236"),
                512,
                2048,
            ),
            Slip(
                "positions", "positions doubled as well",
                "Dynamic NTK changes the base alone; here positions are doubled too, and the "
                "file's factor is not read.",
                "Distance 0 passes, since nothing has turned there. The fast pairs turn twice as "
                "far as they should, in short texts as in long ones: at distance 1 the error is "
                "{one}, of {scale} for a perfect match.",
                "The first pair turns by one radian per token under any base. One token on, its "
                "cosine must be 0.540; here it is −0.416.",
                mistakes.positions_too,
                ("internlm-6",),
                ("ml-explore/mlx-lm#1545", "lablup/mlxcel#1324"),
            ),
        ),
        ("factor",),
    ),
    Pitfall(
        "reciprocal", "factor upside down", "Scaling",
        (
            Slip(
                "inverse", "times the factor",
                "Position interpolation divides every frequency by the factor; here they are "
                "multiplied by it.",
                "Position 0 stays position 0, so the first token is right; the very next one is "
                "not: at distance 1 the error is {one}, of {scale} for a perfect match.",
                "Under position interpolation the fastest inv_freq must be 1 / factor. (NTK, YaRN "
                "and Llama 3 leave it at 1; there the slowest must get smaller.) llama.cpp's "
                "rope_freq_scale is 1 / factor; Hugging Face's factor is not.",
                mistakes.reciprocal,
                ("deepseek-coder-6.7b", "LLaMA-2-7B-32K (togethercomputer)", "gemma-3-4b-it"),
            ),
        ),
        ("factor",),
    ),
    Pitfall(
        "mscale", "wrong attention factor", "Scaling",
        (
            Slip(
                "multiplied", "multiplied by itself",
                "The finished factor was taken for one more multiplier of itself.",
                _FACTOR_ALIKE,
                _FACTOR_MEND,
                mistakes.mscale(lambda right, factor: right * right, 3.0),
                ("yarn-128", "yarn-16", "yarn-64"),
                ("sgl-project/sglang#33558",),
            ),
            Slip(
                "again", "through the formula again",
                "The finished factor went through 0.1 · m · ln s + 1 once more, as m.",
                _FACTOR_ALIKE,
                _FACTOR_MEND,
                mistakes.mscale(lambda right, factor: yarn_mscale(factor, right)),
                ("yarn-64", "gpt-oss-20b", "yarn-16"),
                ("NVIDIA/TensorRT-LLM#16379",),
            ),
            Slip(
                "generic", "generic where the file says another",
                "The file's own numbers make 1; the code took YaRN's usual 0.1 · ln s + 1.",
                "Scores of rotated dimensions are multiplied by one number. Where all rotate, "
                "that changes no order; where a part does (64 of 192 in DeepSeek-V2), it counts "
                "for too much. The error is largest at distance 0, {zero}, and at factor 1 it "
                "vanishes.",
                "Score a vector with itself at distance 0, before the softmax scale: with factor "
                "1 on cos and sin, as these files say, it must be its squared length.",
                mistakes.mscale(lambda right, factor: yarn_mscale(factor), 1.25),
                ("DeepSeek-V2-Lite", "mscale-one", "Ministral-3-3B-2512"),
                ("ggml-org/llama.cpp#7118", "ml-explore/mlx-lm#1507", "vllm-project/vllm#48351"),
            ),
        ),
        ("factor",),
    ),
    Pitfall(
        "slopes", "slopes by the paper's rule", "ALiBi",
        (
            Slip(
                "paper", "2^(−8h/n) for any n",
                "Released models take the slopes of the next lower power of two, then every "
                "second one of the next higher; the paper's formula was used for all n.",
                "The key beside the query pays one slope: the error is {one} at distance 1. With "
                "4, 8, 16 or 32 heads both rules agree, so a test with 8 heads proves nothing.",
                "Test 12 or 40 heads. The released order is not sorted; head 9 of 12 has 0.7071.",
                mistakes.paper_rule,
                ("baichuan-13b", "heads-12", "bloom (176B)", "mpt-7b"),
                ("baichuan-inc/Baichuan2#225", "NVIDIA/TensorRT-LLM#1611"),
            ),
        ),
        ("num_heads", "head"), "alibi",
    ),
    Pitfall(
        "slopes_off_by_one", "too steep or too flat", "ALiBi",
        (
            Slip(
                "zero", "heads counted from 0",
                "The first slope of 8 heads is 2⁻¹; counted from 0 it is 1, and all eight are "
                "twice too steep.",
                _ONE_SLOPE,
                "Print the first and the last slope: with 8 heads they must be 0.5 and 0.00390625.",
                mistakes.off_by_one,
                ("heads-8", "heads-12", "bloom-560m"),
                ("paiml/aprender#2143",),
            ),
            Slip(
                "bias-max", "alibi_bias_max not read",
                "The file says 16 for the exponent of the flattest slope; the code takes 8, as "
                "Hugging Face's MPT does.",
                _ONE_SLOPE,
                "Print the first and the last slope: with alibi_bias_max 16 and 8 heads they must "
                "be 0.25 and 2⁻¹⁶.",
                mistakes.bias_max_ignored,
                ("max-16",),
            ),
            Slip(
                "unscaled", "Falcon's bias not divided",
                "Falcon adds the bias before the score is divided by √d; here it is added after.",
                _ONE_SLOPE,
                "Check what is divided by √d: Falcon adds the bias before, BLOOM after. With "
                "heads of 64 a slope of Falcon counts for an eighth.",
                mistakes.added_after_scaling,
                ("falcon-8", "falcon-rw-1b"),
                ("OpenNMT/CTranslate2#1449", "NVIDIA/TensorRT-Model-Connect#32"),
            ),
        ),
        ("num_heads", "head"), "alibi",
    ),
    Pitfall(
        "t5_direction", "direction flipped", "T5",
        (
            Slip(
                "decoder", "decoder",
                "In a decoder every key behind the query now counts as ahead of it and shares "
                "bucket 0: the model is told no distance at all.",
                _BUCKET_0,
                _BUCKET_MEND,
                mistakes.flipped(False),
                ("t5",),
                ("dmlc/gluon-nlp#1470",),
            ),
            Slip(
                "encoder", "encoder",
                "In an encoder left and right change places.",
                _BUCKET_0,
                _BUCKET_MEND,
                mistakes.flipped(True),
                ("t5",),
                ("dmlc/gluon-nlp#1470",),
            ),
        ),
        (), "t5", 4096,
    ),
    Pitfall(
        "dynamic_cache", "old keys, new frequencies", "Cache",
        (
            Slip(
                "dynamic", "dynamic NTK",
                "The query turns by the base of now; each key in the cache stays as the base of "
                "its own time had turned it.",
                _GROWS,
                "Compare generation token by token with one pass over the same text. Cache keys "
                "before they are rotated, or fix the frequencies for the longest text (YaRN, "
                "section 3.3).",
                mistakes.cached,
                ("dynamic-2048", "dynamic-4096"),
                distance=512,
                along="position",
            ),
            Slip(
                "longrope", "LongRoPE",
                "Past the trained length the long list counts; keys before it stay turned by the "
                "short one.",
                _GROWS,
                "Compare generation token by token with one pass over the same text. Read the "
                "whole text again where the list changes, as Hugging Face's Phi-3 does, or cache "
                "keys before they are rotated.",
                mistakes.cached,
                ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct"),
                distance=4096,
                along="position",
            ),
        ),
        ("factor", "prompt"), longest=8192,
    ),
    Pitfall(
        "position_dtype", "in 16 bits", "Positions",
        (
            Slip(
                "bfloat16", "positions in bfloat16",
                "Positions are rounded to 8 significant bits: 257 becomes 256, 15,962 becomes "
                "15,936.",
                "bfloat16 holds every whole number up to 256: a text that short is exactly right, "
                "at every distance.",
                "Keep positions whole or in float32 whatever the model's dtype, and test past "
                "position 256: a text moved on must score the same.",
                mistakes.coarse("bfloat16"),
                ("rope-16k", "Meta-Llama-3-8B"),
                ("huggingface/transformers#29285", "huggingface/transformers#29496",
                 "EleutherAI/gpt-neox#1016", "huggingface/candle#3520"),
                along="position",
            ),
            Slip(
                "float16", "positions in float16",
                "Positions are rounded to 11 significant bits: 2,049 becomes 2,048.",
                "float16 holds every whole number up to 2,048: a text that short is exactly "
                "right, at every distance.",
                "Keep positions whole or in float32 whatever the model's dtype, and test past "
                "position 2,048: a text moved on must score the same.",
                mistakes.coarse("float16"),
                ("rope-16k", "Meta-Llama-3-8B"),
                distance=4,
                along="position",
            ),
            Slip(
                "frequencies", "inv_freq in bfloat16",
                "Frequencies are rounded to 8 significant bits; the angle is off by up to a 256th "
                "of itself, so by more and more.",
                "An angle is off by a share of itself, so near keys hardly differ: at distance 1 "
                "the error is {one}, of {scale} for a perfect match. Moving a text on shows "
                "nothing, the score still goes by the distance alone.",
                "Keep inv_freq in float32 whatever the model's dtype. Compare scores at distances "
                "of 1,000 tokens and more with those of float32.",
                mistakes.coarse_frequencies,
                ("rope-16k", "Meta-Llama-3-8B"),
                ("huggingface/diffusers#13922",),
                4096,
            ),
        ),
        ("rope_theta",), longest=16384,
    ),
    Pitfall(
        "left_padding", "padding counted", "Positions",
        (
            Slip(
                "jump", "new tokens jump ahead",
                "The prompt is numbered from its first word, but tokens generated after it by "
                "their place in the padded row.",
                "One text alone has no padding, nor has the longest one of a batch; and the first "
                "new token comes out of the prompt's pass, which is right.",
                "Generate a short text alone and beside a long one: the answers must agree. Take "
                "positions from the mask, cumsum(mask) − 1, at every step.",
                mistakes.jumped,
                ("padded",),
                ("thu-nics/C2C#19", "unslothai/unsloth#3699", "unslothai/unsloth#4078"),
                position=520,
            ),
            Slip(
                "shift", "all tokens shifted alike",
                "Every token is numbered from the padding on. RoPE, ALiBi and T5 see the same "
                "distances; a learned or sinusoidal table gives every token another row.",
                "One text alone has no padding. Beside a longer one RoPE, ALiBi and T5 score as "
                "before, since all distances stay: the error is {one} at distance 1 and anywhere. "
                "Only a learned or sinusoidal table tells.",
                "With such a table read a short text alone and beside a long one: what comes out "
                "must agree. Take positions from the mask, cumsum(mask) − 1. RoPE, ALiBi and T5 "
                "need no mending.",
                mistakes.shifted,
                ("padded",),
                ("ndif-team/nnsight#673", "tloen/alpaca-lora#315"),
            ),
        ),
        ("padding", "prompt"), longest=16384,
    ),
)  # fmt: skip
"""Every mistake, in the order of the menu: by group."""


def get(pitfall: str) -> Pitfall:
    """The mistake of that name."""
    params.one_of("pitfall", pitfall, tuple(each.id for each in PITFALLS))
    return next(each for each in PITFALLS if each.id == pitfall)
