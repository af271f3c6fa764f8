"""The engine over Spark: opens a session, checks what it computes, and hands out snapshots."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Self, final

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.digest import digest_of
from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.duckdb.semantics import check_semantics as check_duckdb
from dpsql.engine.duckdb.statement import single_select
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import Columns, SparkSource
from dpsql.engine.spark.address import read_address
from dpsql.engine.spark.semantics import SUPPORTED, check_semantics
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.sidecar.reading import usable_tables
from dpsql.engine.spark.snapshot import SparkSnapshot
from dpsql.engine.spark.tables import columns_of, view_items
from dpsql.engine.supported import Supported
from dpsql.errors import InterfaceError, SourceFault

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})
_MAX_PARSED: Final = 64

_PROVED: Final[set[str]] = set()
"""The addresses whose claims were tested in this process, as pyspark is given them.

A folder of tables isn't part of one: the server computes alike, whatever files it reads.
"""


@final
class SparkEngine:
    """Sessions on Spark, and an in-memory DuckDB, locked, for rows of public tables.

    Every snapshot has a session of its own, which checks again what was checked when the engine was
    opened. One that is idle is kept.
    """

    def __init__(
        self,
        source: SparkSource,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._running: dict[int, SparkSnapshot] = {}
        self._idle: SparkServerSession | None = None
        self._parsed = lru_cache(maxsize=_MAX_PARSED)(self._parse)
        resources = {"threads": threads, "memory_limit": memory_limit}
        self._connection = duckdb.connect(
            ":memory:", config={name: str(to) for name, to in resources.items() if to is not None}
        )
        self._open = True
        try:
            configure(self._connection, own_statistics=True)
            lock(self._connection, ())
            with self._connection.cursor() as cursor:
                check_duckdb(cursor)
            self._columns = self._read_columns()
        except BaseException:
            self.close()
            raise

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = _NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        """Run one SELECT of public rows; see `SparkSnapshot.execute`."""
        with self.snapshot() as rows:
            return rows.execute(sql, parameters, tables, as_rows=as_rows, limit=limit)

    def check_rows(self, tree: exp.Expr) -> pa.Table:
        """The rows of an owner's check, which Spark computes."""
        with self.snapshot() as rows:
            return rows.check_rows(tree)

    @contextmanager
    def snapshot(self) -> Iterator[SparkSnapshot]:
        """The data as they are now, for several statements of one thread."""
        session = self._take()
        with self._guard:
            cursor = self._connection.cursor()
            snapshot = SparkSnapshot(self._source, cursor, session, self._parsed)
            self._running[id(snapshot)] = snapshot
        is_whole = False
        try:
            yield snapshot
            is_whole = True
        finally:
            with self._guard:
                del self._running[id(snapshot)]
            snapshot.close()
            self._give_back(session, is_whole=is_whole)

    def columns(self, table: str) -> Columns:
        """Names and types of a table's columns on Spark, in order."""
        return self._columns[table]

    def row_count_for_planning(self, table: str) -> int:  # noqa: ARG002 - as all engines do
        """0: only reading all rows would tell."""
        return 0

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """None in a file; statements that Spark computes name what they read there."""
        return frozenset()

    def prepared_tables(self, sidecar: ServerSidecar) -> frozenset[str]:
        """The tables of `sidecar` in Spark's catalog that can be read now."""
        wanted = {table.name for table in sidecar.tables}
        tables = [table for table in self._source.tables if table.name in wanted]
        session = self._take()
        try:
            return usable_tables(session, sidecar, tables)
        finally:
            session.close()

    @property
    def holds_sidecar(self) -> bool:
        """True of the tables of a sidecar, of which there are none."""
        return True

    @property
    def supports(self) -> Supported:
        """What Spark computes of its own rows."""
        return SUPPORTED

    def ping(self) -> None:
        """Raise `SourceFault` if Spark isn't there any more.

        A session that was idle may have ended without Spark: another one is opened then.
        """
        session = self._take()
        try:
            session.ping()
        except SourceFault:
            session.close()
            session = self._take()
            session.ping()
        self._give_back(session, is_whole=True)

    def fingerprint(self) -> str:
        """Which version of the data its owner says that it is."""
        return digest_of("stated version", self._source.version)

    def interrupt(self) -> None:
        """Stop the statements that are running now, here and on Spark."""
        with self._guard:
            running = list(self._running.values())
        for snapshot in running:
            snapshot.interrupt()

    def close(self) -> None:
        """Let go of the source; the engine runs nothing afterwards."""
        self._open = False
        self.interrupt()
        with self._guard:
            session, self._idle = self._idle, None
        if session is not None:
            session.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_columns(self) -> Mapping[str, Columns]:
        """The columns of all tables, each of which can be read as it is declared."""
        session = self._take()
        remote = read_address(self._source.url).remote
        is_own = self._source.session is None
        if not is_own or remote not in _PROVED:
            check_semantics(session)
        if is_own:
            _PROVED.add(remote)
        columns = {}
        for table in self._source.tables:
            columns[table.name] = offered = columns_of(session, self._source, table)
            if table.columns is not None:
                view_items(table, dict(offered))
        # What it was set to for the check isn't for statements.
        session.close()
        return columns

    def _take(self) -> SparkServerSession:
        if not self._open:
            raise InterfaceError("the engine is closed")
        with self._guard:
            session, self._idle = self._idle, None
        return SparkServerSession(self._source) if session is None else session

    def _give_back(self, session: SparkServerSession, *, is_whole: bool) -> None:
        """Keep a session for the next one, unless something failed in it."""
        with self._guard:
            if is_whole and self._open and self._idle is None and not session.is_interrupted:
                self._idle = session
                return
        session.close()

    def _parse(self, sql: str) -> duckdb.Statement:
        with self._connection.cursor() as cursor:
            return single_select(cursor, sql)
