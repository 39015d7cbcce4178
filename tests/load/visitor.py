"""A visitor as the server meets one: a Streamlit session, and what the page's browser code asks.

The websocket carries Streamlit's own messages: a run of the page on arrival, the anchor's message
after a release. While a handle is held, the visitor asks ``/live/view/NAME`` as ``static/view.js``
does: one question on its way, the newest value follows. Nothing is drawn; what a visitor's own
machine needs for that comes on top.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.load.hand import Handle

POINTER = 1 / 60  # seconds between two events of a pointer, and the least between two questions
CONNECTIONS = 6  # that a browser opens to one server
REST = 0.16  # seconds without a new value before the slow route is asked
PATIENCE = 30  # seconds until what did not come counts as lost
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_"  # how Streamlit names the triggers of a component


class LostError(Exception):
    """What a visitor asked for did not come, or came wrong."""


@dataclass
class Times:
    """Seconds that visitors waited, by what for, and what went wrong.

    Attributes:
        felt: From each movement of the pointer to the first answer that shows it or a newer one.
        answer: From a question to its answer.
        release: From letting go until the page has taken the values up.
        arrival: From opening the websocket until the page has run.
        measured: From the question to the last picture of what is slow.
        loaded: From the first question of an empty browser until it has all files and the page.
        problems: Sentences; empty if nothing was lost.
    """

    felt: list[float] = field(default_factory=list)
    answer: list[float] = field(default_factory=list)
    release: list[float] = field(default_factory=list)
    arrival: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)
    loaded: list[float] = field(default_factory=list)
    bytes: int = 0
    problems: list[str] = field(default_factory=list)


class Visitor:
    """One tab on one page of the app."""

    def __init__(
        self,
        web: aiohttp.ClientSession,
        address: str,
        page: str,
        query: str,
        times: Times,
        track: int,
    ) -> None:
        self.web, self.address, self.page, self.query, self.times = web, address, page, query, times
        self.track = track  # pixels that a slider has on this visitor's screen
        self.handles: dict[str, Handle] = {}
        self.base = dict(parse_qsl(query))  # Streamlit's state, without defaults
        self.moved: dict[str, str] = {}  # what it has not taken up yet
        self.measures = False
        self._hashes: dict[str, list[int]] = {}  # place -> what it shows, for X-Known
        self._cached: dict[str, ForwardMsg] = {}
        self._anchor = ""
        self._fragment = ""
        self._script = ""
        self._message = 0
        self._heard: dict[int, float] = {}  # message that was told and not heard back, and when
        self._held = False
        self._finished = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None
        self._measuring: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------ the session

    async def arrive(self) -> None:
        """Opens the session and waits until the page has run."""
        begun = time.perf_counter()
        self._socket = await self.web.ws_connect(
            f"{self.address}/_stcore/stream", protocols=("streamlit",), max_msg_size=0, compress=0
        )
        self._listener = asyncio.create_task(self._listen())
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        await self._send(message)
        await self._within(self._finished.wait(), "page")
        self.times.arrival.append(time.perf_counter() - begun)
        if not self.handles:
            raise LostError(f"{self.page} came without handles")

    async def load(self, files: Sequence[str]) -> None:
        """Arrives with an empty browser, which asks for these files first."""
        begun = time.perf_counter()
        free = asyncio.Semaphore(CONNECTIONS)

        async def one(file: str) -> None:
            async with free, self.web.get(self.address + file) as response:
                await response.read()
                if response.status != 200:
                    raise LostError(f"{file} answered {response.status}")

        await self._within(asyncio.gather(*map(one, files)), "files")
        await self.arrive()
        self.times.loaded.append(time.perf_counter() - begun)

    async def leave(self) -> None:
        """Closes the tab."""
        for task in (self._measuring, self._listener):
            if task:
                task.cancel()
        await self._socket.close()

    async def _send(self, message: BackMsg) -> None:
        run = message.rerun_script
        run.context_info.url = f"{self.address}/{self.page}"
        run.context_info.timezone, run.context_info.locale = "UTC", "en-US"
        run.cached_message_hashes.extend(self._cached)
        await self._socket.send_bytes(message.SerializeToString())

    async def _within(self, awaited: Any, what: str) -> Any:
        try:
            return await asyncio.wait_for(awaited, PATIENCE)
        except TimeoutError:
            raise LostError(f"{what} of {self.page} did not come in {PATIENCE} s") from None

    async def _listen(self) -> None:
        try:
            async for frame in self._socket:
                if frame.type is aiohttp.WSMsgType.BINARY:
                    self._hear(ForwardMsg.FromString(frame.data))
            self.times.problems.append(f"{self.page}: the server closed the session")
        except (LostError, aiohttp.ClientError, ValueError) as problem:
            self.times.problems.append(f"{self.page}: {problem!r}")

    def _hear(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            message = self._cached[message.ref_hash]
            kind = message.WhichOneof("type")
        elif message.metadata.cacheable:
            self._cached[message.hash] = message
        if kind == "navigation":  # a run before it does not know yet which page it is
            self._script = message.navigation.page_script_hash
        elif kind == "delta":
            self._fragment = message.delta.fragment_id or self._fragment
            element = message.delta.new_element
            if element.HasField("bidi_component"):
                self._place(element.bidi_component)
            elif element.HasField("exception"):
                raise LostError(f"the page says {element.exception.message}")
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                raise LostError("the page does not compile")
            self._finished.set()

    def _place(self, component: Any) -> None:
        """Takes up one of the page's components, as its JavaScript does."""
        told = json.loads(component.json or component.mixed.json)
        match component.component_name.rpartition("posviz_")[2]:
            case "slider" if not told["disabled"] and told["high"] > told["low"]:
                self.handles[told["name"]] = Handle(
                    *(told[key] for key in ("name", "low", "high", "step", "scale"))
                )
            case "chart" | "markup" if told["view"] == self.page:
                self._known(told["key"], told["payload"])
            case "anchor":
                self._anchor = f"{_EVENTS}{component.id}__events"
                self.measures = told["measures"]
                self.base = dict(parse_qsl(told["address"]))
                for number in [n for n in self._heard if n <= told["message"]]:
                    self.times.release.append(time.perf_counter() - self._heard.pop(number))
                if not self._heard and not self._held:
                    self.moved.clear()

    # --------------------------------------------------------------------------- the hand

    def _known(self, place: str, payload: dict[str, Any]) -> None:
        if "markup" not in payload and "figure" not in payload:
            return  # the name of what is here already
        rasters = payload.get("rasters", {}).values()
        self._hashes[place] = [payload["hash"], *(raster["hash"] for raster in rasters)]

    async def ask(self, handle: Handle, value: float) -> None:
        """Asks for the pictures at this value, and checks that the answer is whole and its own."""
        self.moved[handle.name] = f"{value:.12g}"
        query = urlencode(self.base | self.moved)
        known = ",".join(str(one) for hashes in self._hashes.values() for one in hashes)
        begun = time.perf_counter()
        async with self.web.get(
            f"{self.address}/live/view/{self.page}?{query}", headers={"X-Known": known}
        ) as response:
            body = await response.read()
            self.times.bytes += response.content_length or len(body)
            if response.status != 200:
                raise LostError(f"{self.page}?{query} answered {response.status}")
        self.times.answer.append(time.perf_counter() - begun)
        answer = json.loads(body)
        if not math.isclose(answer["handles"][handle.name][0], value, rel_tol=1e-9):
            raise LostError(f"{self.page}?{query} answered for {answer['address']}")
        for place, payload in answer["slots"].items():
            self._known(place, payload)
        for name, (_, high) in answer["handles"].items():
            if name in self.handles and self.handles[name].high != high:
                self.handles[name] = replace(self.handles[name], high=high)

    async def drag(self, handle: Handle, seconds: float, phase: float) -> None:
        """Holds the handle that long while it sweeps, then lets go."""
        if self._measuring:
            self._measuring.cancel()
        self._held = True
        begun = time.perf_counter()
        answered, shown, value = 0, math.nan, math.nan  # the last event that is answered
        while (now := time.perf_counter()) < begun + seconds:
            event = int((now - begun) / POINTER)
            newest = handle.sweep(event * POINTER, phase, self.track)
            if event == answered or newest == shown:
                answered = event
                await asyncio.sleep(begun + (event + 1) * POINTER - now)
                continue
            await self._within(self.ask(handle, newest), "answer")
            come = time.perf_counter()
            for one in range(answered + 1, event + 1):
                value, before = handle.sweep(one * POINTER, phase, self.track), value
                if value != before:
                    self.times.felt.append(come - begun - one * POINTER)
            answered, shown = event, newest
        self._held = False
        await self.release()

    async def release(self) -> None:
        """Tells Streamlit what came to rest, as the page's anchor does."""
        if not self.moved:
            return
        self._message += 1
        self._heard[self._message] = time.perf_counter()
        message = BackMsg()
        run = message.rerun_script
        run.query_string = urlencode(self.base)
        run.page_script_hash, run.fragment_id = self._script, self._fragment
        told = {"values": self.moved, "message": self._message}
        moved = run.widget_states.widgets.add(id=self._anchor)
        moved.json_trigger_value = json.dumps([{"event": "moved", "value": told}])
        await self._send(message)
        if self.measures:
            query = urlencode(self.base | self.moved)
            self._measuring = asyncio.create_task(self._measure(query))

    async def _measure(self, query: str) -> None:
        await asyncio.sleep(REST)
        begun = time.perf_counter()
        lines = []
        async with self.web.get(f"{self.address}/live/measure/{self.page}?{query}") as response:
            async for line in response.content:
                lines.append(json.loads(line))
        if not lines or lines[-1] is not None:
            self.times.problems.append(f"{self.page}: what was measured ended early")
        self.times.measured.append(time.perf_counter() - begun)

    async def settle(self) -> None:
        """Waits until the page has taken up all that was told, and measured what it should."""
        for _ in range(PATIENCE * 100):
            if not self._heard and (self._measuring is None or self._measuring.done()):
                return
            await asyncio.sleep(0.01)
        self.times.problems.append(f"{self.page} did not come to rest in {PATIENCE} s")

    async def drag_on(self, until: float, chance: random.Random) -> None:
        """Drags one handle after the other, with short rests, until this time."""
        names = sorted(self.handles)
        try:
            while (left := until - time.perf_counter()) > 0:
                handle = self.handles[chance.choice(names)]
                await self.drag(handle, min(chance.uniform(3, 8), left), chance.random())
                rest = chance.uniform(0.2, 0.8)
                await asyncio.sleep(max(min(rest, until - time.perf_counter()), 0))
        except (LostError, aiohttp.ClientError, ValueError, KeyError) as problem:
            self.times.problems.append(f"{self.page}: {problem!r}")
