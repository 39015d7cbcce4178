"""Picker: from a few questions to one recommendation, its evidence, its price and its config."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from posviz import (
    catalog,
    export,
    measured,
    params,
    picker,
    picker_evidence,
    picker_settings,
    presets,
    published,
)
from posviz.figures import lab as lab_pictures
from posviz.figures import picker as pictures
from posviz.figures import style
from posviz.figures.picker import Evidence, Line, Other, Row, Verdict
from posviz.figures.style import number
from posviz.picker import Case, Fact, Rule, When
from posviz.rope import RoPE
from posviz.ui import live
from posviz.ui.labels import FAMILIES, METHODS
from posviz.ui.text import clauses, joined, say

PARTS = {"answer": "Answer", "take": "Take away", "rules": "The rules"}
STARTS = {
    "scratch": "nothing yet: from scratch", "rope": "a RoPE model, own numbers",
    "alibi": "an ALiBi model", "t5": "a T5 model", "learned": "a model with a learned table",
    "sinusoidal": "a model with sinusoids",
}  # fmt: skip
TRAINED = {
    "scratch": "from scratch", "rope": "a RoPE model", "alibi": "an ALiBi model",
    "t5": "a T5 model", "learned": "a learned table", "sinusoidal": "sinusoids",
}  # fmt: skip
MODALITIES = {"text": "text", "image": "pictures", "audio": "sound"}
ENGINES = {"every": "every method", "linear": "one factor", "base": "rope_theta only"}
TAKES = {"every": "a program that takes every method", "linear": "a program that takes one factor",
         "base": "a program that takes rope_theta only"}  # fmt: skip
NEEDS = {"cache": "reused prefixes", "short": "short texts unchanged", "recall": "facts far back",
         "fused": "fused attention"}  # fmt: skip
STATES = {
    "within": "within training", "windowed": "in windows within training",
    "past windows": "further than its windows reach",
    "global": "in windows, with other layers that know no positions",
    "in file": "its file reaches so far", "held": "a table reads it so far",
    "option": "its makers offer so far", "past": "further than training",
    "past yarn": "further than its YaRN", "past llama3": "further than its Llama 3 rule",
    "past longrope": "further than its LongRoPE",
}  # fmt: skip
SURE = {
    "published": "published", "less": "published, but with more training",
    "measured": "in the lab only", "makers": "its makers say so",
    "weak": "weak; no table reaches so far, or tables disagree",
    "plain": "follows from how it works",
}  # fmt: skip
UNITS = {"image": "Patches count as tokens.", "audio": "Frames count as tokens."}
# They read a text at once, so they keep no keys and values.
ENCODERS = ("bert", "modernbert", "nomic-bert")
STYLES = {"rope_parameters": "transformers 5", "rope_scaling": "before 5"}
RELEASED = picker.models()
MILLION = 1e6

TARGET = params.Number(
    "target", "Target", 131_072, 64, 1 << 24, 1, "tokens",
    "Tokens that are to be read at once.", scale="log",
)  # fmt: skip
BUDGET = params.Number(
    "training_tokens", "Training, M", 2000, 0, 1_000_000, 1, "tokens",
    "Millions of tokens that you can spend on training further; 0 for none.", scale="log",
)  # fmt: skip
MEMORY = params.Number(
    "memory", "Memory, GB", 24, 1, 4096, 1, "",
    "Gigabytes that are left for the keys and values of one text.", scale="log",
)  # fmt: skip
KEY_VALUE_HEADS = params.Number(
    "num_key_value_heads", "KV heads", 8, 1, 128, 1, "",
    "Heads of a layer whose keys and values are cached (num_key_value_heads).",
)  # fmt: skip
LAYERS = params.Number(
    "num_hidden_layers", "Layers", 32, 1, 256, 1, "layers",
    "Layers with attention (num_hidden_layers).",
)  # fmt: skip

# Model, trained context, target, training in millions of tokens, engine, needs, modality: a case in
# which each rule answers.
Example = tuple[str, int, int, int, str, tuple[str, ...], str]
EXAMPLES: dict[str, Example] = {
    "reads it already": ("Meta-Llama-3-8B", 8192, 4096, 0, "every", (), "text"),
    "facts beyond its windows": ("Mistral-7B-v0.1", 32_768, 131_072, 0, "every", ("recall",),
                                 "text"),
    "looks back over a window": ("Mistral-7B-v0.1", 32_768, 131_072, 0, "every", (), "text"),
    "past what its windows reach": ("Mistral-7B-v0.1", 32_768, 262_144, 0, "every", (), "text"),
    "other layers see everything": ("Llama-4-Scout-17B-16E", 8192, 10_000_000, 0, "every", (),
                                    "text"),
    "its file reaches so far": ("Llama-3.1-8B-Instruct", 8192, 131_072, 0, "every", (), "text"),
    "a table reads it as it is": ("CodeLlama-7b-hf", 16_384, 98_304, 0, "every", (), "text"),
    "its makers offer it": ("Qwen3-8B", 40_960, 131_072, 0, "every", (), "text"),
    "fixed picture": ("scratch", 256, 256, 0, "every", (), "image"),
    "pictures that grow": ("scratch", 256, 1024, 0, "every", (), "image"),
    "fixed recording": ("scratch", 1500, 1500, 0, "every", (), "audio"),
    "recordings that grow": ("scratch", 1500, 3000, 0, "every", (), "audio"),
    "recordings in a fused kernel": ("scratch", 1500, 3000, 0, "every", ("fused",), "audio"),
    "train as long as you read": ("scratch", 8192, 8192, 0, "every", (), "text"),
    "a long stage at the end": ("scratch", 4096, 32_768, 20_000, "every", (), "text"),
    "finds facts far back": ("scratch", 4096, 16_384, 0, "every", ("recall",), "text"),
    "train short, test long": ("scratch", 1024, 16_384, 0, "every", (), "text"),
    "RoPE now, scale later": ("scratch", 4096, 16_384, 0, "every", ("fused",), "text"),
    "RoPE now, a larger base later": ("scratch", 4096, 16_384, 0, "base", ("fused",), "text"),
    "more rows": ("gpt2", 1024, 4096, 1000, "every", (), "text"),
    "sinusoids, trained further": ("sinusoidal", 512, 2048, 1000, "every", (), "text"),
    "T5 as it is": ("t5", 512, 1536, 0, "every", (), "text"),
    "T5, trained further": ("t5", 512, 8192, 1000, "every", (), "text"),
    "ALiBi as it is": ("bloom (176B)", 2048, 16_384, 0, "every", (), "text"),
    "ALiBi, facts a few times further": ("bloom (176B)", 2048, 8192, 0, "every", ("recall",),
                                         "text"),
    "ALiBi, trained further": ("bloom (176B)", 2048, 16_384, 1000, "every", ("recall",), "text"),
    "more of Llama 3’s rule": ("Llama-3.1-8B-Instruct", 8192, 262_144, 0, "every", (), "text"),
    "more of Llama 3’s rule, trained": ("Llama-3.1-8B-Instruct", 8192, 262_144, 1000, "every", (),
                                        "text"),
    "more YaRN": ("Kimi-K2-Instruct", 4096, 262_144, 0, "every", (), "text"),
    "more YaRN, trained": ("Yarn-Llama-2-7b-64k", 4096, 131_072, 3000, "every", (), "text"),
    "more YaRN than any table": ("Kimi-K2-Instruct", 4096, 262_144, 3000, "every", (), "text"),
    "only the base can be set": ("Llama-2-7b-hf", 4096, 12_288, 0, "base", (), "text"),
    "short texts stay as they are": ("Meta-Llama-3-8B", 8192, 32_768, 0, "every", ("short",),
                                     "text"),
    "up to twice": ("Meta-Llama-3-8B", 8192, 16_384, 0, "every", (), "text"),
    "up to twice, cached": ("Meta-Llama-3-8B", 8192, 16_384, 0, "every", ("cache",), "text"),
    "up to four times": ("Meta-Llama-3-8B", 8192, 32_768, 0, "every", (), "text"),
    "a long stretch, not trained": ("Meta-Llama-3-8B", 8192, 131_072, 0, "every", (), "text"),
    "one linear factor": ("Llama-2-7b-hf", 4096, 32_768, 500, "linear", (), "text"),
    "only the base, trained": ("Llama-2-7b-hf", 4096, 65_536, 20_000, "base", (), "text"),
    "continued pre-training": ("Meta-Llama-3-8B", 8192, 131_072, 800_000, "every", (), "text"),
    "YaRN and fine-tuning": ("Meta-Llama-3-8B", 8192, 131_072, 2000, "every", (), "text"),
    "hundreds of times": ("Llama-2-7b-hf", 4096, 2_097_152, 2000, "every", (), "text"),
    "the table ends": ("gpt2", 1024, 4096, 0, "every", (), "text"),
    "breaks at once": ("sinusoidal", 512, 2048, 0, "every", (), "text"),
    "out of reach": ("Meta-Llama-3-8B", 8192, 10_000_000, 0, "every", (), "text"),
}  # fmt: skip


def link_to(example: Example) -> str:
    """The piece of a link that sets a case."""
    model, trained, target, tokens, engine, needs, modality = example
    return urlencode({
        "model": model, "original_max_position_embeddings": trained, "target": target,
        "training_tokens": tokens, "engine": engine, "needs": ",".join(needs),
        "modality": modality,
    })  # fmt: skip


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, what one has, how far it shall read, what can be spent, and its own numbers."""
    yield params.Choice("part", "Part", "answer", tuple(PARTS), tuple(PARTS.values()), "")
    names = tuple(params.Said(name.removesuffix("-hf")) for name in RELEASED)
    yield params.Choice("model", "You have", "Meta-Llama-3-8B", (*STARTS, *RELEASED),
                        (*STARTS.values(), *names), "")  # fmt: skip
    yield params.Choice("modality", "It reads", "text", tuple(MODALITIES),
                        tuple(MODALITIES.values()), "")  # fmt: skip
    yield params.Several("needs", "It needs", (), tuple(NEEDS), tuple(NEEDS.values()), "")
    yield params.Choice("engine", "Your program takes", "every", tuple(ENGINES),
                        tuple(ENGINES.values()),
                        "What the program that serves the model can be told.")  # fmt: skip
    is_released = v["model"] in RELEASED
    own = presets.get(v["model"]) if is_released else None
    trained = presets.trained_context(v["model"]) if is_released else None
    first = trained or (own.original_max_position_embeddings if own else 4096)
    yield replace(params.TRAINED_CONTEXT, label="Trained", low=64, high=1 << 20, default=first)
    yield replace(TARGET, default=min(16 * first, 1 << 20))
    yield BUDGET
    yield MEMORY
    rotary = presets.main_rotary(v["model"]) if is_released else None
    yield replace(params.ROPE_THETA, default=rotary.rope.rope_theta if rotary else 10_000.0)
    head_dim = own.head_dim if own else 128
    rotary_dim = rotary.rope.rotary_dim if rotary else head_dim
    yield replace(params.HEAD_DIM, name="rotary_dim", label="Rotary dim", low=4, unit="",
                  default=rotary_dim,
                  help="Dimensions of a head that rotate, two to a pair.")  # fmt: skip
    yield replace(params.HEAD_DIM, label="Head dim", low=4, unit="", default=head_dim,
                  help="Dimensions of one head.")  # fmt: skip
    yield replace(params.NUM_HEADS, default=own.num_heads if own else 32)
    cached = presets.record(v["model"]).get("num_key_value_heads") if is_released else 8
    yield KEY_VALUE_HEADS.within(high=v["num_heads"], default=cached or v["num_heads"])
    depth = presets.record(v["model"]).get("num_hidden_layers") if is_released else None
    yield replace(LAYERS, default=depth or LAYERS.default)
    yield params.Choice("style", "Hugging Face", "rope_parameters", tuple(STYLES),
                        tuple(STYLES.values()), "")  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What the questions mean together; one field per parameter, by its name."""

    part: str
    model: str
    modality: str
    needs: tuple[str, ...]
    engine: str
    original_max_position_embeddings: int
    target: int
    training_tokens: int
    memory: int
    rope_theta: float
    rotary_dim: int
    head_dim: int
    num_heads: int
    num_key_value_heads: int
    num_hidden_layers: int
    style: export.Style

    @cached_property
    def case(self) -> Case:
        tokens, trained = self.training_tokens * MILLION, self.original_max_position_embeddings
        if self.model in RELEASED:
            return picker.case_of(self.model, self.target, tokens, self.engine, self.needs, trained)
        modality = self.modality if self.model == "scratch" else "text"
        return Case(self.model, trained, self.target, tokens, modality, self.engine, self.needs)

    @cached_property
    def rule(self) -> Rule:
        return picker.rule_for(self.case)

    @property
    def outcome(self) -> picker.Outcome:
        return picker.OUTCOMES[self.rule.outcome]

    @property
    def plain(self) -> RoPE:
        return RoPE(self.rotary_dim, self.rope_theta)

    @property
    def is_compressed(self) -> bool:
        """Whether the model caches a compressed vector in place of keys and values (MLA)."""
        return self.model in RELEASED and "qk_rope_head_dim" in presets.record(self.model)

    @property
    def is_read_at_once(self) -> bool:
        """Whether nothing is kept between tokens: pictures, recordings and encoders."""
        encodes = self.model in RELEASED and presets.record(self.model)["family"] in ENCODERS
        return encodes or self.case.modality != "text"

    @property
    def is_at_most(self) -> bool:
        """Whether a released model's cached heads are not on record."""
        return self.model in RELEASED and "num_key_value_heads" not in presets.record(self.model)

    @property
    def is_assumed(self) -> bool:
        """Whether a released model's layers are not on record, nor given by hand."""
        if self.model not in RELEASED or self.num_hidden_layers != LAYERS.default:
            return False
        return "num_hidden_layers" not in presets.record(self.model)

    @property
    def layers(self) -> picker_settings.Layers:
        """Layers by what they keep."""
        if self.model not in RELEASED:
            return picker_settings.Layers(self.num_hidden_layers)
        return picker_settings.layer_kinds(self.model, self.num_hidden_layers)

    @property
    def sure(self) -> str:
        """How far the evidence goes, of :data:`SURE`."""
        return picker.sure(self.case, self.rule)

    @property
    def is_weak(self) -> bool:
        """Whether that is not far enough."""
        return self.sure in ("weak", "less") or self.rule.outcome == "split"

    @property
    def is_trained_on(self) -> bool:
        """Whether the answer includes training on long texts."""
        return self.rule.when.least > 0.0

    @property
    def encoding(self) -> str:
        """The encoding that will run, of :data:`posviz.catalog.NAMES`."""
        return self.outcome.encoding or (
            "rope" if self.case.start == "scratch" else self.case.start
        )

    @cached_property
    def setting(self) -> export.Setting | None:
        """What is written into a configuration; None if there is no RoPE to set."""
        if self.case.start not in ("scratch", "rope"):
            return None
        head_dim = self.rotary_dim if self.is_compressed else max(self.head_dim, self.rotary_dim)
        return picker_settings.setting(self.case, self.rule.outcome, self.plain, head_dim)

    @property
    def is_for_pictures(self) -> bool:
        """Whether the answer is RoPE over rows and columns."""
        return self.rule.outcome == "rope" and self.case.modality == "image"

    def label(self, outcome: str) -> str:
        if outcome == "rope" and self.case.modality == "image":
            return say("M-RoPE")
        return say(picker.OUTCOMES[outcome].label)


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    if scene.part == "rules":
        return {"told": told(summary(scene)), "rules": live.drawing(rules(scene))}
    if scene.part == "take":
        return {"told": told(summary(scene)), "picked": live.drawing(verdict(scene))}
    ours, first, second = lab_lines(scene), in_print(scene), contrary(scene)
    note = say("{family}, not trained further, factors for {multiple}×; 100 % is guessing",
               family=lab_family(scene), multiple=number(scene.case.factor))  # fmt: skip
    if lab_outcome(scene) != "split" and (
        picker.OUTCOMES[lab_outcome(scene)].family is not None
        or scene.case.state == "global"
        or (scene.case.start == "scratch" and scene.rule.outcome in ("base", "rope"))
    ):
        note = say("trained at 256, read further; 100 % is guessing")
    return {
        "picked": live.drawing(verdict(scene)),
        "told": told(summary(scene)),
        "formula": live.drawing(f'<p class="pv-formula">{formula(scene)}</p>'),
        "costs": live.drawing(pictures.rows(say("What it costs"), costs(scene))),
        "evidence": live.drawing(
            pictures.evidence(evidence(scene), say("Evidence"),
                              [(say(one.title), one.address) for one in scene.rule.sources], _=say)
        ),
        "ours:head": live.drawing(
            style.heading(say("In the lab: loss"), note, pictures.legend(ours))
        ),
        "ours": live.figure(
            pictures.measured(ours, scene.case.multiple, picker.HEADROOM, _=say),
            say("Loss of the lab’s models over the context: {told}", told=clauses(
                f"{one.label}, {100 * one.y[-1]:.0f} % {say('at')} {one.x[-1]:.3g}×"
                for one in ours)),
        ),
        **table_of(scene, "theirs", say("In print"), first),
        **table_of(scene, "contrary", say("In print, to the contrary"), second),
        "others": live.drawing(pictures.others(say("Why not"), others(scene))),
    }  # fmt: skip


