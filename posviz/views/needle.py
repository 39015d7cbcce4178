"""The needle's view: which planted names come back, and what perplexity says about it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from posviz import haystacks, measured, params
from posviz.figures import needle as pictures
from posviz.figures import style
from posviz.figures.needle import Column, Place
from posviz.figures.style import number
from posviz.models import checkpoint, reading
from posviz.ui import live
from posviz.ui.labels import FAMILIES
from posviz.ui.text import clauses, complaint, joined, say
from posviz.views.trained import BETA_FAST, METHOD, Trained, factor

CHANCE = 0.05  # a letter of a name is one of 20
LOST, NEAR = 0.5, 1.1  # fewer letters than this; perplexity up to so many times the trained one
FAINT = 0.1  # a head with less of its weight on the needle does not look at it
CELL = params.Number(
    "cell", "Cell", 12, 0, 24, 1, "",
    "Which cell of the grid is shown from near, row by row from the shortest length at depth 0.",
)  # fmt: skip
TEXT = params.Number("haystack", "Text", 1, 1, 8, 1, "", "Which of the cell's texts is shown.")
PICTURES = ("grid:head", "grid", "caption", "near:head", "answer", "heads", "text", "near")
# Columns measured since the server began: choosing a cell does not measure them again.
kept: dict[object, list[Column]] = {}


def seeds() -> dict[str, tuple[str, ...]]:
    """The models that there are, each with the seeds that it was trained from."""
    names = checkpoint.names()
    found = {
        model: tuple(name.rpartition("-seed")[2] for name in names
                     if name.startswith(f"names-{model}-seed"))
        for model in FAMILIES
    }  # fmt: skip
    return {model: of for model, of in found.items() if of} or dict.fromkeys(FAMILIES, ("0",))


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The choices and handles; the model says which base it was trained with."""
    there = seeds()
    models = tuple(there)
    labels = tuple(FAMILIES[one][0] for one in models)
    yield params.Choice("model", "Model", models[0], models, labels,
                        "A tiny language model, by its position encoding.")  # fmt: skip
    of = there[v["model"]]
    yield params.Choice("seed", "Seed", of[0], of, tuple(map(params.Said, of)), "")
    yield METHOD
    yield factor(v["rope_type"], usual=params.FACTOR.default, high=16.0)
    base = reading.FAMILIES[v["model"]].rope_theta
    yield params.ROPE_THETA.within(high=1e6, default=base)
    yield BETA_FAST
    yield params.SLOPE_MULTIPLIER
    yield CELL
    yield TEXT


