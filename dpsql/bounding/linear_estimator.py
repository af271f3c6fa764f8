"""Linear estimators of counts and sums, and the variance that what people hid adds to them."""

from __future__ import annotations

from fractions import Fraction

from dpsql.plan.aggregate import AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, RowVariance
from dpsql.plan.expression import Expression
from dpsql.schema.sql_type import BIGINT, Double
from dpsql.structs import replace


def linear(estimator: Estimator) -> LinearEstimator:
    """The estimator of a count or of a sum, which is linear in statistics."""
    if not isinstance(estimator, LinearEstimator):
        raise TypeError("counts and sums are linear")
    return estimator


def row_count(call: AggregateCall, only: Expression | None) -> AggregateCall:
    """`count(*) FILTER (WHERE only)`, in the place of `call`."""
    return AggregateCall(
        AggregateFunction.COUNT, (), distinct=False, filter=only, type=BIGINT, at=call.at
    )


def public_count(rows: Estimator) -> Fraction | None:
    """The number of rows, if it is public and not zero; None where it is estimated."""
    if not isinstance(rows, LinearEstimator) or rows.summands or not rows.constant:
        return None
    return rows.constant


def scaled(estimator: LinearEstimator, factor: Fraction) -> LinearEstimator:
    """`factor` times the estimate, of type double."""
    variance = estimator.row_variance
    return replace(
        estimator,
        step=estimator.step * factor,
        constant=estimator.constant * factor,
        type=Double(),
        row_variance=None if variance is None else _scaled_variance(variance, factor**2),
    )


def _scaled_variance(variance: RowVariance, factor: Fraction) -> RowVariance:
    """The scaled variance; of other numbers than counts, any row may be the worst."""
    worst = max(variance.inside, variance.outside) * factor
    return RowVariance(worst, worst, variance.rows)
