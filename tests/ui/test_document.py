"""What a browser loads before the app speaks: the document, the styles, files from memory."""

from __future__ import annotations

import asyncio
import gzip
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from streamlit.file_util import get_static_dir

from posviz.figures import style
from posviz.ui import document, live, packed
from posviz.ui.packed import PackedFiles

INDEX = Path(get_static_dir()) / "index.html"


def started(*routes: Route) -> TestClient:
    """An app like Streamlit's, which answers what it does not have with its page."""

    def page(request: Request) -> Response:
        return FileResponse(INDEX)

    everything = [document.ROUTE, *live.ROUTES, *routes, Route("/{path:path}", page)]
    own = [Middleware(document.Document), Middleware(PackedFiles, [*document.FOLDERS, "/kept/"])]
    return TestClient(Starlette(routes=everything, middleware=own))


@pytest.mark.parametrize(
    "path",
    ["/", "/rope", "/rope?part=decay&lang=zh", "/nowhere-at-all", "/rope.", "/rope),", "/a%20b"],
)
@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_the_document_is_streamlits_with_ours(path: str, encoding: str) -> None:
    asked = {"Accept-Encoding": encoding, "If-None-Match": "*", "Range": "bytes=0-9"}
    answer = started().get(path, headers=asked)
    assert answer.status_code == 200
    assert answer.headers.get("content-encoding", "identity") == encoding
    assert answer.headers["vary"] == "Accept-Encoding"
    # A browser that kept Streamlit's file must not be told that nothing has changed.
    assert not {"etag", "last-modified"} & set(answer.headers)
    html = answer.text
    bare = INDEX.read_text(encoding="utf-8")
    for ours in (document._BEGIN, document._END):
        assert html.count(ours) == 1
        html = html.replace(ours, "")
    assert html == bare


def test_the_document_says_where_the_server_is_before_streamlit_asks() -> None:
    html = started().get("/rope").text
    assert html.index("window.__streamlit") < html.index('<script type="module"')
    assert html.index('<div id="root">') < html.index("posviz.css") < html.index("</body>")
    assert html.index(live.SCRIPT) > html.index('src="./static/js/index')


def test_streamlit_still_reads_what_the_document_says() -> None:
    scripts = Path(get_static_dir(), "static", "js").glob("index.*.js")
    code = "".join(one.read_text(encoding="utf-8") for one in scripts)
    for name in re.findall(r"[A-Z_]{9,}", document._BEGIN) + re.findall(
        r"(allowedOrigins|useExternalAuthToken)", document._BEGIN
    ):
        assert name in code, name


def test_the_styles_come_once_and_are_those_of_all_pages() -> None:
    client = started()
    html = client.get("/").text
    found = re.search(r'<link rel="stylesheet" href="\.(/live/styles/[^"]+)"', html)
    assert found
    answer = client.get(found[1])
    assert answer.headers["content-type"].startswith("text/css")
    assert "immutable" in answer.headers["cache-control"]
    assert answer.text.startswith(style.css())
    assert ".pv-slider" in answer.text


def test_the_head_alone_is_that_of_the_document() -> None:
    client = started()
    head = client.head("/rope")
    assert head.headers == client.get("/rope").headers
    assert "etag" not in head.headers


