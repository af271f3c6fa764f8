"""The sidecar on a server: tables of a schema of its owner's own there, as small frozen values.

Statements say by these values what they read: the schema, the stamp of what its tables have to be
made of, and what each of them adds to the rows. They cross processes with the statements.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.engine.sidecar.row_columns import (
    COUNT,
    UNIT_COLUMN,
    UNIT_ROW_COUNT,
    first_row_column,
    value_count_column,
)
from dpsql.engine.source import Columns

MARK: Final = "BOOLEAN"
"""The DuckDB type of a mark on one row of each value."""


class ServerSidecarTable(Struct, frozen=True):
    """A table that the sidecar may have: its rows, each with its unit, and counts of its rows.

    `unit_type` is the DuckDB type of the unit, which rows also have under the name
    `lent_unit_column`, unless that is None. A unit's rows are counted in all, and by the values of
    each of `group_count_columns`.
    """

    name: str
    unit_type: str
    lent_unit_column: str | None
    group_count_columns: tuple[str, ...]

    @property
    def counts(self) -> Columns:
        """Names and types of the columns that count the unit's rows, or mark one of them."""
        counts = [UNIT_ROW_COUNT, *map(value_count_column, self.group_count_columns)]
        marks = map(first_row_column, self.group_count_columns)
        return (*((name, COUNT) for name in counts), *((name, MARK) for name in marks))

    @property
    def added(self) -> Columns:
        """Names and types of all columns that are stored beside those of the table."""
        return ((UNIT_COLUMN, self.unit_type), *self.counts)


class ServerSidecar(Struct, frozen=True):
    """The sidecar in the server's schema `space`, and the `stamp` that its record must have."""

    space: str
    stamp: str
    tables: tuple[ServerSidecarTable, ...]

    def table(self, name: str) -> ServerSidecarTable | None:
        """The table of this name; None if the sidecar has none."""
        return next((table for table in self.tables if table.name == name), None)
