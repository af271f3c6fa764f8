"""Which columns have values beyond their bounds, in any row, or many of them.

Each is a number that is the same in all rows of a table, and there a column that is computed: a
constant, which takes no room. So DuckDB knows of a condition on it what it is of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import duckdb

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.contents import ROW_SCHEMA, SIDECAR
from dpsql.engine.sidecar.row_columns import (
    FEW_VALUES,
    SidecarTable,
)

WholeTable = Mapping[str, int]
"""By the names of columns that say the same in all rows of a table, what they say: 0 or 1."""

_SAMPLED: Final = 10_000
"""Rows in which many columns have more than few values, so that those of others needn't be read."""


def of_whole_table(connection: duckdb.DuckDBPyConnection, contents: SidecarTable) -> WholeTable:
    """What the columns of a table say that are the same in all of its rows.

    It is found out on all rows of the source's table: in all rows of a sidecar it must be the same
    to decide on a plan. Rows that have no unit are among them; they decide on time alone, too.
    """
    if not contents.of_whole_table:
        return {}
    many = _many_among_some(connection, contents)
    items = [
        f"coalesce(max(CASE WHEN {condition} THEN 0 ELSE 1 END), 0)"
        for _, condition in contents.range_checked_columns
    ]
    items += [
        # To count them takes too long, and no result depends on how many they are.
        "1"
        if column in many
        else f"CAST(approx_count_distinct({quoted(column)}) > {FEW_VALUES} AS INTEGER)"
        for column in contents.group_count_columns
    ]
    select = f"SELECT {', '.join(items)} FROM {quoted(contents.name)} HAVING true"  # noqa: S608
    ((*flags,),) = connection.execute(select).fetchall()
    return dict(zip(contents.of_whole_table, map(int, flags), strict=True))


def stored_of_whole_table(
    connection: duckdb.DuckDBPyConnection, contents: SidecarTable
) -> WholeTable | None:
    """What the sidecar that is attached says of the whole table; None if it has no row to say it.

    What was computed of no rows needn't hold of the first that come.
    """
    names = contents.of_whole_table
    if not names:
        return {}
    table = f'"{SIDECAR}".{ROW_SCHEMA}.{quoted(contents.name)}'
    select = f"SELECT {', '.join(map(quoted, names))} FROM {table} LIMIT 1"  # noqa: S608
    row = connection.execute(select).fetchone()
    return None if row is None else dict(zip(names, row, strict=True))


def _many_among_some(
    connection: duckdb.DuckDBPyConnection, contents: SidecarTable
) -> frozenset[str]:
    """Columns by which rows are counted that have more than few values in some rows already."""
    columns = contents.group_count_columns
    if not columns:
        return frozenset()
    counts = ", ".join(f"count(DISTINCT {quoted(column)})" for column in columns)
    some = f"(FROM {quoted(contents.name)} LIMIT {_SAMPLED})"
    (numbers,) = connection.execute(f"SELECT {counts} FROM {some}").fetchall()  # noqa: S608
    return frozenset(
        column for column, number in zip(columns, numbers, strict=True) if number > FEW_VALUES
    )
