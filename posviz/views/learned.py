"""The learned table's view: one trained row per position, and none past the last."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

from posviz import learned, measured, params
from posviz.figures import learned as pictures
from posviz.figures import style
from posviz.figures.style import number, percent
from posviz.models import names, tables
from posviz.ui import live
from posviz.ui.text import clauses, complaint, say, valued
from posviz.views import snippets

FAMILY = "names-learned"
PARTS = {
    "rows": "Rows", "change": "What training changed", "end": "The end",
    "longer": "Drawn out", "reading": "Does it still read?",
}  # fmt: skip
HANDLES = {
    "rows": ("position", "other"), "change": ("position",), "end": ("token",),
    "longer": ("factor", "place"), "reading": ("factor",),
}  # fmt: skip
LAB = "lab"  # the table that is drawn on the rest of the page
NUMBERS = 0.12  # end of the colours of a row's numbers; the largest is 0.113
COSINES = 0.06  # end of the axis of changes of a cosine; the largest is 0.052
GAPS = 0.25  # end of the axis of distances between neighbours; the largest is 0.231
MOVES = 0.12  # end of the axis of moves; the largest is 11 %
FURTHEST = 12.0  # tokens back that are drawn
LONGEST = 1024  # tokens that the longest table reads
DOCUMENTS = (4, 16)  # texts after which there are numbers; the last are the ones of the lab


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The part that is shown, the model, and every part's handles."""
    yield params.Choice("part", "Part", "rows", tuple(PARTS), tuple(PARTS.values()), "")
    seeds = tuple(name.rpartition("seed")[2] for name in measured.models(FAMILY))
    labels = tuple(params.Said(say("seed {seed}", seed=seed)) for seed in seeds)
    yield params.Choice("seed", "Seed", seeds[0], seeds, labels, "")
    rows = tables.table(f"{FAMILY}-seed{v['seed']}").rows
    place = replace(params.POSITION, default=40, high=rows - 1, scale="linear", unit="")
    yield replace(place, help="Whose row is looked at, counted from 0.")
    yield replace(place, name="other", label="Other position", default=48,
                  help="Whose row it is compared with.")  # fmt: skip
    options = (LAB, *learned.RELEASED)
    names = tuple(params.Said(size(option).label) for option in options)
    yield params.Choice("table", "Table", "bert", options, names, "")
    positions = size(v["table"]).positions
    yield replace(place, name="token", default=positions, high=2 * positions - 1,
                  help="Position to look up, also past the end; the first is 0.")  # fmt: skip
    yield replace(params.FACTOR, label="Factor", default=2.0, high=4.0, scale="linear",
                  help="How many times longer the table is made, without training.")  # fmt: skip
    longer = round(v["factor"] * rows)
    yield replace(place, name="place", default=min(128, longer - 1), high=longer - 1,
                  help="A position of the longer table, counted from 0.")  # fmt: skip


def size(option: str) -> learned.Released:
    """Size of the table of that option."""
    if option != LAB:
        return learned.RELEASED[option]
    return learned.Released(say("our tiny model"), measured.TRAINED_LENGTH, 0, "")


@dataclass(frozen=True)
class Scene:
    """What choices and handles mean together; one field per parameter, by its name."""

    part: str
    seed: str
    position: int
    other: int
    table: str
    token: int
    factor: float
    place: int

    @property
    def model(self) -> str:
        """Name of the trained model."""
        return f"{FAMILY}-seed{self.seed}"

    @cached_property
    def own(self) -> tables.Table:
        """Its table."""
        return tables.table(self.model)

    @property
    def seq_len(self) -> int:
        """Rows of the longer table."""
        return round(self.factor * self.own.rows)


def draw(**values: Any) -> live.Slots:
    """The pictures of the part."""
    scene = Scene(**values)
    return {"rows": rows, "change": change, "end": end, "longer": longer,
            "reading": reading}[scene.part](scene)  # fmt: skip


