"""The process that opens the data: tasks in, replies out, one at a time.

One thread listens, so that a running task can be interrupted, and so that the process ends with the
server: then its pipe is closed. Of a failure nothing is told; its cause, without rows or SQL, is a
line on stderr, which is the operator's.
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
from queue import SimpleQueue
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
    Fingerprint,
    LoadCatalog,
    ReadColumns,
    ReadPrepared,
    ReadPublic,
    RunJob,
    Task,
    from_bytes,
    packed,
)
from dpsql.physical.unit_batches import choose_batches
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import run
from dpsql.session.run.sidecar_fallback import readable

INTERRUPT: Final = b"I"
_OPEN_AT_ONCE: Final = 4
_LOG: Final = logging.getLogger("dpsql.pgwire")

_Which = tuple[Source, Sidecar | None]
_Files = tuple[Identity, tuple[int, int] | None]
"""As they were when an engine opened them."""


def work(pipe: Connection, memory_bytes: int, threads: int) -> None:
    """Serve tasks until the pipe ends."""
    form = f"%(asctime)s %(levelname)s worker {os.getpid()}: %(message)s"
    logging.basicConfig(level=logging.WARNING, format=form)
    # SIGTERM goes to a whole group at times; a worker ends with its server, which drains.
    for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(ignored, signal.SIG_IGN)
    # What is mapped counts, DuckDB's own limit being below it: a quarter is for everything else.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes * 2, memory_bytes * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold rows
    warnings.simplefilter("ignore")  # DuckDB's go to the operator's terminal
    told = causes_shown()
    told.__enter__()  # until the process ends
    desk = _EnginePool(memory_bytes, threads)
    tasks: SimpleQueue[Task] = SimpleQueue()
    threading.Thread(target=_serve, args=(pipe, desk, tasks), daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            said = pipe.recv()
            if said == INTERRUPT:
                desk.interrupt()
            else:
                tasks.put(said)
    # A task that goes on must not keep the process: nobody waits for it any more.
    os._exit(0)


def _serve(pipe: Connection, engines: _EnginePool, tasks: SimpleQueue[Task]) -> None:
    while True:
        reply = engines.do(tasks.get())
        try:
            pipe.send_bytes(reply)
        except OSError:
            os._exit(0)


class _EnginePool:
    def __init__(self, memory_bytes: int, threads: int) -> None:
        self._memory = f"{memory_bytes * 3 // 4 // 1024 // 1024}MiB"
        self._threads = threads
        self._open: dict[_Which, tuple[_Files, SourceEngine]] = {}
        self._enclosures = Sandboxes()

    def do(self, task: Task) -> bytes:
        """The reply to `task`; why something failed is made of rows, and stays here."""
        try:
            match task:
                case RunJob():
                    return self._job(task)
                case ReadPublic(source=source, sql=sql, limit=most):
                    return packed({"rows": self._engine(source).execute(sql, limit=most).table})
                case Fingerprint(source=source):
                    return TEXT + self._engine(source).fingerprint().encode()
                case ReadColumns(source=source):
                    return TEXT + json.dumps(dict(read_catalog(source))).encode()
                case ReadPrepared(source=source, sidecar=sidecar):
                    found = sorted(self._engine(source, sidecar).sidecar_tables)
                    return TEXT + json.dumps(found).encode()
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
        except Exception as error:  # noqa: BLE001 - see above
            _log(error)
            return FAILED

    def interrupt(self) -> None:
        """Stop what runs."""
        self._enclosures.interrupt()
        for _, engine in list(self._open.values()):
            engine.interrupt()

    def _run_task(self, task: AskCatalog) -> bytes:
        """Why a question has no answer may be told in a word: a catalogue is public."""
        try:
            found = self._enclosures.answer(task.name, task.sql, task.rows, task.size)
        except duckdb.InterruptException:
            return STOPPED
        except (TooLargeAnswer, duckdb.OutOfMemoryException, MemoryError):
            return TOO_LARGE
        except duckdb.Error as error:
            return UNANSWERED + _sqlstate(error).encode()
        return packed({"rows": found})

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
            # The charge was made for another version of the data.
            return LACKED
        released = {name: from_bytes(data) for name, data in task.released.items()}
        job = choose_batches(readable(task.job, engine), engine)
        return packed(run(job, engine, SystemRandomness(), released))

    def _engine(self, source: Source, sidecar: Sidecar | None = None) -> SourceEngine:
        """An engine over the source and its sidecar as their files are now."""
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
    said = str(error)
    match error:
        case duckdb.BinderException() if (
            "referenced column" in said.lower() or "does not have a column" in said
        ):
            return "42703"
        case duckdb.BinderException() if "No function matches" in said:
            return "42883"
        case duckdb.CatalogException():
            return "42P01" if "Table with name" in said else "42883"
        case duckdb.ParserException():
            return "42601"
        case duckdb.ConversionException():
            return "22P02"
        case duckdb.OutOfRangeException():
            return "22003"
        case _:
            return "0A000"


def _log(error: Exception) -> None:
    """Tell the operator the cause: what a source's fault says, of anything else its class."""
    if isinstance(error, SourceFault):
        _LOG.error("%s (hint: %s)", error.message, error.hint)
    elif not isinstance(error, ExecutionFailed):  # whose cause the engine has logged
        _LOG.error("a task failed: %s", cause_of(error))


def _changed(sidecar: Sidecar | None) -> tuple[int, int] | None:
    """When the file was replaced, as far as a name tells; None if it isn't there."""
    with suppress(OSError):
        if sidecar is not None:
            found = os.stat(sidecar.path)  # noqa: PTH116 - one call
            return found.st_mtime_ns, found.st_ino
    return None
