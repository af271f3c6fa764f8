"""Work that Ctrl-C stops, though an engine runs it.

Python hands a signal to the main thread only, and not before the call that runs there returns; an
engine's call may take minutes. So work of the main thread is done in another one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Final, TypeVar

from dpsql.interrupt_deferral import InterruptDeferral
from dpsql.ledger.storage.sync_queue import await_begun
from dpsql.ledger.storage.waiting import may_wait
from dpsql.session.compile.deep_recursion import start_deep

Result = TypeVar("Result")

RUNNING: Final = "running on the data"
"""The step after the charge: what is cancelled from here on stays charged."""

_TICK_SECONDS: Final = 0.1


def interruptible(work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
    """What `work` returns or raises; Ctrl-C calls `interrupt` and waits for the end.

    A second Ctrl-C waits for the disk alone: what was charged is in the ledger once it is raised.
    """
    if threading.current_thread() is not threading.main_thread() or not may_wait():
        return work()
    outcome: Future[Result] | None = None
    try:
        with InterruptDeferral():  # work that has begun is known, and can be stopped
            outcome = start(work)
        while not is_done(outcome):
            pass
    except KeyboardInterrupt:
        if outcome is not None:
            stop(outcome, interrupt)
        raise
    return outcome.result()


def stop(outcome: Future[Result], interrupt: Callable[[], None]) -> None:
    """Calls `interrupt` until the work is over; another Ctrl-C waits for the disk alone."""
    try:
        interrupt()
        while not is_done(outcome):
            interrupt()
    except KeyboardInterrupt:
        await_begun()
        raise


def start(work: Callable[[], Result]) -> Future[Result]:
    """`work` begins in a thread that it has to itself; statements are compiled there, too."""
    return start_deep(work)


def is_done(outcome: Future[Result]) -> bool:
    """Wait a moment, and tell whether the work is over."""
    # An interrupt between two steps of the future's own would leave it locked to who ends it.
    with InterruptDeferral(), suppress(TimeoutError):
        outcome.exception(_TICK_SECONDS)
    return outcome.done()
