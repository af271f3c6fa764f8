"""Can all that a source stores be read: its owner asks, before a charged query finds out.

A page that doesn't read fails each statement that needs it, and a failure is charged. Tables are
read as they are stored, with the columns that nobody declared, and without the views of an engine,
and their rows are counted on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.catalog import attach
from dpsql.engine.duckdb.lockdown import configure
from dpsql.engine.duckdb.table_view import rows
from dpsql.engine.source import DuckDBSource, SourceTable
from dpsql.errors import ExecutionCancelled

_ROW: Final = "row that is read"

_STEPS: Final = 100
"""Of more tables than these, several are read by one statement: each takes a millisecond."""


class Reading:
    """One reading of a whole source; `interrupt` ends it."""

    def __init__(self, source: DuckDBSource) -> None:
        self._source = source
        self._connection = duckdb.connect(":memory:")

    def rows(self, step: Callable[[str], None] = lambda _: None) -> Mapping[str, int | None]:
        """How many rows each table stores; None where one of its values can't be read."""
        try:
            configure(self._connection)
            attach(self._connection, self._source)
            tables = self._source.tables
            size = 1 + len(tables) // _STEPS
            found: dict[str, int | None] = {}
            for begin in range(0, len(tables), size):
                step(f"reading {tables[begin].name}")
                found |= self._read(tables[begin : begin + size])
            return found
        finally:
            self._connection.close()

    def interrupt(self) -> None:
        """Stop what is read."""
        self._connection.interrupt()

    def _read(self, tables: Sequence[SourceTable]) -> Mapping[str, int | None]:
        statement = " UNION ALL ".join(_read_whole(table).sql("duckdb") for table in tables)
        try:
            found = self._connection.execute(statement).fetchall()
        except duckdb.InterruptException:
            raise ExecutionCancelled from None
        except duckdb.Error:
            if len(tables) == 1:
                return {tables[0].name: None}
            return {table.name: self._read([table])[table.name] for table in tables}
        return {name: rows for name, rows, _ in found}


def _read_whole(table: SourceTable) -> exp.Select:
    """One number made of all values: nothing is left out, and nothing is shown."""
    row = exp.column(_ROW, quoted=True)
    values = exp.Anonymous(
        this="bit_xor", expressions=[exp.Anonymous(this="hash", expressions=[row])]
    )
    name = exp.Literal.string(table.name)
    stored = rows(table).as_(_ROW, quoted=True, table=True)
    return exp.select(name, exp.Count(this=exp.Star()), values).from_(stored)