@dataclass(frozen=True)
class Scene(Trained):
    """What the handles mean together; one field per parameter, by its name."""

    task = "names"

    rope_theta: float
    cell: int
    haystack: int

    @cached_property
    def setting(self) -> dict[str, Any]:
        """How the model is read, as :class:`posviz.models.positions.Setting` takes it."""
        read: dict[str, Any] = {"encoding": self.encoding}
        if self.encoding == "rope":
            read["rope_theta"] = self.rope_theta
            read["scaling"] = self.scaling
        if self.encoding == "alibi":
            read["slope_multiplier"] = self.slope_multiplier
        return read

    @cached_property
    def label(self) -> str:
        """The setting in words."""
        said = [say(FAMILIES[self.model][0]), say("seed {seed}", seed=self.seed)]
        if self.encoding == "rope" and self.rope_theta != self.card["rope_theta"]:
            said.append(say("read with base {base}", base=number(self.rope_theta)))
        return joined([*said, *self.changes])

    @cached_property
    def shape(self) -> haystacks.Grid:
        """Any grid of the file: all have the same lengths, depths and texts."""
        found = haystacks.grid(haystacks.models()[0])
        assert found  # every model is read as it was trained
        return found

    @cached_property
    def stored(self) -> haystacks.Grid | None:
        """The committed grid of this setting."""
        method, factor = "default", 1.0
        if self.encoding == "rope":
            if self.rope_theta != self.card["rope_theta"] or (
                self.rope_type == "yarn" and self.beta_fast != measured.BETA_FAST
            ):
                return None
            method, factor = self.rope_type, self.factor
        if self.encoding == "alibi":
            method, factor = "slopes", self.slope_multiplier
        known = self.name in haystacks.models()
        return haystacks.grid(self.name, method, factor) if known else None

    @cached_property
    def columns(self) -> list[Column]:
        """The grid as far as it is known."""
        if self.stored:
            grid = self.stored
            rows = zip(grid.lengths, grid.accuracy, grid.error, grid.nats, grid.floor, strict=True)
            return [self.column(*(one.tolist() for one in row[1:]), length=row[0]) for row in rows]
        done = kept.get((self.name, repr(self.setting)), [])
        rest = self.shape.lengths[len(done) :]
        return [*done, *(Column(length, self.possible(length)) for length in rest)]

    def column(
        self, accuracy: list[float], error: list[float], nats: float, floor: float, *, length: int
    ) -> Column:
        if not self.possible(length):
            return Column(length, False)
        return Column(length, True, accuracy, error, math.exp(nats), math.exp(floor))

    def possible(self, length: int) -> bool:
        """Whether the model can read so many tokens: a learned table ends with training."""
        return self.encoding != "learned" or length <= self.trained

    @property
    def place(self) -> Place:
        row, column = divmod(self.cell, len(self.shape.lengths))
        return row, column

    @property
    def length(self) -> int:
        return self.shape.lengths[self.place[1]]

    @property
    def depth(self) -> float:
        return self.shape.depths[self.place[0]]

    @property
    def usual(self) -> Column:
        """The column of the trained context."""
        return next(column for column in self.columns if column.length == self.trained)

    @property
    def fails(self) -> bool:
        """Whether needles are lost within the trained context already."""
        found = self.usual.accuracy
        return bool(found) and sum(found) < LOST * len(found)

    @cached_property
    def lost(self) -> list[Place]:
        """Cells whose needle is lost while perplexity is as in training."""
        if self.fails:
            return []
        return [
            (row, i)
            for i, column in enumerate(self.columns)
            if column.perplexity <= NEAR * self.usual.perplexity
            for row, share in enumerate(column.accuracy)
            if share < LOST
        ]


def draw(**values: Any) -> live.Slots:
    """The grid as far as it is known, and a place for what is measured."""
    scene = Scene(**values)
    try:
        return {"notice": live.drawing(""), **grid(scene), **near(scene)}
    except params.InvalidParameterError as problem:
        sentence = say("{sentence}.", sentence=escape(complaint(problem)))
        notice = live.drawing(style.notice(sentence))
        return {"notice": notice} | dict.fromkeys(PICTURES, live.drawing(""))


def measure(**values: Any) -> Iterator[live.Slots]:
    """The chosen cell from near, then the grid column by column if it is not known."""
    from posviz.models import needle
    from posviz.models.positions import Setting

    scene = Scene(**values)
    setting = Setting(**scene.setting)
    try:
        yield cell(scene, needle.cell(scene.name, setting, scene.length, scene.depth,
                                      scene.haystack - 1))  # fmt: skip
    except params.InvalidParameterError as problem:  # a learned table has no row
        sentence = say("{sentence}.", sentence=escape(complaint(problem)))
        yield {**near(scene), "near": live.drawing(style.caption(sentence))}
    if all(column.accuracy or not column.possible for column in scene.columns):
        return
    done: list[Column] = []
    for one in needle.fill(scene.name, setting, scene.shape.haystacks):
        done.append(scene.column(one.accuracy.tolist(), one.error.tolist(), one.nats, one.floor,
                                 length=one.length))  # fmt: skip
        remember((scene.name, repr(scene.setting)), done)
        yield grid(Scene(**values))


def remember(key: object, done: list[Column]) -> None:
    """Keeps the columns of the newest settings."""
    if len(done) > len(kept.get(key, [])):
        kept[key] = list(done)
    while len(kept) > 200:
        del kept[next(iter(kept))]


def grid(scene: Scene) -> live.Slots:
    """Accuracy by length and depth, perplexity above it, and what the two say together."""
    texts = scene.shape.haystacks
    drawn = pictures.grid(
        scene.columns, scene.shape.depths, chosen=scene.place, lost=scene.lost,
        trained=scene.trained, chance=CHANCE, texts=texts, _=say,
    )  # fmt: skip
    return {
        "grid:head": live.drawing(style.heading(say("Needles found"), scene.label)),
        "grid": live.drawing(drawn),
        "caption": live.drawing(style.caption(caption(scene))),
        "near:head": live.drawing(style.heading(say("One cell from near"), chosen(scene))),
    }


