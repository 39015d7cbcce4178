"""The view of copying: accuracy over length, and where the heads look."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from posviz import measured, params
from posviz.figures import copying as pictures
from posviz.figures import style
from posviz.figures.style import number, percent, percents
from posviz.models import replay
from posviz.models.copying import CHANCE, symbols_in
from posviz.ui import live
from posviz.ui.labels import ENCODINGS, METHODS
from posviz.ui.text import joined, say
from posviz.views.trained import BETA_FAST, METHOD, Trained, factor

MODELS = ("rope", "alibi", "rope_alibi")
LENGTHS = measured.COPY_LENGTHS
FAR = LENGTHS[-1]
ROWS = (2, 6)  # at each length of a setting that is not committed, at first and then

LENGTH = params.Number(
    "length", "Map length", 1024, LENGTHS[0], FAR, 64, "tokens",
    "Tokens of the whole sequence whose attention is shown: row, copy and two signs.",
)  # fmt: skip


def present() -> tuple[str, ...]:
    """Models that have been measured."""
    return tuple(model for model in MODELS if f"copying-{model}" in measured.families())


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The handles and choices; a method needs RoPE, and a seed has its own copying head."""
    there = present()
    yield params.Choice("model", "Model", "alibi" if "alibi" in there else there[0], there,
                        tuple(ENCODINGS[model] for model in there), "")  # fmt: skip
    seeds = tuple(name.rpartition("seed")[2] for name in measured.models(f"copying-{v['model']}"))
    yield params.Choice("seed", "Seed", seeds[0], seeds, tuple(map(params.Said, seeds)), "")
    yield METHOD
    yield factor(v["rope_type"], usual=4.0, high=16.0)
    yield BETA_FAST
    yield params.SLOPE_MULTIPLIER
    yield LENGTH
    learned = replay.replay(f"copying-{v['model']}-seed{v['seed']}")
    layers, heads = learned.attention.shape[1:3]
    layer, head = learned.strongest(-1)
    yield params.Number("head", "Head", layer * heads + head + 1, 1, layers * heads, 1, "",
                        "Whose attention the map shows, counted through all layers.")  # fmt: skip


@dataclass(frozen=True)
class Scene(Trained):
    """What the handles mean together; one field per parameter, by its name."""

    task = "copying"

    length: int
    head: int

    @property
    def place(self) -> tuple[int, int]:
        """Layer and head, counted from 0."""
        layer, head = divmod(self.head - 1, self.card["shape"]["num_heads"])
        return layer, head

    @property
    def label(self) -> str:
        """The setting in words."""
        return joined([say(ENCODINGS[self.model]), *self.changes])

    @property
    def colour(self) -> str:
        if self.method != "default":
            return self.method
        return "ink" if self.slopes != 1.0 else self.model

    @cached_property
    def known(self) -> measured.Accuracy | None:
        """The committed measurement of this setting, if there is one."""
        if self.slopes != 1.0:
            plain = self.method == "default"
            return measured.copying(self.name, "slopes", self.slopes) if plain else None
        if self.method != "yarn" or self.factor == 1.0 or self.beta_fast == measured.BETA_FAST:
            return measured.copying(self.name, self.method, self.factor)
        return measured.copying(self.name, "yarn_32", self.factor) if self.beta_fast == 32 else None


def draw(**values: Any) -> live.Slots:
    """Every picture; what has to be measured says so."""
    scene = Scene(**values)
    layer, head = scene.place
    return {
        "note:head": live.drawing(
            say("layer {layer}, head {head}", layer=layer + 1, head=head + 1)
        ),
        "note:length": live.drawing(
            say("{ratio}× trained", ratio=number(scene.length / scene.trained))
        ),
        "story": live.drawing(style.caption(story(scene.trained))),
        **curves(scene, scene.known),
        **looking(scene),
    }


def measure(**values: Any) -> Iterator[live.Slots]:
    """The curve of a setting that is not committed, and where the heads look."""
    from posviz.models import copy_measures, evaluate

    scene = Scene(**values)
    setting = replace(evaluate.decoder(scene.name).positions.setting,
                      scaling=scene.scaling, slope_multiplier=scene.slopes)  # fmt: skip
    accuracies: Iterator[measured.Accuracy] = iter(())
    if scene.known is None:
        accuracies = copy_measures.growing(scene.name, setting, ROWS)
    for found in islice(accuracies, len(LENGTHS)):
        yield curves(scene, found)
    shares = copy_measures.shares(scene.name, setting, scene.length)
    yield looking(scene, shares)
    weights = copy_measures.attention(scene.name, setting, scene.length, *scene.place,
                                      pictures.CELLS)  # fmt: skip
    yield looking(scene, shares, weights)
    for found in accuracies:
        yield curves(scene, found)


