"""The claims' view over all its parameters, without a browser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import claims
from posviz.claim_evidence import Bars, Evidence
from posviz.claims import CLAIMS, Claim
from posviz.figures import style
from posviz.ui import live
from posviz.views.claims import ANSWERS, VIEW, value_of
from tests.test_claims import moves
from tests.ui.views import PAGES, content, numbers, view_of

ALL = pytest.mark.parametrize("number", range(1, len(CLAIMS) + 1), ids=[c.id for c in CLAIMS])
CODES = {"true": "t", "false": "f", "depends": "d"}


def drawn(number: int, answer: str | None = None, value: float | None = None) -> dict[str, Any]:
    """The pictures of one claim, with one answer and its handle at a value."""
    code = "-" * (number - 1) + (CODES[answer] if answer else "")
    values, problems = VIEW.read({"claim": str(number), "answers": code.rstrip("-")})
    assert not problems
    if value is not None:
        values[CLAIMS[number - 1].id] = value
    return content(VIEW.draw(**values))


def words(markup: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", markup))


def sentence(template: str, found: Evidence) -> str:
    told = {name: style.number(float(value)) for name, value in found.numbers.items()}
    return words(template.format(**told, **(found.names or {})))


@ALL
def test_nothing_tells_the_verdict_before_the_answer(number: int) -> None:
    claim, asked = CLAIMS[number - 1], drawn(number)
    assert set(asked) == {"score", "strip", "question", "verdict", "list"}
    assert asked["verdict"]["markup"] == ""
    everything = json.dumps(asked)
    for hidden in (claim.because[:25], claim.look[:15], claim.belief[:25], "is-right", "is-wrong"):
        assert hidden not in everything
    shape = re.sub(r"answers=[tfd-]*", "", asked["question"]["markup"])
    assert all(f">{label}</button>" in shape for label in ANSWERS.values())


@ALL
@pytest.mark.parametrize("answer", claims.VERDICTS)
def test_an_answer_is_told_right_or_wrong_with_the_deciding_numbers(
    number: int, answer: claims.Verdict
) -> None:
    claim, slots = CLAIMS[number - 1], drawn(number, answer)
    verdict, question = (slots[key]["markup"] for key in ("verdict", "question"))
    is_right = answer == claim.verdict
    assert ('"pv-claims-verdict is-right"' in verdict) == is_right
    says = "it depends" if claim.verdict == "depends" else claim.verdict
    assert words(question).endswith(f"{'Right' if is_right else 'No'}: {says}.")
    assert sentence(claim.because, claim.decided) in words(verdict)
    for address in (*(address for _, address in claim.sources), claim.view[0]):
        assert f'href="{address}"'.replace("&", "&amp;") in verdict
    assert f"{int(is_right)} of 1 right" in slots["score"]["markup"]
    assert question.count('aria-checked="true"') == 1
    assert slots["strip"]["markup"].count("is-right") == is_right


@given(claim=st.sampled_from(CLAIMS), data=st.data())
def test_each_number_of_a_caption_is_the_cores(claim: Claim, data: st.DataObject) -> None:
    number, value = CLAIMS.index(claim) + 1, data.draw(moves(claim))
    slots, found = drawn(number, claim.verdict, value), claim.evidence(value)
    said = sentence(claim.look, found)
    assert said in words(slots["look"]["markup"])
    picture = slots[f"evidence-{claim.id}"]
    if "figure" in picture:
        lines = {trace["name"]: numbers(trace["y"]) for trace in picture["figure"]["data"]}
        assert not isinstance(found.picture, Bars)
        for line in found.picture.lines:
            assert lines[line.label] == pytest.approx(line.values, rel=1e-6, abs=1e-6)
    else:
        assert isinstance(found.picture, Bars)
        for bar in found.picture.bars:
            assert f"<em>{style.number(bar.value)}</em>" in picture["markup"]


@ALL
def test_an_answer_puts_the_handle_where_it_is_decided(number: int) -> None:
    claim = CLAIMS[number - 1]
    pieces = re.findall(r'data-set="([^"]*)"', drawn(number)["question"]["markup"])
    assert len(pieces) == len(ANSWERS)
    for piece, answer in zip(pieces, ANSWERS, strict=True):
        pairs = dict(pair.split("=") for pair in piece.split("&amp;"))
        moved = {claim.id: str(claim.start)} if claim.handle else {}
        values = VIEW.follow({"claim": str(number)} | moved | pairs)
        assert values.get(claim.id, 0) == claim.deciding
        assert claims.answers(values["answers"])[0][number - 1] == answer


@ALL
def test_the_buttons_beside_a_picture_say_and_mean_their_values(number: int) -> None:
    claim = CLAIMS[number - 1]
    look = drawn(number, claim.verdict)["look"]["markup"]
    pairs = re.findall(
        r'data-set="(\w+)=([^"]*)" aria-pressed="(\w+)">([^<]*(?:<sup>.*?</sup>)?)', look
    )
    if claim.handle is None:
        assert not pairs
        return
    values = [claim.handle.parse(text) for _, text, *_ in pairs]
    assert all(name == claim.id for name, *_ in pairs)
    assert [value for value, (*_, pressed, _) in zip(values, pairs, strict=True)
            if pressed == "true"] == [claim.deciding]  # fmt: skip
    if claim.steps:
        assert [told for *_, told in pairs] == list(claim.steps)
        return
    assert values == [claim.start, claim.deciding]
    for value, (*_, told) in zip(values, pairs, strict=True):
        assert told.endswith(f": {value_of(claim, value)}")
    seems = {"true": "seems false", "false": "seems true", "depends": "holds"}[claim.verdict]
    assert pairs[0][-1].startswith(f"Where it {seems}" if claim.seems else "To compare")


def test_a_claim_with_nothing_to_move_has_a_picture_and_no_handle() -> None:
    (number,) = (n for n, claim in enumerate(CLAIMS, 1) if claim.handle is None)
    assert set(VIEW.read({"claim": str(number)})[0]) == {"claim", "answers"}
    slots = drawn(number, "false")
    head = slots[f"evidence-{CLAIMS[number - 1].id}:head"]["markup"]
    assert words(head).strip() == "What decides it"


@ALL
def test_the_way_on_is_a_view_that_exists(number: int) -> None:
    page, _, query = CLAIMS[number - 1].view[0].partition("?")
    assert page in PAGES
    link = dict(pair.split("=") for pair in query.split("&")) if query else {}
    values, problems = view_of(page).read(link)
    assert not problems
    assert set(link) <= set(values)


def test_a_handle_that_was_moved_leaves_no_trace_in_another_claim() -> None:
    moved = {"claim": "15", "answers": "-" * 14 + "f", "falls": "100"}
    assert VIEW.query(VIEW.read(moved)[0]) == moved
    assert VIEW.query(VIEW.follow(moved | {"claim": "16"})) == {
        "claim": "16", "answers": moved["answers"],
    }  # fmt: skip


def test_answers_that_mean_nothing_get_a_sentence_and_the_rest_counts() -> None:
    values, problems = VIEW.read({"answers": "fx<b>"})
    assert not problems
    markup = content(VIEW.draw(**values))["score"]["markup"]
    assert 'role="alert"' in markup
    assert "<b>fx" not in markup
    assert "1 of 1 right" in markup
    assert 'role="alert"' not in content(VIEW.draw(**VIEW.read({})[0]))["score"]["markup"]


def test_the_page_shows_the_view() -> None:
    assert view_of("claims") is live._views["claims"]
    assert set(view_of("claims").read({})[0]) == {"claim", "answers", "backwards"}
