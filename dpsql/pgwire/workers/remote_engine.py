"""The engines that a session of the server sees: private rows stay in the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from dpsql.engine.arrow_result import stream
from dpsql.engine.duckdb.postprocessing import postprocessing_engine
from dpsql.engine.engine import Engine, Snapshot
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.opening import supported
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import Columns, DuckDBSource, Source
from dpsql.engine.supported import Supported
from dpsql.errors import ExecutionCancelled, InternalError, SourceFault
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.workers.admission_queue import AdmissionQueue, Ticket
from dpsql.pgwire.workers.pool import Pool
from dpsql.pgwire.workers.supervisor import nothing
from dpsql.pgwire.workers.tasks import (
    LACKED,
    STOPPED,
    TOO_LARGE,
    Fingerprint,
    Ping,
    ReadPrepared,
    ReadPublic,
    RunJob,
    Task,
    names_of,
    tables_of,
    text_of,
)
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.job import Job, Step
from dpsql.schema.model import Public, Schema
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.source_facts import SourceFacts
from dpsql.session.run.execution import Execution, Progress
from dpsql.session.run.public_statements import SandboxEngine as WholeEngine
from dpsql.session.sidecar import sidecar_of
from dpsql.structs import replace

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})
_FINISHING_MEMORY: Final = "256MiB"

Version = Callable[[Callable[[], str]], str]
"""Gives the data's fingerprint; its argument computes it, and is called if the files changed."""


def public_part(whole: Source, schema: Schema) -> Source:
    """The source `whole` without its private tables."""
    if not isinstance(whole, DuckDBSource):
        public = (t for t in whole.tables if isinstance(schema.tables[t.name].ownership, Public))
        return replace(whole, tables=tuple(public))
    tables = tuple(
        table for table in whole.tables if isinstance(schema.tables[table.name].ownership, Public)
    )
    return DuckDBSource(whole.database if tables else None, tables)


class RemoteEngine:
    """An engine whose queries of public tables and whose jobs run in workers.

    It has no way to read a private row. `source` has all tables and `public` the public ones.
    `cache_salt` is that of the sums which workers may keep: all of them the same.
    """

    def __init__(
        self,
        pool: Pool,
        schema: Schema,
        source: Source,
        public: Source,
        version: Version,
        cache_salt: str,
    ) -> None:
        self._cache_salt = cache_salt
        self._pool = pool
        self._schema = schema
        self._source = source
        self._public = public
        self._version = version
        self._declares_version = schema.version is not None
        self._guard = threading.Lock()
        self._running: set[threading.Event] = set()

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = _NO_TABLES,
        *,
        as_rows: bool = False,  # noqa: ARG002 - rows come through a pipe in any case
        limit: ReadLimit | None = None,
    ) -> Raw:
        """Run one SELECT over public tables; the worker opens no others for it."""
        if parameters or tables:
            raise InternalError("public rows are read without parameters")
        reply = self._do(ReadPublic(self._public, sql, limit))
        if limit is not None and reply[:1] == TOO_LARGE:
            raise limit.passed()
        return Raw(tables_of(reply)["rows"])

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Statements over public tables, one by one: jobs are carried out as a whole."""
        return nullcontext(self)

    def carry_out(
        self,
        steps: tuple[Step, ...],
        released: Mapping[str, pa.Table],
        meanwhile: Callable[[], None],
    ) -> dict[str, pa.Table]:
        """Execute and release `steps` in a worker; `released` are tables that they read by name.

        `meanwhile` is called here while the worker runs.
        """
        version = None if self._declares_version else self.fingerprint()
        sent = {name: stream(table) for name, table in released.items()}
        sidecar = sidecar_of(self._schema, self.fingerprint)
        job = Job(self._source, steps, self._schema.per_query.largest, self._cache_salt)
        reply = self._do(RunJob(job, version, sidecar, sent), meanwhile)
        if reply[:1] == TOO_LARGE:
            raise job.largest.passed()
        tables = tables_of(reply)
        return {step.name: tables[step.name] for step in steps}

    @property
    def opened(self) -> Source:
        """The source as workers open it, with its private tables."""
        return self._source

    def has_files(self, files: set[Identity | None]) -> bool:
        """Whether the source has each of `files` now; None stands for any."""
        return files <= {None, identity(self._source)}

    def columns(self, table: str) -> Columns:
        """Names and types of a table's columns, as the schema declares them."""
        return next(own.columns or () for own in self._source.tables if own.name == table)

    def row_count_for_planning(self, table: str) -> int:
        """Raise InternalError: the number of a private table's rows stays in the worker."""
        raise InternalError(f"how many rows {table} has is private")

    @property
    def supports(self) -> Supported | None:
        """What the source's server computes, if it has one."""
        return supported(self._source)

    def ping(self) -> None:
        """Raise `SourceFault` if a worker finds the source's server gone: other sources stay."""
        if self.supports is not None:
            text_of(self._do(Ping(self._source)))

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """The names of the sidecar's tables, which a worker reads."""
        sidecar = sidecar_of(self._schema, self.fingerprint)
        if sidecar is None:
            return frozenset()
        return names_of(self._do(ReadPrepared(self._source, sidecar)))

    @property
    def holds_sidecar(self) -> bool:
        """False: a worker opens it when a job comes, and it may be gone by then."""
        return False

    def fingerprint(self) -> str:
        """The fingerprint of the data as they are now."""
        return self._version(lambda: text_of(self._do(Fingerprint(self._source))))

    def interrupt(self) -> None:
        """Stop the tasks that run for this engine."""
        with self._guard:
            for cancelled in self._running:
                cancelled.set()

    def close(self) -> None:
        """Stop the tasks that run; the workers stay, since other sessions share them."""
        self.interrupt()

    def _do(self, task: Task, meanwhile: Callable[[], None] = nothing) -> bytes:
        check_may_wait()
        cancelled = threading.Event()
        with self._guard:
            self._running.add(cancelled)
        try:
            reply = self._pool.run(task, cancelled, meanwhile=meanwhile)
            if reply in {STOPPED, LACKED} and cancelled.is_set():
                raise ExecutionCancelled
            return reply
        finally:
            with self._guard:
                self._running.discard(cancelled)


