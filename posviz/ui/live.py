"""Live components: a slider that speaks while it moves, pictures drawn in place.

``st.slider`` reports on release only and ``st.plotly_chart`` throws its chart away at each change.
These components do neither. A page declares a :class:`View`: its parameters and a pure function
from their values to pictures. Streamlit draws the page once and again after each release; while a
handle moves, the browser asks a route of the app for the same function's pictures and draws them
into the old ones. Without a view, :func:`slider` reports each value to Streamlit, so that any
fragment is live too, at about half the pace.

What takes a second (a model that reads a text) is a second function of the view, ``measure``: it
yields pictures as they get better, on a thread of its own behind the others, while the handles go
on. The browser asks for it when the handles rest, and an answer that is outdated is dropped.

Why a route beside the fragment: a run of a fragment costs about 30 ms of transport and React before
a picture is touched, the route 3-5 ms (docs/decisions.md).
"""

from __future__ import annotations

import asyncio
import base64
import contextvars
import hashlib
import importlib
import json
import logging
import os
import secrets
import sys
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st
import threadpoolctl
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from posviz.params import (
    IN_STEPS,
    REAL_BETWEEN,
    WHOLE_BETWEEN,
    InvalidParameterError,
    Number,
    Parameter,
    Text,
    shown,
)
from posviz.ui import site, snippet, text

Values = dict[str, Any]
Query = Mapping[str, str]

_STATIC = Path(__file__).parent / "static"

# The modules import each other by relative address, so what changes with them is a folder in it.
_SCRIPTS = b"".join(each.read_bytes() for each in sorted(_STATIC.glob("*.js")))
_VERSION = hashlib.sha256(_SCRIPTS).hexdigest()[:12]
SCRIPT = f"live/static/{_VERSION}/live.js"
"""Address of the browser's half, within the app; browsers may keep it for ever."""

# A picture's matrix products take 1 ms on one core; spread over two that the browser and other
# visitors want too, BLAS threads wait for each other and it is 15.
threadpoolctl.threadpool_limits(1, user_api="blas")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the same for torch, which reads it when it loads

if sys.platform != "win32":  # a visitor holds four open files or more; 1,024 is usual
    import resource

    _soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    _most = 65536 if _hard == resource.RLIM_INFINITY else min(_hard, 65536)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(_soft, _most), _hard))


# ------------------------------------------------------------------------------------ pictures


@dataclass(frozen=True)
class Picture:
    """What a place on the page shows: JSON for the browser and a hash that says if it changed.

    Rasters, the large part, have hashes of their own: a mark that moves over a heat map leaves the
    map as it is.
    """

    json: str
    hash: int
    rasters: tuple[tuple[str, Picture], ...] = ()

    @staticmethod
    def of(
        content: Mapping[str, object], rasters: Mapping[str, Mapping[str, object]] | None = None
    ) -> Picture:
        """The picture with this content."""
        parts = tuple((name, Picture.of(raster)) for name, raster in (rasters or {}).items())
        body = json.dumps(content, default=_array, separators=(",", ":"), allow_nan=False)
        mark = zlib.crc32("".join([body, *(f"{name}{part.hash}" for name, part in parts)]).encode())
        return Picture(f'{{"hash":{mark},{body[1:]}', mark, parts)

    def sent(self, known: Collection[str] = ()) -> str:
        """The JSON for a browser that has what is ``known`` by hash, and gets only its name."""
        if str(self.hash) in known:
            return f'{{"hash":{self.hash}}}'
        if not self.rasters:
            return self.json
        parts = ",".join(f'"{name}":{part.sent(known)}' for name, part in self.rasters)
        return f'{self.json[:-1]},"rasters":{{{parts}}}}}'

    @property
    def is_chart(self) -> bool:
        """Whether it is a Plotly figure."""
        return '"figure":' in self.json

    @property
    def is_pictured(self) -> bool:
        """Whether it is more than words."""
        marks = ('"figure":', "<svg", "<canvas", "<table", 'role=\\"img')
        return any(mark in self.json for mark in marks)


Slots = dict[str, Picture]
"""The picture of each place, by its name."""


