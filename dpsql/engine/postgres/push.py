"""A statement that the server computes: its text over tables that are read as they are declared.

The tables are named in WITH, by the names that statements use, each with the columns that the
statement names, in their declared types. `search_path` has the system's schema alone, so that no
other relation has a name there. So are the tables of a sidecar, by names that no table has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from dpsql.engine.postgres.catalog import CatalogTable, Location
from dpsql.engine.postgres.connection import quoted
from dpsql.engine.postgres.pushed_columns import pushed_reading
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.source import ServerTable
from dpsql.engine.supported import ServerSelect, prepared_name

_NOTHING: Final[Mapping[str, CatalogTable]] = MappingProxyType({})
_AS_THEY_ARE: Final = frozenset(
    {"BOOLEAN", "INTEGER", "BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"}
)
"""Types that the driver hands on; of others, all of which are numeric there, their digits come."""


def pushed_tables(select: ServerSelect, tables: Sequence[ServerTable]) -> tuple[ServerTable, ...]:
    """The source's tables that `select` reads."""
    return tuple(table for table in tables if table.name in select.tables)


def prepared_tables(select: ServerSelect, tables: Sequence[ServerTable]) -> tuple[ServerTable, ...]:
    """The tables whose rows `select` reads from a sidecar."""
    return tuple(table for table in tables if table.name in select.prepared)


def pushed_sql(
    select: ServerSelect,
    tables: Sequence[ServerTable],
    catalog: Mapping[Location, CatalogTable],
    stored: Mapping[str, CatalogTable] = _NOTHING,
) -> str | None:
    """`select` over `tables` as the catalog has them; None where a column has to be pulled.

    Of tables whose names are in `stored`, it may read the sidecar's rows, too.
    """
    shared = views(select, tables, catalog, stored)
    if shared is None:
        return None
    items = ", ".join(
        f"{quoted(name)}" if kind in _AS_THEY_ARE else f"CAST({quoted(name)} AS TEXT)"
        for name, kind in select.columns
    )
    # The text is made of our own, of the schema's names and of the catalog's.
    return f'{shared}SELECT {items} FROM ({select.sql}) AS "t"'  # noqa: S608


def views(
    select: ServerSelect,
    tables: Sequence[ServerTable],
    catalog: Mapping[Location, CatalogTable],
    stored: Mapping[str, CatalogTable] = _NOTHING,
) -> str | None:
    """What names the tables of `select` before it, in WITH; None as for `pushed_sql`."""
    read = [table for table in tables if table.name in select.tables]
    ready = [table for table in tables if table.name in stored]
    if select.tables != {table.name for table in read} or select.prepared != {
        table.name for table in ready
    }:
        return None
    items = [_view(select, table, catalog[table.location]) for table in read]
    items += [_stored_view(select, table, stored[table.name]) for table in ready]
    if any(view is None for view in items):
        return None
    return f"WITH {', '.join(filter(None, items))} " if items else ""


def _view(select: ServerSelect, table: ServerTable, relation: CatalogTable) -> str | None:
    """A table by its name, in WITH; None where the server can't compute with a column of it."""
    return _named(table.name, select, relation, table.stored)


def _stored_view(select: ServerSelect, table: ServerTable, relation: CatalogTable) -> str | None:
    """A table's rows in the sidecar, in WITH, with the columns that only a sidecar has."""
    entry = None if select.sidecar is None else select.sidecar.table(table.name)
    if entry is None:
        return None
    columns = [(name, declared, name) for name, declared, _ in table.stored]
    columns += [(name, kind, name) for name, kind in entry.added]
    if entry.lent_unit_column is not None:
        columns.append((entry.lent_unit_column, entry.unit_type, UNIT_COLUMN))
    return _named(prepared_name(table.name), select, relation, columns)


def _named(
    name: str, select: ServerSelect, relation: CatalogTable, columns: Sequence[tuple[str, str, str]]
) -> str | None:
    """The rows of `relation`: of `columns` each has a name, a declared type, and its name there."""
    items = []
    for column, declared, own in columns:
        if column in select.names:
            read = pushed_reading(relation.columns[own].type, declared)
            if read is None:
                return None
            items.append(f"{read.format(quoted(own))} AS {quoted(column)}")
    only = "ONLY " if relation.kind == "r" else ""
    space, there = map(quoted, relation.location)
    rows = f"SELECT {', '.join(items)} FROM {only}{space}.{there}"  # noqa: S608 - see above
    return f"{quoted(name)} AS NOT MATERIALIZED ({rows})"
