"""A picture as a Python script: what computes it, with the values of the moment, and plots it.

Where a view says how the core computes a picture (``View.code``), that is the script. Every other
chart and heat map has one that asks the view itself, which always says what the page shows.
"""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from posviz.figures.style import COLOURS
from posviz.ui import site

if TYPE_CHECKING:
    from posviz.ui.live import Picture, Values, View

Floats = NDArray[np.floating[Any]]

_GENERAL = """\
# Run it in posviz's folder.
import plotly.graph_objects as go

from posviz.ui import snippet
from posviz.views.{name} import VIEW

values, _ = VIEW.read({query!r})
drawn = VIEW.draw(**values)
{measured}figure = go.Figure(snippet.plot(drawn[{picture!r}]))
figure.show()
"""
_MEASURED = """\
for better in VIEW.measure(**values):  # trained models read, which takes a while
    drawn |= better
"""


def source(view: View, values: Values, picture: str) -> str | None:
    """The script of a picture under these values; None if it is neither a chart nor a heat map.

    Values stand in it as Python writes them (``repr``), whatever a visitor typed.
    """
    if view.code is not None and (own := view.code(**values).get(picture)):
        return own
    drawn = view.draw(**values).get(picture)
    if drawn is None or not (drawn.is_chart or drawn.rasters):
        return None
    if view.name not in {one.name for one in site.pages()}:
        return None  # no module of that name holds it
    return _GENERAL.format(
        name=view.name, query=view.query(values), picture=picture,
        measured=_MEASURED if view.measure else "",
    )  # fmt: skip


def plot(picture: Picture) -> dict[str, Any]:
    """A chart or a heat map as ``data`` and ``layout`` of a Plotly figure, on white.

    Curves have the numbers of the page, float32. A heat map of more than 4,096 cells has each value
    to one part in 254 of its scale; cells without a value are NaN.

    Raises:
        ValueError: if it is neither.
    """
    told = json.loads(picture.sent())
    if "figure" in told:
        plotted: dict[str, Any] = _opened(told["figure"])
        plotted["layout"] |= {"paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff"}
        return plotted
    if not told.get("rasters"):
        raise ValueError("a picture of words has no numbers to plot")
    maps = _Maps(told["markup"])
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "grid": {"rows": 1, "columns": len(maps.canvases), "pattern": "independent"}
    }
    for canvas in maps.canvases:
        mark = str(len(data) + 1) if data else ""
        data.append(_heat_map(told["rasters"][canvas["data-raster"]], canvas)
                    | {"xaxis": f"x{mark}", "yaxis": f"y{mark}"})  # fmt: skip
        layout[f"xaxis{mark}"] = {"title": {"text": canvas["columns"]}}
        layout[f"yaxis{mark}"] = {"title": {"text": canvas["rows"]}, "autorange": "reversed"}
    return {"data": data, "layout": layout}


def _opened(node: Any) -> Any:
    """A figure for Plotly's Python: arrays as NumPy's, named colours as those on white."""
    if isinstance(node, dict):
        if "bdata" in node:
            array = np.frombuffer(base64.b64decode(node["bdata"]), "<f4")
            shape = node.get("shape")
            return array.reshape([int(n) for n in shape.split(",")]) if shape else array
        return {key: _opened(one) for key, one in node.items()}
    if isinstance(node, list):
        return [_opened(one) for one in node]
    if isinstance(node, str) and (named := re.fullmatch(r"var\(--pv-(\w+?)(-faded)?\)", node)):
        shade = COLOURS[named[1]][0]
        if named[2]:
            red, green, blue = (int(shade[at : at + 2], 16) for at in (1, 3, 5))
            return f"rgba({red},{green},{blue},0.22)"
        return shade
    return node


def _heat_map(raster: dict[str, Any], canvas: dict[str, str]) -> dict[str, Any]:
    low, high = raster["low"], raster["high"]
    shape = (raster["rows"], raster["columns"])
    cells = np.frombuffer(base64.b64decode(raster["cells"]), np.uint8).reshape(shape)
    if "values" in raster:
        values = _opened(raster["values"]).reshape(shape).astype(float)
    else:
        values = low + (cells - 1.0) / 254 * (high - low)
    palette = [COLOURS[name][0] for name in canvas["data-palette"].split(",")]
    return {
        "type": "heatmap", "name": canvas["data-raster"],
        "z": np.where(cells == 0, np.nan, values), "zmin": low, "zmax": high,
        "x": _named(canvas["data-columns-said"], canvas["data-first-column"],
                    canvas["data-step-column"], shape[1]),
        "y": _named(canvas["data-rows"], canvas["data-first-row"], canvas["data-step-row"],
                    shape[0]),
        "colorscale": [[n / (len(palette) - 1), shade] for n, shade in enumerate(palette)],
    }  # fmt: skip


def _named(labels: str, first: str, step: str, count: int) -> list[str] | list[int]:
    """What rows or columns count as; a label that comes twice has its index beside it."""
    names: list[str] = json.loads(labels)
    if not names:
        return [int(first) + n * int(step) for n in range(count)]
    return [one if names.count(one) == 1 else f"{one} ({n})" for n, one in enumerate(names)]


class _Maps(HTMLParser):
    """The heat maps in markup: attributes of each canvas, with the titles of its axes."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.canvases: list[dict[str, str]] = []
        self._title = ""  # of the rows; it stands before its canvas
        self._within = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self._within = told.get("class", "") if tag == "span" else ""
        if tag == "figure":
            self._title = ""
        elif tag == "canvas":
            self.canvases.append(told | {"rows": self._title, "columns": ""})

    def handle_data(self, data: str) -> None:
        if self._within == "pv-heat-title":
            self._title += data
        elif self._within == "pv-heat-under":
            self.canvases[-1]["columns"] += data

    def handle_endtag(self, tag: str) -> None:
        self._within = ""
