"""Scaling methods: what each one does to every pair, beside the others, and its spellings."""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from html import escape
from typing import Any

from posviz import (
    cache_timeline,
    distance,
    export,
    extrapolation,
    hf_config,
    params,
    presets,
    rope_units,
)
from posviz.cache_timeline import Engine, Policy, Timeline
from posviz.figures import scaling as pictures
from posviz.figures import style
from posviz.figures.scaling import Row, Series
from posviz.figures.style import number, plain_text, token_count, tokens
from posviz.rope import RoPE
from posviz.rope_scaling import Effect, Frequencies, RopeScaling, effect, scaling
from posviz.ui import live
from posviz.ui.labels import ALL_METHODS
from posviz.ui.text import clauses, complaint, joined, say, valued
from posviz.views import snippets

PARTS = {"spectrum": "Spectrum", "angles": "Angles", "attention": "Attention", "cache": "Cache",
         "units": "Units", "take": "Take away"}  # fmt: skip
LABELS = {name: label for name, label in ALL_METHODS.items() if name != "proportional"}
SHOWN = ("linear", "ntk", "yarn", "llama3")
LISTS = ("Phi-3.5-mini-instruct", "Phi-4-mini-instruct", "Phi-3-vision-128k-instruct")
POSITIONS = 512  # columns of the map of angles, at most
POINTS = 100  # of a curve over distance
KEYS = 400  # of a cache that are drawn, about
ALL_KEYS = 1 << 20  # of a cache up to which the largest error is sought among all
FIXED = ("vllm", "llama.cpp")  # programs that choose frequencies once
MULTIPLES = 97  # contexts at which unseen angles are counted
FAR = 16  # trained contexts that the curves by distance reach


def rotary(name: str) -> hf_config.Rotary | None:
    """RoPE of a released model's full-attention layers, if the record says enough."""
    try:
        reading = presets.reading(name)
        presets.get(name)
    except params.InvalidParameterError:
        return None
    return next((one for one in reading.rotary if one.layer_type in (None, "full_attention")), None)


# Linear and proportional ones are left out: their files do not say what came before the factor.
MODELS = tuple(
    name
    for name in presets.names()
    if (found := rotary(name)) and found.scaling.rope_type in ("default", *SHOWN[2:], "dynamic",
                                                               "longrope")
)  # fmt: skip

SEQ_LEN = params.Number(
    "seq_len", "Length", 65536, 2, 1 << 24, 1, "tokens",
    "Tokens in use: dynamic NTK and LongRoPE go by it, and all need the angles up to it.",
    scale="log",
)  # fmt: skip
MSCALE = params.Number(
    "mscale", "mscale", 0.0, 0.0, 2.0, 0.001, "",
    "Numerator of YaRN's attention factor; counts only together with mscale_all_dim. "
    "0: not given.",
)  # fmt: skip
MSCALE_ALL_DIM = replace(
    MSCALE, name="mscale_all_dim", label="mscale_all_dim",
    help="Denominator of YaRN's attention factor; counts only together with mscale. 0: not given.",
)  # fmt: skip
HIGH_FREQ_FACTOR = params.Number(
    "high_freq_factor", "high_freq_factor", 4.0, 0.1, 64.0, 0.1, "turns",
    "Llama 3 keeps a pair that turns more often than this within the trained context.",
    scale="log",
)  # fmt: skip
LOW_FREQ_FACTOR = params.Number(
    "low_freq_factor", "low_freq_factor", 1.0, 0.1, 64.0, 0.1, "turns",
    "Llama 3 divides a pair that turns less often than this by the whole factor.", scale="log",
)  # fmt: skip
LOOKED_FOR = params.Number(
    "distance", "Looks back", 64, 1, 256, 1, "tokens",
    "How far back a head has learned to look, before any scaling.", scale="log",
)  # fmt: skip
GROWING = ("dynamic", "longrope")
ENGINES = {"huggingface": "Hugging Face", "stateless": "by length alone", "vllm": "vLLM",
           "llama.cpp": "llama.cpp"}  # fmt: skip
POLICIES = {"rotated": "rotated, as programs do", "unrotated": "unrotated",
            "recomputed": "computed anew"}  # fmt: skip