def curves(scene: Scene, found: measured.Accuracy | None) -> live.Slots:
    """Accuracy over length: all encodings as trained, and the chosen setting as far as known."""
    shown = []
    for model in present():
        band = measured.band(f"copying-{model}", quantity="accuracy")
        assert band is not None
        shown.append(pictures.Encoding(
            say(ENCODINGS[model]), model, band.lowest, band.mean, band.highest,
            dash=style.dash_of(model),
        ))  # fmt: skip
    chosen = None if found is None else (scene.label, scene.colour, found.accuracy)
    chart = pictures.accuracy(LENGTHS, shown, chosen, trained=scene.trained, chance=CHANCE,
                              length=scene.length, _=say)  # fmt: skip
    if found is None or len(found.lengths) < len(LENGTHS):
        note = caption = say("measuring…")
    else:
        note = say("thick: {label}; {rows} rows at each length", label=scene.label, rows=found.rows)
        note += say(", measuring more…") if found.rows < ROWS[-1] else ""
        at = dict(zip(found.lengths, zip(found.accuracy, found.error, strict=True), strict=True))
        caption = say(
            "Follow the thick line past {trained}, the longest sequence in training: {label}, "
            "seed {seed}, copies {within} of the symbols there, {twice} at {double} and {far} ± "
            "{error} at {end}.",
            trained=number(scene.trained), label=scene.label, seed=scene.seed,
            within=percent(at[scene.trained][0]), twice=percent(at[2 * scene.trained][0]),
            double=number(2 * scene.trained), far=percent(at[FAR][0]),
            error=percent(at[FAR][1]), end=number(FAR),
        )  # fmt: skip
    title = say("Copying over length")
    key = [(one.label, one.colour, one.dash) for one in shown]
    if chosen and scene.colour not in MODELS:
        key.append((scene.label, scene.colour, "solid"))
    return {
        "curves": live.figure(chart, f"{title}. {caption}"),
        "curves:head": live.drawing(style.heading(title, note, key)),
        "caption": live.drawing(style.caption(caption)),
    }


def looking(scene: Scene, shares: Any = None, weights: Any = None) -> live.Slots:
    """The heads, and the map of the chosen one."""
    (layer, head), shape = scene.place, scene.card["shape"]
    share = None if shares is None else float(shares[layer, head])
    told = {"layer": layer + 1, "head": head + 1, "count": number(scene.length),
            "share": "…" if share is None else percent(share)}  # fmt: skip
    caption = say(
        "A perfect copier looks along the dashed corridor, one row's length back. Layer {layer}, "
        "head {head} puts {share} of its weight exactly there.", **told,
    )  # fmt: skip
    alt = say("Attention map of layer {layer}, head {head} over {count} tokens: {share} of its "
              "weight is on the token to copy.", **told)  # fmt: skip
    note = say("share of weight on the token to copy, at {count} tokens", **told)
    return {
        "heads:head": live.drawing(style.heading(say("Where the heads look"), note)),
        "heads": live.drawing(
            pictures.heads(shape["num_layers"], shape["num_heads"], shares, scene.head, _=say)
        ),
        "map": live.drawing(
            pictures.attention_map(weights, symbols_in(scene.length), colour=scene.model, alt=alt,
                                   _=say)
        ),
        "map:caption": live.drawing(style.caption(caption)),
    }  # fmt: skip


def story(trained: int) -> str:
    """What the committed curves say in all seeds, and nothing that a seed contradicts."""
    if not {"alibi", "rope_alibi"} <= set(present()):
        return ""
    alibi, both = (
        measured.band(f"copying-{model}", quantity="accuracy") for model in ("alibi", "rope_alibi")
    )
    assert alibi is not None
    assert both is not None
    sentences = []
    ratio = FAR / trained
    if alibi.lowest[-1] > both.highest[-1]:
        sentences.append(say(
            "ALiBi alone copies {alibi} at {end} tokens, {ratio} times the trained length; with "
            "RoPE added in the same heads it is {both}.",
            alibi=percents(alibi.lowest[-1], alibi.highest[-1]), end=number(FAR),
            ratio=number(ratio), both=percents(both.lowest[-1], both.highest[-1]),
        ))  # fmt: skip
    reach = {
        method: band for method in METHODS
        if method in measured.METHODS
        and (band := measured.band("copying-rope_alibi", method, ratio, "accuracy"))
        and measured.compare("copying-rope_alibi", method, "default", ratio, FAR) == "higher"
    }  # fmt: skip
    if reach:
        best = max(reach, key=lambda method: float(reach[method].lowest[-1]))
        sentences.append(say(
            "Rescaling the RoPE part brings it back to {range}: {method} × {ratio}.",
            method=say(METHODS[best]), ratio=number(ratio),
            range=percents(reach[best].lowest[-1], reach[best].highest[-1]),
        ))  # fmt: skip
    at = LENGTHS.index(trained)
    steeper = {
        factor: band for factor in (0.5, 2.0)
        if (band := measured.band("copying-alibi", "slopes", factor, "accuracy"))
        and measured.compare("copying-alibi", "slopes", "default", factor, trained) == "lower"
    }  # fmt: skip
    if steeper:
        sentences.append(say(
            "Slopes are not free: at {trained} tokens ALiBi falls from {plain} to {changed}.",
            trained=number(trained), plain=percents(alibi.lowest[at], alibi.highest[at]),
            changed=say(" and ").join(
                say("{share} with slopes × {factor}", factor=number(factor),
                    share=percents(band.lowest[at], band.highest[at]))
                for factor, band in steeper.items()
            ),
        ))  # fmt: skip
    if sentences:
        sentences.append(say("So in each of {count} seeds.", count=min(alibi.seeds, both.seeds)))
    return " ".join(sentences)


VIEW = live.View("copying", parameters, draw, measure)
