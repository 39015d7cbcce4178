"""Transformer-XL's view: four terms that add up, the memory, the relative shift, distances."""

from collections.abc import Iterator
from dataclasses import replace

from posviz import attention, params, transformer_xl
from posviz.figures import style
from posviz.figures import transformer_xl as pictures
from posviz.figures.style import counted, number
from posviz.ui import live
from posviz.ui.text import say
from posviz.views import snippets

LONGEST = 256  # keys
D_MODEL, D_HEAD = 64, 16
HEAD = transformer_xl.random_head(D_MODEL, D_HEAD, seed=4)
PARTS = {"terms": "Four terms", "memory": "Memory", "shift": "The shift", "distance": "Distances"}
HANDLES = {
    "memory": ("length", "asker", "index"),
    "shift": ("step", "shift_q_len", "shift_memory"),
    "distance": ("token", "v", "clamp_len", "distance", "dimension"),
}
FORMS = {"absolute": "before: places", "relative": "after: distances"}
DROPPED = {"first": "first row, [1:]", "last": "last row, [:-1] (bug)"}
TABLES = {"causal": "causal: k columns", "encoder": "encoder: 2L − 1 columns"}


def choice(
    name: str, label: params.Message, default: str, options: dict[str, params.Message]
) -> params.Choice:
    """A choice of the page."""
    return params.Choice(name, label, default, tuple(options), tuple(options.values()), "")


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The handles of all parts."""
    yield choice("part", "Part", "terms", PARTS)
    yield choice("form", "Reparametrization", "relative", FORMS)
    yield params.Number("q_len", "Queries", 12, 1, LONGEST, 1, "",
                        "Tokens of this segment; each of them asks.")  # fmt: skip
    longest = LONGEST - v["q_len"]
    yield params.Number("memory", "Memory", min(4, longest), 0, longest, 1, "",
                        "Tokens of the segment before, kept as keys.")  # fmt: skip
    first, k_len = v["memory"], v["memory"] + v["q_len"]
    asks = first + 2 * v["q_len"] // 3
    yield params.Number("query", "Query", asks, first, k_len - 1, 1, "",
                        "Which token asks, memory counted; rows of the maps.")  # fmt: skip
    yield params.Number("key", "Key", min(5 * k_len // 8, asks), 0, k_len - 1, 1, "",
                        "Which token is looked at; columns of the maps.")  # fmt: skip
    for name, told in (
        ("u", "Multiplies u, which weighs keys by what they say, for every query alike."),
        ("v", "Multiplies v, which weighs distances, for every query alike."),
    ):
        yield params.Number(name, params.Said(f"{name} ×"), 1.0, -3.0, 3.0, 0.01, "", told)
    yield replace(params.SHIFT, label="Move by", default=100, high=1000)
    yield params.Number("length", "Segment", 8, 4, 16, 1, "tokens",
                        "Tokens of a segment; the one before is the memory.")  # fmt: skip
    yield params.Number("asker", "Query", min(5, v["length"] - 1), 0, v["length"] - 1, 1, "",
                        "Which token of this segment asks.")  # fmt: skip
    yield params.Number("index", "Index", min(2, v["asker"]), 0, v["asker"], 1, "",
                        "Absolute index that stands in both segments.")  # fmt: skip
    yield choice("table", "Table", "causal", TABLES)
    yield choice("dropped", "Dropped", "first", DROPPED)
    yield params.Number("shift_q_len", "Queries", 3, 2, 4, 1, "", "Rows of the scores.")
    yield params.Number("shift_memory", "Memory", 1, 0, 2, 1, "", "Keys before the first query.")
    yield params.Number("step", "Step", 0.0, 0.0, 5.0 if v["table"] == "encoder" else 4.0, 0.05,
                        "", "How far the shift has come.")  # fmt: skip
    yield params.Number("token", "Query token", 4, 0, 31, 1, "",
                        "Which random token asks: its content chooses the distances.")  # fmt: skip
    yield params.Number("clamp_len", "clamp_len", 64, 1, LONGEST - 1, 1, "tokens",
                        "Distances beyond it all count as this one; 255 clamps nothing here.",
                        scale="log")  # fmt: skip
    yield params.Number("distance", "Distance", 20, 0, LONGEST - 1, 1, "tokens",
                        "From the query back to the key.")  # fmt: skip
    yield params.Number("dimension", "Dimension", 4, 0, D_MODEL - 1, 1, "",
                        "Column of R.")  # fmt: skip


def draw(**v: object) -> live.Slots:
    """The pictures of the part that is shown."""
    return {"terms": terms, "memory": memory, "shift": shift, "distance": distance}[
        str(v["part"])
    ](v)  # fmt: skip


def terms(v: live.Values) -> live.Slots:
    """The four terms as maps that add up, and what a move of the text does to them."""
    form, first, shifted = v["form"], v["memory"], v["shift"]
    k_len = first + v["q_len"]
    x = transformer_xl.tokens(k_len, D_MODEL)

    def at(start: int) -> tuple[transformer_xl.Terms, float]:
        """The terms of the text that begins at this position, and what they miss."""
        if form == "relative":
            made, product = HEAD.relative(x, v["q_len"], v["u"], v["v"])
        else:
            places = range(start, start + k_len)
            made, product = HEAD.absolute(x, v["q_len"], places[first:], places)
        return made, made.residual(product)

    zero, moved = at(0)[0], at(shifted)
    now, residual = moved
    row, key = v["query"] - first, v["key"]
    seen = bool(now.visible[row, key])
    change = transformer_xl.changes(zero, now)
    here, there = (one_cell(one, row, key) if seen else None for one in (zero, now))
    names = (say("at 0"), say("moved by {shift}", shift=number(shifted)))
    before, after = (attention.softmax(one.scores)[0, row] for one in (zero, now))
    product = pictures.FACTORED if form == "relative" else pictures.MULTIPLIED
    told = say("largest change of a weight: {change}", change=pictures.size(change["weights"]))
    seen_keys = before[: v["query"] + 1], after[: v["query"] + 1]
    return {
        "maps": live.drawing(*pictures.maps(now, form, first, v["query"], key, _=say)),
        "maps:head": live.drawing(
            style.heading(
                say("Four terms and their sum"),
                say("sum − direct product: at most {residual}; largest sum {largest}",
                    residual=pictures.size(residual),
                    largest=number(float(abs(now.total).max()))),
            )
        ),
        "product": live.drawing(pictures.shown(product, say)),
        "cell:head": live.drawing(
            style.heading(say("Query {query}, key {key}", query=v["query"], key=key),
                          say("distance {distance}", distance=v["query"] - key)
                          if seen else say("the key is ahead: hidden"))
        ),
        "cell": live.drawing(pictures.cell(form, here, there, shifted, D_HEAD, _=say)),
        "weights:head": live.drawing(
            style.heading(say("Where query {query} looks", query=v["query"]), told,
                          [(names[1], pictures.SHADES[form], "solid"), (names[0], "ink", "dash")])
        ),
        "weights": live.figure(
            pictures.weights(*seen_keys, k_len, form, key, names=names, _=say),
            say("Attention of query {query} by key; {told}", query=v["query"],
                told=style.plain_text(told)),
        ),
        "caption": live.drawing(style.caption(caption(v, now, change))),
    }  # fmt: skip


def one_cell(made: transformer_xl.Terms, row: int, key: int) -> dict[str, float]:
    """Terms and score of one query and key."""
    told = {name: float(getattr(made, name)[0, row, key]) for name in "abcd"}
    return told | {"score": float(made.scores[0, row, key])}


def caption(v: live.Values, now: transformer_xl.Terms, change: dict[str, float]) -> str:
    """What the maps show, and what the move changed."""
    if v["form"] == "relative":
        row, key = v["query"] - v["memory"], v["key"]
        stripes = say(
            "Term c has one value per column: u makes a key welcome, whoever asks. Term d has one "
            "value per diagonal: v makes a distance welcome."
        )  # fmt: skip
        here = say(
            "Key {key} gets {c} from every query, distance {distance} gets {d} everywhere.",
            key=key, c=pictures.places(float(now.c[0, row, key])), distance=v["query"] - key,
            d=pictures.places(float(now.d[0, row, key])),
        ) if now.visible[row, key] else ""  # fmt: skip
        kept = say(
            "Move the text by {shift}: no position enters, nothing changes.",
            shift=number(v["shift"]),
        )
        return " ".join(filter(None, (stripes, here, kept)))
    return say(
        "Every place has its own vector, so three of four terms know where the text begins: moved "
        "by {shift}, b changes by up to {b}, c by {c}, d by {d}, and a by {a}. Same words, same "
        "order, other weights.",
        shift=number(v["shift"]), **{name: pictures.places(change[name]) for name in "abcd"},
    )  # fmt: skip


def memory(v: live.Values) -> live.Slots:
    """Two segments whose absolute indices collide, and the distances that do not."""
    length, asker, index = v["length"], v["asker"], v["index"]
    x = transformer_xl.tokens(2 * length, D_MODEL, seed=9)
    indices = [*range(length), *range(length)]
    absolute = HEAD.absolute(x, length, indices[length:], indices)[0]
    relative = HEAD.relative(x, length)[0]
    by_index, by_distance = (
        (one.b + one.d)[0, asker, : length + asker + 1] for one in (absolute, relative)
    )
    names = (say("by absolute index"), say("by distance"))
    first, second = (float(by_index[n]) for n in (index, length + index))
    far, near = (float(by_distance[n]) for n in (index, length + index))
    distances = [length + asker - n for n in range(2 * length)]
    told = say(
        "Index {index} stands in both segments, {far} and {near} tokens back. By index the place "
        "adds {both} to both (difference {difference}): it cannot tell one from the other. By "
        "distance one gets {one}, the other {other}.", index=index, far=distances[index],
        near=distances[length + index], both=pictures.places(second),
        difference=pictures.size(abs(first - second)), one=pictures.places(far),
        other=pictures.places(near),
    )  # fmt: skip
    numbers = {"L": length, "i": asker, "j": index}
    return {
        "segments": live.drawing(
            pictures.segments(length, asker, index, distances, _=say)
            + pictures.shown(pictures.DISTANCE, say, **numbers)
        ),
        "segments:head": live.drawing(
            style.heading(say("One text, read in segments"),
                          say("query {asker} of this segment asks", asker=asker))
        ),
        "repeats": live.figure(
            pictures.repeats(by_index, by_distance, index, length, names=names, _=say), told
        ),
        "repeats:head": live.drawing(
            style.heading(
                say("What a key's position adds to its score"), "b + d",
                [(names[0], pictures.SHADES["absolute"], "dash"),
                 (names[1], pictures.SHADES["relative"], "solid")],
            )
        ),
        "caption": live.drawing(style.caption(told)),
    }  # fmt: skip


def shift(v: live.Values) -> live.Slots:
    """The relative shift as cells that move."""
    q_len, encoder = v["shift_q_len"], v["table"] == "encoder"
    k_len = q_len + v["shift_memory"]
    columns = q_len + k_len - 1 if encoder else k_len
    cells = transformer_xl.shift_cells(q_len, k_len, v["step"], v["dropped"], encoder)
    current = round(v["step"])
    told = told_shift(cells, q_len, k_len, current, v["dropped"], encoder)
    return {
        "shifting": live.drawing(
            pictures.shifting(cells, q_len, k_len, columns, current, alt=told, _=say)
        ),
        "shifting:head": live.drawing(
            style.heading(
                say("Scores on their way"),
                say("q = {q_len}, k = {k_len}, memory {memory}", q_len=q_len, k_len=k_len,
                    memory=v["shift_memory"]),
            )
        ),
        "steps": live.drawing(
            pictures.steps(current, 6 if encoder else 5, v["dropped"], _=say)
        ),
        "steps:head": live.drawing(
            style.heading(say("The steps"), say("choose one, or play"))
        ),
        "caption": live.drawing(style.caption(told)),
    }  # fmt: skip


TOLD_STEPS = (
    "Each row is a query, each column a distance δ, far first. But softmax needs a column per "
    "key. So the first row must move left by {last}, each further row by one less, the last not "
    "at all.",
    "A zero stands in front of each of the {q_len} rows now: {cells} cells.",
    "The same cells in the same order, read on in rows of {q_len}: no number moves in memory, only "
    "the ends of the rows do.",
)


def told_shift(
    cells: transformer_xl.ShiftCells, q_len: int, k_len: int, step: int, dropped: str, encoder: bool
) -> str:
    """What the step does, and how many cells end where they belong."""
    count = len(cells.row)
    if step < len(TOLD_STEPS):
        return say(TOLD_STEPS[step], last=q_len - 1, q_len=q_len, cells=count)
    if step == 3:
        gone = say("first") if dropped == "first" else say("last")
        return say("The {gone} {q_len} cells are gone, {left} are left.", gone=gone, q_len=q_len,
                   left=count - q_len)  # fmt: skip
    right = cells.right & ~cells.ahead
    of = q_len * k_len - int(cells.ahead.sum())
    told = say(
        "{right} of the {of} cells that a query may look at hold its own score for their distance.",
        right=int(right.sum()), of=of,
    )  # fmt: skip
    if dropped == "last":
        return told + " " + say("With [:-1] in place of [1:] every row is off, and nothing fails.")
    if encoder:
        ahead = int((cells.right & cells.ahead).sum())
        wide = say(
            "With a column for each of the {columns} distances, down to {least}, {ahead} right "
            "too.", columns=q_len + k_len - 1, least=number(1 - q_len),
            ahead=counted(ahead, "the cell ahead is", "the {count} cells ahead are", say),
        )  # fmt: skip
        return " ".join((told, wide, say("The rest is cut next.") if step == 4 else "")).strip()
    garbage = counted(
        int(cells.ahead.sum()), "The cell left over, where the key is ahead, holds garbage",
        "The {count} cells left over, where the key is ahead, hold garbage", say,
    )  # fmt: skip
    return told + " " + say(
        "{garbage}: another row's numbers, not just zeros. A causal mask hides them, so a decoder "
        "takes no harm. A picture must mask them too, and an encoder, which looks ahead, needs the "
        "wider table.", garbage=garbage,
    )  # fmt: skip


def distance(v: live.Values) -> live.Slots:
    """Terms b and d by distance, and the table R that they come from."""
    far, clamp, dimension = v["distance"], v["clamp_len"], v["dimension"]
    x = transformer_xl.tokens(LONGEST, D_MODEL, v["token"])
    made = HEAD.relative(x, 1, v=v["v"], clamp_len=clamp)[0]
    b, d = made.b[0, 0, ::-1], made.d[0, 0, ::-1]  # keys from far to near, so distances from 0
    r = transformer_xl.position_encoding(LONGEST, D_MODEL, clamp)
    shared = min(far, clamp)
    formula = pictures.SINE if dimension < D_MODEL // 2 else pictures.COSINE
    numbers = {"distance": shared, "n": dimension, "d_model": D_MODEL}
    names = (say("b, this query"), say("d, any query"))
    told = say("at distance {distance}: b {b}, d {d}, together {both}", distance=far,
               b=pictures.places(float(b[far])), d=pictures.places(float(d[far])),
               both=pictures.places(float(b[far] + d[far])))  # fmt: skip
    same = say(
        "Distance {distance} counts as {clamp}, like everything further away: the curves are flat "
        "from there on.", distance=far, clamp=clamp,
    )  # fmt: skip
    free = say("Up to distance {clamp} each has a row of R of its own; further away all share one, "
               "and the curves are flat.", clamp=clamp)  # fmt: skip
    return {
        "curves": live.figure(pictures.by_distance(b, d, far, clamp, names=names, _=say), told),
        "curves:head": live.drawing(
            style.heading(
                say("What a distance adds"), told,
                [(names[0], "transformer_xl", "solid"), (names[1], "accent", "dash")],
            )
        ),
        "R": live.drawing(*pictures.encoding(r, far, dimension, _=say)),
        "R:head": live.drawing(
            style.heading(
                say("R, the table of distances"),
                say("frequencies over d_model = {d_model}, not over a head's {d_head}",
                    d_model=D_MODEL, d_head=D_HEAD),
            )
        ),
        "entry": live.drawing(pictures.shown(formula, say, **numbers)),
        "caption": live.drawing(style.caption(
            say("Drag the query token: b follows, d stays. Drag v: d follows, b stays."),
            same if far > clamp else free,
        )),
    }  # fmt: skip


VIEW = live.View("transformer_xl", parameters, draw, code=snippets.transformer_xl)