PROMPT = params.Number(
    "prompt", "Prompt", 4096, 1, 1 << 24, 1, "tokens",
    "Tokens that came in the first pass, all rotated alike.", scale="log",
)  # fmt: skip
STEP = params.Number(
    "step", "Step", 1, 1, 65536, 1, "tokens", "Tokens of each later pass.", scale="log"
)
STYLES = {"rope_parameters": "transformers 5", "rope_scaling": "before 5"}
YARN_HANDLES = ("beta_fast", "beta_slow", "mscale", "mscale_all_dim")
OWN_HANDLES = {"yarn": YARN_HANDLES, "llama3": ("low_freq_factor", "high_freq_factor")}


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, the model that sets every handle, the methods, and their own numbers."""
    yield params.Choice("part", "Part", "spectrum", tuple(PARTS), tuple(PARTS.values()), "")
    names = tuple(params.Said(name.removesuffix("-hf")) for name in MODELS)
    yield params.Choice("model", "Model", "Llama-3.1-8B-Instruct", MODELS, names,
                        "A released model; choosing one moves all handles.")  # fmt: skip
    own, trained = rotary(v["model"]), presets.get(v["model"]).original_max_position_embeddings
    assert own
    released = own.scaling.rope_type
    pinned = "yarn" if released == "default" else released
    yield params.Choice("pinned", "Method", pinned, tuple(LABELS), tuple(LABELS.values()),
                        "The method that stands out.")  # fmt: skip
    others = tuple(name for name in LABELS if name != "default")
    yield params.Several("methods", "Beside it", SHOWN, others,
                         tuple(LABELS[name] for name in others), "Drawn beside it.")  # fmt: skip
    has = own.scaling
    factor = float(getattr(has, "factor", None) or (has.stretch() if released != "default" else 8))
    label = "Its factor" if v["part"] == "units" else "Factor"  # of what the knob is on top of
    yield replace(params.FACTOR, label=label, default=factor)
    yield replace(params.TRAINED_CONTEXT, label="Trained", high=1 << 20, default=trained)
    yield replace(params.ROPE_THETA, default=own.rope.rope_theta)
    yield replace(params.HEAD_DIM, name="rotary_dim", label="Rotary dim", unit="",
                  default=own.rope.rotary_dim,
                  help="Dimensions of a head that rotate, two to a pair.")  # fmt: skip
    edge = extrapolation.first_never_completed(own.rope, trained)
    yield params.PAIR.within(high=v["rotary_dim"] // 2 - 1, default=edge)
    yield replace(SEQ_LEN, default=round(factor * trained))

    def default(name: str, usual: float) -> float:
        return float(getattr(has, name, None) or usual)

    yield replace(params.BETA_FAST, default=default("beta_fast", 32.0))
    yield replace(params.BETA_SLOW, default=default("beta_slow", 1.0)).within(high=v["beta_fast"])
    yield replace(MSCALE, default=default("mscale", 0.0))
    yield replace(MSCALE_ALL_DIM, default=default("mscale_all_dim", 0.0))
    truncate = "yes" if getattr(has, "truncate", True) else "no"
    yield params.Choice("truncate", "truncate", truncate, ("yes", "no"),
                        ("truncate: true", "truncate: false"),
                        "Whether the ends of YaRN's ramp are rounded outwards to whole pairs."
                        )  # fmt: skip
    yield params.Choice("ramp", "Ramp", "code", ("code", "both"),
                        ("code’s ramp", "and the paper’s"),
                        "Released code ramps over the pairs, the paper over turns.")  # fmt: skip
    yield replace(HIGH_FREQ_FACTOR, default=default("high_freq_factor", 4.0))
    yield replace(LOW_FREQ_FACTOR, default=default("low_freq_factor", 1.0)).within(
        high=v["high_freq_factor"]
    )
    lists = v["model"] if v["model"] in LISTS else LISTS[0]
    yield params.Choice("lists", "Lists of", lists, LISTS, LISTS,
                        "Whose searched divisors LongRoPE takes.")  # fmt: skip
    yield params.Choice("show", "Values", "wavelength", ("wavelength", "inv_freq"),
                        ("wavelength", "inv_freq"), "")  # fmt: skip
    yield LOOKED_FOR
    growing = v["pinned"] if v["pinned"] in GROWING else GROWING[0]
    yield params.Choice("growing", "Method", growing, GROWING,
                        tuple(LABELS[name] for name in GROWING),
                        "A method whose frequencies go by the length.")  # fmt: skip
    engines = cache_timeline.ENGINES[: 3 if v["growing"] == "dynamic" else 4]
    yield params.Choice("engine", "Program", "huggingface", engines,
                        tuple(ENGINES[name] for name in engines),
                        "Whose rule chooses the frequencies.")  # fmt: skip
    yield params.Choice("policy", "Keys are cached", "rotated", cache_timeline.POLICIES,
                        tuple(POLICIES[name] for name in cache_timeline.POLICIES),
                        "What is kept of a key.")  # fmt: skip
    yield replace(SEQ_LEN, name="total", default=2 * trained,
                  help="Tokens in the end; the last of them is the query.")  # fmt: skip
    yield PROMPT.within(high=v["total"], default=trained // 2)
    yield STEP
    knobs = tuple(one.name for one in rope_units.UNITS if v["rotary_dim"] >= 4
                  or one.kind == "positions")  # fmt: skip
    usual = "alpha_value" if "alpha_value" in knobs else knobs[0]
    yield params.Choice(
        "unit",
        "Knob",
        usual,
        knobs,
        tuple(map(params.Said, knobs)),
        "The setting that is converted.",
    )
    yield knob(rope_units.unit(v["unit"]), RoPE(v["rotary_dim"], v["rope_theta"]))
    yield params.Choice("style", "Hugging Face", "rope_parameters", tuple(STYLES),
                        tuple(STYLES.values()), "")  # fmt: skip
    below = {name: params.Said(say("on top of {method}", method=say(label)))
             for name, label in LABELS.items()}  # fmt: skip
    below["default"] = params.Said(say("on top of nothing"))
    yield params.Choice("stack", "On top of", released, tuple(below), tuple(below.values()),
                        "A scaling that is there already, with the factor below.")  # fmt: skip


def knob(unit: rope_units.Unit, rope: RoPE) -> params.Number:
    """The handle of a knob, from no scaling to 64 times, first at 4."""
    ends = sorted((unit.value(1.0, rope), unit.value(64.0, rope)))
    name, usual = params.Said(unit.name), unit.value(4.0, rope)
    return params.Number("value", name, usual, ends[0], ends[1], 0.0001, "",
                         unit.multiplies, scale="log")  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What the handles mean together; one field per parameter, by its name."""

    part: str
    model: str
    pinned: str
    methods: tuple[str, ...]
    factor: float
    original_max_position_embeddings: int
    rope_theta: float
    rotary_dim: int
    pair: int
    seq_len: int
    beta_fast: float
    beta_slow: float
    mscale: float
    mscale_all_dim: float
    truncate: str
    ramp: str
    high_freq_factor: float
    low_freq_factor: float
    lists: str
    show: str
    distance: int
    growing: str
    engine: Engine
    policy: Policy
    total: int
    prompt: int
    step: int
    unit: str
    value: float
    style: export.Style
    stack: str

    @cached_property
    def plain(self) -> RoPE:
        return RoPE(self.rotary_dim, self.rope_theta)

    @property
    def trained(self) -> int:
        return self.original_max_position_embeddings

    @property
    def pairs(self) -> int:
        return self.rotary_dim // 2

    def method(self, name: str, **changes: Any) -> RopeScaling:
        """The method of that name under these handles."""
        searched = presets.record(self.lists)["rope"]
        # Dynamic NTK computes with the trained context here, LongRoPE with the one to be read.
        context = self.trained if name == "dynamic" else round(self.factor * self.trained)
        settings = {
            "factor": self.factor, "original_max_position_embeddings": self.trained,
            "max_position_embeddings": context, "beta_fast": self.beta_fast,
            "beta_slow": self.beta_slow, "mscale": self.mscale or None,
            "mscale_all_dim": self.mscale_all_dim or None, "truncate": self.truncate == "yes",
            "high_freq_factor": self.high_freq_factor, "low_freq_factor": self.low_freq_factor,
            "short_factor": searched["short_factor"], "long_factor": searched["long_factor"],
        }  # fmt: skip
        return scaling(name, **(settings | changes))

    @cached_property
    def named(self) -> dict[str, str]:
        """What is drawn, and what it is called: plain RoPE first, the pinned one last."""
        others = [name for name in self.methods if name != self.pinned]
        found = {name: say(LABELS[name]) for name in dict.fromkeys(["default", *others])}
        found.pop(self.pinned, None)
        if self.ramp == "both":
            found["paper"] = say("YaRN, the paper’s ramp")
        return found | {self.pinned: say(LABELS[self.pinned])}

    @cached_property
    def scaled(self) -> dict[str, RopeScaling]:
        """The methods that this RoPE can have."""
        found = {}
        for name in self.named:
            try:
                one = (
                    self.method("yarn", ramp_over="turns") if name == "paper" else self.method(name)
                )
                one.frequencies(self.plain, self.seq_len)
            except params.InvalidParameterError as problem:
                self.why_not[name] = why(name, problem)
                continue
            found[name] = one
        return found

    @cached_property
    def why_not(self) -> dict[str, str]:
        """Why a method is left out."""
        return {}

    @cached_property
    def frequencies(self) -> dict[str, Frequencies]:
        """Frequencies and attention factor of each at the length."""
        return {
            name: one.frequencies(self.plain, self.seq_len) for name, one in self.scaled.items()
        }

    @cached_property
    def effects(self) -> dict[str, Effect]:
        return {name: effect(one, self.plain, self.seq_len) for name, one in self.scaled.items()}

    @cached_property
    def strong(self) -> str:
        """The method that stands out: the pinned one, or none if this RoPE cannot have it."""
        return self.pinned if self.pinned in self.scaled else "default"

    @property
    def label(self) -> str:
        return say(LABELS[self.strong])

    @property
    def called(self) -> str:
        """The same in the middle of a sentence."""
        return no_scaling(self.strong, self.label)

    def usable(self, name: str) -> float:
        return extrapolation.usable_context(self.plain, self.scaled[name], self.trained)

    def series(self, values: Callable[[str], Any]) -> list[Series]:
        """One for each method."""
        return [
            Series(name, self.named[name], values(name), name == self.strong)
            for name in self.scaled
        ]


