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
import threadpoolctl
from dash import Input, Output, dcc, html

sys.path.insert(0, str(Path(__file__).parents[2]))

from posviz import alibi, distance, extrapolation, rope
from posviz.figures import playground, style
from posviz.rope_scaling import Llama3, NoScaling

threadpoolctl.threadpool_limits(1, user_api="blas")  # as in posviz/ui/live.py
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


def clocks(inv_freq: np.ndarray, turns: np.ndarray, position: int) -> dict[str, Any]:
    """Sixteen small dials and a large one in ten traces: lines of one kind and colour are one."""
    last = len(inv_freq) - 1
    pairs = np.array([*sorted({round(i * last / 15) for i in range(16)}), min(35, last)])
    place = np.arange(len(pairs))
    radius = np.where(place == place[-1], 2.0, 1.0)[:, None]
    x = np.where(place == place[-1], 2.0, place % 8 * 2.4)[:, None]
    y = np.where(place == place[-1], 6.5, -(place // 8) * 3.0)[:, None]
    angle = (position * inv_freq[pairs] % (2 * np.pi))[:, None]

    def lines(rows: np.ndarray, at: np.ndarray, size: float, **line: Any) -> dict[str, Any]:
        gap = np.full((len(rows), 1), np.nan)
        xs = np.hstack([x[rows] + size * radius[rows] * np.sin(at), gap])
        ys = np.hstack([y[rows] + size * radius[rows] * np.cos(at), gap])
        return {"type": "scatter", "mode": "lines", "x": xs.ravel(), "y": ys.ravel(),
                "line": line, "hoverinfo": "skip"}  # fmt: skip

    ring = np.linspace(0, 2 * np.pi, 60) + 0 * x
    data = [lines(place, ring, 1.1, color="#dddddd", width=1)]
    kind = np.searchsorted([1.0, 10.0, 100.0], turns[pairs], side="right")
    for shade in range(4):
        rows = place[kind == shade]
        colour = style.COLOURS[f"turns{shade}"][0]
        arc = angle[rows] * np.linspace(0, 1, 40)
        data.append(lines(rows, arc, 1.0, color=colour, width=4))
        hand = lines(rows, angle[rows] + np.zeros((len(rows), 2)), 1.0, color=colour, width=2)
        hand["x"][0::3], hand["y"][0::3] = x[rows, 0], y[rows, 0]
        data.append(hand)
    data.append(
        {"type": "scatter", "mode": "text", "x": x.ravel(), "y": (y - 1.5 * radius).ravel(),
         "text": [style.tokens(wave) for wave in 2 * np.pi / inv_freq[pairs]], "hoverinfo": "skip"}
    )  # fmt: skip
    layout = {
        "showlegend": False, "margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "uirevision": "kept",
        "xaxis": {"visible": False, "range": [-1.5, 18.5]},
        "yaxis": {"visible": False, "range": [-5.5, 9.5], "scaleanchor": "x"},
        "plot_bgcolor": "white",
    }  # fmt: skip
    return {"data": data, "layout": layout}


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
    usable = extrapolation.usable_context(plain, method, TRAINED) / TRAINED
    multiples = extrapolation.multiples(1.0, usable)
    lengths = TRAINED * multiples
    contexts = playground.extrapolation(
        multiples,
        extrapolation.unseen_share(plain, NoScaling(), TRAINED, lengths),
        extrapolation.unseen_share(plain, method, TRAINED, lengths),
        method="llama3", method_label="Llama 3",
        usable=usable,
        current=(position + 1) / TRAINED,
        head=head, window=style.tokens(np.ceil(alibi.window(slope))),
        slow=int(extrapolation.never_completed(plain, TRAINED).sum()), pairs=head_dim // 2, _=say,
    )  # fmt: skip
    dials = clocks(inv_freq, rope.turns(plain.inv_freq, TRAINED), position)
    return dials, in_colour(curves), in_colour(contexts)


if __name__ == "__main__":
    app.run(port=sys.argv[1], debug=False)
