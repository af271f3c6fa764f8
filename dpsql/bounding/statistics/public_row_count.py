"""Aggregates over all rows of a table, of whose number something is public.

count(*), sum(x), avg(x)         with x in [6, 10] in 100 rows

Sum(x, center=8) in [-2, 2]      count = 100, sum = s0 + 800, avg = s0 / 100 + 8

A row that is replaced moves s0 by 4; no noisy count has to make up for a row less. So it is where a
table is resized to 100 rows: those that are missing stand for rows of 8.

avg(x)                           with x in [6, 10] in 100 rows at least

BoundedMean(x, center=8)         avg = s0 / 101 + 8

A row that is left out moves s0 by 4: the mean of 101 rows by 4/101.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.bounding.statistics.discretization import Grid
from dpsql.plan.aggregate import SPREADS, AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, Variance
from dpsql.plan.bounded_release.statistic import (
    MAX_ROWS,
    BoundedMean,
    Discretized,
    PairwiseDeviations,
    Sum,
    Term,
)


def large_mean_estimator(
    call: AggregateCall, rows: int, grid: Grid, index_of: Callable[[Term], int]
) -> LinearEstimator:
    """The estimator of `call`, avg() over all rows, of which there are `rows` at least.

    The argument, of this `grid`, is never NULL. `index_of` is that of all_rows_estimator.
    """
    mean = BoundedMean(grid.centered(call.arguments[0], grid.middle), rows)
    step, middle = grid.step / (rows + 1), grid.middle * grid.step
    return LinearEstimator(((index_of(mean), 1),), step, call.type, constant=middle)


def all_rows_estimator(
    call: AggregateCall,
    rows: int,
    minimum: int | None,
    grid_of: Callable[[], Grid],
    squared: Callable[[], Discretized],
    index_of: Callable[[Term], int],
) -> Estimator | None:
    """The estimator of `call` over `rows` rows; None if their number doesn't help.

    The argument is never NULL. `grid_of` returns its grid, `squared` its values where they are
    squared, and `index_of` the index of a term's statistic.
    """
    if call.distinct:
        return None
    match call.function:
        case AggregateFunction.COUNT:
            return LinearEstimator((), Fraction(1), call.type, minimum, Fraction(rows))
        case AggregateFunction.SUM | AggregateFunction.AVG as function:
            grid = grid_of()
            total = index_of(Sum(grid.centered(call.arguments[0], grid.middle)))
            parts = rows if function is AggregateFunction.AVG else 1
            middle = grid.middle * grid.step * Fraction(rows, parts)
            return LinearEstimator(((total, 1),), grid.step / parts, call.type, constant=middle)
        case function if function in SPREADS and 2 <= rows <= MAX_ROWS:
            value = squared()
            return Variance(function, index_of(PairwiseDeviations(value, rows)), rows, value)
        case _:
            return None
