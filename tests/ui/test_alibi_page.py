"""ALiBi's view over all its parameters, without a browser."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, haystacks, measured, params
from posviz.attention import softmax
from posviz.figures import alibi as pictures
from posviz.figures.style import number
from posviz.ui import live
from posviz.ui.text import section
from tests.server import ROOT
from tests.ui.views import any_values, content, numbers, view_of

CHARTS = {"slopes": ["slopes"], "bias": [], "weights": ["weights", "windows"],
          "length": ["covered", "perplexity", "found"]}  # fmt: skip


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("alibi")


def drawn(view: live.View, **query: str) -> dict[str, Any]:
    values, problems = view.read(query)
    assert not problems
    return content(view.draw(**values))


def words(markup: str) -> str:
    """What a reader sees, without formulas and tags."""
    return re.sub(r"<[^>]+>", "", re.sub(r"<math>.*?</math>", "", markup))


@given(data=st.data())
def test_each_part_has_its_charts(view: live.View, data: st.DataObject) -> None:
    values = any_values(data.draw, view)
    slots = content(view.draw(**values))
    assert [key for key, slot in slots.items() if "figure" in slot] == CHARTS[values["part"]]


def ends(view: live.View) -> list[dict[str, str]]:
    values = view.read({})[0]
    return [
        {"part": part, one.name: one.write(end)}
        for part in CHARTS
        for one in view.declared(values).values()
        if isinstance(one, params.Number)
        for end in (one.low, one.high)
    ]


def test_both_ends_of_every_handle_draw_each_part(view: live.View) -> None:
    for query in ends(view):
        slots = drawn(view, **query)
        assert slots["caption"]["markup"], query
        for key in CHARTS[query["part"]]:
            axes = slots[key]["figure"]["layout"]
            default = drawn(view, part=query["part"])[key]["figure"]["layout"]
            # The length of an axis itself, and what may need the lower half of one.
            if not {"original_max_position_embeddings", "alibi_bias_max"} & set(query):
                for axis in ("xaxis", "yaxis"):
                    assert axes[axis] == default[axis], (key, query)


# ------------------------------------------------------------------------- numbers are the core's


@given(st.integers(1, 128), st.data())
def test_slopes_and_how_many_differ_are_the_core_s(
    view: live.View, num_heads: int, data: st.DataObject
) -> None:
    head = data.draw(st.integers(1, num_heads))
    slots = drawn(view, num_heads=str(num_heads), head=str(head))
    slopes = alibi.slopes(num_heads)
    released = next(t for t in slots["slopes"]["figure"]["data"] if t["name"] == "released")
    np.testing.assert_allclose(numbers(released["y"]), slopes, rtol=1e-6)
    differ = np.sum(~np.isclose(slopes, alibi.paper_slopes(num_heads)))
    told = f"{differ} of {num_heads} heads differ{'s' * int(differ == 1)} from"
    if num_heads == 1:
        told = "<span>differs from" if differ else "<span>as in"
    assert f"{told} the paper’s formula" in slots["slopes:head"]["markup"]
    assert slots["note:head"]["markup"] == f"slope {slopes[head - 1]:.4g}"
    assert slots["ladder"]["markup"].count("data-set=") == num_heads


def slope_range(figure: dict[str, Any], axis: str) -> list[float]:
    return sorted(10.0**end for end in figure["layout"][axis]["range"])


def test_flatter_slopes_than_usual_get_room_only_when_there_are_some(view: live.View) -> None:
    for bias_max, end in (("1", -8.5), ("8", -8.5), ("8.5", -16.5), ("16", -16.5)):
        for part, key, axis in (("slopes", "slopes", "yaxis"), ("weights", "windows", "xaxis")):
            figure = drawn(view, part=part, alibi_bias_max=bias_max)[key]["figure"]
            low, high = slope_range(figure, axis)
            assert low == pytest.approx(2.0**end)
            slopes = alibi.slopes(12, float(bias_max))
            assert low < slopes.min() < slopes.max() < high
    ladder = drawn(view, alibi_bias_max="16")["ladder"]["markup"]
    assert all(0 < float(at) < 100 for at in re.findall(r"left:([\d.e-]+)%", ladder))


@given(st.integers(1, 128), st.data())
def test_heads_are_numbered_below_the_axis(
    view: live.View, num_heads: int, data: st.DataObject
) -> None:
    head = data.draw(st.integers(1, num_heads))
    order = data.draw(st.sampled_from(["released", "sorted"]))
    figure = drawn(view, num_heads=str(num_heads), head=str(head), order=order)["slopes"]["figure"]
    named = {note["text"]: note["x"] for note in figure["layout"]["annotations"] if note["y"] == 0}
    assert str(head) in named
    assert len(named) == num_heads if num_heads <= 16 else 4 <= len(named) <= 9
    released = next(trace for trace in figure["data"] if trace["name"] == "released")
    for label, at in named.items():  # below the slope of that head
        place = round(at * num_heads) - 1
        assert numbers(released["y"])[place] == np.float32(alibi.slopes(num_heads)[int(label) - 1])


def test_each_line_of_windows_has_its_own_sample(view: live.View) -> None:
    both = {"50 %": "dot", "90 %": "dash"}
    for share, others in (("99", both), ("75", both | {"99 %": "long"})):
        slots = drawn(view, part="weights", share=share)
        head = slots["windows:head"]["markup"]
        entries = re.findall(r'<i class="is-(\w+)"[^>]*></i>(\d+ %)', head)
        assert {label: kind for kind, label in entries} == others | {f"{share} %": "solid"}
        dashes = {t["name"]: t["line"].get("dash") for t in slots["windows"]["figure"]["data"]}
        assert len({dashes[label] for label in others}) == len(others)


def test_twelve_heads_are_shown_unsorted_and_on_request_sorted(view: live.View) -> None:
    caption = words(drawn(view)["caption"]["markup"])
    assert "head 9 (0.7071) starts steep again after head 8 (0.003906)" in caption
    for order, falls in (("released", False), ("sorted", True)):
        figure = drawn(view, order=order, head="9")["slopes"]["figure"]
        traces = {trace["name"]: trace for trace in figure["data"]}
        y = numbers(traces["released"]["y"])
        assert np.all(np.diff(y) < 0) == falls
        chosen = traces["chosen head"]
        assert numbers(chosen["y"])[1] == np.float32(2**-0.5)
        place = round(float(numbers(chosen["x"])[0]) * 12)
        assert y[place - 1] == np.float32(2**-0.5)


@given(st.integers(1, 12), st.integers(2, 256), st.data())
def test_the_three_ways_differ_by_a_constant_and_the_softmax_by_nothing(
    view: live.View, head: int, seq_len: int, data: st.DataObject
) -> None:
    query = data.draw(st.integers(0, seq_len - 1))
    slots = drawn(
        view, part="bias", head=str(head), seq_len=str(seq_len), query=str(query), mask="causal"
    )
    slope = alibi.slopes(12)[head - 1]
    caption = words(slots["caption"]["markup"])
    bloom, mpt = slope * query, -slope * (seq_len - 1 - query) + 0.0
    assert f"by {words(number(bloom))} at every key, MPT’s by {words(number(mpt))}." in caption
    assert "the largest difference between the weights of the three is 0." in caption
    row = re.findall(r"<tr>.*?</tr>", slots["row"]["markup"])
    cells = [re.findall(r"<td>(.*?)</td>", line) for line in row]
    keys = [int(key) for key in re.findall(r"j = (\d+)", row[0])]
    weights = softmax(alibi.bias(slope, np.arange(query, -1, -1)))
    assert cells[4][:-1] == [f"{weights[key]:.3f}" for key in keys]
    assert [line[-1] for line in cells[1:4]] == ["0", number(bloom), number(mpt)]


def test_without_a_mask_the_shortcuts_mean_something_else(view: live.View) -> None:
    caption = words(drawn(view, part="bias", mask="symmetric")["caption"]["markup"])
    distance = np.abs(np.subtract.outer(np.arange(48), np.arange(48)))
    apart = np.abs(softmax(-0.125 * distance) - softmax(0.125 * np.arange(48))).max()
    assert apart > 0.05
    assert f"off by up to {number(round(apart, 12))}." in caption


def tokens(count: str) -> str:
    return "1 token" if count == "1" else f"{count} tokens"


@given(st.integers(1, 128), st.floats(1.0, 16.0), st.floats(10.0, 99.9), st.data())
def test_windows_are_the_core_s(
    view: live.View, num_heads: int, bias_max: float, share: float, data: st.DataObject
) -> None:
    head = data.draw(st.integers(1, num_heads))
    slots = drawn(view, part="weights", num_heads=str(num_heads), alibi_bias_max=str(bias_max),
                  share=str(share), head=str(head))  # fmt: skip
    slope = alibi.slopes(num_heads, bias_max)[head - 1]
    half, nearly, most, own = (
        number(math.ceil(-math.log1p(-kept / 100) / slope)) for kept in (50, 90, 99, share)
    )
    caption = slots["caption"]["markup"]
    assert f"within {tokens(half)}, 90 % within {nearly}, 99 % within {most}." in caption
    assert ("the steepest" in caption) == (num_heads > 1)
    assert f"within {tokens(own)}<" in slots["windows:head"]["markup"]
    chosen = slots["weights"]["figure"]["data"][1]
    assert numbers(chosen["y"])[0] == pytest.approx(alibi.weights(slope, 0, 2048), rel=1e-6)


@given(st.integers(1, 12), st.floats(1.0, 64.0))
def test_the_table_of_contexts_is_the_core_s(view: live.View, head: int, context: float) -> None:
    slots = drawn(view, part="length", head=str(head), context=str(context))
    slope = alibi.slopes(12)[head - 1]
    window, count = alibi.window(slope), round(context * 2048)
    row = re.search(r"<tr class=is-current>(.*?)</tr>", slots["contexts"]["markup"])
    assert row
    assert re.findall(r"<td>(.*?)</td>", row[1]) == [
        number(count),
        f"{100 * alibi.within(slope, window, count):.3g} %",
        f"{100 * alibi.covered(slope, count):.3g} %",
        number(alibi.lead(slope, count - 1, count)),
    ]
    assert f"{number(math.ceil(window))} tokens at any length" in slots["covered:head"]["markup"]
    assert (
        f"by {number(alibi.lead(2.0**-8, count - 1, count))} in head 8"
        in slots["caption"]["markup"]
    )


def test_the_lab_s_numbers_are_the_measured_ones(view: live.View) -> None:
    slots = drawn(view, part="length")
    assert measured.reach("names-alibi") == math.inf, "else perplexity does not hold"
    band, sliding = measured.band("names-alibi"), measured.sliding("names-alibi-seed0")
    assert band
    assert sliding
    at = band.lengths.index
    told = slots["perplexity:head"]["markup"]
    assert f"{math.exp(band.mean[at(256)]):.2f} at 1×" in told
    assert f"{math.exp(band.mean[at(2048)]):.2f} at 8×" in told
    assert f"behind a window {math.exp(sliding.nats[sliding.lengths.index(2048)]):.2f}" in told
    grids = [haystacks.grid(f"names-alibi-seed{seed}") for seed in range(3)]
    needles = np.mean([grid.accuracy[-1].mean() for grid in grids if grid])
    copied = measured.band("copying-alibi", quantity="accuracy")
    assert copied
    assert copied.lengths[-1] == 2048
    assert (
        f"needles {100 * needles:.0f}\u00a0% at 8×, copies {100 * copied.mean[-1]:.0f}\u00a0% at 4×"
        in (slots["found:head"]["markup"])
    )
    said = slots["measured"]["markup"]
    assert f"only {100 * copied.mean[-1]:.0f}\u00a0% right at 4×." in said
    for reader in (band, sliding):  # both are lower at 8 trained contexts, as it says
        near, far = (math.exp(getattr(reader, "mean" if reader is band else "nats")[
            reader.lengths.index(length)]) for length in (256, 2048))  # fmt: skip
        assert far < near
    assert f"it is too, {far:.2f} after {near:.2f}." in said
    assert "trained on 256 tokens, for copying on 512;" in said
    assert "geometry of head" in slots["covered:head"]["markup"]


# -------------------------------------------------------------------------------------- formulas


@given(st.integers(1, 128), st.floats(1.0, 16.0), st.data())
def test_the_formulas_are_the_core_s(num_heads: int, bias_max: float, data: st.DataObject) -> None:
    head = data.draw(st.integers(1, num_heads))
    count, place = alibi.series(num_heads, head)
    slope = alibi.slopes(num_heads, bias_max)[head - 1]
    assert pictures.SLOPE.value(B=bias_max, h=place, n=count) == pytest.approx(slope, rel=1e-12)
    query = data.draw(st.integers(0, 4096))
    key = data.draw(st.integers(0, query))
    assert pictures.BIAS.value(m=slope, i=query, j=key) == pytest.approx(
        float(alibi.bias(slope, query - key)), rel=1e-12
    )
    kept = data.draw(st.floats(0.1, 0.999))
    assert pictures.WINDOW.value(p=kept, m=slope) == pytest.approx(
        alibi.window(slope, kept), rel=1e-9
    )


def test_the_prose_has_no_tags() -> None:
    # Markdown shows them as they are written.
    for path in (ROOT / "content").glob("*/*.md"):
        assert not re.search(r"</?[a-z]+>", path.read_text(encoding="utf-8")), path


def test_the_prose_tells_falcon_s_bias_and_the_lab_s_slopes_truly() -> None:
    variants = section("alibi", "Variants and slips").replace("−", "-")
    falcon = alibi.falcon_bias(8, np.ones(11), 64)[0]
    assert alibi.slopes(8)[0] == 0.5
    assert f"its bias is {falcon[0] - falcon[10]:g}, where BLOOM's is -5." in variants
    halved, plain = measured.band("names-alibi", "slopes", 0.5), measured.band("names-alibi")
    assert halved
    assert plain
    at = plain.lengths.index(256)
    assert halved.lowest[at] > plain.highest[at] + math.log(2), "halved slopes ruin the loss"
    seeing = section("alibi", "How far does a head see?")
    assert "slope 1/256" in seeing
    assert alibi.slopes(3).min() == 1 / 256  # three heads, as in posviz/models/recipes.py
