"""One SELECT on a cursor of a locked connection: sealed rows, or a failure that says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.arrow_result import all_rows, integers, limited_rows
from dpsql.engine.duckdb.failure_cause import causes_logged
from dpsql.engine.raw import Raw
from dpsql.engine.read_limit import ReadLimit
from dpsql.errors import ExecutionCancelled, ExecutionFailed, ExecutionStopped, InternalError


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


def run_select(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    tables: Mapping[str, pa.Table],
    *,
    as_rows: bool,
    limit: ReadLimit | None,
) -> pa.Table | ReadLimit:
    """The rows of `statement`, which reads `tables` too; `limit` itself if there are more."""
    for name, table in tables.items():
        cursor.register(name, table)
    # WITH x AS (INSERT …) SELECT counts as SELECT, but not in a read-only transaction.
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    if limit is not None:
        rows = limited_rows(cursor, statement, parameters, limit)
        return limit if rows is None else rows
    cursor.execute(statement, list(parameters) or None)
    return integers(cursor) if as_rows else all_rows(cursor)


def run_and_forget(
    cursor: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[object],
    tables: Mapping[str, pa.Table],
    *,
    as_rows: bool,
    limit: ReadLimit | None,
) -> pa.Table | ReadLimit:
    """The rows as `run_select` reads them, of a cursor that goes on to others without `tables`."""
    try:
        with causes_logged():
            return run_select(cursor, statement, parameters, tables, as_rows=as_rows, limit=limit)
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