def table_of(scene: Scene, key: str, title: str, fact: Fact | None) -> live.Slots:
    """A published table's curves under their heading."""
    lines = [] if fact is None else their_lines(scene, fact)
    empty = say("No table on record speaks for or against this.")
    where = "" if fact is None else style.plain_text(place_told(fact))
    return {
        f"{key}:head": live.drawing(style.heading(title, where, pictures.legend(lines))),
        key: live.figure(
            pictures.published(lines, scene.case.multiple, empty, _=say),
            say("Published perplexity over the context: {told}", told=clauses(
                f"{one.label}, {one.y[-1]:.4g} {say('at')} {one.x[-1]:.3g}×" for one in lines
            ) or empty),
        ),
    }  # fmt: skip


def charts(scene: Scene) -> tuple[str, ...]:
    """Charts of the answer that have something to show."""
    has = {"ours": lab_lines(scene), "theirs": in_print(scene), "contrary": contrary(scene)}
    return tuple(name for name, found in has.items() if found)


def told(sentence: str) -> live.Picture:
    """A caption."""
    return live.drawing(f'<p class="pv-caption">{sentence}</p>')


def millions(tokens: float) -> str:
    """A number of training tokens, in the handle's unit."""
    return say("{count} M tokens", count=f"{tokens / MILLION:,.0f}")


