"""The pitfalls' view: a right setting, a mistake, and where scores show it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from posviz import alibi, measured, params, pitfalls
from posviz.figures import heat, style
from posviz.figures import pitfalls as pictures
from posviz.figures.style import number, plain_text, token_count
from posviz.pitfalls import PITFALLS, Outcome, Pitfall, Slip
from posviz.rope_scaling import LongRope
from posviz.ui import live
from posviz.ui.labels import FAMILIES
from posviz.ui.text import complaint, say

if TYPE_CHECKING:
    from posviz.models.mistaken import Effect

Slots = dict[str, live.Picture]
Symbols = dict[str, float]

FACTOR = 4.0  # of the scaling under which the trained models are read
WITHOUT_MODEL = {
    "mrope": "No tiny model reads images, so none is measured here.",
}
# How each tiny model is read, right and with its mistake.
TINY = {
    "pairing": "its pairs of dimensions read in the other pairing",
    "base": "trained with base 10,000, read with 500",
    "scaling_missing": "YaRN ×4, and no scaling at all",
    "scaling_twice": "YaRN ×4, and divided by 4 once more",
    "reciprocal": "YaRN by 4, and by ¼",
    "mscale": "YaRN ×4, and its attention factor squared",
    "partial": "read as if half of the head rotated",
    "slopes": "three heads, by the released rule and by the paper’s",
    "slopes_off_by_one": "three heads, counted from 1 and from 0",
    "t5_direction": "a decoder: every key behind falls in bucket 0",
    "dynamic_cache": "dynamic NTK ×4, all keys alike and as they were cached",
    "position_dtype": "YaRN ×4, positions in float32 and in bfloat16",
    "left_padding": "its table read at the right rows and behind padding",
}
# The slip that the tiny model's mistake is, where it is one of those shown.
TINY_SLIPS = {
    "pairing": "interleaved", "base": "default", "scaling_missing": "plain",
    "scaling_twice": "again", "mscale": "multiplied", "slopes": "paper",
    "slopes_off_by_one": "zero", "t5_direction": "decoder", "dynamic_cache": "dynamic",
    "position_dtype": "bfloat16", "left_padding": "shift",
}  # fmt: skip
AXES = ("distance", "position")
USUAL = (256, 1024, 4096, 8192, 16384, 65536, 131072)  # lengths that are offered
TOPS = {"mscale": 5.2, "scaling_missing": 2.4, "scaling_twice": 2.4}  # of a perfect match
ROUNDING = 1e-9  # below which two scores are the same
TOP, BOTTOM, BIAS = 1.2, -0.65, (-10.5, 0.8)

SEQ_LEN = params.Number(
    "seq_len", "Text length", 4096, 64, 131072, 1, "tokens", "How long the text is.", scale="log"
)
DISTANCE = params.Number(
    "distance", "Distance", 16, 0, 131071, 1, "",
    "How many tokens behind the query the key stands.", scale="log",
)  # fmt: skip
ROWS = params.Number("rows", "Rows up", 2, 0, pitfalls.GRID - 1, 1, "",
                     "How many rows above the query's patch the key's patch lies.")  # fmt: skip
COLUMNS = params.Number("columns", "Columns left", 20, 0, pitfalls.GRID - 1, 1, "",
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
    labels = tuple(say("{group}: {label}", group=say(each.group), label=say(each.label))
                   for each in PITFALLS)  # fmt: skip
    yield params.Choice("pitfall", "Pitfall", "base", names, labels, "")
    pitfall = pitfalls.get(v["pitfall"])
    yield params.Choice("slip", "How", pitfall.slips[0].id,
                        tuple(each.id for each in pitfall.slips),
                        tuple(each.label for each in pitfall.slips), "")  # fmt: skip
    slip = pitfall.slip(v["slip"])
    yield params.Choice("example", "Right setting", slip.examples[0], slip.examples,
                        tuple(map(pitfalls.example_label, slip.examples)), "")  # fmt: skip
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


def handles(pitfall: Pitfall, right: pitfalls.Settings) -> tuple[str, ...]:
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
    def settings(self) -> pitfalls.Settings:
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
    def along(self) -> pitfalls.Curve:
        """Scores of this query by distance."""
        return self.outcome.by_distance(self.place[0])

    @cached_property
    def through(self) -> pitfalls.Curve:
        """Scores at this distance by position."""
        return self.outcome.by_position(self.place[1])

    def error_at(self, distance: int) -> float:
        """Size of the error of this query at a distance."""
        if distance > self.position and not self.patches:
            return 0.0
        right, mistaken = self.outcome.at(self.place[0], distance)
        return abs(error(right, mistaken))


def error(right: float, mistaken: float) -> float:
    """Mistaken minus right score; 0 where they differ by rounding."""
    return 0.0 if abs(mistaken - right) < ROUNDING else mistaken - right


def draw(**values: Any) -> Slots:
    """Every picture of the chosen pitfall."""
    scene = Scene(**values)
    return {
        **curves(scene),
        **error_map(scene),
        **tiny(scene.pitfall, scene.slip, _finished.get(scene.pitfall)),
        "glance": live.drawing(verdict(scene)),
        "told": live.drawing(
            f'<p class="pv-pitfalls-told">{say(scene.made.told)} '
            f"{pictures.reports(scene.made.reports, say)}</p>"
        ),
        "caption": live.drawing(caption(scene)),
        "why": live.drawing(f'<div class="pv-pitfalls-below">{facts(scene)}{why(scene)}</div>'),
    }


# ------------------------------------------------------------------------------------- pictures


def curves(scene: Scene) -> Slots:
    """Right and mistaken scores, by distance or by position."""
    by_distance = scene.across == "distance"
    curve = scene.along if by_distance else scene.through
    outcome, (row, column) = scene.outcome, scene.place
    low, high = BIAS
    if scene.of.encoding == "rope":
        bottom = 0.0 if scene.patches else BOTTOM
        low, high = (outcome.scale * share for share in (bottom, TOPS.get(scene.pitfall, TOP)))
    at, axis = (column, say("distance, tokens")) if by_distance else (row, say("position, tokens"))
    if scene.patches:
        axis = say("columns left") if by_distance else say("rows up")
    marks = [(float(at), say("here"), "quiet", "dot")]
    if curve.first is not None:
        marks.append((float(curve.first), say("first seen at {at}", at=f"{curve.first:,}"),
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
    key = [(say("right"), scene.shade, "solid"), (say("mistaken"), pictures.MISTAKEN, "dash")]
    figure = pictures.scores(
        curve.starts, lines, end=outcome.extent - 1, low=low, high=high,
        log_axis=by_distance and not scene.patches, title=axis, marks=marks, _=say,
    )  # fmt: skip
    return {
        "scores": live.figure(figure, f"{title}: {plain_text(note)}. {plain_text(seen(scene))}"),
        "scores:head": live.drawing(style.heading(title, note, key)),
    }


def error_map(scene: Scene) -> Slots:
    """Errors by position and distance; both are handles of the map."""
    outcome = scene.outcome
    found = outcome.errors()
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
        alt=f"{title}: {plain_text(said)}; {goes_by(scene)}",
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


def verdict(scene: Scene) -> str:
    """Where it looks right and where it is wrong, at a glance, along the axis that is shown."""
    by_distance = scene.across == "distance"
    first = (scene.along if by_distance else scene.through).first
    if not by_distance and scene.outcome.depends == "distance":
        if first is None:
            return pictures.verdict(say("Looks right at every position"), "")
        return pictures.verdict("", say("Wrong at every position alike"))
    if first is None:
        where = say("distance") if by_distance else say("position")
        if scene.patches:
            where = say("column") if by_distance else say("row")
        return pictures.verdict(say("Looks right at every {where} here", where=where), "")
    if first == 0:
        return pictures.verdict("", say("Wrong from 0 on: it looks right nowhere"))
    wrong = say("wrong at {count}", count=f"{first:,}")
    if scene.patches:
        up_to = say("column {count}") if by_distance else say("row {count}")
    else:
        up_to = say("distance {count}") if by_distance else say("position {count}")
    right = up_to.format(count=f"{first - 1:,}")
    return pictures.verdict(say("Looks right up to {where}", where=right), wrong)


def seen(scene: Scene) -> str:
    """Where the error is first seen."""
    first, limit = scene.along.first, number(scene.outcome.visible)
    what = (
        say("{limit} (0.1 of a perfect match)", limit=limit)
        if scene.shade == "rope"
        else say("{limit} (it changes a weight by a tenth)", limit=limit)
    )
    if scene.patches:
        if first is None:
            return say("In this row no patch is off by more than {what}.", what=what)
        return say("In this row the first patch that is off by more than {what} lies {count} "
                   "columns left.", what=what, count=first)  # fmt: skip
    if first is None:
        return say("For the query at {position}, no key is off by more than {what}.",
                   position=number(scene.position), what=what)  # fmt: skip
    return say("For the query at {position}, the first key that is off by more than {what} "
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
        first = scene.through.first
        more.append(
            say("At this distance no position shows it.") if first is None else
            say("At this distance the first query that shows it is at {first}: a shorter text "
                "is right.", first=number(first))
        )  # fmt: skip
    elif scene.outcome.depends == "distance":
        more.append(say("Where the query stands does not matter."))
    return f'<p class="pv-caption">{said} {" ".join(more)}</p>{formula(scene)}'


def formula(scene: Scene) -> str:
    """The right and the mistaken formula, with the numbers in them."""
    both = pictures.FORMULAS.get((scene.pitfall, scene.slip))
    if both is None:
        return ""
    numbers = symbols(scene)
    told = [
        f"<span>{word}</span> " + each.markup(float(each.value(**used)), **used)
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
            pair = int(scene.outcome.facts[0].label.rpartition(" ")[2])
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
    rows = [(say(each.label), shown(each.right), shown(each.mistaken))
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
    hides = say(scene.of.hides, zero=number(scene.error_at(0)), one=number(scene.error_at(1)),
                scale=number(scene.outcome.scale))  # fmt: skip
    if scene.pitfall != "mscale" and scene.error_at(0) > scene.outcome.visible:
        hides += " " + say("Here a factor on cos and sin is missing too, and shows at once: at "
                           "distance 0 the error is {zero}.",
                           zero=number(scene.error_at(0)))  # fmt: skip
    return (
        f'<dl class="pv-pitfalls-why"><dt>{say("Why short tests pass")}</dt><dd>{hides}</dd>'
        f"<dt>{say('Notice and mend')}</dt><dd>{say(scene.of.mend)}</dd></dl>"
    )


# ---------------------------------------------------------------------------------- a real model

# What was measured to the end, by pitfall: it does not depend on the handles.
_finished: dict[str, "Effect"] = {}


def measure(**values: Any) -> Iterator[Slots]:
    """What the mistake does to a trained model, from more and more documents."""
    pitfall: str = values["pitfall"]
    if pitfall in WITHOUT_MODEL or pitfall in _finished:
        return
    from posviz.models import mistaken

    try:
        found = None
        for found in mistaken.effects(pitfall, factor=FACTOR):
            yield tiny(pitfall, values["slip"], found)
        if found is not None:
            _finished[pitfall] = found
    except params.InvalidParameterError as problem:  # a checkpoint that cannot be read
        said = escape(complaint(problem))
        yield {"real:caption": live.drawing(f'<p class="pv-notice" role="alert">{said}.</p>')}


def tiny(pitfall: str, slip: str, effect: "Effect | None") -> Slots:
    """Perplexity of a trained model, read right and with the mistake."""
    title = say("On a real model")
    if effect is None:
        missing = WITHOUT_MODEL.get(pitfall)
        told = say("measuring…") if missing is None else ""
        why_not = "" if missing is None else say(missing)
        figure = pictures.perplexities((), (), (), "ink", trained=measured.TRAINED_LENGTH, _=say)
        return {
            "real": live.figure(figure, f"{title}: {told or say('not measured')}"),
            "real:head": live.drawing(style.heading(title, told)),
            "real:caption": live.drawing(f'<p class="pv-caption">{why_not}</p>'),
        }
    family, _, seed = effect.model.removeprefix("names-").rpartition("-seed")
    label, shade = FAMILIES[family]
    told = say("perplexity at {length} tokens {right} right, {wrong} mistaken",
               length=number(effect.length), right=figures(math.exp(effect.right[-1])),
               wrong=figures(math.exp(effect.wrong[-1])))  # fmt: skip
    key = [(say("right"), shade, "solid"), (say("mistaken"), pictures.MISTAKEN, "dash")]
    figure = pictures.perplexities(effect.positions, effect.right, effect.wrong, shade,
                             trained=effect.trained, _=say)  # fmt: skip
    said = told_of(pitfall, slip, effect, say(label), seed)
    return {
        "real": live.figure(figure, f"{title}: {told}"),
        "real:head": live.drawing(style.heading(title, told, key)),
        "real:caption": live.drawing(f'<p class="pv-caption">{said}</p>'),
    }


def told_of(pitfall: str, slip: str, effect: "Effect", label: str, seed: str) -> str:
    """Which model it is, how much it loses, and whether it still finds a needle."""
    same = TINY_SLIPS.get(pitfall) == slip
    template = (
        "A tiny {label} model, seed {seed}: {how}."
        if same
        else "A related slip in a tiny {label} model, seed {seed}: {how}."
    )
    start = say(template, label=label, seed=seed, how=say(TINY[pitfall]))
    near, far = (figures(math.exp(effect.wrong[n] - effect.right[n])) for n in (0, -1))
    lost = say("The mistake multiplies its perplexity by {near} up to {first} tokens, by {far} at "
               "{length}.", near=near, first=number(float(effect.positions[0])), far=far,
               length=number(effect.length))  # fmt: skip
    if effect.right_found is None or effect.wrong_found is None:
        found = say("Needles: measuring…")
    else:
        found = say(
            "Of a needle’s letters it finds {right}, with the mistake {wrong}.",
            right=percent(effect.right_found), wrong=percent(effect.wrong_found),
        )  # fmt: skip
    return f"{start} {lost} {found}"


def figures(value: float) -> str:
    """A perplexity, or how many times larger one is."""
    return f"{value:.2f}" if value < 10 else number(value)


def percent(share: float) -> str:
    """A share in per cent."""
    return f"{100 * share:.0f}\u00a0%"


VIEW = live.View("pitfalls", parameters, draw, measure)
