"""The README's example runs and says what it says."""

from __future__ import annotations

import contextlib
import io
import re

from posviz import claims, picker, pitfalls, presets
from tests.server import ROOT


def test_the_library_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    first, rotated, *slopes = printed.getvalue().splitlines()
    assert first.split()[1].startswith("1.2772588722239782")
    assert rotated.startswith("[ 1.24258646")  # cos 5 - sin 5: pair 0 turns a radian a token
    assert "0.70710678" in " ".join(slopes)


def test_what_the_readme_counts_is_so_many() -> None:
    readme = (ROOT / "README.md").read_text()
    for count, what in (
        (len(claims.CLAIMS), "statements from tutorials"),
        (sum(len(one.slips) for one in pitfalls.PITFALLS), "mistakes, most of them reported"),
        (len(picker.RULES), "rules are data"),
        (len(presets.names()), "records to search"),
    ):
        assert f"{count} {what}" in readme, what


def test_the_make_targets_that_the_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        named = re.findall(r"make ([a-z]+)", (ROOT / name).read_text())
        assert set(named) <= targets, name
