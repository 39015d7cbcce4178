"""The learned table's view over all its parameters, without a browser."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import learned, measured, sinusoidal
from posviz.figures import learned as pictures
from posviz.models import checkpoint
from posviz.params import InvalidParameterError
from posviz.ui import live
from tests.server import ROOT
from tests.ui.views import any_values, content, numbers, view_of

PAGE = str(ROOT / "pages/encodings/learned.py")
PARTS = ("rows", "change", "end", "longer", "reading")
rows = st.integers(0, 255)
close = {"rel": 6e-3, "abs": 6e-4}  # numbers are told with three figures


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("learned")


def stored(seed: str = "0") -> Any:
    return checkpoint.load(f"names-learned-seed{seed}").weights["positions.table"].astype(float)


def drawn(view: live.View, **said: Any) -> dict[str, Any]:
    values, problems = view.read({name: str(value) for name, value in said.items()})
    assert not problems
    return content(view.draw(**values))


def told(slot: dict[str, Any]) -> list[float]:
    """The numbers of a sentence."""
    text = re.sub(r"<.*?>", " ", slot["markup"]).replace(",", "")
    return [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)]


def cosine(a: Any, b: Any) -> Any:
    """Of the rows of two tables, each with its counterpart."""
    return (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_the_page_runs(part: str) -> None:
    app = AppTest.from_file(PAGE)
    app.query_params["part"] = part
    assert not app.run(timeout=120).exception


@given(data=st.data())
def test_curves_stay_within_their_axes(view: live.View, data: st.DataObject) -> None:
    for key, slot in content(view.draw(**any_values(data.draw, view))).items():
        for trace in slot["figure"]["data"] if "figure" in slot else ():
            y = numbers(trace["y"])
            low, high = slot["figure"]["layout"]["yaxis"]["range"]
            shown = np.log10(y) if key == "perplexity" else y
            assert low <= shown.min() <= shown.max() <= high, key


@given(p=rows, q=rows, seed=st.sampled_from("01"))
def test_the_cosine_is_that_of_the_stored_rows(view: live.View, p: int, q: int, seed: str) -> None:
    table = stored(seed)
    angles = np.arange(256)[:, None] * 10_000.0 ** (-np.arange(48) / 48)
    start = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(256, 96)
    slots = drawn(view, position=p, other=q, seed=seed)
    alike = cosine(table[p], table)
    nearest = int(np.argsort(alike)[-2])  # the last one is the row itself
    expected = [p, q, alike[q], cosine(start[p], start[q]), p, nearest, alike[nearest]]
    assert told(slots["caption"]) == pytest.approx(expected, **close)
    assert told(slots["similarity:head"]) == pytest.approx([p, q, alike[q]], **close)
    before, after = (numbers(one["y"]) for one in slots["profile"]["figure"]["data"][::-1])
    np.testing.assert_allclose(after, alike, atol=1e-6)
    np.testing.assert_allclose(before, cosine(start[p], start), atol=1e-6)
    product, a, b = table[p] @ table[q], np.linalg.norm(table[p]), np.linalg.norm(table[q])
    assert pictures.COSINE.value(product=product, size_p=a, size_q=b) == pytest.approx(alike[q])
    assert told(slots["formula"]) == pytest.approx([product, a, b, alike[q]], rel=1e-3, abs=1e-4)


@given(p=rows, seed=st.sampled_from("01"))
def test_the_change_is_trained_minus_start(view: live.View, p: int, seed: str) -> None:
    start = 0.1 * sinusoidal.table(256, 96)
    moved = np.linalg.norm(stored(seed) - start, axis=1)
    share = moved / np.linalg.norm(start, axis=1)
    slots = drawn(view, part="change", position=p, seed=seed)
    (line,) = slots["moved"]["figure"]["data"]
    np.testing.assert_allclose(numbers(line["y"]), 100 * share, rtol=1e-5)
    assert told(slots["moved:head"]) == pytest.approx([p, 100 * share[p]], abs=0.051)
    expected = [share.argmax(), 100 * share.max(), 100 * np.median(share), 63]
    assert told(slots["caption"]) == pytest.approx(expected, abs=0.051)
    value = pictures.MOVED.value(size_change=moved[p], size_start=np.linalg.norm(start[p]))
    assert value == pytest.approx(share[p])


@given(option=st.sampled_from(["lab", *learned.RELEASED]), data=st.data())
def test_past_the_end_stands_the_very_sentence_of_the_lookup(
    view: live.View, option: str, data: st.DataObject
) -> None:
    size = learned.RELEASED.get(option)
    count, offset = (size.rows, size.offset) if size else (256, 0)
    last = 2 * (count - offset) - 1
    edge = count - offset
    token = data.draw(st.one_of(st.integers(0, last), st.sampled_from([0, edge - 1, edge, last])))
    slots = drawn(view, part="end", table=option, token=token)
    answer = html.unescape(re.sub(r"<.*?>", "", slots["answer"]["markup"]))
    try:
        (row,) = learned.lookup(np.arange(count)[:, None], token, offset)
    except InvalidParameterError as error:
        assert answer == str(error)
        assert "has no row for it" in slots["caption"]["markup"]
        assert token >= edge
    else:
        assert answer == f"row {int(row):,} of {count:,} is added to the token"
        assert told(slots["caption"])[:2] == [token, row]
        assert told(slots["caption"])[-1] == edge - 1 - token
        assert pictures.ROW.value(offset=offset, p=token) == row == token + offset
    assert f'data-set="token={token}" aria-pressed="true"' in slots["window"]["markup"]


def test_it_opens_at_berts_513th_position(view: live.View) -> None:
    slots = drawn(view, part="end")
    assert "from 0 to 511, got 512: a learned table" in slots["answer"]["markup"]
    assert "Position 512 is token number 513, and BERT has no row" in slots["caption"]["markup"]


@given(factor=st.floats(1.0, 4.0), share=st.floats(0, 1), seed=st.sampled_from("01"))
def test_the_longer_table_is_the_old_one_read_between_its_rows(
    view: live.View, factor: float, share: float, seed: str
) -> None:
    n = round(factor * 256)
    p = int(share * (n - 1))
    table = stored(seed)
    at = np.linspace(0, 255, n)
    long = np.stack([np.interp(at, np.arange(256), column) for column in table.T], axis=1)
    slots = drawn(view, part="longer", factor=factor, place=p, seed=seed)
    before, after = (np.linalg.norm(np.diff(one, axis=0), axis=1) for one in (table, long))
    alike = [cosine(one[:-1], one[1:]).mean() for one in (table, long)]
    expected = [n, before.mean() / after.mean(), after.mean(), before.mean(), *alike]
    assert told(slots["caption"]) == pytest.approx(expected, **close)
    assert told(slots["rulers:head"]) == pytest.approx([p, at[p]], abs=6e-3)
    drawn_out = slots["near"]["figure"]["data"][-1]
    around = p + numbers(drawn_out["x"]).astype(int)
    np.testing.assert_allclose(numbers(drawn_out["y"]), cosine(long[p], long[around]), atol=1e-5)
    gaps = slots["gaps"]["figure"]["data"][-1]
    np.testing.assert_allclose(numbers(gaps["y"]), after, atol=1e-6)
    np.testing.assert_allclose(numbers(gaps["x"]), (at[1:] + at[:-1]) / 2, atol=1e-3)
    assert pictures.READ_AT.value(p=p, rows=256, n=n) == pytest.approx(
        learned.read_at(n, 256)[p], abs=1e-9
    )
    # Shares of the two rows it lies between, in whole per cent.
    sentence = slots["formula"]["markup"].rpartition("new row")[2]
    _, first, below, second, above = told({"markup": sentence})
    assert above == below + 1
    assert (first * below + second * above) / 100 == pytest.approx(at[p], abs=0.011)


def test_reading_is_measured_only_where_it_is_shown(view: live.View) -> None:
    assert view.measure is not None
    for part in PARTS[:-1]:
        values, _ = view.read({"part": part})
        assert list(view.measure(**values)) == []


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_model_reads_its_own_table_as_measured_and_a_longer_one_worse(
    view: live.View, seed: str
) -> None:
    assert view.measure is not None
    known = measured.curve(f"names-learned-seed{seed}")
    assert known is not None
    own = float(known.perplexity[known.lengths.index(256)])
    for factor in ("1", "2"):
        values, _ = view.read({"part": "reading", "factor": factor, "seed": seed})
        places = content(view.draw(**values))
        steps = [content(one) for one in view.measure(**values)]
        assert all(set(one) == set(places) for one in steps)
        # Nobody has touched a handle yet: what stands there first says that it is measured.
        waiting = [places, *steps]
        said = [re.sub(r"<.*?>", "", one["caption"]["markup"]) for one in waiting]
        assert [one.partition(" ")[0] for one in said[:-1]] == ["Measuring:", "4"]
        for key in ("caption", "perplexity:head"):
            told_so = ["easuring" in one[key]["markup"] for one in waiting]
            assert told_so == [True] * len(steps) + [False], key
        assert all("4 of 16 texts" in steps[0][key]["markup"] for key in ("caption",
                   "perplexity:head"))  # fmt: skip
        line = steps[-1]["perplexity"]["figure"]["data"][-1]
        last = float(numbers(line["y"])[-1])
        if factor == "1":
            assert last == pytest.approx(own, rel=1e-3)
            assert told(steps[-1]["caption"]) == pytest.approx([1, own, 256], **close)
        else:
            assert numbers(line["x"])[-1] == 512
            assert last > 4 * own
            caption = told(steps[-1]["caption"])
            assert caption[:3] == pytest.approx([512, last, 512], **close)
            assert caption[4:6] == pytest.approx([256, own], **close)
            assert ("worse than nothing" in steps[-1]["caption"]["markup"]) == (last > 47)
