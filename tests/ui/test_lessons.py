"""The page of lessons, and what a step shows of a page: without a browser."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from streamlit.testing.v1 import AppTest

from posviz.ui import draft, lesson
from posviz.ui.lesson import Ask, Lesson, Step
from posviz.views import lessons
from tests.server import ROOT
from tests.ui.views import PAGES, content, parts_of, view_of

RAW = "<script>alert(1)</script>"
MADE = Lesson(
    "Mine",
    (
        Step("rope?part=decay&rope_theta=500", "Look.", ("rope_theta",), ("scores", "caption"),
             Ask("What?", "scores", ("this", "that"), 1, "So.")),
        Step("alibi"),
    ),
)  # fmt: skip


def page(made: Lesson | None = None) -> AppTest:
    app = AppTest.from_file(str(PAGES["lessons"]))
    if made:
        app.session_state[draft._KEPT] = draft._Kept(made)
    app.run(timeout=60)
    assert not app.exception
    return app


def kept(app: AppTest) -> Lesson:
    found: Lesson = app.session_state[draft._KEPT].lesson
    return found


def step(made: Lesson, at: int = 1, name: str = "rope", **query: str) -> AppTest:
    """The page of a step, as its link opens it."""
    app = AppTest.from_file(str(PAGES[name]))
    app.query_params.update({"lesson": made.packed(), "lesson_step": str(at), **query})
    app.run(timeout=60)
    assert not app.exception
    return app


def markup(app: AppTest) -> str:
    return " ".join(str(one.proto.body) for one in app.get("html"))


def components(app: AppTest) -> list[str]:
    """Keys of the live components on the page."""
    return [one.proto.id for one in app.get("bidi_component")]


def notices(app: AppTest) -> list[str]:
    return re.findall(r'<p class="pv-notice" role="alert">(.*?)</p>', markup(app))


def shows(app: AppTest, name: str) -> bool:
    return any(f"rope:{name}" in one for one in components(app))


# ------------------------------------------------------------------------------------- the page


def test_the_shelf_says_how_long_each_lesson_is_and_where_it_begins() -> None:
    view = view_of("lessons")
    for name in lesson.SHIPPED:
        told = content(view.draw(about=name))
        held = lesson.shipped(name)
        assert f"{len(held.steps)} steps, about {held.minutes} minutes" in told["shelf"]["markup"]
        assert told["steps"]["markup"].count("<li>") == len(held.steps)
        links = re.findall(r'href="([^"]*)"', told["steps"]["markup"].replace("&amp;", "&"))
        assert links == [
            lesson.address(name, held.steps, at) for at in range(1, len(held.steps) + 1)
        ]


def test_a_lesson_is_ordered_said_and_asked() -> None:
    app = page(MADE)
    app.button(key="lessons:1:0").click().run(timeout=60)
    assert [one.page for one in kept(app).steps] == ["alibi", "rope"]
    app.button(key="lessons:edit:1").click().run(timeout=60)
    app.text_area(key="lessons:says:1").set_value("Now *this*.").run(timeout=60)
    app.text_input(key="lessons:ask:question:1").set_value("Which?").run(timeout=60)
    app.text_area(key="lessons:ask:options:1").set_value("a\n\n b \nc").run(timeout=60)
    app.selectbox(key="lessons:ask:right:1").set_value(2).run(timeout=60)
    last = kept(app).steps[1]
    assert last.says == "Now *this*."
    assert last.ask == Ask("Which?", "scores", ("a", "b", "c"), 2, "So.")
    app.button(key="lessons:remove:0").click().run(timeout=60)
    assert kept(app).steps == (last,)
    assert not app.exception
    app.text_input(key="lessons:title").set_value("T").run(timeout=60)
    assert lesson.of_link(kept(app).packed()) == Lesson("T", (last,))


def test_any_shipped_lesson_can_be_made_one_s_own() -> None:
    for name in lesson.SHIPPED:
        app = page(lesson.shipped(name))
        for at in range(len(lesson.shipped(name).steps)):
            app.session_state["lessons:at"] = at
            app.run(timeout=60)
            assert not app.exception, (name, at)
            assert not notices(app), (name, at)
        assert kept(app) == lesson.shipped(name), "looking changes nothing"


def test_what_a_page_has_is_known_once_it_was_seen_and_else_what_its_view_has() -> None:
    one = MADE.steps[0]
    assert {"rope_theta", "peak", "cached"} <= lessons.handle_labels(one).keys()
    step(MADE)
    handles, figures = draft._placed["rope", "decay"]
    assert {"part", "rope_theta", "peak"} <= set(handles)
    assert "cached" not in handles
    assert set(figures) == {"scores", "caption", "bound", "formula"}


@pytest.mark.parametrize("name", sorted(lesson.pages()))
def test_every_picture_of_every_page_has_a_label_that_a_lecturer_can_read(name: str) -> None:
    view = view_of(name)
    for part in parts_of(view):
        one = Step(f"{name}?part={part}" if part else name)
        values = view.read(one.state)[0]
        drawn = view.draw(**values)
        labels = lessons.figure_labels(one)
        assert {key for key, each in drawn.items() if each.is_chart} <= labels.keys()
        assert len({*labels.values()}) == len(labels), "none stands for two"
        assert set(lessons.charts(one)) <= labels.keys()
        for label in [*labels.values(), *lessons.handle_labels(one).values()]:
            assert 0 < len(label) < 90
            assert not re.search(r"[<>]|&\w+;", label), label


# ----------------------------------------------------------------------- what a step leaves out


def test_a_step_shows_its_handles_and_pictures_and_nothing_else() -> None:
    app = step(MADE)
    assert shows(app, "rope_theta")
    assert shows(app, "scores")
    assert not shows(app, "peak")
    assert not shows(app, "bound")
    assert not notices(app)


@pytest.mark.parametrize(("changed", "said", "shown"), [
    ({"handles": ("rope_theta", "gone")}, "handles must be among", ("peak", "rope_theta")),
    ({"figures": ("gone",)}, "figures must be among", ("bound", "scores")),
    ({"ask": Ask("?", "gone", ("a",))}, "ask.figure must be among", ("scores",)),
    ({"ask": Ask("?", "caption")}, "ask.figure must be among", ("scores",)),
    ({"ask": Ask("?", "scores", ("a",), covers=("gone",))}, "ask.covers must be", ("scores",)),
    ({"view": "rope?part=decay&gone=1"}, "gone' is not a parameter", ("scores",)),
    ({"view": "rope?part=decay&peak=-7"}, "peak must be", ("scores",)),
])  # fmt: skip
def test_what_a_page_no_longer_has_is_told_and_left_aside(
    changed: dict[str, Any], said: str, shown: tuple[str, ...]
) -> None:
    old = replace(MADE, steps=(replace(MADE.steps[0], **changed), MADE.steps[1]))
    app = step(old)
    (notice,) = notices(app)
    assert said in notice.replace("&#x27;", "'")
    assert "Shown without that." in notice
    for name in shown:
        assert shows(app, name), name
    if "ask" in changed:
        assert not any(":ask:" in one for one in components(app))
    assert len(notices(page(old))) == 1, "and where it is made"


@pytest.mark.parametrize("at", ["7", "0", "-1", "1.0", "²", "000001999", "1" * 5000])
def test_a_step_out_of_range_is_told_and_the_first_one_is_shown(at: str) -> None:
    app = step(MADE, at)
    assert "lesson_step must be a whole number from 1 to 2" in notices(app)[0]
    assert "1 of 2" in markup(app)


def test_html_links_and_pictures_of_a_lesson_are_text() -> None:
    said = f"{RAW} [x](javascript:alert(1)) ![](http://example.com/a.png) `a[0]`"
    hostile = Lesson(RAW, (replace(MADE.steps[0], says=said, ask=None),), RAW)
    app = step(hostile)
    assert RAW not in markup(app)
    (told,) = [one.value for one in app.markdown if "javascript" in one.value]
    assert not one_link(told)
    assert "`a[0]`" in told
    assert RAW not in markup(page(hostile))


def one_link(prose: str) -> bool:
    return bool(re.search(r"\]\(|<\w|\w://", prose))


def test_what_the_tab_kept_is_taken_up_only_if_it_is_a_lesson() -> None:
    for given, steps in ((MADE.written(), 2), ("{", 0), (RAW, 0), ("x" * 200_000, 0)):
        app = AppTest.from_string(
            "from posviz.ui import draft\nimport streamlit as st\n"
            f"draft._found({given!r})\nst.session_state['steps'] = len(draft.lesson().steps)"
        ).run()
        assert not app.exception
        assert app.session_state["steps"] == steps


def test_the_forty_first_view_is_refused() -> None:
    full = replace(MADE, steps=(Step("rope"),) * lesson.MOST_STEPS)
    script = (
        "import importlib\nfrom posviz.ui import draft\n"
        "draft._add(importlib.import_module('posviz.views.rope').VIEW,"
        " {'state': 'part=decay&x=1', 'kept': ''})"
    )
    for before, steps in ((full, lesson.MOST_STEPS), (MADE, 3)):
        app = AppTest.from_string(script)
        app.session_state[draft._KEPT] = draft._Kept(before)
        app.run(timeout=60)
        assert len(kept(app).steps) == steps
        assert (draft._REFUSED in app.session_state) == (before is full)
    assert kept(app).steps[2].view == "rope?part=decay", "only what the page has"


def test_a_long_lesson_s_link_says_that_it_may_not_arrive() -> None:
    def told(made: Lesson) -> str:
        return markup(page(made))

    assert "Some mail" not in told(MADE)

    def said(step: int, longest: int) -> str:
        """A text that cannot be packed well."""
        made = (hashlib.sha256(f"{step} {n}".encode()).hexdigest() for n in range(20))
        return "".join(made)[:longest]

    longer = replace(MADE, steps=tuple(Step("rope", said(at, 1100)) for at in range(3)))
    assert "Some mail programs" in told(longer)
    longest = replace(MADE, steps=tuple(Step("rope", said(at, 1190)) for at in range(12)))
    assert "Many servers" in told(longest)
    assert quote(longest.packed(), safe="~=") in str(page(longest).code[0].value)


def test_the_page_s_script_stands_where_the_table_says() -> None:
    assert PAGES["lessons"] == ROOT / "pages" / "lessons" / "lessons.py"
