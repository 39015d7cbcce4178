"""The view of each page, registered by running its script once."""

from __future__ import annotations

import functools

from streamlit.testing.v1 import AppTest

from posviz.ui import live
from tests.server import ROOT

PAGES = {path.stem: path for path in sorted((ROOT / "pages").glob("*/*.py"))}


@functools.cache
def view_of(page: str) -> live.View:
    """The view of the page of that name."""
    app = AppTest.from_file(str(PAGES[page])).run(timeout=120)
    assert not app.exception, page
    return live._views[page]


def parts_of(view: live.View) -> tuple[str, ...]:
    """The parts that the page shows one at a time; one without a name if it has none."""
    part = view.declared(view.read({})[0]).get("part")
    return getattr(part, "options", ("",))
