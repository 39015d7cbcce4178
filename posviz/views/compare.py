"""All encodings at once: one head's scores, parts by distance, answers, prices, losses."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from posviz import attention, catalog, comparison, distance, measured, params
from posviz.comparison import Setting
from posviz.figures import compare as pictures
from posviz.figures import lab, style
from posviz.figures.compare import Asked, Curve, Map
from posviz.figures.relative import size
from posviz.figures.style import number, percent, plain_text, token_count
from posviz.models import checkpoint, tables
from posviz.ui import live
from posviz.ui.labels import FAMILIES
from posviz.ui.text import joined, listed, say
from posviz.views import snippets

PARTS = {
    "side": "Side by side", "distance": "By distance", "questions": "Four questions",
    "price": "Price", "beyond": "Past training",
}  # fmt: skip
HANDLES = {
    "side": ("query", "seq_len", "variety", "strength", "head"),
    "distance": ("place", "reach", "rope_theta", "head"),
    "questions": ("years",),
    "price": ("length", "num_layers", "num_heads", "num_key_value_heads", "head_dim"),
    "beyond": ("context",),
}
LABELS = {encoding.name: encoding.label for encoding in catalog.ENCODINGS}
SHORT = LABELS | {"shaw": "Shaw"}  # over a map there is little room
# How each encoding makes the score: what a reader finds beside its name.
ENTERS = {
    "none": "x W<sub>q</sub> · x W<sub>k</sub>",
    "sinusoidal": "(x + p) W<sub>q</sub> · (x + p) W<sub>k</sub>",
    "learned": "(x + p) W<sub>q</sub> · (x + p) W<sub>k</sub>",
    "shaw": "q · (k + a<sub>distance</sub>)",
    "t5": "q · k + b<sub>bucket</sub>",
    "transformer_xl": "(q + u) · k + (q + v) · r<sub>distance</sub>",
    "rope": "R<sub>i</sub> q · R<sub>j</sub> k",
    "alibi": "q · k − m · distance",
    "xpos": "ζ<sup>i</sup> R<sub>i</sub> q · ζ<sup>−j</sup> R<sub>j</sub> k",
}
# What stands for an encoding by distance, since not all have a part of their own.
DRAWN = {
    "none": "nothing at any distance", "sinusoidal": "dot product of two rows",
    "learned": "trained rows, mean dot product", "shaw": "a random query, random table",
    "t5": "trained bias of our model", "transformer_xl": "v · W<sub>R</sub> r, random, unit-sized",
    "rope": "q = k = (1, …, 1)", "alibi": "−slope × distance", "xpos": "q = k = (1, …, 1)",
}  # fmt: skip
WHERE = {
    "any": "anywhere", "embedding": "in the embedding", "query and key": "in query and key",
    "score": "in the score", "mask": "only the mask",
}  # fmt: skip
KINDS = {"any": "any", "neither": "neither", "absolute": "absolute", "relative": "relative",
         "both": "both"}  # fmt: skip
LEVELS = {"any": "any", "no": "breaks at once", "partly": "a little further",
          "holds": "loss holds", "unmeasured": "not measured"}  # fmt: skip
QUESTIONS = {"all": "all four", "kind": "absolute or relative", "extrapolates": "past training",
             "serving": "cache and kernels", "cost": "cost"}  # fmt: skip
MOST = 4  # maps side by side
WORDS = 96  # of the longest text
REACH = 4096  # tokens by distance
BIASES = ("t5", "alibi")  # that fall further than what q and k say
NEAR = 8  # tokens, the query's own among them, whose weight is told
POINTS = 260  # of a curve by distance
BYTES = 2  # of a bfloat16 number
ACCELERATOR = 80_000_000_000  # bytes
# Tokens that lines over length are drawn at, evenly on a logarithmic axis; a file holds no more.
LENGTHS = tuple(round(128 * (10_000_000 / 128) ** (n / 60)) for n in range(61))
FIRST = min(one.year for one in catalog.ENCODINGS)
LATEST = max(one.year for one in catalog.ENCODINGS)
FINEST = 1e-12  # a share below this is rounding


@cache  # two files of the package
def trained() -> comparison.Tables:
    """What the lab's models trained of a learned table and of T5's bias."""
    t5 = checkpoint.load("names-t5-seed0").weights["positions.table"]
    return comparison.Tables(tables.table("names-learned-seed0").trained, t5.astype(float))


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part, and every part's choices and handles."""
    yield params.Choice("part", "Part", "side", tuple(PARTS), tuple(PARTS.values()), "")
    labels = tuple(LABELS.values())
    yield params.Several("encodings", "Encodings", ("sinusoidal", "t5", "rope", "alibi"),
                         catalog.NAMES, labels, "", most=MOST)  # fmt: skip
    yield params.Choice("show", "Show", "scores", ("scores", "weights"), ("scores", "weights"), "")
    there = v["encodings"] or catalog.NAMES[:1]
    called = tuple(LABELS[name] for name in there)
    a = "rope" if "rope" in there else there[0]
    yield params.Choice("a", "A", a, there, called, "")
    others = [name for name in there if name != v["a"]] or [a]
    b = "alibi" if "alibi" in others else others[-1]
    yield params.Choice("b", "B", b, there, called, "")
    yield params.Number("seq_len", "Words", 64, 2, WORDS, 1, "", "Words of the text; all are read.")
    yield params.Number("query", "Query", 48, 0, WORDS - 1, 1, "",
                        "Whose row is drawn below the maps, from 0.",
                        ).within(high=v["seq_len"] - 1)  # fmt: skip
    yield params.Number("variety", "Words differ", 0.0, 0.0, 100.0, 1.0, "%",
                        "0: the same word everywhere, so that every pattern is the encoding's. "
                        "100: words that have nothing in common.")  # fmt: skip
    yield params.Number("strength", "Content", 1.0, 0.0, 1.5, 0.01, "×",
                        "Multiplies the words' vectors, not the positions: at 0 only what needs "
                        "no content is left.")  # fmt: skip
    heads = trained().num_heads
    yield replace(params.HEAD, label="Head", default=1, high=heads,
                  help="Whose ALiBi slope and T5 bias: our small models' heads.")  # fmt: skip
    yield params.Number("seed", "Random head", 0, 0, 99, 1, "", "Which random weights and words.")
    yield params.Several(
        "lines", "Encodings", ("sinusoidal", "t5", "rope", "alibi", "xpos"), catalog.NAMES, labels,
        "",
    )  # fmt: skip
    yield params.Choice("unit", "Show", "scores", ("scores", "weights"), ("scores", "weights"), "")
    yield params.Choice("axis", "Axis", "log", ("log", "linear"), ("log axis", "linear axis"), "")
    yield params.Number("reach", "Keys", 1024, 16, REACH, 1, "tokens",
                        "Keys behind the query, and itself.", scale="log")  # fmt: skip
    yield params.Number("place", "Distance", 32, 0, REACH - 1, 1, "tokens",
                        "How far the key stands behind the query.", scale="log",
                        ).within(high=v["reach"] - 1)  # fmt: skip
    yield replace(params.ROPE_THETA, help="Base of RoPE and xPos; sinusoids keep 10,000.")
    yield params.Choice("question", "Reasons", "all", tuple(QUESTIONS), tuple(QUESTIONS.values()),
                        "")  # fmt: skip
    yield params.Choice("enters", "Enters", "any", tuple(WHERE), tuple(WHERE.values()), "")
    yield params.Choice("kind", "Kind", "any", tuple(KINDS), tuple(KINDS.values()), "")
    yield params.Choice("level", "In the lab, past training", "any", tuple(LEVELS),
                        tuple(LEVELS.values()), "")  # fmt: skip
    # The handle shows the year itself, out of its note.
    yield params.Number("years", "Up to", LATEST - FIRST, 0, LATEST - FIRST, 1, "years after 2017",
                        "Leaves out what appeared later than that year.")  # fmt: skip
    yield params.Number(
        "length", "Length", 1_048_576, LENGTHS[0], LENGTHS[-1], 1, "tokens",
                        "Tokens read at once.", scale="log")  # fmt: skip
    yield params.Number("num_layers", "Layers", 32, 1, 128, 1, "", "Layers with self-attention.")
    yield replace(params.NUM_HEADS, unit="", help="Attention heads of a layer.")
    yield params.Number("num_key_value_heads", "KV heads", 8, 1, 128, 1, "",
                        "Heads of keys and values (num_key_value_heads).",
                        ).within(high=v["num_heads"])  # fmt: skip
    yield replace(params.HEAD_DIM, unit="")
    yield params.Number("context", "Context", 1024, measured.LENGTHS[0], measured.LENGTHS[-1], 1,
                        "tokens", "Tokens read; the models were trained at 256.",
                        scale="log")  # fmt: skip