def why(name: str, problem: params.InvalidParameterError) -> str:
    """Why this RoPE cannot have a method."""
    if name == "longrope" and problem.values.get("name") in ("short_factor", "long_factor"):
        return say("{complaint}; its lists fit a rotary dim of {dim}, as Phi models have",
                   complaint=complaint(problem), dim=2 * int(str(problem.values["got"]))
                   )  # fmt: skip
    return complaint(problem)


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    part = {"spectrum": spectrum, "angles": angles, "attention": attention, "units": units,
            "cache": cache, "take": take}[scene.part]  # fmt: skip
    _ = scene.scaled  # says which methods this RoPE cannot have
    notice = ""
    if scene.pinned in scene.why_not:
        notice = say("{method} is not drawn: {why}.", method=scene.named[scene.pinned],
                     why=scene.why_not[scene.pinned])  # fmt: skip
        notice = f'<p class="pv-notice" role="alert">{notice}</p>'
    return {"notice": live.drawing(notice), **part(scene)}


def told(caption: str, *formulas: str) -> live.Picture:
    """What to look for, and the formulas with their numbers."""
    lines = "".join(f'<p class="pv-formula pv-scaling-formula">{one}</p>' for one in formulas)
    return live.drawing(f'<p class="pv-caption">{caption}</p>{lines}')


def charted(
    key: str, title: str, note: str, plot: dict[str, Any],
    legend: Sequence[tuple[str, str, str]] = (), *, said: str = "",
) -> live.Slots:  # fmt: skip
    """A chart under its heading; the text alternative has the note, and what else is ``said``."""
    alt = clauses(filter(None, (valued(title, plain_text(note)), said)))
    heading = style.heading(title, note, legend)
    return {key: live.figure(plot, alt), f"{key}:head": live.drawing(heading)}


def context(count: float) -> str:
    """A usable context in words."""
    if math.isinf(count):
        return say("no limit")
    # Room for rounding: position interpolation by 7 of 512 tokens reaches 3,584, not 3,583.
    return number(math.floor(count * (1 + 1e-9)))


def no_scaling(name: str, label: str) -> str:
    """What a method is called in the middle of a sentence."""
    return say("no scaling") if name == "default" else label


# --------------------------------------------------------------------------------------- spectrum


