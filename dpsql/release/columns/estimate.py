"""A released column's value in one group: post-processing, exact until the last rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.plan.bounded_release.estimator import (
    Formula,
    Linear,
    Mean,
    Moments,
    Named,
    Others,
    Position,
    Variance,
)
from dpsql.privacy.domain import Value, day
from dpsql.privacy.domain import moment as moment_of
from dpsql.release.columns.moments import moment, spread
from dpsql.schema.sql_type import Date, Decimal, Integer, SqlType, Timestamp


def evaluate(formula: Formula, row: tuple[int, ...], chosen: tuple[int, ...]) -> Value | None:
    """One column's value from a group's noisy statistics and choices; None if it has no meaning."""
    match formula:
        case Linear(others=Others()):
            raise TypeError("what other groups add is a statistic of its own by now")
        case Linear(terms=terms, step=step, type=kind, least=least):
            total = formula.constant + step * sum(factor * row[place] for place, factor in terms)
            if least is not None:
                total = max(total, Fraction(least))
            return _rounded(total, kind)
        case Mean(total=total_place, count=count, centre=centre, step=step, low=low, high=high):
            mean = step * (centre + Fraction(row[total_place], max(row[count], 1)))
            return min(max(mean, low), high)
        case Moments():
            return moment(formula, row)
        case Variance(place=place):
            return spread(formula, row[place])
        case Position(place=place, low=low, width=width, high=high, type=kind):
            return _middle(min(low + width * chosen[place], high), kind)
        case Named(place=place, values=values):
            return values[chosen[place]]
        case missing:
            assert_never(missing)


def _rounded(total: Fraction, kind: SqlType) -> Value:
    """A sum as `kind` holds it: only estimates of true answers have to be rounded."""
    match kind:
        case Integer():
            return round(total)
        case Decimal(scale=scale):
            return Fraction(round(total * 10**scale), 10**scale)
        case _:
            return total


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
