"""Starts a web app on a free port of this machine and stops it again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serve(command: Sequence[str], port: int, health: str, log: Path) -> Iterator[str]:
    """The address of the app that ``command`` starts, once ``health`` answers."""
    address = f"http://127.0.0.1:{port}"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=os.environ.copy()
        )
        try:
            for _ in range(600):
                if process.poll() is not None:
                    raise RuntimeError(f"{command[0]} ended: {log.read_text()}")
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(address + health, timeout=1).close()
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError(f"{command[0]} did not answer: {log.read_text()}")
            yield address
        finally:
            process.terminate()
            process.wait(10)


@contextlib.contextmanager
def posviz(log: Path, script: str = "app.py") -> Iterator[str]:
    """The address of a new server on which no page has been opened yet."""
    port = free_port()
    command = [
        sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.fileWatcherType", "none",
    ]  # fmt: skip
    with serve(command, port, "/_stcore/health", log) as address:
        yield address