def formula(*markup: str) -> live.Picture:
    """Formulas, one below the other."""
    return live.drawing(
        "".join(f'<p class="pv-formula pv-learned-formula">{one}</p>' for one in markup)
    )


def rows(scene: Scene) -> live.Slots:
    """The table itself: how alike its rows are."""
    own, p, q = scene.own, scene.position, scene.other
    alike, start = float(own.similarity[p, q]), float(own.start_similarity[p, q])
    nearest = learned.nearest(own.trained, p)
    told = say("positions {p} and {q}: {value}", p=p, q=q, value=f"{alike:.3f}")
    profile = pictures.chart(
        [pictures.by_index(say("before training"), "sinusoidal", "5px,5px",
                           own.start_similarity[p]),
         pictures.by_index(say("trained"), "learned", "", own.similarity[p])],
        (0.0, own.rows - 1.0), (0.0, 1.05), (say("position q"), say("cosine")),
        [(p, "learned", "solid"), (q, "ink", "dash")], lowest=4.5,
    )  # fmt: skip
    return {
        "similarity:head": live.drawing(style.heading(say("How alike the rows are"), told)),
        "similarity": live.drawing(*pictures.similarity(
            own.similarity, p, q, _=say,
            alt=say("Cosine similarity of {rows} rows: {told}", rows=own.rows, told=told),
        )),
        "profile:head": live.drawing(style.heading(
            say("Row {p} against every row", p=p), "",
            [(say("trained"), "learned", "solid"),
             (say("before training: sinusoidal"), "sinusoidal", "dash")],
        )),
        "profile": live.figure(profile, say("Similarity to row {p}: {told}", p=p, told=told)),
        "numbers:head": live.drawing(style.heading(
            say("The two rows"), say("{width} numbers each", width=len(own.trained[p]))
        )),
        "numbers": live.drawing(*pictures.two_rows(
            own.trained[[p, q]], [say("row {p}", p=p), say("row {p}", p=q)], NUMBERS, _=say,
            alt=say("The numbers of rows {p} and {q}: {told}", p=p, q=q, told=told),
        )),
        "formula": formula(pictures.COSINE.markup(
            say, alike, product=own.product(p, q), size_p=float(own.sizes[p]),
            size_q=float(own.sizes[q]),
        )),
        "caption": live.drawing(style.caption(say(
            "Rows {p} and {q} have a cosine of <b>{alike}</b>; before training it was {start}. The "
            "row most like row {p} is {nearest}, with {near}. The bands are inherited: this table "
            "began as the sinusoidal one and moved little.",
            p=p, q=q, alike=f"{alike:.3f}", start=f"{start:.3f}", nearest=nearest,
            near=f"{float(own.similarity[p, nearest]):.3f}",
        ))),
    }  # fmt: skip


def change(scene: Scene) -> live.Slots:
    """Trained minus start."""
    own, p = scene.own, scene.position
    most = int(own.moved.argmax())
    share = float(own.moved_share[p])
    told = say("position {p} moved by {share} of its length", p=p, share=tenths(share))
    moved = pictures.chart(
        [pictures.by_index(say("moved"), "learned", "", own.moved_share)],
        (0.0, own.rows - 1.0), (0.0, MOVES), (say("position"), say("moved, of its length")),
        [(p, "ink", "solid"), (63.5, "quiet", "dot")], percent=True,
    )  # fmt: skip
    effect = pictures.chart(
        [pictures.by_index(say("change"), "ink", "", own.similarity_change[p])],
        (0.0, own.rows - 1.0), (-COSINES, COSINES), (say("position q"), say("change of cosine")),
        [(p, "learned", "solid")],
    )  # fmt: skip
    return {
        "change:head": live.drawing(
            style.heading(say("Trained minus start"), say("number by number"))
        ),
        "change": live.drawing(*pictures.change(
            own.change, p, _=say,
            alt=say("What training added to each number of the table: {told}", told=told),
        )),
        "moved:head": live.drawing(style.heading(say("How far each row moved"), told)),
        "moved": live.figure(moved, say("How far training moved each row: {told}", told=told)),
        "effect:head": live.drawing(style.heading(
            say("What it did to row {p}", p=p), say("cosine to every row, trained minus start")
        )),
        "effect": live.figure(effect, say("Change of the cosine to row {p}: {told}", p=p,
                                          told=told)),
        "formula": formula(pictures.MOVED.markup(
            say, share, size_change=float(own.moved[p]), size_start=float(own.start_sizes[p])
        )),
        "caption": live.drawing(style.caption(say(
            "Position {most} moved most, by <b>{top}</b> of its length; half of all rows moved by "
            "less than {half}. Up to position 63, left of the dotted line, rows were trained in "
            "every phase, the others only once the texts grew that long. The table learned at a "
            "hundredth of the usual rate.",
            most=most, top=tenths(float(own.moved_share[most])), half=tenths(own.median_share),
        ))),
    }  # fmt: skip


