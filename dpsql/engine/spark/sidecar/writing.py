"""Writes a sidecar's tables to Spark's catalog, by an address of their owner's.

What is stored is what a scan of each table reads, in the words of any statement. How many rows have
a unit is counted by another statement, by semi-joins alone; a table with another number of rows, of
which some lead to several rows by keys that come twice, is not stored. Each writing makes
tables of new names, then the record that names them, and drops those of before. So a reader has the
tables of before or the new ones, whole; one that reads tables which are dropped fails.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from msgspec import Struct

from dpsql.engine.sidecar.server import ServerSidecar, ServerSidecarTable
from dpsql.engine.sidecar.server_counts import CountSql, count_columns
from dpsql.engine.source import ServerTable, SparkSource
from dpsql.engine.spark.session import SparkServerSession
from dpsql.engine.spark.sidecar.columns import ROW_COUNT, UNIT, stored_columns
from dpsql.engine.spark.sidecar.record import (
    RECORD,
    RecordedTable,
    database,
    files_digest,
    located,
    write_record,
)
from dpsql.engine.spark.tables import columns_of, quoted, relation, spark_type, view_items
from dpsql.engine.supported import ServerSelect, prepared_name
from dpsql.errors import ExecutionFailed, SourceFault

_ROWS_PER_BUCKET: Final = 250_000
"""A bucket is one file and one task: of fewer rows it would be all overhead."""

_SETTINGS: Final = {"spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED"}
"""Days before 1582 are stored as they are."""


class StoredScan(Struct, frozen=True):
    """What is stored of `table`: `rows` is a scan of it with its units, in columns of their names.

    `entry` says what is counted beside them, and `with_unit` counts the rows that have a unit.
    """

    table: ServerTable
    entry: ServerSidecarTable
    rows: ServerSelect
    with_unit: str


@contextmanager
def owner_session(source: SparkSource, url: str) -> Iterator[SparkServerSession]:
    """A session by the owner's address `url`, in which the tables of `source` are views."""
    session = SparkServerSession(SparkSource(url))
    try:
        for name, value in _SETTINGS.items():
            session.set(name, value)
        for table in source.tables:
            offered = dict(columns_of(session, source, table))
            at = relation(session, source, table.name)
            session.define(table.name, at, view_items(table, offered))
        yield session
    finally:
        session.close()


def write_tables(
    session: SparkServerSession,
    sidecar: ServerSidecar,
    tables: Sequence[StoredScan],
    step: Callable[[str], None],
) -> None:
    """Replace the sidecar by one with `tables`; SourceFault if they can't be written."""
    with _writing(sidecar):
        session.run(f"CREATE DATABASE IF NOT EXISTS {database(sidecar.space)}")
    before = _tables(session, sidecar)
    if before and RECORD not in before:
        raise SourceFault(
            f"the database {sidecar.space} has tables, and dpsql prepare didn't write them",
            hint=f"move them to another one, or DROP DATABASE {sidecar.space} CASCADE",
        )
    mark = secrets.token_hex(6)
    names = [f"t{number}_{mark}" for number in range(len(tables))]
    is_recorded = False
    try:
        recorded = []
        for stored, name in zip(tables, names, strict=True):
            step(f"storing the rows of {stored.table.name}")
            with _writing(sidecar):
                recorded.append(_filled(session, sidecar, stored, name))
        step("writing the record")
        with _writing(sidecar):
            write_record(session, sidecar.space, sidecar.stamp, recorded)
        is_recorded = True
    finally:
        _drop(session, sidecar, before - {RECORD} if is_recorded else names)


@contextmanager
def _writing(sidecar: ServerSidecar) -> Iterator[None]:
    failed = False
    try:
        yield
    except ExecutionFailed:
        failed = True
    if failed:
        raise SourceFault(
            f"the database {sidecar.space} can't be written",
            hint="name by --as an address that may create a database in Spark's own catalog, and"
            " see what Spark's log says",
        )


