"""Two posviz processes behind nginx, as compose.yaml runs them; one of them is killed."""

from __future__ import annotations

import gzip
import json
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any

import pytest
from playwright.sync_api import Browser, WebSocket

from posviz.ui import site
from tests.e2e.conftest import WIDE, Visit
from tests.hosting.conftest import NGINX, Front, Hall

pytestmark = [
    pytest.mark.hosting,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed; `make hosting` installs it"),
]

PAGES = [page.name for group in site.GROUPS for page in group.pages]
LINK = "/playground?position=300&head=5"


def answer(address: str, **headers: str) -> HTTPResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = urllib.request.urlopen(urllib.request.Request(address, headers=named), timeout=120)
    assert isinstance(response, HTTPResponse)
    return response


def lines(front: Front, name: str, count: int) -> list[str]:
    """Lines of nginx's log with that name; each is written once its answer has gone."""
    found: list[str] = []
    for _ in range(50):
        log = (front.folder / "access.log").read_text().splitlines()
        found = [line for line in log if name in line]
        if len(found) >= count:
            break
        time.sleep(0.1)
    assert len(found) == count
    return found


# ----------------------------------------------------------------- before anyone opened a page


@pytest.mark.parametrize("page", PAGES)
def test_a_process_that_nobody_has_visited_draws_every_page(hall: Hall, page: str) -> None:
    """A visitor whose process died goes on dragging at one that has not seen the page."""
    for one in hall.replicas:
        with answer(f"http://{one.name}/live/view/{page}") as response:
            assert json.load(response)["slots"]


def test_visitors_from_one_address_are_spread_over_both_processes(hall: Hall) -> None:
    words = []
    for _ in range(200):
        with answer(f"{hall.front.address}/") as first:
            word, *rest = first.headers["Set-Cookie"].split("; ")
        assert rest == ["Path=/", "HttpOnly", "SameSite=Lax"]
        words.append(word.partition("=")[2])
        with answer(f"{hall.front.address}/rope", Cookie=word) as second:
            assert second.headers["Set-Cookie"] is None
    assert len(set(words)) == 200
    lines(hall.front, words[-1], 1)
    by_replica = Counter(hall.front.requests(word)[0].replicas for word in words)
    assert len(by_replica) == 2
    assert min(by_replica.values()) > 60


def test_a_browser_without_cookies_stays_with_one_process(hall: Hall) -> None:
    """In a frame on another site many browsers take none."""
    for _ in range(20):
        answer(f"{hall.front.address}/compare", User_Agent="Frame").close()
    lines(hall.front, "/compare", 20)
    asked = [one.replicas for one in hall.front.requests() if one.path == "/compare"]
    assert len(asked) == 20
    assert len(set(asked)) == 1


def test_over_tls_the_cookie_also_holds_in_a_frame_on_another_site(hall: Hall) -> None:
    with answer(f"{hall.front.address}/", X_Forwarded_Proto="https") as response:
        assert response.headers["Set-Cookie"].endswith("SameSite=None; Secure; Partitioned")


def test_scripts_are_packed_once_for_all_visitors(hall: Hall) -> None:
    script = f"{hall.below.address}/plotly/plotly.min.js"
    with answer(script) as response:
        whole = response.read()
    for _ in range(3):
        with answer(script, Accept_Encoding="gzip") as response:
            packed = response.read()
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["Cache-Control"] == "public, max-age=86400"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert gzip.decompress(packed) == whole
    assert len(packed) < len(whole) / 3
    with pytest.raises(urllib.error.HTTPError, match="304"):
        answer(script, If_None_Match=response.headers["ETag"])
    asked = [line.split()[4] for line in lines(hall.below, "plotly.min.js", 5)]
    assert sorted(asked)[:4] == ["-"] * 4  # but for the first, nginx has it


