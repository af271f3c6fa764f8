"""The notes' databases on a PostgreSQL server with the rows that a sidecar would have there.

Tables have the names by which statements read them: no engine stands between.
"""

from __future__ import annotations

from emit import postgres_server

from dpsql.bounding.public_facts import Facts
from dpsql.engine.postgres.pushed_columns import storage_type
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.supported import prepared_name
from dpsql.errors import Refused
from dpsql.physical.choose import choose_on_server
from dpsql.physical.push_down import PushedDown, push_down
from dpsql.schema.model import Schema, Table
from dpsql.schema.sidecar_columns import lent_unit_column
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.preparing.server_sidecar import preparable_tables, sidecar_tables
from dpsql.session.preparing.server_tables import stored_select


def over_sidecar(
    release: CompiledRelease, schema: Schema, facts: Facts, keys: frozenset[str]
) -> PushedDown | None:
    """The release over what is stored where `keys` hold; None if nothing of it is read."""
    sidecar = ServerSidecar("prepared", "stamp", sidecar_tables(schema, keys))
    choice = choose_on_server(release.step.bounded.limited, facts, sidecar)
    try:
        return None if choice is None else push_down(choice, sidecar=sidecar)
    except Refused:
        return None


def store(name: str, schema: Schema, keys: frozenset[str]) -> None:
    """Store the rows of the tables in the schema `name` that can be prepared where `keys` hold."""
    server = postgres_server.server()
    own_schema = postgres_server.own(name)
    server.execute(f'SET search_path TO "{own_schema}"'.encode())
    for table, own in preparable_tables(schema, keys):
        rows = stored_select(schema, table, own, _storable(table)).sql
        lent = lent_unit_column(table)
        more = "" if lent is None else f', "{UNIT_COLUMN}" AS "{lent}"'
        at = f'"{own_schema}"."{prepared_name(table.name)}"'
        server.execute(f"CREATE TABLE {at} AS SELECT *{more} FROM ({rows}) AS t".encode())


def _storable(table: Table) -> frozenset[str]:
    return frozenset(c.name for c in table.columns.values() if storage_type(str(c.type)))