def draw(part: str, **v: Any) -> live.Slots:
    """Every picture of one part."""
    return {"side": side, "distance": by_distance, "questions": questions, "price": price,
            "beyond": beyond}[part](v)  # fmt: skip


def caption(*sentences: str) -> live.Picture:
    """What to look for."""
    return live.drawing(f'<p class="pv-caption">{" ".join(one for one in sentences if one)}</p>')


def told(name: str) -> str:
    """What a sentence calls an encoding."""
    return say(LABELS[name])


def shade(name: str) -> str:
    """Name of its colour."""
    return catalog.get(name).colour


# ----------------------------------------------------------------------------------- side by side


def side(v: live.Values) -> live.Slots:
    """Maps of the chosen encodings over the same words, the query's row, the difference of two."""
    chosen: tuple[str, ...] = v["encodings"]
    if not chosen:
        empty = live.drawing("")
        slots = dict.fromkeys(("maps", "row:head", "looks", "caption"), empty)
        return slots | {
            "hint": hint(chosen),
            "row": live.figure(pictures.row([], v["seq_len"], pictures.score_ends(0, 0), _=say),
                               say("No encoding is chosen.")),
            "maps:head": caption(say("Choose up to four encodings above.")),
        }  # fmt: skip
    count, query, weights = v["seq_len"], v["query"], v["show"] == "weights"
    setting = Setting(head=v["head"], seed=v["seed"])
    x = comparison.words(WORDS, trained().d_model, v["variety"] / 100, v["strength"], v["seed"])
    longest = {name: comparison.scores(name, x, trained(), setting) for name in chosen}
    scored = {name: one[:count, :count] for name, one in longest.items()}
    shares = {name: comparison.off_diagonal_share(one) for name, one in scored.items()}
    weighed = {name: attention.softmax(one) for name, one in scored.items()}
    shown = weighed if weights else scored
    visible = attention.causal_mask(count)
    maps = [Map(name, say(SHORT[name]), shade(name), shown[name], explained(shares[name], weights))
            for name in chosen]  # fmt: skip
    difference, about = None, ""
    if len(chosen) > 1:
        difference, about = apart(v, shown, visible)
    end = pictures.WEIGHT if weights else pictures.colour_end(deepest(chosen, setting, WORDS))
    markup, rasters = pictures.maps(maps, difference, visible, query, a=v["a"], b=v["b"],
                                    weights=weights, end=end, _=say)  # fmt: skip
    ends = None if weights else room(longest)
    far = distance.bins(query + 1, query + 1, "linear")
    curves = [Curve(told(name), shade(name), pictures.dash(name), far,
                    shown[name][query, query::-1]) for name in chosen]  # fmt: skip
    note = say("query {query}: each line is the marked row of a map, read backwards", query=query)
    key = [(told(name), shade(name), pictures.legend_dash(name)) for name in chosen]
    title = say("Where the query looks") if weights else say("What the query scores")
    faint = weights and any(
        float(one[query, : query + 1].min()) < pictures.ROW_WEIGHT for one in weighed.values()
    )
    return {
        "maps": live.drawing(markup, rasters),
        "maps:head": live.drawing(heading_of_maps(v, weights)),
        "hint": hint(chosen),
        "row": live.figure(
            pictures.row(curves, count, ends, _=say),
            f"{title}. {'. '.join(most_of(name, weighed[name], query) for name in chosen)}",
        ),
        "row:head": live.drawing(style.heading(title, note, key)),
        "looks": live.drawing(looks(chosen, weighed, query)),
        "caption": live.drawing(
            f'<p class="pv-caption">{said_of_side(v, shares)} {about}'
            f"{' ' + say('Weights below 0.0001 lie under the chart.') if faint else ''}</p>"
            f'<p class="pv-compare-again">{again(v["seed"])}</p>'
        ),
    }  # fmt: skip


