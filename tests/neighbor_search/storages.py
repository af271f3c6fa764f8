"""A database of a fixture, stored in several ways: orders, row groups, files and threads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
from neighbor_search.public_rows import PUBLIC, create_tables
from notes.compiler import schema_of
from notes.exact import exact_table, raw_groups

from dpsql.audit.databases.boundary_values import boundary_values
from dpsql.engine.duckdb.lockdown import configure
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.model import Column, EntityUnit, Public, Schema, Table
from dpsql.schema.sql_type import Double, Integer, Uuid
from dpsql.session.compile.compiled import CompiledStatement

SALT = "1"


@dataclass(frozen=True)
class Bag:
    """Which rows are stored: `rows` of tables that may have several of a unit; keys may hold.

    DuckDB reads 122,880 of them as a row group. If `common` is given, a column that is no key has
    one value in all rows, which depends on that number.
    """

    trusted: bool
    rows: int = 300_000
    units: int = 60_000
    common: int | None = None


@dataclass(frozen=True)
class Storage:
    """How the rows are stored and read; in Parquet, so many rows are a row group."""

    threads: int
    order: str
    row_group: int | None = None
    other_zeros: bool = False
    in_file: bool = False


STORAGES = (
    Storage(threads=1, order="number"),
    Storage(threads=8, order="hash(number, 1)"),
    Storage(threads=4, order="number DESC", row_group=4_096),
    Storage(threads=2, order="hash(number, 2)", other_zeros=True),
    Storage(threads=8, order="hash(number, 3)", row_group=100_000, other_zeros=True),
)


IN_MEMORY_AND_FILE = (
    Storage(threads=1, order="number"),
    Storage(threads=2, order="number", in_file=True),
)
"""Rows that have one value in a column are read as a constant of a file, and not of memory."""


@cache
def stored(
    name: str, bag: Bag, folder: Path, ways: tuple[Storage, ...] = STORAGES
) -> tuple[duckdb.DuckDBPyConnection, ...]:
    """The same rows of the fixture `name` stored in each of these `ways`."""
    return tuple(
        _connection(schema_of(name), PUBLIC[name], storage, bag, folder / f"{name} {number}")
        for number, storage in enumerate(ways)
    )


def check(
    ready: CompiledStatement, connections: Sequence[duckdb.DuckDBPyConnection], sql: str
) -> None:
    """Every release of a statement finds the same in all storages."""
    tables: dict[str, pa.Table] = {}
    for release in ready.releases:
        offered = {d.name: domain_table(d) for d in release.step.query.domains}
        offered |= {name: tables[name] for name in release.step.reads}
        for connection in connections:
            for name, table in offered.items():
                connection.register(name, table)
        first, *others = (raw_groups(connection, release, SALT) for connection in connections)
        for other in others:
            for one, same in zip(
                (first.totals, *first.histograms), (other.totals, *other.histograms), strict=True
            ):
                assert _lines(one) == _lines(same), f"other integers than of the same bag: {sql}"
        tables[release.name] = exact_table(connections[0], release, tables)


def _lines(table: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


def _connection(
    schema: Schema,
    public: dict[str, list[tuple[object, ...]]],
    storage: Storage,
    bag: Bag,
    folder: Path,
) -> duckdb.DuckDBPyConnection:
    file = folder / "rows.duckdb"
    if storage.in_file:
        folder.mkdir(parents=True)
    connection = duckdb.connect(file if storage.in_file else ":memory:")
    connection.execute(f"SET threads = {storage.threads}")
    configure(connection)
    create_tables(connection, schema, public)
    for table in schema.tables.values():
        if isinstance(table.ownership, Public):
            continue
        name = f'"{table.name}"'
        rows = f"{_rows(table, schema, public, storage, bag)} ORDER BY {storage.order}"
        columns = ", ".join(f'"{column}"' for column in table.columns)
        connection.execute(f"DROP TABLE {name}")
        if storage.row_group is None:
            connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM ({rows})")
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{table.name}.parquet"
        options = f"FORMAT parquet, ROW_GROUP_SIZE {storage.row_group}"
        written, read = _columns_of_file(table)
        connection.execute(f"COPY (SELECT {written} FROM ({rows})) TO '{path}' ({options})")
        connection.execute(f"CREATE VIEW {name} AS SELECT {read} FROM read_parquet('{path}')")
    if storage.in_file:
        connection.close()
        connection = duckdb.connect(file, read_only=True)
        connection.execute(f"SET threads = {storage.threads}")
        configure(connection)
    return connection


def _columns_of_file(table: Table) -> tuple[str, str]:
    """What is written to a Parquet file and read of it: of 128 bits DuckDB would write a double."""
    wide = {
        c.name: c.type
        for c in table.columns.values()
        if isinstance(c.type, Integer) and c.type.bits == 128
    }
    written = (f'CAST("{n}" AS VARCHAR) AS "{n}"' if n in wide else f'"{n}"' for n in table.columns)
    read = (f'CAST("{n}" AS {wide[n]}) AS "{n}"' if n in wide else f'"{n}"' for n in table.columns)
    return ", ".join(written), ", ".join(read)


def _rows(
    table: Table,
    schema: Schema,
    public: dict[str, list[tuple[object, ...]]],
    storage: Storage,
    bag: Bag,
) -> str:
    count = bag.units if _lists_units(table) else bag.rows
    items = [
        f'{_value(table, column, schema, public, storage, bag)} AS "{column.name}"'
        for column in table.columns.values()
    ]
    return f"SELECT number, {', '.join(items)} FROM range({count}) AS numbers(number)"


def _lists_units(table: Table) -> bool:
    own = table.ownership
    return isinstance(own, EntityUnit) and not own.hops and table.key == (own.column,)


def _value(
    table: Table,
    column: Column,
    schema: Schema,
    public: dict[str, list[tuple[object, ...]]],
    storage: Storage,
    bag: Bag,
) -> str:
    drawn = f"hash(number, '{table.name}.{column.name}')"
    reference = column.references
    if reference is not None and reference.table in public:
        target = schema.tables[reference.table]
        place = list(target.columns).index(reference.column)
        return _one_of([_text(row[place]) for row in public[target.name]], drawn, column)
    own = table.ownership
    if column.name in (table.key or ()) and bag.trusted:
        return _identity("number", column)
    if reference is not None or (
        isinstance(own, EntityUnit) and column.name in (own.column, *own.first_hop_columns)
    ):
        parent = None if reference is None else schema.tables.get(reference.table)
        count = bag.units if parent is None or _lists_units(parent) else bag.rows
        return _identity(f"({drawn} % {count})", column)
    if column.name in (table.key or ()):
        return _identity(f"({drawn} % {bag.units})", column)
    if bag.common is not None:
        drawn = f"hash({bag.common}, '{table.name}.{column.name}')"
    value = _one_of([*map(_text, boundary_values(column)), None], drawn, column)
    if isinstance(column.type, Double) and storage.other_zeros:
        swapped = f"CASE WHEN {value} = 0 OR isnan({value}) THEN -{value} ELSE {value} END"
        return f"CAST({swapped} AS {column.type})"
    return value


def _identity(number: str, column: Column) -> str:
    if isinstance(column.type, Uuid):
        return f"CAST(format('00000000-0000-0000-0000-{{:012d}}', {number}::BIGINT) AS UUID)"
    return f"CAST({number} AS {column.type})"


def _one_of(texts: Sequence[str | None], drawn: str, column: Column) -> str:
    listed = ", ".join("NULL" if t is None else "'" + t.replace("'", "''") + "'" for t in texts)
    return f"CAST(([{listed}])[1 + CAST({drawn} % {len(texts)} AS INTEGER)] AS {column.type})"


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case dt.datetime():
            return value.isoformat(sep=" ")
        case dt.date():
            return value.isoformat()
        case _:
            return str(value)
