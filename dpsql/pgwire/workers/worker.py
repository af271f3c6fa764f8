"""The process that opens the data: tasks in, replies out, one at a time.

Tasks have a pipe of their own: the thread that reads one runs it, and need not wake another. A
second thread listens for interrupts, so that a running task can be stopped, and so that the process
ends with the server, which closes the pipes. A reply says only that a task failed; the cause,
without rows or SQL, is a line on stderr, for the operator.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import threading
import warnings
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.duckdb.failure_cause import cause_of, causes_shown
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.opening import SourceEngine, open_engine, read_catalog
from dpsql.engine.sandbox.database import Sandboxes, SandboxQuery, TooLargeAnswer, reason_of
from dpsql.engine.sidecar.file import Sidecar
from dpsql.engine.source import Source
from dpsql.errors import (
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    SourceFault,
    SourceLocked,
    TooComplex,
)
from dpsql.pandas_block import block_pandas
from dpsql.pgwire.workers.running_task import RunningTask
from dpsql.pgwire.workers.tasks import (
    FAILED,
    LACKED,
    LOCKED,
    NO_SOURCE,
    NOT_LOADED,
    STOPPED,
    TEXT,
    TOO_LARGE,
    UNANSWERED,
    AskCatalog,
    Expect,
    Fingerprint,
    LoadCatalog,
    Ping,
    ReadColumns,
    ReadPrepared,
    ReadPublic,
    RunExpected,
    RunJob,
    Task,
    from_bytes,
    packed,
)
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import run

_OPEN_AT_ONCE: Final = 4
_MAX_EXPECTED: Final = 4
_LOG: Final = logging.getLogger("dpsql.pgwire")

_Which = tuple[Source, Sidecar | None]
_Files = tuple[Identity, tuple[int, int] | None]
"""Identities of a source's files and of its sidecar, as they were when an engine opened them."""


