"""The claims' view: a sentence, an answer, and only then what decides it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from posviz import claims, params
from posviz.claim_evidence import Bars, Evidence
from posviz.claims import CLAIMS, Answers, Claim, Verdict
from posviz.figures import claims as pictures
from posviz.figures import style
from posviz.ui import live
from posviz.ui.text import say, valued

ANSWERS: dict[Verdict, str] = {"true": "True", "false": "False", "depends": "It depends"}
"""What a reader calls each answer."""
_SAID: dict[Verdict, str] = {"true": "true", "false": "false", "depends": "it depends"}

CLAIM = params.Number(
    "claim", "Claim", 1, 1, len(CLAIMS), 1, "", "Which sentence is asked, counted from 1."
)
ANSWER_CODE = params.Text(
    "answers", "Answers", "", len(CLAIMS),
    "Answers so far, one letter per claim: t, f, d, and - for none.",
)  # fmt: skip


def parameters(v: live.Values) -> Iterator[params.Parameter]:
    """Which claim, the answers, and the handle of that claim under its own name.

    So a handle that was moved leaves no trace in another claim.
    """
    yield CLAIM
    yield ANSWER_CODE
    handle = CLAIMS[int(v["claim"]) - 1].handle
    if handle:
        yield handle


@dataclass(frozen=True)
class Scene:
    """What the parameters mean.

    Attributes:
        number: Of the claim, from 1.
        answers: To every claim.
        value: Of the claim's handle; 0 without one.
    """

    number: int
    answers: Answers
    value: float

    @property
    def claim(self) -> Claim:
        """The claim that is asked."""
        return CLAIMS[self.number - 1]

    @property
    def answer(self) -> Verdict | None:
        """The answer to it, if there is one."""
        return self.answers[self.number - 1]

    def answering(self, answer: Verdict | None) -> str:
        """The piece of a link that gives an answer and puts the handle where it decides."""
        index = self.number - 1
        changed = (*self.answers[:index], answer, *self.answers[index + 1 :])
        piece = f"answers={claims.answer_code(changed)}"
        return f"{piece}&amp;{self.claim.id}=" if self.claim.handle else piece


def scene(values: Mapping[str, object]) -> Scene:
    """The scene of these values of the parameters."""
    number = int(str(values["claim"]))
    told, _ = claims.answers(str(values["answers"]))
    return Scene(number, told, float(str(values.get(CLAIMS[number - 1].id, 0.0))))


def draw(**values: object) -> live.Slots:
    """The question; what decides it once there is an answer."""
    shown = scene(values)
    understood = claims.answers(str(values["answers"]))[1]
    drawn = {
        "score": live.drawing(score(shown.answers, understood)),
        "strip": live.drawing(strip(shown)),
        "question": live.drawing(question(shown)),
        "verdict": live.drawing(verdict(shown) if shown.answer else ""),
        "list": live.drawing(everything(shown)),
    }
    if shown.answer:
        drawn |= evidence(shown)
    return drawn


# -------------------------------------------------------------------------------------- questions


def score(answers: Answers, understood: bool) -> str:
    """How many are right so far, and how to begin anew."""
    right, given = claims.score(answers)
    told = say("{right} of {given} right", right=right, given=given)
    if not given:
        told = say("{count} claims", count=len(CLAIMS))
    again = (
        f'<button type="button" class="pv-claims-quiet" data-set="answers=">{say("Start again")}'
        "</button>"
    )
    sentence = say(
        "answers may only have t, f, d and - for each of {count} claims; the rest was left out.",
        count=len(CLAIMS),
    )
    return f'<p class="pv-claims-score"><b>{told}</b>{again if given else ""}</p>' + (
        "" if understood else f'<p class="pv-notice" role="alert">{sentence}</p>'
    )


def _mark(claim: Claim, answer: Verdict | None) -> tuple[str, str, str]:
    """Class, sign and word for an answer; nothing about the verdict without one."""
    if answer is None:
        return "is-open", "", say("no answer yet")
    if answer == claim.verdict:
        return "is-right", "✓", say("right")
    return "is-wrong", "✗", say("wrong")


def strip(shown: Scene) -> str:
    """A button for each claim, by topic, marked by its answer."""
    groups = []
    for topic, label in claims.TOPICS.items():
        buttons = []
        for number, (claim, answer) in enumerate(zip(CLAIMS, shown.answers, strict=True), 1):
            if claim.topic != topic:
                continue
            kind, sign, word = _mark(claim, answer)
            told = say("Claim {number}: {state}", number=number, state=word)
            buttons.append(
                f'<button type="button" class="{kind}" data-set="claim={number}" '
                f'aria-label="{told}" aria-pressed="{str(number == shown.number).lower()}">'
                f"{number}<i>{sign}</i></button>"
            )
        groups.append(f"<span><em>{say(label)}</em><span>{''.join(buttons)}</span></span>")
    return f'<div class="pv-claims-strip">{"".join(groups)}</div>'


def question(shown: Scene) -> str:
    """The sentence in large type, the three answers, and whether the one given is right."""
    claim = shown.claim
    topic = say("{topic}, claim {number} of {count}", topic=say(claims.TOPICS[claim.topic]),
                number=shown.number, count=len(CLAIMS))  # fmt: skip
    buttons = "".join(
        f'<button type="button" role="radio" data-set="{shown.answering(answer)}" '
        f'aria-checked="{str(answer == shown.answer).lower()}">{say(label)}</button>'
        for answer, label in ANSWERS.items()
    )
    size = "is-answered" if shown.answer else "is-asked"
    rule = say("One exception makes “any” or “always” false. It depends if the sentence leaves "
               "open what decides it.")  # fmt: skip
    last = told_right(shown) if shown.answer else f'<p class="pv-claims-rule">{rule}</p>'
    return (
        f'<div class="pv-claims-question {size}"><small>{topic}</small>'
        f"<blockquote>{escape(say(claim.statement))}</blockquote>"
        f'<div role="radiogroup" aria-label="{say("Your answer")}">{buttons}</div>'
        f"{last}</div>"
    )


def everything(shown: Scene) -> str:
    """All claims with what was answered."""
    rows = []
    for number, (claim, answer) in enumerate(zip(CLAIMS, shown.answers, strict=True), 1):
        kind, sign, word = _mark(claim, answer)
        told = say(ANSWERS[answer]) if answer else ""
        rows.append(
            f'<li class="{kind}"><button type="button" data-set="claim={number}" '
            f'aria-pressed="{str(number == shown.number).lower()}"><em>{number}</em>'
            f"<span>{escape(say(claim.statement))}</span>"
            f'<i title="{word}">{told} {sign}</i></button></li>'
        )
    return f'<ol class="pv-claims-list">{"".join(rows)}</ol>'


# --------------------------------------------------------------------------------------- decision


def told_right(shown: Scene) -> str:
    """Whether the answer is right, and what the right one is."""
    kind, *_ = _mark(shown.claim, shown.answer)
    template = "Right: {verdict}." if kind == "is-right" else "No: {verdict}."
    said = say(template, verdict=say(_SAID[shown.claim.verdict]))
    return f'<h3 class="{kind}" role="status">{said}</h3>'


def told(template: params.Message, found: Evidence) -> str:
    """A claim's sentence with its numbers, HTML."""
    numbers = {name: style.number(float(value)) for name, value in found.numbers.items()}
    names = {name: escape(word) for name, word in (found.names or {}).items()}
    return say(template, **numbers, **names)


