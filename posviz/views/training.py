"""The training replay's view: losses, and the copying circuit as it appears."""

from collections.abc import Iterator

from posviz import params
from posviz.figures import style
from posviz.figures import training as pictures
from posviz.figures.style import number, percent
from posviz.models import checkpoint
from posviz.models.replay import Replay, replay
from posviz.ui import live
from posviz.ui.labels import ENCODINGS, FAMILIES
from posviz.ui.text import joined, say, valued

TASKS = {"names": "names", "copying": "copying"}
KINDS = {
    "names": {"repeated": ("name read before", ""), "word": ("word", "6px,3px"),
              "capital": ("first letter of a name", "2px,2px"),
              "new_name": ("new name", "8px,2px,2px,2px")},
    "copying": {"total": ("copied row", "")},
}  # fmt: skip
SHADES = {"word": "ink", "capital": "ntk", "new_name": "quiet"}
LEGEND = {"": "solid", "2px,2px": "dot"}  # any other dash looks like one


def label(name: str) -> str:
    """What a reader calls the model of that name."""
    family, _, seed = name.rpartition("-seed")
    task, encoding, *base = family.split("-")
    told = [say(ENCODINGS[encoding]), *(say("base {base}", base=number(int(b))) for b in base)]
    return say("{task}: {encoding}, seed {seed}", task=say(TASKS[task]), encoding=joined(told),
               seed=seed)  # fmt: skip


