"""Whose turn it is with one opening of a ledger: one thread's of the process that opened it.

SQLite's locks aren't inherited: a fork would write beside its parent, not after it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from dpsql.errors import InterfaceError
from dpsql.interrupt_deferral import InterruptDeferral
from dpsql.ledger.storage.waiting import WouldWait, may_wait

_READING_SECONDS: Final = 0.002
"""Longer than a thread reads. An event loop that waited for none would leave all answers to threads
as soon as they are many: one of them reads at any time, and what they answer isn't remembered."""


class ExclusiveUse:
    """Within it, an opening is one thread's alone, and Ctrl-C waits.

    InterfaceError if it is open here no more.
    """

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._open = True
        self._deferral = InterruptDeferral()
        """That of who uses it."""

    def __enter__(self) -> None:
        self._check_process()
        deferral = InterruptDeferral()
        deferral.__enter__()
        try:
            self._take()
        except BaseException:
            deferral.__exit__()
            raise
        self._deferral = deferral

    def __exit__(self, *_: object) -> None:
        deferral = self._deferral  # by the next one's turn it is another
        self._lock.release()
        deferral.__exit__()

    def _take(self) -> None:
        if not self._lock.acquire(timeout=-1 if may_wait() else _READING_SECONDS):
            raise WouldWait  # another thread may be waiting for a disk
        if not self._open:
            self._lock.release()
            raise _closed()

    def check(self) -> None:
        """InterfaceError if the opening is open here no more; doesn't wait for other threads."""
        self._check_process()
        if not self._open:
            raise _closed()

    @contextmanager
    def ending(self) -> Iterator[bool]:
        """Ends the use by all threads: whether this one has to close what was opened."""
        if os.getpid() != self._process:
            yield False
            return
        with InterruptDeferral(), self._lock:
            was_open, self._open = self._open, False
            yield was_open

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise InterfaceError("the ledger was opened by another process", hint="open it again")


def _closed() -> InterfaceError:
    return InterfaceError("the ledger is closed")
