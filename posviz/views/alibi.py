"""ALiBi's view: a slope for each head, what it takes from scores, and how far a head then sees."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posviz import alibi, distance, extrapolation, haystacks, measured, params
from posviz.attention import softmax
from posviz.figures import alibi as pictures
from posviz.figures import style
from posviz.figures.style import number, percent, plain_text, token_count, tokens
from posviz.ui import live
from posviz.ui.text import say, valued
from posviz.views import snippets

PARTS = {"slopes": "Slopes", "bias": "Bias matrix", "weights": "Windows", "length": "Length"}
HANDLES = {
    "slopes": ("num_heads", "head", "alibi_bias_max"),
    "bias": ("num_heads", "head", "query", "seq_len"),
    "weights": ("num_heads", "head", "share", "alibi_bias_max"),
    "length": ("context", "head", "share", "num_heads", "original_max_position_embeddings"),
}
ALIBI_BIAS_MAX = params.Number(
    "alibi_bias_max", "alibi_bias_max", 8.0, 1.0, 16.0, 0.5, "",
    "How flat the flattest head is: its slope is 2 to the power of minus this. MPT models may set "
    "it; in the paper and everywhere else it is 8.",
)  # fmt: skip
SEQ_LEN = params.Number(
    "seq_len", "Tokens", 48, 2, 256, 1, "tokens", "Queries and keys in the matrix."
)
QUERY = params.Number(
    "query", "Query", 32, 0, 255, 1, "", "Which row of the matrix is written out below, from 0."
)
SHARE = params.Number(
    "share", "Share kept", 99.0, 10.0, 99.9, 0.1, "%",
    "How much of a head's weight its window must hold, if all keys match equally well.",
)  # fmt: skip
CONTEXT = params.Number(
    "context", "Context", 8.0, 1.0, 64.0, 0.01, "×",
    "How many times the trained context is read.", scale="log",
)  # fmt: skip
STORED = {"paper": "ours, −m(i − j)", "bloom": "BLOOM, m·j", "mpt": "MPT, −m(L − 1 − j)"}
# Shares whose windows always stand there: how a chart and a legend draw each.
USUAL = {50.0: ("2px,2px", "dot"), 90.0: ("6px,3px", "dash"), 99.0: ("12px,3px", "long")}
POINTS = 90  # of a curve over distance
LAB, SLIDING = "names-alibi", "names-alibi-seed0"
COPYING, COPY_LENGTH = "copying-alibi", 512
LONG = 2048  # tokens: the longest context at which needles and a sliding window were measured


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, the heads, and what each part turns."""
    yield params.Choice("part", "Part", "slopes", tuple(PARTS), tuple(PARTS.values()), "")
    yield replace(params.NUM_HEADS, default=12, unit="")
    yield ALIBI_BIAS_MAX
    yield replace(params.HEAD, label="Head").within(high=v["num_heads"])
    yield params.Choice("order", "Order", "released", ("released", "sorted"),
                        ("released order", "sorted"), "")  # fmt: skip
    yield SEQ_LEN
    yield QUERY.within(high=v["seq_len"] - 1)
    yield params.Choice("mask", "Mask", "causal", ("causal", "symmetric"),
                        ("causal", "symmetric"), "")  # fmt: skip
    yield SHARE
    yield replace(params.TRAINED_CONTEXT, label="Trained", default=2048)
    yield CONTEXT


@dataclass(frozen=True)
class Scene:
    """What the handles mean together; one field per parameter, by its name."""

    part: str
    num_heads: int
    alibi_bias_max: float
    head: int
    order: str
    seq_len: int
    query: int
    mask: str
    share: float
    original_max_position_embeddings: int
    context: float

    @cached_property
    def slopes(self) -> Any:
        """Slope of each head in the released order."""
        return alibi.slopes(self.num_heads, self.alibi_bias_max)

    @property
    def slope(self) -> float:
        return float(self.slopes[self.head - 1])

    @property
    def kept(self) -> float:
        return self.share / 100

    @property
    def trained(self) -> int:
        return self.original_max_position_embeddings

    @property
    def flattest(self) -> int:
        """The head with the smallest slope, counted from 1."""
        return int(self.slopes.argmin()) + 1

    def window(self, head: int, percent: float) -> float:
        return alibi.window(float(self.slopes[head - 1]), percent / 100)


