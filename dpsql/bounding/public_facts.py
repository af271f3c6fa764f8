"""The public facts that a rewrite may read: never anything about a private row."""

from __future__ import annotations

from typing import Protocol

from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.expression import Column, IsNull, Not
from dpsql.plan.operator import Aggregate, Filter, Output, Plan, Scan
from dpsql.schema.model import Hop, Public, Reference, Schema, Table


class Facts(Protocol):
    """The source of public facts: verified keys, and the contents of public tables."""

    def verified(self, table: Table | Hop) -> bool:
        """Tell whether a declared key is verified for this version of the data.

        The key is that of `table`, or of the private table that a hop leads to.
        """
        ...

    def in_sidecar(self, table: Table) -> bool:
        """Tell whether a sidecar has `table`'s rows with their units."""
        ...

    def holds_sidecar(self) -> bool:
        """Tell whether the engine that will run a statement has the sidecar's file open already.

        Whoever deletes or replaces the file then takes nothing away from it.
        """
        ...

    def server_sidecar(self) -> ServerSidecar | None:
        """Name what the owner prepared on the source's server; when it's read it may be gone.

        It chooses no groups, and so decides no integer.
        """
        ...

    def rows(self, plan: Plan, limit: int) -> tuple[Cell, ...] | None:
        """The rows of a public plan; None if there are more than `limit`."""
        ...

    def referenced(self, reference: Reference, limit: int) -> tuple[Cell, ...] | None:
        """A public table column's distinct values; None if it is private, or has over `limit`."""
        ...


def distinct_values(schema: Schema, reference: Reference) -> Plan | None:
    """The public plan whose rows `Facts.referenced` returns; None if the table isn't public."""
    table = schema.tables[reference.table]
    if not isinstance(table.ownership, Public):
        return None
    declared = table.columns[reference.column]
    column, key = (Column(n, declared.name, declared.type) for n in (1, 2))
    there = Filter(Scan(table, (column,), None), Not(IsNull(column)))
    return Aggregate(there, (Output(key, column),), ())
