from __future__ import annotations

from collections.abc import Iterator

import pytest
from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest

from posviz.params import Said
from posviz.ui import live, text
from tests import messages
from tests.server import ROOT


@pytest.fixture(scope="session")
def playground() -> live.View:
    """The playground's view, registered by running the app once."""
    app = AppTest.from_file(str(ROOT / "app.py")).run(timeout=30)
    assert not app.exception
    return live._views["playground"]


# Errors that tests make up.
_MADE_UP = {"checkpoint must be whole, got {got}", "{name} must be there"}


class _Recorded:
    """English, and every message that somebody asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def gettext(self, message: str) -> str:
        if not isinstance(message, Said):
            self.asked.add(message)
        return message


@pytest.fixture(scope="session")
def known() -> frozenset[str]:
    """Every message of the template."""
    with messages.TEMPLATE.open("rb") as file:
        return frozenset(one.id for one in read_po(file))


@pytest.fixture(autouse=True)
def every_message_is_in_the_template(
    known: frozenset[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """What a page says while it is tested can be translated."""
    recorded = _Recorded()
    monkeypatch.setitem(text._CATALOGUES, "en", recorded)
    yield
    unknown = recorded.asked - known - _MADE_UP
    assert not unknown, "said, but in no catalogue: make messages"
