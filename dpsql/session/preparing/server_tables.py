"""Makes the sidecar of a source on PostgreSQL: what is stored of each table, in the server's SQL.

What is stored of a table is what a scan of it reads, in the words of any statement that the server
computes. How many rows have a unit is asked in other words, by semi-joins alone.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.emit.dialect.postgres.render import rendered
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, schema_name
from dpsql.engine.connection_string import SERVER
from dpsql.engine.postgres.engine import PostgresEngine
from dpsql.engine.postgres.sidecar.writing import (
    OwnerTransaction,
    StoredRows,
    owner_transaction,
    write_tables,
)
from dpsql.engine.source import PostgresSource
from dpsql.errors import SourceFault
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.schema.verify import enforced_keys
from dpsql.session.preparing.server_sidecar import (
    POSTGRES,
    counted_columns,
    note_usable,
    preparable_tables,
    server_sidecar,
)
from dpsql.session.preparing.stored_scan import as_select, check_some, stored_select
from dpsql.session.unit_rows import hop_equalities, numbered_table

_COUNT = "n"


def prepare_server(
    schema: Schema, engine: PostgresEngine, owner: str, step: Callable[[str], None] = lambda _: None
) -> frozenset[str]:
    """Make the sidecar on the server, by the role of the connection string `owner`.

    Names the tables that are in it. The role of the source, which `engine` reads with, may read it.
    """
    source, sidecar = engine_source(schema), server_sidecar(schema)
    if not isinstance(source, PostgresSource) or sidecar is None:
        raise SourceFault(f"{source} isn't a PostgreSQL server", hint="leave out --as")
    if not owner.startswith(SERVER):
        raise SourceFault(
            "--as doesn't name a role of a PostgreSQL server",
            hint="write --as postgresql://OWNER@HOST/DATABASE",
        )
    check_some(sidecar)
    with owner_transaction(source, owner) as transaction:
        stored = [
            rows
            for table, own in preparable_tables(schema, enforced_keys(schema), POSTGRES)
            if (rows := _stored_rows(schema, table, own, transaction)) is not None
        ]
        write_tables(transaction, sidecar, stored, engine.role(), step)
    names = frozenset(rows.table.name for rows in stored)
    if lacking := names - note_usable(schema, sidecar, engine):
        raise SourceFault(
            f"the role of source: doesn't see what was prepared of {', '.join(sorted(lacking))}",
            hint="name the same database by --as as source: does; of a standby, wait and run"
            " dpsql check",
        )
    return names


def _stored_rows(
    schema: Schema, table: Table, own: EntityUnit, transaction: OwnerTransaction
) -> StoredRows | None:
    """What is stored of `table`; None if its key or its unit can't be."""
    declared = next(each for each in transaction.source.tables if each.name == table.name)
    names = transaction.storable(declared)
    if not {*(table.key or ()), *own.first_hop_columns} <= names:
        return None
    counted = as_select(rendered(_count_with_unit(table, own)), ((_COUNT, "BIGINT"),))
    by = tuple(name for name in counted_columns(table, POSTGRES) if name in names)
    return StoredRows(declared, stored_select(schema, table, own, names, rendered), counted, by)


def _count_with_unit(table: Table, own: EntityUnit) -> exp.Select:
    """How many rows of `table` have a unit, by EXISTS: PostgreSQL has no SEMI JOIN."""
    names = (table.name, *(hop.table for hop in own.hops))
    last = len(own.hops)
    owner = column_ref(schema_name(own.column), table=f"h{last}")
    condition: exp.Expr = exp.Not(this=exp.Is(this=owner, expression=exp.null()))
    for index in reversed(range(last)):
        led = select_of([exp.Literal.number(1)], numbered_table(names[index + 1], index + 1))
        led = led.where(*hop_equalities(own, index), condition, copy=False)
        condition = exp.Exists(this=led)
    count = exp.Alias(this=exp.Count(this=exp.Star()), alias=schema_name(_COUNT))
    return select_of([count], numbered_table(names[0], 0)).where(condition, copy=False)
