"""A sidecar's record of what it was made of: its stamp, and the numbers of rows of its tables.

The sidecar must hold each row that has a unit once, and each unit once. Their numbers are counted
on the source's own tables, and not by the statements that fill the file, which would count a
duplicate row twice, too. A file with other numbers of rows is refused when it is written, and isn't
used when it is opened; nor is one if the source's tables have other numbers of rows by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import duckdb
from msgspec import Struct

from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, SidecarTable

SIDECAR: Final = "dpsql prepared"
"""The name under which the file is attached; it has a space so that no schema can say it."""

ROW_SCHEMA: Final = "main"
"""The schema of the sidecar's tables that hold a table's rows."""

UNIT_SCHEMA: Final = "units"
"""The schema of the sidecar's tables that hold one row for each of a table's units."""

_SOURCE_TABLE: Final = f'"{SIDECAR}".main."made of"'


class SidecarCounts(Struct, frozen=True):
    """The numbers of `table`: rows in the source, rows with a unit, and units (None: no table)."""

    table: str
    source: int
    rows: int
    units: int | None


def counted(connection: duckdb.DuckDBPyConnection, contents: SidecarTable) -> SidecarCounts:
    """The numbers of rows that the sidecar must have of a table, counted on the source's rows."""
    units = f"SELECT count(DISTINCT {quoted(UNIT_COLUMN)}) FROM ({contents.rows})"  # noqa: S608
    return SidecarCounts(
        contents.name,
        _number(connection, _all(quoted(contents.name))),
        _number(connection, contents.with_unit),
        None if contents.unit_sum_columns is None else _number(connection, units),
    )


def holds(connection: duckdb.DuckDBPyConnection, counts: SidecarCounts) -> bool:
    """Whether sidecar and source have these numbers of rows; counting whole tables reads no row."""
    name = quoted(counts.table)
    wanted = [(name, counts.source), (f'"{SIDECAR}".{ROW_SCHEMA}.{name}', counts.rows)]
    if counts.units is not None:
        wanted.append((f'"{SIDECAR}".{UNIT_SCHEMA}.{name}', counts.units))
    return all(_number(connection, _all(table)) == number for table, number in wanted)


def write(
    connection: duckdb.DuckDBPyConnection, stamp: str, tables: Sequence[SidecarCounts]
) -> None:
    """Write the record of stamp and numbers of rows, without which a file is no sidecar."""
    connection.execute(
        f"CREATE OR REPLACE TABLE {_SOURCE_TABLE}"
        " (stamp VARCHAR, name VARCHAR, source UBIGINT, rows UBIGINT, units UBIGINT)"
    )
    sealed = _sealed(stamp, tables)
    for each in tables:
        values = [sealed, each.table, each.source, each.rows, each.units]
        connection.execute(f"INSERT INTO {_SOURCE_TABLE} VALUES (?, ?, ?, ?, ?)", values)  # noqa: S608


def read(connection: duckdb.DuckDBPyConnection, stamp: str) -> tuple[SidecarCounts, ...]:
    """The numbers of rows in the file's record; none if it has another stamp, or was altered."""
    rows = connection.execute(
        f"SELECT stamp, name, source, rows, units FROM {_SOURCE_TABLE} ORDER BY rowid"  # noqa: S608
    ).fetchall()
    tables = tuple(SidecarCounts(*row) for _, *row in rows)
    sealed = _sealed(stamp, tables)
    return tables if all(recorded == sealed for recorded, *_ in rows) else ()


def _sealed(stamp: str, tables: Sequence[SidecarCounts]) -> str:
    """A digest of the stamp and the numbers of rows, which shows that none was altered."""
    counts = (encoded((each.table, each.source, each.rows, each.units)) for each in tables)
    return digest_of("sealed stamp", stamp, *counts)


def _all(table: str) -> str:
    return f"SELECT count(*) FROM {table}"  # noqa: S608


def _number(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    ((number,),) = connection.execute(sql).fetchall()
    return int(number)
