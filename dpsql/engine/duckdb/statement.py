"""One SELECT on a cursor of a locked connection: sealed rows, or a failure that says nothing.

A cursor that has small tables, or none, waits for the next statement over the very same ones, such
as the listed keys of a schema: to register a table takes as long as to parse a statement.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.arrow_result import all_rows, integers, limited_rows, stream
from dpsql.engine.duckdb.failure_cause import causes_logged
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.errors import ExecutionCancelled, ExecutionFailed, ExecutionStopped, InternalError

MAX_WAITING: Final = 8
"""Cursors that wait for another statement; of more, the one that waits the longest is closed."""

MAX_REGISTERED_BYTES: Final = 64 * 1024
"""Of all tables of a cursor that waits: it holds them in memory."""


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def single_select(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The one SELECT that `sql` is; raises InternalError for anything else."""
    statements = cursor.extract_statements(sql)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        # COPY could overwrite a source file, which is an allowed path.
        raise InternalError("not a single SELECT")
    return statements[0]


class ParsedSelect:
    """A SELECT that is run again and again; `is_proved` once it was seen to write nothing.

    DuckDB refuses to plan a statement that writes in a read-only transaction, whatever rows there
    are: what has come to its end in one is none, and needs no transaction around it from then on.
    """

    __slots__ = ("is_proved", "statement")

    def __init__(self, statement: duckdb.Statement) -> None:
        self.statement: Final = statement
        self.is_proved = False


def named_tables(tables: Mapping[str, pa.Table], sql: str) -> Mapping[str, pa.Table]:
    """Those of `tables` that `sql` may read: others take time to register."""
    folded = sql.casefold()
    # A quoted name has each of its quotes twice.
    return {n: rows for n, rows in tables.items() if '"' in n or n.casefold() in folded}


def select(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    *,
    as_rows: bool,
) -> pa.Table:
    """The rows of `statement`."""
    cursor.execute(statement, list(parameters) or None)
    return integers(cursor) if as_rows else all_rows(cursor)


def limited_select(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    tables: Mapping[str, pa.Table],
    limit: ReadLimit,
) -> pa.Table | ReadLimit:
    """The rows of `statement`, which reads `tables` too; `limit` itself if there are more."""
    for name, table in tables.items():
        cursor.register(name, table)
    _begin(cursor)
    rows = limited_rows(cursor, statement, parameters, limit)
    return limit if rows is None else rows


def _begin(cursor: duckdb.DuckDBPyConnection) -> None:
    # WITH x AS (INSERT …) SELECT counts as SELECT, but not in a read-only transaction.
    cursor.execute("BEGIN TRANSACTION READ ONLY")


def run_and_forget(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    tables: Mapping[str, pa.Table],
    *,
    as_rows: bool,
    limit: ReadLimit | None,
) -> pa.Table | ReadLimit:
    """The rows as they are read here, of a cursor that goes on to others without `tables`."""
    try:
        with causes_logged():
            if limit is not None:
                return limited_select(cursor, statement, parameters, tables, limit)
            for name, table in tables.items():
                cursor.register(name, table)
            _begin(cursor)
            return select(cursor, statement, parameters, as_rows=as_rows)
    finally:
        with suppress(duckdb.Error):
            cursor.execute("ROLLBACK")
        for name in tables:
            cursor.unregister(name)


def sealed_rows(read: Callable[[], pa.Table | ReadLimit], limit: ReadLimit | None) -> Raw:
    """What `read` returns; whatever fails is `ExecutionFailed`, since DuckDB's reasons have rows.

    More than `limit` is `TooComplex`.
    """
    result, failed = None, ExecutionFailed()
    try:
        result = read()
    except duckdb.InterruptException:
        failed = ExecutionCancelled()
    except (duckdb.OutOfMemoryException, MemoryError):
        failed = ExecutionStopped()
    except Exception:  # noqa: BLE001, S110 - every reason is made of rows
        pass
    if limit is not None and isinstance(result, ReadLimit):
        raise limit.passed()
    if not isinstance(result, pa.Table):
        # Out here no exception chain leads back to DuckDB's message.
        raise failed
    return Raw(result)


def refuse_shadows(names: Mapping[str, pa.Table], declared: frozenset[str]) -> None:
    """Raise InternalError if a registered table would hide a declared one, in any case."""
    for name in names:
        if name.casefold() in declared:
            raise InternalError(f"a registered table would hide the declared table {name}")


class Cursors:
    """The cursors of `connection`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._guard = threading.Lock()
        self._is_open = True
        self._running: dict[int, duckdb.DuckDBPyConnection] = {}
        self._waiting: OrderedDict[int, tuple[Hashable, duckdb.DuckDBPyConnection]] = OrderedDict()

    @contextmanager
    def one(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor that has nothing, and is closed afterwards."""
        with self._guard:
            cursor = self._start(self._connection.cursor())
        try:
            yield cursor
        finally:
            self._end(cursor)
            cursor.close()

    @contextmanager
    def having(
        self, tables: Mapping[str, pa.Table], *, in_transaction: bool = True
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """A cursor on which `tables` are registered, and nothing else.

        While it is entered, it is `in_transaction`, which is read-only.
        """
        contents = _contents(tables)
        with self._guard:
            waiting = self._taken(contents)
            cursor = self._start(self._connection.cursor() if waiting is None else waiting)
        is_reusable = False
        try:
            if waiting is None:
                for name, table in tables.items():
                    cursor.register(name, table)
            if in_transaction:
                _begin(cursor)
            yield cursor
            with suppress(duckdb.Error):  # interrupted after its end
                if in_transaction:
                    cursor.rollback()
                is_reusable = contents is not None
        finally:
            self._end(cursor)
            if not is_reusable or not self._wait(contents, cursor):
                cursor.close()

    def interrupt(self) -> None:
        """Stop the statements that are running now.

        DuckDB stops between vectors only, so a single costly function call ends first.
        """
        with self._guard:
            for cursor in self._running.values():
                cursor.interrupt()

    def close(self) -> None:
        """Stop what runs and let go of the connection, of which no cursor waits from now on."""
        self.interrupt()
        with self._guard:
            self._is_open = False
            waiting, self._waiting = self._waiting, OrderedDict()
        for _, cursor in waiting.values():
            cursor.close()
        self._connection.close()

    def _start(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        self._running[id(cursor)] = cursor
        return cursor

    def _end(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self._guard:
            del self._running[id(cursor)]

    def _taken(self, contents: Hashable) -> duckdb.DuckDBPyConnection | None:
        """A waiting cursor that has tables of these `contents`, which is nobody else's then."""
        for number, (others, cursor) in reversed(self._waiting.items()):
            if others == contents:
                del self._waiting[number]
                return cursor
        return None

    def _wait(self, contents: Hashable, cursor: duckdb.DuckDBPyConnection) -> bool:
        oldest = None
        with self._guard:
            if not self._is_open:
                return False
            self._waiting[id(cursor)] = contents, cursor
            if len(self._waiting) > MAX_WAITING:
                _, (_, oldest) = self._waiting.popitem(last=False)
        if oldest is not None:
            oldest.close()
        return True


def _contents(tables: Mapping[str, pa.Table]) -> Hashable | None:
    """Names, types and values of `tables`, to the bit; None if they are large.

    Tables that compare as equal may differ: 0.0 is equal to -0.0.
    """
    if sum(table.nbytes for table in tables.values()) > MAX_REGISTERED_BYTES:
        return None
    return tuple((name, stream(table)) for name, table in tables.items())
