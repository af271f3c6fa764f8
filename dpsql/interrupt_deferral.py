"""Ctrl-C waits for the end of what must not be left halfway.

Python hands a signal to the main thread between any two steps of it: a lock may be taken by then,
and the block that would release it not yet begun.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

Handler = Callable[[int, FrameType | None], object]


class InterruptDeferral:
    """Within it, a Ctrl-C waits: it is raised as it ends, and anyway in the main thread alone."""

    def __init__(self) -> None:
        self._handler: Handler | None = None
        self._came = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):  # else it ends the process, or nothing
            self._handler = handler
            signal.signal(signal.SIGINT, self._keep)

    def __exit__(self, *_: object) -> None:
        handler = self._handler
        if handler is None:
            return
        signal.signal(signal.SIGINT, handler)
        if self._came:
            handler(signal.SIGINT, None)

    def _keep(self, _: int, frame: FrameType | None) -> None:
        del frame
        self._came = True
