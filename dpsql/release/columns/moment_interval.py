"""The 95 % interval of a variance, a covariance, a correlation or a line, by the noise alone.

Noise moves a function of several sums by each sum's noise times the function's derivative there,
and independent parts add up as squares do (the delta method). That holds where the function is
nearly a line within the noise, which variances of few rows aren't: they are kept at 0 or at their
largest, where nothing seems to move them, and a count of few rows may be half of what it is. So

- the function is taken without its ends, which the interval is kept within afterwards;
- each derivative is the largest at the noisy sums and where each of them is off by its half-width;
- where so few rows are left, or no variance to divide by, the value may be any that there is.

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
"""Derivatives are differences over so many half-widths to both sides."""


def interval(estimator: Moments, row: tuple[int, ...], widths: Mapping[int, int]) -> Ends | None:
    """Where the value is without noise, in 95 of 100 cases; None if it may be any number.

    `widths` are the 95 % half-widths of the noise of each of `row`, by its place.
    """
    found, function = _inside(estimator, row, widths), estimator.function
    x, y = estimator.x, estimator.x if estimator.y is None else estimator.y
    if function in _CORRELATIONS:
        low, high = _clipped(found, Fraction(-1), Fraction(1))
        if function is AggregateFunction.CORR:
            return low, high
        squares = low**2, high**2
        return Fraction(0) if low <= 0 <= high else min(squares), max(squares)
    if function not in (*_VARIANCES, *_COVARIANCES):
        if found is None:
            return None
        step = y.step / x.step if function is AggregateFunction.REGR_SLOPE else y.step
        return found[0] * step, found[1] * step
    fewest = max(row[estimator.count] - widths[estimator.count], _MIN_ROWS)
    most = Fraction(x.radius * y.radius)
    if function in _OF_SAMPLES:
        most *= Fraction(fewest, fewest - 1)
    low, high = _clipped(found, Fraction(0) if function in _VARIANCES else -most, most)
    low, high = low * x.step * y.step, high * x.step * y.step
    return (root(low), root(high)) if function in _DEVIATIONS else (low, high)


def _clipped(interval: Ends | None, minimum: Fraction, maximum: Fraction) -> Ends:
    if interval is None:
        return minimum, maximum
    low, high = (min(max(end, minimum), maximum) for end in interval)
    return low, high


def _inside(estimator: Moments, row: tuple[int, ...], widths: Mapping[int, int]) -> Ends | None:
    """The interval of the value without its ends, in steps; None if it may be any."""
    if row[estimator.count] - widths[estimator.count] <= _MIN_ROWS:
        return None
    # Exactly: of many rows, noise is less than what doubles leave of a variance.
    middle = _value(estimator, {place: Fraction(row[place]) for place in estimator.indices})
    try:
        moved = _moved(estimator, {place: float(row[place]) for place in estimator.indices}, widths)
    except OverflowError:
        return None
    if middle is None or moved is None or not math.isfinite(moved):
        return None
    return middle - Fraction(moved), middle + Fraction(moved)


def _moved(
    estimator: Moments, point: Mapping[int, float], widths: Mapping[int, int]
) -> float | None:
    """How far noise moves the value, by the largest derivatives that there may be."""
    most = dict.fromkeys(estimator.indices, 0.0)
    for near in _near(point, widths):
        for place in estimator.indices:
            step = widths[place] * _STEP
            above = _value(estimator, {**near, place: near[place] + step})
            below = _value(estimator, {**near, place: near[place] - step})
            if above is None or below is None:
                return None
            most[place] = max(most[place], abs(above - below) / (2 * _STEP))
    return math.hypot(*most.values())


def _near(point: Mapping[int, float], widths: Mapping[int, int]) -> Iterator[dict[int, float]]:
    """The noisy sums, and where each of them is off by its half-width."""
    yield dict(point)
    for place, value in point.items():
        for off in (widths[place], -widths[place]):
            yield {**point, place: value + off}


def _value(estimator: Moments, sums: Mapping[int, Number]) -> Number | None:
    """The value in steps, beyond all ends, and of deviations the variance; None without variance.

    Of REGR_R2 it is the correlation.
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
    """How far the mean is from the centre, and the variance; 0 where no squares were summed."""
    shift = sums[axis.total] / count
    if axis.square is None:
        return shift, count - count
    return shift, sums[axis.square] / count + axis.radius**2 - shift**2


def _root(value: Number) -> Number:
    return root(value) if isinstance(value, Fraction) else math.sqrt(value)