def colour(name: str) -> str:
    """Name of the colour of the model's encoding."""
    family = name.rpartition("-seed")[0].split("-", 1)[1]
    return FAMILIES[family][1] if family in FAMILIES else family


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The models, first one that learned to copy, and the step, first where its circuit appears."""
    names = tuple(checkpoint.names())
    labels = tuple(params.Said(label(name)) for name in names)
    told = (name for name in names if name.startswith("names"))
    first = next((name for name in told if replay(name).appearance is not None), names[0])
    yield params.Choice("model", "Model", first, names, labels, "")
    yield params.Choice("beside", "Beside it", "nothing", ("nothing", *names),
                        ("nothing", *labels), "")  # fmt: skip
    shown = [replay(name) for name in (v["model"], v["beside"]) if name != "nothing"]
    steps, appearance = shown[0].steps, shown[0].appearance
    yield params.Number(
        "step", "Training step", int(steps[-1 if appearance is None else appearance]), 0,
        max(int(one.steps[-1]) for one in shown), int(steps[1]), "",
        "Updates of the weights so far.",
    )  # fmt: skip


def draw(model: str, beside: str, step: int) -> live.Slots:
    """Every picture, of one model or of two."""
    shown = {"": replay(model)}
    if beside != "nothing":
        shown[":beside"] = replay(beside)
    end = max(int(one.steps[-1]) for one in shown.values())
    top = max(float(one.losses[kind].max()) for one in shown.values() for kind in KINDS[one.task])
    drawn: live.Slots = {}
    for place, one in shown.items():
        drawn |= pictures_of(one, step, place, end, top)
    return drawn


def pictures_of(one: Replay, step: int, place: str, end: int, top: float) -> live.Slots:
    """Losses, strips and shares of one model at the last point that ``step`` has reached.

    Steps up to ``end`` and losses up to ``top`` have room, the same for both models.
    """
    point = one.at(step)
    now, name, shade = int(one.steps[point]), label(one.name), colour(one.name)
    layers, heads = one.shares.shape[1:]
    layer, head = one.strongest(point)
    # The head that stands out: the first one to look there, or else the one that ends nearest.
    best = one.strongest(-1 if one.appearance is None else one.appearance)
    share = float(one.shares[point, layer, head])
    kinds = KINDS[one.task]
    lines = [
        (say(said), SHADES.get(kind, shade), dash, one.losses[kind])
        for kind, (said, dash) in kinds.items()
    ]
    main = one.losses[next(iter(kinds))]
    told = say("{kind}: {nats} nats at step {step}", kind=lines[0][0],
               nats=f"{main[point]:.2f}", step=number(now))  # fmt: skip
    right = [(say("copied right"), "ink", "6px,3px", one.losses["accuracy"])
             for _ in range("accuracy" in one.losses)]  # fmt: skip
    flat = one.shares.reshape(len(one.steps), -1)
    called = [say("layer {layer}, head {head}", layer=n // heads + 1, head=n % heads + 1)
              for n in range(layers * heads)]  # fmt: skip
    number_of_best = best[0] * heads + best[1]
    said = say("most now: {head}, with {share} of its weight",
               head=called[layer * heads + head], share=percent(share))  # fmt: skip
    key = [(said_, shade_, LEGEND.get(dash, "dash")) for said_, shade_, dash, _ in lines]
    return {
        f"losses{place}": live.figure(
            pictures.losses(one.steps, lines, [first for first, _ in phases(one)], now,
                            end=end, top=top, _=say),
            say("Loss of {model} over training: {told}", model=name, told=told),
        ),
        f"losses{place}:head": live.drawing(style.heading(name, told, key)),
        f"phases{place}": live.drawing(told_phases(one)),
        f"strips{place}": live.drawing(
            pictures.strips(one.characters, one.attention[point], one.target, colour=shade,
                            alt=valued(say("Attention at step {step}", step=now), said), _=say)
        ),
        f"strips{place}:head": live.drawing(
            style.heading(say("Where each head looks from the last token"),
                          say("step {step}", step=number(now)))
        ),
        f"shares{place}": live.figure(
            pictures.shares(one.steps, flat, number_of_best, right, shade, now, end=end,
                            names=called, _=say),
            valued(say('Weight on the token to copy'), said),
        ),
        f"shares{place}:head": live.drawing(
            style.heading(
                say("Weight on the token to copy"), said,
                [(called[number_of_best], shade, "solid"), (say("other heads"), "random", "solid"),
                 *((line[0], line[1], "dash") for line in right)],
            )
        ),
        f"caption{place}": live.drawing(style.caption(caption(one))),
    }  # fmt: skip


def phases(one: Replay) -> list[tuple[int, str]]:
    """First step of each phase, and what it trains on."""
    found, first = [], 0
    for phase in one.phases:
        length = number(phase["length"])
        said = say("rows that grow, up to {length} tokens with their copy", length=length)
        if phase["dialect"]:
            said = say("{length} tokens, {share} names out of {count}", length=length,
                       share=percent(phase["dialect"]["name_share"]),
                       count=phase["dialect"]["names"])  # fmt: skip
        if phase["elsewhere"] != 1.0:
            said += say(", what cannot be copied counts × {weight}",
                        weight=number(phase["elsewhere"]))  # fmt: skip
        found.append((first, said))
        first += phase["steps"]
    return found


def told_phases(one: Replay) -> str:
    """The phases in words, HTML."""
    said = [words for _, words in phases(one)]
    if len(said) > 1:
        said = [f"<b>{n}</b>&ensp;{words}" for n, words in enumerate(said, 1)]
    return '<p class="pv-key">' + "".join(f"<span>{words}</span>" for words in said) + "</p>"


def caption(one: Replay) -> str:
    """At which step the circuit appears, and what the loss did."""
    main = one.losses[next(iter(KINDS[one.task]))]
    name, last = label(one.name), int(one.steps[-1])
    if one.appearance is None:
        point, (layer, head) = len(one.steps) - 1, one.strongest(-1)
        return say(
            "In {model} no head ever puts more than half its weight on the token to copy; at the "
            "end, layer {layer}, head {head} comes closest with {share}.",
            model=name, layer=layer + 1, head=head + 1,
            share=percent(float(one.shares[point, layer, head])),
        )  # fmt: skip
    at = one.appearance
    layer, head = one.strongest(at)
    return say(
        "In {model} the circuit appears at step {step} of {last}: layer {layer}, head {head} is "
        "the first to put more than half its weight on the token to copy. What can be copied then "
        "costs {then} nats a character, {before} at the start and {after} at the end.",
        model=name, step=number(int(one.steps[at])), last=number(last), layer=layer + 1,
        head=head + 1, then=f"{main[at]:.2f}", before=f"{main[0]:.2f}", after=f"{main[-1]:.2f}",
    )  # fmt: skip


VIEW = live.View("training", parameters, draw)
