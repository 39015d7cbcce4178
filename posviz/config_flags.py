"""Rules for flags of llama.cpp."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from posviz import config_text, params
from posviz.config_finding import (
    ROUNDING,
    Effect,
    Finding,
    Level,
    Mend,
    difference,
    number_in,
    tidy,
)
from posviz.config_names import meant_name
from posviz.config_text import LlamaCppFlags, ModelFile
from posviz.hf_config import Config
from posviz.params import InvalidParameterError, Message
from posviz.rope_scaling import NoScaling, yarn_mscale

_SCALING_FLAGS = (
    "--rope-scaling", "--rope-scale", "--rope-freq-scale", "--rope-freq-base", "--yarn-orig-ctx",
    "--yarn-ext-factor", "--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast",
)  # fmt: skip


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
        self, level: Level, flag: str, template: Message, /, *mend: Mend, **values: object
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
            "{unread} is no flag of llama.cpp, which stops, did you mean {likely}?"
            if meant
            else "{unread} is no flag of llama.cpp, which stops",
            {"unread": name, **({"likely": meant} if meant else {})},
            mend=(Mend((name,), removes=True),)
            + ((Mend((meant,), new),) if meant and meant not in given else ()),
        )  # fmt: skip