def tenths(share: float) -> str:
    """A share in per cent with one decimal."""
    return f"{100 * share:.1f} %"


def end(scene: Scene) -> live.Slots:
    """Where the table ends."""
    one, token = size(scene.table), scene.token
    last = 2 * one.positions - 1
    try:
        row = learned.row_of(token, one.rows, one.offset)
    except params.InvalidParameterError as problem:
        said = f'<p class="pv-learned-answer is-error">{escape(complaint(problem))}</p>'
        told = say(
            "Position {token} is token number {count}, and {label} has no row for it: nothing was "
            "trained there, and a table has no rule to make one from. The model cannot read it at "
            "all; PyTorch stops with <i>index out of range in self</i>.",
            token=number(token), count=number(token + 1), label=escape(one.label),
        )  # fmt: skip
        shown = ""
    else:
        said = (
            '<p class="pv-learned-answer">'
            + say("row {row} of {rows} is added to the token", row=number(row),
                  rows=number(one.rows)) + "</p>"
        )  # fmt: skip
        told = say(
            "Position {token} reads row {row}. Tokens left before the table of {label} ends: "
            "{left}.",
            token=number(token), row=number(row), left=number(one.positions - 1 - token),
            label=escape(one.label),
        )  # fmt: skip
        shown = pictures.ROW.markup(say, row, offset=one.offset, p=token)
    listed = [
        (option, size(option).label, size(option).rows, size(option).offset, size(option).source)
        for option in (LAB, *learned.RELEASED)
    ]
    return {
        "shelf:head": live.drawing(style.heading(
            say("The table of {label}", label=escape(one.label)),
            say("{count} positions", count=number(one.positions)),
        )),
        "shelf": live.drawing(pictures.shelf(one, token, last, _=say)),
        "window:head": live.drawing(style.heading(say("Around it"), say("click one to go there"))),
        "window": live.drawing(pictures.window(one, token, last, "token", _=say)),
        "answer": live.drawing(said),
        "formula": formula(shown),
        "sizes:head": live.drawing(style.heading(
            say("Tables that were trained"), say("click one to look it up")
        )),
        "sizes": live.drawing(pictures.sizes(listed, scene.table, "table", _=say)),
        "caption": live.drawing(style.caption(told)),
    }  # fmt: skip


