"""One worker seen from the server: its watchdog, and its replacement."""

from __future__ import annotations

import itertools
import logging
import multiprocessing as mp
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from typing import Final

from msgspec import Struct

from dpsql.pgwire.workers.processor_affinity import on_all
from dpsql.pgwire.workers.tasks import FAILED, LACKED, STOPPED, Expect, RunJob, Task
from dpsql.pgwire.workers.worker import work

GRACE_SECONDS: Final = 2.0
"""How long a task may take to end after its interrupt, before its process is killed."""

_ORPHANED: Final = 255
"""What multiprocessing gives for the exit code of a process whose fork server is gone."""

_MAX_EXPECTED: Final = 16 * 1024
"""Bytes of a job that is sent before its charge: the pipe takes some, though nobody reads them."""

_TICK_SECONDS: Final = 0.05
_LOG: Final = logging.getLogger("dpsql.pgwire")


def nothing() -> None:
    """What is done while a task runs, where nothing is."""


class _Ready(Struct, frozen=True):
    """What there is of a worker: something to read in its pipe, if only its end, and its end."""

    has_reply: bool
    has_ended: bool


_NEITHER: Final = _Ready(has_reply=False, has_ended=False)


class WorkerSupervisor:
    """Owns one worker process, which runs one task at a time.

    `replaced` counts how often the process was replaced.
    """

    def __init__(self, memory_bytes: int, threads: int) -> None:
        self._memory = memory_bytes
        self._threads = threads
        self._guard = threading.Lock()
        self._open = True
        self.replaced = 0
        self._running = threading.Lock()
        self._numbers = itertools.count()
        self._start()

    @property
    def process_id(self) -> int | None:
        """The operating system's number of the process."""
        return self._process.pid

    def run(
        self,
        task: Task,
        seconds: float,
        cancelled: threading.Event,
        meanwhile: Callable[[], None] = nothing,
    ) -> bytes:
        """The reply to `task`: STOPPED if it was cancelled or took longer than `seconds`.

        LACKED if its process died. `meanwhile` is called while it runs.
        """
        with self._running:
            return self._run(task, seconds, cancelled, meanwhile)

    def expect(self, job: RunJob) -> int | None:
        """The number as which `RunExpected` runs `job`; None if it isn't sent, as while others run.

        The process may run other tasks before, and have forgotten it by then.
        """
        if not self._running.acquire(blocking=False):
            return None
        try:
            number = next(self._numbers)
            data = _pickled(number, Expect(job))
            if len(data) > _MAX_EXPECTED or self._ready(0) != _NEITHER:
                return None
            self._pipe.send_bytes(data)
        except OSError:  # the process has died: the next task will have another
            return None
        else:
            return number
        finally:
            self._running.release()

    def _run(
        self,
        task: Task,
        seconds: float,
        cancelled: threading.Event,
        meanwhile: Callable[[], None],
    ) -> bytes:
        if self._ready(0) != _NEITHER:  # a process that has died may have closed its pipe alone yet
            self._replace()
        number = next(self._numbers)
        try:
            self._pipe.send_bytes(_pickled(number, task))
        except OSError:
            self._replace()
            return LACKED
        deadline = time.monotonic() + seconds
        # Whatever fails there: the pipe will have a reply, which isn't the next task's.
        with suppress(Exception):
            meanwhile()
        while not (ready := self._ready(_TICK_SECONDS)).has_reply:
            # It may have replied once its pipe was looked at, and ended before that was.
            if ready.has_ended and not self._ready(0).has_reply:
                self._replace()
                return LACKED
            if cancelled.is_set() or time.monotonic() > deadline:
                return self._stopped(number)
        return self._reply()

    def close(self) -> None:
        """End the process; it isn't replaced any more."""
        with self._guard:
            self._open = False
            self._process.kill()
        # The pipe isn't closed under a thread that waits for its reply: of a dead process it has
        # none, and ends.
        with self._running:
            self._end_process()

    def _stopped(self, number: int) -> bytes:
        """Interrupt the task; its process is killed if it doesn't stop in `GRACE_SECONDS`."""
        with suppress(OSError):
            self._interrupts.send(number)
        until = time.monotonic() + GRACE_SECONDS
        while not (ready := self._ready(_TICK_SECONDS)).has_reply:
            if ready.has_ended or time.monotonic() > until:
                break
        if not ready.has_reply:
            self._replace()
            return STOPPED
        # The task may have been finished all the same: its answer was paid for.
        reply = self._reply()
        return STOPPED if reply in {FAILED, LACKED} else reply

    def _ready(self, seconds: float) -> _Ready:
        """What there is of the process, as soon as there is something, or after `seconds`."""
        if self._pipe.closed:
            return _Ready(has_reply=False, has_ended=True)
        there = {number for number, _ in self._poll.poll(1000 * seconds)}
        return _Ready(self._pipe.fileno() in there, self._process.sentinel in there)

    def _reply(self) -> bytes:
        try:
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            self._replace()
            return LACKED

    def _replace(self) -> None:
        # A process that has just died has an exit code a moment later than its pipe is closed.
        self._process.join(0.2)
        with self._guard:
            if not self._open:
                # The task ran when the server was closed: nobody would end another process.
                return
            cause = _end(self._process.exitcode)
            _LOG.warning("worker %s is replaced: %s", self.process_id, cause)
            self._end_process()
            self.replaced += 1
            self._start()

    def _end_process(self) -> None:
        for pipe in (self._pipe, self._interrupts):
            with suppress(OSError):
                pipe.close()
        self._process.kill()
        self._process.join()

    @on_all()  # a fork server that is started has them, and so have its forks
    def _start(self) -> None:
        context = _context()
        self._pipe, theirs = context.Pipe()
        listened, self._interrupts = context.Pipe(duplex=False)
        self._process = context.Process(
            target=work,
            args=(theirs, listened, self._memory, self._threads),
            daemon=True,
            name="dpsql worker",
        )
        self._process.start()
        theirs.close()
        listened.close()
        # One for the life of the process: multiprocessing makes another at each look.
        self._poll = select.poll()
        for there in (self._pipe.fileno(), self._process.sentinel):
            self._poll.register(there, select.POLLIN)


def _pickled(number: int, task: Task | Expect) -> bytes:
    """`task` as the worker's pipe reads it.

    Not by the pipe's own pickler, which looks at each value for a way to send it, as of a socket.
    """
    return pickle.dumps((number, task))


def _context() -> mp.context.ForkServerContext | mp.context.SpawnContext:
    """How processes are started: as forks of one that has imported what they need, on Linux.

    Elsewhere system libraries may not survive a fork, and each process imports for itself; so it
    does where there is no folder for temporary files, or its path is too long for a socket's.
    """
    if sys.platform != "linux":
        return mp.get_context("spawn")
    context = mp.get_context("forkserver")
    context.set_forkserver_preload(["dpsql.pgwire.workers.fork_origin"])
    try:
        forkserver.ensure_running()
    except OSError:
        return mp.get_context("spawn")
    return context


def _end(code: int | None) -> str:
    """How a process ended, by its exit code (None: it runs still), with the usual cause."""
    if code is None:
        return f"it didn't stop within {GRACE_SECONDS:g} s"
    if code == -signal.SIGKILL:
        return "it was killed: look whether the system ran out of memory"
    if code == _ORPHANED:
        return "the process that it was forked from ended: look whether that was killed"
    if code < 0:
        return f"it ended by {signal.Signals(-code).name}: memory may have run out"
    return f"it ended with code {code}"
