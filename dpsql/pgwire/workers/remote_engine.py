"""The engine that a session of the server sees: private rows stay in the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import MappingProxyType
from typing import Final

import pyarrow as pa

from dpsql.engine.arrow_result import stream
from dpsql.engine.engine import Snapshot
from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.opening import supported
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import Columns, DuckDBSource, Source
from dpsql.engine.supported import Supported
from dpsql.errors import ExecutionCancelled, InternalError
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.workers.pool import ExpectedJob, Pool
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
from dpsql.release.job import Job, Step
from dpsql.schema.model import Public, Schema
from dpsql.session.sidecar import sidecar_of
from dpsql.structs import replace

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})

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
        self._expected: ExpectedJob | None = None

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
        expected, self._expected = self._expected, None
        if expected is not None and not released and expected.job.job.steps == steps:
            job, run = expected.job, partial(self._pool.run_expected, expected)
        else:
            job = self._job(steps, released)
            run = partial(self._pool.run, job)
        reply = self._cancellable(lambda cancelled: run(cancelled, meanwhile=meanwhile))
        if reply[:1] == TOO_LARGE:
            raise job.job.largest.passed()
        tables = tables_of(reply)
        return {step.name: tables[step.name] for step in steps}

    def expect(self, steps: tuple[Step, ...]) -> None:
        """Tell a worker of `steps`, which are about to be charged, and to be carried out then.

        Of none, what was expected before is forgotten, as of a statement that had no charge.
        """
        self._expected = self._pool.expect(self._job(steps, _NO_TABLES)) if steps else None

    def _job(self, steps: tuple[Step, ...], released: Mapping[str, pa.Table]) -> RunJob:
        """`steps` over the data as they are now; `released` are tables that they read by name."""
        version = None if self._declares_version else self.fingerprint()
        sent = {name: stream(table) for name, table in released.items()}
        sidecar = sidecar_of(self._schema, self.fingerprint)
        job = Job(self._source, steps, self._schema.per_query.largest, self._cache_salt)
        return RunJob(job, version, sidecar, sent)

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

    def _do(self, task: Task) -> bytes:
        return self._cancellable(lambda cancelled: self._pool.run(task, cancelled))

    def _cancellable(self, run: Callable[[threading.Event], bytes]) -> bytes:
        """The reply that `run` gives, which ends soon after its event is set."""
        check_may_wait()
        cancelled = threading.Event()
        with self._guard:
            self._running.add(cancelled)
        try:
            reply = run(cancelled)
            if reply in {STOPPED, LACKED} and cancelled.is_set():
                raise ExecutionCancelled
            return reply
        finally:
            with self._guard:
                self._running.discard(cancelled)
