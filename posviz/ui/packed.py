"""Files that every visitor loads, kept in memory and gzipped once.

Streamlit reads its sixty scripts from the disk for each visitor, and sends two megabytes as they
are: a browser behind 20 Mbit/s waits 0.3 s longer for its first picture.
"""

from __future__ import annotations

import asyncio
import gzip
import re
from collections.abc import Collection
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MOST_BYTES = 1 << 26
_SAID = ("content-type", "cache-control", "etag", "last-modified")
# What a browser says that would make an answer fit for it alone.
_CONDITIONS = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}


@dataclass(frozen=True)
class Answer:
    """What an app answers to any browser, the first time and whole.

    Attributes:
        status: HTTP status.
        headers: Its headers.
        body: As it is.
        packed: Gzipped; empty if that saves nothing.
    """

    status: int
    headers: Headers
    body: bytes
    packed: bytes = b""

    @property
    def is_html(self) -> bool:
        """Whether it is a page: what Streamlit does not have, it answers with one."""
        return self.headers.get("content-type", "").startswith("text/html")

    @property
    def is_file(self) -> bool:
        """Whether it is what was asked for."""
        return self.status == 200 and not self.is_html

    def to(self, asked: Headers) -> Response:
        """The response to a browser that asks with these headers."""
        said = {name: self.headers[name] for name in _SAID if name in self.headers}
        said["vary"] = "Accept-Encoding"
        if tag := said.get("etag", "").removeprefix("W/"):
            said["etag"] = f"W/{tag}"  # weak: the same for both encodings
            known = asked.get("if-none-match", "").split(",")
            if tag in (one.strip().removeprefix("W/") for one in known):
                return Response(status_code=304, headers=said)
        if not self.packed or "gzip" not in asked.get("accept-encoding", ""):
            return Response(self.body, self.status, said)
        return Response(self.packed, self.status, said | {"content-encoding": "gzip"})

    def as_it_came(self) -> Response:
        """The response with every header of the app, for what is neither a page nor kept."""
        response = Response(self.body, self.status)
        response.raw_headers = self.headers.raw
        return response


async def answer(app: ASGIApp, scope: Scope, receive: Receive) -> Answer:
    """What the app answers, without any condition of the browser."""
    asked = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
    status, headers, body = 0, Headers(), bytearray()

    async def take(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], Headers(raw=message["headers"])
        body.extend(message.get("body", b""))

    # Asked for its headers alone, the body is the server's to leave out.
    await app({**scope, "method": "GET", "headers": asked}, receive, take)
    return Answer(status, headers, bytes(body))


def pack(body: bytes) -> bytes:
    """The body gzipped, or nothing where that saves less than a tenth."""
    packed = gzip.compress(body, 6)
    return packed if len(packed) < 0.9 * len(body) else b""


class PackedFiles:
    """ASGI middleware that keeps what is found in some folders.

    Args:
        app: Answers the first visitor.
        folders: Paths with a slash at both ends, whose files stay the same while the app runs.
    """

    def __init__(self, app: ASGIApp, folders: Collection[str]) -> None:
        self._app = app
        # Plain names only: other spellings of one path would be kept beside it.
        self._path = re.compile(rf"({'|'.join(map(re.escape, folders))})\w[\w.-]*")
        self._kept: dict[str, Answer] = {}
        self._size = 0
        self._first = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Headers(scope=scope) if scope["type"] == "http" else Headers()
        path = scope.get("path", "")
        if scope.get("method") != "GET" or "range" in asked or not self._path.fullmatch(path):
            return await self._app(scope, receive, send)
        if not (found := self._kept.get(path)):
            async with self._first:  # of visitors that come at once, one has it read and packed
                found = self._kept.get(path) or await self._read(path, scope, receive)
        response = found.to(asked) if found.is_file else found.as_it_came()
        await response(scope, receive, send)

    async def _read(self, path: str, scope: Scope, receive: Receive) -> Answer:
        found = await answer(self._app, scope, receive)
        if not found.is_file:
            return found
        packed = await run_in_threadpool(pack, found.body)
        found = Answer(found.status, found.headers, found.body, packed)
        self._size += len(found.body) + len(packed)
        # A disk that takes capitals for small letters has a file under many names.
        if self._size < _MOST_BYTES:
            self._kept[path] = found
        return found
