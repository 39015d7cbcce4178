"""A picture is taken away as a Python script, and the script gives the picture's own numbers."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from posviz import params
from posviz.ui import live, site, snippet
from tests.server import ROOT
from tests.ui.views import parts_of

VIEWS = [one.name for one in site.pages()]
STATES = (None, 0.3, 0.8)  # as it begins; each handle at that share of its track


def values_at(view: live.View, part: str, share: float | None) -> live.Values:
    """Values of a part: where it begins, or every handle elsewhere and every choice another."""
    values: live.Values = {}
    for parameter in view.parameters(values):
        values[parameter.name] = parameter.default
        if parameter.name == "part" and part:
            values["part"] = part
        elif share is not None and isinstance(parameter, params.Number):
            low, high = parameter.low, parameter.high
            at = low + share * (high - low)
            if parameter.scale == "log" and low > 0:
                at = low * (high / low) ** share
            values[parameter.name] = parameter.nearest(str(at))
        elif share is not None and isinstance(parameter, params.Choice):
            values[parameter.name] = parameter.options[int(share * len(parameter.options))]
    return values


def pictured(view: live.View, values: live.Values) -> dict[str, live.Picture]:
    """The charts and heat maps of a state."""
    drawn = view.draw(**values)
    return {key: one for key, one in drawn.items() if one.is_chart or one.rasters}


def run(source: str, monkeypatch: pytest.MonkeyPatch) -> go.Figure:
    """The figure that a script shows in the end."""
    shown: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda figure: shown.append(figure))
    exec(compile(source, "script", "exec"), {"__name__": "__main__"})
    (figure,) = shown
    return figure


def close(one: Any, other: Any, step: float = 0.0) -> bool:
    """Whether numbers are the same in float32, or to a step of a scale; names are the same."""
    if one is None or other is None or len(one) != len(other):
        return False
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind in "OU" or other.dtype.kind in "OU":
        return [str(name) for name in one] == [str(name) for name in other]
    scale = np.nanmax(np.abs(other), initial=0.0)
    return bool(np.allclose(one, other, rtol=2e-6, atol=step or 1e-7 * scale, equal_nan=True))


def assert_within(some: go.Figure, whole: go.Figure) -> None:
    """Every curve and map of a figure has its like in another one, each a different one."""
    left = list(whole.data)
    for trace in some.data:
        same = {"heatmap": same_map, "scatter": same_curve}[trace.type]
        found = [one for one in left if one.type == trace.type and same(one, trace)]
        assert found, f"{trace.name}: not the numbers that are shown"
        left.remove(found[0])


def same_curve(one: Any, other: Any) -> bool:
    return close(one.x, other.x) and close(one.y, other.y)


def same_map(one: Any, other: Any) -> bool:
    """Whether cells are the same as far as colours tell, where both have colours for an end."""
    if np.shape(one.z) != np.shape(other.z):
        return False
    low, high = other.zmin, other.zmax
    if one.zmin is not None and one.zmin != low:
        low, high = one.zmin, one.zmax
    step = 0.51 * (high - low) / 254 if np.size(one.z) > 4096 else 0.0
    return close(np.clip(one.z, low, high), np.clip(other.z, low, high), step)


@pytest.mark.parametrize("name", VIEWS)
def test_every_chart_and_heat_map_has_a_script_that_gives_its_numbers(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = live.view_named(name)
    assert view is not None
    module = importlib.import_module(f"posviz.views.{name}")
    if view.measure:  # what trained models read is measured elsewhere
        monkeypatch.setattr(module, "VIEW", replace(view, measure=lambda **_: iter(())))
    for part in parts_of(view):
        for share in STATES:
            values = values_at(view, part, share)
            for key, picture in pictured(view, values).items():
                source = snippet.source(view, values, key)
                assert source, f"{part} {key}"
                assert len(source.splitlines()) <= 30
                shown = go.Figure(snippet.plot(picture))
                figure = run(source, monkeypatch)
                assert_within(figure, shown)
                if "import snippet" in source:  # one of the core may leave decoration out
                    assert_within(shown, figure)
                assert len(figure.data) or not len(shown.data)


def test_a_picture_of_words_has_no_script_and_no_plot() -> None:
    view = live.view_named("rope")
    assert view is not None
    values = view.read({})[0]
    assert snippet.source(view, values, "caption") is None
    assert snippet.source(view, values, "nothing") is None
    with pytest.raises(ValueError, match="words"):
        snippet.plot(view.draw(**values)["caption"])


def test_a_view_that_measures_says_so_in_its_scripts_and_is_measured() -> None:
    view = live.view_named("learned")
    assert view is not None
    source = snippet.source(view, view.read({"part": "reading"})[0], "looks")
    assert source
    assert "VIEW.measure(**values)" in source


def test_what_a_visitor_typed_stands_in_a_script_as_a_text_and_does_nothing() -> None:
    typed = '"""\'; import os; os.abort() #\\'
    for name in VIEWS:
        view = live.view_named(name)
        assert view is not None
        for part in parts_of(view):
            declared = view.declared(values_at(view, part, None))
            texts = {one.name: typed for one in declared.values() if isinstance(one, params.Text)}
            if not texts:
                continue
            values = view.follow(texts | ({"part": part} if part else {}))
            for key in pictured(view, values):
                source = snippet.source(view, values, key)
                assert source
                tree = ast.parse(source)
                imported = [one.names[0].name for one in ast.walk(tree)
                            if isinstance(one, ast.Import)]  # fmt: skip
                assert "os" not in imported


def test_the_route_gives_the_script_of_a_state_and_nothing_for_what_is_none() -> None:
    client = TestClient(Starlette(routes=live.ROUTES))
    answer = client.get("/live/code/rope/map?q_position=33")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "33" in answer.text
    for none in ("rope/caption", "rope/x", "nowhere/map", "rope/%22%29%3Bprint"):
        assert client.get(f"/live/code/{none}").status_code == 404


def test_a_script_runs_on_its_own() -> None:
    view = live.view_named("alibi")
    assert view is not None
    source = snippet.source(replace(view, code=None), view.read({})[0], "slopes")
    assert source
    told = source.replace("figure.show()", "print(len(figure.data[0].y))")
    done = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    shown = snippet.plot(view.draw(**view.read({})[0])["slopes"])
    assert int(done.stdout) == len(shown["data"][0]["y"])
