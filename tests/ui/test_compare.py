"""The comparison over all its parameters, without a browser."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import alibi, attention, catalog, comparison, distance, measured, params
from posviz.catalog import Shape
from posviz.comparison import Setting
from posviz.figures import compare as pictures
from posviz.figures.relative import size
from posviz.figures.style import number, percent
from posviz.ui.labels import FAMILIES
from posviz.views.compare import HANDLES, LENGTHS, PARTS, VIEW, held, trained
from tests.ui.views import content, numbers


def drawn(part: str, **changed: object) -> dict[str, dict[str, Any]]:
    values, problems = VIEW.read({"part": part})
    assert not problems
    return content(VIEW.draw(**(values | changed)))


def words(slot: dict[str, Any]) -> str:
    return re.sub(r"<[^>]*>", "", slot["markup"])


def cells(slot: dict[str, Any]) -> list[list[str]]:
    """Text of each cell of each row of a table, its header left out."""
    body = slot["markup"].partition("<tbody>")[2]
    return [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
        for row in re.findall(r"<tr.*?</tr>", body)
    ]


def test_each_part_has_its_handles_and_they_are_all_declared() -> None:
    declared = VIEW.declared(VIEW.read({})[0])
    assert HANDLES.keys() == PARTS.keys()
    for names in HANDLES.values():
        assert all(isinstance(declared[name], params.Number) for name in names)


# Side by side.


@pytest.mark.parametrize("show", ["scores", "weights"])
@pytest.mark.parametrize("variety", [0.0, 60.0])
def test_maps_rows_and_captions_are_the_cores(show: str, variety: float) -> None:
    chosen = ("learned", "shaw", "transformer_xl", "xpos")
    slots = drawn("side", encodings=chosen, a="shaw", b="xpos", show=show, variety=variety,
                  query=40, head=2, seed=4)  # fmt: skip
    x = comparison.words(64, trained().d_model, variety / 100, 1.0, 4)
    scored = {one: comparison.scores(one, x, trained(), Setting(head=2, seed=4)) for one in chosen}
    weighed = {one: attention.softmax(scored[one]) for one in chosen}
    shown = weighed if show == "weights" else scored
    seen = attention.causal_mask(64)
    for one in chosen:
        raster = numbers(slots["maps"]["rasters"][one]["values"]).reshape(64, 64)
        np.testing.assert_allclose(raster[seen], shown[one][seen], atol=1e-5)
    difference = np.zeros((64, 64))
    difference[seen] = shown["xpos"][seen] - shown["shaw"][seen]
    raster = numbers(slots["maps"]["rasters"]["difference"]["values"]).reshape(64, 64)
    np.testing.assert_allclose(raster[seen], difference[seen], atol=1e-5)
    largest = difference.ravel()[abs(difference).argmax()]
    sign = "+" if largest > 0 else ""
    assert f"by {sign}{number(float(largest))}." in words(slots["caption"])
    for trace, one in zip(slots["row"]["figure"]["data"], chosen, strict=True):
        np.testing.assert_array_equal(numbers(trace["x"]), np.arange(41))
        floor = pictures.FAINTEST if show == "weights" else -math.inf
        np.testing.assert_allclose(numbers(trace["y"]), np.maximum(shown[one][40, 40::-1], floor),
                                   atol=1e-5)  # fmt: skip
    for row, one in zip(cells(slots["looks"]), chosen, strict=True):
        key = int(weighed[one][40].argmax())
        assert row[1] == ("itself" if key == 40 else f"{40 - key} back")
        assert row[2] == percent(weighed[one][40, key])
        assert row[3] == percent(weighed[one][40, 33:41].sum())
    for one in ("learned", "shaw"):
        share = comparison.off_diagonal_share(scored[one])
        assert share is not None
        told = percent(1.0) if share < 1e-12 else percent(1 - share)
        assert f"distance explains {told}" in words(slots["maps"])


def test_equal_words_tell_relative_from_absolute() -> None:
    caption = words(drawn("side")["caption"])
    assert "Along each diagonal of T5 bias, RoPE and ALiBi the colour is the same" in caption
    x = comparison.words(64, trained().d_model, 0.0)
    share = comparison.off_diagonal_share(comparison.scores("sinusoidal", x, trained()))
    assert share is not None
    said = f"Distance explains {percent(1 - share)} of what varies under sinusoidal; the rest"
    assert said in caption


def test_without_content_it_says_who_falls_silent() -> None:
    slots = drawn("side", strength=0.0, encodings=("sinusoidal", "rope", "alibi", "xpos"))
    assert "nothing is left of RoPE and xPos" in words(slots["caption"])


def test_the_difference_is_of_two_unless_the_link_says_otherwise() -> None:
    for chosen, a, b in (("rope,alibi,xpos", "rope", "alibi"), ("none,rope", "rope", "none"),
                         ("none,shaw", "none", "shaw"), ("t5", "t5", "t5")):  # fmt: skip
        values = VIEW.read({"encodings": chosen})[0]
        assert (values["a"], values["b"]) == (a, b)


def test_a_row_of_equal_weights_looks_everywhere() -> None:
    rows = cells(drawn("side", encodings=("none", "alibi"), a="none", b="alibi")["looks"])
    assert [row[1] for row in rows] == ["everywhere", "itself"]
    assert rows[0][2] == percent(1 / 49)


def test_one_encoding_alone_has_no_difference_and_none_asks_for_some() -> None:
    one = drawn("side", encodings=("rope",), a="rope", b="rope")
    assert "difference" not in one["maps"]["rasters"]
    assert "Choose up to four" in words(drawn("side", encodings=())["maps:head"])
    same = drawn("side", a="t5", b="t5")
    assert "A and B are the same" in words(same["caption"])


def test_a_saved_map_says_what_it_shows() -> None:
    """Its heading, its axes and its colours are one picture; what only a page can use is marked."""
    for show, told in (("scores", "score −6 or less"), ("weights", "weight 0.2 or more")):
        slots = drawn("side", show=show)
        markup = slots["maps"]["markup"]
        assert told in markup
        assert markup.count('class="pv-heat-title">query<') == 5
        assert markup.count('class="pv-heat-under">key<') == 5
        buttons = re.findall(r"<button[^>]*>", markup)
        assert len(buttons) == 8
        assert all("data-unsaved" in button for button in buttons)
        heading = slots["maps:head"]["markup"]
        assert "the line marks query 48" in heading
        assert re.search(r"<span data-unsaved>[^<]*press A over one map and B over", heading)
    alone = drawn("side", encodings=("rope",), a="rope", b="rope", show="weights")
    assert "press A" not in alone["maps:head"]["markup"]
    assert "B − A" not in alone["maps"]["markup"]


def test_that_a_fifth_is_refused_is_said_beside_the_choice() -> None:
    assert words(drawn("side")["hint"]).startswith("four at most")
    assert words(drawn("side", encodings=("rope",), a="rope", b="rope")["hint"]) == "up to four"


def ends(slot: dict[str, Any], axis: str = "yaxis") -> tuple[float, float]:
    low, high = slot["figure"]["layout"][axis]["range"]
    if slot["figure"]["layout"][axis].get("type") == "log":
        return 10**low, 10**high
    return low, high


def reached(slot: dict[str, Any]) -> tuple[float, float]:
    lines = [numbers(trace["y"]) for trace in slot["figure"]["data"]]
    return min(float(one.min()) for one in lines), max(float(one.max()) for one in lines)


@given(
    chosen=st.sets(st.sampled_from(catalog.NAMES), min_size=1, max_size=4),
    head=st.integers(1, 3), strength=st.sampled_from([0.0, 0.6, 1.0, 1.5]),
    variety=st.sampled_from([0.0, 30.0, 100.0]), seed=st.integers(0, 99),
)  # fmt: skip
def test_no_line_of_a_query_leaves_its_axis(
    chosen: set[str], head: int, strength: float, variety: float, seed: int
) -> None:
    names = tuple(name for name in catalog.NAMES if name in chosen)
    common = {"encodings": names, "a": names[0], "b": names[-1], "head": head,
              "strength": strength, "variety": variety, "seed": seed}  # fmt: skip
    found = [drawn("side", seq_len=length, query=query, **common)["row"]
             for length, query in ((96, 95), (96, 40), (8, 3))]  # fmt: skip
    for one in found:
        low, high = ends(one)
        assert low <= reached(one)[0] <= reached(one)[1] <= high
    assert len({ends(one) for one in found}) == 1  # it rests while these are dragged


@pytest.mark.parametrize(
    ("head", "names", "end"),
    [(1, ("sinusoidal", "t5", "rope", "alibi"), 6), (2, ("t5", "alibi"), 6), (3, ("t5",), 16),
     (3, ("rope", "alibi"), 16), (3, ("rope", "xpos"), 6)],
)  # fmt: skip
def test_colours_go_further_where_a_bias_does(head: int, names: tuple[str, ...], end: int) -> None:
    slots = drawn("side", encodings=names, a=names[0], b=names[-1], head=head)
    for raster in slots["maps"]["rasters"].values():
        assert (raster["low"], raster["high"]) == (-end, end)
    assert f"score −{end} or less" in slots["maps"]["markup"]
    if end == 16:  # and few cells are past it, so that the map is not one colour
        raster = numbers(slots["maps"]["rasters"][names[-1]]["values"])
        assert (raster < -end).mean() < 0.15


def test_weights_that_lie_under_the_chart_are_told() -> None:
    said = "Weights below 0.0001 lie under the chart."
    far = drawn("side", encodings=("t5", "alibi"), a="t5", b="alibi", head=3, show="weights")
    assert reached(far["row"])[0] < ends(far["row"])[0]
    assert said in words(far["caption"])
    near = drawn("side", encodings=("rope",), a="rope", b="rope", show="weights")
    assert reached(near["row"])[0] > ends(near["row"])[0]
    assert said not in words(near["caption"])


# By distance.


@pytest.mark.parametrize("head", [1, 2, 3])
@pytest.mark.parametrize("unit", ["scores", "weights"])
@pytest.mark.parametrize("reach", [16, 1024, 4096])
def test_a_line_by_distance_that_leaves_the_chart_is_named(
    head: int, unit: str, reach: int
) -> None:
    slots = drawn("distance", lines=catalog.NAMES, unit=unit, reach=reach, place=9, head=head)
    low, high = ends(slots["curves"])
    assert reached(slots["curves"])[1] <= high
    gone = []
    for name in catalog.NAMES:
        term = comparison.term(name, reach, trained(), Setting(head=head))
        under = (attention.softmax(term) if unit == "weights" else term) < low
        if under.any():
            at = f"{under.argmax():,}"
            gone.append(f"{'T5 bias' if name == 't5' else 'ALiBi'} at {at} tokens")
            assert name in ("t5", "alibi")
    said = words(slots["caption"]).partition("fall below the chart: ")[2]
    assert said == (f"{' and '.join(gone)}." if gone else "")
    if unit == "scores":
        assert "T5" not in said  # its table has an end, and the axis room for it


def test_learned_weights_are_shared_among_its_rows_and_it_says_so() -> None:
    said = "its weights are shared among 256 keys, those of the others among 1,024"
    assert said in words(drawn("distance", lines=("learned", "rope"), unit="weights")["caption"])
    assert "shared" not in words(drawn("distance", lines=("learned",))["caption"])
    short = drawn("distance", lines=("learned",), unit="weights", reach=256)
    assert "shared" not in words(short["caption"])


def test_formulas_are_of_the_chosen_and_heads_are_counted() -> None:
    none = drawn("distance", lines=())
    assert none["formula"]["markup"] == ""
    assert words(none["caption"]) == "Choose encodings above."
    for name, shown in (("alibi", "ALiBi"), ("rope", "RoPE")):
        slots = drawn("distance", lines=(name,), head=2)
        assert slots["formula"]["markup"].count("<p") == 1
        assert shown in slots["formula"]["markup"]
    assert "head 2 of 3, as many as our models" in words(
        drawn("distance", lines=("alibi",), head=2)["caption"]
    )


@pytest.mark.parametrize("unit", ["scores", "weights"])
def test_values_by_distance_are_the_cores(unit: str) -> None:
    slots = drawn("distance", lines=catalog.NAMES, unit=unit, reach=512, place=300, head=3,
                  rope_theta=500.0)  # fmt: skip
    for row, name in zip(cells(slots["values"]), catalog.NAMES, strict=True):
        term = comparison.term(name, 512, trained(), Setting(500.0, 3))
        shown = attention.softmax(term) if unit == "weights" else term
        for cell, at in zip(row[1:], (0, 300, 511), strict=True):
            if name == "learned" and at >= 256:
                assert cell == "no row"
            else:
                value = float(shown[at])
                value = 0.0 if unit == "scores" and abs(value) < 1e-12 else value
                assert cell == re.sub("<[^>]*>", "", number(value))
    rope = comparison.term("rope", 512, trained(), Setting(500.0, 3))
    assert f"a score of {number(float(rope[300]))} at 300 tokens" in words(slots["caption"])
    slope = float(alibi.slopes(3)[2])
    assert f"takes off {number(300 * slope)} there" in words(slots["caption"])
    assert "has 256 rows, and ends" in words(slots["caption"])


def test_curves_keep_the_highest_and_lowest_of_each_bin() -> None:
    slots = drawn("distance", reach=4096, axis="linear", lines=("rope",))
    rope = comparison.term("rope", 4096, trained())
    *band, line = slots["curves"]["figure"]["data"]
    y = numbers(line["y"])
    assert (y.min(), y.max()) == pytest.approx((rope.min(), rope.max()), rel=1e-6)
    starts = distance.bins(4096, 120, "linear")
    inv_freq = comparison.inv_freq(trained().d_model, 10_000.0)
    expected = distance.random_band(inv_freq, starts)[1:]
    np.testing.assert_allclose([numbers(one["y"]) for one in band], expected, rtol=1e-5)


@given(n=st.integers(0, 4000), head=st.integers(1, 3), theta=st.floats(10, 1e9))
def test_the_formulas_by_distance_are_the_cores(n: int, head: int, theta: float) -> None:
    setting = Setting(theta, head)
    terms = {name: comparison.term(name, n + 1, trained(), setting) for name in ("alibi", "rope")}
    assert pictures.DECLINE.value(m=comparison.slope(head, trained()), n=n) == pytest.approx(
        terms["alibi"][n]
    )
    d = trained().d_model

    # theta_i is one name in the formula: its value depends on the index.
    inv_freq = comparison.inv_freq(d, theta)
    expression = pictures.TURN.expression.replace("theta_i", "theta[i]")
    formula = pictures.Formula("x", expression)
    assert formula.value(n=n, theta=inv_freq.tolist(), half=d // 2, d=d) == pytest.approx(
        terms["rope"][n], abs=1e-9
    )


# Four questions.


def test_the_table_has_every_answer_with_its_source() -> None:
    markup = drawn("questions")["answers"]["markup"]
    for encoding in catalog.ENCODINGS:
        for answer in encoding.answers.values():
            assert f"<b>{answer.short}</b>" in markup
            assert answer.source.address in markup
    assert markup.count("<tr") == 1 + len(catalog.ENCODINGS)
    assert "hold at all 4,096" in markup


@pytest.mark.parametrize("question", catalog.QUESTIONS)
def test_one_question_shows_all_reasons(question: str) -> None:
    markup = drawn("questions", question=question)["answers"]["markup"]
    for encoding in catalog.ENCODINGS:
        assert encoding.answers[question].why in markup


def test_a_filter_fades_the_others_and_counts() -> None:
    slots = drawn("questions", level="holds")
    assert slots["answers"]["markup"].count("is-out") == 7
    assert words(slots["answers:head"]).endswith("2 of 9: T5 bias and ALiBi")
    assert words(drawn("questions", years=0)["answers:head"]).endswith(
        "2 of 9: sinusoidal and learned"
    )
    assert words(drawn("questions", years=0)["note:years"]) == "2017"
    assert "No encoding answers so" in words(drawn("questions", years=0, kind="both")[
        "answers:head"])  # fmt: skip


# The price.


@pytest.mark.parametrize("length", [128, 1_048_576, 10_000_000])
@pytest.mark.parametrize(("layers", "heads", "kv", "d"), [(32, 32, 8, 128), (1, 1, 1, 2)])
def test_prices_are_exact(length: int, layers: int, heads: int, kv: int, d: int) -> None:
    slots = drawn("price", length=length, num_layers=layers, num_heads=heads,
                  num_key_value_heads=kv, head_dim=d)  # fmt: skip
    shape = Shape(layers, heads, d, length)
    own = comparison.attention_operations(shape, length)
    for row, encoding in zip(cells(slots["prices"]), catalog.ENCODINGS, strict=True):
        added = comparison.operations(encoding.name, shape, length, kv)
        assert row[1] == f"{encoding.parameters(shape):,}"
        assert row[2] == (size(2 * heads * length**2) if encoding.fills_scores else "none")
        if 1e-6 <= added / own < 10:
            assert row[3] == f"{100 * added / own:.3g}\u00a0%"
        assert row[4] == (re.sub("<[^>]*>", "", number(added)) if added else "0")
        assert row[5] == encoding.serving.short
    caption = words(slots["caption"])
    assert f"hidden states instead, {size(2 * layers * heads * d * length)}." in caption
    assert f"takes {size(2 * heads * length**2)} for one layer" in caption
    assert f"KV cache {size(4 * layers * kv * d * length)} for all" in caption
    assert f"cache at {number(2 * layers * kv * d / heads)} tokens" in caption


def test_a_million_tokens_of_llama_take_70_terabytes() -> None:
    slots = drawn("price")
    assert "takes 70.4 TB for one layer, the KV cache 137 GB for all" in words(slots["caption"])
    assert 'aria-pressed="true">Llama 3.1 8B' in slots["shapes"]["markup"]


def test_every_encoding_with_a_square_in_the_table_is_named() -> None:
    slots = drawn("price")
    named = ["Shaw's relative keys", "T5 bias", "Transformer-XL", "ALiBi"]
    assert [row[0] for row in cells(slots["prices"]) if row[2] != "none"] == named
    for said in (words(slots["caption"]), slots["memory"]["alt"]):
        assert f"L × L of {', '.join(named[:-1])} and {named[-1]}, written out" in said


@pytest.mark.parametrize("layers", [1, 128])
@pytest.mark.parametrize("heads", [1, 128])
@pytest.mark.parametrize("d", [2, 256])
def test_every_model_has_room_on_the_axes_of_the_price(layers: int, heads: int, d: int) -> None:
    for kv in {1, heads}:
        slots = drawn("price", num_layers=layers, num_heads=heads, num_key_value_heads=kv,
                      head_dim=d)  # fmt: skip
        for key in ("memory", "work"):
            low, high = ends(slots[key])
            assert low < reached(slots[key])[0] < reached(slots[key])[1] < high
    ticks = slots["work"]["figure"]["layout"]["yaxis"]
    for at, text in zip(ticks["tickvals"], ticks["ticktext"], strict=True):
        told = text.removesuffix(" %").replace("10⁻⁷", "1e-7")
        assert float(told) == pytest.approx(100 * at)


def test_lines_over_length_are_the_cores() -> None:
    slots = drawn("price")
    shape = Shape(32, 32, 128, 1)
    square = slots["memory"]["figure"]["data"][-1]
    np.testing.assert_allclose(numbers(square["y"]), [64.0 * n * n for n in LENGTHS], rtol=1e-6)
    assert (LENGTHS[0], LENGTHS[-1]) == (128, 10_000_000)
    names = [name for name in catalog.NAMES if name != "none"]
    for name, trace in zip(names, slots["work"]["figure"]["data"], strict=True):
        expected = [comparison.operations(name, shape, n, 8)
                    / comparison.attention_operations(shape, n) for n in LENGTHS]  # fmt: skip
        np.testing.assert_allclose(numbers(trace["y"]), expected, rtol=1e-6)


shapes = st.builds(Shape, st.integers(1, 128), st.integers(1, 128), st.integers(1, 128),
                   st.just(1))  # fmt: skip


@given(shape=shapes, length=st.integers(1, 10**7), kv=st.integers(1, 128))
def test_the_formulas_of_the_price_are_the_cores(shape: Shape, length: int, kv: int) -> None:
    kv = min(kv, shape.num_heads)
    h, d = shape.num_heads, shape.head_dim
    own = comparison.attention_operations(shape, length)
    bias = pictures.WRITTEN_OUT.value(b=2, H=h, L=length)
    assert bias == 2 * catalog.get("t5").bias_entries(length, h)
    cache = pictures.CACHE.value(b=2, n_layers=shape.num_layers, K=kv, d=d, L=length)
    assert cache == 2 * comparison.kv_cache_entries(shape, length, kv)
    turned = comparison.operations("rope", shape, length, kv) / own
    assert pictures.ROTATION.value(H=h, K=kv, L=length) == pytest.approx(turned)
    sloped = comparison.operations("alibi", shape, length, kv) / own
    assert pictures.SLOPE.value(d=d) == pytest.approx(sloped)


# Past training.


@pytest.mark.parametrize("context", [64, 300, 4096])
def test_measured_numbers_are_those_of_the_models(context: int) -> None:
    slots = drawn("beyond", context=context)
    length = {64: 64, 300: 256, 4096: 4096}[context]
    at = measured.LENGTHS.index(length)
    for row, (family, (label, _)) in zip(cells(slots["measured"]), FAMILIES.items(), strict=True):
        band = measured.band(f"names-{family}")
        assert band is not None
        assert row[0] == label
        assert row[1] == f"{math.exp(band.mean[measured.LENGTHS.index(256)]):.2f}"
        low, high = math.exp(band.lowest[at]), math.exp(band.highest[at])
        ends = dict.fromkeys((f"{low:.2f}", f"{high:.2f}"))  # one, if they read the same
        assert row[2] == ("cannot read" if math.isnan(low) else "–".join(ends))
        assert row[3] == held(measured.reach(f"names-{family}"))
    floor = math.exp(measured.floor()[at])
    assert f"has perplexity {floor:.2f}. The loss of ALiBi and T5 bias" in words(slots["caption"])