def _tables(session: SparkServerSession, sidecar: ServerSidecar) -> frozenset[str]:
    rows = session.pairs(f"SHOW TABLES IN {database(sidecar.space)}")
    # Views of the session are among them, in no database.
    return frozenset(name for space, name in rows if space == sidecar.space)


def _drop(
    session: SparkServerSession, sidecar: ServerSidecar, names: Sequence[str] | frozenset[str]
) -> None:
    for name in names:
        # One that stays costs storage alone: no record names it.
        with suppress(ExecutionFailed, SourceFault):
            session.run(f"DROP TABLE IF EXISTS {located(sidecar.space, name).name} PURGE")


def _filled(
    session: SparkServerSession, sidecar: ServerSidecar, stored: StoredScan, name: str
) -> RecordedTable:
    """Make the table `name` with the rows of `stored`, each once."""
    at, rows = located(sidecar.space, name), f"({stored.rows.sql}) AS `t`"
    buckets = _buckets(session, stored.table)
    # Of our own texts, of the schema's names, and of nothing else.
    counted = f"SELECT {', '.join(_items(stored))} FROM {rows}"  # noqa: S608
    by_unit = f"SELECT /*+ REPARTITION({buckets}, {quoted(UNIT)}) */ * FROM ({counted}) AS `u`"  # noqa: S608
    session.run(
        f"CREATE TABLE {at.name} USING parquet CLUSTERED BY ({quoted(UNIT)})"
        f" SORTED BY ({quoted(ROW_COUNT)}, {quoted(UNIT)}) INTO {buckets} BUCKETS AS {by_unit}"
    )
    count, expected = (
        int(session.rows(sql).column(0)[0].as_py())
        for sql in (f"SELECT COUNT(*) FROM {at.name}", stored.with_unit)  # noqa: S608 - see above
    )
    if count != expected:
        raise SourceFault(
            f"{stored.table.name} can't be prepared: its rows would not be there once each",
            hint="correct the keys that dpsql check says don't hold, and prepare it again",
        )
    view = prepared_name(stored.table.name)
    session.define(view, at, ["*"])
    return RecordedTable(stored.table.name, name, buckets, files_digest(session, view))


def _buckets(session: SparkServerSession, table: ServerTable) -> int:
    """As many as a release would have parts by the cluster's own settings, unless rows are few."""
    rows = int(session.rows(f"SELECT COUNT(*) FROM {quoted(table.name)}").column(0)[0].as_py())  # noqa: S608
    parts = int(session.setting("spark.sql.shuffle.partitions") or 1)
    return max(1, min(parts, -(-rows // _ROWS_PER_BUCKET)))


def _items(stored: StoredScan) -> list[str]:
    """The columns of a stored table, of the rows of a scan."""
    kinds = dict(stored.table.columns or ())
    counts = count_columns(stored.entry.group_count_columns, count_sql(kinds))
    computed = {name: sql for name, _, sql in counts}
    return [
        # A text of a scan is of a collation by name, and one of the table of none.
        f"CAST({computed.get(column.name, quoted(column.name))} AS {spark_type(column.kind)})"
        f" AS {quoted(column.stored_as)}"
        for column in stored_columns(stored.table, stored.entry)
    ]


def count_sql(kinds: dict[str, str]) -> CountSql:
    """What rows are counted by, of columns of these DuckDB types.

    Statements that show texts group those whose bytes aren't UTF-8 with NULL: so they are counted.
    Of such rows one with NULL is marked, if there is one, for statements that list NULL.
    """

    def value(name: str) -> str:
        column = quoted(name)
        return f"TRY_VALIDATE_UTF8({column})" if kinds[name] == "VARCHAR" else column

    def order(name: str) -> str:
        return f" ORDER BY {quoted(name)} ASC NULLS FIRST"

    return CountSql("INT", quoted, value, order)
