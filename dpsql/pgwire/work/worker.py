"""The process that opens the data: tasks in, replies out, one at a time.

One thread listens, so that a running task can be interrupted, and so that the process ends with the
server: then its pipe is closed. Nothing is printed, and nothing of a failure is told.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Final

from dpsql.engine.catalogue import read_catalogue
from dpsql.engine.duckdb import DuckDBEngine
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.source import DuckDBSource
from dpsql.errors import SourceFault
from dpsql.pgwire.work.task import (
    FAILED,
    NO_SOURCE,
    TEXT,
    Fingerprint,
    ReadColumns,
    ReadPublic,
    RunJob,
    Task,
    from_bytes,
    packed,
)
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.release.job import run

INTERRUPT: Final = b"I"
_OPEN_AT_ONCE: Final = 4


def work(pipe: Connection, memory_bytes: int, threads: int) -> None:
    """Serve tasks until the pipe ends."""
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    # What is mapped counts, DuckDB's own limit being below it: a quarter is for everything else.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes * 2, memory_bytes * 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold rows
    desk = _Desk(memory_bytes, threads)
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


def _serve(pipe: Connection, desk: _Desk, tasks: SimpleQueue[Task]) -> None:
    while True:
        reply = desk.do(tasks.get())
        try:
            pipe.send_bytes(reply)
        except OSError:
            os._exit(0)


class _Desk:
    def __init__(self, memory_bytes: int, threads: int) -> None:
        self._memory = f"{memory_bytes * 3 // 4 // 1024 // 1024}MiB"
        self._threads = threads
        self._open: dict[DuckDBSource, tuple[Identity, DuckDBEngine]] = {}

    def do(self, task: Task) -> bytes:
        """The reply to `task`; why something failed is made of rows, and stays here."""
        try:
            match task:
                case RunJob():
                    return self._job(task)
                case ReadPublic(source=source, sql=sql):
                    return packed({"rows": self._engine(source).execute(sql).table})
                case Fingerprint(source=source):
                    return TEXT + self._engine(source).fingerprint().encode()
                case ReadColumns(source=source):
                    return TEXT + json.dumps(dict(read_catalogue(source))).encode()
        except SourceFault:
            return NO_SOURCE
        except Exception:  # noqa: BLE001 - see above
            return FAILED

    def interrupt(self) -> None:
        """Stop what runs."""
        for _, engine in list(self._open.values()):
            engine.interrupt()

    def _job(self, task: RunJob) -> bytes:
        engine = self._engine(task.job.source)
        if task.version is not None and engine.fingerprint() != task.version:
            # The charge was made for another version of the data.
            return FAILED
        released = {name: from_bytes(data) for name, data in task.released.items()}
        return packed(run(task.job, engine, SystemRandomness(), released))

    def _engine(self, source: DuckDBSource) -> DuckDBEngine:
        """An engine over the source as its files are now."""
        now = identity(source)
        if source in self._open:
            known, engine = self._open[source]
            if known == now:
                return engine
            engine.close()
            del self._open[source]
        while len(self._open) >= _OPEN_AT_ONCE:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        opened = DuckDBEngine(source, threads=self._threads, memory_limit=self._memory)
        self._open[source] = now, opened
        return opened
