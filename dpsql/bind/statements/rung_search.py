"""Which of many intervals a number lies in, by comparisons alone.

A logarithm would tell in one step, but engines differ in its last bit, and a power of two and the
number above it have the same one: a unit at a rung's end would be counted in one rung here and in
the next one there. A number is compared with constants of its own type, which is exact everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Final

from dpsql.plan.expression import Case, Column, Compare, Comparison, Expression, Literal, When
from dpsql.schema.sql_type import Decimal, Double, Integer

NUMBER: Final = Integer(32)
"""The type of an interval's number."""


_PARTS: Final = 4
"""Into how many parts a CASE divides the intervals: a nest of fewer CASEs is faster on DuckDB."""


def interval_number(
    value: Column, ends: Sequence[Fraction], numbers: Sequence[int | None], *, closed: bool
) -> Expression:
    """The number of the first interval whose end is above `value`, or at it, if they are `closed`.

    `ends` ascend, and of the `numbers`, one more, the last is of all values beyond. So it is of
    NaN, which engines have above all numbers, and of NULL.
    """
    if not ends:
        (number,) = numbers
        return Literal(number, NUMBER)
    comparison = Comparison.LESS_EQUAL if closed else Comparison.LESS
    branches, start = [], 0
    for end in sorted({len(numbers) * part // _PARTS for part in range(1, _PARTS)} - {0}):
        is_below = Compare(comparison, value, end_constant(value, ends[end - 1], closed=closed))
        inside = interval_number(value, ends[start : end - 1], numbers[start:end], closed=closed)
        branches.append(When(is_below, inside))
        start = end
    beyond = interval_number(value, ends[start:], numbers[start:], closed=closed)
    return Case(tuple(branches), beyond, NUMBER)


def end_constant(value: Column, end: Fraction, *, closed: bool = True) -> Literal:
    """`end` in the type of `value`, all of whose numbers lie on the same side of it as of `end`.

    Numbers up to an end that is `closed` are below it. Beyond such an end, or before another one,
    the type may have no numbers: the constant is its last one, or its first.
    """
    match value.type:
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            step = Fraction(1)
        case Decimal(precision=precision, scale=scale):
            low, high, step = 1 - 10**precision, 10**precision - 1, Fraction(1, 10**scale)
        case Double():
            assert Fraction(float(end)) == end, "an end that is no double"
            return Literal(end, value.type)
        case kind:
            raise TypeError(f"{kind} has no intervals")
    steps = min(floor(end / step), high) if closed else max(ceil(end / step), low)
    is_whole = isinstance(value.type, Integer)
    return Literal(steps if is_whole else steps * step, value.type)
