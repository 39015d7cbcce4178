"""Two posviz processes behind nginx on this machine, with the configuration of compose.yaml."""

from __future__ import annotations

import os
import shutil
import signal
import string
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import launch
from tests.server import ROOT, free_port, serve

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
TEMPLATE = ROOT / "deploy" / "nginx.conf.template"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "hosting: two processes behind nginx; make hosting")


@dataclass(frozen=True)
class Replica:
    """One posviz process."""

    port: int
    folder: Path

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @contextmanager
    def running(self) -> Iterator[str]:
        log = self.folder / f"{self.port}.log"
        # The shell tells its own number and becomes the process.
        command = (
            f'echo $$ >"{self._pid}"; exec "{sys.executable}" -m streamlit run app.py '
            f"--server.port {self.port} --server.address 127.0.0.1 --server.fileWatcherType none"
        )
        with serve(["sh", "-c", command], self.port, "/_stcore/health", log) as address:
            yield address

    @property
    def _pid(self) -> Path:
        return self.folder / f"{self.port}.pid"

    def kill(self) -> None:
        """Ends it as a machine that loses power does."""
        os.kill(int(self._pid.read_text()), signal.SIGKILL)


@dataclass(frozen=True)
class Request:
    """A line of nginx's log."""

    path: str
    status: str
    replicas: tuple[str, ...]  # those asked, the one that answered last
    visitor: str


@dataclass(frozen=True)
class Front:
    """nginx, as visitors see it.

    Attributes:
        address: Where the app is, with its path but no slash at the end.
        folder: Its working folder.
    """

    address: str
    folder: Path

    def requests(self, visitor: str | None = None) -> list[Request]:
        """What replicas were asked for so far; of one visitor, if given."""
        found = []
        for line in (self.folder / "access.log").read_text().splitlines():
            _, status, _, path, *replicas, _, who = line.split()
            asked = tuple(one.rstrip(",") for one in replicas if one != "-")
            packed = path.startswith(("/static/", "/plotly/", "/live/static/", "/live/styles/"))
            if asked and not packed and visitor in (None, who):
                found.append(Request(path, status, asked, who))
        return found


@contextmanager
def nginx(folder: Path, replicas: list[Replica], path: str = "/") -> Iterator[Front]:
    """nginx with the template's words filled in, before these replicas."""
    port = free_port()
    # Dollar signs that are nginx's own stay, as with envsubst.
    words = {
        "POSVIZ_LISTEN": f"127.0.0.1:{port}",
        "POSVIZ_PATH": path,
        "POSVIZ_REPLICAS": " ".join(
            f"server {one.name} max_fails=1 fail_timeout=5s;" for one in replicas
        ),
    }
    filled = string.Template(TEMPLATE.read_text(encoding="utf-8")).safe_substitute(words)
    folder.mkdir()
    (folder / "nginx.conf").write_text(filled, encoding="utf-8")
    more = f"daemon off; pid {folder}/pid;"
    if os.geteuid() == 0:  # the folder of a test is its user's own
        more += " user root;"
    command = (
        f'exec "{NGINX}" -p "{folder}/" -c nginx.conf -e stderr -g "{more}" >>"{folder}/access.log"'
    )
    health = f"{path}_stcore/health"
    with serve(["sh", "-c", command], port, health, folder / "error.log") as address:
        yield Front(address + path.rstrip("/"), folder)


@dataclass(frozen=True)
class Hall:
    """The replicas, nginx, and nginx once more with the app at ``/posviz/``."""

    replicas: list[Replica]
    front: Front
    below: Front


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("hosting")
    replicas = [Replica(free_port(), folder), Replica(free_port(), folder)]
    with ExitStack() as running:
        for one in replicas:
            running.enter_context(one.running())
        front = running.enter_context(nginx(folder / "front", replicas))
        below = running.enter_context(nginx(folder / "below", replicas, "/posviz/"))
        yield Hall(replicas, front, below)
    for one in replicas:
        assert "Traceback" not in (folder / f"{one.port}.log").read_text()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()
