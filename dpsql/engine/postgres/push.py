"""A statement that the server computes: its text over tables that are read as they are declared.

The tables are named in WITH, by the names that statements use, each with the columns that the
statement names, in their declared types. `search_path` has the system's schema alone, so that no
other relation has a name there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dpsql.engine.postgres.catalog import CatalogTable, Location
from dpsql.engine.postgres.connection import quoted
from dpsql.engine.postgres.pushed_columns import pushed_reading
from dpsql.engine.source import ServerTable
from dpsql.engine.supported import ServerSelect

_AS_THEY_ARE: Final = frozenset(
    {"BOOLEAN", "INTEGER", "BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"}
)
"""Types that the driver hands on; of others, all of which are numeric there, their digits come."""


def pushed_tables(select: ServerSelect, tables: Sequence[ServerTable]) -> tuple[ServerTable, ...]:
    """The tables that `select` reads."""
    return tuple(table for table in tables if table.name in select.tables)


def pushed_sql(
    select: ServerSelect, tables: Sequence[ServerTable], catalog: Mapping[Location, CatalogTable]
) -> str | None:
    """`select` over `tables` as the catalog has them; None where a column has to be pulled."""
    if select.tables != {table.name for table in tables}:
        return None
    views = [_view(select, table, catalog[table.location]) for table in tables]
    if any(view is None for view in views):
        return None
    items = ", ".join(
        f"{quoted(name)}" if kind in _AS_THEY_ARE else f"CAST({quoted(name)} AS TEXT)"
        for name, kind in select.columns
    )
    shared = f"WITH {', '.join(filter(None, views))} " if views else ""
    # The text is made of our own, of the schema's names and of the catalog's.
    return f'{shared}SELECT {items} FROM ({select.sql}) AS "t"'  # noqa: S608


def _view(select: ServerSelect, table: ServerTable, relation: CatalogTable) -> str | None:
    """A table by its name, in WITH; None where the server can't compute with a column of it."""
    items = []
    for name, declared, own in table.stored:
        if name in select.names:
            read = pushed_reading(relation.columns[own].type, declared)
            if read is None:
                return None
            items.append(f"{read.format(quoted(own))} AS {quoted(name)}")
    only = "ONLY " if relation.kind == "r" else ""
    space, there = map(quoted, table.location)
    rows = f"SELECT {', '.join(items)} FROM {only}{space}.{there}"  # noqa: S608 - see above
    return f"{quoted(table.name)} AS NOT MATERIALIZED ({rows})"