def draw(**values: Any) -> live.Slots:
    """Every picture of the chosen part."""
    scene = Scene(**values)
    part = {"slopes": slopes, "bias": bias, "weights": weights, "length": length}[scene.part]
    slope = plain_text(of_slope(scene.slope))
    return {
        "note:head": live.drawing(say("slope {slope}", slope=slope)),
        **part(scene),
    }


def of_slope(slope: float) -> str:
    """A slope in four figures, small ones as a power of ten."""
    return f"{slope:.4g}" if slope >= 1e-3 else number(slope)


def told(caption: str, formula: str) -> live.Picture:
    """What to look for, and the formula with its numbers."""
    return live.drawing(
        f'{style.caption(caption)}<p class="pv-formula pv-alibi-formula">{formula}</p>'
    )


# ----------------------------------------------------------------------------------------- slopes


def slopes(scene: Scene) -> live.Slots:
    """Slopes over the heads, and where they come from."""
    released, paper = scene.slopes, alibi.paper_slopes(scene.num_heads)
    lower = alibi.series(scene.num_heads, 1)[0]
    beyond = scene.num_heads - lower
    is_sorted = scene.order == "sorted"
    heads = (-released).argsort(kind="stable") if is_sorted else range(scene.num_heads)
    heads = [int(head) + 1 for head in heads]
    shown = released[[head - 1 for head in heads]]
    place, end = heads.index(scene.head), pictures.flattest(scene.alibi_bias_max)
    taken = [alibi.series(scene.num_heads, lower + 1 + n)[1] for n in range(beyond)]
    rungs = [
        pictures.Rung(say("rule for n = {count}", count=lower),
                      alibi.slopes(lower, scene.alibi_bias_max)),
        pictures.Rung(say("rule for n = {count}", count=2 * lower),
                      alibi.slopes(2 * lower, scene.alibi_bias_max), taken),
        pictures.Rung(say("released, n = {count}", count=scene.num_heads), released,
                      heads=range(1, scene.num_heads + 1)),
        pictures.Rung(say("paper’s formula"), paper, shade="ink"),
    ]  # fmt: skip
    differ = int(alibi.differs_from_paper(scene.num_heads, scene.alibi_bias_max).sum())
    template = "{differ} of {count} heads differ from the paper’s formula"
    if differ == 1:
        template = "{differ} of {count} heads differs from the paper’s formula"
    note = say(template, differ=differ, count=scene.num_heads)
    if scene.num_heads == 1:
        note = (
            say("differs from the paper’s formula") if differ else say("as in the paper’s formula")
        )
    count, at = alibi.series(scene.num_heads, scene.head)
    formula = pictures.SLOPE.markup(say, scene.slope, B=scene.alibi_bias_max, h=at, n=count)
    key = [(say("released"), "alibi", "solid"), (say("paper’s formula"), "ink", "dash"),
           (say("head {head}", head=scene.head), "accent", "solid")]  # fmt: skip
    return {
        "slopes": live.figure(
            pictures.slopes(shown, paper, heads, place, end, is_sorted=is_sorted, _=say),
            say("Slope of each head; head {head} has {slope}; {note}", head=scene.head, note=note,
                slope=plain_text(of_slope(scene.slope))),
        ),
        "slopes:head": live.drawing(style.heading(say("Slope of each head"), note, key)),
        "ladder": live.drawing(
            pictures.ladder(rungs, scene.head, end, alt=say("Where the slopes come from"), _=say)
        ),
        "ladder:head": live.drawing(
            style.heading(say("Where they come from"),
                          say("one mark a head, steep to flat; click one to choose it"))
        ),
        "caption": told(slopes_caption(scene, lower, beyond), formula),
    }  # fmt: skip


