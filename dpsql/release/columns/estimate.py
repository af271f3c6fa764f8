"""A released column's value in one group: post-processing, exact until the last rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.plan.bounded_release.estimator import (
    ChosenValue,
    CrossGroupSum,
    Estimator,
    LinearEstimator,
    Mean,
    Moments,
    QuantileValue,
    Variance,
)
from dpsql.privacy.domain import Value, day
from dpsql.privacy.domain import timestamp as moment_of
from dpsql.release.columns.moments import moment, spread
from dpsql.schema.sql_type import Date, Decimal, Integer, SqlType, Timestamp


def evaluate(estimator: Estimator, row: tuple[int, ...], chosen: tuple[int, ...]) -> Value | None:
    """One column's value from a group's noisy statistics and choices; None if it has no meaning."""
    match estimator:
        case LinearEstimator(cross_group=CrossGroupSum()):
            raise TypeError("what other groups add is a statistic of its own by now")
        case LinearEstimator(summands=terms, step=step, type=kind, minimum=least):
            total = estimator.constant + step * sum(factor * row[place] for place, factor in terms)
            if least is not None:
                total = max(total, Fraction(least))
            return _rounded(total, kind)
        case Mean(total=total_place, count=count, center=centre, step=step, low=low, high=high):
            mean = step * (centre + Fraction(row[total_place], max(row[count], 1)))
            return min(max(mean, low), high)
        case Moments():
            return moment(estimator, row)
        case Variance(index=place):
            return spread(estimator, row[place])
        case QuantileValue(index=place, low=low, width=width, high=high, type=kind):
            return _middle(min(low + width * chosen[place], high), kind)
        case ChosenValue(index=place, values=values):
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