class RemoteExecution(Execution):
    """Runs jobs in workers, in the order of their `line`; what is above a release runs here.

    `meanwhile` is called while a worker runs a job.
    """

    def __init__(
        self,
        schema: Schema,
        engine: RemoteEngine,
        line: AdmissionQueue,
        facts: Callable[[], SourceFacts],
        progress: Progress,
        sandbox: WholeEngine,
    ) -> None:
        super().__init__(schema, progress)
        self._remote = engine
        self._line = line
        self._ticket = Ticket()
        self._shared_facts = facts
        self._aside = sandbox
        self.meanwhile: Callable[[], None] = nothing

    def source(self) -> Engine:
        """The engine whose queries workers run."""
        return self._remote

    def finisher(self) -> Engine:
        """The engine for operators above a release, which reads released tables alone."""
        if self._finisher is None:
            self._finisher = postprocessing_engine(threads=1, memory_limit=_FINISHING_MEMORY)
        return self._finisher

    def facts(self) -> SourceFacts:
        """Public facts about the data, which all sessions share."""
        return self._shared_facts()

    def _opened(self) -> Source:
        """What workers open."""
        return self._remote.opened

    def check_files(self, due: Sequence[CompiledRelease]) -> None:
        """Raise SourceFault if `due` was compiled for other files than there are.

        By keys that hold in those limits may have been left out of it. A worker looks again.
        """
        if not self._remote.has_files({release.step.files for release in due}):
            raise SourceFault(
                "the source has changed while the statement waited; nothing was charged",
                hint="ask again",
            )

    @contextmanager
    def turn(self, due: Callable[[], frozenset[str]]) -> Iterator[None]:
        """Wait until a worker is free, and no other session runs a release whose key is `due`."""
        keys = due()
        if not keys:
            yield
            return
        check_may_wait()
        self._ticket = Ticket()
        with self._line.acquire(self._ticket, keys):
            yield

    def run(
        self, steps: tuple[Step, ...], randomness: Randomness, read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        """The released tables of `steps`.

        `randomness` is unused: a worker draws from its system's generator.
        """
        del randomness
        # A cancel that came while it was charged has found nothing to stop.
        self._progress("handing the statement to a worker")
        return self._remote.carry_out(steps, read, self.meanwhile)

    def interrupt(self) -> None:
        """Stop the statement that runs, whose charge stands, or one that waits, uncharged."""
        self._line.cancel(self._ticket)
        self._remote.interrupt()
        super().interrupt()
