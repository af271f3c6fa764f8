"""The task that a worker runs now, and the one that was interrupted.

Interrupts come by another pipe than tasks do. So one may come before its task has begun, which then
doesn't run; or after its end, when another may run that nobody has interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class RunningTask:
    """The number of the task that runs: an interrupt is for one task, and for no other."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._number: int | None = None
        self._interrupted: int | None = None

    def begin(self, number: int) -> bool:
        """Whether the task `number` is to be run, which was not interrupted before."""
        with self._guard:
            self._number = number
            return self._interrupted != number

    def end(self) -> None:
        """No task runs: it can't be interrupted any more."""
        with self._guard:
            self._number = None

    def interrupt(self, number: int, stop: Callable[[], None]) -> None:
        """Call `stop` if the task `number` runs, and have it not run if it is yet to come."""
        with self._guard:
            self._interrupted = number
            if self._number == number:
                stop()
