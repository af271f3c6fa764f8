"""Runs statements one by one, and stops those whose caller has left or that take too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

import anyio

from dpsql.errors import ExecutionFailed, OperationalError
from dpsql.session.interruptible import RUNNING, start

Result = TypeVar("Result")

MAX_WAITING: Final = 64

_TICK_SECONDS: Final = 0.1


class TooMany(OperationalError):
    """More calls wait than `MAX_WAITING`."""

    sqlstate = "53300"


class Stopped(OperationalError):
    """The statement took too long."""

    sqlstate = "57014"


class Halted(Exception):
    """The statement was stopped before its charge, and goes on to no further step."""


class StatementQueue:
    """Runs one statement at a time, in a thread of its own; others wait in the order they came.

    A statement may take `seconds`; `interrupt` stops the one that runs. A call that is cancelled
    while it waits never runs. `charged` tells whether the statement that runs was charged.
    """

    def __init__(self, seconds: float, interrupt: Callable[[], None]) -> None:
        self._seconds = seconds
        self._interrupt = interrupt
        self._line = anyio.Lock()
        self._waiting = 0
        self._stopped = False
        self.charged = False

    def step(self, name: str) -> None:
        """Note that a step begins; raises Halted if the statement was stopped before its charge."""
        if self._stopped and not self.charged:
            raise Halted
        self.charged |= name == RUNNING

    async def take(self, work: Callable[[], Result]) -> Result:
        """What `work` returns or raises; Stopped if it takes too long, TooMany if too many wait."""
        if self._waiting >= MAX_WAITING:
            raise TooMany(
                f"{MAX_WAITING} calls wait already", hint="call again when some were answered"
            )
        self._waiting += 1
        try:
            async with self._line:
                return await self._alone(work)
        finally:
            self._waiting -= 1

    async def _alone(self, work: Callable[[], Result]) -> Result:
        self._stopped, self.charged = False, False
        loop, over = asyncio.get_running_loop(), anyio.Event()
        outcome = start(work)
        outcome.add_done_callback(lambda _: loop.call_soon_threadsafe(over.set))
        try:
            with anyio.move_on_after(self._seconds) as limit:
                await over.wait()
        except BaseException:
            # The next statement must not begin before this one has ended.
            with anyio.CancelScope(shield=True):
                await self._stop(over)
            raise
        if limit.cancelled_caught and not over.is_set():
            with anyio.CancelScope(shield=True):
                await self._stop(over)
            self._tell_if_stopped(outcome)
        return outcome.result()

    async def _stop(self, over: anyio.Event) -> None:
        self._stopped = True
        while not over.is_set():
            self._interrupt()
            with anyio.move_on_after(_TICK_SECONDS):
                await over.wait()

    def _tell_if_stopped(self, outcome: Future[Result]) -> None:
        """Raise Stopped if the stop ended the work; otherwise its own answer or error counts."""
        if isinstance(outcome.exception(), Halted | ExecutionFailed):
            charge = "its charge stands" if self.charged else "nothing was charged"
            raise Stopped(
                f"the statement took longer than {self._seconds:g} s and was stopped; {charge}",
                hint="ask for fewer rows or groups, or have --statement-seconds raised",
            )
