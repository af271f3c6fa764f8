"""One statement at work: its step shown after a second, stopped by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dpsql.report.terminal.progress import Watch

Result = TypeVar("Result")


class Work:
    """Watches one piece of work after the other. A session tells `step` where it is."""

    def __init__(self) -> None:
        self._watch = Watch()

    def step(self, name: str) -> None:
        """Take note of the step that begins."""
        self._watch.step(name)

    def run(self, work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
        """What `work` returns or raises; raises `Cancelled` after Ctrl-C."""
        self._watch = Watch()
        return self._watch.run(work, interrupt)
