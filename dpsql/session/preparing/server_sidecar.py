"""The sidecar of a source on a server: where it is, what it has to be made of, and who knows of it.

It is a schema on a PostgreSQL server, or a database of Spark's catalog. That it is there is noted
beside the ledger, so that statements are planned and explained without the server; whether it is as
it should be is asked in each snapshot, and a statement that finds it isn't reads the source's own
tables. So a note that is wrong costs time alone. Its stamp has the version that the owner states,
as answers do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from msgspec import Struct

from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.engine import PreparedOnServer
from dpsql.engine.postgres.connection import LONGEST_NAME
from dpsql.engine.postgres.pushed_columns import storage_type
from dpsql.engine.sidecar.named_record import NamedRecord
from dpsql.engine.sidecar.row_columns import value_count_column
from dpsql.engine.sidecar.server import ServerSidecar, ServerSidecarTable
from dpsql.engine.source import DuckDBSource, PostgresSource, Source, SparkSource
from dpsql.engine.spark.address import read_address
from dpsql.engine.spark.tables import is_storable
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.sidecar_columns import group_count_columns, lent_unit_column
from dpsql.schema.source_location import ServerSource
from dpsql.schema.sql_type import SqlType
from dpsql.schema.verify import enforced_keys
from dpsql.session.digest.codec import digested
from dpsql.session.sidecar import can_have_sidecar, has_free_names, sidecar_path

_FORMAT: Final = "1"
"""Of the tables: what this package writes and reads. Who renames a column of them counts on."""

_SPARK_FORMAT: Final = "1"
"""Of those on Spark."""


class Storage(Struct, frozen=True):
    """What a server can store: names of so many bytes, and columns of `is_storable` types.

    That each row leads to one unit at most is told by keys where it `keeps_keys`. Elsewhere it is
    counted when a table is stored.
    """

    longest_name: int | None
    is_storable: Callable[[str], bool]
    keeps_keys: bool


POSTGRES: Final = Storage(
    LONGEST_NAME, lambda declared: storage_type(declared) is not None, keeps_keys=True
)
SPARK: Final = Storage(None, is_storable, keeps_keys=False)


def storage_of(source: Source) -> Storage | None:
    """What the server of `source` can store; None if there is none."""
    match source:
        case PostgresSource():
            return POSTGRES
        case SparkSource():
            return SPARK
        case DuckDBSource():
            return None
        case missing:
            assert_never(missing)


def server_sidecar(schema: Schema) -> ServerSidecar | None:
    """The sidecar as it has to be for `schema`, there or not; None if its source can have none."""
    source = engine_source(schema)
    storage = storage_of(source)
    if storage is None or isinstance(source, DuckDBSource):
        return None
    space = f"dpsql_prepared_{digest_of('schema of a sidecar', schema.dataset)[:12]}"
    return ServerSidecar(
        space,
        _stamp(schema, source, storage),
        sidecar_tables(schema, enforced_keys(schema), storage),
    )


def space_name(schema: Schema) -> str:
    """What people call the place of the sidecar on the server; "" if the source can have none."""
    sidecar = server_sidecar(schema)
    if sidecar is None or not isinstance(schema.source, ServerSource):
        return ""
    return f"the {'database' if schema.source.is_spark else 'schema'} {sidecar.space}"


def sidecar_tables(
    schema: Schema, keys: frozenset[str], storage: Storage
) -> tuple[ServerSidecarTable, ...]:
    """What statements have to know of each table that can be prepared where `keys` hold."""
    return tuple(
        ServerSidecarTable(
            table.name,
            str(unit_type(schema, own)),
            lent_unit_column(table),
            counted_columns(table, storage),
        )
        for table, own in preparable_tables(schema, keys, storage)
    )


def preparable_tables(
    schema: Schema, keys: frozenset[str], storage: Storage
) -> tuple[tuple[Table, EntityUnit], ...]:
    """The tables whose rows are joined to find their unit, by the keys of tables that hold."""
    return tuple(
        (table, own)
        for table in schema.tables.values()
        for own in [table.ownership]
        if isinstance(own, EntityUnit)
        and own.hops
        and _fits(table.name, storage)
        and (
            can_have_sidecar(table, own, schema, keys)
            if storage.keeps_keys
            else has_free_names(table, own)
        )
    )


def counted_columns(table: Table, storage: Storage) -> tuple[str, ...]:
    """The columns by whose values rows are counted, as far as names of counts aren't cut off."""
    return tuple(
        name
        for name in group_count_columns(table)
        if _fits(value_count_column(name), storage)
        and storage.is_storable(str(table.columns[name].type))
    )


def _fits(name: str, storage: Storage) -> bool:
    return storage.longest_name is None or len(name.encode()) <= storage.longest_name


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


def note_usable(schema: Schema, sidecar: ServerSidecar, engine: PreparedOnServer) -> frozenset[str]:
    """The tables of `sidecar` that `engine` can read; they are noted beside the ledger.

    If there are none, a note of before is removed.
    """
    path, usable = sidecar_path(schema), engine.prepared_tables(sidecar)
    if usable:
        NamedRecord(sidecar.stamp, usable).save(path, "a note of what was prepared")
    elif NamedRecord.load(path) is not None:
        path.unlink()
    return usable


def _stamp(schema: Schema, source: PostgresSource | SparkSource, storage: Storage) -> str:
    """All that the tables' rows follow from: of anything else they would be others."""
    declared = {table.name: table for table in source.tables}
    tables = (
        digest_of(
            "table",
            encoded((table.name, declared[name].columns, declared[name].renamed, table.key)),
            digested(table.ownership),
            encoded(counted_columns(table, storage)),
        )
        for name, table in schema.tables.items()
    )
    if isinstance(source, PostgresSource):
        return digest_of("stamp on a server", _FORMAT, source.version, *tables)
    # Tables of a folder are others than those of the catalog.
    folder = encoded(read_address(source.url).folder)
    return digest_of("stamp on Spark", _SPARK_FORMAT, source.version, folder, *tables)
