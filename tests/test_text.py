"""The door for words."""

from __future__ import annotations

import re

import pytest

from posviz.params import InvalidParameterError
from posviz.ui import text
from tests.server import ROOT


def test_a_section_is_found_by_its_title() -> None:
    assert text.section("playground", "What am I looking at?").startswith("**Rotations.**")


def test_a_missing_section_is_an_error_that_names_the_file() -> None:
    with pytest.raises(LookupError, match=r"content/en/playground.md has no section 'Nothing'"):
        text.section("playground", "Nothing")


def test_a_complaint_reads_like_its_error() -> None:
    problem = InvalidParameterError("{name} must be even, got {got}", name="head_dim", got=7)
    assert text.complaint(problem) == str(problem) == "head_dim must be even, got 7"


def test_every_section_that_a_page_names_exists() -> None:
    for page in (ROOT / "pages").glob("*/*.py"):
        for name, title in re.findall(r'section\("(\w+)", "([^"]+)"\)', page.read_text()):
            assert text.section(name, title)
