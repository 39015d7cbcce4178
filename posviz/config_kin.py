"""Released models that a config may be one of: those of its class and sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from posviz import hf_config, presets
from posviz.config_finding import (
    ROUNDING,
    Effect,
    File,
    between,
    layered,
    number,
    number_of,
    reading_or_none,
)
from posviz.hf_config import CONTEXT, HEADS, HIDDEN, Config, Reading
from posviz.params import InvalidParameterError


@dataclass(frozen=True)
class Kin:
    """A release on record, as far as it tells a config's relatives.

    Attributes:
        name: Its name among the presets.
        verified: Whether its facts were seen at a source.
        kind: Model type.
        rope_type: Method of its full-attention layers.
        rope_theta: Their base.
        sizes: ``hidden_size``, heads, key-value heads and context; None where the record is silent.
        trained: Tokens that it saw at once before any extension.
        extended: Contexts that its maker documents an extension for, tokens.
    """

    name: str
    verified: bool
    kind: str
    rope_type: str
    rope_theta: float
    sizes: tuple[Any, Any, Any, Any]
    trained: int | None
    extended: tuple[int, ...]

    @property
    def context(self) -> int | None:
        """``max_position_embeddings`` of the release."""
        found: int | None = self.sizes[3]
        return found

    @property
    def config(self) -> Config:
        """Its file."""
        return presets.config(self.name)

    def effect_of(self, mine: Reading) -> Effect | None:
        """How far a file's frequencies are from its own; None if they cannot be compared."""
        try:
            return between(mine, presets.reading(self.name))
        except InvalidParameterError:
            return None

    def is_alike(self, mine: Reading) -> bool:
        """Whether a file has its frequencies."""
        effect = self.effect_of(mine)
        return effect is not None and effect.harm <= ROUNDING


# Extensions that a maker's README documents and the records do not have: factor, trained context.
_DOCUMENTED = {"Qwen2-7B-Instruct": (4.0, 32768), "Qwen2.5-VL-7B-Instruct": (4.0, 32768)}


@cache
def kins() -> tuple[Kin, ...]:
    """Every release on record with RoPE that can be computed."""
    found = []
    for name in presets.names():
        try:
            rotary = presets.main_rotary(name)
        except InvalidParameterError:
            continue
        if rotary is None:
            continue
        config, option = presets.config(name), presets.record(name).get("long_context_option")
        factor, trained = _DOCUMENTED.get(name, (0.0, presets.trained_context(name)))
        if option is not None:
            factor, trained = option["factor"], option["original_max_position_embeddings"]
        sizes = ("hidden_size", "num_attention_heads", "num_key_value_heads",
                 "max_position_embeddings")  # fmt: skip
        found.append(
            Kin(
                name, presets.is_verified(name), hf_config.kind_of(config), rotary.rope_type,
                rotary.rope.rope_theta, tuple(config.get(key) for key in sizes),  # type: ignore[arg-type]
                trained, (int(factor * trained),) if factor and trained else (),
            )
        )  # fmt: skip
    return tuple(found)


def of_size(file: File) -> list[Kin]:
    """Releases of the same class that no told size contradicts, whatever their context."""
    text = file.text
    hidden, heads = (number_of(text, names)[1] for names in (HIDDEN, HEADS))
    groups = number(text.get("num_key_value_heads"))
    if hidden is None or heads is None:
        return []
    return [
        each
        for each in kins()
        if (each.kind, *each.sizes[:2]) == (file.kind, hidden, heads)
        and (groups is None or each.sizes[2] in (None, groups))
    ]


def kin(file: File, rope_type: str | None = None, factor: float | None = None) -> list[Kin]:
    """Releases of the same class that every told size fits, the context among them.

    A context fits if it is the release's own; its trained one, if the method is the same; or that
    of an extension, if the release is not scaled and the file is.

    Args:
        file: Whose relatives they are.
        rope_type: Method of its full-attention layers; None for the release's context alone.
        factor: Its factor.
    """
    context = number_of(file.text, CONTEXT)[1]
    if context is None:
        return []

    def fits(each: Kin) -> bool:
        if each.context == context:
            return True
        if rope_type in (None, "default") or each.trained is None:
            return False
        if each.rope_type != "default":
            return each.rope_type == rope_type and each.trained == context
        grown = each.trained * factor if factor else 0.0
        return context in (each.trained, grown, *each.extended)

    return [each for each in of_size(file) if fits(each)]


def trained_context(config: Config) -> int | None:
    """Tokens that the release with just this file was trained on; None if none is known."""
    file = File(config)
    mine = hf_config.read(config)
    found = (each.trained for each in kin(file) if each.is_alike(mine))
    return next((each for each in found if each is not None), None)


def main_settings(file: File) -> tuple[str | None, Config, str]:
    """Layer type, settings and method of the layers that see everything, else of the first."""
    found = layered(file)
    name, own = next((each for each in found if each[0] == "full_attention"), found[0])
    return name, own, hf_config.rope_type_of(file.text, own)


def relatives(file: File) -> list[Kin]:
    """:func:`kin` under the file's own method and factor."""
    try:
        _, own, rope_type = main_settings(file)
    except (InvalidParameterError, IndexError):
        return kin(file)
    return kin(file, rope_type, number(own.get("factor")))


def is_documented(file: File, trained: float | None, factor: float | None) -> bool:
    """Whether a maker documents such a YaRN for a model of the class, or of the sizes."""
    return any(
        (each.trained, [trained and factor and trained * factor]) == (trained, list(each.extended))
        for each in kins()
        if each.kind == file.kind
    ) or any(each.rope_type == "default" and each.trained == trained for each in relatives(file))


def is_released(file: File) -> bool:
    """Whether a release of the same size has just these frequencies.

    A method that is not plain RoPE tells it even under another context.
    """
    near = relatives(file)
    mine = reading_or_none(file.config)
    return mine is not None and any(
        each.is_alike(mine) for each in of_size(file) if each in near or each.rope_type != "default"
    )
