"""A worker's catalogues: locked DuckDBs that hold what schemas declare, and nothing else.

A question is an analyst's. It runs in a read-only transaction, on a cursor of its own, and its
answer is cut off at so many rows and bytes: DuckDB's own limit of memory says nothing of what is
fetched.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.lockdown import lock, prepare

MEMORY: Final = "256MiB"
CELL_BYTES: Final = 16
"""What a value takes beside its bytes: a bit in Arrow is a whole object where it is sent."""

_OPEN_AT_ONCE: Final = 4
_BATCH_ROWS: Final = 1024


@dataclass(frozen=True, slots=True)
class Contents:
    """A catalogue to be loaded: `name` identifies it, and is a hash of all else.

    `statements` make tables and macros; `tables` are the tables' rows, as Arrow streams.
    """

    name: str
    statements: tuple[str, ...] = field(repr=False)
    tables: Mapping[str, bytes] = field(repr=False)


class TooLargeAnswer(Exception):
    """An answer has more rows or bytes than are sent."""


class Catalogues:
    """The catalogues that a worker has loaded, few at once."""

    def __init__(self) -> None:
        self._open: dict[str, duckdb.DuckDBPyConnection] = {}
        self._guard = threading.Lock()
        self._running: duckdb.DuckDBPyConnection | None = None

    def has(self, name: str) -> bool:
        """Whether the catalogue of that name is loaded."""
        return name in self._open

    def load(self, contents: Contents) -> None:
        """Load a catalogue; the one that was loaded first makes room for it."""
        if contents.name in self._open:
            return
        while len(self._open) >= _OPEN_AT_ONCE:
            self._open.pop(next(iter(self._open))).close()
        self._open[contents.name] = _loaded(contents)

    def answer(self, name: str, sql: str, rows: int, size: int) -> pa.Table:
        """At most so many `rows`, and `size` bytes, of one SELECT."""
        with self._cursor(name) as cursor:
            statements = cursor.extract_statements(sql)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise duckdb.ParserException("not a single SELECT")
            # WITH x AS (UPDATE …) SELECT counts as SELECT, but not in a read-only transaction.
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            cursor.execute(statements[0])
            return _bounded(cursor, rows, size)

    def interrupt(self) -> None:
        """Stop the question that runs now."""
        with self._guard:
            if self._running is not None:
                self._running.interrupt()

    @contextmanager
    def _cursor(self, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._open[name].cursor()
        with self._guard:
            self._running = cursor
        try:
            yield cursor
        finally:
            with self._guard:
                self._running = None
            cursor.close()


def _loaded(contents: Contents) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": "1", "memory_limit": MEMORY})
    prepare(connection)
    for statement in contents.statements:
        connection.execute(statement)
    for name, rows in contents.tables.items():
        table = pa.ipc.open_stream(rows).read_all()
        connection.register("filling", table)
        columns = ", ".join(f'"{column}"' for column in table.column_names)
        connection.execute(f'INSERT INTO "{name}" ({columns}) SELECT * FROM filling')  # noqa: S608 - names of ours
        connection.unregister("filling")
    lock(connection, ())
    return connection


def _bounded(cursor: duckdb.DuckDBPyConnection, rows: int, size: int) -> pa.Table:
    reader = cursor.to_arrow_reader(_BATCH_ROWS)
    assert reader is not None  # nothing was fetched yet
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        rows -= batch.num_rows
        size -= batch.nbytes + CELL_BYTES * batch.num_rows * batch.num_columns
        if rows < 0 or size < 0:
            raise TooLargeAnswer
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)