def verdict(shown: Scene) -> str:
    """Why it is so, why one could think otherwise, and where to go on."""
    claim = shown.claim
    kind, *_ = _mark(claim, shown.answer)
    address, label = claim.view
    links = [f'<a href="{escape(address)}" target="_self">{say(label)}</a>']
    sources = [_outside(*source) for source in claim.sources]
    rows = [(say("Move on"), links), (say("Sources"), sources)]
    if claim.said:
        rows.append((say("Similar in"), [_outside(*claim.said)]))
    following = shown.number % len(CLAIMS) + 1
    return (
        f'<div class="pv-claims-verdict {kind}"><p>{told(claim.because, claim.decided)}</p>'
        f"<p><b>{say('Why one could think otherwise.')}</b> {say(claim.belief)}</p><dl>"
        + "".join(f"<div><dt>{name}</dt><dd>{' '.join(each)}</dd></div>" for name, each in rows)
        + f'</dl><p class="pv-claims-next"><button type="button" data-set="claim={following}">'
        f"{say('Next claim')}</button>"
        f'<button type="button" class="is-quiet" data-set="{shown.answering(None)}">'
        f"{say('Clear my answer')}</button>"
        f'<a href="claims?claim={shown.number}" target="_blank">'
        f"{say('Open this claim without any answers')}</a></p></div>"
    )


def _outside(label: params.Message, address: str) -> str:
    return (
        f'<a href="{escape(address)}" target="_blank" rel="noopener">{escape(say(label))}</a>'
    )  # fmt: skip


def evidence(shown: Scene) -> live.Slots:
    """The picture that decides, its legend, and its caption with the two ends of the story."""
    claim = shown.claim
    found = claim.evidence(shown.value)
    caption = told(claim.look, found)
    picture = found.picture
    alt = style.plain_text(caption)
    if isinstance(picture, Bars):
        chart = live.drawing(pictures.bars(picture, alt, say))
    else:
        chart = live.figure(pictures.curves(picture, say), alt)
    handle = claim.handle
    stands = valued(say(handle.label), value_of(claim, shown.value)) if handle else ""
    return {
        f"evidence-{claim.id}": chart,
        f"evidence-{claim.id}:head": live.drawing(
            style.heading(say("What decides it"), stands, pictures.legend(picture, say))
        ),
        "look": live.drawing(
            f'<p class="pv-caption">{caption}</p>'
            + (f'<p class="pv-claims-jumps">{jumps(shown)}</p>' if handle else "")
        ),
    }


_OTHERWISE: dict[Verdict, str] = {
    "true": "Where it seems false", "false": "Where it seems true", "depends": "Where it holds",
}  # fmt: skip


def jumps(shown: Scene) -> str:
    """Buttons to the values that tell the story; all of them where they have names."""
    claim = shown.claim
    decides = "Where it fails" if claim.verdict == "depends" else "Where it is decided"
    otherwise = _OTHERWISE[claim.verdict] if claim.seems else "To compare"
    pairs = [
        (valued(say(label), value_of(claim, value)), value)
        for label, value in ((otherwise, claim.start), (decides, claim.deciding))
    ]
    if claim.steps:
        pairs = [(name, number) for number, name in enumerate(claim.steps, 1)]
    return "".join(
        f'<button type="button" data-set="{claim.id}={value:g}" '
        f'aria-pressed="{str(value == shown.value).lower()}">{text}</button>'
        for text, value in pairs
    )


def value_of(claim: Claim, value: float) -> str:
    """A value of the claim's handle in words."""
    assert claim.handle
    if claim.steps:
        return claim.steps[int(value) - 1]
    if claim.handle.unit == "tokens":
        return style.token_count(value, say)
    if claim.handle.unit == "heads":
        return style.counted(value, "1 head", "{count} heads", say)
    return f"{style.number(value)} {say(claim.handle.unit)}".strip()


VIEW = live.View("claims", parameters, draw)
