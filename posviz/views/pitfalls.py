"""The pitfalls' view: a right setting, a mistake, and where scores show it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from posviz import alibi, measured, mistakes, params, pitfalls
from posviz.figures import heat, style
from posviz.figures import pitfalls as pictures
from posviz.figures.style import number, plain_text, token_count
from posviz.mistake_outcome import VISIBLE, Curve, ErrorMap, Outcome
from posviz.mistake_settings import Settings, example_label
from posviz.pitfalls import PITFALLS, Pitfall, Slip
from posviz.rope_scaling import LongRope
from posviz.ui import live
from posviz.ui.labels import FAMILIES
from posviz.ui.text import clauses, complaint, say, valued

if TYPE_CHECKING:
    from posviz.models.mistaken import Effect

Symbols = dict[str, float]

FACTOR = 4.0  # of the scaling under which the trained models are read
WITHOUT_MODEL = {
    "mrope": "No small model here reads images, so none is measured.",
}
# How the small trained model of each pitfall is read, right and with its mistake.
TINY = {
    "pairing": "the pairs of its dimensions are read in the other pairing",
    "base": "it is read with base 500",
    "scaling_missing": "YaRN ×4 is right, and nothing is scaled",
    "scaling_twice": "YaRN ×4 is right, and is divided by 4 once more",
    "reciprocal": "YaRN ×4 is right, and ¼ is read",
    "mscale": "YaRN ×4 is right, and its attention factor is squared",
    "partial": "all of each head should turn, and half of it does",
    "slopes": "its three heads are read by the paper’s rule",
    "slopes_off_by_one": "its three heads are counted from 0",
    "t5_direction": "in a decoder, every key behind falls into bucket 0",
    "dynamic_cache": "dynamic NTK ×2, its keys left as they were cached",
    "position_dtype": "YaRN ×4, its positions in bfloat16",
    "left_padding": "a learned table, read at the rows behind 75 empty tokens",
}
# The slip that this is, where it is one of those shown.
TINY_SLIPS = {
    "pairing": "interleaved", "base": "default", "scaling_missing": "plain",
    "scaling_twice": "again", "mscale": "multiplied", "slopes": "paper",
    "slopes_off_by_one": "zero", "t5_direction": "decoder", "dynamic_cache": "dynamic",
    "position_dtype": "bfloat16", "left_padding": "shift",
}  # fmt: skip
# A mistake that it does not mind, though scores differ, and up to how many times its perplexity.
QUIET, UNMINDED = "mscale", 1.05
AXES = ("distance", "position")
USUAL = (256, 1024, 4096, 8192, 16384, 65536, 131072)  # lengths that are offered
# Tops of the axis over a perfect match, by slip or else by pitfall.
TOPS = {"mscale:multiplied": 5.2, "mscale:again": 3.2, "mscale:generic": 2.4,
        "scaling_missing": 2.4, "scaling_twice": 2.4}  # fmt: skip
ROUNDING = 1e-9  # below which two scores are the same
TOP, BOTTOM, BIAS = 1.2, -0.65, (-10.5, 0.8)

SEQ_LEN = params.Number(
    "seq_len", "Text length", 4096, 64, 131072, 1, "tokens", "How long the text is.", scale="log"
)
DISTANCE = params.Number(
    "distance", "Distance", 16, 0, 131071, 1, "",
    "How many tokens behind the query the key stands.", scale="log",
)  # fmt: skip
ROWS = params.Number("rows", "Rows up", 2, 0, mistakes.GRID - 1, 1, "",
                     "How many rows above the query's patch the key's patch lies.")  # fmt: skip
COLUMNS = params.Number("columns", "Columns left", 20, 0, mistakes.GRID - 1, 1, "",
                        "How many columns left of it.")  # fmt: skip
LOOK_BACK = params.Number(
    "look_back", "Head looks", 16, 0, 256, 1, "back",
    "The distance, in tokens, at which this head's key matches its query best.",
)  # fmt: skip
MISTAKEN_THETA = replace(
    params.ROPE_THETA, name="mistaken_theta", label="Mistaken base", default=10_000.0,
    help="The base that the code takes instead.",
)  # fmt: skip
ROTARY_DIM = params.Number(
    "rotary_dim", "Rotary dim", 64, 2, 512, 2, "", "Dimensions of the head that rotate.",
    pairs=True,
)  # fmt: skip
PROMPT = params.Number(
    "prompt", "Prompt", 512, 1, 16384, 1, "",
    "Tokens that are read in one pass, before the text grows token by token.", scale="log",
)  # fmt: skip
PADDING = params.Number(
    "padding", "Padding", 64, 0, 512, 1, "", "Empty tokens to the left of the text."
)


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The pitfall, how it is made, and on which example; these decide where the handles stand."""
    names = tuple(each.id for each in PITFALLS)
    labels = tuple(
        params.Said(say("{group}: {label}", group=say(each.group), label=say(each.label)))
        for each in PITFALLS
    )
    yield params.Choice("pitfall", "Pitfall", "base", names, labels, "")
    pitfall = pitfalls.get(v["pitfall"])
    yield params.Choice("slip", "How", pitfall.slips[0].id,
                        tuple(each.id for each in pitfall.slips),
                        tuple(each.label for each in pitfall.slips), "")  # fmt: skip
    slip = pitfall.slip(v["slip"])
    yield params.Choice("example", "Right setting", slip.examples[0], slip.examples,
                        tuple(example_label(one) for one in slip.examples),
                        "")  # fmt: skip
    right = slip.settings(v["example"])
    axes = ("by column", "by row") if pitfall.id == "mrope" else ("by distance", "by position")
    yield params.Choice("across", "Axis", slip.along, AXES, axes, "")
    yield SEQ_LEN.within(high=pitfall.longest, default=min(right.seq_len, pitfall.longest))
    last = v["seq_len"] - 1
    stands = last if slip.position is None else min(slip.position, last)
    yield replace(params.POSITION, low=1, high=last, default=stands, unit="")
    yield DISTANCE.within(high=v["position"], default=slip.distance)
    yield ROWS
    yield COLUMNS
    yield replace(params.HEAD_DIM, low=4, default=min(right.head_dim, 256), unit="")
    yield LOOK_BACK
    yield replace(params.ROPE_THETA, default=right.rope_theta)
    yield MISTAKEN_THETA
    yield replace(params.FACTOR, default=right.factor, high=128.0)
    rotates = min(right.rope.rotary_dim, round(right.head_dim * right.partial_rotary_factor))
    yield replace(ROTARY_DIM, high=right.head_dim, default=rotates)
    yield replace(params.NUM_HEADS, default=right.num_heads, unit="")
    yield replace(params.HEAD.within(high=v["num_heads"], default=right.head), label="Head")
    yield PROMPT.within(high=v["seq_len"], default=right.prompt)
    yield PADDING


