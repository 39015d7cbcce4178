"""The playground's three pictures in marimo. Run: ``marimo run marimo_app.py --port PORT``.

What makes it quick: ``debounce=False``, so that a slider speaks while it moves; one cell, so that
one message brings all three pictures; the clocks as ``mo.Html``; arrays as float32 bytes.
"""

import marimo

app = marimo.App(width="full")


@app.cell
def _():
    import sys
    from pathlib import Path

    import marimo as mo
    import plotly.graph_objects as go

    sys.path.insert(0, str(Path(__file__).parent))
    import pictures

    return go, mo, pictures


@app.cell
def _(mo, pictures):
    sliders = mo.ui.dictionary(
        {
            one.name: mo.ui.slider(
                one.low, one.high, one.step, value=one.value, label=one.label, debounce=False,
                full_width=True,
            )
            for one in pictures.HANDLES
        }
    )  # fmt: skip
    mo.vstack(
        [
            mo.Html(f"<style>{pictures.css()}</style>"),
            mo.hstack(list(sliders.values()), widths="equal"),
        ]
    )
    return (sliders,)


@app.cell
def _(go, mo, pictures, sliders):
    def chart(name, plot, size):
        data = [
            trace | {"x": pictures.packed(trace["x"]), "y": pictures.packed(trace["y"])}
            for trace in plot["data"]
        ]
        drawn = go.Figure({"data": data, "layout": plot["layout"] | size}, _validate=False)
        return mo.Html(f'<div id="{name}">{mo.as_html(drawn).text}</div>')

    clocks, attention, extrapolation = pictures.draw(*sliders.value.values())
    mo.hstack(
        [
            mo.Html(f'<div id="rotations" style="width: 520px">{clocks}</div>'),
            mo.vstack(
                [
                    chart("attention", attention, pictures.ATTENTION),
                    chart("extrapolation", extrapolation, pictures.EXTRAPOLATION),
                ]
            ),
        ],
        justify="start",
    )
    return


if __name__ == "__main__":
    app.run()
