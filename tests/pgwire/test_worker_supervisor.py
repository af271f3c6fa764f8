"""One worker seen from the server."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import forkserver

import pytest

from dpsql.pgwire.workers.supervisor import WorkerSupervisor
from dpsql.pgwire.workers.tasks import LACKED, NOT_LOADED, LoadCatalog
from dpsql.pgwire.workers.worker import RunningTask

TASK = LoadCatalog("none", None)


def test_a_worker_that_was_closed_is_not_replaced() -> None:
    # A task that ran when the server was closed would start a process that nobody ends: it ignores
    # SIGTERM, and the server waits for it as long as it waits for the server.
    supervisor = WorkerSupervisor(2**30, threads=1)
    assert supervisor.run(TASK, 60, threading.Event()) == NOT_LOADED
    supervisor.close()
    assert supervisor.run(TASK, 60, threading.Event()) == LACKED
    assert supervisor.replaced == 0


def test_what_is_done_meanwhile_may_fail() -> None:
    # The task's reply would be left in the pipe, and be taken for the next one's.
    class Failed(Exception):
        pass

    def fails() -> None:
        raise Failed

    supervisor = WorkerSupervisor(2**30, threads=1)
    assert supervisor.run(TASK, 60, threading.Event(), fails) == NOT_LOADED
    assert not supervisor._ready(0).has_reply
    supervisor.close()


def test_workers_start_where_no_socket_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(forkserver, "ensure_running", fails)
    supervisor = WorkerSupervisor(2**30, threads=1)
    assert supervisor.run(TASK, 60, threading.Event()) == NOT_LOADED
    supervisor.close()


def test_a_worker_that_died_is_replaced() -> None:
    supervisor = WorkerSupervisor(2**30, threads=1)
    process_id = supervisor.process_id
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)
    supervisor._process.join(20)
    assert supervisor.run(TASK, 60, threading.Event()) == NOT_LOADED
    assert supervisor.replaced == 1
    assert supervisor.process_id != process_id
    supervisor.close()


def test_an_interrupt_stops_the_task_that_it_names_alone() -> None:
    # It comes by a pipe of its own, before its task or after it: the next one was charged, too.
    running, stopped = RunningTask(), []

    def interrupt(number: int) -> None:
        running.interrupt(number, lambda: stopped.append(number))

    assert running.begin(0)
    running.end()
    interrupt(0)
    assert running.begin(1)
    interrupt(0)
    assert stopped == []
    interrupt(1)
    assert stopped == [1]
    running.end()
    interrupt(2)
    assert stopped == [1]
    assert not running.begin(2)