def caption(scene: Scene) -> str:
    """Where perplexity and needle disagree."""
    readable = [column for column in scene.columns if column.possible]
    known = [column for column in readable if column.accuracy]
    if len(known) < len(readable):
        return say("Measuring; lengths done: {done} of {count}.", done=len(known),
                   count=len(readable))  # fmt: skip
    low = min(min(column.accuracy) for column in known)
    if scene.fails:
        said = say(
            "Read so, the model fails within the {trained} tokens of its training: "
            "perplexity {usual}, where {floor} is possible, and few letters are found."
        )
    elif scene.lost:
        said = say(
            "Low perplexity, lost needle: {cells}. Perplexity is at most 10 % above its "
            "{usual} at {trained} tokens, yet fewer than half of the letters are right."
        )
    elif low < LOST:
        said = say(
            "Here perplexity warns: wherever fewer than half of the letters are right, it "
            "is more than 10 % above its {usual} at {trained} tokens."
        )
    elif len(readable) < len(scene.columns):
        said = say("In the {readable} cells that can be read, at least half of the letters are "
                   "found; the lowest share is {low}.")  # fmt: skip
    else:
        said = say("At least half of the letters are found everywhere; the lowest share is {low}.")
    depths = len(scene.shape.depths)
    if len(readable) < len(scene.columns):
        said += " " + say("{missing} of {cells} cells have no row: the learned table ends at "
                          "{trained} tokens, and the model cannot read longer texts at all.",
                          missing=depths * (len(scene.columns) - len(readable)),
                          cells=depths * len(scene.columns), trained=scene.trained)  # fmt: skip
    return said.format(
        cells=hidden(scene), usual=number(scene.usual.perplexity), low=f"{low:.2f}",
        floor=number(scene.usual.floor), trained=number(scene.trained),
        readable=depths * len(readable),
    )  # fmt: skip


def hidden(scene: Scene) -> str:
    """The lost cells in words, length by length."""
    told = []
    for i, column in enumerate(scene.columns):
        rows = [row for row, at in scene.lost if at == i]
        if rows:
            where = joined(f"{scene.shape.depths[row]:g}" for row in rows)
            every = len(rows) == len(scene.shape.depths)
            told.append(say("{length} tokens at {where} (perplexity {perplexity})",
                            length=number(column.length), perplexity=number(column.perplexity),
                            where=say("every depth") if every else say("depth {where}", where=where)
                            ))  # fmt: skip
    return clauses(told)


def chosen(scene: Scene) -> str:
    """Name of the chosen cell and what it found."""
    column = scene.columns[scene.place[1]]
    said = say("{length} tokens, depth {depth}", length=number(scene.length),
               depth=f"{scene.depth:g}")  # fmt: skip
    if column.accuracy:
        said += ": " + say("{share} of the letters right over {texts} texts",
                           share=f"{column.accuracy[scene.place[0]]:.2f}",
                           texts=scene.shape.haystacks)  # fmt: skip
    return said


def near(scene: Scene) -> live.Slots:
    """Places of the chosen cell while the model reads."""
    waiting = say("measuring…") if scene.possible(scene.length) else say("no row")
    empty = dict.fromkeys(("answer", "heads", "text"), live.drawing(""))
    return {**empty, "near": live.drawing(style.caption(waiting))}


def cell(scene: Scene, found: Any) -> live.Slots:
    """The chosen cell: answer, where the heads look, and the text."""
    layer, head = found.looking
    share = found.share[layer, head]
    written, back = found.needle[0] + found.answer, len(found.text) - 1 - found.stands[0]
    said = say("The model writes {written} for {needle}, {back} tokens back. ")
    if share < FAINT:
        said += say("No head looks there: none has more than {share} % of its weight on it.")
    else:
        said += say("Head {head} of layer {layer} looks there most, with {share} % of its weight.")
    told = said.format(written=written, needle=found.needle, back=number(back), head=head + 1,
                       layer=layer + 1, share=f"{100 * share:.0f}")  # fmt: skip
    return {
        "answer": live.drawing(
            pictures.answer(found.needle, found.answer, found.probabilities, say)
        ),
        "heads": live.drawing(
            pictures.heads(found.attention, found.share, found.stands, found.needle, say)
        ),
        "text": live.drawing(pictures.haystack(found.text, found.stands, say)),
        "near": live.drawing(style.caption(told)),
    }


VIEW = live.View("needle", parameters, draw, measure)