def spectrum(scene: Scene) -> live.Slots:
    """Wavelength and slowdown of each pair, the bands, and the numbers of each method."""
    effects, strong = scene.effects, scene.strong
    as_frequency = scene.show == "inv_freq"
    waves = scene.series(
        lambda name: scene.frequencies[name][0] if as_frequency else effects[name].wavelength_after
    )
    slower = scene.series(lambda name: effects[name].ratio)[1:]
    if strong == "default":
        slower = scene.series(lambda name: effects[name].ratio)
    own = effects[strong]
    told_pair = say("pair {pair}: {before} → {after} tokens a turn", pair=scene.pair,
                    before=tokens(float(own.wavelength_before[scene.pair])),
                    after=tokens(float(own.wavelength_after[scene.pair])))  # fmt: skip
    found = rotary(scene.model)
    top = 12 if found and found.rope.rope_theta > 2.5e6 else 9  # stands while the base is dragged
    slowed = say("{method}: pair {pair} × {ratio}", method=scene.label, pair=scene.pair,
                 ratio=times(float(own.ratio[scene.pair])))  # fmt: skip
    drawn = {
        **charted(
            "spectrum", say("Every pair before and after"), told_pair,
            pictures.spectrum(waves, scene.pair, scene.trained, scene.factor * scene.trained,
                              as_frequency=as_frequency, top=top, _=say),
            pictures.legend(waves), said=counted(scene),
        ),
        **charted(
            "ratios", say("How many times slower"), slowed,
            pictures.ratios(slower, scene.pair, scene.factor,
                            high=5000 if "dynamic" in scene.scaled else 80, _=say),
            pictures.legend(slower),
        ),
        "strip": live.drawing(
            pictures.strip(own.kind.tolist(), strong, scene.pair, counted(scene), say)
        ),
        "table": live.drawing(table(scene)),
        "table:head": table_head(),
        "caption": told(caption(scene), *formulas(scene)),
    }  # fmt: skip
    shares: list[Series] = []
    for name, one in scene.scaled.items():
        ramp = getattr(one, "ramp", None)
        if ramp:
            shares.append(Series(name, scene.named[name], ramp(scene.plain), name == strong))
    note = ends(scene)
    title = say("Ramp: how much of a pair is divided")
    if shares:
        return drawn | charted("ramps", title, note, pictures.ramps(shares, scene.pair, _=say))
    said = say("PI and NTK have no ramp; add YaRN or Llama 3 to see theirs.")
    return drawn | {"no ramps": live.drawing(f'<p class="pv-caption">{said}</p>')}


def times(ratio: float) -> str:
    """A slowdown, to four figures."""
    return f"{ratio:.4g}" if ratio < 1e4 else number(ratio)


def counts(scene: Scene, name: str) -> list[int]:
    """Pairs kept, blended, stretched."""
    return [int((scene.effects[name].kind == kind).sum()) for kind in pictures.KINDS]


def counted(scene: Scene) -> str:
    """The bands of the method that stands out, in words."""
    kept, blended, stretched = counts(scene, scene.strong)
    return say("{method}: {kept} of {pairs} kept, {blended} blended, {stretched} stretched",
               method=scene.label, kept=kept, blended=blended, stretched=stretched,
               pairs=several(scene))  # fmt: skip


def several(scene: Scene) -> str:
    """How many pairs there are."""
    return style.counted(scene.pairs, "1 pair", "{count} pairs", say)


def table(scene: Scene) -> str:
    """Numbers of each method, and why one has none."""
    head = (say("method"), say("kept"), say("blended"), say("stretched"), say("cos, sin ×"),
            say("scores ×"), say("usable, tokens"))  # fmt: skip
    rows = []
    for name, label in sorted(
        scene.named.items(), key=lambda one: [*LABELS, "paper"].index(one[0])
    ):
        if name in scene.why_not:
            rows.append(Row(name, label, (), why_not=scene.why_not[name]))
            continue
        size = scene.frequencies[name][1]
        rows.append(
            Row(name, label, (*map(str, counts(scene, name)), f"{size:.4f}", f"{size**2:.4f}",
                              context(scene.usable(name))), name == scene.strong)
        )  # fmt: skip
    return pictures.methods(head, rows, say)


def table_head() -> live.Picture:
    """Title of the table."""
    return live.drawing(
        style.heading(say("Methods side by side"), say("click one and it stands out"))
    )


def ends(scene: Scene) -> str:
    """Where the pinned method's ramp begins and ends."""
    one = scene.scaled.get("yarn")
    apart = ""
    if one is not None and "paper" in scene.scaled:
        code, paper = scene.frequencies["yarn"][0], scene.frequencies["paper"][0]
        most = float((abs(code - paper) / code.clip(min=1e-300)).max())
        apart = say("; the paper’s up to {most} % away", most=number(100 * most))
    if one is not None and scene.strong != "llama3":
        low, high = one.correction_range(scene.plain)  # type: ignore[attr-defined]
        return say("YaRN: from pair {low} to {high}", low=f"{low:.5g}", high=f"{high:.5g}") + apart
    if "llama3" in scene.scaled:
        return say("Llama 3: turns from {high} down to {low}", high=number(scene.high_freq_factor),
                   low=number(scene.low_freq_factor)) + apart  # fmt: skip
    return ""


def caption(scene: Scene) -> str:
    """What to look for in the spectrum."""
    strong, own = scene.strong, scene.effects[scene.strong]
    size = scene.frequencies[strong][1]
    kept, blended, stretched = counts(scene, strong)
    slowest = times(float(own.ratio[-1]))
    sentence = {
        "default": say("Plain RoPE keeps every pair; pair 0 is the fastest. Choose a method."),
        "linear": say("PI divides every frequency alike: every pair turns {slowest} times slower, "
                      "the fast ones that tell neighbours apart included."),
        "ntk": say("NTK keeps pair 0 and slows each next one a little more, the last {slowest} "
                   "times; the pairs between are slowed less than the factor asks."),
        "dynamic": say("At {length} tokens dynamic NTK is NTK by {stretch}: nothing changes up to "
                       "the {trained} trained tokens, then the base grows with the length."),
        "yarn": say("YaRN keeps {kept} of {pairs}, stretches {stretched} and blends {blended} "
                    "between."),
        "llama3": say("Llama 3’s rule keeps {kept} of {pairs}, stretches {stretched} and "
                      "blends {blended} by their turns; it is NTK-by-parts, not YaRN, and leaves "
                      "the size of scores alone."),
        "longrope": say("At {length} tokens LongRoPE takes its {which} list: every pair has a "
                        "divisor of its own, found by search. At exactly {trained} it is still the "
                        "short one."),
    }[strong]  # fmt: skip
    if size != 1.0:
        sentence += " " + say("Cos and sin are multiplied by {size}, so scores by {gain}.",
                              size=f"{size:.4f}", gain=f"{size**2:.4f}")  # fmt: skip
    return sentence.format(
        pairs=several(scene), slowest=slowest, length=number(scene.seq_len), kept=kept,
        blended=blended, stretched=stretched, trained=number(scene.trained),
        stretch=times(scene.scaled[strong].stretch(scene.seq_len)),
        which=say("long") if scene.seq_len > scene.trained else say("short"),
    )  # fmt: skip


