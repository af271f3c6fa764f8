"""Runs one statement: its step is shown after a second, and Ctrl-C stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpsql.report.terminal.progress import Watch

Result = TypeVar("Result")


class Work:
    """Runs one piece of work after the other; a session calls `step` with each step's name."""

    def __init__(self) -> None:
        self._watch = Watch()

    def step(self, name: str) -> None:
        """Note that the step `name` begins."""
        self._watch.step(name)

    def run(self, work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
        """What `work` returns or raises; raises `Cancelled` after Ctrl-C."""
        self._watch = Watch()
        return self._watch.run(work, interrupt)
