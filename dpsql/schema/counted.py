"""The columns by whose values a sidecar counts each unit's rows: what statements may group by."""

from __future__ import annotations

from dpsql.schema.model import Column, EntityUnit, Table
from dpsql.schema.type import Boolean, Date, Double, Integer, Timestamp, Varchar

_FEW = 1000
"""Integers of more values than that are amounts, not names."""


def counted(table: Table) -> tuple[str, ...]:
    """By the schema alone; none of a table that lists its units, each of which has one row."""
    own = table.ownership
    if not isinstance(own, EntityUnit) or lists_units(table):
        return ()
    # What names the row or its unit is no group: it has one row, or all of them.
    names = {*own.leads_by, *(table.key or ())}
    return tuple(c.name for c in table.columns.values() if c.name not in names and _is_name(c))


def lists_units(table: Table) -> bool:
    """By its declared key, each unit has one row."""
    own = table.ownership
    return isinstance(own, EntityUnit) and not own.hops and table.key == (own.column,)


def lent_name(table: Table) -> str | None:
    """The name of the column that a sidecar adds to rows whose unit other tables tell.

    It is that of the entity's identity there; None if the rows have a column of that name.
    """
    own = table.ownership
    if not isinstance(own, EntityUnit) or not own.hops:
        return None
    # To DuckDB, names that differ in case only are one.
    taken = {name.casefold() for name in table.columns}
    return None if own.column.casefold() in taken else own.column


def _is_name(column: Column) -> bool:
    if column.values is not None:
        return True
    if isinstance(column.type, Double | Date | Timestamp):
        # Of some values a key has no form: they are one group, and would be counted as several.
        return False
    if column.references is not None:
        return True
    match column.type:
        case Boolean() | Varchar():
            return True
        case Integer() if column.bounds is not None:
            low, high = column.bounds
            return isinstance(low, int) and isinstance(high, int) and high - low < _FEW
        case _:
            return False
