"""Whether this thread may wait: for a disk, a lock, a proof, or another process.

An event loop may not: while it waits, nobody is answered. What is there already it may give out; at
the first step that could take long, `WouldWait` is raised, before anything was charged or written,
and a thread that may wait begins anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_thread = threading.local()


class WouldWait(Exception):
    """What is asked for isn't there at once."""


def may_wait() -> bool:
    """Whether this thread may wait now."""
    return not getattr(_thread, "hurries", False)


def check_may_wait() -> None:
    """Raises WouldWait unless this thread may wait."""
    if not may_wait():
        raise WouldWait


@contextmanager
def without_waiting() -> Iterator[None]:
    """Within it, this thread may not wait."""
    _thread.hurries = True
    try:
        yield
    finally:
        _thread.hurries = False
