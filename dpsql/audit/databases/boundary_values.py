"""The values of an audit's databases: a column's bounds, values just outside, and absurd ones."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import Final, assert_never

from dpsql.privacy.domain import coordinate, day, timestamp
from dpsql.schema.model import Column, Value
from dpsql.schema.sql_type import (
    UHUGEINT,
    Array,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    Timestamp,
    Uuid,
    Varchar,
)

EXTREME_DAYS: Final = (
    "infinity",
    "-infinity",
    "9999-12-31",
    "300000-01-01",
    "5877642-06-25 (BC)",
    "5881580-07-10",
)
"""The ends of DATE, and days that aren't TIMESTAMPs."""

EXTREME_TIMESTAMPS: Final = (
    "infinity",
    "-infinity",
    "9999-12-31 23:59:59.999999",
    "290309-12-22 (BC) 00:00:00",
    "294247-01-10 04:00:54.775806",
)
"""The ends of TIMESTAMP, and moments whose nanoseconds exceed BIGINT."""


def boundary_values(column: Column) -> list[object]:
    """Values to draw from, those within the declared domain several times each."""
    inside, outside = _values(column)
    return [*inside, *outside]


def distinct(column: Column) -> list[object]:
    """The values for `column`, each once: declared ones first, then those outside, and NULL."""
    # They are told apart by their text: -0.0 equals 0, and NaN equals nothing.
    values = [*declared_values(column), *boundary_values(column)]
    return [*{repr(value): value for value in values}.values(), None]


def declared(column: Column, limit: int) -> list[object]:
    """All values of the declared domain, or `limit` of them, bounds first."""
    inside, _ = _values(column)
    if isinstance(column.type, Integer) and column.bounds is not None and column.values is None:
        low, high = map(int, ends(column))
        if high - low < limit:
            return list(range(low, high + 1))
    values = declared_values(column) or inside
    return list({repr(value): value for value in values}.values())[:limit]


def declared_values(column: Column) -> list[object]:
    """The declared values as an engine's driver takes them, which has no fractions."""
    return [_driver_value(column, value) for value in column.values or ()]


def _driver_value(column: Column, value: Value) -> object:
    match column.type:
        case Decimal(scale=scale):
            return decimal_text(Fraction(_number(value)), scale)
        case Double():
            return float(_number(value))
        case _ if column.type == UHUGEINT:
            return str(value)  # its upper half is no integer of the driver's
        case _:
            return value


def _number(value: Value) -> Fraction:
    number = coordinate(value)
    assert number is not None
    return number


def _values(column: Column) -> tuple[list[object], list[object]]:
    """Values within the declared domain, several times each, and values outside."""
    match column.type:
        case Boolean():
            return [True, False], []
        case Varchar():
            known = list(column.values or ("x", "y"))
            wide = [] if column.max_length is None else ["x" * (column.max_length + 1)]
            return [*known, *known], ["", "a", "A", "a\0b", "👩‍👩‍👧", *wide]
        case Integer(bits=bits, signed=signed):
            low, high = map(int, ends(column))
            lower, upper = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            inside = [low, high, (low + high) // 2, (low + 2 * high) // 3]
            outside = [max(low - 1, lower), min(high + 1, upper), lower, upper]
            return (
                [_driver_value(column, number) for number in inside * 3],
                [_driver_value(column, number) for number in outside],
            )
        case Decimal(precision=precision, scale=scale):
            return _decimals(column, precision, scale)
        case Double(bits=bits):
            return _doubles(column, bits)
        case Date():
            low, high = map(int, ends(column))
            dates = [day(low), day(high), day((low + high) // 2), day(min(low + 31, high))]
            return [*(dates * 3)], [*_beyond(dt.date, low, high), *EXTREME_DAYS]
        case Timestamp():
            if column.bounds is None:
                return [timestamp(1_704_067_200_000_000)], list(EXTREME_TIMESTAMPS)
            low, high = map(int, ends(column))
            times = [timestamp(low), timestamp(high), timestamp((low + high) // 2)]
            return [*(times * 3)], [*_beyond(dt.datetime, low, high), *EXTREME_TIMESTAMPS]
        case Uuid():
            return [f"00000000-0000-0000-0000-00000000000{digit}" for digit in range(3)], []
        case Interval() | Array() | Null():
            return [None], []
        case missing:
            assert_never(missing)


def _decimals(column: Column, precision: int, scale: int) -> tuple[list[object], list[object]]:
    step = Fraction(1, 10**scale)
    upper = (10**precision - 1) * step
    low, high = (min(end, upper) for end in ends(column))
    inside = [low, high, round((low + high) / 2, scale), min(low + step, high)]
    # None is beyond what the type holds.
    outside = [max(low - step, -upper), min(high + step, upper), -upper, upper]
    return (
        [decimal_text(number, scale) for number in inside * 3],
        [decimal_text(number, scale) for number in outside],
    )


def _doubles(column: Column, bits: int) -> tuple[list[object], list[object]]:
    low, high = map(float, ends(column))
    tried = [low, high, (low + high) / 3, -0.0, 5e-324]
    inside = [number for number in tried if low <= number <= high]
    far = 1e308 if bits == 64 else 3e38
    absurd = [math.nan, math.inf, -math.inf, far]
    others = [number for number in tried if not low <= number <= high]
    return [*(inside * 3)], [low - 1, high + 1, *absurd, *others]


def _beyond(kind: type[dt.date], low: int, high: int) -> list[object]:
    """The days or moments just outside the bounds; Python has none beyond the years 1 to 9999."""
    of = timestamp if kind is dt.datetime else day
    first, last = coordinate(kind.min), coordinate(kind.max)
    assert first is not None
    assert last is not None
    return [of(number) for number in (low - 1, high + 1) if first <= number <= last]


def ends(column: Column) -> tuple[Fraction, Fraction]:
    """The declared bounds as numbers; 0 to 9 where there are none."""
    if column.bounds is None:
        return Fraction(0), Fraction(9)
    low, high = (coordinate(bound) for bound in column.bounds)
    assert low is not None
    assert high is not None
    return low, high


def decimal_text(value: Fraction, scale: int) -> str:
    """A number of `scale` digits behind the point, as DuckDB casts it to DECIMAL."""
    scaled = int(value * 10**scale)
    sign, digits = ("-" if scaled < 0 else ""), f"{abs(scaled):0{scale + 1}d}"
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits
