"""What the mistakes with positions start from: right settings, of released models and our own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from posviz import arrays, params, presets, rope
from posviz.rope import RoPE
from posviz.rope_scaling import DynamicNtk, NoScaling, Proportional, RopeScaling, Yarn


@dataclass(frozen=True)
class Settings:
    """What is set right, and what the mistakes need to know; each reads some of it.

    Attributes:
        seq_len: Tokens of the text, at least 2.
        head_dim: Dimensions of a head.
        rope_theta: Base of the right setting.
        mistaken_theta: Base that was taken instead.
        scaling: The right scaling method.
        partial_rotary_factor: Share of the head that rotates.
        look_back: Distance that the head looks for, tokens; 0 for its own token.
        num_heads: Heads of a layer.
        head: One of them, from 1.
        alibi_bias_max: Exponent of the flattest slope, in MPT's files.
        prompt: Tokens that were read in one pass before the text grew token by token.
        padding: Empty tokens to the left of the text.
        mrope_section: Pairs that time, height and width turn.
        mrope_interleaved: Whether they take turns pair by pair.
    """

    seq_len: int = 4096
    head_dim: int = 128
    rope_theta: float = 10_000.0
    mistaken_theta: float = 10_000.0
    scaling: RopeScaling = field(default_factory=NoScaling)
    partial_rotary_factor: float = 1.0
    look_back: int = 0
    num_heads: int = 8
    head: int = 1
    alibi_bias_max: float = 8.0
    prompt: int = 512
    padding: int = 64
    mrope_section: tuple[int, ...] = ()
    mrope_interleaved: bool = False

    def __post_init__(self) -> None:
        params.instance("scaling", self.scaling, RopeScaling)
        num_heads = params.whole("num_heads", self.num_heads, 1)
        params.keep(
            self,
            seq_len=params.whole("seq_len", self.seq_len, 2),
            head_dim=params.even("head_dim", self.head_dim, 4),
            look_back=params.whole("look_back", self.look_back, 0),
            num_heads=num_heads,
            head=params.whole("head", self.head, 1, num_heads),
            prompt=params.whole("prompt", self.prompt, 1),
            padding=params.whole("padding", self.padding, 0),
            rope_theta=params.real("rope_theta", self.rope_theta, 1.0, above=True),
            mistaken_theta=params.real("mistaken_theta", self.mistaken_theta, 1.0, above=True),
            partial_rotary_factor=params.real(
                "partial_rotary_factor", self.partial_rotary_factor, 0.0, 1.0, above=True
            ),
            alibi_bias_max=params.real("alibi_bias_max", self.alibi_bias_max, 0.0, above=True),
            mrope_section=_section(self.mrope_section),
        )

    @property
    def rope(self) -> RoPE:
        """RoPE over the dimensions that rotate; proportional RoPE counts by the whole head."""
        if isinstance(self.scaling, Proportional):
            return RoPE(self.head_dim, self.rope_theta)
        return RoPE(rope.rotary_dim(self.head_dim, self.partial_rotary_factor), self.rope_theta)

    @property
    def factor(self) -> float:
        """Scale factor; 1 without one."""
        return float(getattr(self.scaling, "factor", None) or 1.0)

    def moved(self, **handles: Any) -> Settings:
        """These settings with some of them moved.

        ``factor`` moves that of the scaling, ``rotary_dim`` the share of the head that rotates.
        """
        scaling = handles.pop("scaling", self.scaling)
        if "rotary_dim" in handles:
            handles["partial_rotary_factor"] = _share(handles.pop("rotary_dim"), self.head_dim)
        if "factor" in handles:
            scaling = replace(scaling, factor=handles.pop("factor"))
        if isinstance(scaling, Proportional) and "partial_rotary_factor" in handles:
            scaling = replace(scaling, partial_rotary_factor=handles["partial_rotary_factor"])
        return replace(self, scaling=scaling, **handles)


def _section(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """``mrope_section`` as checked numbers of pairs; empty where there is none."""
    if isinstance(sizes, tuple) and not sizes:
        return ()
    return tuple(arrays.whole_numbers("mrope_section", sizes, 0).ravel().tolist())


def _share(rotary_dim: int, head_dim: int) -> float:
    """The ``partial_rotary_factor`` that gives exactly so many dimensions once truncated."""
    params.even("rotary_dim", rotary_dim, 2, head_dim)
    share = rotary_dim / head_dim
    return share if int(head_dim * share) == rotary_dim else math.nextafter(share, 1.0)


def _dynamic(factor: float, trained: int, **more: Any) -> Settings:
    return Settings(scaling=DynamicNtk(factor, trained), **more)


_LABELS: dict[str, params.Message] = {
    "ones": "base 10,000",
    "dynamic-2048": "dynamic NTK, trained 2,048",
    "dynamic-4096": "dynamic NTK, trained 4,096",
    "internlm-6": "dynamic NTK ×6, trained 32,768",
    "yarn-16": "YaRN ×16, trained 4,096",
    "yarn-131072": "YaRN ×4, trained 131,072",
    "yarn-128": "YaRN ×128, trained 4,096",
    "yarn-64": "YaRN ×64, trained 4,096",
    "mscale-one": "YaRN ×16, attention_factor 1",
    "heads-8": "8 heads",
    "heads-12": "12 heads",
    "baichuan-13b": "Baichuan-13B, 40 heads",
    "max-16": "8 heads, alibi_bias_max 16",
    "falcon-8": "8 heads of 64",
    "t5": "32 buckets up to 128",
    "rope-16k": "base 10,000",
    "padded": "base 10,000",
}
_OWN: dict[str, Settings] = {
    "ones": Settings(seq_len=1024, look_back=16),
    "dynamic-2048": _dynamic(2.0, 2048, seq_len=4096, prompt=2048),
    "dynamic-4096": _dynamic(4.0, 4096, seq_len=8192, prompt=4096),
    "internlm-6": _dynamic(6.0, 32768, seq_len=65536),
    "yarn-16": Settings(scaling=Yarn(16.0, 4096), seq_len=8192),
    "yarn-131072": Settings(head_dim=64, scaling=Yarn(4.0, 131072), seq_len=131072),
    "yarn-128": Settings(scaling=Yarn(128.0, 4096), seq_len=4096),
    "yarn-64": Settings(scaling=Yarn(64.0, 4096), seq_len=4096),
    "mscale-one": Settings(scaling=Yarn(16.0, 4096, attention_factor=1.0), seq_len=4096),
    "heads-8": Settings(num_heads=8, seq_len=256),
    "heads-12": Settings(num_heads=12, head=9, seq_len=1024),
    "baichuan-13b": Settings(num_heads=40, head=33, seq_len=1024),
    "max-16": Settings(num_heads=8, alibi_bias_max=16.0, seq_len=256),
    "falcon-8": Settings(num_heads=8, head_dim=64, seq_len=256),
    "t5": Settings(seq_len=256),
    "rope-16k": Settings(seq_len=16384),
    "padded": Settings(seq_len=1024, prompt=512, padding=64),
}  # fmt: skip


def example_label(example: str) -> params.Message | params.Said:
    """What a reader calls an example: a released model, or settings of our own."""
    return _LABELS[example] if example in _LABELS else params.Said(example.removesuffix("-hf"))


def example_settings(example: str) -> Settings:
    """The settings of an example: a released model's as on record, or our own.

    Raises:
        InvalidParameterError: If there is no example of that name.
    """
    if example in _OWN:
        return _OWN[example]
    facts = presets.record(example)
    if facts["positional_encoding"] == "alibi":
        return Settings(
            num_heads=facts["num_attention_heads"], head_dim=facts["head_dim"], seq_len=1024,
            head=1,
        )  # fmt: skip
    rotary = presets.main_rotary(example)
    assert rotary is not None, example
    head_dim = rotary.head_dim or rotary.rope.rotary_dim
    share = getattr(rotary.scaling, "partial_rotary_factor", rotary.rope.rotary_dim / head_dim)
    trained = getattr(rotary.scaling, "original_max_position_embeddings", 2048)
    return Settings(
        seq_len=2 * trained, head_dim=head_dim, rope_theta=rotary.rope.rope_theta,
        scaling=rotary.scaling,
        partial_rotary_factor=share, mrope_section=rotary.mrope_section,
        mrope_interleaved=rotary.mrope_interleaved,
        prompt=facts.get("original_max_position_embeddings", 512),
    )  # fmt: skip
