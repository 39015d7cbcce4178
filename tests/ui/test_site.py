"""The table of pages agrees with the pages themselves."""

from __future__ import annotations

import tomllib

import pytest

from posviz.ui import search, site, text
from posviz.ui.search_words import normal
from tests.server import ROOT
from tests.ui.views import PAGES, view_of

TABLE = {one.name: one for one in site.pages()}


def test_every_script_is_in_the_table_once_and_in_its_folder() -> None:
    listed = [(group.folder, one.name) for group in site.GROUPS for one in group.pages]
    scripts = [(path.parent.name, name) for name, path in PAGES.items()]
    assert sorted(listed) == sorted(scripts)
    assert len({one.title for one in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize("page", PAGES)
def test_the_parts_are_those_of_the_page_s_own_view(page: str) -> None:
    view, parts = view_of(page), TABLE[page].parts
    part = view.declared(view.read({})[0]).get("part")
    shown = dict(zip(part.options, part.labels, strict=True)) if part else {}  # type: ignore[union-attr]
    assert dict(parts) == shown
    assert set(TABLE[page].terms.values()) <= {"", *parts}
    assert TABLE[page].sees.endswith(".")


def test_every_word_of_the_glossary_belongs_to_a_page() -> None:
    places = {normal(term) for one in TABLE.values() for term in one.terms}
    words = [entry for entry in search.index() if entry.kind == "word"]
    by_page = [one for one in search.index() if one.kind == "page" and len(one.says) > len(
        TABLE[one.address].sees)]  # fmt: skip
    assert len(words + by_page) == text.section("glossary", "Words").count("\n\n") + 1
    for word in words:
        assert any(normal(name) in places for name in word.names), word.title


def test_no_term_leads_to_two_pages() -> None:
    terms = [normal(term) for one in TABLE.values() for term in one.terms]
    assert sorted(terms) == sorted(set(terms))


def test_streamlit_leaves_no_message_out_and_collects_no_garbage_after_a_run() -> None:
    told = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert told["global"]["minCachedMessageSize"] >= 1e9
    assert told["runner"]["postScriptGC"] is False