def formulas(scene: Scene) -> list[str]:
    """How the pinned method computes the marked pair, and its attention factor."""
    strong, i = scene.strong, scene.pair
    theta = float(scene.frequencies[strong][0][i])
    size = scene.frequencies[strong][1]
    usual = {"b": scene.rope_theta, "i": i, "d": scene.rotary_dim}
    if strong == "default":
        return [pictures.PLAIN.markup(say, theta, **usual)]
    if strong == "linear":
        return [pictures.LINEAR.markup(say, theta, **usual, s=scene.factor)]
    if strong == "ntk":
        return [pictures.NTK.markup(say, theta, **usual, s=scene.factor)]
    if strong == "dynamic":
        length = max(scene.seq_len, scene.trained)
        stretch = scene.scaled[strong].stretch(scene.seq_len)
        return [
            pictures.DYNAMIC.markup(say, stretch, f=scene.factor, l=length, L=scene.trained),
            pictures.NTK.markup(say, theta, **usual, s=stretch),
        ]
    if strong == "longrope":
        ratio = float(scene.effects[strong].ratio[i])
        return [
            pictures.LONGROPE.markup(say, theta, **usual, e=ratio),
            pictures.LONGROPE_FACTOR.markup(say, size, s=scene.factor, L=scene.trained),
        ]
    ramp = float(scene.scaled[strong].ramp(scene.plain)[i])  # type: ignore[attr-defined]
    lines = [pictures.BLEND.markup(say, theta, **usual, r=ramp, s=scene.factor)]
    if strong == "llama3":
        turns = scene.trained / float(scene.effects[strong].wavelength_before[i])
        if scene.low_freq_factor < scene.high_freq_factor:
            lines.append(pictures.OVER_TURNS.markup(say, ramp, t=turns, low=scene.low_freq_factor,
                                                    high=scene.high_freq_factor))  # fmt: skip
        return lines
    low, high = scene.scaled[strong].correction_range(scene.plain)  # type: ignore[attr-defined]
    lines.append(pictures.OVER_PAIRS.markup(say, ramp, i=i, low=low, high=high))
    if not (scene.mscale and scene.mscale_all_dim):
        lines.append(pictures.YARN_FACTOR.markup(say, size, k=1, s=scene.factor))
    else:
        above, below = (pictures.YARN_FACTOR.value(k=k, s=scene.factor)
                        for k in (scene.mscale, scene.mscale_all_dim))  # fmt: skip
        lines.append(pictures.YARN_RATIO.markup(say, size, m_above=above, m_below=below))
    return lines


# ----------------------------------------------------------------------------------------- angles


