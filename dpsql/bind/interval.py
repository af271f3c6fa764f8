"""Constant intervals, added to constant dates when the statement is bound."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from sqlglot import exp

from dpsql.bind.allow import only, refused


def shift(start: dt.datetime, interval: exp.Expr, sign: int) -> dt.datetime:
    """`start` moved by `sign` times the interval."""
    only(interval, "this", "unit")
    count, unit = interval.this, interval.args.get("unit")
    if not isinstance(count, exp.Literal) or unit is None:
        raise refused(interval, "this form of INTERVAL", hint="write INTERVAL 3 MONTH")
    try:
        number = sign * int(Fraction(count.this))
        match unit.name.upper().removesuffix("S"):
            case "YEAR":
                return _months(start, 12 * number)
            case "MONTH":
                return _months(start, number)
            case "WEEK":
                return start + dt.timedelta(weeks=number)
            case "DAY":
                return start + dt.timedelta(days=number)
            case "HOUR":
                return start + dt.timedelta(hours=number)
            case "MINUTE":
                return start + dt.timedelta(minutes=number)
            case "SECOND":
                return start + dt.timedelta(seconds=number)
            case _:
                raise refused(interval, f"INTERVAL in {unit.name}")
    except (ValueError, OverflowError):
        raise refused(interval, "this INTERVAL", hint="write INTERVAL 3 MONTH") from None


def _months(start: dt.datetime, months: int) -> dt.datetime:
    """The same day of the month, or its last one."""
    total = start.year * 12 + start.month - 1 + months
    year, month = divmod(total, 12)
    for day in range(start.day, 27, -1):
        try:
            return start.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return start.replace(year=year, month=month + 1)
