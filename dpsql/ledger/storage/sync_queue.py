"""The thread of a process that waits for disks: who asks for work that hasn't begun shares it.

What was written before it was asked for is on disk once the future is done, since the work begins
afterwards. So statements that are charged at the same time wait for the disk once.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from dpsql.interrupt_deferral import InterruptDeferral

if sys.platform == "darwin":
    import fcntl


class SyncQueue:
    """Work that waits for disks, one after the other."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[Hashable, Future[None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dpsql sync")

    def begin(self, what: Hashable, work: Callable[[], None]) -> Future[None]:
        """Begins `work` for `what`; the future has its error if it fails."""
        with self._guard:
            if what not in self._waiting:
                try:
                    self._waiting[what] = self._thread.submit(self._run, what, work)
                except RuntimeError:  # Python is about to end, and has no threads any more
                    return _done(work)
            return self._waiting[what]

    def _run(self, what: Hashable, work: Callable[[], None]) -> None:
        with self._guard:
            # What is written from here on may come too late for this work.
            del self._waiting[what]
        work()


def _done(work: Callable[[], None]) -> Future[None]:
    done: Future[None] = Future()
    try:
        work()
    except Exception as error:  # noqa: BLE001 - raised by who waits
        done.set_exception(error)
    else:
        done.set_result(None)
    return done


def sync_file(path: Path) -> None:
    """Syncs the content of the file `path` to disk, whoever wrote it."""
    with path.open("r+b", buffering=0) as file:  # Windows syncs only what may be written
        if sys.platform == "darwin":
            # Its fsync leaves the data in the drive's cache.
            fcntl.fcntl(file.fileno(), fcntl.F_FULLFSYNC)
        else:
            os.fsync(file.fileno())


_queue = SyncQueue()


def begin(what: Hashable, work: Callable[[], None]) -> Future[None]:
    """Begins `work` for `what` in the process's own queue, or shares what hasn't begun for it."""
    return _queue.begin(what, work)


def await_begun() -> None:
    """Waits until all that was begun in the process is done, whatever became of it."""
    with InterruptDeferral():
        begin(object(), _nothing).exception()


def _nothing() -> None:
    """What is behind all that was begun before."""


def _renew() -> None:
    global _queue  # noqa: PLW0603 - a forked process has its parent's queue, and not its thread
    _queue = SyncQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
