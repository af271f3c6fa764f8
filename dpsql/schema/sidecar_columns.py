"""The columns that a sidecar counts rows by, compares with bounds, and sums for each unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from dpsql.schema.model import Column, EntityUnit, Table
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

_MAX_NAMES = 1000
"""Integers of more values than that are amounts, not names."""


def group_count_columns(table: Table) -> tuple[str, ...]:
    """By the schema alone; none of a table that lists its units, each of which has one row."""
    own = table.ownership
    if not isinstance(own, EntityUnit) or has_one_row_per_unit(table):
        return ()
    # What names the row or its unit is no group: it has one row, or all of them.
    names = {*own.first_hop_columns, *(table.key or ())}
    return tuple(c.name for c in table.columns.values() if c.name not in names and _is_name(c))


def has_one_row_per_unit(table: Table) -> bool:
    """By its declared key, each unit has one row."""
    own = table.ownership
    return isinstance(own, EntityUnit) and not own.hops and table.key == (own.column,)


def lent_unit_column(table: Table) -> str | None:
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
            return isinstance(low, int) and isinstance(high, int) and high - low < _MAX_NAMES
        case _:
            return False


def range_checked_columns(table: Table) -> tuple[Column, ...]:
    """Exact numbers with bounds, of a table that a sidecar may have: what sums are made of."""
    if not isinstance(table.ownership, EntityUnit):
        return ()
    return tuple(
        column
        for column in table.columns.values()
        if column.bounds is not None and isinstance(column.type, Integer | Decimal)
    )


_MAX_SUM = 2**46
"""Sums of 2^16 such numbers fit 64 bits."""


@dataclass(frozen=True, slots=True)
class SummedColumn:
    """Integers from `low` to `high`, each worth `step`, stand for the values of `column`."""

    column: Column
    step: Fraction
    low: int
    high: int


def unit_sum_columns(table: Table) -> tuple[SummedColumn, ...] | None:
    """None of a table that a sidecar can't have, or that has one row for each unit."""
    if not isinstance(table.ownership, EntityUnit) or has_one_row_per_unit(table):
        return None
    found = (_summed(column) for column in range_checked_columns(table))
    return tuple(each for each in found if max(abs(each.low), abs(each.high)) < _MAX_SUM)


def _summed(column: Column) -> SummedColumn:
    scale = column.type.scale if isinstance(column.type, Decimal) else 0
    match column.bounds:
        case (int() | Fraction() as low, int() | Fraction() as high):
            step = Fraction(1, 10**scale)
            return SummedColumn(column, step, floor(low / step), ceil(high / step))
        case _:
            raise ValueError("exact numbers have exact bounds")
