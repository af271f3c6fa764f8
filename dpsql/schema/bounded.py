"""The columns of which a sidecar says whether all their values lie within their bounds."""

from __future__ import annotations

from dpsql.schema.model import Column, EntityUnit, Table
from dpsql.schema.type import Decimal, Integer


def bounded(table: Table) -> tuple[Column, ...]:
    """Exact numbers with bounds, of a table that a sidecar may have: what sums are made of."""
    if not isinstance(table.ownership, EntityUnit):
        return ()
    return tuple(
        column
        for column in table.columns.values()
        if column.bounds is not None and isinstance(column.type, Integer | Decimal)
    )
