"""Ctrl-C waits for the end of what must not be left halfway.

Python hands a signal to the main thread between any two steps of it: a lock may be taken by then,
and the block that would release it not yet begun.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # typeshed doesn't have it
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

Handler = Callable[[int, FrameType | None], object]

# `signal` looks a handler up among names for integers: Python 3.11 raises and catches three errors
# each time, so that all of it takes 60 µs where an engine has had the processor's cache.
_handler_of: Final[Callable[[int], object]] = _signal.getsignal
_handle: Final[Callable[[int, Handler], object]] = _signal.signal


class InterruptDeferral:
    """Within it, a Ctrl-C waits: it is raised as it ends, and anyway in the main thread alone."""

    def __init__(self) -> None:
        self._handler: Handler | None = None
        self._came = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        handler = _handler_of(signal.SIGINT)
        if callable(handler):  # else it ends the process, or nothing
            self._handler = handler
            _handle(signal.SIGINT, self._keep)

    def __exit__(self, *_: object) -> None:
        handler = self._handler
        if handler is None:
            return
        _handle(signal.SIGINT, handler)
        if self._came:
            handler(signal.SIGINT, None)

    def _keep(self, _: int, frame: FrameType | None) -> None:
        del frame
        self._came = True
