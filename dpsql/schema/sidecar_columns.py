"""The columns for which a sidecar has counts of rows, comparisons with bounds, and units' sums."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Final

from msgspec import Struct

from dpsql.schema.model import Column, EntityUnit, Table
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

_MAX_NAMES = 1000
"""An integer column with more possible values than this is an amount, and no grouping key."""

_WIDE: Final = (Integer(128), Integer(128, signed=False))
"""Integers not all of which are read as keys."""


def group_count_columns(table: Table) -> tuple[str, ...]:
    """The columns by whose values a sidecar counts each unit's rows, by the schema alone.

    A table that has one row for each unit has none.
    """
    own = table.ownership
    if not isinstance(own, EntityUnit) or has_one_row_per_unit(table):
        return ()
    names = _row_names(table, own)
    return tuple(c.name for c in table.columns.values() if c.name not in names and _is_name(c))


def month_count_columns(table: Table) -> tuple[str, ...]:
    """The days by whose months a sidecar counts each unit's rows: those whose months are listed.

    None whose months would be taken for a column of the table.
    """
    own = table.ownership
    if not isinstance(own, EntityUnit) or has_one_row_per_unit(table):
        return ()
    names = _row_names(table, own)
    taken = {name.casefold() for name in table.columns}
    return tuple(
        c.name
        for c in table.columns.values()
        if isinstance(c.type, Date)
        and c.bounds is not None
        and c.name not in names
        and month_of(c.name).casefold() not in taken
    )


def month_of(column: str) -> str:
    """What stands for a column of days' months in the names of what is counted by them."""
    return f"month of {column}"


def _row_names(table: Table, own: EntityUnit) -> frozenset[str]:
    """What names the row or its unit, and is no group: it has one row, or all of them."""
    return frozenset({*own.first_hop_columns, *(table.key or ())})


def has_one_row_per_unit(table: Table) -> bool:
    """Whether the declared key says that each unit has one row at most."""
    own = table.ownership
    return isinstance(own, EntityUnit) and not own.hops and table.key == (own.column,)


def lent_unit_column(table: Table) -> str | None:
    """The column of the unit's identity that a sidecar adds to rows whose unit is in another table.

    It has the name that it has there; None if the table has a column of that name, or has the unit
    itself.
    """
    own = table.ownership
    if not isinstance(own, EntityUnit) or not own.hops:
        return None
    # To DuckDB, names that differ in case only are one.
    taken = {name.casefold() for name in table.columns}
    return None if own.column.casefold() in taken else own.column


def _is_name(column: Column) -> bool:
    """Whether the column is likely to be grouped by: it has few values, or names something."""
    if column.values is not None:
        return True
    if isinstance(column.type, Double | Date | Timestamp) or column.type in _WIDE:
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
    """The exact numbers with bounds, as SUM needs them, of a table that a sidecar can have."""
    if not isinstance(table.ownership, EntityUnit):
        return ()
    return tuple(
        column
        for column in table.columns.values()
        if column.bounds is not None and isinstance(column.type, Integer | Decimal)
    )


_MAX_SUM = 2**46
"""A sum of 2^16 integers below this fits 64 bits."""


class SummedColumn(Struct, frozen=True):
    """A column whose values are multiples of `step`, from `low` to `high` times `step`."""

    column: Column
    step: Fraction
    low: int
    high: int


def unit_sum_columns(table: Table) -> tuple[SummedColumn, ...] | None:
    """The columns that a sidecar sums for each unit.

    None for a table that a sidecar can't have, or that has one row for each unit.
    """
    if not isinstance(table.ownership, EntityUnit) or has_one_row_per_unit(table):
        return None
    summed = (_summed(column) for column in range_checked_columns(table))
    return tuple(each for each in summed if max(abs(each.low), abs(each.high)) < _MAX_SUM)


def _summed(column: Column) -> SummedColumn:
    scale = column.type.scale if isinstance(column.type, Decimal) else 0
    match column.bounds:
        case (int() | Fraction() as low, int() | Fraction() as high):
            step = Fraction(1, 10**scale)
            return SummedColumn(column, step, floor(low / step), ceil(high / step))
        case _:
            raise ValueError("exact numbers have exact bounds")
