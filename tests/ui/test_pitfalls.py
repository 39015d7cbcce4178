"""The pitfalls' view over all its parameters, and what it says in numbers, without a browser."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posviz import alibi, pitfalls, rope
from posviz.figures import pitfalls as pictures
from posviz.figures.style import number
from posviz.mistake_outcome import VISIBLE
from posviz.pitfalls import PITFALLS
from posviz.views import pitfalls as shown
from posviz.views.pitfalls import VIEW, Scene
from tests.ui.views import content, numbers

SLIPS = [(pitfall.id, slip.id) for pitfall in PITFALLS for slip in pitfall.slips]


def drawn(**query: str) -> tuple[Scene, dict[str, Any]]:
    values, problems = VIEW.read(query)
    assert not problems
    return Scene(**values), content(VIEW.draw(**values))


def text(slot: dict[str, Any]) -> str:
    """What a place says, without tags."""
    return re.sub(r"<[^>]*>", "", slot["markup"])


@pytest.mark.parametrize("pitfall", [pitfall.id for pitfall in PITFALLS])
def test_axes_stand_while_a_handle_moves(pitfall: str) -> None:
    axes = []
    values = VIEW.read({"pitfall": pitfall})[0]
    for name, parameter in VIEW.declared(values).items():
        if name in ("position", "distance", "factor", "head", "padding", "rows", "columns"):
            for end in (parameter.low, parameter.high):  # type: ignore[union-attr]
                moved = VIEW.follow({**VIEW.query(values), name: str(end)})
                layout = content(VIEW.draw(**moved))["scores"]["figure"]["layout"]
                axes.append((layout["xaxis"], layout["yaxis"]))
    assert axes == [axes[0]] * len(axes)


@pytest.mark.parametrize(("pitfall", "slip"), SLIPS)
def test_every_number_in_words_is_the_cores(pitfall: str, slip: str) -> None:
    scene, slots = drawn(pitfall=pitfall, slip=slip)
    made = pitfalls.get(pitfall).slip(slip)
    outcome = made.outcome(
        made.settings(made.examples[0], **({"look_back": 16} if pitfall == "partial" else {}))
    )
    place = (2, 20) if pitfall == "mrope" else (scene.position, scene.distance)
    right, mistaken = outcome.at(*place)
    caption, head = text(slots["caption"]), text(slots["scores:head"])
    assert f"scores {number(right)}, and {number(mistaken)} under the mistake" in re.sub(
        r"<[^>]*>", "", caption
    )
    assert f"here {number(right)} right, {number(mistaken)} mistaken" in head
    away = mistaken - right if abs(mistaken - right) > 1e-9 else 0.0
    assert f"here {number(away)} " in text(slots["map:head"])
    errors = np.abs(np.subtract(*outcome.scores(np.array([place[0]]), np.arange(
        outcome.extent if pitfall == "mrope" else place[0] + 1))))[0]  # fmt: skip
    errors[errors < 1e-9] = 0.0
    apart = np.flatnonzero(errors > VISIBLE)
    if pitfall == "mrope":
        assert f"lies {apart[0]} columns left" in caption
    elif len(apart):
        assert re.search(rf"stands {apart[0]:,} tokens? back", caption)
    else:
        assert "no key is off" in caption
    assert "more than 0.1, which changes a weight by a tenth," in caption or not len(apart)
    glance = text(slots["glance"])
    if scene.across == "position":
        first = outcome.first_position
        assert glance == f"Scores agree up to position {first - 1:,}differ at {first:,}"
        there = outcome.by_position(place[1]).first
        told = re.search(r"first query off by so much is at ([\d,]+)", caption)
        assert told and told[1] == f"{there:,}"
        assert (f"over all distances, at {first:,}" in caption) == (first != there)
    elif not len(apart):
        assert glance == "Scores agree at every distance, for this query"
    elif apart[0] == 0:
        assert glance.startswith("Scores differ from 0 on")
    else:
        where = {1: "at distance 0 alone"}.get(apart[0], f"up to distance {apart[0] - 1:,}")
        assert glance == f"Scores agree {where}differ at {apart[0]:,}"
    why = text(slots["why"])
    hides = made.hides
    for name, value in (("zero", errors[0]), ("one", errors[1]), ("scale", outcome.scale)):
        if f"{{{name}}}" in hides:
            assert re.sub(r"<[^>]*>", "", number(float(value))) in why
    for fact in outcome.facts:
        assert fact.label in why
        for value in (fact.right, fact.mistaken):
            assert re.sub(r"<[^>]*>", "", shown.shown(value)) in why


@pytest.mark.parametrize(("pitfall", "slip"), SLIPS)
def test_words_are_those_of_the_slip(pitfall: str, slip: str) -> None:
    made = pitfalls.get(pitfall).slip(slip)
    _, slots = drawn(pitfall=pitfall, slip=slip)
    for sentence in (*made.hides.split("{")[:1], made.mend):
        assert sentence in re.sub(r"&\w+;", "", slots["why"]["markup"])
    assert "In general" not in slots["why"]["markup"] or slip == "shift"


@pytest.mark.parametrize(
    ("query", "glance"),
    [
        ({"pitfall": "base", "example": "Llama-2-7b-hf"},
         "Scores agree at every distance, for this query"),
        ({"pitfall": "base", "across": "position"},
         "Scores differ at this distance, at every position alike"),
        ({"pitfall": "base", "across": "position", "distance": "1"},
         "Scores agree at this distance, at every position"),
        ({"pitfall": "left_padding", "slip": "shift", "across": "position"},
         "Scores agree at every position"),
        ({"pitfall": "left_padding", "position": "100"},
         "Scores agree at every distance, for this query"),
        ({"pitfall": "mrope", "columns": "20", "across": "position"}, "Scores differ from 0 on"),
        ({"pitfall": "mrope", "rows": "0"}, "Scores agree up to column 1differ at 2"),
        ({"pitfall": "mrope", "columns": "0", "across": "position"},
         "Scores agree up to row 1differ at 2"),
    ],
)  # fmt: skip
def test_the_headline_says_where(query: dict[str, str], glance: str) -> None:
    _, slots = drawn(**query)
    assert text(slots["glance"]) == glance


def test_settings_that_change_nothing_are_told() -> None:
    for query in ({"pitfall": "base", "example": "Llama-2-7b-hf"}, {"pitfall": "slopes",
                  "example": "mpt-7b"}, {"pitfall": "scaling_twice", "factor": "1"}):  # fmt: skip
        _, slots = drawn(**query)
        assert "Under these settings both score the same. In general:" in text(slots["why"])
    _, slots = drawn(pitfall="position_dtype", seq_len="256")
    assert "No query is off by so much, at any distance." in text(slots["caption"])
    _, slots = drawn(pitfall="position_dtype", slip="float16", distance="3000", seq_len="4096")
    assert re.search(r"At this distance.*2,049", text(slots["caption"]))


@pytest.mark.parametrize(("pitfall", "slip"), pictures.FORMULAS)
@settings(max_examples=12)
@given(data=st.data())
def test_formulas_give_the_cores_numbers(pitfall: str, slip: str, data: st.DataObject) -> None:
    query = {"pitfall": pitfall, "slip": slip}
    for name in ("rope_theta", "mistaken_theta", "factor", "rotary_dim", "num_heads", "head",
                 "padding", "prompt", "position", "distance"):  # fmt: skip
        parameter = VIEW.declared(VIEW.follow(query))[name]
        low, high = int(parameter.low), int(parameter.high)  # type: ignore[union-attr]
        step = 2 if name == "rotary_dim" else 1
        query[name] = str(data.draw(st.integers(low // step, high // step)) * step)
    scene = Scene(**VIEW.follow(query))
    facts = scene.outcome.facts
    index = 1 if pitfall == "mscale" and len(facts) > 2 else 0
    wanted = facts[index].right, facts[index].mistaken
    if pitfall == "left_padding":
        crosses = scene.position >= scene.prompt > scene.position - scene.distance
        wanted = float(scene.distance), float(scene.distance + scene.padding * crosses)
    for formula, symbols, value in zip(
        pictures.FORMULAS[pitfall, slip], shown.symbols(scene), wanted, strict=True
    ):
        assert formula.value(**symbols) == pytest.approx(value, rel=1e-9)


def test_the_chart_shows_the_scores_of_the_core() -> None:
    _, slots = drawn(pitfall="base", example="Meta-Llama-3-8B", position="100")
    low, high, *_ = slots["scores"]["figure"]["data"]
    assert numbers(low["x"])[:3].tolist() == [0.5, 1.0, 2.0]
    right = 2 * rope.cosine_sums(rope.inv_freq(128, 5e5), 101) / np.sqrt(128)
    np.testing.assert_allclose(numbers(low["y"])[:30], right[:30], rtol=1e-6)
    np.testing.assert_allclose(numbers(high["y"])[:30], right[:30], rtol=1e-6)


def test_a_link_shows_40_heads() -> None:
    _, slots = drawn(pitfall="slopes", example="baichuan-13b", distance="10")
    assert f"{-10 * alibi.slopes(40)[32]:.3g}".replace("-", "−") in text(slots["caption"])
    assert "0.840896" in text(slots["why"])
    assert "baichuan-inc/Baichuan2#225" in slots["told"]["markup"]
    assert "https://github.com/baichuan-inc/Baichuan2/issues/225" in slots["told"]["markup"]


# ----------------------------------------------------------------------- the small trained model


def effect(**other: Any) -> Any:
    from posviz.models import mistaken

    return replace(mistaken.Effect(
        "names-rope-500-seed0", 1024, 256, np.array([64.0, 256.0, 1024.0]),
        np.array([1.1, 1.0, 0.9]), np.array([1.1, 1.05, 4.321]), None, None, 4,
    ), **other)  # fmt: skip


def test_every_pitfall_has_a_trained_model_or_says_why_not() -> None:
    from posviz.models import mistaken

    names = {pitfall.id for pitfall in PITFALLS}
    assert set(mistaken.SHOWN) == set(shown.TINY)
    assert set(shown.TINY_SLIPS.items()) <= set(SLIPS)
    assert set(shown.WITHOUT_MODEL) == names - set(mistaken.SHOWN), "WITHOUT_MODEL says why"
    _, slots = drawn(pitfall="mrope")
    assert "No small model here reads images" in text(slots["real:caption"])


def test_its_words_are_how_it_is_read() -> None:
    from posviz import measured
    from posviz.models import mistaken

    for pitfall, told in shown.TINY.items():
        mistake = mistaken._MISTAKES[pitfall]
        factor = mistake.own or shown.FACTOR
        method = {"yarn": f"YaRN ×{factor:g}", "dynamic": f"dynamic NTK ×{factor:g}"}
        assert method.get(mistake.method, "") in told, pitfall
        assert ("YaRN" in told, "dynamic" in told) == (
            mistake.method == "yarn", mistake.method == "dynamic",
        )  # fmt: skip
    assert "read with base 500" in shown.TINY["base"]
    assert (
        f"behind {measured.TRAINED_LENGTH - mistaken._PADDED} empty" in (shown.TINY["left_padding"])
    )


@pytest.mark.parametrize(
    ("query", "kinship"),
    [
        ({"pitfall": "base"}, "The same slip with other bases, not 500,000 and 10,000."),
        ({"pitfall": "base", "mistaken_theta": "700"}, "not 500,000 and 700."),
        ({"pitfall": "pairing", "slip": "half"}, "The same slip the other way round."),
        ({"pitfall": "pairing"}, "The same slip, not the same model."),
        ({"pitfall": "reciprocal"}, "The same slip in another scaling method."),
        ({"pitfall": "scaling_twice", "slip": "power"}, "Not this slip, a related one."),
        ({"pitfall": "left_padding"}, "Not this slip, a related one."),
    ],
)
def test_it_says_how_its_mistake_relates_to_the_one_shown(
    monkeypatch: pytest.MonkeyPatch, query: dict[str, str], kinship: str
) -> None:
    monkeypatch.setattr(shown, "_finished", {query["pitfall"]: effect()})
    _, slots = drawn(**query)
    assert kinship in text(slots["real:caption"])
    assert "A small trained model" in text(slots["real:head"])


@pytest.mark.parametrize(
    ("slip", "told"),
    [("multiplied", "the small model does not mind"),
     ("generic", "the small model does not mind a like slip")],
)  # fmt: skip
def test_the_headline_says_where_the_model_does_not_mind(
    monkeypatch: pytest.MonkeyPatch, slip: str, told: str
) -> None:
    for wrong, minds in ((np.array([1.1, 1.0, 0.948]), False), (np.array([1.1, 1.0, 0.95]), True)):
        monkeypatch.setattr(shown, "_finished", {"mscale": effect(wrong=wrong)})
        markup = drawn(pitfall="mscale", slip=slip)[1]["glance"]["markup"]
        assert f">{told}<" in markup
        assert ("hidden" in markup) == minds
    monkeypatch.setattr(shown, "_finished", {})
    assert "hidden" in drawn(pitfall="mscale", slip=slip)[1]["glance"]["markup"]


def test_what_was_measured_is_told_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from posviz.models import mistaken

    found = effect()
    last = replace(found, right_found=0.98, wrong_found=0.05)
    asked: list[str] = []

    def effects(pitfall: str, *, factor: float) -> Iterator[mistaken.Effect]:
        asked.append(pitfall)
        assert factor == shown.FACTOR
        yield from (found, last)

    monkeypatch.setattr(mistaken, "effects", effects)
    monkeypatch.setattr(shown, "_finished", {})
    values, _ = VIEW.read({"pitfall": "scaling_missing"})
    assert VIEW.measure is not None
    assert "measuring" in content(VIEW.draw(**values))["real:head"]["markup"]
    steps = [content(step) for step in VIEW.measure(**values)]
    assert "Needles: measuring…" in text(steps[0]["real:caption"])
    for slots in (steps[1], content(VIEW.draw(**values))):
        told = f"perplexity {math.exp(0.9):.2f} right, {math.exp(4.321):.1f} mistaken"
        assert told in text(slots["real:head"])
        said = text(slots["real:caption"])
        assert f"by 1.00 up to 64 tokens, by {math.exp(3.421):.1f} at 1,024" in said
        assert "it finds 98\u00a0%, with the mistake 5\u00a0%" in said
        right, mistake = slots["real"]["figure"]["data"]
        np.testing.assert_allclose(numbers(right["y"]), np.exp(found.right), rtol=1e-6)
        np.testing.assert_allclose(numbers(mistake["y"]), np.exp(found.wrong), rtol=1e-6)
        assert "The same slip, not the same model. In a RoPE, base 500 model, seed 0:" in said
    other = content(VIEW.draw(**VIEW.read({"pitfall": "scaling_missing", "slip": "clamped"})[0]))
    assert "Not this slip, a related one. In a RoPE" in text(other["real:caption"])
    assert list(VIEW.measure(**values)) == []  # known by now
    assert list(VIEW.measure(**VIEW.read({"pitfall": "mrope"})[0])) == []
    assert asked == ["scaling_missing"]
