"""The notes' databases on a PostgreSQL server with the rows that a sidecar would have there.

Tables have the names by which statements read them: no engine stands between.
"""

from __future__ import annotations

from contextlib import suppress

from emit import postgres_server

from dpsql.bounding.public_facts import Facts
from dpsql.emit.dialect.postgres.render import rendered
from dpsql.engine.postgres.pushed_columns import storage_type
from dpsql.engine.postgres.sidecar.writing import COUNT_SQL
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.sidecar.server_counts import count_columns
from dpsql.engine.supported import prepared_name
from dpsql.errors import Refused
from dpsql.physical.choose import Choice, choose_on_server
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.schema.model import Schema, Table
from dpsql.schema.sidecar_columns import lent_unit_column
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.preparing.server_sidecar import (
    POSTGRES,
    counted_columns,
    preparable_tables,
    sidecar_tables,
)
from dpsql.session.preparing.stored_scan import stored_select


def over_sidecar(
    release: CompiledRelease,
    schema: Schema,
    facts: Facts,
    keys: frozenset[str],
    only: frozenset[str] | None = None,
) -> tuple[ServerQuery, ...]:
    """The release over what is stored where `keys` hold, by each strategy that the server takes.

    None where nothing of it is read. If `only` some tables are to be read there, others are as they
    are now.
    """
    tables = sidecar_tables(schema, keys, POSTGRES)
    named = tuple(table for table in tables if only is None or table.name in only)
    sidecar = ServerSidecar("prepared", "stamp", named)
    choice = choose_on_server(release.step.bounded.limited, facts, sidecar)
    if choice is None:
        return ()
    there = []
    for candidate in choice.candidates:
        with suppress(Refused):
            one = Choice(choice.limited, (candidate,))
            there.append(push_down(one, sidecar=sidecar).query)
    return tuple(there)


def store(name: str, schema: Schema, keys: frozenset[str]) -> None:
    """Store the rows of the tables in the schema `name` that can be prepared where `keys` hold."""
    server = postgres_server.server()
    own_schema = postgres_server.own(name)
    server.execute(f'SET search_path TO "{own_schema}"'.encode())
    for table, own in preparable_tables(schema, keys, POSTGRES):
        rows = stored_select(schema, table, own, _storable(table), rendered).sql
        lent = lent_unit_column(table)
        more = "" if lent is None else f', "{UNIT_COLUMN}" AS "{lent}"'
        counts = count_columns(counted_columns(table, POSTGRES), COUNT_SQL)
        more += "".join(f', {count} AS "{column}"' for column, _, count in counts)
        at = f'"{own_schema}"."{prepared_name(table.name)}"'
        server.execute(f"CREATE TABLE {at} AS SELECT *{more} FROM ({rows}) AS t".encode())


def _storable(table: Table) -> frozenset[str]:
    return frozenset(c.name for c in table.columns.values() if storage_type(str(c.type)))