def test_pictures_are_packed_on_their_way(hall: Hall) -> None:
    picture = f"{hall.front.address}/live/view/playground"
    with answer(picture) as response:
        whole = response.read()
    with answer(picture, Accept_Encoding="gzip") as response:
        packed = response.read()
    assert response.headers["Content-Encoding"] == "gzip"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'self';")
    assert gzip.decompress(packed) == whole
    assert len(packed) < len(whole) / 1.5


def test_the_log_has_neither_addresses_nor_what_a_visitor_typed(hall: Hall) -> None:
    answer(f"{hall.front.address}/live/view/order?sentence=unmistakable").close()
    (log,) = lines(hall.front, "/live/view/order", 1)
    assert "unmistakable" not in log


# ------------------------------------------------------------------------------------- visits


@dataclass
class Guest:
    """A browser of its own at the playground, at one of the processes."""

    tab: Visit
    front: Front
    sockets: list[WebSocket] = field(default_factory=list)
    closed: list[WebSocket] = field(default_factory=list)

    def open(self, link: str) -> None:
        self.tab.page.on("websocket", self._opened)
        self.tab.open(link)
        self.tab.page.evaluate("window.untouched = true")

    def _opened(self, socket: WebSocket) -> None:
        self.sockets.append(socket)
        socket.on("close", lambda _: self.closed.append(socket))

    @property
    def word(self) -> str:
        (cookie,) = [one for one in self.tab.page.context.cookies() if "visitor" in one["name"]]
        return cookie["value"]

    @property
    def replicas(self) -> set[str]:
        return {name for one in self.front.requests(self.word) for name in one.replicas}

    def settled(self) -> dict[str, Any]:
        """What the page shows, once it stays: handles, pictures, address."""
        state: dict[str, Any] = {}
        for _ in range(60):
            before, state = state, self._state
            if state == before:
                break
            self.tab.page.wait_for_timeout(1000)
        return state

    @property
    def _state(self) -> dict[str, Any]:
        return self.tab.page.evaluate(
            """() => ({
              search: location.search,
              handles: [...document.querySelectorAll(".pv-slider input[type=range]")]
                .map((one) => one.getAttribute("aria-valuetext")),
              // Without what was drawn by hand while values moved; Plotly's is there now.
              pictures: [...document.querySelectorAll("[data-key]")].map((one) => {
                const copy = one.cloneNode(true);
                for (const hand of copy.querySelectorAll(".pv-quick")) hand.remove();
                const paths = [...copy.querySelectorAll("svg:not(.main-svg) path, .js-line")];
                const drawn = paths.map((path) => path.getAttribute("d"));
                return [one.dataset.key, copy.textContent.trim(), drawn];
              }),
            })"""
        )

    def drag(self, start: float, end: float) -> int:
        """Drags the position; how many pictures followed while the mouse was down."""
        before = self._drawn
        self.tab.drag("position", start, end, steps=20)
        return self._drawn - before

    @property
    def _drawn(self) -> int:
        asked = [one for one in self.front.requests(self.word) if "/live/view/" in one.path]
        assert {one.status for one in asked} <= {"200"}
        return len(asked)


@pytest.fixture(scope="module")
def guests(hall: Hall, browser: Browser) -> Iterator[list[Guest]]:
    """At least two at each process."""
    opened: list[Guest] = []
    while len(opened) < 16:
        context = browser.new_context(viewport=WIDE)
        guest = Guest(Visit(context.new_page(), hall.front.address), hall.front)
        guest.open(LINK)
        opened.append(guest)
        at = Counter(name for one in opened for name in one.replicas)
        if len(at) == 2 and min(at.values()) >= 2:
            break
    yield opened
    for guest in opened:
        guest.tab.page.context.close()
        assert not guest.tab.outside
        assert not guest.tab.complaints


