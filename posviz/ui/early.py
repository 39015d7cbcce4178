"""What a page needs first, named with its HTML: the browser asks for it while Streamlit begins.

Otherwise it learns of each part from the one before: Streamlit's boot, the first run of the page,
parts of Streamlit for what that run contains, posviz's scripts, plotly.js.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posviz.ui import live

_STREAMLIT = Path(streamlit.__file__).parent / "static"
_PARTS = ("Html", "BidiComponent", "ButtonGroup", "Selectbox")
"""Streamlit's parts that every page contains."""


class Early:
    """ASGI middleware: HTML goes out with a ``Link`` header (RFC 8288) of what to load with it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Link"] = links()
            await send(message)

        await self.app(scope, receive, told if scope["type"] == "http" else send)


@functools.cache
def links() -> str:
    """The header's value; addresses are relative to the page's."""
    parts = [file.name for part in _PARTS for file in _STREAMLIT.glob(f"static/js/{part}.*.js")]
    page = (_STREAMLIT / "index.html").read_text(encoding="utf-8")
    folder, _, name = live.SCRIPT.rpartition("/")
    theirs = [one for one in _imported(_STREAMLIT / "static/js", parts) if one not in page]
    modules = [f"static/js/{one}" for one in theirs]
    modules += [f"{folder}/{one}" for one in _imported(live.STATIC, [name])]
    told = [f"<{one}>; rel=modulepreload" for one in modules]
    return ", ".join([*told, f"<{live.PLOTLY}>; rel=preload; as=script"])


def _imported(folder: Path, names: Sequence[str]) -> list[str]:
    """The modules of these names and all that they import at once, by file name."""
    found: list[str] = []
    ahead = list(names)
    while ahead:
        name = ahead.pop(0)
        if name not in found:
            found.append(name)
            code = (folder / name).read_text(encoding="utf-8")
            ahead += re.findall(r'\b(?:from|import)\s*"\./([\w.-]+\.js)"', code)
    return found
