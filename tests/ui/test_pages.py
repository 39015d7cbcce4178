"""What holds for every page: links, ends of handles, wrong values, words; without a browser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posviz import params
from posviz.ui import live, site
from tests.ui.views import (
    PAGES,
    any_values,
    check,
    content,
    ends,
    parts_of,
    view_of,
    wrong_texts,
)

every_page = pytest.mark.parametrize("page", PAGES)


@every_page
@given(data=st.data())
def test_every_view_can_be_drawn_and_linked(page: str, data: st.DataObject) -> None:
    view = view_of(page)
    values = any_values(data.draw, view)
    assert view.read(view.query(values)) == (values, [])
    check(page, content(view.draw(**values)))


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
                check(page, content(view.draw(**values)))


@every_page
def test_a_wrong_value_is_told_and_the_rest_of_the_link_counts(page: str) -> None:
    view = view_of(page)
    defaults, problems = view.read({})
    assert not problems
    declared = view.declared(defaults)
    handles = {name: one for name, one in declared.items() if isinstance(one, params.Number)}
    for name, parameter in declared.items():
        other = next((each for each in reversed(handles) if each != name), None)
        moved = {} if other is None else {other: handles[other].low}
        asked = {each: handles[each].write(value) for each, value in moved.items()}
        for text in wrong_texts(parameter):
            values, problems = view.read(asked | {name: text})
            assert [name in str(problem) for problem in problems] == [True], (name, text)
            assert values == view.read(asked)[0], (name, text)
            assert values.items() >= moved.items(), (name, text)
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