def hint(chosen: Sequence[str]) -> live.Picture:
    """How many encodings can be chosen, beside the choice."""
    told = say("up to four")
    if len(chosen) == MOST:
        told = say("four at most: take one away to add another")
    return live.drawing(f'<p class="pv-compare-hint">{told}</p>')


def heading_of_maps(v: live.Values, weights: bool) -> str:
    """What the maps show, and what A and B do: that is of use on the page only."""
    title = say("Weight of every key") if weights else say("Score of every key")
    how = ""
    if len(v["encodings"]) > 1:
        how = say("press A over one map and B over another: the last map is B − A")
    note = say("for every query; the line marks query {query}", query=v["query"])
    return style.heading(title, f"{note}<span data-unsaved>{how and f' · {how}'}</span>")


def deepest(names: Sequence[str], setting: Setting, count: int) -> float:
    """The least of the biases among these encodings over so many distances; 0 if there is none."""
    return min(
        (float(comparison.term(name, count, trained(), setting).min())
         for name in names if name in BIASES), default=0.0,
    )  # fmt: skip


def room(longest: dict[str, Any]) -> tuple[float, float]:
    """Ends of the axis of scores: for every query of the longest text, so that it rests."""
    seen = attention.causal_mask(WORDS)
    return pictures.score_ends(
        min(float(one[seen].min()) for one in longest.values()),
        max(float(one[seen].max()) for one in longest.values()),
    )


def explained(share: float | None, weights: bool) -> str:
    """How much of a map's scores distance explains."""
    if share is None:
        return say("all scores are equal")
    template = "distance explains {share}"
    if weights:
        template = "distance explains {share} of the scores"
    return say(template, share=f"<b>{rounded(1 - share)}</b>")


