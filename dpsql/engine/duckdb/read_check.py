"""Whether all rows of a source can be read: for its owner, before a charged query fails.

A damaged page fails each statement that reads it, and the failure is charged. Tables are read as
they are stored, with undeclared columns and without an engine's views, and their rows are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.catalog import attach
from dpsql.engine.duckdb.csv import as_utf_8
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import rows
from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.errors import ExecutionCancelled, SourceFault

_ROW: Final = "row that is read"

_STEPS: Final = 100
"""Of more tables, several are read by one statement, since each statement takes a millisecond."""


class Reading:
    """One reading of a whole source, which `interrupt` ends."""

    def __init__(self, source: DuckDBSource) -> None:
        self._source = source
        self._connection = duckdb.connect(":memory:")

    def rows(self, step: Callable[[str], None] = lambda _: None) -> Mapping[str, int | None]:
        """The number of rows of each table; None if one of its values can't be read.

        `step` is called with what is being read. Raises ExecutionCancelled if interrupted.
        """
        try:
            configure(self._connection)
            attach(self._connection, self._source)
            tables = self._source.tables
            size = 1 + len(tables) // _STEPS
            row_counts: dict[str, int | None] = {}
            for begin in range(0, len(tables), size):
                step(f"reading {tables[begin].name}")
                row_counts |= self._read(tables[begin : begin + size])
            return row_counts
        finally:
            self._connection.close()

    def interrupt(self) -> None:
        """Stop the reading."""
        self._connection.interrupt()

    def _read(self, tables: Sequence[SourceTable]) -> Mapping[str, int | None]:
        statement = " UNION ALL ".join(_read_whole(table).sql("duckdb") for table in tables)
        try:
            row_counts = self._connection.execute(statement).fetchall()
        except duckdb.InterruptException:
            raise ExecutionCancelled from None
        except duckdb.Error:
            if len(tables) == 1:
                return {tables[0].name: self._read_text(tables[0])}
            return {table.name: self._read([table])[table.name] for table in tables}
        return {name: rows for name, rows, _ in row_counts}

    def _read_text(self, table: SourceTable) -> int | None:
        """The number of rows of a CSV file that isn't UTF-8, as an engine reads it; else None."""
        if table.file is None or not table.is_delimited:
            return None
        try:
            with as_utf_8(table.file, table.csv) as text:
                statement = _read_whole(table, text).sql("duckdb")
                counted = self._connection.execute(statement).fetchone()
        except duckdb.InterruptException:
            raise ExecutionCancelled from None
        except (duckdb.Error, OSError, SourceFault):
            return None
        return None if counted is None else int(counted[1])


def _read_whole(table: SourceTable, text: str | None = None) -> exp.Select:
    """Counts the rows, and hashes all their values into one number, so that each value is read."""
    row = exp.column(_ROW, quoted=True)
    values = exp.Anonymous(
        this="bit_xor", expressions=[exp.Anonymous(this="hash", expressions=[row])]
    )
    name = exp.Literal.string(table.name)
    stored = rows(table, text).as_(_ROW, quoted=True, table=True)
    return exp.select(name, exp.Count(this=exp.Star()), values).from_(stored)
