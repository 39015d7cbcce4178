"""The view of why order matters: attention without positions only reorders its outputs."""

from collections.abc import Iterator, Sequence

from posviz import order as core
from posviz import params
from posviz.figures import order as pictures
from posviz.figures import style
from posviz.figures.style import number, percent
from posviz.ui import live
from posviz.ui.text import say, valued

LABELS = {
    "none": "nothing", "causal": "causal mask", "sinusoidal": "sinusoidal", "rope": "RoPE",
    "alibi": "ALiBi", "alibi_symmetric": "two-way ALiBi",
}  # fmt: skip
WEIGHED = ("sinusoidal", "rope", "alibi", "alibi_symmetric")
EXAMPLES = (
    "I hit him",
    "dog bites man",
    "我打他",
    "the man saw the dog before the dog saw the man",
)
PLACES = ("orders", "written:head", "written", "reordered:head", "reordered", "looks",
          "outputs:head", "outputs", "sums")  # fmt: skip
BROKEN = {
    "causal": "The mask alone tells the order: whoever moves sees other words, and the first one "
              "sees only itself.",
    "sinusoidal": "Each place adds a vector of its own, so a word that moves is another vector.",
    "rope": "Queries and keys turn by their places, so a score knows how far apart two words "
            "stand, and on which side.",
    "alibi": "Its causal mask and its penalty on distance both see the order.",
    "alibi_symmetric": "The penalty grows with distance, and distances have changed.",
}  # fmt: skip


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """The sentence, what tells its order, the other order, and a token that stands out."""
    yield params.Text("text", "Your sentence", "I hit him", 120,
                      "Any language; the pictures follow while you type.")  # fmt: skip
    tokens = shown(v["text"])
    yield params.Choice("encoding", "What tells the order", "none", core.ENCODINGS,
                        tuple(LABELS.values()), "")  # fmt: skip
    # Rearranged at once, so that the first glance has something to compare.
    yield params.Order("order", len(tokens), core.exchanged(tokens))
    yield params.Number("token", "Token", 0, 0, max(len(tokens) - 1, 0), 1, "",
                        "Which token stands out, counted from 0 as written.")  # fmt: skip
    yield params.Number(
        "weight", "Position weight", 1.0, 0.0, 2.0, 0.01, "×",
        "Multiplies the added table, the angles or the slope: 0 is none, 1 as published.",
    )  # fmt: skip
    yield params.Number("seed", "Random head", 0, 0, 99, 1, "",
                        "Which random weights the head has.")  # fmt: skip


def shown(text: str) -> tuple[str, ...]:
    """The tokens that have room."""
    return core.split(text)[: core.MAX_TOKENS]


def draw(
    text: str, encoding: str, order: tuple[int, ...], token: int, weight: float, seed: int
) -> live.Slots:
    """Every picture."""
    drawn = {"examples": live.drawing(examples(text))}
    tokens = shown(text)
    if not tokens:
        empty = live.drawing("")
        asked = say("Type a sentence above, in any language.")
        return drawn | dict.fromkeys(PLACES, empty) | {
            "verdict": live.drawing(style.caption(asked))
        }  # fmt: skip
    both = core.compare(core.content(tokens), order, encoding, weight, seed)
    written, moved = both.original, both.reordered
    visible = core.visible(len(tokens), encoding)
    left_out = len(core.split(text)) - len(tokens)
    in_percent = say("each row in %")
    differences = [told(both, float(one)) for one in (*both.differences, both.mean_difference)]
    same = sum(both.is_rounding(float(one)) for one in both.differences)
    unchanged = say("{same} of {count} unchanged", same=same, count=len(tokens))
    back = list(both.places)
    return drawn | {
        "orders": live.drawing(
            pictures.orders(tokens, order, token, _=say) + resets(tokens, order)
        ),
        "verdict": live.drawing(verdict(both, tokens, encoding, weight, left_out)),
        "written": live.drawing(
            pictures.attention(tokens, range(len(tokens)), written.weights, token, visible=visible,
                               caption=say("Attention as written, in per cent"))
        ),
        "written:head": live.drawing(style.heading(say("Attention as written"), in_percent)),
        "reordered": live.drawing(
            pictures.attention(tokens, order, moved.weights, token, visible=visible,
                               caption=say("Attention reordered, in per cent"))
        ),
        "reordered:head": live.drawing(style.heading(say("Attention reordered"), in_percent)),
        "outputs": live.drawing(
            pictures.outputs(tokens, written.outputs, moved.outputs[back], differences, token,
                             _=say)
        ),
        "outputs:head": live.drawing(
            style.heading(say("Outputs"), unchanged)
        ),
        "looks": live.drawing(looks(both, tokens, token)),
        "sums": live.drawing(sums(both, tokens, token)),
    }  # fmt: skip


