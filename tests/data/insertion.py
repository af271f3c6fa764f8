"""Rows of Python's, in a table of DuckDB's, by one statement.

`executemany` of a thousand rows takes a second: each is a statement of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import duckdb


def insert(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[object]]
) -> None:
    """Insert `rows`, in their order, into all columns of `table`; there is at least one."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    values = ", ".join(["unnest(?)"] * len(columns))
    connection.execute(f"INSERT INTO {table} SELECT {values}", columns)
