"""Names and types of a server's base tables, as a schema may declare them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.engine.postgres.access import check_kind
from dpsql.engine.postgres.catalog import CatalogColumn, read_tables, table_name
from dpsql.engine.postgres.column_types import offered_type
from dpsql.engine.postgres.connection import transaction
from dpsql.engine.source import Columns, PostgresSource


def read_catalog(source: PostgresSource) -> Mapping[str, Columns]:
    """Read the columns of the tables of `source`, or of all base tables if it names none.

    Tables of other schemas than public are called schema.table. A table that can't be a source is
    a `SourceFault` where it is named.
    """
    wanted = [table.location for table in source.tables]
    with transaction(source) as server:
        tables = read_tables(server, wanted)
    for table in tables.values():
        if wanted:
            check_kind(table)
    return {
        table_name(at): tuple((c.name, _offered(c)) for c in table.columns.values())
        for at, table in tables.items()
        if not table.has_children
    }


def _offered(column: CatalogColumn) -> str:
    """A type's name; what is computed when it is read may fail by a row, and has none."""
    known = offered_type(column.type)
    return f"PostgreSQL {column.type}, computed when it is read" if column.is_virtual else known
