"""What the browser is sent that others wrote."""

import re

from plotly import offline

from tests.server import ROOT

VENDOR = ROOT / "posviz" / "ui" / "static" / "vendor"


def test_the_browsers_plotly_is_the_version_that_python_has() -> None:
    head = (VENDOR / "plotly-basic.min.js").read_text(encoding="utf-8")[:200]
    found = re.search(r"plotly\.js \(basic - minified\) v([\d.]+)", head)
    assert found and found[1] == offline.get_plotlyjs_version()
    assert "MIT" in (VENDOR / "plotly-LICENSE").read_text(encoding="utf-8")
