"""Rows of a result as Arrow: all of them, no more than there is room for, or few."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.read_limit import ReadLimit

_BATCH: Final = 2048
"""Rows of one vector."""

_WARNED: Final = threading.Lock()
"""Held while warnings are caught: filters are the process's own."""


def all_rows(cursor: duckdb.DuckDBPyConnection) -> pa.Table:
    """All rows of a result.

    DuckDB warns of a copy, and advises a relation. That parses and binds the statement once more,
    which takes milliseconds: as long as copying a million rows does.
    """
    with _WARNED, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        reader = cursor.to_arrow_reader()
    assert reader is not None  # nothing was fetched yet
    return reader.read_all()


def limited_rows(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    limit: ReadLimit,
) -> pa.Table | None:
    """All rows of a statement, None if they are more than `limit`.

    A relation's rows come as they are read; a cursor's are all made first.
    """
    relation = cursor.sql(statement, params=list(parameters) or None)
    return limit.read(relation.to_arrow_reader(_BATCH))


def integers(cursor: duckdb.DuckDBPyConnection) -> pa.Table:
    """The rows of a result that has integers only."""
    names = [name for name, *_ in cursor.description or ()]
    rows = cursor.fetchall()
    return pa.table([_whole([row[place] for row in rows]) for place in range(len(names))], names)


def _whole(values: list[int | None]) -> pa.Array:
    """Exact in either type: what the engine sums in 128 bits mostly fits a word."""
    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        return pa.array(values, pa.decimal256(39, 0))


def stream(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
