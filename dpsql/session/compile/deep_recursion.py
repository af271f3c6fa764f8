"""Room for deep statements: parser and analyses recurse, once or more for each level of nesting.

Python's own stack of 1,000 calls ends at some 40 nested parentheses. Here the work runs on a
thread with a large stack, and what is deeper still is refused, not crashed on.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from functools import partial
from queue import SimpleQueue
from typing import Final, TypeVar

from msgspec import Struct

from dpsql.errors import TooComplex
from dpsql.ledger.storage.waiting import check_may_wait

STACK_BYTES = 512 * 1024 * 1024
CALLS = 60_000

MAX_IDLE: Final = 4
"""Threads that wait for more work; to start one takes as long as to parse a small statement."""

_LIGHT_SECONDS: Final = 0.05
"""Of computing: what took longer may have filled much of a stack, which its thread's end frees."""

Result = TypeVar("Result")


class _Task(Struct):
    """What a thread does next, without raising, and how it says that this is done."""

    run: Callable[[], None]
    finish: Callable[[], None]


class _DeepThreads:
    """Threads with large stacks, each of which does one task after another."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._idle: list[SimpleQueue[_Task]] = []

    def do(self, task: _Task) -> None:
        """Some thread begins with `task`."""
        with self._guard:
            tasks = self._idle.pop() if self._idle else self._start()
        tasks.put(task)

    def _start(self) -> SimpleQueue[_Task]:
        tasks: SimpleQueue[_Task] = SimpleQueue()
        before = threading.stack_size(STACK_BYTES)
        try:
            threading.Thread(
                target=self._serve, args=(tasks,), name="dpsql bind", daemon=True
            ).start()
        finally:
            threading.stack_size(before)
        return tasks

    def _serve(self, tasks: SimpleQueue[_Task]) -> None:
        _here.is_deep = goes_on = True
        while goes_on:
            task = tasks.get()
            started = time.thread_time()
            # What it sets, such as the precision of decimals, is nothing to the next one.
            Context().run(task.run)
            goes_on = time.thread_time() - started < _LIGHT_SECONDS and self._wait_in_line(tasks)
            # Last: who asks again at once finds this thread in the line.
            task.finish()
            del task

    def _wait_in_line(self, tasks: SimpleQueue[_Task]) -> bool:
        with self._guard:
            if len(self._idle) == MAX_IDLE:
                return False
            self._idle.append(tasks)
            return True


def with_deep_stack(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises, run where it can recurse deeply."""
    check_may_wait()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except (RecursionError, MemoryError):
            errors.append(
                TooComplex("the statement nests too deeply", hint="split it with a WITH clause")
            )
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            errors.append(error)

    if sys.getrecursionlimit() < CALLS:
        sys.setrecursionlimit(CALLS)
    if getattr(_here, "is_deep", False):
        Context().run(run)
    else:
        done = threading.Lock()
        done.acquire()
        _threads.do(_Task(run, done.release))
        done.acquire()
    if errors:
        raise errors[0]
    return results[0]


def start_deep(work: Callable[[], Result]) -> Future[Result]:
    """`work` begins on a thread where it can recurse deeply, and doesn't keep the process alive."""
    outcome: Future[Result] = Future()
    settled: list[Callable[[], None]] = []

    def run() -> None:
        try:
            settled.append(partial(outcome.set_result, work()))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            settled.append(partial(outcome.set_exception, error))

    def settle() -> None:
        settled.pop()()

    _threads.do(_Task(run, settle))
    return outcome


_here = threading.local()

_threads = _DeepThreads()


def _begin_anew() -> None:
    """A process that was forked has none of the threads, and perhaps a guard that nobody leaves."""
    global _threads  # noqa: PLW0603 - the process has other threads than its parent
    _threads = _DeepThreads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
