"""One version of the server's data, for all statements of a release.

Its connection is opened for the first statement that reads a table, and its transaction lasts as
long as it does. What was pulled stays, in temporary tables of its own cursor, until its end.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.computed_rows import COMPUTED, typed_rows_sql
from dpsql.engine.duckdb.failure_cause import cause_of
from dpsql.engine.duckdb.statement import refuse_shadows, run_and_forget, sealed_rows
from dpsql.engine.needed_columns import needed_columns
from dpsql.engine.postgres.access import check_source
from dpsql.engine.postgres.catalog import CatalogTable, Location, read_tables
from dpsql.engine.postgres.connection import IdleConnection, ServerConnection
from dpsql.engine.postgres.pull import pull
from dpsql.engine.postgres.push import prepared_tables, pushed_sql, pushed_tables
from dpsql.engine.postgres.semantics import is_proved
from dpsql.engine.postgres.sidecar.reading import Stored, sidecar_relations
from dpsql.engine.raw import Raw, Rows
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.source import PostgresSource, ServerTable
from dpsql.engine.supported import ServerParameter, ServerSelect
from dpsql.errors import (
    Error,
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    InternalError,
    SourceFault,
)

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})
_LOG: Final = logging.getLogger("dpsql.engine")


class ServerSnapshot:
    """Runs the statements of one thread; `interrupt` is for others, and ends all of them."""

    def __init__(
        self,
        source: PostgresSource,
        cursor: duckdb.DuckDBPyConnection,
        connections: IdleConnection,
        parsed: Callable[[str], duckdb.Statement],
    ) -> None:
        self._source = source
        self._cursor = cursor
        self._connections = connections
        self._parsed = parsed
        self._declared = frozenset(table.name.casefold() for table in source.tables)
        self._server: ServerConnection | None = None
        self._pulled: dict[str, frozenset[str]] = {}
        self._parts: dict[str, str] = {}
        self._pushable: dict[ServerSelect, tuple[str, Mapping[Location, CatalogTable]]] = {}
        self._guard = threading.Lock()
        self._interrupted = False

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] = (),
        tables: Mapping[str, pa.Table] = _NO_TABLES,
        *,
        as_rows: bool = False,
        limit: ReadLimit | None = None,
    ) -> Raw:
        """Do as `Engine.execute` on this version of the data; a `SourceFault` if it can't be had.

        No fault is made of rows, nor of what the server says of a failure.
        """
        refuse_shadows(tables, self._declared)
        self._attempt(lambda: self._pull(sql))
        raw = sealed_rows(lambda: self._run(sql, parameters, tables, as_rows=as_rows, limit=limit))
        self._attempt(self._check_interrupted)
        return raw

    def computes(self, selects: Sequence[ServerSelect]) -> bool:
        """Whether the server computes each of `selects` as DuckDB would; else rows are pulled.

        That depends on the server and on the types of columns there, never on rows.
        """
        texts: list[str | None] = []
        self._attempt(lambda: texts.extend(map(self._pushed, selects)))
        return None not in texts

    def compute(self, select: ServerSelect, parameters: Sequence[ServerParameter]) -> Raw:
        """The rows of `select` on this version of the data, as the server computes them.

        Faults are those of `execute`.
        """
        computed: list[pa.Table] = []
        self._attempt(lambda: computed.append(self._computed(select, parameters)))
        tables = {COMPUTED: computed.pop()}
        raw = sealed_rows(
            lambda: self._run(typed_rows_sql(select), (), tables, as_rows=False, limit=None)
        )
        self._attempt(self._check_interrupted)
        return raw

    def interrupt(self) -> None:
        """Stop what runs here and on the server, and all that would come after it."""
        with self._guard:
            self._interrupted = True
            self._cursor.interrupt()
            if self._server is not None:
                self._server.cancel()

    def close(self) -> None:
        """End the transaction, and forget what was pulled."""
        with self._guard:
            server, self._server = self._server, None
        if server is not None:
            self._connections.give_back(server)
        self._cursor.close()

    def _attempt(self, work: Callable[[], None]) -> None:
        """Do `work`, which fails as statements fail: what DuckDB says of it is made of rows."""
        failed: Error
        try:
            work()
        except SourceFault as fault:
            failed = fault
            if not self._interrupted:
                _LOG.warning("the server: %s (hint: %s)", fault.message, fault.hint)
        except (ExecutionCancelled, InternalError) as error:
            failed = error
        except duckdb.InterruptException:
            failed = ExecutionCancelled()
        except Exception as error:  # noqa: BLE001 - see above
            _LOG.warning("a table can't be taken from the server: %s", cause_of(error))
            is_full = isinstance(error, duckdb.OutOfMemoryException | MemoryError)
            failed = ExecutionStopped() if is_full else ExecutionFailed()
        else:
            return
        raise ExecutionCancelled if self._interrupted else failed

    def _pull(self, sql: str) -> None:
        needed = {
            name: self._pulled.get(name, frozenset()) | {*columns}
            for name, columns in needed_columns(sql, self._source.tables).items()
        }
        lacking = {name: read for name, read in needed.items() if not self._has(name, read)}
        if not lacking:
            return
        server = self._connected()
        tables = [table for table in self._source.tables if table.name in lacking]
        server.lock([table.location for table in tables])
        catalog = check_source(server, tables)
        for table in tables:
            self._check_interrupted()
            columns = tuple(name for name, _ in table.columns or () if name in lacking[table.name])
            pull(self._cursor, server, table, catalog[table.location], columns)
            self._pulled[table.name] = frozenset(columns)
        self._check_parts(server, tables, catalog)

    def _pushed(self, select: ServerSelect) -> str | None:
        """The text of `select` for the server as it is now, whose tables are locked from now on."""
        server = self._connected()
        tables = pushed_tables(select, self._source.tables)
        prepared = prepared_tables(select, self._source.tables)
        if not (tables or prepared) or not is_proved(server):
            return None
        if tables:
            server.lock([table.location for table in tables])
        catalog = check_source(server, tables)
        stored: Stored | None = {}
        if select.sidecar is not None:
            stored = sidecar_relations(server, select.sidecar, prepared, select.names)
        if stored is None:
            return None
        text = pushed_sql(select, self._source.tables, catalog, stored)
        if text is not None:
            self._pushable[select] = text, catalog
        return text

    def _computed(self, select: ServerSelect, parameters: Sequence[ServerParameter]) -> pa.Table:
        if select not in self._pushable:
            raise InternalError("the server wasn't asked whether it can compute this")
        text, catalog = self._pushable[select]
        server = self._connected()
        rows = server.computed(text, parameters)
        self._check_parts(server, pushed_tables(select, self._source.tables), catalog)
        return rows.rename_columns([name for name, _ in select.columns])

    def _check_parts(
        self,
        server: ServerConnection,
        tables: Sequence[ServerTable],
        catalog: Mapping[Location, CatalogTable],
    ) -> None:
        """Refuse a table that got partitions since it was read first.

        A lock for reading doesn't keep others from attaching one, and its old rows are in the
        snapshot: two statements would read two tables.
        """
        parted = [table for table in tables if catalog[table.location].kind == "p"]
        if not parted:
            return
        now = read_tables(server, [table.location for table in parted])
        for table in parted:
            before = self._parts.setdefault(table.name, catalog[table.location].parts)
            if now[table.location].parts != before:
                raise SourceFault(
                    f"the partitions of {table.name} changed while it was read", hint="ask again"
                )

    def _has(self, table: str, columns: frozenset[str]) -> bool:
        return table in self._pulled and columns <= self._pulled[table]

    def _connected(self) -> ServerConnection:
        if self._server is None:
            server = self._connections.take()
            with self._guard:
                self._server = server
        self._check_interrupted()
        return self._server

    def _check_interrupted(self) -> None:
        if self._interrupted:
            raise ExecutionCancelled

    def _run(
        self,
        sql: str,
        parameters: Sequence[object],
        tables: Mapping[str, pa.Table],
        *,
        as_rows: bool,
        limit: ReadLimit | None,
    ) -> Rows:
        return run_and_forget(
            self._cursor, self._parsed(sql), parameters, tables, as_rows=as_rows, limit=limit
        )
