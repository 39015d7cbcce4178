from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from posviz.ui import live
from tests.server import ROOT


@pytest.fixture(scope="session")
def playground() -> live.View:
    """The playground's view, registered by running the app once."""
    app = AppTest.from_file(str(ROOT / "app.py")).run(timeout=30)
    assert not app.exception
    return live._views["playground"]