def handles(pitfall: Pitfall, right: Settings) -> tuple[str, ...]:
    """Names of the handles that a pitfall has under these settings."""
    if pitfall.id == "mrope":
        return "rows", "columns"
    own = list(pitfall.handles)
    if "factor" in own and (not hasattr(right.scaling, "factor") or
                            isinstance(right.scaling, LongRope)):  # fmt: skip
        own.remove("factor")
    return "position", "distance", *own


@dataclass(frozen=True)
class Scene:
    """What the choices and handles mean together; one field per parameter, by its name."""

    pitfall: str
    slip: str
    example: str
    across: str
    seq_len: int
    position: int
    distance: int
    rows: int
    columns: int
    head_dim: int
    look_back: int
    rope_theta: float
    mistaken_theta: float
    factor: float
    rotary_dim: int
    num_heads: int
    head: int
    prompt: int
    padding: int

    @property
    def of(self) -> Pitfall:
        """The pitfall."""
        return pitfalls.get(self.pitfall)

    @property
    def made(self) -> Slip:
        """How the mistake is made."""
        return self.of.slip(self.slip)

    @cached_property
    def settings(self) -> Settings:
        """The right setting, as the handles have it."""
        right = self.made.settings(self.example)
        own = handles(self.of, right)
        moved = {name: getattr(self, name) for name in own
                 if name not in ("position", "distance", "rows", "columns")}  # fmt: skip
        return right.moved(seq_len=self.seq_len, **moved)

    @cached_property
    def outcome(self) -> Outcome:
        """What the mistake does."""
        return self.made.outcome(self.settings)

    @property
    def patches(self) -> bool:
        """Whether it is about patches of an image."""
        return self.outcome.depends == "patch"

    @property
    def place(self) -> tuple[int, int]:
        """Query position and distance, or rows and columns between two patches."""
        return (self.rows, self.columns) if self.patches else (self.position, self.distance)

    @property
    def shade(self) -> str:
        """Colour of what is right."""
        return self.of.encoding

    @cached_property
    def here(self) -> tuple[float, float]:
        """Right and mistaken score at the handles."""
        return self.outcome.at(*self.place)

    @cached_property
    def along(self) -> Curve:
        """Scores of this query by distance."""
        return self.outcome.by_distance(self.place[0])

    @cached_property
    def through(self) -> Curve:
        """Scores at this distance by position."""
        return self.outcome.by_position(self.place[1])

    @cached_property
    def map(self) -> ErrorMap:
        """Errors by position and distance."""
        return self.outcome.errors()

    @property
    def alike(self) -> bool:
        """Whether no score changes under these settings."""
        return bool(abs(self.map.values).max() < ROUNDING)

    def error_at(self, distance: int) -> float:
        """Size of the error of this query at a distance."""
        if distance > self.position and not self.patches:
            return 0.0
        right, mistaken = self.outcome.at(self.place[0], distance)
        return abs(error(right, mistaken))


