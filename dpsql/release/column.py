"""Noisy integers → typed columns: post-processing, exact until the last rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

import pyarrow as pa

from dpsql.plan.bounded import BoundedRelease
from dpsql.plan.formula import Formula, Linear, Mean, Moments, Named, Position
from dpsql.privacy.domain import Value, day
from dpsql.privacy.domain import moment as moment_of
from dpsql.release.arrow import arrow_array
from dpsql.release.moment import moment
from dpsql.release.noise import NoisyGroups
from dpsql.schema.type import Date, Decimal, Double, Integer, SqlType, Timestamp


def columns(bounded: BoundedRelease, groups: NoisyGroups) -> pa.Table:
    """The released table: c<id> for each key and aggregate."""
    arrays: dict[str, pa.Array] = {}
    for place, key in enumerate(bounded.terms.keys):
        values = [cell[place] for cell in groups.keys]
        arrays[f"c{key.column.id}"] = arrow_array(values, key.column.type)
    for output in bounded.outputs:
        found = [evaluate(output.formula, row, chosen) for row, chosen in groups.rows()]
        arrays[f"c{output.column.id}"] = arrow_array(found, output.column.type)
    if not arrays:
        return pa.table({"nothing": pa.array([1] * len(groups.keys), pa.int32())})
    return pa.table(arrays)


def evaluate(formula: Formula, row: tuple[int, ...], chosen: tuple[int, ...]) -> Value | None:
    """One column's value from a group's noisy statistics and choices; None if it has no meaning."""
    match formula:
        case Linear(terms=terms, step=step, type=kind):
            total = step * sum(factor * row[place] for place, factor in terms)
            return total if isinstance(kind, Double) or total.denominator > 1 else int(total)
        case Mean(total=total_place, count=count, centre=centre, step=step, low=low, high=high):
            mean = step * (centre + Fraction(row[total_place], max(row[count], 1)))
            return min(max(mean, low), high)
        case Moments():
            return moment(formula, row)
        case Position(place=place, low=low, width=width, type=kind):
            return _middle(low + width * chosen[place], kind)
        case Named(place=place, values=values):
            return values[chosen[place]]
        case missing:
            assert_never(missing)


def _middle(value: Fraction, kind: SqlType) -> Value:
    """The middle of a cell, as one of the values that `kind` has."""
    match kind:
        case Integer():
            return math.floor(value)
        case Date():
            return day(math.floor(value))
        case Timestamp():
            return moment_of(math.floor(value))
        case Decimal(scale=scale):
            return Fraction(math.floor(value * 10**scale), 10**scale)
        case _:
            return value
