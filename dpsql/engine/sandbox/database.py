"""Sandboxes: locked DuckDBs that hold copies of public rows and of catalogues, and nothing else.

They run SQL that analysts wrote: queries of a catalogue, and statements over public tables. That is
safe because no source, no private row and no file is in reach. Each statement runs in a read-only
transaction on a cursor of its own, and is refused if its answer has too many rows or bytes, since
DuckDB's own limit of memory doesn't count fetched rows. A single function call may still take any
time and memory, so sandboxes are in a process of their own, which can be killed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import duckdb
import pyarrow as pa
from msgspec import Struct

from dpsql.engine.duckdb.lockdown import configure, lock
from dpsql.engine.read_limit import ReadLimit
from dpsql.structs import not_shown

MEMORY: Final = "256MiB"
CELL_BYTES: Final = 16
"""What a value takes beside its bytes: a bit in Arrow is a whole object where it is sent."""

_OPEN_AT_ONCE: Final = 4
_BATCH_ROWS: Final = 1024

_QUERIES: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
"""MULTI: a PIVOT whose columns are values of rows, which DuckDB queries first."""


@not_shown("statements", "tables")
class Contents(Struct, frozen=True):
    """The contents of a sandbox, which `name`, a hash of the other fields, identifies.

    `statements` create tables, views and macros; `tables` are the tables' rows, as Arrow streams.
    """

    name: str
    statements: tuple[str, ...]
    tables: Mapping[str, bytes]


class SandboxQuery(Struct, frozen=True):
    """A statement over the contents called `name`, as its analyst wrote it.

    `casts` are the types that the columns are cast to, "" for no cast; if it is None, the answer
    is the columns' names and types instead.
    """

    name: str
    sql: str
    limit: ReadLimit
    casts: tuple[str, ...] | None = None


class TooLargeAnswer(Exception):
    """An answer has more rows or bytes than its limit, or takes more memory than there is."""


class NoAnswer(Exception):
    """A statement failed; `reason` is the engine's message in one line, "" if it isn't shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Stopped(Exception):
    """A statement took too long."""


class Sandboxes:
    """The sandboxes of a process, by the name of their contents; at most four at once."""

    def __init__(self) -> None:
        self._open: dict[str, duckdb.DuckDBPyConnection] = {}
        self._guard = threading.Lock()
        self._running: duckdb.DuckDBPyConnection | None = None

    def has(self, name: str) -> bool:
        """Whether the contents of that name are loaded."""
        return name in self._open

    def load(self, contents: Contents) -> None:
        """Load `contents` into a new sandbox; if four are open, the oldest is closed."""
        if contents.name in self._open:
            return
        while len(self._open) >= _OPEN_AT_ONCE:
            self._open.pop(next(iter(self._open))).close()
        self._open[contents.name] = _loaded(contents)

    def answer(self, name: str, sql: str, rows: int, size: int) -> pa.Table:
        """The rows of one SELECT; TooLargeAnswer if they are more than `rows`, or `size` bytes."""
        with self._cursor(name) as cursor:
            statements = cursor.extract_statements(sql)
            if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
                raise duckdb.ParserException("not a single SELECT")
            # A relation streams its rows; a cursor computes all of them first.
            reader = cursor.sql(statements[0]).to_arrow_reader(_BATCH_ROWS)
            return _bounded(reader, rows, size)

    def run(self, query: SandboxQuery) -> pa.Table:
        """The rows of `query`, or its columns' `name` and `type`; TooLargeAnswer over its limit."""
        with self._cursor(query.name) as cursor:
            statements = cursor.extract_statements(query.sql)
            if len(statements) != 1 or statements[0].type not in _QUERIES:
                raise duckdb.ParserException("not a single query")
            relation = cursor.sql(statements[0])
            if query.casts is None:
                types = [str(kind) for kind in relation.types]
                return pa.table({"name": relation.columns, "type": types})
            if len(query.casts) != len(relation.columns):
                raise duckdb.BinderException("the columns are others by now")
            columns = [
                f"CAST(#{position} AS {kind})" if kind else f"#{position}"
                for position, kind in enumerate(query.casts, start=1)
            ]
            if any(query.casts):
                relation = relation.project(", ".join(columns))
            limit = query.limit
            return _bounded(relation.to_arrow_reader(_BATCH_ROWS), limit.rows, limit.bytes)

    def interrupt(self) -> None:
        """Stop the statement that runs now."""
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
"""Messages of other errors may name the host's folders."""

_MAX_REASON: Final = 200


def reason_of(error: duckdb.Error) -> str:
    """DuckDB's message about a statement in a sandbox, on one line; "" if it isn't shown."""
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
