"""Estimates for all units of what was counted and summed of a secret sample of them.

count(*), sum(x), count(DISTINCT unit)     1/q times those of the sample, which are unbiased
avg(x), var_pop(x), median(x), …           as they are of the sample
count(DISTINCT x), sum(DISTINCT x)         refused: how many values a sample lacks depends on all

Each unit is drawn with probability q for itself, so that a sum over units, of x_u each, is off by a
variance of (1-q)/q·Σx_u², beside that of noise. Σx_u² isn't released; it is bounded by what is. A
unit has at most R rows in a group, each of at most M: Σx_u² is at most R·M·|Σx_u| if all values
have one sign, and R·M² times the number of rows otherwise. Counts have M = 1, and one of units
R = 1. Where R is larger than what units have, intervals are too wide, and never too narrow. A sum
with a cap c is what c / M rows have: Σx_u² is at most c·|Σx_u|, or c·M times the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpsql.bounding.linear_estimator import linear, row_count
from dpsql.errors import InternalError, Refused
from dpsql.plan.aggregate import AggregateCall
from dpsql.plan.bounded_release.estimator import (
    ChosenValue,
    Estimator,
    LinearEstimator,
    Mean,
    Moments,
    OfSample,
    QuantileValue,
    RowVariance,
)
from dpsql.plan.bounded_release.statistic import (
    CappedSum,
    DistinctSum,
    DistinctValues,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.expression import Expression
from dpsql.privacy.subsampling import PoissonSampling
from dpsql.schema.sql_type import Double
from dpsql.structs import replace


def of_all_units(
    call: AggregateCall,
    estimator: Estimator,
    sampling: PoissonSampling | None,
    units: frozenset[Expression],
    statistics: Sequence[Statistic],
    estimate: Callable[[AggregateCall], Estimator],
    per_unit: int,
) -> Estimator:
    """The estimator for all units, `estimator` being that of `call` over the drawn ones.

    All are drawn if `sampling` is None. `estimate` is that of a call over the drawn ones;
    `statistics` is read after it. A unit has at most `per_unit` rows in a group. Raises Refused for
    distinct values, unless each is one unit's: `units` are such columns.
    """
    if sampling is None:
        return estimator
    if call.distinct and call.arguments[0] not in units:
        raise Refused(
            f"{call.function.value}(DISTINCT …) of a sample: no unbiased estimate is known",
            at=call.at,
            hint="count units or rows of private tables: what no drawn unit has, nobody knows",
            note="sampling",
        )
    match estimator:
        case LinearEstimator():
            rows = Fraction(per_unit)
            scaled = _scaled(call, estimator, sampling, statistics, estimate, rows)
            return of_sample(scaled, sampling, per_unit)
        case Mean() | Moments() | QuantileValue() | ChosenValue():
            return of_sample(estimator, sampling, per_unit)
        case _:
            # A variance by a public number of rows, which no sample has, or an estimate already.
            raise InternalError("an estimator that no sample has")


def of_sample(
    estimator: LinearEstimator | Mean | Moments | QuantileValue | ChosenValue,
    sampling: PoissonSampling,
    per_unit: int,
) -> OfSample:
    """What holds of all units by `estimator`: it is scaled, a ratio of sums, or a place."""
    return OfSample(estimator, 1 - sampling.drawn, per_unit)


def _scaled(
    call: AggregateCall,
    estimator: LinearEstimator,
    sampling: PoissonSampling,
    statistics: Sequence[Statistic],
    estimate: Callable[[AggregateCall], Estimator],
    per_unit: Fraction,
) -> LinearEstimator:
    if estimator.constant or estimator.cross_group is not None or estimator.row_variance:
        raise InternalError("the number of rows is public, or values are hidden, of a sample")
    whole = 1 / sampling.drawn
    scaled = replace(estimator, step=estimator.step * whole)
    first, _ = estimator.summands[0]
    match statistics[first].term:
        case Sum(value=value) | CappedSum(value=value) | DistinctSum(value=value) as term:
            largest = max(abs(value.low), abs(value.high)) * value.step
            if not largest:
                return scaled  # every value is 0
            if isinstance(term, CappedSum):
                per_unit = Fraction(term.cap, max(abs(value.low), abs(value.high)))
            if value.low >= 0 or value.high <= 0:
                sign = 1 if value.low >= 0 else -1
                rows = _plain(scaled, scaled.step * sign / largest)
            else:
                counted = linear(estimate(row_count(call, call.filter)))
                rows = _plain(counted, counted.step * whole)
        case UnitCount() | UnitsOverLimit() | DistinctValues():
            largest, per_unit, rows = Fraction(1), Fraction(1), _plain(scaled, scaled.step)
        case _:
            largest, rows = Fraction(1), _plain(scaled, scaled.step)
    of_one = (whole - 1) * per_unit * largest**2
    return replace(scaled, row_variance=RowVariance(of_one, of_one, rows))


def _plain(estimator: LinearEstimator, step: Fraction) -> LinearEstimator:
    return LinearEstimator(estimator.summands, step, Double())