def angles(scene: Scene) -> live.Slots:
    """Angles needed against angles seen, plain and pinned, and how many are new by length."""
    strong, length = scene.strong, scene.seq_len
    step = -(-length // POSITIONS)
    places = range(0, length, step)
    markup, beyond = "", {}
    rasters: dict[str, Any] = {}
    for name in dict.fromkeys(("default", strong)):
        inv_freq = scene.frequencies[name][0] if name in scene.frequencies else scene.plain.inv_freq
        use = extrapolation.arc_use(scene.plain, inv_freq, scene.trained, [n + 1 for n in places])
        beyond[name] = int(extrapolation.unseen(scene.plain, inv_freq, scene.trained, length).sum())
        template = "{method}: {count} pairs leave the angles they met"
        if beyond[name] == 1:
            template = "{method}: 1 pair leaves the angles it met"
        label = say(template, method=capital(no_scaling(name, say(LABELS[name]))),
                    count=beyond[name])  # fmt: skip
        one, raster = pictures.angles(
            name,
            use,
            use > 1.0,
            step,
            scene.pair,
            name,
            f"{label}; {token_count(length, say)}",
            say,
        )
        markup += f"<div><p>{label}</p>{one}</div>"
        rasters |= raster
    limits = (scene.usable(name) / scene.trained for name in scene.scaled)
    multiples = extrapolation.multiples(1.0, *limits, count=MULTIPLES)
    shares = scene.series(
        lambda name: extrapolation.unseen_share(
            scene.plain, scene.scaled[name], scene.trained, scene.trained * multiples
        )
    )
    usable = scene.usable(strong)
    own = scene.frequencies[strong][0]
    slow = int(extrapolation.never_completed(scene.plain, scene.trained).sum())
    note = say("{method} reads {count} tokens before a pair leaves them", method=scene.called,
               count=context(usable)) if slow else say("every pair completed a turn")  # fmt: skip
    met = scene.trained * float(scene.plain.inv_freq[scene.pair])
    needed = length * float(own[scene.pair])
    whole = 2 * math.pi
    if met >= whole:
        about = say("Pair {pair} completed {turns} turns in training, so it has met every angle.",
                    pair=scene.pair, turns=number(met / whole))  # fmt: skip
    else:
        about = say(
            "Pair {pair} met angles up to {met} rad in training; {length} tokens need {needed} "
            "with {method}, {share} % of them.",
            pair=scene.pair, met=number(met), needed=number(needed), length=number(length),
            method=scene.called, share=number(100 * needed / met),
        )  # fmt: skip
    template = "{slow} of {pairs} never complete a turn within {trained} tokens."
    if slow == 1:
        template = "{slow} of {pairs} never completes a turn within {trained} tokens."
    first = say(template, slow=slow, pairs=several(scene), trained=number(scene.trained))
    template = ("Hatched is what they never met: {before} of them at {length} tokens without "
                "scaling, {after} with {method}.")  # fmt: skip
    if strong == "default":
        template = "Hatched is what they never met: {before} of them at {length} tokens."
    first += " " + say(template, before=beyond["default"], after=beyond[strong],
                       length=number(length), method=scene.label)  # fmt: skip
    return {
        "maps": live.drawing(f'<div class="pv-scaling-two">{markup}</div>', rasters),
        "maps:head": live.drawing(
            style.heading(say("Angles needed, as a share of those met in training"),
                          say("pale: few, full colour: all, hatched: never met"))
        ),
        **charted(
            "shares", say("Unseen angles by length"), note,
            pictures.unseen_shares(multiples, shares, length / scene.trained,
                                   usable / scene.trained, strong, _=say),
            pictures.legend(shares),
        ),
        "table": live.drawing(table(scene)),
        "table:head": table_head(),
        "caption": told(f"{first} {about}"),
    }  # fmt: skip


# -------------------------------------------------------------------------------------- attention


def attention(scene: Scene) -> live.Slots:
    """Scores by distance with q = k, and of a head that learned to look back."""
    reach = FAR * scene.trained
    starts = distance.bins(reach, POINTS, "log")[:-1]  # the last one joins the bin before
    same = scene.series(
        lambda name: distance.mean_scores(
            scene.frequencies[name][0], starts, reach, scene.frequencies[name][1]
        )
    )
    count = pictures.FARTHEST
    near = distance.bins(count, 2 * POINTS, "log")[:-1]
    curves = {
        name: distance.learned_scores(scene.plain, inv_freq, scene.distance, count, size)
        for name, (inv_freq, size) in scene.frequencies.items()
    }
    learned = scene.series(lambda name: distance.envelope(curves[name], near)[1])
    peaks = {name: int(curve.argmax()) for name, curve in curves.items()}
    strong = scene.strong
    size = scene.frequencies[strong][1]
    top = max(float(one.values.max()) for one in (*same, *learned))
    high = 24.0 if scene.rotary_dim <= 128 else 36.0
    high *= 1 if top <= high else 4  # an unusual mscale
    at = [float(one.values[abs(starts - scene.trained).argmin()]) for one in same if one.strong]
    note = say("{method}: {start} at distance 0, {far} around {trained} tokens", method=scene.label,
               start=number(float(next(one for one in same if one.strong).values[0])),
               far=number(at[0]), trained=number(scene.trained))  # fmt: skip
    peak_note = say("{method} looks {peak} back", method=scene.called,
                    peak=token_count(peaks[strong], say))  # fmt: skip
    moved = [
        say("{method} {peak}", method=no_scaling(name, scene.named[name]), peak=number(peak))
        for name, peak in peaks.items() if name != strong
    ]  # fmt: skip
    told_peaks = say(
        "A head learned to look {distance} back; its weights stay, the angles change under them. "
        "With {method} it looks {peak} back; with {others}.",
        distance=token_count(scene.distance, say), method=scene.called, peak=number(peaks[strong]),
        others=joined(moved),
    ) if moved else say("A head learned to look {distance} back; it looks {peak} back.",
                        distance=token_count(scene.distance, say),
                        peak=number(peaks[strong]))  # fmt: skip
    told_size = say("Left, each point is the mean score of all distances up to the next; right, "
                    "the highest.")  # fmt: skip
    grown = [pictures.GAIN.markup(say, size**2, m=size)] if size != 1.0 else []
    marks = [(scene.trained, say("trained {count}", count=tokens(scene.trained)), "quiet")]
    if scene.seq_len < reach:
        marks.append((scene.seq_len, say("length {count}", count=tokens(scene.seq_len)), "ink"))
    return {
        **charted(
            "same", say("Attention by distance, q = k"), note,
            pictures.by_distance(starts, same, marks, reach=reach, high=high,
                                 title=say("mean score, q = k"), _=say),
            pictures.legend(same),
        ),
        **charted(
            "learned", say("A head that learned to look back"), peak_note,
            pictures.by_distance(
                near, learned,
                [(scene.distance, say("learned {count}", count=scene.distance), "quiet"),
                 (peaks[strong], say("now {count}", count=peaks[strong]), strong)],
                reach=pictures.FARTHEST, high=high, title=say("highest score"), _=say,
            ),
            pictures.legend(learned),
        ),
        "caption": told(f"{told_peaks} {told_size}", *grown),
    }  # fmt: skip


# ------------------------------------------------------------------------------------------ cache


def timeline(scene: Scene) -> Timeline:
    """The sequence that grows."""
    scene.method(scene.growing).frequencies(scene.plain, scene.total)
    return Timeline(scene.plain, scene.method(scene.growing), scene.prompt, scene.total, scene.step,
                    scene.engine, scene.policy)  # fmt: skip


def measure(**values: Any) -> Iterator[live.Slots]:
    """The largest error among all keys, where the pictures look at some of them."""
    scene = Scene(**values)
    if scene.part != "cache" or scene.total > ALL_KEYS:
        return
    try:
        line = timeline(scene)
    except params.InvalidParameterError:  # the picture says why
        return
    found = (0.0, 0, 0.0)
    for found in line.worst():  # noqa: B007 - the last one counts
        yield {}
    drawn = cache(scene, found)
    yield {key: drawn[key] for key in ("caption", "scores:head", "errors:head")}


def cache(scene: Scene, found: tuple[float, int, float] | None = None) -> live.Slots:
    """A sequence that grows: what rotated each cached key, and what that does to scores.

    ``found`` is the largest error of all keys, its distance and the largest one of random scores.
    """
    name = scene.growing
    try:
        line = timeline(scene)
    except params.InvalidParameterError as problem:
        said = say("{method} cannot be shown: {why}.", method=say(LABELS[name]),
                   why=why(name, problem))  # fmt: skip
        return {"caption": live.drawing(f'<p class="pv-notice" role="alert">{said}</p>')}
    total, last = scene.total, scene.total - 1
    query = replace(line, policy="unrotated")  # its keys have the query's frequencies
    places = sorted({*range(0, total, -(-total // KEYS)), last, min(scene.prompt, last)})
    if name == "dynamic":
        by = line.base(places) / scene.rope_theta
        now = float(query.base([last])[0]) / scene.rope_theta
        note = say("base {first} for the first key, {now} for the query",
                   first=number(float(by[0] * scene.rope_theta)),
                   now=number(now * scene.rope_theta))  # fmt: skip
    else:
        by = (line.lists(places) == "long").astype(float)
        now = float(query.lists([last])[0] == "long")
        note = say("{list} list for the first key, {now} list for the query",
                   list=say("long") if by[0] else say("short"),
                   now=say("long") if now else say("short"))  # fmt: skip
    by_ratio = name == "dynamic"  # LongRoPE's few wrong keys would stand in the last bin
    errors = line.errors(scale="log" if by_ratio else "linear")
    largest, where = errors.largest if found is None else found[:2]
    own = scene.method(name).frequencies(scene.plain, total)[1] ** 2
    sizes = errors.mean_square() / own
    worst = float(errors.rms.max() if found is None else found[2]) / own
    among = ""
    if found is None and len(errors.distance) < total:
        among = say(" of {count} keys looked at", count=number(len(errors.distance)))
    if largest < 1e-6:
        caption = say("Every key was rotated by the frequencies that the query has now: no score "
                      "is off.") + " " + why_right(scene)  # fmt: skip
    else:
        caption = say(
            "Keys stay as they were rotated when they came, the query comes with the frequencies "
            "of {total} tokens. The worst{among}: {where} back, the score with the same vector is "
            "off by {largest}, where a perfect match has {match}. Of random vectors the error is "
            "up to {worst} times a usual score; at 1.41 (√2) cached and right score would have "
            "nothing in common.",
            total=number(total), where=token_count(where, say), largest=number(largest),
            match=number(float(errors.consistent[0])), worst=number(worst), among=among,
        )  # fmt: skip
    error_note = say("largest error{among} {largest} at distance {where}, q = k", among=among,
                     largest=number(largest), where=number(where))  # fmt: skip
    return {
        **charted(
            "timeline", say("What rotated each cached key"), note,
            pictures.cached_by(places, by, now, scene.prompt, total, name, _=say),
            [(say("cached key"), name, "solid"), (say("query, now"), "ink", "dash")],
        ),
        **charted(
            "scores", say("Scores of the last query"), error_note,
            pictures.cached_scores(errors.bins, errors.envelope(errors.cached),
                                   errors.envelope(errors.consistent), name, total, _=say),
            [(say("key as it is cached"), name, "solid"),
             (say("consistent cache"), "default", "solid")],
        ),
        **charted(
            "errors", say("Error of a random score"),
            say("up to {worst} times its size{among}", worst=number(worst), among=among),
            pictures.error_sizes(errors.bins, sizes, name, total, _=say),
        ),
        "caption": told(
            caption,
            *([pictures.DYNAMIC.markup(say, scene.method(name).stretch(total), f=scene.factor,
                                       l=max(total, scene.trained), L=scene.trained)]
              if name == "dynamic" and scene.engine not in FIXED else []),
        ),
    }  # fmt: skip


def why_right(scene: Scene) -> str:
    """Why no score is off."""
    if scene.policy == "unrotated":
        return say("Keys wait in the cache unrotated, and all are rotated at each step.")
    if scene.policy == "recomputed":
        return say("The cache is thrown away and computed again when the frequencies change.")
    if scene.engine in FIXED:
        return say("{engine} chooses once, when it starts; so short texts are stretched as well.",
                   engine=ENGINES[scene.engine])  # fmt: skip
    if scene.prompt == scene.total and scene.total > scene.trained:
        return say("All came in one pass: drag the prompt down.")
    return say("Nothing changed on the way: drag the prompt down, or the length past {trained} "
               "tokens.", trained=number(scene.trained))  # fmt: skip


# ------------------------------------------------------------------------------------------ units


def units(scene: Scene) -> live.Slots:
    """One knob in terms of the others, and what it does on top of another scaling."""
    rope, given = scene.plain, rope_units.unit(scene.unit)
    factor = given.factor(scene.value, rope)
    rows = [
        pictures.Knob(
            one.unit.name, one.unit.engine, one.value, setting(one.value), say(one.unit.multiplies),
            say(one.unit.direction), context(one.usable), one.unit.name == scene.unit, one.same,
        )
        for one in rope_units.conversions(scene.unit, scene.value, rope, scene.trained)
    ]  # fmt: skip
    head = (say("setting"), say("value"), say("usable, tokens"), say("what it does"))
    own = given.scaling(scene.value, rope)
    sentences = []
    if not extrapolation.never_completed(rope, scene.trained).any():
        sentences.append(say("Every pair completes a turn within {trained} tokens, so no angle is "
                             "new at any length.", trained=number(scene.trained)))  # fmt: skip
    elif given.kind == "base":
        note = rope_units.alpha_note(factor, rope, scene.trained)
        told_note = capital(say(note.template, **note.values))
        sentences.append(say("{sentence}.", sentence=told_note))
    else:
        sentences.append(
            say("Slows every pair {factor} times, and reads {factor} times the trained {trained} "
                "tokens; a larger base (≈) only slows the last pair so much.",
                factor=number(factor), trained=number(scene.trained))
        )  # fmt: skip
    lines = [Series(own.rope_type, scene.unit, effect(own, rope).ratio, scene.stack == "default")]
    if scene.stack != "default":
        try:
            below = scene.method(scene.stack)
            both = rope_units.stacked(rope, below, own, scene.seq_len)
        except params.InvalidParameterError as problem:
            sentences.append(say("{sentence}.", sentence=complaint(problem)))
        else:
            under = say("{method} × {factor}, there before", method=say(LABELS[scene.stack]),
                        factor=number(scene.factor))  # fmt: skip
            shade = scene.stack if scene.stack != own.rope_type else "quiet"
            lines = [Series(shade, under, both.first), *lines,
                     Series("both", say("both"), both.ratio, True)]  # fmt: skip
            if both.note:
                values = {**both.note.values, "first": say(LABELS[scene.stack]),
                          "second": scene.unit}  # fmt: skip
                sentences.append(f"<strong>{say(both.note.template, **values)}.</strong>")
    told_pair = say("pair {pair}: × {ratio}", pair=scene.pair,
                    ratio=times(float(lines[-1].values[scene.pair])))  # fmt: skip
    exact = []
    if scene.rotary_dim >= 4:
        base = rope_units.unit("rope_theta").value(factor, rope)
        exact = [pictures.ALPHA.markup(say, base, b=scene.rope_theta, s=factor, d=scene.rotary_dim)]
    return {
        "knobs": live.drawing(pictures.knobs(head, rows, say)),
        "knobs:head": live.drawing(
            style.heading(say("One setting in terms of the others"),
                          say("click one to turn it; ≈ agrees in the slowest pair only"))
        ),
        **charted(
            "products", say("How many times slower"), told_pair,
            pictures.ratios(lines, scene.pair, None,
                            high=80 if scene.stack == "default" else 5000, _=say),
            pictures.legend(lines),
        ),
        "caption": told(" ".join(sentences), *exact),
        "yarn flags": live.drawing(yarn_flags(scene, factor)),
    }  # fmt: skip


def capital(sentence: str) -> str:
    """A sentence with a capital at its start, unless that is a name that is written so."""
    first = sentence.split(" ", 1)[0]
    return sentence if "_" in first else sentence[:1].upper() + sentence[1:]


def setting(value: float) -> str:
    """A setting's value, to six figures."""
    return f"{value:,.6g}" if 1e-3 <= value < 1e6 else f"{value:,.0f}"


def yarn_flags(scene: Scene, factor: float) -> str:
    """The same factor as YaRN, in llama.cpp's flags."""
    try:
        flags = export.llama_cpp_flags(
            export.Setting(scene.plain, scene.method("yarn", factor=round(factor, 4)),
                           scene.rotary_dim, max(round(factor * scene.trained), 1), scene.trained)
        )  # fmt: skip
    except params.InvalidParameterError as problem:
        return f'<p class="pv-caption">{complaint(problem)}.</p>'
    said = say("As YaRN by the same factor, in llama.cpp: larger --rope-scale reads further; "
               "--yarn-orig-ctx is the trained context; pairs turning more often than "
               "--yarn-beta-fast are kept, less often than --yarn-beta-slow divided.")  # fmt: skip
    parts = "".join(f"<span>{escape(one)}</span> " for one in re.split(" (?=--)", flags))
    shown = f'<p><code class="pv-scaling-flags">{parts}</code></p>'
    return f'<p class="pv-formula">{said}</p>{shown}'


# -------------------------------------------------------------------------------------- take away


def take(scene: Scene) -> live.Slots:
    """What is taken away, in a sentence; :func:`texts` has the texts."""
    size = scene.frequencies[scene.strong][1]
    said = say("{counted}; cos and sin × {size}, scores × {gain}. Drag: the texts below follow "
               "when you let go.", counted=counted(scene), size=f"{size:.4f}",
               gain=f"{size**2:.4f}")  # fmt: skip
    return {"caption": told(said)}


def taken(scene: Scene) -> export.Setting:
    """The pinned method over these handles, as it is exported."""
    found = rotary(scene.model)
    head_dim = max(found.head_dim or 0 if found else 0, scene.rotary_dim)
    asked = scene.trained if scene.strong == "default" else round(scene.factor * scene.trained)
    if is_released(scene):
        asked = presets.record(scene.model)["max_position_embeddings"] or asked
    return export.Setting(scene.plain, scene.scaled.get(scene.strong) or scene.method("default"),
                          head_dim, asked, scene.trained)  # fmt: skip


def is_released(scene: Scene) -> bool:
    """Whether this is the model's own setting, untouched."""
    told = {field.name: getattr(scene, field.name) for field in fields(scene)}
    first = VIEW.read({"model": scene.model})[0]
    own = rotary(scene.model)
    asked = ("factor", "original_max_position_embeddings", "rope_theta", "rotary_dim")
    return (
        own is not None
        and scene.strong == own.scaling.rope_type
        and all(told[name] == first[name] for name in asked)
    )


@dataclass(frozen=True)
class Texts:
    """What can be taken away as text; each with the sentence why there is none."""

    config: str
    why_no_config: str
    notes: tuple[str, ...]
    flags: str
    why_no_flags: str
    vllm: str
    why_no_vllm: str
    snippet: str
    table: str


def texts(scene: Scene) -> Texts:
    """The pinned method over these handles, in every form."""
    wanted = taken(scene)
    config = attempt(lambda: json.dumps(export.hf_config(wanted, scene.style), indent=2))
    notes = [
        say("{sentence}.", sentence=capital(say(note.template, **note.values)))
        for note in export.hf_notes(wanted)
    ]
    notes.append(say("Put these keys into the model’s own file; what else stands there about "
                     "positions, such as layer types, is left as it is."))  # fmt: skip
    return Texts(
        *config, tuple(notes) if config[0] else (),
        *attempt(lambda: export.llama_cpp_flags(wanted)),
        *attempt(lambda: export.vllm_command(wanted)),
        export.snippet(wanted, scene.seq_len),
        export.spectrum_csv(wanted, scene.seq_len, presets.reading(scene.model).layout or "half"),
    )  # fmt: skip


def attempt(text: Callable[[], str]) -> tuple[str, str]:
    """A text, or the sentence that says why there is none."""
    try:
        return text(), ""
    except params.InvalidParameterError as problem:
        return "", say("{sentence}.", sentence=complaint(problem))


# ------------------------------------------------------------------------------------------- page

SETTING = ("factor", "original_max_position_embeddings", "rope_theta", "rotary_dim")
HANDLES = {
    "spectrum": (*SETTING[:2], "pair", *SETTING[2:], "seq_len"),
    "angles": (*SETTING[:2], "pair", *SETTING[2:], "seq_len"),
    "attention": (*SETTING, "distance", "seq_len"),
    "cache": ("prompt", "total", "factor", "rope_theta", "step",
              "original_max_position_embeddings"),
    "units": ("value", "original_max_position_embeddings", "pair", "factor", "rope_theta",
              "rotary_dim"),
    "take": ("original_max_position_embeddings", "seq_len", "factor", "rope_theta", "rotary_dim"),
}  # fmt: skip


def code(**values: Any) -> dict[str, str]:
    """Scripts of the pictures, with the methods that this RoPE can have."""
    scene = Scene(**values)
    return snippets.scaling(
        scene.scaled, scene.plain, part=scene.part, trained=scene.trained, seq_len=scene.seq_len,
        back=scene.distance, show=scene.show,
    )  # fmt: skip


VIEW = live.View("scaling", parameters, draw, measure, code)
