"""What goes out with a page's HTML is there, and is all that the first pictures need."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Message

from posviz.ui import early, live

STREAMLIT = Path(streamlit.__file__).parent / "static"


def header(response: Response) -> str:
    """The ``Link`` of an answer that went through."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/rope", "headers": []}
    asyncio.run(early.Early(response)(scope, receive, send))
    return dict(sent[0]["headers"]).get(b"link", b"").decode()


def test_only_pages_say_what_to_load_with_them() -> None:
    assert header(HTMLResponse("<p>")) == early.links()
    assert header(JSONResponse({})) == ""


def test_all_that_is_named_is_there_and_nothing_twice() -> None:
    named = re.findall(r"<([^>]+)>", early.links())
    assert len(named) == len(set(named))
    folder = live.SCRIPT.rpartition("/")[0]
    for address in named:
        if address.startswith("static/"):
            assert (STREAMLIT / address).is_file(), address
            assert address not in (STREAMLIT / "index.html").read_text()
        elif address != live.PLOTLY:
            assert address.startswith(f"{folder}/"), address
            assert (live.STATIC / address.rpartition("/")[2]).is_file(), address


def test_streamlits_parts_and_our_modules_come_with_what_they_import() -> None:
    names = {re.sub(r"\.[\w-]+\.js$", "", one.rpartition("/")[2])
             for one in re.findall(r"<(static[^>]+)>", early.links())}  # fmt: skip
    assert {"Html", "BidiComponent", "ButtonGroup", "Selectbox", "purify.es"} <= names
    ours = {one.rpartition("/")[2] for one in re.findall(r"<(live[^>]+)>", early.links())}
    asked_later = {"take.js", "still.js", "table.js"}  # by a click
    assert ours == {one.name for one in live.STATIC.glob("*.js")} - asked_later


def test_the_header_fits_what_a_server_in_front_takes() -> None:
    assert len(early.links()) < 3500  # of 4 kB, nginx's least
