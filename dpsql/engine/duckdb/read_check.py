"""Whether all rows of a source can be read: for its owner, before a charged query fails.

A damaged page fails each statement that reads it, and the failure is charged. Tables are read as
they are stored, with undeclared columns and without an engine's views, and their rows are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import duckdb
from sqlglot import exp

from dpsql.engine.duckdb.catalog import attach, catalog
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
        self.misfits: dict[tuple[str, str, str], int] = {}
        """By table, column and declared type, once rows were read: values that aren't of it."""

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
            columns = catalog(self._connection, self._source)
            for table in tables:
                if row_counts[table.name]:
                    step(f"reading types of {table.name}")
                    self._compare(table, dict(columns.get(table.name, ())))
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

    def _compare(self, table: SourceTable, source_columns: Mapping[str, str]) -> None:
        """Count the values that TRY_CAST makes NULL, of columns with another type in the source."""
        cast = [one for one in table.stored if one[1] != source_columns.get(one[2], one[1])]
        if not cast:
            return
        counted = self._counted(_misfits(table, cast))
        if counted is None and table.file is not None and table.is_delimited:
            with suppress(OSError, SourceFault), as_utf_8(table.file, table.csv) as text:
                counted = self._counted(_misfits(table, cast, text))
        for (name, kind, _), count in zip(cast, counted or (), strict=False):
            if count:
                self.misfits[table.name, name, kind] = count

    def _counted(self, statement: exp.Select) -> tuple[int, ...] | None:
        try:
            return self._connection.execute(statement.sql("duckdb")).fetchone()
        except duckdb.InterruptException:
            raise ExecutionCancelled from None
        except duckdb.Error:
            return None


def _misfits(
    table: SourceTable, columns: Sequence[tuple[str, str, str]], text: str | None = None
) -> exp.Select:
    """Counts, of each of `columns`, the values that aren't NULL until they are cast."""
    counts: list[exp.Expr] = []
    for _, kind, own in columns:
        value = exp.column(own, quoted=True)
        to = exp.DataType.build(kind, dialect="duckdb")
        is_lost = exp.TryCast(this=value.copy(), to=to).is_(exp.null())
        lost = exp.and_(value.is_(exp.null()).not_(), is_lost)
        counts.append(exp.CountIf(this=lost))
    read = rows(table, text)
    if not table.is_delimited:
        return exp.select(*counts).from_(read)
    # As `create_view_sql` reads it: DuckDB's CSV reader would raise what TRY_CAST makes NULL.
    lines = exp.select("*").from_(read)
    return exp.select(*counts).from_("lines").with_("lines", as_=lines, materialized=True)


def _read_whole(table: SourceTable, text: str | None = None) -> exp.Select:
    """Counts the rows, and hashes all their values into one number, so that each value is read."""
    row = exp.column(_ROW, quoted=True)
    values = exp.Anonymous(
        this="bit_xor", expressions=[exp.Anonymous(this="hash", expressions=[row])]
    )
    name = exp.Literal.string(table.name)
    stored = rows(table, text).as_(_ROW, quoted=True, table=True)
    return exp.select(name, exp.Count(this=exp.Star()), values).from_(stored)