def told(both: core.Comparison, difference: float) -> str:
    """A difference as text, quiet if it is only rounding."""
    said = number(difference)
    return f"<small>{said}</small>" if both.is_rounding(difference) else f"<b>{said}</b>"


def examples(text: str) -> str:
    """Sentences to begin with, HTML."""
    buttons = "".join(
        f'<button type="button" translate="no" data-set="text={one}" '
        f'aria-pressed="{str(one == text).lower()}">{one}</button>'
        for one in EXAMPLES
    )
    return f'<p class="pv-order-try"><span>{say("Try")}</span>{buttons}</p>'


def resets(tokens: tuple[str, ...], order: tuple[int, ...]) -> str:
    """Orders to choose at once, and how to make any other; HTML."""
    count = len(tokens)
    if count == 1:
        return ""
    offered = {
        say("as written"): tuple(range(count)),
        say("ends exchanged"): core.exchanged(tokens),
        say("mirror image"): tuple(range(count))[::-1],
    }
    buttons = "".join(
        f'<button type="button" data-set="order={"-".join(map(str, one))}" '
        f'aria-pressed="{str(one == order).lower()}">{name}</button>'
        for name, one in offered.items()
    )
    hint = say("Drag the words of the lower row, or move one with the arrow keys.")
    return f'<p class="pv-order-try"><span>{hint}</span>{buttons}</p>'


def verdict(
    both: core.Comparison, tokens: tuple[str, ...], encoding: str, weight: float, left_out: int
) -> str:
    """Whether the outputs only moved with their tokens, with the number that says so; HTML."""
    residual = both.residual
    holds = both.is_rounding(residual)
    moved = tuple(tokens[n] for n in both.order) != tokens
    gone = encoding in WEIGHED and weight == 0
    called = pictures.names(tokens)
    if not moved:
        said, why = stillness(both, tokens)
    elif holds:
        said = say("Equivariant: each output moves with its word")
        if encoding != "none" and (not gone or encoding == "alibi"):
            said = say("This order goes unseen: each output moves with its word")
        why = say("No number of any output changes.")
        if encoding == "none":
            why = say(
                "Without positions each output travels with its word: attention is equivariant. "
                "It is not invariant, for the outputs do move; only their mean stays as it was."
            )
        elif gone:
            why = say("At weight 0 nothing is left of {encoding}, and order is lost again.",
                      encoding=say(LABELS[encoding]))  # fmt: skip
        elif encoding == "alibi_symmetric" and core.is_mirrored(both.order):
            why = say(
                "This is the mirror image, and every distance in it is as it was. Two-way ALiBi "
                "knows no direction, so it cannot see it; try another order."
            )
    else:
        said = say("Broken: the head sees the order")
        why = say(BROKEN[encoding])
        if gone:
            why = say("At weight 0 its penalty is gone, but its causal mask still tells the order.")
        most = both.most_changed
        why += " " + say("“{token}” changes most.", token=called[most])
    formula = pictures.RESIDUAL.markup(say, residual)
    if holds and moved:
        exact = say("exactly 0") if residual == 0 else say("0 but for rounding")
        formula += f" <small>{exact}</small>"
    rest = ""
    if left_out:
        template = "Only the first {count} tokens have room; {left_out} more are left out."
        if left_out == 1:
            template = "Only the first {count} tokens have room; 1 more is left out."
        rest = say(template, count=core.MAX_TOKENS, left_out=left_out)
    names = say("f: the head · x: the words as written · P: puts them in the other order")
    state = "is-still" if not moved else "is-on" if holds else "is-off"
    return (
        f'<p class="pv-order-verdict {state}"><b>{said}</b></p>'
        f'<p class="pv-formula pv-order-residual">{formula}</p>'
        f'<p class="pv-order-names">{names}</p>'
        f"{style.caption(why, rest)}"
    )


