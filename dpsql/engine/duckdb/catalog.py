"""Names and types of a source's tables, never anything of their rows.

Only base tables: a view can mix the rows of several units, and no catalogue would say so. Domains,
keys and nullability are not read: an ENUM's labels or a column's statistics depend on rows.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.csv import header
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import DATABASE, bytes_of_decimal, describe, digits_of
from dpsql.engine.source import (
    FAILING_DECIMALS,
    FAILING_MOMENTS,
    FAILING_TIMES,
    Columns,
    DuckDBSource,
    SourceTable,
)
from dpsql.errors import SourceFault, SourceLocked

_BASE_TABLES = """
SELECT concat(nullif(c.schema_name, 'main') || '.', c.table_name), c.column_name, c.data_type
FROM duckdb_columns() AS c JOIN duckdb_tables() AS t USING (table_oid, database_oid)
WHERE c.database_name = ? AND NOT t.temporary AND NOT contains(c.schema_name, '.')
    AND NOT contains(c.table_name, '.')
ORDER BY c.schema_name <> 'main', c.schema_name, c.table_name, c.column_index
"""
# A table whose name has a dot ("sales.orders") is left out: it isn't orders of the schema sales.


_MOMENTS: Final = frozenset({"TIMESTAMP", "TIMESTAMP WITH TIME ZONE"})
_TIMES: Final = frozenset({"TIME", "TIME_NS"})

_STORED: Final = """
SELECT coalesce(num_children, 0), coalesce(type = 'INT64'
    AND (converted_type = 'TIMESTAMP_MICROS' OR contains(logical_type, 'MICROS=MicroSeconds()')),
    FALSE), CASE type WHEN 'FIXED_LEN_BYTE_ARRAY' THEN CAST(type_length AS INTEGER)
    WHEN 'BYTE_ARRAY' THEN 2147483647 ELSE 0 END
FROM parquet_schema(?)
"""
"""The nodes of a file's schema, whether each is a moment in microseconds, and its bytes at most."""

_HINTS: Final = {
    FAILING_MOMENTS: "write the file again, with microseconds",
    FAILING_TIMES: "write the file again, with times as text",
    FAILING_DECIMALS: "write the file again",
}

PATIENCE_SECONDS: Final = 5.0
"""How long to wait for a source that another process has open for writing."""

_ROWS_AT_ONCE: Final = 4096
_LOCKED: Final = "Could not set lock"

_readers: Final[dict[int, duckdb.DuckDBPyConnection]] = {}
"""By the process, whose forked children must not use it, the database that is used next.

No source is attached to it. To start one, and to have it list its own views first, takes 35 ms; to
list another source takes 5 ms. The first engine that is opened takes it, and most processes open no
other.
"""

_taken: Final[set[int]] = set()
"""The processes an engine of which has taken such a database."""
# What is left of DuckDB when the process ends is complained of on its standard error.
atexit.register(lambda: _readers.pop(os.getpid(), None))


def read_catalog(source: DuckDBSource) -> Mapping[str, Columns]:
    """Read the columns of each base table of a DuckDB file, or of each named file.

    Tables of other schemas than main are called schema.table. Columns of a CSV file are VARCHAR,
    since the file has no types. Raises SourceFault, or SourceLocked.
    """
    if source.database is None and all(table.is_delimited for table in source.tables):
        # No database is needed to read their headers.
        return {table.name: _of_delimited(table) for table in source.tables}
    connection = _readers.pop(os.getpid(), None) or _reader()
    try:
        attach(connection, source)
        columns = _listed(connection, source)
    except BaseException:
        connection.close()
        raise
    _put_back(connection, source)
    return columns


def unlocked_database(
    source: DuckDBSource, threads: int | None, memory_limit: str | None
) -> duckdb.DuckDBPyConnection:
    """A database in memory for `source`, not yet attached; None: the resources that DuckDB takes.

    It is as good as new where a catalogue was read in it: nothing is attached, and `configure` sets
    what it had set again. Where rows may be spilled it is a new one, since an extension has to be
    loaded for that, which `configure` forbids.
    """
    resources = {"threads": threads, "memory_limit": memory_limit}
    process = os.getpid()
    may_take = process not in _taken and source.spill is None
    connection = _readers.pop(process, None) if may_take else None
    if connection is None:
        return duckdb.connect(
            ":memory:", config={name: str(to) for name, to in resources.items() if to is not None}
        )
    _taken.add(process)
    try:
        for name, to in resources.items():
            value = "" if to is None else f" = {exp.Literal.string(str(to)).sql('duckdb')}"
            connection.execute(f"{'SET' if value else 'RESET'} GLOBAL {name}{value}")
    except BaseException:
        connection.close()
        raise
    return connection


def attach(connection: duckdb.DuckDBPyConnection, source: DuckDBSource) -> None:
    """Attach the DuckDB file of `source`, if it has one, read-only; SourceFault if that fails."""
    if source.database is None:
        return
    path = exp.Literal.string(source.database).sql("duckdb")
    until, pause = time.monotonic() + PATIENCE_SECONDS, 0.05
    while True:
        try:
            connection.execute(f'ATTACH {path} AS "{DATABASE}" (READ_ONLY, TYPE duckdb)')
        except duckdb.Error as error:
            # DuckDB has no class for this error; its message names the file, and quotes no rows.
            is_locked = isinstance(error, duckdb.IOException) and _LOCKED in str(error)
        else:
            return
        if not is_locked:
            raise SourceFault(
                f"{source.database} can't be opened as a DuckDB database",
                hint="check that it exists, and was written by this or an older DuckDB",
            )
        if time.monotonic() > until:
            raise SourceLocked(
                f"{source.database} is locked: another process has it open for writing, for more"
                f" than {PATIENCE_SECONDS:g} s",
                hint="close it there; or name a copy of it as source:, or a folder of Parquet"
                " files, and put a new one in its place by renaming it",
            )
        time.sleep(pause)
        pause = min(2 * pause, 0.8)


