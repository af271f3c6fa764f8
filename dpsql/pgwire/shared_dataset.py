"""Schema, workers and catalogue, which all connections share; read anew when files change."""

from __future__ import annotations

import datetime as dt
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from dpsql.engine.fingerprint import Identity, identity_reader
from dpsql.engine.source import Columns, Source
from dpsql.errors import Error, ExecutionFailed, SourceFault
from dpsql.ledger.storage.waiting import WouldWait, check_may_wait, may_wait
from dpsql.ledger.storage.watch import LedgerWatch
from dpsql.pgwire.answering.charged_budget import ChargedBudget
from dpsql.pgwire.answering.held_answers import HeldAnswers
from dpsql.pgwire.answering.interpreter_queue import InterpreterQueue, QueuedPlans
from dpsql.pgwire.answering.repeated_answers import RepeatedAnswers, State
from dpsql.pgwire.catalog.catalog import Catalog
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.sql.translation_cache import TranslationCache
from dpsql.pgwire.statement_errors.overflow import DigitCheck
from dpsql.pgwire.workers.admission_queue import AdmissionQueue
from dpsql.pgwire.workers.catalog_pool import CatalogWorkers
from dpsql.pgwire.workers.pool import Pool
from dpsql.pgwire.workers.public_statements import PublicStatements
from dpsql.pgwire.workers.remote_engine import RemoteEngine, public_part
from dpsql.pgwire.workers.remote_execution import RemoteExecution
from dpsql.pgwire.workers.tasks import ReadColumns, columns_of
from dpsql.privacy.mechanisms.randomness import SystemRandomness
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.answer.answer_cache import AnswerCache
from dpsql.session.compile.generic.statement_shapes import StatementShapes
from dpsql.session.compile.source_facts import SourceFacts
from dpsql.session.dataset import load_dataset
from dpsql.session.ledger_access import ledger_location, open_ledger, with_sample_key
from dpsql.session.run.execution import Progress
from dpsql.session.run.finishing.finishing_copies import FinishingCopies
from dpsql.session.run.statement_cache import StatementCache
from dpsql.session.session import Session
from dpsql.session.shared_ledger import SharedLedger
from dpsql.session.sidecar import remove_left, sidecar_path, sidecar_seen

_START_SECONDS: Final = 120
"""How long the first worker may take to start, and to read names and types of columns."""

_RETRY_SECONDS: Final = 30.0
"""How often a schema is tried again that couldn't be read."""

_REMEMBERED: Final = 256
"""Statements, and answers, that all sessions remember together."""

log = logging.getLogger("dpsql.pgwire")


class SchemaSnapshot:
    """The schema as its file is at one time, with its catalogue, ledger and facts about data."""

    def __init__(
        self, schema: Schema, pool: Pool, line: AdmissionQueue, workers: CatalogWorkers
    ) -> None:
        self.schema = schema
        self.catalog = Catalog(schema, workers)
        self.translations = TranslationCache(schema.tables)
        self.interpreter = InterpreterQueue()
        self._plans = QueuedPlans(self.interpreter, _REMEMBERED)
        self._statements = StatementCache(_REMEMBERED)
        self._shapes = StatementShapes(_REMEMBERED)
        self._answers = AnswerCache(_REMEMBERED)
        self._copies = FinishingCopies()
        self.repeated = RepeatedAnswers()
        self.digits = DigitCheck(_REMEMBERED)
        self._pool = pool
        self._line = line
        self._catalog_workers = workers
        self._guard = threading.Lock()
        self._version: tuple[Identity, str] | None = None
        self._facts: tuple[object, SourceFacts] | None = None
        self._cache_salt = SystemRandomness().bytes(16).hex()
        # Opened here, so that the owner sees a schema that doesn't fit the ledger, not the first
        # analyst. A ledger in a file stays open for all sessions: on a full disk, only the first
        # connection to it needs room for SQLite's log, and to open it takes longer than a query.
        self._ledger = open_ledger(schema)
        # Built once for all sessions: there may be a hundred thousand columns.
        self._source = engine_source(with_sample_key(schema))
        self._public = public_part(self._source, schema)
        self._read_identity = identity_reader(self._source)
        self._sidecar = sidecar_path(schema)
        location = ledger_location(schema)
        self._watch = LedgerWatch(location) if isinstance(location, Path) else None
        self._shared = None if self._watch is None else SharedLedger(self._ledger)
        if self._shared is None:  # a server's connections wait for the network, each for itself
            self._ledger.close()
        remove_left(schema)

    def session(self, analyst: str, progress: Progress, budget: ChargedBudget) -> Session:
        """A session of `analyst`; `progress` hears of each step, and `budget` of each charge."""
        engine, sandbox = self._engine(), PublicStatements(self._catalog_workers, analyst)
        execution = RemoteExecution(self.schema, engine, self._line, self.facts, progress, sandbox)
        execution.plans, execution.answers = self._plans, self._answers
        execution.copies = self._copies
        execution.charged, execution.meanwhile = budget.charged, budget.compute
        execution.ledger = self._shared
        execution.whole.statements, execution.whole.shapes = self._statements, self._shapes
        return Session(self.schema, analyst=analyst, progress=progress, execution=execution)

    def close(self) -> None:
        """Let go of the ledger, which the last session that shares it closes."""
        with suppress(Error):
            if self._shared is not None:
                self._shared.give()
        if self._watch is not None:
            self._watch.close()

    def state(self) -> State | None:
        """What answers depend on now, beside who asks what; None if only a server would tell."""
        if self._watch is None:
            return None
        minute = int(time.time()) // 60  # of which now() is made
        data = self._read_identity(), sidecar_seen(self._sidecar)
        return minute, data, self._watch.version()

    def facts(self) -> SourceFacts:
        """Public facts about the data as the files are now, which all sessions share."""
        now = self._read_identity(), sidecar_seen(self._sidecar)
        with self._guard:
            if self._facts is None or self._facts[0] != now:
                # Read once, since a worker has to open the sidecar for its tables.
                prepared = cache(lambda: self._engine().sidecar_tables)
                self._facts = now, SourceFacts(self.schema, self._engine, prepared, now[0])
            return self._facts[1]

    def _engine(self) -> RemoteEngine:
        public, salt = self._public, self._cache_salt
        return RemoteEngine(self._pool, self.schema, self._source, public, self._fingerprint, salt)

    def _fingerprint(self, find: Callable[[], str]) -> str:
        """The data's fingerprint; `find` has a worker read it, only when the files have changed."""
        now = self._read_identity()
        with self._guard:
            known = self._version
        if known is not None and known[0] == now:
            return known[1]
        fingerprint = find()
        with self._guard:
            self._version = now, fingerprint
        return fingerprint