def _array(value: Any) -> object:
    """An array as plotly.js reads it: float32 bytes; a NumPy scalar as a number."""
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} cannot be sent to the browser")
    data = base64.b64encode(value.astype("<f4").tobytes()).decode()
    shape = {} if value.ndim == 1 else {"shape": ",".join(map(str, value.shape))}
    return {"dtype": "f4", "bdata": data, **shape}


def figure(plot: Mapping[str, object], alt: str) -> Picture:
    """A Plotly figure (``data`` and ``layout``) as a picture, with its text alternative."""
    return Picture.of({"figure": {"data": plot["data"], "layout": plot["layout"]}, "alt": alt})


def drawing(markup: str, rasters: Mapping[str, Mapping[str, object]] | None = None) -> Picture:
    """SVG or HTML text as a picture; what a visitor typed must be escaped before it enters.

    ``rasters`` are what its heat maps show, see ``posviz.figures.heat``.
    """
    return Picture.of({"markup": markup}, rasters)


# ---------------------------------------------------------------------------------------- views


@dataclass(frozen=True)
class View:
    """A page's state and what it shows: parameters in order, and a function of their values.

    Attributes:
        name: Name in the route.
        parameters: Yields the parameters; it may read the values of those yielded before, so that
            a range or default can depend on them.
        draw: Takes every value by name, returns the picture of each place; milliseconds.
        measure: If given: as ``draw``, but slow; yields pictures of some places, each time more
            of them or better ones. Between two yields it can be dropped.
        code: If given: as ``draw``, but returns for some charts and heat maps the Python script
            that computes them out of the core; the others have a general one.
    """

    name: str
    parameters: Callable[[Values], Iterator[Parameter]]
    draw: Callable[..., dict[str, Picture]]
    measure: Callable[..., Iterator[dict[str, Picture]]] | None = None
    code: Callable[..., dict[str, str]] | None = None

    def declared(self, values: Values) -> dict[str, Parameter]:
        """The parameters as they are under these values."""
        return {parameter.name: parameter for parameter in self.parameters(values)}

    def read(self, query: Query) -> tuple[Values, list[InvalidParameterError]]:
        """Values that a link means, and a complaint for each part that it cannot mean."""
        values: Values = {}
        problems = []
        for parameter in self.parameters(values):
            values[parameter.name] = parameter.default
            if parameter.name in query:
                try:
                    values[parameter.name] = parameter.parse(query[parameter.name])
                except InvalidParameterError as problem:
                    problems.append(problem)
        unknown = [name for name in query if name not in values and not name.startswith("embed")]
        if unknown:
            problems.append(
                InvalidParameterError(
                    "{name} is not a parameter of this page, which has {allowed}",
                    name=", ".join(map(shown, unknown[:3])) + " …" * (len(unknown) > 3),
                    allowed=", ".join(values),
                )
            )
        return values, problems

    def follow(self, query: Query) -> Values:
        """Values of a state that the app itself made: numbers past a moved limit stop at it."""
        values: Values = {}
        for parameter in self.parameters(values):
            values[parameter.name] = parameter.default
            if parameter.name in query:
                try:
                    values[parameter.name] = parameter.parse(query[parameter.name])
                except InvalidParameterError:
                    if isinstance(parameter, Number):
                        values[parameter.name] = parameter.nearest(query[parameter.name])
        return values

    def query(self, values: Values) -> dict[str, str]:
        """What a link to these values says; what is at its default is left out."""
        return {
            name: parameter.write(values[name])
            for name, parameter in self.declared(values).items()
            if values[name] != parameter.default
        }


_views: dict[str, View] = {}


def register(view: View) -> View:
    """Offers a view to the live route; a page calls it each time it runs."""
    _views[view.name] = view
    return view


def view_named(name: str) -> View | None:
    """The view of that name; a page's own also where nobody has opened the page yet.

    A browser may have come from another replica of the app, with its page drawn there.
    """
    if name not in _views and name in {one.name for one in site.pages()}:
        register(importlib.import_module(f"posviz.views.{name}").VIEW)
    return _views.get(name)


