"""Runs work, shows its step after a second, and lets Ctrl-C cancel it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from dpsql.interrupt_deferral import InterruptDeferral
from dpsql.session.interruptible import RUNNING, is_done, start, stop

Result = TypeVar("Result")

AFTER_SECONDS: Final = 1.0


class Cancelled(Exception):
    """The work was cancelled; `charged` tells whether it had been charged by then.

    `running`: Ctrl-C came twice, so the work was not waited for and may still hold its locks.
    """

    def __init__(self, *, charged: bool, running: bool = False) -> None:
        super().__init__("cancelled")
        self.charged = charged
        self.running = running


class Watch:
    """Runs one piece of work, and shows which step it is at."""

    def __init__(self) -> None:
        self._step = ""
        self._charged = False
        self._cancelled = False
        self._shown = ""

    def step(self, name: str) -> None:
        """Note that a step begins; raises `Cancelled` if the work was cancelled before."""
        self._step = name
        if self._cancelled:  # the charge comes after the step that is called so
            raise Cancelled(charged=self._charged)
        self._charged |= name == RUNNING

    def run(self, work: Callable[[], Result], interrupt: Callable[[], None]) -> Result:
        """What `work` returns or raises; Ctrl-C calls `interrupt` and waits for the work's end."""
        outcome: Future[Result] | None = None
        began = time.monotonic()
        try:
            with InterruptDeferral():
                outcome = start(work)
            while not is_done(outcome):
                seconds = time.monotonic() - began
                if seconds >= AFTER_SECONDS:
                    self._show(seconds)
        except KeyboardInterrupt:
            if outcome is None:
                raise Cancelled(charged=False) from None
            self._cancel(outcome, interrupt)
        finally:
            self._clear()
        return outcome.result()

    def _cancel(self, outcome: Future[Result], interrupt: Callable[[], None]) -> None:
        """Stop the work; after a second Ctrl-C, it isn't waited for."""
        self._cancelled = True
        try:
            stop(outcome, interrupt)
        except KeyboardInterrupt:
            raise Cancelled(charged=self._charged, running=True) from None
        if outcome.exception() is not None:
            raise Cancelled(charged=self._charged)
        # The work ended before the interrupt: an answer that was charged is given.

    def _show(self, seconds: float) -> None:
        if sys.stderr.isatty():
            self._shown = f"{self._step} … {seconds:.0f} s"
            sys.stderr.write(f"\r\x1b[K{self._shown}")
        elif self._shown != self._step:
            self._shown = self._step
            sys.stderr.write(f"{self._step} …\n")
        sys.stderr.flush()

    def _clear(self) -> None:
        if self._shown and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