def rounded(share: float) -> str:
    """A share of which 100 % is exact but for rounding."""
    if 1 - share < FINEST:
        return percent(1.0)
    return percent(min(share, 0.999)) if share < 0.9995 else say("almost all")


def apart(v: live.Values, shown: dict[str, Any], visible: Any) -> tuple[Map, str]:
    """B minus A as a map, and where it is largest."""
    a, b = v["a"], v["b"]
    where = shown[b].copy()
    where[visible] -= shown[a][visible]
    where[~visible] = 0.0
    at = int(abs(where).argmax())
    query, key = divmod(at, v["seq_len"])
    largest = float(where[query, key])
    label = say("B − A: {b} − {a}", a=say(SHORT[a]), b=say(SHORT[b]))
    if largest == 0.0:
        note, sentence = say("no difference"), ""
        if a == b:
            sentence = say("A and B are the same; press A or B over another map.")
    else:
        note = say("largest {value}", value=f"<b>{signed(largest)}</b>")
        sentence = say(
            "{b} and {a} differ most at query {query}, key {key}: by {value}.", a=told(a),
            b=told(b), query=query, key=key, value=signed(largest),
        )  # fmt: skip
    return Map("difference", label, "ink", where, note), sentence


def signed(value: float) -> str:
    """A number with its sign; what rounding leaves is 0."""
    value = 0.0 if abs(value) < FINEST else value
    return f"+{number(value)}" if value > 0 else number(value)


def looks(chosen: Sequence[str], weighed: dict[str, Any], query: int) -> str:
    """Where the query looks most under each encoding, and how near."""
    head = [say("score of query i and key j"), say("looks most"), say("weight"),
            say("nearest {count}", count=NEAR)]  # fmt: skip
    rows = []
    for name in chosen:
        row = weighed[name][query]
        key = int(row.argmax())
        rows.append((
            told(name), shade(name),
            (back(row, query), percent(float(row[key])), percent(near(row, query))),
        ))  # fmt: skip
    return pictures.looks(head, rows, [say(ENTERS[name]) for name in chosen])


def near(row: Any, query: int) -> float:
    """Weight of the query's own token and those right before it."""
    return float(row[max(query + 1 - NEAR, 0) : query + 1].sum())


def back(row: Any, query: int) -> str:
    """How far back the key stands that a query gives most weight to."""
    seen = row[: query + 1]
    if query and float(seen.max() - seen.min()) < FINEST:
        return say("everywhere")
    count = query - int(row.argmax())
    return say("itself") if count == 0 else say("{count} back", count=number(count))


def most_of(name: str, weights: Any, query: int) -> str:
    """Where the query looks most under one encoding."""
    return say("{encoding}: {weight} of the weight at {place}", encoding=told(name),
               weight=percent(float(weights[query].max())), place=back(weights[query], query),
               )  # fmt: skip


def said_of_side(v: live.Values, shares: dict[str, float | None]) -> str:
    """What the maps say at this variety and strength."""
    if v["strength"] == 0:
        empty = [name for name, share in shares.items() if share is None]
        flat = [told(name) for name in empty if name != "none"]
        if flat:
            return say(
                "Without content nothing is left of {flat}: there positions only change how words "
                "meet, and here are none.", flat=listed(flat),
            ) + (
                " " + say("The other maps show what an encoding adds by itself.")
                if len(empty) < len(shares) else ""
            )  # fmt: skip
        return say("Without content: each map shows what its encoding adds by itself.")
    if v["variety"] == 0:
        relative = [told(name) for name, share in shares.items()
                    if share is not None and share < FINEST]  # fmt: skip
        others = [
            say("{share} of what varies under {encoding}", encoding=told(name),
                share=rounded(1 - share))
            for name, share in shares.items() if share is not None and share >= FINEST
        ]  # fmt: skip
        said = say("Every word is the same here, so all that varies is position.")
        if relative:
            said += " " + say(
                "Along each diagonal of {relative} the colour is the same: only distance counts.",
                relative=listed(relative),
            )  # fmt: skip
        if others:
            said += " " + say(
                "Distance explains {others}; the rest depends on where the two words stand.",
                others=listed(others),
            )  # fmt: skip
        if None in shares.values():
            said += " " + say("With nothing to tell places apart, all scores are equal.")
        return said + " " + say("Drag Words differ.")
    return say(
        "Words differ by {variety} %: the pattern of the words themselves, the same under every "
        "encoding, joins that of the positions. What survives as stripes along the diagonal is "
        "what the encoding imposes on any text.", variety=number(v["variety"]),
    )  # fmt: skip


def again(seed: int) -> str:
    """A button for other random weights and words."""
    label = say("Other random words and weights")
    return (
        f'<button type="button" class="pv-link" data-set="seed={(seed + 1) % 100}">{label}'
        f"</button> <small>{say('now number {seed}', seed=seed)}</small>"
    )


