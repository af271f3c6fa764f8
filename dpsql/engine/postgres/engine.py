"""The engine over a PostgreSQL server: opens, checks, has it compute, or pulls and computes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Self, final

import duckdb
import pyarrow as pa

from dpsql.engine.digest import digest_of
from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.duckdb.semantics import check_semantics
from dpsql.engine.duckdb.statement import single_select
from dpsql.engine.postgres.access import check_source
from dpsql.engine.postgres.catalog import read_role
from dpsql.engine.postgres.column_types import offered_type
from dpsql.engine.postgres.connection import IdleConnection
from dpsql.engine.postgres.semantics import SUPPORTED, is_proved
from dpsql.engine.postgres.sidecar.reading import usable_tables
from dpsql.engine.postgres.snapshot import ServerSnapshot
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import Columns, PostgresSource
from dpsql.engine.supported import Supported
from dpsql.errors import InterfaceError

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})
_MAX_PARSED: Final = 64


@final
class PostgresEngine:
    """A server that computes, and an in-memory DuckDB, locked, into which tables are pulled.

    Every snapshot is of the server's data at its time, checks again what was checked when the
    engine was opened, and reads in one READ ONLY transaction.
    """

    def __init__(
        self,
        source: PostgresSource,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self._source = source
        self._guard = threading.Lock()
        self._running: dict[int, ServerSnapshot] = {}
        self._connections = IdleConnection(source)
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
                check_semantics(cursor)
            self._read_catalog()
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
        """Run one SELECT on the data as they are now; see `ServerSnapshot.execute`."""
        with self.snapshot() as rows:
            return rows.execute(sql, parameters, tables, as_rows=as_rows, limit=limit)

    @contextmanager
    def snapshot(self) -> Iterator[ServerSnapshot]:
        """The data as they are now, for several statements of one thread."""
        if not self._open:
            raise InterfaceError("the engine is closed")
        with self._guard:
            cursor = self._connection.cursor()
            snapshot = ServerSnapshot(self._source, cursor, self._connections, self._parsed)
            self._running[id(snapshot)] = snapshot
        try:
            yield snapshot
        finally:
            with self._guard:
                del self._running[id(snapshot)]
            snapshot.close()

    def columns(self, table: str) -> Columns:
        """Names and types of a table's columns on the server, in order."""
        return self._columns[table]

    def row_count_for_planning(self, table: str) -> int:
        """How many rows the server's planner guesses that a table has; 0 where it has no guess."""
        return self._rows.get(table, 0)

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """None in a file; statements that the server computes name what they read there."""
        return frozenset()

    def role(self) -> str:
        """The role that reads."""
        server = self._connections.take()
        try:
            return read_role(server).name
        finally:
            self._connections.give_back(server)

    def prepared_tables(self, sidecar: ServerSidecar) -> frozenset[str]:
        """The tables of `sidecar` on the server that can be read now."""
        wanted = {table.name for table in sidecar.tables}
        server = self._connections.take()
        try:
            return usable_tables(
                server, sidecar, [table for table in self._source.tables if table.name in wanted]
            )
        finally:
            self._connections.give_back(server)

    @property
    def holds_sidecar(self) -> bool:
        """True of the tables of a sidecar, of which there are none."""
        return True

    @property
    def supports(self) -> Supported:
        """What the server computes of its own rows."""
        return SUPPORTED

    def ping(self) -> None:
        """Raise `SourceFault` if the server isn't there any more."""
        self._connections.give_back(self._connections.take())

    def fingerprint(self) -> str:
        """Which version of the data its owner says that it is."""
        return digest_of("stated version", self._source.version)

    def interrupt(self) -> None:
        """Stop the statements that are running now, here and on the server."""
        with self._guard:
            for snapshot in self._running.values():
                snapshot.interrupt()

    def close(self) -> None:
        """Let go of the source; the engine runs nothing afterwards."""
        self._open = False
        self.interrupt()
        self._connections.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_catalog(self) -> None:
        server = self._connections.take()
        try:
            catalog = check_source(server, self._source.tables)
            is_proved(server)
        finally:
            self._connections.give_back(server)
        tables = {table.name: catalog[table.location] for table in self._source.tables}
        self._columns = {
            name: tuple((column.name, offered_type(column.type)) for column in of.columns.values())
            for name, of in tables.items()
        }
        self._rows = {name: of.rows for name, of in tables.items()}

    def _parse(self, sql: str) -> duckdb.Statement:
        with self._connection.cursor() as cursor:
            return single_select(cursor, sql)