def longer(scene: Scene) -> live.Slots:
    """The table made longer by straight lines between its rows."""
    own, n, p = scene.own, scene.seq_len, scene.place
    table, read_at = learned.interpolate(own.trained, n), learned.read_at(n, own.rows)
    r = float(read_at[p])
    below = min(int(r), own.rows - 2)
    share = r - below
    nearest = round(r)
    before, after = learned.gaps(own.trained), learned.gaps(table)
    closer = float(before.mean() / after.mean())
    alike = [float(learned.neighbour_similarity(one).mean()) for one in (own.trained, table)]
    told = say("position {p} reads row {r}", p=number(p), r=f"{r:.2f}")
    drawn_out = say("drawn out to {n}", n=number(n))
    trained = say("trained")
    key = [(trained, "learned", "solid"), (drawn_out, "ink", "dash")]
    near = pictures.chart(
        [pictures.near(drawn_out, "ink", "6px,3px", learned.similarity(table, p), p),
         pictures.near(trained, "learned", "", own.similarity[nearest], nearest)],
        (-pictures.NEAR, pictures.NEAR), (0.0, 1.05), (say("tokens away"), say("cosine")),
    )  # fmt: skip
    gaps = pictures.chart(
        [pictures.between(drawn_out, "ink", "", read_at, after),
         pictures.between(trained, "learned", "", learned.read_at(own.rows, own.rows), before)],
        (0.0, own.rows - 1.0), (0.0, GAPS),
        (say("row of the trained table"), say("distance to the next row")),
        [(r, "quiet", "solid")],
    )  # fmt: skip
    return {
        "rulers:head": live.drawing(style.heading(say("Where the new rows come from"), told)),
        "rulers": live.drawing(pictures.rulers(read_at, own.rows, p, alt=told, _=say)),
        "formula": formula(
            pictures.READ_AT.markup(say, r, p=p, rows=own.rows, n=n),
            say("new row {p} = {first} of row {below} + {second} of row {above}", p=number(p),
                first=f"{100 * (1 - share):.0f} %", below=below, second=f"{100 * share:.0f} %",
                above=below + 1),
        ),
        "near:head": live.drawing(style.heading(
            say("Similarity to the rows around it"), "", key
        )),
        "near": live.figure(near, say("Similarity of neighbours: {told}", told=told)),
        "gaps:head": live.drawing(style.heading(
            say("Distance between neighbours"), "",
            [(trained, "learned", "solid"), (drawn_out, "ink", "solid")],
        )),
        "gaps": live.figure(gaps, say(
            "Distance between neighbours, on average {before} before and {after} after",
            before=f"{before.mean():.4f}", after=f"{after.mean():.4f}",
        )),
        "caption": live.drawing(style.caption(say(
            "Drawn out to {n} rows, neighbours stand <b>{closer}×</b> closer: {after} apart on "
            "average instead of {before}. Their cosine rises from {alike} to {alike_after}: the "
            "weights must now tell apart what they never saw so close.",
            n=number(n), closer=f"{closer:.2f}", before=f"{before.mean():.4f}",
            after=f"{after.mean():.4f}", alike=f"{alike[0]:.4f}", alike_after=f"{alike[1]:.4f}",
        ))),
    }  # fmt: skip