def catalog(connection: duckdb.DuckDBPyConnection, source: DuckDBSource) -> Mapping[str, Columns]:
    """The columns as of `read_catalog`, for a connection to which the source is attached.

    Where a database waits to read catalogues, it reads this one, since `connection` would bind its
    own views first. Whoever asks compares the files' identity before and after: both databases read
    the same files.
    """
    if os.getpid() in _readers:
        return read_catalog(source)
    return _listed(connection, source)


def check_columns(table: SourceTable, source_columns: Mapping[str, str]) -> None:
    """Raise SourceFault unless the source has the columns of `table`, of types that are read."""
    declared = [stored_as for _, _, stored_as in table.stored]
    missing = [name for name in declared if name not in source_columns]
    if missing or not declared:
        what = f"column {missing[0]} of table {table.name}" if missing else table.name
        raise SourceFault(
            f"the source has no {what}"
            if source_columns
            else f"the source has no table {table.name}",
            hint="correct the schema, or the source",
        )
    for name in declared:
        if (hint := _HINTS.get(kind := source_columns[name])) is not None:
            raise SourceFault(
                f"column {name} of table {table.name} is {kind}, which is not read", hint=hint
            )


def _reader() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    configure(connection)
    return connection


def _put_back(connection: duckdb.DuckDBPyConnection, source: DuckDBSource) -> None:
    """Leave it to who reads a catalogue next, without `source`; of two threads' one is kept."""
    with suppress(duckdb.Error):
        if source.database is not None:
            connection.execute(f'DETACH "{DATABASE}"')
        if _readers.setdefault(os.getpid(), connection) is connection:
            return
    connection.close()


def _listed(connection: duckdb.DuckDBPyConnection, source: DuckDBSource) -> Mapping[str, Columns]:
    columns: dict[str, Columns] = {}
    if source.database is not None:
        columns |= _of_database(connection)
    for table in source.tables:
        if table.file is not None:
            columns[table.name] = _of_file(connection, table)
    return columns


def _of_database(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Columns]:
    rows = connection.execute(_BASE_TABLES, [DATABASE])
    listed: dict[str, list[tuple[str, str]]] = {}
    # Of a hundred thousand columns few differ: equal ones are one object.
    known: dict[tuple[str, str], tuple[str, str]] = {}
    while some := rows.fetchmany(_ROWS_AT_ONCE):
        for table, name, kind in some:
            column = name, kind
            listed.setdefault(table, []).append(known.setdefault(column, column))
    return {table: tuple(columns) for table, columns in listed.items()}


def _of_delimited(table: SourceTable) -> Columns:
    assert table.file is not None
    return tuple((name, "VARCHAR") for name in header(table.file, table.csv))


def _of_file(connection: duckdb.DuckDBPyConnection, table: SourceTable) -> Columns:
    if table.is_delimited:
        return _of_delimited(table)
    with suppress(duckdb.Error):
        relation = connection.sql(describe(table).sql("duckdb"))
        columns = tuple(zip(relation.columns, map(str, relation.types), strict=True))
        return _with_failing_types(connection, table, columns)
    raise SourceFault(
        f"{table.file} can't be read as a Parquet file",
        hint="write it again, or correct the source",
    )


def _with_failing_types(
    connection: duckdb.DuckDBPyConnection, table: SourceTable, columns: Columns
) -> Columns:
    """`columns` of a Parquet file, of types that aren't read where one value fails whoever reads.

    DuckDB's reader raises below each TRY of ours, and so one unit's value would fail all statements
    of the column: a moment some 292,000 years away, where 64 bits don't hold the microseconds that
    milliseconds are multiplied to or the days and nanoseconds of INT96 add up to; a time later than
    24:00:00, as of a night bus at 25:10; a number that DuckDB's integers of so many digits don't
    hold, where a file has more bytes for it than these.
    """
    may_fail = any(k in _MOMENTS or k in _TIMES or digits_of(k) for _, k in columns)
    if table.is_public or not may_fail:
        return columns
    (_, *below) = connection.execute(_STORED, [table.file]).fetchall()
    stored: list[tuple[bool, int]] = []
    open_nodes = 0
    for children, in_microseconds, byte_count in below:
        # A field within a column is none of its own, though it may have the name of one.
        if open_nodes == 0:
            stored.append((in_microseconds, byte_count))
        open_nodes = max(0, open_nodes - 1) + children
    return tuple(
        (name, _readable_type(kind, *how))
        for (name, kind), how in zip(columns, stored, strict=True)
    )


def _readable_type(kind: str, in_microseconds: bool, byte_count: int) -> str:  # noqa: FBT001
    digits = digits_of(kind)
    if kind in _MOMENTS and not in_microseconds:
        return FAILING_MOMENTS
    if kind in _TIMES:
        return FAILING_TIMES
    if digits is not None and byte_count > bytes_of_decimal(digits):
        return FAILING_DECIMALS
    return kind
