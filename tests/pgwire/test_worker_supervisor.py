"""One worker seen from the server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest
from data.database import attached
from session.jobs import job_of
from waiting import HANGS_AFTER

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.raw import Raw
from dpsql.engine.source import DuckDBSource
from dpsql.pgwire.workers.admission_queue import AdmissionQueue, Ticket
from dpsql.pgwire.workers.pool import ExpectedJob, Pool
from dpsql.pgwire.workers.remote_engine import RemoteEngine
from dpsql.pgwire.workers.remote_execution import RemoteExecution
from dpsql.pgwire.workers.running_task import RunningTask
from dpsql.pgwire.workers.supervisor import WorkerSupervisor, nothing
from dpsql.pgwire.workers.tasks import (
    LACKED,
    NO_SOURCE,
    NOT_LOADED,
    LoadCatalog,
    RunExpected,
    RunJob,
    Task,
    tables_of,
)
from dpsql.pgwire.workers.worker import _EnginePool
from dpsql.release.job import Job
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session
from dpsql.structs import replace

TASK = LoadCatalog("none", None)

PEOPLE = """\
dataset: people
source: people.duckdb
tables:
  people: {unit: row, columns: {age: {type: bigint, bounds: [0, 120]}}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""


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
    supervisor._process.join(HANGS_AFTER)
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


@pytest.fixture
def job(tmp_path: Path) -> RunJob:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT i AS age FROM range(80) r(i)")
    return RunJob(job_of("SELECT count(*) FROM people", PEOPLE, tmp_path), None)


@pytest.fixture
def pool() -> Iterator[Pool]:
    with closing(Pool(2, 2**30, 60)) as pool:
        yield pool


def run(pool: Pool, expected: ExpectedJob) -> list[str]:
    return list(tables_of(pool.run_expected(expected, threading.Event(), nothing)))


def test_no_row_is_read_for_a_job_before_it_is_charged(
    job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    original = DuckDBEngine.execute

    def noted(engine: DuckDBEngine, sql: str, *rest: Any, **others: Any) -> Raw:
        asked.append(sql)
        return original(engine, sql, *rest, **others)

    monkeypatch.setattr(DuckDBEngine, "execute", noted)
    engines = _EnginePool(2**30, 1)
    engines.expect(7, job)
    assert asked == []
    assert engines.do(RunExpected(6)) == NOT_LOADED
    assert asked == []
    assert tables_of(engines.do(RunExpected(7)))
    assert len(asked) == 1
    assert engines.do(RunExpected(7)) == NOT_LOADED  # it was charged once


def test_an_expected_job_that_fails_is_told_of_once_it_runs(job: RunJob) -> None:
    engines = _EnginePool(2**30, 1)
    assert isinstance(job.job.source, DuckDBSource)
    gone = replace(job.job.source, database=f"{job.job.source.database}.gone")
    engines.expect(0, RunJob(Job(gone, job.job.steps), None))
    assert engines.do(RunExpected(0)) == NO_SOURCE


def test_the_last_jobs_that_were_expected_are_at_hand(job: RunJob) -> None:
    # Those of statements that were refused are never run, and must not fill the memory.
    engines = _EnginePool(2**30, 1)
    for number in range(9):
        engines.expect(number, job)
    assert engines.do(RunExpected(4)) == NOT_LOADED
    assert tables_of(engines.do(RunExpected(8)))
    assert len(engines._expected) < 4


def test_the_worker_that_was_told_of_a_job_runs_it(pool: Pool, job: RunJob) -> None:
    first, second = pool.expect(job), pool.expect(job)
    assert first is not None
    assert second is not None
    assert first.supervisor is not second.supervisor
    tasks: list[Task] = []
    for one in pool.supervisors:
        one.run = noting(one, tasks)  # type: ignore[method-assign]
    assert run(pool, first) == run(pool, second)
    assert tasks == [RunExpected(first.number), RunExpected(second.number)]


def noting(supervisor: WorkerSupervisor, tasks: list[Task]) -> Callable[..., bytes]:
    real = supervisor.run

    def noted(task: Task, *rest: Any) -> bytes:
        tasks.append(task)
        return real(task, *rest)

    return noted


def test_a_job_is_run_whole_where_the_worker_that_was_told_is_busy_or_gone(
    pool: Pool, job: RunJob
) -> None:
    expected = pool.expect(job)
    assert expected is not None
    supervisor = expected.supervisor
    pool._free.remove(supervisor)
    assert run(pool, expected)
    pool._give(supervisor)
    process_id = supervisor.process_id
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)
    supervisor._process.join(HANGS_AFTER)
    assert supervisor.expect(job) is None
    assert run(pool, expected)
    assert supervisor.replaced == 1


def test_no_worker_is_told_while_all_are_busy_or_of_a_job_that_fills_a_pipe(
    pool: Pool, job: RunJob
) -> None:
    large = RunJob(job.job, "x" * 20_000)
    assert pool.expect(large) is None
    assert len(pool._free) == 2
    taken = [pool._take(), pool._take()]
    assert pool.expect(job) is None
    for one in taken:
        pool._give(one)
    with pool.supervisors[0]._running:
        assert pool.supervisors[0].expect(job) is None


def test_a_job_whose_statement_was_not_charged_is_not_run_later(
    pool: Pool, job: RunJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It has the version of the data that there was then.
    calls: list[str] = []

    def noted(name: str) -> Callable[..., bytes]:
        real = getattr(pool, name)

        def call(*arguments: Any, **others: Any) -> Any:
            calls.append(name)
            return real(*arguments, **others)

        return call

    for name in ("run", "run_expected"):
        monkeypatch.setattr(pool, name, noted(name))
    source, steps = job.job.source, job.job.steps
    path = Path(source.database or "").parent if isinstance(source, DuckDBSource) else Path()
    schema = load_schema(path / "schema.yaml")
    engine = RemoteEngine(pool, schema, source, source, lambda find: find(), "salt")
    for expects in (steps, ()):
        engine.expect(steps)
        engine.expect(expects)
        calls.clear()
        assert engine.carry_out(steps, {}, nothing)
        assert calls[-1] == ("run_expected" if expects else "run")


def test_no_worker_is_told_where_others_wait_for_their_turn(pool: Pool, job: RunJob) -> None:
    source = job.job.source
    assert isinstance(source, DuckDBSource)
    assert source.database is not None
    schema = load_schema(Path(source.database).parent / "schema.yaml")
    engine = RemoteEngine(pool, schema, source, source, lambda find: find(), "")
    line = AdmissionQueue(1)
    with closing(Session(schema)) as session:
        due = session.compile("SELECT count(*) FROM people").releases
        sandbox = session._context.execution.sandbox()
        execution = RemoteExecution(
            schema, engine, line, session._context.execution.facts, lambda _: None, sandbox
        )
    execution.expect(due)
    assert engine._expected is not None
    with line.acquire(Ticket(), frozenset({"one"})):
        other = Ticket()
        waiting = threading.Thread(target=enter, args=(line, other))
        waiting.start()
        while not line.waiting:
            time.sleep(0.01)
        execution.expect(due)
        assert engine._expected is None
    waiting.join(HANGS_AFTER)


def enter(line: AdmissionQueue, ticket: Ticket) -> None:
    with line.acquire(ticket, frozenset({"other"})):
        pass
