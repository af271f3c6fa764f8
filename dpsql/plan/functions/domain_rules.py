"""Rules for the domain of a call: intervals, finite sets, NULL.

No rule is believed: the emitted SQL clamps to its domain, or joins with it. A rule only has to be
right for accuracy, and the tests hold it to that.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from dpsql.plan.functions.function import Application, Rule
from dpsql.privacy.domain import Domain, Interval, Value, coordinate, day, of_values, timestamp
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, SqlType, Timestamp

MAX_VALUES = 300_000
"""The largest number of values that are listed; of more the interval has to do."""


def top(application: Application) -> Domain:
    """Any value, but NULL only where an argument is."""
    return Domain(nullable=application.null)


def nullable(application: Application) -> Domain:
    """Any value, and NULL."""
    del application
    return Domain(nullable=True)


def boolean(application: Application) -> Domain:
    """TRUE or FALSE, and NULL only where an argument is."""
    return Domain(values=(False, True), nullable=application.null)


def interval(low: int | None, high: int | None) -> Rule:
    """The rule of values between `low` and `high`, and NULL only where an argument is."""
    bounds = _interval(low, high)
    return lambda application: Domain(bounds, nullable=application.null)


def finite_interval(low: int | None, high: int | None) -> Rule:
    """The rule of values between `low` and `high`; NULL for NULL, NaN and infinite arguments."""
    bounds = _interval(low, high)
    return lambda application: Domain(bounds, nullable=application.out_of_domain)


def monotone(low: int | None = None, high: int | None = None) -> Rule:
    """The rule of a function that is monotone in each argument: extremes are at ends of intervals.

    All values lie between `low` and `high`, whatever the arguments. A logarithm may pass its value
    at the corner by the last bit, which the clamp takes away.
    """
    image = _interval(low, high)

    def rule(application: Application) -> Domain:
        extremes = corner_values(application)
        if extremes is None:
            return Domain(image, nullable=True)
        around = Interval(*extremes)
        return Domain(around.intersection(image) or around, nullable=application.null)

    return rule


def floor_interval(rule: Rule) -> Rule:
    """`rule` for a call whose values are whole numbers, so that they can be listed."""

    def listing(application: Application) -> Domain:
        known = rule(application)
        ends = None if known.bounds is None else known.bounds.ends
        if isinstance(application.call.type, Integer) or ends is None:
            return known
        numbers = range(math.ceil(ends[0]), math.floor(ends[1]) + 1)
        if not numbers or numbers[MAX_VALUES:]:  # len() knows no number beyond a machine word
            return known
        return of_values(tuple(map(Fraction, numbers)), nullable=known.nullable)

    return listing


def corner_values(application: Application, *more: Value) -> tuple[Fraction, Fraction] | None:
    """The least and the largest value at combinations of the arguments' ends; None if not known.

    The first argument takes the values `more` as well.
    """
    arguments_ends = [
        ends(d, a.type)
        for d, a in zip(application.domains, application.call.arguments, strict=True)
    ]
    if not all(arguments_ends):
        return None
    arguments_ends[0] += more
    points = itertools.product(*arguments_ends)
    values = application.at(*zip(*points, strict=True))
    if values is None:
        return None
    known = [None if value is None else _coordinate(value) for value in values]
    numbers = [number for number in known if number is not None]
    return (min(numbers), max(numbers)) if numbers and len(numbers) == len(known) else None


def ends(domain: Domain, kind: SqlType) -> tuple[Value, ...]:
    """The first and the last value of type `kind` in `domain`, or its only one; () if not known."""
    if domain.values is not None and len(domain.values) == 1:
        return domain.values
    bounds = None if domain.bounds is None else domain.bounds.ends
    if bounds is None:
        return ()
    try:
        values = _inner(bounds, kind)
    except OverflowError:
        return ()
    return values if values and values[0] <= values[1] else ()  # type: ignore[operator]  # of one type


def listed(domain: Domain, kind: SqlType, limit: int) -> tuple[Value | None, ...] | None:
    """Every value of type `kind` in `domain`, with NULL if nullable; None if there are too many."""
    values: tuple[Value, ...] | None = domain.values
    if isinstance(kind, Boolean):
        values = values or (False, True)
    if values is None and isinstance(kind, Integer | Date):
        edges = ends(domain, kind)
        low, high = (coordinate(edges[0]), coordinate(edges[-1])) if edges else (None, None)
        if low is None or high is None or high - low >= limit:
            return None
        numbers = range(int(low), int(high) + 1)
        values = tuple(map(day, numbers)) if isinstance(kind, Date) else tuple(numbers)
    if values is None or len(values) > limit:
        return None
    return (*values, None) if domain.nullable else values


def _inner(bounds: tuple[Fraction, Fraction], kind: SqlType) -> tuple[Value, ...]:
    """The first and the last value of type `kind` in `bounds`; () if the type has no numbers."""
    low, high = bounds
    match kind:
        case Integer(bits=bits, signed=signed):
            lowest, highest = (
                (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
            )
            return max(math.ceil(low), lowest), min(math.floor(high), highest)
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