def stillness(both: core.Comparison, tokens: tuple[str, ...]) -> tuple[str, str]:
    """Why a sentence reads as written, in a few words and in a sentence."""
    if len(tokens) == 1:
        return say("Nothing can move"), say("One word alone has no order: type another one.")
    alike = len(set(tokens)) == 1
    why = say("All words are equal and look alike: every order reads the same.")
    if both.order == tuple(range(len(tokens))):
        return say("Nothing has moved"), why if alike else say(
            "The words stand as written: move one."
        )
    if not alike:
        why = say("Only equal words have changed places, and they look alike.")
    if not both.is_rounding(both.residual):
        why += " " + say("The difference is one between equal words at two places.")
    return say("The sentence reads as written"), why


def looks(both: core.Comparison, tokens: tuple[str, ...], token: int) -> str:
    """Where the chosen token looks most in either order; HTML."""
    called = pictures.names(tokens)
    most, share = both.original.strongest(token)
    place, other = both.reordered.strongest(both.places[token])
    moved_to = both.order[place]
    template = "“{token}” looks most at “{most}”: {share} as written, {then} reordered."
    if moved_to != most:
        template = (
            "“{token}” looks most at “{most}” as written, {share}, and at “{other}” reordered, "
            "{then}."
        )
    said = say(template, token=called[token], most=called[most], share=percent(share),
               other=called[moved_to], then=percent(other))  # fmt: skip
    note = say("Choose a word to follow its row.")
    return style.caption(said, note)


def sums(both: core.Comparison, tokens: tuple[str, ...], token: int) -> str:
    """The first number of the chosen token's output, and what equal tokens get; HTML."""
    called, place = pictures.names(tokens), both.places[token]
    order = range(len(tokens))
    before = float(both.original.outputs[token, 0])
    after = float(both.reordered.outputs[place, 0])
    first = say("First number of “{token}”", token=called[token])
    lines = [
        f'<p class="pv-formula">{valued(first, pictures.OUTPUT.markup(say))}</p>',
        sum_line(say("as written"), order, both.original, token, before),
        sum_line(say("reordered"), both.order, both.reordered, place, after),
    ]
    for same in core.repeats(tokens):
        apart = core.spread(both.original.outputs, same)
        name = pictures.names(tokens[same[0] : same[0] + 1])[0]
        said = say(
            "“{token}” stands here {count} times and gets the same output each time: nothing tells "
            "one from the other.", token=name, count=len(same),
        )  # fmt: skip
        if not both.is_rounding(apart):
            said = say("“{token}” stands here {count} times and its outputs differ by {apart}.",
                       token=name, count=len(same), apart=number(apart))  # fmt: skip
        lines.append(style.caption(said))
        break
    return "".join(lines)


def sum_line(name: str, order: Sequence[int], one: core.Attended, place: int, result: float) -> str:
    """One sum in its order, HTML."""
    added = pictures.terms(order, one.weights[place], one.values[:, 0], result)
    return f'<p class="pv-order-sum"><span>{name}</span>{added}</p>'


VIEW = live.View("order", parameters, draw)