class Dataset:
    """The dataset of one server: the schema's newest snapshot, and the workers over its data."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._stamp = self._stat()
        self._failed_at: float | None = None
        self._fault = ""
        self.pool = Pool(limits.workers, limits.worker_bytes, limits.statement_seconds)
        # Two more than there are workers: the next statements are charged while workers are busy.
        self.line = AdmissionQueue(limits.workers + 2)
        self.catalog_workers = CatalogWorkers(limits)
        self.held = HeldAnswers(limits.held_bytes)
        try:
            self._snapshot = self._read()
        except BaseException:
            self._end_workers()
            raise

    def snapshot(self) -> SchemaSnapshot:
        """The schema as its file is now.

        If that file can't be read, or allows more than the ledger's terms, the snapshot before it
        stays, and the log says so. It is tried again from time to time: the source may have been
        open for writing just then, and what the owner has tightened must hold soon.
        """
        if not self._guard.acquire(blocking=may_wait()):
            raise WouldWait  # it is read anew now
        try:
            stamp = self._stat()
            is_new = stamp != self._stamp or self._is_over() or self._is_to_be_tried_again()
            if stamp is not None and is_new:
                check_may_wait()
                if stamp != self._stamp:
                    self._fault = ""
                self._stamp, self._failed_at = stamp, time.monotonic()
                try:
                    before, self._snapshot = self._snapshot, self._read()
                    self._failed_at = None
                    before.close()
                    log.info("the schema was read anew")
                except Error as error:
                    if error.message != self._fault:
                        log.error("the schema is not read anew: %s", error.message)  # noqa: TRY400
                    self._fault = error.message
            return self._snapshot
        finally:
            self._guard.release()

    def close(self) -> None:
        """End the workers, and close the ledger."""
        self._end_workers()
        self._snapshot.close()

    def _end_workers(self) -> None:
        self.pool.close()
        self.catalog_workers.close()

    def _is_to_be_tried_again(self) -> bool:
        at = self._failed_at
        return at is not None and time.monotonic() - at >= _RETRY_SECONDS

    def _is_over(self) -> bool:
        """Whether the period whose budget the schema has is over: others have their own budget."""
        period = self._snapshot.schema.period
        today = dt.datetime.now(dt.UTC).date()
        return period is not None and not period.first <= today < period.after

    def _read(self) -> SchemaSnapshot:
        # Types that the schema's file leaves out are in the source, which only workers open.
        def read(source: Source) -> dict[str, Columns]:
            try:
                reply = self.pool.run(ReadColumns(source), threading.Event(), _START_SECONDS)
                return columns_of(reply)
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
            status = os.stat(self._path)  # noqa: PTH116 - one call
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
