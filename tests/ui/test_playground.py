"""The playground's view over all its parameters, without a browser."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from posviz import measured, presets
from posviz.figures import heat
from posviz.ui import live, site
from tests.server import ROOT
from tests.ui.views import content, numbers

CHARTS = ("attention", "extrapolation")


@pytest.mark.parametrize("model", presets.PLAYGROUND)
def test_a_link_to_a_model_needs_nothing_else(playground: live.View, model: str) -> None:
    values, problems = playground.read({"model": model})
    assert not problems
    preset = presets.get(model)
    assert values["head_dim"] == preset.head_dim
    assert values["rope_type"] == preset.rope_type
    assert values["factor"] == (preset.factor or 1.0)
    assert values["original_max_position_embeddings"] == preset.original_max_position_embeddings
    assert set(playground.query(values)) <= {"model"}


def test_a_name_that_is_no_parameter_is_told(playground: live.View) -> None:
    _, problems = playground.read({"positon": "5", "embed": "true"})
    assert [str(problem)[:9] for problem in problems] == ["'positon'"]


def test_the_app_s_own_state_stops_at_a_moved_limit(playground: live.View) -> None:
    values = playground.follow(
        {"original_max_position_embeddings": "512", "position": "30000", "head_dim": "8",
         "pair": "60", "num_heads": "4", "head": "9"}
    )  # fmt: skip
    assert (values["position"], values["pair"], values["head"]) == (2048, 3, 4)


def test_a_picture_keeps_its_hash_while_it_stays_the_same(playground: live.View) -> None:
    first, second, moved = (
        playground.draw(**playground.follow(query))
        for query in ({"head": "3"}, {"head": "3"}, {"head": "4"})
    )
    assert first == second
    assert moved["rotations"] == first["rotations"]
    assert moved["attention"].hash != first["attention"].hash


def test_the_route_answers_with_the_page_s_own_pictures(playground: live.View) -> None:
    client = TestClient(Starlette(routes=live.ROUTES))
    answer = client.get("/live/view/playground?position=2000&head=3&rope_type=yarn")
    assert answer.status_code == 200
    body = answer.json()
    assert body["address"] == "rope_type=yarn&position=2000"  # head 3 is the default
    drawn = playground.draw(**playground.follow({"position": "2000", "rope_type": "yarn"}))
    assert body["slots"] == content(drawn)
    assert client.get("/live/view/nowhere").status_code == 404
    assert client.get(f"/{live.SCRIPT}").status_code == 200
    assert client.get("/plotly/plotly.min.js").status_code == 200


def test_the_route_names_what_the_browser_has_and_sends_the_rest(playground: live.View) -> None:
    client = TestClient(Starlette(routes=live.ROUTES))
    first = client.get("/live/view/playground").json()["slots"]
    known = ",".join(str(slot["hash"]) for slot in first.values())
    moved = client.get("/live/view/playground?head=4", headers={"X-Known": known}).json()["slots"]
    assert moved["rotations"] == {"hash": first["rotations"]["hash"]}
    assert "figure" in moved["attention"]


def test_a_raster_is_sent_once_while_marks_move_over_it() -> None:
    rasters = {"map": heat.raster(np.zeros((2, 2)), -1, 1)}
    first, moved = (live.drawing(mark, rasters) for mark in ("<i>1</i>", "<i>2</i>"))
    other = live.drawing("<i>1</i>", {"map": heat.raster(np.ones((2, 2)), -1, 1)})
    assert len({first.hash, moved.hash, other.hash}) == 3
    raster = json.loads(first.sent())["rasters"]["map"]
    sent = json.loads(moved.sent({str(first.hash), str(raster["hash"])}))
    assert sent["markup"] == "<i>2</i>"
    assert sent["rasters"] == {"map": {"hash": raster["hash"]}}
    assert json.loads(moved.sent({str(moved.hash)})) == {"hash": moved.hash}


@pytest.mark.parametrize("query", ["position=abc", "head_dim=7", "factor=nan", "model=x", "a=b"])
def test_the_route_never_fails(playground: live.View, query: str) -> None:
    client = TestClient(Starlette(routes=live.ROUTES))
    assert client.get(f"/live/view/playground?{query}").status_code == 200


def test_the_readouts_are_the_core_s_numbers(playground: live.View) -> None:
    slots = content(playground.draw(**playground.follow({"model": "gpt-oss-20b", "head": "1"})))
    assert "1.347<small>scores × 1.813</small>" in slots["lamps"]["markup"]  # 0.1 ln 32 + 1
    assert "131,072 tokens, 32× trained" in slots["lamps"]["markup"]
    assert slots["note:head"]["markup"] == "slope 0.917"  # 2 ** (-8 / 64)


def test_what_a_visitor_types_is_escaped(playground: live.View) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"))
    app.query_params["position"] = "<img src=x onerror=alert(1)>"
    app.run(timeout=30)
    assert not app.exception
    assert len(app.markdown) >= 1


def test_each_kind_of_visitor_is_led_to_pages_that_exist() -> None:
    app = AppTest.from_file(str(ROOT / "app.py")).run(timeout=30)
    told = [one.proto.body for one in app.get("html") if 'class="pv-see"' in one.proto.body]
    assert "How Transformers know where a token stands." in told.pop(0)
    assert [re.findall(r"<span>(\w+)", one) for one in told] == [["Learn"], ["Teach"], ["Build"]]
    pages = {one.name for one in site.pages()}
    for line in told:
        addresses = re.findall(r'href="([^"]*)"', line)
        assert len(addresses) >= 3
        assert set(addresses) <= pages


def test_the_measured_loss_stands_beside_the_geometry(playground: live.View) -> None:
    drawn = playground.draw(**playground.follow({"rope_type": "yarn", "factor": "7"}))
    slots = content(drawn)
    names = [trace["name"] for trace in slots["extrapolation"]["figure"]["data"]]
    assert names == ["no scaling", "YaRN", "measured loss"]
    trace = slots["extrapolation"]["figure"]["data"][-1]
    multiples, share = measured.loss_share("names-rope-500", "yarn", 8.0) or ((), ())
    np.testing.assert_allclose(numbers(trace["x"]), multiples, rtol=1e-6)
    np.testing.assert_allclose(numbers(trace["y"]), 100 * np.asarray(share), rtol=1e-5)
    assert "measured loss of a tiny RoPE, 8×" in slots["extrapolation:head"]["markup"]


def test_the_page_says_when_geometry_and_measurement_disagree(
    playground: live.View, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(reach: float) -> str:
        monkeypatch.setattr(measured, "reach", lambda *_: reach)
        drawn = playground.draw(**playground.follow({"rope_type": "linear", "factor": "4"}))
        return str(content(drawn)["extrapolation:head"]["markup"])

    # Position interpolation by 4 meets no new angle up to 4 trained contexts.
    assert "holds to 4× · its geometry says 4× · they agree within a measured step" in said(1024.0)
    assert "holds to 2× · its geometry says 4× · they disagree" in said(512.0)
    assert "holds to nothing · its geometry says 4× · they disagree" in said(0.0)
    assert "holds to 16× and more · its geometry says 4× · they disagree" in said(np.inf)
