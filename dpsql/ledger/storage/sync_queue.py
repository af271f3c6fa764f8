"""The thread of a process that waits for disks: who asks for a sync that hasn't begun shares it.

What was written to a file before it was asked for is on disk once the future is done, since the
sync begins afterwards. So statements that are charged at the same time wait for one sync.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path


class SyncQueue:
    """Files that wait to be synced, one after the other."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: dict[Path, Future[None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="dpsql sync")

    def sync(self, path: Path) -> Future[None]:
        """Begins a sync of the file `path`; the future has the OSError if it fails."""
        with self._guard:
            if path not in self._waiting:
                try:
                    self._waiting[path] = self._thread.submit(self._run, path)
                except RuntimeError:  # Python is about to end, and has no threads any more
                    return _synced(path)
            return self._waiting[path]

    def _run(self, path: Path) -> None:
        with self._guard:
            # What is written from here on may come too late for this sync.
            del self._waiting[path]
        sync_file(path)


def _synced(path: Path) -> Future[None]:
    done: Future[None] = Future()
    try:
        sync_file(path)
    except OSError as error:
        done.set_exception(error)
    else:
        done.set_result(None)
    return done


def sync_file(path: Path) -> None:
    """Syncs the content of the file `path` to disk, whoever wrote it."""
    with path.open("r+b", buffering=0) as file:  # Windows syncs only what may be written
        os.fsync(file.fileno())


_queue = SyncQueue()


def begin_sync(path: Path) -> Future[None]:
    """Begins a sync of the file `path`, in the process's own queue."""
    return _queue.sync(path)


def _renew() -> None:
    global _queue  # noqa: PLW0603 - a forked process has its parent's queue, and not its thread
    _queue = SyncQueue()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
