"""The engine on DuckDB: open, lock, run, interrupt."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Self, final

import duckdb
import pyarrow as pa

from dpsql.engine.duckdb.catalog import attach, catalog, check_columns, unlocked_database
from dpsql.engine.duckdb.csv import as_utf_8, malformed
from dpsql.engine.duckdb.failure_cause import causes_logged
from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.duckdb.sampled_view import sampled_tables, sampled_view, stored_name
from dpsql.engine.duckdb.semantics import check_semantics
from dpsql.engine.duckdb.spill import start_spilling
from dpsql.engine.duckdb.statement import (
    Cursors,
    ParsedSelect,
    named_tables,
    quoted,
    refuse_shadows,
    sealed_rows,
    select,
    single_select,
)
from dpsql.engine.duckdb.table_view import create_view_sql, words
from dpsql.engine.engine import CachedTable, IsCached, Snapshot
from dpsql.engine.fingerprint import fingerprint, identity_reader
from dpsql.engine.raw import Raw, Rows
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sidecar.file import Sidecar, attach_sidecar
from dpsql.engine.source import UTF_8, Columns, DuckDBSource, SourceTable
from dpsql.engine.table_cache import TableCache
from dpsql.errors import ExecutionFailed, InterfaceError, SourceFault

_NO_TABLES: Final[Mapping[str, pa.Table]] = MappingProxyType({})

_MAX_PARSED: Final = 64

_MAX_EAGER_TABLES: Final = 100
"""Of a database with more tables, a view is created of each when a statement first names it."""


@final
class DuckDBEngine:
    """An in-memory DuckDB, locked, in which the source's declared tables can be read.

    Statements run on cursors of their own, in read-only transactions, so calls from several threads
    don't see each other. The engine reads one version of the data: once the source's files have
    changed, each statement raises `SourceFault`, and a new engine has to be opened.
    """

    def __init__(
        self,
        source: DuckDBSource,
        *,
        threads: int | None = None,
        memory_limit: str | None = None,
        sidecar: Sidecar | None = None,
    ) -> None:
        self._source = source
        self._read_identity = identity_reader(source)
        self._identity = self._read_identity()
        self._fingerprint: str | None = None
        self._guard = threading.Lock()
        # A statement is often run again, with other parameters: to parse it takes up to 15 ms.
        self._parsed = lru_cache(maxsize=_MAX_PARSED)(self._parse)
        self._has_rows = lru_cache(maxsize=_MAX_PARSED)(self._look_for_rows)
        self._connection = unlocked_database(source, threads, memory_limit)
        self._cursors = Cursors(self._connection)
        self._open = True
        self._until_closed = ExitStack()
        self._declared = frozenset(table.name.casefold() for table in source.tables)
        self._prepared: frozenset[str] = frozenset()
        self._cache = TableCache(self._cursors.one)
        self._waiting: dict[str, tuple[SourceTable, Mapping[str, str]]] = {}
        # CSV files aren't read to count their rows: that takes as long as a statement.
        self._counted = {table.name: 0 for table in source.tables if table.is_delimited}
        try:
            self._columns = self._create_sidecar_views(sidecar)
            with self._cursors.one() as cursor:
                check_semantics(cursor)
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
        """Run one SELECT; `tables` exist for this statement only.

        `as_rows`: its columns are integers and its rows are few, and are fetched without Arrow.
        Public rows that are more than `limit` raise `TooComplex`.

        Any other failure is `ExecutionFailed`, without DuckDB's message, which may quote rows.
        """
        if not self._open:
            raise InterfaceError("the engine is closed")
        refuse_shadows(tables, self._declared)
        read = named_tables(tables, sql)
        try:
            return sealed_rows(
                lambda: self._run(sql, parameters, read, as_rows=as_rows, limit=limit)
            )
        finally:
            # Of files that have changed it may have read any, or have failed for that.
            self._refuse_changed_files()

    def caching(self, table: CachedTable, tables: Mapping[str, pa.Table]) -> IsCached:
        """While it is entered, whether `table` can be read; it is filled where there is room."""
        self._refuse_changed_files()
        self._create_named_views(table.sql)
        return self._cache.caching(table, tables)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """The engine itself: its files have one version, or it refuses."""
        return nullcontext(self)

    def columns(self, table: str) -> Columns:
        """Names and types of a table's columns in the source, in order; VARCHAR for all of CSV."""
        return self._columns[table]

    def row_count_for_planning(self, table: str) -> int:
        """The number of rows of a table; 0 of a CSV file, which would have to be read.

        0 also if reading fails: the statement that reads the table will raise that error.
        """
        if table not in self._counted:
            with suppress(ExecutionFailed, SourceFault):
                count = self.execute(f"SELECT count(*) FROM {quoted(table)}").table  # noqa: S608
                self._counted[table] = count.column(0)[0].as_py()
        return self._counted.get(table, 0)

    def has_rows_for_planning(self, sql: str) -> bool:
        """Whether a SELECT has rows, which is looked up once."""
        return self._has_rows(sql)

    @property
    def supports(self) -> None:
        """None: there is no server that computes."""

    def ping(self) -> None:
        """Raise SourceFault if a file has changed or is gone: each statement would."""
        self._refuse_changed_files()

    @property
    def sidecar_tables(self) -> frozenset[str]:
        """The tables whose rows, with their units, are in a sidecar that can be used."""
        return self._prepared

    @property
    def holds_sidecar(self) -> bool:
        """True: its file stays open, wherever its name goes."""
        return True

    def fingerprint(self) -> str:
        """Identifies the version of the data; a function of private rows, so only ever compared."""
        if self._fingerprint is None:
            computed = fingerprint(self._source)
            self._refuse_changed_files()
            self._fingerprint = computed
            return computed
        # Otherwise stored answers of this version would be returned for changed files.
        self._refuse_changed_files()
        return self._fingerprint

    def interrupt(self) -> None:
        """Stop the statements that are running now; they end in `ExecutionFailed`."""
        self._cursors.interrupt()

    def close(self) -> None:
        """Close the source; the engine runs nothing afterwards."""
        self._open = False
        self._cursors.close()
        self._until_closed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _create_sidecar_views(self, sidecar: Sidecar | None) -> Mapping[str, Columns]:
        files = [t.file for t in self._source.tables if t.file is not None]
        spilling = start_spilling(self._connection, self._source.spill, self._until_closed)
        configure(self._connection, own_statistics=not files, spilling=spilling)
        attach(self._connection, self._source)
        source_columns = catalog(self._connection, self._source)
        sampled = sampled_tables(self._source)
        for table in self._source.tables:
            columns = dict(source_columns.get(table.name, ()))
            check_columns(table, columns)
            if table.name in sampled:
                self._create_view(table, columns, name=stored_name(table.name))
            elif table.file is None and len(self._source.tables) > _MAX_EAGER_TABLES:
                self._waiting[table.name.casefold()] = table, columns
            else:
                self._create_view(table, columns)
        self._create_sampled_views(sampled)
        if sidecar is not None:
            self._prepared = attach_sidecar(self._connection, sidecar)
        delimited = {table.file for table in self._source.tables if table.is_delimited}
        lock(self._connection, (file for file in files if file not in delimited))
        self._refuse_changed_files()
        return source_columns

    def _create_named_views(self, sql: str) -> None:
        """Create the views of waiting tables that `sql` may name; a view too many does no harm."""
        if not self._waiting:
            return
        with self._guard:
            for name in words(sql) & self._waiting.keys():
                self._create_view(*self._waiting.pop(name))

    def _create_sampled_views(self, names: Sequence[str]) -> None:
        sample, tables = self._source.sample, {table.name: table for table in self._source.tables}
        if sample is None:
            return
        for name in names:
            is_created = False
            with suppress(duckdb.Error):  # it would quote the statement, which has the key
                self._connection.execute(sampled_view(tables[name], sample).sql("duckdb"))
                is_created = True
            if not is_created:
                raise SourceFault(f"no sample can be drawn of table {name}")

    def _create_view(
        self, table: SourceTable, source_columns: Mapping[str, str], *, name: str | None = None
    ) -> None:
        if not table.is_delimited or table.csv.encoding == UTF_8:
            created = create_view_sql(table, source_columns, name=name)
            statement = created.sql("duckdb", copy=False)
            with suppress(duckdb.Error):  # of a CSV file, it quotes the line
                self._connection.execute(statement)
                return
        if table.file is not None and table.is_delimited:
            with suppress(duckdb.Error), as_utf_8(table.file, table.csv) as text:
                created = create_view_sql(table, source_columns, text, name=name)
                self._connection.execute(created.sql("duckdb"))
                return
            raise malformed(table.file)
        raise SourceFault(f"table {table.name} can't be read from the source")

    def _run(
        self,
        sql: str,
        parameters: Sequence[object],
        tables: Mapping[str, pa.Table],
        *,
        as_rows: bool,
        limit: ReadLimit | None,
    ) -> Rows:
        parsed = self._parsed(sql)

        def rows() -> Rows:
            in_transaction = not parsed.is_proved
            with (
                causes_logged(),
                self._cursors.having(tables, in_transaction=in_transaction) as cursor,
            ):
                result = select(cursor, parsed.statement, parameters, as_rows=as_rows, limit=limit)
            parsed.is_proved = True
            return result

        try:
            return self._cache.retrying(rows)
        except duckdb.IOException:
            if self._source.spill is None:
                raise
            raise MemoryError from None  # the disk that is spilled to may be full

    def _look_for_rows(self, sql: str) -> bool:
        return bool(self.execute(sql).table.num_rows)

    def _parse(self, sql: str) -> ParsedSelect:
        self._create_named_views(sql)
        with self._cursors.one() as cursor:
            return ParsedSelect(single_select(cursor, sql))

    def _refuse_changed_files(self) -> None:
        if self._read_identity() != self._identity:
            raise SourceFault(
                "the source has changed since it was opened", hint="connect again to read it anew"
            )
