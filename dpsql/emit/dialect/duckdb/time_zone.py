"""Conversions between time zones: a moment plus what its zone's rules add to it at that moment.

DuckDB has time zones of its own, with rules of its own, and reads repeated hours otherwise. Here
the rules stand in the text: a few comparisons find the offset of a moment among hundreds.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref
from dpsql.plan.time_zone.zone_rules import DAY_SECONDS
from dpsql.plan.time_zone.zone_shift import NEW_YEAR, YearlyShift, YearlyStep, ZoneShift

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - SQL's TIMESTAMP has no zone
_MOMENT: Final = "m"
_SHORT: Final = 8
"""The nodes of a moment that is written as often as it is compared, at most."""


def converted(moment: exp.Expr, shift: ZoneShift) -> exp.Expr:
    """`moment` plus what `shift` adds to it; it may raise at the ends of the type.

    Each comparison names the moment: a lambda would bind it to a name, and takes thirty times as
    long. So it does that alone for what isn't short.
    """
    if not shift.starts and not any(shift.offsets):
        return moment
    if sum(1 for _ in moment.walk()) <= _SHORT:
        return _later(moment, shift)
    bound = column_ref(_MOMENT)
    function = exp.Lambda(
        this=_later(bound, shift), expressions=[exp.to_identifier(_MOMENT)], colon=True
    )
    mapped = _call("list_transform", exp.Array(expressions=[moment]), function)
    return _call("list_extract", mapped, exp.Literal.number(1))


def _later(moment: exp.Expr, shift: ZoneShift) -> exp.Expr:
    # Of a sum, whose ends may raise, DuckDB must not compute the ends of statistics.
    unknown = _call("TRY", moment.copy())
    return exp.Add(this=unknown, expression=_seconds(_offset(moment, shift, 0, len(shift.starts))))


def _offset(moment: exp.Expr, shift: ZoneShift, first: int, last: int) -> exp.Expr:
    """The offset of a moment that no start before index `first`, or from `last` on, parts."""
    if first == last:
        if shift.yearly is not None and first == len(shift.starts):
            return _yearly(moment, shift.yearly)
        return _number(shift.offsets[first])
    middle = (first + last) // 2
    start = _EPOCH + dt.timedelta(seconds=shift.starts[middle])
    text = exp.Literal.string(start.isoformat(sep=" "))
    is_before = exp.LT(this=moment.copy(), expression=text)
    before = _offset(moment, shift, first, middle)
    after = _offset(moment, shift, middle + 1, last)
    return exp.case().when(is_before, before, copy=False).else_(after, copy=False)


def _yearly(moment: exp.Expr, shift: YearlyShift) -> exp.Expr:
    """The offset by the steps of each year, as `YearlyShift.at` computes it."""
    unknown = _call("TRY", moment.copy())
    month = _call("month", unknown)
    near = exp.In(this=month, expressions=[exp.Literal.number(n) for n in NEW_YEAR])
    begun = _is_past(unknown, shift.start)
    ended = exp.Not(this=exp.Paren(this=_is_past(unknown, shift.end)))
    if shift.is_over_new_year:
        is_daylight = exp.or_(near, begun, ended, copy=False)
    else:
        is_far = exp.Not(this=exp.Paren(this=near))
        is_daylight = exp.and_(is_far, begun, ended, copy=False)
    chosen = exp.case().when(is_daylight, _number(shift.daylight), copy=False)
    return chosen.else_(_number(shift.standard), copy=False)


def _is_past(unknown: exp.Expr, step: YearlyStep) -> exp.Expr:
    """Weeks begin on Mondays here: the days from Monday to the step's weekday come off and on."""
    days = (step.weekday + 6) % 7
    off = _seconds(_number(step.second + days * DAY_SECONDS))
    earlier = exp.Sub(this=unknown.copy(), expression=off)
    week = _call("date_trunc", exp.Literal.string("week"), earlier)
    day = exp.Paren(this=exp.Add(this=week, expression=_call("to_days", _number(days))))
    hundreds = exp.Mul(this=_call("month", day), expression=exp.Literal.number(100))
    number = exp.Add(this=hundreds, expression=_call("day", day.copy()))
    return exp.GTE(this=number, expression=_number(step.month_day))


def _seconds(number: exp.Expr) -> exp.Expr:
    return _call("to_seconds", number)


def _number(value: int) -> exp.Expr:
    number = exp.Literal.number(abs(value))
    return exp.Paren(this=exp.Neg(this=number)) if value < 0 else number


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
