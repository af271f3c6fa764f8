"""Workers, lent to tasks in the order in which the tasks came.

A connection has one task at a time, so that no connection waits for more than one task of each of
the others.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from msgspec import Struct

from dpsql.errors import ExecutionCancelled
from dpsql.pgwire.workers.supervisor import WorkerSupervisor, nothing
from dpsql.pgwire.workers.tasks import NOT_LOADED, RunExpected, RunJob, Task


class ExpectedJob(Struct, frozen=True):
    """A `job`, which `supervisor` was told of under `number`."""

    job: RunJob
    supervisor: WorkerSupervisor
    number: int


class Pool:
    """`size` workers with `memory_bytes` each; tasks wait for a free one, in order.

    A task may take `seconds` unless it is run with another limit.
    """

    def __init__(self, size: int, memory_bytes: int, seconds: float, threads: int = 1) -> None:
        self._seconds = seconds
        self._guard = threading.Lock()
        self._waiting: deque[Future[WorkerSupervisor]] = deque()
        self.supervisors = [WorkerSupervisor(memory_bytes, threads) for _ in range(size)]
        # The one that was given back last is lent first: a processor has its code and data at hand.
        self._free = list(self.supervisors)
        self._open = True

    def expect(self, job: RunJob) -> ExpectedJob | None:
        """Tell a worker of `job`, which is about to be charged; None if none is free.

        It stays free for others: who is charged may wait for a ledger that others use.
        """
        with self._guard:
            if not self._free:
                return None
            supervisor = self._free.pop()
            self._free.insert(0, supervisor)  # who comes next is told of another
        number = supervisor.expect(job)
        return None if number is None else ExpectedJob(job, supervisor, number)

    def run_expected(
        self, expected: ExpectedJob, cancelled: threading.Event, meanwhile: Callable[[], None]
    ) -> bytes:
        """The reply to a job that was expected, from the worker that was told of it, if it can."""
        limit, wanted = self._seconds, expected.supervisor
        with self._lent(cancelled, wanted) as keeper:
            if keeper is wanted:
                ready = RunExpected(expected.number)
                reply = keeper.run(ready, limit, cancelled, meanwhile)
                if reply != NOT_LOADED:
                    return reply
            return keeper.run(expected.job, limit, cancelled, meanwhile)

    def run(
        self,
        task: Task,
        cancelled: threading.Event,
        seconds: float | None = None,
        meanwhile: Callable[[], None] = nothing,
    ) -> bytes:
        """The reply to `task`, which may take `seconds`, the pool's own limit if None.

        `meanwhile` is called here once a worker runs it.
        """
        limit = self._seconds if seconds is None else seconds
        with self._lent(cancelled) as keeper:
            return keeper.run(task, limit, cancelled, meanwhile)

    @contextmanager
    def worker(self, cancelled: threading.Event) -> Iterator[Callable[[Task, float], bytes]]:
        """One worker for several tasks, as a function of a task and its limit in seconds."""
        with self._lent(cancelled) as keeper:
            yield lambda task, seconds: keeper.run(task, seconds, cancelled)

    @contextmanager
    def _lent(
        self, cancelled: threading.Event, wanted: WorkerSupervisor | None = None
    ) -> Iterator[WorkerSupervisor]:
        keeper = self._take(wanted)
        try:
            if cancelled.is_set():
                raise ExecutionCancelled
            yield keeper
        finally:
            self._give(keeper)

    @property
    def replaced(self) -> int:
        """How many workers were replaced so far."""
        return sum(keeper.replaced for keeper in self.supervisors)

    @property
    def waiting(self) -> int:
        """How many tasks wait for a worker."""
        return len(self._waiting)

    def close(self) -> None:
        """End all workers; tasks that wait fail with ExecutionCancelled."""
        with self._guard:
            self._open = False
            waiting, self._waiting = self._waiting, deque()
        for turn in waiting:
            turn.set_exception(ExecutionCancelled())
        for keeper in self.supervisors:
            keeper.close()

    def _take(self, wanted: WorkerSupervisor | None = None) -> WorkerSupervisor:
        """The worker that is `wanted`, if it is free, or else another one."""
        turn: Future[WorkerSupervisor] = Future()
        with self._guard:
            if not self._open:
                raise ExecutionCancelled
            if wanted is not None and wanted in self._free:
                self._free.remove(wanted)
                return wanted
            if self._free:
                return self._free.pop()
            self._waiting.append(turn)
        return turn.result()

    def _give(self, supervisor: WorkerSupervisor) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set_result(supervisor)
            else:
                self._free.append(supervisor)
