"""How far noise may have moved a value, by the noise distribution and released integers alone.

Sums have the same error whatever their value. A mean's 95 % interval is Fieller's: the values a for
which S - aN, as noisy as S and N together, is no farther from 0 than its 95 % half-width w, with
w² = wS² + a²·wN². The intervals of functions of several moments are in `moment_interval`. No
interval accounts for clamps and limits, of which noise knows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from msgspec import Struct

from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    DividedSum,
    Estimator,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    OfSample,
    QuantileValue,
    RowVariance,
    Variance,
)
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise
from dpsql.release.columns.estimate import evaluate
from dpsql.release.columns.moment_interval import interval
from dpsql.release.columns.moments import moment, root, spread
from dpsql.release.exact_answers import NoNoise

CONFIDENCE = Fraction(95, 100)
OF_PARTS = 2.12
"""Within so many standard deviations a sum lies with 95 %, of integers that are drawn together."""

_NORMAL = 1.959964
"""Within so many standard deviations of its mean a normal value lies with probability 95 %."""


class Combined(Struct, frozen=True):
    """A weighted sum of noises: its variance, and its 95 % half-width, `width`."""

    variance: float
    width: int


NoiseSpread = Noise | NoNoise | Combined
"""The noise of a statistic, as far as errors need it."""

Error = tuple[Fraction | None, Fraction | None, Fraction | None]
"""The standard deviation of a value's noise and the ends of its 95 % interval; None if unknown."""


def select_part(output_kind: OutputKind, interval: Error) -> Fraction | None:
    """The part of a value's error that `output_kind` names; None if no interval is known.

    Raises ValueError if it names the value itself.
    """
    spread, low, high = interval
    match output_kind:
        case OutputKind.LOW:
            return low
        case OutputKind.HIGH:
            return high
        case OutputKind.STDDEV:
            return spread
        case OutputKind.VALUE | OutputKind.CLIPPED | OutputKind.OVER:
            raise ValueError("it is no part of a value's error")
        case missing:
            assert_never(missing)


def error_interval(
    estimator: Estimator, row: tuple[int, ...], mechanisms: Sequence[NoiseSpread]
) -> Error:
    """The error of a column's value in the group of these noisy integers.

    `row` and `mechanisms` have an entry for each statistic. Raises ValueError for chosen values,
    whose error is one of ranks, and for sums that are divided by factors of keys.
    """
    match estimator:
        case LinearEstimator():
            value = evaluate(estimator, row, ())
            if not isinstance(value, int | Fraction):
                raise TypeError("a sum is a number")
            spread, width = linear_error(estimator, mechanisms)
            if estimator.row_variance is not None:
                spread, width = _with_row_variance(
                    estimator.row_variance, Fraction(value), row, (spread, width)
                )
            return spread, value - width, value + width
        case DividedSum():
            raise ValueError("a sum is divided by the factor of its group's key")
        case Mean():
            return _mean_error(estimator, row, mechanisms)
        case Moments():
            return _moment_error(estimator, row, mechanisms)
        case Variance(index=index):
            return _variance_error(estimator, row[index], mechanisms[index])
        case QuantileValue() | ChosenValue():
            raise ValueError("what is chosen has an error in rank only")
        case CellCount():
            raise ValueError("a chosen key's count has the noise of its mechanism")
        case ExpertChoice():
            raise ValueError("an expert has a regret, and no error")
        case NamedCondition():
            raise ValueError("what is named has an error of its threshold only")
        case OfSample():
            return _sample_error(estimator, row, mechanisms)
        case missing:
            assert_never(missing)


def linear_error(
    estimator: LinearEstimator, mechanisms: Sequence[NoiseSpread]
) -> tuple[Fraction, Fraction]:
    """Standard deviation and 95 % half-width of a sum of noisy statistics, at any values."""
    used = [(abs(factor), mechanisms[index]) for index, factor in estimator.summands if factor]
    spread = _root(sum(f * f * float(m.variance) for f, m in used)) * estimator.step
    if len(used) == 1:
        ((factor, only),) = used
        return spread, factor * half_width(only) * estimator.step
    return spread, _root(sum((f * _width(m)) ** 2 for f, m in used)) * estimator.step


def mean_rows_error(estimator: Mean, mechanisms: Sequence[NoiseSpread]) -> float:
    """A bound on the 95 % half-width of a mean times its number of rows, where rows are many.

    It is that of Fieller's interval, for a mean that lies at the end of its range.
    """
    total, count = _width(mechanisms[estimator.total]), _width(mechanisms[estimator.count])
    ends = (estimator.low / estimator.step, estimator.high / estimator.step)
    radius = max(abs(end - estimator.center) for end in ends)
    return float(estimator.step) * math.hypot(total, float(radius) * count)


def _with_row_variance(
    response: RowVariance,
    value: Fraction,
    row: tuple[int, ...],
    noise: tuple[Fraction, Fraction],
) -> tuple[Fraction, Fraction]:
    """The standard deviation and half-width of `noise` together with those of randomised answers.

    The sum of many independent answers is taken as normal. There are as many rows as
    `response.rows` estimates, and of a count, as many of them as `value` says are inside.
    """
    rows = evaluate(response.rows, row, ())
    if not isinstance(rows, int | Fraction):
        raise TypeError("a count is a number")
    count = Fraction(max(rows, 1))
    inside = min(max(value, Fraction(0)), count)
    answers = response.inside * inside + response.outside * (count - inside)
    spread, width = noise
    return root(spread**2 + answers), root(width**2 + Fraction(_NORMAL) ** 2 * answers)


