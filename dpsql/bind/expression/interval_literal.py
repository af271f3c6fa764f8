"""Lengths of time as SQL writes them: INTERVAL constants, alone or so many times."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span, written_number
from dpsql.errors import DataError, Refused
from dpsql.plan.duration import Duration
from dpsql.plan.functions.evaluation import Operand, evaluated
from dpsql.schema.sql_type import BIGINT, Interval, Varchar

_UNITS = {
    "to_millennia": Duration(months=12_000),
    "to_centuries": Duration(months=1_200),
    "to_decades": Duration(months=120),
    "to_years": Duration(months=12),
    "to_quarters": Duration(months=3),
    "to_months": Duration(months=1),
    "to_weeks": Duration(days=7),
    "to_days": Duration(days=1),
    "to_hours": Duration(microseconds=3_600_000_000),
    "to_minutes": Duration(microseconds=60_000_000),
    "to_seconds": Duration(microseconds=1_000_000),
    "to_milliseconds": Duration(microseconds=1_000),
    "to_microseconds": Duration(microseconds=1),
}

_FRACTIONAL = ("to_seconds", "to_milliseconds")

_WHOLE = re.compile(r"-?[0-9]{1,30}")

_PARTS = ("year", "month", "day", "hour", "minute", "microsecond")


class Length(Struct, frozen=True):
    """A length of time: `duration`, or `count` times it; `whole`: the count is an integer."""

    duration: Duration
    count: exp.Expr | None = None
    whole: bool = False


def length(node: exp.Expr) -> Length | None:
    """The length of time that `node` is, None if it is something else; DataError if too long."""
    interval = _length(node)
    if interval is not None and not interval.duration.fits:
        raise DataError(
            "an INTERVAL is longer than there are any",
            at=span(node),
            hint="write one of less than 100 million years",
        )
    return interval


def _length(node: exp.Expr) -> Length | None:
    match node:
        case exp.Paren():
            require_args(node, "this")
            return length(node.this)
        case exp.Interval():
            require_args(node, "this", "unit", "fraction_in_string")
            return _interval(node)
        case exp.Neg():
            interval = length(node.this)
            return None if interval is None else Length(-interval.duration, interval.count)
        case exp.Mul():
            return _product(node.this, node.expression) or _product(node.expression, node.this)
        case exp.Add() | exp.Sub():
            return _sum(node)
        case exp.ToDays() | exp.Anonymous():
            name = "to_days" if isinstance(node, exp.ToDays) else node.name.lower()
            arguments = [node.this] if isinstance(node, exp.ToDays) else node.expressions
            if name not in _UNITS or len(arguments) != 1:
                return None
            interval = _times(_UNITS[name], arguments[0])
            return Length(interval.duration, interval.count, whole=name not in _FRACTIONAL)
        case _:
            return None


@lru_cache(maxsize=256)
def read(text: str) -> Duration | None:
    """What DuckDB makes of `CAST(text AS INTERVAL)`, None if it is no interval."""
    operand = Operand((text,), Varchar())
    parts: list[int] = []
    for part in _PARTS:
        values = evaluated((part, ("cast", 0, str(Interval()))), (operand,), BIGINT, 1)
        if values is None or not isinstance(values[0], int):
            return None
        parts.append(values[0])
    years, months, days, hours, minutes, microseconds = parts
    return Duration(12 * years + months, days, (hours * 60 + minutes) * 60_000_000 + microseconds)


def _interval(node: exp.Interval) -> Length:
    count, unit = node.this, node.args.get("unit")
    if unit is None:
        if not (isinstance(count, exp.Literal) and count.is_string):
            raise _unreadable(node)
        duration = read(count.this)
    else:
        one = read(f"1 {unit.name}")
        if one is None:
            raise _unreadable(node)
        if not isinstance(count, exp.Literal):
            return _times(one, count)
        if node.args.get("fraction_in_string"):
            # INTERVAL '1.5 days' is thirty-six hours, and INTERVAL '1.5' DAY is one day.
            duration = read(f"{count.this} {unit.name}")
        else:
            duration = one * int(count.this) if _WHOLE.fullmatch(count.this) else None
    if duration is None:
        raise _unreadable(node)
    return Length(duration)


def _product(left: exp.Expr, right: exp.Expr) -> Length | None:
    """`INTERVAL … * count`."""
    interval = length(left)
    if interval is None:
        return None
    if interval.count is not None:
        raise unsupported(right, "an INTERVAL multiplied twice", hint="multiply the numbers first")
    return _times(interval.duration, right)


def _times(duration: Duration, count: exp.Expr) -> Length:
    """`count` times `duration`, computed if `count` is a number."""
    number = count
    sign = 1
    while isinstance(number, exp.Paren | exp.Neg):
        sign = -sign if isinstance(number, exp.Neg) else sign
        number = number.this
    whole = written_number(number)
    if whole is not None:
        return Length(duration * (sign * whole))
    return Length(duration, count)


def _sum(node: exp.Expr) -> Length | None:
    right = length(node.expression)
    # A chain of sums is deep on its left, which is read only if the right is a length.
    left = None if right is None else length(node.this)
    if left is None or right is None:
        return None
    if left.count is not None or right.count is not None:
        raise unsupported(
            node, "a sum of INTERVALs", hint="add them to the moment one after the other"
        )
    sign = 1 if isinstance(node, exp.Add) else -1
    return Length(left.duration + right.duration * sign)


def _unreadable(node: exp.Expr) -> Refused:
    return unsupported(node, "this INTERVAL", hint="write INTERVAL '3 months' or INTERVAL 3 MONTH")