# ------------------------------------------------------------------------------------ by distance


def by_distance(v: live.Values) -> live.Slots:
    """The part of each encoding that distance decides, as scores or as weights of a row."""
    reach, place, weights = v["reach"], v["place"], v["unit"] == "weights"
    setting = Setting(v["rope_theta"], v["head"])
    terms = {name: comparison.term(name, reach, trained(), setting) for name in v["lines"]}
    shown = {name: attention.softmax(one) if weights else one for name, one in terms.items()}
    lines = []
    for name, values in shown.items():
        starts = distance.bins(len(values), POINTS, v["axis"])
        edges = distance.envelope(values, starts)
        single = len(starts) == len(values)
        x, y = (starts, values) if single else (starts.repeat(2), edges.T.ravel())
        lines.append(Curve(told(name), shade(name), pictures.dash(name), x, y))
    ends = None
    if not weights:
        ends = pictures.base_ends(
            deepest([name for name in v["lines"] if name != "alibi"], setting, REACH)
        )
    band, starts = None, distance.bins(reach, 120, v["axis"])
    if "rope" in shown:
        inv_freq = comparison.inv_freq(trained().d_model, v["rope_theta"])
        drawn = distance.random_band(inv_freq, starts, row=reach if weights else None)
        band = drawn[1], drawn[2]
    key = [(told(name), shade(name), pictures.legend_dash(name)) for name in shown]
    if band is not None:
        key.append((say("RoPE, 80 % of random q and k"), "random", "band"))
    title = say("Weight by distance") if weights else say("Part of the score by distance")
    note = say("as if all keys matched equally well") if weights else say("before the softmax")
    rows = [
        (told(name), shade(name), say(DRAWN[name]),
         [value_at(shown[name], at, weights) for at in (0, place, reach - 1)])
        for name in shown
    ]  # fmt: skip
    head = [say("What is drawn"), "0", number(place), number(reach - 1)]
    formulas = []
    if "alibi" in terms:
        slope = comparison.slope(v["head"], trained())
        formulas.append(pictures.DECLINE.markup(say, -slope * place, m=slope, n=place))
    if "rope" in terms:
        formulas.append(pictures.TURN.markup(say, float(terms["rope"][place])))
    return {
        "curves": live.figure(
            pictures.curves(lines, band, starts, place, reach, ends,
                            log_axis=v["axis"] == "log", _=say),
            say("{title} at {place}: {values}", title=title, place=token_count(place, say),
                values=joined(f"{row[0]} {plain_text(row[3][1])}" for row in rows)),
        ),
        "curves:head": live.drawing(style.heading(title, note, key)),
        "values": live.drawing(pictures.values(head, rows)),
        "values:head": live.drawing(
            style.heading(say("At these distances"),
                          say("the line marks {count}", count=token_count(place, say)))
        ),
        "caption": caption(said_of_distance(v, terms),
                           under(shown, ends[0] if ends else pictures.BASE_WEIGHT)),
        "formula": live.drawing(
            "".join(f'<p class="pv-formula pv-compare-formula">{one}</p>' for one in formulas)
        ),
    }  # fmt: skip


def under(shown: dict[str, Any], least: float) -> str:
    """Which lines leave the chart below, and where."""
    gone = [
        say("{encoding} at {distance}", encoding=told(name),
            distance=token_count(int((values < least).argmax()), say))
        for name, values in shown.items() if (values < least).any()
    ]  # fmt: skip
    return say("Lines that fall below the chart: {lines}.", lines=listed(gone)) if gone else ""


def value_at(values: Any, at: int, weights: bool) -> str:
    """A value by distance; a learned table may have ended."""
    if at >= len(values):
        return say("no row")
    value = float(values[at])
    if weights and value < 1e-300:
        return "0"
    return number(0.0 if abs(value) < FINEST and not weights else value)


def said_of_distance(v: live.Values, terms: dict[str, Any]) -> str:
    """What the curves say at this distance."""
    place = v["place"]
    said = [say("Not one quantity: each line is what its encoding has to say about distance, as "
                "the table names it.")]  # fmt: skip
    if "rope" in terms:
        curve = terms["rope"]
        said.append(say(
            "RoPE’s line holds for q = k only, a score of {here} at {place} after {start} at 0; it "
            "does not fall evenly, and for random q and k the band stays level at every distance.",
            here=number(float(curve[place])), place=token_count(place, say),
            start=number(float(curve[0])),
        ))  # fmt: skip
    if "alibi" in terms:
        said.append(say(
            "ALiBi’s head {head} of {heads}, as many as our models have, takes off {bias} there, "
            "whatever the words say.", head=v["head"], heads=trained().num_heads,
            bias=number(comparison.slope(v["head"], trained()) * place),
        ))  # fmt: skip
    if "learned" in terms and len(terms["learned"]) < v["reach"]:
        rows = len(terms["learned"])
        said.append(say("The learned table has {rows} rows, and ends.", rows=rows))
        if v["unit"] == "weights":
            said.append(say(
                "So its weights are shared among {rows} keys, those of the others among {reach}.",
                rows=rows, reach=number(v["reach"]),
            ))  # fmt: skip
    return " ".join(said) if terms else say("Choose encodings above.")