def error(right: float, mistaken: float) -> float:
    """Mistaken minus right score; 0 where they differ by rounding."""
    return 0.0 if abs(mistaken - right) < ROUNDING else mistaken - right


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen pitfall."""
    scene = Scene(**values)
    return {
        **curves(scene),
        **error_map(scene),
        **tiny(scene, _finished.get(scene.pitfall)),
        "told": live.drawing(
            f'<p class="pv-pitfalls-told">{say(scene.made.told)} '
            f"{pictures.reports(scene.made.reports, say)}</p>"
        ),
        "caption": live.drawing(caption(scene)),
        "why": live.drawing(f'<div class="pv-pitfalls-below">{facts(scene)}{why(scene)}</div>'),
    }


# ------------------------------------------------------------------------------------- pictures


def curves(scene: Scene) -> live.Slots:
    """Right and mistaken scores, by distance or by position."""
    by_distance = scene.across == "distance"
    curve = scene.along if by_distance else scene.through
    outcome, (row, column) = scene.outcome, scene.place
    low, high = BIAS
    if scene.of.encoding == "rope":
        bottom = 0.0 if scene.patches else BOTTOM
        top = TOPS.get(f"{scene.pitfall}:{scene.slip}", TOPS.get(scene.pitfall, TOP))
        low, high = outcome.scale * bottom, outcome.scale * top
    at, axis = (column, say("distance, tokens")) if by_distance else (row, say("position, tokens"))
    if scene.patches:
        axis = say("columns left") if by_distance else say("rows up")
    marks = [(float(at), say("here"), "quiet", "dot")]
    if curve.first is not None:
        marks.append((float(curve.first), say("differ at {at}", at=f"{curve.first:,}"),
                      "alarm", "solid"))  # fmt: skip
    lines = [
        pictures.Line(say("right"), scene.shade, curve.right),
        pictures.Line(say("mistaken"), pictures.MISTAKEN, curve.mistaken, dashed=True),
    ]
    if scene.patches:
        title = (
            say("Scores {rows} rows up", rows=row)
            if by_distance
            else say("Scores {columns} columns left", columns=column)
        )
    elif by_distance:
        title = say("Scores of the query at {position}", position=f"{row:,}")
    else:
        title = say("Scores {distance} back", distance=token_count(column, say))
    note = say("here {right} right, {mistaken} mistaken", right=number(scene.here[0]),
               mistaken=number(scene.here[1]))  # fmt: skip
    figure = pictures.scores(
        curve.starts, lines, end=outcome.extent - 1, low=low, high=high,
        log_axis=by_distance and not scene.patches, title=axis, marks=marks, _=say,
    )  # fmt: skip
    return {
        "scores": live.figure(figure, f"{title}: {plain_text(note)}. {plain_text(seen(scene))}"),
        "scores:head": live.drawing(style.heading(title, note, key(scene.shade))),
    }


def key(shade: str) -> list[tuple[str, str, str]]:
    """Legend of right and mistaken lines."""
    return [(say("right"), shade, "solid"), (say("mistaken"), pictures.MISTAKEN, "dash")]


def error_map(scene: Scene) -> live.Slots:
    """Errors by position and distance; both are handles of the map."""
    outcome = scene.outcome
    found = scene.map
    row, column = scene.place
    full = outcome.full
    names = ("rows", "columns") if scene.patches else ("position", "distance")
    titles = (
        (say("rows up"), say("columns left"))
        if scene.patches
        else (say("position of the query"), say("distance, tokens"))
    )
    said = say("here {error}", error=number(error(*scene.here)))
    title = say("Error, mistaken − right")
    markup, rasters = heat.heat_map(
        "errors", found.values, low=-full, high=full,
        rows=heat.Axis(titles[0], names[0], 0, found.row_step, chosen=row // found.row_step),
        columns=heat.Axis(titles[1], names[1], 0, found.column_step,
                          chosen=column // found.column_step),
        alt=clauses((valued(title, plain_text(said)), goes_by(scene))),
        said=say("{names[0]} {{row}}, {names[1]} {{column}}: error {{value}}",
                 names=(say("row"), say("column")) if scene.patches else
                 (say("position"), say("distance"))),
        visible=found.visible, height=250,
    )  # fmt: skip
    bar = heat.scale_bar(f"−{full:.3g}", f"{full:.3g}", middle="0")
    return {
        "map": live.drawing(f"{markup}{bar}", rasters),
        "map:head": live.drawing(style.heading(title, f"{said} · {goes_by(scene)}")),
    }


def goes_by(scene: Scene) -> str:
    """What an error goes by, in a few words."""
    return {
        "distance": say("goes by the distance alone"),
        "position": say("goes by the position too"),
        "patch": say("goes by rows and columns"),
    }[scene.outcome.depends]


# ---------------------------------------------------------------------------------------- words


def verdict(scene: Scene, effect: "Effect | None") -> str:
    """Where scores agree and where they differ, at a glance, along the axis that is shown."""
    alike, apart = agreement(scene)
    if scene.pitfall != QUIET:
        return pictures.verdict(alike, apart)
    hidden = effect is None or max(costs(effect)) > UNMINDED
    told = (
        say("the small model does not mind")
        if TINY_SLIPS[QUIET] == scene.slip
        else say("the small model does not mind a like slip")
    )
    return pictures.verdict(alike, apart, "" if scene.alike else told, hidden=hidden)


def agreement(scene: Scene) -> tuple[str, str]:
    """Up to where scores agree, and from where they do not; either may be empty."""
    by_distance = scene.across == "distance"
    first = (scene.along if by_distance else scene.through).first
    if not by_distance and scene.outcome.depends == "distance":
        # At one distance all queries score alike, so this one tells of each.
        if first is None:
            return say("Scores agree at this distance, at every position"), ""
        return "", say("Scores differ at this distance, at every position alike")
    if not by_distance and scene.outcome.depends == "position":
        anywhere = scene.outcome.first_position
        if anywhere is None:
            return say("Scores agree at every position"), ""
        return (
            say("Scores agree up to position {count}", count=f"{anywhere - 1:,}"),
            say("differ at {count}", count=f"{anywhere:,}"),
        ) if anywhere else ("", say("Scores differ from position 0 on"))  # fmt: skip
    if first is None:
        if scene.patches:
            return (say("Scores agree along this row") if by_distance
                    else say("Scores agree along this column")), ""  # fmt: skip
        return say("Scores agree at every distance, for this query"), ""
    if first == 0:
        return "", say("Scores differ from 0 on")
    if scene.patches:
        up_to = say("Scores agree up to column {count}") if by_distance else say(
            "Scores agree up to row {count}")  # fmt: skip
    elif first == 1:
        up_to = say("Scores agree at distance {count} alone")
    else:
        up_to = say("Scores agree up to distance {count}")
    return up_to.format(count=f"{first - 1:,}"), say("differ at {count}", count=f"{first:,}")


def seen(scene: Scene) -> str:
    """Where the error is first seen."""
    first = scene.along.first
    what = say("{limit}, which changes a weight by a tenth", limit=number(VISIBLE))
    if scene.patches:
        if first is None:
            return say("In this row no patch is off by more than {what}.", what=what)
        return say("In this row the first patch that is off by more than {what}, lies {count} "
                   "columns left.", what=what, count=first)  # fmt: skip
    if first is None:
        return say("For the query at {position}, no key is off by more than {what}.",
                   position=number(scene.position), what=what)  # fmt: skip
    return say("For the query at {position}, the first key that is off by more than {what}, "
               "stands {count} back.", position=number(scene.position), what=what,
               count=token_count(first, say))  # fmt: skip


def caption(scene: Scene) -> str:
    """What to look for, with the numbers at the handles."""
    right, mistaken = scene.here
    if scene.patches:
        said = say("The patch {rows} rows up and {columns} columns left scores {right}, and "
                   "{mistaken} under the mistake.", rows=scene.rows, columns=scene.columns,
                   right=number(right), mistaken=number(mistaken))  # fmt: skip
    else:
        said = say("The key {distance} back scores {right}, and {mistaken} under the mistake.",
                   distance=token_count(scene.distance, say), right=number(right),
                   mistaken=number(mistaken))  # fmt: skip
    more = [seen(scene)]
    if scene.outcome.depends == "position":
        more.append(by_position(scene.through.first, scene.outcome.first_position))
    elif scene.outcome.depends == "distance":
        more.append(say("Where the query stands does not matter."))
    return f'<p class="pv-caption">{said} {" ".join(more)}</p>{formula(scene)}'


def by_position(first: int | None, anywhere: int | None) -> str:
    """The first query with an error at the chosen distance, and the first one at any."""
    if anywhere is None:
        return say("No query is off by so much, at any distance.")
    told = number(anywhere)
    if first is None:
        return say("At this distance no query is off by so much; over all distances, the first "
                   "is at {anywhere}.", anywhere=told)  # fmt: skip
    if first == anywhere:
        return say("At this distance, as over all, the first query off by so much is at {first}.",
                   first=told)  # fmt: skip
    return say("At this distance, the first query off by so much is at {first}; over all "
               "distances, at {anywhere}.", first=number(first), anywhere=told)  # fmt: skip


def formula(scene: Scene) -> str:
    """The right and the mistaken formula, with the numbers in them."""
    both = pictures.FORMULAS.get((scene.pitfall, scene.slip))
    if both is None:
        return ""
    numbers = symbols(scene)
    told = [
        f"<span>{word}</span> " + each.markup(say, float(each.value(**used)), **used)
        for word, each, used in zip((say("right"), say("mistaken")), both, numbers, strict=True)
    ]
    return "".join(f'<p class="pv-formula pv-pitfalls-formula">{one}</p>' for one in told)


def symbols(scene: Scene) -> tuple[Symbols, Symbols]:
    """What the letters of the right and of the mistaken formula stand for."""
    own = scene.settings
    turned, last = own.rope.rotary_dim, own.rope.rotary_dim // 2 - 1
    slow: Symbols = {"rope_theta": own.rope_theta, "i": last, "d": turned}
    match scene.pitfall:
        case "base":
            return slow, {"b": own.mistaken_theta, "i": last, "d": turned}
        case "reciprocal":
            return slow | {"s": own.factor}, slow | {"s": own.factor}
        case "mscale":
            scale: Symbols = {"s": own.factor}
            again: Symbols = {"m": scene.outcome.facts[0].right} if scene.slip == "again" else {}
            return scale, again | scale
        case "partial":
            pair = scene.outcome.facts[0].values["pair"]
            part: Symbols = {"rope_theta": own.rope_theta, "i": pair, "r": scene.rotary_dim}
            whole: Symbols = {"rope_theta": own.rope_theta, "i": pair, "d": own.head_dim}
            return (part, whole) if scene.slip == "head" else (whole, part)
        case "left_padding":
            place: Symbols = {"q": scene.position, "k": scene.position - scene.distance}
            crosses = scene.position >= own.prompt > place["k"]
            return place, place | {"w": own.padding if crosses else 0}
    count, index = alibi.series(own.num_heads, own.head)
    released: Symbols = {"k": index, "p": count}
    if scene.slip == "paper":
        return released, {"h": own.head, "n": own.num_heads}
    return (
        released | {"B": own.alibi_bias_max} if scene.slip == "bias-max" else released
    ), released


def facts(scene: Scene) -> str:
    """Numbers in which both settings differ."""
    rows = [(say(each.template, **each.values), shown(each.right), shown(each.mistaken))
            for each in scene.outcome.facts]  # fmt: skip
    return pictures.facts(rows, scene.shade, say)


def shown(value: float) -> str:
    """A number in full where it is whole, with five or six figures otherwise."""
    if value == int(value) and abs(value) < 1e7:
        return f"{value:,.0f}".replace("-", "−")
    if abs(value) >= 1e-3 and abs(value) < 1e7:
        return f"{value:,.6g}".replace("-", "−") if abs(value) < 1e4 else f"{value:,.0f}"
    mantissa, _, exponent = f"{value:.4e}".partition("e")
    return f"{mantissa}×10<sup>{int(exponent)}</sup>".replace("-", "−")


def why(scene: Scene) -> str:
    """Why short tests pass, and how to notice and mend it."""
    hides = say(scene.made.hides, zero=number(scene.error_at(0)), one=number(scene.error_at(1)),
                scale=number(scene.outcome.scale))  # fmt: skip
    if scene.pitfall == "scaling_missing" and scene.error_at(0) > VISIBLE:
        hides += " " + say("Here a factor on cos and sin is missing too, and shows at once: at "
                           "distance 0 the error is {zero}.",
                           zero=number(scene.error_at(0)))  # fmt: skip
    if scene.alike and scene.outcome.depends == "distance":
        hides = say("Under these settings both score the same. In general:") + " " + hides
    return (
        f'<dl class="pv-pitfalls-why"><dt>{say("Why tests pass")}</dt><dd>{hides}</dd>'
        f"<dt>{say('Notice and mend')}</dt><dd>{say(scene.made.mend)}</dd></dl>"
    )


# ------------------------------------------------------------------------- a small trained model

# What was measured to the end, by pitfall: it does not depend on the handles.
_finished: dict[str, "Effect"] = {}


def measure(**values: Any) -> Iterator[live.Slots]:
    """What the mistake does to a trained model, from more and more documents."""
    pitfall: str = values["pitfall"]
    if pitfall in WITHOUT_MODEL or pitfall in _finished:
        return
    from posviz.models import mistaken

    scene = Scene(**values)
    try:
        found = None
        for found in mistaken.effects(pitfall, factor=FACTOR):
            yield tiny(scene, found)
        if found is not None:
            _finished[pitfall] = found
    except params.InvalidParameterError as problem:  # a checkpoint that cannot be read
        said = escape(complaint(problem))
        yield {"real:caption": live.drawing(f'<p class="pv-notice" role="alert">{said}.</p>')}


def tiny(scene: Scene, effect: "Effect | None") -> live.Slots:
    """Perplexity of a trained model, read right and with the mistake, and the verdict."""
    title = say("A small trained model")
    glance = live.drawing(verdict(scene, effect))
    if effect is None:
        missing = WITHOUT_MODEL.get(scene.pitfall)
        told = say("measuring…") if missing is None else ""
        why_not = "" if missing is None else say(missing)
        figure = pictures.perplexities((), (), (), "ink", trained=measured.TRAINED_LENGTH, _=say)
        return {
            "glance": glance,
            "real": live.figure(figure, valued(title, told or say("not measured"))),
            "real:head": live.drawing(style.heading(title, told, key(scene.shade) if told else ())),
            "real:caption": live.drawing(pictures.model(why_not)),
        }
    family, _, seed = effect.model.removeprefix("names-").rpartition("-seed")
    label, shade = FAMILIES[family]
    told = say("perplexity {right} right, {wrong} mistaken",
               right=figures(math.exp(effect.right[-1])),
               wrong=figures(math.exp(effect.wrong[-1])))  # fmt: skip
    figure = pictures.perplexities(effect.positions, effect.right, effect.wrong, shade,
                             trained=effect.trained, _=say)  # fmt: skip
    said = told_of(scene, effect, say(label), seed)
    return {
        "glance": glance,
        "real": live.figure(figure, valued(title, told)),
        "real:head": live.drawing(style.heading(title, told, key(shade))),
        "real:caption": live.drawing(pictures.model(said)),
    }


def costs(effect: "Effect") -> tuple[float, ...]:
    """How many times its perplexity the mistake makes of it, at each length."""
    return tuple(map(math.exp, effect.wrong - effect.right))


def told_of(scene: Scene, effect: "Effect", label: str, seed: str) -> str:
    """Which model it is, how much it loses, and whether it still finds a needle."""
    start = say("In a {label} model, seed {seed}: {how}.", label=label, seed=seed,
                how=say(TINY[scene.pitfall]))  # fmt: skip
    cost = costs(effect)
    lost = say("The mistake multiplies its perplexity by {near} up to {first} tokens, by {far} at "
               "{length}.", near=figures(cost[0]), first=number(float(effect.positions[0])),
               far=figures(cost[-1]), length=number(effect.length))  # fmt: skip
    if effect.right_found is None or effect.wrong_found is None:
        found = say("Needles: measuring…")
    else:
        found = say(
            "Of a needle’s letters it finds {right}, with the mistake {wrong}.",
            right=percent(effect.right_found), wrong=percent(effect.wrong_found),
        )  # fmt: skip
    return f"{kinship(scene)} {start} {lost} {found}"


def kinship(scene: Scene) -> str:
    """How the model's mistake relates to the one that is shown."""
    if scene.pitfall == "base":
        return say("The same slip with other bases, not {right} and {mistaken}.",
                   right=number(scene.rope_theta),
                   mistaken=number(scene.mistaken_theta))  # fmt: skip
    if (scene.pitfall, scene.slip) == ("pairing", "half"):
        return say("The same slip the other way round.")
    if scene.pitfall == "reciprocal":
        return say("The same slip in another scaling method.")
    if TINY_SLIPS.get(scene.pitfall) == scene.slip:
        return say("The same slip, not the same model.")
    return say("Not this slip, a related one.")


def figures(value: float) -> str:
    """A perplexity, or how many times larger one is."""
    return f"{value:.2f}" if value < 10 else number(value)


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.0f}\u00a0%"


VIEW = live.View("pitfalls", parameters, draw, measure)