def gigabytes(size: float) -> str:
    """A number of bytes in units of 10^9."""
    billion = size / 1e9
    if billion >= 1e6:
        return say("{count} PB", count=f"{billion / 1e6:.3g}")
    return say("{count} GB", count=f"{billion:,.0f}" if billion >= 100 else f"{billion:.3g}")


# ---------------------------------------------------------------------------------------- answer


def settings(scene: Scene) -> list[tuple[str, str]]:
    """What is set, in the field's names."""
    found = scene.setting
    if scene.is_for_pictures:
        section = picker_settings.mrope_section(scene.rotary_dim // 2)
        return [("mrope_section", ", ".join(map(str, section))),
                ("rope_theta", number(scene.rope_theta))]  # fmt: skip
    if scene.rule.outcome == "longrope":
        return [("original_max_position_embeddings", params.shown(scene.case.trained)),
                ("long_factor", say("from the search")),
                ("rope_theta", number(scene.rope_theta))]  # fmt: skip
    if found is None or scene.rule.outcome in ("keep", "split"):
        return []
    told_there = export.hf_config(found)["rope_parameters"]
    usual = {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": True}
    shown = [
        (name, decimal(value) if isinstance(value, float) else params.shown(value))
        for name, value in told_there.items()
        if name not in ("rope_type", "partial_rotary_factor") and usual.get(name) != value
    ]  # fmt: skip
    if found.scaling.rope_type == "yarn" and "attention_factor" not in told_there:
        computed = say("{value} (computed)", value=f"{found.frequencies()[1]:.4f}")
        shown.append(("attention_factor", computed))
    return [(name, value) for name, value in shown if value != "None"]


def decimal(value: float) -> str:
    """A number of a file, six figures or all digits before the point."""
    return f"{value:,.0f}" if value >= 1e5 else f"{value:,.6g}"


def verdict(scene: Scene) -> str:
    """The answer, large."""
    label, factor = scene.label(scene.rule.outcome), ""
    found = scene.setting
    if found is not None and found.scaling.rope_type in ("yarn", "llama3", "linear", "dynamic"):
        factor = say(", factor {factor}", factor=params.shown(getattr(found.scaling, "factor", 1)))
    then = ""
    if scene.case.start == "scratch" and scene.rule.outcome in ("yarn", "ntk", "longrope"):
        then = say("after training plain RoPE")
    elif scene.is_trained_on:
        then = say("then train on long texts")
    elif scene.case.start == "scratch" and scene.rule.outcome != "split":
        then = say("from the start")
    sure = say("Evidence: {sure}. {expected}", sure=say(SURE[scene.sure]), expected=expected(scene))
    better = picker.with_training(scene.case) if scene.is_weak else None
    if better is not None and better[1].outcome == scene.rule.outcome:
        sure += " " + say("With {tokens} of training: published.", tokens=millions(better[0]))
    elif better is not None:
        sure += " " + say("With {tokens} of training: {label}, published.",
                          tokens=millions(better[0]), label=scene.label(better[1].outcome)
                          )  # fmt: skip
    return pictures.verdict(
        Verdict(label[:1].upper() + label[1:] + factor, scene.outcome.colour, then,
                settings(scene), say(scene.rule.why), say(scene.rule.but) if scene.rule.but else "",
                sure, scene.is_weak)
    )  # fmt: skip


def expected(scene: Scene) -> str:
    """How far it can be expected to read."""
    case, rule = scene.case, scene.rule
    target = params.shown(case.target)
    if case.window is not None and case.state in ("windowed", "past windows"):
        return windows_told(scene, case.window)
    if rule.outcome == "split":
        return say("Nothing here is expected to read {target} tokens.", target=target)
    if case.state == "global":
        return global_told(scene)
    if case.state == "held":
        return say("It was read at up to {most} tokens.", most=params.shown(case.holds))
    if case.state == "option" and case.option is not None and rule.sure == "makers":
        most = params.shown(case.option.max_position_embeddings)
        return say("With it they state {most} tokens.", most=most)
    if rule.sure == "plain" or case.multiple <= 1.0:
        return say("Expect all {target} tokens to be read.", target=target)
    if case.modality != "text":
        return say("How far it holds is not measured here.")
    if scene.is_trained_on:
        return trained_told(scene)
    reached = picker_evidence.held(lab_outcome(scene), case.factor)
    if reached is None:
        return say("How far it holds is not measured.")
    low, high = reached
    if low == high == float("inf"):
        return say("The lab’s models held at every length measured, {count}× their training.",
                   count=number(picker.HEADROOM))  # fmt: skip
    asked = say("your target is {multiple}×.", multiple=number(case.multiple))
    if low == 0.0 < high:
        return say("One family of the lab’s models broke within its training with it, the other "
                   "held to {high}×; {asked}", high=number(high), asked=asked)  # fmt: skip
    if low == high:
        return say("The lab’s models held to {low}×, here {tokens} tokens; {asked}",
                   low=number(low), tokens=params.shown(int(low * case.trained)),
                   asked=asked)  # fmt: skip
    return say("The lab’s models held to between {low}× and {high}×, here {few} to {many} tokens; "
               "{asked}", low=number(low), high=number(high),
               few=params.shown(int(low * case.trained)),
               many=params.shown(int(high * case.trained)), asked=asked)  # fmt: skip


def windows_told(scene: Scene, window: picker.Window) -> str:
    """What windows let through."""
    size = params.shown(window.size)
    if window.reach is None:
        return say("A layer sees {size} tokens back; how far all layers reach is not on record.",
                   size=size)  # fmt: skip
    target = scene.case.target
    if target <= window.reach:
        return say("A layer sees {size} tokens back; through all layers, all {target} tokens can "
                   "reach the output.", size=size, target=params.shown(target))  # fmt: skip
    return say("A layer sees {size} tokens back; through all layers, at most the last {reach} of "
               "{target} tokens reach the output.", size=size, target=params.shown(target),
               reach=params.shown(window.reach))  # fmt: skip


def global_told(scene: Scene) -> str:
    """How far layers without positions can be expected to read."""
    case = scene.case
    longest = case.file.max_position_embeddings if case.file is not None else case.trained
    held = (measured.reach("names-none") or 0) / measured.TRAINED_LENGTH
    return say("The lab’s models without positions held to {held}×; your target is {multiple}× the "
               "{longest} tokens of its longest training.", held=number(held),
               multiple=number(case.target / longest), longest=params.shown(longest))  # fmt: skip


def trained_told(scene: Scene) -> str:
    """What training further can be expected to give."""
    case, rule = scene.case, scene.rule
    target, multiple = params.shown(case.target), number(case.multiple)
    best = [one.multiple for one in rule.facts if not one.is_against and one.multiple > 1.0]
    budget = rule.budget(case.multiple)
    if scene.sure == "less" and budget is not None:
        return say("Tables reach {multiple}× with {tokens}, {ratio} times yours: expect less.",
                   multiple=multiple, tokens=millions(budget.tokens),
                   ratio=number(budget.tokens / case.tokens))  # fmt: skip
    if scene.sure != "published":
        return say("Up to {target} tokens after training, if your own test agrees.", target=target)
    if best and case.multiple > max(best):
        return say("Up to {target} tokens after training: your target is {multiple}×, tables on "
                   "record end at {best}×.", target=target, multiple=multiple,
                   best=number(max(best)))  # fmt: skip
    return say("Expect about {target} tokens after training: your target is {multiple}×, tables on "
               "record reach {best}×.", target=target, multiple=multiple,
               best=number(max(best, default=case.multiple)))  # fmt: skip


def lab_outcome(scene: Scene) -> str:
    """The outcome whose curve the lab has: that of the encoding where nothing is changed."""
    start = scene.case.start
    if scene.rule.outcome in ("keep", "split") and start in picker.OUTCOMES and start != "rope":
        return start
    return scene.rule.outcome


def summary(scene: Scene) -> str:
    """The case in one sentence, and which row answered."""
    place = picker.RULES.index(scene.rule) + 1
    sentence = say(
        "{target} tokens are {multiple} times the {trained} of training; {budget} to train "
        "further. Answered by row {row} of {rows} in “The rules”: “{name}”.",
        target=params.shown(scene.case.target), multiple=number(scene.case.multiple),
        trained=params.shown(scene.case.trained),
        budget=millions(scene.case.tokens) if scene.case.tokens else say("nothing"),
        row=place, rows=len(picker.RULES), name=say(scene.rule.name),
    )  # fmt: skip
    return " ".join([sentence, *(say(UNITS[one]) for one in UNITS if one == scene.case.modality)])


def formula(scene: Scene) -> str:
    """The number that the answer sets, as a formula."""
    found = scene.setting
    if found is not None and found.scaling.rope_type == "yarn":
        factor = getattr(found.scaling, "factor", 1.0)
        given = found.frequencies()[1]
        if abs(pictures.YARN_FACTOR.value(s=factor) - given) < 1e-9:
            return pictures.YARN_FACTOR.markup(say, given, s=factor)
    if found is not None and found.scaling.rope_type == "ntk":
        base = export.hf_config(found)["rope_parameters"]["rope_theta"]
        factor = getattr(found.scaling, "factor", 1.0)
        return pictures.LARGER_BASE.markup(
            say, base, b=scene.rope_theta, s=factor, d=scene.rotary_dim
        )
    if scene.is_compressed or scene.is_read_at_once or scene.layers.full != scene.num_hidden_layers:
        return ""
    return pictures.CACHE.markup(
        say, cache(scene), n=scene.target, l=scene.num_hidden_layers, h=scene.num_key_value_heads,
        d=scene.head_dim,
    )  # fmt: skip


def cache(scene: Scene) -> int:
    """Bytes of keys and values at the target."""
    return one_token(scene) * scene.layers.tokens(scene.target)


def one_token(scene: Scene) -> int:
    """Bytes that one layer keeps of one token."""
    return picker_settings.cache_bytes(1, 1, scene.num_key_value_heads, scene.head_dim)


def costs(scene: Scene) -> list[tuple[str, str, bool]]:
    """Training, memory, speed and what serving needs."""
    found = [(say("Training further"), training_told(scene), scene.sure == "less")]
    found.append(cache_told(scene))
    bias = picker_settings.bias_bytes(scene.encoding, scene.target, scene.num_heads)
    if bias:
        found.append((say("Bias, written out"), gigabytes(bias), bias > scene.memory * 1e9))
    if scene.case.window is None:
        work = max(scene.case.multiple, 1.0) ** 2
        found.append((say("Scores to compute"),
                      say("{count} times those of the trained length", count=number(work)), False)
                     )  # fmt: skip
    found += short_texts(scene)
    answers = catalog.get(scene.encoding)
    serving = say(answers.serving.short)
    lacks = "fused" in scene.needs and answers.fills_scores
    if scene.rule.outcome == "dynamic":
        serving = say("no reused prefixes: old keys keep the old base")
    if scene.rule.outcome == "longrope":
        serving = say("keys of a short text keep the short list")
        lacks = "cache" in scene.needs
    if not scene.is_read_at_once:
        found.append((say("Cached keys, fused kernels?"), serving, lacks))
    return found


def training_told(scene: Scene) -> str:
    """What is spent on training further, beside what was spent in print."""
    case, rule = scene.case, scene.rule
    spent = millions(case.tokens) if case.tokens else say("none")
    if rule.outcome == "split":
        more = picker.helped_by(case)
        if more is None:
            return say("{budget}; no amount on record would help", budget=spent)
        return say("{budget}; with {tokens}: {label}", budget=spent, tokens=millions(more[0]),
                   label=scene.label(more[1].outcome))  # fmt: skip
    if not scene.is_trained_on:
        better = picker.with_training(case) if scene.sure == "weak" else None
        if better is not None:
            return say("none; {tokens} would make the evidence published",
                       tokens=millions(better[0]))  # fmt: skip
        return say("none") if scene.sure == "weak" else say("none needed")
    budget = rule.budget(case.multiple)
    if budget is None:
        return say("{budget}; how much suffices is not published", budget=spent)
    if scene.sure == "weak":
        verdict = ""
    else:
        verdict = say(": less than that") if scene.sure == "less" else say(": enough by that")
    parts = " + ".join(
        say("{steps} steps of {texts} × {length}", steps=params.shown(steps), texts=texts_,
            length=params.shown(length)) for steps, texts_, length in budget.parts)  # fmt: skip
    return say("{budget}; in print {tokens}{parts}{verdict}", budget=spent,
               tokens=millions(budget.tokens), parts=f" ({parts})" if parts else "",
               verdict=verdict)  # fmt: skip


def cache_told(scene: Scene) -> tuple[str, str, bool]:
    """Keys and values at the target beside the memory, with the layers that were counted."""
    if scene.is_compressed:
        return say("Cache"), say("compressed (MLA), not counted here"), False
    if scene.is_read_at_once:
        return say("Cache"), say("none: everything is read at once"), False
    size, room = cache(scene), scene.memory * 1e9
    most = say("at most ") if scene.is_at_most else ""
    depth = style.counted(scene.num_hidden_layers, "1 layer", "{count} layers", say)
    depth = say("{layers} assumed", layers=depth) if scene.is_assumed else depth
    if size <= room:
        said = say("{most}{size} of {room}, in {layers}", most=most, size=gigabytes(size),
                   room=gigabytes(room), layers=depth)  # fmt: skip
    else:
        said = say("{most}{size} in {layers}, more than {room}: that holds {fits} tokens. No "
                   "encoding changes it", most=most, size=gigabytes(size), layers=depth,
                   room=gigabytes(room),
                   fits=params.shown(int(scene.layers.fits(room // one_token(scene))))
                   )  # fmt: skip
    return say("Cache at the target"), said, size > room


def short_texts(scene: Scene) -> list[tuple[str, str, bool]]:
    """What a scaling does to texts within training, as the lab measured it."""
    if scene.rule.outcome == "base" and scene.case.start == "scratch":
        return []
    both = picker_evidence.within(scene.rule.outcome, scene.case.factor,
                         picker_evidence.alike(scene.plain, scene.case.trained))  # fmt: skip
    if scene.setting is None or scene.case.multiple <= 1.0 or both is None:
        return []
    said = say("perplexity {plain} becomes {scaled} in the lab, not trained further; serve them "
               "from the plain file", plain=f"{both[0]:.2f}", scaled=f"{both[1]:.3g}")  # fmt: skip
    return [(say("Short texts"), said, "short" in scene.needs)]


# -------------------------------------------------------------------------------------- evidence


def evidence(scene: Scene) -> list[Evidence]:
    """Published numbers and the lab's orders, for and against."""
    against_is_for = scene.rule.outcome == "split"  # what fails there is why
    found = [
        Evidence(fact_told(one), one.is_against and not against_is_for) for one in scene.rule.facts
    ]
    method = scene.outcome.method
    if scene.case.window is not None:
        found += window_evidence(scene, scene.case.window)
    elif "recall" in scene.needs:
        found += needle_evidence(scene)
    if scene.model in picker.REMARKS:
        remark, source = picker.REMARKS[scene.model]
        found.append(Evidence(f'{say(remark)} <a href="{source.address}" target="_blank" '
                              f'rel="noopener">{say(source.title)}</a>', None))  # fmt: skip
    if scene.rule.outcome == "split" and not found and scene.case.start in ("rope", "scratch"):
        return [Evidence(say("The longest on record is LongRoPE’s: 64 times its context in a "
                             "table, 512 in its paper."), None)]  # fmt: skip
    is_own = scene.case.start == "scratch" and scene.rule.outcome == "base"
    if method is None or scene.rule.outcome in ("keep", "rope") or is_own:
        return [*found, *scratch_evidence(scene)]
    for one in picker_evidence.orders(method, scene.case.factor):
        where = say("The lab, {family}, at {multiple}×, not trained further:",
                    family=family_label(one.family), multiple=number(one.multiple))  # fmt: skip
        copies = one.family.startswith("copying")
        if one.better:
            said = (
                say("copies more right than {methods}")
                if copies
                else say("less loss than {methods}")
            )
            found.append(Evidence(f"{where} {said.format(methods=listed(one.better))}", False))
        if one.worse:
            said = (
                say("copies less right than {methods}")
                if copies
                else say("more loss than {methods}")
            )
            found.append(Evidence(f"{where} {said.format(methods=listed(one.worse))}", True))
    return found


def window_evidence(scene: Scene, window: picker.Window) -> list[Evidence]:
    """What windows keep from sight, and what the lab says of layers without positions."""
    found: list[Evidence] = []
    if "recall" in scene.needs:
        size = params.shown(window.size)
        found.append(Evidence(
            say("Facts more than {size} tokens back are seen only by the layers that know no "
                "positions.", size=size) if window.is_global else
            say("Facts more than {size} tokens back are never looked at again: no layer sees them.",
                size=size), True))  # fmt: skip
    if scene.case.state == "global":
        found.append(Evidence(global_told(scene), True))
    return found


def needle_evidence(scene: Scene) -> list[Evidence]:
    """Whether the lab's models find a name far back with the answer, and with the runner-up."""
    lines: list[Evidence] = []
    own = picker_evidence.found(lab_outcome(scene), scene.case.factor)
    for outcome in (lab_outcome(scene), scene.rule.runner_up):
        if outcome not in picker.OUTCOMES or scene.case.modality != "text":
            continue
        share = picker_evidence.found(outcome, scene.case.factor)
        if share is None:
            continue
        multiple, low, high = share
        few, many = f"{100 * low:.0f} %", f"{100 * high:.0f} %"
        span = few if few == many else say("{few} to {many}", few=few, many=many)
        is_second = outcome == scene.rule.runner_up
        lines.append(Evidence(
            say("The lab, a name far back at {multiple}×, not trained further: {label} finds "
                "{span} of its letters", multiple=number(multiple), label=scene.label(outcome),
                span=span),
            own is not None and low > own[1] if is_second else low < 0.9,
        ))  # fmt: skip
    return lines


def scratch_evidence(scene: Scene) -> list[Evidence]:
    """What the lab says of encodings that are not scaled."""
    if scene.case.modality != "text":
        return [Evidence(say("The lab’s models read text only."), None)]
    outcome = lab_outcome(scene)
    if outcome == "base":
        both = [measured.reach(name) for name in ("names-rope-500", "names-rope-10000")]
        few, many = (one / measured.TRAINED_LENGTH for one in both if one is not None)
        return [Evidence(say("The lab’s RoPE models, without a long stage, held to {few}× with "
                             "base 500 and {many}× with base 10,000.", few=number(few),
                             many=number(many)), True)]  # fmt: skip
    if outcome == "rope" and scene.case.start == "scratch":
        low = {name: measured.band(name) for name in ("names-rope-10000", "names-alibi")}
        at = measured.LENGTHS.index(measured.TRAINED_LENGTH)
        rope, alibi = (float(band.mean[at]) for band in low.values() if band is not None)
        return [Evidence(say("The lab at the trained length: {rope} nats for RoPE, base 10,000, "
                             "{alibi} for ALiBi.", rope=f"{rope:.3f}", alibi=f"{alibi:.3f}"),
                         rope > alibi)]  # fmt: skip
    reached = (
        picker_evidence.held(outcome, scene.case.factor) if outcome in picker.OUTCOMES else None
    )
    if picker.OUTCOMES[outcome].family is None or reached is None:
        return []
    far = number(picker.HEADROOM) if reached[0] == float("inf") else number(reached[0])
    found = [Evidence(say("The lab’s {label} models held to {far}× their training.",
                          label=family_label(picker.OUTCOMES[outcome].family or ""), far=far),
                      reached[0] < scene.case.multiple)]  # fmt: skip
    if outcome == "alibi":
        copied = measured.band("copying-alibi", quantity="accuracy")
        if copied is not None:
            found.append(Evidence(say(
                "The lab’s copying models with ALiBi copied {low} % to {high} % right at 4×.",
                low=f"{100 * copied.lowest[-1]:.0f}", high=f"{100 * copied.highest[-1]:.0f}",
            ), True))  # fmt: skip
    return found


def fact_told(fact: Fact) -> str:
    """A published comparison in a line, HTML."""
    table = published.table(fact.table)
    unit = say(table.quantity)
    told_values = joined(
        f"{say(label)} <b>{say('over') + ' ' if is_bound else ''}{style.short(value)}</b>"
        for label, (value, is_bound) in zip(fact.series, fact.cells(), strict=True)
    )
    link = f'<a href="{table.address}" target="_blank" rel="noopener">{place_told(fact)}</a>'
    if fact.is_least_bad:
        told_values += say("; all of them broke, the first one least")
    return say("{place}, at {length} tokens ({multiple}×), {unit}: {values}",
               place=link, length=params.shown(fact.length),
               multiple=number(fact.multiple), unit=unit, values=told_values)  # fmt: skip


def place_told(fact: Fact) -> str:
    """Where a fact stands: first author, year, table and text."""
    table = published.table(fact.table)
    told_place = say("{author} {year}, {place}", author=table.authors.split(",")[0],
                     year=table.year, place=say(table.where))  # fmt: skip
    if not fact.text:
        return told_place
    return say("{place}, {text}", place=told_place, text=say(fact.text))


def listed(methods: tuple[str, ...]) -> str:
    """Methods in a list."""
    return joined(say("plain RoPE") if one == "default" else say(METHODS[one])
                     for one in methods)  # fmt: skip


def family_label(family: str) -> str:
    """What a reader calls a family of the lab."""
    if family.startswith("copying"):
        return say("copying models")
    return say(FAMILIES[family.removeprefix("names-")][0])


def lab_family(scene: Scene) -> str:
    """The lab's RoPE family that is drawn, in words."""
    return family_label(picker_evidence.alike(scene.plain, scene.case.trained))


def lab_lines(scene: Scene) -> list[Line]:
    """The lab's curves of the answer, the runner-up and plain RoPE."""
    family = picker_evidence.alike(scene.plain, scene.case.trained)
    lines: list[Line] = []
    as_it_is = ("windowed", "past windows", "in file", "held")  # no model of the lab is like that
    if scene.case.modality != "text" or scene.case.state in as_it_is:
        return lines
    if scene.case.state == "global":
        share = picker_evidence.share("names-none")
        return [Line(say("no encoding"), "none", *share)] if share is not None else []
    if scene.case.start == "scratch" and scene.rule.outcome in ("base", "rope"):
        looks = (("rope-10000", "rope_10000", "solid"), ("rope-500", "rope", "dot"),
                 ("alibi", "alibi", "dash"))  # fmt: skip
        for name, shade, dash in looks:
            share = picker_evidence.share(f"names-{name}")
            if share is not None:
                lines.append(Line(say(FAMILIES[name][0]), shade, share[0], share[1], dash))
        return lines
    for outcome, dash in ((lab_outcome(scene), "solid"), (scene.rule.runner_up, "dash")):
        if outcome not in picker.OUTCOMES:
            continue
        one = picker.OUTCOMES[outcome]
        if one.family is None and one.method in (None, "longrope", "default"):
            continue
        used = picker_evidence.lab_factor(one.method or "default", scene.case.factor, family)
        if used is None and one.family is None:
            continue
        share = picker_evidence.share(one.family or family, one.method or "default", used or 1.0)
        if share is not None:
            lines.append(Line(scene.label(outcome), one.colour, share[0], share[1], dash))
    plain = picker_evidence.share(family)
    if plain is not None:
        lines.append(Line(say("RoPE, unscaled"), "default", plain[0], plain[1], "dot"))
    return lines


def in_print(scene: Scene) -> Fact | None:
    """The fact whose table is drawn: the row's first, if it is of perplexities."""
    return next((one for one in scene.rule.facts[:1] if is_drawn(one)), None)


def contrary(scene: Scene) -> Fact | None:
    """A fact against the answer out of another table than the one that is drawn first."""
    first = in_print(scene)
    if first is None or scene.rule.outcome == "split":
        return None
    return next(
        (
            one
            for one in scene.rule.facts
            if one.is_against and one.table != first.table and is_drawn(one)
        ),
        None,
    )


def is_drawn(fact: Fact) -> bool:
    """Whether its table is of perplexities."""
    return published.table(fact.table).quantity in (published.PERPLEXITY, published.LOSS)


def their_lines(scene: Scene, fact: Fact) -> list[Line]:
    """Curves of a fact's table, those lines that the row compares."""
    table = published.table(fact.table)
    wanted = dict.fromkeys(
        label for one in scene.rule.facts if one.table == fact.table for label in one.series
    )
    used: set[str] = set()
    lines: list[Line] = []
    for label, dash in zip(wanted, ("solid", "dash", "dot", "dash", "dot"), strict=False):
        one = next(each for each in table.series if each.label == label)
        x, y = picker_evidence.drawn(fact, label)
        # A larger base that was trained has its own colour on this page.
        shade = "rope_10000" if label.startswith("Code Llama") else lab_pictures.shade_of(one)
        shade = next(each for each in (shade, "ink", "random", "quiet") if each not in used)
        used.add(shade)
        lines.append(Line(say(one.label), shade, x, y, dash))
    return lines


def others(scene: Scene) -> list[Other]:
    """Everything that was not recommended, the runner-up first, each reason once."""
    reasons: dict[params.Message, list[str]] = {}
    for name in dict.fromkeys([scene.rule.runner_up, *picker.WHY_NOT]):
        is_own = name == scene.case.start and (name != "rope" or scene.rule.outcome == "keep")
        if name in picker.WHY_NOT and name != scene.rule.outcome and not is_own:
            reasons.setdefault(picker.why_not(scene.case, name), []).append(name)
    return [
        Other([(scene.label(name), picker.OUTCOMES[name].colour, picker.OUTCOMES[name].page)
               for name in names], say(reason),
              say("runner-up") if scene.rule.runner_up in names else "")
        for reason, names in reasons.items()
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------- rules


def conditions(when: When) -> list[str]:
    """What must hold for a row, a phrase for each condition."""
    words = {"start": TRAINED, "state": STATES, "modality": MODALITIES, "engine": TAKES}
    found = []
    for name, labels in words.items():
        has = getattr(when, name)
        if name == "start" and len(has) > 2:
            found.append(say("any trained model"))
        elif has:
            found.append(say(" or ").join(say(labels[one]) for one in has))
    if when.above:
        found.append(say("more than {count}×", count=number(when.above)))
    if when.up_to < float("inf"):
        found.append(say("up to {count}× training", count=number(when.up_to)))
    if when.least:
        found.append(say("training: {tokens} or more", tokens=millions(when.least)))
    if when.below < float("inf"):
        found.append(say("training: under {tokens}", tokens=millions(when.below)))
    found += [say("needs {need}", need=say(NEEDS[one])) for one in when.needs]
    found += [say("can do without {need}", need=say(NEEDS[one])) for one in when.without]
    return found or [say("everything else")]


def rules(scene: Scene) -> str:
    """The decision table, with the row that answers."""
    rows = [
        Row(place, conditions(rule.when), scene.label(rule.outcome),
            picker.OUTCOMES[rule.outcome].colour, say(rule.why), say(SURE[rule.sure]),
            link_to(EXAMPLES[rule.name]), [(say(one.title), one.address) for one in rule.sources])
        for place, rule in enumerate(picker.RULES, 1)
    ]  # fmt: skip
    head = (say("row"), say("when all of this holds"), say("then"), say("because"),
            say("evidence"))  # fmt: skip
    return pictures.table(say("The rules"), head, rows, picker.RULES.index(scene.rule) + 1,
                          say("Show a case for row {number}"))  # fmt: skip


VIEW = live.View("picker", parameters, draw)
