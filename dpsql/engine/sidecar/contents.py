"""What a sidecar says that it was made of: its stamp, and how many rows each of its tables has.

Each row of a table that has a unit stands there once, and each unit once. How many these are is
counted on the source's own tables, without the statements that fill the file: by those a row that
came twice would be counted twice. A file that holds other numbers of rows is refused when it is
made and isn't used when it is opened, nor where the source's tables have other numbers by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable

SIDECAR: Final = "dpsql prepared"
"""The name under which the file is attached; it has a space so that no schema can say it."""

ROW_SCHEMA: Final = "main"
"""The schema of its tables that have a table's rows."""

UNIT_SCHEMA: Final = "units"
"""The schema of those that have a row for each of a table's units."""

_SOURCE_TABLE: Final = f'"{SIDECAR}".main."made of"'


@dataclass(frozen=True, slots=True)
class SidecarCounts:
    """Of `table` the rows in the source, those with a unit, and the units; None if not listed."""

    table: str
    source: int
    rows: int
    units: int | None


def counted(connection: duckdb.DuckDBPyConnection, contents: SidecarTable) -> SidecarCounts:
    """What the file must hold of a table, by the source's rows."""
    units = f"SELECT count(DISTINCT {_quoted(UNIT_COLUMN)}) FROM ({contents.rows})"  # noqa: S608
    return SidecarCounts(
        contents.name,
        _number(connection, _all(_quoted(contents.name))),
        _number(connection, contents.with_unit),
        None if contents.unit_sum_columns is None else _number(connection, units),
    )


def holds(connection: duckdb.DuckDBPyConnection, counts: SidecarCounts) -> bool:
    """Whether file and source have so many rows; of whole tables, which no row is read for."""
    name = _quoted(counts.table)
    wanted = [(name, counts.source), (f'"{SIDECAR}".{ROW_SCHEMA}.{name}', counts.rows)]
    if counts.units is not None:
        wanted.append((f'"{SIDECAR}".{UNIT_SCHEMA}.{name}', counts.units))
    return all(_number(connection, _all(table)) == number for table, number in wanted)


def write(
    connection: duckdb.DuckDBPyConnection, stamp: str, tables: Sequence[SidecarCounts]
) -> None:
    """Write down that the file has the stamp and so many rows: one without it is none."""
    connection.execute(
        f"CREATE TABLE {_SOURCE_TABLE} (stamp VARCHAR, name VARCHAR, source UBIGINT, rows UBIGINT,"
        " units UBIGINT)"
    )
    sealed = _sealed(stamp, tables)
    for each in tables:
        values = [sealed, each.table, each.source, each.rows, each.units]
        connection.execute(f"INSERT INTO {_SOURCE_TABLE} VALUES (?, ?, ?, ?, ?)", values)  # noqa: S608


def read(connection: duckdb.DuckDBPyConnection, stamp: str) -> tuple[SidecarCounts, ...]:
    """The tables of a file with that stamp and no other numbers of rows than it was made with."""
    rows = connection.execute(
        f"SELECT stamp, name, source, rows, units FROM {_SOURCE_TABLE} ORDER BY rowid"  # noqa: S608
    ).fetchall()
    tables = tuple(SidecarCounts(*row) for _, *row in rows)
    sealed = _sealed(stamp, tables)
    return tables if all(found == sealed for found, *_ in rows) else ()


def _sealed(stamp: str, tables: Sequence[SidecarCounts]) -> str:
    """The stamp bound to the numbers of rows: of other numbers it would be another."""
    counts = (encoded((each.table, each.source, each.rows, each.units)) for each in tables)
    return digest_of("sealed stamp", stamp, *counts)


def _all(table: str) -> str:
    return f"SELECT count(*) FROM {table}"  # noqa: S608


def _number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    ((number,),) = connection.execute(sql).fetchall()
    return int(number)


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")
