"""Makes the sidecar of a source on Spark: of each table what a scan of it reads, with its units."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.emit.dialect.spark.render import rendered
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import SparkSource
from dpsql.engine.spark.address import SPARK as SPARK_URL
from dpsql.engine.spark.address import has_host
from dpsql.engine.spark.engine import SparkEngine
from dpsql.engine.spark.sidecar.columns import stored_columns
from dpsql.engine.spark.sidecar.writing import StoredScan, owner_session, write_tables
from dpsql.errors import SourceFault
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.verify import enforced_keys
from dpsql.session.preparing.server_sidecar import (
    SPARK,
    note_usable,
    preparable_tables,
    server_sidecar,
)
from dpsql.session.preparing.stored_scan import check_some, stored_select
from dpsql.session.unit_rows import rows_with_unit


def prepare_spark(
    schema: Schema, engine: SparkEngine, owner: str, step: Callable[[str], None] = lambda _: None
) -> frozenset[str]:
    """Make the sidecar in Spark's catalog, by the address `owner`; names the tables that it has."""
    source, sidecar = engine_source(schema), server_sidecar(schema)
    if not isinstance(source, SparkSource) or sidecar is None:
        raise SourceFault(f"{source} isn't on Spark", hint="leave out --as")
    if not owner.startswith(SPARK_URL) or not has_host(owner):
        raise SourceFault(
            "--as doesn't name a Spark Connect server", hint="write --as sc://HOST:PORT"
        )
    check_some(sidecar)
    with owner_session(source, owner) as session:
        tables = [
            _stored(schema, table, own, source, sidecar)
            for table, own in preparable_tables(schema, enforced_keys(schema), SPARK)
        ]
        write_tables(session, sidecar, tables, step)
    names = frozenset(stored.table.name for stored in tables)
    if lacking := names - note_usable(schema, sidecar, engine):
        raise SourceFault(
            f"the source doesn't see what was prepared of {', '.join(sorted(lacking))}",
            hint="name the same cluster by --as as source: does, where nobody else prepares now",
        )
    return names


def _stored(
    schema: Schema, table: Table, own: EntityUnit, source: SparkSource, sidecar: ServerSidecar
) -> StoredScan:
    declared = next(each for each in source.tables if each.name == table.name)
    entry = sidecar.table(table.name)
    if entry is None:
        raise ValueError("a sidecar has all tables that can be prepared")
    names = frozenset(column.name for column in stored_columns(declared, entry))
    rows = stored_select(schema, table, own, names, rendered)
    return StoredScan(declared, entry, rows, rows_with_unit(table, own).sql("spark"))
