"""Picker: from a few questions to one recommendation, its evidence, its price and its config."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from posviz import catalog, export, measured, params, picker, presets, published
from posviz.figures import lab as lab_pictures
from posviz.figures import picker as pictures
from posviz.figures import style
from posviz.figures.picker import Evidence, Line, Other, Row, Verdict
from posviz.figures.style import number
from posviz.picker import Case, Fact, Rule, When
from posviz.rope import RoPE
from posviz.ui import live
from posviz.ui.labels import FAMILIES, METHODS
from posviz.ui.text import complaint, say

Slots = dict[str, live.Picture]

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
    "in file": "its file reaches so far", "past": "further than training",
    "past yarn": "further than its YaRN", "past llama3": "further than its Llama 3 rule",
    "past longrope": "further than its LongRoPE",
}  # fmt: skip
SURE = {
    "published": "published", "measured": "the lab only",
    "weak": "weak; it ends here or disagrees", "plain": "by construction",
}  # fmt: skip
STYLES = {"rope_parameters": "transformers 5", "rope_scaling": "before 5"}
RELEASED = picker.models()
MILLION = 1e6

TARGET = params.Number(
    "target", "Target", 131_072, 64, 1 << 24, 1, "tokens",
    "Tokens that are to be read at once.", scale="log",
)  # fmt: skip
BUDGET = params.Number(
    "training_tokens", "Training", 1000, 0, 1_000_000, 1, "M tokens",
    "Tokens that you can spend on training further; 0 for none.", scale="log",
)  # fmt: skip
MEMORY = params.Number(
    "memory", "Memory", 24, 1, 4096, 1, "GB",
    "What is left for the keys and values of one text.", scale="log",
)  # fmt: skip
KEY_VALUE_HEADS = params.Number(
    "num_key_value_heads", "KV heads", 8, 1, 128, 1, "",
    "Heads of a layer whose keys and values are cached (num_key_value_heads).",
)  # fmt: skip
LAYERS = params.Number(
    "num_hidden_layers", "Layers", 32, 1, 256, 1, "layers",
    "Layers with attention (num_hidden_layers); records of released models do not tell.",
)  # fmt: skip

# Model, trained context, target, training in millions of tokens, engine, needs, modality: a case in
# which each rule answers.
Example = tuple[str, int, int, int, str, tuple[str, ...], str]
EXAMPLES: dict[str, Example] = {
    "reads it already": ("Meta-Llama-3-8B", 8192, 4096, 0, "every", (), "text"),
    "looks back over a window": ("Mistral-7B-v0.1", 32_768, 131_072, 0, "every", (), "text"),
    "its file reaches so far": ("Llama-3.1-8B-Instruct", 8192, 131_072, 0, "every", (), "text"),
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
    "more rows": ("gpt2", 1024, 4096, 1000, "every", (), "text"),
    "sinusoids, trained further": ("sinusoidal", 512, 2048, 1000, "every", (), "text"),
    "T5 as it is": ("t5", 512, 1536, 0, "every", (), "text"),
    "T5, trained further": ("t5", 512, 8192, 1000, "every", (), "text"),
    "ALiBi as it is": ("bloom (176B)", 2048, 16_384, 0, "every", (), "text"),
    "ALiBi, facts a few times further": ("bloom (176B)", 2048, 8192, 0, "every", ("recall",),
                                         "text"),
    "ALiBi, trained further": ("bloom (176B)", 2048, 16_384, 1000, "every", ("recall",), "text"),
    "more of Llama 3’s rule": ("Llama-3.1-8B-Instruct", 8192, 262_144, 0, "every", (), "text"),
    "more YaRN": ("Yarn-Llama-2-7b-64k", 4096, 131_072, 0, "every", (), "text"),
    "only the base can be set": ("Llama-2-7b-hf", 4096, 12_288, 0, "base", (), "text"),
    "short texts stay as they are": ("Meta-Llama-3-8B", 8192, 32_768, 0, "every", ("short",),
                                     "text"),
    "up to twice": ("Meta-Llama-3-8B", 8192, 16_384, 0, "every", (), "text"),
    "up to twice, cached": ("Meta-Llama-3-8B", 8192, 16_384, 0, "every", ("cache",), "text"),
    "up to four times": ("Meta-Llama-3-8B", 8192, 32_768, 0, "every", (), "text"),
    "a long stretch, untrained": ("Meta-Llama-3-8B", 8192, 131_072, 0, "every", (), "text"),
    "only the base, trained": ("Llama-2-7b-hf", 4096, 65_536, 20_000, "base", (), "text"),
    "one linear factor": ("Llama-2-7b-hf", 4096, 32_768, 500, "linear", (), "text"),
    "continued pre-training": ("Meta-Llama-3-8B", 8192, 131_072, 800_000, "every", (), "text"),
    "YaRN and fine-tuning": ("Meta-Llama-3-8B", 8192, 131_072, 1000, "every", (), "text"),
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
    names = tuple(name.removesuffix("-hf") for name in RELEASED)
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
    yield LAYERS
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
    def is_at_most(self) -> bool:
        """Whether some layers cache a window only, or the cached heads are not on record."""
        if self.model not in RELEASED:
            return False
        record = presets.record(self.model)
        windows = {"sliding_window", "attention_chunk_size"} & record.keys()
        return bool(windows) or "num_key_value_heads" not in record

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
        return picker.setting(self.case, self.rule.outcome, self.plain, head_dim)

    def label(self, outcome: str) -> str:
        return say(picker.OUTCOMES[outcome].label)


def draw(**values: Any) -> Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    if scene.part == "rules":
        return {"told": told(summary(scene)), "rules": live.drawing(rules(scene))}
    if scene.part == "take":
        return {"told": told(summary(scene)), "picked": live.drawing(verdict(scene))}
    ours, theirs = lab_lines(scene), their_lines(scene)
    note = say("{family}, untrained, factors for {multiple}×; 100 % is guessing",
               family=lab_family(scene), multiple=number(scene.case.factor))  # fmt: skip
    own_curve = picker.OUTCOMES[lab_outcome(scene)].family is not None
    if own_curve or (scene.case.start == "scratch" and scene.rule.outcome in ("base", "rope")):
        note = say("trained at 256, read further; 100 % is guessing")
    if scene.case.modality != "text":
        note = say("the lab’s models read text only")
    table = published.table(scene.rule.facts[0].table) if theirs else None
    where = "" if table is None else place_told(scene.rule.facts[0])
    empty = say("No table on record speaks for or against this.")
    return {
        "picked": live.drawing(verdict(scene)),
        "told": told(summary(scene)),
        "formula": live.drawing(f'<p class="pv-formula">{formula(scene)}</p>'),
        "costs": live.drawing(pictures.rows(say("What it costs"), costs(scene))),
        "evidence": live.drawing(
            pictures.evidence(evidence(scene), say("Evidence"),
                              [(one.title, one.address) for one in scene.rule.sources], _=say)
        ),
        "ours:head": live.drawing(
            style.heading(say("In the lab: loss"), note, pictures.legend(ours))
        ),
        "ours": live.figure(
            pictures.measured(ours, scene.case.multiple, picker.HEADROOM, _=say),
            say("Loss of the lab’s models over the context: {told}", told="; ".join(
                f"{one.label}, {100 * one.y[-1]:.0f} % {say('at')} {one.x[-1]:.3g}×"
                for one in ours)),
        ),
        "theirs:head": live.drawing(
            style.heading(say("In print"), style.plain_text(where), pictures.legend(theirs))
        ),
        "theirs": live.figure(
            pictures.published(theirs, scene.case.multiple, empty, _=say),
            say("Published perplexity over the context: {told}", told="; ".join(
                f"{one.label}, {one.y[-1]:.4g} {say('at')} {one.x[-1]:.3g}×" for one in theirs
            ) or empty),
        ),
        "others": live.drawing(pictures.others(say("Why not"), others(scene))),
    }  # fmt: skip


def told(sentence: str) -> live.Picture:
    """A caption."""
    return live.drawing(f'<p class="pv-caption">{sentence}</p>')


def billions(tokens: float) -> str:
    """A number of training tokens, short."""
    if tokens >= 1e12:
        return say("{count} T tokens", count=f"{tokens / 1e12:.3g}")
    if tokens >= 1e9:
        return say("{count} B tokens", count=f"{tokens / 1e9:.3g}")
    return say("{count} M tokens", count=f"{tokens / 1e6:.3g}")


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
    if scene.rule.outcome == "longrope":
        return [("original_max_position_embeddings", params.shown(scene.case.trained)),
                ("long_factor", say("from the search")),
                ("rope_theta", number(scene.rope_theta))]  # fmt: skip
    if found is None or scene.rule.outcome in ("keep", "split"):
        return []
    told_there = export.hf_config(found)["rope_parameters"]
    shown = [
        (name, f"{value:,.6g}" if isinstance(value, float) else params.shown(value))
        for name, value in told_there.items() if name not in ("rope_type", "partial_rotary_factor")
    ]  # fmt: skip
    if found.scaling.rope_type == "yarn":
        shown = [
            (name, value)
            for name, value in shown
            if name not in ("beta_fast", "beta_slow", "truncate")
        ]
        shown = [*shown, ("attention_factor", f"{found.frequencies()[1]:.4f}")]
    return [(name, value) for name, value in shown if value != "None"]


def verdict(scene: Scene) -> str:
    """The answer, large."""
    label, factor = scene.label(scene.rule.outcome), ""
    found = scene.setting
    if found is not None and found.scaling.rope_type in ("yarn", "llama3", "linear", "dynamic"):
        factor = say(", factor {factor}", factor=params.shown(getattr(found.scaling, "factor", 1)))
    then = ""
    if scene.is_trained_on:
        then = say("then train on long texts")
    elif scene.case.start == "scratch" and scene.rule.outcome not in ("split",):
        then = say("from the start")
    sure = say("Evidence: {sure}. {expected}", sure=say(SURE[scene.rule.sure]),
               expected=expected(scene))  # fmt: skip
    better = picker.with_training(scene.case)
    if better is not None and (scene.rule.sure == "weak" or scene.rule.outcome == "split"):
        sure += " " + say("With {tokens} of training: {label}, published.",
                          tokens=billions(better[0]), label=scene.label(better[1].outcome)
                          )  # fmt: skip
    return pictures.verdict(
        Verdict(label[:1].upper() + label[1:] + factor, scene.outcome.colour, then,
                settings(scene), say(scene.rule.why), say(scene.rule.but) if scene.rule.but else "",
                sure, scene.rule.sure == "weak" or scene.rule.outcome == "split")
    )  # fmt: skip


def expected(scene: Scene) -> str:
    """How far it can be expected to read."""
    case, rule = scene.case, scene.rule
    target = params.shown(case.target)
    if rule.outcome == "split":
        return say("Nothing here is expected to read {target} tokens.", target=target)
    if rule.sure == "plain" or case.multiple <= 1.0:
        return say("Expect all {target} tokens to be read.", target=target)
    if scene.is_trained_on:
        best = [one.multiple for one in rule.facts if not one.is_against and one.multiple > 1.0]
        if best and case.multiple > max(best):
            return say("Up to {target} tokens after training: {multiple}× is asked, tables on "
                       "record end at {best}×.", target=target, multiple=number(case.multiple),
                       best=number(max(best)))  # fmt: skip
        if best:
            return say("Expect about {target} tokens after training: {multiple}× asked, up to "
                       "{best}× published.", target=target, multiple=number(case.multiple),
                       best=number(max(best)))  # fmt: skip
        return say("Up to {target} tokens after training, if your own test agrees.", target=target)
    reached = picker.held(lab_outcome(scene), case.factor)
    if reached is None:
        return say("How far it holds is not measured.")
    low, high = reached
    if low == high == float("inf"):
        return say("The lab’s models held at every length measured, {count}× their training.",
                   count=number(picker.HEADROOM))  # fmt: skip
    asked = say("{multiple}× is asked.", multiple=number(case.multiple))
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


def lab_outcome(scene: Scene) -> str:
    """The outcome whose curve the lab has: that of the encoding where nothing is changed."""
    start = scene.case.start
    if scene.rule.outcome in ("keep", "split") and start in picker.OUTCOMES and start != "rope":
        return start
    return scene.rule.outcome


def summary(scene: Scene) -> str:
    """The case in one sentence, and which row answered."""
    place = picker.RULES.index(scene.rule) + 1
    return say(
        "{target} tokens are {multiple} times the {trained} of training; {budget} to train "
        "further. Row {row} of {rows} answers: “{name}”.",
        target=params.shown(scene.case.target), multiple=number(scene.case.multiple),
        trained=params.shown(scene.case.trained),
        budget=billions(scene.case.tokens) if scene.case.tokens else say("nothing"),
        row=place, rows=len(picker.RULES), name=say(scene.rule.name),
    )  # fmt: skip


def formula(scene: Scene) -> str:
    """The number that the answer sets, as a formula."""
    found = scene.setting
    if found is not None and found.scaling.rope_type == "yarn":
        factor = getattr(found.scaling, "factor", 1.0)
        return pictures.YARN_FACTOR.markup(found.frequencies()[1], s=factor)
    if found is not None and found.scaling.rope_type == "ntk":
        base = export.hf_config(found)["rope_parameters"]["rope_theta"]
        factor = getattr(found.scaling, "factor", 1.0)
        return pictures.LARGER_BASE.markup(base, b=scene.rope_theta, s=factor, d=scene.rotary_dim)
    if scene.is_compressed:
        return ""
    return pictures.CACHE.markup(
        cache(scene), n=scene.target, l=scene.num_hidden_layers, h=scene.num_key_value_heads,
        d=scene.head_dim,
    )  # fmt: skip


def cache(scene: Scene) -> int:
    """Bytes of keys and values at the target."""
    return picker.cache_bytes(
        scene.target, scene.num_hidden_layers, scene.num_key_value_heads, scene.head_dim
    )


def costs(scene: Scene) -> list[tuple[str, str, bool]]:
    """Training, memory, speed and what serving needs."""
    rule, found = scene.rule, []
    spent = billions(scene.case.tokens) if scene.case.tokens else say("none")
    if scene.is_trained_on and rule.training is not None:
        one = rule.training
        spent = say("{budget}; its paper, about {tokens} ({steps} steps of {texts} × {length})",
                    budget=spent, tokens=billions(one.tokens), steps=params.shown(one.steps),
                    texts=one.sequences, length=params.shown(one.length))  # fmt: skip
    elif rule.outcome == "split":
        spent = say("{budget} would not suffice", budget=spent)
    elif not scene.is_trained_on:
        spent = say("none needed")
    found.append((say("Training further"), spent, False))
    if scene.is_compressed:
        found.append((say("Cache"), say("compressed (MLA), not counted here"), False))
    else:
        size, room = cache(scene), scene.memory * 1e9
        most = say("at most ") if scene.is_at_most else ""
        fits = int(scene.target * room / size)
        if size <= room:
            said = say(
                "{most}{size} of {room}", most=most, size=gigabytes(size), room=gigabytes(room)
            )
        else:
            said = say("{most}{size}, more than {room}: that holds {fits} tokens. No encoding "
                       "changes it", most=most, size=gigabytes(size), room=gigabytes(room),
                       fits=params.shown(fits))  # fmt: skip
        found.append((say("Cache at the target"), said, size > room))
    bias = picker.bias_bytes(scene.encoding, scene.target, scene.num_heads)
    if bias:
        found.append((say("Bias, written out"), gigabytes(bias), bias > scene.memory * 1e9))
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
    found.append((say("Cache, fused kernels"), serving, lacks))
    return found


def short_texts(scene: Scene) -> list[tuple[str, str, bool]]:
    """What a scaling does to texts within training, as the lab measured it."""
    if scene.rule.outcome == "base" and scene.case.start == "scratch":
        return []
    both = picker.within(scene.rule.outcome, scene.case.factor,
                         picker.alike(scene.plain, scene.case.trained))  # fmt: skip
    if scene.setting is None or scene.case.multiple <= 1.0 or both is None:
        return []
    said = say("perplexity {plain} becomes {scaled} in the lab, untrained; serve them from the "
               "plain file", plain=f"{both[0]:.2f}", scaled=f"{both[1]:.3g}")  # fmt: skip
    return [(say("Short texts"), said, "short" in scene.needs)]


# -------------------------------------------------------------------------------------- evidence


def evidence(scene: Scene) -> list[Evidence]:
    """Published numbers and the lab's orders, for and against."""
    against_is_for = scene.rule.outcome == "split"  # what fails there is why
    found = [
        Evidence(fact_told(one), one.is_against and not against_is_for) for one in scene.rule.facts
    ]
    method = scene.outcome.method
    if "recall" in scene.needs:
        found += needle_evidence(scene)
    if scene.rule.outcome == "split" and not found:
        return [Evidence(say("The longest on record is LongRoPE’s: 64 times its context in a "
                             "table, 512 in its paper."), None)]  # fmt: skip
    is_own = scene.case.start == "scratch" and scene.rule.outcome == "base"
    if method is None or scene.rule.outcome in ("keep", "rope") or is_own:
        return [*found, *scratch_evidence(scene)]
    for one in picker.orders(method, scene.case.factor):
        where = say("The lab, {family}, at {multiple}×, untrained:",
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


def needle_evidence(scene: Scene) -> list[Evidence]:
    """Whether the lab's models find a name far back with the answer, and with the runner-up."""
    lines: list[Evidence] = []
    own = picker.found(lab_outcome(scene), scene.case.factor)
    for outcome in (lab_outcome(scene), scene.rule.runner_up):
        if outcome not in picker.OUTCOMES or scene.case.modality != "text":
            continue
        share = picker.found(outcome, scene.case.factor)
        if share is None:
            continue
        multiple, low, high = share
        few, many = f"{100 * low:.0f} %", f"{100 * high:.0f} %"
        span = few if few == many else say("{few} to {many}", few=few, many=many)
        is_second = outcome == scene.rule.runner_up
        lines.append(Evidence(
            say("The lab, a name far back at {multiple}×, untrained: {label} finds {span} of its "
                "letters", multiple=number(multiple), label=scene.label(outcome), span=span),
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
    reached = picker.held(outcome, scene.case.factor) if outcome in picker.OUTCOMES else None
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
    told_values = ", ".join(
        f"{say(label)} <b>{say('over') + ' ' if is_bound else ''}{style.short(value)}</b>"
        for label, (value, is_bound) in zip(fact.series, fact.cells(), strict=True)
    )
    link = f'<a href="{table.address}" target="_blank" rel="noopener">{place_told(fact)}</a>'
    return say("{place}, at {length} tokens ({multiple}×), {unit}: {values}",
               place=link, length=params.shown(fact.length),
               multiple=number(fact.multiple), unit=unit, values=told_values)  # fmt: skip


def place_told(fact: Fact) -> str:
    """Where a fact stands: first author, year, table and text."""
    table = published.table(fact.table)
    told_place = say("{author} {year}, {place}", author=table.authors.split(",")[0],
                     year=table.year, place=table.where.split(",")[0])  # fmt: skip
    return f"{told_place}, {fact.text}" if fact.text else told_place


def listed(methods: tuple[str, ...]) -> str:
    """Methods in a list."""
    return ", ".join(say("plain RoPE") if one == "default" else say(METHODS[one])
                     for one in methods)  # fmt: skip


def family_label(family: str) -> str:
    """What a reader calls a family of the lab."""
    if family.startswith("copying"):
        return say("copying models")
    return say(FAMILIES[family.removeprefix("names-")][0])


def lab_family(scene: Scene) -> str:
    """The lab's RoPE family that is drawn, in words."""
    return family_label(picker.alike(scene.plain, scene.case.trained))


def lab_lines(scene: Scene) -> list[Line]:
    """The lab's curves of the answer, the runner-up and plain RoPE."""
    family = picker.alike(scene.plain, scene.case.trained)
    lines: list[Line] = []
    if scene.case.modality != "text":
        return lines
    if scene.case.start == "scratch" and scene.rule.outcome in ("base", "rope"):
        looks = (("rope-10000", "rope_10000", "solid"), ("rope-500", "rope", "dot"),
                 ("alibi", "alibi", "dash"))  # fmt: skip
        for name, shade, dash in looks:
            share = picker.share(f"names-{name}")
            if share is not None:
                lines.append(Line(say(FAMILIES[name][0]), shade, share[0], share[1], dash))
        return lines
    for outcome, dash in ((lab_outcome(scene), "solid"), (scene.rule.runner_up, "dash")):
        if outcome not in picker.OUTCOMES:
            continue
        one = picker.OUTCOMES[outcome]
        if one.family is None and one.method in (None, "longrope", "default"):
            continue
        used = picker.lab_factor(one.method or "default", scene.case.factor, family)
        if used is None and one.family is None:
            continue
        share = picker.share(one.family or family, one.method or "default", used or 1.0)
        if share is not None:
            lines.append(Line(scene.label(outcome), one.colour, share[0], share[1], dash))
    plain = picker.share(family)
    if plain is not None:
        lines.append(Line(say("RoPE, unscaled"), "default", plain[0], plain[1], "dot"))
    return lines


def their_lines(scene: Scene) -> list[Line]:
    """Curves of the table that the rule names first, those lines that it compares."""
    if not scene.rule.facts:
        return []
    first = scene.rule.facts[0]
    table = published.table(first.table)
    if table.quantity not in (published.PERPLEXITY, published.LOSS):
        return []
    wanted = dict.fromkeys(
        label for one in scene.rule.facts if one.table == first.table for label in one.series
    )
    used: set[str] = set()
    lines: list[Line] = []
    for label in wanted:
        one = next(each for each in table.series if each.label == label)
        x, y = picker.drawn(first, label)
        shade = lab_pictures.shade_of(one)
        shade = next(each for each in (shade, "ink", "random", "quiet") if each not in used)
        used.add(shade)
        lines.append(Line(label, shade, x, y, "dash" if lines else "solid"))
    return lines


def others(scene: Scene) -> list[Other]:
    """Everything that was not recommended, the runner-up first, each reason once."""
    reasons: dict[str, list[str]] = {}
    for name in dict.fromkeys([scene.rule.runner_up, *picker.WHY_NOT]):
        is_own = name == scene.case.start != "rope"
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
        found.append(say("training: {tokens} or more", tokens=billions(when.least)))
    if when.below < float("inf"):
        found.append(say("training: under {tokens}", tokens=billions(when.below)))
    found += [say("needs {need}", need=say(NEEDS[one])) for one in when.needs]
    found += [say("can do without {need}", need=say(NEEDS[one])) for one in when.without]
    return found or [say("everything else")]


def rules(scene: Scene) -> str:
    """The decision table, with the row that answers."""
    rows = [
        Row(place, conditions(rule.when), scene.label(rule.outcome),
            picker.OUTCOMES[rule.outcome].colour, say(rule.why), say(SURE[rule.sure]),
            link_to(EXAMPLES[rule.name]), [(one.title, one.address) for one in rule.sources])
        for place, rule in enumerate(picker.RULES, 1)
    ]  # fmt: skip
    head = (say("row"), say("when all of this holds"), say("then"), say("because"),
            say("evidence"))  # fmt: skip
    return pictures.table(say("The rules"), head, rows, picker.RULES.index(scene.rule) + 1,
                          say("Show a case for row {number}"))  # fmt: skip


# ------------------------------------------------------------------------------------- take away


def config_text(scene: Scene) -> tuple[str, str]:
    """The configuration as JSON, or nothing; and what to know about it."""
    if scene.rule.outcome == "split":
        return "", say("There is nothing to configure: no setting makes this model read so far.")
    if scene.rule.outcome == "keep":
        return "", say("There is nothing to change: leave the model’s own file as it is.")
    if scene.rule.outcome == "longrope":
        runner = picker.setting(scene.case, "yarn", scene.plain,
                                max(scene.head_dim, scene.rotary_dim))  # fmt: skip
        assert runner is not None
        return (json.dumps(export.hf_config(runner, scene.style), indent=2),
                say("LongRoPE’s lists come out of a search on your model. Until you have them, "
                    "this is YaRN at the same factor, the runner-up, which is not published so "
                    "far."))  # fmt: skip
    if scene.setting is None:
        other = picker.other_config(scene.case, scene.rule.outcome, scene.num_heads)
        return json.dumps(other, indent=2), say("Keys differ between programs; these name the "
                                                "numbers that count.")  # fmt: skip
    notes = [f"{say(one.template, **one.values)}." for one in export.hf_notes(scene.setting)]
    notes = [note[:1].upper() + note[1:] for note in notes]
    base = picker.usual_base(max(scene.case.target, scene.case.trained))
    if scene.case.start == "scratch" and scene.rule.outcome in ("rope", "base"):
        notes.append(say("The base is that of {model}, released for such a context.",
                         model=base[1].removesuffix("-hf")))  # fmt: skip
    if scene.model in RELEASED and len(presets.reading(scene.model).rotary) > 1:
        notes.append(say("The model’s layer types differ: this is for its full-attention layers."))
    if scene.case.file is not None:
        notes.append(say("It replaces the scaling in the model’s file; do not add a second one."))
    try:
        text = json.dumps(export.hf_config(scene.setting, scene.style), indent=2)
    except params.InvalidParameterError as problem:
        return "", f"{complaint(problem)}."
    return text, " ".join(notes)


def flags_text(scene: Scene) -> tuple[str, str]:
    """Flags of llama.cpp, or why there are none."""
    if scene.setting is None or scene.rule.outcome in ("keep", "split"):
        return "", ""
    try:
        return export.llama_cpp_flags(scene.setting), ""
    except params.InvalidParameterError as problem:
        return "", f"{complaint(problem)}."


def snippet_text(scene: Scene) -> str:
    """Python that computes the same frequencies; empty where there is no RoPE to set."""
    if scene.setting is None or scene.rule.outcome in ("keep", "split"):
        return ""
    return export.snippet(scene.setting, scene.case.target)


VIEW = live.View("picker", parameters, draw)
