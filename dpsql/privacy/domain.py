"""Domains: the values that a column or an expression may take, as far as public facts tell.

Numbers, dates and timestamps share one interval algebra over exact coordinates (a date is its day
number, a timestamp its microseconds since 1970). No domain is believed: whatever a sensitivity is
derived from is clamped to its domain in the emitted SQL, so a slip here costs accuracy, never
privacy.
"""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from functools import reduce

from msgspec import Struct

from dpsql.structs import replace

Value = bool | int | Fraction | str | dt.date | dt.datetime

_EPOCH_DAY = dt.date(1970, 1, 1)
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - SQL's TIMESTAMP has no zone


class Interval(Struct, frozen=True):
    """All coordinates from `low` to `high`, both included; an end of None is unbounded.

    Raises ValueError where `low` is above `high`.
    """

    low: Fraction | None
    high: Fraction | None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("an interval isn't empty")

    @property
    def ends(self) -> tuple[Fraction, Fraction] | None:
        """Both ends; None if one of them is unbounded."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __add__(self, other: Interval) -> Interval:
        return Interval(_sum(self.low, other.low), _sum(self.high, other.high))

    def __neg__(self) -> Interval:
        return Interval(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        corners = [_product(a, b) for a in self._extended() for b in other._extended()]
        low, high = min(corners), max(corners)
        ends = (low, high)
        return Interval(*(end if isinstance(end, Fraction) else None for end in ends))

    def divide(self, other: Interval, step: Fraction | None = None) -> Interval | None:
        """The interval of quotients by the nonzero numbers in `other`; None if it isn't known.

        All divisors are multiples of `step`, where that is known, so that none is nearer to zero
        than one step.
        """
        above, below = _reciprocals(other, step), _reciprocals(-other, step)
        if above is None or below is None:
            return None
        inverses = [*above, *(-reciprocal for reciprocal in below)]
        return self * reduce(Interval.union, inverses) if inverses else None

    def union(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        return Interval(
            None if self.low is None or other.low is None else min(self.low, other.low),
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def intersection(self, other: Interval) -> Interval | None:
        """The coordinates that are in both intervals; None if there are none."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        if lows and highs and max(lows) > min(highs):
            return None
        return Interval(max(lows) if lows else None, min(highs) if highs else None)

    def __contains__(self, coordinate: Fraction) -> bool:
        return (self.low is None or self.low <= coordinate) and (
            self.high is None or coordinate <= self.high
        )

    def _extended(self) -> tuple[Fraction | float, Fraction | float]:
        return (
            -math.inf if self.low is None else self.low,
            math.inf if self.high is None else self.high,
        )


def _reciprocals(numbers: Interval, step: Fraction | None) -> list[Interval] | None:
    """The reciprocals of the positive numbers in `numbers`, as at most one interval.

    An empty list says that none is positive; None that they come arbitrarily near to zero.
    """
    low, high = numbers.low, numbers.high
    if high is not None and high <= 0:
        return []
    nearest = low if low is not None and low > 0 else step
    if nearest is None:
        return None
    if high is not None and high < nearest:
        return []
    return [Interval(Fraction(0) if high is None else 1 / high, 1 / nearest)]


def _sum(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right


def _product(left: Fraction | float, right: Fraction | float) -> Fraction | float:
    """The product of two ends; zero times an infinite end is zero, the limit of such products."""
    if left == 0 or right == 0:
        return Fraction(0)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    return math.inf if (left > 0) == (right > 0) else -math.inf


class Domain(Struct, frozen=True):
    """The values that a column or an expression may take.

    `bounds` is an interval that contains their coordinates, None if none is known; `values` lists
    all of them, None if the list isn't known. `nullable`: NULL is possible, too. `declared_length`
    is the largest number of characters of a text, where the schema declares no more than that.
    """

    bounds: Interval | None = None
    values: tuple[Value, ...] | None = None
    nullable: bool = True
    declared_length: int | None = None

    @property
    def length(self) -> int | None:
        """The largest number of characters of a text; None if it isn't known."""
        if not self.values:
            return self.declared_length
        texts = [len(value) for value in self.values if isinstance(value, str)]
        return max(texts) if len(texts) == len(self.values) else None

    def union(self, other: Domain) -> Domain:
        """The values of either domain; that of a bare NULL, with no values, adds NULL alone."""
        nullable = self.nullable or other.nullable
        if () in (self.values, other.values):
            return replace(self if other.values == () else other, nullable=nullable)
        bounds = self.bounds.union(other.bounds) if self.bounds and other.bounds else None
        values = (
            tuple(dict.fromkeys(self.values + other.values))
            if self.values is not None and other.values is not None
            else None
        )
        length = None
        if values is None and self.length is not None and other.length is not None:
            length = max(self.length, other.length)
        return Domain(bounds, values, nullable, length)

    def as_nullable(self) -> Domain:
        """The same values, and NULL."""
        return replace(self, nullable=True)

    def as_not_null(self) -> Domain:
        """The same values without NULL."""
        return replace(self, nullable=False)


UNKNOWN = Domain()
"""The domain of a value of which nothing is known."""


def coordinate(value: Value) -> Fraction | None:
    """The number that stands for `value` in intervals; None for text and booleans, which have none.

    Dates count days since 1970, timestamps microseconds.
    """
    match value:
        case bool() | str():
            return None
        case dt.datetime():
            return Fraction((value - _EPOCH) // dt.timedelta(microseconds=1))
        case dt.date():
            return Fraction((value - _EPOCH_DAY).days)
        case int() | Fraction():
            return Fraction(value)


def day(number: int) -> dt.date:
    """The date whose coordinate is `number`."""
    return _EPOCH_DAY + dt.timedelta(days=number)


def timestamp(microseconds: int) -> dt.datetime:
    """The timestamp whose coordinate is `microseconds`."""
    return _EPOCH + dt.timedelta(microseconds=microseconds)


def of_values(values: tuple[Value, ...], *, nullable: bool) -> Domain:
    """The domain of exactly `values`, and NULL if `nullable`."""
    if values and all(type(value) is int for value in values):
        # Some domains list thousands of integers: their ends take no Fraction for each.
        ends = Interval(*map(coordinate, (min(values), max(values))))
        return Domain(ends, values, nullable)
    coordinates = [coordinate(value) for value in values]
    known = [number for number in coordinates if number is not None]
    bounds = Interval(min(known), max(known)) if known and len(known) == len(coordinates) else None
    return Domain(bounds, values, nullable)
