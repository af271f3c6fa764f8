"""Domains: the values that a column or an expression may take, as far as public facts tell.

Numbers, dates and timestamps share one interval algebra over exact coordinates (a date is its day
number, a timestamp its microseconds since 1970). A domain is never believed: what a sensitivity is
derived from is clamped to it in the emitted SQL, so a slip here costs accuracy, never privacy.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

Value = bool | int | Fraction | str | dt.date | dt.datetime

_EPOCH_DAY = dt.date(1970, 1, 1)
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - SQL's TIMESTAMP has no zone


@dataclass(frozen=True, slots=True)
class Interval:
    """All coordinates from `low` to `high`, both included; None means there is no end."""

    low: Fraction | None
    high: Fraction | None

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError("an interval isn't empty")

    @property
    def ends(self) -> tuple[Fraction, Fraction] | None:
        """Both ends, None unless there are two."""
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
        """Quotients by numbers that aren't zero, None when nothing is known of them.

        Divisors are multiples of `step`, if that is known, so that none is nearer to zero.
        """
        above, below = _reciprocals(other, step), _reciprocals(-other, step)
        if above is None or below is None:
            return None
        inverses = [*above, *(-found for found in below)]
        return self * reduce(Interval.union, inverses) if inverses else None

    def union(self, other: Interval) -> Interval:
        """The smallest interval that holds both."""
        return Interval(
            None if self.low is None or other.low is None else min(self.low, other.low),
            None if self.high is None or other.high is None else max(self.high, other.high),
        )

    def intersection(self, other: Interval) -> Interval | None:
        """What both hold, None if that is nothing."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        if lows and highs and max(lows) > min(highs):
            return None
        return Interval(max(lows) if lows else None, min(highs) if highs else None)

    def __contains__(self, place: Fraction) -> bool:
        return (self.low is None or self.low <= place) and (self.high is None or place <= self.high)

    def _extended(self) -> tuple[Fraction | float, Fraction | float]:
        return (
            -math.inf if self.low is None else self.low,
            math.inf if self.high is None else self.high,
        )


def _reciprocals(numbers: Interval, step: Fraction | None) -> list[Interval] | None:
    """Of the numbers above zero, none if there are none; None where they reach down to it."""
    low, high = numbers.low, numbers.high
    if high is not None and high <= 0:
        return []
    least = low if low is not None and low > 0 else step
    if least is None:
        return None
    if high is not None and high < least:
        return []
    return [Interval(Fraction(0) if high is None else 1 / high, 1 / least)]


def _sum(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right


def _product(left: Fraction | float, right: Fraction | float) -> Fraction | float:
    """Zero times an end that isn't there is zero: the limit of zeros."""
    if left == 0 or right == 0:
        return Fraction(0)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    return math.inf if (left > 0) == (right > 0) else -math.inf


@dataclass(frozen=True, slots=True)
class Domain:
    """`bounds` None: nothing is known of the order; `values`: the finite set, if it is known.

    `declared_length` is how many characters a text has at most, where that is all that is known.
    """

    bounds: Interval | None = None
    values: tuple[Value, ...] | None = None
    nullable: bool = True
    declared_length: int | None = None

    @property
    def length(self) -> int | None:
        """How many characters a text has at most, None if that isn't known."""
        if not self.values:
            return self.declared_length
        texts = [len(value) for value in self.values if isinstance(value, str)]
        return max(texts) if len(texts) == len(self.values) else None

    def union(self, other: Domain) -> Domain:
        """What either may be; that of a bare NULL, which has no values, adds nothing but NULL."""
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
        """The same values, or NULL."""
        return replace(self, nullable=True)

    def as_not_null(self) -> Domain:
        """The same values without NULL."""
        return replace(self, nullable=False)


UNKNOWN = Domain()


def coordinate(value: Value) -> Fraction | None:
    """Where `value` lies on its axis; None for text and booleans, which have none."""
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
    """The domain that holds exactly `values`."""
    places = [coordinate(value) for value in values]
    known = [place for place in places if place is not None]
    bounds = Interval(min(known), max(known)) if known and len(known) == len(places) else None
    return Domain(bounds, values, nullable)
