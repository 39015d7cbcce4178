"""Lessons: what a file and a link may say, and that what the shipped ones say is so."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace

import pytest

from posviz import claims
from posviz.params import InvalidParameterError, shown
from posviz.ui import lesson, packing, text
from posviz.ui.lesson import Ask, Lesson, Step
from tests.ui.views import content, numbers, view_of

LANGUAGES = tuple(text.LANGUAGES)
STEPS = [(name, at) for name in lesson.SHIPPED for at in range(len(lesson.shipped(name).steps))]

# Names with a number in them.
NAMES = r"Llama 3\.1 8B|Llama 3(\.1)?|llama3|T5|8K|128K"
# What no picture of the step prints: computed here, from its source.
COMPUTED = {
    # Turns of the last pair of 64, base 500,000, in millions and in units of ten thousand.
    ("rope_in_ten_minutes", 3): [
        f"{2 * math.pi * 5e5 ** (126 / 128) / 1e6:.3g}",
        f"{2 * math.pi * 5e5 ** (126 / 128) / 1e4:.3g}",
    ],
}  # fmt: skip


def shipped(code: str, name: str) -> Lesson:
    text.speak(code)
    try:
        return lesson.shipped(name)
    finally:
        text.speak("en")


def told(page: str, state: dict[str, str]) -> str:
    """All that a step's pictures say, as plain text, and the values of its handles."""
    view = view_of(page)
    values, problems = view.read(state)
    assert not problems, problems
    words = [str(one) for value in values.values() for one in (value, shown(value))]
    for slot in content(view.draw(**values)).values():
        markup = str(slot.get("markup", slot.get("alt")))
        labels = " ".join(re.findall(r'(?:aria-label|title)="([^"]*)"', markup))
        words += [html.unescape(re.sub(r"<[^>]+>", " ", markup)), html.unescape(labels)]
        for trace in slot.get("figure", {"data": []})["data"]:  # where an axis begins and ends
            words += [shown(int(numbers(trace["x"])[at])) for at in (0, -1)]
    return " ".join(words)


def mentioned(prose: str) -> list[str]:
    """Numbers that a text says, as they stand there."""
    prose = re.sub(NAMES, "", prose)
    return [one.rstrip(",") for one in re.findall(r"(?<![\w.])−?\d[\d,]*(?:\.\d+)?", prose)]


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_every_number_of_a_shipped_lesson_is_what_the_step_shows(name: str, at: int) -> None:
    for code in LANGUAGES:
        step = shipped(code, name).steps[at]
        ask = step.ask
        prose = [step.says, *([ask.question, ask.then] if ask else [])]
        if ask and ask.options:
            prose.append(ask.options[ask.right])
        there = told(step.page, step.state).replace("\u202f", "")
        for number in mentioned(" ".join(prose)):
            found = re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", there)
            assert found or number in COMPUTED.get((name, at), ()), (code, number)


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_a_shipped_step_names_only_what_its_page_shows(name: str, at: int) -> None:
    step = lesson.shipped(name).steps[at]
    view = view_of(step.page)
    values, problems = view.read(step.state)
    drawn = view.draw(**values)
    assert not problems
    assert step.handles, "it says what can be moved"
    assert set(step.handles) <= view.declared(values).keys()
    assert step.figures, "it says what is seen"
    assert {"caption"} < {"caption", *step.figures} <= {"caption", *drawn}
    if step.ask:
        assert step.ask.figure in step.figures
        assert step.ask.then
        assert step.ask.options or drawn[step.ask.figure].is_chart


@pytest.mark.parametrize("name", lesson.SHIPPED)
def test_a_shipped_lesson_has_the_same_steps_in_every_language(name: str) -> None:
    english = shipped("en", name)
    assert 6 <= len(english.steps) <= 10, "6 to 10 steps"
    asked = [step.ask for step in english.steps if step.ask]
    assert len(asked) >= 2
    assert any(ask.options for ask in asked)
    for code in LANGUAGES:
        other = shipped(code, name)
        assert other.about
        for here, there in zip(english.steps, other.steps, strict=True):
            assert (here.view, here.handles, here.figures) == (
                there.view, there.handles, there.figures)  # fmt: skip
            assert bool(here.says) == bool(there.says)
            assert (here.ask is None) == (there.ask is None)
            if here.ask and there.ask:
                assert (here.ask.figure, here.ask.right, len(here.ask.options)) == (
                    there.ask.figure, there.ask.right, len(there.ask.options))  # fmt: skip


def test_the_ten_claims_are_the_app_s_own_and_wrong() -> None:
    for code in LANGUAGES:
        steps = shipped(code, "ten_claims").steps
        assert len(steps) == 10
        for step in steps:
            claim = claims.CLAIMS[int(step.state["claim"]) - 1]
            assert claim.verdict == "false"
            assert step.ask
            text.speak(code)
            assert step.ask.question == text.say(claim.statement)
            assert step.ask.options[step.ask.right] == text.say("False")
            text.speak("en")