# ---------------------------------------------------------------------------------- four questions


def questions(v: live.Values) -> live.Slots:
    """What every encoding answers, and which of them answer as the filters ask."""
    kept = comparison.answering(FIRST + v["years"], v["enters"], v["kind"], v["level"])
    rows = [
        Asked(told(one.name), one.colour, f"{one.year} · {say(WHERE[one.enters])}", one.page,
              one.answers, {"extrapolates": lab_says(one)}, one.name not in kept)
        for one in catalog.ENCODINGS
    ]  # fmt: skip
    said = say("Press a question for its reasons.")
    if v["question"] != "all":
        said = say("One reason each; press the question again for all four.")
    if not kept:
        said = say("No encoding answers so; all of them are faded.")
    elif len(kept) < len(rows):
        said = say("{count} of {all}: {names}", count=len(kept), all=len(rows),
                   names=listed([told(name) for name in kept]))  # fmt: skip
    title = say("Every encoding, four questions")
    return {
        "answers": live.drawing(
            pictures.answers(rows, catalog.QUESTIONS, v["question"], alt=title, _=say)
        ),
        "answers:head": live.drawing(style.heading(title, said)),
        "note:years": live.drawing(str(FIRST + v["years"])),
    }  # fmt: skip


def lab_says(encoding: catalog.Encoding) -> str:
    """How far the loss of the lab's models of an encoding holds."""
    found = [measured.reach(family) for family in encoding.families]
    reaches = [one for one in found if one is not None]
    if not reaches:
        return ""
    template = "ours, trained at {trained}, hold to {reach}"
    if math.isinf(max(reaches)):
        template = "ours, trained at {trained}, hold at {reach}"
    return say(template, trained=measured.TRAINED_LENGTH, reach=held(max(reaches)))


# ------------------------------------------------------------------------------------------- price


