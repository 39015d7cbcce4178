"""The document in which the app starts: Streamlit's HTML, with what can be said before it runs.

- Where the server is. Streamlit would ask whether it is at ``/rope/``, then whether at ``/``, and
  speak to it when both have answered.
- The styles of all pages. Said by each page's script they would be 120 kB of every run, sanitized
  each time; a file whose address changes with it comes once. It is named after Streamlit's root:
  what Streamlit adds to the head comes later than anything there, and would win.
- The browser's half, once Streamlit's own has begun: it comes while the server draws the page.
"""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from posviz.figures import style
from posviz.ui import live
from posviz.ui.packed import Answer, answer, pack

_STYLES = style.css() + (Path(__file__).parent / "static" / "live.css").read_text(encoding="utf-8")
_VERSION = hashlib.sha256(_STYLES.encode()).hexdigest()[:12]
_FOLDER = f"/live/styles/{_VERSION}/"


def _styles(request: Request) -> Response:
    said = live.keeping(request.path_params["version"] == _VERSION)
    return Response(_STYLES, media_type="text/css", headers=said)


ROUTE = Route("/live/styles/{version}/posviz.css", _styles)
"""The colours and the rules of all pages."""

FOLDERS = (
    "/static/js/", "/static/css/", "/static/media/", "/plotly/", _FOLDER,
    f"/{live.SCRIPT.rpartition('/')[0]}/",
)  # fmt: skip
"""Where every visitor's files are, which stay the same while the app runs."""

# A frame on another site may be spoken to by that site, if the server's answer allows it.
_BEGIN = """<script>
  window.__streamlit ??= {
    BACKEND_BASE_URL: new URL("./", location.href).href,
    ...(parent === window && {
      HOST_CONFIG: { allowedOrigins: [location.origin], useExternalAuthToken: false },
    }),
  };
</script>"""
_END = f"""<link rel="stylesheet" href=".{_FOLDER}posviz.css">
<script type="module">import("./{live.SCRIPT}");</script>
"""


# Pages are one folder below the app, whatever a mail program has added to their name.
_PAGE = re.compile(r"/[^/]*")


@functools.lru_cache(maxsize=4)
def _completed(html: bytes) -> tuple[bytes, bytes]:
    """Streamlit's HTML with ours, as it is and gzipped."""
    whole = html.replace(b"<head>", b"<head>" + _BEGIN.encode(), 1)
    whole = whole.replace(b"</body>", _END.encode() + b"</body>", 1)
    return whole, pack(whole)


class Document:
    """ASGI middleware that completes the HTML of pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") not in ("GET", "HEAD") or not _PAGE.fullmatch(scope["path"]):
            return await self._app(scope, receive, send)
        found = await answer(self._app, scope, receive)
        response = found.as_it_came()
        if found.is_html:
            # Without Streamlit's marks of its file, by which a browser that has it would keep it.
            about = Headers(
                {"content-type": found.headers["content-type"], "cache-control": "no-cache"}
            )
            completed = Answer(found.status, about, *_completed(found.body))
            response = completed.to(Headers(scope=scope))
        await response(scope, receive, send)
