"""The playground's three pictures in Dash, as a Dash author would write them.

Same mathematics and the same two Plotly figures; the clocks are drawn in Plotly too. Five sliders
with ``updatemode="drag"``, one callback with three outputs. Run: ``python dash_app.py PORT``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import dash
import numpy as np
import plotly.graph_objects as go
from dash import Input, Output, dcc, html

sys.path.insert(0, str(Path(__file__).parents[2]))

from posviz import alibi, distance, extrapolation, rope
from posviz.figures import playground, style
from posviz.rope_scaling import Llama3, NoScaling

TRAINED = 8192


def say(template: str, **values: object) -> str:
    return template.format(**values)


def in_colour(node: Any) -> Any:
    """The figure with the colours of the light theme filled in."""
    if isinstance(node, dict):
        return {key: in_colour(value) for key, value in node.items()}
    if isinstance(node, list):
        return [in_colour(value) for value in node]
    if isinstance(node, str) and (match := re.fullmatch(r"var\(--pv-(\w+?)(-faded)?\)", node)):
        return style.COLOURS[match[1]][0] + ("38" if match[2] else "")
    return node


def clocks(inv_freq: np.ndarray, turns: np.ndarray, position: int) -> go.Figure:
    """Sixteen small dials and a large one, trails and hands in Plotly."""
    figure = go.Figure()
    last = len(inv_freq) - 1
    shown = sorted({round(i * last / 15) for i in range(16)})
    for place, pair in enumerate([*shown, min(35, last)]):
        large = place == len(shown)
        x0, y0, r = (2.0, 6.5, 2.0) if large else (place % 8 * 2.4, -(place // 8) * 3.0, 1.0)
        angle = float(position * inv_freq[pair])
        colour = style.COLOURS["turns" + str(sum(turns[pair] >= b for b in (1, 10, 100)))][0]
        arc = np.linspace(0, angle % (2 * np.pi), 40)
        ring = np.linspace(0, 2 * np.pi, 60)
        for x, y, line in (
            (x0 + 1.1 * r * np.sin(ring), y0 + 1.1 * r * np.cos(ring), {"color": "#ddd", "width": 1}),
            (x0 + r * np.sin(arc), y0 + r * np.cos(arc), {"color": colour, "width": 4}),
            (np.array([x0, x0 + r * np.sin(angle)]), np.array([y0, y0 + r * np.cos(angle)]),
             {"color": colour, "width": 2}),
        ):  # fmt: skip
            figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")
        figure.add_annotation(
            x=x0, y=y0 - 1.5 * r, showarrow=False, text=style.tokens(2 * np.pi / inv_freq[pair])
        )
    figure.update_layout(
        showlegend=False, margin={"l": 0, "r": 0, "t": 0, "b": 0}, uirevision="kept",
        xaxis={"visible": False, "range": [-1.5, 18.5]},
        yaxis={"visible": False, "range": [-5.5, 9.5], "scaleanchor": "x"},
        plot_bgcolor="white", meta=position,
    )  # fmt: skip
    return figure


def slider(name: str, low: float, high: float, step: float, value: float) -> html.Div:
    return html.Div(
        [html.Label(name), dcc.Slider(low, high, step, value=value, id=name, updatemode="drag",
                                      marks=None)],
        style={"flex": 1},
    )  # fmt: skip


app = dash.Dash(__name__, serve_locally=True)
app.layout = html.Div(
    [
        html.Div(
            [
                slider("position", 0, 4 * TRAINED, 1, 12000),
                slider("base", 1, 9, 0.01, 5.7),
                slider("head_dim", 4, 256, 2, 128),
                slider("factor", 1, 64, 0.01, 8),
                slider("head", 1, 32, 1, 3),
            ],
            style={"display": "flex"},
        ),
        html.Div(
            [
                dcc.Graph(id="rotations", style={"width": "520px", "height": "560px"}),
                html.Div(
                    [
                        dcc.Graph(id="attention", style={"width": "860px", "height": "272px"}),
                        dcc.Graph(id="extrapolation", style={"width": "860px", "height": "206px"}),
                    ]
                ),
            ],
            style={"display": "flex"},
        ),
    ]
)


@app.callback(
    Output("rotations", "figure"), Output("attention", "figure"), Output("extrapolation", "figure"),
    Input("position", "value"), Input("base", "value"), Input("head_dim", "value"),
    Input("factor", "value"), Input("head", "value"),
)  # fmt: skip
def draw(position: int, base: float, head_dim: int, factor: float, head: int) -> tuple[Any, ...]:
    plain, method = rope.RoPE(head_dim, 10.0**base), Llama3(factor, TRAINED)
    inv_freq, attention_factor = method.frequencies(plain)
    slope = float(alibi.slopes(32)[head - 1])
    starts = distance.bins(4 * TRAINED + 1, 260, "log")
    curves = playground.attention(
        starts,
        distance.envelope(distance.rope_scores(inv_freq, 4 * TRAINED + 1), starts),
        distance.random_band(inv_freq, starts, attention_factor),
        alibi.bias(slope, starts),
        distance.envelope(distance.sinusoidal_scores(4 * TRAINED + 1, head_dim), starts),
        trained=TRAINED, position=position, log_axis=True, as_weights=False, _=say,
    )  # fmt: skip
    lengths = TRAINED * extrapolation.multiples()
    contexts = playground.extrapolation(
        extrapolation.multiples(),
        extrapolation.unseen_share(plain, NoScaling(), TRAINED, lengths),
        extrapolation.unseen_share(plain, method, TRAINED, lengths),
        alibi.share_beyond_window(slope, lengths), method="llama3", method_label="Llama 3",
        usable=extrapolation.usable_context(plain, method, TRAINED) / TRAINED,
        current=(position + 1) / TRAINED, _=say,
    )  # fmt: skip
    dials = clocks(inv_freq, rope.turns(plain.inv_freq, TRAINED), position)
    return dials, in_colour(curves), in_colour(contexts)


if __name__ == "__main__":
    app.run(port=sys.argv[1], debug=False)
