"""A page with a view that also measures: a fast picture, and a slow one that gets better."""

import time
from collections.abc import Iterator

import streamlit as st

from posviz.params import Number, Parameter
from posviz.ui import live, page

STEPS = 4


def parameters(v: live.Values) -> Iterator[Parameter]:
    yield Number("size", "Size", 10, 1, 400, 1, "", "")


def draw(size: int) -> dict[str, live.Picture]:
    return {"fast": live.drawing(f"fast {size}"), "slow": live.drawing(f"waiting {size}")}


def measure(size: int) -> Iterator[dict[str, live.Picture]]:
    for step in range(1, STEPS + 1):
        print(f"measured {size} {step}", flush=True)
        time.sleep(0.25)
        yield {"slow": live.drawing(f"measured {size}, {step} of {STEPS}")}
        if size == 13:
            raise RuntimeError("a measurement that fails")


if __name__ == "__main__":
    page.begin()
    view = live.View("measured", parameters, draw, measure)
    page.open_view(view)

    @st.fragment
    def fragment() -> None:
        v = page.values(view)
        drawn = view.draw(**v)
        page.handle(view, view.declared(v)["size"], v["size"])
        page.picture(view, "fast", drawn["fast"])
        page.picture(view, "slow", drawn["slow"])
        st.write(f"streamlit {v['size']}")
        live.anchor(view, v, lambda moved, whole: page.write(view, moved, only=whole))

    fragment()
else:
    app = st.App(__file__, routes=live.ROUTES)
