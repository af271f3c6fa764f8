"""How far noise may have moved a value: from the law of the noise and released integers alone.

Sums have the same error whatever they are. A mean's lies in Fieller's interval: the values a for
which S - aN, as noisy as S and N together, is no farther from 0 than its 95 % point. Functions of
several moments are moved by each statistic's standard deviation in turn (the delta method, with
differences for derivatives). None of it tells of clamps and limits, which noise knows nothing of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dpsql.plan.aggregate import Part
from dpsql.plan.formula import Formula, FormulaOutput, Linear, Mean, Moments, Named, Position
from dpsql.privacy.mechanisms.laplace import DiscreteLaplace
from dpsql.release.calibrate import Measurement, Noise
from dpsql.release.moment import moment, range_of_moment
from dpsql.release.value import evaluate

CONFIDENCE = Fraction(95, 100)

_NORMAL = 1.959963984540054
_LAPLACE = math.log(20) / math.sqrt(2)
"""95 % points in standard deviations: 1.96 and 2.12, between which those of sums of both lie."""


def part_of(
    output: FormulaOutput, row: tuple[int, ...], measurement: Measurement
) -> Fraction | None:
    """What `output` asks for of a group's noisy integers; None if no interval is known."""
    spread, low, high = error(output.formula, row, measurement.mechanisms)
    match output.part:
        case Part.LOW:
            return low
        case Part.HIGH:
            return high
        case Part.STDDEV:
            return spread
        case Part.VALUE | Part.CLIPPED | Part.OVER:
            raise ValueError("it is no part of a value's error")
        case missing:
            assert_never(missing)


def error(
    formula: Formula, row: tuple[int, ...], mechanisms: Sequence[Noise]
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """The standard deviation of a column's noise, and the ends of its 95 % interval."""
    match formula:
        case Linear():
            value = evaluate(formula, row, ())
            if not isinstance(value, int | Fraction):
                raise TypeError("a sum is a number")
            spread, width = linear_error(formula, mechanisms)
            return spread, value - width, value + width
        case Mean():
            return _mean_error(formula, row, mechanisms)
        case Moments():
            return _moment_error(formula, row, mechanisms)
        case Position() | Named():
            raise ValueError("what is chosen has an error in rank only")
        case missing:
            assert_never(missing)


def linear_error(formula: Linear, mechanisms: Sequence[Noise]) -> tuple[Fraction, Fraction]:
    """Standard deviation and 95 % half-width of a sum of noisy statistics, whatever they are."""
    used = [(abs(factor), mechanisms[place]) for place, factor in formula.terms if factor]
    spread = _root(sum(f * f * float(m.variance) for f, m in used)) * formula.step
    if len(used) == 1:
        ((factor, only),) = used
        return spread, factor * only.half_width(CONFIDENCE) * formula.step
    return spread, Fraction(_point([m for _, m in used])) * spread


def _mean_error(
    formula: Mean, row: tuple[int, ...], mechanisms: Sequence[Noise]
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    pair = [mechanisms[formula.total], mechanisms[formula.count]]
    total, count = float(row[formula.total]), float(max(row[formula.count], 1))
    of_total, of_count = (float(m.variance) for m in pair)
    ratio = total / count
    spread = Fraction(math.sqrt(of_total + ratio**2 * of_count) / count) * formula.step
    # a²(N² - z²σN²) - 2aSN + S² - z²σS² = 0
    z2 = _point(pair) ** 2
    square, product, rest = count**2 - z2 * of_count, total * count, total**2 - z2 * of_total
    inside = product**2 - square * rest
    if square <= 0 or inside < 0:
        return spread, formula.low, formula.high  # too few rows: it may be any mean
    ends = [(product + sign * math.sqrt(inside)) / square for sign in (-1, 1)]
    low, high = (formula.step * (formula.centre + Fraction(end)) for end in ends)
    return (
        spread,
        min(max(low, formula.low), formula.high),
        min(max(high, formula.low), formula.high),
    )


def _moment_error(
    formula: Moments, row: tuple[int, ...], mechanisms: Sequence[Noise]
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    value = moment(formula, row)
    if value is None:
        return None, None, None
    variance = 0.0
    for place in formula.places:
        deviation = math.ceil(math.sqrt(mechanisms[place].variance))
        ends = [
            moment(formula, (*row[:place], row[place] + move, *row[place + 1 :]))
            for move in (deviation, -deviation)
        ]
        above, below = (value if end is None else end for end in ends)
        variance += max(abs(above - value), abs(below - value)) ** 2
    spread = _root(variance)
    width = Fraction(_point([mechanisms[place] for place in formula.places])) * spread
    low, high = range_of_moment(formula, row)
    return (
        spread,
        value - width if low is None else max(value - width, low),
        value + width if high is None else min(value + width, high),
    )


def _point(mechanisms: Sequence[Noise]) -> float:
    laplace = any(isinstance(mechanism, DiscreteLaplace) for mechanism in mechanisms)
    return _LAPLACE if laplace else _NORMAL


def _root(value: float) -> Fraction:
    return Fraction(math.sqrt(value))