def _mean_error(estimator: Mean, row: tuple[int, ...], mechanisms: Sequence[NoiseSpread]) -> Error:
    pair = [mechanisms[estimator.total], mechanisms[estimator.count]]
    total, count = float(row[estimator.total]), float(max(row[estimator.count], 1))
    of_total, of_count = (float(m.variance) for m in pair)
    ratio = total / count
    spread = Fraction(math.sqrt(of_total + ratio**2 * of_count) / count) * estimator.step
    # a²(N² - wN²) - 2aSN + S² - wS² = 0
    total_width, count_width = map(_width, pair)
    square, product, rest = count**2 - count_width**2, total * count, total**2 - total_width**2
    inside = product**2 - square * rest
    if square <= 0 or inside < 0:
        return spread, estimator.low, estimator.high  # too few rows: it may be any mean
    ends = [(product + sign * math.sqrt(inside)) / square for sign in (-1, 1)]
    low, high = (estimator.step * (estimator.center + Fraction(end)) for end in ends)
    return (
        spread,
        min(max(low, estimator.low), estimator.high),
        min(max(high, estimator.low), estimator.high),
    )


def _sample_error(
    estimator: OfSample, row: tuple[int, ...], mechanisms: Sequence[NoiseSpread]
) -> Error:
    """The error of a sample's sum or mean as that of all units; of other ratios none is known.

    Beside that of noise, a mean's has the part `missing` of R·(high - m)·(m - low)/N for N rows of
    mean m, R of them a unit's at most: (Σy)² is at most R·Σy² over a unit's rows, and values within
    bounds have a variance of at most (high - m)·(m - low) (Bhatia & Davis 2000). m is where in the
    interval of noise that is largest.
    """
    match estimator.estimator:
        case LinearEstimator() as scaled:
            return error_interval(scaled, row, mechanisms)
        case Mean() as mean:
            spread, low, high = _mean_error(mean, row, mechanisms)
            if spread is None or low is None or high is None:
                return None, None, None
            middle = min(max((mean.low + mean.high) / 2, low), high)
            rows = Fraction(max(row[mean.count], 1))
            largest = (mean.high - middle) * (middle - mean.low)
            drawn = estimator.missing * estimator.unit_rows * largest / rows
            value = evaluate(mean, row, ())
            if not isinstance(value, Fraction | int):
                raise TypeError("a mean is a number")
            low, high = (
                value + sign * root((value - end) ** 2 + Fraction(_NORMAL) ** 2 * drawn)
                for sign, end in ((-1, low), (1, high))
            )
            return root(spread**2 + drawn), max(low, mean.low), min(high, mean.high)
        case Moments():
            return None, None, None
        case QuantileValue() | ChosenValue():
            raise ValueError("what is chosen has an error in rank only")
        case missing:
            assert_never(missing)


def _moment_error(
    estimator: Moments, row: tuple[int, ...], mechanisms: Sequence[NoiseSpread]
) -> Error:
    value = moment(estimator, row)
    if value is None:
        return None, None, None
    variance = Fraction(0)
    for index in estimator.indices:
        deviation = math.ceil(math.sqrt(mechanisms[index].variance))
        ends = [
            moment(estimator, (*row[:index], row[index] + move, *row[index + 1 :]))
            for move in (deviation, -deviation)
        ]
        variance += max(abs(value - end) for end in (value, *ends) if end is not None) ** 2
    widths = {index: _width(mechanisms[index]) for index in estimator.indices}
    ends_of_value = interval(estimator, row, widths)
    if ends_of_value is None:
        return root(variance), None, None
    return root(variance), min(ends_of_value[0], value), max(ends_of_value[1], value)


def combined(own: Sequence[Noise], variances: Sequence[float]) -> tuple[Combined, ...]:
    """Weighted sums of draws of `own` noise, of these variances.

    A sum's half-width is at most as many of the sum's standard deviations as that of any of its
    draws, as a part of a sum, is of the draw's; and at most the half-width of its own draw, which
    is noisier than the sum and has most weight in it.
    """
    max_ratio = max(_width(noise) / math.sqrt(noise.variance) for noise in own)
    return tuple(
        Combined(variance, min(_width(noise), math.ceil(max_ratio * math.sqrt(variance))))
        for noise, variance in zip(own, variances, strict=True)
    )


@lru_cache(maxsize=1024)
def half_width(noise: NoiseSpread) -> int:
    """The 95 % half-width of one draw, or of a weighted sum of draws."""
    return noise.width if isinstance(noise, Combined) else noise.half_width(CONFIDENCE)


def _variance_error(estimator: Variance, pairs: int, noise: NoiseSpread) -> Error:
    """The error of a variance, which grows with the noisy integer: ends correspond to ends."""
    deviation, width = math.ceil(math.sqrt(noise.variance)), _width(noise)
    value = spread(estimator, pairs)
    moved = [abs(spread(estimator, pairs + move) - value) for move in (deviation, -deviation)]
    return max(moved), spread(estimator, pairs - width), spread(estimator, pairs + width)


@lru_cache(maxsize=1024)
def _width(noise: NoiseSpread) -> int:
    """The 95 % half-width of one part of a sum.

    It is 1.96 standard deviations of normal noise, 2.12 of Laplace noise; that of a sum is, nearly,
    the root of its parts' squares. Noise that is mostly 0 has one too: of many parts, one isn't 0.
    Parts that are drawn together have from 1.65 to 2.06, and their sums up to 2.12: half the sum of
    two such parts and half their difference are Laplace noise, each by itself.
    """
    match noise:
        case NoNoise():
            return 0
        case KNormNoise() | OneDirectionNoise():
            return max(half_width(noise), math.ceil(OF_PARTS * math.sqrt(noise.variance)), 1)
        case _:
            return max(half_width(noise), 1)


def _root(value: float) -> Fraction:
    return Fraction(math.sqrt(value))
