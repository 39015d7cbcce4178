"""The playground's three pictures in Gradio. Run: ``python gradio_app.py PORT``.

What makes it quick: ``.input`` speaks while a slider moves (``.release`` and ``.change`` do not, or
answer their own output); ``always_last`` keeps one question on its way and the newest value
follows; no queue, so that an answer is one plain request; no progress overlay; the clocks as
``gr.HTML``; arrays as float32 bytes. ``gr.Plot`` takes whole figures only.
"""

from __future__ import annotations

import sys
from typing import Any

import gradio as gr
import plotly.graph_objects as go
from pictures import ATTENTION, EXTRAPOLATION, FIRST, HANDLES, ROTATIONS, css, draw, packed


def figure(plot: dict[str, Any], size: dict[str, int]) -> go.Figure:
    """The figure as Plotly's class, which ``gr.Plot`` asks for; what is right is not checked."""
    data = [trace | {"x": packed(trace["x"]), "y": packed(trace["y"])} for trace in plot["data"]]
    return go.Figure({"data": data, "layout": plot["layout"] | size}, _validate=False)


def pictures(*values: float) -> tuple[str, go.Figure, go.Figure]:
    clocks, attention, extrapolation = draw(*values)
    return clocks, figure(attention, ATTENTION), figure(extrapolation, EXTRAPOLATION)


STYLE = css() + "#pictures{flex-wrap:nowrap}"

with gr.Blocks(title="pictures", fill_width=True, analytics_enabled=False) as app:
    with gr.Row():
        sliders = [
            gr.Slider(one.low, one.high, one.value, step=one.step, label=one.label,
                      elem_id=one.name, min_width=100, buttons=[])
            for one in HANDLES
        ]  # fmt: skip
    first = pictures(*FIRST)
    with gr.Row(elem_id="pictures"):
        with gr.Column(scale=0, min_width=ROTATIONS["width"]):
            clocks = gr.HTML(first[0], elem_id="rotations")
        with gr.Column(scale=0, min_width=ATTENTION["width"]):
            attention = gr.Plot(first[1], elem_id="attention", container=False, show_label=False)
            contexts = gr.Plot(first[2], elem_id="extrapolation", container=False,
                               show_label=False)  # fmt: skip
    gr.on(
        [slider.input for slider in sliders], pictures, sliders, [clocks, attention, contexts],
        trigger_mode="always_last", queue=False, show_progress="hidden",
    )  # fmt: skip

if __name__ == "__main__":
    app.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), css=STYLE, quiet=True)
