"""Aggregates over all rows of a table whose number is public: it is a constant of their estimators.

count(*), sum(x), avg(x)         with x in [6, 10] in 100 rows

Sum(x, center=8) in [-2, 2]      count = 100, sum = s0 + 800, avg = s0 / 100 + 8

A row that is replaced moves s0 by 4; no noisy count has to make up for a row less.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.bounding.statistics.discretization import Grid
from dpsql.plan.aggregate import SPREADS, AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, Variance
from dpsql.plan.bounded_release.statistic import MAX_ROWS, PairwiseDeviations, Sum, Term


def all_rows_estimator(
    call: AggregateCall,
    rows: int,
    minimum: int | None,
    grid_of: Callable[[bool], Grid],
    index_of: Callable[[Term], int],
) -> Estimator | None:
    """The estimator of `call` over `rows` rows; None if their number doesn't help.

    The argument is never NULL. `grid_of` returns its grid, for squares or not, and `index_of` the
    index of a term's statistic.
    """
    if call.distinct:
        return None
    match call.function:
        case AggregateFunction.COUNT:
            return LinearEstimator((), Fraction(1), call.type, minimum, Fraction(rows))
        case AggregateFunction.SUM | AggregateFunction.AVG as function:
            grid = grid_of(False)
            total = index_of(Sum(grid.centered(call.arguments[0], grid.middle)))
            parts = rows if function is AggregateFunction.AVG else 1
            middle = grid.middle * grid.step * Fraction(rows, parts)
            return LinearEstimator(((total, 1),), grid.step / parts, call.type, constant=middle)
        case function if function in SPREADS and 2 <= rows <= MAX_ROWS:
            grid = grid_of(True)
            value = grid.centered(call.arguments[0], grid.middle)
            return Variance(function, index_of(PairwiseDeviations(value, rows)), rows, value)
        case _:
            return None
