"""Aggregates over all rows of a table whose number is public: it is a constant of their formulas.

count(*), sum(x), avg(x)         with x in [6, 10] in 100 rows

Amount(x, centre=8) in [-2, 2]   count = 100, sum = s0 + 800, avg = s0 / 100 + 8

A row that is replaced moves s0 by 4, where a noisy count would have to make up for one less.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.bounding.statistics.discretization import Range
from dpsql.plan.aggregate import SPREADS, AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.estimator import Formula, Linear, Variance
from dpsql.plan.bounded_release.statistic import MOST_ROWS, Amount, Deviations, Term


def of_all_rows(
    call: AggregateCall,
    rows: int,
    least: int | None,
    range_of: Callable[[bool], Range],
    place: Callable[[Term], int],
) -> Formula | None:
    """The formula of `call`, whose argument is never NULL; None if the number is no help.

    `range_of` gives its argument's range, squared or not, and `place` that of a term.
    """
    if call.distinct:
        return None
    match call.function:
        case AggregateFunction.COUNT:
            return Linear((), Fraction(1), call.type, least, Fraction(rows))
        case AggregateFunction.SUM | AggregateFunction.AVG as function:
            found = range_of(False)
            total = place(Amount(found.around(call.arguments[0], found.middle)))
            parts = rows if function is AggregateFunction.AVG else 1
            middle = found.middle * found.step * Fraction(rows, parts)
            return Linear(((total, 1),), found.step / parts, call.type, constant=middle)
        case function if function in SPREADS and 2 <= rows <= MOST_ROWS:
            found = range_of(True)
            value = found.around(call.arguments[0], found.middle)
            return Variance(function, place(Deviations(value, rows)), rows, value)
        case _:
            return None
