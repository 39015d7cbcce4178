"""Transformer-XL's view over all its parameters, without a browser."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import transformer_xl
from posviz.attention import softmax
from posviz.figures import transformer_xl as pictures
from posviz.figures.style import number
from posviz.ui import live
from posviz.ui.text import section
from tests.ui.views import any_values, content, numbers, view_of

HEAD = transformer_xl.random_head(64, 16, seed=4)
MINUS = str.maketrans("−", "-")


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("transformer_xl")


def plain(markup: str) -> str:
    """What a reader sees, minus signs as Python writes them."""
    return re.sub(r"<[^>]*>", " ", markup).translate(MINUS)


@given(data=st.data())
def test_curves_stay_within_their_axes(view: live.View, data: st.DataObject) -> None:
    for slot in content(view.draw(**any_values(data.draw, view))).values():
        for trace in slot["figure"]["data"] if "figure" in slot else ():
            low, high = slot["figure"]["layout"]["yaxis"]["range"]
            y = numbers(trace["y"])
            assert low <= y.min() <= y.max() <= high


@given(data=st.data())
def test_the_chosen_cell_shows_the_terms_of_the_core(view: live.View, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(pictures.FORMS))
    q_len, memory = data.draw(st.integers(1, 20)), data.draw(st.integers(0, 20))
    given_ = {"part": "terms", "form": form, "q_len": str(q_len), "memory": str(memory)}
    k_len = q_len + memory
    given_["query"] = str(query := data.draw(st.integers(memory, k_len - 1)))
    given_["key"] = str(key := data.draw(st.integers(0, k_len - 1)))
    given_["shift"] = str(shift := data.draw(st.integers(0, 1000)))
    u, v = (data.draw(st.integers(-300, 300)) / 100 for _ in "uv")
    given_ |= {"u": str(u), "v": str(v)}
    values, problems = view.read(given_)
    assert not problems
    slots = content(view.draw(**values))
    x = transformer_xl.tokens(k_len, 64)

    def at(start: int) -> transformer_xl.Terms:
        if form == "relative":
            return HEAD.relative(x, q_len, u, v)[0]
        places = np.arange(start, start + k_len)
        return HEAD.absolute(x, q_len, places[memory:], places)[0]

    zero, moved = at(0), at(shift)
    if key > query:
        assert slots["cell"]["markup"] == ""
        assert "hidden" in slots["cell:head"]["markup"]
        return
    told = re.findall(r"<td[^>]*>([−\d.]+)</td>", slots["cell"]["markup"])
    expected = []
    for name in ("a", "b", "c", "d", "scores"):
        expected += [getattr(one, name)[0, query - memory, key] for one in (zero, moved)]
    np.testing.assert_allclose(
        [float(one.translate(MINUS)) for one in told], expected, atol=0.00501
    )
    curves = [numbers(trace["y"]) for trace in slots["weights"]["figure"]["data"]]
    for curve, one in zip(curves, (moved, zero), strict=True):
        np.testing.assert_allclose(
            curve, softmax(one.scores)[0, query - memory, : query + 1], atol=1e-6
        )
    changed = np.abs(softmax(moved.scores) - softmax(zero.scores)).max()
    assert (changed == 0) >= (form == "relative")
    assert f"a weight: {pictures.size(float(changed))}" in slots["weights:head"]["markup"]


@pytest.mark.parametrize("form", pictures.FORMS)
def test_the_residual_is_printed_with_its_size(view: live.View, form: str) -> None:
    values, _ = view.read({"form": form})
    x, places = transformer_xl.tokens(16, 64), np.arange(100, 116)
    terms, product = (
        HEAD.relative(x, 12) if form == "relative" else HEAD.absolute(x, 12, places[4:], places)
    )
    whole = np.abs(terms.a + terms.b + terms.c + terms.d - product)[:, terms.visible].max()
    assert whole < 1e-14
    largest = float(np.abs(terms.total).max())
    head = content(view.draw(**values))["maps:head"]["markup"]
    assert f"at most {pictures.size(float(whole))}; largest sum {number(largest)}" in head


def test_the_maps_carry_the_terms_and_hide_keys_ahead(view: live.View) -> None:
    values, _ = view.read({"u": "2.5"})
    maps = dict(view.draw(**values)["maps"].rasters)
    terms, _ = HEAD.relative(transformer_xl.tokens(16, 64), 12, u=2.5)
    for name in ("a", "b", "c", "d", "sum"):
        raster = content(maps)[name]
        shown = numbers(raster["values"]).reshape(12, 16)
        own = terms.total if name == "sum" else getattr(terms, name)
        np.testing.assert_allclose(shown, own[0], atol=1e-5)
        assert (raster["low"], raster["high"]) == (-pictures.LIMIT, pictures.LIMIT)


def test_moving_a_text_changes_the_terms_with_places_as_the_caption_says(view: live.View) -> None:
    values, _ = view.read({"form": "absolute", "shift": "37"})
    x, (zero, far) = transformer_xl.tokens(16, 64), (np.arange(16), np.arange(37, 53))
    before, after = (HEAD.absolute(x, 12, places[4:], places)[0] for places in (zero, far))
    told = plain(content(view.draw(**values))["caption"]["markup"])
    for name in "bcd":
        change = np.abs(getattr(after, name) - getattr(before, name)).max()
        assert re.search(rf"\b{name} (changes by up to|by) {change:.2f}\b", told)
    assert "a by 0.00" in told


@given(st.integers(4, 16), st.data())
def test_an_index_adds_the_same_in_both_segments_and_a_distance_does_not(
    view: live.View, length: int, data: st.DataObject
) -> None:
    asker = data.draw(st.integers(0, length - 1))
    index = data.draw(st.integers(0, asker))
    values, _ = view.read(
        {"part": "memory", "length": str(length), "asker": str(asker), "index": str(index)}
    )
    slots = content(view.draw(**values))
    x = transformer_xl.tokens(2 * length, 64, seed=9)
    twice = np.tile(np.arange(length), 2)
    same = HEAD.absolute(x, length, np.arange(length), twice)[0]
    away = HEAD.relative(x, length)[0]
    told = plain(slots["caption"]["markup"])
    distances = [length + asker - index, asker - index]
    assert f"{distances[0]} and {distances[1]} tokens back" in told
    found = [
        float((one.b + one.d)[0, asker, key])
        for one in (same, away) for key in (index, length + index)
    ]  # fmt: skip
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert f"adds {pictures.places(found[1])} to both".translate(MINUS) in told
    one, other = (pictures.places(value).translate(MINUS) for value in found[2:])
    assert f"one gets {one}, the other {other}." in told
    under = [int(n) for n in re.findall(r"<i>(\d+)</i>", slots["segments"]["markup"])]
    assert under == list(range(length + asker, -1, -1))


SHIFTED = [[3, 4, 0, 5], [6, 7, 8, 0], [9, 10, 11, 12]]
WRONGLY = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9]]


def cells(markup: str) -> list[list[int]]:
    """The numbers in the cells, by place."""
    found = re.findall(
        r'translate\(([\d.]+) ([\d.]+)\)">.*?<text x=".5" y="[\d.]+">(\d+)</text>', markup
    )
    grid: dict[int, dict[int, int]] = {}
    for column, row, value in found:
        grid.setdefault(round(float(row)), {})[round(float(column))] = int(value)
    return [[row[column] for column in sorted(row)] for _, row in sorted(grid.items())]


@pytest.mark.parametrize(
    ("dropped", "expected", "right"), [("first", SHIFTED, 9), ("last", WRONGLY, 0)]
)
def test_the_shift_ends_as_the_reference_and_as_the_known_bug(
    view: live.View, dropped: str, expected: list[list[int]], right: int
) -> None:
    values, _ = view.read({"part": "shift", "step": "4", "dropped": dropped})
    slots = content(view.draw(**values))
    assert cells(slots["shifting"]["markup"]) == expected
    assert f"{right} of the 9 cells" in slots["caption"]["markup"]
    harmless = "The 3 cells left over" in (told := slots["caption"]["markup"])
    assert harmless == ("a decoder takes no harm" in told) == (dropped == "first")
    assert slots["shifting"]["markup"].count("is-ahead") == 3
    assert slots["shifting"]["markup"].count("is-wrong") == 9 - right


def test_the_shift_begins_as_it_came(view: live.View) -> None:
    values, _ = view.read({"part": "shift"})
    markup = content(view.draw(**values))["shifting"]["markup"]
    assert cells(markup) == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    assert "is-ahead" not in markup
    told = content(view.draw(**values))["caption"]["markup"]
    # From the first row to the last, as the distances of a query to key 0 differ.
    assert "the first row must move left by 2, each further row by one less" in told
    assert {"Move by", "Step"} <= {one.label for one in view.declared(values).values()}
    assert "*Move by*" in section("transformer_xl", "Four terms")


@given(st.integers(2, 4), st.integers(0, 2))
def test_a_wide_table_leaves_no_garbage(view: live.View, q_len: int, memory: int) -> None:
    values, problems = view.read(
        {"part": "shift", "table": "encoder", "step": "5", "shift_q_len": str(q_len),
         "shift_memory": str(memory)}
    )  # fmt: skip
    assert not problems
    slots = content(view.draw(**values))
    k_len = q_len + memory
    x = np.arange(1.0, q_len * (q_len + k_len - 1) + 1).reshape(q_len, -1)
    assert cells(slots["shifting"]["markup"]) == transformer_xl.full_relative_shift(x).tolist()
    assert "is-ahead" not in slots["shifting"]["markup"]
    ahead = q_len * (q_len - 1) // 2
    said = f"the {ahead} cells ahead are" if ahead > 1 else "the cell ahead is"
    assert f"{said} right too" in slots["caption"]["markup"]


@given(st.integers(0, 31), st.integers(1, 255), st.integers(0, 255), st.integers(0, 63))
def test_distances_tell_b_d_and_an_entry_of_r(
    view: live.View, token: int, clamp: int, distance: int, dimension: int
) -> None:
    values, problems = view.read(
        {"part": "distance", "token": str(token), "clamp_len": str(clamp), "v": "-1.5",
         "distance": str(distance), "dimension": str(dimension)}
    )  # fmt: skip
    assert not problems
    slots = content(view.draw(**values))
    x = transformer_xl.tokens(256, 64, token)
    r = transformer_xl.position_encoding(256, 64, clamp)
    of_distance = HEAD.r_weight @ r[255 - distance]
    b, d = float(x[-1] @ HEAD.q_weight.T @ of_distance), float(-1.5 * HEAD.v[0] @ of_distance)
    told = slots["curves:head"]["markup"].translate(MINUS)
    found = re.search(r"b ([-\d.]+), d ([-\d.]+), together ([-\d.]+)", told)
    assert found
    np.testing.assert_allclose([float(n) for n in found.groups()], [b, d, b + d], atol=0.00501)
    formula = pictures.SINE if dimension < 32 else pictures.COSINE
    value = formula.value(distance=min(distance, clamp), n=dimension, d_model=64)
    assert value == pytest.approx(r[255 - distance, dimension], abs=1e-12)
    assert (
        formula.markup(str, value, distance=min(distance, clamp), n=dimension, d_model=64)
        in (slots["entry"]["markup"])
    )
    assert ("counts as" in slots["caption"]["markup"]) == (distance > clamp)


@given(st.integers(1, 6), st.integers(0, 6), st.integers(0, 99))
def test_the_factored_formulas_are_the_sums_of_the_terms(
    q_len: int, memory: int, seed: int
) -> None:
    head, k_len = transformer_xl.random_head(8, 4, seed), q_len + memory
    x = transformer_xl.tokens(k_len, 8, seed)
    q, k = x @ head.q_weight.T, x @ head.k_weight.T
    by_distance = transformer_xl.position_encoding(k_len, 8)[::-1] @ head.r_weight.T
    places = np.arange(k_len)
    relative, absolute = head.relative(x, q_len)[0], head.absolute(x, q_len, places[memory:],
                                                                   places)[0]  # fmt: skip
    from_place = transformer_xl.position_encoding(k_len, 8)[::-1]
    s, t = from_place @ head.q_weight.T, from_place @ head.k_weight.T
    for i in range(memory, k_len):
        for j in range(i + 1):
            two = pictures.FACTORED.value(q=q, k=k, r=by_distance, u=head.u[0], v=head.v[0],
                                          i=i, j=j)  # fmt: skip
            whole = pictures.MULTIPLIED.value(q=q, k=k, s=s, t=t, i=i, j=j)
            assert two.sum() == pytest.approx(relative.total[0, i - memory, j], abs=1e-10)
            assert whole.sum() == pytest.approx(absolute.total[0, i - memory, j], abs=1e-10)
            one = {name: float(getattr(relative, name)[0, i - memory, j]) for name in "abcd"}
            assert pictures.SCORE.value(d_head=4, **one) == pytest.approx(
                relative.scores[0, i - memory, j]
            )
    assert pictures.DISTANCE.value(L=memory, i=q_len - 1, j=0) == k_len - 1
    assert math.isfinite(relative.residual(relative.total))