def test_another_releases_files_are_not_kept_under_its_address() -> None:
    client = started()
    for path in ("/live/styles/0123456789ab/posviz.css", "/live/static/live/live.js"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store", path
    assert "immutable" in client.get(f"/{live.SCRIPT}").headers["cache-control"]


def test_what_is_no_page_is_left_alone() -> None:
    def file(request: Request) -> Response:
        return PlainTextResponse("<head></body>", headers={"Content-Disposition": "attachment"})

    def away(request: Request) -> Response:
        response = RedirectResponse("/rope")
        response.set_cookie("who", "me")
        return response

    client = started(Route("/media/{name}", file), Route("/page.html", file), Route("/login", away))
    answer = client.get("/login", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/rope")
    assert answer.headers["set-cookie"].startswith("who=me")
    for path in ("/media/a.csv", "/page.html"):
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.text == "<head></body>"
        assert answer.headers["content-disposition"] == "attachment"
    assert "window.__streamlit" not in client.post("/rope").text


def test_a_file_is_read_once_and_packed_once() -> None:
    read: list[str] = []

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        read.append(name)
        assert not request.headers.get("accept-encoding")
        kept = {"Cache-Control": "immutable"}
        if name == "gone.js":
            return PlainTextResponse("not here", 404)
        if name == "page.js":
            return HTMLResponse("a page")
        body = bytes(range(256)) if name == "font.woff2" else b"say(1); " * 200
        return Response(body, media_type="text/javascript", headers=kept)

    client = started(Route("/kept/{name:path}", file))
    for _ in range(3):
        for encoding in ("gzip", "br", "identity"):
            answer = client.get("/kept/a-1.js", headers={"Accept-Encoding": encoding})
            assert answer.content == b"say(1); " * 200  # unpacked by the client
            is_packed = answer.headers.get("content-encoding") == "gzip"
            assert is_packed == (encoding == "gzip")
            assert answer.headers["cache-control"] == "immutable"
            assert answer.headers["vary"] == "Accept-Encoding"
        assert client.get("/kept/font.woff2").headers.get("content-encoding") is None
        assert client.get("/kept/gone.js").status_code == 404
        assert client.get("/kept/page.js").text == "a page"
        # Parts of a file, other spellings of its path, other folders.
        client.get("/kept/a-1.js", headers={"Range": "bytes=0-3", "Accept-Encoding": ""})
        client.get("/kept/x/a-1.js", headers={"Accept-Encoding": ""})
        client.get("/kept/.//a-1.js", headers={"Accept-Encoding": ""})
    assert (read.count("a-1.js"), read.count("font.woff2")) == (1 + 3, 1)
    assert (read.count("gone.js"), read.count("page.js")) == (3, 3)
    assert len(read) == 1 + 3 + 1 + 3 + 3 + 3 + 3


def test_visitors_that_come_at_once_wait_for_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        read.append(scope["path"])
        await asyncio.sleep(0.01)
        body = Response(b"say(1); " * 200, media_type="text/javascript")
        await body(scope, receive, send)

    files = PackedFiles(app, ["/kept/"])
    sent: list[bytes] = []

    async def visit(path: str) -> None:
        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            if body := message.get("body"):
                sent.append(body)

        await files({"type": "http", "method": "GET", "path": path, "headers": []}, receive, send)

    async def hall(path: str) -> None:
        await asyncio.gather(*(visit(path) for _ in range(5)))

    async def halls() -> None:
        await hall("/kept/a.js")
        assert read == ["/kept/a.js"]
        assert sent == [b"say(1); " * 200] * 5
        # What would not fit is read anew.
        monkeypatch.setattr(packed, "_MOST_BYTES", 3000)
        await hall("/kept/b.js")
        await hall("/kept/a.js")
        assert read == ["/kept/a.js", *["/kept/b.js"] * 5]

    asyncio.run(halls())


def test_posvizs_own_files_are_packed() -> None:
    client = started()
    for path in (f"/{live.SCRIPT}", "/plotly/plotly.min.js"):
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        short = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert short.content == plain.content, path
        tag = short.headers["etag"]
        assert tag.startswith('W/"')
        for known in (tag, tag[2:], f'"other", {tag}'):
            again = client.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b""), known
            assert again.headers["cache-control"] == plain.headers["cache-control"]
        assert client.get(path, headers={"If-None-Match": '"other"'}).content == plain.content
    with client.stream("GET", "/plotly/plotly.min.js") as answer:
        raw = b"".join(answer.iter_raw())
    assert len(raw) < 450_000
    assert gzip.decompress(raw) == plain.content
