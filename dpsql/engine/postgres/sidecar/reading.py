"""Which tables of a sidecar can be read in a snapshot, as they are there at its time.

Each is asked for anew in each snapshot: who owns them may drop or alter them between two. What
isn't as it should be is no fault, since a statement has another way, over the source's own tables;
which way is taken never depends on rows.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Final

from dpsql.engine.postgres.access import check_kind, check_rights
from dpsql.engine.postgres.catalog import CatalogTable, Location, read_tables
from dpsql.engine.postgres.connection import ServerConnection
from dpsql.engine.postgres.pushed_columns import storage_type
from dpsql.engine.postgres.sidecar.record import RECORD, read_record, relations
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import ServerTable
from dpsql.errors import SourceFault

_LOG: Final = logging.getLogger("dpsql.engine")

_NO_NAMES: Final[frozenset[str]] = frozenset()

Stored = Mapping[str, CatalogTable]
"""The sidecar's tables by the names of those whose rows they have."""


def sidecar_relations(
    server: ServerConnection,
    sidecar: ServerSidecar,
    tables: Collection[ServerTable],
    names: frozenset[str],
) -> Stored | None:
    """The sidecar's tables for `tables`, locked from now on, with those of their columns `names`.

    None if any of them can't be read, or isn't what was written.
    """
    server.run("SAVEPOINT prepared")
    try:
        return _checked(server, sidecar, tables, names)
    except SourceFault as fault:
        _LOG.warning("what was prepared isn't read: %s", fault.message)
        # Else nothing could be read in this transaction any more.
        server.run("ROLLBACK TO SAVEPOINT prepared")
        return None


def usable_tables(
    server: ServerConnection, sidecar: ServerSidecar, tables: Collection[ServerTable]
) -> frozenset[str]:
    """The names of those `tables` that can be read from the sidecar now."""
    usable: set[str] = set()
    if not relations(server, sidecar.space):
        return frozenset()
    for table in tables:
        stored = sidecar_relations(server, sidecar, [table], _NO_NAMES)
        if stored is not None:
            usable.add(table.name)
    return frozenset(usable)


def _checked(
    server: ServerConnection,
    sidecar: ServerSidecar,
    tables: Collection[ServerTable],
    names: frozenset[str],
) -> Stored:
    at: dict[str, Location] = {
        name: (sidecar.space, name) for name in (RECORD, *(table.name for table in tables))
    }
    if not at.keys() <= relations(server, sidecar.space).keys():
        raise SourceFault(
            f"the schema {sidecar.space} isn't there, or lacks a table",
            hint="run dpsql check, or dpsql prepare again",
        )
    server.lock(list(at.values()))
    # What there is, by numbers, is asked when nobody can replace it any more.
    catalog = read_tables(server, at.values())
    numbers = relations(server, sidecar.space)
    for name, location in at.items():
        if location not in catalog or name not in numbers or not numbers[name].is_closed:
            raise _replaced(sidecar)
        check_kind(catalog[location])
        check_rights(catalog[location], [location])
    recorded = read_record(server, sidecar.space, sidecar.stamp)
    for table in tables:
        stored, own = recorded.get(table.name), numbers[table.name]
        if stored is None or (stored.number, stored.file) != (own.number, own.file):
            raise _replaced(sidecar)
        if not _is_as_written(sidecar, table, catalog[at[table.name]], names):
            raise _replaced(sidecar)
    return {table.name: catalog[at[table.name]] for table in tables}


def _is_as_written(
    sidecar: ServerSidecar, table: ServerTable, relation: CatalogTable, names: frozenset[str]
) -> bool:
    """Whether the columns that are read have their types, and an index keeps the key."""
    entry = sidecar.table(table.name)
    if entry is None:
        return False
    kinds = {name: kind for name, kind, _ in table.stored if name in names}
    added = {name: kind for name, kind in entry.added if name in names or name == UNIT_COLUMN}
    kinds |= added
    for name, declared in kinds.items():
        column = relation.columns.get(name)
        if column is None or column.type != storage_type(declared):
            return False
        if not column.is_named or not column.is_deterministic or column.is_virtual:
            return False
    if not all(relation.columns[name].not_null for name in added):
        return False
    key = table.key or ()
    has_index = not key or any(unique <= {*key} for unique in relation.unique)
    return (
        has_index
        and all(name in relation.columns for name in key)
        and all(relation.columns[name].not_null for name in key)
    )


def _replaced(sidecar: ServerSidecar) -> SourceFault:
    return SourceFault(
        f"the schema {sidecar.space} isn't what dpsql prepare wrote of this version",
        hint="run dpsql prepare again",
    )