def price(v: live.Values) -> live.Slots:
    """What each encoding costs a model of these sizes to read so many tokens."""
    length, kv_heads = v["length"], v["num_key_value_heads"]
    shape = catalog.Shape(v["num_layers"], v["num_heads"], v["head_dim"], length)
    own = comparison.attention_operations(shape, length)
    cache_bytes = BYTES * comparison.kv_cache_entries(shape, length, kv_heads)
    bias = BYTES * catalog.get("alibi").bias_entries(length, shape.num_heads)
    rows, shares = [], []
    for one in catalog.ENCODINGS:
        weights = comparison.trained_entries(one.name, shape, length)
        entries = one.bias_entries(length, shape.num_heads)
        added = comparison.operations(one.name, shape, length, kv_heads)
        part = share(added, own)
        shares.append(f"{told(one.name)} {plain_text(part)}")
        rows.append((
            told(one.name), one.colour,
            (exact(weights), size(BYTES * entries) if entries else say("none"),
             linked(part, one.cost), exact_short(added),
             linked(say(one.serving.short), one.serving)),
        ))  # fmt: skip
    head = [say("Encoding"), say("trained numbers"), say("L × L, if written out"),
            say("added, of attention’s"), say("operations"),
            say("KV cache, fused kernel")]  # fmt: skip
    names = {"bias": say("L × L of one layer"), "cache": say("KV cache"),
             "learned": say("learned table"), "limit": say("80 GB, one accelerator")}  # fmt: skip
    lines = memory_lines(shape, kv_heads, names)
    key = [(names["bias"], "ink", "solid"), (names["cache"], "accent", "dash"),
           (names["learned"], "learned", "dot"), (names["limit"], "random", "dot")]  # fmt: skip
    crossing = comparison.equal_length(shape, kv_heads)
    filling = [told(one.name) for one in catalog.ENCODINGS if one.fills_scores]
    said = " ".join((
        say(
            "At {length} tokens the L × L of {filling}, written out, takes {bias} for one layer, "
            "the KV cache {cache} for all. The square overtakes the cache at {crossing} tokens.",
            length=f"{length:,}", filling=listed(filling), bias=size(bias),
            cache=size(cache_bytes), crossing=number(crossing),
        ),
        say("A kernel that is given ALiBi’s slopes or T5’s buckets need not write it; those of "
            "Shaw and Transformer-XL depend on the query, so that each layer has its own. The "
            "other encodings have none."),
        say(
            "Keys and values are as many under every encoding, but Transformer-XL as released "
            "keeps hidden states instead, {states}.",
            states=size(BYTES * comparison.state_entries(shape, length)),
        ),
    ))  # fmt: skip
    work_lines = [
        Curve(told(one.name), one.colour, pictures.dash(one.name), LENGTHS,
              [comparison.operations(one.name, shape, at, kv_heads)
               / comparison.attention_operations(shape, at) for at in LENGTHS],
              pictures.work_width(one.name))
        for one in catalog.ENCODINGS if one.name != "none"
    ]  # fmt: skip
    sizes = {"b": BYTES, "H": shape.num_heads, "L": length}
    formulas = [
        pictures.WRITTEN_OUT.markup(say, bias, **sizes),
        pictures.CACHE.markup(say, cache_bytes, **sizes, n_layers=shape.num_layers, K=kv_heads,
                              d=shape.head_dim),
        pictures.ROTATION.markup(
            say, comparison.operations("rope", shape, length, kv_heads) / own,
            H=shape.num_heads, K=kv_heads, L=length),
        pictures.SLOPE.markup(say, comparison.operations("alibi", shape, length, kv_heads) / own,
                              d=shape.head_dim),
    ]  # fmt: skip
    return {
        "memory": live.figure(pictures.memory(lines, length, _=say), said),
        "memory:head": live.drawing(
            style.heading(say("Memory by length"), say("bfloat16, 2 bytes a number"), key)
        ),
        "work": live.figure(
            pictures.work(work_lines, length, _=say),
            say("Added operations at {length} tokens: {shares}", length=f"{length:,}",
                shares=joined(shares)),
        ),
        "work:head": live.drawing(
            style.heading(
                say("Added work by length"), say("lines that lie on each other show both colours"),
                [(told(one.name), one.colour, pictures.legend_dash(one.name))
                 for one in catalog.ENCODINGS if one.name != "none"],
            )
        ),
        "prices": live.drawing(pictures.prices(head, rows)),
        "prices:head": live.drawing(
            style.heading(say("At {length} tokens", length=f"{length:,}"),
                          say("all layers; the square of one layer"))
        ),
        "shapes": live.drawing(shapes(v)),
        "caption": caption(said),
        "formula": live.drawing(
            "".join(f'<p class="pv-formula pv-compare-formula">{one}</p>' for one in formulas)
            + f'<p class="pv-compare-names">{say(SYMBOLS)}</p>'
        ),
    }  # fmt: skip


SYMBOLS = "b bytes a number, L tokens, H heads, K heads of keys and values, d = head_dim"


def memory_lines(shape: catalog.Shape, kv_heads: int, names: dict[str, str]) -> list[Curve]:
    """Bytes over the lengths."""
    square = [BYTES * catalog.get("alibi").bias_entries(at, shape.num_heads) for at in LENGTHS]
    cached = [BYTES * comparison.kv_cache_entries(shape, at, kv_heads) for at in LENGTHS]
    rows = [BYTES * comparison.trained_entries("learned", shape, at) for at in LENGTHS]
    return [
        Curve(names["limit"], "random", "1px,3px", LENGTHS, [ACCELERATOR] * len(LENGTHS), 1.4),
        Curve(names["learned"], "learned", "2px,2px", LENGTHS, rows),
        Curve(names["cache"], "accent", "6px,3px", LENGTHS, cached, 2.2),
        Curve(names["bias"], "ink", "", LENGTHS, square, 2.8),
    ]


def shapes(v: live.Values) -> str:
    """Released models to take the sizes of."""
    offered = []
    for model in comparison.MODELS:
        sizes = {
            "num_layers": model.shape.num_layers, "num_heads": model.shape.num_heads,
            "num_key_value_heads": model.num_kv_heads, "head_dim": model.shape.head_dim,
        }  # fmt: skip
        link = "&".join(f"{name}={value}" for name, value in sizes.items())
        chosen = all(v[name] == value for name, value in sizes.items())
        offered.append((model.label, link, say(model.source.title), chosen))
    return pictures.shapes(offered, say)


def exact(count: int) -> str:
    """A count in full."""
    return f"{count:,}"


def linked(text: str, answer: catalog.Answer) -> str:
    """A table cell that leads to where it can be checked."""
    return pictures.linked(text, answer.source.address, say(answer.source.title))


def exact_short(count: int) -> str:
    """A count that may have twenty digits."""
    return number(count) if count else "0"


def share(added: int, own: int) -> str:
    """Operations as a share of attention's own."""
    if not added:
        return "0"
    ratio = added / own
    if ratio >= 10:
        return say("{times} ×", times=number(ratio))
    return f"{100 * ratio:.3g}\u00a0%" if ratio >= 1e-6 else f"{number(100 * ratio)}\u00a0%"


