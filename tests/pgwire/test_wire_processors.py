"""Threads that share the server's interpreter stay on one processor; workers may use all."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from pgwire.shop import served

from dpsql.pgwire.workers.processor_affinity import on_all, stay_on_one

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone can be told")


def test_threads_stay_on_one_processor_and_workers_have_all(tmp_path: Path) -> None:
    machine = os.sched_getaffinity(0)
    with served(tmp_path) as server, psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("SELECT count(*) FROM orders").fetchall()
        tasks = Path(f"/proc/{server.process.pid}/task").iterdir()
        threads = [os.sched_getaffinity(int(task.name)) for task in tasks]
        event_loop = os.sched_getaffinity(server.process.pid)
        assert len(event_loop) == 1
        assert threads.count(event_loop) > 1, "one that answers a client is on it, too"
        killed = server.workers
        assert [os.sched_getaffinity(worker) for worker in killed] == [machine] * len(killed)
        for worker in killed:
            os.kill(worker, signal.SIGKILL)
        with suppress(psycopg.errors.InternalError_):  # it may go to one that is just dying
            connection.execute("SELECT count(*) FROM orders WHERE amount > 1").fetchall()
        others = set(server.workers) - {*killed}
        assert others, "one took the place of one that was killed"
        assert all(os.sched_getaffinity(worker) == machine for worker in others)


def test_a_thread_has_all_processors_meanwhile() -> None:
    def seen() -> list[set[int]]:
        stay_on_one()
        before = os.sched_getaffinity(0)
        with on_all():
            meanwhile = os.sched_getaffinity(0)
        return [before, meanwhile, os.sched_getaffinity(0)]

    with ThreadPoolExecutor(1) as pool:
        before, meanwhile, after = pool.submit(seen).result()
    assert len(before) == 1
    assert meanwhile == os.sched_getaffinity(0)
    assert after == before
