"""The app's server as its machine sees it: memory, processor, open files."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

MIB = 1 << 20
_WRONG = re.compile(r"Traceback|\bERROR\b|\bCRITICAL\b|Exception in|was never awaited")


@dataclass(frozen=True)
class Sample:
    """One look: seconds since the first, MiB of resident memory, processor seconds, counts."""

    at: float
    rss: float
    cpu: float
    threads: int
    files: int


class Watch:
    """Looks at a process once a second."""

    def __init__(self, pid: int) -> None:
        self.process = psutil.Process(pid)
        self.samples: list[Sample] = []
        self._begun = time.perf_counter()

    def look(self) -> Sample:
        """The process now, which is kept as well."""
        with self.process.oneshot():
            times = self.process.cpu_times()
            sample = Sample(
                at=time.perf_counter() - self._begun,
                rss=self.process.memory_info().rss / MIB,
                cpu=times.user + times.system,
                threads=self.process.num_threads(),
                files=self.process.num_fds(),
            )
        self.samples.append(sample)
        return sample

    async def stay(self) -> None:
        """Looks until it is cancelled."""
        while True:
            self.look()
            await asyncio.sleep(1)


def wrong_lines(log: Path) -> list[str]:
    """Lines of the server's log that should not be there."""
    return [line for line in log.read_text(errors="replace").splitlines() if _WRONG.search(line)]