def reading(
    scene: Scene, found: tables.Loss | None = None, looks: tables.Looks | None = None
) -> live.Slots:
    """What the model loses with the longer table; ``found`` and ``looks`` once it has read."""
    n, rows_ = scene.seq_len, scene.own.rows
    known = measured.curve(scene.model)
    assert known is not None
    at = known.lengths.index(rows_)
    within = slice(0, at + 1)
    lengths = tuple(length for length in known.lengths if length <= LONGEST)
    floor, guess = pictures.as_perplexity(measured.floor(lengths)), len(names.ALPHABET)
    drawn_out, trained = say("drawn out to {n}", n=number(n)), say("trained table")
    fall, best = say("guessing"), say("best possible reader")
    lines = [pictures.over(trained, "learned", "", known.lengths[within], known.perplexity[within]),
             pictures.over(best, "quiet", "6px,3px", lengths, floor),
             pictures.flat(fall, "random", "2px,2px", lengths, guess)]  # fmt: skip
    key = [(drawn_out, "ink", "solid"), (trained, "learned", "solid"),
           (best, "quiet", "dash"), (fall, "random", "dot")]  # fmt: skip
    trained_now = float(known.perplexity[at])
    told = say("trained: {trained} at {rows} tokens", trained=number(trained_now), rows=rows_)
    waiting = say("measuring…")
    said = say("Measuring: the model reads {count} texts with a table of {n} rows. Nothing in it "
               "is trained again.", n=number(n), count=DOCUMENTS[-1])  # fmt: skip
    weights = []
    if found is not None:
        lines.insert(0, pictures.over(drawn_out, "ink", "", found.lengths, found.perplexity))
        last, there = found.lengths[-1], float(found.perplexity[-1])
        early = float(found.perplexity[found.lengths.index(rows_)])
        if n > rows_:
            told = say("{told}; drawn out: {now} at {last}", told=told, now=number(there),
                       last=number(last))  # fmt: skip
        said = verdict(n, (last, there), early, (rows_, trained_now), guess)
        waiting = ""
        if found.documents < DOCUMENTS[-1]:
            waiting = say("{count} of {all} texts, measuring…", count=found.documents,
                          all=DOCUMENTS[-1])  # fmt: skip
            said = f"<b>{waiting}</b> {said}"
    told = clauses(filter(None, (waiting, told)))
    where = ""
    if looks is not None:
        weights = [pictures.by_index(drawn_out, "ink", "6px,3px", looks.longer),
                   pictures.by_index(trained, "learned", "", looks.trained)]  # fmt: skip
        head_told = say(
            "layer {layer}, head {head}: {before} on the token before, then {after}",
            layer=looks.layer + 1, head=looks.head + 1,
            before=percent(looks.trained[1]), after=percent(looks.longer[1]),
        )  # fmt: skip
        where = say("As trained this head finds the token before, which copying is built on.")
        if n > rows_:
            where += " " + say(
                "In the longer table a row {count} tokens back is what one a token back was, so it "
                "looks too far.", count=f"{scene.factor:.3g}",
            )  # fmt: skip
    else:
        head_told = say("the head that looks most at the token before: measuring…")
    back = pictures.chart(
        weights, (0.0, FURTHEST), (0.0, 0.8), (say("tokens back"), say("share of its weight")),
        percent=True,
    )  # fmt: skip
    title = say("Perplexity with the longer table")
    return {
        "perplexity:head": live.drawing(style.heading(title, told, key)),
        "perplexity": live.figure(pictures.perplexity(lines, rows_, say), valued(title, told)),
        "looks:head": live.drawing(style.heading(
            say("Where one head looks"), head_told,
            [(drawn_out, "ink", "dash"), (trained, "learned", "solid")],
        )),
        "looks": live.figure(back, head_told),
        "where": live.drawing(style.caption(where)),
        "caption": live.drawing(style.caption(said)),
    }  # fmt: skip


def verdict(
    n: int, now: tuple[int, float], early: float, trained: tuple[int, float], guess: float
) -> str:
    """What a table of ``n`` rows costs, out of perplexities by length."""
    if n == trained[0]:
        return say("At factor 1 this is the trained table, number by number: a perplexity of "
                   "<b>{there}</b> at {rows} tokens. Draw it out.",
                   there=number(trained[1]), rows=number(n))  # fmt: skip
    said = say(
        "With {n} rows the model reads on, at a perplexity of <b>{there}</b> at {last} tokens (as "
        "unsure as among that many characters), and {early} at {rows}, where the "
        "trained table has {trained}.",
        n=number(n), there=number(now[1]), last=number(now[0]), early=number(early),
        rows=number(trained[0]), trained=number(trained[1]),
    )  # fmt: skip
    if now[1] > guess:
        more = say("Guessing among {guess} characters would be {guess}: without training the "
                   "longer table is worse than nothing.", guess=number(guess))  # fmt: skip
    elif now[1] > 1.1 * trained[1]:
        more = say("Every row is where the weights do not expect it, so it costs within the "
                   "trained length too.")  # fmt: skip
    else:
        more = say("So little is bearable; draw it out further.")
    return f"{said} {more}"


def measure(**values: Any) -> Iterator[live.Slots]:
    """The model reads with the longer table, more and more documents."""
    scene = Scene(**values)
    if scene.part != "reading":
        return
    from posviz.models import stretched

    looks = stretched.looks(scene.model, scene.seq_len)
    for found in stretched.losses(scene.model, scene.seq_len, DOCUMENTS):
        yield reading(scene, found, looks)


VIEW = live.View("learned", parameters, draw, measure, snippets.learned)
