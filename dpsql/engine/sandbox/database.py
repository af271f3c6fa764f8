"""Locked DuckDBs that hold copies of what is nobody's secret, and nothing else.

What they run is written by analysts: questions of a catalogue, and statements over public tables.
That is safe for what isn't there: no source, no private row, no file. Each runs in a read-only
transaction, on a cursor of its own, and its answer is cut off at so many rows and bytes: DuckDB's
own limit of memory says nothing of what is fetched. A single call may still take any time and
memory, so an enclosure is in a process of its own, which whoever asks may end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import duckdb
import pyarrow as pa

from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.read_limit import ReadLimit

MEMORY: Final = "256MiB"
CELL_BYTES: Final = 16
"""What a value takes beside its bytes: a bit in Arrow is a whole object where it is sent."""

_OPEN_AT_ONCE: Final = 4
_BATCH_ROWS: Final = 1024

_QUERIES: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
"""MULTI: a PIVOT whose columns are values of rows, which are asked for first."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What is to be loaded: `name` identifies it, and is a hash of all else.

    `statements` make tables, views and macros; `tables` are the tables' rows, as Arrow streams.
    """

    name: str
    statements: tuple[str, ...] = field(repr=False)
    tables: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SandboxQuery:
    """A statement over the contents called `name`, as its analyst wrote it.

    `casts` are the types that columns are given as, "" for their own; None asks for the columns'
    names and types alone.
    """

    name: str
    sql: str
    limit: ReadLimit
    casts: tuple[str, ...] | None = None


class TooLargeAnswer(Exception):
    """An answer has more rows or bytes than are sent, or takes more memory than there is."""


class NoAnswer(Exception):
    """A statement has no answer; `reason` is the engine's line about it, "" if it isn't told."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Stopped(Exception):
    """A statement took too long."""


class Sandboxes:
    """The contents that a process has loaded, few at once."""

    def __init__(self) -> None:
        self._open: dict[str, duckdb.DuckDBPyConnection] = {}
        self._guard = threading.Lock()
        self._running: duckdb.DuckDBPyConnection | None = None

    def has(self, name: str) -> bool:
        """Whether the contents of that name are loaded."""
        return name in self._open

    def load(self, contents: Contents) -> None:
        """Load contents; those that were loaded first make room for them."""
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
            cursor.execute(statements[0])
            reader = cursor.to_arrow_reader(_BATCH_ROWS)
            assert reader is not None  # nothing was fetched yet
            return _bounded(reader, rows, size)

    def run(self, query: SandboxQuery) -> pa.Table:
        """The rows of `query`, or its columns' `name` and `type`."""
        with self._cursor(query.name) as cursor:
            statements = cursor.extract_statements(query.sql)
            if len(statements) != 1 or statements[0].type not in _QUERIES:
                raise duckdb.ParserException("not a single query")
            # A relation's rows come as they are read; a cursor's are all made first.
            found = cursor.sql(statements[0])
            if query.casts is None:
                return pa.table({"name": found.columns, "type": [str(t) for t in found.types]})
            if len(query.casts) != len(found.columns):
                raise duckdb.BinderException("the columns are others by now")
            columns = [
                f"CAST(#{place} AS {kind})" if kind else f"#{place}"
                for place, kind in enumerate(query.casts, start=1)
            ]
            if any(query.casts):
                found = found.project(", ".join(columns))
            return _bounded(found.to_arrow_reader(_BATCH_ROWS), query.limit.rows, query.limit.bytes)

    def interrupt(self) -> None:
        """Stop what runs now."""
        with self._guard:
            if self._running is not None:
                self._running.interrupt()

    @contextmanager
    def _cursor(self, name: str) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._open[name].cursor()
        with self._guard:
            self._running = cursor
        try:
            # WITH x AS (UPDATE …) SELECT counts as SELECT, but not in a read-only transaction.
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor
        finally:
            with self._guard:
                self._running = None
            cursor.close()


_SHOWN_ERRORS: Final = (
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.InvalidInputException,
    duckdb.BinderException,
    duckdb.ParserException,
)
"""What DuckDB says of others may name the host's folders."""

_MAX_REASON: Final = 200


def reason_of(error: duckdb.Error) -> str:
    """What DuckDB says about a statement over an enclosure, on one line; "" where it isn't told."""
    if not isinstance(error, _SHOWN_ERRORS):
        return ""
    line = str(error).partition("\n")[0]
    shown = "".join(sign if sign.isprintable() else " " for sign in line)
    return shown if len(shown) <= _MAX_REASON else f"{shown[:_MAX_REASON]}…"


def _loaded(contents: Contents) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": "1", "memory_limit": MEMORY})
    configure(connection)
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


def _bounded(reader: pa.RecordBatchReader, rows: int, size: int) -> pa.Table:
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        rows -= batch.num_rows
        size -= batch.nbytes + CELL_BYTES * batch.num_rows * batch.num_columns
        if rows < 0 or size < 0:
            raise TooLargeAnswer
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)
