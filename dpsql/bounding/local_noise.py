"""Estimates from numbers that people added Laplace noise to before they were collected.

sum(watts)                 the sum of noisy numbers: noise of expectation 0 is in each of them
sum(watts) / count(*)      the mean
avg(watts)                 the same, where the number of rows is public

Of n numbers the sum has a variance of n times that of one number's noise, beside the variance of
the release's own noise. Any other function, and any condition on such a number, would take noise
for what was measured, and is refused: no more than half of all people are under their median, but
of noisy numbers more than that can be.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.analysis.randomized_response import NoisyNumber, no_estimator_error, no_ratio_error
from dpsql.bounding.linear_estimator import linear, public_count, row_count, scaled
from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, RowVariance
from dpsql.plan.expression import Column
from dpsql.plan.traversal import columns
from dpsql.structs import replace

SUMS_OF_NUMBERS = "sum(x) and sum(x) / count(*) of such numbers are estimated"


def noisy_number_estimator(
    call: AggregateCall,
    column: Column,
    number: NoisyNumber,
    estimate: Callable[[AggregateCall], Estimator],
    per_unit: int,
) -> Estimator:
    """The estimator of `call`, which reads the noisy numbers of `column` and no other hidden value.

    `estimate` is that of a call that takes noisy numbers for true ones; a unit has `per_unit` rows
    in a group at most. Raises Refused for calls that no unbiased estimate is known of.
    """
    if column in columns(call.filter):
        raise no_estimator_error(
            "a condition on numbers with local noise", call.at, SUMS_OF_NUMBERS
        )
    if call.arguments != (column,):
        raise no_estimator_error("a function of numbers with local noise", call.at, SUMS_OF_NUMBERS)
    match call.function:
        case AggregateFunction.COUNT:
            return estimate(row_count(call, call.filter))  # a number is never missing
        case AggregateFunction.SUM:
            return _sum(call, number, estimate, per_unit)
        case AggregateFunction.AVG:
            count = public_count(estimate(row_count(call, call.filter)))
            if count is None:
                what = "avg() of numbers with local noise, of rows whose number isn't public"
                raise no_ratio_error(call, what, "count(*)")
            total = replace(call, function=AggregateFunction.SUM)
            return scaled(_sum(total, number, estimate, per_unit), 1 / count)
        case function:
            raise no_estimator_error(
                f"{function.value}() of numbers with local noise", call.at, SUMS_OF_NUMBERS
            )


def _sum(
    call: AggregateCall,
    number: NoisyNumber,
    estimate: Callable[[AggregateCall], Estimator],
    per_unit: int,
) -> LinearEstimator:
    """The sum of the noisy numbers; one number may be in each of a unit's rows."""
    variance = number.noise.variance * per_unit
    rows = linear(estimate(row_count(call, call.filter)))
    total = linear(estimate(call))
    return replace(total, row_variance=RowVariance(variance, variance, rows))
