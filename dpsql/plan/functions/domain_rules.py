"""Rules for what a call may be: intervals, finite sets, NULL.

A rule is never believed: what it says is clamped to, or joined with, in the emitted SQL. It only
has to be right for accuracy, and the tests hold it to that.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from dpsql.plan.functions.function import Application, Rule
from dpsql.privacy.domain import Domain, Interval, Value, coordinate, day, of_values, timestamp
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, SqlType, Timestamp

MAX_VALUES = 300_000
"""Longer lists of values aren't made: their intervals have to do."""


def top(application: Application) -> Domain:
    """Nothing is known but that only NULL gives NULL."""
    return Domain(nullable=application.null)


def nullable(application: Application) -> Domain:
    """Nothing is known, not even that."""
    del application
    return Domain(nullable=True)


def boolean(application: Application) -> Domain:
    """TRUE or FALSE."""
    return Domain(values=(False, True), nullable=application.null)


def interval(low: int | None, high: int | None) -> Rule:
    """Between `low` and `high`; NULL only of NULL."""
    bounds = _interval(low, high)
    return lambda found: Domain(bounds, nullable=found.null)


def finite_interval(low: int | None, high: int | None) -> Rule:
    """Between `low` and `high`; NULL of NULL, of NaN and of what is infinite."""
    bounds = _interval(low, high)
    return lambda found: Domain(bounds, nullable=found.out_of_domain)


def monotone(low: int | None = None, high: int | None = None) -> Rule:
    """Monotone in each argument by itself, so that its extremes are at corners of the intervals.

    The values lie between `low` and `high` wherever the arguments do. A logarithm may pass its
    value at the corner by the last bit, which the clamp takes away.
    """
    image = _interval(low, high)

    def rule(found: Application) -> Domain:
        extremes = corner_values(found)
        if extremes is None:
            return Domain(image, nullable=True)
        around = Interval(*extremes)
        return Domain(around.intersection(image) or around, nullable=found.null)

    return rule


def floor_interval(rule: Rule) -> Rule:
    """What `rule` says of a call that only gives whole numbers: they can be listed."""

    def listing(found: Application) -> Domain:
        known = rule(found)
        ends = None if known.bounds is None else known.bounds.ends
        if isinstance(found.call.type, Integer) or ends is None:
            return known
        numbers = range(math.ceil(ends[0]), math.floor(ends[1]) + 1)
        if not numbers or numbers[MAX_VALUES:]:  # len() knows no number beyond a machine word
            return known
        return of_values(tuple(map(Fraction, numbers)), nullable=known.nullable)

    return listing


def corner_values(application: Application, *more: Value) -> tuple[Fraction, Fraction] | None:
    """The least and the largest value at combinations of the arguments' ends; None if not known.

    The first argument is tried at `more` places too.
    """
    places = [
        ends(d, a.type)
        for d, a in zip(application.domains, application.call.arguments, strict=True)
    ]
    if not all(places):
        return None
    places[0] += more
    points = itertools.product(*places)
    values = application.at(*zip(*points, strict=True))
    if values is None:
        return None
    known = [None if value is None else _coordinate(value) for value in values]
    numbers = [place for place in known if place is not None]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(known) else None


def ends(domain: Domain, kind: SqlType) -> tuple[Value, ...]:
    """The first and the last value of type `kind` in `domain`, or its only one; () if not known."""
    if domain.values is not None and len(domain.values) == 1:
        return domain.values
    found = None if domain.bounds is None else domain.bounds.ends
    if found is None:
        return ()
    try:
        values = _inner(found, kind)
    except OverflowError:
        return ()
    return values if values and values[0] <= values[1] else ()  # type: ignore[operator]  # of one type


def listed(domain: Domain, kind: SqlType, limit: int) -> tuple[Value | None, ...] | None:
    """Every value of type `kind` in `domain`, NULL with them; None if there are too many."""
    values: tuple[Value, ...] | None = domain.values
    if isinstance(kind, Boolean):
        values = values or (False, True)
    if values is None and isinstance(kind, Integer | Date):
        found = ends(domain, kind)
        low, high = (coordinate(found[0]), coordinate(found[-1])) if found else (None, None)
        if low is None or high is None or high - low >= limit:
            return None
        numbers = range(int(low), int(high) + 1)
        values = tuple(map(day, numbers)) if isinstance(kind, Date) else tuple(numbers)
    if values is None or len(values) > limit:
        return None
    return (*values, None) if domain.nullable else values


def _inner(application: tuple[Fraction, Fraction], kind: SqlType) -> tuple[Value, ...]:
    low, high = application
    match kind:
        case Integer(bits=bits, signed=signed):
            least, most = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            )
            return max(math.ceil(low), least), min(math.floor(high), most)
        case Decimal(scale=scale):
            unit = 10**scale
            return Fraction(math.ceil(low * unit), unit), Fraction(math.floor(high * unit), unit)
        case Double():
            return Fraction(_below(low)), Fraction(-_below(-high))
        case Date():
            return day(math.ceil(low)), day(math.floor(high))
        case Timestamp():
            return timestamp(math.ceil(low)), timestamp(math.floor(high))
        case _:
            return ()


def _below(number: Fraction) -> float:
    """The largest float that isn't above `number`."""
    nearest = float(number)
    return nearest if nearest <= number else math.nextafter(nearest, -math.inf)


def _coordinate(value: Value) -> Fraction | None:
    return coordinate(value)


def _interval(low: int | None, high: int | None) -> Interval:
    return Interval(
        None if low is None else Fraction(low), None if high is None else Fraction(high)
    )
