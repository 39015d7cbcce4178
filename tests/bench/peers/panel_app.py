"""The playground's three pictures in Panel. Run: ``panel serve panel_app.py --port PORT``.

What makes it quick: ``value`` of a slider follows while it moves (``value_throttled`` waits);
Bokeh's own figures, which are a canvas and take new numbers in place as bytes; all changes of one
move in one message (``hold``), and no curve where only the position moved; the clocks as HTML.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, FixedTicker, Label, Span
from bokeh.plotting import figure

sys.path.insert(0, str(Path(__file__).parent))

from pictures import ATTENTION, EXTRAPOLATION, FIRST, HANDLES, ROTATIONS, css, draw

pn.extension(raw_css=[css().partition(".pv-")[0]])  # colours; the rest stands beside the clocks


class Chart:
    """A Plotly figure's lines, band, marks and labels in Bokeh, updated in place."""

    def __init__(self, name: str, plot: dict[str, Any], size: dict[str, int]) -> None:
        layout = plot["layout"]
        x, y = layout["xaxis"], layout["yaxis"]
        self.is_log = x.get("type") == "log"
        self.view = figure(
            **size, x_axis_type="log" if self.is_log else "linear", toolbar_location=None,
            x_range=[10.0**end for end in x["range"]] if self.is_log else x["range"],
            y_range=y["range"], x_axis_label=x["title"]["text"], y_axis_label=y["title"]["text"],
            css_classes=[name],
        )  # fmt: skip
        self.view.xaxis.ticker = FixedTicker(ticks=x["tickvals"])
        self.view.xaxis.major_label_overrides = dict(zip(x["tickvals"], x["ticktext"], strict=True))
        for axis in (self.view.xaxis, self.view.yaxis):
            axis.minor_tick_line_color = None
        self.sources, self.spans, self.labels = [], [], []
        for i, trace in enumerate(plot["data"]):
            line = trace["line"]
            self.sources.append(ColumnDataSource(self.columns(plot["data"], i)))
            if trace.get("fill") == "tonexty":
                self.view.varea("x", "y", "below", source=self.sources[i], alpha=0.22,
                                color=line["color"])  # fmt: skip
            if line["width"]:
                look = {
                    "source": self.sources[i], "color": line["color"], "line_width": line["width"],
                    "line_dash": [int(part) for part in re.findall(r"\d+", line.get("dash", ""))],
                }  # fmt: skip
                if line.get("shape") == "hv":
                    self.view.step("x", "y", mode="after", **look)
                else:
                    self.view.line("x", "y", **look)
        self.mark(layout)

    @staticmethod
    def columns(data: list[dict[str, Any]], i: int) -> dict[str, np.ndarray]:
        below = {"below": data[i - 1]["y"]} if data[i].get("fill") == "tonexty" else {}
        columns = {"x": data[i]["x"], "y": data[i]["y"], **below}
        return {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()}

    def mark(self, layout: dict[str, Any]) -> None:
        """Puts the vertical lines and labels where they belong; there may be more or fewer now."""
        shapes, notes = layout["shapes"], layout["annotations"]
        while len(self.spans) < len(shapes):
            self.spans.append(Span(dimension="height", location=1.0))
            self.view.add_layout(self.spans[-1])
        while len(self.labels) < len(notes):
            self.labels.append(Label(x=1.0, y=0, text=""))
            self.view.add_layout(self.labels[-1])
        low, high = layout["yaxis"]["range"]
        for span, shape in zip(self.spans, shapes, strict=False):
            line = shape["line"]
            span.update(location=shape["x0"], line_color=line["color"],
                        line_dash="dotted" if line["dash"] == "dot" else "solid")  # fmt: skip
        for label, note in zip(self.labels, notes, strict=False):
            label.update(
                x=10.0 ** note["x"] if self.is_log else note["x"], text=note["text"],
                y=low + note["y"] * (high - low), x_offset=note["xshift"],
                text_align=note["xanchor"], text_baseline="top", text_font_size="12px",
                text_color=note["font"]["color"],
            )  # fmt: skip
        for i, span in enumerate(self.spans):
            span.visible = i < len(shapes)
        for i, label in enumerate(self.labels):
            label.visible = i < len(notes)

    def follow(self, plot: dict[str, Any]) -> None:
        for i, source in enumerate(self.sources):
            columns = self.columns(plot["data"], i)
            if any(not np.array_equal(source.data[name], columns[name]) for name in columns):
                source.data = columns
        self.mark(plot["layout"])


clocks, attention_plot, extrapolation_plot = draw(*FIRST)
sliders = [
    (pn.widgets.IntSlider if isinstance(one.step, int) else pn.widgets.FloatSlider)(
        name=one.label, start=one.low, end=one.high, step=one.step, value=one.value,
        css_classes=[one.name], sizing_mode="stretch_width",
    )
    for one in HANDLES
]  # fmt: skip
rotations = pn.pane.HTML(
    clocks, css_classes=["rotations"], width=ROTATIONS["width"], stylesheets=[css()]
)
attention = Chart("attention", attention_plot, ATTENTION)
extrapolation = Chart("extrapolation", extrapolation_plot, EXTRAPOLATION)


def follow(*_: object) -> None:
    clocks, attention_plot, extrapolation_plot = draw(*(slider.value for slider in sliders))
    with pn.io.hold():
        rotations.object = clocks
        attention.follow(attention_plot)
        extrapolation.follow(extrapolation_plot)


for slider in sliders:
    slider.param.watch(follow, "value")

pn.Column(
    pn.Row(*sliders, sizing_mode="stretch_width"),
    pn.Row(rotations, pn.Column(pn.pane.Bokeh(attention.view), pn.pane.Bokeh(extrapolation.view))),
    sizing_mode="stretch_width",
).servable(title="pictures")
