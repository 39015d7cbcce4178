"""What tests of all pages share: views, values over their handles, pictures taken apart."""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from posviz import params
from posviz.ui import live
from tests.server import ROOT

PAGES = {path.stem: path for path in sorted((ROOT / "pages").glob("*/*.py"))}


@functools.cache
def view_of(page: str) -> live.View:
    """The view of the page of that name, registered by running its script once."""
    app = AppTest.from_file(str(PAGES[page])).run(timeout=120)
    assert not app.exception, f"{page}: {[one.value for one in app.exception]}"
    return live._views[page]


def parts_of(view: live.View) -> tuple[str, ...]:
    """The parts that the page shows one at a time; one without a name if it has none."""
    part = view.declared(view.read({})[0]).get("part")
    return getattr(part, "options", ("",))


def content(drawn: dict[str, live.Picture]) -> dict[str, Any]:
    """Pictures as the browser gets them."""
    return {key: json.loads(one.sent()) for key, one in drawn.items()}


def numbers(array: dict[str, str]) -> np.ndarray:
    """Numbers of a trace."""
    return np.frombuffer(base64.b64decode(array["bdata"]), dtype="<f4")


def any_values(draw: Any, view: live.View, **instead: st.SearchStrategy[Any]) -> live.Values:
    """Values over the declared ranges, the ends as likely as the rest; ``instead`` by name."""
    values: live.Values = {}
    for parameter in view.parameters(values):
        values[parameter.name] = draw(instead.get(parameter.name, any_value(parameter)))
    return values


def any_value(parameter: params.Parameter) -> st.SearchStrategy[Any]:
    """Values of one parameter."""
    match parameter:
        case params.Choice():
            return st.sampled_from(parameter.options)
        case params.Several():
            chosen = st.lists(st.sampled_from(parameter.options), unique=True,
                              max_size=parameter.most)  # fmt: skip
            return chosen.map(tuple).map(parameter.check)
        case params.Text():
            typed = st.text(max_size=parameter.longest).filter(str.isprintable)
            return st.one_of(st.just(parameter.default), typed)
        case params.Order():
            return st.permutations(parameter.default).map(tuple)
    low, high, step = parameter.low, parameter.high, parameter.step
    if not parameter.is_whole:
        return st.one_of(st.sampled_from([low, high]), st.floats(low, high))
    inner = st.integers(int(low), int(high)).map(lambda n: int(low + (n - low) // step * step))
    return st.one_of(st.sampled_from([int(low), int(high)]), inner)


def ends(parameter: params.Parameter) -> Iterator[object]:
    """Each option of a choice, both ends of a number, other texts and orders."""
    match parameter:
        case params.Choice():
            yield from parameter.options
        case params.Number():
            yield from (parameter.check(end) for end in (parameter.low, parameter.high))
        case params.Several():
            yield from ((), parameter.options[: parameter.most])
        case params.Text():
            yield from ("", "<b>&'\"", "x" * parameter.longest)
        case params.Order():
            yield tuple(reversed(parameter.default))


def wrong_texts(parameter: params.Parameter) -> Iterator[str]:
    """What a link may say for a parameter, and means nothing there."""
    match parameter:
        case params.Choice():
            near = {one.swapcase() for one in parameter.options} | {"", "\x00", "x" * 99}
            yield from sorted(near - {*parameter.options})[:6]
        case params.Number():
            yield from ("", "x", "nan", "inf", "1e400", "<b>", "1,5")
            yield parameter.write(parameter.low - parameter.step)
            yield parameter.write(parameter.high + parameter.step)
            if parameter.is_whole:
                yield f"{int(parameter.low)}.5"
            if parameter.pairs:
                yield str(int(parameter.low) + 1)
        case params.Several():
            yield "nothing"
            yield ",".join([parameter.options[0]] * 2)
            if parameter.most < len(parameter.options):
                yield ",".join(parameter.options[: parameter.most + 1])
        case params.Text():
            yield from ("x" * (parameter.longest + 1), "a\nb")
        case params.Order():
            yield from ("", "0-0", "a-b", f"{parameter.write(parameter.default)}-0")


# Charts whose lines are strokes, head by head; all others go from left to right.
STROKES = {"alibi": {"weights", "windows", "covered"}}


def check(page: str, slots: dict[str, Any]) -> None:
    """Pictures have no number that is none, lines that can be drawn, and words for what is seen."""
    for key, slot in slots.items():
        told = str(slot.get("markup", slot.get("alt")))
        # What a visitor typed may say anything.
        words = re.sub(r"<[^>]*>", " ", re.sub(r"<bdi.*?</bdi>", "", told))
        assert not re.search(r"(?<![\w-])(nan|inf|None)(?![\w-])|\{\w*\}", words), key
        assert not re.search(r"−0[ <]", re.sub(r"<math.*?</math>", "", told)), key
        for label in re.findall(r'role="img" aria-label="([^"]*)"', told):
            assert len(label) > 10, f"{key} has no text alternative"
        if "figure" not in slot:
            continue
        assert len(str(slot["alt"])) > 20, f"{key} has no text alternative"
        go.Figure({name: slot["figure"][name] for name in ("data", "layout")})  # validates
        for trace in slot["figure"]["data"]:
            x, y = numbers(trace["x"]), numbers(trace["y"])
            assert len(x) == len(y) > 0, key
            assert np.isfinite([x, y]).all(), key
            assert (np.diff(x) >= 0).all() or key in STROKES.get(page, ()), key
