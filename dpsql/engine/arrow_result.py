"""Rows of a result: all, or all within a limit, as Arrow tables, or few rows of integers."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.raw import IntegerColumns
from dpsql.engine.read_limit import ReadLimit

_BATCH: Final = 2048
"""Rows of one vector of DuckDB's."""

_FORMAT: Final = pa.ipc.IpcWriteOptions()
"""Of streams; without it, pyarrow looks each time for older ones in the environment."""

_WARNED: Final = threading.Lock()
"""Held while warnings are suppressed, since warning filters are shared by all threads."""


def all_rows(cursor: duckdb.DuckDBPyConnection) -> pa.Table:
    """All rows of the result that `cursor` has executed.

    DuckDB warns that they are copied, and advises a relation. A relation parses and binds the
    statement once more, which takes milliseconds: as long as copying a million rows does.
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
) -> pa.Table:
    """All rows of a statement; raises MoreRowsError if they are more than `limit`.

    A relation streams its rows; a cursor computes all of them before the first is fetched.
    """
    relation = cursor.sql(statement, params=list(parameters) or None)
    return limit.read(relation.to_arrow_reader(_BATCH))


def integers(cursor: duckdb.DuckDBPyConnection) -> IntegerColumns:
    """The rows of a result whose columns are integers; for few rows, faster than Arrow."""
    names = [name for name, *_ in cursor.description or ()]
    rows = cursor.fetchall()
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(names, columns, strict=True))


def stream(table: pa.Table) -> bytes:
    """The bytes of a table as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_FORMAT) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