def work(pipe: Connection, interrupts: Connection, memory_bytes: int, threads: int) -> None:
    """Serve the numbered tasks of `pipe` until `interrupts` ends, which has numbers of tasks."""
    form = f"%(asctime)s %(levelname)s worker {os.getpid()}: %(message)s"
    logging.basicConfig(level=logging.WARNING, format=form)
    # SIGTERM may go to the whole process group; a worker ends with its server, which drains.
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    # The limit counts mapped memory. DuckDB's own limit is below it: a quarter is for the rest.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes * 2, memory_bytes * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold rows
    warnings.simplefilter("ignore")  # DuckDB's would go to the operator's terminal
    block_pandas()
    causes = causes_shown()
    causes.__enter__()  # until the process ends
    engines, running = _EnginePool(memory_bytes, threads), RunningTask()
    threading.Thread(target=_serve, args=(pipe, engines, running), daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            running.interrupt(interrupts.recv(), engines.interrupt)
    # A task that still runs must not keep the process alive: nobody waits for its reply.
    os._exit(0)


def _serve(pipe: Connection, engines: _EnginePool, running: RunningTask) -> None:
    try:
        while True:
            number, task = pipe.recv()
            if isinstance(task, Expect):
                engines.expect(number, task.job)
                continue
            reply = engines.do(task) if running.begin(number) else STOPPED
            running.end()
            pipe.send_bytes(reply)
    finally:
        # Whatever the cause: a server must not wait for a process in which nothing runs.
        os._exit(0)


class _EnginePool:
    """Runs tasks on the engines of at most `_OPEN_AT_ONCE` sources, the oldest closed first."""

    def __init__(self, memory_bytes: int, threads: int) -> None:
        self._memory = f"{memory_bytes * 3 // 4 // 1024 // 1024}MiB"
        self._threads = threads
        self._open: dict[_Which, tuple[_Files, SourceEngine]] = {}
        self._enclosures = Sandboxes()
        self._expected: dict[int, RunJob] = {}

    def do(self, task: Task) -> bytes:
        """The reply to `task`; a mark alone if it fails over the data, since errors quote rows."""
        try:
            match task:
                case RunJob():
                    return self._job(task)
                case RunExpected(number=number):
                    job = self._expected.pop(number, None)
                    return NOT_LOADED if job is None else self._job(job)
                case ReadPublic(source=source, sql=sql, limit=limit):
                    return packed({"rows": self._engine(source).execute(sql, limit=limit).table})
                case Fingerprint(source=source):
                    return TEXT + self._engine(source).fingerprint().encode()
                case Ping(source=source):
                    self._engine(source).ping()
                    return TEXT
                case ReadColumns(source=source):
                    return TEXT + json.dumps(dict(read_catalog(source))).encode()
                case ReadPrepared(source=source, sidecar=sidecar):
                    names = sorted(self._engine(source, sidecar).sidecar_tables)
                    return TEXT + json.dumps(names).encode()
                case LoadCatalog(name=name, contents=contents):
                    if contents is not None:
                        self._enclosures.load(contents)
                    return TEXT if self._enclosures.has(name) else NOT_LOADED
                case AskCatalog():
                    return self._run_task(task)
                case SandboxQuery():
                    return self._whole(task)
        except SourceLocked as error:
            _log(error)
            return LOCKED
        except SourceFault as error:
            _log(error)
            return NO_SOURCE
        except ExecutionCancelled:
            return STOPPED
        except (ExecutionStopped, MemoryError) as error:
            _log(error)
            return LACKED
        except TooComplex:
            return TOO_LARGE
        except Exception as error:  # noqa: BLE001 - the server gets a mark alone
            _log(error)
            return FAILED

    def expect(self, number: int, job: RunJob) -> None:
        """Have `job` and its engine at hand: no row is read before its charge, which lets it run.

        What fails now fails again then, if it is charged, and is told of then.
        """
        while len(self._expected) >= _MAX_EXPECTED:
            self._expected.pop(next(iter(self._expected)))
        self._expected[number] = job
        with suppress(Exception):
            self._engine(job.job.source, job.sidecar)

    def interrupt(self) -> None:
        """Stop the task that runs; called from the thread that listens."""
        self._enclosures.interrupt()
        for _, engine in list(self._open.values()):
            engine.interrupt()

    def _run_task(self, task: AskCatalog) -> bytes:
        """The rows of a query of the catalogue, or an SQLSTATE: the catalogue is public."""
        try:
            table = self._enclosures.answer(task.name, task.sql, task.rows, task.size)
        except duckdb.InterruptException:
            return STOPPED
        except (TooLargeAnswer, duckdb.OutOfMemoryException, MemoryError):
            return TOO_LARGE
        except duckdb.Error as error:
            return UNANSWERED + _sqlstate(error).encode()
        return packed({"rows": table})

    def _whole(self, query: SandboxQuery) -> bytes:
        try:
            return packed({"rows": self._enclosures.run(query)})
        except duckdb.InterruptException:
            return STOPPED
        except (TooLargeAnswer, duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError):
            return TOO_LARGE
        except duckdb.Error as error:
            return UNANSWERED + reason_of(error).encode()

    def _job(self, task: RunJob) -> bytes:
        engine = self._engine(task.job.source, task.sidecar)
        if task.version is not None and engine.fingerprint() != task.version:
            # The data changed after the charge was made.
            return LACKED
        files = identity(task.job.source)
        if any(step.files not in {None, files} for step in task.job.steps):
            # They changed after their keys were looked up, which may not hold any more.
            return LACKED
        released = {name: from_bytes(data) for name, data in task.released.items()}
        return packed(run(task.job, engine, SystemRandomness(), released))

    def _engine(self, source: Source, sidecar: Sidecar | None = None) -> SourceEngine:
        """An engine over the source and its sidecar, opened anew if their files have changed."""
        which, now = (source, sidecar), (identity(source), _changed(sidecar))
        if which in self._open:
            known, engine = self._open[which]
            if known == now:
                return engine
            engine.close()
            del self._open[which]
        while len(self._open) >= _OPEN_AT_ONCE:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        opened = open_engine(
            source, threads=self._threads, memory_limit=self._memory, sidecar=sidecar
        )
        self._open[which] = now, opened
        return opened


def _sqlstate(error: duckdb.Error) -> str:
    message = str(error)
    match error:
        case duckdb.BinderException() if (
            "referenced column" in message.lower() or "does not have a column" in message
        ):
            return "42703"
        case duckdb.BinderException() if "No function matches" in message:
            return "42883"
        case duckdb.CatalogException():
            return "42P01" if "Table with name" in message else "42883"
        case duckdb.ParserException():
            return "42601"
        case duckdb.ConversionException():
            return "22P02"
        case duckdb.OutOfRangeException():
            return "22003"
        case _:
            return "0A000"


def _log(error: Exception) -> None:
    """Log the cause for the operator: a source fault's message, of other errors their class."""
    if isinstance(error, SourceFault):
        _LOG.error("%s (hint: %s)", error.message, error.hint)
    elif not isinstance(error, ExecutionFailed):  # the engine has logged the cause of these
        _LOG.error("a task failed: %s", cause_of(error))


def _changed(sidecar: Sidecar | None) -> tuple[int, int] | None:
    """The time and inode of the sidecar's file, which change with it; None if there is no file."""
    with suppress(OSError):
        if sidecar is not None:
            status = os.stat(sidecar.path)  # noqa: PTH116 - one call
            return status.st_mtime_ns, status.st_ino
    return None
