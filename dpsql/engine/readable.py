"""Can all that a source stores be read: its owner asks, before a charged query finds out.

A page that doesn't read fails each statement that needs it, and a failure is charged. Tables are
read as they are stored, with the columns that nobody declared, and without the views of an engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.catalogue import attach
from dpsql.engine.lockdown import prepare
from dpsql.engine.source import DuckDBSource
from dpsql.engine.view import rows
from dpsql.errors import ExecutionCancelled

_ROW: Final = "row that is read"


class Reading:
    """One reading of a whole source; `interrupt` ends it."""

    def __init__(self, source: DuckDBSource) -> None:
        self._source = source
        self._connection = duckdb.connect(":memory:")

    def unreadable(self, step: Callable[[str], None] = lambda _: None) -> tuple[str, ...]:
        """Name the tables that have values which can't be read."""
        try:
            prepare(self._connection)
            attach(self._connection, self._source)
            return tuple(self._failed(step))
        finally:
            self._connection.close()

    def interrupt(self) -> None:
        """Stop what is read."""
        self._connection.interrupt()

    def _failed(self, step: Callable[[str], None]) -> Iterator[str]:
        for table in self._source.tables:
            step(f"reading {table.name}")
            # One number made of all values: nothing is left out, and nothing is shown.
            stored = rows(table).as_(_ROW, quoted=True, table=True)
            row = exp.column(_ROW, quoted=True)
            value = exp.Anonymous(
                this="bit_xor", expressions=[exp.Anonymous(this="hash", expressions=[row])]
            )
            try:
                self._connection.execute(exp.select(value).from_(stored).sql("duckdb", copy=False))
            except duckdb.InterruptException:
                raise ExecutionCancelled from None
            except duckdb.Error:
                yield table.name
