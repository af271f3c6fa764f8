"""The columns whose values a sidecar sums for each unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from dpsql.schema.bounded import bounded
from dpsql.schema.counted import lists_units
from dpsql.schema.model import Column, EntityUnit, Table
from dpsql.schema.type import Decimal

_MOST = 2**46
"""Sums of 2^16 such numbers fit 64 bits."""


@dataclass(frozen=True, slots=True)
class SummedColumn:
    """Integers from `low` to `high`, each worth `step`, stand for the values of `column`."""

    column: Column
    step: Fraction
    low: int
    high: int


def summed(table: Table) -> tuple[SummedColumn, ...] | None:
    """None of a table that a sidecar can't have, or that has one row for each unit."""
    if not isinstance(table.ownership, EntityUnit) or lists_units(table):
        return None
    found = (_summed(column) for column in bounded(table))
    return tuple(each for each in found if max(abs(each.low), abs(each.high)) < _MOST)


def _summed(column: Column) -> SummedColumn:
    scale = column.type.scale if isinstance(column.type, Decimal) else 0
    match column.bounds:
        case (int() | Fraction() as low, int() | Fraction() as high):
            step = Fraction(1, 10**scale)
            return SummedColumn(column, step, floor(low / step), ceil(high / step))
        case _:
            raise ValueError("exact numbers have exact bounds")
