"""One SELECT on a cursor of a locked connection: sealed rows, or a failure that says nothing.

A cursor waits for the next statement over tables of the same names and columns, or none, since to
register a small table takes as long as to run a statement over it. What is registered is a name
with columns, where DuckDB asks for rows whenever a statement reads them. It isn't told how many
there are, so tables of many rows are registered anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.arrow_result import all_rows, integers, limited_rows
from dpsql.engine.duckdb.failure_cause import causes_logged
from dpsql.engine.raw import Raw, Rows
from dpsql.engine.read_limit import MoreRowsError, ReadLimit
from dpsql.errors import Error, ExecutionCancelled, ExecutionFailed, ExecutionStopped, InternalError

MAX_WAITING: Final = 32
"""Cursors that wait for another statement; of more, the one that waits the longest is closed."""

MAX_ROWS: Final = 20_480
"""Of one table of a cursor that waits: in which order more are joined matters."""


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
    limit: ReadLimit | None,
) -> Rows:
    """The rows of `statement`; raises MoreRowsError if they are more than `limit`."""
    if limit is not None:
        return limited_rows(cursor, statement, parameters, limit)
    cursor.execute(statement, list(parameters) or None)
    return integers(cursor) if as_rows else all_rows(cursor)


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
) -> Rows:
    """The rows as they are read here, of a cursor that goes on to others without `tables`."""
    try:
        with causes_logged():
            for name, table in tables.items():
                cursor.register(name, table)
            _begin(cursor)
            return select(cursor, statement, parameters, as_rows=as_rows, limit=limit)
    finally:
        with suppress(duckdb.Error):
            cursor.execute("ROLLBACK")
        for name in tables:
            cursor.unregister(name)


def sealed_rows(read: Callable[[], Rows]) -> Raw:
    """What `read` returns; whatever fails is `ExecutionFailed`, since DuckDB's reasons have rows.

    More than a limit is `TooComplex`.
    """
    result: Rows | None = None
    failed: Error = ExecutionFailed()
    try:
        result = read()
    except MoreRowsError as error:
        failed = error.limit.passed()
    except duckdb.InterruptException:
        failed = ExecutionCancelled()
    except (duckdb.OutOfMemoryException, MemoryError):
        failed = ExecutionStopped()
    except Exception:  # noqa: BLE001, S110 - every reason is made of rows
        pass
    if result is None:
        # Out here no exception chain leads back to DuckDB's message.
        raise failed
    return Raw(result)


def refuse_shadows(names: Mapping[str, pa.Table], declared: frozenset[str]) -> None:
    """Raise InternalError if a registered table would hide a declared one, in any case."""
    for name in names:
        if name.casefold() in declared:
            raise InternalError(f"a registered table would hide the declared table {name}")


class _Registered:
    """A name with columns of a `schema`, whose `rows` are those of the statement that runs."""

    __slots__ = ("rows", "schema")

    def __init__(self, schema: pa.Schema) -> None:
        self.schema: Final = schema
        self.rows: pa.Table | None = None

    def __arrow_c_schema__(self) -> object:
        """The columns, as DuckDB asks for them."""
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as DuckDB asks for them: once for each time that a statement reads them."""
        if self.rows is None:
            raise LookupError("no statement runs")
        return self.rows.__arrow_c_stream__(requested_schema)


class _Cursor:
    """A cursor and what is registered on it, by its names, in the order of the tables."""

    __slots__ = ("connection", "registered")

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection: Final = connection
        self.registered: dict[str, _Registered] = {}

    def register(self, tables: Mapping[str, pa.Table], *, as_they_are: bool) -> None:
        """Register `tables` as they are, or names that have their columns."""
        for name, table in tables.items():
            if as_they_are:
                self.connection.register(name, table)
            else:
                self.registered[name] = _Registered(table.schema)
                self.connection.register(name, self.registered[name])

    def is_for(self, tables: Mapping[str, pa.Table]) -> bool:
        """Whether it has the names and the columns of `tables`, to the metadata."""
        return self.registered.keys() == tables.keys() and all(
            one.schema.equals(tables[name].schema, check_metadata=True)
            for name, one in self.registered.items()
        )

    def fill(self, tables: Mapping[str, pa.Table]) -> None:
        """Let statements read the rows of `tables`."""
        for name, one in self.registered.items():
            one.rows = tables[name]

    def empty(self) -> None:
        """Let go of the rows."""
        for one in self.registered.values():
            one.rows = None


class Cursors:
    """The cursors of `connection`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._guard = threading.Lock()
        self._is_open = True
        self._running: dict[int, duckdb.DuckDBPyConnection] = {}
        self._waiting: list[_Cursor] = []
        """The one that waits the longest first."""

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

        While it is entered, it is `in_transaction`, which is read-only. Whoever fails in it has it
        closed.
        """
        may_wait = all(table.num_rows <= MAX_ROWS for table in tables.values())
        is_reusable = False
        with self._guard:
            waiting = self._taken(tables) if may_wait else None
            cursor = _Cursor(self._connection.cursor()) if waiting is None else waiting
            connection = self._start(cursor.connection)
        try:
            if waiting is None:
                cursor.register(tables, as_they_are=not may_wait)
            cursor.fill(tables)
            if in_transaction:
                _begin(connection)
            yield connection
            with suppress(duckdb.Error):  # interrupted after its end
                if in_transaction:
                    connection.rollback()
                is_reusable = may_wait
        finally:
            cursor.empty()
            self._end(connection)
            if not is_reusable or not self._wait(cursor):
                connection.close()

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
            waiting, self._waiting = self._waiting, []
        for cursor in waiting:
            cursor.connection.close()
        self._connection.close()

    def _start(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        self._running[id(cursor)] = cursor
        return cursor

    def _end(self, cursor: duckdb.DuckDBPyConnection) -> None:
        with self._guard:
            del self._running[id(cursor)]

    def _taken(self, tables: Mapping[str, pa.Table]) -> _Cursor | None:
        """A waiting cursor that is for `tables`, which is nobody else's then."""
        for number in reversed(range(len(self._waiting))):
            if self._waiting[number].is_for(tables):
                return self._waiting.pop(number)
        return None

    def _wait(self, cursor: _Cursor) -> bool:
        oldest = None
        with self._guard:
            if not self._is_open:
                return False
            self._waiting.append(cursor)
            if len(self._waiting) > MAX_WAITING:
                oldest = self._waiting.pop(0)
        if oldest is not None:
            oldest.connection.close()
        return True
