"""Variances, correlations and slopes from noisy moments: postprocessing, exact up to the root.

A variance of values within r of a centre is at most r², whatever the noise; a group whose noisy
count is below two has the variance of two rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

from msgspec import Struct

from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.estimator import MomentIndices, Moments, Variance

_ZERO = Fraction(0)
_ONE = Fraction(1)


def moment(estimator: Moments, row: tuple[int, ...]) -> Fraction | None:
    """The value of `estimator` on noisy statistics; None where it would divide by no variance."""
    count = row[estimator.count]
    x = _axis(estimator.x, count, row)
    match estimator.function:
        case AggregateFunction.VAR_POP:
            return x.variance
        case AggregateFunction.VAR_SAMP:
            return x.variance * _of_sample(count)
        case AggregateFunction.STDDEV_POP:
            return root(x.variance)
        case AggregateFunction.STDDEV_SAMP:
            return root(x.variance * _of_sample(count))
        case _:
            return _paired(estimator, count, x, row)


def spread(estimator: Variance, pairs: int) -> Fraction:
    """A variance or its root; `pairs` is the noisy sum of squared differences of all pairs.

    The variance is largest if half of the values lie at either end: a quarter of the square of
    their width.
    """
    quarter = Fraction((estimator.value.high - estimator.value.low) ** 2, 4)
    variance = _clipped(Fraction(pairs), _ZERO, quarter * estimator.rows**2) * estimator.scale
    return root(variance) if estimator.is_root else variance


def root(value: Fraction) -> Fraction:
    """The square root to the precision of a DOUBLE; `value` may lie beyond all of them."""
    halvings = max(0, value.numerator.bit_length() - value.denominator.bit_length() - 1000) // 2
    return Fraction(math.sqrt(value / (1 << 2 * halvings))) * (1 << halvings)


class _Moment(Struct, frozen=True):
    mean: Fraction
    variance: Fraction


def _paired(estimator: Moments, count: int, x: _Moment, row: tuple[int, ...]) -> Fraction | None:
    if estimator.y is None or estimator.product is None:
        raise ValueError(f"{estimator.function.value} takes two columns")
    y = _axis(estimator.y, count, row)
    steps = estimator.x.step * estimator.y.step
    crossed = Fraction(row[estimator.product], max(count, 1)) * steps
    ours, theirs = x.mean - _center(estimator.x), y.mean - _center(estimator.y)
    # No covariance is larger than both ranges allow.
    max_covariance = estimator.x.radius * estimator.y.radius * steps
    covariance = _clipped(crossed - ours * theirs, -max_covariance, max_covariance)
    match estimator.function:
        case AggregateFunction.COVAR_POP:
            return covariance
        case AggregateFunction.COVAR_SAMP:
            return covariance * _of_sample(count)
        case AggregateFunction.REGR_SLOPE:
            return covariance / x.variance if x.variance else None
        case AggregateFunction.REGR_INTERCEPT:
            return y.mean - covariance / x.variance * x.mean if x.variance else None
        case AggregateFunction.CORR | AggregateFunction.REGR_R2:
            both = root(x.variance) * root(y.variance)
            if not both:
                return None
            correlation = _clipped(covariance / both, Fraction(-1), Fraction(1))
            return correlation if estimator.function is AggregateFunction.CORR else correlation**2
        case other:
            raise ValueError(f"{other.value} is no function of two columns' moments")


def _axis(axis: MomentIndices, count: int, row: tuple[int, ...]) -> _Moment:
    """Mean and variance of a column; the variance is 0 where no squares are summed."""
    rows = max(count, 1)
    shift = _clipped(Fraction(row[axis.total], rows), -Fraction(axis.radius), Fraction(axis.radius))
    mean = (axis.center + shift) * axis.step
    if axis.square is None:
        return _Moment(mean, _ZERO)
    max_variance = Fraction(axis.radius**2)
    spread = Fraction(row[axis.square], rows) + max_variance - shift**2
    return _Moment(mean, _clipped(spread, _ZERO, max_variance) * axis.step**2)


def _center(axis: MomentIndices) -> Fraction:
    return axis.center * axis.step


def _of_sample(count: int) -> Fraction:
    """Bessel's correction n / (n - 1), for n of at least 2."""
    rows = max(count, 2)
    return Fraction(rows, rows - 1)


def _clipped(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    return min(max(value, low), high)