# Pictures are drawn in turn. On Starlette's 40 threads all would be drawn at once, and the thread
# that hears and sends would wait for Python's lock behind each of them.
_drawers = ThreadPoolExecutor(os.cpu_count() or 1, "draw")


async def _answer(request: Request) -> Response:
    drawn = await asyncio.get_running_loop().run_in_executor(_drawers, _drawn, request)
    return Response(drawn or '{"slots":{}}', 200 if drawn else 404, media_type="application/json")


def _drawn(request: Request) -> str:
    view = view_named(request.path_params["name"])
    if view is None:
        return ""
    text.speak(text.preferred(request.headers.get("accept-language", "")))
    values = view.follow(request.query_params)
    slots = _slots(view.draw(**values), request.headers.get("x-known", "").split(","))
    handles = {
        name: (values[name], parameter.high)
        for name, parameter in view.declared(values).items()
        if isinstance(parameter, Number)
    }
    rest = json.dumps({"address": urlencode(view.query(values)), "handles": handles})
    return f'{rest[:-1]},"slots":{slots}}}'


def _code(request: Request) -> Response:
    view = view_named(request.path_params["name"])
    values = view.follow(request.query_params) if view else {}
    source = snippet.source(view, values, request.path_params["picture"]) if view else None
    return Response(source or "", 200 if source else 404, media_type="text/plain")


def _slots(drawn: dict[str, Picture], known: Collection[str] = ()) -> str:
    return "{" + ",".join(f'"{key}":{one.sent(known)}' for key, one in drawn.items()) + "}"


# ---------------------------------------------------------------------------------- measuring


def _stand_back() -> None:
    """Lets the thread of the fast pictures go first."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)


# One core stays free for the pictures that follow a handle.
_measurers = ThreadPoolExecutor(
    max((os.cpu_count() or 1) - 1, 1), "measure", initializer=_stand_back
)


# What is asked for and not yet answered. A measurement takes up to four seconds of a core: what
# waits behind so many would come minutes too late.
_asked: set[object] = set()
_MOST_ASKED = 512


async def _measure(request: Request) -> Response:
    view = view_named(request.path_params["name"])
    if view is None or view.measure is None:
        return Response("", 404, media_type="application/x-ndjson")
    if len(_asked) >= _MOST_ASKED:
        return Response("", 503, {"Retry-After": "5"}, "application/x-ndjson")
    text.speak(text.preferred(request.headers.get("accept-language", "")))
    steps = view.measure(**view.follow(request.query_params))
    return StreamingResponse(_lines(steps), media_type="application/x-ndjson")


async def _lines(steps: Iterator[dict[str, Picture]]) -> AsyncIterator[str]:
    """One line for each step: its pictures, as they come; ``null`` at the end."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Queue[str | None] = asyncio.Queue()
    outdated = threading.Event()

    def work() -> None:
        try:
            for drawn in steps if not outdated.is_set() else ():
                if outdated.is_set():
                    break
                loop.call_soon_threadsafe(ready.put_nowait, _slots(drawn))
        except Exception:  # the page keeps what it shows; the log says why
            logging.getLogger(__name__).exception("a measurement failed")
        finally:
            if not outdated.is_set():
                loop.call_soon_threadsafe(ready.put_nowait, None)

    _asked.add(outdated)
    try:
        loop.run_in_executor(_measurers, contextvars.copy_context().run, work)
        while (line := await ready.get()) is not None:
            yield line + "\n"
        yield "null\n"
    finally:  # also when the browser has gone on to another setting
        outdated.set()
        _asked.discard(outdated)


# From here and not from a CDN. All of plotly.js, which its Python package has, costs a browser
# twice the work until the first picture, for traces that no page draws.
def _plotly(request: Request) -> Response:
    kept = {"Cache-Control": "public, max-age=86400"}
    bundle = _STATIC / "vendor" / "plotly-basic.min.js"
    return FileResponse(bundle, media_type="text/javascript", headers=kept)


def keeping(is_current: bool) -> dict[str, str]:
    """Headers of a file whose address changes with it.

    While two releases of the app run beside each other, one is asked for the other's: what it has
    instead must not be kept under that address.
    """
    forever = "public, max-age=31536000, immutable"
    return {"Cache-Control": forever if is_current else "no-store"}


