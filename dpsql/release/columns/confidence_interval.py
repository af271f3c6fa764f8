"""How far noise may have moved a value: from the law of the noise and released integers alone.

Sums have the same error whatever they are. A mean's lies in Fieller's interval: the values a for
which S - aN, as noisy as S and N together, is no farther from 0 than its 95 % half-width w, with
w² = wS² + a²·wN². Functions of several moments have theirs in `moment_interval`. None of it tells
of clamps and limits, which noise knows nothing of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from dpsql.plan.aggregate import Part
from dpsql.plan.bounded_release.estimator import (
    Formula,
    Linear,
    Mean,
    Moments,
    Named,
    Position,
    Said,
    Variance,
)
from dpsql.release.calibration import Noise
from dpsql.release.columns.estimate import evaluate
from dpsql.release.columns.moment_interval import interval
from dpsql.release.columns.moments import moment, root, spread
from dpsql.release.exact_answers import AsSaid

CONFIDENCE = Fraction(95, 100)
_NORMAL = 1.959964
"""So many standard deviations hold 95 % of a normal law."""


@dataclass(frozen=True, slots=True)
class Combined:
    """Noise of several draws together, as far as errors need it: `width` is its 95 % half-width."""

    variance: float
    width: int


Spread = Noise | AsSaid | Combined

Error = tuple[Fraction | None, Fraction | None, Fraction | None]
"""The standard deviation of a value's noise, and the ends of its 95 % interval."""


def part_of(part: Part, found: Error) -> Fraction | None:
    """What `part` asks for of a value's error; None if no interval is known."""
    spread, low, high = found
    match part:
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


def error(formula: Formula, row: tuple[int, ...], mechanisms: Sequence[Spread]) -> Error:
    """How far noise may have moved a column's value in the group of these noisy integers."""
    match formula:
        case Linear():
            value = evaluate(formula, row, ())
            if not isinstance(value, int | Fraction):
                raise TypeError("a sum is a number")
            spread, width = linear_error(formula, mechanisms)
            if formula.said is not None:
                spread, width = _with_answers(formula.said, Fraction(value), row, (spread, width))
            return spread, value - width, value + width
        case Mean():
            return _mean_error(formula, row, mechanisms)
        case Moments():
            return _moment_error(formula, row, mechanisms)
        case Variance(place=place):
            return _variance_error(formula, row[place], mechanisms[place])
        case Position() | Named():
            raise ValueError("what is chosen has an error in rank only")
        case missing:
            assert_never(missing)


def linear_error(formula: Linear, mechanisms: Sequence[Spread]) -> tuple[Fraction, Fraction]:
    """Standard deviation and 95 % half-width of a sum of noisy statistics, whatever they are."""
    used = [(abs(factor), mechanisms[place]) for place, factor in formula.terms if factor]
    spread = _root(sum(f * f * float(m.variance) for f, m in used)) * formula.step
    if len(used) == 1:
        ((factor, only),) = used
        return spread, factor * half_width(only) * formula.step
    return spread, _root(sum((f * _width(m)) ** 2 for f, m in used)) * formula.step


def mean_rows_error(formula: Mean, mechanisms: Sequence[Spread]) -> float:
    """What the 95 % half-width of a mean is times its rows, at most, where these are many.

    Fieller's interval there, for a mean that lies at the end of its range.
    """
    total, count = _width(mechanisms[formula.total]), _width(mechanisms[formula.count])
    ends = (formula.low / formula.step, formula.high / formula.step)
    radius = max(abs(end - formula.centre) for end in ends)
    return float(formula.step) * math.hypot(total, float(radius) * count)


def _with_answers(
    said: Said, value: Fraction, row: tuple[int, ...], noise: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Noise beside randomised answers, of as many rows as are known of: many coins are normal.

    Of a count, as many rows as are estimated are inside.
    """
    rows = evaluate(said.rows, row, ())
    if not isinstance(rows, int | Fraction):
        raise TypeError("a count is a number")
    count = Fraction(max(rows, 1))
    inside = min(max(value, Fraction(0)), count)
    answers = said.inside * inside + said.outside * (count - inside)
    spread, width = noise
    return root(spread**2 + answers), root(width**2 + Fraction(_NORMAL) ** 2 * answers)


def _mean_error(formula: Mean, row: tuple[int, ...], mechanisms: Sequence[Spread]) -> Error:
    pair = [mechanisms[formula.total], mechanisms[formula.count]]
    total, count = float(row[formula.total]), float(max(row[formula.count], 1))
    of_total, of_count = (float(m.variance) for m in pair)
    ratio = total / count
    spread = Fraction(math.sqrt(of_total + ratio**2 * of_count) / count) * formula.step
    # a²(N² - wN²) - 2aSN + S² - wS² = 0
    total_width, count_width = map(_width, pair)
    square, product, rest = count**2 - count_width**2, total * count, total**2 - total_width**2
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


def _moment_error(formula: Moments, row: tuple[int, ...], mechanisms: Sequence[Spread]) -> Error:
    value = moment(formula, row)
    if value is None:
        return None, None, None
    variance = Fraction(0)
    for place in formula.places:
        deviation = math.ceil(math.sqrt(mechanisms[place].variance))
        ends = [
            moment(formula, (*row[:place], row[place] + move, *row[place + 1 :]))
            for move in (deviation, -deviation)
        ]
        variance += max(abs(value - end) for end in (value, *ends) if end is not None) ** 2
    widths = {place: _width(mechanisms[place]) for place in formula.places}
    found = interval(formula, row, widths)
    if found is None:
        return root(variance), None, None
    return root(variance), min(found[0], value), max(found[1], value)


def combined(own: Sequence[Noise], variances: Sequence[float]) -> tuple[Combined, ...]:
    """Weighted sums of draws of `own`, of these variances.

    A sum's half-width is no more of its standard deviations than that of the draw which has most,
    and no more than its own draw's, which is the noisier one and has most weight in it.
    """
    most = max(_width(noise) / math.sqrt(noise.variance) for noise in own)
    return tuple(
        Combined(variance, min(_width(noise), math.ceil(most * math.sqrt(variance))))
        for noise, variance in zip(own, variances, strict=True)
    )


def half_width(noise: Spread) -> int:
    """The 95 % half-width of one draw, or of a weighted sum of some."""
    return noise.width if isinstance(noise, Combined) else noise.half_width(CONFIDENCE)


def _variance_error(formula: Variance, pairs: int, noise: Spread) -> Error:
    """The value grows with the noisy integer, so that the ends of one are those of the other."""
    deviation, width = math.ceil(math.sqrt(noise.variance)), _width(noise)
    value = spread(formula, pairs)
    moved = [abs(spread(formula, pairs + move) - value) for move in (deviation, -deviation)]
    return max(moved), spread(formula, pairs - width), spread(formula, pairs + width)


@lru_cache(maxsize=1024)
def _width(noise: Spread) -> int:
    """The 95 % half-width of a part of a sum.

    It is 1.96 standard deviations of normal noise, 2.12 of Laplace noise; that of a sum is, nearly,
    the root of its parts' squares. Noise that is mostly 0 has one too: of many parts, one isn't 0.
    """
    return 0 if isinstance(noise, AsSaid) else max(half_width(noise), 1)


def _root(value: float) -> Fraction:
    return Fraction(math.sqrt(value))