def slopes_caption(scene: Scene, lower: int, beyond: int) -> str:
    """What to look for among the slopes."""
    if beyond:
        sentence = say(
            "{count} is no power of two. The first {lower} heads take the slopes of a model with "
            "{lower} heads; what is left, {beyond}, takes every second slope of one with {twice}. "
            "So head {next} ({steep}) starts steep again after head {lower} ({flat}).",
            count=scene.num_heads, lower=lower, beyond=beyond, twice=2 * lower, next=lower + 1,
            steep=of_slope(scene.slopes[lower]), flat=of_slope(scene.slopes[lower - 1]),
        )  # fmt: skip
        hint = say("Choose sorted, or drag heads to {count}.", count=lower)
    elif scene.num_heads == 1:
        sentence = say("A single head has the flattest slope, {flat}.",
                       flat=of_slope(scene.slope))  # fmt: skip
        hint = say("Drag heads.")
    else:
        sentence = say(
            "{count} is a power of two: each slope is the one before it times {ratio}, from "
            "{steep} down to {flat}.",
            count=scene.num_heads, ratio=f"{2 ** (-scene.alibi_bias_max / scene.num_heads):.4g}",
            steep=of_slope(scene.slopes[0]), flat=of_slope(scene.slopes[-1]),
        )  # fmt: skip
        hint = say("Drag heads off {count} and watch the line break in two.", count=lower)
    if scene.alibi_bias_max != 8:
        hint = say("The paper’s formula has 8 where this has {own}; MPT models may set it.",
                   own=number(scene.alibi_bias_max))  # fmt: skip
    return f"{sentence} {hint}"


# ------------------------------------------------------------------------------------------- bias


def bias(scene: Scene) -> live.Slots:
    """The stored numbers three ways, one row of them, and what the softmax makes of it."""
    symmetric = scene.mask == "symmetric"
    stored = alibi.stored_biases(scene.slope, scene.seq_len, symmetric)
    weights = {name: softmax(values) for name, values in stored.items()}
    apart = max(float(abs(weights[name] - weights["paper"]).max()) for name in stored)
    names = {name: say(label) for name, label in STORED.items()}
    if symmetric:
        names["paper"] = say("ours, −m|i − j|")
    maps = pictures.biases(
        stored, names, scene.query, _=say,
        alt=say("head {head}, slope {slope}, {count} tokens, largest difference of the softmax "
                "{apart}", head=scene.head, slope=plain_text(of_slope(scene.slope)),
                count=scene.seq_len,
                apart=plain_text(shown(apart))),
    )  # fmt: skip
    note = say("head {head}: colour is what is added to a score", head=scene.head)
    if not symmetric:
        note += ", " + say("hatched is masked")
    return {
        "maps": live.drawing(*maps),
        "maps:head": live.drawing(style.heading(say("Three ways to store one bias"), note)),
        "row": live.drawing(row(scene, stored, weights, symmetric)),
        "caption": told(
            bias_caption(scene, stored, apart, symmetric),
            pictures.BIAS.markup(say, -scene.slope * scene.query, m=scene.slope, i=scene.query, j=0)
            + f"&ensp; {say('at the first key')}",
        ),
    }  # fmt: skip


def shown(apart: float) -> str:
    """A difference of weights, to twelve decimals."""
    return number(round(apart, 12))


