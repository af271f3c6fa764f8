"""What all connections share: schema, workers, catalogue; taken anew when files change."""

from __future__ import annotations

import datetime as dt
import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from dpsql.engine.fingerprint import Identity, identity
from dpsql.engine.source import Columns, Source
from dpsql.errors import Error, ExecutionFailed, SourceFault
from dpsql.pgwire.catalog.catalog import Catalog
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.workers.admission_queue import AdmissionQueue
from dpsql.pgwire.workers.catalog_pool import CatalogWorkers
from dpsql.pgwire.workers.pool import Pool
from dpsql.pgwire.workers.public_statements import PublicStatements
from dpsql.pgwire.workers.remote_engine import RemoteEngine, RemoteSession, public_part
from dpsql.pgwire.workers.tasks import ReadColumns, columns_of
from dpsql.schema.load.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.compile.source_facts import SourceFacts
from dpsql.session.dataset import load_dataset
from dpsql.session.ledger_access import open_ledger
from dpsql.session.run.execution import Progress
from dpsql.session.sidecar import remove_left, sidecar_seen

_START_SECONDS: Final = 120
"""For the first worker to start, and to read names and types."""

log = logging.getLogger("dpsql.pgwire")


class SchemaSnapshot:
    """The schema as its file is at one time, and what follows from it."""

    def __init__(
        self, schema: Schema, pool: Pool, line: AdmissionQueue, workers: CatalogWorkers
    ) -> None:
        self.schema = schema
        self.catalog = Catalog(schema, workers)
        self._pool = pool
        self._line = line
        self._catalog_workers = workers
        # All sessions' own: there may be a hundred thousand columns.
        self._source = engine_source(schema)
        self._public = public_part(self._source, schema)
        self._guard = threading.Lock()
        self._version: tuple[Identity, str] | None = None
        self._facts: tuple[object, SourceFacts] | None = None
        # The owner hears of a schema that the ledger doesn't hold, not the first analyst. A file is
        # held open: on a full disk the first to open it has no room for its log, others need none.
        self._ledger = open_ledger(schema)
        if not isinstance(schema.ledger, Path):
            self._ledger.close()
        remove_left(schema)

    def session(self, analyst: str, progress: Progress) -> RemoteSession:
        """One analyst's session."""
        engine, aside = self._engine(), PublicStatements(self._catalog_workers, analyst)
        return RemoteSession(self.schema, analyst, engine, self._line, self.facts, progress, aside)

    def close(self) -> None:
        """Let go of the ledger; sessions have their own openings."""
        with suppress(Error):
            self._ledger.close()

    def facts(self) -> SourceFacts:
        """Public facts about the data as they are now, which all sessions share."""
        now = identity(self._source), sidecar_seen(self.schema)
        with self._guard:
            if self._facts is None or self._facts[0] != now:
                # Asked once: a worker has to open the sidecar for it.
                prepared = cache(lambda: self._engine().sidecar_tables)
                self._facts = now, SourceFacts(self.schema, self._engine, prepared)
            return self._facts[1]

    def _engine(self) -> RemoteEngine:
        return RemoteEngine(self._pool, self.schema, self._source, self._public, self._fingerprint)

    def _fingerprint(self, find: Callable[[], str]) -> str:
        """The data's version; a worker reads them only when their files have changed."""
        now = identity(self._source)
        with self._guard:
            known = self._version
        if known is not None and known[0] == now:
            return known[1]
        found = find()
        with self._guard:
            self._version = now, found
        return found


class Dataset:
    """The dataset that a server answers about."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._stamp = self._stat()
        self.pool = Pool(limits.workers, limits.worker_bytes, limits.statement_seconds)
        # While the workers are busy, the next are charged.
        self.line = AdmissionQueue(limits.workers + 2)
        self.catalog_workers = CatalogWorkers(limits)
        try:
            self._snapshot = self._read()
        except BaseException:
            self._end_workers()
            raise

    def snapshot(self) -> SchemaSnapshot:
        """The schema as its file is now; one that can't be read, or is looser, changes nothing."""
        with self._guard:
            stamp = self._stat()
            if stamp is not None and (stamp != self._stamp or self._is_over()):
                self._stamp = stamp
                try:
                    before, self._snapshot = self._snapshot, self._read()
                    before.close()
                    log.info("the schema was read anew")
                except Error as error:
                    log.error("the schema is not read anew: %s", error.message)  # noqa: TRY400
            return self._snapshot

    def close(self) -> None:
        """End the workers, and let go of the ledger."""
        self._end_workers()
        self._snapshot.close()

    def _end_workers(self) -> None:
        self.pool.close()
        self.catalog_workers.close()

    def _is_over(self) -> bool:
        """The period whose budget the schema has: others have their own."""
        period = self._snapshot.schema.period
        today = dt.datetime.now(dt.UTC).date()
        return period is not None and not period.first <= today < period.after

    def _read(self) -> SchemaSnapshot:
        # Types that the file leaves out are in the source, which workers alone open.
        def read(source: Source) -> dict[str, Columns]:
            try:
                told = self.pool.run(ReadColumns(source), threading.Event(), _START_SECONDS)
                return columns_of(told)
            except ExecutionFailed:
                raise SourceFault(
                    "no worker could read the source's catalogue",
                    hint="the owner can run dpsql check",
                ) from None

        return SchemaSnapshot(
            load_dataset(self._path, read=read), self.pool, self.line, self.catalog_workers
        )

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - one call
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
