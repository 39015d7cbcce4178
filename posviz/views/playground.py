"""The playground's view: five handles, three linked pictures."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posviz import alibi, distance, extrapolation, invariants, measured, params, presets, rope
from posviz.attention import softmax
from posviz.figures import playground as pictures
from posviz.figures import style
from posviz.figures.style import number, plain_text, tokens
from posviz.rope_scaling import Frequencies, NoScaling, RopeScaling, scaling
from posviz.ui import live
from posviz.ui.labels import METHODS
from posviz.ui.text import complaint, say, valued
from posviz.views import snippets

MEANINGS = {
    "default": "no scaling: the frequencies as trained",
    "linear": "position interpolation: every pair slowed by the factor",
    "ntk": "a larger base: the fastest pair stays, the slowest slows by the factor",
    "dynamic": "NTK whose base grows with the context, from the trained one on",
    "yarn": "fast pairs kept, slow ones slowed, a ramp between; scores grow a little",
    "llama3": "fast pairs kept, slow ones slowed, smooth between, by wavelength",
}
# The trained model whose loss stands beside the geometry.
TINY, TINY_THETA, TINY_HEAD_DIM = "names-rope-500", 500.0, 32


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The handles and choices; a model sets where each one stands."""
    names = tuple(params.Said(name.removesuffix("-hf")) for name in presets.PLAYGROUND)
    yield params.Choice("model", "Model", presets.PLAYGROUND[0], presets.PLAYGROUND, names,
                        "A released model; choosing one moves all handles.")  # fmt: skip
    model = presets.get(v["model"])
    yield params.Choice("rope_type", "Method", model.rope_type, tuple(METHODS),
                        tuple(METHODS.values()), "")  # fmt: skip
    yield replace(params.TRAINED_CONTEXT, default=model.original_max_position_embeddings)
    yield params.POSITION.within(high=4 * v["original_max_position_embeddings"])
    yield replace(params.ROPE_THETA, default=model.rope_theta or params.ROPE_THETA.default)
    yield replace(params.HEAD_DIM, default=model.head_dim, unit="")
    stretch = 1.0 if v["rope_type"] == "default" else params.FACTOR.default
    yield replace(params.FACTOR, default=model.factor or stretch)
    yield replace(params.NUM_HEADS, default=model.num_heads)
    yield replace(params.HEAD.within(high=v["num_heads"]),
                  unit=params.Said(say("of {count}", count=v["num_heads"])))  # fmt: skip
    edge = extrapolation.first_never_completed(
        rope.RoPE(model.head_dim, model.rope_theta or params.ROPE_THETA.default),
        model.original_max_position_embeddings,
    )
    yield params.PAIR.within(high=v["head_dim"] // 2 - 1, default=edge)
    yield params.SHIFT
    yield params.Choice("axis", "Distance axis", "log", ("log", "linear"), ("log", "linear"), "")
    yield params.Choice("show", "Values", "scores", ("scores", "weights"),
                        ("scores", "softmax weights"), "")  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """What the handles mean together; one field per parameter, by its name."""

    model: str
    rope_type: str
    original_max_position_embeddings: int
    position: int
    rope_theta: float
    head_dim: int
    factor: float
    num_heads: int
    head: int
    pair: int
    shift: int
    axis: params.Scale
    show: str

    @cached_property
    def plain(self) -> rope.RoPE:
        return rope.RoPE(self.head_dim, self.rope_theta)

    @cached_property
    def method(self) -> RopeScaling:
        """The chosen method; with the model's own keys if it is the model's own."""
        preset = presets.get(self.model)
        return scaling(
            self.rope_type, factor=self.factor, max_position_embeddings=self.trained,
            original_max_position_embeddings=self.trained,
            **(preset.method_keys if self.rope_type == preset.rope_type else {}),
        )  # fmt: skip

    @cached_property
    def scaled(self) -> Frequencies:
        """Frequencies and attention factor for the context that ends at the query."""
        return self.method.frequencies(self.plain, self.position + 1)

    @property
    def trained(self) -> int:
        return self.original_max_position_embeddings

    @cached_property
    def slope(self) -> float:
        return float(alibi.slopes(self.num_heads)[self.head - 1])

    @property
    def window(self) -> str:
        """Tokens that keep 99 % of the ALiBi head's weight, when all keys match equally."""
        return tokens(math.ceil(alibi.window(self.slope)))

    @property
    def label(self) -> str:
        return say(METHODS[self.rope_type])

    @property
    def measured_factor(self) -> float:
        return measured.nearest_factor(self.factor)

    @cached_property
    def usable(self) -> float:
        return extrapolation.usable_context(self.plain, self.method, self.trained)

    @cached_property
    def slow(self) -> int:
        """How many pairs make no whole turn in training."""
        return int(extrapolation.never_completed(self.plain, self.trained).sum())

    @cached_property
    def unseen(self) -> extrapolation.Flags:
        context = self.position + 1  # as the extrapolation picture counts it
        return extrapolation.unseen(self.plain, self.scaled[0], self.trained, context)

    @property
    def limit(self) -> str:
        """The usable context in words."""
        if not self.slow:
            return say("no limit")
        if math.isinf(self.usable):
            return say("over {count} tokens", count=number(extrapolation.LONGEST))
        # Room for rounding: position interpolation by 7 of 512 tokens reaches 3,584, not 3,583.
        return say("{count} tokens, {ratio}× trained",
                   count=number(math.floor(self.usable * (1 + 1e-9))),
                   ratio=number(self.usable / self.trained))  # fmt: skip


def draw(**values: Any) -> live.Slots:
    """Every picture and readout for these values."""
    scene, notice = Scene(**values), ""
    try:
        _ = scene.scaled
    except params.InvalidParameterError as problem:  # a method that this RoPE cannot have
        notice = f"{complaint(problem)}. {say('Shown without scaling.')}"
        scene = replace(scene, rope_type="default")
    notice = f'<p class="pv-notice" role="alert">{notice}</p>' if notice else ""
    return {
        "notice": live.drawing(notice),
        "lamps": live.drawing(pictures.lamps(readouts(scene))),
        "note:head": live.drawing(say("slope {slope}", slope=f"{scene.slope:.4g}")),
        **rotations(scene),
        **attention(scene),
        **contexts(scene),
    }


def rotations(scene: Scene) -> live.Slots:
    """The clocks, and the caption and formula that read them."""
    inv_freq, plain, pair = scene.scaled[0], scene.plain.inv_freq, scene.pair
    now, before = number(float(inv_freq[pair])), number(float(plain[pair]))
    formula = (
        f"θ<sub>{pair}</sub> = {number(scene.rope_theta)}<sup>−{2 * pair}/{scene.head_dim}</sup> = "
        f"{before} → {scene.label}: {now} &ensp; {say('angle')} = {number(scene.position)} × {now} "
        f"= {number(float(scene.position * inv_freq[pair]))} rad"
    )
    dials = pictures.rotations(
        scene.position * inv_freq, scene.trained * plain, rope.wavelength(inv_freq),
        rope.wavelength(plain), rope.turns(plain, scene.trained), scene.unseen,
        chosen=pair, trained=scene.trained, _=say,
    )  # fmt: skip
    return {
        "rotations": live.drawing(dials),
        "rotations:head": live.drawing(
            style.heading(say("Rotations"), say(MEANINGS[scene.rope_type]))
        ),
        "caption": live.drawing(
            f'<p class="pv-caption">{caption(scene)}</p><p class="pv-formula">{formula}</p>'
        ),
    }


def caption(scene: Scene) -> str:
    """What to look for, in sentences with live numbers."""
    beyond, pairs = int(scene.unseen.sum()), scene.head_dim // 2
    if not scene.slow:
        first = say("Every pair ({pairs}) completes a turn within the {trained} trained tokens, so "
                    "no angle is new at any length.")  # fmt: skip
    elif beyond:
        first = say(
            "Follow the red clocks: at position {position}, {beyond} of the {slow} pairs that "
            "never complete a turn in training stand at an angle it never met."
        )
    else:
        first = say(
            "Follow the orange clocks: {slow} of {pairs} pairs never complete a turn within the "
            "{trained} trained tokens; at position {position} none has left the angles it met."
        )
    if scene.slow and not beyond and scene.usable > 4 * scene.trained:
        first += " " + (
            say("Choose none to see them turn red.")
            if scene.position >= scene.trained
            else say("Choose none and drag position past {trained} to see them turn red.")
        )
    second = ""
    if scene.show == "scores" and not scene.method.depends_on_length:
        second = " " + say("Position moves no curve: a score depends on distance alone.")
    preset = presets.get(scene.model)
    third = ""
    if preset.positional_encoding == "alibi":
        third = say("{model} has ALiBi and no RoPE: the clocks show what RoPE would do.")
    elif preset.rope_type != "default":
        third = say("{model} was released with {method}; {trained} is its context before that.")
    told = {
        "slow": scene.slow, "pairs": pairs, "beyond": beyond, "trained": number(scene.trained),
        "position": number(scene.position), "model": scene.model.removesuffix("-hf"),
        "method": say(METHODS[preset.rope_type]),
    }  # fmt: skip
    return (first + second + " " + third).format(**told)


def attention(scene: Scene) -> live.Slots:
    """Scores or weights by distance, and what they read at the trained context."""
    (inv_freq, attention_factor), slope = scene.scaled, scene.slope
    as_weights, row = scene.show == "weights", scene.position + 1
    reach = row if as_weights else 4 * scene.trained + 1
    starts, far = distance.bins(reach, 260, scene.axis), min(scene.trained, reach - 1)
    same = distance.rope_scores(inv_freq, reach, attention_factor)
    waves = distance.sinusoidal_scores(reach, scene.head_dim)
    if as_weights:
        same, waves = softmax(same), softmax(waves)
        straight, at_far = alibi.weights(slope, starts, row), alibi.weights(slope, far, row)
    else:
        straight, at_far = alibi.bias(slope, starts), alibi.bias(slope, far)
    curves = pictures.attention(
        starts, distance.envelope(same, starts),
        distance.random_band(inv_freq, starts, attention_factor, row=row if as_weights else None),
        straight, distance.envelope(waves, starts), trained=scene.trained,
        position=scene.position, log_axis=scene.axis == "log", as_weights=as_weights, _=say,
    )  # fmt: skip
    vanished = as_weights and float(at_far) == 0.0
    reading = say(
        "RoPE with q = k: {start} at 0, {same} at {count} tokens; ALiBi there {straight}",
        count=number(far), start=number(float(same[0])), same=number(float(same[far])),
        straight=say("less than 10<sup>−300</sup>") if vanished else number(float(at_far)),
    )  # fmt: skip
    key = (
        (say("RoPE, q = k"), "rope", "solid"),
        (say("random q and k: mean, 80 %"), "random", "band"),
        (say("ALiBi, head {head}", head=scene.head), "alibi", "dash"),
        (say("sinusoidal"), "sinusoidal", "long"),
    )
    title = say("Attention by distance")
    return {
        "attention": live.figure(curves, valued(title, plain_text(reading))),
        "attention:head": live.drawing(style.heading(title, reading, key)),
    }


def contexts(scene: Scene) -> live.Slots:
    """Extrapolation: slow pairs at unseen angles, and a trained model's loss, over the context."""
    multiples = extrapolation.multiples(1.0, scene.usable / scene.trained)
    lengths = scene.trained * multiples
    curves = pictures.extrapolation(
        multiples,
        extrapolation.unseen_share(scene.plain, NoScaling(), scene.trained, lengths),
        extrapolation.unseen_share(scene.plain, scene.method, scene.trained, lengths),
        method=scene.rope_type, method_label=scene.label, usable=scene.usable / scene.trained,
        current=(scene.position + 1) / scene.trained, slow=scene.slow, pairs=scene.head_dim // 2,
        head=scene.head, window=scene.window,
        measured=measured.loss_share(TINY, scene.rope_type, scene.measured_factor), _=say,
    )  # fmt: skip
    alt = say("Usable context with {method}: {limit}", method=scene.label, limit=scene.limit)
    note = against_measured(scene)
    key = [(say("no scaling"), "default", "dot")]
    if scene.rope_type != "default":
        key.insert(0, (scene.label, scene.rope_type, "solid"))
    read = "" if scene.rope_type == "default" else say(", ") + f"{number(scene.measured_factor)}×"
    key.append((say("measured loss of a tiny RoPE{read}, 100 % = guessing", read=read),
                "measured", "solid"))  # fmt: skip
    return {
        "extrapolation": live.figure(curves, f"{plain_text(alt)}; {plain_text(note)}"),
        "extrapolation:head": live.drawing(style.heading(say("Extrapolation"), note, key)),
    }


def against_measured(scene: Scene) -> str:
    """How far a trained model holds, and whether that is what geometry says of the same model."""
    holds = measured.reach(TINY, scene.rope_type, scene.measured_factor)
    if holds is None:
        return say("not measured")
    method = measured.scaling(scene.rope_type, scene.measured_factor, measured.TRAINED_LENGTH)
    tiny, longest = rope.RoPE(TINY_HEAD_DIM, TINY_THETA), max(measured.LENGTHS)
    promised = extrapolation.usable_context(tiny, method, measured.TRAINED_LENGTH)
    # The measured lengths are a square root of 2 apart, so half as much again is no difference.
    agree = promised / 1.5 <= holds <= promised * 1.5 or min(holds, promised) >= longest
    return " · ".join([
        _multiples(say("measured on a tiny RoPE: holds to"), holds, longest),
        _multiples(say("its geometry says"), promised, longest),
        say("they agree within a measured step") if agree else say("they disagree"),
    ])  # fmt: skip


def _multiples(what: str, context: float, longest: int) -> str:
    """A context of the trained model in words, in trained contexts."""
    if not context:
        return say("{what} nothing", what=what)
    count = number(min(context, longest) / measured.TRAINED_LENGTH)
    if context >= longest:
        return say("{what} {count}× and more", what=what, count=count)
    return say("{what} {count}×", what=what, count=count)


def readouts(scene: Scene) -> list[pictures.Lamp]:
    """The lamps: two identities measured on random vectors, and three numbers."""
    inv_freq, attention_factor = scene.scaled
    before, after = invariants.norms(inv_freq, scene.position)
    score, shifted = invariants.shifted_scores(inv_freq, scene.position, 0, scene.shift)

    def off(by: float) -> str:
        return say("difference {off}", off=number(by))

    grown = ""
    if attention_factor != 1.0:
        grown = say("; ") + say("the attention factor makes it {norm}",
                           norm=f"{attention_factor * after:.4g}")  # fmt: skip
    return [
        pictures.Lamp(
            say("norm of q, before and after rotation"), f"{before:.4f} → {after:.4f}",
            off(abs(after - before)) + grown, abs(after - before) < 1e-9 * before,
        ),
        pictures.Lamp(
            say("score of q and k, both moved by {k}", k=number(scene.shift)),
            f"{score:.4f} → {shifted:.4f}".replace("-", "−"), off(abs(shifted - score)),
            abs(shifted - score) < 1e-7,
        ),
        pictures.Lamp(say("usable context, by geometry"), scene.limit),
        pictures.Lamp(
            say("attention factor on cos and sin"), f"{attention_factor:.4g}",
            say("scores × {gain}", gain=f"{attention_factor**2:.4g}"),
        ),
        pictures.Lamp(
            say("ALiBi slope"), f"{scene.slope:.4g}",
            say("99 % of the weight within {count} tokens if keys match equally",
                count=scene.window),
        ),
    ]  # fmt: skip


VIEW = live.View("playground", parameters, draw, code=snippets.playground)
