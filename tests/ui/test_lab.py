"""The lab's view over all its parameters, and what it measures, without a browser."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from posviz import measured, params
from posviz.models import evaluate, reading
from posviz.ui import live
from tests.ui.views import content, numbers, view_of

CHARTS = ("perplexity", "repeated")


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("lab")


def slots(view: live.View, **query: str) -> dict[str, Any]:
    return content(view.draw(**view.follow(query)))


def text(slots: dict[str, Any], key: str) -> str:
    """What a place says, without tags."""
    return re.sub(r"<[^>]*>", "", slots[key]["markup"])


def traces(slots: dict[str, Any], key: str = "perplexity") -> dict[str, list[np.ndarray]]:
    """Lines of a chart by name, x and y of each."""
    found: dict[str, list[np.ndarray]] = {}
    for trace in slots[key]["figure"]["data"]:
        found[trace["name"]] = [numbers(trace["x"]), numbers(trace["y"])]
    return found


def perplexity(model: str, method: str = "default", factor: float = 1.0) -> np.ndarray:
    curve = measured.curve(model, method, factor)
    assert curve is not None
    return curve.perplexity


@pytest.mark.parametrize("model", reading.FAMILIES)
def test_axes_stand_whatever_a_handle_says(view: live.View, model: str) -> None:
    ends = {"factor": ("1", "32"), "rope_theta": ("10", "1e6"), "slope_multiplier": ("0.25", "4")}
    axes = []
    for name, both in ends.items():
        for end in both:
            drawn = slots(view, model=model, **{name: end})
            layouts = [drawn[key]["figure"]["layout"] for key in CHARTS]
            axes.append([(layout["xaxis"], layout["yaxis"]) for layout in layouts])
    assert axes == [axes[0]] * 6


@pytest.mark.parametrize("query", ["factor=abc", "model=x", "beta_slow=99", "a=b", "seed=7"])
def test_the_route_never_fails(view: live.View, query: str) -> None:
    client = TestClient(Starlette(routes=live.ROUTES))
    assert client.get(f"/live/view/lab?{query}").status_code == 200


def test_what_was_measured_before_is_shown_at_once(view: live.View) -> None:
    drawn = slots(view, rope_type="yarn", factor="8", seed="1")
    x, y = traces(drawn)["YaRN ×8"]
    assert x.tolist() == list(measured.LENGTHS)
    np.testing.assert_allclose(y, perplexity("names-rope-500-seed1", "yarn", 8.0), rtol=1e-6)
    assert "measured before" in text(drawn, "perplexity:head")
    assert "measuring" not in str(drawn)
    values = view.follow({"rope_type": "yarn", "factor": "8"})
    assert view.measure is not None
    assert list(view.measure(**values)) == []


def test_a_new_setting_is_told_to_be_measured_and_the_nearest_curve_stays(view: live.View) -> None:
    drawn = slots(view, rope_type="yarn", factor="7")
    assert "YaRN ×7: measuring… (dashed: YaRN ×8)" in text(drawn, "perplexity:head")
    assert "YaRN ×7" not in traces(drawn)
    np.testing.assert_allclose(
        traces(drawn)["YaRN ×8"][1], perplexity("names-rope-500-seed0", "yarn", 8.0), rtol=1e-6
    )
    assert text(drawn, "readout").count("…") == 4


def test_a_new_setting_is_measured_in_steps(view: live.View) -> None:
    values = view.follow({"rope_type": "yarn", "factor": "7"})
    assert view.measure is not None
    steps = [content(step) for step in view.measure(**values)]
    assert [re.findall(r"\((\d)[^,]*documents", text(s, "perplexity:head")) for s in steps] == [
        ["2"], ["4"]
    ]  # fmt: skip
    assert steps[0].keys() == view.draw(**values).keys()
    assert "2 of 4 documents, measuring…" in text(steps[0], "perplexity:head")
    assert re.search(r"YaRN ×7: [\d.]+ ± [\d.]+ at 2,048 \(4 documents, [\d.]+ s\)",
                     text(steps[1], "perplexity:head"))  # fmt: skip
    setting = evaluate.read_with("names-rope-500-seed0", "yarn", 7.0)
    expected = evaluate.curve("names-rope-500-seed0", setting, measured.LENGTHS[:11], 4)
    x, y = traces(steps[1])["YaRN ×7"]
    assert x.tolist() == list(measured.LENGTHS[:11])
    np.testing.assert_allclose(y, expected.perplexity, rtol=1e-5)
    assert "…" not in text(steps[1], "readout")


def test_a_checkpoint_that_cannot_be_read_gets_a_sentence(
    view: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(name: str) -> None:
        raise params.InvalidParameterError("checkpoint must be whole, got {got}", got=name)

    monkeypatch.setattr(evaluate, "decoder", damaged)
    assert view.measure is not None
    (step,) = view.measure(**view.follow({"factor": "7"}))
    assert text(content(step), "notice") == "checkpoint must be whole, got names-rope-500-seed0."


@pytest.mark.parametrize(
    ("handle", "values"),
    [("factor", ("9", "9.1")), ("rope_theta", ("700", "710")), ("beta_fast", ("6", "12")),
     ("beta_slow", ("1", "3")), ("attention_factor", ("on", "off"))],
)  # fmt: skip
def test_every_handle_of_rope_moves_the_fast_pictures(
    view: live.View, handle: str, values: tuple[str, str]
) -> None:
    link = {"rope_type": "yarn", "factor": "9"}
    before, after = (slots(view, **{**link, handle: value}) for value in values)
    assert before["changes:head"] != after["changes:head"]
    assert before["perplexity:head"] != after["perplexity:head"]


def test_handles_that_do_nothing_change_nothing(view: live.View) -> None:
    for link in ({"model": "t5"}, {"reading": "sliding"}, {"model": "alibi"}):
        plain = slots(view, **link)
        assert slots(view, **link, rope_type="yarn", factor="9", beta_fast="20") == plain


def test_the_exercise_says_both_perplexities_and_their_order(view: live.View) -> None:
    said = text(slots(view), "exercise")
    for method, factor in (("default", 1.0), ("ntk", 8.0)):
        band = measured.band("names-rope-500", method, factor)
        assert band is not None
        assert f"{math.exp(band.mean[measured.LENGTHS.index(1024)]):#.3g}" in said
    order = measured.compare("names-rope-500", "ntk", "default", 8.0, 1024)
    assert ("in every seed NTK ×8 is below no scaling" in said) == (order == "lower")


def test_an_order_that_seeds_contradict_is_not_claimed(
    view: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "compare", lambda *_: "seeds disagree")
    drawn = slots(view, rope_type="yarn")
    assert "the seeds disagree on YaRN ×8 against no scaling, NTK and Llama 3" in text(
        drawn, "caption"
    )
    assert "every seed" not in text(drawn, "caption")
    assert "every seed" not in text(drawn, "exercise")


def test_learned_ends_with_its_table(view: live.View) -> None:
    drawn = slots(view, model="learned")
    assert max(traces(drawn)["learned"][0]) == 256
    assert "rows for positions 0 to 255 and none for 256" in text(drawn, "caption")
    assert text(drawn, "readout").count("–") == 3


def test_a_family_that_falls_short_is_dotted_and_says_by_how_much(
    view: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "shortfalls", lambda: {"none": 0.237, "t5": 0.02})
    drawn = slots(view, model="none")
    dotted = [
        trace["name"]
        for trace in drawn["perplexity"]["figure"]["data"]
        if trace["line"].get("dash") == "2px,2px"
    ]
    assert dotted == ["no encoding"] * 2  # the family and the chosen seed
    assert "they are 24 % above ALiBi" in text(drawn, "caption")
    assert "above ALiBi" not in text(slots(view, model="t5"), "caption")
    assert "ours: no encoding" not in traces(slots(view, beside="kazemnejad-3"))


def test_published_curves_are_multiples_of_their_value_at_the_trained_length(
    view: live.View,
) -> None:
    drawn = slots(view, beside="alibi-2")
    lines = traces(drawn)
    assert lines["theirs: ALiBi"][1][-1] == pytest.approx(18.31 / 19.73)
    assert lines["theirs: ALiBi"][0][-1] == pytest.approx(15512 / 512)
    for name in ("theirs: sinusoidal", "ours: ALiBi", "ours: T5 bias"):
        x, y = lines[name]
        assert y[x == 1.0] == pytest.approx([1.0])
    x, y = traces(slots(view, rope_type="linear", beside="pi-3"))["ours: PI ×8"]
    own, plain = (
        perplexity("names-rope-500-seed0", "linear", 8.0),
        perplexity("names-rope-500-seed0"),
    )
    at = measured.LENGTHS.index(256)
    assert y[x == 1.0] == pytest.approx([own[at] / plain[at]])
    assert 'href="https://arxiv.org/abs/2108.12409"' in drawn["perplexity:head"]["markup"]
    assert "Press, Smith, Lewis 2021, table 2" in text(drawn, "perplexity:head")
    assert "not heights" in text(drawn, "caption")


def test_a_window_gains_nothing_and_needs_no_scaling(view: live.View) -> None:
    drawn = slots(view, reading="sliding", seed="1")
    curve = measured.sliding("names-rope-500-seed0")
    assert curve is not None
    np.testing.assert_allclose(
        traces(drawn)["RoPE, base 500, sliding window"][1], curve.perplexity, rtol=1e-6
    )
    assert "no scaling is needed" in text(drawn, "changes")
