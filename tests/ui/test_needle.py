"""The needle page's view over all its parameters, and what it measures, without a browser."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import haystacks, params
from posviz.figures import needle as pictures
from posviz.models import checkpoint, needle
from posviz.ui import live
from posviz.ui.text import say
from tests.server import ROOT
from tests.ui.views import any_values, content, view_of


@pytest.fixture(scope="module")
def view() -> live.View:
    """The view, registered by running the page once."""
    return view_of("needle")


def slots(view: live.View, **query: str) -> dict[str, str]:
    drawn = content(view.draw(**view.follow(query)))
    return {key: slot["markup"] for key, slot in drawn.items()}


@given(data=st.data())
def test_every_grid_has_25_cells_and_one_is_chosen(view: live.View, data: st.DataObject) -> None:
    drawn = content(view.draw(**any_values(data.draw, view)))
    assert drawn["notice"]["markup"] == ""
    grid = drawn["grid"]["markup"]
    assert grid.count('data-set="cell=') == 25
    assert grid.count('aria-pressed="true"') == 1


def test_the_cells_show_the_committed_numbers(view: live.View) -> None:
    model = view.read({})[0]["model"]
    found = haystacks.grid(f"names-{model}-seed0", "yarn", 8.0)
    assert found
    grid = slots(view, rope_type="yarn", cell="7")["grid"]
    shown = re.findall(r'data-set="cell=(\d+)".*?<b>(\d\.\d\d)</b><small>±(\d\.\d\d)', grid)
    assert [int(number) for number, _, _ in shown] == list(range(25))
    assert [share for _, share, _ in shown] == [f"{one:.2f}" for one in found.accuracy.T.flat]
    assert [error for _, _, error in shown] == [f"{one:.2f}" for one in found.error.T.flat]


def test_marks_and_sentence_name_what_low_perplexity_hides(view: live.View) -> None:
    for model in haystacks.models():
        family, _, seed = model.rpartition("-seed")
        found = haystacks.grid(model)
        assert found
        drawn = slots(view, model=family.removeprefix("names-"), seed=seed)
        usual = found.lengths.index(256)
        near = found.nats - found.nats[usual] <= math.log(1.1)
        works = found.accuracy[usual].mean() >= 0.5  # what was never found is not lost
        hidden = works * (near[:, None] & (found.accuracy < 0.5)).sum()
        assert drawn["grid"].count(" is-lost") == hidden, model
        assert ("Low perplexity, lost needle" in drawn["caption"]) == bool(hidden), model


def test_a_setting_that_nobody_measured_waits(view: live.View) -> None:
    drawn = slots(view, rope_theta="777")
    assert drawn["grid"].count("<b>…</b>") == 30
    assert "0 of 5" in drawn["caption"]
    assert "measuring" in drawn["near"]


def test_a_handle_that_does_nothing_changes_nothing(view: live.View) -> None:
    same = slots(view, rope_type="ntk")
    moved = slots(view, rope_type="ntk", beta_fast="20", slope_multiplier="2")
    assert moved == same
    same = slots(view, model="alibi")
    assert slots(view, model="alibi", rope_theta="77", factor="3", rope_type="yarn") == same


def measured(view: live.View, **query: str) -> list[dict[str, str]]:
    steps = view.measure(**view.follow(query)) if view.measure else iter(())
    return [{key: slot["markup"] for key, slot in content(one).items()} for one in steps]


def test_a_committed_setting_measures_only_the_chosen_cell(view: live.View) -> None:
    (only,) = measured(view, cell="1")
    assert set(only) == {"answer", "heads", "text", "near"}
    assert only["heads"].count("<li>") == 9
    assert only["text"].count("<mark>") == 2
    asked = re.search(r" for ([A-T][a-t]{3}), ", only["near"])
    assert asked
    assert f"<mark>{asked[1]}</mark>" in only["text"]
    assert f"<mark>{asked[1][0]}</mark><span>___" in only["text"]


def test_a_new_setting_fills_column_by_column_and_is_kept(view: live.View) -> None:
    first, *steps = measured(view, rope_theta="600", cell="20")
    assert "answer" in first
    waiting = [step["grid"].count("<b>…</b>") for step in steps]
    assert waiting == [24, 18, 12, 6, 0]
    assert slots(view, rope_theta="600", cell="20")["grid"] == steps[-1]["grid"]
    assert slots(view, rope_theta="600", cell="3")["grid"].count("<b>…</b>") == 0


def test_a_long_text_says_how_much_is_left_out() -> None:
    for length, number in itertools.product(needle.LENGTHS, range(3)):
        whole = needle.haystack(length, number)
        for name, begin, asked in zip(whole.needles, whole.stands, whole.asked, strict=True):
            text = whole.text[: asked + 1]
            markup = pictures.haystack(text, (begin, begin + 4), say)
            assert re.findall("<mark>(.*?)</mark>", markup) == [name, name[0]]
            plain = re.sub("<.*?>", "", markup).removesuffix("___")
            left_out = re.findall(r"… ([\d,]+) characters … ", plain)
            shown = re.split(r"… [\d,]+ characters … ", plain)
            assert all(stretch in text for stretch in shown)
            skipped = sum(int(count.replace(",", "")) for count in left_out)
            assert len("".join(shown)) + skipped == len(text)
            assert len("".join(shown)) < 700


def test_the_base_handle_stands_at_the_trained_base(view: live.View) -> None:
    for name in haystacks.models():
        card = checkpoint.card(name)
        if card["encoding"] == "rope":
            model, _, seed = name.removeprefix("names-").rpartition("-seed")
            assert view.read({"model": model, "seed": seed})[0]["rope_theta"] == card["rope_theta"]


def test_a_learned_table_has_no_row(view: live.View) -> None:
    if not any(name.startswith("names-learned") for name in haystacks.models()):
        pytest.skip("no learned model in the set")
    drawn = slots(view, model="learned", cell="13")
    assert drawn["grid"].count("<b>no row</b>") == 15
    assert "15 of 25 cells have no row: the learned table ends at 256" in drawn["caption"]
    assert "everywhere" not in drawn["caption"]
    if "found" in drawn["caption"]:
        assert "In the 10 cells that can be read" in drawn["caption"]
    (only,) = measured(view, model="learned", cell="13")
    assert "from 0 to 255" in only["near"]
    assert only["answer"] == ""


def test_the_page_is_reached_by_a_link_with_a_bad_value() -> None:
    app = AppTest.from_file(str(ROOT / "pages/long_context/needle.py"))
    app.query_params["cell"] = "<img src=x onerror=alert(1)>"
    app.run(timeout=60)
    assert not app.exception


def test_missing_measurements_are_told(view: live.View, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Any:
        raise params.InvalidParameterError("{name} must be there", name="needles.json")

    monkeypatch.setattr(haystacks, "grid", missing)
    drawn = slots(view)
    assert "needles.json must be there" in drawn["notice"]
    assert drawn["grid"] == ""