class _Scripts(StaticFiles):
    def file_response(self, path: Any, stats: Any, scope: Scope, *rest: Any) -> Response:
        response = super().file_response(path, stats, scope, *rest)
        response.headers.update(keeping(scope["path_params"]["version"] == _VERSION))
        return response


ROUTES: list[BaseRoute] = [
    Route("/live/view/{name}", _answer),
    Route("/live/measure/{name}", _measure),
    Route("/live/code/{name}/{picture}", _code),
    Mount("/live/static/{version}", _Scripts(directory=_STATIC)),
    Route("/plotly/plotly.min.js", _plotly),
]
"""What the app serves beside Streamlit."""


# ----------------------------------------------------------------------------------- components


def _component(function: str) -> Any:
    """A component whose code is one function of ``static/live.js``.

    Inline code is sent again with each update, so it only names the module.
    """
    code = (
        f'const module = () => import(new URL("{SCRIPT}", document.baseURI));\n'
        f"export default async (component) => (await module()).{function}(component);\n"
    )
    return st.components.v2.component(f"posviz_{function}", js=code, isolate_styles=False)


_ANCHOR = _component("anchor")
_SLIDER = _component("slider")
_MARKUP = _component("markup")
_CHART = _component("chart")
_COPY_LINK = _component("copyLink")
_TEXT_FIELD = _component("textField")
_SEARCH = _component("search")
_ASK = _component("ask")
_DRAFT = _component("draft")


def anchor(
    view: View,
    values: Values,
    on_moved: Callable[[Mapping[str, str], bool], None],
    *,
    around: Mapping[str, object] | None = None,
    on_reset: Callable[[], None] = lambda: None,
) -> None:
    """Tells the browser the view's state, and hears of what came to rest there.

    Args:
        view: The page's view.
        values: Every value, as this run has it.
        on_moved: Called with the values, by name and as a link writes them, that are new; and
            whether they are the whole state, after a session was lost.
        around: What stands around the page, for ``static/frame.js``.
        on_reset: Called when the view shall begin anew.
    """
    name = f"{view.name}:anchor"
    heard = f"{name}:heard"  # number of the last message, so that the browser knows it was taken up

    def moved() -> None:
        if told := (st.session_state.get(name) or {}).get("moved"):
            st.session_state[heard] = told["message"]
            on_moved(told["values"], told.get("whole", False))

    _ANCHOR(
        key=name,
        data={
            "view": view.name,
            "address": urlencode(view.query(values)),
            "session": st.session_state.setdefault("posviz:session", secrets.token_hex(8)),
            "measures": view.measure is not None,
            "message": st.session_state.get(heard, 0),
            "around": around,
            "words": _frame_words() if around else None,
        },
        on_moved_change=moved,
        on_reset_change=on_reset,
    )


def _frame_words() -> dict[str, str]:
    """What the keys of present mode are called, and its buttons."""
    return {
        "keys": text.say("Keys"),
        "skip": text.say("To the handles"),
        "arrows": text.say("move the handle in focus; Tab goes to the next one"),
        "space": text.say("plays it, and pauses"),
        "reset": text.say("back to how the view began"),
        "full": text.say("full screen"),
        "steps": text.say("next and previous step of a lesson"),
        "figures": text.say("one picture alone; 0 shows all"),
        "leave": text.say("leave present mode"),
        "help": text.say("these keys"),
        "previous": text.say("Previous"),
        "next": text.say("Next"),
        "predict": text.say("Predict"),
        "close": text.say("Close"),
        "none": text.say("Nothing was drawn."),
        "code": text.say("This picture in Python"),
        "copy": text.say("Copy"),
        "copied": text.say("Copied"),
        "failed": text.say("Select it and copy it by hand"),
        "download": text.say("Download"),
        **_guess_words(),
    }


def _guess_words() -> dict[str, str]:
    """What is said while a curve is guessed; the browser fills in how far off it is."""
    return {
        "draw": text.say("Draw your guess into the picture, then reveal."),
        "reveal": text.say("Reveal"),
        "off": text.say("Your curve is off by {mean} on average, {most} at most."),
    }


