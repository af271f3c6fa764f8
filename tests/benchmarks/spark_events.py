"""What Spark's event log says of a statement: bytes that were shuffled, tasks, and their times."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_QUIET_SECONDS: Final = 1.0
"""The log is whole once it hasn't grown for so long."""


@dataclass
class Work:
    """What a statement's tasks did; bytes are of all of them together.

    `peak` is the most memory that one task took for its hash tables and sorts; `skew` is how many
    times longer than the median of its stage the longest task of more than a second took.
    """

    seconds: float = 0.0
    processor: float = 0.0
    read: int = 0
    shuffled: int = 0
    rows_shuffled: int = 0
    spilled: int = 0
    peak: int = 0
    tasks: int = 0
    skew: float = 1.0
    _stages: dict[int, list[float]] = field(default_factory=dict, repr=False)

    def add(self, event: dict[str, Any]) -> None:
        """Count a task that ended."""
        metrics = event.get("Task Metrics")
        if event.get("Event") != "SparkListenerTaskEnd" or metrics is None:
            return
        written = metrics["Shuffle Write Metrics"]
        self.tasks += 1
        self.processor += metrics["Executor CPU Time"] / 1e9
        self.read += metrics["Input Metrics"]["Bytes Read"]
        self.shuffled += written["Shuffle Bytes Written"]
        self.rows_shuffled += written["Shuffle Records Written"]
        self.spilled += metrics["Disk Bytes Spilled"]
        self.peak = max(self.peak, metrics.get("Peak Execution Memory", 0))
        own = self._stages.setdefault(event["Stage ID"], [])
        own.append(metrics["Executor Run Time"] / 1000)
        if max(own) > 1:
            self.skew = max(self.skew, max(own) / max(statistics.median(own), 0.001))


class EventLog:
    """The log of a server that one statement at a time runs on, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._position: dict[Path, int] = {}

    def work(self, statement: Callable[[], object]) -> Work:
        """What `statement` had Spark do."""
        self._rest()
        began = time.perf_counter()
        statement()
        done = Work(time.perf_counter() - began)
        for line in self._rest():
            done.add(json.loads(line))
        return done

    def _rest(self) -> list[str]:
        """The lines that were written since it was asked last."""
        lines: list[str] = []
        quiet = time.monotonic()
        while time.monotonic() - quiet < _QUIET_SECONDS:
            new = [line for file in sorted(self._files()) for line in self._new(file)]
            if new:
                lines += new
                quiet = time.monotonic()
            time.sleep(_QUIET_SECONDS / 5)
        return lines

    def _files(self) -> Iterator[Path]:
        yield from self._folder.rglob("events_*")

    def _new(self, file: Path) -> list[str]:
        with file.open("rb") as stream:
            stream.seek(self._position.get(file, 0))
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._position[file] = self._position.get(file, 0) + len(whole) + len(newline)
        return whole.decode().splitlines()