def row(scene: Scene, stored: Any, weights: Any, symmetric: bool) -> str:
    """The query's row at a few keys."""
    last = scene.seq_len - 1 if symmetric else scene.query
    keys = sorted({0, last // 4, last // 2, 3 * last // 4, last})
    lines, query = [], scene.query
    for name, label in STORED.items():
        values = stored[name][query]
        away = [float(values[key] - stored["paper"][query][key]) for key in keys]
        constant = max(away) - min(away) < 1e-9
        lines.append(
            pictures.Stored(
                say(label) if name != "paper" or not symmetric else say("ours, −m|i − j|"),
                [number(float(values[key]) + 0.0) for key in keys],  # no minus zero
                number(away[0] + 0.0) if constant else say("not constant"),
            )
        )
    by_weights = [[f"{weights[name][query][key]:.3f}" for key in keys] for name in STORED]
    labels = [say("softmax of each of them")]
    if symmetric:
        labels, by_weights = (
            [say("softmax of ours"), say("softmax of BLOOM’s, MPT’s")],
            by_weights[:2],
        )
    lines += [pictures.Stored(label, own) for label, own in zip(labels, by_weights, strict=False)]
    return pictures.row(keys, lines, query, _=say)


def bias_caption(scene: Scene, stored: Any, apart: float, symmetric: bool) -> str:
    """Why the three are one, or why not."""
    if symmetric:
        return say(
            "Without the causal mask the shortcut ends: BLOOM’s and MPT’s numbers know the key but "
            "no query, so the last key wins everywhere, and weights are off by up to {apart}. "
            "llm-foundry, which trains MPT, then stores −m|i − j|, like ours.",
            apart=shown(apart),
        )  # fmt: skip
    ours, query = stored["paper"], scene.query
    away = {name: number(float(stored[name][query][0] - ours[query][0]) + 0.0) for name in STORED}
    return say(
        "In row {query}, BLOOM’s numbers differ from ours by {bloom} at every key, MPT’s by {mpt}. "
        "What is added to a whole row changes no softmax: over all {count} rows the largest "
        "difference between the weights of the three is {apart}. Drag the query.",
        query=query, bloom=away["bloom"], mpt=away["mpt"], count=scene.seq_len, apart=shown(apart),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------- weights


def weights(scene: Scene) -> live.Slots:
    """Weight by distance, and the window over the slope."""
    starts = distance.bins(scene.trained, POINTS, "log")
    by_head = [alibi.weights(float(slope), starts, scene.trained) for slope in scene.slopes]
    own = [*(one for one in USUAL if one != scene.share), scene.share]
    marks = []
    for one in own:
        at = scene.window(scene.head, one)
        marks.append(
            (say("{share} %: {count}", share=number(one), count=tokens(math.ceil(at))), at)
        )
    ends = (pictures.STEEPEST, pictures.flattest(scene.alibi_bias_max))
    curves = [
        (f"{number(one)} %", USUAL[one][0] if one != scene.share else "",
         [alibi.window(end, one / 100) for end in ends])
        for one in own
    ]  # fmt: skip
    note = say("head {head}: weight {near} at distance 0, {far} at 100", head=scene.head,
               near=number(float(by_head[scene.head - 1][0])),
               far=small(float(alibi.weights(scene.slope, 100, scene.trained))))  # fmt: skip
    key = [(say("head {head}", head=scene.head), "alibi", "solid"),
           (say("every head"), "alibi", "band")]  # fmt: skip
    kept = number(scene.share)
    now = scene.window(scene.head, scene.share)
    over = say("{share} % of head {head} within {count}", share=kept, head=scene.head,
               count=token_count(math.ceil(now), say))  # fmt: skip
    over_key = [(f"{kept} %", "alibi", "solid"),
                *((f"{number(one)} %", "quiet", USUAL[one][1]) for one in own[:-1]),
                (say("head {head}", head=scene.head), "accent", "solid")]  # fmt: skip
    title, over_title = say("Weight by distance"), say("Window by slope")
    return {
        "weights": live.figure(
            pictures.weights(starts, by_head, by_head[scene.head - 1], marks, scene.trained, _=say),
            valued(title, plain_text(note)),
        ),
        "weights:head": live.drawing(style.heading(title, note, key)),
        "windows": live.figure(
            pictures.windows(
                scene.slopes, ends, curves,
                [scene.window(n + 1, scene.share) for n in range(scene.num_heads)],
                scene.head - 1, scene.trained, ends[1], _=say,
            ),
            valued(over_title, over),
        ),
        "windows:head": live.drawing(style.heading(over_title, over, over_key)),
        "caption": told(
            weights_caption(scene),
            pictures.WINDOW.markup(say, now, p=scene.kept, m=scene.slope),
        ),
    }  # fmt: skip


def small(weight: float) -> str:
    """A weight in words; what has no float64 is next to nothing."""
    return number(weight) if weight >= 1e-300 else say("less than 10<sup>−300</sup>")


def weights_caption(scene: Scene) -> str:
    """How far this head sees, and how far the steepest and the flattest do."""
    half, nearly, most = (math.ceil(scene.window(scene.head, one)) for one in USUAL)
    steepest = int(scene.slopes.argmax()) + 1
    said = say(
        "If all keys match equally well and there is no end of them, head {head} has half of its "
        "weight within {half}, 90 % within {nearly}, 99 % within {most}. Half the slope doubles "
        "each of them.",
        head=scene.head, half=token_count(half, say), nearly=number(nearly), most=number(most),
    )  # fmt: skip
    if scene.num_heads == 1:
        return said
    return said + " " + say(
        "Of {count} heads the steepest, {steepest}, keeps {share} % within {near}, the flattest, "
        "{flattest}, within {far}.",
        count=scene.num_heads, steepest=steepest, flattest=scene.flattest,
        share=number(scene.share),
        near=token_count(math.ceil(scene.window(steepest, scene.share)), say),
        far=number(math.ceil(scene.window(scene.flattest, scene.share))),
    )  # fmt: skip


# ----------------------------------------------------------------------------------------- length


def length(scene: Scene) -> live.Slots:
    """The window against growing contexts, and what small trained models made of them."""
    multiples = extrapolation.multiples()
    lengths = scene.trained * multiples
    by_head = [alibi.covered(float(slope), lengths, scene.kept) for slope in scene.slopes]
    window = scene.window(scene.head, scene.share)
    note = say("geometry of head {head}: {count} at any length", head=scene.head,
               count=token_count(math.ceil(window), say))  # fmt: skip
    key = [(say("of the weight"), "accent", "dash"), (say("of the text"), "alibi", "solid"),
           (say("every head, of the text"), "alibi", "band")]  # fmt: skip
    title = say("Computed: inside the {share} % window", share=number(scene.share))
    return {
        "covered": live.figure(
            pictures.covered(
                multiples, by_head, by_head[scene.head - 1],
                alibi.within(scene.slope, window, lengths), scene.context, _=say,
            ),
            valued(title, note),
        ),
        "covered:head": live.drawing(style.heading(title, note, key)),
        "contexts": live.drawing(contexts(scene, window)),
        **lab(scene),
        "caption": told(
            length_caption(scene, window),
            pictures.WINDOW.markup(say, window, p=scene.kept, m=scene.slope),
        ),
    }  # fmt: skip


def contexts(scene: Scene, window: float) -> str:
    """The same at the trained context, twice and 64 times that, and where the handle stands."""
    shown = sorted({1.0, 2.0, 64.0, scene.context})
    rows = []
    for multiple in shown:
        count = round(multiple * scene.trained)
        inside = float(alibi.within(scene.slope, window, count))
        covered = float(alibi.covered(scene.slope, count, scene.kept))
        lead = alibi.lead(scene.slope, count - 1, count)
        rows.append([
            f"{number(multiple)}×", number(count), f"{100 * inside:.3g} %",
            f"{100 * covered:.3g} %", number(lead),
        ])  # fmt: skip
    head = ["", say("tokens"), say("weight inside"), say("text inside"), say("first token’s lead")]
    return pictures.contexts(head, rows, shown.index(scene.context))


def length_caption(scene: Scene, window: float) -> str:
    """That the window stands still, and what a far token needs."""
    count = round(scene.context * scene.trained)
    flat = float(scene.slopes[scene.flattest - 1])
    least = say(", by {least} in head {flattest}, the flattest", flattest=scene.flattest,
                least=number(alibi.lead(flat, count - 1, count)))  # fmt: skip
    return say(
        "If all keys match equally, the window holds at least {share} % of the weight at every "
        "length: nothing new begins "
        "beyond the trained context, but the window is an ever smaller part of the text. A farther "
        "token is not forbidden, only dear: to get half the weight, the first of {count} tokens "
        "must outscore all others by {lead} in head {head}{least}.",
        share=number(scene.share), count=number(count), head=scene.head,
        lead=number(alibi.lead(scene.slope, count - 1, count)),
        least=least if scene.head != scene.flattest else say(", the flattest"),
    )  # fmt: skip


def lab(scene: Scene) -> live.Slots:
    """What the lab's ALiBi models measured: perplexity, needles, copying."""
    band, sliding = measured.band(LAB), measured.sliding(SLIDING)
    copied = measured.band(COPYING, quantity="accuracy")
    needles = [
        grid for name in haystacks.models() if name.startswith(LAB)
        if (grid := haystacks.grid(name)) is not None
    ]  # fmt: skip
    if band is None or sliding is None or copied is None or not needles:
        return {}
    trained = measured.TRAINED_LENGTH
    curves = [
        pictures.Measured(say("best possible"), "quiet", band.lengths, trained,
                          measured.floor(band.lengths), dash="2px,2px"),
        pictures.Measured(say("window of {count}", count=trained), "accent", sliding.lengths,
                          trained, sliding.nats, dash="6px,3px"),
        pictures.Measured(say("ALiBi"), "alibi", band.lengths, trained, band.mean, band.lowest,
                          band.highest),
    ]  # fmt: skip
    hits = sum(grid.accuracy.mean(axis=1) for grid in needles) / len(needles)
    search = [
        pictures.Measured(say("needles"), "ink", needles[0].lengths, trained, hits,
                          dash="6px,3px"),
        pictures.Measured(say("copying"), "alibi", copied.lengths, COPY_LENGTH, copied.mean,
                          copied.lowest, copied.highest),
    ]  # fmt: skip
    start, end = (math.exp(band.mean[band.lengths.index(one)]) for one in (trained, LONG))
    behind = [math.exp(sliding.nats[sliding.lengths.index(one)]) for one in (trained, LONG)]
    told_loss = say(
        "{start} at 1×, {end} at {times}×; behind a window {behind}", start=f"{start:.2f}",
        end=f"{end:.2f}", times=number(LONG / trained), behind=f"{behind[1]:.2f}",
    )  # fmt: skip
    told_found = say(
        "needles {needles} at {far}×, copies {copies} at {near}×", needles=percent(hits[-1]),
        far=number(needles[0].lengths[-1] / trained), copies=percent(copied.mean[-1]),
        near=number(copied.lengths[-1] / COPY_LENGTH),
    )  # fmt: skip
    caption = say(
        "Tiny models, trained on {window} tokens, for copying on {copying}; of the handles only "
        "Context moves something here, the black line. Perplexity (among how many equally likely "
        "characters a model is undecided) is lower at {times}× than at 1×. That alone proves "
        "little: for a reader of the last {window} tokens it is too, {behind} after {before}. What "
        "farther text does is the gap between the two. Finding tells more: {needles} of the names "
        "read before come back at {far}×, but a row is copied with only {copies} right at {near}×.",
        window=trained, copying=COPY_LENGTH, needles=percent(hits[-1]),
        copies=percent(copied.mean[-1]), before=f"{behind[0]:.2f}", behind=f"{behind[1]:.2f}",
        times=number(LONG / trained), far=number(needles[0].lengths[-1] / trained),
        near=number(copied.lengths[-1] / COPY_LENGTH),
    )  # fmt: skip
    titles = say("Measured: perplexity"), say("Measured: finding far tokens")
    return {
        "measured": live.drawing(style.caption(caption)),
        "perplexity": live.figure(
            pictures.perplexity(curves, scene.context, _=say), valued(titles[0], told_loss)
        ),
        "perplexity:head": live.drawing(
            style.heading(titles[0], told_loss, [
                (say("{count} tiny ALiBi models", count=band.seeds), "alibi", "solid"),
                (say("one that reads {count} tokens only", count=trained), "accent", "dash"),
                (say("best possible reader"), "quiet", "dot"),
            ])
        ),
        "found": live.figure(
            pictures.found(search, scene.context, _=say), valued(titles[1], told_found)
        ),
        "found:head": live.drawing(
            style.heading(titles[1], told_found, [
                (say("rows copied, {seeds} models", seeds=copied.seeds), "alibi", "solid"),
                (say("names found again, {seeds} models", seeds=len(needles)), "ink", "dash"),
            ])
        ),
    }  # fmt: skip


VIEW = live.View("alibi", parameters, draw, code=snippets.alibi)