def test_each_visit_stays_with_one_process_and_dragging_works(
    hall: Hall, guests: list[Guest]
) -> None:
    for number, guest in enumerate(guests):
        assert guest.drag(0.3, 0.5 + 0.02 * number) >= 5
        assert "position=300&" not in guest.settled()["search"]
        assert len(guest.replicas) == 1
        assert len(guest.sockets) == 1
    assert set.union(*(guest.replicas for guest in guests)) == {one.name for one in hall.replicas}


def test_a_measurement_arrives_line_by_line(hall: Hall) -> None:
    began = time.perf_counter()
    with answer(f"{hall.front.address}/live/measure/lab?factor=3&method=yarn") as response:
        arrived = [(time.perf_counter() - began, line) for line in response]
    assert arrived[-1][1] == b"null\n"
    assert len(arrived) > 2
    assert arrived[-1][0] - arrived[0][0] > 0.1  # all at once, were they held back


def test_a_visitor_has_four_measurements_at_once(hall: Hall) -> None:
    asked = f"{hall.front.address}/live/measure/lab?rope_type=yarn&seq_len=4096&factor="

    def status(n: int) -> int:
        visitor = "another" if n == 5 else "one"
        try:
            with answer(f"{asked}{n + 2}.5", Cookie=f"posviz_visitor={visitor}") as response:
                return response.status
        except urllib.error.HTTPError as refused:
            return refused.code

    with ThreadPoolExecutor(6) as visitors:
        *one, another = visitors.map(status, range(6))
    assert (sorted(one), another) == ([200, 200, 200, 200, 503], 200)


def test_below_a_path_everything_is_asked_for_there(hall: Hall, browser: Browser) -> None:
    context = browser.new_context(viewport=WIDE)
    tab = Visit(context.new_page(), hall.below.address)
    tab.open("/playground?head=5")
    tab.drag("position", 0.3, 0.6)
    tab.page.wait_for_function("location.search.includes('position')")
    tab.page.get_by_role("link", name="posviz").first.click()
    tab.page.wait_for_url(hall.below.address + "/")
    context.close()
    assert not tab.outside
    assert not tab.complaints


# -------------------------------------------------------------------------- a process is killed


def test_killing_a_process_loses_its_own_sessions_and_links_restore_them(
    hall: Hall, guests: list[Guest], browser: Browser
) -> None:
    for number, guest in enumerate(guests):
        guest.drag(0.3, 0.5 + 0.02 * number)
    before = [guest.settled() for guest in guests]
    (name,) = guests[-1].replicas
    (dead,) = [one for one in hall.replicas if one.name == name]
    (alive,) = [one for one in hall.replicas if one.name != name]
    lost = [guest for guest in guests if guest.replicas == {dead.name}]
    kept = [guest for guest in guests if guest.replicas == {alive.name}]
    assert len(lost) >= 2 <= len(kept)

    dead.kill()

    # The others notice nothing: the same document, the same websocket, and they go on.
    for guest in kept:
        assert guest.drag(0.5, 0.4) >= 5
        assert guest.tab.page.evaluate("window.untouched")
        assert len(guest.sockets) == 1
        assert not guest.closed
        assert guest.replicas == {alive.name}

    # Those who lost theirs get a new session at the other process by themselves, at what they saw.
    for guest in lost:
        assert guest.settled() == before[guests.index(guest)]
        assert len(guest.sockets) - len(guest.closed) == 1
        assert guest.tab.page.evaluate("window.untouched"), "no reload"
        assert guest.drag(0.5, 0.7) >= 5
        # The dead one is asked first where its five seconds have passed.
        assert guest.front.requests(guest.word)[-1].replicas[-1] == alive.name

    # And the link of a lost session shows it exactly, to anyone.
    state = before[-1]
    context = browser.new_context(viewport=WIDE)
    again = Guest(Visit(context.new_page(), hall.front.address), hall.front)
    again.open("/playground" + state["search"])
    assert again.settled() == state
    assert again.front.requests(again.word)[-1].replicas == (alive.name,)
    context.close()