# ----------------------------------------------------------------------------------- past training


def beyond(v: live.Values) -> live.Slots:
    """What the lab's models of each encoding lose past the length that they were trained at."""
    length = max(one for one in measured.LENGTHS if one <= v["context"])
    there = measured.families()
    start = measured.LENGTHS.index(measured.TRAINED_LENGTH)
    at = measured.LENGTHS.index(length)
    lines, again, rows = [], [], []
    for family, (label, colour) in FAMILIES.items():
        name = f"names-{family}"
        band = measured.band(name) if name in there else None
        copied = measured.band(name, quantity="repeated") if name in there else None
        if band is None or copied is None:
            continue
        lines.append(lab.Line(say(label), colour, band.lengths, band.mean, band.lowest,
                              band.highest, style.dash_of(colour), 2.0))  # fmt: skip
        again.append(lab.Line(say(label), colour, copied.lengths, copied.mean,
                              dash=style.dash_of(colour), width=1.8))  # fmt: skip
        rows.append((
            say(label), colour, f"lab?model={family}",
            (perplexity(band.mean[start]), seeds(band, at), held(measured.reach(name)),
             number(band.seeds)),
        ))  # fmt: skip
    floor = measured.floor()
    for found, best in ((lines, floor), (again, measured.repeated_floor())):
        found.append(lab.Line(say("best possible"), "quiet", measured.LENGTHS, best, dash="dash",
                              width=1.6))  # fmt: skip
    marks = [
        lab.Mark(measured.TRAINED_LENGTH, say("trained {count}", count=measured.TRAINED_LENGTH),
                 "quiet", "dot"),
        lab.Mark(length, say("{count} tokens", count=number(length)), "ink"),
    ]  # fmt: skip
    whole = [row[0] for row in rows if row[3][2] == held(math.inf)]
    said = say(
        "Tiny models, trained on texts of {trained} tokens, read on without help. At {length} "
        "tokens, {times} the trained length, the best possible reader has perplexity {floor}. "
        "The loss of {whole} holds to the end of what was measured; below is whether names read "
        "before still come back.",
        trained=measured.TRAINED_LENGTH, length=number(length),
        times=f"{number(length / measured.TRAINED_LENGTH)}×", floor=perplexity(floor[at]),
        whole=listed(whole),
    )  # fmt: skip
    title = say("Perplexity beyond the trained length")
    head = [say("Encoding"), say("at {count}", count=measured.TRAINED_LENGTH),
            say("at {count}", count=number(length)), say("holds to"), say("seeds")]  # fmt: skip
    if length == measured.TRAINED_LENGTH:
        head[2] = say("lowest–highest")
    return {
        "losses": live.figure(
            lab.perplexity(lines, marks, _=say),
            f"{title}: " + joined(f"{row[0]} {row[3][1]}" for row in rows),
        ),
        "losses:head": live.drawing(
            style.heading(title, say("unscaled; bands span the seeds"),
                          [(one.label, one.shade, one.dash) for one in lines])
        ),
        "copied": live.figure(
            lab.repeated(again, marks[:1], _=say),
            say("Loss on letters of a name read before, by encoding, at {length} tokens: {values}",
                length=number(length),
                values=joined(f"{one.label} {told_nats(one.nats[at])}" for one in again)),
        ),
        "copied:head": live.drawing(
            style.heading(say("Does it still copy?"), say("letters of a name read before"))
        ),
        "measured": live.drawing(pictures.measured(head, rows)),
        "measured:head": live.drawing(
            style.heading(say("Perplexity per character"),
                          say("a name leads to its models in the lab"))
        ),
        "caption": caption(said),
    }  # fmt: skip


def told_nats(nats: float) -> str:
    """A loss, where there is one."""
    return say("cannot read") if math.isnan(nats) else f"{nats:.2f}"


def perplexity(nats: float) -> str:
    """Of a loss in nats."""
    return f"{math.exp(nats):.2f}"


def seeds(band: measured.Band, at: int) -> str:
    """Perplexity of the seeds at one length, lowest and highest."""
    if math.isnan(band.mean[at]):
        return say("cannot read")
    low, high = perplexity(band.lowest[at]), perplexity(band.highest[at])
    return low if low == high else f"{low}–{high}"


def held(reach: float | None) -> str:
    """How far a loss holds."""
    if reach is None:
        return "–"
    return (
        number(reach)
        if math.isfinite(reach)
        else say("all {count}", count=number(measured.LENGTHS[-1]))
    )


def code(**values: Any) -> dict[str, str]:
    """Scripts of the curves by distance, and of what was measured."""
    there = [f"names-{family}" for family in FAMILIES if f"names-{family}" in measured.families()]
    return snippets.compare(there, POINTS, WORDS, **values)


VIEW = live.View("compare", parameters, draw, code=code)
