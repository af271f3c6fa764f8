"""The 95 % interval of a variance, a covariance, a correlation or a line, by the noise alone.

Noise moves a function of several sums by each sum's noise times the function's derivative there,
and independent parts add up as squares do (the delta method). That holds where the function is
nearly linear within the noise, which variances of few rows aren't: they are clamped to 0 or to
their maximum, where their derivative is 0, and a count of few rows may be half of the true one. So

- the function is taken without its clamps, to which the interval is clamped afterwards;
- each derivative is the largest at the noisy sums and where each of them is off by its half-width;
- where so few rows are left, or no variance to divide by, the interval is that of all values.

Of many rows the interval is the delta method's; of few it is wider, up to all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeVar

from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.estimator import MomentIndices, Moments
from dpsql.release.columns.moments import root

Ends = tuple[Fraction, Fraction]
"""The lower and upper end of an interval."""

Number = TypeVar("Number", float, Fraction)

_DEVIATIONS = (AggregateFunction.STDDEV_POP, AggregateFunction.STDDEV_SAMP)
_VARIANCES = (AggregateFunction.VAR_POP, AggregateFunction.VAR_SAMP, *_DEVIATIONS)
_COVARIANCES = (AggregateFunction.COVAR_POP, AggregateFunction.COVAR_SAMP)
_OF_SAMPLES = (
    AggregateFunction.VAR_SAMP,
    AggregateFunction.STDDEV_SAMP,
    AggregateFunction.COVAR_SAMP,
)
_CORRELATIONS = (AggregateFunction.CORR, AggregateFunction.REGR_R2)

_MIN_ROWS = 2
_STEP = 1 / 16
"""Derivatives are differences over this part of a half-width to both sides."""


def interval(estimator: Moments, row: tuple[int, ...], widths: Mapping[int, int]) -> Ends | None:
    """The interval that holds the value without noise in 95 of 100 cases; None if it is unbounded.

    `row` are a group's noisy statistics; `widths` are the 95 % half-widths of their noise, by
    index.
    """
    inside, function = _inside(estimator, row, widths), estimator.function
    x, y = estimator.x, estimator.x if estimator.y is None else estimator.y
    if function in _CORRELATIONS:
        low, high = _clipped(inside, Fraction(-1), Fraction(1))
        if function is AggregateFunction.CORR:
            return low, high
        squares = low**2, high**2
        return Fraction(0) if low <= 0 <= high else min(squares), max(squares)
    if function not in (*_VARIANCES, *_COVARIANCES):
        if inside is None:
            return None
        step = y.step / x.step if function is AggregateFunction.REGR_SLOPE else y.step
        return inside[0] * step, inside[1] * step
    fewest = max(row[estimator.count] - widths[estimator.count], _MIN_ROWS)
    max_covariance = Fraction(x.radius * y.radius)
    if function in _OF_SAMPLES:
        max_covariance *= Fraction(fewest, fewest - 1)
    low, high = _clipped(
        inside, Fraction(0) if function in _VARIANCES else -max_covariance, max_covariance
    )
    low, high = low * x.step * y.step, high * x.step * y.step
    return (root(low), root(high)) if function in _DEVIATIONS else (low, high)


def _clipped(interval: Ends | None, minimum: Fraction, maximum: Fraction) -> Ends:
    """The interval clamped to [minimum, maximum], which is all of it if `interval` is None."""
    if interval is None:
        return minimum, maximum
    low, high = (min(max(end, minimum), maximum) for end in interval)
    return low, high


def _inside(estimator: Moments, row: tuple[int, ...], widths: Mapping[int, int]) -> Ends | None:
    """The interval of the unclamped value, in steps; None if it is unbounded."""
    if row[estimator.count] - widths[estimator.count] <= _MIN_ROWS:
        return None
    # Exactly: of many rows, noise is less than what doubles leave of a variance.
    middle = _value(estimator, {index: Fraction(row[index]) for index in estimator.indices})
    try:
        moved = _moved(estimator, {index: float(row[index]) for index in estimator.indices}, widths)
    except OverflowError:
        return None
    if middle is None or moved is None or not math.isfinite(moved):
        return None
    return middle - Fraction(moved), middle + Fraction(moved)


def _moved(
    estimator: Moments, point: Mapping[int, float], widths: Mapping[int, int]
) -> float | None:
    """The 95 % half-width of the value, by the largest derivatives; None if it is undefined."""
    max_moves = dict.fromkeys(estimator.indices, 0.0)
    for near in _near(point, widths):
        for index in estimator.indices:
            step = widths[index] * _STEP
            above = _value(estimator, {**near, index: near[index] + step})
            below = _value(estimator, {**near, index: near[index] - step})
            if above is None or below is None:
                return None
            max_moves[index] = max(max_moves[index], abs(above - below) / (2 * _STEP))
    return math.hypot(*max_moves.values())


def _near(point: Mapping[int, float], widths: Mapping[int, int]) -> Iterator[dict[int, float]]:
    """The noisy sums, and the same sums with one of them off by its half-width."""
    yield dict(point)
    for index, value in point.items():
        for off in (widths[index], -widths[index]):
            yield {**point, index: value + off}


def _value(estimator: Moments, sums: Mapping[int, Number]) -> Number | None:
    """The unclamped value in steps, or the variance of a standard deviation; None if undefined.

    For REGR_R2 it is the correlation.
    """
    count, function = sums[estimator.count], estimator.function
    if count <= 1:
        return None
    sample = count / (count - 1) if function in _OF_SAMPLES else count / count
    x_shift, x_variance = _axis(estimator.x, count, sums)
    if function in _VARIANCES:
        return x_variance * sample
    if estimator.y is None or estimator.product is None:
        raise ValueError(f"{function.value} takes two columns")
    y_shift, y_variance = _axis(estimator.y, count, sums)
    covariance = sums[estimator.product] / count - x_shift * y_shift
    if function in _COVARIANCES:
        return covariance * sample
    if x_variance <= 0:
        return None
    if function is AggregateFunction.REGR_SLOPE:
        return covariance / x_variance
    if function is AggregateFunction.REGR_INTERCEPT:
        x_mean, y_mean = estimator.x.center + x_shift, estimator.y.center + y_shift
        return y_mean - covariance / x_variance * x_mean
    if y_variance <= 0:
        return None
    return covariance / _root(x_variance * y_variance)


def _axis(axis: MomentIndices, count: Number, sums: Mapping[int, Number]) -> tuple[Number, Number]:
    """The mean's distance from the centre, and the variance; 0 where no squares are summed."""
    shift = sums[axis.total] / count
    if axis.square is None:
        return shift, count - count
    return shift, sums[axis.square] / count + axis.radius**2 - shift**2


def _root(value: Number) -> Number:
    return root(value) if isinstance(value, Fraction) else math.sqrt(value)