def slider(
    label: str,
    min_value: float,
    max_value: float,
    value: float,
    step: float = 1,
    *,
    key: str,
    help: str = "",
    on_change: Callable[[float], None] | None = None,
    unit: str = "",
    scale: str = "linear",
    play: bool = False,
    disabled: bool = False,
    note: Picture | None = None,
    view: View | None = None,
) -> float:
    """A slider that speaks while it moves; otherwise like ``st.slider``.

    Mouse, touch, arrows, Home, End, Page keys, a number typed over the shown one, play and pause.

    Args:
        label: What it says.
        min_value: Left end.
        max_value: Right end.
        value: Where it stands when it is new, or when it changed by other means.
        step: Distance between values; a float makes the values real numbers.
        key: Its name, unique on the page; with a view, the parameter's name.
        help: Sentence shown on hover.
        on_change: Called with the new value at each move; not with a view, whose anchor tells.
        unit: What the number counts.
        scale: ``linear`` or ``log``.
        play: Whether it has a play button.
        disabled: Whether it stands still.
        note: Line below it; with a view, the name of its picture is ``note:KEY``.
        view: View whose pictures follow it.

    Returns:
        The value, as Streamlit knows it.
    """
    whole = isinstance(step, int)
    template = REAL_BETWEEN
    if whole:
        template = WHOLE_BETWEEN if step == 1 else IN_STEPS
    allowed = text.say(
        template, name=label, low=shown(min_value), high=shown(max_value), step=step, got="{got}"
    )
    name = f"{view.name}:{key}" if view else key

    def changed() -> None:
        if on_change and (told := st.session_state.get(name)):
            on_change(told["value"])

    if view is None:  # the value that came last; hearing it back lets the browser send the next
        value = (st.session_state.get(name) or {}).get("value", value)
    _SLIDER(
        key=name,
        data={
            "name": key, "label": label, "low": min_value, "high": max_value, "step": step,
            "value": value, "unit": unit, "help": help, "scale": scale, "play": play,
            "disabled": disabled, "view": view.name if view else None,
            "note": None if note is None else {"key": f"note:{key}", **json.loads(note.json)},
            "words": {
                "allowed": allowed, "typed": text.say("typed"),
                "play": text.say("Play"), "pause": text.say("Pause"), "speed": text.say("Speed"),
                "manners": [text.say("once"), text.say("again and again"),
                            text.say("there and back")],
            },
        },
        on_value_change=changed,
    )  # fmt: skip
    return value


def text_field(
    label: str,
    value: str,
    *,
    key: str,
    longest: int,
    view: View,
    help: str = "",
    clears: Sequence[str] = (),
) -> None:
    """A line of text that the view's pictures follow while it is typed.

    Args:
        label: What it says.
        value: The text, when it is new or changed by other means.
        key: The parameter's name.
        longest: Characters that it takes.
        view: View whose pictures follow it.
        help: Sentence shown on hover.
        clears: Parameters that return to their defaults when the text changes.
    """
    _TEXT_FIELD(
        key=f"{view.name}:{key}",
        data={
            "name": key, "label": label, "value": value, "longest": longest, "help": help,
            "view": view.name, "clears": list(clears),
        },
    )  # fmt: skip


def search(view: View) -> None:
    """A line of text over what is found for it, while it is typed.

    Args:
        view: Has one parameter, the line, and draws two pictures: ``found``, markup of links, and
            ``count``, what is said of them.
    """
    (line,) = view.parameters({})
    assert isinstance(line, Text)
    drawn = view.draw(**{line.name: line.default})
    _SEARCH(
        key=f"{view.name}:{line.name}",
        data={
            "name": line.name, "label": text.say(line.label), "value": line.default,
            "longest": line.longest, "help": text.say(line.help), "view": view.name, "clears": [],
            "drawn": {key: json.loads(one.sent()) for key, one in drawn.items()},
        },
    )  # fmt: skip


