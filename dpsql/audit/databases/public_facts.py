"""The public facts of an audit's databases: their public rows, and the keys that hold."""

from __future__ import annotations

import duckdb
from msgspec import Struct

from dpsql.bounding.public_facts import distinct_values
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.operator import Limit, Plan
from dpsql.release.columns.arrow import canonical
from dpsql.schema.model import Hop, Public, Reference, Schema, Table


class WorldFacts(Struct, frozen=True):
    """Facts from a `connection` to the public rows; keys of private tables in `trusted` hold."""

    schema: Schema
    connection: duckdb.DuckDBPyConnection
    trusted: frozenset[str]

    def verified(self, table: Table | Hop) -> bool:
        """Whether the key of `table` is relied on, or of the table that a hop leads to."""
        if isinstance(table, Hop):
            return table.table in self.trusted
        if isinstance(table.ownership, Public):
            return table.key is not None
        return table.name in self.trusted

    def in_sidecar(self, table: Table) -> bool:
        """False: databases of audits have no sidecar."""
        del table
        return False

    def holds_sidecar(self) -> bool:
        """False: there is none."""
        return False

    def server_sidecar(self) -> ServerSidecar | None:
        """None: databases of audits have no sidecar."""
        return None

    def rows(self, plan: Plan, limit: int) -> tuple[Cell, ...] | None:
        """The rows of a public plan, None if there are more than `limit`."""
        sql = rendered(emit_plan(Limit(plan, limit + 1, 0), {}))
        rows = tuple(tuple(map(canonical, row)) for row in self.connection.execute(sql).fetchall())
        return rows if len(rows) <= limit else None

    def referenced(self, reference: Reference, limit: int) -> tuple[Cell, ...] | None:
        """The distinct values of a public table's column, None if they are more than `limit`."""
        plan = distinct_values(self.schema, reference)
        return None if plan is None else self.rows(plan, limit)
