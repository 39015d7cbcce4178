"""The lab's view: small trained models read on, past the length they were trained at."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

from posviz import measured, params, published
from posviz.figures import lab as pictures
from posviz.figures import style
from posviz.figures.style import number, plain_text
from posviz.measured import Curve
from posviz.models import reading as models
from posviz.models.reading import TRAINED
from posviz.ui import live
from posviz.ui.labels import FAMILIES, METHODS
from posviz.ui.text import clauses, complaint, joined, listed, say, valued
from posviz.views import snippets

STILL = {
    "t5": "T5 adds a trained number for each bucket of distances; the last one begins at 128 "
          "tokens and has no end.",
    "sinusoidal": "A fixed table is added to the embeddings. It has a row for every position; the "
                  "model has met those up to 255.",
    "learned": "A trained table with one row for each of 256 positions is added to the embeddings.",
    "none": "The model is told no position: it can only count the tokens before it.",
}  # fmt: skip
READ_AT = (256, 512, 1024, 2048)
EXERCISE, EXERCISE_FACTOR = 1024, 8.0
LEAVES = 1.1  # perplexity over the floor's from which a curve has left it
FALLS_SHORT = 0.1  # share above ALiBi, in range, from which a family is dotted
BESIDE = tuple(
    name
    for name in published.TABLES
    if published.table(name).quantity in (published.PERPLEXITY, published.LOSS)
    and any((one.values > 0).sum() > 1 for one in published.table(name).relative())
)


def cited(table: published.Table) -> str:
    """A published table in a few words."""
    return say("{author} et al. {year}, {place}", author=table.authors.split(",")[0],
               year=table.year, place=say(table.where))  # fmt: skip


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """Choices and handles; the model decides which of them do something."""
    there = tuple(name for name in FAMILIES if f"names-{name}" in measured.families())
    yield params.Choice("model", "Model", there[0], there,
                        tuple(FAMILIES[name][0] for name in there), "")  # fmt: skip
    yield params.Choice("rope_type", "Method", "ntk", tuple(METHODS), tuple(METHODS.values()), "")
    names = measured.models(f"names-{v['model']}")
    seeds = tuple(name.rpartition("seed")[2] for name in names)
    yield params.Choice("seed", "Seed", seeds[0], seeds, tuple(map(params.Said, seeds)), "")
    yield params.Choice("reading", "Context", "full", ("full", "sliding"),
                        ("full", "sliding window"), "")  # fmt: skip
    yield params.Choice("attention_factor", "Attention factor", "on", ("on", "off"), ("on", "off"),
                        "")  # fmt: skip
    # Dynamic NTK follows the length by itself, as it is written at factor 1.
    usual = 1.0 if v["rope_type"] == "dynamic" else EXERCISE_FACTOR
    yield replace(params.FACTOR, default=usual, high=32.0)
    trained = models.FAMILIES[v["model"]].rope_theta
    yield replace(params.ROPE_THETA, default=trained, high=1e6)
    yield replace(params.BETA_FAST, default=measured.BETA_FAST)
    yield params.BETA_SLOW.within(high=v["beta_fast"])
    yield params.SLOPE_MULTIPLIER
    yield params.Choice(
        "documents",
        "Documents",
        "4",
        ("4", "8", "16"),
        tuple(map(params.Said, ("4", "8", "16"))),
        "",
    )
    yield params.Choice(
        "longest",
        "Read up to",
        "2048",
        ("2048", "4096"),
        tuple(map(params.Said, ("2,048", "4,096"))),
        "",
    )
    labels = ("nothing", *(params.Said(cited(published.table(name))) for name in BESIDE))
    yield params.Choice("beside", "Beside ours", "nothing", ("nothing", *BESIDE), labels, "")


@dataclass(frozen=True)
class Scene:
    """What the choices and handles mean together; one field per parameter, by its name."""

    model: str
    rope_type: str
    seed: str
    reading: str
    attention_factor: str
    factor: float
    rope_theta: float
    beta_fast: float
    beta_slow: float
    slope_multiplier: float
    documents: str
    longest: str
    beside: str

    @cached_property
    def read(self) -> models.Reading:
        """The model as it is read."""
        return models.Reading(
            self.model, int(self.seed), self.reading == "sliding", self.rope_type, self.factor,
            self.rope_theta, self.beta_fast, self.beta_slow, self.attention_factor == "on",
            self.slope_multiplier,
        )  # fmt: skip

    @cached_property
    def short(self) -> dict[str, float]:
        """The families that did not learn the task as well as ALiBi, and by how much."""
        return {name: by for name, by in models.shortfalls().items() if by > FALLS_SHORT}

    @property
    def family(self) -> str:
        """What a reader calls the model."""
        return say(FAMILIES[self.model][0])

    @property
    def label(self) -> str:
        """This setting in a few words."""
        read = self.read
        if read.windowed:
            return say("{family}, sliding window", family=self.family)
        if read.is_plain:
            return self.family
        if read.biases:
            return named("slopes", self.slope_multiplier)
        parts = [] if read.method == "default" else [named(read.method, self.factor)]
        if read.is_rebased:
            parts.append(say("base {base}", base=number(self.rope_theta)))
        if read.method == "yarn":
            if (self.beta_fast, self.beta_slow) != (measured.BETA_FAST, 1.0):
                parts.append(f"β {self.beta_fast:g}, {self.beta_slow:g}")
            if not read.tempered:
                parts.append(say("attention factor off"))
        return joined(parts)

    @property
    def shade(self) -> str:
        """Colour of this setting."""
        read = self.read
        if read.windowed or (read.biases and not read.is_plain):
            return "ink"
        if read.is_plain:
            return FAMILIES[self.model][1]
        return "ntk" if read.method == "default" else read.method  # a moved base is NTK


def named(method: str, factor: float) -> str:
    """A way to read a model, as a reader sees it."""
    if measured.key(method, factor) == "default":
        return say("no scaling")
    label = {"slopes": say("ALiBi slopes"), "yarn_32": say("YaRN, β 32,")}.get(method)
    return f"{label or say(METHODS[method])} ×{factor:.3g}"


def draw(**values: Any) -> live.Slots:
    """Every picture for these values, out of what was measured before."""
    return shown(Scene(**values))


def measure(**values: Any) -> Iterator[live.Slots]:
    """The pictures of a setting that was not measured before, from more and more documents."""
    from posviz.models import evaluate
    from posviz.models.positions import Setting

    scene = Scene(**values)
    read, count, longest = scene.read, int(scene.documents), int(scene.longest)
    try:
        evaluate.decoder(read.name)
        evaluate.documents(count, longest)
        # A window is only ever measured before; even so, the model is now ready for the first move.
        if read.known is not None or read.windowed:
            return
        setting = Setting(read.encoding, read.rope_theta, read.scaling, read.slope_multiplier)
        counts = [few for few in (2, 4, 8, 16) if few <= count]
        start = time.perf_counter()
        for curve in evaluate.refine(read.name, setting, counts, longest):
            yield shown(scene, curve, time.perf_counter() - start)
    except params.InvalidParameterError as problem:  # a checkpoint that cannot be read
        yield {
            "notice": live.drawing(
                style.notice(say("{sentence}.", sentence=escape(complaint(problem))))
            )
        }


def shown(scene: Scene, found: Curve | None = None, seconds: float | None = None) -> live.Slots:
    """Every picture; ``found`` is what a measurement has come to in ``seconds``."""
    curve = found or scene.read.known
    note = status(scene, curve, seconds)
    main = perplexity(scene, curve, note) if scene.beside == "nothing" else beside(scene, curve)
    return {
        **main,
        **copying(scene, curve),
        **changes(scene),
        "notice": live.drawing(""),
        "note:rope_theta": live.drawing(plain_text(trained_base(scene))),
        "readout": live.drawing(readout(scene, curve)),
        "exercise": live.drawing(style.caption(exercise(scene))),
        "caption": live.drawing(style.caption(caption(scene, curve))),
    }


# ------------------------------------------------------------------------------------- curves


def lines(scene: Scene, curve: Curve | None, quantity: measured.Quantity) -> list[pictures.Line]:
    """All families over their seeds, the floor, and this setting or the nearest one on top."""
    found = []
    there = measured.families()
    for model, (label, shade) in FAMILIES.items():
        family, chosen = f"names-{model}", model == scene.model
        band = measured.band(family, quantity=quantity) if family in there else None
        if band is not None:
            dash = "dot" if model in scene.short else style.dash_of(shade)
            edges = (band.lowest, band.highest) if chosen or quantity == "nats" else (None, None)
            found.append(pictures.Line(say(label), shade, band.lengths, band.mean, edges[0],
                                       edges[1], dash, 2.2 if chosen else 1.2))  # fmt: skip
    floor = measured.floor() if quantity == "nats" else measured.repeated_floor()
    found.append(pictures.Line(say("floor"), "quiet", measured.LENGTHS, floor, dash="dash",
                               width=1.6))  # fmt: skip
    if curve is not None:
        dash = "dot" if scene.model in scene.short else "solid"
        found.append(line(curve, quantity, scene.label, scene.shade, dash, 3.0))
    elif scene.read.nearest is not None:
        method, factor, near = scene.read.nearest
        found.append(line(near, quantity, named(method, factor), scene.shade, "dash", 1.8))
    return found


def line(
    curve: Curve, quantity: measured.Quantity, label: str, shade: str, dash: str, width: float
) -> pictures.Line:
    """A curve with a band of its standard error."""
    nats, error = curve.nats, curve.error
    if quantity == "repeated":
        nats, error = curve.repeated, curve.repeated_error
    return pictures.Line(label, shade, curve.lengths, nats, nats - error, nats + error, dash, width)


def marks(scene: Scene) -> list[pictures.Mark]:
    """The trained length, and how far the setting reaches by its geometry."""
    read, furthest = scene.read, max(measured.LENGTHS)
    found = [pictures.Mark(TRAINED, say("trained {count}", count=TRAINED), "quiet", "dot")]
    if read.rotates and 1.02 * TRAINED < read.usable <= furthest:
        said = say("angles seen up to {count}", count=number(whole(read.usable)))
        found.append(pictures.Mark(read.usable, said, scene.shade))
    if read.biases and read.windows[-1] <= furthest:
        found.append(pictures.Mark(read.windows[-1], say("99 % of the flattest head"), scene.shade))
    return found


def whole(tokens: float) -> int:
    """Whole tokens, with room for rounding: PI ×4 reaches 1,024, not 1,023."""
    return math.floor(tokens * (1 + 1e-9))


def perplexity(scene: Scene, curve: Curve | None, note: str) -> live.Slots:
    """Perplexity of every family and of this setting."""
    drawn = lines(scene, curve, "nats")
    title = say("Perplexity beyond the trained length")
    key = [(one.label, one.shade, one.dash) for one in drawn]
    # This setting first; a seed of a family is named already.
    key = key[:-1] if key[-1][0] == scene.family else [key[-1], *key[:-1]]
    figure = pictures.perplexity(drawn, marks(scene), _=say)
    return {
        "perplexity": live.figure(figure, valued(title, note)),
        "perplexity:head": live.drawing(style.heading(title, note, key)),
    }


def beside(scene: Scene, curve: Curve | None) -> live.Slots:
    """A published table and ours, each over its value at the trained length."""
    table = published.table(scene.beside)
    theirs = table.relative()
    # Ours are those that the table has too, and whatever is chosen.
    encodings = {one.encoding for one in theirs if one.rope_type in (None, "default")}
    wanted = {
        say(label)
        for model, (label, _) in FAMILIES.items()
        if models.FAMILIES[model].name in encodings and model not in scene.short
    }
    drawn = lines(scene, curve, "nats")
    ours = [one for one in drawn[:-1] if one.label in wanted] + drawn[-1:]
    tried = {one.rope_type for one in theirs} - {"default"}
    for method in [one for one in METHODS if one in tried]:
        known = measured.curve(scene.read.name, method, EXERCISE_FACTOR)
        if known is not None and scene.read.rotates and method != scene.read.method:
            ours.append(line(known, "nats", named(method, EXERCISE_FACTOR), method, "solid", 1.2))
    title = say("Ours (solid) beside theirs (dashed)")
    source = (
        f'<a href="{escape(table.address)}" target="_blank" rel="noopener">'
        f"{escape(table.authors)} {table.year}</a>, {escape(say(table.where))}"
    )
    key = [(say("ours: {label}", label=one.label), one.shade, "solid") for one in ours]
    for series in theirs:
        said = say("theirs: {label}", label=escape(say(series.label)))
        key.append((said, pictures.shade_of(series), "dash"))
    # A method without fine-tuning costs within the trained length too: its base is the model's own.
    plain = measured.curve(scene.read.name)
    here = measured.LENGTHS.index(TRAINED)
    based = [
        (one, float((one if one.label in wanted or plain is None else plain).nats[here]))
        for one in ours
    ]
    figure = pictures.shapes(based, theirs, TRAINED, _=say)
    return {
        "perplexity": live.figure(figure, valued(title, cited(table))),
        "perplexity:head": live.drawing(style.heading(title, source, key)),
    }


def copying(scene: Scene, curve: Curve | None) -> live.Slots:
    """Loss on the letters of names that were read before."""
    title, note = say("Does it still copy?"), say("loss on letters of a name read before")
    said = note
    read = [] if curve is None else zip(curve.lengths, curve.repeated, strict=False)
    known = [(length, nats) for length, nats in read if not math.isnan(nats)]
    if known:
        said = say("{note}: {nats} nats at {length}", note=note,
                   nats=f"{known[-1][1]:.2f}", length=number(known[-1][0]))  # fmt: skip
    figure = pictures.repeated(lines(scene, curve, "repeated"), marks(scene)[:1], _=say)
    return {
        "repeated": live.figure(figure, f"{title} {said}"),
        "repeated:head": live.drawing(style.heading(title, note)),
    }


def changes(scene: Scene) -> live.Slots:
    """What the handles do to the encoding itself."""
    read, note = scene.read, ""
    if read.rotates:
        inv_freq, attention_factor = read.frequencies(int(scene.longest))
        ratio = read.trained.inv_freq / inv_freq
        title = say("What it does to the pairs")
        note = say("the slowest turns {ratio}× slower", ratio=number(float(ratio[-1])))
        if read.method in ("yarn", "llama3") and not read.is_rebased:
            note = say("{kept} kept, {between} between, {slowed} slowed {factor}×",
                       kept=(kept := int((ratio <= 1.0).sum())), factor=number(scene.factor),
                       slowed=(slowed := int((ratio >= scene.factor * (1 - 1e-9)).sum())),
                       between=len(ratio) - kept - slowed)  # fmt: skip
        if attention_factor != 1.0:
            note += say("; ") + say("scores × {gain}", gain=f"{attention_factor**2:.3g}")
        drawn = pictures.pairs(ratio, scene.shade, plain_text(valued(title, note)), _=say)
    else:
        title, said = say("Nothing to set"), say(STILL.get(scene.model, ""))
        if read.windowed:
            said = say("Each character is predicted from the last {window} tokens at most, read as "
                       "if they began a document: no position is new, so no scaling is needed.",
                       window=TRAINED)  # fmt: skip
        elif read.biases:
            title = say("What it does to the heads")
            said = say("They subtract {slopes} per token of distance and, when all keys match "
                       "equally, keep 99 % of their weight within {windows} tokens.",
                       slopes=joined(f"{slope:.3g}" for slope in read.slopes),
                       windows=joined(number(math.ceil(one)) for one in read.windows),
                       )  # fmt: skip
        drawn = style.caption(said)
    head = style.heading(title, note)
    return {"changes": live.drawing(drawn), "changes:head": live.drawing(head)}


# -------------------------------------------------------------------------------------- words


def status(scene: Scene, curve: Curve | None, seconds: float | None) -> str:
    """What the thick curve is and how well it is known."""
    if curve is None:
        note = say("{label}: measuring…", label=scene.label)
        if scene.read.nearest is not None:
            note += f" ({say('dashed: {label}', label=named(*scene.read.nearest[:2]))})"
        return note
    read = models.over_floor(curve)
    length = max(one for one in read if one <= READ_AT[-1])
    if seconds is None:
        how = say("{count} documents, measured before", count=curve.documents)
    elif curve.documents < int(scene.documents):
        how = say("{count} of {all} documents, measuring…", count=curve.documents,
                  all=scene.documents)  # fmt: skip
    else:
        how = say("{count} documents, {seconds} s", count=curve.documents,
                  seconds=f"{seconds:.1f}")  # fmt: skip
    return say("{label}: {perplexity} at {length}", label=scene.label,
               perplexity=cell(curve, length), length=number(length)) + f" ({how})"  # fmt: skip


def trained_base(scene: Scene) -> str:
    """The line below the base."""
    if scene.read.encoding != "rope":
        return say("no RoPE in this model")
    trained = say("trained: {base}", base=number(scene.read.trained.rope_theta))
    if not scene.read.is_rebased:
        return trained
    return f"{trained}; {say('this is NTK ×{factor}', factor=f'{scene.read.as_ntk:.3g}')}"


def figures(nats: float) -> str:
    """Three figures of the perplexity that a loss means."""
    value = math.exp(nats)
    return number(value) if value >= 99.95 else f"{value:#.3g}"


def cell(curve: Curve | None, length: int, *, error: bool = True) -> str:
    """Perplexity at a length, with its standard error."""
    if curve is None:
        return "…"
    at = curve.lengths.index(length) if length in curve.lengths else -1
    if at < 0 or math.isnan(curve.nats[at]):
        return "–"
    spread = float(f"{math.exp(curve.nats[at]) * curve.error[at]:.1g}")
    return figures(curve.nats[at]) + (f" ± {spread:g}" if error else "")


def readout(scene: Scene, curve: Curve | None) -> str:
    """Perplexities at a few lengths: this setting, the model as trained, the floor."""
    rows = [pictures.Row(scene.label, scene.shade, [cell(curve, at) for at in READ_AT])]
    if not scene.read.is_plain or scene.read.windowed:
        plain = measured.curve(scene.read.name)
        cells = [cell(plain, at, error=False) for at in READ_AT]
        rows.append(pictures.Row(say("as trained"), FAMILIES[scene.model][1], cells))
    floor = [figures(nats) for nats in measured.floor(READ_AT)]
    rows.append(pictures.Row(say("floor"), "quiet", floor))
    return pictures.readout([number(at) for at in READ_AT], rows, say("perplexity at"))


def exercise(scene: Scene) -> str:
    """Trained on 256, read at 1,024: with and without NTK, over the seeds."""
    model = scene.model if scene.read.encoding == "rope" else "rope-500"
    plain = measured.band(f"names-{model}")
    ntk = measured.band(f"names-{model}", "ntk", EXERCISE_FACTOR)
    if plain is None or ntk is None:
        return ""
    at = plain.lengths.index(EXERCISE)
    return say(
        "{model} at {length}: {plain} without scaling, {ntk} with {method}, floor {floor}; means "
        "of {seeds} seeds; {order}.",
        model=say(FAMILIES[model][0]), length=number(EXERCISE), plain=figures(plain.mean[at]),
        ntk=figures(ntk.mean[at]), method=named("ntk", EXERCISE_FACTOR), seeds=ntk.seeds,
        floor=figures(measured.floor([EXERCISE])[0]),
        order=ordered(model, "ntk", EXERCISE_FACTOR, EXERCISE, ["default"]),
    )  # fmt: skip


def ordered(model: str, method: str, factor: float, length: int, rivals: Sequence[str]) -> str:
    """How a method stands to others in every seed; what the seeds contradict is left open."""
    orders: dict[str, list[str]] = {}
    for rival in rivals:
        order = measured.compare(f"names-{model}", method, rival, factor, length)
        if order is not None:
            other = say("no scaling") if rival == "default" else say(METHODS[rival])
            orders.setdefault(order, []).append(other)
    templates = {
        "lower": "in every seed {method} is below {others}",
        "higher": "in every seed {method} is above {others}",
        "same": "{method} is the same as {others}",
        "seeds disagree": "the seeds disagree on {method} against {others}",
    }
    told = [
        say(templates[order], method=named(method, factor), others=listed(others))
        for order, others in orders.items()
    ]
    return clauses(told)


def caption(scene: Scene, curve: Curve | None) -> str:
    """What to look for, in sentences with live numbers."""
    read = scene.read
    told = []
    if scene.beside != "nothing":
        told += [escape(say(published.table(scene.beside).what)),
                 say("Compare shapes, not heights: each value is divided by one at the trained "
                     "length, ours by the unscaled model's; texts and tokens differ.")]  # fmt: skip
    if curve is None:
        if read.rotates and math.isfinite(read.usable):
            told.append(say("By geometry no angle is new up to {length} tokens, {times}× the "
                            "trained context.", length=number(whole(read.usable)),
                            times=number(read.usable / TRAINED)))  # fmt: skip
        told.append(say("Let the handle rest, and the model reads {count} documents with this very "
                        "setting.", count=scene.documents))  # fmt: skip
    elif read.windowed:
        told.append(say(
            "A window never meets a new position, so nothing breaks; nor can it use the text "
            "before it: {near} at {short}, {far} at {long}. ALiBi, which reads everything, comes "
            "to {alibi}.", near=cell(curve, READ_AT[0]), short=READ_AT[0],
            far=cell(curve, READ_AT[-1]), long=number(READ_AT[-1]),
            alibi=cell(measured.curve("names-alibi-seed0"), READ_AT[-1]),
        ))  # fmt: skip
    else:
        told += [holds(curve), *warnings(scene), order(scene)]
    return " ".join(filter(None, told))


def warnings(scene: Scene) -> Iterator[str]:
    """What keeps a family's curve from meaning what the others mean."""
    if scene.read.encoding == "learned":
        yield say("Its table has rows for positions 0 to {last} and none for {next}: beyond, there "
                  "is nothing to draw.", last=TRAINED - 1, next=TRAINED)  # fmt: skip
    if scene.model in scene.short:
        yield say("These models did not learn the task as well: at {trained} tokens they are "
                  "{share} % above ALiBi, so the dotted curve says little about extrapolation.",
                  trained=TRAINED, share=f"{100 * scene.short[scene.model]:.0f}")  # fmt: skip