def test_a_curve_that_is_drawn_is_compared_with_the_one_that_is_asked_for() -> None:
    # The browser compares with the last line of the chart, which lies on top.
    lasts = {
        ("why_positions", "product"): (0, 1.0),  # cos-like, 1 at k = 0
        ("rope_in_ten_minutes", "scores"): (0, math.sqrt(128)),  # q = k = 1, scaled
        ("long_context", "ratios"): (63, 16),  # the slowest pair, by the factor
    }
    for (name, figure), (x, y) in lasts.items():
        (step,) = (
            one for one in lesson.shipped(name).steps if one.ask and one.ask.figure == figure
            and not one.ask.options
        )  # fmt: skip
        view = view_of(step.page)
        slot = content(view.draw(**view.read(step.state)[0]))[figure]
        line = [one for one in slot["figure"]["data"] if not one.get("fill")][-1]
        at = list(numbers(line["x"])).index(x)
        assert numbers(line["y"])[at] == pytest.approx(y, rel=1e-6)


# ----------------------------------------------------------------------------- files and links

MADE = Lesson(
    "Mine & yours <b>",
    (
        Step("rope?part=decay&rope_theta=500", "Look: **here**.", ("rope_theta",), ("scores",),
             Ask("What?", "scores", ("this", "that"), 1, "So.")),
        Step("alibi"),
        Step("order?text=a+b", "", (), None, Ask("Draw", "outputs")),
    ),
    "What it is about.",
)  # fmt: skip


def test_a_lesson_is_the_same_after_a_file_and_after_a_link() -> None:
    assert lesson.read(MADE.written()) == MADE
    assert lesson.of_link(MADE.packed()) == MADE
    for name in lesson.SHIPPED:
        for code in LANGUAGES:
            one = shipped(code, name)
            assert lesson.of_link(one.packed()) == one
            file = text.CONTENT / code / "lessons" / f"{name}.json"
            assert lesson.read(file.read_text("utf-8")) == one


def test_a_link_holds_as_much_in_any_script_as_a_file_does() -> None:
    made = Lesson("位置", tuple(Step("rope", says="位" * 1200) for _ in range(40)))
    assert len(made.packed()) < 2000
    assert lesson.of_link(made.packed()) == made


def test_a_question_takes_a_quarter_of_a_minute_more() -> None:
    assert MADE.minutes == round(1.25 + 1 + 1.25) == 4
    assert replace(MADE, steps=(Step("rope"),) * 3).minutes == 3


def bomb() -> str:
    return packing.packed("0" * 10_000_000)


@pytest.mark.parametrize(("given", "said"), [
    ("", "must be JSON"),
    ("{", "must be JSON"),
    ("[" * 50_000, "must be JSON"),
    ("[]", "must be an object"),
    ('{"title": 1, "steps": [{"view": "rope"}]}', "title must be a text"),
    ('{"title": "", "steps": []}', "steps must be one or more"),
    ('{"title": "", "steps": "rope"}', "steps must be a list"),
    ('{"title": "", "steps": [{"view": "nowhere?x=1"}]}', "steps[0].view must begin"),
    ('{"title": "", "steps": [{"view": "../etc"}]}', "steps[0].view must begin"),
    ('{"title": "", "steps": [{"view": "lessons"}]}', "steps[0].view must begin"),
    ('{"title": "", "steps": [{"view": "rope", "x": 1}]}', "steps[0] must be an object of"),
    ('{"title": "", "steps": [{"view": "rope", "handles": "a"}]}', "handles must be a list"),
    ('{"title": "", "steps": [{"view": "rope", "ask": {"question": "", "figure": "map", '
     '"options": ["a"], "right": 1}}]}', "right must be the number of an option"),
    ('{"title": "", "steps": [{"view": "rope", "says": "' + "x" * 2_000 + '"}]}', "at most 1,200"),
    ("x" * 200_000, "at most 100,000"),
])  # fmt: skip
def test_what_is_no_lesson_is_told_in_a_sentence(given: str, said: str) -> None:
    with pytest.raises(InvalidParameterError, match=re.escape(said)) as problem:
        lesson.read(given)
    assert len(str(problem.value)) < 800


@pytest.mark.parametrize("link", ["~", "~x", "nothing", "~" + "A" * 5_000, bomb()])
def test_a_link_that_holds_no_lesson_is_told_in_a_sentence(link: str) -> None:
    with pytest.raises(InvalidParameterError, match="lesson must be"):
        lesson.of_link(link)


def test_forty_steps_are_a_lesson_and_one_more_is_none() -> None:
    steps = [{"view": "rope"}] * lesson.MOST_STEPS
    assert len(lesson.read(json.dumps({"title": "", "steps": steps})).steps) == lesson.MOST_STEPS
    with pytest.raises(InvalidParameterError, match="at most 40"):
        lesson.read(json.dumps({"title": "", "steps": [*steps, {"view": "rope"}]}))
