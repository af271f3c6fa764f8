"""The columns of a sidecar's tables on Spark: numbered, since catalogs take few names.

The Hive metastore takes letters, digits and underscores alone, and "rows of the unit" has spaces.
The view by which statements read a table has the names that they know.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dpsql.engine.sidecar.row_columns import UNIT_COLUMN, UNIT_ROW_COUNT
from dpsql.engine.sidecar.server import ServerSidecarTable
from dpsql.engine.source import ServerTable
from dpsql.engine.spark.tables import is_storable, quoted, unread_by_files

UNIT: Final = "unit"
"""The column that has each row's unit, and by which rows are bucketed."""

ROW_COUNT: Final = "unit_rows"
"""The column that counts the unit's rows."""


class StoredColumn(NamedTuple):
    """A column that statements call `name`, of a DuckDB type, by its name in the stored table."""

    name: str
    kind: str
    stored_as: str


def stored_columns(table: ServerTable, entry: ServerSidecarTable) -> tuple[StoredColumn, ...]:
    """The columns of what is stored of `table`, in order."""
    named = {UNIT_COLUMN: UNIT, UNIT_ROW_COUNT: ROW_COUNT}
    columns = [(name, kind) for name, kind, _ in table.stored if is_storable(kind)]
    return tuple(
        StoredColumn(name, kind, named.get(name, f"c{number}"))
        for number, (name, kind) in enumerate([*columns, *entry.added])
    )


def stored_view_items(table: ServerTable, entry: ServerSidecarTable) -> list[str]:
    """The items of the view by which statements read what is stored of `table`."""
    columns = [
        (unread_by_files(quoted(each.stored_as), each.kind), each.name)
        for each in stored_columns(table, entry)
    ]
    if entry.lent_unit_column is not None:
        columns.append((quoted(UNIT), entry.lent_unit_column))
    return [f"{stored} AS {quoted(name)}" for stored, name in columns]
