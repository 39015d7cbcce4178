"""What holds for every page: links, ends of handles, wrong values, words; without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from posviz import params
from posviz.ui import live, site
from tests.ui.views import PAGES, parts_of, view_of

every_page = pytest.mark.parametrize("page", PAGES)


def ends(parameter: params.Parameter) -> Iterator[object]:
    """Each option of a choice, both ends of a number, other texts and orders."""
    if isinstance(parameter, params.Choice):
        yield from parameter.options
    elif isinstance(parameter, params.Number):
        yield from (parameter.check(end) for end in (parameter.low, parameter.high))
    elif isinstance(parameter, params.Several):
        yield from ((), parameter.options[: parameter.most])
    elif isinstance(parameter, params.Text):
        yield from ("", "<b>&'\"", "x" * parameter.longest)
    else:
        yield tuple(reversed(parameter.default))


@every_page
def test_both_ends_of_every_handle_are_drawn_and_linked(page: str) -> None:
    view = view_of(page)
    for part in parts_of(view):
        here = {"part": part} if part else {}
        for name, parameter in view.declared(view.read(here)[0]).items():
            for end in ends(parameter):
                values, problems = view.read(here | {name: parameter.write(end)})
                assert (values[name], problems) == (end, []), (part, name, end)
                assert view.read(view.query(values)) == (values, []), (part, name, end)
                for key, picture in view.draw(**values).items():
                    check(key, json.loads(picture.sent()))


def check(key: str, slot: dict[str, object]) -> None:
    """A picture has no number that is none, and says in words what it shows."""
    told = str(slot.get("markup", slot.get("alt")))
    assert not re.search(r"(?<![\w-])(nan|inf|None)(?![\w-])", re.sub(r"<[^>]*>", " ", told)), key
    if "figure" in slot:
        assert len(str(slot["alt"])) > 20, f"{key} has no text alternative"
    for label in re.findall(r'role="img" aria-label="([^"]*)"', told):
        assert len(label) > 10, f"{key} has no text alternative"


@every_page
def test_a_link_that_means_nothing_is_told_and_the_defaults_are_shown(page: str) -> None:
    view = view_of(page)
    defaults, problems = view.read({})
    assert not problems
    wrong = {
        params.Choice: "\x00", params.Number: "1e999", params.Text: "x" * 9999,
        params.Order: "0-0", params.Several: "nothing",
    }  # fmt: skip
    for name, parameter in view.declared(defaults).items():
        values, problems = view.read({name: wrong[type(parameter)]})
        assert values == defaults
        assert [name in str(problem) for problem in problems] == [True]
    assert len(view.read({"nonsense": "1"})[1]) == 1


@every_page
def test_a_picture_comes_out_the_same_each_time(page: str) -> None:
    view = view_of(page)
    for part in parts_of(view):
        values = view.read({"part": part} if part else {})[0]
        assert view.draw(**values) == view.draw(**values), part


def test_every_page_has_its_own_view_and_place_in_the_navigation() -> None:
    places = {one.name: group.folder for group in site.GROUPS for one in group.pages}
    for page, path in PAGES.items():
        assert view_of(page).name == page
        assert places.get(page) == path.parent.name, page
    assert isinstance(view_of("playground"), live.View)
