"""The sidecar of a source on a server: where it is, what it has to be made of, and who knows of it.

It is a schema on the server. That it is there is noted beside the ledger, so that statements are
planned and explained without the server; whether it is as it should be is asked in each snapshot,
and a statement that finds it isn't reads the source's own tables. So a note that is wrong costs
time alone. Its stamp has the version that the owner states, as answers do.
"""

from __future__ import annotations

from typing import Final

from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.postgres.connection import LONGEST_NAME
from dpsql.engine.postgres.pushed_columns import storage_type
from dpsql.engine.sidecar.named_record import NamedRecord
from dpsql.engine.sidecar.row_columns import value_count_column
from dpsql.engine.sidecar.server import ServerSidecar, ServerSidecarTable
from dpsql.engine.source import PostgresSource
from dpsql.schema.load.column_types import engine_source
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.sidecar_columns import group_count_columns, lent_unit_column
from dpsql.schema.source_location import ServerSource
from dpsql.schema.sql_type import SqlType
from dpsql.schema.verify import enforced_keys
from dpsql.session.digest.codec import digested
from dpsql.session.sidecar import can_have_sidecar, sidecar_path

_FORMAT: Final = "1"
"""Of the tables: what this package writes and reads. Who renames a column of them counts on."""


def server_sidecar(schema: Schema) -> ServerSidecar | None:
    """The sidecar as it has to be for `schema`, there or not; None if its source can have none."""
    source = engine_source(schema)
    if not isinstance(source, PostgresSource):
        return None
    space = f"dpsql_prepared_{digest_of('schema of a sidecar', schema.dataset)[:12]}"
    return ServerSidecar(
        space, _stamp(schema, source), sidecar_tables(schema, enforced_keys(schema))
    )


def sidecar_tables(schema: Schema, keys: frozenset[str]) -> tuple[ServerSidecarTable, ...]:
    """What statements have to know of each table that can be prepared where `keys` hold."""
    return tuple(
        ServerSidecarTable(
            table.name,
            str(unit_type(schema, own)),
            lent_unit_column(table),
            counted_columns(table),
        )
        for table, own in preparable_tables(schema, keys)
    )


def preparable_tables(schema: Schema, keys: frozenset[str]) -> tuple[tuple[Table, EntityUnit], ...]:
    """The tables whose rows are joined to find their unit, by the keys of tables that hold."""
    return tuple(
        (table, own)
        for table in schema.tables.values()
        for own in [table.ownership]
        if isinstance(own, EntityUnit)
        and own.hops
        and len(table.name.encode()) <= LONGEST_NAME
        and can_have_sidecar(table, own, schema, keys)
    )


def counted_columns(table: Table) -> tuple[str, ...]:
    """The columns by whose values rows are counted, as far as names of counts aren't cut off."""
    longest = LONGEST_NAME - len(value_count_column("").encode())
    return tuple(
        name
        for name in group_count_columns(table)
        if len(name.encode()) <= longest and storage_type(str(table.columns[name].type)) is not None
    )


def unit_type(schema: Schema, own: EntityUnit) -> SqlType:
    """The type of the column that names the unit, in the table that hops lead to."""
    return schema.tables[own.hops[-1].table].columns[own.column].type


def noted_sidecar(schema: Schema) -> ServerSidecar | None:
    """The sidecar with those tables that a note beside the ledger says are there; None: none."""
    if not isinstance(schema.source, ServerSource):
        return None
    record = NamedRecord.load(sidecar_path(schema))
    sidecar = None if record is None else server_sidecar(schema)
    if sidecar is None or record is None or record.stamp != sidecar.stamp:
        return None
    tables = tuple(table for table in sidecar.tables if table.name in record.names)
    return ServerSidecar(sidecar.space, sidecar.stamp, tables) if tables else None


def note_sidecar(schema: Schema, sidecar: ServerSidecar, tables: frozenset[str]) -> None:
    """Note beside the ledger that `tables` of `sidecar` are there; none: remove the note."""
    path = sidecar_path(schema)
    if tables:
        NamedRecord(sidecar.stamp, tables).save(path, "a note of what was prepared")
    elif NamedRecord.load(path) is not None:
        path.unlink()


def _stamp(schema: Schema, source: PostgresSource) -> str:
    """All that the tables' rows follow from: of anything else they would be others."""
    declared = {table.name: table for table in source.tables}
    tables = (
        digest_of(
            "table",
            encoded((table.name, declared[name].columns, declared[name].renamed, table.key)),
            digested(table.ownership),
            encoded(counted_columns(table)),
        )
        for name, table in schema.tables.items()
    )
    return digest_of("stamp on a server", _FORMAT, source.version, *tables)
