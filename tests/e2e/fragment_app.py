"""An ordinary Streamlit page with the live components and no view: what a fragment alone gives."""

import numpy as np
import streamlit as st

from posviz.ui import live, page

if __name__ == "__main__":
    page.begin()

    @st.fragment
    def fragment() -> None:
        speed = live.slider("Speed", 1, 400, 50, key="speed")
        turn = live.slider("Turn", 0.0, 6.0, 1.0, 0.01, key="turn", unit="rad")
        live.svg(f'<svg viewBox="0 0 400 20"><line x2="{speed}" y1="5" y2="5"/></svg>', key="line")
        x = np.linspace(0, 10, 50)
        plot = {
            "data": [{"type": "scatter", "mode": "markers", "x": x, "y": np.sin(x + turn),
                      "marker": {"color": "var(--pv-rope)"}}],
            "layout": {"margin": {"l": 40, "r": 10, "t": 10, "b": 30},
                       "xaxis": {"range": [0, 10]}, "yaxis": {"range": [-1, 1]}},
        }  # fmt: skip
        live.chart(plot, key="wave", alt="a sine", height=200)
        st.write(f"speed {speed}, turn {turn:.2f}")

    fragment()
else:
    app = st.App(__file__, routes=live.ROUTES)