def order(scene: Scene) -> str:
    """How the chosen method stands to the others where it should still hold."""
    read = scene.read
    if not read.rotates or read.is_plain or read.way is None:
        return ""
    method, factor = read.way
    length, rivals = EXERCISE, ["default"]
    if factor in measured.FACTORS:
        length = min(int(factor * TRAINED), READ_AT[-1])
        rivals += [one for one in ("ntk", "yarn", "llama3") if one != read.method]
    told = ordered(scene.model, method, factor, length, rivals)
    return say("At {length} tokens, {order}.", length=number(length), order=told) if told else ""


def holds(curve: Curve) -> str:
    """Up to where a curve stays near the floor, and what it comes to."""
    over = {at: ratio for at, ratio in models.over_floor(curve).items() if at >= TRAINED}
    last, left = max(over), [at for at, ratio in over.items() if ratio > LEAVES]
    end = say("at {last} tokens it is at {ratio}× the floor", last=number(last),
              ratio=number(over[last]))  # fmt: skip
    trained, final = (curve.nats[curve.lengths.index(at)] for at in (TRAINED, last))
    if left and last > TRAINED and final <= trained:
        end += ", " + say("yet below {perplexity} at {trained}: it still gains from context",
                          perplexity=figures(trained), trained=TRAINED)  # fmt: skip
    near = max((at for at in over if not left or at < left[0]), default=None)
    if near is None:
        return say("Already at the trained {trained} tokens the thick curve is {share} % above the "
                   "floor; {end}.", trained=TRAINED, share=f"{100 * (over[TRAINED] - 1):,.0f}",
                   end=end)  # fmt: skip
    held = say("The thick curve stays within 10 % of the floor up to {length} tokens, {times}× the "
               "trained context", length=number(near), times=number(near / TRAINED))  # fmt: skip
    if left:
        return say("{held}; {end}.", held=held, end=end)
    return say("{sentence}.", sentence=held)


def code(**values: Any) -> dict[str, str]:
    """Scripts of both charts, as far as what they show was measured before."""
    scene = Scene(**values)
    there = [f"names-{model}" for model in FAMILIES if f"names-{model}" in measured.families()]
    way = None if scene.read.windowed or scene.read.known is None else scene.read.way
    return snippets.lab(there, scene.read.name, way, published=scene.beside != "nothing")


VIEW = live.View("lab", parameters, draw, measure, code)
