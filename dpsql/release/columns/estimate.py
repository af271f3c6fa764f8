"""A released column's value in one group: postprocessing, exact until the last rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    CrossGroupSum,
    DividedSum,
    Estimator,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    OfSample,
    QuantileValue,
    Variance,
)
from dpsql.privacy.domain import Value, day
from dpsql.privacy.domain import timestamp as moment_of
from dpsql.release.columns.moments import moment, spread
from dpsql.schema.sql_type import Date, Decimal, Integer, SqlType, Timestamp


def evaluate(estimator: Estimator, row: tuple[int, ...], chosen: tuple[int, ...]) -> Value | None:
    """One column's value from a group's noisy statistics `row` and `chosen` cells; None is NULL.

    Raises TypeError for sums over other groups that weren't localized before, and for sums that are
    divided by factors of keys.
    """
    match estimator:
        case ExpertChoice():
            raise TypeError("an expert is chosen by other groups, whose sums nobody sees")
        case NamedCondition():
            raise TypeError("a condition is named by sums that nobody sees")
        case DividedSum():
            raise TypeError("a sum is divided by the factor of its group's key")
        case LinearEstimator(cross_group=CrossGroupSum()):
            raise TypeError("what other groups add is a statistic of its own by now")
        case LinearEstimator(summands=terms, step=step, type=kind, minimum=minimum):
            total = estimator.constant + step * sum(factor * row[index] for index, factor in terms)
            if minimum is not None:
                total = max(total, Fraction(minimum))
            return _rounded(total, kind)
        case Mean(total=sum_index, count=count, center=centre, step=step, low=low, high=high):
            mean = step * (centre + Fraction(row[sum_index], max(row[count], 1)))
            return min(max(mean, low), high)
        case Moments():
            return moment(estimator, row)
        case Variance(index=index):
            return spread(estimator, row[index])
        case QuantileValue(index=index, low=low, width=width, high=high, type=kind):
            return _middle(min(low + width * chosen[index], high), kind)
        case ChosenValue(index=index, values=values):
            return values[chosen[index]]
        case CellCount(index=index, minimum=minimum):
            return chosen[index] if minimum is None else max(chosen[index], minimum)
        case OfSample(estimator=drawn):
            return evaluate(drawn, row, chosen)
        case missing:
            assert_never(missing)


def _rounded(total: Fraction, kind: SqlType) -> Value:
    """A sum as a value of `kind`: only estimates of true answers aren't one already."""
    match kind:
        case Integer():
            return round(total)
        case Decimal(scale=scale):
            return Fraction(round(total * 10**scale), 10**scale)
        case _:
            return total


def _middle(value: Fraction, kind: SqlType) -> Value:
    """The middle of a cell, rounded down to a value of `kind`."""
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