def ask(view: View, place: str, asked: Mapping[str, object]) -> None:
    """A question that comes before a picture: it is covered until the answer is chosen or drawn.

    Args:
        view: View that the picture belongs to.
        place: What the answer is remembered by, in the browser's tab.
        asked: ``question``, ``figure`` that is covered, ``options`` and which is ``right``, what is
            said ``then``, which other places it ``covers``; without options a curve is drawn into
            the chart.
    """
    _ASK(
        key=f"{view.name}:ask:{place}",
        data={
            "view": view.name, "place": place, **asked,
            "words": {
                **_guess_words(),
                "again": text.say("Ask again"), "skip": text.say("Show without a guess"),
                "right": text.say("Right."), "wrong": text.say("Not so: {right}."),
            },
        },
    )  # fmt: skip


def draft(
    lesson: str | None,
    *,
    view: View | None,
    count: int,
    refused: str,
    go: str,
    on_found: Callable[[str], None],
    on_added: Callable[[Mapping[str, str]], None],
) -> None:
    """The memory of the lesson that a visitor makes, and the button that adds a view to it.

    Args:
        lesson: The lesson, which the tab keeps; None if the session knows of none.
        view: View that the button adds; None for no button.
        count: How many steps the lesson has.
        refused: Why the last view was not added.
        go: Address within the app to go to, as by a link; empty to stay.
        on_found: Called with what the tab kept, where the session knows of none.
        on_added: Called with ``state``, the view's as links show it, and what is ``kept``.
    """
    key = f"{view.name}:draft" if view else "draft"

    def told(name: str) -> Any:
        return (st.session_state.get(key) or {}).get(name)

    def found() -> None:
        if kept := told("found"):
            on_found(kept)

    def added() -> None:
        if made := told("added"):
            on_added(made)

    _DRAFT(
        key=key,
        data={
            "view": view.name if view else None, "lesson": lesson, "count": count,
            "refused": refused,
            "go": {"address": go, "order": secrets.token_hex(8)} if go else None,
            "words": {
                "add": text.say("Add to my lesson"),
                "added": text.say("Added as step {count}", count=count),
            },
        },
        on_found_change=found,
        on_added_change=added,
    )  # fmt: skip


def chart(
    plot: Mapping[str, object] | Picture,
    *,
    key: str,
    alt: str = "",
    height: int = 300,
    view: View | None = None,
) -> None:
    """A Plotly figure drawn into the old one: no blank frame, zoom kept, axes as they were.

    Args:
        plot: ``{"data": ..., "layout": ...}``, arrays as NumPy arrays; or a picture of it.
        key: Its name; with a view, the name of its picture.
        alt: Text alternative, if ``plot`` is not a picture yet.
        height: Height in pixels.
        view: View that it belongs to.
    """
    picture = plot if isinstance(plot, Picture) else figure(plot, alt)
    _place(_CHART, picture, key, height, view)


def svg(
    markup: str | Picture,
    *,
    key: str,
    height: int | None = None,
    view: View | None = None,
) -> None:
    """SVG or HTML text drawn in place.

    Args:
        markup: The text, or a picture of it. An element with ``data-set="NAME=VALUE"``, a
            piece of a link, sets the view's parameters when it is clicked; the elements with
            ``data-item`` within one with ``data-order="NAME"`` are dragged, or moved by arrow
            keys, into another order, which is the parameter's value; a heat map sets its axes'
            handles.
        key: Its name; with a view, the name of its picture.
        height: Least height in pixels, if it should keep its place.
        view: View that it belongs to.
    """
    picture = markup if isinstance(markup, Picture) else drawing(markup)
    _place(_MARKUP, picture, key, height, view)


def _place(
    component: Any, picture: Picture, key: str, height: int | None, view: View | None
) -> None:
    component(
        key=f"{view.name}:{key}" if view else key,
        data={
            "key": key,
            "height": height,
            "view": view.name if view else None,
            "payload": json.loads(picture.sent()),
        },
    )


def copy_link(view: View) -> None:
    """Buttons that copy the address of the view as it stands, and what embeds it elsewhere."""
    _COPY_LINK(
        key=f"{view.name}:copy-link",
        width="content",
        data={
            "view": view.name,
            "label": text.say("Copy link"),
            "embed": text.say("Embed"),
            "done": text.say("Copied"),
            "failed": text.say("Copy it from the address bar"),
        },
    )
