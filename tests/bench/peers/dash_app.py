"""The playground's three pictures in Dash. Run: ``python dash_app.py PORT``.

What makes it quick: ``updatemode="drag"``; one callback, so that one question brings all three
pictures; ``Patch``, so that a move sends traces and marks and neither layout nor axes, and no trace
where only the position moved; arrays as float32 bytes; the clocks as text that a callback in the
browser puts in place, since Dash has no component for SVG that comes as text. FastAPI with uvicorn
is quicker than Flask's own server; Dash's WebSocket is not quicker again.
"""

from __future__ import annotations

import sys
from typing import Any

import dash
import uvicorn
from dash import Input, Output, Patch, dcc, html
from pictures import ATTENTION, EXTRAPOLATION, FIRST, HANDLES, ROTATIONS, css, draw, packed

app = dash.Dash(__name__, serve_locally=True, update_title="", backend="fastapi")
app.index_string = app.index_string.replace("{%css%}", f"{{%css%}}<style>{css()}</style>")


def graph(name: str, figure: dict[str, Any], size: dict[str, int]) -> dcc.Graph:
    data = [trace | {"x": packed(trace["x"]), "y": packed(trace["y"])} for trace in figure["data"]]
    return dcc.Graph(
        id=name, figure={**figure, "data": data}, config={"displayModeBar": False},
        style={side: f"{length}px" for side, length in size.items()},
    )  # fmt: skip


def layout() -> html.Div:
    clocks, attention, extrapolation = draw(*FIRST)
    sliders = [
        html.Div(
            [html.Label(one.label),
             dcc.Slider(one.low, one.high, one.step, value=one.value, id=one.name, marks=None,
                        updatemode="drag", allow_direct_input=False)],
            style={"flex": 1},
        )
        for one in HANDLES
    ]  # fmt: skip
    return html.Div(
        [
            html.Div(sliders, style={"display": "flex"}),
            html.Div(
                [
                    dcc.Store(id="clocks", data=clocks),
                    html.Div(id="rotations", style={"width": f"{ROTATIONS['width']}px"}),
                    html.Div(
                        [
                            graph("attention", attention, ATTENTION),
                            graph("extrapolation", extrapolation, EXTRAPOLATION),
                        ]
                    ),
                ],
                style={"display": "flex", "gap": "24px"},
            ),
        ]
    )


app.layout = layout
app.clientside_callback(
    """(markup) => {
      document.getElementById("rotations").innerHTML = markup;
      return dash_clientside.no_update;
    }""",
    Output("rotations", "title"),
    Input("clocks", "data"),
)


@app.callback(
    Output("clocks", "data"), Output("attention", "figure"), Output("extrapolation", "figure"),
    *(Input(one.name, "value") for one in HANDLES), prevent_initial_call=True,
)  # fmt: skip
def follow(*values: float) -> tuple[str, Patch, Patch]:
    clocks, *figures = draw(*values)
    patches = []
    for figure in figures:
        patch = Patch()
        if dash.ctx.triggered_id != "position":  # Llama 3's frequencies do not depend on it
            for i, trace in enumerate(figure["data"]):
                patch["data"][i]["x"] = packed(trace["x"])
                patch["data"][i]["y"] = packed(trace["y"])
        patch["layout"]["shapes"] = figure["layout"]["shapes"]
        patch["layout"]["annotations"] = figure["layout"]["annotations"]
        patches.append(patch)
    return clocks, *patches


if __name__ == "__main__":
    uvicorn.run(app.server, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
