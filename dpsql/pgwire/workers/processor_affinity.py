"""Threads that share the server's interpreter stay on one processor; workers have all of them.

Of these threads one computes at a time, and a statement passes through several. Where the next one
goes on on another processor, what it reads isn't in the caches there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final


def _allowed() -> frozenset[int]:
    """The processors that this thread may use; none where a system doesn't let it choose."""
    return frozenset(os.sched_getaffinity(0) if sys.platform == "linux" else ())


_ALL: Final = _allowed()
"""Those that the process may use, as it was started."""


def stay_on_one() -> None:
    """Keep this thread, and those that it starts, on one processor.

    By its process's number, so that several servers of a machine aren't all on the same one.
    """
    if _ALL:
        _stay_on(frozenset({sorted(_ALL)[os.getpid() % len(_ALL)]}))


@contextmanager
def on_all() -> Iterator[None]:
    """Let this thread use all processors meanwhile: a process that it starts may use the same."""
    before = _allowed()
    _stay_on(_ALL)
    try:
        yield
    finally:
        _stay_on(before)


def _stay_on(processors: frozenset[int]) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # where a system forbids it, all is answered, later
            os.sched_setaffinity(0, processors)
